"""Lesson 4, varied: several query heads share one head of keys."""

from transformer_lessons.exercises.checker.setup import Setup, normal


def draw(generator, batch, groups, length, d_head, num_heads):
    return normal(generator, batch, groups, length, d_head), num_heads


setup = Setup(
    sizes=[
        dict(zip(("batch", "groups", "length", "d_head", "num_heads"), one, strict=True))
        for one in ((1, 2, 3, 2, 4), (2, 3, 4, 5, 6), (4, 4, 4, 4, 4), (2, 2, 5, 3, 8), (3, 1, 2, 4, 2))
    ],
    draw=draw,
    returns="key",
    shapes={"key": "(batch, num_heads, length, d_head)"},
)
