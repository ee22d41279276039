"""Kills a run of `mark` 20 times at random moments; in the end the same bytes: python tests/proofs/kill_marking.py."""

import contextlib
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]


def mark(folder, out):
    (out / ".state").mkdir(parents=True, exist_ok=True)
    (out / ".state" / "seed.json").write_text("5")
    command = [sys.executable, "-m", "transformer_lessons", "mark", str(folder / "class"), "--out", str(out)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def main():
    folder = Path(tempfile.mkdtemp())
    sample = ["mark", "sample", str(folder / "class"), "--students", "4"]
    subprocess.run([sys.executable, "-m", "transformer_lessons", *sample], cwd=ROOT, check=True)
    start = time.monotonic()
    assert mark(folder, folder / "whole").wait() == 0
    seconds, draw = time.monotonic() - start, random.Random(1)
    for _ in range(20):
        run = mark(folder, folder / "killed")
        with contextlib.suppress(subprocess.TimeoutExpired):  # what is already marked makes a run shorter
            run.wait(draw.uniform(0, seconds))
        run.kill()
        run.wait()
    assert mark(folder, folder / "killed").wait() == 0
    same = contents(folder / "whole") == contents(folder / "killed")
    print("the same bytes:", same)
    time.sleep(1)
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout.count(
        str(ROOT / "transformer_lessons" / "marking" / "child.py")
    )
    print("processes left:", left)
    return 0 if same and not left else 1


if __name__ == "__main__":
    sys.exit(main())
