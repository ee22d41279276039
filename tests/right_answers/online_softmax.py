"""Right answers to online_softmax, each in a style of its own."""

import math

import torch

from transformer_lessons.exercises.catalogue.online_softmax import exercise


@exercise.right("a running log-sum-exp")
def running_logsumexp(blocks):
    total = torch.tensor(-torch.inf)
    for block in blocks:
        total = torch.logaddexp(total.to(block.dtype), torch.logsumexp(block, dim=-1))
    return torch.cat([torch.exp(block - total.unsqueeze(-1)) for block in blocks], -1)


@exercise.right("by the maximum of each block")
def maximum_of_each_block(blocks):
    largest, total = blocks[0].amax(-1), 0
    for number, block in enumerate(blocks):
        own = block.max(dim=-1).values
        if number == 0:
            total = torch.exp(block - own[..., None]).sum(-1)
            continue
        new = torch.where(own > largest, own, largest)
        total = total * torch.exp(largest - new) + torch.exp(block - own[..., None]).sum(-1) * torch.exp(own - new)
        largest = new
    return torch.cat([torch.exp(block - largest[..., None]) / total[..., None] for block in blocks], dim=-1)


@exercise.right("score by score, in plain Python")
def score_by_score(blocks):
    lead = blocks[0].shape[:-1]
    rows = zip(*(block.reshape(-1, block.shape[-1]).tolist() for block in blocks), strict=True)
    found = []
    for parts in rows:
        largest, total = -math.inf, 0.0
        for score in (score for part in parts for score in part):
            if score > largest:
                total, largest = total * math.exp(largest - score), score
            total += math.exp(score - largest)
        found.append([math.exp(score - largest) / total for part in parts for score in part])
    return torch.tensor(found, dtype=torch.float64).reshape(*lead, -1)


@exercise.right("the weights kept, and rescaled as they go")
def weights_rescaled(blocks):
    kept, largest = [], torch.full(blocks[0].shape[:-1] + (1,), -1e30, dtype=blocks[0].dtype)
    for block in blocks:
        new = torch.max(largest, block.max(-1, keepdim=True)[0])
        kept = [one * torch.exp(largest - new) for one in kept] + [torch.exp(block - new)]
        largest = new
    total = sum(one.sum(-1, keepdim=True) for one in kept)
    return torch.cat([one / total for one in kept], dim=-1)


@exercise.right("each block's softmax, weighted by its share")
def softmaxes_weighted(blocks):
    logs = torch.stack([torch.logsumexp(block, -1) for block in blocks], -1)
    share = logs.softmax(-1)
    return torch.cat([block.softmax(-1) * share[..., [n]] for n, block in enumerate(blocks)], dim=-1)


@exercise.right("from the last block to the first")
def from_the_last_block(blocks):
    largest, total = torch.full_like(blocks[-1][..., :1], -torch.inf), 0
    for block in reversed(blocks):
        new = torch.maximum(largest, block.amax(-1, keepdim=True))
        total = total * (largest - new).exp() + (block - new).exp().sum(-1, keepdim=True)
        largest = new
    return torch.cat([(block - largest).exp() / total for block in blocks], -1)
