"""swiglu, of lesson 10: a feed-forward layer in which one map of x decides how much of another passes."""

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.catalogue.rms_norm import SOME_NUMBERS
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal


def draw(generator, lead, d_model, d_hidden, scale=1.5, gates=()):
    """Vectors, and three matrices as nn.Linear keeps them: a row for each feature of the output.

    If gates are given, each vector has one of these numbers for all the features of its gate.
    """
    x, gate = normal(generator, *lead, d_model, scale=scale), normal(generator, d_hidden, d_model)
    if gates:
        x, gate = torch.tensor(gates, dtype=torch.float64)[:, None].expand(x.shape).clone(), gate.softmax(-1)
    return x, gate, normal(generator, d_hidden, d_model), normal(generator, d_model, d_hidden)


exercise = Exercise(
    name="swiglu",
    lesson=10,
    title="A feed-forward with a gate",
    difficulty=1,
    importance=3,
    minutes=6,
    contract="""swiglu(x, gate, up, down), with x (…, d_model), gate and up (d_hidden, d_model) and down
        (d_model, d_hidden), returns a tensor (…, d_model). The three are stored like the weights of nn.Linear,
        (out, in), and there are no biases. Apply gate and up to x. Put the first result through SiLU, which is z
        times the sigmoid of z, multiply it by the second, feature by feature, and apply down to the product. x
        is left as it was. Gradients flow to all four inputs.""",
    stub='''
        def swiglu(x, gate, up, down):
            """(…, d_model) to the same shape: SiLU of one map of x, times another map of x, mapped back to d_model."""
            raise NotImplementedError''',
    sizes=[
        {"lead": (2,), "d_model": 2, "d_hidden": 3},
        {"lead": (3,), "d_model": 3, "d_hidden": 3},
        {"lead": (), "d_model": 4, "d_hidden": 3},
        {"lead": (2, 5), "d_model": 3, "d_hidden": 4},
        {"lead": (2, 3), "d_model": 5, "d_hidden": 7, "scale": 6.0},
        {"lead": (3,), "d_model": 2, "d_hidden": 4, "gates": (800.0, 100.0, -100.0)},
        {"lead": (1, 1), "d_model": 4, "d_hidden": 6},
    ],
    draw=draw,
    reference=lambda x, gate, up, down: SwiGLU()(x, gate, up, down),
    gradients=True,
    shapes={"result": "(…, d_model)"},
    hints=[
        (
            "it raises an error, or the shapes differ",
            "nn.Linear(in, out) stores its weight as (out, in). "
            "F.linear(x, weight) multiplies x by the transpose of weight.",
        ),
        (
            "the numbers differ",
            "Two maps read the same x, and only one of the two results goes through SiLU. Then "
            "the two are multiplied, feature by feature, and the third map is applied to the product.",
        ),
        (
            "what SiLU is",
            "F.silu(z) is z times the sigmoid of z: close to z for large z, close to 0 for very "
            "negative z. Have you used ReLU, GELU or a sigmoid in its place?",
        ),
    ],
    solution="""
        import torch.nn.functional as F


        def swiglu(x, gate, up, down):
            hidden = F.silu(F.linear(x, gate)) * F.linear(x, up)
            return F.linear(hidden, down)""",
)


@exercise.right("step by step")
class SwiGLU(Steps):
    def __call__(self, x, gate, up, down):
        z, u = self.maps(x, gate, up)
        return self.ended(self.output(self.joined(self.opened(z), self.raised(u)), down), x)

    def maps(self, x, gate, up):
        return F.linear(x, gate), F.linear(x, up)

    def opened(self, z):
        return F.silu(z)

    def raised(self, u):
        return u

    def joined(self, opened, raised):
        return opened * raised

    def output(self, joined, down):
        return F.linear(joined, down)

    def ended(self, output, x):
        return output


WHICH = "which of the two maps of x does the exercise send through SiLU?"
SILU = "compare your activation with F.silu at -2, 0 and 2."
MEET = "how are the two maps combined in the exercise, and when?"


def taken_in_turns(both):
    return both[..., ::2], both[..., 1::2]


# Which map is the gate
mistake = exercise.section(hint=2)
mistake(
    "gate and up exchanged",
    why="The two maps are swapped: the activation belongs on the gate map, but is applied "
    "to the other. All the shapes fit, so there is no error.",
    look=WHICH,
    variants=[
        {"maps": lambda step, x, gate, up: step(x, up, gate)},
        {"opened": lambda z: z, "raised": lambda u: F.silu(u)},
    ],
)
mistake(
    "an activation on both maps",
    why="Both maps go through an activation; the up map should stay as it is.",
    look=WHICH,
    raised=lambda u: F.silu(u),
    variants=[
        {"opened": lambda z, by=by: by(z), "raised": lambda u, by=by: by(u)}
        for by in (F.gelu, torch.relu, torch.sigmoid, lambda z: F.gelu(z, approximate="tanh"))
    ],
)
mistake(
    "SiLU after the product",
    why="SiLU is applied to the product of the two maps; it belongs on the gate map alone.",
    look=MEET,
    variants=[
        {"opened": lambda z: z, "joined": lambda opened, raised: F.silu(opened * raised)},
        {"joined": lambda opened, raised: F.silu(opened * raised)},
        {
            "opened": lambda z: z,
            "raised": lambda u: F.silu(u),
            "joined": lambda opened, raised: F.silu(opened * raised),
        },
    ],
)
mistake(
    "SiLU at the end",
    pairs=2,
    why="SiLU is applied to the result, or to both the result and the gate map. It belongs on the gate map alone.",
    look="what is the last operation?",
    variants=[
        {"opened": lambda z: z, "ended": lambda output: F.silu(output)},
        {"ended": lambda output: F.silu(output)},
    ],
)
mistake(
    "SiLU of x",
    why="SiLU is applied to x before the maps; it belongs on the gate map.",
    look="what goes into SiLU?",
    variants=[
        {"maps": lambda x, gate, up: (F.linear(F.silu(x), gate), F.linear(x, up)), "opened": lambda z: z},
        {"maps": lambda x, gate, up: (F.linear(F.silu(x), gate), F.linear(F.silu(x), up)), "opened": lambda z: z},
        {
            "maps": lambda x, gate, up: (F.linear(F.silu(x), gate), F.linear(x, up)),
            "opened": lambda z: z,
            "raised": lambda u: F.silu(u),
        },
    ],
)
mistake(
    "the maps added",
    why="The two maps are added, not multiplied, so a gate of 0 holds nothing back.",
    look=MEET,
    joined=lambda opened, raised: opened + raised,
)
mistake(
    "1 added beside the gate",
    why="The gate is multiplied by the up map plus 1, as in gpt-oss.",
    look=MEET,
    joined=lambda opened, raised: opened * (raised + 1),
)
mistake(
    "1 added to the gate",
    why="1 is added to the gate, so the up map is added to the product.",
    look=MEET,
    joined=lambda opened, raised: (opened + 1) * raised,
)
mistake(
    "the maps clamped",
    why="One or both of the maps are clamped, as in gpt-oss. This exercise has no limits.",
    look="each `clamp`: how large may a feature of either map be?",
    variants=[
        {"opened": opened, "raised": raised}
        for opened, raised in (
            (lambda z: F.silu(z.clamp(max=7)), lambda u: u.clamp(-7, 7)),
            (lambda z: F.silu(z.clamp(-7, 7)), lambda u: u.clamp(-7, 7)),
            (lambda z: F.silu(z.clamp(max=7)), lambda u: u.clamp(max=7)),
            (lambda z: F.silu(z.clamp(max=7)), lambda u: u),
            (lambda z: F.silu(z.clamp(-7, 7)), lambda u: u),
            (lambda z: F.silu(z), lambda u: u.clamp(-7, 7)),
        )
    ],
)
mistake(
    "the up map multiplied in twice",
    why="The gate is multiplied by the up map twice.",
    look=MEET,
    raised=lambda u: u * u,
)
mistake(
    "no up",
    why="The up map is never used: the gate has nothing to multiply.",
    look="where does up enter the result?",
    joined=lambda opened: opened,
    variants=[{"opened": lambda z: z, "joined": lambda opened: opened}],
)
mistake(
    "no gate",
    why="The gate map is never used: nothing decides how much of the other map passes.",
    look="where does gate enter the result?",
    joined=lambda raised: raised,
    variants=[{"raised": lambda u: F.silu(u), "joined": lambda raised: raised}],
)
mistake(
    "SiLU of the weights",
    pairs=0,
    why="SiLU is applied to the weights of a map; it belongs on the output of the gate map.",
    look="what goes into SiLU?",
    variants=[
        {"maps": lambda x, gate, up: (F.linear(x, F.silu(gate)), F.linear(x, up)), "opened": lambda z: z},
        {"maps": lambda x, gate, up: (F.linear(x, gate), F.linear(x, F.silu(up))), "opened": lambda z: z},
        {"opened": lambda z: z, "output": lambda joined, down: F.linear(joined, F.silu(down))},
    ],
)
mistake(
    "hidden features summed",
    pairs=0,
    why="The hidden features of one map, or of the product of both, are added "
    "up before down is applied. The two maps should be multiplied feature by feature.",
    look=MEET,
    joined=[
        lambda opened, raised: opened.sum(-1, keepdim=True) * raised,
        lambda opened, raised: opened * raised.sum(-1, keepdim=True),
        lambda opened, raised: (opened * raised).sum(-1, keepdim=True).expand_as(raised),
    ],
)
mistake(
    "x for the up map",
    why="x itself is used in place of the up map. That runs only if d_model and d_hidden are equal.",
    look="which two tensors are multiplied?",
    maps=lambda x, gate, up: (F.linear(x, gate), x),
)
mistake(
    "features taken in turns",
    pairs=2,
    why="Gate and up are joined into one wide map, but split in a different "
    "way: one of the two steps uses halves, the other takes every other feature, as in gpt-oss.",
    look="the order of the rows of the wide weight: which of its features come from gate?",
    maps=[
        *(
            lambda x, gate, up, which=which: taken_in_turns(F.linear(x, torch.cat((gate, up)[::which])))[::which]
            for which in (1, -1)
        ),
        *(
            lambda x, gate, up, which=which: taken_in_turns(F.linear(x, torch.cat((gate, up)[::which])))[::-which]
            for which in (1, -1)
        ),
        *(
            lambda x, gate, up, which=which: F.linear(x, torch.stack((gate, up), 1).flatten(0, 1)).chunk(2, -1)[::which]
            for which in (1, -1)
        ),
    ],
)
mistake(
    "split along another dimension",
    pairs=0,
    why="Gate and up are joined into one wide map, but it is split along a dimension other than that of the features.",
    look="`chunk` and `split`: along which dimension do they cut if you do not name one?",
    maps=[lambda x, gate, up: F.linear(x, torch.cat((gate, up))).chunk(2)],
)
mistake(
    "equal sizes only",
    pairs=0,
    why="Your code runs only if d_model and d_hidden are equal.",
    look="each slice, view and split of features: should it use d_model or d_hidden?",
    variants=[
        {"__call__": lambda right, gate, error=error: equal_or(error, right, gate)}
        for error in (RuntimeError, ValueError, IndexError)
    ]
    + [{"maps": lambda x, gate, up: F.linear(x, torch.cat((gate, up))).split(x.shape[-1], -1)}],
)


def equal_or(error, right, gate):
    if gate.shape[0] != gate.shape[1]:
        raise error
    return right


mistake(
    "up after the gate",
    why="up is applied to the output of the gate, not to x. That runs only if d_model and d_hidden are equal.",
    look="what is the input of each map?",
    variants=[{"__call__": lambda x, gate, up, down: F.linear(F.linear(F.silu(F.linear(x, gate)), up), down)}],
)
mistake(
    "gate twice",
    why="Both maps use gate.",
    look="which weights make the second map?",
    maps=lambda x, gate, up: (F.linear(x, gate), F.linear(x, gate)),
)
mistake(
    "up twice",
    why="Both maps use up.",
    look="which weights make the first map?",
    maps=lambda x, gate, up: (F.linear(x, up), F.linear(x, up)),
)
mistake(
    "no down",
    why="down is never used, so the d_hidden features are not brought back to d_model.",
    look="where do you use down?",
    output=lambda joined: joined,
)
mistake(
    "another matrix for down",
    pairs=0,
    why="The product goes through the transpose of gate or of up; it should go through down.",
    look="where do you use down?",
    variants=[
        {"__call__": lambda step, x, gate, up, down: step(x, gate, up, gate.mT)},
        {"__call__": lambda step, x, gate, up, down: step(x, gate, up, up.mT)},
    ],
)
mistake(
    "a matrix product of the maps",
    why="The two maps are combined by a matrix product; they should be multiplied feature by feature.",
    look=MEET,
    joined=[lambda opened, raised: opened @ raised.mT @ raised, lambda opened, raised: opened @ raised],
)

mistake(
    "multiplied by x",
    pairs=0,
    why="The gate is multiplied by x, and the product goes through up, as when "
    "brackets are missing; the gate should be multiplied by the up map.",
    look="without brackets, which comes first, `*` or `@`?",
    variants=[{"__call__": lambda x, gate, up, down: F.linear(F.linear(F.silu(F.linear(x, gate)) * x, up), down)}],
)
mistake(
    "down before the product",
    pairs=0,
    why="down is applied to the two maps, or to one of them, before they are "
    "multiplied; it should be applied to their product.",
    look=MEET,
    variants=[
        {"__call__": early}
        for early in (
            lambda x, gate, up, down: F.linear(F.silu(F.linear(x, gate)), down) * F.linear(F.linear(x, up), down),
            lambda x, gate, up, down: F.silu(F.linear(F.linear(x, gate), down)) * F.linear(F.linear(x, up), down),
            lambda x, gate, up, down: F.silu(F.linear(x, gate)) * F.linear(F.linear(x, up), down),
            lambda x, gate, up, down: F.linear(F.silu(F.linear(x, gate)), down) * F.linear(x, up),
        )
    ],
)

# The activation
mistake = exercise.section(hint=3, look=SILU)
mistake(
    "an infinite exponential",
    pairs=0,
    why="If a feature of the gate is large, its exponential is infinite, and "
    "the result is not a number (NaN): infinity is divided by infinity, or multiplied by 0.",
    look="a gate feature of 800: what is its exponential? And what is that of -800?",
    opened=lambda z: z * z.exp() / (1 + z.exp()),
)
mistake(
    "a factor of SiLU twice",
    why="SiLU of z is already z times the sigmoid of z; your result has one of these two factors twice.",
    opened=[lambda z: z * F.silu(z), lambda z: F.silu(z) * z.sigmoid()],
)
mistake("SiLU twice", pairs=0, why="SiLU is applied to the output of SiLU.", opened=lambda z: F.silu(F.silu(z)))
mistake(
    "no activation", why="No activation is applied. (Gated layers without one are called bilinear.)", opened=lambda z: z
)
mistake(
    "a sigmoid for SiLU",
    why="The activation is the sigmoid itself, as in the first gated linear units (GLU). "
    "SiLU is z times the sigmoid of z.",
    opened=lambda z: z.sigmoid(),
)
mistake(
    "GELU for SiLU",
    pairs=2,
    why="The activation is GELU, or an approximation of it, as in GEGLU.",
    opened=[lambda z: F.gelu(z), lambda z: F.gelu(z, approximate="tanh"), lambda z: z * (1.702 * z).sigmoid()],
)
mistake(
    "ReLU for SiLU",
    pairs=2,
    why="The activation is ReLU, as in ReGLU, or a relative of it.",
    opened=[lambda z: z.relu(), lambda z: F.leaky_relu(z), lambda z: F.elu(z), lambda z: z.relu().square()],
)
mistake(
    "another function for SiLU",
    pairs=2,
    why="The activation is not SiLU but another function, such as tanh, softplus, softmax or hardswish.",
    opened=[
        lambda z: z.tanh(),
        lambda z: F.softplus(z),
        lambda z: z.softmax(-1),
        lambda z: F.mish(z),
        lambda z: z * z.tanh(),
        lambda z: z * z.softmax(-1),
        lambda z: F.logsigmoid(z),
        lambda z: F.hardswish(z),
        lambda z: F.hardsigmoid(z),
        lambda z: F.relu6(z),
        lambda z: F.selu(z),
        lambda z: F.softsign(z),
        lambda z: z.exp(),
    ],
)
mistake(
    "the sign in the sigmoid",
    why="z is multiplied by the sigmoid of -z: what should pass is held back, and what should be held back passes.",
    opened=lambda z: z * (-z).sigmoid(),
)
mistake(
    "the sigmoid of the other map",
    why="The sigmoid of one map is multiplied by the other map twice; SiLU is z times the sigmoid of the same z.",
    look=WHICH,
    variants=[
        {
            "__call__": lambda x, gate, up, down: F.linear(
                F.linear(x, up) * F.linear(x, up) * F.linear(x, gate).sigmoid(), down
            )
        },
        {
            "__call__": lambda x, gate, up, down: F.linear(
                F.linear(x, gate) * F.linear(x, gate) * F.linear(x, up).sigmoid(), down
            )
        },
    ],
)

# The weights
mistake = exercise.section(hint=1)
TRANSPOSED = "nn.Linear keeps its weight as (out, in). Which way round must it be to multiply x?"
mistake(
    "the weights not transposed",
    why="x is multiplied by the weights as they are, which runs only if the two "
    "sizes are equal, and is wrong even then.",
    look=TRANSPOSED,
    variants=[
        {"maps": lambda x, gate, up: (x @ gate, x @ up), "output": lambda joined, down: joined @ down},
        {"maps": lambda x, gate, up: (x @ gate, x @ up)},
    ],
)
mistake(
    "down not transposed",
    why="The hidden features are multiplied by down as it is, which runs only if the two "
    "sizes are equal, and is wrong even then.",
    look=TRANSPOSED,
    output=lambda joined, down: joined @ down,
)
mistake(
    "the weights reshaped",
    why="`view` or `reshape` gives the weights the right shape, but keeps the numbers in "
    "their old order, so they are not transposed.",
    look="reshape a (2, 3) tensor of 0 … 5 to (3, 2), and compare the result with the tensor's transpose.",
    variants=[
        {
            "maps": lambda x, gate, up: (x @ gate.reshape(gate.shape[::-1]), x @ up.reshape(up.shape[::-1])),
            "output": lambda joined, down: joined @ down.reshape(down.shape[::-1]),
        },
        {"output": lambda joined, down: joined @ down.reshape(down.shape[::-1])},
        {"maps": lambda x, gate, up: (x @ gate.reshape(gate.shape[::-1]), x @ up.reshape(up.shape[::-1]))},
    ],
)
mistake(**SOME_NUMBERS)
mistake(
    "the weights themselves not used",
    pairs=0,
    why="The maps use new tensors made from gate, up and down, so no gradient reaches the three.",
    look="`nn.Parameter(weight)`, `nn.Linear`, `.data` and "
    "`.detach()`: does a gradient flow through them to the tensors you were given?",
    variants=[{"__call__": lambda step, x, gate, up, down: step(x, *map(torch.nn.Parameter, (gate, up, down)))}],
)
mistake(
    "x added",
    hint=2,
    why="x is added to the result. That residual connection belongs to the layer around the feed-forward.",
    look="after down is applied, where does x come in again?",
    ended=lambda output, x: output + x,
)
mistake(
    "the result normalised",
    hint=2,
    why="The result goes through a norm or a softmax; it should be returned as it is.",
    look="what happens after down is applied?",
    ended=[
        lambda output, x: F.rms_norm(output, x.shape[-1:]),
        lambda output, x: F.layer_norm(output, x.shape[-1:]),
        lambda output: output.softmax(-1),
    ],
)
mistake(
    "the hidden features normalised",
    hint=2,
    why="The hidden features go through a norm or a softmax, which the exercise does not ask for.",
    look="what happens to the product before down is applied?",
    joined=[
        lambda right: F.rms_norm(right, right.shape[-1:]),
        lambda right: F.layer_norm(right, right.shape[-1:]),
        lambda right: right.softmax(-1),
    ],
)
