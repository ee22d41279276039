"""A published tokenizer, from a GGUF file: byte pairs as in lesson 9, under the ids that the model was trained with."""

import functools
import re
from collections.abc import Collection, Iterable

from transformer_lessons.language.byte_pairs import BytePairs, apply_merges
from transformer_lessons.language.gguf_file import GGUFFile, shown
from transformer_lessons.language.splitting import from_letters, single_bytes, split_digits, split_words

WHOLE = (3, 4)  # the kinds of token that are texts of their own, such as <|im_end|>: control, and user-defined
DIGITS = {"smollm": True, "gpt-2": False}  # how a text is cut before it is merged → whether digits stand alone


class PublishedBytePairs(BytePairs):
    """Byte pairs whose ids are those of a file. A byte that has no token there is left out, as its authors do."""

    def __init__(
        self, tokens: list[str], merges: Iterable[tuple[str, ...]], special: Collection[int], single_digits: bool
    ) -> None:
        self.special = sorted(
            (tokens[number] for number in special), key=len, reverse=True
        )  # the longest is tried first
        self.single_digits = single_digits
        self.tokens = [
            token.encode() if number in special else from_letters(token) for number, token in enumerate(tokens)
        ]
        self.ids = {token: number for number, token in enumerate(self.tokens) if number not in special}
        self.ids |= {tokens[number]: number for number in special}
        self.ranks = {tuple(map(from_letters, merge)): rank for rank, merge in enumerate(merges)}
        self.spell = functools.cache(self.merged)

    def merged(self, word: str) -> list[int]:
        """The ids of a word."""
        known = [byte for byte in single_bytes(word) if byte in self.ids]
        return [self.ids[part] for part in apply_merges(known, self.ranks)]

    def cut(self, text: str) -> list[str]:
        """Special tokens, and words between them."""
        words = []
        for part in re.split(f"({'|'.join(map(re.escape, self.special))})", text) if self.special else [text]:
            words += [part] if part in self.special else self.cut_plain(part)
        return words

    def cut_plain(self, text: str) -> list[str]:
        """Words, even where they look like special tokens; where the file says so, every digit is a word."""
        pieces = split_digits(text) if self.single_digits else [text]
        return [word for piece in pieces for word in split_words(piece)]

    def encode_plain(self, text: str) -> list[int]:
        """The ids of what a stranger has typed: no special token is among them."""
        return [number for word in self.cut_plain(text) for number in self.spell(word)]


def read_tokenizer(file: GGUFFile) -> PublishedBytePairs:
    """The tokenizer in a GGUF file."""
    kind, cut = file.metadata.get("tokenizer.ggml.model"), file.metadata.get("tokenizer.ggml.pre")
    if kind != "gpt2":
        raise ValueError(f"{file.path} has a tokenizer of kind {kind!r}: only 'gpt2', byte pairs, is known here")
    if cut not in DIGITS:
        raise ValueError(
            f"{file.path} cuts its texts as {cut!r}: only {' and '.join(map(repr, DIGITS))} are known here"
        )
    tokens, kinds, merges = (texts(file, name) for name in ("tokens", "token_type", "merges"))
    pairs = [tuple(merge.split(" ")) for merge in merges]
    special = {number for number, one in enumerate(kinds) if one in WHOLE}
    check_tokens(file, tokens, kinds, pairs)
    try:
        return PublishedBytePairs(tokens, pairs, special, DIGITS[cut])
    except UnicodeEncodeError as error:
        raise file.damaged(f"its token {shown(error.object)} is not spelled in GPT-2's letters") from None


def texts(file: GGUFFile, name: str) -> list:
    """A list of the tokenizer's, which must be there."""
    found, kind = file.metadata.get(f"tokenizer.ggml.{name}"), int if name == "token_type" else str
    if not isinstance(found, list) or not all(type(one) is kind for one in found):
        raise file.damaged(f"tokenizer.ggml.{name} is missing, or not a list of the right kind")
    return found


def check_tokens(file: GGUFFile, tokens: list[str], kinds: list[int], pairs: Iterable[tuple[str, ...]]) -> None:
    """The lists belong together: every token has a kind, no two are equal, and every merge makes a token."""
    known = set(tokens)
    if len(tokens) != len(kinds) or len(known) != len(tokens) or not tokens:
        raise file.damaged(f"it has {len(tokens)} tokens, {len(known)} of them different, with {len(kinds)} kinds")
    for pair in pairs:
        if len(pair) != 2 or "".join(pair) not in known:
            raise file.damaged(f"its merge {shown(' '.join(pair))} makes no token")
