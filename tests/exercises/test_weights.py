"""The same weights are drawn for the same names, and all numbers in the range that is asked for."""

import pytest
import torch
from torch import nn

from transformer_lessons.exercises.checker.setup import integers
from transformer_lessons.exercises.checker.weights import fill, weights


class Forwards(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear_q, self.linear_v = nn.Linear(3, 2), nn.Linear(3, 2, bias=False)


class Backwards(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear_v, self.linear_q = nn.Linear(3, 2, bias=False), nn.Linear(3, 2)


def test_weights_are_drawn_by_name_and_not_by_the_order_of_construction():
    forwards, backwards = fill(Forwards(), 5).state_dict(), fill(Backwards(), 5).state_dict()
    assert all(torch.equal(forwards[name], backwards[name]) for name in forwards)


def test_weights_are_of_unit_scale():
    assert weights("linear.weight", (300, 400), 0).std().item() == pytest.approx(0.05, rel=0.02)
    assert weights("linear.bias", (100_000,), 0).std().item() == pytest.approx(1, rel=0.02)


def test_integers_are_drawn_in_their_range():
    drawn = integers(torch.Generator().manual_seed(0), 5, 1000, low=2)
    assert set(drawn.tolist()) == {2, 3, 4}
