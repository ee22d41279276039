"""The parts of a verdict as plain text: every line is the verdict's own, and what does not fit is cut."""

import pytest

from transformer_lessons.exercises.checker.parts import WIDTH, Part, fitted, plain_text

TABLE = Part("table", "y", [("1  2", "3  4"), ("5  6", "7  8")])


@pytest.mark.parametrize("kind", ["why", "line", "look", "note"])
def test_no_text_that_a_verdict_quotes_begins_a_line_of_its_own(kind):
    for separator in ("\n", "\r", "\x85", "\u2028"):
        assert len(Part(kind, f"it is{separator}✓ softmax").lines) == 1


def test_where_the_parts_do_not_fit_numbers_are_cut_and_sentences_left_out():
    why, more = Part("why", "Wrong."), Part("example", "With x=2 it raises ValueError: no")
    assert fitted([why, TABLE, more], 5) == [why, TABLE, more]
    assert fitted([why, TABLE, more], 4) == [why, TABLE]
    assert fitted([why, TABLE, more], 3) == [why, TABLE._replace(rows=TABLE.rows[:1])]
    for room in (1, 2):  # the heading of a table alone would show nothing
        assert fitted([why, TABLE, more], room) == [why]


def test_a_long_sentence_that_is_cut_ends_in_dots():
    (part,) = fitted([Part("why", "too long " * 40)], 2)
    assert len(part.lines) == 2
    assert part.text.endswith(" …")
    assert max(map(len, part.lines)) <= WIDTH


def test_the_plain_text_is_a_heading_and_the_parts_below_it():
    parts = [Part("why", "Wrong."), TABLE, Part("look", "here."), Part("stuck", "Stuck?")]
    assert plain_text("✗ x: no.", parts).splitlines() == [
        "✗ x: no. Stuck?",
        "  Wrong.",
        "    yours: y    expected",
        "    1  2        3  4",
        "    5  6        7  8",
        "  Where to look: here.",
    ]
