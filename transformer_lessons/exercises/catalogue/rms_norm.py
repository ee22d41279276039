"""How the inputs of `rms_norm` are drawn, and what the size of the rows shows."""

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.checker.setup import Setup, normal


def draw(generator, shape, scale=1.0, mean=0.6, epsilon=None):
    """Vectors whose mean is not 0, some so small that epsilon matters, and a gain; epsilon only if given."""
    inputs = mean + scale * normal(generator, *shape), normal(generator, shape[-1])
    return inputs if epsilon is None else (*inputs, epsilon)


def size_of_rows(observed, expected, x, gain, epsilon=1e-5):
    """The mean square of the result divided by the gain, whatever the answer did with the gain."""
    found, wanted = ((one.double() / gain).square().mean(-1).flatten() for one in (observed, expected))
    worst = (found - wanted).abs().argmax()
    shown, right = f"{float(found[worst]):.2f}", f"{float(wanted[worst]):.2f}"
    sentence = f"Divided by gain, one vector of your result has a mean square of {shown}; it should be {right}."
    return None if shown == right else sentence


def keeps_its_precision(call, x, gain, *epsilon):
    """The numbers are right; are they of the kind that x has, in both precisions?"""
    look = "which line turns x into another dtype, and which turns the result back?"
    for dtype in (x.dtype, torch.float32):
        made = call(x.to(dtype), gain.to(dtype), *epsilon).dtype
        names = (str(one).removeprefix("torch.") for one in (dtype, made))
        if made != dtype:
            sentence = "For x in {}, the result holds {}: `F.rms_norm` keeps the dtype.".format(*names)
            return "another precision", sentence, look
    return None


setup = Setup(
    sizes=[
        {"shape": (2, 3)},
        {"shape": (3, 3)},
        {"shape": (2, 3, 4)},
        {"shape": (4, 4, 4)},
        {"shape": (2, 3, 5), "scale": 0.2, "mean": 0.1, "epsilon": 0.3},
        {"shape": (3, 2), "scale": 0.02, "mean": 0.0, "epsilon": 0.3},  # the whole vector is shorter than epsilon
        {"shape": (2, 6), "scale": 3e-3, "mean": 0.0},
        {"shape": (5,)},
        {"shape": (2, 5), "scale": 3e-3, "mean": 0.0, "epsilon": 0.0},
        {"shape": (3, 4), "scale": 0.0, "mean": 0.0},
        {"shape": (1, 1, 6)},
    ],
    draw=draw,
    reference=lambda x, gain, epsilon=1e-5: F.rms_norm(x, gain.shape, gain, epsilon),
    gradients=True,
    checks=[keeps_its_precision],
    symptoms=[size_of_rows],
)
