"""What the mistakes of `EncoderLayer` and `DecoderLayer` share: how parts are joined, parts made by hand, texts."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons import attention, masks
from transformer_lessons.exercises.checker.exercise import Family


# Masks
def with_holes(generator, batch, queries, keys):
    """Each query may attend to some of the keys, in no particular order; the last query to none: (batch, 1, …)."""
    order = torch.rand(batch, 1, queries, keys, generator=generator).argsort(-1)
    allowed = (order == 0) | ((order > 1) & (torch.rand(order.shape, generator=generator) < 0.5))
    allowed[:, :, -1] = False
    return allowed


def padding_at_the_end(batch, length):
    """The last sequence is full, the one before it lacks two tokens, and so on: (batch, 1, 1, length)."""
    missing = 2 * torch.arange(batch).flip(0)[:, None]
    return (torch.arange(length) < (length - missing).clamp(min=1))[:, None, None, :]


def with_causal(mask, x):
    """The mask, combined with one that allows no looking ahead in x."""
    causal = masks.causal_mask(x.shape[1])
    return causal if mask is None else causal & mask


# The parts in order
JOINS = {  # how a part, its norm and its sum make a new x
    "post": lambda x, part, norm, add: norm(add(x, part(x))),  # the right one
    "pre": lambda x, part, norm, add: add(x, part(norm(x))),
    "norm before sum": lambda x, part, norm, add: add(x, norm(part(x))),
    "each normalised": lambda x, part, norm, add: add(norm(x), norm(part(x))),
    "before and after": lambda x, part, norm, add: norm(add(x, part(norm(x)))),
    "at first and after": lambda x, part, norm, add: norm(add(norm(x), part(norm(x)))),
    "twice": lambda x, part, norm, add: norm(norm(add(x, part(x)))),
    "normalised added": lambda x, part, norm, add: add(norm(x), part(norm(x))),
    "normalised added in post": lambda x, part, norm, add: add(norm(x), part(x)),
}


def through(x, parts, sums, norms, joins, order, norm_order):
    """What x becomes as it goes through the parts, with the parts and norms in these orders; post-norm by default."""
    for part, norm, join in zip(order, norm_order, joins or ["post"] * len(order), strict=True):
        x = JOINS[join](x, parts[part - 1], norms[norm - 1], sums[part - 1])
    return x


def each_and_all(steps, function):
    """The function in place of each of these steps alone, and of all together."""
    return [*({step: function} for step in steps), dict.fromkeys(steps, function)]


# Parts by hand
def norms(steps, numbers):
    """These steps, each with the norm of its number."""
    return {
        step: lambda self, total, number=number: getattr(self, f"norm_{number}")(total)
        for step, number in zip(steps, numbers, strict=True)
    }


def filled(number):
    """A softmax in which masked scores are replaced by a number, whatever else is in their row."""
    return lambda scores, mask: (scores if mask is None else scores.masked_fill(~mask, number)).softmax(-1)


def added(scores, mask):
    """A softmax in which a large number is subtracted from masked scores."""
    return (scores if mask is None else scores - 1e9 * ~mask).softmax(-1)


def by_hand(module, weigh, scale=None, end=None):
    """The package's attention, with another softmax, another scale, or another last layer."""

    def attend(query, key, value, mask=None):
        query, key, value = (
            attention.split_heads(linear(one), module.num_heads)
            for linear, one in ((module.linear_q, query), (module.linear_k, key), (module.linear_v, value))
        )
        weights = weigh(query @ key.transpose(-2, -1) / (scale or math.sqrt(query.shape[-1])), mask)
        return (end or module.linear_out)(attention.merge_heads(weights @ value)), weights

    return attend


# Texts: why and look, or one of them
NO_RESIDUAL = (
    "The feed-forward's input is not added to its output.",
    "what is left of x if the feed-forward returns 0?",
)
ADDED_TWICE = (
    "A part's input counts double: it is added to the output twice, or the output is halved.",
    "how many times is x added? Look out for `+=` and `+` on the same line, or a residual inside a part.",
)
MULTIPLIED = (
    "A part's output is multiplied by its input; the two should be added.",
    "which operation combines a part's output with its input?",
)
SUM_ADDED = (
    "A part's output is added to the previous sum as it was before the norm, not to the normalised x that the "
    "part read.",
    "which x does the part read, and which is added to its output? Is there a norm between the two?",
)
PRE_NORM = (
    "The norms come before the parts instead of after the sums. This is pre-norm, as in GPT-2; the 2017 paper "
    "and this exercise put the norm last.",
    "is a norm the very last step?",
)
NO_FEED_FORWARD = (
    "The feed-forward is never used, or its output is thrown away.",
    "where is the feed-forward's output used?",
)
ACTIVATION = (
    "There is one ReLU too many, and it turns everything negative into 0. The feed-forward already has a ReLU inside.",
    "is there a relu, or any other activation, in forward?",
)
NOTHING = "what becomes of a row of scores when there is no True in that row of the mask?"
AVERAGE = (
    "A query that may attend to nothing gets an average of values that are hidden from it; the package's "
    "attention gives it weights of 0.",
    NOTHING,
)
NAN = (
    "A query that may attend to nothing gets NaN, which spreads to everything that reads it; the package's "
    "attention gives it weights of 0.",
    NOTHING,
)
NORMALISED_ADDED = (
    "A part's output is added to the normalised input, not to x itself. That is neither post-norm nor pre-norm.",
    "where does each norm come: before the part, or after the sum?",
)
NORM_BEFORE_SUM = (
    "A part's output, and perhaps its input too, is normalised before the two are added; the sum "
    "itself is not normalised.",
    "the brackets: what exactly goes into each norm?",
)
A_NORM_TOO_MANY = (
    "Something is normalised that should not be, or is normalised twice; the exercise asks for one "
    "norm after each sum, and no others.",
    "how many norms does x go through for each part?",
)
BARE_ADDED = (
    "A part's output is added to what the attention before it returned, not to the x that the part read.",
    "which x does the part read, and what is added to its output?",
)
OWN_MASK = (
    "The layer makes a causal mask of its own: instead of the one it is given, on top of it, or when it is "
    "given none. Only the caller's masks should decide who may attend to whom.",
    "where does each mask in forward come from?",
)
WEIGHTS_LEFT_IN = (
    "Attention returns a tuple, (output, weights), and the whole tuple is used as if it were the output.",
    "which of the two do you need, and how do you take it out of a tuple?",
)
SKIPPED = (
    "When a mask is None, its attention is skipped, with or without its norm. But None only means that nothing "
    "is hidden: every position may be read.",
    "which lines of forward run only when there is a mask, and which of them should?",
)
NO_NORMS = ("Nothing is normalised: no norm is used.", "what should happen to each sum?")
NO_RESIDUALS = (
    "No part has its input added to its output, so whatever a part does not pass on is lost.",
    "what is left of x if a part returns 0?",
)

# How a layer and its norms are built
both = Family()
mistake = both.section(topic="the numbers")


def with_norms(made):
    """Other norms than nn.LayerNorm."""

    def init(self, right, d_model):
        for name in [name for name, part in self.named_children() if isinstance(part, nn.LayerNorm)]:
            setattr(self, name, made(d_model))

    return {"__init__": init}


class Unbiased(nn.LayerNorm):
    """As a well-known tutorial has it."""

    def forward(self, x):
        return self.weight * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + self.eps) + self.bias


class OverTheBatch(nn.BatchNorm1d):
    def forward(self, x):
        return super().forward(x.mT).mT


mistake(
    "the unbiased variance in the norms",
    why="The norms use the unbiased variance: the sum of the squared "
    "deviations is divided by one less than the number of features, which is what .var() and .std() do by default. "
    "nn.LayerNorm divides it by the number of features.",
    look="what computes each norm, and where does its variance come from?",
    variants=[with_norms(Unbiased)],
)
mistake(
    "the norms without gain and bias",
    why="The sums are normalised, but the gain and bias that each norm learns are not used.",
    look="which weights of the norms does forward use?",
    variants=[
        {
            "__init__": lambda self, right: (
                [
                    part.register_forward_hook(lambda part, x, y: F.layer_norm(x[0], x[0].shape[-1:]))
                    for part in self.children()
                    if isinstance(part, nn.LayerNorm)
                ]
                and None
            )
        }
    ],
)
mistake(
    "another epsilon in the norms",
    why="The epsilon that the norms add to the variance is not the default of nn.LayerNorm.",
    look="the arguments of each nn.LayerNorm, or of what stands in its place.",
    variants=[with_norms(lambda d_model, eps=eps: nn.LayerNorm(d_model, eps)) for eps in (1e-3, 1e-2)],
)
mistake(
    "another norm than nn.LayerNorm",
    why="The norms do not use the mean and variance of each vector, as "
    "nn.LayerNorm does; nn.BatchNorm1d, for example, uses those of each feature.",
    look="which class does `__init__` use for each norm?",
    variants=[
        with_norms(lambda d_model, kept=kept: OverTheBatch(d_model, track_running_stats=kept)) for kept in (True, False)
    ],
)
mistake(
    "the number of heads not handed on",
    why="num_heads does not reach MultiHeadAttention, which is built with a different number of heads.",
    look="which arguments does `__init__` build each part with?",
    variants=[
        {"__init__": lambda step, d_model, d_hidden, heads=heads: step(d_model, heads, d_hidden)} for heads in (1, 2)
    ],
)
mistake(
    "num_heads and d_hidden swapped",
    topic="it raises",
    why="MultiHeadAttention is built with d_hidden in place of num_heads, as when the two are swapped.",
    look="the order of `__init__`'s parameters, and the arguments that each part is built with.",
    variants=[{"__init__": lambda step, d_model, num_heads, d_hidden: step(d_model, d_hidden, num_heads)}],
)
