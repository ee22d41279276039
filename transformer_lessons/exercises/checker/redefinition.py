"""In a notebook: is the answer what its last cell defines?"""

import ast
import contextlib
import inspect
import linecache
import re
import sys
import warnings
from typing import Any

from transformer_lessons.running.errors import cut, in_short


def failed_redefinition(name: str, answer: object) -> tuple | None:
    """(name, error, line) of a later cell that should have redefined the answer but failed; else None.

    This is read from IPython's history, and said only where it is certain: the answer's own cell is in the history, the
    notebook still knows the answer by that name, and no cell since has given the name to anything.
    """
    with contextlib.suppress(Exception):  # no notebook, no history, or an object that raises
        shell = sys.modules["IPython"].get_ipython()
        history = shell.history_manager
        names = {name, getattr(answer, "__name__", name)}
        names = {known_as for known_as in names if isinstance(known_as, str) and shell.user_ns.get(known_as) is answer}
        cells = [str(cell) for cell in history.input_hist_parsed]
        own = own_cell(answer, cells)
        if own is None:
            return None
        for number in range(len(cells) - 1, own, -1):
            for known_as in names:
                what = attempt_at(known_as, cells[number])
                if isinstance(what, SyntaxError):
                    return known_as, f"{type(what).__name__}: {what.msg}", broken_line(what, cells[number])
                error = getattr(history, "exceptions", {}).get(number)  # recent releases keep them
                if what == "defined" and error:
                    return known_as, in_short(error["ename"], str(error["evalue"])), ""
                if what:
                    return None
    return None


def own_cell(answer: Any, cells: list[str]) -> int | None:
    """The number of the last cell that has the text in which the answer was defined."""
    function = inspect.unwrap(answer)
    functions = vars(function).values() if isinstance(function, type) else [function]
    codes = [getattr(inspect.unwrap(one), "__code__", None) for one in functions if callable(one)]
    sources = {"".join(linecache.getlines(code.co_filename)).strip() for code in codes if code} - {""}
    return max((number for number, cell in enumerate(cells) if cell.strip() in sources), default=None)


def attempt_at(name: str, cell: str) -> SyntaxError | str | None:
    """A cell's SyntaxError if it was meant to define the name; "defined" or "bound" if it does; else None."""
    if name not in cell:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(cell)
    except SyntaxError as error:
        return error if begins(name, cell) else None
    if any(getattr(node, "name", None) == name for node in tree.body if hasattr(node, "body")):
        return "defined"
    for node in ast.walk(tree):
        stored = isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        named = name in (getattr(node, "name", None), getattr(node, "asname", None), *getattr(node, "names", ()))
        if stored or named or (isinstance(node, ast.alias) and node.name == "*"):
            return "bound"
    return None


def begins(name: str, cell: str) -> bool:
    """Does a cell that Python cannot parse begin a definition of the name, outside any other definition?"""
    inside = False
    for line in cell.splitlines():
        if inside and line[:1].isspace():
            continue
        if re.match(rf"\s*(async\s+)?(def|class)\s+{name}\b", line) or re.match(rf"\w+\s+{name}\s*\(.*:\s*$", line):
            return True
        if re.match(r"\s*(async\s+)?(def|class)\b", line):
            inside = True
    return False


def broken_line(error: SyntaxError, cell: str) -> str:
    lines = cell.splitlines()
    return cut(lines[error.lineno - 1].strip(), 100) if error.lineno and error.lineno <= len(lines) else ""
