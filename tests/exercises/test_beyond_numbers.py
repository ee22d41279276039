"""An answer with right numbers is called again, trained and looked at by the exercise, whatever it raises."""

import gc
import sys
import time
from functools import cache

import numpy as np
import pytest
import torch

from transformer_lessons import first_steps
from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.running.sandbox import Limits

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
        if len(calls) <= len(EXERCISES["split_heads"].setup.sizes):
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


class NeverTrains(first_steps.AttentionHead):
    def forward(self, x):
        while self.training:
            pass
        return super().forward(x)


def test_a_module_that_never_ends_its_training_is_not_waited_for():
    report = check("AttentionHead", NeverTrains, limits=Limits(call=0.3))
    assert (report.status, report.mistake) == ("failed", "endless")


def test_the_checks_of_an_exercise_get_a_module_that_is_built_and_filled(monkeypatch):
    seen = set()
    note = lambda module, x: seen.add((type(module), module.training, module.linear_q.weight.dtype))  # noqa: E731
    monkeypatch.setattr(EXERCISES["AttentionHead"].setup, "checks", (note,))
    assert check("AttentionHead", first_steps.AttentionHead).status == "passed"
    assert seen == {(first_steps.AttentionHead, False, torch.float64)}


def keeps_order(call, x):
    if torch.equal(call(x.flip(0)), call(x)):
        return "always the same", "Whatever goes in, the same comes out.", "where is `x` used?"
    return "it takes too long to explain" if call(x).dtype == torch.float32 else None


def test_the_checks_of_an_exercise_say_a_sentence_or_name_what_they_find(declare):
    draw = lambda generator: torch.arange(3.0).double()  # noqa: E731
    declare("def same(x): ...", draw, lambda x: x.clone(), checks=[keeps_order])
    assert check("same", lambda x: x.clone()).status == "passed"
    assert check("same", lambda x: x.float()).mistake == "it takes too long to explain"
    report = check("same", lambda x: torch.arange(3.0).double())
    assert report.mistake == "always the same"
    assert "Where to look: where is `x` used?" in report.message


def test_a_known_mistake_with_the_same_fault_is_named_in_its_place(declare):
    draw = lambda generator: torch.arange(3.0).double()  # noqa: E731
    counting = "counting", "It counts, and never looks.", "what counts?", "return torch.arange(len(x)).double()"
    right = "def same(x):\n    return x.clone()"
    declare("def same(x): ...", draw, lambda x: x.clone(), right=right, checks=[keeps_order], mistakes=[counting])
    assert check("same", lambda x: torch.arange(3.0).double()).mistake == "counting"


def peak_memory():
    """The most bytes that this process has had; macOS counts bytes, other systems kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


@pytest.fixture
def silent_collector():
    """Without hypothesis's callback, in which a Stop may arrive: pytest would report it as an error."""
    callbacks = list(gc.callbacks)
    gc.callbacks.clear()
    yield
    gc.callbacks[:] = callbacks


@pytest.mark.usefixtures("silent_collector")
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


def sizes_of(value):
    """What a value has in common with others of its sizes: shapes and lengths, and numbers as they are."""
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return tuple(value.shape)
    if isinstance(value, (list, tuple)):
        return tuple(map(sizes_of, value))
    if isinstance(value, dict):
        return tuple(map(sizes_of, value.items()))
    return len(value) if isinstance(value, (str, bytes)) else value if isinstance(value, int) else type(value)


TAKES_NUMBERS_ONLY = "bits_per_character", "causal_mask", "shift_matrix", "sinusoidal_encoding", "sliding_window_mask"
FUNCTIONS = [name for name in EXERCISES if not name[0].isupper()]


def keeping(solution, key):
    """The solution, which keeps its first result for each key."""
    results = {}

    def answer(*inputs):
        known = key(inputs)
        if known not in results:
            results[known] = solution(*inputs)
        return results[known]

    return answer


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in TAKES_NUMBERS_ONLY])
def test_a_function_that_keeps_its_first_result_by_the_sizes_of_its_inputs_fails(name):
    assert check(name, keeping(solution_of(name), sizes_of)).status == "failed"


def identities(inputs):
    return tuple(id(value) for value in inputs if isinstance(value, (torch.Tensor, np.ndarray)))


@pytest.mark.parametrize("name", ["padding_mask", "layer_norm", "softmax", "sample_next"])
def test_a_function_that_keeps_its_first_result_for_the_same_tensors_fails(name):
    kept = []  # so that no other tensor gets the same identity
    solution = solution_of(name)
    answer = keeping(lambda *inputs: kept.append(inputs) or solution(*inputs), identities)
    assert check(name, answer).mistake == "something kept from the first call"


def test_a_function_that_keeps_a_part_of_its_first_result_is_not_called_another_mistake():
    variances = {}

    def layer_norm(x, gain, bias, eps=1e-5):
        variance = variances.setdefault(x.shape, x.var(-1, correction=0, keepdim=True))
        return gain * (x - x.mean(-1, keepdim=True)) / torch.sqrt(variance + eps) + bias

    report = check("layer_norm", layer_norm)
    assert report.mistake == "wrong with other inputs"
    assert "global variable" in report.message


def test_a_function_may_keep_what_its_arguments_determine():
    @cache
    def table(length):
        return torch.ones(length, length).tril() == 1

    assert check("causal_mask", lambda length: table(length).clone()).status == "passed"
    assert check("causal_mask", table).status == "passed"


def test_a_function_may_ask_for_gradients_of_its_inputs():
    solution = solution_of("layer_norm")
    assert check("layer_norm", lambda x, *more: solution(x.requires_grad_(), *more)).status == "passed"
