"""Whatever an answer changes, the world is as it was when it ends, and the next check is unaffected."""

import asyncio
import builtins
import contextlib
import functools
import gc
import os
import random
import sys
import threading
import types
import warnings

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from reported import right, verdict, wrong
from torch import nn

from transformer_lessons import attention, masks
from transformer_lessons.exercises import catalogue
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.running import global_state, sandbox
from transformer_lessons.running.sandbox import Limits

PATIENT = Limits(call=60, check=60)  # some of these settings import a lot when they are first used


def world():
    """Everything global that a notebook could notice."""
    threads = []
    thread = threading.Thread(target=lambda: threads.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    return {
        "default dtype": torch.get_default_dtype(),
        "threads": torch.get_num_threads(),
        "threads of a new thread": threads,
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
        "garbage": (gc.isenabled(), gc.get_threshold()),
        "modules found in": list(sys.path),
        "switching": sys.getswitchinterval(),
        "mkldnn": torch.backends.mkldnn.enabled,
        "cudnn": (torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark),
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


def vandal(query, key, value):
    result = right(query, key, value)
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
    sys.setswitchinterval(0.01)
    sys.path.clear()
    gc.disable()
    gc.set_threshold(1, 1, 1)
    torch.backends.mkldnn.enabled = torch.backends.cudnn.enabled = False
    torch.backends.cudnn.benchmark = True
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
    return result


def test_an_answer_that_changes_everything_passes_if_it_is_right_and_leaves_the_world_as_it_was():
    before = world()
    assert verdict(vandal, limits=PATIENT).status == "passed"
    after = world()
    assert {name for name in before if before[name] != after[name]} == set()
    assert verdict(wrong).status == "failed"
    assert verdict(right).status == "passed"
    assert verdict(masks.causal_mask, "causal_mask").status == "passed"


# A check leaves these as an answer sets them, and so no test sets them. The first three would end or flood the tests,
# or can be set only once.
LEFT = {
    *("sys.setdlopenflags", "gc.set_debug", "torch.set_num_interop_threads"),
    *("sys.set_int_max_str_digits", "torch.set_warn_always"),
    *("torch.backends.cudnn.allow_tf32", "torch.backends.mkldnn.deterministic"),
}


def switches():
    """{name: (how to read it, how to write it)} of every setting that can be found and is yes, no or a number.

    In these modules, a setting has a function that sets it and one that reads it; in PyTorch's backends, it is a
    property. So what no list names, and what a newer PyTorch adds, is found, too.
    """
    found = {}
    for module in (torch, torch.autograd, np, sys, gc):
        for write in [name for name in dir(module) if name.startswith("set")]:
            base = write.removeprefix("set").removeprefix("_")
            for read in (f"get_{base}", f"get{base}", f"is_{base}", f"is_{base}_enabled"):
                if hasattr(module, read):
                    found[f"{module.__name__}.{write}"] = getattr(module, read), getattr(module, write)
    for module in (torch.backends.cudnn, torch.backends.mkldnn):
        for name, kind in vars(type(module)).items():
            if isinstance(kind, torch.backends.ContextProp):
                pair = functools.partial(getattr, module, name), functools.partial(setattr, module, name)
                found[f"{module.__name__}.{name}"] = pair
    return {
        name: pair for name, pair in found.items() if name not in LEFT and type(state_of(pair)) in (bool, int, float)
    }


def state_of(pair):
    try:
        return pair[0]()
    except TypeError:  # it needs to be told of what
        return None


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_switch_and_number_that_can_be_found_is_as_it_was_except_for_a_few():
    known, turned = switches(), set()
    before = {name: read() for name, (read, _) in known.items()}

    def turn_every_switch(query, key, value):
        result = right(query, key, value)
        for name, (_, write) in known.items():
            with contextlib.suppress(RuntimeError, ValueError):  # some take neither
                write(not before[name] if type(before[name]) is bool else 2 * before[name] or 1)
                turned.add(name)
        return result

    try:
        assert verdict(turn_every_switch, limits=PATIENT).status == "passed"
        changed = {name for name, (read, _) in known.items() if read() != before[name]}
    finally:
        for name, (read, write) in known.items():
            if read() != before[name]:
                write(before[name])
    assert len(turned) > 12
    assert changed == set()


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


def test_a_hook_of_the_notebook_is_still_there_after_an_answer_has_added_another():
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


def test_if_the_folder_is_gone_everything_else_is_restored(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "gone"
    folder.mkdir()
    os.chdir(folder)
    torch.manual_seed(1)
    before = torch.get_rng_state()
    monkeypatch.setenv("KEPT", "yes")
    state = global_state.GlobalState()
    state.__enter__()
    os.chdir(tmp_path)
    folder.rmdir()
    del os.environ["KEPT"]
    torch.rand(1)
    with pytest.raises(FileNotFoundError):
        state.__exit__()
    assert torch.equal(torch.get_rng_state(), before)
    assert os.environ["KEPT"] == "yes"


def test_a_check_in_a_folder_that_no_longer_exists_judges_as_anywhere(tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert verdict(right).status == "passed"
    assert verdict(wrong).status == "failed"


def test_an_answer_is_judged_by_the_package_as_it_was_imported_and_a_patch_of_the_notebook_survives(monkeypatch):
    def nobody(length, device=None):
        return torch.zeros(length, length, dtype=torch.bool)

    original = masks.causal_mask.__code__
    monkeypatch.setattr(masks, "padding_mask", nobody)
    masks.causal_mask.__code__ = nobody.__code__
    try:
        report = verdict(lambda length: torch.ones(length, length).tril().bool(), "causal_mask")
        still_patched = not masks.causal_mask(2).any()
        assert masks.padding_mask is nobody
    finally:
        masks.causal_mask.__code__ = original
    assert (report.status, still_patched) == ("passed", True)


def test_an_exercise_read_while_a_function_of_the_package_is_replaced_keeps_the_right_one(monkeypatch):
    global_state.namespaces.extend()  # as when a notebook imports check below what it imports of the package
    monkeypatch.setitem(EXERCISES.known, "merge_heads", None)
    monkeypatch.delitem(sys.modules, f"{catalogue.__name__}.merge_heads", raising=False)
    original, nothing = attention.merge_heads, lambda x: x.new_zeros(1)
    monkeypatch.setattr(attention, "merge_heads", nothing)
    assert "merge_heads" in EXERCISES
    assert EXERCISES["merge_heads"].reference is original
    assert attention.merge_heads is nothing


def test_the_settings_of_the_notebook_do_not_change_a_verdict_and_are_kept():
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


def test_an_answer_runs_on_one_thread_and_the_threads_come_back():
    before, seen = torch.get_num_threads(), set()
    torch.set_num_threads(2)
    try:
        verdict(lambda query, key, value: seen.add(torch.get_num_threads()) or right(query, key, value))
        after = torch.get_num_threads()
    finally:
        torch.set_num_threads(before)
    assert (seen, after) == ({1}, 2)


def test_check_works_inside_a_running_event_loop_as_in_a_notebook():
    async def cell():
        return verdict(right)

    assert asyncio.run(cell()).status == "passed"
