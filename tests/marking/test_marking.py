"""The teacher's kit: marks that cannot be forged, notebooks that may be damaged, files that survive everything."""

import contextlib
import csv
import io
import json
import os
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import declared
import hostile
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from drawn import draws

from transformer_lessons.exercises.checker.draws import Draws
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.verdict import judge
from transformer_lessons.exercises.questions.finding import all_questions
from transformer_lessons.exercises.questions.kinds import FreeText
from transformer_lessons.marking import (
    commands,
    confinement,
    lending,
    marks,
    naming,
    policy,
    process,
    release,
    report,
    review,
    sample,
    sheets,
    submissions,
    tables,
    verdicts,
    wire,
)
from transformer_lessons.marking.notebook import Notebook, Unreadable, shape_of
from transformer_lessons.tools import reset

LEVEL_1 = pytest.mark.skipif(confinement.protections() != confinement.ALL, reason="this kernel confines nothing")
OPEN = pytest.mark.skipif(
    os.name != "posix" or (os.geteuid() == 0 and confinement.protections() != confinement.ALL),
    reason="marking refuses to run here",
)
pytestmark = OPEN


def bytes_of(book):
    return json.dumps(book).encode()


def ones(dtype, shape, size):
    """An array's parts, with so many bytes that are all ones."""
    return [dtype, shape, "C", wire.text_of(b"\xff" * size)]


def statuses(result):
    return {row["item"]: row["status"] for row in result["rows"]}


# The wire


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -(2**80),
        0.1,
        float("inf"),
        "ü\ud800",
        b"\0\xff",
        (1, [2, {"a": (None,)}]),
        {(b"a", b"b"): 2},
        {1, 2},
        torch.arange(6.0).reshape(2, 3),
        torch.tensor(True),
        torch.ones(0, 3),
        torch.arange(6.0).reshape(2, 3).T,
        np.arange(24).reshape(2, 3, 4)[:, ::2],
        np.float32(1.5),
        np.array(["ab", "c"]),
        np.arange(4).reshape(2, 2),
        torch.tensor([1.0], dtype=torch.bfloat16),
        torch.tensor([1 + 2j]),
    ],
)
def test_a_value_comes_over_the_wire_as_it_was(value):
    ours, theirs = socket.socketpair()
    wire.Lines(ours).send({"value": wire.pack(value)})
    again = wire.unpack(wire.Lines(theirs).message()["value"])
    assert type(again) is type(value)
    if isinstance(value, (torch.Tensor, np.ndarray)):
        assert again.dtype == value.dtype
        assert again.shape == value.shape
        assert bool((again == value).all())
    else:
        assert again == value


@pytest.mark.parametrize(
    "node",
    [
        ["tensor", "float64", "AAAA", False],
        ["tensor", "float64", ones("<f8", [9], 8), False],
        ["tensor", "float64", ones("<f8", [1], 72), False],
        ["tensor", "float64", ones("<f8", [-1], 8), False],
        ["tensor", "float64", ones("<f8", [1.0], 8), False],
        ["tensor", "float64", ones("<f8", [0, 1 << 62, 1 << 62], 0), False],
        ["tensor", "float64", [*ones("<f8", [1], 8)[:2], "X", "AAAAAAAAAAA="], False],
        ["tensor", "bool", ones("|b1", [8], 8), False],
        ["tensor", "float64", ones("<U2", [1], 8), False],
        ["array", ones("<U0", [10**10], 0), False],  # as many texts as one likes, in no bytes at all
        ["array", ones("|O8", [1], 8), False],
        ["array", ones("|O", [1], 8), False],
        ["array", ones("f8,f8", [1], 16), False],
        ["array", ones("|V8", [1], 8), False],
        ["array", ones("<M8[s]", [1], 8), False],
        ["objects", [5], []],
        {},
        [],
        3,
        ["tensor"],
        ["float", "nought"],
        ["int", 3],
    ],
)
def test_what_keeps_to_no_rule_is_refused(node):
    with pytest.raises(wire.Broken):
        wire.unpack(node, other=lambda node: (_ for _ in ()).throw(wire.Broken()))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        struct.pack("<I", 1 << 31),
        struct.pack("<I", 2) + b"[]",
        struct.pack("<I", 9) + b'{"sizes":',
        b"\x80\x04pickle",
    ],
)
def test_a_broken_frame_is_noticed(data):
    ours, theirs = socket.socketpair()
    ours.sendall(data)
    ours.close()
    with pytest.raises(wire.Broken):
        wire.Lines(theirs).message()


def test_what_cannot_be_sent_keeps_the_name_of_its_kind():
    again = wire.unpack(wire.pack(n for n in range(3)))
    assert type(again).__name__ == "generator"


# Verdicts


@pytest.mark.parametrize("name", ["softmax", "AttentionHead", "future_leak", "training_step", "sample_next"])
def test_mark_says_what_check_says(name):
    exercise, drawn = EXERCISES[name], draws(name, 11)
    mistakes = [variant for _, variant in exercise.singles]
    for answer in [*list(exercise.answers.values())[:2], *mistakes[:: max(1, len(mistakes) // 5)]]:
        here, there = declared.verdicts(name, answer, drawn)
        assert here == there


@pytest.mark.parametrize("mistake", ["old gradients not cleared", "a step between the loss and backward"])
def test_the_gradients_of_an_earlier_call_are_still_there_in_the_next(mistake):
    exercise = EXERCISES["training_step"]
    here, there = declared.verdicts("training_step", exercise.mistakes[mistake].variants[0], draws("training_step", 11))
    assert here == there == ("failed", mistake)


def settings_in_its_state(optimizer):
    return optimizer.state_dict()["param_groups"][0]


@pytest.mark.parametrize("read", [lambda one: one.param_groups[0], lambda one: one.defaults, settings_in_its_state])
def test_a_lent_optimizer_has_its_settings(read):
    def answer(model, optimizer, tokens):
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        with torch.no_grad():
            for one in optimizer.param_groups[0]["params"]:
                one -= read(optimizer)["lr"] * one.grad
        return loss.item()

    found = declared.verdicts("training_step", answer, draws("training_step", 11))
    assert found == 2 * (("failed", "a step that the optimizer does not make"),)


@pytest.mark.parametrize(
    ("name", "mistakes"),
    [
        ("online_softmax", ["all the scores at once", "three passes"]),
        ("tiled_attention", ["a table of length × length", "a whole mask", "tiles larger than the block"]),
    ],
)
def test_how_an_answer_computes_is_seen_by_both(name, mistakes):
    exercise, drawn = EXERCISES[name], draws(name, 11)
    for mistake in mistakes:
        here, there = declared.verdicts(name, exercise.mistakes[mistake].variants[0], drawn)
        assert here == there == ("failed", mistake)
    for answer in list(exercise.answers.values())[:2]:
        here, there = declared.verdicts(name, answer, drawn)
        assert here == there == ("passed", None)


def test_a_table_of_rows_by_rows_is_asked_for_in_parts_by_both():
    def answer(p, q, token, u):
        residual = (p - q).clamp(min=0)
        residual = torch.where(residual.sum(-1, keepdim=True) > 0, residual, p)
        kept = u < (p[:, token] / q[:, token]).diagonal()
        return torch.where(kept, token, torch.multinomial(residual, 1)[:, 0])

    assert declared.verdicts("speculate", answer, draws("speculate", 11)) == 2 * (("passed", None),)


def test_what_an_answer_notes_on_an_optimizer_is_there_at_the_next_call():
    name = "a step at every second call only"
    (variant,) = EXERCISES["training_step"].mistakes[name].variants
    found = declared.verdicts("training_step", variant, draws("training_step", 11))
    assert found == 2 * (("failed", name),)


def test_a_given_list_that_comes_back_is_known_to_be_the_given_one():
    (variant,) = EXERCISES["merge"].mistakes["the given list returned"].variants
    expected = "failed", "the given list returned"
    assert declared.verdicts("merge", variant, draws("merge", 11)) == (expected, expected)


def test_a_right_gradient_comes_over_the_wire():
    ours = torch.tensor([1.0, 2.0], requires_grad=True)
    result = lending.into_graph(torch.tensor([3.0]), [True], [ours], lambda gradients: [7 * gradients[0].expand(2)])
    result.sum().backward()
    assert ours.grad.tolist() == [7.0, 7.0]


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
    assert damage == "broken off" or book.answers["6.6"] == {"literal": "a"}


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
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_one_process_and_two_write_the_same_bytes(marked):
    assert contents(marked / "one") == contents(marked / "two")


def test_a_run_that_was_killed_ends_in_the_same_bytes(marked, monkeypatch):
    before = contents(marked / "one")
    results = sorted((marked / "one" / ".state").glob("*/*.json"))
    results[0].unlink()
    results[1].with_name(results[1].name + ".0123abcd.part").write_bytes(b"{")
    (marked / "one" / "marks.csv").unlink()
    assert commands.mark([str(marked / "class"), "--out", str(marked / "one")]) == 0
    assert contents(marked / "one") == before


def test_where_nothing_has_changed_nothing_is_marked(marked, monkeypatch):
    monkeypatch.setattr(marks, "share", lambda jobs, waiting, out: pytest.fail("marked") if waiting else {})
    assert commands.mark([str(marked / "class"), "--out", str(marked / "one")]) == 0


def test_one_student_is_marked_anew_and_nobody_else(marked, tmp_path, monkeypatch):
    out, seen = shutil.copytree(marked / "one", tmp_path / "marks"), []
    student = sorted(path.name for path in (marked / "class").iterdir() if path.name.isalpha())[0]
    share = marks.share
    monkeypatch.setattr(marks, "share", lambda jobs, waiting, out: seen.extend(waiting) or share(jobs, waiting, out))
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
    wide = {row["student"]: row for row in sheets.table(out / "marks_wide.csv")}
    assert {one: row["name"] for one, row in wide.items()} == {
        "x1": "Xenia",
        "x2": "Ximena",
        single: "Sole",
        "none": "Nobody",
    }
    assert wide["x1"]["total"] == wide["x2"]["total"]
    assert wide["none"]["total"] == "0"
    assert "not on the class list" in (out / "unread.txt").read_text()


def test_no_formula_and_no_script_survives(marked):
    for path, data in contents(marked / "one").items():
        text = data.decode()
        if path.suffix == ".html":
            assert text.count("<script") == 2 * (path.name == "grading.html")  # its own, which its policy names
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
    rows = sheets.table(out / "texts.csv")
    given = [row for row in rows if row["who"] != "model answer"]
    assert given
    for number, row in enumerate(given):
        row |= {"p1": "1", "p2": "0.5", "p3": "0", "comment": f"note {number}"}
    sheets.written(out / "texts.csv", marks.TEXTS, [[row[one] for one in marks.TEXTS] for row in rows])
    student = sorted(path.name for path in (marked / "class").iterdir() if path.name.isalpha())[0]
    (out / "overrides.csv").write_text(f"student,item,points,reason\n{student},6.1,9,generous\n")
    for _ in range(2):
        commands.mark([str(marked / "class"), "--out", str(out)])
    after = [row for row in sheets.table(out / "texts.csv") if row["who"] != "model answer"]
    assert sorted(row["comment"] for row in after) == sorted(row["comment"] for row in given)
    table = sheets.table(out / "marks.csv")
    assert {row["points"] for row in table if row["status"] == "read"} == {"1.5"}
    assert [row["points"] for row in table if (row["student"], row["item"]) == (student, "6.1")] in ([], ["9"])


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


def test_both_formats_add_up(marked, tmp_path):
    student = next(path for path in (marked / "class").iterdir() if path.name.isalpha())
    for form in ("gradescope", "classroom"):
        assert commands.mark([str(student), "--out", str(tmp_path), "--format", form, "--jobs", "1"]) == 0
        (tmp_path / "results.json").rename(tmp_path / form)
    result = json.loads((tmp_path / "gradescope").read_text())
    assert result["score"] == sum(test["score"] for test in result["tests"])
    assert all(test["score"] <= test["max_score"] for test in result["tests"])
    packed = json.loads((tmp_path / "classroom").read_text())["result"]
    assert sum(one["score"] for one in json.loads(__import__("base64").b64decode(packed))["tests"]) == result["score"]


def strings_in(value):
    """All the texts in nested lists and dictionaries."""
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in items for text in strings_in(one)]


def test_a_held_release_contains_no_model_answer_and_no_solution(tmp_path):
    release.release(tmp_path / "student.zip", {"texts", "solutions"})
    with zipfile.ZipFile(tmp_path / "student.zip") as archive:
        assert not any("marking" in name for name in archive.namelist())
        texts = [archive.read(name).decode() for name in archive.namelist() if name.endswith((".py", ".svg", ".md"))]
        for name in archive.namelist():
            for one in json.loads(archive.read(name))["cells"] if name.endswith(".ipynb") else ():
                shown = [part for output in one.get("outputs", ()) for part in strings_in(output)]
                texts += ["".join(one["source"]), "".join(shown)]
        archive.extractall(tmp_path)
    whole = "\n".join(texts)
    kept = [text for one in all_questions().values() if isinstance(one, FreeText) for text in (one.model, *one.points)]
    kept = [line.strip() for text in kept for line in re.split(r"(?<=[.:]) |\n", text)] + release.hidden_lines()
    assert len(kept) > 250  # else there would be little to look for
    assert [line for line in kept if len(line) >= 40 and line in whole] == []
    pages = [text for text in texts if text.startswith("# Lesson ")]
    assert len(pages) == 12
    assert not any("[x]" in page or "## " in page for page in pages)
    code = (
        "from transformer_lessons import models; from transformer_lessons.exercises import answer, check, solution; "
        "check('causal_mask', lambda n: 0); answer('1.2', 'c'); answer('1.9', 'my words'); solution('softmax')"
    )
    said = os.popen(f'cd {tmp_path}/transformer-lessons && {sys.executable} -c "{code}"').read()
    assert said.startswith("✗ causal_mask")
    assert "✓ 1.2 The largest dot product: right" in said
    assert f"A model answer:\n{release.KEPT}\nDoes yours say the same?\n- {release.KEPT}\n" in said
    assert said.splitlines()[-1] == release.KEPT


@pytest.fixture
def variants(monkeypatch):
    """The names of the proposed variants, which are in the catalogue until the test ends."""
    monkeypatch.setattr(verdicts, "VARIANTS", [])
    before = dict(EXERCISES)
    yield verdicts.load_variants(Path(verdicts.__file__).with_name("variants"))
    EXERCISES.clear()
    EXERCISES.update(before)


def test_each_lesson_has_a_variant_whose_mistakes_are_named(variants):
    assert [EXERCISES[name].lesson for name in variants] == [1, 2, 3, 4, 5, 6, 7, 8]
    for exercise in map(EXERCISES.get, variants):
        drawn = Draws(exercise, 5)
        assert {judge(exercise, one.answer, drawn).status for one in exercise.answers.values()} == {"passed"}
        for (mistake,), variant in exercise.singles:
            assert judge(exercise, variant.answer, drawn).mistake == mistake.name


def test_a_variant_is_marked_as_the_courses_own_are(tmp_path):
    (tmp_path / "variants").mkdir()
    for path in Path(verdicts.__file__).with_name("variants").glob("lesson_6.*"):
        shutil.copy(path, tmp_path / "variants")
    own = "def window_mask(length, before, after):\n    return torch.ones(length, length, dtype=torch.bool)"
    (tmp_path / "class" / "ann").mkdir(parents=True)
    (tmp_path / "class" / "ann" / FILE).write_bytes(
        bytes_of(hostile.notebook("import torch", own + ".triu(-before).tril(after)", hostile.HONEST["padding_mask"]))
    )
    arguments = [tmp_path / "class", "--out", tmp_path / "marks", "--variants", tmp_path / "variants", "--jobs", 1]
    subprocess.run([sys.executable, "-m", "transformer_lessons", "mark", *map(str, arguments)], check=True)
    found = {row["item"]: row["status"] for row in sheets.table(tmp_path / "marks" / "marks.csv")}
    assert (found["window_mask"], found["padding_mask"], found["causal_mask"]) == ("passed", "passed", "missing")


def test_a_wrong_page_of_a_teachers_own_is_named_by_where_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(verdicts, "VARIANTS", [])
    (tmp_path / "class").mkdir()
    page = tmp_path / "mine" / "window_mask.md"
    page.parent.mkdir()
    page.write_text("# window_mask\n")
    page.with_suffix(".py").write_text("")
    arguments = [tmp_path / "class", "--out", tmp_path / "marks", "--variants", page.parent]
    assert commands.mark([*map(str, arguments)]) == 1
    assert f"{page}:1: a title reads" in capsys.readouterr().err


def test_the_key_is_printed_or_written_but_not_where_it_would_be_published(tmp_path, capsys):
    assert commands.key([]) == 0
    assert "def causal_mask" in capsys.readouterr().out
    assert commands.key(["--out", str(tmp_path / "key")]) == 0
    assert "def causal_mask" in (tmp_path / "key" / "lesson_6.md").read_text()
    (tmp_path / ".git").mkdir()
    assert commands.key(["--out", str(tmp_path / "key")]) == 1


def test_copies_are_found_and_honest_work_is_left_alone():
    works, rows = {}, []
    for number in range(30):
        names = "abcdefgh"[number % 8] + str(number)
        source = "\n".join(
            [
                f"def future_leak(model{n}, tokens{names}):"
                if n == 0
                else f"    {names}{n} = model{n}({n} * {number}, tokens{names}[{(n * number) % 7}])"
                for n in range(12)
            ]
        )
        works[f"s{number:02}", "future_leak"] = {"source": source, "comments": []}
    for copy in range(5):  # renamed, and in another order
        lines = works[f"s{copy:02}", "future_leak"]["source"].split("\n")
        source = "\n".join([lines[0], *reversed(lines[1:])]).replace("tokens", "other").replace("model", "net")
        works[f"copy{copy}", "future_leak"] = {"source": source, "comments": []}
    for work in works.values():
        digest, nodes, lines = shape_of(work["source"])
        work |= {"digest": digest, "nodes": nodes, "lines": lines}
    for student, item in works:
        rows.append({"student": student, "item": item, "exercise": item, "status": "passed"})
    known = SimpleNamespace(works=works, rows=rows, students=dict.fromkeys(student for student, _ in works))
    pairs = {(one, other) for _, one, other, _, _ in review.alike(known)}
    assert pairs == {(f"copy{n}", f"s{n:02}") for n in range(5)}
    for work in (works["s01", "future_leak"], works["s09", "future_leak"]):
        work["comments"] = [f"my own comment, number {n}" for n in range(30)]
    assert "the same comment: my own comment, number 0" in {why for *_, why in review.alike(known)}


def test_root_marks_only_behind_a_sandbox(monkeypatch, capsys):
    monkeypatch.setattr(confinement, "protections", lambda: ())
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert commands.trouble() == 1
    assert "As root" in capsys.readouterr().err
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert commands.trouble() is None
    assert "could read your files" in capsys.readouterr().err


def test_a_table_shows_no_formula_and_no_hidden_character():
    assert naming.cell("=1+1") == "'=1+1"
    assert naming.cell("a‮b\0c") == "abc"
    assert len(naming.cell("x" * 10_000)) == 200
    assert report.safe("<b>&") == "&lt;b&gt;&amp;"


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


def test_no_exercise_waits_for_a_training():
    for lesson in ("02", "05", "07", "08"):
        name = next(one for one in reset.lessons() if one.startswith(lesson))
        solved = sample.filled(json.loads(reset.original(name)), random.Random(1), diligence=1, skill=1)
        book = Notebook(bytes_of(solved))
        for exercise, subject in verdicts.course()[str(int(lesson))]["items"]:
            run = [one.source for one in book.work_on(exercise, subject) if not one.source.startswith(("def", "class"))]
            assert not any(re.search(r"\btrain\w*\(", source) for source in run), subject
