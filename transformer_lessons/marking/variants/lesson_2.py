"""Lesson 2, varied: attention with the length first and the batch second."""

from transformer_lessons.exercises.checker.setup import Setup, normal


def draw(generator, queries, keys, batch, d, d_v):
    return tuple(normal(generator, *shape) for shape in ((queries, batch, d), (keys, batch, d), (keys, batch, d_v)))


setup = Setup(
    sizes=[
        dict(zip(("queries", "keys", "batch", "d", "d_v"), one, strict=True))
        for one in ((2, 3, 1, 4, 2), (3, 5, 2, 4, 6), (4, 4, 4, 4, 4), (5, 2, 3, 6, 4))
    ],
    draw=draw,
    returns=("output", "weights"),
    shapes={"output": "(queries, batch, d_v)", "weights": "(batch, queries, keys)"},
)
