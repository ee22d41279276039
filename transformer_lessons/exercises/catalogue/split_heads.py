"""split_heads: the features are cut into heads."""

import torch

from transformer_lessons import attention
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal

# In the first example every number tells where it comes from. Some lengths can be divided by the heads. No
# length and no number of heads is 1, for then a view of what has been transposed would go through.
SIZES_OF_HEADS = [
    {"batch": 1, "length": 3, "num_heads": 2, "d_head": 3, "labels": True},
    {"batch": 3, "length": 3, "num_heads": 3, "d_head": 3},
    {"batch": 2, "length": 6, "num_heads": 3, "d_head": 4},
    {"batch": 3, "length": 5, "num_heads": 4, "d_head": 2},
    {"batch": 5, "length": 4, "num_heads": 2, "d_head": 6},
    {"batch": 4, "length": 12, "num_heads": 4, "d_head": 3},
]


def labelled(batch, length, d_model):
    """Numbers that tell where they stand: 1.03 is feature 3 of position 1; each sequence adds 10."""
    sequence, position, feature = (torch.arange(size).double() for size in (batch, length, d_model))
    return 10 * sequence[:, None, None] + position[:, None] + feature / 100  # (batch, length, d_model)


def draw_x(generator, batch, length, num_heads, d_head, labels=False):
    if labels:
        return labelled(batch, length, num_heads * d_head), num_heads
    return normal(generator, batch, length, num_heads * d_head), num_heads


exercise = Exercise(
    name="split_heads",
    lesson=4,
    title="Cut the features into heads",
    difficulty=2,
    importance=3,
    minutes=10,
    contract="""split_heads(x, num_heads) takes x of shape (batch, length, d_model) and returns a tensor of
        shape (batch, heads, length, d_head), where d_head = d_model / num_heads. Head 0 gets the first d_head features
        of every position, head 1 gets the next d_head features of every position, and so on.""",
    stub='''
        def split_heads(x, num_heads):
            """(batch, length, d_model) → (batch, heads, length, d_head)"""
            raise NotImplementedError''',
    sizes=SIZES_OF_HEADS,
    draw=draw_x,
    returns="heads",
    shapes={"heads": "(batch, heads, length, d_head)"},
    reference=lambda x, num_heads: attention.split_heads(x, num_heads),
    hints=[
        (
            "the numbers are in the wrong places",
            "In the first example, each number says where it comes from: 1.03 "
            "is feature 3 of position 1. So in head 0, the row for position 1 should be 1.00, 1.01, 1.02.",
        ),
        (
            "the shape is right, but the order is wrong",
            "reshape keeps the numbers in reading order, row by row, and "
            "only groups them differently. So first split the last dimension into two, and then swap two dimensions.",
        ),
        (
            "you do not know which functions to use",
            "Use reshape to get from (batch, length, d_model) to (batch, "
            "length, heads, d_head), and then transpose. Which two dimensions must the transpose swap?",
        ),
    ],
    solution="""
        def split_heads(x, num_heads):
            batch, length, d_model = x.shape
            heads = x.reshape(batch, length, num_heads, d_model // num_heads)
            return heads.transpose(1, 2)""",
)


@exercise.right("step by step")
class Split(Steps):
    def __call__(self, x, num_heads):
        return self.moved(self.cut(x, num_heads, x.shape[-1] // num_heads))

    def cut(self, x, num_heads, d_head):
        return x.unflatten(-1, (num_heads, d_head))  # (batch, length, heads, d_head)

    def moved(self, heads):
        return heads.transpose(1, 2)


INTERLEAVED = (
    "The features are dealt out to the heads one by one, like cards: head 0 gets features 0, num_heads, "
    "2·num_heads and so on, instead of the first d_head features.",
    "when you cut the last dimension in two, which comes first: the head, or the feature within a head?",
)
EXCHANGED = (
    "Each head is num_heads features wide, but num_heads is the number of heads, not the size of each.",
    "the number you cut by: does it count the pieces, or the features in each piece?",
)
OVERLAPPING = (
    "Each head's slice starts just one feature after the one before, so the slices overlap, and the last "
    "features are never read.",
    "where does the slice of head 1 start, and where should it?",
)
TRANSPOSED_FIRST = (
    "Dimensions are swapped before the features are cut, so the numbers are regrouped in the new "
    "order, and those of different positions or sequences get mixed up.",
    "the order of the operations: which one should come first?",
)
SAME_SLICE = (
    "Every head gets the same features, the first or the last d_head of them; the others are never read.",
    "what tells head 1 which features to read?",
)
DIMENSIONS = "how many dimensions should the result have?"
COUNTS_HEADS = "which dimension of the result should hold the heads?"

# How the features are cut, and which dimensions change places
mistake = exercise.section(hint=3)
mistake(
    "heads split by view",
    hint=2,
    why="The numbers are only regrouped in the order in which they are stored, as "
    "by a view or a reshape, so a head gets one stretch of neighbouring numbers instead of its slice of every "
    "position.",
    look="which positions do the numbers of head 0 come from?",
    variants=[
        lambda x, num_heads: x.reshape(len(x), num_heads, x.shape[1], -1),
        lambda x, num_heads: x.reshape(len(x), num_heads, -1, x.shape[1]),
        lambda x, num_heads: x.reshape(len(x), num_heads, -1, x.shape[1]).transpose(2, 3),
        lambda x, num_heads: x.reshape(len(x) * num_heads, x.shape[1], -1),
        lambda x, num_heads: x.reshape(num_heads, len(x), x.shape[1], -1),
        lambda x, num_heads: x.reshape(num_heads, len(x), x.shape[1], -1).transpose(0, 1),
    ],
)
mistake(
    "batch and length exchanged in the reshape",
    hint=2,
    why="The numbers are regrouped as if the length came "
    "before the batch, but x has the batch first, so positions and sequences get mixed up.",
    look="in which order does `x.shape` give the sizes?",
    cut=lambda x, num_heads, d_head: x.reshape(x.shape[1], len(x), num_heads, d_head).transpose(0, 1),
    variants=[
        lambda x, num_heads: x.reshape(x.shape[1], len(x), num_heads, -1).transpose(1, 2),
        lambda x, num_heads: x.reshape(x.shape[1], len(x), num_heads, -1).permute(1, 2, 3, 0),
    ],
)
mistake(
    "heads interleaved",
    *INTERLEAVED,
    cut=lambda x, num_heads, d_head: x.unflatten(-1, (d_head, num_heads)).transpose(2, 3),
)
mistake(
    "num_heads taken for d_head",
    *EXCHANGED,
    cut=lambda x, num_heads, d_head: x.unflatten(-1, (d_head, num_heads)),
    variants=[
        lambda x, num_heads: x.reshape(len(x), -1, x.shape[1], num_heads),
        lambda x, num_heads: torch.stack(x.split(num_heads, dim=-1)[:num_heads], dim=1),
    ],
)
mistake(
    "the heads behind the positions",
    why="The features are cut into heads, but the heads still come after the "
    "positions: (batch, length, heads, d_head).",
    look="after the cut, which two dimensions have to be swapped?",
    moved=lambda heads: heads,
)
mistake(
    "the features before the positions",
    why="The heads are right, but in each of them features and positions are swapped: (batch, heads, d_head, length).",
    look="the two dimensions that you swap: are they the length and the heads?",
    moved=lambda heads: heads.permute(0, 2, 3, 1),
)
mistake(
    "the heads last",
    why="The heads are right, but they come last: (batch, length, d_head, heads).",
    look=COUNTS_HEADS,
    moved=lambda heads: heads.transpose(2, 3),
)
mistake(
    "the heads before the batch",
    why="The heads are right, but they come before the batch: (heads, batch, length, d_head).",
    look=COUNTS_HEADS,
    moved=lambda heads: heads.permute(2, 0, 1, 3),
)
mistake(
    "the wrong two dimensions exchanged",
    pairs=3,
    why="After the cut into (batch, length, heads, d_head), the "
    "two dimensions that are swapped are not the length and the heads.",
    look="name the four dimensions after the cut, count them from 0, and compare with your transpose.",
    moved=[
        lambda heads: heads.transpose(1, 3),
        lambda heads: heads.transpose(0, 1),
        lambda heads: heads.permute(2, 1, 0, 3),
    ],
)
mistake(
    "batch and heads in one dimension",
    pairs=2,
    why="The heads are right, but batch and heads have become one "
    "dimension, so the result has three dimensions instead of four.",
    look=DIMENSIONS,
    moved=[lambda right: right.flatten(0, 1), lambda heads: heads.permute(2, 0, 1, 3).flatten(0, 1)],
)
mistake(
    "heads and positions in one dimension",
    pairs=2,
    why="Heads and positions have become one dimension, so the result has three dimensions instead of four.",
    look="do the heads get a dimension of their own, or share an existing one?",
    moved=[lambda right: right.flatten(1, 2), lambda heads: heads.flatten(1, 2)],
)
mistake(
    "a list of heads",
    pairs=2,
    why="The heads are right, but they are returned as a list or tuple of tensors; the "
    "exercise asks for one tensor, with a dimension for the heads.",
    look="which function joins tensors of the same shape along a new dimension?",
    moved=[lambda heads: list(heads.unbind(2)), lambda right: list(right.split(1, dim=1))],
)

# What each head gets
mistake = exercise.section(hint=1)
mistake(
    "the length cut instead of the features",
    why="The positions are dealt out to the heads, and every head keeps "
    "all the features; each head should get every position, with its share of the features.",
    look="which dimension do you cut, and which one should num_heads divide?",
    variants=[
        lambda x, num_heads: x.unflatten(1, (num_heads, -1)),
        lambda x, num_heads: x.unflatten(1, (-1, num_heads)).transpose(1, 2),
    ],
)
mistake(
    "every head gets all the features",
    why="One head, or every head, gets all d_model features; each should get only its own d_head.",
    look="the last size of the result: how many features does one head have?",
    variants=[lambda x, num_heads: x[:, None].expand(-1, num_heads, -1, -1), lambda x, num_heads: x[:, None]],
)
mistake(
    "every head reads the same slice",
    *SAME_SLICE,
    pairs=2,
    cut=[
        lambda x, num_heads, d_head: torch.stack([x[..., :d_head]] * num_heads, dim=2),
        lambda x, num_heads, d_head: torch.stack([x[..., -d_head:]] * num_heads, dim=2),
    ],
)
mistake(
    "slices that overlap",
    *OVERLAPPING,
    cut=lambda x, num_heads, d_head: torch.stack([x[..., head : head + d_head] for head in range(num_heads)], dim=2),
)
mistake(
    "transposed before the cut",
    *TRANSPOSED_FIRST,
    hint=2,
    variants=[
        lambda x, num_heads: x.transpose(1, 2).reshape(len(x), num_heads, x.shape[1], -1),
        lambda x, num_heads: x.transpose(1, 2).reshape(len(x), x.shape[1], num_heads, -1).transpose(1, 2),
        lambda x, num_heads: x.transpose(0, 1).reshape(len(x), num_heads, x.shape[1], -1),
    ],
)
mistake(
    "reshaped where a transpose is needed",
    hint=2,
    pairs=0,
    why="The features are cut correctly, but then the "
    "numbers are regrouped, as by a view or a reshape, where there should only be a transpose, so several heads, "
    "positions or sequences get mixed up.",
    look="after the cut: do you really swap dimensions, or only relabel them?",
    moved=[
        lambda heads, right: heads.permute(2, 0, 1, 3).reshape(right.shape),
        lambda heads, right: right.reshape(heads.shape).transpose(1, 2),
        lambda heads, right: heads.transpose(2, 3).reshape(right.shape),
    ],
)
mistake(
    "batch and positions in one dimension",
    hint=3,
    why="Batch and positions have become one dimension, so the result has three dimensions instead of four.",
    look=DIMENSIONS,
    moved=[lambda heads: heads.flatten(0, 1), lambda heads: heads.flatten(0, 1).transpose(0, 1)],
)
mistake(
    "only one head",
    why="Only one head is returned; the others are thrown away.",
    look="where do the other heads go: are they overwritten, or never used?",
    moved=[
        lambda heads: heads[:, :, -1],
        lambda heads: heads[:, :, 0],
        lambda right: right[:, :1],
        lambda right: right[:, -1:],
    ],
)
mistake(
    "only one head filled in",
    pairs=0,
    why="One head is filled in, and the others are still zeros.",
    look="which place in the result does each head go to?",
    moved=[
        lambda right: torch.cat([right[:, -1:], torch.zeros_like(right[:, 1:])], dim=1),
        lambda right: torch.cat([right[:, :1], torch.zeros_like(right[:, 1:])], dim=1),
    ],
)
mistake(
    "a head left out",
    pairs=0,
    why="One head, the last or the first, is all zeros, as when a loop or slice ends too early or starts too late.",
    look="which heads do you fill in?",
    moved=[
        lambda right: torch.cat([right[:, :-1], torch.zeros_like(right[:, -1:])], dim=1),
        lambda right: torch.cat([torch.zeros_like(right[:, :1]), right[:, 1:]], dim=1),
    ],
)
mistake(
    "never filled",
    pairs=0,
    why="The result has the right shape, but it holds only zeros, as when nothing has been written into it.",
    look="does anything assign into the result: `heads[…] = …`?",
    moved=lambda right: torch.zeros_like(right),
)
mistake(
    "the heads in reverse",
    why="The heads are in reverse order: head 0 has the last features, not the first.",
    look="which features does head 0 get?",
    moved=lambda right: right.flip(1),
)
mistake(
    "a fraction for a size",
    hint=3,
    raises=True,
    why="d_model / num_heads is a float even when the division is exact, and a size must be an int.",
    look="`/` and `//`: what do 6 / 2 and 6 // 2 give?",
    variants=[
        lambda x, num_heads: x.view(*x.shape[:2], num_heads, x.shape[2] / num_heads),
        lambda x, num_heads: x.reshape(*x.shape[:2], num_heads, x.shape[2] / num_heads),
    ],
)
mistake(
    "not split at all",
    hint=3,
    why="x is returned as it was, in one piece.",
    look="most tensor methods return a new tensor and leave the old one alone. Is the new one kept?",
    variants=[lambda x, num_heads: x],
)
