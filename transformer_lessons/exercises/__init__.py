"""The exercises: `check` judges an answer and names the mistake, `answer` judges a question.

    from transformer_lessons.exercises import check, answer, hint, solution

`hint` and `solution` help. The exercises are declared in lesson_1 … lesson_8; README.md, beside this file,
shows how.
"""

import importlib.util

from transformer_lessons.exercises.asking import answer
from transformer_lessons.exercises.checking import check
from transformer_lessons.exercises.exercise import BROKEN
from transformer_lessons.exercises.helping import hint, solution
from transformer_lessons.exercises.running import namespaces

__all__ = ["answer", "check", "hint", "solution"]

LESSONS = [f"transformer_lessons.exercises.lesson_{number}" for number in range(1, 9)]


def load():
    """Imports every lesson; one that cannot be imported leaves the others alone, and `check` says so."""
    for name in LESSONS:
        if importlib.util.find_spec(name):
            try:
                importlib.import_module(name)
            except Exception as error:
                BROKEN[name.rpartition(".")[2]] = error


load()
namespaces.extend()  # what the checks put back when an answer has replaced it
