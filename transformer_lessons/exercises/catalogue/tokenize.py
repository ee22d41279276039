"""The exercise `tokenize`: words, and what comes between them."""

import functools
import itertools
import re
import string
import unicodedata

import numpy as np
import torch

from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, integers
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


exercise = Exercise(
    name="tokenize",
    lesson=8,
    title="Words, and what comes between them",
    difficulty=1,
    importance=2,
    minutes=8,
    contract=r"""
        tokenize(text) cuts a text at its word boundaries and returns the pieces, in order, as a list of str.
        A word boundary is where a letter, digit or underscore (in any alphabet: what `\w` matches) meets
        something else. Joined, the tokens give the text back; no token is empty; an empty text has no tokens.
        """,
    stub='''
        def tokenize(text):
            """The words of a text and what comes between them, in order, as a list."""
            raise NotImplementedError''',
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
    ],  # more than 40 tokens
    draw=draw_text,
    reference=lambda text: tokenization.tokenize(text),
    observe=as_list,
    same=same_tokens,
    checks=[is_a_list, cuts_long_texts],
    symptoms=[what_the_tokens_show],
    signs=signs_of_cutting,
    hints=[
        (
            "something is missing",
            "Join your tokens and compare the result with the text. `re.split` throws away "
            "what its pattern matches. Is there a pattern that matches a position rather than a character?",
        ),
        (
            "the cuts are in the wrong places",
            "In a regular expression, `\\b` matches the place between a word and "
            'anything else. Put an r before the opening quote: r"\\b". What does "\\b" mean without the r?',
        ),
        (
            "empty tokens",
            "A cut at the very start or end of the text leaves nothing on one side of it. Is an empty "
            "string true or false in a condition?",
        ),
    ],
    solution=r"""
        import re

        def tokenize(text):
            return [token for token in re.split(r"\b", text) if token]""",
)


@exercise.right("step by step")
class Tokenize(Steps):
    def __call__(self, text):
        return self.listed(self.kept(self.pieces(self.prepared(text))))

    def prepared(self, text):
        return text

    def pieces(self, text):
        return re.split(r"\b", text)

    def kept(self, pieces):
        return [piece for piece in pieces if piece]

    def listed(self, tokens):
        return tokens


def found(*patterns):
    """For the step `pieces`: all that matches a pattern."""
    return [lambda text, pattern=pattern: re.findall(pattern, text) for pattern in patterns]


def split(*patterns):
    """For the step `pieces`: the pieces of a split at a pattern."""
    return [lambda text, pattern=pattern: re.split(pattern, text) for pattern in patterns]


# What is done to the text first
mistake = exercise.section(hint=1)
mistake(
    "upper and lower case lost",
    why="The letters change case: joined, the tokens do not give the text back.",
    look="does the exercise say anything about capitals?",
    prepared=[lambda text: text.lower(), lambda text: text.casefold(), lambda text: text.upper()],
)
mistake(
    "white space at the ends lost",
    why="White space at the start or the end of the text is thrown away.",
    look="join the tokens of a text that ends in a line break.",
    prepared=[lambda text: text.strip(), lambda text: text.lstrip(), lambda text: text.rstrip()],
)
mistake(
    "line breaks turned into spaces",
    why="Line breaks become spaces: joined, the tokens do not give the text back.",
    look="join the tokens of a text of two lines.",
    prepared=[
        lambda text: text.replace("\n", " "),
        lambda text: " ".join(text.splitlines()),
        lambda text: text.replace("\r", "").replace("\n", " "),
    ],
)
mistake(
    "line breaks lost",
    pairs=2,
    why="The line breaks are thrown away: joined, the lines of the text run together.",
    look="join the tokens of a text of two lines. In a regular expression, does a dot match a line break?",
    prepared=lambda text: text.replace("\n", ""),
    pieces=[
        lambda text: [piece for line in text.splitlines() for piece in re.split(r"\b", line)],
        lambda text: [piece for line in text.split("\n") for piece in re.split(r"\b", line)],
    ],
    variants=[{"prepared": lambda text: "".join(text.splitlines())}],
)
mistake(
    "runs of white space squeezed",
    pairs=2,
    why="A run of white space becomes a single space: joined, the tokens do not give the text back.",
    look="join the tokens of a text with two spaces in a row, or with an empty line.",
    prepared=[
        lambda text: re.sub(r"\s+", " ", text),
        lambda text: " ".join(text.split()),
        lambda text: re.sub(" +", " ", text),
    ],
)
mistake(
    "characters rewritten",
    why="Unicode normalisation rewrites some characters: the text that the tokens give may "
    "look the same, but it is not.",
    look="take a text with accents: is it as long as the joined tokens?",
    prepared=[lambda text, form=form: unicodedata.normalize(form, text) for form in ("NFC", "NFD", "NFKC", "NFKD")],
)
mistake(
    "characters beyond ASCII lost",
    why="Letters with accents and letters of other alphabets are left out or "
    "replaced: joined, the tokens do not give the text back.",
    look="join the tokens of a text with an é.",
    prepared=[
        lambda text: text.encode("ascii", "ignore").decode(),
        lambda text: text.encode("ascii", "replace").decode(),
        lambda text: unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode(),
    ],
)
mistake(
    "punctuation lost",
    pairs=3,
    why="Punctuation is thrown away: joined, the tokens do not give the text back.",
    look="join the tokens of a text with a comma.",
    prepared=[
        lambda text: re.sub(r"[^\w\s]", "", text),
        lambda text: text.translate(str.maketrans("", "", string.punctuation)),
    ],
    pieces=found(r"\w+|\s+", r"\w+|\s"),
)

# Where the text is cut
BOUNDARIES = "how many word boundaries are there in “Oh, no!”?"
mistake = exercise.section(hint=2)
mistake(
    'nothing cut ("\\b" without r?)',
    why='The text comes back whole, as one token. A plain "\\b" is not a word '
    'boundary but a backspace, which is not in the text; r"\\b" is a word boundary.',
    look='print len("\\b") and len(r"\\b").',
    pieces=lambda text: [text],
)
mistake(
    "only the first cuts made",
    pairs=0,
    why="The text is cut only at the first few word boundaries, and the rest stays in one piece.",
    look="what limits the number of cuts? The third argument of `re.split`, for example, is `maxsplit`, not `flags`.",
    pieces=[lambda text, most=most: re.split(r"\b", text, maxsplit=most) for most in (1, 2, 8, 16, 32, 40)],
)
mistake(
    "only the words kept",
    hint=1,
    pairs=3,
    why="Only the words are left: the white space and punctuation between them are thrown away.",
    look="join your tokens. Can the text still be read?",
    pieces=[
        *found(
            r"\w+",
            r"[a-zA-Z]+",
            r"[\w']+",
            r"[a-zA-Z0-9]+",
            r"[a-zA-Z0-9_]+",
            r"[^\W_]+",
            r"[^\W\d_]+",
            r"[a-zA-Z']+",
            r"[\w'-]+",
            r"\w+(?:'\w+)*",
            r"\w+(?:['’]\w+)*",
        )
    ],
    kept=[lambda pieces: list(filter(str.isalnum, pieces)), lambda pieces: list(filter(str.isalpha, pieces))],
)
mistake(
    "split at white space, which is lost",
    hint=1,
    pairs=2,
    why="The text is split at white space, which is thrown away; punctuation stays glued to the words.",
    look="join your tokens. Is there a word boundary between a word and a comma?",
    pieces=[lambda text: text.split(), lambda text: text.split(" "), *split("[ \n]")],
)
mistake(
    "cut only where white space is",
    pairs=3,
    why="The text is cut only at white space, so punctuation stays glued to the words.",
    look="where are the word boundaries in “Oh, no!”?",
    pieces=[*split(r"(\s+)", r"(\s)", "( )", "( +)", "([ \n])", "(?<= )"), *found(r"\S+\s*|\s+", r"\s?\S+|\s+")],
)
mistake(
    "white space lost",
    hint=1,
    pairs=5,
    why="White space between the words is thrown away: joined, the tokens run into each other.",
    look="join your tokens. What has become of the spaces?",
    pieces=found(r"\w+|[^\w\s]+", r"\w+|[^\w\s]", r"[\w']+|[^\w\s]"),
    kept=[
        lambda pieces: list(filter(str.strip, pieces)),
        lambda pieces: list(map(str.strip, filter(str.strip, pieces))),
        lambda pieces: list(map(str.strip, pieces)),
        lambda pieces: [piece for piece in pieces if not piece.isspace()],
        lambda pieces: [piece for piece in pieces if piece not in ("", " ")],
        lambda pieces: [piece for piece in pieces if piece != " "],
    ],
    prepared=[lambda text: text.replace(" ", ""), lambda text: re.sub(r"\s", "", text)],
)
mistake(
    "every character between words by itself",
    why="What comes between two words is cut into single characters: a "
    "comma and the space after it become two tokens, though there is no word boundary between them.",
    look=BOUNDARIES,
    pieces=lambda text: re.split(r"(\W)", text),
)
mistake(
    "every character between words by itself, and line breaks lost",
    pairs=0,
    why="What comes between two words is "
    "cut into single characters, though there is no word boundary between them. Also, line breaks are lost.",
    look=f"{BOUNDARIES} And in a regular expression, does a dot match a line break?",
    pieces=found(r"\w+|."),
)
mistake(
    "punctuation and white space cut apart",
    why="Punctuation and white space are cut apart, such as a comma and "
    "the space after it, though there is no word boundary between them.",
    look=BOUNDARIES,
    pieces=[
        *found(r"\w+|\s+|[^\w\s]+", r"\w+|\s+|[^\w\s]", r"\w+|\s|[^\w\s]+", r"\w+| +|[^\w ]+", r"\w+| |[^\w ]+"),
        *split(r"\b|(?=\s)", r"\b|(?<=\s)"),
    ],
)
mistake(
    "only a to z count as letters",
    why="Words with letters such as é or Ж are cut into pieces, as when only a "
    "to z count as letters. (With some patterns, so are words with capitals, digits or underscores.)",
    look="a text with an é. Which pattern matches a letter of any alphabet?",
    pieces=[
        *split(r"([^a-zA-Z]+)", r"(?a:\b)"),
        *found(
            r"[a-zA-Z]+|[^a-zA-Z]",
            r"[a-zA-Z0-9]+|[^a-zA-Z0-9]+",
            r"[a-zA-Z0-9]+|[^a-zA-Z0-9]",
            r"[a-zA-Z0-9_]+|[^a-zA-Z0-9_]",
            r"[a-zA-Z']+|[^a-zA-Z']+",
            r"[a-zA-Z']+|[^a-zA-Z']",
            r"[a-zA-Z]+|\s+|[^a-zA-Z\s]+",
            r"[a-zA-Z]+|\s+|[^a-zA-Z\s]",
            r"[a-zA-Z]+|[0-9]+|[^a-zA-Z0-9]+",
            r"[a-zA-Z]+|[0-9]+|[^a-zA-Z0-9]",
            r"[a-zA-Z]+|\d+|\s+|[^a-zA-Z\d\s]+",
            r"[a-z]+|[^a-z]+",
            r"[a-zA-Z]+|\W+",
            r"[a-zA-Z]+|\d+|\W+",
            r"[a-zA-Z0-9]+|\W+",
            r"[a-zA-Z]+|\W",
            r"[a-zA-Z0-9]+|\W",
            r"[a-zA-Z]+|\s+|[^\w\s]",
            r"[a-zA-Z]+|\s+|[^\w\s]+",
        ),
    ],
)
mistake(
    "digits do not count as part of a word",
    why="Digits are cut off from letters, or put with what comes between "
    "words; but `\\w` matches digits too, so they are part of a word.",
    look="a text with a number. What does `\\w` match?",
    pieces=[
        *split(r"([^\W\d_]+)"),
        *found(
            r"[^\W\d]+|[\W\d]+",
            r"[^\W\d]+|\d+|\W+",
            r"[^\W\d_]+|\d+|[\W_]+",
            r"[^\W\d_]+|[\W\d_]",
            r"[^\W\d]+|[\W\d]",
            r"[^\W\d]+|\d+|\W",
            r"[^\W\d]+|\d|\W+",
        ),
    ],
)
mistake(
    "the underscore does not count as part of a word",
    why="Words are cut at the underscore; but `\\w` matches it too, so it is part of a word.",
    look="what does `\\w` match besides letters and digits?",
    pieces=[*split(r"([^\W_]+)"), *found(r"[^\W_]+|[\W_]", r"[^\W_]+|\s+|[^\w\s]+|_+")],
)
mistake(
    "a token for each line",
    why="The text is cut into lines, not at its word boundaries.",
    look=BOUNDARIES,
    pieces=lambda text: text.splitlines(keepends=True),
)
mistake(
    "a token for each character",
    why="Every character becomes a token of its own; the characters of a word should stay together.",
    look="where does a word begin and where does it end?",
    pieces=lambda text: list(text),
)
mistake(
    "apostrophes or hyphens count as letters",
    why="Your words run on past an apostrophe or a hyphen; but it is "
    "not a letter, so there is a word boundary between it and any letter beside it.",
    look="how many tokens should “it's” give?",
    pieces=found(
        r"[\w']+|[^\w']+",
        *(
            pattern
            for mark in ("'", "'-", "'’-")
            for pattern in (
                rf"[\w{mark}]+|[^\w{mark}]",
                rf"[\w{mark}]+|\s+|[^\w\s{mark}]",
                rf"\w+(?:[{mark}]\w+)*|\W+",
                rf"\w+(?:[{mark}]\w+)*|\W",
            )
        ),
    ),
)
mistake(
    "a word glued to what stands beside it",
    why="A word and the space or punctuation beside it make one token: "
    "the text is cut at one end of a word, but not at the other.",
    look="how many word boundaries does one word have?",
    pieces=[
        *split(r"\b(?=\w)", r"(?<=\w)\b", r"\b\s", r"\b(?=\s)"),
        *found(
            r" ?\w+|[^\w]+",
            r" ?\w+|[^\w ]+| +",
            r"\s?\w+|\W+?",
            r"\w+\s*|\W+",
            r"\w+\s?|\W+",
            r"\s*\w+|\W+",
            r" ?\w+| ?[^\s\w]+|\s+",
            r" ?\w+| ?[^\s\w]+|\s+(?!\S)|\s+",
            r"\w+\s?|[^\w\s]+\s?|\s+",
            r"\w+\s*|[^\w\s]\s*|\s+",
            r"\w+[.,!?;:]?|\s+",
            r"\w+\W?|\W+",
            r" ?\w+|[^\w\s]+|\s+(?!\S)|\s+",
            r" ?\w+|[^\w\s]+|\s+",
        ),
    ],
)
mistake(
    "cut inside the words",
    why="The text is cut everywhere except at the word boundaries: `\\B` is the opposite of `\\b`.",
    look="does your pattern have a small b or a capital one?",
    pieces=lambda text: re.split(r"\B", text),
)
mistake(
    "cut at line breaks as well",
    why="The text is also cut at line breaks, even where there is no word boundary.",
    look="is there a word boundary between a comma and the line break after it?",
    pieces=[
        *found(r"\w+|\n|[^\w\n]+", r"\w+|\n+|[^\w\n]+"),
        lambda text: [piece for line in text.splitlines(True) for piece in re.split(r"\b", line)],
    ],
)
mistake(
    "cuts where there is no word boundary",
    why="The text is cut at all the word boundaries, but also in places where no word begins or ends.",
    look="does a word begin or end at each of your cuts?",
    pieces=lambda text: re.findall(r"\w{1,2}|\W{1,2}", text),
)
mistake(
    "word boundaries without a cut",
    why="The text is not cut at every word boundary: some tokens hold a word and something else.",
    look="in which of your tokens does a word begin or end in the middle?",
    pieces=lambda text: re.findall(r"\w+\W+\w+|\w+|\W+", text),
)
mistake(
    "cut in the wrong places",
    why="At some word boundaries there is no cut, and some cuts are not at a word boundary.",
    look="does a word begin or end at each of your cuts, and is there a cut wherever one does?",
    pieces=lambda text: [text[start : start + 3] for start in range(0, len(text), 3)],
)
mistake(
    "part of the text lost",
    hint=1,
    why="Part of the text is in none of the tokens.",
    look="which part is it? A split throws away what it cuts at, `strip` and `replace` may lose something too, and "
    "`findall` leaves out what its pattern does not match; a dot, for example, does not match a line break.",
    prepared=lambda text: text.replace(",", "").replace("e", ""),
)
mistake(
    "the text changed",
    hint=1,
    why="Joined, the tokens do not give the text back: something has been added, changed or put in another place.",
    look="what is done to the text besides cutting it?",
    prepared=lambda text: text.replace(" ", "▁"),
)

# What is kept
mistake = exercise.section(hint=3)
mistake(
    "empty tokens kept",
    pairs=4,
    why="There are empty tokens: for example, a cut at the very start or end of the text leaves nothing on one side.",
    look="print the tokens of a text that is one word.",
    kept=lambda pieces: pieces,
    variants=[
        {"kept": lambda pieces: pieces, "pieces": pieces}
        for pieces in [*split(r"(\W+)", r"(\b)"), *found(r"\w*|\W+", r"\w+|\W*")]
    ],
)
mistake(
    "the empty text as a token",
    pairs=0,
    why="An empty text gives one empty token; it should give no tokens, so the list should be empty.",
    look="print the tokens of an empty text.",
    listed=lambda tokens: tokens or [""],
)
mistake(
    "the first or last piece cut off",
    pairs=2,
    why="The first token, the last one, or both are left out. (With "
    "`re.split`, the first or last piece is empty only where the text begins or ends with a word.)",
    look="join the tokens of two texts: one that begins and ends with a word, and one that does neither.",
    kept=lambda pieces: pieces[1:-1],
    listed=lambda tokens: tokens[:-1] if tokens and re.match(r"\w", tokens[-1]) else tokens,
    variants=[
        {"kept": kept}
        for kept in (
            lambda pieces: pieces[1:],
            lambda pieces: pieces[:-1],
            lambda right: right[1:],
            lambda right: right[:-1],
            lambda right: right[1:-1],
        )
    ],
)
mistake(
    "tokens of one character lost",
    why="Tokens of a single character are left out, and with them most of the spaces.",
    look="what becomes of a token that is a single space?",
    kept=lambda pieces: [piece for piece in pieces if len(piece) > 1],
)

# How it is handed over
mistake = exercise.section(hint=1)
mistake(
    "repetitions lost",
    pairs=2,
    why="Each token appears only once, however often it occurs in the text: that is a vocabulary, not the text.",
    look="join your tokens. Which of them may occur twice?",
    listed=[
        lambda tokens: sorted(set(tokens)),
        lambda tokens: list(dict.fromkeys(tokens)),
        lambda tokens: list(set(tokens)),
        lambda tokens: set(tokens),
    ],
)
mistake(
    "the order lost",
    why="The tokens are all there, but not in the order of the text.",
    look="join your tokens.",
    listed=[
        lambda tokens: sorted(tokens),
        lambda tokens: tokens[::-1],
        lambda tokens: sorted(tokens, key=lambda token: not re.match(r"\w", token)),
    ],
)
mistake(
    "an iterator for the list",
    pairs=2,
    why="An iterator is returned: it has no length, and is empty once you have gone through it.",
    look="round brackets, `filter`, `map` and `yield` make iterators. What makes a list?",
    listed=[
        lambda tokens: (token for token in tokens),
        lambda tokens: filter(None, tokens),
        lambda tokens: map(str, tokens),
        lambda tokens: iter(tokens),
    ],
)
mistake(
    "a tuple for the list",
    why="The tokens are right, but they come in a tuple, not in a list.",
    look="the brackets, and what `tuple` does.",
    listed=lambda tokens: tuple(tokens),
)
mistake(
    "an array for the list",
    why="The tokens come in a NumPy array, not in a list.",
    look="what turns an array into a list?",
    listed=[lambda tokens: np.array(tokens), lambda tokens: np.array(tokens, dtype=object)],
)
mistake(
    "one text for the list",
    why="The result is one string; the exercise asks for a list of tokens.",
    look="what type is your result? `join`, for example, makes a string.",
    listed=[lambda tokens: " ".join(tokens), lambda tokens: "".join(tokens), lambda tokens: "|".join(tokens)],
)
mistake(
    "a list of lists",
    pairs=2,
    why="The result is a list of lists; it should be a list of tokens.",
    look="what is each item of the result? `append`, for example, adds a list as a single item.",
    variants=[
        {"__call__": lambda step, text: [step(line) for line in text.splitlines()]},
        {"__call__": lambda step, text: [step(line) for line in text.splitlines(keepends=True)]},
    ],
    listed=lambda tokens: [tokens],
)


def some_text_needed(text):
    if not text:
        raise ValueError("the text is empty")
    return text


mistake(
    "the empty text",
    hint=3,
    why="Your code fails on an empty text, which has no first character and no first token.",
    look="what are the tokens of an empty text? And which line needs at least one character?",
    prepared=[lambda text: text[0] + text[1:], some_text_needed],
)


def one_by_one(text):
    head = re.match(r"\w+|\W+", text)
    return [head.group(), *one_by_one(text[head.end() :])] if head else []


mistake(
    ONE_CALL_EACH,
    pairs=0,
    why="Each further token takes another nested call, as when a function calls "
    "itself. Python allows about a thousand, and a book has many more tokens.",
    look="can a loop replace the recursion?",
    variants=[one_by_one],
)
