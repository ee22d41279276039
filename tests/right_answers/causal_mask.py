"""Right answers to causal_mask, each in a style of its own."""

import numpy as np
import torch

from transformer_lessons.exercises.catalogue.causal_mask import exercise


@exercise.right("comparing positions")
def comparing_positions(length):
    position = torch.arange(length)
    return position[:, None] >= position[None, :]


@exercise.right("with loops")
def with_loops(length):
    return torch.tensor([[key <= query for key in range(length)] for query in range(length)])


@exercise.right("in NumPy")
def in_numpy(length):
    return torch.from_numpy(~np.triu(np.ones((length, length), dtype=bool), k=1))


@exercise.right("a running sum of the diagonal")
def running_sum(length):
    return torch.eye(length).cumsum(0).bool()


@exercise.right("a table filled row by row")
def filled_by_row(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for query in range(length):
        mask[query, : query + 1] = True
    return mask
