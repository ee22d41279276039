"""Compares random results by their distribution, so it does not matter how an answer draws.

An answer draws DRAWS tokens, or the number that an exercise sets, from each of a few distributions. The right
ones are known exactly, and so are those of every known mistake. How well do the answer's frequencies agree with them?

A right answer is rejected less than once in 10⁶ runs. Let q be the frequency, in n independent draws, of
something with probability p. By Chernoff's bound, q is so far above p that n · KL(q, p) ≥ t with a probability of at
most exp(-t), for any n; the same holds below. A check compares fewer than 100 frequencies, each on two sides:
for t = LIMIT = 20, the probability that any of them is that far off is less than 100 · 2 · exp(-20) = 4.2 · 10⁻⁷.
"""

import math
from typing import Any

import numpy as np
import torch

DRAWS = 1500  # from each distribution
LIMIT = 20.0
DEVIATIONS = math.sqrt(2 * LIMIT)  # the limit in standard deviations, for large numbers


class Chances(torch.Tensor):
    """Exact probabilities, in rows that sum to 1, with which an answer's frequencies are compared."""

    label = "how often each token is drawn"  # printed above the numbers in a verdict


def plain(table: Any) -> torch.Tensor:
    """The same numbers as an ordinary tensor, kept with the table, which is compared with many others."""
    if not hasattr(table, "plain"):
        table.plain = table.detach().as_subclass(torch.Tensor).double()
    return table.plain


def as_array(table: Any) -> np.ndarray:
    """The same numbers as a NumPy array, kept with the table, too."""
    if not hasattr(table, "array"):
        table.array = plain(table).numpy()
    return table.array


def frequencies(tokens: torch.Tensor, groups: int, size: int) -> torch.Tensor:
    """How often each token is drawn, where the rows of `groups` distributions take turns."""
    rows = tokens.reshape(-1, groups)
    return torch.stack([(rows == token).double().mean(dim=0) for token in range(size)], dim=1)


def surprise(observed: torch.Tensor, expected: torch.Tensor, draws: int = DRAWS) -> Any:
    """n · KL(q, p) for the frequency that is furthest off: infinite if the impossible has happened.

    It is infinite, too, for a table that holds NaN, or any other number that is no frequency. If several tables are
    expected, there is one number for each.
    """
    q, p = as_array(observed), as_array(expected)
    if not ((q > -1e-9) & (q < 1 + 1e-9)).all():  # sums are rounded
        return np.full(np.broadcast_shapes(q.shape, p.shape)[:-2], math.inf)[()]
    with np.errstate(divide="ignore", invalid="ignore"):
        sides = ((q, p), (1 - q, 1 - p))
        parts = [np.where(seen > 0, seen * np.log(seen / chance), 0.0) for seen, chance in sides]
    return draws * (parts[0] + parts[1]).max(axis=(-2, -1))


def deviations_between(first: torch.Tensor, second: torch.Tensor, draws: int = DRAWS) -> float:
    """How many standard deviations lie between two tables; the arcsine makes the deviation the same everywhere."""
    return 2 * math.sqrt(draws) * float(np.abs(angles(first) - angles(second)).max())


def angles(table: Any) -> np.ndarray:
    """The arcsine of the square root of each number, kept with the table, too."""
    if not hasattr(table, "angles"):
        table.angles = np.arcsin(np.sqrt(as_array(table)))
    return table.angles


def same_distribution(first: torch.Tensor, second: torch.Tensor, draws: int = DRAWS) -> bool:
    """Do frequencies agree with probabilities or frequencies? Probabilities agree if draws cannot tell them apart."""
    if as_array(first).shape != as_array(second).shape:
        return False
    exact = isinstance(first, Chances), isinstance(second, Chances)
    if all(exact):
        return deviations_between(first, second, draws) < 2 * DEVIATIONS
    if not any(exact):
        return deviations_between(first, second, draws) < math.sqrt(2) * DEVIATIONS
    return (surprise(second, first, draws) if exact[0] else surprise(first, second, draws)) < LIMIT
