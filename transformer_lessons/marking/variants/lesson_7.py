"""Lesson 7, varied: RMS norm, after the residual connection."""

from transformer_lessons.exercises.checker.setup import Setup, normal

setup = Setup(
    sizes=[{"shape": (2, 3)}, {"shape": (2, 3, 4)}, {"shape": (4, 4)}, {"shape": (3, 5), "scale": 3e-3}],
    draw=lambda generator, shape, scale=1.0: (
        scale * (1 + normal(generator, *shape)),
        scale * normal(generator, *shape),
        normal(generator, shape[-1]),
    ),
)
