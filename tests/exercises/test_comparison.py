"""What is compared: texts, lists, numbers, arrays and models, each in its own way."""

import numpy as np
import pytest
import torch
from reported import verdict
from torch import nn

from transformer_lessons.exercises.checker import distributions
from transformer_lessons.exercises.checker.comparison import alike, close, difference
from transformer_lessons.exercises.checker.setup import normal


def test_texts_and_lists_are_judged_and_shown(declare):
    declare("def words(text): ...", lambda generator: "to be or not to be", str.split)
    assert verdict(lambda text: tuple(text.split()), "words").status == "passed"
    message = verdict(lambda text: text.split()[:-1] + ["bee"], "words").message
    assert message.startswith("✗ words: the result is not right.")
    assert "yours     …, ['not', 'to', 'bee']  (6 items)" in message
    assert "expected  …, ['not', 'to', 'be']  (6 items)" in message
    assert "With text='to be or not to be':" in message
    assert "is a string; a list is expected." in verdict(lambda text: text, "words").message
    assert "holds an int; a string is expected there." in verdict(lambda text: [1], "words").message
    declare("def shout(text): ...", lambda generator: ("hello",), lambda text: text.upper())
    assert "yours     'hello'" in verdict(lambda text: text, "shout").message
    assert "is a list of 1; a string is expected." in verdict(lambda text: [text], "shout").message


@pytest.fixture
def third(declare):
    return declare("def third(x): ...", lambda generator: (3.0,), lambda x: x / 3)


@pytest.mark.usefixtures("third")
@pytest.mark.parametrize(
    "number",
    [1.0, 1, np.float64(1.0), torch.tensor(1.0), np.array(1.0), torch.tensor(1.0, requires_grad=True)],
    ids=lambda number: type(number).__name__,
)
def test_a_number_may_be_of_any_kind_that_behaves_like_one(number):
    assert verdict(lambda x: number, "third").status == "passed"


@pytest.mark.usefixtures("third")
@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (2, "✗ third: the numbers are not right.\n  The result is not the expected number."),
        (2, "yours 2.00, expected 1.00"),
        (1.001, "yours 1.0010, expected 1.0000"),
        (float("nan"), "is not a number (NaN)"),
        (True, "is a bool; a float is expected."),
        (-0.0, "yours 0.00, expected"),
    ],
)
def test_a_wrong_number_is_shown(number, sentence):
    assert sentence in verdict(lambda x: number, "third").message


def test_true_and_false_are_no_numbers(declare):
    declare("def even(x): ...", lambda generator: (3,), lambda x: x % 2 == 0)
    assert "yours     True" not in verdict(lambda x: False, "even").message
    assert "is an int; a bool is expected." in verdict(lambda x: 1, "even").message
    assert verdict(lambda x: True, "even").status == "failed"


def test_a_number_in_place_of_an_array_is_a_wrong_kind_of_result(declare):
    declare("def twice(x): ...", lambda generator: normal(generator, 3).numpy(), lambda x: 2 * x)
    report = verdict(lambda x: 3.0, "twice")
    assert (report.status, report.mistake) == ("failed", "wrong kind of result")
    assert not alike(3.0, np.full(3, 3.0), 1.0)
    assert alike(3.0, np.array(3.0), 0)


def test_small_results_are_compared_on_their_own_scale_down_to_a_thousandth():
    small = torch.tensor([0.01, 0.0]).double()
    assert close(small + 1e-7, small, 2e-5)
    assert not close(small + 1e-6, small, 2e-5)
    assert close(small * 0 + 1e-8, small * 0, 2e-5)
    assert not close(small * 0 + 1e-7, small * 0, 2e-5)


def test_a_result_that_the_exercise_itself_calls_different_is_wrong_though_the_items_are_equal(declare):
    same = lambda observed, expected: type(observed) is type(expected) and observed == expected  # noqa: E731
    declare("def letters(text): ...", lambda generator: ("ab",), list, same=same)
    assert verdict(lambda text: [*text], "letters").status == "passed"
    report = verdict(lambda text: tuple(text), "letters")
    assert report.message.startswith("✗ letters: the result is not right.\n  The result is not the expected one.")


def test_a_model_as_an_input_is_copied_and_watched(declare):
    model = nn.Linear(2, 2)
    declare("def depth(model, x): ...", lambda generator: (model, torch.ones(2)), lambda model, x: 1)
    assert verdict(lambda model, x: 1, "depth").status == "passed"

    def trainer(model, x):
        model.train(False)
        model.weight.data.zero_()
        return 1

    assert "`model` is different after the call" in verdict(trainer, "depth").message
    assert model.training
    assert model.weight.any()


def test_a_table_that_is_not_of_counted_tokens_holds_no_ids():
    expected = torch.full((2, 5), 0.2).double().as_subclass(distributions.Chances)
    for actual, sort in (
        (torch.zeros(6, 3), "dtype"),
        (torch.zeros(2, 6), "ids"),
        (torch.zeros(6), "dtype"),
        (torch.zeros(6, 3).long(), "shape"),
        (torch.full((6,), 5), "ids"),
    ):
        assert difference(actual, expected, "tokens", {}, 0.0, False).sort == sort


@pytest.mark.parametrize("wrap", [lambda x: [x], lambda x: {"x": x}], ids=["in a list", "in a mapping"])
def test_an_exact_zero_is_exact_in_lists_and_mappings_too(wrap):
    expected, nearly = wrap(torch.tensor([1.0, 0.0])), wrap(torch.tensor([1.0, 1e-9]))
    assert difference(nearly, expected, "result", {}, 2e-5, False) is None
    assert difference(nearly, expected, "result", {}, 2e-5, True).sort == "numbers"
