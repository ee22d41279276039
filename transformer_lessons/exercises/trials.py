"""One set of draws, and what an answer, the reference and every known mistake make of them."""

import copy
import inspect
import time
from dataclasses import dataclass

import torch
from torch import nn

from transformer_lessons.exercises import running
from transformer_lessons.exercises.comparing import (
    alike,
    clone,
    difference,
    family,
    freeze,
    is_array,
    unchanged,
)
from transformer_lessons.exercises.exercise import fill, implementation

PATIENCE = 8.0  # seconds for all the calls of one check


@dataclass
class Finding:
    """What a verdict says below its first line."""

    headline: str
    mistake: str | None = None
    why: str = ""
    evidence: tuple = ()
    look: str = ""
    hint: int | None = None  # the one to ask for; by default the next


class Trial:
    """One set of draws, and what the reference and every known mistake make of them."""

    def __init__(self, exercise, seed=0, dtype=torch.float64):
        self.exercise, self.seed, self.dtype = exercise, seed, dtype
        self.cases = exercise.cases(seed)
        self.expected = [observe(exercise, exercise.reference, case, dtype).value for case in self.cases]
        self.known, self.filled = {}, {}

    def outcome(self, way, number):
        """What a declared way gives on one case, computed once."""
        if (way, number) not in self.known:
            case = self.cases[number]
            self.known[way, number] = observe(self.exercise, self.ready(way, number), case, self.dtype)
        return self.known[way, number]

    def ready(self, way, number):
        """The way, ready for observe; with the right way's layers, built and filled once, if it has those."""
        right = self.exercise.steps if self.exercise.is_module else None
        stepped = right is not None and isinstance(way, type) and issubclass(way, right)
        if not stepped or way.__init__ is not right.__init__:
            return implementation(way)
        if number not in self.filled:
            case = self.cases[number]
            self.filled[number] = make(self.exercise, right, case, self.dtype, inputs_for(self, case))
        module = copy.copy(self.filled[number])
        for table in ("_parameters", "_buffers", "_modules"):  # layers made in forward are the copy's own
            vars(module)[table] = dict(vars(module)[table])
        module.__class__ = way
        return module

    def fault(self, way, find):
        if (way, "fault") not in self.known:
            self.known[way, "fault"] = find(self, implementation(way), running.attempt)
        return self.known[way, "fault"]


def observe(exercise, answer, case, dtype, run=running.attempt):
    """The outcome of one call of an answer, on fresh copies of the inputs."""
    seen = {}

    def call():
        inputs = [cast(clone(value), dtype) for value in case.inputs]
        before = case.inputs if dtype == torch.float64 else [cast(clone(one), dtype) for one in case.inputs]
        target = seen["target"] = make(exercise, answer, case, dtype, inputs)
        value = exercise.observe(target, *inputs) if exercise.observe else target(*inputs)
        if inspect.iscoroutine(value):
            value.close()
        seen["touched"] = tuple(name for name, old, new in zip(exercise.inputs, before, inputs, strict=False)
                                if not unchanged(old, new))
        return freeze(value)

    outcome = run(call)
    outcome.touched = seen.get("touched", ())
    target = seen.get("target", answer)
    body = type(target).forward if isinstance(target, nn.Module) else target
    if ((outcome.ok and outcome.value is None) or outcome.kind == "raised") and running.is_empty(body):
        outcome.kind = "empty"
    return outcome


def cast(value, dtype):
    """Float inputs in the dtype of the trial."""
    if isinstance(value, torch.Tensor) and value.dtype == torch.float64:
        return value.to(dtype)
    if isinstance(value, nn.Module):
        return value.to(dtype)
    return value


def inputs_for(trial, case):
    return [cast(clone(value), trial.dtype) for value in case.inputs]


def make(exercise, answer, case, dtype, inputs):
    """A function, or a module that is ready, as it is; else built, filled by name, in eval mode."""
    if not exercise.is_module or isinstance(answer, nn.Module):
        return answer
    module = answer(*case.build)
    if isinstance(module, nn.Module):
        module.to(dtype).eval()
        if any(isinstance(one, nn.parameter.UninitializedParameter) for one in module.parameters()):
            module(*inputs)
        fill(module, case.seed)
    return module


def observe_all(trial, answer, run):
    """The outcomes on every case; in float32 where the answer cannot do float64: no contract asks for it."""
    def go(trial):
        outcomes = []
        start = time.monotonic()
        for case in trial.cases:
            outcomes.append(observe(trial.exercise, answer, case, trial.dtype, run))
            if time.monotonic() - start > PATIENCE:
                outcomes[-1] = running.Outcome("endless", stuck=outcomes[-1].stuck)
            if outcomes[-1].kind == "endless":
                break
        return outcomes

    outcomes = go(trial)
    words = ("dtype", "Double", "double", "Float", "float64")
    if any(one.kind == "raised" and any(word in one.error for word in words) for one in outcomes):
        single = Trial(trial.exercise, trial.seed, torch.float32)
        again = go(single)
        if sum(one.ok for one in again) > sum(one.ok for one in outcomes):
            return single, again
    return trial, outcomes


def compare(exercise, value, expected):
    """How a value departs from what is expected, or None."""
    if exercise.same is not None:
        try:
            if exercise.same(value, expected):
                return None
        except Exception:  # not even of the right kind: the general comparison says so
            pass
        found = difference(value, expected, exercise.returns, exercise.shapes, 0.0, False)
        return found or difference(0.0, 1.0, "result", {}, 0.0, False)
    return difference(value, expected, exercise.returns, exercise.shapes, exercise.tolerance,
                      exercise.exact_zeros)


def same(exercise, value, other):
    """Are two values one fingerprint?"""
    if exercise.same is not None:
        try:
            return bool(exercise.same(value, other))
        except Exception:
            return False
    return alike(value, other, exercise.tolerance, exercise.exact_zeros)


def shown_inputs(exercise, case):
    """The inputs in one line: numbers, a few ids and short texts as they are, arrays by their shape."""
    parts = []
    for name, value in zip(exercise.inputs, case.inputs, strict=False):
        if is_array(value) and value.ndim == 1 and len(value) <= 8 and family(value) == "int":
            parts.append(f"{name}={value.tolist()}")
        elif is_array(value):
            parts.append(f"{name} of shape {tuple(value.shape)}")
        elif isinstance(value, (int, float, str, bool, type(None))):
            text = repr(value)
            parts.append(f"{name}={text if len(text) <= 40 else text[:39] + '…'}")
        elif isinstance(value, (list, tuple)):
            text = str(value)
            parts.append(f"{name}={text}" if len(text) <= 40 else f"{name} of length {len(value)}")
    built = ", ".join(map(str, case.build))
    return (f"{exercise.name}({built}) and " if built else "") + ", ".join(parts)
