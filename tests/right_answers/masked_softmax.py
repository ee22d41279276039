"""Right answers to masked_softmax, each in a style of its own."""

import numpy as np
import torch
import torch.nn.functional as F

from transformer_lessons.exercises.catalogue.masked_softmax import exercise


@exercise.right("NaN to 0")
def nan_to_zero(scores, mask):
    return torch.where(mask, scores, -torch.inf).softmax(-1).nan_to_num(0.0)


@exercise.right("a large number, and a mask after it")
def large_number(scores, mask):
    return F.softmax(scores + (~mask) * -1e9, dim=-1) * mask


@exercise.right("by hand, with the largest score subtracted")
def by_hand(scores, mask):
    hidden = torch.where(mask, scores, -1e9)
    exponentials = (hidden - hidden.amax(dim=-1, keepdim=True)).exp() * mask
    total = exponentials.sum(dim=-1, keepdim=True)
    return exponentials / torch.where(total > 0, total, torch.ones_like(total))


@exercise.right("row by row, only the allowed scores")
def row_by_row(scores, mask):
    weights = torch.zeros_like(scores)
    for place in np.ndindex(*scores.shape[:-1]):
        allowed = mask.expand(scores.shape)[place]
        if allowed.any():
            weights[place][allowed] = scores[place][allowed].softmax(0)
    return weights


@exercise.right("divided by the total, where there is one")
def total_of_zero(scores, mask):
    hidden = scores.masked_fill(~mask, -1e9)
    exponentials = (hidden - hidden.amax(dim=-1, keepdim=True)).exp() * mask
    total = exponentials.sum(dim=-1, keepdim=True)
    return torch.where(total > 0, exponentials / total, 0.0)


@exercise.right("in the logarithm")
def in_the_logarithm(scores, mask):
    some = mask.any(-1, keepdim=True)
    logs = torch.where(mask | ~some, scores, -torch.inf)
    return (logs - logs.logsumexp(-1, keepdim=True)).exp() * some
