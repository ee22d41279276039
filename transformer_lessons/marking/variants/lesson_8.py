"""Lesson 8, varied: top-p sampling."""

from transformer_lessons.exercises.checker.setup import Setup, normal

setup = Setup(
    sizes=[
        {"batch": batch, "vocabulary": vocabulary, "p": p}
        for batch, vocabulary, p in ((1, 4, 0.6), (2, 5, 0.8), (4, 4, 0.5), (3, 7, 0.9), (2, 6, 0.3), (2, 6, 0.05))
    ],
    draw=lambda generator, batch, vocabulary, p: (2 * normal(generator, batch, vocabulary), p),
    returns="logits",
    shapes={"logits": "(batch, vocabulary)"},
)
