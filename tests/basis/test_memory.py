"""What is remembered of a learner's work survives other kernels, damage and full disks, and tells what comes next."""

import json
import multiprocessing
import os
import re
from pathlib import Path

import pytest

from transformer_lessons.basis import memory
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.questions.lookup import all_questions

LESSONS = memory.lessons()


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    monkeypatch.setenv(memory.ELSEWHERE, str(tmp_path / "deep" / "solved.txt"))
    return tmp_path / "deep" / "solved.txt"


def test_what_is_solved_is_remembered_once_in_order_until_it_is_forgotten(kept):
    assert memory.solved() == []
    memory.remember(["softmax", "1.1"])
    memory.remember(["1.1", "self_attention", "self_attention"])
    assert memory.solved() == ["softmax", "1.1", "self_attention"]
    memory.forget(["1.1", "never_solved"])
    assert memory.solved() == ["softmax", "self_attention"]
    assert {path.name for path in kept.parent.iterdir()} == {"solved.txt", "solved.txt.lock"}


@pytest.mark.parametrize("damage", [b"\xff\xfe", b"softmax\n<html>\n", b"softmax\n\n1.1\n", b"{}", bytes(5)])
def test_a_damaged_file_is_set_aside_and_never_an_error(kept, damage):
    memory.remember(["softmax"])
    kept.write_bytes(damage)
    assert memory.solved() == []
    assert kept.with_name("solved.txt.damaged").read_bytes() == damage
    memory.remember(["1.1"])
    assert memory.solved() == ["1.1"]


def test_what_a_newer_version_has_named_is_kept(kept):
    memory.remember(["an_exercise_to_come", "softmax"])
    memory.forget(["softmax"])
    assert kept.read_text() == "an_exercise_to_come\n"


@pytest.mark.parametrize("obstacle", ["a folder", "a file above"])
def test_where_the_file_cannot_be_written_nothing_is_remembered_and_nothing_is_raised(kept, obstacle):
    if obstacle == "a folder":
        kept.mkdir(parents=True)
    else:
        kept.parent.write_bytes(b"")
    memory.remember(["softmax"])
    assert memory.solved() == []


def remember_each(names, start):
    start.wait(60)
    for name in names:
        memory.remember([name])


def test_two_kernels_at_once_lose_nothing():
    processes = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
    start, names = processes.Event(), [f"{lesson}.{number}" for lesson in range(4) for number in range(20)]
    kernels = [processes.Process(target=remember_each, args=(names[n::4], start)) for n in range(4)]
    for kernel in kernels:
        kernel.start()
    start.set()
    for kernel in kernels:
        kernel.join()
    assert sorted(memory.solved()) == sorted(names)


def test_the_steps_are_all_exercises_and_questions_each_in_its_own_lesson():
    steps = [step for lesson in LESSONS for step in memory.steps(lesson)]
    assert sorted(step.name for step in steps) == sorted([*EXERCISES, *all_questions()])
    for step in steps:
        assert re.fullmatch("[a-zA-Z0-9_-]+", step.cell)
        if memory.is_question(step.name):
            assert int(step.name.split(".")[0]) == int(step.lesson[:2])
        else:
            assert EXERCISES[step.name].lesson == int(step.lesson[:2])
            assert step.heading == f"Exercise · `{step.name}`"


def test_the_next_step_is_the_next_that_is_unsolved_and_at_the_end_the_first():
    names = [step.name for lesson in LESSONS for step in memory.steps(lesson)]
    assert memory.next_step([]).name == names[0]
    assert memory.next_step(names[:3], names[2]).name == names[3]
    assert memory.next_step([names[2], names[3]], names[2]).name == names[4]
    assert memory.next_step([names[-1]], names[-1]).name == names[0]
    assert memory.next_step(names, names[0]) is None
    assert memory.next_step(names[:-1], "unknown").name == names[-1]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"cells": [3]}', '{"cells": [{}]}', "[" * 100_000])
def test_a_lesson_that_cannot_be_read_has_no_steps(tmp_path, text):
    path = tmp_path / "01_first.ipynb"
    path.write_text(text)
    assert memory.steps(path) == []
    assert memory.steps(Path(tmp_path, "gone.ipynb")) == []


def test_a_step_is_an_exercise_under_its_own_name(tmp_path):
    sources = [
        'check("softmax", fixed)',
        "report = check('merge', merge)",
        'print(answer("9.1"))',
        'answer("9.2", "a")',
    ]
    cells = [{"cell_type": "code", "source": source} for source in sources]
    (tmp_path / "09.ipynb").write_text(json.dumps({"cells": cells}))
    assert [step.name for step in memory.steps(tmp_path / "09.ipynb")] == ["merge", "9.2"]
