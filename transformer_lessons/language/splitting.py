"""Splits a text as GPT-2 does: into words, and the words into bytes, which its files write as visible letters."""

import functools
import re
import unicodedata
from collections.abc import Collection

SPACE = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # Unicode's; \s matches four more
SEEN = [*range(33, 127), *range(161, 173), *range(174, 256)]  # bytes written as the character with their number
LETTERS = {n: chr(n) for n in SEEN} | {n: chr(256 + i) for i, n in enumerate(sorted({*range(256)} - {*SEEN}))}
NUMBERS = {ord(letter): n for n, letter in LETTERS.items()}


def split_words(text: str, special: Collection[str] = ()) -> list[str]:
    """Words with the space before them, numbers, other characters, white space, special tokens; joined, the text."""
    if not special:
        return pattern().findall(text)
    parts = re.split(f"({'|'.join(map(re.escape, special))})", text)
    return [word for part in parts for word in ([part] if part in special else split_words(part))]


def split_digits(text: str) -> list[str]:
    """Every digit by itself, and what stands between them; joined, the text."""
    return [part for part in re.split(f"([{numbers()}])", text) if part]


@functools.cache
def numbers() -> str:
    r"""The characters that are digits or other numbers, \p{N}."""
    return "".join(one for one in map(chr, range(0x110000)) if unicodedata.category(one)[0] == "N")


@functools.cache
def pattern() -> re.Pattern[str]:
    r"""GPT-2's pattern. It has \p{L} for letters, \p{N} for numbers; Python's \w is these two and the underscore."""
    letter, number = rf"[^\W{numbers()}_]", f"[{numbers()}]"
    other, space = rf"(?:[^\w{SPACE}]|_)", f"[{SPACE}]"
    last = f"(?![^{SPACE}])"  # white space before a word leaves its last character to that word
    return re.compile(f"'(?:[sdmt]|ll|ve|re)| ?{letter}+| ?{number}+| ?{other}+|{space}+{last}|{space}+")


def single_bytes(text: str) -> list[bytes]:
    """A text's UTF-8 bytes, one by one; half a surrogate pair, which UTF-8 does not allow, becomes three bytes too."""
    return [bytes([number]) for number in text.encode("utf-8", "surrogatepass")]


def letters(token: bytes) -> str:
    """A letter for each byte of a token."""
    return token.decode("latin-1").translate(LETTERS)


def from_letters(text: str) -> bytes:
    """The bytes that these letters stand for."""
    return text.translate(NUMBERS).encode("latin-1")
