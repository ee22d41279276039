"""tiled_attention, of lesson 12: causal attention that never holds the whole table of scores."""

import math

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.catalogue import attention_family as shared
from transformer_lessons.exercises.catalogue.attend_with_cache import ADDED, NOT_HERE, zeros_hidden
from transformer_lessons.exercises.catalogue.online_softmax import (
    LIMITS,
    LOOK_ROWS_OF_NAN,
    ROWS_OF_NAN,
    far_below,
    signs_of_lost_rows,
)
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, Watching, normal, replacement
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

exercise = Exercise(
    name="tiled_attention",
    lesson=12,
    title="Attention in tiles",
    difficulty=3,
    importance=3,
    minutes=20,
    contract="""
        tiled_attention(query, key, value, block) returns the output (…, length, d_v) of causal scaled dot-product
        attention, in which position i attends to the positions up to i. query and key are (…, length, d_head), and
        value is (…, length, d_v), with any leading dimensions. Compute the scores tile by tile, with at most block
        queries and block keys in each tile. (Larger pieces are accepted, too, if they have at most block rows or at
        most block columns.) block is at least 1. It need not divide length, and it may exceed length. If block is
        smaller than length, never make a tensor of length × length elements, either for scores or for a mask. The
        function must work for scores of any magnitude. The inputs stay as they are.
        """,
    stub='''
        def tiled_attention(query, key, value, block):
            """Causal attention, tile by tile, without a table of length × length."""
            raise NotImplementedError
        ''',
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
    checks=[never_the_whole_table, sums_to_one],
    signs=lambda observed, expected, *inputs: signs_of_lost_rows(observed, expected),
    hints=[
        (
            "how to begin",
            "Take one block of queries. For each of its rows, keep three things: the largest score so "
            "far, the sum of the exponentials and the weighted sum of the values. "
            "Go through the blocks of keys in order.",
        ),
        (
            "when the maximum rises",
            "Both sums so far were computed with the old maximum. So multiply both by "
            "exp(old - new) before you add the new tile. Divide only once, after the last tile.",
        ),
        (
            "who sees whom",
            "Every query in a block sees all the keys before the block, and no query sees the keys "
            "after it. Only the tile on the diagonal needs a mask: its row i sees its columns up to i.",
        ),
    ],
    solution="""
        import math

        import torch


        def tiled_attention(query, key, value, block):
            outputs, length = [], query.shape[-2]
            for start in range(0, length, block):
                rows = query[..., start : start + block, :] / math.sqrt(query.shape[-1])
                largest, total, summed = torch.full_like(rows[..., :1], -torch.inf), 0.0, 0.0
                for left in range(0, start + 1, block):
                    scores = rows @ key[..., left : left + block, :].mT
                    if left == start:
                        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
                        scores = scores.masked_fill(future, -torch.inf)
                    raised = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
                    shrink, weights = (largest - raised).exp(), (scores - raised).exp()
                    total = total * shrink + weights.sum(dim=-1, keepdim=True)
                    summed = summed * shrink + weights @ value[..., left : left + block, :]
                    largest = raised
                outputs.append(summed / total)
            return torch.cat(outputs, dim=-2)
        """,
)


class Whole(shared.Attending, Steps):
    """The same numbers from a whole table, for mistakes with scores, weights and values, which need no tiles.

    A mistake with the tiles replaces `made`, so that it can be tried together with another scale.
    """

    def __call__(self, query, key, value, block):
        return self.made(self.asked(query), key, value, block)

    def asked(self, query):
        return query

    def made(self, query, key, value, block):
        return self.attend(query, key, value)[0]

    def attend(self, query, key, value):
        query, key, value = self.roles(query, key, value)
        scaled = self.scaled(self.scores(query, key, value), query, key, value)
        weights = self.weights(self.visible(self.masked(scaled)))
        return self.output(weights, value, query), weights

    def scores(self, query, key, value):
        return query @ key.mT

    def scaled(self, scores, query, key, value):
        return scores / math.sqrt(query.shape[-1])

    def visible(self, masked):
        return masked.masked_fill(torch.ones(masked.shape[-2:]).triu(1) == 1, -torch.inf)

    def weights(self, scaled):
        return scaled.softmax(dim=-1)

    def output(self, weights, value, query):
        return weights @ value


exercise.steps = Whole


@exercise.right("tile by tile")
class Tiles(Steps):
    def __call__(self, query, key, value, block):
        length, outputs = query.shape[-2], []
        for start in self.starts(length, block):
            rows = self.rows(query, start, block) * self.scale(query, value, block)
            largest, total, summed = self.begin(rows, value)
            for left in self.tiles(start, block, length):
                scores = self.masked(rows @ key[..., left : left + block, :].mT, start, left)
                raised = self.raised(largest, scores)
                weights = self.weights(scores, raised)
                shrink = self.shrink(largest, raised)
                total = self.total(total, shrink, weights)
                summed = self.summed(summed, shrink, weights, value[..., left : left + block, :], total)
                largest = raised
            outputs.append(self.divided(summed, total))
        return self.joined(outputs)

    def starts(self, length, block):
        return range(0, length, block)

    def rows(self, query, start, block):
        return query[..., start : start + block, :]

    def scale(self, query, value, block):
        return query.shape[-1] ** -0.5

    def begin(self, rows, value):
        column = rows[..., :1]
        return torch.full_like(column, -torch.inf), torch.zeros_like(column), column * 0 * value[..., :1, :]

    def tiles(self, start, block, length):
        return range(0, start + 1, block)

    def masked(self, scores, start, left):
        return scores.masked_fill(~seen(scores, start, left), -torch.inf)

    def raised(self, largest, scores):
        return torch.maximum(largest, scores.amax(dim=-1, keepdim=True))

    def weights(self, scores, raised):
        return (scores - raised).exp()

    def shrink(self, largest, raised):
        return (largest - raised).exp()

    def total(self, total, shrink, weights):
        return total * shrink + weights.sum(dim=-1, keepdim=True)

    def summed(self, summed, shrink, weights, values, total):
        return summed * shrink + weights @ values

    def divided(self, summed, total):
        return summed / total

    def joined(self, outputs):
        return torch.cat(outputs, dim=-2)


def seen(scores, start, left, ahead=0):
    """Which of a tile's keys each of its queries may see."""
    rows, columns = torch.arange(scores.shape[-2]) + start, torch.arange(scores.shape[-1]) + left
    return columns <= rows[:, None] + ahead


def tiled(**replaced):
    """The right answer with other steps."""
    variant = type("Variant", (Tiles,), {})
    for name, function in replaced.items():
        setattr(variant, name, replacement(variant, name, function))
    return {"made": lambda query, key, value, block: variant()(query, key, value, block)}


ALL_TILES = {"tiles": lambda length, block: range(0, length, block)}  # those in the future too: masked throughout

# What is kept of the tiles so far
mistake = exercise.section(hint=2)
BOTH = "take two tiles of one score each, 0 and 5: what should each of the two sums be after the second?"
mistake(
    "the sum not rescaled",
    why="When a tile raises the maximum, the sum of the exponentials stays as it was, "
    "relative to the old maximum. Only the weighted sum of the values is rescaled.",
    look=BOTH,
    variants=[tiled(total=lambda total, weights: total + weights.sum(-1, keepdim=True))],
)
mistake(
    "the output not rescaled",
    why="When a tile raises the maximum, the weighted sum of the values stays as it "
    "was. Only the sum of the exponentials is rescaled.",
    look=BOTH,
    variants=[tiled(summed=lambda summed, weights, values: summed + weights @ values)],
)
mistake(
    "nothing rescaled",
    why="When a tile raises the maximum, neither of the two sums so far is rescaled to it. "
    "Both are still relative to the old one.",
    look=BOTH + " And is the old maximum still there when you need it?",
    variants=[tiled(shrink=lambda right: torch.ones_like(right))],
)
mistake(
    "NaN throughout",
    why="Whole rows are NaN (not a number), as after inf - inf, inf · 0 or 0 / 0. This happens, "
    "for instance, when a maximum of -inf enters exp(new - old), or when a row has no key at all.",
    look="what are the maximum and the factor in the first tile of each row?",
    variants=[tiled(shrink=lambda largest, raised: (raised - largest).exp())],
)
mistake(
    "a tile in the future comes first",
    why="A row is NaN (not a number) wherever a whole tile lies in its "
    "future, as when such a tile comes first: the running maximum is then still -inf, and -inf - (-inf) gives NaN.",
    look="which blocks of keys may the first query see, and in which order do they come?",
    variants=[tiled(tiles=lambda length, block: reversed(range(0, length, block)))],
)
mistake(
    "rescaled the wrong way",
    why="The sums so far are multiplied by exp(new - old), so they grow where they should shrink.",
    look=BOTH,
    variants=[
        tiled(shrink=lambda right, largest, raised: torch.where(largest.isinf(), right, 1 / right)),
        tiled(shrink=lambda largest, raised: (raised - largest).exp(), begin=lambda right: (0 * right[1], *right[1:])),
    ],
)
mistake = exercise.section(hint=2, pairs=0)
FROM_1 = {"shrink": lambda right, largest: torch.where(largest.isinf(), 1.0, right)}  # the first tile stays as it is
mistake(
    "the new tile rescaled, too",
    why="What the new tile adds to the sums, or to one of them, is multiplied by the "
    "factor as well, although it is already relative to the new maximum.",
    look="which part of each sum was computed with the old maximum?",
    variants=[
        tiled(**FROM_1, **steps)
        for steps in (
            {
                "total": lambda total, shrink, weights: (total + weights.sum(-1, keepdim=True)) * shrink,
                "summed": lambda summed, shrink, weights, values: (summed + weights @ values) * shrink,
            },
            {"total": lambda total, shrink, weights: (total + weights.sum(-1, keepdim=True)) * shrink},
            {"summed": lambda summed, shrink, weights, values: (summed + weights @ values) * shrink},
        )
    ],
)
mistake(
    "the new tile rescaled, not the sums so far",
    why="The factor is applied to what the new tile adds; the sums so far stay as they were.",
    look="which part of each sum was computed with the old maximum?",
    variants=[
        tiled(
            total=lambda total, shrink, weights: total + weights.sum(-1, keepdim=True) * shrink,
            summed=lambda summed, shrink, weights, values: summed + weights @ values * shrink,
            **first,
        )
        for first in (FROM_1, {})
    ],
)
mistake(
    "not reset for the next block of queries",
    why="When the first tile of a new block of queries comes, the "
    "maximum and the sums, or some of them, are still those of the previous block.",
    look="what must be reset for each block of queries, and in which loop does that happen?",
    variants=[lambda *inputs, kept=kept: looped(*inputs, kept=kept) for kept in ((0, 1, 2), (0,), (0, 1), (0, 2))],
)
mistake(
    "scaled again in every tile",
    why="There is one more division by √d in each further tile, as when the queries "
    "are scaled again, so the scores get smaller from tile to tile.",
    look="how often is a block of queries divided by √d before it meets its last tile?",
    variants=[lambda *inputs: looped(*inputs, again=True)],
)
mistake(
    "the values of another block",
    why="The weights of a block of keys are multiplied by the values of another "
    "block, such as the queries' own or the first.",
    look="which indices slice the values, and which ones the keys?",
    variants=[
        lambda *inputs: looped(*inputs, place=lambda start, left: start),
        lambda *inputs: looped(*inputs, place=lambda start, left: 0),
    ],
)


def looped(query, key, value, block, kept=(), again=False, place=lambda start, left: left):
    """Tile by tile, with what each block of queries takes over from the one before, and where it finds its values."""
    outputs, state = [], []
    for start in range(0, query.shape[-2], block):
        rows = query[..., start : start + block, :]
        fresh = Tiles().begin(rows, value)
        largest, total, summed = (
            state[n][..., : rows.shape[-2], :] if state and n in kept else fresh[n] for n in range(3)
        )
        for number, left in enumerate(range(0, start + 1, block)):
            scores = rows @ key[..., left : left + block, :].mT * query.shape[-1] ** (-0.5 * (1 + number * again))
            scores = scores.masked_fill(~seen(scores, start, left), -torch.inf)
            raised = torch.maximum(largest, scores.amax(-1, keepdim=True))
            values = value[..., place(start, left) :, :][..., : min(block, scores.shape[-1]), :]
            weights, shrink = (scores - raised).exp()[..., : values.shape[-2]], (largest - raised).exp()
            total = total * shrink + weights.sum(-1, keepdim=True)
            summed, largest = summed * shrink + weights @ values, raised
        state = largest, total, summed
        outputs.append(summed / total)
    return torch.cat(outputs, dim=-2)


mistake = exercise.section(hint=2)
mistake(
    "a softmax of each tile, averaged",
    why="Each tile gets a softmax of its own, and the outputs of the tiles are "
    "averaged, equally or in proportion to their numbers of keys. So how much a tile counts does not depend on its "
    "scores.",
    look="should a tile of low scores count as much as one of high scores?",
    variants=[
        lambda *inputs: by_tiles(*inputs, lambda parts, counts: sum(parts) / len(parts)),
        lambda *inputs: by_tiles(
            *inputs,
            lambda parts, counts: sum(part * count for part, count in zip(parts, counts, strict=True)) / sum(counts),
        ),
    ],
)
mistake(
    "a softmax of each tile, added up",
    why="Each tile gets a softmax of its own, and the outputs of the tiles are "
    "added up. So the weights of a row sum to its number of tiles.",
    look="what should all the weights of a row sum to?",
    variants=[lambda *inputs: by_tiles(*inputs, lambda parts, counts: sum(parts))],
)
mistake(
    "only its own tile of keys",
    why="Each block of queries uses only its own block of keys, as when it never "
    "meets the earlier ones, or when each tile overwrites the result of those before.",
    look="which blocks of keys should the last block of queries meet, and what is left of the first of them at the "
    "end?",
    variants=[tiled(tiles=lambda start: [start])],
)
mistake(
    "only the first tile",
    why="Each block of queries meets only the first block of keys.",
    look="which blocks of keys should the last block of queries meet?",
    variants=[tiled(tiles=lambda start: [0])],
)


def by_tiles(query, key, value, block, together):
    outputs = []
    for start in range(0, query.shape[-2], block):
        rows, parts, counts = query[..., start : start + block, :] / math.sqrt(query.shape[-1]), [], []
        for left in range(0, start + 1, block):
            scores = rows @ key[..., left : left + block, :].mT
            scores = scores.masked_fill(~seen(scores, start, left), -torch.inf)
            parts.append(scores.softmax(-1) @ value[..., left : left + block, :])
            counts.append((scores > -torch.inf).sum(-1, keepdim=True))
        outputs.append(together(parts, counts))
    return torch.cat(outputs, dim=-2)


mistake(
    "divided in every tile",
    why="There is a division by the sum in every tile, although the sum is complete only after the last one.",
    look="how many divisions are there for one row?",
    variants=[
        tiled(summed=lambda right, total: right / total, divided=lambda summed: summed),
        tiled(summed=lambda right, total: right / total),
        tiled(summed=lambda right, total: right / total, divided=lambda summed: summed, **ALL_TILES),
        tiled(summed=lambda right, total: right / total, **ALL_TILES),
        tiled(
            summed=lambda summed, shrink, weights, values, total: summed * shrink + weights @ values / total,
            divided=lambda summed: summed,
        ),
    ],
)
mistake(
    "divided by the sum of the last tile",
    why="The sum of the exponentials is that of the last tile alone, as when it starts anew with each tile.",
    look="`=` or `+=`?",
    variants=[tiled(total=lambda weights: weights.sum(-1, keepdim=True))],
)
mistake(
    "the values of the last tile alone",
    why="The weighted sum of the values is that of the last tile alone, as when it starts anew with each tile.",
    look="`=` or `+=`?",
    variants=[tiled(summed=lambda weights, values: weights @ values)],
)
mistake(
    "no maximum subtracted",
    why="No maximum is subtracted: for scores of 1000 the exponentials are infinite, and "
    "for scores of -1000 they are all 0.",
    look="what is exp(1000)?",
    variants=[
        tiled(raised=lambda scores: 0 * scores[..., :1].nan_to_num(neginf=0.0)),
        lambda *inputs: multiplied_by_the_mask(*inputs),
    ],
)


def multiplied_by_the_mask(query, key, value, block):
    """Keys outside, all queries inside: the exponentials of forbidden scores may be infinite, and are set to 0."""
    total = summed = 0.0
    for left in range(0, query.shape[-2], block):
        scores = query @ key[..., left : left + block, :].mT / math.sqrt(query.shape[-1])
        weights = scores.exp() * seen(scores, 0, left)
        total, summed = total + weights.sum(-1, keepdim=True), summed + weights @ value[..., left : left + block, :]
    return summed / total


mistake(
    "the maximum starts too high",
    why="The running maximum is never below 0, or below another number such as "
    "-1e4 or -1e9, as when it starts there. Where all the scores of a row lie far below that, every exponential "
    "is 0, and 0 / 0 gives NaN (not a number).",
    look="with scores of -1e11, which of your numbers become 0? And what is below every score?",
    variants=[tiled(begin=lambda right, low=low: (0 * right[1] + low, *right[1:])) for low in (0.0, -1e3, -2e3, -1e4)],
)
mistake(
    "the maximum of the last tile, unrescaled",
    why="The exponentials of each tile are relative to its own "
    "maximum, even when an earlier one was larger, and the sums so far are not rescaled to it.",
    look="to which maximum are the two sums so far relative?",
    variants=[tiled(raised=lambda scores: scores.amax(-1, keepdim=True), shrink=lambda right: torch.ones_like(right))],
)
mistake(
    "each tile relative to its own maximum",
    why="The exponentials of each tile are relative to its own maximum, "
    "but both sums are kept relative to the largest so far. Where a tile is lower than an earlier one, it counts "
    "too much.",
    look="take two tiles of one score each, 5 and 0: what should the second add to the sum?",
    variants=[tiled(weights=lambda scores: (scores - scores.amax(-1, keepdim=True)).exp())],
)
mistake(
    "one maximum for all rows",
    why="A single maximum is used for all the rows of a tile. In rows that lie far "
    "below it, every exponential becomes 0.",
    look="which dimension does the maximum run over, and what is its shape?",
    variants=[tiled(raised=lambda largest, scores: torch.maximum(largest, scores.max()))],
)
mistake(
    "rows of NaN",
    why=ROWS_OF_NAN,
    look=LOOK_ROWS_OF_NAN,
    variants=[
        tiled(raised=lambda largest, scores: torch.maximum(largest, scores.amax((-2, -1), keepdim=True))),
        tiled(raised=lambda largest, scores: torch.maximum(largest, scores[..., :1])),
    ],
)
mistake(
    "the sum of the exponentials starts at 1",
    why="The sum of the exponentials has a term too many, as when it "
    "starts at 1, so the weights of a row sum to less than 1.",
    look="what is the sum before any score has been added?",
    variants=[tiled(begin=lambda right: (0 * right[1], right[1] + 1, right[2]))],
)

# Who sees whom


def low_score(low, **more):
    return tiled(masked=lambda scores, start, left: scores.masked_fill(~seen(scores, start, left), low), **more)


mistake = exercise.section(hint=3)
mistake(
    "no mask",
    why="Every position attends to all positions, the future included.",
    look="which tiles must a block of queries not see, and which may it see only in part?",
    variants=[tiled(masked=lambda scores: scores, tiles=lambda length, block: range(0, length, block))],
)
mistake(
    "tiles in the future not left out",
    why="The tile on the diagonal is masked, but tiles that lie in the future are used as they are.",
    look="which tiles must a block of queries not see at all?",
    variants=[tiled(masked=lambda right, scores, start, left: right if start == left else scores, **ALL_TILES)],
)
mistake(
    "the tile on the diagonal not masked",
    why="Tiles in the future are left out, but in the tile on the diagonal, "
    "a query also sees the keys that come after it.",
    look="the first query of a block: may it see the last key of the same block? If there is a mask: is its result "
    "used?",
    variants=[tiled(masked=lambda scores: scores)],
)
mistake(
    "the last partial tile not masked",
    why="The tile on the diagonal is masked only if it is as large as the "
    "block. Where the last one is smaller, its queries also see the keys that come after them.",
    look="a length of 5 and blocks of 3: which keys may the fourth query see?",
    variants=[lambda *inputs: full_masked(*inputs)],
)


def full_masked(query, key, value, block):
    return tiled(masked=lambda right, scores: right if scores.shape[-1] == block else scores)["made"](
        query, key, value, block
    )


mistake(
    "the mask added to the scores",
    *ADDED,
    variants=[
        tiled(masked=lambda scores, start, left, one=one: scores + one * seen(scores, start, left), **more)
        for more in ({}, {"tiles": lambda length, block: range(0, length, block)})
        for one in (1, -1)
    ],
)
mistake(
    "the maximum taken before the mask",
    why="The maximum is taken before the mask is applied, so it may belong to "
    "a key of the future. Where that key's score is far above the others, every allowed exponential is 0, and so "
    "is their sum.",
    look="which scores should the maximum of a row run over?",
    variants=[
        lambda *inputs, more=more: masked_late(*inputs, **more)
        for more in ({}, {"whole": True}, *({"small": small} for small in (1e-12, 1e-9, 1e-8, 1e-6)))
    ],
)


def masked_late(query, key, value, block, whole=False, small=0.0):
    outputs, length = [], query.shape[-2]
    for start in range(0, length, block):
        end = length if whole else min(start + block, length)
        scores = query[..., start : start + block, :] @ key[..., :end, :].mT / math.sqrt(query.shape[-1])
        weights = (scores - scores.amax(-1, keepdim=True)).exp() * seen(scores, start, 0)
        outputs.append(weights @ value[..., :end, :] / (weights.sum(-1, keepdim=True) + small))
    return torch.cat(outputs, dim=-2)


mistake(
    "the tile on the diagonal left out",
    why="Where there are blocks before it, a block of queries sees only those, not its own.",
    look="may a query see itself? And what does the first block see?",
    variants=[
        tiled(tiles=lambda start, block: range(0, start, block)),
        tiled(tiles=lambda start, block: range(0, start, block), divided=lambda right: right.nan_to_num(0.0)),
        tiled(
            tiles=lambda start, block: range(0, max(start, 1), block),
            masked=lambda scores, start: scores if start else scores.masked_fill(~seen(scores, 0, 0), -torch.inf),
        ),
    ],
)
mistake(
    "a triangle in every tile",
    why="Every tile is masked with the same triangle, so a query also misses keys in earlier blocks.",
    look="if a tile of keys lies wholly in the past, which of its keys may be seen?",
    variants=[tiled(masked=lambda scores: scores.masked_fill(~seen(scores, 0, 0), -torch.inf))],
)
mistake(
    "positions counted within the block",
    why="Tiles are masked as if one of the two positions that are compared, "
    "the query's or the key's, started again at 0 in every block.",
    look="what are the positions of the first row and the first column of the second tile?",
    variants=[
        tiled(masked=lambda scores, start: scores.masked_fill(~seen(scores, start, 0), -torch.inf)),
        tiled(masked=lambda scores, left: scores.masked_fill(~seen(scores, 0, left), -torch.inf)),
        *(
            tiled(masked=lambda scores, left, low=low: scores.masked_fill(~seen(scores, 0, left), low))
            for low in (-1e9, -1e30)
        ),
    ],
)
mistake(
    "every query of a block sees only what its first may see",
    why="For every query of a block, the keys end at "
    "the block's first query, so the later queries miss the keys in between, and themselves.",
    look="where should the keys end for the second query of a block? And how many rows does the mask of a tile need?",
    variants=[
        tiled(
            masked=lambda scores, start, left: scores.masked_fill(
                torch.arange(scores.shape[-1]) + left > start, -torch.inf
            )
        )
    ],
)
mistake(
    "one step into the future",
    why="Each position also attends to the one right after it, at least where both are in the same block.",
    look="the number that you give to tril or triu, or compare positions with.",
    variants=[
        tiled(masked=lambda scores, start, left: scores.masked_fill(~seen(scores, start, left, 1), -torch.inf)),
        tiled(
            masked=lambda scores, start, left: scores.masked_fill(~seen(scores, start, left, 1), -torch.inf),
            tiles=lambda length, block: range(0, length, block),
        ),
    ],
)
mistake(
    "the diagonal missing",
    why="Positions attend to what came before them, but not to themselves. The first one "
    "then has nothing to attend to, unless it is treated separately.",
    look="`<` or `<=`?",
    variants=[
        tiled(masked=lambda scores, start, left: scores.masked_fill(~seen(scores, start, left, -1), -torch.inf)),
        tiled(
            masked=lambda scores, start, left: scores.masked_fill(~seen(scores, start, left, -1), -torch.inf),
            divided=lambda right: right.nan_to_num(0.0),
        ),
        *(
            tiled(masked=lambda scores, start, left, low=low: scores.masked_fill(~seen(scores, start, left, -1), low))
            for low in (-1e9, -1e30)
        ),
        tiled(
            masked=lambda scores, start, left: scores.masked_fill(
                ~(
                    seen(scores, start, left, -1)
                    | (torch.arange(scores.shape[-2])[:, None] + torch.arange(scores.shape[-1]) + start + left == 0)
                ),
                -torch.inf,
            )
        ),
    ],
)
mistake(
    "the future for the past",
    why="The keys that come before a position are hidden from it, not those that come "
    "after it, as when the mask is transposed.",
    look="each row is a query: what may the first one see?",
    variants=[
        tiled(
            masked=lambda scores, start, left: scores.masked_fill(seen(scores, start, left, -1), -torch.inf),
            tiles=lambda start, block, length: range(start, length, block),
        ),
        tiled(masked=lambda scores, start, left: scores.masked_fill(seen(scores, start, left, -1), -torch.inf)),
    ],
)
mistake(
    "the tiles of the future for those of the past",
    pairs=0,
    why="Each block of queries meets its own block of keys and those after it; the earlier ones are skipped.",
    look="which blocks of keys may the last block of queries meet?",
    variants=[
        tiled(tiles=lambda start, block, length: range(start, length, block), masked=one)
        for one in (lambda scores: scores, lambda right, scores, start, left: right if start == left else scores)
    ],
)
mistake(
    "a score of 0 for the forbidden",
    why="Forbidden scores become 0, and exp(0) is 1, so the future still gets weight.",
    look="which score has an exponential of exactly 0?",
    variants=[
        tiled(masked=lambda scores, start, left: scores * seen(scores, start, left)),
        tiled(
            masked=lambda scores, start, left: scores * seen(scores, start, left),
            tiles=lambda length, block: range(0, length, block),
        ),
    ],
)
mistake(
    "a score of 0 taken for masked",
    why="A score of exactly 0 is taken for a masked one. But an allowed score may "
    "be 0 too: for a query of zeros, all of them are.",
    look="`== 0` after `tril` or a product with the mask: which other scores can be 0?",
    variants=[
        tiled(masked=lambda scores, start, left, low=low: zeros_hidden(scores * seen(scores, start, left), low), **more)
        for low in (-torch.inf, -1e9)
        for more in ({}, ALL_TILES)
    ],
)
mistake(
    "a number too small for the forbidden",
    pairs=2,
    why="Forbidden scores are replaced by a number such as -10, "
    "-1e4 or -1e9, or have such a number added. Where the allowed scores are low enough, the forbidden "
    "ones still get weight.",
    look="what if the scores are about -1e11? Which number is below every score, and has an exponential of exactly 0?",
    variants=[
        low_score(low, **more)
        for low in (-1e4, -1.0, -5.0, -10.0, -20.0, -100.0, -1e3, -2e3)
        for more in ({}, ALL_TILES)
    ]
    + [
        tiled(masked=lambda scores, start, left, low=low: scores + low * ~seen(scores, start, left), **more)
        for low in (-1e4, -1e3, -10.0)
        for more in ({}, ALL_TILES)
    ]
    + [
        low_score(low, begin=lambda right, low=low: (0 * right[1] + low, *right[1:]), **more)
        for low in (-100.0, -1e3, -2e3, -1e4)
        for more in ({}, ALL_TILES)
    ],
)
mistake(
    "only the last two tiles",
    why="A block of queries sees its own block and the one before it, but none further back.",
    look="how many blocks of keys should the third block of queries meet?",
    variants=[tiled(tiles=lambda start, block: range(max(0, start - block), start + 1, block))],
)
mistake(
    "the first tile left out",
    why="All blocks of queries but the first miss the first block of keys, as when a loop or slice starts too late.",
    look="with which block of keys should each block of queries begin?",
    variants=[tiled(tiles=lambda right, start, block: range(block, start + 1, block) if start else right)],
)

# Blocks that are not full, and what comes back
mistake = exercise.section(hint=1, pairs=0)
mistake(
    "the last partial block dropped",
    why="Where `block` does not divide the length, the last, shorter block is left out.",
    look="what does `length // block` give when the last block is not full?",
    variants=[
        tiled(starts=lambda length, block: range(0, length - block + 1, block)),
        lambda *inputs: zeros_behind(*inputs),
        lambda *inputs: zeros_behind(*inputs, at_least_one=True),
        tiled(
            starts=lambda length, block: range(0, length - block + 1, block),
            joined=lambda outputs: torch.cat(outputs, -2) if outputs else torch.zeros(0),
        ),
    ],
)


def zeros_behind(query, key, value, block, at_least_one=False):
    length = query.shape[-2]
    whole = length if at_least_one and length < block else length // block * block
    cut = [one[..., :whole, :] for one in (query, key, value)]
    done = Tiles()(*cut, block) if whole else value[..., :0, :]
    return torch.cat([done, torch.zeros_like(value[..., whole:, :])], dim=-2)


mistake(
    "the last block padded with zeros",
    why="The last block is filled up with zeros, and these come back as rows: the output is longer than the query.",
    look="the shape of your output, where the block does not divide the length.",
    variants=[lambda *inputs: padded(*inputs)],
)


def padded(query, key, value, block):
    more = -query.shape[-2] % block
    return Tiles()(*(F.pad(one, (0, 0, 0, more)) for one in (query, key, value)), block)


mistake(
    "the block has to divide the length",
    why="Your code works only where `block` divides the length. It need not, "
    "and it may be larger than the length: the last block is then shorter.",
    look="with a length of 5 and blocks of 2, how many rows does the last block have?",
    variants=[
        lambda *inputs, error=error: whole_blocks(*inputs, error)
        for error in (AssertionError, ValueError, RuntimeError)
    ],
)


def whole_blocks(query, key, value, block, error):
    if query.shape[-2] % block:
        raise error
    return Tiles()(query, key, value, block)


mistake(
    "an empty block at the end",
    why="Where `block` divides the length, your code raises an error, as when there "
    "is one block too many, which has no rows.",
    look="with a length of 4 and blocks of 2, how many blocks are there?",
    variants=[tiled(starts=lambda length, block: range(0, length + 1, block))],
)
mistake(
    "the output as wide as the query",
    why="Your code works only where value and query have the same number of "
    "features, as when the output is made as wide as the query, (…, length, d_head). It should have d_v features.",
    look="which sizes does your code take from the query, and which from the value?",
    variants=[lambda *inputs: into_the_query(*inputs)],
)


def into_the_query(query, key, value, block):
    output, made = torch.zeros_like(query), Tiles()(query, key, value, block)
    for start in range(0, query.shape[-2], block):
        output[..., start : start + block, :] = made[..., start : start + block, :]
    return output


mistake(
    "a fixed number of dimensions",
    why="Your code works only for a certain number of leading dimensions; there may be any number of them, or none.",
    look="how can you name the last two dimensions, however many come before them?",
    variants=[lambda *inputs, count=count: of_dimensions(*inputs, count) for count in (4, 3, 2)]
    + [lambda *inputs: along_0(*inputs)],
)


def of_dimensions(query, key, value, block, count):
    if query.dim() != count:
        raise ValueError
    return Tiles()(query, key, value, block)


def along_0(query, key, value, block):
    outputs = []
    for start in range(0, query.shape[-2], block):
        scores = query[start : start + block] @ key[: start + block].mT / math.sqrt(query.shape[-1])
        scores = scores.masked_fill(~seen(scores, start, 0), -torch.inf)
        outputs.append(scores.softmax(-1) @ value[: start + block])
    return torch.cat(outputs)


mistake(
    "the outputs in a list",
    why="The outputs of the blocks come back in a list; one tensor is expected.",
    look="which function joins tensors along a dimension?",
    variants=[tiled(joined=lambda outputs: outputs)],
)
mistake(
    "joined along another dimension",
    why="The outputs of the blocks are joined along the features or the batch, "
    "or stacked. They should follow each other along the positions.",
    look="which dimension counts positions, however many come before?",
    variants=[
        tiled(joined=lambda outputs: torch.cat(outputs, dim=-1)),
        tiled(joined=lambda outputs: torch.cat(outputs, dim=0)),
        tiled(joined=lambda outputs: torch.stack(outputs)),
        tiled(joined=lambda outputs: torch.cat(outputs, dim=1)),
    ],
)
mistake(
    "only the last block of outputs",
    why="Only the outputs of the last block of queries come back.",
    look="where are the earlier outputs kept?",
    variants=[tiled(joined=lambda outputs: outputs[-1])],
)
mistake(
    "scaled by the block",
    why="The scores are divided by the block's size or its square root, not by the square "
    "root of the number of features.",
    look="which dimension of the query does a dot product sum over?",
    variants=[
        tiled(scale=lambda block: block**-0.5),
        tiled(scale=lambda block: 1 / block),
        tiled(scale=lambda query, block: min(block, query.shape[-2]) ** -0.5),
    ],
)
mistake(
    "scaled by d, not √d",
    why="The scores are divided by d, not by √d, as when both the queries and the scores are divided by √d.",
    look="in how many places do you divide, and by what?",
    variants=[tiled(scale=lambda right: right**2)],
)
mistake(
    "no scaling",
    why="The scores are not divided by √d.",
    look="lesson 3: what is done to the dot products?",
    pairs=1,
    asked=lambda query: query * math.sqrt(query.shape[-1]),
)
mistake(
    "multiplied by √d",
    why="The scores are multiplied by √d; they should be divided by it.",
    look="should the scores get larger or smaller?",
    variants=[tiled(scale=lambda right: 1 / right)],
)
for name, what, scaled in shared.DIVISORS:
    if name != "scaled by the number of queries":  # as many as keys
        mistake(
            name,
            why=f"The scores are divided by {what}, not by √d.",
            look="print the divisor. For a query of 8 features it should be 2.83.",
            scaled=scaled,
        )
exercise.adopt(
    shared.family,
    hints={"scores": 1, "batch": 1, "output": 1, "weights": 1},
    without=(
        *NOT_HERE,
        "a score never computed",
        "each query meets one key only",
        "the key's first two dimensions swapped",
    ),
)

exercise.mistakes["the scores clipped"].variants += [
    exercise.variant({"masked": lambda scaled, low=low, high=high: scaled.clamp(low, high)})
    for limit in LIMITS
    for low, high in ((-limit, limit), (None, limit), (-limit, None))
]
mistake(
    "too few digits",
    hint=1,
    why="The inputs come in float64, but they are converted to a smaller dtype, such as "
    "float32. Of a score of about 1000, it keeps too few digits.",
    look="where does the dtype of the inputs change?",
    variants=[
        lambda query, key, value, block, answer=answer, dtype=dtype: answer(
            query.to(dtype), key.to(dtype), value.to(dtype), block
        ).to(value)
        for dtype in (torch.float, torch.bfloat16, torch.half)
        for answer in (Tiles(), Whole())
    ],
)
mistake("a table of length × length", why=WHOLE, look=LOOK_WHOLE, variants=[lambda *inputs: Whole()(*inputs)])
mistake(
    "a sum slightly off",
    hint=1,
    why=OFF,
    look=LOOK_OFF,
    variants=[tiled(divided=lambda summed, total: summed / (total + 1e-6))],
)
mistake(
    "tiles larger than the block",
    hint=1,
    why=LARGER,
    look=LOOK_LARGER,
    variants=[
        lambda query, key, value, block: Tiles()(query, key, value, 8),
        lambda query, key, value, block: Tiles()(query, key, value, math.isqrt(query.shape[-2])),
        lambda query, key, value, block: Tiles()(query, key, value, max(1, query.shape[-2] // 2)),
    ],
)
mistake("a whole mask", hint=3, why=MASK, look=LOOK_MASK, variants=[lambda *inputs: cut_out_of_a_mask(*inputs)])


def cut_out_of_a_mask(query, key, value, block):
    whole = torch.ones(query.shape[-2], query.shape[-2], dtype=torch.bool).tril()
    return tiled(
        masked=lambda scores, start, left: scores.masked_fill(
            ~whole[start : start + scores.shape[-2], left : left + scores.shape[-1]], -torch.inf
        )
    )["made"](query, key, value, block)
