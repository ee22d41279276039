"""Right answers to bits_per_character, each in a style of its own."""

import math
from fractions import Fraction

import numpy as np
import torch

from transformer_lessons.exercises.catalogue.bits_per_character import exercise


@exercise.right("with the logarithm of e to base two")
def with_log2_of_e(nats_per_token, tokens, characters):
    return math.log2(math.e) * nats_per_token / (characters / tokens)


@exercise.right("in NumPy")
def bits_in_numpy(nats_per_token, tokens, characters):
    return np.divide(np.multiply(nats_per_token, tokens), np.float32(characters)) / np.log(2.0)


@exercise.right("in PyTorch")
def bits_in_pytorch(nats_per_token, tokens, characters):
    return (torch.tensor(nats_per_token) * (tokens / characters) / torch.tensor(2.0).log()).item()


@exercise.right("with fractions")
def with_fractions(nats_per_token, tokens, characters):
    return float(Fraction(nats_per_token) * Fraction(tokens, characters) / Fraction(math.log(2)))


@exercise.right("by way of the probability of the text")
def by_way_of_the_probability(nats_per_token, tokens, characters):
    return -math.log2(math.exp(-nats_per_token * tokens / characters))


@exercise.right("token by token")
def token_by_token(nats_per_token, tokens, characters):
    return sum(nats_per_token for _ in range(tokens)) / characters / np.log(2)
