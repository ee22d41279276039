"""The faults of lesson 10's bug hunt: each breaks a chat model in one place. Reading on spoils the hunt."""

import contextlib

import torch.nn.functional as F
from torch import nn

from transformer_lessons.language.chat import Conversation
from transformer_lessons.layers import GatedFeedForward
from transformer_lessons.modern import RotaryHalves


@contextlib.contextmanager
def fault(model, letter):
    """Within it, the model, or a conversation with it, makes one mistake in all its layers; afterwards none."""
    known = changes(model)
    if letter not in known:
        raise ValueError(f"letter={letter!r} must be one of {', '.join(known)}")
    before = [(place, name, getattr(place, name)) for place, name, _ in known[letter]]
    try:
        for place, name, wrong in known[letter]:
            setattr(place, name, wrong)
        yield
    finally:
        for place, name, right in before:
            setattr(place, name, right)


def changes(model):
    """What each fault puts in the place of what is right: {letter: [(where, its name, the wrong value), …]}."""
    attentions = [layer.attention for layer in model.layers]
    norms = [norm for layer in model.layers for norm in (layer.norm_1, layer.norm_2)]
    old_base = RotaryHalves(model.config.d_model // model.config.num_heads, model.max_length, base=10_000.0)
    return {
        "A": [(GatedFeedForward, "forward", through_gelu)],
        "B": [(norm, "eps", 0.01) for norm in [*norms, model.norm]],
        "C": [change for attention in attentions for change in key_heads_in_turn(attention)],
        "D": [(Conversation, "answer", without_end)],
        "E": [(GatedFeedForward, "forward", without_gate)],
        "F": [(attention, "rotary", old_base) for attention in attentions],
    }


def right_letters(letters):
    """How many of these letters, one for each fault in the order in which the lesson lists them, are right."""
    listed = "AECFBD"
    if len(letters) != len(listed):
        raise ValueError(f"{letters!r} has {len(letters)} letters, not one for each of the {len(listed)} faults")
    return sum(letter == right for letter, right in zip(letters.upper(), listed, strict=True))


def through_gelu(self, x):
    """The gate goes through GELU, not SiLU."""
    return self.linear_out(F.gelu(self.linear_gate(x)) * self.linear_in(x))


def without_gate(self, x):
    """SiLU, but no gate."""
    return self.linear_out(F.silu(self.linear_in(x)))


def without_end(self, length):
    """The answer's tokens; the model's <|im_end|> does not end them."""
    for _ in range(length):
        self.ids.append(self.next_token())
        yield self.ids[-1]


def key_heads_in_turn(attention):
    """The query heads take the key heads in turn, 0, 1, 2, 0, 1, 2, …, as if these were copied by `repeat`."""
    numbers = range(attention.num_heads)
    order = sorted(numbers, key=lambda number: number % attention.num_key_heads)
    query, out = attention.linear_q.weight, attention.linear_out.weight
    heads = query.unflatten(0, (attention.num_heads, -1))[order]  # (heads, d_head, d_model)
    columns = out.unflatten(1, (attention.num_heads, -1))[:, order]  # (d_model, heads, d_head)
    return [
        (attention.linear_q, "weight", nn.Parameter(heads.flatten(0, 1))),
        (attention.linear_out, "weight", nn.Parameter(columns.flatten(1))),
    ]
