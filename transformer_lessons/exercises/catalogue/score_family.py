"""The mistakes that people make with scores of heads, which lesson 11's two exercises share.

Each score is the mean of the weights on one diagonal, on which the query at t meets the key at t - back, starting
at t = first. For the token before, back and first are 1; for what followed an earlier copy, they are period - 1
and period.
"""

import torch

from transformer_lessons.exercises.checker.exercise import Family, Steps

family = Family()


class Scoring(Steps):
    """A score in steps. The right answer of an exercise says what back and first are."""

    def score(self, weights, first, back):
        weights = self.asked(weights)
        queries = self.queries(weights.shape[-1], first)
        picked = self.picked(weights, queries, first, back)
        return self.averaged(picked, self.number(picked, weights.shape[-1], first))

    def asked(self, weights):
        return weights

    def queries(self, length, first):
        return torch.arange(first, length)

    def picked(self, weights, queries, first, back):
        return weights[:, :, queries, queries - back]  # (batch, heads, number)

    def number(self, picked, length, first):
        return picked.shape[-1]

    def averaged(self, picked, number):
        return picked.mean(dim=0).sum(dim=-1) / number


# Which key, for the rows of the two exercises
def missed_by(shift):
    """The key this far from the right one, with everything that code can do where there is no such key."""

    def places(queries, back):
        return queries - back + shift

    def skipped(weights, queries, back):
        queries = queries[places(queries, back) >= 0]
        return weights[:, :, queries, places(queries, back)]

    def or_the_first(weights, queries, back):
        found = skipped(weights, queries, back)
        return found if found.shape[-1] else weights[:, :, queries, places(queries, back).clamp(min=0)]

    return [
        {"picked": lambda weights, queries, back: weights[:, :, queries, places(queries, back) % weights.shape[-1]]},
        {"picked": skipped},
        {"picked": skipped, "number": at_least_one},
        {"picked": skipped, "number": all_of_them},
        {"picked": or_the_first},
        {"picked": lambda weights, queries, back: weights[:, :, queries, places(queries, back).clamp(min=0)]},
    ]


def at_least_one(right):
    return max(right, 1)


def all_of_them(length, first):
    return length - first


def ranges(change):
    """Other queries, with everything that code can do where none is left; divided by their number, or the right one."""
    return [
        {"queries": change},
        {"queries": lambda right: change(right) if len(change(right)) else right[-1:]},
        {"queries": change, "number": at_least_one},
        {"queries": change, "number": all_of_them},
        {"queries": lambda right: change(right) if len(change(right)) else right},
    ]


SHAPE = "the shape of the result: one score for each head."
COUNTED = "how many positions does the exercise count?"
BEGINNING = "which is the first query that should count, and which is the first in your sum?"

mistake = family.section(topic="key")
mistake(
    "each token's own weight",
    why="These are the weights that tokens give to themselves, on the main diagonal.",
    look="for the query at t, which key's weight do you read?",
    picked=[
        lambda weights, queries: weights[:, :, queries, queries],
        lambda weights: weights.diagonal(0, -2, -1),
        lambda weights: weights.diagonal(0, -2, -1)[..., 1:],
        lambda weights: weights.diagonal(0, -2, -1)[..., :-1],
    ],
)
mistake(
    "queries and keys swapped",
    pairs=2,
    why="Queries and keys are swapped: you read how much weight an earlier "
    "token gives to a later one, and under a causal mask that is 0.",
    look="rows are queries and columns are keys. On which side of the main diagonal do the earlier keys lie?",
    asked=lambda weights: weights.mT,
    picked=[
        lambda weights, back: weights.diagonal(back, -2, -1),
        lambda weights, back: weights.diagonal(back, -2, -1)[..., 1:],
        lambda weights, back: weights.diagonal(back + 1, -2, -1),
        lambda weights, back: weights.diagonal(back + 2, -2, -1),
    ],
)

mistake(
    "the largest of several keys",
    pairs=0,
    why="For each query, the largest of several weights is taken; only the weight on one key counts.",
    look="how many keys do you read for each query?",
    picked=[
        lambda weights, queries: weights[:, :, queries].amax(-1),
        lambda weights: weights.amax(-1),
        lambda weights, queries, back: torch.stack(
            [weights[:, :, queries, queries - key] for key in range(back + 1)]
        ).amax(0),
    ],
)
mistake(
    "compared with equal weights",
    pairs=0,
    why="The weight is compared with what it would be if all the keys, or "
    "all those up to t, got equal weights; the exercise asks for the weight itself.",
    look="a head with all its weight on the right keys should score 1. Does it?",
    picked=[
        lambda right, queries: right - 1 / (queries + 1),
        lambda right, queries: right * (queries + 1),
        lambda right, weights: right - 1 / weights.shape[-1],
        lambda right, weights: right * weights.shape[-1],
    ],
)

mistake = family.section(topic="queries")
mistake(
    "the first query left out",
    why="The weight of the first query that should count is missing from the sum.",
    look=BEGINNING,
    pairs=3,
    variants=ranges(lambda right: right[1:]),
)
mistake(
    "the first two queries left out",
    why="The count starts two queries too late.",
    pairs=0,
    look=BEGINNING,
    variants=ranges(lambda right: right[2:]),
)
mistake(
    "the last query left out",
    why="The last query is not counted.",
    look="which is the last query that should count, and which is the last in your sum?",
    pairs=2,
    variants=ranges(lambda right: right[:-1]),
)
mistake(
    "the first and the last query left out",
    why="The count starts one query too late and ends one query too early.",
    pairs=0,
    look="with which query does your sum start, and with which does it end?",
    variants=ranges(lambda right: right[1:-1]),
)
mistake(
    "the last query alone",
    why="Only the last query is counted.",
    look=COUNTED,
    pairs=0,
    queries=lambda right: right[-1:],
)
mistake(
    "the first query alone",
    why="Only the first query that should count is counted.",
    look=COUNTED,
    pairs=0,
    queries=lambda right: right[:1],
)
mistake(
    "divided by the length",
    why="The sum is divided by the length, although not every position counts.",
    look=COUNTED,
    number=lambda length: length,
)
mistake(
    "divided by one too few",
    why="The sum is divided by one less than the number of weights in it.",
    look=COUNTED,
    number=[lambda right: right - 1, lambda right: max(right - 1, 1)],
)

mistake = family.section(topic="mean", pairs=0)
mistake(
    "the mean of a masked table",
    why="The right weights are added up, but the sum is divided by the number of "
    "cells in a table, not by the number of these weights.",
    look="what is your sum divided by?",
    number=[lambda length: length**2, lambda right: right**2, lambda right, length: right * length],
)
mistake(
    "the mean of whole tables",
    pairs=2,
    why="The weights of the whole table, or of a part of it, are averaged, not only those on one diagonal.",
    look="how many keys do you read for each query?",
    picked=[
        lambda weights: weights.flatten(2),
        lambda weights, queries: weights[:, :, queries].flatten(2),
        lambda weights, first, back: weights[:, :, first:, first - back : weights.shape[-1] - back].flatten(2),
        lambda weights, back: weights[:, :, torch.ones(weights.shape[-2:]).tril(-back) == 1],
    ],
)
mistake(
    "rows or columns summed",
    pairs=1,
    why="Rows or columns of weights are added up, whole or in part; only a single weight from each row should count.",
    look="what do the weights of a query sum to?",
    picked=[
        lambda weights: weights.sum(-1),
        lambda weights: weights.sum(-2)[..., 1:],
        lambda weights: weights.sum(-2),
        lambda weights, first: weights[:, :, first:, :-first].sum(-1),
    ],
)
mistake(
    "the sum, not the mean",
    pairs=3,
    why="The weights are added up, but the sum is not divided by their number, "
    "or only by that of the sequences or that of the queries.",
    look="a head with all its weight on the right keys should score 1. Does it?",
    averaged=[
        lambda picked: picked.sum(dim=(0, 2)),
        lambda picked: picked.sum(2).mean(0),
        lambda picked, number: picked.sum(dim=(0, 2)) / number,
    ],
)
mistake(
    "one number for all heads",
    pairs=2,
    why="The heads are averaged too, so you can no longer see which of them stands out.",
    look=SHAPE,
    averaged=[lambda picked: picked.mean()],
)
mistake(
    "the same score for every head",
    why="Every head gets the mean over all heads, so you can no longer see which of them stands out.",
    look="over which dimensions does your mean run, and should the heads be among them?",
    averaged=[lambda right: right.mean().expand(len(right))],
)
mistake(
    "scores rounded",
    why="The scores are rounded; the exercise asks for the mean as it is.",
    look="every `round`, and every conversion to another type.",
    averaged=[lambda right, digits=digits: right.round(decimals=digits) for digits in (1, 2, 3, 4)],
)
mistake(
    "the mean over the heads",
    pairs=1,
    why="The mean is taken over the heads but not over the sequences, so there "
    "is one score for each sequence, not for each head.",
    look="which one of the dimensions (batch, heads, length, length) should be left?",
    averaged=[lambda picked: picked.mean(dim=(1, 2))],
)
mistake(
    "one number for each sequence",
    pairs=1,
    why="The mean over the batch is missing, so there is a score for each head of each sequence.",
    look=SHAPE,
    averaged=[lambda picked: picked.mean(-1), lambda picked: picked.mean(-1).T],
)
mistake(
    "one number for each position",
    pairs=1,
    why="There is one number for each position: the mean over the "
    "positions is missing, and perhaps the heads are averaged instead.",
    look=SHAPE,
    averaged=[lambda picked: picked.mean(0), lambda picked: picked.mean((0, 1))],
)
mistake(
    "sequences and heads mixed",
    why="Weights of several heads are mixed in one score, as when a reshape "
    "puts the heads first: the first dimension is the batch, and a reshape keeps the numbers in order.",
    look="in reshape(heads, …) of a tensor (batch, heads, …), which numbers come first?",
    averaged=[lambda picked: picked.reshape(picked.shape[1], -1).mean(-1)],
)
mistake(
    "a single sequence",
    pairs=1,
    why="Only one sequence of the batch is used.",
    look="where does your code take the mean over the batch?",
    averaged=[lambda picked: picked[0].mean(-1), lambda picked: picked[-1].mean(-1)],
)
mistake(
    "the largest, not the mean",
    pairs=1,
    why="A maximum is taken over positions, sequences or both; the exercise asks for the mean.",
    look="if a head gives the right key all its weight in one sequence, and never again, what score should it get?",
    averaged=[
        lambda picked: picked.amax((0, 2)),
        lambda picked: picked.amax(2).mean(0),
        lambda picked: picked.mean(2).amax(0),
        lambda picked: picked.mean(0).amax(-1),
    ],
)
mistake(
    "the median, not the mean",
    why="A median is taken; the exercise asks for the mean.",
    look="if a head gives the right key all its weight now and then, and otherwise none, what score should it get?",
    averaged=[
        lambda picked: picked.transpose(0, 1).flatten(1).median(1).values,
        lambda picked: picked.transpose(0, 1).flatten(1).quantile(0.5, 1),
        lambda picked: picked.median(2).values.mean(0),
    ],
)
mistake(
    "small weights left out",
    why="Only weights above a threshold are averaged. The exercise asks for the mean of all of them, however small.",
    look="every comparison: what happens to the weights below your threshold?",
    averaged=[
        lambda picked, bound=bound: (
            picked.where(picked > bound, 0).sum((0, 2)) / (picked > bound).sum((0, 2)).clamp(min=1)
        )
        for bound in (0.1, 0.01, 0.05, 0.5)
    ],
)
mistake(
    "how often, not how much",
    why="The score counts how often the right key gets the largest weight, or more than "
    "half of the total; the exercise asks how much weight it gets on average.",
    look="if the right key always gets a weight of 0.6, what should the head score?",
    picked=[
        lambda weights, queries, back: (weights[:, :, queries].argmax(-1) == queries - back).double(),
        lambda right: (right > 0.5).double(),
    ],
)
mistake(
    "a softmax once more",
    why="The weights go through another softmax, although they are weights already.",
    look="what do the rows of `weights` sum to?",
    asked=lambda weights: weights.softmax(-1),
)
mistake(
    "the logarithm of the weights",
    why="The logarithms of the weights are averaged, or the mean is a geometric one.",
    look="any `log`, `exp` or `prod`.",
    averaged=[lambda picked: picked.log().mean(dim=(0, 2)), lambda picked: picked.log().mean(dim=(0, 2)).exp()],
)

mistake(
    "the weights themselves",
    pairs=1,
    why="The weights on single keys are returned, not one mean for each head.",
    look=SHAPE,
    averaged=[
        lambda picked: picked,
        lambda picked: picked.transpose(0, 1),
        lambda picked: picked.transpose(0, 1).flatten(1),
    ],
)
mistake(
    "squares averaged",
    why="The weights are squared before the mean is taken.",
    look="if the weights on the right keys are 0.2 and 0.6, what should the head score?",
    averaged=[lambda picked: picked.square().mean((0, 2)), lambda picked: picked.square().mean((0, 2)).sqrt()],
)
mistake(
    "how the weights vary",
    why="The standard deviation or the variance of the weights is returned; the exercise asks for their mean.",
    look="if all the weights on the right keys are equal, what should the head score?",
    averaged=[
        lambda picked: picked.std((0, 2)),
        lambda picked: picked.std((0, 2), correction=0),
        lambda picked: picked.var((0, 2)),
        lambda picked: picked.var((0, 2), correction=0),
    ],
)
mistake(
    "the best head alone",
    why="Only the head with the highest score is returned, or only its score; the exercise "
    "asks for the scores of all the heads.",
    look=SHAPE,
    averaged=[
        lambda right: right.argmax(),
        lambda right: right.max(),
        lambda right: right.argmax()[None],
        lambda right: right.max()[None],
    ],
)
mistake(
    "scores that depend on each other",
    why="A head's score depends on those of the other heads: the scores are "
    "divided by their sum or by the largest, go through a softmax, or have their mean subtracted.",
    look="what do you do with the scores, once you have them?",
    averaged=[
        lambda right: right / right.sum(),
        lambda right: right / right.max(),
        lambda right: right.softmax(0),
        lambda right: right - right.mean(),
    ],
)


def likeness(measured):
    """How little a table differs from one with 1 at the right places and 0 elsewhere, as measured."""

    def answer(weights, period=None):
        first, back = (1, 1) if period is None else (period, period - 1)
        pattern = torch.zeros_like(weights[0, 0])
        queries = torch.arange(first, len(pattern))
        pattern[queries, queries - back] = 1
        return 1 - measured(weights - pattern, first)

    return answer


mistake(
    "likeness to a pattern",
    why="The score measures how little the table differs from a pattern of ones and "
    "zeros; the exercise asks only for the weight in certain places.",
    look="what score should a head get if it puts no weight in the right places, and what does yours give?",
    variants=[
        likeness(lambda off, first: off.abs().mean((0, 2, 3))),
        likeness(lambda off, first: off.abs().mean((0, 2, 3)) * off.shape[-1]),
        likeness(lambda off, first: off[:, :, first:].abs().mean((0, 2, 3))),
        likeness(lambda off, first: off[:, :, first:].abs().sum(-1).mean((0, 2))),
        likeness(lambda off, first: off.square().mean((0, 2, 3))),
    ],
)

mistake = family.section(topic="tool", pairs=0)


def along(one, other, over, cut=0):
    """The mean of the diagonal of two dimensions; without a period, that of the tokens before."""
    return lambda weights, period=2: weights.diagonal(1 - period, one, other)[..., cut:].mean(over)


mistake(
    "the diagonal of batch and heads",
    why="The diagonal runs along dimensions 0 and 1, the batch and the heads, "
    "as it does in torch.diagonal without dim1 and dim2.",
    look="which two of the four dimensions make a table of weights?",
    variants=[along(0, 1, over, cut) for cut in (0, 1) for over in ((0, 1), (0, 2), -1, (0, 1, 2), (1, 2), 0, 1)],
)
mistake(
    "the diagonal of heads and positions",
    why="The diagonal is taken along the batch or the heads and one other "
    "dimension, when it should run along the queries and the keys.",
    look="which two of the four dimensions make a table of weights?",
    variants=[
        *(
            along(*dims, over, cut)
            for cut in (0, 1)
            for dims, over in (((1, 2), (0, 2)), ((0, 2), (1, 2)), ((1, 3), (0, 2)), ((1, 2), (0, 1)))
        ),
        lambda weights, period=2: weights[0].diagonal(1 - period).mean(-1),
        lambda weights, period=2: weights[0].diagonal(1 - period)[..., 1:].mean(-1),
    ],
)
