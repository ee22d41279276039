"""Lesson 7, the full model: what stands around the attention, and the layers that a Transformer stacks."""

import math
from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons import attention, layers, masks
from transformer_lessons.exercises.exercise import Exercise, Steps, normal

# layer_norm


def draw_features(generator, shape, scale=1.0, mean=0.5, eps=None):
    """Features around a mean (scale 0: all of them alike), a gain and a bias; eps only if given."""
    x = mean + scale * normal(generator, *shape)
    inputs = x, normal(generator, shape[-1]), normal(generator, shape[-1])
    return inputs if eps is None else (*inputs, eps)


def row_not_normal(observed, expected, x, gain, bias, eps=1e-5):
    """Undoes gain and bias, and looks at mean and variance of what is left."""
    inner = (observed.double() - bias) / gain
    mean, variance = inner.mean(-1), inner.var(-1, correction=0)
    if float(mean.abs().max()) > 1e-3:
        worst = float(mean.flatten()[mean.abs().argmax()])
        return f"Before gain and bias, a vector has mean {worst:.2f}; 0 is expected."
    wanted = x.var(-1, correction=0) / (x.var(-1, correction=0) + eps)
    worst = (variance - wanted).abs().argmax()
    if float((variance - wanted).abs().max()) > 1e-3:
        return (f"Before gain and bias, a vector has variance {float(variance.flatten()[worst]):.2f}; "
                f"{float(wanted.flatten()[worst]):.2f} is expected.")
    return None


layer_norm = Exercise(
    name="layer_norm", lesson=7, title="Every vector to the same "
                                       "length", difficulty=2, importance=3, minutes=8,
    contract="""
        layer_norm(x, gain, bias, eps=1e-5), with x (…, features) and gain and bias (features,), returns what
        F.layer_norm gives over the last dimension: every vector minus its mean, divided by the square root of
        its variance plus eps, times gain, plus bias. The variance is the mean of the squared deviations. x is
        left as it was.
        """,
    stub='''
        def layer_norm(x, gain, bias, eps=1e-5):
            """Each vector of x with mean 0 and variance 1, times gain, plus bias."""
            raise NotImplementedError
        ''',
    sizes=[
        {"shape": (2, 3)},
        {"shape": (3, 3)},
        {"shape": (2, 3, 4)},
        {"shape": (4, 4, 4)},
        {"shape": (2, 3, 5), "scale": 0.2, "eps": 0.3},
        {"shape": (2, 6), "scale": 3e-3, "mean": 0.0},
        {"shape": (3, 4), "scale": 0.0},
    ],
    draw=draw_features,
    reference=lambda x, gain, bias, eps=1e-5: F.layer_norm(x, gain.shape, gain, bias, eps),
    returns="result", symptoms=(row_not_normal,),
    hints=[
        ("the numbers are a little off", "Two definitions of the variance differ in what they divide by: the "
                                         "number of features, or one less. Which one do .var() and .std() "
                                         "take?"),
        ("it is right unless x hardly varies", "There eps matters. Is it added to the variance or to its "
                                               "root?"),
        ("it raises, or mixes the rows", "Each vector has one mean and one variance of its own. Which "
                                         "dimension do they run over, and how does keepdim help them line up "
                                         "with x?"),
    ],
    solution='''
        import torch


        def layer_norm(x, gain, bias, eps=1e-5):
            deviations = x - x.mean(dim=-1, keepdim=True)
            variance = (deviations**2).mean(dim=-1, keepdim=True)
            return gain * deviations / torch.sqrt(variance + eps) + bias
        ''',
)


@layer_norm.right("step by step")
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


@layer_norm.right("PyTorch's own")
def pytorchs_own(x, gain, bias, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], gain, bias, eps)


@layer_norm.right("by the mean of the squares")
def mean_of_squares(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    variance = (x * x).mean(-1, keepdim=True) - mean * mean
    return torch.addcmul(bias, (x - mean) * torch.rsqrt(variance + eps), gain)


@layer_norm.right("in NumPy")
def norm_in_numpy(x, gain, bias, eps=1e-5):
    rows = x.detach().numpy()
    rows = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + eps)
    return torch.from_numpy(rows * gain.detach().numpy() + bias.detach().numpy())


@layer_norm.right("row by row")
def norm_row_by_row(x, gain, bias, eps=1e-5):
    rows = []
    for row in x.reshape(-1, x.shape[-1]):
        deviations = row - sum(row) / len(row)
        rows.append(deviations / (sum(deviations**2) / len(row) + eps) ** 0.5 * gain + bias)
    return torch.stack(rows).reshape(x.shape)


@layer_norm.right("with math.sqrt")
def norm_with_math(x, gain, bias, eps=1e-5):
    rows = [row - row.mean() for row in x.reshape(-1, x.shape[-1])]
    rows = [row / math.sqrt((row**2).mean() + eps) * gain + bias for row in rows]
    return torch.stack(rows).reshape(x.shape)


@layer_norm.right("in float32")
def norm_in_float32(x, gain, bias, eps=1e-5):
    return F.layer_norm(x.float(), gain.shape, gain.float(), bias.float(), eps)


@layer_norm.mistake(
    "the unbiased variance",
    why="The squared deviations are divided by one less than the number of features, as .var() and .std() do "
        "by default.",
    look="the arguments of .var() and .std(): what does `correction`, or `unbiased`, say?", hint=1)
class Unbiased(LayerNorm):
    def variance(self, x, mean):
        return x.var(dim=-1, keepdim=True)


@layer_norm.mistake(
    "epsilon outside the root",
    why="eps is added to the square root of the variance, not to the variance itself.",
    look="where does eps stand in the contract: before the root is taken, or after?", hint=2)
class OutsideTheRoot(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return (x - mean) / (torch.sqrt(variance) + eps)


@layer_norm.mistake(
    "no epsilon",
    why="eps is left out, so a vector that does not vary is divided by 0.",
    look="a vector whose features are all the same.", hint=2)
class NoEpsilon(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return (x - mean) / torch.sqrt(variance)


@layer_norm.mistake(
    "another epsilon",
    why="The number added to the variance is not the eps that was handed over, or not 1e-5 where none was.",
    look="the default of eps, and each place where eps is used.", hint=2)
class FixedEpsilon(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return (x - mean) / torch.sqrt(variance + 1e-5)


def with_default(default):
    """The same steps, with another default for eps."""
    def call(self, x, gain, bias, eps=default):
        return LayerNorm.__call__(self, x, gain, bias, eps)

    return type("WithDefault", (LayerNorm,), {"__call__": call})


def with_fixed(number):
    def with_a_fixed_number(x, gain, bias, eps=1e-5):
        return F.layer_norm(x, gain.shape, gain, bias, number)

    return with_a_fixed_number


for number in (1e-6, 1e-8, 1e-12, 1e-3):
    layer_norm.mistake("another epsilon")(with_default(number))
    layer_norm.mistake("another epsilon")(with_fixed(number))


@layer_norm.mistake("another epsilon")
class EpsilonSquared(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return (x - mean) / torch.sqrt(variance + eps**2)


def from_a_tutorial(default):
    def with_std(x, gain, bias, eps=default):
        return gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias

    return with_std


layer_norm.mistake(
    "the unbiased variance, epsilon outside the root, and another epsilon",
    why="Three departures that a well-known tutorial has together: .std() divides by one less than the "
        "number of features, eps is added to it instead of to the variance, and the default of eps is not "
        "1e-5.",
    look="the arguments of .std(); where eps is added; the default of eps.", hint=1)(from_a_tutorial(1e-6))
for number in (1e-8, 1e-12):
    layer_norm.mistake("the unbiased variance, epsilon outside the root, and another epsilon")(
        from_a_tutorial(number))


@layer_norm.mistake(
    "epsilon as a lower bound",
    why="eps replaces what is smaller than it; the contract adds it, always.",
    look="clamp, max or where, near eps.", hint=2)
class LowerBound(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return (x - mean) / torch.sqrt(variance.clamp(min=eps))


@layer_norm.mistake("epsilon as a lower bound")
class LowerBoundOfRoot(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return (x - mean) / torch.sqrt(variance).clamp(min=eps)


@layer_norm.mistake(
    "divided by the variance",
    why="The deviations are divided by the variance itself, not by its square root.",
    look="which power of the deviations is a variance, and which power must it be divided by?", hint=2)
class ByVariance(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return (x - mean) / (variance + eps)


@layer_norm.mistake("divided by the variance")
class ByVarianceWithoutEpsilon(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return (x - mean) / variance


@layer_norm.mistake(
    "the root taken twice",
    why="The standard deviation, which is a square root already, goes through a square root once more.",
    look="var or std: which of them has its root taken?", hint=2)
class RootTwice(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return (x - mean) / torch.sqrt(torch.sqrt(variance) + eps)


@layer_norm.mistake("the root taken twice")
class RootTwiceInside(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return (x - mean) / torch.sqrt(torch.sqrt(variance + eps))


@layer_norm.mistake(
    "multiplied, not divided",
    why="The deviations are multiplied by the standard deviation, where they should be divided by it.",
    look="rsqrt is one over the root; sqrt is not. Should large deviations grow or shrink?", hint=2)
class TimesRoot(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return (x - mean) * torch.sqrt(variance + eps)


@layer_norm.mistake(
    "only the mean taken off",
    why="Every vector gets mean 0, but is not divided by anything, so it keeps its size.",
    look="what is the variance of each vector afterwards?", hint=2)
class OnlyCentred(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return x - mean


@layer_norm.mistake(
    "the mean stays in",
    why="The vectors are divided by their standard deviation, but their mean is not taken off first.",
    look="what is the mean of each vector before gain and bias?", hint=2)
class MeanStays(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return x / torch.sqrt(variance + eps)


@layer_norm.mistake(
    "only the mean divided",
    why="Only the mean is divided by the standard deviation, and then taken off x: brackets are missing.",
    look="division goes before subtraction. What exactly should be divided?", hint=2)
class OnlyMeanDivided(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return x - mean / torch.sqrt(variance + eps)


@layer_norm.mistake(
    "the mean taken off last",
    why="The vectors are divided first and the mean is taken off afterwards, undivided: the order of the two "
        "counts.",
    look="the brackets: what exactly is divided?", hint=2)
class MeanLast(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return x / torch.sqrt(variance + eps) - mean


@layer_norm.mistake(
    "RMS norm",
    why="The vectors are divided by the root of their mean square, and no mean is taken off. This is RMS "
        "norm, which some newer models use.",
    look="what is the mean of each vector before gain and bias?", hint=2)
class RmsNorm(LayerNorm):
    def variance(self, x, mean):
        return (x**2).mean(dim=-1, keepdim=True)

    def normalised(self, x, mean, variance, eps):
        return x / torch.sqrt(variance + eps)


@layer_norm.mistake(
    "RMS norm, and epsilon outside the root",
    why="The vectors are divided by the root of their mean square, and no mean is taken off: this is RMS "
        "norm. And eps is added to the root, not inside it.",
    look="what is the mean of each vector before gain and bias? And where is eps added?", hint=2)
class RmsNormOutside(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return x / ((x**2).mean(dim=-1, keepdim=True).sqrt() + eps)


@layer_norm.mistake(
    "RMS norm, and no epsilon",
    why="The vectors are divided by the root of their mean square, and no mean is taken off: this is RMS "
        "norm. And eps is left out.",
    look="what is the mean of each vector before gain and bias? And where is eps used?", hint=2)
class RmsNormWithoutEpsilon(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return x / (x**2).mean(dim=-1, keepdim=True).sqrt()


@layer_norm.mistake(
    "divided by its own length",
    why="Every vector is divided by its length, the root of the sum of its squares, and no mean is taken "
        "off.",
    look="what are mean and variance of each vector before gain and bias?", hint=2)
class ByItsLength(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return x / torch.sqrt((x**2).sum(dim=-1, keepdim=True) + eps)


@layer_norm.mistake("divided by its own length", pairs=False)
class ByItsLengthAtLeast(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return F.normalize(x, dim=-1, eps=eps)


@layer_norm.mistake("divided by its own length", pairs=False)
class ByItsLengthAndEpsilon(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return x / (x.norm(dim=-1, keepdim=True) + eps)


@layer_norm.mistake(
    "the sign flipped",
    why="Every feature is taken off the mean, where the mean should be taken off every feature.",
    look="the order of the subtraction.", hint=2)
class SignFlipped(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return (mean - x) / torch.sqrt(variance + eps)


@layer_norm.mistake(
    "the mean not squared",
    why="From the mean of the squares the mean is taken off as it is, where its square should be; the result "
        "is no variance, and may even be negative.",
    look="what is the variance of a vector whose features are all the same?", hint=1)
class MeanNotSquared(LayerNorm):
    def variance(self, x, mean):
        return (x**2).mean(dim=-1, keepdim=True) - mean


@layer_norm.mistake(
    "the mean square for the variance",
    why="The squares of the features are averaged, not the squares of their deviations from the mean.",
    look="how far is each feature from the mean, and which numbers are squared?", hint=1)
class MeanSquareForVariance(LayerNorm):
    def variance(self, x, mean):
        return (x**2).mean(dim=-1, keepdim=True)


@layer_norm.mistake(
    "the sum for the variance",
    why="The squared deviations are added up, not averaged.",
    look="what is the variance of each vector afterwards? It should not depend on how many features there "
         "are.",
    hint=1)
class SumForVariance(LayerNorm):
    def variance(self, x, mean):
        return ((x - mean) ** 2).sum(dim=-1, keepdim=True)


@layer_norm.mistake(
    "the mean absolute deviation",
    why="The spread is taken as the mean of the absolute deviations, not by way of their squares.",
    look="what is a variance the mean of?", hint=1)
class MeanAbsolute(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return (x - mean) / ((x - mean).abs().mean(dim=-1, keepdim=True) + eps)


@layer_norm.mistake("the mean absolute deviation")
class MeanAbsoluteInRoot(LayerNorm):
    def variance(self, x, mean):
        return (x - mean).abs().mean(dim=-1, keepdim=True)


@layer_norm.mistake(
    "divided by the range",
    why="Every vector is divided by the distance from its smallest to its largest feature.",
    look="what is the variance of each vector afterwards?", hint=2)
class ByRange(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        return (x - mean) / (x.amax(-1, keepdim=True) - x.amin(-1, keepdim=True) + eps)


@layer_norm.mistake("divided by the range")
class FromTheSmallest(LayerNorm):
    def normalised(self, x, mean, variance, eps):
        low, high = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
        return (x - low) / (high - low + eps)


def over(dims, correction=0):
    """Mean and variance over other dimensions; dims may depend on how many there are."""
    def mean(self, x):
        return x.mean(dim=dims(x.dim()), keepdim=True)

    def variance(self, x, mean):
        return x.var(dim=dims(x.dim()), keepdim=True, correction=correction)

    return type("Over", (LayerNorm,), {"mean": mean, "variance": variance})


COUNT = "how many means are there? One for each vector."
DIMENSIONS = {  # name → what is wrong, and the dimensions
    "over the first dimension": (
        "Mean and variance run over the first dimension: they mix the vectors of different rows, or of the "
        "whole batch.", [lambda count: 0]),
    "over the positions": (
        "Mean and variance run over the last dimension but one: each feature is compared with the same "
        "feature of other positions.", [lambda count: -2]),
    "over the second dimension": (
        "Mean and variance run over dimension 1, which holds the features only where there is no batch.",
        [lambda count: 1]),
    "over positions and features": (
        "Mean and variance run over two dimensions at once, so the vectors of a sequence mix.",
        [lambda count: (-2, -1), lambda count: tuple(range(1, count))]),
    "over everything": (
        "There is one mean and one variance for the whole tensor, so all its vectors mix.",
        [lambda count: tuple(range(count))]),
    "over everything but the features": (
        "Mean and variance of each feature run over all the vectors. That is batch norm.",
        [lambda count: tuple(range(count - 1))]),
}
for name, (why, all_dims) in DIMENSIONS.items():
    for number, dims in enumerate(all_dims):
        words = {} if number else {"why": why, "look": COUNT, "hint": 3}
        layer_norm.mistake(name, **words)(over(dims))
for name, (why, all_dims) in DIMENSIONS.items():
    for number, dims in enumerate(all_dims):
        why = f"{why} And the variance is the unbiased one."
        words = {} if number else {"why": why, "look": COUNT, "hint": 3}
        layer_norm.mistake(f"{name}, and the unbiased variance", **words)(over(dims, correction=1))


@layer_norm.mistake(
    "the mean of everything",
    why="The mean that is taken off is that of the whole tensor; each vector has its own.",
    look="the shape of the mean: one for each vector.", hint=3)
class MeanOfEverything(LayerNorm):
    def mean(self, x):
        return x.mean()


@layer_norm.mistake(
    "the variance of everything",
    why="The variance is that of the whole tensor; each vector has its own.",
    look="the shape of the variance: one for each vector.", hint=3)
class VarianceOfEverything(LayerNorm):
    def variance(self, x, mean):
        return x.var(correction=0)


@layer_norm.mistake(
    "keepdim forgotten",
    why="The means, or the variances, have lost the dimension of the features, so they line up with the "
        "wrong one: the first vector's mean is taken off every first feature. Without square inputs it "
        "raises.",
    look="the shape of the mean, beside that of x. Where does broadcasting start?", hint=3)
class KeepdimForgotten(LayerNorm):
    def mean(self, x):
        return x.mean(dim=-1)

    def variance(self, x, mean):
        return x.var(dim=-1, correction=0)


@layer_norm.mistake("keepdim forgotten")
class KeepdimForgottenInMean(LayerNorm):
    def mean(self, x):
        return x.mean(dim=-1)


@layer_norm.mistake("keepdim forgotten")
class KeepdimForgottenInVariance(LayerNorm):
    def variance(self, x, mean):
        return x.var(dim=-1, correction=0)


@layer_norm.mistake("keepdim forgotten")
class KeepdimForgottenThroughout(LayerNorm):
    def mean(self, x):
        return x.mean(dim=-1)

    def variance(self, x, mean):
        return ((x - mean) ** 2).mean(dim=-1)


@layer_norm.mistake(
    "no gain and no bias",
    why="The vectors are normalised, but neither multiplied by gain nor moved by bias.",
    look="where are gain and bias used?", hint=2)
class NeitherGainNorBias(LayerNorm):
    def scaled(self, x, gain, bias):
        return x


@layer_norm.mistake(
    "no gain",
    why="gain is never used.",
    look="where is gain used?", hint=2)
class NoGain(LayerNorm):
    def scaled(self, x, gain, bias):
        return x + bias


@layer_norm.mistake(
    "no bias",
    why="bias is never used.",
    look="where is bias used?", hint=2)
class NoBias(LayerNorm):
    def scaled(self, x, gain, bias):
        return gain * x


@layer_norm.mistake(
    "gain and bias swapped",
    why="The vectors are multiplied by bias and moved by gain.",
    look="the order of the parameters; which of the two multiplies?", hint=2)
class Swapped(LayerNorm):
    def scaled(self, x, gain, bias):
        return bias * x + gain


@layer_norm.mistake(
    "bias before gain",
    why="bias is added before gain multiplies, so it is multiplied too.",
    look="the brackets in the last line.", hint=2)
class BiasFirst(LayerNorm):
    def scaled(self, x, gain, bias):
        return gain * (x + bias)


@layer_norm.mistake(
    "gain added",
    why="gain is added, where it should multiply.",
    look="what does a gain do to a signal?", hint=2)
class GainAdded(LayerNorm):
    def scaled(self, x, gain, bias):
        return x + gain + bias


@layer_norm.mistake(
    "one more than gain",
    why="The vectors are multiplied by 1 + gain. Some models store their gain so, but this is not what "
        "F.layer_norm does.",
    look="a gain of 1: how much should it change?", hint=2)
class OnePlusGain(LayerNorm):
    def scaled(self, x, gain, bias):
        return (1 + gain) * x + bias


@layer_norm.mistake(
    "divided by gain",
    why="The normalised vectors are divided by gain.",
    look="what does a gain do to a signal?", hint=2)
class DividedByGain(LayerNorm):
    def scaled(self, x, gain, bias):
        return x / gain + bias


@layer_norm.mistake(
    "gain and bias before the norm",
    why="gain and bias are applied to x first, and the norm afterwards undoes part of their work.",
    look="what does the norm see: x, or what gain and bias have made of it?", hint=2)
class GainBeforeNorm(LayerNorm):
    def __call__(self, x, gain, bias, eps=1e-5):
        return F.layer_norm(gain * x + bias, gain.shape, None, None, eps)


@layer_norm.mistake("gain and bias before the norm")
class GainAloneBeforeNorm(LayerNorm):
    def __call__(self, x, gain, bias, eps=1e-5):
        return F.layer_norm(gain * x, gain.shape, None, None, eps) + bias


@layer_norm.mistake(
    "bias subtracted",
    why="bias is taken off, where it should be added.",
    look="the sign before bias.", hint=2)
class BiasSubtracted(LayerNorm):
    def scaled(self, x, gain, bias):
        return gain * x - bias


@layer_norm.mistake(
    "x added",
    why="x is added to the result. That residual is the work of the layer around the norm.",
    look="the last line: where does x come in again?", hint=2)
class XAdded(LayerNorm):
    def __call__(self, x, gain, bias, eps=1e-5):
        return x + F.layer_norm(x, gain.shape, gain, bias, eps)


@layer_norm.mistake(
    "x is changed",
    why="The work is done inside x itself, so whoever called the function loses their numbers.",
    look="`-=`, `/=`, `*=`, `+=`, and methods whose name ends in _.", hint=3)
def changed_in_place(x, gain, bias, eps=1e-5):
    x -= x.mean(-1, keepdim=True)
    return gain * x / torch.sqrt((x**2).mean(-1, keepdim=True) + eps) + bias


@layer_norm.mistake(
    "x is changed, and the unbiased variance",
    why="The work is done inside x itself, so whoever called the function loses their numbers; and the "
        "squared deviations are divided by one less than the number of features.",
    look="`-=`, `/=`, `*=`, `+=`, and methods whose name ends in _. And the arguments of .var() and .std().",
    hint=3)
def changed_and_unbiased(x, gain, bias, eps=1e-5):
    x -= x.mean(-1, keepdim=True)
    return gain * x / torch.sqrt(x.var(-1, keepdim=True) + eps) + bias


@layer_norm.mistake("x is changed")
def divided_in_place(x, gain, bias, eps=1e-5):
    x -= x.mean(-1, keepdim=True)
    x /= torch.sqrt((x**2).mean(-1, keepdim=True) + eps)
    return gain * x + bias


@layer_norm.mistake("x is changed")
def all_in_place(x, gain, bias, eps=1e-5):
    return x.copy_(F.layer_norm(x, gain.shape, gain, bias, eps))

# FeedForward

feed_forward = Exercise(
    name="FeedForward", lesson=7, title="Each position thinks for "
                                        "itself", difficulty=1, importance=3, minutes=4,
    contract="""
        FeedForward(d_model, d_hidden) is a module with linear_in, from d_model to d_hidden, and linear_out,
        from d_hidden to d_model, both nn.Linear with bias. forward(x), with x (…, d_model), goes through
        linear_in, ReLU and linear_out. Nothing is added and nothing normalised: that is the layer's work.
        """,
    stub='''
        class FeedForward(nn.Module):
            def __init__(self, d_model, d_hidden):
                super().__init__()
                raise NotImplementedError

            def forward(self, x):
                raise NotImplementedError
        ''',
    sizes=[
        {"d_model": 2, "d_hidden": 3, "lead": (1, 2)},
        {"d_model": 4, "d_hidden": 4, "lead": (2, 3)},
        {"d_model": 3, "d_hidden": 7, "lead": (2, 5)},
        {"d_model": 5, "d_hidden": 6, "lead": (2, 4), "scale": 12.0},
    ],
    build=("d_model", "d_hidden"),
    draw=lambda generator, d_model, d_hidden, lead, scale=2.0: (
        normal(generator, *lead, d_model, scale=scale),),
    reference=layers.FeedForward,
    returns="output", shapes={"output": "(batch, length, d_model)"},
    hints=[
        ("the wrong parameters", "nn.Linear(in, out) has weights (out, in). One layer widens, the other "
                                 "narrows again."),
        ("the numbers differ", "Three steps: widen, bend, narrow. What bends is ReLU, and it sits in the "
                               "middle."),
    ],
    solution='''
        from torch import nn


        class FeedForward(nn.Module):
            def __init__(self, d_model, d_hidden):
                super().__init__()
                self.linear_in = nn.Linear(d_model, d_hidden)
                self.linear_out = nn.Linear(d_hidden, d_model)

            def forward(self, x):
                return self.linear_out(self.linear_in(x).relu())
        ''',
)


@feed_forward.right("step by step")
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


@feed_forward.right("with nn.ReLU and dropout")
class FeedForwardWithDropout(nn.Module):
    def __init__(self, d_model, d_hidden, dropout=0.1):
        super().__init__()
        self.linear_out = nn.Linear(d_hidden, d_model)
        self.linear_in = nn.Linear(d_model, d_hidden)
        self.relu, self.dropout = nn.ReLU(), nn.Dropout(dropout)

    def forward(self, x):
        return self.dropout(self.linear_out(self.dropout(self.relu(self.linear_in(x)))))


@feed_forward.right("by hand")
class FeedForwardByHand(FeedForward):
    def forward(self, x):
        hidden = torch.einsum("...m,hm->...h", x, self.linear_in.weight) + self.linear_in.bias
        return torch.clamp(hidden, min=0) @ self.linear_out.weight.T + self.linear_out.bias


@feed_forward.right("position by position")
class FeedForwardByPosition(FeedForward):
    def forward(self, x):
        return torch.stack([self.linear_out(torch.maximum(self.linear_in(x[:, place]), torch.zeros(())))
                            for place in range(x.shape[1])], dim=1)


@feed_forward.mistake(
    "no activation",
    why="Nothing bends between the two layers, and two linear layers in a row are no more than one.",
    look="is the result of ReLU what goes into linear_out?", hint=2)
class NoActivation(FeedForward):
    def activated(self, hidden):
        return hidden


@feed_forward.mistake(
    "the activation at the end",
    why="ReLU comes after the second layer, not between the two, so the output can never be negative.",
    look="the order of the three steps.", hint=2)
class ActivationAtTheEnd(FeedForward):
    def activated(self, hidden):
        return hidden

    def ended(self, output):
        return output.relu()


@feed_forward.mistake(
    "the activation twice",
    why="ReLU comes between the layers and after the second one too, so the output can never be negative.",
    look="what happens after linear_out?", hint=2)
class ActivationTwice(FeedForward):
    def ended(self, output):
        return output.relu()


@feed_forward.mistake(
    "something done to the result",
    why="What linear_out gives goes through a tanh, a sigmoid, a softmax or a GELU; it should be handed over "
        "as it is.",
    look="what happens after linear_out?", hint=2)
class TanhAtTheEnd(FeedForward):
    def ended(self, output):
        return output.tanh()


for ending in (torch.sigmoid, lambda output: output.softmax(-1), F.gelu):
    feed_forward.mistake("something done to the result", pairs=False)(type("EndedBy", (FeedForward,), {
        "ended": lambda self, output, ending=ending: ending(output)}))


@feed_forward.mistake(
    "the activation first",
    why="ReLU bends x itself, before the first layer, not what comes out of it.",
    look="the order of the three steps.", hint=2)
class ActivationFirst(FeedForward):
    def hidden(self, x):
        return self.linear_in(x.relu())

    def activated(self, hidden):
        return hidden


@feed_forward.mistake(
    "x bent too",
    why="ReLU bends x itself, before the first layer, and again what comes out of it.",
    look="what happens before linear_in?", hint=2)
class InputBentToo(FeedForward):
    def hidden(self, x):
        return self.linear_in(x.relu())


def bending(function):
    """The same module with another activation."""
    return type("Bending", (FeedForward,), {"activated": lambda self, hidden: function(hidden)})


ACTIVATIONS = {
    "GELU for ReLU": ("GELU bends smoothly, as in BERT and GPT-2; this exercise asks for ReLU, as in the "
                      "paper.",
                      [F.gelu, lambda hidden: F.gelu(hidden, approximate="tanh"),
                       lambda hidden: hidden * torch.sigmoid(1.702 * hidden)]),
    "SiLU for ReLU": ("SiLU (swish) bends smoothly, as in newer models; this exercise asks for ReLU, as in "
                      "the paper.", [F.silu]),
    "leaky ReLU for ReLU": ("A leaky ReLU lets part of what is negative through; ReLU lets nothing.",
                            [lambda hidden, slope=slope: F.leaky_relu(hidden, slope)
                             for slope in (0.01, 0.1, 0.2, 0.05, 0.3, 0.25)]),
    "ELU for ReLU": ("ELU turns what is negative into numbers between -1 and 0, or nearly so; ReLU into 0.",
                     [F.elu, F.selu]),
    "sigmoid for ReLU": ("A sigmoid squeezes all numbers between 0 and 1; ReLU leaves what is positive as it "
                         "is.",
                         [torch.sigmoid]),
    "tanh for ReLU": ("The tanh squeezes all numbers between -1 and 1; ReLU leaves what is positive as it "
                      "is.",
                      [torch.tanh]),
    "softplus for ReLU": ("Softplus is a rounded ReLU, and never quite 0.", [F.softplus]),
    "softmax for ReLU": ("A softmax makes weights that sum to 1 of the hidden features; ReLU takes each for "
                         "itself.",
                         [lambda hidden: hidden.softmax(-1), lambda hidden: hidden.softmax(1)]),
    "the absolute value for ReLU": ("What is negative is turned positive; ReLU turns it into "
                                    "0.", [torch.abs]),
    "the square of ReLU": ("What ReLU leaves is squared.", [lambda hidden: hidden.relu() ** 2]),
    "the wrong half kept": ("What comes out is the wrong half of the numbers, or has the wrong sign.",
                               [lambda hidden: hidden.clamp(max=0), lambda hidden: (-hidden).relu(),
                             lambda hidden: -hidden.relu()]),
    "a step for ReLU": ("Each hidden feature becomes 1 or 0; ReLU leaves what is positive as it is.",
                        [lambda hidden: (hidden > 0).to(hidden.dtype), lambda hidden: hidden.sign().relu()]),
    "cut off at 1": ("What is larger than 1 is cut off; ReLU has no upper bound.",
                     [lambda hidden: hidden.clamp(0, 1), F.hardtanh]),
    "cut off at a limit": ("What is larger than some limit is cut off; ReLU has no upper bound.",
                           [lambda hidden: hidden.clamp(0, 10), lambda hidden: hidden.clamp(0, 5)]),
    "the hidden features added": ("What comes out of linear_in is added to what ReLU makes of it; only what "
                                  "ReLU leaves goes on.", [lambda hidden: hidden + hidden.relu()]),
    "ReLU6 for ReLU": ("ReLU6 cuts off what is larger than 6, as in models for telephones; ReLU has no upper "
                       "bound.", [F.relu6]),
    "Mish for ReLU": ("Mish bends smoothly, and lets a little of what is negative through; ReLU lets "
                      "nothing.", [F.mish]),
    "hard swish for ReLU": ("A hard swish bends in pieces, and lets a little of what is negative through; "
                            "ReLU lets nothing.", [F.hardswish]),
}
for name, (why, functions) in ACTIVATIONS.items():
    for number, function in enumerate(functions):
        words = {} if number else {"why": why, "look": "the line of the activation.", "hint": 2}
        feed_forward.mistake(name, **words)(bending(function))


@feed_forward.mistake(
    "x added",
    why="x is added to the result. The residual is the layer's work; this is only the part inside it.",
    look="the last line: what is asked of this module, and what of the layer around it?", hint=2)
class WithResidual(FeedForward):
    def added(self, output, x):
        return output + x


@feed_forward.mistake(
    "the result normalised",
    why="The result is normalised. The norm is the layer's work; this is only the part inside it.",
    look="the last line: what is asked of this module, and what of the layer around it?", hint=2)
class WithNorm(FeedForward):
    def added(self, output, x):
        return F.layer_norm(output, output.shape[-1:])


@feed_forward.mistake("the result normalised")
class WithResidualAndNorm(FeedForward):
    def added(self, output, x):
        return F.layer_norm(output + x, output.shape[-1:])


@feed_forward.mistake(
    "x normalised",
    why="x is normalised first. The norm is the layer's work; this is only the part inside it.",
    look="the first line of forward.", hint=2)
class NormFirst(FeedForward):
    def hidden(self, x):
        return self.linear_in(F.layer_norm(x, x.shape[-1:]))


@feed_forward.mistake(
    "the hidden features normalised",
    why="The hidden features are normalised between the two layers. The norm is the layer's work, and stands "
        "elsewhere.",
    look="what happens between linear_in and linear_out? ReLU, and nothing else.", hint=2)
class HiddenNormalised(FeedForward):
    def activated(self, hidden):
        return F.layer_norm(hidden, hidden.shape[-1:]).relu()


@feed_forward.mistake("the hidden features normalised")
class HiddenNormalisedAfter(FeedForward):
    def activated(self, hidden):
        return F.layer_norm(hidden.relu(), hidden.shape[-1:])


@feed_forward.mistake(
    "linear_out never used",
    why="It ends after the activation: the result still has d_hidden features.",
    look="the last dimension of the result.", hint=2)
class OutNeverUsed(FeedForward):
    def output(self, activated):
        return activated


@feed_forward.mistake(
    "linear_in never used",
    why="x goes into linear_out as it is, or bent: linear_in is never used.",
    look="what does linear_out get? Where sizes differ, this raises.", hint=2)
class InNeverUsed(FeedForward):
    def hidden(self, x):
        return x


@feed_forward.mistake("linear_in never used")
class InNeverUsedUnbent(FeedForward):
    def hidden(self, x):
        return x

    def activated(self, hidden):
        return hidden


@feed_forward.mistake(
    "the two layers in the wrong order",
    why="x goes through linear_out first and through linear_in last. Where their sizes differ, this raises.",
    look="which layer takes d_model features, and which gives them back?", hint=1)
class WrongOrder(FeedForward):
    def hidden(self, x):
        return self.linear_out(x)

    def output(self, activated):
        return self.linear_in(activated)


@feed_forward.mistake(
    "one layer used twice",
    why="The same layer is used twice, and the other one never. Where their sizes differ, this raises.",
    look="the two calls in forward.", hint=1)
class InTwice(FeedForward):
    def output(self, activated):
        return self.linear_in(activated)


@feed_forward.mistake("one layer used twice")
class OutTwice(FeedForward):
    def hidden(self, x):
        return self.linear_out(x)


@feed_forward.mistake(
    "the first bias left out",
    why="The weights of linear_in are used, but not its bias.",
    look="what does nn.Linear do besides the product?", hint=2)
class NoFirstBias(FeedForward):
    def hidden(self, x):
        return F.linear(x, self.linear_in.weight)


@feed_forward.mistake(
    "the second bias left out",
    why="The weights of linear_out are used, but not its bias.",
    look="what does nn.Linear do besides the product?", hint=2)
class NoSecondBias(FeedForward):
    def output(self, activated):
        return F.linear(activated, self.linear_out.weight)


@feed_forward.mistake(
    "both biases left out",
    why="The weights of both layers are used, but neither of their biases.",
    look="what does nn.Linear do besides the product?", hint=2)
class NoBiases(NoFirstBias, NoSecondBias):
    pass


@feed_forward.mistake(
    "the weights not transposed",
    why="x is multiplied by the weights as they are. nn.Linear stores them as (out, in), so the product "
        "needs them transposed; where the sizes differ, this raises.",
    look="the shape of linear_in.weight.", hint=1)
class NotTransposed(FeedForward):
    def hidden(self, x):
        return x @ self.linear_in.weight + self.linear_in.bias

    def output(self, activated):
        return activated @ self.linear_out.weight + self.linear_out.bias


# EncoderLayer


def draw_encoded(generator, batch, length, d_model, num_heads, d_hidden, mask=None):
    """Vectors, and no mask, a causal one, one for padding at the end, or one with holes."""
    x = normal(generator, batch, length, d_model)
    if mask is None:
        return (x,)
    if mask == "holes":
        return x, with_holes(generator, batch, length, length)
    return x, masks.causal_mask(length) if mask == "causal" else padding_at_the_end(batch, length)


def with_holes(generator, batch, queries, keys):
    """Some keys allowed to each query, others not, in any order; to the last query none: (batch, 1, …)."""
    order = torch.rand(batch, 1, queries, keys, generator=generator).argsort(-1)
    allowed = (order == 0) | ((order > 1) & (torch.rand(order.shape, generator=generator) < 0.5))
    allowed[:, :, -1] = False
    return allowed


def padding_at_the_end(batch, length):
    """The last sequence is full, the one before it lacks two tokens, and so on: (batch, 1, 1, length)."""
    missing = 2 * torch.arange(batch).flip(0)[:, None]
    return (torch.arange(length) < (length - missing).clamp(min=1))[:, None, None, :]


encoder_layer = Exercise(
    name="EncoderLayer", lesson=7, title="A layer that reads", difficulty=2, importance=3, minutes=10,
    contract="""
        EncoderLayer(d_model, num_heads, d_hidden) is a module with the package's own parts: attention, a
        MultiHeadAttention(d_model, num_heads); feed_forward, a FeedForward(d_model, d_hidden); and norm_1 and
        norm_2, each an nn.LayerNorm(d_model). forward(x, mask=None), with x (batch, length, d_model), returns
        a tensor like x. Each of the two parts, first the attention of x to itself (with the mask), then the
        feed-forward, has its output added to its input, and the sum normalised: post-norm, as in the paper.
        A query that the mask leaves nothing gets weights of 0, as from the package's attention. Dropout is
        optional.
        """,
    stub='''
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_hidden):
                super().__init__()
                raise NotImplementedError

            def forward(self, x, mask=None):
                raise NotImplementedError
        ''',
    sizes=[
        {"batch": 1, "length": 2, "d_model": 4, "num_heads": 2, "d_hidden": 3},
        {"batch": 2, "length": 3, "d_model": 6, "num_heads": 3, "d_hidden": 7, "mask": "causal"},
        {"batch": 3, "length": 6, "d_model": 6, "num_heads": 1, "d_hidden": 6, "mask": "padding"},
        {"batch": 2, "length": 4, "d_model": 8, "num_heads": 2, "d_hidden": 5, "mask": "holes"},
    ],
    build=("d_model", "num_heads", "d_hidden"),
    draw=draw_encoded,
    reference=layers.EncoderLayer,
    returns="x", shapes={"x": "(batch, length, d_model)"}, tolerance=2e-4,
    hints=[
        ("it raises", "The attention returns two things, (output, weights), and takes four: query, key, "
                      "value, mask. Only one of the two is added to x."),
        ("the numbers differ", "Twice the same three steps: a part reads x; what it says is added to x; the "
                               "sum is normalised and is the new x."),
        ("only with a mask", "The mask is for the attention alone. Does it get there, and as it is?"),
    ],
    solution='''
        from torch import nn

        from transformer_lessons.attention import MultiHeadAttention
        from transformer_lessons.layers import FeedForward


        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_hidden):
                super().__init__()
                self.attention = MultiHeadAttention(d_model, num_heads)
                self.feed_forward = FeedForward(d_model, d_hidden)
                self.norm_1 = nn.LayerNorm(d_model)
                self.norm_2 = nn.LayerNorm(d_model)

            def forward(self, x, mask=None):
                output, _ = self.attention(x, x, x, mask)
                x = self.norm_1(x + output)
                return self.norm_2(x + self.feed_forward(x))
        ''',
)


@lru_cache(maxsize=20)
def parts_of_layers(d_model, num_heads, d_hidden):
    """Made once for all the known mistakes: each is filled with its weights just before it is called."""
    return (*(attention.MultiHeadAttention(d_model, num_heads) for _ in range(2)),
            layers.FeedForward(d_model, d_hidden), *(nn.LayerNorm(d_model) for _ in range(3)))


class EncoderParts(nn.Module):
    """The parts, without what joins them."""

    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__()
        parts = parts_of_layers(d_model, num_heads, d_hidden)
        self.attention, _, self.feed_forward, self.norm_1, self.norm_2, _ = parts
        self.zero_grad()


@encoder_layer.right("step by step")
class Encoder(EncoderParts):
    def forward(self, x, mask=None):
        attended = self.attended(x, mask)
        middle = self.after_attention(self.added_1(x, attended))
        forwarded = self.forwarded(self.fed(middle, x, attended))
        return self.after_feed_forward(self.added_2(middle, forwarded, x))

    def attended(self, x, mask):
        return self.attention(x, x, x, self.hidden(mask))[0]

    def hidden(self, mask):
        return mask

    def added_1(self, x, attended):
        return x + attended

    def after_attention(self, total):
        return self.norm_1(total)

    def fed(self, middle, x, attended):
        return middle

    def forwarded(self, x):
        return self.feed_forward(x)

    def added_2(self, middle, forwarded, x):
        return middle + forwarded

    def after_feed_forward(self, total):
        return self.norm_2(total)


@encoder_layer.right("with dropout, and no weights asked for")
class EncoderWithDropout(EncoderParts):
    def __init__(self, d_model, num_heads, d_hidden, dropout=0.2):
        super().__init__(d_model, num_heads, d_hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        residual = x
        x, _ = self.attention(query=x, key=x, value=x, mask=mask, need_weights=False)
        x = residual = self.norm_1(residual + self.dropout(x))
        return self.norm_2(self.dropout(self.feed_forward(x)).add(residual))


@encoder_layer.right("one sublayer, called twice")
class EncoderOfSublayers(EncoderParts):
    def sublayer(self, x, part, norm):
        return norm(torch.stack([x, part(x)]).sum(0))

    def forward(self, x, mask=None):
        x = self.sublayer(x, lambda x: self.attention(x, x, x, mask)[0], self.norm_1)
        return self.sublayer(x, self.feed_forward, self.norm_2)


@encoder_layer.right("another epsilon in the norms")
class EncoderWithOtherNorms(layers.EncoderLayer):
    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__(d_model, num_heads, d_hidden, dropout=0.0)
        self.norm_1 = nn.LayerNorm(d_model, eps=1e-6)
        self.norm_2 = nn.LayerNorm(d_model, eps=1e-6)


@encoder_layer.mistake(
    "no residual around the attention",
    why="x itself is not added to what the attention says.",
    look="what becomes of x when the attention says nothing new?", hint=2)
class NoResidual1(Encoder):
    def added_1(self, x, attended):
        return attended


@encoder_layer.mistake(
    "no residual around the feed-forward",
    why="The feed-forward's own input is not added to what it says.",
    look="what becomes of x when the feed-forward says nothing new?", hint=2)
class NoResidual2(Encoder):
    def added_2(self, middle, forwarded, x):
        return forwarded


@encoder_layer.mistake(
    "no residual at all",
    why="Neither part has its input added to its output: what a part does not repeat is lost.",
    look="what becomes of x when a part says nothing new?", hint=2)
class NoResiduals(NoResidual1, NoResidual2):
    pass


@encoder_layer.mistake(
    "the layer's input added at the end",
    why="To what the feed-forward says is added the x that came into the layer, not the one that the "
        "feed-forward read.",
    look="which x is added the second time? It has changed since the first.", hint=2)
class InputAddedAgain(Encoder):
    def added_2(self, middle, forwarded, x):
        return x + forwarded


@encoder_layer.mistake(
    "both the input and the middle added",
    why="At the end three things are added: what the feed-forward says, what it read, and once more the x "
        "that came into the layer.",
    look="how many times is x on its way into the last norm?", hint=2, pairs=False)
class InputAddedToo(Encoder):
    def added_2(self, middle, forwarded, x):
        return x + middle + forwarded


@encoder_layer.mistake(
    "the input added twice",
    why="A part's input is added twice to what the part says, so it weighs double.",
    look="`+=` and `+` on the same line, or a residual inside a part: count how often x is added.", hint=2,
    pairs=False)
class AddedTwice1(Encoder):
    def added_1(self, x, attended):
        return x + x + attended


@encoder_layer.mistake("the input added twice", pairs=False)
class AddedTwice2(Encoder):
    def added_2(self, middle, forwarded, x):
        return middle + middle + forwarded


@encoder_layer.mistake("the input added twice", pairs=False)
class AddedTwice(AddedTwice1, AddedTwice2):
    pass


@encoder_layer.mistake(
    "a part's output added twice",
    why="What a part says is added twice, so it weighs double.",
    look="count how often the part's output is added.", hint=2, pairs=False)
class OutputTwice1(Encoder):
    def added_1(self, x, attended):
        return x + attended + attended


@encoder_layer.mistake("a part's output added twice", pairs=False)
class OutputTwice2(Encoder):
    def added_2(self, middle, forwarded, x):
        return middle + forwarded + forwarded


@encoder_layer.mistake("a part's output added twice", pairs=False)
class OutputTwice(OutputTwice1, OutputTwice2):
    pass


@encoder_layer.mistake(
    "multiplied, not added",
    why="What a part says is multiplied with its input, where it should be added.",
    look="what joins a part's output to its input?", hint=2, pairs=False)
class Multiplied1(Encoder):
    def added_1(self, x, attended):
        return x * attended


@encoder_layer.mistake("multiplied, not added", pairs=False)
class Multiplied2(Encoder):
    def added_2(self, middle, forwarded, x):
        return middle * forwarded


@encoder_layer.mistake("multiplied, not added", pairs=False)
class MultipliedBoth(Multiplied1, Multiplied2):
    pass


@encoder_layer.mistake(
    "subtracted, not added",
    why="What a part says is subtracted from its input, where it should be added.",
    look="what joins a part's output to its input?", hint=2, pairs=False)
class Subtracted1(Encoder):
    def added_1(self, x, attended):
        return x - attended


@encoder_layer.mistake("subtracted, not added", pairs=False)
class Subtracted2(Encoder):
    def added_2(self, middle, forwarded, x):
        return middle - forwarded


@encoder_layer.mistake("subtracted, not added", pairs=False)
class SubtractedBoth(Subtracted1, Subtracted2):
    pass


@encoder_layer.mistake(
    "pre-norm for post-norm",
    why="The norms stand before the parts, not after the sums. This is pre-norm, as in GPT-2; the paper of "
        "2017, and this exercise, have the norm last.",
    look="is the very last thing that happens a norm?", hint=2)
class PreNorm(Encoder):
    def forward(self, x, mask=None):
        x = self.added_1(x, self.attended(self.after_attention(x), mask))
        return self.added_2(x, self.forwarded(self.after_feed_forward(x)), x)


@encoder_layer.mistake(
    "pre-norm for the attention",
    why="Around the attention the norm comes first: it normalises what the attention reads, not the sum.",
    look="what goes into norm_1, and what goes into the attention?", hint=2)
class PreNorm1(Encoder):
    def forward(self, x, mask=None):
        middle = self.added_1(x, self.attended(self.after_attention(x), mask))
        return self.after_feed_forward(self.added_2(middle, self.forwarded(middle), x))


@encoder_layer.mistake(
    "pre-norm for the feed-forward",
    why="Around the feed-forward the norm comes first: it normalises what the feed-forward reads, not the "
        "sum.",
    look="what goes into norm_2, and what goes into the feed-forward?", hint=2)
class PreNorm2(Encoder):
    def forward(self, x, mask=None):
        middle = self.after_attention(self.added_1(x, self.attended(x, mask)))
        return self.added_2(middle, self.forwarded(self.after_feed_forward(middle)), x)


@encoder_layer.mistake(
    "the normalised input added",
    why="The norm comes before the part, and it is the normalised input, not x, that is added to what the "
        "part says. That is neither post-norm nor pre-norm.",
    look="where does each norm stand: before the part, or after the sum?", hint=2)
class NormalisedAdded(Encoder):
    def forward(self, x, mask=None):
        x = self.after_attention(x)
        x = self.added_1(x, self.attended(x, mask))
        x = self.after_feed_forward(x)
        return self.added_2(x, self.forwarded(x), x)


@encoder_layer.mistake("the normalised input added", pairs=False)
class NormalisedAdded1(Encoder):
    def forward(self, x, mask=None):
        x = self.norm_1(x)
        x = x + self.attended(x, mask)
        return self.norm_2(x + self.feed_forward(x))


@encoder_layer.mistake("the normalised input added", pairs=False)
class NormalisedAdded2(Encoder):
    def forward(self, x, mask=None):
        x = self.norm_2(self.norm_1(x + self.attended(x, mask)))
        return x + self.feed_forward(x)


@encoder_layer.mistake("the normalised input added", pairs=False)
class NormalisedAddedInPostNorm(Encoder):
    def forward(self, x, mask=None):
        x = self.norm_1(x) + self.attended(x, mask)
        return self.norm_2(x) + self.feed_forward(x)


@encoder_layer.mistake(
    "the norm before the sum",
    why="What the part says is normalised, and its input is added afterwards: the sum itself is not "
        "normalised.",
    look="the brackets: what exactly goes into the norm?", hint=2)
class NormBeforeSum(Encoder):
    def forward(self, x, mask=None):
        x = self.added_1(x, self.after_attention(self.attended(x, mask)))
        return self.added_2(x, self.after_feed_forward(self.forwarded(x)), x)


@encoder_layer.mistake("the norm before the sum")
class NormBeforeSum1(Encoder):
    def forward(self, x, mask=None):
        middle = self.added_1(x, self.after_attention(self.attended(x, mask)))
        return self.after_feed_forward(self.added_2(middle, self.forwarded(middle), x))


@encoder_layer.mistake("the norm before the sum")
class NormBeforeSum2(Encoder):
    def forward(self, x, mask=None):
        middle = self.after_attention(self.added_1(x, self.attended(x, mask)))
        return self.added_2(middle, self.after_feed_forward(self.forwarded(middle)), x)


@encoder_layer.mistake(
    "no norm after the attention",
    why="The sum after the attention is not normalised: norm_1 is not used there.",
    look="where is norm_1 used?", hint=2)
class NoNorm1(Encoder):
    def after_attention(self, total):
        return total


@encoder_layer.mistake(
    "no norm at the end",
    why="The sum after the feed-forward is not normalised: norm_2 is not used there.",
    look="where is norm_2 used?", hint=2)
class NoNorm2(Encoder):
    def after_feed_forward(self, total):
        return total


@encoder_layer.mistake(
    "no norms",
    why="Nothing is normalised: neither norm_1 nor norm_2 is used.",
    look="where are the norms used?", hint=2)
class NoNorms(NoNorm1, NoNorm2):
    pass


@encoder_layer.mistake(
    "the norms swapped",
    why="norm_2 does the work of norm_1 and the other way round; the contract counts them in their order.",
    look="each norm has weights of its own. Which of them comes first?", hint=2)
class NormsSwapped(Encoder):
    def after_attention(self, total):
        return self.norm_2(total)

    def after_feed_forward(self, total):
        return self.norm_1(total)


@encoder_layer.mistake(
    "one norm used twice",
    why="The same norm serves both parts, and the other one is never used; each part has its own.",
    look="the names of the norms in forward.", hint=2)
class Norm1Twice(Encoder):
    def after_feed_forward(self, total):
        return self.norm_1(total)


@encoder_layer.mistake("one norm used twice")
class Norm2Twice(Encoder):
    def after_attention(self, total):
        return self.norm_2(total)


@encoder_layer.mistake(
    "one norm only, in the other's place",
    why="There is only one norm, and it stands where the other one belongs.",
    look="the names of the norms in forward: each part has its own.", hint=2, pairs=False)
class Norm1AtTheEnd(Encoder):
    def after_attention(self, total):
        return total

    def after_feed_forward(self, total):
        return self.norm_1(total)


@encoder_layer.mistake("one norm only, in the other's place", pairs=False)
class Norm2AfterAttention(Encoder):
    def after_attention(self, total):
        return self.norm_2(total)

    def after_feed_forward(self, total):
        return total


@encoder_layer.mistake(
    "normalised before and after",
    why="There is a norm before a part and another one after its sum; the contract has only the one after.",
    look="count the norms: two for the whole layer.", hint=2, pairs=False)
class BeforeAndAfter(Encoder):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attended(self.norm_1(x), mask))
        return self.norm_2(x + self.feed_forward(self.norm_2(x)))


@encoder_layer.mistake("normalised before and after", pairs=False)
class BeforeAndAfterAttention(Encoder):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attended(self.norm_1(x), mask))
        return self.norm_2(x + self.feed_forward(x))


@encoder_layer.mistake("normalised before and after", pairs=False)
class QueryBeforeAndAfter(Encoder):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attention(self.norm_1(x), x, x, mask)[0])
        return self.norm_2(x + self.feed_forward(x))


@encoder_layer.mistake("normalised before and after", pairs=False)
class BeforeAndAfterFeedForward(Encoder):
    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attended(x, mask))
        return self.norm_2(x + self.feed_forward(self.norm_2(x)))


@encoder_layer.mistake(
    "the feed-forward first",
    why="The feed-forward comes before the attention: it thinks about what has not been read yet.",
    look="the order of the two parts.", hint=2)
class FeedForwardFirst(Encoder):
    def forward(self, x, mask=None):
        middle = self.after_attention(self.added_2(x, self.forwarded(x), x))
        return self.after_feed_forward(self.added_1(middle, self.attended(middle, mask)))


@encoder_layer.mistake("the feed-forward first", pairs=False)
class FeedForwardFirstWithItsNorm(Encoder):
    def forward(self, x, mask=None):
        x = self.norm_2(x + self.feed_forward(x))
        return self.norm_1(x + self.attended(x, mask))


@encoder_layer.mistake(
    "the feed-forward reads the layer's input",
    why="The feed-forward reads the x that came into the layer, not what the attention and norm_1 have made "
        "of it.",
    look="what goes into the feed-forward?", hint=2)
class FeedsOnInput(Encoder):
    def fed(self, middle, x, attended):
        return x


@encoder_layer.mistake(
    "the feed-forward reads the attention alone",
    why="The feed-forward reads what the attention says as it is, before x is added and the sum normalised.",
    look="what goes into the feed-forward?", hint=2, pairs=False)
class FeedsOnAttention(Encoder):
    def fed(self, middle, x, attended):
        return attended


@encoder_layer.mistake(
    "the two parts side by side",
    why="Both parts read the x that came into the layer, and all is added at once: the feed-forward never "
        "sees what the attention found.",
    look="what goes into the feed-forward, and what is added to what?", hint=2, pairs=False)
class SideBySide(Encoder):
    def forward(self, x, mask=None):
        return self.norm_2(x + self.attended(x, mask) + self.feed_forward(x))


@encoder_layer.mistake("the two parts side by side", pairs=False)
class SideBySideNorm1(Encoder):
    def forward(self, x, mask=None):
        return self.norm_1(x + self.attended(x, mask) + self.feed_forward(x))


@encoder_layer.mistake("the two parts side by side", pairs=False)
class SideBySideBothNorms(Encoder):
    def forward(self, x, mask=None):
        return self.norm_2(self.norm_1(x + self.attended(x, mask) + self.feed_forward(x)))


@encoder_layer.mistake(
    "no attention",
    why="The attention is never used, or what it says is thrown away, so no position learns of another.",
    look="what becomes of the attention's output?", hint=2)
class NoAttention(Encoder):
    def added_1(self, x, attended):
        return x


@encoder_layer.mistake("no attention", pairs=False)
class NoAttentionNoNorm(Encoder):
    def forward(self, x, mask=None):
        return self.norm_2(x + self.feed_forward(x))


@encoder_layer.mistake(
    "no feed-forward",
    why="The feed-forward is never used, or what it says is thrown away.",
    look="what becomes of the feed-forward's output?", hint=2)
class EndsAfterAttention(Encoder):
    def forward(self, x, mask=None):
        return self.after_attention(self.added_1(x, self.attended(x, mask)))


@encoder_layer.mistake("no feed-forward", pairs=False)
class NoFeedForward(Encoder):
    def added_2(self, middle, forwarded, x):
        return middle


@encoder_layer.mistake(
    "the attention twice",
    why="x goes through the attention, its sum and its norm twice; the contract has them once.",
    look="count the calls of the attention.", hint=2, pairs=False)
class AttentionTwice(Encoder):
    def forward(self, x, mask=None):
        return super().forward(self.norm_1(x + self.attended(x, mask)), mask)


@encoder_layer.mistake(
    "the feed-forward twice",
    why="x goes through the feed-forward, its sum and its norm twice; the contract has them once.",
    look="count the calls of the feed-forward.", hint=2, pairs=False)
class FeedForwardTwice(Encoder):
    def forward(self, x, mask=None):
        x = super().forward(x, mask)
        return self.norm_2(x + self.feed_forward(x))


@encoder_layer.mistake(
    "the whole layer twice",
    why="x goes through the whole layer twice. Several layers are for the model to stack, each with weights "
        "of its own.",
    look="count how often each part is called.", hint=2, pairs=False)
class LayerTwice(Encoder):
    def forward(self, x, mask=None):
        return super().forward(super().forward(x, mask), mask)


@encoder_layer.mistake(
    "an activation too many",
    why="A result goes through ReLU, which turns everything negative into 0. ReLU has its place inside the "
        "feed-forward, and is there already.",
    look="relu, or any other function that bends, in forward.", hint=2, pairs=False)
class ReluAtTheEnd(Encoder):
    def after_feed_forward(self, total):
        return self.norm_2(total).relu()


@encoder_layer.mistake("an activation too many", pairs=False)
class ReluAfterAttention(Encoder):
    def after_attention(self, total):
        return self.norm_1(total).relu()


@encoder_layer.mistake("an activation too many", pairs=False)
class ReluAfterFeedForward(Encoder):
    def forwarded(self, x):
        return self.feed_forward(x).relu()


@encoder_layer.mistake(
    "the weights for the output",
    why="Of the two things that the attention returns, the weights are taken, not the output. Mostly this "
        "raises: the weights have other dimensions than x.",
    look="what does the package's MultiHeadAttention return, and in which order?", hint=1, pairs=False)
class WeightsForOutput(Encoder):
    def attended(self, x, mask):
        return self.attention(x, x, x, mask)[1]


@encoder_layer.mistake("the weights for the output", pairs=False)
class WeightsForOutputNoFeedForward(WeightsForOutput):
    def added_2(self, middle, forwarded, x):
        return middle


@encoder_layer.mistake(
    "the mask dropped",
    why="The mask does not reach the attention, so every position reads every other one, whatever the mask "
        "says.",
    look="the arguments of the attention.", hint=3)
class MaskDropped(Encoder):
    def hidden(self, mask):
        return None


@encoder_layer.mistake(
    "the mask inverted",
    why="The mask is turned round on its way into the attention, where True means may attend, as here.",
    look="what does True mean in the mask you get, and in the one you hand on?", hint=3)
class MaskInverted(Encoder):
    def hidden(self, mask):
        return None if mask is None else ~mask


@encoder_layer.mistake(
    "the mask transposed",
    why="The mask reaches the attention with its last two dimensions swapped, so keys and queries change "
        "places.",
    look="what happens to the mask on its way into the attention?", hint=3)
class MaskTransposed(Encoder):
    def hidden(self, mask):
        return None if mask is None else mask.transpose(-2, -1)


def filled(number):
    """A softmax in which forbidden scores get a number, whatever else is in their row."""
    def weights(scores, mask):
        return (scores if mask is None else scores.masked_fill(~mask, number)).softmax(-1)
    return weights


def added(scores, mask):
    """A softmax in which forbidden scores get a number added."""
    return (scores if mask is None else scores - 1e9 * ~mask).softmax(-1)


def by_hand(module, query, key, value, mask, weigh, scale=None):
    """The package's attention, with another softmax, or another scale."""
    query, key, value = (attention.split_heads(linear(one), module.num_heads) for linear, one in (
        (module.linear_q, query), (module.linear_k, key), (module.linear_v, value)))
    scores = query @ key.transpose(-2, -1) / (scale or math.sqrt(query.shape[-1]))
    weights = weigh(scores, mask)
    return module.linear_out(attention.merge_heads(weights @ value)), weights


NOTHING = "a row of the mask without any True: what does a softmax make of scores that are all the same?"
AVERAGE = ("A query that may attend to nothing gets an average of all values, which are forbidden to it; "
           "from the package's attention it gets nothing.")
NAN = ("A query that may attend to nothing gets NaN, which then goes on into everything that reads it; from "
       "the package's attention it gets nothing.")


@encoder_layer.mistake(
    "an average for a query that may attend to nothing", why=AVERAGE, look=NOTHING, hint=3)
class AverageForNothing(Encoder):
    def attended(self, x, mask):
        return by_hand(self.attention, x, x, x, self.hidden(mask), filled(-1e9))[0]


@encoder_layer.mistake("an average for a query that may attend to nothing", pairs=False)
class AverageForNothingAdded(Encoder):
    def attended(self, x, mask):
        return by_hand(self.attention, x, x, x, mask, added)[0]


@encoder_layer.mistake(
    "NaN for a query that may attend to nothing", why=NAN, look=NOTHING, hint=3, pairs=False)
class NanForNothing(Encoder):
    def attended(self, x, mask):
        return by_hand(self.attention, x, x, x, self.hidden(mask), filled(-torch.inf))[0]


for number, (scale, weigh) in enumerate((scale, weigh) for scale in (lambda d_model: 1.0, math.sqrt)
                                        for weigh in (filled(-1e9), masks.masked_softmax)):
    words = {} if number else {
        "why": "The attention is made by hand, and its scores are not divided by √d_head, as they are in the "
               "package's.", "look": "what are the scores divided by before the softmax?", "hint": 1}
    encoder_layer.mistake("the attention by hand, and not its scale", **words, pairs=False)(
        type("ScaledOtherwise", (Encoder,), {
            "attended": lambda self, x, mask, scale=scale, weigh=weigh: by_hand(
                self.attention, x, x, x, mask, weigh, scale(x.shape[-1]))[0]}))


@encoder_layer.mistake(
    "linear_out left out",
    why="The attention is made by hand, and its heads are put side by side without going through linear_out.",
    look="the four layers of the attention: which of them are used?", hint=1, pairs=False)
class LinearOutLeftOut(Encoder):
    weigh = staticmethod(masks.masked_softmax)

    def attended(self, x, mask):
        query, key, value = (attention.split_heads(linear(x), self.attention.num_heads) for linear in (
            self.attention.linear_q, self.attention.linear_k, self.attention.linear_v))
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        return attention.merge_heads(self.weigh(scores, mask) @ value)


@encoder_layer.mistake("linear_out left out", pairs=False)
class LinearOutLeftOutFilled(LinearOutLeftOut):
    weigh = staticmethod(filled(-1e9))


@encoder_layer.mistake(
    "a dimension too many in the mask",
    why="The mask is given one more dimension on its way into the attention, so its queries, or its batch, "
        "meet the heads. Mostly this raises.",
    look="the masks come ready for the attention. What does unsqueeze do to a shape?", hint=3, pairs=False)
class MaskUnsqueezed(Encoder):
    def hidden(self, mask):
        return None if mask is None else mask.unsqueeze(1)


@encoder_layer.mistake(
    "a mask of its own",
    why="The layer makes a causal mask, in place of the one it gets or besides it. Who may attend to whom is "
        "for the mask alone to say.",
    look="every mask in forward: where does it come from?", hint=3)
class OwnMask(Encoder):
    def attended(self, x, mask):
        mask, causal = self.hidden(mask), masks.causal_mask(x.shape[1])
        return self.attention(x, x, x, causal if mask is None else causal & mask)[0]


@encoder_layer.mistake("a mask of its own")
class OwnMaskInPlace(Encoder):
    def attended(self, x, mask):
        return self.attention(x, x, x, masks.causal_mask(x.shape[1]))[0]


@encoder_layer.mistake("a mask of its own", pairs=False)
class OwnMaskForNone(Encoder):
    def attended(self, x, mask):
        return self.attention(x, x, x, masks.causal_mask(x.shape[1]) if mask is None else mask)[0]


UNBIASED = ("The norms are made by hand, and their variance is the unbiased one: the squared deviations are "
            "divided by one less than the number of features, as .var() and .std() do by default.")
BY_HAND = "the arguments of .var() and .std(). And what is a module such as norm_1 called with?"


def unbiased(norm, total):
    """A norm by hand, as a well-known tutorial has it."""
    deviations = total - total.mean(-1, keepdim=True)
    return norm.weight * deviations / (total.std(-1, keepdim=True) + norm.eps) + norm.bias


def bare(norm, total):
    """A norm without gain and bias."""
    return F.layer_norm(total, total.shape[-1:])


def with_norm_by_hand(base, made, **steps):
    """The layer, its norms made by hand: {step: number of the norm}."""
    return type("NormByHand", (base,), {step: lambda self, total, number=number: made(
        getattr(self, f"norm_{number}"), total) for step, number in steps.items()})


encoder_layer.mistake("the unbiased variance in the norms", why=UNBIASED, look=BY_HAND, hint=2)(
    with_norm_by_hand(Encoder, unbiased, after_attention=1, after_feed_forward=2))
encoder_layer.mistake(
    "the norms without gain and bias",
    why="The sums are normalised, but the gain and the bias that each norm has learned are not used.",
    look="which weights of norm_1 and norm_2 does forward use?", hint=2)(
    with_norm_by_hand(Encoder, bare, after_attention=1, after_feed_forward=2))


@encoder_layer.mistake(
    "the weights left in",
    why="The attention returns (output, weights), a tuple, and the tuple itself is used as if it were the "
        "output.",
    look="what does the package's MultiHeadAttention return?", hint=1, raises=True)
class WeightsLeftIn(EncoderParts):
    def forward(self, x, mask=None):
        return self.norm_1(x + self.attention(x, x, x, mask))


@encoder_layer.mistake("the weights left in")
class WeightsLeftInDropout(EncoderParts):
    def forward(self, x, mask=None):
        return F.dropout(self.attention(x, x, x, mask), 0.1)


@encoder_layer.mistake("the weights left in")
class WeightsLeftInAddedLeft(EncoderParts):
    def forward(self, x, mask=None):
        return self.attention(x, x, x, mask) + x


@encoder_layer.mistake("the weights left in")
class WeightsLeftInNorm(EncoderParts):
    def forward(self, x, mask=None):
        return self.norm_1(self.attention(x, x, x, mask))


@encoder_layer.mistake(
    "only x handed to the attention",
    why="The attention gets x once, but it wants three things: a query, a key and a value.",
    look="in self-attention all three come from the same place, but they are three arguments.",
    hint=1, raises=True)
class OnlyX(EncoderParts):
    def forward(self, x, mask=None):
        return self.attention(x)


@encoder_layer.mistake("only x handed to the attention")
class OnlyXAndMask(EncoderParts):
    def forward(self, x, mask=None):
        return self.attention(x, mask=mask)


@encoder_layer.mistake("only x handed to the attention")
class OnlyXThenMask(EncoderParts):
    def forward(self, x, mask=None):
        return self.attention(x, mask)


# DecoderLayer


def draw_decoded(generator, batch, target, source, d_model, num_heads, d_hidden, masked=True):
    """Target vectors and the memory; a causal mask and one for the padding of the memory, or neither.

    Where masked is "memory", only the memory's; "holes": both have holes, and the last query may attend to
    nothing.
    """
    x, memory = normal(generator, batch, target, d_model), normal(generator, batch, source, d_model)
    if not masked:
        return x, memory
    if masked == "holes":
        return (x, memory, with_holes(generator, batch, target, target),
                with_holes(generator, batch, target, source))
    mask = None if masked == "memory" else masks.causal_mask(target)
    return x, memory, mask, padding_at_the_end(batch, source)


decoder_layer = Exercise(
    name="DecoderLayer", lesson=7, title="A layer that writes", difficulty=3, importance=3, minutes=12,
    contract="""
        DecoderLayer(d_model, num_heads, d_hidden) is a module with the package's own parts: self_attention
        and cross_attention, each a MultiHeadAttention(d_model, num_heads); feed_forward, a
        FeedForward(d_model, d_hidden); and norm_1, norm_2 and norm_3, each an nn.LayerNorm(d_model).
        forward(x, memory, mask=None, memory_mask=None), with x (batch, target, d_model) and memory, the
        encoder's output, (batch, source, d_model), returns a tensor like x. Three parts in this order: x
        attends to itself (mask), then to the memory (memory_mask), then the feed-forward. Each has its output
        added to its input, and the sum normalised, post-norm. The masks are not always causal, and a query
        that its mask leaves nothing gets weights of 0, as from the package's attention. Dropout is optional.
        """,
    stub='''
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_hidden):
                super().__init__()
                raise NotImplementedError

            def forward(self, x, memory, mask=None, memory_mask=None):
                raise NotImplementedError
        ''',
    sizes=[
        {"batch": 1, "target": 3, "source": 4, "d_model": 4, "num_heads": 2, "d_hidden": 2, "masked": False},
        {"batch": 2, "target": 4, "source": 4, "d_model": 6, "num_heads": 1, "d_hidden": 6},
        {"batch": 2, "target": 3, "source": 5, "d_model": 6, "num_heads": 3, "d_hidden": 7,
         "masked": "memory"},
        {"batch": 1, "target": 4, "source": 3, "d_model": 8, "num_heads": 2, "d_hidden": 5,
         "masked": "holes"},
    ],
    build=("d_model", "num_heads", "d_hidden"),
    draw=draw_decoded,
    reference=layers.DecoderLayer,
    returns="x", shapes={"x": "(batch, target, d_model)"}, tolerance=2e-4,
    hints=[
        ("it raises", "An attention returns (output, weights). And in the second one there are as many "
                      "queries as targets, and as many keys and values as places in the memory: who asks, "
                      "and who answers?"),
        ("the numbers differ", "Three times the same: a part reads x; what it says is added to x; the sum is "
                               "normalised and is the new x. In the second part keys and values come from "
                               "elsewhere."),
        ("only with masks", "Each attention has its own mask. Whose keys does each of them speak of?"),
    ],
    solution='''
        from torch import nn

        from transformer_lessons.attention import MultiHeadAttention
        from transformer_lessons.layers import FeedForward


        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_hidden):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads)
                self.cross_attention = MultiHeadAttention(d_model, num_heads)
                self.feed_forward = FeedForward(d_model, d_hidden)
                self.norm_1 = nn.LayerNorm(d_model)
                self.norm_2 = nn.LayerNorm(d_model)
                self.norm_3 = nn.LayerNorm(d_model)

            def forward(self, x, memory, mask=None, memory_mask=None):
                output, _ = self.self_attention(x, x, x, mask)
                x = self.norm_1(x + output)
                output, _ = self.cross_attention(x, memory, memory, memory_mask)
                x = self.norm_2(x + output)
                return self.norm_3(x + self.feed_forward(x))
        ''',
)


class DecoderParts(nn.Module):
    """The parts, without what joins them."""

    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__()
        parts = parts_of_layers(d_model, num_heads, d_hidden)
        self.self_attention, self.cross_attention, self.feed_forward, *norms = parts
        self.norm_1, self.norm_2, self.norm_3 = norms
        self.zero_grad()


@decoder_layer.right("step by step")
class Decoder(DecoderParts):
    def forward(self, x, memory, mask=None, memory_mask=None):
        attended = self.attended(x, memory, mask, memory_mask)
        first = self.after_attention(self.added_1(x, attended))
        looked = self.looked_up(self.asking(first, x, attended), memory, memory_mask, mask)
        second = self.after_looking(self.added_2(first, looked, x))
        forwarded = self.forwarded(self.fed(second, looked, first, x))
        return self.after_feed_forward(self.added_3(second, forwarded, first, x))

    def attended(self, x, memory, mask, memory_mask):
        return self.first_attention()(x, x, x, self.first_mask(mask, memory_mask))[0]

    def first_attention(self):
        return self.self_attention

    def first_mask(self, mask, memory_mask):
        return mask

    def added_1(self, x, attended):
        return x + attended

    def after_attention(self, total):
        return self.norm_1(total)

    def asking(self, first, x, attended):
        return first

    def looked_up(self, x, memory, memory_mask, mask):
        query, key, value = self.roles(x, memory)
        return self.second_attention()(query, key, value, self.second_mask(memory_mask, mask))[0]

    def roles(self, x, memory):
        return x, memory, memory

    def second_attention(self):
        return self.cross_attention

    def second_mask(self, memory_mask, mask):
        return memory_mask

    def added_2(self, first, looked, x):
        return first + looked

    def after_looking(self, total):
        return self.norm_2(total)

    def fed(self, second, looked, first, x):
        return second

    def forwarded(self, x):
        return self.feed_forward(x)

    def added_3(self, second, forwarded, first, x):
        return second + forwarded

    def after_feed_forward(self, total):
        return self.norm_3(total)


@decoder_layer.right("with dropout, by keywords")
class DecoderWithDropout(DecoderParts):
    def __init__(self, d_model, num_heads, d_hidden, dropout=0.1):
        super().__init__(d_model, num_heads, d_hidden)
        self.dropout_1, self.dropout_2, self.dropout_3 = (nn.Dropout(dropout) for _ in range(3))

    def forward(self, x, memory, mask=None, memory_mask=None):
        output, self.self_weights = self.self_attention(query=x, key=x, value=x, mask=mask)
        x = self.norm_1(x + self.dropout_1(output))
        output, self.cross_weights = self.cross_attention(x, memory, memory, mask=memory_mask)
        x = self.norm_2(x + self.dropout_2(output))
        return self.norm_3(x + self.dropout_3(self.feed_forward(x)))


@decoder_layer.right("a loop over the parts")
class DecoderLoop(DecoderParts):
    def forward(self, x, memory, mask=None, memory_mask=None):
        parts = [lambda x: self.self_attention(x, x, x, mask)[0],
                 lambda x: self.cross_attention(x, memory, memory, memory_mask)[0], self.feed_forward]
        for part, norm in zip(parts, (self.norm_1, self.norm_2, self.norm_3), strict=True):
            x = norm(part(x) + x)
        return x


@decoder_layer.right("another epsilon in the norms")
class DecoderWithOtherNorms(layers.DecoderLayer):
    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__(d_model, num_heads, d_hidden, dropout=0.0)
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model, eps=1e-6) for _ in range(3))


@decoder_layer.mistake(
    "no residual around the self-attention",
    why="x itself is not added to what the self-attention says.",
    look="what becomes of x when the self-attention says nothing new?", hint=2)
class DecoderNoResidual1(Decoder):
    def added_1(self, x, attended):
        return attended


@decoder_layer.mistake(
    "no residual around the cross-attention",
    why="x itself is not added to what the cross-attention found in the memory.",
    look="what becomes of x when the memory says nothing new?", hint=2)
class DecoderNoResidual2(Decoder):
    def added_2(self, first, looked, x):
        return looked


@decoder_layer.mistake(
    "no residual around the feed-forward",
    why="The feed-forward's own input is not added to what it says.",
    look="what becomes of x when the feed-forward says nothing new?", hint=2)
class DecoderNoResidual3(Decoder):
    def added_3(self, second, forwarded, first, x):
        return forwarded


@decoder_layer.mistake(
    "no residual at all",
    why="No part has its input added to its output: what a part does not repeat is lost.",
    look="what becomes of x when a part says nothing new?", hint=2)
class DecoderNoResiduals(DecoderNoResidual1, DecoderNoResidual2, DecoderNoResidual3):
    pass


@decoder_layer.mistake(
    "the layer's input added again",
    why="The x that came into the layer is added to what a later part says, not the one that this part read.",
    look="which x is added the second and the third time? It has changed since the first.",
    hint=2, pairs=False)
class DecoderInputAgain2(Decoder):
    def added_2(self, first, looked, x):
        return x + looked


@decoder_layer.mistake("the layer's input added again", pairs=False)
class DecoderInputAgain3(Decoder):
    def added_3(self, second, forwarded, first, x):
        return x + forwarded


@decoder_layer.mistake("the layer's input added again", pairs=False)
class DecoderInputAgain(DecoderInputAgain2, DecoderInputAgain3):
    pass


@decoder_layer.mistake(
    "the x before the cross-attention added at the end",
    why="To what the feed-forward says is added the x that went into the cross-attention, so what it found "
        "in the memory only gets on by way of the feed-forward.",
    look="which x does the feed-forward read, and which one is added to what it says?", hint=2, pairs=False)
class DecoderFirstAdded3(Decoder):
    def added_3(self, second, forwarded, first, x):
        return first + forwarded


@decoder_layer.mistake(
    "the input added twice",
    why="A part's input is added twice to what the part says, so it weighs double.",
    look="`+=` and `+` on the same line, or a residual inside a part: count how often x is added.", hint=2,
    pairs=False)
class DecoderTwice1(Decoder):
    def added_1(self, x, attended):
        return x + x + attended


@decoder_layer.mistake("the input added twice", pairs=False)
class DecoderTwice2(Decoder):
    def added_2(self, first, looked, x):
        return first + first + looked


@decoder_layer.mistake("the input added twice", pairs=False)
class DecoderTwice3(Decoder):
    def added_3(self, second, forwarded, first, x):
        return second + second + forwarded


@decoder_layer.mistake("the input added twice", pairs=False)
class DecoderTwice(DecoderTwice1, DecoderTwice2, DecoderTwice3):
    pass


@decoder_layer.mistake(
    "multiplied, not added",
    why="What a part says is multiplied with its input, where it should be added.",
    look="what joins a part's output to its input?", hint=2, pairs=False)
class DecoderMultiplied1(Decoder):
    def added_1(self, x, attended):
        return x * attended


@decoder_layer.mistake("multiplied, not added", pairs=False)
class DecoderMultiplied2(Decoder):
    def added_2(self, first, looked, x):
        return first * looked


@decoder_layer.mistake("multiplied, not added", pairs=False)
class DecoderMultiplied3(Decoder):
    def added_3(self, second, forwarded, first, x):
        return second * forwarded


@decoder_layer.mistake("multiplied, not added", pairs=False)
class DecoderMultiplied(DecoderMultiplied1, DecoderMultiplied2, DecoderMultiplied3):
    pass


@decoder_layer.mistake(
    "pre-norm for post-norm",
    why="The norms stand before the parts, not after the sums. This is pre-norm, as in GPT-2; the paper of "
        "2017, and this exercise, have the norm last.",
    look="is the very last thing that happens a norm?", hint=2)
class DecoderPreNorm(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.added_1(x, self.attended(self.after_attention(x), memory, mask, memory_mask))
        x = self.added_2(x, self.looked_up(self.after_looking(x), memory, memory_mask, mask), x)
        return self.added_3(x, self.forwarded(self.after_feed_forward(x)), x, x)


@decoder_layer.mistake(
    "pre-norm for one part",
    why="Around one of the parts the norm comes first: it normalises what the part reads, not the sum.",
    look="for each part: what goes into the norm, and what goes into the part?", hint=2, pairs=False)
class DecoderPreNorm1(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = x + self.attended(self.norm_1(x), memory, mask, memory_mask)
        x = self.norm_2(x + self.looked_up(x, memory, memory_mask, mask))
        return self.norm_3(x + self.feed_forward(x))


@decoder_layer.mistake("pre-norm for one part", pairs=False)
class DecoderPreNorm2(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm_1(x + self.attended(x, memory, mask, memory_mask))
        x = x + self.looked_up(self.norm_2(x), memory, memory_mask, mask)
        return self.norm_3(x + self.feed_forward(x))


@decoder_layer.mistake("pre-norm for one part", pairs=False)
class DecoderPreNorm3(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm_1(x + self.attended(x, memory, mask, memory_mask))
        x = self.norm_2(x + self.looked_up(x, memory, memory_mask, mask))
        return x + self.feed_forward(self.norm_3(x))


@decoder_layer.mistake(
    "the normalised input added",
    why="The norms come before the parts, and it is the normalised input, not x, that is added to what a "
        "part says. That is neither post-norm nor pre-norm.",
    look="where does each norm stand: before the part, or after the sum?", hint=2)
class DecoderNormalisedAdded(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.after_attention(x)
        x = self.added_1(x, self.attended(x, memory, mask, memory_mask))
        x = self.after_looking(x)
        x = self.added_2(x, self.looked_up(x, memory, memory_mask, mask), x)
        x = self.after_feed_forward(x)
        return self.added_3(x, self.forwarded(x), x, x)


@decoder_layer.mistake(
    "the norm before the sum",
    why="What a part says is normalised, and its input is added afterwards: the sum itself is not "
        "normalised.",
    look="the brackets: what exactly goes into each norm?", hint=2)
class DecoderNormBeforeSum(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.added_1(x, self.after_attention(self.attended(x, memory, mask, memory_mask)))
        x = self.added_2(x, self.after_looking(self.looked_up(x, memory, memory_mask, mask)), x)
        return self.added_3(x, self.after_feed_forward(self.forwarded(x)), x, x)


@decoder_layer.mistake("the norm before the sum", pairs=False)
class DecoderNormBeforeSum1(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = x + self.norm_1(self.attended(x, memory, mask, memory_mask))
        x = self.norm_2(x + self.looked_up(x, memory, memory_mask, mask))
        return self.norm_3(x + self.feed_forward(x))


@decoder_layer.mistake("the norm before the sum", pairs=False)
class DecoderNormBeforeSum2(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm_1(x + self.attended(x, memory, mask, memory_mask))
        x = x + self.norm_2(self.looked_up(x, memory, memory_mask, mask))
        return self.norm_3(x + self.feed_forward(x))


@decoder_layer.mistake("the norm before the sum", pairs=False)
class DecoderNormBeforeSum3(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm_1(x + self.attended(x, memory, mask, memory_mask))
        x = self.norm_2(x + self.looked_up(x, memory, memory_mask, mask))
        return x + self.norm_3(self.feed_forward(x))


@decoder_layer.mistake(
    "no norm after the self-attention",
    why="The sum after the self-attention is not normalised.",
    look="where is norm_1 used?", hint=2)
class DecoderNoNorm1(Decoder):
    def after_attention(self, total):
        return total


@decoder_layer.mistake(
    "no norm after the cross-attention",
    why="The sum after the cross-attention is not normalised.",
    look="where is norm_2 used?", hint=2)
class DecoderNoNorm2(Decoder):
    def after_looking(self, total):
        return total


@decoder_layer.mistake(
    "no norm at the end",
    why="The sum after the feed-forward is not normalised.",
    look="where is norm_3 used?", hint=2)
class DecoderNoNorm3(Decoder):
    def after_feed_forward(self, total):
        return total


@decoder_layer.mistake(
    "no norms",
    why="Nothing is normalised: no norm is used.",
    look="where are the norms used?", hint=2)
class DecoderNoNorms(DecoderNoNorm1, DecoderNoNorm2, DecoderNoNorm3):
    pass


def with_norms(first, second, third):
    """The norms in another order."""
    order = {"after_attention": first, "after_looking": second, "after_feed_forward": third}
    return type("WithNorms", (Decoder,), {
        step: lambda self, total, number=number: getattr(self, f"norm_{number}")(total)
        for step, number in order.items() if number != 1 + list(order).index(step)})


for number, order in enumerate(((2, 1, 3), (1, 3, 2), (3, 2, 1), (2, 3, 1), (3, 1, 2))):
    words = {} if number else {
        "why": "The norms come in another order than the contract counts them: parts get each other's.",
        "look": "each norm has weights of its own. Which of them belongs to which part?", "hint": 2}
    decoder_layer.mistake("the norms swapped", **words, pairs=False)(with_norms(*order))
for number, order in enumerate(((1, 1, 3), (1, 2, 2), (1, 1, 1), (1, 2, 1), (2, 2, 3), (3, 2, 3), (1, 3, 3),
                                (1, 1, 2))):
    words = {} if number else {
        "why": "One norm serves several parts, and another one is never used; each part has its own.",
        "look": "the names of the norms in forward.", "hint": 2}
    decoder_layer.mistake("one norm used twice", **words, pairs=order in ((1, 2, 2), (1, 1, 3)))(
        with_norms(*order))


@decoder_layer.mistake(
    "the cross-attention first",
    why="x attends to the memory before it attends to itself.",
    look="the order of the three parts.", hint=2)
class CrossFirst(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.after_attention(self.added_2(x, self.looked_up(x, memory, memory_mask, mask), x))
        x = self.after_looking(self.added_1(x, self.attended(x, memory, mask, memory_mask)))
        return self.after_feed_forward(self.added_3(x, self.forwarded(x), x, x))


@decoder_layer.mistake("the cross-attention first", pairs=False)
class CrossFirstWithItsNorm(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm_2(x + self.looked_up(x, memory, memory_mask, mask))
        x = self.norm_1(x + self.attended(x, memory, mask, memory_mask))
        return self.norm_3(x + self.feed_forward(x))


@decoder_layer.mistake(
    "the feed-forward too early",
    why="The feed-forward comes before one of the attentions, or before both; it is the last of the three "
        "parts.",
    look="the order of the three parts.", hint=2, pairs=False)
class FeedForwardSecond(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm_1(x + self.attended(x, memory, mask, memory_mask))
        x = self.norm_2(x + self.feed_forward(x))
        return self.norm_3(x + self.looked_up(x, memory, memory_mask, mask))


@decoder_layer.mistake("the feed-forward too early", pairs=False)
class FeedForwardSecondWithItsNorm(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm_1(x + self.attended(x, memory, mask, memory_mask))
        x = self.norm_3(x + self.feed_forward(x))
        return self.norm_2(x + self.looked_up(x, memory, memory_mask, mask))


@decoder_layer.mistake("the feed-forward too early", pairs=False)
class DecoderFeedForwardFirst(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm_1(x + self.feed_forward(x))
        x = self.norm_2(x + self.attended(x, memory, mask, memory_mask))
        return self.norm_3(x + self.looked_up(x, memory, memory_mask, mask))


@decoder_layer.mistake(
    "parts side by side",
    why="Several parts read the same x, and what they say is added at once: the later ones never see what "
        "the earlier ones found.",
    look="what goes into each part, and what is added to what?", hint=2, pairs=False)
class DecoderSideBySide(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        return self.norm_3(x + self.attended(x, memory, mask, memory_mask)
                           + self.looked_up(x, memory, memory_mask, mask) + self.feed_forward(x))


@decoder_layer.mistake("parts side by side", pairs=False)
class AttentionsSideBySide(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm_2(x + self.attended(x, memory, mask, memory_mask)
                        + self.looked_up(x, memory, memory_mask, mask))
        return self.norm_3(x + self.feed_forward(x))


@decoder_layer.mistake(
    "no cross-attention",
    why="Nothing is read from the memory, or what is read is thrown away: the decoder does not know what it "
        "translates.",
    look="what becomes of the cross-attention's output?", hint=2)
class NoCrossNoNorm(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.after_attention(self.added_1(x, self.attended(x, memory, mask, memory_mask)))
        return self.after_feed_forward(self.added_3(x, self.forwarded(x), x, x))


@decoder_layer.mistake("no cross-attention", pairs=False)
class NoCross(Decoder):
    def added_2(self, first, looked, x):
        return first


@decoder_layer.mistake("no cross-attention", pairs=False)
class NoCrossSecondNorm(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm_1(x + self.attended(x, memory, mask, memory_mask))
        return self.norm_2(x + self.feed_forward(x))


@decoder_layer.mistake(
    "no self-attention",
    why="The targets never attend to each other, or what they say is thrown away.",
    look="what becomes of the self-attention's output?", hint=2)
class NoSelf(Decoder):
    def added_1(self, x, attended):
        return x


@decoder_layer.mistake("no self-attention", pairs=False)
class NoSelfNoNorm(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm_2(x + self.looked_up(x, memory, memory_mask, mask))
        return self.norm_3(x + self.feed_forward(x))


@decoder_layer.mistake("no self-attention", pairs=False)
class NoSelfFirstNorms(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm_1(x + self.looked_up(x, memory, memory_mask, mask))
        return self.norm_2(x + self.feed_forward(x))


@decoder_layer.mistake(
    "no feed-forward",
    why="The feed-forward is never used, or what it says is thrown away.",
    look="what becomes of the feed-forward's output?", hint=2)
class DecoderNoFeedForward(Decoder):
    def added_3(self, second, forwarded, first, x):
        return second


@decoder_layer.mistake("no feed-forward", pairs=False)
class EndsAfterCross(DecoderNoFeedForward):
    def after_feed_forward(self, total):
        return total


@decoder_layer.mistake(
    "an activation too many",
    why="A result goes through ReLU, which turns everything negative into 0. ReLU has its place inside the "
        "feed-forward, and is there already.",
    look="relu, or any other function that bends, in forward.", hint=2, pairs=False)
class DecoderReluAtTheEnd(Decoder):
    def after_feed_forward(self, total):
        return self.norm_3(total).relu()


@decoder_layer.mistake("an activation too many", pairs=False)
class DecoderReluAfterFeedForward(Decoder):
    def forwarded(self, x):
        return self.feed_forward(x).relu()


@decoder_layer.mistake(
    "x and memory swapped",
    why="x is treated as the memory and the memory as x: the result has a row for each place of the memory.",
    look="the order of forward's parameters.", hint=1, pairs=False)
class InputsSwapped(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        return super().forward(memory, x, mask, memory_mask)


@decoder_layer.mistake("x and memory swapped", pairs=False)
class InputsAndMasksSwapped(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        return super().forward(memory, x, memory_mask, mask)


@decoder_layer.mistake(
    "x in place of the memory",
    why="In the second attention keys and values come from x too, so the memory is never read.",
    look="who answers in the second attention?", hint=2)
class CrossOnItself(Decoder):
    def roles(self, x, memory):
        return x, x, x


@decoder_layer.mistake("x in place of the memory")
class CrossOnItselfWithMask(CrossOnItself):
    def second_mask(self, memory_mask, mask):
        return mask


@decoder_layer.mistake("x in place of the memory")
class CrossOnItselfUnmasked(CrossOnItself):
    def second_mask(self, memory_mask, mask):
        return None


def with_any_mask(name, way):
    """The same mistake with the other mask, or none; where the keys change, so may the mask."""
    for masked in (lambda self, memory_mask, mask: mask, lambda self, memory_mask, mask: None):
        decoder_layer.mistake(name, pairs=False)(type(way.__name__, (way,), {"second_mask": masked}))


@decoder_layer.mistake(
    "the memory asks",
    why="In the second attention the queries come from the memory, and keys and values from x: the wrong way "
        "round.",
    look="who asks in the second attention, and who answers? The result has a row for each query.", hint=1,
    pairs=False)
class MemoryAsks(Decoder):
    def roles(self, x, memory):
        return memory, x, x


@decoder_layer.mistake(
    "the memory asks itself",
    why="In the second attention the queries come from the memory, as keys and values do: x asks nothing.",
    look="who asks in the second attention? The result has a row for each query.", hint=1, pairs=False)
class MemoryAsksItself(Decoder):
    def roles(self, x, memory):
        return memory, memory, memory


@decoder_layer.mistake(
    "keys or values from x",
    why="In the second attention keys and values come from different places, one of them from x; both belong "
        "to the memory.",
    look="a key and its value are two sides of one thing. Of which?", hint=1, pairs=False)
class ValuesFromX(Decoder):
    def roles(self, x, memory):
        return x, memory, x


@decoder_layer.mistake("keys or values from x", pairs=False)
class KeysFromX(Decoder):
    def roles(self, x, memory):
        return x, x, memory


@decoder_layer.mistake("keys or values from x", pairs=False)
class OnlyValuesFromX(Decoder):
    def roles(self, x, memory):
        return memory, memory, x


for name, way in (("the memory asks", MemoryAsks), ("the memory asks itself", MemoryAsksItself),
                  ("keys or values from x", ValuesFromX), ("keys or values from x", KeysFromX),
                  ("keys or values from x", OnlyValuesFromX)):
    with_any_mask(name, way)


@decoder_layer.mistake(
    "the memory in the self-attention",
    why="The first attention reads the memory too, so the targets never attend to each other.",
    look="who answers in the first attention?", hint=2, pairs=False)
class SelfOnMemory(Decoder):
    def attended(self, x, memory, mask, memory_mask):
        return self.self_attention(x, memory, memory, memory_mask)[0]


@decoder_layer.mistake("the memory in the self-attention", pairs=False)
class SelfOnMemoryMask(Decoder):
    def attended(self, x, memory, mask, memory_mask):
        return self.self_attention(x, memory, memory, mask)[0]


@decoder_layer.mistake("the memory in the self-attention", pairs=False)
class SelfOnMemoryUnmasked(Decoder):
    def attended(self, x, memory, mask, memory_mask):
        return self.self_attention(x, memory, memory)[0]


@decoder_layer.mistake(
    "the layer's input asks the memory",
    why="The queries of the second attention are the x that came into the layer, not what the first "
        "attention and norm_1 have made of it.",
    look="which x asks the memory? It has changed since the first part.", hint=2)
class InputAsks(Decoder):
    def asking(self, first, x, attended):
        return x


@decoder_layer.mistake(
    "the attention alone asks the memory",
    why="The queries of the second attention are what the first one says, before x is added and the sum "
        "normalised.",
    look="which x asks the memory?", hint=2, pairs=False)
class AttendedAsks(Decoder):
    def asking(self, first, x, attended):
        return attended


@decoder_layer.mistake(
    "the memory normalised",
    why="The memory goes through one of the norms first; it is the encoder's output, ready to be read.",
    look="what goes into each norm?", hint=2)
class MemoryNormalised(Decoder):
    def roles(self, x, memory):
        return x, self.norm_2(memory), self.norm_2(memory)


@decoder_layer.mistake("the memory normalised", pairs=False)
class MemoryNormalised1(Decoder):
    def roles(self, x, memory):
        return x, self.norm_1(memory), self.norm_1(memory)


@decoder_layer.mistake(
    "the feed-forward reads too early an x",
    why="The feed-forward does not read what comes out of norm_2 but something from before: the layer's "
        "input, the x before the cross-attention, or what the cross-attention found, alone.",
    look="what goes into the feed-forward?", hint=2, pairs=False)
class FeedsOnLooked(Decoder):
    def fed(self, second, looked, first, x):
        return looked


@decoder_layer.mistake("the feed-forward reads too early an x", pairs=False)
class FeedsOnFirst(Decoder):
    def fed(self, second, looked, first, x):
        return first


@decoder_layer.mistake("the feed-forward reads too early an x", pairs=False)
class DecoderFeedsOnInput(Decoder):
    def fed(self, second, looked, first, x):
        return x


@decoder_layer.mistake(
    "one attention for both",
    why="The same attention module does both jobs, and the other one is never used; each has weights of its "
        "own.",
    look="the names of the attentions in forward.", hint=2)
class SelfForBoth(Decoder):
    def second_attention(self):
        return self.self_attention


@decoder_layer.mistake("one attention for both")
class CrossForBoth(Decoder):
    def first_attention(self):
        return self.cross_attention


@decoder_layer.mistake(
    "the two attentions swapped",
    why="x attends to itself with cross_attention and to the memory with self_attention.",
    look="the names of the attentions in forward.", hint=2)
class AttentionsSwapped(CrossForBoth, SelfForBoth):
    pass


@decoder_layer.mistake(
    "the masks swapped",
    why="Each attention gets the other one's mask: memory_mask speaks of places in the memory, mask of "
        "targets.",
    look="whose keys does each mask speak of?", hint=3)
class MasksSwapped(Decoder):
    def first_mask(self, mask, memory_mask):
        return memory_mask

    def second_mask(self, memory_mask, mask):
        return mask


@decoder_layer.mistake(
    "mask for the memory",
    why="mask reaches the second attention, though it speaks of targets, not of places in the memory.",
    look="whose keys does the second attention read?", hint=3)
class MaskForMemory(Decoder):
    def second_mask(self, memory_mask, mask):
        return mask


@decoder_layer.mistake("mask for the memory", pairs=False)
class BothMasksForMemory(Decoder):
    def second_mask(self, memory_mask, mask):
        return memory_mask if mask is None else memory_mask & mask


@decoder_layer.mistake(
    "memory_mask for the targets",
    why="memory_mask reaches the first attention, though it speaks of places in the memory, not of targets.",
    look="whose keys does the first attention read?", hint=3)
class MemoryMaskForTargets(Decoder):
    def first_mask(self, mask, memory_mask):
        return memory_mask


@decoder_layer.mistake("memory_mask for the targets", pairs=False)
class BothMasksForTargets(Decoder):
    def first_mask(self, mask, memory_mask):
        return memory_mask if mask is None else memory_mask & mask


@decoder_layer.mistake(
    "mask dropped",
    why="mask does not reach the self-attention, so every target sees those that come after it.",
    look="the arguments of the first attention.", hint=3)
class DecoderMaskDropped(Decoder):
    def first_mask(self, mask, memory_mask):
        return None


@decoder_layer.mistake(
    "memory_mask dropped",
    why="memory_mask does not reach the cross-attention, so padding in the memory is read.",
    look="the arguments of the second attention.", hint=3)
class MemoryMaskDropped(Decoder):
    def second_mask(self, memory_mask, mask):
        return None


@decoder_layer.mistake(
    "memory_mask only together with a mask",
    why="memory_mask reaches the cross-attention only where there is a mask too; each of the two may come "
        "alone.",
    look="the `if` around the attentions: what does it ask for, and what does it decide?", hint=3,
    pairs=False)
class MemoryMaskWithMask(Decoder):
    def second_mask(self, memory_mask, mask):
        return None if mask is None else memory_mask


@decoder_layer.mistake(
    "both masks dropped",
    why="No mask reaches an attention: the targets see their own future, and padding in the memory is read.",
    look="the arguments of the two attentions.", hint=3)
class BothMasksDropped(DecoderMaskDropped, MemoryMaskDropped):
    pass


@decoder_layer.mistake(
    "a mask inverted",
    why="A mask is turned round on its way into the attention, where True means may attend, as here.",
    look="what does True mean in the masks you get, and in those you hand on?", hint=3)
class DecoderMaskInverted(Decoder):
    def first_mask(self, mask, memory_mask):
        return None if mask is None else ~mask


@decoder_layer.mistake("a mask inverted")
class MemoryMaskInverted(Decoder):
    def second_mask(self, memory_mask, mask):
        return None if memory_mask is None else ~memory_mask


@decoder_layer.mistake("a mask inverted")
class BothInverted(DecoderMaskInverted, MemoryMaskInverted):
    pass


def attending(first, second, weigh):
    """A decoder whose attentions, one or both, are made by hand."""
    def self_attending(self):
        return lambda *inputs: by_hand(self.self_attention, *inputs, weigh)

    def cross_attending(self):
        return lambda *inputs: by_hand(self.cross_attention, *inputs, weigh)

    return type("ByHand", (Decoder,), {**({"first_attention": self_attending} if first else {}),
                                       **({"second_attention": cross_attending} if second else {})})


for first, second in ((True, True), (True, False), (False, True)):
    words = {"why": AVERAGE, "look": NOTHING, "hint": 3} if first and second else {}
    decoder_layer.mistake("an average for a query that may attend to nothing", **words,
                          pairs=first and second)(attending(first, second, filled(-1e9)))
decoder_layer.mistake("an average for a query that may attend to nothing", pairs=False)(
    attending(True, True, added))
for first, second in ((True, True), (True, False), (False, True)):
    words = {"why": NAN, "look": NOTHING, "hint": 3} if first and second else {}
    decoder_layer.mistake("NaN for a query that may attend to nothing", **words, pairs=False)(
        attending(first, second, filled(-torch.inf)))


@decoder_layer.mistake(
    "a mask of its own",
    why="The layer makes a causal mask, in place of the one it gets or besides it. Who may attend to whom is "
        "for the masks alone to say.",
    look="every mask in forward: where does it come from?", hint=3)
class DecoderOwnMask(Decoder):
    def attended(self, x, memory, mask, memory_mask):
        mask, causal = self.first_mask(mask, memory_mask), masks.causal_mask(x.shape[1])
        return self.first_attention()(x, x, x, causal if mask is None else causal & mask)[0]


@decoder_layer.mistake("a mask of its own", pairs=False)
class DecoderOwnMaskInPlace(Decoder):
    def attended(self, x, memory, mask, memory_mask):
        return self.first_attention()(x, x, x, masks.causal_mask(x.shape[1]))[0]


@decoder_layer.mistake("a mask of its own", pairs=False)
class DecoderOwnMaskForNone(Decoder):
    def attended(self, x, memory, mask, memory_mask):
        return self.first_attention()(x, x, x, masks.causal_mask(x.shape[1]) if mask is None else mask)[0]


decoder_layer.mistake("the unbiased variance in the norms", why=UNBIASED, look=BY_HAND, hint=2)(
    with_norm_by_hand(Decoder, unbiased, after_attention=1, after_looking=2, after_feed_forward=3))
decoder_layer.mistake(
    "the norms without gain and bias",
    why="The sums are normalised, but the gain and the bias that each norm has learned are not used.",
    look="which weights of the norms does forward use?", hint=2, pairs=False)(
    with_norm_by_hand(Decoder, bare, after_attention=1, after_looking=2, after_feed_forward=3))


@decoder_layer.mistake(
    "the weights left in",
    why="An attention returns (output, weights), a tuple, and the tuple itself is used as if it were the "
        "output.",
    look="what does the package's MultiHeadAttention return?", hint=1, raises=True)
class DecoderWeightsLeftIn(DecoderParts):
    def forward(self, x, memory, mask=None, memory_mask=None):
        return self.norm_1(x + self.self_attention(x, x, x, mask))


@decoder_layer.mistake("the weights left in")
class DecoderWeightsLeftInDropout(DecoderParts):
    def forward(self, x, memory, mask=None, memory_mask=None):
        return F.dropout(self.self_attention(x, x, x, mask), 0.1)


@decoder_layer.mistake("the weights left in")
class DecoderWeightsLeftInNorm(DecoderParts):
    def forward(self, x, memory, mask=None, memory_mask=None):
        return self.norm_1(self.self_attention(x, x, x, mask))
