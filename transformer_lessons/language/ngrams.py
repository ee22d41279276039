"""Language models made by counting: what has followed what, and how often. A baseline for learned models."""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from transformer_lessons.validation import check_sizes

Ids: TypeAlias = Sequence[int] | np.ndarray
Table: TypeAlias = tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]  # see Counts.table


class Counts:
    """How likely is each token, given the order - 1 tokens before it? (Interpolated, with Witten-Bell smoothing.)

    Order 1 is the unigram model, order 2 the bigram model. A context seen n times, with t different tokens
    after it, casts n votes for the tokens that followed it; the context shorter by one token casts t votes: the
    more varied the tokens that followed, the likelier a new one. Below the shortest context, all tokens are
    equally likely, so none is impossible.
    """

    def __init__(self, ids: Ids, order: int, vocabulary_size: int) -> None:
        check_sizes(order=order, vocabulary_size=vocabulary_size, tokens=len(ids))
        if vocabulary_size**order >= 2**63:
            raise ValueError(f"order={order} is too high for {vocabulary_size} different tokens")
        self.order, self.size = order, vocabulary_size
        self.tables = [self.table(runs) for runs in self.runs(self.checked(ids))]

    def checked(self, ids: Ids) -> np.ndarray:
        numbers = np.asarray(ids, dtype=np.int64)
        if numbers.ndim != 1 or not ((numbers >= 0) & (numbers < self.size)).all():
            raise ValueError(f"the ids {numbers.shape} must be one row of numbers from 0 to {self.size - 1}")
        return numbers

    def runs(self, ids: np.ndarray) -> Iterator[np.ndarray]:
        """For each n up to the order, all runs of n tokens, each as one number whose digits are the tokens."""
        runs = np.zeros(len(ids) + 1, dtype=np.int64)
        for n in range(min(self.order, len(ids))):
            runs = runs[:-1] * self.size + ids[n:]
            yield runs

    def table(self, runs: np.ndarray) -> Table:
        """(runs, times seen) and (their contexts, times seen, number of different tokens after them)."""
        runs, met = np.unique(runs, return_counts=True)
        contexts, first, different = np.unique(runs // self.size, return_index=True, return_counts=True)
        return (runs, met), (contexts, np.add.reduceat(met, first), different)

    def probabilities(self, ids: Ids) -> np.ndarray:
        """The probability of each token of a text, given the tokens before it."""
        ids = self.checked(ids)
        p = np.full(len(ids), 1 / self.size)
        for n, (runs, table) in enumerate(zip(self.runs(ids), self.tables, strict=False)):
            p[n:] = self.vote(runs, table, p[n:])
        return p

    def next(self, ids: Ids) -> np.ndarray:
        """The probability of every possible token after these."""
        ids, p = self.checked(ids), np.full(self.size, 1 / self.size)
        for n, table in enumerate(self.tables[: len(ids) + 1]):
            context = sum(token * self.size**place for place, token in enumerate(ids[::-1][:n].tolist()))
            p = self.vote(context * self.size + np.arange(self.size), table, p)
        return p

    def vote(self, runs: np.ndarray, table: Table, shorter: np.ndarray) -> np.ndarray:
        """The probability of each run's last token, from the votes of its context and of the shorter ones."""
        (known, met), (contexts, times, different) = table
        n, t = (look_up(runs // self.size, contexts, numbers) for numbers in (times, different))
        return (look_up(runs, known, met) + np.maximum(t, 1) * shorter) / np.maximum(n + t, 1)


def look_up(wanted: np.ndarray, keys: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The number for each wanted key; 0 where there is no such key."""
    places = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    return np.where(keys[places] == wanted, numbers[places], 0)
