"""The marks as tables: for a spreadsheet, for a learning system's own sheet, for Gradescope and GitHub Classroom."""

import base64
import json
import re
from collections import Counter, defaultdict
from itertools import chain
from typing import NamedTuple

from transformer_lessons.marking.naming import clean
from transformer_lessons.marking.sheets import number, table, written
from transformer_lessons.marking.submissions import in_short
from transformer_lessons.tools import atomic

LONG = ("student", "name", "lesson", "item", "kind", "status", "points", "max", "mistake", "flags", "file")
NOT_READ = "not read"  # the status of a lesson that was handed in, but could not be read
WAITING = "waiting"  # the status of a text that nobody has read
NOT_HANDED_IN = "not handed in"  # why a student's cell in a sheet stays as it is
NOT_THERE = "not in the sheet"
UNCLEAR = "in one row with somebody else"
TWICE = "twice in the sheet or in marks.csv"
NAMES = ("full name", "vollständiger name", "nombre completo", "nom complet", "student")  # heads of their column
NOBODY = ("points possible", "student, test")  # lines of Canvas's own
MARK = b"\xef\xbb\xbf"  # with which a spreadsheet begins a file in UTF-8


def totals(known):
    """{student: {lesson: points}} of what was handed in."""
    sums = {student: {} for student in known.students}
    for row in known.rows:
        mine = sums[row["student"]]
        mine[row["lesson"]] = mine.get(row["lesson"], 0) + (row["points"] or 0)
    return sums


def full_points(known) -> dict[str, float]:
    """{lesson: full points}"""
    full = {(row["lesson"], row["item"]): row["max"] for row in known.rows}
    return {lesson: sum(one for (of, _), one in full.items() if of == lesson) for lesson in known.lessons()}


def write_marks(known):
    """marks.csv, a line for each item; marks_wide.csv, a line for each student; unread.txt."""
    marked = {(row["student"], row["lesson"]) for row in known.rows}
    doubt = {one: why for one, why in known.in_doubt.items() if one not in marked and one[0] in known.students}
    unmarked = [
        dict.fromkeys(LONG, "") | {"student": student, "lesson": lesson, "status": NOT_READ, "flags": [why]}
        for (student, lesson), why in doubt.items()
    ]
    ordered = sorted([*known.rows, *unmarked], key=lambda row: (row["student"], int(row["lesson"])))
    names = {student: one["name"] for student, one in known.students.items()}
    shown = (
        {**row, "name": names[row["student"]], "status": status_of(row), "flags": ", ".join(row["flags"])}
        for row in ordered
    )
    written(known.out / "marks.csv", LONG, ([row[one] for one in LONG] for row in shown))
    lessons, sums = sorted({*known.lessons(), *(lesson for _, lesson in doubt)}, key=int), totals(known)
    full = full_points(known)
    heads = (f"lesson {one}" + (f" (of {full[one]:g})" if one in full else "") for one in lessons)
    written(
        known.out / "marks_wide.csv",
        ["student", "name", *heads, "total", "pseudonym"],
        (
            [
                student,
                names[student],
                *(NOT_READ if (student, one) in doubt else mine.get(one) for one in lessons),
                sum(mine.values()),
                known.pseudonym(student),
            ]
            for student, mine in sorted(sums.items())
        ),
    )
    unread = sorted({f"{clean(path, 300)}: {clean(why, 300)}" for path, why in in_short(known.unread)})
    atomic.write(known.out / "unread.txt", "".join(" ".join(line.split()) + "\n" for line in unread).encode())


def status_of(row):
    """A text that was given in waits, until a reader or an override gives it points."""
    return (WAITING if row["points"] is None else "read") if row["status"] == "given" else row["status"]


# The sheet that the teacher has downloaded: cells are replaced in place, and all other bytes stay as they are


class Cell(NamedTuple):
    start: int  # where it stands in the file, in bytes
    end: int
    text: str


def rows_of(data):
    """The cells of each row of a CSV file that is not empty."""
    begin = len(MARK) if data.startswith(MARK) else 0
    separator = max((b",", b";", b"\t"), key=data.split(b"\n", 1)[0].count)
    rows = [[]]
    pattern = re.compile(rb'("(?:[^"]|"")*"|[^%s\r\n]*)(%s|\r\n|\r|\n|\Z)' % (separator, separator))
    for found in pattern.finditer(data, begin):
        text = found[1].decode(errors="replace").strip().strip('"').replace('""', '"')
        rows[-1].append(Cell(*found.span(1), text))
        if found[2] != separator:
            rows.append([])
    return [row for row in rows if row and row[0].start < row[-1].end]


def fill(path, marks, column=None, lesson=None, scale=None, say=lambda text: None):
    """Fills a column of Moodle's or Canvas's sheet from marks.csv; returns (rows filled, {why: who was left out}).

    A student in the sheet, but not in marks.csv, has handed in nothing. `scale` is what full points become, or "sheet"
    for the maximum that the sheet itself gives. The sheet as it was stays beside it as a copy.
    """
    sums, double, possible, waiting, not_read = sums_in(marks, lesson)
    data = path.read_bytes()
    rows = rows_of(data)
    if not rows:
        raise ValueError(f"{path} is empty.")
    header = [one.text for one in rows.pop(0)]
    target = column_of(header, column)
    maxima = [maximum_of(row, header, target, rows) for row in rows]
    if scale and not possible:
        raise ValueError(f"{marks} has no points to scale: it gives no maximum.")
    named = students_in(rows, target, sums)
    double |= {student for student, times in Counter(chain(*named)).items() if times > 1}
    left: dict[str, list[str]] = {NOT_HANDED_IN: [], NOT_READ: [], NOT_THERE: [], TWICE: sorted(double), UNCLEAR: []}
    changes, done, used, others = [], set(), set(), 0
    for row, students, maximum in zip(rows, named, maxima, strict=True):
        if not students and (first := row[0].text.strip()) and first.lower() not in NOBODY:
            left[NOT_HANDED_IN].append(name_in(row, header) or first)
        if len(students) > 1:
            left[UNCLEAR] += sorted(students - double)
        if len(students) != 1 or students & double or target >= len(row):
            continue
        (student,) = students
        mine = sums[student]
        points = mine.get(lesson) if lesson else sum(mine.values()) if mine else None
        if points is None:
            left[NOT_READ if student in not_read else NOT_HANDED_IN].append(name_in(row, header) or student)
            continue
        most = maximum if scale == "sheet" else scale
        if scale and most is None:
            raise ValueError(
                f"{path} gives no maximum for {student}: say --scale 100, or whatever full points should be."
            )
        value = f"{round(points * most / possible, 2) if scale else points:g}"
        done.add(student)
        used.add(maximum)
        others += row[target].text.strip("- ") != "" and number(row[target].text) != number(value)
        changes.append((row[target], value.encode()))
    if not scale and possible:
        for maximum in sorted(used - {None, possible}):
            say(
                f"The sheet's maximum is {maximum:g}, but full points are {possible:g}: the points were filled in as "
                f"they are. With --scale sheet, full points become {maximum:g}."
            )
    if waiting:
        waits, counts = ("text waits", "counts") if waiting == 1 else ("texts wait", "count")
        say(f"{waiting} {waits} for a reader and {counts} as 0 so far.")
    if others:
        say(f"{others} {'cell' if others == 1 else 'cells'} held other points before.")
    if counted := sorted(f"{one} (lesson {', '.join(of)})" for one, of in not_read.items() if one in done):
        say(f"Filled in without what was not read: {', '.join(counted)}.")
    say(f"The sheet as it was: {copied(path, data)}.")
    for one, value in reversed(changes):
        data = data[: one.start] + value + data[one.end :]
    atomic.write(path, data)
    left[NOT_THERE] = sorted(set(sums) - double - set(chain(*named)))
    return len(done), {why: who for why, who in left.items() if who}


def name_in(row, header):
    """The student's name in Moodle's or Canvas's sheet; "" if it has none."""
    texts = (one.text.strip() for one, head in zip(row, header, strict=False) if head.strip().lower() in NAMES)
    return next(texts, "")


def copied(path, data):
    """A copy beside the file, under the first name that is free."""
    names = (path.with_name(f"{path.stem}.before{number}{path.suffix}") for number in ("", *range(2, 10_000)))
    copy = next(one for one in names if not one.exists())
    atomic.write(copy, data)
    return copy


def maximum_of(row, header, target, rows):
    """What full points are in the sheet: in Moodle's column for it, or in Canvas's row; None if it does not say."""
    place = next((n for n, one in enumerate(header) if one.strip().lower() in ("maximum grade", "max grade")), None)
    if place is None:
        row = next((one for one in rows if one[0].text.strip().lower() == "points possible"), ())
        place = target
    maximum = number(row[place].text) if place < len(row) else None
    return maximum or None


def sums_in(marks, lesson=None):
    """What marks.csv holds: points, doubles, maximum, waiting, not read.

    These are {student: {lesson: points}}; the students who have two lines for one item; full points, of one lesson or
    of all that anyone has handed in, None if it does not say; how many texts there have no points yet; and {student:
    lessons} of what was handed in, but could not be read.
    """
    waiting, not_read = 0, defaultdict(list)
    if not marks.exists():
        raise ValueError(f"There is no {marks}: mark the class first, or name the folder of the marks with --out.")
    sums, lines = {}, Counter()
    most: dict[tuple, float] = defaultdict(float)
    for row in table(marks, "student", "lesson", "kind", "item", "points"):
        points = number(row["points"]) if row["points"] else 0  # a text that waits for its reader has none yet
        if points is None:
            raise ValueError(
                f"{marks}: {row['points']!r} for {row['item']} by {row['student']} is not a number of points."
            )
        mine = sums.setdefault(row["student"], {})
        if row.get("status") == NOT_READ:
            if lesson in (None, row["lesson"]):
                not_read[row["student"]].append(row["lesson"])
            continue
        mine[row["lesson"]] = mine.get(row["lesson"], 0) + points
        lines[row["student"], row["lesson"], row["kind"], row["item"]] += 1
        waiting += not row["points"] and lesson in (None, row["lesson"])
        if lesson in (None, row["lesson"]) and lines[row["student"], row["lesson"], row["kind"], row["item"]] == 1:
            most[row["lesson"], row["student"]] += number(row.get("max")) or 0
    full = {one: max(value for (other, _), value in most.items() if other == one) for one, _ in most}
    double = {student for (student, *_), times in lines.items() if times > 1}
    return sums, double, sum(full.values()) or None, waiting, not_read


def students_in(rows, target, students):
    """For each row, those whose id is in it, in the column where most are found: elsewhere, a number may be points."""
    width = max(map(len, rows), default=0)
    columns = [
        [named_by(row[place].text, students) if place < len(row) else set() for row in rows]
        for place in range(width)
        if place != target
    ]
    return max(columns, key=lambda named: len(set().union(*named)), default=[set() for _ in rows])


def named_by(text, students):
    """Whom a cell names: "12", or "Participant 12"."""
    return {name for name in (text, re.sub(r"^\D+(?=\d+$)", "", text)) if name in students}


def column_of(header, wanted):
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


def with_reason(row):
    """The verdict and, where the teacher has overridden its points, why."""
    return row["message"] + (f"\n  Your teacher: {row['reason']}" if row.get("reason") else "")


def gradescope(known):
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
    unread = "\n".join(" ".join(f"{clean(path)}: {clean(why)}".split()) for path, why in known.unread)
    return {
        "score": sum(one["score"] for one in tests),
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "output": unread or "Everything was read.",
        "tests": tests,
    }


def classroom(known):
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


def write_result(out, value):
    atomic.write(out / "results.json", json.dumps(value, indent=1).encode())
