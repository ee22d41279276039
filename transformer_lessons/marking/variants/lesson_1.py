"""Lesson 1, varied: a softmax with a temperature."""

from transformer_lessons.exercises.checker.setup import Setup, normal

setup = Setup(
    sizes=[
        {"shape": (2, 3), "temperature": 2.0},
        {"shape": (3, 2, 4), "temperature": 0.5},
        {"shape": (4, 4), "temperature": 3.0},
        {"shape": (3, 5), "temperature": 1.5, "shift": 3000.0},
    ],
    draw=lambda generator, shape, temperature, shift=0.0: (
        (shift + 2 * normal(generator, *shape)).numpy(),
        temperature,
    ),
    returns="weights",
)
