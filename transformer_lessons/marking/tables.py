"""The marks as tables: for a spreadsheet, for a learning system's own sheet, for Gradescope and GitHub Classroom."""

import base64
import json
import re
from collections import Counter

from transformer_lessons.marking.naming import clean
from transformer_lessons.marking.sheets import table, written
from transformer_lessons.marking.submissions import in_short
from transformer_lessons.tools import atomic

LONG = ("student", "name", "lesson", "item", "kind", "status", "points", "max", "mistake", "flags", "file")


def totals(known):
    """{student: {lesson: points}} of what was handed in."""
    sums = {student: {} for student in known.students}
    for row in known.rows:
        mine = sums[row["student"]]
        mine[row["lesson"]] = mine.get(row["lesson"], 0) + (row["points"] or 0)
    return sums


def write_marks(known):
    """marks.csv, a line for each item; marks_wide.csv, a line for each student; unread.txt."""
    ordered = sorted(known.rows, key=lambda row: (row["student"], int(row["lesson"])))
    names = {student: one["name"] for student, one in known.students.items()}
    shown = ({**row, "name": names[row["student"]], "flags": ", ".join(row["flags"])} for row in ordered)
    written(known.out / "marks.csv", LONG, ([row[one] for one in LONG] for row in shown))
    lessons, sums = known.lessons(), totals(known)
    written(
        known.out / "marks_wide.csv",
        ["student", "name", *(f"lesson {one}" for one in lessons), "total"],
        (
            [student, names[student], *(mine.get(one) for one in lessons), sum(mine.values())]
            for student, mine in sorted(sums.items())
        ),
    )
    unread = sorted({f"{clean(path, 300)}: {clean(why, 300)}" for path, why in in_short(known.unread)})
    atomic.write(known.out / "unread.txt", "".join(" ".join(line.split()) + "\n" for line in unread).encode())


# The sheet that the teacher has downloaded: cells are replaced in place, and all other bytes stay as they are


def spans(data, separator):
    """[[(start, end) of each cell] for each row] of a CSV file, in bytes."""
    rows = [[]]
    for found in re.finditer(rb'("(?:[^"]|"")*"|[^%s\r\n]*)(%s|\r\n|\r|\n|\Z)' % (separator, separator), data):
        rows[-1].append(found.span(1))
        if found[2] != separator:
            rows.append([])
    return [row for row in rows if row and data[row[0][0] : row[-1][1]]]


def fill(path, marks, column=None, lesson=None):
    """Fills a column of Moodle's or Canvas's sheet from marks.csv; returns (rows filled, students left out)."""
    sums, given = {}, table(marks, "student", "lesson", "kind", "item", "points")
    count = Counter((row["student"], row["lesson"], row["kind"], row["item"]) for row in given)
    double = {student for (student, *_), times in count.items() if times > 1}
    for row in given:
        mine = sums.setdefault(row["student"], {})
        mine[row["lesson"]] = mine.get(row["lesson"], 0) + float(row["points"] or 0)
    data = path.read_bytes()
    begin = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    first = data.split(b"\n", 1)[0]
    separator = max((b",", b";", b"\t"), key=first.count)
    rows = spans(data[begin:], separator)
    text = [
        [
            data[begin + start : begin + end].decode(errors="replace").strip().strip('"').replace('""', '"')
            for start, end in row
        ]
        for row in rows
    ]
    target = column_of(text[0], column)
    named = [
        {
            name
            for number, one in enumerate(cells)
            if number != target
            for name in (one, re.sub(r"^\D+(?=\d+$)", "", one))
            if name in sums
        }
        for cells in text[1:]
    ]
    double |= {student for student, times in Counter(one for who in named for one in who).items() if times > 1}
    changes, done = [], set()
    for row, who in zip(rows[1:], named, strict=True):
        student = next(iter(who), None)
        if len(who) != 1 or student in double or target >= len(row):
            continue
        points = sums[student].get(lesson) if lesson else sum(sums[student].values())
        if points is not None:
            done.add(student)
            changes.append((row[target], f"{points:g}".encode()))
    for (start, end), value in reversed(changes):
        data = data[: begin + start] + value + data[begin + end :]
    atomic.write(path, data)
    return len(done), sorted(set(sums) - done)


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
            "output": clean(row["message"], 3000),
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
            "message": clean(row["message"], 1000),
            "test_code": "",
        }
        for row in rows
    ]
    status = "pass" if tests and all(one["status"] == "pass" for one in tests) else "fail"
    result = {"version": 3, "status": status, "max_score": sum(row["max"] for row in rows), "tests": tests}
    return {"result": base64.b64encode(json.dumps(result).encode()).decode()}


FORMATS = {"gradescope": gradescope, "classroom": classroom}


def write_result(out, form, value):
    atomic.write(out / "results.json", json.dumps(value, indent=1).encode())
