"""Right answers to self_attention, each in a style of its own."""

import numpy as np
import torch

from transformer_lessons.exercises.catalogue.self_attention import exercise


@exercise.right("with loops")
def with_loops(x):
    output, weights = [], []
    for query in x:
        exponentials = [np.exp(sum(a * b for a, b in zip(query, key, strict=True))) for key in x]
        row = [one / sum(exponentials) for one in exponentials]
        weights.append(row)
        output.append(sum(weight * vector for weight, vector in zip(row, x, strict=True)))
    return np.array(output), np.array(weights)


@exercise.right("with einsum")
def with_einsum(x):
    exponentials = np.exp(np.einsum("qf,kf->qk", x, x))
    weights = exponentials / exponentials.sum(axis=1, keepdims=True)
    return np.einsum("qk,kf->qf", weights, x), weights


@exercise.right("PyTorch's own")
def with_pytorch(x):
    tensor = torch.tensor(x)
    weights = torch.cdist(tensor, tensor).square().neg().add((tensor * tensor).sum(-1)).div(2).softmax(-1)
    output = torch.nn.functional.scaled_dot_product_attention(tensor, tensor, tensor, scale=1.0)
    return [output.numpy(), weights.numpy()]


@exercise.right("columns of columns")
def columns_of_columns(x):
    exponentials = np.exp(np.inner(x, x))  # symmetric, so rows and columns may change places
    weights = (exponentials / exponentials.sum(axis=0)).T
    return (x.T @ weights.T).T, weights
