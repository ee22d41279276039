"""Models and runs in safetensors files, which hold only tensors and text; written atomically, verified before use."""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import safetensors.torch
import torch

from transformer_lessons.basis import atomic
from transformer_lessons.language.byte_pairs import BytePairs
from transformer_lessons.language.tokenization import Vocabulary
from transformer_lessons.models import Config, LanguageModel

Content: TypeAlias = dict[str, Any]  # tensors and plain values, in dictionaries and lists as deep as you like

SHIPPED = Path(__file__).with_name("shakespeare.safetensors")  # the model that comes with the course
NAME = "transformer_lessons"  # of the text in the file's header: JSON that holds everything but tensors
START = f'{{"__metadata__":{{"{NAME}":'.encode()  # of the header, after 8 bytes that give its size
VOCABULARIES = {"pieces": Vocabulary, "merges": BytePairs}  # name in a file → class of the vocabulary
BLANK = "0" * 64  # stands in for the file's SHA-256 while it is computed


def save(content: Content, path: str | Path) -> None:
    """Writes a dictionary of tensors and plain values. At any moment, the file is all old or all new."""
    try:
        atomic.write(path, pack(content))
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}") from None


def pack(content: Content) -> bytes:
    """A file's bytes: the tensors, and the plain values with the SHA-256 of them all."""
    tensors = {}
    plain = take_out(content, "", tensors)
    text = json.dumps({"sha256": BLANK, "content": plain})
    data = safetensors.torch.save(tensors, {NAME: text})
    return data.replace(BLANK.encode(), hashlib.sha256(data).hexdigest().encode(), 1)


def take_out(value: Any, name: str, tensors: dict[str, torch.Tensor]) -> Any:
    """The same nested values, but each tensor is moved to tensors and replaced by its name there."""
    if isinstance(value, torch.Tensor):
        tensors[name] = value.contiguous()
        return {"tensor": name}
    if isinstance(value, dict):
        return {key: take_out(part, f"{name}.{key}".lstrip("."), tensors) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [take_out(part, f"{name}.{number}", tensors) for number, part in enumerate(value)]
    return value


def put_back(value: Any, tensors: dict[str, torch.Tensor]) -> Any:
    """The inverse of take_out, except that JSON turns tuples into lists and all keys into strings."""
    if isinstance(value, dict):
        if value.keys() == {"tensor"}:
            return tensors[value["tensor"]]
        return {key: put_back(part, tensors) for key, part in value.items()}
    return [put_back(part, tensors) for part in value] if isinstance(value, list) else value


def check_writable(path: str | Path | None, size: int = 0) -> None:
    """Can this many bytes be written there? Hours of training must not end at a full disk or a read-only folder."""
    if path is None:
        return
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give the name of a file")
    try:
        atomic.tidy(path)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
        free = shutil.disk_usage(path.parent).free
        foreign = path.exists() and not is_ours(path)
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}") from None
    if foreign:
        raise ValueError(f"{path} already exists, and is not a checkpoint of this course")
    if free < size:
        raise ValueError(f"{path} needs {size / 1e6:,.0f} MB, but only {free / 1e6:,.0f} MB are free")


@contextlib.contextmanager
def locked(*paths: str | Path) -> Iterator[None]:
    """Keeps others from writing these files meanwhile. If a process dies, the system frees its locks."""
    with contextlib.ExitStack() as stack:
        for path in paths:
            stack.enter_context(lock(path))
        yield


@contextlib.contextmanager
def lock(path: str | Path) -> Iterator[None]:
    """Holds the lock file PATH.lock, which tells others the number of this process."""
    beside = Path(f"{path}.lock")
    try:
        file = open(beside, "a+b", buffering=0)  # noqa: SIM115 - closed below
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}") from None
    with file:
        file.seek(0)
        holder = file.read(20).decode(errors="replace")
        if holder.strip("0123456789"):
            raise ValueError(f"{beside} already exists, and is not a lock of this course")
        if not atomic.hold(file):
            raise ValueError(f"another run, process {holder}, is writing {path}")
        if not (beside.exists() and os.path.samestat(os.fstat(file.fileno()), beside.stat())):
            raise ValueError(f"another run has just released {path}: try again")
        try:
            file.truncate(0)
            file.write(str(os.getpid()).encode())
            yield
        finally:
            with contextlib.suppress(OSError):  # Windows cannot remove open files: an empty one stays
                file.truncate(0)
                beside.unlink(missing_ok=True)


def check_apart(**paths: str | Path | None) -> None:
    """No file may hold two things."""
    seen = {}
    for name, path in paths.items():
        if path is not None and seen.setdefault(Path(path).resolve(), name) != name:
            raise ValueError(f"{path} cannot be both {seen[Path(path).resolve()]} and {name}")


def is_ours(path: str | Path) -> bool:
    with open(path, "rb") as file:
        return file.read(8 + len(START))[8:] == START


def load(path: str | Path) -> Content:
    """The dictionary that save wrote; anything else is refused."""
    try:
        if not is_ours(path):
            raise ValueError(f"{path} is not a checkpoint of this course")
        data = Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    try:
        content = unpack(data)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, safetensors.SafetensorError):
        raise ValueError(f"{path} is damaged: it does not hold what was written") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} holds a {type(content).__name__}, not a dictionary")
    return content


def unpack(data: bytes) -> Any:
    """The content of a file's bytes, once every byte has been verified."""
    size = int.from_bytes(data[:8], "little")
    text = json.loads(json.loads(data[8 : 8 + size])["__metadata__"][NAME])
    blank = data.replace(text["sha256"].encode(), BLANK.encode())
    if hashlib.sha256(blank).hexdigest() != text["sha256"]:
        raise ValueError("the SHA-256 is different")
    return put_back(text["content"], safetensors.torch.load(data))


def digest(tensor: torch.Tensor) -> str:
    """A fingerprint of the numbers in a tensor."""
    return hashlib.sha256(tensor.cpu().numpy().tobytes()).hexdigest()


def describe(model: LanguageModel, vocabulary: Vocabulary) -> Content:
    """Model and vocabulary as tensors and plain values."""
    name = next(name for name, kind in VOCABULARIES.items() if type(vocabulary) is kind)
    return {"architecture": asdict(model.config), name: vocabulary.pieces, "model": model.state_dict()}


def pieces_of(content: Content) -> tuple[str, list[str]]:
    """(their name in the file, the pieces of its vocabulary)."""
    name = next((name for name in VOCABULARIES if name in content), "pieces")
    return name, check_pieces(part(content, name))


def export(model: LanguageModel, vocabulary: Vocabulary, path: str | Path) -> None:
    """Writes the model and its vocabulary alone, in half precision."""
    save(in_half_precision(model, vocabulary), path)


def in_half_precision(model: LanguageModel, vocabulary: Vocabulary) -> Content:
    """Model and vocabulary alone: what `export` writes."""
    content = describe(model, vocabulary)
    return content | {"model": {name: weight.half() for name, weight in content["model"].items()}}


def load_model(path: str | Path = SHIPPED) -> tuple[LanguageModel, Vocabulary]:
    """The model and the vocabulary in a file, ready to use; by default, the course's own."""
    content = load(path)
    try:
        model = LanguageModel(Config(**part(content, "architecture")))
        model.load_state_dict(part(content, "model"))  # which converts half precision to single
        name, pieces = pieces_of(content)
        vocabulary = VOCABULARIES[name](pieces)
    except (TypeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path} does not hold a model that this version knows: {reason}") from None
    known, vectors = len(vocabulary), len(model.embedding.weight)
    if known != vectors:
        raise ValueError(f"{path} has {known} tokens, but vectors for {vectors}")
    return model.eval(), vocabulary


def part(content: Content, name: str) -> Any:
    if name not in content:
        raise ValueError(f"it lacks {name!r}")
    return content[name]


def check_pieces(pieces: list[str]) -> list[str]:
    for piece in pieces:
        if not isinstance(piece, str):
            raise TypeError(f"a piece is not text: {piece!r}")
    return pieces
