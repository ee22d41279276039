"""What a learner has solved, found by running the notebooks: python -m transformer_lessons progress."""

import argparse
import ast
import json
import os
import queue
import re
import subprocess
import symtable
import sys
import time
from collections import Counter
from pathlib import Path

from transformer_lessons import install

DESCRIPTION = """Run the notebooks of a folder, or one notebook, and tell which exercises are solved. Of each
notebook those cells run that ask for a verdict, with all that they need; where one of them fails or an answer
is wrong, the whole notebook runs, and that counts. The files stay as they are."""
ON_PURPOSE = "wrong-on-purpose"  # the tag of a cell that shows a wrong answer to its reader
WORDS = {"✓": "passed", "✗": "failed", "○": "untouched"}


def run(arguments):
    """The command; it needs Jupyter, so where that is missing the course's environment does the work."""
    parser = argparse.ArgumentParser(prog="python -m transformer_lessons progress", description=DESCRIPTION)
    add = parser.add_argument
    add("folder", nargs="?", type=Path, default=install.ROOT / "notebooks", metavar="FOLDER",
        help="of notebooks, or one of them (default: notebooks)")
    add("--limit", type=float, default=120, metavar="SECONDS", help="for one cell (default: 120)")
    options = parser.parse_args(arguments)
    if not (install.has("jupyter_client") and install.has("torch")):
        if not install.PYTHON.exists() or Path(sys.prefix) == install.VENV:
            return refuse("Nothing is installed yet: python3 -m transformer_lessons lab does it.")
        again = ["progress", options.folder.absolute(), "--limit", options.limit]
        return install.run_to_its_end(install.PYTHON, "-m", "transformer_lessons", *again)
    folder = options.folder
    paths = sorted(folder.glob("*.ipynb")) if folder.is_dir() else [folder] if folder.exists() else []
    paths = [path for path in paths if not path.name.startswith(".") and asks_for_verdicts(path)]
    if not paths:
        return refuse(f"{folder} holds no notebook with exercises.")
    reports = [tell(path, options.limit) for path in paths]
    count = Counter(mark for rows in reports for mark in rows.values())
    total = f"{count['✓']} of {sum(count.values())} passed"
    print(f"\n{total}, {count['✗']} failed." if count["✗"] else f"\n{total}.")
    return 0


def refuse(sentence):
    print(sentence, file=sys.stderr)
    return 1


# --- what a notebook holds ----------------------------------------------------------------------------------


def cells_of(path):
    """[(source, tags)] of the code cells, or none where this is no notebook."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [("".join(cell["source"]), cell["metadata"].get("tags", []))
                for cell in cells if cell["cell_type"] == "code"]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def asks(source):
    return bool(re.search(r"\b(?:check|answer)\s*\(", source))


def asks_for_verdicts(path):
    return any(asks(source) for source, _ in cells_of(path))


def checks_in(source):
    """[(exercise, what is checked)] of the calls of check in a cell."""
    try:
        calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    except SyntaxError:
        return []
    calls = [call for call in calls if ast.unparse(call.func).split(".")[-1] == "check"]
    return [(call.args[0].value, ast.unparse(call.args[1])) for call in calls
            if len(call.args) == 2 and isinstance(call.args[0], ast.Constant)]


def names_in(source):
    """The global names that a cell makes, and those that it uses; None where that cannot be told."""
    try:
        table = symtable.symtable(source, "cell", "exec")
    except SyntaxError:  # a line of IPython's, such as %timeit
        return None
    if re.search(r"\bimport\s*\*|(?<![.\w])(?:exec|eval|globals)\s*\(", source):
        return None
    made, used, inner = set(), set(), list(table.get_children())
    for symbol in table.get_symbols():
        made |= {symbol.get_name()} if symbol.is_assigned() or symbol.is_imported() else set()
        used |= {symbol.get_name()} if symbol.is_referenced() else set()
    while inner:
        table = inner.pop()
        inner += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_global():
                used.add(symbol.get_name())
                made |= {symbol.get_name()} if symbol.is_declared_global() else set()
    return made, used


def needed(sources):
    """Whether each cell asks for a verdict, or makes what a later one needs."""
    wanted, chosen = set(), []
    for source in reversed(sources):
        names = names_in(source)
        made, used = names or (set(), set(re.findall(r"\w+", source)))
        take = names is None or asks(source) or bool(made & wanted)
        wanted |= used if take else set()
        chosen.append(take)
    return chosen[::-1]


# --- running it ---------------------------------------------------------------------------------------------


class Kernel:
    """A Jupyter kernel of this Python, for one notebook."""

    def __init__(self, folder):
        from jupyter_client import KernelManager
        from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

        class ThisPython(KernelSpecManager):
            def get_kernel_spec(self, kernel_name):
                python = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
                return KernelSpec(argv=python)

        self.manager = KernelManager(kernel_spec_manager=ThisPython())
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.manager.start_kernel(cwd=str(folder.absolute()), env=os.environ | {"MPLBACKEND": "Agg"}, **quiet)
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=120)

    def stop(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def run(self, source, limit):
        """What a cell prints, and what stopped it: a sentence, or None."""
        message = self.client.execute(source, allow_stdin=False)
        printed, stopped, deadline = "", None, time.monotonic() + limit
        while self.manager.is_alive():
            if time.monotonic() > deadline:
                if stopped:
                    return printed, stopped
                stopped, deadline = f"stopped after {limit:g} s", time.monotonic() + 10
                self.manager.interrupt_kernel()
            try:
                reply = self.client.get_iopub_msg(timeout=0.5)
            except queue.Empty:
                continue
            kind, content = reply["msg_type"], reply["content"]
            if reply["parent_header"].get("msg_id") != message:
                continue
            if kind == "stream" and content["name"] == "stdout":
                printed += content["text"]
            elif kind == "error":
                stopped = stopped or f"{content['ename']}: {content['evalue']}".splitlines()[0]
            elif kind == "status" and content["execution_state"] == "idle":
                return printed, stopped
        return printed, "the kernel died"

    def alive(self):
        """Whether it still answers; one that is stuck in a cell does not."""
        return self.manager.is_alive() and self.run("", 5)[1] is None


def run_cells(folder, sources, limit):
    """{number: (what a cell printed, what stopped it)}, as far as the kernel lived."""
    shown, kernel = {}, Kernel(folder)
    try:
        for number, source in sources.items():
            shown[number] = kernel.run(source, limit)
            if shown[number][1] and not kernel.alive():
                break
    finally:
        kernel.stop()
    return shown


def run_notebook(path, limit):
    """The same for a whole notebook: only what is needed, and all of it where that does not go well."""
    cells = cells_of(path)
    sources = [source for source, _ in cells]
    chosen = {number: sources[number] for number, take in enumerate(needed(sources)) if take}
    shown = run_cells(path.parent, chosen, limit)
    if len(shown) < len(chosen) or any(
            stopped or (marks_in(printed, "✗") and ON_PURPOSE not in cells[number][1])
            for number, (printed, stopped) in shown.items()):
        shown = run_cells(path.parent, dict(enumerate(sources)), limit)
    return cells, shown


# --- telling it ---------------------------------------------------------------------------------------------


def marks_in(printed, marks="✓✗○"):
    """[(mark, exercise or question, what was said of it)] in what a cell printed."""
    verdict = rf"^([{marks}]) ([^\W\d]\w*(?=:|$)|\d+\.\d+(?= )):? ?(.*(?:\n  .*)*)"
    return [(mark, name, " ".join(said.split()))
            for mark, name, said in re.findall(verdict, printed, flags=re.MULTILINE)]


def tell(path, limit):
    """Prints the table of one notebook, and returns the mark of each of its exercises."""
    cells, shown = run_notebook(path, limit)
    rows, questions, troubles = {}, {}, []
    for number, (source, tags) in enumerate(cells):
        printed, stopped = shown.get(number, ("", None))
        if stopped and "nbval-raises-exception" not in tags:
            troubles.append(f"! code cell {number + 1}: {stopped}")
        if ON_PURPOSE in tags:
            continue
        called = checks_in(source)
        rows |= {call: ("○", "not reached") for call in called if call not in rows}
        for mark, name, said in marks_in(printed):
            if name[0].isdigit():
                questions[name] = mark
                continue
            subject = next((what for exercise, what in called if exercise == name), name)
            rows[name, subject] = mark, verdict(mark, said)
            called = [call for call in called if call != (name, subject)]
    print(f"\n{path.name}")
    for (name, subject), (mark, words) in rows.items():
        print(f"  {mark} {name if subject == name else f'{name}, as {subject}':<50} {words}")
    if questions:
        print(f"    {count_of(questions)}")
    print("".join(f"  {trouble}\n" for trouble in troubles), end="")
    return {name: mark for (name, subject), (mark, _) in rows.items() if subject == name}


def verdict(mark, said):
    """A word; of a mistake its name."""
    if mark == "✗":
        return f"failed: {re.split(r'[.] ?', said)[0]}"
    return WORDS[mark] if mark == "✓" or said.startswith("not attempted yet") else said


def count_of(questions):
    """How many questions are answered."""
    count = Counter(questions.values())
    wrong = [number for number, mark in questions.items() if mark == "✗"]
    parts = [f"{count['✓']} right", *([f"{len(wrong)} wrong ({', '.join(wrong)})"] if wrong else []),
             f"{count['○']} open"]
    return f"questions: {', '.join(parts)}"
