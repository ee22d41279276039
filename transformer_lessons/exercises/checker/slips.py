"""Slips: right or known numbers, returned in the wrong form, and how to undo each."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from transformer_lessons.exercises.checker.agreement import Seen, is_list
from transformer_lessons.exercises.checker.draws import compare, same
from transformer_lessons.running.values import is_array


def swapped(value: Any, expected: Any):
    return tuple(reversed(value)) if is_list(value, 2) else None


def only_first(value: Any, expected: Any):
    return (value, expected[1]) if is_list(expected, 2) and is_array(value) else None


def only_second(value: Any, expected: Any):
    return (expected[0], value) if is_list(expected, 2) and is_array(value) else None


def first_of_several(value: Any, expected: Any):
    several = isinstance(value, (tuple, list)) and len(value) > 1 and is_array(expected)
    return value[0] if several and is_array(value[0]) else None


def converted(value: Any, expected: Any):
    """Each result, converted to the kind and dtype expected."""
    if isinstance(expected, (tuple, list)) and not isinstance(value, (str, int, float)):
        if not is_list(value, len(expected)) or not all(is_array(item) for item in expected):
            return None
        return tuple(converted(item, wanted) for item, wanted in zip(value, expected, strict=True))
    try:
        if isinstance(expected, torch.Tensor) and value is not None:
            return torch.as_tensor(value).to(expected.dtype)
        if isinstance(expected, np.ndarray) and value is not None:
            return np.asarray(value).astype(expected.dtype)
    except (TypeError, ValueError, RuntimeError, OverflowError):  # what holds no numbers, or none of this kind
        pass
    return None


def reshaped(value: Any, expected: Any):
    """Each result without extra dimensions of size 1, or with the missing ones."""
    if isinstance(expected, (tuple, list)):
        if not is_list(value, len(expected)):
            return None
        return tuple(
            item if (new := reshaped(item, wanted)) is None else new
            for item, wanted in zip(value, expected, strict=True)
        )
    if (
        is_array(value)
        and is_array(expected)
        and [n for n in value.shape if n != 1] == [n for n in expected.shape if n != 1]
    ):
        return value.reshape(tuple(expected.shape))
    return None


def transposed(value: Any, expected: Any):
    if isinstance(value, torch.Tensor) and value.ndim > 1:
        return value.transpose(-2, -1)
    return np.swapaxes(value, -2, -1) if isinstance(value, np.ndarray) and value.ndim > 1 else None


@dataclass(frozen=True)
class Slip:
    """A way to return right numbers wrongly: its name, how to undo it, what it is, and where to look."""

    name: str
    undo: Callable
    text: str
    look: str


RETURN_LINE = "the `return` line."
SLIPS = [
    Slip(
        "results in the wrong order",
        swapped,
        "The two results are in the wrong order: {names} are expected.",
        RETURN_LINE,
    ),
    Slip("only the first result", only_first, "Only `{first}` is returned; both {names} are expected.", RETURN_LINE),
    Slip("only the second result", only_second, "Only `{second}` is returned; both {names} are expected.", RETURN_LINE),
    Slip("more results than one", first_of_several, "Only the first result should be returned.", RETURN_LINE),
    Slip("wrong kind of result", converted, "{kind}", "what the last operation returns, and how to convert it."),
    Slip("wrong number of dimensions", reshaped, "{kind}", "dimensions of size 1: are there too many, or too few?"),
    Slip(
        "transposed",
        transposed,
        "The last two dimensions of the result are swapped.",
        "what should a row of the result stand for, and what a column?",
    ),
]


def undone(seen: Seen, slip: Slip) -> Seen | None:
    """What would have been seen without a slip, or None if it cannot be undone."""
    corrected, exercise = [], seen.exercise
    for outcome, expected in zip(seen.outcomes, seen.draws.expected, strict=True):
        value = None
        if outcome.ok:
            value = slip.undo(outcome.value, expected)
            if value is None:
                return None
        corrected.append(replace(outcome, value=value))
    differences = [
        compare(exercise, outcome.value, expected) if outcome.ok else None
        for outcome, expected in zip(corrected, seen.draws.expected, strict=True)
    ]
    return replace(seen, outcomes=corrected, differences=differences)


def is_right(seen: Seen) -> bool:
    """Are all results right that were seen?"""
    return all(
        not outcome.ok or same(seen.exercise, outcome.value, expected)
        for outcome, expected in zip(seen.outcomes, seen.draws.expected, strict=True)
    )


def sentence_of(seen: Seen, slip: Slip) -> str:
    """The sentence of a slip, about this answer."""
    names = seen.exercise.setup.returns
    names = names if not isinstance(names, str) else (names, names)
    difference = next(difference for difference in seen.differences if difference)
    return slip.text.format(names=f"({', '.join(names)})", first=names[0], second=names[-1], kind=difference.sentence)
