"""Right answers to softmax, each in a style of its own."""

import numpy as np
import torch

from transformer_lessons.exercises.catalogue.softmax import exercise


@exercise.right("row by row")
def row_by_row(scores):
    result = np.zeros(scores.shape)
    for index in np.ndindex(scores.shape[:-1]):
        largest = max(scores[index])
        exponentials = [np.exp(score - largest) for score in scores[index]]
        result[index] = np.array(exponentials) / sum(exponentials)
    return result


@exercise.right("by way of the logarithm")
def by_way_of_the_logarithm(scores):
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1)[..., None])


@exercise.right("along an axis")
def along_an_axis(scores):
    def one(row):
        return np.exp(row - row.max()) / np.sum(np.exp(row - row.max()))

    return np.apply_along_axis(one, -1, scores)


@exercise.right("PyTorch's own")
def with_pytorch(scores):
    return torch.softmax(torch.from_numpy(scores), dim=-1).numpy()


@exercise.right("as ratios")
def as_ratios(scores):
    with np.errstate(over="ignore"):
        return 1 / np.exp(scores[..., None, :] - scores[..., :, None]).sum(-1)


@exercise.right("in float32")
def in_float32(scores):
    small = np.float32(scores - np.amax(scores, -1, keepdims=True))
    return np.einsum("...i,...->...i", np.exp(small), 1 / np.exp(small).sum(-1))
