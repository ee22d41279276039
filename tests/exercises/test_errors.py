"""An error is told in few words, at the learner's own line."""

import linecache
import os
from time import process_time

import numpy as np
import pytest
import torch
from reported import verdict, words_of

from transformer_lessons.exercises.checker.draws import first_draws, observe
from transformer_lessons.exercises.checker.finding import Finding
from transformer_lessons.exercises.checker.parts import Part
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.verdict import placed
from transformer_lessons.running import errors, sandbox


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x" * 300, "x" * 199 + "…"),
        ("first\nsecond", "first …"),
        ("whole", "whole"),
        ("x" * 200, "x" * 200),
    ],
)
def test_an_error_that_is_cut_ends_in_dots(text, shown):
    assert errors.name_error(ValueError(text)) == f"ValueError: {shown}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("expected int/float/bool", "expected int/float/bool"),
        ("no file /home/me/course/data.txt", "no file …"),
        ("no file C:\\Users\\me\\data.txt", "no file …"),
        ("0xff is no id", "0xff is no id"),
        ("<Layer object at 0x7f3a5c1d2e90> is no tensor", "<Layer object> is no tensor"),
        ("the storage 0x7f3a5c1d2e90 is freed", "the storage … is freed"),
    ],
)
def test_addresses_and_paths_are_left_out_and_nothing_else(text, told):
    assert errors.name_error(ValueError(text)) == f"ValueError: {told}"


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            lambda: np.ones((2, 3)) @ np.ones((2, 3)),
            "ValueError: matmul: a dimension of size 3 meets one of size 2, but the two must be equal",
        ),
        (
            lambda: np.linalg.solve(np.eye(3), np.ones((4, 2))),
            "ValueError: solve: a dimension of size 3 meets one of size 4, but the two must be equal",
        ),
        (
            lambda: np.ones((2, 3)) @ 2.0,
            "ValueError: matmul: the number of an input's dimensions is 0, but must be at least 1",
        ),
        (
            lambda: torch.ones(2, 5, 4) @ torch.ones(2, 3, 4),
            "RuntimeError: matrices cannot be multiplied: 4 columns in the first, 3 rows in the second",
        ),
    ],
)
def test_shapes_that_do_not_fit_are_told_in_a_sentence_and_not_in_a_librarys_own_terms(wrong, told):
    with pytest.raises((ValueError, RuntimeError)) as error:
        wrong()
    assert errors.name_error(error.value) == told


RAISING = Part("example", "With x=4 it raises ValueError: no")


@pytest.mark.parametrize(
    ("evidence", "more", "look"),
    [
        ((RAISING,), (Part("line", "f(x)"),), "print what goes into that line, just before it."),
        (
            (Part("example", "With x=1:"), Part("example", "yours 2, expected 3"), RAISING),
            (),
            "print what goes into this line, which raises an error on some inputs: f(x)",
        ),
    ],
)
def test_the_line_that_raises_stands_below_the_evidence_only_where_that_is_short(evidence, more, look):
    finding = Finding(headline="wrong.", why="Wrong.", evidence=evidence, error="ValueError: no", line="f(x)")
    found = placed(finding)
    assert (found.evidence, found.look) == ((*evidence, *more), look)


def test_an_answer_whose_inputs_have_no_shapes_is_not_asked_for_them():
    def fails(length):
        raise ValueError(length)

    words = words_of(verdict(fails, "causal_mask"))
    assert "Where to look: print what goes into that line, just before it." in words
    assert "shapes" not in words


def test_a_function_that_the_package_has_called_is_not_said_to_be_in_its_own_callers_call():
    def called_back(call):
        return int(str(call))

    draws = first_draws(EXERCISES["causal_mask"])
    outcome = sandbox.attempt(lambda: observe(draws.exercise, None, draws.cases[0], draws.dtype, run=called_back))
    assert outcome.line == "return int(str(call)), in `called_back`"


def test_a_local_name_self_makes_no_method():
    def forward(x):
        self = x
        raise ValueError(self)

    assert sandbox.attempt(lambda: forward(3)).line == "raise ValueError(self), in `forward`"


def test_what_has_no_source_is_found_by_its_number_and_what_has_no_line_by_calling_it():
    made = {}
    exec("def without_source(query, key, value):\n    return 1 / 0\n", made)
    assert "at the line: number 2, in `without_source`" in words_of(verdict(made["without_source"]))
    words = words_of(verdict(torch.bmm))
    assert "it raises" in words
    assert "at the line" not in words
    assert "that line" not in words
    assert "Where to look: call it yourself, in a separate cell, and read the end of the traceback." in words


def test_the_package_is_known_by_its_folder_and_not_by_a_name_like_it(monkeypatch):
    beside = errors.PACKAGE.rstrip(os.sep) + "_and_mine" + os.sep + "cells.py"
    source = "def mine(query, key, value):\n    return query @ missing\n"
    monkeypatch.setitem(linecache.cache, beside, (len(source), None, source.splitlines(True), beside))
    made = {}
    exec(compile(source, beside, "exec"), made)
    assert "at the line: return query @ missing" in words_of(verdict(made["mine"]))


def test_an_error_of_a_million_letters_is_cut_at_once():
    start = process_time()
    assert errors.in_short("ValueError", 10**6 * "x") == f"ValueError: {199 * 'x'}…"
    assert process_time() - start < 0.5
