"""Right answers to copying_matrix, each in a style of its own."""

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.catalogue.copying_matrix import exercise


@exercise.right("with einsum and the heads cut apart")
def with_einsum(embedding, attention, unembedding, head):
    reads = attention.linear_v.weight.unflatten(0, (attention.num_heads, -1))[head]
    writes = attention.linear_out.weight.unflatten(1, (attention.num_heads, -1))[:, head]
    return torch.einsum("id,dh,he,je->ij", unembedding, writes, reads, embedding)


@exercise.right("token by token")
def token_by_token(embedding, attention, unembedding, head):
    d_head = embedding.shape[1] // attention.num_heads
    matrix = torch.zeros(len(unembedding), len(embedding))  # float32, where the tables are float64
    for token, vector in enumerate(embedding):
        value = torch.zeros_like(vector)
        value[head * d_head : (head + 1) * d_head] = (
            (attention.linear_v.weight @ vector).view(-1, d_head)[head].detach()
        )
        matrix[:, token] = (unembedding @ (attention.linear_out.weight @ value)).detach()
    return matrix


@exercise.right("by the layers, minus what they do to nothing")
@torch.no_grad()
def by_the_layers(embedding, attention, unembedding, head):
    def added(x):
        value = attention.linear_v(x)
        keep = torch.zeros_like(value)
        width = value.shape[-1] // attention.num_heads
        keep[:, width * head : width * (head + 1)] = 1
        return attention.linear_out(value * keep) @ unembedding.T

    return (added(embedding) - added(torch.zeros_like(embedding))).T


@exercise.right("with chunks, from the right to the left")
def with_chunks(embedding, attention, unembedding, head):
    values = F.linear(embedding, attention.linear_v.weight).chunk(attention.num_heads, dim=-1)[head]
    written = values @ attention.linear_out.weight.chunk(attention.num_heads, dim=-1)[head].T
    return (written @ unembedding.T).T


@exercise.right("a mask on the features")
def masked(embedding, attention, unembedding, head):
    feature = torch.arange(attention.d_model) // (attention.d_model // attention.num_heads)
    keep = torch.diag((feature == head).to(embedding.dtype))
    return torch.linalg.multi_dot(
        [unembedding, attention.linear_out.weight, keep, attention.linear_v.weight, embedding.T]
    )
