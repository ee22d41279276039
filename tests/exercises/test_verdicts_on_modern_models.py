"""Verdicts on lesson 10: numbers nobody has listed are recognised, and what is said holds of every style."""

import math

import pytest
import torch
import torch.nn.functional as F

from transformer_lessons.exercises import check
from transformer_lessons.language import pretrained


def text(report):
    return " ".join(report.message.split())


def attend(query, key, value, weights_of):
    key, value = (one.repeat_interleave(query.shape[1] // key.shape[1], 1) for one in (key, value))
    weights = weights_of(query @ key.mT / math.sqrt(query.shape[-1]))
    return weights @ value, weights


def verdict_on(weights_of):
    return check("grouped_query_attention", lambda query, key, value: attend(query, key, value, weights_of))


def future(scores):
    return torch.ones_like(scores).triu(1) == 1


def right_weights(scores):
    return scores.masked_fill(future(scores), -torch.inf).softmax(-1)


@pytest.mark.parametrize(
    "shared_out",
    [
        lambda left: left / left.sum(-1, keepdim=True),
        lambda left: F.normalize(left, p=1, dim=-1),
        lambda left: left / (left.sum(-1, keepdim=True) + 3e-7),
        lambda left: left / (left.sum(-1, keepdim=True) + 1e-3),
        lambda left: left / left.sum(-1, keepdim=True).clamp(min=1e-38),
    ],
)
@pytest.mark.parametrize(
    "made",
    [
        lambda scores: scores.softmax(-1),
        lambda scores: (scores - scores.amax(-1, keepdim=True)).exp(),
        lambda scores: scores.float().softmax(-1).double(),
    ],
)
def test_weights_masked_after_the_softmax_and_renormalised_are_named(made, shared_out):
    assert verdict_on(lambda scores: shared_out(made(scores).tril())).mistake == "masked too late, then renormalised"


@pytest.mark.parametrize("number", [-7, -30, -100, -130, -5e3, -1e4, -65504.0, -1e7])
def test_any_number_that_is_not_negative_enough_is_named(number):
    for hidden in (
        lambda scores: scores + number * future(scores),
        lambda scores: scores.masked_fill(future(scores), number),
    ):
        assert verdict_on(lambda scores, hidden=hidden: hidden(scores).softmax(-1)).mistake == "a number too small"


@pytest.mark.parametrize(
    "weights_of",
    [
        lambda scores: scores.masked_fill(future(scores), scores.min().item() - 30).softmax(-1),
        lambda scores: (right_weights(scores) + 1e-9) / (1 + 1e-9 * scores.shape[-1]),
    ],
)
def test_weights_on_later_keys_that_are_too_small_for_the_tolerance_are_rejected(weights_of):
    assert verdict_on(weights_of).mistake == "a tiny weight on later keys"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("number", [-1e9, -3.4e38])
def test_a_number_that_is_negative_enough_is_right(number, dtype):
    assert (
        verdict_on(lambda scores: (scores.to(dtype) + number * future(scores)).softmax(-1).to(scores)).status
        == "passed"
    )


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.7])
def test_dropout_is_named_and_weights_cut_off_below_a_bound_are_not_called_so(rate):
    assert verdict_on(lambda scores: F.dropout(right_weights(scores), rate)).mistake == "dropout"
    cut = verdict_on(lambda scores: F.threshold(right_weights(scores), rate / 10, 0.0) / (1 - rate))
    assert cut.status == "failed"
    assert cut.mistake != "dropout"


def test_of_two_mistakes_in_a_gate_neither_sentence_belies_the_other():
    found = text(
        check("swiglu", lambda x, gate, up, down: F.linear(F.linear(x, up).sigmoid() * F.linear(x, gate), down))
    )
    assert "two mistakes at once: gate and up exchanged and a sigmoid for SiLU" in found
    assert "goes through SiLU" not in found


@pytest.mark.parametrize(
    ("change", "mistake", "fault"),
    [
        (lambda found: found.pop("norm.bias"), "entries missing", "norm.bias is missing"),
        (lambda found: found.update(x=torch.ones(2)), "entries too many", "x is not expected"),
        (lambda found: found.update({"norm.bias": torch.ones(1, 7)}), "other shapes", "norm.bias is (1, 7), not ("),
        (lambda found: found["norm.bias"].mul_(2), None, "norm.bias[0] is "),
    ],
)
def test_of_translated_weights_the_first_wrong_entry_is_called_by_its_name(change, mistake, fault):
    def answer(tensors):
        found = {name: tensor.clone() for name, tensor in pretrained.from_gpt2(tensors).items()}
        change(found)
        return found

    report = check("from_gpt2", answer)
    assert report.mistake == mistake
    assert f"yours {fault}" in text(report)
    assert "`numbers`" not in report.message
