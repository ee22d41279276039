"""Attention: every query gets the average of the values, weighted by how well their keys match it."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons.masks import masked_softmax
from transformer_lessons.validation import check_features, check_groups, check_mask, check_match, check_split


def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    """The weighted averages of the values, and the weights: softmax(query · key / √d) over the keys.

    Works with any leading dimensions. The weights are returned as they are before dropout.
    """
    check_match(query, key, value)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = masked_softmax(scores, mask)
    output = F.dropout(weights, dropout) @ value
    return output, weights


def split_heads(x, num_heads):
    """Cut the features into heads, and put the head dimension before the length."""
    if x.dim() != 3:
        raise ValueError(f"x {tuple(x.shape)} must be (batch, length, d_model)")
    batch, length, d_model = x.shape
    check_split(d_model, num_heads)
    heads = x.reshape(batch, length, num_heads, d_model // num_heads)  # (batch, length, heads, d_head)
    return heads.transpose(1, 2)  # (batch, heads, length, d_head)


def merge_heads(x):
    """The inverse of split_heads: every position gets its features back from all the heads, side by side."""
    if x.dim() != 4:
        raise ValueError(f"x {tuple(x.shape)} must be (batch, heads, length, d_head)")
    return x.transpose(1, 2).flatten(2)  # (batch, length, d_model)


class MultiHeadAttention(nn.Module):
    """Several attention heads at once, each on its own slice of the projected features.

    rotary, if given, turns queries and keys by their positions before they are compared. With fewer key heads than
    query heads, each head of keys and values serves a group of neighbouring query heads (lesson 10).
    """

    def __init__(self, d_model, num_heads, dropout=0.1, rotary=None, num_key_heads=None, bias=True):
        super().__init__()
        check_split(d_model, num_heads)
        self.d_model, self.num_heads, self.rotary = d_model, num_heads, rotary
        self.num_key_heads = num_heads if num_key_heads is None else num_key_heads
        check_groups(num_heads, self.num_key_heads)
        d_keys = self.num_key_heads * (d_model // num_heads)
        self.linear_q = nn.Linear(d_model, d_model, bias)
        self.linear_k = nn.Linear(d_model, d_keys, bias)  # without rotary, its bias has no effect
        self.linear_v = nn.Linear(d_model, d_keys, bias)
        self.linear_out = nn.Linear(d_model, d_model, bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None, need_weights=True, cache=None):
        """Returns (output, weights of every head). Without need_weights, PyTorch's fused kernel runs: weights is None.

        A cache keeps the keys and values of earlier calls, and this call adds its own.
        """
        check_features(self.d_model, query=query, key=key, value=value)
        query = split_heads(self.linear_q(query), self.num_heads)  # (batch, heads, query, d_head)
        key = split_heads(self.linear_k(key), self.num_key_heads)  # (batch, key_heads, key, d_head)
        value = split_heads(self.linear_v(value), self.num_key_heads)  # (batch, key_heads, key, d_head)
        if self.rotary is not None:
            start = 0 if cache is None else cache.length
            query, key = self.rotary(query, start), self.rotary(key, start)
        if cache is not None:
            key, value = cache.extend(self, key, value)  # (batch, key_heads, length, d_head)
        group = self.num_heads // self.num_key_heads  # query heads for each key head
        dropout = self.dropout.p if self.training else 0.0
        if need_weights:
            output, weights = scaled_dot_product_attention(query, *repeat_heads(group, key, value), mask, dropout)
        else:
            output, weights = fused_attention(query, key, value, mask, dropout, group)
        return self.linear_out(merge_heads(output)), weights


def repeat_heads(group, *tensors):
    """In each tensor, every head `group` times, side by side: one for each query head that it serves."""
    return tensors if group == 1 else [heads.repeat_interleave(group, dim=1) for heads in tensors]


def fused_attention(query, key, value, mask=None, dropout=0.0, group=1):
    """The same output from PyTorch's own kernel, which is faster because it stores no weights and repeats no heads."""
    check_match(query if group == 1 else query[:, ::group], key, value)
    if mask is not None:
        check_mask(mask, (*query.shape[:-1], key.shape[-2]))
        mask = torch.atleast_2d(mask)  # the kernel needs both dimensions, even where they broadcast
    if query.is_cpu and torch.is_autocast_enabled("cpu"):  # its backward pass in bfloat16 is slower than ours
        return scaled_dot_product_attention(query, *repeat_heads(group, key, value), mask, dropout)[0], None
    return F.scaled_dot_product_attention(query, key, value, mask, dropout, enable_gqa=group > 1), None
