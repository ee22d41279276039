"""The exercise `FeedForward`: the two layers that work on each position alone."""

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons import layers
from transformer_lessons.exercises.checker.exercise import Exercise, normal, parameters

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


exercise = Exercise(
    name="FeedForward",
    lesson=7,
    title="Each position thinks for itself",
    difficulty=1,
    importance=3,
    minutes=4,
    contract="""FeedForward(d_model, d_hidden) is a module with linear_in, from d_model to d_hidden, and
        linear_out, from d_hidden to d_model, both nn.Linear with bias. forward(x), with x (batch, length, d_model),
        passes x through linear_in, ReLU and linear_out. Nothing is added and nothing normalised: the layer around it
        does that. Dropout is allowed between the ReLU and linear_out, and nowhere else.""",
    stub="""
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_hidden):
                super().__init__()
                raise NotImplementedError

            def forward(self, x):
                raise NotImplementedError""",
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
    hints=[
        (
            "the wrong parameters",
            "nn.Linear(in, out) has a weight of shape (out, in). One layer widens the "
            "vector, the other narrows it again.",
        ),
        (
            "the numbers differ",
            "There are three steps: widen, ReLU, narrow. The ReLU goes in the middle, and nowhere else.",
        ),
    ],
    solution="""
        from torch import nn

        class FeedForward(nn.Module):
            def __init__(self, d_model, d_hidden):
                super().__init__()
                self.linear_in = nn.Linear(d_model, d_hidden)
                self.linear_out = nn.Linear(d_hidden, d_model)

            def forward(self, x):
                return self.linear_out(self.linear_in(x).relu())""",
)


@exercise.right("step by step")
class FeedForward(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.linear_in = nn.Linear(d_model, d_hidden)
        self.linear_out = nn.Linear(d_hidden, d_model)

    def forward(self, x):
        return self.added(self.ended(self.output(self.activated(self.hidden(x)))), x)

    def hidden(self, x):
        return self.linear_in(x)

    def activated(self, hidden):
        return hidden.relu()

    def output(self, activated):
        return self.linear_out(activated)

    def ended(self, output):
        return output

    def added(self, output, x):
        return output


LAST = "what is done to the output of linear_out before it is returned?"
LINEAR = "what does nn.Linear do besides multiplying?"
ORDER = "the order of the three steps."

# The activation
mistake = exercise.section(hint=2)
mistake(
    "no activation",
    why="There is no activation between the two layers, and two linear layers in a row can do no more than one.",
    look="what exactly goes into linear_out?",
    activated=lambda hidden: hidden,
)
mistake(
    "the activation at the end",
    why="ReLU comes after the second layer, not between the two.",
    look=ORDER,
    variants=[{"activated": lambda hidden: hidden, "ended": lambda output: output.relu()}],
)
mistake(
    "the activation twice",
    why="ReLU is applied again after the second layer, where there should be no activation.",
    look=AFTER,
    ended=lambda output: output.relu(),
)
mistake(
    "something done to the result",
    why="The output of linear_out goes through another function, such as a tanh or "
    "a softmax; it should be returned as it is.",
    look=AFTER,
    ended=[
        lambda output: output.tanh(),
        lambda output: output.sigmoid(),
        lambda output: output.softmax(-1),
        lambda output: F.gelu(output),
    ],
    pairs=4,
)
mistake(
    "the activation first",
    why="ReLU is applied to x itself, not to the output of the first layer.",
    look=ORDER,
    variants=[{"hidden": lambda self, x: self.linear_in(x.relu()), "activated": lambda hidden: hidden}],
)
mistake(
    "ReLU on x as well",
    why="ReLU is also applied to x, before the first layer reads it.",
    look="what happens before linear_in?",
    hidden=lambda self, x: self.linear_in(x.relu()),
)

ACTIVATIONS = (  # the name, what is wrong, and the functions
    (
        "GELU for ReLU",
        "The activation is GELU, as in BERT and GPT-2; this exercise asks for ReLU, as in the paper.",
        F.gelu,
        lambda hidden: F.gelu(hidden, approximate="tanh"),
        lambda hidden: hidden * torch.sigmoid(1.702 * hidden),
    ),
    (
        "SiLU for ReLU",
        "The activation is SiLU (swish), as in many newer models; this exercise asks for ReLU, as in the paper.",
        F.silu,
    ),
    (
        "leaky ReLU for ReLU",
        "A leaky ReLU keeps a fraction of every negative number; ReLU turns it into 0.",
        *(lambda hidden, slope=slope: F.leaky_relu(hidden, slope) for slope in (0.01, 0.1, 0.2, 0.05, 0.3, 0.25)),
    ),
    ("ELU for ReLU", "ELU turns negative numbers into numbers between -1 and 0; ReLU turns them into 0.", F.elu),
    (
        "SELU for ReLU",
        "SELU stretches positive numbers and turns negative ones into numbers between -1.76 and 0; ReLU "
        "leaves positive numbers as they are and turns negative ones into 0.",
        F.selu,
    ),
    (
        "sigmoid for ReLU",
        "A sigmoid squeezes everything into the range 0 to 1; ReLU leaves positive numbers as they are.",
        torch.sigmoid,
    ),
    (
        "tanh for ReLU",
        "A tanh squeezes everything into the range -1 to 1; ReLU leaves positive numbers as they are.",
        torch.tanh,
    ),
    (
        "softplus for ReLU",
        "Softplus is a smooth version of ReLU that is never quite 0; the exercise asks for ReLU itself.",
        F.softplus,
    ),
    (
        "softmax for ReLU",
        "A softmax turns the hidden features into weights that sum to 1; ReLU works on each number alone.",
        lambda hidden: hidden.softmax(-1),
        lambda hidden: hidden.softmax(1),
    ),
    ("the absolute value for ReLU", "Negative numbers become positive; ReLU turns them into 0.", torch.abs),
    (
        "the square of ReLU",
        "The result of ReLU is squared; it should be used as it is.",
        lambda hidden: hidden.relu() ** 2,
    ),
    (
        "the wrong half kept",
        "The negative numbers are kept instead of the positive ones, or the sign of the result is wrong.",
        lambda hidden: hidden.clamp(max=0),
        lambda hidden: (-hidden).relu(),
        lambda hidden: -hidden.relu(),
    ),
    (
        "a step for ReLU",
        "Each hidden feature becomes 1 or 0; ReLU leaves positive numbers as they are.",
        lambda hidden: (hidden > 0).to(hidden.dtype),
    ),
    (
        "cut off at 1",
        "Numbers larger than 1 are cut down to 1; ReLU has no upper limit.",
        lambda hidden: hidden.clamp(0, 1),
        F.hardtanh,
    ),
    (
        "cut off at a limit",
        "Numbers above some limit are cut down to it; ReLU has no upper limit.",
        lambda hidden: hidden.clamp(0, 10),
        lambda hidden: hidden.clamp(0, 5),
    ),
    (
        "the hidden features added",
        "The output of linear_in is added to the result of ReLU; only the result of ReLU should go into linear_out.",
        lambda hidden: hidden + hidden.relu(),
    ),
    (
        "ReLU6 for ReLU",
        "ReLU6, which is used in models for mobile phones, cuts everything larger than 6 down to 6; "
        "ReLU has no upper limit.",
        F.relu6,
    ),
    ("Mish for ReLU", "Mish turns negative numbers into small negative ones; ReLU turns them into 0.", F.mish),
    (
        "hard swish for ReLU",
        "A hard swish turns some negative numbers into small negative ones; ReLU turns them all into 0.",
        F.hardswish,
    ),
    (
        "two activations",
        "A second activation comes before or after ReLU; the exercise asks for ReLU alone.",
        *(lambda hidden, bend=bend: bend(hidden.relu()) for bend in (F.gelu, torch.tanh, torch.sigmoid, F.silu)),
    ),
)
for name, why, *functions in ACTIVATIONS:
    mistake(
        name,
        why,
        "what happens to the output of linear_in before linear_out reads it?",
        pairs=len(functions),
        activated=[lambda hidden, bend=bend: bend(hidden) for bend in functions],
    )

# What is the layer's work, and which layers are used
mistake(
    "x added",
    why="x is added to the result. That residual connection is the job of the layer around this module.",
    look=LAST,
    added=lambda output, x: output + x,
)
mistake(
    "the result normalised",
    pairs=2,
    why="The result is normalised. Normalising is the job of the layer around this module.",
    look=LAST,
    added=[
        lambda output: F.layer_norm(output, output.shape[-1:]),
        lambda output, x: F.layer_norm(output + x, output.shape[-1:]),
    ],
)
mistake(
    "x normalised",
    why="x is normalised first. Normalising is the job of the layer around this module.",
    look=FIRST_LINE,
    hidden=lambda self, x: self.linear_in(F.layer_norm(x, x.shape[-1:])),
)
mistake(
    "the hidden features normalised",
    pairs=2,
    why="The hidden features are normalised between linear_in and "
    "linear_out. Normalising is the job of the layer around this module.",
    look="which steps come between linear_in and linear_out?",
    activated=[
        lambda hidden: F.layer_norm(hidden, hidden.shape[-1:]).relu(),
        lambda hidden: F.layer_norm(hidden.relu(), hidden.shape[-1:]),
    ],
)
mistake(
    "linear_out never used",
    why="linear_out is never used, or its output is thrown away, so the result still has d_hidden features.",
    look="how many features should the result have, and which layer sees to that?",
    output=lambda activated: activated,
)
mistake(
    "linear_in never used",
    pairs=2,
    why="linear_in is never used: x goes straight into linear_out, or through "
    "ReLU first. Where the sizes differ, this raises an error.",
    look="what goes into linear_out?",
    hidden=lambda x: x,
    variants=[{"hidden": lambda x: x, "activated": lambda hidden: hidden}],
)
mistake(
    "the two layers in the wrong order",
    hint=1,
    why="x goes through linear_out first and through linear_in last. Where the sizes differ, this raises an error.",
    look="which layer takes d_model features, and which one returns them?",
    variants=[
        {"hidden": lambda self, x: self.linear_out(x), "output": lambda self, activated: self.linear_in(activated)}
    ],
)
mistake(
    "one layer used twice",
    hint=1,
    pairs=2,
    why="The same layer is used twice, and the other one never. Where the sizes differ, this raises an error.",
    look="which layer does each of the two calls in forward use?",
    output=lambda self, activated: self.linear_in(activated),
    hidden=lambda self, x: self.linear_out(x),
)
mistake(
    "the first bias left out",
    why="The weights of linear_in are used, but not its bias.",
    look=LINEAR,
    hidden=lambda self, x: F.linear(x, self.linear_in.weight),
)
mistake(
    "the second bias left out",
    why="The weights of linear_out are used, but not its bias.",
    look=LINEAR,
    output=lambda self, activated: F.linear(activated, self.linear_out.weight),
)
mistake(
    "the first bias after the ReLU",
    pairs=0,
    why="The bias of linear_in is added after ReLU; it should be added before, as linear_in does.",
    look=LINEAR,
    variants=[
        {
            "hidden": lambda self, x: F.linear(x, self.linear_in.weight),
            "activated": lambda self, hidden: hidden.relu() + self.linear_in.bias,
        }
    ],
)
mistake(
    "the weights of linear_in on the way back",
    pairs=0,
    why="The second matrix product uses the weights of linear_in, transposed; linear_out has weights of its own.",
    look="which weights does the second matrix product use?",
    output=[
        lambda self, activated: F.linear(activated, self.linear_in.weight.T, self.linear_out.bias),
        lambda self, activated: F.linear(activated, self.linear_in.weight.T),
    ],
)
mistake(
    "both biases left out",
    why="The weights of both layers are used, but neither of their biases is.",
    look=LINEAR,
    variants=[
        {
            "hidden": lambda self, x: F.linear(x, self.linear_in.weight),
            "output": lambda self, activated: F.linear(activated, self.linear_out.weight),
        }
    ],
)
mistake(
    "the weights not transposed",
    hint=1,
    why="x is multiplied by the weights as they are stored. nn.Linear stores "
    "them as (out, in), so they have to be transposed first. As it is, this raises an error where the "
    "sizes differ.",
    look="in a matrix product x @ w, which dimension of w must be as long as the vectors in x?",
    variants=[
        {
            "hidden": lambda self, x: x @ self.linear_in.weight + self.linear_in.bias,
            "output": lambda self, activated: activated @ self.linear_out.weight + self.linear_out.bias,
        }
    ],
)

# What only training mode shows
mistake = exercise.section(hint=2, pairs=0)
mistake(LAST_DROPPED, why=OF_LAST, look=AFTER, ended=lambda self, output: F.dropout(output, 0.1, self.training))
mistake(
    FIRST_DROPPED,
    why=OF_FIRST,
    look=FIRST_LINE,
    hidden=lambda self, x: self.linear_in(F.dropout(x, 0.1, self.training)),
)
