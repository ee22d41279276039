"""MultiHeadAttention: several attention heads at once, each on its own slice of the projected features."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons import attention
from transformer_lessons.exercises.catalogue import merge_heads, split_heads
from transformer_lessons.exercises.checker.comparison import comparable, numbers
from transformer_lessons.exercises.checker.exercise import Exercise, normal


def draw_roles(generator, batch, query, key, num_heads, d_model):
    return tuple(normal(generator, batch, length, d_model) for length in (query, key, key))


def signs_of_the_scale(observed, expected, query, key, value):
    """Whether the weights are right except for one factor in front of all the scores."""
    if not comparable(observed, expected):
        return
    ours, theirs = (np.log(numbers(weights)) for _, weights in (observed, expected))
    ours, theirs = ours - ours.mean(-1, keepdims=True), theirs - theirs.mean(-1, keepdims=True)
    factor = (ours * theirs).sum() / (theirs * theirs).sum()
    if abs(factor - 1) > 1e-3 and np.abs(ours - factor * theirs).max() < 1e-3:
        yield "scaled by another number" if factor > 0 else "the softmax of the negative scores"


exercise = Exercise(
    name="MultiHeadAttention",
    lesson=4,
    title="Several questions at once",
    difficulty=3,
    importance=3,
    minutes=25,
    contract="""MultiHeadAttention(d_model, num_heads) is a module with four layers nn.Linear(d_model,
        d_model): linear_q, linear_k, linear_v and linear_out. forward(query, key, value), each of shape (batch, length,
        d_model), projects all three and splits the features of each into heads (as split_heads does). Every head
        attends separately, with scores divided by the square root of d_head. Then forward merges the heads (as
        merge_heads does) and applies linear_out to the result. It returns (output, weights): the output, of shape
        (batch, query, d_model), and the weights of every head, of shape (batch, heads, query, key).""",
    stub='''
        class MultiHeadAttention(nn.Module):
            """Several attention heads at once, each on its own slice of the projected features."""

            def __init__(self, d_model, num_heads):
                super().__init__()
                raise NotImplementedError

            def forward(self, query, key, value):
                """(output, weights of every head)"""
                raise NotImplementedError''',
    sizes=[  # no length is 1 and there is never just one head, for then much that is wrong elsewhere goes through
        {"batch": 1, "query": 2, "key": 3, "num_heads": 2, "d_model": 4},
        {"batch": 3, "query": 3, "key": 3, "num_heads": 3, "d_model": 9},
        {"batch": 2, "query": 5, "key": 5, "num_heads": 3, "d_model": 12},
        {"batch": 3, "query": 4, "key": 7, "num_heads": 2, "d_model": 10},
        {"batch": 5, "query": 6, "key": 4, "num_heads": 3, "d_model": 24},
    ],
    draw=draw_roles,
    build=("d_model", "num_heads"),
    signs=signs_of_the_scale,
    reference=lambda d_model, num_heads: attention.MultiHeadAttention(d_model, num_heads),
    returns=("output", "weights"),
    shapes={"output": "(batch, query, d_model)", "weights": "(batch, heads, query, key)"},
    hints=[
        (
            "the weights are wrong",
            "Four steps lead to the weights: apply linear_q to the query, apply linear_k to "
            "the key, split both with split_heads, and run the scaled attention of lesson 3. Print the shape after "
            "each step. Which size does the scale depend on?",
        ),
        (
            "the weights are right, but the output is wrong",
            "The output of the heads has the shape (batch, heads, "
            "query, d_head). How do you get back to (batch, query, d_model), and which layer have you not used yet?",
        ),
        (
            "you do not know where to start",
            "First project all the features at once: linear_q(query), linear_k(key), "
            "linear_v(value). Then split all three. scaled_dot_product_attention takes any leading dimensions, so "
            "batch and heads can both come first. Then merge the heads, and apply linear_out.",
        ),
    ],
    solution="""
        import math

        from torch import nn

        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads):
                super().__init__()
                self.num_heads = num_heads
                self.linear_q = nn.Linear(d_model, d_model)
                self.linear_k = nn.Linear(d_model, d_model)
                self.linear_v = nn.Linear(d_model, d_model)
                self.linear_out = nn.Linear(d_model, d_model)

            def split(self, x):
                batch, length, d_model = x.shape
                return x.reshape(batch, length, self.num_heads, d_model // self.num_heads).transpose(1, 2)

            def forward(self, query, key, value):
                query = self.split(self.linear_q(query))
                key = self.split(self.linear_k(key))
                value = self.split(self.linear_v(value))
                scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
                weights = scores.softmax(dim=-1)
                merged = (weights @ value).transpose(1, 2).flatten(2)
                return self.linear_out(merged), weights""",
)


class Linear(nn.Module):
    """nn.Linear, but empty at first and quicker to make: `check` fills in every weight by name."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs, dtype=torch.float64))
        self.bias = nn.Parameter(torch.empty(outputs, dtype=torch.float64))

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


@exercise.right("step by step")
class MultiHead(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.d_head = num_heads, d_model // num_heads
        self.linear_q, self.linear_k, self.linear_v, self.linear_out = (Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value):
        queries = self.split(self.queries(query, key, value))  # (batch, heads, query, d_head)
        keys = self.split(self.keys(query, key, value))  # (batch, heads, key, d_head)
        values = self.split(self.values(query, key, value))  # (batch, heads, key, d_head)
        scores = self.scores(queries, keys, values)  # (batch, heads, query, key)
        scaled = self.scaled(scores, queries, keys)
        weights = self.weights(scaled)
        heads = self.average(weights, queries, keys, values)  # (batch, heads, query, d_head)
        merged = self.merged(heads)  # (batch, query, d_model)
        return self.output(merged, query, key, value), self.handed_over(weights, scaled, scores)

    def queries(self, query, key, value):
        return self.linear_q(query)

    def keys(self, query, key, value):
        return self.linear_k(key)

    def values(self, query, key, value):
        return self.linear_v(value)

    def split(self, x):
        return attention.split_heads(x, self.num_heads)

    def scores(self, queries, keys, values):
        return queries @ keys.mT

    def scaled(self, scores, queries, keys):
        return scores / math.sqrt(self.d_head)

    def weights(self, scaled):
        return scaled.softmax(dim=-1)

    def average(self, weights, queries, keys, values):
        return weights @ values

    def merged(self, heads):
        return attention.merge_heads(heads)

    def output(self, merged, query, key, value):
        return self.linear_out(merged)

    def handed_over(self, weights, scaled, scores):
        return weights


# Where to look, in several rows
UNUSED = "is each of the layers that you made called, and is its result kept?"
INPUTS = "where is each of the three inputs of `forward` used?"
ORDER = "in which order does each call get the three inputs?"
PRODUCTS = "how many products are added up in one score of one head?"
SUM_TO_1 = "what makes the weights of one query sum to 1?"
BEFORE_OUT = "how many features must a position have before linear_out?"
AFTER_OUT = "what should happen between the merge and the `return`?"
MIXED = "what must happen before the heads can be mixed?"
WHERE = "the shape of the weights: where are the heads?"

# What is projected, and by which layer
mistake = exercise.section(hint=1)
mistake(
    "one projection for all three",
    why="Queries, keys and values all go through the same layer, when each should have a layer of its own.",
    look="the three calls, and what `__init__` assigns to each name: does each role have its own layer?",
    variants=[
        {
            "queries": lambda self, query, layer=layer: getattr(self, layer)(query),
            "keys": lambda self, key, layer=layer: getattr(self, layer)(key),
            "values": lambda self, value, layer=layer: getattr(self, layer)(value),
        }
        for layer in ("linear_q", "linear_k", "linear_v")
    ],
)
mistake(
    "the keys through the wrong projection",
    why="The keys come from the wrong layer: linear_k is not used where it belongs.",
    look="the line that projects the key: which layer does it call?",
    keys=[lambda self, key: self.linear_q(key), lambda self, key: self.linear_v(key)],
)
mistake(
    "the values through the wrong projection",
    hint=2,
    why="The values come from the wrong layer: linear_v is not used where it belongs.",
    look="the line that projects the value: which layer does it call?",
    values=[lambda self, value: self.linear_k(value), lambda self, value: self.linear_q(value)],
)
mistake(
    "the queries through the wrong projection",
    pairs=0,
    why="The queries come from the wrong layer: linear_q is not used where it belongs.",
    look="the line that projects the query: which layer does it call?",
    queries=[lambda self, query: self.linear_k(query), lambda self, query: self.linear_v(query)],
)
mistake(
    "linear_q and linear_k exchanged",
    pairs=0,
    why="The query goes through linear_k and the key through linear_q: the two layers are swapped.",
    look="the lines that project the query and the key: which layer does each call?",
    variants=[{"queries": lambda self, query: self.linear_k(query), "keys": lambda self, key: self.linear_q(key)}],
)
mistake(
    "linear_k and linear_v exchanged",
    pairs=0,
    why="The key goes through linear_v and the value through linear_k: the two layers are swapped.",
    look="the lines that project the key and the value: which layer does each call?",
    variants=[{"keys": lambda self, key: self.linear_v(key), "values": lambda self, value: self.linear_k(value)}],
)
mistake(
    "linear_q and linear_v exchanged",
    pairs=0,
    why="The query goes through linear_v and the value through linear_q: the two layers are swapped.",
    look="the lines that project the query and the value: which layer does each call?",
    variants=[
        {"queries": lambda self, query: self.linear_v(query), "values": lambda self, value: self.linear_q(value)}
    ],
)
mistake(
    "the queries not projected",
    why="The query is used as it is: linear_q is not applied to it.",
    look=UNUSED,
    queries=lambda query: query,
)
mistake(
    "the keys not projected",
    why="The key is used as it is: linear_k is not applied to it.",
    look=UNUSED,
    keys=lambda key: key,
)
mistake(
    "the values not projected",
    hint=2,
    why="The value is used as it is: linear_v is never applied, or only after the average.",
    look="what is averaged: value, or what linear_v makes of it?",
    values=lambda value: value,
    variants=[{"values": lambda value: value, "merged": lambda self, step, heads: self.linear_v(step(heads))}],
)
mistake(
    "projections made and never used",
    why="Query, key and value are split into heads as they are: linear_q, "
    "linear_k and linear_v are made but never used.",
    look=UNUSED,
    variants=[{"queries": lambda query: query, "keys": lambda key: key, "values": lambda value: value}],
)
mistake(
    "projected twice",
    pairs=0,
    why="Query, key and value each go through their layer twice.",
    look="how many times is each layer called on the way from an input to a head?",
    variants=[
        {
            "queries": lambda self, right: self.linear_q(right),
            "keys": lambda self, right: self.linear_k(right),
            "values": lambda self, right: self.linear_v(right),
        }
    ],
)
mistake(
    "a ReLU on the projections",
    pairs=0,
    why="One or more of the projected query, key and value go through a "
    "ReLU, so every negative number in them becomes 0.",
    look="what should happen between the layers and the heads?",
    variants=[
        dict.fromkeys(steps, lambda right: right.relu())
        for steps in (["queries"], ["keys"], ["values"], ["queries", "keys"], ["queries", "keys", "values"])
    ],
)

# Which input plays which role
mistake = exercise.section(hint=1)
mistake(
    "everything from the query",
    why="Keys and values are made from the query, so the key and the value passed in "
    "are never used: this is always self-attention.",
    look=INPUTS,
    variants=[
        {"keys": lambda self, query: self.linear_k(query), "values": lambda self, query: self.linear_v(query)},
        {
            "keys": lambda self, query: self.linear_k(self.linear_q(query)),
            "values": lambda self, query: self.linear_v(self.linear_k(self.linear_q(query))),
        },
        {
            "keys": lambda self, query: self.linear_k(self.linear_q(query)),
            "values": lambda self, query: self.linear_v(self.linear_q(query)),
        },
    ],
)
mistake(
    "everything from the key",
    pairs=0,
    why="Queries and values are made from the key, so the query and the value passed in are never used.",
    look=INPUTS,
    variants=[
        {"queries": lambda self, key: self.linear_q(key), "values": lambda self, key: self.linear_v(key)},
        {"queries": lambda self, key: self.linear_k(key), "values": lambda self, key: self.linear_k(key)},
    ],
)
mistake(
    "everything from the value",
    pairs=0,
    why="Queries and keys are made from the value, so the query and the key passed in are never used.",
    look=INPUTS,
    variants=[{"queries": lambda self, value: self.linear_q(value), "keys": lambda self, value: self.linear_k(value)}],
)
mistake(
    "the keys made from the query",
    pairs=0,
    why="The keys are made from the query, so the key passed in is never used.",
    look="what is linear_k given?",
    keys=[lambda self, query: self.linear_k(query), lambda self, query: self.linear_k(self.linear_q(query))],
)
mistake(
    "the keys made from the value",
    why="The keys are made from the value, so the key passed in is never used.",
    look="what is linear_k given?",
    keys=lambda self, value: self.linear_k(value),
)
mistake(
    "the values made from the key",
    hint=2,
    why="The values are made from the key, so the value passed in is never used.",
    look="what is linear_v given?",
    values=[lambda self, key: self.linear_v(key), lambda self, key: self.linear_v(self.linear_k(key))],
)
mistake(
    "the values made from the query",
    hint=2,
    pairs=0,
    why="The values are made from the query, so the value passed in is never used.",
    look="what is linear_v given?",
    values=lambda self, query: self.linear_v(query),
)
mistake(
    "the queries made from the key",
    pairs=0,
    why="The queries are made from the key, so the query passed in is never used.",
    look="what is linear_q given?",
    queries=lambda self, key: self.linear_q(key),
)
mistake(
    "the queries made from the value",
    pairs=0,
    why="The queries are made from the value, so the query passed in is never used.",
    look="what is linear_q given?",
    queries=lambda self, value: self.linear_q(value),
)
mistake(
    "query and key have changed roles",
    why="Queries and keys have swapped roles, so the weights have one row for each key, not for each query.",
    look="which of the two should give the scores their rows, and which their columns?",
    variants=[{"queries": lambda self, key: self.linear_q(key), "keys": lambda self, query: self.linear_k(query)}],
    scores=lambda queries, keys: keys @ queries.mT,
)
mistake(
    "softmax over the queries, and weights transposed",
    pairs=0,
    why="The softmax runs over the queries, so the "
    "weights that all of them give to one key sum to 1. Also, the weights have one row for each key, not for each "
    "query.",
    look="whose weights should a row hold, and what should they sum to?",
    variants=[
        {"scores": lambda queries, keys: keys @ queries.mT, "average": lambda weights, values: weights.mT @ values}
    ],
)
mistake(
    "key and value have changed roles",
    why="Keys and values have swapped roles: the queries are compared with the values, and the keys are averaged.",
    look="which of the two should the queries be compared with, and which should be averaged?",
    variants=[
        {"keys": lambda self, value: self.linear_k(value), "values": lambda self, key: self.linear_v(key)},
        {"scores": lambda queries, values: queries @ values.mT, "average": lambda weights, keys: weights @ keys},
    ],
)
mistake(
    "query and value have changed roles",
    pairs=0,
    why="Queries and values have swapped roles: the values are compared with the keys, and the queries are averaged.",
    look=ORDER,
    variants=[
        {"queries": lambda self, value: self.linear_q(value), "values": lambda self, query: self.linear_v(query)},
        {"scores": lambda keys, values: values @ keys.mT, "average": lambda weights, queries: weights @ queries},
    ],
)
mistake(
    "all three roles mixed up",
    pairs=0,
    why="Query, key and value are mixed up: each of the three plays the role of another.",
    look=ORDER,
    forward=[
        lambda step, query, key, value: step(value, query, key),
        lambda step, query, key, value: step(key, value, query),
    ],
)

# Splitting
mistake = exercise.section(hint=1)


def cut_by_one_length(self, step, query, key, value):
    self.length = query.shape[1]
    return step(query, key, value)


mistake(
    "one length for queries and keys",
    pairs=0,
    why="Queries and keys are treated as if they had the same length, "
    "as when one length is used to split or merge both. That fails as soon as there are more keys than queries, or "
    "fewer.",
    look="whose length does each `view` or `reshape` use?",
    variants=[
        {
            "forward": cut_by_one_length,
            "split": lambda self, x: x.reshape(len(x), self.length, self.num_heads, self.d_head).transpose(1, 2),
        }
    ],
)
mistake(
    "heads split by view alone",
    why="The projected numbers, of all three roles or of one, are only regrouped into "
    "heads in the order in which they are stored, so a head gets one stretch of neighbouring numbers instead of its "
    "slice of every position.",
    look="is there a transpose between cutting the features and using the heads?",
    split=[
        lambda x, right: x.reshape(right.shape),
        lambda self, x: x.reshape(self.num_heads, len(x), x.shape[1], self.d_head).transpose(0, 1),
    ],
    scores=[
        lambda queries, keys: attention.merge_heads(queries).reshape(queries.shape) @ keys.mT,
        lambda queries, keys: queries @ attention.merge_heads(keys).reshape(keys.shape).mT,
    ],
    average=lambda weights, values: weights @ attention.merge_heads(values).reshape(values.shape),
)
mistake(
    "split and merged by view alone",
    why="Splitting and merging only regroup the numbers in the order in which "
    "they are stored, so a head gets one stretch of neighbouring numbers instead of its slice of every position.",
    look="is there a transpose after you cut the features, and one before you put them together?",
    variants=[
        {"split": lambda x, right: x.reshape(right.shape), "merged": lambda heads, right: heads.reshape(right.shape)}
    ],
)
mistake(
    "transposed before the cut",
    *split_heads.TRANSPOSED_FIRST,
    pairs=0,
    split=lambda x, right: x.transpose(1, 2).reshape(right.shape),
)
mistake(
    "heads interleaved",
    *split_heads.INTERLEAVED,
    pairs=2,
    variants=[
        {"split": lambda self, x: x.unflatten(-1, (self.d_head, self.num_heads)).permute(0, 3, 1, 2), **more}
        for more in ({}, {"merged": lambda heads: heads.permute(0, 2, 3, 1).flatten(2)})
    ],
)
mistake(
    "num_heads taken for d_head",
    *split_heads.EXCHANGED,
    variants=[
        {"split": lambda self, x: x.unflatten(-1, (self.d_head, self.num_heads)).transpose(1, 2), **more}
        for more in ({}, {"scaled": lambda self, scores: scores / math.sqrt(self.num_heads)})
    ],
)
mistake(
    "the heads attend to each other",
    why="The heads have not been moved in front of the positions, so the "
    "products and the softmax run over the heads of one position, and no position attends to another.",
    look="the shape of the scores: which two dimensions come last?",
    variants=[
        {"split": lambda self, x: x.unflatten(-1, (self.num_heads, self.d_head)), **more}
        for more in (
            {"merged": lambda heads: heads.flatten(-2)},
            {"merged": lambda heads: heads.transpose(1, 2).reshape(len(heads), heads.shape[1], -1)},
            {},
        )
    ],
)
mistake(
    "a single head",
    pairs=2,
    why="The features are not split: a single head attends with all of them.",
    look=PRODUCTS,
    variants=[
        {"split": lambda x: x[:, None], **scale, **handed}
        for handed in (
            {},
            {"handed_over": lambda self, weights: weights.expand(-1, self.num_heads, -1, -1)},
            {"handed_over": lambda weights: weights[:, 0]},
        )
        for scale in ({}, {"scaled": lambda self, scores: scores / math.sqrt(self.num_heads * self.d_head)})
    ],
)
mistake(
    "every head reads the same slice",
    *split_heads.SAME_SLICE,
    split=[
        lambda self, x: torch.stack([x[..., : self.d_head]] * self.num_heads, dim=1),
        lambda self, x: torch.stack([x[..., -self.d_head :]] * self.num_heads, dim=1),
    ],
)
mistake(
    "one head's keys or values for all",
    pairs=0,
    why="All the heads share one head's keys, its values or both "
    "(multi-query attention shares both), so what linear_k or linear_v makes for the others is never used.",
    look="for each head, whose keys are its queries compared with, and whose values are averaged?",
    scores=[lambda queries, keys, one=one: queries @ keys[:, [one]].mT for one in (0, -1)],
    average=[lambda weights, values, one=one: weights @ values[:, [one]] for one in (0, -1)],
    variants=[
        {
            "scores": lambda queries, keys, one=one: queries @ keys[:, [one]].mT,
            "average": lambda weights, values, one=one: weights @ values[:, [one]],
        }
        for one in (0, -1)
    ],
)
mistake(
    "slices that overlap",
    *split_heads.OVERLAPPING,
    pairs=0,
    split=lambda self, x: torch.stack([x[..., head : head + self.d_head] for head in range(self.num_heads)], dim=1),
)
mistake(
    "slices num_heads wide",
    pairs=0,
    why="Each head's slice is num_heads features wide instead of d_head, which is right only when the two are equal.",
    look="where does each slice start and end, and what should these numbers be multiples of?",
    split=lambda self, x: torch.stack(x.split(self.num_heads, -1)[: self.num_heads], dim=1),
)
mistake(
    "batch and length mixed up",
    pairs=0,
    why="The first dimension is taken for the length and the second for the "
    "batch, so a position attends to the same position of the other sequences, never to the other positions of its "
    "own.",
    look="which dimension counts the positions? In this exercise the batch always comes first.",
    variants=[
        {"forward": lambda step, query, key, value: step(*(x.transpose(0, 1) for x in (query, key, value))), **more}
        for more in ({"output": lambda right: right.transpose(0, 1)}, {})
    ],
)

# Scores and scale
mistake = exercise.section(hint=1)
mistake(
    "no scaling",
    why="The weights are the softmax of the scores as they are, not divided by √d_head.",
    look="what happens to the variance of a dot product as d grows?",
    scaled=lambda scores: scores,
)
mistake(
    "scaled before the projection",
    pairs=0,
    why="The query, and perhaps the key, is divided before its "
    "projection, so the bias that the layer adds is not divided, and counts for too much in the scores.",
    look="does the scaling come before or after the projection, and what does the layer add?",
    variants=[
        {"queries": lambda self, query: self.linear_q(query / math.sqrt(self.d_head)), "scaled": lambda scores: scores},
        {
            "queries": lambda self, query: self.linear_q(query / self.d_head**0.25),
            "keys": lambda self, key: self.linear_k(key / self.d_head**0.25),
            "scaled": lambda scores: scores,
        },
    ],
)
mistake(
    "scaled by √d_model",
    why="The scores are divided by √d_model, but a head's dot product sums over d_head "
    "features only, so the softmax comes out too flat.",
    look=PRODUCTS,
    scaled=lambda self, scores: scores / math.sqrt(self.num_heads * self.d_head),
)
mistake(
    "scaled by d_head, not its root",
    why="The scores end up divided by d_head, not by its square root, so the softmax comes out too flat.",
    look="the variance of a score grows like d_head. How does its standard deviation "
    "grow? And do you divide only once?",
    scaled=lambda self, scores: scores / self.d_head,
)
mistake(
    "scaled by d_model, not √d_head",
    pairs=0,
    why="The scores are divided by d_model, so the softmax comes out far too flat.",
    look="how many products are added up in one score of one head, and what is the standard deviation of their sum?",
    scaled=lambda self, scores: scores / (self.num_heads * self.d_head),
)
mistake(
    "scaled by √num_heads",
    why="The scores are divided by the square root of the number of heads, not of the number of features in a head.",
    look=PRODUCTS,
    scaled=lambda self, scores: scores / math.sqrt(self.num_heads),
)
mistake(
    "scaled by a length",
    pairs=0,
    why="The scores are divided by the square root of the number of positions, not "
    "of the number of features in a head.",
    look=PRODUCTS,
    scaled=[
        lambda scores, keys: scores / math.sqrt(keys.shape[-2]),
        lambda scores, queries: scores / math.sqrt(queries.shape[-2]),
    ],
)
mistake(
    "multiplied by the root",
    why="The scores are multiplied by a square root, not divided by √d_head, so the softmax comes out too sharp.",
    look="should the scores get larger or smaller?",
    scaled=[
        lambda self, scores: scores * math.sqrt(self.d_head),
        lambda self, scores: scores * math.sqrt(self.num_heads * self.d_head),
    ],
)
mistake(
    "half or twice d_head for its root",
    pairs=0,
    why="The scores are divided by half of d_head, or by twice "
    "d_head, not by its square root. `d_head ** 1/2` without brackets, for instance, takes the power before the "
    "division.",
    look="what does `9 ** 1/2` give?",
    scaled=[lambda self, scores: scores / self.d_head**1 / 2, lambda self, scores: scores / (self.d_head / 2)],
)
mistake(
    "scaled by another number",
    pairs=0,
    why="The scores are divided by a number that is not √d_head.",
    look="print the number that you divide by. For d_model 8 and 2 heads it should be 2.",
    scaled=[
        lambda self, scores: scores / (math.sqrt(self.num_heads * self.d_head) / self.num_heads),
        lambda self, scores: scores / math.sqrt(self.num_heads * self.d_head * self.num_heads),
        lambda self, scores: scores / self.d_head**0.25,
        lambda self, scores: scores / int(math.sqrt(self.d_head)),
        lambda self, scores: scores / self.num_heads,
        lambda self, scores: scores / self.d_head**2,
        lambda scores: scores / 8,
        lambda self, scores: scores / math.log(self.d_head),
    ],
)
mistake(
    "scaling after the softmax",
    why="The division comes after the softmax, not before it, so the scores go into "
    "the softmax as they are, and the weights, or the heads' outputs, come out too small.",
    look="which should come first, the division or the softmax?",
    variants=[
        {"scaled": lambda scores: scores, **late}
        for late in (
            {"weights": lambda self, right: right / math.sqrt(self.d_head)},
            {"weights": lambda self, right: right / math.sqrt(self.num_heads * self.d_head)},
            {"average": lambda self, right: right / math.sqrt(self.d_head)},
        )
    ],
)
mistake(
    "query · value",
    why="The queries are compared with the values and the keys are never used; the scores must "
    "come from queries and keys.",
    look="what is a key for, and what is a value for?",
    scores=lambda queries, values: queries @ values.mT,
)
mistake(
    "heads and positions of the keys swapped again",
    pairs=0,
    why="For the product, the heads and the positions of "
    "the keys are swapped instead of the last two dimensions, so most sizes do not even fit.",
    look="the keys have four dimensions. Which two must be swapped, so that a query meets every key of its head?",
    scores=lambda queries, keys: queries @ keys.transpose(1, 2),
)
mistake(
    "the keys reshaped, not transposed",
    why="For the product, the keys are only regrouped into (d_head, key) in "
    "the order in which they are stored, so the columns mix features of several keys.",
    look="does `reshape` swap two dimensions?",
    scores=[
        lambda queries, keys: queries @ keys.reshape(keys.mT.shape),
        lambda queries, keys: queries @ attention.merge_heads(keys).reshape(keys.mT.shape),
    ],
)
mistake(
    "cosines for dot products",
    pairs=0,
    why="Each dot product is replaced by a cosine, as when queries and keys "
    "are scaled to length 1 first, so their lengths no longer matter.",
    look="what happens to the vectors before the product?",
    variants=[
        {
            "scores": lambda step, queries, keys, values: step(
                F.normalize(queries, dim=-1), F.normalize(keys, dim=-1), values
            ),
            **more,
        }
        for more in ({}, {"scaled": lambda scores: scores})
    ],
)
mistake(
    "compared with themselves",
    pairs=0,
    why="The queries are compared with queries, or the keys with keys; each "
    "score must come from one query and one key.",
    look="what are the two factors of the product?",
    scores=[lambda queries: queries @ queries.mT, lambda keys: keys @ keys.mT],
)

# The softmax
mistake = exercise.section(hint=1)
mistake(
    "softmax over the queries",
    why="The softmax runs over the queries, so the columns of the weights sum to 1, not the rows.",
    look="one query's weights must sum to 1. Which dimension holds them?",
    weights=lambda scaled: scaled.softmax(dim=-2),
)
mistake(
    "softmax over the heads",
    why="The softmax runs over the heads, so for each query and key the weights of all "
    "the heads sum to 1, not the weights of one query in one head.",
    look="which dimension does the softmax run over? With heads the scores have four dimensions, and dimension 1 is "
    "no longer what it was.",
    weights=lambda scaled: scaled.softmax(dim=1),
)
mistake(
    "softmax over the batch",
    why="The softmax runs over the batch, so the sequences compete with each other, and the rows do not sum to 1.",
    look="which dimension does the softmax run over, and which one holds the keys?",
    weights=lambda scaled: scaled.softmax(dim=0),
)
mistake(
    "softmax over more than the keys",
    why="The softmax runs over several dimensions at once, so the weights of "
    "many queries together sum to 1, not those of each query.",
    look="add up one row of the weights: what do you get?",
    weights=[
        lambda scaled: scaled.flatten(2).softmax(dim=-1).view_as(scaled),
        lambda scaled: scaled.flatten(1).softmax(dim=-1).view_as(scaled),
        lambda scaled: scaled.flatten().softmax(dim=0).view_as(scaled),
    ],
)
mistake(
    "no softmax",
    why="The scores themselves are used as weights: they can be negative, and nothing makes a row sum to 1.",
    look="what turns scores into weights?",
    weights=lambda scaled: scaled,
)
mistake(
    "softmax twice",
    why="The weights go through a second softmax, which makes them more equal.",
    look="how many times is a softmax taken on the way?",
    weights=lambda right: right.softmax(dim=-1),
)
mistake(
    "another function for the softmax",
    pairs=0,
    why="Each score goes through another function separately (a "
    "sigmoid, a tanh or a ReLU), so the keys of a query do not compete, and nothing makes a row sum to 1.",
    look=SUM_TO_1,
    weights=[lambda scaled: scaled.sigmoid(), lambda scaled: scaled.tanh(), lambda scaled: scaled.relu()],
)
mistake(
    "scores divided by their sum",
    pairs=0,
    why="The scores are divided by their sum, with no exponential, so "
    "weights can be negative, and a sum near 0 makes them huge.",
    look="which function makes every score positive and keeps their order?",
    weights=lambda scaled: scaled / scaled.sum(dim=-1, keepdim=True),
)
mistake(
    "all weight on the best key",
    pairs=0,
    why="The key with the largest score gets all the weight, as with an "
    "argmax. A softmax gives some weight to every key.",
    look="how much weight should a key get if its score is nearly the largest?",
    weights=lambda scaled: F.one_hot(scaled.argmax(dim=-1), scaled.shape[-1]).to(scaled.dtype),
)
mistake(
    "a softmax with base 2",
    pairs=0,
    why="The weights are powers of 2 (or of 10) divided by their sum, when they should be powers of e divided by "
    "theirs.",
    look="which function does the softmax apply to every score first?",
    weights=[
        lambda scaled: (scaled * math.log(2)).softmax(dim=-1),
        lambda scaled: (scaled * math.log(10)).softmax(dim=-1),
    ],
)
mistake(
    "the softmax of the negative scores",
    pairs=0,
    why="The scores enter the softmax with the opposite sign, so the key that matches least gets the most weight.",
    look="which key should get the most weight?",
    weights=lambda scaled: (-scaled).softmax(dim=-1),
)
mistake(
    "the logarithm of the weights",
    pairs=0,
    why="The weights are the logarithms of the right ones, so every number is negative, and the rows do not sum to 1.",
    look="what should the weights of one query sum to, and can they be negative?",
    weights=lambda scaled: scaled.log_softmax(dim=-1),
)
mistake(
    "exponentials, not divided by their sum",
    pairs=0,
    why="The exponentials are used as weights without being divided by their sum, so the rows do not sum to 1.",
    look=SUM_TO_1,
    weights=lambda scaled: scaled.exp(),
)
mistake(
    "a mask nobody asked for",
    why="A causal mask is built in, so a query gives no weight to the keys after it. "
    "The exercise has no mask: each query should attend to all the keys.",
    look="the upper triangle of your weights is 0. Should it be?",
    weights=lambda scaled: scaled.masked_fill(torch.ones_like(scaled).triu(1).bool(), -torch.inf).softmax(dim=-1),
)
mistake(
    "a mask in the output alone",
    hint=2,
    why="The output is computed with a causal mask, as with `is_causal=True` "
    "in PyTorch. The weights that are returned have no mask, and the exercise has none either.",
    look="which weights is the output computed with?",
    average=lambda queries, keys, values: F.scaled_dot_product_attention(queries, keys, values, is_causal=True),
)
mistake(
    "one table of weights for all the heads",
    pairs=0,
    why="The scores or the weights are averaged over the heads, "
    "and every head uses this average, so no head has weights of its own.",
    look="where on the way to the weights do the heads come together?",
    weights=[
        lambda scaled: scaled.softmax(dim=-1).mean(1, keepdim=True).expand_as(scaled),
        lambda scaled: scaled.mean(1, keepdim=True).softmax(dim=-1).expand_as(scaled),
    ],
)

# The average, and merging
mistake = exercise.section(hint=2)
mistake(
    "the keys averaged",
    why="The output is an average of the keys; the values are never used.",
    look="which should the queries be compared with, the keys or the values, and which should be averaged?",
    average=lambda weights, keys: weights @ keys,
)
mistake(
    "the queries averaged",
    pairs=0,
    why="The output is an average of the queries; the values are never used.",
    look="which of the three should be averaged?",
    average=lambda weights, queries: weights @ queries,
)
mistake(
    "the weights applied twice",
    pairs=0,
    why="The averages are averaged again with the same weights, which works only if there are as many queries as keys.",
    look="how many times do you multiply by the weights?",
    average=lambda right, weights: weights @ right,
)
mistake(
    "averaged with the weights transposed",
    pairs=0,
    why="The output uses the columns of the weights instead of the rows, and a column need not sum to 1.",
    look="a row of the weights and a column of the values: which dimension must they share?",
    average=lambda weights, values: weights.mT @ values,
)
mistake(
    "averaged without the weights",
    pairs=0,
    why="All the values of a head count equally, in an average or a sum, so the weights do not affect the output.",
    look="where are the weights used?",
    average=[
        lambda queries, values: values.mean(dim=-2, keepdim=True).expand_as(queries),
        lambda queries, values: values.sum(dim=-2, keepdim=True).expand_as(queries),
    ],
)
mistake(
    "the features averaged with the weights of all the heads",
    pairs=0,
    why="Every feature of the values is "
    "averaged with the weights of all the heads, added up or averaged; it should be averaged with the weights of its "
    "own head alone.",
    look="you multiply the values of one head by weights: which head's weights are they?",
    variants=[
        {"average": lambda weights, values: weights @ attention.merge_heads(values)[:, None], "merged": merged}
        for merged in (lambda heads: heads.sum(dim=1), lambda heads: heads.mean(dim=1))
    ],
)
mistake(
    "merged without the transpose",
    why="The heads are only regrouped into a new shape in the order in which "
    "their numbers are stored, so a position gets features of several positions, instead of its own from every head.",
    look="between the average and linear_out: what moves the heads behind the positions?",
    merged=lambda heads, right: heads.reshape(right.shape),
)
mistake("merged in interleaved order", *merge_heads.SHUFFLED, merged=lambda heads: heads.permute(0, 2, 3, 1).flatten(2))
mistake(
    "merged after the wrong transpose",
    *merge_heads.WRONG_TWO,
    merged=[
        lambda heads, right: heads.transpose(2, 3).reshape(right.shape),
        lambda heads, right: heads.transpose(1, 3).reshape(right.shape),
        lambda heads, right: heads.transpose(0, 1).reshape(right.shape),
    ],
)

mistake(
    "merged with the number of heads as the length",
    pairs=0,
    why="The result is given as many positions as there "
    "are heads. Once the query is split, its dimension 1 holds the heads, no longer the positions.",
    look="the shape that you merge to: where does its length come from, and what does that dimension hold by then?",
    merged=lambda heads: heads.transpose(1, 2).reshape(len(heads), heads.shape[1], -1),
)


def taken_apart(heads):
    return heads.flatten(0, 1).unflatten(0, (heads.shape[1], len(heads))).transpose(0, 1)


mistake(
    "batch and heads taken apart in the wrong order",
    hint=1,
    pairs=0,
    why="Batch and heads are taken apart with "
    "the batch first where the heads came first (or the other way round), so heads and sequences are mixed up.",
    look="what comes right after head 0 of sequence 0: another head, or another sequence?",
    split=lambda self, x, right: torch.stack(x.chunk(self.num_heads, -1)).reshape(right.shape),
    variants=[
        {"merged": lambda step, heads: step(taken_apart(heads)), "handed_over": lambda weights: taken_apart(weights)}
    ],
)
for name, what, joined in (("averaged", "averaged", torch.mean), ("summed", "added up", torch.sum)):
    mistake(
        f"the heads {name}",
        why=f"The outputs of the heads are {what}, so what each of them found on its own is "
        "lost; they should stand side by side.",
        look=BEFORE_OUT,
        variants=[
            {
                "__init__": lambda self, right, d_model: self.add_module("linear_out", Linear(self.d_head, d_model)),
                "merged": lambda heads, joined=joined: joined(heads, dim=1),
            }
        ],
        merged=lambda self, heads, joined=joined: joined(heads, dim=1).repeat(1, 1, self.num_heads),
    )
mistake(
    "the features of one head for linear_out",
    pairs=0,
    raises=True,
    why="The heads are merged to a width of "
    "d_head, that of a single head, but linear_out needs the features of all the heads side by side: d_model features.",
    look=BEFORE_OUT,
    merged=[
        lambda heads: heads.flatten(0, 1),
        lambda heads: heads.transpose(1, 2).flatten(1, 2),
        lambda heads: heads.transpose(1, 2).reshape(len(heads), heads.shape[2], heads.shape[3]),
    ],
)
mistake(
    "positions and features flattened together",
    pairs=0,
    raises=True,
    why="The positions are flattened together with the features, so each sequence becomes a single row.",
    look=BEFORE_OUT,
    merged=lambda heads: heads.transpose(1, 2).flatten(1),
)
mistake(
    "only one head reaches the output",
    pairs=0,
    why="The weights are those of every head, but only one head goes "
    "into linear_out, as when the others are overwritten or never filled in.",
    look="which heads does the input of linear_out hold?",
    merged=[
        lambda self, heads: heads[:, -1].repeat(1, 1, self.num_heads),
        lambda self, heads: heads[:, 0].repeat(1, 1, self.num_heads),
        lambda self, heads: F.pad(heads[:, 0], (0, (self.num_heads - 1) * self.d_head)),
        lambda self, heads: F.pad(heads[:, -1], (0, (self.num_heads - 1) * self.d_head)),
        lambda self, heads: F.pad(heads[:, -1], ((self.num_heads - 1) * self.d_head, 0)),
    ],
)
mistake(
    "the heads in reverse",
    pairs=0,
    why="The heads are side by side, but in reverse order, with the last one first.",
    look="which head's features does a position start with?",
    merged=lambda heads: attention.merge_heads(heads.flip(1)),
)
mistake(
    "view of what has been transposed",
    *merge_heads.NO_VIEW,
    pairs=0,
    raises=True,
    merged=lambda heads: heads.transpose(1, 2).view(len(heads), heads.shape[2], -1),
)

# The last projection
mistake = exercise.section(hint=2)
mistake(
    "no output projection",
    why="The merged heads are returned as they are, without linear_out, so the heads are never mixed.",
    look=UNUSED,
    output=lambda merged: merged,
)
mistake(
    "linear_out gets another tensor",
    why="linear_out is applied to something other than the merged heads, so what "
    "the heads found never reaches the output.",
    look="what do you pass to linear_out?",
    output=[
        lambda self, query: self.linear_out(query),
        lambda self, key: self.linear_out(key),
        lambda self, value: self.linear_out(value),
        lambda self, query: self.linear_out(self.linear_q(query)),
        lambda self, value: self.linear_out(self.linear_v(value)),
    ],
)
mistake(
    "the output through another layer",
    why="The merged heads go through one of the layers for queries, keys and values instead of linear_out.",
    look="which layer makes the output?",
    output=[
        lambda self, merged: self.linear_v(merged),
        lambda self, merged: self.linear_q(merged),
        lambda self, merged: self.linear_k(merged),
    ],
)
mistake(
    "linear_out too early",
    pairs=0,
    why="linear_out is applied to the values before the heads attend instead of "
    "to the merged heads, so what the heads find is never mixed.",
    look=MIXED,
    variants=[{"values": lambda self, value: self.linear_out(self.linear_v(value)), "output": lambda merged: merged}],
)
mistake(
    "linear_out on each head",
    pairs=0,
    why="Each head goes separately through linear_out, or its own part of it, "
    "and gets the bias each time; linear_out should be applied once, after the merge.",
    look=MIXED,
    variants=[
        {
            "__init__": lambda self, right: self.add_module("linear_out", Linear(self.d_head, self.d_head)),
            "output": lambda self, merged: self.linear_out(merged.unflatten(-1, (self.num_heads, -1))).flatten(-2),
        }
    ],
    output=lambda self, right: right + (self.num_heads - 1) * self.linear_out.bias,
)
mistake(
    "linear_out twice",
    why="The merged heads go through linear_out twice.",
    look="how many times is linear_out called?",
    output=lambda self, right: self.linear_out(right),
)
mistake(
    "a residual added",
    why="The query (or what linear_q makes of it) is added to the output, or to what goes "
    "into linear_out. That residual connection is part of the layer around attention.",
    look=AFTER_OUT,
    output=[
        lambda right, query: query + right,
        lambda self, right, query: self.linear_q(query) + right,
        lambda self, merged, query: self.linear_out(merged + query),
        lambda self, merged, query: self.linear_out(merged + self.linear_q(query)),
    ],
)
mistake(
    "the output normalised",
    pairs=0,
    why="The output goes through a layer norm, with or without a residual "
    "connection. That is part of the layer around attention.",
    look=AFTER_OUT,
    output=[
        lambda right, query: F.layer_norm(right, query.shape[-1:]),
        lambda right, query: F.layer_norm(right + query, query.shape[-1:]),
    ],
)
mistake(
    "the output transposed",
    pairs=0,
    why="Positions and features of the output are swapped.",
    look="what does each dimension of the output stand for?",
    output=lambda right: right.transpose(1, 2),
)
mistake(
    "the weights of a layer not transposed",
    pairs=0,
    why="The merged heads are multiplied by `linear_out.weight` as it is, but nn.Linear multiplies by its transpose.",
    look="the shape of nn.Linear(2, 3).weight: which size comes first?",
    output=lambda self, merged: merged @ self.linear_out.weight + self.linear_out.bias,
)
mistake(
    "a softmax at the end",
    why="The output goes through a softmax of its own, so its features are positive and sum to 1; only the scores need "
    "a softmax.",
    look=AFTER_OUT,
    output=lambda right: right.softmax(dim=-1),
)
mistake(
    "a ReLU at the end",
    pairs=0,
    why="The output goes through a ReLU or a GELU, so negative numbers in it become 0, or come closer to 0.",
    look=AFTER_OUT,
    output=[lambda right: right.relu(), lambda right: F.gelu(right)],
)
mistake(
    "a ReLU before linear_out",
    pairs=0,
    why="The merged heads go through a ReLU or a GELU on the way to "
    "linear_out, so negative numbers become 0, or come closer to 0.",
    look="what happens between the merge and linear_out?",
    output=[lambda self, merged: self.linear_out(merged.relu()), lambda self, merged: self.linear_out(F.gelu(merged))],
)

# The weights that are returned
mistake = exercise.section(hint=1)
mistake(
    "weights averaged over the heads",
    why="The weights are averaged over the heads before they are returned, as "
    "nn.MultiheadAttention does by default; the exercise asks for those of every head.",
    look=WHERE,
    handed_over=[
        lambda weights: weights.mean(dim=1),
        lambda weights: weights.mean(dim=1, keepdim=True),
        lambda weights: weights.mean(dim=1, keepdim=True).expand_as(weights),
    ],
)
mistake(
    "weights summed over the heads",
    pairs=0,
    why="The weights are added up over the heads before they are returned; the exercise asks for those of every head.",
    look=WHERE,
    handed_over=lambda weights: weights.sum(dim=1),
)
mistake(
    "the weights of one head only",
    why="Only the weights of a single head are returned; the exercise asks for those of every head.",
    look="are the weights of each head kept, overwritten or left out?",
    handed_over=[
        lambda weights: weights[:, -1],
        lambda weights: weights[:, 0],
        lambda weights: weights[:, -1:].expand_as(weights),
        lambda weights: weights[:, :1].expand_as(weights),
    ],
)
mistake(
    "scores handed over as weights",
    why="The scores from before the softmax are returned in place of the weights.",
    look="the `return` line: which of your tensors sums to 1 in each row?",
    handed_over=[lambda scaled: scaled, lambda scores: scores],
)
mistake(
    "the heads of the weights in another place",
    pairs=2,
    why="The weights are those of every head, but their dimensions are not (batch, heads, query, key).",
    look="how are the weights of the heads put together, and does anything move them afterwards?",
    handed_over=[
        lambda weights: weights.transpose(0, 1),
        lambda weights: weights.flatten(0, 1),
        lambda weights: weights.transpose(0, 1).flatten(0, 1),
        lambda weights: weights.transpose(1, 2),
        lambda weights: weights.permute(0, 2, 3, 1),
        lambda weights: torch.cat(weights.unbind(1), dim=-1),
        lambda weights: weights.flatten(1, 2),
    ],
)
mistake(
    "the weights transposed",
    pairs=0,
    why="The weights are returned with rows and columns swapped: each row should hold the weights of one query.",
    look="what happens to the weights after the average is computed?",
    handed_over=lambda weights: weights.mT,
)
mistake(
    "a list of weights",
    pairs=0,
    why="The weights of the heads are returned as a list of tensors; the exercise "
    "asks for one tensor, (batch, heads, query, key).",
    look="which function joins tensors of the same shape along a new dimension?",
    handed_over=lambda weights: list(weights.unbind(1)),
)
mistake(
    "no weights handed over",
    why="`None` is returned in place of the weights.",
    look="where does the second value that you return come from?",
    handed_over=lambda: None,
)

# How it is built
mistake = exercise.section(hint=3)


def fixed(heads):
    def init(self, right, d_model):
        self.num_heads, self.d_head = heads, d_model // heads

    return {"__init__": init}


mistake(
    "a fixed number of heads",
    pairs=0,
    why="The number of heads is always the same, whatever num_heads is.",
    look="where does your code use num_heads, and where a fixed number?",
    variants=[fixed(2), fixed(8), fixed(4)],
)


def without_bias(*layers):
    def init(self, right):
        for layer in layers:
            getattr(self, layer).bias = None

    return {"__init__": init}


mistake(
    "a bias is missing",
    pairs=0,
    why="At least one of the four layers has no bias, or does not add it; nn.Linear(d_model, d_model) has one.",
    look="does each nn.Linear keep its bias, and is the layer itself called?",
    variants=[
        without_bias("linear_q", "linear_k", "linear_v", "linear_out"),
        without_bias("linear_q", "linear_k", "linear_v"),
        *map(without_bias, ("linear_out", "linear_q", "linear_v")),
    ],
)
