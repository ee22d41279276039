"""Lesson 6, masking: no looking ahead."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons import masks
from transformer_lessons.exercises.exercise import Exercise, Steps, integers, normal

# What people add to a score so that nothing is left of it; -inf is declared where it is used.
VERY_NEGATIVE = (-1e9, -1e10, -1e4, -1e5, -1e6, -1e12, -1e20, -1e30, -1e8, -1e3,
                 torch.finfo(torch.float32).min)

# causal_mask

causal_mask = Exercise(
    name="causal_mask", lesson=6, title="No looking ahead", difficulty=1, importance=3, minutes=4,
    contract="""
        causal_mask(length) returns a boolean tensor (length, length), True where a query (row) may attend to
        a key (column): to itself and to everything before it.
        """,
    stub='''
        def causal_mask(length):
            """A boolean tensor (length, length): True where the row may attend to the column."""
            raise NotImplementedError
        ''',
    sizes=[{"length": 3}, {"length": 1}, {"length": 2}, {"length": 4}, {"length": 6}, {"length": 9}],
    draw=lambda generator, length: (length,),
    reference=masks.causal_mask,
    returns="mask", shapes={"mask": "(query, key)"}, parting=False,
    hints=[
        ("the first query", "Write down the row of the first query for length 3: which keys has it already "
                            "seen?"),
        ("the triangle", "True fills a triangle of the square. Which corner is it in, if rows ask and "
                         "columns answer, and does it include the diagonal?"),
        ("the tool", "Compare the position of the query with the position of the key, with torch.arange and "
                     "broadcasting; or look up torch.tril."),
    ],
    solution='''
        import torch


        def causal_mask(length):
            return torch.ones(length, length, dtype=torch.bool).tril()
        ''',
)


@causal_mask.right("step by step")
class CausalMask(Steps):
    def __call__(self, length):
        return self.form(self.triangle(length))

    def triangle(self, length):
        return torch.ones(length, length, dtype=torch.bool).tril()

    def form(self, allowed):
        return allowed


@causal_mask.right("with tril, compared")
def with_tril(length):
    return torch.ones(length, length).tril() == 1


@causal_mask.right("comparing positions")
def comparing_positions(length):
    position = torch.arange(length)
    return position[:, None] >= position[None, :]


@causal_mask.right("with loops")
def with_loops(length):
    return torch.tensor([[key <= query for key in range(length)] for query in range(length)])


@causal_mask.right("in NumPy")
def in_numpy(length):
    return torch.from_numpy(~np.triu(np.ones((length, length), dtype=bool), k=1))


@causal_mask.right("a running sum of the diagonal")
def running_sum(length):
    return torch.eye(length).cumsum(0).bool()


@causal_mask.right("a table filled row by row")
def filled_by_row(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for query in range(length):
        mask[query, :query + 1] = True
    return mask


@causal_mask.mistake(
    "the mask inverted",
    why="True stands where attending is forbidden. Here, as in F.scaled_dot_product_attention, True means "
        "may attend.",
    look="read the first row aloud: may the first query attend to itself?", hint=1)
class Inverted(CausalMask):
    def triangle(self, length):
        return torch.ones(length, length, dtype=torch.bool).triu(1)


@causal_mask.mistake(
    "the mask transposed",
    why="Each position may attend to itself and to everything after it: rows and columns have changed "
        "places.",
    look="rows ask, columns answer. Which row should have a single True?", hint=2)
class Transposed(CausalMask):
    def triangle(self, length):
        return torch.ones(length, length, dtype=torch.bool).triu()


@causal_mask.mistake(
    "the diagonal missing",
    why="No position may attend to itself, and the first one may attend to nothing at all.",
    look="the diagonal: does a position know itself?", hint=2)
class WithoutDiagonal(CausalMask):
    def triangle(self, length):
        return torch.ones(length, length, dtype=torch.bool).tril(-1)


@causal_mask.mistake(
    "one step into the future",
    why="Each position may also attend to the one right after it: exactly the token it will have to predict.",
    look="the cell just right of the diagonal.", hint=2)
class OneAhead(CausalMask):
    def triangle(self, length):
        return torch.ones(length, length, dtype=torch.bool).tril(1)


@causal_mask.mistake(
    "several steps into the future",
    why="Each position may also attend to some of those that come after it, more than one: the triangle "
        "reaches too far to the right.",
    look="the number that you give to tril or triu, or add to a position: what does it do to the first row?",
    hint=2)
class HalfAhead(CausalMask):
    def triangle(self, length):
        return torch.ones(length, length, dtype=torch.bool).tril(length // 2)


for steps in (2, 3):
    causal_mask.mistake("several steps into the future")(
        type("StepsAhead", (CausalMask,), {"triangle": lambda self, length, steps=steps: torch.ones(
            length, length, dtype=torch.bool).tril(steps)}))


@causal_mask.mistake(
    "the diagonal missing, but for the first",
    why="No position may attend to itself, except the first one.",
    look="the row of the second query: does a position know itself?", hint=2)
class DiagonalPatched(CausalMask):
    def triangle(self, length):
        mask = torch.ones(length, length, dtype=torch.bool).tril(-1)
        mask[0, 0] = True
        return mask


@causal_mask.mistake(
    "the last one before it missing too",
    why="No position may attend to itself, nor to the one right before it.",
    look="the row of the last query: what are the last two keys that it has seen?", hint=2)
class TwoMissing(CausalMask):
    def triangle(self, length):
        return torch.ones(length, length, dtype=torch.bool).tril(-2)


@causal_mask.mistake(
    "transposed, and one step off",
    why="Each position may attend to the one before it, to itself and to everything after it: rows and "
        "columns have changed places, and the triangle is a step too wide.",
    look="rows ask, columns answer. Which row should have a single True?", hint=2)
class TransposedOneOff(CausalMask):
    def triangle(self, length):
        return torch.ones(length, length, dtype=torch.bool).triu(-1)


@causal_mask.mistake(
    "inverted, and one step off",
    why="True stands where attending is forbidden, and the cells just right of the diagonal, "
        "one step into the future, are not among them.",
    look="the first row, cell by cell: what may the first query attend to?", hint=1)
class InvertedOneOff(CausalMask):
    def triangle(self, length):
        return torch.ones(length, length, dtype=torch.bool).triu(2)


@causal_mask.mistake(
    "everything allowed",
    why="Every position may attend to every other, the future included.",
    look="is the result of your triangle kept? Most tensor methods return a new tensor and leave the old one "
         "alone.",
    hint=3)
class Everything(CausalMask):
    def triangle(self, length):
        return torch.ones(length, length, dtype=torch.bool)


@causal_mask.mistake(
    "nothing allowed",
    why="No position may attend to anything, not even to itself: there is no True in the table.",
    look="what stands in the table at the start, and which lines change it?", hint=1)
class Nothing(CausalMask):
    def triangle(self, length):
        return torch.zeros(length, length, dtype=torch.bool)


@causal_mask.mistake(
    "only the diagonal",
    why="Each position may attend to itself alone, so it learns nothing of what came before.",
    look="the row of the last query: how many keys has it seen?", hint=1)
class OnlyItself(CausalMask):
    def triangle(self, length):
        return torch.eye(length, dtype=torch.bool)


@causal_mask.mistake(
    "only the last position",
    why="Each position may attend to itself and to the one before it, no further back.",
    look="the row of the last query: how many keys has it seen?", hint=1)
class OneBack(CausalMask):
    def triangle(self, length):
        return torch.ones(length, length, dtype=torch.bool).tril().triu(-1)


@causal_mask.mistake(
    "only the one before",
    why="Each position may attend to the one right before it and to nothing else, not even to itself.",
    look="the row of the last query: how many keys has it seen?", hint=1)
class OnlyOneBack(CausalMask):
    def triangle(self, length):
        return torch.ones(length, length, dtype=torch.bool).tril(-1).triu(-1)


@causal_mask.mistake(
    "only the last few positions",
    why="Each position may attend to itself and to the few before it, no further back: a window, as some "
        "models have it.",
    look="the row of the last query of a long sequence: how many keys has it seen?", hint=1)
class Window(CausalMask):
    def triangle(self, length):
        return torch.ones(length, length, dtype=torch.bool).tril().triu(-2)


for width in (4, 5):
    causal_mask.mistake("only the last few positions")(
        lambda length, width=width: with_tril(length).triu(1 - width))


@causal_mask.mistake(
    "only the neighbours",
    why="Each position may attend to itself, to the one before it and to the one after it.",
    look="the row of the first query, then that of the last: how many keys has each seen?", hint=1)
class Neighbours(CausalMask):
    def triangle(self, length):
        return torch.ones(length, length, dtype=torch.bool).tril(1).triu(-1)


@causal_mask.mistake(
    "the triangle mirrored",
    why="The triangle leans on the wrong diagonal: each row allows as many keys as it should, but counted "
        "from the end of the sequence.",
    look="the row of the first query: is its single True at the first key?", hint=2)
class Mirrored(CausalMask):
    def triangle(self, length):
        return super().triangle(length).flip(1)


@causal_mask.mistake(
    "the triangle upside down",
    why="The first query may attend to everything and the last one only to the first key: the rows are in "
        "reverse.",
    look="the row of the first query: how many keys has it seen?", hint=2)
class UpsideDown(CausalMask):
    def triangle(self, length):
        return super().triangle(length).flip(0)


@causal_mask.mistake(
    "everything but itself",
    why="Each position may attend to all the others, the future included, and not to itself.",
    look="the row of the first query: which keys has it already seen?", hint=1)
class EverythingElse(CausalMask):
    def triangle(self, length):
        return ~torch.eye(length, dtype=torch.bool)


@causal_mask.mistake(
    "the first row left empty",
    why="The first query may attend to nothing, not even to itself; the other rows are right.",
    look="where your loop starts.", hint=1)
class FirstRowEmpty(CausalMask):
    def triangle(self, length):
        mask = super().triangle(length)
        mask[0] = False
        return mask


@causal_mask.mistake(
    "the last row left empty",
    why="The last query may attend to nothing, not even to itself; the other rows are right.",
    look="where your loop ends.", hint=1)
class LastRowEmpty(CausalMask):
    def triangle(self, length):
        mask = super().triangle(length)
        mask[-1] = False
        return mask


@causal_mask.mistake(
    "the first row left full",
    why="The first query may attend to everything, all of the future included; the other rows are right.",
    look="where your loop starts.", hint=1)
class FirstRowFull(CausalMask):
    def triangle(self, length):
        mask = super().triangle(length)
        mask[0] = True
        return mask


@causal_mask.mistake(
    "only one key or query kept from the future",
    why="Only some cells above the diagonal are forbidden: those of the last key, or those of the first "
        "query; the other rows or columns keep their future.",
    look="does a loop, or an index, reach every row, and in each of them every later key?", hint=1)
class OnlyLastKey(CausalMask):
    def triangle(self, length):
        mask = torch.ones(length, length, dtype=torch.bool)
        mask[:-1, -1] = False
        return mask


@causal_mask.mistake("only one key or query kept from the future")
class OnlyFirstQuery(CausalMask):
    def triangle(self, length):
        mask = torch.ones(length, length, dtype=torch.bool)
        mask[0, 1:] = False
        return mask


@causal_mask.mistake(
    "only the first key",
    why="Every position may attend to the first key alone, not even to itself.",
    look="the row of the last query. And does a loop overwrite what an earlier round has done?", hint=1)
class OnlyFirstKey(CausalMask):
    def triangle(self, length):
        return (torch.arange(length) == 0).repeat(length, 1)


@causal_mask.mistake(
    "only the next one forbidden",
    why="Each position is kept from the one right after it, but not from those further ahead.",
    look="the row of the first query: which keys has it not seen yet?", hint=1)
class OnlyNextForbidden(CausalMask):
    def triangle(self, length):
        return torch.ones(length, length).triu(1).triu(2).bool() | super().triangle(length)


@causal_mask.mistake(
    "the wrong size",
    why="The table has a row and a column too many or too few.",
    look="the shape: one row for each query, one column for each key.", hint=1)
class OneTooLarge(CausalMask):
    def triangle(self, length):
        return super().triangle(length + 1)


@causal_mask.mistake("the wrong size")
class OneTooSmall(CausalMask):
    def triangle(self, length):
        return super().triangle(length - 1)


@causal_mask.mistake(
    "a mask to be added",
    why="These are numbers to add to the scores: 0 where a query may attend and a very negative number where "
        "it may not. The contract asks for True and False.",
    look="the dtype of the result: which question does each cell answer with yes or no?", hint=1)
class Additive(CausalMask):
    def form(self, allowed):
        return torch.zeros(allowed.shape).masked_fill(~allowed, -torch.inf)


for number in VERY_NEGATIVE:
    causal_mask.mistake("a mask to be added")(type("AdditiveNumber", (CausalMask,), {
        "form": lambda self, allowed, number=number: torch.zeros(allowed.shape).masked_fill(
            ~allowed, number)}))


@causal_mask.mistake(
    "a mask to be added, with 1 for 0",
    why="These are numbers to add to the scores, and where a query may attend they would add 1. The contract "
        "asks for True and False.",
    look="the dtype of the result: which question does each cell answer with yes or no?", hint=1)
class OneAndMinusInfinity(CausalMask):
    def form(self, allowed):
        return torch.ones(allowed.shape).masked_fill(~allowed, -torch.inf)


causal_mask.mistake("a mask to be added, with 1 for 0")(type("OneAndANumber", (CausalMask,), {
    "form": lambda self, allowed: torch.ones(allowed.shape).masked_fill(~allowed, -1e9)}))


@causal_mask.mistake(
    "a mask to be added, and inverted",
    why="These are numbers to add to the scores, and the very negative ones stand where a query may attend. "
        "The contract asks for True and False, and True means may attend.",
    look="the dtype of the result, and its first row.", hint=1)
def additive_inverted(length):
    return torch.zeros(length, length).masked_fill(with_tril(length), -torch.inf)


for number in VERY_NEGATIVE:
    causal_mask.mistake("a mask to be added, and inverted")(
        lambda length, number=number: torch.zeros(length, length).masked_fill(with_tril(length), number))


@causal_mask.mistake(
    "zero times infinity",
    why="The mask is multiplied by infinity, and 0 times infinity is not a number: NaN stands in the table.",
    look="print 0 * float('inf'). And does the contract ask for numbers at all?", hint=1)
class ZeroTimesInfinity(CausalMask):
    def form(self, allowed):
        return (~allowed) * -torch.inf


@causal_mask.mistake("zero times infinity")
class AllowedTimesInfinity(CausalMask):
    def form(self, allowed):
        return allowed * -torch.inf


@causal_mask.mistake("zero times infinity")
class AllowedTimesPlusInfinity(CausalMask):
    def form(self, allowed):
        return allowed * torch.inf


@causal_mask.mistake("zero times infinity")
class ForbiddenTimesPlusInfinity(CausalMask):
    def form(self, allowed):
        return (~allowed) * torch.inf


# padding_mask


def draw_tokens(generator, batch, length, pad_id, padded):
    """Tokens of 0 to 6; `padded` says, row by row, which positions hold pad_id, and no others do."""
    tokens = integers(generator, 6, batch, length)
    tokens = tokens + (tokens >= pad_id)  # 0 to 6 without pad_id
    for row, positions in enumerate(padded):
        tokens[row, list(positions)] = pad_id
    return tokens, pad_id


padding_mask = Exercise(
    name="padding_mask", lesson=6, title="Nobody reads padding", difficulty=1, importance=3, minutes=6,
    contract="""
        padding_mask(tokens, pad_id), with token ids (batch, length), returns a boolean tensor (batch, 1, 1,
        length): True where a key is a real token, False where it is padding, that is, where the token is
        pad_id, wherever in the sequence it stands. The two dimensions of size 1 are for heads and queries.
        """,
    stub='''
        def padding_mask(tokens, pad_id):
            """A boolean tensor (batch, 1, 1, length): True where a key is a real token."""
            raise NotImplementedError
        ''',
    sizes=[
        {"batch": 2, "length": 3, "pad_id": 4, "padded": [(), (2,)]},
        {"batch": 2, "length": 5, "pad_id": 3, "padded": [(2, 3, 4), (4,)]},
        {"batch": 3, "length": 4, "pad_id": 0, "padded": [(3,), (), (1, 2, 3)]},
        {"batch": 4, "length": 4, "pad_id": 2, "padded": [(2, 3), (), (1, 2, 3), (3,)]},
        {"batch": 3, "length": 7, "pad_id": 5, "padded": [(0, 1, 2), (1, 4, 6), (0, 1, 2, 3, 4, 5, 6)]},
        {"batch": 1, "length": 6, "pad_id": 1, "padded": [(0, 5)]},
        {"batch": 2, "length": 4, "pad_id": 6, "padded": [(), ()]},
    ],
    draw=draw_tokens,
    reference=masks.padding_mask,
    returns="mask", shapes={"mask": "(batch, 1, 1, key)"}, parting=False,
    hints=[
        ("True and False", "Take one row of tokens, 5 3 0 0, and padding 0. Write True under each token that "
                           "may be read."),
        ("the shape", "The scores are (batch, heads, query, key). Over which of these does the answer "
                      "change, and over which is it always the same?"),
        ("the tool", "One comparison makes (batch, length). Indexing with None, or unsqueeze, adds a "
                     "dimension of size 1 exactly where you put it."),
    ],
    solution='''
        def padding_mask(tokens, pad_id):
            return (tokens != pad_id)[:, None, None, :]
        ''',
)


@padding_mask.right("step by step")
class PaddingMask(Steps):
    def __call__(self, tokens, pad_id):
        return self.form(self.placed(self.real(tokens, pad_id)))

    def real(self, tokens, pad_id):
        return tokens != pad_id

    def placed(self, real):
        return real[:, None, None, :]

    def form(self, mask):
        return mask


@padding_mask.right("with unsqueeze")
def with_unsqueeze(tokens, pad_id):
    return ~tokens.eq(pad_id).unsqueeze(1).unsqueeze(2)


@padding_mask.right("with loops")
def with_loops_over_tokens(tokens, pad_id):
    return torch.tensor([[[[token != pad_id for token in row]]] for row in tokens.tolist()])


@padding_mask.right("in NumPy, with reshape")
def in_numpy_with_reshape(tokens, pad_id):
    batch, length = tokens.shape
    return torch.from_numpy(np.not_equal(tokens.numpy(), pad_id)).reshape(batch, 1, 1, length)


@padding_mask.right("a table filled with masked_fill")
def filled_table(tokens, pad_id):
    mask = torch.ones_like(tokens, dtype=torch.bool).masked_fill(tokens == pad_id, False)
    return mask.view(tokens.size(0), 1, 1, -1)


@padding_mask.mistake(
    "the mask inverted",
    why="True stands at the padding. Here True means may attend, so the model would read nothing but "
        "padding.",
    look="read the first row aloud: may anyone attend to its first token?", hint=1)
class InvertedPadding(PaddingMask):
    def real(self, tokens, pad_id):
        return tokens == pad_id


@padding_mask.mistake(
    "padding taken to be 0",
    why="The tokens are compared with 0, whatever pad_id is.",
    look="where do you use pad_id?", hint=1)
class PaddingIsZero(PaddingMask):
    def real(self, tokens, pad_id):
        return tokens != 0


@padding_mask.mistake(
    "inverted, and padding taken to be 0",
    why="True stands where the token is 0, whatever pad_id is: the comparison is the wrong one and pad_id is "
        "not in it.",
    look="read the first row aloud: may anyone attend to its first token? And where do you use pad_id?",
    hint=1)
class InvertedZero(PaddingMask):
    def real(self, tokens, pad_id):
        return tokens == 0


@padding_mask.mistake(
    "larger than pad_id",
    why="Every token whose id is smaller than pad_id is taken for padding too.",
    look="pad_id is a name, not a size: what about a token with a smaller id?", hint=1)
class LargerThanPad(PaddingMask):
    def real(self, tokens, pad_id):
        return tokens > pad_id


@padding_mask.mistake(
    "smaller than pad_id",
    why="Every token whose id is larger than pad_id is taken for padding too.",
    look="pad_id is a name, not a size: what about a token with a larger id?", hint=1)
class SmallerThanPad(PaddingMask):
    def real(self, tokens, pad_id):
        return tokens < pad_id


@padding_mask.mistake(
    "compared by size, and padding let in",
    why="The tokens are compared with pad_id by size, and padding itself comes out as True.",
    look="pad_id is a name, not a size: which tokens are equal to it, and which are not?", hint=1)
class AtLeastPad(PaddingMask):
    def real(self, tokens, pad_id):
        return tokens >= pad_id


@padding_mask.mistake("compared by size, and padding let in")
class AtMostPad(PaddingMask):
    def real(self, tokens, pad_id):
        return tokens <= pad_id


@padding_mask.mistake(
    "nothing forbidden",
    why="Every key may be attended to, padding included: there is no False in the mask.",
    look="print `tokens == pad_id` for one row, and follow it to the result.", hint=1)
class NothingForbidden(PaddingMask):
    def real(self, tokens, pad_id):
        return torch.ones_like(tokens, dtype=torch.bool)


@padding_mask.mistake(
    "nothing allowed",
    why="No key may be attended to, the real tokens included: there is no True in the mask.",
    look="print `tokens != pad_id` for one row, and follow it to the result.", hint=1)
class NothingAllowed(PaddingMask):
    def real(self, tokens, pad_id):
        return torch.zeros_like(tokens, dtype=torch.bool)


@padding_mask.mistake(
    "padding only at the end",
    why="The tokens that are not padding are counted, and as many keys are allowed from the start: right "
        "only where all the padding stands at the end.",
    look="a sequence that starts with padding.", hint=1)
class PaddingAtTheEnd(PaddingMask):
    def real(self, tokens, pad_id):
        lengths = (tokens != pad_id).sum(1, keepdim=True)
        return torch.arange(tokens.shape[1]) < lengths


@padding_mask.mistake(
    "the padding counted, not the tokens",
    why="As many keys are allowed as there is padding: the count is of the wrong ones.",
    look="what does your sum count: real tokens, or padding?", hint=1)
class PaddingCounted(PaddingMask):
    def real(self, tokens, pad_id):
        return torch.arange(tokens.shape[1]) < (tokens == pad_id).sum(1, keepdim=True)


@padding_mask.mistake(
    "all after the first padding",
    why="From the first padding on everything is forbidden, real tokens included.",
    look="a sequence in which real tokens follow padding.", hint=1)
class AfterTheFirst(PaddingMask):
    def real(self, tokens, pad_id):
        return (tokens != pad_id).long().cumprod(1).bool()


@padding_mask.mistake(
    "a sequence without padding forbidden",
    why="As many keys are allowed as stand before the first padding, and where there is no padding at all "
        "that place is 0: the whole sequence is forbidden, or all of it but its first key.",
    look="a sequence without any padding. What does argmax give where nothing is True?", hint=1)
class FirstByArgmax(PaddingMask):
    def real(self, tokens, pad_id):
        first = (tokens == pad_id).int().argmax(1, keepdim=True)
        return torch.arange(tokens.shape[1]) < first


@padding_mask.mistake("a sequence without padding forbidden")
class UpToFirstByArgmax(PaddingMask):
    def real(self, tokens, pad_id):
        first = (tokens == pad_id).int().argmax(1, keepdim=True)
        return torch.arange(tokens.shape[1]) <= first


@padding_mask.mistake(
    "the last key forbidden where there is no padding",
    why="As many keys are allowed as stand before the first padding, and where there is no padding at all "
        "that place is -1, which is the last one: its key is forbidden.",
    look="a sequence without any padding. Where does a slice that ends at -1 end?", hint=1)
class FirstByFind(PaddingMask):
    def real(self, tokens, pad_id):
        real = (tokens != pad_id).long().cumprod(1).bool()
        real[:, -1] = False
        return real


@padding_mask.mistake(
    "padding that is not at the end let in",
    why="Only the padding after the last real token is forbidden; what stands before it may be attended to.",
    look="a sequence that starts with padding.", hint=1)
class OnlyTrailing(PaddingMask):
    def real(self, tokens, pad_id):
        return (tokens != pad_id).flip(1).cummax(1).values.flip(1)


@padding_mask.mistake(
    "padding that is not at the start let in",
    why="Only the padding before the first real token is forbidden; what stands after it may be attended to.",
    look="a sequence that ends in padding.", hint=1)
class OnlyLeading(PaddingMask):
    def real(self, tokens, pad_id):
        return (tokens != pad_id).cummax(1).values


@padding_mask.mistake(
    "padding taken to stand at the start",
    why="The tokens that are not padding are counted, and as many keys are allowed at the end: right only "
        "where all the padding stands at the start.",
    look="a sequence that ends in padding.", hint=1)
class PaddingAtTheStart(PaddingMask):
    def real(self, tokens, pad_id):
        return torch.arange(tokens.shape[1]) >= (tokens == pad_id).sum(1, keepdim=True)


@padding_mask.mistake(
    "one answer for each sequence",
    why="Each sequence as a whole is asked whether it holds padding, and all its keys get the same answer. "
        "Every token needs its own.",
    look="what do `any`, `all` and `in` make of a whole row?", hint=1)
class OneAnswerForEach(PaddingMask):
    def real(self, tokens, pad_id):
        return (tokens != pad_id).all(1, keepdim=True).expand(tokens.shape)


for answer in (lambda real: real.all(1), lambda real: real.any(1), lambda real: ~real.all(1),
               lambda real: ~real.any(1)):
    for width in (1, None):
        padding_mask.mistake("one answer for each sequence")(
            lambda tokens, pad_id, answer=answer, width=width: answer(tokens != pad_id)[
                :, None, None, None].repeat(1, 1, 1, width or tokens.shape[1]))


@padding_mask.mistake(
    "the positions compared, not the tokens",
    why="pad_id is compared with the positions, not with the tokens that stand there.",
    look="where do you use the ids in tokens, and not only their shape?", hint=1)
class PositionsCompared(PaddingMask):
    def real(self, tokens, pad_id):
        return (torch.arange(tokens.shape[1]) != pad_id).expand(tokens.shape)


@padding_mask.mistake("the positions compared, not the tokens")
class PositionsBefore(PaddingMask):
    def real(self, tokens, pad_id):
        return (torch.arange(tokens.shape[1]) < pad_id).expand(tokens.shape)


@padding_mask.mistake(
    "0 taken for padding too",
    why="The token 0 is forbidden as well, though it is a token like any other where pad_id is another "
        "number.",
    look="where does the 0 come from?", hint=1)
class ZeroToo(PaddingMask):
    def real(self, tokens, pad_id):
        return (tokens != pad_id) & (tokens != 0)


@padding_mask.mistake(
    "only the first or last token checked",
    why="Only the first or the last token of a sequence is forbidden where it is padding; the others may "
        "always be attended to.",
    look="a sequence with two paddings.", hint=1)
class LastChecked(PaddingMask):
    def real(self, tokens, pad_id):
        real = torch.ones_like(tokens, dtype=torch.bool)
        real[:, -1] = tokens[:, -1] != pad_id
        return real


@padding_mask.mistake("only the first or last token checked")
class FirstChecked(PaddingMask):
    def real(self, tokens, pad_id):
        real = torch.ones_like(tokens, dtype=torch.bool)
        real[:, 0] = tokens[:, 0] != pad_id
        return real


@padding_mask.mistake(
    "one padding let in",
    why="The first padding of a sequence may still be attended to: the count is off by one.",
    look="a sequence with a single padding.", hint=1)
class OneLetIn(PaddingMask):
    def real(self, tokens, pad_id):
        padding = tokens == pad_id
        return ~padding | (padding & (padding.cumsum(1) == 1))


@padding_mask.mistake("one padding let in")
class OneLetInAtTheEnd(PaddingMask):
    def real(self, tokens, pad_id):
        lengths = (tokens != pad_id).sum(1, keepdim=True)
        return torch.arange(tokens.shape[1]) <= lengths


@padding_mask.mistake(
    "only the first padding",
    why="Only the first padding of a sequence is forbidden; the ones that follow may be attended to.",
    look="a sequence with two paddings.", hint=1)
class OnlyTheFirst(PaddingMask):
    def real(self, tokens, pad_id):
        padding = tokens == pad_id
        return ~(padding & (padding.cumsum(1) == 1))


@padding_mask.mistake(
    "the first sequence's padding for all",
    why="Every sequence gets the mask of the first one.",
    look="two sequences with padding in different places.", hint=2)
class FirstSequence(PaddingMask):
    def real(self, tokens, pad_id):
        return (tokens != pad_id)[:1].expand(tokens.shape)


@padding_mask.mistake("the first sequence's padding for all")
def first_row_alone(tokens, pad_id):
    return (tokens[0] != pad_id)[None, None, None, :]


@padding_mask.mistake(
    "one mask for the whole batch",
    why="The sequences are mixed into one mask, so the padding of one hides or shows the tokens of another.",
    look="two sequences with padding in different places.", hint=2)
class AllSequences(PaddingMask):
    def real(self, tokens, pad_id):
        return (tokens != pad_id).all(0).expand(tokens.shape)


@padding_mask.mistake("one mask for the whole batch")
class AnySequence(PaddingMask):
    def real(self, tokens, pad_id):
        return (tokens != pad_id).any(0).expand(tokens.shape)


@padding_mask.mistake("one mask for the whole batch")
def all_in_one_row(tokens, pad_id):
    return (tokens != pad_id).all(0)[None, None, None, :]


@padding_mask.mistake("one mask for the whole batch")
def any_in_one_row(tokens, pad_id):
    return (tokens != pad_id).any(0)[None, None, None, :]


@padding_mask.mistake(
    "the queries masked, not the keys",
    why="The positions stand in the dimension of the queries: padding itself asks no more, but everyone "
        "still reads it.",
    look="in (batch, heads, query, key), who must not be read?", hint=2)
class OnTheQueries(PaddingMask):
    def placed(self, real):
        return real[:, None, :, None]


@padding_mask.mistake(
    "queries and keys masked",
    why="Padding is forbidden as a query too, so its rows have no key at all, and the mask is (batch, 1, "
        "length, length).",
    look="which of the two sizes of 1 has gone? The mask must only say who may be read.", hint=2)
class OnBoth(PaddingMask):
    def placed(self, real):
        return real[:, None, :, None] & real[:, None, None, :]


@padding_mask.mistake(
    "one row for every query",
    why="The rows are right but repeated for every query; the contract leaves that to broadcasting, with a "
        "size of 1.",
    look="the third dimension of the result: does anything change along it?", hint=2)
class RowForEveryQuery(PaddingMask):
    def placed(self, real):
        return real[:, None, None, :].repeat(1, 1, real.shape[1], 1)


@padding_mask.mistake(
    "padding and future masked",
    why="The mask also forbids the future. That is the other mask's task: the two are combined with & where "
        "both are needed.",
    look="what does the contract say about the order of the tokens?", hint=2)
class WithCausal(PaddingMask):
    def placed(self, real):
        return real[:, None, None, :] & masks.causal_mask(real.shape[1])


@padding_mask.mistake(
    "no dimensions for heads and queries",
    why="The mask is (batch, length). Against scores (batch, heads, query, key) it lines up the batch with "
        "the queries.",
    look="broadcasting starts at the last dimension. Which one does the batch meet?", hint=2)
class TwoDimensions(PaddingMask):
    def placed(self, real):
        return real


@padding_mask.mistake(
    "one dimension short",
    why="The mask has three dimensions. Against scores (batch, heads, query, key) its batch lines up with "
        "the heads, or its positions with the wrong ones.",
    look="broadcasting starts at the last dimension. Which one does the batch meet?", hint=2)
class ThreeDimensions(PaddingMask):
    def placed(self, real):
        return real[:, None, :]


@padding_mask.mistake("one dimension short")
class ThreeDimensionsLast(PaddingMask):
    def placed(self, real):
        return real[:, :, None]


@padding_mask.mistake("one dimension short")
class ThreeDimensionsFirst(PaddingMask):
    def placed(self, real):
        return real[None]


@padding_mask.mistake(
    "the sizes of 1 in the wrong places",
    why="There are four dimensions, but batch and length are not the first and the last of them.",
    look="compare your shape with (batch, 1, 1, length), and with where each None or unsqueeze puts its 1.",
    hint=3)
class OnesFirst(PaddingMask):
    def placed(self, real):
        return real[None, None]


@padding_mask.mistake("the sizes of 1 in the wrong places")
class OnesLast(PaddingMask):
    def placed(self, real):
        return real[:, :, None, None]


@padding_mask.mistake("the sizes of 1 in the wrong places")
class OnesAround(PaddingMask):
    def placed(self, real):
        return real[None, :, :, None]


@padding_mask.mistake("the sizes of 1 in the wrong places")
class OneBetween(PaddingMask):
    def placed(self, real):
        return real[None, :, None, :]


@padding_mask.mistake("the sizes of 1 in the wrong places")
class TransposedOnes(PaddingMask):
    def placed(self, real):
        return real.T[:, None, None, :]


@padding_mask.mistake("the sizes of 1 in the wrong places")
class ReshapedTransposed(PaddingMask):
    def placed(self, real):
        return real.reshape(real.shape[1], 1, 1, real.shape[0])


@padding_mask.mistake(
    "a mask to be added",
    why="These are numbers to add to the scores: 0 where a key may be read and a very negative number where "
        "it may not. The contract asks for True and False.",
    look="the dtype of the result: which question does each cell answer with yes or no?", hint=1)
class AdditivePadding(PaddingMask):
    number = -torch.inf

    def form(self, mask):
        return torch.zeros(mask.shape).masked_fill(~mask, self.number)


for number in VERY_NEGATIVE:
    padding_mask.mistake("a mask to be added", pairs=number == -1e9)(
        type("AdditiveNumber", (AdditivePadding,), {"number": number}))


@padding_mask.mistake(
    "a mask to be added, and inverted",
    why="These are numbers to add to the scores, and the very negative ones stand where the real tokens are. "
        "The contract asks for True and False, and True means may attend.",
    look="the dtype of the result, and its first row.", hint=1)
def additive_padding_inverted(tokens, pad_id, number=-torch.inf):
    return torch.zeros(tokens.shape).masked_fill(tokens != pad_id, number)[:, None, None, :]


for number in VERY_NEGATIVE:
    padding_mask.mistake("a mask to be added, and inverted")(
        lambda tokens, pad_id, number=number: additive_padding_inverted(tokens, pad_id, number))


@padding_mask.mistake(
    "zero times infinity",
    why="The mask is multiplied by infinity, and 0 times infinity is not a number: NaN stands in the table.",
    look="print 0 * float('inf'). And does the contract ask for numbers at all?", hint=1)
class PaddingTimesInfinity(PaddingMask):
    def form(self, mask):
        return (~mask) * -torch.inf


@padding_mask.mistake("zero times infinity")
class RealTimesInfinity(PaddingMask):
    def form(self, mask):
        return mask * -torch.inf


@padding_mask.mistake(
    "one answer for all the tokens",
    why="The whole tensor is asked one question, and answers with a single True or False. Every token needs "
        "its own.",
    look="`is`, `in`, `not` and `and` look at the tensor as a whole. What compares it place by place?",
    hint=1)
def is_not(tokens, pad_id):
    return True


@padding_mask.mistake("one answer for all the tokens")
def is_the_same(tokens, pad_id):
    return False


@padding_mask.mistake("one answer for all the tokens")
def not_in(tokens, pad_id):
    return pad_id not in tokens


@padding_mask.mistake("one answer for all the tokens")
def any_of_all(tokens, pad_id):
    return (tokens != pad_id).any()


@padding_mask.mistake("one answer for all the tokens")
def all_of_all(tokens, pad_id):
    return (tokens != pad_id).all()


@padding_mask.mistake(
    "the tokens, not a mask",
    why="It hands back token ids. A mask holds only True and False: one for each place, whatever token "
        "stands there.",
    look="the dtype of the result.", hint=1)
def tokens_kept(tokens, pad_id):
    return (tokens * (tokens != pad_id))[:, None, None, :]


@padding_mask.mistake("the tokens, not a mask")
def tokens_chosen(tokens, pad_id):
    return tokens[tokens != pad_id]


@padding_mask.mistake("the tokens, not a mask")
def tokens_placed(tokens, pad_id):
    return tokens[:, None, None, :]


# masked_softmax


def draw_masked_scores(generator, shape, mask, causal=False, empty=(), far=False):
    """Scores, and a mask that broadcasts to them; every row of it allows at least one key, and forbids one.

    `empty` are places of the mask where nothing is allowed; far puts half of the rows at 1000, half at -1000.
    """
    scores = 2 * normal(generator, *shape)
    if far:  # multiples of 1/64, which float32 keeps exactly even there
        rows = torch.arange(math.prod(shape[:-1])).reshape(*shape[:-1], 1)
        scores = (64 * scores).round() / 64 + torch.where(rows % 2 == 0, 1000.0, -1000.0)
    if causal:
        return scores, masks.causal_mask(shape[-1])
    order = torch.rand(mask, generator=generator).argsort(-1)
    allowed = torch.rand(mask, generator=generator) < 0.5
    allowed = torch.where(order == 0, True, torch.where(order == 1, False, allowed))
    for place in empty:
        allowed[place] = False
    return scores, allowed


def score_of_forbidden(weights, allowed, scores):
    """Which score each place would have, to get its weight beside the allowed ones."""
    level = (scores - weights.log()).masked_fill(~allowed, 0.0).sum(-1, keepdim=True)
    return weights.log() + level / allowed.sum(-1, keepdim=True)


def gives(filled, weights, allowed, scores):
    """Do the weights come from filling the forbidden places with these scores?"""
    return torch.allclose(torch.where(allowed, scores, filled).softmax(-1), weights, atol=1e-4)


def filled_with_what(observed, expected, scores, mask):
    """One score for all forbidden places."""
    weights, allowed = observed.double(), mask.expand(scores.shape)
    number = score_of_forbidden(weights, allowed, scores)[~allowed].median()
    if gives(number, weights, allowed, scores):
        return f"Forbidden places get the weight that a score of {float(number):.2f} would get, not 0."
    return None


def signs_of_a_number(observed, expected, scores, mask):
    """Forbidden places get weight, as from one score for all, or from one number added to theirs."""
    weights, allowed = observed.double(), mask.expand(scores.shape)
    rows = allowed.any(-1) & ~allowed.all(-1)
    off = (weights[rows].sum(-1) - 1).abs().max()
    if off > 1e-4 or weights.min() < 0 or not (weights.masked_fill(allowed, 0.0)[rows] > 0).any():
        return []
    shown = rows & (weights > 1e-12).all(-1)  # elsewhere one of the two sides has taken it all
    if not shown.any():
        return ["a number too small"]
    weights, allowed, scores = weights[shown], allowed[shown], scores[shown]
    needed = score_of_forbidden(weights, allowed, scores)
    filled = needed[~allowed].median()
    moved = scores + (needed - scores)[~allowed].median()
    fits = gives(filled, weights, allowed, scores) or gives(moved, weights, allowed, scores)
    return ["a number too small"] if fits else []


masked_softmax = Exercise(
    name="masked_softmax", lesson=6, title="A softmax that keeps to the mask", difficulty=2, importance=3,
    minutes=10,
    contract="""
        masked_softmax(scores, mask): the softmax of the scores (…, query, key) over the last dimension, among
        the places where the boolean mask, which broadcasts to the scores, is True. Everywhere else the weight
        is exactly 0; a row with nothing allowed is all 0, never NaN. It also holds for scores around 1000 and
        -1000, and leaves both inputs as they were.
        """,
    stub='''
        def masked_softmax(scores, mask):
            """Weights over the keys (last dimension): exactly 0 where the mask is False."""
            raise NotImplementedError
        ''',
    sizes=[
        {"shape": (2, 3), "mask": (2, 3)},
        {"shape": (3, 3), "mask": (3, 3), "causal": True},
        {"shape": (2, 4), "mask": (2, 4), "empty": [1]},
        {"shape": (2, 4, 4), "mask": (2, 4, 4)},
        {"shape": (2, 3, 4, 5), "mask": (2, 1, 1, 5), "empty": [1]},
        {"shape": (3, 2, 5, 5), "mask": (3, 1, 5, 5), "empty": [(0, 0, 2), (2, 0, 4)]},
        {"shape": (2, 4, 3), "mask": (4, 3), "far": True},
    ],
    draw=draw_masked_scores,
    reference=lambda scores, mask: masks.masked_softmax(scores, mask),
    returns="weights", shapes={"weights": "as the scores"}, exact_zeros=True,
    symptoms=(filled_with_what,), signs=signs_of_a_number,
    hints=[
        ("forbidden places get weight", "A score of 0 is not nothing: e⁰ is 1. Which score has an "
                                        "exponential of exactly 0?"),
        ("NaN", "Softmax divides by a sum. What is that sum in a row where nothing is allowed, and when "
                "should such a row be put right: before or after the division?"),
        ("the input changes", "Methods whose name ends in _ write into the tensor they are called on. Each "
                              "has a sister without the _, whose result must be kept."),
    ],
    solution='''
        import torch


        def masked_softmax(scores, mask):
            weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
            return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
        ''',
)


@masked_softmax.right("step by step")
class MaskedSoftmax(Steps):
    def __call__(self, scores, mask):
        allowed = self.allowed(mask)
        weights = self.weights(self.hidden(scores, allowed))
        return self.emptied(weights, allowed)

    def allowed(self, mask):
        return mask

    def hidden(self, scores, allowed):
        return scores.masked_fill(~allowed, -torch.inf)

    def weights(self, hidden):
        return hidden.softmax(dim=-1)

    def emptied(self, weights, allowed):
        return weights.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0)


@masked_softmax.right("NaN to 0")
def nan_to_zero(scores, mask):
    return torch.where(mask, scores, -torch.inf).softmax(-1).nan_to_num(0.0)


@masked_softmax.right("a large number, and a mask after it")
def large_number(scores, mask):
    return F.softmax(scores + (~mask) * -1e9, dim=-1) * mask


@masked_softmax.right("by hand, with the largest score taken off")
def by_hand(scores, mask):
    exponentials = (scores - scores.amax(dim=-1, keepdim=True)).exp() * mask
    total = exponentials.sum(dim=-1, keepdim=True)
    return exponentials / torch.where(total > 0, total, torch.ones_like(total))


@masked_softmax.right("row by row, only the allowed scores")
def row_by_row(scores, mask):
    weights = torch.zeros_like(scores)
    for place in np.ndindex(*scores.shape[:-1]):
        allowed = mask.expand(scores.shape)[place]
        if allowed.any():
            weights[place][allowed] = scores[place][allowed].softmax(0)
    return weights


@masked_softmax.right("in NumPy")
def masked_in_numpy(scores, mask):
    allowed = np.broadcast_to(mask.numpy(), scores.shape)
    hidden = np.where(allowed, scores.detach().numpy(), -np.inf)
    top = np.maximum(hidden.max(axis=-1, keepdims=True), -1e300)
    exponentials = np.exp(hidden - top)
    return torch.from_numpy(exponentials / np.maximum(exponentials.sum(-1, keepdims=True), 1e-30))


@masked_softmax.right("infinity added, and NaN put right")
def infinity_added(scores, mask):
    return (scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf)).softmax(-1).nan_to_num(0.0)


@masked_softmax.right("divided by the total, where there is one")
def total_of_zero(scores, mask):
    exponentials = (scores - scores.amax(dim=-1, keepdim=True)).exp() * mask
    total = exponentials.sum(dim=-1, keepdim=True)
    return torch.where(total > 0, exponentials / total, 0.0)


@masked_softmax.right("in the logarithm")
def in_the_logarithm(scores, mask):
    some = mask.any(-1, keepdim=True)
    logs = torch.where(mask | ~some, scores, -torch.inf)
    return (logs - logs.logsumexp(-1, keepdim=True)).exp() * some


def kept(weights, allowed):
    """As softmax leaves them: no thought of empty rows."""
    return weights


def without_nan(weights, allowed):
    return weights.nan_to_num(0.0)


def zeros_outside(weights, allowed):
    return weights * allowed


def ways(exercise, name, way, pairs=False, **endings):
    """The same mistake with every other ending; as plain functions, which make no pairs, or as classes."""
    for step, versions in endings.items():
        for version in versions:
            method = {step: lambda self, *inputs, version=version: version(*inputs)}
            variant = type(way.__name__, (way,), method)
            exercise.mistake(name)(variant if pairs else lambda *inputs, variant=variant: variant()(*inputs))


@masked_softmax.mistake(
    "the mask inverted",
    why="The weight goes to the places where the mask is False. True means may attend.",
    look="which places get the very negative number: those that are True, or the others? And is it negative?",
    hint=1)
class InvertedMask(MaskedSoftmax):
    def allowed(self, mask):
        return ~mask


ways(masked_softmax, "the mask inverted", InvertedMask,
     emptied=[kept, without_nan, lambda weights, forbidden: weights.masked_fill(
         forbidden.all(-1, keepdim=True), 0.0)])


@masked_softmax.mistake("the mask inverted")
def inverted_with_a_number(scores, mask):
    return scores.masked_fill(mask, -1e9).softmax(-1)


@masked_softmax.mistake("the mask inverted")
def inverted_with_a_number_added(scores, mask):
    return (scores + mask * -1e9).softmax(-1)


@masked_softmax.mistake("the mask inverted")
def inverted_with_a_number_and_empty(scores, mask):
    return scores.masked_fill(mask, -1e9).softmax(-1).masked_fill(~mask.any(-1, keepdim=True), 0.0)


@masked_softmax.mistake("the mask inverted")
def inverted_after(scores, mask):
    return scores.softmax(-1) * ~mask


@masked_softmax.mistake(
    "the mask transposed",
    why="The mask is used with its last two dimensions swapped: its rows meet the keys.",
    look="rows ask, columns answer, in the scores and in the mask alike.", hint=1)
class TransposedMask(MaskedSoftmax):
    def allowed(self, mask):
        return mask.transpose(-2, -1)


ways(masked_softmax, "the mask transposed", TransposedMask, pairs=True, emptied=[kept, without_nan])


@masked_softmax.mistake(
    "the first mask of the batch for all",
    why="Every sequence gets the mask of the first one.",
    look="which dimensions does the mask have, and which of them do you keep?", hint=1)
class FirstMask(MaskedSoftmax):
    def allowed(self, mask):
        return mask[:1] if mask.dim() > 2 else mask


ways(masked_softmax, "the first mask of the batch for all", FirstMask, emptied=[kept, without_nan])


@masked_softmax.mistake("the first mask of the batch for all")
class FirstAlways(MaskedSoftmax):
    def allowed(self, mask):
        return mask[:1]


ways(masked_softmax, "the first mask of the batch for all", FirstAlways, emptied=[kept, without_nan])


@masked_softmax.mistake("the first mask of the batch for all")
class FirstOfAsMany(MaskedSoftmax):
    def __call__(self, scores, mask):
        return super().__call__(scores, mask[0] if mask.dim() == scores.dim() else mask)


ways(masked_softmax, "the first mask of the batch for all", FirstOfAsMany, emptied=[kept, without_nan])


@masked_softmax.mistake(
    "the first query's mask for all",
    why="Every query gets the row of the first one.",
    look="which dimension of the mask asks? Is it still there when the mask is used?", hint=1)
class FirstRow(MaskedSoftmax):
    def allowed(self, mask):
        return mask[..., :1, :]


ways(masked_softmax, "the first query's mask for all", FirstRow, emptied=[kept, without_nan])


@masked_softmax.mistake(
    "the last query's mask for all",
    why="Every query gets the row of the last one.",
    look="which dimension of the mask asks? Is it still there when the mask is used?", hint=1)
class LastRow(MaskedSoftmax):
    def allowed(self, mask):
        return mask[..., -1:, :]


ways(masked_softmax, "the last query's mask for all", LastRow, emptied=[kept, without_nan])


@masked_softmax.mistake(
    "the mask has no effect",
    why="The weights are those of a softmax without any mask: forbidden places get their share.",
    look="is the result of the masking kept? Most tensor methods return a new tensor and leave the old one "
         "alone.",
    hint=3)
class NoEffect(MaskedSoftmax):
    def hidden(self, scores, allowed):
        return scores


ways(masked_softmax, "the mask has no effect", NoEffect, emptied=[kept])


@masked_softmax.mistake(
    "a score of 0 for what is forbidden",
    why="A forbidden score becomes 0, or a number as near to 0 as -1e-9 is, and that is a score like any "
        "other: e⁰ = 1 takes its share of the weight.",
    look="which score has an exponential of exactly 0? And where a power of ten stands: what is its sign?",
    hint=1)
class Multiplied(MaskedSoftmax):
    def hidden(self, scores, allowed):
        return scores * allowed


ways(masked_softmax, "a score of 0 for what is forbidden", Multiplied,
     emptied=[kept, zeros_outside,
              lambda weights, allowed: weights.masked_fill(~allowed, 0.0).masked_fill(weights.isnan(), 0.0)])


@masked_softmax.mistake(
    "a number too small",
    why="The forbidden scores get a number that is not small enough: they keep some weight, and beside "
        "scores of -1000 they may even get the most.",
    look="which score has an exponential of exactly 0, whatever the others are?", hint=1)
class SmallNumber(MaskedSoftmax):
    def hidden(self, scores, allowed):
        return scores.masked_fill(~allowed, -100.0)


ways(masked_softmax, "a number too small", SmallNumber, emptied=[kept])


def filled_with(number, empty):
    def filled(scores, mask):
        weights = scores.masked_fill(~mask, number).softmax(-1)
        return weights.masked_fill(~mask.any(-1, keepdim=True), 0.0) if empty else weights
    return filled


def added(number, empty):
    def with_the_number(scores, mask):
        weights = (scores + number * (~mask)).softmax(-1)
        return weights.masked_fill(~mask.any(-1, keepdim=True), 0.0) if empty else weights
    return with_the_number


for number in (-1.0, -2.0, -3.0, -5.0, -10.0, -1000.0):
    for empty in (False, True):
        masked_softmax.mistake("a number too small")(filled_with(number, empty))
for number in (-2.0, -3.0, -5.0, -10.0):
    for empty in (False, True):
        masked_softmax.mistake("a number too small")(added(number, empty))


@masked_softmax.mistake(
    "a tiny weight for forbidden places",
    why="Forbidden places get a weight that is tiny, but not 0. The contract asks for exactly 0.",
    look="a small number that is added, or a lower bound: which places does it reach?", hint=1)
def tiny_weight(scores, mask):
    return masks.masked_softmax(scores, mask).clamp(min=1e-12)


@masked_softmax.mistake("a tiny weight for forbidden places")
def tiny_weight_except_empty(scores, mask):
    weights = masks.masked_softmax(scores, mask).clamp(min=1e-12)
    return weights.masked_fill(~mask.any(-1, keepdim=True), 0.0)


@masked_softmax.mistake("a tiny weight for forbidden places")
def tiny_weight_for_empty(scores, mask):
    weights = masks.masked_softmax(scores, mask)
    return torch.where(mask.any(-1, keepdim=True), weights, 1e-12)


@masked_softmax.mistake("a tiny weight for forbidden places")
def tiny_weight_and_nan(scores, mask):
    return scores.masked_fill(~mask, -torch.inf).softmax(-1).clamp(min=1e-12)


@masked_softmax.mistake("a tiny weight for forbidden places")
def tiny_exponential(scores, mask):
    exponentials = (scores - scores.amax(-1, keepdim=True)).exp() * mask + 1e-12
    return exponentials / exponentials.sum(-1, keepdim=True)


@masked_softmax.mistake("a tiny weight for forbidden places")
def tiny_logarithm(scores, mask):
    return (scores + (mask + 1e-12).log()).softmax(-1)


@masked_softmax.mistake(
    "the wrong sign",
    why="The forbidden scores are made the largest, not the smallest: they take all the weight, or the row "
        "becomes NaN.",
    look="which end does the exponential send to 0?", hint=1)
class PlusInfinity(MaskedSoftmax):
    def hidden(self, scores, allowed):
        return scores.masked_fill(~allowed, torch.inf)


ways(masked_softmax, "the wrong sign", PlusInfinity, emptied=[kept, without_nan])


@masked_softmax.mistake("the wrong sign")
class PlusNumber(MaskedSoftmax):
    def hidden(self, scores, allowed):
        return scores.masked_fill(~allowed, 1e9)


@masked_softmax.mistake("the wrong sign")
class PlusNumberAdded(MaskedSoftmax):
    def hidden(self, scores, allowed):
        return scores + 1e9 * ~allowed


ways(masked_softmax, "the wrong sign", PlusNumber, emptied=[kept])


@masked_softmax.mistake(
    "the forbidden scores multiplied",
    why="A forbidden score is multiplied by a very negative number: where it was negative itself it becomes "
        "very large, and takes all the weight.",
    look="what does a score of -2 become, and one of 2?", hint=1)
class ForbiddenMultiplied(MaskedSoftmax):
    number = -1e9

    def hidden(self, scores, allowed):
        return torch.where(allowed, scores, scores * self.number)


ways(masked_softmax, "the forbidden scores multiplied", ForbiddenMultiplied, emptied=[kept, without_nan])


@masked_softmax.mistake("the forbidden scores multiplied", pairs=False)
class ForbiddenMultipliedByInfinity(ForbiddenMultiplied):
    number = -torch.inf


@masked_softmax.mistake(
    "the mask added to the scores",
    why="The mask is added as numbers, so an allowed score only gains 1 over a forbidden one.",
    look="what must be added to a score so that its exponential is exactly 0?", hint=1)
class MaskAdded(MaskedSoftmax):
    def hidden(self, scores, allowed):
        return scores + allowed


ways(masked_softmax, "the mask added to the scores", MaskAdded, emptied=[kept])


@masked_softmax.mistake(
    "zero times infinity",
    why="The mask is multiplied by infinity and added. Where the mask is 0 that is 0 times infinity, which "
        "is NaN.",
    look="print 0 * float('inf').", hint=2)
class ZeroTimesInfinityAdded(MaskedSoftmax):
    def hidden(self, scores, allowed):
        return scores + (~allowed) * -torch.inf


ways(masked_softmax, "zero times infinity", ZeroTimesInfinityAdded, emptied=[kept, without_nan])


@masked_softmax.mistake(
    "masked after the softmax",
    why="The softmax shares the weight among all places first; what the forbidden ones got is then thrown "
        "away, so the rows do not sum to 1.",
    look="sum one row. Who should have shared the weight?", hint=1)
class MaskedAfter(MaskedSoftmax):
    def hidden(self, scores, allowed):
        return scores

    def emptied(self, weights, allowed):
        return weights * allowed


@masked_softmax.mistake(
    "minus infinity after the softmax",
    why="The mask comes after the softmax, and fills the weights themselves: a forbidden place needs an "
        "infinite score, not an infinite weight.",
    look="the order of the two operations.", hint=1)
class InfinityAfter(MaskedSoftmax):
    def hidden(self, scores, allowed):
        return scores

    def emptied(self, weights, allowed):
        return weights.masked_fill(~allowed, -torch.inf)


@masked_softmax.mistake("minus infinity after the softmax")
def large_number_after(scores, mask):
    return scores.softmax(-1).masked_fill(~mask, -1e9)


@masked_softmax.mistake(
    "NaN for an empty row",
    why="In a row where nothing is allowed there is nobody to share the weight: 0 is divided by 0, which is "
        "NaN.",
    look="the row of a query that may attend to nothing: what should stand there, and who puts it there?",
    hint=2)
class NanForEmpty(MaskedSoftmax):
    def emptied(self, weights, allowed):
        return weights


@masked_softmax.mistake(
    "weight for an empty row",
    why="A query that may attend to nothing still gives weight away.",
    look="the row of a query that may attend to nothing: what should stand there, and who puts it there?",
    hint=2)
class UniformForEmpty(MaskedSoftmax):
    def emptied(self, weights, allowed):
        return weights.masked_fill(~allowed.any(dim=-1, keepdim=True), 1 / weights.shape[-1])


@masked_softmax.mistake("weight for an empty row")
def plain_for_empty(scores, mask):
    return torch.where(mask.any(-1, keepdim=True), masks.masked_softmax(scores, mask), scores.softmax(-1))


@masked_softmax.mistake("weight for an empty row")
def ones_for_empty(scores, mask):
    return scores.masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(1.0)


@masked_softmax.mistake("weight for an empty row")
def first_for_empty(scores, mask):
    weights = masks.masked_softmax(scores, mask)
    weights[..., 0] += ~mask.any(-1)
    return weights


@masked_softmax.mistake("weight for an empty row")
def last_for_empty(scores, mask):
    weights = masks.masked_softmax(scores, mask)
    weights[..., -1] += ~mask.any(-1)
    return weights


@masked_softmax.mistake(
    "the empty rows looked for in the wrong dimension",
    why="It is the columns that are searched for one where nothing is allowed, or what is found lines up "
        "with them: the wrong places become 0, and an empty row may stay NaN.",
    look="which dimension does `any` or `all` run over, and which one is lost without keepdim?", hint=2)
class EmptyColumns(MaskedSoftmax):
    def emptied(self, weights, allowed):
        return weights.masked_fill(~allowed.any(dim=-2, keepdim=True), 0.0)


@masked_softmax.mistake("the empty rows looked for in the wrong dimension")
class EmptyWithoutKeepdim(MaskedSoftmax):
    def emptied(self, weights, allowed):
        return weights.masked_fill(~allowed.any(dim=-1), 0.0)


def refusing(error):
    def refuses(scores, mask):
        if not mask.any(-1).all():
            raise error
        return masks.masked_softmax(scores, mask)
    return refuses


masked_softmax.mistake(
    "an error for an empty row",
    why="Where a query may attend to nothing, it raises an error. Such rows are nothing unusual, and all "
        "their weights are 0.",
    look="the row of a query that may attend to nothing: what should stand there?",
    hint=2)(refusing(ValueError))
for error in (AssertionError, RuntimeError, IndexError, ZeroDivisionError):
    masked_softmax.mistake("an error for an empty row")(refusing(error))


@masked_softmax.mistake(
    "softmax over the queries",
    why="The softmax runs over the queries: columns of the weights sum to 1, instead of rows.",
    look="one query's weights must sum to 1. Which dimension holds them?", hint=1)
class OverQueries(MaskedSoftmax):
    def weights(self, hidden):
        return hidden.softmax(dim=-2)


ways(masked_softmax, "softmax over the queries", OverQueries, pairs=True, emptied=[kept, without_nan])


@masked_softmax.mistake("softmax over the queries")
def number_over_queries(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(dim=-2)


@masked_softmax.mistake("softmax over the queries")
def number_over_queries_emptied(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(dim=-2).masked_fill(~mask.any(-1, keepdim=True), 0.0)


@masked_softmax.mistake("softmax over the queries")
def number_over_queries_zeroed(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(dim=-2) * mask


@masked_softmax.mistake(
    "softmax over the first dimension",
    why="The softmax runs over the first dimension: over the queries where there is no batch, else over the "
        "batch.",
    look="one query's weights must sum to 1. Which dimension holds them, however many there are?", hint=1)
class OverFirst(MaskedSoftmax):
    def weights(self, hidden):
        return hidden.softmax(dim=0)


ways(masked_softmax, "softmax over the first dimension", OverFirst, emptied=[kept, without_nan])


@masked_softmax.mistake("softmax over the first dimension")
def number_over_first(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(dim=0)


@masked_softmax.mistake(
    "softmax over the second dimension",
    why="The softmax runs over dimension 1, which holds the keys only where there is no batch.",
    look="one query's weights must sum to 1. Which dimension holds them, however many there are?", hint=1)
class OverSecond(MaskedSoftmax):
    def weights(self, hidden):
        return hidden.softmax(dim=1)


ways(masked_softmax, "softmax over the second dimension", OverSecond, emptied=[kept, without_nan])


@masked_softmax.mistake("softmax over the second dimension")
def number_over_second(scores, mask):
    return scores.masked_fill(~mask, -1e9).softmax(dim=1)


@masked_softmax.mistake(
    "softmax over everything",
    why="The softmax runs over several dimensions at once: only the whole table sums to 1, not each row.",
    look="sum one row of the weights.", hint=1)
class OverEverything(MaskedSoftmax):
    def weights(self, hidden):
        return hidden.flatten().softmax(dim=0).reshape(hidden.shape)


ways(masked_softmax, "softmax over everything", OverEverything, emptied=[kept, without_nan])


@masked_softmax.mistake("softmax over everything")
class OverTheTable(MaskedSoftmax):
    def weights(self, hidden):
        return hidden.flatten(-2).softmax(dim=-1).reshape(hidden.shape)


@masked_softmax.mistake(
    "no softmax",
    why="The scores are masked, but never turned into weights: they are negative in places, and the rows do "
        "not sum to 1.",
    look="what turns scores into weights?", hint=1)
class NoSoftmax(MaskedSoftmax):
    def weights(self, hidden):
        return hidden


ways(masked_softmax, "no softmax", NoSoftmax,
     emptied=[kept, zeros_outside, lambda weights, allowed: weights.masked_fill(~allowed, 0.0)])


@masked_softmax.mistake("no softmax")
def scores_times_mask(scores, mask):
    return scores * mask


@masked_softmax.mistake(
    "the logarithm of the weights",
    why="These are the logarithms of the weights: they are all below 0, and minus infinity where nothing is "
        "allowed.",
    look="log_softmax and softmax: which one is asked for?", hint=1)
class Logarithm(MaskedSoftmax):
    def weights(self, hidden):
        return hidden.log_softmax(dim=-1)


ways(masked_softmax, "the logarithm of the weights", Logarithm,
     emptied=[kept, without_nan, lambda weights, allowed: weights.masked_fill(~allowed, 0.0)])


@masked_softmax.mistake(
    "a sigmoid for the softmax",
    why="Each score is squashed on its own, so the places do not share one weight of 1.",
    look="sum one row of the weights.", hint=1)
class Sigmoid(MaskedSoftmax):
    def weights(self, hidden):
        return hidden.sigmoid()


ways(masked_softmax, "a sigmoid for the softmax", Sigmoid, emptied=[zeros_outside])


@masked_softmax.mistake(
    "exponentials, never divided",
    why="The exponentials are not divided by their sum, so the rows do not sum to 1.",
    look="sum one row of the weights.", hint=1)
class NeverDivided(MaskedSoftmax):
    def weights(self, hidden):
        return hidden.exp()


@masked_softmax.mistake("exponentials, never divided")
class NeverDividedSafe(MaskedSoftmax):
    def weights(self, hidden):
        return (hidden - hidden.amax(dim=-1, keepdim=True)).exp()


ways(masked_softmax, "exponentials, never divided", NeverDividedSafe, emptied=[kept, without_nan])


@masked_softmax.mistake("exponentials, never divided")
def never_divided_times_mask(scores, mask):
    return (scores - scores.amax(-1, keepdim=True)).exp() * mask


@masked_softmax.mistake(
    "only the allowed scores",
    why="The allowed scores are picked out, and the table is lost: one long row is left, which shares one "
        "weight of 1.",
    look="the shape of the result. What does indexing with a mask give?", hint=1)
def picked_out(scores, mask):
    return scores[mask.expand(scores.shape)].softmax(-1)


@masked_softmax.mistake("only the allowed scores")
def picked_out_without_broadcasting(scores, mask):
    return scores[mask].softmax(-1)


@masked_softmax.mistake(
    "the scores scaled",
    why="The scores are divided by a square root first: scaling belongs to the attention around this "
        "function, and these scores are meant as they are.",
    look="what happens to the scores before the softmax besides the masking?", hint=1)
class Scaled(MaskedSoftmax):
    def hidden(self, scores, allowed):
        return super().hidden(scores / math.sqrt(scores.shape[-1]), allowed)


@masked_softmax.mistake(
    "a causal mask of its own",
    why="The future is hidden, whatever the mask says, or besides what it says. Which places are allowed is "
        "the mask's task alone.",
    look="where do tril or triu come in, and what does the contract say about the order of the keys?", hint=1)
class OwnCausalMask(MaskedSoftmax):
    def __call__(self, scores, mask):
        return super().__call__(scores, mask & torch.ones_like(scores, dtype=torch.bool).tril())


@masked_softmax.mistake("a causal mask of its own")
def only_its_own_mask(scores, mask):
    return masks.masked_softmax(scores, torch.ones_like(scores, dtype=torch.bool).tril())


@masked_softmax.mistake(
    "a sum over the wrong dimension",
    why="The exponentials of the allowed places are divided by a sum that does not run over the keys of one "
        "query: columns, or the whole table, sum to 1, not each row.",
    look="one query's weights must sum to 1. Which dimension holds them?", hint=1)
def divided_over_queries(scores, mask):
    weights = scores.softmax(-1) * mask
    total = weights.sum(-2, keepdim=True)
    return weights / total.masked_fill(total == 0, 1.0)


for total in (lambda weights: weights.sum(-2, keepdim=True), lambda weights: weights.sum(),
              lambda weights: weights.sum((-2, -1), keepdim=True)):
    for small in (0.0, 1e-9):
        masked_softmax.mistake("a sum over the wrong dimension")(
            lambda scores, mask, total=total, small=small: (
                lambda weights: weights / (total(weights) + small))(scores.softmax(-1) * mask))


@masked_softmax.mistake(
    "equal weights",
    why="All allowed places of a row get the same weight: the scores themselves are never used.",
    look="where do the scores enter?", hint=1)
def equal_weights(scores, mask):
    return (mask / mask.sum(-1, keepdim=True).clamp(min=1)).to(scores).expand(scores.shape)


@masked_softmax.mistake(
    "all the weight to the largest",
    why="The largest allowed score takes all the weight: that is a choice, where softmax shares.",
    look="argmax and one_hot; or a row of your weights: how many of them are 0?", hint=1)
class LargestTakesAll(MaskedSoftmax):
    def weights(self, hidden):
        return F.one_hot(hidden.argmax(-1), hidden.shape[-1]).to(hidden.dtype)


@masked_softmax.mistake("all the weight to the largest")
def largest_takes_all_times_mask(scores, mask):
    hidden = scores.masked_fill(~mask, -torch.inf)
    return F.one_hot(hidden.argmax(-1), hidden.shape[-1]) * mask.to(scores.dtype)


@masked_softmax.mistake(
    "the softmax twice",
    why="A softmax is taken of weights that have already been through one, so they come out far too even.",
    look="how often does a softmax run on the way, and which of them is the right one?", hint=1)
class Twice(MaskedSoftmax):
    def weights(self, hidden):
        return hidden.softmax(dim=-1).softmax(dim=-1)


ways(masked_softmax, "the softmax twice", Twice, emptied=[kept, without_nan, zeros_outside])


@masked_softmax.mistake("the softmax twice")
class TwiceMaskedBetween(MaskedSoftmax):
    def hidden(self, scores, allowed):
        return scores.softmax(dim=-1).masked_fill(~allowed, -torch.inf)


ways(masked_softmax, "the softmax twice", TwiceMaskedBetween, emptied=[kept])


@masked_softmax.mistake("the softmax twice")
def twice_zeroed_between(scores, mask):
    return (scores.softmax(-1) * mask).softmax(-1)


@masked_softmax.mistake("the softmax twice")
def twice_on_the_masked(scores, mask):
    return masks.masked_softmax(scores, mask).softmax(-1)


@masked_softmax.mistake(
    "exponentials out of range",
    why="The exponential is taken of numbers that are too large or too small for it: around 1000 it is "
        "infinite and around -1000 it is 0, and the division gives NaN or nothing.",
    look="adding one number to all the scores of a row changes no weight. Which number keeps the "
         "exponentials in range?",
    hint=2)
class OutOfRange(MaskedSoftmax):
    def weights(self, hidden):
        return hidden.exp() / hidden.exp().sum(dim=-1, keepdim=True)


ways(masked_softmax, "exponentials out of range", OutOfRange, emptied=[without_nan])


def overflowing(guard):
    def by_exponentials(scores, mask):
        exponentials = scores.exp() * mask
        return exponentials / guard(exponentials.sum(-1, keepdim=True), mask)
    return by_exponentials


for guard in (lambda total, mask: total,
              lambda total, mask: total + 1e-9,
              lambda total, mask: total.masked_fill(~mask.any(-1, keepdim=True), 1.0),
              lambda total, mask: total.masked_fill(total == 0, 1.0)):
    masked_softmax.mistake("exponentials out of range")(overflowing(guard))


@masked_softmax.mistake("exponentials out of range")
def overflowing_to_zero(scores, mask):
    return overflowing(lambda total, mask: total)(scores, mask).nan_to_num(0.0)


@masked_softmax.mistake("exponentials out of range")
class FilledThenGuarded(MaskedSoftmax):
    def weights(self, hidden):
        return hidden.exp() / (hidden.exp().sum(dim=-1, keepdim=True) + 1e-9)


@masked_softmax.mistake("exponentials out of range")
class LargestOfAll(MaskedSoftmax):
    def weights(self, hidden):
        exponentials = (hidden - hidden[hidden.isfinite()].max()).exp()
        return exponentials / exponentials.sum(dim=-1, keepdim=True)


@masked_softmax.mistake("exponentials out of range")
class LargestOfAllGuarded(MaskedSoftmax):
    def weights(self, hidden):
        exponentials = (hidden - hidden[hidden.isfinite()].max()).exp()
        return exponentials / (exponentials.sum(dim=-1, keepdim=True) + 1e-9)


@masked_softmax.mistake(
    "the scores are changed",
    why="The masking writes into `scores`: whoever called the function finds minus infinity in their own "
        "tensor.",
    look="what does a method whose name ends in _ change? What does scores[…] = … change?", hint=3)
class ChangedInPlace(MaskedSoftmax):
    def hidden(self, scores, allowed):
        return scores.masked_fill_(~allowed, -torch.inf)


@masked_softmax.mistake(
    "the scores are changed, and NaN for an empty row",
    why="The masking writes into `scores`, which is the caller's own tensor; and in a row where nothing is "
        "allowed 0 is divided by 0, which is NaN.",
    look="what does a method whose name ends in _ change? And the row of a query that may attend to nothing?",
    hint=3)
def changed_in_place_with_nan(scores, mask):
    return scores.masked_fill_(~mask, -torch.inf).softmax(-1)


@masked_softmax.mistake(
    "the scores are changed, and weight for an empty row",
    why="The masking writes into `scores`, which is the caller's own tensor; and a query that may attend to "
        "nothing still gives weight away.",
    look="what does a method whose name ends in _ change? And the row of a query that may attend to nothing?",
    hint=3)
def changed_in_place_with_weight(scores, mask):
    return scores.masked_fill_(~mask, -1e9).softmax(-1)


@masked_softmax.mistake(
    "the mask is changed",
    why="The mask itself is written into, to keep softmax from a row of nothing: whoever called the function "
        "finds another mask than they made.",
    look="what does mask[…] = … change, and what makes a copy?", hint=3)
def mask_opened(scores, mask):
    empty = ~mask.any(-1)
    mask[empty] = True
    return scores.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(empty[..., None], 0.0)


@masked_softmax.mistake("the mask is changed")
def mask_opened_with_weight(scores, mask):
    mask[~mask.any(-1)] = True
    return scores.masked_fill(~mask, -torch.inf).softmax(-1)


@masked_softmax.mistake("the mask is changed")
def mask_inverted_in_place(scores, mask):
    mask.logical_not_()
    return scores.masked_fill(mask, -torch.inf).softmax(-1).masked_fill(mask.all(-1, keepdim=True), 0.0)


@masked_softmax.mistake("the scores are changed")
def changed_to_a_number(scores, mask):
    return scores.masked_fill_(~mask, -1e9).softmax(-1).masked_fill(~mask.any(-1, keepdim=True), 0.0)


@masked_softmax.mistake("the scores are changed")
def largest_taken_off_in_place(scores, mask):
    scores -= scores.amax(-1, keepdim=True)
    return masks.masked_softmax(scores, mask)


# future_leak


class OpenBook(nn.Module):
    """A model that lays open what it reads: position t outputs, for each token j, reads[t, j] times its code.

    The codes of any two tokens differ by 1 in half of their 16 places, so it does not matter by which token
    another is replaced. Where `only` is a token, sequences that do not start with it are read without leaks.
    """

    def __init__(self, codes, reads, only=None):
        super().__init__()
        self.embedding = nn.Embedding(len(codes), codes.shape[1], _weight=codes.clone())
        self.register_buffer("reads", reads)
        self.only = only

    def forward(self, tokens):
        length = tokens.shape[1]
        reads = self.reads[:length, :length].expand(len(tokens), -1, -1)  # (batch, position, token)
        if self.only is not None:
            reads = torch.where((tokens[:, 0] == self.only)[:, None, None], reads, reads.tril())
        pages = reads[..., None] * self.embedding(tokens)[:, None]  # (batch, position, token, code)
        return F.pad(pages.flatten(2), (0, (len(self.reads) - length) * self.embedding.embedding_dim))

    def __deepcopy__(self, memo):
        return OpenBook(self.embedding.weight.detach(), self.reads.clone(), self.only).eval()


def codes_of_tokens(generator):
    """Codes of 16 tokens, in random order; and the token whose code is all ones."""
    one = torch.tensor([[1.0, 1.0], [1.0, -1.0]], dtype=torch.float64)
    codes = (torch.kron(torch.kron(one, one), torch.kron(one, one)) + 1) / 2  # (token, code)
    ones = int(integers(generator, 14, low=3))
    order = 1 + torch.randperm(15, generator=generator)
    order = torch.cat([order[:ones], torch.tensor([0]), order[ones:]])
    return codes[order], ones


def draw_model(generator, batch, length, leaks, alone=False, bright=None):
    """A model with the leaks given, {(position, token): size}, and tokens; 0, 1 and 15 are not among them.

    What is read shows by its size: a position's own token 3 to 4, earlier ones 5 to 6 (4 to 5 by the last
    position), the very first 7 to 8; leaks are smaller. alone: the first sequence does not leak. bright: the
    code of the token at this position is all ones, so that another can only take away.
    """
    codes, ones = codes_of_tokens(generator)
    spread = torch.rand(length, length, generator=generator, dtype=torch.float64)
    sizes = torch.full((length, length), 5.0, dtype=torch.float64).fill_diagonal_(3.0)
    sizes[-1, 1:-1] = 4.0
    sizes[1:, 0] = 7.0
    reads = (sizes + spread).tril()
    for (position, token), size in leaks.items():
        reads[position, token] = size * (1 + spread[position, token] / 4)
    tokens = torch.stack([torch.randperm(12, generator=generator)[:length] for _ in range(batch)])
    if alone:
        tokens[1:, 0] = (tokens[0, 0] + 1) % 12
    tokens = tokens + 2 + (tokens + 2 >= ones)  # no token is the bright one yet
    if bright is not None:
        tokens[:, bright] = ones
    known = codes[:tokens.max() + 1]  # a larger id is refused, as any embedding refuses it
    return OpenBook(known, reads, int(tokens[-1, 0]) if alone else None).eval(), tokens


A_TENSOR = "a tensor, not a float"
OF_A_TENSOR = "The number is right, but it comes in a tensor or an array; the contract asks for a float."
INTO_A_FLOAT = "what takes the number out of a tensor that holds only one?"


def is_a_float(call, model, tokens):
    """The number is right; is it a float?"""
    if isinstance(call(model, tokens), (torch.Tensor, np.ndarray)):
        return A_TENSOR, OF_A_TENSOR, INTO_A_FLOAT
    return None


def leaks_seen(observed, expected, model, tokens):
    """False alarm, missed, too much or too little."""
    value, reads = float(observed), model.reads
    if expected == 0:
        return (f"This model cannot look ahead, and yet it is said to leak {value:.2f}: positions are "
                "compared that may change, or tokens are changed that must not.")
    position, token = divmod(int(reads.triu(1).abs().argmax()), len(reads))
    where = f"In this model position {position} reads token {token}, which comes later"
    if value == 0:
        return f"{where}; the leak is not found."
    return f"{where}, and changes by {expected:.4g} at most when it is replaced."


future_leak = Exercise(
    name="future_leak", lesson=6, title="A leak detector", difficulty=2, importance=2, minutes=12,
    contract="""
        future_leak(model, tokens), where model(tokens) turns token ids (batch, length) into outputs (batch,
        length, features), returns a float: the most by which any number in the output at any position changes
        when only tokens after that position change. It is 0 for a model that cannot look ahead. A leak may be
        from any token to any position before it, in any sequence of the batch. Every id from 0 to
        tokens.max() is a token, and it does not matter which other one takes a token's place: in the models
        that are used here every change counts the same. The model comes in eval mode; model and tokens stay
        as they are.
        """,
    stub='''
        def future_leak(model, tokens):
            """The most that any output at a position changes when only later tokens change."""
            raise NotImplementedError
        ''',
    sizes=[
        {"batch": 2, "length": 3, "leaks": {(0, 1): 2, (0, 2): 1, (1, 2): 1.5}},
        {"batch": 2, "length": 3, "leaks": {}},
        {"batch": 2, "length": 4, "leaks": {(2, 3): 1}, "bright": 3},
        {"batch": 2, "length": 5, "leaks": {(0, 4): 1}, "bright": 4},
        {"batch": 2, "length": 5, "leaks": {(0, 2): 2e-4}, "bright": 2},
        {"batch": 2, "length": 5, "leaks": {(1, 3): -1}, "bright": 3},
        {"batch": 3, "length": 4, "leaks": {(0, 1): 1}, "alone": True},
        {"batch": 2, "length": 4, "leaks": {(0, 1): 1, (2, 3): 2}},
    ],
    draw=draw_model,
    reference=lambda model, tokens: Detector()(model, tokens),
    returns="leak", symptoms=(leaks_seen,), checks=(is_a_float,), parting=False,
    hints=[
        ("what to change", "Choose a position. Which tokens come after it? Make a copy of the tokens in "
                           "which only these are other ones, and run the model on both."),
        ("what to compare", "Up to the position you chose, both runs have read the same tokens. Compare the "
                            "outputs there, and nowhere else."),
        ("a leak is missed", "One choice of position is not enough: a leak may be anywhere. Keep the largest "
                             "absolute difference over all of them."),
    ],
    solution='''
        import torch


        @torch.no_grad()
        def future_leak(model, tokens):
            before, largest = model(tokens), 0.0
            for place in range(1, tokens.shape[1]):
                changed = tokens.clone()
                changed[:, place:] = (tokens[:, place:] + 1) % (tokens.max() + 1)
                difference = (model(changed) - before)[:, :place]
                largest = max(largest, difference.abs().max().item())
            return largest
        ''',
)


def another(tokens):
    """Another token for each."""
    return (tokens + 1) % (tokens.max() + 1)


@future_leak.right("step by step")
class Detector(Steps):
    @torch.no_grad()
    def __call__(self, model, tokens):
        before = model(tokens)
        found = [self.size(self.difference(model(self.changed(tokens, place)), before, place))
                 for place in self.places(tokens.shape[1])]
        return self.result(self.most(found))

    def places(self, length):
        return range(1, length)  # of the first token that changes

    def changed(self, tokens, place):
        changed = tokens.clone()
        changed[:, place:] = another(tokens)[:, place:]
        return changed

    def difference(self, after, before, place):
        return self.seen(self.compared(after, before), place)

    def compared(self, after, before):
        return (after - before).abs()

    def seen(self, differences, place):
        return differences[:, :place]

    def size(self, differences):
        return differences.max()

    def most(self, sizes):
        return max(0 * sizes[0], *sizes)

    def result(self, number):
        return float(number)


class OneByOne(Detector):
    """Changes a single token; compares all the positions before it."""

    def changed(self, tokens, place):
        changed = tokens.clone()
        changed[:, place] = another(tokens)[:, place]
        return changed


class JustBefore(Detector):
    """Changes all the later tokens; compares the one position before them."""

    def seen(self, differences, place):
        return differences[:, place - 1]


@future_leak.right("one token at a time")
def one_token_at_a_time(model, tokens):
    return OneByOne()(model, tokens)


@future_leak.right("one position at a time")
def one_position_at_a_time(model, tokens):
    return JustBefore()(model, tokens)


@future_leak.right("by every token that there is")
def by_every_token(model, tokens):
    before, largest = model(tokens).detach(), 0.0
    for place in range(tokens.shape[1]):
        for token in tokens.unique().tolist():
            changed = torch.cat([tokens[:, :place], torch.full_like(tokens[:, place:], token)], dim=1)
            difference = (model(changed).detach() - before)[:, :place]
            largest = max([largest, *difference.abs().flatten().tolist()])
    return largest


@future_leak.right("all the changes in one batch")
def in_one_batch(model, tokens):
    batch, length = tokens.shape
    later = torch.ones(length, length, dtype=torch.bool).triu(1)  # (position, token)
    variants = torch.where(later[:, None], another(tokens), tokens).reshape(length * batch, length)
    outputs = model(variants).reshape(length, batch, length, -1)
    difference = outputs[range(length), :, range(length)] - model(tokens).transpose(0, 1)
    return np.abs(difference.detach().numpy()).max()


@future_leak.right("neither of the two is the original")
def neither_the_original(model, tokens):
    leaks = []
    for place in range(1, tokens.shape[1]):
        one, other = tokens.clone(), tokens.clone()
        one[:, place:], other[:, place:] = 0, 1
        leaks.append((model(one)[:, :place] - model(other)[:, :place]).abs().amax().item())
    return max(leaks)


STYLES = {"one token": {"changed": OneByOne.changed}, "one position": {"seen": JustBefore.seen}}


def in_styles(name, way, *styles):
    """The same mistake in detectors of other styles: plain functions, which make no pairs."""
    for style in styles:
        variant = type(way.__name__, (way,), STYLES[style])
        future_leak.mistake(name)(lambda model, tokens, variant=variant: variant()(model, tokens))


@future_leak.mistake(
    "always 0",
    why="It gives 0 for every model, also for one that reads the whole future: what it compares, or keeps, "
        "is never different.",
    look="print the two sets of tokens, then the differences, before you take one number from them.", hint=1)
def always_zero(model, tokens):
    return 0.0


@future_leak.mistake(
    "the changed position compared",
    why="The position of a changed token is compared, too. It may see its own token, in every model.",
    look="the end of your slice. Which position is the first that may change?", hint=2)
class ItselfCompared(Detector):
    def seen(self, differences, place):
        return differences[:, :place + 1]


@future_leak.mistake("the changed position compared")
class ItselfComparedFromTheStart(ItselfCompared):
    def places(self, length):
        return range(length)


@future_leak.mistake("the changed position compared")
class ItselfComparedOneByOne(ItselfCompared):
    changed = OneByOne.changed

    def places(self, length):
        return range(length - 1)


@future_leak.mistake("the changed position compared")
class LastItselfCompared(ItselfCompared):
    def places(self, length):
        return [length - 1]


@future_leak.mistake(
    "the later positions compared",
    why="Positions after a changed token are compared. They may see it, in every model.",
    look="which positions have read the same tokens in both runs?", hint=2)
class LaterCompared(Detector):
    def seen(self, differences, place):
        return differences[:, place:]


@future_leak.mistake("the later positions compared")
class LaterComparedAtOneCut(LaterCompared):
    def places(self, length):
        return [length // 2]


@future_leak.mistake(
    "the earlier tokens changed",
    why="The tokens that a position may see are changed, even the very first one, and it may react to them, "
        "in every model.",
    look="print the two sets of tokens: up to which place are they the same? Which positions are compared?",
    hint=1)
class EarlierChanged(Detector):
    def changed(self, tokens, place):
        changed = tokens.clone()
        changed[:, :place] = another(tokens)[:, :place]
        return changed

    def seen(self, differences, place):
        return differences[:, place:]


@future_leak.mistake("the earlier tokens changed")
class AllChanged(Detector):
    def changed(self, tokens, place):
        return another(tokens)


@future_leak.mistake(
    "only the last position",
    why="Only the last position is looked at. No token comes after it, so it is the one position that cannot "
        "leak.",
    look="which positions have a future?", hint=2)
class LastPosition(Detector):
    def seen(self, differences, place):
        return differences[:, -1]


@future_leak.mistake("only the last position")
class LastPositionFirstTokenToo(LastPosition):
    def places(self, length):
        return range(length)


@future_leak.mistake(
    "only the last token changed",
    why="Only what changes with the last token counts, so a leak from any token before it is missed.",
    look="which tokens are later than the first position? Does each of them get its turn?", hint=3)
class LastChanged(Detector):
    def places(self, length):
        return [length - 1]


in_styles("only the last token changed", LastChanged, "one position")


@future_leak.mistake(
    "only the first position",
    why="Only what changes at the first position counts, so a leak into any position after it is missed.",
    look="is there a `return` inside the loop? Which positions are compared?", hint=3)
class FirstPosition(Detector):
    def places(self, length):
        return [1]


in_styles("only the first position", FirstPosition, "one token")


@future_leak.mistake(
    "only one cut",
    why="The sequence is cut in one place only, so a leak is missed where token and position are on the same "
        "side of it.",
    look="how many ways are there to say which tokens come later?", hint=3)
class OneCut(Detector):
    def places(self, length):
        return [length // 2]


in_styles("only one cut", OneCut, "one token", "one position")


@future_leak.mistake(
    "only the next token changed",
    why="For each position only the token right after it is changed, so a leak from further ahead is missed.",
    look="which tokens are later than the first position?", hint=3)
class NextChanged(OneByOne):
    def seen(self, differences, place):
        return differences[:, place - 1]


@future_leak.mistake(
    "the last place left out",
    why="A leak from the last token into the position before it is missed: the last token never changes "
        "alone, because the loop ends too early or the later tokens are only put in another order.",
    look="the last position but one. What becomes of the only token after it?", hint=3)
class LastLeftOut(Detector):
    def places(self, length):
        return range(1, length - 1)


in_styles("the last place left out", LastLeftOut, "one token")


@future_leak.mistake(
    "the first place left out",
    why="A leak from the second token into the first position is missed: the loop starts one step too late.",
    look="the first value of your loop. Which positions does it compare?", hint=3)
class FirstLeftOut(Detector):
    def places(self, length):
        return range(2, length)


in_styles("the first place left out", FirstLeftOut, "one position")


@future_leak.mistake(
    "the position before the change left out",
    why="The comparison ends one position too early: a leak from the very next token, which a mask that is "
        "off by one lets through, is missed.",
    look="the end of your slice. Which position is the last that must not change?", hint=2)
class JustBeforeLeftOut(Detector):
    def places(self, length):
        return range(2, length)

    def seen(self, differences, place):
        return differences[:, :place - 1]


@future_leak.mistake(
    "no absolute value",
    why="A change downwards counts as negative, so it loses against 0 or against a smaller change upwards.",
    look="what is the largest of the differences -3 and 1?", hint=3)
class Signed(Detector):
    def compared(self, after, before):
        return after - before


in_styles("no absolute value", Signed, "one position")


@future_leak.mistake("no absolute value")
class SignedTheOtherWay(Detector):
    def compared(self, after, before):
        return before - after


in_styles("no absolute value", SignedTheOtherWay, "one position")


@future_leak.mistake(
    "the mean change",
    why="The changes are averaged, so one strong leak drowns among all that stays the same.",
    look="the contract asks for the most, over everything.", hint=3)
class MeanChange(Detector):
    def size(self, differences):
        return differences.mean()


@future_leak.mistake("the mean change")
class MeanOverFeatures(Detector):
    def size(self, differences):
        return differences.mean(-1).max()


@future_leak.mistake("the mean change")
class MeanOverPlaces(Detector):
    def most(self, sizes):
        return sum(sizes) / len(sizes)


@future_leak.mistake("the mean change")
class RootMeanSquare(Detector):
    def size(self, differences):
        return differences.pow(2).mean().sqrt()


@future_leak.mistake("the mean change")
class MeanOfMeans(MeanOverPlaces):
    def size(self, differences):
        return differences.mean()


@future_leak.mistake(
    "the sum of the changes",
    why="The changes are added up; the contract asks for the largest single one.",
    look="the contract asks for the most, over everything.", hint=3)
class SumOfChanges(Detector):
    def size(self, differences):
        return differences.sum()


@future_leak.mistake("the sum of the changes")
class SumOverFeatures(Detector):
    def size(self, differences):
        return differences.sum(-1).max()


@future_leak.mistake("the sum of the changes")
class SumOverPlaces(Detector):
    def most(self, sizes):
        return sum(sizes)


@future_leak.mistake("the sum of the changes")
class SumOfSums(SumOverPlaces):
    def size(self, differences):
        return differences.sum()


@future_leak.mistake(
    "the length of the change",
    why="The differences are squared, added up and their root is taken, as for the length of a vector; the "
        "contract asks for the largest single one.",
    look="the contract asks for the most, over everything.", hint=3)
class NormOfChange(Detector):
    def size(self, differences):
        return differences.norm()


@future_leak.mistake("the length of the change")
class NormOverFeatures(Detector):
    def size(self, differences):
        return differences.norm(dim=-1).max()


@future_leak.mistake(
    "the square of the change",
    why="The differences are squared, so a leak below 1 looks smaller than it is and one above 1 larger.",
    look="what does the contract ask for: how far a number moves, or the square of that?", hint=3)
class Squared(Detector):
    def compared(self, after, before):
        return (after - before) ** 2


@future_leak.mistake("the square of the change")
class MeanSquare(Squared):
    def size(self, differences):
        return differences.mean()


for name, way in (("the mean change", MeanChange), ("the mean change", MeanOverPlaces),
                  ("the mean change", MeanOfMeans), ("the mean change", RootMeanSquare),
                  ("the sum of the changes", SumOfChanges),
                  ("the sum of the changes", SumOverPlaces), ("the sum of the changes", SumOfSums),
                  ("the length of the change", NormOfChange), ("the square of the change", MeanSquare)):
    in_styles(name, way, "one token", "one position")
for name, way in (("the sum of the changes", SumOverFeatures), ("the length of the change", NormOverFeatures),
                  ("the mean change", MeanOverFeatures)):
    in_styles(name, way, "one token")


@future_leak.mistake(
    "the smallest of the changes",
    why="The smallest change over the places is kept, so a leak in one place is hidden by a place without.",
    look="min or max?", hint=3)
class Smallest(Detector):
    def most(self, sizes):
        return min(sizes)


@future_leak.mistake(
    "only the first leak found",
    why="It stops at the first leak that it finds, or keeps that one; a larger one may come after it.",
    look="is there a `return` or a `break` inside the loop?", hint=3)
class FirstFound(Detector):
    def most(self, sizes):
        return next((size for size in sizes if size > 0), sizes[0])


in_styles("only the first leak found", FirstFound, "one token", "one position")


@future_leak.mistake(
    "a relative change",
    why="The change is divided by the size of the output, so it is a share; the contract asks how far a "
        "number moves.",
    look="every division: what does the contract ask for?", hint=3)
class Relative(Detector):
    def compared(self, after, before):
        return (after - before).abs() / before.abs().max()


in_styles("a relative change", Relative, "one token", "one position")


@future_leak.mistake("a relative change")
class RelativeToEach(Detector):
    def compared(self, after, before):
        return (after - before).abs() / (before.abs() + 1e-8)


@future_leak.mistake(
    "only the first sequence",
    why="Only the first sequence of the batch is looked at.",
    look="the first dimension: do all the sequences reach the comparison?", hint=3)
class FirstSequenceOnly(Detector):
    def difference(self, after, before, place):
        return super().difference(after, before, place)[:1]


@future_leak.mistake(
    "small leaks rounded off",
    why="A leak below some limit is reported as 0, or the number is rounded: a small leak is a leak, too.",
    look="where does a number become 0? The contract asks for it as it is.", hint=3)
def small_is_zero(model, tokens):
    leak = Detector()(model, tokens)
    return leak if leak > 1e-2 else 0.0


for digits in (1, 2, 3, 4):
    future_leak.mistake("small leaks rounded off")(
        lambda model, tokens, digits=digits: round(Detector()(model, tokens), digits))


@future_leak.mistake(
    "yes or no",
    why="It says whether there is a leak; the contract asks how large it is.",
    look="the comparison at the end.", hint=3)
def yes_or_no(model, tokens):
    return Detector()(model, tokens) > 0


@future_leak.mistake("yes or no")
def no_or_yes(model, tokens):
    return Detector()(model, tokens) == 0


@future_leak.mistake("yes or no")
def yes_or_no_as_a_tensor(model, tokens):
    return torch.tensor(Detector()(model, tokens)) > 0


@future_leak.mistake("yes or no")
def no_or_yes_as_a_tensor(model, tokens):
    return torch.tensor(Detector()(model, tokens)) == 0


@future_leak.mistake("yes or no")
def yes_or_no_as_a_number(model, tokens):
    return float(Detector()(model, tokens) > 0)


@future_leak.mistake(
    A_TENSOR, why=OF_A_TENSOR, look=INTO_A_FLOAT, hint=3)
class ATensor(Detector):
    def result(self, number):
        return number


@future_leak.mistake(
    "the tokens are changed in place",
    why="The caller's own tokens are overwritten, and may be compared with themselves: a second name is not "
        "a copy.",
    look="what does `changed = tokens` do, and what makes a copy?", hint=1)
class InPlace(Detector):
    def changed(self, tokens, place):
        tokens[:, place:] = another(tokens)[:, place:]
        return tokens


@future_leak.mistake("the tokens are changed in place")
class InPlaceOneByOne(Detector):
    def changed(self, tokens, place):
        tokens[:, place] = another(tokens)[:, place]
        return tokens


@future_leak.mistake("the tokens are changed in place")
def compared_with_itself(model, tokens):
    changed = tokens
    changed[:, 1:] = another(tokens)[:, 1:]
    return float((model(changed) - model(tokens)).abs().max())


@future_leak.mistake("the tokens are changed in place")
def last_compared_with_itself(model, tokens):
    changed = tokens
    changed[:, -1] = another(tokens)[:, -1]
    return float((model(changed) - model(tokens)).abs().max())
