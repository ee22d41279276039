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
        ('Identifier,"Quiz ""A""",Grade\n12,,\n', 'Quiz "A"'),
        ('Identifier,"""A"" or ""B""",Grade\n12,,\n', '"A" or "B"'),
    ],
)
def test_a_filled_sheet_differs_in_the_filled_cells_alone(tmp_path, sheet, column):
    path = tmp_path / "sheet.csv"
    path.write_bytes(sheet.encode())
    sheets.written(
        tmp_path / "marks.csv", tables.LONG, [["12", "Ann", 6, "causal_mask", "exercise", "passed", 4.5, 9, "", "", ""]]
    )
    done, missing = tables.fill(path, tmp_path / "marks.csv", column)
    assert (done, missing) == (1, {tables.NOT_HANDED_IN: ["X"]} if "99" in sheet else {})
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
    assert tables.fill(tmp_path / "sheet.csv", tmp_path / "marks.csv") == (1, {})
    assert (tmp_path / "sheet.csv").read_text() == "id,Grade\nann,0.5\n"


def test_a_table_shows_no_formula_and_no_hidden_character():
    assert naming.cell("=1+1") == "'=1+1"
    assert naming.cell("a‮b\0c") == "abc"
    assert len(naming.cell("x" * 10_000)) == 200
    assert report.safe("<b>&") == "&lt;b&gt;&amp;"


MOODLE = "Identifier,Full name,Grade,Maximum Grade\nParticipant 12,Ann,3,100.00\nParticipant 13,Bo,-,100.00\n"
CANVAS = "Student,ID,Lesson 6 (77)\n    Points Possible,,20\nAnn,12,3\nBo,13,\n"


def marked(folder):
    """A class whose lessons 6 and 7 have 10 and 30 points; Bo has not handed in lesson 7."""
    rows = [
        ["12", "Ann", lesson, item, "exercise", "passed", points, most, "", "", ""]
        for lesson, item, points, most in ((6, "causal_mask", 5, 5), (6, "6.11", None, 5), (7, "EncoderLayer", 15, 30))
    ]
    rows += [
        ["13", "Bo", 6, item, "exercise", "passed", points, 5, "", "", ""]
        for item, points in (("causal_mask", 2), ("6.11", 4))
    ]
    sheets.written(folder / "marks.csv", tables.LONG, rows)
    return folder / "marks.csv"


def test_whoever_is_left_out_of_a_sheet_is_named_with_the_reason(tmp_path, capsys):
    rows = [[one, one, 6, "causal_mask", "exercise", "passed", 2, 5, "", "", ""] for one in ("ann", "cy", "out")]
    rows += [["cy", "cy", 7, "", "", tables.NOT_READ, None, None, "", "it breaks off", ""]]
    rows += [["dee", "dee", 7, "", "", tables.NOT_READ, None, None, "", "it breaks off", ""]]
    sheets.written(tmp_path / "marks.csv", tables.LONG, rows)
    sheet = tmp_path / "sheet.csv"
    everyone = "id,Grade\nann,\nbo,\ncy,\ndee,\n"
    for options, filled, said in (
        (["--lesson", "7"], "", ["not handed in (2): ann, bo", "not read (2): cy, dee", "not in the sheet (1): out"]),
        ([], "2", ["not handed in (1): bo", "not read (1): dee", "Filled in without what was not read: cy (lesson 7)"]),
    ):
        sheet.write_text(everyone)
        assert commands.fill([str(sheet), "--out", str(tmp_path), *options]) == 0
        assert sheet.read_text() == f"id,Grade\nann,{filled}\nbo,\ncy,{filled}\ndee,\n"
        found = capsys.readouterr().out
        assert all(one in found for one in said)


def test_whoever_is_left_out_has_the_name_that_the_sheet_gives(tmp_path):
    rows = [["13", "", 6, "", "", tables.NOT_READ, None, None, "", "it breaks off", ""]]
    rows += [["14", "", 6, "causal_mask", "exercise", "passed", 2, 5, "", "", ""]]
    sheets.written(tmp_path / "marks.csv", tables.LONG, rows)
    for sheet in (MOODLE, CANVAS):
        (tmp_path / "sheet.csv").write_text(sheet)
        _, left = tables.fill(tmp_path / "sheet.csv", tmp_path / "marks.csv")
        assert left == {tables.NOT_HANDED_IN: ["Ann"], tables.NOT_READ: ["Bo"], tables.NOT_THERE: ["14"]}


@pytest.mark.parametrize(
    ("sheet", "lesson", "scale", "ann", "bo"),
    [
        (MOODLE, None, None, "20", "6"),
        (MOODLE, None, "sheet", "50", "15"),
        (MOODLE, "6", "sheet", "50", "60"),
        (MOODLE, "6", "6", "3", "3.6"),
        (CANVAS, "6", "sheet", "10", "12"),
        (CANVAS, "6", "100", "50", "60"),
        (CANVAS, None, "30", "15", "4.5"),
    ],
)
def test_points_are_scaled_to_what_full_points_should_be(tmp_path, capsys, sheet, lesson, scale, ann, bo):
    marked(tmp_path)
    path = tmp_path / "sheet.csv"
    path.write_text(sheet)
    options = ["--lesson", lesson] * bool(lesson) + ["--scale", scale] * bool(scale)
    assert commands.fill([str(path), "--out", str(tmp_path), *options]) == 0
    _, first, *rest = (line.split(",") for line in path.read_text().splitlines())
    lines = [line for line in [first, *rest] if line[0].strip() != "Points Possible"]
    assert [line[2] for line in lines] == [ann, bo]
    assert (tmp_path / "sheet.before.csv").read_text() == sheet
    said = capsys.readouterr().out
    assert "1 text waits for a reader and counts as 0 so far." in said
    assert ("full points are" in said) == (scale is None)
    assert ("held other points before" in said) == (ann != "3")


def test_each_run_keeps_the_sheet_as_it_was(tmp_path):
    marked(tmp_path)
    (tmp_path / "sheet.csv").write_text(MOODLE)
    for _ in range(3):
        commands.fill([str(tmp_path / "sheet.csv"), "--out", str(tmp_path)])
    copies = sorted(path.name for path in tmp_path.glob("sheet.before*.csv"))
    assert copies == ["sheet.before.csv", "sheet.before2.csv", "sheet.before3.csv"]
    assert (tmp_path / "sheet.before.csv").read_text() == MOODLE


def test_where_the_sheet_gives_no_maximum_the_teacher_has_to(tmp_path, capsys):
    marked(tmp_path)
    (tmp_path / "sheet.csv").write_text("id,Grade\n12,\n")
    assert commands.fill([str(tmp_path / "sheet.csv"), "--out", str(tmp_path), "--scale", "sheet"]) == 1
    assert "gives no maximum for 12: say --scale 100" in capsys.readouterr().err
    assert (tmp_path / "sheet.csv").read_text() == "id,Grade\n12,\n"
    with pytest.raises(SystemExit):
        commands.fill([str(tmp_path / "sheet.csv"), "--scale", "0"])


@pytest.mark.parametrize("number", ["100", "3", "20"])
def test_a_participants_number_may_equal_points_that_the_sheet_shows(tmp_path, number):
    about = [6, "causal_mask", "exercise", "passed"]
    rows = [[one, "", *about, points, 5, "", "", ""] for one, points in ((number, 2), ("13", 4))]
    sheets.written(tmp_path / "marks.csv", tables.LONG, rows)
    head = "Identifier,Full name,Quiz (5),Grade,Maximum Grade\n"
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(f"{head}Participant {number},Ann,20,3,100\nParticipant 13,Bo,20,3,100\n")
    assert tables.fill(sheet, tmp_path / "marks.csv", "Grade") == (2, {})
    assert sheet.read_text() == f"{head}Participant {number},Ann,20,2,100\nParticipant 13,Bo,20,4,100\n"
