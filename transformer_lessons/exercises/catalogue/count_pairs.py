"""count_pairs, of lesson 9: how often each pair of neighbours occurs in a text, counted word by word."""

from collections.abc import Mapping

from transformer_lessons.exercises.catalogue.merge import letters, spelled
from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.setup import Setup, integers
from transformer_lessons.language import byte_pairs


def draw_words(generator, words, high=False, falling=False, rare=False):
    """Words from their templates, each with a count. Unless rare, no count is 1, or the sum of two others.

    From word to word the counts rise or stay the same; if falling, each is lower than the one before.
    """
    table = letters(generator, "rstuvwxyz", high)
    steps = integers(generator, 3, len(words), low=int(falling))
    counts = (2 ** (2 + steps.cumsum(0)) + 5 * integers(generator, 3, 1)).tolist()
    counts = counts[::-1] if falling else [1, 2, 7, 1][: len(words)] if rare else counts
    return {tuple(spelled(word, table)): count for word, count in zip(words, counts, strict=True)}


def draw(generator, words, **more):
    return (draw_words(generator, words, **more),)


def same_counts(one, other):
    """Any kind of dictionary will do; a pair that does not occur must not be in it."""
    both = isinstance(one, Mapping) and isinstance(other, Mapping)
    return (both or type(one) is type(other)) and alike(one, other, 0)


def what_the_counts_show(observed, expected, words):
    """Which pairs are missing, whether there are too many, or that only the counts are wrong."""
    if not isinstance(observed, Mapping):
        return None
    for pair in expected:
        if pair not in observed:
            return f"The pair {pair} occurs in the words but is not in the result."
    for pair in observed:
        if pair not in expected:
            return "The result has a key that is not a pair of neighbours in any of the words."
    return "All the pairs are there, and no others, but not all of the counts are right."


def what_the_keys_show(observed, expected, words):
    """Another end-of-word symbol, or another number up to which pairs or words are rare."""
    if not isinstance(observed, Mapping) or not observed:
        return None
    ends = {pair[1] for pair in observed if isinstance(pair, tuple) and len(pair) == 2 and pair not in expected}
    for end in ends if len(ends) == 1 else ():
        if observed == byte_pairs.count_pairs({(*word, end): count for word, count in words.items()}):
            return ["an end-of-word symbol"]
    for few in (*expected.values(), *words.values()):
        frequent = {word: count for word, count in words.items() if count > few}
        if observed in (
            {pair: count for pair, count in expected.items() if count > few},
            byte_pairs.count_pairs(frequent),
        ):
            return ["rare pairs left out"]
    return []


setup = Setup(
    sizes=[
        {"words": words}
        for words in (
            ["x y"],
            ["x x x"],
            ["x y z", "y x"],
            ["x y x y", "x y"],
            ["x x x x x", "y x x", "x"],
            ["x"],
            [],
            ["x y z w", "w x", "z w v", "u"],
            ["xy z xy z", "x yz", "x y z", "xyz"],
            ["z y x", "x z", "y z y z y"],
            ["r s t u v w x y z", "z", "y", "z y x r", "t t", "u u u u"],
            ["x y z x y", "y z", "z x y z"],
        )
    ]
    + [
        {"words": ["x y x x", "y x z"], "high": True},
        {"words": ["x y z", "x y x y", "z x y"], "falling": True},
        {"words": ["x y zx y", "zx y"]},
        {"words": ["_ x y x", "x _y _ z", "y _"]},
        {"words": ["x y z", "z w z w", "y x", "w x y"], "rare": True},
        {"words": ["x x y", "y z z x"]},
    ],
    draw=draw,
    reference=lambda words: dict(byte_pairs.count_pairs(words)),
    returns="counts",
    names_steps=False,
    same=same_counts,
    symptoms=[what_the_counts_show],
    signs=what_the_keys_show,
)
