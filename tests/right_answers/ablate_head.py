"""Right answers to ablate_head, each in a style of its own."""

import numpy as np
import torch

from transformer_lessons import attention
from transformer_lessons.exercises.catalogue.ablate_head import exercise


@exercise.right("a copy, and 0 in its slice")
def a_copy(heads, number):
    ablated = heads.clone()
    ablated[:, number, :, :] = 0
    return ablated


@exercise.right("masked_fill")
def filled(heads, number):
    gone = torch.nn.functional.one_hot(torch.tensor(number), heads.shape[1]).bool()
    return heads.masked_fill(gone.view(1, -1, 1, 1), 0.0)


@exercise.right("taken apart and stacked")
def stacked(heads, number):
    parts = list(heads.unbind(dim=1))
    parts[number] = torch.zeros_like(parts[number])
    return torch.stack(parts, dim=1)


@exercise.right("index_fill")
def index_filled(heads, number):
    return heads.index_fill(1, torch.tensor([number]), 0)


@exercise.right("on the merged heads")
def merged(heads, number):
    d_head = heads.shape[-1]
    x = attention.merge_heads(heads).clone()
    x[..., number * d_head : (number + 1) * d_head] = 0
    return attention.split_heads(x, heads.shape[1])


@exercise.right("in NumPy")
def in_numpy(heads, number):
    table = heads.detach().numpy().copy()
    table[:, number] = np.zeros_like(table[:, number])
    return torch.from_numpy(table)


@exercise.right("the others added to nothing, in float32")
def others_added(heads, number):
    ablated = torch.zeros(heads.shape)
    for head in range(heads.shape[1]):
        if head != number:
            ablated[:, head] += heads[:, head]
    return ablated
