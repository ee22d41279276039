"""Lesson 5, varied: a rotation that pairs each feature with the one half a vector further on."""

import torch

from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal


def draw(generator, shape, d, base=10000.0):
    return normal(generator, *shape, d), torch.randperm(shape[-1], generator=generator) + 2, base


def rotate_halves(x, positions, base):
    d = x.shape[-1]
    angles = positions[:, None] * base ** (-2 * torch.arange(d // 2).double() / d)
    cosine, sine = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cosine - second * sine, first * sine + second * cosine], dim=-1)


exercise = Exercise(
    name="rotate_halves",
    lesson=5,
    title="Halves instead of neighbours",
    difficulty=2,
    importance=2,
    minutes=12,
    contract="""rotate_halves(x, positions, base) turns, in x (…, length, d), feature i and feature i + d / 2 together,
        as (first, second), by the angle positions * base ** (-2 i / d), from the first towards the second. positions is
        (length,), d is even. It returns a tensor of x's shape.""",
    stub='''
        def rotate_halves(x, positions, base):
            """Each vector turned by its position; the two features of a pair lie half a vector apart."""
            raise NotImplementedError''',
    sizes=[
        {"shape": (2,), "d": 4},
        {"shape": (3, 5), "d": 6, "base": 100.0},
        {"shape": (4, 4), "d": 4},
        {"shape": (2, 3, 4), "d": 8, "base": 500.0},
    ],
    draw=draw,
    reference=rotate_halves,
    hints=[("the wrong features are turned", "Which features does x.chunk(2, dim=-1) put side by side?")],
)


@exercise.right("step by step")
class Halves(Steps):
    def __call__(self, x, positions, base):
        angles = positions[:, None] * self.frequencies(torch.arange(x.shape[-1] // 2), x.shape[-1], base)
        return self.turned(*x.chunk(2, dim=-1), angles.to(x.dtype))

    def frequencies(self, pairs, d, base):
        return base ** (-2 * pairs.double() / d)

    def turned(self, first, second, angles):
        cosine, sine = angles.cos(), angles.sin()
        return torch.cat([first * cosine - second * sine, first * sine + second * cosine], dim=-1)


def neighbours(x, positions, base):
    halves = torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1)
    return torch.stack(Halves()(halves, positions, base).chunk(2, dim=-1), dim=-1).flatten(-2)


mistake = exercise.section(hint=1)
mistake(
    "neighbouring pairs",
    why="Features 2i and 2i + 1 are turned together, as in the lesson.",
    look="how far apart do the two features of a pair lie here?",
    variants=[neighbours],
)
mistake(
    "the wrong way round",
    why="The vectors are turned backwards.",
    look="the sign of each sine.",
    turned=lambda step, first, second, angles: step(first, second, -angles),
)
mistake(
    "the exponent without its 2",
    why="The exponent is -i / d, so the frequencies fall too slowly.",
    look="what is the frequency of the last pair?",
    frequencies=lambda pairs, d, base: base ** (-pairs.double() / d),
)
mistake(
    "pairs put side by side",
    why="The turned features are put back as neighbours.",
    look="where did feature 0's partner come from?",
    turned=lambda right: torch.stack(right.chunk(2, dim=-1), dim=-1).flatten(-2),
)
