"""Right answers to apply_merges, each in a style of its own."""

import math
from itertools import pairwise

from transformer_lessons.exercises.catalogue.apply_merges import exercise, first_found
from transformer_lessons.language import byte_pairs

exercise.right("the package's")(byte_pairs.apply_merges)


@exercise.right("every merge of training, in order")
def in_order(parts, ranks):
    for pair in sorted(ranks, key=ranks.get):
        parts = byte_pairs.merge(parts, pair)
    return list(parts)


@exercise.right("one place at a time")
def one_place_at_a_time(parts, ranks):
    parts = parts[:]
    while True:
        known = [(ranks[two], place) for place, two in enumerate(pairwise(parts)) if two in ranks]
        if not known:
            return parts
        place = min(known)[1]
        parts[place : place + 2] = [parts[place] + parts[place + 1]]


@exercise.right("by the token, at one place at a time, as tiktoken does")
def by_tokens(parts, ranks):
    parts, tokens = list(parts), {b"".join(pair): rank for pair, rank in ranks.items()}
    while known := [(tokens[b"".join(two)], n) for n, two in enumerate(pairwise(parts)) if b"".join(two) in tokens]:
        parts = first_found(parts, min(known)[1])
    return parts


@exercise.right("a cache for each set of ranks")
def cached(parts, ranks, cache={}):  # noqa: B006
    key = (*parts, *sorted(ranks.items()))
    return list(cache.setdefault(key, byte_pairs.apply_merges(parts, ranks)))


@exercise.right("recursively")
def recursively(parts, ranks):
    best = min(pairwise(parts), key=lambda pair: ranks.get(pair, math.inf), default=None)
    return recursively(byte_pairs.merge(parts, best), ranks) if best in ranks else list(parts)


@exercise.right("with infinity for what has no rank")
def with_infinity(parts, ranks):
    while len(parts) > 1:
        pair = min(pairwise(parts), key=lambda pair: ranks.get(pair, float("inf")))
        if pair not in ranks:
            break
        parts = byte_pairs.merge(parts, pair)
    return list(parts)
