"""A student's process that holds a declared answer in place of a notebook: for comparing `mark` with `check`."""

import os
import signal
import socket

import torch

from transformer_lessons.exercises.checker.distributions import Chances
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.verdict import judge
from transformer_lessons.marking import child
from transformer_lessons.marking.process import Process
from transformer_lessons.marking.remote import Student
from transformer_lessons.marking.wire import Broken, Lines
from transformer_lessons.running.global_state import standard_state
from transformer_lessons.running.sandbox import Limits, attempt

PATIENT = Limits(check=60.0)  # this machine may be busy


class Declared(Process):
    """Forks from the test itself, so that what cannot be written down as a source can be marked, too."""

    def __init__(self, answer):
        super().__init__(None, b"", {}, None)
        self.held_answer = answer

    def start(self):
        ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                ours.close()
                os.dup2(os.open(os.devnull, os.O_RDWR), 1)
                served = child.Child(Lines(theirs))
                served.define = lambda head: served.description(self.held_answer)
                served.serve()
            except Broken:
                pass
            finally:
                os._exit(0)
        theirs.close()
        self.lines = Lines(ours)
        if self.defined:
            self.exchange(*self.defined)

    def end(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.lines.socket.close()
            self.pid = None


def verdicts(name, answer, draws):
    """(what check says, what mark says) of an answer: each as (status, mistake)."""
    answer = drawn_by_itself(name, answer)
    with standard_state():
        torch.set_num_threads(1)
        here = judge(EXERCISES[name], answer, draws, run=attempt, limits=PATIENT)
    return (here.status, here.mistake), marked(name, answer, draws)


def marked(name, answer, draws):
    """What mark says of an answer: (status, mistake)."""
    process = Declared(drawn_by_itself(name, answer))
    student = Student(process)
    with standard_state():
        torch.set_num_threads(1)
        try:
            there = judge(EXERCISES[name], student.define(name, name), draws, run=student.run, limits=PATIENT)
        finally:
            process.end()
    return there.status, there.mistake


def drawn_by_itself(name, answer):
    answer = getattr(answer, "answer", answer)  # of a variant, or the answer itself
    return drawing(answer) if name in ("sample_next", "speculate") else answer


def drawing(function):
    """Declared answers may give the chances themselves; a student's own draws by them."""

    def call(*inputs):
        value = function(*inputs)
        if not isinstance(value, Chances):
            return value
        table = value.as_subclass(torch.Tensor)
        generator = next((one for one in inputs if isinstance(one, torch.Generator)), None)
        if table.isnan().any():
            return table.nan_to_num().argmax(-1)
        return torch.multinomial(table, 1, generator=generator)[:, 0]

    return call
