"""How the inputs of `layer_norm` are drawn, and which epsilon was added."""

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.checker.comparison import comparable
from transformer_lessons.exercises.checker.setup import Setup, normal


def draw_features(generator, shape, scale=1.0, mean=0.5, eps=None):
    """Features around a mean (scale 0: all of them equal to it), a gain and a bias; eps only if given."""
    x = mean + scale * normal(generator, *shape)
    inputs = x, normal(generator, shape[-1]), normal(generator, shape[-1])
    return inputs if eps is None else (*inputs, eps)


def row_not_normal(observed, expected, x, gain, bias, eps=1e-5):
    """Undoes gain and bias, and looks at the mean and variance of what is left."""
    inner = (observed.double() - bias) / gain
    mean, variance = inner.mean(-1), inner.var(-1, correction=0)
    if float(mean.abs().max()) > 1e-3:
        worst = float(mean.flatten()[mean.abs().argmax()])
        return f"With bias subtracted and gain divided out, a vector has a mean of {worst:.3f} instead of 0."
    wanted = x.var(-1, correction=0) / (x.var(-1, correction=0) + eps)
    worst = (variance - wanted).abs().argmax()
    if float((variance - wanted).abs().max()) > 1e-3:
        return (
            "With bias subtracted and gain divided out, a vector has a variance of "
            f"{float(variance.flatten()[worst]):.3f} instead of {float(wanted.flatten()[worst]):.3f}."
        )
    return None


def epsilon(observed, expected, x, gain, bias, eps=1e-5):
    """Another number under the root: whatever it is, it is the same for all features."""
    if not comparable(observed, expected):
        return []
    deviations = x - x.mean(-1, keepdim=True)
    return ["another epsilon"] if is_added(deviations, deviations, (observed - bias) / gain) else []


def is_added(numerators: torch.Tensor, squared: torch.Tensor, quotients: torch.Tensor) -> bool:
    """Is there a number of 0 or more for which quotients = numerators / √(mean of squared² + number)?"""
    number = (numerators / quotients.double()) ** 2 - (squared**2).mean(-1, keepdim=True)
    middle, noise = float(number.median()), 1e-11 * float((squared**2).max())
    return bool(number.isfinite().all()) and middle > 0 and float((number - middle).abs().max()) < 0.02 * middle + noise


setup = Setup(
    sizes=[
        {"shape": (2, 3)},
        {"shape": (3, 3)},
        {"shape": (2, 3, 4)},
        {"shape": (4, 4, 4)},
        {"shape": (2, 3, 5), "scale": 0.2, "eps": 0.3},
        {"shape": (2, 6), "scale": 3e-3, "mean": 0.0},
        {"shape": (3, 4), "scale": 0.0},
        {"shape": (1, 3, 1, 4)},
    ],
    draw=draw_features,
    symptoms=(row_not_normal,),
    reference=lambda x, gain, bias, eps=1e-5: F.layer_norm(x, gain.shape, gain, bias, eps),
    solves=epsilon,
)
