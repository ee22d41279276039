"""The exercise `tokenize`: words, and what comes between them."""

import functools
import itertools
import re
import string
import unicodedata

import torch

from transformer_lessons.exercises.checker.comparison import alike
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


def same_tokens(one, other):
    """Equal, string by string; a tuple, too, is compared by what it holds."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(alike(a, b, 0) for a, b in zip(one, other, strict=True))
    return alike(one, other, 0)


def is_a_list(call, text):
    tokens = call(text)
    if not isinstance(tokens, list):
        return (
            "a tuple for the list",
            f"The tokens are right, but they come in a {type(tokens).__name__}, not in a list.",
            "the brackets, and what `tuple` does.",
        )
    return None


def cuts_long_texts(call, text):
    """One nested call for each token is too many for Python, if there are thousands of tokens; tried only once."""
    try:
        return None if text else call("ab, " * 2000) and None
    except RecursionError:
        return (
            ONE_CALL_EACH,
            "A text of 2,000 words needs more nested calls than Python allows.",
            "can a loop replace the recursion?",
        )


ONE_CALL_EACH = "one call for each token"


def what_the_tokens_show(observed, expected, text):
    """What is wrong with the tokens, shown with the learner's own tokens."""
    joined = "".join(observed)
    if joined != text:
        place = next(
            (n for n, (one, other) in enumerate(zip(joined, text, strict=False)) if one != other),
            min(len(joined), len(text)),
        )
        return (
            f"Joined, the tokens do not give the text back: the two begin to differ after {place} "
            f"character{'s' * (place != 1)}, where the text goes on with {text[place : place + 5]!r}."
        )
    if "" in observed:
        return "There is an empty token."
    for token in observed:
        if len(re.findall(r"\w+|\W+", token)) > 1:
            return f"There is a word boundary inside the token {token!r}."
    for one, other in itertools.pairwise(observed):
        if bool(re.match(r"\w", one)) == bool(re.match(r"\w", other)):
            return f"There is no word boundary between the tokens {one!r} and {other!r}."
    return None


def signs_of_cutting(observed, expected, text):
    """What is wrong with tokens that no known variant gives: what they have lost, and where they are cut."""
    if isinstance(observed, list) and observed and all(isinstance(token, list) for token in observed):
        yield "a list of lists"
        return
    if not isinstance(observed, (list, tuple)) or not all(isinstance(token, str) for token in observed):
        return
    joined = "".join(observed)
    yield from (name for name, left in what_is_left(text) if joined == left != text)
    if joined != text:
        if joined.casefold() == text.casefold():
            yield "upper and lower case lost"
        if sorted(observed) == sorted(expected):
            yield "the order lost"
        if len(set(observed)) == len(observed) and set(observed) == set(expected):
            yield "repetitions lost"
        rest = iter(text)
        if all(character in rest for character in joined):
            yield "part of the text lost"
        if any(joined == unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD")):
            yield "characters rewritten"
        yield "the text changed"
        return
    if "" in observed:
        yield "empty tokens kept"
    cuts, right = (
        {place for place in itertools.accumulate(map(len, tokens)) if 0 < place < len(text)}
        for tokens in (observed, expected)
    )
    yield from signs_of_cuts(text, cuts, cuts - right, right - cuts)


def what_is_left(text):
    """(mistake, what it leaves of a text)."""
    yield from (
        (name, re.sub(pattern, by, text))
        for name, pattern, by in (
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
    )
    yield "line breaks turned into spaces", " ".join(text.splitlines())
    yield from (("white space at the ends lost", left) for left in (text.strip(), text.lstrip(), text.rstrip()))
    yield "runs of white space squeezed", " ".join(text.split())


def signs_of_cuts(text, cuts, more, missing):
    """What all the cuts have in common, and the superfluous ones, and the missing ones."""

    def beside(pattern, places):
        return bool(places) and all(re.search(pattern, text[place - 1 : place + 1]) for place in places)

    if cuts and missing and not more and max(cuts) < min(missing):
        yield "only the first cuts made"
    if beside("['’-]", missing):
        yield "apostrophes or hyphens count as letters"
    if beside(r"_", more | missing):
        yield "the underscore does not count as part of a word"
    if more and beside(r"\d", more | missing) and not beside(r"\W", more):
        yield "digits do not count as part of a word"
    if beside(r"(?i)[^\W\da-z_]", more) and not missing:
        yield "only a to z count as letters"
    if more and not missing:
        if beside(r"\s\S|\S\s", more):
            yield "punctuation and white space cut apart"
        yield "cuts where there is no word boundary"
    if missing and cuts and beside(r"\s", cuts):
        yield "cut only where white space is"
    if missing and not more:
        yield "word boundaries without a cut"
    if more and missing:
        yield "cut in the wrong places"


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
    same=same_tokens,
    checks=[is_a_list, cuts_long_texts],
    symptoms=[what_the_tokens_show],
    signs=signs_of_cutting,
)
