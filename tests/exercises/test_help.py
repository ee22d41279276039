"""Hints come one at a time, and a solution when it is asked for."""

import pytest
from reported import NAME

from transformer_lessons import attention
from transformer_lessons.exercises import hint, solution
from transformer_lessons.exercises.checker import help


def test_hints_come_one_after_the_other_and_then_point_to_the_solution(capsys, monkeypatch, declare):
    def said(*asked):
        hint(*asked)
        return capsys.readouterr().out

    monkeypatch.setattr(help, "given", {})
    total = len(help.EXERCISES[NAME].hints)
    for number in range(1, total + 1):
        assert said(NAME).startswith(f"{NAME}, hint {number} of {total}: ")
    assert f'solution("{NAME}")' in said(NAME)
    assert f"hint 1 of {total}" in said(NAME, 1)
    assert f"has hints 1 to {total}" in said(NAME, 9)
    declare("def bare(x): ...", lambda generator: (1,), lambda x: x)
    assert "bare has no hints." in said("bare", 1)


def test_a_solution_can_be_asked_for_by_name_or_by_the_function_itself(capsys):
    solution(NAME)
    text = capsys.readouterr().out
    assert f"def {NAME}(" in text
    solution(attention.scaled_dot_product_attention)
    assert capsys.readouterr().out == text


@pytest.mark.parametrize("ask", [hint, solution])
def test_a_name_of_no_exercise_gets_a_sentence(ask, capsys):
    ask("nobody")
    assert "There is no exercise called nobody." in capsys.readouterr().out
