"""Make the mistakes of known_mutations.py in the implementation, one at a time, and see which test notices.

    python tests/proofs/mutations.py

Prints, for each mistake, the test that turned red, and at the end the mistakes that no test noticed. A script for Linux
and macOS, not a part of pytest: it takes 2 minutes of processor time.
"""

import compileall
import multiprocessing
import os
import py_compile
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import hypothesis  # noqa: F401 - what every run needs is imported once, before the forks
import nbclient  # noqa: F401
import numpy  # noqa: F401
import pytest
import sympy  # noqa: F401
import torch
from known_mutations import MISTAKES

ROOT = Path(__file__).resolve().parents[2]
NAMES = ["layers", "models", "influence", "attention", "masks", "positions", "modern", "first_steps", "validation"]
TESTS = [*(f"tests/implementation/test_{name}.py" for name in NAMES), "tests/tasks/test_reversal.py"]
UNWANTED = ["cacheprovider", "unraisableexception", "terminal"]
OPTIONS = ["-x", "-o", "addopts=", "--assert=plain", *(f"-pno:{plugin}" for plugin in UNWANTED)]
PATIENCE = 600  # seconds for all tests together


class Watch:
    """A pytest plugin that keeps the first test that fails."""

    red = ""

    def pytest_runtest_logreport(self, report):
        if report.failed and not self.red:
            self.red = report.nodeid


def try_tests(folder, tests, answer):
    """Sends the first test that fails, or nothing; everything is imported afresh."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    watch = Watch()
    code = pytest.main([*OPTIONS, *tests], plugins=[watch])
    if not sys.modules["transformer_lessons"].__file__.startswith(str(folder)):
        sys.exit("the copy was not the one that was tested")
    answer.send("" if code == 0 else watch.red or "it cannot even be imported")


def noticed_by(folder, tests):
    """The first of these tests that fails, in a process of its own; empty if all pass."""
    fork = multiprocessing.get_context("fork")
    news, answer = fork.Pipe(duplex=False)
    process = fork.Process(target=try_tests, args=(folder, tests, answer))
    process.start()
    answer.close()
    try:
        red = news.recv() if news.poll(PATIENCE) else "it never ends"
    except EOFError:
        red = "it dies"
    try:
        os.killpg(process.pid, signal.SIGKILL)  # and what the tests have started
    except ProcessLookupError:
        process.kill()
    process.join()
    return red


def tests_of(module):
    """Its own test first: the soonest red."""
    return sorted(TESTS, key=lambda test: module.split("/")[-1] not in test)


def mutations(folder):
    """Every mistake of the list: its module, what is done, the module's file, the source as it is, and as mutated."""
    for module, places in MISTAKES.items():
        file = folder / f"transformer_lessons/{module}.py"
        source = file.read_text(encoding="utf-8")
        for before, mistakes in places.items():
            if source.count(before) != 1:
                sys.exit(f"{module}: {before!r} stands there {source.count(before)} times, and must stand there once")
            for after in mistakes:
                title = f"{module}: {before.strip()}  ->  {after.strip() or 'nothing'}"
                yield module, title, file, source, source.replace(before, after)


def main():
    sys.dont_write_bytecode = True
    torch.set_num_threads(1)
    torch.ones(2, 2, device="meta").tril()  # here, and not in every run, PyTorch imports what that takes
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "copy"
        ignored = shutil.ignore_patterns(".git", ".venv", ".hypothesis", "__pycache__", ".*_cache")
        shutil.copytree(ROOT, folder, ignore=ignored)
        # compiled once; a file counts as changed when its text differs, however fast that follows
        compileall.compile_dir(folder, quiet=2, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
        os.chdir(folder)
        os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # nbval takes longer to import than most mutations live
        os.environ |= {"PYTHONPATH": str(folder), "PYTEST_DEBUG_TEMPROOT": str(folder.parent)}
        sys.path[:0] = [str(folder), str(folder / "tests/implementation")]
        if red := noticed_by(folder, TESTS):
            sys.exit(f"the tests fail even for the package as it is: {red}")
        survivors = []
        for module, title, file, source, mutated in mutations(folder):
            file.write_text(mutated, encoding="utf-8")
            red = noticed_by(folder, tests_of(module))
            file.write_text(source, encoding="utf-8")
            print(f"{title}\n    {red or 'SURVIVES'}", flush=True)
            survivors += [] if red else [title]
    print(f"\n{len(survivors)} survivors", *survivors, sep="\n    ")
    sys.exit(bool(survivors))


if __name__ == "__main__":
    main()
