"""What is typed as a number is read alike in Python and by the cards' script."""

import json
import math
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from transformer_lessons.exercises.questions import arithmetic

SCRIPT = Path(arithmetic.__file__).with_name("answers.js")
READ = """
require('vm').runInThisContext(require('fs').readFileSync(process.argv[1], 'utf8'));
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(texts.map(text => answers.read({shape: false}, text))));
"""
TEXTS = [
    *("0,125", "0,625", "1,5", "-0,125", "3,141", "10,000.5", "1.024,5", "1,050,624", "1.000.000", "1 000,5", "4'096"),
    *("1_000", "12 345", "√2", "1/√2", "ln 8", "ln(8)", "2 x 3", "2x3", "2.5e-3", "2,5e-3", "1e-3", "10^-6", "-2^2"),
    *("50 %", "12,5 %", "50 % / 2", "[3]", "(1 + 2)·3", "4×512×513", "1/(1 + exp(-1))", "−7", "007", "5.", ".5", ".02"),
    *(
        "",
        "two",
        "1 2",
        "2 sqrt 2",
        "1,2,3",
        "1.5.",
        "()",
        "2 ** ",
        "1//2",
        "nan",
        "3 = 3",
        "0 x 5",
        "1/0",
        "%",
        "5 %%",
    ),
]
PIECES = (
    "0",
    "1",
    "2",
    "7",
    "10",
    "100",
    "000",
    ".",
    ",",
    " ",
    "+",
    "-",
    "*",
    "/",
    "^",
    "(",
    ")",
    "%",
    "√",
    "ln ",
    "x",
)


def in_python(text):
    try:
        value = arithmetic.calculated(text)
    except Exception:
        return None
    return value if isinstance(value, float) and math.isfinite(value) else None


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_the_cards_read_a_number_as_python_does():
    draw = random.Random(0)
    texts = TEXTS + ["".join(draw.choices(PIECES, k=draw.randint(1, 7))) for _ in range(2000)]
    asked = json.dumps(texts)
    answer = subprocess.run(["node", "-e", READ, SCRIPT], input=asked, capture_output=True, text=True, check=True)
    read = json.loads(answer.stdout)
    assert sum(number is not None for number in read) > 300
    differ = [
        (text, ours, theirs)
        for text, ours, theirs in zip(texts, map(in_python, texts), read, strict=True)
        if (ours is None) != (theirs is None) or (ours is not None and not math.isclose(ours, theirs, rel_tol=1e-12))
    ]
    assert differ == []


@pytest.mark.parametrize(("text", "number"), [(".02", 0.02), ("-.05", -0.05), ("1/.04", 25.0), ("007", 7.0)])
def test_zeros_behind_a_point_count(text, number):
    assert in_python(text) == pytest.approx(number, rel=1e-12)
