"""How the inputs of `AttentionHead` are drawn, and whether its scores were scaled by some number."""

import torch.nn.functional as F

from transformer_lessons import first_steps
from transformer_lessons.exercises.catalogue.attention_scores import factor_of, is_dropped
from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.setup import Setup, normal


def in_training(call, x):
    """Does training mode change anything, and is it what dropout does?"""
    wanted, found = list(call(x)), list(call.train()(x))
    if alike(wanted, found, 1e-4):
        return None
    return "dropout" if any(map(is_dropped, found, wanted)) else ANOTHER_RESULT


ANOTHER_RESULT = (
    "another result in training mode",
    "In training mode the result is not the one of eval mode, and in this exercise it should be.",
    "what does `forward` do only in training mode?",
)


setup = Setup(
    build=("d_model", "d_head"),
    sizes=[
        {"batch": 1, "length": 2, "d_model": 4, "d_head": 3},
        {"batch": 2, "length": 4, "d_model": 5, "d_head": 3},
        {"batch": 2, "length": 3, "d_model": 4, "d_head": 4},
        {"batch": 3, "length": 3, "d_model": 3, "d_head": 3},
        {"batch": 4, "length": 5, "d_model": 3, "d_head": 6, "zeros": 1},  # a vector of zeros has scores of 0
        {"batch": 6, "length": 5, "d_model": 14, "d_head": 10, "scale": 4.5},  # scores beyond 50
    ],
    draw=lambda generator, batch, length, d_model, d_head, zeros=0, scale=1.0: (
        F.pad(normal(generator, batch, length - zeros, d_model, scale=scale), (0, 0, 0, zeros)),
    ),
    reference=first_steps.AttentionHead,
    checks=[in_training],
    returns=("output", "weights"),
    shapes={"output": "(batch, query, d_head)", "weights": "(batch, query, key)"},
    solves=lambda observed, expected, x: (
        (factor := factor_of(observed, expected)) and [("scaled by a fixed number", factor)]
    ),
)
