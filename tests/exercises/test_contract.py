"""What an answer is, and what it is built from, is told before its numbers. (More of it is in tests/verdicts/.)"""

import pytest
import torch
from reported import OneLayer, verdict, words_of
from torch import nn

from transformer_lessons.exercises.checker.contract import listed, some, wrong_biases
from transformer_lessons.exercises.checker.setup import normal


def test_a_weight_that_is_missing_and_belongs_to_no_layer_is_named(declare):
    class Scaled(OneLayer):
        def __init__(self, width):
            super().__init__(width)
            self.gain = nn.Parameter(torch.ones(width))

        def forward(self, x):
            return self.linear(x) * self.gain

    draw = lambda generator, width: normal(generator, 3, width)  # noqa: E731
    stub = "class Scaled(nn.Module):\n    def forward(self, x): ..."
    declare(stub, draw, Scaled, sizes=[{"width": 2}], build=("width",))
    assert "a layer is missing. `gain` is not there;" in words_of(verdict(OneLayer, "Scaled"))


@pytest.mark.parametrize(
    ("missing", "extra", "why"),
    [
        (["linear_q.bias"], [], "The exercise asks for `linear_q.bias`, but there is none."),
        ([], ["linear_v.bias"], "The exercise has no `linear_v.bias`."),
        (["linear_q.bias"], ["linear_v.bias"], None),
        (["linear_q.bias", "linear_q.weight"], [], None),
    ],
)
def test_biases_are_told_of_where_nothing_else_is_wrong(missing, extra, why):
    finding = wrong_biases(missing, extra)
    assert (finding and finding.why) == why


def test_of_many_names_the_first_are_told_and_how_many_more_there_are():
    assert some(list("abcdef")) == "a, b, c, d and 2 more"
    assert some(list("abcd")) == "a, b, c, d"
    assert listed(list("abcde")) == "`a`, `b`, `c` and 2 more"
    assert [listed(list(names)) for names in ("abc", "a")] == ["`a`, `b` and `c`", "`a`"]


def test_a_class_for_a_function_is_told_so_though_it_is_a_module_without_forward():
    class Softmax(nn.Module):
        pass

    assert "this is a class; a function is expected. Define it with `def softmax(scores)`." in words_of(
        verdict(Softmax, "softmax")
    )
