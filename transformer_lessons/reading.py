"""Reading the attention out of any model of the course, while it runs."""

from functools import partial

from transformer_lessons.attention import MultiHeadAttention


def attention_weights(model, *inputs):
    """Runs the model once; returns each attention's weights: {name: (batch, heads, query, key)}."""
    found, hooks = {}, []
    for name, module in model.named_modules():
        if isinstance(module, MultiHeadAttention):
            hooks.append(module.register_forward_pre_hook(ask_for_weights, with_kwargs=True))
            hooks.append(module.register_forward_hook(partial(keep_weights, found, name)))
    try:
        model(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return found


def ask_for_weights(attention, inputs, named_inputs):
    """A hook: the layers call without weights, to be fast; this once they are wanted."""
    return inputs, {**named_inputs, "need_weights": True}


def keep_weights(found, name, attention, inputs, result):
    """A hook: the second of the two results."""
    found[name] = result[1].detach()  # (batch, heads, query, key)
