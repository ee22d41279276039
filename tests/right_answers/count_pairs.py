"""Right answers to count_pairs, each in a style of its own."""

from collections import Counter, OrderedDict, defaultdict
from itertools import pairwise

from transformer_lessons.exercises.catalogue.count_pairs import exercise
from transformer_lessons.language import byte_pairs

exercise.right("the package's")(byte_pairs.count_pairs)


@exercise.right("by places, with a defaultdict")
def by_places(words):
    counts = defaultdict(int)
    for word in words:
        for place in range(len(word) - 1):
            counts[word[place], word[place + 1]] += words[word]
    return counts


@exercise.right("every word as often as it occurs")
def word_by_word(words):
    text = [word for word, count in words.items() for _ in range(count)]
    return dict(Counter(pair for word in text for pair in pairwise(word)))


@exercise.right("a sum for each pair")
def a_sum_for_each(words):
    found = {pair for word in words for pair in pairwise(word)}
    return {pair: sum(count * list(pairwise(word)).count(pair) for word, count in words.items()) for pair in found}


@exercise.right("in an OrderedDict, the last word first")
def in_an_ordered_dictionary(words):
    counts = OrderedDict()
    for word in reversed(words):
        for pair in pairwise(word):
            counts[pair] = counts.setdefault(pair, 0) + words[word]
    return counts


@exercise.right("Counters added up")
def counters_added(words):
    total = Counter()
    for word, count in words.items():
        for pair, times in Counter(pairwise(word)).items():
            total += Counter({pair: times * count})
    return total
