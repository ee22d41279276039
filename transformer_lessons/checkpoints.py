"""Models in files: written aside and renamed, verified before a single object is made of them."""

import contextlib
import hashlib
import io
import os
import shutil
import warnings
from pathlib import Path

import torch

from transformer_lessons.layers import GatedFeedForward
from transformer_lessons.models import LanguageModel
from transformer_lessons.text import Vocabulary

MAGIC = b"transformer-lessons 1 "  # then the SHA-256 of the rest, a line end, and what torch.save wrote
HEAD = len(MAGIC) + 64 + 1  # bytes, up to that
SHIPPED = Path(__file__).with_name("shakespeare.model")  # the model that comes with the course


def head(body):
    return MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n"


def save(content, path):
    """Write a dictionary of tensors and plain values. At any moment the file is the old or the new, whole."""
    body = io.BytesIO()
    torch.save(content, body)
    aside = aside_of(path)
    try:
        with open(aside, "wb") as file:
            file.write(head(body.getbuffer()))
            file.write(body.getbuffer())
            file.flush()
            os.fsync(file.fileno())  # not even a power cut lets the name come before the content
        os.replace(aside, path)
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)


def aside_of(path):
    """Where a file is written before it takes its name. A killed run may leave it; the next removes it."""
    return Path(f"{path}.part")


def check_writable(path, size=0):
    """Can so many bytes be written there? So that hours of training do not end in a full or closed folder."""
    if path is None:
        return
    path, aside = Path(path), aside_of(path)
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give the name of a file")
    try:
        aside.touch()
        aside.unlink()
        free = shutil.disk_usage(path.parent).free
        foreign = path.exists() and not is_ours(path)
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}") from None
    if foreign:
        raise ValueError(f"{path} is there already, and is not a checkpoint of this course")
    if free < size:
        raise ValueError(f"{path} needs {size / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB are free")


def check_apart(**paths):
    """No file is to hold two things."""
    seen = {}
    for name, path in paths.items():
        if path is not None and seen.setdefault(Path(path).resolve(), name) != name:
            raise ValueError(f"{path} cannot be both {seen[Path(path).resolve()]} and {name}")


def is_ours(path):
    with open(path, "rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def load(path):
    """The dictionary that save wrote; anything else is refused before it is unpickled."""
    try:
        if not is_ours(path):
            raise ValueError(f"{path} is not a checkpoint of this course")
        data = Path(path).read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    body = memoryview(data)[HEAD:]
    if data[:HEAD] != head(body):
        raise ValueError(f"{path} is damaged: it does not hold what was written")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one sentence is enough
            content = torch.load(io.BytesIO(body), map_location="cpu", weights_only=True)
    except Exception:  # a pickle that wants more than tensors and plain values, or no pickle at all
        raise ValueError(f"{path} holds more than tensors and plain values, and is not loaded") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} holds a {type(content).__name__}, not a dictionary")
    return content


def digest(tensor):
    """A fingerprint of the numbers in a tensor."""
    return hashlib.sha256(tensor.cpu().numpy().tobytes()).hexdigest()


def architecture(model):
    """The arguments that make a LanguageModel of the same shape."""
    layer = model.layers[0]
    return {
        "vocabulary_size": model.embedding.num_embeddings,
        "d_model": model.embedding.embedding_dim,
        "num_heads": layer.attention.num_heads,
        "d_hidden": layer.feed_forward.linear_in.out_features,
        "num_layers": len(model.layers),
        "max_length": model.max_length,
        "dropout": model.dropout.p,
        "rotary": layer.attention.rotary is not None,
        "gated": isinstance(layer.feed_forward, GatedFeedForward),
    }


def describe(model, vocabulary):
    """Model and vocabulary as tensors and plain values."""
    return {"architecture": architecture(model), "pieces": vocabulary.pieces, "model": model.state_dict()}


def export(model, vocabulary, path):
    """The model alone, in half precision."""
    content = describe(model, vocabulary)
    save(content | {"model": {name: weight.half() for name, weight in content["model"].items()}}, path)


def load_model(path=SHIPPED):
    """The model and the vocabulary in a file, ready to be used; by default, the course's own."""
    content = load(path)
    try:
        model = LanguageModel(**part(content, "architecture"))
        model.load_state_dict(part(content, "model"))  # which turns half precision into single
        vocabulary = Vocabulary(check_pieces(part(content, "pieces")))
    except (TypeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path} does not hold a model that this version knows: {reason}") from None
    known, vectors = len(vocabulary), len(model.embedding.weight)
    if known != vectors:
        raise ValueError(f"{path} has {known} tokens, but vectors for {vectors}")
    return model.eval(), vocabulary


def part(content, name):
    if name not in content:
        raise ValueError(f"it lacks {name!r}")
    return content[name]


def check_pieces(pieces):
    for piece in pieces:
        if not isinstance(piece, str):
            raise TypeError(f"a piece is no text: {piece!r}")
    return pieces
