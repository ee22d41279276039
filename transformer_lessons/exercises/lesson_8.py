"""Lesson 8, a language model that writes plays: tokens, sequences, bits per character, the next token."""

import functools
import itertools
import math
import re
import string
import unicodedata
from fractions import Fraction

import numpy as np
import torch

from transformer_lessons import generation
from transformer_lessons import text as text_room
from transformer_lessons.exercises.comparing import alike
from transformer_lessons.exercises.drawing import (
    DRAWS,
    LIMIT,
    Chances,
    chances,
    frequencies,
    plain,
    same_distribution,
    surprise,
)
from transformer_lessons.exercises.exercise import Exercise, Steps, integers

# tokenize


def draw_text(generator, template):
    """A text of invented words: {a} to {h} are words, {A} and {B} have a capital, {n} is a number."""
    letters = string.ascii_lowercase
    first = [letters[place] for place in torch.randperm(26, generator=generator)[:10]]
    rest = ["".join(letters[place] for place in integers(generator, 26, size))
            for size in integers(generator, 5, 10, low=1)]
    words = [one + other for one, other in zip(first, rest, strict=True)]
    fields = dict(zip("abcdefgh", words, strict=False), A=words[8].title(), B=words[9].title())
    return (template.format(n=int(integers(generator, 90, 1)) + 10, **fields),)


def as_list(call, text):
    """The tokens as plain texts; an iterator becomes a text of its type's name, which can be compared."""
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
    """Equal, text by text; a tuple is judged by what it holds, too."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return list(one) == list(other)
    return alike(one, other, 0)


def is_a_list(call, text):
    tokens = call(text)
    if not isinstance(tokens, list):
        return ("a tuple for the list", f"The tokens are right, but they come in a {type(tokens).__name__}, "
                                        "not in a list.", "the brackets, and what `tuple` does.")
    return None


def what_the_tokens_show(observed, expected, text):
    """What is wrong with the tokens, in the learner's own words for them."""
    joined = "".join(observed)
    if joined != text:
        place = next((n for n, (one, other) in enumerate(zip(joined, text, strict=False)) if one != other),
                         min(len(joined), len(text)))
        return (f"Joined, the tokens do not give the text back: they begin to differ after {place} "
                f"character{'s' * (place != 1)}, where the text goes on with {text[place:place + 5]!r}.")
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
    """What is wrong with tokens that no known way gives: what they have lost, and where they are cut."""
    if observed and all(isinstance(token, list) for token in observed):
        yield "a list of lists"
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
    cuts, right = ({place for place in itertools.accumulate(map(len, tokens)) if 0 < place < len(text)}
                   for tokens in (observed, expected))
    yield from signs_of_cuts(text, cuts, cuts - right, right - cuts)


def what_is_left(text):
    """(mistake, what it leaves of a text)."""
    lines = text.splitlines()
    yield from ((name, re.sub(pattern, by, text)) for name, pattern, by in (
        ("only the words kept", r"\W", ""), ("only the words kept", r"[\W_]", ""),
        ("only the words kept", r"[\W\d_]", ""), ("white space lost", r"\s", ""),
        ("white space lost", " ", ""), ("punctuation lost", r"[^\w\s]", ""),
        ("line breaks lost", "\n", ""), ("line breaks lost", "[\r\n]", ""),
        ("line breaks turned into spaces", "\n", " "), ("line breaks turned into spaces", "\r\n|\n", " "),
        ("runs of white space squeezed", r"\s+", " "), ("runs of white space squeezed", " +", " ")))
    yield "line breaks turned into spaces", " ".join(lines)
    yield from (("white space at the ends lost", left)
                for left in (text.strip(), text.lstrip(), text.rstrip()))
    yield "runs of white space squeezed", " ".join(text.split())


def signs_of_cuts(text, cuts, more, missing):
    """What the cuts have in common, those that are too many, and those that are missing."""
    def beside(pattern, places):
        return bool(places) and all(re.search(pattern, text[place - 1:place + 1]) for place in places)

    if beside("['’-]", missing):
        yield "apostrophes or hyphens count as letters"
    if beside(r"_", more | missing):
        yield "the underscore does not count as part of a word"
    if beside(r"\d", more | missing) and not beside(r"\W", more):
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


tokenize = Exercise(
    name="tokenize", lesson=8, title="Words, and what stands between them", difficulty=1, importance=2,
    minutes=8,
    contract=r"""
        tokenize(text) cuts a text at its word boundaries and returns the pieces, in order, as a list of str.
        A word boundary is where a letter, digit or underscore (in any alphabet: what `\w` matches) meets
        something else. Joined, the tokens give the text back; no token is empty; an empty text has none.
        """,
    stub='''
        def tokenize(text):
            """The words of a text and what stands between them, in order, as a list."""
            raise NotImplementedError
        ''',
    sizes=[{"template": template} for template in (
        "{A}, {b}!",
        " '{A}'{b}, {c}-{d}' {a}\n",
        "{A} {b}:\n\t{c},  {d}\n\n{b} {a}, {b}?\r\n",
        "{a}é{b} {n}{c}; {d}_{e} {f}e\u0301 Ж{b}ß… {n}.{n}",
        "",
        "{a}",
        "?! \n",
        "{B}. {a}'{b}, {c}’{d} -- “{e} {f}” ({n}) {g}\n{A}:  {h} {a}-{b}; {B}, {c}.\n",
    )],
    draw=draw_text,
    reference=lambda text: text_room.tokenize(text),
    observe=as_list, same=same_tokens, checks=[is_a_list], symptoms=[what_the_tokens_show],
    signs=signs_of_cutting,
    hints=[
        ("something is missing",
         "Join your tokens and compare them with the text. What a split cuts at is thrown away: is there a "
         "place without any character to cut at?"),
        ("the cuts are in the wrong places",
         "In a regular expression `\\b` stands for the place between a word and what is no word. Put an r "
         'before the quotes, r"\\b": what is "\\b" without it?'),
        ("empty tokens",
         "A cut at the very start or end of the text leaves nothing on one side of it. Is an empty text true "
         "or false, where a condition asks?"),
    ],
    solution=r'''
        import re


        def tokenize(text):
            return [token for token in re.split(r"\b", text) if token]
        ''',
)


@tokenize.right("step by step")
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


@tokenize.right("words or no words")
def words_or_no_words(text):
    return re.findall(r"\w+|\W+", text)


@tokenize.right("what is no word, captured")
def captured(text):
    return list(filter(None, re.split(r"(\W+)", text)))


@tokenize.right("groups of neighbours")
def groups_of_neighbours(text):
    groups = itertools.groupby(text, key=lambda character: character.isalnum() or character == "_")
    return ["".join(group) for _, group in groups]


@tokenize.right("character by character")
def character_by_character(text):
    tokens, last = [], None
    for character in text:
        word = re.match(r"\w", character) is not None
        if word == last:
            tokens[-1] += character
        else:
            tokens.append(character)
        last = word
    return tokens


@tokenize.right("between the places of the boundaries")
def between_boundaries(text):
    places = [0, *(match.start() for match in re.finditer(r"\b", text)), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(places) if start < end]


@tokenize.right("one token, then the rest")
def one_then_the_rest(text):
    match = re.match(r"\w+|\W+", text)
    return [match.group(), *one_then_the_rest(text[match.end():])] if match else []


@tokenize.right("in NumPy")
def tokens_in_numpy(text):
    word = np.array([bool(re.fullmatch(r"\w", character)) for character in text])
    places = np.flatnonzero(word[1:] != word[:-1]) + 1
    return [np.str_(text[a:b]) for a, b in itertools.pairwise([0, *places, len(text)]) if text]


# tokenize: what is done to the text first


@tokenize.mistake(
    "upper and lower case lost",
    why="The letters change their case: joined, the tokens do not give the text back.",
    look="is anything in the contract about capitals?", hint=1)
class LowerCase(Tokenize):
    def prepared(self, text):
        return text.lower()


@tokenize.mistake("upper and lower case lost", pairs=False)
class CaseFolded(Tokenize):
    def prepared(self, text):
        return text.casefold()


@tokenize.mistake("upper and lower case lost", pairs=False)
class UpperCase(Tokenize):
    def prepared(self, text):
        return text.upper()


@tokenize.mistake(
    "white space at the ends lost",
    why="The white space at the start or the end of the text is thrown away before the text is cut.",
    look="join the tokens of a text that ends in a line break.", hint=1)
class Stripped(Tokenize):
    def prepared(self, text):
        return text.strip()


@tokenize.mistake("white space at the ends lost", pairs=False)
class StrippedLeft(Tokenize):
    def prepared(self, text):
        return text.lstrip()


@tokenize.mistake("white space at the ends lost", pairs=False)
class StrippedRight(Tokenize):
    def prepared(self, text):
        return text.rstrip()


@tokenize.mistake(
    "line breaks turned into spaces",
    why="Line breaks become spaces: joined, the tokens give a text without lines.",
    look="join the tokens of a text of two lines.", hint=1)
class BreaksToSpaces(Tokenize):
    def prepared(self, text):
        return text.replace("\n", " ")


@tokenize.mistake("line breaks turned into spaces", pairs=False)
class LinesJoinedBySpaces(Tokenize):
    def prepared(self, text):
        return " ".join(text.splitlines())


@tokenize.mistake("line breaks turned into spaces", pairs=False)
class LinesWithoutReturnsJoined(Tokenize):
    def prepared(self, text):
        return text.replace("\r", "").replace("\n", " ")


@tokenize.mistake(
    "line breaks lost",
    why="The line breaks are gone: the lines of the text run into each other, or their ends are thrown away.",
    look="join the tokens of a text of two lines. In a regular expression, does a dot match a line break?",
    hint=1)
class BreaksLost(Tokenize):
    def prepared(self, text):
        return text.replace("\n", "")


@tokenize.mistake("line breaks lost", pairs=False)
class LinesJoined(Tokenize):
    def prepared(self, text):
        return "".join(text.splitlines())


@tokenize.mistake("line breaks lost")
class LineByLine(Tokenize):
    def pieces(self, text):
        return [piece for line in text.splitlines() for piece in re.split(r"\b", line)]


@tokenize.mistake("line breaks lost", pairs=False)
class LineByLineAtBreaks(Tokenize):
    def pieces(self, text):
        return [piece for line in text.split("\n") for piece in re.split(r"\b", line)]


@tokenize.mistake(
    "runs of white space squeezed",
    why="White space in a row becomes a single space: joined, the tokens do not give the text back.",
    look="join the tokens of a text with two spaces in a row, or with an empty line.", hint=1)
class Squeezed(Tokenize):
    def prepared(self, text):
        return re.sub(r"\s+", " ", text)


@tokenize.mistake("runs of white space squeezed")
class SqueezedAndStripped(Tokenize):
    def prepared(self, text):
        return " ".join(text.split())


@tokenize.mistake("runs of white space squeezed", pairs=False)
class SpacesSqueezed(Tokenize):
    def prepared(self, text):
        return re.sub(" +", " ", text)


@tokenize.mistake(
    "characters rewritten",
    why="Unicode normalisation writes some characters in another way, so the text that comes back looks "
        "alike and is another one.",
    look="compare the lengths of the text and of the joined tokens, where there are accents.", hint=1)
class NormalisedC(Tokenize):
    def prepared(self, text):
        return unicodedata.normalize("NFC", text)


for form in ("NFD", "NFKC", "NFKD"):
    tokenize.mistake("characters rewritten", pairs=False)(type(form, (Tokenize,), {
        "prepared": lambda self, text, form=form: unicodedata.normalize(form, text)}))


@tokenize.mistake(
    "characters beyond ASCII lost",
    why="Letters with accents and letters of other alphabets are left out or replaced: joined, the tokens "
        "do not give the text back.",
    look="join the tokens of a text with an é.", hint=1)
class OnlyAscii(Tokenize):
    def prepared(self, text):
        return text.encode("ascii", "ignore").decode()


@tokenize.mistake("characters beyond ASCII lost", pairs=False)
class AsciiWithQuestionMarks(Tokenize):
    def prepared(self, text):
        return text.encode("ascii", "replace").decode()


@tokenize.mistake("characters beyond ASCII lost", pairs=False)
class AccentsTakenOff(Tokenize):
    def prepared(self, text):
        return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


@tokenize.mistake(
    "punctuation lost",
    why="Punctuation is thrown away; words and white space are all that is left.",
    look="join the tokens of a text with a comma.", hint=1)
class NoPunctuation(Tokenize):
    def prepared(self, text):
        return re.sub(r"[^\w\s]", "", text)


@tokenize.mistake("punctuation lost")
class NoAsciiPunctuation(Tokenize):
    def prepared(self, text):
        return text.translate(str.maketrans("", "", string.punctuation))


@tokenize.mistake("punctuation lost")
class WordsAndSpace(Tokenize):
    def pieces(self, text):
        return re.findall(r"\w+|\s+", text)


@tokenize.mistake("punctuation lost", pairs=False)
class WordsAndSingleSpace(Tokenize):
    def pieces(self, text):
        return re.findall(r"\w+|\s", text)


# tokenize: where the text is cut


def cutting(name, *patterns, at=(), pairs=False):
    """Adds ways to make a mistake: all that matches a pattern, or the pieces of a split at one."""
    for pattern in patterns:
        tokenize.mistake(name, pairs=pairs)(type("Found", (Tokenize,), {
            "pieces": lambda self, text, pattern=pattern: re.findall(pattern, text)}))
    for pattern in at:
        tokenize.mistake(name, pairs=pairs)(type("Split", (Tokenize,), {
            "pieces": lambda self, text, pattern=pattern: re.split(pattern, text)}))


@tokenize.mistake(
    'nothing cut ("\\b" without r?)',
    why='The text comes back whole, as one token. In a plain "\\b" there is no word boundary, but a '
        'backspace, which no text holds; in r"\\b" there is one.',
    look=r'print len("\b") and len(r"\b").', hint=2)
class NothingCut(Tokenize):
    def pieces(self, text):
        return [text]


@tokenize.mistake(
    "only the words kept",
    why="The words are all that is left: what stands between them, white space and punctuation, is thrown "
        "away.",
    look="join your tokens. Can the text still be read?", hint=1)
class OnlyWords(Tokenize):
    def pieces(self, text):
        return re.findall(r"\w+", text)


@tokenize.mistake("only the words kept", pairs=False)
class OnlyBetweenNonWords(Tokenize):
    def pieces(self, text):
        return re.split(r"\W+", text)


@tokenize.mistake("only the words kept", pairs=False)
class OnlyBetweenSingleNonWords(Tokenize):
    def pieces(self, text):
        return re.split(r"\W", text)


@tokenize.mistake("only the words kept", pairs=False)
class WordsFiltered(Tokenize):
    def kept(self, pieces):
        return [piece for piece in pieces if piece.isalnum()]


@tokenize.mistake("only the words kept", pairs=False)
class LettersFiltered(Tokenize):
    def kept(self, pieces):
        return [piece for piece in pieces if piece.isalpha()]


@tokenize.mistake("only the words kept", pairs=False)
class OnlyWordsWithoutUnderscores(Tokenize):
    def pieces(self, text):
        return re.findall(r"\b\w+\b", text.replace("_", " "))


cutting("only the words kept", r"[^\W_]+", r"[^\W\d_]+", r"[a-zA-Z]+", r"[a-zA-Z0-9]+", r"[a-zA-Z0-9_]+",
        r"[a-zA-Z']+", r"[\w']+", r"[\w'-]+", r"\w+(?:'\w+)*", r"\w+(?:['’]\w+)*")


@tokenize.mistake(
    "split at white space, which is lost",
    why="The text is split where white space is, and the white space is thrown away; punctuation stays "
        "glued to the words.",
    look="join your tokens. And is there a word boundary between a word and its comma?", hint=1)
class AtWhiteSpace(Tokenize):
    def pieces(self, text):
        return text.split()


@tokenize.mistake("split at white space, which is lost")
class AtSpaces(Tokenize):
    def pieces(self, text):
        return text.split(" ")


@tokenize.mistake("split at white space, which is lost", pairs=False)
class AtEachWhiteSpace(Tokenize):
    def pieces(self, text):
        return re.split(r"\s", text)


@tokenize.mistake("split at white space, which is lost", pairs=False)
class AtRunsOfWhiteSpace(Tokenize):
    def pieces(self, text):
        return re.split(r"\s+", text)


cutting("split at white space, which is lost", at=[" +", "[ \n]", "[ \n]+"])


@tokenize.mistake(
    "cut only where white space is",
    why="The cuts are where white space begins or ends, and nowhere else: punctuation stays glued to the "
        "words.",
    look="where are the word boundaries in “Oh, no!”?", hint=2)
class OnlyAtWhiteSpace(Tokenize):
    def pieces(self, text):
        return re.split(r"(\s+)", text)


cutting("cut only where white space is", at=[r"(\s)", "( )"], pairs=True)
cutting("line breaks lost", r"\w+|.", r"\w+|.+?", r"\w+|[^\w\n]", r"\w+|[^\w\n]+")
cutting("cut only where white space is", r"\S+\s*|\s+", r"\s?\S+|\s+", at=["( +)", "([ \n])"])


@tokenize.mistake("cut only where white space is", pairs=False)
class SpacesPutBack(Tokenize):
    def pieces(self, text):
        words = text.split(" ")
        return [piece for word in words[:-1] for piece in (word, " ")] + words[-1:]


@tokenize.mistake("cut only where white space is", pairs=False)
class WordsWithTheirSpace(Tokenize):
    def pieces(self, text):
        words = text.split(" ")
        return [word + " " for word in words[:-1]] + words[-1:]


@tokenize.mistake(
    "white space lost",
    why="White space between the words is thrown away: joined, the tokens run into each other.",
    look="join your tokens. A space is a token too.", hint=1)
class WhiteSpaceLost(Tokenize):
    def kept(self, pieces):
        return [piece for piece in pieces if piece.strip()]


@tokenize.mistake("white space lost")
class TokensStripped(Tokenize):
    def kept(self, pieces):
        return [piece.strip() for piece in pieces if piece.strip()]


@tokenize.mistake("white space lost", pairs=False)
class TokensStrippedEmptyKept(Tokenize):
    def kept(self, pieces):
        return [piece.strip() for piece in pieces]


@tokenize.mistake("white space lost", pairs=False)
class WhiteSpaceLostEmptyKept(Tokenize):
    def kept(self, pieces):
        return [piece for piece in pieces if not piece.isspace()]


@tokenize.mistake("white space lost", pairs=False)
class SpacesLost(Tokenize):
    def kept(self, pieces):
        return [piece for piece in pieces if piece not in ("", " ")]


@tokenize.mistake("white space lost", pairs=False)
class SpacesLostEmptyKept(Tokenize):
    def kept(self, pieces):
        return [piece for piece in pieces if piece != " "]


@tokenize.mistake("white space lost", pairs=False)
class SpacesTakenOut(Tokenize):
    def prepared(self, text):
        return text.replace(" ", "")


@tokenize.mistake("white space lost", pairs=False)
class WhiteSpaceTakenOut(Tokenize):
    def prepared(self, text):
        return re.sub(r"\s", "", text)


cutting("white space lost", r"\w+|[^\w\s]+", r"\w+|[^\w\s]", r"[\w']+|[^\w\s]", pairs=True)
cutting("only the words kept", r"[a-zA-Z]+", r"[\w']+", pairs=True)


@tokenize.mistake(
    "every character between words by itself",
    why="What stands between two words is cut into single characters: a comma and the space after it become "
        "two tokens, though there is no word boundary between them.",
    look="how many word boundaries are there in “Oh, no!”?", hint=2)
class SingleCharacters(Tokenize):
    def pieces(self, text):
        return re.split(r"(\W)", text)


@tokenize.mistake(
    "punctuation and white space cut apart",
    why="Punctuation and white space become tokens of their own: a comma and the space after it are cut "
        "apart, though there is no word boundary between them.",
    look="how many word boundaries are there in “Oh, no!”?", hint=2)
class CutApart(Tokenize):
    def pieces(self, text):
        return re.findall(r"\w+|\s+|[^\w\s]+", text)


cutting("punctuation and white space cut apart", r"\w+|\s+|[^\w\s]", r"\w+|\s|[^\w\s]+", r"\w+| +|[^\w ]+",
        r"\w+| |[^\w ]+", r"\w+|\n|[^\w\n]+", r"\w+|\n+|[^\w\n]+", at=[r"\b|(?=\s)", r"\b|(?<=\s)",
        r"\b|(\s+)", r"\b|(\s)"])


@tokenize.mistake(
    "only a to z count as letters",
    why="A letter is what stands between a and z here: words with any other letter, such as é or Ж, are cut "
        "into pieces.",
    look="a text with an é. Which sign stands for a letter of any alphabet?", hint=2)
class OnlyAToZ(Tokenize):
    def pieces(self, text):
        return re.split(r"([^a-zA-Z]+)", text)


@tokenize.mistake("only a to z count as letters", pairs=False)
class AsciiBoundaries(Tokenize):
    def pieces(self, text):
        return re.split(r"(?a:\b)", text)


cutting("only a to z count as letters", r"[a-zA-Z]+|[^a-zA-Z]", r"[a-zA-Z0-9]+|[^a-zA-Z0-9]+",
        r"[a-zA-Z0-9]+|[^a-zA-Z0-9]", r"[a-zA-Z0-9_]+|[^a-zA-Z0-9_]", r"[a-zA-Z']+|[^a-zA-Z']+",
        r"[a-zA-Z']+|[^a-zA-Z']", r"[a-zA-Z]+|\s+|[^a-zA-Z\s]+", r"[a-zA-Z]+|\s+|[^a-zA-Z\s]",
        r"[a-zA-Z]+|[0-9]+|[^a-zA-Z0-9]+", r"[a-zA-Z]+|[0-9]+|[^a-zA-Z0-9]",
        r"[a-zA-Z]+|\d+|\s+|[^a-zA-Z\d\s]+", r"[a-z]+|[^a-z]+", r"[A-Z]?[a-z]+|[^a-zA-Z]+", r"[a-zA-Z]+|\W+",
        r"[a-zA-Z]+|\d+|\W+", r"[a-zA-Z0-9]+|\W+", r"[a-zA-Z]+|\W", r"[a-zA-Z0-9]+|\W",
        r"[a-zA-Z]+|\s+|[^\w\s]", r"[a-zA-Z]+|\s+|[^\w\s]+")


@tokenize.mistake(
    "digits do not count as part of a word",
    why="Digits are cut from letters, or put with what stands between the words; for `\\w`, and so for word "
        "boundaries, a digit is like a letter.",
    look="a text with a number. What does `\\w` match?", hint=2)
class NoDigits(Tokenize):
    def pieces(self, text):
        return re.split(r"([^\W\d_]+)", text)


cutting("digits do not count as part of a word", r"[^\W\d]+|[\W\d]+", r"[^\W\d]+|\d+|\W+",
        r"[^\W\d_]+|\d+|[\W_]+", r"[^\W\d_]+|[\W\d_]", r"[^\W\d]+|[\W\d]", r"[^\W\d]+|\d+|\W",
        r"[^\W\d]+|\d|\W+")


@tokenize.mistake(
    "the underscore does not count as part of a word",
    why="The underscore is put with what stands between the words; for `\\w`, and so for word boundaries, "
        "it is like a letter.",
    look="a text with an underscore. What does `\\w` match besides letters and digits?", hint=2)
class NoUnderscore(Tokenize):
    def pieces(self, text):
        return re.split(r"([^\W_]+)", text)


cutting("the underscore does not count as part of a word", r"[^\W_]+|[\W_]", r"[^\W_]+|_+|\W+",
        r"[^\W_]+|\s+|[^\w\s]+|_+")


@tokenize.mistake(
    "a token for each character",
    why="Every character becomes a token of its own; the characters of a word belong together.",
    look="where does a word begin and where does it end?", hint=2)
class Characters(Tokenize):
    def pieces(self, text):
        return list(text)


@tokenize.mistake(
    "apostrophes or hyphens count as letters",
    why="An apostrophe or a hyphen does not end a word here; but it is no letter, and there is a word "
        "boundary on either side of it.",
    look="how many tokens does “it's” have, by the contract?", hint=2)
class ApostrophesAsLetters(Tokenize):
    def pieces(self, text):
        return re.findall(r"[\w']+|[^\w']+", text)


for mark in ("'", "'-", "'’-"):
    cutting("apostrophes or hyphens count as letters", rf"[\w{mark}]+|[^\w{mark}]",
            rf"[\w{mark}]+|\s+|[^\w\s{mark}]", rf"\w+(?:[{mark}]\w+)*|\W+", rf"\w+(?:[{mark}]\w+)*|\W")


@tokenize.mistake(
    "a word glued to what stands beside it",
    why="A word and the space or punctuation beside it make one token: the text is cut at one end of each "
        "word and not at the other.",
    look="how many word boundaries does one word have?", hint=2)
class CutAtStarts(Tokenize):
    def pieces(self, text):
        return re.split(r"\b(?=\w)", text)


cutting("a word glued to what stands beside it", r"\W*\w+|\W+", r" ?\w+|[^\w]+", r"\s?\w+|\W+?",
        r"\w+\s*|\W+", r"\w+\s?|\W+", r"\s*\w+|\W+", r" ?\w+| ?[^\s\w]+|\s+",
        r" ?\w+| ?[^\s\w]+|\s+(?!\S)|\s+", r"\w+\s?|[^\w\s]+\s?|\s+", r"\w+\s*|[^\w\s]\s*|\s+",
        r"\w+[.,!?;:]?|\s+", r"\w+\W?|\W+", at=[r"(?<=\w)\b", r"\b\s", r"\b(?=\s)"])


@tokenize.mistake(
    "cut inside the words",
    why="The cuts are everywhere but at the word boundaries: `\\B` is the opposite of `\\b`.",
    look="is it a small b or a capital one?", hint=2)
class InsideTheWords(Tokenize):
    def pieces(self, text):
        return re.split(r"\B", text)


@tokenize.mistake(
    "cut at the end of every line as well",
    why="Each line is cut by itself, so what stands between two words is in two tokens where a line ends in "
        "it.",
    look="is there a word boundary between a comma and the line break after it?", hint=2)
class LinesApart(Tokenize):
    def pieces(self, text):
        return [piece for line in text.splitlines(keepends=True) for piece in re.split(r"\b", line)]


@tokenize.mistake(
    "cuts where there is no word boundary",
    why="The cuts at the word boundaries are there, and others besides, where no word begins or ends.",
    look="does a word begin or end at each of your cuts?", hint=2)
class InTwos(Tokenize):
    def pieces(self, text):
        return re.findall(r"\w{1,2}|\W{1,2}", text)


@tokenize.mistake(
    "word boundaries without a cut",
    why="Some word boundaries are not cut: there are tokens that hold a word and something that is none.",
    look="which of your tokens has a word in it, and something else?", hint=2)
class EverySecondBoundary(Tokenize):
    def pieces(self, text):
        return re.findall(r"\w+\W+\w+|\w+|\W+", text)


@tokenize.mistake(
    "cut in the wrong places",
    why="Some word boundaries are not cut, and some cuts are where there is no word boundary.",
    look="does a word begin or end at each of your cuts, and is there a cut wherever one does?", hint=2)
class EqualPieces(Tokenize):
    def pieces(self, text):
        return [text[start:start + 3] for start in range(0, len(text), 3)]


@tokenize.mistake(
    "part of the text lost",
    why="Some characters of the text come in none of the tokens.",
    look="which characters are they? A split throws away what it cuts at.", hint=1)
class SomeLost(Tokenize):
    def prepared(self, text):
        return text.replace(",", "").replace("e", "")


@tokenize.mistake(
    "the text changed",
    why="Something has been added to the text, or turned into something else.",
    look="what is done to the text besides cutting it?", hint=1)
class SpacesMarked(Tokenize):
    def prepared(self, text):
        return text.replace(" ", "▁")


# tokenize: what is kept, and how it is handed over


@tokenize.mistake(
    "empty tokens kept",
    why="There are empty tokens: before a cut at the very start of the text, or after one at its very end, "
        "nothing is left.",
    look="print the tokens of a text that is one word.", hint=3)
class EmptyKept(Tokenize):
    def kept(self, pieces):
        return list(pieces)


cutting_and_keeping = [r"(\W+)", r"(\w+)", r"(\b)"]
for pattern in cutting_and_keeping:
    tokenize.mistake("empty tokens kept")(type("EmptyKeptBeside", (EmptyKept,), {
        "pieces": lambda self, text, pattern=pattern: re.split(pattern, text)}))


@tokenize.mistake("empty tokens kept", pairs=False)
class OnlyForNothing(Tokenize):
    def listed(self, tokens):
        return tokens or [""]


@tokenize.mistake("empty tokens kept", pairs=False)
class MatchedNothing(EmptyKept):
    def pieces(self, text):
        return re.findall(r"\w*|\W+", text)


@tokenize.mistake("empty tokens kept", pairs=False)
class MatchedNothingBetween(EmptyKept):
    def pieces(self, text):
        return re.findall(r"\w+|\W*", text)


@tokenize.mistake(
    "the first or last piece cut off",
    why="The first piece, the last, or both are left out unseen: they are empty only where the text begins "
        "or ends with a word.",
    look="join the tokens of a text that begins with a space and ends in a full stop.", hint=3)
class EndsCutOff(Tokenize):
    def kept(self, pieces):
        return pieces[1:-1]


@tokenize.mistake("the first or last piece cut off", pairs=False)
class FirstCutOff(Tokenize):
    def kept(self, pieces):
        return pieces[1:]


@tokenize.mistake("the first or last piece cut off", pairs=False)
class LastCutOff(Tokenize):
    def kept(self, pieces):
        return pieces[:-1]


@tokenize.mistake("the first or last piece cut off", pairs=False)
class FirstTokenCutOff(Tokenize):
    def kept(self, pieces):
        return super().kept(pieces)[1:]


@tokenize.mistake("the first or last piece cut off", pairs=False)
class LastTokenCutOff(Tokenize):
    def kept(self, pieces):
        return super().kept(pieces)[:-1]


@tokenize.mistake("the first or last piece cut off", pairs=False)
class EndsCutOffThenFiltered(Tokenize):
    def kept(self, pieces):
        return super().kept(pieces[1:-1])


@tokenize.mistake("the first or last piece cut off", pairs=False)
class BothTokensCutOff(Tokenize):
    def kept(self, pieces):
        return super().kept(pieces)[1:-1]


@tokenize.mistake("the first or last piece cut off")
class LastWordForgotten(Tokenize):
    def listed(self, tokens):
        return tokens[:-1] if tokens and re.match(r"\w", tokens[-1]) else tokens


@tokenize.mistake(
    "tokens of one character lost",
    why="Tokens of a single character are left out, and with them most of the spaces.",
    look="what does the condition say about a space?", hint=3)
class SingleLost(Tokenize):
    def kept(self, pieces):
        return [piece for piece in pieces if len(piece) > 1]


@tokenize.mistake(
    "repetitions lost",
    why="Each token comes once, however often the text has it: this is a vocabulary, not the text.",
    look="join your tokens. Which of them may come twice?", hint=1)
class Once(Tokenize):
    def listed(self, tokens):
        return sorted(set(tokens))


@tokenize.mistake("repetitions lost")
class OnceInOrder(Tokenize):
    def listed(self, tokens):
        return list(dict.fromkeys(tokens))


@tokenize.mistake("repetitions lost", pairs=False)
class OnceInAnyOrder(Tokenize):
    def listed(self, tokens):
        return list(set(tokens))


@tokenize.mistake("repetitions lost", pairs=False)
class AsASet(Tokenize):
    def listed(self, tokens):
        return set(tokens)


@tokenize.mistake(
    "the order lost",
    why="The tokens are all there, but not in the order of the text.",
    look="join your tokens.", hint=1)
class Sorted(Tokenize):
    def listed(self, tokens):
        return sorted(tokens)


@tokenize.mistake("the order lost", pairs=False)
class Reversed(Tokenize):
    def listed(self, tokens):
        return tokens[::-1]


@tokenize.mistake("the order lost", pairs=False)
class WordsFirst(Tokenize):
    def listed(self, tokens):
        return sorted(tokens, key=lambda token: not re.match(r"\w", token))


@tokenize.mistake(
    "an iterator for the list",
    why="What comes back is an iterator: it has no length, and once it has been run through, it is empty.",
    look="round brackets, `filter`, `map` and `yield` make iterators. What makes a list?", hint=1)
class AnIterator(Tokenize):
    def listed(self, tokens):
        return (token for token in tokens)


@tokenize.mistake("an iterator for the list")
class AFilter(Tokenize):
    def listed(self, tokens):
        return filter(None, tokens)


@tokenize.mistake("an iterator for the list", pairs=False)
class AMap(Tokenize):
    def listed(self, tokens):
        return map(str, tokens)


@tokenize.mistake("an iterator for the list", pairs=False)
class AListIterator(Tokenize):
    def listed(self, tokens):
        return iter(tokens)


@tokenize.mistake(
    "a tuple for the list",
    why="The tokens are right, but they come in a tuple, and a list is asked for.",
    look="the brackets, and what `tuple` does.", hint=1)
class ATuple(Tokenize):
    def listed(self, tokens):
        return tuple(tokens)


@tokenize.mistake(
    "an array for the list",
    why="The tokens come in a NumPy array, and a list is asked for.",
    look="what turns an array into a list?", hint=1)
class AnArray(Tokenize):
    def listed(self, tokens):
        return np.array(tokens)


@tokenize.mistake("an array for the list", pairs=False)
class AnArrayOfObjects(Tokenize):
    def listed(self, tokens):
        return np.array(tokens, dtype=object)


@tokenize.mistake(
    "one text for the list",
    why="The tokens are joined to one text again, where a list of them is asked for.",
    look="the `return` line: what does `join` make?", hint=1)
class OneText(Tokenize):
    def listed(self, tokens):
        return " ".join(tokens)


@tokenize.mistake("one text for the list", pairs=False)
class OneTextAgain(Tokenize):
    def listed(self, tokens):
        return "".join(tokens)


@tokenize.mistake("one text for the list", pairs=False)
class OneTextWithStrokes(Tokenize):
    def listed(self, tokens):
        return "|".join(tokens)


@tokenize.mistake(
    "a list of lists",
    why="Each line has a list of its own; one list of all the tokens is asked for.",
    look="`append` puts a list in as it is. What adds its items?", hint=1)
class AListOfLists(Tokenize):
    def __call__(self, text):
        return [super(AListOfLists, self).__call__(line) for line in text.splitlines()]


@tokenize.mistake("a list of lists")
class AListOfListsWithBreaks(Tokenize):
    def __call__(self, text):
        return [super(AListOfListsWithBreaks, self).__call__(line) for line in text.splitlines(keepends=True)]


@tokenize.mistake("a list of lists", pairs=False)
class AListInAList(Tokenize):
    def listed(self, tokens):
        return [tokens]


@tokenize.mistake(
    "the empty text",
    why="An empty text is too short for it: something looks at the first character or the first token "
        "without asking whether there is one.",
    look="what are the tokens of an empty text? Which line needs at least one character?", hint=3)
class FirstCharacterNeeded(Tokenize):
    def prepared(self, text):
        return text[0] + text[1:]


@tokenize.mistake("the empty text", pairs=False)
class SomeTextNeeded(Tokenize):
    def prepared(self, text):
        if not text:
            raise ValueError("the text is empty")
        return text


# make_sequences


def draw_ids(generator, count, length, counting=False):
    """Token ids, all different and none of them 0; counting from 10 up where the example is to be read."""
    if counting:
        return torch.arange(10, 10 + count), length
    return torch.randperm(900, generator=generator)[:count] + 10, length


def same_ids(one, other):
    """Equal, as `alike` has it; quickly where both are plain tensors of ids."""
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return all(map(same_ids, one, other))
    plain_ids = all(type(ids) is torch.Tensor and ids.dtype == torch.int64 for ids in (one, other))
    return torch.equal(one, other) if plain_ids else alike(one, other, 0)


def places(ids, table):
    """Where in the text the tokens of a table stand; -1000 for what is no token of the text."""
    known = {int(token): place for place, token in enumerate(ids)}
    return torch.tensor([[known.get(int(token), -1000) for token in row] for row in table])


def what_the_rows_show(observed, expected, ids, length):
    """How the targets stand to the inputs."""
    if observed[0].shape != observed[1].shape or observed[0].ndim != 2:
        return None
    ahead = (places(ids, observed[1]) - places(ids, observed[0])).unique().tolist()
    if len(ahead) == 1 and ahead != [1] and abs(ahead[0]) < 500:
        where = "behind" if ahead[0] < 0 else "ahead of"
        return f"Every target is {abs(ahead[0])} tokens {where} its input; it should be 1 ahead."
    return None


def signs_of_rows(observed, expected, ids, length):
    """What is wrong with rows that no known way gives: where they start, and where their targets stand."""
    if not isinstance(observed, (list, tuple)):
        return
    if all(isinstance(rows, (list, tuple)) for rows in observed):
        whole = {len(row) for rows in observed for row in rows} == {length}
        yield from ["not two tensors", "ragged rows"] if whole else ["ragged rows"]
        return
    if not len(observed[0]):
        yield from make_sequences.mistakes  # no row, no sign
        return
    inputs, targets = (places(ids, one.long()) for one in observed)
    starts = inputs[:, 0].tolist()
    in_order = bool((inputs.diff(dim=1) == 1).all())
    steps = {other - one for one, other in itertools.pairwise(starts)}
    if in_order and inputs.shape[1] == length and starts[0] == 0:
        if steps and (max(steps) < length or length == 1):
            yield "overlapping rows"
        if steps and min(steps) > length:
            yield "gaps between the rows"
    if inputs.shape == targets.shape:
        ahead = targets - inputs
        if (ahead == 0).all():
            yield "targets not shifted"
        if (ahead < 0).all() and (ahead > -500).all():
            yield "targets shifted the wrong way"
        if (ahead > 1).all():
            yield "targets too far ahead"
        if (ahead[:, :-1] == 1).all() and (ahead[:, -1] != 1).all():
            yield "the last target of each row made up"
        if ahead.numel() > 1 and (ahead.flatten()[:-1] == 1).all() and ahead[-1, -1] != 1:
            yield "the very last target made up"
    if (inputs[-1] < 0).any() or (targets[-1] < 0).any():
        whole = inputs[:-1].flatten()
        if len(inputs) > len(expected[0]) and whole.equal(torch.arange(len(whole))):
            yield "the tail padded, not dropped"


make_sequences = Exercise(
    name="make_sequences", lesson=8, title="Rows that do not overlap", difficulty=2, importance=3, minutes=12,
    contract="""
        make_sequences(ids, length), with ids a LongTensor of one dimension, returns (inputs, targets), two
        LongTensors (number, length). The rows of inputs are the text cut into pieces of `length` tokens, in
        order, without overlap and without gaps. Each target is the token that comes right after its input in
        the text. There are as many rows as there can be: only the tail that does not fill a row of inputs and
        targets is dropped. (There is always enough for one row.)
        """,
    stub='''
        def make_sequences(ids, length):
            """(inputs, targets), both (number, length): targets are one token ahead."""
            raise NotImplementedError
        ''',
    sizes=[
        {"count": 7, "length": 3, "counting": True}, {"count": 6, "length": 3}, {"count": 14, "length": 4},
        {"count": 16, "length": 5}, {"count": 15, "length": 5}, {"count": 10, "length": 3},
        {"count": 12, "length": 3}, {"count": 17, "length": 4}, {"count": 5, "length": 4},
        {"count": 6, "length": 1}, {"count": 23, "length": 4}, {"count": 40, "length": 7},
    ],
    draw=draw_ids,
    reference=lambda ids, length: text_room.make_sequences(ids, length),
    returns=("inputs", "targets"), shapes={"inputs": "(number, length)", "targets": "(number, length)"},
    same=same_ids, symptoms=[what_the_rows_show], signs=signs_of_rows,
    hints=[
        ("the targets",
         "Write down seven tokens, the inputs of two rows of three, and under each input the token that "
         "follows it in the text. What follows the last input of a row?"),
        ("the number of rows",
         "The last target is a token, too. Of n tokens, how many have a next one, and how many rows do they "
         "fill?"),
        ("the way",
         "Cut off as many tokens as fill whole rows, and give them the shape (number, length): once from the "
         "first token on, once from the second."),
    ],
    solution='''
        def make_sequences(ids, length):
            number = (len(ids) - 1) // length
            inputs = ids[: number * length].reshape(number, length)
            targets = ids[1 : number * length + 1].reshape(number, length)
            return inputs, targets
        ''',
)


@make_sequences.right("step by step")
class Sequences(Steps):
    """Where the rows start; each row of inputs and its targets; what is handed over."""

    def __call__(self, ids, length):
        starts = self.starts(ids, length)
        inputs = torch.stack([self.row(ids, start, length) for start in starts])
        targets = self.targets(ids, inputs, starts, length)
        return self.handed(inputs, targets)

    def starts(self, ids, length):
        return [length * row for row in range((len(ids) - 1) // length)]

    def row(self, ids, start, length):
        return ids[start:start + length]

    def targets(self, ids, inputs, starts, length):
        return torch.stack([self.row(ids, start + 1, length) for start in starts])

    def handed(self, inputs, targets):
        return inputs, targets


@make_sequences.right("reshaped")
def reshaped(ids, length):
    number = (len(ids) - 1) // length
    return ids[:number * length].view(number, length), ids[1:number * length + 1].view(number, length)


@make_sequences.right("unfolded")
def unfolded(ids, length):
    return ids[:-1].unfold(0, length, length), ids[1:].unfold(0, length, length)


@make_sequences.right("rows of one token more, which share a token")
def rows_that_share_a_token(ids, length):
    rows = ids.unfold(0, length + 1, length)
    return rows[:, :-1], rows[:, 1:]


@make_sequences.right("with loops and lists")
def with_loops(ids, length):
    inputs, targets, start = [], [], 0
    while start + length < len(ids):
        inputs.append([int(ids[start + step]) for step in range(length)])
        targets.append([int(ids[start + step + 1]) for step in range(length)])
        start += length
    return [torch.tensor(inputs), torch.tensor(targets)]


@make_sequences.right("in NumPy")
def sequences_in_numpy(ids, length):
    table = np.lib.stride_tricks.sliding_window_view(ids.numpy(), length + 1)[::length]
    return torch.from_numpy(table[:, :-1].copy()), torch.from_numpy(table[:, 1:].copy())


@make_sequences.right("by strides")
def by_strides(ids, length):
    size = ((ids.shape[0] - 1) // length, length)
    return torch.as_strided(ids, size, (length, 1)), torch.as_strided(ids, size, (length, 1), 1)


@make_sequences.right("by a table of positions")
def by_positions(ids, length):
    positions = torch.arange((len(ids) - 1) // length * length).reshape(-1, length)
    return ids[positions], ids[positions + 1]


@make_sequences.right("split, and what is too short dropped")
def split_and_dropped(ids, length):
    def rows(part):
        return torch.stack([row for row in part.split(length) if len(row) == length])
    return rows(ids[:-1]), rows(ids[1:])


@make_sequences.right("chunked, in int32")
def in_int32(ids, length):
    number = (len(ids) - 1) // length
    return tuple(torch.stack(part[:number * length].int().chunk(number)) for part in (ids[:-1], ids[1:]))


# make_sequences: where the rows start


@make_sequences.mistake(
    "overlapping rows",
    why="The rows overlap: a row starts before the one before it has come to its end, so tokens come several "
        "times.",
    look="how many tokens lie between the start of a row and the start of the next?", hint=2)
class EveryStart(Sequences):
    step, last = 1, 0

    def starts(self, ids, length):
        return list(range(0, len(ids) - length - self.last, self.stride(length)))

    def stride(self, length):
        return 1


@make_sequences.mistake("overlapping rows", pairs=False)
class EveryStartButTheLast(EveryStart):
    def starts(self, ids, length):
        return super().starts(ids[:-1], length)


@make_sequences.mistake("overlapping rows")
class HalfOverlapping(EveryStart):
    def stride(self, length):
        return max(length // 2, 1)


@make_sequences.mistake("overlapping rows", pairs=False)
class SharingAToken(EveryStart):
    def stride(self, length):
        return max(length - 1, 1)


@make_sequences.mistake("overlapping rows", pairs=False)
class EveryWindow(Sequences):
    def __call__(self, ids, length):
        return ids.unfold(0, length, 1), ids[1:].unfold(0, length, 1)


@make_sequences.mistake(
    "gaps between the rows",
    why="The rows start more than `length` tokens apart, so some tokens are never an input.",
    look="with which token does the second row of inputs begin, and which was the last input of the "
         "first?",
    hint=2)
class Gaps(Sequences):
    def starts(self, ids, length):
        return list(range(0, len(ids) - length, length + 1))


@make_sequences.mistake("gaps between the rows", pairs=False)
class GapsAndOneRowLess(Sequences):
    def starts(self, ids, length):
        return list(range(0, len(ids) - length - 1, length + 1))


@make_sequences.mistake(
    "a row that fits is dropped",
    why="There is a row less than there could be: tokens that would fill one, and its targets, are dropped.",
    look="seven tokens and rows of three: which token is the last target?", hint=2)
class OneRowLess(Sequences):
    def starts(self, ids, length):
        return super().starts(ids, length)[:-1]

    def row(self, ids, start, length):
        return ids[start:start + length]


@make_sequences.mistake("a row that fits is dropped")
class OneRowLessOfTooMany(Sequences):
    def starts(self, ids, length):
        return [length * row for row in range(len(ids) // length - 1)]


@make_sequences.mistake("a row that fits is dropped")
class ATokenToSpare(Sequences):
    def starts(self, ids, length):
        return [length * row for row in range((len(ids) - 2) // length)]


@make_sequences.mistake("a row that fits is dropped", pairs=False)
class NeverTheLastRow(Sequences):
    def __call__(self, ids, length):
        inputs, targets = text_room.make_sequences(ids, length)
        return inputs[:-1], targets[:-1]


@make_sequences.mistake("a row that fits is dropped", pairs=False)
class ShapedWithARowLess(Sequences):
    def __call__(self, ids, length):
        number = len(ids) // length - 1
        inputs, targets = ids[:number * length], ids[1:number * length + 1]
        return inputs.reshape(number, length), targets.reshape(number, length)


@make_sequences.mistake("a row that fits is dropped", pairs=False)
class ShapedWithATokenToSpare(Sequences):
    def __call__(self, ids, length):
        number = (len(ids) - 2) // length
        inputs, targets = ids[:number * length], ids[1:number * length + 1]
        return inputs.reshape(number, length), targets.reshape(number, length)


@make_sequences.mistake("a row that fits is dropped", pairs=False)
class FirstRowDropped(Sequences):
    def starts(self, ids, length):
        return super().starts(ids, length)[1:]


@make_sequences.mistake(
    "one row too many",
    why="Rows are counted as if every token had a next one. Where the text fills its rows exactly, the last "
        "row of inputs has no token left for its last target.",
    look="six tokens and rows of three: what is the last target of the second row?", hint=2)
class OneRowTooMany(Sequences):
    def starts(self, ids, length):
        return [length * row for row in range(len(ids) // length)]


@make_sequences.mistake("one row too many", pairs=False)
class OneRowTooManyInNumpy(Sequences):
    def __call__(self, ids, length):
        number, array = len(ids) // length, ids.numpy()
        return (torch.from_numpy(array[:number * length].reshape(number, length)),
                torch.from_numpy(array[1:number * length + 1].reshape(number, length)))


@make_sequences.mistake("one row too many", pairs=False)
class MoreInputsThanTargets(Sequences):
    def __call__(self, ids, length):
        return ids.unfold(0, length, length), ids[1:].unfold(0, length, length)


@make_sequences.mistake(
    "rows counted up",
    why="The number of rows is rounded up, as if the tail filled one too: there are not tokens enough for so "
        "many.",
    look="what does the contract say about the tail? And which tokens have a next one?", hint=2, raises=True)
def rows_counted_up(ids, length):
    number = -(-len(ids) // length)
    return ids[:number * length].reshape(number, length), ids[1:number * length + 1].reshape(number, length)


@make_sequences.mistake(
    "the very last target made up",
    why="The last row has no token left for its last target, and something else stands there: padding, or "
        "the first token of the text.",
    look="six tokens and rows of three: what is the last target of the second row?", hint=2)
class RolledAroundTheText(OneRowTooMany):
    def targets(self, ids, inputs, starts, length):
        return super().targets(ids.roll(-1).roll(1).repeat(2), inputs, starts, length)


@make_sequences.mistake("the very last target made up")
class RolledAroundTheInputs(Sequences):
    def targets(self, ids, inputs, starts, length):
        return inputs.roll(-1)


@make_sequences.mistake("the very last target made up", pairs=False)
class RolledAroundMoreInputs(OneRowTooMany):
    def targets(self, ids, inputs, starts, length):
        return inputs.roll(-1)


class FilledUp(OneRowTooMany):
    filler = 0

    def targets(self, ids, inputs, starts, length):
        more = torch.cat([ids, torch.tensor([self.filler])])
        return super().targets(more, inputs, starts, length)


class InputsFilledUp(Sequences):
    filler = 0

    def targets(self, ids, inputs, starts, length):
        return torch.cat([inputs.flatten()[1:], torch.tensor([self.filler])]).reshape(inputs.shape)


class MoreInputsFilledUp(InputsFilledUp, OneRowTooMany):
    pass


for filler in (0, -1, -100, 1, 2, 3):
    for base in (FilledUp, InputsFilledUp, MoreInputsFilledUp):
        make_sequences.mistake("the very last target made up", pairs=False)(
            type(base.__name__, (base,), {"filler": filler}))


@make_sequences.mistake(
    "the tail padded, not dropped",
    why="The tail that does not fill a row is kept, and the row filled up with padding.",
    look="what does the contract say about the tail?", hint=2)
class Padded(Sequences):
    filler = 0

    def starts(self, ids, length):
        return list(range(0, len(ids) - 1, length))

    def row(self, ids, start, length):
        row = ids[start:start + length]
        return torch.cat([row, row.new_full((length - len(row),), self.filler)])


@make_sequences.mistake("the tail padded, not dropped", pairs=False)
class AllTokensPadded(Padded):
    def starts(self, ids, length):
        return list(range(0, len(ids), length))


@make_sequences.mistake("the tail padded, not dropped", pairs=False)
class TargetsPadded(Padded):
    def targets(self, ids, inputs, starts, length):
        self.filler = -100
        return super().targets(ids, inputs, starts, length)


@make_sequences.mistake("the tail padded, not dropped", pairs=False)
class InputsWithoutTheLastPadded(Padded):
    def __call__(self, ids, length):
        inputs = torch.stack([self.row(ids[:-1], start, length) for start in self.starts(ids, length)])
        return inputs, self.targets(ids, inputs, self.starts(ids, length), length)


@make_sequences.mistake("the tail padded, not dropped", pairs=False)
class InputsWithoutTheLastTargetsPadded(InputsWithoutTheLastPadded):
    def targets(self, ids, inputs, starts, length):
        self.filler = -100
        return super().targets(ids, inputs, starts, length)


@make_sequences.mistake(
    "the tail in an overlapping row",
    why="One more row, from the end of the text backwards, takes up the tail: it overlaps with the row "
        "before it.",
    look="what does the contract say about the tail?", hint=2)
class TailCovered(Sequences):
    def starts(self, ids, length):
        starts = super().starts(ids, length)
        return starts if len(ids) - 1 == len(starts) * length else [*starts, len(ids) - 1 - length]


@make_sequences.mistake(
    "the beginning dropped, not the tail",
    why="What does not fill a row is dropped at the beginning of the text, not at its end.",
    look="is the first token of the text the first input?", hint=2)
class BeginningDropped(Sequences):
    def starts(self, ids, length):
        return [start + (len(ids) - 1) % length for start in super().starts(ids, length)]


@make_sequences.mistake(
    "the first token left out",
    why="The inputs begin with the second token, and the targets one after it: the first token is never "
        "read.",
    look="is the first token of the text the first input?", hint=2)
class FromTheSecond(Sequences):
    def starts(self, ids, length):
        return [start + 1 for start in super().starts(ids[1:], length)]


@make_sequences.mistake(
    "length taken for the number of rows",
    why="There are `length` rows; it should be the rows that are `length` tokens long.",
    look="which of the two sizes in (number, length) is given?", hint=3)
class LengthRows(Sequences):
    def __call__(self, ids, length):
        columns = (len(ids) - 1) // length
        return self.handed(ids[:length * columns].reshape(length, columns),
                           ids[1:length * columns + 1].reshape(length, columns))


@make_sequences.mistake("length taken for the number of rows", pairs=False)
class LengthRowsOfAll(Sequences):
    def __call__(self, ids, length):
        columns = len(ids) // length
        return self.handed(ids[:length * columns].reshape(length, columns),
                           ids[1:length * columns + 1].reshape(length, columns))


@make_sequences.mistake(
    "the text read down the columns",
    why="The text runs down the columns: neighbours in a row are not neighbours in the text.",
    look="does the first row read like the beginning of the text?", hint=3)
class DownTheColumns(Sequences):
    def row(self, ids, start, length):
        number = (len(ids) - 1) // length
        return ids[start // length::number][:length]

    def targets(self, ids, inputs, starts, length):
        number = (len(ids) - 1) // length
        return ids[1:number * length + 1].reshape(length, number).T


@make_sequences.mistake(
    "rows and columns swapped",
    why="Both results are (length, number): each row of the text stands in a column.",
    look="the shapes, and the order of their two sizes.", hint=3)
class RowsAsColumns(Sequences):
    def handed(self, inputs, targets):
        return inputs.T, targets.T


# make_sequences: the targets


@make_sequences.mistake(
    "targets not shifted",
    why="The targets are the inputs: the model is asked for the very token that it has just been shown.",
    look="the first input and the first target: which token of the text is each?", hint=1)
class NotShifted(Sequences):
    def targets(self, ids, inputs, starts, length):
        return inputs


@make_sequences.mistake(
    "targets shifted the wrong way",
    why="The targets are the tokens before the inputs, not those after them: the model would learn to write "
        "backwards.",
    look="the first input and the first target: which token of the text is each?", hint=1)
class OneBehind(Sequences):
    def targets(self, ids, inputs, starts, length):
        return super().targets(ids.roll(2), inputs, starts, length)


@make_sequences.mistake("targets shifted the wrong way")
class InputsRolledForwards(Sequences):
    def targets(self, ids, inputs, starts, length):
        return inputs.roll(1)


@make_sequences.mistake("targets shifted the wrong way", pairs=False)
class MoreInputsRolledForwards(OneRowTooMany):
    def targets(self, ids, inputs, starts, length):
        return inputs.roll(1)


@make_sequences.mistake("targets shifted the wrong way", pairs=False)
class MoreOneBehind(OneRowTooMany):
    def targets(self, ids, inputs, starts, length):
        return super().targets(ids.roll(2), inputs, starts, length)


class BehindAFiller(Sequences):
    filler = 0

    def targets(self, ids, inputs, starts, length):
        return torch.cat([torch.tensor([self.filler]), inputs.flatten()[:-1]]).reshape(inputs.shape)


class RowsBehindAFiller(BehindAFiller):
    def targets(self, ids, inputs, starts, length):
        return torch.cat([torch.full_like(inputs[:, :1], self.filler), inputs[:, :-1]], dim=1)


for filler in (0, -1, -100, 1):
    for base in (BehindAFiller, RowsBehindAFiller):
        make_sequences.mistake("targets shifted the wrong way", pairs=False)(
            type(base.__name__, (base,), {"filler": filler}))


@make_sequences.mistake(
    "targets rolled within their rows",
    why="Each row is rolled around by itself: the token that falls out at one end comes in again at the "
        "other, where a token of the next row belongs.",
    look="the last target of the first row: which token comes after the last input?", hint=1)
class RolledWithin(Sequences):
    def targets(self, ids, inputs, starts, length):
        return inputs.roll(-1, dims=1)


@make_sequences.mistake("targets rolled within their rows")
class RolledForwardsWithin(Sequences):
    def targets(self, ids, inputs, starts, length):
        return inputs.roll(1, dims=1)


@make_sequences.mistake("targets rolled within their rows", pairs=False)
class MoreRolledWithin(OneRowTooMany):
    def targets(self, ids, inputs, starts, length):
        return inputs.roll(-1, dims=1)


@make_sequences.mistake("targets rolled within their rows", pairs=False)
class MoreRolledForwardsWithin(OneRowTooMany):
    def targets(self, ids, inputs, starts, length):
        return inputs.roll(1, dims=1)


@make_sequences.mistake(
    "the last target of each row made up",
    why="Within a row the targets are right; but at its end, where the first token of the next row belongs, "
        "something else stands: padding, or a token of this row once more.",
    look="the last target of the first row: which token comes after the last input?", hint=1)
class EndsMadeUp(Sequences):
    filler = 0

    def targets(self, ids, inputs, starts, length):
        return torch.cat([inputs[:, 1:], torch.full_like(inputs[:, :1], self.filler)], dim=1)


class MoreEndsMadeUp(EndsMadeUp, OneRowTooMany):
    pass


for filler in (0, -1, -100, 1, 2, 3):
    for base in (EndsMadeUp, MoreEndsMadeUp):
        make_sequences.mistake("the last target of each row made up", pairs=False)(
            type(base.__name__, (base,), {"filler": filler}))


@make_sequences.mistake("the last target of each row made up")
class LastTwice(Sequences):
    def targets(self, ids, inputs, starts, length):
        return torch.cat([inputs[:, 1:], inputs[:, -1:]], dim=1)


@make_sequences.mistake(
    "targets too far ahead",
    why="Each target is more than one token ahead of its input: what is in between is skipped.",
    look="the first input and the first target: which token of the text is each?", hint=1)
class TwoAhead(Sequences):
    def targets(self, ids, inputs, starts, length):
        return super().targets(ids[1:], inputs, starts, length)


@make_sequences.mistake("targets too far ahead", pairs=False)
class TwoAheadAndATokenLess(TwoAhead):
    def starts(self, ids, length):
        return super().starts(ids[1:], length)


@make_sequences.mistake("targets too far ahead", pairs=False)
class TwoAheadOfShiftedInputs(Sequences):
    def targets(self, ids, inputs, starts, length):
        return torch.cat([super().targets(ids, inputs, starts, length).flatten()[1:],
                          ids.new_zeros(1)]).reshape(inputs.shape)


@make_sequences.mistake(
    "the next row as targets",
    why="The targets of a row are the row after it, so each target is `length` tokens ahead of its input, "
        "not one.",
    look="the first input and the first target: how far apart are they in the text?", hint=1)
class NextRow(Sequences):
    def __call__(self, ids, length):
        rows = ids[:len(ids) // length * length].reshape(-1, length)
        return self.handed(rows[:-1], rows[1:])


@make_sequences.mistake("the next row as targets", pairs=False)
class NextRowOfThoseThatFit(Sequences):
    def __call__(self, ids, length):
        rows, _ = text_room.make_sequences(ids, length)
        return self.handed(rows[:-1], rows[1:])


@make_sequences.mistake("the next row as targets")
class RowsRolled(Sequences):
    def targets(self, ids, inputs, starts, length):
        return inputs.roll(-1, dims=0)


@make_sequences.mistake("the next row as targets", pairs=False)
class TextRolledByARow(OneRowTooMany):
    def targets(self, ids, inputs, starts, length):
        return inputs.roll(-1, dims=0)


@make_sequences.mistake(
    "one target for a whole row",
    why="Each row has a single target, the token after its end; every input should have one, its own next "
        "token.",
    look="how many tokens does a row predict while it is read from left to right?", hint=1)
class OneTarget(Sequences):
    def targets(self, ids, inputs, starts, length):
        return super().targets(ids, inputs, starts, length)[:, -1]


@make_sequences.mistake("one target for a whole row")
class OneTargetInAColumn(Sequences):
    def targets(self, ids, inputs, starts, length):
        return super().targets(ids, inputs, starts, length)[:, -1:]


@make_sequences.mistake(
    "rows one token short",
    why="In `length` tokens there are only length - 1 that are followed by another one, so the rows are a "
        "token short.",
    look="how many tokens does a row need so that `length` inputs all have a target?", hint=3)
class OneShort(Sequences):
    def __call__(self, ids, length):
        rows = ids[:len(ids) // length * length].reshape(-1, length)
        return self.handed(rows[:, :-1], rows[:, 1:])


@make_sequences.mistake("rows one token short", pairs=False)
class OneShortOfThoseThatFit(Sequences):
    def __call__(self, ids, length):
        rows, _ = text_room.make_sequences(ids, length)
        return self.handed(rows[:, :-1], rows[:, 1:])


@make_sequences.mistake("rows one token short")
class OnlyTargetsShort(Sequences):
    def targets(self, ids, inputs, starts, length):
        return inputs[:, 1:]


@make_sequences.mistake("rows one token short", pairs=False)
class OnlyTargetsOfMoreShort(OneRowTooMany):
    def targets(self, ids, inputs, starts, length):
        return inputs[:, 1:]


@make_sequences.mistake(
    "one added to the ids",
    why="The targets are the ids of the inputs plus 1: the next number, not the next token of the text.",
    look="is the token after number 7 always number 8?", hint=1)
class PlusOne(Sequences):
    def targets(self, ids, inputs, starts, length):
        return inputs + 1


# make_sequences: what is handed over


@make_sequences.mistake(
    "targets without rows",
    why="The targets come as one long row; they should have the shape of the inputs, (number, length).",
    look="the shape of what you return.", hint=3)
class FlatTargets(Sequences):
    def handed(self, inputs, targets):
        return inputs, targets.flatten()


@make_sequences.mistake("targets without rows", pairs=False)
class FlatBoth(Sequences):
    def handed(self, inputs, targets):
        return inputs.flatten(), targets.flatten()


@make_sequences.mistake("targets without rows", pairs=False)
class NeverRows(Sequences):
    def __call__(self, ids, length):
        return ids[:-1], ids[1:]


@make_sequences.mistake(
    "not two tensors",
    why="The rows do not come as two tensors, inputs and targets.",
    look="the `return` line: two tensors, of shape (number, length) each.", hint=3)
class Stacked(Sequences):
    def handed(self, inputs, targets):
        return torch.stack([inputs, targets])


@make_sequences.mistake("not two tensors")
class StackedByRow(Sequences):
    def handed(self, inputs, targets):
        return torch.stack([inputs, targets], dim=1)


@make_sequences.mistake("not two tensors", pairs=False)
class StackedLast(Sequences):
    def handed(self, inputs, targets):
        return torch.stack([inputs, targets], dim=-1)


@make_sequences.mistake("not two tensors")
class Joined(Sequences):
    def handed(self, inputs, targets):
        return torch.cat([inputs, targets])


@make_sequences.mistake("not two tensors")
class Pairs(Sequences):
    def handed(self, inputs, targets):
        return list(zip(inputs, targets, strict=True))


@make_sequences.mistake("not two tensors", pairs=False)
class PairsOfLists(Sequences):
    def handed(self, inputs, targets):
        return list(zip(inputs.tolist(), targets.tolist(), strict=True))


@make_sequences.mistake("not two tensors")
class Lists(Sequences):
    def handed(self, inputs, targets):
        return inputs.tolist(), targets.tolist()


@make_sequences.mistake("not two tensors")
class ListsOfTensors(Sequences):
    def handed(self, inputs, targets):
        return list(inputs), list(targets)


@make_sequences.mistake("not two tensors", pairs=False)
class ADictionary(Sequences):
    def handed(self, inputs, targets):
        return {"inputs": inputs, "targets": targets}


@make_sequences.mistake(
    "ragged rows",
    why="The text is split into rows and the tail is kept as a shorter one, in a list: that makes no tensor "
        "of shape (number, length).",
    look="what does the contract say about the tail?", hint=2)
class Ragged(Sequences):
    def __call__(self, ids, length):
        return list(ids[:-1].split(length)), list(ids[1:].split(length))


@make_sequences.mistake("ragged rows", pairs=False)
class RaggedTuples(Sequences):
    def __call__(self, ids, length):
        return ids.split(length), ids[1:].split(length)


@make_sequences.mistake("ragged rows", pairs=False)
class RaggedLists(Sequences):
    def __call__(self, ids, length):
        rows = range(0, len(ids) - 1, length)
        return ([ids[start:start + length].tolist() for start in rows],
                [ids[start + 1:start + 1 + length].tolist() for start in rows])


@make_sequences.mistake("ragged rows", pairs=False)
class RaggedListsOfTensors(Sequences):
    def __call__(self, ids, length):
        rows = range(0, len(ids), length)
        return ([ids[start:start + length] for start in rows],
                [ids[start + 1:start + 1 + length] for start in rows])


# bits_per_character


def draw_loss(generator, tokens, characters, nats=None):
    """A loss, and how many tokens and characters it was measured on, drawn between two bounds."""
    nats = int(integers(generator, 5000, 1, low=1000)) / 1000 if nats is None else nats
    tokens = int(integers(generator, tokens[1], 1, low=tokens[0]))
    return nats, tokens, tokens if characters is None else int(
        integers(generator, characters[1], 1, low=characters[0]))


def ratio_of_bits(observed, expected, nats_per_token, tokens, characters):
    """How many times the expected number it is."""
    return f"It is {float(observed) / expected:.2f} times the expected number." if expected else None


A_TENSOR = "a tensor, not a float"
OF_A_TENSOR = "The number is right, but it comes in a tensor or an array; the contract asks for a float."
INTO_A_FLOAT = "what takes the number out of a tensor that holds only one?"


def is_a_plain_float(call, *inputs):
    """The number is right; is it a float?"""
    if isinstance(call(*inputs), (torch.Tensor, np.ndarray)):
        return A_TENSOR, OF_A_TENSOR, INTO_A_FLOAT
    return None


def signs_of_bits(observed, expected, nats_per_token, tokens, characters):
    if isinstance(observed, str):
        yield "a text for the number"


bits_per_character = Exercise(
    name="bits_per_character", lesson=8, title="A loss that can be compared", difficulty=1, importance=2,
    minutes=6,
    contract="""
        bits_per_character(nats_per_token, tokens, characters) returns a float: what a text of so many tokens,
        which spell so many characters, costs on average for each character, in bits, when each token costs
        nats_per_token nats on average. (One nat is 1 / ln 2 bits.)
        """,
    stub='''
        def bits_per_character(nats_per_token, tokens, characters):
            """The loss in bits a character, however the text was cut into tokens."""
            raise NotImplementedError
        ''',
    sizes=[
        {"tokens": (10, 30), "characters": (40, 90)}, {"tokens": (100, 900), "characters": None},
        {"tokens": (200, 300), "characters": (120, 190)},
        {"tokens": (10**5, 2 * 10**5), "characters": (4 * 10**5, 10**6)},
        {"tokens": (11, 19), "characters": (31, 39), "nats": 0.0}, {"tokens": (1, 2), "characters": (5, 9)},
    ],
    draw=draw_loss,
    reference=lambda nats_per_token, tokens, characters: text_room.bits_per_character(
        nats_per_token, tokens, characters),
    checks=[is_a_plain_float], symptoms=[ratio_of_bits], signs=signs_of_bits,
    hints=[
        ("the text", "What do all the tokens of the text cost together, in nats?"),
        ("the characters", "All the characters share that cost. What does one of them cost, in nats?"),
        ("the bits",
         "A fair coin costs one bit, and ln 2 = 0.69 nats. Are there more bits than nats, or fewer?"),
    ],
    solution='''
        import math


        def bits_per_character(nats_per_token, tokens, characters):
            return nats_per_token * tokens / characters / math.log(2)
        ''',
)


@bits_per_character.right("step by step")
class Bits(Steps):
    def __call__(self, nats_per_token, tokens, characters):
        return self.handed(self.rate(self.bits(nats_per_token), tokens, characters))

    def bits(self, nats):
        return nats / math.log(2)

    def rate(self, bits, tokens, characters):
        return bits * tokens / characters

    def handed(self, bits):
        return bits


@bits_per_character.right("with the logarithm of e to base two")
def with_log2_of_e(nats_per_token, tokens, characters):
    return math.log2(math.e) * nats_per_token / (characters / tokens)


@bits_per_character.right("in NumPy")
def bits_in_numpy(nats_per_token, tokens, characters):
    return np.divide(np.multiply(nats_per_token, tokens), np.float32(characters)) / np.log(2.0)


@bits_per_character.right("in PyTorch")
def bits_in_pytorch(nats_per_token, tokens, characters):
    return (torch.tensor(nats_per_token) * (tokens / characters) / torch.tensor(2.0).log()).item()


@bits_per_character.right("with fractions")
def with_fractions(nats_per_token, tokens, characters):
    return float(Fraction(nats_per_token) * Fraction(tokens, characters) / Fraction(math.log(2)))


@bits_per_character.right("by way of the probability of the text")
def by_way_of_the_probability(nats_per_token, tokens, characters):
    return -math.log2(math.exp(-nats_per_token * tokens / characters))


@bits_per_character.right("token by token")
def token_by_token(nats_per_token, tokens, characters):
    return sum(nats_per_token for _ in range(tokens)) / characters / np.log(2)


mistake_in_bits = bits_per_character.mistake


@mistake_in_bits(
    "left in nats",
    why="The number is in nats: nothing has turned it into bits.",
    look="how many nats does a fair coin cost, and how many bits?", hint=3)
class InNats(Bits):
    def bits(self, nats):
        return nats


@mistake_in_bits(
    "multiplied by ln 2",
    why="Nats are multiplied by ln 2, so they become fewer bits than there were nats; but a bit is the "
        "smaller unit.",
    look="a fair coin costs 0.69 nats. Does your formula make 1 bit of them?", hint=3)
class TimesLn2(Bits):
    def bits(self, nats):
        return nats * math.log(2)


@mistake_in_bits(
    "the logarithm of the loss",
    why="A logarithm of the loss is taken; the loss is a logarithm already, and only its unit has to change.",
    look="how many bits is a loss of 0, or of 1 nat?", hint=3)
class LogOfLoss(Bits):
    def bits(self, nats):
        return math.log2(nats)


@mistake_in_bits("the logarithm of the loss")
class LogOfLossInNumpy(Bits):
    def bits(self, nats):
        return float(np.log2(nats)) if nats else -math.inf


@mistake_in_bits("the logarithm of the loss")
class NaturalLogOfLoss(Bits):
    def bits(self, nats):
        return math.log(nats)


@mistake_in_bits("the logarithm of the loss")
class NaturalLogInBits(Bits):
    def bits(self, nats):
        return math.log(nats) / math.log(2) / math.log(2)


@mistake_in_bits("the logarithm of the loss", pairs=False)
class MinusTheLogOfLoss(Bits):
    def __call__(self, nats_per_token, tokens, characters):
        return -math.log2(nats_per_token)


@mistake_in_bits("the logarithm of the loss", pairs=False)
class LogOfTheTotal(Bits):
    def __call__(self, nats_per_token, tokens, characters):
        return math.log2(nats_per_token * tokens) / characters


@mistake_in_bits("the logarithm of the loss")
class LogAtTheEnd(Bits):
    def handed(self, bits):
        return math.log2(bits * math.log(2))


@mistake_in_bits("the logarithm of the loss")
class LogOfBits(Bits):
    def handed(self, bits):
        return math.log2(bits)


@mistake_in_bits(
    "a perplexity",
    why="The exponential of the loss is a perplexity: among how many equal choices the model is unsure, not "
        "what they cost.",
    look="what is the result where the loss is 0? What does a text cost that is known for certain?", hint=1)
class Perplexity(Bits):
    def bits(self, nats):
        return math.exp(nats)


@mistake_in_bits("a perplexity", pairs=False)
class PlainPerplexity(Perplexity):
    def rate(self, bits, tokens, characters):
        return bits


@mistake_in_bits("a perplexity")
class PerplexityInBits(Bits):
    def bits(self, nats):
        return math.exp(nats) / math.log(2)


@mistake_in_bits("a perplexity")
class PowerOfTwo(Bits):
    def bits(self, nats):
        return 2 ** nats


@mistake_in_bits("a perplexity")
class PerplexityOfBits(Bits):
    def bits(self, nats):
        return 2 ** (nats / math.log(2) ** 2)


@mistake_in_bits("a perplexity")
class PerplexityOfCharacters(Bits):
    def handed(self, bits):
        return 2 ** bits


@mistake_in_bits("a perplexity")
class PerplexityOfNats(Bits):
    def handed(self, bits):
        return 2 ** (bits * math.log(2))


@mistake_in_bits("a perplexity")
class ExponentialOfBits(Bits):
    def handed(self, bits):
        return math.exp(bits)


@mistake_in_bits("a perplexity")
class PerplexityOfACharacterInBits(Bits):
    def handed(self, bits):
        return 2 ** bits / math.log(2)


@mistake_in_bits(
    "the wrong logarithm",
    why="The number that turns nats into bits is another one here than ln 2, the natural logarithm of 2.",
    look="print `math.log(2)`, `math.log2(2)` and `math.log10(2)`. Which is what a fair coin costs, in nats?",
    hint=3)
class LogToBaseTen(Bits):
    def bits(self, nats):
        return nats / math.log10(2)


@mistake_in_bits("the wrong logarithm")
class LogOfTen(Bits):
    def bits(self, nats):
        return nats / math.log(10)


@mistake_in_bits("the wrong logarithm")
class DividedByTwo(Bits):
    def bits(self, nats):
        return nats / 2


@mistake_in_bits("the wrong logarithm")
class TimesTwo(Bits):
    def bits(self, nats):
        return nats * 2


@mistake_in_bits("the wrong logarithm")
class DividedByE(Bits):
    def bits(self, nats):
        return nats / math.e


@mistake_in_bits("the wrong logarithm")
class TimesLogToBaseTen(Bits):
    def bits(self, nats):
        return nats * math.log10(2)


@mistake_in_bits(
    "a rounded constant",
    why="The number that turns nats into bits has too few digits.",
    look="how many digits of ln 2, or of 1 / ln 2, stand in your formula? What gives all of them?", hint=3)
class RoundedLn2(Bits):
    def bits(self, nats):
        return nats / 0.69


for constant in (0.7, 0.693, 0.6931, 1 / 1.4, 1 / 1.44, 1 / 1.443):
    mistake_in_bits("a rounded constant", pairs=False)(
        type("RoundedConstant", (Bits,), {"bits": lambda self, nats, constant=constant: nats / constant}))


@mistake_in_bits(
    "converted twice",
    why="The number is divided by ln 2 twice; after the first time it is in bits already.",
    look="how often does ln 2 come in your formula?", hint=3)
class ConvertedTwice(Bits):
    def bits(self, nats):
        return nats / math.log(2) ** 2


@mistake_in_bits(
    "bytes, not bits",
    why="The bits are divided or multiplied by 8, as if these were bytes.",
    look="where does the 8 come from?", hint=3)
class Bytes(Bits):
    def bits(self, nats):
        return nats / math.log(2) / 8


@mistake_in_bits("bytes, not bits")
class BytesTimes(Bits):
    def bits(self, nats):
        return nats / math.log(2) * 8


@mistake_in_bits("bytes, not bits")
class BytesOnly(Bits):
    def bits(self, nats):
        return nats / 8


@mistake_in_bits(
    "the sign flipped",
    why="The result is negative; but a loss costs something, it pays nothing back.",
    look="is the minus of -ln(p) in the loss already?", hint=3)
class Negative(Bits):
    def bits(self, nats):
        return -nats / math.log(2)


@mistake_in_bits("the sign flipped")
class NegativeAtTheEnd(Bits):
    def handed(self, bits):
        return -bits


@mistake_in_bits(
    "bits a token",
    why="These are the bits for a token. How many characters a token has does not come in.",
    look="what do tokens and characters do in your formula?", hint=2)
class ByToken(Bits):
    def rate(self, bits, tokens, characters):
        return bits


@mistake_in_bits(
    "tokens and characters swapped",
    why="The bits of a token are multiplied by the characters in it; but its characters share its bits.",
    look="a token of three characters costs 3 bits. What does each character cost?", hint=2)
class SwappedCounts(Bits):
    def rate(self, bits, tokens, characters):
        return bits * characters / tokens


@mistake_in_bits(
    "the bits of the whole text",
    why="This is what the whole text costs: nothing shares it out among the characters.",
    look="should the result grow when the text gets longer?", hint=2)
class WholeText(Bits):
    def rate(self, bits, tokens, characters):
        return bits * tokens


@mistake_in_bits(
    "one token's bits shared by all characters",
    why="The bits of a single token are divided by all the characters of the text; the other tokens cost "
        "something, too.",
    look="should the result shrink when the text gets longer?", hint=1)
class NoTokens(Bits):
    def rate(self, bits, tokens, characters):
        return bits / characters


@mistake_in_bits(
    "divided by the tokens",
    why="The loss is a mean over the tokens already; it is divided by their number once more.",
    look="what does nats_per_token stand for, and what do all the tokens cost together?", hint=1)
class DividedByTokens(Bits):
    def rate(self, bits, tokens, characters):
        return bits / tokens


@mistake_in_bits("divided by the tokens")
class DividedByBoth(Bits):
    def rate(self, bits, tokens, characters):
        return bits / tokens / characters


@mistake_in_bits(
    "multiplied by the characters",
    why="The bits are multiplied by the number of characters; but the characters share them.",
    look="should the result grow when the text gets longer?", hint=2)
class TimesCharacters(Bits):
    def rate(self, bits, tokens, characters):
        return bits * characters


@mistake_in_bits("multiplied by the characters")
class TimesBoth(Bits):
    def rate(self, bits, tokens, characters):
        return bits * tokens * characters


@mistake_in_bits(
    "the wrong total",
    why="The tokens are divided by a sum or a difference of tokens and characters, not by the characters.",
    look="who shares the cost of the text?", hint=2)
class DividedBySum(Bits):
    def rate(self, bits, tokens, characters):
        return bits * tokens / (tokens + characters)


@mistake_in_bits("the wrong total", pairs=False)
class DividedByMean(Bits):
    def rate(self, bits, tokens, characters):
        return bits * tokens / ((tokens + characters) / 2)


@mistake_in_bits("the wrong total")
class DividedByDifference(Bits):
    def rate(self, bits, tokens, characters):
        return bits * tokens / (characters - tokens) if tokens != characters else bits / 0


@mistake_in_bits(
    "one token or character off",
    why="One is added to or taken from the number of tokens or characters; the numbers that are given are "
        "those that count.",
    look="is the 1 in the contract?", hint=2)
class OneTokenLess(Bits):
    def rate(self, bits, tokens, characters):
        return bits * (tokens - 1) / characters


for more_tokens, more_characters in ((1, 0), (0, 1), (0, -1), (1, 1), (-1, -1)):
    mistake_in_bits("one token or character off")(type("OneOff", (Bits,), {
        "rate": lambda self, bits, tokens, characters, t=more_tokens, c=more_characters: (
            bits * (tokens + t) / (characters + c))}))


@mistake_in_bits(
    "a division that rounds",
    why="A whole-number division, `//`, throws away what follows the point.",
    look="`/` and `//`: what do 3 / 4 and 3 // 4 give?", hint=2)
class FloorOfRatio(Bits):
    def rate(self, bits, tokens, characters):
        return bits * (tokens // characters)


@mistake_in_bits("a division that rounds")
class FloorOfCharactersPerToken(Bits):
    def rate(self, bits, tokens, characters):
        return bits / (characters // tokens)


@mistake_in_bits("a division that rounds")
class RoundedCharactersPerToken(Bits):
    def rate(self, bits, tokens, characters):
        return bits / round(characters / tokens)


@mistake_in_bits("a division that rounds")
class FloorOfNats(Bits):
    def __call__(self, nats_per_token, tokens, characters):
        return self.handed(nats_per_token * tokens // characters / math.log(2))


@mistake_in_bits("a division that rounds")
class FloorOfBits(Bits):
    def bits(self, nats):
        return nats // math.log(2)


@mistake_in_bits(
    "the result rounded",
    why="The result is a rounded number; the contract asks for the number itself.",
    look="is there a `round`, an `int` or a `//`? Rounding is for the eye.", hint=3)
class Rounded(Bits):
    def handed(self, bits):
        return round(bits, 2)


for decimals in (None, 0, 1, 3):
    mistake_in_bits("the result rounded")(type("RoundedTo", (Bits,), {
        "handed": lambda self, bits, decimals=decimals: round(bits, decimals)}))
for rounding in (math.floor, math.ceil, lambda bits: math.floor(100 * bits) / 100):
    mistake_in_bits("the result rounded")(type("RoundedBy", (Bits,), {
        "handed": lambda self, bits, rounding=rounding: rounding(bits)}))


@mistake_in_bits(A_TENSOR, why=OF_A_TENSOR, look=INTO_A_FLOAT, hint=3)
class InATensor(Bits):
    def handed(self, bits):
        return torch.tensor(bits)


@mistake_in_bits(A_TENSOR)
class InAnArray(Bits):
    def handed(self, bits):
        return np.array(bits)


@mistake_in_bits(
    "a text for the number",
    why="A text comes back, as it would be printed; the contract asks for a number.",
    look="what does an f-string make of a number?", hint=3)
class AText(Bits):
    def handed(self, bits):
        return f"{bits:.2f}"


for form in ("{}", "{:.1f}", "{:.3f}", "{:.4f}", "{:.2f} bits per character", "{:.2f} bits", "{:.2f} bpc"):
    mistake_in_bits("a text for the number")(type("Formatted", (Bits,), {
        "handed": lambda self, bits, form=form: form.format(bits)}))


# sample_next

GROUPS = 2  # rows of logits that take turns in a large batch


def draw_logits(generator, batch, vocabulary, temperature, top_k, spread=0.6, level=0.0):
    """Logits in nearly equal steps, in a drawn order; in a large batch, two rows that take turns.

    So every token's chance is far from every other's: 1,500 draws can tell them apart. In the large batches,
    the least likely token is the first of one row and the last of the other.
    """
    def shuffled(values):
        return values[torch.randperm(len(values), generator=generator)]

    steps = spread * (torch.arange(vocabulary) + 0.1 * torch.rand(vocabulary, generator=generator))
    steps = steps.double() + level - spread * vocabulary / 2
    if batch > DRAWS:
        rows = [torch.cat([steps[:1], shuffled(steps[1:])]), torch.cat([shuffled(steps[1:]), steps[:1]])]
        rows = [row + 2.5 * spread * number for number, row in enumerate(rows)] * (batch // GROUPS)
    else:
        rows = [shuffled(steps) + (number == 1) for number in range(batch)]  # the largest of all: in row 1
    seed = int(integers(generator, 10**9, 1))
    return torch.stack(rows), temperature, top_k, torch.Generator().manual_seed(seed)


def judged_draws(call, logits, temperature, top_k, generator):
    """Of a small batch the tokens; of a large one, how often each is drawn from each of its distributions."""
    try:
        if len(logits) > DRAWS:  # a known mistake gives its chances; one row of each kind is enough for that
            first = call(logits[:GROUPS].clone(), temperature, top_k, generator.clone_state())
            if isinstance(first, Chances):
                return first
        tokens = call(logits, temperature, top_k, generator)
    except (RuntimeError, ValueError) as error:
        raise refused(error) from error
    if isinstance(tokens, Chances):
        certain = plain(tokens).max(dim=-1).values > 1 - 1e-9
        return plain(tokens).argmax(dim=-1) if certain.all() else tokens
    return frequencies_of(tokens, *logits.shape) if len(logits) > DRAWS else tokens


def refused(error):
    """An error of a function that draws, as a kind of its own: so that no other error looks like it."""
    kinds = {
        "sum to 1": "probabilities that do not sum to 1",
        "probability tensor|[Pp]robabilities|parameter (probs|logits)|multinomial dist": "no probabilities",
    }
    kind = next((kind for words, kind in kinds.items() if re.search(words, str(error))), None)
    if kind is None:
        return error
    return error_type(f"{type(error).__name__} ({kind})")(str(error)).with_traceback(error.__traceback__)


@functools.cache
def error_type(name):
    return type(name, (Exception,), {})


def frequencies_of(tokens, batch, vocabulary):
    """How often each token comes; what are not token ids stays as it is. One id too large is let through."""
    try:
        ids = torch.as_tensor(tokens)
        good = ids.numel() > 0 and bool(((ids == ids.long()) & (ids >= 0) & (ids <= vocabulary)).all())
    except Exception:
        return tokens
    if not good:
        return tokens
    if ids.numel() != batch:
        return torch.zeros_like(ids)  # too many or too few: their number says it all
    return frequencies(ids.flatten(), GROUPS, max(vocabulary, int(ids.max()) + 1))


def same_draws(one, other):
    """Equal tokens; frequencies that agree; tokens that all have a chance."""
    one, other = (other, one) if isinstance(one, Chances) else (one, other)
    if not isinstance(other, Chances):
        return same_distribution(one, other) if is_table(one) and is_table(other) else same_ids(one, other)
    if not isinstance(one, torch.Tensor):
        return False
    if plain(other).isnan().all():
        return one.shape == other.shape and one_token_each(one)
    if one.ndim == 1:
        fits = len(one) == len(other) and not one.is_floating_point() and bool((one < other.shape[1]).all())
        return fits and bool((plain(other).gather(1, one[:, None]) > 1e-6).all())
    return same_distribution(one, other)


def is_table(value):
    return isinstance(value, torch.Tensor) and value.ndim == 2 and len(value) == GROUPS and (
        value.is_floating_point())


def one_token_each(table):
    """Does each distribution give a single token? In chances, NaN says so: which it is, the draw decides."""
    table, exact = plain(table), isinstance(table, Chances)
    return bool(table.isnan().all() if exact else (table.max(dim=-1).values == 1).all())


def draws_from_the_generator(call, logits, temperature, top_k, generator):
    """The same state gives the same draws, whatever PyTorch's own generator does; and the state moves on."""
    if temperature == 0 or len(logits) < DRAWS:
        return None
    logits, state = logits[:60], generator.get_state()
    torch.manual_seed(1)
    first = call(logits, temperature, top_k, generator)
    if isinstance(first, Chances):
        return None
    first = torch.as_tensor(first)
    generator.set_state(state)
    torch.manual_seed(2)
    np.random.seed(2)
    second = torch.as_tensor(call(logits, temperature, top_k, generator))
    if not torch.equal(first, second):
        return ("the generator not used",
                "Twice the same generator in the same state, and two different draws: the randomness comes "
                "from elsewhere.", "what does `torch.multinomial` take besides the probabilities?")
    if torch.equal(torch.as_tensor(call(logits, temperature, top_k, generator)), second):
        return ("the same draw at every call",
                "A second call with the same generator gives the same tokens again: it has not moved on.",
                "where is a seed set, or a new generator made?")
    return None


def what_the_draws_show(observed, expected, logits, temperature, top_k, generator):
    """Which tokens should never come, and which temperature the frequencies look like."""
    if not is_table(observed) or observed.shape != expected.shape:
        return None
    expected, rows = plain(expected), logits[:GROUPS]
    impossible = (observed > 0) & (expected == 0)
    if impossible.any():
        token = int(impossible.nonzero()[0, 1])
        if temperature == 0:
            return f"At temperature 0, token {token} is drawn, whose logit is not the largest of its row."
        return f"Token {token} is drawn, which is not among the {top_k} largest of its row."
    found = fitting_temperature(observed, expected, rows)
    if found and temperature:
        return f"That is how often tokens come at a temperature of about {found:.1f}, not {temperature}."
    never = (observed == 0) & (expected > 0.05)
    if never.any():
        return f"Token {int(never.nonzero()[0, 1])} is never drawn, though it has a fair chance."
    return "Some tokens are drawn too often, others too rarely: no chance explains that much."


def fitting_temperature(observed, expected, rows):
    """The temperature at which frequencies like these come about, if there is one."""
    inverses = torch.logspace(-2, 1.5, 200, dtype=torch.float64)
    never = plain(expected) == 0
    fitted = (rows * inverses[:, None, None]).masked_fill(never, -torch.inf).softmax(dim=-1)
    off = np.nan_to_num(surprise(observed, fitted), nan=np.inf)
    best = int(off.argmin())
    return 1 / inverses[best].item() if off[best] < LIMIT else None


def signs_of_drawing(observed, expected, logits, temperature, top_k, generator):
    """What is wrong with draws that no known way gives."""
    if not isinstance(observed, torch.Tensor) or observed.shape != expected.shape:
        return
    if temperature == 0:
        if observed.ndim == 1 or bool(((observed > 0) & (observed < 1)).any()):
            yield "sampling at temperature 0"
    elif observed.ndim == 1:
        if top_k is None and len(observed.unique()) > 1:
            yield "another temperature than the given one"
    elif fitting_temperature(observed, expected, logits[:GROUPS]):
        yield "another temperature than the given one"


LARGE = GROUPS * DRAWS

sample_next = Exercise(
    name="sample_next", lesson=8, title="Drawing the next token", difficulty=2, importance=3, minutes=15,
    contract="""
        sample_next(logits, temperature, top_k, generator) draws the next token of each row of logits (batch,
        vocabulary) and returns the ids, a LongTensor (batch,). A row's chances are the softmax of the row's
        logits divided by the temperature, which may be very small. Temperature 0 takes the token with the
        largest logit. With a top_k, from 1 to the size of the vocabulary, only the top_k tokens with the
        largest logits have a chance, in the same proportions; with top_k=None all have. All randomness comes
        from the generator, a torch.Generator. (No two logits of a row are equal.)
        """,
    stub='''
        def sample_next(logits, temperature, top_k, generator):
            """The next token of each row: (batch, vocabulary) → (batch,)."""
            raise NotImplementedError
        ''',
    sizes=[
        {"batch": 3, "vocabulary": 5, "temperature": 0, "top_k": None},
        {"batch": 6, "vocabulary": 4, "temperature": 0.7, "top_k": 1, "level": -60.0},
        {"batch": 4, "vocabulary": 4, "temperature": 0.0, "top_k": 2},
        {"batch": LARGE, "vocabulary": 4, "temperature": 0.5, "top_k": None, "spread": 1.0},
        {"batch": LARGE, "vocabulary": 5, "temperature": 2.5, "top_k": None, "spread": 2.5},
        {"batch": LARGE, "vocabulary": 6, "temperature": 1.0, "top_k": 3, "spread": 1.2, "level": -3.0},
        {"batch": LARGE, "vocabulary": 6, "temperature": 3.0, "top_k": 2, "spread": 1.5, "level": -5.0},
        {"batch": LARGE, "vocabulary": 5, "temperature": 0, "top_k": None, "spread": 0.25},
        {"batch": 5, "vocabulary": 6, "temperature": 0.002, "top_k": None, "level": 1.5},
        {"batch": 1, "vocabulary": 4, "temperature": 0.001, "top_k": None},
    ],
    draw=draw_logits,
    reference=lambda *inputs: SampleNext()(*inputs),
    returns="tokens", shapes={"tokens": "(batch,)"},
    observe=judged_draws, same=same_draws,
    checks=[draws_from_the_generator], symptoms=[what_the_draws_show], signs=signs_of_drawing,
    hints=[
        ("temperature 0, or numbers that are not finite",
         "Nothing can be divided by 0. Which token is left when the temperature gets smaller and smaller? To "
         "take it needs no draw."),
        ("other tokens are drawn than should be",
         "A token whose logit is minus infinity has a chance of exactly 0. Which tokens should get it, and "
         "should that happen before the softmax or after it?"),
        ("the tokens are drawn in other shares",
         "In one order everything fits: the temperature, the top k, the softmax, the draw. What does each of "
         "them take, and what does it give?"),
    ],
    solution='''
        import torch


        def sample_next(logits, temperature, top_k, generator):
            if temperature == 0:
                return logits.argmax(dim=-1)
            logits = logits / temperature
            if top_k is not None:
                kept = logits.topk(top_k).indices
                logits = torch.full_like(logits, -torch.inf).scatter(-1, kept, logits.gather(-1, kept))
            return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)[:, 0]
        ''',
)


@sample_next.right("step by step")
class SampleNext(Steps):
    """Where an answer draws, this gives the exact chances: so mistakes are compared without any noise."""

    def __call__(self, logits, temperature, top_k, generator):
        if temperature == 0:
            return self.largest(logits, top_k)
        probabilities = self.probabilities(self.kept(self.scaled(logits, temperature), top_k))
        return self.drawn(probabilities, generator)

    def largest(self, logits, top_k):
        return certain(logits.argmax(dim=-1), logits)

    def scaled(self, logits, temperature):
        return logits / temperature

    def kept(self, logits, top_k):
        return logits if top_k is None else logits.masked_fill(~among_largest(logits, top_k), -torch.inf)

    def probabilities(self, logits):
        return logits.softmax(dim=-1)

    def drawn(self, probabilities, generator):
        return chances(probabilities)


def among_largest(logits, top_k):
    return logits.argsort(dim=-1).argsort(dim=-1) >= logits.shape[-1] - top_k


def certain(tokens, logits):
    """The chances of a token that is taken for sure."""
    return chances(torch.zeros_like(logits).scatter(-1, tokens[:, None], 1.0))


@sample_next.right("the package's own")
def the_packages_own(logits, temperature, top_k, generator):
    return generation.sample_next(logits, temperature, top_k, generator)


@sample_next.right("with a threshold")
def with_a_threshold(logits, temperature, top_k, generator):
    if temperature == 0:
        return torch.argmax(logits, -1)
    logits = logits / temperature
    if top_k is not None:
        smallest = torch.topk(logits, top_k).values[:, [-1]]
        logits[logits < smallest] = -float("inf")
    return torch.multinomial(torch.softmax(logits, -1), num_samples=1, generator=generator).squeeze(-1)


@sample_next.right("among the k, then their ids")
def among_the_k(logits, temperature, top_k, generator):
    values, ids = logits.sort(descending=True)
    if temperature == 0:
        return ids[:, 0]
    places = torch.multinomial((values[:, :top_k] / temperature).softmax(-1), 1, generator=generator)
    return ids.gather(-1, places).flatten()


@sample_next.right("the top k after the softmax, renormalised by multinomial")
def top_k_after_softmax(logits, temperature, top_k, generator):
    probabilities = (logits / max(temperature, 1e-5)).softmax(-1)
    if top_k:
        probabilities = probabilities * among_largest(probabilities, top_k)
    return torch.multinomial(probabilities, 1, generator=generator).view(-1)


@sample_next.right("by noise: Gumbel's way")
def by_noise(logits, temperature, top_k, generator):
    noise = -torch.log(-torch.log(torch.rand(logits.shape, generator=generator, dtype=logits.dtype)))
    allowed = among_largest(logits, top_k or logits.shape[-1])
    return torch.where(allowed, logits + temperature * noise, -torch.inf).argmax(dim=1)


@sample_next.right("by exponential races")
def by_races(logits, temperature, top_k, generator):
    if not temperature:
        return logits.max(dim=1).indices
    allowed = among_largest(logits, logits.size(1) if top_k is None else top_k)
    weights = (logits / temperature).softmax(1) * allowed
    return (torch.empty_like(weights).exponential_(generator=generator) / weights).argmin(1)


@sample_next.right("by the cumulative sum")
def by_cumulative_sum(logits, temperature, top_k, generator):
    if temperature == 0:
        return logits.argmax(-1)
    order = logits.argsort(dim=-1, descending=True)
    ranked = (logits.gather(1, order) / temperature).softmax(-1)[:, :top_k].cumsum(-1)
    dice = torch.rand(len(logits), 1, generator=generator, dtype=logits.dtype) * ranked[:, -1:]
    return order.gather(1, torch.searchsorted(ranked, dice).clamp(max=ranked.shape[1] - 1))[:, 0]


@sample_next.right("row by row, in plain Python")
def row_by_row(logits, temperature, top_k, generator):
    tokens = []
    for row in logits.tolist():
        ids = sorted(range(len(row)), key=lambda token: -row[token])[:top_k]
        if temperature > 0:
            weights = [math.exp((row[token] - row[ids[0]]) / temperature) for token in ids]
            dice = torch.rand((), generator=generator).item() * sum(weights)
            ids = itertools.compress(ids, [upto >= dice for upto in itertools.accumulate(weights)])
        tokens.append(next(iter(ids)))
    return torch.tensor(tokens)


@sample_next.right("in NumPy, seeded by the generator")
def draws_in_numpy(logits, temperature, top_k, generator):
    dice = np.random.default_rng(int(torch.randint(2**62, (1,), generator=generator)))
    ids = np.argsort(-logits.numpy(), axis=1)[:, :top_k]
    ranked = np.take_along_axis(logits.numpy(), ids, axis=1).astype(np.float64)
    weights = np.exp((ranked - ranked[:, :1]) / (temperature or 1e-6)).cumsum(axis=1)
    places = (weights < dice.random((len(ids), 1)) * weights[:, -1:]).sum(axis=1)
    return torch.from_numpy(ids[np.arange(len(ids)), places])


def drawing(name, *ways):
    """Adds ways to make a mistake: each is {step: function}."""
    for number, way in enumerate(ways):
        sample_next.mistake(name, pairs=False)(type(f"Way{number}", (SampleNext,), way))


mistake_in_draws = sample_next.mistake

# sample_next: the temperature


@mistake_in_draws(
    "division by zero",
    why="At temperature 0 the logits are divided by 0: that makes infinities, and infinity divided by "
        "infinity is not a number (NaN).",
    look="which case needs a way of its own, before the division?", hint=1)
class DividedByZero(SampleNext):
    def largest(self, logits, top_k):
        return self.drawn(self.probabilities(self.kept(logits / 0, top_k)), None)


@mistake_in_draws("division by zero", pairs=False)
class DividedByZeroInPython(SampleNext):
    def largest(self, logits, top_k):
        return logits * (1 / int(logits.numel() == 0))


@mistake_in_draws("division by zero", pairs=False)
class NotANumberRefused(SampleNext):
    def largest(self, logits, top_k):
        raise ValueError("probabilities contain NaN")


@mistake_in_draws("division by zero", pairs=False)
class FirstOfInfinities(SampleNext):
    def largest(self, logits, top_k):
        return certain((logits / 0).argmax(dim=-1), logits)


@mistake_in_draws(
    "sampling at temperature 0",
    why="At temperature 0 tokens are drawn by chance; it should always be the one with the largest logit.",
    look="what happens to the chances as the temperature gets smaller and smaller?", hint=1)
class DrawnAtZero(SampleNext):
    def largest(self, logits, top_k):
        return self.drawn(self.probabilities(self.kept(logits, top_k)), None)


@mistake_in_draws("sampling at temperature 0", pairs=False)
class NearlyZero(SampleNext):
    def largest(self, logits, top_k):
        return self.drawn(self.probabilities(self.kept(logits / 0.1, top_k)), None)


@mistake_in_draws("sampling at temperature 0", pairs=False)
class ByAnyChanceAtZero(SampleNext):
    def largest(self, logits, top_k):
        return self.drawn(self.probabilities(self.kept(logits * 0, top_k)), None)


@mistake_in_draws(
    "the smallest at temperature 0",
    why="At temperature 0 the token with the smallest logit is taken.",
    look="which token becomes certain as the temperature goes down?", hint=1)
class Smallest(SampleNext):
    def largest(self, logits, top_k):
        return certain(logits.argmin(dim=-1), logits)


@mistake_in_draws(
    "the temperature ignored",
    why="The temperature changes nothing: it does not come in, or it is applied where a division later on "
        "undoes it, as after the softmax.",
    look="compare the softmax of your logits at temperature 0.5 and at 2.", hint=3)
class TemperatureIgnored(SampleNext):
    def scaled(self, logits, temperature):
        return logits


@mistake_in_draws(
    "multiplied by the temperature",
    why="The temperature works the wrong way round: a high one makes the likely tokens likelier still, as "
        "when the logits are multiplied by it.",
    look="should a high temperature make the chances more equal, or less?", hint=3)
class TimesTemperature(SampleNext):
    def scaled(self, logits, temperature):
        return logits * temperature


@mistake_in_draws(
    "divided by the temperature twice",
    why="The logits are divided by the temperature twice, or by its square.",
    look="in how many places does the temperature come in?", hint=3)
class TemperatureTwice(SampleNext):
    def scaled(self, logits, temperature):
        return logits / temperature ** 2


@mistake_in_draws(
    "only low temperatures work",
    why="A temperature above 1 changes nothing, or is taken for 1; below 1 all is right.",
    look="is there a condition, or a limit, on the temperature?", hint=3)
class OnlyLow(SampleNext):
    def scaled(self, logits, temperature):
        return logits / min(temperature, 1)


@mistake_in_draws(
    "only high temperatures work",
    why="A temperature below 1 changes nothing, or is taken for 1; above 1 all is right.",
    look="is there a condition, or a limit, on the temperature?", hint=3)
class OnlyHigh(SampleNext):
    def scaled(self, logits, temperature):
        return logits / max(temperature, 1)


@mistake_in_draws(
    "another temperature than the given one",
    why="The tokens come in the shares of another temperature than the given one: something is done to the "
        "temperature before the logits are divided by it, or to the logits.",
    look="write down what the logits are divided by, for a temperature of 0.5 and of 2.", hint=3)
class OnePlus(SampleNext):
    def scaled(self, logits, temperature):
        return logits / (1 + temperature)


drawing("another temperature than the given one",
        {"scaled": lambda self, logits, temperature: logits / math.sqrt(temperature)},
        {"scaled": lambda self, logits, temperature: logits / (2 * temperature)})


@mistake_in_draws(
    "the softmax before the temperature, and once more after it",
    why="It is the probabilities that are divided by the temperature, and a second softmax makes them "
        "nearly equal.",
    look="what should be divided by the temperature: logits or probabilities?", hint=3)
class SoftmaxFirst(SampleNext):
    def scaled(self, logits, temperature):
        return logits.softmax(dim=-1) / temperature


# sample_next: the top k


@mistake_in_draws(
    "top_k ignored",
    why="Every token can be drawn, whatever top_k says.",
    look="is what you have made of top_k used in the lines after it?", hint=2)
class TopKIgnored(SampleNext):
    def kept(self, logits, top_k):
        return logits


@mistake_in_draws(
    "the k smallest kept",
    why="The tokens with the smallest logits are kept, and the likely ones left out.",
    look="does your sort go up or down? And which side of the threshold is left out?", hint=2)
class SmallestKept(SampleNext):
    def kept(self, logits, top_k):
        return logits if top_k is None else super().kept(-logits, top_k).neg().nan_to_num(posinf=-torch.inf)


@mistake_in_draws(
    "the k largest left out",
    why="The tokens that should be kept are left out, and the others can be drawn.",
    look="which side of the threshold is left out?", hint=2)
class LargestLeftOut(SampleNext):
    def kept(self, logits, top_k):
        return logits if top_k is None else logits.masked_fill(among_largest(logits, top_k), -torch.inf)


@mistake_in_draws(
    "one candidate too many",
    why="With top_k = 3, four tokens can be drawn: one more than there should be.",
    look="with a threshold: is it the logit number k, and is it itself kept? With positions: do they count "
         "from 0?",
    hint=2)
class OneTooMany(SampleNext):
    def kept(self, logits, top_k):
        return logits if top_k is None else super().kept(logits, min(top_k + 1, logits.shape[-1]))


@mistake_in_draws(
    "one candidate too few",
    why="With top_k = 3, only two tokens can be drawn: one less than there should be.",
    look="with a threshold: is it the logit number k, and is it itself kept? With positions: do they count "
         "from 0?",
    hint=2)
class OneTooFew(SampleNext):
    def kept(self, logits, top_k):
        return logits if top_k is None else super().kept(logits, top_k - 1)


@mistake_in_draws("one candidate too few", pairs=False)
class OneTooFewOfMore(SampleNext):
    def kept(self, logits, top_k):
        return logits if top_k is None else super().kept(logits, max(top_k - 1, 1))


@mistake_in_draws(
    "those left out can still be drawn",
    why="Tokens outside the top k get a logit such as 0 or -10, not minus infinity: its exponential is not "
        "0, so they are still drawn.",
    look="which logit has an exponential of exactly 0?", hint=2)
class StillDrawn(SampleNext):
    filler = 0.0

    def kept(self, logits, top_k):
        return logits if top_k is None else logits.masked_fill(~among_largest(logits, top_k), self.filler)


class StillDrawnBefore(StillDrawn):
    def scaled(self, logits, temperature):
        self.temperature = temperature
        return logits

    def kept(self, logits, top_k):
        return super().kept(logits, top_k) / self.temperature


for filler in (-1.0, -5.0, -10.0, -20.0):
    for base in (StillDrawn, StillDrawnBefore):
        mistake_in_draws("those left out can still be drawn", pairs=False)(
            type(base.__name__, (base,), {"filler": filler}))


@mistake_in_draws(
    "one threshold for the whole batch",
    why="One threshold, that of a single row or of the whole batch, decides for every row which tokens are "
        "kept.",
    look="the shape of the threshold: how many rows has it?", hint=2)
class FirstRowsThreshold(SampleNext):
    def kept(self, logits, top_k):
        return logits if top_k is None else logits.where(logits >= self.threshold(logits, top_k), -torch.inf)

    def threshold(self, logits, top_k):
        return logits[0].topk(top_k).values[-1]


drawing("one threshold for the whole batch",
        {"kept": lambda self, logits, top_k: FirstRowsThreshold.kept(self, logits, top_k),
         "threshold": lambda self, logits, top_k: logits.repeat(top_k, 1).flatten().topk(top_k).values[-1]},
        {"kept": lambda self, logits, top_k: FirstRowsThreshold.kept(self, logits, top_k),
         "threshold": lambda self, logits, top_k: logits[-1].topk(top_k).values[-1]},
        {"kept": lambda self, logits, top_k: FirstRowsThreshold.kept(self, logits, top_k),
         "threshold": lambda self, logits, top_k: logits.topk(top_k).values[:, -1].min()})


@mistake_in_draws(
    "the place among the k, not the id",
    why="What comes back is the place of a token in the sorted list, not its id in the vocabulary.",
    look="`topk` and `sort` give two things. What are the second ones for?", hint=2)
class PlaceAmongK(SampleNext):
    def __call__(self, logits, temperature, top_k, generator):
        if temperature == 0 or top_k is None:
            return super().__call__(logits, temperature, top_k, generator)
        return self.sorted(logits, temperature, top_k)

    def sorted(self, logits, temperature, top_k):
        probabilities = self.probabilities(self.kept(self.scaled(logits, temperature), top_k))
        return self.drawn(probabilities.sort(dim=-1, descending=True).values, None)


@mistake_in_draws("the place among the k, not the id", pairs=False)
class PlaceAmongAll(PlaceAmongK):
    def __call__(self, logits, temperature, top_k, generator):
        if temperature == 0:
            return SampleNext.__call__(self, logits, temperature, top_k, generator)
        return self.sorted(logits, temperature, top_k)


@mistake_in_draws("the place among the k, not the id", pairs=False)
class PlaceAmongAllAlsoAtZero(PlaceAmongK):
    def __call__(self, logits, temperature, top_k, generator):
        if temperature == 0:
            return certain(torch.zeros(len(logits), dtype=torch.int64), logits)
        return self.sorted(logits, temperature, top_k)


@mistake_in_draws("the place among the k, not the id", pairs=False)
class PlaceFromBelow(PlaceAmongK):
    def sorted(self, logits, temperature, top_k):
        probabilities = self.probabilities(self.kept(self.scaled(logits, temperature), top_k))
        ranked = probabilities.sort(dim=-1).values.roll(top_k - logits.shape[-1], dims=-1)
        return self.drawn(ranked, None)


@mistake_in_draws(
    "the top k after the softmax, not renormalised",
    why="After the top k have been picked, the probabilities of a row no longer sum to 1, and what is "
        "missing goes to one token, or makes the draw fail.",
    look="what do the probabilities of a row sum to just before the draw?", hint=2)
class RestToTheFirst(SampleNext):
    def kept(self, logits, top_k):
        self.top_k = top_k
        return logits

    def probabilities(self, logits):
        probabilities = logits.softmax(dim=-1)
        if self.top_k is None:
            return probabilities
        kept = probabilities * among_largest(logits, self.top_k)
        return self.with_rest(kept, 1 - kept.sum(dim=-1))

    def with_rest(self, kept, rest):
        kept[:, 0] += rest
        return kept


@mistake_in_draws("the top k after the softmax, not renormalised")
class RestToTheLast(RestToTheFirst):
    def with_rest(self, kept, rest):
        kept[:, -1] += rest
        return kept


@mistake_in_draws("the top k after the softmax, not renormalised", pairs=False)
class RestToNoToken(RestToTheFirst):
    def with_rest(self, kept, rest):
        return torch.cat([kept, rest[:, None]], dim=1)


@mistake_in_draws("the top k after the softmax, not renormalised", pairs=False)
class RefusedAsNotSummingToOne(RestToTheFirst):
    def with_rest(self, kept, rest):
        raise ValueError("probabilities do not sum to 1")


@mistake_in_draws(
    "top_k=None not handled",
    why="With top_k=None it raises an error: None is no number.",
    look="which lines should run only if there is a top_k?", hint=2)
class NoneNotHandled(SampleNext):
    def kept(self, logits, top_k):
        return super().kept(logits, int(top_k))


@mistake_in_draws("top_k=None not handled")
class NoneNeverHandled(SampleNext):
    def __call__(self, logits, temperature, top_k, generator):
        return super().__call__(logits, temperature, int(top_k), generator)


@mistake_in_draws(
    "top_k=None keeps one",
    why="Without a top_k only the likeliest token can be drawn, as if top_k were 1; it should be all of "
        "them.",
    look="what does top_k become where it is None?", hint=2)
class NoneKeepsOne(SampleNext):
    def kept(self, logits, top_k):
        return super().kept(logits, top_k or 1)


@mistake_in_draws(
    "drawn evenly among the candidates",
    why="All the tokens that can be drawn are equally likely: how large their logits are makes no "
        "difference.",
    look="what has become of the kept logits when you draw?", hint=3)
class EvenAmongTheKept(SampleNext):
    def kept(self, logits, top_k):
        return logits if top_k is None else super().kept(logits, top_k) * 0

    def probabilities(self, logits):
        return (~logits.isnan() * 1.0) if logits.isnan().any() else super().probabilities(logits)


@mistake_in_draws("drawn evenly among the candidates")
class Even(SampleNext):
    def probabilities(self, logits):
        return logits.isfinite() * 1.0


@mistake_in_draws("drawn evenly among the candidates", pairs=False)
class EvenAmongAll(SampleNext):
    def probabilities(self, logits):
        return torch.ones_like(logits)


# sample_next: probabilities, and the draw


@mistake_in_draws(
    "numbers that are no probabilities",
    why="What is drawn from are no probabilities: some are negative or not finite, as logits and logarithms "
        "are.",
    look="what does `torch.multinomial` take: logits, logarithms or probabilities?", hint=3)
class LogProbabilities(SampleNext):
    def probabilities(self, logits):
        return logits.log_softmax(dim=-1)


@mistake_in_draws("numbers that are no probabilities", pairs=False)
class LogProbabilitiesInNumpy(SampleNext):
    def probabilities(self, logits):
        raise ValueError("probabilities are not non-negative")


@mistake_in_draws(
    "exponentials that overflow",
    why="At a small temperature the logits become huge, and their exponentials infinite: what comes out is "
        "not a number.",
    look="which number, taken from all logits of a row, leaves no exponent above 0 and changes no "
         "probability?",
    hint=3)
class Overflow(SampleNext):
    def probabilities(self, logits):
        return logits.exp()


@mistake_in_draws("exponentials that overflow", pairs=False)
class OverflowInNumpy(SampleNext):
    def probabilities(self, logits):
        if logits.exp().isinf().any():
            raise ValueError("probabilities contain NaN")
        return logits.softmax(dim=-1)


@mistake_in_draws(
    "no exponential",
    why="The logits become weights without an exponential: shifted, cut off at 0, squared, or without their "
        "signs.",
    look="what turns logits into probabilities, and logits one apart into a ratio of e?", hint=3)
class ShiftedLogits(SampleNext):
    def probabilities(self, logits):
        return logits - logits.min(dim=-1, keepdim=True).values


drawing("no exponential",
        {"probabilities": lambda self, logits: logits.relu()},
        {"probabilities": lambda self, logits: logits.abs()},
        {"probabilities": lambda self, logits: logits ** 2})


@mistake_in_draws(
    "a sigmoid for the softmax",
    why="A sigmoid makes a number between 0 and 1 of each logit by itself; drawn in these shares, unlikely "
        "tokens come too often.",
    look="how do the chances of two tokens compare whose logits are one apart?", hint=3)
class Sigmoid(SampleNext):
    def probabilities(self, logits):
        return logits.sigmoid()


@mistake_in_draws(
    "softmax twice",
    why="The softmax is applied to its own result, which makes the chances nearly equal.",
    look="which functions apply a softmax, or take logits, by themselves?", hint=3)
class SoftmaxTwice(SampleNext):
    def probabilities(self, logits):
        return logits.softmax(dim=-1).softmax(dim=-1)


@mistake_in_draws(
    "softmax over the batch",
    why="The softmax runs down the columns, over the batch: rows that have nothing to do with each other "
        "compete.",
    look="the probabilities of one row must sum to 1. Which dimension holds them?", hint=3)
class SoftmaxOverBatch(SampleNext):
    def probabilities(self, logits):
        return logits.softmax(dim=0)


@mistake_in_draws(
    "the sign flipped",
    why="The unlikeliest tokens are drawn most often: a sign is wrong, or logarithms of probabilities count "
        "the wrong way round.",
    look="should a larger logit make a token likelier?", hint=3)
class SignFlipped(SampleNext):
    def probabilities(self, logits):
        return (-logits).masked_fill(logits.isinf(), -torch.inf).softmax(dim=-1)


drawing("the sign flipped", {"probabilities": lambda self, logits: -logits.log_softmax(dim=-1)},
        {"kept": lambda self, logits, top_k: SampleNext.kept(self, -logits, top_k)})


@mistake_in_draws(
    "the largest for the draw",
    why="It always takes the likeliest token: nothing is drawn.",
    look="what does `argmax` leave to chance?", hint=3)
class Argmax(SampleNext):
    def drawn(self, probabilities, generator):
        super().drawn(probabilities, generator)
        return certain(probabilities.argmax(dim=-1), probabilities)


@mistake_in_draws("the largest for the draw", pairs=False)
class ArgmaxOfAnything(SampleNext):
    def __call__(self, logits, temperature, top_k, generator):
        return self.largest(logits, top_k)


@mistake_in_draws(
    "one draw for the whole batch",
    why="Rows with equal logits all get the same token: one draw, or one random number, serves for every "
        "row.",
    look="how many random numbers does a batch of 8 rows need?", hint=3)
class OneDraw(SampleNext):
    def drawn(self, probabilities, generator):
        table = super().drawn(probabilities, generator)
        return table if (table.max(dim=-1).values > 1 - 1e-9).all() else table * torch.nan


@mistake_in_draws("one draw for the whole batch", pairs=False)
class OneDrawByTheFirstRow(OneDraw):
    def drawn(self, probabilities, generator):
        return super().drawn(probabilities[:1].expand_as(probabilities), generator)


@mistake_in_draws(
    "the same chances for every row",
    why="All the tokens are drawn by the same chances; each row should have its own.",
    look="is there an index such as [0] or [-1] where every row should be meant?", hint=3)
class FirstRowsChances(SampleNext):
    def drawn(self, probabilities, generator):
        return SampleNext.drawn(self, probabilities[:1].expand_as(probabilities), generator)

    def largest(self, logits, top_k):
        return certain(logits[:1].argmax(dim=-1).expand(len(logits)), logits)


drawing("the same chances for every row",
        {"drawn": FirstRowsChances.drawn},
        {"drawn": lambda self, probabilities, generator: SampleNext.drawn(
            self, probabilities[-1:].expand_as(probabilities), generator)},
        {"drawn": lambda self, probabilities, generator: SampleNext.drawn(
            self, probabilities.mean(dim=0, keepdim=True).expand_as(probabilities), generator)})


@mistake_in_draws(
    "ids counted from 1",
    why="Every id is one too large: tokens are counted from 0.",
    look="which id has the first token of a vocabulary?", hint=3)
class FromOne(SampleNext):
    def __call__(self, logits, temperature, top_k, generator):
        table = super().__call__(logits, temperature, top_k, generator)
        return torch.cat([torch.zeros(len(logits), 1), plain(table)], dim=1).as_subclass(Chances)


# sample_next: what comes back, and where the randomness comes from


@mistake_in_draws(
    "the largest of the whole batch",
    why="The largest logit of the whole batch is looked for, not that of each row.",
    look="which dimension does `argmax` take, and what does it do without one?", hint=1)
class LargestOfAll(SampleNext):
    def largest(self, logits, top_k):
        return logits.argmax()


@mistake_in_draws(
    "only one row answered",
    why="One token comes back, where every row of the batch should have its own.",
    look="the shape of the result, for a batch of 3 rows.", hint=3)
def first_row_only(logits, temperature, top_k, generator):
    return generation.sample_next(logits[:1], temperature, top_k, generator)


def one_row(at_zero, when_drawing):
    """All rows where the temperature is 0, or one of them; and the same where tokens are drawn."""
    def answer(logits, temperature, top_k, generator):
        tokens = generation.sample_next(logits, temperature, top_k, generator)
        return at_zero(tokens) if temperature == 0 else when_drawing(tokens)
    return answer


def all_rows(tokens):
    return tokens


for row in (0, -1):
    def as_tensor(tokens, row=row):
        return tokens[row:][:1]

    def as_scalar(tokens, row=row):
        return tokens[row]

    def as_number(tokens, row=row):
        return int(tokens[row])

    for at_zero, when_drawing in itertools.product((as_tensor, as_scalar, as_number, all_rows), repeat=2):
        if (at_zero, when_drawing) != (all_rows, all_rows) and (row == 0 or at_zero is when_drawing):
            mistake_in_draws("only one row answered")(one_row(at_zero, when_drawing))


@mistake_in_draws(
    "a single number asked of a batch",
    why="`.item()` and `int()` turn a tensor of one number into that number; a batch has more rows than one.",
    look="the shape of the result, for a batch of 3 rows.", hint=3)
def as_an_item(logits, temperature, top_k, generator):
    return generation.sample_next(logits, temperature, top_k, generator).item()


@mistake_in_draws(
    "the last position taken once more",
    why="The logits are indexed as if they were (batch, length, vocabulary); they are those of the last "
        "position already.",
    look="how many dimensions do the logits of the contract have?", hint=3, raises=True)
def last_position_again(logits, temperature, top_k, generator):
    return generation.sample_next(logits[:, -1, :], temperature, top_k, generator)


@mistake_in_draws(
    "the largest over the batch",
    why="For each token the row is found in which it has its largest logit; it should be the token for each "
        "row.",
    look="which dimension should `argmax` run over?", hint=1)
class LargestOverBatch(SampleNext):
    def largest(self, logits, top_k):
        return logits.argmax(dim=0)


@mistake_in_draws(
    "the values, not the ids",
    why="At temperature 0 the largest logits come back, alone or beside the ids; the ids are asked for.",
    look="what do `max` and `argmax` give?", hint=1)
class Values(SampleNext):
    def largest(self, logits, top_k):
        return logits.max(dim=-1).values


@mistake_in_draws("the values, not the ids", pairs=False)
class ValuesAndIds(SampleNext):
    def largest(self, logits, top_k):
        return tuple(logits.max(dim=-1))


@mistake_in_draws(
    "the probabilities returned",
    why="What comes back are the chances of all the tokens; nothing has been drawn.",
    look="the shape of the result, and the `return` line.", hint=3)
def probabilities_returned(logits, temperature, top_k, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    return SampleNext().kept(logits / temperature, top_k).softmax(dim=-1)


@mistake_in_draws("the probabilities returned")
def probabilities_returned_always(logits, temperature, top_k, generator):
    table = SampleNext()(logits, temperature, top_k, generator)
    return table.as_subclass(torch.Tensor)


def drawn_rightly(way):
    """The same with the right chances where they are asked for: its draws are not what is wrong with it."""
    def answer(logits, temperature, top_k, generator):
        known = len(logits) == GROUPS
        return (SampleNext() if known else way)(logits, temperature, top_k, generator)
    return answer


@mistake_in_draws(
    "the generator not used",
    why="The generator is not used: the same state of it gives different draws, and nobody can repeat a "
        "text.",
    look="what does the function that draws take besides the probabilities?", hint=3)
@drawn_rightly
def without_generator(logits, temperature, top_k, generator):
    return generation.sample_next(logits, temperature, top_k)


@mistake_in_draws(
    "the same draw at every call",
    why="Every call begins with the same seed, so a second call with the same logits draws the same tokens "
        "again.",
    look="where is a seed set, or a new generator made?", hint=3)
@drawn_rightly
def always_the_same_seed(logits, temperature, top_k, generator):
    return generation.sample_next(logits, temperature, top_k, torch.Generator().manual_seed(0))


@mistake_in_draws("the same draw at every call")
@drawn_rightly
def always_the_first_seed(logits, temperature, top_k, generator):
    return generation.sample_next(logits, temperature, top_k, generator.manual_seed(generator.initial_seed()))
