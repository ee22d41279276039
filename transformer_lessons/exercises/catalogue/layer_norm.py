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
    mean, variance, spread = inner.mean(-1).flatten(), inner.var(-1, correction=0), x.var(-1, correction=0)
    wanted, begin = spread / (spread + eps), "With bias subtracted and gain divided out, a vector has a"
    if float(mean.abs().max()) > 1e-3:
        return f"{begin} mean of {float(mean[mean.abs().argmax()]):.3f} instead of 0."
    worst = (variance - wanted).abs().argmax()
    found, right = (float(variances.flatten()[worst]) for variances in (variance, wanted))
    return f"{begin} variance of {found:.3f} instead of {right:.3f}." if abs(found - right) > 1e-3 else None


def of_a_large_mean(call, x, gain, *_):
    """Is the variance right in float32 where the mean is far larger than the deviations?"""
    far = torch.tensor([[10001.0, 9999.0, 10003.0], [9998.0, 10000.0, 10001.0], [-2.0, 0.0, 1.0]])
    none = torch.zeros(3)
    if x.shape != (2, 3):
        return None
    expected = F.layer_norm(far, (3,))
    results = [call(far.to(dtype), none.to(dtype) + 1, none.to(dtype)) for dtype in (torch.float32, torch.float64)]
    in_float32, in_float64 = (torch.allclose(result.float(), expected, atol=0.02) for result in results)
    if in_float64 and not in_float32:
        return "a difference of large numbers"
    return None if in_float32 else A_LARGE_MEAN


A_LARGE_MEAN = (
    "not right for a large mean",
    "Vectors whose mean is about 10,000 are normalised wrongly.",
    "is there a limit in your code, or a number that is large enough only for small ones?",
)


def epsilon(observed, expected, x, gain, bias, eps=1e-5):
    """Another number under the root: whatever it is, it is the same for all features."""
    if not comparable(observed, expected):
        return []
    deviations = x - x.mean(-1, keepdim=True)
    added = (deviations * gain / (observed - bias).double()) ** 2 - (deviations**2).mean(-1, keepdim=True)
    middle, noise = float(added.median()), 1e-11 * float((deviations**2).max())
    is_one_number = added.isfinite().all() and (added - middle).abs().max() < 0.02 * middle + noise
    return ["another epsilon"] * bool(is_one_number and middle > 0)


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
    symptoms=[row_not_normal],
    checks=[of_a_large_mean],
    reference=lambda x, gain, bias, eps=1e-5: F.layer_norm(x, gain.shape, gain, bias, eps),
    solves=epsilon,
    gradients=True,
)
