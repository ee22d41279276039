"""How the inputs of `logit_lens` are drawn, and which of its stages are right."""

import torch
from torch import nn

from transformer_lessons.exercises.checker.setup import Setup, normal
from transformer_lessons.inspection import experiments


def draw(generator, stages, batch, length, d_model, vocabulary, epsilon=1e-5, first=1.0):
    """A residual stream that grows from stage to stage, a norm with gain and bias, and a table (vocabulary, d_model).

    The mean of a vector is not 0, and first scales the stage before the layers: where that is small, as in GPT-2,
    epsilon makes a visible difference.
    """
    added = normal(generator, stages, batch, length, d_model) + 0.7 * normal(generator, stages, batch, length, 1)
    scale = torch.tensor([first, *(1.5**stage for stage in range(1, stages))], dtype=torch.float64)
    residuals = (scale[:, None, None, None] * added).cumsum(dim=0)
    norm = nn.LayerNorm(d_model, eps=epsilon, dtype=torch.float64)
    with torch.no_grad():
        norm.weight.copy_(1.5 + normal(generator, d_model))
        norm.bias.copy_(normal(generator, d_model))
    return residuals, norm.eval(), normal(generator, vocabulary, d_model)


def what_fits(observed, expected, residuals, norm, unembedding):
    """Which stages are right, where some are and others are not."""
    same = [torch.allclose(*pair, atol=1e-4) for pair in zip(observed.double(), expected, strict=True)]
    right = [str(stage) for stage, fits in enumerate(same) if fits]
    are = f"{', '.join(right)} {'are' if len(right) > 1 else 'is'} right."
    return f"Of stages 0 to {len(same) - 1}, only {are}" if any(same) and not all(same) else None


setup = Setup(
    sizes=[
        {"stages": 2, "batch": 1, "length": 2, "d_model": 3, "vocabulary": 4},
        {"stages": 3, "batch": 2, "length": 4, "d_model": 6, "vocabulary": 5},
        {"stages": 4, "batch": 3, "length": 2, "d_model": 5, "vocabulary": 7, "epsilon": 1e-3, "first": 0.02},
        {"stages": 3, "batch": 2, "length": 5, "d_model": 6, "vocabulary": 6},
        {"stages": 4, "batch": 4, "length": 4, "d_model": 4, "vocabulary": 4},
        {"stages": 5, "batch": 1, "length": 3, "d_model": 8, "vocabulary": 9, "first": 0.003},
    ],
    draw=draw,
    reference=experiments.logit_lens,
    returns="logits",
    shapes={"logits": "(stages, batch, length, vocabulary)"},
    symptoms=[what_fits],
    names_steps=False,
)
