"""Class lists: the course's own, and those that Canvas, Moodle and others export."""

import contextlib
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from transformer_lessons.marking.files import Submission
from transformer_lessons.marking.naming import as_seen
from transformer_lessons.marking.sheets import NAMES, fullest, named_by, read_table, without_word

FIRST, LAST = ("first name", "firstname"), ("last name", "lastname", "surname")  # heads of columns
TEST = as_seen("Student, Test")  # whom Canvas adds to each gradebook
HANDED_IN = "last modified (submission)"  # the head of Moodle's column
TIMES = ("%A, %d %B %Y, %I:%M %p", "%A, %B %d, %Y, %I:%M %p", "%A, %d %B %Y, %H:%M")  # as Moodle writes them in English


class Listed(NamedTuple):
    """A student on a class list."""

    student: str  # the id that the download has
    name: str
    group: str = ""
    time: str = ""  # when the work was handed in, if the list says so


def class_list(path: Path, works: list[Submission]) -> list[Listed]:
    """The students on a list with the columns student, name and group, or on one that a learning system exports.

    Of the latter, the column with the ids is that in which most students of the download are found. If there is none,
    as in a list of Moodle's participants, they are found by their names.
    """
    rows = read_table(path)
    if not rows:
        raise ValueError(f"{path} lists no students.")
    if "student" in rows[0]:
        own = [(row["student"], row.get("name", ""), row.get("group", "")) for row in rows if row["student"]]
        return [Listed(student, name or student, group) for student, name, group in own]
    return [*exported(path, rows, {work.student: work.name or work.student for work in works})]


def exported(path: Path, rows: list[dict[str, str]], students: dict[str, str]) -> Iterator[Listed]:
    """The students on a list of a learning system's; `students` are those of the download, with their names."""
    rows = [{head.lower(): text.strip() for head, text in row.items()} for row in rows]
    names = [name_in(row) for row in rows]
    ids = fullest(([row[head] for row in rows] for head in rows[0]), students)
    if any(named_by(text, students) for text in ids):
        words = any(text not in students for text in ids if named_by(text, students))  # "Participant 12"
        ids = [without_word(text) if words else text for text in ids]
    else:
        ids = ids_by_name(path, names, students)
    for row, student, name in zip(rows, ids, names, strict=True):
        if student and as_seen(name) != TEST:
            yield Listed(student, name or student, time=time_in(row.get(HANDED_IN, "")))


def name_in(row: dict[str, str]) -> str:
    """The name in a row: in one column or, as "Lovelace, Ada" or "Ada Lovelace", in two."""
    whole = next((row[head] for head in ("name", *NAMES) if head in row), "")
    first, last = (next((row[head] for head in heads if head in row), "") for heads in (FIRST, LAST))
    parts = f"{last}, {first}" if "lastname" in row else f"{first} {last}"  # as Canvas writes it, and Moodle
    return whole or parts.strip(" ,")


def ids_by_name(path: Path, names: list[str], students: dict[str, str]) -> list[str]:
    """For each name on a list the id that the download has for it; the name itself, if it has none."""
    seen = {as_seen(name): student for student, name in students.items()}
    twice = Counter(map(as_seen, names)) + Counter(map(as_seen, students.values()))
    if students and not any(as_seen(name) in seen for name in names):
        examples = ", ".join(sorted(students)[:3])
        raise ValueError(f"{path}: no column has the ids of the students in the download, such as {examples}.")
    for name in names:
        if as_seen(name) in seen and twice[as_seen(name)] > 2:
            raise ValueError(f"{path}: {name} is on it twice, or in the download. Add a column with the ids.")
    return [seen.get(as_seen(name), name) for name in names]


def time_in(text: str) -> str:
    """A time of Moodle's, in numbers; nothing if it is none, or is written in another language."""
    for form in TIMES:
        with contextlib.suppress(ValueError):
            return f"{datetime.strptime(text, form):%Y-%m-%d %H:%M}"
    return ""
