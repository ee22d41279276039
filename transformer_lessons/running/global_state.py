"""Global state that an answer may change: saved before it runs, and restored afterwards."""

import contextlib
import gc
import os
import random
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

import numpy as np
import torch
from torch import nn

runaways: list[threading.Thread] = []  # the threads of answers that could not be stopped


# How deep an answer may recurse

DEEPEST = 20_000  # levels of recursion at most, whatever limit an answer sets: deeper ones fill the memory
SET_RECURSION_LIMIT = sys.setrecursionlimit


@contextlib.contextmanager
def bounded_recursion() -> Iterator[None]:
    """While it is active, no recursion goes deeper than DEEPEST."""
    set_recursion_limit(min(sys.getrecursionlimit(), DEEPEST))
    sys.setrecursionlimit = lambda limit: SET_RECURSION_LIMIT(min(limit, DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit = SET_RECURSION_LIMIT


def set_recursion_limit(limit: int) -> None:
    """Sets it, unless an answer still runs: a limit far below the depth of a running thread can end Python 3.11."""
    if not any(thread.is_alive() for thread in runaways):
        SET_RECURSION_LIMIT(limit)


# Settings


def torch_print_options() -> dict:
    return dict(vars(torch._tensor_str.PRINT_OPTS))


def set_torch_print_options(options: dict) -> None:
    vars(torch._tensor_str.PRINT_OPTS).update(options)


def set_environment(environment: dict) -> None:
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    os.environ.update({name: value for name, value in environment.items() if os.environ.get(name) != value})


def hooks() -> dict:
    module = torch.nn.modules.module
    return {
        name: dict(value)
        for name, value in vars(module).items()
        if name.startswith("_global_") and isinstance(value, dict)
    }


def set_hooks(saved: dict) -> None:
    for name, value in saved.items():
        table = getattr(torch.nn.modules.module, name)
        table.clear()
        table.update(value)


def backends() -> list:
    """PyTorch's settings of its libraries."""
    return [getattr(backend, name) for backend, name in BACKENDS]


def set_backends(saved: list) -> None:
    for (backend, name), value in zip(BACKENDS, saved, strict=True):
        setattr(backend, name, value)


BACKENDS = [
    (torch.backends.mkldnn, "enabled"),
    *((torch.backends.cudnn, name) for name in ("enabled", "benchmark", "deterministic")),
]
SETTINGS = [  # how to read it, how to write it
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    (
        lambda: (torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()),
        lambda saved: torch.use_deterministic_algorithms(saved[0], warn_only=saved[1]),
    ),
    (
        lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),
        lambda saved: torch.autograd.set_detect_anomaly(*saved),
    ),
    (torch.is_grad_enabled, torch.set_grad_enabled),
    (backends, set_backends),
    (torch_print_options, set_torch_print_options),
    (np.geterr, lambda saved: np.seterr(**saved)),
    (np.get_printoptions, lambda saved: np.set_printoptions(**saved)),
    (sys.getrecursionlimit, set_recursion_limit),
    (sys.getswitchinterval, sys.setswitchinterval),
    (lambda: list(sys.path), lambda saved: setattr(sys, "path", saved)),
    (gc.isenabled, lambda saved: gc.enable() if saved else gc.disable()),
    (gc.get_threshold, lambda saved: gc.set_threshold(*saved)),
    (os.getcwd, os.chdir),
    (lambda: dict(os.environ), set_environment),
    (hooks, set_hooks),
    (lambda: list(warnings.filters), lambda saved: warnings.filters.__setitem__(slice(None), saved)),
]


def setting_now(read: Callable) -> Any:
    """A setting's value; None for the current folder if it no longer exists."""
    try:
        return read()
    except OSError:
        return None


def restore_setting(read: Callable, write: Callable, saved: Any) -> None:
    if saved is not None and setting_now(read) != saved:
        write(saved)


class GlobalState:
    """Random numbers, threads, SETTINGS and the names in the package and its libraries: saved, and then restored."""

    def __enter__(self) -> None:
        self.settings = [setting_now(read) for read, _ in SETTINGS]
        self.random = torch.get_rng_state(), np.random.get_state(), random.getstate()
        self.threads = torch.get_num_threads()

    def __exit__(self, *error: object) -> None:
        with contextlib.ExitStack() as stack:  # whatever cannot be restored, the rest is
            stack.callback(namespaces.restore)
            for write, saved in zip(
                (torch.set_rng_state, np.random.set_state, random.setstate), self.random, strict=True
            ):
                stack.callback(write, saved)
            stack.callback(torch.set_num_threads, self.threads)  # always: another thread's cannot be read from here
            for setting, saved in zip(SETTINGS, self.settings, strict=True):
                stack.callback(restore_setting, *setting, saved)


@contextlib.contextmanager
def standard_state() -> Iterator[None]:
    """While a check runs, PyTorch's defaults hold and the package is as imported; afterwards everything is restored."""
    namespaces.extend()
    here = namespaces.now()
    try:
        with GlobalState(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            namespaces.restore()
            torch.set_default_dtype(torch.float32)
            elsewhere = torch.get_default_device().type != "cpu"
            device = torch.device("cpu") if elsewhere else contextlib.nullcontext()
            with device, torch.inference_mode(False), torch.enable_grad():
                yield
    finally:
        here.restore()


CODE = attrgetter("__code__", "__defaults__", "__kwdefaults__")


class Namespaces:
    """The names in the package, PyTorch and NumPy, and the code of the package's functions."""

    LIBRARIES = ("torch", "torch.nn", "torch.nn.functional", "torch.linalg", "numpy", "math", "random", "builtins")
    MACHINERY = ("__annotations__", "__annotations_cache__", "__doc__", "__abstractmethods__", "_abc_impl")

    def __init__(self) -> None:
        self.names: dict[types.ModuleType | type, dict] = {}  # of each module and class
        self.code: dict[types.FunctionType, tuple] = {}  # of each function

    def extend(self) -> None:
        """Adds what has been imported since."""
        package = __name__.split(".")[0]
        for name, module in list(sys.modules.items()):
            wanted = name in self.LIBRARIES or name == package or name.startswith(package + ".")
            if wanted and isinstance(module, types.ModuleType):
                self.take(module)
        for cls in (torch.Tensor, nn.Module):
            self.take(cls)

    def take(self, owner: types.ModuleType | type) -> None:
        if owner in self.names:
            return
        self.names[owner] = names = dict(vars(owner))
        for value in names.values():
            if isinstance(value, types.FunctionType):
                self.code[value] = CODE(value)
            elif isinstance(value, type) and (owner is nn or value.__module__.startswith(__name__.split(".")[0])):
                self.take(value)

    def now(self) -> "Namespaces":
        """A copy of the current state of everything that was added."""
        copy = Namespaces()
        copy.names = {owner: dict(vars(owner)) for owner in self.names}
        copy.code = {function: CODE(function) for function in self.code}
        return copy

    def restore(self) -> None:
        """Restores what has been replaced."""
        if not same(list(map(CODE, self.code)), list(self.code.values())):  # all at once, since each call ends here
            for function, (code, defaults, keywords) in self.code.items():
                function.__code__, function.__defaults__, function.__kwdefaults__ = code, defaults, keywords
        for owner, names in self.names.items():
            current = vars(owner)
            if same(current, names):
                continue
            for name, value in names.items():
                if name not in current or current[name] is not value:
                    with contextlib.suppress(AttributeError, TypeError):
                        setattr(owner, name, value)
            if isinstance(owner, type) and len(current) > len(names):
                for name in set(current) - set(names) - set(self.MACHINERY):
                    with contextlib.suppress(AttributeError, TypeError):
                        delattr(owner, name)


def same(now: object, before: object) -> bool:
    """Are these the very same objects? Equality checks identity first, and so is fast."""
    try:
        return now == before
    except Exception:  # something has become an object whose == raises, such as a tensor
        return False


namespaces = Namespaces()
