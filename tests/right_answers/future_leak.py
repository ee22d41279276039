"""Right answers to future_leak, each in a style of its own."""

import numpy as np
import torch

from transformer_lessons.exercises.catalogue.future_leak import another, exercise


@exercise.right("by every token that there is")
def by_every_token(model, tokens):
    before, largest = model(tokens).detach(), 0.0
    for place in range(tokens.shape[1]):
        for token in tokens.unique().tolist():
            changed = torch.cat([tokens[:, :place], torch.full_like(tokens[:, place:], token)], dim=1)
            difference = (model(changed).detach() - before)[:, :place]
            largest = max([largest, *difference.abs().flatten().tolist()])
    return largest


@exercise.right("all the changes in one batch")
def in_one_batch(model, tokens):
    batch, length = tokens.shape
    later = torch.ones(length, length, dtype=torch.bool).triu(1)  # (position, token)
    variants = torch.where(later[:, None], another(tokens), tokens).reshape(length * batch, length)
    outputs = model(variants).reshape(length, batch, length, -1)
    difference = outputs[range(length), :, range(length)] - model(tokens).transpose(0, 1)
    return np.abs(difference.detach().numpy()).max()


@exercise.right("neither of the two is the original")
def neither_the_original(model, tokens):
    leaks = []
    for place in range(1, tokens.shape[1]):
        one, other = tokens.clone(), tokens.clone()
        one[:, place:], other[:, place:] = 0, 1
        leaks.append((model(one)[:, :place] - model(other)[:, :place]).abs().amax().item())
    return max(leaks)
