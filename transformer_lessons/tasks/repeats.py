"""Repeated blocks of random tokens: the next token can only be predicted by looking back."""

import torch

from transformer_lessons.validation import check_sizes


def repeated_blocks(number, length, vocabulary_size, shortest, longest, generator=None):
    """Rows that each repeat a random block of different tokens, and the period of each row.

    The period, the length of a row's block, is drawn for each row, from shortest to longest. If it were always
    the same, the answer would always be the same distance back, and there would be no need to search for it.
    """
    check_sizes(2, shortest=shortest)
    check_sizes(number=number, length=length, longest=longest, vocabulary_size=vocabulary_size)
    if not shortest <= longest <= vocabulary_size:
        raise ValueError(
            f"shortest={shortest} must not exceed longest={longest}, and longest "
            f"must not exceed vocabulary_size={vocabulary_size}: the tokens of a block all differ"
        )
    period = torch.randint(shortest, longest + 1, (number,), generator=generator)  # (number)
    order = torch.rand(number, vocabulary_size, generator=generator).argsort(dim=1)  # (number, vocabulary)
    places = torch.arange(length) % period[:, None]  # (number, length)
    return order.gather(1, places), period  # (number, length), (number)


def repeats_a_token(length, period):
    """Which positions of such rows hold a token seen before: from there on, the next token is predictable."""
    return torch.arange(length) >= period[:, None]  # (number, length)
