"""Who may attend to whom: boolean masks, True = may attend, and a softmax that respects them.

Rows ask, columns answer. Masks combine with `&` and broadcast to (batch, heads, query, key).
"""

import torch

from transformer_lessons.validation import check_mask, check_sizes


def causal_mask(length, device=None):
    """Each position may attend to itself and to what came before it."""
    check_sizes(length=length)
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()  # (query, key)


def padding_mask(tokens, pad_id):
    """Every query may attend to the real tokens of its own sequence, and to no padding."""
    if tokens.dim() != 2:
        raise ValueError(f"the tokens {tuple(tokens.shape)} must be (batch, length)")
    return (tokens != pad_id)[:, None, None, :]  # (batch, 1, 1, length)


def masked_softmax(scores, mask=None):
    """Softmax over the keys; a forbidden key gets exactly 0, and a query with no allowed key gets only zeros."""
    if mask is None:
        return scores.softmax(dim=-1)
    check_mask(mask, scores.shape)
    empty = ~mask.any(dim=-1, keepdim=True)  # a row of -inf alone would turn into NaN
    scores = scores.masked_fill(~mask, -torch.inf).masked_fill(empty, 0.0)
    return scores.softmax(dim=-1).masked_fill(empty, 0.0)
