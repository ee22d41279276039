"""Two halves of a class, one with and one without the names of mistakes, and what became of each."""

import json

import pytest

from transformer_lessons.exercises.checker.parts import Part
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.marking import feedback, halves, marks, policy, sheets

MISTAKE = next(iter(EXERCISES["causal_mask"].mistakes.values()))


def row(student, status):
    about = {"student": student, "lesson": "6", "item": "causal_mask", "exercise": "causal_mask", "kind": "exercise"}
    headline, said = (f"{MISTAKE.name}.", [Part("why", MISTAKE.why)]) if status == "failed" else ("", [])
    about |= {"flags": [], "status": status, "mistake": "", "answer": "", "again": False}
    about |= {"headline": headline, "said": said}
    return marks.scored(about, policy.POLICY)


@pytest.fixture
def known(tmp_path):
    """Forty students with two wrong versions each; the first twenty have handed in a right one since."""
    found = marks.Class(tmp_path, 5, held={"files", "processes", "network"}, halves=True)
    for number in range(40):
        student = f"student{number}"
        found.students[student] = {"name": student, "folder": "", "slug": student}
        found.rows.append(row(student, "passed" if number < 20 else "failed"))
        (tmp_path / ".state" / student).mkdir(parents=True)
        for version, digest in enumerate(("first", "second", "second")):  # the last one with another notebook around it
            result = {"lesson": "6", "rows": [row(student, "failed")], "work": {"causal_mask": {"digest": digest}}}
            (tmp_path / ".state" / student / f"{version}.json").write_text(json.dumps(result))
    return found


def test_each_half_gets_its_kind_of_feedback(known):
    feedback.write_feedback(known)
    told = {halves.WITH: [], halves.WITHOUT: []}
    for student in known.students:
        page = (known.out / "feedback" / student / "lesson_6.html").read_text(encoding="utf-8")
        told[halves.half_of(known, student)].append((MISTAKE.name in page, "not right yet" in page))
    assert set(told[halves.WITH]) == {(True, False), (False, False)}
    assert set(told[halves.WITHOUT]) == {(False, True), (False, False)}
    assert min(map(len, told.values())) >= 10


def test_a_half_depends_on_the_seed_and_the_student_alone(known):
    before = {student: halves.half_of(known, student) for student in known.students}
    known.students = {"new": {}, **known.students}
    assert {student: halves.half_of(known, student) for student in before} == before
    other = marks.Class(known.out, 6)
    assert {student: halves.half_of(other, student) for student in before} != before


def test_the_table_counts_different_versions_until_the_right_one(known):
    halves.write_halves(known)
    table = sheets.read_table(known.out / "halves.csv", *halves.COLUMNS)
    assert [one["half"] for one in table] == [halves.WITH, halves.WITHOUT]
    assert {one["versions until right"] for one in table} == {"3"}
    assert sum(int(one["tried"]) for one in table) == 40
    assert sum(int(one["solved"]) for one in table) == 20
    assert sum(int(one["wrong versions"]) for one in table) == 80


def test_where_a_class_has_no_halves_everyone_is_told_everything(known):
    known.halves = False
    halves.write_halves(known)
    assert not (known.out / "halves.csv").exists()
    assert all(halves.as_told(known, [one]) == [one] for one in known.rows)
