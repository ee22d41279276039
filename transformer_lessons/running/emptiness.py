"""Does a function's body do anything, or does it only return a constant?"""

import dis
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any


def is_empty(function: Callable) -> bool:
    """Is the body only `pass`, `...` or a docstring? (`lambda: None` is not: it deliberately returns None.)"""
    value = only_returns(function)
    return value is ... or (value is None and not gives_none(function))


def gives_none(function: Callable) -> bool:
    """Is it a lambda that only returns None? That is an answer, whereas `pass` is not."""
    code = code_within(function)
    return code is not None and code.co_name == "<lambda>" and constant_of(code) is None


def only_returns(function: Callable) -> Any:
    code = code_within(function)
    return DOES_MORE if code is None else constant_of(code)


def code_within(function: Callable) -> Any:
    function = inspect.unwrap(function) if callable(function) else function
    code = getattr(function, "__code__", None)
    return code if isinstance(code, types.CodeType) else None


DOES_MORE = object()
LONGEST_CONSTANT = 40  # bytes of code that only returns a constant: a few instructions


@functools.lru_cache(maxsize=1000)
def constant_of(code: types.CodeType) -> Any:
    """What the code returns if it does nothing else; otherwise DOES_MORE."""
    if len(code.co_code) > LONGEST_CONSTANT:  # most code, at once
        return DOES_MORE
    noise = {"RESUME", "NOP", "CACHE", "PRECALL", "COPY_FREE_VARS", "MAKE_CELL", "NOT_TAKEN"}
    work = [step for step in dis.get_instructions(code) if step.opname not in noise]
    names = [step.opname for step in work]
    return work[0].argval if names in (["LOAD_CONST", "RETURN_VALUE"], ["RETURN_CONST"]) else DOES_MORE
