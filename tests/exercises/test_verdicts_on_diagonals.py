"""Verdicts on exercises about diagonals: published slips are named, also where nothing is left or two come together."""

import pytest
import torch

from transformer_lessons.exercises import check


def averaged(weights):
    return torch.stack(weights).mean(dim=(0, 1))


def from_the_third(weights):
    return averaged([weights[:, :, t, t - 1] for t in range(2, weights.shape[-1])] or [weights[:, :, 1, 0]])


def one_late(weights, period):
    start = min(period + 1, weights.shape[-1] - 1)
    return averaged([weights[:, :, t, t - period + 1] for t in range(start, weights.shape[-1])])


def the_sign_turned(weights, period):
    found = [weights[:, :, t, t - period - 1] for t in range(period + 1, weights.shape[-1])]
    return averaged(found or [weights[:, :, period, 0] * 0])


def rolled(weights):
    return weights.roll(1, -1).diagonal(dim1=-2, dim2=-1).mean(dim=(0, 2))


def by_the_length(weights):
    return weights.diagonal(-1, -2, -1).sum(dim=-1).mean(dim=0) / weights.shape[-1]


def ones(length):
    return torch.ones(length, length)


def far_future(length, window):
    return (ones(length).triu(1).tril(window) == 0).bool()


def both_sides(length, window):
    return (ones(length).tril(window) * ones(length).triu(-window)).bool()


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("previous_token_score", from_the_third, "the first query left out"),
        ("previous_token_score", rolled, "index -1 wraps round"),
        ("previous_token_score", by_the_length, "divided by the length"),
        ("induction_score", one_late, "the first query left out"),
        ("induction_score", the_sign_turned, "the token before the earlier copy"),
        ("sliding_window_mask", far_future, "the window on the wrong side"),
        ("sliding_window_mask", both_sides, "the window counted without itself and a window to both sides"),
    ],
)
def test_a_published_slip_is_named(name, answer, mistake):
    assert check(name, answer).mistake == mistake
