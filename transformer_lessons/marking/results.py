"""What is known of a notebook once it has been marked, and of a student: one row for each item of a lesson."""

import re
from collections.abc import Sequence
from typing import TypedDict

from transformer_lessons.exercises.checker.parts import Part, plain_text
from transformer_lessons.exercises.questions.lookup import all_questions
from transformer_lessons.marking.messages import Answer
from transformer_lessons.marking.naming import clean

SIGNS = {"passed": "✓", "failed": "✗"}


class Row(TypedDict, total=False):
    """The verdict on one item. First come its own names, then those that it has in the class."""

    item: str  # the name of the answer, or the question's number
    exercise: str  # of an exercise or a hunt: the catalogue's name for it
    kind: str  # "exercise", "hunt", "question" or "text"
    status: str  # "passed", "failed", "untouched", "missing", "not marked"; of a text, "given", and "read" by a reader
    mistake: str
    answer: str  # to a question
    headline: str  # what the verdict's first line says of it
    said: Sequence[Part]  # what the verdict says below; lists, as read from a file
    error: str  # that the verdict reports
    line: str  # the student's own line that raised it
    flags: list[str]

    student: str
    by: str  # whose hand-in it is: a group's counts for each of its members
    lesson: str
    file: str
    late: bool
    again: bool  # is it the same mistake as in an earlier version?
    time: str  # when it was handed in, if the learning system says so
    deadline: str  # that holds for this student and lesson, or nothing
    marked: str  # the day on which it was marked
    points: float | None  # None for a text that waits for its reader
    given: list[float]  # a text's three points, by its reader
    nearly: bool  # is it right in all but the kind of its numbers, or a bracket?
    minus: float  # what its false claims cost
    comment: str  # of a text's reader
    reason: str  # of the teacher who has overridden the points
    max: float


def is_unreadable(row: Row) -> bool:
    """Is it an answer to a question, but one that the question cannot take? It counts as none."""
    return row["status"] == "untouched" and bool(row.get("answer"))


def whose(row: Row) -> str:
    """Whose work it is, as a whole: a group's, or the student's own."""
    return row.get("by") or row["student"]


def own_name(row: Row) -> str:
    """The name that the notebook has for an answer; the class's says of which lesson's hunt it is."""
    return re.sub(r" \(\d+\)$", "", row["item"])


def name_of(row: Row) -> str:
    """The name of an answer, or the number and the title of a question."""
    question = all_questions().get(row["item"])
    return f"{row['item']} {question.title}" if question else own_name(row)


# What a verdict says. It may quote strangers' texts.


def parts_of(row: Row) -> list[Part]:
    return [Part(kind, clean(text, 4000), rows) for kind, text, rows in row.get("said", ())]


def heading_of(row: Row) -> str:
    headline = clean(row.get("headline", ""), 1000)
    return f"{SIGNS.get(row['status'], '○')} {name_of(row)}" + (f": {headline}" if headline else "")


def text_of(row: Row) -> str:
    return plain_text(heading_of(row), parts_of(row))


def why_of(row: Row) -> str:
    """What it says in sentences, without numbers and hints."""
    return " ".join(part.text for part in parts_of(row) if part.kind == "why")


class Result(TypedDict, total=False):
    """A notebook's, as it is kept in the marks folder: its rows or, if it could not be read, why."""

    unread: str
    again: str  # a trouble of ours, for which the notebook will be marked again
    lesson: str
    held: list[str]  # the protections under which it was marked
    fresh: bool  # is it as it was handed out?
    lost: str  # what could not be read of it, or nothing
    work: dict[str, Answer]  # by item
    rows: list[Row]


class Person(TypedDict):
    name: str
    folder: str  # as the learning system calls it
    slug: str  # as our folders are called
