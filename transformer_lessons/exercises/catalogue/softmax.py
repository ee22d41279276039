"""softmax, lesson 1: scores become weights."""

import numpy as np

from transformer_lessons.exercises.checker.exercise import Setup, normal
from transformer_lessons.first_steps import softmax


def draw_scores(generator, shape, far=None, zeros=-1):
    """Scores of unit scale, 0 in column `zeros`; or, where far is not 0, a little nearer to 0 than far * 1000."""
    near = normal(generator, *shape).numpy() * (np.arange(shape[-1]) != zeros)
    far = np.zeros(shape) if far is None else np.array(far)
    return (np.where(far == 0, near, far * (1000 - np.abs(near))),)


def scale_sentence(weights, scores):
    """What the scores were multiplied by, if the weights are the softmax of scores times a number."""
    sums_to_one = np.allclose(weights.sum(-1), 1, atol=1e-4)
    if weights.shape != scores.shape or (weights <= 0).any() or not sums_to_one:
        return None
    found = np.log(weights) - np.log(weights).mean(-1, keepdims=True)
    centred = scores - scores.mean(-1, keepdims=True)
    ratio = (found * centred).sum() / (centred * centred).sum()
    fits = np.allclose(found, ratio * centred, rtol=1e-3, atol=1e-3)
    if not fits or abs(ratio - 1) < 1e-3 or abs(ratio) < 5e-3:
        return None
    return f"This is the softmax of the scores multiplied by {ratio:.2f}; they should not be scaled."


INTEGERS = "an array of integers"


def of_integers(call, scores):
    """Do integer scores give integer weights, as they do in a copy of the scores? An error here tells us nothing."""
    try:
        cut = scores.shape == (3,) and call(np.array([2, 1, 0])).dtype.kind in "iu"
    except Exception:
        return None
    return (INTEGERS, "If the scores are integers, so are the weights.", "the dtype of the result.") if cut else None


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
    ],
    draw=draw_scores,
    reference=softmax,
    returns="weights",
    shapes={"weights": "the shape of scores"},
    checks=[of_integers],
    symptoms=[lambda observed, expected, scores: scale_sentence(observed, scores)],
)
