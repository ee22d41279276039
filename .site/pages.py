"""The pages of the reading site, made from the committed notebooks, the exercises and the package.

`write(folder)` fills a folder with what Sphinx reads. build.py runs it in a process of its own: this one
needs PyTorch, that one Sphinx, and both take seconds to load.
"""

import ast
import json
import re
import shutil
import sys
from html import escape
from pathlib import Path

from anchors import slug

import transformer_lessons
from transformer_lessons.exercises.asking import FreeText, SeveralOf, all_questions
from transformer_lessons.exercises.exercise import EXERCISES

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "transformer_lessons"
LESSONS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
ROOMS = dict(re.findall(r"^    (\w+) {2,}(.+)$", transformer_lessons.__doc__, flags=re.MULTILINE))
MARKS = "○✓✗"  # a verdict begins with one of them
WIDTH = 96  # the verdicts of questions are wrapped at so many characters


def write(folder):
    """Every page, below a folder; links between them are relative, as in the repository."""
    shutil.copytree(ROOT / "imgs", folder / "imgs", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    pages = {"index.md": front_page(LESSONS), "exercises/index.md": exercises_page(),
             "reference/index.md": reference_page()}
    pages |= {f"exercises/{name}.md": exercise_page(exercise) for name, exercise in EXERCISES.items()}
    pages |= {f"reference/{room}.md": room_page(room) for room in ROOMS}
    pages |= {f"notebooks/{path.name}": lesson_page(path) for path in LESSONS}
    pages["notebooks/glossary.md"] = (ROOT / "notebooks/glossary.md").read_text(encoding="utf-8")
    for name, text in pages.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return pages


def plain(text):
    """Text in which Markdown sees no marks but those of code."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\`*_{}\[\]<>$|#])", r"\\\1", part)
                   for part in parts)


def html(text):
    """The same as HTML."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))


def fold(summary, inside):
    """A folded part. It has no blank line, so Markdown takes it as one piece of HTML."""
    inside = re.sub(r"\n\s*\n", "\n", inside)
    return f"<details><summary>{escape(summary)}</summary>\n{inside}\n</details>\n"


def fold_code(summary, code):
    return f"<details><summary>{escape(summary)}</summary>\n\n```python\n{code.strip()}\n```\n\n</details>\n"


def contents(caption, entries):
    """A table of contents that only the side bar and the links to previous and next show."""
    return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(entries) + "\n```\n\n"


# --- the front page ---


def told_by(path):
    """What a lesson tells of itself in its first cell: title, promise, and the rows of its table."""
    first = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
    title = re.match(r"# (.+)", first)[1]
    promise = re.search(r"^\*\*(.+?)\*\*", first, flags=re.MULTILINE)[1]
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| (.+) \|$", first, flags=re.MULTILINE)
    return {"title": title, "promise": promise, **dict(rows)}


def card(title, page, text, note=""):
    return f"- [**{title}**]({page})\n  {text}" + (f" *{note}*" if note else "") + "\n"


def front_page(lessons):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    opening = re.search(r"^(\*\*.+?)\n\n(!\[.+?\]\(imgs/course_map\.svg\))", readme, flags=re.M | re.S)
    cards = ""
    for path in lessons:
        told = told_by(path)
        time = re.split("[,;]", told.get("Time", ""))[0]
        cards += card(told["title"], f"notebooks/{path.name}", told["promise"], time)
    known = f"{len(EXERCISES)} of them, with the {number_of_mistakes():,} mistakes that the checks know."
    built = "What the lessons build, to be read whole."
    others = (card("Exercises", "exercises/index.md", known) +
              card("Glossary", "notebooks/glossary.md", "Every word, and the lesson where it is new.") +
              card("The finished implementation", "reference/index.md", built))
    return (f"# Transformer Lessons\n\n{opening[1]}\n\n{opening[2]}\n\n"
            f"## The lessons\n\n{{.cards}}\n{cards}\n"
            f"## To look things up\n\n{{.cards}}\n{others}\n"
            "## Read here, work there\n\nThese pages are for reading. The exercises are done in JupyterLab, "
            "where the checks name your mistake. In a clone of the repository this opens the first:\n\n"
            "```\npython3 -m transformer_lessons lab\n```\n\n" +
            contents("Lessons", [f"notebooks/{path.stem}" for path in lessons]) +
            contents("To look things up", ["exercises/index", "notebooks/glossary", "reference/index"]))


def number_of_mistakes():
    return sum(len(exercise.mistakes) for exercise in EXERCISES.values())


# --- the lessons ---


def lesson_page(path):
    """A lesson with its saved outputs; what `hint` and `answer` would tell is folded below."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = with_links_to_the_site("".join(cell["source"]))
    first, *others = notebook["cells"]
    cells, seen = [first, markdown_cell("contents", headings_of(notebook))], set()
    for number, (cell, following) in enumerate(zip(others, [*others[1:], first], strict=True)):
        cells.append(cell)
        if cell["cell_type"] == "code":
            mark_verdicts(cell)
            answered = "".join(following["source"]).startswith("<details>")
            if text := help_for("".join(cell["source"]), seen, answered):
                cells.append(markdown_cell(f"help-{number}", text))
    return json.dumps(notebook | {"cells": cells}, ensure_ascii=False)


def with_links_to_the_site(text):
    """What leads to the package's files leads to their pages."""
    text = re.sub(r"\]\(\.\./transformer_lessons(?:/|/__init__\.py)?\)", "](../reference/index.md)", text)
    return re.sub(r"\]\(\.\./transformer_lessons/(\w+)\.py\)", r"](../reference/\1.md)", text)


def markdown_cell(name, text):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def headings_of(notebook):
    """A list of links to the parts of a lesson."""
    texts = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    prose = re.sub(r"```.*?```", "", "\n\n".join(texts), flags=re.DOTALL)
    found = re.findall(r"^## +(.+)$", prose, flags=re.MULTILINE)
    return "{.parts}\n**In this lesson**\n\n{.parts}\n" + "".join(
        f"- [{words}](#{slug(re.sub('[`*]', '', words))})\n" for words in found)


def mark_verdicts(cell):
    """A verdict is prose: it gets a tag, to be shown so, and is unwrapped, for screens of any width."""
    for output in cell["outputs"]:
        text = "".join(output.get("text", ""))
        if text.startswith(tuple(MARKS)):
            output["text"] = unwrapped(text)
            cell["metadata"] = {"tags": [*cell["metadata"].get("tags", []), "verdict"]}


def unwrapped(text):
    """Undoes textwrap: where the next word would not have fitted, the line goes on."""
    first, *lines = text.split("\n")
    joined, last = [first], first
    for line in lines:
        word = (line.split() or [""])[0]
        begins = re.match(r"Answer with |Try again with |[a-z]\) |- ", line)
        if word and last and not begins and len(last) + 1 + len(word) > WIDTH:
            joined[-1] += " " + line.strip()
        else:
            joined.append(line)
        last = line
    return "\n".join(joined)


def help_for(source, seen, answered):
    """What is folded below a cell: once for each exercise and question, and never twice the model answer."""
    told = []
    for name in re.findall(r"\bcheck\(\"(\w+)\"", source):
        if name in EXERCISES and name not in seen:
            seen.add(name)
            told.append(hints(EXERCISES[name]))
            told.append(f"[The exercise and the mistakes that its check knows](../exercises/{name}.md)\n")
    for number in re.findall(r"\banswer\(\"([\d.]+)\"", source):
        question = all_questions().get(number)
        if question and number not in seen and not (answered and isinstance(question, FreeText)):
            seen.add(number)
            told.append(explained(question))
    return "\n".join(told)


def hints(exercise):
    items = "".join(f"<li><em>{html(symptom)}</em>: {html(text)}</li>\n" for symptom, text in exercise.hints)
    return fold("Hints" if len(exercise.hints) > 1 else "A hint", f"<ol>\n{items}</ol>")


def explained(question):
    """The answer to a question, and what each wrong one is told."""
    if isinstance(question, FreeText):
        return fold("A model answer", f"<p>{html(question.model)}</p>")
    if isinstance(question, SeveralOf):
        rows = [(choice.is_right, f"{letter}) {choice.text}", choice.why)
                for letter, choice in question.lettered.items()]
    else:
        rows = [(True, question.say(question.right), question.why)]
        rows += [(False, question.say(slip), why) for slip, why in question.slips.items()]
    items = "".join(f"<li>{'✓' if right else '✗'} <strong>{html(said)}</strong> {html(why)}</li>\n"
                    for right, said, why in rows)
    return fold("The answer, and why", f'<ul class="told">\n{items}</ul>')


# --- the exercises ---


def lesson_of(exercise):
    """The notebook of an exercise, or None while it is not written."""
    return next((path for path in LESSONS if path.name.startswith(f"{exercise.lesson:02}_")), None)


def link_to_lesson(exercise):
    """A link to the exercise in its lesson, or to the lesson if it has no heading of its own there."""
    path = lesson_of(exercise)
    if path is None:
        return f"lesson {exercise.lesson}"
    text = path.read_text(encoding="utf-8")
    heading = re.search(rf"### (Exercise · `{exercise.name}`)", text)
    anchor = f"#{slug(heading[1].replace('`', ''))}" if heading else ""
    return f"[lesson {exercise.lesson}](../notebooks/{path.name}{anchor})"


def exercises_page():
    rows = "".join(
        f"| [`{name}`](<{name}.md>) {plain(exercise.title)} | {link_to_lesson(exercise)} "
        f"| {exercise.difficulty} | {exercise.importance} | {exercise.minutes} | {len(exercise.mistakes)} |\n"
        for name, exercise in EXERCISES.items())
    minutes = sum(exercise.minutes for exercise in EXERCISES.values())
    return (f"# Exercises\n\n{len(EXERCISES)} exercises, {minutes} minutes in all. Difficulty and importance "
            f"go from 1 to 3. The checks know {number_of_mistakes():,} mistakes by name: the page of each "
            "exercise tells which, and has its hints and a solution, folded.\n\n{.exercises}\n"
            "| exercise | where | difficulty | importance | minutes | mistakes |\n"
            f"| --- | --- | --- | --- | --- | --- |\n{rows}\n" + contents("Exercises", EXERCISES))


def exercise_page(exercise):
    mistakes = "".join(
        f'<tr><th scope="row">{html(mistake.name)}</th><td>{html(mistake.why)} '
        f"<em>→ {html(mistake.look)}</em></td></tr>\n" for mistake in exercise.mistakes.values())
    return (f"# `{exercise.name}`\n\n**{plain(exercise.title)}** · {link_to_lesson(exercise)} · "
            f"difficulty {exercise.difficulty} of 3 · importance {exercise.importance} of 3 · "
            f"{exercise.minutes} minutes\n\n"
            f"## What it must do\n\n{paragraphs(exercise.contract)}\n\n"
            f"```python\n{exercise.stub.strip()}\n```\n\n"
            f"{hints(exercise)}\n{fold_code('One right way', exercise.solution_text())}\n"
            f"## The {len(exercise.mistakes)} mistakes that its check knows\n\n"
            "The check runs each of them on the same inputs as the answer, and names the one that gives the "
            "same numbers.\n\n"
            '<table class="mistakes">\n<thead><tr><th scope="col">mistake</th>'
            '<th scope="col">what is wrong <em>→ where to look</em></th></tr></thead>\n'
            f"<tbody>\n{mistakes}</tbody>\n</table>\n")


def paragraphs(text):
    """Plain text as Markdown; what is indented stays as it is."""
    return "\n".join(line if line.startswith("    ") else plain(line) for line in text.splitlines())


# --- the package ---


def reference_page():
    rows = "".join(f"| [`{room}`]({room}.md) | {plain(what)} |\n" for room, what in ROOMS.items())
    return ("# The finished implementation\n\nWhat the lessons build, in reading order: a room imports only "
            "from rooms above it. `masks` to `models` are what you read whole in half an hour. A test "
            "compares the shapes in their comments with the real tensors.\n\n"
            f"| room | holds |\n| --- | --- |\n{rows}\n" + contents("Rooms", ROOMS))


def room_page(room):
    """A room's docstring, then its source, cut where a definition begins."""
    path = PACKAGE / f"{room}.py"
    path = path if path.exists() else PACKAGE / room / "__init__.py"
    told, pieces = pieces_of(path.read_text(encoding="utf-8"))
    page = f"# `{room}`\n\n{paragraphs(told)}\n"
    for name, code in pieces:
        page += (f"\n## `{name}`\n" if name else "") + f"\n```python\n{code}\n```\n"
    readme = path.parent / "README.md"
    if readme.exists():
        page += "\n" + re.sub(r"^#", "##", readme.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return page


def pieces_of(source):
    """(docstring, [(name, code)]): the code in order, whole; what comes before definitions has no name."""
    tree = ast.parse(source)
    lines = source.splitlines()
    told = ast.get_docstring(tree) or ""
    begin = tree.body[0].end_lineno if told else 0
    cuts = [(None, begin)]
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
            while start > begin and lines[start - 1].startswith("#"):
                start -= 1
            cuts.append((node.name, start))
    ends = [start for _, start in cuts[1:]] + [len(lines)]
    codes = ["\n".join(lines[start:end]).strip("\n") for (_, start), end in zip(cuts, ends, strict=True)]
    return told, [(name, code) for (name, _), code in zip(cuts, codes, strict=True) if code]


if __name__ == "__main__":
    write(Path(sys.argv[1]))
