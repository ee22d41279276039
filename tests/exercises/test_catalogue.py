"""The catalogue, proven: every mistake is named by its own name, and every right answer passes.

One test for each exercise lists all of its failures. A learner only ever meets draw 0; every push proves that one
and four more, always the same. `pytest tests/exercises --exhaustive` proves fifty that nobody has seen.
"""

import random
import re
from itertools import chain, islice

import numpy as np
import pytest
import torch
from drawn import draws
from torch import nn

from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.draws import Draws, observe, same
from transformer_lessons.exercises.checker.exercise import CATALOGUE
from transformer_lessons.exercises.checker.registry import EXERCISES, file_of
from transformer_lessons.exercises.checker.verdict import judge, judge_outcomes
from transformer_lessons.running.global_state import standard_state
from transformer_lessons.running.sandbox import attempt

ALWAYS = range(5)


@pytest.fixture(params=EXERCISES, scope="module")  # all tests of an exercise run in a row, and share its draws
def exercise(request):
    return EXERCISES[request.param]


@pytest.fixture(params=[name for name in EXERCISES if name[0].isupper()])  # a class
def module(request):
    return EXERCISES[request.param]


@pytest.fixture
def seeds(exercise, request):
    """Of the draws; a single one where nothing is drawn, since all would be the same."""
    first, second = exercise.cases(0), exercise.cases(1)
    if not exercise.is_module and all(
        alike(one.inputs, other.inputs, 0) for one, other in zip(first, second, strict=True)
    ):
        return [0]
    base = request.config.getoption("exhaustive")
    return random.Random(base).sample(range(5, 10**6), 50) if base else ALWAYS


def report(exercise, variant, seed):
    """The verdict on a declared variant, by what it gives on this draw."""
    drawn = draws(exercise.name, seed)
    outcomes = [drawn.outcome(variant, number) for number in range(len(drawn.cases))]
    return judge_outcomes(drawn, variant.answer, outcomes, attempt)


def test_every_mistake_is_named_by_its_own_name(exercise, seeds):
    failures = []
    with standard_state():
        for seed in seeds:
            for (mistake,), variant in exercise.singles:
                found = report(exercise, variant, seed)
                if (found.status, found.mistake) != ("failed", mistake.name):
                    number = mistake.variants.index(variant)
                    failures.append(f"draw {seed}: {mistake.name}, variant {number}: {found.status}, {found.mistake}")
    assert not failures, "\n".join(failures)


def test_every_variant_on_the_page_itself_runs_on_some_inputs(exercise):
    """One that reads a name before it is set recognises nobody. (Of a family, some fit few exercises.)"""
    drawn, page = draws(exercise.name, 0), (CATALOGUE / f"{file_of(exercise.name)}.md").read_text(encoding="utf-8")
    with standard_state():
        dead = [
            f"{mistake.name}, variant {mistake.variants.index(variant)}"
            for (mistake,), variant in exercise.singles
            if variant.text.strip() in page
            and all(
                "NameError" in str(outcome.error) or "UnboundLocalError" in str(outcome.error)
                for outcome in (drawn.outcome(variant, number) for number in range(len(drawn.cases)))
            )
        ]
    assert not dead


def test_every_right_answer_passes(exercise, seeds):
    with standard_state():
        found = {
            (seed, style): judge(exercise, answer.answer, draws(exercise.name, seed), run=attempt).message.split("\n")[
                0
            ]
            for seed in seeds
            for style, answer in exercise.answers.items()
        }
    failures = [
        f"draw {seed}: {style}: {line}" for (seed, style), line in found.items() if line != f"✓ {exercise.name}"
    ]
    assert not failures, "\n".join(failures)


def test_a_variant_gives_the_same_with_layers_of_its_own(module):
    shared, failures = draws(module.name, 0), []
    with standard_state():
        for variant in [module.right, *(variant for _, variant in module.singles)]:
            for number, case in enumerate(shared.cases):
                own = observe(module, variant.answer, case, shared.dtype)
                known = shared.outcome(variant, number)
                if (own.kind, own.error, own.changed_inputs) != (known.kind, known.error, known.changed_inputs) or (
                    own.kind != "raised" and not same(module, own.value, known.value)
                ):
                    failures.append(f"{variant} on case {number}")
    assert not failures, "\n".join(failures)


def test_two_draws_share_nothing(module):
    """The weights of one draw must not be those of another, in whatever order they are used."""
    with standard_state():
        running = (variant for _, variant in module.singles if draws(module.name, 0).outcome(variant, 0).ok)
        variants = list(islice(running, 3))
        alone = [[Draws(module, seed).outcome(variant, 0) for seed in (0, 1)] for variant in variants]
        both = [Draws(module, seed) for seed in (0, 1)]
        in_turns = [[drawn.outcome(variant, 0) for drawn in both] for variant in variants]
    for one, other in zip(chain(*alone), chain(*in_turns), strict=True):
        assert one.ok
        assert same(module, one.value, other.value)


def test_an_exercise_is_complete(exercise):
    assert len(exercise.mistakes) >= 8, "at least eight mistakes"
    assert len(exercise.answers) >= 3, "at least three right answers in different styles"
    assert 1 <= len(exercise.hints) <= 3
    assert exercise.is_module == exercise.name[0].isupper()
    assert all(level in (1, 2, 3) for level in (exercise.difficulty, exercise.importance))


def test_a_solution_runs_on_its_own_and_passes(exercise):
    namespace = {}
    exec(exercise.solution_text(), namespace)  # as a learner would
    assert check(exercise.name, namespace[exercise.name]).status == "passed"


def test_a_stub_is_not_attempted(exercise):
    namespace = {}
    exec("from torch import nn\n" + exercise.stub, namespace)
    assert check(exercise.name, namespace[exercise.name]).status == "not attempted"


def test_every_verdict_on_a_mistake_is_short_and_plain(exercise):
    with standard_state():
        for mistake in exercise.mistakes.values():
            message = report(exercise, mistake.variants[0], 0).message
            assert len(message.splitlines()) <= 12
            assert message.startswith(f"✗ {exercise.name}: ")
            assert not re.search("0x[0-9a-f]{7}", message)  # an address
            assert "-0.00 " not in message


RESULTS = [
    0,
    0.0,
    -1.5,
    16**4990,
    -(2**64),
    float("nan"),
    True,
    "text",
    b"bytes",
    [],
    [1],
    ["a", 3],
    [[1.0]],
    (),
    (1, 2),
    ["a"],
    ["word", " "],
    [b"a", b"b"],
    ((2, 3), (2, 3)),
    [(b"a", b"b")],
    {(b"a", b"b"): 1},
    (None, None),
    {},
    {"a": 1},
    {1, 2},
    object,
    np.zeros(0),
    np.zeros((2, 3)),
    np.array("text"),
    np.float64(2),
    np.complex128(1 + 1j),
    torch.zeros(0),
    torch.tensor(1.0),
    torch.full((2, 3), torch.nan),
    torch.zeros(2, 3, 4, dtype=torch.bool),
    torch.zeros(3, dtype=torch.int64),
    torch.zeros(2, 2, dtype=torch.complex64),
    (torch.zeros(2, 3), torch.zeros(2, 3)),
    torch.zeros(2, 3, device="meta"),
    torch.eye(2).to_sparse(),
    iter("ab"),
    range(3),
    Ellipsis,
    lambda: None,
]


def test_no_result_makes_the_check_itself_fail(exercise):
    """Not even one of the wrong kind: nothing in the catalogue may raise because of it, and nothing hides it."""
    drawn = draws(exercise.name, 0)
    changed = [
        lambda right: right * 1.01 + 0.1,
        lambda right: -right,
        lambda right: right[:1],
        lambda right: right.T,
        lambda right: torch.as_tensor(right).to_sparse(),
    ]
    with standard_state():
        for result in RESULTS:
            answer = giving(exercise, lambda number, result=result: result)
            assert judge(exercise, answer, drawn, run=attempt).status in ("failed", "not attempted"), result
        for change in changed if all(isinstance(one, (torch.Tensor, np.ndarray)) for one in drawn.expected) else []:
            judge(
                exercise,
                giving(exercise, lambda number, change=change: change(drawn.expected[number])),
                drawn,
                run=attempt,
            )


def giving(exercise, result):
    """An answer that gives the result of each call by its number, whatever it is called with."""
    calls = iter(range(10**6))
    count = len(exercise.setup.sizes)

    def answer(*inputs):
        return result(next(calls) % count)

    if not exercise.is_module:
        return answer

    class Answer(nn.Module):
        def __init__(self, *sizes):
            super().__init__()
            for name, layer in exercise.reference(*sizes).named_children():
                setattr(self, name, layer)

        def forward(self, *inputs):
            return answer(*inputs)

    return Answer
