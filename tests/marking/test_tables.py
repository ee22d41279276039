"""Marks in the sheets of a learning system: the right cells are filled, and no other byte is changed."""

import re

import pytest

from transformer_lessons.marking import commands, naming, report, sheets, tables


@pytest.mark.parametrize(
    ("sheet", "column"),
    [
        (
            '\ufeffIdentifier,"Full name",Grade,"Last modified (grade)"\r\n'
            'Participant 12,"Ann, B",,-\r\nParticipant 99,X,7,-\r\n',
            None,
        ),
        (
            'Student,ID,SIS User ID,Section,Quiz (1),Lesson 6 (77)\nPoints Possible,,,,1,20\n"B, Ann",12,x,1,3,\n',
            "Lesson 6",
        ),
        ('Kennung;Bewertung;Notiz\nTeilnehmer/in12;;"a;""b""\nc"\n', None),
    ],
)
def test_a_filled_sheet_differs_in_the_filled_cells_alone(tmp_path, sheet, column):
    path = tmp_path / "sheet.csv"
    path.write_bytes(sheet.encode())
    sheets.written(
        tmp_path / "marks.csv", tables.LONG, [["12", "Ann", 6, "causal_mask", "exercise", "passed", 4.5, 9, "", "", ""]]
    )
    done, missing = tables.fill(path, tmp_path / "marks.csv", column)
    assert (done, missing) == (1, [])
    assert path.read_bytes().replace(b"4.5", b"", 1) == sheet.encode()
    assert b"4.5" in path.read_bytes()


@pytest.mark.parametrize(
    ("sheet", "points", "said"),
    [
        ("id,Grade\nann,\n", None, "There is no .*marks.csv: mark the class first"),
        (None, "1", "There is no file .*sheet.csv"),
        ("", "1", "sheet.csv is empty"),
        ("\ufeff\r\n", "1", "sheet.csv is empty"),
        ("id,Grade\nann,\n", "many", "marks.csv: 'many' for causal_mask by ann is not a number of points"),
    ],
)
def test_a_sheet_that_cannot_be_filled_is_refused_with_a_sentence(tmp_path, capsys, sheet, points, said):
    if sheet is not None:
        (tmp_path / "sheet.csv").write_text(sheet)
    if points is not None:
        (tmp_path / "marks.csv").write_text(f"student,lesson,kind,item,points\nann,6,exercise,causal_mask,{points}\n")
    assert commands.fill([str(tmp_path / "sheet.csv"), "--out", str(tmp_path)]) == 1
    assert re.fullmatch(f".*{said}.*\n", capsys.readouterr().err)
    assert sheet is None or (tmp_path / "sheet.csv").read_text() == sheet.replace("\r\n", "\n")


def test_points_may_have_a_comma_in_a_table_that_a_spreadsheet_has_saved(tmp_path):
    (tmp_path / "marks.csv").write_text("student;lesson;kind;item;points\nann;6;question;6.1;0,5\nann;6;text;6.9;\n")
    (tmp_path / "sheet.csv").write_text("id,Grade\nann,\n")
    assert tables.fill(tmp_path / "sheet.csv", tmp_path / "marks.csv") == (1, [])
    assert (tmp_path / "sheet.csv").read_text() == "id,Grade\nann,0.5\n"


def test_a_table_shows_no_formula_and_no_hidden_character():
    assert naming.cell("=1+1") == "'=1+1"
    assert naming.cell("a‮b\0c") == "abc"
    assert len(naming.cell("x" * 10_000)) == 200
    assert report.safe("<b>&") == "&lt;b&gt;&amp;"
