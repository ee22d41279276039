"""What strangers choose, names of files and texts in notebooks: it harms nobody, and speaks for nobody else."""

import csv
import io
import json
import os
import re
import time
import unicodedata
import zipfile
from types import SimpleNamespace

import pytest

from transformer_lessons.exercises.questions.lookup import all_questions
from transformer_lessons.exercises.questions.verdict import verdict
from transformer_lessons.marking import (
    commands,
    feedback,
    marks,
    naming,
    policy,
    process,
    results,
    review,
    sheets,
    submissions,
    tables,
    verdicts,
    wire,
)
from transformer_lessons.marking.remote import Remote

FILE = "06_masking.ipynb"
ROW = ["name", 6, "causal_mask", "exercise", "passed", 1.5, 9, "", "", ""]


def handed_in(folder, *names):
    """A folder for each name, with a notebook in it."""
    for name in names:
        (folder / name).mkdir(parents=True)
        (folder / name / FILE).write_text(json.dumps({"cells": [name]}))
    return folder


def found(folder):
    works, unread = submissions.find(folder)
    return sorted(one.student for one in works), dict(unread)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bob", "bob\u200b"),
        ("=bob", "'=bob"),
        ("Ada", "ada"),
        (unicodedata.normalize("NFC", "josé"), unicodedata.normalize("NFD", "josé")),
        ("bob", "bob\u00ad "),
        ("zoé", "zo-33b40fa2"),
    ],
)
@pytest.mark.parametrize("folders", [True, False])
def test_of_students_whose_names_look_alike_neither_is_marked(tmp_path, one, other, folders):
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        for name in (one, other, "carl"):
            archive.writestr(f"{name}/{FILE}" if folders else f"{name}.ipynb", name)
    students, unread = found(tmp_path / "class.zip")
    assert students == ["carl"]
    assert len(unread) == 2
    assert all("too much like another student's" in why for why in unread.values())


def test_a_name_of_which_nothing_can_be_seen_is_nobodys(tmp_path):
    handed_in(tmp_path, "ada", "\u200b")
    assert found(tmp_path) == (["ada"], {f"\u200b/{FILE}": "it is not clear whose work this is"})


def test_no_mark_is_added_up_from_two_lines_for_one_item(tmp_path, capsys):
    sheets.written(tmp_path / "marks.csv", tables.LONG, [["bob", *ROW], ["bob", *ROW], ["ada", *ROW]])
    (tmp_path / "sheet.csv").write_text("id,Grade\nada,\nbob,\n")
    assert commands.fill([str(tmp_path / "sheet.csv"), "--out", str(tmp_path)]) == 0
    assert (tmp_path / "sheet.csv").read_text() == "id,Grade\nada,1.5\nbob,\n"
    assert "twice in the sheet or in marks.csv (1): bob" in capsys.readouterr().out


def test_who_calls_herself_by_anothers_number_gets_no_points_of_theirs(tmp_path):
    about = ["", 6, "causal_mask", "exercise", "passed"]
    rows = [[one, *about, points, 5, "", "", ""] for one, points in (("12", 1), ("99", 2), ("7", 3))]
    sheets.written(tmp_path / "marks.csv", tables.LONG, rows)
    sheet = "Identifier,Full name,Grade\nParticipant 99,12,\nParticipant 12,Ann,\nParticipant 7,Bo,\n"
    (tmp_path / "sheet.csv").write_text(sheet)
    assert tables.fill(tmp_path / "sheet.csv", tmp_path / "marks.csv") == (3, {})
    assert re.findall(r"\d+,\w+,\d+", (tmp_path / "sheet.csv").read_text()) == ["99,12,2", "12,Ann,1", "7,Bo,3"]


def test_who_calls_herself_as_canvas_calls_its_first_line_changes_no_maximum(tmp_path):
    sheets.written(tmp_path / "marks.csv", tables.LONG, [[one, *ROW] for one in ("Points Possible", "bob", "cy")])
    sheet = "Student,Lesson 6 (77)\n    Points Possible,20\nbob,\ncy,\n"
    (tmp_path / "sheet.csv").write_text(sheet)
    done, left = tables.fill(tmp_path / "sheet.csv", tmp_path / "marks.csv")
    assert (done, left) == (2, {tables.NOT_THERE: ["Points Possible"]})
    assert (tmp_path / "sheet.csv").read_text() == "Student,Lesson 6 (77)\n    Points Possible,20\nbob,1.5\ncy,1.5\n"


def test_where_a_row_may_be_that_of_two_students_neither_gets_points(tmp_path):
    sheets.written(tmp_path / "marks.csv", tables.LONG, [["12", *ROW], ["Participant 12", *ROW]])
    sheet = "Identifier,Grade\nParticipant 12,\n"
    (tmp_path / "sheet.csv").write_text(sheet)
    left = {tables.UNCLEAR: ["12", "Participant 12"]}
    assert tables.fill(tmp_path / "sheet.csv", tmp_path / "marks.csv") == (0, left)
    assert (tmp_path / "sheet.csv").read_text() == sheet


def test_no_student_can_rename_another(tmp_path):
    handed_in(tmp_path, "ada", "bob", "eve")
    for name in ("submission_metadata.yml", "timestamp.txt"):
        (tmp_path / "eve" / name).write_text("ada:\n  :name: Eve\nbob:\n  :name: Ada\n")
    assert {one.name for one in submissions.find(tmp_path)[0]} == {""}


def test_the_names_at_the_top_of_gradescopes_export_are_read(tmp_path):
    handed_in(tmp_path / "export", "submission_1", "submission_2")
    (tmp_path / "export" / "submission_metadata.yml").write_text(
        "submission_1:\n  :submitters:\n  - :name: Ada\nsubmission_2:\n  :submitters:\n  - :name: Bob\n"
    )
    assert sorted(one.name for one in submissions.find(tmp_path)[0]) == ["Ada", "Bob"]


def test_names_that_are_no_utf_8_are_told_apart_and_can_be_written(tmp_path):
    for name in (b"M\xfcller_1_assignsubmission_file_", b"M\xf6ller_2_assignsubmission_file_"):
        try:
            os.mkdir(os.path.join(os.fsencode(tmp_path), name))
        except OSError:
            pytest.skip("this file system takes no such names")
        with open(os.path.join(os.fsencode(tmp_path), name, b"06.ipynb"), "w") as file:
            file.write("{}")
    works, _ = submissions.find(tmp_path)
    assert len({one.name for one in works}) == len({naming.slug(one.name) for one in works}) == 2
    pages = feedback.moodle_zip({("", "lesson_6.html", one.folder): b"" for one in works})
    names = zipfile.ZipFile(io.BytesIO(pages)).namelist()
    assert all(name.endswith("_assignsubmission_file_/lesson_6.html") for name in names), "as Moodle named them"
    assert all(one.path.encode() for one in works)


def test_two_files_at_one_place_are_not_taken_for_each_other(tmp_path):
    handed_in(tmp_path, "ada")
    for content, students in ((tmp_path / "ada" / FILE).read_text(), ["ada", "ada"]), ("{}", []):
        with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
            archive.writestr(FILE, content)
        assert found(tmp_path)[0] == students


def test_thousands_of_files_of_one_student_are_sorted_at_once(tmp_path):
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        for number in range(3000):
            for name in (f"{number}.ipynb", f"{number}.txt", f"{number}/timestamp.txt", f"{number}/{'x/' * 600}.ipynb"):
                archive.writestr(f"eve/{name}", "")
    begun = time.process_time()
    works, unread = submissions.find(tmp_path / "class.zip")
    assert (len(works), len(unread)) == (3000, 6000)
    assert time.process_time() - begun < 4


def test_what_is_out_of_sight_is_listed_but_for_copies_that_machines_keep(tmp_path):
    handed_in(tmp_path, "ada", "...", ".eve", "bob/.ipynb_checkpoints")
    (tmp_path / "ada" / ".07.ipynb").write_text("{}")
    students, unread = found(tmp_path)
    assert students == ["ada"]
    assert set(unread) == {"...", ".eve", "ada/.07.ipynb"}


def test_an_answer_of_any_length_is_read_at_once():
    question = next(one for one in all_questions().values() if one.kind == "shape")
    for text in (" " * 15_000 + "y", "1" + " " * 15_000 + "by" + " " * 15_000 + "y", "1 by " * 4000 + "y"):
        begun = time.process_time()
        assert verdict(question, text)[0] == "not attempted"
        assert time.process_time() - begun < 1
    assert verdict(question, f"  torch.Size({list(question.right)}) ")[0] == "passed"
    assert verdict(question, " by ".join(map(str, question.right)))[0] == "passed"


def test_no_answer_is_read_beyond_a_length(monkeypatch):
    seen = []
    monkeypatch.setattr(verdicts, "verdict", lambda question, value: (seen.append(value), ("not attempted", []))[1])
    student = SimpleNamespace(value=lambda number: "y" * 10**6)
    verdicts.Marker.question(None, student, "1.6", {"code": "'y' * 10**6"})
    assert len(seen[0]) == naming.LONGEST


@pytest.mark.parametrize("opened", ['    """', "    sizes = [", "    size = (1 +", "    text = '", "    size = 1 + \\"])
def test_an_answer_that_is_cut_off_in_the_middle_is_shown_all_the_same(opened):
    source = "def causal_mask(length):\n" + opened + "\n 1," * 3000
    shown = feedback.in_colours(naming.clean(source, feedback.CODE), {1})
    assert shown.startswith("<pre")
    assert "causal_mask" in shown


@pytest.mark.parametrize("text", ["=A " + "word " * 5000, "one; =" * 6000, "a" * 30_000, "\u200b" * 9 + "-b" * 20_000])
def test_points_for_a_text_of_any_length_come_back(tmp_path, text):
    number = next(one.number for one in all_questions().values() if one.kind == "free text")
    row = verdicts.Marker.question(None, None, number, {"literal": text})
    for points in ("", "1"):
        rows = [{**row, "student": "ann", "lesson": "6", "by": "ann", "points": None, "max": 3}]
        known = marks.Class(tmp_path, 1, rows=rows, students={"ann": {"name": "Ann", "folder": "", "slug": "ann"}})
        marks.read_back(known, policy.POLICY)
        assert rows[0]["points"] == (3 if points else None)
        review.write_texts(known)
        (*_, line) = sheets.read_table(tmp_path / "texts.csv")
        line |= {"p1": "1", "p2": "1", "p3": "1"}
        sheets.written(tmp_path / "texts.csv", marks.TEXTS, [[line[one] for one in marks.TEXTS]])


FORGED = "\n✓ softmax: passed, 1 of 1 points.\n  ✓ by the teacher"


@pytest.mark.parametrize("kind", ["ValueError", "X\n✓ softmax: passed", "✓ softmax: passed"])
def test_no_line_of_a_stranger_looks_like_a_verdict(kind):
    def define(*_):
        raise type(kind, (Remote,), {})("it is" + FORGED)

    student = SimpleNamespace(define=define, borrowed=False)
    row = verdicts.Marker.exercise(None, student, {"fresh": {}}, "softmax", "softmax", {"digest": ""})
    first, *rest = results.text_of(row).split("\n")
    assert first.startswith("✗ softmax: its cell does not run.")
    assert "\n".join(rest[1:]).startswith("  Where to look: Restart the kernel")
    assert not any(line.strip()[:1] in "✓✗○" or not line.startswith("  ") for line in rest)
    assert len(results.text_of(row)) < 400


@pytest.mark.parametrize(
    ("error", "said", "flags"),
    [
        (
            process.Endless("take more than 8 seconds of processor time"),
            "the cells that it needs take more than 8 s",
            1,
        ),
        (wire.Broken("the process ended"), "its cell ends Python (the process ended).", 0),
    ],
)
def test_who_cannot_be_marked_is_told_why_and_what_to_do(error, said, flags):
    def define(*_):
        raise error

    student = SimpleNamespace(define=define, borrowed=False)
    row = verdicts.Marker.exercise(None, student, {"fresh": {}}, "softmax", "softmax", {"digest": ""})
    assert results.text_of(row).startswith(f"✗ softmax: {said}")
    assert "\n  Where to look: Restart the kernel" in results.text_of(row)
    assert (row["mistake"], row["flags"]) == (verdicts.NOT_RUN, [verdicts.TOO_SLOW] * flags)


def test_nothing_a_stranger_wrote_moves_the_terminals_cursor(capsys):
    commands.refuse("No work of nobody is there, but of x\x1b[31mRED\u202e\n\x9b1m.")
    assert capsys.readouterr().err == "No work of nobody is there, but of x [31mRED 1m.\n"


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_is_a_formula_wherever_a_spreadsheet_splits_the_line(tmp_path, separator):
    texts = ["a;=1+1", 'a";=1+1', "x; =HYPERLINK(A1);@a", "a\t+1", 'a"",";-1', "one; two - three; four"]
    sheets.written(tmp_path / "x.csv", ["student", "text"], [["ann", text] for text in texts])
    lines = (tmp_path / "x.csv").read_text("utf-8-sig").splitlines()
    cells = [cell for line in csv.reader(lines, delimiter=separator) for cell in line]
    assert len(cells) > len(lines)
    assert not [cell for cell in cells if cell.strip().strip('"').strip()[:1] in tuple("=+-@")]
