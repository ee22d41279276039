"""Right answers to rms_norm, each in a style of its own."""

import math

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.catalogue.rms_norm import exercise


@exercise.right("PyTorch's own")
def pytorchs_own(x, gain, epsilon=1e-5):
    return F.rms_norm(x, (x.size(-1),), weight=gain, eps=epsilon)


@exercise.right("by the length of each vector")
def by_length(x, gain, epsilon=1e-5):
    return gain * x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) / x.shape[-1] + epsilon)


@exercise.right("vector by vector, with math.sqrt")
def one_by_one(x, gain, epsilon=1e-5):
    rows = [
        row / math.sqrt(sum(float(one) ** 2 for one in row) / len(row) + epsilon) * gain
        if not row.requires_grad
        else row / (row @ row / len(row) + epsilon) ** 0.5 * gain
        for row in x.reshape(-1, x.shape[-1])
    ]
    return torch.stack(rows).reshape(x.shape)


@exercise.right("variance and mean together")
def variance_and_mean(x, gain, epsilon=1e-5):
    square = x.var(-1, correction=0, keepdim=True) + x.mean(-1, keepdim=True) ** 2
    return x.div((square + epsilon).sqrt()).mul(gain)


@exercise.right("in float32, with einsum")
def in_float32(x, gain, epsilon=1e-5):
    wide = x.float()
    scale = (torch.einsum("...f,...f->...", wide, wide) / x.shape[-1] + epsilon) ** -0.5
    return torch.einsum("...f,...,f->...f", wide, scale, gain.float())
