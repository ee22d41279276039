"""Right answers to sliding_window_mask, each in a style of its own."""

import torch

from transformer_lessons.exercises.catalogue.sliding_window_mask import exercise


@exercise.right("one triangle minus another")
def triangles_apart(length, window):
    square = torch.ones(length, length)
    return (square.tril() - square.tril(-window)).bool()


@exercise.right("row by row")
def row_by_row(length, window):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for query in range(length):
        mask[query, max(0, query - window + 1) : query + 1] = True
    return mask


@exercise.right("with lists")
def with_lists(length, window):
    return torch.tensor([[0 <= query - key <= window - 1 for key in range(length)] for query in range(length)])


@exercise.right("diagonal by diagonal")
def by_diagonals(length, window):
    mask = torch.zeros(length, length)
    for back in range(min(window, length)):
        mask += torch.diag(torch.ones(length - back), -back)
    return mask > 0
