"""tiled_attention, of lesson 12: causal attention that never holds the whole table of scores."""

import math

import torch

from transformer_lessons.exercises.catalogue.online_softmax import (
    far_below,
    signs_of_lost_rows,
)
from transformer_lessons.exercises.checker.comparison import comparable
from transformer_lessons.exercises.checker.setup import Setup, normal
from transformer_lessons.exercises.checker.watching import Watching
from transformer_lessons.language import long_context


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


class Largest(Watching):
    """The size of the largest tensor that is made, and of the largest mask; the shapes of all that hold numbers."""

    def __init__(self):
        super().__init__()
        self.numbers, self.mask, self.shapes = 0, 0, set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for one in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(one, torch.Tensor):
                size = min(one.numel(), one.untyped_storage().nbytes() // one.element_size())
                name = "mask" if one.dtype == torch.bool else "numbers"
                setattr(self, name, max(getattr(self, name), size))
                self.shapes |= {tuple(one.shape[-2:])} if one.is_floating_point() and one.ndim > 1 else set()
        return result


def never_the_whole_table(call, query, key, value, block):
    """The numbers are right; is every tensor smaller than length × length, and every tile as small as the block?"""
    length = query.shape[-2]
    if length < 10 or query.ndim > 2:
        return None
    with Largest() as largest:
        call(query, key, value, block)
    if largest.numbers >= length**2:
        return "a table of length × length", WHOLE, LOOK_WHOLE
    if largest.mask >= length**2:
        return "a whole mask", MASK, LOOK_MASK
    number = math.ceil(length / block)  # of tiles: something of each may be kept for all the queries
    tiles = [shape for shape in largest.shapes if min(shape) > block and number not in shape]
    features = query.shape[-1] + key.shape[-1] + value.shape[-1]  # all of them may stand side by side
    return ("tiles larger than the block", LARGER, LOOK_LARGER) if tiles and features <= block else None


WHOLE = (
    "The numbers are right, but on the way a tensor of length × length elements or more is made, which is what "
    "tiles are there to avoid."
)


LOOK_WHOLE = "which line makes a table whose size grows with the square of the length?"


LARGER = (
    "The numbers are right, but a tile is larger than `block` allows: one table has more than `block` rows and "
    "more than `block` columns."
)


LOOK_LARGER = "how many queries and how many keys does one tile hold, and where do these numbers come from?"


MASK = (
    "The numbers are right, but a mask of length × length elements or more is made. It is no smaller than the "
    "whole table of scores."
)


LOOK_MASK = "which tiles need a mask at all, and how large must it be for one of them?"


def sums_to_one(call, query, key, value, block):
    """The numbers are right, but is anything added to the sum that float32 would show?"""
    if query.shape[-2] > 1:
        return None
    output = torch.as_tensor(call(query, key, torch.ones_like(value), block))
    return None if bool((output - 1).abs().max() < 3e-8) else ("a sum slightly off", OFF, LOOK_OFF)


OFF = (
    "The numbers are nearly right, but not exactly. In a sequence of length 1, the position should get its own "
    "value, but it gets a little more or less, as when a small number such as 1e-6 is added to the sum."
)


LOOK_OFF = "the largest score adds exp(0) = 1 to the sum: can the sum ever be 0?"


def scaling(observed, expected, query, key, value, block):
    """A number that the scores are divided by, or √d times a number: position 1, which sees two keys, shows which."""
    if not comparable(observed, expected) or query.shape[-2] < 2:
        return None
    apart = value[..., 1, :] - value[..., 0, :]
    share = ((observed[..., 1, :] - value[..., 0, :]) * apart).sum(-1) / (apart * apart).sum(-1)  # of key 1
    factors = share.logit() / (query[..., 1, :] * (key[..., 1, :] - key[..., 0, :])).sum(-1)
    factor = factors.nanmedian().item()
    if not math.isfinite(factor) or abs(factor) < 1e-6:
        return None
    root = math.sqrt(query.shape[-1])
    made = long_context.tiled_attention(query * factor * root, key, value, block)
    if not torch.allclose(made, observed.to(made), atol=1e-4):
        return []
    return [("scaled by a fixed number", 1 / factor), ("scaled by √d times a number", factor * root)]


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
    reference=lambda query, key, value, block: long_context.tiled_attention(query, key, value, block),
    returns="output",
    shapes={"output": "(…, length, d_v)"},
    names_steps=False,
    solves=scaling,
    checks=[never_the_whole_table, sums_to_one],
    signs=lambda observed, expected, *inputs: signs_of_lost_rows(observed, expected),
)
