"""count_pairs, of lesson 9: how often each pair of neighbours occurs in a text, counted word by word."""

from collections import Counter
from collections.abc import Mapping
from itertools import combinations, pairwise, product

from transformer_lessons.exercises.catalogue.merge import (
    AFTER_EQUALS,
    AS_TEXT,
    LOOK_AFTER_EQUALS,
    NO_TEXT,
    after_equals_skipped,
    as_text,
    letters,
    spelled,
)
from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, integers
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


exercise = Exercise(
    name="count_pairs",
    lesson=9,
    title="Pairs of neighbours",
    difficulty=1,
    importance=3,
    minutes=8,
    contract="""
        count_pairs(words) takes a dictionary that says how often each word occurs in a text. Each word is a tuple of
        parts, and each part is a bytes object. The result is a dictionary that says how often each pair (first, second)
        of neighbouring parts occurs in the whole text. Every occurrence counts, even if two overlap: in
        (b"a", b"a", b"a") the pair (b"a", b"a") occurs twice. Parts of different words are not neighbours. A pair that
        does not occur is not in the result. words itself is not changed. Any kind of dictionary will do.
        """,
    stub='''
        def count_pairs(words):
            """How often each pair of neighbours occurs, given the count of each word."""
            raise NotImplementedError
        ''',
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
    hints=[
        (
            "which pairs there are",
            "A word of four parts has three pairs of neighbours: zip(word, word[1:]), or "
            "itertools.pairwise(word). A word of one part has none.",
        ),
        (
            "what is added",
            "words.items() gives each word with its count. If a word occurs 7 times, so does each "
            "pair in it: what should be added to the pair's count?",
        ),
        (
            "when a pair is seen for the first time",
            "collections.Counter() gives 0 for a key that it does not have. "
            "With a plain dictionary, counts.get(pair, 0) does the same.",
        ),
    ],
    solution="""
        from collections import Counter
        from itertools import pairwise


        def count_pairs(words):
            counts = Counter()
            for word, count in words.items():
                for pair in pairwise(word):
                    counts[pair] += count
            return counts""",
)


@exercise.right("step by step")
class CountPairs(Steps):
    def __call__(self, words):
        return self.handed(
            self.counted(
                [(pair, self.weight(word, count)) for word, count in self.items(words) for pair in self.pairs_of(word)]
            )
        )

    def items(self, words):
        return list(words.items())

    def pairs_of(self, word):
        return [self.key(first, second) for first, second in self.neighbours(word)]

    def neighbours(self, word):
        return list(pairwise(word))

    def key(self, first, second):
        return first, second

    def weight(self, word, count):
        return count

    def counted(self, found):
        counts = {}
        for pair, count in found:
            counts[pair] = counts.get(pair, 0) + count
        return counts

    def handed(self, counts):
        return counts


# What is added
mistake = exercise.section(hint=2)
mistake(
    "each word counted once",
    pairs=2,
    why="How often each word occurs in the text is ignored: every word counts only once.",
    look="a single word that occurs seven times: what should the counts of its pairs be?",
    weight=[lambda word: 1],
    variants=[lambda words: Counter(pair for word in words for pair in pairwise(word))],
)
mistake(
    "overlapping pairs counted once",
    why="Where a pair overlaps with itself, as (a, a) does in (a, a, a), only "
    "some of its occurrences are counted. Some programs do this; the exercise counts every one.",
    look="of three equal parts, how many neighbours does the middle one have?",
    neighbours=[lambda word: without_overlap(word), lambda word: without_repeats(word)],
)


def without_overlap(word):
    """Each pair from left to right, except where it overlaps with itself."""
    last, kept = {}, []
    for place, pair in enumerate(pairwise(word)):
        if last.get(pair) != place - 1:
            last[pair] = place
            kept.append(pair)
    return kept


def without_repeats(word):
    """Each pair, except where it is the same as the one just before it."""
    pairs = list(pairwise(word))
    return [pair for place, pair in enumerate(pairs) if not place or pair != pairs[place - 1]]


mistake(
    "the pair after two equal parts left out",
    why=AFTER_EQUALS,
    look=LOOK_AFTER_EQUALS,
    neighbours=[lambda word: after_equals_skipped(word)],
)

LIKE_A_PART = (
    "A pair is also found where its bytes are in longer parts, as when the parts of a word are joined "
    "together before the search."
)
TH_E = 'the word (b"th", b"e"): does your code find the pair (b"h", b"e") in it?'
mistake(
    "parts of parts counted",
    why=LIKE_A_PART,
    look=TH_E,
    pairs_of=[lambda word, mark=mark: in_the_text(word, pairwise(word), mark) for mark in (b" ", b"")],
    variants=[lambda words, mark=mark: in_all_texts(words, mark) for mark in (b" ", b"")],
)
mistake(
    "parts of parts counted, and overlapping pairs once",
    pairs=0,
    why=LIKE_A_PART + " And where a pair overlaps with itself, only some of its occurrences are found.",
    look=TH_E + ' And how often does `count` find b"aa" in b"aaa"?',
    pairs_of=[lambda word, mark=mark: in_the_text(word, pairwise(word), mark, apart=True) for mark in (b" ", b"")],
    variants=[lambda words, mark=mark: in_all_texts(words, mark, apart=True) for mark in (b" ", b"")],
)


def in_the_text(word, pairs, mark, apart=False):
    """Each pair as often as it is found in the joined parts; (apart) as bytes.count finds it, without overlap."""

    def times(joined, pair):
        return joined.count(pair) if apart else sum(joined.startswith(pair, place) for place in range(len(joined)))

    return [pair for pair in set(pairs) for _ in range(times(mark.join(word), mark.join(pair)))]


def in_all_texts(words, mark, apart=False):
    """Every pair that any word has, looked for in all of them."""
    pairs = {pair for word in words for pair in pairwise(word)}
    return Counter(pair for word, count in words.items() for pair in in_the_text(word, pairs, mark, apart) * count)


mistake(
    "a pair counted once a word",
    pairs=2,
    why="A pair that occurs several times in a word is counted only once for that word.",
    look="`set`, `in`, or a dictionary made from one word's pairs: what happens to a pair that comes up again?",
    pairs_of=[lambda right: list(dict.fromkeys(right))],
)
mistake(
    "repeated pairs counted again",
    pairs=0,
    why="Each time your code meets a pair that occurs several times in a "
    "word, it adds all of its occurrences again: two become four.",
    look="`count` inside the loop over pairs: how often is it called for a pair that occurs twice in a word?",
    pairs_of=lambda right: [pair for pair in right for _ in range(right.count(pair))],
)
mistake(
    "the loop over the keys alone",
    why="A loop over a dictionary gives only its keys, so each word, a tuple of "
    "parts, is unpacked instead of a word and its count: hence the error.",
    look="what does `for … in words` give, and what does `for … in words.items()` give?",
    variants=[lambda words: over_the_keys(words)],
)


def over_the_keys(words):
    counts = Counter()
    for word, count in words:
        for pair in pairwise(word):
            counts[pair] += count
    return counts


mistake(
    "the last count kept",
    why="Each new count of a pair replaces the one before it, instead of being added to it.",
    look="`=` where `+=` is needed; and what does a comprehension do with a key that comes up twice?",
    counted=[lambda found: dict(found)],
    variants=[
        lambda words: {
            pair: count * times for word, count in words.items() for pair, times in Counter(pairwise(word)).items()
        }
    ],
)
mistake(
    "the first count kept",
    why="A pair keeps the count from the first place where it was met; all later ones are ignored.",
    look="what happens to a pair that is already in the dictionary?",
    counted=[lambda found: dict(reversed(found))],
)
mistake(
    "the largest count kept",
    why="Only the largest of a pair's counts is kept; they should be added up.",
    look="`max`, and `|` between two Counters: what happens to the smaller of two counts?",
    counted=[lambda found: dict(sorted(found, key=lambda one: one[1]))],
    variants=[lambda words: largest(words), lambda words: largest(words, weighted=False)],
)


def largest(words, weighted=True):
    """The largest count that a pair has in any one word."""
    counts = Counter()
    for word, count in words.items():
        counts |= Counter({pair: times * (count if weighted else 1) for pair, times in Counter(pairwise(word)).items()})
    return counts


mistake(
    "the first place not counted",
    pairs=2,
    why="A pair's first occurrence is not counted, as when the pair is only set to 0 there.",
    look="what do you do with a pair that is not yet in the dictionary?",
    counted=[lambda found: missing_first(found, drop=False), lambda found: missing_first(found, drop=True)],
)


def missing_first(found, drop):
    counts = {}
    for pair, count in found:
        counts[pair] = counts[pair] + count if pair in counts else 0
    return {pair: count for pair, count in counts.items() if count or not drop}


mistake(
    "the first place counted twice",
    why="When a pair is first met, it is counted twice.",
    look="the line for a pair that is not yet in the dictionary, and the line after it: do both of them add the count?",
    counted=[lambda found: first_twice(found)],
)


def first_twice(found):
    counts = {}
    for pair, count in found:
        counts[pair] = counts.get(pair, count) + count
    return counts


mistake(
    "a pair that is not there yet",
    hint=3,
    why="Your code looks up a key that is not in the dictionary, such as a "
    "pair that it meets for the first time: hence the KeyError.",
    look="`counts[pair] += …`: what must the dictionary hold before anything can be added?",
    counted=[lambda found: {pair: {}[pair] for pair, _ in found}],
)
mistake(
    "the first place counted as 1",
    why="A pair starts at 1 when it is first met, whatever the word's count is.",
    look="the line for a pair that is not yet in the dictionary.",
    counted=[lambda found: first_as(found, 0)],
)


def first_as(found, more):
    counts = {}
    for pair, count in found:
        counts[pair] = counts[pair] + count if pair in counts else 1 + more * count
    return counts


mistake(
    "later places counted as 1",
    why="When a pair is met again, only 1 is added, whatever the word's count is.",
    look="the line for a pair that is already in the dictionary.",
    counted=[lambda found: later_as_1(found, 0), lambda found: later_as_1(found, 1)],
)


def later_as_1(found, more):
    counts = {}
    for pair, count in found:
        counts[pair] = counts[pair] + 1 if pair in counts else count + more
    return counts


mistake(
    "the old count added twice",
    pairs=0,
    why="When a pair is met again, its old count is added a second time.",
    look="`+=` with `get` on its right: what does each of them add?",
    counted=[lambda found: doubling(found)],
)


def doubling(found):
    counts = Counter()
    for pair, count in found:
        counts[pair] += counts[pair] + count
    return counts


mistake(
    "1 too many for each pair",
    why="Each pair's count is 1 too large, as when it starts at 1 before anything is counted.",
    look="what does `get` or `setdefault` return for a pair that has not been met yet?",
    counted=[lambda found: first_as(found, 1)],
)
mistake(
    "the number of words added",
    why="Each occurrence of a pair adds the number of words in the dictionary, not how often its own word occurs.",
    look="what is `len(words)`, and what is `words[word]`?",
    items=lambda words: [(word, len(words)) for word in words],
)
mistake(
    "shares, not counts",
    why="The counts are divided by their sum.",
    look="does the exercise ask for a division?",
    handed=[lambda counts: {pair: count / sum(counts.values()) for pair, count in counts.items()}],
)
mistake(
    "counted by the word's length",
    why="A word's count is multiplied by the length of the word, replaced by that "
    "length, or divided by the number of the word's pairs.",
    look="what is in `words[word]`?",
    weight=[
        lambda word, count: len(word),
        lambda word, count: count * len(word),
        lambda word, count: count / max(1, len(word) - 1),
    ],
)

# Which pairs
mistake = exercise.section(hint=1)
mistake(
    **AS_TEXT,
    key=[
        lambda first, second: tuple(as_text((first, second), "replace")),
        lambda first, second: tuple(as_text((first, second), "ignore")),
    ],
)
mistake(**NO_TEXT, key=[lambda first, second: tuple(as_text((first, second), "strict"))])
mistake(
    "words for the parts of a word",
    why="Words that follow each other in the dictionary are treated as pairs. A pair is two parts of one word.",
    look="what do you give to `pairwise` or `zip`: the dictionary, or one word?",
    variants=[
        lambda words: Counter(pairwise(words)),
        lambda words: Counter(dict.fromkeys(pairwise(words), sum(words.values()))),
        lambda words: {two: words[two[0]] for two in pairwise(words)},
        lambda words: {two: words[two[1]] for two in pairwise(words)},
    ],
)
mistake(
    "across the words",
    why="The words are strung together, so the last part of one word and the first part of the "
    "next are counted as neighbours.",
    look="two words of one part each: how many pairs do they have?",
    variants=[
        lambda words: in_a_row(words),
        lambda words: in_a_row(words, weighted=True),
        lambda words: in_a_row(words, repeated=True),
        lambda words: in_a_row(words, later=True),
    ],
)


def in_a_row(words, weighted=False, repeated=False, later=False):
    parts = [(part, count) for word, count in words.items() for _ in range(count if repeated else 1) for part in word]
    counts = Counter()
    for (first, count), (second, of_second) in pairwise(parts):
        counts[first, second] += of_second if later else count if weighted else 1
    return counts


mistake(
    "an end-of-word symbol",
    pairs=0,
    why="Something that is not in the word, such as an end-of-word symbol, is "
    "added at its end and counted. Some tokenizers add such a symbol; in the exercise a word has only its parts.",
    look="the last pair of each word: are both of its parts in the word that you were given?",
    neighbours=[
        *(
            lambda word, mark=mark: list(pairwise((*word, mark)))
            for mark in (b"</w>", "</w>", b"</s>", b"_", b" ", b"", None)
        ),
        lambda word: list(pairwise((*word[:-1], word[-1] + b"</w>"))),
    ],
)
mistake(
    "the end joined to the beginning",
    pairs=2,
    why="The last part of a word is counted as a neighbour of its "
    "first part, as when the word is treated as a ring or repeated several times in a row.",
    look="word[place - 1] at place 0, "
    "word[(place + 1) % len(word)], or word * count: which two parts do they make neighbours?",
    neighbours=[
        lambda word: list(zip(word, word[1:] + word[:1], strict=True)),
        lambda word, right: right and list(zip(word, word[1:] + word[:1], strict=True)),
    ],
    variants=[lambda words: Counter(pair for word, count in words.items() for pair in pairwise(word * count))],
)
mistake(
    "the last part by itself",
    pairs=0,
    why="The last part of each word is counted on its own, although no part comes after it.",
    look="word[place:place + 2] at the last place: how many parts does it hold?",
    pairs_of=[lambda right, word: [*right, word[-1:]]],
)
mistake(
    "beyond the end",
    pairs=0,
    why="At the last part of a word, your code asks for the next part, but there is none: hence the IndexError.",
    look="`word[place + 1]`: what is it when place is the last one?",
    neighbours=[lambda word: [(word[place], word[place + 1]) for place in range(len(word))]],
)
mistake(
    "the last pair left out",
    pairs=2,
    why="The last pair of each word is not counted.",
    look="a word of two parts: does it have a pair?",
    neighbours=[lambda word: list(pairwise(word[:-1]))],
)
mistake(
    "the first pair left out",
    pairs=2,
    why="The first pair of each word is not counted.",
    look="a word of two parts: does it have a pair? Where does its first pair begin?",
    neighbours=[lambda word: list(pairwise(word[1:]))],
)
mistake(
    "a place found by its value",
    pairs=0,
    why="A part's place is found by its value, as with `index`. If several "
    "parts of a word are equal, that is the place of the first, so the neighbour of the first is counted for all of "
    "them.",
    look="if a part comes up twice in a word, which of the two places does `index` give?",
    neighbours=[
        lambda word: [(part, word[word.index(part) + 1]) for part in word[:-1]],
        lambda word: [(part, word[word.index(part) + 1]) for part in word if word.index(part) + 1 < len(word)],
    ],
)
mistake(
    "only every second pair",
    why="The parts are taken two at a time, so of four parts only the first two and the "
    "last two are counted as neighbours.",
    look="does the second part have a neighbour on its right, too?",
    neighbours=[lambda word: list(pairwise(word))[::2]],
)
mistake(
    "neighbours at a distance",
    why="Each part is paired with the next but one, and the part in between is skipped.",
    look="how far apart are two neighbours?",
    neighbours=[lambda word: list(zip(word, word[2:], strict=False))],
)
mistake(
    "all pairs of a word",
    why="Parts are paired however far apart they are; only neighbours should be.",
    look="how many pairs of neighbours does a word of four parts have?",
    neighbours=[
        lambda word: list(combinations(word, 2)),
        lambda word: [(one, other) for one in word for other in word],
    ],
)
mistake(
    "rare pairs left out",
    pairs=0,
    why="Words or pairs that occur only a few times are left out, but they count too.",
    look="every `if` and every comparison: what happens to a word, or a pair, that occurs once?",
    items=[lambda right, few=few: [one for one in right if one[1] > few] for few in (1, 2, 3)],
    handed=[
        lambda counts, few=few: {pair: count for pair, count in counts.items() if count > few} for few in (1, 2, 3)
    ],
)
mistake(
    "words of two parts left out",
    why="If a word has just two parts, its pair is not counted.",
    look="how many parts must a word have to contain a pair?",
    neighbours=[lambda right: right if len(right) > 1 else []],
)
mistake(
    "the parts, not the pairs",
    why="Single parts are counted, not pairs.",
    look="the keys of the result: what is a pair?",
    variants=[
        {"pairs_of": pairs_of}
        for pairs_of in (
            lambda word: list(word),
            lambda word: [(part,) for part in word],
            lambda word: [*word[:-1]],
            lambda word: [(part,) for part in word[:-1]],
        )
    ],
)
mistake(
    "equal neighbours left out",
    why="A pair of two equal parts is not counted.",
    look='can a pair be (b"l", b"l"), as in “all”?',
    neighbours=[lambda right: [pair for pair in right if pair[0] != pair[1]]],
)
mistake(
    "the order of the two lost",
    pairs=3,
    why="(a, b) and (b, a) are counted as the same pair.",
    look="`sorted`, `set`, `min` or `frozenset`: do they keep track of which part came first?",
    key=[
        lambda first, second: tuple(sorted((first, second))),
        lambda first, second: tuple(sorted((first, second)))[::-1],
        lambda first, second: frozenset((first, second)),
    ],
)
mistake(
    "the pairs turned round",
    why="In each pair the second part comes before the first.",
    look="which of the two comes first in the word?",
    key=[lambda first, second: (second, first)],
)
mistake(
    "pairs that do not occur",
    why="The result holds pairs that are not neighbours in any word, with a count of 0.",
    look="how can a key get into the dictionary without being counted?",
    variants=[
        lambda words: with_zeros(words, product({part for word in words for part in word}, repeat=2)),
        lambda words: with_zeros(words, (pair for word in words for pair in product(word, repeat=2))),
        lambda words: with_zeros(words, (pair[::-1] for word in words for pair in pairwise(word))),
        lambda words: with_zeros(words, (pair for word in words for pair in combinations(word, 2))),
    ],
)


def with_zeros(words, pairs):
    return dict.fromkeys(pairs, 0) | dict(byte_pairs.count_pairs(words))


mistake(
    "parts cut into bytes",
    why="The parts are cut into single bytes, and pairs of bytes are counted. The pairs "
    "should be pairs of parts, and a part may have several bytes.",
    look='the word (b"th", b"e"): which pair does it have?',
    neighbours=[lambda word: list(pairwise(bytes([byte]) for byte in b"".join(word)))],
)
mistake(
    "cut at the spaces",
    pairs=0,
    why="The parts are joined with spaces, and the result is split at its spaces. "
    'But a space may belong to the word itself: the part b" " is then lost, or b" t" is cut.',
    look="a word that begins with a space, as in GPT-2's vocabulary: how many parts does `split` make?",
    neighbours=[
        lambda word: list(pairwise(b" ".join(word).split())),
        lambda word: list(pairwise(b" ".join(word).split(b" "))),
    ],
)

# What is returned
mistake = exercise.section(hint=3)
mistake(
    "the pairs joined",
    why='Each key is the two parts joined together; it should be the pair itself. (b"t", '
    'b"he") and (b"th", b"e") are different pairs.',
    look="what is a key of your result?",
    key=[
        lambda first, second: first + second,
        lambda first, second: (first + second).decode("latin-1"),
        lambda first, second: b" ".join((first, second)),
    ],
)
mistake(
    "texts in the pairs",
    pairs=2,
    why="The parts in the pairs are strings or numbers; they should be bytes, as in the words.",
    look="what is done to each part before it is counted?",
    key=[
        lambda first, second: (first.decode("latin-1"), second.decode("latin-1")),
        lambda first, second: (first[0], second[0]),
        lambda first, second: (first[-1], second[0]),
    ],
)
mistake(
    "a list for the dictionary",
    why="You return the pairs and their counts in a list; the exercise asks for a dictionary.",
    look="what do `items`, `sorted` and `most_common` return, and what turns that into a dictionary?",
    handed=[
        lambda counts: list(counts.items()),
        lambda counts: Counter(counts).most_common(),
        lambda counts: sorted(counts.items()),
        lambda counts: sorted(counts.items(), key=lambda item: -item[1]),
    ],
)
mistake(
    "the counts alone",
    why="You return counts without their pairs, or pairs without their counts.",
    look="what do `values` and `keys` leave out?",
    handed=[
        lambda counts: list(counts.values()),
        lambda counts: list(counts),
        lambda counts: sum(counts.values()),
        lambda counts: set(counts),
    ],
)
mistake(
    "a dictionary for each word",
    why="Each word has a dictionary of its own; there should be one for all the words.",
    look="where is the dictionary made: before the loop over words, or inside it?",
    variants=[
        lambda words: [
            dict(Counter({pair: words[word] * n for pair, n in Counter(pairwise(word)).items()})) for word in words
        ],
        lambda words: {word: dict(Counter(pairwise(word))) for word in words},
    ],
)
mistake(
    "dictionaries in a dictionary",
    why="Each first part has a dictionary of its own; there should be a single one, whose keys are pairs.",
    look="what is a key of your dictionary, and what is a value?",
    handed=[
        lambda counts: {
            first: {second: count for (one, second), count in counts.items() if one == first} for first, _ in counts
        }
    ],
)
mistake(
    "only the last word",
    why="Only the pairs of the last word are in your result.",
    look="the indentation: where is the dictionary made, and is the loop over pairs inside the loop over words?",
    items=[lambda right: right[-1:]],
    variants=[lambda words: CountPairs()(dict([[*words.items()][-1]]))],
)
mistake(
    "only the first word",
    why="Only the pairs of the first word are in your result.",
    look="the indentation of the `return` line, and any `break`.",
    items=[lambda right: right[:1]],
    variants=[lambda words: next((CountPairs()({word: words[word]}) for word in words), None)],
)
mistake(
    "only one pair",
    why="Your result has only one pair; all the others are left out.",
    look="the indentation of the inner loop: what happens for each pair, and what happens only once?",
    counted=[lambda found: dict(found[:1]), lambda found: dict(found[-1:])],
    variants=[
        lambda words: next(({pair: count} for word, count in words.items() for pair in pairwise(word)), None),
        lambda words: {[*pairwise(word)][-1]: words[word] for word in [*words][-1:] if len(word) > 1},
        lambda words: after_both(words),
    ],
)


def after_both(words):
    """Counts after both loops, once."""
    for word, count in words.items():  # noqa: B007
        for pair in pairwise(word):  # noqa: B007
            pass
    return {pair: count}


mistake(
    "one pair of each word",
    why="Only one pair of each word is counted: the first or the last.",
    look="the "
    "indentation of the line that counts, and any `break`: does that line run once for each pair, or once for each "
    "word?",
    neighbours=[lambda right: right[-1:], lambda right: right[:1]],
    variants=[lambda words: after_the_pairs(words)],
)


def after_the_pairs(words):
    """Counts after the loop over pairs: a word without a pair counts the one before it again."""
    counts, pair = Counter(), None
    for word, count in words.items():
        for pair in pairwise(word):  # noqa: B007
            pass
        if pair:
            counts[pair] += count
    return counts
