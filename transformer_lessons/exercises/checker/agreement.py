"""When does a known mistake agree with an answer? Each test takes what was seen of the answer, and one wrong answer."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from transformer_lessons.exercises.checker.comparison import Difference
from transformer_lessons.exercises.checker.distributions import Chances
from transformer_lessons.exercises.checker.draws import Draws, same
from transformer_lessons.exercises.checker.edits import WrongAnswer
from transformer_lessons.exercises.checker.exercise import Candidate, Exercise
from transformer_lessons.exercises.checker.finding import Finding
from transformer_lessons.running.sandbox import Outcome
from transformer_lessons.running.values import is_plain, numbers, parts


@dataclass
class Seen:
    """What was seen of an answer: what a diagnosis goes by."""

    draws: Draws
    answer: Callable
    outcomes: list[Outcome]
    differences: list[Difference | None]
    run: Callable
    misbuilt: Finding | None = None  # what is wrong with the layers of a module

    @property
    def exercise(self) -> Exercise:
        return self.draws.exercise

    @cached_property
    def wrong(self) -> list[int]:
        """The numbers of the cases with a wrong result."""
        return [number for number, difference in enumerate(self.differences) if difference]

    def difference(self, number: int) -> Difference:
        """How the wrong result of that case differs from the right one."""
        difference = self.differences[number]
        assert difference is not None
        return difference

    @cached_property
    def faulty(self) -> list[int]:
        """The numbers of the cases with a wrong result or changed inputs."""
        cases = enumerate(zip(self.outcomes, self.differences, strict=True))
        return [n for n, (outcome, difference) in cases if difference or (outcome.ok and outcome.changed_inputs)]

    @cached_property
    def faulty_first(self) -> list[int]:
        """The numbers of all cases, starting with the faulty ones, which tell most mistakes from the answer."""
        return sorted(range(len(self.outcomes)), key=lambda number: number not in self.faulty)

    @cached_property
    def wrong_first(self) -> list[int]:
        """The numbers of all cases, starting with those with a wrong result."""
        return sorted(range(len(self.outcomes)), key=lambda number: number not in self.wrong)

    @property
    def some_raised(self) -> bool:
        return any(outcome.kind == "raised" for outcome in self.outcomes)

    @property
    def is_random(self) -> bool:
        """Are results compared by their distribution?"""
        return any(isinstance(expected, Chances) for expected in self.draws.expected)

    @property
    def is_empty_throughout(self) -> bool:
        """Are the wrong results nothing but NaN and 0? Many mistakes can cause that."""
        results = [parts(self.outcomes[number].value) for number in self.wrong]
        arrays = [array for result in results for array in result]
        return bool(arrays) and all(is_plain(array) and not np.nan_to_num(numbers(array)).any() for array in arrays)

    @cached_property
    def right_parts(self) -> list[int]:
        """Which of several results are right wherever the answer gives any."""
        names = self.exercise.setup.returns
        cases = zip(self.outcomes, self.draws.expected, strict=True)
        given = [(outcome.value, expected) for outcome, expected in cases if outcome.ok]
        if isinstance(names, str) or not all(is_list(value, len(names)) for value, _ in given):
            return []
        return [
            part
            for part in range(len(names))
            if all(same(self.exercise, value[part], expected[part]) for value, expected in given)
        ]


def is_list(value: object, count: int) -> bool:
    return isinstance(value, (tuple, list)) and len(value) == count


def in_full(seen: Seen, variant: WrongAnswer) -> bool:
    """The same on every case: values, errors and changed inputs."""
    for number in seen.faulty_first:
        ours, theirs = seen.outcomes[number], seen.draws.outcome(variant, number)
        if ours is theirs:  # one that is known already
            continue
        if (ours.kind, ours.changed_inputs) != (theirs.kind, theirs.changed_inputs):
            return False
        if surely_different(seen.exercise, ours, theirs):
            return False
        if ours.ok and not same(seen.exercise, ours.value, theirs.value):
            return False
    return bool(seen.faulty)


def where_it_ran(seen: Seen, variant: WrongAnswer) -> bool:
    """The same wherever both gave a value; one or both may raise elsewhere. A single draw is no evidence."""
    agreed = missed = 0
    for number in seen.wrong_first if seen.wrong else ():
        ours, theirs = seen.outcomes[number], seen.draws.outcome(variant, number)
        if ours.ok and theirs.ok:
            if surely_different(seen.exercise, ours, theirs) or not same(seen.exercise, ours.value, theirs.value):
                return False
            agreed += number in seen.wrong
        else:
            missed += ours.ok
    return agreed > (1 if missed or seen.is_random else 0)


def same_errors(seen: Seen, variant: WrongAnswer) -> bool:
    """Raises where the mistake raises, with the same sort of error, and gives the same results elsewhere."""
    if not seen.some_raised:
        return False
    theirs = [seen.draws.outcome(variant, number) for number in range(len(seen.outcomes))]
    if any(a.kind != b.kind for a, b in zip(seen.outcomes, theirs, strict=True)):
        return False
    whole = not any(outcome.ok for outcome in seen.outcomes)  # then only the messages can be compared
    read = str if whole else sort_of
    return all(
        same(seen.exercise, a.value, b.value) if a.ok else read(a.error) == read(b.error)
        for a, b in zip(seen.outcomes, theirs, strict=True)
    )


def same_messages(seen: Seen, variant: WrongAnswer) -> bool:
    """Raises exactly the mistake's errors, and gives the same results elsewhere."""
    return same_errors(seen, variant) and all(
        outcome.error == seen.draws.outcome(variant, number).error for number, outcome in enumerate(seen.outcomes)
    )


def sort_of(error: str) -> str:
    """The type of an error, or all of it if `view` has failed: a RuntimeError may be anything."""
    return error if "view size" in error else error.split(":")[0]


def in_parts(seen: Seen, variant: WrongAnswer) -> bool:
    """Some parts are always right, and each of the others is either the mistake's or right."""
    for number in seen.wrong_first:
        ours, theirs = seen.outcomes[number], seen.draws.outcome(variant, number)
        expected = seen.draws.expected[number]
        if not ours.ok:
            continue
        if not theirs.ok or not is_list(theirs.value, len(expected)):
            return False
        for part, mine in enumerate(ours.value):
            explained = (same(seen.exercise, mine, result[part]) for result in (theirs.value, expected))
            if part not in seen.right_parts and not any(explained):
                return False
    return bool(seen.wrong)


def raises_no_more(seen: Seen, variant: WrongAnswer) -> bool:
    """Does a wrong answer raise only where this one raises an error of the same kind?"""
    theirs = [seen.draws.outcome(variant, number) for number in range(len(seen.outcomes))]
    return all(
        other.ok or (ours.kind, ours.error.split(":")[0]) == (other.kind, other.error.split(":")[0])
        for ours, other in zip(seen.outcomes, theirs, strict=True)
    )


def perhaps_in_full(seen: Seen, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """The candidates that may agree in full, going by a glance at the first wrong case; most cannot."""
    if not seen.faulty:
        return
    first = seen.faulty[0]
    ours = seen.outcomes[first]
    for mistakes, variant in candidates:
        theirs = seen.draws.outcome(variant, first)
        if ours.kind == theirs.kind and not surely_different(seen.exercise, ours, theirs):
            yield mistakes, variant


def surely_different(exercise: Exercise, ours: Outcome, theirs: Outcome) -> bool:
    """Are they certainly different, going by their shapes and one sum alone?"""
    if exercise.setup.same is not None:
        return False
    mine, known = ours.glance, theirs.glance
    if mine is None or known is None:  # only one has a glance: a plain number can equal an array without dimensions
        shapes, *_ = mine or known or [()]
        return bool(shapes) and all(shape for shape, _ in shapes)
    (shapes, total, slack), (known_shapes, known_total, known_slack) = mine, known
    most = exercise.setup.tolerance * max(slack, known_slack) + 1e-9
    return shapes != known_shapes or abs(total - known_total) > most
