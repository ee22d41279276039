"""Our side of a student's process: starts it, calls it, ends it, and gives the checker an answer that it can call."""

import contextlib
import inspect
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import torch
from torch import nn
from torch.utils._python_dispatch import _disable_current_modes, _get_current_dispatch_mode_stack

from transformer_lessons.exercises.checker import errors
from transformer_lessons.exercises.checker.sandbox import Limits, Outcome
from transformer_lessons.exercises.checker.weights import weights
from transformer_lessons.marking import confinement
from transformer_lessons.marking.lending import Scope, error_of, lazy, register, tensors_of
from transformer_lessons.marking.wire import DTYPES, ITEMS, Broken, Lines, name_for, pack, unpack

LIMITS = Limits(check=20.0)  # seconds: a call has as many as in `check`, but of CPU; a check more, if others are busy
ASLEEP, READING, DEFINING, LOSS, LEAST = 3.0, 30.0, 8.0, 5.0, 0.5  # seconds; LOSS is for all of a notebook
CLOCK, ENDS = 10, 3  # times as long by the clock, whatever the process seems to do; processes that an answer may end
ASKED, REQUEST, REPLY, STARTS = 2000, 1 << 20, 16 << 20, 60  # requests in a call; bytes; processes for a notebook
FORKS = 5  # times that a process is asked for, where the system allows no more of them just now
ALL = 60.0  # seconds of CPU for all that a notebook computes, before each call gets LEAST
NUMBERS = 1 << 18  # in a module's parameters: a hundred times what any contract asks for
TICK = os.sysconf("SC_CLK_TCK")


class Endless(Exception):
    """The process has run, or slept, for too long."""


class Remote(Exception):
    """The learner's own error, raised again on this side."""


class Unavailable(BaseException):
    """No process can be had for a student's code, or ours has died: nobody's mark depends on that.

    It is no Exception, so that nothing on the way takes it for an error of the student's.
    """


class Nursery:
    """The process that forks a student's process whenever one is needed. It is started before there is a seed."""

    def __init__(self):
        self.control, theirs = socket.socketpair()
        names = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "VIRTUAL_ENV")
        environment = {name: os.environ[name] for name in names if name in os.environ}
        environment |= {
            "OMP_NUM_THREADS": "1",
            "MPLBACKEND": "Agg",
            "HOME": "/",
            "PYTHONHASHSEED": "0",
            "TORCHINDUCTOR_CACHE_DIR": "/",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        program = [sys.executable, str(Path(__file__).with_name("child.py")), str(theirs.fileno())]
        self.process = subprocess.Popen(
            program,
            pass_fds=[theirs.fileno()],
            env=environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            preexec_fn=confinement.die_with_parent,
        )
        theirs.close()
        self.reply()

    def reply(self):
        """The number that the process answers."""
        data = b""
        with contextlib.suppress(OSError):
            data = self.control.recv(8, socket.MSG_WAITALL)
        if len(data) < 8:
            raise Unavailable("the process that starts students' code has died")
        return struct.unpack("<q", data)[0]

    def fork(self):
        """(its number, our end of its socket) of a new process for a student's code."""
        for attempt in range(FORKS):
            ours, theirs = socket.socketpair()
            try:
                socket.send_fds(self.control, [struct.pack("<q", 0)], [theirs.fileno()])
            except OSError as error:
                raise Unavailable("the process that starts students' code has died") from error
            finally:
                theirs.close()
            number = self.reply()
            if number > 0:
                return number, ours
            ours.close()
            time.sleep(0.1 * 2**attempt)
        raise Unavailable(f"no process could be started for it ({os.strerror(-number)})")

    def bury(self, pid):
        """Ends a process and all of its group; returns the signal that had ended it before, or 0."""
        try:
            self.control.sendall(struct.pack("<q", pid))
        except OSError as error:
            raise Unavailable("the process that starts students' code has died") from error
        return self.reply()

    def close(self):
        self.control.close()
        self.process.kill()
        self.process.wait()


class Student:
    """One process with one notebook in it; if it ends, a new process takes its place."""

    def __init__(self, nursery, data, course, lesson):
        self.nursery, self.begun = nursery, (data, course, lesson)
        self.pid, self.doing, self.borrowed, self.failed, self.printed = None, None, False, None, 0
        self.attempts, self.left, self.starts, self.count = 0, LOSS, 0, 0
        self.plan, self.ended, self.large, self.spent = None, [], False, 0.0

    def start(self):
        data, course, lesson = self.begun
        self.starts += 1
        if self.starts > STARTS:
            raise Broken("it has ended too often")
        self.pid, ours = self.nursery.fork()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(ASLEEP), 0))  # it may never read
        self.lines = Lines(ours)
        wait = self.patience(READING)
        self.held = tuple(self.lines.message(wait)["held"])
        self.lines.send(data, wait)
        self.plan = self.exchange({"do": "read", "course": course, "lesson": lesson}, READING)
        if self.doing:
            self.exchange(*self.doing)

    def end(self):
        """Ends the process; Unavailable if the system has ended it, for want of memory, say."""
        if self.pid:
            pid, self.pid = self.pid, None
            used = self.used(pid)[0]
            signal_before = self.nursery.bury(pid)
            self.lines.socket.close()
            if signal_before == signal.SIGKILL and used < confinement.SECONDS - 1:
                raise Unavailable("the system has ended its process: is there enough memory?")
            if self.large:
                weights.cache_clear()  # among them are those for its modules

    def patience(self, seconds, first=None):
        """A function that waits for data, or until data can be sent.

        It raises Endless after that many seconds of CPU time (since `first`, or now), or asleep, or CLOCK times as many
        by the clock.
        """
        first = self.used()[0] if first is None else first
        asleep, before, end = 0.0, 0.0, time.monotonic() + min(60, CLOCK * seconds)

        def wait(sends=False):
            nonlocal asleep, before
            reads, last, ready = [self.lines.socket] * (not sends), time.monotonic(), False
            while not ready:
                ready = any(select.select(reads, [self.lines.socket] * sends, [], 0.02)[:2])
                now = time.monotonic()
                if not ready:
                    used, state = self.used()
                    asleep += (now - last) * (state in "STtDI" and used == before)
                    last, before = now, used
                if now > end or (not ready and (used - first > seconds or asleep > min(ASLEEP, seconds))):
                    raise Endless

        return wait

    def used(self, pid=None):
        """(seconds of CPU, state) of the process; on systems that do not say, the time and "running"."""
        try:
            parts = Path(f"/proc/{pid or self.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(parts[11]) + int(parts[12])) / TICK, parts[0]
        except OSError:
            return time.monotonic(), "R"

    def exchange(self, head, seconds=LIMITS.call, scope=None):
        """Sends a request and returns the reply. Requests that arrive meanwhile are answered by the scope."""
        if self.pid is None:
            self.start()
        seconds = seconds if head["do"] == "read" else min(seconds, max(LEAST, min(self.left, ALL - self.spent)))
        before, self.count = self.used()[0], self.count + 1
        wait = self.patience(seconds, before)
        try:
            self.lines.send(head | {"count": self.count}, wait)
            for _ in range(ASKED):
                reply = self.lines.message(wait, REPLY)
                if reply.get("count") != self.count:
                    raise Broken("a reply that was not asked for")
                if "do" not in reply or scope is None:
                    self.spent += max(0.0, self.used()[0] - before)
                    return reply
                if self.lines.size > REQUEST:
                    raise Broken("a request that is too large")
                self.lines.send(scope.serve(reply), wait)
            raise Broken("too many requests")
        except (Endless, Broken) as error:
            self.left -= seconds * isinstance(error, Endless)
            self.spent += max(0.0, self.used()[0] - before)
            self.end()
            raise
        except Exception as error:  # not an error of ours: whatever it is, it came from there
            self.end()
            raise Broken(f"a reply that cannot be read ({type(error).__name__})") from error

    def ask(self, head, seconds=LIMITS.call, scope=None):
        """The same, but an error of the student's is raised here."""
        reply = self.exchange(head, seconds, scope)
        if "error" in reply:
            name, said = name_for(reply["error"]), {"__str__": lambda self: self.args[0]}
            try:
                kind = type(name, (Remote, error_of(reply["kind"])), said)
                error = kind.__new__(kind)
            except TypeError:  # its kind cannot be made from nothing
                error = type(name, (Remote,), said)()
            error.args, self.failed = (str(reply["text"])[:2000],), reply
            raise error
        return reply

    def define(self, exercise, subject):
        """The answer, which to the checker behaves just as the student's own would."""
        self.doing = {"do": "define", "exercise": exercise, "subject": subject}, DEFINING
        self.borrowed, self.failed, self.ended = False, None, []
        try:
            return self.answer(self.ask(*self.doing))
        except Broken:  # perhaps an earlier exercise's doing: once more, in a fresh process
            self.end()
            return self.answer(self.ask(*self.doing))

    def value(self, number):
        return unpack(self.ask({"do": "value", "number": number}, DEFINING)["ok"])

    # An answer

    def answer(self, about):
        """The stand-in for what the process has described."""
        try:
            name, target = name_for(about["name"]), about["target"]
            if not about["callable"]:
                return unpack(about["value"])
            if about["module"]:
                return self.module_class(name, about) if about["class"] else self.module(name, about)
            if about["class"] and about["signature"] is None:
                return type(name, (), {})
            if about["class"]:
                return dressed(lambda *inputs: self.build(target, inputs), about, name)
            return dressed(lambda *inputs: self.request("call", target, inputs)[0], about, name)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise Broken("a description that cannot be read") from error

    def module_class(self, name, about):
        """A module's class. What it builds is a module of another class, with the layers that were built there."""
        members = {}
        if about["init"] or about["forward"]:
            members["__new__"] = lambda cls, *inputs: self.build(about["target"], inputs)
        if about["init"]:
            members["__init__"] = lambda self, *inputs: None
        elif about["functions"]:
            members["other"] = lambda self: None
        if about["forward"]:
            members["forward"] = dressed(lambda self, *inputs: None, about["forward"], "forward")
        made = type(name, (nn.Module,), members)
        made.__signature__ = signature_of(about["signature"])
        return made

    def module(self, name, about):
        forward = dressed(lambda self, *inputs: self.run(inputs), about["forward"] or NOTHING, "forward")
        kind = type(name, (RemoteModule,), {"forward": forward})
        module = kind.__new__(kind)
        if about["layers"]:
            nn.Module.__init__(module)
            module.student, module.target, module.dtype = self, about["target"], torch.float32
            module.grow(about["layers"])
        return module

    def build(self, target, inputs):
        return self.answer(self.request("build", target, inputs)[1]["built"])

    def request(self, do, target, inputs, module=None):
        """(what is returned, the whole reply) of one call over the wire; what it has changed is changed here, too."""
        scope, modes = Scope(lambda head: self.ask(head, scope=scope)), _get_current_dispatch_mode_stack()
        with torch._C.DisableTorchFunction(), _disable_current_modes():  # what happens here is not the learner's doing
            head = {
                "do": do,
                "target": target,
                "key": [self.attempts, torch.initial_seed()],
                "random": pack(torch.get_rng_state()),
                "watched": bool(modes),
            }
            if module is not None:
                scope.parameters = list(module.parameters())
                head |= {
                    "own": [name for name, _ in module.named_parameters()],
                    "train": bool(module.training),
                    "dtype": str(module.dtype).removeprefix("torch."),
                }
            try:
                value, reply = scope.call(head, inputs)
                torch.set_rng_state(unpack(reply["random"]))
                self.printed = max(self.printed, min(int(reply["printed"]), 10**6))
                self.borrowed = self.borrowed or bool(reply["borrowed"])
                for number, node in reply["inputs"]:
                    restore(inputs[number], unpack(node))
                if reply["given"] is not None:  # one of the inputs itself, not another one like it
                    value = inputs[reply["given"]]
                replay(reply["operations"], inputs, modes)
            except (Remote, Endless):
                raise
            except Exception as error:
                self.end()
                if isinstance(error, Broken):
                    raise
                raise Broken(f"a reply that cannot be read ({type(error).__name__})") from error
        return value, reply

    # What the checker runs a call with

    def run(self, call):
        """Like `sandbox.attempt`: an outcome, whatever happens in the other process."""
        self.attempts += 1
        self.failed, self.printed = None, 0
        torch.random.default_generator.manual_seed(0)
        try:
            if len(self.ended) >= ENDS:  # it will end this time, too
                raise self.ended[-1]
            value = call()
        except Endless:
            return Outcome("endless")
        except Broken as error:
            self.ended.append(error)
            return Outcome("raised", error=f"Ended: {error}")
        except Exception as error:
            return self.raised(error)
        if type(value).__name__ == "ellipsis":
            return Outcome("empty")
        return Outcome("value", value, printed=self.printed)

    def raised(self, error):
        about = self.failed if self.failed and str(self.failed["text"]) == str(error) else {}
        if about.get("empty"):
            return Outcome("empty", unfinished=str(about["unfinished"])[:80])
        return Outcome(
            "raised", error=errors.name_error(error), line=str(about.get("line", ""))[:200], printed=self.printed
        )


class RemoteModule(nn.Module):
    """A module whose forward pass runs in the other process, with the parameters held here."""

    def grow(self, layers):
        """Takes over the layers of the module in the other process."""
        for name, kind in layers["lists"]:
            vars(self)[str(name)] = {"tuple": (nn.Module(),), "dict": {0: nn.Module()}}.get(kind, [nn.Module()])
        made = [
            nn.parameter.UninitializedParameter()
            if node is None
            else nn.Parameter(unpack(node), requires_grad=bool(node[-1]))
            for node in layers["values"]
        ]
        count = sum(1 if lazy(one) else one.numel() for one in made)
        self.student.large = self.student.large or count > NUMBERS >> 5
        if count > NUMBERS or len(layers["names"]) > ITEMS:
            raise Broken("more parameters than any exercise needs")
        register(self, [(name, made[number]) for name, number in layers["names"]])

    def to(self, dtype):
        self.dtype = dtype
        return super().to(dtype)

    def run(self, inputs):
        value, reply = self.student.request("call", self.target, inputs, self)
        if reply["made"]:  # so that code watching for new parameters sees that there were some
            nn.Module().register_parameter("made", nn.Parameter(torch.zeros(())))
        if reply["layers"]:  # those that only a call could make
            self.grow(reply["layers"])
        return value


NOTHING = {"signature": None, "returns": ["more", False, 0]}  # a function of which nothing is known


def dressed(function, about, name):
    """A function with the signature of another. The checker looks inside, so an empty one is empty here, too."""

    def wrapped(*inputs):
        return function(*inputs)

    wrapped.__name__ = wrapped.__qualname__ = name
    wrapped.__signature__ = signature_of(about["signature"])
    word, is_lambda, count = about["returns"]
    if word in ("None", "..."):
        names = ", ".join(f"_{n}" for n in range(min(int(count), 50)))
        empty = wrapped.__wrapped__ = eval(f"lambda {names}: {word}")
        empty.__code__ = empty.__code__ if is_lambda else empty.__code__.replace(co_name="function")
    return wrapped


def signature_of(about):
    if about is None:
        return None
    default = {True: None, False: inspect.Parameter.empty}
    return inspect.Signature(
        [
            inspect.Parameter(name, inspect._ParameterKind(kind), default=default[optional])
            for name, kind, optional in about
        ]
    )


def restore(value, new):
    """Changes an input in the way that the call has changed it."""
    if isinstance(value, torch.Tensor) and isinstance(new, torch.Tensor):
        value.data = new.to(value.dtype)
    elif isinstance(value, torch.Generator) and isinstance(new, torch.Generator):
        value.set_state(new.get_state())
    elif isinstance(value, list) and isinstance(new, list):
        value[:] = new
    elif isinstance(value, dict) and isinstance(new, dict):
        value.clear()
        value.update(new)
    elif hasattr(value, "shape") and getattr(new, "shape", None) == value.shape:
        value[...] = new


def replay(operations, inputs, modes):
    """Shows the operations of the other process to those who watch operations here: names and sizes, but no numbers."""
    known = [tensor for one in inputs for tensor in tensors_of(one)]

    def ghost(place, shape, stored, dtype):
        tensor = torch.empty(stored, dtype=DTYPES[dtype], device="meta") if place is None else known[place]
        return tensor.detach().as_strided(shape, [0] * len(shape))

    for name, given, made in operations:
        made = tuple(ghost(*one) for one in made)

        def operation(*_, made=made, **__):
            return made[0] if len(made) == 1 else made

        operation.overloadpacket = SimpleNamespace(__name__=str(name))
        for mode in modes:
            mode.__torch_dispatch__(operation, (), [ghost(*one) for one in given])
