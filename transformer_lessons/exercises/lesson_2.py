"""Lesson 2, queries, keys and values: three roles for one vector."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons import first_steps
from transformer_lessons.exercises.attention_mistakes import (
    DIVISORS,
    FEATURES,
    FIXED,
    ROOT_OF_FEATURES,
    SIZES,
    TIMES_FEATURES,
    TIMES_ROOT_OF_FEATURES,
    Attending,
    declare,
    declare_common,
    divided,
    divisor_sentence,
    draw_roles,
)
from transformer_lessons.exercises.exercise import Exercise, Steps, normal
from transformer_lessons.positions import sinusoidal_encoding

# attention


attention = Exercise(
    name="attention", lesson=2, title="Three roles", difficulty=1, importance=3, minutes=10,
    contract="""
        attention(query, key, value), tensors (…, length, features) with any leading dimensions, returns
        (output, weights): weights is the softmax of query · key over the keys, with no scale; output is the
        average of the values with these weights.
        """,
    stub='''
        def attention(query, key, value):
            """(output, weights): the averages of the values, and the weights that made them."""
            raise NotImplementedError
        ''',
    sizes=SIZES, draw=draw_roles,
    reference=lambda query, key, value: first_steps.attention(query, key, value),
    returns=("output", "weights"), shapes={"output": "(…, query, d_v)", "weights": "(…, query, key)"},
    symptoms=[lambda observed, expected, query, key, value: divisor_sentence(observed, query, key, 1.0)],
    hints=[
        ("the weights",
         "One query meets every key, so a row of the weights has a number for each key, and sums to 1. Which "
         "dimension does the softmax run over?"),
        ("leading dimensions",
         "Counted from the end, the last two dimensions are -2 and -1, however many come before them."),
        ("the output",
         "The output of a query is a sum over the keys: its weight for each key, times that key's value."),
    ],
    solution=first_steps.attention,
)


@attention.right("step by step")
class Attention(Attending, Steps):
    def __call__(self, query, key, value):
        return self.attend(query, key, value)

    def scores(self, query, key, value):
        return query @ key.transpose(-2, -1)

    def weights(self, scaled):
        return scaled.softmax(dim=-1)

    def output(self, weights, value, query):
        return weights @ value


@attention.right("with einsum")
def with_einsum(query, key, value):
    exponentials = torch.exp(torch.einsum("...qd,...kd->...qk", query, key))
    weights = exponentials / torch.einsum("...qk->...q", exponentials).unsqueeze(-1)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights


@attention.right("with loops")
def with_loops(query, key, value):
    if query.dim() > 2:
        each = [with_loops(*one) for one in zip(query, key, value, strict=True)]
        return tuple(torch.stack(results) for results in zip(*each, strict=True))
    weights = torch.zeros(len(query), len(key), dtype=query.dtype)
    output = torch.zeros(len(query), value.shape[1], dtype=query.dtype)
    for i, asks in enumerate(query):
        for j, answers in enumerate(key):
            weights[i, j] = torch.exp((asks * answers).sum())
        weights[i] /= weights[i].sum()
        for weight, one in zip(weights[i], value, strict=True):
            output[i] += weight * one
    return output, weights


@attention.right("PyTorch's own")
def with_pytorch(query, key, value):
    weights = F.scaled_dot_product_attention(query, key, torch.eye(key.shape[-2], dtype=key.dtype).expand(
        *key.shape[:-1], key.shape[-2]), scale=1.0)
    return [F.scaled_dot_product_attention(query, key, value, scale=1.0), weights]


@attention.right("in NumPy")
def in_numpy(query, key, value):
    scores = np.matmul(query.numpy(), np.swapaxes(key.numpy(), -1, -2))
    weights = np.exp(scores - scores.max())
    weights /= weights.sum(-1, keepdims=True)
    return torch.from_numpy(weights @ value.numpy()), torch.from_numpy(weights)


declare_common(attention, Attention, {"scores": 1, "weights": 1, "batch": 2, "output": 3})

UNSCALED = "what stands between the dot products and the softmax in the contract?"

def wrongly_divided(exercise, right, name, what, mixins, pairs=False):
    why = f"The scores are divided by {what}; this contract leaves them as they are."
    declare(exercise, right, name, why, UNSCALED, mixins, pairs=pairs)


wrongly_divided(attention, Attention, "scaled by √d", "√d, the scale that lesson 3 brings", ROOT_OF_FEATURES,
                pairs=True)
wrongly_divided(attention, Attention, "scaled by d", "d, the number of features", FEATURES)
for name, what, mixins in DIVISORS[:5]:
    pairs = "of keys" in name or "of a value" in name
    wrongly_divided(attention, Attention, name, what, mixins[:1], pairs=pairs)
    wrongly_divided(attention, Attention, name, what, mixins[1:])
wrongly_divided(attention, Attention, "scaled by a fixed number", "a fixed number",
                divided(*(lambda query, key, value, fixed=fixed: fixed for fixed in (*FIXED[:6], 0.5, 0.1))))
declare(attention, Attention, "multiplied by √d",
        "The scores are multiplied by √d or by d; this contract leaves them as they are.",
        UNSCALED, TIMES_ROOT_OF_FEATURES + TIMES_FEATURES)


@attention.mistake(
    "the scale of PyTorch in the output alone",
    why="The output comes from scores divided by √d, as PyTorch's own attention makes it unless it is told "
        "otherwise; the weights that are returned are made without it.",
    look="with which weights is the output made?", hint=3)
class ScaledOutput(Attention):
    def attend(self, query, key, value):
        output = F.scaled_dot_product_attention(query, key, value)
        return output, super().attend(query, key, value)[1]


@attention.mistake(
    "the output divided by √d",
    why="The output is divided by the square root of the number of features; the contract asks for the "
        "average alone.",
    look="what stands after the average?", hint=3)
class OutputDivided(Attention):
    def attend(self, query, key, value):
        output, weights = super().attend(query, key, value)
        return output / math.sqrt(query.shape[-1]), weights


@attention.mistake(
    "the weights divided by √d",
    why="The weights are divided by the square root of the number of features, so the rows no longer sum to "
        "1.",
    look="sum one row of the weights.", hint=1)
class WeightsDivided(Attention):
    def attend(self, query, key, value):
        weights = self.weights(self.scores(query, key, value)) / math.sqrt(query.shape[-1])
        return self.output(weights, value, query), weights


# AttentionHead

attention_head = Exercise(
    name="AttentionHead", lesson=2, title="A head with learned roles", difficulty=2, importance=3, minutes=15,
    contract="""
        AttentionHead(d_model, d_head) is an nn.Module with the layers linear_q, linear_k, linear_v, each
        from d_model to d_head features, without bias. forward(x), x of shape (batch, length, d_model),
        returns (output, weights): the attention, with no scale, of the queries, keys and values that the
        layers make of x.
        """,
    stub='''
        class AttentionHead(nn.Module):
            """Three learned maps give each vector its three roles; then attention."""

            def __init__(self, d_model, d_head):
                super().__init__()
                raise NotImplementedError

            def forward(self, x):
                raise NotImplementedError
        ''',
    build=("d_model", "d_head"),
    sizes=[
        {"batch": 1, "length": 2, "d_model": 4, "d_head": 3},
        {"batch": 2, "length": 4, "d_model": 5, "d_head": 3},
        {"batch": 2, "length": 3, "d_model": 4, "d_head": 4},
        {"batch": 3, "length": 3, "d_model": 3, "d_head": 3},
        {"batch": 4, "length": 5, "d_model": 3, "d_head": 6},
    ],
    draw=lambda generator, batch, length, d_model, d_head: (normal(generator, batch, length, d_model),),
    reference=first_steps.AttentionHead,
    returns=("output", "weights"),
    shapes={"output": "(batch, query, d_head)", "weights": "(batch, query, key)"},
    hints=[
        ("the layers",
         "`__init__` calls `super().__init__()`, then makes three nn.Linear layers with the names of the "
         "contract. Which argument of nn.Linear leaves the bias out?"),
        ("the weights",
         "Each layer is called once, with x: one makes the queries, one the keys, one the values. Which two "
         "of the three decide the weights?"),
        ("the output",
         "The rest is `attention`, as in the exercise before: print the shape of each of its arguments."),
    ],
    solution=(first_steps.attention, first_steps.AttentionHead),
)


@attention_head.right("step by step")
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


@attention_head.right("PyTorch's own")
class HeadWithPyTorch(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        for name in ("linear_v", "linear_k", "linear_q"):
            self.add_module(name, nn.Linear(d_model, d_head, False))

    def forward(self, x):
        query, key = self.linear_q(x), self.linear_k(x)
        output = F.scaled_dot_product_attention(query, key, self.linear_v(x), scale=1.0)
        return output, torch.baddbmm(torch.zeros(()).to(x), query, key.mT).softmax(-1)


@attention_head.right("the values mapped last")
class ValuesMappedLast(Head):
    def forward(self, x):
        between = self.linear_q.weight.T @ self.linear_k.weight
        weights = F.softmax(torch.einsum("bif,fg,bjg->bij", x, between, x), 2)
        return self.linear_v(weights @ x), weights


@attention_head.right("with loops")
class HeadWithLoops(Head):
    def forward(self, x):
        outputs, tables = [], []
        for sequence in x:
            query, key, value = (sequence @ layer.weight.T for layer in self.children())
            rows = [torch.stack([(asks * answers).sum().exp() for answers in key]) for asks in query]
            table = torch.stack([row / row.sum() for row in rows])
            outputs.append(sum(table[:, [j]] * value[j] for j in range(len(value))))
            tables.append(table)
        return torch.stack(outputs), torch.stack(tables)


RIGHT_OR_TWICE = (  # with exactly one leading dimension
    "works with one leading dimension only", "works with two leading dimensions only",
    "works without leading dimensions only", "softmax over dimension 0", "softmax over dimension 1",
    "softmax over dimension 2", "softmax without a dimension")
BEFORE = (  # slips of the exercise before this one, which `attention` has caught
    "the largest, with its place", "no keepdim", "the columns' largest subtracted",
    "distances for dot products", "a hyperbolic tangent for the softmax", "sigmoids divided by their sum",
    "signs lost before the division", "signs lost before the softmax", "unit length, not unit sum",
    "negative scores cut to 0 before the softmax", "scores divided by their norm", "standardised scores",
    "a small number added below the line", "the sums run on",
    "only the last term of the sum", "a key left out", "a query left out", "the batch summed up",
    "the keys of the first of the batch for all", "the best match for the output", "only the best match",
    "torch.dot of tables", "transpose without its dimensions", "torch.softmax without a dimension",
    "divided by the sum so far", "rounded scores", "the sum starts at 1", "zeros for a mask",
    "a score never computed", "both transposed", "one query for all", "summed over the batch",
    "squashed scores", "the exponential taken twice", "divided over rows and columns", "the scores as output",
    "only one row of the weights", "the features averaged away", "the last row everywhere",
    "a key left out of the sum", "only one term of the sum", "divided by the mean",
    "the output never filled", "scores divided by one of themselves", "a lower bound for the weights",
    "the largest weighted value, not the sum", "the values changed first",
    "summed over the queries", "weights times value, number by number", "something done to the average")
TOGETHER = (  # with another mistake
    "queries meet the values", "keys and values swapped", "keys meet keys", "queries meet queries",
    "queries and keys swapped", "a causal mask", "softmax over the queries", "softmax over everything",
    "softmax over the dimension before the queries", "no softmax", "the keys' average for the output",
    "the queries' average for the output", "weights transposed for the output",
    "the scores for the weights", "weights returned transposed", "the value added to the output")
declare_common(attention_head, Head, {"scores": 2, "weights": 2, "batch": 2, "output": 3},
               without=RIGHT_OR_TWICE + BEFORE, together=TOGETHER)


@attention_head.mistake(
    "no super().__init__()",
    why="nn.Module has not been set up when the first layer is stored: its own `__init__` must run before.",
    look="the first line of `__init__`.", hint=1, raises=True, pairs=False)
class NoSuper(Head):
    def __init__(self, d_model, d_head):
        self.linear_q = nn.Linear(d_model, d_head, bias=False)


@attention_head.mistake(
    "a bias",
    why="At least one of the three layers has a bias, and adds it to every vector; the contract has none.",
    look="the arguments of nn.Linear.", hint=1, pairs=False)
class Bias(Head):
    def __init__(self, d_model, d_head):
        super().__init__(d_model, d_head)
        self.linear_q, self.linear_k, self.linear_v = (nn.Linear(d_model, d_head) for _ in range(3))


@attention_head.mistake("a bias")
class BiasOfTheQuery(Head):
    def __init__(self, d_model, d_head):
        super().__init__(d_model, d_head)
        self.linear_q = nn.Linear(d_model, d_head)


@attention_head.mistake("a bias")
class BiasOfTheValue(Head):
    def __init__(self, d_model, d_head):
        super().__init__(d_model, d_head)
        self.linear_v = nn.Linear(d_model, d_head)


@attention_head.mistake(
    "the layers not used",
    why="x itself is query, key and value: the three layers are built and never called.",
    look="where in `forward` does each of the three layers stand?", hint=2)
class LayersNotUsed(Head):
    def mapped(self, x):
        return x, x, x


@attention_head.mistake(
    "the value not mapped",
    why="The weights average x itself: linear_v is built and never called.",
    look="the third argument of your attention.", hint=3)
class ValueNotMapped(Head):
    def mapped(self, x):
        query, key, _ = super().mapped(x)
        return query, key, x


@attention_head.mistake(
    "query and key not mapped",
    why="The scores compare the vectors of x as they are: linear_q and linear_k are built and never called.",
    look="the first two arguments of your attention.", hint=2)
class QueryAndKeyNotMapped(Head):
    def mapped(self, x):
        return x, x, self.linear_v(x)


@attention_head.mistake(
    "the key not mapped",
    why="The keys are x itself, which works only where d_head equals d_model: linear_k is built and never "
        "called.",
    look="the second argument of your attention.", hint=2, pairs=False)
class KeyNotMapped(Head):
    def mapped(self, x):
        return self.linear_q(x), x, self.linear_v(x)


@attention_head.mistake(
    "the query not mapped",
    why="The queries are x itself, which works only where d_head equals d_model: linear_q is built and never"
        " called.",
    look="the first argument of your attention.", hint=2, pairs=False)
class QueryNotMapped(Head):
    def mapped(self, x):
        return x, self.linear_k(x), self.linear_v(x)


@attention_head.mistake(
    "the layers one after another",
    why="One layer is called with the result of another, not with x, which works only where d_head equals "
        "d_model.",
    look="what is each of the three layers called with?", hint=2, pairs=False)
class OneAfterAnother(Head):
    def mapped(self, x):
        query = self.linear_q(x)
        key = self.linear_k(query)
        return query, key, self.linear_v(key)


@attention_head.mistake("the layers one after another")
class AllAfterTheQuery(Head):
    def mapped(self, x):
        query = self.linear_q(x)
        return query, self.linear_k(query), self.linear_v(query)


@attention_head.mistake("the layers one after another")
class ValueAfterTheQuery(Head):
    def mapped(self, x):
        query, key, _ = super().mapped(x)
        return query, key, self.linear_v(query)


@attention_head.mistake("the layers one after another")
class ValueAfterTheKey(Head):
    def mapped(self, x):
        query, key, _ = super().mapped(x)
        return query, key, self.linear_v(key)


@attention_head.mistake("the layers one after another")
class KeyAfterTheQuery(Head):
    def mapped(self, x):
        query, _, value = super().mapped(x)
        return query, self.linear_k(query), value


@attention_head.mistake(
    "the values mapped twice",
    why="linear_v is called a second time, with the average, which works only where d_head equals d_model.",
    look="how many times does each layer stand in `forward`?", hint=3, pairs=False)
class ValuesMappedTwice(Head):
    def output(self, weights, value, query):
        return self.linear_v(super().output(weights, value, query))


@attention_head.mistake(
    "the weight matrices the wrong way round",
    why="x is multiplied by a weight matrix as it is, which works only where d_head equals d_model: "
        "nn.Linear multiplies by its transpose.",
    look="print `linear_q.weight.shape`.", hint=2, pairs=False)
class MatricesTheWrongWayRound(Head):
    wrong = "qkv"

    def mapped(self, x):
        layers = {"q": self.linear_q, "k": self.linear_k, "v": self.linear_v}
        return tuple(x @ layer.weight if role in self.wrong else layer(x) for role, layer in layers.items())


for wrong in "qkv":
    attention_head.mistake("the weight matrices the wrong way round")(
        type("OneTheWrongWayRound", (MatricesTheWrongWayRound,), {"wrong": wrong}))


@attention_head.mistake(
    "an activation after the layers",
    why="What the layers give goes through a ReLU, a GELU or a tanh before it is used; a head maps linearly.",
    look="what stands between the layers and the dot products?", hint=2)
class Relu(Head):
    def mapped(self, x):
        return tuple(one.relu() for one in super().mapped(x))


@attention_head.mistake("an activation after the layers")
class Gelu(Head):
    def mapped(self, x):
        return tuple(F.gelu(one) for one in super().mapped(x))


@attention_head.mistake("an activation after the layers")
class Tanh(Head):
    def mapped(self, x):
        return tuple(one.tanh() for one in super().mapped(x))


@attention_head.mistake("an activation after the layers")
class ReluOfValue(Head):
    def mapped(self, x):
        query, key, value = super().mapped(x)
        return query, key, value.relu()


@attention_head.mistake("an activation after the layers")
class ReluOfQueryAndKey(Head):
    def mapped(self, x):
        query, key, value = super().mapped(x)
        return query.relu(), key.relu(), value


@attention_head.mistake(
    "an activation after the average",
    why="The average goes through a ReLU, a GELU, a tanh or a layer norm before it is returned; the contract"
        " asks for the average alone.",
    look="what stands after the average?", hint=3, pairs=False)
class ReluOfTheOutput(Head):
    def output(self, weights, value, query):
        return super().output(weights, value, query).relu()


@attention_head.mistake("an activation after the average")
class GeluOfTheOutput(Head):
    def output(self, weights, value, query):
        return F.gelu(super().output(weights, value, query))


@attention_head.mistake("an activation after the average")
class TanhOfTheOutput(Head):
    def output(self, weights, value, query):
        return super().output(weights, value, query).tanh()


@attention_head.mistake("an activation after the average")
class NormOfTheOutput(Head):
    def output(self, weights, value, query):
        return F.layer_norm(super().output(weights, value, query), value.shape[-1:])


@attention_head.mistake(
    "the input added to the output",
    why="x is added to the output, which works only where d_head equals d_model. Such a skip connection "
        "comes in lesson 7; this contract asks for the average alone.",
    look="what stands after the average?", hint=3)
class InputAdded(Head):
    def forward(self, x):
        output, weights = super().forward(x)
        return output + x, weights


@attention_head.mistake(
    "positions added to x",
    why="Something that depends on the position is added to x. Positions come in lesson 5; this contract "
        "takes x as it is.",
    look="what happens to x before the first layer?", hint=2, pairs=False)
class PositionsAdded(Head):
    def mapped(self, x):
        return super().mapped(x + self.places(x))

    def places(self, x):
        return torch.arange(x.shape[1])[:, None]


@attention_head.mistake(
    "the sequence reversed",
    why="The positions of x are turned round before the three layers, and the results are in this order.",
    look="what happens to x before the first layer?", hint=2, pairs=False)
class SequenceReversed(Head):
    def forward(self, x):
        return super().forward(x.flip(1))


@attention_head.mistake("positions added to x")
class SinusoidsAdded(PositionsAdded):
    def places(self, x):
        return sinusoidal_encoding(x.shape[1], x.shape[2] + x.shape[2] % 2)[:, :x.shape[2]]


@attention_head.mistake(
    "x normalised first",
    why="x goes through a layer norm before the three layers. The contract hands them x as it is.",
    look="what happens to x before the first layer?", hint=2)
class NormalisedFirst(Head):
    def mapped(self, x):
        return super().mapped(F.layer_norm(x, x.shape[-1:]))


wrongly_divided(attention_head, Head, "scaled by √d_head", "√d_head, the scale that lesson 3 brings",
                ROOT_OF_FEATURES, pairs=True)
wrongly_divided(attention_head, Head, "scaled by d_head", "d_head", FEATURES)
wrongly_divided(
    attention_head, Head, "scaled by the length", "the length of the sequence, or by the root of that",
    divided(lambda query, key, value: math.sqrt(query.shape[-2]), lambda query, key, value: query.shape[-2]),
    pairs=True)
wrongly_divided(
    attention_head, Head, "scaled by the batch", "how many sequences there are, or by the root of that",
    divided(lambda query, key, value: math.sqrt(len(query)), lambda query, key, value: len(query)))
wrongly_divided(attention_head, Head, "scaled by a fixed number", "a fixed number", divided(
    *(lambda query, key, value, fixed=fixed: fixed for fixed in (*FIXED[:6], 0.5, 0.1))))


@attention_head.mistake(
    "scaled by √d_model",
    why="The scores are divided by the square root of d_model, or by d_model; this contract leaves them as "
        "they are.",
    look=UNSCALED, hint=2)
class DividedByRootOfModel(Head):
    def scaled(self, scores, query, key, value):
        return scores / math.sqrt(self.linear_q.in_features)


@attention_head.mistake("scaled by √d_model")
class DividedByModel(Head):
    def scaled(self, scores, query, key, value):
        return scores / self.linear_q.in_features
