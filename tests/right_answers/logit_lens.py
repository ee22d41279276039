"""Right answers to logit_lens, each in a style of its own."""

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons.exercises.catalogue.logit_lens import exercise


@exercise.right("stage by stage")
def stage_by_stage(residuals, norm, unembedding):
    return torch.stack([norm(stage) @ unembedding.mT for stage in residuals])


@exercise.right("the norm by hand")
def by_hand(residuals, norm, unembedding):
    centred = residuals - residuals.mean(-1, keepdim=True)
    normed = centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + norm.eps)
    return torch.einsum("sbld,vd->sblv", normed * norm.weight + norm.bias, unembedding)


@exercise.right("with layers of nn")
def with_layers(residuals, norm, unembedding):
    vocabulary, d_model = unembedding.shape
    linear = nn.Linear(d_model, vocabulary, bias=False, dtype=unembedding.dtype)
    linear.load_state_dict({"weight": unembedding})
    return nn.Sequential(norm, linear)(residuals).detach()


@exercise.right("vector by vector")
def vector_by_vector(residuals, norm, unembedding):
    logits = torch.empty(*residuals.shape[:-1], len(unembedding))  # float32, where the stream is float64
    for s, b, t in torch.cartesian_prod(*(torch.arange(size) for size in residuals.shape[:-1])).tolist():
        vector = F.layer_norm(residuals[s, b, t], norm.normalized_shape, norm.weight, norm.bias, norm.eps)
        logits[s, b, t] = unembedding @ vector
    return logits


@exercise.right("gain and bias folded into the table")
def folded(residuals, norm, unembedding):
    plain = F.layer_norm(residuals, residuals.shape[-1:], eps=norm.eps)
    return plain @ (unembedding * norm.weight).T + unembedding @ norm.bias
