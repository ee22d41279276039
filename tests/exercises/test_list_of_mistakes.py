"""python -m transformer_lessons.exercises: every known mistake, and the verdict on each."""

import runpy
import sys

import pytest
import torch

from transformer_lessons.exercises import __main__ as list_of_mistakes
from transformer_lessons.exercises.checker.registry import EXERCISES


def test_the_list_of_mistakes_names_every_one_and_accepts_every_right_answer(capsys):
    assert list_of_mistakes.main(["padding_mask"]) == 0
    exercise = EXERCISES["padding_mask"]
    mistakes, answers = len(exercise.singles), len(exercise.answers)
    said = f"1 exercise: {mistakes} of {mistakes} mistakes named correctly, {answers} of {answers} right answers"
    assert said in capsys.readouterr().out


def test_the_list_shows_the_verdict_even_on_a_right_answer_that_is_refused(declare, capsys):
    declare(
        "def twice(x): ...",
        lambda generator: (torch.ones(2),),
        lambda x: 2 * x,
        right="def twice(x):\n    doubled = 3 * x\n    return doubled",
        mistakes=[("halved", "It is halved.", "the factor?", "doubled = x / 2")],
    )
    assert list_of_mistakes.main(["twice"]) == 1
    shown = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines() if "twice:" in line]
    assert shown == ["halved ✗ twice: halved.", "the right answer ✗ twice: the numbers are not right."]


def test_a_mistyped_exercise_in_the_list_of_mistakes_is_one_sentence(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["exercises", "softmx"])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_path(list_of_mistakes.__file__, run_name="__main__")  # as a command
    said = "There is no exercise called softmx. Did you mean softmax or online_softmax or masked_softmax?\n"
    assert capsys.readouterr() == ("", said)
