"""What the exercises on attention share: how queries, keys and values are drawn, and what the weights show.

That is, which number their scores were multiplied by, and whether some of them were dropped.
"""

from typing import Any

import numpy as np
import torch

from transformer_lessons.exercises.checker.comparison import comparable
from transformer_lessons.exercises.checker.setup import normal


def draw_roles(
    generator: torch.Generator,
    lead: tuple,
    query: int,
    key: int,
    d_head: int,
    d_v: int,
    every: float = 0.0,
    exact: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Queries, keys and values of these sizes; every score may be large: a softmax does not notice, a limit does."""
    sizes = (query, d_head), (key, d_head), (key, d_v)
    queries, keys, values = (normal(generator, *lead, *size) for size in sizes)
    if d_head == 2:  # key 0 is at a right angle to every query: its scores are exactly 0
        queries[..., 1] = keys[..., 0, 0] = 0.0
    if every:
        queries[..., 0], keys[..., 0] = 1.0, every
    if exact:
        queries, keys = (queries * 8).round() / 8, (keys * 8).round() / 8
        queries[..., 0, 0] = 0.0
        keys[..., :2, 0] = keys[..., 4:, 0] = 0.0
    return queries, keys, values


SIZES = [  # all different at first; then some equal, for mistakes that run only then, or could hide otherwise
    {"lead": (), "query": 2, "key": 3, "d_head": 4, "d_v": 2},
    {"lead": (), "query": 3, "key": 3, "d_head": 3, "d_v": 3},
    {"lead": (2,), "query": 3, "key": 5, "d_head": 4, "d_v": 6},
    {"lead": (2,), "query": 4, "key": 4, "d_head": 3, "d_v": 5},
    {"lead": (3,), "query": 3, "key": 3, "d_head": 3, "d_v": 3},
    {"lead": (2, 3), "query": 4, "key": 6, "d_head": 5, "d_v": 7},
    {"lead": (3, 2), "query": 7, "key": 4, "d_head": 8, "d_v": 8},
    {"lead": (1, 2), "query": 1, "key": 3, "d_head": 2, "d_v": 4},  # sizes of 1, which a squeeze removes
]


def large(*scores: float) -> list:
    """Sizes in which every score, before any scaling, is about as large as one of these."""
    return [{"lead": (2,), "query": 3, "key": 4, "d_head": 5, "d_v": 6, "every": every} for every in scores]


def huge(score: float) -> dict:
    """Sizes in which keys 2 and 3 have scores about as large, but not for query 0: far above a row's mean, too.

    Float32 holds all of them exactly, halved or not.
    """
    return {"lead": (2,), "query": 3, "key": 8, "d_head": 4, "d_v": 6, "every": score, "exact": True}


def factor_of(observed: object, expected: tuple) -> float | None:
    """The number that the scores were multiplied by; None if it is 1, since the weights are right then."""
    factor = fitting_factor(observed, expected)
    return factor if factor is not None and abs(factor - 1) > 1e-4 else None


def fitting_factor(observed: object, expected: tuple) -> float | None:
    """The number for which the weights are the softmax of the right scores times it: a softmax keeps differences."""
    if not isinstance(observed, (tuple, list)) or len(observed) != 2 or not comparable(observed[1], expected[1]):
        return None
    logarithms, wanted = (weights.detach().double().log() for weights in (observed[1], expected[1]))
    logarithms, wanted = (each - each.mean(-1, keepdim=True) for each in (logarithms, wanted))
    factor = (logarithms * wanted).sum() / (wanted * wanted).sum()
    sums = observed[1].detach().double().sum(-1)
    fits = torch.allclose(logarithms, factor * wanted, atol=1e-5, rtol=1e-5) and bool(((sums - 1).abs() < 1e-4).all())
    return factor.item() if fits and factor.abs() > 1e-6 else None


def is_average(observed: tuple, value: torch.Tensor) -> bool:
    """Is the output the average of the values with the weights beside it?"""
    output, weights = observed
    average = weights.detach().double() @ value.double()
    return comparable(output, average.to(output)) and torch.allclose(output.detach().double(), average, atol=1e-4)


def divisor_sentence(observed: object, expected: tuple, wanted: float) -> str | None:
    """What the scores were divided by, where they should be divided by `wanted`."""
    factor = factor_of(observed, expected)
    if factor is None or abs(1 / factor - 1) < 1e-3:
        return None
    divisor = wanted / factor
    digits = 2 if abs(divisor - wanted) > 0.01 else 4
    wish = "they should not be divided here" if wanted == 1 else f"{wanted:.{digits}f} is expected"
    return f"`weights` is the softmax of scores divided by {divisor:.{digits}f}; {wish}."


def solved_scaling(observed: Any, expected: tuple, value: torch.Tensor, roots: dict) -> list | None:
    """The number that the scores are divided by, as a multiple of each root in {mistake: root}."""
    factor = fitting_factor(observed, expected)
    if factor is None or not is_average(observed, value):
        return [] if factor_of(observed, expected) else None
    return [(mistake, root / factor) for mistake, root in roots.items()]


def factor_between(weights: np.ndarray, scores: np.ndarray) -> float | None:
    """The number above 0 for which the weights are softmax(number * scores), or None: a softmax keeps differences."""
    logarithms = np.log(weights) - np.log(weights).mean(-1, keepdims=True)
    centred = scores - scores.mean(-1, keepdims=True)
    factor = (logarithms * centred).sum() / (centred * centred).sum()
    fits = np.allclose(logarithms, factor * centred, rtol=1e-3, atol=1e-3)
    return factor if fits and factor > 0 and np.allclose(weights.sum(-1), 1, atol=1e-4) else None


def is_dropped(ours: torch.Tensor, right: torch.Tensor) -> bool:
    """Are some numbers 0, and all others the right ones times one number above 1? If there are few, none may be 0."""
    ours, right = ours.double()[right.abs() > 1e-6], right[right.abs() > 1e-6]
    ratio = (ours / right)[ours != 0]
    if not ours.isfinite().all() or not len(ratio):
        return len(ours) <= 50 and not ours.any()
    one_ratio = ratio.min() > 1.001 and torch.allclose(ratio, ratio[:1], rtol=1e-3)
    lost, kept = right[ours == 0].abs(), right[ours != 0].abs()
    return bool(one_ratio and (len(ours) <= 50 or (len(lost) and lost.max() > kept.min())))
