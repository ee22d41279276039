"""The process that runs a student's code. It starts from nothing: it holds no seed, no expected numbers, no catalogue.

One process loads Python and PyTorch and then only forks: each notebook gets a fork of its own, confined before a line
of the notebook has been read. Requests come over a socket, and it sends back numbers.
"""

from __future__ import annotations

import _thread
import ast
import builtins
import contextlib
import gc
import importlib
import importlib.abc
import importlib.machinery
import inspect
import linecache
import math
import os
import pkgutil
import random
import signal
import socket
import struct
import sys
import tempfile
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

if TYPE_CHECKING:  # a student's process is started by this file's path, and finds the course only later
    from transformer_lessons.marking.messages import (
        Answer,
        Back,
        Call,
        Called,
        Define,
        Description,
        Done,
        Failure,
        Given,
        Layers,
        Parameters,
        Plan,
        Read,
        Refused,
        Unread,
        Value,
    )
    from transformer_lessons.marking.notebook import Statement
    from transformer_lessons.marking.wire import Lines

PACKAGE = Path(__file__).resolve().parent.parent
# What no answer needs, or may not see. What the finished implementation imports of it is loaded with it.
APART = ("basis", "exercises", "marking", "running", "tools", "__main__", "inspection.plots")
OWN = (
    *("basis.cells", "basis.numbers", "running.emptiness", "running.sandbox"),
    *("marking.confinement", "marking.lending", "marking.notebook", "marking.wire"),
)
LOADED_LATE = ("numpy.random", "torch.fx.experimental.symbolic_shapes")  # by every fork, if not before


class Picture(types.ModuleType):
    """Stands for what only shows something, or checks an answer: it may be used in every way, and does nothing."""

    def __getattr__(self, name: str) -> Picture:
        if name[:2] == "__":
            raise AttributeError(name)
        return self

    def __call__(self, *_: Any, **__: Any) -> Picture:
        return self

    def __getitem__(self, _: Any) -> Picture:
        return self

    def __setitem__(self, *_: Any) -> None:
        pass

    def __iter__(self) -> Iterator[Picture]:
        return iter((self, self))  # as in figure, axes = plt.subplots()

    def __enter__(self) -> Picture:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __str__(self) -> str:
        return ""


class Pictures(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds such a module for each that draws, and for the checks: no answer needs them, but its cells import them."""

    def find_spec(self, name: str, *_: Any) -> importlib.machinery.ModuleSpec | None:
        is_stood_for = name.partition(".")[0] in IDLE or name in IDLE
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if is_stood_for else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Picture:
        return Picture(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


IDLE = ("matplotlib", "mpl_toolkits", f"{PACKAGE.name}.inspection.plots", f"{PACKAGE.name}.exercises")
SHELL = {"display": Picture("display"), "get_ipython": Picture("get_ipython")}  # what a cell has without importing it


def load() -> None:
    """Imports the course's finished implementation; `check`, `answer`, `hint` and `solution` do nothing."""
    load_course()
    sys.meta_path.insert(0, Pictures())
    for name in (*LOADED_LATE, *(f"{PACKAGE.name}.{name}" for name in OWN)):
        importlib.import_module(name)


def load_course() -> None:
    """Imports the finished implementation, and what else lessons import."""
    for name in course_modules(PACKAGE):
        with contextlib.suppress(ImportError):
            importlib.import_module(f"{PACKAGE.name}.{name}")


def course_modules(folder: Path, above: str = "") -> Iterator[str]:
    """The names of all modules that hold the finished implementation, and what else a lesson imports."""
    for found in pkgutil.iter_modules([str(folder)]):
        name = above + found.name
        if name in APART:
            continue
        yield name
        if found.ispkg:
            yield from course_modules(folder / found.name, f"{name}.")


def places_of(name: str, but: str = "") -> frozenset[tuple[str, int]]:
    """Where the course defines what has this name: (file, line) of each function, and of each method but one."""
    places, ours, folder = set(), f"{PACKAGE.name}.", str(PACKAGE)
    for module_name, module in list(sys.modules.items()):
        if not module_name.startswith(ours) or module_name.split(".")[1] in APART:
            continue
        owners = [module, *(one for one in list(vars(module).values()) if isinstance(one, type))]
        for owner in owners:
            value = vars(owner).get(name)
            methods = [one for key, one in vars(value).items() if key != but] if isinstance(value, type) else [value]
            for function in methods:
                code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
                if code and code.co_filename.startswith(folder):
                    places.add((code.co_filename, code.co_firstlineno))
    return frozenset(places)


def readable() -> list[str]:
    """What a confined process may read: Python and its libraries. It has already loaded the course's own files."""
    libraries = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    return [
        *libraries,
        sys.prefix,
        sys.base_prefix,
        "/usr",
        "/lib",
        "/lib64",
        "/etc/ld.so.cache",
        "/proc/cpuinfo",
        "/dev/null",
        "/dev/urandom",
    ]


def main(number: int) -> None:
    """Waits for sockets to arrive over the socket with that number, and forks a child for each."""
    control = socket.socket(fileno=number)
    load()
    torch.set_num_threads(1)
    tempfile.tempdir = "/"  # it is never written to, and looking for one would fail
    sys.modules[f"{PACKAGE.name}.running.global_state"].namespaces.extend()
    watch_threads()
    watch_sources()
    gc.collect()
    gc.freeze()  # or the collector of each fork would look at all that is loaded, and so copy its memory
    gc.set_threshold(50_000)  # looking for cycles in what comes over the wire would take longer than to read it
    control.sendall(b"\0" * 8)
    while True:
        message, sockets, _, _ = socket.recv_fds(control, 8, 1)
        if len(message) < 8:
            break
        (pid,) = struct.unpack("<q", message)
        answer = bury(pid) if pid else fork(control, sockets[0])
        control.sendall(struct.pack("<q", answer))


def bury(pid: int) -> int:
    """Ends a process and its group; returns the signal that had ended it before, or 0."""
    with contextlib.suppress(ChildProcessError):
        gone, status = os.waitpid(pid, os.WNOHANG)
        for end in (os.killpg, os.kill) if not gone else (os.killpg,):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                end(pid, signal.SIGKILL)
        if gone:
            return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        os.waitpid(pid, 0)
    return 0


def fork(control: socket.socket, place: int) -> int:
    """The number of a new process that serves over the socket with this number, or the error's, negative."""
    try:
        pid = os.fork()
    except OSError as error:  # no more processes are allowed just now
        pid = -(error.errno or 1)
    if pid == 0:
        control.close()
        begin(socket.socket(fileno=place))
    os.close(place)
    return pid


def begin(own: socket.socket) -> None:
    """Confines this process, and serves."""
    from transformer_lessons.marking import confinement
    from transformer_lessons.marking.wire import Broken, Lines

    try:
        os.setsid()
        confinement.die_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.chdir("/")
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        place = os.dup2(own.detach(), 3)
        os.closerange(4, 4096)
        lines = Lines(socket.socket(fileno=place))
        lines.send({"held": confinement.confine(readable())})
        with contextlib.suppress(Broken):
            Child(lines, lines.receive()).serve()
    finally:
        os._exit(0)


class Borrowing:
    """Notes whether the course's own code of that name runs, or its source is asked for, or the watch is switched off.

    It is a tripwire, not a wall.
    """

    now: Borrowing | None = None  # the one that watches just now
    last: Borrowing | None = None  # that of the answer at hand

    def __init__(self, name: str, but: str = "") -> None:
        self.places, self.seen = places_of(name, but), False
        Borrowing.last = self

    def __enter__(self) -> None:
        if self.places:
            Borrowing.now = self
            watch_threads()
            sys.setprofile(noted)

    def note(self, code: types.CodeType) -> None:
        """A copy of the course's code, under another name, still says where it comes from."""
        if (code.co_filename, code.co_firstlineno) in self.places:
            self.seen = True

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if self.places and error is None:  # at the deepest recursion Python itself switches it off
            self.seen = self.seen or sys.getprofile() is not noted
        sys.setprofile(None)
        Borrowing.now = None


def noted(frame: types.FrameType, event: str, _: object) -> None:
    if event == "call" and Borrowing.now is not None:
        Borrowing.now.note(frame.f_code)


STARTERS = {name: getattr(_thread, name) for name in dir(_thread) if name.startswith("start_")}


def watch_threads() -> None:
    """From now on, what runs in a new thread is noted, also when the answer that uses it is called only later."""
    threading.setprofile(noted)

    def watched(start: Callable) -> Callable:
        def start_watched(function: Callable, *arguments: Any, **named: Any) -> Any:
            def run(*arguments: Any, **named: Any) -> Any:
                sys.setprofile(noted)
                return function(*arguments, **named)

            return start(run, *arguments, **named)

        return start_watched

    for name, start in STARTERS.items():  # beneath `threading`, which has names of its own for them
        setattr(_thread, name, watched(start))


def watch_sources() -> None:
    """From now on, it is noted whose source is asked for. The course's own cannot be read here in any case."""
    find = inspect.findsource

    def findsource(thing: Any) -> Any:
        for one in [*vars(thing).values()] if isinstance(thing, (type, types.ModuleType)) else [thing]:
            code = getattr(inspect.unwrap(one), "__code__", None) if callable(one) else None
            if code and Borrowing.last:
                Borrowing.last.note(code)
        return find(thing)

    inspect.findsource = findsource  # type: ignore[assignment]


class Child:
    """Reads one notebook, and runs what it is asked to run."""

    def __init__(self, lines: Lines, data: bytes = b"") -> None:
        from transformer_lessons.marking import lending, notebook, wire
        from transformer_lessons.running import emptiness, errors, global_state, sandbox

        self.emptiness, self.errors, self.global_state, self.sandbox = emptiness, errors, global_state, sandbox
        self.lines, self.notebook, self.lending, self.wire = lines, notebook, lending, wire
        self.data = data
        self.targets: dict[int, Any] = {}  # what can be called from the other side, by number
        self.key: tuple[int, int] | None = None  # of the attempt that goes on
        self.randomness: Any = None  # of NumPy's and Python's generators, after the last call
        self.borrowing = Borrowing("")

    def serve(self) -> None:
        while True:
            head = self.lines.message()
            self.count = head["count"]
            try:
                replies: dict[str, Callable] = {
                    "read": self.read,
                    "define": self.define,
                    "value": self.value,
                    "call": self.call,
                    "build": self.call,
                    "back": self.back,
                }
                reply = replies[head["do"]](head)
            except BaseException as error:
                reply = self.failure(error)
            self.lines.send(reply | {"count": self.count})

    def ask(self, head: Any) -> Any:
        """Sends a request to the other side while it waits for our reply."""
        self.lines.send(head | {"count": self.count})
        return self.lines.message()

    def back(self, head: Back) -> Any:
        """The gradients of the last call."""
        return self.scope.serve(head)

    def failure(self, error: BaseException) -> Failure | Unread:
        """An error, as the texts that the checker makes its sentences from."""
        vars(builtins).update(self.sandbox.SAVED_BUILTINS)
        if isinstance(error, self.notebook.Unreadable):
            return {"unreadable": str(error)}
        try:
            text = str(error)[:2000]
        except BaseException:
            text = ""
        kind = next(one.__name__ for one in type(error).__mro__ if vars(builtins).get(one.__name__) is one)
        empty = self.errors.is_not_implemented(error)
        return {
            "error": type(error).__name__,
            "kind": kind,
            "text": text,
            "line": self.errors.line_of(error),
            "empty": empty,
            "unfinished": self.errors.unfinished(error) if empty else "",
            "borrowed": self.borrowing.seen,
        }

    def read(self, head: Read) -> Plan:
        """What the notebook holds. No line of it has been run yet."""
        questions = {number for known in head["course"].values() for number in known["questions"]}
        book = self.book = self.notebook.Notebook(self.data, questions)
        lesson = book.lesson(head["course"]) or head["lesson"]
        items: dict[str, Answer] = {}
        refused: dict[str, Refused] = {}
        asked = head["course"].get(lesson or "", {"items": []})["items"]
        for exercise, subject in asked:
            work = book.work_on(exercise, subject)
            if work is not None:
                source = self.notebook.excerpt_of(work, subject)
                digest, nodes, lines = self.notebook.shape_of(source)
                items[subject] = {
                    "source": source,
                    "digest": digest,
                    "nodes": nodes,
                    "lines": lines,
                    "comments": self.notebook.comments_in(source),
                }
        for name in {*book.refused_names(), *(subject for _, subject in asked)}:
            if attempt := book.attempt(name):
                refused[name] = {
                    "source": attempt[0].source,
                    "comments": self.notebook.comments_in(attempt[0].source),
                    "error": attempt[0].error,
                    "text": attempt[0].text,
                    "line": attempt[0].line,
                    "only": attempt[1],
                }
        answers: dict[str, Given] = {
            number: {**one, "literal": self.wire.pack(one["literal"])} if "literal" in one else one
            for number, one in book.answers.items()
        }
        return {
            "lesson": lesson,
            "digest": book.digest,
            "lost": book.lost,
            "items": items,
            "refused": refused,
            "answers": answers,
        }

    def run(
        self, work: list[Statement], instead: dict[str, str] | None = None
    ) -> tuple[dict[str, Any], BaseException | None]:
        """A fresh namespace in which these statements have run, and the last error that one of them raised.

        The definitions of some names may be the course's instead.
        """
        space, problem = {"__name__": "__main__", "__builtins__": builtins} | SHELL, None
        self.global_state.namespaces.restore()
        for name, source in (instead or {}).items():
            own: dict[str, Any] = {"__name__": "course"}
            exec(source, own)
            space[name] = own[name]
        for number, one in enumerate(work):
            if instead and one.defines & instead.keys():
                continue
            name = f"<cell {one.cell}, {number}>"
            linecache.cache[name] = len(one.source), None, one.source.splitlines(keepends=True), name
            try:
                exec(compile(one.source, name, "exec"), space)
            except SyntaxError:  # an indented part of something that cannot be read
                continue
            except BaseException as error:
                problem = error
        return space, problem

    def define(self, head: Define) -> Description:
        """Runs what a subject needs, and describes the subject."""
        self.targets.clear()
        work = self.book.work_on(head["exercise"], head["subject"]) or []
        if head["repaired"]:  # its own definition, which Python refused before
            work = self.book.work_with(head["subject"], head["repaired"])
        but = "__init__" if head["subject"] != head["exercise"] else ""  # a hunt may be one of our classes, put right
        self.borrowing = Borrowing(head["exercise"], but)
        with self.sandbox.captured():
            space, problem = self.run(work, head["instead"])
        if head["subject"] not in space:
            raise problem or NameError(f"name '{head['subject']}' is not defined")
        self.borrowing.places |= places_of(head["exercise"], but)  # its cells may have imported more, or hidden some
        return self.description(space[head["subject"]])

    def value(self, head: Value) -> Done:
        """The value of an answer that is not a literal."""
        code = self.book.answers[head["number"]]["code"]
        names = {one.id for one in ast.walk(ast.parse(code)) if isinstance(one, ast.Name)}
        numbers = sorted(self.book.needed(names, len(self.book.statements)))
        with self.sandbox.captured():
            space, _ = self.run([self.book.statements[n] for n in numbers])
            value = eval(compile(code, "<answer>", "eval"), space)
        return {"ok": self.wire.pack(value[0] if len(value) == 1 else value)}

    def description(self, value: Any) -> Description:
        """What the checker wants to know about an answer before it calls it."""
        number = len(self.targets)
        self.targets[number] = value
        owner: Any = value if isinstance(value, type) else type(value)
        about: Description = {
            "target": number,
            "name": str(getattr(value, "__name__", type(value).__name__))[:80],
            "callable": callable(value),
            "class": owner is value,
            "module": issubclass(owner, nn.Module),
            "signature": self.signature(value),
            "returns": self.constant(value),
        }
        if not about["callable"]:
            about["value"] = self.wire.pack(value)
        elif about["module"]:
            about |= {
                "forward": None,
                "init": owner.__init__ is not nn.Module.__init__,
                "functions": any(inspect.isfunction(one) for one in vars(owner).values()),
                "layers": None if about["class"] else self.layers(value),
            }
            if owner.forward is not nn.Module.forward:
                about["forward"] = {"returns": self.constant(owner.forward), "signature": self.signature(owner.forward)}
        return about

    def layers(self, module: nn.Module) -> Layers | None:
        """A module's parameters, and what it keeps in plain lists; None where it has not been set up."""
        if "_modules" not in vars(module):
            return None
        scope = self.lending.Scope(self.ask)
        names = [(name, scope.number(one)) for name, one in module.named_parameters(remove_duplicate=False)]
        values = [None if self.lending.lazy(one) else self.wire.pack(one) for one in scope.parameters]
        lists = [
            (name, type(value).__name__)
            for name, value in vars(module).items()
            if name[0] != "_"
            and any(
                isinstance(one, nn.Module)
                for one in (
                    value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
                )
            )
        ]
        return {"names": names, "values": values, "lists": lists}

    def signature(self, value: Callable) -> Parameters | None:
        """(name, kind, has a default) for each of its parameters; None if they are unknown."""
        try:
            parameters = inspect.signature(value).parameters.values()
            return [(str(one.name), int(one.kind), one.default is not one.empty) for one in parameters]
        except Exception:
            return None

    def constant(self, value: Any) -> tuple[str, bool, int]:
        """What a function returns if it does nothing else, as text; otherwise "more"."""
        try:
            code, found = self.emptiness.code_within(value), self.emptiness.only_returns(value)
            word = str(found) if found is None else "..." if found is ... else "more"
            return word, bool(code and code.co_name == "<lambda>"), code.co_argcount if code else 0
        except Exception:
            return "more", False, 0

    def call(self, head: Call) -> Called:
        """Calls an answer, or builds a module, with the other side's random state and settings."""
        target, made, sandbox = self.targets[head["target"]], [], self.sandbox
        scope = self.scope = self.lending.Scope(self.ask)
        sink = sandbox.sinks[threading.get_ident()] = sandbox.Sink()
        watch = nn.modules.module.register_module_parameter_registration_hook
        with sandbox.captured(), self.global_state.GlobalState():
            try:
                self.seed(head)
                if "own" in head:
                    with self.borrowing:  # these methods may be the learner's own
                        target.to(self.wire.DTYPES[head["dtype"]]).train(head["train"])
                        named = dict(target.named_parameters(remove_duplicate=False))
                        scope.parameters = [named[name] for name in head["own"]]
                scope.update(head["state"])
                inputs = [self.wire.unpack(one, scope.borrow, most=math.inf) for one in head["inputs"]]
                noting = self.lending.Noting(inputs)
                unfinished = [one for one in scope.parameters if self.lending.lazy(one)]
                with (
                    self.borrowing,
                    watch(lambda *one: made.append(one[1])),
                    noting if head["watched"] else contextlib.nullcontext(),
                ):
                    result, reply = scope.run(target, head, inputs)
            finally:
                sandbox.sinks.pop(threading.get_ident(), None)
                self.randomness = np.random.get_state(), random.getstate()
                after = torch.get_rng_state()
        return {
            **reply,
            "built": self.description(result) if head["do"] == "build" else None,
            "layers": self.layers(target) if unfinished else None,
            "operations": noting.noted,
            "printed": sink.lines,
            "warned": sink.warned,
            "made": len(made) * (head["do"] == "call"),
            "borrowed": self.borrowing.seen,
            "random": self.wire.pack(after),
            "state": scope.state(),
            "given": next((number for number, one in enumerate(inputs) if one is result), None),
            "inputs": [
                (number, after)
                for number, (before, after) in enumerate(zip(head["inputs"], map(self.wire.pack, inputs), strict=True))
                if before != after and before[0] != "lent"
            ],
        }

    def seed(self, head: Call) -> None:
        """Takes over the random state. NumPy's and Python's generators restart when a new attempt begins."""
        if head["key"] != self.key:
            self.key = head["key"]
            np.random.seed(head["key"][1] % 2**32)
            random.seed(0)
        else:
            np.random.set_state(self.randomness[0])
            random.setstate(self.randomness[1])
        torch.set_rng_state(self.wire.unpack(head["random"]))


if __name__ == "__main__":
    sys.path[:0] = [str(PACKAGE.parent)] if str(PACKAGE.parent) not in sys.path else []
    sys.modules["transformer_lessons.marking.child"] = sys.modules["__main__"]
    main(int(sys.argv[1]))
