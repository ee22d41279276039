"""The pages of the package: its source, with explanations beside it."""

import ast
import re
from pathlib import Path

from anchors import slug
from markup import HIDE_TOC, contents, paragraphs, plain

import transformer_lessons

PACKAGE = Path(__file__).resolve().parents[1] / "transformer_lessons"
MODULES = dict(re.findall(r"^    ([\w.]+) {2,}(.+)$", transformer_lessons.__doc__, flags=re.MULTILINE))

GROUPS = {  # of the index: which modules each has
    "The Transformer": r"(?!validation|exercises|marking|__main__)\w+",
    "Language models": r"language\..+",
    "Tasks and texts": r"tasks\..+",
    "Looking inside": r"inspection\..+",
    "Exercises, marking and tools": r".+",
}


def reference_page():
    tables, left = "", dict(MODULES)
    for title, belongs in GROUPS.items():
        own = {module: left.pop(module) for module in list(left) if re.fullmatch(belongs, module)}
        rows = "".join(f"| [`{module}`]({module}.md) | {plain(what)} |\n" for module, what in own.items())
        tables += f"## {title}\n\n| module | holds |\n| --- | --- |\n{rows}\n"
    return (
        "# The finished implementation\n\nWhat the lessons build, and what the course needs around it. Each group is "
        "in reading order: a module imports only from modules above it, and from `validation`, the argument checks "
        "that all share. You can read all of `masks` to `models` in half an hour; on their pages, "
        "explanations stand beside the code. A test compares the shapes in their comments with the real tensors."
        f"\n\n{tables}" + contents("Modules", MODULES)
    )


def module_page(module):
    """A module's docstring, then its source, cut where a definition begins."""
    path = PACKAGE.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    docstring, pieces = pieces_of(path.read_text(encoding="utf-8"))
    notes = notes_on(module)
    names = " · ".join(f"[`{name}`](#{slug(name)})" for name, _ in pieces if name)
    page = (HIDE_TOC if notes else "") + f"# `{module}`\n\n{paragraphs(docstring)}\n\n{names if notes else ''}\n"
    for name, code in pieces:
        page += f"\n## `{name}`\n" if name else ""
        page += "".join(beside(note, part) for note, part in annotated(code, notes))
    readme = path.parent / "README.md"
    if readme.exists():
        page += "\n" + re.sub(r"^#", "##", readme.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return page


def notes_on(module):
    """{a line of code: the note beside it}, from notes/, where each heading quotes a line."""
    path = Path(__file__).with_name("notes") / f"{module}.md"
    parts = re.split(r"^## `(.+)`\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE) if path.exists() else [""]
    return dict(zip(parts[1::2], map(str.strip, parts[2::2]), strict=True))


def annotated(code, notes):
    """[(note or None, code)]: the code, cut before each line that has a note."""
    parts = [(None, [])]
    for line in code.splitlines():
        if line.strip() in notes:
            parts.append((notes[line.strip()], []))
        parts[-1][1].append(line)
    return [(note, "\n".join(lines).rstrip()) for note, lines in parts if lines]


def beside(note, code):
    """Code, and its note beside it where there is room."""
    if note is None:
        return f"\n```python\n{code}\n```\n"
    return f'\n<div class="beside"><div>\n\n{note}\n\n</div>\n\n```python\n{code}\n```\n\n</div>\n'


def pieces_of(source):
    """(docstring, [(name, code)]): the code in order, whole; what comes before definitions has no name."""
    tree = ast.parse(source)
    lines = source.splitlines()
    docstring = ast.get_docstring(tree) or ""
    begin = tree.body[0].end_lineno if docstring else 0
    cuts = [(None, begin)]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
            while start > begin and lines[start - 1].startswith("#"):
                start -= 1
            cuts.append((node.name, start))
    ends = [start for _, start in cuts[1:]] + [len(lines)]
    codes = ["\n".join(lines[start:end]).strip("\n") for (_, start), end in zip(cuts, ends, strict=True)]
    return docstring, [(name, code) for (name, _), code in zip(cuts, codes, strict=True) if code]


def definitions(module):
    """(name, docstring) for everything that a module defines."""
    path = PACKAGE.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return [
        (node.name, ast.get_docstring(node) or "")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
