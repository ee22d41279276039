"""What the exercises on heads share: vectors that are split into heads, and the attention weights of heads."""

import torch
import torch.nn.functional as F

from transformer_lessons import masks
from transformer_lessons.exercises.checker.setup import normal

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


def draw_maps(generator, batch, heads, length, causal=True, back=None):
    """Attention weights (batch, heads, length, length); each head has a sharpness of its own.

    If back is given, all the weight is on the key that far back; in the second sequence it is on the token itself, and
    in the third on the two in turn.
    """
    if back is not None:
        place = torch.arange(length)
        aims = torch.stack([place - back, place, torch.where(place % 2 == 0, place, place - back)])[:batch]
        return F.one_hot(aims.where(aims >= 0, place), length).double()[:, None].repeat(1, heads, 1, 1)
    sharp = 1 + torch.arange(heads, dtype=torch.float64)[:, None, None] / 2
    scores = sharp * normal(generator, batch, heads, length, length)
    return masks.masked_softmax(scores, masks.causal_mask(length) if causal else None)
