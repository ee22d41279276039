"""The exercise `layer_norm`: every vector with mean 0 and variance 1, times a gain, plus a bias."""

import torch.nn.functional as F

from transformer_lessons.exercises.checker.exercise import Setup, normal


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
    returns="result",
    symptoms=(row_not_normal,),
    reference=lambda x, gain, bias, eps=1e-5: F.layer_norm(x, gain.shape, gain, bias, eps),
)
