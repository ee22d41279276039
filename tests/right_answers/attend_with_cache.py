"""Right answers to attend_with_cache, each in a style of its own."""

import torch
import torch.nn.functional as F

from transformer_lessons import attention
from transformer_lessons.exercises.catalogue.attend_with_cache import exercise


@exercise.right("PyTorch's own kernel")
def with_pytorch(query, keys, values, new_key, new_value):
    keys, values = torch.cat((keys, new_key), 2), torch.cat((values, new_value), 2)
    new, total = query.size(2), keys.size(2)
    mask = torch.arange(total) <= torch.arange(total - new, total)[:, None]
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values


@exercise.right("one new token after the other")
def one_by_one(query, keys, values, new_key, new_value):
    outputs = []
    for place in range(query.shape[2]):
        keys = torch.cat([keys, new_key[:, :, [place]]], dim=2)
        values = torch.cat([values, new_value[:, :, [place]]], dim=2)
        scores = torch.einsum("bhd,bhkd->bhk", query[:, :, place], keys) * query.shape[-1] ** -0.5
        outputs.append(torch.einsum("bhk,bhkv->bhv", scores.softmax(-1), values))
    return torch.stack(outputs, dim=2), keys, values


@exercise.right("a large negative number for the future, and room set aside")
def room_set_aside(query, keys, values, new_key, new_value):
    batch, heads, past, d_head = keys.shape
    room = (
        keys.new_zeros(batch, heads, past + query.shape[2], d_head),
        values.new_zeros(batch, heads, past + query.shape[2], values.shape[-1]),
    )
    for one, old, new in zip(room, (keys, values), (new_key, new_value), strict=True):
        one[:, :, :past], one[:, :, past:] = old, new
    scores = query / d_head**0.5 @ room[0].transpose(2, 3)
    scores += torch.full(scores.shape[2:], -1e30, dtype=scores.dtype).triu(past + 1)
    return [torch.softmax(scores, 3) @ room[1], *room]


@exercise.right("all queries at once, zeros in front")
def zeros_in_front(query, keys, values, new_key, new_value):
    past = keys.shape[2]
    keys, values = torch.cat([keys, new_key], -2), torch.cat([values, new_value], -2)
    asked = F.pad(query, (0, 0, past, 0))
    causal = torch.ones(keys.shape[2], keys.shape[2]).tril().bool()
    output, _ = attention.scaled_dot_product_attention(asked, keys, values, causal)
    return output[:, :, past:], keys, values
