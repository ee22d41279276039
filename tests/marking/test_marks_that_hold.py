"""Marks hold, whatever a student, a teacher or a busy machine does: one theorem for each hole that was once found."""

import ast
import ctypes
import errno
import fcntl
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import hostile
import pytest

from transformer_lessons.exercises.checker.draws import Draws
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.verdict import judge
from transformer_lessons.exercises.questions.lookup import all_questions
from transformer_lessons.marking import (
    child,
    commands,
    confinement,
    marks,
    policy,
    process,
    results,
    sample,
    sheets,
    tables,
    verdicts,
    wire,
    workers,
)
from transformer_lessons.marking.files import Submission
from transformer_lessons.marking.notebook import Notebook, excerpt_of, shape_of
from transformer_lessons.running.global_state import standard_state
from transformer_lessons.tools import reset

pytestmark = pytest.mark.skipif(
    os.name != "posix" or (os.geteuid() == 0 and confinement.protections() != confinement.ALL),
    reason="marking refuses to run here",
)
FILE = "06_masking.ipynb"

ROOT = Path(__file__).resolve().parents[2]


def status_of(marker, name, *sources):
    """(the status of an exercise in a notebook with these cells, its flags)"""
    result = marker.notebook(json.dumps(hostile.notebook(*sources)).encode(), None)
    row = next(row for row in result["rows"] if row["item"] == name)
    return row["status"], row["flags"]


# Teachers solve lessons, too


@pytest.fixture
def solved_clone(tmp_path, monkeypatch):
    """A clone with one lesson, in which the teacher has solved an exercise."""
    original = reset.original(FILE)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / FILE).write_bytes(original)
    author = ["-c", "user.name=Teacher", "-c", "user.email=teacher@localhost"]
    for command in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "as handed out"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    book = json.loads(original)
    for cell in book["cells"]:
        if "def causal_mask" in "".join(cell["source"]) and "NotImplementedError" in "".join(cell["source"]):
            cell["source"] = hostile.HONEST["causal_mask"]
    (tmp_path / "notebooks" / FILE).write_text(json.dumps(book))
    with standard_state():  # the checks remember the package now, not as it is changed below
        pass
    monkeypatch.setattr(reset, "ROOT", tmp_path)
    monkeypatch.setattr(verdicts, "course", verdicts.course.__wrapped__)
    return tmp_path


def test_what_a_teacher_has_solved_in_the_clone_is_not_what_was_handed_out(solved_clone):
    solved = Notebook((solved_clone / "notebooks" / FILE).read_bytes())
    digest, *_ = shape_of(excerpt_of(solved.work_on("causal_mask", "causal_mask"), "causal_mask"))
    known = verdicts.course()["6"]
    assert known["fresh"]["causal_mask"] not in ("", digest)
    assert known["digest"] not in ("", solved.digest)


def test_a_lesson_whose_fresh_copy_is_lost_has_nothing_untouched_and_the_teacher_is_told(solved_clone):
    shutil.rmtree(solved_clone / ".git")
    assert FILE in verdicts.lost_lessons()
    assert verdicts.course()["6"]["fresh"] == {}


# All of the seed


@pytest.mark.parametrize("bit", range(40))
def test_every_bit_of_the_seed_reaches_the_draws(monkeypatch, bit):
    monkeypatch.setattr(verdicts, "Draws", lambda exercise, seed: seed)
    seeds = []
    for seed in (5, 5 ^ (1 << bit)):
        drawing = SimpleNamespace(seed=seed, draws={})
        seeds.append([verdicts.Marker.drawn(drawing, "softmax", number) % 2**29 for number in (0, 1)])
    assert not set(seeds[0]) & set(seeds[1])


# The course's own code


def test_the_courses_own_code_is_known_wherever_it_stands():
    child.load_course()
    ours = {
        "byte_pairs": "merge",
        "pretrained": "from_gpt2",
        "gguf_model": "neighbours_to_halves",
        "experiments": "logit_lens",
        "long_context": "online_softmax",
    }
    for module, name in ours.items():
        assert any(Path(path).stem == module for path, _ in child.places_of(name)), name
    assert child.places_of("no such name") == frozenset()


@pytest.mark.parametrize("name", ["merge", "count_pairs", "train_bpe", "apply_merges"])
def test_byte_pairs_from_the_course_are_flagged(marker, name):
    source = f"from transformer_lessons.language.byte_pairs import {name} as mine"
    source += f"\ndef {name}(*inputs):\n    return mine(*inputs)"
    assert verdicts.BORROWED in status_of(marker, name, source, f'check("{name}", {name})')[1]


FIXED = """from transformer_lessons import attention
class FixedAttention(attention.MultiHeadAttention):
    def forward(self, query, key, value):
        query, key, value = self.linear_q(query), self.linear_k(key), self.linear_v(value)
        query, key, value = (attention.split_heads(one, self.num_heads) for one in (query, key, value))
        output, weights = attention.scaled_dot_product_attention(query, key, value)
        return self.linear_out(attention.merge_heads(output)), weights"""


@pytest.mark.parametrize(
    ("source", "status", "flags"),
    [
        (FIXED, "passed", []),
        (FIXED.partition("    def forward")[0] + "    pass", "passed", [verdicts.BORROWED]),
        (
            FIXED.partition("        query, key")[0] + "        return super().forward(query, key, value)",
            "passed",
            [verdicts.BORROWED],
        ),
    ],
)
def test_a_bug_hunt_may_keep_the_layers_of_the_courses_class_but_not_what_it_computes(marker, source, status, flags):
    """As the lesson hands it out: class FixedAttention(attention.MultiHeadAttention)."""
    found = status_of(marker, "FixedAttention", source, 'check("MultiHeadAttention", FixedAttention)')
    assert found == (status, flags)


TRAINING = "step, model = 0, []\nwhile True:\n    step += 1\n    model.append(masked_softmax)"
FROM_SOURCE = """import inspect
from transformer_lessons import masks
exec(inspect.getsource(masks.masked_softmax))"""


@pytest.mark.parametrize("cells", [[FROM_SOURCE, TRAINING], [TRAINING, FROM_SOURCE]])
def test_the_courses_own_code_run_from_its_source_is_flagged_and_shown(marker, cells):
    book = hostile.notebook("import torch", *cells, 'check("masked_softmax", masked_softmax)')
    result = marker.notebook(json.dumps(book).encode(), "6")
    (row,) = [row for row in result["rows"] if row["item"] == "masked_softmax"]
    assert (row["status"], row["flags"]) == ("failed", [verdicts.BORROWED])
    assert "seconds" not in results.text_of(row)
    assert result["work"]["masked_softmax"]["source"] == FROM_SOURCE.splitlines()[-1]


def test_an_answer_that_is_run_from_a_text_gets_its_mark_whatever_else_the_notebook_trains(marker):
    text = "text = '''" + hostile.HONEST["causal_mask"] + "'''"
    cells = ["import torch", TRAINING, text, "exec(text)", 'check("causal_mask", causal_mask)']
    found = marker.notebook(json.dumps(hostile.notebook(*cells)).encode(), "6")
    (row,) = [row for row in found["rows"] if row["item"] == "causal_mask"]
    assert (row["status"], row["flags"]) == ("passed", [])


def test_of_the_tools_a_students_process_has_those_alone_that_reading_and_the_course_need(marker):
    answer = "def causal_mask(length):\n    raise ValueError(*(name[26:] for name in sys.modules if '.basis.' in name))"
    result = marker.notebook(json.dumps(hostile.notebook("import sys", answer)).encode(), None)
    message = next(results.text_of(row) for row in result["rows"] if row["item"] == "causal_mask")
    assert sorted(re.findall(r"'(\w+)'", message)) == ["atomic", "cells", "chat_model", "numbers", "terminal"]


@pytest.mark.parametrize("start", ["threading.Thread(target=run).start()", "_thread.start_new_thread(run, ())"])
def test_the_courses_own_code_is_seen_in_a_thread_that_already_runs(marker, start):
    source = f"""import _thread, queue, threading
from transformer_lessons import masks
asked, given = queue.Queue(), queue.Queue()
def run():
    while True:
        given.put(masks.causal_mask(asked.get()))
started = {start}
def causal_mask(length):
    asked.put(length)
    return given.get() if started != "not yet" else None"""
    assert verdicts.BORROWED in status_of(marker, "causal_mask", source, 'check("causal_mask", causal_mask)')[1]


def test_notebooks_and_tables_are_read_without_pytorch():
    reading = "import sys\nfrom transformer_lessons.marking import notebook, policy, sheets, submissions"
    reading += "\nprint('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", reading], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


# Nobody's mark depends on a trouble of ours


def test_a_process_that_cannot_be_started_is_asked_for_again(monkeypatch):
    monkeypatch.setattr(os, "fork", lambda: (_ for _ in ()).throw(BlockingIOError(errno.EAGAIN, "no more")))
    opened = os.open(os.devnull, os.O_RDONLY)
    assert child.fork(None, opened) == -errno.EAGAIN


def test_a_nursery_that_can_start_no_process_says_so(monkeypatch):
    nursery = process.Nursery.__new__(process.Nursery)
    answers = [-errno.EAGAIN] * 5
    nursery.control = SimpleNamespace()
    nursery.reply = lambda: answers.pop(0)
    monkeypatch.setattr(process.socket, "send_fds", lambda *_: None)
    monkeypatch.setattr(process.time, "sleep", lambda seconds: None)
    with pytest.raises(process.Unavailable, match="no process could be started"):
        nursery.fork()
    assert answers == []


def test_a_nursery_that_has_died_is_no_students_fault():
    one = verdicts.Marker(3)
    one.nursery.process.kill()
    one.nursery.process.wait()
    with pytest.raises(process.Unavailable, match="has died"):
        one.notebook(json.dumps(hostile.honest()).encode(), None)


@pytest.fixture
def handed_in(tmp_path):
    """A class of three, each with the same honest notebook."""
    for name in ("ann", "bob", "eve"):
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / FILE).write_text(json.dumps(hostile.honest()))
    return tmp_path


def test_where_no_process_can_be_had_all_is_reported_and_nothing_kept_and_the_next_run_marks_it(handed_in, monkeypatch):
    def refused(*_):
        raise process.Unavailable("no process could be started for it (no more)")

    monkeypatch.setattr(workers, "PATIENCE", 0.0)
    with monkeypatch.context() as context:
        context.setattr(verdicts, "Nursery", lambda: None)
        context.setattr(verdicts.Marker, "notebook", refused)
        known = marks.mark(handed_in / "class", handed_in / "marks", 2)
    assert known.rows == []
    assert {why for _, why in known.unread} == {"not marked yet: no process could be started for it (no more)"}
    assert list((handed_in / "marks" / ".state").glob("*/*.json")) == []
    known = marks.mark(handed_in / "class", handed_in / "marks", 2)
    assert known.unread == []
    assert {row["status"] for row in known.rows if row["item"] == "causal_mask"} == {"passed"}


def test_who_hands_in_a_hundred_notebooks_keeps_nobody_else_waiting(handed_in, monkeypatch):
    for number in range(9):
        (handed_in / "class" / "ann" / f"06_masking ({number}).ipynb").write_text(json.dumps({"cells": [number]}))
    order = []
    monkeypatch.setattr(marks, "share", lambda _, waiting, *__: order.extend(one.student for one, _ in waiting) or {})
    marks.mark(handed_in / "class", handed_in / "marks")
    assert order[:3] == ["ann", "bob", "eve"]
    assert order[3:] == ["ann"] * 9


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(50.0, "6 of 20 marked, about 2 minutes left"), (26.0, "about 1 minute left"), (9.0, "less than a minute left")],
)
def test_the_time_that_is_left_is_estimated_from_what_is_marked(monkeypatch, seconds, said):
    told = []
    crew = workers.Crew(1, [None] * 20, None, told.append)
    now = crew.begun
    monkeypatch.setattr(workers.time, "monotonic", lambda: now)
    for crew.done in (1, 5):  # and one more
        now += seconds
        crew.begun = now - seconds
        crew.count()
    assert told[0] == "2 of 20 marked"  # too few to tell
    assert told[1].endswith(said)


def test_a_worker_that_does_not_begin_is_given_up(handed_in, monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 0.0)
    monkeypatch.setattr(workers, "BEGINNING", 0.5)
    with monkeypatch.context() as context:
        context.setattr(verdicts, "Nursery", lambda: time.sleep(1000))
        known = marks.mark(handed_in / "class", handed_in / "marks", 1)
    assert {why for _, why in known.unread} == {"not marked yet: no process could be started here"}


def test_a_fault_of_ours_in_one_notebook_is_tried_again_and_not_kept(handed_in, monkeypatch):
    tried = []

    def fails(self, data, lesson):
        with open(handed_in / "tried", "a") as file:
            file.write("x")
        return {"unread": "it could not be read (OSError)", "again": "it could not be read (OSError)"}

    monkeypatch.setattr(workers, "PATIENCE", 0.0)
    with monkeypatch.context() as context:
        context.setattr(verdicts, "Nursery", lambda: None)  # nine workers start, and none needs it
        context.setattr(verdicts.Marker, "notebook", fails)
        known = marks.mark(handed_in / "class", handed_in / "marks", 1)
    assert len((handed_in / "tried").read_text()) == 3 * workers.TRIES
    assert {why for _, why in known.unread} == {"it could not be read (OSError)"}
    monkeypatch.setattr(marks, "share", lambda jobs, waiting, out, say: tried.extend(waiting) or {})
    marks.mark(handed_in / "class", handed_in / "marks", 1)
    assert len(tried) == 3


def test_a_result_that_is_empty_is_made_again_and_a_seed_that_is_empty_is_not(handed_in, monkeypatch, capsys):
    monkeypatch.setattr(marks, "share", lambda _, waiting, *more: [path.write_text("") for _, path in waiting] and {})
    for _ in range(2):
        known = marks.mark(handed_in / "class", handed_in / "marks")
        assert {why for _, why in known.unread} == {"not marked yet: mark again"}
    (handed_in / "marks" / ".state" / "seed.json").write_text("")
    assert commands.mark([str(handed_in / "class"), "--out", str(handed_in / "marks")]) == 1
    assert "seed.json is empty or damaged" in capsys.readouterr().err


def test_bug_hunts_of_one_name_in_two_lessons_are_told_apart(tmp_path):
    (tmp_path / "ann").mkdir()
    known, works, paths, handed_in = marks.Class(tmp_path, 1), [], {}, {"1": "self_attention", "3": "attention"}
    for lesson, exercise in handed_in.items():
        hunt = {"item": "fixed_attention", "exercise": exercise, "kind": "hunt", "flags": [], "status": "passed"}
        work = {"fixed_attention": {"digest": lesson, "source": lesson}}
        result = {"lesson": lesson, "held": [], "fresh": False, "rows": [hunt], "work": work}
        result["rows"][0]["answer"] = ""
        works.append(Submission(("ann", f"{lesson}.ipynb"), lambda: b"", student="ann"))
        paths[works[-1].path] = tmp_path / "ann" / f"{lesson}.json"
        paths[works[-1].path].write_text(json.dumps(result))
    known = marks.gathered(known, works, paths, policy.POLICY, {})
    assert [row["item"] for row in known.rows] == ["fixed_attention (1)", "fixed_attention (3)"]
    assert {item: work["source"] for (_, item), work in known.works.items()} == {
        "fixed_attention (1)": "1",
        "fixed_attention (3)": "3",
    }


# What a process may ask of the kernel


@pytest.mark.skipif(not confinement.can_filter(), reason="this kernel filters no system calls")
def test_no_call_sends_a_signal_elsewhere_or_makes_a_file_immutable(tmp_path):
    def is_refused(call, *arguments):
        return call(*arguments) == -1 and ctypes.get_errno() == errno.EPERM  # not for want of such a file

    pid = os.fork()
    if pid == 0:
        library = ctypes.CDLL(None, use_errno=True)
        reading, writing = os.pipe()
        with open(tmp_path / "file", "w") as file:
            library.prctl(38, 1, 0, 0, 0)
            confinement.filter_calls()
            number, nothing = (ctypes.byref(ctypes.c_int(one)) for one in (os.getppid(), 0))
            refused = [
                is_refused(library.fcntl, reading, fcntl.F_SETOWN, os.getppid()),
                is_refused(library.fcntl, reading, 10, signal.SIGURG),  # F_SETSIG
                is_refused(library.fcntl, reading, 15, number),  # F_SETOWN_EX
                is_refused(library.fcntl, reading, fcntl.F_SETFL, os.O_ASYNC),
                is_refused(library.ioctl, reading, 0x5452, number),  # FIOASYNC
                is_refused(library.ioctl, reading, 0x8901, number),  # FIOSETOWN
                is_refused(library.ioctl, reading, 0x8902, number),  # SIOCSPGRP
                is_refused(library.ioctl, file.fileno(), 0x40086602, nothing),  # FS_IOC_SETFLAGS
                is_refused(library.ioctl, file.fileno(), 0x5412, number),  # TIOCSTI
            ]
            works = [os.isatty(reading) is False, os.dup(writing) > 0, library.fcntl(reading, fcntl.F_GETFD) >= 0]
        os._exit(0 if all(refused) and all(works) else 1)
    assert os.waitpid(pid, 0)[1] == 0


def test_a_process_that_marks_has_a_limit_to_its_memory():
    pid = os.fork()
    if pid == 0:
        try:
            confinement.limit_memory(1 << 28)
            bytearray(1 << 32)  # more than this process can have freed
        except MemoryError:
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


# What comes over the wire


@pytest.mark.parametrize(
    "node",
    [
        ["list", [["object", f"C{number}"] for number in range(wire.PARTS)]],
        ["list", [str(number) for number in range(wire.PARTS)]],
        ["objects", [wire.PARTS], [None] * wire.PARTS],
    ],
)
def test_a_value_of_too_many_parts_is_refused(node):
    begun = time.process_time()
    with pytest.raises(wire.Broken, match="too many parts"):
        wire.unpack(node)
    assert time.process_time() - begun < 5


def test_objects_of_one_name_share_a_class():
    first, second = wire.unpack(["list", [["object", "Thing"], ["object", "Thing"]]])
    assert type(first) is type(second)
    assert type(first).__name__ == "Thing"


# The teacher's own files


def test_only_files_that_we_have_left_are_removed(tmp_path):
    ours = [".state/ann/0123456789abcdef0123456789abcdef.json.0123abcd.part"]
    ours += [f"{name}.0123abcd.part" for name in ("report.html", "grading.html", "halves.csv", "feedback-moodle.zip")]
    theirs = ["chapter.part", "ours/report.html.part", "feedback/ann/notes.part", "thesis.html.0123abcd.part"]
    for name in [*ours, *theirs]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    marks.prepare(tmp_path)
    assert not any((tmp_path / name).exists() for name in ours)
    assert all((tmp_path / name).exists() for name in theirs)


@pytest.mark.parametrize(
    "text", ["student;item;points;reason\nann;6.1;2,5;x\n", "student\titem\tpoints\nann\t6.1\t2.5\n"]
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_table_may_come_from_any_spreadsheet(tmp_path, text, encoding):
    (tmp_path / "overrides.csv").write_bytes(text.encode(encoding))
    (row,) = sheets.read_table(tmp_path / "overrides.csv", "student", "item", "points")
    assert (row["student"], row["item"], sheets.points_from(row["points"])) == ("ann", "6.1", 2.5)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("student,item,points\nann,6.1,1\nJürgen,6.1,1\n".encode("latin-1"), r"overrides.csv, line 3, is not UTF-8"),
        (b"student|item|points\nann|6.1|1\n", "needs columns called student, item and points"),
        (b"who,what\n", "it has who, what"),
        (b'student,item,points\n"' + b"x" * (1 << 21) + b'",6.1,1\n', "line 2: this is not a CSV table"),
    ],
)
def test_a_table_that_cannot_be_read_is_named_with_its_fault(tmp_path, data, said):
    (tmp_path / "overrides.csv").write_bytes(data)
    with pytest.raises(ValueError, match=said):
        sheets.read_table(tmp_path / "overrides.csv", "student", "item", "points")


def test_an_override_that_changes_nothing_or_exceeds_the_maximum_is_remarked_on(tmp_path):
    (tmp_path / "overrides.csv").write_text("student,item,points\nann,6.99,1\nann,6.1,many\nann,6.2,10.5\nann,6.3,1\n")
    about = {"student": "ann", "kind": "question", "status": "passed", "answer": "", "points": 1, "max": 1, "flags": []}
    known = marks.Class(tmp_path, 1, rows=[about | {"item": item} for item in ("6.1", "6.2", "6.3")])
    marks.read_back(known, policy.POLICY)
    assert [remark.split(": ")[1] for remark in known.remarks] == [
        "there is no '6.99' by 'ann' to override.",
        "'many' for 6.1 by ann is not a number of points.",
        "10.5 points for 6.2 by ann are more than the maximum, 1",
    ]


@pytest.mark.parametrize(
    ("typed", "points"),
    [("1½", 1.5), ("½", 0.5), (" 2,5 ", 2.5), (".5", 0.5), ("0", 0), ("1000", 1000)]
    + [(wrong, None) for wrong in ("", ",", "½½", "1_0", "1e2", "-1", "1001", "inf", "one")],
)
def test_points_are_what_a_teacher_writes_by_hand(typed, points):
    assert sheets.points_from(typed) == points


def test_a_line_end_within_a_cell_is_the_same_whatever_the_spreadsheet_writes(tmp_path):
    (tmp_path / "texts.csv").write_bytes(b'question,text\r\n6.13,"one\r\ntwo\rthree\nfour"\r\n')
    (row,) = sheets.read_table(tmp_path / "texts.csv", "question", "text")
    assert row["text"] == "one\ntwo\nthree\nfour"


@pytest.mark.parametrize(
    "value",
    [
        *([], 3, None, {"exercise": 3}, {"exercise": [1, 2]}, {"exercise": [1, 2, "3"]}, {"hunt": -1}, {"hunt": True}),
        *({"question": "0.5"}, {"text": None}, {"borrowed": "perhaps"}, {"exercises": [1, 2, 3]}, {"late": 2}),
        *({"deadline": 5}, {"halves": 1}, {"deadline": "tomorrow"}, {"text": float("inf")}),
        *({"deadline": "2026-12-01 9:00 pm"}, {"deadline": "2026-12-01 09.00"}, {"deadline": "2026-13-01"}),
    ],
)
def test_a_policy_of_the_wrong_shape_is_refused_with_a_sentence(tmp_path, value):
    (tmp_path / "policy.json").write_text(json.dumps(value))
    with pytest.raises(ValueError, match=r"policy.json: .*\.$"):
        policy.read_policy(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[" * 10**5, "\0"])
def test_a_policy_that_is_damaged_is_refused_with_a_sentence(tmp_path, text):
    (tmp_path / "policy.json").write_text(text)
    with pytest.raises(ValueError, match=r"policy\.json is empty or damaged"):
        policy.read_policy(tmp_path)


def test_a_mistake_in_the_policy_is_not_taken_for_a_damaged_seed(handed_in, capsys):
    (handed_in / "marks").mkdir()
    (handed_in / "marks" / "policy.json").write_text('{"hunts": 1}')
    assert commands.mark([str(handed_in / "class"), "--out", str(handed_in / "marks")]) == 1
    said = capsys.readouterr().err
    assert "policy.json: there is no setting called 'hunts'" in said
    assert "seed.json" not in said


@pytest.mark.parametrize(
    ("time", "deadline", "late"),
    [
        ("2026-12-01-23-58-10", "2026-12-01 23:59", False),
        ("2026-12-02 00:00:00 UTC", "2026-12-01 23:59", True),
        ("2026-12-01T23:59:30", "2026-12-01", False),
        ("2026-12-02", "2026-12-01", True),
        ("", "2026-12-01", False),
        ("2026-12-02", "", False),
    ],
)
def test_work_is_late_where_the_learning_system_says_when_it_came(time, deadline, late):
    assert policy.is_late(time, deadline) is late


IN_TIME = "2026-11-30 12:00:00"


@pytest.mark.parametrize(
    ("deadline", "handed_in", "said"),
    [
        (
            "2026-12-01",
            [("", False)] * 2,
            ["it is not known when any notebook was handed in, so none counts as late."],
        ),
        ("2026-12-01", [("", False), ("", True)], ["so late is only what the learning system itself calls late."]),
        ("2026-12-01", [(IN_TIME, False), ("", False)], ["nothing for 1 of 2 notebooks"]),
        ("2026-12-01", [(IN_TIME, False), ("yesterday", False)], ["nothing for 1 of 2 notebooks"]),
        ("2026-12-01", [(IN_TIME, False)], []),
        ("2026-12-01", [], []),
        ("", [("", False)], []),
    ],
)
def test_a_deadline_that_can_do_nothing_is_not_accepted_in_silence(tmp_path, deadline, handed_in, said):
    works = [
        Submission((f"{n}", "06_masking.ipynb"), bytes, student=f"{n}", time=time, late=late)
        for n, (time, late) in enumerate(handed_in)
    ]
    paths = {work.path: tmp_path / "none.json" for work in works}
    known = marks.gathered(marks.Class(tmp_path, 1), works, paths, policy.POLICY | {"deadline": deadline}, {})
    assert len(known.remarks) == len(said)
    for remark, words in zip(known.remarks, said, strict=True):
        assert remark.startswith("The deadline decides nothing")
        assert words in remark


def test_late_work_counts_what_the_policy_says():
    row = {"item": "6.1", "kind": "question", "status": "passed", "flags": [], "late": True}
    assert marks.scored(dict(row), policy.POLICY | {"late": 0.5})["points"] == 0.25
    assert marks.scored(dict(row), policy.POLICY)["points"] == 0.5
    assert marks.scored(dict(row), policy.POLICY)["flags"] == ["late"]


def test_no_two_of_very_many_students_share_a_pseudonym():
    known = marks.Class(Path(), 5)
    assert len({known.pseudonym(f"student {number}") for number in range(20_000)}) == 20_000


# As `check` judges, and as the manual shows


def test_mark_asks_beyond_the_numbers_as_check_does(marker):
    source = EXERCISES["attention"].solution_text().replace("def attention", "def theirs")
    source += "\ndef attention(query, key, value):\n    if query.requires_grad:\n        raise NotImplementedError\n"
    source += "    return tuple(one.detach() for one in theirs(query, key, value))"
    assert status_of(marker, "attention", source, 'check("attention", attention)')[0] == "failed"
    space = {}
    exec(source, space)
    assert judge(EXERCISES["attention"], space["attention"], Draws(EXERCISES["attention"])).status == "failed"


def test_every_slip_of_the_sample_class_is_rejected():
    for name in EXERCISES:
        if (exercise := EXERCISES[name]).lesson <= 8:
            space = {}
            exec(sample.attempt(name, random.Random(1), right=False), space)
            assert judge(exercise, space[name], Draws(exercise)).status == "failed", name


def test_the_sample_class_has_all_that_the_manual_shows(tmp_path):
    sample.write(tmp_path, 4)
    texts = {path.parent.name + path.name[:2]: path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.ipynb")}
    assert "masks.causal_mask(length)" in texts["alan06"]
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(texts["amara06"])
    cells = [cell for name, text in texts.items() if name != "amara06" for cell in json.loads(text)["cells"]]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert any("def fixed_" in source and "NotImplementedError" not in source for source in sources)
    assert any(re.search(r"""answer\("\d+\.\d+", ['"][^'"]{20}""", source) for source in sources)


def test_the_texts_of_the_sample_class_are_whole_sentences_and_some_of_its_hunts_are_as_they_were(tmp_path):
    sample.write(tmp_path, 12)
    texts, sources = defaultdict(set), []
    for path in tmp_path.rglob("*.ipynb"):
        if path.parent.name == "amara" and path.name.startswith("06"):
            continue
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            sources.append("".join(cell["source"]))
            for number, text in re.findall(r"""answer\("(\d+\.\d+)", (['"].{30,}['"])\)""", sources[-1]):
                texts[number].add(ast.literal_eval(text))
    assert len(texts) == 11
    for number, some in texts.items():
        question = all_questions()[number]
        for text in some:
            assert text[-1] in ".?", text
            whole = text in question.model or all(one in question.points for one in split(text, question.points))
            assert whole, text
            assert not re.match(r"[\w ]{1,12}: ", text), text
    books = [json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "notebooks").glob("??_*.ipynb")]
    stubs = [
        (book, name)
        for book in books
        for cell in book["cells"]
        for name in re.findall(r"^(?:def|class) ([fF]ixed\w+)", "".join(cell["source"]), re.MULTILINE)
    ]
    handed_out = {sample.published(book, name) for book, name in stubs} - {""}
    assert len(handed_out) >= 5
    assert handed_out & {source.strip() for source in sources}
    assert not any("suspicious" in one and "def fixed" in one for one in sources)


def test_help_names_all_that_mark_can_do_and_the_sample_class_has_a_sheet_to_fill_in(tmp_path, capsys):
    with pytest.raises(SystemExit):
        commands.mark(["--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "mark sample FOLDER" in told
    assert "mark fill SHEET.csv" in told
    assert commands.mark(["sample", str(tmp_path / "a class"), "--students", "2"]) == 0
    told = capsys.readouterr().out
    assert f"mark fill '{tmp_path / 'a class.csv'}' --scale sheet" in told
    (tmp_path / "marks.csv").write_text("student,lesson,kind,item,points,max\nada,1,hunt,x,1,4\nalan,1,hunt,x,,4\n")
    done, left = tables.fill(tmp_path / "a class.csv", tmp_path / "marks.csv", scale="sheet")
    assert (done, left) == (2, {tables.NOT_HANDED_IN: ["Zelda"]})
    assert "ada,Ada,25,100" in (tmp_path / "a class.csv").read_text(encoding="utf-8-sig")
    shutil.rmtree(tmp_path / "a class")
    assert commands.mark(["sample", str(tmp_path / "a class"), "--students", "2"]) == 1
    told = capsys.readouterr().err
    assert "a class.csv already exists" in told
    assert "mark sample another-class" in told


def split(text, points):
    """The points of which a text consists, and what is left of it."""
    found = [one for one in points if one in text]
    for one in found:
        text = text.replace(one, "")
    return [*found, *text.split()]


def test_without_the_lessons_mark_says_what_it_needs(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(commands.reset, "lessons", list)
    assert commands.mark([str(tmp_path), "--out", str(tmp_path / "marks")]) == 1
    assert capsys.readouterr().err.endswith("marking needs a clone of the course.\n")


@pytest.mark.parametrize("students", ["-3", "0", "many"])
def test_a_class_to_practise_on_has_at_least_one_student(tmp_path, capsys, students):
    with pytest.raises(SystemExit):
        commands.mark(["sample", str(tmp_path / "class"), "--students", students])
    assert f"{students} must be a whole number, at least 1" in capsys.readouterr().err
    assert not (tmp_path / "class").exists()


@pytest.mark.parametrize("name", ["fill", "sample"])
def test_a_class_folder_with_the_name_of_a_command_is_marked_by_its_path_and_mark_says_so(
    handed_in, capsys, monkeypatch, name
):
    monkeypatch.chdir(handed_in)
    (handed_in / "class").rename(name)
    monkeypatch.setattr(marks, "share", lambda *_: {})
    with pytest.raises(SystemExit):
        commands.mark([name])
    assert f"To mark the folder {name}, write mark ./{name}" in " ".join(capsys.readouterr().err.split())
    assert commands.mark([f"./{name}"]) == 0
