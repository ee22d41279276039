"""Makes up a class and marks it: python .site/sample_class.py FOLDER leaves the pages in FOLDER/shown.

Of what `mark` writes, the pages are shown, and neither the tables nor the class's seed.
"""

import shutil
import subprocess
import sys
from pathlib import Path

STUDENTS = 8  # enough to see mistakes that several make; marked in seconds
BACK = '<p><a href="../../index.html">Transformer Lessons</a>, a sample report</p>'


def command(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "transformer_lessons", "mark", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"The sample class has not been marked: {done.stdout}{done.stderr}")


def write(folder):
    work = folder / f"{STUDENTS} made-up students"  # the report's title says so
    command("sample", work, "--students", STUDENTS)
    command(work, "--out", folder / "marks", "--jobs", 2)
    kept = shutil.ignore_patterns(".*", "*.csv", "*.json", "*.txt", "*.zip")
    shutil.copytree(folder / "marks", folder / "shown", ignore=kept)
    report = folder / "shown/report.html"
    page = report.read_text(encoding="utf-8")
    report.write_text(page.replace("<main>", f"<main>{BACK}", 1), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
