"""Runs a learner's answer so that nothing it does can do any harm.

It may raise, print, recurse, loop indefinitely or change global state: all is restored before the next call.
"""

import ast
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
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from transformer_lessons.exercises.checker.comparison import glance


@dataclass(frozen=True)
class Limits:
    """Seconds: for one call of an answer, and for all the calls of a check."""

    call: float = 3.0
    check: float = 8.0


LIMITS = Limits()


class Stop(BaseException):
    """Thrown into a call that has run for too long."""


@dataclass
class Outcome:
    """The outcome of one call."""

    kind: str  # "value", "raised", "endless", "empty"
    value: Any = None
    error: str = ""  # "ValueError: the message"
    line: str = ""  # the learner's line that raised
    printed: int = 0  # lines
    stuck: bool = False  # endless, and could not be stopped
    uncounted: float = 0.0  # seconds that went into imports, or into naming an error
    changed_inputs: tuple = ()  # the names of the inputs that the call changed
    unfinished: str = ""  # if empty: the unfinished function that the answer calls

    @property
    def ok(self) -> bool:
        return self.kind == "value"

    @functools.cached_property
    def glance(self) -> tuple | None:
        return glance(self.value)


def run_safely(call: Callable, seconds: float = Limits.call) -> Outcome:
    """Calls `call()` in a thread of its own, with a time limit, and restores global state."""
    box: dict[str, Any] = {}
    done = threading.Event()

    def work():
        sink = sinks[threading.get_ident()] = [0]
        try:  # noqa: SIM105 - another Stop could hit `suppress`
            box["outcome"] = attempt(call)
        except BaseException:  # a Stop that came late: nobody is waiting any more
            pass
        while True:
            try:
                BUILTINS.update(SAVED_BUILTINS)  # first of all: what follows needs them
                box["printed"] = sink[0]
                sinks.pop(threading.get_ident(), None)
                return done.set()
            except Stop:  # another one, thrown before the first was caught
                continue

    stop_runaways()
    with captured(), GlobalState(), bounded_recursion():
        thread = start(work)
        try:
            ended, uncounted = wait(done, thread, seconds)
            if not ended:
                return Outcome("endless", stuck=not stop(thread), uncounted=uncounted)
            outcome = box["outcome"]
            outcome.printed, outcome.uncounted = box["printed"], uncounted
            return outcome
        except BaseException:  # Ctrl-C: the learner wants to stop waiting
            stop(thread)
            raise


def attempt(call: Callable) -> Outcome:
    """The call's outcome, whatever it raises."""
    checking.active = True
    try:
        torch.random.default_generator.manual_seed(0)
        np.random.seed(0)
        random.seed(0)
        value = call()
    except Stop:
        return Outcome("endless")
    except BaseException as error:  # SystemExit too: it is the learner's code
        if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise  # Ctrl-C while a known mistake runs here: it must not be recorded as that mistake's outcome
        BUILTINS.update(SAVED_BUILTINS)  # naming the error needs them
        if is_not_implemented(error):
            return Outcome("empty", unfinished=unfinished(error))
        return Outcome("raised", error=name_error(error), line=line_of(error))
    finally:
        checking.active = False
    if value is ...:
        return Outcome("empty")
    return Outcome("value", value)


checking = threading.local()
BUILTINS = vars(builtins)
SAVED_BUILTINS = dict(BUILTINS)


DEEPEST = 20_000  # levels of recursion at most, whatever limit an answer sets: deeper ones fill the memory
SET_RECURSION_LIMIT = sys.setrecursionlimit


@contextlib.contextmanager
def bounded_recursion():
    """While it is active, no recursion goes deeper than DEEPEST."""
    set_recursion_limit(min(sys.getrecursionlimit(), DEEPEST))
    sys.setrecursionlimit = lambda limit: SET_RECURSION_LIMIT(min(limit, DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit = SET_RECURSION_LIMIT


def set_recursion_limit(limit):
    """Sets it, unless an answer still runs: a limit far below the depth of a running thread can end Python 3.11."""
    if not any(thread.is_alive() for thread in runaways):
        SET_RECURSION_LIMIT(limit)


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


def wait(done, thread, seconds):
    """(did it end in time, the seconds not counted); waits in short slices, so that Ctrl-C gets through everywhere.

    Imports are not counted, up to a limit of their own. PyTorch imports parts of itself when they are first needed,
    which takes seconds on a busy machine, and a module whose import is cut off stays broken for the whole process.
    Nor is the time that this module itself takes to find the line of an error in a long file.
    """
    last = time.monotonic()
    end, uncounted = last + seconds, 0.0
    while not done.wait(min(0.05, max(0.0, end - last))):
        now = time.monotonic()
        if sys.getrecursionlimit() > DEEPEST and sum(1 for _ in near(thread)) == NEAR:
            stop(thread, seconds=10.0)  # the limit was set by a function kept from before; leaving takes its time
            return False, uncounted
        if uncounted < UNCOUNTED and excused(thread):
            uncounted += now - last
            end += now - last
        if now >= end:
            return False, uncounted
        last = now
    return True, uncounted


UNCOUNTED = 30.0  # seconds at most


def excused(thread):
    """Is the thread in the middle of an import, or of finding the line of an error?"""
    return any(code is line_of.__code__ or code.co_filename == "<frozen importlib._bootstrap>" for code in near(thread))


NEAR = 500  # calls: a recursion without end has millions


def near(thread):
    """The code of the thread's innermost calls."""
    frame = sys._current_frames().get(thread.ident)
    for _ in range(NEAR):
        if frame is None:
            return
        yield frame.f_code
        frame = frame.f_back


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
    """Tries again to stop what earlier calls left running."""
    runaways[:] = [thread for thread in runaways if thread.is_alive()]
    for thread in runaways:
        throw(thread)


def throw(thread):
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Stop))


# Errors, in the same words on every machine


def name_error(error: BaseException) -> str:
    """ "ValueError: its first line", without addresses and paths; a text that is cut ends in "…"."""
    if isinstance(error, RecursionError):
        return "RecursionError: it calls itself without end"
    try:
        text = str(error)
    except BaseException:  # its own __str__ may raise
        text = ""
    return in_short(type(error).__name__, text)


def in_short(kind, text):
    lines = text.strip().splitlines() or [""]
    text = f"{lines[0].rstrip()} …" if len(lines) > 1 else lines[0]
    text = re.sub(r" ?at 0x[0-9a-fA-F]+|0x[0-9a-fA-F]+", "", text)
    text = re.sub(r"(?:[A-Za-z]:)?(?:[\\/][\w.@-]+){2,}", "…", text)
    text = cut(text, 200)
    return f"{kind}: {text}" if text else kind


def cut(text, length):
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def frames_of(error):
    frames = []
    trace = error.__traceback__
    while trace is not None and len(frames) < 5000:
        frames.append(trace)
        trace = trace.tb_next
    return frames


PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(__file__))) + os.sep
LIBRARIES = ("site-packages", "dist-packages", os.path.dirname(os.__file__), "<frozen ", "<__array_function__")


def is_own(trace):
    """Is this the learner's own code, rather than this package's or a library's?"""
    filename = trace.tb_frame.f_code.co_filename
    return not in_package(trace) and not any(folder in filename for folder in LIBRARIES)


def in_package(trace):
    return trace.tb_frame.f_code.co_filename.startswith(PACKAGE)


def in_implementation(trace):
    """Is this what the learner has called, and not the checks, which may watch the call?"""
    return in_package(trace) and not trace.tb_frame.f_code.co_filename.startswith(os.path.join(PACKAGE, "exercises"))


def line_of(error):
    """The last line of the learner's own code, with the function it is in or the package's call that raised."""
    frames = frames_of(error)
    own = [number for number, trace in enumerate(frames) if is_own(trace)]
    for number in reversed(own):
        frame = frames[number].tb_frame
        if not (text := cut(statement(frame.f_code.co_filename, frames[number].tb_lineno), 100)):
            continue
        if number != own[0] and frame.f_code is not frames[own[0]].tb_frame.f_code:
            text += named(", in", frame)
        called = next((trace.tb_frame for trace in frames[number + 1 :] if in_implementation(trace)), None)
        return text + (named(", in the call of", called) if called and text.count("(") > 1 else "")
    if own:  # no source is available, for instance after `exec`
        return f"number {frames[own[-1]].tb_lineno}" + named(", in", frames[own[-1]].tb_frame)
    return ""


def named(words, frame):
    """Words and the name of a frame's function; nothing for a lambda, which has no name."""
    name = name_of(frame)
    return f"{words} `{name}`" if name.isidentifier() else ""


def statement(filename, number):
    """The statement at a line, joined into one line; for a compound statement, only the line itself."""
    lines = linecache.getlines(filename)
    text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    for node in simple_statements("".join(lines)):
        if node.lineno <= number <= node.end_lineno and node.lineno < node.end_lineno:
            text = " ".join(ast.unparse(node).split())
    return text


@functools.lru_cache(maxsize=4)
def simple_statements(source):
    """The statements that contain no others; none if the source cannot be parsed."""
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            node
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.stmt) and not hasattr(node, "body") and not isinstance(node, ast.Match)
        ]
    return []


def name_of(frame):
    """The name of a frame's function, or the class whose instance it builds or calls."""
    name = frame.f_code.co_name
    if name in ("__init__", "forward", "__call__") and "self" in frame.f_code.co_varnames[:1]:
        return type(frame.f_locals.get("self")).__name__
    return name


def is_not_implemented(error):
    """Was it raised by a stub, rather than by a library that lacks an operation?"""
    if not isinstance(error, NotImplementedError):
        return False
    frames = frames_of(error)
    return bool(frames) and "NotImplementedError" in frames[-1].tb_frame.f_code.co_names


def unfinished(error):
    """The name of the function that raised it, if that is not the answer."""
    own = [trace.tb_frame for trace in frames_of(error) if is_own(trace)]
    if len(own) < 2:
        return ""
    if "self" in own[-1].f_code.co_varnames[:1] and own[-1].f_locals.get("self") is own[0].f_locals.get("self"):
        return ""  # a method of the answer itself
    return name_of(own[-1])


def is_empty(function: Callable) -> bool:
    """Is the body only `pass`, `...` or a docstring? (`lambda: None` is not: it deliberately returns None.)"""
    value = only_returns(function)
    return value is ... or (value is None and not gives_none(function))


def gives_none(function: Callable) -> bool:
    """Is it a lambda that only returns None? That is an answer, whereas `pass` is not."""
    code = code_within(function)
    return code is not None and code.co_name == "<lambda>" and constant_of(code) is None


def only_returns(function):
    code = code_within(function)
    return MORE if code is None else constant_of(code)


def code_within(function):
    function = inspect.unwrap(function) if callable(function) else function
    code = getattr(function, "__code__", None)
    return code if isinstance(code, types.CodeType) else None


MORE = object()
LONGEST_CONSTANT = 40  # bytes of code that only returns a constant: a few instructions


@functools.lru_cache(maxsize=1000)
def constant_of(code):
    """What the code returns if it does nothing else; otherwise MORE."""
    if len(code.co_code) > LONGEST_CONSTANT:  # most code, at once
        return MORE
    noise = {"RESUME", "NOP", "CACHE", "PRECALL", "COPY_FREE_VARS", "MAKE_CELL", "NOT_TAKEN"}
    work = [step for step in dis.get_instructions(code) if step.opname not in noise]
    names = [step.opname for step in work]
    return work[0].argval if names in (["LOAD_CONST", "RETURN_VALUE"], ["RETURN_CONST"]) else MORE


# In a notebook: is the answer what its last cell defines?


def failed_redefinition(name: str, answer: object) -> tuple | None:
    """(name, error, line) of a later cell that should have redefined the answer but failed; else None.

    This is read from IPython's history, and said only where it is certain: the answer's own cell is in the history, the
    notebook still knows the answer by that name, and no cell since has given the name to anything.
    """
    with contextlib.suppress(Exception):  # no notebook, no history, or an object that raises
        shell = sys.modules["IPython"].get_ipython()
        history = shell.history_manager
        names = {name, getattr(answer, "__name__", name)}
        names = {one for one in names if isinstance(one, str) and shell.user_ns.get(one) is answer}
        cells = [str(cell) for cell in history.input_hist_parsed]
        own = own_cell(answer, cells)
        if own is None:
            return None
        for number in range(len(cells) - 1, own, -1):
            for one in names:
                what = attempt_at(one, cells[number])
                if isinstance(what, SyntaxError):
                    return one, f"{type(what).__name__}: {what.msg}", broken_line(what, cells[number])
                error = getattr(history, "exceptions", {}).get(number)  # recent releases keep them
                if what == "defined" and error:
                    return one, in_short(error["ename"], str(error["evalue"])), ""
                if what:
                    return None
    return None


def own_cell(answer, cells):
    """The number of the last cell that has the text in which the answer was defined."""
    function = inspect.unwrap(answer)
    functions = vars(function).values() if isinstance(function, type) else [function]
    codes = [getattr(inspect.unwrap(one), "__code__", None) for one in functions if callable(one)]
    sources = {"".join(linecache.getlines(code.co_filename)).strip() for code in codes if code} - {""}
    return max((number for number, cell in enumerate(cells) if cell.strip() in sources), default=None)


def attempt_at(name, cell):
    """A cell's SyntaxError if it was meant to define the name; "defined" or "bound" if it does; else None."""
    if name not in cell:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(cell)
    except SyntaxError as error:
        return error if begins(name, cell) else None
    if any(getattr(node, "name", None) == name for node in tree.body if hasattr(node, "body")):
        return "defined"
    for node in ast.walk(tree):
        stored = isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        named = name in (getattr(node, "name", None), getattr(node, "asname", None), *getattr(node, "names", ()))
        if stored or named or (isinstance(node, ast.alias) and node.name == "*"):
            return "bound"
    return None


def begins(name, cell):
    """Does a cell that Python cannot parse begin a definition of the name, outside any other definition?"""
    inside = False
    for line in cell.splitlines():
        if inside and line[:1].isspace():
            continue
        if re.match(rf"\s*(async\s+)?(def|class)\s+{name}\b", line) or re.match(rf"\w+\s+{name}\s*\(.*:\s*$", line):
            return True
        if re.match(r"\s*(async\s+)?(def|class)\b", line):
            inside = True
    return False


def broken_line(error, cell):
    lines = cell.splitlines()
    return cut(lines[error.lineno - 1].strip(), 100) if error.lineno and error.lineno <= len(lines) else ""


# What an answer prints


class Splitter:
    """Counts the lines that an answer's thread prints, and shows none; what other threads print passes through."""

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
    """While it is active, an answer's thread prints nothing and reads nothing from the keyboard."""
    saved = [
        getattr(stream, "stream", stream) if isinstance(stream, Splitter) else stream
        for stream in (sys.stdout, sys.stderr)
    ]
    keyboard = sys.stdin, builtins.input
    splitters = sys.stdout, sys.stderr = [Splitter(stream) for stream in saved]
    sys.stdin, builtins.input = io.StringIO(), no_input
    try:
        yield
    finally:
        sys.stdin, builtins.input = keyboard
        running = any(thread.is_alive() for thread in runaways)
        sys.stdout, sys.stderr = splitters if running else saved  # a call that cannot be stopped stays silent


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
    return {
        name: dict(value)
        for name, value in vars(module).items()
        if name.startswith("_global_") and isinstance(value, dict)
    }


def set_hooks(saved):
    for name, value in saved.items():
        table = getattr(torch.nn.modules.module, name)
        table.clear()
        table.update(value)


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
    (torch_print_options, set_torch_print_options),
    (np.geterr, lambda saved: np.seterr(**saved)),
    (np.get_printoptions, lambda saved: np.set_printoptions(**saved)),
    (sys.getrecursionlimit, set_recursion_limit),
    (os.getcwd, os.chdir),
    (lambda: dict(os.environ), set_environment),
    (hooks, set_hooks),
    (lambda: list(warnings.filters), lambda saved: warnings.filters.__setitem__(slice(None), saved)),
]


class GlobalState:
    """Everything global that a call could change: saved before it and restored after it."""

    def __enter__(self):
        self.settings = [read() for read, _ in SETTINGS]
        self.random = torch.get_rng_state(), np.random.get_state(), random.getstate()
        self.threads = torch.get_num_threads()

    def __exit__(self, *error):
        for (read, write), saved in zip(SETTINGS, self.settings, strict=True):
            try:
                now = read()
            except OSError:
                now = None  # the current folder no longer exists
            if now != saved:
                write(saved)
        torch.set_num_threads(self.threads)  # always, since another thread's setting cannot be read from here
        torch.set_rng_state(self.random[0])
        np.random.set_state(self.random[1])
        random.setstate(self.random[2])
        namespaces.restore()


@contextlib.contextmanager
def standard_state():
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
        namespaces.restore(here)


class Namespaces:
    """The names in the package, PyTorch and NumPy, and the code of the package's functions."""

    LIBRARIES = ("torch", "torch.nn", "torch.nn.functional", "torch.linalg", "numpy", "math", "random", "builtins")
    MACHINERY = ("__annotations__", "__annotations_cache__", "__doc__", "__abstractmethods__", "_abc_impl")

    def __init__(self):
        self.saved = {}

    def extend(self):
        """Adds what has been imported since."""
        package = __name__.split(".")[0]
        for name, module in list(sys.modules.items()):
            wanted = name in self.LIBRARIES or name == package or name.startswith(package + ".")
            if wanted and isinstance(module, types.ModuleType) and module not in self.saved:
                self.take(module)
        for cls in (torch.Tensor, nn.Module):
            self.take(cls)

    def take(self, owner):
        if owner in self.saved:
            return
        self.saved[owner] = names = dict(vars(owner))
        for value in names.values():
            if isinstance(value, types.FunctionType):
                self.saved[value] = code_of(value)
            elif isinstance(value, type) and (owner is nn or value.__module__.startswith(__name__.split(".")[0])):
                self.take(value)

    def now(self):
        """A copy of the current state of everything that was added."""
        return {
            owner: code_of(owner) if isinstance(owner, types.FunctionType) else dict(vars(owner))
            for owner in self.saved
        }

    def restore(self, saved=None):
        """Restores what has been replaced."""
        for owner, names in (self.saved if saved is None else saved).items():
            if isinstance(owner, types.FunctionType):
                code, defaults, keywords = names
                if (
                    owner.__code__ is not code
                    or owner.__defaults__ is not defaults
                    or owner.__kwdefaults__ is not keywords
                ):
                    owner.__code__, owner.__defaults__, owner.__kwdefaults__ = names
                continue
            if unchanged_names(owner, names):
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


def unchanged_names(owner, names):
    """Does a module or class hold the very same objects? Equality checks identity first, and so is fast."""
    try:
        return vars(owner) == names
    except Exception:  # something has become an object whose == raises, such as a tensor
        return False


def code_of(function):
    return function.__code__, function.__defaults__, function.__kwdefaults__


namespaces = Namespaces()
