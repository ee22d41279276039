"""Values as JSON between a student's process and ours: numbers, texts and lists of them. Nothing is ever unpickled."""

from __future__ import annotations

import base64
import json
import os
import re
import struct
from collections.abc import Callable
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch

if TYPE_CHECKING:  # as in lending
    import socket

    from transformer_lessons.marking.messages import Node

DEPTH, LONG, ITEMS = 40, 5000, 10_000  # nesting, digits and items: at most
PARTS = 50_000  # of one value from a student, with all that it holds: each takes time and memory
DTYPES = {
    str(one).removeprefix("torch."): one
    for one in (
        torch.float64,
        torch.float32,
        torch.float16,
        torch.bfloat16,
        torch.int64,
        torch.int32,
        torch.int16,
        torch.int8,
        torch.uint8,
        torch.bool,
        torch.complex64,
        torch.complex128,
    )
}
NUMBERS = r"[<>|=][biufcU][1-9]\d{0,5}"  # the dtype of an array: no object, no fields, and no text of no letters
SEQUENCES = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


class Broken(Exception):
    """The other side is gone, or what it sends is not well formed."""


class Lines:
    """Frames over a socket: a length, then JSON or raw bytes."""

    def __init__(self, socket: socket.socket) -> None:
        self.socket, self.size = socket, 0

    def send(self, message: Any, wait: Callable[[bool], None] = lambda sends: None) -> None:
        """Sends a frame; `wait` is called before each write, and may raise an exception."""
        content = message if isinstance(message, bytes) else json.dumps(message).encode()
        data = memoryview(struct.pack("<I", len(content)) + content)
        try:
            while data:
                wait(True)
                data = data[os.write(self.socket.fileno(), data[: 1 << 16]) :]
        except OSError as error:
            raise Broken(str(error)) from error

    def receive(self, wait: Callable[[], None] = lambda: None, most: int = 1 << 28) -> bytes:
        """The next frame; `wait` is called before each read, and may raise an exception."""
        (length,) = struct.unpack("<I", self.exactly(4, wait))
        self.size = length
        if length > most:
            raise Broken("a frame that is too large")
        return self.exactly(length, wait)

    def message(self, wait: Callable[[], None] = lambda: None, most: int = 1 << 28) -> Any:
        """The next frame as a dictionary."""
        try:
            found = json.loads(self.receive(wait, most))
        except (ValueError, RecursionError) as error:
            raise Broken("a frame that is not JSON") from error
        if not isinstance(found, dict):
            raise Broken("a frame that is not a message")
        return found

    def exactly(self, number: int, wait: Callable[[], None]) -> bytes:
        data = bytearray()
        while len(data) < number:
            wait()
            try:
                part = os.read(self.socket.fileno(), min(number - len(data), 1 << 20))
            except OSError as error:
                raise Broken(str(error)) from error
            if not part:
                raise Broken("the process ended")
            data += part
        return bytes(data)


# Packing: None, booleans and strings stand for themselves; everything else is a list that begins with its kind


def name_of(value: Any) -> Node:
    return ["object", type(value).__name__[:80]]


def has_many_parts(value: Any) -> bool:
    """Has it more parts than are read of a value, as a large table made of lists has?"""
    waiting, left = [(value, 0)], PARTS
    while waiting and left >= len(waiting):
        one, depth = waiting.pop()
        left -= 1
        if isinstance(one, (list, tuple, set, frozenset)) and depth < DEPTH:
            waiting += [(part, depth + 1) for part in one]
    return bool(waiting)


def pack(value: Any, other: Callable[[Any], Node] = name_of, depth: int = 0) -> Node:
    """A value as JSON. `other` packs what is not a number or a string, nor made of these."""
    kind = type(value)
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        return ["int", hex(value)[:LONG]]
    if kind is float:
        return ["float", value.hex()]
    if kind is bytes:
        return ["bytes", text_of(value)]
    if isinstance(value, torch.Tensor):
        return pack_tensor(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return pack_array(value, other, depth)
    if isinstance(value, torch.Generator):
        return ["generator", pack(value.get_state())]
    if depth < DEPTH:
        for name, sequence in SEQUENCES.items():
            if isinstance(value, sequence):
                return [name, [pack(one, other, depth + 1) for one in value]]
        if isinstance(value, dict):
            return ["dict", [[pack(one, other, depth + 1) for one in pair] for pair in value.items()]]
        if hasattr(kind, "__next__"):
            return ["iterator", kind.__name__[:80], [pack(one, other, depth + 1) for one in islice(value, ITEMS)]]
    return other(value)


def pack_tensor(value: torch.Tensor) -> Node:
    dtype = str(value.dtype).removeprefix("torch.")
    if dtype not in DTYPES or value.is_meta:
        return ["meta", dtype if dtype in DTYPES else "float32", list(value.shape)]
    plain = value.detach().as_subclass(torch.Tensor).cpu()
    plain = plain.to_dense() if plain.layout != torch.strided else plain
    plain = plain.view(torch.int16) if dtype == "bfloat16" else plain.resolve_conj().resolve_neg()
    return ["tensor", dtype, packed_array(plain.numpy()), bool(value.requires_grad)]


def pack_array(value: Any, other: Callable[[Any], Node], depth: int) -> Node:
    scalar, value = isinstance(value, np.generic), np.asarray(value)
    if value.dtype.hasobject:
        items = [pack(one, other, depth + 1) for one in value.ravel().tolist()] if depth < DEPTH else []
        return ["objects", list(value.shape), items]
    return ["array", packed_array(value), scalar]


def packed_array(array: np.ndarray) -> Node:
    """[dtype, shape, order in memory, the numbers]: NumPy's own format takes ten times as long for a small array."""
    order: Literal["C", "F"] = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    return [array.dtype.str, list(array.shape), order, text_of(array.tobytes(order))]


def text_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


# Unpacking


def unpack(node: Node, other: Callable[[Node], Any] = lambda node: None, most: float = PARTS) -> Any:
    """The value again. What was packed as an object becomes an empty object, of a class with that name."""
    left = most

    def unpacked(node: Node) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise Broken("a value of too many parts")
        if node is None or type(node) in (bool, str):
            return node
        kind, *parts = node
        if kind in READERS:
            return READERS[kind](*parts)
        if kind == "objects":
            return array_of(parts[0], [unpacked(one) for one in parts[1]])
        if kind in SEQUENCES:
            return SEQUENCES[kind](apart(kind, [unpacked(one) for one in parts[0]]))
        if kind == "dict":
            keys = apart(kind, [unpacked(one) for one, _ in parts[0]])
            return dict(zip(keys, [unpacked(one) for _, one in parts[0]], strict=True))
        if kind == "iterator":
            items = iter([unpacked(one) for one in parts[1]])
            return named(parts[0], {"__iter__": lambda self: self, "__next__": lambda self: next(items)})
        return other(node)

    try:
        return unpacked(node)
    except Broken:
        raise
    except Exception as error:
        raise Broken(f"a value that cannot be read ({type(error).__name__})") from error


def apart(kind: str, items: list) -> list:
    """The items, unless they are to be hashed and many share one hash: putting those together would take hours."""
    if kind not in ("list", "tuple") and sum(a == b for a, b in pairwise(sorted(map(hash, items)))) > 10:
        raise Broken("a set in which nothing can be found")
    return items


def named(name: str, members: Any = ()) -> Any:
    return type(name_for(name), (), dict(members))() if members else empty_class(name_for(name))()


@lru_cache(maxsize=1000)
def empty_class(name: str) -> type:
    return type(name, (), {})


def name_for(text: object) -> str:
    """A text as the name of a class: a stranger may call a class anything."""
    return str(text)[:80].replace("\0", "").encode(errors="replace").decode()


def array_from(node: Node) -> np.ndarray:
    """The array that `packed_array` has packed, in memory of its own; the other side may have written anything else."""
    dtype, shape, order, text = node
    data = bytearray(base64.b64decode(text))
    if not re.fullmatch(NUMBERS, dtype) or any(type(size) is not int or size < 0 for size in shape):
        raise Broken("numbers of an unknown kind")
    array = np.ndarray(shape, np.dtype(dtype), data, order=order)
    if array.nbytes != len(data):
        raise Broken("more numbers than fit, or fewer")
    if array.dtype.kind == "b" and (array.view(np.uint8) > 1).any():
        raise Broken("truth values that are neither")
    return array


def read_tensor(dtype: str, node: Node, _: bool) -> torch.Tensor:
    tensor = torch.from_numpy(array_from(node))
    return tensor.view(torch.bfloat16) if dtype == "bfloat16" else tensor


def read_meta(dtype: str, shape: list[int]) -> None:
    raise Broken("a tensor without numbers")  # a few bytes would ask for all our memory


def read_array(node: Node, scalar: bool) -> Any:
    array = array_from(node)
    return array[()] if scalar else array


def array_of(shape: list[int], items: list) -> np.ndarray:
    array = np.empty(len(items), dtype=object)
    for place, one in enumerate(items):
        array[place] = one
    return array.reshape(shape)


def read_generator(node: Node) -> torch.Generator:
    generator = torch.Generator()
    generator.set_state(unpack(node))
    return generator


READERS: dict[str, Callable] = {
    "int": lambda text: int(text[:LONG], 16),
    "float": float.fromhex,
    "bytes": base64.b64decode,
    "tensor": read_tensor,
    "meta": read_meta,
    "array": read_array,
    "generator": read_generator,
    "object": named,
}
