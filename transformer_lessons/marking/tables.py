"""The marks as tables: for a spreadsheet, for a learning system's own sheet, for Gradescope and GitHub Classroom."""

import base64
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from transformer_lessons.basis import atomic
from transformer_lessons.marking.marks import Class
from transformer_lessons.marking.naming import clean
from transformer_lessons.marking.results import Row, is_unreadable, text_of
from transformer_lessons.marking.sheets import NAMES, fullest, named_by, points_from, read_table, written
from transformer_lessons.marking.submissions import in_short

LONG = ("student", "name", "lesson", "item", "kind", "status", "points", "max", "mistake", "flags", "file")
NOT_READ = "not read"  # the status of a lesson that was handed in, but could not be read
UNREADABLE = "unreadable"  # the status of an answer that a question cannot take
WAITING = "waiting"  # the status of a text that nobody has read
NOT_HANDED_IN = "not handed in"  # why a student's cell in a sheet stays as it is
NOT_THERE = "not in the sheet"
UNCLEAR = "in one row with somebody else"
TWICE = "twice in the sheet or in marks.csv"
NOBODY = ("points possible", "student, test")  # lines of Canvas's own
MARK = b"\xef\xbb\xbf"  # with which a spreadsheet begins a file in UTF-8


def totals(known: Class) -> dict[str, dict[str, float]]:
    """{student: {lesson: points}} of what was handed in."""
    sums: dict[str, dict[str, float]] = {student: {} for student in known.students}
    for row in known.rows:
        mine = sums[row["student"]]
        mine[row["lesson"]] = mine.get(row["lesson"], 0) + (row["points"] or 0)
    return sums


def full_points(known: Class) -> dict[str, float]:
    """{lesson: full points}"""
    full = {(row["lesson"], row["item"]): row["max"] for row in known.rows}
    return {lesson: sum(one for (of, _), one in full.items() if of == lesson) for lesson in known.lessons()}


def write_marks(known: Class) -> None:
    """marks.csv, a line for each item; marks_wide.csv, a line for each student; unread.txt."""
    marked = {(row["student"], row["lesson"]) for row in known.rows}
    doubt = {one: why for one, why in known.in_doubt.items() if one not in marked and one[0] in known.students}
    unmarked = [
        dict.fromkeys(LONG, "") | {"student": student, "lesson": lesson, "status": NOT_READ, "flags": [why]}
        for (student, lesson), why in doubt.items()
    ]
    every: list[Any] = [*known.rows, *unmarked]
    ordered = sorted(every, key=lambda row: (row["student"], int(row["lesson"])))
    names = {student: one["name"] for student, one in known.students.items()}
    shown = (
        {**row, "name": names[row["student"]], "status": status_of(row), "flags": ", ".join(row["flags"])}
        for row in ordered
    )
    written(known.out / "marks.csv", LONG, ([row[one] for one in LONG] for row in shown))
    lessons, sums = sorted({*known.lessons(), *(lesson for _, lesson in doubt)}, key=int), totals(known)
    full = full_points(known)
    incomplete = {student for student, _ in doubt} | {one for one in known.left_out if not sums.get(one)}
    heads = (f"lesson {one}" + (f" (of {full[one]:g})" if one in full else "") for one in lessons)
    written(
        known.out / "marks_wide.csv",
        ["student", "name", *heads, "total", "pseudonym"],
        (
            [
                student,
                names[student],
                *(NOT_READ if (student, one) in doubt else mine.get(one) for one in lessons),
                "" if student in incomplete else sum(mine.values()),
                known.pseudonym(student),
            ]
            for student, mine in sorted(sums.items())
        ),
    )
    unread = sorted(
        {f"{clean(path, 300)}: {clean(why, 300)}" for path, why in in_short([*known.unread, *known.lost.values()])}
    )
    atomic.write(known.out / "unread.txt", "".join(" ".join(line.split()) + "\n" for line in unread).encode())


def status_of(row: Row) -> str:
    """What a table calls it: a text that was given in waits, until a reader or an override gives it points."""
    if is_unreadable(row):
        return UNREADABLE
    return (WAITING if row["points"] is None else "read") if row["status"] == "given" else row["status"]


# The sheet that the teacher has downloaded: cells are replaced in place, and all other bytes stay as they are


class Cell(NamedTuple):
    start: int  # where it stands in the file, in bytes
    end: int
    text: str


def rows_of(data: bytes) -> list[list[Cell]]:
    """The cells of each row of a CSV file that is not empty."""
    begin = len(MARK) if data.startswith(MARK) else 0
    separator = max((b",", b";", b"\t"), key=data.split(b"\n", 1)[0].count)
    rows: list[list[Cell]] = [[]]
    pattern = re.compile(rb'("(?:[^"]|"")*"|[^%s\r\n]*)(%s|\r\n|\r|\n|\Z)' % (separator, separator))
    for found in pattern.finditer(data, begin):
        text = found[1].decode(errors="replace").strip()
        if len(text) > 1 and text[0] == text[-1] == '"':
            text = text[1:-1].replace('""', '"')
        rows[-1].append(Cell(*found.span(1), text))
        if found[2] != separator:
            rows.append([])
    return [row for row in rows if row and row[0].start < row[-1].end]


@dataclass
class Points:
    """What marks.csv holds, of one lesson or of all."""

    sums: dict[str, dict[str, float]] = field(default_factory=dict)  # student → lesson → points
    double: set[str] = field(default_factory=set)  # students who have two lines for one item
    possible: float | None = None  # full points of all that anyone has handed in; None if it does not say
    waiting: int = 0  # texts that have no points yet
    not_read: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # student → lessons handed in


def fill(
    path: Path,
    marks: Path,
    column: str | None = None,
    lesson: str | None = None,
    scale: float | str | None = None,
    say: Callable[[str], object] = lambda text: None,
) -> tuple[int, dict[str, list[str]]]:
    """Fills a column of Moodle's or Canvas's sheet from marks.csv; returns (rows filled, {why: who was left out}).

    A student in the sheet, but not in marks.csv, has handed in nothing. `scale` is what full points become, or "sheet"
    for the maximum that the sheet itself gives. The sheet as it was stays beside it as a copy.
    """
    known, data = points_in(marks, lesson), path.read_bytes()
    if scale and not known.possible:
        raise ValueError(f"{marks} has no points to scale: it gives no maximum.")
    filling = Filling(path, rows_of(data), known, column)
    for place in range(len(filling.rows)):
        filling.fill(place, lesson, scale)
    for remark in filling.remarks(scale):
        say(remark)
    say(f"The sheet as it was: {copied(path, data)}.")
    for one, value in reversed(filling.changes):
        data = data[: one.start] + value + data[one.end :]
    atomic.write(path, data)
    return len(filling.done), {why: who for why, who in filling.left.items() if who}


class Filling:
    """A sheet, row by row: what becomes of each cell, and who is left out."""

    def __init__(self, path: Path, rows: list[list[Cell]], known: Points, column: str | None) -> None:
        if not rows:
            raise ValueError(f"{path} is empty.")
        self.path, self.known, self.rows = path, known, rows[1:]
        self.header = [one.text for one in rows[0]]
        self.target = column_of(self.header, column)
        named = students_in(self.rows, self.target, known.sums)
        self.students = [set() if is_nobodys(row) else who for row, who in zip(self.rows, named, strict=True)]
        times = Counter(chain(*self.students))
        self.double = known.double | {student for student, number in times.items() if number > 1}
        self.left: dict[str, list[str]] = {
            NOT_HANDED_IN: [],
            NOT_READ: [],
            NOT_THERE: sorted(set(known.sums) - self.double - set(times)),
            TWICE: sorted(self.double),
            UNCLEAR: [],
        }
        self.changes: list[tuple[Cell, bytes]] = []
        self.done: set[str] = set()
        self.maxima: set[float] = set()  # that the sheet gives for those who are done
        self.others = 0  # cells that held other points before

    def fill(self, place: int, lesson: str | None, scale: float | str | None) -> None:
        """Fills in one row, or notes why not."""
        row, students = self.rows[place], self.students[place]
        name = name_in(row, self.header)
        if not students and (first := row[0].text.strip()) and not is_nobodys(row):
            self.left[NOT_HANDED_IN].append(name or first)
        if len(students) > 1:
            self.left[UNCLEAR] += sorted(students - self.double)
        if len(students) != 1 or students & self.double or self.target >= len(row):
            return
        (student,) = students
        mine = self.known.sums[student]
        points = mine.get(lesson) if lesson else sum(mine.values()) if mine else None
        if points is None:
            self.left[NOT_READ if student in self.known.not_read else NOT_HANDED_IN].append(name or student)
            return
        maximum = maximum_of(row, self.header, self.target, self.rows)
        value = self.scaled(points, student, maximum if scale == "sheet" else scale) if scale else f"{points:g}"
        self.done.add(student)
        self.maxima |= {maximum} if maximum else set()
        self.others += row[self.target].text.strip("- ") != "" and points_from(row[self.target].text) != float(value)
        self.changes.append((row[self.target], value.encode()))

    def scaled(self, points: float, student: str, most: float | str | None) -> str:
        if most is None:
            raise ValueError(
                f"{self.path} gives no maximum for {student}: say --scale 100, or whatever full points should be."
            )
        return f"{round(points * float(most) / (self.known.possible or 1), 2):g}"

    def remarks(self, scale: float | str | None) -> Iterator[str]:
        """What the teacher should know about the points that were filled in."""
        known = self.known
        for maximum in sorted(self.maxima - {known.possible}) if known.possible and not scale else ():
            yield (
                f"The sheet's maximum is {maximum:g}, but full points are {known.possible:g}: the points were filled "
                f"in as they are. With --scale sheet, full points become {maximum:g}."
            )
        if known.waiting:
            waits, counts = ("text waits", "counts") if known.waiting == 1 else ("texts wait", "count")
            yield f"{known.waiting} {waits} for a reader and {counts} as 0 so far."
        if self.others:
            yield f"{self.others} {'cell' if self.others == 1 else 'cells'} held other points before."
        if counted := sorted(
            f"{one} (lesson {', '.join(of)})" for one, of in known.not_read.items() if one in self.done
        ):
            yield f"Filled in without what was not read: {', '.join(counted)}."


def is_nobodys(row: list[Cell]) -> bool:
    """Is it a line of Canvas's own, whatever a student calls herself?"""
    return row[0].text.strip().lower() in NOBODY


def name_in(row: list[Cell], header: list[str]) -> str:
    """The student's name in Moodle's or Canvas's sheet; "" if it has none."""
    texts = (one.text.strip() for one, head in zip(row, header, strict=False) if head.strip().lower() in NAMES)
    return next(texts, "")


def copied(path: Path, data: bytes) -> Path:
    """A copy beside the file, under the first name that is free."""
    names = (path.with_name(f"{path.stem}.before{number}{path.suffix}") for number in ("", *range(2, 10_000)))
    copy = next(one for one in names if not one.exists())
    atomic.write(copy, data)
    return copy


def maximum_of(row: list[Cell], header: list[str], target: int, rows: list[list[Cell]]) -> float | None:
    """What full points are in the sheet: in Moodle's column for it, or in Canvas's row; None if it does not say."""
    place = next((n for n, one in enumerate(header) if one.strip().lower() in ("maximum grade", "max grade")), None)
    if place is None:
        row = next((one for one in rows if one[0].text.strip().lower() == "points possible"), [])
        place = target
    maximum = points_from(row[place].text) if place < len(row) else None
    return maximum or None


def points_in(marks: Path, lesson: str | None = None) -> Points:
    """What marks.csv holds."""
    if not marks.exists():
        raise ValueError(f"There is no {marks}: mark the class first, or name the folder of the marks with --out.")
    known, lines = Points(), Counter[tuple]()
    most: dict[tuple[str, str], float] = defaultdict(float)  # (lesson, student) → full points of what was handed in
    for row in read_table(marks, "student", "lesson", "kind", "item", "points"):
        points = points_from(row["points"]) if row["points"] else 0  # a text that waits for its reader has none yet
        if points is None:
            raise ValueError(
                f"{marks}: {row['points']!r} for {row['item']} by {row['student']} is not a number of points."
            )
        student, counts = row["student"], lesson in (None, row["lesson"])
        mine = known.sums.setdefault(student, {})
        if row.get("status") == NOT_READ:
            if counts:
                known.not_read[student].append(row["lesson"])
            continue
        mine[row["lesson"]] = mine.get(row["lesson"], 0) + points
        line = student, row["lesson"], row["kind"], row["item"]
        lines[line] += 1
        known.waiting += not row["points"] and counts
        if counts and lines[line] == 1:
            most[row["lesson"], student] += points_from(row.get("max")) or 0
    full = {one: max(value for (other, _), value in most.items() if other == one) for one, _ in most}
    known.double = {student for (student, *_), times in lines.items() if times > 1}
    known.possible = sum(full.values()) or None
    return known


def students_in(rows: list[list[Cell]], target: int, students: Collection[str]) -> list[set[str]]:
    """For each row, those whose id is in it, in the column where most are found: elsewhere, a number may be points."""
    width = max(map(len, rows), default=0)
    columns = [
        [row[place].text if place < len(row) else "" for row in rows] for place in range(width) if place != target
    ]
    return [named_by(text, students) for text in fullest(columns, students) or [""] * len(rows)]


def column_of(header: list[str], wanted: str | None) -> int:
    """The number of the column that was named, or of the only candidate."""
    grades = {"grade", "bewertung", "note", "nota", "calificación", "calificação", "cijfer", "betyg", "valutazione"}
    if wanted is not None:
        found = [n for n, one in enumerate(header) if re.fullmatch(rf"{re.escape(wanted)}( \(\d+\))?", one)]
    else:
        found = [n for n, one in enumerate(header) if one.lower() in grades or re.search(r" \(\d+\)$", one)]
    if len(found) != 1:
        raise ValueError(f"Which column should be filled in? Give --column one of: {', '.join(header)}")
    return found[0]


# One submission, for an autograder


def with_reason(row: Row) -> str:
    """The verdict and, where the teacher has overridden its points, why."""
    return text_of(row) + (f"\n  Your teacher: {row['reason']}" if row.get("reason") else "")


def gradescope(known: Class) -> dict:
    """results.json: one test for each item, whose points add up to the score."""
    rows = [row for row in known.rows if row["kind"] != "text"]
    tests = [
        {
            "name": clean(row["item"]),
            "number": f"{row['lesson']}.{row['item']}",
            "score": row["points"] or 0,
            "max_score": row["max"],
            "status": "passed" if row["status"] == "passed" else "failed",
            "output": clean(with_reason(row), 3000),
            "visibility": "visible",
        }
        for row in rows
    ]
    unread = "\n".join(
        " ".join(f"{clean(path)}: {clean(why)}".split()) for path, why in [*known.unread, *known.lost.values()]
    )
    return {
        "score": sum(one["score"] for one in tests),
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "output": unread or "Everything was read.",
        "tests": tests,
    }


def classroom(known: Class) -> dict:
    """GitHub Classroom's result, for one step: base64 of version 3."""
    rows = [row for row in known.rows if row["kind"] != "text"]
    tests = [
        {
            "name": clean(row["item"]),
            "status": "pass" if row["status"] == "passed" else "fail",
            "score": row["points"] or 0,
            "line_no": 0,
            "message": clean(with_reason(row), 1000),
            "test_code": "",
        }
        for row in rows
    ]
    status = "pass" if tests and all(one["status"] == "pass" for one in tests) else "fail"
    result = {"version": 3, "status": status, "max_score": sum(row["max"] for row in rows), "tests": tests}
    return {"result": base64.b64encode(json.dumps(result).encode()).decode()}


FORMATS = {"gradescope": gradescope, "classroom": classroom}


def write_result(out: Path, value: dict) -> None:
    atomic.write(out / "results.json", json.dumps(value, indent=1).encode())
