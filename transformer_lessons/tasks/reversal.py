"""The reversal task: small enough to train in seconds, and impossible without looking at the right place."""

import torch

from transformer_lessons.validation import check_sizes

START = 0  # the token that every target of reversal_pairs begins with; no source contains it


def reversal_sequences(number, half, vocabulary_size, generator=None):
    """For a causal model: a random half, then the same half backwards."""
    check_sizes(number=number, half=half, vocabulary_size=vocabulary_size)
    first = torch.randint(vocabulary_size, (number, half), generator=generator)  # (number, half)
    return torch.cat([first, first.flip(1)], dim=1)  # (number, 2 * half)


def reversal_pairs(number, length, vocabulary_size, generator=None):
    """For an encoder-decoder: a random source of ids from 1 up; the target is START, then the source reversed."""
    check_sizes(number=number, length=length)
    check_sizes(2, vocabulary_size=vocabulary_size)
    source = torch.randint(1, vocabulary_size, (number, length), generator=generator)  # (number, length)
    start = torch.full((number, 1), START)  # (number, 1)
    return source, torch.cat([start, source.flip(1)], dim=1)  # (number, length), (number, length + 1)
