"""Compares what an answer returned with what was expected, and shows the two side by side."""

import copy
import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from transformer_lessons.exercises.checker.distributions import Chances


@dataclass
class Difference:
    """How a result differs from what was expected: which part, what sort, and a sentence."""

    sort: str  # "kind", "count", "dtype", "shape", "ids", "finite", "numbers"
    sentence: str
    part: int | None = None  # which of several results


# Kinds


def kind_of(value):
    """Describes a value in words."""
    if value is None:
        return "nothing (None)"
    if isinstance(value, torch.Tensor):
        return f"{article(dtype_name(value))} tensor of shape {shape_of(value)}"
    if isinstance(value, np.ndarray):
        return f"a NumPy array of {dtype_name(value)} of shape {shape_of(value)}"
    if isinstance(value, tuple):
        return "an empty tuple" if not value else f"a tuple of {len(value)}"
    if isinstance(value, list):
        return "an empty list" if not value else f"a list of {len(value)}"
    names = {
        "generator": "a generator (made by `yield`, or by round brackets round a `for`)",
        "coroutine": "a coroutine (made by `async def`)",
        "function": "a function",
        "str": "a string",
        "bytes": "bytes",
        "method": "a method",
        "builtin_function_or_method": "a function",
        "type": "a class",
    }
    name = type(value).__name__
    return names.get(name, article(name))


def article(name):
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def shape_of(value):
    return str(tuple(value.shape))


def dtype_name(value):
    return str(value.dtype).replace("torch.", "")


def family(value):
    """bool, int, float or complex."""
    if isinstance(value, torch.Tensor):
        if value.dtype == torch.bool:
            return "bool"
        return "float" if value.is_floating_point() else "complex" if value.is_complex() else "int"
    if isinstance(value, (np.ndarray, np.generic)):
        kinds = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}
        return kinds.get(value.dtype.kind, "object")
    return type(value).__name__


def is_array(value):
    return isinstance(value, (torch.Tensor, np.ndarray))


def is_number(value):
    """Is it a float, or something that behaves like one: an int, np.float64, an array or tensor without dimensions?"""
    if is_array(value):
        return value.ndim == 0 and family(value) in ("float", "int")
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


PLAIN = (torch.float64, torch.int64, torch.bool)


def numbers(value):
    """Any array, tensor or number as a NumPy array in float64, bool or int64."""
    if type(value) is torch.Tensor and value.dtype in PLAIN and value.is_cpu and not value.requires_grad:
        return value.numpy()  # nearly always, and fast
    if isinstance(value, torch.Tensor):
        value = value.detach()
        value = value.cpu() if not value.is_meta else torch.full(value.shape, torch.nan, dtype=torch.double)
        value = value.to_dense() if value.layout != torch.strided else value
        value = value.double() if value.dtype.is_floating_point else value
        value = value.resolve_conj().resolve_neg().numpy()
    if isinstance(value, int) and value.bit_length() > 63:
        value = float(value) if value.bit_length() < 1024 else math.inf if value > 0 else -math.inf
    value = np.asarray(value)
    return value.astype(np.float64) if value.dtype.kind == "f" else value


def freeze(value):
    """A copy that no later change can reach."""
    if isinstance(value, torch.Tensor):
        value = value.detach()
        return value.clone() if value.layout == torch.strided else value.to_dense()
    if isinstance(value, np.ndarray):
        return np.array(value)
    if type(value) in (list, tuple):
        return type(value)(freeze(item) for item in value)
    if isinstance(value, tuple):
        return tuple(freeze(item) for item in value)
    return copy.copy(value) if isinstance(value, dict) else value


def clone(value):
    """A fresh copy of an input."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, torch.Generator):
        return value.clone_state()
    if type(value) is list:
        return [clone(one) for one in value]
    if type(value) is dict:
        return {key: clone(one) for key, one in value.items()}
    if isinstance(value, (np.ndarray, nn.Module, list, dict)):
        return copy.deepcopy(value)
    return value


def unchanged(before, after):
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


# Alike: for draws


def close(actual, expected, tolerance, exact_zeros=False):
    """Are two arrays of the same shape equal, to within a fraction of the largest number expected? NaN equals NaN."""
    actual, expected = numbers(actual), numbers(expected)
    if actual.shape != expected.shape:
        return False
    if expected.dtype.kind not in "fc" and actual.dtype.kind not in "fc":
        return bool((actual == expected).all())
    if actual.dtype.kind not in "biufc" or expected.dtype.kind not in "biufc":
        return bool((actual == expected).all())
    scale = np.abs(expected).max(initial=0.0)
    if scale < 1e300:  # nearly always, and fast: nothing overflows
        is_near = bool(np.abs(actual - expected).max(initial=0.0) <= tolerance * max(1e-3, scale))
        return is_near and (not exact_zeros or bool(((actual == 0) == (expected == 0)).all()))
    return bool(near(actual, expected, tolerance, exact_zeros).all())


def near(actual, expected, tolerance, exact_zeros=False):
    """For each place: are they equal?"""
    finite = np.isfinite(expected)
    scale = max(1e-3, float(np.abs(expected[finite]).max(initial=0.0)))
    with np.errstate(all="ignore"):
        same = (np.abs(actual - expected) <= tolerance * scale) & np.isfinite(actual)
    if not finite.all():
        same = np.where(finite, same, (actual == expected) | (np.isnan(actual) & np.isnan(expected)))
    return same & ((actual == 0) == (expected == 0)) if exact_zeros else same


EXACT = (str, bytes, bool, type(None))


def alike(one, other, tolerance, exact_zeros=False):
    """Are two results the same in kind, shape, family of dtype and numbers?"""
    kind = type(one)
    if kind is type(other):  # nearly always, and fast
        if kind is torch.Tensor and one.dtype == other.dtype:
            return one.shape == other.shape and close(one, other, tolerance, exact_zeros)
        if kind in EXACT or (kind is int and one == other):
            return one == other
    if is_array(one) and is_array(other):
        tensors = isinstance(one, torch.Tensor), isinstance(other, torch.Tensor)
        return (
            tensors[0] == tensors[1]
            and family(one) == family(other)
            and tuple(one.shape) == tuple(other.shape)
            and close(one, other, tolerance, exact_zeros)
        )
    if is_number(one) and is_number(other):
        return close(one, other, tolerance, exact_zeros)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(
            alike(a, b, tolerance, exact_zeros) for a, b in zip(one, other, strict=True)
        )
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(alike(one[key], other[key], tolerance, exact_zeros) for key in one)
    if is_array(one) or is_array(other) or type(one) is not type(other):
        return False
    return isinstance(one, (str, bytes, bool, type(None), set, frozenset)) and one == other


def comparable(one: Any, other: Any) -> bool:
    """Do two results have the same kind and shape, part by part, so that their numbers can be compared?"""
    if is_array(one) and is_array(other):
        return (
            isinstance(one, torch.Tensor) == isinstance(other, torch.Tensor)
            and family(one) == family(other)
            and tuple(one.shape) == tuple(other.shape)
            and not getattr(one, "is_meta", False)
        )
    several = isinstance(one, (list, tuple)) and isinstance(other, (list, tuple))
    return several and len(one) == len(other) and all(map(comparable, one, other))


def glance(value: object) -> tuple | None:
    """The shapes, a weighted sum of all numbers, and how far rounding can move that sum; None if there is no such sum.

    Two results whose sums are further apart than that cannot be the same: a quick way to tell most results apart.
    """
    arrays = [numbers(one) for one in parts(value) if is_plain(one)]
    if not arrays or len(arrays) != len(parts(value)):
        return None
    shapes = tuple((one.shape, np.isfinite(one).tobytes()) for one in arrays)
    finite = [np.where(np.isfinite(one), one, 0.0).ravel() for one in arrays]
    with np.errstate(over="ignore"):
        total = sum(float(one @ coefficients(one.size)) for one in finite)
    slack = sum(one.size * max(1e-3, float(np.abs(one).max(initial=0.0))) for one in finite)
    return shapes, total, slack


def parts(value):
    """The results that a value holds, in order."""
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value, key=str)]
    return list(value) if isinstance(value, (tuple, list)) else [value]


def is_plain(value):
    return is_array(value) and family(value) == "float" and not getattr(value, "is_meta", False)


@functools.lru_cache
def coefficients(size):
    """Numbers between -1 and 1, all different, so that a weighted sum shows when numbers have moved."""
    return np.cos(np.arange(1, size + 1))


# Different: for sentences


def difference(actual, expected, names, shapes, tolerance, exact_zeros):
    """The first difference between a result and what was expected, or None; `names` are the results'."""
    if isinstance(names, str):
        return difference_of_one(actual, expected, names, shapes.get(names), tolerance, exact_zeros)
    wanted = f"({', '.join(names)})"
    if not isinstance(actual, (tuple, list)):
        return Difference("kind", f"It returns {kind_of(actual)}; the {len(names)} results {wanted} are expected.")
    if len(actual) != len(names):
        return Difference("count", f"It returns {kind_of(actual)}; the {len(names)} results {wanted} are expected.")
    found = [
        difference_of_one(a, e, name, shapes.get(name), tolerance, exact_zeros)
        for a, e, name in zip(actual, expected, names, strict=True)
    ]
    order = ["kind", "dtype", "shape", "ids", "finite", "numbers"]
    found = [(order.index(one.sort), -part, one) for part, one in enumerate(found) if one]
    if not found:
        return None
    _, part, first = min(found, key=lambda item: item[:2])  # of several, the last: the weights rather than the output
    first.part = -part
    return first


def difference_of_one(actual, expected, name, shape, tolerance, exact_zeros):
    the = "the result" if name == "result" else f"`{name}`"
    if isinstance(expected, Chances) and not is_table_like(actual, expected):
        return difference_of_draws(actual, expected.shape[1], the)
    if is_array(expected):
        return difference_of_arrays(actual, expected, the, shape, tolerance, exact_zeros)
    if is_number(expected):
        if not is_number(actual):
            wanted = f"a {type(expected).__name__} is expected."
            return Difference("kind", f"{capital(the)} is {kind_of(actual)}; {wanted}")
        if np.isnan(numbers(actual)) and not np.isnan(expected):
            return Difference("finite", f"{capital(the)} is not a number (NaN).")
        return (
            None
            if close(actual, expected, tolerance, exact_zeros)
            else Difference("numbers", f"{capital(the)} is not the expected number.")
        )
    if isinstance(expected, (list, tuple)):
        if not isinstance(actual, (list, tuple)):
            wanted = f"a {type(expected).__name__} is expected."
            return Difference("kind", f"{capital(the)} is {kind_of(actual)}; {wanted}")
        for one, other in zip(actual, expected, strict=False):
            if type(one) is not type(other) and not (is_number(one) and is_number(other)):
                return Difference("kind", f"{capital(the)} holds {kind_of(one)}; {kind_of(other)} is expected there.")
        return (
            None
            if alike(actual, expected, tolerance)
            else Difference("numbers", f"{capital(the)} holds the wrong items.")
        )
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):  # of any kind: a Counter as well as a dict
        return (
            None
            if alike(actual, expected, tolerance)
            else Difference("numbers", f"{capital(the)} holds the wrong entries.")
        )
    if type(actual) is not type(expected):
        return Difference("kind", f"{capital(the)} is {kind_of(actual)}; {kind_of(expected)} is expected.")
    return None if actual == expected else Difference("numbers", f"{capital(the)} is not the expected one.")


def is_table_like(actual, expected):
    """Have draws been counted, so that frequencies can be shown beside probabilities?"""
    return isinstance(actual, torch.Tensor) and actual.is_floating_point() and actual.shape == expected.shape


def difference_of_draws(actual, vocabulary, the):
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


def difference_of_arrays(actual, expected, the, shape, tolerance, exact_zeros):
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


def capital(text):
    return text[:1].upper() + text[1:]


# Yours beside the expected

ROOM = 92  # columns: the width of a report without its indent


def beside(actual, expected, name, tolerance, exact_zeros=False):
    """Lines that show the first place where two results differ, yours beside the expected."""
    if is_array(expected) and is_array(actual):
        ours, theirs = numbers(actual), numbers(expected)
        if ours.shape != theirs.shape:
            return shown_alone(ours, theirs, name)
        if ours.dtype.kind in "biuf" and theirs.dtype.kind in "biuf":
            name = getattr(expected, "label", name)
            return shown_arrays(ours, theirs, name, tolerance, exact_zeros)
    if is_number(expected) and is_number(actual):
        decimals = decimals_for(numbers(actual), numbers(expected))
        return [f"yours {show(float(numbers(actual)), decimals)}, expected {show(float(expected), decimals)}"]
    if isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple)):
        return shown_lists(list(actual), list(expected))
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return shown_dictionaries(actual, expected)
    return [f"yours     {short(actual)}", f"expected  {short(expected)}"]


def shown_arrays(ours, theirs, name, tolerance, exact_zeros):
    """The first two-dimensional slice in which the arrays differ: up to four rows, and six columns if they fit."""
    wrong = ~near(ours.astype(float), theirs.astype(float), tolerance, exact_zeros)
    place = tuple(int(index) for index in np.argwhere(wrong)[0]) if wrong.any() else (0,) * ours.ndim
    lead = place[:-2] if ours.ndim > 2 else ()
    ours, theirs = ours[lead], theirs[lead]
    decimals = decimals_for(ours, theirs)
    label = name + (f"[{', '.join(map(str, lead))}]" if lead else "")
    if ours.ndim < 2:
        ours, theirs = np.atleast_2d(ours), np.atleast_2d(theirs)
        place = (0, place[-1] if place else 0)
    for columns in range(6, 0, -1):
        lines = window(ours, theirs, place[-2:], columns, label, decimals, exact_zeros)
        if max(map(len, lines)) <= ROOM:
            break
    return lines


def window(ours, theirs, place, columns, label, decimals, exact_zeros):
    """Up to four rows, and at most `columns` columns, around a place."""
    top, left = (
        max(0, min(index - 1, size - shown)) for index, size, shown in zip(place, ours.shape, (4, columns), strict=True)
    )
    cut = np.s_[top : top + 4, left : left + columns]
    mine, right = rows(ours[cut], decimals), rows(theirs[cut], decimals)
    if mine == right and exact_zeros:
        mine = rows(ours[cut], decimals, tiny=True)
    if (top, left) != (0, 0):
        label += f" from row {top}, column {left}"
    width = max(len(f"yours: {label}"), *map(len, mine)) + 4
    return [f"yours: {label}".ljust(width) + "expected"] + [
        f"{one.ljust(width)}{other}" for one, other in zip(mine, right, strict=True)
    ]


def shown_alone(ours, theirs, name):
    return [f"yours: {name} {ours.shape}, expected {theirs.shape}"]


def rows(array, decimals, tiny=False):
    cells = [[show_tiny(value, decimals) if tiny else show(value, decimals) for value in row] for row in array.tolist()]
    width = max((len(cell) for row in cells for cell in row), default=0)
    return ["  ".join(cell.rjust(width) for cell in row) for row in cells]


def show(value, decimals=2):
    """A number to two decimals, never -0.00."""
    if isinstance(value, (bool, int, str)):
        return str(value)
    text = f"{value:.{decimals}f}" if abs(value) < 1e6 else f"{value:.2g}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def show_tiny(value, decimals):
    """Like show, except that only 0 is shown as 0."""
    text = show(value, decimals)
    return f"{value:.0e}" if value and not text.strip("-0.") else text


def decimals_for(ours, theirs):
    """Two decimals; four or six if it takes that many to show a difference."""
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    for decimals in (2, 4, 6):
        if any(show(a, decimals) != show(b, decimals) for a, b in zip(ours.flat, theirs.flat, strict=True)):
            return decimals
    return 2


def shown_lists(ours, theirs):
    first = next(
        (n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if not alike(a, b, 1e-9)),
        min(len(ours), len(theirs)),
    )
    start = max(0, first - 2)
    floats = len(ours) == len(theirs) and all(isinstance(one, float) for one in (*ours, *theirs))
    decimals = decimals_for(ours, theirs) if floats else 2
    dots = "…, " if start else ""
    return [
        f"{whose}{dots}{short(items[start : start + 6], decimals)}  ({len(items)} item{'s' * (len(items) != 1)})"
        for whose, items in (("yours     ", ours), ("expected  ", theirs))
    ]


def shown_dictionaries(ours, theirs):
    """Up to three entries that differ, extra ones among them if there are any; and a line if not all are shown."""
    every = {**theirs, **ours}
    wrong = [key for key in every if not (key in ours and key in theirs and alike(ours[key], theirs[key], 0))]
    some = "Three of the entries that differ:" if len(wrong) > 3 else "Only the entries that differ are shown:"
    chosen = [*wrong[:2], *wrong[2:][-1:]]  # extra entries come last
    return [
        *([some] if len(chosen) < len(every) else []),
        *(
            f"{whose}{short({key: items[key] for key in chosen if key in items})}  ({len(items)} in all)"
            for whose, items in (("yours     ", ours), ("expected  ", theirs))
        ),
    ]


def short(value, decimals=2):
    """A value in at most 70 characters."""
    if is_array(value):
        return kind_of(value)
    if isinstance(value, (list, tuple)):
        text = ", ".join(short(item, decimals) for item in value)
        text = f"[{text}]" if isinstance(value, list) else f"({text})"
    elif isinstance(value, Mapping):
        text = "{" + ", ".join(f"{short(key)}: {short(item)}" for key, item in value.items()) + "}"
    elif isinstance(value, float):
        text = show(value, decimals)
    else:
        text = repr(value) if isinstance(value, (str, bytes, int, type(None))) else kind_of(value)
    return text if len(text) <= 70 else text[:69] + "…"
