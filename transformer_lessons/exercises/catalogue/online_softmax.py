"""online_softmax, of lesson 12: the softmax over scores that come in blocks."""

import torch

from transformer_lessons.exercises.checker.setup import Setup, normal
from transformer_lessons.exercises.checker.watching import Watching
from transformer_lessons.language import long_context


def draw(generator, rows, sizes, rise=0.0, level=0.0, apart=0.0, far=0):
    """Blocks of scores that rise (or fall) from block to block, around a level that may differ from row to row.

    Where far is -1 or 1, all scores are far below or far above 0 instead.
    """
    if far:
        return (list((-far * far_below(generator, *rows, sum(sizes))).split(sizes, dim=-1)),)
    level = level + apart * torch.arange(rows[-1] if rows else 1.0).reshape(rows[-1:] + (1,) if rows else (1,))
    return ([normal(generator, *rows, size) + rise * number + level for number, size in enumerate(sizes)],)


def far_below(generator, *shape):
    """Scores below -10¹⁰ in any order, so far apart that the largest of a row gets all its weight. Exact in float32."""
    return -(2.0**32) * (4 + torch.rand(shape, generator=generator).argsort(dim=-1).double())


SIZES = [
    ((1,), (2, 2), 2.0),
    ((2,), (3, 1, 2), 1.5),
    ((3,), (4,), 0.0),
    ((2, 3), (4, 4, 4, 2), 1.0),
    ((2, 3), (4, 4, 4, 2), -1.0),
    ((), (3, 5, 1), 2.0),
    ((3,), (1, 1, 1, 1, 1), 0.5),
    ((4,), (3, 3, 3), 0.0),
    ((3,), (5, 5, 2), 40.0),
    ((3,), (5, 5, 2), -40.0),
]


class Watch(Watching):
    """How often an answer reads each block, and the widest sum, maximum or softmax that it takes."""

    REDUCES = (
        "sum",
        "max",
        "amax",
        "_softmax",
        "_log_softmax",
        "logsumexp",
        "cumsum",
        "logcumsumexp",
        "cummax",
        "mean",
        "sort",
        "topk",
    )

    def __init__(self, blocks):
        super().__init__()
        self.sizes = {block.untyped_storage().data_ptr(): block.numel() for block in blocks}
        self.visits, self.widest = [], 0  # of one block at a time: (its place, {part: how much of it})

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for one in args:
            if isinstance(one, torch.Tensor):
                if one.untyped_storage().data_ptr() in self.sizes and made_anew(result, one):
                    self.note(one)
                if function.overloadpacket.__name__ in self.REDUCES:
                    self.widest = max(self.widest, one.numel())
        return result

    def note(self, one):
        place = one.untyped_storage().data_ptr()
        if not self.visits or self.visits[-1][0] != place:
            self.visits.append((place, {}))
        self.visits[-1][1][one.storage_offset(), one.shape, one.stride()] = one.numel() / self.sizes[place]

    def passes(self):
        """How often the blocks are read, in whatever order: all but one of them, which may serve for a start."""
        read = dict.fromkeys(self.sizes, 0.0)
        for place, parts in self.visits:
            read[place] += min(1.0, sum(parts.values()))
        return sorted(read.values())[-2]


def made_anew(result, source):
    """Is this a new tensor, and not a view, which reads nothing?"""
    return not isinstance(result, torch.Tensor) or (
        result.untyped_storage().data_ptr() != source.untyped_storage().data_ptr()
    )


def in_blocks(call, blocks):
    """The numbers are right; did the answer also keep to its blocks, and to two passes?"""
    if len(blocks) < 3 or max(block.numel() for block in blocks) <= max(len(blocks) * blocks[0][..., 0].numel(), 4):
        return None
    with Watch(blocks) as watch:
        call(blocks)
    if watch.widest >= sum(block.numel() for block in blocks):
        return ("all the scores at once", AT_ONCE, LOOK_AT_ONCE)
    if watch.passes() > 2.9:
        return ("three passes", THREE, LOOK_THREE)
    return None


AT_ONCE = (
    "The numbers are right, but a softmax, a maximum, a sum or the like is taken over all the scores, or their "
    "exponentials, put together. They come in blocks because there is no room for all of them at once."
)


LOOK_AT_ONCE = "when the next block comes, what do you need to know about those before it?"


THREE = (
    "The numbers are right, but blocks are read more than twice, as when the maximum, the sum and the weights "
    "get a pass each. The maximum and the sum can be found in a single pass."
)


def sums_to_one(call, blocks):
    """The numbers are right, but is anything added to the sum that float32 would show?"""
    if len(blocks) > 1:
        return None
    weight = torch.as_tensor(call([blocks[0].new_zeros(1)]))
    return None if bool((weight - 1).abs().max() < 3e-8) else ("a sum slightly off", OFF, LOOK_OFF)


OFF = (
    "The numbers are nearly right, but not exactly. A single score should get a weight of exactly 1, but it does "
    "not, as when a small number such as 1e-6 is added to the sum."
)


LOOK_OFF = "the largest score adds exp(0) = 1 to the sum: can the sum ever be 0?"


LOOK_THREE = "when a block raises the maximum, by which factor is the sum so far too large?"


def signs_of_lost_rows(observed, expected):
    """Are some rows NaN throughout, and all the others right?"""
    if not isinstance(observed, torch.Tensor) or observed.shape != expected.shape or not observed.dim():
        return []
    lost = observed.isnan().all(-1)
    right = torch.allclose(observed[~lost].double(), expected[~lost].double(), atol=1e-6)
    return ["rows of NaN"] * (bool(lost.any()) and right)


setup = Setup(
    sizes=[{"rows": rows, "sizes": sizes, "rise": rise} for rows, sizes, rise in SIZES]
    + [
        {"rows": (3,), "sizes": (4, 4, 3), "rise": rise, "level": level}
        for rise, level in ((1.0, -1000.0), (-1.0, -1000.0), (1.0, 1000.0), (-1.0, 1000.0), (1000.0, 0.0))
    ]
    + [
        {"rows": (3,), "sizes": (4, 4, 3), "rise": -1000.0, "apart": -2000.0},
        {"rows": (2,), "sizes": (9, 8, 9, 5), "rise": 1.0},
        *({"rows": (3,), "sizes": (2, 1, 3), "far": far} for far in (-1, 1)),
    ],
    draw=draw,
    reference=lambda blocks: long_context.online_softmax(blocks),
    returns="weights",
    names_steps=False,
    shapes={"weights": "(…, length)"},
    checks=[in_blocks, sums_to_one],
    signs=lambda observed, expected, blocks: signs_of_lost_rows(observed, expected),
)
