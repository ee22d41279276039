"""Right answers to previous_token_score, each in a style of its own."""

import numpy as np
import torch

from transformer_lessons.exercises.catalogue.previous_token_score import exercise


@exercise.right("with a loop over positions")
def with_a_loop(weights):
    total = torch.zeros(weights.shape[1])  # float32, where the weights are float64
    for t in range(1, weights.shape[-1]):
        total += weights[:, :, t, t - 1].mean(dim=0)
    return total / (weights.shape[-1] - 1)


@exercise.right("by two lists of positions")
def by_lists(weights):
    t = torch.arange(1, weights.size(-1))
    return weights[:, :, t, t - 1].mean(0).mean(-1)


@exercise.right("with einsum, on a table shifted by one")
def with_einsum(weights):
    return torch.einsum("bhtt->h", weights[:, :, 1:, :-1]) / (len(weights) * (weights.shape[-1] - 1))


@exercise.right("with a mask")
def with_a_mask(weights):
    length = weights.shape[-1]
    below = torch.ones(length, length, dtype=torch.bool).tril(-1).triu(-1)
    return weights[:, :, below].transpose(0, 1).flatten(1).mean(1)


@exercise.right("in NumPy, head by head")
def in_numpy(weights):
    tables = weights.detach().numpy()
    return torch.tensor([np.mean([np.diag(table, k=-1) for table in tables[:, h]]) for h in range(tables.shape[1])])


@exercise.right("with gather")
def with_gather(weights):
    before = torch.arange(weights.shape[-1] - 1).view(1, 1, -1, 1).expand(*weights.shape[:2], -1, 1)
    return weights[:, :, 1:].gather(-1, before).mean(dim=(0, 2, 3))
