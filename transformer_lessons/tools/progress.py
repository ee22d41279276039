"""What a learner has solved, found by running copies of the notebooks: python -m transformer_lessons progress."""

import argparse
import json
import logging
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from transformer_lessons.basis import memory, terminal
from transformer_lessons.basis.cells import cells_in, checks_in, names_in
from transformer_lessons.tools import install, reset

DESCRIPTION = """Show what you have solved, as your notebooks' verdicts remember it, and what comes next. With --run,
or with a folder or a notebook: run copies of the notebooks, and show which exercises are solved in them. Only the
cells that ask for a verdict run, with all that they need; if one of them fails, an answer is wrong or an exercise is
missing, the whole notebook runs, and that counts. Your files stay as they are: the copies run in a folder of their
own, with copies of the files beside them. The exit code is 1 if anything has failed or is broken."""
ON_PURPOSE = "wrong-on-purpose"  # the tag of a cell that shows a wrong answer to its reader
ROOM = 500_000_000  # bytes of files copied with a notebook, at most

Cell = tuple[str, list[str]]  # source and tags
Verdict = dict[str, Any]  # the fields of a Report
Said = tuple[list[Verdict], str | None]  # the verdicts in a cell, and what stopped it
Call = tuple[str, str]  # an exercise, and what is checked


def show_progress(arguments: list[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog=f"{install.COMMAND} progress", description=DESCRIPTION)
    add = parser.add_argument
    add(
        "folder",
        nargs="?",
        type=Path,
        metavar="FOLDER",
        help="a folder of notebooks, or one notebook, to run (with --run, by default: notebooks)",
    )
    add("--run", action="store_true", help="run copies of the notebooks")
    add("--forget", action="store_true", help="forget what you have solved")
    add("--limit", type=seconds, default=120, metavar="SECONDS", help="time limit for one cell (default: 120)")
    options = parser.parse_args(arguments)
    if options.forget:
        memory.forget(memory.solved())
        if memory.solved():
            return refuse(f"{memory.path()} cannot be written.")
        print("Forgotten.")
        return 0
    if not options.run and options.folder is None:
        return show_remembered()
    return run_and_show(options.folder or install.ROOT / "notebooks", options.limit)


def run_and_show(folder: Path, limit: float) -> int:
    """It needs Jupyter and PyTorch: if one is missing, the course's environment does the work."""
    if not (install.has("nbclient") and install.has("torch")):
        if not install.PYTHON.exists() or Path(sys.prefix) == install.VENV:
            return refuse(f"Nothing is installed yet: run {install.COMMAND} lab.")
        again = ["progress", folder.absolute(), "--limit", limit]
        return install.run_to_its_end(install.PYTHON, "-m", "transformer_lessons", *again)
    if not folder.exists():
        return refuse(f"{folder} is not there: name a folder of notebooks, or a notebook.")
    if not folder.is_dir() and not folder.is_file():
        return refuse(f"{folder} is neither a folder nor a notebook.")
    paths = sorted(folder.glob("[!.]*.ipynb")) if folder.is_dir() else [folder]
    results = [tell(path, limit) for path in paths]
    if not any(results):
        return refuse(f"{folder} holds no notebook with exercises.")
    return sum_up([result for result in results if result])


def seconds(text: str) -> float:
    """A time limit."""
    if not 0 < float(text) < math.inf:
        raise argparse.ArgumentTypeError(f"{text} must be more than 0, and finite")
    return float(text)


def refuse(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1


# --- what is remembered ---------------------------------------------------------------------------------


def show_remembered() -> int:
    """A line for each lesson, and the next step; nothing runs."""
    known = set(memory.solved())
    lessons = [(path, memory.steps(path)) for path in memory.lessons(install.ROOT)]
    if not lessons:
        return refuse(f"{install.ROOT / 'notebooks'} has no lessons: name a folder of notebooks, or a notebook.")
    for path, steps in lessons:
        exercises = [step.name for step in steps if not memory.is_question(step.name)]
        questions = [step.name for step in steps if memory.is_question(step.name)]
        solved, answered = known.intersection(exercises), known.intersection(questions)
        mark = "✓" if memory.is_done(path, known) else "○"
        print(
            f"{terminal.marked(mark)} {path.stem:<24} exercises {len(solved)} of {len(exercises)}"
            f"   questions {len(answered):>2} of {len(questions)}"
        )
    step = memory.next_step(known, after=last_of(lessons))
    begin = "Begin" if not known else "Next"
    print(f"\n{begin}: {place_of(step)}" if step else "\nYou have solved everything in this course.")
    print("A question that you have only clicked is not counted: type its answer in the cell, and run it.")
    print(f"To run the notebooks, and see what passes: {install.COMMAND} progress --run")
    return 0


def last_of(lessons: list[tuple[Path, list[memory.Step]]]) -> str | None:
    """The name of the step solved last; None if there is none."""
    names = {step.name for _, steps in lessons for step in steps}
    return next((name for name in reversed(memory.solved()) if name in names), None)


def place_of(step: memory.Step) -> str:
    """question 1.2, below “Softmax turns any scores into weights”, in notebooks/01_self_attention.ipynb."""
    kind = "question" if memory.is_question(step.name) else "exercise"
    heading = step.heading.replace("`", "").replace("*", "")
    below = f", below “{heading}”" if kind == "question" else ""
    return f"{kind} {step.name}{below}, in {Path('notebooks', step.lesson)}"


# --- what a notebook holds ----------------------------------------------------------------------------------


def cells_of(path: Path) -> list[Cell]:
    """[(source, tags)] of the code cells."""
    if path.exists() and not path.is_file():  # a pipe would never end
        raise ValueError("is not an ordinary file")
    try:
        data = path.read_bytes()
        return cells_in(data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"))
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None


def expected_in(path: Path) -> list[str]:
    """The exercises that a lesson should have, by the name of its notebook: 03_scaling.mine.ipynb is lesson 3."""
    from transformer_lessons.exercises.checker.registry import EXERCISES

    lessons = [name.removesuffix(".ipynb") for name in reset.lessons()]
    number = next((int(name[:2]) for name in lessons if path.name.startswith(name)), None)
    return [name for name, exercise in EXERCISES.items() if exercise.lesson == number]


def asks(source: str) -> bool:
    return bool(re.search(r"\b(?:check|answer)\s*\(", source))


def needed(sources: list[str]) -> list[bool]:
    """Whether each cell asks for a verdict, or defines what a later one needs."""
    wanted: set[str] = set()
    chosen = []
    for source in reversed(sources):
        names = names_in(source)
        made, used = names or (set(), set(re.findall(r"\w+", source)))
        take = names is None or asks(source) or bool(made & wanted)
        wanted |= used if take else set()
        chosen.append(take)
    return chosen[::-1]


# --- running it ---------------------------------------------------------------------------------------------


def run_cells(path: Path, sources: dict[int, str], limit: float) -> tuple[dict[int, Said], list[str]]:
    """{number: (verdicts, what stopped it)} of these cells, until the kernel dies; and which files were not copied.

    They run in a copy of the notebook's folder: what they write there leaves the learner's files alone.
    """
    # Without this module, jsonschema leaves out a grammar of web addresses, which takes seconds to build.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    from nbformat.v4 import new_code_cell

    shown = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        verdicts, folder = Path(name, "verdicts"), Path(name, "copy", path.absolute().parent.name)
        left_out = copy_folder(path.absolute().parent, folder)
        client, errors = new_client(limit)
        with client.setup_kernel(
            cwd=str(folder),
            env=environment(verdicts),
            cleanup_kc=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ):
            seen = 0
            for number, source in sources.items():
                stopped = what_stopped(client, errors, new_code_cell(source))
                said = verdicts.read_text(encoding="utf-8").splitlines() if verdicts.exists() else []
                shown[number] = [json.loads(line) for line in said[seen:]], stopped
                seen, client.timeout = len(said), 5  # a kernel that is stuck in a cell does not answer
                if stopped and what_stopped(client, errors, new_code_cell("None")):
                    break
                client.timeout = limit
    return shown, left_out


def new_client(limit: float) -> tuple[Any, list[dict[str, str]]]:
    """A client for a kernel of this Python, and the list in which it puts what stopped its latest cell."""
    from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell, new_notebook

    class ThisPython(KernelSpecManager):
        def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
            return KernelSpec(argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"])

    errors = []
    client = NotebookClient(
        new_notebook(cells=[new_code_cell()]),
        AsyncKernelManager(kernel_spec_manager=ThisPython()),
        log=logging.Logger("silent", logging.CRITICAL + 1),
        shutdown_kernel="immediate",
        startup_timeout=120,
        timeout=limit,
        iopub_timeout=10,
        interrupt_on_timeout=True,
        allow_errors=True,
        error_on_timeout={"ename": f"stopped after {limit:g} s", "evalue": ""},
        on_cell_error=lambda execute_reply, **_: errors.append(execute_reply["content"]),
    )
    client.output = lambda *_: None  # what is printed proves nothing, and may be endless
    return client, errors


def what_stopped(client: Any, errors: list[dict[str, str]], cell: Any) -> str | None:
    """Runs a cell, and returns what stopped it: a sentence, or None."""
    from nbclient.exceptions import DeadKernelError

    errors.clear()
    try:
        client.execute_cell(cell, 0)
    except DeadKernelError:
        return "the kernel died"
    return f"{errors[0]['ename']}: {errors[0]['evalue']}".splitlines()[0].strip(": ") if errors else None


def environment(verdicts: Path) -> dict[str, str]:
    """A kernel's environment: checks write their verdicts to this file, and figures are not shown."""
    package = [str(install.ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    inherited = {name: value for name, value in os.environ.items() if name != "JPY_SESSION_NAME"}  # nobody looks at it
    return inherited | {
        "MPLBACKEND": "Agg",
        "TRANSFORMER_LESSONS_REPORTS": str(verdicts),
        "PYTHONPATH": os.pathsep.join(package),
    }


def copy_folder(source: Path, target: Path) -> list[str]:
    """Copies a folder, its top level first; returns the names of what could not be read or did not fit."""
    room, left_out = ROOM, []
    for folder, folders, files in os.walk(source, followlinks=True):
        there = target / Path(folder).relative_to(source)
        there.mkdir(parents=True)
        for path in (Path(folder, name) for name in sorted(files) if not name.startswith(".")):
            if not path.is_file():  # a pipe, or a link to nowhere
                continue
            size = path.stat().st_size
            try:
                if size > room:
                    raise PermissionError
                shutil.copy(path, there)
                room -= size
            except PermissionError:
                left_out.append(path.name)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if left_out:
            left_out += folders
            folders.clear()
    return left_out


def run_notebook(path: Path, cells: list[Cell], limit: float, expected: list[str]) -> tuple[dict[int, Said], list[str]]:
    """The same for a whole notebook: only what is needed, or all of it if that goes wrong."""
    sources = [source for source, _ in cells]
    chosen = {number: sources[number] for number, take in enumerate(needed(sources)) if take}
    shown, left_out = run_cells(path, chosen, limit)
    said = [
        verdict for number, (verdicts, _) in shown.items() for verdict in verdicts if ON_PURPOSE not in cells[number][1]
    ]
    well = len(shown) == len(chosen) and not any(stopped for _, stopped in shown.values())
    well = well and not any(verdict["status"] == "failed" for verdict in said)
    if len(chosen) < len(sources) and not (well and {verdict["name"] for verdict in said} >= set(expected)):
        shown, left_out = run_cells(path, dict(enumerate(sources)), limit)
    return shown, left_out


# --- the report ---------------------------------------------------------------------------------------------


def tell(path: Path, limit: float) -> tuple[dict[str, str], int] | None:
    """Prints the table of one notebook; returns {exercise: mark} and how much is wrong, or None without exercises."""
    print(f"\n{path.name}")
    try:
        cells = cells_of(path)
    except ValueError as error:
        print(f"  ! {error}")
        return {}, 1
    expected = expected_in(path)
    if not expected and not any(asks(source) for source, _ in cells):
        print("    no exercises")
        return None
    shown, left_out = run_notebook(path, cells, limit, expected)
    rows, questions, troubles = table(cells, shown)
    rows |= {(name, name): ("○", "check removed") for name in expected if (name, name) not in rows}
    if left_out:
        troubles.append(f"! not copied, so not there for its cells: {', '.join(left_out[:5])}")
    for (name, subject), (mark, words) in rows.items():
        print(f"  {terminal.marked(mark)} {name if subject == name else f'{name}, as {subject}':<50} {words}")
    if questions:
        print(f"    {count_of(questions)}")
    print("".join(f"  {trouble}\n" for trouble in troubles), end="", flush=True)
    marks = {name: mark for (name, subject), (mark, _) in rows.items() if subject == name}
    wrong = [mark for mark, _ in rows.values()] + list(questions.values())
    note_solved(path, [name for name, mark in (marks | questions).items() if mark == "✓"])
    return marks, wrong.count("✗") + len(troubles)


def table(cells: list[Cell], shown: dict[int, Said]) -> tuple[dict[Call, tuple[str, str]], dict[str, str], list[str]]:
    """{(exercise, what is checked): (mark, words)}, {question: mark}, and what stopped cells."""
    rows, questions, troubles = {}, {}, []
    for number, (source, tags) in enumerate(cells):
        verdicts, stopped = shown.get(number, ([], None))
        if stopped and "nbval-raises-exception" not in tags:
            troubles.append(f"! code cell {number + 1}: {stopped}")
        if ON_PURPOSE in tags:
            continue
        called = checks_in(source)
        rows |= {call: ("○", "not reached") for call in called if call not in rows}
        for verdict in verdicts:
            name, mark = verdict["name"], terminal.MARKS[verdict["status"]]
            if re.fullmatch(r"\d+\.\d+", name):
                questions[name] = mark
                continue
            call = next((call for call in called if call[0] == name), (name, name))
            called = [other for other in called if other != call]
            rows[call] = mark, words(verdict)
    return rows, questions, troubles


def words(verdict: Verdict) -> str:
    """A verdict in a few words; for a mistake, its name."""
    said = verdict["headline"].rstrip(".")
    if verdict["status"] == "failed":
        return f"failed: {said}"
    return "passed" if verdict["status"] == "passed" else "untouched" if said == "not attempted yet" else said


def count_of(questions: dict[str, str]) -> str:
    """How many questions are answered right, answered wrong and open."""
    count = Counter(questions.values())
    wrong = [number for number, mark in questions.items() if mark == "✗"]
    parts = [
        f"{count['✓']} right",
        *([f"{len(wrong)} wrong ({', '.join(wrong)})"] if wrong else []),
        f"{count['○']} open",
    ]
    return f"questions: {', '.join(parts)}"


def sum_up(results: list[tuple[dict[str, str], int]]) -> int:
    """Prints the total; returns the exit code."""
    count = Counter(mark for marks, _ in results for mark in marks.values())
    failed = f", {count['✗']} failed" if count["✗"] else ""
    if count:
        print(f"\n{count['✓']} of {sum(count.values())} passed{failed}.")
    return 1 if any(wrong for _, wrong in results) else 0


def note_solved(path: Path, names: list[str]) -> None:
    """Remembers what is solved in the course's own folder: `lab` opens the first lesson that is not."""
    if path.absolute().parent == install.ROOT / "notebooks":
        memory.remember(names)
