"""Shows what an answer returned beside what was expected."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from transformer_lessons.exercises.checker.comparison import alike, near
from transformer_lessons.exercises.checker.parts import Part
from transformer_lessons.running.values import is_array, is_number, kind_of, numbers

ROOM = 92  # columns: the width of a report without its indent


def beside(actual: Any, expected: Any, name: str, tolerance: float, exact_zeros: bool = False) -> list[Part]:
    """Parts that show the first place where two results differ, yours beside the expected."""
    if is_array(expected) and is_array(actual):
        ours, theirs = numbers(actual), numbers(expected)
        if ours.shape != theirs.shape:
            return shown_alone(ours, theirs, name)
        if ours.dtype.kind in "biuf" and theirs.dtype.kind in "biuf":
            name = getattr(expected, "label", name)
            return shown_arrays(ours, theirs, name, tolerance, exact_zeros)
    if is_number(expected) and is_number(actual):
        decimals = decimals_for(numbers(actual), numbers(expected))
        yours, wanted = show(float(numbers(actual)), decimals), show(float(expected), decimals)
        return [Part("example", f"yours {yours}, expected {wanted}")]
    if isinstance(expected, (list, tuple)) and isinstance(actual, (list, tuple)):
        return shown_lists(list(actual), list(expected))
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return shown_dictionaries(actual, expected)
    return [values(short(actual), short(expected))]


def values(ours: str, theirs: str) -> Part:
    return Part("values", f"yours     {ours}\nexpected  {theirs}")


def shown_arrays(ours: Any, theirs: Any, name: str, tolerance: float, exact_zeros: bool) -> list[Part]:
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
        part = window(ours, theirs, place[-2:], columns, label, decimals, exact_zeros)
        if max(map(len, part.table)) <= ROOM:
            break
    return [part]


def window(ours: Any, theirs: Any, place: tuple, columns: int, label: str, decimals: int, exact_zeros: bool) -> Part:
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
    return Part("table", label, tuple(zip(mine, right, strict=True)))


def shown_alone(ours: Any, theirs: Any, name: str) -> list[Part]:
    return [Part("example", f"yours: {name} {ours.shape}, expected {theirs.shape}")]


def rows(array: np.ndarray, decimals: int, tiny: bool = False) -> list:
    cells = [[show_tiny(value, decimals) if tiny else show(value, decimals) for value in row] for row in array.tolist()]
    width = max((len(cell) for row in cells for cell in row), default=0)
    return ["  ".join(cell.rjust(width) for cell in row) for row in cells]


def show(value: Any, decimals: int = 2) -> str:
    """A float to so many decimals, never -0.00, and in two digits from a million on; anything else in full."""
    if isinstance(value, (bool, int, str)):
        return str(value)
    text = f"{value:.{decimals}f}" if abs(value) < 1e6 else f"{value:.2g}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def show_tiny(value: Any, decimals: int) -> str:
    """Like show, except that only 0 is shown as 0."""
    text = show(value, decimals)
    return f"{value:.0e}" if value and not text.strip("-0.") else text


def decimals_for(ours: Any, theirs: Any) -> int:
    """Two decimals; four or six if it takes that many to show a difference."""
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    for decimals in (2, 4, 6):
        if any(show(a, decimals) != show(b, decimals) for a, b in zip(ours.flat, theirs.flat, strict=True)):
            return decimals
    return 2


def shown_lists(ours: Any, theirs: Any) -> list[Part]:
    first = next(
        (n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if not alike(a, b, 1e-9)),
        min(len(ours), len(theirs)),
    )
    start = max(0, first - 2)
    floats = len(ours) == len(theirs) and all(isinstance(item, float) for item in (*ours, *theirs))
    decimals = decimals_for(ours, theirs) if floats else 2
    dots, shown = "…, " if start else "", []
    for items in (ours, theirs):
        number = f"  ({len(items)} item{'s' * (len(items) != 1)})"
        shown.append(f"{dots}{short(items[start : start + 6], decimals, 82 - len(dots + number))}{number}")  # one line
    return [values(*shown)]


def shown_dictionaries(ours: Any, theirs: Any) -> list[Part]:
    """Up to three entries that differ, extra ones among them if there are any; and a line if not all are shown."""
    every = {**theirs, **ours}
    wrong = [key for key in every if not (key in ours and key in theirs and alike(ours[key], theirs[key], 0))]
    some = "Three of the entries that differ:" if len(wrong) > 3 else "Only the entries that differ are shown:"
    chosen = [*wrong[:2], *wrong[2:][-1:]]  # extra entries come last
    pairs = [(ours[key], theirs[key]) for key in chosen if key in ours and key in theirs]
    floats = [pair for pair in pairs if all(isinstance(number, float) for number in pair)]
    decimals = max((decimals_for(*pair) for pair in floats), default=2)
    shown = (
        f"{short({key: items[key] for key in chosen if key in items}, decimals)}  ({len(items)} in all)"
        for items in (ours, theirs)
    )
    return [*([Part("example", some)] if len(chosen) < len(every) else []), values(*shown)]


def short(value: Any, decimals: int = 2, width: int = 70) -> str:
    """A value in at most so many characters."""
    if is_array(value):
        return kind_of(value)
    if isinstance(value, (list, tuple)):
        text = ", ".join(short(item, decimals) for item in value)
        text = f"[{text}]" if isinstance(value, list) else f"({text})"
    elif isinstance(value, Mapping):
        text = "{" + ", ".join(f"{short(key)}: {short(item, decimals)}" for key, item in value.items()) + "}"
    elif isinstance(value, float):
        text = show(value, decimals)
    else:
        text = repr(value) if isinstance(value, (str, bytes, int, type(None))) else kind_of(value)
    return text if len(text) <= width else text[: width - 1] + "…"
