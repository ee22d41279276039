"""What the theorems share: sizes that are pairwise different, weights of unit scale, and equality to 1e-10.

With two equal sizes, a wrong axis goes unnoticed; with a bias of 0 or a gain of 1, so does its loss.
"""

import torch
from hypothesis import HealthCheck, settings
from torch import nn

from transformer_lessons.models import Config, LanguageModel

LAYERS, HEADS, BATCH, LENGTH, D_HEAD, SOURCE, D_VALUE, MAX_LENGTH, D_HIDDEN = range(2, 11)
WORDS, TARGET_WORDS, D_MODEL = 11, 13, HEADS * D_HEAD
PAD = 3
SIZES = {
    "d_model": D_MODEL,
    "num_heads": HEADS,
    "d_hidden": D_HIDDEN,
    "num_layers": LAYERS,
    "max_length": MAX_LENGTH,
}

# Hypothesis draws the same examples on every machine, and the fixture that sets float64 may serve them all.
drawn = settings(
    derandomize=True,
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def assert_same(actual, expected, tolerance=1e-10):
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)


@torch.no_grad()
def unit_scale(module):
    """Draw every parameter anew: matrices keep the scale of what they multiply, all else has variance 1."""
    for part in module.modules():
        for parameter in part.parameters(recurse=False):
            matrix = isinstance(part, nn.Linear) and parameter.dim() == 2
            parameter.normal_(std=parameter.shape[1] ** -0.5 if matrix else 1.0)
    return module


def language_model(*sizes, **changes):
    return LanguageModel(Config(*sizes, **changes))


def draw_tokens(batch=BATCH, length=LENGTH, words=WORDS):
    """Random tokens, none of them padding."""
    tokens = torch.randint(words - 1, (batch, length))
    return tokens + (tokens >= PAD)


def gradients(output, inputs):
    """The gradients of a random projection of the output, in which nothing is left out or cancels out."""
    direction = torch.randn(output.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    return torch.autograd.grad((output * direction.to(output.dtype)).sum(), inputs, allow_unused=True)


class Vectors:
    """Catches what a model embeds, cut off from the tables: `with Vectors(model.embedding) as vectors: …`."""

    def __init__(self, embedding):
        self.embedding, self.caught = embedding, []

    def __enter__(self):
        self.handle = self.embedding.register_forward_hook(self.catch)
        return self.caught

    def __exit__(self, *error):
        self.handle.remove()

    def catch(self, module, inputs, output):
        self.caught.append(output.detach().requires_grad_())
        return self.caught[-1]


class Halve(nn.Module):
    """Stands where a dropout stood, and shows where that is."""

    def forward(self, x):
        return x / 2


class Memory:
    """The simplest cache: it keeps every key and value, one after another."""

    def __init__(self):
        self.length, self.kept = 0, {}

    def extend(self, attention, *new):
        old = self.kept.get(attention, [tensor[:, :, :0] for tensor in new])
        self.kept[attention] = [torch.cat(pair, dim=2) for pair in zip(old, new, strict=True)]
        return self.kept[attention]


# --- the weights of ours, in PyTorch's modules --------------------------------------------------------------


def pytorch_attention(ours):
    theirs = nn.MultiheadAttention(ours.d_model, ours.num_heads, batch_first=True)
    copy_attention(theirs, ours)
    return theirs.eval()


@torch.no_grad()
def copy_attention(theirs, ours):
    projections = [ours.linear_q, ours.linear_k, ours.linear_v]
    theirs.in_proj_weight.copy_(torch.cat([linear.weight for linear in projections]))
    theirs.in_proj_bias.copy_(torch.cat([linear.bias for linear in projections]))
    theirs.out_proj.load_state_dict(ours.linear_out.state_dict())


def copy_encoder_layer(theirs, ours):
    copy_attention(theirs.self_attn, ours.attention)
    copy_rest(theirs, ours, 2)


def copy_decoder_layer(theirs, ours):
    copy_attention(theirs.self_attn, ours.self_attention)
    copy_attention(theirs.multihead_attn, ours.cross_attention)
    copy_rest(theirs, ours, 3)


def copy_rest(theirs, ours, norms):
    theirs.linear1.load_state_dict(ours.feed_forward.linear_in.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.linear_out.state_dict())
    for number in range(1, norms + 1):
        norm = getattr(ours, f"norm_{number}")
        getattr(theirs, f"norm{number}").load_state_dict(norm.state_dict())
