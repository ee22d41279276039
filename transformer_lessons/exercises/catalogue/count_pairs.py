"""How the inputs of `count_pairs` are drawn, and what counts and keys show of how the pairs were counted."""

from collections.abc import Mapping

from transformer_lessons.exercises.catalogue.byte_parts import letters, spelled
from transformer_lessons.exercises.catalogue.plain_results import equal
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


def what_the_counts_show(observed, expected, words):
    """Which pairs are missing, whether there are too many, or that only the counts are wrong."""
    missing = [pair for pair in expected if pair not in observed]
    if missing:
        return f"The pair {missing[0]} occurs in the words but is not in the result."
    if observed.keys() != expected.keys():
        return "The result has a key that is not a pair of neighbours in any of the words."
    return "All the pairs are there, and no others, but not all of the counts are right."


def what_the_keys_show(observed, expected, words):
    """Another end-of-word symbol, or another number up to which pairs or words are rare."""
    if not isinstance(observed, Mapping) or not observed:
        return None
    ends = {pair[1] for pair in observed if isinstance(pair, tuple) and len(pair) == 2 and pair not in expected}
    ended = ({(*word, end): count for word, count in words.items()} for end in ends if len(ends) == 1)
    if any(observed == byte_pairs.count_pairs(one) for one in ended):
        return ["an end-of-word symbol"]
    for few in (*expected.values(), *words.values()):
        pairs, frequent = ({key: n for key, n in counts.items() if n > few} for counts in (expected, words))
        if observed in (pairs, byte_pairs.count_pairs(frequent)):
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
    draw=draw_words,
    reference=lambda words: dict(byte_pairs.count_pairs(words)),
    returns="counts",
    names_steps=False,
    same=equal,
    symptoms=[what_the_counts_show],
    signs=what_the_keys_show,
)
