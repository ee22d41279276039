"""What a verdict shows: the smallest failing example, and what the numbers themselves say."""

from dataclasses import replace

import numpy as np

from transformer_lessons.basis.words import joined
from transformer_lessons.exercises.checker.agreement import Seen
from transformer_lessons.exercises.checker.display import beside
from transformer_lessons.exercises.checker.draws import compare, same, shown_inputs
from transformer_lessons.exercises.checker.edits import WrongAnswer
from transformer_lessons.exercises.checker.exercise import Exercise, Mistake
from transformer_lessons.exercises.checker.finding import Finding
from transformer_lessons.exercises.checker.parts import Part
from transformer_lessons.running.values import capital, family, is_array, is_plain, numbers, parts


def with_evidence(finding: Finding, seen: Seen, mistakes: tuple[Mistake, ...] = ()) -> Finding:
    """The finding with the smallest example: the inputs, yours beside the expected; and one that raises, if any does.

    Any evidence that it has already comes first.
    """
    parts, exercise = list(finding.evidence), seen.exercise
    raising = next((n for n, outcome in enumerate(seen.outcomes) if outcome.kind == "raised"), None)
    if seen.wrong:
        first = telling(seen, mistakes)
        difference = seen.difference(first)
        if difference.sort == "numbers" and len(mistakes) == 1 and raising is None:  # there is no room for both
            parts += which_of_several(seen, *mistakes, first)
        shown = f"With {shown_inputs(exercise, seen.draws.cases[first])}:"
        if difference.sort in WITHOUT_NUMBERS:
            parts.append(Part("example", f"{shown}\n{difference.sentence}"))
        else:
            ours, theirs, name = part_that_differs(seen, first)
            numbers = beside(ours, theirs, name, exercise.setup.tolerance, exercise.setup.exact_zeros)
            parts += [Part("example", shown), *numbers]
    if raising is None:
        return replace(finding, evidence=tuple(parts))
    outcome, shown = seen.outcomes[raising], shown_inputs(exercise, seen.draws.cases[raising])
    parts.append(Part("example", f"With {shown} it raises {outcome.error}"))
    return replace(finding, evidence=tuple(parts), error=outcome.error, line=outcome.line)


def telling(seen: Seen, mistakes: tuple[Mistake, ...]) -> int:
    """The first wrong case, unless there is NaN in it that another mistake gives: then the first where none does."""
    first = seen.wrong[0]
    if not mistakes or not has_nan(seen.outcomes[first].value):
        return first
    others = [variant for (mistake,), variant in seen.exercise.singles if mistake not in mistakes]
    alike = [variant for variant in others if gives_the_same(seen, variant, first)]
    clear = (n for n in seen.wrong if not any(gives_the_same(seen, variant, n) for variant in alike))
    return next(clear, first)


def has_nan(value: object) -> bool:
    return any(is_plain(array) and np.isnan(numbers(array)).any() for array in parts(value))


def gives_the_same(seen: Seen, variant: WrongAnswer, number: int) -> bool:
    theirs = seen.draws.outcome(variant, number)
    return theirs.ok and same(seen.exercise, seen.outcomes[number].value, theirs.value)


WITHOUT_NUMBERS = ("kind", "count", "dtype", "shape", "ids")  # differences that numbers side by side cannot show


def part_that_differs(seen: Seen, number: int) -> tuple:
    """(ours, expected, name): of several results, the one that differs."""
    ours, expected, name = seen.outcomes[number].value, seen.draws.expected[number], seen.exercise.setup.returns
    part = seen.difference(number).part
    return (ours, expected, name) if part is None else (ours[part], expected[part], name[part])


def which_parts(seen: Seen) -> str:
    """Which of the results are wrong, and which right."""
    names = seen.exercise.setup.returns
    wrong = {
        name
        for number in seen.wrong
        for name, ours, expected in zip(names, seen.outcomes[number].value, seen.draws.expected[number], strict=True)
        if not same(seen.exercise, ours, expected)
    }
    right = [f"`{name}`" for name in names if name not in wrong]
    if not right:
        return ""
    return f"Only {these([f'`{name}`' for name in names if name in wrong])} wrong; {these(right)} right."


def these(names: list) -> str:
    """`a` is; or `a`, `b` and `c` are."""
    return f"{joined(names)} {'is' if len(names) == 1 else 'are'}"


def which_of_several(seen: Seen, mistake: Mistake, number: int) -> list[Part]:
    """What the setup's symptoms say of one case, if this tells some of the mistake's variants from others."""
    told = told_by_setup(seen, number, seen.outcomes[number].value)
    if told is None:
        return []
    results = [seen.draws.outcome(variant, number).value for variant in mistake.variants]
    differences = [compare(seen.exercise, result, seen.draws.expected[number]) for result in results]
    comparable = [result for result, one in zip(results, differences, strict=True) if one and one.sort == "numbers"]
    return [Part("example", told)] if any(told_by_setup(seen, number, result) != told for result in comparable) else []


def told_by_setup(seen: Seen, number: int, value: object) -> str | None:
    """What the first of the setup's own symptoms that a result of one case shows says of it, or None."""
    expected, inputs = seen.draws.expected[number], seen.draws.cases[number].inputs
    told = (test(value, expected, *inputs) for test in seen.exercise.setup.symptoms)
    return next(filter(None, told), None)


def symptom(seen: Seen, number: int) -> str | None:
    """One sentence on what the numbers of one case themselves show, or None."""
    if sentence := told_by_setup(seen, number, seen.outcomes[number].value):
        return sentence
    exercise, inputs = seen.exercise, seen.draws.cases[number].inputs
    ours, expected, name = part_that_differs(seen, number)
    if not (is_array(ours) and is_array(expected)):
        return None
    the = "the result" if name == "result" else f"`{name}`"
    sentence = symptom_of_arrays(numbers(ours), numbers(expected), the, exercise, inputs)
    return capital(sentence) if sentence else None


NEARLY = "is nearly right"  # said only if it holds for every wrong result


def symptom_of_arrays(ours: np.ndarray, theirs: np.ndarray, the: str, exercise: Exercise, inputs: tuple) -> str | None:
    if theirs.dtype.kind == "b":
        if (ours == ~theirs).all() and theirs.any() and not theirs.all():
            return f"{the} is True wherever it should be False, and False wherever it should be True."
        return f"{the} differs from the expected one in {int((ours != theirs).sum())} of {theirs.size} places."
    for name, value in zip(exercise.inputs, inputs, strict=False):
        if is_array(value) and family(value) == "float" and alike_numbers(ours, numbers(value)):
            return f"{the} is just the input `{name}`."
    if not np.isfinite(ours).all() or not np.isfinite(theirs).all():
        return None
    if not ours.any():
        return f"{the} is zero everywhere."
    if theirs.ndim and np.allclose(theirs.sum(-1), 1) and (theirs >= 0).all() and theirs.shape[-1] > 1:
        if not np.allclose(ours.sum(-1), 1, atol=1e-4):
            return f"the rows of {the} do not sum to 1."
        if (np.abs(ours[theirs == 0]) > 1e-12).any():
            return f"{the} gives weight to places that should get exactly 0."
    if not theirs.any():
        return f"{the} should be zero everywhere."
    ratio = float((ours * theirs).sum() / (theirs * theirs).sum())
    if abs(ratio - 1) > 1e-3 and alike_numbers(ours, ratio * theirs):
        times = f"{ratio:.2f}" if abs(ratio - 1) > 5e-3 and abs(ratio) > 5e-3 else f"{ratio:.4f}"
        return f"every number in {the} is {times} times the expected one."
    shift = float((ours - theirs).mean())
    if abs(shift) >= 5e-3 and alike_numbers(ours, theirs + shift):
        return f"every number in {the} is the expected one plus {shift:.2f}.".replace("plus -", "minus ")
    moved = not alike_numbers(ours, theirs)
    if moved and alike_numbers(np.sort(ours, axis=None), np.sort(theirs, axis=None)):
        return f"{the} has the right numbers in the wrong places."
    if np.abs(ours - theirs).max() < 0.02 * np.abs(theirs).max():
        return f"{the} {NEARLY}: look for a small constant, an epsilon or a dtype."
    return None


def alike_numbers(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-4, atol=1e-6)
