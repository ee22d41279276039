"""A learner's notebook passes exactly when nothing in it is wrong, whatever has been done of it."""

import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker.card import card
from transformer_lessons.exercises.checker.registry import EXERCISES

ROOT = Path(__file__).resolve().parents[2]
LESSONS = [nbformat.read(path, as_version=4) for path in sorted((ROOT / "notebooks").glob("??_*.ipynb"))]
LESSON_CELLS = [cell for lesson in LESSONS for cell in lesson.cells if cell.cell_type == "code"]
IMPORTS = "\n".join(lesson.cells[2].source for lesson in LESSONS)
# The first exercise of each lesson, and a class: the rules see only the words of a verdict, which for the others are
# those that test_lessons.py asks for.
TRIED = {exercise.lesson: exercise for exercise in list(EXERCISES.values())[::-1]}.values()
TRIED = {exercise.name: exercise for exercise in [*TRIED, EXERCISES["AttentionHead"]]}
MISTAKES = {name: list(exercise.mistakes)[:1] for name, exercise in TRIED.items()}


def shown(text):
    return [new_output("stream", name="stdout", text=text + "\n")]


def untouched(exercise):
    return f'○ {exercise.name}: not attempted yet. Stuck? hint("{exercise.name}")'


def stub_and_check(exercise):
    """The two cells as they stand in the lesson; as they would, where it is not written yet."""
    call = f'check("{exercise.name}", {exercise.name})'
    for stub, asked in itertools.pairwise(LESSON_CELLS):
        if call in asked.source:
            return stub, asked
    return new_code_cell(exercise.stub), new_code_cell(f"report = {call}", outputs=shown(untouched(exercise)))


def mistaken(name, mistake):
    """Source of a cell that makes this mistake."""
    return (
        f"from transformer_lessons.exercises.checker.registry import EXERCISES\n"
        f"{name} = EXERCISES[{name!r}].mistakes[{mistake!r}].variants[0].answer"
    )


class Notebook:
    """Cells of one notebook, and which of them shows what."""

    def __init__(self, imports=IMPORTS):
        self.cells = [new_code_cell(imports, execution_count=1)]
        self.numbers = {}

    def add(self, what, *sources, saved=(), count=1, tags=()):
        """Sources in cells of their own; the last was saved with these outputs."""
        self.cells += [new_code_cell(source, execution_count=count) for source in sources]
        self.cells[-1].update(outputs=list(saved), metadata={"tags": list(tags)})
        self.numbers[what] = len(self.cells) - 1

    def add_exercise(self, exercise):
        """An exercise in its states, each of them saved untouched."""
        stub, asked = stub_and_check(exercise)
        states = {"untouched": stub.source, "solved": exercise.solution_text()}
        states |= {mistake: mistaken(exercise.name, mistake) for mistake in MISTAKES[exercise.name]}
        for state, source in states.items():
            self.add((exercise.name, state), source, asked.source, saved=asked.outputs)

    def add_others(self):
        """Questions, bugs and slips; what is saved otherwise than untouched."""
        ask, call = 'answer("1.1")', 'report = check("causal_mask", causal_mask)'
        question = next(cell.outputs for cell in LESSON_CELLS if cell.source == ask)
        wrong = mistaken("causal_mask", "the mask inverted")
        inverted = EXERCISES["causal_mask"].mistakes["the mask inverted"].variants[0]
        verdict = check("causal_mask", inverted.answer)
        self.add("a question open", ask, saved=question)
        self.add("a question answered", 'answer("1.1", 4)', saved=question)
        self.add("an answer saved, the question open", ask, saved=shown("✓ 1.1 A title: right\nThe reason."))
        self.add("two questions", f'{ask}\nanswer("1.1", 4)', saved=shown("✓ 1.1 A\nB\n✓ 1.1 C\nD"))
        self.add("a question answered wrong", 'answer("1.1", 14)', saved=question)
        self.add("a bug with another symptom", 'print("✗ 3: one symptom")', saved=shown("✗ 3: another"))
        self.add("a fixed bug", 'print("✓ 3: fixed")', saved=shown("✗ 3: a symptom"))
        self.add("other numbers", "print(0.25)", saved=shown("0.26"))
        self.add("an error", "1 / 0")
        self.add("a mistake that was saved", wrong, call, saved=shown(verdict.message))
        self.add("a mistake never run", wrong, call, count=None)
        self.add("a mistake that is not compared", wrong, call, tags=["nbval-ignore-output"])
        self.add("a mistake on purpose", wrong, call, saved=shown(verdict.message), tags=["wrong-on-purpose"])
        self.add("a solution saved, now untouched", "causal_mask = None", call, saved=shown("✓ causal_mask"))
        remark = 'print("✓ causal_mask\\n  The numbers are right, but the gradient\\n  of `x` is not.")'
        self.add("a solution with a remark", remark, saved=shown(untouched(EXERCISES["causal_mask"])))
        text, page = "✓ causal_mask", card("passed", "✓ causal_mask", [])
        self.add(
            "a card that was saved",
            "causal_mask = None",
            call,
            saved=[
                new_output(
                    "display_data",
                    {"text/plain": text, "text/html": page},
                    metadata={"transformer_lessons": {"card": True}},
                )
            ],
        )
        self.add(
            "no such exercise",
            'report = check("casual_mask", causal_mask)',
            saved=shown(untouched(EXERCISES["causal_mask"])),
        )


PASSING = [
    "a question open",
    "a question answered",
    "an answer saved, the question open",
    "two questions",
    "a bug with another symptom",
    "a fixed bug",
    "a mistake on purpose",
    "a solution saved, now untouched",
    "a solution with a remark",
    "a card that was saved",
]
FAILING = {
    "a question answered wrong": "✗ 1.1 A weighted average by hand: not yet",
    "other numbers": "0.26",
    "an error": "ZeroDivisionError",
    "a mistake that was saved": "✗ causal_mask: the mask inverted",
    "a mistake never run": "✗ causal_mask: the mask inverted",
    "a mistake that is not compared": "✗ causal_mask: the mask inverted",
    "no such exercise": "Did you mean causal_mask?",
}


def run(path, *arguments):
    """What pytest says of the notebooks there, as in a learner's CI."""
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", *arguments, path]
    surroundings = os.environ | {"PYTHONUTF8": "1", "CI": "", "COLUMNS": "200"}  # CI: no messages twice
    result = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=path.parent, env=surroundings)
    return result.stdout


@pytest.fixture(scope="module")
def marked(tmp_path_factory):
    """what → (passed?, the report on it), and all that pytest said."""
    notebook = Notebook()
    for exercise in TRIED.values():
        notebook.add_exercise(exercise)
    notebook.add_others()
    path = tmp_path_factory.mktemp("learner") / "mine.ipynb"
    nbformat.write(new_notebook(cells=notebook.cells), path)
    said = run(path, "-p", "learner", "-c", ROOT / "pyproject.toml", "--rootdir", path.parent)
    passed = set(re.findall(r"^PASSED mine\.ipynb::Cell (\d+)$", said, flags=re.MULTILINE))
    _, *parts = re.split(r"^_+ mine\.ipynb::Cell (\d+) _+$", said, flags=re.MULTILINE)
    reports = dict(zip(parts[::2], parts[1::2], strict=True))
    verdicts = {
        what: (str(number) in passed, reports.get(str(number), "")) for what, number in notebook.numbers.items()
    }
    return verdicts, said


@pytest.mark.parametrize("state", ["untouched", "solved"])
@pytest.mark.parametrize("exercise", TRIED)
def test_an_exercise_that_is_not_wrong_passes(marked, exercise, state):
    assert marked[0][exercise, state] == (True, "")


@pytest.mark.parametrize(
    ("exercise", "mistake"), [(exercise, name) for exercise in MISTAKES for name in MISTAKES[exercise]]
)
def test_a_mistake_fails_and_the_report_names_it(marked, exercise, mistake):
    passed, report = marked[0][exercise, mistake]
    assert not passed
    assert " ".join(f"✗ {exercise}: {mistake}".split()) in " ".join(report.split())


@pytest.mark.parametrize("what", PASSING)
def test_nothing_is_wrong_with(marked, what):
    assert marked[0][what] == (True, "")


@pytest.mark.parametrize("what", FAILING)
def test_something_is_wrong_with(marked, what):
    passed, report = marked[0][what]
    assert not passed
    assert FAILING[what] in report


def test_every_lesson_has_an_exercise_with_a_mistake_to_try():
    assert {exercise.lesson for exercise in TRIED.values()} == set(range(1, len(LESSONS) + 1))
    assert {len(names) for names in MISTAKES.values()} == {1}


def test_shape_comments_are_the_learners_own_business(marked):
    assert "shape comments" not in marked[1]


def test_the_rules_alone_tell_the_same_of_a_notebook_saved_untouched(tmp_path):
    notebook = Notebook("import torch\nfrom transformer_lessons.exercises import check")
    notebook.add_exercise(EXERCISES["causal_mask"])
    path = tmp_path / "mine.ipynb"
    nbformat.write(new_notebook(cells=notebook.cells), path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")  # a repository of the learner's own
    shutil.copy(ROOT / "tests/notebooks/learner.cfg", tmp_path)
    said = run(path, "--nbval", "--nbval-current-env", "--nbval-sanitize-with", "learner.cfg")
    failed = {int(number) for number in re.findall(r"^FAILED \S+::Cell (\d+)", said, flags=re.MULTILINE)}
    wrong = {notebook.numbers["causal_mask", mistake] for mistake in MISTAKES["causal_mask"]}
    assert failed == wrong
    assert "✗ causal_mask: the mask inverted" in said
