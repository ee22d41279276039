"""Does what the lessons say hold for other seeds? Runs their cells anew for each, and compares.

    python tests/proofs/training_claims.py            # every lesson whose cells state a tolerance, seeds 0 to 4
    python tests/proofs/training_claims.py 02 11      # lessons 2 and 11

Each seed moves every `manual_seed` of a lesson's cells, by the steps in known_claims.py; 0 leaves them as they are.
These are failures:

- with any seed, an assertion that does not hold, or a ✓, ✗, True or False that is not the saved one;
- with seed 0, numbers further from the saved ones than the cell's tolerance, as when nbval runs the lesson. A tolerance
  is for the same seed on another machine, so other seeds may spread wider: the report shows how far, and marks them;
- whatever the text says of several seeds or of other texts, and known_claims.py does not find.

Cells that need the chat model, and claims about it, are left out where its file is not there, and the report says so.
"""

import contextlib
import functools
import io
import math
import re
import sys
from pathlib import Path

import nbformat
import torch

sys.path[:0] = [str(Path(__file__).parents[1] / "notebooks")]

from known_claims import CLAIMS, NEED_THE_CHAT_MODEL, STEPS  # noqa: E402
from strict_notebooks import DECIMAL, numbers_too_far, tolerance_of  # noqa: E402

from transformer_lessons.basis import chat_model  # noqa: E402
from transformer_lessons.language import chat_cells  # noqa: E402

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("??_*.ipynb"))
SEEDS = range(5)


class Run:
    """A lesson's cells, run with every seed moved. What they made is an attribute of its name."""

    def __init__(self, cells, seed, step):
        self.made, self.printed, self.failures = {}, [], []
        torch.set_num_threads(1)
        for number, cell in enumerate(cells, start=1):
            source = cell.source.replace("manual_seed(", f"manual_seed({step * seed} + ")
            source = "".join(chat_cells.run_or_say(source.splitlines(keepends=True)))
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                try:
                    exec(compile(source, f"cell {number}", "exec"), self.made)
                except AssertionError as error:
                    line = error.__traceback__.tb_next.tb_lineno
                    self.failures.append(f"seed {seed}: cell {number}: {source.splitlines()[line - 1].strip()}")
            self.printed.append(printed.getvalue())
            self.failures += self.differences(number, cell, seed)
        self.sources = [cell.source for cell in cells]

    def __getattr__(self, name):
        return self.made[name]

    def numbers(self, beginning):
        """The numbers with a decimal point that the cell with this beginning printed."""
        (text,) = (
            text
            for source, text in zip(self.sources, self.printed, strict=True)
            if source.removeprefix(f"{chat_cells.NEEDED}\n").startswith(beginning)
        )
        return [float(number) for number in DECIMAL.findall(text)]

    def differences(self, number, cell, seed):
        """What the cell has printed, where it should be as it was saved and is not."""
        new, saved = self.printed[-1], saved_text(cell)
        if chat_cells.INSTEAD in new:
            return []
        where = f"seed {seed}: cell {number}"
        found, expected = facts(new), facts(saved)
        wrong = [f"{where}: {found} instead of {expected}"] if found != expected else []
        if seed == 0 and "tolerance" in cell.metadata:
            far = numbers_too_far(new, saved, tolerance_of(cell))
            wrong += ["{}: {} is too far from the saved {}".format(where, *pair) for pair in far or []]
            wrong += [f"{where}: other words than saved"] if far is None else []
        return wrong


def saved_text(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def facts(printed):
    """The ✓ and ✗ with what they stand for, up to a number, and the True or False of each line that has one."""
    return [" ".join(found) for line in printed.splitlines() if (found := re.findall("[✓✗][^:]*|True|False", line))]


def spread(texts, saved, tolerance):
    """One text with each number as lowest–highest, marked with ! where it leaves the tolerance."""
    if len({len(DECIMAL.findall(text)) for text in [*texts, saved]}) > 1:
        return "other numbers of numbers: " + " | ".join(texts)
    columns = zip(*(map(float, DECIMAL.findall(text)) for text in texts), strict=True)
    ranges = []
    for number, column in zip(DECIMAL.findall(saved), columns, strict=True):
        form = ".1e" if "e" in number else f".{len(number.partition('.')[2])}f"
        outside = not all(math.isclose(float(number), value, **tolerance) for value in column)
        ranges.append(f"{min(column):{form}}–{max(column):{form}}{'!' * outside}")
    return DECIMAL.sub(lambda match: ranges.pop(0), texts[0])


def held(claim, values):
    """Is each value true, or between the smallest and the largest decimal number of the quotation?"""
    if all(isinstance(value, bool) for value in values):
        return all(values)
    stated = [float(number) for number in re.findall(r"\d+\.\d+", claim.quotation)]
    return all(min(stated) - claim.slack <= value <= max(stated) + claim.slack for value in values)


def values_of(claim, runs):
    """What the claim measures, for each of its seeds; a measurement may give several numbers."""
    values = []
    for seed in claim.seeds:
        measured = claim.measure(runs, seed)
        values += list(measured) if isinstance(measured, list | tuple) else [measured]
    return [value if isinstance(value, bool) else float(value) for value in values]


def check(claim, runs, text):
    """Prints the claim with what was measured, and says whether it does not hold."""
    values = values_of(claim, runs)
    wrong = not held(claim, values) or claim.quotation not in text
    shown = " ".join(str(value) if isinstance(value, bool) else f"{value:.3g}" for value in values)
    remark = "" if claim.quotation in text else "  (NOT IN THE TEXT)"
    print("✗" if wrong else "✓", f"{claim.quotation}: {shown}{remark}", flush=True)
    return wrong


def prove(path):
    """Reports on one lesson, and counts what does not hold."""
    notebook = nbformat.read(path, 4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    lesson = path.name[:2]
    runs = [Run(cells, seed, STEPS.get(lesson, 1000)) for seed in SEEDS]
    print(f"=== {path.stem}, seeds {SEEDS[0]} to {SEEDS[-1]}")
    for number, cell in enumerate(cells):
        texts = [run.printed[number] for run in runs]
        if "tolerance" in cell.metadata and not any(chat_cells.INSTEAD in text for text in texts):
            print(f"cell {number + 1}", spread(texts, saved_text(cell), tolerance_of(cell)), sep="\n")
    failures = [failure for run in runs for failure in run.failures]
    print(*(f"✗ {failure}" for failure in failures), sep="\n")
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    claims = CLAIMS.get(lesson, [])
    if lesson in NEED_THE_CHAT_MODEL and chat_model.path().exists():
        claims = claims + NEED_THE_CHAT_MODEL[lesson]
    elif lesson in NEED_THE_CHAT_MODEL:
        print(f"{len(NEED_THE_CHAT_MODEL[lesson])} claims are not measured: the chat model is not there")
    return len(failures) + sum(check(claim, runs, text) for claim in claims)


def main(lessons):
    chat_cells.load = functools.cache(chat_cells.load)  # once for all seeds
    wrong = 0
    for path in NOTEBOOKS:
        trained = any("tolerance" in cell.metadata for cell in nbformat.read(path, 4).cells)
        if trained and (not lessons or path.name[:2] in lessons):
            wrong += prove(path)
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
