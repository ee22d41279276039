"""The verdict on an answer: the contract first, then the numbers, then which known mistake gives these numbers."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from transformer_lessons.exercises.checker import card, onward, redefinition
from transformer_lessons.exercises.checker.agreement import Seen
from transformer_lessons.exercises.checker.beyond_numbers import fault_beyond_numbers
from transformer_lessons.exercises.checker.contract import fault_of_building, is_stub, misfit, too_long
from transformer_lessons.exercises.checker.diagnosis import by_fault, diagnose
from transformer_lessons.exercises.checker.draws import Draws, compare, first_draws, observe_all
from transformer_lessons.exercises.checker.exercise import Exercise
from transformer_lessons.exercises.checker.finding import Finding
from transformer_lessons.exercises.checker.parts import Part, fitted
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.report import Report, note, say
from transformer_lessons.exercises.checker.unknown import unknown
from transformer_lessons.running import emptiness, errors, global_state, sandbox
from transformer_lessons.running.sandbox import LIMITS, Limits, Outcome

LINES = 12
MISSING = object()


def check(name: str, answer: object = MISSING, *, limits: Limits = LIMITS) -> Report:
    """Checks `answer`, the function or class itself, against the exercise `name`, and prints the verdict."""
    if getattr(sandbox.checking, "active", False):
        return Report(str(name), "not attempted", title="an answer must not call check itself")
    try:
        report = misused(name, answer)
        if report is None:
            with global_state.standard_state():
                torch.set_num_threads(1)  # tiny operations take longer on several; restored with the rest
                exercise = EXERCISES[name]
                run = partial(sandbox.run_safely, seconds=limits.call)
                report = judge(exercise, answer, first_draws(exercise), run=run, limits=limits)
            later = redefinition.failed_redefinition(name, answer)
            report = outdated(report, *later) if later else report
    except Exception as error:  # a fault of ours must not look like one of the learner's
        report = Report(
            str(name)[:60],
            "not attempted",
            "could not be checked.",
            (
                Part("why", "The check itself failed, and that is a fault in the course, not in your answer."),
                Part("note", f"({errors.name_error(error)})"),
            ),
        )
    blocks = card.blocks_of(report.status, report.parts)
    if report.status == "passed":
        ruled_out = f"<p>passed · {len(EXERCISES[name].mistakes)} known mistakes ruled out</p>"
        blocks = [ruled_out, *onward.below(name, defined_as=getattr(answer, "__name__", ""))]
    say(report.message, card.card(report.status, report.heading, blocks))
    note(report)
    return report


def misused(name: object, answer: object) -> Report | None:
    """The report on a call to check without an exercise's name, or without an answer."""

    def report(headline, sentence):
        shown = name if isinstance(name, str) else getattr(name, "__name__", type(name).__name__)
        return Report(shown, "not attempted", headline, (Part("why", sentence),))

    if not isinstance(name, str):
        own = answer if isinstance(answer, str) else getattr(name, "__name__", "softmax")
        own = own if own in EXERCISES else "softmax"
        return report("the exercise's name comes first, in quotes.", f'Write check("{own}", {own}).')
    if name not in EXERCISES:
        return report("there is no exercise with that name.", names_like(name))
    if answer is MISSING:
        return report("nothing to check yet.", f'Write check("{name}", {name}).')
    if answer is None or answer is ...:
        return untouched(EXERCISES[name])
    return None


def names_like(name: str) -> str:
    """A sentence that suggests the nearest names, or lists them all."""
    lower = {known.lower(): known for known in EXERCISES}
    near = [lower[found] for found in difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.6)]
    if near:
        return "Did you mean " + " or ".join(near) + "?"
    return f"The exercises are {', '.join(EXERCISES)}."


# The verdict


def judge(
    exercise: Exercise, answer: Any, draws: Draws, *, run: Callable = sandbox.run_safely, limits: Limits = LIMITS
) -> Report:
    """The report on one answer."""
    if is_stub(exercise, answer):
        return untouched(exercise)
    finding = misfit(exercise, answer)
    if not exercise.is_module and emptiness.gives_none(answer):
        takes_others = finding is not None and emptiness.code_within(answer).co_argcount > 0
        finding = finding if takes_others else nothing_returned()
    if finding:
        return failed(exercise, finding)
    draws, outcomes = observe_all(draws, answer, run, limits.check)
    return judge_outcomes(draws, answer, outcomes, run, limits)


def judge_outcomes(
    draws: Draws, answer: Any, outcomes: list[Outcome], run: Callable, limits: Limits = LIMITS
) -> Report:
    """The report on an answer that has been called on every case."""
    exercise = draws.exercise
    if outcomes[0].kind == "empty":
        called = outcomes[0].unfinished
        if called and called != getattr(answer, "__name__", ""):
            return failed(exercise, unfinished(called))
        return untouched(exercise)
    if outcomes[-1].kind == "endless":
        return failed(exercise, too_long(outcomes[-1], limits.call), outcomes)
    differences = [
        compare(exercise, outcome.value, expected) if outcome.ok else None
        for outcome, expected in zip(outcomes, draws.expected, strict=True)
    ]
    misbuilt = fault_of_building(draws, answer, run) if exercise.is_module else None
    right = all(
        outcome.ok and not difference and not outcome.changed_inputs
        for outcome, difference in zip(outcomes, differences, strict=True)
    )
    if right and not misbuilt:
        fault = fault_beyond_numbers(draws, answer, run)
        if fault is None:
            return passed(exercise)
        return failed(exercise, by_fault(draws, fault), outcomes)
    seen = Seen(draws, answer, outcomes, differences, run, misbuilt)
    finding = diagnose(seen) or unknown(seen)
    return failed(exercise, finding, outcomes)


def placed(finding: Finding) -> Finding:
    """A finding with the line that raised an error, if it knows one, and with a place to look for what it reports."""
    at_line = (Part("line", finding.line),) if finding.line else ()
    if not finding.error:
        return replace(finding, evidence=(*finding.evidence, *at_line))
    look = finding.look
    if not finding.line and (not look or "that line" in look):
        look = "call it yourself, in a separate cell, and read the end of the traceback."
    elif not look and len(finding.evidence) > 2:  # numbers side by side: the line would be cut off
        look = f"print what goes into this line, which raises an error on some inputs: {finding.line}"
        return replace(finding, look=look)
    look = look or "print what goes into that line, just before it."
    return replace(finding, evidence=(*finding.evidence, *at_line), look=look)


def outdated(report: Report, name: str, error: str, line: str) -> Report:
    """The verdict on a definition that a later cell should have replaced, and did not."""
    verdict = {
        "passed": "That version passes",
        "failed": "That version does not pass",
        "not attempted": "That version has not been written yet",
    }[report.status]
    if report.mistake:
        verdict += f" ({report.mistake})"
    return Report(
        report.name,
        "not attempted",
        "this is the definition from an earlier cell.",
        (
            Part("why", f"The last cell that defines `{name}` did not run: {error}"),
            *([Part("line", line)] if line else []),
            Part(
                "why",
                f"So `{name}` is still the version from an earlier cell. {verdict}; your last cell has not been "
                "checked.",
            ),
            Part("look", "fix that cell and run it, then run this one again."),
        ),
    )


def passed(exercise: Exercise) -> Report:
    return Report(exercise.name, "passed")


def nothing_returned() -> Finding:
    return Finding(
        headline="it returns nothing.",
        mistake="nothing returned",
        why="It is a lambda that returns None, whatever its arguments.",
        look="what comes after the colon?",
    )


def unfinished(called: str) -> Finding:
    return Finding(
        headline="it calls something unfinished.",
        mistake="calls something unfinished",
        why=f"It calls `{called}`, which raises NotImplementedError, as unwritten code does.",
        look=f"the cell that defines `{called}`: is it finished, and has it been run since?",
    )


def untouched(exercise: Exercise) -> Report:
    stuck = Part("stuck", f'Stuck? hint("{exercise.name}")')
    return Report(exercise.name, "not attempted", "not attempted yet.", (stuck,))


def failed(exercise: Exercise, finding: Finding, outcomes: Sequence[Outcome] = ()) -> Report:
    finding = placed(finding)
    last = [Part("look", finding.look)] if finding.look else []
    if warned := list(dict.fromkeys(text for outcome in outcomes for text in outcome.warned))[: sandbox.WARNINGS]:
        last.append(Part("note", f"(Python has warned: {'; '.join(warned)}.)"))
    if printed := max((outcome.printed for outcome in outcomes), default=0):
        count = f"{printed} line{'s' * (printed > 1)}"
        last.append(Part("note", f"(Your answer also printed {count} in one call, not shown here.)"))
    if exercise.hints:
        number = "" if finding.hint is None else f", {min(finding.hint, len(exercise.hints))}"
        last.append(Part("hint", f'Need more? hint("{exercise.name}"{number})'))
    report = Report(
        exercise.name,
        "failed",
        finding.headline,
        tuple(last),
        mistake=finding.mistake,
        error=finding.error,
        line=finding.line,
    )
    room = LINES - len(report.message.splitlines())
    why = (Part("why", finding.why),) if finding.why else ()
    parts = fitted((*why, *finding.evidence), room)
    return replace(report, parts=(*parts, *last))
