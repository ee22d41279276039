"""How the inputs of `neighbours_to_halves` are drawn: in the first, each number tells where it stands."""

import torch

from transformer_lessons.exercises.checker.setup import Setup, normal
from transformer_lessons.language import gguf_model


def draw_weight(generator, num_heads, d_head, d_model, labels=False):
    """A weight of shape (out, in), and the number of heads; 4.01 is row 4, column 1."""
    if labels:
        rows, columns = (torch.arange(size).double() for size in (num_heads * d_head, d_model))
        return rows[:, None] + columns / 100, num_heads
    return normal(generator, num_heads * d_head, d_model), num_heads


def rows_from_elsewhere(observed, expected, weight, num_heads):
    """Where the first wrong row of the result stands in weight, if every row of weight is there once."""
    same = (observed.detach().double()[:, None] - weight[None]).abs().amax(dim=-1) < 1e-4  # (row, row of weight)
    if (same.sum(dim=0) != 1).any() or (same.sum(dim=1) != 1).any():
        return None
    order, right = same.int().argmax(dim=1), (expected[:, None] == weight[None]).all(dim=-1).int().argmax(dim=1)
    row = int((order != right).int().argmax())
    return f"Row {row} of your result is row {int(order[row])} of weight; row {int(right[row])} is expected there."


setup = Setup(
    sizes=[
        {"num_heads": 2, "d_head": 6, "d_model": 4, "labels": True},
        {"num_heads": 3, "d_head": 10, "d_model": 6},
        {"num_heads": 2, "d_head": 12, "d_model": 8},
        {"num_heads": 1, "d_head": 8, "d_model": 5},
        {"num_heads": 4, "d_head": 6, "d_model": 24},
    ],
    draw=draw_weight,
    returns="reordered",
    shapes={"reordered": "(out, in)"},
    reference=gguf_model.neighbours_to_halves,
    symptoms=[rows_from_elsewhere],
)
