"""Finds which known mistake an answer makes: strategies, tried one after another, from the strictest on."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice, product

from transformer_lessons.exercises.checker.agreement import (
    Seen,
    in_full,
    in_parts,
    perhaps_in_full,
    raises_no_more,
    same_errors,
    same_messages,
    where_it_ran,
)
from transformer_lessons.exercises.checker.beyond_numbers import fault_beyond_numbers
from transformer_lessons.exercises.checker.contract import SHARED
from transformer_lessons.exercises.checker.distributions import Chances
from transformer_lessons.exercises.checker.draws import Draws, once_for_draws, same
from transformer_lessons.exercises.checker.edits import WrongAnswer
from transformer_lessons.exercises.checker.evidence import symptom, which_parts, with_evidence
from transformer_lessons.exercises.checker.exercise import MOST_PAIRS, Candidate, Mistake
from transformer_lessons.exercises.checker.finding import Finding, named
from transformer_lessons.exercises.checker.parts import Part
from transformer_lessons.exercises.checker.slips import SLIPS, is_right, sentence_of, transposed, undone
from transformer_lessons.exercises.checker.steps import mistakes_in_parts, mistakes_on_the_way
from transformer_lessons.running.sandbox import attempt


def diagnose(seen: Seen) -> Finding | None:
    """What the first strategy finds that finds anything."""
    return next((finding for strategy in STRATEGIES if (finding := strategy(seen))), None)


# The strategies


def shared_layers(seen: Seen) -> Finding | None:
    """Two layers are one: then even a right `forward` gives the numbers of a wrong one."""
    return seen.misbuilt if seen.misbuilt and seen.misbuilt.mistake == SHARED else None


def same_results(seen: Seen) -> Finding | None:
    """A known mistake gives the same results, errors included, on every case."""
    return by_mistake(seen, seen.exercise.singles, (in_full,))


def same_where_it_ran(seen: Seen) -> Finding | None:
    """A known mistake gives the same results wherever both run, or raises the same errors."""
    return by_mistake(seen, seen.exercise.singles, (where_it_ran, same_messages, same_errors))


def right_in_the_wrong_form(seen: Seen) -> Finding | None:
    """The numbers are right, but returned in the wrong form."""
    if not seen.wrong:
        return None
    for slip in SLIPS:
        corrected = undone(seen, slip)
        if corrected and is_right(corrected):
            where = "The" if all(outcome.ok for outcome in seen.outcomes) else "Where it ran, the"
            more = seen.exercise.setup.checks  # they look at more numbers
            numbers = "numbers compared so far" if more else "numbers"
            return named(slip.name, f"{where} {numbers} are right. {sentence_of(seen, slip)}", look=slip.look)
    return None


def wrong_layers(seen: Seen) -> Finding | None:
    """The layers or parameters are not those of the contract."""
    return seen.misbuilt


def same_in_parts(seen: Seen) -> Finding | None:
    """One of several results is right, and the others are those of a known mistake."""
    return by_mistake(seen, seen.exercise.singles, (in_parts,)) if seen.right_parts else None


def two_at_once(seen: Seen) -> Finding | None:
    """Two known mistakes at once give the same results."""
    tests = (in_full, where_it_ran, in_parts) if seen.right_parts else (in_full, where_it_ran)
    return by_pair(seen, seen.exercise.pairs, tests)


def known_in_the_wrong_form(seen: Seen) -> Finding | None:
    """A known mistake's numbers, returned in the wrong form."""
    for slip in SLIPS if seen.wrong else ():
        corrected = undone(seen, slip)
        shapes = any(difference and difference.sort == "shape" for difference in seen.differences)
        if not corrected or (slip.undo is transposed and not shapes):  # where no shape shows it, nothing is certain
            continue
        finding = by_mistake(corrected, seen.exercise.singles, (in_full, where_it_ran))
        if finding:
            headline, why = f"{finding.mistake}, and {slip.name}.", f"{finding.why} {sentence_of(seen, slip)}"
            return with_evidence(replace(finding, headline=headline, why=why, evidence=()), seen)  # not the corrected
    return None


def two_on_the_way(seen: Seen) -> Finding | None:
    """Two known mistakes at once, in any variants, one of which shows in what the answer computes on its way."""
    if not seen.wrong:
        return None
    first, exercise = seen.wrong[0], seen.exercise
    if exercise.setup.observe and not seen.is_random:
        shown = mistakes_in_parts(seen.draws, seen.outcomes[first].value, first)
    else:
        shown = mistakes_on_the_way(seen.draws, seen.answer, seen.outcomes[first], first, seen.run)
    pairs = (pair_of(seen.draws, *singles) for singles in product(shown, exercise.singles))
    return by_pair(seen, list(islice(filter(None, pairs), MOST_PAIRS)), (in_full, where_it_ran))


@once_for_draws
def pair_of(draws: Draws, first: Candidate, second: Candidate) -> Candidate | None:
    """Two mistakes at once, made once: the draws know the outcomes of the very same wrong answer."""
    ((mistake,), variant), ((other,), another) = first, second
    return draws.exercise.pair((mistake, variant), (other, another))


def solved_for(seen: Seen) -> Finding | None:
    """A mistake with a number that could be any: the setup has solved for it, and every wrong result agrees."""
    return by_signs(seen, seen.exercise.setup.solves)


def shown_by_signs(seen: Seen) -> Finding | None:
    """A mistake whose signs every wrong result shows, though its numbers are not those of a known answer."""
    return by_signs(seen, seen.exercise.setup.signs)


def by_signs(seen: Seen, signs_of: Callable | None) -> Finding | None:
    """The first mistake whose sign all wrong results show; a result may also say nothing."""
    if signs_of is None:
        return None
    common: list | None = None
    for case_number in seen.wrong:
        signs = signs_shown(seen, signs_of, case_number)
        if signs is not None:
            common = signs if common is None else [sign for sign in common if any(map(sign.agrees, signs))]
    common = [sign for sign in common or [] if not contradicted(seen, signs_of, sign)]
    if not common:
        return None
    first = seen.wrong[0]
    shown = symptom(seen, first) if seen.difference(first).sort == "numbers" else None
    finding = about((seen.exercise.mistakes[common[0].name],))
    return with_evidence(replace(finding, evidence=(Part("example", shown),) if shown else ()), seen)


def signs_shown(seen: Seen, signs_of: Callable, case_number: int) -> "list[Sign] | None":
    """The signs that one result shows, or None if it says nothing."""
    try:
        signs = signs_of(
            seen.outcomes[case_number].value, seen.draws.expected[case_number], *seen.draws.cases[case_number].inputs
        )
    except Exception:  # a result may be anything at all; one that cannot be read shows no sign
        return []
    return None if signs is None else list(map(sign_of, signs))


def contradicted(seen: Seen, signs_of: Callable, sign: "Sign") -> bool:
    """Does a right result show that the number is another one there?"""
    if sign.number is None:
        return False
    right = (n for n, outcome in enumerate(seen.outcomes) if outcome.ok and seen.differences[n] is None)
    shown = (other for case_number in right for other in signs_shown(seen, signs_of, case_number) or [])
    return any(other.name == sign.name and not sign.agrees(other) for other in shown)


@dataclass
class Sign:
    """The name of a mistake, and the number that was solved for, if any; it must be the same for all results."""

    name: str
    number: float | None = None

    def agrees(self, other: "Sign") -> bool:
        if self.name != other.name or self.number is None or other.number is None:
            return self.name == other.name
        return math.isclose(self.number, other.number, rel_tol=1e-4)


def sign_of(sign: str | tuple) -> Sign:
    return Sign(sign) if isinstance(sign, str) else Sign(*sign)


STRATEGIES: tuple[Callable[[Seen], Finding | None], ...] = (
    shared_layers,
    same_results,
    same_where_it_ran,
    solved_for,
    right_in_the_wrong_form,
    wrong_layers,
    same_in_parts,
    two_at_once,
    known_in_the_wrong_form,
    two_on_the_way,
    shown_by_signs,
)


# What they share


def by_mistake(seen: Seen, candidates: Iterable[Candidate], tests: tuple) -> Finding | None:
    """The first candidate that agrees with the answer, by the strictest test that any passes."""
    candidates = list(candidates)
    for test in tests:
        for mistakes, variant in perhaps_in_full(seen, candidates) if test is in_full else candidates:
            if test(seen, variant):
                return found_by(test, seen, mistakes)
    return None


def by_pair(seen: Seen, pairs: list[Candidate], tests: tuple) -> Finding | None:
    """The first pair that agrees, by the strictest test that any passes, and raises nothing that the answer does not.

    Where draws are compared by their distribution, several pairs may agree, and one mistake of a pair may already
    explain every distribution. Then only the mistakes that all pairs need are certain. If all numbers are NaN or 0,
    none is.
    """
    if seen.is_empty_throughout:
        return None
    for test in tests:
        likely = perhaps_in_full(seen, pairs) if test is in_full else pairs
        agreeing = ((mistakes, pair) for mistakes, pair in likely if test(seen, pair) and raises_no_more(seen, pair))
        if seen.is_random:
            needed = [needed_of(seen, *pair) for pair in agreeing]
            mistakes = tuple(item for item in needed[0] if all(item in pair for pair in needed)) if needed else ()
        else:
            mistakes, _ = next(agreeing, ((), None))
        if mistakes:
            return found_by(test, seen, mistakes)
    return None


def needed_of(seen: Seen, mistakes: tuple[Mistake, ...], pair: WrongAnswer) -> tuple[Mistake, ...]:
    """Those of two mistakes without which some distribution or error would not be explained."""

    def explained_by(variant):
        theirs = [seen.draws.outcome(variant, number) for number in range(len(seen.outcomes))]
        return all(
            ours.kind == other.kind
            and (not other.ok or not isinstance(expected, Chances) or same(seen.exercise, ours.value, other.value))
            for ours, other, expected in zip(seen.outcomes, theirs, seen.draws.expected, strict=True)
        )

    without = reversed(pair.parts)  # for each mistake, what the other alone gives
    return tuple(mistake for mistake, rest in zip(mistakes, without, strict=True) if not explained_by(rest))


def found_by(test: Callable, seen: Seen, mistakes: tuple[Mistake, ...]) -> Finding:
    finding = about(mistakes)
    why = f"{finding.why} {which_parts(seen)}" if test is in_parts else finding.why
    return with_evidence(replace(finding, why=why), seen, mistakes)


def about(mistakes: tuple[Mistake, ...]) -> Finding:
    """The finding that names a mistake, or two at once."""
    first = mistakes[0]
    if len(mistakes) == 1:
        return named(first.name, first.why, look=first.look, hint=first.hint)
    names = " and ".join(mistake.name for mistake in mistakes)
    whys = " ".join(["Taken one at a time:", *(mistake.why for mistake in mistakes)])
    headline = f"two mistakes at once: {names}."
    return Finding(headline=headline, mistake=names, why=whys, look=first.look, hint=first.hint)


@once_for_draws
def fault_of_variant(draws: Draws, variant: WrongAnswer) -> Finding | None:
    """The fault of a known wrong answer that the numbers do not show."""
    return fault_beyond_numbers(draws, variant.answer, attempt)


def by_fault(draws: Draws, fault: Finding) -> Finding:
    """A known mistake that gives the right numbers but has the same fault; otherwise the fault itself."""
    for mistakes, variant in draws.exercise.singles:
        theirs = (draws.outcome(variant, number) for number in range(len(draws.cases)))  # up to the first wrong one
        right = all(
            outcome.ok and not outcome.changed_inputs and same(draws.exercise, outcome.value, expected)
            for outcome, expected in zip(theirs, draws.expected, strict=False)
        )
        of_variant = fault_of_variant(draws, variant) if right else None
        if of_variant and (of_variant.mistake, of_variant.why) == (fault.mistake, fault.why):
            return about(mistakes)
    return fault
