"""GGUF files, in which llama.cpp keeps a model, its tokenizer and all that belongs to them: verified, then read.

Such a file may come from anywhere. So no size that it gives is believed before the file is seen to be that long.
The package gguf, llama.cpp's own, is imported only where a file is read, because that takes a while.
"""

import math
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import torch

Value: TypeAlias = int | float | bool | str | list  # in the metadata

NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}  # kind → struct's
TEXT, LIST = 8, 9  # the other kinds of value
MOST = 2**20  # entries of a list, and tensors: the largest vocabularies have 2**18 tokens
DIMENSIONS = 4  # of a tensor, at most
ALIGNMENT = 32  # of the tensors' first bytes, unless the file gives another


@dataclass(frozen=True)
class Stored:
    """Where a tensor lies in the file, and how its numbers are written there."""

    kind: str  # F32, F16, Q4_1, …
    shape: tuple[int, ...]  # as PyTorch gives it; the file has the same sizes in reverse
    start: int  # of its bytes in the file
    size: int  # in bytes


class GGUFFile:
    """What the beginning of a file says: the metadata, and where the tensors are. These are read one by one."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            with open(self.path, "rb") as file:
                header = Header(file, self.path)
                self.metadata, self.stored = header.metadata, header.stored
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror}") from None

    def damaged(self, why: str) -> ValueError:
        return damaged(self.path, why)

    def tensor(self, name: str) -> torch.Tensor:
        """The tensor of this name in float32, whatever it is stored in."""
        stored = self.stored[name]
        with np.errstate(all="ignore"):  # what is not finite is refused below
            if stored.kind == "Q4_1":
                weights = dequantise(*self.q4_1_blocks(name))  # (blocks, 32)
            else:
                weights = torch.from_numpy(self.dequantised(name))
        weights = weights.reshape(stored.shape)
        if not all(math.isfinite(end) for end in weights.aminmax()):
            raise self.damaged(f"{name} holds a number that is not finite")
        return weights

    def dequantised(self, name: str) -> np.ndarray:
        """The same as a NumPy array, by llama.cpp's own package."""
        import gguf

        stored = self.stored[name]
        rows = self.bytes_of(name).reshape(-1, stored.size // max(1, math.prod(stored.shape[:-1])))
        try:
            return np.asarray(gguf.dequantize(rows, gguf.GGMLQuantizationType[stored.kind]), np.float32)
        except NotImplementedError:
            raise ValueError(f"{self.path} has {name} in {stored.kind}, which gguf cannot read") from None

    def q4_1_blocks(self, name: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The (scales, minima, nibbles) of a tensor in Q4_1, whose blocks of 32 weights have 2, 2 and 16 bytes."""
        blocks = torch.from_numpy(self.bytes_of(name)).reshape(-1, 20)
        scales, minima = blocks[:, :4].contiguous().view(torch.float16).float().split(1, dim=1)
        return scales, minima, blocks[:, 4:]

    def bytes_of(self, name: str) -> np.ndarray:
        """The bytes of a tensor as they are in the file."""
        stored = self.stored[name]
        try:
            return np.fromfile(self.path, np.uint8, stored.size, offset=stored.start)
        except OSError as error:
            raise ValueError(f"{self.path} cannot be read: {error.strerror}") from None


def dequantise(scales: torch.Tensor, minima: torch.Tensor, nibbles: torch.Tensor) -> torch.Tensor:
    """The weights of blocks in Q4_1: (blocks, 1), (blocks, 1), (blocks, 16) → (blocks, 32).

    A weight is scale · number + minimum. Each byte holds two numbers from 0 to 15: its lower half belongs to the
    first sixteen weights of the block, its upper half to the last sixteen.
    """
    numbers = torch.cat([nibbles & 15, nibbles >> 4], dim=1).float()  # (blocks, 32)
    return scales * numbers + minima  # (blocks, 32)


class Header:
    """Reads a file's beginning from front to back: metadata, then what there is about each tensor."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self.file, self.path = file, path
        self.size, self.read = os.fstat(file.fileno()).st_size, 0  # bytes in the file, and bytes read so far
        self.check_start()
        tensors, entries = self.count("tensors", least=24), self.count("entries", least=13)
        self.metadata = dict(self.pair() for _ in range(entries))
        described = dict(self.description() for _ in range(tensors))
        if len(self.metadata) < entries or len(described) < tensors:
            raise self.damaged("two entries have the same name")
        start = self.end_of_header()
        self.stored = {name: self.place(name, start, *what) for name, what in described.items()}
        if sum(stored.size for stored in self.stored.values()) > self.size:
            raise self.damaged("its tensors overlap")

    def damaged(self, why: str) -> ValueError:
        return damaged(self.path, why)

    def check_start(self) -> None:
        """The first eight bytes say that this is a GGUF file, and of which version."""
        start = self.file.read(8)
        self.read = len(start)
        if start.startswith((b"PK\x03\x04", b"\x1f\x8b")):
            raise ValueError(f"{self.path} is compressed: unpack it first")
        if start.startswith(b"version "):
            raise ValueError(f"{self.path} is a Git LFS pointer, not the file: run git lfs pull")
        if not start.startswith(b"GGUF") or len(start) < 8:
            raise ValueError(f"{self.path} is not a GGUF file")
        (version,) = struct.unpack("<I", start[4:])
        if version not in (2, 3):
            raise ValueError(f"{self.path} is a GGUF file of version {version}: only 2 and 3 are known here")

    # --- its parts ---

    def take(self, size: int) -> bytes:
        """The next bytes, if there are so many."""
        if self.read + size > self.size:
            raise self.damaged(f"it ends {self.read + size - self.size:,} bytes too early")
        self.read += size
        return self.file.read(size)

    def number(self, kind: int) -> Any:
        """An int, a float or a bool: the kind says which."""
        code = "<" + NUMBERS[kind]
        return struct.unpack(code, self.take(struct.calcsize(code)))[0]

    def count(self, what: str, least: int = 1) -> int:
        """A number of things, each of which takes so many bytes at least."""
        number = self.number(10)
        if number > min(MOST, (self.size - self.read) // least):
            raise self.damaged(f"it cannot hold {number:,} {what}")
        return number

    def text(self) -> str:
        try:
            return self.take(self.number(10)).decode()
        except UnicodeDecodeError:
            raise self.damaged("a text in it is not UTF-8") from None

    def pair(self) -> tuple[str, Value]:
        return self.text(), self.value(self.number(4))

    def value(self, kind: int) -> Value:
        """A number, a text, or a list of one of them."""
        if kind in NUMBERS:
            return self.number(kind)
        if kind == TEXT:
            return self.text()
        if kind != LIST:
            raise self.damaged(f"a value in it is of kind {kind}, which does not exist")
        kind = self.number(4)
        if kind == TEXT:
            return [self.text() for _ in range(self.count("texts", least=8))]
        if kind not in NUMBERS:
            raise self.damaged(f"a list in it is of kind {kind}, which does not exist or is a list again")
        size = struct.calcsize(NUMBERS[kind])
        number = self.count("numbers", least=size)
        return list(struct.unpack(f"<{number}{NUMBERS[kind]}", self.take(number * size)))

    def description(self) -> tuple[str, tuple[tuple[int, ...], int, int]]:
        """(name, (sizes, kind, place)) of a tensor."""
        name, dimensions = self.text(), self.number(4)
        if not 1 <= dimensions <= DIMENSIONS:
            raise self.damaged(f"{shown(name)} has {dimensions} dimensions")
        sizes = [self.number(10) for _ in range(dimensions)]
        return name, (tuple(reversed(sizes)), self.number(4), self.number(10))

    def end_of_header(self) -> int:
        """Where the tensors begin."""
        alignment = self.metadata.get("general.alignment", ALIGNMENT)
        if type(alignment) is not int or not 1 <= alignment <= MOST:
            raise self.damaged(f"general.alignment is {alignment!r}")
        return -(-self.read // alignment) * alignment

    def place(self, name: str, start: int, shape: tuple[int, ...], kind: int, offset: int) -> Stored:
        """A tensor's place in the file, once it is seen to lie within it."""
        import gguf

        try:
            stored_as = gguf.GGMLQuantizationType(kind)
        except ValueError:
            raise ValueError(f"{self.path} has {shown(name)} in kind {kind}, which gguf does not know") from None
        block, bytes_each = gguf.GGML_QUANT_SIZES[stored_as]
        if shape[-1] % block or 0 in shape:
            raise self.damaged(f"{shown(name)} {shape} does not split into blocks of {block}")
        size = math.prod(shape) // block * bytes_each
        if start + offset + size > self.size:
            raise self.damaged(f"it ends {start + offset + size - self.size:,} bytes too early, within {shown(name)}")
        return Stored(stored_as.name, shape, start + offset, size)


def damaged(path: Path, why: str) -> ValueError:
    return ValueError(f"{path} is damaged: {why}")


def shown(value: object) -> str:
    """A value from a file as it may appear in a sentence: it may be long, and hold anything."""
    return repr(value[:60] if isinstance(value, str | list) else value)[:80]
