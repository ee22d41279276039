"""Lesson 6, varied: a window on both sides."""

from transformer_lessons.exercises.checker.setup import Setup

setup = Setup(
    sizes=[
        dict(zip(("length", "before", "after"), one, strict=True))
        for one in ((4, 1, 0), (5, 1, 2), (7, 3, 1), (6, 0, 0), (6, 2, 2), (1, 2, 3), (5, 9, 1))
    ],
    draw=lambda generator, length, before, after: (length, before, after),
    returns="mask",
    shapes={"mask": "(query, key)"},
)
