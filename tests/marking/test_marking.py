"""The teacher's kit: marks that cannot be forged, notebooks that may be damaged, files that survive everything."""

import base64
import contextlib
import csv
import hashlib
import io
import json
import os
import random
import re
import shutil
import socket
import zipfile

import hostile
import pytest
import torch

from transformer_lessons.exercises.checker.draws import Draws
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.verdict import judge
from transformer_lessons.marking import (
    commands,
    confinement,
    marks,
    naming,
    policy,
    process,
    results,
    sample,
    sheets,
    submissions,
    verdicts,
)
from transformer_lessons.marking.notebook import Notebook, Unreadable
from transformer_lessons.tools import reset

LEVEL_1 = pytest.mark.skipif(confinement.protections() != confinement.ALL, reason="this kernel confines nothing")
pytestmark = pytest.mark.skipif(
    os.name != "posix" or (os.geteuid() == 0 and confinement.protections() != confinement.ALL),
    reason="marking refuses to run here",
)


def bytes_of(book):
    return json.dumps(book).encode()


def statuses(result):
    return {row["item"]: row["status"] for row in result["rows"]}


def test_an_untouched_lesson_is_untouched(marker):
    result = marker.notebook(reset.original("06_masking.ipynb"), None)
    assert set(statuses(result).values()) == {"untouched"}


def test_honest_answers_pass(marker):
    result = statuses(marker.notebook(bytes_of(hostile.honest()), None))
    assert (result["causal_mask"], result["padding_mask"], result["masked_softmax"]) == ("passed", "passed", "missing")


SOME = [
    "prints a verdict",
    "calls the course's own",
    "asks for the reference",
    "forges a reply",
    "leaves at once with 0",
    "a segmentation fault",
    "never ends",
    "a tensor that lies",
    "replies with every mask",
]


@pytest.mark.parametrize("name", SOME)
def test_an_attack_raises_no_mark_and_harms_no_other(marker, name, tmp_path):
    row = marker.notebook(bytes_of(hostile.hostile(name, str(tmp_path / "canary"), 9)), None)
    rows = {one["item"]: marks.scored({**one, "mistake": ""}, policy.POLICY) for one in row["rows"]}
    assert rows["causal_mask"]["points"] == 0
    assert rows["padding_mask"]["status"] == "passed"


def test_who_ends_python_is_not_sent_to_a_traceback(marker, tmp_path):
    found = marker.notebook(bytes_of(hostile.hostile("leaves at once with 0", str(tmp_path / "canary"), 9)), None)
    message = next(results.text_of(row) for row in found["rows"] if row["item"] == "causal_mask")
    assert message.startswith("✗ causal_mask: a call of it ends Python (the process ended).\n  Where to look: ")
    assert "traceback" not in message
    assert "Ended" not in message


def test_an_answer_that_reads_nothing_takes_nothing_from_the_next(marker, monkeypatch, tmp_path):
    monkeypatch.setattr(process, "ASLEEP", 1.0)
    attack = hostile.hostile("replies to everything and reads nothing", str(tmp_path / "canary"), 9)
    found = statuses(marker.notebook(bytes_of(attack), None))
    assert (found["causal_mask"], found["padding_mask"]) == ("failed", "passed")


WITHIN = [
    *("looks for the exercise in the frames", "looks for the draws among all objects", "asks for the reference"),
    *("imports the catalogue", "calls the course's own", "is the course's own", "wraps the course's own"),
    *("runs the course's source", "reads the course's file"),
]


def test_the_attacks_know_the_sizes_that_are_asked_for():
    assert tuple(size["length"] for size in EXERCISES["causal_mask"].setup.sizes) == hostile.SIZES


@pytest.mark.parametrize("name", WITHIN)
def test_without_a_process_of_its_own_an_attack_would_pass(name):
    space = {"torch": torch}
    exec(hostile.source_of(name), space)
    assert judge(EXERCISES["causal_mask"], space["causal_mask"], Draws(EXERCISES["causal_mask"])).status == "passed"


@LEVEL_1
@pytest.mark.parametrize(
    "name", ["reads the teacher's file", "TCP", "UDP", "a daemon", "starts a program", "deletes and renames"]
)
def test_a_confined_process_reaches_nothing(marker, name, tmp_path):
    canary = tmp_path / "canary"
    canary.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        result = marker.notebook(bytes_of(hostile.hostile(name, str(canary), listener.getsockname()[1])), None)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert result["held"] == list(confinement.ALL)
    assert statuses(result)["causal_mask"] == "failed"
    assert canary.read_text() == "secret"
    assert list(tmp_path.iterdir()) == [canary]
    assert "secret" not in json.dumps(result)


# Damaged notebooks

SOLVED = hostile.notebook(
    "import torch\n%matplotlib inline\n",
    hostile.HONEST["causal_mask"],
    'check("causal_mask", causal_mask)',
    "def is_real(tokens, pad):\n    return tokens != pad",
    "def padding_mask(tokens, pad_id):\n    return is_real(tokens, pad_id)[:, None, None, :]",
    'answer("6.6", "a")',
)


def changed(change):
    book = json.loads(json.dumps(SOLVED))
    change(book["cells"])
    return bytes_of(book)


def cell(source):
    return hostile.notebook(source)["cells"][0]


def merged(cells):
    cells[:] = [cell("\n".join("".join(one["source"]) for one in cells))]


DAMAGES = {
    "cells without ids": changed(lambda cells: [one.pop("id") for one in cells]),
    "ids that are the same": changed(lambda cells: [one.update(id="x") for one in cells]),
    "no metadata": changed(lambda cells: [one.pop("metadata") for one in cells]),
    "no outputs": changed(lambda cells: [one.pop("outputs") for one in cells]),
    "the check deleted": changed(lambda cells: cells.pop(2)),
    "the first cell deleted": changed(lambda cells: cells.pop(0)),
    "a cell copied": changed(lambda cells: cells.append(dict(cells[1]))),
    "all in one cell": changed(merged),
    "a cell split": changed(lambda cells: cells.insert(1, cell("import torch"))),
    "cells in another order": changed(lambda cells: cells.insert(5, cells.pop(3))),
    "a syntax error elsewhere": changed(lambda cells: cells.insert(1, cell("def broken(:\n    return"))),
    "a syntax error in the same cell": changed(
        lambda cells: cells[4].update(source=cells[4]["source"] + "\n\nfor in x:\n")
    ),
    "an error elsewhere": changed(lambda cells: cells.insert(1, cell("1 / 0"))),
    "a loop elsewhere": changed(lambda cells: cells.insert(1, cell("while True:\n    pass"))),
    "magics": changed(
        lambda cells: cells[1].update(source="%%time\n!ls\n" + cells[1]["source"] + "\n%timeit 1\ntorch.tril?")
    ),
    "another language": changed(lambda cells: cells.insert(1, cell("%%bash\nrm -rf nothing"))),
    "text made code": changed(lambda cells: cells.insert(1, cell("This is a *text*."))),
    "code made text": changed(lambda cells: cells[0].update(cell_type="markdown")),
    "sources as lists": changed(lambda cells: [one.update(source=one["source"].splitlines(True)) for one in cells]),
    "Windows' line ends": changed(
        lambda cells: [one.update(source=one["source"].replace("\n", "\r\n")) for one in cells]
    ),
    "a byte order mark": b"\xef\xbb\xbf" + bytes_of(SOLVED),
    "UTF-16": json.dumps(SOLVED).encode("utf-16"),
    "NUL and half characters": changed(lambda cells: cells.insert(1, cell("x = '\0\ud800'"))),
    "broken off": bytes_of(SOLVED)[:-60],
    "format 3": bytes_of(
        {
            "nbformat": 3,
            "worksheets": [
                {
                    "cells": [
                        {"cell_type": "code", "input": one["source"], "language": "python"} for one in SOLVED["cells"]
                    ]
                }
            ],
        }
    ),
    "a source that is no text": changed(lambda cells: cells.insert(1, cell("") | {"source": True})),
    "much output": changed(lambda cells: cells[0].update(outputs=[{"text": "x" * 10**6}])),
    "an older attempt above": changed(lambda cells: cells.insert(1, cell("def causal_mask(length):\n    return 1"))),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_in_a_damaged_notebook_all_is_found_that_is_left(damage):
    book = Notebook(DAMAGES[damage])
    for name in ("causal_mask", "padding_mask"):
        space = {}
        for one in book.work_on(name, name):
            exec(compile(one.source, "cell", "exec"), space)
        assert callable(space[name])
    assert space["padding_mask"](torch.tensor([[1, 0]]), 0).tolist() == [[[[True, False]]]]
    assert book.lesson(verdicts.course()) == "6"
    assert damage == "broken off" or book.answers["6.6"]["literal"] == "a"


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"cells": 3}', b"PK\3\4", b"[" * 10**5, b"\0" * 100])
def test_what_is_no_notebook_is_said_to_be_none(marker, data):
    with contextlib.suppress(Unreadable):
        assert Notebook(data).statements == []
    assert re.match("it is|no lesson", marker.notebook(data, None)["unread"])


@pytest.mark.parametrize("damage", ["a syntax error in the same cell", "a loop elsewhere", "magics"])
def test_damage_elsewhere_costs_no_exercise_its_mark(marker, damage):
    found = statuses(marker.notebook(DAMAGES[damage], None))
    assert (found["causal_mask"], found["padding_mask"]) == ("passed", "passed")


# Layouts

FILE = "06_masking.ipynb"
LAYOUTS = {
    "a folder each": ["s{n}/" + FILE, "s{n}/notebooks/03_scaling.ipynb"],
    "a folder each, in one more": ["homework/s{n}/" + FILE],
    "side by side, name first": ["s{n}_06_masking.ipynb"],
    "side by side, lesson first": ["06_masking_s{n}.ipynb"],
    "Moodle": ["Ann Ö'Neil_{n}_assignsubmission_file/" + FILE],
    "Moodle, with a dash at the end": ["Ann_{n}_assignsubmission_file_/my work.ipynb"],
    "Moodle, side by side": ["Ann B_{n}_assignsubmission_file_06_masking.ipynb"],
    "Canvas": ["annb_{n}_9876_06_masking.ipynb", "annb_LATE_{n}_9877_03_scaling-1.ipynb"],
    "Blackboard": ["ps1_{n}_attempt_2026-01-30-20-30-10_06_masking.ipynb"],
    "nbgrader": ["submitted/s{n}/ps1/" + FILE, "submitted/s{n}/ps1/timestamp.txt"],
    "Gradescope": ["export/submission_{n}/" + FILE],
    "GitHub Classroom": ["attention-login{n}/notebooks/" + FILE],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("zipped", [True, False])
def test_everybody_is_found_in_every_layout(layout, zipped, tmp_path):
    names = [form.format(n=n) for n in range(100, 130) for form in LAYOUTS[layout]]
    source = tmp_path / "class.zip"
    with zipfile.ZipFile(source, "w") as archive:
        for name in names:
            archive.writestr(name, "2026-01-01 10:00:00" if name.endswith(".txt") else "{}")
    if not zipped:
        zipfile.ZipFile(source).extractall(tmp_path / "class")
        source = tmp_path / "class"
    works, unread = submissions.find(source)
    assert unread == []
    assert sum(not name.endswith(".txt") for name in names) == len(works)
    assert sorted({re.sub(r"\D", "", one.student) for one in works}) == [str(n) for n in range(100, 130)]
    assert len({one.student for one in works}) == 30


def test_hostile_zips_lead_nowhere(tmp_path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("06_masking.ipynb", "{}")
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("eve/../../marks.csv.ipynb", "{}")
        archive.writestr("/etc/eve.ipynb", "{}")
        archive.writestr("eve/bomb.ipynb", b"0" * 30_000_000)
        archive.writestr("eve/in.zip", inner.getvalue())
        archive.writestr("bob/06_masking.ipynb", "{}")
        archive.writestr("bob/notes.pdf", "x")
        link = zipfile.ZipInfo("bob/link.ipynb")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    works, unread = submissions.find(tmp_path / "x.zip")
    assert {one.student for one in works} == {"eve", "bob"}
    assert sorted(why for _, why in unread) == [
        "a link, or encrypted",
        *["its name leads out of the zip"] * 2,
        "not a notebook",
        "too large",
    ]


def test_nobody_is_marked_under_a_name_that_two_claim(tmp_path):
    for name in ("Ann_7_assignsubmission_file", "Eve_7_assignsubmission_file", "Bob_8_assignsubmission_file"):
        (tmp_path / name).mkdir()
        (tmp_path / name / FILE).write_text("{}")
    works, unread = submissions.find(tmp_path)
    assert [one.student for one in works] == ["8"]
    assert len(unread) == 2


def test_a_student_who_hands_in_more_than_a_hundred_notebooks_is_listed_and_not_read(tmp_path):
    for name, number in (("ann", 100), ("eve", 101)):
        (tmp_path / name).mkdir()
        for copy in range(number):
            (tmp_path / name / f"06_masking ({copy}).ipynb").write_text("{}")
    works, unread = submissions.find(tmp_path)
    assert {one.student for one in works} == {"ann"}
    assert {why for _, why in unread} == {"one of 101 notebooks by this student; at most 100 are read"}
    assert len(unread) == 101


# A class


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """Four students, one with a hostile name; marked twice, by one process and by two."""
    folder = tmp_path_factory.mktemp("class")
    sample.write(folder / "class", 3, seed=4)
    for path in (folder / "class").rglob("0[124578]*.ipynb"):
        path.unlink()
    evil = folder / "class" / "=HYPERLINK(1) <script>‮"
    evil.mkdir()
    (evil / FILE).write_bytes(
        bytes_of(
            hostile.notebook(
                'causal_mask = "<script>alert(1)</script>"',
                'answer("6.6", "a")',
                'answer("6.11", "=cmd|x <img src=x onerror=alert(1)> we mask the future")',
            )
        )
    )
    for out, jobs in (("one", "1"), ("two", "2")):
        (folder / out / ".state").mkdir(parents=True)
        (folder / out / ".state" / "seed.json").write_text("99")
        assert commands.mark([str(folder / "class"), "--out", str(folder / out), "--jobs", jobs]) == 0
    return folder


def contents(folder):
    """All files, but for the command that the page for texts names."""
    files = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return {path: re.sub(rb'"goingOn": "[^"]*"', b"", data) for path, data in files.items()}


def test_one_process_and_two_write_the_same_bytes(marked):
    assert contents(marked / "one") == contents(marked / "two")


def test_a_run_that_was_killed_ends_in_the_same_bytes(marked):
    before = contents(marked / "one")
    results = sorted((marked / "one" / ".state").glob("*/*.json"))
    results[0].unlink()
    results[1].with_name(results[1].name + ".0123abcd.part").write_bytes(b"{")
    (marked / "one" / "marks.csv").unlink()
    assert commands.mark([str(marked / "class"), "--out", str(marked / "one")]) == 0
    assert contents(marked / "one") == before


def test_where_nothing_has_changed_nothing_is_marked(marked, monkeypatch):
    monkeypatch.setattr(marks, "share", lambda jobs, waiting, *_: pytest.fail("marked") if waiting else {})
    assert commands.mark([str(marked / "class"), "--out", str(marked / "one")]) == 0


def test_one_student_is_marked_anew_and_nobody_else(marked, tmp_path, monkeypatch):
    out, seen = shutil.copytree(marked / "one", tmp_path / "marks"), []
    student = sorted(path.name for path in (marked / "class").iterdir() if path.name.isalpha())[0]
    share = marks.share
    monkeypatch.setattr(
        marks, "share", lambda jobs, waiting, *more: seen.extend(waiting) or share(jobs, waiting, *more)
    )
    assert commands.mark([str(marked / "class"), "--out", str(out), "--student", student]) == 0
    assert seen
    assert {work.student for work, _ in seen} == {student}
    assert contents(out) == contents(marked / "one")
    assert commands.mark([str(marked / "class"), "--out", str(out), "--student", "nobody"]) == 1


def test_a_class_list_names_everybody_and_spreads_the_work_of_a_group(marked, tmp_path):
    out = shutil.copytree(marked / "one", tmp_path / "marks")
    group, single, *_ = sorted(path.name for path in (marked / "class").iterdir() if path.name.isalpha())
    (tmp_path / "class.csv").write_text(
        f"student,name,group\nx1,Xenia,{group}\nx2,Ximena,{group}\n{single},Sole,\nnone,Nobody,\n"
    )
    assert commands.mark([str(marked / "class"), "--out", str(out), "--roster", str(tmp_path / "class.csv")]) == 0
    wide = {row["student"]: row for row in sheets.read_table(out / "marks_wide.csv")}
    assert {one: row["name"] for one, row in wide.items()} == {
        "x1": "Xenia",
        "x2": "Ximena",
        single: "Sole",
        "none": "Nobody",
    }
    assert wide["x1"]["total"] == wide["x2"]["total"]
    assert wide["none"]["total"] == "0"
    assert "not on the class list" in (out / "unread.txt").read_text()


SCRIPTS = {"grading.html": 2, "report.html": 1, "report-anonymous.html": 1}  # their own, which their policies name


def test_no_formula_and_no_script_survives(marked):
    for path, data in contents(marked / "one").items():
        text = data.decode()
        if path.suffix == ".html":
            assert text.count("<script") == SCRIPTS.get(path.name, 0)
            for script in re.findall(r"<script>(.*?)</script>", text, re.DOTALL):
                digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
                assert f"script-src 'sha256-{digest}'" in text
            assert "<img" not in text
            assert "default-src 'none'" in text
            assert "‮" not in text
        if path.suffix == ".csv":
            for row in csv.reader(io.StringIO(text.lstrip("\ufeff"))):
                assert not any(one.lstrip().startswith(("=", "+", "@")) for one in row)


def test_feedback_names_nobody_else(marked):
    students = [path.name for path in (marked / "class").iterdir()]
    pages = sorted((marked / "one" / "feedback").glob("*/*"))
    assert {path.parent.name for path in pages} == set(map(naming.slug, students))
    for path in pages:
        others = [one for one in students if naming.slug(one) != path.parent.name]
        page = path.read_text()
        assert not any(re.search(rf"(?<!\w){re.escape(one)}(?!\w)", page, re.IGNORECASE) for one in others)
    anonymous = (marked / "one" / "report-anonymous.html").read_text()
    assert not any(re.search(rf"(?<!\w){re.escape(one)}(?!\w)", anonymous, re.IGNORECASE) for one in students)


def test_texts_come_back_and_overrides_stay(marked, tmp_path):
    out = shutil.copytree(marked / "one", tmp_path / "marks")
    rows = sheets.read_table(out / "texts.csv")
    given = [row for row in rows if row["who"] != "model answer"]
    assert given
    for number, row in enumerate(given):
        row |= {"p1": "1", "p2": "0.5", "p3": "0", "comment": f"note {number}"}
    sheets.written(out / "texts.csv", marks.TEXTS, [[row[one] for one in marks.TEXTS] for row in rows])
    student = sorted(path.name for path in (marked / "class").iterdir() if path.name.isalpha())[0]
    (out / "overrides.csv").write_text(f"student,item,points,reason\n{student},6.1,9,generous\n")
    for _ in range(2):
        commands.mark([str(marked / "class"), "--out", str(out)])
    after = [row for row in sheets.read_table(out / "texts.csv") if row["who"] != "model answer"]
    assert sorted(row["comment"] for row in after) == sorted(row["comment"] for row in given)
    table = sheets.read_table(out / "marks.csv")
    assert {row["points"] for row in table if row["status"] == "read"} == {"1.5"}
    assert [row["points"] for row in table if (row["student"], row["item"]) == (student, "6.1")] in ([], ["9"])


def test_both_formats_add_up(marked, tmp_path):
    student = next(path for path in (marked / "class").iterdir() if path.name.isalpha())
    for form in ("gradescope", "classroom"):
        assert commands.mark([str(student), "--out", str(tmp_path), "--format", form, "--jobs", "1"]) == 0
        (tmp_path / "results.json").rename(tmp_path / form)
    result = json.loads((tmp_path / "gradescope").read_text())
    assert result["score"] > 0
    assert result["score"] == sum(test["score"] for test in result["tests"])
    assert all(test["score"] <= test["max_score"] for test in result["tests"])
    for copy in range(5):  # of one submission, in five folders: it is still one student's
        shutil.copytree(student, tmp_path / "copies" / f"a{copy}")
    commands.mark([str(tmp_path / "copies"), "--out", str(tmp_path), "--format", "gradescope", "--jobs", "1"])
    assert json.loads((tmp_path / "results.json").read_text())["score"] == result["score"]
    packed = json.loads((tmp_path / "classroom").read_text())["result"]
    assert sum(one["score"] for one in json.loads(base64.b64decode(packed))["tests"]) == result["score"]


def test_root_marks_only_behind_a_sandbox(monkeypatch, capsys):
    monkeypatch.setattr(confinement, "protections", lambda: ())
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert commands.trouble() == 1
    assert "As root" in capsys.readouterr().err
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert commands.trouble() is None
    assert "could read your files" in capsys.readouterr().err


def test_an_assertion_elsewhere_is_nothing_that_an_answer_needs():
    book = Notebook(
        bytes_of(
            hostile.notebook(
                "import torch",
                "def trained():\n    while True:\n        pass",
                "torch.manual_seed(3)",
                "torch.testing.assert_close(trained(), 1)",
                hostile.HONEST["causal_mask"],
            )
        )
    )
    needed = [one.source for one in book.work_on("causal_mask", "causal_mask")]
    assert not any("trained" in source for source in needed)
    assert "torch.manual_seed(3)" in needed


TWICE = "scale = 2", "start = scale * 3", "used = start + 1", "def start():\n    return 0"


@pytest.mark.parametrize(
    ("answer", "needs"),
    [
        ("def causal_mask(length):\n    return start()", ["def start():\n    return 0"]),
        ("def causal_mask(length):\n    return start() + used", list(TWICE)),  # in their order
    ],
)
def test_what_a_function_replaces_is_run_only_for_what_uses_it_before(answer, needs):
    book = Notebook(bytes_of(hostile.notebook(*TWICE, answer)))
    assert [one.source for one in book.work_on("causal_mask", "causal_mask")] == [*needs, answer]


@pytest.mark.parametrize(
    "again", ["@undefined\ndef start():\n    return 0", "def start(to=undefined):\n    return 0", "start = undefined"]
)
def test_what_may_fail_replaces_nothing(again):
    answer = "def causal_mask(length):\n    return start()"
    book = Notebook(bytes_of(hostile.notebook("def start():\n    return 1", again, answer)))
    assert len(book.work_on("causal_mask", "causal_mask")) == 3


def test_what_only_a_later_cell_makes_is_found_with_all_that_it_uses():
    answer = "def causal_mask(length):\n    return table[:length]"
    book = Notebook(bytes_of(hostile.notebook(answer, "numbers = [1]", "table = numbers + [2]")))
    assert len(book.work_on("causal_mask", "causal_mask")) == 3


def test_no_exercise_waits_for_a_training():
    for lesson in ("02", "05", "07", "08"):
        name = next(one for one in reset.lessons() if one.startswith(lesson))
        solved = sample.filled(json.loads(reset.original(name)), random.Random(1), diligence=1, skill=1)
        book = Notebook(bytes_of(solved))
        for exercise, subject in verdicts.course()[str(int(lesson))]["items"]:
            run = [one.source for one in book.work_on(exercise, subject) if not one.source.startswith(("def", "class"))]
            assert not any(re.search(r"\btrain\w*\(", source) for source in run), subject
