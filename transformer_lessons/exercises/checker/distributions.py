"""How random results are compared: by their distribution, so that it does not matter how anything is drawn.

An answer draws DRAWS tokens, or as many as an exercise says, from each of a few distributions. The right
ones are known exactly, and so are those of every known mistake. How well do the answer's frequencies agree with them?

A right answer is rejected less than once in 10⁶ runs. By Chernoff's bound, the frequency q of something of
chance p in n independent draws is so far above p that n · KL(q, p) ≥ t with a probability of at most exp(-t),
for any n; the same holds below. A check compares fewer than 100 frequencies, each with two sides:
for t = LIMIT = 20, the probability that any is that far off is less than 100 · 2 · exp(-20) = 4.2 · 10⁻⁷.
"""

import math

import numpy as np
import torch

DRAWS = 1500  # from each distribution
LIMIT = 20.0
DEVIATIONS = math.sqrt(2 * LIMIT)  # the limit in standard deviations, for large numbers


class Chances(torch.Tensor):
    """Exact probabilities, in rows that sum to 1, where answers have frequencies."""

    label = "how often each token is drawn"  # printed above the numbers in a verdict


def chances(weights):
    """The exact distribution of draws by these weights; what torch.multinomial refuses is refused."""
    torch.multinomial(weights, 1)
    return (weights / weights.sum(dim=-1, keepdim=True)).double().as_subclass(Chances)


def plain(table):
    """The same numbers as an ordinary tensor, kept with the table: it is compared with many others."""
    if not hasattr(table, "plain"):
        table.plain = table.detach().as_subclass(torch.Tensor).double()
    return table.plain


def frequencies(tokens, groups, size):
    """How often each token comes, where the rows of `groups` distributions take turns."""
    rows = tokens.reshape(-1, groups)
    return torch.stack([(rows == token).double().mean(dim=0) for token in range(size)], dim=1)


def surprise(observed, expected, draws=DRAWS):
    """n · KL(q, p) for the frequency that is farthest off: infinite where the impossible has happened.

    One number for each table that is expected, if there are several.
    """
    q, p = plain(observed).numpy(), plain(expected).numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [np.where(one > 0, one * np.log(one / other), 0.0) for one, other in ((q, p), (1 - q, 1 - p))]
    return draws * (parts[0] + parts[1]).max(axis=(-2, -1))


def apart(one, other, draws=DRAWS):
    """How many standard deviations lie between two tables; the arc sine makes these equal everywhere."""
    return 2 * math.sqrt(draws) * float(np.abs(angles(one) - angles(other)).max())


def angles(table):
    """Kept with the table, too."""
    if not hasattr(table, "angles"):
        table.angles = np.arcsin(np.sqrt(plain(table).numpy()))
    return table.angles


def same_distribution(one, other, draws=DRAWS):
    """Do frequencies agree with chances or frequencies? Chances agree if draws cannot tell them apart."""
    if one.shape != other.shape:
        return False
    exact = isinstance(one, Chances), isinstance(other, Chances)
    if all(exact):
        return apart(one, other, draws) < 2 * DEVIATIONS
    if not any(exact):
        return apart(one, other, draws) < math.sqrt(2) * DEVIATIONS
    drawn, known = (other, one) if exact[0] else (one, other)
    return surprise(drawn, known, draws) < LIMIT
