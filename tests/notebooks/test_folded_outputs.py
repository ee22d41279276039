"""A folded output does not tell the answer.

JupyterLab shows the first line of a collapsed output in grey, so this line must not give away what the question above
it asks.
"""

import copy
import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from transformer_lessons.exercises.questions.kinds import Choices
from transformer_lessons.exercises.questions.lookup import all_questions

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
VERDICT = re.compile(r"[✓✗]|\b(?:True|False|None)\b|\w+(?:Error|Exception)\b")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?")


def first_line(cell):
    """What JupyterLab shows of a cell whose outputs are collapsed: a line of text, or nothing for a bare picture."""
    for output in cell.outputs[:1]:
        text = output.get("text") or output.get("data", {}).get("text/plain", "")
        return text.partition("\n")[0]
    return ""


def words(text):
    return {word.lower() for word in re.findall(r"[^\W\d_]{4,}", text)}


def telling(line, question=None):
    """What a line gives away: a verdict, and of a question's answer any number or word that the question lacks."""
    told = VERDICT.findall(line)
    if question is not None:
        asked = "\n".join([question.title, question.text])
        told += [number for number in NUMBER.findall(line) if number not in NUMBER.findall(asked)]
        if isinstance(question, Choices):
            wrong = " ".join(choice.text for choice in question.choices if not choice.is_right)
            right = " ".join(choice.text for choice in question.choices if choice.is_right)
            told += sorted(words(line) & words(right) - words(asked) - words(wrong))
    return told


def folded(notebook):
    """(collapsed cell, the question it follows within its section) for each cell whose outputs are collapsed."""
    question = None
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and re.search(r"(?m)^## ", cell.source):
            question = None
        elif asked := re.fullmatch(r'answer\("([\d.]+)"\)', cell.source):
            question = all_questions()[asked[1]]
        elif cell.metadata.get("jupyter", {}).get("outputs_hidden"):
            yield cell, question


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_first_line_of_a_folded_output_does_not_tell_the_answer(path):
    found = {
        f"cell {cell.execution_count}: {first_line(cell)}": told
        for cell, question in folded(nbformat.read(path, as_version=4))
        if (told := telling(first_line(cell), question))
    }
    assert found == {}


# --- and that the rule bites ---


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("weights [[0.5 0.5]]   result 20.0", "2.1"),
        ("length = 12.00, d√c = 27.71, c√d = 12.00", "3.2"),
        ("Line chart: The larger the factor, the closer to almost exactly 10.", "2.2"),
        ("with d_model = 8, the output has the shape (5, 3)", "2.7"),
        ("✗ as before, row by row", "1.8"),
        ("IndexError: index out of range in self", None),
        ("has a gradient: {'linear_k.weight': False}", None),
    ],
)
def test_a_line_that_tells_is_noticed(line, number):
    assert telling(line, all_questions().get(number))


@pytest.mark.parametrize(
    ("line", "number"), [("weights and result", "2.1"), ("for c = 3 and d = 16", None), ("", "2.2")]
)
def test_a_neutral_line_passes(line, number):
    assert telling(line, all_questions().get(number)) == []


def test_a_folded_output_belongs_to_the_question_before_it_in_its_section():
    output = new_output("stream", name="stdout", text="20.0\nand more")
    cell = new_code_cell("1", outputs=[output], metadata={"jupyter": {"outputs_hidden": True}})
    another = copy.deepcopy(cell)
    another.id = "another"
    notebook = new_notebook(cells=[new_code_cell('answer("2.1")'), cell, new_markdown_cell("## Next"), another])
    assert [question and question.number for _, question in folded(notebook)] == ["2.1", None]
    assert first_line(cell) == "20.0"
