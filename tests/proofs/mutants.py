"""Make every one-edit error in the right answers, and see what `check` says of each.

    python tests/proofs/mutants.py                     a table of all exercises
    python tests/proofs/mutants.py layer_norm merge    these alone, with each mutant that has no name
    python tests/proofs/mutants.py --accepted          only what is accepted, which takes a tenth of the time

An edit puts another operator, number, name or function in the place of one, or leaves out an operand, an argument, a
call or a line (one_edit.py). A mutant that stops with an error on every input is counted apart: Python itself names it.
What `check` accepts is run again, on other draws and on zeros, ties and large numbers. Where it gives exactly
what the right answer gives, it is the same answer, and counts nowhere. All others must stand in known_mutants.py, with
the reason why they keep the contract; the script ends with 1 where one does not. A script for Linux and macOS.
"""

import argparse
import linecache
import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import torch
from known_mutants import WITHIN_THE_CONTRACT
from measured import put_on_the_page
from one_edit import changed_line, one_edit_away
from processor_time import run

from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.contract import ERRORS
from transformer_lessons.exercises.checker.draws import compare, first_draws, observe, observe_all
from transformer_lessons.exercises.checker.exercise import NAMES, Case, Exercise
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.unknown import HEADLINES
from transformer_lessons.exercises.checker.verdict import judge_outcomes
from transformer_lessons.running import global_state

KINDS = ["named", "only rejected", "stops with an error", "accepted", "the same answer"]
QUICK_KINDS = ["rejected", *KINDS[2:]]
NAMELESS = {None, "raises an error", *ERRORS.values(), *(name for _, name in HEADLINES.values())}


# Running a mutant


def defined(exercise: Exercise, source: str) -> Callable:
    """The function or class that a source defines; its lines are known to tracebacks."""
    file = f"<a mutant of {exercise.name}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    names = {**NAMES, **exercise.setup.names}
    exec(compile(source, file, "exec"), names)
    return names[exercise.name]


def is_wrong_at_once(exercise: Exercise, answer: Callable) -> bool:
    """Is some result already wrong? The first such case decides, and no mistake is looked for."""
    draws = first_draws(exercise)
    for case, expected in zip(draws.cases, draws.expected, strict=True):
        outcome = observe(exercise, answer, case, draws.dtype, run)
        if outcome.ok and compare(exercise, outcome.value, expected):
            return True
        if outcome.kind == "endless":
            break
    return False


def verdict_on(exercise: Exercise, source: str, quickly: bool = False) -> tuple[str, str]:
    """(one of KINDS, what the verdict's first line says). Quickly: one of QUICK_KINDS, as no name is looked for."""
    try:
        answer = defined(exercise, source)
    except Exception as error:
        return "stops with an error", str(error)
    if quickly and is_wrong_at_once(exercise, answer):
        return "rejected", ""
    draws, outcomes = observe_all(first_draws(exercise), answer, run, seconds=600)
    if all(outcome.kind in ("raised", "endless") for outcome in outcomes):
        return "stops with an error", outcomes[0].error or "never ends"
    report = judge_outcomes(draws, answer, outcomes, run)
    if report.status == "passed":
        how = where_it_differs(exercise, answer)
        return ("accepted", f"differs from the right answer {how}") if how else ("the same answer", "")
    return ("rejected" if quickly else "only rejected" if report.mistake in NAMELESS else "named"), report.headline


# Is an accepted one the same answer?


def where_it_differs(exercise: Exercise, answer: Callable) -> str:
    """On which inputs an answer gives anything else than the right one; empty if on none."""
    for how, case in other_cases(exercise):
        expected, observed = (
            observe(exercise, one, case, torch.float64, run) for one in (exercise.right.answer, answer)
        )
        kept = observed.ok and observed.changed_inputs == expected.changed_inputs
        if expected.ok and not (kept and equal(exercise, observed.value, expected.value)):
            return how
    return ""


def equal(exercise: Exercise, one: object, other: object) -> bool:
    """To the last few bits; distributions as the check compares them."""
    return (
        exercise.setup.same(one, other) if exercise.setup.observe and exercise.setup.same else alike(one, other, 1e-12)
    )


def other_cases(exercise: Exercise) -> Iterator[tuple[str, Case]]:
    """The draws that no learner meets, as they are and with their numbers changed."""
    for seed in range(4):
        for case in exercise.cases(seed):
            yield f"on draw {seed}", case
            for how, change in CHANGES.items() if seed < 2 and exercise.name not in UNCHANGED else ():
                yield f"on draw {seed}, {how}", replace(case, inputs=mapped(change, case.inputs))


UNCHANGED = {"speculate"}  # distributions and numbers from 0 to 1: a hundred times as large, they are none
CHANGES = {
    "rounded, which makes ties": lambda x: x.round(),
    "all zero": lambda x: x * 0,
    "a hundred times as large": lambda x: x * 100,
    "a millionth as large": lambda x: x * 1e-6,
}


def mapped(change: Callable, value: object) -> object:
    """A value with all floats in it changed."""
    if isinstance(value, torch.Tensor):
        return change(value) if value.is_floating_point() else value
    if isinstance(value, np.ndarray):
        return change(value) if value.dtype.kind == "f" else value
    if isinstance(value, tuple | list):
        return type(value)(mapped(change, one) for one in value)
    return value


# The table


def audit(exercise: Exercise, quickly: bool = False) -> list[tuple[str, str, str]]:
    """[(one of KINDS, the line that is changed, what the verdict says)]."""
    source = exercise.right.source
    with global_state.standard_state():
        torch.set_num_threads(1)
        return [
            (kind, changed_line(source, mutant), said)
            for mutant in one_edit_away(source)
            for kind, said in [verdict_on(exercise, mutant, quickly)]
        ]


def row(name: str, counts: dict) -> str:
    return f"| {name} | " + " | ".join(f"{count:,}" for count in counts.values()) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--accepted", action="store_true", help="only what is accepted, in a tenth of the time")
    parser.add_argument("--write", action="store_true", help="put the table on the page .site/evidence.md")
    parser.add_argument("names", nargs="*", metavar="exercise", help="default: all")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(EXERCISES):
        sys.exit(f"there is no exercise {unknown.pop()}")
    resource.setrlimit(resource.RLIMIT_AS, (16 * 2**30, resource.getrlimit(resource.RLIMIT_AS)[1]))
    kinds = QUICK_KINDS if arguments.accepted else KINDS
    total, holes = dict.fromkeys(kinds, 0), []
    table = ["| exercise | " + " | ".join(kinds) + " |", "| --- |" + " ---: |" * len(kinds)]
    print(*table, sep="\n")
    for name in arguments.names or EXERCISES:
        results = audit(EXERCISES[name], arguments.accepted)
        counts = {kind: sum(one == kind for one, _, _ in results) for kind in kinds}
        total = {kind: total[kind] + counts[kind] for kind in kinds}
        table.append(row(f"`{name}`", counts))
        print(table[-1], flush=True)
        known = WITHIN_THE_CONTRACT.get(name, {})
        for kind, line, said in results:
            if kind == "accepted" and line not in known:
                holes.append(f"{name}: {line}\n    {said}")
            if arguments.names and kind not in ("named", "rejected"):
                print(f"    {kind}: {line}\n        {known.get(line, said)}", flush=True)
    rejected = sum(total.get(kind, 0) for kind in ("named", "only rejected", "rejected"))
    table += [
        row("**all**", total),
        "",
        f"Of {rejected + total['accepted']:,} mutants that run and are not the right answer, {rejected:,} are rejected"
        + (f", {total['named']:,} of them by name." if "named" in total else "."),
    ]
    print(*table[-3:], sep="\n")
    print(*(f"accepted, and not in known_mutants.py: {hole}" for hole in holes), sep="\n")
    if arguments.write:
        put_on_the_page("mutants", table)
    return 1 if holes else 0


if __name__ == "__main__":
    sys.exit(main())
