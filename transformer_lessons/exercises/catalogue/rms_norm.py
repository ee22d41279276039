"""rms_norm, of lesson 10: every vector divided by its root mean square, times a gain."""

import math

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal


def draw(generator, shape, scale=1.0, mean=0.6, epsilon=None):
    """Vectors whose mean is not 0, some so small that epsilon matters, and a gain; epsilon only if given."""
    inputs = mean + scale * normal(generator, *shape), normal(generator, shape[-1])
    return inputs if epsilon is None else (*inputs, epsilon)


def size_of_rows(observed, expected, x, gain, epsilon=1e-5):
    """The mean square of the result divided by the gain, whatever the answer did with the gain."""
    found, wanted = ((one.double() / gain).square().mean(-1).flatten() for one in (observed, expected))
    worst = (found - wanted).abs().argmax()
    shown, right = f"{float(found[worst]):.2f}", f"{float(wanted[worst]):.2f}"
    if shown == right:
        return None
    return f"Divided by gain, one vector of your result has a mean square of {shown}; it should be {right}."


exercise = Exercise(
    name="rms_norm",
    lesson=10,
    title="Half of layer norm",
    difficulty=1,
    importance=3,
    minutes=6,
    contract="""rms_norm(x, gain, epsilon=1e-5), with x (…, features) and gain (features,), returns what F.rms_norm
        with eps=epsilon returns when it normalises over the last dimension: every vector divided by the square root
        of its mean square plus epsilon (both inside the square root), times gain. The mean square is the mean of the
        squares of the vector's features. x is left as it was. Gradients flow to x and gain.""",
    stub='''
        def rms_norm(x, gain, epsilon=1e-5):
            """Each vector of x divided by its root mean square, times gain."""
            raise NotImplementedError''',
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
    symptoms=(size_of_rows,),
    hints=[
        (
            "the number to divide by",
            "There are three operations, and the name lists them from right to left: square "
            "the features, take the mean of the squares, then take the root of the mean.",
        ),
        (
            "the result is right unless x is tiny",
            "When x is tiny, epsilon matters. Do you add it inside the square root, or outside?",
        ),
        (
            "it raises an error, or mixes the vectors",
            "Every vector has its own mean square. Over which dimension do "
            "you take the mean, and how does keepdim help the result line up with x?",
        ),
    ],
    solution="""
        import torch


        def rms_norm(x, gain, epsilon=1e-5):
            mean_square = x.square().mean(dim=-1, keepdim=True)
            return gain * x / torch.sqrt(mean_square + epsilon)""",
)


@exercise.right("step by step")
class RMSNorm(Steps):
    def __call__(self, x, gain, epsilon=1e-5):
        return self.scaled(self.normalised(x, self.mean_square(x), epsilon), gain)

    def mean_square(self, x):
        return x.square().mean(dim=-1, keepdim=True)

    def normalised(self, x, mean_square, epsilon):
        return x / torch.sqrt(mean_square + epsilon)

    def scaled(self, normalised, gain):
        return gain * normalised


SQUARE = "read the three words of RMS from right to left: what comes first?"
BRACKETS = "what is under the root in the exercise?"
GAIN = "where do you use gain, and what should it do to each feature?"

# The divisor
mistake = exercise.section(hint=1)
mistake(
    "layer norm",
    why="The mean is subtracted from every vector first, as in layer norm. RMSNorm subtracts nothing.",
    look="what happens to x before it is divided?",
    variants=[
        {
            "mean_square": lambda x: x.var(-1, correction=0, keepdim=True),
            "normalised": lambda x, mean_square, epsilon: (
                (x - x.mean(-1, keepdim=True)) / (mean_square + epsilon).sqrt()
            ),
        },
        lambda x, gain, epsilon=1e-5: F.layer_norm(x, gain.shape, gain, None, epsilon),
        *(
            {
                "normalised": lambda x, epsilon, one=one: (
                    (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=one, keepdim=True) + epsilon)
                )
            }
            for one in (1, 0)
        ),
        {"normalised": lambda x, epsilon: (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + epsilon).sqrt()},
    ],
)
mistake(
    "the mean subtracted",
    why="The mean is subtracted from every vector before the division, but the divisor is "
    "computed from the original vector. RMSNorm subtracts nothing.",
    look="what is done to x before it is divided?",
    normalised=lambda x, mean_square, epsilon: (x - x.mean(-1, keepdim=True)) / (mean_square + epsilon).sqrt(),
)
mistake(
    "the variance for the mean square",
    pairs=2,
    why="A variance or a standard deviation is used in place of the "
    "mean square or its root. It subtracts the mean first; the mean square takes the features as they are.",
    look="do `.var()` and `.std()` subtract something before they square?",
    mean_square=[lambda x: x.var(-1, correction=0, keepdim=True), lambda x: x.var(-1, keepdim=True)],
    normalised=[
        lambda x, epsilon: x / (x.std(-1, keepdim=True) + epsilon),
        lambda x, epsilon: x / (x.std(-1, correction=0, keepdim=True) + epsilon),
    ],
)
mistake(
    "the sum for the mean",
    pairs=2,
    why="The squares are added up, but their sum is not divided by the number of "
    "features, so the result depends on how many features there are.",
    look="how large should a typical feature be afterwards, with 4 features and with 4,000?",
    mean_square=lambda x: x.square().sum(-1, keepdim=True),
    normalised=[
        lambda x, epsilon: F.normalize(x, dim=-1, eps=epsilon),
        lambda x, epsilon: x / (x.norm(dim=-1, keepdim=True) + epsilon),
    ],
)
mistake(
    "the length divided by the number of features",
    why="The length of each vector is divided by the number of "
    "features, not by the root of that number. The mean should be taken before the root.",
    look="in which order do you take the root and the mean?",
    normalised=[
        lambda x, epsilon: x / (x.norm(dim=-1, keepdim=True) / x.shape[-1] + epsilon),
        lambda x: x / (x.norm(dim=-1, keepdim=True) / x.shape[-1]),
        lambda x, epsilon: F.normalize(x, dim=-1, eps=epsilon) * x.shape[-1],
        lambda x: F.normalize(x, dim=-1) * x.shape[-1],
        lambda x, epsilon: x / (x.norm(dim=-1, keepdim=True) / x.shape[-1]).clamp(min=epsilon),
        lambda x, epsilon: x / ((x.square().sum(-1, keepdim=True) + epsilon).sqrt() / x.shape[-1]),
    ],
    mean_square=lambda x: x.square().sum(-1, keepdim=True) / x.shape[-1] ** 2,
)
mistake(
    "the mean by another size",
    pairs=4,
    why="The sum of the squares is divided by something other than the number "
    "of features, such as the size of another dimension.",
    look="which dimension of x holds the features, however many come before it?",
    mean_square=[
        lambda x, size=size: x.square().sum(-1, keepdim=True) / size(x)
        for size in (lambda x: x.shape[0], lambda x: x.shape[1], lambda x: x.shape[-2], torch.numel)
    ],
)
mistake(
    "one feature too few",
    why="The sum of the squares is divided by one less than the number of features. That is "
    "for an unbiased variance; a mean divides by the number itself.",
    look="what is the sum divided by?",
    mean_square=lambda x: x.square().sum(-1, keepdim=True) / max(1, x.shape[-1] - 1),
)
mistake(
    "the mean square of some features",
    pairs=2,
    why="The mean square is computed from only some of the features, "
    "as in pRMSNorm, or one of them is left out. In the exercise all count.",
    look="which features go into the mean square?",
    mean_square=[
        lambda x, part=part: x[..., part(x.shape[-1])].square().mean(-1, keepdim=True)
        for part in (
            lambda number: slice(number // 2),
            lambda number: slice(1, None),
            lambda number: slice(number - 1),
            lambda number: slice((number + 1) // 2),
            lambda number: slice(number // 2, None),
            lambda number: slice(None, None, 2),
            lambda number: slice(1),
        )
    ]
    + [
        lambda x, part=part: x[..., part].square().sum(-1, keepdim=True) / x.shape[-1]
        for part in (slice(1, None), slice(-1))
    ],
)
mistake(
    "the square of the mean",
    why="The mean is taken first and then squared. Features of opposite sign cancel out, "
    "so almost nothing may be left.",
    look=SQUARE,
    mean_square=lambda x: x.mean(-1, keepdim=True).square(),
)
mistake(
    "no squares",
    pairs=2,
    why="The features, or their absolute values, are averaged without being squared.",
    look=SQUARE,
    mean_square=[lambda x: x.abs().mean(-1, keepdim=True), lambda x: x.mean(-1, keepdim=True)],
    normalised=[
        lambda x, epsilon: x / (x.abs().mean(-1, keepdim=True) + epsilon),
        lambda x, epsilon: x / (x.mean(-1, keepdim=True) + epsilon),
    ],
)
mistake(
    "the sum of the absolute values",
    pairs=0,
    why="Each vector is divided by the sum of the absolute values of "
    "its features, not by the root of their mean square.",
    look=SQUARE,
    normalised=[
        lambda x, epsilon: x / (x.abs().sum(-1, keepdim=True) + epsilon),
        lambda x: x / x.abs().sum(-1, keepdim=True),
        lambda x, epsilon: F.normalize(x, p=1, dim=-1, eps=epsilon),
    ],
)
mistake(
    "divided by the largest",
    why="Each vector is divided by its largest absolute value, not by the root of its mean square.",
    look=SQUARE,
    normalised=[
        lambda x, epsilon: x / (x.abs().amax(-1, keepdim=True) + epsilon),
        lambda x: x / x.abs().amax(-1, keepdim=True),
    ],
)
mistake(
    "no root",
    why="Each vector is divided by what should be under the root: no root is taken.",
    look="if you double x, what should happen to the result?",
    normalised=[lambda x, mean_square, epsilon: x / (mean_square + epsilon), lambda x, mean_square: x / mean_square],
)
mistake(
    "the root twice",
    pairs=2,
    why="A square root is taken of something that is already a root.",
    look="count the roots: `.sqrt()`, `** 0.5`, `.norm()` and `.std()` each take one.",
    normalised=[
        lambda x, mean_square, epsilon: x / (mean_square + epsilon).sqrt().sqrt(),
        lambda x, mean_square, epsilon: x / (mean_square.sqrt() + epsilon).sqrt(),
    ],
)
mistake(
    "multiplied by the root",
    pairs=2,
    why="Each vector is multiplied by the root, or divided by `rsqrt`, which is "
    "already one over the root. Either way, large vectors get larger.",
    look="`rsqrt` is 1 / √: does your line multiply by it or divide by it?",
    normalised=[
        lambda x, mean_square, epsilon: x * (mean_square + epsilon).sqrt(),
        lambda x, mean_square, epsilon: x * (mean_square.sqrt() + epsilon),
    ],
)
mistake(
    "x left out",
    pairs=0,
    why="gain is divided by the root, but x is not in the result.",
    look="what should be divided by the root?",
    normalised=lambda x, mean_square, epsilon: torch.ones_like(x) / (mean_square + epsilon).sqrt(),
)
mistake(
    "not divided",
    why="The vectors are not divided by anything.",
    look="is there a division, and is its result used?",
    normalised=lambda x: x,
)

# Epsilon
mistake = exercise.section(hint=2)
mistake(
    "epsilon outside the root",
    why="epsilon is added to the root itself, not to what is under it.",
    look=BRACKETS,
    normalised=[
        lambda x, mean_square, epsilon: x / (mean_square.sqrt() + epsilon),
        lambda x, epsilon: x * math.sqrt(x.shape[-1]) / (x.norm(dim=-1, keepdim=True) + epsilon),
    ],
)
mistake(
    "epsilon after the division",
    pairs=2,
    why="epsilon is added after the division, or to one over the root, where it cannot keep the divisor away from 0.",
    look=BRACKETS,
    normalised=[
        lambda x, mean_square, epsilon: x / mean_square.sqrt() + epsilon,
        lambda x, mean_square, epsilon: x * (mean_square.rsqrt() + epsilon),
    ],
    variants=[{"__call__": lambda step, x, gain, epsilon: step(x, gain, 0.0) + epsilon}],
)
mistake(
    "no epsilon",
    why="epsilon is left out, so a vector of zeros is divided by 0.",
    look="what should keep that divisor from being 0?",
    normalised=lambda x, mean_square: x / mean_square.sqrt(),
)
mistake(
    "not the given epsilon",
    pairs=4,
    why="epsilon is not used, or another number is used in its place. If no epsilon is given, it should be 1e-5.",
    look="the default of epsilon, and each place where epsilon is used.",
    normalised=[
        lambda x, mean_square, number=number: x / (mean_square + number).sqrt() for number in (1e-5, 1e-6, 1e-8, 1e-12)
    ]
    + [
        lambda x, mean_square, epsilon: x / (mean_square + epsilon**2).sqrt(),
        lambda x: F.normalize(x, dim=-1) * math.sqrt(x.shape[-1]),
        lambda x, mean_square: (x / mean_square.sqrt()).nan_to_num(),
        lambda x, mean_square: x / (mean_square.sqrt() + 1e-6),
    ],
    variants=[
        {
            "__call__": lambda step, x, gain, epsilon, number=number: step(
                x, gain, number if epsilon == 1e-5 else epsilon
            )
        }
        for number in (1e-6, 1e-8, 1e-12, 1e-3)
    ]
    + [{"__call__": lambda step, x, gain, epsilon: step(x, gain, epsilon or 1e-5)}],
)
mistake(
    "epsilon as a lower bound",
    pairs=2,
    why="epsilon is used as a lower bound; it should always be added.",
    look="`clamp`, `max` or `where` near epsilon.",
    normalised=[
        lambda x, mean_square, epsilon: x / mean_square.clamp(min=epsilon).sqrt(),
        lambda x, mean_square, epsilon: x / mean_square.sqrt().clamp(min=epsilon),
        lambda x, epsilon: F.normalize(x, dim=-1, eps=epsilon) * math.sqrt(x.shape[-1]),
    ],
)
mistake(
    "epsilon added to the sum",
    why="epsilon is added to the sum of the squares; it should be added to their mean.",
    look="do you divide by the number of features before or after adding epsilon?",
    normalised=lambda x, epsilon: x / ((x.square().sum(-1, keepdim=True) + epsilon) / x.shape[-1]).sqrt(),
)
mistake(
    "epsilon more than once",
    pairs=0,
    why="epsilon is added more than once, or once for every feature.",
    look="each place where epsilon is added: how much is added in total?",
    normalised=[
        lambda x, mean_square, epsilon: x / (mean_square + 2 * epsilon).sqrt(),
        lambda x, mean_square, epsilon: x / (mean_square + x.shape[-1] * epsilon).sqrt(),
        lambda x, mean_square, epsilon: x / ((mean_square + epsilon).sqrt() + epsilon),
    ],
    variants=[{"__call__": lambda right, epsilon: right + epsilon}],
)
mistake(
    "epsilon added to x",
    pairs=0,
    why="epsilon is added to x, or to its absolute value, before squaring; it "
    "should be added to the mean of the squares.",
    look=BRACKETS,
    normalised=[
        lambda x, epsilon: x / (x + epsilon).square().mean(-1, keepdim=True).sqrt(),
        lambda x, epsilon: x / (x.abs() + epsilon).square().mean(-1, keepdim=True).sqrt(),
        lambda x, epsilon: (x + epsilon) / (x + epsilon).square().mean(-1, keepdim=True).sqrt(),
    ],
)

# Which numbers the mean runs over
mistake = exercise.section(hint=3, look="how many mean squares do you have? There should be one for each vector.")
for name, why, dims in (
    (
        "over the positions",
        "The mean runs over the last dimension but one, so each feature is mixed with the same "
        "feature at other positions.",
        lambda count: -2,
    ),
    (
        "over the first dimension",
        "The mean runs over dimension 0, so the vectors of different rows, or of the whole batch, are mixed.",
        lambda count: 0,
    ),
    (
        "over dimension 1",
        "The mean runs over dimension 1, which holds the features only if x has two dimensions.",
        lambda count: 1,
    ),
    (
        "over positions and features",
        "The mean runs over two dimensions at once, so the vectors of a sequence are mixed.",
        lambda count: (-2, -1),
    ),
    (
        "over everything",
        "There is one mean square for the whole tensor, shared by all its vectors.",
        lambda count: tuple(range(count)),
    ),
    (
        "over everything but the batch",
        "There is one mean square for each sequence of the batch, so the vectors of a sequence are mixed.",
        lambda count: tuple(range(1, count)),
    ),
    (
        "over everything but the features",
        "There is one mean square for each feature, taken over all the vectors, as in batch norm.",
        lambda count: tuple(range(count - 1)),
    ),
):
    mistake(name, why=why, mean_square=lambda x, dims=dims: x.square().mean(dim=dims(x.dim()), keepdim=True))
mistake(
    "one vector's mean square for all",
    pairs=0,
    why="The mean squares of one vector or one sequence, such as the "
    "first or the last, are used for all the others too.",
    mean_square=[
        lambda x, place=place: x.reshape(-1, x.shape[-1])[place].square().mean().reshape(x.dim() * (1,))
        for place in (0, -1)
    ]
    + [
        lambda x, place=place: (
            x[place].square().mean(-1, keepdim=True) if x.dim() > 1 else x.square().mean(-1, keepdim=True)
        )
        for place in (0, -1)
    ],
)
mistake(
    "keepdim forgotten",
    why="The mean squares have lost the dimension of the features, so they broadcast along "
    "the wrong dimension, or not at all.",
    look="the shape of the mean squares, beside that of x.",
    mean_square=lambda x: x.square().mean(-1),
)

mistake(
    "divided through .T",
    pairs=0,
    why="x is transposed to be divided, so the mean squares line up with its "
    "last dimension. But `.T` reverses all the dimensions: with more than two, vectors are divided by the mean squares "
    "of others, or the shapes do not fit.",
    look="the shapes of `x.T` and of the mean squares for an x of shape (2, 3, 4).",
    variants=[
        {
            "__call__": lambda x, gain, epsilon: (
                reversed_dimensions(reversed_dimensions(x) / (x.square().mean(-1) + epsilon).sqrt()) * gain
            )
        }
    ],
)


def reversed_dimensions(x):
    """What `.T` gives for any number of dimensions."""
    return x.permute(*range(x.dim())[::-1])


def only_where(fits, error):
    """Right for an x of some numbers of dimensions; an error for all others."""

    def call(right, x):
        if not fits(x.dim()):
            raise error
        return right

    return {"__call__": call}


SOME_NUMBERS = {
    "name": "not every number of dimensions",
    "pairs": 0,
    "why": "Your code runs for some numbers of "
    "dimensions of x and raises an error for others. x may be a single vector, or have any number of dimensions before "
    "the features.",
    "look": "the three dots in the exercise: what can they stand for?",
    "variants": [
        only_where(fits, error)
        for fits in (
            lambda number: number == 3,
            lambda number: number == 2,
            lambda number: number > 1,
            lambda number: number < 3,
        )
        for error in (RuntimeError, ValueError, IndexError)
    ],
}
mistake(**SOME_NUMBERS)

# The gain, and x
mistake = exercise.section(hint=1, look=GAIN)
mistake("no gain", why="gain is never used.", scaled=lambda normalised: normalised)
mistake(
    "one more than the gain",
    why="The vectors are multiplied by 1 + gain. Gemma stores its gains that way; F.rms_norm does not.",
    scaled=lambda normalised, gain: (1 + gain) * normalised,
)
mistake(
    "the gain twice",
    why="The vectors are multiplied by gain twice.",
    scaled=lambda normalised, gain: gain * gain * normalised,
)
mistake("the gain added", why="gain is added; it should multiply.", scaled=lambda normalised, gain: normalised + gain)
mistake(
    "divided by the gain", why="The vectors are divided by gain.", scaled=lambda normalised, gain: normalised / gain
)
mistake(
    "the gain before the norm",
    pairs=2,
    why="x is multiplied by gain first and then normalised, which undoes part of what gain does.",
    variants=[
        {"__call__": lambda x, gain, epsilon: F.rms_norm(gain * x, gain.shape, None, epsilon)},
        {"__call__": lambda x, gain, epsilon: gain * x / ((gain * x).square().mean() + epsilon).sqrt()},
    ],
)
mistake(
    "the gain along another dimension",
    pairs=0,
    why="gain is lined up with the dimension before the features, so "
    "every vector is multiplied by a single number, or the shapes do not fit.",
    look="which dimension of x should gain line up with, and which one does it line up with?",
    scaled=lambda normalised, gain: normalised * gain[:, None],
)
mistake(
    "a dot product with the gain",
    why="A dot product with gain is taken, so only one number is left of each vector.",
    scaled=lambda normalised, gain: normalised @ gain,
)
mistake(
    "gain itself not used",
    pairs=0,
    why="The vectors are multiplied by a new tensor made from gain, so no gradient reaches gain.",
    look="`nn.Parameter(gain)`, `.data` and `.detach()`: does a gradient flow through "
    "them to the tensor you were given?",
    scaled=lambda normalised, gain: torch.nn.Parameter(gain) * normalised,
)
HALVES = (torch.bfloat16, torch.half)
mistake(
    "half precision",
    pairs=0,
    why="Half precision, which keeps only two or three digits, is used on the way to the result.",
    look="where does the dtype change?",
    normalised=[lambda right, half=half: right.to(half).double() for half in HALVES],
    mean_square=[lambda right, half=half: right.to(half).double() for half in HALVES],
    scaled=[lambda right, half=half: right.to(half).double() for half in HALVES]
    + [lambda normalised, gain, half=half: (normalised.to(half) * gain.to(half)).double() for half in HALVES],
    variants=[
        {"__call__": lambda step, x, gain, epsilon, half=half: step(x.to(half).double(), gain, epsilon)}
        for half in HALVES
    ]
    + [
        {"__call__": lambda x, gain, epsilon, half=half: RMSNorm()(x.to(half), gain, epsilon).double()}
        for half in HALVES
    ]
    + [
        {
            "__call__": lambda x, gain, epsilon, half=half: F.rms_norm(
                x.to(half), gain.shape, gain.to(half), epsilon
            ).double()
        }
        for half in HALVES
    ],
)
mistake(
    "x added",
    why="x is added to the result. That residual connection belongs to the layer around the norm.",
    look="after the division, where does x come in again?",
    variants=[{"__call__": lambda x, gain, epsilon: x + F.rms_norm(x, gain.shape, gain, epsilon)}],
)
mistake(
    "x is changed",
    why="x itself is changed in place, so the caller's numbers are lost.",
    look="`/=`, `*=`, `[...] =`, and methods whose names end in _.",
    variants=[
        lambda x, gain, epsilon=1e-5: x.div_((x.square().mean(-1, keepdim=True) + epsilon).sqrt()) * gain,
        lambda x, gain, epsilon=1e-5: x.copy_(F.rms_norm(x, gain.shape, gain, epsilon)),
    ],
)
