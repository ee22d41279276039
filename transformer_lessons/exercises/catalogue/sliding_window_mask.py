"""sliding_window_mask, of lesson 12: each position attends to itself and to the few before it."""

import torch

from transformer_lessons.exercises.catalogue.causal_mask import VERY_NEGATIVE
from transformer_lessons.exercises.checker.exercise import Exercise, Steps
from transformer_lessons.language import long_context

SIZES = [(5, 2), (1, 1), (3, 3), (4, 1), (6, 9), (7, 3), (8, 5), (9, 4), (11, 6), (12, 7), (2, 3), (200, 40)]

exercise = Exercise(
    name="sliding_window_mask",
    lesson=12,
    title="A sliding window",
    difficulty=1,
    importance=2,
    minutes=5,
    contract="""sliding_window_mask(length, window) returns a boolean tensor (length, length) that is True where a
        query (row) may attend to a key (column). Each position may attend to itself and to the window - 1 positions
        before it. A window of 1 is just the position itself, and a window longer than the sequence gives a causal
        mask.""",
    stub='''
        def sliding_window_mask(length, window):
            """A boolean tensor (length, length): True for a position itself and the window - 1 before it."""
            raise NotImplementedError''',
    sizes=[{"length": length, "window": window} for length, window in SIZES],
    draw=lambda generator, length, window: (length, window),
    names_steps=False,
    reference=lambda length, window: long_context.sliding_window_mask(length, window),
    returns="mask",
    shapes={"mask": "(query, key)"},
    hints=[
        (
            "the band",
            "Write down the row of query 3 for length 5 and window 2. Which keys does it allow, and how many?",
        ),
        (
            "the far edge",
            "The newest key that query i may attend to is key i. Which is the oldest, if i itself "
            "counts as part of the window?",
        ),
        (
            "the tool",
            "The distance between query and key is torch.arange(length)[:, None] - torch.arange(length). "
            "Between which two numbers must it lie? Another way is to trim a causal mask with triu.",
        ),
    ],
    solution="""
        import torch


        def sliding_window_mask(length, window):
            position = torch.arange(length)
            distance = position[:, None] - position
            return (distance >= 0) & (distance < window)""",
)


def distances(length):
    position = torch.arange(length)
    return position[:, None] - position  # (query, key)


@exercise.right("step by step")
class SlidingWindow(Steps):
    def __call__(self, length, window):
        window = self.reach(window)
        return self.form(self.past(length, window) & self.near(length, window))

    def reach(self, window):
        return window

    def past(self, length, window):
        return distances(length) >= 0

    def near(self, length, window):
        return distances(length) < window

    def form(self, allowed):
        return allowed


@exercise.right("two triangles")
def two_triangles(length, window):
    return torch.ones(length, length, dtype=torch.bool).tril().triu(1 - window)


# The far edge of the window
mistake = exercise.section(hint=2)
LAST_ROW = "the row of the last query, with window 2: how many keys does it allow?"
mistake(
    "the window counted without itself",
    why="The window reaches back `window` positions, one too many: the position itself counts as part of the window.",
    look=LAST_ROW,
    reach=lambda window: window + 1,
)
mistake(
    "a window one too short",
    why="The window is one position too short, at least when `window` is more than 1.",
    look=LAST_ROW,
    reach=[lambda window: window - 1, lambda window: max(window - 1, 1)],
)
mistake(
    "a window two too long",
    why="The window reaches back `window + 1` positions, two too many.",
    look=LAST_ROW,
    reach=lambda window: window + 2,
)
mistake(
    "a window twice as long",
    why="Each position may attend to about twice as many positions as the window holds.",
    look=LAST_ROW,
    pairs=2,
    reach=[lambda window: 2 * window, lambda window: 2 * window + 1, lambda window: 2 * window - 1],
)
mistake(
    "half a window",
    why="About half of the window is missing, as if it were shared between the two sides of a position.",
    look="the row of the last query, with window 4: how many keys does it allow?",
    pairs=2,
    reach=[lambda window: window // 2 + 1, lambda window: window // 2, lambda window: (window + 1) // 2],
)
mistake(
    "no window",
    why="Each position may attend to everything before it, as under a causal mask, whatever `window` is.",
    look="where does `window` appear in your code, and do you keep the result?",
    near=lambda length: distances(length) < length,
)
mistake(
    "what lies outside the window",
    why="Each position may attend to what lies further back than the window, but not to the window itself.",
    look="the row of the last query: should it see the key right before it?",
    near=[lambda length, window: distances(length) >= window, lambda length, window: distances(length) > window],
)
mistake(
    "the window alone, without itself",
    why="Each position attends to the others in its window, but not to itself.",
    look="the diagonal: does a position see itself?",
    past=lambda length: distances(length) > 0,
)
mistake(
    "the window before itself",
    why="Each position attends to the `window` positions before it, but not to itself: "
    "the whole window lies one position too far back.",
    look="the diagonal, and the oldest key of the last row.",
    variants=[
        {"past": lambda length: distances(length) > 0, "near": lambda length, window: distances(length) <= window}
    ],
)
mistake(
    "only the far edge",
    why="Each position attends only to the one that lies `window - 1` or `window` places "
    "before it, not to those in between.",
    look="how many keys should a row allow?",
    near=[lambda length, window: distances(length) == window - 1, lambda length, window: distances(length) == window],
)
mistake(
    "itself and the far edge",
    pairs=0,
    why="Each position attends to itself and to the far end of its window, not to the positions in between.",
    look="how many keys should the last row allow, with window 3?",
    variants=[
        lambda length, window: (distances(length) == 0) | (distances(length) == window - 1),
        lambda length, window: (distances(length) == 0) | (distances(length) == window),
    ],
)
mistake(
    "every window-th position",
    why="Each position attends to itself and to every `window`-th position before it, not to those in between.",
    look="which distances should the window allow? And is there a `%`, or a slice with a step?",
    pairs=0,
    near=lambda length, window: distances(length) % window == 0,
)
mistake(
    "a window cut short",
    why="Where the window is as long as the sequence, or longer, it is cut to length - 1, so "
    "the last query does not see the first key.",
    look="with a window longer than the sequence, how many keys may the last query see?",
    pairs=0,
    near=[
        lambda length, window: distances(length) < min(window, length - 1),
        lambda length, window: distances(length) < min(window, max(length - 1, 1)),
    ],
)
mistake(
    "every other position",
    why="Each position attends to every other position of a window, one that may be twice "
    "as long, not to all the positions of its own window.",
    look="how many keys in a row may the last query see? And is there a `%`, or a slice with a step?",
    pairs=0,
    near=[
        lambda length, window, wide=wide: (distances(length) < wide * window) & (distances(length) % 2 == 0)
        for wide in (2, 1)
    ],
)
mistake(
    "a window of fixed size",
    why="The window has the same size, whatever `window` is.",
    look="where does `window` appear in your code?",
    pairs=0,
    near=[lambda length, size=size: distances(length) < size for size in (1, 2, 3, 4)],
)
mistake(
    "length - window for the window",
    pairs=0,
    why="How far a position sees is computed from length - window. So "
    "the longer the window, the fewer keys a query may attend to.",
    look="the row of the last query, with window 1: how many keys does it allow?",
    near=[lambda length, window, more=more: distances(length) < length - window + more for more in (0, 1)],
)
mistake(
    "a long window not expected",
    pairs=0,
    why="Some windows that are as long as the sequence, or longer, raise an "
    "error. Under such a window, the mask should be causal.",
    look="the line that raises the error, with length 6 "
    "and window 9: does something become negative there, or too large?",
    variants=[
        lambda length, window, more=more, error=error: (
            two_triangles(length, window) if window < length + more else refused(error)
        )
        for error in (RuntimeError, IndexError, ValueError, AssertionError)
        for more in (2, 1, 0)
    ],
)


def refused(error):
    raise error


mistake(
    "length and window exchanged",
    pairs=0,
    why="`length` and `window` are swapped: the table has a row for each position of the window.",
    look="the order of the arguments, and the shape of the result.",
    variants=[lambda length, window: two_triangles(window, length)],
)

# The future
mistake = exercise.section(hint=1)
FIRST_ROW = "the first row: which keys may the first query see?"
mistake(
    "a window to both sides",
    why="The window reaches into the future as well, as far as it reaches into the past.",
    look=FIRST_ROW,
    past=lambda length, window: distances(length) > -window,
    variants=[
        {"past": lambda length: distances(length) > -length, "near": near}
        for near in (
            lambda length, window: distances(length).abs() <= window // 2,
            lambda length, window: distances(length).abs() <= (window - 1) // 2,
            lambda length, window: distances(length).abs() < window // 2,
        )
    ],
)
mistake(
    "the future allowed",
    why="Nothing forbids the future: each position may attend to its window, and to everything after it.",
    look=FIRST_ROW,
    past=lambda length: distances(length) >= -length,
)


def far_ahead(more):
    return lambda length, window: (distances(length) >= 0) | (distances(length) < more - window)


mistake(
    "the far future allowed",
    why="Of the future, only the nearest positions are forbidden: whatever lies further ahead is allowed.",
    look="the last cells of the first row.",
    pairs=3,
    past=[far_ahead(more) for more in (0, 1, -1)],
)
mistake(
    "the window on the wrong side",
    pairs=0,
    why="The window limits the future, not the past: a position may "
    "attend to everything before it, and to what lies further ahead than the window.",
    look="the last cells of the first row, and the first cells of the last.",
    variants=[{"past": far_ahead(more), "near": lambda length: distances(length) < length} for more in (0, 1, -1)],
)
mistake(
    "the whole past, and a window of the future",
    pairs=0,
    why="A position may attend to everything before it, "
    "and to a window of what comes after it, as when the limit is on the wrong side of the diagonal, or two "
    "conditions are joined by “or”.",
    look="the first cell of the last row: must a key satisfy both conditions, or one of them? "
    "And should the number that you give to tril or triu be positive or negative?",
    variants=[
        {
            "past": lambda length, window, more=more: distances(length) > -window - more,
            "near": lambda length: distances(length) < length,
        }
        for more in (0, 1, -1)
    ],
)
mistake(
    "a longer window on one side",
    why="The window reaches into the future as well, and is one position longer on one side than on the other.",
    look=FIRST_ROW,
    past=lambda length, window: distances(length) >= -window,
    variants=[
        {
            "past": lambda length, window: distances(length) > -window,
            "near": lambda length, window: distances(length) <= window,
        }
    ],
)
mistake(
    "the window in the future",
    why="Each position attends to itself and to the positions after it, as when rows "
    "and columns are swapped, or the number for triu or tril has the wrong sign.",
    look="rows ask, columns answer. What may the first query see?",
    variants=[
        {"past": lambda length: distances(length) <= 0, "near": lambda length, window: distances(length) > -window}
    ],
)
mistake(
    "a whole window for the first rows, too",
    why="The first queries have fewer positions before them than the "
    "window holds, but they get a whole window all the same, so it reaches into the future.",
    look=FIRST_ROW + " And if a slice fills that row: where does it end?",
    past=lambda length, window: (distances(length) >= 0) | (torch.arange(length) < window),
)
mistake(
    "the window wraps round",
    why="The first queries have fewer positions before them than the window holds, so "
    "their windows continue at the other end: they see the last keys, which lie in their future.",
    look=FIRST_ROW + " And what is -1 % length?",
    pairs=0,
    variants=[lambda length, window: distances(length) % length < window],
)
mistake(
    "one step into the future",
    why="Each position may also attend to the one right after it: the very token that it must predict.",
    look="the cell just right of the diagonal.",
    past=lambda length: distances(length) >= -1,
)
mistake(
    "the sign of window - 1",
    hint=2,
    why="Where the window is longer than 1, no position may attend to anything, "
    "as when the far edge lies above the diagonal, not below it, so that a lower triangle leaves nothing.",
    look="the number that you give to triu, or compare positions with: should it be positive or negative?",
    near=lambda length, window: distances(length) <= 1 - window,
)
mistake(
    "the mask inverted",
    why="True marks what is forbidden. In the exercise, as in "
    "F.scaled_dot_product_attention, True means attending is allowed.",
    look="read the last row aloud: may this query attend to itself?",
    pairs=2,
    form=[lambda allowed: ~allowed],
)
mistake(
    "nothing allowed",
    why="No position may attend to anything: there is no True in the table.",
    look="what is in the table at the start, and which lines change it? If you use triu: should its number be positive "
    "or negative?",
    form=lambda allowed: allowed & False,
)
mistake(
    "everything allowed",
    why="Every position may attend to every other one, the future included.",
    look="is the result of each step kept? Most methods return a new tensor. And if you join two conditions: "
    "must a key satisfy both, or one of them?",
    form=lambda allowed: allowed | True,
)

# Another shape than a band
mistake = exercise.section(hint=1, pairs=0)
mistake(
    "blocks, not a window",
    why="The sequence is cut into blocks of the window's size, and a position sees only "
    "positions of its own block. So the first one in a block sees nothing before it.",
    look="the row of query 2, with window 2: which two keys should it allow?",
    variants=[
        lambda length, window: (
            (distances(length) >= 0) & (torch.arange(length)[:, None] // window == torch.arange(length) // window)
        ),
        lambda length, window: torch.arange(length)[:, None] // window == torch.arange(length) // window,
    ],
)


def blocks_back(length, window):
    """How many blocks of the window's size a key's lies before the query's."""
    block = torch.arange(length) // window
    return block[:, None] - block


mistake(
    "the block before seen, too",
    why="The sequence is cut into blocks of the window's size, and a position sees "
    "positions of its own block and of the one before it, wherever in its block it stands.",
    look="the row of query 2, with window 2: which two keys should it allow?",
    variants=[
        lambda length, window: (distances(length) >= 0) & (blocks_back(length, window) <= 1),
        lambda length, window: (blocks_back(length, window) >= 0) & (blocks_back(length, window) <= 1),
        lambda length, window: blocks_back(length, window).abs() <= 1,
    ],
)
mistake(
    "whole blocks, and all before them",
    why="The sequence is cut into blocks of the window's size, and a position "
    "sees its whole block, the future included, and all blocks before it.",
    look=FIRST_ROW + " And which ones may the last query see?",
    variants=[lambda length, window: blocks_back(length, window) >= 0],
)
mistake(
    "everything allowed under a long window",
    why="Where the window is as long as the sequence, or longer, every "
    "position may attend to every other one, the future included.",
    look="with a window longer than the sequence, may the first query see the last key?",
    variants=[
        lambda length, window, more=more: two_triangles(length, window) | (window >= length + more) for more in (0, 1)
    ],
)
mistake(
    "a sink kept",
    why="The first token, or the first few, can be seen from any distance, like an attention sink. "
    "In the exercise, the window leaves them behind.",
    look="the first cells of the last row.",
    hint=2,
    near=[
        lambda length, window, kept=kept: (distances(length) < window) | (torch.arange(length) < kept)
        for kept in (1, 2, 3, 4)
    ],
    variants=[
        lambda length, window, kept=kept: two_triangles(length, window) | (torch.arange(length) < kept)
        for kept in (2, 3, 4)
    ],
)
mistake(
    "the first keys, not the nearest",
    why="Each position attends to the first `window` keys of the sequence, not to those right before it.",
    look="the row of the last query: which keys are nearest to it?",
    variants=[
        lambda length, window: (distances(length) >= 0) & (torch.arange(length) < window),
        lambda length, window: (torch.arange(length) < window).expand(length, length),
    ],
)
mistake(
    "the first rows cut off",
    why="The first queries, which have fewer positions before them than the window "
    "holds, may attend to nothing, or to too few keys.",
    look="the first rows, cell by cell. If there is a loop over the rows, where does it begin, and what "
    "does a slice do that starts at a negative number?",
    hint=2,
    pairs=1,
    past=[
        lambda length, window: sliced(length, window, lambda query: query - window + 1),
        lambda length, window: (distances(length) >= 0) & (torch.arange(length)[:, None] >= window - 1),
    ],
    variants=[
        lambda length, window: (
            two_triangles(length, window) & ((torch.arange(length)[:, None] >= window - 1) | (distances(length) == 0))
        ),
        lambda length, window: rolled_away(length, window),
        lambda length, window: rolled_away(length, window) | (distances(length) >= 0) & (window >= length),
    ],
)
mistake(
    "the last rows or columns only",
    why="Apart from the diagonal, perhaps, only the rows of the last `window` "
    "queries are filled, or only the columns of the last `window` keys. The window should move along with the "
    "query.",
    look="does the far edge depend on the query?",
    variants=[
        lambda length, window: (distances(length) >= 0) & (torch.arange(length) >= length - window),
        lambda length, window: (distances(length) >= 0) & (torch.arange(length)[:, None] >= length - window),
        lambda length, window: (torch.arange(length) >= length - window).expand(length, length),
        lambda length, window: (
            (distances(length) == 0) | (distances(length) >= 0) & (torch.arange(length) >= length - window)
        ),
        lambda length, window: (distances(length) == 0) | (torch.arange(length) >= length - window),
        lambda length, window: (
            (distances(length) == 0) | (distances(length) >= 0) & (torch.arange(length)[:, None] >= length - window)
        ),
    ],
)

mistake(
    "the last query sees everything",
    why="The last row is True throughout: the last query sees everything, however short the window.",
    look="the last row: how many keys should it allow?",
    hint=2,
    variants=[lambda length, window: two_triangles(length, window) | (torch.arange(length)[:, None] == length - 1)],
)


def rolled_away(length, window):
    """A causal mask without the same mask moved down by the window; what leaves it at the bottom returns at the top."""
    causal = distances(length) >= 0
    return causal & ~causal.roll(window, 0).tril(-1)


def sliced(length, window, start):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for query in range(length):
        mask[query, start(query) : query + 1] = True
    return mask


mistake(
    "the wrong size",
    why="The table has the wrong number of rows or columns.",
    look="the shape: one row for each query, one column for each key.",
    variants=[
        lambda length, window: two_triangles(length + 1, window),
        lambda length, window: two_triangles(length, window)[:, -window:],
        lambda length, window: two_triangles(length, window)[-1],
        lambda length, window: torch.ones(window, length, dtype=torch.bool).tril(),
        lambda length, window: torch.arange(length)[:, None] - torch.arange(window) >= 0,
        lambda length, window: torch.arange(length)[:, None] - torch.arange(window).flip(0) >= 0,
    ],
)
mistake(
    "a table of fixed size",
    pairs=0,
    why="A long text gets a mask that is too small, as when it is cut from a "
    "table made for a fixed number of positions.",
    look="how long a text can your code handle?",
    variants=[
        lambda length, window, size=size: two_triangles(min(length, size), window)
        for size in (16, 32, 50, 64, 100, 128)
    ],
)
mistake(
    "a window of limited length",
    pairs=0,
    why="The window stops at a fixed number of positions, even if `window` is larger.",
    look="is there a fixed number in your code, such as a longest window?",
    reach=[lambda window, most=most: min(window, most) for most in (10, 12, 16, 20, 32)],
)

# Numbers, not True and False
mistake = exercise.section(hint=1)
YES_OR_NO = "the dtype of the result: which question does each cell answer with yes or no?"
mistake(
    "a mask to be added",
    pairs=12,
    why="The mask holds numbers to add to the scores: 0 where a query may attend, "
    "and a very negative number where it may not. The exercise asks for True and False.",
    look=YES_OR_NO,
    form=[lambda allowed, number=number: torch.where(allowed, 0.0, number) for number in VERY_NEGATIVE],
)
mistake(
    "zero times infinity",
    pairs=2,
    why="The mask is multiplied by infinity, and 0 times infinity is NaN (not a number).",
    look="print 0 * float('inf'). And does the exercise ask for numbers at all?",
    form=[lambda allowed: (~allowed) * -torch.inf, lambda allowed: allowed * -torch.inf],
)
