"""The pages of the lessons, from the committed notebooks."""

import ast
import itertools
import json
import re
from html import escape

import repository
from anchors import slug
from exercises import EXERCISES, hints, samples
from markup import playground_of
from questions import question_html
from running import NOTE, STYLES, listed, mark_runs, placed, script, suggestion
from try_it import STYLES_AND_SCRIPTS, TRIED, editor

from transformer_lessons.exercises.questions.lookup import all_questions

MARKS = "○✓✗"  # a verdict begins with one of them


ASKED = re.compile(r'\s*(?:report = )?answer\("([\d.]+)"\)\s*')  # a cell that only asks a question


def lesson_page(path):
    """A lesson with its saved outputs; questions can be clicked, short exercises typed, and what `hint` would say is
    folded below.
    """
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = with_links_to_the_site(for_readers("".join(cell["source"])))
    first, *others = notebook["cells"]
    first["source"] = with_facts(first["source"])
    title, promise, rest = first["source"].split("\n\n", 2)
    first["source"] = f"{title}\n\n{promise}\n\n{actions(path)}\n\n{rest}"
    first["source"], others = with_picture_alive(first["source"], others)
    cells, seen = [first, markdown_cell("contents", headings_of(notebook))], set()
    known, places = listed(path.stem), [cell["id"] for cell in placed(notebook)]
    others = [part for cell in others for part in with_drawing_apart(cell)]
    for number, (cell, following) in enumerate(zip(others, [*others[1:], first], strict=True)):
        source = "".join(cell["source"])
        answered = "".join(following["source"]).startswith("<details>")
        if cell["cell_type"] == "code" and (asked := ASKED.fullmatch(source)) and asked[1] in all_questions():
            cells.append(markdown_cell(cell["id"], question_html(all_questions()[asked[1]], answered)))
            continue
        if cell["cell_type"] == "code" and (name := to_be_typed(source)):
            cells.append(markdown_cell(cell["id"], editor(name, "lesson")))
            continue
        if cell["id"] in known["shown"][:1]:
            cells.append(markdown_cell("run-note", NOTE))
        if cell["cell_type"] != "code" or not is_judged_by_the_page(source):
            cells.append(cell)
        if cell["cell_type"] == "code":
            mark_runs(cell, known, places)
            mark_verdicts(cell)
            mark_imports(cell)
            mark_drawing(cell)
            fold_output(cell)
            if text := suggestion(path.stem, cell, known):
                cells.append(markdown_cell(f"suggestion-{number}", text))
            if text := help_for(source, seen):
                cells.append(markdown_cell(f"help-{number}", text))
    if known["shown"]:
        cells.insert(1, markdown_cell("run-styles", STYLES))
        cells.append(markdown_cell("run", script(path.stem)))
    if any('class="try-it"' in "".join(cell["source"]) for cell in cells):
        cells.append(markdown_cell("editors", STYLES_AND_SCRIPTS.format("../")))
    return json.dumps(notebook | {"cells": cells}, ensure_ascii=False)


def with_picture_alive(text, cells):
    """A playground above the first heading comes up to the title's picture, which is left for where no script runs."""
    above = itertools.takewhile(lambda cell: not "".join(cell["source"]).startswith("## "), cells)
    at = next((at for at, cell in enumerate(above) if playground_of(cell)), None)
    if at is None:
        return text, cells
    end = re.search(r"^!\[.*\)$", text, flags=re.MULTILINE).end()
    return f"{text[:end]}\n\n{playground_of(cells[at])}{text[end:]}", cells[: at - 1] + cells[at + 1 :]


def to_be_typed(source):
    """The exercise whose stub this is, if the page can run an answer to it."""
    stub = re.fullmatch(r"def (\w+)\(.*\n    raise NotImplementedError\s*", source, flags=re.DOTALL)
    return stub[1] if stub and stub[1] in TRIED else None


def is_judged_by_the_page(source):
    """Whether a cell only checks an answer that is typed in the page."""
    checked = re.fullmatch(r'(?:\w+ = )?check\("(\w+)", (\w+)\)\s*', source)
    return bool(checked) and checked[1] == checked[2] and checked[1] in TRIED


def with_facts(text):
    """The table of a lesson's first cell as a list: it has no head, and phones have no room for columns."""
    text = re.sub(r"^\| \| \|\n\|[- |]+\|\n", "{.facts}\n", text, flags=re.MULTILINE)
    return re.sub(r"^\| (\*\*.+?\*\*) \| (.+) \|$", r"- \1 \2", text, flags=re.MULTILINE)


def for_readers(text):
    """Without the sentences that only hold where cells can be run: <span class="in-a-notebook">…</span>."""
    return re.sub(r'\s*<span class="in-a-notebook">.*?</span>', "", text, flags=re.DOTALL)


def actions(path):
    """From reading to running: in Colab, as a file, on one's own machine."""
    colab = repository.in_colab(path)
    links = [f'<a class="button" href="{escape(colab)}">Open in Colab</a>'] if colab else []
    links.append(f'<a class="button" href="../beside/notebooks/{path.name}" download>Download the notebook</a>')
    commands = escape(repository.clone_command() + "python3 -m transformer_lessons lab")
    where = "" if repository.source() else "<p>In a clone of the repository:</p>"
    run = f"<details><summary>Run it on your machine</summary>{where}<pre>{commands}</pre></details>"
    present = '<button class="button present" hidden title="Or press p">Present</button>'  # site.js shows it
    return f'<div class="actions">{" ".join(links)} {run} {present}</div>'


def with_drawing_apart(cell):
    """A cell whose last call, of several lines, draws its picture: as two cells, so that this call can be folded."""
    source = "".join(cell["source"])
    drawn = re.search(r"^plots\.show_\w+\((?:\n.*)+\n\)\n?\Z", source, flags=re.MULTILINE)
    pictures = [output for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]
    if cell["cell_type"] != "code" or not drawn or len(pictures) != 1 or cell["outputs"][-1] != pictures[0]:
        return [cell]
    metadata = cell["metadata"] | {"tags": [*cell["metadata"].get("tags", []), "hide-input", "drawing"]}
    drawing = cell | {"source": drawn[0], "outputs": pictures, "metadata": metadata}
    if not drawn.start():
        return [drawing]
    computing = {
        "id": f"{cell['id']}-before",
        "source": source[: drawn.start()].rstrip(),
        "outputs": cell["outputs"][:-1],
    }
    return [cell | computing, drawing]


LONG = 5  # lines of code


def mark_drawing(cell):
    """Tags a cell of many lines that draws a picture: where a lesson is presented, the picture stands alone."""
    tags = cell["metadata"].get("tags", [])
    draws = any("image/png" in output.get("data", {}) for output in cell["outputs"])
    if draws and "drawing" not in tags and "".join(cell["source"]).count("\n") >= LONG:
        cell["metadata"] = cell["metadata"] | {"tags": [*tags, "draws"]}


def fold_output(cell):
    """What is saved folded, since it answers a question above it, is folded here."""
    if cell["metadata"].get("jupyter", {}).get("outputs_hidden") and cell["outputs"]:
        cell["metadata"] = cell["metadata"] | {"tags": [*cell["metadata"].get("tags", []), "hide-output"]}


def with_links_to_the_site(text):
    """The text, with links to the package's files turned into links to their pages."""
    text = re.sub(r"\]\(\.\./transformer_lessons(?:/|/__init__\.py)?\)", "](../reference/index.md)", text)
    text = re.sub(r"\]\(\.\./transformer_lessons/(\w+)\.py\)", r"](../reference/\1.md)", text)
    text = text.replace("](../README.md#the-lessons)", "](../index.md#the-path)")
    return text.replace("](../README.md)", "](../index.md)")


def markdown_cell(name, text):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def headings_of(notebook):
    """A lesson's outline: links to its parts, and what is done in each."""
    parts = sections_of(notebook)
    entries = "".join(
        f"- [{words}](#{slug(re.sub('[`*]', '', words))}){noted(what_is_done(text, code))}\n"
        for words, text, code in parts
    )
    return f"{{.parts}}\n**In this lesson**: {len(parts)} sections.\n\n{{.parts}}\n{entries}"


def sections_of(notebook):
    """[(heading, text, code)] of every part of a lesson."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            if parts:
                parts[-1][2] += f"{source}\n"
            continue
        for piece in re.split(r"^(?=## )", re.sub(r"```.*?```", "", source, flags=re.DOTALL), flags=re.MULTILINE):
            if heading := re.match(r"## +(.+)$", piece, flags=re.MULTILINE):
                parts.append([heading[1], "", ""])
            if parts:
                parts[-1][1] += f"{piece}\n"
    return parts


def what_is_done(text, code):
    """What a part of a lesson asks of its readers, and how long that takes if the lesson says so."""
    exercises = [name for name in re.findall(r"^### Exercise · `(\w+)`", text, flags=re.MULTILINE) if name in EXERCISES]
    minutes = sum(EXERCISES[name].minutes for name in exercises)
    questions = len(re.findall(r'^(?:report = )?answer\("[\d.]+"', code, flags=re.MULTILINE))
    extra = re.search(r"^\*Extra · (\d+) minutes", re.sub(r"^#+ .*\s*", "", text, flags=re.MULTILINE))
    return [
        *([f"extra, {extra[1]} min"] if extra else []),
        *([f"{counted(len(exercises), 'exercise')}, {minutes} min"] if exercises else []),
        *([counted(questions, "question")] if questions else []),
        *(["playground"] if "playgrounds." in code else []),
        *(["a good place to stop"] if "a good place to stop" in text else []),
    ]


def counted(number, what):
    return what if number == 1 else f"{number} {what}s"


def noted(done):
    return f" <small>{' · '.join(done)}</small>" if done else ""


def mark_verdicts(cell):
    """Tags verdicts, so that they are shown as prose."""
    if any("".join(output.get("text", "")).startswith(tuple(MARKS)) for output in cell["outputs"]):
        cell["metadata"] = cell["metadata"] | {"tags": [*cell["metadata"].get("tags", []), "verdict"]}


IMPORTS = (ast.Import, ast.ImportFrom)


def mark_imports(cell):
    """Tags a cell of imports, and what prepares for them: it is folded, and left out where a lesson is presented."""
    source = "".join(cell["source"])
    if cell["outputs"] or not source.startswith(("import ", "from ")):
        return
    body = ast.parse(source).body
    imports = [line for line in body if isinstance(line, IMPORTS)]
    calls = [line for line in body if isinstance(getattr(line, "value", None), ast.Call)]  # such as set_num_threads(1)
    if len(imports) > 1 and len(imports) + len(calls) == len(body):
        tags = [*cell["metadata"].get("tags", []), "imports", "hide-input"]
        cell["metadata"] = cell["metadata"] | {"tags": tags}


def help_for(source, seen):
    """What is folded below a cell that checks an exercise, once for each."""
    parts = []
    for name in re.findall(r"\bcheck\(\"(\w+)\"", source):
        if name in EXERCISES and name not in seen:
            seen.add(name)
            page = f"../exercises/{name}.html"
            parts += [hints(EXERCISES[name]), samples(EXERCISES[name])]
            parts.append(
                f'<p><a class="button" href="{page}">'
                f"The {len(EXERCISES[name].mistakes)} mistakes that its check knows</a> "
                f'<a class="button" href="{page}#which-line-is-wrong">Which line is wrong?</a></p>\n'
            )
    return "\n".join(parts)
