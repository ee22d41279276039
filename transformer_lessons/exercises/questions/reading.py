"""What a learner typed, read as letters, a number, a shape or a text. Lenient in form, strict in kind."""

import re
from collections.abc import Iterable
from itertools import islice
from math import isfinite
from typing import Any

from transformer_lessons.basis.words import joined
from transformer_lessons.exercises.questions.arithmetic import LONGEST, calculated

WITHOUT_TEXT = "This question is answered with letters alone, without their text."
SINGLE = "This question is answered with a single number."
SIZES = "A shape consists of whole numbers, as in (2, 3)."


class Unreadable(Exception):
    """The answer is of a kind that the question cannot judge; the message tells the learner why."""


def is_blank(value: object) -> bool:
    return value is None or value is ... or (isinstance(value, str) and not value.strip(" .…?\n\t"))


def letters_in(value: Any) -> set[str]:
    if isinstance(value, str):
        words = re.findall(r"[^\W_]+", re.sub(r"\band\b", " ", value.lower()))
        letters = set().union(*words)
    elif isinstance(value, (list, tuple, set, frozenset)):
        words, letters = [], set().union(*(letters_in(part) for part in islice(value, 27)))
    else:
        raise Unreadable("This question is answered with letters, in quotation marks.")
    if not any(sign.isalpha() for sign in letters):
        raise Unreadable(
            "There is no letter in this answer: please answer with the letter of a choice, not with its text."
        )
    if len(letters) > 9 or not all(could_be_letters(word) for word in words):
        raise Unreadable(WITHOUT_TEXT)
    return letters


def could_be_letters(word: str) -> bool:
    """One letter, or several that may be those of choices; not a word, and not a number."""
    return word.isalpha() and (len(word) == 1 or set(word) <= set("abcdefghi"))


def number_in(value: Any) -> float:
    if isinstance(value, (tuple, list)):
        if len(value) != 1:
            raise Unreadable(SINGLE)
        value = value[0]
    if isinstance(value, str):
        if "," in value and len(value) <= LONGEST and re.fullmatch(r"\s*[(\[][^()\[\]]*,[^()\[\]]*[)\]]\s*", value):
            raise Unreadable(SINGLE)
        value = calculated(value)
    if hasattr(value, "item"):  # NumPy's and PyTorch's numbers
        value = value.item()
    if isinstance(value, (bool, complex)):
        raise Unreadable("This question is answered with an ordinary number.")
    if not isfinite(value):
        raise Unreadable("The answer is a finite number; this is none.")
    return float(value)


def shape_in(value: Any) -> tuple[int, ...]:
    if isinstance(value, str):
        value = shape_in_words(value)
    if hasattr(value, "tolist"):  # arrays and tensors
        value = value.tolist()
    if isinstance(value, (set, frozenset, dict)):
        raise Unreadable("A shape has an order: write it with round brackets, as in (2, 3).")
    if not isinstance(value, (list, tuple)):
        raise Unreadable("A shape has brackets, also where it is a single size, as in (3,).")
    sizes = tuple(islice(value, 10))
    if len(sizes) > 9:
        raise Unreadable("A shape has one number for each dimension; these are too many.")
    if any(isinstance(size, bool) or int(size) != size or not 0 <= size < 10**9 for size in sizes):
        raise Unreadable(SIZES)
    return tuple(int(size) for size in sizes)


def shape_in_words(text: str) -> tuple[int, ...] | int:
    """The sizes in a text; a single size without brackets stays a number."""
    if not re.fullmatch(r"(torch\.Size)?([\s\d,x×()\[\]]|(?<=\d)\s+by\s+(?=\d))*", text.strip()):
        raise Unreadable(SIZES)
    sizes = tuple(int(size) for size in re.findall(r"\d+", text))
    return sizes if len(sizes) != 1 or re.search(r"[,(\[]", text) else sizes[0]


def text_in(value: Any) -> str:
    if not isinstance(value, str):
        raise Unreadable("This question is answered with a text, in quotation marks.")
    if not re.search(r"\w", value):
        raise Unreadable("There are no words in this text.")
    if not re.search(r"\w\W*\w", value):
        raise Unreadable("A single character is not an answer to this question.")
    return value


def listed(words: Iterable[str]) -> str:
    """The words in order, as in "a, b and c"."""
    return joined(sorted(words, key=lambda word: (len(word), word)))
