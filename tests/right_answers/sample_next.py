"""Right answers to sample_next, each in a style of its own."""

import itertools
import math

import numpy as np
import torch

from transformer_lessons.exercises.catalogue.sample_next import among_largest, exercise
from transformer_lessons.language import sampling


@exercise.right("the package's own")
def the_packages_own(logits, temperature, top_k, generator):
    return sampling.sample_next(logits, temperature, top_k, generator)


@exercise.right("with a threshold")
def with_a_threshold(logits, temperature, top_k, generator):
    if temperature == 0:
        return torch.argmax(logits, -1)
    logits = logits / temperature
    if top_k is not None:
        smallest = torch.topk(logits, top_k).values[:, [-1]]
        logits[logits < smallest] = -float("inf")
    return torch.multinomial(torch.softmax(logits, -1), num_samples=1, generator=generator).squeeze(-1)


@exercise.right("among the k, then their ids")
def among_the_k(logits, temperature, top_k, generator):
    values, ids = logits.sort(descending=True)
    if temperature == 0:
        return ids[:, 0]
    places = torch.multinomial((values[:, :top_k] / temperature).softmax(-1), 1, generator=generator)
    return ids.gather(-1, places).flatten()


@exercise.right("the top k after the softmax, renormalised by multinomial")
def top_k_after_softmax(logits, temperature, top_k, generator):
    probabilities = (logits / max(temperature, 1e-5)).softmax(-1)
    if top_k:
        probabilities = probabilities * among_largest(probabilities, top_k)
    return torch.multinomial(probabilities, 1, generator=generator).view(-1)


@exercise.right("by noise: Gumbel's way")
def by_noise(logits, temperature, top_k, generator):
    noise = -torch.log(-torch.log(torch.rand(logits.shape, generator=generator, dtype=logits.dtype)))
    allowed = among_largest(logits, top_k or logits.shape[-1])
    return torch.where(allowed, logits + temperature * noise, -torch.inf).argmax(dim=1)


@exercise.right("by exponential races")
def by_races(logits, temperature, top_k, generator):
    if not temperature:
        return logits.max(dim=1).indices
    allowed = among_largest(logits, logits.size(1) if top_k is None else top_k)
    weights = (logits / temperature).softmax(1) * allowed
    return (torch.empty_like(weights).exponential_(generator=generator) / weights).argmin(1)


@exercise.right("by the cumulative sum")
def by_cumulative_sum(logits, temperature, top_k, generator):
    if temperature == 0:
        return logits.argmax(-1)
    order = logits.argsort(dim=-1, descending=True)
    ranked = (logits.gather(1, order) / temperature).softmax(-1)[:, :top_k].cumsum(-1)
    dice = torch.rand(len(logits), 1, generator=generator, dtype=logits.dtype) * ranked[:, -1:]
    return order.gather(1, torch.searchsorted(ranked, dice).clamp(max=ranked.shape[1] - 1))[:, 0]


@exercise.right("row by row, in plain Python")
def row_by_row(logits, temperature, top_k, generator):
    tokens = []
    for row in logits.tolist():
        ids = sorted(range(len(row)), key=lambda token: -row[token])[:top_k]
        if temperature > 0:
            weights = [math.exp((row[token] - row[ids[0]]) / temperature) for token in ids]
            dice = torch.rand((), generator=generator).item() * sum(weights)
            ids = itertools.compress(ids, [upto >= dice for upto in itertools.accumulate(weights)])
        tokens.append(next(iter(ids)))
    return torch.tensor(tokens)


@exercise.right("in NumPy, seeded by the generator")
def draws_in_numpy(logits, temperature, top_k, generator):
    dice = np.random.default_rng(int(torch.randint(2**62, (1,), generator=generator)))
    ids = np.argsort(-logits.numpy(), axis=1)[:, :top_k]
    ranked = np.take_along_axis(logits.numpy(), ids, axis=1).astype(np.float64)
    weights = np.exp((ranked - ranked[:, :1]) / (temperature or 1e-6)).cumsum(axis=1)
    places = (weights < dice.random((len(ids), 1)) * weights[:, -1:]).sum(axis=1)
    return torch.from_numpy(ids[np.arange(len(ids)), places])
