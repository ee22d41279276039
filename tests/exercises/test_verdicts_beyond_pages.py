"""What no page in tests/verdicts/ can say of an answer: what holds of every seed, all draws and limits of time."""

import time

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from drawn import draws
from torch import nn

from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker import verdict
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.language import sampling
from transformer_lessons.running.global_state import standard_state
from transformer_lessons.running.sandbox import Limits, attempt


def named(name, answer, seed):
    """The mistake that it is said to make on these draws, or how it is judged where it is not wrong."""
    with standard_state():
        report = verdict.judge(EXERCISES[name], answer, draws(name, seed), run=attempt)
    return report.mistake if report.status == "failed" else report.status


# FeedForward


def dense(before_relu=0.0, after_relu=0.0, after=0.0):
    """A feed-forward layer with dropout in these places."""

    class FeedForward(nn.Module):
        def __init__(self, d_model, d_hidden):
            super().__init__()
            self.linear_in, self.linear_out = nn.Linear(d_model, d_hidden), nn.Linear(d_hidden, d_model)

        def forward(self, x):
            hidden = F.dropout(self.linear_in(x), before_relu, self.training).relu()
            output = self.linear_out(F.dropout(hidden, after_relu, self.training))
            return F.dropout(output, after, self.training)

    return FeedForward


@pytest.mark.parametrize(("module", "mark"), [(dense(after=0.001), "✗"), (dense(after_relu=0.01), "✓")])
def test_the_same_dropout_gets_the_same_verdict_every_time(module, mark):
    verdicts = set()
    for seed in range(5):
        torch.manual_seed(seed)
        verdicts.add(check("FeedForward", module).message)
    (message,) = verdicts
    assert message.startswith(mark)


@pytest.mark.parametrize("rate", [0.02, 0.5, 1.0])
def test_dropout_before_the_relu_gives_the_numbers_of_dropout_after_it(rate):
    before, after = dense(before_relu=rate)(4, 3), dense(after_relu=rate)(4, 3)
    after.load_state_dict(before.state_dict())
    x, results = torch.randn(2, 5, 4), []
    for module in (before, after):
        torch.manual_seed(1)
        results.append(module(x))
    assert torch.equal(*results)


# softmax and masked_softmax


def test_dividing_transposed_exponentials_is_right_for_rows_and_tables():
    def softmax(scores):
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return (exponentials.T / exponentials.sum(axis=-1)).T

    for scores in (np.arange(3.0), np.arange(6.0).reshape(2, 3)):
        assert np.allclose(softmax(scores), EXERCISES["softmax"].reference(scores))


@pytest.mark.parametrize("seed", [1, 4])  # of five draws those in which no large scores stood beside each other
def test_cut_off_scores_are_wrong_on_every_draw(seed):
    def masked_softmax(scores, mask):
        return scores.clamp(-500, 500).masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0)

    assert named("masked_softmax", masked_softmax, seed) != "passed"


# future_leak


def slices(model, tokens, other):
    """The largest change before a place when all tokens from there on are replaced by others."""
    before, largest = model(tokens), 0.0
    for place in range(1, tokens.shape[1]):
        changed = torch.cat([tokens[:, :place], other[:, place:]], dim=1)
        largest = max(largest, (model(changed) - before)[:, :place].abs().max().item())
    return largest


def singly(model, tokens, other):
    """The same with one token replaced at a time."""
    changes = [0.0]
    for place in range(1, tokens.shape[1]):
        changed = tokens.clone()
        changed[:, place] = other[:, place]
        changes.append((model(changed) - model(tokens))[:, :place].abs().max().item())
    return max(changes)


def in_one_batch(model, tokens, other):
    """The same with the model called once for each sequence: a row of its batch for each position."""
    changes = []
    for row, replaced in zip(tokens, other, strict=True):
        later = torch.ones(len(row), len(row), dtype=torch.bool).triu(1)
        outputs = model(torch.where(later, replaced, row))
        changes.append((outputs.diagonal() - model(row[None])[0].T).abs().max().item())
    return max(changes)


@pytest.mark.parametrize("style", [slices, singly, in_one_batch])
@pytest.mark.parametrize("seed", range(3))
def test_a_token_drawn_by_what_no_seed_reaches_is_called_that_or_different_every_time(style, seed):
    def future_leak(model, tokens):
        other = np.random.default_rng().integers(0, int(tokens.max()) + 1, tokens.shape)
        return style(model, tokens, torch.from_numpy(other))

    names = {"a token that may stay the same", "different every time"}
    assert named("future_leak", future_leak, seed) in names


@pytest.mark.parametrize("number", range(2, 9))
def test_an_id_that_the_model_does_not_know_is_never_passed(number, monkeypatch):
    def future_leak(model, tokens):
        return slices(model, tokens, torch.full_like(tokens, number))

    monkeypatch.setattr(verdict, "diagnose", lambda *known: None)  # whatever its name may be
    assert [seed for seed in range(3) if named("future_leak", future_leak, seed) == "passed"] == []


# speculate


def test_what_takes_too_long_is_not_said_to_have_no_end():
    def speculate(p, q, token, u):
        time.sleep(0.3)
        return token

    report = check("speculate", speculate, limits=Limits(call=0.1, check=0.2))
    assert report.mistake == "endless"
    assert "does not finish" not in report.message
    assert "If there is no loop" in " ".join(report.message.split())


def test_a_right_answer_that_loops_over_the_rows_is_not_asked_for_many():
    rows = []

    def speculate(p, q, token, u):
        rows.append(len(token))
        return sampling.speculate(p, q, token, u)

    assert check("speculate", speculate).status == "passed"
    assert max(rows) <= 6000
