"""Proves that the notebooks' tests bite: python tests/proofs/bite.py

Changes one saved output in each lesson, and one line of each module that lessons use, in a copy of the
clone; each time pytest must fail on the lesson. Prints a line for each, and exits with 1 if one passed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted(path.name for path in (ROOT / "notebooks").glob("??_*.ipynb"))
BROKEN = [  # module, what is there, what is put in its place, the lesson that must fail
    ("first_steps", "weights @ x  # (query, features)", "weights.T @ x  # (query, features)", "01"),
    ("first_steps", "output = weights @ value", "output = weights @ value * 2", "02"),
    ("attention", "math.sqrt(query.shape[-1])", "query.shape[-1]", "03"),
    ("attention", "x.transpose(1, 2).flatten(2)", "x.flatten(2).reshape(len(x), x.shape[2], -1)", "04"),
    ("positions", "position / base **", "position / (base / 10) **", "05"),
    ("masks", ".tril()", ".triu()", "06"),
    ("tasks/reversal", "first.flip(1)", "first", "06"),
    ("layers", ".relu()", ".sigmoid()", "07"),
    ("models", "* math.sqrt(self.table.embedding_dim)", "", "07"),
    ("inspection/attention_maps", "result[1].detach()", "result[1].detach() * 0", "07"),
    ("inspection/plots", "cmap=BLUES", 'cmap="Greys"', "03"),
    ("exercises/checker/help", "def hint", "def hunt", "01"),
]


def copy(folder):
    for name in ("notebooks", "transformer_lessons", "imgs", "tests", "pyproject.toml"):
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)


def fails(folder, lesson):
    """Does pytest fail on this lesson in the copy? Its own package comes first in the path."""
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    result = subprocess.run(
        [*command, f"notebooks/{lesson}"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return result.returncode == 1, result.stdout.strip().splitlines()[-1]


def change_an_output(path):
    """Changes one digit or letter of the first saved text that is not a question."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            text = "".join(output.get("text", []))
            if text and not text.startswith("○"):
                output["text"] = re.sub(r"[^7\W]", "7", text, count=1)
                path.write_text(json.dumps(notebook), encoding="utf-8")
                return
    raise ValueError(f"{path.name} has no saved text")


def main():
    passed = 0
    with tempfile.TemporaryDirectory() as temporary:
        for name in LESSONS:
            folder = Path(temporary) / f"output-{name}"
            copy(folder)
            change_an_output(folder / "notebooks" / name)
            bites, last = fails(folder, name)
            passed += not bites
            print("✓" if bites else "✗", f"one saved output of {name} changed: {last}", flush=True)
        for module, old, new, lesson in BROKEN:
            names = [name for name in LESSONS if name.startswith(lesson)] if lesson else []
            if not names:
                continue
            folder = Path(temporary) / f"broken-{module.replace('/', '-')}-{lesson}"
            copy(folder)
            path = folder / "transformer_lessons" / f"{module}.py"
            source = path.read_text(encoding="utf-8")
            if old not in source:
                raise ValueError(f"{module} no longer holds {old!r}")
            path.write_text(source.replace(old, new, 1), encoding="utf-8")
            bites, last = fails(folder, names[0])
            passed += not bites
            change = f"{module}: {old} → {new or 'nothing'}"
            print("✓" if bites else "✗", f"{change}, {names[0]}: {last}", flush=True)
    return 1 if passed else 0


if __name__ == "__main__":
    sys.exit(main())
