"""What the numbers themselves say is told: only what is true of them."""

import math

import pytest
import torch
from reported import verdict, words_of

from transformer_lessons import masks
from transformer_lessons.exercises.checker.setup import normal


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda x: x, "`y` is just the input `x`."),
        (lambda x: 3 * x.softmax(-1), "The rows of `y` do not sum to 1."),
        (lambda x: x.softmax(-1).flip(-1).flip(-2).clone(), "`y` has the right numbers in the wrong places."),
        (lambda x: x.softmax(-1).nan_to_num() * 1.005 - 0.005 / 3, "`y` is nearly right"),
    ],
)
def test_what_is_wrong_with_rows_that_sum_to_1_is_told(answer, sentence, declare):
    declare("def y(x): ...", lambda generator: normal(generator, 2, 3), lambda x: x.softmax(-1), returns="y")
    assert sentence in verdict(answer, "y").message


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda x: 2 * x, "Every number in the result is 0.67 times the expected one."),
        (lambda x: 3 * x + 2, "Every number in the result is the expected one plus 2.00."),
        (lambda x: 3 * x - 2, "Every number in the result is the expected one minus 2.00."),
        (lambda x: 3 * x + 1e-3, "The result is nearly right: look for a small constant, an epsilon or a dtype."),
        (lambda x: 3.006 * x, "Every number in the result is 1.0020 times the expected one."),
        (lambda x: 3.0006 * x, "The result is nearly right: look for a small constant, an epsilon or a dtype."),
        (lambda x: 0 * x, "The result is zero everywhere."),
        (lambda x: 3 * x[:2], "The result has shape (2, 4); (3, 4) is expected."),
        (lambda x: 3 * x.sin(), "The result has the right shape, but not the right numbers."),
    ],
)
def test_a_simple_relation_to_the_expected_numbers_is_told(answer, sentence, declare):
    declare("def three(x): ...", lambda generator: normal(generator, 3, 4), lambda x: 3 * x)
    assert sentence in verdict(answer, "three").message


def test_weights_in_places_where_none_belong_are_told(declare):
    mask = torch.tensor([[True, False, True]])
    draw, reference = lambda generator: normal(generator, 1, 3), lambda x: masks.masked_softmax(x, mask)
    declare("def w(x): ...", draw, reference, returns="w", exact_zeros=True)
    assert "`w` gives weight to places that should get exactly 0." in verdict(lambda x: x.softmax(-1), "w").message
    assert verdict(lambda x: reference(x) + 1e-30, "w").status == "failed"


def test_a_mask_says_in_how_many_places_it_differs(declare):
    declare("def m(x): ...", lambda generator: torch.arange(-4.0, 5).reshape(3, 3), lambda x: x > 0, returns="m")
    assert "`m` differs from the expected one in 2 of 9 places." in verdict(lambda x: x > 2, "m").message
    assert "and False wherever it should be True" in verdict(lambda x: x <= 0, "m").message


def test_numbers_that_should_all_be_zero_are_told(declare):
    declare("def none(x): ...", lambda generator: normal(generator, 3), lambda x: 0 * x)
    assert "should be zero everywhere." in verdict(lambda x: x + 1, "none").message


def test_the_symptoms_of_an_exercise_are_told(declare):
    def is_negative(observed, expected, x):
        return "It is negative." if observed.min() < 0 else None

    draw = lambda generator: torch.arange(3.0).double()  # noqa: E731
    declare("def same(x): ...", draw, lambda x: x.clone(), symptoms=[is_negative])
    assert "It is negative." in verdict(lambda x: -x - torch.arange(3), "same").message


def test_of_a_mistake_that_covers_several_the_verdict_says_which_it_is():
    def divided_by(size_of):
        def attention(query, key, value):
            weights = (query @ key.mT / size_of(query, key)).softmax(-1)
            return weights @ value, weights

        return words_of(verdict(attention))

    words = divided_by(lambda query, key: math.sqrt(key.shape[-2]))
    assert "scaled by another size." in words
    assert "`weights` is the softmax of scores divided by 1.73; 2.00 is expected. With query" in words
    words = divided_by(lambda query, key: 1)
    assert "no scaling." in words
    assert "divided by 1.00" not in words
