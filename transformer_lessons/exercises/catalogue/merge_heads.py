"""merge_heads: the heads are put back together."""

import torch
import torch.nn.functional as F

from transformer_lessons import attention
from transformer_lessons.exercises.catalogue.split_heads import SIZES_OF_HEADS, draw_x
from transformer_lessons.exercises.checker.exercise import Exercise, Steps


def draw_heads(generator, batch, length, num_heads, d_head, labels=False):
    x, _ = draw_x(generator, batch, length, num_heads, d_head, labels)
    return (attention.split_heads(x, num_heads).contiguous(),)  # (batch, heads, length, d_head)


exercise = Exercise(
    name="merge_heads",
    lesson=4,
    title="Put the heads back together",
    difficulty=2,
    importance=3,
    minutes=6,
    contract="""merge_heads(x) takes x of shape (batch, heads, length, d_head) and returns a tensor of shape
        (batch, length, d_model), where d_model = heads · d_head. Every position gets its features back from all the
        heads, side by side, with head 0 first. So merge_heads is the inverse of split_heads.""",
    stub='''
        def merge_heads(x):
            """(batch, heads, length, d_head) → (batch, length, d_model)"""
            raise NotImplementedError''',
    sizes=SIZES_OF_HEADS,
    draw=draw_heads,
    returns="merged",
    shapes={"merged": "(batch, length, d_model)"},
    reference=lambda x: attention.merge_heads(x),
    hints=[
        (
            "the numbers are in the wrong places",
            "In the first example, each number says where it belongs: 1.03 is "
            "feature 3 of position 1. So row 1 of the result should hold 1.00, 1.01, 1.02 and so on.",
        ),
        (
            "the shape is right, but the order is wrong",
            "reshape keeps the numbers in reading order, row by row, and "
            "only groups them differently. Before two dimensions can become one, they must be neighbours, in the "
            "right order.",
        ),
        (
            "you do not know where to start",
            "split_heads first cuts the features, and then swaps two dimensions. The "
            "inverse must undo these two steps, the last one first.",
        ),
    ],
    solution="""
        def merge_heads(x):
            batch, heads, length, d_head = x.shape
            return x.transpose(1, 2).reshape(batch, length, heads * d_head)""",
)


@exercise.right("step by step")
class Merge(Steps):
    def __call__(self, x):
        return self.joined(self.moved(self.taken(x)))

    def taken(self, x):
        return x

    def moved(self, x):
        return x.transpose(1, 2)  # (batch, length, heads, d_head)

    def joined(self, heads):
        return heads.flatten(2)


SHUFFLED = (
    "The heads are shuffled together one feature at a time, like cards; the features of a head should stay "
    "side by side.",
    "the two dimensions that become one: which comes first, the heads or the features?",
)
WRONG_TWO = (
    "The dimensions that change places before the reshape are not the heads and the length, or not these "
    "alone, so features end up in the wrong places.",
    "name the four dimensions, count them from 0, and compare with your transpose.",
)
NO_VIEW = (
    "`transpose` moves no numbers in memory, so the numbers of a row are no longer stored side by side, and "
    "`view` cannot join them: that is why PyTorch raises an error.",
    "what does the last sentence of the error message suggest?",
)
WIDTH = "how many features must a position have after merging?"

# Which dimensions change places before the reshape
mistake = exercise.section(hint=3, pairs=9)
mistake(
    "merged without the transpose",
    hint=2,
    why="The numbers are only regrouped in the order in which they are "
    "stored, so a row of the result holds features of several positions, instead of every head's features of one "
    "position.",
    look="the first row of the result: do all its numbers come from position 0?",
    moved=lambda x: x.reshape(len(x), x.shape[2], x.shape[1], -1),
)
mistake("merged in interleaved order", *SHUFFLED, hint=2, joined=lambda heads: heads.transpose(2, 3).flatten(2))
mistake(
    "the wrong two dimensions exchanged",
    *WRONG_TWO,
    moved=[
        lambda x, right, order=order: x.permute(order).reshape(right.shape)
        for order in ((0, 1, 3, 2), (0, 3, 2, 1), (0, 3, 1, 2), (1, 0, 2, 3), (2, 0, 1, 3))
    ],
)
mistake(
    "transposed after the reshape",
    hint=2,
    why="The numbers are regrouped into a new shape before any dimensions "
    "are swapped, so a row of the result takes its numbers from several positions.",
    look="the order of the operations: which one should come first?",
    variants=[
        {"moved": lambda x: x, "joined": lambda heads: heads.reshape(len(heads), -1, heads.shape[2]).transpose(1, 2)}
    ],
)

# Heads that are lost
mistake = exercise.section(hint=1, pairs=9)
mistake(
    "the heads averaged",
    why="The heads are averaged, so what each head found on its own is lost: the average is "
    "only d_head features wide, and repeating it brings nothing back.",
    look=WIDTH,
    joined=[
        lambda heads: heads.mean(dim=2),
        lambda heads: heads.mean(dim=2).repeat(1, 1, heads.shape[2]),
        lambda heads: heads.mean(dim=2).repeat_interleave(heads.shape[2], dim=-1),
    ],
)
mistake(
    "the heads summed",
    why="The heads are added up, so what each head found on its own is lost: the sum is only "
    "d_head features wide, and repeating it, or padding it with zeros, brings nothing back.",
    look=WIDTH,
    joined=[
        lambda heads: heads.sum(dim=2),
        lambda heads: heads.sum(dim=2).repeat(1, 1, heads.shape[2]),
        lambda heads: heads.sum(dim=2).repeat_interleave(heads.shape[2], dim=-1),
        lambda heads: F.pad(heads.sum(dim=2), (0, (heads.shape[2] - 1) * heads.shape[3])),
    ],
)
mistake(
    "only one head",
    why="Only one head is returned, d_head features wide; the others are thrown away.",
    look="where do the other heads go: are they overwritten, or never used?",
    joined=[lambda heads: heads[:, :, 0], lambda heads: heads[:, :, -1]],
)
mistake(
    "one head in every place",
    why="The same head, the first or the last, fills every place in the row; the others are thrown away.",
    look="which head does each place in the row take its features from?",
    joined=[
        lambda heads: heads[:, :, :1].expand_as(heads).flatten(2),
        lambda heads: heads[:, :, -1:].expand_as(heads).flatten(2),
    ],
)

# Other dimensions become one
mistake = exercise.section(hint=3, pairs=9)
mistake(
    "the heads end to end",
    why="The heads are put one after another along the length, which gives (batch, heads · "
    "length, d_head): more positions, not wider ones.",
    look="along which dimension should the heads stand side by side?",
    variants=[{"moved": lambda x: x, "joined": lambda heads: heads.flatten(1, 2)}],
)
mistake(
    "every head a position of its own",
    why="After the transpose, length and heads have become one dimension, "
    "(batch, length · heads, d_head), instead of heads and features.",
    look="which two neighbouring dimensions must become one?",
    joined=lambda heads: heads.flatten(1, 2),
)
mistake(
    "positions and features in one dimension",
    why="The result is (batch, heads, length · d_head): positions and features have become one dimension.",
    look="which two dimensions must become one, and are they neighbours already?",
    moved=lambda x: x,
)
mistake(
    "not merged yet",
    why="Heads and length are swapped, but heads and features are still two dimensions: (batch, "
    "length, heads, d_head).",
    look="how many dimensions should the result have?",
    joined=lambda heads: heads,
)
mistake(
    "the input as it was",
    why="x is returned as it was, still split into heads.",
    look="most tensor methods return a new tensor and leave the old one alone. Is the new one kept?",
    variants=[lambda x: x],
)
mistake(
    "batch and positions in one dimension",
    why="The features are merged, but batch and length have become one dimension: (batch · length, d_model).",
    look="how many dimensions should the result have?",
    joined=lambda right: right.flatten(0, 1),
)
mistake(
    "one row for a whole sequence",
    why="All the positions of a sequence are in one row, (batch, length · "
    "d_model); only heads and features should become one dimension.",
    look="how many dimensions should the result have?",
    joined=lambda right: right.flatten(1),
    variants=[lambda x: x.flatten(1)],
)
mistake(
    "the length before the batch",
    why="The features are merged, but batch and length are swapped: (length, batch, d_model).",
    look="in which order should the three dimensions of the result come?",
    joined=lambda right: right.transpose(0, 1),
)

# The wrong heads, or not all of them
mistake = exercise.section(hint=1, pairs=9)
mistake(
    "the batch for the heads",
    why="The first dimension is taken for the heads, so the sequences of the batch are "
    "joined, not the heads of each sequence.",
    look="what does dimension 0 of x hold, and what would a loop over x run over?",
    moved=lambda x: x.permute(1, 2, 0, 3),
    variants=[
        lambda x: torch.cat(list(x), dim=1),
        lambda x: torch.cat(list(x), dim=-1).reshape(len(x), x.shape[2], -1),
    ],
)
mistake(
    "batch and heads exchanged in the first view",
    why="The numbers are first regrouped as if x began with "
    "(heads, batch), but it begins with (batch, heads), so sequences and heads get mixed up.",
    look="in which order does `x.shape` give the sizes?",
    taken=lambda x: x.reshape(x.shape[1], len(x), *x.shape[2:]).transpose(0, 1),
)
mistake(
    "batch and heads exchanged in the last view",
    why="The heads have been moved correctly, but then the numbers "
    "are regrouped with the batch size and the number of heads swapped.",
    look="in which order does `x.shape` give the sizes?",
    joined=lambda heads: heads.reshape(heads.shape[2], heads.shape[1], -1),
)
mistake(
    "the heads in reverse",
    why="The heads are side by side, but in reverse order, with the last one first.",
    look="which head's features does a position start with?",
    taken=lambda x: x.flip(1),
)
mistake(
    "the positions in reverse",
    why="The positions are in reverse order, with the last one first.",
    look="which position's features are in the first row?",
    moved=lambda right: right.flip(1),
)
mistake(
    "never filled",
    why="The result has the right shape, but it holds only zeros, as when nothing has been written into it.",
    look="does anything assign into the result: `merged[…] = …`?",
    joined=lambda right: torch.zeros_like(right),
)
mistake(
    "only one head filled in",
    why="The features of one head are filled in, and the rest of each row is zeros, as "
    "when every iteration of a loop writes into the same columns, or the loop ends too soon.",
    look="which columns of the result should the features of each head go to?",
    joined=[
        lambda heads, one=one: F.pad(heads[:, :, one], (0, (heads.shape[2] - 1) * heads.shape[3])) for one in (-1, 0)
    ],
)
mistake(
    "a head left out",
    why="The place of one head, the last or the first, is all zeros, as when a loop or slice "
    "ends too early or starts too late.",
    look="which heads do you fill in?",
    joined=[
        lambda heads: F.pad(heads[:, :, :-1].flatten(2), (0, heads.shape[3])),
        lambda heads: F.pad(heads[:, :, 1:].flatten(2), (heads.shape[3], 0)),
    ],
)
mistake(
    "a head missing from the row",
    why="One head, the last or the first, is not put into the rows, so they are d_head features too short.",
    look="which heads does a row of your result hold?",
    joined=[lambda heads: heads[:, :, :-1].flatten(2), lambda heads: heads[:, :, 1:].flatten(2)],
)


def overlapping_in_the_row(heads, right):
    merged = torch.zeros_like(right)
    for head in range(heads.shape[2]):
        merged[..., head : head + heads.shape[-1]] = heads[:, :, head]
    return merged


mistake(
    "slices that overlap",
    why="Each head's slice starts just one feature after the one before, so each head "
    "overwrites all but one feature of the previous one, and the end of each row stays 0.",
    look="where does the slice of head 1 start, and where should it?",
    joined=overlapping_in_the_row,
)
mistake(
    "the largest of the heads",
    why="In each place, only the largest number of all the heads is kept, so what each head found on its own is lost.",
    look=WIDTH,
    joined=[lambda heads: heads.amax(dim=2), lambda heads: heads.amax(dim=2).repeat(1, 1, heads.shape[2])],
)
mistake(
    "the heads multiplied",
    why="The heads are multiplied together, so the result is d_head features wide.",
    look=WIDTH,
    joined=lambda heads: heads.prod(dim=2),
)
mistake(
    "the sizes named before the transpose",
    hint=3,
    why="The heads and the length have been swapped, but the "
    "reshape still takes them in their old order: (batch, heads, length · d_head).",
    look="what does `x.shape` give before the transpose, and what does it give after?",
    joined=lambda heads: heads.reshape(len(heads), heads.shape[2], -1),
)
mistake(
    "a list of heads",
    hint=3,
    why="The heads are returned as a list of tensors; the exercise asks for one tensor, "
    "with the heads side by side in its rows.",
    look="which function joins tensors along a dimension that they already have?",
    joined=lambda heads: list(heads.unbind(2)),
)
mistake(
    "heads stacked, not side by side",
    hint=3,
    why="The heads still have a dimension of their own, as when they "
    "are stacked, so the result still has four dimensions; to put them side by side, the last dimension must grow.",
    look="which function joins tensors along a dimension that they already have?",
    joined=[lambda heads: heads.transpose(2, 3), lambda heads: torch.stack(heads.unbind(2))],
)
mistake(
    "view of what has been transposed",
    *NO_VIEW,
    hint=3,
    raises=True,
    variants=[lambda x: x.transpose(1, 2).view(len(x), x.shape[2], -1)],
)
