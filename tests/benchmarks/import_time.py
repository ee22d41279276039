"""What importing the package costs over importing torch: python tests/benchmarks/import_time.py

Seconds of the process alone, not of the clock, in fresh processes. Two rooms are left out: plots, which loads
matplotlib, and the exercises, no part of the finished implementation; the script shows those beside it.
"""

import importlib
import os
import re
import subprocess
import sys

BUDGET = 0.1
LEFT_OUT = ("plots", "exercises", "__main__")


def measure(rooms):
    """Run in a fresh process: the seconds that it takes to import these rooms, or all, after torch."""
    import time

    import torch  # noqa: F401

    import transformer_lessons

    everything = re.findall(r"^    (\w+)  ", transformer_lessons.__doc__, flags=re.MULTILINE)
    start = time.process_time()
    for room in rooms or [room for room in everything if room not in LEFT_OUT]:
        importlib.import_module(f"transformer_lessons.{room}")
    return time.process_time() - start


def best_of(runs, *rooms):
    """The smallest of several measurements; Python may keep its bytecode, as it does for a learner."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, __file__, "--measure", *rooms]
    return min(float(subprocess.check_output(command, text=True, env=environment)) for _ in range(runs))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(measure(sys.argv[2:]))
    else:
        best = best_of(5)
        print(f"all rooms but two: {best:.3f} s, of {BUDGET} s allowed (best of 5)")
        print(f"exercises: {best_of(5, 'exercises'):.3f} s")
        sys.exit(best > BUDGET)
