"""python -m transformer_lessons.exercises: every known mistake, and the verdict on each."""

import subprocess
import sys

from transformer_lessons.exercises.__main__ import main
from transformer_lessons.exercises.checker.registry import EXERCISES


def test_the_list_of_mistakes_names_every_one_and_accepts_every_right_answer(capsys):
    assert main(["padding_mask"]) == 0
    exercise = EXERCISES["padding_mask"]
    mistakes, answers = len(exercise.singles), len(exercise.answers)
    said = f"1 exercise: {mistakes} of {mistakes} mistakes named correctly, {answers} of {answers} right answers"
    assert said in capsys.readouterr().out


def test_a_mistyped_exercise_in_the_list_of_mistakes_is_one_sentence():
    command = [sys.executable, "-X", "utf8", "-m", "transformer_lessons.exercises", "softmx"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    said = "There is no exercise called softmx. Did you mean softmax or online_softmax or masked_softmax?\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
