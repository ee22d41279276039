"""How the inputs of `swiglu` are drawn."""

import torch

from transformer_lessons.exercises.checker.setup import Setup, normal


def draw(generator, lead, d_model, d_hidden, scale=1.5, gates=()):
    """Vectors, and three matrices as nn.Linear keeps them: a row for each feature of the output.

    If gates are given, each vector has one of these numbers for all the features of its gate.
    """
    x, gate = normal(generator, *lead, d_model, scale=scale), normal(generator, d_hidden, d_model)
    if gates:
        x, gate = torch.tensor(gates, dtype=torch.float64)[:, None].expand(x.shape).clone(), gate.softmax(-1)
    return x, gate, normal(generator, d_hidden, d_model), normal(generator, d_model, d_hidden)


setup = Setup(
    sizes=[
        {"lead": (2,), "d_model": 2, "d_hidden": 3},
        {"lead": (3,), "d_model": 3, "d_hidden": 3},
        {"lead": (), "d_model": 4, "d_hidden": 3},
        {"lead": (2, 5), "d_model": 3, "d_hidden": 4},
        {"lead": (2, 3), "d_model": 5, "d_hidden": 7, "scale": 6.0},
        {"lead": (3,), "d_model": 2, "d_hidden": 4, "gates": (800.0, 100.0, -80.0)},
        {"lead": (1, 1), "d_model": 4, "d_hidden": 6},
    ],
    draw=draw,
    gradients=True,
    shapes={"result": "(…, d_model)"},
)
