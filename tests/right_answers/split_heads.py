"""Right answers to split_heads, each in a style of its own."""

import numpy as np
import torch

from transformer_lessons.exercises.catalogue.split_heads import exercise


@exercise.right("reshape and transpose")
def reshape_and_transpose(x, num_heads):
    return x.view(*x.shape[:2], num_heads, -1).permute(0, 2, 1, 3)


@exercise.right("chunks, stacked")
def chunks_stacked(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


@exercise.right("with slices in a loop")
def slices_in_a_loop(x, num_heads):
    d_head = x.size(-1) // num_heads
    heads = torch.empty(x.size(0), num_heads, x.size(1), d_head)  # float32, where x is float64
    for head in range(num_heads):
        heads[:, head] = x[..., head * d_head : (head + 1) * d_head]
    return heads


@exercise.right("with einsum")
def split_with_einsum(x, num_heads):
    return torch.einsum("blhd->bhld", x.unflatten(-1, (num_heads, -1))).contiguous()


@exercise.right("in NumPy")
def split_in_numpy(x, num_heads):
    return torch.from_numpy(np.stack(np.split(x.numpy(), num_heads, axis=2), axis=1))


@exercise.right("number by number")
def number_by_number(x, num_heads):
    batch, length, d_model = x.shape
    d_head = d_model // num_heads
    return torch.tensor(
        [
            [
                [[float(x[b, p, head * d_head + feature]) for feature in range(d_head)] for p in range(length)]
                for head in range(num_heads)
            ]
            for b in range(batch)
        ]
    )
