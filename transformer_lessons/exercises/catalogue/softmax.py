"""How the inputs of `softmax` are drawn, and which scale, base or number in the sum an answer has used."""

from contextlib import suppress

import numpy as np

from transformer_lessons.exercises.catalogue.attention_scores import factor_between
from transformer_lessons.exercises.checker.setup import Setup, normal
from transformer_lessons.first_steps import softmax


def draw_scores(generator, shape, far=None, zeros=-1):
    """Scores of unit scale, 0 in column `zeros`; or, where far is not 0, a little nearer to 0 than far * 1000."""
    near = normal(generator, *shape).numpy() * (np.arange(shape[-1]) != zeros)
    far = np.zeros(shape) if far is None else np.array(far)
    return (np.where(far == 0, near, far * (1000 - np.abs(near))),)


def of_integers(call, scores):
    """Do integer scores give integer weights, as they do in a copy of the scores? An error here tells us nothing."""
    with suppress(Exception):
        if scores.shape == (3,) and call(np.array([2, 1, 0])).dtype.kind in "iu":
            return "the decimals lost", "If the scores are integers, so are the weights.", "the dtype of the result."
    return None


def solved(observed, expected, scores):
    """The number that the scores were multiplied by, or e replaced by, or that was added to the sum."""
    if not isinstance(observed, np.ndarray) or observed.shape != scores.shape or not (observed >= 0).all():
        return []
    if not (observed.all() and expected.all()):
        return None
    shifted = scores - scores.max(-1, keepdims=True)
    added = np.exp(shifted).sum(-1, keepdims=True) * (expected / observed - 1)
    if added.min() > 1e-5 and np.allclose(added, added.flat[0], rtol=1e-3):
        return [("a number added to the sum", float(added.flat[0]))]
    factor = factor_between(observed, scores)
    if factor is None:
        return []
    is_base = 2.5 < np.exp(factor) < 3 or np.abs(np.exp(factor) - [2, 3, 10]).min() < 1e-2
    return ["another base" if is_base else "a scale that was not asked for"]


setup = Setup(
    sizes=[
        {"shape": (3,)},
        {"shape": (2, 3)},
        {"shape": (3, 3)},
        {"shape": (2, 3, 4)},
        {"shape": (3, 3, 3)},
        {"shape": (2, 3, 5, 4), "zeros": 2},
        {"shape": (4, 1)},
        {"shape": (2,), "far": [1, 1]},
        {"shape": (3,), "far": [1, 0, -1]},
        {"shape": (2,), "far": [-1, -1]},
        {"shape": (3,), "far": [-1, 0, 1]},
        {"shape": (2,), "far": [-0.4, -0.4]},
        {"shape": (3, 4), "far": [[1, 1, 1, 1], [-1, -1, -1, -1], [1, -1, 0, 1]]},
        {"shape": (2,), "far": [0, -1]},
    ],
    draw=draw_scores,
    reference=softmax,
    returns="weights",
    shapes={"weights": "the shape of scores"},
    checks=[of_integers],
    solves=solved,
)
