"""What a verdict shows beside its sentence: entries of dictionaries, shapes, and large numbers."""

import torch

from transformer_lessons.exercises.checker.display import beside, show, shown_dictionaries


def test_where_only_some_entries_are_shown_a_line_says_so():
    assert shown_dictionaries({"a": 1}, {"a": 2}) == [
        "yours     {'a': 1}  (1 in all)",
        "expected  {'a': 2}  (1 in all)",
    ]
    assert shown_dictionaries({"a": 1.0, "b": 0.5}, {"a": 1.25, "b": 0.5}) == [
        "Only the entries that differ are shown:",
        "yours     {'a': 1.00}  (2 in all)",
        "expected  {'a': 1.25}  (2 in all)",
    ]
    assert shown_dictionaries({"a": 1, "b": 1}, {"a": 1})[0] == "Only the entries that differ are shown:"
    many = dict(zip("abcd", range(4), strict=True))
    assert shown_dictionaries(many, {}) == [
        "Three of the entries that differ:",
        "yours     {'a': 0, 'b': 1, 'd': 3}  (4 in all)",
        "expected  {}  (0 in all)",
    ]
    assert shown_dictionaries({"d": 3}, dict(zip("abc", range(3), strict=True))) == [
        "Three of the entries that differ:",
        "yours     {'d': 3}  (1 in all)",
        "expected  {'a': 0, 'b': 1}  (3 in all)",
    ]


def test_of_two_shapes_yours_comes_first():
    assert beside(torch.zeros(2, 3), torch.zeros(3, 4), "y", 0.0) == ["yours: y (2, 3), expected (3, 4)"]


def test_from_a_million_on_a_number_is_shown_in_two_digits():
    assert [show(one) for one in (999_999.0, 1e6, -2.34e9, float("inf"), float("nan"))] == [
        "999999.00",
        "1e+06",
        "-2.3e+09",
        "inf",
        "nan",
    ]
