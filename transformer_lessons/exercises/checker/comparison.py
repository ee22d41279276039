"""Compares what an answer returned with what was expected: are they alike, and if not, how do they differ?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import nn

from transformer_lessons.exercises.checker.distributions import Chances
from transformer_lessons.running.values import (
    capital,
    dtype_name,
    family,
    is_array,
    is_number,
    kind_of,
    numbers,
    shape_of,
)

# Alike: for draws


INEXACT, NUMERIC = set("fc"), set("biufc")  # kinds of a NumPy dtype


def close(actual: Any, expected: Any, tolerance: float, exact_zeros: bool = False) -> bool:
    """Are two arrays of the same shape equal, to within a fraction of the largest number expected? NaN equals NaN."""
    actual, expected = numbers(actual), numbers(expected)
    if actual.shape != expected.shape:
        return False
    kinds = {actual.dtype.kind, expected.dtype.kind}
    if not kinds & INEXACT or not kinds <= NUMERIC:
        return bool((actual == expected).all())
    scale = np.abs(expected).max(initial=0.0)
    if scale < 1e300:  # nearly always, and fast: nothing overflows
        is_near = bool(np.abs(actual - expected).max(initial=0.0) <= tolerance * max(1e-3, scale))
        return is_near and (not exact_zeros or bool(((actual == 0) == (expected == 0)).all()))
    return bool(near(actual, expected, tolerance, exact_zeros).all())


def near(actual: np.ndarray, expected: np.ndarray, tolerance: float, exact_zeros: bool = False) -> np.ndarray:
    """For each place: are they equal?"""
    finite = np.isfinite(expected)
    scale = max(1e-3, float(np.abs(expected[finite]).max(initial=0.0)))
    with np.errstate(all="ignore"):
        same = (np.abs(actual - expected) <= tolerance * scale) & np.isfinite(actual)
    if not finite.all():
        same = np.where(finite, same, (actual == expected) | (np.isnan(actual) & np.isnan(expected)))
    return same & ((actual == 0) == (expected == 0)) if exact_zeros else same


EXACT = (str, bytes, bool, type(None))


def alike(actual: Any, expected: Any, tolerance: float, exact_zeros: bool = False) -> bool:
    """Are two results the same in kind, shape, family of dtype and numbers?"""
    kind = type(actual)
    if kind is type(expected):  # nearly always, and fast
        if kind is torch.Tensor and actual.dtype == expected.dtype:
            return actual.shape == expected.shape and close(actual, expected, tolerance, exact_zeros)
        if kind in EXACT or (kind is int and actual == expected):
            return actual == expected
    if is_array(actual) and is_array(expected):
        return comparable(actual, expected) and close(actual, expected, tolerance, exact_zeros)
    if is_number(actual) and is_number(expected):
        return close(actual, expected, tolerance, exact_zeros)
    if isinstance(actual, (list, tuple)) and isinstance(expected, (list, tuple)):
        return len(actual) == len(expected) and all(
            alike(a, b, tolerance, exact_zeros) for a, b in zip(actual, expected, strict=True)
        )
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        return actual.keys() == expected.keys() and all(
            alike(actual[key], expected[key], tolerance, exact_zeros) for key in actual
        )
    return kind is type(expected) and isinstance(actual, (*EXACT, set, frozenset)) and actual == expected


def comparable(actual: Any, expected: Any) -> bool:
    """Do two results have the same kind and shape, part by part, so that their numbers can be compared?"""
    if is_array(actual) and is_array(expected):
        return (
            isinstance(actual, torch.Tensor) == isinstance(expected, torch.Tensor)
            and family(actual) == family(expected)
            and tuple(actual.shape) == tuple(expected.shape)
            and not getattr(actual, "is_meta", False)
        )
    several = isinstance(actual, (list, tuple)) and isinstance(expected, (list, tuple))
    return several and len(actual) == len(expected) and all(map(comparable, actual, expected))


def unchanged(before: Any, after: Any) -> bool:
    """Is an input unchanged?"""
    if type(before) is type(after) is torch.Tensor and before.dtype == after.dtype and before.equal(after):
        return True  # nearly always, and fast
    if type(before) is type(after) is dict:
        return before.keys() == after.keys() and all(unchanged(before[key], after[key]) for key in before)
    if isinstance(before, nn.Module):
        modes = [[module.training for module in model.modules()] for model in (before, after)]
        old, new = before.state_dict(), after.state_dict()
        return modes[0] == modes[1] and alike(dict(new), dict(old), 0)
    if isinstance(before, torch.Generator) or callable(before):
        return True
    return alike(after, before, 0)


# Different: for sentences


@dataclass(frozen=True)
class Difference:
    """How a result differs from what was expected: which part, what sort, and a sentence."""

    sort: str  # "kind", "count", "dtype", "shape", "ids", "finite", "numbers"
    sentence: str
    part: int | None = None  # which of several results


def difference(
    actual: Any, expected: Any, names: str | Sequence[str], shapes: Mapping, tolerance: float, exact_zeros: bool
) -> Difference | None:
    """The first difference between a result and what was expected, or None; `names` are the results'."""
    if isinstance(names, str):
        return difference_of_one(actual, expected, names, shapes.get(names), tolerance, exact_zeros)
    wanted = f"({', '.join(names)})"
    if not isinstance(actual, (tuple, list)):
        return Difference("kind", f"It returns {kind_of(actual)}; the {len(names)} results {wanted} are expected.")
    if len(actual) != len(names):
        return Difference("count", f"It returns {kind_of(actual)}; the {len(names)} results {wanted} are expected.")
    differences = []
    for part, name in enumerate(names):
        found = difference_of_one(actual[part], expected[part], name, shapes.get(name), tolerance, exact_zeros)
        differences += [replace(found, part=part)] if found else []
    worst = ["kind", "dtype", "shape", "ids", "finite", "numbers"]
    # of several, the last: the weights rather than the output
    return min(reversed(differences), key=lambda difference: worst.index(difference.sort), default=None)


def difference_of_one(
    actual: Any, expected: Any, name: str, shape: str | None, tolerance: float, exact_zeros: bool
) -> Difference | None:
    the = "the result" if name == "result" else f"`{name}`"
    if isinstance(expected, Chances) and not is_table_like(actual, expected):
        return difference_of_draws(actual, expected.shape[1], the)
    if is_array(expected):
        return difference_of_arrays(actual, expected, the, shape, tolerance, exact_zeros)
    if is_number(expected):
        return difference_of_numbers(actual, expected, the, tolerance, exact_zeros)
    if isinstance(expected, (list, tuple)):
        return difference_of_lists(actual, expected, the, tolerance, exact_zeros)
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):  # of any kind: a Counter as well as a dict
        right, wrong = alike(actual, expected, tolerance, exact_zeros), "holds the wrong entries."
    elif type(actual) is type(expected):
        right, wrong = actual == expected, "is not the expected one."
    else:
        return Difference("kind", f"{capital(the)} is {kind_of(actual)}; {kind_of(expected)} is expected.")
    return None if right else Difference("numbers", f"{capital(the)} {wrong}")


def difference_of_numbers(
    actual: Any, expected: Any, the: str, tolerance: float, exact_zeros: bool
) -> Difference | None:
    if not is_number(actual):
        return Difference("kind", f"{capital(the)} is {kind_of(actual)}; a {type(expected).__name__} is expected.")
    if np.isnan(numbers(actual)) and not np.isnan(expected):
        return Difference("finite", f"{capital(the)} is not a number (NaN).")
    right = close(actual, expected, tolerance, exact_zeros)
    return None if right else Difference("numbers", f"{capital(the)} is not the expected number.")


def difference_of_lists(
    actual: Any, expected: Sequence, the: str, tolerance: float, exact_zeros: bool
) -> Difference | None:
    if not isinstance(actual, (list, tuple)):
        return Difference("kind", f"{capital(the)} is {kind_of(actual)}; a {type(expected).__name__} is expected.")
    for item, wanted in zip(actual, expected, strict=False):
        if type(item) is not type(wanted) and not (is_number(item) and is_number(wanted)):
            return Difference("kind", f"{capital(the)} holds {kind_of(item)}; {kind_of(wanted)} is expected there.")
    right = alike(actual, expected, tolerance, exact_zeros)
    return None if right else Difference("numbers", f"{capital(the)} holds the wrong items.")


def is_table_like(actual: Any, expected: Chances) -> bool:
    """Have draws been counted, so that frequencies can be shown beside probabilities?"""
    return isinstance(actual, torch.Tensor) and actual.is_floating_point() and actual.shape == expected.shape


def difference_of_draws(actual: Any, vocabulary: int, the: str) -> Difference | None:
    """The first difference, or None, where a batch of token ids is expected."""
    if not isinstance(actual, torch.Tensor):
        return Difference("kind", f"{capital(the)} is {kind_of(actual)}; a tensor of token ids is expected.")
    counted = actual.is_floating_point() and actual.ndim == 2 and actual.shape[1] > vocabulary  # by `frequencies`
    if not counted and dtype_name(actual) != "int64":
        return Difference("dtype", f"{capital(the)} holds {dtype_name(actual)}; token ids should be int64.")
    if not counted and actual.ndim != 1:
        return Difference(
            "shape", f"{capital(the)} has shape {shape_of(actual)}; one id for each row, (batch,), is expected."
        )
    if counted or bool(((actual < 0) | (actual >= vocabulary)).any()):
        return Difference(
            "ids", f"{capital(the)} holds an id that belongs to no token: ids go from 0 to {vocabulary - 1}."
        )
    return Difference("shape", f"{capital(the)} has {len(actual):,} ids, which is not one for each row.")


def difference_of_arrays(
    actual: Any, expected: Any, the: str, shape: str | None, tolerance: float, exact_zeros: bool
) -> Difference | None:
    wanted = "a tensor" if isinstance(expected, torch.Tensor) else "a NumPy array"
    scalar = isinstance(expected, np.ndarray) and expected.ndim == 0 and isinstance(actual, np.generic)
    if not scalar and (not is_array(actual) or isinstance(actual, torch.Tensor) != isinstance(expected, torch.Tensor)):
        return Difference("kind", f"{capital(the)} is {kind_of(actual)}; {wanted} is expected.")
    if isinstance(actual, torch.Tensor) and actual.is_meta:
        return Difference("kind", f'{capital(the)} is a tensor on the device "meta": it holds no numbers.')
    if family(actual) != family(expected):
        return Difference("dtype", f"{capital(the)} holds {dtype_name(actual)}; {dtype_name(expected)} is expected.")
    if dtype_name(actual) in ("float16", "bfloat16"):
        return Difference("dtype", f"{capital(the)} holds {dtype_name(actual)}: three digits of precision are too few.")
    if tuple(np.shape(actual)) != tuple(expected.shape):
        means = f" = {shape}" if shape else ""
        return Difference(
            "shape", f"{capital(the)} has shape {tuple(np.shape(actual))}; {shape_of(expected)}{means} is expected."
        )
    ours, theirs = numbers(actual), numbers(expected)
    if ours.dtype.kind in "fc" and not np.isfinite(ours).all() and np.isfinite(theirs).all():
        what = "NaN (not a number)" if np.isnan(ours).any() else "an infinite number"
        return Difference("finite", f"{capital(the)} holds {what}, where every number should be finite.")
    if close(actual, expected, tolerance, exact_zeros):
        return None
    return Difference("numbers", f"{capital(the)} has the right shape, but not the right numbers.")
