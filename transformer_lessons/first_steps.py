"""What lessons 1 and 2 build on the way: unscaled attention, first in NumPy, then with learned roles."""

import numpy as np
from torch import nn


def softmax(scores):
    """Turn scores into weights over the last dimension: none is negative, and each row sums to 1."""
    shifted = scores - scores.max(axis=-1, keepdims=True)  # no exponent above 0: nothing overflows
    exponentials = np.exp(shifted)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def self_attention(x):
    """Every vector becomes the average of all of them, weighted by how well they match it."""
    scores = x @ x.T  # (query, key)
    weights = softmax(scores)  # (query, key)
    output = weights @ x  # (query, features)
    return output, weights


def attention(query, key, value):
    """For each query, the average of the values, weighted by how well each key matches the query."""
    scores = query @ key.transpose(-2, -1)  # (batch, query, key)
    weights = scores.softmax(dim=-1)  # (batch, query, key)
    output = weights @ value  # (batch, query, d_v)
    return output, weights


class AttentionHead(nn.Module):
    """Three learned maps give each vector its three roles; attention does the rest."""

    def __init__(self, d_model, d_head):
        super().__init__()
        self.linear_q = nn.Linear(d_model, d_head, bias=False)
        self.linear_k = nn.Linear(d_model, d_head, bias=False)
        self.linear_v = nn.Linear(d_model, d_head, bias=False)

    def forward(self, x):
        query, key, value = self.linear_q(x), self.linear_k(x), self.linear_v(x)  # (batch, length, d_head)
        return attention(query, key, value)
