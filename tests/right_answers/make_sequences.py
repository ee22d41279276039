"""Right answers to make_sequences, each in a style of its own."""

import numpy as np
import torch

from transformer_lessons.exercises.catalogue.make_sequences import exercise


@exercise.right("reshaped")
def reshaped(ids, length):
    number = (len(ids) - 1) // length
    return ids[: number * length].view(number, length), ids[1 : number * length + 1].view(number, length)


@exercise.right("unfolded")
def unfolded(ids, length):
    return ids[:-1].unfold(0, length, length), ids[1:].unfold(0, length, length)


@exercise.right("rows of one token more, which share a token")
def rows_that_share_a_token(ids, length):
    rows = ids.unfold(0, length + 1, length)
    return rows[:, :-1], rows[:, 1:]


@exercise.right("with loops and lists")
def with_loops(ids, length):
    inputs, targets, start = [], [], 0
    while start + length < len(ids):
        inputs.append([int(ids[start + step]) for step in range(length)])
        targets.append([int(ids[start + step + 1]) for step in range(length)])
        start += length
    return [torch.tensor(inputs), torch.tensor(targets)]


@exercise.right("in NumPy")
def sequences_in_numpy(ids, length):
    table = np.lib.stride_tricks.sliding_window_view(ids.numpy(), length + 1)[::length]
    return torch.from_numpy(table[:, :-1].copy()), torch.from_numpy(table[:, 1:].copy())


@exercise.right("by strides")
def by_strides(ids, length):
    size = ((ids.shape[0] - 1) // length, length)
    return torch.as_strided(ids, size, (length, 1)), torch.as_strided(ids, size, (length, 1), 1)


@exercise.right("by a table of positions")
def by_positions(ids, length):
    positions = torch.arange((len(ids) - 1) // length * length).reshape(-1, length)
    return ids[positions], ids[positions + 1]


@exercise.right("split, and what is too short dropped")
def split_and_dropped(ids, length):
    def rows(part):
        return torch.stack([row for row in part.split(length) if len(row) == length])

    return rows(ids[:-1]), rows(ids[1:])


@exercise.right("chunked, in int32")
def in_int32(ids, length):
    number = (len(ids) - 1) // length
    return tuple(torch.stack(part[: number * length].int().chunk(number)) for part in (ids[:-1], ids[1:]))
