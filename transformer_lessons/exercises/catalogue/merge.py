"""merge, of lesson 9: a pair of neighbours becomes one part, wherever it occurs."""

import re
from itertools import accumulate, pairwise

import torch

from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.exercise import Exercise, Steps
from transformer_lessons.language import byte_pairs


def letters(generator, names, high=False):
    """A different byte for each of these names: a lower-case letter or, if high, one that is no character alone."""
    drawn = (torch.randperm(26, generator=generator)[: len(names)] + (200 if high else 97)).tolist()
    return {ord(name): chr(byte) for name, byte in zip(names, drawn, strict=True)}


def spelled(template, table):
    """The parts that a template stands for: "x xy" is [b"t", b"th"], if x and y are t and h; _ is a space."""
    return [part.translate({ord("_"): " ", **table}).encode("latin-1") for part in template.split()]


def draw(generator, parts, pair, high=False):
    table = letters(generator, "uvwxyz", high)
    return spelled(parts, table), tuple(spelled(pair, table))


def same_parts(one, other):
    """The same parts in the same order; whether they are in a list is checked afterwards."""
    return alike(one, other, 0)


def is_a_new_list(call, parts, pair):
    return (
        ("the given list returned", SAME, "which list do you return if there is nothing to merge?")
        if call(parts, pair) is parts
        else None
    )


def keeps_every_byte(call, parts, pair):
    """All the bytes as parts, with nothing to merge: are they all kept? Checked once, where parts is empty."""
    every = [bytes([byte]) for byte in (*range(256), 0)]
    kept = parts or same_parts(call(list(every), (b"<", b"<")), every)
    return None if kept else ("a byte for a mark", MARKED, LOOK_MARKED)


MARKED = (
    "Given each of the 256 bytes as a part and nothing to merge, your function returns different parts. That "
    "happens, for instance, if the parts are joined with a byte between them and then split at that byte."
)
LOOK_MARKED = "do you put a byte between the parts, or replace one? What if the parts contain it already?"
SAME = "The parts are right, but you return the very list that you were given; the exercise asks for a new one."


def is_a_list(call, *inputs):
    result = call(*inputs)
    if isinstance(result, list):
        return None
    return (
        "a tuple for the list",
        f"The parts are right, but they come in a {type(result).__name__}, not in a list.",
        "the brackets, and what `tuple` does.",
    )


def what_the_parts_show(observed, expected, parts, pair=None):
    """Whether the parts still give the bytes of the word, and whether the pair is still there."""
    if not isinstance(observed, (list, tuple)) or not all(isinstance(part, bytes) for part in observed):
        return None
    if b"".join(observed) != b"".join(parts):
        return "Joined together, the parts in your result no longer give the bytes of the word."
    if isinstance(pair, tuple) and pair in pairwise(observed):
        return f"The pair {pair} is still in your result."
    return None


exercise = Exercise(
    name="merge",
    lesson=9,
    title="One merge",
    difficulty=1,
    importance=3,
    minutes=8,
    contract="""
        merge(parts, pair) takes a list (not a tuple) of bytes and a pair (first, second) of bytes, and returns a new
        list in which the two are joined into one part wherever the first is directly followed by the second. It goes
        from left to right, and no part is used twice: the pair (b"a", b"a") turns b"a", b"a", b"a" into b"aa", b"a".
        All other parts stay as they are, in order. parts may be empty; it is not changed.
        """,
    stub='''
        def merge(parts, pair):
            """The parts with this pair joined wherever it occurs, from left to right."""
            raise NotImplementedError
        ''',
    sizes=[
        {"parts": parts, "pair": pair, **more}
        for parts, pair, more in (
            ("x y z", "x y", {}),
            ("x x x", "x x", {}),
            ("z y x y", "x y", {}),
            ("x y z x y x x y", "x y", {}),
            ("x xy y x yz zx y yx x yy", "x y", {}),
            ("xy y x y y x x yx x x y", "xy y", {}),
            ("x x x x x z x x y x x x", "x x", {}),
            ("x xy xy x xy z xyx y", "x xy", {}),
            ("x yz xy z yz x x yz", "xy z", {}),
            ("z x y", "x y", {"high": True}),
            ("y x z x x y z y", "x z", {"high": True}),
            ("_ x y z", "x y", {}),
            ("z _x y _ x", "_x y", {}),
            ("", "x y", {}),
            ("x", "x y", {}),
            ("y x", "x y", {}),
            ("u v w x y z u v w u x", "u v", {}),
            ("w x x x x x x x", "x x", {}),
            ("x", "x x", {}),
            ("x y", "x y", {}),
        )
    ],
    draw=draw,
    reference=lambda parts, pair: byte_pairs.merge(parts, pair),
    names_steps=False,
    same=same_parts,
    checks=[is_a_list, is_a_new_list, keeps_every_byte],
    symptoms=[what_the_parts_show],
    hints=[
        (
            "where to go on after a merge",
            "Walk along the parts in a while loop, and keep track of your place. How "
            "far do you move on if the pair is found, and how far if it is not?",
        ),
        (
            "what is compared",
            "Join two neighbours only if the whole first part equals pair[0] and the whole "
            'second part equals pair[1]. b"th" followed by b"e" is not the pair (b"t", b"he"), although the '
            "bytes are the same.",
        ),
        (
            "the end of the list",
            "No part follows the last one. Slices need no special case: if parts has "
            "ten items, tuple(parts[9:11]) has only one, so it never equals a pair.",
        ),
    ],
    solution="""
        def merge(parts, pair):
            merged, place = [], 0
            while place < len(parts):
                if tuple(parts[place:place + 2]) == pair:
                    merged.append(pair[0] + pair[1])
                    place += 2
                else:
                    merged.append(parts[place])
                    place += 1
            return merged""",
)


@exercise.right("step by step")
class Merge(Steps):
    def __call__(self, parts, pair):
        return self.handed(self.built(parts, self.chosen(self.found(parts, pair)), self.token(pair), pair))

    def found(self, parts, pair):
        return [place for place, two in enumerate(pairwise(parts)) if two == pair]

    def chosen(self, found):
        places = []
        for place in found:
            if not places or place > places[-1] + 1:
                places.append(place)
        return places

    def token(self, pair):
        return pair[0] + pair[1]

    def built(self, parts, chosen, token, pair):
        skipped = {place + 1 for place in chosen}
        return [token if place in chosen else part for place, part in enumerate(parts) if place not in skipped]

    def handed(self, merged):
        return merged


@exercise.right("the first occurrence, as long as there is one")
def one_by_one(parts, pair):
    while pair in (pairs := list(pairwise(parts))):
        place = pairs.index(pair)
        parts = [*parts[:place], pair[0] + pair[1], *parts[place + 2 :]]
    return list(parts)


def swept(parts, fits, joined=lambda first, second: first + second, step=2):
    """One pass through the parts: where two fit, they are joined, and the place moves on by step."""
    merged, place = [], 0
    while place < len(parts):
        if place + 1 < len(parts) and fits(parts[place], parts[place + 1]):
            merged.append(joined(parts[place], parts[place + 1]))
            place += step
        else:
            merged.append(parts[place])
            place += 1
    return merged


def sweep(fits, **settings):
    """A whole answer; fits(first, second, pair)."""
    return lambda parts, pair: swept(parts, lambda first, second: fits(first, second, pair), **settings)


AS_TEXT = {
    "name": "bytes read as text",
    "pairs": 0,
    "why": "The parts are decoded as text, and bytes that are not "
    "characters on their own are replaced or left out, so different parts become the same.",
    "look": "`decode` with `errors=…`: what happens to a byte above 127?",
}


def as_text(parts, errors):
    return [part.decode(errors=errors).encode() for part in parts]


NO_TEXT = {
    "name": "bytes that are no characters",
    "pairs": 0,
    "why": "The parts are decoded as text, but a byte need "
    "not be a character on its own: hence the UnicodeDecodeError.",
    "look": "`decode`: which bytes are characters on their own? And does anything in the exercise "
    "have to be a character?",
}

AFTER_EQUALS = (
    "After a pair of two equal parts, your code leaves out the next pair, which begins with the second of "
    "them, as when the place moves on by two."
)
LOOK_AFTER_EQUALS = "the word t, t, u: which pairs does it have, and how far does your place move on after the first?"


def after_equals_skipped(parts):
    """The pairs of neighbours, from a place that moves on by two after two equal parts."""
    pairs, place = [], 0
    while place < len(parts) - 1:
        pairs.append((parts[place], parts[place + 1]))
        place += 2 if parts[place] == parts[place + 1] else 1
    return pairs


# How the loop moves on
mistake = exercise.section(hint=1)
mistake(
    **AS_TEXT,
    hint=2,
    variants=[
        lambda parts, pair, errors=errors: byte_pairs.merge(as_text(parts, errors), tuple(as_text(pair, errors)))
        for errors in ("replace", "ignore")
    ],
)
mistake(**NO_TEXT, hint=2, variants=[lambda parts, pair: byte_pairs.merge(as_text(parts, "strict"), pair)])
mistake(
    "overlapping pairs merged",
    pairs=2,
    why="A part that has just been merged with the one before it is used "
    "again for the next merge, so three equal parts become two tokens.",
    look='three parts b"a" and the pair (b"a", b"a"): how many parts should be left, and how many bytes in all?',
    variants=[
        {
            "chosen": lambda found: found,
            "built": lambda parts, chosen, token: [
                token if place in chosen else part
                for place, part in enumerate(parts)
                if place in chosen or place - 1 not in chosen
            ],
        }
    ],
)
mistake(
    "the second part kept",
    why="The second part of the pair appears again, after the token that already contains "
    "it, as when the place moves on by only one part after a merge.",
    look="how many parts does a merge use up?",
    built=lambda parts, chosen, token: [token if place in chosen else part for place, part in enumerate(parts)],
    variants=[
        sweep(lambda first, second, pair: (first, second) == pair, step=1),
        {
            "chosen": lambda found: found,
            "built": lambda parts, chosen, token: [
                token if place in chosen else part for place, part in enumerate(parts)
            ],
        },
    ],
)
mistake(
    "all after the first merge lost",
    pairs=0,
    why="Your list ends with the first merge; everything after it is lost.",
    look="`break`, `return`, and a variable such as `skip`: what happens to the rest of the parts?",
    variants=[
        lambda parts, pair: next(
            ([*parts[:place], pair[0] + pair[1]] for place, two in enumerate(pairwise(parts)) if two == pair),
            list(parts),
        )
    ],
)
mistake(
    "more than two parts joined",
    why="If the second part of the pair follows several times in a row, all of them "
    "are joined to the first. A merge joins two parts and no more.",
    look="the parts a, b, b and the pair (a, b): how many parts should the new token use up?",
    variants=[lambda parts, pair: swallowed(parts, pair)],
)


def swallowed(parts, pair):
    merged, place = [], 0
    while place < len(parts):
        first, token, place = parts[place], parts[place], place + 1
        while first == pair[0] and parts[place : place + 1] == [pair[1]]:
            token, place = token + parts[place], place + 1
        merged.append(token)
    return merged


mistake(
    "the first part kept",
    why="The token comes after the first part of the pair, which should have become part of it.",
    look="what is already in your result when the pair is found?",
    built=lambda parts, chosen, token: [token if place - 1 in chosen else part for place, part in enumerate(parts)],
    variants=[
        {
            "built": lambda parts, chosen, token: [
                one
                for place, part in enumerate(parts)
                if place - 1 not in chosen
                for one in ([part, token] if place in chosen else [part])
            ]
        }
    ],
)
mistake(
    "the first part lost",
    why="The first part of the pair is lost wherever the second does not follow it.",
    look="what becomes of the first part if the next part does not match?",
    built=lambda right, pair: [part for part in right if part != pair[0]],
)
mistake(
    "the second part never kept",
    why="A part equal to the second part of the pair is never kept, even where no merge has used it up.",
    look="a word that begins with the second part of the pair: where is that part in your result?",
    built=lambda right, pair: [part for part in right if part != pair[1]],
    variants=[
        lambda parts, pair: [
            b"".join(pair) if tuple(parts[n : n + 2]) == pair else part
            for n, part in enumerate(parts)
            if tuple(parts[n : n + 2]) == pair or part != pair[1]
        ]
    ],
)
mistake(
    "only one occurrence",
    why="Only one occurrence of the pair is merged; the others stay apart.",
    look="`index`, `break` or `return`: what happens to the other occurrences?",
    chosen=lambda found: found[:1],
    variants=[{"chosen": lambda found: found[-1:]}],
)
mistake(
    "ended at the first miss",
    why="Your code stops at the first place where the pair's first part is not followed "
    "by the second, so the pair is not merged after that place.",
    look="`break` or `return`: if the second part does not follow, may the pair still come later?",
    variants=[lambda parts, pair: up_to_a_miss(parts, pair)],
)


def up_to_a_miss(parts, pair):
    merged, rest = [], list(parts)
    while pair[0] in rest and tuple(rest[rest.index(pair[0]) :][:2]) == pair:
        place = rest.index(pair[0])
        merged, rest = [*merged, *rest[:place], b"".join(pair)], rest[place + 2 :]
    return merged + rest


mistake(
    "merged from right to left",
    why="Where a pair overlaps with itself, it is merged from right to left: of three "
    "equal parts, the last two are joined, not the first two.",
    look="in which order does your code visit the places?",
    chosen=lambda found: [place for place in found if (run_end(found, place) - place) % 2 == 0],
)


def run_end(found, place):
    while place + 1 in found:
        place += 1
    return place


def from_the_right(parts, pair):
    turned = byte_pairs.merge([part[::-1] for part in reversed(parts)], (pair[1][::-1], pair[0][::-1]))
    return [part[::-1] for part in reversed(turned)]


mistake(
    "only every second place",
    why="The parts are taken two at a time, so your code sees only every second pair of neighbours.",
    look="how many pairs of neighbours do four parts have?",
    found=lambda right: [place for place in right if place % 2 == 0],
    variants=[
        {"found": lambda right: [place for place in right if place % 2]},
        lambda parts, pair: [
            one
            for place in range(0, len(parts), 2)
            for one in ([pair[0] + pair[1]] if tuple(parts[place : place + 2]) == pair else parts[place : place + 2])
        ],
    ],
)
mistake(
    "places in the old list",
    why="You look for the pair in the old list, but merge it in a list that earlier "
    "merges have changed. There the parts have moved, or one has been used up, so something else is overwritten.",
    look="after the first merge, are the parts that you compare still the ones that you overwrite?",
    variants=[lambda parts, pair: at_the_old_places(parts, pair)],
)


def at_the_old_places(parts, pair):
    merged = list(parts)
    for place in [place for place, two in enumerate(pairwise(parts)) if two == pair]:
        merged[place : place + 2] = [b"".join(pair)]
    return merged


RUN = 'four parts b"a" and the pair (b"a", b"a"): how many parts should be left, and how many bytes in all?'
mistake(
    "a whole run made one token",
    why="If the two parts of the pair are equal, as in (a, a), a whole run of them "
    "becomes a single token made of two parts, and the other parts are lost.",
    look=RUN,
    variants=[
        lambda parts, pair: [
            b"".join(pair) if tuple(parts[n : n + 2]) == pair else part
            for n, part in enumerate(parts)
            if not n or (parts[n - 1], part) != pair
        ]
    ],
)
mistake(
    "a run merged only once",
    why="If the two parts of the pair are equal, as in (a, a), only the first two of a "
    "run are joined; the others stay apart, although they form pairs too.",
    look=RUN,
    chosen=lambda found: [place for place in found if place - 1 not in found],
)

SHORTER = {
    "name": "a list that gets shorter",
    "why": "The loop counts up to the original length of the list, but each "
    "merge in place makes the list shorter, so the last places no longer exist: hence the IndexError.",
    "look": "the numbers that the loop runs through: when are they fixed?",
}
mistake(
    **SHORTER,
    variants=[
        lambda parts, pair: in_a_shorter_list(parts, lambda merged, n: (merged[n], merged[n + 1]) == pair, pair),
        lambda parts, pair: in_a_shorter_list(
            parts, lambda merged, n: merged[n] == pair[0] and merged[n + 1] == pair[1], pair
        ),
    ],
)


def in_a_shorter_list(parts, fits, pair):
    merged = list(parts)
    for place in range(len(parts) - 1):
        if fits(merged, place):
            merged[place : place + 2] = [b"".join(pair)]
    return merged


mistake(
    "a part found by its value",
    why="A part is found by its value, as with `index` and `remove`. If several parts "
    "are equal, that finds the first of them, which need not be the one you mean.",
    look="if several parts are equal, which one does `remove` take out, and whose place does `index` give?",
    variants=[
        lambda parts, pair: removed_by_value(parts, pair, 0),
        lambda parts, pair: removed_by_value(parts, pair, 1),
        lambda parts, pair: placed_by_value(parts, pair),
        *(
            lambda parts, pair, put=put: put_by_value(parts, pair, put)
            for put in (
                lambda merged, place, pair: merged[:place] + [b"".join(pair)] + merged[place + 2 :],
                lambda merged, place, pair: without_one(
                    merged[:place] + [b"".join(pair)] + merged[place + 1 :], pair[1]
                ),
            )
        ),
    ],
)


def without_one(merged, part):
    """The list without the first of these parts, if there is one."""
    place = merged.index(part) if part in merged else len(merged)
    return merged[:place] + merged[place + 1 :]


def put_by_value(parts, pair, put):
    """For each match in the old list, the token is put at the first place where the new one has the first part."""
    merged = list(parts)
    for two in pairwise(parts):
        if two == pair and pair[0] in merged:
            merged = put(merged, merged.index(pair[0]), pair)
    return merged


def removed_by_value(parts, pair, number):
    """In place: the token is put where one part of the pair is, and the other is removed by its value."""
    merged, place = list(parts), 0
    while place < len(merged) - 1:
        if (merged[place], merged[place + 1]) == pair:
            merged[place + 1 - number] = b"".join(pair)
            merged.remove(pair[number])
        place += 1
    return merged


def placed_by_value(parts, pair):
    merged, skip = [], False
    for part in parts:
        place = parts.index(part)
        joins = not skip and tuple(parts[place : place + 2]) == pair
        merged += [] if skip else [b"".join(pair) if joins else part]
        skip = joins
    return merged


mistake(
    "two parts skipped after a miss",
    why="Where the pair is not found, one part is kept, and the next is skipped and lost.",
    look="how far does the loop move on when there is nothing to merge?",
    variants=[
        lambda parts, pair: [
            pair[0] + pair[1] if tuple(parts[place : place + 2]) == pair else parts[place]
            for place in range(0, len(parts), 2)
        ]
    ],
)

# What is compared, and what it becomes
mistake = exercise.section(hint=2)
mistake(
    "any two neighbours joined",
    why="Neighbours are joined whatever they are, not only where they are the pair.",
    look="under which condition do you join two parts?",
    variants=[sweep(lambda first, second, pair: True)],
)
mistake(
    "only the first of the two compared",
    why="Any part equal to pair[0] is merged with the next part, whatever that is.",
    look="the condition: what is compared with pair[1]?",
    variants=[
        sweep(lambda first, second, pair: first == pair[0]),
        {"found": lambda parts, pair: [n for n, one in enumerate(parts[:-1]) if one == pair[0]]},
    ],
)
mistake(
    "only the second of the two compared",
    why="Any part equal to pair[1] is merged with the part before it, whatever that is.",
    look="the condition: what is compared with pair[0]?",
    variants=[
        sweep(lambda first, second, pair: second == pair[1]),
        {"found": lambda parts, pair: [n for n, one in enumerate(parts[1:]) if one == pair[1]]},
    ],
)
mistake(
    "the pair in either order",
    pairs=2,
    why="The pair is also found where its parts are in the opposite order, but (second, first) is a different pair.",
    look="`set`, `sorted` or `in`: which of them takes the order into account?",
    found=lambda parts, pair: [n for n, two in enumerate(pairwise(parts)) if two in (pair, pair[::-1])],
    variants=[
        sweep(lambda first, second, pair: {first, second} == set(pair)),
        sweep(lambda first, second, pair: sorted([first, second]) == sorted(pair)),
        sweep(
            lambda first, second, pair: (first, second) in (pair, pair[::-1]),
            joined=lambda first, second: min(first, second) + max(first, second),
        ),
    ],
)
mistake(
    "either part of the pair fits",
    why="Your code asks only whether each of the two neighbours is in the pair, so "
    "the same part twice, or the two in the wrong order, are joined as well.",
    look="what exactly does `in` ask?",
    variants=[
        sweep(lambda first, second, pair: first in pair and second in pair),
        {
            "found": lambda parts, pair: [
                n for n, two in enumerate(pairwise(parts)) if two[0] in pair and two[1] in pair
            ]
        },
    ],
)
mistake(
    "the pair in the wrong order",
    why="Your code looks for the second part followed by the first.",
    look="which of the two comes first in the word?",
    found=lambda parts, pair: [n for n, two in enumerate(pairwise(parts)) if two == pair[::-1]],
    variants=[sweep(lambda first, second, pair: (second, first) == pair)],
)
mistake(
    "the bytes compared, not the parts",
    why="Neighbours are joined if together they give the same bytes as the "
    'pair. But (b"th", b"e") and (b"t", b"he") are two different pairs.',
    look="two other parts that give the same token: are they the pair?",
    found=lambda parts, pair: [n for n, two in enumerate(pairwise(parts)) if b"".join(two) == b"".join(pair)],
    variants=[sweep(lambda first, second, pair: first + second == pair[0] + pair[1])],
)
mistake(
    "only single bytes joined",
    why="On the check's inputs, the pair is found only if both of its parts are single "
    "bytes, but longer parts can form a pair too.",
    look="how are the parts compared? `is` asks whether two parts are "
    "the same object in memory, not whether they are equal.",
    variants=[sweep(lambda first, second, pair: (first, second) == pair and len(first + second) == 2)],
)
PART_OF_A_PART = (
    "The pair is also found where its first part is only the end of a longer part, or its second part "
    "only the beginning of one."
)
AT_H = 'the pair (b"t", b"h"): is it in the parts b"at", b"h"? And is it in b"t", b"he"?'
mistake(
    "parts of parts joined",
    why=PART_OF_A_PART,
    look=AT_H,
    variants=[
        lambda parts, pair: as_one_text(parts, pair),
        lambda parts, pair: as_one_text(parts, pair, "latin-1"),
        lambda parts, pair: b" ".join(parts).replace(b" ".join(pair), b"".join(pair)).split(b" "),
        lambda parts, pair: b" ".join(parts).replace(b" ".join(pair), b"".join(pair)).split(),
        lambda parts, pair: b" ".join(parts).replace(b" ".join(pair), b"".join(pair)).split(b" ") if parts else [],
        lambda parts, pair: b"\0".join(parts).replace(b"\0".join(pair), b"".join(pair)).split(b"\0"),
        lambda parts, pair: b"\0".join(parts).replace(b"\0".join(pair), b"".join(pair)).split(b"\0") if parts else [],
        sweep(lambda first, second, pair: first.endswith(pair[0]) and second.startswith(pair[1])),
        sweep(lambda first, second, pair: first == pair[0] and second.startswith(pair[1])),
        sweep(lambda first, second, pair: first.endswith(pair[0]) and second == pair[1]),
    ],
)

mistake(
    "cut at the spaces",
    why="The parts are joined with spaces, and the result is split at its spaces. But a space "
    'may belong to the word itself, and then the part b" " is lost, or b" t" is cut.',
    look="a word that begins with a space, as in GPT-2's vocabulary: how many parts does `split` make of it?",
    variants=[
        lambda parts, pair: in_a_text(parts, pair).split(),
        lambda parts, pair: in_a_text(parts, pair).split(b" "),
        lambda parts, pair: in_a_text(parts, pair).split(b" ") if parts else [],
    ],
)


def in_a_text(parts, pair):
    """By Sennrich's regular expression: neither end of the pair is inside a part."""
    pattern = rb"(?<!\S)" + re.escape(b" ".join(pair)) + rb"(?!\S)"
    return re.sub(pattern, lambda _: b"".join(pair), b" ".join(parts))


mistake(
    "a byte for a mark",
    pairs=0,
    why=MARKED,
    look=LOOK_MARKED,
    variants=[lambda parts, pair, mark=mark: between_marks(parts, pair, mark) for mark in (b"\0", b"\xff", b"|")],
)


def between_marks(parts, pair, mark):
    """A mark on both sides of every part."""
    text, first, second = b"".join(mark + part + mark for part in parts), *pair
    text = text.replace(mark + first + 2 * mark + second + mark, mark + first + second + mark)
    return text[len(mark) : -len(mark)].split(2 * mark) if parts else []


mistake(
    "only the end of a part compared",
    why="Your code asks whether the last part of the new list ends with the "
    "first part of the pair, and perhaps whether the next one begins with the second. But a part may be longer than "
    "that, and then the pair is not there.",
    look='three parts b"a" and the pair (b"a", b"a"): is b"aa" equal to b"a"?',
    variants=[
        lambda parts, pair: by_the_end(parts, pair),
        lambda parts, pair: by_the_end(parts, pair, bytes.startswith),
    ],
)


def by_the_end(parts, pair, fits=bytes.__eq__):
    merged = []
    for part in parts:
        if merged and merged[-1].endswith(pair[0]) and fits(part, pair[1]):
            merged[-1] += part
        else:
            merged.append(part)
    return merged


mistake(
    "searched in the joined bytes",
    why="Your code searches the whole word for the bytes of the pair, without "
    "regard to where its parts end, so a longer part may be cut, or a part joined to only the beginning of the next.",
    look='the pair (b"t", b"h") and the parts b"t", b"he": is the pair in there?',
    variants=[
        lambda parts, pair: in_the_bytes(parts, pair),
        lambda parts, pair: in_the_bytes(parts, pair, True),
        lambda parts, pair: in_pieces(parts, pair, lambda piece: [piece] if piece else []),
        lambda parts, pair: in_pieces(parts, pair, lambda piece: [bytes([byte]) for byte in piece]),
    ],
)


def in_pieces(parts, pair, rest):
    """The joined bytes cut at every token; what is between two tokens becomes whatever rest makes of it."""
    first, *others = b"".join(parts).split(b"".join(pair))
    return [*rest(first), *(part for piece in others for part in (b"".join(pair), *rest(piece)))]


def in_the_bytes(parts, pair, anywhere=False):
    """The joined bytes cut at every token found where a part begins (or anywhere), and elsewhere as before."""
    text, token, merged, place = b"".join(parts), b"".join(pair), [], 0
    ends = list(accumulate(map(len, parts)))
    while place < len(text):
        end = place + len(token)
        if text[place:end] != token:
            end = next(one for one in ends if one > place)
            found = text.find(token, place, end + len(token) - 1) if anywhere else -1
            end = found if found > place else end
        merged.append(text[place:end])
        place = end
    return merged


def as_one_text(parts, pair, encoding="latin-1"):
    text = " ".join(part.decode(encoding) for part in parts)
    first, second = (part.decode(encoding) for part in pair)
    return [part.encode(encoding) for part in text.replace(f"{first} {second}", first + second).split()]


mistake(
    "spaces lost",
    why="Parts that consist only of white space are left out.",
    look="a word may begin with a space, as in GPT-2's vocabulary. What do `strip` and `split` make of it?",
    handed=lambda merged: [part for part in merged if part.strip()],
)
mistake(
    "joined in the wrong order",
    pairs=2,
    why="The new token puts the second part before the first.",
    look='b"t" + b"h": which comes first in the text?',
    token=[lambda pair: pair[1] + pair[0]],
)
mistake(
    "the pair in place of the token",
    pairs=3,
    why="Where the pair was found, your result has a tuple or a list; it should have a single part, the two joined.",
    look="how do you join two pieces of bytes?",
    token=[lambda pair: pair, lambda pair: list(pair), lambda pair: [pair[0] + pair[1]]],
)
mistake(
    "the token too often",
    why="Each of the two parts is replaced by the token, so the token appears twice.",
    look="if there were three parts before a merge, how many should there be after it?",
    built=lambda parts, chosen, token: [
        token if {place, place - 1} & set(chosen) else part for place, part in enumerate(parts)
    ],
)
mistake(
    "the pair removed",
    why="Where the pair was found, its two parts are removed, but no token is put in their place.",
    look="what takes the pair's place in your result?",
    built=lambda parts, chosen, token: [
        part for place, part in enumerate(parts) if not {place, place - 1} & set(chosen)
    ],
)
mistake(
    "only the tokens kept",
    why="Only the tokens are kept; the parts that were not merged are left out.",
    look="what does your result get where the pair is not found?",
    built=lambda chosen, token: [token] * len(chosen),
)
mistake(
    "the token at the end",
    why="The parts of the pair are removed, but the token is put at the end (or the "
    "beginning) of the list, not where they were.",
    look="`append` or `insert`: at which place does it put the token?",
    built=lambda parts, chosen, token: [
        *(part for place, part in enumerate(parts) if not {place, place - 1} & set(chosen)),
        *[token] * len(chosen),
    ],
    variants=[
        {
            "built": lambda parts, chosen, token: [
                *[token] * len(chosen),
                *(part for place, part in enumerate(parts) if not {place, place - 1} & set(chosen)),
            ]
        }
    ],
)
mistake(
    "every part cut into bytes",
    why="Parts of several bytes are cut into single bytes, which undoes earlier merges.",
    look='what does a loop over bytes, or `b"".join`, make of longer parts?',
    variants=[lambda parts, pair: Merge()([bytes([byte]) for byte in b"".join(parts)], pair)],
)

# The ends
mistake = exercise.section(hint=3)
mistake(
    "the last part lost",
    pairs=2,
    why="The last part is missing from your result, as when the loop ends before it and nothing adds it afterwards.",
    look="the result for a word without the pair: is every part still there?",
    built=lambda step, parts, chosen, token, pair: step(
        parts if len(parts) - 2 in chosen else parts[:-1], chosen, token, pair
    ),
    variants=[{"handed": lambda merged: merged[:-1]}],
)
mistake(
    "the last part twice",
    why="The last part of the list is added at the end even if a merge has just used it, so its bytes appear twice.",
    look="a list of just the two parts of the pair: what should be left of it?",
    built=lambda right, parts, chosen: [*right, parts[-1]] if len(parts) - 2 in chosen else right,
)
REST_LOST = {
    "name": "the rest lost",
    "why": "After the last occurrence of the pair's first part, nothing more is "
    "added, as when the loop ends because that part is not found again.",
    "look": "`index` raises an error when there is nothing left to find: which parts are still missing at that point?",
}
mistake(
    "the last part taken for merged",
    pairs=0,
    why="The last part is missing where it is taken for one that has "
    "been merged: it is the second of the pair, but the part before it is not the first, or has been merged "
    "already.",
    look="merge (a, a) in a, a, a: when has the last part been merged, and how does your code know?",
    variants=[
        lambda parts, pair: but_the_last(parts, pair, lambda last: tuple(last) != pair),
        lambda parts, pair: but_the_last(parts, pair, lambda last: last[-1] != pair[1]),
    ],
)


def but_the_last(parts, pair, is_left):
    """Pairs of neighbours in turn, without those that begin inside a merge; the last part follows if it is left."""
    merged, skip = [], False
    for two in pairwise(parts):
        if not skip:
            merged.append(b"".join(two) if two == tuple(pair) else two[0])
        skip = not skip and two == tuple(pair)
    return merged + [parts[-1]] * bool(parts and is_left(parts[-2:]))


mistake(**REST_LOST, variants=[lambda parts, pair: up_to_the_last(parts, pair)])


def up_to_the_last(parts, pair):
    merged, place = [], 0
    while pair[0] in parts[place:]:
        found = parts.index(pair[0], place)
        joins = parts[found + 1 : found + 2] == [pair[1]]
        merged += [*parts[place:found], b"".join(pair) if joins else pair[0]]
        place = found + 1 + joins
    return merged


mistake(
    "the parts in between lost",
    why="The parts before the next occurrence of the pair's first part are lost, as "
    "when a search jumps there and the parts that it passes over are never added.",
    look="`index`: which parts lie between the place where it starts and the place that it finds?",
    variants=[lambda parts, pair: passed_over(parts, pair), lambda parts, pair: passed_over(parts, pair, rest=False)],
)


def passed_over(parts, pair, rest=True):
    merged, place = [], 0
    while pair[0] in parts[place:]:
        place = parts.index(pair[0], place)
        joins = parts[place + 1 : place + 2] == [pair[1]]
        merged.append(b"".join(pair) if joins else pair[0])
        place += 1 + joins
    return merged + (parts[place:] if rest else [])


mistake(
    "the parts in between added again",
    why="Parts that come before the next possible beginning of the pair are "
    "in your result more than once, as when they are added together but the loop then continues with the first of "
    "them.",
    look="once several parts have been added together, at which place does the loop continue?",
    variants=[lambda parts, pair: added_again(parts, pair)],
)


def added_again(parts, pair):
    merged, place = [], 0
    while place < len(parts) and pair[0] in parts[place:]:
        merged += parts[place : parts.index(pair[0], place)]
        joins = tuple(parts[place : place + 2]) == pair
        merged.append(b"".join(pair) if joins else parts[place])
        place += 1 + joins
    return merged + parts[place:]


mistake(
    "the last pair not seen",
    why="The pair is not found at the end of the word, as when a loop stops one place too early.",
    look="a word of just the two parts of the pair: at which place does its only pair begin?",
    found=lambda parts, pair: [n for n, two in enumerate(pairwise(parts[:-1])) if two == pair],
)
mistake(
    "the first pair not seen",
    why="The pair is not found at the beginning of the word.",
    look="at which place does the search start?",
    found=lambda right: [place for place in right if place],
)
mistake(
    "two parts left as they are",
    why="A word of two parts comes back unchanged, even if they are the pair.",
    look="the condition on the number of parts: how many must a word have to contain a pair?",
    variants=[lambda parts, pair: list(parts) if len(parts) < 3 else byte_pairs.merge(parts, pair)],
)
mistake(
    "beyond the end",
    why="At the last part, your code asks for the next part, but there is none: hence the IndexError.",
    look="`parts[place + 1]`: what is it when place is the last one?",
    variants=[
        lambda parts, pair: beyond_the_end(parts, pair, lambda place: (parts[place], parts[place + 1]) == pair),
        lambda parts, pair: beyond_the_end(
            parts, pair, lambda place: parts[place] == pair[0] and parts[place + 1] == pair[1]
        ),
    ],
)


def beyond_the_end(parts, pair, fits):
    merged, place = [], 0
    while place < len(parts):
        joins = fits(place)
        merged.append(b"".join(pair) if joins else parts[place])
        place += 1 + joins
    return merged


def first_needed(parts, pair):
    return one_by_one([parts[0], *parts[1:]], pair)


mistake(
    "the empty list",
    why="Your code raises an error on an empty list, as when it looks at the first or the last "
    "part without checking whether there is one.",
    look="what should your function return for an empty list?",
    variants=[first_needed],
)

# What is returned
mistake = exercise.section(hint=3)
mistake(
    "a tuple for the list",
    why="The parts are right, but they come in a tuple, not in a list.",
    look="the brackets, and what `tuple` does.",
    handed=lambda merged: tuple(merged),
)
mistake(
    "one piece of bytes",
    why="The parts are joined into a single bytes object or string; the exercise asks for a list of them.",
    look="the `return` line: what does `join` make?",
    handed=[
        lambda merged: b"".join(merged),
        lambda merged: b" ".join(merged),
        lambda merged: "".join(part.decode("latin-1") for part in merged),
    ],
)
mistake(
    "texts for bytes",
    why="The parts are strings; they should be bytes.",
    look="where do you use `decode` or str(…)?",
    handed=[lambda merged: [part.decode("latin-1") for part in merged], lambda merged: [str(part) for part in merged]],
)
mistake(
    "numbers for bytes",
    why="The bytes have become numbers: a loop over a bytes object, or an index into it, gives numbers.",
    look='b"a"[0] is 97. What is b"a"[0:1]?',
    handed=[lambda merged: [byte for part in merged for byte in part], lambda merged: [list(part) for part in merged]],
)
mistake(
    "nothing merged",
    why="The list comes back with nothing merged.",
    look="do you keep the result of the merge? And what do you compare: is a list ever equal to a tuple?",
    chosen=lambda found: [],
)
mistake(
    "the given list returned",
    why=SAME,
    look="which list do you return if there is nothing to merge?",
    variants=[lambda parts, pair: byte_pairs.merge(parts, pair) if pair in pairwise(parts) else parts],
)
