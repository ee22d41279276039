"""Verdicts on lessons 11 and 12: scores of any size, a batch of one, and what is said holds of every variant."""

import math

import pytest
import torch
import torch.nn.functional as F

from transformer_lessons.exercises import check
from transformer_lessons.language import sampling


def text(report):
    return " ".join(report.message.split())


def joined(keys, values, new_key, new_value):
    return torch.cat([keys, new_key], 2), torch.cat([values, new_value], 2)


def cached(weights_of):
    """An attention with a cache, whose weights are made of scores and of which keys are late."""
    def answer(query, keys, values, new_key, new_value):
        past = keys.shape[2]
        keys, values = joined(keys, values, new_key, new_value)
        late = torch.ones(query.shape[2], keys.shape[2]).triu(past + 1) == 1
        return weights_of(query @ keys.mT / math.sqrt(query.shape[-1]), late) @ values, keys, values
    return answer


def online(first, dtype=torch.float64, more=0.0):
    """The softmax in blocks, whose maximum starts at a number and is kept in a dtype."""
    def answer(blocks):
        largest = torch.full(blocks[0][..., :1].shape, first, dtype=dtype)
        total = torch.zeros_like(blocks[0][..., :1])
        for scores in blocks:
            raised = torch.maximum(largest, scores.amax(-1, keepdim=True).to(dtype))
            total = total * (largest - raised).exp() + (scores - raised).exp().sum(-1, keepdim=True)
            largest = raised
        return torch.cat([(scores - largest).exp() / (total + more) for scores in blocks], -1)
    return answer


def tiled(first, low):
    """Attention in tiles, whose maximum starts at a number and whose forbidden scores get one."""
    def answer(query, key, value, block):
        outputs = []
        for start in range(0, query.shape[-2], block):
            rows = query[..., start:start + block, :] / math.sqrt(query.shape[-1])
            largest, total, summed = torch.full_like(rows[..., :1], first), 0, 0
            for left in range(0, start + 1, block):
                scores = rows @ key[..., left:left + block, :].mT
                scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(start - left + 1) == 1, low)
                raised = torch.maximum(largest, scores.amax(-1, keepdim=True))
                weights, shrink = (scores - raised).exp(), (largest - raised).exp()
                total = total * shrink + weights.sum(-1, keepdim=True)
                summed, largest = summed * shrink + weights @ value[..., left:left + block, :], raised
            outputs.append(summed / total)
        return torch.cat(outputs, -2)
    return answer


TOO_HIGH = [-1e4, -65504.0, -1e9]
LOW_ENOUGH = [-1e30, torch.finfo(torch.float32).min, -torch.inf]


@pytest.mark.parametrize("number", TOO_HIGH)
def test_a_number_that_scores_may_lie_below_is_named_wherever_it_stands(number):
    assert check("online_softmax", online(number)).mistake == "the maximum starts too high"
    assert check("tiled_attention", tiled(number, -torch.inf)).mistake == "the maximum starts too high"
    for first in (number, -torch.inf):
        assert check("tiled_attention", tiled(first, number)).mistake == "a number too small for the forbidden"
    for hidden in (lambda scores, late: scores.masked_fill(late, number), lambda scores, late: scores + number * late):
        answer = cached(lambda scores, late, hidden=hidden: hidden(scores, late).softmax(-1))
        assert check("attend_with_cache", answer).mistake == "a number too small for the forbidden"


@pytest.mark.parametrize("number", LOW_ENOUGH)
def test_a_number_below_every_score_is_right(number):
    hidden = cached(lambda scores, late: scores.masked_fill(late, number).softmax(-1))
    added = cached(lambda scores, late: (scores + torch.zeros_like(scores).masked_fill(late, number)).softmax(-1))
    for name, answer in (("online_softmax", online(number)), ("tiled_attention", tiled(number, number)),
                         ("attend_with_cache", hidden), ("attend_with_cache", added)):
        assert check(name, answer).status == "passed"


def test_scores_far_below_zero_refuse_no_style_of_attention_with_a_cache():
    def fused(query, keys, values, new_key, new_value):
        past = keys.shape[2]
        keys, values = joined(keys, values, new_key, new_value)
        mask = torch.ones(query.shape[2], keys.shape[2], dtype=torch.bool).tril(past)
        return F.scaled_dot_product_attention(query, keys, values, mask), keys, values

    by_logarithms = cached(lambda scores, late: (
        scores.masked_fill(late, -torch.inf) - scores.masked_fill(late, -torch.inf).logsumexp(-1, keepdim=True)).exp())
    for answer in (fused, by_logarithms):
        assert check("attend_with_cache", answer).status == "passed"


@pytest.mark.parametrize("more", [1e-7, 1e-6, 1e-5])
def test_what_is_added_to_the_sum_is_named_down_to_what_float32_sees(more):
    assert check("online_softmax", online(-torch.inf, more=more)).mistake == "a sum slightly off"
    assert check("online_softmax", online(-torch.inf, more=1e-9)).status == "passed"

    def shared_out(scores, late):
        scores = scores.masked_fill(late, -torch.inf)
        raised = (scores - scores.amax(-1, keepdim=True)).exp()
        return raised / (raised.sum(-1, keepdim=True) + more)

    assert check("attend_with_cache", cached(shared_out)).mistake == "a sum slightly off"


def accepted(p, q, token):
    return p.gather(1, token[:, None])[:, 0] / q.gather(1, token[:, None])[:, 0]


def test_a_batch_of_one_without_its_dimension_is_named():
    report = check("speculate", lambda *inputs: sampling.speculate(*inputs).squeeze())
    assert report.mistake == "no dimension left for a batch of one"
    assert "`tokens` has shape ()" in text(report)


def test_a_token_accepted_with_u_and_p_both_zero_is_named():
    report = check("speculate", lambda p, q, token, u: torch.where(
        u <= accepted(p, q, token), token, sampling.speculate(p, q, token, u)))
    assert report.mistake == "accepted where u equals the ratio"


def test_a_mask_that_is_there_only_in_some_cases_is_not_called_missing():
    def now_and_then(query, keys, values, new_key, new_value):
        past, new = keys.shape[2], query.shape[2]
        keys, values = joined(keys, values, new_key, new_value)
        mask = torch.ones(new, past + new, dtype=torch.bool).tril(past) if past == 0 or new == 4 else None
        return F.scaled_dot_product_attention(query, keys, values, mask), keys, values

    report = check("attend_with_cache", now_and_then)
    assert report.mistake == "the new tokens see the future"
    assert "there is no mask, or not always" in text(report)


def test_heads_moved_along_the_batch_are_not_called_untouched():
    def resampled(heads, number):
        heads = heads.clone()
        heads[:, number] = heads.roll(1, 0)[:, number]
        return heads

    report = check("ablate_head", resampled)
    assert report.mistake == "its own output from elsewhere"
    assert "just the input" not in text(report)


@pytest.mark.parametrize(("name", "answer", "mistake"), [
    ("previous_token_score", lambda weights: weights.diagonal(-1, -2, -1).transpose(0, 1).flatten(1).median(-1).values,
     "the median, not the mean"),
    ("ablate_head", lambda heads, number: heads.index_fill(1, torch.tensor(number), 1e-8), "almost 0"),
    ("sliding_window_mask", lambda length, window: torch.ones(length, length, dtype=torch.bool).tril().triu(
        -max(window - 2, 0)), "a window one too short")])
def test_a_variant_is_given_a_name_that_is_true_of_it(name, answer, mistake):
    assert check(name, answer).mistake == mistake
