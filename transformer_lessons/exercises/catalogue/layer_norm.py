"""The exercise `layer_norm`: every vector with mean 0 and variance 1, times a gain, plus a bias."""

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal


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


exercise = Exercise(
    name="layer_norm",
    lesson=7,
    title="Every vector on the same scale",
    difficulty=2,
    importance=3,
    minutes=8,
    contract="""layer_norm(x, gain, bias, eps=1e-5), with x of two or more dimensions, (…, features), and
        gain and bias (features,), returns what F.layer_norm gives over the last dimension: every vector minus its mean,
        divided by √(variance + eps), times gain, plus bias. The variance is the mean of the squared deviations. x is
        left as it was.""",
    stub='''
        def layer_norm(x, gain, bias, eps=1e-5):
            """Normalises each vector of x to mean 0 and variance 1, then applies gain and bias."""
            raise NotImplementedError''',
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
    hints=[
        (
            "the numbers are a little off",
            "Two definitions of the variance differ in what they divide by: the number "
            "of features, or one less. Which one do .var() and .std() use?",
        ),
        (
            "it is right unless x hardly varies",
            "That is where eps matters. Is it added to the variance or to its root?",
        ),
        (
            "it raises, or mixes the rows",
            "Each vector has one mean and one variance of its own. Which dimension are "
            "they taken over, and how does keepdim help them line up with x?",
        ),
    ],
    solution="""
        import torch

        def layer_norm(x, gain, bias, eps=1e-5):
            deviations = x - x.mean(dim=-1, keepdim=True)
            variance = (deviations**2).mean(dim=-1, keepdim=True)
            return gain * deviations / torch.sqrt(variance + eps) + bias""",
)


@exercise.right("step by step")
class LayerNorm(Steps):
    def __call__(self, x, gain, bias, eps=1e-5):
        mean = self.mean(x)
        return self.scaled(self.normalised(x, mean, self.variance(x, mean), eps), gain, bias)

    def mean(self, x):
        return x.mean(dim=-1, keepdim=True)

    def variance(self, x, mean):
        return x.var(dim=-1, keepdim=True, correction=0)

    def normalised(self, x, mean, variance, eps):
        return (x - mean) / torch.sqrt(variance + eps)

    def scaled(self, x, gain, bias):
        return gain * x + bias


MEAN = "what is the mean of each vector just before gain and bias are applied?"
VARIANCE = "what is the variance of each vector just before gain and bias are applied?"
GAIN = "what does a gain do to a signal?"

# The variance, and epsilon
mistake = exercise.section(hint=2)
mistake(
    "the unbiased variance",
    hint=1,
    why="The sum of the squared deviations is divided by one less than the number "
    "of features, which is what .var() and .std() do by default.",
    look="the line that computes the variance. What does the argument `correction` of .var() and .std() do?",
    variance=lambda x: x.var(dim=-1, keepdim=True),
)
mistake(
    "epsilon outside the root",
    why="eps is added to the square root of the variance, not to the variance itself.",
    look="in the formula, is eps added before the root is taken, or after?",
    normalised=lambda x, mean, variance, eps: (x - mean) / (variance.sqrt() + eps),
)
mistake(
    "epsilon outside the fraction",
    pairs=2,
    why="eps is added after the division, so a vector whose features are all equal is divided by 0.",
    look="the brackets: what exactly is under the square root?",
    normalised=lambda x, mean, variance, eps: (x - mean) / variance.sqrt() + eps,
)
mistake(
    "no epsilon",
    why="eps is left out, so a vector whose features are all equal is divided by 0.",
    look="where is eps used, and what does it prevent?",
    normalised=lambda x, mean, variance: (x - mean) / variance.sqrt(),
)
DEFAULTS = 1e-6, 1e-8, 1e-12, 1e-3
mistake(
    "another epsilon",
    pairs=6,
    why="The number added to the variance is not the eps that was passed in, or not the default of 1e-5 when none was.",
    look="the default of eps, and each place where eps is used.",
    normalised=[
        lambda x, mean, variance: (x - mean) / (variance + 1e-5).sqrt(),
        lambda x, mean, variance, eps: (x - mean) / (variance + eps**2).sqrt(),
    ],
    variants=[
        *(
            {
                "__call__": lambda step, x, gain, bias, eps, default=default: step(
                    x, gain, bias, default if eps == 1e-5 else eps
                )
            }
            for default in DEFAULTS
        ),
        *(
            lambda x, gain, bias, eps=1e-5, number=number: F.layer_norm(x, gain.shape, gain, bias, number)
            for number in DEFAULTS
        ),
    ],
)
mistake(
    "the unbiased variance, epsilon outside the root, and another epsilon",
    hint=1,
    why="There are three differences, all of them found in a well-known tutorial: the sum of the squared "
    "deviations is divided by one less than the number of features, as by .std(); eps is added to the standard "
    "deviation instead of the variance; and the default of eps is not 1e-5.",
    look="how the standard deviation is computed, where eps is added, and the default of eps.",
    variants=[
        lambda x, gain, bias, eps=number: gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias
        for number in (1e-6, 1e-8)
    ],
)
mistake(
    "epsilon as a lower bound",
    pairs=2,
    why="eps is used as a lower bound; it should always be added.",
    look="how is eps combined with the variance: by `+`, or by `clamp`, `max` or the like?",
    normalised=[
        lambda x, mean, variance, eps: (x - mean) / variance.clamp(min=eps).sqrt(),
        lambda x, mean, variance, eps: (x - mean) / variance.sqrt().clamp(min=eps),
    ],
)
mistake(
    "divided by the variance",
    pairs=2,
    why="The deviations are divided by the variance itself, not by its square root.",
    look="a variance is in squared units: what units are the deviations in?",
    normalised=[
        lambda x, mean, variance, eps: (x - mean) / (variance + eps),
        lambda x, mean, variance: (x - mean) / variance,
    ],
)
mistake(
    "the root taken twice",
    pairs=2,
    why="The square root is taken twice: the standard deviation is a square root already.",
    look="var or std: which of them still needs a root?",
    normalised=[
        lambda x, mean, variance, eps: (x - mean) / (variance.sqrt() + eps).sqrt(),
        lambda x, mean, variance, eps: (x - mean) / (variance + eps).sqrt().sqrt(),
    ],
)
mistake(
    "multiplied, not divided",
    why="The deviations are multiplied by the standard deviation instead of divided by it.",
    look="rsqrt gives one over the root, and sqrt the root itself. Should large deviations grow or shrink?",
    normalised=lambda x, mean, variance, eps: (x - mean) * (variance + eps).sqrt(),
)
mistake(
    "only the mean subtracted",
    why="The mean is subtracted from every vector, but nothing is divided, so the vectors keep their spread.",
    look=VARIANCE,
    normalised=lambda x, mean: x - mean,
)
mistake(
    "the mean not subtracted",
    why="The vectors are divided by their standard deviation, but their mean is not subtracted first.",
    look=MEAN,
    normalised=lambda x, variance, eps: x / (variance + eps).sqrt(),
)
mistake(
    "only the mean divided",
    why="Only the mean is divided by the standard deviation before it is subtracted from x, as when brackets are "
    "missing.",
    look="division comes before subtraction. What exactly should be divided?",
    normalised=lambda x, mean, variance, eps: x - mean / (variance + eps).sqrt(),
    variants=[
        {
            "normalised": lambda x, mean, variance, eps: (x, mean / (variance + eps).sqrt()),
            "scaled": lambda x, gain, bias: gain * x[0] - x[1] + bias,
        }
    ],
)
mistake(
    "the mean subtracted last",
    why="The vectors are divided first, and the undivided mean is subtracted afterwards.",
    look="the brackets: what exactly is divided?",
    normalised=lambda x, mean, variance, eps: x / (variance + eps).sqrt() - mean,
)
mistake(
    "RMS norm",
    why="Every vector is divided by its root mean square, and no mean is subtracted. This is RMS norm, "
    "which many newer models use.",
    look=MEAN,
    variants=[
        {
            "variance": lambda x: (x**2).mean(dim=-1, keepdim=True),
            "normalised": lambda x, variance, eps: x / (variance + eps).sqrt(),
        }
    ],
)
mistake(
    "RMS norm, and epsilon outside the root",
    why="Every vector is divided by its root mean square, and no mean is "
    "subtracted: this is RMS norm. Also, eps is added to the root, not under it.",
    look="what is the mean of each vector just before gain and bias are applied? And where is eps added?",
    normalised=lambda x, eps: x / ((x**2).mean(dim=-1, keepdim=True).sqrt() + eps),
)
mistake(
    "RMS norm, and no epsilon",
    why="Every vector is divided by its root mean square, and no mean is subtracted: "
    "this is RMS norm. Also, eps is left out.",
    look="what is the mean of each vector just before gain and bias are applied? And where is eps used?",
    normalised=lambda x: x / (x**2).mean(dim=-1, keepdim=True).sqrt(),
)
mistake(
    "divided by its own length",
    why="Every vector is divided by its length (the root of the sum of its squares), and no mean is subtracted.",
    look="what are the mean and variance of each vector just before gain and bias are applied?",
    normalised=[
        lambda x, eps: x / ((x**2).sum(dim=-1, keepdim=True) + eps).sqrt(),
        lambda x, eps: F.normalize(x, dim=-1, eps=eps),
        lambda x, eps: x / (x.norm(dim=-1, keepdim=True) + eps),
    ],
)
mistake(
    "the sign flipped",
    why="Every feature is subtracted from the mean; it should be the other way round.",
    look="what is subtracted from what?",
    normalised=lambda right: -right,
)
mistake(
    "the mean not squared",
    hint=1,
    why="The mean itself, not its square, is subtracted from the mean of the squares, so the result is not a variance.",
    look="what is the variance of a vector whose features are all equal?",
    variance=[
        lambda x, mean: (x**2).mean(dim=-1, keepdim=True) - mean,
        lambda x, mean: ((x**2).mean(dim=-1, keepdim=True) - mean).abs(),
        lambda x, mean: ((x**2).mean(dim=-1, keepdim=True) - mean).clamp(min=0.0),
    ],
)
mistake(
    "the mean square for the variance",
    hint=1,
    why="The squares of the features are averaged, not the squares of their deviations from the mean.",
    look="which numbers are squared: the features, or their distances from the mean?",
    variance=lambda x: (x**2).mean(dim=-1, keepdim=True),
)
mistake(
    "the sum for the variance",
    hint=1,
    why="The squared deviations are added up, not averaged.",
    look="what is the variance of each vector just before gain and bias are applied? It should not depend on how many "
    "features there are.",
    variance=lambda x, mean: ((x - mean) ** 2).sum(dim=-1, keepdim=True),
)
mistake(
    "the mean absolute deviation",
    hint=1,
    pairs=2,
    why="The absolute deviations are averaged instead of the squared ones.",
    look="a variance is the mean of what?",
    normalised=lambda x, mean, eps: (x - mean) / ((x - mean).abs().mean(dim=-1, keepdim=True) + eps),
    variance=lambda x, mean: (x - mean).abs().mean(dim=-1, keepdim=True),
)
mistake(
    "divided by the range",
    pairs=2,
    why="Every vector is divided by its range, the difference between its largest and its smallest feature.",
    look=VARIANCE,
    normalised=[
        lambda x, mean, eps: (x - mean) / (x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True) + eps),
        lambda x, eps: (x - x.amin(-1, keepdim=True)) / (x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True) + eps),
    ],
)

# Which numbers mean and variance run over
mistake = exercise.section(hint=3)


def over(dims, correction):
    """Mean and variance over other dimensions, which may depend on how many there are."""
    return {
        "mean": lambda x: x.mean(dim=dims(x.dim()), keepdim=True),
        "variance": lambda x: x.var(dim=dims(x.dim()), keepdim=True, correction=correction),
    }


DIMENSIONS = (  # the name, what is wrong, and the dimensions
    (
        "over the first dimension",
        "Mean and variance are taken over the first dimension, so the vectors of different "
        "rows, or of the whole batch, are mixed.",
        lambda count: 0,
    ),
    (
        "over the positions",
        "Mean and variance are taken over the last dimension but one: each feature is compared "
        "with the same feature at other positions.",
        lambda count: -2,
    ),
    (
        "over the second dimension",
        "Mean and variance are taken over dimension 1, which holds the features only when x has two dimensions.",
        lambda count: 1,
    ),
    (
        "over the third dimension",
        "Mean and variance are taken over dimension 2, which holds the features only when x has three dimensions.",
        lambda count: 2,
    ),
    (
        "over positions and features",
        "Mean and variance are taken over several dimensions at once, so the vectors of a sequence are mixed.",
        lambda count: (-2, -1),
        lambda count: tuple(range(1, count)),
    ),
    (
        "over everything",
        "There is one mean and one variance for the whole tensor, shared by all its vectors.",
        lambda count: tuple(range(count)),
    ),
    (
        "over everything but the features",
        "Each feature has one mean and one variance, taken over all the vectors. That is batch norm.",
        lambda count: tuple(range(count - 1)),
    ),
)
for correction, too, also in (
    (0, "", ""),
    (1, ", and the unbiased variance", " Also, the variance is the unbiased one."),
):
    for name, why, *dimensions in DIMENSIONS:
        mistake(
            name + too,
            why + also,
            "count the means: there should be one for each vector.",
            pairs=len(dimensions),
            variants=[over(dims, correction) for dims in dimensions],
        )
mistake(
    "the mean of everything",
    why="The mean of the whole tensor is subtracted from every vector; each vector has a mean of its own.",
    look="the shape of the mean: there should be one for each vector.",
    mean=lambda x: x.mean(),
)
mistake(
    "the variance of everything",
    why="The variance of the whole tensor is used for every vector; each vector has a variance of its own.",
    look="the shape of the variance: there should be one for each vector.",
    variance=lambda x: x.var(correction=0),
)
mistake(
    "the mean of the first vector for all",
    pairs=0,
    why="The mean of the first vector, or its variance, is used for all the vectors; each has its own.",
    look="is anything computed only once, such as before a loop, or with an index such as [0]?",
    mean=lambda x: x.flatten(0, -2)[0].mean(),
    variance=lambda x, mean: ((x - mean) ** 2).flatten(0, -2)[0].mean(),
    variants=[
        {"mean": lambda x: x.flatten(0, -2)[0].mean(), "variance": lambda x, mean: ((x - mean) ** 2).mean(-1, True)}
    ],
)
mistake(
    "divided by the number of positions",
    pairs=0,
    why="The sum of the features, or of their squared deviations, "
    "is divided by the number of positions, not by the number of features.",
    look="the shape of x: which dimension holds the features?",
    variants=[
        {"mean": lambda x: x.sum(-1, True) / x.shape[-2], **more}
        for more in ({"variance": lambda x, mean: ((x - mean) ** 2).sum(-1, True) / x.shape[-2]}, {})
    ],
)
mistake(
    "keepdim forgotten",
    pairs=4,
    why="The means, or the variances, have lost the feature dimension, so they line "
    "up with the wrong dimension of x: in a square table, the first vector's number is used for the first feature of "
    "every vector. Unless the sizes happen to match, this usually raises an error.",
    look="compare the shape of the mean with that of x. From which end does broadcasting line them up?",
    variants=[
        {"mean": lambda x: x.mean(dim=-1), "variance": lambda x: x.var(dim=-1, correction=0)},
        {"mean": lambda x: x.mean(dim=-1), "variance": lambda x, mean: ((x - mean) ** 2).mean(dim=-1)},
    ],
    mean=lambda x: x.mean(dim=-1),
    variance=lambda x: x.var(dim=-1, correction=0),
)


def table_only(number):
    """In a table this gives each row its own number; with more dimensions it does not line up."""
    return number[:, None]


mistake(
    "right for tables only",
    pairs=3,
    why="The means, or the variances, line up with the rows of a table, as with "
    "`[:, None]`. If x has more dimensions, they line up with the wrong one.",
    look="the shape of the mean for an x with three dimensions. Which argument of `mean` keeps the last dimension?",
    variants=[
        {"mean": lambda x: table_only(x.mean(-1)), "variance": lambda x: table_only(x.var(-1, correction=0))},
        {"mean": lambda x: table_only(x.mean(-1)), "variance": lambda x: table_only(x.var(-1))},
    ],
    mean=lambda x: table_only(x.mean(-1)),
    variance=lambda x: table_only(x.var(-1, correction=0)),
)

# Gain and bias, and x itself
mistake = exercise.section(hint=2)
mistake(
    "no gain and no bias",
    why="The vectors are normalised, but neither multiplied by gain nor shifted by bias.",
    look="what does the exercise ask for after the division?",
    scaled=lambda x: x,
)
mistake("no gain", why="gain is never used.", look="where is gain used?", scaled=lambda x, bias: x + bias)
mistake("no bias", why="bias is never used.", look="where is bias used?", scaled=lambda x, gain: gain * x)
mistake(
    "gain and bias swapped",
    why="The vectors are multiplied by bias and shifted by gain.",
    look="the order of the parameters; which of the two multiplies?",
    scaled=lambda x, gain, bias: bias * x + gain,
)
mistake(
    "bias before gain",
    why="bias is added before the multiplication by gain, so bias is multiplied too.",
    look="what exactly is multiplied by gain?",
    scaled=lambda x, gain, bias: gain * (x + bias),
)
mistake(
    "gain added",
    why="gain is added to the normalised vectors; they should be multiplied by it.",
    look=GAIN,
    scaled=lambda x, gain, bias: x + gain + bias,
)
mistake(
    "one more than gain",
    why="The vectors are multiplied by 1 + gain. Some models store their gain this way, but F.layer_norm does not.",
    look="a gain of 1: how much should it change?",
    scaled=lambda x, gain, bias: (1 + gain) * x + bias,
)
mistake(
    "divided by gain",
    why="The normalised vectors are divided by gain instead of multiplied by it.",
    look=GAIN,
    scaled=lambda x, gain, bias: x / gain + bias,
)
mistake(
    "gain and bias before the norm",
    pairs=2,
    why="gain, and perhaps bias too, is applied to x before it is "
    "normalised, and the norm then undoes part of the effect.",
    look="what does the norm see: x, or what gain and bias have made of it?",
    variants=[
        {"__call__": lambda x, gain, bias, eps: F.layer_norm(gain * x + bias, gain.shape, None, None, eps)},
        {"__call__": lambda x, gain, bias, eps: F.layer_norm(gain * x, gain.shape, None, None, eps) + bias},
    ],
)
mistake(
    "normalised twice",
    pairs=0,
    why="After gain and bias have been applied, the vectors are normalised once more, which undoes part of the effect.",
    look="how many times is each vector normalised?",
    scaled=lambda right: F.layer_norm(right, right.shape[-1:]),
    __call__=[
        lambda right, gain, eps: F.layer_norm(right, gain.shape, eps=eps),
        lambda right, gain, bias, eps: F.layer_norm(right, gain.shape, gain, bias, eps),
    ],
)
mistake(
    "gain and bias along another dimension",
    pairs=0,
    why="gain and bias are lined up with the positions, not with "
    "the features. Unless there are as many positions as features, this usually raises an error.",
    look="compare the shape of gain with that of x: how do the two line up if gain is left as it is?",
    scaled=lambda x, gain, bias: gain[:, None] * x + bias[:, None],
)
mistake(
    "works with one number of dimensions only",
    pairs=0,
    why="Your code works only when x has one particular number of dimensions; the exercise allows two or more.",
    look="does any line unpack a fixed number of sizes, or count dimensions from the front?",
    __call__=[
        lambda x, right: next(right for _, _ in [x.shape]),
        lambda x, right: next(right for _, _, _ in [x.shape]),
    ],
)
mistake(
    "bias subtracted",
    why="bias is subtracted; it should be added.",
    look="the sign before bias.",
    scaled=lambda x, gain, bias: gain * x - bias,
)
mistake(
    "x added",
    why="x is added to the result. That residual connection is the job of the layer around the norm.",
    look="where is x used again after it has been normalised?",
    variants=[{"__call__": lambda x, gain, bias, eps: x + F.layer_norm(x, gain.shape, gain, bias, eps)}],
)

mistake = exercise.section(hint=3)
mistake(
    "x is changed",
    why="x itself is changed, so the caller's numbers are lost.",
    look="`-=`, `/=`, `*=`, `+=`, `x[…] =`, and methods whose names end in _.",
    variants=[
        lambda x, gain, bias, eps=1e-5: F.layer_norm(x.sub_(x.mean(-1, keepdim=True)), gain.shape, gain, bias, eps)
    ],
)
mistake(
    "x is changed, and the unbiased variance",
    why="x itself is changed, so the caller's numbers are lost. Also, "
    "the sum of the squared deviations is divided by one less than the number of features.",
    look="`-=`, `/=`, `*=`, `+=`, `x[…] =`, and methods whose names end in _. And the line that computes the variance.",
    variants=[
        lambda x, gain, bias, eps=1e-5: (
            gain * x.sub_(x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + eps) + bias
        )
    ],
)
