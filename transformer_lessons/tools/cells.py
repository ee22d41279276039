"""What a notebook's code cells hold: their sources, the calls of check in one, and the names that it makes and uses."""

import ast
import json
import re
import symtable


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


def checks_in(source: str) -> list[tuple[str, str]]:
    """[(exercise, what is checked)] of the calls of check in a cell."""
    if "check" not in source:  # most cells need not be parsed
        return []
    try:
        calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError):
        return []
    calls = [call for call in calls if ast.unparse(call.func).split(".")[-1] == "check"]
    return [
        (first.value, ast.unparse(call.args[1]))
        for call in calls
        if len(call.args) == 2 and isinstance(first := call.args[0], ast.Constant) and isinstance(first.value, str)
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
