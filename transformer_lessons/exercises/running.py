"""Runs a learner's answer so that nothing it does can hurt.

It may raise, print, recurse, loop for ever or change global state: the next call finds the world as it was.
"""

import builtins
import contextlib
import ctypes
import dis
import functools
import inspect
import io
import linecache
import os
import random
import re
import sys
import threading
import time
import types
import warnings
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

SECONDS = 3.0  # for one call


class Stop(BaseException):
    """Thrown into a call that has run for too long."""


@dataclass
class Outcome:
    """What came of one call."""

    kind: str  # "value", "raised", "endless", "empty"
    value: object = None
    error: str = ""  # "ValueError: the message"
    line: str = ""  # the learner's line that raised
    printed: int = 0  # lines
    stuck: bool = False  # endless, and could not be stopped
    touched: tuple = ()  # the inputs that the call changed
    unfinished: str = ""  # empty, because of this function, which the answer calls

    @property
    def ok(self):
        return self.kind == "value"


def run(call, seconds=SECONDS):
    """Calls `call()` in a thread of its own, with a time limit, and puts the world back."""
    box = {}
    done = threading.Event()

    def work():
        sink = sinks[threading.get_ident()] = [0]
        try:
            box["outcome"] = attempt(call)
        except BaseException:  # a Stop that came late: the caller has gone
            pass
        finally:
            BUILTINS.update(SAVED_BUILTINS)  # first of all: what follows needs them
            box["printed"] = sink[0]
            sinks.pop(threading.get_ident(), None)
            done.set()

    stop_runaways()
    with captured(), World():
        thread = start(work)
        try:
            if wait(done, seconds):
                outcome = box["outcome"]
                outcome.printed = box["printed"]
                return outcome
            return Outcome("endless", stuck=not stop(thread))
        except BaseException:  # Ctrl-C: the learner wants the prompt back
            stop(thread)
            raise


def attempt(call):
    """The call's outcome, whatever it raises."""
    judging.active = True
    try:
        torch.random.default_generator.manual_seed(0)
        np.random.seed(0)
        random.seed(0)
        value = call()
    except Stop:
        return Outcome("endless")
    except BaseException as error:  # SystemExit too: it is the learner's code
        if is_not_implemented(error):
            return Outcome("empty", unfinished=unfinished(error))
        return Outcome("raised", error=name_error(error), line=line_of(error))
    finally:
        judging.active = False
    if value is ...:
        return Outcome("empty")
    return Outcome("value", value)


judging = threading.local()
BUILTINS = vars(builtins)
SAVED_BUILTINS = dict(BUILTINS)


def start(work):
    thread = threading.Thread(target=work, daemon=True)
    try:
        before = threading.stack_size(64 * 1024 * 1024)  # room for a deep recursion
    except (ValueError, RuntimeError):
        before = None
    try:
        thread.start()
    finally:
        if before is not None:
            threading.stack_size(before)
    return thread


def wait(done, seconds):
    """In short slices, so that Ctrl-C gets through on every system."""
    end = time.monotonic() + seconds
    while not done.wait(min(0.05, max(0.0, end - time.monotonic()))):
        if time.monotonic() >= end:
            return False
    return True


runaways = []


def stop(thread, seconds=1.0):
    """Throws Stop into the thread until it ends. Code stuck inside a C function cannot be stopped."""
    end = time.monotonic() + seconds
    while thread.is_alive() and time.monotonic() < end:
        throw(thread)
        thread.join(0.01)
    if thread.is_alive():
        runaways.append(thread)
    return not thread.is_alive()


def stop_runaways():
    """Tries again with what earlier calls left behind."""
    runaways[:] = [thread for thread in runaways if thread.is_alive()]
    for thread in runaways:
        throw(thread)


def throw(thread):
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Stop))


# Errors, in words that are the same everywhere


def name_error(error):
    """"ValueError: its first line", without addresses and paths; what is cut off ends in "…"."""
    if isinstance(error, RecursionError):
        return "RecursionError: it calls itself for ever"
    try:
        text = str(error)
    except BaseException:  # its own __str__ may raise
        text = ""
    lines = text.strip().splitlines() or [""]
    text = f"{lines[0].rstrip()} …" if len(lines) > 1 else lines[0]
    text = re.sub(r" ?at 0x[0-9a-fA-F]+|0x[0-9a-fA-F]+", "", text)
    text = re.sub(r"(?:[A-Za-z]:)?(?:[\\/][\w.@-]+){2,}", "…", text)
    text = cut(text, 200)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def cut(text, length):
    return text if len(text) <= length else text[:length - 1].rstrip() + "…"


def frames_of(error):
    frames = []
    trace = error.__traceback__
    while trace is not None and len(frames) < 5000:
        frames.append(trace)
        trace = trace.tb_next
    return frames


LIBRARIES = ("site-packages", "dist-packages", os.path.dirname(__file__), os.path.dirname(os.__file__))


def line_of(error):
    """The last line that is the learner's own, not a library's."""
    for trace in reversed(frames_of(error)):
        filename = trace.tb_frame.f_code.co_filename
        if any(folder in filename for folder in LIBRARIES):
            continue
        return cut(linecache.getline(filename, trace.tb_lineno).strip(), 100)
    return ""


def is_not_implemented(error):
    """Raised by a stub, not by a library that lacks an operation."""
    if not isinstance(error, NotImplementedError):
        return False
    frames = frames_of(error)
    return bool(frames) and "NotImplementedError" in frames[-1].tb_frame.f_code.co_names


def unfinished(error):
    """The name of the function that raised it, where the answer only called that; else nothing."""
    own = [trace.tb_frame for trace in frames_of(error)
           if not any(folder in trace.tb_frame.f_code.co_filename for folder in LIBRARIES)]
    if len(own) < 2:
        return ""
    name, caller = own[-1].f_code.co_name, own[0]
    if "self" in own[-1].f_code.co_varnames[:1]:
        if own[-1].f_locals.get("self") is caller.f_locals.get("self"):
            return ""  # a method of the answer itself
        if name in ("__init__", "forward", "__call__"):
            name = type(own[-1].f_locals.get("self")).__name__
    return name


def is_empty(function):
    """Is the body only `pass`, `...` or a docstring?"""
    function = inspect.unwrap(function) if callable(function) else function
    code = getattr(function, "__code__", None)
    return isinstance(code, types.CodeType) and is_empty_code(code)


@functools.lru_cache(maxsize=1000)
def is_empty_code(code):
    noise = {"RESUME", "NOP", "CACHE", "PRECALL", "COPY_FREE_VARS", "MAKE_CELL", "NOT_TAKEN"}
    work = [step for step in dis.get_instructions(code) if step.opname not in noise]
    names = [step.opname for step in work]
    returned = work[0].argval if work else None
    return names in (["LOAD_CONST", "RETURN_VALUE"], ["RETURN_CONST"]) and returned in (None, ...)


class Recorder(TorchFunctionMode):
    """While it is open, keeps a copy of every tensor that PyTorch computes in this thread."""

    def __init__(self, limit=400):
        super().__init__()
        self.limit, self.seen = limit, []

    def __torch_function__(self, function, types, inputs=(), options=None):
        result = function(*inputs, **(options or {}))
        for one in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(one, torch.Tensor) and len(self.seen) < self.limit:
                self.seen.append(one.detach().clone())
        return result


# What an answer prints


class Splitter:
    """Counts what a judged thread prints and swallows it; everyone else's goes where it went before."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        sink = sinks.get(threading.get_ident())
        if sink is None:
            return self.stream.write(text)
        sink[0] += text.count("\n")
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        if threading.get_ident() not in sinks:
            self.stream.flush()

    def __getattr__(self, name):
        return getattr(self.stream, name)


sinks = {}  # thread → [lines printed]


@contextlib.contextmanager
def captured():
    """While it is open, a judged thread prints into nothing, and reads nothing from the keyboard."""
    saved = [getattr(stream, "stream", stream) if isinstance(stream, Splitter) else stream
             for stream in (sys.stdout, sys.stderr)]
    keyboard = sys.stdin, builtins.input
    splitters = sys.stdout, sys.stderr = [Splitter(stream) for stream in saved]
    sys.stdin, builtins.input = io.StringIO(), no_input
    try:
        yield
    finally:
        sys.stdin, builtins.input = keyboard
        running = any(thread.is_alive() for thread in runaways)
        sys.stdout, sys.stderr = splitters if running else saved  # what cannot be stopped stays silent


def no_input(*_):
    raise EOFError("an answer must not ask for input()")


# Global state


def torch_print_options():
    return dict(vars(torch._tensor_str.PRINT_OPTS))


def set_torch_print_options(options):
    vars(torch._tensor_str.PRINT_OPTS).update(options)


def set_environment(environment):
    for name in set(os.environ) - set(environment):
        del os.environ[name]
    os.environ.update({name: value for name, value in environment.items() if os.environ.get(name) != value})


def hooks():
    module = torch.nn.modules.module
    return {name: dict(value) for name, value in vars(module).items() if name.startswith("_global_") and
            isinstance(value, dict)}


def set_hooks(saved):
    for name, value in saved.items():
        table = getattr(torch.nn.modules.module, name)
        table.clear()
        table.update(value)


SETTINGS = [  # how to read it, how to write it
    (torch.get_default_dtype, torch.set_default_dtype),
    (torch.get_float32_matmul_precision, torch.set_float32_matmul_precision),
    (lambda: (torch.are_deterministic_algorithms_enabled(),
              torch.is_deterministic_algorithms_warn_only_enabled()),
     lambda saved: torch.use_deterministic_algorithms(saved[0], warn_only=saved[1])),
    (lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),
     lambda saved: torch.autograd.set_detect_anomaly(*saved)),
    (torch.is_grad_enabled, torch.set_grad_enabled),
    (torch_print_options, set_torch_print_options),
    (np.geterr, lambda saved: np.seterr(**saved)),
    (np.get_printoptions, lambda saved: np.set_printoptions(**saved)),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (os.getcwd, os.chdir),
    (lambda: dict(os.environ), set_environment),
    (hooks, set_hooks),
    (lambda: list(warnings.filters), lambda saved: warnings.filters.__setitem__(slice(None), saved)),
]


class World:
    """Everything global that a call could change: opened before it, put back after it."""

    def __enter__(self):
        self.settings = [read() for read, _ in SETTINGS]
        self.random = torch.get_rng_state(), np.random.get_state(), random.getstate()
        self.threads = torch.get_num_threads()

    def __exit__(self, *error):
        for (read, write), saved in zip(SETTINGS, self.settings, strict=True):
            try:
                now = read()
            except Exception:
                now = None  # the current folder may have gone
            if now != saved:
                write(saved)
        torch.set_num_threads(self.threads)  # always: what another thread has set cannot be read from here
        torch.set_rng_state(self.random[0])
        np.random.set_state(self.random[1])
        random.setstate(self.random[2])
        namespaces.restore()


@contextlib.contextmanager
def standard_world():
    """While a check runs, PyTorch's defaults hold and the package is as imported; then all is as it was."""
    namespaces.extend()
    here = namespaces.now()
    try:
        with World(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            namespaces.restore()
            torch.set_default_dtype(torch.float32)
            elsewhere = torch.get_default_device().type != "cpu"
            device = torch.device("cpu") if elsewhere else contextlib.nullcontext()
            with device, torch.inference_mode(False), torch.enable_grad():
                yield
    finally:
        namespaces.restore(here)


class Namespaces:
    """The names in the package, PyTorch and NumPy, and the code of the package's functions."""

    LIBRARIES = ("torch", "torch.nn", "torch.nn.functional", "torch.linalg", "numpy", "math", "random",
                 "builtins")
    MACHINERY = ("__annotations__", "__annotations_cache__", "__doc__", "__abstractmethods__", "_abc_impl")

    def __init__(self):
        self.saved = {}

    def extend(self):
        """Takes in what has been imported since."""
        package = __name__.split(".")[0]
        for name, module in list(sys.modules.items()):
            wanted = name in self.LIBRARIES or name == package or name.startswith(package + ".")
            if wanted and isinstance(module, types.ModuleType) and module not in self.saved:
                self.take(module, own=name.startswith(package))
        for cls in (torch.Tensor, nn.Module):
            self.take(cls, own=False)

    def take(self, owner, own):
        if owner in self.saved:
            return
        self.saved[owner] = names = dict(vars(owner))
        for value in names.values():
            if isinstance(value, types.FunctionType):
                self.saved[value] = code_of(value)
            elif isinstance(value, type) and (value.__module__.startswith(__name__.split(".")[0]) or (
                    not own and owner is nn and issubclass(value, nn.Module))):
                self.take(value, own)

    def now(self):
        """A copy of how things are now, of what has been taken in."""
        return {owner: code_of(owner) if isinstance(owner, types.FunctionType) else dict(vars(owner))
                for owner in self.saved}

    def restore(self, saved=None):
        """Puts back what has been replaced."""
        for owner, names in (self.saved if saved is None else saved).items():
            if isinstance(owner, types.FunctionType):
                code, defaults, keywords = names
                if (owner.__code__ is not code or owner.__defaults__ is not defaults
                        or owner.__kwdefaults__ is not keywords):
                    owner.__code__, owner.__defaults__, owner.__kwdefaults__ = names
                continue
            current = vars(owner)
            for name, value in names.items():
                if name not in current or current[name] is not value:
                    with contextlib.suppress(AttributeError, TypeError):
                        setattr(owner, name, value)
            if isinstance(owner, type) and len(current) > len(names):
                for name in set(current) - set(names) - set(self.MACHINERY):
                    with contextlib.suppress(AttributeError, TypeError):
                        delattr(owner, name)


def code_of(function):
    return function.__code__, function.__defaults__, function.__kwdefaults__


namespaces = Namespaces()
