"""Lessons and exercises belong together: nothing missing, all solvable, mistakes named on the spot."""

import ast
import builtins
import contextlib
import io
import re
from pathlib import Path

import nbformat
import pytest

from transformer_lessons import exercises
from transformer_lessons.basis.cells import names_in
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.questions.lookup import all_questions
from transformer_lessons.language import chat_cells
from transformer_lessons.tools.glossary import glossary, terms_of

pytestmark = pytest.mark.usefixtures("threads_kept")
NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("??_*.ipynb"))
LESSONS = [pytest.param(path, id=path.stem) for path in NOTEBOOKS]
NUMBERS = {int(path.name[:2]) for path in NOTEBOOKS}
IN_LESSONS = [pytest.param(exercise, id=name) for name, exercise in EXERCISES.items() if exercise.lesson in NUMBERS]


def cells(path, kind="code"):
    return [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == kind]


def notebook_of(exercise):
    return next(path for path in NOTEBOOKS if int(path.name[:2]) == exercise.lesson)


SHORTENED = {  # trainings whose results no check asks for; nbval runs them whole
    r"\bsteps=\d+": "steps=6",
    r"\bin range\(300\)": "in range(6)",
    r"\bin range\(301\)": "in (0, 100, 300)",
    r"\blength=120\b": "length=6",
    r"\blength=(180|200)\):": "length=6):",
    r"\bscenes=2000\b": "scenes=300",
    r"\bscenes=100\b": "scenes=40",
    r"\b(fit\(.*), 120\)": r"\1, 6)",
    r"\[10, 20, 30, 40, 60, 80, 100, 120\]": "list(range(1, 9))",
    r'assert .*, "the largest weights form an anti-diagonal"': "pass",  # they do once the model has learned
    r'\bcorpus\.source == "complete works"': "False",  # what is asserted of the book needs whole trainings
    r'\bcorpus\.source != "complete works"': "True",
}


def run(sources, namespace):
    """What the cells print, run one after the other."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for source in sources:
            for whole, part in SHORTENED.items():
                source = re.sub(whole, part, source)
            exec(compile(source, "cell", "exec"), namespace)
    return printed.getvalue()


def is_stub(source, name):
    """Does a cell define this name, and nothing in it?"""
    tree = ast.parse(source)
    defined = [node for node in tree.body if getattr(node, "name", "") == name]
    return bool(defined) and "raise NotImplementedError" in source


def signature(source):
    """A definition without its docstrings: its name, its parameters, its methods."""
    tree = ast.parse(source).body[-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            del node.body[0]
    return ast.unparse(tree)


@pytest.mark.parametrize("exercise", IN_LESSONS)
def test_every_exercise_sits_in_its_lesson_with_its_stub_and_its_check(exercise):
    code = cells(notebook_of(exercise))
    stubs = [number for number, source in enumerate(code) if is_stub(source, exercise.name)]
    assert len(stubs) == 1
    assert signature(code[stubs[0]]) == signature(exercise.stub)
    assert f'check("{exercise.name}", {exercise.name})' in code[stubs[0] + 1]


@pytest.mark.parametrize("exercise", IN_LESSONS)
def test_the_lesson_quotes_difficulty_importance_and_minutes_of_its_exercise(exercise):
    texts = cells(notebook_of(exercise), "markdown")
    about = [text for text in texts if f"### Exercise · `{exercise.name}`" in text]
    assert len(about) == 1
    assert f"Difficulty {exercise.difficulty} of 3 · importance {exercise.importance} of 3" in about[0]
    assert f"{exercise.minutes} minutes" in about[0]


@pytest.mark.parametrize("path", [one for one in LESSONS if not one.id.startswith("08")])
def test_a_lesson_takes_no_longer_than_its_limit_and_says_how_long_its_extras_take(path):
    """A minute for 200 words or 40 lines of code, 45 seconds for a question, and what the exercises take.

    Lesson 7, whose five exercises alone take three quarters of an hour, may take an hour and a half.
    """
    needed, extras, in_extra = 0.0, [], False
    for cell in nbformat.read(path, 4).cells:
        text = re.sub(r"(?s)<details>.*?</details>|^- ", "", cell.source, flags=re.MULTILINE)
        if cell.cell_type == "markdown" and re.search(r"(?m)^## ", text):
            extra = re.findall(r"\*Extra · (\d+) minutes", text)
            in_extra = bool(extra)
            extras += map(int, extra)
        if in_extra:
            continue
        if cell.cell_type == "markdown":
            needed += len(text.split()) / 200
            needed += sum(map(int, re.findall(r"importance \d of 3 · (\d+) minutes", text)))
        else:
            needed += len(text.splitlines()) / 40 + 0.75 * text.count("answer(")
    pattern = r"\*\*Time\*\* \| (\d+) minutes(?:, plus (\d+) for the (?:\w+ extras|extra))?"
    minutes, more = re.search(pattern, cells(path, "markdown")[0]).groups()
    assert needed <= int(minutes) <= (90 if path.stem.startswith("07") else 75), needed
    assert sum(extras) == int(more or 0)


def names(source):
    """(the names that a cell reads, those that it makes)."""
    tree = ast.walk(ast.parse(source))
    read, made = set(), set()
    for node in tree:
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else made).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            made.add(node.name)
        elif isinstance(node, ast.alias):
            made.add(node.asname or node.name)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
    return read - made, made


@pytest.mark.parametrize("path", LESSONS)
def test_later_cells_need_nothing_that_an_extra_makes(path):
    in_extra, main, extras = False, set(), set()
    for number, cell in enumerate(nbformat.read(path, 4).cells):
        if cell.cell_type == "markdown" and re.search(r"(?m)^## ", cell.source):
            in_extra = "*Extra ·" in cell.source
        elif cell.cell_type == "code":
            read, made = names(cell.source)
            assert in_extra or not read & extras - main, (number, read & extras - main)
            (extras if in_extra else main).update(made)


@pytest.mark.parametrize("path", LESSONS)
def test_every_question_of_a_lesson_is_asked_in_it_once_and_in_order(path):
    asked = re.findall(r'^answer\("([\d.]+)"\)$', "\n".join(cells(path)), flags=re.MULTILINE)
    number = str(int(path.name[:2]))
    assert asked == [key for key in all_questions() if key.split(".")[0] == number]


@pytest.mark.parametrize("path", LESSONS)
def test_every_lesson_has_what_a_lesson_needs(path):
    text = "\n".join(cells(path, "markdown"))
    for part in (
        "**You need**",
        "**You will build**",
        "**Time**",
        "## Break it",
        "## Bug hunt",
        "## Theory",
        "## What we have now",
        "**New words.**",
        "<details><summary>",
    ):
        assert part in text, f"{path.name} lacks {part}"


def concerned(sources, exercises):
    """Whether each cell may do something else once a stub is the learner's function, or has a part in such a cell.

    All other cells do here what they do in nbval's test. A cell passes on what it makes and what it may have changed:
    whatever it uses, other than what the second cell imports.
    """
    names = [names_in(source) for source in sources]
    touched = [made | used - names[1][0] - set(dir(builtins)) for made, used in names]
    changed, wanted, chosen = set(), set(), []
    for source, (made, used), touches in zip(sources, names, touched, strict=True):
        chosen.append(any(is_stub(source, name) for name in exercises) or bool(used & changed))
        changed = changed | touches if chosen[-1] else changed - made
    for number in reversed(range(len(sources))):
        chosen[number] |= bool(touched[number] & wanted)
        wanted |= names[number][1] if chosen[number] else set()
    return chosen


def solve(sources, solutions):
    """What the concerned cells print, one after the other, with the solutions in the place of the stubs.

    The cells that need the chat model are left to nbval.
    """
    sources, solved = [source for source in sources if not source.startswith(chat_cells.NEEDED)], []
    for source, take in zip(sources, concerned(sources, solutions), strict=True):
        name = next((name for name in solutions if is_stub(source, name)), None)
        solved += [solutions.get(name, source)] * take
    return run(solved, {})


@pytest.mark.parametrize("path", LESSONS)
def test_solving_every_exercise_turns_every_check_of_a_lesson_green(path, monkeypatch):
    monkeypatch.setattr("transformer_lessons.inspection.plots.DENSITY", 0.1)  # nbval looks at the pictures
    lesson = [exercise for exercise in EXERCISES.values() if exercise.lesson == int(path.name[:2])]
    printed = solve(cells(path), {exercise.name: exercise.solution_text() for exercise in lesson})
    for exercise in lesson:
        assert re.search(rf"(?m)^✓ {exercise.name}$", printed)


STUB = "def f(x):\n    raise NotImplementedError"
IMPORTS = "import math\nfrom functools import lru_cache"


@pytest.mark.parametrize(
    ("chosen", "sources"),
    {
        "a stub, its check, and nothing else": ("0110", ["x = 1", STUB, "print(f(2))", "print(x)"]),
        "through a helper and a method": (
            "011110",
            [
                "0",
                STUB,
                "def g(x):\n    return f(x)",
                "class A:\n    def m(self):\n        g(1)",
                "A().m()",
                "print(2)",
            ],
        ),
        "what they need": ("1110110", ["x = 1", "y = x", STUB, "z = 2", "w = 3", "f(y + w)", "z"]),
        "what changed what they need": ("11011", ["x = []", "x.append(2)", "y = 3", STUB, "f(x[0])"]),
        "what it returned": ("0110110", ["0", STUB, "y = f(1)", "0", "z = y", "print(z)", "0"]),
        "what it may have changed": ("0100111", ["0", STUB, "0", "0", "x = []", "x.append(f(1))", "print(x)"]),
        "a name made anew is another": ("01100", ["0", STUB, "x = f(1)", "x = 1", "print(x)"]),
        "its name made anew is another": ("0100", ["0", STUB, "def f(x):\n    return x", "f(1)"]),
        "imports stay as they are": ("01100", ["0", STUB, "math.sqrt(f(1))", "math.sqrt(4)", "print(len('abc'))"]),
        "another stub is no exercise": ("000", ["0", STUB.replace("f(", "fixed("), "0"]),
    }.values(),
)
def test_a_cell_is_concerned_that_can_tell_a_solution_from_its_stub(chosen, sources):
    taken = concerned([sources[0], IMPORTS, *sources[1:]], ["f"])
    assert "".join("01"[take] for take in taken[:1] + taken[2:]) == chosen


@pytest.mark.parametrize(
    ("solution", "cell"),
    [
        ("def f(x):\n    return -x", "assert f(2) == 2"),
        ("def f(x):\n    return x[0]", "y = 2\nz = f(y)"),
        ("f = 3", "print(f(2))"),
        ("def f(x):\n    return x", "def g():\n    return f(1) / 0\n\n\ng()"),
    ],
)
def test_a_wrong_solution_and_a_cell_that_fails_with_a_right_one_are_noticed(solution, cell):
    with pytest.raises((AssertionError, TypeError, ZeroDivisionError)):
        solve(["x = 1", IMPORTS, STUB, "y = x", cell], {"f": solution})


@pytest.mark.parametrize("exercise", IN_LESSONS)
def test_a_known_mistake_in_the_place_of_the_stub_is_named_in_the_lesson(exercise):
    code = cells(notebook_of(exercise))
    checks = [source for source in code if f'check("{exercise.name}", {exercise.name})' in source]
    mistake = next(iter(exercise.mistakes.values()))
    given = {"check": exercises.check, exercise.name: mistake.variants[0].answer}
    assert run(checks, given).startswith(f"✗ {exercise.name}: {mistake.name}")


def test_the_glossary_is_gathered_from_the_lessons():
    committed = (Path(__file__).parents[2] / "notebooks" / "glossary.md").read_text(encoding="utf-8")
    assert committed == glossary(NOTEBOOKS)


def test_no_term_is_new_twice():
    terms = [term for path in NOTEBOOKS for term, _ in terms_of(path)]
    assert len(terms) >= 5 * len(NOTEBOOKS) - 5
    assert sorted(terms, key=str.lower) == sorted(set(terms), key=str.lower)
