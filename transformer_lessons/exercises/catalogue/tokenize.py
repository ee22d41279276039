"""How the inputs of `tokenize` are drawn, and what its tokens have lost, and where they are cut."""

import functools
import itertools
import re
import string
import unicodedata
from typing import Any

import torch

from transformer_lessons.exercises.catalogue.plain_results import equal, is_a_list
from transformer_lessons.exercises.checker.setup import Setup, integers
from transformer_lessons.language import tokenization


def draw_text(generator, template):
    """A text of invented words: {a} to {h} are words, {A} and {B} have a capital, {n} is a number."""
    letters = string.ascii_lowercase
    first = [letters[place] for place in torch.randperm(26, generator=generator)[:10]]
    rest = [
        "".join(letters[place] for place in integers(generator, 26, size)) for size in integers(generator, 5, 10, low=1)
    ]
    words = [one + other for one, other in zip(first, rest, strict=True)]
    fields = dict(zip("abcdefgh", words, strict=False), A=words[8].title(), B=words[9].title())
    return (template.format(n=int(integers(generator, 90, 1)) + 10, **fields),)


def as_list(call, text):
    """The tokens as plain strings; an iterator becomes a string whose type bears its name, which can be compared."""
    tokens = call(text)
    if isinstance(tokens, (list, tuple)):
        return type(tokens)(str(token) if isinstance(token, str) else token for token in tokens)
    if hasattr(tokens, "__next__"):
        items = list(itertools.islice(tokens, 2 * len(text) + 3))
        return iterator_type(type(tokens).__name__)("\0".join(map(str, items)))
    return tokens


@functools.cache
def iterator_type(name):
    return type(name, (str,), {})


def cuts_long_texts(call, text):
    """One nested call for each token is too many for Python, if there are thousands of tokens; tried only once."""
    try:
        return None if text else call("ab, " * 2000) and None
    except RecursionError:
        return "too many nested calls"


def what_the_tokens_show(observed, expected, text):
    """What is wrong with the tokens, shown with the learner's own tokens."""
    joined = "".join(observed)
    if joined != text:
        places = enumerate(zip(joined, text, strict=False))
        place = next((n for n, (one, other) in places if one != other), min(len(joined), len(text)))
        return (
            f"Joined, the tokens do not give the text back: the two begin to differ after {place} "
            f"character{'s' * (place != 1)}, where the text goes on with {text[place : place + 5]!r}."
        )
    whole = (token for token in observed if len(re.findall(r"\w+|\W+", token)) > 1)
    kinds = [bool(re.match(r"\w", token)) for token in observed]
    alike = (
        pair for pair, (one, other) in zip(*map(itertools.pairwise, (observed, kinds)), strict=True) if one == other
    )
    return next(
        itertools.chain(
            ("There is an empty token." for token in observed if not token),
            (f"There is a word boundary inside the token {token!r}." for token in whole),
            (f"There is no word boundary between the tokens {one!r} and {other!r}." for one, other in alike),
        ),
        None,
    )


def signs_of_cutting(observed, expected, text):
    """What is wrong with tokens that no known variant gives: what they have lost, and where they are cut."""
    if isinstance(observed, list) and observed and all(isinstance(token, list) for token in observed):
        return ["a list of lists"]
    if not isinstance(observed, (list, tuple)):
        return []
    joined = "".join(observed)
    if joined != text:
        return signs_of_loss(observed, expected, text, joined)
    cuts, right = (
        {place for place in itertools.accumulate(map(len, tokens)) if 0 < place < len(text)}
        for tokens in (observed, expected)
    )
    return ["empty tokens kept"] * ("" in observed) + signs_of_cuts(text, cuts, cuts - right, right - cuts)


def signs_of_loss(observed, expected, text, joined):
    """How the text that the tokens give differs from the one that was cut."""
    rest = iter(text)
    return [
        *(name for name, left in what_is_left(text) if joined == left),
        *(
            name
            for name, shown in (
                ("upper and lower case lost", joined.casefold() == text.casefold()),
                ("the order lost", sorted(observed) == sorted(expected)),
                ("repetitions lost", len(set(observed)) == len(observed) and set(observed) == set(expected)),
                ("part of the text lost", all(character in rest for character in joined)),
                ("characters rewritten", joined in [unicodedata.normalize(form, text) for form in FORMS]),
                ("the text changed", True),
            )
            if shown
        ),
    ]


FORMS: tuple[Any, ...] = "NFC", "NFD", "NFKC", "NFKD"


def what_is_left(text):
    """(mistake, what it leaves of a text), for each that changes this text."""
    patterns = (
        ("only the words kept", r"\W", ""),
        ("only the words kept", r"[\W_]", ""),
        ("only the words kept", r"[\W\d_]", ""),
        ("white space lost", r"\s", ""),
        ("white space lost", " ", ""),
        ("punctuation lost", r"[^\w\s]", ""),
        ("line breaks lost", "\n", ""),
        ("line breaks lost", "[\r\n]", ""),
        ("line breaks turned into spaces", "\n", " "),
        ("line breaks turned into spaces", "\r\n|\n", " "),
        ("runs of white space squeezed", r"\s+", " "),
        ("runs of white space squeezed", " +", " "),
    )
    return [
        *((name, re.sub(pattern, by, text)) for name, pattern, by in patterns),
        ("line breaks turned into spaces", " ".join(text.splitlines())),
        *(("white space at the ends lost", left) for left in (text.strip(), text.lstrip(), text.rstrip())),
        ("runs of white space squeezed", " ".join(text.split())),
    ]


def signs_of_cuts(text, cuts, more, missing):
    """What all the cuts have in common, and the superfluous ones, and the missing ones."""

    def beside(pattern, places):
        return bool(places) and all(re.search(pattern, text[place - 1 : place + 1]) for place in places)

    signs = (
        ("only the first cuts made", cuts and missing and not more and max(cuts) < min(missing)),
        ("apostrophes or hyphens count as letters", beside("['’-]", missing)),
        ("the underscore does not count as part of a word", beside(r"_", more | missing)),
        (
            "digits do not count as part of a word",
            more and beside(r"\d", more | missing) and not beside(r"\W", more),
        ),
        ("only a to z count as letters", beside(r"(?i)[^\W\da-z_]", more) and not missing),
        ("punctuation and white space cut apart", beside(r"\s\S|\S\s", more) and not missing),
        ("cuts where there is no word boundary", more and not missing),
        ("cut only where white space is", missing and beside(r"\s", cuts)),
        ("word boundaries without a cut", missing and not more),
        ("cut in the wrong places", more and missing),
    )
    return [name for name, shown in signs if shown]


setup = Setup(
    sizes=[
        {"template": template}
        for template in (
            "{A}, {b}!",
            " '{A}'{b}, {c}-{d}' {a}\n",
            "{A} {b}:\n\t{c},  {d}\n\n{b} {a}, {b}?\r\n",
            "{a}é{b} {n}{c}; {d}_{e} {f}e\u0301 Ж{b}ß… {n}.{n}",
            "",
            "{a}",
            "?! \n",
            "\ufeff{B}. {a}'{b}, {c}’{d} -- “{e} {f}” ({n})\xa0{g}\n{A}:\0  {h} {a}-{b}; {B}, {c}:"
            " {e}{B} {f}, {g} {h}! {d}\n\n{a} {f} - {e}{A}; {b}? {c}.\n",
        )
    ],
    draw=draw_text,
    reference=tokenization.tokenize,
    observe=as_list,
    same=equal,
    checks=[is_a_list, cuts_long_texts],
    symptoms=[what_the_tokens_show],
    signs=signs_of_cutting,
)
