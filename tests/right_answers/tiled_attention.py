"""Right answers to tiled_attention, each in a style of its own."""

import math

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.catalogue.tiled_attention import exercise


@exercise.right("keys outside, all queries inside")
def keys_outside(query, key, value, block):
    length = query.size(-2)
    largest = torch.full((*query.shape[:-1], 1), -1e30, dtype=query.dtype)
    total, summed = torch.zeros_like(largest), torch.zeros_like(value)
    for left in range(0, length, block):
        scores = torch.einsum("...qd,...kd->...qk", query[..., left:, :], key[..., left : left + block, :])
        scores = scores / query.size(-1) ** 0.5
        place = torch.arange(scores.size(-1))
        scores = torch.where(place > torch.arange(length - left)[:, None], -1e30, scores)
        new = torch.max(largest[..., left:, :], scores.max(-1, keepdim=True).values)
        factor, weights = torch.exp(largest[..., left:, :] - new), torch.exp(scores - new)
        total[..., left:, :] = total[..., left:, :] * factor + weights.sum(-1, keepdim=True)
        summed[..., left:, :] = summed[..., left:, :] * factor + weights @ value[..., left : left + block, :]
        largest[..., left:, :] = new
    return summed / total


@exercise.right("each tile's softmax, merged by log-sum-exp")
def merged_by_logsumexp(query, key, value, block):
    outputs = []
    for place in range(query.shape[-2]):
        one, log, output = query[..., place : place + 1, :] / math.sqrt(query.shape[-1]), None, None
        for left in range(0, place + 1, block):
            keys = key[..., left : min(left + block, place + 1), :]
            scores = one @ keys.transpose(-2, -1)
            own, mean = (
                scores.logsumexp(-1, keepdim=True),
                scores.softmax(-1) @ value[..., left : left + keys.shape[-2], :],
            )
            both = own if log is None else torch.logaddexp(log, own)
            output = mean if log is None else output * (log - both).exp() + mean * (own - both).exp()
            log = both
        outputs.append(output)
    return torch.cat(outputs, -2)


@exercise.right("from the diagonal back, relative to the maximum of each tile")
def from_the_diagonal_back(query, key, value, block):
    outputs = []
    for start in range(0, query.shape[-2], block):
        rows, sums = query[..., start : start + block, :] * query.shape[-1] ** -0.5, None
        for left in reversed(range(0, start + 1, block)):
            scores = rows @ key[..., left : left + block, :].transpose(-1, -2)
            scores = scores if left < start else scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -1e38)
            new = scores.max(-1, keepdim=True)[0]
            new = new if sums is None else new.maximum(sums[0])
            now = torch.exp(scores - new)
            here = now.sum(-1, keepdim=True), now @ value[..., left : left + block, :]
            old = (0, 0) if sums is None else (one * torch.exp(sums[0] - new) for one in sums[1:])
            sums = new, *(one + two for one, two in zip(old, here, strict=True))
        outputs.append(sums[2] / sums[1])
    return torch.cat(outputs, dim=-2)


@exercise.right("blocks of queries, each with PyTorch's kernel")
def blocks_of_queries(query, key, value, block):
    parts = []
    for number, rows in enumerate(query.split(block, dim=-2)):
        end = number * block + rows.shape[-2]
        mask = torch.arange(end) <= torch.arange(end - rows.shape[-2], end)[:, None]
        parts.append(F.scaled_dot_product_attention(rows, key[..., :end, :], value[..., :end, :], mask))
    return torch.cat(parts, -2)
