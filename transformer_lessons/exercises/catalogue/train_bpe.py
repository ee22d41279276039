"""train_bpe, of lesson 9: which pairs to merge, and in which order, learned from the words of a text."""

from collections import Counter
from itertools import pairwise

from transformer_lessons.exercises.catalogue.merge import (
    AFTER_EQUALS,
    AT_H,
    LOOK_AFTER_EQUALS,
    NO_TEXT,
    PART_OF_A_PART,
    after_equals_skipped,
    as_text,
    from_the_right,
    in_a_text,
    letters,
    spelled,
)
from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, integers
from transformer_lessons.language import byte_pairs, splitting


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


def same_merges(one, other):
    return alike(one, other, 0)


def are_pairs(call, *inputs):
    """Whether the pairs are tuples, which can be keys of a dictionary, and are in a list."""
    merges = call(*inputs)
    if isinstance(merges, list) and all(isinstance(pair, tuple) for pair in merges):
        return None
    kind = "pairs in lists" if isinstance(merges, list) else "a tuple for the list"
    return (
        kind,
        "The merges are right, but they should be a list of tuples.",
        ("the brackets round each pair, and round the list."),
    )


def what_the_merges_show(observed, expected, words, number):
    """How many merges are right before the first that is wrong, and whether there are too few or too many."""
    if not isinstance(observed, (list, tuple)) or not all(isinstance(pair, (list, tuple)) for pair in observed):
        return None
    place = next(
        (n for n, (one, other) in enumerate(zip(observed, expected, strict=False)) if not alike(one, other, 0)),
        min(len(observed), len(expected)),
    )
    if not observed or not expected:
        return f"You return {how_many(len(observed))}; there should be {how_many(len(expected))}."
    if place == 0:
        return "Even the first merge is wrong."
    right = "The first merge is right" if place == 1 else f"The first {place} merges are right"
    if place == len(observed):
        return f"{right}, but there should be {len(expected)}."
    if place == len(expected):
        return f"{right}, but there should be no more."
    return f"{right}; the next one is not."


def how_many(number):
    return f"{number or 'no'} merge{'s' * (number != 1)}"


exercise = Exercise(
    name="train_bpe",
    lesson=9,
    title="A vocabulary grows",
    difficulty=2,
    importance=3,
    minutes=15,
    contract="""
        train_bpe(words, number) takes a dictionary that says how often each word occurs in a text. A word is a tuple of
        single bytes. Each round counts all pairs of neighbours, including overlapping ones, takes the most frequent
        pair, and merges it in every word. (Words are tuples, but `merge` takes and returns lists, so convert them.) If
        several pairs are equally frequent, it takes the one that is largest when Python compares tuples. Returns a list
        of the pairs, as tuples, in the order in which they were merged: `number` of them, or fewer if no word has two
        parts left. number may be 0. words itself is not changed.
        """,
    stub='''
        def train_bpe(words, number):
            """The first `number` pairs to merge: the most frequent first; ties go to the largest."""
            raise NotImplementedError
        ''',
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
    reference=lambda words, number: byte_pairs.train_bpe(words, number),
    returns="merges",
    names_steps=False,
    same=same_merges,
    checks=[are_pairs],
    symptoms=[what_the_merges_show],
    hints=[
        (
            "which pair is next",
            "Use max(counts, key=…) with a key that returns two things: how often the pair "
            "occurs, and then the pair itself. Tuples are compared from left to right.",
        ),
        (
            "after a merge",
            "Every word must be rewritten, with the pair merged, before you count the pairs again. "
            "merge takes and returns a list, but a word is a tuple: tuple(merge(list(word), pair)) is the new word, "
            "and its count stays the same.",
        ),
        (
            "the end",
            "When no word has two parts left, count_pairs returns an empty dictionary, so max has nothing "
            "to choose from.",
        ),
    ],
    solution="""
        from transformer_lessons.language.byte_pairs import count_pairs, merge


        def train_bpe(words, number):
            merges = []
            while len(merges) < number and (counts := count_pairs(words)):
                pair = max(counts, key=lambda pair: (counts[pair], pair))
                words = {tuple(merge(list(word), pair)): count for word, count in words.items()}
                merges.append(pair)
            return merges""",
)


@exercise.right("step by step")
class TrainBPE(Steps):
    def __call__(self, words, number):
        words, merges = self.prepared(words), []
        for round_ in range(self.rounds(number)):
            counts = self.counts(words)
            if self.ended(counts):
                break
            merges.append(self.chosen(counts, words))
            words = self.rewritten(words, merges[-1], round_)
        return self.handed(merges, words)

    def prepared(self, words):
        return [(list(word), count) for word, count in words.items()]

    def rounds(self, number):
        return number

    def counts(self, words):
        counts = Counter()
        for parts, count in words:
            for pair in self.pairs_of(parts):
                counts[pair] += self.weight(count)
        return counts

    def pairs_of(self, parts):
        return list(pairwise(parts))

    def weight(self, count):
        return count

    def ended(self, counts):
        return not counts

    def chosen(self, counts, words):
        return max(counts, key=lambda pair: (counts[pair], pair))

    def rewritten(self, words, pair, round_):
        return [(self.merged(parts, pair), count) for parts, count in words]

    def merged(self, parts, pair):
        return byte_pairs.merge(parts, pair)

    def handed(self, merges, words):
        return merges


def best(key):
    """The largest pair in another order: by key(count, pair)."""
    return lambda counts: max(counts, key=lambda pair: key(counts[pair], pair))


# Which pair is next
mistake = exercise.section(hint=1)
TIES = "if two pairs are equally frequent, which one does `max` return, and which one does the exercise ask for?"
mistake(
    "ties to the first seen",
    pairs=2,
    why="Of several equally frequent pairs, your code takes the one that it met "
    "first, which depends on the order of the words.",
    look=TIES,
    chosen=[lambda counts: max(counts, key=counts.get)],
    variants=[{"chosen": lambda counts: Counter(counts).most_common(1)[0][0]}],
)
mistake(
    "ties to the last seen",
    why="Of several equally frequent pairs, your code takes the one that it met last, "
    "which depends on the order of the words.",
    look=TIES,
    chosen=[lambda counts: max(reversed(counts), key=counts.get)],
)
mistake(
    "ties to the smallest",
    pairs=2,
    why="Of several equally frequent pairs, your code takes the smallest, not the largest.",
    look=TIES,
    chosen=[lambda counts: min(counts, key=lambda pair: (-counts[pair], pair))],
)
mistake(
    "ties to the larger token",
    why="Equally frequent pairs are compared by the tokens that they make, not part by part, as tuples are.",
    look='(b"t", b"zz") and (b"tu", b"t"): which pair is larger, and which token?',
    chosen=[
        best(lambda count, pair: (count, b"".join(pair))),
        best(lambda count, pair: (count, b"".join(pair), pair)),
        best(lambda count, pair: (count, b"".join(pair).decode(errors="replace"))),
    ],
)
mistake(
    "ties by the token's length",
    why="Equally frequent pairs are compared by the length of the tokens that they make.",
    look=TIES,
    chosen=[
        best(lambda count, pair: (count, len(b"".join(pair)), pair)),
        best(lambda count, pair: (count, -len(b"".join(pair)), pair)),
        best(lambda count, pair: (count, len(b"".join(pair)))),
    ],
)
mistake(
    "ties by the second part",
    why="Equally frequent pairs are compared by their second part first.",
    look=TIES,
    chosen=[best(lambda count, pair: (count, pair[::-1])), best(lambda count, pair: (count, pair[1]))],
)
mistake(
    "ties by the first part alone",
    why="Equally frequent pairs are compared by their first part alone; even if "
    "that is the same, the second part is ignored.",
    look=TIES,
    chosen=[best(lambda count, pair: (count, pair[0]))],
)
mistake(
    "ties with one part the wrong way round",
    why="Of several equally frequent pairs, your code prefers the larger "
    "of two first parts but the smaller of two second parts, or the other way round.",
    look="`sorted` twice, or a minus sign in the key: what does each of them do to the order of each part?",
    chosen=[
        lambda counts: sorted(
            sorted(counts, key=lambda pair: pair[1]), key=lambda pair: (counts[pair], pair[0]), reverse=True
        )[0],
        lambda counts: min(
            sorted(counts, key=lambda pair: pair[1], reverse=True), key=lambda pair: (-counts[pair], pair[0])
        ),
    ],
)
mistake(
    "ties by visible letters",
    why="Equally frequent pairs are compared by the letters that stand for the bytes in "
    "GPT-2's files. There a space is larger than any letter; as a byte it is smaller.",
    look="what does the exercise compare?",
    chosen=[best(lambda count, pair: (count, tuple(map(splitting.letters, pair))))],
)
mistake(
    **NO_TEXT,
    prepared=lambda words: [(as_text(word, "strict"), count) for word, count in words.items()],
    chosen=best(lambda count, pair: (count, as_text(pair, "strict"))),
)
mistake(
    "ties by the pair as a text",
    why="Equally frequent pairs are compared as text, or with something put between "
    "their two parts. Tuples of bytes are ordered differently.",
    look="`str`, `repr`, an f-string or `join` in the key of `max`: how does Python compare a pair without them?",
    chosen=[
        best(lambda count, pair: (count, str(pair))),
        best(lambda count, pair: (count, b" ".join(pair))),
        best(lambda count, pair: (count, *map(str, pair))),
        best(lambda count, pair: (count, f"{pair[0]} {pair[1]}")),
        best(lambda count, pair: (count, str(pair[0] + pair[1]))),
        best(lambda count, pair: (count, b",".join(pair))),
        *(
            best(lambda count, pair, errors=errors: (count, tuple(part.decode(errors=errors) for part in pair)))
            for errors in ("replace", "ignore")
        ),
    ],
)
mistake(
    "counts compared as text",
    why='The counts are compared as text, where "9" comes after "10".',
    look='`str` or an f-string in the key of `max`: is "9" smaller than "10"?',
    chosen=[
        best(lambda count, pair: (str(count), pair)),
        best(lambda count, pair: str(count)),
        best(lambda count, pair: f"{count} {pair}"),
        best(lambda count, pair: str((count, pair))),
    ],
)
mistake(
    "tied pairs merged together",
    why="All the most frequent pairs are merged in one round, but merging the first "
    "of them can change how often the others occur.",
    look="the word t, u, v: once (u, v) is merged, how often does (t, u) still occur?",
    pairs=0,
    variants=[lambda words, number: together(words, number)],
)


def together(words, number):
    merges = []
    while len(merges) < number and (counts := byte_pairs.count_pairs(words)):
        most = max(counts.values())
        for pair in sorted((pair for pair, count in counts.items() if count == most), reverse=True):
            merges.append(pair)
            words = {tuple(byte_pairs.merge(word, pair)): count for word, count in words.items()}
    return merges[:number]


mistake(
    "WordPiece's score",
    why="The pair's count is divided by the counts of its two parts. WordPiece scores pairs "
    "like this, so that pairs of rare parts are joined first; byte-pair encoding goes by the count alone.",
    look="the key of `max`: should anything be divided?",
    chosen=[
        lambda counts, words: max(counts, key=lambda pair: (score(counts, words, pair), pair)),
        lambda counts, words: max(counts, key=lambda pair: score(counts, words, pair)),
    ],
)


def score(counts, words, pair):
    single = Counter()
    for parts, count in words:
        for part in parts:
            single[part] += count
    return counts[pair] / (single[pair[0]] * single[pair[1]])


mistake(
    "the largest pair",
    why="The largest pair is taken, however often it occurs.",
    look="`max(counts)` without a key: what does it compare?",
    chosen=[lambda counts: max(counts), best(lambda count, pair: (pair, count))],
)
mistake(
    "the rarest pair",
    why="The pair that occurs least often is taken.",
    look="`min` or `max`? And what does `sorted` put first?",
    chosen=[
        lambda counts: min(counts, key=lambda pair: (counts[pair], pair)),
        lambda counts: min(counts, key=counts.get),
        lambda counts: max(counts, key=lambda pair: (-counts[pair], pair)),
    ],
)
mistake(
    "the longest token first",
    why="A pair that makes a longer token may be taken before a more frequent one.",
    look="the key of `max`: what does it compare?",
    chosen=[
        best(lambda count, pair: (len(b"".join(pair)), count, pair)),
        best(lambda count, pair: (count * len(b"".join(pair)), pair)),
    ],
)

# How pairs are counted
mistake = exercise.section(hint=2)
mistake(
    "each word counted once",
    pairs=2,
    why="How often each word occurs in the text is ignored: every word counts only once.",
    look="should a rare word count as much as a frequent one?",
    weight=lambda: 1,
)
mistake(
    "overlapping pairs counted once",
    why="Where a pair overlaps with itself, as (a, a) does in (a, a, a), only "
    "some of its occurrences are counted. Some programs do this; the exercise counts every one.",
    look="how many pairs of neighbours do four equal parts have?",
    pairs_of=lambda parts: apart(parts),
)


def apart(parts):
    last, kept = {}, []
    for place, pair in enumerate(pairwise(parts)):
        if last.get(pair) != place - 1:
            last[pair] = place
            kept.append(pair)
    return kept


mistake(
    "the pair after two equal parts left out",
    pairs=0,
    why=AFTER_EQUALS,
    look=LOOK_AFTER_EQUALS,
    pairs_of=[lambda parts: after_equals_skipped(parts)],
)
mistake(
    "a pair counted once a word",
    why="A pair that occurs several times in a word is counted only once for that word.",
    look="a `set` or a dictionary made from one word's pairs: what happens to a pair that comes up again?",
    pairs_of=lambda right: list(dict.fromkeys(right)),
)
mistake(
    "across the words",
    why="The words are strung together, so the last part of one word and the first part of the "
    "next are counted as neighbours.",
    look="may a token span two words?",
    variants=[
        lambda words, number: TrainBPE()(
            {tuple(part for word, count in words.items() for part in word * count): 1}, number
        ),
        lambda words, number: TrainBPE()({tuple(part for word in words for part in word): 1}, number),
    ],
)
mistake(
    "the last pair of a word left out",
    why="The last pair of each word is not counted.",
    look="a word of two parts: does it have a pair?",
    pairs_of=lambda right: right[:-1],
)
mistake(
    "the end joined to the beginning",
    pairs=0,
    why="The last part of a word is counted as a neighbour of its "
    "first part, as when the word is treated as a ring or repeated several times in a row.",
    look="word[place - 1] at place 0, or word[(place + 1) % len(word)]: which two parts do they make neighbours?",
    pairs_of=[
        lambda parts, right: [*right, (parts[-1], parts[0])],
        lambda parts, right: right and [*right, (parts[-1], parts[0])],
    ],
)
mistake(
    "words of two parts left out",
    why="If a word has just two parts, its pair is not counted.",
    look="how many parts must a word have to contain a pair?",
    pairs_of=lambda right: right if len(right) > 1 else [],
)
mistake(
    "the order of the two lost",
    why="(a, b) and (b, a) are counted as the same pair.",
    look="under which key is each pair counted?",
    pairs_of=lambda right: [tuple(sorted(pair)) for pair in right],
)

# What happens to the words
mistake(
    "the words at the start counted",
    pairs=2,
    why="The pairs are counted in the words as they were before the first merge, so no merge ever joins a new token.",
    look="what must happen between one merge and the next?",
    variants=[
        lambda words, number: most_common(words, number),
        {"rewritten": lambda words: words},
        lambda words, number: [pair for pair, _ in Counter(byte_pairs.count_pairs(words)).most_common(number)],
        lambda words, number: (lambda counts: sorted(counts, key=lambda pair: (-counts[pair], pair)))(
            byte_pairs.count_pairs(words)
        )[:number],
    ],
)


def most_common(words, number):
    counts = byte_pairs.count_pairs(words)
    return sorted(counts, key=lambda pair: (counts[pair], pair), reverse=True)[:number]


mistake(
    "every merge from the beginning",
    pairs=0,
    why="Each merge starts again from the original words, so the earlier merges are lost.",
    look="which words does each merge work on, and which words does it leave for the next round?",
    variants=[lambda words, number: last_alone(words, number), lambda words, number: last_alone(words, number, True)],
)


def last_alone(words, number, ended=False):
    """Each round merges in the words at the start; (ended) until a pair comes up again."""
    merges, grown = [], words
    while len(merges) < number and (counts := byte_pairs.count_pairs(grown)):
        pair = max(counts, key=lambda pair: (counts[pair], pair))
        if ended and pair in merges:
            break
        merges.append(pair)
        grown = {tuple(byte_pairs.merge(word, merges[-1])): count for word, count in words.items()}
    return merges


mistake(
    "counted before the words are rewritten",
    pairs=0,
    why="The pairs are counted again before the words are "
    "rewritten, so each round uses the counts of the round before.",
    look="the order of the lines in the loop: which words are counted for the second merge?",
    counts=[lambda self, right: one_behind(self, right)],
)


def one_behind(self, counts):
    """The counts of the round before, except in the first."""
    before = vars(self).get("counted", counts)
    vars(self).update(counted=counts)
    return before


mistake(
    "the old words kept",
    pairs=0,
    why="The merged words are added to the dictionary, but the old ones stay in it, "
    "so their pairs are counted as well.",
    look="once (t, u) has been merged, what should be left of the word t, u, v?",
    rewritten=[lambda right, words: list({tuple(parts): (parts, count) for parts, count in words + right}.values())],
    variants=[
        {
            "rewritten": lambda right, words: list(
                {tuple(parts): (parts, count) for parts, count in words + right}.values()
            ),
            "counts": lambda self, right: without_merged(self, right),
            "chosen": lambda self, right: vars(self).setdefault("done", []).append(right) or right,
        }
    ],
)


def without_merged(self, counts):
    return Counter({pair: count for pair, count in counts.items() if pair not in vars(self).get("done", ())})


mistake(
    "counts never taken away",
    pairs=3,
    why="After a merge, pairs with the new token are counted, but those that it has broken up keep their old counts.",
    look="once t, u, v has become tu, v, how often does (u, v) still occur there?",
    variants=[
        {
            "counts": lambda self, right: added_up(self, right),
            "rewritten": lambda self, right, pair: (kept(self).pop(pair), right)[1],
        },
        {"counts": lambda self, right: added_up(self, right)},
        {
            "counts": lambda self, right: added_up(
                self, {pair: count for pair, count in right.items() if not kept(self) or b"".join(self.last) in pair}
            ),
            "rewritten": lambda self, right, pair: (kept(self).pop(pair), vars(self).update(last=pair), right)[2],
        },
    ],
)

mistake(
    "new pairs found in no word",
    pairs=0,
    why="Each pair is merged only in the words that had it at the start, so "
    "merging a new pair changes nothing, as when your code never notes which words have it.",
    look="if you note which words have a pair, when must you update that?",
    variants=[lambda words, number: noted_once(words, number), lambda words, number: noted_once(words, number, False)],
)


def noted_once(words, number, dropped=True):
    """The pair that was merged is dropped from the counts, or its count is only lowered where a word has changed."""
    words, merges, counts = TrainBPE().prepared(words), [], byte_pairs.count_pairs(words)
    holders = {pair: [place for place, (parts, _) in enumerate(words) if pair in pairwise(parts)] for pair in counts}
    while len(merges) < number and (most := max(counts.values(), default=0)) > 0:
        merges.append(max(pair for pair, count in counts.items() if count == most))
        for place in holders.get(merges[-1], ()):
            parts, count = words[place]
            words[place] = byte_pairs.merge(parts, merges[-1]), count
            counts.subtract({pair: times * count for pair, times in Counter(pairwise(parts)).items()})
            counts.update({pair: times * count for pair, times in Counter(pairwise(words[place][0])).items()})
        if dropped:
            del counts[merges[-1]]
    return merges


mistake(
    "neighbours taken from before the merge",
    pairs=0,
    why="Where the pair occurs twice in a row, as in t, u, "
    "t, u, the new pair (tu, tu) is not counted, but pairs with a single t or u are, as when the counts are updated "
    "place by place with the neighbours from before the merge.",
    look="t, u, t, u after one merge: which pair is left, and which counts do you change?",
    variants=[lambda words, number: place_by_place(dict(words), number)],
)


def place_by_place(words, number):
    counts, merges = Counter(byte_pairs.count_pairs(words)), []
    while len(merges) < number and (most := max(counts.values(), default=0)) > 0:
        pair = max(pair for pair, count in counts.items() if count == most)
        merges.append(pair)
        for word, count in words.items():
            place = 0
            while place < len(word) - 1:
                found = word[place : place + 2] == pair
                for n in (place - 1, place + 1) if found else ():
                    if 0 <= n < len(word) - 1:
                        counts[word[n : n + 2]] -= count
                        new = (word[n], b"".join(pair)) if n < place else (b"".join(pair), word[n + 1])
                        counts[new] += count
                place += 1 + found
        words = {tuple(byte_pairs.merge(word, pair)): count for word, count in words.items()}
        del counts[pair]
    return merges


def kept(self):
    """The counts of all rounds, in one Counter."""
    return vars(self).setdefault("kept", Counter())


def added_up(self, counts):
    kept(self).update(counts)
    return kept(self)


mistake(
    "a pair merged in one place of a word only",
    why="In each word only the first occurrence of the pair is merged.",
    look="the word t, u, t, u, t, u: what should it be after one merge?",
    merged=[lambda parts, pair: first_only(parts, pair)],
)


def first_only(parts, pair):
    pairs = list(pairwise(parts))
    place = pairs.index(pair) if pair in pairs else len(parts)
    return [*parts[:place], *([b"".join(pair)] if pair in pairs else []), *parts[place + 2 :]]


mistake(
    "parts of parts merged",
    why=PART_OF_A_PART,
    look=AT_H,
    merged=[
        lambda parts, pair: b"\0".join(parts).replace(b"\0".join(pair), b"".join(pair)).split(b"\0"),
        lambda parts, pair: b" ".join(parts).replace(b" ".join(pair), b"".join(pair)).split(b" "),
    ],
)
mistake(
    "cut at the spaces",
    why="The parts are joined with spaces, and the result is split at its spaces. But a space "
    'may belong to the word itself, and then the part b" " is lost, or b" t" is cut.',
    look="a word that begins with a space, as in GPT-2's vocabulary: how many parts does `split` make of it?",
    pairs=1,
    pairs_of=lambda parts: list(pairwise(b" ".join(parts).split())),
    prepared=lambda words: [(b" ".join(word).split(), count) for word, count in words.items()],
    merged=[lambda parts, pair: in_a_text(parts, pair).split(), lambda parts, pair: in_a_text(parts, pair).split(b" ")],
)

mistake(
    "merged in one word only",
    why="The pair is merged only in the first word that has it.",
    look="`break`, or an assignment outside the loop over words: how many words are rewritten?",
    rewritten=[lambda words, pair: in_one_word(words, pair)],
)


def in_one_word(words, pair):
    number = next(n for n, (parts, _) in enumerate(words) if pair in pairwise(parts))
    return [(byte_pairs.merge(parts, pair) if n == number else parts, count) for n, (parts, count) in enumerate(words)]


mistake(
    "overlapping pairs merged",
    why="A part that has just been merged with the one before it is used again for the "
    "next merge, so three equal parts become two tokens.",
    look="what should one merge make of three equal parts?",
    merged=[lambda parts, pair: overlapping(parts, pair)],
)


def overlapping(parts, pair):
    starts = [two == pair for two in pairwise(parts)] + [False]
    return [
        b"".join(pair) if start else part
        for place, (part, start) in enumerate(zip(parts, starts, strict=True))
        if start or not place or not starts[place - 1]
    ]


mistake(
    "merged from right to left",
    why="Where a pair overlaps with itself, it is merged from right to left: of three "
    "equal parts, the last two are joined, not the first two.",
    look="a word of three equal letters: which two should be joined?",
    merged=[lambda parts, pair: from_the_right(parts, pair)],
)

mistake(
    "the counts of the words lost",
    why="After the first merge, the counts of the words are lost: every word counts only once.",
    look="the new dictionary of words: which count does each word have?",
    rewritten=[lambda right: [(parts, 1) for parts, count in right]],
)
mistake(
    "one word left",
    pairs=0,
    why="After a merge, only the first word or the last is left.",
    look="the "
    "indentation: where is the new dictionary made, and is the word put into it inside the loop over the words?",
    rewritten=[lambda right: right[-1:], lambda right: right[:1]],
)
mistake(
    "the words without the pair lost",
    why="Only the words that contain the pair are kept for the next round.",
    look="what happens to a word with nothing to merge?",
    rewritten=[lambda right, words: [new for new, old in zip(right, words, strict=True) if new != old]],
)
mistake(
    "the words with the pair lost",
    why="The words that contain the pair are left out of the next round; they should be kept, with the pair merged.",
    look="where do you put the new word?",
    rewritten=[lambda right, words: [new for new, old in zip(right, words, strict=True) if new == old]],
)

# How many there are, and how they are returned
mistake = exercise.section(hint=3)
mistake(
    "only one merge",
    pairs=0,
    why="Only one merge is made, as when the loop ends after a single round.",
    look="how far is the `return` line indented, and what ends the loop?",
    rounds=lambda number: min(1, number),
)
mistake(
    "one merge too few",
    pairs=2,
    why="One merge is missing at the end.",
    look="if `number` is 1, how many merges are made?",
    rounds=[lambda number: max(0, number - 1)],
)
mistake(
    "one merge too many",
    pairs=2,
    why="Your code makes one merge more than `number`.",
    look="if `number` is 1, how many merges are made, and what ends the loop?",
    rounds=[lambda number: number + 1],
)
mistake(
    "number tested too late",
    why="At least one merge is made even if `number` is 0, as when the number of merges is checked only after a merge.",
    look="if `number` is 0, what could keep the first merge from being made?",
    rounds=[lambda number: number or 10**6, lambda number: max(1, number)],
)
mistake(
    "number taken for the vocabulary's size",
    why="Your list is empty or too short, as when the single bytes, all "
    "256 or those of the text, are subtracted from `number`. But `number` counts only the merges.",
    look="what does `number` count? And when is a pair added to the list?",
    rounds=[lambda number: max(0, number - 256)],
    variants=[
        lambda words, number: byte_pairs.train_bpe(
            words, max(0, number - len({byte for word in words for byte in word}))
        )
    ],
)
mistake(
    "ended at pairs that occur once",
    why="Your code stops when every pair occurs only once; it should go on until no word has two parts left.",
    look="the condition of the loop: how often does a pair have to occur?",
    ended=[lambda counts: not counts or max(counts.values()) < 2],
)
mistake(
    "ended at rare pairs",
    why="Your code stops with pairs left, because none is frequent enough; it should go on "
    "until no word has two parts left.",
    look="the condition of the loop: how often does a pair have to occur?",
    ended=[
        lambda counts: not counts or max(counts.values()) < 3,
        lambda counts: not counts or max(counts.values()) < 4,
    ],
)
mistake(
    "long tokens left out",
    pairs=0,
    why="A pair is left out if its token would be too long, as in SentencePiece, "
    "which has a limit of 16. This exercise has no limit.",
    look="every comparison with a length.",
    counts=[
        lambda right, limit=limit: Counter({pair: right[pair] for pair in right if len(b"".join(pair)) < limit})
        for limit in (17, 16, 9, 8)
    ],
)
mistake(
    "ended at the first whole word",
    why="Your code stops as soon as any word is a single part, although other words may still have pairs.",
    look="the condition of the loop: `any` or `all`?",
    counts=[lambda right, words: right if all(len(parts) > 1 for parts, count in words) else Counter()],
)
mistake(
    "stopped at two parts",
    why="Your code stops as soon as no word has more than two parts, but two parts still make a pair.",
    look="how many parts must a word have to contain a pair?",
    counts=[lambda right, words: right if any(len(parts) > 2 for parts, count in words) else Counter()],
)
mistake(
    "stopped at a single pair",
    why="Your code stops as soon as only one pair is left to choose from, but that pair should be merged too.",
    look="the condition of the loop: how many pairs must there be for a merge?",
    ended=[lambda counts: len(counts) < 2],
)
mistake(
    "nothing left at the end",
    pairs=0,
    why="When no word has two parts left, you return an empty list, so the merges made so far are lost.",
    look="what do you return when there is nothing left to count?",
    variants=[
        lambda words, number: (lambda merges: merges if len(merges) == number else [])(
            byte_pairs.train_bpe(words, number)
        )
    ],
)
mistake(
    "no end before number",
    why="When no word has two parts left, your code raises an error, as `max` does when it has nothing to choose from.",
    look="a text of a single word: after how many merges is it one token?",
    ended=[lambda counts: False],
)
mistake(
    "pairs that are gone merged",
    pairs=0,
    why="When no word has two parts left, your code goes on with pairs that "
    "no longer occur, as when they are still in the counts, with a count of 0.",
    look="what happens to a count that has fallen to 0?",
    variants=[lambda words, number: with_zeros(words, number), lambda words, number: with_zeros(words, number, True)],
)


def with_zeros(words, number, dropped=False):
    """Every pair stays in the counts, or only the one that was merged is dropped from them."""
    counts, merges, words = Counter(), [], TrainBPE().prepared(words)
    while len(merges) < number:
        now = TrainBPE().counts(words)
        counts = Counter({pair: now[pair] for pair in {**counts, **now} if not dropped or pair not in merges})
        if not counts:
            break
        merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
        words = [(byte_pairs.merge(parts, merges[-1]), count) for parts, count in words]
    return merges


mistake(
    "repeated at the end",
    why="When there is no pair left, the last merge is added again and again until there are `number` merges.",
    look="what should happen when nothing is left to merge?",
    variants=[lambda words, number: filled_up(byte_pairs.train_bpe(words, number), number)],
)


def filled_up(merges, number, *filling):
    return merges + [*filling, *merges[-1:]][:1] * (number - len(merges))


mistake(
    "None for a pair",
    pairs=0,
    why="When there is no pair left, None is added to the merges until there are `number` of them.",
    look="the `default` of `max`: what does your loop do with it?",
    variants=[lambda words, number: filled_up(byte_pairs.train_bpe(words, number), number, None)],
)

mistake(
    "the tokens, not the pairs",
    why="You return the new tokens, not the pairs that were merged. A token does not say which pair made it.",
    look="what is appended in each round?",
    handed=[
        lambda merges: [b"".join(pair) for pair in merges],
        lambda merges: [b"".join(pair).decode("latin-1") for pair in merges],
    ],
)
mistake(
    "the words, not the merges",
    why="You return the merged words, alone or together with the list of pairs. The exercise asks for the list alone.",
    look="the `return` line.",
    handed=[
        lambda merges, words: {tuple(parts): count for parts, count in words},
        lambda merges, words: [tuple(parts) for parts, count in words],
        lambda merges, words: (merges, {tuple(parts): count for parts, count in words}),
        lambda merges, words: ({tuple(parts): count for parts, count in words}, merges),
    ],
)
mistake(
    "a dictionary for the list",
    why="You return a dictionary; the exercise asks for a list of the pairs, in order.",
    look="the `return` line.",
    handed=[
        lambda merges: {pair: rank for rank, pair in enumerate(merges)},
        lambda merges: {b"".join(pair): 256 + rank for rank, pair in enumerate(merges)},
        lambda merges: {256 + rank: b"".join(pair) for rank, pair in enumerate(merges)},
        lambda merges: {pair: b"".join(pair) for pair in merges},
        lambda merges: dict(enumerate(merges)),
    ],
)
mistake(
    "the counts as well",
    why="You return each pair together with its count; the exercise asks for the pairs alone.",
    look="what do `most_common` and `items` return?",
    variants=[lambda words, number: with_counts(words, number)],
)


def with_counts(words, number):
    merges, words = [], TrainBPE().prepared(words)
    for pair in byte_pairs.train_bpe({tuple(parts): count for parts, count in words}, number):
        merges.append((pair, TrainBPE().counts(words)[pair]))
        words = [(byte_pairs.merge(parts, pair), count) for parts, count in words]
    return merges


mistake(
    "the order lost",
    why="The merges are sorted, reversed or in a set; they should be in the order in which they were made.",
    look="at which place in the list is each new pair put? And does the `return` line change the order?",
    handed=[lambda merges: merges[::-1], lambda merges: sorted(merges), lambda merges: set(merges)],
)
mistake(
    "pairs in lists",
    why="The merges are right, but each pair is a list, which cannot be a dictionary key; it should be a tuple.",
    look="the brackets round each pair.",
    handed=[lambda merges: [list(pair) for pair in merges]],
)
mistake(
    "a tuple for the list",
    why="The merges are right, but they come in a tuple, not in a list.",
    look="the outer brackets, and what `tuple` does.",
    handed=[lambda merges: tuple(merges)],
)
mistake(
    "texts in the pairs",
    why="The parts in the pairs are strings or numbers; they should be bytes, as in the words.",
    look="`decode`, `str(…)`, and an index into bytes: what type does each of them give?",
    handed=[
        lambda merges: [tuple(part.decode("latin-1") for part in pair) for pair in merges],
        lambda merges: [tuple(part[0] for part in pair) for pair in merges],
    ],
)
