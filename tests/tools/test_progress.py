"""Progress: what a learner has solved is found by running notebooks, whatever state they are in."""

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from transformer_lessons.basis import memory, terminal
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.tools import install, progress

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("??_*.ipynb"))
IMPORTS = "import torch\nfrom transformer_lessons.exercises import answer, check"
STUB = EXERCISES["causal_mask"].stub
RIGHT = EXERCISES["causal_mask"].solution_text()
CHECK = 'report = check("causal_mask", causal_mask)'
RIGHT_WITH_HELP = "def causal_mask(length):\n    return full(length).tril()"
FIXED = "def fixed(length):\n    raise NotImplementedError"
CHECK_FIXED = 'check("causal_mask", fixed)'
UNDIVIDED = "import numpy as np\n\n\ndef softmax(x):\n    return np.exp(x)"
INVERTED = "def causal_mask(length):\n    return ~torch.ones(length, length, dtype=torch.bool).tril()"


def write(folder, name, *sources, **tags):
    cells = [new_markdown_cell("# A lesson"), *(new_code_cell(source) for source in [IMPORTS, *sources])]
    for number, tag in tags.items():
        cells[int(number.lstrip("_")) + 1].metadata["tags"] = [tag]
    nbformat.write(new_notebook(cells=cells), folder / name)


HOSTILE = """import helper
from transformer_lessons.exercises import check as judge
assert open("numbers.txt").read() == "1 2 3" and open("data/more.txt").read() == "4"
for name in ("06_masking.mine.ipynb", "numbers.txt", "new.txt"):
    open(name, "w").write("gone")
print("✓ padding_mask")"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What the command prints of a folder: notebook → its lines; the total; the exit code; is the folder as it was?"""
    folder = tmp_path_factory.mktemp("notebooks")
    ask, padding, other = 'answer("1.1")', EXERCISES["padding_mask"].stub, CHECK.replace("causal", "padding")
    helper = "def full(length):\n    return torch.ones(length, length, dtype=torch.bool)"
    write(
        folder,
        "helped.ipynb",
        helper,
        "1 / 0",
        RIGHT_WITH_HELP,
        CHECK,
        padding,
        other,
        'answer("1.1", 4)',
        'answer("1.2")',
    )
    repaired = [INVERTED, CHECK, RIGHT, CHECK, INVERTED, CHECK, ask, 'answer("1.1", 4)']
    mistaken = [UNDIVIDED, 'check("softmax", softmax)', 'answer("1.2", "a")', FIXED, CHECK_FIXED]
    broken = ["raise ValueError('mine')", other]
    write(folder, "mistaken.ipynb", *repaired, *mistaken, *broken, _6="wrong-on-purpose")
    write(folder, "06_masking.mine.ipynb", HOSTILE, RIGHT, 'report = judge("causal_mask", causal_mask)')
    nbformat.write(new_notebook(cells=[new_code_cell("1 / 0")]), folder / "no_lesson.ipynb")
    (folder / "no_notebook.ipynb").write_text("{")
    (folder / "no_cells.ipynb").write_text("[]")
    (folder / "data").mkdir()
    for name, text in {"numbers.txt": "1 2 3", "data/more.txt": "4", "helper.py": ""}.items():
        (folder / name).write_text(text)
    before = state(folder)
    command = [sys.executable, "-X", "utf8", "-m", "transformer_lessons", "progress", "--run", folder]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=install.ROOT)
    assert result.stderr == ""
    *tables, total = result.stdout.strip().split("\n\n")
    rows = {table.splitlines()[0].removesuffix(".ipynb"): table.splitlines()[1:] for table in tables}
    return rows, total, result.returncode, state(folder) == before


def state(folder):
    """All files in a folder, and what they hold."""
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


def row(mark, name, words):
    return f"  {mark} {name:<50} {words}"


@pytest.mark.parametrize(
    ("name", "lines"),
    {
        "helped": [
            row("✓", "causal_mask", "passed"),
            row("○", "padding_mask", "untouched"),
            "    questions: 1 right, 1 open",
        ],
        "mistaken": [
            row("✓", "causal_mask", "passed"),
            row("✗", "softmax", "failed: not divided by the sum"),
            row("○", "causal_mask, as fixed", "untouched"),
            row("○", "padding_mask", "not reached"),
            "    questions: 1 right, 1 wrong (1.2), 0 open",
            "  ! code cell 15: ValueError: mine",
            "  ! code cell 16: NameError: name 'padding_mask' is not defined",
        ],
        "06_masking.mine": [
            row("✓", "causal_mask", "passed"),
            row("○", "padding_mask", "check removed"),
            row("○", "masked_softmax", "check removed"),
            row("○", "future_leak", "check removed"),
        ],
        "no_lesson": ["    no exercises"],
        "no_notebook": ["  ! is damaged: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"],
        "no_cells": ["  ! is not a notebook: it has no list of cells"],
    }.items(),
)
def test_the_table_tells_what_is_solved(told, name, lines):
    assert told[0][name] == lines


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_notebook_may_begin_with_a_byte_order_mark(tmp_path, encoding):
    book = new_notebook(cells=[new_code_cell(CHECK)])
    (tmp_path / "marked.ipynb").write_text(nbformat.writes(book), encoding=encoding)
    assert progress.cells_of(tmp_path / "marked.ipynb") == [(CHECK, [])]


def test_nothing_in_the_folder_is_skipped_silently(told):
    assert set(told[0]) == {"helped", "mistaken", "06_masking.mine", "no_lesson", "no_notebook", "no_cells"}


def test_the_total_counts_the_exercises(told):
    assert told[1] == "3 of 9 passed, 1 failed."


def test_the_exit_code_is_1_because_something_is_failed_or_broken(told):
    assert told[2] == 1


def test_no_file_is_changed_and_none_is_left_though_a_cell_writes_over_them(told):
    assert told[3]


def test_a_cell_that_never_ends_is_stopped_and_a_dead_kernel_ends_the_notebook(tmp_path):
    tick = "import os\nopen(os.environ['TRANSFORMER_LESSONS_REPORTS'], 'a').write('7\\n')"
    sources = [tick, "import time\nwhile True:\n    time.sleep(0.01)", tick, "import os\nos._exit(1)", "print('never')"]
    shown, left_out = progress.run_cells(tmp_path / "a.ipynb", dict(enumerate(sources)), limit=2)
    assert shown == {0: ([7], None), 1: ([], "stopped after 2 s"), 2: ([7], None), 3: ([], "the kernel died")}
    assert left_out == []


def test_hidden_files_and_what_does_not_fit_are_not_copied_and_the_latter_is_reported(tmp_path, monkeypatch):
    source = tmp_path / "source"
    (source / "deep").mkdir(parents=True)
    for name, size in {"a": 10, "b": 100, ".hidden": 1, "deep/c": 10}.items():
        (source / name).write_bytes(bytes(size))
    (source / "nowhere").symlink_to(source / "gone")
    assert progress.copy_folder(source, tmp_path / "all") == []
    assert {str(path.relative_to(tmp_path / "all")) for path in (tmp_path / "all").rglob("*")} == {
        "a",
        "b",
        "deep",
        str(Path("deep/c")),
    }
    monkeypatch.setattr(progress, "ROOM", 50)
    assert progress.copy_folder(source, tmp_path / "some") == ["b", "deep"]
    assert [path.name for path in (tmp_path / "some").iterdir()] == ["a"]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_an_untouched_lesson_needs_six_in_ten_of_its_cells_at_most(path):
    sources = [source for source, _ in progress.cells_of(path)]
    chosen = progress.needed(sources)
    assert sum(chosen) <= 0.6 * len(chosen)
    assert all(take for source, take in zip(sources, chosen, strict=True) if "check(" in source)


@pytest.mark.parametrize(
    ("chosen", "sources"),
    {
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
    }.values(),
)
def test_a_cell_runs_when_a_verdict_needs_it(chosen, sources):
    assert "".join("01"[take] for take in progress.needed(sources)) == chosen


@pytest.mark.parametrize(
    ("status", "headline", "words"),
    [
        ("failed", "one mistake and another.", "failed: one mistake and another"),
        ("passed", "", "passed"),
        ("not attempted", "not attempted yet.", "untouched"),
        ("not attempted", "nothing to judge yet.", "nothing to judge yet"),
    ],
)
def test_a_verdict_is_summed_up_in_a_few_words(status, headline, words):
    assert progress.words({"status": status, "headline": headline}) == words


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("nowhere", "nowhere is not there: name a folder of notebooks, or a notebook.\n"),
        (".", "\\. holds no notebook with exercises.\n"),
        ("plain.ipynb", "plain.ipynb holds no notebook with exercises.\n"),
    ],
)
def test_a_missing_folder_and_one_without_exercises_are_two_sentences(tmp_path, monkeypatch, capsys, name, sentence):
    monkeypatch.chdir(tmp_path)
    nbformat.write(new_notebook(cells=[new_code_cell("1")]), "plain.ipynb")
    assert progress.show_progress([name]) == 1
    assert re.fullmatch(sentence, capsys.readouterr().err)


def test_help_names_the_folder_and_its_default(capsys, monkeypatch, tmp_path):
    with pytest.raises(SystemExit, match="0"):
        progress.show_progress(["--help"])
    usage = f"usage: {install.COMMAND} progress [-h] [--run] [--forget] [--limit SECONDS] [FOLDER] "
    assert " ".join(capsys.readouterr().out.split()).startswith(usage)
    monkeypatch.setattr(install, "ROOT", tmp_path)
    assert progress.show_progress(["--run"]) == 1
    assert capsys.readouterr().err.startswith(f"{tmp_path / 'notebooks'} is not there")
    assert progress.show_progress([]) == 1
    assert capsys.readouterr().err.startswith(f"{tmp_path / 'notebooks'} has no lessons")


@pytest.mark.parametrize("limit", ["-1", "0", "nan", "inf", "soon"])
def test_a_limit_that_is_none_is_refused(capsys, limit):
    with pytest.raises(SystemExit, match="2"):
        progress.show_progress(["--limit", limit])
    assert f"{limit}" in capsys.readouterr().err.splitlines()[-1]


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A clone of two lessons whose learner has solved nothing, and what is remembered of them."""
    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setattr(memory, "ROOT", tmp_path)
    monkeypatch.setenv(memory.ELSEWHERE, str(tmp_path / "solved.txt"))
    (tmp_path / "notebooks").mkdir()
    ask = 'answer("1.1")', 'report = check("softmax", softmax)', 'check("softmax", fixed)', 'answer("1.2")'
    write(tmp_path / "notebooks", "01_first.ipynb", *ask)
    write(tmp_path / "notebooks", "02_second.ipynb", 'check("attention", attention)', 'answer("2.1")')
    write(tmp_path / "notebooks", "01_first.mine.ipynb", 'check("attention", attention)')
    return tmp_path


def test_progress_shows_at_once_what_is_remembered_and_ends_in_the_next_step(clone, monkeypatch, capsys):
    monkeypatch.setattr(progress, "run_cells", None)  # which cannot be called
    monkeypatch.setattr(install, "has", lambda module: False)
    assert progress.show_progress([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "○ 01_first                 exercises 0 of 1   questions  0 of 2",
        "○ 02_second                exercises 0 of 1   questions  0 of 1",
    ]
    assert lines[3] == f"Begin: question 1.1, below “A lesson”, in {Path('notebooks/01_first.ipynb')}"
    memory.remember(["1.1", "softmax"])
    assert progress.show_progress([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "✓ 01_first                 exercises 1 of 1   questions  1 of 2"
    assert lines[3] == f"Next: question 1.2, below “A lesson”, in {Path('notebooks/01_first.ipynb')}"
    assert lines[4].startswith("A question that you have only clicked is not counted")
    memory.remember(["1.2", "attention", "2.1"])
    progress.show_progress([])
    assert "You have solved everything in this course." in capsys.readouterr().out
    assert progress.show_progress(["--forget"]) == 0
    assert memory.solved() == []


def test_a_run_remembers_what_has_passed_in_the_courses_own_folder_and_lab_skips_what_is_solved(clone):
    def opened():
        return Path(install.jupyterlab()[2]).name

    assert opened() == "01_first.ipynb"
    progress.note_solved(clone / "elsewhere" / "01_first.ipynb", ["softmax"])
    assert opened() == "01_first.ipynb"
    progress.note_solved(clone / "notebooks" / "01_first.ipynb", ["softmax"])
    assert opened() == "02_second.ipynb"
    progress.note_solved(clone / "notebooks" / "02_second.ipynb", ["attention"])
    assert opened() == "02_second.ipynb"  # all are solved


def test_a_notebook_that_progress_runs_shows_no_cards_wherever_it_is_called(monkeypatch, tmp_path):
    monkeypatch.setenv("JPY_SESSION_NAME", "lesson.ipynb")
    assert "JPY_SESSION_NAME" not in progress.environment(tmp_path / "verdicts")


def test_marks_have_colours_on_a_terminal_alone_and_not_against_the_readers_wish(monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert terminal.marked("✗") == "\033[31m✗\033[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert terminal.marked("✗") == "✗"
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    assert terminal.marked("✗") == "✗"


@pytest.mark.parametrize(
    ("name", "lesson"),
    [
        ("03_scaling.ipynb", 3),
        ("03_scaling.mine-2.ipynb", 3),
        ("03_scaling (1).ipynb", 3),
        ("03_own.ipynb", None),
        ("mine.ipynb", None),
    ],
)
def test_a_lesson_is_known_by_its_name(name, lesson):
    expected = [exercise for exercise in EXERCISES if EXERCISES[exercise].lesson == lesson]
    assert progress.expected_in(Path(name)) == expected


def test_a_python_without_jupyter_hands_over_to_the_environment(tmp_path, monkeypatch, capsys):
    handed = []
    monkeypatch.setattr(install, "has", lambda module: False)
    monkeypatch.setattr(install, "run_to_its_end", lambda *command: handed.append(command) or 0)
    monkeypatch.setattr(install, "PYTHON", tmp_path / "python")
    assert progress.show_progress(["--run"]) == 1
    assert capsys.readouterr().err.startswith("Nothing is installed yet: run python3 -m transformer_lessons lab")
    install.PYTHON.touch()
    monkeypatch.setattr(install, "VENV", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert progress.show_progress(["mine", "--limit", "5"]) == 0
    command = (install.PYTHON, "-m", "transformer_lessons", "progress", tmp_path / "mine", "--limit", 5)
    assert handed == [command]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_in_place_of_a_notebook_is_refused_at_once(tmp_path, capsys):
    os.mkfifo(tmp_path / "06_masking.ipynb")
    assert progress.show_progress([str(tmp_path / "06_masking.ipynb")]) == 1
    assert "is neither a folder nor a notebook" in capsys.readouterr().err
    with pytest.raises(ValueError, match="is not an ordinary file"):
        progress.cells_of(tmp_path / "06_masking.ipynb")
