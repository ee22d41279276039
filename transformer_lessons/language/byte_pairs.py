"""Byte-pair encoding: a vocabulary built from a text by merging its most frequent pair of neighbours, over and over."""

import functools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from transformer_lessons.language.splitting import LETTERS, from_letters, letters, single_bytes, split_words
from transformer_lessons.language.tokenization import Vocabulary
from transformer_lessons.validation import check_sizes

Pair: TypeAlias = tuple[bytes, ...]  # two neighbours in a word; only a damaged file has merges of more


def count_pairs(words: Mapping[tuple[bytes, ...], int]) -> Counter[Pair]:
    """How often each pair of neighbours occurs. Each word is a tuple of its parts; words says how often it occurs."""
    counts = Counter()
    for word, count in words.items():
        for pair in pairwise(word):
            counts[pair] += count
    return counts


def merge(parts: Iterable[bytes], pair: Pair) -> list[bytes]:
    """The parts with this pair joined wherever it occurs, from left to right."""
    merged = []
    for part in parts:
        if merged and (merged[-1], part) == pair:
            merged[-1] += part
        else:
            merged.append(part)
    return merged


def train_bpe(words: Mapping[tuple[bytes, ...], int], number: int) -> list[Pair]:
    """The pairs to merge, in order: most frequent first, ties to the larger pair. Recounts words that held a pair."""
    counts, parts, times = count_pairs(words), [list(word) for word in words], list(words.values())
    holders: defaultdict[Pair, set[int]] = defaultdict(set)  # where in parts each pair occurs
    merges: list[Pair] = []
    for place, pair in ((place, pair) for place, word in enumerate(parts) for pair in pairwise(word)):
        holders[pair].add(place)
    while len(merges) < number and (most := max(counts.values(), default=0)) > 0:
        merges.append(max(pair for pair, count in counts.items() if count == most))
        for place in holders.pop(merges[-1]):
            for pair in pairwise(parts[place]):
                counts[pair] -= times[place]
            parts[place] = merge(parts[place], merges[-1])
            for pair in pairwise(parts[place]):
                counts[pair] += times[place]
                holders[pair].add(place)
    return merges


def apply_merges(parts: Sequence[bytes], ranks: Mapping[Pair, int]) -> list[bytes]:
    """The parts after all possible merges, always merging the pair with the lowest rank first."""
    while pair := min((pair for pair in pairwise(parts) if pair in ranks), key=ranks.__getitem__, default=None):
        parts = merge(parts, pair)
    return list(parts)


class BytePairs(Vocabulary):
    """Ids for bytes, then merges, then special tokens. Its pieces are strings: "t h" is a merge, in GPT-2's letters."""

    def __init__(self, pieces: Collection[str]) -> None:
        self.pieces, self.special = list(pieces), [piece for piece in pieces if " " not in piece]
        merges = [tuple(map(from_letters, piece.split(" "))) for piece in self.pieces if " " in piece]
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        tokens = [*map(from_letters, LETTERS.values()), *map(b"".join, merges)]
        self.ids = {token: number for number, token in enumerate(tokens)}
        self.ids |= {token: number for number, token in enumerate(self.special, len(tokens))}
        self.tokens = tokens + [token.encode() for token in self.special]
        self.spell = functools.cache(lambda word: [self.ids[x] for x in apply_merges(single_bytes(word), self.ranks)])

    @classmethod
    def of_text(cls, text: str, size: int, special: Collection[str] = ()) -> "BytePairs":
        """From the commonest merges of a text, none of them across a special token: at most size ids in all."""
        check_sizes(256 + len(special), size=size)
        counts = Counter(word for word in split_words(text, special) if word not in special)
        words = {tuple(single_bytes(word)): count for word, count in counts.items()}
        merges = train_bpe(words, size - 256 - len(special))
        return cls([" ".join(map(letters, pair)) for pair in merges] + [*special])

    def cut(self, text: str) -> list[str]:
        return split_words(text, self.special)
