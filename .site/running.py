"""Cells that run within a lesson's page: which these are, and what the page is told of a lesson.

cells_that_run.json lists them; static/cells.js runs them. tests/repository/test_running.py proves that each gives there
what is saved, and with --approve writes the list anew. suggestions.json says what a reader may change in some of them.
"""

import ast
import json
import re
import symtable
from functools import cache
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIST = HERE / "cells_that_run.json"
SUGGESTIONS = json.loads((HERE / "suggestions.json").read_text(encoding="utf-8"))
PACKAGE = "transformer_lessons"
COURSE_IMPORT = re.compile(rf"^from ({PACKAGE}[\w.]*) import (.+)$", flags=re.MULTILINE)


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
    """Whether a cell imports, and at most prepares for that."""
    body = ast.parse(source).body
    imports = [line for line in body if isinstance(line, ast.Import | ast.ImportFrom)]
    calls = [line for line in body if isinstance(getattr(line, "value", None), ast.Call) and isinstance(line, ast.Expr)]
    return bool(imports) and len(imports) + len(calls) == len(body)


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
        if isinstance(line, ast.FunctionDef | ast.ClassDef):
            found[line.name] = source_of(line)
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name):
            found[line.targets[0].id] = ast.get_source_segment(source, line)
    return found


def source_of(definition):
    """A function or class without its docstrings; a cache is left out, too, since it only saves time."""
    for part in ast.walk(definition):
        if isinstance(part, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(part) is not None:
            part.body = part.body[1:] or [ast.Pass()]
    definition.decorator_list = [one for one in definition.decorator_list if ast.unparse(one) != "functools.cache"]
    return ast.unparse(definition)


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


def placed(notebook):
    """The cells of code that the page counts, in order: all but the one for Colab."""
    return [cell for cell in code_cells(notebook) if "google.colab" not in "".join(cell["source"])]


def told(notebook, known):
    """What static/cells.js needs: every cell with a name that another may read."""
    cells = []
    for cell in placed(notebook):
        source = "".join(cell["source"])
        if cell["id"] in known["shown"] or cell["id"] in known["silent"]:
            cells.append({"id": cell["id"], "source": source, "runs": True, "shown": cell["id"] in known["shown"]})
        else:
            cells.append({"source": "", "runs": False, "makes": names_made(source)})
    return {"cells": cells, "package": package_for(cell["source"] for cell in cells)}


def write_cells(notebooks, folder):
    """A script for each lesson with such cells, which is loaded when the first of them is run."""
    folder.mkdir(parents=True)
    for path in notebooks:
        known = listed(path.stem)
        if known["shown"]:
            lesson = {"lesson": path.stem} | told(json.loads(path.read_text(encoding="utf-8")), known)
            text = f"globalThis.lessonCells = {json.dumps(lesson, ensure_ascii=False)};\n"
            (folder / f"{path.stem}.js").write_text(text, encoding="utf-8")


def mark_runs(cell, known, places):
    """Tags a cell that can be run: the page gives it a button. `places` are the ids of placed(notebook)."""
    tags = [*cell["metadata"].get("tags", [])]
    if cell["id"] in known["shown"]:
        tags += ["runs", "runs-first"] if cell["id"] == known["shown"][0] else ["runs"]
    if cell["id"] in known["shown"] + known["silent"]:  # an error in it is linked
        tags.append(f"place-{places.index(cell['id'])}")
    if tags:
        cell["metadata"] = cell["metadata"] | {"tags": tags}


NOTE = """<p class="run-note">A cell with “Run” runs in this page, and you can change its code. All others run in the
notebook only.</p>"""


def suggestion(stem, cell, known):
    """What to change in this cell, below it: a press changes it, and runs it."""
    one = SUGGESTIONS.get(stem, {}).get(cell["id"])
    if one is None or cell["id"] not in known["shown"]:
        return ""
    said = re.sub("`(.+?)`", r"<code>\1</code>", escape(one["say"], quote=False))
    data = {"number": known["shown"].index(cell["id"]), "old": escape(one["old"]), "now": escape(one["now"])}
    data = " ".join(f'data-{name}="{value}"' for name, value in data.items())
    return (
        f'<p class="suggestion"><b>Change it.</b> {said} <button type="button" {data} hidden>Do it for me</button></p>'
    )


STYLES = '<link rel="stylesheet" href="../_static/run.css">\n'  # above all cells, so that none moves when it comes


def script(stem):
    return f'<script src="../_static/run.js" data-lesson="{stem}" defer></script>\n'
