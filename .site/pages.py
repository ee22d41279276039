"""The pages of the reading site, made from the committed notebooks, the exercises and the package.

`write(folder)` fills a folder with what Sphinx reads. build.py runs this in a separate process, since this
script needs PyTorch and that one Sphinx, and both take seconds to load.
"""

import ast
import base64
import contextlib
import io
import json
import math
import re
import shutil
import sys
from functools import cache
from html import escape
from itertools import groupby
from pathlib import Path
from textwrap import dedent

import repository
from anchors import slug
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

import transformer_lessons
from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker.draws import first_draws
from transformer_lessons.exercises.checker.exercise import EXERCISES
from transformer_lessons.exercises.checker.report import WIDTH
from transformer_lessons.exercises.checker.sandbox import attempt
from transformer_lessons.exercises.checker.verdict import judge
from transformer_lessons.exercises.questions.finding import all_questions
from transformer_lessons.exercises.questions.kinds import Choices, FreeText, Shape

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "imgs"))
import draw  # noqa: E402 - the diagrams' script

PACKAGE = ROOT / "transformer_lessons"
README = (ROOT / "README.md").read_text(encoding="utf-8")
LESSONS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
MODULES = dict(re.findall(r"^    ([\w.]+) {2,}(.+)$", transformer_lessons.__doc__, flags=re.MULTILINE))
HIDE_TOC = "---\nhide-toc: true\n---\n\n"  # the page needs the room
MARKS = "○✓✗"  # a verdict begins with one of them
ASKED = re.compile(r'\s*(?:report = )?answer\("([\d.]+)"\)\s*')  # a cell that only asks a question


def write(folder):
    """Writes every page below a folder; links between them are relative, as in the repository."""
    hidden = shutil.ignore_patterns("*.py", "*.md", "_*", ".*")
    for name in ("imgs", "notebooks"):  # what pages show, and offer to download
        shutil.copytree(ROOT / name, folder / "beside" / name, ignore=hidden)
    pages = {
        "index.md": front_page(LESSONS),
        "exercises/index.md": exercises_page(),
        "reference/index.md": reference_page(),
    }
    pages |= {f"exercises/{name}.md": exercise_page(exercise) for name, exercise in EXERCISES.items()}
    pages |= {f"reference/{module}.md": module_page(module) for module in MODULES}
    pages |= {f"notebooks/{path.name}": lesson_page(path) for path in LESSONS}
    pages["notebooks/glossary.md"] = (ROOT / "notebooks/glossary.md").read_text(encoding="utf-8")
    pages = {name: with_zoom(name, text) for name, text in pages.items()}
    (folder / "beside" / "found.js").write_text(
        f"const FOUND = {json.dumps(found(pages), ensure_ascii=False)};\n", encoding="utf-8"
    )
    for name, text in pages.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return pages


def plain(text):
    """Text in which Markdown sees no marks but those of code."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\`*_{}\[\]<>$|#])", r"\\\1", part) for part in parts)


def html(text):
    """The same as HTML."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))


def fold(summary, inside):
    """A folded part, without blank lines, so that Markdown takes it as one piece of HTML."""
    inside = re.sub(r"\n\s*\n", "\n", inside)
    return f"<details><summary>{escape(summary)}</summary>\n{inside}\n</details>\n"


def fold_code(summary, code):
    return f"<details><summary>{escape(summary)}</summary>\n\n```python\n{code.strip()}\n```\n\n</details>\n"


def contents(caption, entries):
    """A table of contents that only the side bar and the links to previous and next show."""
    return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(entries) + "\n```\n\n"


# --- the front page ---


def facts_of(path):
    """What a lesson says about itself in its first cell: title, promise, and the rows of its table."""
    first = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
    title = re.match(r"# (.+)", first)[1]
    promise = re.search(r"^\*\*(.+?)\*\*", first, flags=re.MULTILINE)[1]
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| (.+) \|$", first, flags=re.MULTILINE)
    return {"title": title, "promise": promise, **dict(rows)}


def front_page(lessons):
    facts = [facts_of(lesson) for lesson in lessons]
    cards = [
        f'<li>{icon(number)}<a href="notebooks/{lesson.stem}.html"><strong>{html(name)}</strong></a> '
        f"<span>{html(told['promise'])}</span> <em>{told['Time'].partition(',')[0]}</em></li>\n"
        for number, (lesson, told) in enumerate(zip(lessons, facts, strict=True))
        for name in [told["title"].partition(" · ")[2]]
    ]
    hours = round(sum(int(told["Time"].split()[0]) for told in facts) / 60)  # without extras
    opening = re.search(r"^\*\*(.+?), (every step from scratch.+?)\*\*(.+?\.)", README, flags=re.M | re.S)
    first = lessons[0].stem
    return (
        f"{HIDE_TOC}# {opening[1]}\n\n"
        '<div class="hero"><div>\n\n{.promise}\n'
        f"**{opening[2].capitalize()}**{opening[3]}\n\n"
        f'<p class="start"><a class="button" href="notebooks/{first}.html">Start lesson 1</a> '
        '<a class="button quiet" href="#run-it-on-your-machine">Run it yourself</a> '
        '<button class="button quiet present" hidden title="Or press p">Present</button></p>\n\n'
        f"{{.facts}}\n{len(lessons)} lessons · {len(EXERCISES)} exercises · about {hours} hours\\\n"
        "no\u00a0GPU\u00a0·\u00a0MIT\u00a0licence\n\n"
        f"**The checks name your mistake.** They know {number_of_mistakes():,} mistakes, run them on the same "
        "inputs as your answer, and name the one that gives *your* numbers. Choose an answer, and see what the "
        f"check says.\n\n</div>\n{verdicts()}</div>\n\n"
        "## Drag the query\n\nThis is self-attention, as you will build it in lesson 1.\n\n"
        f"{first_playground(lessons[0])}\n\n"
        "## The path\n\nThe course is lessons 1 to 8, one after the other:\n\n"
        f'<ol class="path">\n{"".join(cards[:8])}</ol>\n\n'
        "Four more lessons go beyond it, in any order:\n\n"
        f'<ol class="path" start="9" style="--from: 8">\n{"".join(cards[8:])}</ol>\n\n'
        "To look things up: the [exercises](exercises/index.md), the "
        "[glossary](notebooks/glossary.md), and the [finished implementation](reference/index.md), with "
        f"explanations beside the code.{source()} "
        '<span class="by-keys">To show a page to a class, one screen at a time, press p.</span>\n\n'
        "## Run it on your machine\n\nThese pages are for reading. The exercises are done in JupyterLab. "
        f"{'With git and' if repository.source() else 'In a clone of the repository, with'} Python 3.10 or later, "
        f"this {'fetches the course, ' if repository.source() else ''}makes an environment and opens the first "
        f"lesson:\n\n```sh\n{repository.clone_command()}python3 -m transformer_lessons lab\n```\n\n"
        "{.facts}\nBy the Transformer Lessons authors, under the MIT licence"
        f"{' · last changed on ' + day if (day := repository.changed()) else ''}\n\n"
        + contents("Lessons", [f"notebooks/{path.stem}" for path in lessons])
        + contents("To look things up", ["exercises/index", "notebooks/glossary", "reference/index"])
    )


def source():
    address = repository.source()
    return f" All of it, tests included, is [on GitHub]({address})." if address else ""


def first_playground(lesson):
    """The playground of a lesson, as it was saved."""
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    saved = [
        "".join(output["data"]["text/html"])
        for cell in cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    return re.sub(r"\n\s*\n", "\n", next(html for html in saved if html.startswith('<div class="playground')))


def icon(number):
    """A lesson's small picture from the course map."""
    return in_both_themes(draw.icon(number))


def in_both_themes(svg):
    """A picture whose colours turn with the page's."""
    return re.sub(r'="(#[0-9a-f]{6})"', lambda found: f'="light-dark({found[1]}, {draw.turned(found[1])})"', svg)


ANSWERS = {  # on the front page: what a learner might write
    "wrong axis": ("scores = scores / math.sqrt(d)", "weights = scores.softmax(dim=-2)"),
    "no scaling": ("# not divided by √d", "weights = scores.softmax(dim=-1)"),
    "scaled by d": ("scores = scores / d", "weights = scores.softmax(dim=-1)"),
    "right": ("scores = scores / math.sqrt(d)", "weights = scores.softmax(dim=-1)"),
}


def verdicts():
    """Answers to choose from, and what the check says about each, when it is run as the page is written.

    About the right one it says little, so the page adds the numbers that it expected of the others.
    """
    name, right, panels, expected = "scaled_dot_product_attention", ANSWERS["right"], [], ""
    for lines in ANSWERS.values():
        size = ["d = query.shape[-1]"] if "/" in lines[0] else []
        code = "\n    ".join(
            [
                f"def {name}(query, key, value):",
                *size,
                "scores = query @ key.mT",
                *lines,
                "return weights @ value, weights",
            ]
        )
        definitions = {"math": math}
        exec(code, definitions)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            check(name, definitions[name])
        wrong = set(lines) - set(right)
        shown = "\n".join(
            re.sub(r"^(\s*)(.+)", r"\1<mark>\2</mark>", line) if plain_line.strip() in wrong else line
            for plain_line, line in zip(code.split("\n"), coloured(code).split("\n"), strict=True)
        )
        panels.append(f'<pre class="highlight">{shown}</pre>{verdict(said.getvalue())}')
        expected = expected or "\n".join(re.findall(r"\S {4}([\d. ]+)$", said.getvalue(), flags=re.MULTILINE))
    panels[-1] += (
        "<p>On the same inputs, the weights are now the expected ones, and each row sums to 1:</p>"
        f'<pre class="numbers">{expected}</pre>'
        f'<p>This check knows <a href="exercises/{name}.html">{len(EXERCISES[name].mistakes)} mistakes</a> '
        "by name.</p>"
    )
    return choices("answer", "An answer, and its verdict", ANSWERS, panels)


def coloured(code):
    """Python as HTML, in the colours of the cells."""
    return highlight(code, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)).rstrip("\n")


def choices(name, legend, labels, panels):
    """Labels to click, and for each the panel that it shows, without a blank line, so that Markdown takes it whole."""
    tabs = "".join(
        f'<input type="radio" name="{name}" id="{name}-{number}"{" checked" if not number else ""}>'
        f'<label for="{name}-{number}">{html(label)}</label>\n'
        for number, label in enumerate(labels)
    )
    inside = "".join(f"<div>{panel}</div>\n" for panel in panels)
    return (
        f'<fieldset class="verdicts"><legend>{legend}</legend>\n{tabs}<div class="panels">\n{inside}</div></fieldset>\n'
    )


def verdict(message):
    """What a check prints: sentences, which a page wraps by itself, and rows of numbers, whose columns stay.

    Its last line says how to ask for a hint, which nobody can do on a page.
    """
    lines, shown = message.partition("\n  Need more? ")[0].rstrip().splitlines(), ""
    for columns, rows in groupby(zip(lines, ["", *lines], strict=False), lambda pair: "  " in pair[0].strip()):
        if columns:
            table = dedent("\n".join(line for line, _ in rows))
            shown += f'<pre class="numbers">{escape(table, quote=False)}</pre>'
            continue
        sentences = []
        for line, before in rows:
            text = line.strip()
            full = len(before) + 1 + len(text.split(" ")[0]) > WIDTH  # it was cut there
            if sentences and full and not text.startswith(("With ", "Where to look")):
                sentences[-1] += f" {text}"
            else:
                sentences.append(text)
        shown += "".join(f"<p>{html(text)}</p>" for text in sentences)
    return f'<div class="verdict {"right" if message.startswith("✓") else "wrong"}">{shown}</div>'


def number_of_mistakes():
    return sum(len(exercise.mistakes) for exercise in EXERCISES.values())


# --- the lessons ---


def lesson_page(path):
    """A lesson with its saved outputs; questions can be clicked, and what `hint` would say is folded below."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = with_links_to_the_site(for_readers("".join(cell["source"])))
    first, *others = notebook["cells"]
    first["source"] = with_facts(first["source"])
    title, promise, rest = first["source"].split("\n\n", 2)
    first["source"] = f"{title}\n\n{promise}\n\n{actions(path)}\n\n{rest}"
    cells, seen = [first, markdown_cell("contents", headings_of(notebook))], set()
    for number, (cell, following) in enumerate(zip(others, [*others[1:], first], strict=True)):
        source = "".join(cell["source"])
        answered = "".join(following["source"]).startswith("<details>")
        if cell["cell_type"] == "code" and (asked := ASKED.fullmatch(source)) and asked[1] in all_questions():
            cells.append(markdown_cell(cell["id"], question_html(all_questions()[asked[1]], answered)))
            continue
        cells.append(cell)
        if cell["cell_type"] == "code":
            mark_verdicts(cell)
            fold_output(cell)
            if text := help_for(source, seen):
                cells.append(markdown_cell(f"help-{number}", text))
    return json.dumps(notebook | {"cells": cells}, ensure_ascii=False)


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


def fold_output(cell):
    """What is saved folded, since it answers a question above it, is folded here."""
    if cell["metadata"].get("jupyter", {}).get("outputs_hidden") and cell["outputs"]:
        cell["metadata"] = cell["metadata"] | {"tags": [*cell["metadata"].get("tags", []), "hide-output"]}


def with_links_to_the_site(text):
    """The text, with links to the package's files turned into links to their pages."""
    text = re.sub(r"\]\(\.\./transformer_lessons(?:/|/__init__\.py)?\)", "](../reference/index.md)", text)
    text = re.sub(r"\]\(\.\./transformer_lessons/(\w+)\.py\)", r"](../reference/\1.md)", text)
    return text.replace("](../README.md#the-lessons)", "](../index.md#the-path)")


def markdown_cell(name, text):
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": text}


def headings_of(notebook):
    """A list of links to the parts of a lesson."""
    texts = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    prose = re.sub(r"```.*?```", "", "\n\n".join(texts), flags=re.DOTALL)
    found = re.findall(r"^## +(.+)$", prose, flags=re.MULTILINE)
    return "{.parts}\n**In this lesson**\n\n{.parts}\n" + "".join(
        f"- [{words}](#{slug(re.sub('[`*]', '', words))})\n" for words in found
    )


def mark_verdicts(cell):
    """Tags verdicts, so that they are shown as prose."""
    if any("".join(output.get("text", "")).startswith(tuple(MARKS)) for output in cell["outputs"]):
        cell["metadata"] = cell["metadata"] | {"tags": [*cell["metadata"].get("tags", []), "verdict"]}


def help_for(source, seen):
    """What is folded below a cell that checks an exercise, once for each."""
    parts = []
    for name in re.findall(r"\bcheck\(\"(\w+)\"", source):
        if name in EXERCISES and name not in seen:
            seen.add(name)
            parts += [hints(EXERCISES[name]), samples(EXERCISES[name])]
            parts.append(
                f'<p><a class="button" href="../exercises/{name}.html">'
                f"The {len(EXERCISES[name].mistakes)} mistakes that its check knows</a></p>\n"
            )
    return "\n".join(parts)


def hints(exercise):
    items = "".join(f"<li><em>{html(symptom)}</em>: {html(text)}</li>\n" for symptom, text in exercise.hints)
    return fold("Hints" if len(exercise.hints) > 1 else "A hint", f"<ol>\n{items}</ol>")


SAMPLES = 3  # verdicts below an exercise


@cache
def samples(exercise):
    """What the check says about answers with known mistakes, folded, since nothing can be tried on a page."""
    mistakes = [mistake for mistake in exercise.mistakes.values()][:SAMPLES]
    reports = [judge(exercise, mistake.variants[0].answer, first_draws(exercise), run=attempt) for mistake in mistakes]
    card = choices(
        f"sample-{exercise.name}",
        "What the check says about an answer with this mistake",
        [mistake.name for mistake in mistakes],
        [verdict(report.message) for report in reports],
    )
    return fold("Wrong answers, and what the check says", card)


def question_html(question, answered):
    """A question to be clicked or filled in. If it is `answered`, its model answer follows on the page anyway."""
    text = "".join(
        f'<pre class="highlight">{coloured(dedent(part))}</pre>\n'
        if part.startswith("    ")
        else f"<p>{in_html(part)}</p>\n"
        for part in blocks(question.text)
    )
    if isinstance(question, Choices):
        ask = "Choose one." if question.kind == "choice" else "Choose every one that you think is right."
        choices = "".join(
            f'<details class="choice"><summary><b>{letter}</b>{in_html(choice.text)}</summary>'
            f'<p class="{"right" if choice.is_right else "wrong"}">'
            f"{'✓ Right.' if choice.is_right else '✗ No.'} {in_html(choice.why)}</p></details>\n"
            for letter, choice in question.lettered.items()
        )
        body = f"<p><em>{ask}</em></p>\n{choices}"
    elif isinstance(question, FreeText):
        body = "" if answered else fold("A model answer", f"<p>{in_html(question.model)}</p>")
    else:
        body = field(question)
    title = f"<p><strong>{question.number} {html(question.title)}</strong></p>"
    return f'<div class="question">\n{title}\n{text}{body}</div>\n'


def in_html(text):
    """A question's text; code in it, such as row[1], is marked even without backticks, which a terminal would print."""
    text = re.sub(
        r"`[^`]+`|\b\w+ @ [\w.]+\w|\b\w[\w.]*(?:\[[\w, ]+\]|\(\))", lambda part: f"`{part[0].strip('`')}`", text
    )
    return html(text)


def blocks(text):
    """The paragraphs of a question's text, and its code, which is indented."""
    return [part.strip("\n") for part in re.findall(r"(?:^    .*\n?)+|(?:^(?!    ).+\n?)+", text, flags=re.MULTILINE)]


def field(question):
    """A field for a number or a shape; the explanations travel with the page, but out of plain sight."""
    say = question.say
    told = {
        "shape": isinstance(question, Shape),
        "right": question.right,
        "why": in_html(question.why),
        "pointer": in_html(question.pointer),
        "tolerance": question.tolerance,
        "slips": [[slip, in_html(why)] for slip, why in question.slips.items()],
    }
    hidden = base64.b64encode(json.dumps(told, ensure_ascii=False).encode()).decode()
    ask = "Shape" if told["shape"] else "Number"
    items = "".join(
        f"<li>✗ <strong>{html(say(slip))}:</strong> {in_html(why)}</li>" for slip, why in question.slips.items()
    )
    answer = fold(
        "The answer, and why",
        f'<ul class="explained"><li>✓ <strong>{html(say(question.right))}:</strong> '
        f"{in_html(question.why)}</li>{items}</ul>",
    )
    return (
        f'<form class="field" data-told="{hidden}"><label>{ask}: <input name="answer" autocomplete="off"></label> '
        f"<button>Check</button> <output></output></form>\n{answer}"
    )


# --- the exercises ---


def lesson_of(exercise):
    """The notebook of an exercise, or None if it has not been written yet."""
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
        for name, exercise in EXERCISES.items()
    )
    minutes = sum(exercise.minutes for exercise in EXERCISES.values())
    return (
        f"# Exercises\n\n{len(EXERCISES)} exercises, {minutes} minutes in all. Difficulty and importance "
        f"go from 1 to 3. The checks know {number_of_mistakes():,} mistakes by name: the page of each "
        "exercise lists its own, and has hints and a solution, folded.\n\n{.exercises}\n"
        "| exercise | where | difficulty | importance | minutes | mistakes |\n"
        f"| --- | --- | --- | --- | --- | --- |\n{rows}\n" + contents("Exercises", EXERCISES)
    )


def exercise_page(exercise):
    contract = re.sub(rf"(?<!`)\b{exercise.name}\([^)]*\)", r"`\g<0>`", exercise.contract)
    mistakes = "".join(
        f'<tr id="{slug(mistake.name)}"><th scope="row">{html(mistake.name)}</th><td>{html(mistake.why)} '
        f"<em>→ {html(mistake.look)}</em></td></tr>\n"
        for mistake in exercise.mistakes.values()
    )
    return (
        f"# `{exercise.name}`\n\n**{plain(exercise.title)}** · {link_to_lesson(exercise)} · "
        f"difficulty {exercise.difficulty} of 3 · importance {exercise.importance} of 3 · "
        f"{exercise.minutes} minutes\n\n"
        f"## What it must do\n\n{paragraphs(contract)}\n\n"
        f"```python\n{exercise.stub.strip()}\n```\n\n"
        f"{hints(exercise)}\n{samples(exercise)}\n{fold_code('A solution', exercise.solution_text())}\n"
        f"## The {len(exercise.mistakes)} mistakes that its check knows\n\n"
        "The check runs each of them on the same inputs as the answer, and names the one that gives the "
        "same numbers.\n\n"
        '<table class="mistakes">\n<thead><tr><th scope="col">mistake</th>'
        '<th scope="col">what is wrong <em>→ where to look</em></th></tr></thead>\n'
        f"<tbody>\n{mistakes}</tbody>\n</table>\n"
    )


def paragraphs(text):
    """Plain text as Markdown; what is indented stays as it is."""
    return "\n".join(line if line.startswith("    ") else plain(line) for line in text.splitlines())


# --- the package ---


def reference_page():
    rows = "".join(f"| [`{module}`]({module}.md) | {plain(what)} |\n" for module, what in MODULES.items())
    return (
        "# The finished implementation\n\nWhat the lessons build, in reading order: a module imports "
        "only from modules above it. You can read all of `masks` to `models` in half an hour; on their pages, "
        "explanations stand beside the code. A test compares the shapes in their comments with the real tensors."
        "\n\n"
        f"| module | holds |\n| --- | --- |\n{rows}\n" + contents("Modules", MODULES)
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


# --- pictures and search ---


def with_zoom(name, text):
    """Diagrams as links to themselves, wide and narrow: a click opens them larger.

    They are part of the page, so that they are lettered in its fonts and turn dark with it.
    """
    up = "../" * name.count("/")

    def figure(alt, picture):
        pair = ""
        for place in ("", "narrow/"):
            svg = (ROOT / "imgs" / place / picture).read_text(encoding="utf-8").strip()
            svg = re.sub(r"<(title|desc) .*?</\1>\n", "", svg, flags=re.DOTALL)
            pair += in_both_themes(re.sub(r'aria-labelledby="[^"]*"', f'aria-label="{escape(alt)}"', svg))
        return f'<p class="diagram"><a class="zoom" href="{up}beside/imgs/{picture}">{pair}</a></p>'

    if not name.endswith(".ipynb"):
        return re.sub(r"!\[([^\]]+)\]\((?:\.\./)*imgs/([\w.]+)\)", lambda found: figure(*found.groups()), text)
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = re.sub(
                r"!\[([^\]]+)\]\((?:\.\./)*imgs/([\w.]+)\)", lambda found: figure(*found.groups()), cell["source"]
            )
    return json.dumps(notebook, ensure_ascii=False)


def found(pages):
    """What the search finds: [kind, title, address, text], one for each thing."""
    places = "JupyterLab or Colab" if repository.source() else "JupyterLab"
    things = [
        [
            "start",
            "Install and run it on your machine",
            "index.html#run-it-on-your-machine",
            f"Install the course (git clone) and run it in {places}; to download a notebook, open its lesson. "
            "Python 3.10 or later, no GPU, MIT licence (license).",
        ],
        ["start", "Present a page to a class", "index.html#the-path", "Press p to show it one screen at a time."],
    ]
    for path in LESSONS:
        title, page = facts_of(path)["title"], json.loads(pages[f"notebooks/{path.name}"])
        written = "\n\n".join(
            cell["source"] if cell["cell_type"] == "markdown" else re.sub("[<$#]", " ", "".join(cell["source"]))
            for cell in page["cells"][2:]
        )
        _, *sections = re.split(r"^##+ +(.+)$", written, flags=re.MULTILINE)
        things.append(["lesson", title, f"notebooks/{path.stem}.html", words_of(facts_of(path)["promise"])])
        for heading, text in zip(sections[::2], sections[1::2], strict=True):
            heading = re.sub("[`*]", "", heading)
            if not heading.startswith("Exercise · "):
                things.append(
                    [
                        "lesson",
                        f"{heading} ({title})",
                        f"notebooks/{path.stem}.html#{slug(heading)}",
                        words_of(text, 6000),
                    ]
                )
    for name, exercise in EXERCISES.items():
        address = f"exercises/{name}.html"
        things.append(["exercise", f"{name}: {exercise.title}", address, words_of(exercise.contract)])
        things += [
            ["mistake", f"{mistake.name} ({name})", f"{address}#{slug(mistake.name)}", words_of(mistake.why)]
            for mistake in exercise.mistakes.values()
        ]
    rows = re.findall(r"^\| ([^|]+) \| (.+) \| \[", pages["notebooks/glossary.md"], flags=re.MULTILINE)
    for term, meaning in rows:
        things.append(["glossary", term, "notebooks/glossary.html", words_of(meaning)])
    for module, what in MODULES.items():
        things.append(["code", module, f"reference/{module}.html", what])
        docstrings = definitions(module)
        things += [
            ["code", f"{module}.{name}", f"reference/{module}.html#{slug(name)}", words_of(text)]
            for name, text in docstrings
        ]
    return things


SIGNS = {"sqrt": "√", "sum": "Σ", "cdot": "·", "times": "×", "to": "→", "in": "∈"}  # of a formula, in plain text


def words_of(text, most=400):
    """Prose without tags and marks, to be searched and shown in excerpts."""
    text = re.sub(r"(?s)<(form|svg|details|pre)\b.*?</\1>|```.*?```|\$\$.*?\$\$|<[^>]+>", " ", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\\([a-z]+)", lambda command: SIGNS.get(command[1], ""), text)
    return " ".join(re.sub(r"[`*|{}$\\]", "", text).split())[:most]


def definitions(module):
    """(name, docstring) for everything that a module defines."""
    path = PACKAGE.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return [
        (node.name, ast.get_docstring(node) or "")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]


if __name__ == "__main__":
    write(Path(sys.argv[1]))
