"""Two halves of a class: one is told the names of its mistakes, the other only that something is wrong."""

import hmac

from transformer_lessons.marking.marks import Class, result_at
from transformer_lessons.marking.naming import slug
from transformer_lessons.marking.results import Row, whose
from transformer_lessons.marking.sheets import written
from transformer_lessons.marking.verdicts import name_in_class

WITH, WITHOUT = "with names", "without names"
CODE = ("exercise", "hunt")
COLUMNS = ("lesson", "item", "half", "tried", "solved", "versions until right", "wrong versions")


def half_of(known: Class, student: str) -> str:
    """The half that a student or a group is in: drawn by the class's seed, and the same in every run."""
    drawn = hmac.new(f"{known.seed} halves".encode(), student.encode(errors="replace"), "sha256").digest()
    return (WITH, WITHOUT)[drawn[0] % 2]


def as_told(known: Class, rows: list[Row]) -> list[Row]:
    """A student's rows, as the feedback shows them: without names and explanations in the second half."""
    if not known.halves:
        return rows
    return [
        row | {"headline": "not right yet.", "said": [], "mistake": "", "error": "", "line": ""}
        if row["status"] == "failed" and row["kind"] in CODE and half_of(known, whose(row)) == WITHOUT
        else row
        for row in rows
    ]


def wrong_versions(known: Class, student: str) -> dict[str, int]:
    """{item: how many different wrong versions}, in all the notebooks by a student or a group that were ever marked."""
    seen = set()
    for path in sorted((known.out / ".state" / slug(student)).glob("*.json")):
        result = result_at(path) or {}
        for row in result.get("rows", ()):
            if row["status"] == "failed" and row["item"] in result["work"]:
                name = name_in_class(result["lesson"], row["item"])
                seen.add((name, result["work"][row["item"]]["digest"]))
    return {item: sum(one == item for one, _ in seen) for item, _ in seen}


def write_halves(known: Class) -> None:
    """halves.csv: for each exercise and each half, who has tried and solved it, and after how many versions."""
    if not known.halves:
        return
    rows = {(row["item"], whose(row)): row for row in known.rows if row["kind"] in CODE}  # of a group, one member's
    wrong = {one: wrong_versions(known, one) for _, one in rows}
    tried = {}
    for (item, one), row in rows.items():
        if row["status"] in ("passed", "failed"):
            place = int(row["lesson"]), item, half_of(known, one)
            tried.setdefault(place, []).append((row["status"] == "passed", wrong[one].get(item, 0)))
    lines = []
    for place, ones in sorted(tried.items()):
        until_right = [count + 1 for solved, count in ones if solved]
        mean = round(sum(until_right) / len(until_right), 2) if until_right else None
        lines.append([*place, len(ones), len(until_right), mean, sum(count for _, count in ones)])
    written(known.out / "halves.csv", COLUMNS, lines)
