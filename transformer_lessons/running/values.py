"""What an answer returns or is given, of any kind: described in words, read as numbers, and copied."""

import copy
import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn


def kind_of(value: Any) -> str:
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


def article(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def shape_of(value: Any) -> str:
    return str(tuple(value.shape))


def dtype_name(value: Any) -> str:
    return str(value.dtype).replace("torch.", "")


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def family(value: Any) -> str:
    """bool, int, float or complex; object for any other array, the type's name for any other value."""
    if isinstance(value, torch.Tensor):
        if value.dtype == torch.bool:
            return "bool"
        return "float" if value.is_floating_point() else "complex" if value.is_complex() else "int"
    if isinstance(value, (np.ndarray, np.generic)):
        kinds = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}
        return kinds.get(value.dtype.kind, "object")
    return type(value).__name__


def is_array(value: Any) -> bool:
    return isinstance(value, (torch.Tensor, np.ndarray))


def is_number(value: Any) -> bool:
    """Is it a float, or something that behaves like one: an int, np.float64, an array or tensor without dimensions?"""
    if is_array(value):
        return value.ndim == 0 and family(value) in ("float", "int")
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


PLAIN = (torch.float64, torch.int64, torch.bool)


def numbers(value: Any) -> np.ndarray:
    """Any array, tensor or number as a NumPy array; floats, and ints too large for int64, in float64."""
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


def is_plain(value: Any) -> bool:
    return is_array(value) and family(value) == "float" and not getattr(value, "is_meta", False)


def parts(value: Any) -> list:
    """The results that a value holds, in order."""
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value, key=str)]
    return list(value) if isinstance(value, (tuple, list)) else [value]


def freeze(value: Any) -> Any:
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


def clone(value: Any) -> Any:
    """A fresh copy of an input."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, torch.Generator):
        return value.clone_state()
    if type(value) is list:
        return [clone(item) for item in value]
    if type(value) is dict:
        return {key: clone(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, nn.Module, list, dict)):
        return copy.deepcopy(value)
    return value


def glance(value: object) -> tuple | None:
    """The shapes, a weighted sum of all numbers, and how far rounding can move that sum; None if there is no such sum.

    Two results whose sums are further apart than that cannot be the same: a quick way to tell most results apart.
    """
    arrays = [numbers(part) for part in parts(value) if is_plain(part)]
    if not arrays or len(arrays) != len(parts(value)):
        return None
    shapes = tuple((array.shape, np.isfinite(array).tobytes()) for array in arrays)
    finite = [np.where(np.isfinite(array), array, 0.0).ravel() for array in arrays]
    with np.errstate(over="ignore"):
        total = sum(float(array @ coefficients(array.size)) for array in finite)
    slack = sum(array.size * max(1e-3, float(np.abs(array).max(initial=0.0))) for array in finite)
    return shapes, total, slack


@functools.lru_cache
def coefficients(size: int) -> np.ndarray:
    """Numbers between -1 and 1, all different, so that a weighted sum shows when numbers have moved."""
    return np.cos(np.arange(1, size + 1))
