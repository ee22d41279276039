"""Progress: what a learner has solved is found by running notebooks, whatever state they are in."""

import hashlib
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from transformer_lessons import install, progress
from transformer_lessons.exercises.exercise import EXERCISES

LESSONS = sorted((Path(__file__).parents[1] / "notebooks").glob("0?_*.ipynb"))
IMPORTS = "import torch\nfrom transformer_lessons.exercises import answer, check"
STUB = EXERCISES["causal_mask"].stub
RIGHT = EXERCISES["causal_mask"].solution_text()
CHECK = 'report = check("causal_mask", causal_mask)'
RIGHT_WITH_HELP = "def causal_mask(length):\n    return full(length).tril()"
MENDED = "def mended(length):\n    raise NotImplementedError"
CHECK_MENDED = 'check("causal_mask", mended)'
INVERTED = "def causal_mask(length):\n    return ~torch.ones(length, length, dtype=torch.bool).tril()"


def write(folder, name, *sources, **tags):
    cells = [new_markdown_cell("# A lesson"), *(new_code_cell(source) for source in [IMPORTS, *sources])]
    for number, tag in tags.items():
        cells[int(number.lstrip("_")) + 1].metadata["tags"] = [tag]
    nbformat.write(new_notebook(cells=cells), folder / name)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What the command prints of a folder: notebook → its lines; and whether the folder is as it was."""
    folder = tmp_path_factory.mktemp("notebooks")
    ask, other = 'answer("1.1")', CHECK.replace("causal", "padding")
    helper = "def full(length):\n    return torch.ones(length, length, dtype=torch.bool)"
    write(folder, "untouched.ipynb", STUB, CHECK, ask, 'answer("1.2")')
    write(folder, "helped.ipynb", helper, "1 / 0", RIGHT_WITH_HELP, CHECK, 'answer("1.1", 4)')
    write(folder, "mistaken.ipynb", INVERTED, CHECK, 'answer("1.1", 14)', MENDED, CHECK_MENDED)
    write(folder, "repaired.ipynb", INVERTED, CHECK, RIGHT, CHECK, ask, 'answer("1.1", 4)')
    write(folder, "broken.ipynb", RIGHT, CHECK, other, "raise ValueError('mine')")
    write(folder, "purpose.ipynb", INVERTED, CHECK, RIGHT, _2="wrong-on-purpose")
    nbformat.write(new_notebook(cells=[new_code_cell("1 / 0")]), folder / "no_lesson.ipynb")
    (folder / "no_notebook.ipynb").write_text("{")
    before = state(folder)
    command = [sys.executable, "-X", "utf8", "-m", "transformer_lessons", "progress", folder]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=install.ROOT)
    assert result.returncode == 0, result.stderr
    *tables, total = result.stdout.strip().split("\n\n")
    found = {table.splitlines()[0].removesuffix(".ipynb"): table.splitlines()[1:] for table in tables}
    return found, total, state(folder) == before


def state(folder):
    """All files in a folder, and what they hold."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*")}


def row(mark, name, words):
    return f"  {mark} {name:<50} {words}"


@pytest.mark.parametrize(("name", "lines"), {
    "untouched": [row("○", "causal_mask", "untouched"), "    questions: 0 right, 2 open"],
    "helped": [row("✓", "causal_mask", "passed"), "    questions: 1 right, 0 open"],
    "mistaken": [row("✗", "causal_mask", "failed: the mask inverted"),
                 row("○", "causal_mask, as mended", "untouched"),
                 "    questions: 0 right, 1 wrong (1.1), 0 open"],
    "repaired": [row("✓", "causal_mask", "passed"), "    questions: 1 right, 0 open"],
    "broken": [row("✓", "causal_mask", "passed"), row("○", "padding_mask", "not reached"),
               "  ! code cell 4: NameError: name 'padding_mask' is not defined",
               "  ! code cell 5: ValueError: mine"],
    "purpose": [],
}.items())
def test_the_table_tells_what_is_solved(told, name, lines):
    assert told[0][name] == lines


def test_what_is_no_lesson_is_passed_over(told):
    assert set(told[0]) == {"untouched", "helped", "mistaken", "repaired", "broken", "purpose"}


def test_the_total_counts_the_exercises(told):
    assert told[1] == "3 of 6 passed, 1 failed."


def test_no_file_is_changed_and_none_is_left(told):
    assert told[2]


def test_a_cell_that_never_ends_is_stopped_and_a_dead_kernel_ends_the_notebook(tmp_path):
    sources = ["print('first')", "print('then')\nwhile True:\n    pass", "print('on')",
               "import os\nos._exit(1)", "print('never')"]
    shown = progress.run_cells(tmp_path, dict(enumerate(sources)), limit=3)
    assert shown == {0: ("first\n", None), 1: ("then\n", "stopped after 3 s"), 2: ("on\n", None),
                     3: ("", "the kernel died")}


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_untouched_needs_few_of_its_cells(path):
    sources = [source for source, _ in progress.cells_of(path)]
    chosen = progress.needed(sources)
    assert sum(chosen) <= 0.6 * len(chosen)
    assert all(take for source, take in zip(sources, chosen, strict=True) if "check(" in source)


@pytest.mark.parametrize(("chosen", "sources"), {
    "a helper of a helper": ("10111", ["a = 1", "b = 2", "def f():\n    a", "x = f()", "check('x', x)"]),
    "only what comes before": ("10", ["check('x', x)", "x = 1"]),
    "a local name needs nothing": ("011", ["y = 1", "def f(y):\n    z = y\n    return z", "check('f', f)"]),
    "a global statement makes": ("101", ["def f():\n    global x\n    x = 1", "y = 2", "check('x', x)"]),
    "an import makes": ("101", ["import math as m", "import os", "check('x', m.pi)"]),
    "a class body uses": ("111", ["size = 1", "class A:\n    n = size", "check('A', A)"]),
    "a method uses": ("101", ["a = 1", "b = 2", "class A:\n    def f(self):\n        a\n\ncheck('A', A)"]),
    "these may make anything": ("1111", ["%run x", "from math import *", "exec('x = 1')", "check('x', x)"]),
    "a model's eval is no eval": ("01", ["model.eval()", "check('x', x)"]),
    "a magic needs what it names": ("1010", ["x = 1", "y = 2", "%timeit x", "1"]),
}.values())
def test_a_cell_runs_when_a_verdict_needs_it(chosen, sources):
    assert "".join("01"[take] for take in progress.needed(sources)) == chosen


def test_a_headline_over_two_lines_is_one_name():
    said = "✗ attention: one mistake\n  and another.\n  Why it is wrong.\n"
    said += "✓ softmax\n○ 1.1 A title\n✗ 3: a bug\n"
    marks = progress.marks_in(said)
    assert [(mark, name) for mark, name, _ in marks] == [("✗", "attention"), ("✓", "softmax"), ("○", "1.1")]
    assert progress.verdict(*marks[0][::2]) == "failed: one mistake and another"


def test_a_folder_without_lessons_is_refused_in_a_sentence(tmp_path, capsys):
    assert progress.run([str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"{tmp_path} holds no notebook with exercises.\n"


def test_a_python_without_jupyter_hands_over_to_the_environment(tmp_path, monkeypatch, capsys):
    handed = []
    monkeypatch.setattr(install, "has", lambda module: False)
    monkeypatch.setattr(install, "run_to_its_end", lambda *command: handed.append(command) or 0)
    monkeypatch.setattr(install, "PYTHON", tmp_path / "python")
    assert progress.run([]) == 1
    assert capsys.readouterr().err.startswith("Nothing is installed yet: python3 -m transformer_lessons lab")
    install.PYTHON.touch()
    monkeypatch.setattr(install, "VENV", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert progress.run(["mine", "--limit", "5"]) == 0
    command = (install.PYTHON, "-m", "transformer_lessons", "progress", tmp_path / "mine", "--limit", 5)
    assert handed == [command]
