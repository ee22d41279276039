"""AttentionHead, in lesson 2: a head with learned roles."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons import first_steps
from transformer_lessons.exercises.catalogue.attention_family import FIXED, UNSCALED, Attending, divided_by, family
from transformer_lessons.exercises.checker.exercise import Exercise, normal
from transformer_lessons.positions import sinusoidal_encoding

exercise = Exercise(
    name="AttentionHead",
    lesson=2,
    title="A head with learned roles",
    difficulty=2,
    importance=3,
    minutes=15,
    contract="""AttentionHead(d_model, d_head) is an nn.Module with three layers, linear_q, linear_k and
        linear_v, each from d_model to d_head features, without a bias. forward(x) takes x of shape (batch, length,
        d_model) and returns (output, weights): what attention without scaling returns for the queries, keys and
        values that the layers make from x.""",
    stub='''
        class AttentionHead(nn.Module):
            """Three learned maps give each vector its three roles; attention does the rest."""

            def __init__(self, d_model, d_head):
                super().__init__()
                raise NotImplementedError

            def forward(self, x):
                raise NotImplementedError''',
    build=("d_model", "d_head"),
    sizes=[
        {"batch": 1, "length": 2, "d_model": 4, "d_head": 3},
        {"batch": 2, "length": 4, "d_model": 5, "d_head": 3},
        {"batch": 2, "length": 3, "d_model": 4, "d_head": 4},
        {"batch": 3, "length": 3, "d_model": 3, "d_head": 3},
        {"batch": 4, "length": 5, "d_model": 3, "d_head": 6, "zeros": 1},  # a vector of zeros has scores of 0
    ],
    draw=lambda generator, batch, length, d_model, d_head, zeros=0: (
        F.pad(normal(generator, batch, length - zeros, d_model), (0, 0, 0, zeros)),
    ),
    reference=first_steps.AttentionHead,
    returns=("output", "weights"),
    shapes={"output": "(batch, query, d_head)", "weights": "(batch, query, key)"},
    hints=[
        (
            "the layers",
            "`__init__` calls `super().__init__()`, then makes three nn.Linear layers with the names "
            "that the exercise gives. Which argument of nn.Linear leaves the bias out?",
        ),
        (
            "the weights",
            "Call each layer once, with x: one makes the queries, one the keys and one the values. "
            "Which two of these three determine the weights?",
        ),
        (
            "the output",
            "The rest is `attention`, from the previous exercise. If in doubt, print the shape of each "
            "of its arguments.",
        ),
    ],
    solution=(first_steps.attention, first_steps.AttentionHead),
)


@exercise.right("step by step")
class Head(Attending, nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.linear_q = nn.Linear(d_model, d_head, bias=False)
        self.linear_k = nn.Linear(d_model, d_head, bias=False)
        self.linear_v = nn.Linear(d_model, d_head, bias=False)

    def forward(self, x):
        return self.attend(*self.mapped(x))

    def mapped(self, x):
        return self.linear_q(x), self.linear_k(x), self.linear_v(x)

    def scores(self, query, key, value):
        return query @ key.transpose(-2, -1)

    def weights(self, scaled):
        return scaled.softmax(dim=-1)

    def output(self, weights, value, query):
        return weights @ value


RIGHT_OR_TWICE = {  # with exactly one leading dimension
    "works with one leading dimension only",
    "works with two leading dimensions only",
    "works without leading dimensions only",
    "softmax over dimension 0",
    "softmax over dimension 1",
    "softmax over dimension 2",
    "softmax without a dimension",
}
BEFORE = {  # mistakes that the previous exercise, `attention`, has caught
    "the largest, with its place",
    "no keepdim",
    "the columns' largest subtracted",
    "distances for dot products",
    "a hyperbolic tangent for the softmax",
    "sigmoids divided by their sum",
    "signs lost before the division",
    "signs lost before the softmax",
    "unit length, not unit sum",
    "negative scores cut to 0 before the softmax",
    "scores divided by their norm",
    "standardised scores",
    "a number added to the sum",
    "the sums run on",
    "only the last term of the sum",
    "a key left out",
    "a query left out",
    "the batch summed up",
    "the keys of the first of the batch for all",
    "the best match for the output",
    "only the best match",
    "torch.dot of tables",
    "transpose without its dimensions",
    "torch.softmax without a dimension",
    "divided by the sum so far",
    "rounded scores",
    "the sum starts at 1",
    "zeros for a mask",
    "a score never computed",
    "both transposed",
    "one query for all",
    "summed over the batch",
    "squashed scores",
    "the exponential taken twice",
    "divided over rows and columns",
    "the scores as output",
    "only one row of the weights",
    "the features averaged away",
    "the last row everywhere",
    "a key left out of the sum",
    "only one term of the sum",
    "divided by the mean",
    "the output never filled",
    "scores divided by their largest or their mean",
    "a lower bound for the weights",
    "the largest weighted value, not the sum",
    "the values changed first",
    "summed over the queries",
    "weights times value, number by number",
    "something done to the average",
}
TOGETHER = {  # with another mistake
    "queries meet the values",
    "keys and values swapped",
    "keys meet keys",
    "queries meet queries",
    "queries and keys swapped",
    "a causal mask",
    "softmax over the queries",
    "softmax over everything",
    "softmax over the dimension before the queries",
    "no softmax",
    "the keys' average for the output",
    "the queries' average for the output",
    "weights transposed for the output",
    "the scores for the weights",
    "weights returned transposed",
    "the value added to the output",
}

exercise.adopt(
    family, hints={"scores": 2, "weights": 2, "batch": 2, "output": 3}, pairs=TOGETHER, without=RIGHT_OR_TWICE | BEFORE
)

for name, what, layer, where in (  # here the roles are made by layers, and a layer may serve two of them
    ("queries meet queries", "The scores are query · query", "linear_k", "they do"),
    ("keys meet keys", "The scores are key · key", "linear_q", "they do"),
    ("queries meet the values", "The scores are query · value", "linear_k", "they do"),
    ("the keys' average for the output", "The output is an average of the keys", "linear_v", "it does"),
    ("the queries' average for the output", "The output is an average of the queries", "linear_v", "it does"),
):
    exercise.mistakes[name].why = f"{what}: {where} not use the result of {layer}."
    exercise.mistakes[name].look = f"where does `forward` call {layer}, and what happens to its result?"
turned, alone = exercise.mistakes["the roles turned round"], exercise.mistakes["the queries in all three roles"]
turned.why = "Query, key and value have swapped roles."
alone.why = "The queries also serve as keys and values: what linear_k and linear_v make of x is never used."
alone.look = "where does `forward` call linear_k and linear_v, and what happens to their results?"


# The layers
def with_layers(**layers):
    """The right `__init__`, and then these layers instead."""

    def init(self, right, d_model, d_head):
        for name, bias in layers.items():
            setattr(self, name, nn.Linear(d_model, d_head, bias=bias))

    return {"__init__": init}


def no_super(self, d_model, d_head):
    self.linear_q = nn.Linear(d_model, d_head, bias=False)


mistake = exercise.section(hint=1)
mistake(
    "no super().__init__()",
    pairs=0,
    raises=True,
    why="The first layer is stored before nn.Module is set up: the `__init__` of nn.Module must run first.",
    look="the first line of `__init__`.",
    variants=[{"__init__": no_super}],
)
mistake(
    "a bias",
    pairs=0,
    why="At least one of the three layers has a bias, which it adds to every vector; the exercise has none.",
    look="the arguments of nn.Linear.",
    variants=[
        with_layers(linear_q=True, linear_k=True, linear_v=True),
        with_layers(linear_q=True),
        with_layers(linear_v=True),
    ],
)

# What the layers are called with
mistake = exercise.section(hint=2)
mistake(
    "the layers not used",
    why="x itself is used as query, key and value: the results of the three layers are not used.",
    look="where does `forward` call each of the three layers, and what happens to the results?",
    mapped=lambda x: (x, x, x),
)
mistake(
    "the value not mapped",
    hint=3,
    why="The output is an average of x itself: linear_v is not used.",
    look="what should be averaged, and which layer makes it?",
    mapped=lambda right, x: (*right[:2], x),
)
mistake(
    "query and key not mapped",
    why="The scores compare the vectors of x as they are: linear_q and linear_k are not used.",
    look="which vectors should be compared, and which layers make them?",
    mapped=lambda right, x: (x, x, right[2]),
)
mistake(
    "the key not mapped",
    pairs=0,
    why="The keys are x itself: linear_k is not used. That works only if d_head equals d_model.",
    look="what happens to x before it serves as a key?",
    mapped=lambda right, x: (right[0], x, right[2]),
)
mistake(
    "the query not mapped",
    pairs=0,
    why="The queries are x itself: linear_q is not used. That works only if d_head equals d_model.",
    look="what happens to x before it serves as a query?",
    mapped=lambda right, x: (x, *right[1:]),
)


def one_after_another(self, right):
    key = self.linear_k(right[0])
    return right[0], key, self.linear_v(key)


mistake(
    "the layers one after another",
    pairs=0,
    why="One layer is called with the result of another instead of with x, which works only if d_head equals d_model.",
    look="what is each of the three layers called with?",
    mapped=[
        one_after_another,
        lambda self, right: (right[0], self.linear_k(right[0]), self.linear_v(right[0])),
        lambda self, right: (*right[:2], self.linear_v(right[0])),
        lambda self, right: (*right[:2], self.linear_v(right[1])),
        lambda self, right: (right[0], self.linear_k(right[0]), right[2]),
        lambda self, right: (self.linear_q(right[1]), *right[1:]),
    ],
)
mistake(
    "the values mapped twice",
    hint=3,
    pairs=0,
    why="linear_v is applied twice, the second time perhaps to the average; that works only if d_head equals d_model.",
    look="how many times does `forward` call each layer?",
    output=lambda self, right: self.linear_v(right),
)


def of_the_first(roles):
    """These roles played by the first sequence, for all of them."""
    return lambda right: tuple(
        one[:1].expand_as(one) if role in roles else one for role, one in zip("qkv", right, strict=True)
    )


mistake(
    "the first sequence for the whole batch",
    pairs=0,
    why="The keys, values or queries of the first sequence are "
    "used for every sequence in the batch; each should use its own.",
    look="every `x[0]`, `key[0]`, `value[0]` and the like: which dimension does the index remove?",
    mapped=[of_the_first(roles) for roles in ("kv", "k", "v", "q")],
)


def wrong_way_round(wrong):
    def mapped(self, x):
        layers = {"q": self.linear_q, "k": self.linear_k, "v": self.linear_v}
        return tuple(x @ layer.weight if role in wrong else layer(x) for role, layer in layers.items())

    return mapped


mistake(
    "the weight matrices the wrong way round",
    pairs=0,
    why="x is multiplied by a weight matrix as it is, which "
    "works only if d_head equals d_model; nn.Linear multiplies by the transpose.",
    look="print `linear_q.weight.shape`.",
    mapped=[wrong_way_round(wrong) for wrong in ("qkv", "q", "k", "v")],
)


def bent(change, roles):
    """The activation after only these of the three layers."""
    return lambda right: tuple(change(one) if role in roles else one for role, one in zip("qkv", right, strict=True))


mistake(
    "an activation after the layers",
    pairs=5,
    why="The result of one or more layers goes through a ReLU, a GELU "
    "or a tanh before it is used; a head's maps are linear.",
    look="what happens to the result of each layer before it is used?",
    mapped=[
        bent(torch.relu, "qkv"),
        bent(F.gelu, "qkv"),
        bent(torch.tanh, "qkv"),
        bent(torch.relu, "v"),
        bent(torch.relu, "qk"),
        bent(F.gelu, "v"),
        bent(torch.tanh, "v"),
        *(
            bent(change, roles)
            for roles in ("q", "k", "qk", "qv", "kv")
            for change in (torch.relu, F.gelu, torch.tanh)
            if (change, roles) != (torch.relu, "qk")
        ),
    ],
)

# What happens to the average
mistake(
    "an activation or a norm after the average",
    hint=3,
    pairs=0,
    why="The average goes through a ReLU, a GELU, a tanh or a layer norm; the exercise asks for the average alone.",
    look="what happens to the average before the `return`?",
    output=[
        *(lambda right, change=change: change(right) for change in (torch.relu, F.gelu, torch.tanh)),
        lambda right, value: F.layer_norm(right, value.shape[-1:]),
    ],
)
mistake(
    "the input added to the output",
    hint=3,
    why="x is added to the output, which works only if d_head equals "
    "d_model. Such a skip connection comes in lesson 7; this exercise asks for the average alone.",
    look="what happens to the average before the `return`?",
    variants=[{"forward": lambda right, x: (right[0] + x, right[1])}],
)


# What happens to x first
def sinusoids(x):
    return sinusoidal_encoding(x.shape[1], x.shape[2] + x.shape[2] % 2)[:, : x.shape[2]]


mistake = exercise.section(hint=2, look="what happens to x before the first layer?")
mistake(
    "positions added to x",
    pairs=0,
    why="Something that depends on the position is added to x. Positions come in "
    "lesson 5; this exercise takes x as it is.",
    mapped=[lambda step, x: step(x + torch.arange(x.shape[1])[:, None]), lambda step, x: step(x + sinusoids(x))],
)
mistake(
    "the sequence reversed",
    pairs=0,
    why="The positions are reversed, and the results are returned in that order.",
    look="which operation reverses the positions?",
    forward=lambda step, x: step(x.flip(1)),
)
mistake(
    "x normalised first",
    why="x goes through a layer norm before the three layers; this exercise takes x as it is.",
    mapped=lambda step, x: step(F.layer_norm(x, x.shape[-1:])),
)

# A scale that nobody asked for
mistake = exercise.section(hint=2, look=UNSCALED)
for name, pairs, what, scaled in (
    (
        "scaled by √d_head",
        1,
        "√d_head, the scaling that comes in lesson 3",
        lambda scores, query: scores / math.sqrt(query.shape[-1]),
    ),
    ("scaled by d_head", 0, "d_head", lambda scores, query: scores / query.shape[-1]),
    (
        "scaled by the length",
        2,
        "the length of the sequence, or by its square root",
        [lambda scores, query: scores / math.sqrt(query.shape[-2]), lambda scores, query: scores / query.shape[-2]],
    ),
    (
        "scaled by the batch",
        0,
        "the number of sequences, or by its square root",
        [lambda scores, query: scores / math.sqrt(len(query)), lambda scores, query: scores / len(query)],
    ),
    ("scaled by a fixed number", 0, "a fixed number", divided_by(*FIXED[:6], 0.5, 0.1)),
):
    mistake(
        name,
        why=f"The scores are divided by {what}; this exercise leaves them as they are.",
        pairs=pairs,
        scaled=scaled,
    )
mistake(
    "scaled by √d_model",
    pairs=2,
    why="The scores are divided by d_model or by its square root; this exercise leaves them as they are.",
    scaled=[
        lambda self, scores: scores / math.sqrt(self.linear_q.in_features),
        lambda self, scores: scores / self.linear_q.in_features,
    ],
)
