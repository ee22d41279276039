"""Reads the attention weights of any model in the course as it runs, and scores what each head does."""

from functools import partial

import torch

from transformer_lessons.attention import MultiHeadAttention
from transformer_lessons.validation import check_sizes


def attention_weights(model, *inputs):
    """Runs the model once; returns each attention's weights: {name: (batch, heads, query, key)}."""
    weights, hooks = {}, []
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention):
            hooks.append(module.register_forward_pre_hook(ask_for_weights, with_kwargs=True))
            hooks.append(module.register_forward_hook(partial(keep_weights, weights, name)))
    try:
        model(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return weights


def ask_for_weights(attention, inputs, named_inputs):
    """A hook: for speed, layers do not ask for weights; this time they are wanted."""
    return inputs, {**named_inputs, "need_weights": True}


def keep_weights(weights, name, attention, inputs, result):
    """A hook: keeps the weights, the second of the two results."""
    weights[name] = result[1].detach()  # (batch, heads, query, key)


def without_sink(weights):
    """How each query divides what it does not leave to the first token, where many heads of large models look.

    The weights are (batch, heads, query, key), and so is the result. The first query sees nothing else: it gets zeros.
    """
    others = weights.clone()
    others[..., 0] = 0
    return others / others.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(others.dtype).tiny)


def previous_token_score(weights):
    """How much each head attends to the token right before: the mean weight of t on t - 1, t ≥ 1.

    The weights are (batch, heads, length, length); the scores are (heads).
    """
    check_maps(weights, 2)
    return weights.diagonal(-1, -2, -1).mean(dim=(0, 2))  # (heads)


def induction_score(weights, period):
    """How much each head attends, in a block repeated with this period, to what followed the current token last time.

    That is the mean weight of t on t - period + 1, t ≥ period. The weights are (batch, heads, length, length).
    """
    check_sizes(2, period=period)
    check_maps(weights, period + 1)
    return weights.diagonal(1 - period, -2, -1)[..., 1:].mean(dim=(0, 2))  # (heads)


def check_maps(weights, least):
    """There are as many queries as keys, and enough for at least one number."""
    shape = tuple(weights.shape)
    if len(shape) != 4 or shape[2] != shape[3] or shape[2] < least:
        raise ValueError(f"weights {shape} must be (batch, heads, length, length), with a length of at least {least}")
