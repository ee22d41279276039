"""What a notebook's code cells hold: sources, calls of `check` and `answer`, and the names that they make and use."""

import ast
import json
import re
import symtable
from collections.abc import Iterator
from typing import Any

ASKING = ("check", "answer")


def cells_in(text: str) -> list[tuple[str, list[str]]]:
    """[(source, tags)] of the code cells of a notebook's text."""
    try:
        return [
            ("".join(cell["source"]), list(cell["metadata"].get("tags") or []))
            for cell in json.loads(text)["cells"]
            if cell["cell_type"] == "code"
        ]
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is damaged: {error}") from None
    except (KeyError, TypeError, AttributeError):
        raise ValueError("is not a notebook: it has no list of cells") from None


def asked_in(tree: ast.AST) -> Iterator[tuple[str, Any, list[ast.expr]]]:
    """(function, exercise or number, what is checked or answered) for each call of `check` and `answer`."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant):
            function = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if function in ASKING:
                yield function, call.args[0].value, call.args[1:]


def checks_in(source: str) -> list[tuple[str, str]]:
    """[(exercise, what is checked)] of the calls of check in a cell."""
    if "check" not in source:  # most cells need not be parsed
        return []
    try:
        asked = list(asked_in(ast.parse(source)))
    except (SyntaxError, ValueError):
        return []
    return [
        (name, ast.unparse(rest[0]))
        for function, name, rest in asked
        if function == "check" and isinstance(name, str) and len(rest) == 1
    ]


def names_in(source: str) -> tuple[set[str], set[str]] | None:
    """The global names that a cell defines, and those that it uses; None if that cannot be known."""
    try:
        table = symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError):  # a line of IPython, such as %timeit
        return None
    if re.search(r"\bimport\s*\*|(?<![.\w])(?:exec|eval|globals)\s*\(", source) and makes_unknown(ast.parse(source)):
        return None
    made, used, inner = set(), set(), list(table.get_children())
    for symbol in table.get_symbols():
        made |= {symbol.get_name()} if symbol.is_assigned() or symbol.is_imported() else set()
        used |= {symbol.get_name()} if symbol.is_referenced() else set()
    while inner:
        table = inner.pop()
        inner += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_global():
                used.add(symbol.get_name())
                made |= {symbol.get_name()} if symbol.is_declared_global() else set()
    return made, used


def makes_unknown(tree: ast.AST) -> bool:
    """Does it import everything, or run a text? A comment may only speak of that."""
    return any(
        (isinstance(one, ast.ImportFrom) and one.names[0].name == "*")
        or (isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in ("exec", "eval", "globals"))
        for one in ast.walk(tree)
    )
