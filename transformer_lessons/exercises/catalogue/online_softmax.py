"""How the inputs of `online_softmax` are drawn, and whether an answer keeps to the blocks."""

import torch

from transformer_lessons.exercises.catalogue.stable_softmax import far_below, signs_of_lost_rows, slightly_off
from transformer_lessons.exercises.checker.setup import Setup, normal
from transformer_lessons.language import long_context
from transformer_lessons.running.watching import Watching


def draw(generator, rows, sizes, rise=0.0, level=0.0, apart=0.0, far=0):
    """Blocks of scores that rise (or fall) from block to block, around a level that may differ from row to row.

    Where far is -1 or 1, all scores are far below or far above 0 instead.
    """
    if far:
        return (list((-far * far_below(generator, *rows, sum(sizes))).split(sizes, dim=-1)),)
    level = level + apart * torch.arange(rows[-1] if rows else 1.0).reshape(rows[-1:] + (1,) if rows else (1,))
    return ([normal(generator, *rows, size) + rise * number + level for number, size in enumerate(sizes)],)


class Watch(Watching):
    """How often an answer reads each block, and the widest sum, maximum or softmax that it takes."""

    REDUCES = (
        *("sum", "cumsum", "mean", "max", "amax", "cummax", "sort", "topk"),
        *("_softmax", "_log_softmax", "logsumexp", "logcumsumexp"),
    )

    def __init__(self, blocks):
        super().__init__()
        self.sizes = {place_of(block): block.numel() for block in blocks}
        self.visits, self.widest = [], 0  # of one block at a time: (its place, {part: how much of it})

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for value in args:
            if isinstance(value, torch.Tensor):
                is_view = place_of(result) == place_of(value)  # which reads nothing
                if place_of(value) in self.sizes and not is_view:
                    self.note(place_of(value), value)
                if function.overloadpacket.__name__ in self.REDUCES:
                    self.widest = max(self.widest, value.numel())
        return result

    def note(self, place, part):
        if not self.visits or self.visits[-1][0] != place:
            self.visits.append((place, {}))
        self.visits[-1][1][part.storage_offset(), part.shape, part.stride()] = part.numel() / self.sizes[place]

    def passes(self):
        """How often the blocks are read, in whatever order: all but one of them, which may serve for a start."""
        read = dict.fromkeys(self.sizes, 0.0)
        for place, parts in self.visits:
            read[place] += min(1.0, sum(parts.values()))
        return sorted(read.values())[-2]


def place_of(value):
    """Where in memory a tensor's numbers are; None for anything else."""
    return value.untyped_storage().data_ptr() if isinstance(value, torch.Tensor) else None


def in_blocks(call, blocks):
    """Did the answer keep to its blocks, and to two passes?"""
    if len(blocks) < 3 or max(block.numel() for block in blocks) <= max(len(blocks) * blocks[0][..., 0].numel(), 4):
        return None
    with Watch(blocks) as watch:
        call(blocks)
    if watch.widest >= sum(block.numel() for block in blocks):
        return "all the scores at once"
    return "more than two passes" if watch.passes() > 2.9 else None


def sums_to_one(call, blocks):
    """Does a single score get a weight of exactly 1?"""
    return None if len(blocks) > 1 else slightly_off(call([blocks[0].new_zeros(1)]))


setup = Setup(
    sizes=[
        {"rows": rows, "sizes": sizes, "rise": rise}
        for rows, sizes, rise in (
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
        )
    ]
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
    reference=long_context.online_softmax,
    returns="weights",
    names_steps=False,
    shapes={"weights": "(…, length)"},
    checks=[in_blocks, sums_to_one],
    signs=signs_of_lost_rows,
)
