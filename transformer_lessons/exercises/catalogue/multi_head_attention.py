"""MultiHeadAttention: several attention heads at once, each on its own slice of the projected features."""

import numpy as np

from transformer_lessons import attention
from transformer_lessons.exercises.checker.comparison import comparable, numbers
from transformer_lessons.exercises.checker.exercise import Setup, normal


def draw_roles(generator, batch, query, key, num_heads, d_model):
    return tuple(normal(generator, batch, length, d_model) for length in (query, key, key))


def signs_of_the_scale(observed, expected, query, key, value):
    """Whether the weights are right except for one factor in front of all the scores."""
    if not comparable(observed, expected):
        return
    ours, theirs = (np.log(numbers(weights)) for _, weights in (observed, expected))
    ours, theirs = ours - ours.mean(-1, keepdims=True), theirs - theirs.mean(-1, keepdims=True)
    factor = (ours * theirs).sum() / (theirs * theirs).sum()
    if abs(factor - 1) > 1e-3 and np.abs(ours - factor * theirs).max() < 1e-3:
        yield "scaled by another number" if factor > 0 else "the softmax of the negative scores"


setup = Setup(
    sizes=[  # no length is 1 and there is never just one head, for then much that is wrong elsewhere goes through
        {"batch": 1, "query": 2, "key": 3, "num_heads": 2, "d_model": 4},
        {"batch": 3, "query": 3, "key": 3, "num_heads": 3, "d_model": 9},
        {"batch": 2, "query": 5, "key": 5, "num_heads": 3, "d_model": 12},
        {"batch": 3, "query": 4, "key": 7, "num_heads": 2, "d_model": 10},
        {"batch": 5, "query": 6, "key": 4, "num_heads": 3, "d_model": 24},
    ],
    draw=draw_roles,
    build=("d_model", "num_heads"),
    signs=signs_of_the_scale,
    reference=lambda d_model, num_heads: attention.MultiHeadAttention(d_model, num_heads),
    returns=("output", "weights"),
    shapes={"output": "(batch, query, d_model)", "weights": "(batch, heads, query, key)"},
)
