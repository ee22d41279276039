"""The pytest plugin that makes nbval as strict as the lessons need; pyproject.toml loads it.

nbval runs every cell and compares its text. What it leaves open is closed here, in the same run: pictures are
compared as thumbnails, explorers weight by weight; shape comments are held against the tensors (see
shape_comments.py). What was trained or measured may differ by as much as the cell's metadata states. A cell that
needs the chat model is not compared where its file is not there.

Methods of nbval's two classes are replaced: nbval names these classes in its hook and in its loop over the cells, so
that subclasses would need a copy of both.
"""

import ast
import base64
import copy
import functools
import io
import math
import os
import re
import sys
import zlib
from pathlib import Path
from unittest import mock

import forked_kernels
import pytest
from jupyter_client.provisioning import local_provisioner
from nbval.plugin import IPyNbCell, IPyNbFile

TESTS = Path(__file__).resolve().parent

# How far a picture may be from the saved one, of 255. Text is grey, and each release of matplotlib draws it a
# little differently: from 3.10 to 3.11 whole pictures moved by up to 8, their colours, which are the data, by
# up to 1.6. Pictures with their data the other way round were at least 3.2 apart in colour.
TOLERANCE = {"as a whole": 12, "in its colours": 2.4}

# Or how large a share of the saved picture's own distance from white (from grey): where all is narrow
# stripes, axes that are one pixel wider move every stripe. From 3.10 to 3.11 that made up to 0.15 of such
# pictures; data the other way round, at least 0.36.
SHARE = 0.2
SHARE_OF_EXPLORERS = 0.5  # whose panels move with the words beside them, and whose weights are compared below

# How far a weight in an explorer may be from the saved one. Another CPU trained lesson 7's model to weights
# that differed by up to 0.015.
WEIGHT_TOLERANCE = 0.05

# One thread: the last digits of a sum depend on how many threads made it. Kernels inherit this.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

# Verdicts as text, even if a notebook runs pytest: cards say what the learner has solved, and are not compared.
os.environ.pop("JPY_SESSION_NAME", None)


def pytest_configure(config):
    config.option.nbval_sanitize_with = str(TESTS / "nbval_sanitize.cfg")
    if not getattr(config.option, "numprocesses", None):  # else it is the workers who run kernels
        config.option.cov_source = None  # pytest-cov has read it; nbval would trace kernels too
    if config.args_source is config.ArgsSource.INVOCATION_DIR:  # no path given: everything, wherever we stand
        folders = [config.rootpath / name for name in config.getini("testpaths")]
        config.args = [str(folder) for folder in folders if folder.exists()]


# --- pictures ---


def pictures(outputs):
    return [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]


@functools.lru_cache(maxsize=2)  # of two pictures that are compared, each is read once
def thumbnail(png):
    """64 × 64 pixels, blurred a little, on white."""
    import numpy as np
    from PIL import Image, ImageFilter

    picture = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGBA")
    on_white = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture).convert("RGB")
    blurred = on_white.filter(ImageFilter.GaussianBlur(2))
    return np.asarray(blurred.resize((64, 64), Image.Resampling.BOX), dtype=float)


def picture_distances(png, other):
    """The root of the mean squared difference of two thumbnails, and the same without all that is grey."""
    return sizes(thumbnail(png) - thumbnail(other))


def sizes(pixels):
    """The root of the mean square, of all and of what is not grey."""
    colours = pixels - pixels.mean(axis=-1, keepdims=True)
    return dict(zip(TOLERANCE, [float((part**2).mean() ** 0.5) for part in (pixels, colours)], strict=True))


def allowed(saved, share=SHARE):
    """How far a picture may be from this one."""
    own = sizes(255 - thumbnail(saved))
    return {where: max(least, share * own[where]) for where, least in TOLERANCE.items()}


# --- explorers ---

PACKED = r'(?<="packed": ")[\w=-]*'  # the weights, and the table made of them
TABLE = r"(?s)(?<=<tbody>).*?(?=</tbody>)"


def explorer_weights(page):
    """All weights that an explorer's page holds, in a row."""
    import numpy as np

    packed = zlib.decompress(base64.urlsafe_b64decode(re.search(PACKED, page)[0]))
    decimals = int(re.search(r'"decimals": (\d)', page)[1])
    planes = np.frombuffer(packed, np.uint8).reshape(decimals - 1, -1)
    return sum(plane * 256.0**place for place, plane in enumerate(planes)) / 10**decimals


def without_weights(outputs):
    """The outputs without what their explorers show, as far as it was computed; and all of their weights."""
    outputs, weights = copy.deepcopy(outputs), []
    for output in outputs:
        page = output.get("data", {}).get("text/html", "")
        if page.startswith('<div class="attention-explorer'):
            weights.append(explorer_weights(page))
            output["data"]["text/html"] = re.sub(TABLE, "", re.sub(PACKED, "", page))
    return outputs, weights


# --- numbers ---

DECIMAL = re.compile(r"-?\d+\.\d+(?:e[+-]\d+)?")


def tolerance_of(cell):
    """What a cell's metadata allows its numbers, as math.isclose takes it; None if it allows nothing.

    {"tolerance": {"absolute": 0.02}} lets every number be 0.02 away from the saved one, {"relative": 0.1} a tenth of
    the larger of the two; with both, whichever is more. Only numbers with a decimal point may differ: words, whole
    numbers and line breaks may not.
    """
    stated = cell.metadata.get("tolerance")
    if stated is None:
        return None
    if not stated or not stated.keys() <= {"absolute", "relative"} or not all(0 < much < 1 for much in stated.values()):
        raise ValueError(f"a tolerance has an absolute or a relative part between 0 and 1, not {dict(stated)}")
    return {"abs_tol": stated.get("absolute", 0), "rel_tol": stated.get("relative", 0)}


def numbers_too_far(new, saved, tolerance):
    """The numbers of a text that are further than the tolerance from the saved ones; None if its words differ."""
    words = [" ".join(DECIMAL.sub("#", line).split()) for line in new.splitlines()]
    if words != [" ".join(DECIMAL.sub("#", line).split()) for line in saved.splitlines()]:
        return None
    pairs = zip(DECIMAL.findall(new), DECIMAL.findall(saved), strict=True)
    return [pair for pair in pairs if not math.isclose(*map(float, pair), **tolerance)]


def within_tolerance(outputs, saved_outputs, tolerance):
    """The outputs, with the saved text in the place of each text whose numbers are near enough; and the others."""
    outputs, far = copy.deepcopy(outputs), []
    for output, saved in zip(outputs, saved_outputs, strict=False):
        for place, kept, kind in (
            (output, saved, "text"),
            (output.get("data", {}), saved.get("data", {}), "text/plain"),
        ):
            if kind in place and kind in kept:
                too_far = numbers_too_far(place[kind], kept[kind], tolerance)
                if too_far == []:
                    place[kind] = kept[kind]
                far += [f"{new} is too far from the saved {old}" for new, old in too_far or []]
    return outputs, far


# --- all of it ---


def was_skipped(outputs):
    """Whether this cell only said that it needs the chat model."""
    from transformer_lessons.language.chat_cells import INSTEAD

    return [output.get("text") for output in outputs] == [f"{INSTEAD}\n"]


def compare_all(cell, test, ref, skip_compare=None, compare_text=IPyNbCell.compare_outputs):
    if was_skipped(test):
        return True
    (test, new_weights), (ref, saved_weights) = without_weights(test), without_weights(ref)
    tolerance, differences = tolerance_of(cell.cell), []
    if tolerance:
        test, differences = within_tolerance(test, ref, tolerance)
    same = compare_text(cell, test, ref, skip_compare)
    new, saved = pictures(test), pictures(ref)
    if len(new) != len(saved):
        differences.append(f"{len(saved)} pictures are saved, and {len(new)} were made")
    for number, pair in enumerate(zip(new, saved, strict=False), start=1):
        if pair[0] == pair[1]:
            continue  # byte for byte, as on the machine that saved it
        most = allowed(pair[1], SHARE_OF_EXPLORERS if saved_weights else SHARE)
        differences += [
            f"picture {number} is {distance:.1f} from the saved one {where}: over {most[where]:.3g}"
            for where, distance in picture_distances(*pair).items()
            if distance > most[where]
        ]
    if same:  # so there are equally many weights
        differences += [
            f"a weight of explorer {number} is {distance:.3f} from the saved one: over {WEIGHT_TOLERANCE}"
            for number, pair in enumerate(zip(new_weights, saved_weights, strict=True), start=1)
            if (distance := abs(pair[0] - pair[1]).max()) > WEIGHT_TOLERANCE
        ]
    cell.comparison_traceback += differences
    return same and not differences


IPyNbCell.compare_outputs = compare_all


# --- shape comments ---

BEGIN = f"""
import sys
sys.path.append({str(TESTS)!r})
from shape_comments import NotingCells
__cells__ = NotingCells(get_ipython())
"""


def ask(kernel, code, expression="None"):
    """Run code in the kernel, unseen by the notebook, and return the value of an expression."""
    message = kernel.kc.execute(code, silent=True, user_expressions={"value": expression})
    while (reply := kernel.get_message("shell", timeout=60))["parent_header"].get("msg_id") != message:
        pass
    return ast.literal_eval(reply["content"]["user_expressions"]["value"]["data"]["text/plain"])


class ShapeComments(pytest.Item):
    """What follows the last cell of a notebook: its shape comments, held against what the cells made."""

    def runtest(self):
        mistakes = ask(self.parent.kernel, "", "__cells__.record.mistakes()")
        if mistakes:
            pytest.fail("\n".join(mistakes), pytrace=False)

    def reportinfo(self):
        return self.path, 0, self.name


def start_kernel_and_take_notes(notebook, start=IPyNbFile.setup):
    launch = forked_kernels.launch if sys.platform == "linux" else local_provisioner.launch_kernel
    with mock.patch.object(local_provisioner, "launch_kernel", launch):
        start(notebook)
    ask(notebook.kernel, BEGIN)


def collect_cells_and_shape_comments(notebook, collect=IPyNbFile.collect):
    yield from collect(notebook)
    yield ShapeComments.from_parent(notebook, name="shape comments")


IPyNbFile.setup = start_kernel_and_take_notes
IPyNbFile.collect = collect_cells_and_shape_comments
