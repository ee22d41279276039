"""What a student's process can do to the process that marks it: nothing that lasts."""

import builtins
import contextlib
import ctypes
import itertools
import os
import platform
import re
import socket
import struct
import sys
import threading
import time
import types
from pathlib import Path

import numpy as np
import pytest
import torch
from declared import Declared
from torch import nn

from transformer_lessons.basis import atomic
from transformer_lessons.exercises.checker.draws import Draws
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.verdict import judge
from transformer_lessons.exercises.checker.weights import weights
from transformer_lessons.marking import child, confinement, marks, process, wire, workers
from transformer_lessons.marking.lending import register
from transformer_lessons.marking.remote import ENDS, Student
from transformer_lessons.running.global_state import standard_state

pytestmark = pytest.mark.skipif(os.name != "posix", reason="marking needs sockets that belong to a process")
FILTERED = pytest.mark.skipif(not confinement.can_filter(), reason="this kernel filters no system calls")


def watched(**state):
    """A process that is only a socket, and seems to be in this state; and the other end of the socket."""
    one = process.Process(None, b"", {}, None)
    ours, theirs = socket.socketpair()
    one.lines, one.pid, one.end = wire.Lines(ours), os.getpid(), lambda: None
    asked = itertools.count()
    one.used = lambda: (state.get("used", 0.0) + state.get("step", 0.0) * next(asked), state.get("state", "R"))
    return one, theirs


# Time


def test_a_byte_now_and_then_prolongs_nothing(monkeypatch):
    monkeypatch.setattr(process, "LEAST", 0.02)
    one, theirs = watched(state="S", step=1e-6)
    one.left = 0.0
    stop = threading.Event()

    def drip():
        theirs.sendall(struct.pack("<I", 60_000))
        while not stop.wait(0.005):
            theirs.sendall(b" ")

    thread = threading.Thread(target=drip)
    thread.start()
    begun = time.monotonic()
    try:
        with pytest.raises(process.Endless):
            one.exchange({"do": "call"})
    finally:
        stop.set()
        thread.join()
    assert time.monotonic() - begun < 2


def test_who_sleeps_instead_of_reading_is_given_up():
    one, _theirs = watched(state="S")
    with pytest.raises(process.Endless):
        one.lines.send(bytes(10**6), one.patience(0.1))


def test_who_reads_a_little_now_and_then_is_given_up():
    one, theirs = watched(state="S", step=1e-6)
    stop = threading.Event()

    def sip():
        while not stop.wait(0.01):
            theirs.recv(100)

    thread = threading.Thread(target=sip)
    thread.start()
    try:
        with pytest.raises(process.Endless):
            one.lines.send(bytes(10**7), one.patience(0.02))
    finally:
        stop.set()
        one.lines.socket.close()  # or the thread would wait for more, if it has read all
        thread.join()


def test_who_waits_for_a_busy_processor_is_given_the_time_and_no_verdict():
    one, theirs = watched(state="R")
    wait = one.patience(0.02)
    threading.Timer(0.6, theirs.sendall, [b"1"]).start()  # three times as long as the clock allows
    wait()
    assert one.starved > 0.3
    outcome = Student(one).run(lambda: setattr(one, "starved", one.starved + 3))
    assert outcome.uncounted == pytest.approx(3)  # the check's own clock stands still, too


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"step": 9.0}, "take more than 0.1 seconds of processor time"),
        ({"state": "S"}, "wait for more than 0.1 seconds"),
        ({"state": "S", "step": 1e-6}, "do not finish in time"),
    ],
)
def test_who_takes_too_long_is_told_what_was_too_long(state, said):
    one, _theirs = watched(**state)
    with pytest.raises(process.Endless, match=said):
        one.patience(0.1)()


def test_the_second_try_of_a_definition_has_less_time_and_the_first_is_what_is_told():
    one, said = Student(watched()[0]), ["take more than 8 seconds", "take more than 0.5 seconds"]

    def ask(*_):
        raise process.Endless(said.pop(0))

    one.ask = ask
    with pytest.raises(process.Endless, match="than 8 seconds"):
        one.define("softmax", "softmax")
    assert said == []


def test_an_answer_that_always_ends_python_is_not_started_for_ever():
    one, calls = Student(watched()[0]), []

    def ends():
        calls.append(1)
        raise wire.Broken("the process ended")

    errors = [one.run(ends).error for _ in range(9)]
    assert len(calls) == ENDS
    assert set(errors) == {"Ended: the process ended"}


# Memory


def test_a_tensor_without_numbers_is_refused_before_anything_is_allocated():
    with pytest.raises(wire.Broken, match="without numbers"):
        wire.unpack(wire.pack(torch.empty(10**12, device="meta")))


@pytest.mark.parametrize("size", [(20_000_000, "meta"), (300_000, "cpu")])
def test_a_module_with_more_numbers_than_any_exercise_needs_is_refused(size):
    class AttentionHead(nn.Module):
        def __init__(self, d_model, d_head):
            super().__init__()
            self.big = nn.Parameter(torch.zeros(size[0], device=size[1]))

        def forward(self, x):
            return x

    one, exercise = Declared(AttentionHead), EXERCISES["AttentionHead"]
    student = Student(one)
    before = weights.cache_info().currsize
    with standard_state():
        try:
            report = judge(
                exercise, student.define("AttentionHead", "AttentionHead"), Draws(exercise, 11), run=student.run
            )
        finally:
            one.end()
    assert report.status == "failed"
    assert "Ended" in report.message
    assert weights.cache_info().currsize - before < 50


def test_nothing_of_a_strangers_size_is_kept():
    one = process.Process(type("Nursery", (), {"bury": lambda *_: None}), b"", {}, None)
    one.lines, one.pid, one.large = wire.Lines(socket.socket()), 1, True
    weights("a stranger's", (3,), 0)
    one.end()
    assert weights.cache_info().currsize == 0


def test_a_set_whose_numbers_all_have_one_hash_is_refused():
    numbers = [["int", hex(number * (2**61 - 1))] for number in range(20_000)]
    begun = time.monotonic()
    for node in (["set", numbers], ["frozenset", numbers], ["dict", [[one, None] for one in numbers]]):
        with pytest.raises(wire.Broken, match="nothing can be found"):
            wire.unpack(node)
    assert time.monotonic() - begun < 2


def test_an_honest_set_comes_over_the_wire():
    for value in ({-1, -2, 0, 1.5, "a"}, {(one, str(two)): one for one in range(30) for two in range(30)}):
        assert wire.unpack(wire.pack(value)) == value


def test_modules_that_are_nested_without_end_are_refused():
    with pytest.raises(wire.Broken, match="nested"):
        register(nn.Module(), [(".".join("a" * 20_000), nn.Parameter(torch.zeros(())))])


# Errors


def huge(scores):
    raise MemoryError


def several(scores):
    raise builtins.ExceptionGroup("both", [ValueError(1)])


class Surrogate(type):
    __name__ = property(lambda _: "\ud800")


class Nameless(Exception, metaclass=Surrogate):
    pass


def surrogate(scores):
    raise Nameless("a")


def no_key(scores):
    return {}["gone"]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (huge, "raises MemoryError"),
        (surrogate, "raises ?: a"),
        (no_key, "raises KeyError: 'gone'"),
        pytest.param(
            several,
            "raises ExceptionGroup: both",
            marks=pytest.mark.skipif(sys.version_info < (3, 11), reason="Python has no groups of errors before 3.11"),
        ),
    ],
)
def test_an_error_of_the_answers_is_said_to_be_one(answer, said):
    one, exercise = Declared(answer), EXERCISES["softmax"]
    student = Student(one)
    with standard_state():
        try:
            report = judge(exercise, student.define("softmax", "softmax"), Draws(exercise, 11), run=student.run)
        finally:
            one.end()
    assert said in report.message


# The course's own code


def in_a_thread(function):
    def softmax(scores):
        found = []
        thread = threading.Thread(target=lambda: found.append(function(scores)))
        thread.start()
        thread.join()
        return found[0]

    return softmax


def renamed(function):
    return types.FunctionType(function.__code__.replace(co_name="mine"), function.__globals__)


def unwatched(function):
    def softmax(scores):
        sys.setprofile(None)
        return function(scores)

    return softmax


@pytest.mark.parametrize("way", [lambda function: function, in_a_thread, renamed, unwatched])
def test_the_courses_own_code_is_seen(way):
    from transformer_lessons import first_steps

    watch, answer = child.Borrowing("softmax"), way(first_steps.softmax)
    with watch:
        answer(np.zeros(3))
    assert watch.seen


def test_a_students_own_code_is_not_taken_for_the_courses():
    watch = child.Borrowing("softmax")
    with watch:
        in_a_thread(np.exp)(np.zeros(3))
        np.exp(np.zeros(3))
    assert not watch.seen


def test_who_calls_himself_without_end_has_not_switched_the_watch_off():
    def softmax(scores):
        return softmax(scores)

    watch = child.Borrowing("softmax")
    for depth in range(5):  # the limit may be met in the watch, or in the answer
        with contextlib.suppress(RecursionError), watch:
            [lambda: softmax(0), lambda: max([0], key=softmax)][depth % 2]()
    assert not watch.seen


# The kernel


@FILTERED
def test_a_student_cannot_outlive_us_nor_empty_our_files_nor_watch_our_folders(tmp_path):
    """Landlock knows of truncate only from Linux 6.2 on, so seccomp alone is tried here."""
    victim = tmp_path / "marks.csv"
    victim.write_text("ada,3")
    pid = os.fork()
    if pid == 0:
        library = ctypes.CDLL(None)
        try:
            library.prctl(38, 1, 0, 0, 0)
            confinement.filter_calls()
            truncate = 76 if platform.machine() == "x86_64" else 45
            tried = [
                library.prctl(1, 0, 0, 0, 0),
                library.syscall(truncate, bytes(victim), 0),
                library.inotify_init1(0),
                library.syscall(222 if platform.machine() == "x86_64" else 107, 0, bytes(64), bytes(8)),  # timer_create
            ]
            works = library.prctl(15, b"named", 0, 0, 0) == 0 and library.prctl(3, 0, 0, 0, 0) >= 0
            os._exit(0 if works and all(one < 0 for one in tried) else 1)
        finally:
            os._exit(2)
    assert os.waitpid(pid, 0)[1] == 0
    assert victim.read_text() == "ada,3"


# A worker that dies


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_notebook_that_ends_the_marker_takes_nobody_with_it(tmp_path, monkeypatch, jobs):
    for name in ("ada", "eve", "mia", "zoe"):
        (tmp_path / "in" / name).mkdir(parents=True)
        (tmp_path / "in" / name / "01_first_steps.ipynb").write_text(f'{{"cells": ["{name}"]}}')

    def share(jobs, waiting, *_):
        for work, path in waiting:  # the second of two workers takes the next while the first one dies
            if work.student == "eve":
                return {path: workers.ENDED for _, path in waiting if not path.exists()}
            atomic.write(path, b'{"unread": "marked"}')
        return {}

    monkeypatch.setattr(marks, "share", share)
    for _ in range(2):
        unread = {work.split("/")[0]: why for work, why in marks.mark(tmp_path / "in", tmp_path / "out", jobs).unread}
        assert unread.pop("eve") == "not marked yet: it ends the process that marks it"
        assert set(unread.values()) == {"marked"}
        assert len(unread) == 3


HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


@pytest.mark.parametrize("machine", HEADERS)
def test_the_refused_calls_have_the_numbers_of_the_kernels_headers(machine):
    if not HEADERS[machine].exists():
        pytest.skip("the kernel's headers are not installed")
    text = HEADERS[machine].read_text()
    known = {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
    named = confinement.numbers(confinement.REFUSED + ", ".join(confinement.SOME), machine)
    assert len(named) > 80
    newer = {"fchmodat2"}  # than many headers
    assert {name: number for name, number in named.items() if known.get(name, number) != number} == {}
    assert set(named) - set(known) <= newer


def test_every_refused_call_is_refused_on_both_machines_that_have_it():
    lines = [line for line in confinement.REFUSED.splitlines() if line and not line.startswith("#")]
    entries = [entry for line in lines for entry in line.strip().rstrip(",").split(", ")]
    assert all(re.fullmatch(r"\w+ \d+ (\d+|-)", entry) for entry in entries)
    assert len(confinement.numbers(confinement.REFUSED, "x86_64")) == len(entries)
