"""How the inputs of `self_attention` are drawn, and whether its scores were multiplied by some number."""

import numpy as np

from transformer_lessons.exercises.catalogue.attention_scores import factor_between
from transformer_lessons.exercises.checker.comparison import alike, comparable
from transformer_lessons.exercises.checker.setup import Setup, normal
from transformer_lessons.first_steps import self_attention


def draw_vectors(generator, length, features, alike=False):
    """With alike, vector 1 is longer than 0 and points almost the same way, 3 is at a right angle to 2, and 5 is 4."""
    x = normal(generator, length, features).numpy()
    if alike:
        x[1], x[5] = 1.5 * x[0] + 0.1 * x[1], x[4]
        x[2, :2] = x[3, 2:] = 0.0
    return (x,)


def scale(observed, expected, x):
    """Any number that all the scores, or all squared distances in their place, were multiplied by."""
    output, weights = observed
    if not comparable(observed, expected) or not (weights > 0).all() or not np.allclose(output, weights @ x, atol=1e-4):
        return []
    distances = ((x[:, None] - x) ** 2).sum(-1)
    scores = {"the scores scaled": x @ x.T, "another measure than the dot product": -distances}
    return [name for name, one in scores.items() if factor_between(weights, one) is not None]


def of_large_scores(call, x):
    """Do scores of about 1000 lose their weights, or those of a row far below them, or that finds another longer?"""
    far = np.array([[30.0, 10.0, 0.0], [30.0, 9.9, 0.0], [-30.0, 10.0, 0.0], [0.0, 0.0, 1.0], [15.0, 0.0, 0.0]])
    if x.shape != (2, 3) or all(
        alike(list(call(one)), list(self_attention(one)), 1e-4) for one in (far, far.astype(np.float32))
    ):
        return None
    return "large scores lost"


setup = Setup(
    sizes=[
        {"length": 2, "features": 3},
        {"length": 3, "features": 2},
        {"length": 3, "features": 3},
        {"length": 4, "features": 6},
        {"length": 6, "features": 4, "alike": True},
        {"length": 1, "features": 3},
    ],
    draw=draw_vectors,
    reference=self_attention,
    returns=("output", "weights"),
    shapes={"output": "(query, features)", "weights": "(query, key)"},
    solves=scale,
    checks=[of_large_scores],
)
