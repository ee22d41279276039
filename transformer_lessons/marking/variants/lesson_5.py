"""Lesson 5, varied: a rotation that pairs each feature with the one half a vector further on."""

import torch

from transformer_lessons.exercises.checker.setup import Setup, normal


def draw(generator, shape, d, base=10000.0):
    return normal(generator, *shape, d), torch.randperm(shape[-1], generator=generator) + 2, base


setup = Setup(
    sizes=[
        {"shape": (2,), "d": 4},
        {"shape": (3, 5), "d": 6, "base": 100.0},
        {"shape": (4, 4), "d": 4},
        {"shape": (2, 3, 4), "d": 8, "base": 500.0},
    ],
    draw=draw,
)
