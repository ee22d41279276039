"""One set of draws: the inputs, the expected results, and the results of every known mistake."""

import copy
import inspect
import time
from collections.abc import Callable
from functools import cache, wraps
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn

from transformer_lessons.exercises.checker.comparison import Difference, alike, difference, unchanged
from transformer_lessons.exercises.checker.edits import WrongAnswer
from transformer_lessons.exercises.checker.exercise import Case, Exercise
from transformer_lessons.exercises.checker.weights import fill, of_the_contract
from transformer_lessons.running import emptiness, sandbox
from transformer_lessons.running.sandbox import Outcome
from transformer_lessons.running.values import clone, family, freeze, is_array


class Draws:
    """One set of draws: inputs, expected results, and what every known mistake gives, each computed once."""

    def __init__(self, exercise: Exercise, seed: int = 0, dtype: torch.dtype = torch.float64) -> None:
        self.exercise, self.seed, self.dtype = exercise, seed, dtype
        self.cases = exercise.cases(seed)
        self.expected = [observe(exercise, exercise.reference, case, dtype).value for case in self.cases]
        self.outcomes: dict = {}  # variant and number of a case → its outcome, once needed
        self.filled: dict = {}  # number of a case → the right answer's module, built and filled, once needed

    def outcome(self, variant: WrongAnswer, number: int) -> Outcome:
        """The outcome of a known wrong answer on one case."""
        if (variant, number) not in self.outcomes:
            case = self.cases[number]
            answer = self.ready(variant.answer, number, variant.keeps_layers)
            self.outcomes[variant, number] = observe(self.exercise, answer, case, self.dtype)
        return self.outcomes[variant, number]

    def ready(self, answer: Callable, number: int, same_layers: bool) -> Callable:
        """An answer, ready to be called; if it has the right answer's layers, they are built and filled once."""
        if not self.exercise.is_module or not same_layers:
            return answer
        if number not in self.filled:
            case, right = self.cases[number], self.exercise.right.answer
            self.filled[number] = make(self.exercise, right, case, self.dtype, inputs_for(self, case))
        module = copy.copy(self.filled[number])
        for table in ("_parameters", "_buffers", "_modules"):  # layers made in forward are the copy's own
            vars(module)[table] = dict(vars(module)[table])
        module.__class__ = answer
        return module


def once_for_draws(function: Callable) -> Callable:
    """Makes a function of draws, and of more, compute each result once; it is forgotten with the draws."""
    results: WeakKeyDictionary = WeakKeyDictionary()

    @wraps(function)
    def known(draws, *inputs):
        of_these = results.setdefault(draws, {})
        if inputs not in of_these:
            of_these[inputs] = function(draws, *inputs)
        return of_these[inputs]

    return known


@cache
def first_draws(exercise: Exercise) -> Draws:
    """The draws that every check of an exercise uses, kept so that a second attempt is fast."""
    return Draws(exercise)


def observe(
    exercise: Exercise, answer: Callable, case: Case, dtype: torch.dtype, run: Callable = sandbox.attempt
) -> Outcome:
    """The outcome of one call of an answer, on fresh copies of the inputs."""
    seen: dict[str, Any] = {}

    def call():
        inputs = [cast(clone(value), dtype) for value in case.inputs]
        before = case.inputs if dtype == torch.float64 else [cast(clone(value), dtype) for value in case.inputs]
        target = seen["target"] = make(exercise, answer, case, dtype, inputs)
        value = exercise.setup.observe(target, *inputs) if exercise.setup.observe else target(*inputs)
        if inspect.iscoroutine(value):
            value.close()
        seen["changed"] = tuple(
            name for name, old, new in zip(exercise.inputs, before, inputs, strict=False) if not unchanged(old, new)
        )
        return freeze(value)

    outcome = run(call)
    outcome.changed_inputs = seen.get("changed", ())
    target = seen.get("target", answer)
    body = type(target).forward if isinstance(target, nn.Module) else target
    if ((outcome.ok and outcome.value is None) or outcome.kind == "raised") and emptiness.is_empty(body):
        outcome.kind = "empty"
    return outcome


def cast(value: object, dtype: torch.dtype) -> object:
    """Float inputs in the dtype of the draws."""
    if isinstance(value, torch.Tensor) and value.dtype == torch.float64:
        return value.to(dtype)
    if isinstance(value, nn.Module) and dtype != torch.float64:  # the dtype in which cases draw models
        return value.to(dtype)
    return value


def inputs_for(draws: Draws, case: Case) -> list:
    """Fresh copies of the inputs, in the dtype of the draws."""
    return [cast(clone(value), draws.dtype) for value in case.inputs]


def make(exercise: Exercise, answer: Callable, case: Case, dtype: torch.dtype, inputs: list) -> Any:
    """A function or a finished module unchanged; a class is built, filled by name and put into eval mode."""
    if not exercise.is_module or isinstance(answer, nn.Module):
        return answer
    module = answer(*case.build)
    if isinstance(module, nn.Module):
        module.to(dtype).eval()
        if any(isinstance(weight, nn.parameter.UninitializedParameter) for weight in module.parameters()):
            module(*inputs)
        fill(module, case.seed, of_the_contract(exercise.reference, case.build))
    return module


def observe_all(draws: Draws, answer: Callable, run: Callable, seconds: float) -> tuple[Draws, list[Outcome]]:
    """The outcomes on every case; in float32 if the answer fails in float64, which no contract asks for."""

    def go(draws):
        outcomes = []
        start = time.monotonic()
        for case in draws.cases:
            outcomes.append(observe(draws.exercise, answer, case, draws.dtype, run))
            start += outcomes[-1].uncounted
            if time.monotonic() - start > seconds:
                outcomes[-1] = Outcome("endless", stuck=outcomes[-1].stuck)
            if outcomes[-1].kind == "endless":
                break
        return outcomes

    outcomes = go(draws)
    words = ("dtype", "Double", "double", "Float", "float64")
    if any(outcome.kind == "raised" and any(word in outcome.error for word in words) for outcome in outcomes):
        single = Draws(draws.exercise, draws.seed, torch.float32)
        again = go(single)
        if sum(outcome.ok for outcome in again) > sum(outcome.ok for outcome in outcomes):
            return single, again
    return draws, outcomes


def compare(exercise: Exercise, value: object, expected: object) -> Difference | None:
    """How a value differs from what is expected, or None."""
    setup = exercise.setup
    if setup.same is not None:
        if setup.same(value, expected):
            return None
        shown = difference(value, expected, setup.returns, setup.shapes, 0.0, False)
        return shown or Difference("numbers", "The result is not the expected one.")
    return difference(value, expected, setup.returns, setup.shapes, setup.tolerance, setup.exact_zeros)


def same(exercise: Exercise, value: object, other: object) -> bool:
    """Do two values count as the same result?"""
    setup = exercise.setup
    if setup.same is not None:
        return bool(setup.same(value, other))
    return alike(value, other, setup.tolerance, setup.exact_zeros)


def shown_inputs(exercise: Exercise, case: Case) -> str:
    """The inputs in one line: numbers, a few ids and short texts as they are, arrays as their shapes."""
    parts = []
    for name, value in zip(exercise.inputs, case.inputs, strict=False):
        if is_array(value) and value.ndim == 1 and len(value) <= 8 and family(value) == "int":
            parts.append(f"{name}={value.tolist()}")
        elif is_array(value):
            parts.append(f"{name} of shape {tuple(value.shape)}")
        elif isinstance(value, (int, float, str, bool, type(None))):
            text = repr(value)
            parts.append(f"{name}={text if len(text) <= 40 else text[:39] + '…'}")
        elif isinstance(value, (list, tuple, dict)):
            arrays = any(map(is_array, value.values() if isinstance(value, dict) else value))  # slow to print
            text = "" if arrays else str(value)
            parts.append(f"{name}={text}" if 0 < len(text) <= 40 else f"{name} of length {len(value)}")
    built = ", ".join(map(str, case.build))
    return (f"{exercise.name}({built}) and " if built else "") + ", ".join(parts)
