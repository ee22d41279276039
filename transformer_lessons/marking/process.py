"""A student's process, as the one that marks sees it: started, asked, watched, and ended when it takes too long."""

import contextlib
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformer_lessons.exercises.checker.weights import weights
from transformer_lessons.marking import confinement
from transformer_lessons.marking.lending import Scope
from transformer_lessons.marking.messages import Define, Items, Plan, Request, Unread
from transformer_lessons.marking.wire import Broken, Lines
from transformer_lessons.running.sandbox import Limits

LIMITS = Limits(check=20.0)  # seconds: a call has as many as in `check`, but of CPU; a check more, if others are busy
ASLEEP, READING, LOSS, LEAST = 3.0, 30.0, 8.0, 0.5  # seconds; LOSS is for all of a notebook
NAPS = 20.0  # seconds for which a notebook may sleep in all, before each call may sleep for LEAST
CLOCK = 10  # times as long by the clock, but a minute at most, not counting what it waits for a busy processor
ASKED, REQUEST, REPLY, STARTS = 2000, 1 << 20, 16 << 20, 60  # requests in a call; bytes; processes for a notebook
FORKS = 5  # times that a process is asked for, where the system allows no more of them just now
COMPUTING = 60.0  # seconds of CPU for all that a notebook computes, before each call gets LEAST
TICK = os.sysconf("SC_CLK_TCK")


class Endless(Exception):
    """The process has run, or slept, for too long: what its cells do, in words that follow "they"."""


class Asking(Endless):
    """The process has called what it was lent again and again, which takes less time than that."""


class Unavailable(BaseException):
    """No process can be had for a student's code, or ours has died: nobody's mark depends on that.

    It is no Exception, so that nothing on the way takes it for an error of the student's.
    """


class Nursery:
    """The process that forks a student's process whenever one is needed. It is started before there is a seed."""

    def __init__(self) -> None:
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

    def reply(self) -> int:
        """The number that the process answers."""
        data = b""
        with contextlib.suppress(OSError):
            data = self.control.recv(8, socket.MSG_WAITALL)
        if len(data) < 8:
            raise Unavailable("the process that starts students' code has died")
        return struct.unpack("<q", data)[0]

    def fork(self) -> tuple[int, socket.socket]:
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

    def bury(self, pid: int) -> int:
        """Ends a process and all of its group; returns the signal that had ended it before, or 0."""
        try:
            self.control.sendall(struct.pack("<q", pid))
        except OSError as error:
            raise Unavailable("the process that starts students' code has died") from error
        return self.reply()

    def close(self) -> None:
        self.control.close()
        self.process.kill()
        self.process.wait()


class Process:
    """One process with one notebook in it; if it ends, a new process takes its place."""

    def __init__(self, nursery: Nursery, data: bytes, course: dict[str, Items], lesson: str | None) -> None:
        self.nursery, self.data, self.course, self.lesson = nursery, data, course, lesson
        self.pid: int | None = None
        self.defined: tuple[Define, float] | None = None  # the answer that is in it, and the seconds that this may take
        self.starts, self.count = 0, 0  # processes so far, and requests
        self.left, self.spent = LOSS, 0.0  # seconds that may still be lost to what never ends; CPU so far
        self.slept, self.starved = 0.0, 0.0  # seconds asleep; ready to run, while others had the processor
        self.large = False  # has it had a module that is larger than any exercise needs?

    def start(self) -> None:
        self.starts += 1
        if self.starts > STARTS:
            raise Broken("it has ended too often")
        self.pid, ours = self.nursery.fork()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", int(ASLEEP), 0))  # it may never read
        self.lines = Lines(ours)
        wait = self.patience(READING)
        self.held = tuple(self.lines.message(wait)["held"])  # the protections, see confinement
        self.lines.send(self.data, wait)
        self.plan: Plan | Unread = self.exchange({"do": "read", "course": self.course, "lesson": self.lesson}, READING)
        if self.defined:
            self.exchange(*self.defined)

    def end(self) -> None:
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

    def patience(self, seconds: float, first: float | None = None) -> Callable[..., None]:
        """A function that waits for data, or until data can be sent.

        It raises Endless after `seconds` of CPU time (since `first`, or now), min(seconds, ASLEEP) asleep (less, if the
        notebook has slept a lot before), or min(60, CLOCK × seconds) by the clock, which stands still while the process
        is ready to run and others have the processor: a busy machine is nobody's mistake.
        """
        since = self.used()[0] if first is None else first
        asleep, before, end = 0.0, since, time.monotonic() + min(60, CLOCK * seconds)
        naps = min(ASLEEP, seconds, max(LEAST, NAPS - self.slept))

        def wait(sends: bool = False) -> None:
            nonlocal asleep, before, end
            reads, last, ready = [self.lines.socket] * (not sends), time.monotonic(), False
            while not ready:
                ready = any(select.select(reads, [self.lines.socket] * sends, [], 0.02)[:2])
                now = time.monotonic()
                if not ready:
                    used, state = self.used()
                    nap = (now - last) * (state in "STtDI" and used == before)
                    starved = max(0.0, now - last - (used - before)) * (state == "R")
                    asleep, self.slept = asleep + nap, self.slept + nap
                    end, self.starved = end + starved, self.starved + starved
                    last, before = now, used
                    if used - since > seconds:
                        raise Endless(f"take more than {seconds:g} seconds of processor time")
                    if asleep > naps:
                        raise Endless(f"wait for more than {naps:g} seconds")
                if now > end:
                    raise Endless("do not finish in time")

        return wait

    def used(self, pid: int | None = None) -> tuple[float, str]:
        """(seconds of CPU, state) of the process; on systems that do not say, the time and "running"."""
        try:
            return time_and_state(pid or self.pid)
        except OSError:
            return time.monotonic(), "R"

    def exchange(self, head: Request, seconds: float = LIMITS.call, scope: Scope | None = None) -> Any:
        """Sends a request and returns the reply. Requests that arrive meanwhile are answered by the scope."""
        if self.pid is None:
            self.start()
        seconds = seconds if head["do"] == "read" else min(seconds, max(LEAST, min(self.left, COMPUTING - self.spent)))
        before, self.count = self.used()[0], self.count + 1
        wait = self.patience(seconds, before)
        try:
            self.lines.send({**head, "count": self.count}, wait)
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
            raise Asking(f"call what they were given more than {ASKED:,} times")
        except (Endless, Broken) as error:
            self.left -= seconds * isinstance(error, Endless)
            self.spent += max(0.0, self.used()[0] - before)
            self.end()
            raise
        except Exception as error:  # not an error of ours: whatever it is, it came from there
            self.end()
            raise Broken(f"a reply that cannot be read ({type(error).__name__})") from error


def time_and_state(pid: int | None) -> tuple[float, str]:
    """(seconds of CPU, state) of a process; OSError on systems that do not say."""
    parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / TICK, parts[0]
