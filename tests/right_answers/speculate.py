"""Right answers to speculate, each in a style of its own."""

import numpy as np
import torch

from transformer_lessons.exercises.catalogue.speculate import exercise, of_token
from transformer_lessons.language import sampling


@exercise.right("the package's own")
def the_packages_own(p, q, token, u):
    return sampling.speculate(p, q, token, u)


@exercise.right("row by row")
def row_by_row(p, q, token, u):
    tokens = []
    for mine, theirs, one, dice in zip(p, q, token.tolist(), u.tolist(), strict=True):
        if dice * theirs[one] >= mine[one]:
            one = int(torch.multinomial(torch.relu(mine - theirs), 1))
        tokens.append(one)
    return torch.tensor(tokens)


@exercise.right("only the rejected rows drawn")
def only_the_rejected(p, q, token, u):
    rows = torch.arange(len(token))
    rejected = u >= torch.clip(p[rows, token] / q[rows, token], max=1)
    result = token.clone()
    if rejected.any():
        left = torch.maximum(p - q, torch.zeros(()))[rejected]
        result[rejected] = torch.distributions.Categorical(left / left.sum(-1, keepdim=True)).sample()
    return result


@exercise.right("by noise")
def by_noise(p, q, token, u):
    races = torch.empty_like(p).exponential_() / (p - q).clamp(min=0)
    return torch.where(u * of_token(q, token)[:, 0] < of_token(p, token)[:, 0], token, races.argmin(dim=-1))


@exercise.right("in NumPy")
def in_numpy(p, q, token, u):
    p, q, token, u = (one.numpy() for one in (p, q, token, u))
    rows, dice = np.arange(len(token)), np.random.default_rng()
    upto = np.maximum(p - q, 0).cumsum(axis=1)
    places = (upto <= dice.random(len(rows))[:, None] * upto[:, -1:]).sum(axis=1)
    return torch.from_numpy(np.where(u < p[rows, token] / q[rows, token], token, places))
