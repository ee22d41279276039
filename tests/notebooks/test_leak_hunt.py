"""Lesson 8's bug hunt: its questions find the leak, accept what fixes it, and nothing that only seems to."""

import contextlib
import io
from pathlib import Path

import nbformat
import pytest
import torch

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "08_shakespeare.ipynb"
LEAKING = "rows = torch.stack([ids[i : i + length + 1] for i in range(len(ids) - length)])"
CUT_FIRST = """
def make(ids, length, seed=0):
    cut = len(ids) * 9 // 10
    def rows_of(part):
        rows = torch.stack([part[i : i + length + 1] for i in range({step})])
        return rows[:, :-1], rows[:, 1:]
    return rows_of(ids[:cut]), rows_of(ids[cut:])
"""


def cell_of(name):
    nodes = nbformat.read(NOTEBOOK, 4).cells
    return next(cell.source for cell in nodes if cell.source.startswith(f"def {name}("))


def verdict(source, name="make"):
    """What check_data prints of a function."""
    space, printed = {"torch": torch}, io.StringIO()
    exec(cell_of("check_data").split("\n\n\n")[0], space)
    exec(source, space)
    with contextlib.redirect_stdout(printed):
        space["check_data"](space[name])
    return printed.getvalue()


def marks(text):
    return [line[0] for line in text.splitlines()]


def test_the_published_function_leaks_and_is_otherwise_right():
    assert marks(verdict(cell_of("suspicious_data"), "suspicious_data")) == ["✗", "✓"]


def test_before_it_is_fixed_there_is_nothing_to_check():
    assert marks(verdict(cell_of("fixed_data"), "fixed_data")) == ["○"]


@pytest.mark.parametrize("step", ["len(part) - length", "0, len(part) - length, length"])
def test_a_text_that_is_divided_first_is_fixed_whether_its_rows_overlap_or_not(step):
    assert marks(verdict(CUT_FIRST.format(step=step))) == ["✓", "✓"]


def test_rows_that_do_not_overlap_may_be_divided_at_random():
    source = cell_of("suspicious_data")
    assert LEAKING in source
    apart = source.replace("range(len(ids) - length)", "range(0, len(ids) - length, length)")
    assert marks(verdict(apart, "suspicious_data")) == ["✓", "✓"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("rows, cut = rows[order], len(rows)", "rows, cut = rows, len(rows)", ["✗", "✓"]),
        ("validation[:, 1:]", "validation[:, :-1]", ["✗", "✗"]),
        ("rows[cut:]", "rows[:0]", ["✓", "✗"]),
    ],
)
def test_what_only_seems_to_fix_it_stays_red(old, new, expected):
    source = cell_of("suspicious_data")
    assert old in source
    assert marks(verdict(source.replace(old, new), "suspicious_data")) == expected
