"""What is known of a notebook once it has been marked, and of a student: one row for each item of a lesson."""

from typing import TypedDict

from transformer_lessons.marking.messages import Answer


class Row(TypedDict, total=False):
    """The verdict on one item. First come its own names, then those that it has in the class."""

    item: str  # the name of the answer, or the question's number
    exercise: str  # of an exercise or a hunt: the catalogue's name for it
    kind: str  # "exercise", "hunt", "question" or "text"
    status: str  # "passed", "failed", "untouched", "missing", "not marked"; of a text, "given", and "read" by a reader
    mistake: str
    answer: str  # to a question
    message: str  # the verdict in full
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
