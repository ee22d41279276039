"""Runs a call for a limited processor time, however busy the machine is. For Linux and macOS."""

import signal
from collections.abc import Callable

from transformer_lessons.running.sandbox import Outcome, Stop, attempt


def run(call: Callable, seconds: float = 1) -> Outcome:
    """The call's outcome; "endless" if it takes longer."""
    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        return attempt(call)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def stop(*_: object) -> None:
    raise Stop
