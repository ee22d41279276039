"""Right answers to padding_mask, each in a style of its own."""

import numpy as np
import torch

from transformer_lessons.exercises.catalogue.padding_mask import exercise


@exercise.right("with unsqueeze")
def with_unsqueeze(tokens, pad_id):
    return ~tokens.eq(pad_id).unsqueeze(1).unsqueeze(2)


@exercise.right("with loops")
def with_loops_over_tokens(tokens, pad_id):
    return torch.tensor([[[[token != pad_id for token in row]]] for row in tokens.tolist()])


@exercise.right("in NumPy, with reshape")
def in_numpy_with_reshape(tokens, pad_id):
    batch, length = tokens.shape
    return torch.from_numpy(np.not_equal(tokens.numpy(), pad_id)).reshape(batch, 1, 1, length)


@exercise.right("a table filled with masked_fill")
def filled_table(tokens, pad_id):
    mask = torch.ones_like(tokens, dtype=torch.bool).masked_fill(tokens == pad_id, False)
    return mask.view(tokens.size(0), 1, 1, -1)
