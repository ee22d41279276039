"""A fresh copy of a lesson, the learner's kept beside it: python -m transformer_lessons reset."""

import argparse
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from transformer_lessons.tools import atomic
from transformer_lessons.tools.install import ROOT

DESCRIPTION = """Put a fresh copy of a lesson in its place. What was there is kept beside it: 03_scaling.ipynb
becomes 03_scaling.mine.ipynb, and the next time 03_scaling.mine-2.ipynb. The fresh copy is the lesson as this
version of the course has it, taken from the clone's git history: your changes and commits do not
touch it. Without git, or when its history lacks the lesson, nothing changes."""
ORIGINALS = Path(__file__).with_name("originals.txt")


def reset_lesson(arguments):
    parser = argparse.ArgumentParser(prog="python -m transformer_lessons reset", description=DESCRIPTION)
    parser.add_argument("notebook", nargs="?", help="a lesson's number, its name, or the path of your copy")
    parser.add_argument(
        "--remember", action="store_true", help="for maintainers: take the lessons in notebooks as the fresh ones"
    )
    options = parser.parse_args(arguments)
    if options.remember == bool(options.notebook):
        parser.error("name one notebook, or say --remember")
    try:
        print(remember() if options.remember else restore(options.notebook))
    except ValueError as refusal:
        print(refusal, file=sys.stderr)
        return 1
    return 0


def known_lessons():
    """{name: git's hash of its content} for the course's lessons, in order."""
    return dict(reversed(line.split(" ", 1)) for line in ORIGINALS.read_text(encoding="utf-8").splitlines())


def original(name):
    """A lesson as this version of the course has it, whatever a reader has made of it since; None if it is lost."""
    known, path = known_lessons().get(name), ROOT / "notebooks" / name
    data = path.read_bytes() if path.is_file() else b""
    return data if known and blob(data) == known else from_git(known) if known else None


def restore(notebook):
    """Puts the fresh copy in place; returns a sentence that says what was done."""
    path, known = find(notebook), known_lessons()
    if path.name not in known:
        raise ValueError(f"The course has no {path.name}. Its lessons are {', '.join(known)}.")
    if path.exists() and blob(path.read_bytes()) == known[path.name]:
        return f"{path} is fresh already."
    original = from_git(known[path.name])
    if original is None:
        raise ValueError(
            f"{ROOT} has no git history with the course's {path.name}, so nothing was changed. "
            "A clone of the course has one."
        )
    kept = keep(path) if path.exists() else None
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write(path, original)
    return f"{path} is fresh. " + (f"Yours is {kept.name}, beside it." if kept else "There was none before.")


def find(notebook):
    """The path of the notebook that a learner names by number, name or path."""
    folder = ROOT / "notebooks"
    if notebook.isdecimal():
        found = [folder / name for name in known_lessons() if int(name[:2]) == int(notebook)]
        if not found:
            raise ValueError(f"There is no lesson {notebook}: the course has {', '.join(known_lessons())}.")
        return found[0]
    path = Path(notebook if notebook.endswith(".ipynb") else notebook + ".ipynb")
    return path if path.exists() or path.name != str(path) else folder / path


def blob(data):
    """The hash by which git knows a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def from_git(name):
    """The content with that hash in the clone's history, or None."""
    try:
        found = subprocess.run(["git", "cat-file", "blob", name], cwd=ROOT, capture_output=True)
    except OSError:  # no git
        return None
    return found.stdout if blob(found.stdout) == name else None


def keep(path):
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


def remember():
    """Records the hash of each lesson's content, by which git will find it."""
    paths = sorted((ROOT / "notebooks").glob("??_*.ipynb"))
    lines = [f"{blob(path.read_bytes())} {path.name}\n" for path in paths if ".mine" not in path.name]
    ORIGINALS.write_text("".join(lines), encoding="utf-8")
    return f"{ORIGINALS.name} knows {len(lines)} lessons."
