"""A model at work in a web page: it reads, attends and writes in the visitor's browser, without a server.

In pages/live, model.js is the Transformer, tokens.js reads files and texts, and live.js shows both. A browser loads no
file for a page that was itself opened as a file, so the weights travel as scripts or within the page, in base64.
"""

import base64
import re
from html import escape
from pathlib import Path

from transformer_lessons.basis import atomic
from transformer_lessons.language import checkpoints

LIVE = Path(__file__).with_name("pages") / "live"
SCRIPTS = ("model.js", "tokens.js", "live.js")
OPENING = "What is love?"
PART = 1_200_000  # bytes of the model in each script


def source(name: str) -> str:
    """The text of a file in pages/live."""
    return (LIVE / name).read_text(encoding="utf-8")


def weight_scripts(data: bytes) -> list[str]:
    """Scripts that bring a model's file, part by part: each adds one part to lessonsParts."""
    parts = [data[start : start + PART] for start in range(0, len(data), PART)]
    return [f'(globalThis.lessonsParts ??= []).push("{base64.b64encode(part).decode()}");\n' for part in parts]


def page(data: bytes, title: str) -> str:
    """One HTML page that holds a model's file and all that shows it."""
    marks = {
        "title": escape(title),
        "opening": escape(OPENING),
        "style": source("live.css"),
        "scripts": "\n".join(source(name) for name in SCRIPTS),
        "model": base64.b64encode(data).decode(),
    }
    return re.sub(r"<!--(\w+)-->", lambda mark: marks[mark[1]], source("page.html"))


def show(model, vocabulary, path: str | Path, title: str = "A language model at work") -> Path:
    """Writes a page that shows a LanguageModel, in half precision, and needs nothing else."""
    data = checkpoints.pack(checkpoints.in_half_precision(model, vocabulary))
    try:
        atomic.write(path, page(data, title).encode())
    except OSError as error:
        raise ValueError(f"{path} cannot be written: {error.strerror}") from None
    return Path(path)
