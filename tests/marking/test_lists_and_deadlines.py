"""Class lists as learning systems export them; deadlines by lesson, and extensions for single students."""

import json
import re

import pytest

from transformer_lessons.marking import feedback, marks, policy, report, review, sheets

LESSON = "06_masking.ipynb"


def share(jobs, waiting, out, say=None):
    """In place of the processes that mark: every notebook has one right answer; its lesson is what it holds."""
    for work, path in waiting:
        row = {"item": "6.1", "kind": "question", "flags": [], "status": "passed", "answer": "a"}
        path.write_text(
            json.dumps({"lesson": work.read().decode(), "held": [], "fresh": False, "rows": [row], "work": {}})
        )
    return {}


@pytest.fixture
def mark(tmp_path, monkeypatch):
    """A function that marks files, by their paths, with the tables and the policy that a teacher has written."""
    monkeypatch.setattr(marks, "share", share)

    def mark(files, roster="", **tables):
        for path, lesson in files.items():
            (tmp_path / "class" / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "class" / path).write_text(lesson)
        (tmp_path / "marks").mkdir(exist_ok=True)
        (tmp_path / "list.csv").write_text(roster, encoding="utf-8")
        for name, text in tables.items():
            ending = "json" if name == "policy" else "csv"
            (tmp_path / "marks" / f"{name}.{ending}").write_text(text)
        return marks.mark(tmp_path / "class", tmp_path / "marks", roster=tmp_path / "list.csv" if roster else None)

    return mark


def names(known):
    return {student: one["name"] for student, one in known.students.items()}


# Class lists

CANVAS = {f"lovelaceada_12_901_{LESSON}": "6", f"hoppergrace_LATE_7_902_{LESSON}": "6"}
MOODLE = {f"Ada King_12_assignsubmission_file/{LESSON}": "6", f"Grace Hopper_7_assignsubmission_file/{LESSON}": "6"}


@pytest.mark.parametrize("head", ["Student,ID", "LastName,FirstName,ID"])
def test_a_gradebook_of_canvas_is_a_class_list(mark, head):
    comma = "," if head.startswith("Last") else ", "
    quote = "" if head.startswith("Last") else '"'
    lines = [f"{quote}{one.replace(', ', comma)}{quote}" for one in ("Lovelace, Ada", "Hopper, Grace", "Noether, Emmy")]
    rest = "SIS Login ID,Section,Lesson 6 (4411)"
    empty = "," * head.count(",")
    gradebook = f"{head},{rest}\n    Points Possible{empty},,,12\n"
    for line, number, points in zip(lines, (12, 7, 5), (7, 12, 12), strict=True):
        gradebook += f"{line},{number},x{number}@uni.edu,A,{points}\n"
    gradebook += f"{quote}Student{comma}Test{quote},99,,A,\n"
    known = mark(CANVAS, gradebook)
    assert names(known) == {"12": "Lovelace, Ada", "7": "Hopper, Grace", "5": "Noether, Emmy"}
    assert known.unread == []
    assert [row["late"] for row in known.rows] == [False, True]


def test_the_report_names_students_in_the_order_of_their_names(mark):
    known = mark(CANVAS, 'Student,ID\n"Lovelace, Ada",12\n"Hopper, Grace",7\n"Bell, Jo",9\n')
    assert list(report.Report(known).students) == ["9", "7", "12"]
    assert 'data-name="Hopper, Grace"' in report.Report(known).results()


def test_a_list_of_moodles_participants_is_a_class_list(mark):
    listed = "First name,Last name,Email address\nAda,King,a@x.org\nGrace,Hopper,g@x.org\nEmmy,Noether,e@x.org\n"
    known = mark(MOODLE, listed)
    assert names(known) == {"12": "Ada King", "7": "Grace Hopper", "Emmy Noether": "Emmy Noether"}
    assert {row["student"] for row in known.rows} == {"7", "12"}
    with pytest.raises(ValueError, match=r"list\.csv: Ada King is on it twice"):
        mark(MOODLE, listed + "Ada,King,k@x.org\n")


SHEET = """Identifier,Full name,Status,Grade,Last modified (submission)
Participant 12,Ada King,Submitted,,"Wednesday, 2 December 2026, 12:05 AM"
Participant 7,Grace Hopper,Submitted,,"Tuesday, 1 December 2026, 11:58 PM"
Participant 5,Emmy Noether,No submission,,-
"""


@pytest.mark.parametrize("sheet", [SHEET, re.sub(r"(\d) (December)", r"\2 \1,", SHEET)])
def test_moodles_grading_sheet_is_a_class_list_that_says_when_work_came(mark, sheet):
    known = mark(MOODLE, sheet, policy='{"deadline": "2026-12-01 23:59"}')
    assert names(known) == {"12": "Ada King", "7": "Grace Hopper", "5": "Emmy Noether"}
    assert {row["student"]: row["late"] for row in known.rows} == {"12": True, "7": False}
    assert {row["time"] for row in known.rows} == {"2026-12-02 00:05", "2026-12-01 23:58"}
    assert known.remarks == []


def test_a_time_in_another_language_is_no_time_and_said_so(mark):
    german = SHEET.replace("Wednesday, 2 December 2026, 12:05 AM", "Mittwoch, 2. Dezember 2026, 00:05")
    known = mark(MOODLE, german, policy='{"deadline": "2026-12-01 23:59"}')
    assert {row["student"]: row["time"] for row in known.rows} == {"12": "", "7": "2026-12-01 23:58"}
    assert "nothing for 1 of 2 notebooks" in known.remarks[0]


@pytest.mark.parametrize("listed", ["who,what\nx,y\n", "Full name,ID number\nEmmy Noether,5\n"])
def test_a_list_in_which_nobody_is_found_is_refused_with_a_sentence(mark, listed):
    with pytest.raises(ValueError, match=r"list\.csv: no column has the ids .* such as 12, 7"):
        mark(MOODLE, listed)


def test_an_empty_list_is_said_to_be_empty(mark):
    with pytest.raises(ValueError, match=r"list\.csv lists no students"):
        mark(MOODLE, "Full name,ID number\n")


def test_a_class_without_any_work_has_those_on_its_list(mark):
    known = mark({"readme.txt": ""}, "First name,Last name\nEmmy,Noether\n")
    assert names(known) == {"Emmy Noether": "Emmy Noether"}


# Deadlines

HANDED_IN = {
    f"ada/{LESSON}": "6",
    "ada/timestamp.txt": "2026-12-03 10:00:00 UTC",
    f"bob/{LESSON}": "6",
    "bob/timestamp.txt": "2026-12-03 10:00:00 UTC",
    "bob/07_full_model/07_full_model.ipynb": "7",
    "bob/07_full_model/timestamp.txt": "2026-12-03 10:00:00 UTC",
}
RULES = '{"deadline": "2026-12-01 23:59", "deadlines": {"07_full_model": "2026-12-08 23:59"}}'


def late(known):
    return {(row["student"], row["lesson"]): row["late"] for row in known.rows}


@pytest.mark.parametrize("lesson", ["07_full_model", "7", "07"])
def test_a_lesson_may_have_a_deadline_of_its_own(mark, lesson):
    known = mark(HANDED_IN, policy=RULES.replace("07_full_model", lesson))
    assert late(known) == {("ada", "6"): True, ("bob", "6"): True, ("bob", "7"): False}


@pytest.mark.parametrize(
    ("lesson", "until", "on_time"),
    [
        ("", "2026-12-04", {("ada", "6"), ("bob", "7")}),
        ("6", "2026-12-03 10:00:00", {("ada", "6"), ("bob", "7")}),
        ("06_masking", "2026-12-03", {("ada", "6"), ("bob", "7")}),
        ("6", "2026-12-03 09:59", {("bob", "7")}),
        ("7", "2026-12-24", {("bob", "7")}),
    ],
)
def test_an_extension_holds_for_one_student_and_one_lesson_or_all(mark, lesson, until, on_time):
    known = mark(HANDED_IN, policy=RULES, extensions=f"student,lesson,deadline\nada,{lesson},{until}\n")
    assert {one for one, is_late in late(known).items() if not is_late} == on_time
    assert known.remarks == []


def test_of_two_extensions_that_for_the_lesson_counts_and_the_page_says_which(mark):
    table = "student,lesson,deadline\nbob,,2026-12-24\nbob,6,2026-12-02\n"
    known = mark(HANDED_IN, extensions=table)
    assert late(known) == {("ada", "6"): False, ("bob", "6"): True, ("bob", "7"): False}
    feedback.write_feedback(known)
    page = (known.out / "feedback" / "bob" / "lesson_6.html").read_text()
    assert "Handed in 3 December 2026, 10:00, after 2 December 2026: counts in full." in page


def test_an_extension_that_fits_nobody_is_said_so(mark):
    table = "student,lesson,deadline\nzoe,6,2026-12-24\nada,60,2026-12-24\nada,6,soon\n"
    known = mark(HANDED_IN, extensions=table)
    assert known.remarks == [
        "extensions.csv: there is no student 'zoe'.",
        "extensions.csv: '60' for ada is no lesson.",
        "extensions.csv: 'soon' for ada is not a date and a time, as in 2026-12-01 23:59.",
    ]


def test_an_extension_without_a_known_time_is_said_to_decide_nothing(mark):
    known = mark({f"ada/{LESSON}": "6", f"bob/{LESSON}": "6"}, extensions="student,lesson,deadline\nada,,2026-12-24\n")
    assert "nothing" in known.remarks[0]
    assert "1 of 2" not in known.remarks[0]


@pytest.mark.parametrize("value", [3, ["2026-12-01"], {"masks": "2026-12-01"}, {"6": "soon"}, {"6": 3}])
def test_deadlines_of_the_wrong_shape_are_refused_with_a_sentence(tmp_path, value):
    (tmp_path / "policy.json").write_text(json.dumps({"deadlines": value}))
    with pytest.raises(ValueError, match=r'policy\.json: "deadlines" should be .*\.$'):
        policy.read_policy(tmp_path)


# What a teacher gives


def test_an_override_above_the_maximum_does_not_count(mark):
    known = mark({f"ada/{LESSON}": "6"}, overrides="student,item,points,reason\nada,6.1,9,bonus\n")
    (row,) = known.rows
    assert (row["points"], row["flags"]) == (0.5, [])
    assert "reason" not in row
    assert known.remarks == ["overrides.csv: 9 points for 6.1 by ada are more than the maximum, 0.5: not counted."]


@pytest.mark.parametrize(("share", "points"), [(0, 0), (0.5, 1), (1, 2)])
def test_what_is_right_but_for_another_exercise_counts_what_the_policy_says(share, points):
    row = {"item": "self_attention", "exercise": "self_attention", "kind": "exercise", "status": "failed", "flags": []}
    row |= {"mistake": "right, but for another exercise"}
    scored = marks.scored(dict(row), policy.POLICY | {"exercise": [2, 2, 2], "right_but_for": share})
    assert (scored["status"], scored["points"]) == ("failed", points)


def test_a_new_folder_has_an_empty_table_of_extensions(mark):
    known = mark({f"ada/{LESSON}": "6"})
    review.write_texts(known)
    assert sheets.text_of(known.out / "extensions.csv").strip() == '"student","lesson","deadline"'
