"""nbval, as strict_notebooks.py has it, bites: each hole has a notebook here that must fall into it."""

import base64
import io
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image, ImageDraw
from strict_notebooks import TOLERANCE, allowed, picture_distances

from transformer_lessons.language import chat_cells

ROOT = Path(__file__).resolve().parents[2]
DRAW = """from IPython.display import Image, display
import base64
display(Image(base64.b64decode({png!r}), alt="a line"))"""


def line_picture(start, end):
    """A curve's worth of ink, from corner to corner."""
    picture = Image.new("RGB", (600, 400), "white")
    ImageDraw.Draw(picture).line([start, end], fill="#0072b2", width=8)
    png = io.BytesIO()
    picture.save(png, format="png")
    return base64.b64encode(png.getvalue()).decode()


RISING, FALLING = line_picture((0, 400), (600, 0)), line_picture((0, 0), (600, 400))
ALMOST_RISING = line_picture((1, 400), (600, 1))


def striped_picture(start):
    """Stripes of red and blue, the first red one from there."""
    picture = Image.new("RGB", (600, 400), "#2166ac")
    for left in range(start, 600, 60):
        ImageDraw.Draw(picture).rectangle([left, 0, left + 29, 400], fill="#b2182b")
    png = io.BytesIO()
    picture.save(png, format="png")
    return base64.b64encode(png.getvalue()).decode()


STRIPES, MOVED_STRIPES, SWAPPED_STRIPES = striped_picture(0), striped_picture(1), striped_picture(30)


def cell(source, *outputs, count=1, **metadata):
    return new_code_cell(source, execution_count=count, outputs=list(outputs), metadata=metadata)


def shown(text):
    return new_output("stream", name="stdout", text=text)


def value(text, **data):
    return new_output("execute_result", data={"text/plain": text, **data}, execution_count=1)


def picture(png):
    data = {"image/png": png, "text/plain": "<IPython.core.display.Image object>"}
    return new_output("display_data", data=data)


CELLS = [
    # passes
    cell("print(0.25)", shown("0.25\n")),
    cell(DRAW.format(png=RISING), picture(RISING)),
    cell(DRAW.format(png=ALMOST_RISING), picture(RISING)),
    cell("import numpy as np\nx = np.ones((2, 3))  # (batch, length)"),
    cell("def columns(x):\n    return x.T  # (length, batch)\n\ncolumns(x).shape", value("(3, 2)")),
    cell("'__cov' in globals()", value("False")),  # no coverage is measured in kernels
    # fails
    cell("print(0.25)", shown("0.26\n")),
    cell(DRAW.format(png=FALLING), picture(RISING)),
    cell("2 + 2", value("4", **{"image/png": RISING})),
    # passes as cells, and fails as shape comments
    cell("y = np.ones((2, 3))  # (batch, batch)"),
    cell("def unused(x):\n    return x  # (batch, length)"),
    cell("z = np.ones(3)  # (width)"),
    # passes, for its metadata says how far a number may be from the saved one
    cell("print('loss  9.98 at step 100')", shown("loss 10.02 at step 100\n"), tolerance={"absolute": 0.05}),
    cell("print(0.0001, -0.01)", shown("0.00011 0.01\n"), tolerance={"absolute": 0.02, "relative": 0.2}),
    cell("0.5", value("0.6"), tolerance={"relative": 0.2}),
    # fails all the same
    cell("print(0.25)", shown("0.31\n"), tolerance={"absolute": 0.05}),
    cell("print('loss 0.25')", shown("cost 0.25\n"), tolerance={"absolute": 0.05}),
    cell("print('0.25 at step 101')", shown("0.25 at step 100\n"), tolerance={"relative": 0.5}),
    cell("print(0.25, 0.5)", shown("0.25\n"), tolerance={"absolute": 0.05}),
    cell("print(0.25)", shown("0.25\n"), tolerance={"absolut": 0.05}),
    # passes where the chat model is not there
    cell("from transformer_lessons.language import chat_cells\nchat_cells.skip_without_model()"),
    cell("# needs the chat model\nanswer = 42\nprint(answer)", shown("43\n")),
    cell("'answer' in globals()", value("False")),
    # passes even if pytest is run from a notebook: verdicts there are cards, which must not be compared
    cell("import os\n'JPY_SESSION_NAME' in os.environ", value("False")),
]


@pytest.fixture(scope="module")
def verdict(tmp_path_factory):
    """What pytest says of a notebook of these cells."""
    path = tmp_path_factory.mktemp("notebooks") / "example.ipynb"
    nbformat.write(new_notebook(cells=CELLS), path)
    settings = ["-c", ROOT / "pyproject.toml", "--rootdir", path.parent, "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "--cov", "-rA", *settings, path]
    environment = os.environ | {"PYTHONUTF8": "1", "CI": ""}  # CI: no messages twice
    environment |= {"JPY_SESSION_NAME": "lesson.ipynb"}  # as where pytest is run from a notebook
    environment |= {"XDG_DATA_HOME": str(path.parent), "PYTHONPATH": str(ROOT)}  # where no chat model is
    result = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=path.parent, env=environment)
    return result.stdout


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14])
def test_a_cell_that_shows_what_it_showed_passes(verdict, number):
    assert f"PASSED example.ipynb::Cell {number}\n" in verdict


@pytest.mark.parametrize("number", [6, 7, 8])
def test_a_cell_with_another_text_another_picture_or_none_fails(verdict, number):
    assert f"FAILED example.ipynb::Cell {number}" in verdict
    assert verdict.count(f"from the saved one in its colours: over {TOLERANCE['in its colours']}") == 1
    assert verdict.count("1 pictures are saved, and 0 were made") == 1


@pytest.mark.parametrize("number", [15, 16, 17, 18, 19])
def test_a_tolerance_excuses_neither_a_far_number_nor_another_word_count_or_whole_number(verdict, number):
    assert f"FAILED example.ipynb::Cell {number}" in verdict
    assert "0.25 is too far from the saved 0.31" in verdict
    assert "a tolerance has an absolute or a relative part between 0 and 1, not {'absolut': 0.05}" in verdict


@pytest.mark.parametrize("number", [20, 21, 22])
def test_a_cell_that_needs_the_chat_model_neither_runs_nor_is_compared_without_it(verdict, number):
    assert f"PASSED example.ipynb::Cell {number}\n" in verdict


def test_a_wrong_an_unreached_and_an_unknown_shape_comment_fail(verdict):
    assert "FAILED example.ipynb::shape comments" in verdict
    wrong = "(batch, batch): the tensor is (2, 3), where batch cannot be 3, for batch is 2"
    told = {line for line in verdict.splitlines() if line.startswith("code cell")}
    assert told == {
        f"code cell 10, line 1: # {wrong}",
        "code cell 11, line 2: never reached: # (batch, length)",
        "code cell 12, line 1: 'width' is no word for a size: # (width)",
    }


@pytest.mark.parametrize("where", TOLERANCE)
def test_pictures_that_look_alike_are_near_and_others_far(where):
    assert picture_distances(RISING, RISING)[where] == 0
    assert picture_distances(RISING, ALMOST_RISING)[where] < TOLERANCE[where]
    assert picture_distances(RISING, FALLING)[where] > 2 * TOLERANCE[where]
    assert allowed(RISING)[where] == TOLERANCE[where]
    assert picture_distances(STRIPES, MOVED_STRIPES)[where] < allowed(STRIPES)[where]
    assert picture_distances(STRIPES, SWAPPED_STRIPES)[where] > 2 * allowed(STRIPES)[where]


def test_kernels_print_verdicts_even_if_pytest_is_run_from_a_notebook(verdict):
    assert "PASSED example.ipynb::Cell 23\n" in verdict


def test_cells_that_run_outside_jupyter_have_nothing_to_skip():
    assert chat_cells.skip_without_model() is None
