"""Lesson 7's bug hunt: each fixed fault turns its own question green, and no other."""

import contextlib
import io
import re
from pathlib import Path

import nbformat
import pytest

pytestmark = pytest.mark.usefixtures("threads_kept")
NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "07_full_model.ipynb"
FIXED = {
    1: {
        "x.std(-1, keepdim=True)": "x.var(-1, correction=0, keepdim=True)",
        "(std + self.eps)": "(std + self.eps).sqrt()",
    },
    2: {"self.table[: x.size(0)]": "self.table[: x.size(1), 0]"},
    3: {"self.norm_1(x + self.dense(x))": "self.norm_2(x + self.dense(x))"},
    4: {
        "[BlogEncoderLayer(size, heads)] * depth": "[BlogEncoderLayer(size, heads) for _ in range(depth)]",
        "[BlogDecoderLayer(size, heads)] * depth": "[BlogDecoderLayer(size, heads) for _ in range(depth)]",
    },
    5: {"tril(diagonal=1)": "tril()"},
    6: {"cross_attention(x, memory, memory)": "cross_attention(x, memory, memory, memory_mask)"},
}
HALF_FIXED = {
    1: {"(std + self.eps)": "(std**2 + self.eps).sqrt()"},
    2: {"x + self.table[: x.size(0)]": "x"},
    4: {"[BlogEncoderLayer(size, heads)] * depth": "[BlogEncoderLayer(size, heads) for _ in range(depth)]"},
    5: {"tril(diagonal=1)": "tril(diagonal=-1)"},
}


def cells():
    """The imports, `train_to_reverse` and what it needs, and the hunt, up to the theory."""
    code = [cell.source for cell in nbformat.read(NOTEBOOK, 4).cells if cell.cell_type == "code"]
    start = next(number for number, source in enumerate(code) if source.startswith("class BlogNorm"))
    end = code.index('answer("7.13")')
    wanted = re.compile(r"^def (train_to_reverse|write_greedily|reversed_of_64)\(", flags=re.MULTILINE)
    helpers = [re.split(r"\n{3}", source)[0] for source in code[:start] if wanted.search(source)]
    return [code[1], *helpers, *code[start:end]]


def untrained(source):
    """Of a cell that trains, or uses the trained model: the function it starts with, if any."""
    return re.split(r"\n{3}", source)[0] if source.startswith("def ") else ""


def run(changes, training=False):
    """What the hunt prints when the lines of its classes are changed."""
    sources = [source if training or "suspicious" not in source else untrained(source) for source in cells()]
    for old, new in changes.items():
        assert sum(old in source for source in sources) == 1
        sources = [source.replace(old, new) for source in sources]
    printed, namespace = io.StringIO(), {}
    with contextlib.redirect_stdout(printed):
        for source in sources:
            exec(compile(source, "cell", "exec"), namespace)
    return printed.getvalue()


def marks(text):
    return {int(number): mark for mark, number in re.findall(r"^([✓✗]) (\d)", text, flags=re.MULTILINE)}


def test_six_faults_six_symptoms():
    assert marks(run({})) == dict.fromkeys(FIXED, "✗")


@pytest.mark.parametrize("fault", FIXED)
def test_a_fixed_fault_turns_its_own_question_green_and_no_other(fault):
    assert marks(run(FIXED[fault])) == {number: "✓" if number == fault else "✗" for number in FIXED}


@pytest.mark.parametrize("fault", HALF_FIXED)
def test_a_half_fixed_fault_stays_red(fault):
    assert marks(run(HALF_FIXED[fault]))[fault] == "✗"


def test_the_fixed_model_reverses_everything():
    text = run({old: new for changes in FIXED.values() for old, new in changes.items()}, training=True)
    assert marks(text) == dict.fromkeys(FIXED, "✓")
    assert "reversed: 1.00" in text
