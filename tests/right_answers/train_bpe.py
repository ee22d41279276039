"""Right answers to train_bpe, each in a style of its own."""

from collections import Counter
from itertools import pairwise

from transformer_lessons.exercises.catalogue.train_bpe import exercise
from transformer_lessons.language import byte_pairs

exercise.right("the package's: only changed words are counted again")(byte_pairs.train_bpe)


@exercise.right("sorted, and the last")
def sorted_and_the_last(words, number):
    merges = []
    for _ in range(number):
        counts = sorted((count, pair) for pair, count in byte_pairs.count_pairs(words).items())
        if not counts:
            break
        merges.append(counts[-1][1])
        words = {tuple(byte_pairs.merge(word, merges[-1])): count for word, count in words.items()}
    return merges


@exercise.right("the most frequent, then the largest of them")
def in_two_steps(words, number):
    texts, merges = [[*word] for word, count in words.items() for _ in range(count)], []
    while len(merges) < number:
        counts = Counter(pair for parts in texts for pair in pairwise(parts))
        if not counts:
            return merges
        most = counts.most_common(1)[0][1]
        merges += [max(pair for pair in counts if counts[pair] == most)]
        texts = [byte_pairs.merge(parts, merges[-1]) for parts in texts]
    return merges


@exercise.right("recursively")
def recursively(words, number):
    counts = byte_pairs.count_pairs(words)
    if number == 0 or not counts:
        return []
    first = max(counts.items(), key=lambda item: item[::-1])[0]
    return [first, *recursively({tuple(byte_pairs.merge(word, first)): n for word, n in words.items()}, number - 1)]
