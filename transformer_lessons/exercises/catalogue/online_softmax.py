"""online_softmax, of lesson 12: the softmax over scores that come in blocks."""

import functools
import math

import torch

from transformer_lessons.exercises.checker.exercise import Exercise, Steps, Watching, normal
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

LIMITS = 10.0, 20.0, 30.0, 50.0, 80.0, 88.0, 100.0, 700.0, 1e3, 1e4  # to which scores may be clipped


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

ROWS_OF_NAN = (
    "Whole rows are NaN (not a number), as when all the exponentials of a row are 0, or one is infinite, "
    "because what is subtracted is not the row's own largest score."
)
LOOK_ROWS_OF_NAN = (
    "print what is subtracted from each score, and the sum of the exponentials, for one of these "
    "rows: is every row compared with a maximum of its own, over all its scores so far?"
)


def signs_of_lost_rows(observed, expected):
    """Are some rows NaN throughout, and all the others right?"""
    if not isinstance(observed, torch.Tensor) or observed.shape != expected.shape or not observed.dim():
        return []
    lost = observed.isnan().all(-1)
    right = torch.allclose(observed[~lost].double(), expected[~lost].double(), atol=1e-6)
    return ["rows of NaN"] * (bool(lost.any()) and right)


exercise = Exercise(
    name="online_softmax",
    lesson=12,
    title="A softmax in blocks",
    difficulty=3,
    importance=3,
    minutes=15,
    contract="""
        online_softmax(blocks) returns the softmax over all the scores as one tensor (…, length). blocks is a list of
        one or more tensors (…, size). All of them have the same leading dimensions (there may be none), but their
        sizes may differ. Each size is at least 1, and the sizes add up to length. You may not take a maximum, a sum or
        a softmax over all the scores put together. You may read each block at most twice: once for the maximum and the
        sum, and once for its weights. The function must work for finite scores of any magnitude. The blocks
        stay as they are.
        """,
    stub='''
        def online_softmax(blocks):
            """The softmax over all scores, which come in blocks (…, size), as one tensor (…, length)."""
            raise NotImplementedError
        ''',
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
    hints=[
        (
            "what to remember",
            "From the blocks you have read so far, keep two numbers for each row: the largest "
            "score, and the sum of exp(score - largest). What values should they have before the first block?",
        ),
        (
            "when the maximum rises",
            "The terms of the sum so far are exp(score - old), but now you want "
            "exp(score - new). To get from one to the other, you multiply every term by the same factor. What is "
            "this factor?",
        ),
        (
            "the weights",
            "You know the final maximum and sum only after the last block. So go through the blocks "
            "once more to compute their weights, and join the weights with torch.cat.",
        ),
    ],
    solution="""
        import torch


        def online_softmax(blocks):
            largest = torch.full_like(blocks[0][..., :1], -torch.inf)
            total = torch.zeros_like(largest)
            for scores in blocks:
                raised = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
                total = total * (largest - raised).exp() + (scores - raised).exp().sum(dim=-1, keepdim=True)
                largest = raised
            return torch.cat([(scores - largest).exp() / total for scores in blocks], dim=-1)
        """,
)


@exercise.right("step by step")
class Online(Steps):
    def __call__(self, blocks):
        largest, total = self.start(blocks[0][..., :1])
        for scores in self.first_pass(blocks):
            raised = self.raised(largest, scores)
            total = self.grown(self.rescaled(total, largest, raised), self.added(scores, raised))
            largest = raised
        return self.joined([self.weights(scores, largest, total) for scores in self.second_pass(blocks)])

    def start(self, column):
        return torch.full_like(column, -torch.inf), torch.zeros_like(column)

    def first_pass(self, blocks):
        return blocks

    def raised(self, largest, scores):
        return torch.maximum(largest, scores.amax(dim=-1, keepdim=True))

    def rescaled(self, total, largest, raised):
        return total * (largest - raised).exp()

    def added(self, scores, raised):
        return (scores - raised).exp().sum(dim=-1, keepdim=True)

    def grown(self, rescaled, added):
        return rescaled + added

    def weights(self, scores, largest, total):
        return (scores - largest).exp() / total

    def second_pass(self, blocks):
        return blocks

    def joined(self, parts):
        return torch.cat(parts, dim=-1)


# Nothing but NaN
mistake = exercise.section(hint=1)
mistake(
    "infinity minus infinity, or times 0",
    pairs=0,
    why="Every weight is NaN (not a number), as when one infinity "
    "is subtracted from another, or multiplied by 0. This happens, for instance, when the maximum starts at "
    "infinity, or when the first factor is exp(new - old) with an old maximum of -inf.",
    look="what are the maximum, the factor and the sum in the first block?",
    start=lambda column: (torch.full_like(column, torch.inf), torch.zeros_like(column)),
    rescaled=lambda total, largest, raised: total * (raised - largest).exp(),
)

# What is kept of the blocks so far
mistake = exercise.section(hint=2)
FACTOR = "take two blocks of one score each, 0 and 5: what should the sum be after the second?"
mistake(
    "powers of 2",
    why="The exponentials are powers of 2, not of e: a softmax with another base.",
    look="what is exp2(1), and what is exp(1)?",
    pairs=0,
    variants=[
        {
            "rescaled": lambda total, largest, raised: total * (largest - raised).exp2(),
            "added": lambda scores, raised: (scores - raised).exp2().sum(dim=-1, keepdim=True),
            "weights": lambda scores, largest, total: (scores - largest).exp2() / total,
        }
    ],
)
mistake(
    "the sum not rescaled",
    why="When a block raises the maximum, the sum so far stays as it was: it is still a "
    "sum of exponentials relative to the old maximum.",
    look=FACTOR + " And if you do rescale it: is the old maximum still there at that point?",
    rescaled=lambda total: total,
)
mistake(
    "rescaled for all rows or for none",
    pairs=0,
    why="Whether to rescale the sum so far is decided once for all "
    "rows, for instance by the first of them, or by whether all their maxima rise. So the maximum of a row may "
    "rise while its sum stays as it was.",
    look="`if`: which row does the condition look at? Each row has a maximum of its own.",
    rescaled=[
        lambda right, total, largest, raised, rise=rise: right if bool(rise(raised > largest)) else total
        for rise in (torch.all, lambda rises: rises.flatten()[0], lambda rises: rises.flatten()[-1])
    ]
    + [lambda right, total, largest, raised: right if bool(raised.max() > largest.max()) else total],
)


def wrong_way_from(low):
    return {
        "rescaled": lambda total, largest, raised: total * (raised - largest).exp(),
        "start": lambda column: (torch.full_like(column, low), torch.zeros_like(column)),
    }


mistake(
    "rescaled the wrong way",
    why="The sum so far is multiplied by exp(new - old), so it grows where it should shrink.",
    look=FACTOR,
    rescaled=lambda total, largest, raised: torch.where(total == 0, total, total * (raised - largest).exp()),
    variants=[wrong_way_from(low) for low in (0.0, -1.0, 1.0)],
)
mistake(
    "rescaled by the maximum itself",
    pairs=2,
    why="The sum so far is multiplied by the exponential of one of the "
    "two maxima (or of its negative), not of their difference.",
    look=FACTOR,
    rescaled=[lambda total, largest: total * largest.exp(), lambda total, raised: total * (-raised).exp()],
)
mistake(
    "rescaled by the difference, not its exponential",
    why="The sum so far is multiplied by the difference of the "
    "two maxima, or the difference is subtracted from it: the exponential is missing.",
    look=FACTOR,
    pairs=2,
    rescaled=[
        lambda total, largest, raised: torch.where(total == 0, total, total * (largest - raised)),
        lambda total, largest, raised: torch.where(total == 0, total, total + (largest - raised)),
    ],
)
mistake(
    "rescaled by a quotient",
    why="The sum so far is multiplied by a quotient, either of the two maxima or of "
    "their exponentials (which may be infinite or 0), not by the exponential of their difference.",
    pairs=0,
    look=FACTOR + " And if both scores were 1000 higher?",
    variants=[lambda blocks: by_quotients(blocks)],
    rescaled=[
        lambda total, largest, raised: torch.where(total == 0, total, total * (largest / raised)),
        lambda total, largest, raised: torch.where(total == 0, total, total * (raised / largest)),
        lambda total, largest, raised: torch.where(total == 0, total, total * (largest.exp() / raised.exp())),
    ],
)


def by_quotients(blocks):
    """Each block relative to its own maximum, and the sum so far multiplied by the quotient of the two."""
    largest = blocks[0].amax(-1, keepdim=True)
    total = Online().added(blocks[0], largest)
    for scores in blocks[1:]:
        own = scores.amax(-1, keepdim=True)
        total, largest = total * (largest / own) + Online().added(scores, own), torch.maximum(largest, own)
    return torch.cat([Online().weights(scores, largest, total) for scores in blocks], dim=-1)


mistake(
    "the new block rescaled, too",
    why="The exponentials of the new block are multiplied by the factor as well, "
    "although they are already relative to the new maximum.",
    look="which part of the sum was computed with the old maximum?",
    pairs=0,
    variants=[lambda blocks: rescaled_whole(blocks), lambda blocks: rescaled_whole(blocks, first=False)],
)
mistake(
    "the new block rescaled, not the sum so far",
    why="The factor is applied to the exponentials of the new block; the sum so far stays as it was.",
    look="which part of the sum was computed with the old maximum?",
    pairs=0,
    variants=[
        lambda blocks: rescaled_whole(blocks, both=False),
        lambda blocks: rescaled_whole(blocks, first=False, both=False),
    ],
)
mistake(
    "the new block relative to the old maximum",
    why="The exponentials of a new block are computed with the "
    "maximum of the blocks before it, while the sum so far is rescaled to the new maximum.",
    look="to which maximum should every term of the sum be relative?",
    pairs=0,
    variants=[lambda blocks: below_the_old(blocks)],
)


def rescaled_whole(blocks, first=True, both=True):
    largest, total = Online().start(blocks[0][..., :1])
    for scores in blocks:
        raised = Online().raised(largest, scores)
        factor = torch.where(largest.isinf() & first, 1.0, (largest - raised).exp())
        total = total * (factor if both else 1) + Online().added(scores, raised) * factor
        largest = raised
    return torch.cat([(scores - largest).exp() / total for scores in blocks], dim=-1)


def to_the_block(blocks, new_too=True):
    largest, total = Online().start(blocks[0][..., :1])
    for scores in blocks:
        own, raised = scores.amax(dim=-1, keepdim=True), Online().raised(largest, scores)
        total = total * (largest - own).exp() + Online().added(scores, own if new_too else raised)
        largest = raised
    return torch.cat([(scores - largest).exp() / total for scores in blocks], dim=-1)


mistake(
    "rescaled to the block, not to the running maximum",
    why="The sum so far is rescaled to the maximum of the new "
    "block, even where an earlier maximum was larger. But the weights are relative to the largest of all.",
    look="if a block's scores are all below an earlier one, to which maximum should the sum be relative?",
    pairs=0,
    variants=[to_the_block, lambda blocks: to_the_block(blocks, new_too=False)],
)
mistake(
    "the maximum never kept",
    why="For each block, the running maximum is back at its starting value, as if no block had come before.",
    look="from which maximum does your code start when the second block comes?",
    pairs=0,
    variants=[lambda blocks, low=low: never_kept(blocks, low) for low in (-torch.inf, -1e30, -1e9)]
    + [{"raised": lambda scores: scores.amax(-1, keepdim=True), "rescaled": lambda total: 0 * total}],
)
mistake(
    "one sum for all rows",
    pairs=0,
    why="The exponentials of all rows are added up into one sum; each row should have its own.",
    look="what is the shape of your sum, for blocks of three rows?",
    variants=[
        {"added": lambda scores, raised: (scores - raised).exp().sum()},
        {"weights": lambda scores, largest, total: (scores - largest).exp() / total.sum()},
    ],
)

mistake(
    "rescaled only where the maximum rises a lot",
    why="Where the maximum rises only a little, the sum so far and "
    "the running maximum stay as they are, but the new block is added relative to the new maximum. So the terms of "
    "the sum are relative to two different maxima.",
    look="if the running maximum stays, which maximum must be subtracted from the new scores?",
    pairs=0,
    variants=[lambda blocks, enough=enough: in_leaps(blocks, enough) for enough in (8 * math.log(2), 8.0, 1.0)],
)


def in_leaps(blocks, enough):
    largest = blocks[0].amax(-1, keepdim=True)
    total = Online().added(blocks[0], largest)
    for scores in blocks[1:]:
        raised = Online().raised(largest, scores)
        leap, more = raised - largest > enough, Online().added(scores, raised)
        total = torch.where(leap, total * (largest - raised).exp(), total) + more
        largest = torch.where(leap, raised, largest)
    return torch.cat([(scores - largest).exp() / total for scores in blocks], dim=-1)


mistake(
    "each block's maximum kept, not the largest",
    why="The sum is computed relative to the larger of the two "
    "maxima, but the one that is kept is that of the new block, even if an earlier one was larger.",
    look="which of the two maxima should the next block be compared with?",
    pairs=0,
    variants=[lambda blocks: block_kept(blocks)],
)


def block_kept(blocks):
    largest, total = Online().start(blocks[0][..., :1])
    for scores in blocks:
        raised = Online().raised(largest, scores)
        total = total * (largest - raised).exp() + Online().added(scores, raised)
        largest = scores.amax(dim=-1, keepdim=True)
    return torch.cat([(scores - largest).exp() / total for scores in blocks], dim=-1)


def never_kept(blocks, low):
    largest = torch.full_like(blocks[0][..., :1], low)
    total = torch.zeros_like(largest)
    for scores in blocks:
        raised = Online().raised(largest, scores)
        total = total * (largest - raised).exp() + Online().added(scores, raised)
    return torch.cat([(scores - largest).exp() / total for scores in blocks], dim=-1)


def below_the_old(blocks):
    largest = blocks[0].amax(-1, keepdim=True)
    total = Online().added(blocks[0], largest)
    for scores in blocks[1:]:
        raised = Online().raised(largest, scores)
        total = total * (largest - raised).exp() + Online().added(scores, largest)
        largest = raised
    return torch.cat([(scores - largest).exp() / total for scores in blocks], dim=-1)


mistake(
    "a block that does not raise the maximum left out",
    why="Where a block does not raise the maximum of a row, or "
    "not that of every row, its exponentials are missing from the sum.",
    look="take two blocks of one score each, 5 and 4: what should the sum be after the second?",
    pairs=0,
    variants=[
        lambda blocks, skipped=skipped: only_if_raised(blocks, skipped)
        for skipped in (lambda rises: ~rises, lambda rises: ~rises.any(), lambda rises: ~rises.all())
    ],
)


def only_if_raised(blocks, skipped):
    largest, total = Online().start(blocks[0][..., :1])
    for scores in blocks:
        raised = Online().raised(largest, scores)
        skip, more = skipped(raised > largest), Online().added(scores, raised)
        total = torch.where(skip, total, total * (largest - raised).exp() + more)
        largest = torch.where(skip, largest, raised)
    return torch.cat([(scores - largest).exp() / total for scores in blocks], dim=-1)


mistake = exercise.section(hint=1)
mistake(
    "the maximum of the last block",
    why="The maximum is that of the latest block, even if an earlier block had a "
    "larger one, and the sum so far is not rescaled to it.",
    look="when a block's scores are all below those of an earlier one, what is the maximum?",
    pairs=0,
    variants=[{"raised": lambda scores: scores.amax(dim=-1, keepdim=True), "rescaled": lambda total: total}],
)
mistake(
    "rescaled to each block's maximum, not the largest",
    why="The maximum is that of the latest block, even if an "
    "earlier block had a larger one. The sum is rescaled to it, but where the maximum falls by a lot, "
    "exponentials become infinite.",
    look="a block of 1000 and then one of 0: what is exp(old - new)?",
    pairs=0,
    raised=lambda scores: scores.amax(dim=-1, keepdim=True),
)
mistake(
    "the sum of the last block",
    why="The sum is that of the last block alone, as when it starts anew with each block.",
    look="`=` or `+=`?",
    grown=lambda added: added,
)
mistake(
    "the last block left out of the sum",
    why="Where there are several blocks, the last one is missing from the "
    "sum, and perhaps from the maximum, as when a loop or slice ends too early.",
    look="after which block are your maximum and sum final?",
    pairs=0,
    first_pass=lambda blocks: blocks[:-1] if len(blocks) > 1 else blocks,
    variants=[lambda blocks: summed_before_the_last(blocks)],
)


def summed_before_the_last(blocks):
    """The maximum of all blocks, and the sum of all but the last."""
    largest = functools.reduce(torch.maximum, (scores.amax(-1, keepdim=True) for scores in blocks))
    total = sum(Online().added(scores, largest) for scores in blocks[:-1] or blocks)
    return torch.cat([Online().weights(scores, largest, total) for scores in blocks], dim=-1)


mistake(
    "the first block left out of the sum",
    why="Where there are several blocks, the first one is missing from the "
    "maximum and the sum, as when a loop or slice starts too late.",
    look="what are your maximum and sum when the first block has been read?",
    pairs=0,
    first_pass=lambda blocks: blocks[1:] if len(blocks) > 1 else blocks,
)
mistake(
    "the first block counted twice",
    why="The first block is added to the sum twice, as when it is counted before "
    "the loop, and again in the loop, which begins with it.",
    look="take a single block of one score: what is your sum, and what should it be?",
    pairs=0,
    first_pass=lambda blocks: [blocks[0], *blocks],
)
mistake(
    "the last partial block dropped",
    why="Blocks that differ in size from the first are left out of the sum, of the weights or of both.",
    look="what happens to a block that is shorter or longer than the first?",
    pairs=0,
    variants=[
        {"first_pass": lambda blocks: whole(blocks), "second_pass": lambda blocks: whole(blocks)},
        {"second_pass": lambda blocks: whole(blocks)},
        {"first_pass": lambda blocks: whole(blocks)},
    ],
)


def whole(blocks):
    return [block for block in blocks if block.shape[-1] == blocks[0].shape[-1]]


mistake(
    "the sum starts at 1",
    why="The sum has a term too many, as when it starts at 1, not at 0, so the weights sum to less than 1.",
    look="what is the sum before any score has been added?",
    pairs=0,
    variants=[
        {"start": lambda column: (torch.zeros_like(column), torch.ones_like(column))},
        {"start": lambda column: (column, torch.ones_like(column))},
        {
            "start": lambda column: (torch.full_like(column, -1e4), torch.ones_like(column)),
            "rescaled": lambda total: total,
        },
        lambda blocks: from_the_first(blocks, blocks),
    ],
)
mistake(
    "a number added to the sum",
    why="A number such as 0.01 is added to the sum, so the weights sum to less than 1.",
    look=LOOK_OFF,
    pairs=0,
    weights=[
        lambda scores, largest, total, more=more: (scores - largest).exp() / (total + more)
        for more in (1e-4, 1e-3, 1e-2, 0.1)
    ],
)
mistake(
    "only the largest of the first block counted",
    why="Of the first block, only the largest score counts in the "
    "sum, as when the sum starts at 1 and the loop at the second block.",
    look="what should the sum be after a first block of several scores?",
    pairs=0,
    variants=[lambda blocks: from_the_first(blocks, blocks[1:])],
)


def from_the_first(blocks, counted):
    largest = blocks[0].amax(dim=-1, keepdim=True)
    total = torch.ones_like(largest)
    for scores in counted:
        raised = Online().raised(largest, scores)
        total = total * (largest - raised).exp() + Online().added(scores, raised)
        largest = raised
    return torch.cat([(scores - largest).exp() / total for scores in blocks], dim=-1)


mistake(
    "the maximum starts too high",
    why="The running maximum is never below 0, or below another number such as "
    "-1e4 or -1e9, as when it starts there. Where all the scores of a row lie far below that, every exponential "
    "is 0, and 0 / 0 gives NaN (not a number).",
    look="with scores of -1e11, which of your numbers become 0? And what is below every score?",
    start=[
        lambda column, low=low: (torch.full_like(column, low), torch.zeros_like(column))
        for low in (0.0, -1e3, -2e3, -5e3, -1e4)
    ],
)
mistake(
    "no maximum subtracted",
    why="No maximum is subtracted, or a later exp undoes it: for scores of 1000 the "
    "exponentials are infinite, and for scores of -1000 they are all 0.",
    look="what is exp(1000)?",
    pairs=0,
    variants=[lambda blocks: without_maximum(blocks), lambda blocks: in_logarithms(blocks)],
)


def in_logarithms(blocks):
    total = functools.reduce(torch.logaddexp, (block.exp().sum(-1, keepdim=True).log() for block in blocks))
    return torch.cat([(block - total).exp() for block in blocks], dim=-1)


def without_maximum(blocks):
    return torch.cat([block.exp() for block in blocks], dim=-1) / sum(
        block.exp().sum(dim=-1, keepdim=True) for block in blocks
    )


mistake(
    "the scores clipped",
    why="Scores beyond a limit are clipped to it, so scores that differ can become equal.",
    look="what happens to the scores before their exponentials are taken, apart from subtracting the maximum?",
    pairs=0,
    variants=[
        lambda blocks, low=low, high=high: Online()([one.clamp(low, high) for one in blocks])
        for limit in LIMITS
        for low, high in ((-limit, limit), (None, limit), (-limit, None))
    ]
    + [
        lambda blocks, limit=limit: without_maximum([one.clamp(max=limit) for one in blocks])
        for limit in LIMITS
        if limit <= 700
    ],
)  # exp(1000) is infinite
mistake(
    "too few digits",
    why="The scores come in float64, but they are converted to a smaller dtype, such as float32. "
    "Of a score of about 1000, it keeps too few digits.",
    pairs=0,
    look="where does the dtype of the scores change?",
    variants=[
        lambda blocks, dtype=dtype: Online()([one.to(dtype).to(one) for one in blocks])
        for dtype in (torch.float, torch.bfloat16, torch.half)
    ],
)
mistake(
    "a number of the first block for all",
    why="The maximum of the first block, or its first score, is subtracted "
    "from all the scores. Others may be so much larger that their exponentials are infinite.",
    look="take a first block of 0 and a second one of 1000: what is subtracted from each?",
    pairs=0,
    variants=[
        {"raised": lambda largest, scores: torch.where(largest.isinf(), scores.amax(-1, keepdim=True), largest)},
        lambda blocks: shifted_by(blocks, blocks[0][..., :1]),
    ],
)

mistake(
    "the mean for the maximum",
    why="A mean of scores, or the largest of several means, is subtracted instead of "
    "the largest score. Scores may lie so far above it that their exponentials are infinite.",
    pairs=0,
    look="what must be subtracted so that no exponent is above 0?",
    variants=[
        lambda blocks: shifted_by(blocks, torch.cat(blocks, -1).mean(-1, keepdim=True)),
        lambda blocks: shifted_by(blocks, torch.stack([one.mean(-1) for one in blocks]).amax(0)[..., None]),
    ],
)


def shifted_by(blocks, amount):
    return torch.cat([(block - amount).exp() for block in blocks], dim=-1) / sum(
        (block - amount).exp().sum(dim=-1, keepdim=True) for block in blocks
    )


mistake(
    "rows of NaN",
    why=ROWS_OF_NAN,
    look=LOOK_ROWS_OF_NAN,
    pairs=0,
    variants=[
        {"raised": lambda largest, scores: torch.maximum(largest, scores[..., :1])},
        {"raised": lambda largest, scores: torch.maximum(largest, scores[..., -1:])},
    ],
)
mistake(
    "one maximum for all rows",
    why="A single maximum, over all rows, is used for every row. In rows that lie far "
    "below it, every exponential becomes 0.",
    look="which dimension does the maximum run over, and what is its shape?",
    pairs=0,
    raised=lambda largest, scores: torch.maximum(largest, scores.max()),
)
mistake(
    "the smallest for the largest",
    why="The smallest score is kept, not the largest, so exponentials may become infinite.",
    look="what must be subtracted so that no exponent is above 0?",
    pairs=0,
    variants=[
        {
            "raised": lambda largest, scores: torch.minimum(
                torch.where(largest.isinf(), torch.inf, largest), scores.amin(dim=-1, keepdim=True)
            )
        }
    ],
)

# The weights
mistake = exercise.section(hint=3)
mistake(
    "a softmax of each block",
    why="Each block gets a softmax of its own, so the weights of each block sum to 1.",
    look="what should all the weights of a row sum to?",
    pairs=0,
    variants=[lambda blocks: torch.cat([block.softmax(dim=-1) for block in blocks], dim=-1)],
)
mistake(
    "a fixed share for each block",
    why="Each block gets a softmax of its own, and a share of the total weight "
    "that does not depend on its scores: the same for every block, or in proportion to its length.",
    look="should a block of low scores get as much as one of high scores?",
    pairs=0,
    variants=[
        lambda blocks: torch.cat([block.softmax(dim=-1) / len(blocks) for block in blocks], dim=-1),
        lambda blocks: (
            torch.cat([block.softmax(dim=-1) * block.shape[-1] for block in blocks], dim=-1)
            / sum(block.shape[-1] for block in blocks)
        ),
    ],
)
mistake(
    "a share by the largest score alone",
    why="Each block gets a softmax of its own, and a share of the total "
    "weight that depends on its largest score alone; its other scores should count as "
    "well.",
    look="two blocks, [5] and [5, 5]: should both get the same share?",
    pairs=0,
    variants=[
        lambda blocks: torch.cat(
            [
                block.softmax(-1) * share[..., None]
                for block, share in zip(
                    blocks, torch.stack([block.amax(-1) for block in blocks], -1).softmax(-1).unbind(-1), strict=True
                )
            ],
            dim=-1,
        )
    ],
)
mistake(
    "divided by the sum so far",
    why="The weights of a block are computed as soon as it comes, and divided by the "
    "sum up to that point. But the sum is complete only after the last block.",
    look="after which block do you know the whole sum?",
    pairs=0,
    variants=[lambda blocks: as_they_come(blocks, keep=False), lambda blocks: as_they_come(blocks, False, later=True)],
)
mistake(
    "exponentials relative to different maxima",
    why="The exponentials of each block are relative to the maximum "
    "up to that point, but they are divided by the final sum, which is relative to the final maximum.",
    look="is the maximum after the first block still the one that the final sum is relative to?",
    pairs=0,
    variants=[lambda blocks: as_they_come(blocks, keep=True)],
)


def as_they_come(blocks, keep, later=False):
    largest, total = Online().start(blocks[0][..., :1])
    parts = []
    for scores in blocks:
        raised = Online().raised(largest, scores)
        total = total * (largest - raised).exp() + Online().added(scores, raised)
        if later:
            parts = [part * (largest - raised).exp() for part in parts]
        largest = raised
        parts.append((scores - largest).exp() / (1 if keep else total))
    return torch.cat(parts, dim=-1) / (total if keep else 1)


mistake(
    "only the block before rescaled",
    why="The exponentials of all blocks are kept, but where the maximum rises, "
    "only those of the previous block are rescaled. The earlier ones remain relative to an older maximum.",
    look="suppose that the maximum rises twice: which maximum are the first block's exponentials relative to?",
    pairs=0,
    variants=[
        lambda blocks: before_rescaled(blocks, whole_sum=True),
        lambda blocks: before_rescaled(blocks, whole_sum=False),
    ],
)


def before_rescaled(blocks, whole_sum):
    largest, total = Online().start(blocks[0][..., :1])
    parts = []
    for scores in blocks:
        raised = Online().raised(largest, scores)
        parts[-1:] = [one * (largest - raised).exp() for one in parts[-1:]]
        parts.append((scores - raised).exp())
        total = total * (largest - raised).exp() + Online().added(scores, raised)
        largest = raised
    return torch.cat(parts, -1) / (total if whole_sum else torch.cat(parts, -1).sum(-1, keepdim=True))


mistake(
    "another maximum in the weights",
    why="The sum is right, and relative to the largest score of all. But in the "
    "weights, the largest score of only some of the blocks is subtracted, for instance of the last or the first.",
    look="once all the blocks have been read, which of your variables holds the maximum that the sum is relative to?",
    pairs=0,
    variants=[
        lambda blocks, some=some: weighed_by(blocks, torch.cat(some(blocks), -1).amax(-1, keepdim=True))
        for some in (
            lambda blocks: blocks[-1:],
            lambda blocks: blocks[:1],
            lambda blocks: blocks[:-1] or blocks,
            lambda blocks: blocks[1:] or blocks,
        )
    ],
)


def weighed_by(blocks, subtracted):
    largest = torch.cat(blocks, -1).amax(-1, keepdim=True)
    total = sum(Online().added(scores, largest) for scores in blocks)
    return torch.cat([(scores - subtracted).exp() / total for scores in blocks], dim=-1)


mistake(
    "each block relative to its own maximum",
    why="When the weights are computed, each block has its own maximum subtracted, but all blocks need the same one.",
    look="take two blocks, 0 and 5: which should get more weight?",
    pairs=2,
    weights=lambda scores, total: (scores - scores.amax(-1, keepdim=True)).exp() / total,
    variants=[
        {
            "added": lambda scores: (scores - scores.amax(-1, keepdim=True)).exp().sum(-1, keepdim=True),
            "rescaled": lambda total: total,
            "weights": lambda scores, total: (scores - scores.amax(-1, keepdim=True)).exp() / total,
        }
    ],
)
mistake(
    "the sum of each block relative to its own maximum",
    why="Each block's exponentials are added up relative to "
    "its own maximum, and these sums are added as if they were relative to the same one.",
    look="take two blocks, 0 and 5: what should the sum be?",
    pairs=2,
    added=lambda scores: (scores - scores.amax(-1, keepdim=True)).exp().sum(-1, keepdim=True),
    variants=[
        {
            "added": lambda scores: (scores - scores.amax(-1, keepdim=True)).exp().sum(-1, keepdim=True),
            "rescaled": lambda total: total,
        }
    ],
)
mistake(
    "the weights not divided by the sum",
    why="The exponentials come back without being divided by the sum, so the weights do not sum to 1.",
    look="what should all the weights of a row sum to?",
    weights=lambda scores, largest: (scores - largest).exp(),
)
mistake(
    "the maximum missing in the weights",
    why="The sum adds up exp(score - maximum), but the weights are computed from exp(score).",
    look="is the same number subtracted in numerator and denominator?",
    pairs=2,
    weights=[lambda scores, total: scores.exp() / total],
)
mistake(
    "no exponential in the weights",
    why="The exponential is missing from the weights: what comes back is their logarithms, or (score - maximum) / sum.",
    look="what should all the weights of a row sum to?",
    pairs=2,
    weights=[
        lambda scores, largest, total: scores - largest - total.log(),
        lambda scores, largest, total: (scores - largest) / total,
    ],
)
mistake(
    "the scores divided by the sum",
    why="The scores themselves are divided by the sum, not their exponentials.",
    look="which function turns scores into positive numbers?",
    weights=lambda scores, total: scores / total,
)
mistake(
    "the mean for the sum",
    why="The exponentials of a block are averaged, not added up.",
    look="what should all the weights of a row sum to?",
    pairs=0,
    added=lambda scores, raised: (scores - raised).exp().mean(dim=-1, keepdim=True),
)
mistake(
    "one softmax for all the rows",
    why="The maximum and the sum are taken over all the rows together, so the "
    "weights of all the rows together sum to 1.",
    look="what should the weights of each row sum to?",
    pairs=0,
    variants=[lambda blocks: torch.cat(blocks, -1).flatten().softmax(0).reshape(torch.cat(blocks, -1).shape)],
)
mistake(
    "the softmax over the rows",
    why="The maximum and the sum run over the rows, not over the scores of a row.",
    look="the weights of one row must sum to 1. Which dimension holds them?",
    pairs=0,
    variants=[lambda blocks: torch.cat(blocks, -1).softmax(0)],
)
mistake(
    "a list of blocks",
    why="The weights come back block by block, in a list; one tensor is expected.",
    look="which function joins tensors along a dimension?",
    joined=lambda parts: parts,
)
mistake(
    "the blocks in another order",
    why="The weights are in a different order from the scores.",
    look="the order in which the blocks are joined.",
    pairs=0,
    joined=lambda parts: torch.cat(parts[::-1], dim=-1),
)
mistake(
    "joined along the rows",
    why="The weights of the blocks are put below each other, not side by side.",
    pairs=0,
    look="which dimension should grow?",
    joined=[lambda parts: torch.cat(parts, dim=0), lambda parts: torch.stack(parts)],
)
mistake(
    "only the last block",
    why="Only the weights of the last block come back.",
    look="where are the weights of the earlier blocks kept?",
    joined=lambda parts: parts[-1],
)
mistake(
    "maximum and sum returned",
    why="The maximum and the sum (or its logarithm) are returned; the weights are expected.",
    look="the `return` line.",
    pairs=0,
    variants=[
        lambda blocks: (torch.cat(blocks, -1).amax(-1), torch.cat(blocks, -1).logsumexp(-1)),
        lambda blocks: in_one_pass(blocks),
        lambda blocks: tuple(one[..., 0] for one in in_one_pass(blocks)),
    ],
)


def in_one_pass(blocks):
    largest, total = Online().start(blocks[0][..., :1])
    for scores in blocks:
        raised = Online().raised(largest, scores)
        largest, total = raised, Online().rescaled(total, largest, raised) + Online().added(scores, raised)
    return largest, total


# Shapes
mistake(
    "no keepdim",
    why="A maximum or a sum over the last dimension drops that dimension. With several rows, each of "
    "the resulting numbers then lines up with a column of scores, not with a row.",
    look="what is the shape of the maximum, with and without `keepdim=True`?",
    pairs=0,
    variants=[
        lambda blocks: without_keepdim(blocks, torch.tensor(-torch.inf, dtype=blocks[0].dtype), 0),
        lambda blocks: without_keepdim(blocks, blocks[0].amax(-1), torch.zeros(blocks[0].shape[:-1])),
    ],
)


def without_keepdim(blocks, largest, total):
    for scores in blocks:
        raised = torch.maximum(largest, scores.amax(dim=-1))
        total = total * (largest - raised).exp() + (scores - raised).exp().sum(dim=-1)
        largest = raised
    return torch.cat([(scores - largest).exp() / total for scores in blocks], dim=-1)


mistake(
    "blocks of equal size only",
    why="Your code works only if all blocks have the same size, as `torch.stack` "
    "requires. In the exercise, their sizes may differ.",
    look="which function can put a block of three scores and a block of one side by side?",
    pairs=0,
    joined=lambda parts: torch.stack(parts, dim=-2).flatten(-2),
)
mistake(
    "a fixed number of dimensions",
    why="Your code works only for a certain number of leading dimensions; there may be any number of them, or none.",
    look="how can you name the last dimension, however many come before it?",
    pairs=0,
    variants=[
        lambda blocks: along_1(blocks),
        lambda blocks: for_one_row(blocks),
        *(lambda blocks, count=count: of_dimensions(blocks, count) for count in (2, 3)),
    ],
)


def along_1(blocks):
    largest, total = Online().start(blocks[0][:, :1])
    for scores in blocks:
        raised = torch.maximum(largest, scores.amax(dim=1, keepdim=True))
        total = total * (largest - raised).exp() + (scores - raised).exp().sum(dim=1, keepdim=True)
        largest = raised
    return torch.cat([(scores - largest).exp() / total for scores in blocks], dim=1)


def for_one_row(blocks):
    largest = max([-math.inf, *(score for scores in blocks for score in scores.tolist())])
    return Online()(blocks) if math.isfinite(largest) else blocks[0]


def of_dimensions(blocks, count):
    if blocks[0].dim() != count:
        raise ValueError
    return Online()(blocks)


mistake(
    "all the scores at once",
    hint=1,
    why=AT_ONCE,
    look=LOOK_AT_ONCE,
    pairs=0,
    variants=[lambda blocks: torch.cat(blocks, dim=-1).softmax(dim=-1)],
)
mistake(
    "a sum slightly off",
    hint=1,
    why=OFF,
    look=LOOK_OFF,
    pairs=0,
    weights=lambda scores, largest, total: (scores - largest).exp() / (total + 1e-6),
)
mistake("three passes", hint=2, why=THREE, look=LOOK_THREE, pairs=0, variants=[lambda blocks: three_passes(blocks)])


def three_passes(blocks):
    largest = torch.stack([block.amax(dim=-1) for block in blocks]).amax(dim=0)[..., None]
    total = sum((block - largest).exp().sum(dim=-1, keepdim=True) for block in blocks)
    return torch.cat([(block - largest).exp() / total for block in blocks], dim=-1)
