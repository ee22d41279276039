"""Positions for a model that ignores order: added to the vectors (sinusoidal, learned) or as rotations (rotary)."""

import torch
from torch import nn

from transformer_lessons.validation import check_pairs, check_positions, check_sizes


def position_angles(length, d_model, base=10000):
    """The angles of clock hands, one for each pair of features: from 1 radian a step down towards 1/base."""
    check_sizes(length=length)
    check_pairs(d_model=d_model)
    position = torch.arange(length, dtype=torch.float64)[:, None]  # (length, 1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)  # (d_model / 2)
    return position / base ** (even / d_model)  # (length, d_model / 2)


def sinusoidal_encoding(length, d_model):
    """Row p holds, interleaved, the sine and the cosine of p times each of d_model / 2 frequencies."""
    angles = position_angles(length, d_model)  # (length, d_model / 2)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (length, d_model / 2, 2)
    return pairs.flatten(1).to(torch.get_default_dtype())  # (length, d_model)


class PositionalEncoding(nn.Module):
    """Adds the sinusoids of each position to the vector there."""

    def __init__(self, d_model, max_length):
        super().__init__()
        self.register_buffer("encoding", sinusoidal_encoding(max_length, d_model), persistent=False)

    def forward(self, x):
        check_positions(x, *self.encoding.shape)
        return x + self.encoding[: x.shape[-2]]  # (batch, length, d_model)


class LearnedPositions(nn.Module):
    """Adds to the vector at each position another one, learned like any other weight."""

    def __init__(self, d_model, max_length):
        super().__init__()
        check_sizes(d_model=d_model, max_length=max_length)
        self.encoding = nn.Parameter(0.02 * torch.randn(max_length, d_model))

    def forward(self, x, start=0):
        """start is the position of the first vector."""
        check_positions(x, *self.encoding.shape, start)
        return x + self.encoding[start : start + x.shape[-2]]  # (batch, length, d_model)


class RotaryPositions(nn.Module):
    """Turns each pair of features of a query or key by position times frequency: scores then depend on distances.

    A pair is treated as a complex number: turning it means multiplying it by another.
    """

    def __init__(self, d_head, max_length, base=10000):
        super().__init__()
        check_pairs(d_head=d_head)
        angles = position_angles(max_length, d_head, base)  # (length, d_head / 2)
        turns = torch.stack([angles.cos(), angles.sin()], dim=-1)  # (length, d_head / 2, 2)
        self.register_buffer("turns", turns.to(torch.get_default_dtype()), persistent=False)

    def forward(self, x, start=0):
        """start is the position of the first vector."""
        check_positions(x, len(self.turns), 2 * self.turns.shape[1], start)
        wide = torch.promote_types(x.dtype, torch.float32)
        pairs = torch.view_as_complex(x.to(wide).unflatten(-1, (-1, 2)).contiguous())
        turns = torch.view_as_complex(self.turns[start : start + x.shape[-2]].to(wide))
        return torch.view_as_real(pairs * turns).flatten(-2).to(x.dtype)  # (batch, heads, length, d_head)
