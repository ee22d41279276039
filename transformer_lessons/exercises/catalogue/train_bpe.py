"""How the inputs of `train_bpe` are drawn, and what the merges show of how they were chosen."""

from transformer_lessons.exercises.catalogue.byte_parts import letters, spelled
from transformer_lessons.exercises.catalogue.plain_results import equal
from transformer_lessons.exercises.checker.setup import Setup, integers
from transformer_lessons.language import byte_pairs


def draw(generator, words, number, random=0):
    """Words of single bytes, from templates with counts, or random ones.

    s to z are letters in alphabetical order, ^ and ~ larger bytes.
    """
    drawn = sorted(map(ord, letters(generator, "stuvwxyz").values()))
    table = dict(zip(map(ord, "stuvwxyz^~"), [*map(chr, drawn), "\xa9", "\xc3"], strict=True))
    spell = {tuple(spelled(word, table)): count for word, count in words.items()}
    for size in integers(generator, 6, random, low=2):
        word = tuple(bytes([drawn[place]]) for place in integers(generator, 4, size))
        spell[word] = spell.get(word, 0) + int(integers(generator, 5, 1, low=1))
    return spell, number


def are_pairs(call, *inputs):
    """Whether the pairs are tuples, which can be keys of a dictionary, and are in a list."""
    merges = call(*inputs)
    if not isinstance(merges, list):
        return "a tuple for the list"
    return None if all(isinstance(pair, tuple) for pair in merges) else "pairs in lists"


def what_the_merges_show(observed, expected, words, number):
    """How many merges are right before the first that is wrong, and whether there are too few or too many."""
    if not isinstance(observed, (list, tuple)) or not all(isinstance(pair, (list, tuple)) for pair in observed):
        return None
    place = next(
        (n for n, pairs in enumerate(zip(observed, expected, strict=False)) if not equal(*pairs)),
        min(len(observed), len(expected)),
    )
    right = "The first merge is right" if place == 1 else f"The first {place} merges are right"
    sentences = (
        (
            f"You return {how_many(len(observed))}; there should be {how_many(len(expected))}.",
            not observed or not expected,
        ),
        ("Even the first merge is wrong.", place == 0),
        (f"{right}, but there should be {len(expected)}.", place == len(observed)),
        (f"{right}, but there should be no more.", place == len(expected)),
        (f"{right}; the next one is not.", True),
    )
    return next(sentence for sentence, fits in sentences if fits)


def how_many(number):
    return f"{number or 'no'} merge{'s' * (number != 1)}"


def merges_among(words, number, allowed):
    """The merges if only the pairs may be merged for which allowed(pair, count) is true."""
    merges = []
    while counts := {pair: count for pair, count in byte_pairs.count_pairs(words).items() if allowed(pair, count)}:
        if len(merges) == number:
            break
        merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
        words = {tuple(byte_pairs.merge(word, merges[-1])): count for word, count in words.items()}
    return merges


def which_limit(observed, expected, words, number):
    """The longest token, or the count up to which a pair is too rare."""
    limits = [
        *(
            ("long tokens left out", size, lambda pair, _, size=size: len(b"".join(pair)) <= size)
            for size in range(2, 33)
        ),
        *(("ended at rare pairs", few, lambda _, count, few=few: count > few) for few in range(2, 8)),
    ]
    return [(name, limit) for name, limit, allowed in limits if observed == merges_among(words, number, allowed)]


setup = Setup(
    sizes=[
        {"words": words, "number": number, **more}
        for words, number, more in (
            ({"t u": 2, "u v": 3}, 1, {}),
            ({"t u": 1, "u v": 1}, 1, {}),
            ({"t u v": 3, "v t": 3, "u v": 2}, 2, {}),
            ({"t t t t": 2, "u v": 5}, 2, {}),
            ({"t u v": 5, "v w": 4, "u v": 1}, 3, {}),
            ({"t u t u t u": 1, "v w": 2, "s": 9}, 2, {}),
            ({"t u": 3}, 4, {}),
            ({"t u v w": 1}, 9, {}),
            ({}, 3, {}),
            ({"t": 4}, 2, {}),
            ({"t u": 3}, 0, {}),
            ({"u t": 2, "v s": 2, "t z": 2}, 3, {}),
            ({"z z": 5, "t u": 5, "t z z": 3, "t u t": 3}, 4, {}),
            ({"_ t": 4, "u s": 4}, 2, {}),
            ({"z _": 9, "z _ t": 4, "z u": 4}, 3, {}),
            ({"~ t": 3, "u s": 3, "t u": 3}, 3, {}),
            ({"^ t": 3, "~ t": 3}, 2, {}),
            ({"t t t t t": 3, "t t": 1, "u t t": 2, "w w": 4}, 4, {}),
            ({"s t u v": 4, "t u": 3, "s t": 2, "u v u v": 2}, 6, {}),
            ({"v w x": 5, "w x y": 4, "x y v": 3, "y v w x": 2}, 7, {}),
            ({}, 12, {"random": 12}),
            ({}, 25, {"random": 15}),
            ({"t u": 3, "t x": 3, "s u": 3}, 3, {"random": 4}),
            ({"t u": 3, "u v": 2}, 1, {}),
            ({"t u": 3, "t v": 3}, 1, {}),
            ({" ".join(32 * "t"): 2, "u v": 5}, 6, {}),
        )
    ],
    draw=draw,
    reference=byte_pairs.train_bpe,
    returns="merges",
    names_steps=False,
    same=equal,
    checks=[are_pairs],
    symptoms=[what_the_merges_show],
    signs=which_limit,
)
