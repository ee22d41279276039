"""How the inputs of `split_heads` are drawn: in the first, each number tells where it stands."""

import torch

from transformer_lessons import attention
from transformer_lessons.exercises.checker.setup import Setup, normal

SIZES_OF_HEADS = [
    {"batch": 1, "length": 3, "num_heads": 2, "d_head": 3, "labels": True},
    {"batch": 3, "length": 3, "num_heads": 3, "d_head": 3},
    {"batch": 2, "length": 6, "num_heads": 3, "d_head": 4},
    {"batch": 3, "length": 5, "num_heads": 4, "d_head": 2},
    {"batch": 5, "length": 4, "num_heads": 2, "d_head": 6},
    {"batch": 4, "length": 12, "num_heads": 4, "d_head": 3},
    {"batch": 2, "length": 4, "num_heads": 1, "d_head": 5},
]


def labelled(batch, length, d_model):
    """Numbers that tell where they stand: 1.03 is feature 3 of position 1; each sequence adds 10."""
    sequence, position, feature = (torch.arange(size).double() for size in (batch, length, d_model))
    return 10 * sequence[:, None, None] + position[:, None] + feature / 100  # (batch, length, d_model)


def draw_x(generator, batch, length, num_heads, d_head, labels=False):
    """x of shape (batch, length, d_model), and the number of heads."""
    if labels:
        return labelled(batch, length, num_heads * d_head), num_heads
    return normal(generator, batch, length, num_heads * d_head), num_heads


setup = Setup(
    sizes=SIZES_OF_HEADS,
    draw=draw_x,
    returns="heads",
    shapes={"heads": "(batch, heads, length, d_head)"},
    reference=attention.split_heads,
)
