"""Lesson 11's bug hunt: its test finds the lens that was published, accepts the fix, and nothing half-fixed."""

import contextlib
import copy
import io
from pathlib import Path

import nbformat
import pytest
import torch

from transformer_lessons.inspection.experiments import residual_stream
from transformer_lessons.language.checkpoints import load_model

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "11_inside_the_model.ipynb"


@pytest.fixture(scope="module")
def hunt():
    """The published code, and what its test needs."""
    code = [cell.source for cell in nbformat.read(NOTEBOOK, 4).cells if cell.cell_type == "code"]
    published = next(source for source in code if source.startswith("def suspicious_lens"))
    test = next(source for source in code if "def check_lens" in source).replace("check_lens(suspicious_lens)", "")
    shipped, words = load_model()
    inputs = torch.randint(len(words), (2, 16), generator=torch.Generator().manual_seed(0))
    names = {
        "copy": copy,
        "torch": torch,
        "shipped": shipped,
        "inputs": inputs,
        "stages": residual_stream(shipped, inputs),
    }
    exec(test, names)
    return published, names


@pytest.mark.parametrize(
    ("old", "new", "marks"),
    [
        ("", "", "✗✗✗✗✓"),
        ("centred[-1].square()", "centred.square()", "✓✓✓✓✓"),
        ("centred[-1]", "centred[0]", "✓✗✗✗✗"),
        ("centred[-1]", "residuals", "✗✗✗✗✗"),
        (" * norm.weight + norm.bias", "", "✗✗✗✗✗"),
    ],
    ids=["published", "fixed", "the first stage's", "the mean left in", "no gain"],
)
def test_the_hunt_names_every_stage_that_a_lens_gets_wrong(hunt, old, new, marks):
    published, names = hunt
    assert old in published
    exec(published.replace(old, new) if old else published, names)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        names["check_lens"](names["suspicious_lens"])
    assert "".join(line[0] for line in printed.getvalue().splitlines()) == marks
