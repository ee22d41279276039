"""What is shown of an answer's result stands beside the expected: numbers in columns, items, entries and shapes."""

import re

import torch
from reported import verdict

from transformer_lessons import masks
from transformer_lessons.exercises.checker.display import beside, show, shown_dictionaries, shown_lists
from transformer_lessons.exercises.checker.setup import normal


def lines(parts):
    return [line for part in parts for line in (part.table if part.kind == "table" else part.text.split("\n"))]


def test_where_only_some_entries_are_shown_a_line_says_so():
    assert lines(shown_dictionaries({"a": 1}, {"a": 2})) == [
        "yours     {'a': 1}  (1 in all)",
        "expected  {'a': 2}  (1 in all)",
    ]
    assert lines(shown_dictionaries({"a": 1.0, "b": 0.5}, {"a": 1.25, "b": 0.5})) == [
        "Only the entries that differ are shown:",
        "yours     {'a': 1.00}  (2 in all)",
        "expected  {'a': 1.25}  (2 in all)",
    ]
    assert lines(shown_dictionaries({"a": 0.5, "b": 0.501}, {"a": 1.0, "b": 0.502})) == [
        "yours     {'a': 0.5000, 'b': 0.5010}  (2 in all)",
        "expected  {'a': 1.0000, 'b': 0.5020}  (2 in all)",
    ]
    assert lines(shown_dictionaries({"a": 1, "b": 1}, {"a": 1}))[0] == "Only the entries that differ are shown:"
    many = dict(zip("abcd", range(4), strict=True))
    assert lines(shown_dictionaries(many, {})) == [
        "Three of the entries that differ:",
        "yours     {'a': 0, 'b': 1, 'd': 3}  (4 in all)",
        "expected  {}  (0 in all)",
    ]
    assert lines(shown_dictionaries({"d": 3}, dict(zip("abc", range(3), strict=True)))) == [
        "Three of the entries that differ:",
        "yours     {'d': 3}  (1 in all)",
        "expected  {'a': 0, 'b': 1}  (3 in all)",
    ]


def test_long_items_are_cut_where_the_line_ends():
    (part,) = shown_lists(["a", "b", "c", "d" * 99] * 9, ["a", "b", "c", "e"] * 9)
    assert [len(line) for line in part.lines] == [96, 59]


def test_of_two_shapes_yours_comes_first():
    assert lines(beside(torch.zeros(2, 3), torch.zeros(3, 4), "y", 0.0)) == ["yours: y (2, 3), expected (3, 4)"]


def test_a_number_from_a_million_on_is_shown_in_two_digits():
    assert [show(one) for one in (999_999.0, 1e6, -2.34e9, float("inf"), float("nan"))] == [
        "999999.00",
        "1e+06",
        "-2.3e+09",
        "inf",
        "nan",
    ]


def test_numbers_stand_in_columns_below_their_labels():
    ours = torch.tensor([[-1.0, 10.0], [0.5, 2.0]])
    assert lines(beside(ours, ours + 1, "output", 2e-5)) == [
        "yours: output    expected",
        "-1.00  10.00      0.00  11.00",
        " 0.50   2.00      1.50   3.00",
    ]


def test_of_a_large_table_the_part_that_differs_is_shown(declare):
    big, expected = torch.zeros(9, 9), torch.zeros(9, 9)
    expected[7, 8] = 1.0
    first, *rows = lines(beside(big, expected, "output", 2e-5))
    assert first.startswith("yours: output from row 5, column 3 ")
    assert [len(row.split()) for row in rows] == [12] * 4

    def off(x):
        y = x.clone()
        y[1, 6, 10] = 5
        return y

    declare("def big(x): ...", lambda generator: normal(generator, 2, 9, 12), lambda x: x.clone())
    message = verdict(off, "big").message
    assert "yours: result[1] from row 5, column 6" in message
    assert "5.00" in message


def test_a_tiny_number_where_0_belongs_does_not_look_like_0():
    def not_quite(scores, mask):
        weights = masks.masked_softmax(scores, mask)
        return torch.where(mask, weights, 1e-9 + 1e-9 * scores.sigmoid())

    assert re.search(r"[12]e-09 .* 0\.00", verdict(not_quite, "masked_softmax").message)
    tiny, zero = torch.tensor([[1e-9, 1.0]]), torch.tensor([[0.0, 1.0]])
    assert lines(beside(tiny, zero, "weights", 2e-5, exact_zeros=True))[1] == "1e-09   1.00      0.00  1.00"
    assert lines(beside(tiny, zero, "weights", 2e-5))[1].split() == ["0.00", "1.00", "0.00", "1.00"]
