"""The processes that mark notebooks, each with a process of its own for students' code.

What goes wrong with a process is never written down as a student's: such notebooks are tried again.
"""

import contextlib
import gc
import json
import multiprocessing
import os
import signal
import time
from collections import Counter, deque
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TypeAlias

import torch

from transformer_lessons.basis import atomic
from transformer_lessons.marking import confinement, submissions, verdicts
from transformer_lessons.marking.files import Submission
from transformer_lessons.marking.process import Unavailable, time_and_state

READY, MARKED = "ready", "marked"  # what a worker says; anything else is why a notebook is to be tried again
ENDED, NO_PROCESS = "it ends the process that marks it", "no process could be started here"
TRIES = 3  # of one notebook, or of starting a process
PATIENCE = 0.5  # seconds before another try, and twice as long before each further one
SECONDS, BY_THE_CLOCK = 100.0, 900.0  # for one notebook: of our own CPU, and at all
MEMORY = 1 << 30  # bytes for a worker, beyond Python, PyTorch and the catalogue
SOME = 5  # notebooks that tell how long the others will take
OFTEN = 5.0  # seconds between two messages on how far it is
BEGINNING = 300.0  # seconds by the clock until a worker is ready; it takes about five

Waiting: TypeAlias = tuple[Submission, Path]  # a notebook, and where its result will be


class Worker:
    """One process that marks notebooks, and what it is doing."""

    def __init__(self, waiting: list[Waiting], out: Path, others: list) -> None:
        context = multiprocessing.get_context("fork")
        self.connection, theirs = context.Pipe()
        ours = [self.connection, *(worker.connection for worker in others)]
        self.process = context.Process(target=mark_given, args=(theirs, ours, waiting, out), daemon=True)
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
            return time_and_state(self.process.pid)[0]
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


def share(jobs: int, waiting: list[Waiting], out: Path, say: Callable = lambda text: None) -> dict[Path, str]:
    """Marks the notebooks that are waiting, and says how far it is; returns why, for those without a result."""
    verdicts.course()  # once, for all workers
    torch.set_num_threads(1)
    crew = Crew(jobs, waiting, out, say)
    try:
        crew.run()
    finally:
        for worker in crew.workers:
            worker.end()
    return crew.unmarked


class Crew:
    """The workers that share the notebooks. A notebook goes by its number among those that are waiting."""

    def __init__(self, jobs: int, waiting: list[Waiting], out: Path, say: Callable) -> None:
        self.jobs, self.waiting, self.out, self.say = jobs, waiting, out, say
        self.done, self.begun = 0, time.monotonic()
        self.said = self.begun
        self.queue = deque(range(len(waiting)))
        self.tried: Counter[int] = Counter()
        self.unmarked: dict[Path, str] = {}  # the path of a result, and why there is none
        self.workers: list[Worker] = []
        self.failures = 0  # of workers to begin, since one of them has marked a notebook

    def run(self) -> None:
        while self.queue or self.workers:
            self.hire()
            if not self.workers:
                for number in self.queue:
                    self.leave(number, NO_PROCESS)
                return
            ready = wait([worker.connection for worker in self.workers], 1.0)
            for worker in list(self.workers):
                if worker.connection in ready:
                    self.hear(worker)
                elif worker.takes_too_long():
                    self.dismiss(worker)
                    if worker.number is None:
                        self.failures += 1
                    else:
                        self.leave(worker.number, "marking it takes too long")

    def hire(self) -> None:
        """Starts as many workers as are needed, and allowed."""
        while self.failures < TRIES and len(self.workers) < self.jobs and self.queue:
            try:
                self.workers.append(Worker(self.waiting, self.out, self.workers))
            except OSError:  # no more processes are allowed here
                self.pause()

    def hear(self, worker: Worker) -> None:
        """Gives the worker another notebook, if there is one and the worker is well; otherwise dismisses it."""
        said = heard(worker.connection)
        if said == MARKED:
            self.failures = 0
            self.count()
        if said in (READY, MARKED) and self.queue:
            worker.give(self.queue.popleft())
            return
        self.dismiss(worker)
        if worker.number is None:
            if said != READY:
                self.pause()
        elif said is None:  # it is gone
            self.leave(worker.number, ENDED)
        elif said != MARKED:
            self.try_again(worker.number, said)

    def count(self) -> None:
        """Counts a notebook that has been marked, and says so now and then."""
        self.done += 1
        if time.monotonic() - self.said > OFTEN and self.done < len(self.waiting):
            self.said = time.monotonic()
            left = f", {self.left()}" if self.done >= SOME else ""
            self.say(f"{self.done} of {len(self.waiting)} marked{left}")

    def left(self) -> str:
        """How long the others will take, if they take as long as those that are marked."""
        minutes = round((time.monotonic() - self.begun) / self.done * (len(self.waiting) - self.done) / 60)
        return f"about {minutes} minute{'s' * (minutes > 1)} left" if minutes else "less than a minute left"

    def dismiss(self, worker: Worker) -> None:
        worker.end()
        self.workers.remove(worker)

    def pause(self) -> None:
        """Waits before the next worker is started, longer after each that could not be."""
        self.failures += 1
        time.sleep(PATIENCE * 2**self.failures)

    def try_again(self, number: int, why: str) -> None:
        self.tried[number] += 1
        if self.tried[number] < TRIES:
            self.queue.append(number)
        else:
            self.leave(number, why)

    def leave(self, number: int, why: str) -> None:
        """Leaves a notebook unmarked."""
        self.unmarked[self.waiting[number][1]] = why


def heard(connection: Connection) -> str | None:
    try:
        return connection.recv_bytes(1000).decode(errors="replace")
    except (EOFError, OSError):
        return None


# In a worker


def mark_given(connection: Connection, ours: list[Connection], waiting: list[Waiting], out: Path) -> None:
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
    gc.freeze()
    gc.set_threshold(50_000)  # as in the student's process
    confinement.limit_memory(MEMORY)
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
