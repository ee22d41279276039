"""How the inputs of `FeedForward` are drawn, and what its training mode sets to 0."""

import torch
import torch.nn.functional as F

from transformer_lessons import layers
from transformer_lessons.exercises.checker.setup import Setup, normal
from transformer_lessons.exercises.checker.weights import parameters

LAYERS = [f"{layer}.{part}" for layer in ("linear_in", "linear_out") for part in ("weight", "bias")]


OTHERWISE = (
    "wrong in training mode",
    "In training mode the result is not what linear_in, ReLU and linear_out give, "
    "with or without dropout between ReLU and linear_out.",
    "what does `forward` do only in training mode?",
)


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


def dropped(ours, whole, mistake):
    """The mistake if some of the numbers are set to 0; OTHERWISE if they are changed in another way."""
    left, factor = kept(ours, whole)
    if factor and not left.all():
        return mistake
    return OTHERWISE if factor is None or abs(factor - 1) > 1e-4 else None


def drops_only_after_relu(module, x):
    """Looks for what training mode sets to 0 or multiplies, weight by weight: only hidden features may be.

    Dropout before the ReLU passes: it gives the same numbers as dropout after it.
    """
    generator = torch.Generator().manual_seed(0)
    hidden, features = parameters(module, LAYERS)["linear_in.weight"].shape
    seen = min(hidden, features)  # hidden feature i is read from x[i], and is the whole of output i
    x, b, c = (1 + torch.rand(shape, generator=generator).to(x) for shape in ((2, 100, features), hidden, features))
    read, written = torch.eye(hidden, features).to(x), torch.eye(features, hidden).to(x)

    def hidden_features(x, sign=1.0, **weights):
        y = in_training(module, x, linear_out_weight=sign * written, linear_out_bias=sign * c, **weights)
        return (sign * y - c)[..., :seen]

    if last := dropped(in_training(module, x, linear_out_bias=c), c.expand(x.shape), "dropout after linear_out"):
        return last
    _, factor = kept(hidden_features(x, linear_in_bias=b), b[:seen].expand(*x.shape[:-1], seen))
    if factor is None or factor < 0:
        return OTHERWISE
    found = hidden_features(x, linear_in_weight=read, linear_in_bias=b)
    here = found.abs() > 1e-5
    if first := dropped((found / factor - b[:seen])[here], x[..., :seen][here], "dropout before linear_in"):
        return first
    x, b, mixed = (torch.randn(shape, generator=generator).to(x) for shape in (x.shape, b.shape, read.shape))
    wanted = factor * F.linear(x, mixed, b).relu()[..., :seen]
    found = [hidden_features(x, sign, linear_in_weight=mixed, linear_in_bias=b) for sign in (1.0, -1.0)]
    return OTHERWISE if any(((one - wanted).abs().minimum(one.abs()) > 1e-4).any() for one in found) else None


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
