"""The exercise `FeedForward`: the two layers that work on each position alone."""

import torch
import torch.nn.functional as F

from transformer_lessons import layers
from transformer_lessons.exercises.checker.setup import Setup, normal
from transformer_lessons.exercises.checker.weights import parameters

LAYERS = [f"{layer}.{part}" for layer in ("linear_in", "linear_out") for part in ("weight", "bias")]


LAST_DROPPED, FIRST_DROPPED = "dropout after linear_out", "dropout before linear_in"


ONLY_HERE = "Dropout is allowed only between the ReLU and linear_out."


OF_LAST = f"In training mode, numbers in the result are set to 0 after linear_out. {ONLY_HERE}"


OF_FIRST = f"In training mode, numbers in x are set to 0 before linear_in reads them. {ONLY_HERE}"


AFTER, FIRST_LINE = "what happens after linear_out?", "what happens to x before linear_in reads it?"


def in_training(module, x, **weights):
    """The output of a module in training mode with these weights; those that are not named are 0."""
    with torch.no_grad():
        for name, one in parameters(module, LAYERS).items():
            one.copy_(weights.get(name.replace(".", "_"), torch.zeros(())))
        return module.train()(x)


def kept(ours, whole):
    """(which numbers have not been set to 0, the number they have been multiplied by: None if there are several)."""
    left = ours.abs() > 1e-5 * whole.abs()
    factors = (ours / whole)[left]
    if len(factors) == 0:
        return left, 1.0
    return left, float(factors[0]) if (factors - factors[0]).abs().max() < 1e-4 else None


def drops_only_after_relu(module, x):
    """Looks for what training mode sets to 0 or multiplies, weight by weight: only hidden features may be.

    Dropout before the ReLU passes: it gives the same numbers as dropout after it.
    """
    other = (
        "wrong in training mode",
        "In training mode the result is not what linear_in, ReLU and linear_out give, "
        "with or without dropout between ReLU and linear_out.",
        "what does `forward` do only in training mode?",
    )
    generator = torch.Generator().manual_seed(0)
    hidden, features = parameters(module, LAYERS)["linear_in.weight"].shape
    seen = min(hidden, features)  # hidden feature i is read from x[i], and is the whole of output i
    x, b, c = (1 + torch.rand(shape, generator=generator).to(x) for shape in ((2, 100, features), hidden, features))
    read, written = torch.eye(hidden, features).to(x), torch.eye(features, hidden).to(x)

    left, factor = kept(in_training(module, x, linear_out_bias=c), c.expand(x.shape))
    if factor is None or not left.all() or abs(factor - 1) > 1e-4:
        return (LAST_DROPPED, OF_LAST, AFTER) if factor and not left.all() else other

    def hidden_features(x, sign=1.0, **weights):
        y = in_training(module, x, linear_out_weight=sign * written, linear_out_bias=sign * c, **weights)
        return (sign * y - c)[..., :seen]

    _, factor = kept(hidden_features(x, linear_in_bias=b), b[:seen].expand(*x.shape[:-1], seen))
    if factor is None or factor < 0:
        return other
    found = hidden_features(x, linear_in_weight=read, linear_in_bias=b)
    whole = x[..., :seen]
    here = found.abs() > 1e-5
    left, also = kept((found / factor - b[:seen])[here], whole[here])
    if also is None or not left.all() or abs(also - 1) > 1e-4:
        return (FIRST_DROPPED, OF_FIRST, FIRST_LINE) if also and not left.all() else other
    x, b, mixed = (torch.randn(shape, generator=generator).to(x) for shape in (x.shape, b.shape, read.shape))
    wanted = factor * F.linear(x, mixed, b).relu()[..., :seen]
    for sign in (1.0, -1.0):
        found = hidden_features(x, sign, linear_in_weight=mixed, linear_in_bias=b)
        if ((found - wanted).abs().minimum(found.abs()) > 1e-4).any():
            return other
    return None


setup = Setup(
    sizes=[
        {"d_model": 2, "d_hidden": 3, "lead": (1, 2)},
        {"d_model": 4, "d_hidden": 4, "lead": (2, 3)},
        {"d_model": 3, "d_hidden": 7, "lead": (2, 5)},
        {"d_model": 5, "d_hidden": 6, "lead": (2, 4), "scale": 12.0},
    ],
    build=("d_model", "d_hidden"),
    reference=layers.FeedForward,
    draw=lambda generator, d_model, d_hidden, lead, scale=2.0: (normal(generator, *lead, d_model, scale=scale),),
    returns="output",
    shapes={"output": "(batch, length, d_model)"},
    checks=[drops_only_after_relu],
)
