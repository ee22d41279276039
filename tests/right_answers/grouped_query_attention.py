"""Right answers to grouped_query_attention, each in a style of its own."""

import math

import torch
import torch.nn.functional as F

from transformer_lessons import attention, masks
from transformer_lessons.exercises.catalogue.grouped_query_attention import exercise, group_of


@exercise.right("a dimension for the groups, nothing copied")
def by_broadcasting(query, key, value):
    queries = query.unflatten(1, (key.shape[1], -1))  # key heads, heads of a group
    scores = queries @ key[:, :, None].mT * query.shape[-1] ** -0.5
    weights = masks.masked_softmax(scores, masks.causal_mask(query.shape[2]))
    return (weights @ value[:, :, None]).flatten(1, 2), weights.flatten(1, 2)


@exercise.right("head by head")
def head_by_head(query, key, value):
    mask, pairs = masks.causal_mask(query.shape[2]), []
    for head in range(query.shape[1]):
        used = head * key.shape[1] // query.shape[1]
        pairs.append(attention.scaled_dot_product_attention(query[:, head], key[:, used], value[:, used], mask))
    return tuple(torch.stack(one, dim=1) for one in zip(*pairs, strict=True))


@exercise.right("with einsum, and a large negative number")
def with_einsum(query, key, value):
    queries = query.reshape(query.shape[0], key.shape[1], -1, *query.shape[2:])
    scores = torch.einsum("bghqd,bgkd->bghqk", queries, key) / query.shape[-1] ** 0.5
    scores = scores + torch.full(scores.shape[-2:], -1e9, dtype=scores.dtype).triu(1)
    weights = torch.softmax(scores, -1)
    return torch.einsum("bghqk,bgkd->bghqd", weights, value).reshape(query.shape), weights.flatten(1, 2)


@exercise.right("copies along the positions, cut into heads")
def cut_into_heads(query, key, value):
    key, value = (one.repeat(1, 1, group_of(query, key), 1).reshape(query.shape) for one in (key, value))
    return attention.scaled_dot_product_attention(query, key, value, masks.causal_mask(query.shape[2]))


@exercise.right("PyTorch's kernel for the output, exponentials for the weights")
def with_pytorch(query, key, value):
    output = F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
    key = key[:, torch.arange(query.shape[1]) // group_of(query, key)]
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(~masks.causal_mask(query.shape[2]), -torch.inf)
    exponentials = (scores - scores.amax(-1, keepdim=True)).exp()
    return output, exponentials / exponentials.sum(-1, keepdim=True)


@exercise.right("expanded, then reshaped, in float32")
def expanded(query, key, value):
    query, key, value = query.float(), key.float(), value.float()
    batch, heads, length, d_head = query.shape
    key, value = (
        one[:, :, None].expand(-1, -1, heads // one.shape[1], -1, -1).reshape(batch, heads, length, d_head)
        for one in (key, value)
    )
    return attention.scaled_dot_product_attention(query, key, value, masks.causal_mask(length))
