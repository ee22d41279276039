"""Right answers to rotate, each in a style of its own."""

import math

import numpy as np
import torch

from transformer_lessons.exercises.catalogue.rotate import evens, exercise, interleaved
from transformer_lessons.exercises.catalogue.shift_matrix import shift


@exercise.right("complex numbers")
def complex_numbers(x, positions, base=10000):
    angles = torch.outer(positions.to(x.dtype), (base ** (-evens(x.shape[-1]) / x.shape[-1])).to(x.dtype))
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


@exercise.right("the learner's shift_matrix, pair by pair, backwards")
def shift_matrices(x, positions, base=10000):
    turned = torch.zeros_like(x)
    for row, position in enumerate(positions):
        for even in range(0, x.shape[-1], 2):
            block = shift(-position / base ** (even / x.shape[-1]), 2).to(x.dtype)
            turned[..., row, even : even + 2] = x[..., row, even : even + 2] @ block.T
    return turned


@exercise.right("one matrix for each position")
def one_matrix_each(x, positions, base=10000):
    d = x.shape[-1]
    step = torch.block_diag(*(base ** (-even / d) * torch.tensor([[0.0, -1.0], [1.0, 0.0]]) for even in range(0, d, 2)))
    return torch.einsum("pij,...pj->...pi", torch.matrix_exp(positions[:, None, None] * step).to(x.dtype), x)


@exercise.right("number by number")
def number_by_number(x, positions, base=10000):
    d, turned = x.shape[-1], x.clone()
    for p in range(x.shape[-2]):
        for i in range(d // 2):
            angle = float(positions[p]) / base ** (2 * i / d)
            a, b = x[..., p, 2 * i], x[..., p, 2 * i + 1]
            turned[..., p, 2 * i] = a * math.cos(angle) - b * math.sin(angle)
            turned[..., p, 2 * i + 1] = a * math.sin(angle) + b * math.cos(angle)
    return turned


@exercise.right("the vector and its quarter turn, in float32")
def with_a_quarter_turn(x, positions, base=10000):
    exponents = torch.arange(0, x.shape[-1], 2).float() / x.shape[-1]
    angles = (positions.float()[:, None] / base**exponents).repeat_interleave(2, dim=-1)
    return x * angles.cos() + interleaved(-x[..., 1::2], x[..., 0::2]) * angles.sin()


@exercise.right("in NumPy")
def in_numpy(x, positions, base=10000):
    angles = np.outer(positions.numpy(), np.power(float(base), -np.arange(0, x.shape[-1], 2) / x.shape[-1]))
    pairs = (x.numpy()[..., 0::2] + 1j * x.numpy()[..., 1::2]) * np.exp(1j * angles)
    return torch.from_numpy(np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape))


@exercise.right("sorted into halves, turned, sorted back")
def sorted_into_halves(x, positions, base=10000):
    d = x.shape[-1]
    order = torch.cat([torch.arange(0, d, 2), torch.arange(1, d, 2)])
    a, b = x[..., order].chunk(2, dim=-1)
    angles = positions[:, None] / base ** (evens(d) / d)
    halves = torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], dim=-1)
    return halves[..., order.argsort()]
