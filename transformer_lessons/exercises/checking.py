"""Judges an answer: the contract first, then the numbers, then which known mistake gives these numbers."""

import difflib
import textwrap
from dataclasses import dataclass

import torch

from transformer_lessons.exercises import running
from transformer_lessons.exercises.contract import (
    fault_beyond_numbers,
    fault_of_building,
    is_stub,
    misfit,
    remark,
    too_long,
)
from transformer_lessons.exercises.diagnosing import by_fault, diagnose, unknown
from transformer_lessons.exercises.exercise import BROKEN, EXERCISES
from transformer_lessons.exercises.trials import Finding, Trial, compare, observe_all

WIDTH = 96

LINES = 12

MISSING = object()


@dataclass
class Report:
    """The verdict: `status` is "passed", "failed" or "not attempted"; `mistake` a name, or None."""

    exercise: str
    status: str
    mistake: str | None
    message: str

    def __repr__(self):
        return f"<{self.exercise}: {self.status}>"

    def _ipython_display_(self):
        """Nothing: check has printed the message."""


def check(name, answer=MISSING):
    """Judges `answer`, the function or class itself, as the exercise `name`; prints the verdict."""
    if getattr(running.judging, "active", False):
        return Report(str(name), "not attempted", None, "○ an answer must not call check itself")
    try:
        report = misused(name, answer)
        if report is None:
            with running.standard_world():
                torch.set_num_threads(1)  # tiny operations take longer on several; put back with the rest
                report = judge(EXERCISES[name], answer)
    except Exception as error:  # a fault of ours must not look like one of the learner's
        report = Report(str(name)[:60], "not attempted", None,
                        f"○ {str(name)[:60]}: could not be judged.\n  The check itself failed, and that is a "
                        f"fault of the course, not of your answer.\n  ({running.name_error(error)})")
    say(report.message)
    return report


def say(text):
    """Prints, also where the screen has no ✓."""
    try:
        print(text)
    except UnicodeEncodeError:
        print(text.replace("✓", "OK").replace("✗", "X").replace("○", "O").encode("ascii", "replace").decode())


def misused(name, answer):
    """The report on a call of check that names no exercise, or hands over nothing."""
    def report(headline, *lines):
        shown = name if isinstance(name, str) else getattr(name, "__name__", type(name).__name__)
        text = "\n".join([f"○ {shown}: {headline}", *(f"  {line}" for line in lines)])
        return Report(shown, "not attempted", None, text)

    if not isinstance(name, str):
        own = answer if isinstance(answer, str) else getattr(name, "__name__", "softmax")
        own = own if own in EXERCISES else "softmax"
        return report("the exercise's name comes first, in quotes.", f'Write check("{own}", {own}).')
    if name not in EXERCISES:
        return report("there is no exercise of that name.", names_like(name))
    if answer is MISSING:
        return report("nothing to judge yet.", f'Write check("{name}", {name}).')
    if answer is None or answer is ...:
        return untouched(EXERCISES[name])
    return None


def names_like(name):
    """A sentence that offers the nearest names, or all."""
    lower = {known.lower(): known for known in EXERCISES}
    near = [lower[found] for found in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.6)]
    if near:
        return "Did you mean " + " or ".join(near) + "?"
    lost = f" ({' and '.join(BROKEN)} could not be loaded.)" if BROKEN else ""
    return "\n  ".join(textwrap.wrap("The exercises are " + ", ".join(EXERCISES) + "." + lost, WIDTH))


# The verdict


def judge(exercise, answer, trial=None, run=running.run, outcomes=None):
    """The report on one answer; outcomes, where they are known already, are not computed again."""
    if is_stub(exercise, answer):
        return untouched(exercise)
    finding = misfit(exercise, answer)
    if finding:
        return failed(exercise, finding)
    trial = trial or Trial(exercise)
    if outcomes is None:
        trial, outcomes = observe_all(trial, answer, run)
    if outcomes[0].kind == "empty":
        called = outcomes[0].unfinished
        if called and called != getattr(answer, "__name__", ""):
            return failed(exercise, unfinished(called))
        return untouched(exercise)
    if outcomes[-1].kind == "endless":
        return failed(exercise, too_long(outcomes[-1], len(outcomes)), outcomes)
    differences = [compare(exercise, outcome.value, expected) if outcome.ok else None
                   for outcome, expected in zip(outcomes, trial.expected, strict=True)]
    misbuilt = fault_of_building(trial, answer, run) if exercise.is_module else None
    right = all(outcome.ok and not found and not outcome.touched
                for outcome, found in zip(outcomes, differences, strict=True))
    if right and not misbuilt:
        fault = fault_beyond_numbers(trial, answer, run)
        if fault is None:
            return passed(exercise, remark(trial, answer, run))
        return failed(exercise, by_fault(trial, fault), outcomes)
    finding = (diagnose(trial, outcomes, differences, misbuilt)
               or unknown(trial, answer, outcomes, differences, run))
    return failed(exercise, finding, outcomes)


def passed(exercise, remark=None):
    lines = [f"✓ {exercise.name}", *(wrap(remark) if remark else [])]
    return Report(exercise.name, "passed", None, "\n".join(lines))


def unfinished(called):
    return Finding("it calls something unfinished.", "calls something unfinished",
                   f"It calls `{called}`, which raises NotImplementedError: it is not written yet.", (),
                   f"the cell that defines `{called}`: is it done, and has it been run since?", None)


def untouched(exercise):
    return Report(exercise.name, "not attempted", None,
                  f'○ {exercise.name}: not attempted yet. Stuck? hint("{exercise.name}")')


def failed(exercise, finding, outcomes=()):
    first = f"✗ {exercise.name}: {finding.headline}"
    head, *rest = textwrap.wrap(first, WIDTH, subsequent_indent="  ")
    why = [*rest, *wrap(finding.why)]
    evidence = [line.rstrip() for text in finding.evidence for line in wrap(text, "    ")]
    look = wrap(f"Where to look: {finding.look}") if finding.look else []
    last = []
    if exercise.hints:
        number = "" if finding.hint is None else f", {min(finding.hint, len(exercise.hints))}"
        last = [f'  Need more? hint("{exercise.name}"{number})']
    printed = max((outcome.printed for outcome in outcomes), default=0)
    if printed:
        count = f"{printed} line{'s' * (printed > 1)}"
        last.insert(0, f"  (Your answer also printed {count} in one call, not shown here.)")
    room = LINES - 1 - len(look) - len(last)
    body = why + evidence
    if len(body) > room:  # the evidence gives way first
        body = (why + evidence[:max(0, room - len(why))])[:room]
        if not body[-1].endswith(("…", ".")) and body[-1] not in evidence:
            body[-1] += " …"
    return Report(exercise.name, "failed", finding.mistake, "\n".join([head, *body, *look, *last]))


def wrap(text, indent="  "):
    """Lines of at most WIDTH; a shorter one keeps its spaces."""
    if len(indent + text) <= WIDTH:
        return [indent + text] if text else []
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)
