"""What an exercise knows from its stub."""

import torch

from transformer_lessons.exercises.checker.draws import shown_inputs


def test_the_inputs_are_those_of_the_last_definition_in_a_stub(declare):
    stub = "import math\n\n\ndef g(): ...\n\n\ndef f(x, y=math.pi): ..."
    exercise = declare(stub, lambda generator: (1.0,), lambda x, y=1.0: x)
    assert (exercise.inputs, exercise.required) == (["x", "y"], 1)


def test_inputs_are_shown_in_one_line(declare):
    exercise = declare(
        "def all(ids, text, table, words, flag): ...",
        lambda generator: (torch.arange(8), "x" * 60, torch.zeros(2, 3), ["a"] * 30, None),
        lambda *inputs: torch.zeros(2),
    )
    assert shown_inputs(exercise, exercise.cases(0)[0]) == (
        f"ids=[0, 1, 2, 3, 4, 5, 6, 7], text='{'x' * 38}…, table of shape (2, 3), words of length 30, flag=None"
    )
    longer = declare(
        "def more(ids, text, words): ...",
        lambda generator: (torch.arange(9), "x" * 38, ["a", "b"]),
        lambda *inputs: torch.zeros(2),
    )
    assert shown_inputs(longer, longer.cases(0)[0]) == f"ids of shape (9,), text='{'x' * 38}', words=['a', 'b']"
