"""Does lesson 11 tell the truth for other seeds? Trains its models anew for each, and reads its ✓ and ✗.

python tests/proofs/growing.py            # the seeds 0 to 4, about half a minute of processor time each
python tests/proofs/growing.py 5 6
"""

import contextlib
import io
import sys
from pathlib import Path

import nbformat

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "11_inside_the_model.ipynb"
SHIPPED = "from transformer_lessons.language import checkpoints"  # from here on nothing depends on the seed


def facts(seed):
    """Every line with a ✓ or ✗ that the lesson's cells on the grown models print."""
    sources = [cell.source for cell in nbformat.read(NOTEBOOK, 4).cells if cell.cell_type == "code"]
    end = next(number for number, source in enumerate(sources) if source.startswith(SHIPPED))
    assert sum(source.startswith("SEED = 0\n") for source in sources) == 1
    printed, namespace = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        for source in sources[:end]:
            exec(compile(source.replace("SEED = 0\n", f"SEED = {seed}\n"), "cell", "exec"), namespace)
    lines = printed.getvalue().splitlines()
    return [line for line in lines if line[:1] in ("✓", "✗")]


def main(seeds):
    wrong = 0
    for seed in seeds:
        found = facts(seed)
        failures = [line for line in found if line.startswith("✗")]
        wrong += len(failures)
        held = f"{len(found) - len(failures)} of {len(found)}"
        print(f"seed {seed}: {held} facts hold", *failures, sep="\n  ", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main([int(seed) for seed in sys.argv[1:]] or range(5)) > 0)
