"""Finds the first wrong step of an answer that makes no known mistake, and names it only where it is certain.

An answer may compute in any order and by any means, so right numbers somewhere in it prove little. A step is certainly
wrong when the fault is a single result of a single operation: that result is made from exactly what the right step is
made from, the steps before it are right, and with the right tensor in its place the whole result comes out right.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from transformer_lessons.basis.words import joined
from transformer_lessons.exercises.checker.agreement import Seen
from transformer_lessons.exercises.checker.comparison import alike, close
from transformer_lessons.exercises.checker.draws import Draws, compare, inputs_for, make, once_for_draws
from transformer_lessons.exercises.checker.edits import RETURN, RightAnswer, WrongAnswer, recording
from transformer_lessons.exercises.checker.exercise import Candidate
from transformer_lessons.running.sandbox import Outcome, attempt
from transformer_lessons.running.values import capital, family, freeze, is_array, numbers

MOST_CALLS = 1000
MOST_IN_PARTS = 5
MOST_CHANGES = 110  # so that a check stays under a second


def sentence_on_steps(seen: Seen) -> str:
    """What is certain, on every case that fails: which layers are never used, and which step is the first wrong one."""
    exercise, draws, answer = seen.exercise, seen.draws, seen.answer
    if not exercise.setup.names_steps or exercise.setup.observe:
        return ""
    if any(outcome.kind == "raised" for outcome in seen.outcomes):  # where it raises, an earlier step may be wrong
        return ""
    unused_layers, steps = [], []
    for number in seen.wrong:
        outcome = seen.run(lambda number=number: certain(draws, answer, number))
        layers, step = outcome.value if outcome.ok else ((), None)
        if not layers and not step:
            return ""
        unused_layers.append(layers)
        steps.append(step)
    if not steps:
        return ""
    unused = [layer for layer in unused_layers[0] if all(layer in layers for layers in unused_layers)]
    for number in (number for number, difference in enumerate(seen.differences) if unused and not difference):
        outcome = seen.run(lambda number=number: layers_unused(draws, answer, number))  # they may be used elsewhere
        unused = [layer for layer in unused if outcome.ok and layer in outcome.value]
    sentences = []
    if unused:
        names = capital(joined([f"`{layer}`" for layer in unused]))
        sentences.append(f"{names} {'is' if len(unused) == 1 else 'are'} never used.")
    if steps[0] and len(set(steps)) == 1:
        before, name = steps[0]
        sentences.append(
            f"Everything is right up to `{before}`; the first wrong step is `{name}`."
            if before
            else f"The very first step, `{name}`, is already wrong."
        )
    return " ".join(sentences)


def certain(draws: Draws, answer: Callable, number: int) -> tuple[list[str], tuple[str | None, str] | None]:
    """(the layers that are never used, the first wrong step), on one case.

    The step is given as (the one before, its name), or as None where it is not certain.
    """
    right = RightSteps.of(draws, number)
    target, trace, unused = traced(draws, answer, number)
    if right.names and any(layer in unused for layer in right.first_layers):
        return unused, (None, right.names[0])
    return unused, first_wrong_step(draws, number, target, trace, right) if trace.is_complete() else None


def layers_unused(draws: Draws, answer: Any, number: int) -> list:
    return traced(draws, answer, number)[2]


def traced(draws: Draws, answer: Any, number: int) -> tuple:
    """(what was called, the trace of the call, the layers that it never used), on one case."""
    case = draws.cases[number]
    inputs = inputs_for(draws, case)
    target, trace = make(draws.exercise, answer, case, draws.dtype, inputs), Trace()
    with trace:
        result = target(*inputs)
    return target, trace, never_used(target, trace, inputs, freeze(result)) if draws.exercise.is_module else []


def first_wrong_step(
    draws: Draws, number: int, target: Any, trace: "Trace", right: "RightSteps"
) -> tuple[str | None, str] | None:
    """(the step before, the first wrong step), or None where it is not certain."""
    computed = [tensor for call in trace.calls for tensor in call.results]
    absent = [[tensor for tensor in results if not right.among(tensor, computed)] for results in right.results]
    step = next((n for n, tensors in enumerate(absent) if tensors), None)
    if step is None or not all(right.makes_new[:step]):  # a step that only passes on a tensor proves nothing
        return None
    missing = absent[step][0]
    wanted = right.trace.sources(missing, lambda tensor: right.known(tensor, step))
    for call in trace.calls:
        wrong = call.results[0] if len(call.results) == 1 else None
        if wrong is None or wrong.shape != missing.shape or wrong.dtype != missing.dtype:
            continue
        passed = []
        sources = trace.sources(wrong, lambda tensor: right.known(tensor, step), passed)
        if sources == wanted and comes_out_right(draws, number, target, call, missing):
            sure = not might_belong_to_an_earlier_step(right, sources, passed, call, missing)
            return (right.names[step - 1] if step else None, right.names[step]) if sure else None
    return None


def might_belong_to_an_earlier_step(
    right: "RightSteps", sources: Any, passed: list, call: "Call", wanted: torch.Tensor
) -> bool:
    """Is anything on the way shaped like an earlier step's result that it is made from? It may be that one, altered."""
    shapes = {right.table[source].shape for source in sources if source in right.of_steps}
    unknown = [tensor for tensor in passed if tensor is not call.results[0] and right.known(tensor) is None]
    if any(tensor.shape in shapes for tensor in unknown):
        return True
    return wanted.shape in shapes and call.name != right.trace.maker[id(wanted)].name


def comes_out_right(draws: Draws, number: int, target: Any, call: "Call", tensor: torch.Tensor) -> bool:
    """Is the whole result right when this tensor replaces what one call makes?"""
    inputs = inputs_for(draws, draws.cases[number])
    try:
        with Put(call.number, tensor):
            value = target(*inputs)
    except (RuntimeError, ValueError, TypeError, IndexError):
        return False
    return compare(draws.exercise, freeze(value), draws.expected[number]) is None


def never_used(module: nn.Module, trace: "Trace", inputs: list, result: Any) -> list:
    """The layers that no operation has seen, and whose weights do not affect the result."""
    layers = [(name, list(layer.parameters())) for name, layer in module.named_children()]
    unused = [(name, weights) for name, weights in layers if weights and trace.seen.keys().isdisjoint(map(id, weights))]
    with torch.no_grad():
        for _, weights in unused:
            for weight in weights:
                weight.mul_(-3.0).add_(1.0)
    if unused and not alike(freeze(module(*inputs)), result, 0):
        return []
    return [name for name, _ in unused]


# Which mistakes show in what an answer computes on the way?


def mistakes_on_the_way(
    draws: Draws, answer: Callable, outcome: Outcome, number: int, run: Callable
) -> list[Candidate]:
    """The mistakes, as singles, whose first wrong result is among the numbers that the answer computes.

    If another mistake comes after one, only the end of the answer no longer shows it. Mistakes that show in the most
    steps come first. Where there are very many variants, the first ones of the mistakes are tried, and the others of
    those that show.
    """
    traced = run(lambda: made_on_the_way(draws, answer, number))
    computed = [*arrays_in(outcome.value), *(traced.value if traced.ok else ())]

    def shown(singles):
        for single in singles:
            changes = changed(draws, number, single[1])
            held = [holds(computed, array, draws.exercise.setup.tolerance) for array in changes]
            if held and held[0]:
                yield single, sum(held)

    singles = sorted(draws.exercise.singles, key=lambda single: single[0][0].variants.index(single[1]) > 0)
    counted = list(shown(singles[:MOST_CHANGES]))
    mistakes = [single[0] for single, _ in counted]
    counted += shown([single for single in singles[MOST_CHANGES:] if single[0] in mistakes])
    return [single for single, _ in sorted(counted, key=lambda count: -count[1])]


def mistakes_in_parts(draws: Draws, value: object, number: int) -> list[Candidate]:
    """The mistakes, as singles, that explain wrong parts of this result: losses, say, if another has moved the weights.

    Only those that explain the most: each of them is tried with every other mistake, and that takes time.
    """

    def given(single):
        theirs = draws.outcome(single[1], number)
        parts = zip(parts_of(value), parts_of(theirs.value), parts_of(draws.expected[number]), strict=False)
        tolerance = draws.exercise.setup.tolerance
        return theirs.ok and sum(
            alike(ours, wrong, tolerance) and not alike(ours, right, tolerance) for ours, wrong, right in parts
        )

    shown = [(given(single), single) for single in draws.exercise.singles if single[1].names]
    return [single for count, single in sorted(shown, key=lambda count: -count[0]) if count][:MOST_IN_PARTS]


def parts_of(value: Any) -> list:
    """What nested lists and tuples hold, tables row by row."""
    if is_array(value) and value.ndim > 1:
        return list(value)
    return [part for one in value for part in parts_of(one)] if isinstance(value, (list, tuple)) else [value]


def holds(arrays: list, wanted: np.ndarray, tolerance: float) -> bool:
    return any(one.shape == wanted.shape and close(one, wanted, tolerance) for one in arrays)


def made_on_the_way(draws: Draws, answer: Any, number: int) -> list:
    """Every tensor that an answer makes on its way, as an array, on one case."""
    case = draws.cases[number]
    inputs, trace = inputs_for(draws, case), Trace()
    target = make(draws.exercise, answer, case, draws.dtype, inputs)
    with trace:
        target(*inputs)
    return [numbers(freeze(tensor)) for call in trace.calls for tensor in call.results]


@once_for_draws
def usual(draws: Draws, number: int) -> tuple[dict, list]:
    """(name → arrays, all arrays): what the right answer computes, on one case, by its names and on its way."""
    exercise, inputs = draws.exercise, inputs_for(draws, draws.cases[number])
    named = {name: arrays_in(value) for name, value in recorded_on(draws, exercise.right, number, True)}
    return named, [*arrays_in(inputs), *made_on_the_way(draws, exercise.reference, number)]


@once_for_draws
def changed(draws: Draws, number: int, variant: WrongAnswer) -> list:
    """What the lines of a mistake compute, on one case, that the right answer does not; nothing if it shows no mistake.

    A result that the right answer also makes on its way shows none.
    """
    named, all_arrays = usual(draws, number)
    arrays = attempt(lambda: changed_by(draws, variant, number, named)).value if variant.names else None
    return arrays if arrays and not holds(all_arrays, arrays[0], draws.exercise.setup.tolerance) else []


def changed_by(draws: Draws, variant: WrongAnswer, number: int, right: dict) -> list:
    """What the lines of a mistake compute that the right lines do not."""
    tolerance = draws.exercise.setup.tolerance
    return [
        array
        for name, value in recorded_on(draws, variant, number, variant.keeps_layers, variant.names)
        for array in arrays_in(value)
        if array.size > 1 and not holds(right.get(name, []), array, tolerance)
    ]


def recorded_on(
    draws: Draws, answer: RightAnswer | WrongAnswer, number: int, same_layers: bool, names: frozenset | None = None
) -> list:
    """[(name, value)], on one case: what the lines of an answer set, all of them or those for these names."""
    record: list = []
    made_ready(draws, recording(answer, record), number, same_layers)(*inputs_for(draws, draws.cases[number]))
    return [(name, freeze(value)) for name, value in record if names is None or name in names]


def made_ready(draws: Draws, answer: Any, number: int, same_layers: bool) -> Callable:
    """An answer, ready to be called on one case, whether or not it has the right answer's layers."""
    case = draws.cases[number]
    return make(draws.exercise, draws.ready(answer, number, same_layers), case, draws.dtype, inputs_for(draws, case))


def arrays_in(value: Any) -> list:
    """The arrays of floats in nested lists, tuples and dictionaries, as NumPy arrays."""
    if is_array(value):
        return [numbers(value)] if family(value) == "float" else []
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    return [array for one in items for array in arrays_in(one)]


# What an answer computes


@dataclass
class Call:
    """One call to PyTorch: its number, its name, and the tensors that go in and come out."""

    number: int
    name: str
    given: list
    results: list


class Trace(TorchFunctionMode):
    """While it is active, records each call to PyTorch in this thread."""

    HARMLESS = ("get", "size", "dim", "len", "numel", "is_floating_point", "ndimension")  # these read no numbers

    def __init__(self) -> None:
        super().__init__()
        self.calls, self.count, self.leaks = [], 0, False
        self.maker = {}  # id of a tensor → the call that made it
        self.seen = {}  # id of a tensor → the tensor, and how often it had been overwritten

    def __torch_function__(self, function, types, inputs=(), options=None):
        given = tensors_in((inputs, options or {}))
        result = function(*inputs, **(options or {}))
        self.count += 1
        results = [tensor for tensor in tensors_in(result) if all(tensor is not one for one in given)]
        name = getattr(function, "__name__", "").strip("_").replace("truediv", "div")
        if self.count > MOST_CALLS or (given and not tensors_in(result) and name not in self.HARMLESS):
            self.leaks = True  # numbers leave PyTorch, and may come back another way
        call = Call(self.count, name, given, results)
        self.calls.append(call)
        for tensor in [*given, *results]:
            self.seen.setdefault(id(tensor), (tensor, tensor._version))
        for tensor in results:
            self.maker[id(tensor)] = call
        return result

    def is_complete(self) -> bool:
        """Does each tensor still hold its original numbers, and has nothing bypassed PyTorch?"""
        return not self.leaks and all(one._version == version for one, version in self.seen.values())

    def sources(self, tensor: torch.Tensor, known: Callable, passed: list | None = None) -> set | None:
        """The numbers of the known tensors that a tensor is made from; None if an unknown one goes in.

        Tensors on the way are added to `passed`.
        """
        found: set = set()
        met: set = set()  # many ways may lead to one tensor
        waiting = [tensor]
        while waiting:
            one = waiting.pop()
            if id(one) in met:
                continue
            met.add(id(one))
            number = known(one)
            if number is not None:
                found.add(number)
                continue
            call = self.maker.get(id(one))
            if call is None:
                return None
            if passed is not None:
                passed.append(one)
            waiting += call.given
        return found


class Put(TorchFunctionMode):
    """While it is active, another tensor replaces the result of the call with this number."""

    def __init__(self, number: int, tensor: torch.Tensor) -> None:
        super().__init__()
        self.count, self.number, self.tensor = 0, number, tensor

    def __torch_function__(self, function, types, inputs=(), options=None):
        self.count += 1
        result = function(*inputs, **(options or {}))
        return self.tensor.clone() if self.count == self.number else result


def tensors_in(value: object) -> list[torch.Tensor]:
    """The tensors in nested lists, tuples and dictionaries, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else ()
    return [tensor for one in items for tensor in tensors_in(one)]


# What the right answer computes


class RightSteps:
    """The steps of the right answer on one case, and all tensors in it that are known: each has a number."""

    @staticmethod
    @once_for_draws
    def of(draws: Draws, number: int) -> "RightSteps":
        """These steps, computed once."""
        return RightSteps(draws, number)

    def __init__(self, draws: Draws, number: int) -> None:
        exercise, case = draws.exercise, draws.cases[number]
        self.trace, self.tolerance = Trace(), exercise.setup.tolerance
        record: list = []
        inputs = inputs_for(draws, case)
        target = make(exercise, recording(exercise.right, record), case, draws.dtype, inputs)
        with self.trace:
            target(*inputs)
        self.names = [name for name, _ in record if name != RETURN]
        self.results = [tensors_in(value) for name, value in record if name != RETURN]
        self.table, self.since = [], []  # the known tensors, and the step from which each is known
        for tensor in tensors_in(inputs_for(draws, case)):
            self.add(tensor, 0)
        weights = dict(target.named_parameters()) if isinstance(target, nn.Module) else {}
        for weight in weights.values():
            self.add(weight.detach(), 0)
        self.of_steps = set()  # the numbers of those that a step gives
        self.makes_new = []  # does a step give tensors, all of them new?
        for n, results in enumerate(self.results):
            self.makes_new.append(bool(results) and all(self.known(tensor) is None for tensor in results))
            self.of_steps |= {self.add(tensor, n + 1) for tensor in results}
        for call in self.trace.calls:
            for tensor in call.results:
                self.add(tensor, len(self.names) + 1)
        first = self.results[0][0] if any(self.results[:1]) else None
        needed = (first is not None and self.trace.sources(first, lambda tensor: self.known(tensor, 0))) or ()
        self.first_layers = {name.split(".")[0] for name, weight in weights.items() if self.known(weight, 0) in needed}

    def add(self, tensor, since):
        number = self.known(tensor)
        if number is None:
            number = len(self.table)
            self.table.append(tensor.detach())
            self.since.append(since)
        return number

    def known(self, tensor: torch.Tensor, step: int | None = None) -> int | None:
        """The number of this tensor among all, or among those that are known before a step."""
        for number, (one, since) in enumerate(zip(self.table, self.since, strict=True)):
            if (step is None or since <= step) and self.equal(tensor, one):
                return number
        return None

    def among(self, tensor: torch.Tensor, others: list) -> bool:
        """Is it an input, or one of the others?"""
        return self.known(tensor, 0) is not None or any(self.equal(one, tensor) for one in others)

    def equal(self, one, other):
        """The same shape, and the same numbers in the same places."""
        return one is other or (
            one.shape == other.shape and family(one) == family(other) and close(one, other, self.tolerance)
        )
