"""Does what a lesson says about training hold for other seeds? Runs its cells anew for each, and compares.

    python tests/proofs/training_claims.py            # every lesson whose cells state a tolerance, seeds 0 to 4
    python tests/proofs/training_claims.py 02 03      # lessons 2 and 3

Each seed moves every seed of a lesson's cells; seed 0 leaves them as they are. The cells' own assertions must hold for
all of them. For each cell that states a tolerance, the report shows what it printed, each number as lowest–highest.
"""

import contextlib
import io
import re
import sys
from pathlib import Path

import nbformat

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("??_*.ipynb"))
SEEDS = range(5)
DECIMAL = re.compile(r"-?\d+\.\d+(?:e[+-]\d+)?")


def code_cells(path):
    return [cell for cell in nbformat.read(path, 4).cells if cell.cell_type == "code"]


def printed_with(seed, cells):
    """({number of a cell with a tolerance: what it prints}, the assertions that failed) with every seed moved."""
    namespace, texts, failures = {}, {}, []
    for number, cell in enumerate(cells, start=1):
        source = cell.source.replace("manual_seed(", f"manual_seed({1000 * seed} + ")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            try:
                exec(compile(source, f"cell {number}", "exec"), namespace)
            except AssertionError as error:
                line = error.__traceback__.tb_next.tb_lineno
                failures.append(f"seed {seed}: cell {number}: {source.splitlines()[line - 1].strip()}")
        if "tolerance" in cell.metadata:
            texts[number] = printed.getvalue()
    return texts, failures


def spread(texts):
    """One text with each number as lowest–highest."""
    columns = zip(*(map(float, DECIMAL.findall(text)) for text in texts), strict=True)
    written = DECIMAL.findall(texts[0])
    ranges = []
    for number, column in zip(written, columns, strict=True):
        form = ".1e" if "e" in number else f".{len(number.partition('.')[2])}f"
        ranges.append(f"{min(column):{form}}–{max(column):{form}}")
    return DECIMAL.sub(lambda match: ranges.pop(0), texts[0])


def main(lessons):
    wrong = 0
    for path in NOTEBOOKS:
        cells = code_cells(path)
        if (lessons and path.name[:2] not in lessons) or not any("tolerance" in cell.metadata for cell in cells):
            continue
        texts, failures = zip(*(printed_with(seed, cells) for seed in SEEDS), strict=True)
        print(f"=== {path.stem}, seeds {SEEDS[0]} to {SEEDS[-1]}")
        for number in texts[0]:
            print(f"cell {number}", spread([one[number] for one in texts]), sep="\n", flush=True)
        failed = [failure for group in failures for failure in group]
        print(f"{len(failed)} assertions failed", *failed, sep="\n  ", flush=True)
        wrong += len(failed)
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
