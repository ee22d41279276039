"""Lesson 4, multi-head attention: several questions at once."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons import attention
from transformer_lessons.exercises.comparing import numbers
from transformer_lessons.exercises.exercise import Exercise, Steps, normal


def labelled(batch, length, d_model):
    """Numbers that tell where they stand: 1.03 is feature 3 of position 1; each sequence adds 10."""
    sequence, position, feature = (torch.arange(size).double() for size in (batch, length, d_model))
    return 10 * sequence[:, None, None] + position[:, None] + feature / 100  # (batch, length, d_model)


def draw_x(generator, batch, length, num_heads, d_head, labels=False):
    if labels:
        return labelled(batch, length, num_heads * d_head), num_heads
    return normal(generator, batch, length, num_heads * d_head), num_heads


# In the first example every number tells where it comes from. Some lengths can be divided by the heads. No
# length and no number of heads is 1: there, a view of what has been transposed would go through.
SIZES_OF_HEADS = [
    {"batch": 1, "length": 3, "num_heads": 2, "d_head": 3, "labels": True},
    {"batch": 3, "length": 3, "num_heads": 3, "d_head": 3},
    {"batch": 2, "length": 6, "num_heads": 3, "d_head": 4},
    {"batch": 3, "length": 5, "num_heads": 4, "d_head": 2},
    {"batch": 5, "length": 4, "num_heads": 2, "d_head": 6},
    {"batch": 4, "length": 12, "num_heads": 4, "d_head": 3},
]

# split_heads

split_heads = Exercise(
    name="split_heads", lesson=4, title="Cut the features into heads", difficulty=2, importance=3, minutes=10,
    contract="""
        split_heads(x, num_heads) takes x of shape (batch, length, d_model) and returns it in the shape
        (batch, heads, length, d_head), where d_head = d_model / num_heads: head 0 gets, at every position,
        the first d_head features of that position, head 1 the next d_head, and so on.
        """,
    stub='''
        def split_heads(x, num_heads):
            """(batch, length, d_model) → (batch, heads, length, d_head)"""
            raise NotImplementedError
        ''',
    sizes=SIZES_OF_HEADS, draw=draw_x,
    reference=lambda x, num_heads: attention.split_heads(x, num_heads),
    returns="heads", shapes={"heads": "(batch, heads, length, d_head)"},
    hints=[
        ("the numbers are in the wrong places",
         "In the first example each number says where it comes from: 1.03 is feature 3 of position 1. So "
         "the row of head 0 for position 1 starts with 1.00, 1.01, 1.02."),
        ("the shape is right, the places are not",
         "reshape never moves a number: it only counts on through the "
         "rows. So first cut the last dimension in two, and only then let two dimensions change places."),
        ("the tool",
         "From (batch, length, d_model) by reshape to (batch, length, heads, d_head); which two "
         "dimensions does transpose still have to exchange?"),
    ],
    solution='''
        def split_heads(x, num_heads):
            batch, length, d_model = x.shape
            heads = x.reshape(batch, length, num_heads, d_model // num_heads)
            return heads.transpose(1, 2)
        ''',
)


@split_heads.right("step by step")
class Split(Steps):
    def __call__(self, x, num_heads):
        return self.moved(self.cut(x, num_heads, x.shape[-1] // num_heads))

    def cut(self, x, num_heads, d_head):
        return x.unflatten(-1, (num_heads, d_head))  # (batch, length, heads, d_head)

    def moved(self, heads):
        return heads.transpose(1, 2)


@split_heads.right("reshape and transpose")
def reshape_and_transpose(x, num_heads):
    return x.view(*x.shape[:2], num_heads, -1).permute(0, 2, 1, 3)


@split_heads.right("chunks, stacked")
def chunks_stacked(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


@split_heads.right("with slices in a loop")
def slices_in_a_loop(x, num_heads):
    d_head = x.size(-1) // num_heads
    heads = torch.empty(x.size(0), num_heads, x.size(1), d_head)  # float32, where x is float64
    for head in range(num_heads):
        heads[:, head] = x[..., head * d_head:(head + 1) * d_head]
    return heads


@split_heads.right("with einsum")
def split_with_einsum(x, num_heads):
    return torch.einsum("blhd->bhld", x.unflatten(-1, (num_heads, -1))).contiguous()


@split_heads.right("in NumPy")
def split_in_numpy(x, num_heads):
    return torch.from_numpy(np.stack(np.split(x.numpy(), num_heads, axis=2), axis=1))


@split_heads.right("number by number")
def number_by_number(x, num_heads):
    batch, length, d_model = x.shape
    d_head = d_model // num_heads
    return torch.tensor([[[[float(x[b, p, head * d_head + feature]) for feature in range(d_head)]
                           for p in range(length)] for head in range(num_heads)] for b in range(batch)])


@split_heads.mistake(
    "heads split by view alone",
    why="The numbers are only counted off into a new shape, without moving any: a head gets one stretch of "
        "neighbouring numbers, where it should get its slice of every position.",
    look="which positions do the numbers of head 0 come from?", hint=2)
def by_view_alone(x, num_heads):
    batch, length, d_model = x.shape
    return x.reshape(batch, num_heads, length, d_model // num_heads)


@split_heads.mistake("heads split by view alone")
def by_view_alone_turned(x, num_heads):
    batch, length, d_model = x.shape
    return x.reshape(batch, num_heads, d_model // num_heads, length)


@split_heads.mistake("heads split by view alone")
def by_view_alone_folded(x, num_heads):
    batch, length, d_model = x.shape
    return x.reshape(batch * num_heads, length, d_model // num_heads)


@split_heads.mistake("heads split by view alone")
def by_view_alone_heads_first(x, num_heads):
    batch, length, d_model = x.shape
    return x.reshape(num_heads, batch, length, d_model // num_heads)


@split_heads.mistake("heads split by view alone")
def by_view_alone_heads_first_moved(x, num_heads):
    return by_view_alone_heads_first(x, num_heads).transpose(0, 1)


@split_heads.mistake(
    "heads interleaved",
    why="The features are dealt out to the heads one by one, like cards: head 0 gets the features 0, heads, "
        "2·heads and so on, where it should get the first d_head features, side by side.",
    look="when the last dimension is cut in two, which comes first: the head or the feature within "
        "it?", hint=3)
class Interleaved(Split):
    def cut(self, x, num_heads, d_head):
        return x.unflatten(-1, (d_head, num_heads)).transpose(2, 3)


@split_heads.mistake(
    "num_heads and d_head exchanged",
    why="Each head is num_heads features wide, and there are d_head of them: the two sizes have changed "
        "places.",
    look="what does your number count: the pieces, or the features in a piece?", hint=3)
class HeadSizesExchanged(Split):
    def cut(self, x, num_heads, d_head):
        return x.unflatten(-1, (d_head, num_heads))


@split_heads.mistake("num_heads and d_head exchanged")
def sizes_exchanged_by_view(x, num_heads):
    return x.reshape(len(x), -1, x.shape[1], num_heads)


@split_heads.mistake(
    "the heads behind the positions",
    why="The features are cut into heads, but the heads still stand behind the positions: (batch, length, "
        "heads, d_head).",
    look="after the cut, which two dimensions have to change places?", hint=3)
class HeadsBehind(Split):
    def moved(self, heads):
        return heads


@split_heads.mistake(
    "the features before the positions",
    why="The heads are right, but in each of them features and positions have changed places: (batch, heads, "
        "d_head, length).",
    look="the two dimensions that you exchange: are they the length and the heads?", hint=3)
class FeaturesBefore(Split):
    def moved(self, heads):
        return heads.permute(0, 2, 3, 1)


@split_heads.mistake(
    "the heads last",
    why="The heads are right, but they stand at the end: (batch, length, d_head, heads).",
    look="which dimension of the result should count the heads?", hint=3)
class HeadsLast(Split):
    def moved(self, heads):
        return heads.transpose(2, 3)


@split_heads.mistake(
    "the heads before the batch",
    why="The heads are right, but they stand before the batch: (heads, batch, length, d_head).",
    look="which dimension of the result should count the heads?", hint=3)
class HeadsFirst(Split):
    def moved(self, heads):
        return heads.permute(2, 0, 1, 3)


@split_heads.mistake(
    "the wrong two dimensions exchanged",
    why="After the cut into (batch, length, heads, d_head), other dimensions than the length and the heads "
        "have changed places.",
    look="name the four dimensions after the cut, count them from 0, and compare with your "
        "transpose.", hint=3)
class FeaturesForLength(Split):
    def moved(self, heads):
        return heads.transpose(1, 3)


@split_heads.mistake("the wrong two dimensions exchanged")
class BatchForLength(Split):
    def moved(self, heads):
        return heads.transpose(0, 1)


@split_heads.mistake("the wrong two dimensions exchanged")
class BatchForHeads(Split):
    def moved(self, heads):
        return heads.permute(2, 1, 0, 3)


@split_heads.mistake(
    "batch and heads in one dimension",
    why="The heads are right, but batch and heads have become one dimension, so the result has three "
        "dimensions instead of four.",
    look="how many dimensions does the contract ask for?", hint=3)
class Folded(Split):
    def moved(self, heads):
        return heads.transpose(1, 2).flatten(0, 1)


@split_heads.mistake("batch and heads in one dimension")
class FoldedHeadsFirst(Split):
    def moved(self, heads):
        return heads.permute(2, 0, 1, 3).flatten(0, 1)


@split_heads.mistake(
    "heads and positions in one dimension",
    why="Heads and positions have become one dimension, so the result has three dimensions instead of four.",
    look="do you put the heads along a new dimension, or along one that is there already?", hint=3)
class AlongTheLength(Split):
    def moved(self, heads):
        return heads.transpose(1, 2).flatten(1, 2)


@split_heads.mistake("heads and positions in one dimension")
class AlongTheLengthInTurn(Split):
    def moved(self, heads):
        return heads.flatten(1, 2)


@split_heads.mistake(
    "a list of heads",
    why="The heads are right, but they come as a list or tuple of tensors; one tensor is expected, with a "
        "dimension for the heads.",
    look="how do several tensors of one shape become one, along a new dimension?", hint=3)
class AsList(Split):
    def moved(self, heads):
        return list(heads.unbind(2))


@split_heads.mistake("a list of heads")
class AsListInDimensions(Split):
    def moved(self, heads):
        return list(heads.transpose(1, 2).split(1, dim=1))


@split_heads.mistake(
    "the length cut instead of the features",
    why="The positions are dealt out to the heads, and every head keeps all the features; each head should "
        "see every position, with its share of the features.",
    look="the dimension that you cut: which one does num_heads have to divide?", hint=1)
def length_cut(x, num_heads):
    return x.unflatten(1, (num_heads, -1))


@split_heads.mistake("the length cut instead of the features")
def length_dealt_out(x, num_heads):
    return x.unflatten(1, (-1, num_heads)).transpose(1, 2)


@split_heads.mistake(
    "every head gets all the features",
    why="Each head has all d_model features; it should have d_head of them, its own.",
    look="the last size of the result: how many features does one head have?", hint=1)
def copies(x, num_heads):
    return x[:, None].expand(-1, num_heads, -1, -1)


@split_heads.mistake("every head gets all the features")
def one_head(x, num_heads):
    return x[:, None]


@split_heads.mistake(
    "every head reads the same slice",
    why="Every head gets the same features, the first or the last d_head of them; the others are never read.",
    look="the slice: does it depend on which head it is for?", hint=1)
class FirstSlice(Split):
    def cut(self, x, num_heads, d_head):
        return torch.stack([x[..., :d_head]] * num_heads, dim=2)


@split_heads.mistake("every head reads the same slice")
class LastSlice(Split):
    def cut(self, x, num_heads, d_head):
        return torch.stack([x[..., -d_head:]] * num_heads, dim=2)


@split_heads.mistake(
    "slices that overlap",
    why="The slice of the next head starts just one feature after the slice of the one before, so the slices "
        "overlap, and the last features are never read.",
    look="where does the slice of head 1 start, and where should it?", hint=1)
class Overlapping(Split):
    def cut(self, x, num_heads, d_head):
        return torch.stack([x[..., head:head + d_head] for head in range(num_heads)], dim=2)


@split_heads.mistake(
    "transposed before the cut",
    why="Dimensions change places before the features are cut, and the reshape that follows counts the "
        "numbers off in the new order: a head mixes several positions.",
    look="the order of the operations: which one should come first?", hint=2)
def transposed_then_reshaped(x, num_heads):
    return x.transpose(1, 2).reshape(len(x), num_heads, x.shape[1], -1)


@split_heads.mistake("transposed before the cut")
def transposed_then_cut(x, num_heads):
    return x.transpose(1, 2).reshape(len(x), x.shape[1], num_heads, -1).transpose(1, 2)


@split_heads.mistake("transposed before the cut")
def moved_then_reshaped(x, num_heads):
    batch, length = x.shape[:2]
    return x.transpose(0, 1).reshape(batch, num_heads, length, -1)


@split_heads.mistake(
    "reshaped where a transpose is needed",
    why="The features are cut rightly, but then a view or a reshape brings the dimensions into their order, "
        "not a transpose: the numbers of several heads, positions or sequences get mixed up.",
    look="after the cut, is it the dimensions that change places, or only their names?", hint=2, pairs=False)
class HeadsFirstReshaped(Split):
    def moved(self, heads):
        batch, length, num_heads, d_head = heads.shape
        return heads.permute(2, 0, 1, 3).reshape(batch, num_heads, length, d_head)


@split_heads.mistake("reshaped where a transpose is needed", pairs=False)
class EndToEndReshaped(Split):
    def moved(self, heads):
        return heads.transpose(1, 2).reshape(heads.shape).transpose(1, 2)


@split_heads.mistake("reshaped where a transpose is needed", pairs=False)
class HeadsLastReshaped(Split):
    def moved(self, heads):
        batch, length, num_heads, d_head = heads.shape
        return heads.transpose(2, 3).reshape(batch, num_heads, length, d_head)


@split_heads.mistake(
    "batch and positions in one dimension",
    why="Batch and positions have become one dimension, so the result has three dimensions instead of four.",
    look="how many dimensions does the contract ask for?", hint=3)
class BatchAndPositions(Split):
    def moved(self, heads):
        return heads.flatten(0, 1)


@split_heads.mistake("batch and positions in one dimension", pairs=False)
class BatchAndPositionsHeadsFirst(Split):
    def moved(self, heads):
        return heads.flatten(0, 1).transpose(0, 1)


@split_heads.mistake(
    "only one head",
    why="One head alone comes back; the others are thrown away.",
    look="does your loop keep what it made before, or overwrite it?", hint=1)
class OnlyLastHead(Split):
    def moved(self, heads):
        return heads[:, :, -1]


@split_heads.mistake("only one head", pairs=False)
class OnlyFirstHead(Split):
    def moved(self, heads):
        return heads[:, :, 0]


@split_heads.mistake(
    "only one head filled in",
    why="One head is filled in, and the others are still zeros.",
    look="does each round of your loop write into a head of its own?", hint=1, pairs=False)
class LastInPlaceOfFirst(Split):
    def moved(self, heads):
        filled = torch.zeros_like(heads.transpose(1, 2))
        filled[:, 0] = heads[:, :, -1]
        return filled


@split_heads.mistake("only one head filled in")
class OnlyFirstFilled(Split):
    def moved(self, heads):
        filled = torch.zeros_like(heads.transpose(1, 2))
        filled[:, 0] = heads[:, :, 0]
        return filled


@split_heads.mistake(
    "a head left out",
    why="One head, the last or the first, is never filled in and keeps its zeros: the loop over the heads "
        "ends too early, or starts too late.",
    look="the first and the last turn of the loop over the heads.", hint=1, pairs=False)
class LastHeadLeftOut(Split):
    def moved(self, heads):
        filled = heads.transpose(1, 2).clone()
        filled[:, -1] = 0
        return filled


@split_heads.mistake("a head left out", pairs=False)
class FirstHeadLeftOut(Split):
    def moved(self, heads):
        filled = heads.transpose(1, 2).clone()
        filled[:, 0] = 0
        return filled


@split_heads.mistake(
    "never filled",
    why="The result has the right shape, but it holds zeros only: nothing of x has been written into it.",
    look="does anything assign into the result: `heads[…] = …`?", hint=1, pairs=False)
class NeverFilled(Split):
    def moved(self, heads):
        return torch.zeros_like(heads.transpose(1, 2))


@split_heads.mistake(
    "the heads in reverse",
    why="The heads come in the opposite order: head 0 has the last features, not the first.",
    look="which features does head 0 get?", hint=1)
class Reversed(Split):
    def moved(self, heads):
        return heads.flip(2).transpose(1, 2)


@split_heads.mistake(
    "not split at all",
    why="x comes back as it was, in one piece.",
    look="most tensor methods return a new tensor and leave the old one alone. Is the new one kept?", hint=3)
def not_split(x, num_heads):
    return x


# merge_heads


def draw_heads(generator, batch, length, num_heads, d_head, labels=False):
    x, _ = draw_x(generator, batch, length, num_heads, d_head, labels)
    return (attention.split_heads(x, num_heads).contiguous(),)  # (batch, heads, length, d_head)


merge_heads = Exercise(
    name="merge_heads", lesson=4, title="Put the heads back together", difficulty=2, importance=3, minutes=6,
    contract="""
        merge_heads(x) takes x of shape (batch, heads, length, d_head) and returns it in the shape
        (batch, length, d_model), where d_model = heads · d_head: every position gets its features back from
        all the heads, side by side, head 0 first. It is the inverse of split_heads.
        """,
    stub='''
        def merge_heads(x):
            """(batch, heads, length, d_head) → (batch, length, d_model)"""
            raise NotImplementedError
        ''',
    sizes=SIZES_OF_HEADS, draw=draw_heads,
    reference=lambda x: attention.merge_heads(x),
    returns="merged", shapes={"merged": "(batch, length, d_model)"},
    hints=[
        ("the numbers are in the wrong places",
         "In the first example each number says where it belongs: 1.03 is "
         "feature 3 of position 1. So row 1 of the result holds 1.00, 1.01, 1.02 and so on."),
        ("the shape is right, the places are not",
         "reshape never moves a number: it only counts on through the "
         "rows. What is to stand side by side must lie in neighbouring dimensions before."),
        ("the tool",
         "split_heads cut, then exchanged two dimensions. The inverse undoes the last step first."),
    ],
    solution='''
        def merge_heads(x):
            batch, heads, length, d_head = x.shape
            return x.transpose(1, 2).reshape(batch, length, heads * d_head)
        ''',
)


@merge_heads.right("transpose and reshape")
def transpose_and_reshape(x):
    return x.transpose(1, 2).contiguous().view(x.size(0), x.size(2), -1)


@merge_heads.right("heads side by side")
def side_by_side(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


@merge_heads.right("in a loop")
def merged_in_a_loop(x):
    batch, heads, length, d_head = x.shape
    merged = torch.zeros(batch, length, heads * d_head)  # float32, where x is float64
    for head in range(heads):
        merged[:, :, head * d_head:(head + 1) * d_head] = x[:, head]
    return merged


@merge_heads.right("in NumPy")
def merged_in_numpy(x):
    return torch.from_numpy(np.concatenate(list(np.moveaxis(x.numpy(), 1, 0)), axis=2))


@merge_heads.right("one position at a time")
def one_position_at_a_time(x):
    return torch.stack([x[:, :, position].reshape(len(x), -1) for position in range(x.shape[2])], dim=1)


@merge_heads.right("as a product")
def as_a_product(x):
    heads, d_head = x.shape[1], x.shape[3]
    places = torch.eye(heads * d_head, dtype=x.dtype).view(heads, d_head, -1)
    return torch.einsum("bhlf,hfm->blm", x, places)


@merge_heads.mistake(
    "merged without the transpose",
    why="The numbers are only counted off into a new shape, without moving any: a row of the result holds "
        "one head's features of several positions, where it should hold every head's features of one "
        "position.",
    look="the first row of the result: do all its numbers come from position 0?", hint=2)
def merged_by_view_alone(x):
    batch, heads, length, d_head = x.shape
    return x.reshape(batch, length, heads * d_head)


@merge_heads.mistake(
    "merged in interleaved order",
    why="The heads are shuffled together one feature at a time, like cards: the features of a head should "
        "stay side by side.",
    look="the two dimensions that become one: which comes first, the heads or the features?", hint=2)
def merged_interleaved(x):
    return x.permute(0, 2, 3, 1).flatten(2)


@merge_heads.mistake(
    "the wrong two dimensions exchanged",
    why="Before the reshape, other dimensions than the heads and the length have changed places, so the rows "
        "mix what does not belong together.",
    look="name the four dimensions, count them from 0, and compare with your transpose.", hint=3)
def transposed_last_two(x):
    return x.transpose(2, 3).reshape(x.shape[0], x.shape[2], -1)


@merge_heads.mistake("the wrong two dimensions exchanged")
def transposed_heads_and_features(x):
    return x.transpose(1, 3).reshape(x.shape[0], x.shape[2], -1)


@merge_heads.mistake("the wrong two dimensions exchanged")
def features_then_heads(x):
    return x.permute(0, 3, 1, 2).reshape(x.shape[0], x.shape[2], -1)


@merge_heads.mistake("the wrong two dimensions exchanged")
def heads_before_batch(x):
    return x.transpose(0, 1).reshape(x.shape[0], x.shape[2], -1)


@merge_heads.mistake("the wrong two dimensions exchanged")
def length_before_batch_and_heads(x):
    return x.permute(2, 0, 1, 3).reshape(x.shape[0], x.shape[2], -1)


@merge_heads.mistake(
    "the heads averaged",
    why="The heads are averaged, so what each head found by itself is lost: an average is d_head features "
        "wide, and repeating it brings nothing back.",
    look="how many features must a position have after merging?", hint=1)
def averaged(x):
    return x.mean(dim=1)


@merge_heads.mistake("the heads averaged")
def averaged_and_repeated(x):
    return x.mean(dim=1).repeat(1, 1, x.shape[1])


@merge_heads.mistake("the heads averaged")
def averaged_and_each_repeated(x):
    return x.mean(dim=1).repeat_interleave(x.shape[1], dim=-1)


@merge_heads.mistake(
    "the heads summed",
    why="The heads are added up, so what each head found by itself is lost: a sum is d_head features wide, "
        "and repeating it, or adding zeros to its end, brings nothing back.",
    look="how many features must a position have after merging?", hint=1)
def summed(x):
    return x.sum(dim=1)


@merge_heads.mistake("the heads summed")
def summed_and_repeated(x):
    return x.sum(dim=1).repeat(1, 1, x.shape[1])


@merge_heads.mistake("the heads summed")
def summed_and_each_repeated(x):
    return x.sum(dim=1).repeat_interleave(x.shape[1], dim=-1)


@merge_heads.mistake("the heads summed")
def summed_in_the_first_columns(x):
    return torch.nn.functional.pad(x.sum(dim=1), (0, (x.shape[1] - 1) * x.shape[3]))


@merge_heads.mistake(
    "only one head",
    why="One head alone comes back, d_head features wide; the others are thrown away.",
    look="does your loop keep what it made before, or overwrite it?", hint=1)
def first_head(x):
    return x[:, 0]


@merge_heads.mistake("only one head")
def last_head(x):
    return x[:, -1]


@merge_heads.mistake(
    "one head in every place",
    why="Every place in the row holds the same head, the first or the last; the others are thrown away.",
    look="what is put into the row in each turn: does it depend on which head it is?", hint=1)
def first_head_everywhere(x):
    return x[:, 0].repeat(1, 1, x.shape[1])


@merge_heads.mistake("one head in every place")
def last_head_everywhere(x):
    return x[:, -1].repeat(1, 1, x.shape[1])


@merge_heads.mistake(
    "the heads end to end",
    why="The heads are put one after the other along the length, (batch, heads · length, d_head): more "
        "positions, not wider ones.",
    look="along which dimension should the heads stand side by side?", hint=3)
def end_to_end(x):
    return x.flatten(1, 2)


@merge_heads.mistake(
    "every head a position of its own",
    why="After the transpose, length and heads have become one dimension, (batch, length · heads, d_head), "
        "instead of heads and features.",
    look="which two neighbouring dimensions must become one?", hint=3)
def heads_as_positions(x):
    return x.transpose(1, 2).flatten(1, 2)


@merge_heads.mistake(
    "positions and features in one dimension",
    why="The result is (batch, heads, length · d_head): positions and features have become one dimension.",
    look="which two dimensions must become one, and are they neighbours already?", hint=3)
def positions_and_features(x):
    return x.flatten(2)


@merge_heads.mistake(
    "not merged yet",
    why="Heads and length have changed places, but heads and features are still two dimensions: (batch, "
        "length, heads, d_head).",
    look="how many dimensions does the contract ask for?", hint=3)
def only_transposed(x):
    return x.transpose(1, 2)


@merge_heads.mistake(
    "the input as it was",
    why="x comes back as it was, still in heads.",
    look="most tensor methods return a new tensor and leave the old one alone. Is the new one kept?", hint=3)
def as_it_was(x):
    return x


@merge_heads.mistake(
    "batch and positions in one dimension",
    why="The features are merged, but batch and length have become one dimension: (batch · length, d_model).",
    look="how many dimensions does the contract ask for?", hint=3)
def batch_folded(x):
    return x.transpose(1, 2).reshape(-1, x.shape[1] * x.shape[3])


@merge_heads.mistake(
    "the length before the batch",
    why="The features are merged, but batch and length have changed places: (length, batch, d_model).",
    look="the order of the dimensions in your permute.", hint=3)
def length_first(x):
    return x.permute(2, 0, 1, 3).flatten(2)


@merge_heads.mistake(
    "the batch for the heads",
    why="The first dimension is taken for the heads, so what is put together are the sequences of the batch, "
        "not the heads of a sequence.",
    look="what does a loop over x run over?", hint=1)
def batch_side_by_side(x):
    return torch.cat(list(x), dim=-1)


@merge_heads.mistake("the batch for the heads")
def batch_end_to_end(x):
    return torch.cat(list(x), dim=1)


@merge_heads.mistake("the batch for the heads")
def batch_side_by_side_reshaped(x):
    return torch.cat(list(x), dim=-1).reshape(x.shape[0], x.shape[2], -1)


@merge_heads.mistake(
    "batch and heads cut apart in the wrong order",
    why="Batch and heads become one dimension, heads running fastest, and are cut apart again as if the "
        "batch did: sequences and heads change places.",
    look="with a batch of 2 and 3 heads: what are the first two of the six?", hint=1)
def cut_apart_wrongly(x):
    return torch.cat(x.flatten(0, 1).chunk(x.shape[1]), dim=-1)


@merge_heads.mistake("batch and heads cut apart in the wrong order")
def cut_apart_wrongly_by_shape(x):
    batch, heads, length, d_head = x.shape
    return x.reshape(heads, batch, length, d_head).permute(1, 2, 0, 3).flatten(2)


@merge_heads.mistake(
    "the heads in reverse",
    why="The heads stand side by side, but the last one comes first.",
    look="which head's features does a position start with?", hint=1)
def merged_in_reverse(x):
    return torch.cat(x.flip(1).unbind(dim=1), dim=-1)


@merge_heads.mistake(
    "never filled",
    why="The result has the right shape, but it holds zeros only: nothing of x has been written into it.",
    look="does anything assign into the result: `merged[…] = …`?", hint=1)
def never_filled(x):
    return torch.zeros_like(attention.merge_heads(x))


@merge_heads.mistake(
    "only one head filled in",
    why="The features of one head are filled in, and the rest of each row is zeros: every round of the loop "
        "writes into the same columns, or the loop ends too soon.",
    look="the slice that you write into: does it depend on which head it is?", hint=1)
def last_in_place_of_first(x):
    merged = torch.zeros_like(attention.merge_heads(x))
    merged[..., :x.shape[-1]] = x[:, -1]
    return merged


@merge_heads.mistake("only one head filled in")
def only_first_filled(x):
    merged = torch.zeros_like(attention.merge_heads(x))
    merged[..., :x.shape[-1]] = x[:, 0]
    return merged


@merge_heads.mistake(
    "a head left out",
    why="The place of one head, the last or the first, is never filled in and keeps its zeros: the loop over "
        "the heads ends too early, or starts too late.",
    look="the first and the last turn of the loop over the heads.", hint=1)
def last_head_left_out(x):
    merged = attention.merge_heads(x).clone()
    merged[..., -x.shape[-1]:] = 0
    return merged


@merge_heads.mistake("a head left out")
def first_head_left_out(x):
    merged = attention.merge_heads(x).clone()
    merged[..., :x.shape[-1]] = 0
    return merged


@merge_heads.mistake("a head left out")
def without_the_last_head(x):
    return attention.merge_heads(x[:, :-1])


@merge_heads.mistake("a head left out")
def without_the_first_head(x):
    return attention.merge_heads(x[:, 1:])


@merge_heads.mistake(
    "slices that overlap",
    why="The slice of the next head starts just one feature after the slice of the one before, so each head "
        "overwrites most of the one before, and the end of a row stays zero.",
    look="where does the slice of head 1 start, and where should it?", hint=1)
def overlapping_in_the_row(x):
    merged = torch.zeros_like(attention.merge_heads(x))
    for head in range(x.shape[1]):
        merged[..., head:head + x.shape[-1]] = x[:, head]
    return merged


@merge_heads.mistake(
    "the largest of the heads",
    why="Of all the heads only the largest number is kept: what each head found by itself is lost.",
    look="how many features must a position have after merging?", hint=1)
def largest(x):
    return x.amax(dim=1)


@merge_heads.mistake("the largest of the heads")
def largest_and_repeated(x):
    return x.amax(dim=1).repeat(1, 1, x.shape[1])


@merge_heads.mistake(
    "the heads multiplied",
    why="The heads are multiplied with each other, so the result is d_head features wide.",
    look="how many features must a position have after merging?", hint=1)
def multiplied(x):
    return x.prod(dim=1)


@merge_heads.mistake(
    "a list of heads",
    why="The heads come as a list of tensors; one tensor is expected, with the heads side by side in its "
        "rows.",
    look="how do several tensors become one, along a dimension that they have already?", hint=3)
def heads_in_a_list(x):
    return list(x.unbind(1))


@merge_heads.mistake(
    "heads stacked, not side by side",
    why="The heads are stacked along a new dimension, so the result still has four dimensions; side by side "
        "means that the last dimension grows.",
    look="which function puts tensors together along a dimension that they have already?", hint=3)
def stacked_last(x):
    return torch.stack(x.unbind(1), dim=-1)


@merge_heads.mistake("heads stacked, not side by side")
def stacked_first(x):
    return torch.stack(x.unbind(1))


@merge_heads.mistake(
    "view of what has been transposed",
    why="`view` cannot count through numbers that `transpose` has put in another order: hence the error that "
        "PyTorch raises.",
    look="the last sentence of the error message.", hint=3, raises=True)
def view_of_what_is_transposed(x):
    return x.transpose(1, 2).view(len(x), x.shape[2], -1)


# MultiHeadAttention


def draw_roles(generator, batch, query, key, num_heads, d_model):
    return tuple(normal(generator, batch, length, d_model) for length in (query, key, key))


def signs_of_the_scale(observed, expected, query, key, value):
    """Whether the weights are right but for one factor in front of all the scores."""
    ours, theirs = (np.log(numbers(weights)) for _, weights in (observed, expected))
    ours, theirs = ours - ours.mean(-1, keepdims=True), theirs - theirs.mean(-1, keepdims=True)
    factor = (ours * theirs).sum() / (theirs * theirs).sum()
    if abs(factor - 1) > 1e-3 and np.abs(ours - factor * theirs).max() < 1e-3:
        yield "scaled by another number" if factor > 0 else "the softmax of the negative scores"


multi_head_attention = Exercise(
    name="MultiHeadAttention", lesson=4, title="Several questions at once", difficulty=3, importance=3,
    minutes=25,
    contract="""
        MultiHeadAttention(d_model, num_heads) is a module with four layers nn.Linear(d_model, d_model):
        linear_q, linear_k, linear_v and linear_out. forward(query, key, value), each of shape (batch,
        length, d_model), projects the three, splits the features of each into heads (as split_heads does),
        lets every head attend by itself, with scores divided by the square root of d_head, merges the heads
        (as merge_heads does) and projects once more. It returns (output, weights): the output (batch,
        query, d_model), and the weights of every head, (batch, heads, query, key).
        """,
    stub='''
        class MultiHeadAttention(nn.Module):
            """Several attentions at once, each on its own slice of the projected features."""

            def __init__(self, d_model, num_heads):
                super().__init__()
                raise NotImplementedError

            def forward(self, query, key, value):
                """(output, weights of every head)"""
                raise NotImplementedError
        ''',
    sizes=[  # no length is 1, and never is there one head: there, much goes through that elsewhere is wrong
        {"batch": 1, "query": 2, "key": 3, "num_heads": 2, "d_model": 4},
        {"batch": 3, "query": 3, "key": 3, "num_heads": 3, "d_model": 9},
        {"batch": 2, "query": 5, "key": 5, "num_heads": 3, "d_model": 12},
        {"batch": 3, "query": 4, "key": 7, "num_heads": 2, "d_model": 10},
        {"batch": 5, "query": 6, "key": 4, "num_heads": 3, "d_model": 24},
    ],
    draw=draw_roles,
    reference=lambda d_model, num_heads: attention.MultiHeadAttention(d_model, num_heads),
    build=("d_model", "num_heads"),
    signs=signs_of_the_scale,
    returns=("output", "weights"),
    shapes={"output": "(batch, query, d_model)", "weights": "(batch, heads, query, key)"},
    hints=[
        ("the weights are wrong",
         "Four things make the weights: linear_q on the query, linear_k on the key, split_heads on both, "
         "and then the scaled attention of lesson 3. Print the shape after each; which size does the scale "
         "come from?"),
        ("the weights are right, the output is wrong",
         "The output of the heads is (batch, heads, query, d_head). What brings it back to (batch, query, "
         "d_model), and which layer has not been used yet?"),
        ("nothing fits together",
         "Project first, all features at once: linear_q(query), linear_k(key), linear_v(value). Then split "
         "all three; scaled_dot_product_attention takes any leading dimensions, so batch and heads can both "
         "lead. Then merge, then linear_out."),
    ],
    solution='''
        import math

        from torch import nn


        class MultiHeadAttention(nn.Module):
            def __init__(self, d_model, num_heads):
                super().__init__()
                self.num_heads = num_heads
                self.linear_q = nn.Linear(d_model, d_model)
                self.linear_k = nn.Linear(d_model, d_model)
                self.linear_v = nn.Linear(d_model, d_model)
                self.linear_out = nn.Linear(d_model, d_model)

            def split(self, x):
                batch, length, d_model = x.shape
                return x.reshape(batch, length, self.num_heads, d_model // self.num_heads).transpose(1, 2)

            def forward(self, query, key, value):
                query = self.split(self.linear_q(query))
                key = self.split(self.linear_k(key))
                value = self.split(self.linear_v(value))
                scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
                weights = scores.softmax(dim=-1)
                merged = (weights @ value).transpose(1, 2).flatten(2)
                return self.linear_out(merged), weights
        ''',
)


class Linear(nn.Module):
    """nn.Linear, empty at first, and quicker to make: check fills every weight by its name."""

    def __init__(self, inputs, outputs, bias=True):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs, dtype=torch.float64))
        self.bias = nn.Parameter(torch.empty(outputs, dtype=torch.float64)) if bias else None

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


@multi_head_attention.right("step by step")
class MultiHead(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads, self.d_head = num_heads, d_model // num_heads
        self.linear_q, self.linear_k = Linear(d_model, d_model), Linear(d_model, d_model)
        self.linear_v, self.linear_out = Linear(d_model, d_model), Linear(d_model, d_model)

    def forward(self, query, key, value):
        queries = self.split(self.queries(query, key, value))  # (batch, heads, query, d_head)
        keys = self.split(self.keys(query, key, value))  # (batch, heads, key, d_head)
        values = self.split(self.values(query, key, value))  # (batch, heads, key, d_head)
        scores = self.scores(queries, keys, values)  # (batch, heads, query, key)
        scaled = self.scaled(scores, queries, keys)
        weights = self.weights(scaled)
        heads = self.average(weights, queries, keys, values)  # (batch, heads, query, d_head)
        merged = self.merged(heads)  # (batch, query, d_model)
        return self.output(merged, query, key, value), self.handed_over(weights, scaled, scores)

    def queries(self, query, key, value):
        return self.linear_q(query)

    def keys(self, query, key, value):
        return self.linear_k(key)

    def values(self, query, key, value):
        return self.linear_v(value)

    def split(self, x):
        return attention.split_heads(x, self.num_heads)

    def scores(self, queries, keys, values):
        return queries @ keys.transpose(-2, -1)

    def scaled(self, scores, queries, keys):
        return scores / math.sqrt(self.d_head)

    def weights(self, scaled):
        return scaled.softmax(dim=-1)

    def average(self, weights, queries, keys, values):
        return weights @ values

    def merged(self, heads):
        return attention.merge_heads(heads)

    def output(self, merged, query, key, value):
        return self.linear_out(merged)

    def handed_over(self, weights, scaled, scores):
        return weights


@multi_head_attention.right("head by head")
class HeadByHead(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.heads, self.width = num_heads, d_model // num_heads
        for name in ("linear_out", "linear_v", "linear_k", "linear_q"):  # in another order
            self.add_module(name, nn.Linear(d_model, d_model))

    def forward(self, query, key, value):
        results = [self.attend(query, key, value, slice(n * self.width, (n + 1) * self.width))
                   for n in range(self.heads)]
        outputs, weights = zip(*results, strict=True)
        return self.linear_out(torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1)

    def attend(self, query, key, value, part):
        query, key, value = (F.linear(x, layer.weight[part], layer.bias[part]) for x, layer in (
            (query, self.linear_q), (key, self.linear_k), (value, self.linear_v)))
        weights = F.softmax(torch.bmm(query, key.mT) / self.width ** 0.5, dim=2)
        return torch.bmm(weights, value), weights


@multi_head_attention.right("with einsum")
class WithEinsum(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.linear_q, self.linear_k, self.linear_v, self.linear_out = (
            nn.Linear(d_model, d_model) for _ in range(4))
        self.shape = (num_heads, d_model // num_heads)

    def forward(self, query, key, value):
        query = self.linear_q(query).unflatten(-1, self.shape) * self.shape[1] ** -0.5
        key = self.linear_k(key).unflatten(-1, self.shape)
        value = self.linear_v(value).unflatten(-1, self.shape)
        scores = torch.einsum("bqhd,bkhd->bhqk", query, key)
        weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
        return [self.linear_out(torch.einsum("bhqk,bkhd->bqhd", weights, value).flatten(-2)), weights]


@multi_head_attention.right("PyTorch's own")
class WithPyTorch(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        self.sizes = d_model, num_heads
        self.linear_q, self.linear_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.linear_v, self.linear_out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
        output, weights = F.multi_head_attention_forward(
            query, key, value, *self.sizes, None,
            torch.cat([self.linear_q.bias, self.linear_k.bias, self.linear_v.bias]), None, None, False, 0.0,
            self.linear_out.weight, self.linear_out.bias, training=self.training, average_attn_weights=False,
            use_separate_proj_weight=True, q_proj_weight=self.linear_q.weight,
            k_proj_weight=self.linear_k.weight, v_proj_weight=self.linear_v.weight)
        return self.dropout(output.transpose(0, 1)), weights


@multi_head_attention.right("heads and batch in one dimension")
class HeadsInTheBatch(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.linear_q, self.linear_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.linear_v, self.linear_out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

    def forward(self, query, key, value):
        batch = len(query)
        query, key, value = (torch.cat(layer(x).chunk(self.num_heads, -1)) for layer, x in (
            (self.linear_q, query), (self.linear_k, key), (self.linear_v, value)))
        start = torch.zeros(len(query), query.shape[1], key.shape[1], dtype=query.dtype)
        weights = torch.baddbmm(start, query, key.mT, alpha=query.shape[-1] ** -0.5).softmax(-1)
        output = torch.cat((weights @ value).split(batch), dim=-1)
        return self.linear_out(output), weights.unflatten(0, (-1, batch)).transpose(0, 1)


# MultiHeadAttention: what is projected, and by which layer


@multi_head_attention.mistake(
    "one projection for all three",
    why="Queries, keys and values all go through the same layer; the other two are made and never used, so "
        "a vector cannot ask for anything but what it offers itself.",
    look="the three calls: does each role have its own layer?", hint=1)
class OneProjection(MultiHead):
    shared = "linear_q"

    def queries(self, query, key, value):
        return getattr(self, self.shared)(query)

    def keys(self, query, key, value):
        return getattr(self, self.shared)(key)

    def values(self, query, key, value):
        return getattr(self, self.shared)(value)


@multi_head_attention.mistake("one projection for all three", pairs=False)
class OneProjectionOfKeys(OneProjection):
    shared = "linear_k"


@multi_head_attention.mistake("one projection for all three", pairs=False)
class OneProjectionOfValues(OneProjection):
    shared = "linear_v"


@multi_head_attention.mistake(
    "the keys through the wrong projection",
    why="The keys are made by another layer than linear_k, so linear_k is not used where it belongs.",
    look="the line that projects the key: which layer stands there?", hint=1)
class KeysThroughQ(MultiHead):
    def keys(self, query, key, value):
        return self.linear_q(key)


@multi_head_attention.mistake("the keys through the wrong projection", pairs=False)
class KeysThroughV(MultiHead):
    def keys(self, query, key, value):
        return self.linear_v(key)


@multi_head_attention.mistake(
    "the values through the wrong projection",
    why="The values are made by another layer than linear_v, so linear_v is not used where it belongs.",
    look="the line that projects the value: which layer stands there?", hint=2)
class ValuesThroughK(MultiHead):
    def values(self, query, key, value):
        return self.linear_k(value)


@multi_head_attention.mistake("the values through the wrong projection", pairs=False)
class ValuesThroughQ(MultiHead):
    def values(self, query, key, value):
        return self.linear_q(value)


@multi_head_attention.mistake(
    "the queries through the wrong projection",
    why="The queries are made by another layer than linear_q, so linear_q is not used where it belongs.",
    look="the line that projects the query: which layer stands there?", hint=1, pairs=False)
class QueriesThroughK(MultiHead):
    def queries(self, query, key, value):
        return self.linear_k(query)


@multi_head_attention.mistake("the queries through the wrong projection", pairs=False)
class QueriesThroughV(MultiHead):
    def queries(self, query, key, value):
        return self.linear_v(query)


@multi_head_attention.mistake(
    "linear_q and linear_k exchanged",
    why="The query goes through linear_k, and the key through linear_q: the two layers have changed places.",
    look="the lines that project the query and the key: which layer stands where?", hint=1, pairs=False)
class QAndKExchanged(MultiHead):
    def queries(self, query, key, value):
        return self.linear_k(query)

    def keys(self, query, key, value):
        return self.linear_q(key)


@multi_head_attention.mistake(
    "linear_k and linear_v exchanged",
    why="The key goes through linear_v, and the value through linear_k: the two layers have changed places.",
    look="the lines that project the key and the value: which layer stands where?", hint=1, pairs=False)
class KAndVExchanged(MultiHead):
    def keys(self, query, key, value):
        return self.linear_v(key)

    def values(self, query, key, value):
        return self.linear_k(value)


@multi_head_attention.mistake(
    "linear_q and linear_v exchanged",
    why="The query goes through linear_v, and the value through linear_q: the two layers have changed "
        "places.",
    look="the lines that project the query and the value: which layer stands where?", hint=1, pairs=False)
class QAndVExchanged(MultiHead):
    def queries(self, query, key, value):
        return self.linear_v(query)

    def values(self, query, key, value):
        return self.linear_q(value)


@multi_head_attention.mistake(
    "the queries not projected",
    why="The queries are the input as it is: linear_q has no part in them.",
    look="the layers that you made: is each of them called, and its result kept?", hint=1)
class QueriesRaw(MultiHead):
    def queries(self, query, key, value):
        return query


@multi_head_attention.mistake(
    "the keys not projected",
    why="The keys are the input as it is: linear_k has no part in them.",
    look="the layers that you made: is each of them called, and its result kept?", hint=1)
class KeysRaw(MultiHead):
    def keys(self, query, key, value):
        return key


@multi_head_attention.mistake(
    "the values not projected",
    why="The values are the input as it is: linear_v has no part in them.",
    look="the layers that you made: is each of them called, and its result kept?", hint=2)
class ValuesRaw(MultiHead):
    def values(self, query, key, value):
        return value


@multi_head_attention.mistake(
    "projections made and never used",
    why="Query, key and value go into the heads as they are: linear_q, linear_k and linear_v are made, but "
        "have no part in the result.",
    look="the layers that you made: is each of them called, and its result kept?", hint=1)
class AllRaw(MultiHead):
    def queries(self, query, key, value):
        return query

    def keys(self, query, key, value):
        return key

    def values(self, query, key, value):
        return value


@multi_head_attention.mistake(
    "projected twice",
    why="What has been projected already goes through its layer once more.",
    look="how often is each layer called on the way from an input to a head?", hint=1, pairs=False)
class ProjectedTwice(MultiHead):
    def queries(self, query, key, value):
        return self.linear_q(self.linear_q(query))

    def keys(self, query, key, value):
        return self.linear_k(self.linear_k(key))

    def values(self, query, key, value):
        return self.linear_v(self.linear_v(value))


@multi_head_attention.mistake(
    "a ReLU on the projections",
    why="What the layers make of query, key or value goes through a ReLU, so every negative number has "
        "become 0.",
    look="what does the contract say happens between the layers and the heads?", hint=1, pairs=False)
class ReluOnAll(MultiHead):
    def queries(self, query, key, value):
        return self.linear_q(query).relu()

    def keys(self, query, key, value):
        return self.linear_k(key).relu()

    def values(self, query, key, value):
        return self.linear_v(value).relu()


@multi_head_attention.mistake("a ReLU on the projections")
class ReluOnQueriesAndKeys(ReluOnAll):
    def values(self, query, key, value):
        return self.linear_v(value)


@multi_head_attention.mistake("a ReLU on the projections", pairs=False)
class ReluOnQueries(MultiHead):
    def queries(self, query, key, value):
        return self.linear_q(query).relu()


@multi_head_attention.mistake("a ReLU on the projections", pairs=False)
class ReluOnKeys(MultiHead):
    def keys(self, query, key, value):
        return self.linear_k(key).relu()


@multi_head_attention.mistake("a ReLU on the projections", pairs=False)
class ReluOnValues(MultiHead):
    def values(self, query, key, value):
        return self.linear_v(value).relu()


# MultiHeadAttention: which input plays which role


@multi_head_attention.mistake(
    "everything from the query",
    why="Keys and values are made from the query, so what is handed over as key and value is never read: "
        "this is self-attention, whatever it is called with.",
    look="the three inputs of `forward`: where is each of them used?", hint=1)
class EverythingFromQuery(MultiHead):
    def keys(self, query, key, value):
        return self.linear_k(query)

    def values(self, query, key, value):
        return self.linear_v(query)


@multi_head_attention.mistake("everything from the query", pairs=False)
class EachFromTheOneBefore(MultiHead):
    def keys(self, query, key, value):
        return self.linear_k(self.linear_q(query))

    def values(self, query, key, value):
        return self.linear_v(self.linear_k(self.linear_q(query)))


@multi_head_attention.mistake("everything from the query", pairs=False)
class EverythingFromProjectedQuery(MultiHead):
    def keys(self, query, key, value):
        return self.linear_k(self.linear_q(query))

    def values(self, query, key, value):
        return self.linear_v(self.linear_q(query))


@multi_head_attention.mistake(
    "everything from the key",
    why="Queries and values are made from the key, so what is handed over as query and value is never read.",
    look="the three inputs of `forward`: where is each of them used?", hint=1, pairs=False)
class EverythingFromKey(MultiHead):
    def queries(self, query, key, value):
        return self.linear_q(key)

    def values(self, query, key, value):
        return self.linear_v(key)


@multi_head_attention.mistake(
    "everything from the value",
    why="Queries and keys are made from the value, so what is handed over as query and key is never read.",
    look="the three inputs of `forward`: where is each of them used?", hint=1, pairs=False)
class EverythingFromValue(MultiHead):
    def queries(self, query, key, value):
        return self.linear_q(value)

    def keys(self, query, key, value):
        return self.linear_k(value)


@multi_head_attention.mistake(
    "the keys made from the query",
    why="The keys are made from the query, so what is handed over as key is never read.",
    look="what does linear_k get?", hint=1, pairs=False)
class KeysFromQuery(MultiHead):
    def keys(self, query, key, value):
        return self.linear_k(query)


@multi_head_attention.mistake("the keys made from the query", pairs=False)
class KeysFromProjectedQuery(MultiHead):
    def keys(self, query, key, value):
        return self.linear_k(self.linear_q(query))


@multi_head_attention.mistake(
    "the keys made from the value",
    why="The keys are made from the value, so what is handed over as key is never read.",
    look="what does linear_k get?", hint=1)
class KeysFromValue(MultiHead):
    def keys(self, query, key, value):
        return self.linear_k(value)


@multi_head_attention.mistake(
    "the values made from the key",
    why="The values are made from the key, so what is handed over as value is never read.",
    look="what does linear_v get?", hint=2)
class ValuesFromKey(MultiHead):
    def values(self, query, key, value):
        return self.linear_v(key)


@multi_head_attention.mistake("the values made from the key", pairs=False)
class ValuesFromProjectedKey(MultiHead):
    def values(self, query, key, value):
        return self.linear_v(self.linear_k(key))


@multi_head_attention.mistake(
    "the values made from the query",
    why="The values are made from the query, so what is handed over as value is never read.",
    look="what does linear_v get?", hint=2, pairs=False)
class ValuesFromQuery(MultiHead):
    def values(self, query, key, value):
        return self.linear_v(query)


@multi_head_attention.mistake(
    "the queries made from the key",
    why="The queries are made from the key, so what is handed over as query is never read.",
    look="what does linear_q get?", hint=1, pairs=False)
class QueriesFromKey(MultiHead):
    def queries(self, query, key, value):
        return self.linear_q(key)


@multi_head_attention.mistake(
    "the queries made from the value",
    why="The queries are made from the value, so what is handed over as query is never read.",
    look="what does linear_q get?", hint=1, pairs=False)
class QueriesFromValue(MultiHead):
    def queries(self, query, key, value):
        return self.linear_q(value)


@multi_head_attention.mistake(
    "query and key have changed roles",
    why="The keys ask and the queries answer: the two have changed roles.",
    look="a row of the weights belongs to whoever asks. Which of the two comes first in the product?", hint=1)
class RolesOfQueryAndKey(MultiHead):
    def queries(self, query, key, value):
        return self.linear_q(key)

    def keys(self, query, key, value):
        return self.linear_k(query)


@multi_head_attention.mistake("query and key have changed roles", pairs=False)
class KeysTimesQueries(MultiHead):
    def scores(self, queries, keys, values):
        return keys @ queries.transpose(-2, -1)


@multi_head_attention.mistake("query and key have changed roles", pairs=False)
class TransposedOnlyToAverage(KeysTimesQueries):
    def average(self, weights, queries, keys, values):
        return weights.transpose(-2, -1) @ values


@multi_head_attention.mistake(
    "key and value have changed roles",
    why="The values are asked, and the keys are averaged: the two have changed roles.",
    look="what does a key offer to be found by, and what does a value hand over once found?", hint=1)
class RolesOfKeyAndValue(MultiHead):
    def keys(self, query, key, value):
        return self.linear_k(value)

    def values(self, query, key, value):
        return self.linear_v(key)


@multi_head_attention.mistake("key and value have changed roles", pairs=False)
class RolesOfKeysAndValues(MultiHead):
    def scores(self, queries, keys, values):
        return queries @ values.transpose(-2, -1)

    def average(self, weights, queries, keys, values):
        return weights @ keys


@multi_head_attention.mistake(
    "query and value have changed roles",
    why="The values ask, and the queries are averaged: the two have changed roles.",
    look="the order of the three inputs, wherever they are handed on.", hint=1, pairs=False)
class RolesOfQueryAndValue(MultiHead):
    def queries(self, query, key, value):
        return self.linear_q(value)

    def values(self, query, key, value):
        return self.linear_v(query)


@multi_head_attention.mistake("query and value have changed roles", pairs=False)
class RolesOfQueriesAndValues(MultiHead):
    def scores(self, queries, keys, values):
        return values @ keys.transpose(-2, -1)

    def average(self, weights, queries, keys, values):
        return weights @ queries


@multi_head_attention.mistake(
    "all three roles mixed up",
    why="Query, key and value have all changed places: none of the three plays its own role.",
    look="the order of the three inputs, wherever they are handed on.", hint=1, pairs=False)
class RolesTurned(MultiHead):
    def forward(self, query, key, value):
        return super().forward(value, query, key)


@multi_head_attention.mistake("all three roles mixed up", pairs=False)
class RolesTurnedBack(MultiHead):
    def forward(self, query, key, value):
        return super().forward(key, value, query)


# MultiHeadAttention: splitting


@multi_head_attention.mistake(
    "all cut by one length",
    why="The queries and the keys are given one and the same length when they are cut into heads, which "
        "fails as soon as there are more keys than queries, or fewer.",
    look="whose length stands in each `view` or `reshape`?", hint=1, pairs=False)
class CutByOneLength(MultiHead):
    def forward(self, query, key, value):
        self.length = query.shape[1]
        return super().forward(query, key, value)

    def split(self, x):
        return x.reshape(len(x), self.length, self.num_heads, self.d_head).transpose(1, 2)


@multi_head_attention.mistake(
    "heads split by view alone",
    why="The projected numbers are only counted off into heads, without moving any: a head gets one stretch "
        "of neighbouring numbers, where it should get its slice of every position.",
    look="is there a transpose between cutting the features and using the heads?", hint=1)
class SplitByViewAlone(MultiHead):
    def split(self, x):
        batch, length = x.shape[:2]
        return x.reshape(batch, self.num_heads, length, self.d_head)


@multi_head_attention.mistake("heads split by view alone", pairs=False)
class SplitByViewHeadsFirst(MultiHead):
    def split(self, x):
        batch, length = x.shape[:2]
        return x.reshape(self.num_heads, batch, length, self.d_head).transpose(0, 1)


@multi_head_attention.mistake("heads split by view alone", pairs=False)
class QueriesSplitByView(MultiHead):
    def scores(self, queries, keys, values):
        return attention.merge_heads(queries).reshape(queries.shape) @ keys.transpose(-2, -1)


@multi_head_attention.mistake("heads split by view alone", pairs=False)
class KeysSplitByView(MultiHead):
    def scores(self, queries, keys, values):
        return queries @ attention.merge_heads(keys).reshape(keys.shape).transpose(-2, -1)


@multi_head_attention.mistake("heads split by view alone", pairs=False)
class ValuesSplitByView(MultiHead):
    def average(self, weights, queries, keys, values):
        return weights @ attention.merge_heads(values).reshape(values.shape)


@multi_head_attention.mistake(
    "split and merged by view alone",
    why="Splitting and merging only count the numbers off into new shapes, without moving any: a head gets "
        "one stretch of neighbouring numbers, where it should get its slice of every position.",
    look="is there a transpose after cutting the features, and one before putting them together?", hint=1)
class SplitAndMergedByViewAlone(SplitByViewAlone):
    def merged(self, heads):
        return heads.reshape(len(heads), heads.shape[2], -1)


@multi_head_attention.mistake(
    "transposed before the cut",
    why="Dimensions change places before the features are cut, and the reshape that follows counts the "
        "numbers off in the new order: a head mixes several positions.",
    look="the order of the operations in the split: which one should come first?", hint=1, pairs=False)
class TransposedBeforeTheCut(MultiHead):
    def split(self, x):
        batch, length = x.shape[:2]
        return x.transpose(1, 2).reshape(batch, self.num_heads, length, self.d_head)


@multi_head_attention.mistake(
    "heads interleaved",
    why="The features are dealt out to the heads one by one, like cards: head 0 gets the features 0, heads, "
        "2·heads and so on, where it should get the first d_head features, side by side.",
    look="when the last dimension is cut in two, which comes first: the head or the feature within "
        "it?", hint=1)
class SplitInterleaved(MultiHead):
    def split(self, x):
        return x.unflatten(-1, (self.d_head, self.num_heads)).permute(0, 3, 1, 2)


@multi_head_attention.mistake("heads interleaved")
class SplitAndMergedInterleaved(SplitInterleaved):
    def merged(self, heads):
        return heads.permute(0, 2, 3, 1).flatten(2)


@multi_head_attention.mistake(
    "num_heads and d_head exchanged",
    why="Each head is num_heads features wide, and there are d_head of them: the two sizes have changed "
        "places.",
    look="what does your number count: the pieces, or the features in a piece?", hint=1)
class SizesExchanged(MultiHead):
    def split(self, x):
        return x.unflatten(-1, (self.d_head, self.num_heads)).transpose(1, 2)


@multi_head_attention.mistake("num_heads and d_head exchanged", pairs=False)
class SizesExchangedInTheScaleToo(SizesExchanged):
    def scaled(self, scores, queries, keys):
        return scores / math.sqrt(self.num_heads)


@multi_head_attention.mistake(
    "the heads attend to each other",
    why="The heads have not been moved before the positions, so the products and the softmax run over the "
        "heads of one position, and no position ever sees another.",
    look="the shape of the scores: which two dimensions come last?", hint=1)
class HeadsAttendToHeads(MultiHead):
    def split(self, x):
        return x.unflatten(-1, (self.num_heads, self.d_head))

    def merged(self, heads):
        return heads.flatten(-2)


@multi_head_attention.mistake("the heads attend to each other", pairs=False)
class HeadsAttendToHeadsAndMoveAfterwards(MultiHead):
    def split(self, x):
        return x.unflatten(-1, (self.num_heads, self.d_head))


@multi_head_attention.mistake("the heads attend to each other", pairs=False)
class HeadsAttendToHeadsAndAreReshaped(MultiHead):
    def split(self, x):
        return x.unflatten(-1, (self.num_heads, self.d_head))

    def merged(self, heads):
        return heads.transpose(1, 2).reshape(len(heads), heads.shape[1], -1)


@multi_head_attention.mistake(
    "a single head",
    why="The features are not split: one head attends with all of them at once.",
    look="how many heads do the weights have?", hint=1)
class SingleHead(MultiHead):
    def split(self, x):
        return x[:, None]


@multi_head_attention.mistake("a single head")
class SingleHeadScaledAsSuch(SingleHead):
    def scaled(self, scores, queries, keys):
        return scores / math.sqrt(queries.shape[-1])


@multi_head_attention.mistake("a single head", pairs=False)
class SingleHeadRepeated(SingleHead):
    def handed_over(self, weights, scaled, scores):
        return weights.expand(-1, self.num_heads, -1, -1)


@multi_head_attention.mistake("a single head", pairs=False)
class SingleHeadScaledAsSuchRepeated(SingleHeadScaledAsSuch):
    def handed_over(self, weights, scaled, scores):
        return weights.expand(-1, self.num_heads, -1, -1)


@multi_head_attention.mistake("a single head", pairs=False)
class SingleHeadInThreeDimensions(SingleHead):
    def handed_over(self, weights, scaled, scores):
        return weights[:, 0]


@multi_head_attention.mistake("a single head", pairs=False)
class SingleHeadScaledAsSuchInThreeDimensions(SingleHeadScaledAsSuch):
    def handed_over(self, weights, scaled, scores):
        return weights[:, 0]


@multi_head_attention.mistake(
    "every head reads the same slice",
    why="Every head gets the same features, the first or the last d_head of them, so all the heads find the "
        "same.",
    look="the slice: does it depend on which head it is for?", hint=1)
class SameSlice(MultiHead):
    def split(self, x):
        return torch.stack([x[..., :self.d_head]] * self.num_heads, dim=1)


@multi_head_attention.mistake("every head reads the same slice", pairs=False)
class SameLastSlice(MultiHead):
    def split(self, x):
        return torch.stack([x[..., -self.d_head:]] * self.num_heads, dim=1)


@multi_head_attention.mistake(
    "slices that overlap",
    why="The slice of the next head starts just one feature after the slice of the one before, so the "
        "slices overlap, and the last features are never read.",
    look="where does the slice of head 1 start, and where should it?", hint=1, pairs=False)
class OverlappingSlices(MultiHead):
    def split(self, x):
        return torch.stack([x[..., head:head + self.d_head] for head in range(self.num_heads)], dim=1)


@multi_head_attention.mistake(
    "slices num_heads wide",
    why="The slice of a head is num_heads features wide, where it should be d_head wide: that is right only "
        "where the two are equal.",
    look="the ends of the slices: what should they be multiples of?", hint=1, pairs=False)
class SlicesNumHeadsWide(MultiHead):
    def split(self, x):
        width = self.num_heads
        return torch.stack([x[..., n * width:(n + 1) * width] for n in range(self.num_heads)], dim=1)


@multi_head_attention.mistake(
    "batch and length mixed up",
    why="The first dimension is taken for the length and the second for the batch, so a position attends to "
        "the same position of the other sequences, never to its own.",
    look="which dimension counts the positions? Here the batch always comes first.", hint=1, pairs=False)
class LengthFirst(MultiHead):
    def forward(self, query, key, value):
        output, weights = super().forward(query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1))
        return output.transpose(0, 1), weights


@multi_head_attention.mistake("batch and length mixed up", pairs=False)
class LengthFirstNotTurnedBack(MultiHead):
    def forward(self, query, key, value):
        return super().forward(query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1))


# MultiHeadAttention: scores and scale


@multi_head_attention.mistake(
    "no scale",
    why="The scores go into the softmax as they are: nothing is divided by √d_head.",
    look="what happens to the variance of a dot product as the vectors get longer?", hint=1)
class NoScale(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores


@multi_head_attention.mistake(
    "scaled by √d_model",
    why="The scores are divided by √d_model, but a head's dot product sums over d_head features only, so "
        "the softmax comes out too flat.",
    look="how many products does one score of one head add up?", hint=1)
class ScaledByModel(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores / math.sqrt(self.num_heads * self.d_head)


@multi_head_attention.mistake(
    "scaled by d_head, not its root",
    why="The scores are divided by d_head in all, not by its square root, so the softmax comes out too flat.",
    look="the variance of a score grows like d_head. How does its standard deviation grow? And is the scale "
         "applied once?", hint=1)
class ScaledByHead(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores / self.d_head


@multi_head_attention.mistake(
    "scaled by d_model, not √d_head",
    why="The scores are divided by d_model, so the softmax comes out far too flat.",
    look="how many products does one score of one head add up, and what is the standard deviation of their "
        "sum?",
    hint=1, pairs=False)
class ScaledByWholeModel(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores / (self.num_heads * self.d_head)


@multi_head_attention.mistake(
    "scaled by √num_heads",
    why="The scores are divided by the square root of how many heads there are, not of how many features a "
        "head has.",
    look="how many products does one score of one head add up?", hint=1)
class ScaledByHeads(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores / math.sqrt(self.num_heads)


@multi_head_attention.mistake(
    "scaled by a length",
    why="The scores are divided by the square root of how many positions there are, not of how many "
        "features a head has.",
    look="how many products does one score of one head add up?", hint=1, pairs=False)
class ScaledByKeys(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores / math.sqrt(keys.shape[-2])


@multi_head_attention.mistake("scaled by a length", pairs=False)
class ScaledByQueries(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores / math.sqrt(queries.shape[-2])


@multi_head_attention.mistake(
    "multiplied by the root",
    why="The scores are multiplied by the root where they should be divided by it, so the softmax comes out "
        "too sharp.",
    look="should the scores get larger or smaller?", hint=1)
class Multiplied(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores * math.sqrt(self.d_head)


@multi_head_attention.mistake("multiplied by the root", pairs=False)
class MultipliedByModel(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores * math.sqrt(self.num_heads * self.d_head)


@multi_head_attention.mistake(
    "1/2 without brackets",
    why="The scores are divided (or multiplied) by half of d_head, or by twice d_head, not by its root: `d "
        "** 1/2` is half of d, for the power comes before the division.",
    look="what does `9 ** 1/2` give?", hint=1, pairs=False)
class HalfWithoutBrackets(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores / self.d_head ** 1 / 2


@multi_head_attention.mistake("1/2 without brackets", pairs=False)
class DividedByHalf(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores / (self.d_head / 2)


@multi_head_attention.mistake(
    "scaled by another number",
    why="The scores are divided by a number that is not √d_head.",
    look="print the number that you divide by, for d_model 8 and 2 heads: it should be "
        "2.", hint=1, pairs=False)
class ScaledByRootOverHeads(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores / (math.sqrt(self.num_heads * self.d_head) / self.num_heads)


@multi_head_attention.mistake("scaled by another number")
class ScaledByRootOfProduct(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores / math.sqrt(self.num_heads * self.d_head * self.num_heads)


@multi_head_attention.mistake("scaled by another number")
class ScaledByFourthRoot(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores / self.d_head ** 0.25


@multi_head_attention.mistake("scaled by another number")
class ScaledByWholeRoot(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores / int(math.sqrt(self.d_head))


@multi_head_attention.mistake("scaled by another number")
class ScaledByNumHeads(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores / self.num_heads


@multi_head_attention.mistake("scaled by another number")
class ScaledBySquare(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores / self.d_head ** 2


@multi_head_attention.mistake("scaled by another number")
class ScaledByEight(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores / 8


@multi_head_attention.mistake("scaled by another number")
class ScaledByLogarithm(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores / math.log(self.d_head)


@multi_head_attention.mistake(
    "the scale after the softmax",
    why="The weights are divided by √d_head after the softmax, so their rows sum to 1/√d_head, not to 1.",
    look="the order of the two operations.", hint=1)
class ScaledAfterwards(MultiHead):
    def scaled(self, scores, queries, keys):
        return scores

    def weights(self, scaled):
        return scaled.softmax(dim=-1) / math.sqrt(self.d_head)


@multi_head_attention.mistake("the scale after the softmax", pairs=False)
class ScaledAfterwardsByModel(ScaledAfterwards):
    def weights(self, scaled):
        return scaled.softmax(dim=-1) / math.sqrt(self.num_heads * self.d_head)


@multi_head_attention.mistake("the scale after the softmax", pairs=False)
class OutputScaled(ScaledAfterwards):
    def weights(self, scaled):
        return scaled.softmax(dim=-1)

    def average(self, weights, queries, keys, values):
        return weights @ values / math.sqrt(self.d_head)


@multi_head_attention.mistake(
    "query · value",
    why="The queries are compared with the values, and the keys are never used: the scores must come from "
        "query and key.",
    look="what does a key offer, and what does a value hand over?", hint=1)
class QueryTimesValue(MultiHead):
    def scores(self, queries, keys, values):
        return queries @ values.transpose(-2, -1)


@multi_head_attention.mistake(
    "the keys reshaped, not transposed",
    why="For the product the keys are only counted off into (d_head, key), without moving a number, so the "
        "columns mix features of several keys.",
    look="does reshape exchange two dimensions?", hint=1)
class KeysReshaped(MultiHead):
    def scores(self, queries, keys, values):
        return queries @ keys.reshape(*keys.shape[:2], keys.shape[3], keys.shape[2])


@multi_head_attention.mistake("the keys reshaped, not transposed", pairs=False)
class KeysReshapedAtOnce(MultiHead):
    def scores(self, queries, keys, values):
        batch, heads, length, d_head = keys.shape
        return queries @ attention.merge_heads(keys).reshape(batch, heads, d_head, length)


@multi_head_attention.mistake(
    "cosines for dot products",
    why="Queries and keys are divided by their lengths, so the scores are cosines, between -1 and 1, where "
        "dot products are asked for.",
    look="what happens to the vectors before they are multiplied?", hint=1, pairs=False)
class Cosines(MultiHead):
    def scores(self, queries, keys, values):
        return F.normalize(queries, dim=-1) @ F.normalize(keys, dim=-1).transpose(-2, -1)


@multi_head_attention.mistake("cosines for dot products")
class CosinesNotScaled(Cosines):
    def scaled(self, scores, queries, keys):
        return scores


@multi_head_attention.mistake(
    "compared with themselves",
    why="The queries are compared with queries, or the keys with keys: the scores must come from one of "
        "each.",
    look="the two factors of the product: who asks, and who answers?", hint=1, pairs=False)
class QueriesTimesQueries(MultiHead):
    def scores(self, queries, keys, values):
        return queries @ queries.transpose(-2, -1)


@multi_head_attention.mistake("compared with themselves", pairs=False)
class KeysTimesKeys(MultiHead):
    def scores(self, queries, keys, values):
        return keys @ keys.transpose(-2, -1)


# MultiHeadAttention: the softmax


@multi_head_attention.mistake(
    "softmax over the queries",
    why="The softmax runs over the queries: each column of the weights sums to 1, instead of each row.",
    look="one query's weights must sum to 1. Which dimension holds them?", hint=1)
class SoftmaxOverQueries(MultiHead):
    def weights(self, scaled):
        return scaled.softmax(dim=-2)


@multi_head_attention.mistake(
    "softmax over the heads",
    why="The softmax runs over the heads: for each query and key, the weights of all heads sum to 1, where "
        "each head should share out a 1 of its own.",
    look="the dimension of the softmax: with heads there are four, and dimension 1 is not what it was with "
        "three.",
    hint=1)
class SoftmaxOverHeads(MultiHead):
    def weights(self, scaled):
        return scaled.softmax(dim=1)


@multi_head_attention.mistake(
    "softmax over the batch",
    why="The softmax runs over the batch: the sequences compete with each other, and the rows do not sum to "
        "1.",
    look="the dimension of the softmax. Which one holds the keys?", hint=1)
class SoftmaxOverBatch(MultiHead):
    def weights(self, scaled):
        return scaled.softmax(dim=0)


@multi_head_attention.mistake(
    "softmax over more than the keys",
    why="The softmax runs over several dimensions at once: the weights of many queries together sum to 1, "
        "where those of one query should.",
    look="sum one row of the weights.", hint=1)
class SoftmaxOverQueriesAndKeys(MultiHead):
    def weights(self, scaled):
        return scaled.flatten(2).softmax(dim=-1).view_as(scaled)


@multi_head_attention.mistake("softmax over more than the keys", pairs=False)
class SoftmaxOverASequence(MultiHead):
    def weights(self, scaled):
        return scaled.flatten(1).softmax(dim=-1).view_as(scaled)


@multi_head_attention.mistake("softmax over more than the keys", pairs=False)
class SoftmaxOverEverything(MultiHead):
    def weights(self, scaled):
        return scaled.flatten().softmax(dim=0).view_as(scaled)


@multi_head_attention.mistake(
    "no softmax",
    why="The scores themselves are used as weights: they are negative in places, and the rows do not sum to "
        "1.",
    look="what turns scores into weights?", hint=1)
class NoSoftmax(MultiHead):
    def weights(self, scaled):
        return scaled


@multi_head_attention.mistake(
    "softmax twice",
    why="The weights go through a second softmax, which makes them much more equal.",
    look="does what you call already contain a softmax?", hint=1)
class SoftmaxTwice(MultiHead):
    def weights(self, scaled):
        return scaled.softmax(dim=-1).softmax(dim=-1)


@multi_head_attention.mistake(
    "another function for the softmax",
    why="Every score goes through a function by itself, a sigmoid, a tanh or a ReLU, so the keys do not "
        "compete, and the rows do not sum to 1.",
    look="what makes the weights of one query sum to 1?", hint=1, pairs=False)
class Sigmoid(MultiHead):
    def weights(self, scaled):
        return scaled.sigmoid()


@multi_head_attention.mistake("another function for the softmax")
class Tanh(MultiHead):
    def weights(self, scaled):
        return scaled.tanh()


@multi_head_attention.mistake("another function for the softmax")
class Relu(MultiHead):
    def weights(self, scaled):
        return scaled.relu()


@multi_head_attention.mistake(
    "scores divided by their sum",
    why="The scores are divided by their sum without the exponential, so there are negative weights, and "
        "large ones where the sum is near 0.",
    look="what makes every score positive before it is divided?", hint=1, pairs=False)
class DividedBySum(MultiHead):
    def weights(self, scaled):
        return scaled / scaled.sum(dim=-1, keepdim=True)


@multi_head_attention.mistake(
    "all weight on the best key",
    why="The key with the largest score gets all the weight and the others none: an argmax, not a softmax.",
    look="what should a key with nearly the largest score get?", hint=1, pairs=False)
class BestKey(MultiHead):
    def weights(self, scaled):
        return F.one_hot(scaled.argmax(dim=-1), scaled.shape[-1]).to(scaled.dtype)


@multi_head_attention.mistake(
    "a softmax with base 2",
    why="The weights are powers of 2 (or of 10), divided by their sum, not exponentials.",
    look="which function does the softmax apply to every score first?", hint=1, pairs=False)
class BaseTwo(MultiHead):
    def weights(self, scaled):
        return (scaled * math.log(2)).softmax(dim=-1)


@multi_head_attention.mistake("a softmax with base 2")
class BaseTen(MultiHead):
    def weights(self, scaled):
        return (scaled * math.log(10)).softmax(dim=-1)


@multi_head_attention.mistake(
    "the softmax of the negative scores",
    why="The scores have the wrong sign in the softmax: the key that matches least gets the most weight.",
    look="which key should get the most weight?", hint=1, pairs=False)
class NegativeScores(MultiHead):
    def weights(self, scaled):
        return (-scaled).softmax(dim=-1)


@multi_head_attention.mistake(
    "the logarithm of the weights",
    why="The logarithm of the softmax is used as weights: every number is negative, and the rows do not sum "
        "to 1.",
    look="the name of the function that makes the weights.", hint=1, pairs=False)
class LogSoftmax(MultiHead):
    def weights(self, scaled):
        return scaled.log_softmax(dim=-1)


@multi_head_attention.mistake(
    "exponentials, not divided by their sum",
    why="The exponentials of the scores are used as weights: they have not been divided by their sum, so "
        "the rows do not sum to 1.",
    look="what makes the weights of one query sum to 1?", hint=1, pairs=False)
class OnlyExponentials(MultiHead):
    def weights(self, scaled):
        return scaled.exp()


@multi_head_attention.mistake(
    "a mask nobody asked for",
    why="A causal mask is built in: a query gives no weight to the keys after it, though here nothing is "
        "forbidden.",
    look="the upper triangle of your weights: it is 0, and should it be?", hint=1)
class CausalMaskInside(MultiHead):
    def weights(self, scaled):
        allowed = torch.ones(scaled.shape[-2:], dtype=torch.bool).tril()
        return scaled.masked_fill(~allowed, -torch.inf).softmax(dim=-1)


@multi_head_attention.mistake(
    "a mask in the output alone",
    why="The output is made with a causal mask, as `is_causal=True` asks of PyTorch, and without the weights "
        "that are returned: there is no mask in those, and none is asked for.",
    look="with which weights is the output made?", hint=2)
class CausalAverage(MultiHead):
    def average(self, weights, queries, keys, values):
        return F.scaled_dot_product_attention(queries, keys, values, is_causal=True)


@multi_head_attention.mistake(
    "one table of weights for all the heads",
    why="The scores or the weights are averaged over the heads, and all the heads use this average: none of "
        "them asks a question of its own.",
    look="every `mean` on the way to the weights.", hint=1, pairs=False)
class WeightsShared(MultiHead):
    def weights(self, scaled):
        return scaled.softmax(dim=-1).mean(1, keepdim=True).expand_as(scaled)


@multi_head_attention.mistake("one table of weights for all the heads", pairs=False)
class ScoresShared(MultiHead):
    def weights(self, scaled):
        return scaled.mean(1, keepdim=True).softmax(dim=-1).expand_as(scaled)


# MultiHeadAttention: the average, and merging


@multi_head_attention.mistake(
    "the keys averaged",
    why="The weights average the keys; the values are never used.",
    look="what does a key offer, and what does a value hand over once found?", hint=2)
class KeysAveraged(MultiHead):
    def average(self, weights, queries, keys, values):
        return weights @ keys


@multi_head_attention.mistake(
    "the queries averaged",
    why="The weights average the queries; the values are never used.",
    look="what does a query ask, and what does a value hand over?", hint=2, pairs=False)
class QueriesAveraged(MultiHead):
    def average(self, weights, queries, keys, values):
        return weights @ queries


@multi_head_attention.mistake(
    "averaged with the weights transposed",
    why="For the average rows and columns of the weights have changed places, so the values are added up "
        "with weights that do not sum to 1.",
    look="a row of the weights and a column of the values: which dimension must they "
        "share?", hint=2, pairs=False)
class AveragedTransposed(MultiHead):
    def average(self, weights, queries, keys, values):
        return weights.transpose(-2, -1) @ values


@multi_head_attention.mistake(
    "averaged without the weights",
    why="All values of a head count the same, or are added up: the weights have no part in the output.",
    look="where are the weights used?", hint=2, pairs=False)
class AveragedWithoutWeights(MultiHead):
    def average(self, weights, queries, keys, values):
        return values.mean(dim=-2, keepdim=True).expand_as(queries)


@multi_head_attention.mistake("averaged without the weights")
class SummedWithoutWeights(MultiHead):
    def average(self, weights, queries, keys, values):
        return values.sum(dim=-2, keepdim=True).expand_as(queries)


@multi_head_attention.mistake(
    "every head averages all the features",
    why="Each head's weights average all the features of the values, not only its own d_head, and the "
        "results are added up or averaged.",
    look="are the values split into heads as well?", hint=2, pairs=False)
class ValuesNotSplit(MultiHead):
    def average(self, weights, queries, keys, values):
        return (weights @ attention.merge_heads(values)[:, None]).sum(dim=1)

    def merged(self, heads):
        return heads


@multi_head_attention.mistake("every head averages all the features")
class ValuesNotSplitAveraged(ValuesNotSplit):
    def merged(self, heads):
        return heads / self.num_heads


@multi_head_attention.mistake(
    "merged without the transpose",
    why="The heads are only counted off into a new shape, without moving a number: a position gets one "
        "head's features of several positions, where it should get every head's features of its own.",
    look="between the average and linear_out: what brings the heads behind the positions?", hint=2)
class MergedByViewAlone(MultiHead):
    def merged(self, heads):
        return heads.reshape(len(heads), heads.shape[2], -1)


@multi_head_attention.mistake(
    "merged in interleaved order",
    why="The heads are shuffled together one feature at a time, like cards: the features of a head should "
        "stay side by side.",
    look="the two dimensions that become one: which comes first, the heads or the features?", hint=2)
class MergedInterleaved(MultiHead):
    def merged(self, heads):
        return heads.permute(0, 2, 3, 1).flatten(2)


@multi_head_attention.mistake(
    "merged after the wrong transpose",
    why="Before the heads are merged, other dimensions than heads and positions change places, so a row "
        "mixes what does not belong together.",
    look="name the four dimensions, count them from 0, and compare with your transpose.", hint=2)
class MergedAfterLastTwo(MultiHead):
    def merged(self, heads):
        return heads.transpose(2, 3).reshape(len(heads), heads.shape[2], -1)


@multi_head_attention.mistake("merged after the wrong transpose", pairs=False)
class MergedAfterHeadsAndFeatures(MultiHead):
    def merged(self, heads):
        return heads.transpose(1, 3).reshape(len(heads), heads.shape[2], -1)


@multi_head_attention.mistake("merged after the wrong transpose", pairs=False)
class MergedAfterBatchAndHeads(MultiHead):
    def merged(self, heads):
        return heads.transpose(0, 1).reshape(len(heads), heads.shape[2], -1)


@multi_head_attention.mistake(
    "batch and heads taken apart in the wrong order",
    why="Batch and heads lie one behind the other, the heads first, and a view or a reshape takes them apart "
        "as if the batch came first (or the other way round): heads and sequences are mixed up.",
    look="what comes next there after head 0 of sequence 0: another head, or another sequence?",
    hint=1, pairs=False)
class SplitHeadsFirst(MultiHead):
    def split(self, x):
        batch, length = x.shape[:2]
        return torch.stack(x.chunk(self.num_heads, -1)).reshape(batch, self.num_heads, length, self.d_head)


@multi_head_attention.mistake("batch and heads taken apart in the wrong order", pairs=False)
class BatchFirstTakenForHeadsFirst(MultiHead):
    def merged(self, heads):
        return super().merged(self.taken_apart(heads))

    def handed_over(self, weights, scaled, scores):
        return self.taken_apart(weights)

    def taken_apart(self, heads):
        batch, num_heads = heads.shape[:2]
        return heads.flatten(0, 1).unflatten(0, (num_heads, batch)).transpose(0, 1)


@multi_head_attention.mistake(
    "the heads averaged",
    why="The outputs of the heads are averaged, so what each of them found by itself is lost; they should "
        "stand side by side.",
    look="how many features must a position have before linear_out?", hint=2)
class HeadsAveraged(MultiHead):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.linear_out = Linear(self.d_head, d_model)

    def merged(self, heads):
        return heads.mean(dim=1)


@multi_head_attention.mistake("the heads averaged", pairs=False)
class HeadsAveragedAndRepeated(MultiHead):
    def merged(self, heads):
        return heads.mean(dim=1).repeat(1, 1, self.num_heads)


@multi_head_attention.mistake(
    "the heads summed",
    why="The outputs of the heads are added up, so what each of them found by itself is lost; they should "
        "stand side by side.",
    look="how many features must a position have before linear_out?", hint=2)
class HeadsSummed(MultiHead):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.linear_out = Linear(self.d_head, d_model)

    def merged(self, heads):
        return heads.sum(dim=1)


@multi_head_attention.mistake("the heads summed", pairs=False)
class HeadsSummedAndRepeated(MultiHead):
    def merged(self, heads):
        return heads.sum(dim=1).repeat(1, 1, self.num_heads)


@multi_head_attention.mistake(
    "only one head reaches the output",
    why="The weights are those of every head, but what goes into linear_out comes from one head alone: the "
        "others are overwritten, or never filled in.",
    look="does your loop keep the output of each head, and put it in a place of its "
        "own?", hint=2, pairs=False)
class LastHeadForAll(MultiHead):
    def merged(self, heads):
        return heads[:, -1].repeat(1, 1, self.num_heads)


@multi_head_attention.mistake("only one head reaches the output")
class FirstHeadForAll(MultiHead):
    def merged(self, heads):
        return heads[:, 0].repeat(1, 1, self.num_heads)


@multi_head_attention.mistake("only one head reaches the output")
class OnlyFirstHeadAndZeros(MultiHead):
    def merged(self, heads):
        return F.pad(heads[:, 0], (0, (self.num_heads - 1) * self.d_head))


@multi_head_attention.mistake("only one head reaches the output")
class OnlyLastHeadAndZeros(MultiHead):
    def merged(self, heads):
        return F.pad(heads[:, -1], (0, (self.num_heads - 1) * self.d_head))


@multi_head_attention.mistake("only one head reaches the output")
class OnlyLastHeadInItsPlace(MultiHead):
    def merged(self, heads):
        return F.pad(heads[:, -1], ((self.num_heads - 1) * self.d_head, 0))


@multi_head_attention.mistake(
    "the heads in reverse",
    why="The heads are put side by side in the opposite order: the last one first.",
    look="which head's features does a position start with?", hint=2, pairs=False)
class MergedInReverse(MultiHead):
    def merged(self, heads):
        return attention.merge_heads(heads.flip(1))


@multi_head_attention.mistake(
    "view of what has been transposed",
    why="`view` cannot count through numbers that `transpose` has put in another order: hence the error "
        "that PyTorch raises.",
    look="the last sentence of the error message.", hint=2, pairs=False, raises=True)
class MergedByView(MultiHead):
    def merged(self, heads):
        return heads.transpose(1, 2).view(len(heads), heads.shape[2], -1)


# MultiHeadAttention: the last projection


@multi_head_attention.mistake(
    "no output projection",
    why="The merged heads are the output: linear_out has no part in it, so the heads are never mixed.",
    look="the layers that you made: is each of them called, and its result kept?", hint=2)
class NoOutputProjection(MultiHead):
    def output(self, merged, query, key, value):
        return merged


@multi_head_attention.mistake(
    "linear_out gets another tensor",
    why="linear_out is applied to something else than the merged heads, so what they found does not reach "
        "the output.",
    look="what stands between the brackets of linear_out?", hint=2)
class OutOfQuery(MultiHead):
    def output(self, merged, query, key, value):
        return self.linear_out(query)


@multi_head_attention.mistake("linear_out gets another tensor", pairs=False)
class OutOfKey(MultiHead):
    def output(self, merged, query, key, value):
        return self.linear_out(key)


@multi_head_attention.mistake("linear_out gets another tensor", pairs=False)
class OutOfValue(MultiHead):
    def output(self, merged, query, key, value):
        return self.linear_out(value)


@multi_head_attention.mistake("linear_out gets another tensor", pairs=False)
class OutOfProjectedQuery(MultiHead):
    def output(self, merged, query, key, value):
        return self.linear_out(self.linear_q(query))


@multi_head_attention.mistake("linear_out gets another tensor", pairs=False)
class OutOfProjectedValue(MultiHead):
    def output(self, merged, query, key, value):
        return self.linear_out(self.linear_v(value))


@multi_head_attention.mistake(
    "the output through another layer",
    why="The merged heads go through one of the layers that made queries, keys and values; linear_out has "
        "no part in the output.",
    look="which layer makes the output?", hint=2)
class OutThroughV(MultiHead):
    def output(self, merged, query, key, value):
        return self.linear_v(merged)


@multi_head_attention.mistake("the output through another layer", pairs=False)
class OutThroughQ(MultiHead):
    def output(self, merged, query, key, value):
        return self.linear_q(merged)


@multi_head_attention.mistake("the output through another layer", pairs=False)
class OutThroughK(MultiHead):
    def output(self, merged, query, key, value):
        return self.linear_k(merged)


@multi_head_attention.mistake(
    "linear_out too early",
    why="linear_out is applied to the values before the heads attend, not to the merged heads, so what the "
        "heads find is never mixed.",
    look="what must have happened before the heads can be mixed?", hint=2, pairs=False)
class OutTooEarly(MultiHead):
    def values(self, query, key, value):
        return self.linear_out(self.linear_v(value))

    def output(self, merged, query, key, value):
        return merged


@multi_head_attention.mistake(
    "linear_out on each head",
    why="Each head goes through linear_out by itself, and the results are put together or added up; "
        "linear_out should see the merged heads, all of them at once.",
    look="what must have happened before the heads can be mixed?", hint=2, pairs=False)
class OutOnEachHead(MultiHead):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.linear_out = Linear(self.d_head, self.d_head)

    def output(self, merged, query, key, value):
        return self.linear_out(merged.unflatten(-1, (self.num_heads, self.d_head))).flatten(-2)


@multi_head_attention.mistake("linear_out on each head", pairs=False)
class OutOnEachHeadAddedUp(OutOnEachHead):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.linear_out = Linear(d_model, d_model)

    def output(self, merged, query, key, value):
        heads = merged.unflatten(-1, (self.num_heads, self.d_head)).unbind(-2)
        places = [(head * self.d_head, (self.num_heads - head - 1) * self.d_head)
                  for head in range(self.num_heads)]
        return sum(self.linear_out(F.pad(one, place)) for one, place in zip(heads, places, strict=True))


@multi_head_attention.mistake(
    "linear_out twice",
    why="The merged heads go through linear_out twice.",
    look="how often is linear_out called?", hint=2)
class OutTwice(MultiHead):
    def output(self, merged, query, key, value):
        return self.linear_out(self.linear_out(merged))


@multi_head_attention.mistake(
    "a residual added",
    why="The query (or what linear_q makes of it) is added to the output: that residual belongs to the "
        "layer around attention, not in here.",
    look="what does the contract say happens after linear_out?", hint=2)
class ResidualAdded(MultiHead):
    def output(self, merged, query, key, value):
        return query + self.linear_out(merged)


@multi_head_attention.mistake("a residual added", pairs=False)
class ProjectedResidualAdded(MultiHead):
    def output(self, merged, query, key, value):
        return self.linear_q(query) + self.linear_out(merged)


@multi_head_attention.mistake("a residual added", pairs=False)
class ResidualAddedBefore(MultiHead):
    def output(self, merged, query, key, value):
        return self.linear_out(merged + query)


@multi_head_attention.mistake("a residual added", pairs=False)
class ProjectedResidualAddedBefore(MultiHead):
    def output(self, merged, query, key, value):
        return self.linear_out(merged + self.linear_q(query))


@multi_head_attention.mistake(
    "the output normalised",
    why="The output goes through a layer norm, with or without a residual: that belongs to the layer around "
        "attention, not in here.",
    look="what does the contract say happens after linear_out?", hint=2, pairs=False)
class Normalised(MultiHead):
    def output(self, merged, query, key, value):
        return F.layer_norm(self.linear_out(merged), query.shape[-1:])


@multi_head_attention.mistake("the output normalised", pairs=False)
class NormalisedWithResidual(MultiHead):
    def output(self, merged, query, key, value):
        return F.layer_norm(self.linear_out(merged) + query, query.shape[-1:])


@multi_head_attention.mistake(
    "the output transposed",
    why="Positions and features of the output have changed places.",
    look="the dimensions of the output, one by one.", hint=2, pairs=False)
class OutputTransposed(MultiHead):
    def output(self, merged, query, key, value):
        return self.linear_out(merged).transpose(1, 2)


@multi_head_attention.mistake(
    "the weights of a layer not transposed",
    why="The features are multiplied by `layer.weight` as it stands, but nn.Linear multiplies by its "
        "transpose.",
    look="the shape of nn.Linear(2, 3).weight: which size comes first?", hint=2, pairs=False)
class WeightOfOutNotTransposed(MultiHead):
    def output(self, merged, query, key, value):
        return merged @ self.linear_out.weight + self.linear_out.bias


@multi_head_attention.mistake(
    "a softmax at the end",
    why="The output goes through a softmax, so its features are positive and sum to 1: only the scores need "
        "one.",
    look="what does the contract say happens after linear_out?", hint=2)
class SoftmaxAtTheEnd(MultiHead):
    def output(self, merged, query, key, value):
        return self.linear_out(merged).softmax(dim=-1)


@multi_head_attention.mistake(
    "a ReLU at the end",
    why="The output goes through a ReLU, or a GELU, so the negative numbers in it have become 0, or nearly.",
    look="what does the contract say happens after linear_out?", hint=2, pairs=False)
class ReluAtTheEnd(MultiHead):
    def output(self, merged, query, key, value):
        return self.linear_out(merged).relu()


@multi_head_attention.mistake("a ReLU at the end", pairs=False)
class ReluBeforeTheEnd(MultiHead):
    def output(self, merged, query, key, value):
        return self.linear_out(merged.relu())


@multi_head_attention.mistake("a ReLU at the end", pairs=False)
class GeluAtTheEnd(MultiHead):
    def output(self, merged, query, key, value):
        return F.gelu(self.linear_out(merged))


# MultiHeadAttention: the weights that are handed over


@multi_head_attention.mistake(
    "weights averaged over the heads",
    why="The weights that come back are averaged over the heads, as nn.MultiheadAttention does unless told "
        "otherwise; here every head's own are asked for.",
    look="the shape of the weights: where are the heads?", hint=1)
class WeightsAveraged(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return weights.mean(dim=1)


@multi_head_attention.mistake("weights averaged over the heads", pairs=False)
class WeightsAveragedInFourDimensions(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return weights.mean(dim=1, keepdim=True)


@multi_head_attention.mistake("weights averaged over the heads", pairs=False)
class WeightsAveragedForEveryHead(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return weights.mean(dim=1, keepdim=True).expand_as(weights)


@multi_head_attention.mistake(
    "weights summed over the heads",
    why="The weights that come back are added up over the heads; here every head's own are asked for.",
    look="the shape of the weights: where are the heads?", hint=1, pairs=False)
class WeightsSummed(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return weights.sum(dim=1)


@multi_head_attention.mistake(
    "the weights of one head only",
    why="The weights that come back are those of a single head; those of every head are asked for.",
    look="does your loop keep the weights of each head, or overwrite them?", hint=1)
class WeightsOfLastHead(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return weights[:, -1]


@multi_head_attention.mistake("the weights of one head only", pairs=False)
class WeightsOfFirstHead(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return weights[:, 0]


@multi_head_attention.mistake(
    "scores handed over as weights",
    why="What comes back in place of the weights are the scores, from before the softmax.",
    look="the `return` line: which of your tensors sums to 1 in each row?", hint=1)
class ScaledScoresHandedOver(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return scaled


@multi_head_attention.mistake("scores handed over as weights", pairs=False)
class ScoresHandedOver(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return scores


@multi_head_attention.mistake(
    "the heads of the weights in another place",
    why="The weights are those of every head, but their dimensions are not (batch, heads, query, key).",
    look="how are the weights of the heads put together, and does anything move them afterwards?", hint=1)
class WeightsHeadsFirst(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return weights.transpose(0, 1)


@multi_head_attention.mistake("the heads of the weights in another place")
class WeightsFolded(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return weights.flatten(0, 1)


@multi_head_attention.mistake("the heads of the weights in another place", pairs=False)
class WeightsFoldedHeadsFirst(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return weights.transpose(0, 1).flatten(0, 1)


@multi_head_attention.mistake("the heads of the weights in another place", pairs=False)
class WeightsHeadsAfterQueries(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return weights.transpose(1, 2)


@multi_head_attention.mistake("the heads of the weights in another place", pairs=False)
class WeightsHeadsLast(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return weights.permute(0, 2, 3, 1)


@multi_head_attention.mistake("the heads of the weights in another place", pairs=False)
class WeightsSideBySide(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return torch.cat(weights.unbind(1), dim=-1)


@multi_head_attention.mistake("the heads of the weights in another place", pairs=False)
class WeightsEndToEnd(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return weights.flatten(1, 2)


@multi_head_attention.mistake(
    "the weights transposed",
    why="Rows and columns of the weights that come back have changed places: rows should be queries.",
    look="the weights after the average: does anything transpose them?", hint=1, pairs=False)
class WeightsTransposed(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return weights.transpose(-2, -1)


@multi_head_attention.mistake(
    "a list of weights",
    why="The weights of the heads come as a list of tensors; one tensor is expected, (batch, heads, query, "
        "key).",
    look="how do several tensors of one shape become one, along a new dimension?", hint=1, pairs=False)
class WeightsAsList(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return list(weights.unbind(1))


@multi_head_attention.mistake(
    "no weights handed over",
    why="None comes back in place of the weights.",
    look="does what you call return the weights, and for every head?", hint=1)
class NoWeights(MultiHead):
    def handed_over(self, weights, scaled, scores):
        return None


# MultiHeadAttention: how it is built


@multi_head_attention.mistake(
    "a bias is missing",
    why="One or more of the four layers have no bias, or do not add it: nn.Linear(d_model, d_model), as it "
        "is, has one.",
    look="the arguments of your nn.Linear, and how the layers are called.", hint=3, pairs=False)
class NoBias(MultiHead):
    without = ("linear_q", "linear_k", "linear_v", "linear_out")

    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        for name in self.without:
            setattr(self, name, Linear(d_model, d_model, bias=False))


@multi_head_attention.mistake("a bias is missing", pairs=False)
class NoBiasInside(NoBias):
    without = ("linear_q", "linear_k", "linear_v")


@multi_head_attention.mistake("a bias is missing", pairs=False)
class NoBiasOutside(NoBias):
    without = ("linear_out",)
