"""Lesson 3, scaling: why divide by √d."""

import math

import torch
import torch.nn.functional as F

from transformer_lessons import attention
from transformer_lessons.exercises.attention_mistakes import (
    DIVISORS,
    FEATURES,
    SIZES,
    TIMES_FEATURES,
    TIMES_ROOT_OF_FEATURES,
    Attending,
    declare,
    declare_common,
    divisor_sentence,
    draw_roles,
)
from transformer_lessons.exercises.exercise import Exercise, Steps

scaled_dot_product_attention = Exercise(
    name="scaled_dot_product_attention", lesson=3, title="Attention with a scale", difficulty=2, importance=3,
    minutes=10,
    contract="""
        scaled_dot_product_attention(query, key, value), each (…, length, features) with any leading
        dimensions, returns (output, weights): weights is the softmax of query · key / √d over the keys, where
        d is the number of features of a query; output is the average of the values with these weights.
        """,
    stub='''
        def scaled_dot_product_attention(query, key, value):
            """(output, weights): the averages of the values, and the weights that made them."""
            raise NotImplementedError
        ''',
    sizes=SIZES, draw=draw_roles,
    reference=lambda query, key, value: attention.scaled_dot_product_attention(query, key, value),
    returns=("output", "weights"), shapes={"output": "(…, query, d_v)", "weights": "(…, query, key)"},
    symptoms=[lambda observed, expected, query, key, value: divisor_sentence(
        observed, query, key, math.sqrt(query.shape[-1]))],
    hints=[
        ("the weights",
         "One query spreads a weight of 1 over all the keys: over which dimension must the softmax run?"),
        ("the scale",
         "The scores are divided, before the softmax, by the square root of one size of the query. Which "
         "size does the variance of a dot product grow with?"),
        ("the output",
         "The output of a query is a sum over the keys: its weight for each key, times that key's value."),
    ],
    solution='''
        import math


        def scaled_dot_product_attention(query, key, value):
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
            weights = scores.softmax(dim=-1)
            return weights @ value, weights
        ''',
)


@scaled_dot_product_attention.right("step by step")
class Attention(Attending, Steps):
    def __call__(self, query, key, value):
        return self.attend(query, key, value)

    def scores(self, query, key, value):
        return query @ key.transpose(-2, -1)

    def scaled(self, scores, query, key, value):
        return scores / math.sqrt(query.shape[-1])

    def weights(self, scaled):
        return scaled.softmax(dim=-1)

    def output(self, weights, value, query):
        return weights @ value


@scaled_dot_product_attention.right("with einsum")
def with_einsum(query, key, value):
    weights = F.softmax(torch.einsum("...qd,...kd->...qk", query, key) * query.size(-1) ** -0.5, dim=-1)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights


@scaled_dot_product_attention.right("PyTorch's own, with a loop for the weights")
def with_pytorch(query, key, value):
    weights = torch.stack([torch.exp(row) / torch.exp(row).sum(-1, keepdim=True)
                           for row in (query / query.shape[-1] ** 0.5 @ key.mT).unbind(-2)], dim=-2)
    return [F.scaled_dot_product_attention(query, key, value), weights]


@scaled_dot_product_attention.right("each by the fourth root, the largest of all subtracted")
def each_by_the_fourth_root(query, key, value):
    root = query.shape[-1] ** 0.25
    scores = torch.matmul(query / root, (key / root).swapaxes(-1, -2))
    exponentials = (scores - scores.max()).exp()
    return exponentials @ value / exponentials.sum(-1, keepdim=True), F.normalize(exponentials, p=1, dim=-1)


@scaled_dot_product_attention.right("in one long batch")
def in_one_long_batch(query, key, value):
    queries, keys, values = (one.reshape(-1, *one.shape[-2:]) for one in (query, key, value))
    scores = torch.bmm(queries, keys.permute(0, 2, 1)).mul(query.shape[-1] ** -0.5)
    weights = torch.exp(scores - scores.logsumexp(dim=2, keepdim=True))
    output = torch.bmm(weights, values)
    return output.view(*query.shape[:-1], -1), weights.view(*query.shape[:-1], -1)


declare(scaled_dot_product_attention, Attention, "no scale",
        "The softmax gets the scores undivided: nothing of a division by √d is left in the weights.",
        "what happens to the variance of a dot product as the vectors get longer?",
        [type("NoScale", (), {"scaled": lambda self, scores, query, key, value: scores})], pairs=True)
declare(scaled_dot_product_attention, Attention, "scaled by d, not √d",
        "The scores are divided by d (or by √d twice), so the softmax comes out too flat.",
        "the variance of a score is d. What is its standard deviation?", FEATURES, pairs=True)
declare(scaled_dot_product_attention, Attention, "multiplied by √d",
        "The scores are multiplied by √d, or by d, where they should be divided, so the softmax comes out "
        "too sharp.",
        "should the scores get larger or smaller?", TIMES_ROOT_OF_FEATURES + TIMES_FEATURES, pairs=True)
PAIRED = ("scaled by the number of keys", "scaled by the features of a value",  # with another mistake
          "scaled by 2 d", "scaled by a fixed number")

for name, what, mixins in DIVISORS:
    declare(scaled_dot_product_attention, Attention, name,
            f"The scores are divided by {what}, not by the square root of the number of features.",
            "which size of the query does a dot product sum over?", mixins[:1],
            pairs=name in PAIRED)
    declare(scaled_dot_product_attention, Attention, name, None, None, mixins[1:])

declare_common(scaled_dot_product_attention, Attention, {"weights": 1, "output": 3})


@scaled_dot_product_attention.mistake(
    "floor division",
    why="`//` drops everything behind the point, so the scores become whole numbers: keys that match "
        "differently well become equal.",
    look="which of Python's two divisions keeps the decimals?", hint=2, pairs=False)
class FloorDivision(Attention):
    def scaled(self, scores, query, key, value):
        return scores // math.sqrt(query.shape[-1])


@scaled_dot_product_attention.mistake("floor division")
class FloorDivisionByFeatures(Attention):
    def scaled(self, scores, query, key, value):
        return scores // query.shape[-1]


@scaled_dot_product_attention.mistake("floor division")
class FloorDivisionByTwo(Attention):
    def scaled(self, scores, query, key, value):
        return scores / query.shape[-1] ** 1 // 2


@scaled_dot_product_attention.mistake("standardised scores")
class StandardisedWithoutScale(Attention):
    def scaled(self, scores, query, key, value):
        return F.layer_norm(scores, scores.shape[-1:])


@scaled_dot_product_attention.mistake(
    "the root of the scores",
    why="The square root is taken of the scores, not of d: a negative score has no root, and of the others "
        "the large ones shrink most.",
    look="what stands under the root in the contract?", hint=2, pairs=False)
class RootOfTheScores(Attention):
    def scaled(self, scores, query, key, value):
        return scores.sqrt()


@scaled_dot_product_attention.mistake("the root of the scores", pairs=False)
class RootOfTheDividedScores(Attention):
    def scaled(self, scores, query, key, value):
        return (scores / query.shape[-1]).sqrt()


@scaled_dot_product_attention.mistake("the root of the scores", pairs=False)
class RootOfTheScoresDivided(Attention):
    def scaled(self, scores, query, key, value):
        return scores.sqrt() / query.shape[-1]


@scaled_dot_product_attention.mistake("the root of the scores", pairs=False)
class RootOfTheAbsoluteScores(Attention):
    def scaled(self, scores, query, key, value):
        return scores.abs().sqrt()


@scaled_dot_product_attention.mistake("the root of the scores", pairs=False)
class RootOfTheAbsoluteDividedScores(Attention):
    def scaled(self, scores, query, key, value):
        return (scores.abs() / query.shape[-1]).sqrt()


@scaled_dot_product_attention.mistake(
    "the scale after the softmax",
    why="The weights are divided by √d after the softmax, so the rows sum to 1/√d, not to 1.",
    look="the order of the two operations.", hint=2)
class ScaleAfterSoftmax(Attention):
    def attend(self, query, key, value):
        weights = self.scaled(self.weights(self.scores(query, key, value)), query, key, value)
        return self.output(weights, value, query), weights


@scaled_dot_product_attention.mistake(
    "the output scaled, not the scores",
    why="It is the output, or the value, that is divided by the root of its size or of a query's; the "
        "softmax sees the scores as they are.",
    look="what is the scale for: which numbers become too large?", hint=2)
class OutputScaled(Attention):
    def scaled(self, scores, query, key, value):
        return scores

    def output(self, weights, value, query):
        return super().output(weights, value, query) / math.sqrt(query.shape[-1])


@scaled_dot_product_attention.mistake("the output scaled, not the scores", pairs=False)
class OutputScaledByItsOwnSize(OutputScaled):
    def output(self, weights, value, query):
        return weights @ value / math.sqrt(value.shape[-1])


@scaled_dot_product_attention.mistake(
    "the output scaled too",
    why="The scores are divided by √d, and then the output, or the value, is divided by √d once more.",
    look="how many divisions are there, and how many in the formula?", hint=3)
class OutputScaledToo(Attention):
    def output(self, weights, value, query):
        return super().output(weights, value, query) / math.sqrt(query.shape[-1])


@scaled_dot_product_attention.mistake(
    "scaled before and after the softmax",
    why="The scores are divided by √d, and then the weights are divided by √d once more, so the rows do not "
        "sum to 1.",
    look="how many divisions are there, and how many in the formula?", hint=1)
class ScaledBeforeAndAfter(Attention):
    def attend(self, query, key, value):
        scaled = self.scaled(self.scores(query, key, value), query, key, value)
        weights = self.scaled(self.weights(scaled), query, key, value)
        return self.output(weights, value, query), weights


@scaled_dot_product_attention.mistake(
    "torch.sqrt of a number",
    why="`torch.sqrt` takes tensors, and a size is a plain number.",
    look="which module has a square root for plain numbers?", hint=2, pairs=False, raises=True)
class SquareRootOfANumber(Attention):
    def scaled(self, scores, query, key, value):
        return scores / torch.sqrt(query.shape[-1])
