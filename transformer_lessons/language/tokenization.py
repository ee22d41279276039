"""From text to rows of token ids, and back without losing a character."""

import codecs
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator

import torch

from transformer_lessons.validation import check_sizes


def tokenize(text: str) -> list[str]:
    """Words, and what stands between them, in order: joined, the tokens give the text back."""
    return [token for token in re.split(r"\b", text) if token]


class Vocabulary:
    """Ids for pieces of text. Other tokens are spelled in characters, other characters in bytes.

    So any text can be encoded, and decode(encode(text)) == text. The first 256 ids are the bytes.
    """

    ids: dict[str | bytes, int]  # of each piece; in byte pairs, most tokens are bytes

    def __init__(self, pieces: Iterable[str]) -> None:
        self.pieces = list(pieces)
        self.ids = {piece: 256 + number for number, piece in enumerate(self.pieces)}
        if len(self.ids) < len(self.pieces):
            twice = next(piece for piece, count in Counter(self.pieces).items() if count > 1)
            raise ValueError(f"the piece {twice!r} is in the vocabulary twice")
        spelled = [piece.encode("utf-8", "surrogatepass") for piece in self.pieces]
        self.tokens = [bytes([number]) for number in range(256)] + spelled

    @classmethod
    def of_words(cls, text: str, size: int) -> "Vocabulary":
        """Every character of the text, and its commonest tokens: at most size ids in all."""
        check_sizes(size=size)
        characters = sorted(set(text))
        if size < 256 + len(characters):
            raise ValueError(
                f"size={size} is too small: this text needs at least {256 + len(characters)}, "
                f"256 for the bytes and {len(characters)} for its characters"
            )
        counts = Counter(token for token in tokenize(text) if len(token) > 1)
        common = sorted(counts, key=lambda token: (-counts[token], token))
        return cls(characters + common[: size - 256 - len(characters)])

    @classmethod
    def of_characters(cls, text: str) -> "Vocabulary":
        """The text's characters, and no more."""
        return cls(sorted(set(text)))

    def __len__(self) -> int:
        return len(self.tokens)

    def encode(self, text: str) -> list[int]:
        """The ids of a text, as a list."""
        ids = []
        for token in self.cut(text):
            ids += [self.ids[token]] if token in self.ids else self.spell(token)
        return ids

    def cut(self, text: str) -> list[str]:
        """The tokens to look up, or to spell."""
        return tokenize(text)

    def spell(self, token: str) -> list[int]:
        """The ids of a token's characters, or of their bytes."""
        ids = []
        for character in token:
            known = character in self.ids
            ids += [self.ids[character]] if known else character.encode("utf-8", "surrogatepass")
        return ids

    def decode(self, ids: Iterable[int] | torch.Tensor) -> str:
        """The text of a sequence of ids; bytes that are no character (a model may write them) become �."""
        return b"".join(map(self.bytes_of, ids)).decode("utf-8", REPLACED)

    def decode_stream(self, ids: Iterable[int]) -> Iterator[str]:
        """The same text, piece by piece as the ids arrive: each character as soon as its last byte is there."""
        decoder = codecs.getincrementaldecoder("utf-8")(REPLACED)
        for number in ids:
            yield decoder.decode(self.bytes_of(number))
        yield decoder.decode(b"", final=True)

    def bytes_of(self, number: int) -> bytes:
        """The bytes that an id stands for."""
        if not 0 <= number < len(self):
            raise ValueError(f"{int(number)} is not a token: ids run from 0 to {len(self) - 1}")
        return self.tokens[number]


def replace_invalid(error: UnicodeError) -> tuple[str | bytes, int]:
    """Three bytes that encode half a surrogate pair become that half again; any other invalid bytes become �."""
    try:
        return codecs.lookup_error("surrogatepass")(error)
    except UnicodeDecodeError:
        return codecs.lookup_error("replace")(error)


REPLACED = "transformer_lessons.replace"
codecs.register_error(REPLACED, replace_invalid)


def make_sequences(ids: torch.Tensor, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows of inputs that do not overlap, and their targets, one token ahead; the rest is dropped."""
    check_sizes(length=length)
    check_ids(ids)
    number = (len(ids) - 1) // length
    if number < 1:
        raise ValueError(f"a row of length {length} and its targets need {length + 1} tokens, not {len(ids)}")
    inputs = ids[: number * length].reshape(number, length)  # (number, length)
    targets = ids[1 : number * length + 1].reshape(number, length)  # (number, length)
    return inputs, targets


def check_ids(ids: torch.Tensor) -> None:
    """Ids are one row of tokens."""
    if not isinstance(ids, torch.Tensor):
        raise TypeError(f"the ids are a {type(ids).__name__}: they must be a tensor of one dimension")
    if ids.dim() != 1:
        raise ValueError(f"the ids {tuple(ids.shape)} must be a tensor of one dimension")


def bits_per_character(nats_per_token: float, tokens: int, characters: int) -> float:
    """Converts a loss in nats per token to bits per character, which compares models with different tokens."""
    check_sizes(tokens=tokens, characters=characters)
    return nats_per_token * tokens / characters / math.log(2)
