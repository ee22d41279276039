"""Whatever an answer does, the verdict is right, short and plain, and the next check is unaffected."""

import _thread
import asyncio
import builtins
import contextlib
import functools
import os
import random
import re
import signal
import sys
import textwrap
import threading
import time
import types
import warnings

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons import attention, masks
from transformer_lessons.exercises import check, hint, solution
from transformer_lessons.exercises.checker import distributions, errors, global_state, help, sandbox
from transformer_lessons.exercises.checker.comparison import alike, close, difference
from transformer_lessons.exercises.checker.contract import some
from transformer_lessons.exercises.checker.display import beside
from transformer_lessons.exercises.checker.drawing import fill, integers, normal, weights
from transformer_lessons.exercises.checker.draws import first_draws, shown_inputs
from transformer_lessons.exercises.checker.exercise import Exercise, Setup
from transformer_lessons.exercises.checker.pages import Entry, Page
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.report import say
from transformer_lessons.exercises.checker.sandbox import LIMITS, Limits, Outcome
from transformer_lessons.exercises.checker.verdict import judge

NAME = "scaled_dot_product_attention"
QUICK = Limits(call=0.3)
reference = attention.scaled_dot_product_attention


def right(query, key, value):
    return reference(query, key, value)


@pytest.fixture(autouse=True)
def a_lonely_exercise():
    """What a test declares is forgotten after it; what it asks for a hint as well."""
    names, given = dict(EXERCISES), dict(checking_hints())
    yield
    EXERCISES.clear()
    EXERCISES.update(names)
    checking_hints().clear()
    checking_hints().update(given)


def checking_hints():
    return help.given


def registered(exercise):
    """A new exercise, which `check` knows until the test ends."""
    EXERCISES[exercise.name] = exercise
    return exercise


def verdict(answer, name=NAME, limits=LIMITS):
    """The report, with all that holds for every report."""
    report = check(name, answer, limits=limits)
    lines = report.message.splitlines()
    assert report.status in ("passed", "failed", "not attempted")
    assert lines[0][0] == {"passed": "✓", "failed": "✗", "not attempted": "○"}[report.status]
    assert len(lines) <= 12
    assert all(len(line) <= 110 for line in lines)
    assert not any(word in report.message for word in ("Traceback", "0x", os.sep + "transformer_lessons"))
    assert not any(ord(letter) < 32 for letter in report.message.replace("\n", ""))
    return report


# What an answer returns or raises


def generator(query, key, value):
    yield right(query, key, value)


async def coroutine(query, key, value):
    return right(query, key, value)


def nothing(query, key, value):
    right(query, key, value)


def too_many(query, key, value):
    return (*right(query, key, value), 3)


def backwards(query, key, value):
    return right(query, key, value)[::-1]


def only_output(query, key, value):
    return right(query, key, value)[0]


def only_weights(query, key, value):
    return right(query, key, value)[1]


def half(query, key, value):
    return [one.half() for one in right(query, key, value)]


def whole(query, key, value):
    return [one.long() for one in right(query, key, value)]


def arrays(query, key, value):
    return [one.numpy() for one in right(query, key, value)]


def nan(query, key, value):
    return [one * torch.nan for one in right(query, key, value)]


def infinite(query, key, value):
    output, weights = right(query, key, value)
    return output / 0, weights


def zeros(query, key, value):
    return [torch.zeros_like(one) for one in right(query, key, value)]


def inputs(query, key, value):
    return query, key


def a_view(query, key, value):
    return right(query, key, value)[0], key[..., : query.shape[-2], :].mT


def unsqueezed(query, key, value):
    return [one[None] for one in right(query, key, value)]


def meta(query, key, value):
    return [one.to("meta") for one in right(query, key, value)]


def text(query, key, value):
    return "output", "weights"


def in_place(query, key, value):
    query /= query.shape[-1] ** 0.5
    weights = (query @ key.mT).softmax(-1)
    return weights @ value, weights


def at_random(query, key, value):
    output, weights = right(query, key, value)
    return F.dropout(output, 0.5), weights


def leave(query, key, value):
    sys.exit(3)


def interrupt(query, key, value):
    raise KeyboardInterrupt


def recursive(query, key, value):
    return recursive(query, key, value)


def misspelt(query, key, value):
    return query @ keys  # noqa: F821


def never_set(query, key, value):
    if key is None:
        weights = key
    return weights


def no_such_method(query, key, value):
    return query.softmaxx(-1)


def wrong_word(query, key, value):
    return np.sum(query.numpy(), keepdim=True)


def no_such_word(query, key, value):
    return right(query, key, value, scale=None)


def no_such_module(query, key, value):
    import tensorrflow  # noqa: F401


def asking(query, key, value):
    return input("Which weights? ")


class Mute(Exception):
    def __str__(self):
        raise self


def unspeakable(query, key, value):
    raise Mute


def shouting(query, key, value):
    raise ValueError(f"{object()} in {os.getcwd()}{os.sep}my{os.sep}file.py " + "x" * 10_000 + "\n" * 1_000)


def only_square(query, key, value):
    weights = (query @ key / query.shape[-1] ** 0.5).softmax(-1)
    return weights @ value, weights


def not_for_long_keys(query, key, value):
    if key.shape[-2] > query.shape[-2]:
        raise ValueError("too many keys")
    return right(query, key, value)


FAILURES = {
    generator: "It returns a generator",
    coroutine: "It returns a coroutine",
    nothing: "does every path through it end in `return …`",
    too_many: "It returns a tuple of 3; the 2 results (output, weights) are expected.",
    backwards: "The two results are in the wrong order: (output, weights) are expected.",
    only_output: "Only `output` is returned; both (output, weights) are expected.",
    only_weights: "Only `weights` is returned; both (output, weights) are expected.",
    half: "float16",
    whole: "`weights` holds int64; float64 is expected.",
    arrays: "The numbers are right. `weights` is a NumPy array of float64 of shape (2, 3); a tensor is expected.",
    nan: "holds NaN (not a number), where every number should be finite.",
    infinite: "holds an infinite number, where every number should be finite.",
    zeros: "`weights` is zero everywhere",
    inputs: "has shape",
    a_view: "`weights` has shape (4, 2); (2, 3) = (…, query, key) is expected.",
    unsqueezed: "dimensions of size 1",
    meta: "it holds no numbers",
    text: "`weights` is a string; a tensor is expected.",
    in_place: "`query` is different after the call",
    at_random: "Called twice with the same inputs, it gives two different results.",
    leave: "it raises SystemExit: 3",
    interrupt: "it raises KeyboardInterrupt",
    recursive: "RecursionError: it calls itself without end",
    misspelt: "at the line: return query @ keys",
    never_set: "is the name given a value before it is used",
    no_such_method: "does this kind of object have it",
    no_such_module: "is the module installed",
    wrong_word: "this library calls it `keepdims`, not `keepdim`.",
    no_such_word: "Where to look: the names of its arguments.",
    asking: "an answer must not ask for input()",
    unspeakable: "it raises Mute",
    shouting: "it raises ValueError: <object object> in …",
    only_square: "it raises RuntimeError",
    not_for_long_keys: "Where to look: what is different about these inputs? Where it ran, the result was right.",
}


@pytest.mark.parametrize("answer", FAILURES, ids=lambda answer: answer.__name__)
def test_a_wrong_result_gets_its_own_sentence(answer):
    report = verdict(answer)
    assert report.status == "failed"
    assert FAILURES[answer] in " ".join(report.message.split())


NAMES = {
    generator: "wrong kind of result",
    coroutine: "wrong kind of result",
    nothing: "nothing returned",
    arrays: "wrong kind of result",
    too_many: "wrong number of results",
    half: "wrong dtype",
    nan: "not finite",
    infinite: "not finite",
    inputs: "wrong shape",
    a_view: "wrong shape",
    meta: "wrong kind of result",
    text: "wrong kind of result",
    in_place: "changes its input",
    zeros: None,
    misspelt: "an unknown name",
    leave: "raises an error",
    never_set: "a name without a value",
    no_such_method: "an unknown attribute",
    recursive: "calls itself without end",
    wrong_word: "an unknown argument",
    no_such_word: "an unknown argument",
}


@pytest.mark.parametrize("answer", NAMES, ids=lambda answer: answer.__name__)
def test_what_breaks_the_contract_has_a_name_and_wrong_numbers_alone_have_none(answer):
    assert verdict(answer).mistake == NAMES[answer]


def test_an_answer_that_calls_a_stub_is_told_so_and_a_stub_itself_is_not_attempted():
    def softmax(scores):
        raise NotImplementedError

    def calls_it(query, key, value):
        return softmax(query @ key.mT) @ value

    report = verdict(calls_it)
    assert (report.status, report.mistake) == ("failed", "calls something unfinished")
    assert "It calls `softmax`, which raises NotImplementedError because it is not written yet." in report.message

    class Part(nn.Module):
        def forward(self, x):
            raise NotImplementedError

    assert "It calls `Part`," in verdict(lambda query, key, value: Part()(query)).message

    def stub(query, key, value):
        raise NotImplementedError

    class Parts:
        def __call__(self, query, key, value):
            return self.weights(query)

        def weights(self, query):
            raise NotImplementedError

    for answer in (stub, functools.wraps(stub)(lambda *inputs: stub(*inputs)), Parts()):
        assert verdict(answer).status == "not attempted"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x" * 300, "x" * 199 + "…"),
        ("first\nsecond", "first …"),
        ("whole", "whole"),
        ("x" * 200, "x" * 200),
    ],
)
def test_what_is_cut_off_an_error_ends_in_dots(text, shown):
    assert errors.name_error(ValueError(text)) == f"ValueError: {shown}"


def test_an_answer_runs_on_one_thread_and_the_threads_come_back():
    before, seen = torch.get_num_threads(), set()
    torch.set_num_threads(2)
    try:
        verdict(lambda query, key, value: seen.add(torch.get_num_threads()) or right(query, key, value))
        after = torch.get_num_threads()
    finally:
        torch.set_num_threads(before)
    assert (seen, after) == ({1}, 2)


def test_a_coroutine_leaves_no_warning_behind():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        verdict(coroutine)


# What never ends


def loop(query, key, value):
    while True:
        pass


def stubborn_loop(query, key, value):
    while True:
        try:
            query = query + 1
        except BaseException:
            query = query - 1


def stuck_in_c(query, key, value):
    time.sleep(3)


def slow(query, key, value):
    time.sleep(1)
    return right(query, key, value)


@pytest.mark.parametrize("answer", [loop, stubborn_loop])
def test_a_loop_without_end_is_stopped_and_named(answer):
    before = threading.active_count()
    report = verdict(answer, limits=QUICK)
    assert (report.status, report.mistake) == ("failed", "endless")
    assert "what makes the condition false?" in report.message
    assert "It could not be stopped" not in report.message
    assert threading.active_count() == before


def test_a_call_that_cannot_be_stopped_is_left_behind_silent_and_the_verdict_says_so(capsys):
    def sleeper(query, key, value):
        end = time.monotonic() + 2.5
        while time.monotonic() < end:
            with contextlib.suppress(BaseException):  # Stop too, wherever it strikes
                time.sleep(2.5)
        print("good morning")

    told = ""
    for _ in range(3):  # on a busy machine it may be stopped before it sleeps
        told = told or verdict(sleeper, limits=QUICK).message
        told = told if "is still running in the background" in " ".join(told.split()) else ""
    assert "It could not be stopped and is still running in the background" in " ".join(told.split())
    for thread in global_state.runaways:
        thread.join()
    assert verdict(right).status == "passed"
    assert "good morning" not in capsys.readouterr().out


def importing(folder, monkeypatch, seconds):
    """An answer that imports a module which takes its time, and then gives what the module holds."""
    (folder / "slow_to_import.py").write_text(
        f"import time\nend = time.monotonic() + {seconds}\nwhile time.monotonic() < end:\n    pass\nHELD = 4\n"
    )
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "slow_to_import", raising=False)

    def answer():
        import slow_to_import

        return slow_to_import.HELD

    return answer


def test_an_import_is_neither_counted_nor_cut_off(tmp_path, monkeypatch):
    answer = importing(tmp_path, monkeypatch, 0.8)
    outcome = sandbox.run_safely(answer, seconds=0.4)
    assert (outcome.kind, outcome.value) == ("value", 4)
    assert 0.5 < outcome.uncounted < 30


@pytest.mark.parametrize(
    ("worked", "kind"),
    {"waits for the processor": (0.1, "value"), "sleeps": (0.0, "endless"), "works": (0.6, "endless")}.values(),
)
def test_only_a_call_that_waits_for_the_processor_is_given_more_time(monkeypatch, worked, kind):
    monkeypatch.setattr(sandbox, "processor_time", lambda thread: worked)
    assert sandbox.run_safely(lambda: time.sleep(0.6), seconds=0.3).kind == kind


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="only Linux says what a thread has worked")
def test_the_processor_time_of_a_thread_is_known():
    ended = threading.Event()

    def work():
        while time.thread_time() < 0.3:
            pass
        ended.wait()

    thread = threading.Thread(target=work)
    thread.start()
    end = time.monotonic() + 60
    while sandbox.processor_time(thread) < 0.25 and time.monotonic() < end:
        time.sleep(0.01)
    assert 0.25 <= sandbox.processor_time(thread) < 0.5
    ended.set()
    while sandbox.processor_time(thread) and time.monotonic() < end:  # until the system has cleared it away
        time.sleep(0.01)
    assert sandbox.processor_time(thread) == 0.0


def test_the_time_of_an_import_is_not_counted_for_all_the_calls_either(tmp_path, monkeypatch):
    answer = importing(tmp_path, monkeypatch, 1)
    assert verdict(lambda *inputs: answer() and right(*inputs), limits=Limits(check=0.9)).status == "passed"


def test_an_import_that_never_ends_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "UNCOUNTED", 0.3)
    outcome = sandbox.run_safely(importing(tmp_path, monkeypatch, 60), seconds=0.2)
    assert (outcome.kind, outcome.stuck) == ("endless", False)


def test_to_find_the_line_of_an_error_in_a_long_file_does_not_count(monkeypatch):
    find = errors.statement
    monkeypatch.setattr(errors, "statement", lambda *place: time.sleep(0.8) or find(*place))
    outcome = sandbox.run_safely(lambda: 1 / 0, seconds=0.4)
    assert (outcome.kind, outcome.error) == ("raised", "ZeroDivisionError: division by zero")


def test_many_slow_calls_are_given_up_together():
    report = verdict(slow, limits=Limits(check=1.5))
    assert report.mistake == "endless"
    assert "It took more than" in " ".join(report.message.split())


def test_after_a_call_that_never_ends_no_other_is_made():
    calls = []

    def run(call):
        calls.append(call)
        return Outcome("endless", stuck=True) if len(calls) == 2 else sandbox.attempt(call)

    report = judge(EXERCISES[NAME], right, first_draws(EXERCISES[NAME]), run=run)
    assert (report.mistake, len(calls)) == ("endless", 2)
    words = " ".join(report.message.split())
    assert "It took more than" in words
    assert "It could not be stopped and is still running in the background" in words


def test_what_is_not_written_for_some_sizes_does_come_to_an_end():
    number, calls = len(EXERCISES[NAME].sizes), []

    def stub_at_last(query, key, value):
        calls.append(1)
        return ... if len(calls) == number else right(query, key, value)

    report = verdict(stub_at_last)
    assert report.message.startswith(f"✗ {NAME}: it gives no result.")


@pytest.fixture
def _interruptible():
    """As in a terminal: what a shell starts in the background ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_ctrl_c_gives_the_prompt_back_and_ends_the_answer():
    before, begun = threading.active_count(), threading.Event()
    streams = sys.stdout, sys.stderr

    def press_ctrl_c():
        begun.wait(60)
        time.sleep(0.1)
        _thread.interrupt_main()

    def endless(query, key, value):
        begun.set()
        loop(query, key, value)

    presser = threading.Thread(target=press_ctrl_c)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        check(NAME, endless, limits=PATIENT)
    presser.join()
    assert threading.active_count() == before
    assert (sys.stdout, sys.stderr) == streams


def test_ctrl_c_while_the_check_runs_known_mistakes_is_not_taken_for_what_they_do():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sandbox.attempt(interrupted)
    assert from_a_thread(lambda: sandbox.attempt(interrupted)).error == "KeyboardInterrupt"


def test_an_answer_has_room_for_a_deep_recursion_and_later_threads_have_as_much_as_before(monkeypatch):
    sizes, set_size = [], threading.stack_size
    before = set_size()
    monkeypatch.setattr(threading, "stack_size", lambda size: sizes.append(size) or set_size(size))
    assert sandbox.run_safely(lambda: 3).value == 3
    assert sizes == [64 * 2**20, before]


# What an answer does besides


def test_ten_thousand_lines_are_not_shown_but_counted(capsys):
    def chatty(query, key, value):
        for _ in range(10_000):
            print("hello")
        print("hello", file=sys.stderr)
        sys.stdout.writelines(["a\n", "b\n"])
        sys.stdout.flush()
        return query

    report = verdict(chatty)
    assert "(Your answer also printed 10003 lines in one call, not shown here.)" in report.message
    assert "hello" not in "".join(capsys.readouterr())


def test_others_still_print_while_an_answer_is_judged(capsys):
    thread = threading.Thread(target=lambda: print("from elsewhere"))

    def starter(query, key, value):
        if not thread.ident:
            thread.start()
            thread.join()
        return right(query, key, value)

    assert verdict(starter).status == "passed"
    assert "from elsewhere" in capsys.readouterr().out


def world():
    """Everything global that a notebook could notice."""
    return {
        "default dtype": torch.get_default_dtype(),
        "threads": torch.get_num_threads(),
        "threads of a new thread": from_a_thread(torch.get_num_threads),
        "default device": torch.ones(1).device,
        "grad": torch.is_grad_enabled(),
        "deterministic": torch.are_deterministic_algorithms_enabled(),
        "anomaly": torch.is_anomaly_enabled(),
        "precision": torch.get_float32_matmul_precision(),
        "torch prints": repr(torch.tensor([1 / 3])),
        "numpy prints": repr(np.array([1 / 3])),
        "numpy errors": np.geterr(),
        "torch random": torch.get_rng_state().tolist(),
        "numpy random": repr(np.random.get_state()),
        "random": random.getstate(),
        "recursion": sys.getrecursionlimit(),
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "warnings": list(warnings.filters),
        "streams": (sys.stdout, sys.stderr, sys.stdin),
        "input": builtins.input,
        "len": builtins.len,
        "softmax": torch.softmax,
        "F": dict(vars(F)),
        "method": torch.Tensor.softmax,
        "linear": nn.Linear.forward,
        "package": masks.masked_softmax,
        "code": masks.causal_mask.__code__,
        "defaults": masks.causal_mask.__defaults__,
        "methods": dict(vars(attention.MultiHeadAttention)),
        "hooks": len(nn.modules.module._global_forward_hooks),
        "attention": dict(vars(attention)),
    }


def from_a_thread(function):
    box = []
    thread = threading.Thread(target=lambda: box.append(function()))
    thread.start()
    thread.join()
    return box[0]


PATIENT = Limits(call=60, check=60)  # some of these settings import a lot when they are first used


def vandal(query, key, value):
    torch.manual_seed(4)
    np.random.seed(3)
    random.seed(1)
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(torch.get_num_threads() + 1)
    torch.set_default_device("meta")
    torch.set_grad_enabled(False)
    torch.use_deterministic_algorithms(True)
    torch.autograd.set_detect_anomaly(True)
    torch.set_float32_matmul_precision("medium")
    torch.set_printoptions(precision=1)
    np.set_printoptions(precision=1)
    np.seterr(all="raise")
    sys.setrecursionlimit(5000)
    os.environ["ANSWER"] = "42"
    os.environ.pop("PATH", None)
    os.chdir(os.sep)
    warnings.simplefilter("error")
    nn.modules.module.register_module_forward_hook(print)
    masks.masked_softmax = attention.masked_softmax = attention.scaled_dot_product_attention = None
    masks.causal_mask.__code__ = (lambda length, device=None: None).__code__
    masks.causal_mask.__defaults__ = (3,)
    attention.MultiHeadAttention.forward = attention.MultiHeadAttention.extra = None
    nn.Linear.forward = None
    F.softmax = F.linear = torch.softmax = torch.matmul = None
    torch.Tensor.softmax = torch.Tensor.__matmul__ = lambda *_: None
    sys.stdout = sys.stderr = sys.stdin = None
    builtins.input = builtins.len = builtins.any = builtins.print = None
    return query, key


def test_an_answer_leaves_the_world_as_it_was():
    verdict(vandal, limits=PATIENT)  # what is imported now stays
    before = world()
    assert verdict(vandal, limits=PATIENT).status == "failed"
    after = world()
    assert {name for name in before if before[name] != after[name]} == set()
    assert verdict(right).status == "passed"
    assert verdict(masks.causal_mask, "causal_mask").status == "passed"


def test_a_vandal_with_the_right_result_passes_and_the_next_answer_is_checked_as_ever():
    def polite_vandal(query, key, value):
        result = right(query, key, value)
        vandal(query, key, value)
        return result

    assert verdict(polite_vandal, limits=PATIENT).status == "passed"
    assert verdict(zeros).status == "failed"
    assert verdict(right).status == "passed"


def test_builtins_are_whole_again_before_the_check_itself_needs_them():
    before = dict(vars(builtins))
    try:
        outcome = sandbox.run_safely(lambda: vars(builtins).update(zip=None, len=None))
        assert (outcome.kind, zip, len) == ("value", before["zip"], before["len"])
    finally:
        vars(builtins).update(before)


def test_what_one_call_has_replaced_is_back_before_the_next():
    original = masks.causal_mask
    with global_state.standard_state():
        sandbox.run_safely(lambda: setattr(masks, "causal_mask", None))
        assert masks.causal_mask is original


def test_classes_of_the_package_and_of_pytorch_are_restored_with_their_methods(monkeypatch):
    namespaces = global_state.Namespaces()
    namespaces.extend()
    methods = [
        (attention.MultiHeadAttention, "forward"),
        (nn.Linear, "forward"),
        (nn.Parameter, "__repr__"),
        (torch.Tensor, "backward"),
    ]
    before = [vars(owner)[name] for owner, name in methods]
    for owner, name in methods:
        monkeypatch.setattr(owner, name, None)
    namespaces.restore()
    assert [vars(owner)[name] for owner, name in methods] == before


@pytest.mark.parametrize("stand_in", [None, types.SimpleNamespace(name="not a module")])
def test_what_stands_in_for_a_module_of_the_package_does_not_disturb_a_check(stand_in, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformer_lessons.stand_in", stand_in)
    assert verdict(right).status == "passed"


def test_a_hook_of_the_notebooks_own_is_still_there_after_an_answer_has_added_another():
    hooks = nn.modules.module._global_forward_hooks
    handle = nn.modules.module.register_module_forward_hook(lambda *_: None)
    try:
        before = dict(hooks)
        sandbox.run_safely(lambda: nn.modules.module.register_module_forward_hook(print))
        assert (dict(hooks), len(before)) == (before, 1)
    finally:
        hooks.clear()
        handle.remove()


def test_what_an_answer_draws_does_not_depend_on_what_was_drawn_before():
    def draw():
        return torch.rand(1).item(), np.random.rand(), random.random()

    with global_state.GlobalState():
        first = sandbox.run_safely(draw).value
        for seed in (torch.manual_seed, np.random.seed, random.seed):
            seed(7)
        assert sandbox.run_safely(draw).value == first


def test_the_package_is_judged_as_it_was_imported_and_a_notebooks_own_patch_survives(monkeypatch):
    def nobody(length, device=None):
        return torch.zeros(length, length, dtype=torch.bool)

    original = masks.causal_mask.__code__
    monkeypatch.setattr(masks, "padding_mask", nobody)
    masks.causal_mask.__code__ = nobody.__code__
    try:
        mine = verdict(lambda length: torch.ones(length, length).tril().bool(), "causal_mask")
        still_patched = not masks.causal_mask(2).any()
        assert masks.padding_mask is nobody
    finally:
        masks.causal_mask.__code__ = original
    assert (mine.status, still_patched) == ("passed", True)


def test_the_notebooks_own_settings_do_not_change_a_verdict():
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            assert verdict(right).status == "passed"
        with torch.inference_mode():
            assert verdict(right).status == "passed"
        assert torch.get_default_dtype() == torch.float64
        torch.set_default_device("meta")
        assert verdict(right).status == "passed"
        assert torch.get_default_device().type == "meta"
    finally:
        torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)


def test_an_answer_that_calls_check_is_not_checked_indefinitely():
    def nested(query, key, value):
        assert check(NAME, nested).status == "not attempted"
        return right(query, key, value)

    assert verdict(nested).status == "passed"


def test_check_works_inside_a_running_event_loop_as_in_a_notebook():
    async def cell():
        return verdict(right)

    assert asyncio.run(cell()).status == "passed"


# Not attempted


def ellipsis(query, key, value): ...


def stub(query, key, value):
    """Only a docstring."""


def says_so(query, key, value):
    raise NotImplementedError("write me")


def returns_ellipsis(query, key, value):
    return ...


@pytest.mark.parametrize("answer", [ellipsis, stub, says_so, returns_ellipsis, None, ...])
def test_a_stub_is_not_attempted(answer):
    report = verdict(answer)
    assert report.status == "not attempted"
    assert report.message == f'○ {NAME}: not attempted yet. Stuck? hint("{NAME}")'


def test_an_operation_that_pytorch_lacks_is_a_failure_and_no_stub():
    def no_such_kernel(query, key, value):
        return query.long().softmax(-1)

    report = verdict(no_such_kernel)
    assert report.status == "failed"
    assert "not implemented for 'Long'" in report.message


# What is handed to check


@pytest.mark.parametrize(
    ("name", "answer", "sentence"),
    [
        ("scaled_dot_product_atention", right, "Did you mean scaled_dot_product_attention"),
        ("zzz", right, "The exercises are"),
        (right, NAME, f'Write check("{NAME}", {NAME}).'),
        (right, right, "the exercise's name comes first, in quotes."),
        (3, right, "the exercise's name comes first, in quotes."),
    ],
)
def test_a_wrong_name_gets_a_sentence(name, answer, sentence):
    report = check(name, answer)
    assert report.status == "not attempted"
    assert sentence in report.message


def test_check_without_an_answer_says_how():
    assert f'Write check("{NAME}", {NAME}).' in check(NAME).message


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (torch.ones(2), "this is a float32 tensor of shape (2,); a function is expected."),
        ((1, 2), "this is a tuple of 2; a function is expected."),
        (nn.Softmax, f"this is a class; a function is expected. Define it with `def {NAME}(query, key, value)`."),
        (lambda query, key: None, "Its parameters are (query, key), but it is called with 3 arguments"),
        (lambda query, key, value, mask: None, "it is called with 3 arguments"),
    ],
)
def test_what_cannot_be_called_as_the_contract_says_gets_a_sentence(answer, sentence):
    assert sentence in " ".join(verdict(answer).message.split())


class Callable:
    def __call__(self, query, key, value):
        return right(query, key, value)


def with_loops(query, key, value):
    rows = [[(asks * answers).sum(-1) for answers in key.unbind(-2)] for asks in query.unbind(-2)]
    scores = torch.stack([torch.stack(row, dim=-1) for row in rows], dim=-2)
    weights = F.softmax(scores / query.shape[-1] ** 0.5, dim=-1)
    return torch.stack([(row[..., None] * value).sum(-2) for row in weights.unbind(-2)], dim=-2), weights


def in_float32(query, key, value):
    return right(query.float(), key.float(), value.float())


def only_in_float32(query, key, value):
    weights = torch.zeros(*query.shape[:-1], key.shape[-2])
    weights += (query @ key.mT / query.shape[-1] ** 0.5).softmax(-1)
    return torch.einsum("...qk,...kv->...qv", weights, value), weights


def with_gradient(query, key, value):
    return right(query.requires_grad_(), key, value)


@pytest.mark.parametrize(
    "answer",
    [
        right,
        Callable(),
        functools.partial(reference, dropout=0.0),
        reference,
        with_loops,
        in_float32,
        only_in_float32,
        lambda *inputs: list(right(*inputs)),
        lambda q, k, v, mask=None: right(q, k, v),
        lambda q, k, v: [one.clone() for one in right(q, k, v)],
    ],
)
def test_a_right_answer_passes_in_any_style(answer):
    report = verdict(answer)
    assert (report.status, report.message.split("\n")[0]) == ("passed", f"✓ {NAME}")


# Modules


class Head(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        self.linear_q = nn.Linear(d_model, d_head)
        self.linear_v = nn.Linear(d_model, d_head, bias=False)

    def forward(self, x):
        query, value = self.project(x)
        weights = self.weights(query @ query.mT)
        return weights @ value, weights

    def project(self, x):
        return self.linear_q(x), self.linear_v(x)

    def weights(self, scores):
        return scores.softmax(-1)


@pytest.fixture
def head():
    return declare(
        "Head",
        """
            class Head(nn.Module):
                def __init__(self, d_model, d_head):
                    super().__init__()

                def forward(self, x):
                    raise NotImplementedError
            """,
        lambda generator, length, d_model, d_head: normal(generator, 2, length, d_model),
        Head,
        sizes=[{"length": 5, "d_model": 3, "d_head": 2}, {"length": 4, "d_model": 5, "d_head": 3}],
        build=("d_model", "d_head"),
        returns=("output", "weights"),
        hints=[("lost", [], "Look.")],
        right="""
            class Head(nn.Module):
                def __init__(self, d_model, d_head):
                    super().__init__()
                    self.linear_q = nn.Linear(d_model, d_head)
                    self.linear_v = nn.Linear(d_model, d_head, bias=False)

                def forward(self, x):
                    query = self.linear_q(x)
                    value = self.linear_v(x)
                    scores = query @ query.mT
                    weights = scores.softmax(-1)
                    return weights @ value, weights
            """,
        mistakes=[
            ("values from the queries' projection", "The values are the queries.", "which?", "value = query"),
            ("softmax over the queries", "The columns sum to 1.", "which?", "weights = scores.softmax(-2)"),
            ("weights without gradient", "The weights are detached.", "what cuts?", "weights = weights.detach()"),
        ],
    )


def altered(**methods):
    return type("Mine", (Head,), methods)


def renamed(self, d_model, d_head):
    nn.Module.__init__(self)
    self.query = nn.Linear(d_model, d_head)


def turned(self, d_model, d_head):
    nn.Module.__init__(self)
    self.linear_q, self.linear_v = nn.Linear(d_head, d_model), nn.Linear(d_head, d_model, bias=False)


def uninitialised(self, d_model, d_head):
    self.linear_q = nn.Linear(d_model, d_head)


def lazy(self, d_model, d_head):
    nn.Module.__init__(self)
    self.linear_v, self.linear_q = nn.LazyLinear(d_head, bias=False), nn.LazyLinear(d_head)
    self.helper = nn.Sequential(nn.Dropout(0.5), nn.Identity())


def forgets(self, x):
    Head.forward(self, x)


def detaches(self, x):
    output, weights = Head.forward(self, x)
    return output.detach(), weights.detach()


def counts(self, x):
    self.calls = getattr(self, "calls", 0) + 1
    output, weights = Head.forward(self, x)
    return output * self.calls, weights


def drops(self, scores):
    return F.dropout(scores.softmax(-1), 0.5)


def fails_to_train(self, x):
    if self.training:
        raise ValueError("not in training")
    return Head.forward(self, x)


def never_trains(self, x):
    while self.training:
        pass
    return Head.forward(self, x)


def half_detached(self, scores):
    return scores.softmax(-1) * 0.5 + 0.5 * scores.softmax(-1).detach()


def slightly_off(self, scores):
    return (1.01 * scores).softmax(-1)


def far_off(self, x):
    return self.linear_q(2 * x), self.linear_v(x)


def in_forward(self, x):
    self.linear_v = nn.Linear(x.shape[-1], self.linear_v.out_features, bias=False).to(x.dtype)
    return Head.forward(self, x)


def bare(self, d_model, d_head):
    nn.Module.__init__(self)
    self.sizes = d_model, d_head


def all_in_forward(self, x):
    self.linear_q, self.linear_v = nn.Linear(*self.sizes), nn.Linear(*self.sizes, bias=False)
    return Head.forward(self.to(x.dtype), x)


def never_set_up(self, d_model, d_head):
    self.sizes = d_model, d_head


def with_layers(**layers):
    """A head that stores under each name what is made of d_model and d_head."""

    def __init__(self, d_model, d_head):
        nn.Module.__init__(self)
        for name, make in layers.items():
            setattr(self, name, make(d_model, d_head))

    return altered(__init__=__init__)


def shared(self, d_model, d_head):
    nn.Module.__init__(self)
    self.linear_q = self.linear_v = nn.Linear(d_model, d_head)


def tied(self, d_model, d_head):
    shared(self, d_model, d_head)
    self.linear_v = nn.Linear(d_model, d_head, bias=False)
    self.linear_v.weight = self.linear_q.weight


def unbiased(d_model, d_head):
    return nn.Linear(d_model, d_head, bias=False)


MODULES = [
    (altered(forward=in_forward), "layers made in forward."),
    (altered(__init__=bare, forward=all_in_forward), "layers made in forward."),
    (altered(__init__=bare), "it has no weights. No layer is stored in `self`,"),
    (altered(__init__=never_set_up), "no super().__init__()."),
    (altered(__init__=shared), "shared parameters. `linear_q` and `linear_v` share parameters"),
    (altered(__init__=tied), "shared parameters. `linear_q` and `linear_v` share parameters"),
    (with_layers(linear=nn.Linear), "its parameters have the wrong names"),
    (
        with_layers(both=lambda d_model, d_head: nn.Linear(d_model, 2 * d_head)),
        "one wide layer for several. `both` is as wide as `linear_q` and `linear_v` together",
    ),
    (with_layers(linear_q=nn.Linear), "a layer is missing. `linear_v` is not there;"),
    (
        with_layers(linear_q=nn.Linear, layers=lambda *sizes: [unbiased(*sizes)]),
        "layers in a plain list. `self.layers` is an ordinary list",
    ),
    (with_layers(layers=lambda *sizes: {"q": nn.Linear(*sizes)}), "`self.layers` is an ordinary dict"),
    (
        with_layers(linear_q=nn.Linear, linear_v=unbiased, linear_k=unbiased),
        "a layer too many. The exercise has no `linear_k`.",
    ),
    (type("Misspelt", (nn.Module,), {"foward": forgets}), "it has no `forward`. Calling a module runs its"),
    (
        with_layers(linear_q=unbiased, linear_v=unbiased),
        "a bias is missing. The exercise asks for `linear_q.bias`, but there is none.",
    ),
    (with_layers(linear_q=nn.Linear, linear_v=nn.Linear), "a bias too many. The exercise has no `linear_v.bias`."),
    (altered(__init__=renamed), "missing: linear_q.weight, linear_q.bias, linear_v.weight not expected:"),
    (altered(__init__=turned), "`linear_q.weight` has the wrong shape."),
    (altered(__init__=uninitialised), "no super().__init__(). nn.Module has not been set up"),
    (altered(forward=forgets), "does every path through it end in `return …`"),
    (altered(forward=detaches), "no gradient reaches `linear_q.weight` (and 3 more): it would never learn."),
    (altered(forward=counts), "Calling the same module again, with the same inputs, gives a different"),
    (altered(weights=drops), "Dropout must do nothing in eval mode."),
    (altered(forward=fails_to_train), "but a later call or backward pass raises ValueError"),
    (altered(weights=half_detached), "the gradient of `linear_q.weight` (and 2 more) is not: something is cut"),
    (altered(weights=slightly_off), "`weights` is nearly right: look for a small constant, an epsilon or a dtype."),
    (altered(project=far_off), "The very first step, `query`, is already wrong."),
    (altered(forward=lambda self, x, mask: x), "it cannot be called as forward(x)."),
    (lambda d_model, d_head: d_model, "Head(3, 2) gives an int; the class must inherit from nn.Module."),
    (Head(3, 2), "this is an instance; the class is expected."),
    (Head(3, 2).state_dict(), "; a class is expected."),
    (lambda d_model: Head(d_model, 2), "it cannot be called as Head(d_model, d_head)."),
]


@pytest.mark.parametrize(("answer", "sentence"), MODULES)
@pytest.mark.usefixtures("head")
def test_a_wrong_module_gets_its_own_sentence(answer, sentence):
    report = verdict(answer, "Head")
    assert report.status == "failed"
    assert sentence in " ".join(report.message.split())


@pytest.mark.usefixtures("head")
def test_a_module_that_never_trains_is_not_waited_for():
    report = verdict(altered(forward=never_trains), "Head", QUICK)
    assert (report.status, report.mistake) == ("failed", "endless")


@pytest.mark.usefixtures("head")
def test_mistakes_of_modules_are_named_alone_and_in_pairs_and_with_right_numbers(head):
    names = list(head.mistakes)
    ways = [mistake.variants[0] for mistake in head.mistakes.values()]
    assert [verdict(way.answer, "Head").mistake for way in ways] == names
    both = verdict(ways[0].together(ways[1]).answer, "Head")
    assert both.mistake == f"{names[0]} and {names[1]}"
    assert "The values are the queries. The columns sum to 1." in both.message


@pytest.mark.parametrize(
    "answer",
    [
        Head,
        altered(__init__=lazy),
        lambda d_model, d_head: Head(d_model, d_head),
        altered(weights=lambda self, scores: F.dropout(scores.softmax(-1), 0.5, self.training)),
    ],
)
@pytest.mark.usefixtures("head")
def test_a_right_module_passes_in_any_style(answer):
    assert verdict(answer, "Head").message == "✓ Head"


def test_a_weight_that_is_missing_and_belongs_to_no_layer_is_named():
    class Scaled(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.linear, self.gain = nn.Linear(width, width), nn.Parameter(torch.ones(width))

        def forward(self, x):
            return self.linear(x) * self.gain

    declare(
        "Scaled",
        "class Scaled(nn.Module):\n    def forward(self, x): ...",
        lambda generator, width: normal(generator, 3, width),
        Scaled,
        sizes=[{"width": 2}],
        build=("width",),
    )
    without = with_layers(linear=lambda *_: nn.Linear(2, 2)).__init__
    answer = type(
        "Mine",
        (nn.Module,),
        {"__init__": lambda self, width: without(self, width, width), "forward": lambda self, x: self.linear(x)},
    )
    assert "a layer is missing. `gain` is not there;" in " ".join(verdict(answer, "Scaled").message.split())


def test_of_many_names_four_are_told_and_how_many_more_there_are():
    assert some(list("abcdef")) == "a, b, c, d and 2 more"
    assert some(list("abcd")) == "a, b, c, d"


def test_what_an_exercise_checks_of_a_module_it_checks_of_one_that_is_built_and_filled(head):
    seen = set()
    head.checks = (lambda module, x: seen.add((type(module), module.training, module.linear_q.weight.dtype)),)
    assert verdict(Head, "Head").message == "✓ Head"
    assert seen == {(Head, False, torch.float64)}


@pytest.mark.usefixtures("head")
def test_a_module_without_anything_in_it_is_not_attempted():
    empty = verdict(type("Empty", (nn.Module,), {}), "Head")
    assert empty.message == '○ Head: not attempted yet. Stuck? hint("Head")'
    namespace = {"nn": nn}
    exec(EXERCISES["Head"].stub, namespace)
    assert verdict(namespace["Head"], "Head").status == "not attempted"


def test_weights_are_drawn_by_name_and_not_by_the_order_of_construction():
    class Backwards(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear_v, self.linear_q = nn.Linear(3, 2, bias=False), nn.Linear(3, 2)

    one, other = fill(Head(3, 2), 5).state_dict(), fill(Backwards(), 5).state_dict()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_weights_are_of_unit_scale():
    assert weights("linear.weight", (300, 400), 0).std().item() == pytest.approx(0.05, rel=0.02)
    assert weights("linear.bias", (100_000,), 0).std().item() == pytest.approx(1, rel=0.02)


# Other kinds of exercise


def declare(name, stub, draw, reference, *, right="", mistakes=(), hints=(), sizes=({},), **more):
    """An exercise that is known until the test ends; mistakes are (name, why, look, lines, …)."""
    right = textwrap.dedent(right).strip() or f"def {name}(*inputs):\n    return None"
    entries = [Entry(one, why, look, "1" if hints else "", list(lines), "") for one, why, look, *lines in mistakes]
    stub = textwrap.dedent(stub).strip() + "\n"
    page = Page(name, name, (1, 1, 1, 1), name, stub, list(hints), right + "\n", {}, entries)
    return registered(Exercise(page, Setup(sizes=list(sizes), draw=draw, reference=reference, **more)))


def test_texts_and_lists_are_judged_and_shown():
    declare("words", "def words(text): ...", lambda generator: "to be or not to be", str.split)
    assert verdict(lambda text: tuple(text.split()), "words").status == "passed"
    report = verdict(lambda text: text.split()[:-1] + ["bee"], "words")
    assert report.message.startswith("✗ words: the result is not right.")
    assert "yours     …, ['not', 'to', 'bee']  (6 items)" in report.message
    assert "expected  …, ['not', 'to', 'be']  (6 items)" in report.message
    assert "With text='to be or not to be':" in report.message
    assert "is a string; a list is expected." in verdict(lambda text: text, "words").message
    assert "holds an int; a string is expected there." in verdict(lambda text: [1], "words").message
    declare("shout", "def shout(text): ...", lambda generator: ("hello",), lambda text: text.upper())
    report = verdict(lambda text: text, "shout")
    assert "yours     'hello'" in report.message
    assert "is a list of 1; a string is expected." in verdict(lambda text: [text], "shout").message


def test_numbers_are_judged_and_shown():
    declare("third", "def third(x): ...", lambda generator: (3.0,), lambda x: x / 3)
    trained = torch.tensor(1.0, requires_grad=True)
    for number in (1.0, 1, np.float64(1.0), torch.tensor(1.0), np.array(1.0), trained):
        assert verdict(lambda x, number=number: number, "third").status == "passed"
    assert "yours 2.00, expected 1.00" in verdict(lambda x: 2, "third").message
    assert (
        "✗ third: the numbers are not right.\n  The result is not the expected number."
        in verdict(lambda x: 2, "third").message
    )
    assert "yours 1.0010, expected 1.0000" in verdict(lambda x: 1.001, "third").message
    assert "is not a number (NaN)" in verdict(lambda x: float("nan"), "third").message
    assert "is a bool; a float is expected." in verdict(lambda x: True, "third").message
    assert "yours 0.00, expected" in verdict(lambda x: -0.0, "third").message
    declare("even", "def even(x): ...", lambda generator: (3,), lambda x: x % 2 == 0)
    assert "yours     True" not in verdict(lambda x: False, "even").message
    assert "is an int; a bool is expected." in verdict(lambda x: 1, "even").message
    assert verdict(lambda x: True, "even").status == "failed"


def test_a_random_answer_is_judged_by_its_distribution():
    def draws(call, logits, generator):
        return torch.stack([call(logits, generator) for _ in range(40)]).double().mean()

    declare(
        "coins",
        "def coins(logits, generator): ...",
        lambda generator: (torch.zeros(200), torch.Generator().manual_seed(3)),
        lambda logits, generator: torch.bernoulli(logits.sigmoid(), generator=generator),
        observe=draws,
        same=lambda one, other: abs(one - other) < 0.05,
        right="def coins(logits, generator):\n    drawn = torch.bernoulli(logits.sigmoid())\n    return drawn",
        mistakes=[("always heads", "It never draws.", "what is random?", "drawn = torch.ones(200)")],
    )
    assert verdict(lambda logits, generator: (torch.rand(200) < 0.5).float(), "coins").status == "passed"
    assert verdict(lambda logits, generator: (logits > -1).float(), "coins").mistake == "always heads"
    assert verdict(lambda logits, generator: torch.zeros(200), "coins").status == "failed"


def test_the_limit_of_a_frequency_is_so_many_standard_deviations_where_the_numbers_are_large():
    half = torch.full((1, 2), 0.5).double()
    deviation = 0.5 / distributions.DRAWS**0.5
    off = half + distributions.DEVIATIONS * deviation * torch.tensor([1, -1])
    assert distributions.surprise(off, half) == pytest.approx(distributions.LIMIT, rel=0.02)


def test_a_table_that_is_not_of_counted_tokens_holds_no_ids():
    expected = distributions.chances(torch.ones(2, 5))
    for actual, sort in (
        (torch.zeros(6, 3), "dtype"),
        (torch.zeros(2, 6), "ids"),
        (torch.zeros(6), "dtype"),
        (torch.zeros(6, 3).long(), "shape"),
        (torch.full((6,), 5), "ids"),
    ):
        assert difference(actual, expected, "tokens", {}, 0.0, False).sort == sort


def test_what_a_comparison_of_its_own_calls_different_is_wrong_though_the_items_are_equal():
    declare(
        "letters",
        "def letters(text): ...",
        lambda generator: ("ab",),
        list,
        same=lambda one, other: type(one) is type(other) and one == other,
    )
    assert verdict(lambda text: [*text], "letters").status == "passed"
    report = verdict(lambda text: tuple(text), "letters")
    assert report.message.startswith("✗ letters: the result is not right.\n  The result is not the expected one.")


def test_a_number_in_place_of_an_array_is_a_wrong_kind_of_result():
    declare("twice", "def twice(x): ...", lambda generator: normal(generator, 3).numpy(), lambda x: 2 * x)
    report = verdict(lambda x: 3.0, "twice")
    assert (report.status, report.mistake) == ("failed", "wrong kind of result")
    assert not alike(3.0, np.full(3, 3.0), 1.0)
    assert alike(3.0, np.array(3.0), 0)


def test_small_results_are_compared_on_their_own_scale_down_to_a_thousandth():
    small = torch.tensor([0.01, 0.0]).double()
    assert close(small + 1e-7, small, 2e-5)
    assert not close(small + 1e-6, small, 2e-5)
    assert close(small * 0 + 1e-8, small * 0, 2e-5)
    assert not close(small * 0 + 1e-7, small * 0, 2e-5)


def test_a_model_as_an_input_is_copied_and_watched():
    model = nn.Linear(2, 2)
    declare("depth", "def depth(model, x): ...", lambda generator: (model, torch.ones(2)), lambda model, x: 1)
    assert verdict(lambda model, x: 1, "depth").status == "passed"

    def trainer(model, x):
        model.train(False)
        model.weight.data.zero_()
        return 1

    assert "`model` is different after the call" in verdict(trainer, "depth").message
    assert model.training
    assert model.weight.any()


def test_checks_and_symptoms_of_an_exercise_are_told():
    def keeps_order(call, x):
        if torch.equal(call(x.flip(0)), call(x)):
            return "always the same", "Whatever goes in, the same comes out.", "where is `x` used?"
        return "it takes too long to explain" if call(x).dtype == torch.float32 else None

    def is_negative(yours, expected, x):
        return "It is negative." if yours.min() < 0 else None

    declare(
        "same",
        "def same(x): ...",
        lambda generator: torch.arange(3.0).double(),
        lambda x: x.clone(),
        checks=[keeps_order],
        symptoms=[is_negative],
    )
    assert verdict(lambda x: x.clone(), "same").status == "passed"
    report = verdict(lambda x: torch.arange(3.0).double(), "same")
    assert report.mistake == "always the same"
    assert "Where to look: where is `x` used?" in report.message
    counting = "counting", "It counts, and never looks.", "what counts?", "return torch.arange(len(x)).double()"
    setup = {"checks": [keeps_order], "symptoms": [is_negative], "mistakes": [counting]}
    right = "def same(x):\n    return x.clone()"
    draw = lambda generator: torch.arange(3.0).double()  # noqa: E731
    declare("same", "def same(x): ...", draw, lambda x: x.clone(), right=right, **setup)
    assert verdict(lambda x: torch.arange(3.0).double(), "same").mistake == "counting"
    assert verdict(lambda x: x.float(), "same").mistake == "it takes too long to explain"
    assert "It is negative." in verdict(lambda x: -x - torch.arange(3), "same").message


SYMPTOMS = [
    (lambda x: x, "`y` is just the input `x`."),
    (lambda x: 3 * x.softmax(-1), "The rows of `y` do not sum to 1."),
    (lambda x: x.softmax(-1).flip(-1).flip(-2).clone(), "`y` has the right numbers in the wrong places."),
    (lambda x: x.softmax(-1).nan_to_num() * 1.005 - 0.005 / 3, "`y` is nearly right"),
]


@pytest.mark.parametrize(("answer", "sentence"), SYMPTOMS)
def test_the_numbers_themselves_say_what_is_wrong(answer, sentence):
    declare("y", "def y(x): ...", lambda generator: normal(generator, 2, 3), lambda x: x.softmax(-1), returns="y")
    assert sentence in verdict(answer, "y").message


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda x: 2 * x, "Every number in the result is 0.67 times the expected one."),
        (lambda x: 3 * x + 2, "Every number in the result is the expected one plus 2.00."),
        (lambda x: 3 * x - 2, "Every number in the result is the expected one minus 2.00."),
        (lambda x: 3 * x + 1e-3, "The result is nearly right: look for a small constant, an epsilon or a dtype."),
        (lambda x: 3.006 * x, "Every number in the result is 1.0020 times the expected one."),
        (lambda x: 3.0006 * x, "The result is nearly right: look for a small constant, an epsilon or a dtype."),
        (lambda x: 0 * x, "The result is zero everywhere."),
        (lambda x: 3 * x[:2], "The result has shape (2, 4); (3, 4) is expected."),
        (lambda x: (3 * x).mT, "The last two dimensions of the result are swapped."),
        (lambda x: 3 * x.sin(), "The result has the right shape, but not the right numbers."),
    ],
)
def test_simple_relations_are_told(answer, sentence):
    declare("three", "def three(x): ...", lambda generator: normal(generator, 3, 4), lambda x: 3 * x)
    assert sentence in verdict(answer, "three").message


def test_weights_where_none_belong_are_told():
    mask = torch.tensor([[True, False, True]])
    declare(
        "w",
        "def w(x): ...",
        lambda generator: normal(generator, 1, 3),
        lambda x: masks.masked_softmax(x, mask),
        returns="w",
        exact_zeros=True,
    )
    report = verdict(lambda x: x.softmax(-1), "w")
    assert "`w` gives weight to places that should get exactly 0." in report.message
    assert verdict(lambda x: masks.masked_softmax(x, mask) + 1e-30, "w").status == "failed"


def test_a_mask_says_in_how_many_places_it_differs():
    declare("m", "def m(x): ...", lambda generator: torch.arange(-4.0, 5).reshape(3, 3), lambda x: x > 0, returns="m")
    assert "`m` differs from the expected one in 2 of 9 places." in verdict(lambda x: x > 2, "m").message
    assert "and False wherever it should be True" in verdict(lambda x: x <= 0, "m").message
    declare("none", "def none(x): ...", lambda generator: normal(generator, 3), lambda x: 0 * x)
    assert "should be zero everywhere." in verdict(lambda x: x + 1, "none").message


def test_large_results_are_shown_in_part():
    declare("big", "def big(x): ...", lambda generator: normal(generator, 2, 9, 12), lambda x: x.clone())

    def off(x):
        y = x.clone()
        y[1, 6, 10] = 5
        return y

    report = verdict(off, "big")
    assert "yours: result[1] from row 5, column 6" in report.message
    assert "5.00" in report.message


@pytest.mark.parametrize(
    ("name", "answer", "sentence"),
    [
        ("shift_matrix", lambda offset, d_model: 3 * torch.eye(d_model + 1), "`matrix` has shape (5, 5); (4, 4) ="),
        (
            "shift_matrix",
            lambda offset, d_model: torch.ones(d_model, d_model).long(),
            "`matrix` holds int64; float32 is",
        ),
        ("shift_matrix", lambda offset, d_model: [[3.0] * d_model] * d_model, "`matrix` is a list of 4; a tensor is"),
        ("sample_next", lambda logits, *others: logits[:, :1].long(), "`tokens` has shape (3, 1); (3,) = (batch,) is"),
        ("sample_next", lambda logits, *others: 3.0 * logits[:, 0], "`tokens` holds float64; int64 is expected."),
        ("sample_next", lambda logits, *others: "abc", "`tokens` is a string; a tensor is expected."),
        ("tokenize", lambda text: [3, 4], "The result holds an int; a string is expected there."),
        ("tokenize", lambda text: 3, "The result is an int; a list is expected."),
        ("make_sequences", lambda ids, length: 3, "It returns an int; the 2 results (inputs, targets) are expected."),
        ("make_sequences", lambda ids, length: ("one", "two"), "`targets` is a string; a tensor is expected."),
    ],
)
def test_a_comparison_of_its_own_leaves_the_sentences_on_kind_dtype_and_shape(name, answer, sentence):
    assert sentence in " ".join(verdict(answer, name).message.split())


def test_a_tiny_number_where_0_belongs_does_not_look_like_0():
    def not_quite(scores, mask):
        weights = masks.masked_softmax(scores, mask)
        return torch.where(mask, weights, 1e-9 + 1e-9 * scores.sigmoid())

    message = verdict(not_quite, "masked_softmax").message
    assert re.search(r"[12]e-09 .* 0\.00", message)
    tiny, zero = torch.tensor([[1e-9, 1.0]]), torch.tensor([[0.0, 1.0]])
    assert beside(tiny, zero, "weights", 2e-5, exact_zeros=True)[1] == "1e-09   1.00      0.00  1.00"
    assert beside(tiny, zero, "weights", 2e-5)[1].split() == ["0.00", "1.00", "0.00", "1.00"]


def test_numbers_stand_in_columns_below_their_labels():
    ours = torch.tensor([[-1.0, 10.0], [0.5, 2.0]])
    assert beside(ours, ours + 1, "output", 2e-5) == [
        "yours: output    expected",
        "-1.00  10.00      0.00  11.00",
        " 0.50   2.00      1.50   3.00",
    ]
    big, other = torch.zeros(9, 9), torch.zeros(9, 9)
    other[7, 8] = 1.0
    lines = beside(big, other, "output", 2e-5)
    assert lines[0].startswith("yours: output from row 5, column 3 ")
    assert [len(line.split()) for line in lines[1:]] == [12] * 4


def test_inputs_are_shown_in_one_line():
    exercise = declare(
        "all",
        "def all(ids, text, table, words, flag): ...",
        lambda generator: (torch.arange(8), "x" * 60, torch.zeros(2, 3), ["a"] * 30, None),
        lambda *inputs: torch.zeros(2),
    )
    shown = shown_inputs(exercise, exercise.cases(0)[0])
    assert shown == (
        f"ids=[0, 1, 2, 3, 4, 5, 6, 7], text='{'x' * 38}…, table of shape (2, 3), words of length 30, flag=None"
    )
    longer = declare(
        "more",
        "def more(ids, text, words): ...",
        lambda generator: (torch.arange(9), "x" * 38, ["a", "b"]),
        lambda *inputs: torch.zeros(2),
    )
    assert shown_inputs(longer, longer.cases(0)[0]) == f"ids of shape (9,), text='{'x' * 38}', words=['a', 'b']"


def test_a_transposed_result_is_named_in_numpy_too():
    for draw in (lambda generator: normal(generator, 3, 4), lambda generator: normal(generator, 3, 4).numpy()):
        declare("table", "def table(x): ...", draw, lambda x: 2 * x)
        assert verdict(lambda x: 2 * x.T, "table").mistake == "transposed"
        assert "The last two dimensions of the result are swapped." in verdict(lambda x: 2 * x.T, "table").message


def test_a_fault_of_the_check_itself_is_owned_up_to(monkeypatch):
    def broken(generator):
        raise ZeroDivisionError("ours")

    declare("ours", "def ours(x): ...", broken, lambda x: x)
    report = check("ours", lambda x: x)
    assert report.message.startswith("○ ours: could not be checked.")
    assert "a fault in the course, not in your answer" in " ".join(report.message.split())
    assert "ZeroDivisionError" in report.message


# Pairs, slips and raising mistakes


def test_two_mistakes_at_once_are_both_named():
    def two(query, key, value):
        weights = (query @ key.mT).softmax(-2)
        return weights @ value, weights

    report = verdict(two)
    assert report.mistake == "no scaling and softmax over the queries"
    assert report.message.endswith(f'hint("{NAME}", {EXERCISES[NAME].mistakes["no scaling"].hint})')


def test_a_mistake_is_named_though_the_results_are_swapped_or_only_one_is_wrong():
    def unscaled(query, key, value):
        weights = (query @ key.mT).softmax(-1)
        return weights @ value, weights

    swapped = verdict(lambda *inputs: unscaled(*inputs)[::-1])
    assert swapped.mistake == "no scaling"
    assert "The two results are in the wrong order" in " ".join(swapped.message.split())
    partly = verdict(lambda *inputs: (unscaled(*inputs)[0], right(*inputs)[1]))
    assert partly.mistake == "no scaling"
    assert "Only `output` is wrong; `weights` is right." in " ".join(partly.message.split())


def test_a_mistake_that_runs_for_some_sizes_only_is_named_where_it_runs():
    def sometimes(query, key, value):
        weights = (query @ key.mT).softmax(-1)
        return weights.reshape(*query.shape[:-1], query.shape[-2]) @ value, weights

    assert verdict(sometimes).mistake == "no scaling"
    declare(
        "t",
        "def t(a, b): ...",
        lambda g, n, m: (normal(g, n, 2), normal(g, m, 2)),
        lambda a, b: a @ b.mT,
        sizes=[{"n": 2, "m": 3}, {"n": 2, "m": 2}],
        right="def t(a, b):\n    product = a @ b.mT\n    return product",
        mistakes=[
            ("sized by a", "It is sized by a.", "whose size?", "product = (a @ b.mT).reshape(len(a), len(a))"),
            ("never runs", "They do not fit.", "which sizes?", "product = a @ b[:, :1]"),
        ],
    )

    def mine(a, b):
        result = torch.zeros(len(a), len(a), dtype=a.dtype)
        result[:] = a @ b.mT
        return result

    assert verdict(mine, "t").mistake == "sized by a"
    assert verdict(lambda a, b: torch.matmul(a, b[:, 0:1]), "t").mistake == "never runs"


# Reports, hints, solutions


def test_a_notebook_does_not_show_a_report_twice(capsys):
    report = verdict(right)
    assert repr(report) == f"<{NAME}: passed>"
    assert report._ipython_display_() is None
    assert capsys.readouterr().out == f"✓ {NAME}\n"


def test_a_screen_without_the_signs_gets_letters(monkeypatch):
    shown = []

    def narrow(text):
        if not text.isascii():
            raise UnicodeEncodeError("cp1252", text, 0, 1, "no such sign")
        shown.append(text)

    monkeypatch.setattr(builtins, "print", narrow)
    say("✓ yes ✗ no ○ maybe √")
    assert shown == ["OK yes X no O maybe ?"]


def test_the_same_answer_gets_the_same_words_again():
    messages = {verdict(zeros).message for _ in range(3)}
    torch.manual_seed(5)
    messages.add(verdict(zeros).message)
    assert len(messages) == 1


def test_hints_come_one_after_the_other_and_then_point_to_the_solution(capsys):
    total = len(EXERCISES[NAME].hints)
    for number in range(1, total + 1):
        hint(NAME)
        assert capsys.readouterr().out.startswith(f"{NAME}, hint {number} of {total}: ")
    hint(NAME)
    assert f'solution("{NAME}")' in capsys.readouterr().out
    hint(NAME, 1)
    assert f"hint 1 of {total}" in capsys.readouterr().out
    hint(NAME, 9)
    assert f"has hints 1 to {total}" in capsys.readouterr().out
    hint("nobody")
    assert "There is no exercise called nobody." in capsys.readouterr().out
    declare("bare", "def bare(x): ...", lambda generator: (1,), lambda x: x)
    hint("bare", 1)
    assert "bare has no hints." in capsys.readouterr().out


def test_a_solution_can_be_asked_for_by_name_or_by_the_function_itself(capsys):
    solution(NAME)
    text = capsys.readouterr().out
    assert f"def {NAME}(" in text
    solution(reference)
    assert capsys.readouterr().out == text
    solution("nobody")
    assert "There is no exercise called nobody." in capsys.readouterr().out


def test_an_error_in_the_catalogues_own_code_is_not_hidden():
    def fails(yours, expected, x):
        raise ValueError("a symptom is wrong")

    declare(
        "same", "def same(x): ...", lambda generator: torch.arange(3.0).double(), lambda x: x.clone(), symptoms=[fails]
    )
    assert "that is a fault in the course" in verdict(lambda x: -x - torch.arange(3), "same").message


def test_the_inputs_are_those_of_the_last_definition_in_a_stub():
    exercise = declare(
        "f", "import math\n\n\ndef g(): ...\n\n\ndef f(x, y=math.pi): ...", lambda generator: (1.0,), lambda x, y=1.0: x
    )
    assert (exercise.inputs, exercise.required) == (["x", "y"], 1)


def in_two_steps(*mistakes, size=(2, 3)):
    right = "def p(x):\n    scaled = 2 * x\n    shifted = scaled + 1\n    return shifted"
    mistakes = [(name, "It is wrong.", "?", *lines) for name, *lines in mistakes]
    draw = lambda generator: normal(generator, *size)  # noqa: E731
    return declare("p", "def p(x): ...", draw, lambda x: 2 * x + 1, right=right, mistakes=mistakes)


def test_a_mistake_may_have_several_variants_of_which_the_first_is_tried_in_pairs():
    exercise = in_two_steps(("not scaled", "scaled = x", "scaled = x / 2"), ("not shifted", "shifted = scaled"))
    assert verdict(lambda x: x + 1, "p").mistake == "not scaled"
    assert verdict(lambda x: 0.5 * x + 1, "p").mistake == "not scaled"
    assert verdict(lambda x: 2 * x, "p").mistake == "not shifted"
    assert [variant.text for _, variant in exercise.pairs] == ["scaled = x\nshifted = scaled"]
    assert verdict(lambda x: x + 0, "p").mistake == "not scaled and not shifted"


def test_two_mistakes_in_other_variants_are_both_named_if_the_first_shows_on_the_way():
    in_two_steps(("scaled wrongly", "scaled = x", "scaled = 3 * x"), ("not shifted", "shifted = scaled + 2"))
    assert verdict(lambda x: 3 * x + 2, "p").mistake == "scaled wrongly and not shifted"


def test_a_single_number_on_the_way_does_not_show_a_mistake():
    in_two_steps(("scaled wrongly", "scaled = x", "scaled = 3 * x"), ("not shifted", "shifted = scaled + 2"), size=(1,))
    assert verdict(lambda x: 3 * x + 2, "p").mistake is None


def test_a_mistake_that_makes_a_layer_in_forward_leaves_the_others_theirs():
    class Right(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.linear = nn.Linear(width, width)

        def forward(self, x):
            return self.linear(x)

    declare(
        "Layer",
        "class Layer(nn.Module):\n    def forward(self, x): ...",
        lambda generator, width: normal(generator, 3, width),
        Right,
        sizes=[{"width": 2}, {"width": 3}],
        build=("width",),
        right="""
            class Layer(nn.Module):
                def __init__(self, width):
                    super().__init__()
                    self.linear = nn.Linear(width, width)

                def new(self, x):
                    return None

                def forward(self, x):
                    made = self.new(x)
                    result = self.linear(x)
                    return result
            """,
        mistakes=[
            (
                "a layer of zeros",
                "Its layer is new in every call.",
                "`__init__`.",
                "def new(self, x):\n    self.linear = nn.Linear(*self.linear.weight.shape, dtype=x.dtype)\n"
                "result = 0 * self.linear(x)",
            ),
            ("narrow", "It is always 2 wide.", "`__init__`.", "width = 2"),
            ("doubled", "It is twice as much.", "the `return` line.", "result = 2 * result"),
        ],
    )
    assert (
        verdict(type("Mine", (Right,), {"forward": lambda self, x: 2 * self.linear(x)}), "Layer").mistake == "doubled"
    )


def test_integers_are_drawn_in_their_range():
    drawn = integers(torch.Generator().manual_seed(0), 5, 1000, low=2)
    assert set(drawn.tolist()) == {2, 3, 4}
