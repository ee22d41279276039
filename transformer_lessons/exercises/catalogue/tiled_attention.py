"""How the inputs of `tiled_attention` are drawn, and how large the tiles of an answer are."""

import math

import torch

from transformer_lessons.exercises.catalogue.stable_softmax import far_below, signs_of_lost_rows, slightly_off
from transformer_lessons.exercises.checker.comparison import comparable
from transformer_lessons.exercises.checker.setup import Setup, normal
from transformer_lessons.language import long_context
from transformer_lessons.running.watching import Largest


def draw(generator, lead, length, d_head, d_v, block, rise=0.0, level=0.0, far=0, silent=False):
    """Scores that rise (or fall) from key to key, around a level that differs from query to query.

    Where far is -1 or 1, they are far below or far above 0. Where silent, the first query is all zeros.
    """
    query, key, value = (normal(generator, *lead, length, size) for size in (d_head, d_head, d_v))
    if rise or level:
        query[..., 0] = math.sqrt(d_head) * (1 + torch.arange(length) % 3)
        key[..., 0] = level + rise * torch.arange(length)
    if silent:
        query[..., 0, :] = 0.0
    if far:
        query[..., 0], key[..., 0] = math.sqrt(d_head), -far * far_below(generator, *lead, length)
    return query, key, value, block


NAMES = "lead", "length", "d_head", "d_v", "block"
SIZES = [
    ((), 5, 2, 3, 2),
    ((2,), 7, 5, 4, 3),
    ((2, 3), 8, 7, 6, 4),
    ((4, 4), 4, 4, 4, 3),
    ((), 1, 3, 2, 2),
    ((2,), 5, 3, 6, 1),
    ((2,), 5, 4, 3, 9),
]


def never_the_whole_table(call, query, key, value, block):
    """Is every tensor smaller than length × length, and every tile as small as the block?"""
    length = query.shape[-2]
    if length < 10 or query.ndim > 2:
        return None
    with Largest() as largest:
        call(query, key, value, block)
    if largest.numbers >= length**2:
        return "a table of length × length"
    if largest.mask >= length**2:
        return "a whole mask"
    number = math.ceil(length / block)  # of tiles: something of each may be kept for all the queries
    tiles = [shape for shape in largest.shapes if min(shape) > block and number not in shape]
    features = query.shape[-1] + key.shape[-1] + value.shape[-1]  # all of them may stand side by side
    return "tiles larger than the block" if tiles and features <= block else None


def sums_to_one(call, query, key, value, block):
    """Does the only position of a sequence of length 1 get exactly its own value?"""
    return None if query.shape[-2] > 1 else slightly_off(call(query, key, torch.ones_like(value), block))


def scaling(observed, expected, query, key, value, block):
    """A number that the scores are divided by, or √d times a number: position 1, which sees two keys, shows which."""
    if not comparable(observed, expected) or query.shape[-2] < 2:
        return None
    apart = value[..., 1, :] - value[..., 0, :]
    share = ((observed[..., 1, :] - value[..., 0, :]) * apart).sum(-1) / (apart * apart).sum(-1)  # of key 1
    factors = share.logit() / (query[..., 1, :] * (key[..., 1, :] - key[..., 0, :])).sum(-1)
    factor = factors.nanmedian().item()
    if not 1e-6 < abs(factor) < math.inf:
        return None
    root = math.sqrt(query.shape[-1])
    made = long_context.tiled_attention(query * factor * root, key, value, block)
    fits = torch.allclose(made, observed.to(made), atol=1e-4)
    return [("scaled by a fixed number", 1 / factor), ("scaled by √d times a number", factor * root)] * fits


setup = Setup(
    sizes=[
        dict(zip(NAMES, ((), 4, 2, 3, 2), strict=True), rise=1.0),
        *(dict(zip(NAMES, size, strict=True)) for size in SIZES),
        *(
            dict(zip(NAMES, ((2,), 9, 4, 3, 4), strict=True), rise=rise, level=level)
            for rise, level in ((1.0, 0.0), (-1.0, 0.0), (0.5, -1000.0), (0.5, 1000.0), (300.0, 0.0))
        ),
        *(dict(zip(NAMES, ((2,), 5, 4, 3, 2), strict=True), far=far) for far in (-1, 1)),
        dict(zip(NAMES, ((2,), 5, 4, 3, 2), strict=True), silent=True),
        *(
            dict(zip(NAMES, size, strict=True))
            for size in (  # their tiles are measured, without a batch
                ((), 17, 1, 1, 3),
                ((), 26, 2, 3, 8),
            )
        ),
    ],
    draw=draw,
    reference=long_context.tiled_attention,
    returns="output",
    shapes={"output": "(…, length, d_v)"},
    names_steps=False,
    solves=scaling,
    checks=[never_the_whole_table, sums_to_one],
    signs=signs_of_lost_rows,
)
