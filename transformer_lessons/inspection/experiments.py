"""Experiments on a running model: a head removed, an output replaced, the residual stream read layer by layer.

All go through the model's one forward pass, with hooks that are removed when it has run or the `with` block ends.
The parts of a model go by the names that named_modules gives them, such as "layers.0.attention".
"""

from contextlib import ExitStack, contextmanager
from functools import partial

import torch
import torch.nn.functional as F

from transformer_lessons.attention import MultiHeadAttention, merge_heads, split_heads


def ablate_head(heads, number):
    """The heads' outputs, (batch, heads, length, d_head), with one head's set to 0."""
    if number not in range(heads.shape[1]):
        raise ValueError(f"there is no head {number}: the last of {heads.shape[1]} heads is {heads.shape[1] - 1}")
    heads = heads.clone()
    heads[:, number] = 0
    return heads  # (batch, heads, length, d_head)


@contextmanager
def ablated(model, heads):
    """Inside the block, these heads contribute nothing: heads is {name of an attention layer: numbers of its heads}."""
    with ExitStack() as hooks:
        for name, numbers in heads.items():
            attention = part_of(model, name)
            if not isinstance(attention, MultiHeadAttention):
                raise ValueError(f"{name!r} is a {type(attention).__name__}, which has no heads to ablate")
            for number in numbers:
                ablate_head(torch.zeros(1, attention.num_heads, 1, 1), number)  # is there such a head?
            hook = partial(ablate_inputs, attention.num_heads, numbers)
            hooks.enter_context(attention.linear_out.register_forward_pre_hook(hook))
        yield


def ablate_inputs(num_heads, numbers, linear_out, inputs):
    """A hook: linear_out reads all heads side by side."""
    heads = split_heads(inputs[0], num_heads)  # (batch, heads, length, d_head)
    for number in numbers:
        heads = ablate_head(heads, number)  # (batch, heads, length, d_head)
    return merge_heads(heads)  # (batch, length, d_model)


@torch.no_grad()
def outputs_of(model, names, *inputs):
    """Runs the model once; returns the outputs of these parts: {name: (batch, length, features)}."""
    outputs = {}
    with ExitStack() as hooks:
        for name in names:
            hooks.enter_context(part_of(model, name).register_forward_hook(partial(keep_output, outputs, name)))
        model(*inputs)
    return outputs


def keep_output(outputs, name, part, inputs, output):
    """A hook: an attention layer returns its weights too."""
    outputs[name] = output[0] if isinstance(output, tuple) else output  # (batch, length, features)


@contextmanager
def patched(model, name, other, place):
    """Inside the block, a part of the model outputs at one position, or a slice of them, what it did in another run."""
    with part_of(model, name).register_forward_hook(partial(replace_output, other, place)):
        yield


def replace_output(other, place, part, inputs, output):
    """A hook: only what is at this place, a position or a slice, comes from the other run."""
    own, *weights = output if isinstance(output, tuple) else (output,)
    if own.shape != other.shape:
        raise ValueError(f"outputs to patch in {tuple(other.shape)} must be {tuple(own.shape)}, like the part's own")
    own = own.clone()
    own[:, place] = other[:, place]
    return (own, *weights) if weights else own


@torch.no_grad()
def residual_stream(model, *inputs):
    """What each layer and the final norm read: (number, batch, length, d_model), one more than there are layers."""
    stages = []
    with ExitStack() as hooks:
        for part in (*model.layers, model.norm):
            hooks.enter_context(part.register_forward_pre_hook(lambda part, inputs: stages.append(inputs[0])))
        model(*inputs)
    return torch.stack(stages)  # (number, batch, length, d_model)


def logit_lens(residuals, norm, unembedding):
    """What the model would predict if it ended at each stage: (stages, batch, length, d_model) → (…, vocabulary).

    The norm computes the mean and variance of each stage afresh; those of the last stage fit no other.
    """
    return F.linear(norm(residuals), unembedding)  # (number, batch, length, vocabulary)


def copying_matrix(embedding, attention, unembedding, head):
    """What a head adds to each logit (row) by attending to each token (column): (vocabulary, vocabulary).

    It is W_U W_O W_V W_E, with this head's rows of W_V and columns of W_O alone; biases and norms are left out.
    """
    d_head = attention.d_model // attention.num_heads
    own = slice(head * d_head, (head + 1) * d_head)
    reads, writes = attention.linear_v.weight[own], attention.linear_out.weight[:, own]
    return unembedding @ writes @ reads @ embedding.T  # (vocabulary, vocabulary)


def part_of(model, name):
    """The module of that name."""
    try:
        return model.get_submodule(name)
    except AttributeError:
        raise ValueError(f"the model has no part called {name!r}") from None
