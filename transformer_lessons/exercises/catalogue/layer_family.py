"""What `EncoderLayer` and `DecoderLayer` share: the masks that are drawn."""

import torch


def with_holes(generator, batch, queries, keys):
    """Each query may attend to some of the keys, in no particular order; the last query to none: (batch, 1, …)."""
    order = torch.rand(batch, 1, queries, keys, generator=generator).argsort(-1)
    allowed = (order == 0) | ((order > 1) & (torch.rand(order.shape, generator=generator) < 0.5))
    allowed[:, :, -1] = False
    return allowed


def padding_at_the_end(batch, length):
    """The last sequence is full, the one before it lacks two tokens, and so on: (batch, 1, 1, length)."""
    missing = 2 * torch.arange(batch).flip(0)[:, None]
    return (torch.arange(length) < (length - missing).clamp(min=1))[:, None, None, :]
