"""Runs a learner's answer so that its accidents do no harm; it protects nobody from intent (SECURITY.md).

It may raise, print, recurse, loop indefinitely or change global state: all is restored before the next call.
"""

import builtins
import contextlib
import ctypes
import functools
import io
import os
import random
import sys
import threading
import time
import warnings
from builtins import any, int, max, min, open, range, sum  # noqa: UP029 - an answer may replace them as it runs
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from transformer_lessons.running.errors import cut, is_not_implemented, line_of, name_error, unfinished
from transformer_lessons.running.global_state import (
    DEEPEST,
    GlobalState,
    bounded_recursion,
    runaways,
)
from transformer_lessons.running.values import glance


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
    warned: tuple[str, ...] = ()  # what NumPy has warned of, such as "overflow encountered in exp"
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
        sink = sinks[threading.get_ident()] = Sink()
        try:  # noqa: SIM105 - another Stop could hit `suppress`
            box["outcome"] = attempt(call)
        except BaseException:  # a Stop that came late: nobody is waiting any more
            pass
        while True:
            try:
                BUILTINS.update(SAVED_BUILTINS)  # first of all: what follows needs them
                box["sink"], box["worked"] = sink, time.thread_time()
                sinks.pop(threading.get_ident(), None)
                return done.set()
            except Stop:  # another one, thrown before the first was caught
                continue

    stop_runaways()
    with captured(), GlobalState(), bounded_recursion():
        thread, began = start(work), time.monotonic()
        try:
            ended, uncounted = wait(done, thread, seconds)
            if not ended:
                return Outcome("endless", stuck=not stop(thread), uncounted=uncounted)
            outcome = box["outcome"]
            outcome.printed, outcome.warned = box["sink"].lines, tuple(box["sink"].warned)
            outcome.uncounted = uncounted + starved(time.monotonic() - began - uncounted, box["worked"])
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


def start(work: Callable) -> threading.Thread:
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


def wait(done: threading.Event, thread: threading.Thread, seconds: float) -> tuple[bool, float]:
    """(did it end in time, the seconds not counted); waits in short slices, so that Ctrl-C gets through everywhere.

    Imports are not counted, up to a limit of their own. PyTorch imports parts of itself when they are first needed,
    which takes seconds on a busy machine, and a module whose import is cut off stays broken for the whole process.
    Nor is the time that this module itself takes to find the line of an error in a long file, or the time for which
    a busy machine lets the thread wait.
    """
    began = last = time.monotonic()
    end, uncounted = last + seconds, 0.0
    while not done.wait(min(0.01, max(0.0, end - last))):
        now = time.monotonic()
        if sys.getrecursionlimit() > DEEPEST and sum(1 for _ in innermost_calls(thread)) == INNERMOST:
            stop(thread, seconds=10.0)  # the limit was set by a function kept from before; leaving takes its time
            return False, uncounted
        if uncounted < UNCOUNTED:
            excess = now - last if excused(thread) else 0.0
            if now >= end + excess:
                excess += starved(now - began - uncounted, processor_time(thread))
            uncounted += excess
            end += excess
        if now >= end:
            return False, uncounted
        last = now
    return True, uncounted


def starved(elapsed: float, worked: float) -> float:
    """The seconds for which a call that works has waited for the processor; one that sleeps has waited for nothing."""
    return max(0.0, elapsed - worked) if worked > 0.05 * elapsed else 0.0


def processor_time(thread: threading.Thread) -> float:
    """The seconds that a thread has worked for; 0 where the system does not say."""
    try:
        with open(f"/proc/self/task/{thread.native_id}/stat") as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0


UNCOUNTED = 30.0  # seconds at most


def excused(thread: threading.Thread) -> bool:
    """Is the thread in the middle of an import, or of finding the line of an error?"""
    return any(
        code is line_of.__code__ or code.co_filename == "<frozen importlib._bootstrap>"
        for code in innermost_calls(thread)
    )


INNERMOST = 500  # calls: a recursion without end has millions


def innermost_calls(thread: Any) -> Iterator:
    """The code of the thread's innermost calls."""
    frame = sys._current_frames().get(thread.ident)
    for _ in range(INNERMOST):
        if frame is None:
            return
        yield frame.f_code
        frame = frame.f_back


def stop(thread: threading.Thread, seconds: float = 1.0) -> bool:
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


def throw(thread: Any) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Stop))


# What an answer prints


@dataclass
class Sink:
    """What one call has printed, and warned of."""

    lines: int = 0
    warned: list[str] = field(default_factory=list)


class Splitter:
    """Counts the lines that an answer's thread prints, and shows none; what other threads print passes through."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        sink = sinks.get(threading.get_ident())
        if sink is None:
            return self.stream.write(text)
        sink.lines += text.count("\n")
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        if threading.get_ident() not in sinks:
            self.stream.flush()

    def __getattr__(self, name):
        return getattr(self.stream, name)


sinks: dict[int, Sink] = {}  # of each thread in which an answer runs
WARNINGS = 2  # of one call that are noted


def noting(show: Callable) -> Callable:
    """Notes the first warnings of an answer's thread, and shows none; those of other threads pass through."""

    def noted(message, category, *where, **other):
        sink, text = sinks.get(threading.get_ident()), cut(" ".join(str(message).split()), 100)
        if sink is None:
            show(message, category, *where, **other)
        elif text not in sink.warned and len(sink.warned) < WARNINGS:
            sink.warned.append(text)

    return noted


@contextlib.contextmanager
def captured():
    """While it is active, an answer's thread prints nothing and reads nothing from the keyboard.

    Of its warnings, those of numbers are noted, each time, and all others ignored.
    """
    saved = [
        getattr(stream, "stream", stream) if isinstance(stream, Splitter) else stream
        for stream in (sys.stdout, sys.stderr)
    ]
    keyboard = sys.stdin, builtins.input
    splitters = sys.stdout, sys.stderr = [Splitter(stream) for stream in saved]
    sys.stdin, builtins.input = io.StringIO(), no_input
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", RuntimeWarning)
            warnings.showwarning = noting(warnings.showwarning)
            yield
    finally:
        sys.stdin, builtins.input = keyboard
        running = any(thread.is_alive() for thread in runaways)
        sys.stdout, sys.stderr = splitters if running else saved  # a call that cannot be stopped stays silent


def no_input(*_):
    raise EOFError("an answer must not ask for input()")
