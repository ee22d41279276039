"""The processes that mark notebooks, each with a process of its own for students' code.

What goes wrong with a process is never written down as a student's: such notebooks are tried again.
"""

import contextlib
import json
import multiprocessing
import os
import signal
import time
from collections import deque
from multiprocessing.connection import Connection, wait
from pathlib import Path

import torch

from transformer_lessons.marking import confinement, submissions, verdicts
from transformer_lessons.marking.remote import TICK, Unavailable
from transformer_lessons.tools import atomic

READY, MARKED = "ready", "marked"  # what a worker says; anything else is why a notebook is to be tried again
ENDED, NO_PROCESS = "it ends the process that marks it", "no process could be started here"
TRIES = 3  # of one notebook, or of starting a process
PATIENCE = 0.5  # seconds before another try, and twice as long before each further one
SECONDS, BY_THE_CLOCK = 100.0, 900.0  # for one notebook: of our own CPU, and at all
BEGINNING = 300.0  # seconds by the clock until a worker is ready; it takes about five


class Worker:
    """One process that marks notebooks, and what it is doing."""

    def __init__(self, waiting: list, out: Path, others: list) -> None:
        context = multiprocessing.get_context("fork")
        self.connection, theirs = context.Pipe()
        ours = [self.connection, *(worker.connection for worker in others)]
        self.process = context.Process(target=work, args=(theirs, ours, waiting, out), daemon=True)
        self.process.start()
        theirs.close()
        self.number: int | None = None  # of the notebook that it marks
        self.begun, self.before = time.monotonic(), 0.0

    def give(self, number: int) -> None:
        self.number, self.begun, self.before = number, time.monotonic(), self.used()
        with contextlib.suppress(OSError):  # it has just died, which the next look at it shows
            self.connection.send_bytes(str(number).encode())

    def used(self) -> float:
        """Seconds of CPU; 0 on systems that do not say."""
        try:
            parts = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(parts[11]) + int(parts[12])) / TICK
        except OSError:
            return 0.0

    def takes_too_long(self) -> bool:
        if self.number is None:
            return time.monotonic() - self.begun > BEGINNING
        return self.used() - self.before > SECONDS or time.monotonic() - self.begun > BY_THE_CLOCK

    def end(self) -> None:
        self.connection.close()
        self.process.kill()
        self.process.join()


def share(jobs: int, waiting: list, out: Path) -> dict[Path, str]:
    """Marks the notebooks that are waiting, as (work, path of its result); returns why, for those without a result."""
    verdicts.course()  # once, for all workers
    torch.set_num_threads(1)
    queue, tried, unmarked, workers, failures = deque(range(len(waiting))), {}, {}, [], 0

    def try_again(number, why):
        tried[number] = tried.get(number, 0) + 1
        if tried[number] < TRIES:
            queue.append(number)
        else:
            unmarked[waiting[number][1]] = why

    def dismiss(worker):
        worker.end()
        workers.remove(worker)

    try:
        while queue or workers:
            while failures < TRIES and len(workers) < jobs and queue:
                try:
                    workers.append(Worker(waiting, out, workers))
                except OSError:  # no more processes are allowed here
                    failures += 1
                    time.sleep(PATIENCE * 2**failures)
            if not workers:
                unmarked |= {waiting[number][1]: NO_PROCESS for number in queue}
                break
            ready = wait([worker.connection for worker in workers], 1.0)
            for worker in list(workers):
                if worker.connection in ready:
                    said = heard(worker.connection)
                    failures = 0 if said == MARKED else failures
                    if said in (READY, MARKED) and queue:
                        worker.give(queue.popleft())
                        continue
                    dismiss(worker)
                    if worker.number is None and said != READY:
                        failures += 1
                        time.sleep(PATIENCE * 2**failures)
                    elif said is None:  # it is gone
                        unmarked[waiting[worker.number][1]] = ENDED
                    elif said not in (READY, MARKED):
                        try_again(worker.number, said)
                elif worker.takes_too_long():
                    dismiss(worker)
                    if worker.number is None:
                        failures += 1
                    else:
                        unmarked[waiting[worker.number][1]] = "marking it takes too long"
    finally:
        for worker in workers:
            worker.end()
    return unmarked


def heard(connection: Connection) -> str | None:
    try:
        return connection.recv_bytes(1000).decode(errors="replace")
    except (EOFError, OSError):
        return None


# In a worker


def work(connection: Connection, ours: list[Connection], waiting: list, out: Path) -> None:
    """Marks the notebooks whose numbers arrive. The process for students' code starts before the seed is read."""
    for end in ours:
        end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    confinement.die_with_parent()
    confinement.hide()
    torch.set_num_threads(1)
    try:
        marker = verdicts.Marker(None)
    except (Unavailable, OSError, RuntimeError) as error:
        connection.send_bytes(f"{NO_PROCESS} ({error})".encode()[:900])
        return
    confinement.limit_memory(confinement.MEMORY)
    marker.seed = json.loads((out / ".state" / "seed.json").read_text())
    said = READY
    while True:
        connection.send_bytes(said.encode(errors="replace")[:900])
        try:
            submission, path = waiting[int(connection.recv_bytes())]
        except (EOFError, OSError):
            os._exit(0)
        try:
            result = marker.notebook(submission.read(), submissions.lesson_of(submission.path))
            atomic.write(path, verdicts.encoded(result))
            said = str(result.get("again", MARKED))
        except OSError as error:
            said = f"its result could not be written ({error.strerror or error})"
        except (Unavailable, Exception) as error:
            said = str(error) if isinstance(error, Unavailable) else f"a fault of ours ({type(error).__name__})"
