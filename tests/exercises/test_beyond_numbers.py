"""What is asked beyond the numbers is asked whatever an answer raises on the way."""

import sys
import time

import pytest

from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker.registry import EXERCISES

resource = pytest.importorskip("resource")


def solution_of(name):
    space = {}
    exec(EXERCISES[name].solution_text(), space)
    return space[name]


def refuses_gradients(query, key, value):
    """Right numbers without a gradient, and like a stub where a gradient is asked for."""
    if query.requires_grad:
        raise NotImplementedError
    output, weights = solution_of("attention")(query, key, value)
    return output.detach(), weights.detach()


class RefusesGradients(solution_of("FeedForward")):
    """A module that is like a stub as soon as it is trained."""

    def forward(self, x):
        if self.training or x.requires_grad:
            raise NotImplementedError
        return super().forward(x)


@pytest.mark.parametrize(("name", "answer"), [("attention", refuses_gradients), ("FeedForward", RefusesGradients)])
def test_an_answer_that_raises_not_implemented_error_where_gradients_are_asked_for_fails(name, answer):
    report = check(name, answer)
    assert report.status == "failed"
    assert "NotImplementedError" in report.message


@pytest.mark.parametrize("end", [NotImplementedError("later"), ValueError("once is enough"), ...])
def test_an_answer_that_works_only_once_for_each_input_fails(end):
    solution, calls = solution_of("split_heads"), []

    def split_heads(x, num_heads):
        calls.append(x)
        if len(calls) <= len(EXERCISES["split_heads"].sizes):
            return solution(x, num_heads)
        if end is ...:
            return end
        raise end

    report = check("split_heads", split_heads)
    assert report.status == "failed"
    assert "a later call" in report.message


def test_the_unchanged_solutions_pass():
    for name in ("attention", "FeedForward", "split_heads"):
        assert check(name, solution_of(name)).status == "passed"


def peak_memory():
    """The most bytes that this process has had; macOS counts bytes, other systems kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.parametrize("kept", [sys.setrecursionlimit, None])
def test_an_answer_that_calls_itself_without_end_ends_whatever_limit_it_sets(kept):
    def deeper():
        return deeper()

    def split_heads(x, num_heads):
        (kept or sys.setrecursionlimit)(10**9)
        return deeper()

    before, begun = sys.getrecursionlimit(), time.process_time()
    peak = peak_memory()
    report = check("split_heads", split_heads)
    assert report.status == "failed"
    assert time.process_time() - begun < 10
    assert peak_memory() - peak < 2e9  # bytes; it once took 15.8 GB
    assert sys.getrecursionlimit() == before
