"""What the mistakes of `EncoderLayer` and `DecoderLayer` share: how parts are joined, parts made by hand, texts."""

import math

import torch
import torch.nn.functional as F

from transformer_lessons import attention, masks

# Masks

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

def with_causal(mask, x):
    """The mask, and no look ahead in x."""
    causal = masks.causal_mask(x.shape[1])
    return causal if mask is None else causal & mask

# The parts in order

JOINS = {  # how a part, its norm and its sum make a new x
    "post": lambda x, part, norm, add: norm(add(x, part(x))),  # the right one
    "pre": lambda x, part, norm, add: add(x, part(norm(x))),
    "norm before sum": lambda x, part, norm, add: add(x, norm(part(x))),
    "before and after": lambda x, part, norm, add: norm(add(x, part(norm(x)))),
    "normalised added": lambda x, part, norm, add: add(norm(x), part(norm(x))),
    "normalised added in post": lambda x, part, norm, add: add(norm(x), part(x)),
}

def through(x, parts, sums, norms, joins, order, norm_order):
    """What x becomes in the parts, which come in this order, with the norms in that order; post-norm by default."""
    for part, norm, join in zip(order, norm_order, joins or ["post"] * len(order), strict=True):
        x = JOINS[join](x, parts[part - 1], norms[norm - 1], sums[part - 1])
    return x

def each_and_all(steps, function):
    """The function in place of each of these steps alone, and of all together."""
    return [*({step: function} for step in steps), dict.fromkeys(steps, function)]

# Parts by hand

def norms(steps, numbers, made=lambda norm, total: norm(total)):
    """These steps with the norms of these numbers, and what is made with a norm."""
    return {step: lambda self, total, number=number: made(getattr(self, f"norm_{number}"), total)
            for step, number in zip(steps, numbers, strict=True)}

def unbiased(norm, total):
    """A norm by hand, as a well-known tutorial has it."""
    deviations = total - total.mean(-1, keepdim=True)
    return norm.weight * deviations / (total.std(-1, keepdim=True) + norm.eps) + norm.bias

def bare(norm, total):
    """A norm without gain and bias."""
    return F.layer_norm(total, total.shape[-1:])

def filled(number):
    """A softmax in which forbidden scores get a number, whatever else is in their row."""
    return lambda scores, mask: (scores if mask is None else scores.masked_fill(~mask, number)).softmax(-1)

def added(scores, mask):
    """A softmax in which forbidden scores get a number added."""
    return (scores if mask is None else scores - 1e9 * ~mask).softmax(-1)

def by_hand(module, weigh, scale=None, end=None):
    """The package's attention, with another softmax, another scale, or another last layer."""
    def attend(query, key, value, mask=None):
        query, key, value = (attention.split_heads(linear(one), module.num_heads) for linear, one in (
            (module.linear_q, query), (module.linear_k, key), (module.linear_v, value)))
        weights = weigh(query @ key.transpose(-2, -1) / (scale or math.sqrt(query.shape[-1])), mask)
        return (end or module.linear_out)(attention.merge_heads(weights @ value)), weights

    return attend

# Texts: why and look, or one of them

NO_RESIDUAL = ("The feed-forward's input is not added to its output.",
               "what is left of x if the feed-forward returns 0?")
ADDED_TWICE = ("A part's input is added to its output twice, or the output is halved: the input counts double.",
               "`+=` and `+` on the same line, or a residual inside a part: count how often x is added.")
MULTIPLIED = ("A part's output is multiplied by its input; the two should be added.",
              "which operation combines a part's output with its input?")
SUM_ADDED = ("A part's output is added to the sum before the norm, not to the normalised x that the part read.",
             "which x does the part read, and which is added to its output? Is there a norm between the two?")
PRE_NORM = ("The norms come before the parts, not after the sums. This is pre-norm, as in GPT-2; the 2017 paper, and "
            "this exercise, put the norm last.", "is a norm the very last step?")
NO_FEED_FORWARD = ("The feed-forward is never used, or its output is thrown away.",
                   "where is the feed-forward's output used?")
ACTIVATION = ("A result goes through a ReLU, which turns everything negative into 0. ReLU belongs inside the "
              "feed-forward, which already has one.", "relu, or any other activation, in forward.")
NOTHING = "a row of the mask with no True in it: what does a softmax make of scores that are all the same?"
AVERAGE = ("A query that may attend to nothing gets an average of values that it may not read; the package's attention "
           "gives it weights of 0.", NOTHING)
NAN = ("A query that may attend to nothing gets NaN, which spreads to everything that reads it; the package's "
       "attention gives it weights of 0.", NOTHING)
UNBIASED = ("The norms use the unbiased variance: the squared deviations are divided by one less than the number of "
            "features, as .var() and .std() do by default; nn.LayerNorm divides by the number itself.",
            "the arguments of .var() and .std(), wherever a norm is computed.")
BARE = "The sums are normalised, but without the gain and the bias that each norm learns."
NORMALISED_ADDED = ("The normalised input, not x itself, is added to the part's output. That is neither post-norm nor "
                    "pre-norm.",
                    "where does each norm stand: before the part, or after the sum?")
NORM_BEFORE_SUM = ("A part's output is normalised, and its input is added afterwards: the sum itself is not "
                   "normalised.", "the brackets: what exactly goes into each norm?")
OWN_MASK = ("The layer makes its own causal mask: in place of the one it gets, on top of it, or when there is none. "
            "Who may attend to whom is up to the caller's masks.", "every mask in forward: where does it come from?")
WEIGHTS_LEFT_IN = ("Attention returns a tuple, (output, weights), and the whole tuple is used as if it were the "
                   "output.", "what does the package's MultiHeadAttention return?")
SKIPPED = ("When a mask is None, its attention is skipped, with or without its norm. But None only means that nothing "
           "is hidden: every position may be read.",
           "every `if` that checks for a mask: which lines should run only when there is one?")
NO_NORMS = ("Nothing is normalised: no norm is used.", "where are the norms used?")
NO_RESIDUALS = ("No part's input is added to its output: whatever a part does not repeat is lost.",
                "what is left of x if a part returns 0?")
