"""How the inputs of `attend_with_cache` are drawn, and what short caches do not show."""

import math

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.catalogue.stable_softmax import far_below, signs_of_lost_rows, slightly_off
from transformer_lessons.exercises.checker.setup import Setup, normal


def draw(generator, batch, heads, past, new, d_head, d_v, loud=1.0, level=0.0, far=0, silent=False):
    """A cache, and what comes after it. The last new key leads where loud; level is added to every score.

    Where far is -1 or 1, all scores are far below 0 or far above it, far apart, and rise from key to key. Where silent,
    the first query is zero.
    """
    query, new_key = normal(generator, batch, heads, new, d_head), normal(generator, batch, heads, new, d_head)
    key = normal(generator, batch, heads, past, d_head)
    if silent:
        query[:, :, 0] = 0.0
    if loud > 1:
        new_key[:, :, -1] = loud * query[:, :, 0]
    if level:
        query[..., 0], key[..., 0], new_key[..., 0] = math.sqrt(d_head), level, level
    if far:
        query[..., 0] = math.sqrt(d_head)
        scores = (-far * far_below(generator, batch, heads, past + new)).sort().values
        key[..., 0], new_key[..., 0] = scores[..., :past], scores[..., past:]
    return (query, key, normal(generator, batch, heads, past, d_v), new_key, normal(generator, batch, heads, new, d_v))


NAMES = "batch", "heads", "past", "new", "d_head", "d_v"


SIZES = [
    (1, 2, 3, 1, 4, 5),
    (1, 1, 0, 3, 4, 2),
    (2, 3, 4, 1, 5, 6),
    (2, 3, 5, 4, 6, 7),
    (2, 2, 3, 3, 3, 3),
    (3, 2, 1, 6, 5, 4),
    (2, 2, 4, 4, 4, 4),
    (2, 1, 7, 2, 3, 5),
    (3, 4, 0, 5, 2, 6),
    (3, 3, 0, 3, 3, 3),
]


def sums_to_one(call, query, keys, values, new_key, new_value):
    """Does a first token, which sees only itself, get exactly its own value?"""
    if keys.shape[2]:
        return None
    only = [tokens[:, :, :1] for tokens in (query, new_key, torch.ones_like(new_value))]
    return slightly_off(call(only[0], keys, values, *only[1:])[0])


def keeps_a_long_cache(call, query, keys, values, new_key, new_value):
    """The cache of 7 tokens, twenty times over, with values that grow: is everything still kept, and seen?"""
    if keys.shape[2] != 7:
        return None
    keys, values = keys.repeat(1, 1, 20, 1), values.repeat(1, 1, 20, 1) * torch.linspace(0, 1, 140).to(values)[:, None]
    all_keys, all_values = torch.cat([keys, new_key], 2), torch.cat([values, new_value], 2)
    seen = torch.ones(query.shape[2], all_keys.shape[2]).tril(keys.shape[2]) == 1
    right = F.scaled_dot_product_attention(query, all_keys, all_values, seen), all_keys, all_values
    results = map(torch.as_tensor, call(query, keys, values, new_key, new_value))
    same = all(
        result.shape == wanted.shape and torch.allclose(result, wanted, atol=1e-4)
        for result, wanted in zip(results, right, strict=True)
    )
    return None if same else "not right with a long cache"


setup = Setup(
    sizes=[dict(zip(NAMES, sizes, strict=True)) for sizes in SIZES]
    + [
        dict(zip(NAMES, (2, 2, 3, 4, 5, 6), strict=True), **more)
        for more in ({"loud": 30.0}, {"loud": 1000.0}, {"level": -1000.0}, {"far": -1}, {"silent": True}, {"far": 1})
    ],
    draw=draw,
    returns=("output", "keys", "values"),
    names_steps=False,
    checks=[sums_to_one, keeps_a_long_cache],
    signs=lambda observed, expected, *inputs: (
        signs_of_lost_rows(observed[0], expected[0]) if isinstance(observed, tuple) and len(observed) == 3 else []
    ),
    shapes={
        "output": "(batch, heads, new, d_v)",
        "keys": "(batch, heads, past + new, d_head)",
        "values": "(batch, heads, past + new, d_v)",
    },
)
