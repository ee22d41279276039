"""Exercises that a test declares for itself."""

import re
import textwrap

import pytest

from transformer_lessons.exercises.checker.exercise import Exercise
from transformer_lessons.exercises.checker.pages import Entry, Page
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.setup import Setup


@pytest.fixture
def declare(monkeypatch):
    """Declares an exercise that `check` knows until the test ends; mistakes are (name, why, look, lines, …)."""

    def declare(stub, draw, reference, *, right="", mistakes=(), sizes=({},), **more):
        name = re.findall(r"^(?:def|class) (\w+)", stub, re.MULTILINE)[-1]
        right = textwrap.dedent(right).strip() or f"def {name}(*inputs):\n    return None"
        entries = [Entry(mistake, why, look, "", list(lines), "") for mistake, why, look, *lines in mistakes]
        page = Page(name, name, (1, 1, 1, 1), name, f"{stub}\n", [], f"{right}\n", {}, entries)
        exercise = Exercise(page, Setup(sizes=list(sizes), draw=draw, reference=reference, **more))
        monkeypatch.setitem(EXERCISES, name, exercise)
        return exercise

    return declare
