"""Code that Python refuses, answers that a question cannot take, files that end too early: each is said to be that."""

import ast
import contextlib
import io
import json
import os
import re

import hostile
import pytest
import rewritten

from transformer_lessons.exercises.questions.verdict import answer
from transformer_lessons.marking import commands, confinement, results, verdicts
from transformer_lessons.marking.notebook import Notebook
from transformer_lessons.tools import reset

pytestmark = pytest.mark.skipif(
    os.name != "posix" or (os.geteuid() == 0 and confinement.protections() != confinement.ALL),
    reason="marking refuses to run here",
)

RIGHT = hostile.HONEST["causal_mask"]
WRONG = "import torch\n" + rewritten.wrong_answer("causal_mask").partition("import torch\n")[2]
STUB = "def causal_mask(length):\n    raise NotImplementedError"
OPEN = "def causal_mask(length):\n    mask = torch.ones((length, length)\n    return mask.tril() > 0"
OTHER = hostile.HONEST["padding_mask"]
REFUSED = {  # the cell's end, and the line at which Python stops
    "a bracket": (OPEN, "mask = torch.ones((length, length)"),
    "a colon": ("def causal_mask(length)\n    return 1", "def causal_mask(length)"),
    "an indentation": ("def causal_mask(length):\n  a = 1\n    return a", "return a"),
    "nothing in it": ("def causal_mask(length):", "def causal_mask(length):"),
    "an indented head": ("import torch\n def causal_mask(length):\n     return 1", "def causal_mask(length):"),
    "a return outside": ("def causal_mask(length):\n    mask = 1\nreturn mask", "return mask"),
    "two parameters of one name": ("def causal_mask(size, size):\n    return 1", "def causal_mask(size, size):"),
    "a capital": ("Def causal_mask(length):\n    return 1", "Def causal_mask(length):"),
    "a quotation mark": ('def causal_mask(length):\n    return "a', 'return "a'),
    "a lambda": ("causal_mask = lambda length: (1", "causal_mask = lambda length: (1"),
    "below a decorator": ("@torch.no_grad(\n)\ndef causal_mask(length):\n    return (1", "return (1"),
}


def marked(marker, *cells):
    book = hostile.notebook("import torch", *cells, 'check("causal_mask", causal_mask)')
    return marker.notebook(json.dumps(book).encode(), "6")


def row_of(result, item="causal_mask"):
    return next(row for row in result["rows"] if row["item"] == item)


@pytest.mark.parametrize("what", REFUSED)
def test_code_that_python_refuses_is_wrong_and_shown_with_its_line(marker, what):
    source, line = REFUSED[what]
    result = marked(marker, source)
    row, code = row_of(result), result["work"]["causal_mask"]["source"]
    assert (row["status"], row["mistake"]) == ("failed", verdicts.NOT_RUN)
    assert results.text_of(row).startswith("✗ causal_mask: Python cannot read this code.\n  ")
    assert re.search(r"\n  (Syntax|Indentation)Error: \w", results.text_of(row).replace("'", "x"))
    assert f"\n    at the line: {line}\n" in results.text_of(row)
    assert line in code
    assert "causal_mask" in code


@pytest.mark.parametrize("cells", [[OPEN + "\n\n" + OTHER], [OTHER + "\n\n" + OPEN], [OTHER, OPEN]])
def test_a_cell_with_one_wrong_definition_costs_the_other_nothing(marker, cells):
    result = marked(marker, *cells)
    assert row_of(result)["status"] == "failed"
    assert row_of(result, "padding_mask")["status"] == "passed"
    assert "padding_mask" not in result["work"]["causal_mask"]["source"]


@pytest.mark.parametrize("cells", [[OPEN, RIGHT], [RIGHT, OPEN], [OPEN + "\n\n" + RIGHT], [RIGHT + "\n\n" + OPEN]])
def test_a_right_definition_counts_before_and_after_one_that_python_refuses(marker, cells):
    assert row_of(marked(marker, *cells))["status"] == "passed"


@pytest.mark.parametrize("cells", [[OPEN, WRONG], [WRONG, OPEN]])
def test_a_wrong_definition_keeps_the_verdict_of_check(marker, cells):
    _, checked = rewritten.verdicts(marker, "causal_mask", "as it is", WRONG)
    row = row_of(marked(marker, *cells))
    assert (row["status"], row["mistake"]) == checked
    assert row["mistake"] != verdicts.NOT_RUN


@pytest.mark.parametrize(("cells", "status"), [([STUB, OPEN], "failed"), ([OPEN, STUB], "untouched"), ([], "missing")])
def test_only_an_attempt_that_comes_last_is_one(marker, cells, status):
    assert row_of(marked(marker, *cells))["status"] == status


HELPED = "def causal_mask(length):\n    return below(length)"
HELPERS = {  # the cell of a helper, and the line at which Python stops
    "def below(size):\n    return torch.ones((size, size).tril() > 0": "return torch.ones((size, size).tril() > 0",
    "side = 3\nbelow = lambda size: (side": "below = lambda size: (side",
}


@pytest.mark.parametrize("helper", HELPERS)
def test_an_answer_whose_helper_python_refuses_is_told_that(marker, helper):
    result = marked(marker, helper, HELPED)
    row, code = row_of(result), result["work"]["causal_mask"]["source"]
    assert (row["status"], row["mistake"]) == ("failed", verdicts.NOT_RUN)
    assert results.text_of(row).startswith(
        "✗ causal_mask: it needs `below`, which Python cannot read.\n  SyntaxError: "
    )
    assert f"\n    at the line: {HELPERS[helper]}\n" in results.text_of(row)
    assert "NameError" not in results.text_of(row)
    assert HELPERS[helper] in code
    assert HELPED in code


def test_a_name_that_no_cell_defines_is_not_called_one_that_python_refuses(marker):
    assert "NameError: name 'below' is not defined" in results.text_of(row_of(marked(marker, HELPED)))
    wrong = f"{HELPED}\n\ndef other(size):\n    return (size"
    assert "NameError: name 'below' is not defined" in results.text_of(row_of(marked(marker, wrong)))


def test_what_python_reads_is_no_attempt():
    for cell in (
        RIGHT,
        "%time x = 1\n" + RIGHT,
        ">>> causal_mask = 1",
        "await causal_mask(3)",
        "%%bash\ndef causal_mask(",
    ):
        assert Notebook(json.dumps(hostile.notebook(cell)).encode()).attempt("causal_mask") is None


ANSWERS = {  # what is typed → the answer as it is shown, and why it is none
    'answer("6.1", "b")': ("'b'", "cannot be read as a number"),
    'answer("6.1", missing)': ("missing", "NameError: name 'missing' is not defined"),
    'answer("6.6", 3)': ("3", "answered with letters"),
    'answer("6.6", "x")': ("'x'", "There is no choice"),
    'answer("6.11", 5)': ("5", "answered with a text"),
    'answer("6.11", "It is a "leak".")': (
        'answer("6.11", "It is a "leak".")',
        "Python cannot read this answer. Syntax",
    ),
    'answer("6.11", "It is\na leak")\nanswer("6.6", "a")': ('answer("6.11", "It is\na leak")', "SyntaxError: "),
}


@pytest.mark.parametrize("typed", ANSWERS)
def test_an_answer_that_a_question_cannot_take_is_shown_with_what_the_notebook_says(marker, typed):
    shown, why = ANSWERS[typed]
    number = re.search(r"\d\.\d+", typed)[0]
    row = row_of(marked(marker, RIGHT, typed), number)
    assert (row["status"], row["answer"]) == ("untouched", shown)
    assert why in results.text_of(row)
    first, *said = results.text_of(row).split("\n  ")
    assert first.startswith(f"○ {number} ")
    if "Error" not in results.text_of(row):
        value = ast.literal_eval(shown)
        assert " ".join(said) in " ".join(answer(number, value).message.split())


@pytest.mark.parametrize("typed", ['answer("6.1", ...)', 'answer("6.1", "...")', 'answer("6.1")', ""])
def test_a_blank_is_no_answer_that_cannot_be_read(marker, typed):
    assert not results.is_unreadable(row_of(marked(marker, RIGHT, typed), "6.1"))


def test_an_answer_that_can_be_read_counts_in_place_of_one_that_cannot(marker):
    row = row_of(marked(marker, 'answer("6.11", "It is a leak.")', 'answer("6.11", "a "leak"")'), "6.11")
    assert (row["status"], row["answer"]) == ("given", "It is a leak.")


# A class


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """{page: its text} of a class that has handed in what cannot be read."""
    folder = tmp_path_factory.mktemp("unreadable")
    works = {
        "lou": hostile.notebook("import torch", OPEN, 'check("causal_mask", causal_mask)'),
        "mia": hostile.notebook(RIGHT, 'check("causal_mask", causal_mask)', 'answer("6.1", "<b>")', 'answer("6.6", 3)'),
    }
    for student, book in works.items():
        (folder / "class" / student).mkdir(parents=True)
        (folder / "class" / student / "06_masking.ipynb").write_text(json.dumps(book))
    (folder / "class" / "zoe").mkdir()
    (folder / "class" / "zoe" / "06_masking.ipynb").write_text(WHOLE[:THIRD])
    said = {"stdout": io.StringIO(), "stderr": io.StringIO()}
    with contextlib.redirect_stdout(said["stdout"]), contextlib.redirect_stderr(said["stderr"]):
        assert commands.mark([str(folder / "class"), "--out", str(folder / "marks"), "--jobs", "1"]) == 0
    files = [path for path in (folder / "marks").rglob("*") if path.suffix in (".html", ".csv", ".txt")]
    found = {str(path.relative_to(folder / "marks")): path.read_text(encoding="utf-8") for path in files}
    return found | {name: one.getvalue() for name, one in said.items()}


def test_report_and_feedback_show_the_code_with_its_line_marked_and_pythons_words(pages):
    for name in ("feedback/lou/lesson_6.html", "report.html"):
        page = pages[name]
        assert "Python cannot read this code." in page
        assert "SyntaxError: " in page
        (marked_line,) = re.findall(r"<mark>(.*?)</mark>", page)
        assert re.sub(r"<.*?>", "", marked_line) == "mask = torch.ones((length, length)"
        assert "def causal_mask(length):" in re.sub(r"<.*?>", "", page)
    assert "causal_mask" not in pages["feedback/lou/lesson_6.html"].partition("Not answered")[2]
    assert "torch.ones((length" not in pages["report-anonymous.html"]


def test_an_answer_that_cannot_be_read_is_not_called_not_answered(pages):
    page, left = pages["feedback/mia/lesson_6.html"].split("Not answered")
    for number, typed, said in (
        ("6.1", "&#x27;&lt;b&gt;&#x27;", "cannot be read as a number"),
        ("6.6", "3", "letters"),
    ):
        (card,) = (one for one in re.findall(r"<article.*?</article>", page, re.DOTALL) if f"</span> {number} " in one)
        assert f"<strong>Your answer:</strong> <code>{typed}</code>" in card
        assert said in card
        assert f">{number} " not in left
    assert "<strong>2</strong>could not be read" in page
    assert "could not be read" in pages["feedback/mia/index.html"]
    assert pages["report.html"].count("<a href='feedback/mia/lesson_6.html'>") == 2
    assert pages["marks.csv"].count('"unreadable","0"') == 2


# A file that is cut off

CELLS = hostile.notebook(RIGHT, 'check("causal_mask", causal_mask)', OTHER, 'answer("6.11", "It may be a leak.")')
WHOLE = json.dumps(CELLS, indent=1)
THIRD = WHOLE.index("def padding_mask")


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        (WHOLE, ""),
        (WHOLE[:THIRD], "cut off after its cell 2"),
        (WHOLE[: THIRD - 1] + "\\", "cut off after its cell 2"),
        (WHOLE[: WHOLE.index("answer(")], "cut off after its cell 3"),
        (WHOLE[: WHOLE.rindex('"outputs"')] + '"outputs": [], "execution_count": nu', "cut off after its cell 3"),
        (WHOLE[: WHOLE.rindex("}", 0, THIRD) + 1], "cut off after its cell 2"),
        (WHOLE[:THIRD] + '"' + WHOLE[THIRD:], "damaged after its cell 2"),
        (WHOLE[: WHOLE.rindex("nbformat")], ""),  # no cell is lost
    ],
)
def test_what_is_lost_of_a_file_is_said(marker, text, lost):
    result = marker.notebook(text.encode(), "6")
    assert result["lost"] == (lost and f"it is {lost}, and the rest was not read")
    assert row_of(result)["status"] == "passed"
    assert row_of(result, "padding_mask")["status"] == ("missing" if "cell 2" in lost else "passed")


@pytest.mark.parametrize("share", range(5, 100, 5))
def test_a_lesson_cut_off_anywhere_is_said_to_be_cut_off(share):
    data = reset.original("06_masking.ipynb")
    assert "cut off after its cell" in Notebook(data[: len(data) * share // 100]).lost


def test_terminal_report_and_feedback_say_that_a_file_was_read_only_in_part(pages):
    why = "it is cut off after its cell 2, and the rest was not read"
    assert f"zoe/06_masking.ipynb: {why}." in pages["stderr"]
    assert "0 files not read, 1 read only in part: " in pages["stdout"]
    assert pages["unread.txt"] == f"zoe/06_masking.ipynb: {why}\n"
    assert "<strong>1 file was read only in part</strong>, and the rest counted as 0" in pages["report.html"]
    assert f"<li><bdi>zoe/06_masking.ipynb</bdi>: {why}</li>" in pages["report.html"]
    assert f'title="{why}">in part</span>' in pages["report.html"]
    for name in ("lesson_6", "index"):
        page = pages[f"feedback/zoe/{name}.html"]
        assert f"<code>06_masking.ipynb</code> was read only in part:</strong> {why}." in page
    assert "<h2>Not answered, or not read</h2>" in pages["feedback/zoe/lesson_6.html"]
    assert "in part" not in pages["feedback/mia/lesson_6.html"] + pages["report-anonymous.html"]
