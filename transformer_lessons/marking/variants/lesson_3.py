"""Lesson 3, varied: a learned scale for each head."""

from transformer_lessons.exercises.checker.setup import Setup, normal


def draw(generator, batch, heads, queries, keys, d, d_v):
    return (
        normal(generator, batch, heads, queries, d),
        normal(generator, batch, heads, keys, d),
        normal(generator, batch, heads, keys, d_v),
        normal(generator, heads),
    )


setup = Setup(
    sizes=[
        dict(zip(("batch", "heads", "queries", "keys", "d", "d_v"), one, strict=True))
        for one in ((1, 2, 3, 4, 2, 3), (2, 3, 4, 5, 6, 2), (4, 4, 4, 4, 4, 4), (3, 1, 2, 6, 4, 5))
    ],
    draw=draw,
    returns="output",
)
