"""Cells that run within a lesson's page: which these are, and what the page is told of a lesson.

cells_that_run.json lists them; static/cells.js runs them. tests/repository/test_running.py proves that each gives there
what is saved, and with --approve writes the list anew.
"""

import ast
import json
import re
import symtable
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIST = HERE / "cells_that_run.json"
PACKAGE = "transformer_lessons"
COURSE_IMPORT = re.compile(rf"^from ({PACKAGE}[\w.]*) import (.+)$", flags=re.MULTILINE)
NOT_HERE = re.compile(r"\b(?:answer|check|hint|solution)\(|NotImplementedError|google\.colab")


def listed(stem):
    """The ids of a lesson's cells that have a button ("shown"), and of others that they may need ("silent")."""
    return json.loads(LIST.read_text(encoding="utf-8")).get(stem, {"shown": [], "silent": []})


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def saved_output(cell):
    """What a cell has printed, and its last line's value; None if it draws."""
    if any(set(output.get("data", {})) - {"text/plain"} for output in cell["outputs"]):
        return None
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell["outputs"]]
    return "".join("".join(text) for text in texts)


def names_made(source):
    """The names that a cell gives a value to."""
    symbols = symtable.symtable(source, "cell", "exec").get_symbols()
    return [symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()]


def only_imports(source):
    return all(isinstance(line, ast.Import | ast.ImportFrom) for line in ast.parse(source).body)


# --- what the package holds, which runs from its own source ---


@cache
def functions_of(module):
    """{name: source} of a module's functions and numbers, and of what it imports, from wherever."""
    path = HERE.parent / f"{module.replace('.', '/')}.py"
    if not path.is_file() or "inspection" in module or "exercises" in module:
        return {}
    source, found = path.read_text(encoding="utf-8"), {}
    for line in ast.parse(source).body:
        if isinstance(line, ast.ImportFrom) and (line.module or "").startswith(PACKAGE):
            found |= needed(functions_of(line.module), {alias.name for alias in line.names})
        elif isinstance(line, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name: ast.get_source_segment(source, line) for alias in line.names}
        if isinstance(line, ast.FunctionDef) and not line.decorator_list:
            found[line.name] = ast.get_source_segment(source, line)
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant):
            found[line.targets[0].id] = ast.get_source_segment(source, line)
    return found


def needed(functions, names):
    """Of some functions those with these names, and all that they call."""
    chosen, rest = set(), set(names) & set(functions)
    while rest:
        name = rest.pop()
        chosen.add(name)
        rest |= set(re.findall(r"\w+", functions[name])) & set(functions) - chosen
    return {name: source for name, source in functions.items() if name in chosen}


def package_for(sources):
    """{module: {function: source}} of what some cells may call."""
    text, package = "\n".join(sources), {}
    words = set(re.findall(r"\w+", text))
    for parent, names in COURSE_IMPORT.findall(text):
        for module in (parent, *(f"{parent}.{name.split(' as ')[0].strip()}" for name in names.split(","))):
            if functions := needed(functions_of(module), words):
                package[module] = functions
    return package


# --- what the page is told ---


def told(notebook, known):
    """What static/cells.js needs: every cell with a name that another may read."""
    cells = []
    for cell in code_cells(notebook):
        source = "".join(cell["source"])
        if cell["id"] in known["shown"] or cell["id"] in known["silent"]:
            cells.append({"source": source, "runs": True, "shown": cell["id"] in known["shown"]})
        elif "google.colab" not in source:
            cells.append({"source": "", "runs": False, "makes": names_made(source)})
    return {"cells": cells, "package": package_for(cell["source"] for cell in cells)}


def write_cells(notebooks, folder):
    """A script for each lesson with such cells, which is loaded when the first of them is run."""
    folder.mkdir(parents=True)
    for path in notebooks:
        known = listed(path.stem)
        if known["shown"]:
            text = json.dumps(told(json.loads(path.read_text(encoding="utf-8")), known), ensure_ascii=False)
            (folder / f"{path.stem}.js").write_text(f"globalThis.lessonCells = {text};\n", encoding="utf-8")


def mark_runs(cell, known):
    """Tags a cell that can be run: the page gives it a button."""
    if cell["id"] in known["shown"]:
        cell["metadata"] = cell["metadata"] | {"tags": [*cell["metadata"].get("tags", []), "runs"]}


STYLES = '<link rel="stylesheet" href="../_static/run.css">\n'  # above all cells, so that none moves when it comes


def script(stem):
    return f'<script src="../_static/run.js" data-lesson="{stem}" defer></script>\n'
