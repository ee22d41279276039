"""What a learner has solved, and what comes next. It is kept in a small file beside the environment.

It is a convenience, and proves nothing: verdicts in a notebook, `progress` and `lab` read it, marking never does.
Uses only the standard library, in syntax that Python 3.7 can read: it runs where nothing is installed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from transformer_lessons.basis import atomic, chat_model

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = "TRANSFORMER_LESSONS_SOLVED"  # an environment variable that names another file
NAME = re.compile(r"\w+|\d+\.\d+")  # of an exercise, or the number of a question
PATIENCE = 2  # seconds to wait for another kernel that is writing
COURSE = 8  # lessons 1 to 8 are the course, and those after them go beyond it
LESSON = re.compile(r"\d\d_\w+\.ipynb")  # the name of a notebook
# By line: all lessons are read after a verdict, and parsing them (cells.asked_in) would take too long.
CALL = re.compile(r"""^(?:\w+ = )?(check|answer)\(["']([\w.]+)["'](?:, (\w+))?""", re.MULTILINE)

# The notebook's file, the name of an exercise or the number of a question, the heading that it stands below, and the id
# of the cell where it begins: an exercise at its heading, a question at itself.
Step = namedtuple("Step", "lesson, name, heading, cell")


# --- what is remembered -------------------------------------------------------------------------------------


def path() -> Path:
    """The file: in the clone or, where the package is installed without one, where the chat model is kept."""
    if os.environ.get(ELSEWHERE):
        return Path(os.environ[ELSEWHERE])
    return ROOT / ".solved.txt" if (ROOT / "pyproject.toml").exists() else chat_model.path().with_name("solved.txt")


def solved() -> list[str]:
    """The names of exercises and numbers of questions, in the order in which they were first solved.

    A file that holds anything else is damaged: it is set aside, and nothing is remembered.
    """
    try:
        lines = path().read_bytes().decode().splitlines()
        if not all(NAME.fullmatch(line) for line in lines):
            raise ValueError
        return lines
    except ValueError:
        with contextlib.suppress(OSError):
            os.replace(str(path()), f"{path()}.damaged")
    except OSError:
        pass
    return []


def remember(names: Iterable[str]) -> None:
    """Adds names to those that are solved. Where the file cannot be written, nothing is remembered."""
    change(lambda known: [*known, *(name for name in OrderedDict.fromkeys(names) if name not in known)])


def forget(names: Iterable[str]) -> None:
    """Takes names away again."""
    change(lambda known: [name for name in known if name not in names])


def change(new: Callable[[list[str]], list[str]]) -> None:
    """Replaces the remembered names by new(names); two kernels that do so at once wait for each other."""
    with contextlib.suppress(OSError):
        path().parent.mkdir(parents=True, exist_ok=True)
        with open(f"{path()}.lock", "ab") as lock:
            deadline = time.monotonic() + PATIENCE
            while not atomic.hold(lock) and time.monotonic() < deadline:
                time.sleep(0.01)
            known = solved()
            if new(known) != known:
                atomic.write(path(), "".join(f"{name}\n" for name in new(known)).encode())


# --- what there is to solve ---------------------------------------------------------------------------------


def lessons(root: Path | None = None) -> list[Path]:
    """The paths of the lessons, in order, in this clone or in another."""
    return sorted(path for path in (root or ROOT).glob("notebooks/*.ipynb") if LESSON.fullmatch(path.name))


def steps(lesson: Path) -> list[Step]:
    """The steps of a lesson, in reading order; none if the notebook cannot be read.

    Where an exercise is checked under another name than its own, as in a bug hunt, that is no step.
    """
    try:
        cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
        found, heading, beginning = OrderedDict(), "", ""
        for cell in cells:
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                headings = re.findall(r"^#+ (.+)$", source, re.MULTILINE)
                if headings:
                    heading, beginning = headings[-1], cell.get("id", "")
            elif cell["cell_type"] == "code":
                for function, name, subject in CALL.findall(source):
                    if function == "answer" or subject == name:
                        start = cell.get("id", "") if function == "answer" else beginning
                        found.setdefault(name, Step(lesson.name, name, heading, start))
        return list(found.values())
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []


def is_question(name: str) -> bool:
    return "." in name


def is_done(lesson: Path, known: Iterable[str]) -> bool:
    """Whether every exercise of a lesson is solved."""
    exercises = [step.name for step in steps(lesson) if not is_question(step.name)]
    return bool(exercises) and set(exercises) <= set(known)


def next_step(known: Collection[str], after: str | None = None) -> Step | None:
    """The first unsolved step after this one, in its lesson or a later one, or else the first of the course."""
    course = (step for lesson in lessons() for step in steps(lesson))
    before, passed = [], after is None
    for step in course:
        if passed and step.name not in known:
            return step
        passed = passed or step.name == after
        before.append(step)
    return next((step for step in before if step.name not in known), None)
