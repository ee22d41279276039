"""However a student writes a notebook, `mark` says of an answer what `check` and `answer` have said there."""

import ast
import json
import os
import random

import hostile
import numpy as np
import pytest
import rewritten

from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.verdict import check
from transformer_lessons.exercises.questions.verdict import answer
from transformer_lessons.marking import confinement, marks, policy, process, sample, verdicts
from transformer_lessons.marking.notebook import Notebook
from transformer_lessons.marking.results import text_of
from transformer_lessons.tools import reset

pytestmark = pytest.mark.skipif(
    os.name != "posix" or (os.geteuid() == 0 and confinement.protections() != confinement.ALL),
    reason="marking refuses to run here",
)


@pytest.mark.parametrize("way", rewritten.WAYS)
def test_in_whatever_way_cells_are_written_a_right_answer_gets_its_mark(marker, way):
    here, there = rewritten.verdicts(marker, "causal_mask", way)
    assert here == there == ("passed", "")


@pytest.mark.parametrize("way", rewritten.WRITTEN)
def test_in_whatever_way_cells_are_written_mark_names_the_mistake_that_check_names(marker, way):
    here, there = rewritten.verdicts(marker, "causal_mask", way, rewritten.wrong_answer("causal_mask"))
    assert here == there
    assert here[0] == "failed"
    assert here[1]


def test_what_waits_for_the_shown_result_of_a_training_takes_no_time(marker):
    training = "def train():\n    while True:\n        pass\ntorch.stack([train()])"
    cells = ["import torch", training, hostile.HONEST["causal_mask"]]
    assert rewritten.marked(marker, "causal_mask", cells) == ("passed", "")


@pytest.mark.parametrize("lesson", reset.lessons())
def test_no_answer_needs_what_its_lesson_trains_or_draws(lesson):
    book = sample.filled(json.loads(reset.fresh_copy(lesson)), random.Random(1), diligence=1, skill=1)
    notebook = Notebook(json.dumps(book).encode())
    for exercise, subject in notebook.checks:
        work = [one for one in notebook.work_on(exercise, subject) if one.cell]  # the first cell is Colab's
        assert not [one.source for one in work if isinstance(one.node, (ast.For, ast.While, ast.With))], exercise
        assert len(work) < 20, exercise


@pytest.mark.parametrize("made", ["lambda rows: lower(rows)", "[lambda rows: lower(rows)][0]"])
def test_what_runs_later_finds_a_name_that_is_made_later(marker, made):
    answer = "def causal_mask(length):\n    return below(torch.ones(length, length, dtype=torch.bool))"
    cells = ["import torch", f"below = {made}", "lower = torch.tril", answer]
    assert rewritten.marked(marker, "causal_mask", cells) == ("passed", "")


@pytest.mark.parametrize("shown", ["display(length)", "get_ipython()", "plt.figure()", "list(plt.gca())", "str(plt)"])
def test_what_stands_for_a_picture_is_no_answer(marker, shown):
    answer = f"import matplotlib.pyplot as plt\ndef causal_mask(length):\n    return {shown}"
    assert rewritten.marked(marker, "causal_mask", [answer])[0] == "failed"


def message_on(marker, name, source):
    book = hostile.notebook("import torch", source, f'check("{name}", {name})')
    rows = marker.notebook(json.dumps(book).encode(), str(EXERCISES[name].lesson))["rows"]
    return next(text_of(row) for row in rows if row["item"] == name)


def test_a_long_list_is_called_a_list_however_long_it_is(marker):
    answer = "def causal_mask(length):\n    return [[j <= i for j in range(length)] for i in range(length)]"
    message = " ".join(message_on(marker, "causal_mask", answer).split())
    assert "a list of 3; a tensor is expected" in message
    assert "ends Python" not in message


def test_a_loop_that_calls_the_model_for_ever_is_called_endless(marker, monkeypatch):
    monkeypatch.setattr(process, "ASKED", 50)
    answer = "def future_leak(model, tokens):\n    while True:\n        model(tokens)"
    message = message_on(marker, "future_leak", answer)
    assert message.startswith("✗ future_leak: it did not finish in time.")
    assert "seconds" not in message


NUMBERS = ["6.2", "Question 6.2", "6.2 ", "6,2", "06.2", "6 - 2", 6.2, 6.1, "6.10", "6.1", "six", "6", 6]


@pytest.mark.parametrize("typed", NUMBERS)
def test_a_question_is_found_by_every_number_that_answer_takes_and_by_no_other(marker, typed):
    report = answer(typed, "b")
    book = hostile.notebook(f'answer({typed!r}, "b")')
    rows = marker.notebook(json.dumps(book).encode(), "6")["rows"]
    found = {row["item"]: row["status"] for row in rows if row["status"] != "missing"}
    status = {"not attempted": "untouched"}.get(report.status, report.status)
    assert found == ({report.name: status} if report.name != "?" else {})


def test_what_numpy_warns_of_is_called_a_warning_and_shown(marker):
    answer = """def softmax(scores):
    e = np.exp(scores)
    return e / e.sum(axis=-1, keepdims=True)"""
    book = hostile.notebook("import numpy as np", answer, 'check("softmax", softmax)')
    (row,) = [row for row in marker.notebook(json.dumps(book).encode(), "1")["rows"] if row["item"] == "softmax"]
    space = {"np": np}
    exec(answer, space)
    said = check("softmax", space["softmax"]).message
    for message in (text_of(row), said):
        assert "(Python has warned: overflow encountered in exp; invalid value encountered in divide.)" in message
        assert "also printed" not in message


WRONG = "def softmax(scores):\n    e = np.exp(scores)\n    return e / e.sum(axis=-1, keepdims=True)"
CALLS = "def self_attention(x):\n    weights = softmax(x @ x.T)\n    return weights @ x, weights"


def rows_of(marker, *cells):
    book = hostile.notebook("import numpy as np", *cells)
    return {row["item"]: row for row in marker.notebook(json.dumps(book).encode(), "1")["rows"]}


def test_an_answer_that_is_wrong_by_another_answer_alone_is_told_so(marker):
    rows = rows_of(marker, WRONG, CALLS)
    assert rows["softmax"]["mistake"] == "nothing subtracted"
    row = rows["self_attention"]
    assert text_of(row).startswith("✗ self_attention: right, but for your `softmax`.\n  With the course's ")
    assert (row["status"], row["mistake"]) == ("failed", "right, but for another exercise")


@pytest.mark.parametrize(
    ("softmax", "attention"),
    [
        (WRONG, CALLS.replace("x @ x.T", "x.T @ x")),  # wrong itself, too
        (WRONG, CALLS.replace("x @ x.T", "2 * (x @ x.T)")),
        ("", CALLS),
        (WRONG, f"import inspect\n{CALLS[:22]}\n    raise ValueError(inspect.getsource(softmax))"),
        (WRONG.replace("e = ", "while True: e = "), f"{CALLS[:22]}\n    while True: softmax(x)"),
    ],
)
def test_an_answer_with_a_mistake_of_its_own_is_told_that(marker, softmax, attention):
    row = rows_of(marker, softmax, attention)["self_attention"]
    assert row["status"] == "failed"
    assert row["mistake"] != "right, but for another exercise"
    assert "right, but" not in text_of(row)
    assert "exponentials" not in text_of(row)  # a name of the course's own


def test_a_mistake_that_shows_only_with_a_right_answer_beneath_is_named(marker):
    row = rows_of(
        marker, WRONG.replace("e / e.sum(axis=-1, keepdims=True)", "e[:1]"), CALLS.replace("x @ x.T", "x.T @ x")
    )["self_attention"]
    assert (row["status"], row["mistake"]) == ("failed", "features compared, not vectors")
    assert "This shows with the course's `softmax` in place of yours." in text_of(row)
    assert "\n  Where to look: what shape do the scores have" in text_of(row)


def test_no_later_answer_finds_the_courses_in_place_of_ones_own(marker):
    spy = "def fixed_attention(x):\n    raise ValueError(softmax.__code__.co_varnames)"
    rows = rows_of(marker, WRONG, CALLS, spy, "check('self_attention', fixed_attention)")
    assert "('scores', 'e')" in " ".join(text_of(rows["fixed_attention"]).split())


@pytest.mark.parametrize(("fix", "is_half"), [("scores = scores", True), ("scores = -scores", False)])
def test_who_has_repaired_a_hunts_bug_and_missed_one_thing_is_told_both(marker, fix, is_half):
    code = f"def fixed_softmax(scores, mask):\n    {fix}.masked_fill(~mask, -torch.inf)\n    return scores.softmax(-1)"
    book = hostile.notebook("import torch", code, "check('masked_softmax', fixed_softmax)")
    rows = marker.notebook(json.dumps(book).encode(), "6")["rows"]
    (row,) = [row for row in rows if row["kind"] == "hunt"]
    assert row["status"] == "failed"
    assert ("The mask works now; one thing is missing." in text_of(row)) is is_half


MASK = "def causal_mask(length):\n    whole = torch.ones(length, length)\n    return whole.tril() == 1"


@pytest.mark.parametrize(
    ("answer", "nearly"),
    [
        (MASK.replace(" == 1", ""), True),
        (MASK.replace("tril() == 1", "tril().numpy() == 1"), True),
        (MASK.replace("tril() == 1", "triu()"), False),
        (MASK.replace(" == 1", "[:, :-1]"), False),
        (MASK.replace("(length, length)", "(length, length"), True),
        (MASK.replace("(length):", "(length)"), True),
        (MASK.replace("tril() == 1", "tril()) == 1").replace(" == 1", ""), False),  # floats, too
        (MASK.replace("(length, length)", "(length, length").replace("tril", "triu"), False),
        (f"from transformer_lessons import masks\n{MASK[:24]}\n    return masks.causal_mask(length", False),
    ],
)
def test_what_is_right_but_for_a_bracket_or_the_kind_of_its_numbers_counts_what_the_policy_says(marker, answer, nearly):
    data = json.dumps(hostile.notebook("import torch", answer, hostile.HONEST["padding_mask"])).encode()
    rows = {row["item"]: row for row in marker.notebook(data, "6")["rows"]}
    row = rows["causal_mask"]
    assert (row["status"], row.get("nearly", False), rows["padding_mask"]["status"]) == ("failed", nearly, "passed")
    for share in (0, 0.5):
        scored = marks.scored(row | {"flags": [*row["flags"]]}, policy.POLICY | {"nearly_right": share})
        assert scored["points"] == share * nearly
    assert marks.scored(row | {"flags": [verdicts.BORROWED]}, policy.POLICY | {"nearly_right": 1})["points"] == 0


OWN = WRONG.replace("np.exp(scores)", "np.exp(scores - scores.max(axis=-1, keepdims=True))")
LENT = "from transformer_lessons import first_steps"


@pytest.mark.parametrize(
    ("cells", "nearly"),
    [
        ([OWN, CALLS.replace("x.T)", "x.T")], True),
        ([WRONG.replace("e = np.exp(scores)", "e = scores"), CALLS.replace("x.T)", "x.T")], False),
        ([LENT, CALLS.replace("softmax(", "first_steps.softmax(").replace("(x):", "(x)")], True),
        ([f"{LENT}\n{CALLS.replace('softmax(', 'first_steps.softmax(').replace('(x):', '(x)')}"], True),
        ([LENT, CALLS[:22].replace(":", "") + "\n    return first_steps.self_attention(x)"], False),
    ],
)
def test_a_bracket_is_repaired_within_the_rest_of_the_notebook(marker, cells, nearly):
    row = rows_of(marker, *cells)["self_attention"]
    assert (row["status"], row.get("nearly", False)) == ("failed", nearly)


LEAK = "def future_leak(model, tokens):\n    before = model(tokens)\n    other = tokens.clone()\n"


@pytest.mark.parametrize("right", [True, False])
def test_a_number_in_a_tensor_is_nearly_right(marker, right):
    answer = EXERCISES["future_leak"].mistakes["a tensor, not a float"].variants[0]
    source = ast.unparse(answer.tree) if right else LEAK + "    return (model(other) - before).abs().max()"
    book = hostile.notebook("import torch", source, 'check("future_leak", future_leak)')
    (row,) = [row for row in marker.notebook(json.dumps(book).encode(), "6")["rows"] if row["item"] == "future_leak"]
    assert (row["status"], row.get("nearly", False)) == ("failed", right)


def test_what_a_wrong_answer_leaves_behind_spoils_no_other(marker):
    data = json.dumps(hostile.hostile("an audit hook that stays", "", 1)).encode()
    rows = {row["item"]: row["status"] for row in marker.notebook(data, "6")["rows"]}
    assert (rows["causal_mask"], rows["padding_mask"]) == ("failed", "passed")
