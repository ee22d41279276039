"""How the inputs of `rotate` are drawn, and which property of a rotation is missing."""

import numpy as np
import torch

from transformer_lessons.exercises.checker.setup import Setup, integers, normal
from transformer_lessons.running.values import numbers


def draw(generator, lead, length, d, base=None, fractions=False, backwards=False):
    """Vectors, and positions that neither start at 0 nor follow on from each other."""
    gaps = integers(generator, 5, length, low=2)
    positions = 1 + gaps.cumsum(0)
    if fractions:
        positions = positions + 0.25 + 0.5 * torch.rand(length, generator=generator, dtype=torch.float64)
    inputs = normal(generator, *lead, length, d), positions.flip(0) if backwards else positions
    return inputs if base is None else (*inputs, base)


def what_it_is_not(observed, expected, x, positions, base=10000):
    """Which property of rotated pairs these lack."""
    ours, theirs = (numbers(one).reshape(*x.shape[:-1], -1, 2) for one in (observed, expected))
    if not np.allclose(np.linalg.norm(ours, axis=-1), np.linalg.norm(theirs, axis=-1), atol=1e-4):
        return "Some pairs change their length: a rotation keeps a² + b² of every pair (a, b) as it was."
    wrong = np.abs(ours - theirs).max(axis=-1).reshape(-1, x.shape[-1] // 2).max(axis=0) > 1e-4
    return f"Every pair keeps its length, but pair {wrong.argmax()} is the first not to turn by the right angle."


setup = Setup(
    sizes=[
        {"lead": (), "length": 2, "d": 4},
        {"lead": (4,), "length": 4, "d": 4, "backwards": True},
        {"lead": (), "length": 1, "d": 2},
        {"lead": (3,), "length": 5, "d": 6, "backwards": True},
        {"lead": (2, 3), "length": 5, "d": 8, "base": 500},
        {"lead": (2,), "length": 7, "d": 8, "fractions": True},
        {"lead": (), "length": 2, "d": 4, "backwards": True},
    ],
    draw=draw,
    names_steps=False,
    returns="rotated",
    shapes={"rotated": "(…, length, d)"},
    symptoms=[what_it_is_not],
)
