"""apply_merges, of lesson 9: a word cut into the tokens of a vocabulary that has been learned already."""

import math
from functools import cache
from itertools import pairwise

import torch

from transformer_lessons.exercises.catalogue.merge import (
    AS_TEXT,
    AT_H,
    NO_TEXT,
    PART_OF_A_PART,
    REST_LOST,
    SHORTER,
    as_text,
    from_the_right,
    in_a_shorter_list,
    in_a_text,
    is_a_list,
    letters,
    same_parts,
    spelled,
    swept,
    up_to_the_last,
    what_the_parts_show,
)
from transformer_lessons.exercises.checker.exercise import Exercise, Steps
from transformer_lessons.language import byte_pairs


def draw(generator, parts, merges, high=False):
    """The bytes of a word, and merges that training could give, in an order that has nothing to do with their ranks."""
    table = letters(generator, "vwxyz", high)
    pairs = [tuple(spelled(pair, table)) for pair in merges.split(", ")] if merges else []
    order = torch.randperm(len(pairs), generator=generator).tolist()
    if order == sorted(order):
        order = order[::-1]
    return spelled(parts, table), {pairs[rank]: rank for rank in order}


CACHED = "a cache for one set of ranks"
OLD_RESULT = (
    "If the ranks change from one call to the next, the result for the same word is wrong, as when the old "
    "result is kept and returned again."
)


def depends_on_the_ranks(call, parts, ranks):
    """The same word again with fewer ranks, with none, and with its own, always in one and the same dictionary."""
    given = {}
    for known in (ranks, {pair: rank for pair, rank in ranks.items() if rank < len(ranks) // 2}, {}, ranks):
        given.clear()
        given.update(known)
        if not same_parts(call(list(parts), given), byte_pairs.apply_merges(parts, known)):
            return (
                (
                    "different on a second call",
                    "A second call with the same inputs gives a different result.",
                    "what is kept from one call to the next?",
                )
                if known is ranks
                else (CACHED, OLD_RESULT, "what is kept from one call to the next, and under which key?")
            )
    return None


LIMITED = "a limit for the ranks"
TOO_LARGE = (
    "Pairs whose rank is larger than some fixed number are never merged, as when a pair without a rank gets "
    "that number as its rank."
)
LOOK_TOO_LARGE = "GPT-2 has 50,000 ranks: does your code treat any number as larger than all of them?"


@cache
def many_ranks():
    """Pairs that no word of the draws contains, with the ranks 0 to 99,999."""
    return {(b"%d" % rank, b"."): rank for rank in range(100_000)}


def has_no_limit(call, parts, ranks):
    """The same merges, learned after a hundred thousand others."""
    if (len(parts), len(ranks)) != (4, 5):  # one case is enough
        return None
    later = many_ranks() | {pair: rank + 100_000 for pair, rank in ranks.items()}
    right = same_parts(call(list(parts), later), byte_pairs.apply_merges(parts, later))
    return None if right else (LIMITED, TOO_LARGE, LOOK_TOO_LARGE)


CHAIN = ", ".join(["v w", *(f"vw{'x' * number} x" for number in range(40))])  # merged in 41 rounds

exercise = Exercise(
    name="apply_merges",
    lesson=9,
    title="Lowest rank first",
    difficulty=2,
    importance=3,
    minutes=10,
    contract="""
        apply_merges(parts, ranks) takes a list of bytes, the single bytes of one word, and a dictionary from pairs
        (first, second) to their ranks, as train_bpe finds them: 0 for the pair that was merged first in training, 1
        for the next, and so on. The entries of the dictionary may be in any order. As long as some pair of
        neighbours is in ranks, the one with the lowest rank is merged, wherever it occurs in the word, as `merge`
        does. Returns the list of parts that are left at the end. parts and ranks are not changed; either may be
        empty.
        """,
    stub='''
        def apply_merges(parts, ranks):
            """The parts of a word after all possible merges, lowest rank first."""
            raise NotImplementedError
        ''',
    sizes=[
        {"parts": parts, "merges": merges, **more}
        for parts, merges, more in (
            ("x y z", "y z, x y", {}),
            ("x y z", "x y, xy z", {}),
            ("x x x", "x x", {}),
            ("x y z", "v x, y z, x yz", {}),
            ("x y z", "y z, x y, w xy", {}),
            ("x y x y", "x y", {}),
            ("x y x y", "x y, xy xy", {}),
            ("x y z w", "y z, x y, z w, x yz", {}),
            ("x x x x x", "x x, xx xx, xx x", {}),
            ("w x y z", "x y, w x, y z, w xy, wxy z", {}),
            ("x y z x y w x y", "x y, y z, xy z, xy w", {}),
            ("z y x", "x y, y z", {}),
            ("x y", "", {}),
            ("", "x y", {}),
            ("x", "x y", {}),
            ("v w x y z v w", "v w, w x, x y, y z, vw xy", {}),
            ("x y z w v", "z w, y z, x y, w v, xy zw", {}),
            ("x y z y z x y", "y z, x y, x yz, yz yz", {"high": True}),
            ("x x y y x y z", "x y, y z, x xy, xy y", {}),
            ("v v w v v v w w v", "v v, v w, vv w, w v, vv v", {}),
            ("x y z x y", "v v, v w, y z, v x, v y, v z, w v, w w, w x, w y, x y, x yz", {}),
            ("x y z w x y z w", "z w, x y, xy zw", {}),
            ("y z x y z w y z w", "y z, z w, x yz, yz w, xyz w", {}),
            ("x y z x y z w v", "x y, xy z, xyz xyz, w v, xyzxyz wv", {}),
            ("_ x y z _ x", "_ x, y z, _x yz", {}),
            ("v w" + 40 * " x", CHAIN, {}),
        )
    ],
    draw=draw,
    reference=lambda parts, ranks: byte_pairs.apply_merges(parts, ranks),
    names_steps=False,
    same=same_parts,
    checks=[is_a_list, depends_on_the_ranks, has_no_limit],
    symptoms=[what_the_parts_show],
    hints=[
        (
            "which pair is next",
            "Of all pairs of neighbours that are in ranks, take the one with the lowest rank: "
            "min(…, key=ranks.get). The pair's place in the word and the length of the new token do not matter.",
        ),
        (
            "when to look again",
            "A merge makes new neighbours, so list the pairs again after each merge, in a "
            "while loop that ends when no pair of neighbours is in ranks. (A for loop over all merges in order would "
            "give the same parts, but GPT-2 has 50,000 merges, and a word needs only a few.)",
        ),
        (
            "a pair without a rank",
            "Not every pair of neighbours has a rank: check with `in` first, or let "
            "ranks.get(pair, math.inf) stand in for the missing rank. And a word of one part has no pair at all.",
        ),
    ],
    solution="""
        from itertools import pairwise

        from transformer_lessons.language.byte_pairs import merge


        def apply_merges(parts, ranks):
            while pairs := [pair for pair in pairwise(parts) if pair in ranks]:
                parts = merge(parts, min(pairs, key=ranks.get))
            return list(parts)""",
)


@exercise.right("step by step")
class ApplyMerges(Steps):
    def __call__(self, parts, ranks):
        parts = self.prepared(parts)
        for _ in range(self.rounds(parts)):
            pairs = self.candidates(parts, ranks)
            if not pairs:
                break
            parts = self.merged(parts, self.chosen(pairs, ranks))
        return self.handed(parts, ranks)

    def prepared(self, parts):
        return list(parts)

    def rounds(self, parts):
        return len(parts)

    def candidates(self, parts, ranks):
        return [pair for pair in pairwise(parts) if pair in ranks]

    def chosen(self, pairs, ranks):
        return min(pairs, key=ranks.get)

    def merged(self, parts, pair):
        return byte_pairs.merge(parts, pair)

    def handed(self, parts, ranks):
        return parts


def longest_first(parts, ranks, single=False):
    """From left to right, the longest token each time, whichever merges would make it."""
    tokens, joined, start, found = {b"".join(pair) for pair in ranks}, b"".join(parts), 0, []
    while start < len(joined):
        end = next((end for end in range(len(joined), start, -1) if joined[start:end] in tokens), start + 1)
        found.append(joined[start:end])
        start = end
    return found


def first_found(parts, place):
    """The parts with those at this place and the next joined."""
    return [*parts[:place], parts[place] + parts[place + 1], *parts[place + 2 :]]


def swept_once(parts, ranks):
    """Once from left to right, each part joined with the token before it if that pair has a rank."""
    found = []
    for part in parts:
        if found and (found[-1], part) in ranks:
            found[-1] = found[-1] + part
        else:
            found.append(part)
    return found


def swept_apart(parts, ranks):
    """Once from left to right, any two joined that have a rank; a new token waits for the next time."""
    return swept(parts, lambda first, second: (first, second) in ranks)


def again(once):
    """From left to right again and again, until nothing changes."""

    def answer(parts, ranks):
        while (joined := once(parts, ranks)) != parts:
            parts = joined
        return list(parts)

    return answer


def leftmost(parts, ranks, last=False):
    parts = list(parts)
    while places := [place for place, two in enumerate(pairwise(parts)) if two in ranks]:
        parts = first_found(parts, places[-1 if last else 0])
    return parts


# Which pair is next
mistake = exercise.section(hint=1)
mistake(
    "the leftmost pair first",
    pairs=2,
    why="The leftmost pair in the word is merged first, whatever its rank.",
    look="`min` or `next`: what decides which pair is merged?",
    chosen=[lambda pairs: pairs[0]],
    variants=[
        leftmost,
        swept_once,
        swept_apart,
        again(swept_once),
        again(swept_apart),
        again(lambda parts, ranks: through(parts, ranks, [pair for pair in pairwise(parts) if pair in ranks])),
    ],
)
mistake(
    "the rightmost pair first",
    why="The rightmost pair in the word is merged first, whatever its rank.",
    look="what decides which pair is merged?",
    chosen=[lambda pairs: pairs[-1]],
    variants=[lambda parts, ranks: leftmost(parts, ranks, last=True)],
)
mistake(
    "the highest rank first",
    pairs=2,
    why="The pair with the highest rank is merged first: the one that training learned last.",
    look="`max` or `min`: which merge was learned first, the one with rank 0 or the last?",
    chosen=[lambda pairs, ranks: max(pairs, key=ranks.get)],
    variants=[
        lambda parts, ranks: through(parts, ranks, sorted(ranks, key=ranks.get, reverse=True)),
        lambda parts, ranks: one_by_one(parts, ranks, max),
    ],
)
mistake(
    "the longest token",
    pairs=2,
    why="The word is cut into the longest tokens there are, from left to right, or "
    "the pair that makes the longest token is merged first. WordPiece takes the longest token from the left; byte-pair "
    "encoding goes by rank.",
    look="does the length of a token matter in the exercise?",
    chosen=[lambda pairs, ranks: max(pairs, key=lambda pair: (len(b"".join(pair)), -ranks[pair]))],
    variants=[longest_first],
)
mistake(
    "the shortest token",
    why="The pair that makes the shortest token is merged first.",
    look="does the length of a token matter in the exercise?",
    chosen=[lambda pairs, ranks: min(pairs, key=lambda pair: len(b"".join(pair)))],
)
mistake(
    "the order of the dictionary",
    pairs=2,
    why="The merges are applied in the order of the dictionary, not in the order of their ranks.",
    look="a loop over ranks: does it use the numbers?",
    chosen=[lambda pairs, ranks: next(pair for pair in ranks if pair in pairs)],
    variants=[lambda parts, ranks: through(parts, ranks, ranks)],
)
mistake(
    "the order of the dictionary, backwards",
    why="The merges are applied from the end of the dictionary to its beginning, not in the order of their ranks.",
    look="a loop over ranks: does it use the numbers?",
    chosen=[lambda pairs, ranks: next(pair for pair in reversed(ranks) if pair in pairs)],
    variants=[lambda parts, ranks: through(parts, ranks, reversed(ranks))],
)


def through(parts, ranks, order):
    for pair in order:
        parts = byte_pairs.merge(parts, pair)
    return list(parts)


def ended_early(parts, ranks, rank):
    parts = list(parts)
    while len(parts) > 1 and (pair := min(pairwise(parts), key=lambda pair: rank(pair, parts))) in ranks:
        parts = byte_pairs.merge(parts, pair)
    return parts


def ended_at_rank_0(parts, ranks):
    parts = list(parts)
    while rank := min((ranks[pair] for pair in pairwise(parts) if pair in ranks), default=None):
        parts = byte_pairs.merge(parts, next(pair for pair in ranks if ranks[pair] == rank))
    return parts


mistake(
    "ranks compared as text",
    pairs=0,
    why='The ranks are compared as text, where "10" comes before "2".',
    look="`str` in the key, or ranks read from a file: what type are they?",
    chosen=[lambda pairs, ranks: min(pairs, key=lambda pair: str(ranks[pair]))],
    variants=[lambda parts, ranks: through(parts, ranks, sorted(ranks, key=lambda pair: str(ranks[pair])))],
)
mistake(
    "every second pair left out",
    pairs=0,
    why="The parts are taken two at a time: the first with the second, the "
    "third with the fourth. But the second and the third are neighbours too.",
    look="how many pairs of neighbours do four parts have?",
    candidates=[lambda parts, ranks: [pair for pair in [*pairwise(parts)][::2] if pair in ranks]],
)
mistake(
    "the smallest or largest bytes first",
    why="The pairs are compared by their bytes, not by their ranks.",
    look="min(pairs) without a key: what does it compare?",
    chosen=[lambda pairs: min(pairs), lambda pairs: max(pairs)],
    variants=[
        lambda parts, ranks: through(parts, ranks, sorted(ranks)),
        lambda parts, ranks: through(parts, ranks, sorted(ranks, reverse=True)),
    ],
)
mistake(
    "the most frequent pair first",
    why="The most frequent pair in this word is merged first. Frequencies mattered in training; now the ranks decide.",
    look="is anything counted when a vocabulary is applied?",
    chosen=[
        lambda pairs: max(pairs, key=pairs.count),
        lambda pairs, ranks: max(pairs, key=lambda pair: (pairs.count(pair), -ranks[pair])),
        lambda pairs: max(pairs, key=lambda pair: (pairs.count(pair), pair)),
    ],
)
mistake(
    "the pair in either order",
    why="A pair is merged even if only its reverse has a rank.",
    look="is (second, first) the same pair?",
    variants=[lambda parts, ranks: either_order(parts, ranks)],
)


def either_order(parts, ranks):
    both = {pair[::-1]: rank for pair, rank in ranks.items()} | ranks
    return in_order_of(parts, both)


def in_order_of(parts, ranks):
    while known := [pair for pair in pairwise(parts) if pair in ranks]:
        parts = byte_pairs.merge(parts, min(known, key=ranks.get))
    return list(parts)


mistake(
    "merged from right to left",
    why="Where a pair overlaps with itself, it is merged from right to left: of three "
    "equal parts, the last two are joined, not the first two.",
    look="a word of three equal letters: which two should be joined?",
    merged=[lambda parts, pair: from_the_right(parts, pair)],
    variants=[lambda parts, ranks: one_by_one(parts, ranks, lambda known: min((rank, -n) for rank, n in known))],
)


def one_by_one(parts, ranks, chosen, joined=first_found):
    """One place at a time: chosen([(rank, place), …]); a place may be counted from the end, as -place."""
    while known := [(ranks[two], place) for place, two in enumerate(pairwise(parts)) if two in ranks]:
        parts = joined(parts, abs(chosen(known)[1]))
    return list(parts)


# How long it goes on
mistake = exercise.section(hint=2)
mistake(
    "only one merge",
    pairs=2,
    why="Only one pair is merged, as when the loop ends after one round.",
    look="a `return` inside the loop, an `if` where `while` is needed, or a lowest rank that is kept from the round "
    "before.",
    rounds=[lambda parts: min(1, len(parts))],
)
mistake(
    "stopped at two parts",
    why="Your code stops as soon as two parts are left, even if this last pair has a rank.",
    look="how many parts must a word have to contain a pair?",
    candidates=[lambda right, parts: right if len(parts) > 2 else []],
)
mistake(
    "stopped at three parts",
    why="Your code stops as soon as three parts or fewer are left, even if some pair still has a rank.",
    look="how many parts must a word have to contain a pair?",
    candidates=[lambda right, parts: right if len(parts) > 3 else []],
)
mistake(
    "too few rounds",
    why="Your code stops while a pair with a rank is left, as when the number of rounds is fixed "
    "in advance and is too small.",
    look="how many merges may a word of three parts need, and what should end the loop? If a pair without a rank gets "
    "a number, is that number larger than every rank?",
    rounds=[
        lambda parts: max(0, len(parts) - 2),
        lambda parts: len(parts) // 2,
        *(lambda parts, number=number: number for number in (2, 3, 4, 5, 8, 10, 16, 20, 32)),
        lambda parts: max(0, len(parts) - 3),
    ],
    variants=[
        lambda parts, ranks: one_by_one_for(parts, ranks, len(ranks)),
        lambda parts, ranks: merged_for(parts, ranks, len(ranks) - 1),
    ],
)


def merged_for(parts, ranks, rounds):
    for _ in range(rounds):
        pairs = [pair for pair in pairwise(parts) if pair in ranks]
        parts = byte_pairs.merge(parts, min(pairs, key=ranks.get)) if pairs else parts
    return list(parts)


def one_by_one_for(parts, ranks, rounds):
    for _ in range(rounds):
        known = [(ranks[two], place) for place, two in enumerate(pairwise(parts)) if two in ranks]
        parts = first_found(parts, min(known)[1]) if known else parts
    return list(parts)


mistake(
    "the pairs listed only once",
    why="Pairs with a new token in them are never merged, as when the pairs are listed only before the first merge.",
    look="after a merge, are the neighbours still the same?",
    variants=[
        lambda parts, ranks: through(parts, ranks, sorted({*pairwise(parts)} & {*ranks}, key=ranks.get)),
        lambda parts, ranks: through(parts, ranks, dict.fromkeys(pair for pair in pairwise(parts) if pair in ranks)),
        lambda parts, ranks: at_the_first_places(parts, ranks),
    ],
)


def at_the_first_places(parts, ranks):
    """The ranks and places of the word as given, one after the other, where that rank is still there."""
    joined = list(parts)
    for rank, place in sorted((ranks[two], place) for place, two in enumerate(pairwise(parts)) if two in ranks):
        if ranks.get(tuple(joined[place : place + 2])) == rank:
            joined = first_found(joined, place)
    return joined


mistake(
    "ended at the first pair that the word lacks",
    pairs=0,
    why="Your code goes through ranks and stops at the "
    "first pair that is not in the word, although the word may have a later one.",
    look="`break` or `return` in the loop over ranks: what should happen if the word does not have the pair?",
    variants=[
        lambda parts, ranks: up_to_a_gap(parts, sorted(ranks, key=ranks.get)),
        lambda parts, ranks: up_to_a_gap(parts, ranks),
    ],
)


def up_to_a_gap(parts, order):
    parts = list(parts)
    for pair in order:
        if pair not in pairwise(parts):
            break
        parts = byte_pairs.merge(parts, pair)
    return parts


mistake(
    "every merge from the beginning",
    pairs=0,
    why="Only the last merge is left, as when each merge starts again from the original word.",
    look="which list does each merge work on, and which one do you return?",
    variants=[
        lambda parts, ranks: last_alone(parts, [pair for pair in pairwise(parts) if pair in ranks], ranks),
        lambda parts, ranks: last_alone(parts, ranks, ranks),
    ],
)


def last_alone(parts, pairs, ranks):
    return byte_pairs.merge(parts, max(pairs, key=ranks.get)) if pairs else list(parts)


mistake(
    "ended at the first pair without a rank",
    why="Your code stops at a pair without a rank, although other pairs still have one.",
    look="when is there nothing left to merge? And if a rank is missing, what stands in for it?",
    candidates=[
        lambda parts, ranks: (
            [pair for pair in pairwise(parts) if pair in ranks] if next(pairwise(parts), None) in ranks else []
        )
    ],
    variants=[
        {
            "candidates": lambda parts, ranks: (
                list(pairwise(parts)) if all(pair in ranks for pair in pairwise(parts)) else []
            )
        },
        lambda parts, ranks: ended_early(parts, ranks, lambda pair, parts: ranks.get(pair, 0)),
        *(
            lambda parts, ranks, number=number: ended_early(
                parts, ranks, lambda pair, parts: ranks.get(pair, number(parts, ranks))
            )
            for number in (
                lambda parts, ranks: len(parts),
                lambda parts, ranks: len(ranks) - 1,
                lambda parts, ranks: 10,
            )
        ),
    ],
)
mistake(
    "only the pair of rank 0",
    why="Only the pair with rank 0 is merged; all the other ranks are ignored.",
    look="which pairs may be merged?",
    candidates=[lambda right, ranks: [pair for pair in right if ranks[pair] == 0]],
)
mistake(
    "rank 0 left out",
    why="The pair with rank 0, which was learned first, is never merged, or is merged only "
    "where no other pair with a rank is left, or perhaps ends the loop.",
    look="where does your loop over the ranks start? And what do `if rank` and `ranks.get(pair) or …` do with rank 0?",
    candidates=[lambda right, ranks: [pair for pair in right if ranks[pair]]],
    chosen=[lambda pairs, ranks: min(pairs, key=lambda pair: ranks[pair] or math.inf)],
    variants=[
        lambda parts, ranks: ended_early(parts, ranks, lambda pair, parts: ranks.get(pair) or math.inf),
        lambda parts, ranks: ended_at_rank_0(parts, ranks),
    ],
)
mistake(
    "the highest rank left out",
    why="The pair with the highest rank, which was learned last, is never merged.",
    look="which is the last rank that your code tries?",
    candidates=[lambda right, ranks: [pair for pair in right if ranks[pair] < len(ranks) - 1]],
)
mistake(
    "the last pair not seen",
    why="The last pair of neighbours in the word is never looked at.",
    look="a word of two parts: at which place does its only pair begin?",
    candidates=[lambda parts, ranks: [pair for pair in pairwise(parts[:-1]) if pair in ranks]],
)
mistake(
    "the first pair not seen",
    why="The first pair of neighbours in the word is never looked at.",
    look="at which place does the search start?",
    candidates=[lambda parts, ranks: [pair for pair in pairwise(parts[1:]) if pair in ranks]],
)
mistake(
    "the pairs turned round",
    why="A pair is merged where ranks has it the other way round, with the second part before the first.",
    look="the key that you look up in ranks: which of its two parts comes first in the word?",
    pairs=0,
    variants=[lambda parts, ranks: in_order_of(parts, {pair[::-1]: rank for pair, rank in ranks.items()})],
)
mistake(
    "each pair merged in one place only",
    why="If a pair occurs several times, only the first occurrence is merged; the pair is never tried again.",
    look="may the same pair be merged again?",
    variants=[lambda parts, ranks: once_each(parts, ranks)],
)


def once_each(parts, ranks):
    for pair in sorted(ranks, key=ranks.get):
        pairs = list(pairwise(parts))
        parts = first_found(parts, pairs.index(pair)) if pair in pairs else parts
    return list(parts)


mistake(
    "only one place merged",
    why="One occurrence is merged, and then your code stops.",
    look="`return` or `break`: how many merges come before it?",
    variants=[lambda parts, ranks: one_by_one_for(parts, ranks, 1)],
)

# What a merge does, and what comes back
mistake = exercise.section(hint=2)
mistake(**AS_TEXT, prepared=[lambda parts: as_text(parts, "replace"), lambda parts: as_text(parts, "ignore")])
mistake(**NO_TEXT, prepared=[lambda parts: as_text(parts, "strict")])
mistake(
    "the second part kept",
    why="The token takes the place of the first part, but the second stays in the word.",
    look="after a merge in place, how many parts should the word have lost?",
    variants=[
        lambda parts, ranks: one_by_one(
            parts,
            ranks,
            min,
            lambda parts, place: [*parts[:place], parts[place] + parts[place + 1], *parts[place + 1 :]],
        )
    ],
)
mistake(
    "the token lost",
    why="After a merge, one of the two parts is still there, but the token is not.",
    look="`del` and `pop`: what is at the place that they remove?",
    variants=[
        lambda parts, ranks: one_by_one(parts, ranks, min, lambda parts, place: [*parts[:place], *parts[place + 1 :]]),
        lambda parts, ranks: one_by_one(
            parts, ranks, min, lambda parts, place: [*parts[: place + 1], *parts[place + 2 :]]
        ),
    ],
)
mistake(**REST_LOST, pairs=0, merged=[lambda parts, pair: up_to_the_last(parts, pair)])
mistake(
    **SHORTER,
    pairs=0,
    variants=[
        lambda parts, ranks: rank_by_rank(parts, ranks, lambda merged, n, pair: (merged[n], merged[n + 1]) == pair),
        lambda parts, ranks: rank_by_rank(
            parts, ranks, lambda merged, n, pair: merged[n] == pair[0] and merged[n + 1] == pair[1]
        ),
    ],
)


def rank_by_rank(parts, ranks, fits):
    for pair in sorted(ranks, key=ranks.get):
        parts = in_a_shorter_list(parts, lambda merged, n, pair=pair: fits(merged, n, pair), pair)
    return list(parts)


mistake(
    CACHED,
    why=OLD_RESULT,
    look="what is kept from one call to the next, and under which key?",
    variants=[
        lambda parts, ranks: kept(tuple(parts), parts, ranks),
        lambda parts, ranks: kept(b"".join(parts), parts, ranks),
    ],
)

mistake(
    LIMITED,
    pairs=0,
    why=TOO_LARGE,
    look=LOOK_TOO_LARGE,
    variants=[
        lambda parts, ranks, limit=limit: byte_pairs.apply_merges(
            parts, {pair: rank for pair, rank in ranks.items() if rank < limit}
        )
        for limit in (5, 8, 10, 50, 100, 256, 1000, 10_000, 50_000, 50_257, 65_536, 99_999)
    ],
)

KEPT = {}


def kept(key, parts, ranks):
    """The result that is kept under this key, or a new one, which is kept from now on."""
    if key not in KEPT:
        KEPT[key] = byte_pairs.apply_merges(parts, ranks)
    return list(KEPT[key])


mistake(
    "parts of parts joined",
    why=PART_OF_A_PART,
    look=AT_H,
    merged=[
        lambda parts, pair: b" ".join(parts).replace(b" ".join(pair), b"".join(pair)).split(b" "),
        lambda parts, pair: b"\0".join(parts).replace(b"\0".join(pair), b"".join(pair)).split(b"\0"),
    ],
    variants=[lambda parts, ranks, mark=mark: in_one_text(parts, ranks, mark) for mark in (b" ", b"\0")],
)


def in_one_text(parts, ranks, mark):
    joined = mark.join(parts)
    for pair in sorted(ranks, key=ranks.get):
        joined = joined.replace(mark.join(pair), b"".join(pair))
    return joined.split(mark)


mistake(
    "cut at the spaces",
    why="The parts are joined with spaces, and the result is split at its spaces. But a space "
    'may belong to the word itself, and then the part b" " is lost, or b" t" is cut.',
    look="a word that begins with a space, as in GPT-2's vocabulary: how many parts does `split` make of it?",
    prepared=[lambda parts: b" ".join(parts).split(), lambda parts: b" ".join(parts).split(b" ") if parts else []],
    merged=[lambda parts, pair: in_a_text(parts, pair).split(), lambda parts, pair: in_a_text(parts, pair).split(b" ")],
)
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
    "joined in the wrong order",
    why="The new token puts the second part before the first.",
    look="which of the two comes first in the text?",
    merged=[
        lambda parts, pair: [
            pair[1] + pair[0] if part == b"".join(pair) else part for part in byte_pairs.merge(parts, pair)
        ]
    ],
)
mistake(
    "a pair without a rank",
    hint=3,
    why="Your code looks up a pair that is not in ranks: hence the KeyError.",
    look="`ranks[pair]`, and `min` over all pairs: does every pair of neighbours have a rank?",
    variants=[lambda parts, ranks: unranked(parts, ranks)],
)


def unranked(parts, ranks):
    while len(parts) > 1:
        parts = byte_pairs.merge(parts, min(pairwise(parts), key=lambda pair: ranks[pair]))
    return list(parts)


mistake(
    "a rank that is missing compared",
    hint=3,
    pairs=0,
    why="If a pair has no rank, `get` returns None, and None cannot be compared: hence the TypeError.",
    look="`ranks.get(pair)` where the pair is not in ranks: what does `min` make of it?",
    variants=[lambda parts, ranks: none_compared(parts, ranks)],
)


def none_compared(parts, ranks):
    while len(parts) > 1 and (pair := min(pairwise(parts), key=ranks.get)) in ranks:
        parts = byte_pairs.merge(parts, pair)
    return list(parts)


mistake(
    "a list as the key",
    hint=3,
    pairs=0,
    why="Your code raises a TypeError, as when a list, such as a slice of parts, is used as a key of ranks.",
    look="what type are the keys of ranks? And which brackets does a look-up need?",
    variants=[
        lambda parts, ranks, least=least: list(parts) if len(parts) < least else ranks[parts[:2]] for least in (2, 1)
    ],
)
mistake(
    "beyond the end",
    hint=3,
    pairs=0,
    why="At the last part, your code asks for the next part, but there is none: hence the IndexError.",
    look="`parts[place + 1]`: what is it when place is the last one?",
    candidates=[lambda right, parts: [(parts[place], parts[place + 1]) for place in range(len(parts))]],
)
mistake(
    "every pair merged",
    hint=3,
    why="Pairs without a rank are merged as well, until the whole word is one token.",
    look="when is there nothing left to merge?",
    candidates=[lambda parts: list(pairwise(parts))],
    chosen=[],
    variants=[lambda parts, ranks: all_merged(parts, ranks)],
)


def all_merged(parts, ranks):
    while len(parts) > 1:
        parts = byte_pairs.merge(parts, min(pairwise(parts), key=lambda pair: ranks.get(pair, math.inf)))
    return list(parts)


mistake(
    "no pair at all",
    hint=3,
    why="If a word has no pair at all, your code raises an error, as `min` does when it has nothing to choose from.",
    look="a word of one part, or of none: what does your code ask for that is not there?",
    variants=[lambda parts, ranks: min_of_nothing(parts, ranks)],
)


def min_of_nothing(parts, ranks):
    while True:
        pair = min(pairwise(parts), key=lambda pair: ranks.get(pair, math.inf))
        if pair not in ranks:
            return list(parts)
        parts = byte_pairs.merge(parts, pair)


mistake(
    "nothing merged",
    why="The parts come back with nothing merged.",
    look="do you keep the result of `merge`, which is a new list? And what do you look up in ranks: what are its keys?",
    rounds=[lambda parts: 0],
)
mistake(
    "ranks for tokens",
    why="You return numbers, not the parts themselves.",
    look="the `return` line.",
    handed=[
        lambda parts, ranks: [
            {b"".join(pair): 256 + rank for pair, rank in ranks.items()}.get(part, part[0]) for part in parts
        ],
        lambda parts, ranks: [{b"".join(pair): rank for pair, rank in ranks.items()}.get(part, -1) for part in parts],
    ],
)
mistake(
    "a short word as bytes",
    pairs=0,
    why="A word without a pair of neighbours comes back as a single bytes "
    "object; it should be a list, like any other word.",
    look="every `return`: what do you return for no parts, and for one part?",
    variants=[
        lambda parts, ranks: byte_pairs.apply_merges(parts, ranks) if len(parts) > 1 else b"".join(parts),
        lambda parts, ranks: parts[0] if len(parts) == 1 else byte_pairs.apply_merges(parts, ranks),
    ],
)
mistake(
    "numbers for bytes",
    pairs=0,
    why="The bytes have become numbers, and no pair of numbers is in ranks.",
    look="what does a loop over a bytes object give: bytes or numbers?",
    variants=[lambda parts, ranks: [*b"".join(parts)]],
)
mistake(
    "a tuple for the list",
    why="The parts are right, but they come in a tuple, not in a list.",
    look="the brackets, and what `tuple` does.",
    handed=[lambda parts: tuple(parts)],
)
mistake(
    "one piece of bytes",
    why="The parts are joined into a single bytes object or string; the exercise asks for a list of them.",
    look="the `return` line: what does `join` make?",
    handed=[
        lambda parts: b"".join(parts),
        lambda parts: b" ".join(parts),
        lambda parts: " ".join(part.decode("latin-1") for part in parts),
    ],
)
mistake(
    "texts for bytes",
    why="The parts are strings; they should be bytes.",
    look="where do you use `decode` or str(…)?",
    handed=[lambda parts: [part.decode("latin-1") for part in parts], lambda parts: [str(part) for part in parts]],
)
