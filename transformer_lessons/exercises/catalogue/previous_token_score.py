"""How the inputs of `previous_token_score` are drawn."""

import torch
import torch.nn.functional as F

from transformer_lessons import masks
from transformer_lessons.exercises.checker.setup import Setup, normal
from transformer_lessons.inspection import attention_maps


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


SIZES_OF_MAPS = [
    {"batch": 2, "heads": 3, "length": 3},
    {"batch": 1, "heads": 2, "length": 5},
    {"batch": 3, "heads": 2, "length": 4, "causal": False},
    {"batch": 3, "heads": 5, "length": 7},
    {"batch": 4, "heads": 1, "length": 6},
    {"batch": 4, "heads": 4, "length": 4, "causal": False},
]


setup = Setup(
    sizes=[
        *SIZES_OF_MAPS,
        {"batch": 3, "heads": 4, "length": 2},
        {"batch": 1, "heads": 1, "length": 4},
        {"batch": 3, "heads": 2, "length": 6, "back": 1},
    ],
    draw=draw_maps,
    reference=attention_maps.previous_token_score,
    returns="scores",
    shapes={"scores": "(heads,)"},
    names_steps=False,
)
