"""A fresh copy of a lesson, the learner's kept beside it: python -m transformer_lessons reset."""

import argparse
import difflib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from transformer_lessons.basis import atomic, memory
from transformer_lessons.tools.install import COMMAND, ROOT

DESCRIPTION = """Put a fresh copy of a lesson in its place. What was there is kept beside it: 03_scaling.ipynb
becomes 03_scaling.mine.ipynb, and the next time 03_scaling.mine-2.ipynb. The fresh copy is the newest version
in the clone's git history that nobody has worked in, so your own commits do not count. Without git, or when
its history lacks the lesson, nothing changes."""


def reset_lesson(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog=f"{COMMAND} reset", description=DESCRIPTION)
    parser.add_argument("notebook", help="a lesson's number, its name, or the path of your copy")
    options = parser.parse_args(arguments)
    try:
        print(restore(options.notebook))
    except ValueError as refusal:
        print(refusal, file=sys.stderr)
        return 1
    return 0


def restore(notebook: str) -> str:
    """Puts the fresh copy in place; returns a sentence that says what was done."""
    path = find(notebook)
    original = fresh_copy(path.name)
    if path.exists() and path.read_bytes() == original:
        return f"{path} is fresh already."
    kept = keep(path) if path.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(path, original)
    return f"{path} is fresh. " + (f"Yours is {kept.name}, beside it." if kept else "There was none before.")


def find(notebook: str) -> Path:
    """The path of the notebook that a learner names by number, name or path."""
    folder = ROOT / "notebooks"
    if notebook.isdecimal():
        named = [name for name in lessons() if int(name[:2]) == int(notebook)]
        if not named:
            raise ValueError(f"There is no lesson {notebook}: the course has lessons {first_and_last()}.")
        return folder / named[0]
    path = Path(notebook if notebook.endswith(".ipynb") else notebook + ".ipynb")
    return path if path.exists() or path.name != str(path) else folder / path


def lessons() -> list[str]:
    """The names of the lessons, in order, those included that are no longer in the folder."""
    committed = [Path(path).name for path in git("ls-tree", "--name-only", "HEAD", "notebooks/").decode().splitlines()]
    here = {path.name for path in memory.lessons(ROOT)}
    return sorted(here | {name for name in committed if memory.LESSON.fullmatch(name)})


def first_and_last() -> str:
    """1 to 12"""
    numbers = [int(name[:2]) for name in lessons()]
    if not numbers:
        raise ValueError(f"There are no lessons in {ROOT / 'notebooks'}.")
    return f"{numbers[0]} to {numbers[-1]}"


def fresh_copy(name: str) -> bytes:
    """The newest untouched version of a lesson in the clone's history."""
    commits = git("log", "--full-history", "--format=%H", "--", f"notebooks/{name}").decode().split()
    if not commits and name not in lessons():
        stems = [lesson.removesuffix(".ipynb") for lesson in lessons()]
        near = difflib.get_close_matches(name.removesuffix(".ipynb"), stems, 1)
        hint = f"did you mean {near[0]}?" if near else f"name a lesson by its number, {first_and_last()}."
        raise ValueError(f"The course has no {name}: {hint}")
    if not commits:
        raise ValueError(f"{ROOT} has no git history of {name}, so nothing was changed. A clone of the course has one.")
    for commit in commits:
        content = git("show", f"{commit}:./notebooks/{name}")
        if is_untouched(content):
            return content
    raise ValueError(
        f"In the git history of {ROOT}, every version of {name} has been worked in, so nothing was changed. "
        "If the clone is a shallow one, this brings older versions: git fetch --unshallow"
    )


def original(name: str) -> bytes | None:
    """A lesson as the course has it, whatever a reader has made of it since; None if no such copy is left."""
    path = ROOT / "notebooks" / name
    content = path.read_bytes() if path.is_file() else b""
    if is_untouched(content):
        return content
    try:
        return fresh_copy(name)
    except ValueError:
        return None


def git(*arguments: str) -> bytes:
    """What git prints in the clone; nothing where there is no git, or it fails."""
    try:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True).stdout
    except OSError:
        return b""


def is_untouched(content: bytes) -> bool:
    """Whether a notebook is as the course commits it: nothing is begun or answered, nothing has saved it after a run.

    Jupyter, VS Code and Colab note in a notebook which Python ran it. The course's lessons are committed without.
    """
    try:
        notebook = json.loads(content)
        about = notebook["metadata"]
        code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    except (ValueError, LookupError, TypeError):
        return False
    bare = about.keys() <= {"kernelspec", "language_info"} and about.get("language_info", {}).keys() <= {"name"}
    answers = [code[number - 1] for number, source in enumerate(code) if re.match(r"\w*report = check\(", source)]
    questions = [source for source in code if source.startswith("answer(")]
    return (
        bare
        and all(re.search(r"^ +raise NotImplementedError(  # .*)?$", answer, re.MULTILINE) for answer in answers)
        and all(re.fullmatch(r'answer\("[\d.]+"\)', question) for question in questions)
    )


def keep(path: Path) -> Path:
    """Copies a learner's notebook beside itself, under a name that is free."""
    number = 1
    while True:
        kept = path.with_name(f"{path.stem}.mine{'' if number == 1 else f'-{number}'}.ipynb")
        try:
            with kept.open("xb") as copy:
                copy.write(path.read_bytes())
        except FileExistsError:
            number += 1
            continue
        except BaseException:  # a full disk, or Ctrl-C: leave no half copy
            kept.unlink(missing_ok=True)
            raise
        shutil.copystat(path, kept)
        return kept
