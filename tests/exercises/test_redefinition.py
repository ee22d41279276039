"""A verdict says when it is about an older definition, which a later cell should have replaced."""

import linecache
import os
import sys
import warnings
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker import redefinition
from transformer_lessons.running import errors

RIGHT = "def causal_mask(length):\n    return torch.ones(length, length).tril().bool()"
WRONG = "def causal_mask(length):\n    return torch.ones(length, length).triu().bool()"
STUB = "def causal_mask(length):\n    raise NotImplementedError"
CHECK = 'report = check("causal_mask", causal_mask)'
MASK = "○ causal_mask: this is the definition from an earlier cell."
LAYER = """class FeedForward(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.linear_in = nn.Linear(d_model, d_hidden)
        self.linear_out = nn.Linear(d_hidden, d_model)

    def forward(self, x):
        return self.linear_out(torch.relu(self.linear_in(x)))"""
CHECK_LAYER = 'report = check("FeedForward", FeedForward)'
PASSED, FAILED = "✓ causal_mask", "✗ causal_mask: "

OLDER = {  # cells → what the last one prints, to begin with, and what else
    "a bracket missing": (
        [RIGHT, CHECK, RIGHT.replace("bool()", "bool("), CHECK],
        MASK,
        [
            "`causal_mask` did not run: SyntaxError: ",
            "That version passes;",
            "at the line: return torch.ones(length, length).tril().bool(",
        ],
    ),
    "a colon missing": ([RIGHT, RIGHT.replace("):", ")"), CHECK], MASK, ["at the line: def causal_mask(length)"]),
    "def misspelt": ([RIGHT, RIGHT.replace("def ", "dfe "), CHECK], MASK, ["at the line: dfe causal_mask(length):"]),
    "not indented": ([RIGHT, RIGHT.replace("    ", ""), CHECK], MASK, ["IndentationError"]),
    "after other lines": ([RIGHT, "import math\n\n" + RIGHT.replace("bool()", "bool("), CHECK], MASK, []),
    "an older one that is wrong": ([WRONG, RIGHT + "))", CHECK], MASK, ["That version does not pass ("]),
    "an older one that is a stub": ([STUB, RIGHT + "))", CHECK], MASK, ["That version has not been written yet;"]),
    "cells between": ([RIGHT, RIGHT + "))", "x = 1", "causal_mask(3)", CHECK, CHECK], MASK, []),
    "a class": ([LAYER, LAYER + ")", CHECK_LAYER], "○ FeedForward: this is the definition from an earlier cell.", []),
    "a class that fails": (
        [LAYER, LAYER.replace("nn.Module", "nn.Modul"), CHECK_LAYER],
        "○ FeedForward: this is the definition from an earlier cell.",
        ["did not run: AttributeError: module 'torch.nn' has no attribute 'Modul'"],
    ),
    "a lambda": (
        [
            "causal_mask = lambda length: torch.ones(length, length).tril().bool()",
            "def causal_mask(length)\n    return 1",
            CHECK,
        ],
        MASK,
        [],
    ),
    "another name": (
        [
            RIGHT.replace("causal_mask", "mine"),
            RIGHT.replace("causal_mask", "mine") + ")",
            'report = check("causal_mask", mine)',
        ],
        MASK,
        ["last cell that defines `mine`"],
    ),
}
CURRENT = {
    "fixed": ([RIGHT, RIGHT + ")", RIGHT + "  # fixed", CHECK], PASSED),
    "the old cell again": ([RIGHT, RIGHT + ")", RIGHT, CHECK], PASSED),
    "fixed, and wrong": ([RIGHT, RIGHT + ")", WRONG, CHECK], FAILED),
    "given back by hand": ([RIGHT, "first = causal_mask", WRONG, "causal_mask = first", CHECK], PASSED),
    "given back after an error": (
        [RIGHT, "first = causal_mask", WRONG + "\n1 / 0", "causal_mask = first", CHECK],
        PASSED,
    ),
    "an older one on purpose": (
        [RIGHT, "first = causal_mask", WRONG + ")", RIGHT + "  # 2", 'report = check("causal_mask", first)'],
        PASSED,
    ),
    "defined, then an error": ([RIGHT, WRONG + "\n1 / 0", CHECK], FAILED),
    "another function is broken": ([RIGHT, "def other(x):\n    return causal_mask(", CHECK], PASSED),
    "one in another is broken": ([RIGHT, "def other(x):\n    def causal_mask(y):\n        return (", CHECK], PASSED),
    "a method is broken": ([RIGHT, "class Other:\n    def causal_mask(self):\n        return (", CHECK], PASSED),
    "a broken call": ([RIGHT, "print causal_mask(3)", "causal_mask(3", CHECK], PASSED),
    "a longer name is broken": ([RIGHT, "def causal_masks(x):\n    return (", CHECK], PASSED),
    "imported": (
        ["def causal_mask(length):\n    return (", "from transformer_lessons.masks import causal_mask", CHECK],
        PASSED,
    ),
    "with a magic": ([RIGHT, RIGHT + ")", "%%time\n" + RIGHT, CHECK], PASSED),
    "all in one cell": ([RIGHT, RIGHT + ")", f"{RIGHT}\n{CHECK}"], PASSED),
    "the history is gone": (
        [RIGHT, RIGHT + ")", "get_ipython().history_manager.input_hist_parsed[:] = ['']", CHECK],
        PASSED,
    ),
    "no history at all": (
        [
            RIGHT,
            RIGHT + ")",
            "shell = get_ipython(); saved = shell.history_manager\n"
            f"shell.history_manager = None\ntry:\n    {CHECK}\nfinally:\n    "
            "shell.history_manager = saved",
        ],
        PASSED,
    ),
}


@pytest.fixture(scope="module")
def run():
    """Runs cells in a real kernel, one after the other, and returns what the last one prints."""
    manager = pytest.importorskip("jupyter_client").KernelManager(kernel_name="python3")
    manager.start_kernel(
        env={**os.environ, "PYTHONPATH": os.path.dirname(errors.PACKAGE.rstrip(os.sep)), "OMP_NUM_THREADS": "1"}
    )
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)

    def run(cells):
        for cell in cells:
            printed = []
            client.execute_interactive(
                cell,
                timeout=60,
                stop_on_error=False,
                output_hook=lambda message, printed=printed: printed.append(message["content"].get("text", "")),
            )
        return "".join(printed)

    run(["import torch\nfrom torch import nn\nfrom transformer_lessons.exercises import check"])
    yield run
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("case", OLDER)
def test_a_verdict_on_an_older_definition_says_so(run, case):
    cells, first, more = OLDER[case]
    message = run(cells)
    assert message.startswith(first), message
    words = " ".join(message.split())
    assert all(one in words for one in [*more, "Where to look: fix that cell and run it, then run this one again."])
    assert max(map(len, message.splitlines())) <= 96


@pytest.mark.parametrize("case", CURRENT)
def test_a_verdict_on_the_last_definition_says_nothing_of_others(run, case):
    cells, first = CURRENT[case]
    message = run(cells)
    assert message.startswith(first), message
    assert "earlier cell" not in message


class Shell:
    """As much of a notebook as a check reads: it runs cells, and keeps their texts and their errors."""

    def __init__(self, monkeypatch):
        self.monkeypatch, self.history_manager = monkeypatch, SimpleNamespace(input_hist_parsed=[""], exceptions={})
        self.user_ns = {"torch": torch, "nn": nn, "check": check, "get_ipython": lambda: self}

    def run(self, cells):
        for cell in cells:
            history = self.history_manager
            number = len(history.input_hist_parsed)
            history.input_hist_parsed.append(cell)
            name = f"<cell {number} of {id(self)}>"
            self.monkeypatch.setitem(linecache.cache, name, (len(cell), None, cell.splitlines(True), name))
            try:
                exec(compile(cell, name, "exec"), self.user_ns)
            except Exception as error:
                history.exceptions[number] = {"ename": type(error).__name__, "evalue": error}
        return self.user_ns["report"].message


@pytest.fixture
def shell(monkeypatch):
    shell = Shell(monkeypatch)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    return shell


@pytest.mark.parametrize("case", OLDER)
def test_an_older_definition_is_known_by_the_texts_and_the_errors_of_the_cells(shell, case):
    cells, first, more = OLDER[case]
    message = shell.run(cells)
    assert message.startswith(first), message
    assert all(one in " ".join(message.split()) for one in more)


@pytest.mark.parametrize("case", [case for case in CURRENT if case != "with a magic"])
def test_the_last_definition_is_known_in_the_same_way(shell, case):
    cells, first = CURRENT[case]
    message = shell.run(cells)
    assert message.startswith(first), message
    assert "earlier cell" not in message


def test_to_read_a_cell_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert redefinition.attempt_at("words", 'def words(text):\n    return text.split("\\d")') == "defined"


def test_outside_a_notebook_there_is_no_history_to_read():
    assert redefinition.failed_redefinition("causal_mask", test_outside_a_notebook_there_is_no_history_to_read) is None
    assert redefinition.failed_redefinition("causal_mask", 7) is None
