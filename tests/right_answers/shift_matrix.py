"""Right answers to shift_matrix, each in a style of its own."""

import numpy as np
import torch

from transformer_lessons import positions
from transformer_lessons.exercises.catalogue.shift_matrix import exercise, shift


@exercise.right("least squares")
def least_squares(offset, d_model):
    encoding = positions.sinusoidal_encoding(100 + abs(offset), d_model)
    first = max(0, -offset)
    there = encoding[first + offset :][:100]
    return torch.linalg.lstsq(encoding[first:][:100], there).solution.T


@exercise.right("one step, many times")
def one_step_many_times(offset, d_model):
    return torch.matrix_power(shift(1, d_model), offset)


@exercise.right("from two rows of the encoding")
def from_two_rows(offset, d_model):
    sine, cosine = positions.sinusoidal_encoding(abs(offset) + 1, d_model)[abs(offset)].view(-1, 2).T
    sine = sine if offset > 0 else -sine
    matrix = torch.diag(cosine.repeat_interleave(2))
    matrix[range(0, d_model, 2), range(1, d_model, 2)] = sine
    matrix[range(1, d_model, 2), range(0, d_model, 2)] = -sine
    return matrix


@exercise.right("complex numbers, in NumPy")
def complex_numbers(offset, d_model):
    turns = np.exp(1j * offset * 10000.0 ** (-np.arange(0, d_model, 2) / d_model))
    blocks = np.kron(np.diag(turns.real), np.eye(2)) + np.kron(np.diag(turns.imag), [[0, 1], [-1, 0]])
    return torch.from_numpy(blocks)


@exercise.right("the exponential of a matrix")
def exponential(offset, d_model):
    frequencies = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
    turning = torch.block_diag(*(frequency * torch.tensor([[0.0, 1.0], [-1.0, 0.0]]) for frequency in frequencies))
    return torch.linalg.matrix_exp(offset * turning)
