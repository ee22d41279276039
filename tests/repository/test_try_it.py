"""Exercises that are tried on a page: what runs there gives what PyTorch and NumPy give, and its verdicts are true.

The page itself is used by tests/proofs/site_browser.py.
"""

import ast
import json
import math
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons.exercises.checker.registry import EXERCISES

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / ".site"), str(Path(__file__).parent)]  # as when build.py runs
import expressions  # noqa: E402
import lessons  # noqa: E402
import try_it  # noqa: E402

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")
IN_FLOAT32 = re.compile(r"float32|\.float\(\)")  # the page computes in float64 throughout
NOT_SEEN = {  # what no result here shows, and check finds by other means
    ("causal_mask", "a table of fixed size"),  # of 1024
    ("grouped_query_attention", "a tiny weight on later keys"),  # of 1e-9
    ("masked_softmax", "a gradient that is NaN"),
    ("rms_norm", "another precision"),
    ("sinusoidal_encoding", "a power too large for float32"),
    ("sliding_window_mask", "a table of fixed size"),  # of 128
}
SEEN_BETTER = {("rotate", "multiplied where it should be divided")}  # in float32, its angles are too inexact for check


def run(asked):
    """{exercise: [what the page makes of each code]}"""
    given = [[name, try_it.told(name), codes] for name, codes in asked.items()]
    command = [NODE, Path(__file__).with_name("answers.js"), ROOT / ".site/static"]
    answer = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True)
    return dict(zip(asked, json.loads(answer.stdout), strict=True))


def code_of(answer):
    return ast.unparse(ast.fix_missing_locations(answer.tree))


def right_answers(name):
    return [(style, answer) for style, answer in EXERCISES[name].answers.items()]


def wrong_answers(name):
    return [(mistake.name, variant) for mistake in EXERCISES[name].mistakes.values() for variant in mistake.variants]


@pytest.fixture(scope="module")
def ran():
    """{exercise: ([(style, answer, what the page makes of it)] of right ones, the same of mistakes)}"""
    known = {name: (right_answers(name), wrong_answers(name)) for name in try_it.TRIED}
    asked = {name: [code_of(answer) for _, answer in [*right, *wrong]] for name, (right, wrong) in known.items()}
    told = run(asked)
    made = {}
    for name, (right, wrong) in known.items():
        all_of_it = [(label, answer, one) for (label, answer), one in zip([*right, *wrong], told[name], strict=True)]
        made[name] = all_of_it[: len(right)], all_of_it[len(right) :]
    return made


def flat(value):
    return [one for part in value for one in flat(part)] if isinstance(value, list | tuple) else [value]


def same_value(value, told, tolerance):
    """Is what Python gives what the page gives?"""
    ours, theirs = flat(value), flat(told)
    if len(ours) != len(theirs):
        return False
    for one, other in zip(ours, theirs, strict=True):
        if other is None:
            return one is None
        if isinstance(one, dict) or other["kind"] == "dict":
            return isinstance(one, dict) and other["kind"] == "dict"
        numbers = np.array([float(number.replace("Infinity", "inf")) for number in other["numbers"]])
        if isinstance(one, np.ndarray | torch.Tensor):
            kind = "".join(try_it.mark_of_kind(one))
            if (kind, list(one.shape)) != (other["kind"], other["shape"]):
                return False
        mine = np.array(one.tolist() if hasattr(one, "tolist") else one).ravel()
        mine = mine.view(float) if mine.dtype == complex else mine.astype(float)
        near = 2e-6 if getattr(one, "dtype", None) in (torch.float32, np.float32) else tolerance
        finite = np.abs(mine[np.isfinite(mine)]).max(initial=1.0)
        if not np.allclose(mine, numbers, rtol=near, atol=near * finite, equal_nan=True):
            return False
    return True


def differences(name, answer, told):
    """(cases whose values differ, cases of which the page says an error and Python does not)."""
    in_float32 = IN_FLOAT32.search(code_of(answer))
    tolerance = 2e-6 if in_float32 else 1e-10
    try_it.expected_of(name)  # in float32, as far as that is the default
    torch.set_default_dtype(torch.float64)
    try:
        expected, results = try_it.results_of(name, answer.answer), told["results"]
    finally:
        torch.set_default_dtype(torch.float32)
    results = results * len(expected) if len(results) == 1 else results  # an error before the first call
    wrong, unknown = [], []
    for number, ((value, _), result) in enumerate(zip(expected, results, strict=True)):
        if in_float32 and number >= len(expected) - len(try_it.MORE_INPUTS.get(name, [])):
            continue  # too hard for float32, of which nothing is asked there
        if "fault" in result:
            unknown += [result["fault"]] * (value is not None)
        elif value is None or not same_value(value, result["value"], tolerance):
            wrong.append(number)
    return wrong, unknown


@needs_node
def test_every_right_answer_runs_on_the_page_gives_pytorchs_numbers_and_is_right(ran):
    for name, (right, _) in ran.items():
        assert len(right) >= 4
        for style, answer, told in right:
            assert differences(name, answer, told) == ([], []), (name, style)
            assert told["sign"] == "✓", (name, style, told)


@needs_node
def test_known_mistakes_give_pytorchs_numbers_on_the_page_as_far_as_it_runs_them(ran):
    covered = number = 0
    for name, (_, wrong) in ran.items():
        for mistake, answer, told in wrong:
            if "torch.empty" in code_of(answer) or (name, mistake) in NOT_SEEN:
                continue  # whatever was there
            differ, unknown = differences(name, answer, told)
            assert differ == [], (name, mistake, code_of(answer))
            covered, number = covered + (not unknown), number + 1
    assert covered > 0.97 * number


@needs_node
def test_a_mistake_is_named_or_not_but_never_called_right_or_another_mistake(ran):
    named = number = 0
    for name, (_, wrong) in ran.items():
        for mistake, answer, told in wrong:
            if told["names"]:
                assert told["names"] == [mistake], (name, code_of(answer))
            assert told["sign"] == "✗" or (name, mistake) in NOT_SEEN, (name, mistake, code_of(answer))
            named, number = named + bool(told["names"]), number + 1
    assert named > 0.93 * number


def approved(name):
    """[(code, what check says of it)]"""
    text = (ROOT / "tests/verdicts" / f"{name}.md").read_text(encoding="utf-8")
    pairs = re.findall(r"```python[^\n]*\n((?:(?!```).)*?)```\n\n```text\n(.*?)```", text, flags=re.DOTALL)
    return [(code, " ".join(said.split())) for code, said in pairs]


@needs_node
def test_the_page_says_nothing_of_an_approved_answer_that_its_check_does_not_say():
    pages = {name: approved(name) for name in try_it.TRIED}
    told = run({name: [code for code, _ in pairs] for name, pairs in pages.items()})
    named = 0
    for name, pairs in pages.items():
        for (code, said), page in zip(pairs, told[name], strict=True):
            headline = said.partition(": ")[2].partition(". ")[0]
            if page["names"]:
                assert all(one in headline or (name, one) in SEEN_BETTER for one in page["names"]), code
                named += 1
            elif page["sign"] == "✓" and not said.startswith("✓"):
                assert (name, headline) in NOT_SEEN, code
            elif page["sign"] == "✗" and said.startswith("✓"):
                assert page["headline"].startswith("an error"), code
    assert named > 50


SAID = {  # the body of an answer, the line that is named, and what is said
    "return scores @ scores": (2, "(2, 3) @ (2, 3) does not fit: rows of 3 numbers meet columns of 2."),
    "return sofmax(scores)": (2, "Nothing here is called “sofmax”. Did you mean softmax?"),
    "return np.epx(scores)": (2, "This page knows no np.epx. Did you mean exp?"),
    "return scores.exp()": (2, "This page knows no method “exp” of a NumPy array. There is np.exp(…)."),
    "return torch.exp(scores)": (2, "torch.exp takes a tensor, and this is a NumPy array, which np.exp takes."),
    "return scores.sum(dim=-1)": (2, ".sum has no argument “dim” here; it has axis, dtype, out, keepdims."),
    "return scores / scores.sum(-1)": (
        2,
        "The shapes (2, 3) and (2,) do not fit together: lined up from the right, 3 meets 2. If the shorter one is a "
        "sum, a mean or a maximum: `keepdims=True` keeps the dimension that it loses.",
    ),
    "total = 1\n    while True:\n        total += 1": (None, "This takes too long: is there a loop that never ends?"),
    "return softmax(scores)": (2, "softmax calls itself without end."),
    "return scores @ scores.T scores": (
        2,
        "There is something that does not belong here: “scores”. A comma or an operator may be missing before it.",
    ),
    "retrun scores": (2, "There is something that does not belong here: “scores”."),
    "return scores)": (2, "There is something that does not belong here: “)”."),
    "return (scores": (2, "A bracket is opened on this line or before it, and not closed."),
    "if scores > 0 return 1": (2, "“:” is missing before “return”."),
    "x = {1, 2}[0]": (2, "A set has no items to index."),
    "class A(3): pass": (2, "A is built on something of which this page makes no classes."),
    "async def f(): pass": (2, "This page does not know “async”."),
    "return b'a' + 'a'": (2, "bytes + a text: Python knows no such operation."),
    "return f'{scores'": (2, "A curly bracket in this text has no partner."),
    "return f'{socres}'": (2, "Nothing here is called “socres”. Did you mean scores?"),
    "import os": (2, "This page imports only torch, torch.nn, torch.nn.functional, numpy and math."),
    "return np.ones((10000, 10000))": (2, "A shape of (10000, 10000) is too large for this page."),
    "return scores[5]": (2, "Index 5 is out of range: dimension 0 has the size 2."),
    "return 1 / 0": (2, "Division by zero."),
}


@needs_node
def test_an_error_is_one_clear_sentence_with_its_line():
    known = {**try_it.told("softmax")}
    known |= {"cases": known["cases"][1:2], "mistakes": [], "pairs": []}  # scores of shape (2, 3)
    codes = [f"def softmax(scores):\n    {body}\n" for body in SAID]
    command = [NODE, Path(__file__).with_name("answers.js"), ROOT / ".site/static"]
    asked = json.dumps([["softmax", known, codes]])
    answer = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    for (body, (line, sentence)), told in zip(SAID.items(), json.loads(answer.stdout)[0], strict=True):
        assert told["sign"] == "✗", body
        assert told["why"][0] == sentence, body
        assert line is None or told["line"] == line, body


FIRST = "def softmax(scores):\n    "
NO_RESULT = {
    "raise NotImplementedError": ("○", "not attempted yet."),
    "weights = np.exp(scores)": ("✗", "it returns nothing."),
    "return [1, 2]": ("✗", "the wrong kind of result."),
    "return scores * 0": ("✗", "the wrong numbers."),
    "scores -= scores.max(-1, keepdims=True)\n    e = np.exp(scores)\n    return e / e.sum(-1, keepdims=True)": (
        "✗",
        "it changes its input.",
    ),
}


@needs_node
def test_a_stub_a_forgotten_return_and_a_changed_input_are_told_as_what_they_are():
    told = run({"softmax": [FIRST + body for body in NO_RESULT]})["softmax"]
    assert [(one["sign"], one.get("headline")) for one in told] == list(NO_RESULT.values())


@needs_node
def test_a_right_pair_in_the_other_order_is_told_as_that():
    pair = "def attention(query, key, value):\n    w = (query @ key.mT).softmax(-1)\n    return {}, w @ value\n"
    swapped, wrong = run({"attention": [pair.format("w"), pair.format("2 * w")]})["attention"]
    assert swapped["headline"] == "the wrong order."
    assert "the pair is the wrong way round: (output, weights) is expected" in swapped["why"][0]
    assert wrong["headline"] != "the wrong order."


@needs_node
def test_what_was_solved_before_can_be_called_and_only_then():
    code = "def self_attention(x):\n    weights = softmax(x @ x.T)\n    return weights @ x, weights\n"
    right = code_of(right_answers("softmax")[0][1])
    known = try_it.told("self_attention")
    assert run({"self_attention": [code]})["self_attention"][0]["why"] == [
        "softmax is an exercise: solve it here first, and then you can call it."
    ]
    command = [NODE, Path(__file__).with_name("answers.js"), ROOT / ".site/static"]
    given = json.dumps([["self_attention", known, [code], {"softmax": right, "attention": "def attention("}]])
    answer = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout)[0][0]["sign"] == "✓"


def test_an_exercise_that_can_be_typed_is_typed_in_its_lesson_which_its_own_page_links():
    for name in try_it.TRIED:
        place = re.search(r'data-notebook="notebooks/([^"#]+)\.html#([^"]+)"', try_it.editor(name, "own"))
        assert place[2] == f"exercise--{name}"  # as Sphinx names the heading, too
        page = json.loads(lessons.lesson_page(ROOT / f"notebooks/{place[1]}.ipynb"))
        texts = ["".join(cell["source"]) for cell in page["cells"]]
        (at,) = (at for at, text in enumerate(texts) if f"### Exercise · `{name}`" in text)
        assert f'data-exercise="{name}" data-page="lesson"' in texts[at + 1]
        assert not any(text.startswith(f"def {name}(") and "NotImplementedError" in text for text in texts)
        assert not any(f'check("{name}", {name})' in text for text in texts)
        assert texts[-1] == try_it.STYLES_AND_SCRIPTS.format("../")


@needs_node
def test_a_right_mask_is_shown_where_it_forbids_something():
    code = code_of(right_answers("padding_mask")[0][1])
    shown = run({"padding_mask": [code]})["padding_mask"][0]["matrix"]
    assert {cell["text"] for row in shown["rows"] for cell in row} == {"True", "False"}


@needs_node
def test_a_tiny_number_that_is_right_has_two_decimals_among_others_that_have():
    inputs, expected = [0.003, -0.001, 0.5, 2.0], [0.003, -0.001, 0.5, 0.004]
    case = {"inputs": [["af", [2, 2], inputs]], "expected": [["af", [2, 2], expected]]}
    known = {**try_it.told("softmax"), "cases": [case], "mistakes": [], "pairs": []}
    factors = ("1", "[[1, 1], [1, 0.001]]", "[[1, 1], [0, 0.002]]")
    codes = [f"def softmax(scores):\n    return scores * np.array({one})\n" for one in factors]
    command = [NODE, Path(__file__).with_name("answers.js"), ROOT / ".site/static"]
    given = json.dumps([["softmax", known, codes]])
    answer = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    shown = [[cell["text"] for row in one["matrix"]["rows"] for cell in row] for one in json.loads(answer.stdout)[0]]
    assert shown[:2] == [["0.00", "0.00", "0.50", "2.00"], ["0.00", "0.00", "0.50", "2.0e-3"]]
    assert shown[2] == ["3.0e-3", "-1.0e-3", "0.00", "4.0e-3"]


def test_no_two_mistakes_of_an_exercise_have_the_same_results_here():
    for name in try_it.TRIED:
        taken = {}
        for mistake, _, _, _, patterns in try_it.known_mistakes(name):
            for pattern in patterns:
                assert taken.setdefault(pattern, mistake) == mistake, name


def test_the_script_of_an_exercise_holds_inputs_with_few_digits_and_is_small(tmp_path):
    try_it.write_tried(tmp_path / "try")
    for name in try_it.TRIED:
        script = (tmp_path / f"try/{name}.js").read_text(encoding="utf-8")
        assert len(script.encode()) < 100_000, name
        told = json.loads(script.partition(f'["{name}"] = ')[2].rstrip(";\n"))
        assert len(told["cases"]) >= 5
        for value in (value for case in told["cases"] for value in case["inputs"] if isinstance(value[1], list)):
            assert len(value[2]) == math.prod(value[1])


def test_the_page_of_an_exercise_and_that_of_all_have_its_stub_in_a_field_with_a_name():
    everything = try_it.try_page()
    for name in try_it.TRIED:
        own = try_it.editor_on_its_own_page(name)
        for page, prefix in ((own, "../"), (everything, "")):
            area = re.search(rf'<textarea id="code-{name}" [^>]*>(.*?)</textarea>', page, flags=re.DOTALL)
            assert unescape(area[1]) == EXERCISES[name].stub.strip()
            assert page.count(f'<label for="code-{name}">') == 1
            assert f'<script src="{prefix}_static/try_it.js" defer></script>' in page
        assert "\n\n" not in own, "Markdown would end the piece of HTML"
        assert f'<section class="tried" id="{name}">' in everything


@needs_node
def test_two_mistakes_at_once_are_named_where_one_of_them_seldom_comes_alone():
    for name in [*try_it.WITH_ANOTHER, *(name for name, *_ in try_it.WITH_ONE_OF)]:
        pairs = {tuple(one.name for one in mistakes): variant for mistakes, variant in try_it.pairs_of(name)}
        known = [mistake for mistake, *_ in try_it.known_mistakes(name)]
        chosen = [(known[one], known[other]) for one, other, _ in try_it.known_pairs(name)]
        told = run({name: [code_of(pairs[names]) for names in chosen]})[name]
        assert len(chosen) >= 4
        named = [tuple(one["names"]) for one in told]
        unnamed = [code_of(pairs[names]) for names, one in zip(chosen, told, strict=True) if not one["names"]]
        assert all("np.maximum.accumulate" in code for code in unnamed)  # which is not known there
        assert [names or both for names, both in zip(named, chosen, strict=True)] == chosen


@needs_node
@pytest.mark.parametrize("kind", ["tensors", "arrays"])
def test_an_expression_has_the_value_that_it_has_in_python_or_is_refused_in_both(kind):
    generator = torch.Generator().manual_seed(1)
    floats = [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in ((2, 3, 4), (3, 4), (4,))]
    tensors = [*map(try_it.rounded, floats), torch.tensor([[1, 2, 0], [2, 0, 1]])]
    inputs = tensors if kind == "tensors" else [one.numpy() for one in tensors]
    asked = (expressions.OF_TENSORS if kind == "tensors" else expressions.OF_ARRAYS).split("\n")[1:-1]
    case = {"inputs": [*map(try_it.told_of, inputs)], "expected": [try_it.told_of(inputs[0])]}
    known = try_it.told("softmax") | {"cases": [case], "mistakes": [], "pairs": [], "inputs": ["x", "y", "v", "k"]}
    codes = [f"def softmax(x, y, v, k):\n    return {expression}\n" for expression in asked]
    command = [NODE, Path(__file__).with_name("answers.js"), ROOT / ".site/static"]
    given = json.dumps([["softmax", known, codes]])
    answer = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    assert len(asked) > 100
    for expression, told in zip(asked, json.loads(answer.stdout)[0], strict=True):
        names = {"np": np, "torch": torch, "F": F, "nn": nn, "math": math} | dict(zip("xyvk", inputs, strict=True))
        try:
            with np.errstate(all="ignore"):
                expected = eval(expression, names)
        except Exception:  # whatever PyTorch raises
            assert "fault" in told["results"][0], expression
        else:
            assert "value" in told["results"][0], (expression, told["results"][0])
            value = told["results"][0]["value"]
            assert same_value([expected], [value], 1e-10), expression


@needs_node
def test_the_softmax_that_numpy_invites_to_is_told_of_both_its_mistakes():
    code = "def softmax(scores):\n    e = np.exp(scores - scores.max())\n    return e / e.sum()"
    (told,) = run({"softmax": [code]})["softmax"]
    assert told["names"] == ["sum over more than one row", "the largest of all subtracted"]


@needs_node
def test_the_page_is_no_stricter_than_the_check():
    (_, right), *_ = right_answers("sinusoidal_encoding")
    within = (
        code_of(right)
        + "\nexact = sinusoidal_encoding\ndef sinusoidal_encoding(*sizes):\n    return exact(*sizes) * (1 + 6e-5)"
    )
    assert run({"sinusoidal_encoding": [within]})["sinusoidal_encoding"][0]["sign"] == "✓"
