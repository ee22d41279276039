"""Attention to long texts: windows, a softmax that reads its scores in blocks, and attention in tiles."""

import math
from collections.abc import Sequence

import torch

from transformer_lessons.masks import causal_mask
from transformer_lessons.validation import check_match, check_sizes


def sliding_window_mask(length: int, window: int, device: torch.device | None = None) -> torch.Tensor:
    """Each position may attend to itself and to the window - 1 positions before it."""
    check_sizes(window=window)
    return causal_mask(length, device).triu(1 - window)  # (query, key)


def online_softmax(blocks: Sequence[torch.Tensor]) -> torch.Tensor:
    """The softmax of scores that come in blocks (…, size): one pass finds the maximum and the sum of exponentials.

    When a block raises the maximum, the sum so far is rescaled to the new one.
    """
    lowest = torch.finfo(blocks[0].dtype).min  # not -inf: a first block of -inf alone would turn into NaN
    largest = torch.full_like(blocks[0][..., :1], lowest)  # (..., 1)
    total = torch.zeros_like(largest)  # (..., 1)
    for scores in blocks:
        raised = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))  # (..., 1)
        total = total * (largest - raised).exp() + (scores - raised).exp().sum(dim=-1, keepdim=True)  # (..., 1)
        largest = raised
    return torch.cat([(scores - largest).exp() / total for scores in blocks], dim=-1)  # (..., key)


def tiled_attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, block: int = 128) -> torch.Tensor:
    """Causal attention without the full table of scores: tile by tile, none larger than block × block.

    Returns the output of scaled_dot_product_attention with a causal mask, but no weights; any leading dimensions work.
    """
    check_match(query, key, value)
    check_sizes(block=block)
    if query.shape[-2] != key.shape[-2]:
        raise ValueError(f"{query.shape[-2]} queries and {key.shape[-2]} keys: each position needs one of each")
    scaled = query / math.sqrt(query.shape[-1])
    starts = range(0, query.shape[-2], block)
    return torch.cat([attend_to_tiles(scaled, key, value, start, block) for start in starts], dim=-2)


def attend_to_tiles(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, start: int, block: int
) -> torch.Tensor:
    """The outputs of one block of queries, from the tiles that are not in its future."""
    query = query[..., start : start + block, :]  # (..., query, d_head)
    largest = torch.full_like(query[..., :1], -torch.inf)  # (..., query, 1)
    total, summed = 0.0, 0.0
    for left in range(0, start + 1, block):
        scores = query @ key[..., left : left + block, :].mT  # (..., query, key)
        if left == start:
            scores = scores.masked_fill(~causal_mask(query.shape[-2], query.device), -torch.inf)
        raised = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))  # (..., query, 1)
        shrink, weights = (largest - raised).exp(), (scores - raised).exp()  # (..., query, 1), (..., query, key)
        total = total * shrink + weights.sum(dim=-1, keepdim=True)  # (..., query, 1)
        summed = summed * shrink + weights @ value[..., left : left + block, :]  # (..., query, d_v)
        largest = raised
    return summed / total  # (..., query, d_v)
