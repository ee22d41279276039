"""An error in the same words on every machine, and the learner's own line that raised it."""

import ast
import contextlib
import functools
import linecache
import os
import re
import warnings
from typing import Any


def name_error(error: BaseException) -> str:
    """ "ValueError: its first line", without addresses and paths; a text that is cut ends in "…"."""
    if isinstance(error, RecursionError):
        return "RecursionError: it calls itself without end"
    try:
        text = str(error)
    except BaseException:  # its own __str__ may raise
        text = ""
    return in_short(type(error).__name__, text)


LONGEST = 10_000  # characters that are looked at; an error may hold a million
PLAINER = (  # what NumPy and PyTorch say of shapes that do not fit, in words that name nothing of their insides
    (
        r"\b(\w+): Input operand \d+ has a mismatch in its core dimension .* \(size (\d+) is different from (\d+)\)",
        r"\1: a dimension of size \3 meets one of size \2, but the two must be equal",
    ),
    (
        r"\b(\w+): Input operand \d+ does not have enough dimensions \(has (\d+), gufunc core .* requires (\d+)\)",
        r"\1: the number of an input's dimensions is \2, but must be at least \3",
    ),
    (
        r"Expected size for first two dimensions of batch2 tensor to be: \[(\d+), (\d+)\] but got: \[\1, (\d+)\]\.",
        r"matrices cannot be multiplied: \2 columns in the first, \3 rows in the second",
    ),
)


def in_short(kind: str, text: str) -> str:
    text = text.strip()[:LONGEST]
    for theirs, ours in PLAINER:
        text = re.sub(theirs, ours, text)
    lines = text.splitlines() or [""]
    text = f"{lines[0].rstrip()} …" if len(lines) > 1 else lines[0]
    text = re.sub(r" ?\bat 0x[0-9a-fA-F]{7,}", "", text)
    text = re.sub(r"\b0x[0-9a-fA-F]{7,}", "…", text)
    text = re.sub(r"(?<![\w.])(?:[A-Za-z]:)?(?:[\\/][\w.@-]+){2,}", "…", text)  # not in int/float/bool
    text = cut(text, 200)
    return f"{kind}: {text}" if text else kind


def cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def frames_of(error: BaseException) -> list:
    frames = []
    trace = error.__traceback__
    while trace is not None and len(frames) < 5000:
        frames.append(trace)
        trace = trace.tb_next
    return frames


PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
CHECKS = tuple(os.path.join(PACKAGE, folder) for folder in ("exercises", "running"))
LIBRARIES = ("site-packages", "dist-packages", os.path.dirname(os.__file__), "<frozen ", "<__array_function__")


def is_own(trace: Any) -> bool:
    """Is this the learner's own code, rather than this package's or a library's?"""
    filename = trace.tb_frame.f_code.co_filename
    return not in_package(trace) and not any(folder in filename for folder in LIBRARIES)


def in_package(trace: Any) -> bool:
    return trace.tb_frame.f_code.co_filename.startswith(PACKAGE)


def in_implementation(trace: Any) -> bool:
    """Is this what the learner has called, and not the checks, which may watch the call?"""
    return in_package(trace) and not trace.tb_frame.f_code.co_filename.startswith(CHECKS)


def line_of(error: BaseException) -> str:
    """The last line of the learner's own code, with the function it is in or the package's call that raised."""
    frames = frames_of(error)
    own = [number for number, trace in enumerate(frames) if is_own(trace)]
    for number in reversed(own):
        frame = frames[number].tb_frame
        if not (text := cut(statement(frame.f_code.co_filename, frames[number].tb_lineno), 100)):
            continue
        if number != own[0] and frame.f_code is not frames[own[0]].tb_frame.f_code:
            text += named(", in", frame)
        called = next((trace.tb_frame for trace in frames[number + 1 :] if in_implementation(trace)), None)
        return text + (named(", in the call of", called) if called and text.count("(") > 1 else "")
    if own:  # no source is available, for instance after `exec`
        return f"number {frames[own[-1]].tb_lineno}" + named(", in", frames[own[-1]].tb_frame)
    return ""


def named(words: str, frame: Any) -> str:
    """Words and the name of a frame's function; nothing for a lambda, which has no name."""
    name = name_of(frame)
    return f"{words} `{name}`" if name.isidentifier() else ""


def statement(filename: str, number: int) -> str:
    """The statement at a line, joined into one line; for a compound statement, only the line itself."""
    lines = linecache.getlines(filename)
    text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    for node in simple_statements("".join(lines)):
        if node.lineno <= number <= node.end_lineno and node.lineno < node.end_lineno:
            text = " ".join(ast.unparse(node).split())
    return text


@functools.lru_cache(maxsize=4)
def simple_statements(source: str) -> list:
    """The statements that contain no others; none if the source cannot be parsed."""
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            node
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.stmt) and not hasattr(node, "body") and not isinstance(node, ast.Match)
        ]
    return []


def name_of(frame: Any) -> str:
    """The name of a frame's function, or the class whose instance it builds or calls."""
    name = frame.f_code.co_name
    if name in ("__init__", "forward", "__call__") and "self" in frame.f_code.co_varnames[:1]:
        return type(frame.f_locals.get("self")).__name__
    return name


def is_not_implemented(error: BaseException) -> bool:
    """Was it raised by a stub, rather than by a library that lacks an operation?"""
    if not isinstance(error, NotImplementedError):
        return False
    frames = frames_of(error)
    return bool(frames) and "NotImplementedError" in frames[-1].tb_frame.f_code.co_names


def unfinished(error: BaseException) -> str:
    """The name of the function that raised it, if that is not the answer."""
    own = [trace.tb_frame for trace in frames_of(error) if is_own(trace)]
    if len(own) < 2:
        return ""
    if "self" in own[-1].f_code.co_varnames[:1] and own[-1].f_locals.get("self") is own[0].f_locals.get("self"):
        return ""  # a method of the answer itself
    return name_of(own[-1])
