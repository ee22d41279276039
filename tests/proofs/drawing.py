"""Does lesson 12 tell the truth for other seeds? Draws and trains anew for each, and compares what it says.

    python tests/proofs/drawing.py            # the seeds 0 to 4, about 20 seconds of processor time each
    python tests/proofs/drawing.py 5 6

Each seed moves every seed of the lesson's cells. What they assert must hold, and every ✓ and ✗ must be as it was saved.
"""

import contextlib
import io
import re
import sys
from pathlib import Path

import nbformat

from transformer_lessons.language import chat_cells

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "12_making_it_fast.ipynb"


def facts(printed):
    """The ✓ and ✗ with what they stand for, up to a number, and the True or False of each line that has one."""
    return [" ".join(found) for line in printed.splitlines() if (found := re.findall("[✓✗][^:]*|True|False", line))]


def saved(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def main(seeds):
    cells = [cell for cell in nbformat.read(NOTEBOOK, 4).cells if cell.cell_type == "code"]
    wrong = 0
    for seed in seeds:
        namespace, held, differences = {}, 0, []
        for cell in cells:
            source = cell.source.replace("manual_seed(", f"manual_seed({1000 * seed} + ")
            source = "".join(chat_cells.run_or_say(source.splitlines(keepends=True)))
            asserted = source.count("assert ")
            try:
                with contextlib.redirect_stdout(io.StringIO()) as printed:
                    exec(compile(source, "cell", "exec"), namespace)
            except AssertionError:
                differences.append(f"this does not hold: {source}")
            found, expected = facts(printed.getvalue()), facts(saved(cell))
            held += len(expected) + asserted
            if found != expected:
                differences.append(f"{found} instead of {expected}")
        print(f"seed {seed}: {held} facts, {len(differences)} cells say others", *differences, sep="\n  ", flush=True)
        wrong += len(differences)
    return wrong


if __name__ == "__main__":
    sys.exit(main([int(seed) for seed in sys.argv[1:]] or range(5)) > 0)
