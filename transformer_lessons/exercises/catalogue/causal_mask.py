"""causal_mask, of lesson 6: each position attends to itself and to what came before it."""

import time

import numpy as np
import torch

from transformer_lessons import masks
from transformer_lessons.exercises.checker.exercise import Exercise, Steps

# The numbers that people add to a score so that its weight vanishes.
VERY_NEGATIVE = (
    -torch.inf,
    -1e9,
    -1e10,
    -1e4,
    -1e5,
    -1e6,
    -1e12,
    -1e20,
    -1e30,
    -1e8,
    -1e3,
    torch.finfo(torch.float32).min,
)

FIXED = "a table of fixed size"


def seconds(call, length):
    start = time.thread_time()
    call(length)
    return time.thread_time() - start


def holds_any_length(call, length):
    """Is the mask cut from a table of fixed size? That takes equally long for every length; a loop does not."""
    if length < 200 or seconds(call, length) > 0.002 + 3 * seconds(call, 9) or len(call(1025)) == 1025:
        return None
    return FIXED, "A text of 1,025 tokens gets a mask that is too small.", "how long a text can your code handle?"


exercise = Exercise(
    name="causal_mask",
    lesson=6,
    title="No looking ahead",
    difficulty=1,
    importance=3,
    minutes=4,
    contract="""causal_mask(length) returns a boolean tensor (length, length), True where a query (row) may attend to
        a key (column): to itself and to everything before it.""",
    stub='''
        def causal_mask(length):
            """A boolean tensor (length, length): True where the row may attend to the column."""
            raise NotImplementedError''',
    sizes=[{"length": 3}, {"length": 1}, {"length": 2}, {"length": 4}, {"length": 6}, {"length": 9}, {"length": 200}],
    draw=lambda generator, length: (length,),
    reference=masks.causal_mask,
    names_steps=False,
    returns="mask",
    shapes={"mask": "(query, key)"},
    checks=[holds_any_length],
    hints=[
        ("the first query", "For length 3, write down the row of the first query. Which keys has it already seen?"),
        (
            "the triangle",
            "The True entries fill a triangle. Rows ask and columns answer: in which corner of the "
            "square is the triangle, and does it include the diagonal?",
        ),
        (
            "the tool",
            "Compare the position of the query with the position of the key, with torch.arange and "
            "broadcasting; or look up torch.tril.",
        ),
    ],
    solution="""
        import torch

        def causal_mask(length):
            return torch.ones(length, length, dtype=torch.bool).tril()""",
)


def square(length):
    return torch.ones(length, length, dtype=torch.bool)


@exercise.right("step by step")
class CausalMask(Steps):
    def __call__(self, length):
        return self.form(self.triangle(length))

    def triangle(self, length):
        return square(length).tril()

    def form(self, allowed):
        return allowed


@exercise.right("with tril, compared")
def with_tril(length):
    return torch.ones(length, length).tril() == 1


# How far the triangle reaches
mistake = exercise.section(hint=2)
ONE_TRUE = "rows ask, columns answer. Which row should have a single True?"


def changed(mask, place, to=False):
    mask[place] = to
    return mask


mistake(
    "the mask inverted",
    hint=1,
    why="True marks what is forbidden. In this exercise, as in "
    "F.scaled_dot_product_attention, True means attending is allowed.",
    look="read the first row aloud: may the first query attend to itself?",
    triangle=lambda length: square(length).triu(1),
)
mistake(
    "the mask transposed",
    why="Each position may attend to itself and to everything after it: rows and columns are swapped.",
    look=ONE_TRUE,
    triangle=lambda length: square(length).triu(),
)
mistake(
    "the diagonal missing",
    why="No position may attend to itself, and the first one may attend to nothing at all.",
    look="the diagonal: should a position attend to itself?",
    triangle=lambda length: square(length).tril(-1),
)
mistake(
    "one step into the future",
    why="Each position may also attend to the one right after it: the very token that it must predict.",
    look="the cell just right of the diagonal.",
    triangle=lambda length: square(length).tril(1),
)
mistake(
    "several steps into the future",
    pairs=3,
    why="Each position may also attend to several positions that come "
    "after it: the triangle reaches too far to the right.",
    look="any number that you give to tril or triu, or add to a position: what does it do to the first row?",
    triangle=[
        lambda length: square(length).tril(length // 2),
        lambda length: square(length).tril(2),
        lambda length: square(length).tril(3),
    ],
)
mistake(
    "the diagonal missing, but for the first",
    why="No position may attend to itself, except the first one.",
    look="the row of the second query: should it attend to itself?",
    triangle=lambda length: changed(square(length).tril(-1), np.s_[0, 0], to=True),
)
mistake(
    "the last one before it missing too",
    why="No position may attend to itself, nor to the one right before it.",
    look="the row of the last query: what are the last two keys that it has seen?",
    triangle=lambda length: square(length).tril(-2),
)
mistake(
    "transposed, and one step off",
    why="Each position may attend to the one before it, to itself and to "
    "everything after it: rows and columns are swapped, and the triangle is a step too wide.",
    look=ONE_TRUE,
    triangle=lambda length: square(length).triu(-1),
)
mistake(
    "inverted, and one step off",
    hint=1,
    why="True marks what is forbidden, but not the cells just right of the "
    "diagonal, which are one step into the future.",
    look="the first row, cell by cell: what may the first query attend to?",
    triangle=lambda length: square(length).triu(2),
)
mistake(
    "everything allowed",
    hint=3,
    why="Every position may attend to every other, the future included.",
    look="print the table after each line. Is each change kept, is each row a tensor or list of its own, and is `~` "
    "applied to booleans?",
    triangle=lambda length: square(length),
)

# Another shape than a triangle
mistake = exercise.section(hint=1)
LAST_ROW = "the row of the last query: how many keys has it seen?"
START = "the first row: what fills it? If a loop does, where does it start?"
mistake(
    "nothing allowed",
    why="No position may attend to anything, not even to itself: there is no True in the table.",
    look="what is in the table at the start, and which lines change it?",
    triangle=lambda length: ~square(length),
)
mistake(
    "only the diagonal",
    why="Each position may attend only to itself, so it learns nothing about what came before.",
    look=LAST_ROW,
    triangle=lambda right: right.triu(),
)
mistake(
    "only the last position",
    why="Each position may attend to itself and to the one before it, but no further back.",
    look=LAST_ROW,
    triangle=lambda right: right.triu(-1),
)
mistake(
    "only the one before",
    why="Each position may attend to the one right before it and to nothing else, not even to itself.",
    look=LAST_ROW,
    triangle=lambda right: right.tril(-1).triu(-1),
)
mistake(
    "only the last few positions",
    why="Each position may attend to itself and to the few before it, but no "
    "further back. This is a sliding window, which some models have.",
    look="the row of the last query of a long sequence: how many keys has it seen?",
    triangle=[lambda right, width=width: right.triu(1 - width) for width in (3, 4, 5)],
)
mistake(
    "only the neighbours",
    why="Each position may attend to itself, to the one before it and to the one after it.",
    look="the row of the first query, then that of the last: how many keys has each seen?",
    triangle=lambda length: square(length).tril(1).triu(-1),
)
mistake(
    "the triangle mirrored",
    hint=2,
    why="The triangle leans on the wrong diagonal: each row allows the right "
    "number of keys, but counts them from the end of the sequence.",
    look="the row of the first query: is its single True at the first key?",
    triangle=lambda right: right.flip(1),
)
mistake(
    "the triangle upside down",
    hint=2,
    why="The first query may attend to everything and the last one only to the "
    "first key: the rows are in reverse order.",
    look="the row of the first query: how many keys has it seen?",
    triangle=lambda right: right.flip(0),
)
mistake(
    "everything but itself",
    why="Each position may attend to all the others, the future included, but not to itself.",
    look="the row of the first query: which keys has it already seen?",
    triangle=lambda length: ~torch.eye(length, dtype=torch.bool),
)
mistake(
    "the first row left empty",
    why="The first query may attend to nothing, not even to itself; the other rows are right.",
    look=START,
    triangle=lambda right: changed(right, 0),
)
mistake(
    "the last row left empty",
    why="The last query may attend to nothing, not even to itself; the other rows are right.",
    look="the last row: what fills it?",
    triangle=lambda right: changed(right, -1),
)
mistake(
    "the first row left full",
    why="The first query may attend to everything, the whole future included; the other rows are right.",
    look=START,
    triangle=lambda right: changed(right, 0, to=True),
)
mistake(
    "the first few see each other",
    why="The first few positions may all attend to each other, even earlier ones "
    "to later ones. The rows after them are right.",
    look="the row of the first query: which keys has it already seen?",
    triangle=[lambda right, few=few: changed(right, np.s_[:few, :few], to=True) for few in (3, 2, 4)],
)
mistake(
    "only one key or query kept from the future",
    pairs=2,
    why="Only some of the cells above the diagonal are "
    "forbidden, those of the last key or those of the first query. Elsewhere the future is still allowed.",
    look="does your code reach every row, and every later key in it?",
    triangle=[
        lambda length: changed(square(length), np.s_[:-1, -1]),
        lambda length: changed(square(length), np.s_[0, 1:]),
    ],
)
mistake(
    "every second row left empty",
    pairs=0,
    why="Every second query may attend to nothing, not even to itself.",
    look="which rows hold no True? If a loop fills them, what is its step?",
    triangle=[lambda right: changed(right, np.s_[1::2]), lambda right: changed(right, np.s_[::2])],
)
mistake(
    "the first key left out",
    pairs=0,
    why="No position may attend to the first key, except perhaps the first one.",
    look="the first column: who may attend to the first key? If a slice or loop runs over the keys, where does it "
    "start?",
    triangle=[lambda right: changed(right, np.s_[:, 0]), lambda right: changed(right, np.s_[1:, 0])],
)
mistake(
    "only the first key",
    why="Every position may attend to the first key only. Apart from the first position, "
    "none may even attend to itself.",
    look="the row of the last query: how many keys has it seen? And does a loop "
    "overwrite what an earlier iteration has done?",
    triangle=lambda length: (torch.arange(length) == 0).repeat(length, 1),
)
mistake(
    "only the next one forbidden",
    why="No position may attend to the one right after it, but those further ahead are allowed.",
    look="the row of the first query: which keys has it not seen yet?",
    triangle=lambda right, length: square(length).triu(2) | right,
)
mistake(
    "a single row",
    pairs=0,
    why="There is only one row, as if all queries could see the same keys. Each query needs a row of its own.",
    look="the shape: how many queries are there, and how many rows?",
    triangle=[lambda length: square(length)[0], lambda length: square(length)[:1]],
)
mistake(
    "the wrong size",
    pairs=2,
    why="The table has one row and one column too many, or too few.",
    look="the shape: how many queries and keys are there?",
    triangle=[lambda step, length: step(length + 1), lambda step, length: step(length - 1)],
)

# Numbers, not True and False
TO_BE_ADDED = (
    "These are numbers to add to the scores: 0 where a query may attend and a very negative number where "
    "it may not. The exercise asks for True and False.",
    "the dtype of the result: which question does each cell answer with yes or no?",
)
ADDED_INVERTED = (
    "These are numbers to add to the scores, and the very negative ones stand where a query may attend. "
    "The exercise asks for True and False, and True means attending is allowed.",
    "which dtype should the result have, and what should stand where a query may attend?",
)
ZERO_TIMES_INFINITY = (
    "The mask is multiplied by infinity, and 0 times infinity is not a number: the result holds NaN.",
    "print 0 * float('inf'). And does the exercise ask for numbers at all?",
)
mistake(
    "a mask to be added",
    *TO_BE_ADDED,
    pairs=12,
    form=[lambda allowed, number=number: torch.where(allowed, 0.0, number) for number in VERY_NEGATIVE],
)
mistake(
    "a mask to be added, with 1 for 0",
    pairs=2,
    why="These are numbers to add to the scores, and where a query "
    "may attend they would add 1. The exercise asks for True and False.",
    look=TO_BE_ADDED[1],
    form=[lambda allowed: torch.where(allowed, 1.0, -torch.inf), lambda allowed: torch.where(allowed, 1.0, -1e9)],
)
mistake(
    "a mask to be added, and inverted",
    *ADDED_INVERTED,
    variants=[lambda length, number=number: torch.where(with_tril(length), number, 0.0) for number in VERY_NEGATIVE],
)
mistake(
    "zero times infinity",
    *ZERO_TIMES_INFINITY,
    pairs=4,
    form=[
        lambda allowed: (~allowed) * -torch.inf,
        lambda allowed: allowed * -torch.inf,
        lambda allowed: allowed * torch.inf,
        lambda allowed: (~allowed) * torch.inf,
    ],
)
mistake(
    FIXED,
    pairs=0,
    why="A long text gets a mask that is too small, as when it is cut from a table made for a "
    "fixed number of positions.",
    look="how long a text can your code handle?",
    variants=[
        lambda length, size=size: with_tril(min(length, size)) for size in (*range(8, 26), 32, 50, 64, 100, 128, 1024)
    ],
)
