"""Each test file passes on its own, and so does each exercise: python tests/proofs/alone.py [PATH …]

A file runs in a process of its own, its tests in a random order, with -n0 and with -n2; then each exercise does, chosen
by -k among the tests of the exercises. Printed is what fails, with the command that repeats it.
"""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SEED = "TRANSFORMER_LESSONS_ORDER"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """This file is also the plugin, -p alone, that shuffles the tests; every worker shuffles them alike."""
    random.Random(int(os.environ[SEED])).shuffle(items)


def passes(*arguments):
    """Runs pytest, and prints what fails and how to see it again."""
    seed = str(random.randrange(10**6))
    command = ["-m", "pytest", "-q", "-p", "alone", "-p", "no:cacheprovider", *arguments]
    result = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {SEED: seed, "PYTHONUTF8": "1", "CI": ""},
    )
    lines = result.stdout.splitlines() or result.stderr.splitlines() or [f"exit code {result.returncode}"]
    print("✗" if result.returncode else "✓", *arguments, "·", lines[-1], flush=True)
    if result.returncode:
        failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
        print(*failed, f"again: {SEED}={seed} python {' '.join(command)}", sep="\n", flush=True)
    return not result.returncode


def main(paths):
    files = paths or sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("tests/*/test_*.py"))
    runs = [(file, workers) for file in files for workers in ("-n0", "-n2")]
    if not paths:
        from transformer_lessons.exercises.checker.registry import EXERCISES

        runs += [("tests/exercises", workers, "-k", name) for name in EXERCISES for workers in ("-n0", "-n2")]
    wrong = [run for run in runs if not passes(*run)]
    print(f"{len(runs) - len(wrong)} of {len(runs)} runs pass")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
