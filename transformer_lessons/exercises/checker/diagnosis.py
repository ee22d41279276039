"""Finds which known mistake gives the same results, and the evidence to show."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import torch

from transformer_lessons.exercises.checker.comparison import (
    Difference,
    alike,
    beside,
    capital,
    family,
    is_array,
    is_number,
    is_plain,
    numbers,
    parts,
)
from transformer_lessons.exercises.checker.contract import (
    LAYERS_IN_FORWARD,
    SHARED,
    at_line,
    different_every_time,
    fault_beyond_numbers,
    made_in_forward,
    raised,
    repeats,
)
from transformer_lessons.exercises.checker.distributions import Chances
from transformer_lessons.exercises.checker.draws import (
    Draws,
    Finding,
    compare,
    same,
    shown_inputs,
)
from transformer_lessons.exercises.checker.sandbox import Outcome
from transformer_lessons.exercises.checker.steps import (
    mistakes_in_parts,
    mistakes_on_the_way,
    sentence_on_steps,
)

MOST_PAIRS = 600  # so that a check stays under a second


def diagnose(
    draws: Draws,
    answer: Callable,
    outcomes: list[Outcome],
    differences: list[Difference | None],
    run: Callable,
    misbuilt: Finding | None = None,
) -> Finding | None:
    """The known mistake that gives these outcomes, the nearest first, or the wrong parameters.

    Shared weights are reported first: with them, even a right `forward` gives the numbers of a wrong one.
    """
    if misbuilt and misbuilt.headline == SHARED:
        return misbuilt
    singles, pairs = draws.exercise.singles, draws.exercise.pairs
    some_raised = any(one.kind == "raised" for one in outcomes)
    right = right_parts(draws, outcomes)
    but_for = (partial(in_parts, right),) if right else ()
    return (
        by_mistake(draws, outcomes, differences, singles, (in_full,))
        or (some_raised and by_pair(draws, outcomes, differences, pairs, (in_full,)))
        or by_mistake(draws, outcomes, differences, singles, (where_it_ran, same_messages, same_errors))
        or by_slip(draws, outcomes, differences)
        or misbuilt
        or by_mistake(draws, outcomes, differences, singles, but_for)
        or by_pair(draws, outcomes, differences, pairs, (in_full, where_it_ran, *but_for))
        or by_slip_and_mistake(draws, outcomes, differences)
        or by_nearest_pairs(draws, answer, outcomes, differences, run)
        or by_signs(draws, outcomes, differences)
    )


def by_mistake(draws, outcomes, differences, candidates, ways_to_agree):
    """The first candidate that agrees with the answer, in the strictest way in which any does."""
    candidates = list(candidates)
    for way in ways_to_agree:
        likely = not_apart(draws, outcomes, differences, candidates) if way is in_full else candidates
        agrees = way(draws, outcomes, differences)
        for mistakes, variant in likely:
            if agrees(variant):
                return found_by(way, draws, outcomes, differences, mistakes)
    return None


def by_pair(draws, outcomes, differences, pairs, ways_to_agree):
    """The first pair that agrees, in the strictest way in which any does, and raises nothing that the answer does not.

    Where draws are compared by their distribution, several pairs may agree, and one mistake of a pair may already
    explain every distribution. Then only the mistakes that all pairs need are certain. If all numbers are NaN, none is.
    """
    if is_nan_throughout(outcomes, differences):
        return None
    for way in ways_to_agree:
        likely = not_apart(draws, outcomes, differences, pairs) if way is in_full else pairs
        agrees = way(draws, outcomes, differences)
        agreeing = (
            (mistakes, variant)
            for mistakes, variant in likely
            if agrees(variant) and raises_no_more(draws, outcomes, variant)
        )
        if is_random(draws):
            needed = [needed_of(draws, outcomes, *pair) for pair in agreeing]
            mistakes = tuple(one for one in needed[0] if all(one in others for others in needed)) if needed else ()
        else:
            mistakes, _ = next(agreeing, ((), None))
        if mistakes:
            return found_by(way, draws, outcomes, differences, mistakes)
    return None


def is_nan_throughout(outcomes, differences):
    """Are the wrong results nothing but NaN? Many mistakes can cause that."""
    found = [parts(outcome.value) for outcome, wrong in zip(outcomes, differences, strict=True) if wrong]
    return bool(found) and all(is_plain(one) and np.isnan(numbers(one)).all() for result in found for one in result)


def needed_of(draws, outcomes, mistakes, pair):
    """Those of two mistakes without which some distribution or error would not be explained."""

    def explained_by(variant):
        theirs = [draws.outcome(variant, number) for number in range(len(outcomes))]
        return all(
            ours.kind == other.kind
            and (not other.ok or not isinstance(expected, Chances) or same(draws.exercise, ours.value, other.value))
            for ours, other, expected in zip(outcomes, theirs, draws.expected, strict=True)
        )

    return tuple(one for one, other in zip(mistakes, reversed(pair.parts), strict=True) if not explained_by(other))


def is_random(draws):
    return any(isinstance(one, Chances) for one in draws.expected)


def raises_no_more(draws, outcomes, variant):
    """Does a variant raise only where the answer raises an error of the same kind?"""
    theirs = (draws.outcome(variant, number) for number in range(len(outcomes)))
    return all(
        other.ok or (ours.kind, ours.error.split(":")[0]) == (other.kind, other.error.split(":")[0])
        for ours, other in zip(outcomes, theirs, strict=True)
    )


def found_by(way, draws, outcomes, differences, mistakes):
    finding = about(mistakes)
    if way not in (in_full, where_it_ran, same_messages, same_errors):
        finding.why += " " + which_parts(draws, outcomes, differences)
    finding.evidence = evidence(draws, outcomes, differences)
    return finding


def by_nearest_pairs(draws, answer, outcomes, differences, run):
    """Two mistakes at once, in any variants: those that show somewhere in the answer or its result."""
    exercise = draws.exercise
    wrong = [n for n, found in enumerate(differences) if found]
    if not wrong:
        return None
    if exercise.observe and not is_random(draws):
        near = product(mistakes_in_parts(draws, outcomes[wrong[0]].value, wrong[0]), exercise.singles)
    else:
        near = product(mistakes_on_the_way(draws, answer, outcomes[wrong[0]], wrong[0], run), exercise.singles)
    pairs = []
    for ((first,), variant), ((second,), another) in near:
        if (variant, another) not in draws.pairs:
            draws.pairs[variant, another] = exercise.pair((first, variant), (second, another))
        if draws.pairs[variant, another]:
            pairs.append(draws.pairs[variant, another])
        if len(pairs) == MOST_PAIRS:
            break
    return by_pair(draws, outcomes, differences, pairs, (in_full, where_it_ran))


def by_fault(draws: Draws, fault: tuple) -> Finding:
    """A known mistake that gives the right numbers but has the same fault; otherwise the fault itself."""
    name, sentence, look = fault
    for (mistake,), variant in draws.exercise.singles:
        theirs = (draws.outcome(variant, number) for number in range(len(draws.cases)))  # up to the first wrong one
        right = all(
            one.ok and not one.changed_inputs and same(draws.exercise, one.value, expected)
            for one, expected in zip(theirs, draws.expected, strict=False)
        )
        found = draws.fault(variant, fault_beyond_numbers) if right else None
        if found and found[:2] == fault[:2]:
            return Finding(mistake.name + ".", mistake.name, mistake.why, (), mistake.look, mistake.hint)
    headline = f"{name}." if name != sentence else sentence
    return Finding(headline, name, sentence if name != sentence else "", (), look)


def about(mistakes):
    """The finding that names a mistake, or two at once."""
    first = mistakes[0]
    if len(mistakes) == 1:
        return Finding(first.name + ".", first.name, first.why, (), first.look, first.hint)
    names = " and ".join(mistake.name for mistake in mistakes)
    whys = " ".join(["Taken one at a time:", *(mistake.why for mistake in mistakes)])
    return Finding(f"two mistakes at once: {names}.", names, whys, (), first.look, first.hint)


def which_parts(draws, outcomes, differences):
    """Which of the results are wrong, and which right."""
    names = draws.exercise.returns
    cases = [
        (outcome.value, expected)
        for outcome, expected, found in zip(outcomes, draws.expected, differences, strict=True)
        if found
    ]
    wrong = {
        name
        for value, expected in cases
        for name, one, other in zip(names, value, expected, strict=True)
        if not same(draws.exercise, one, other)
    }
    right = [f"`{name}`" for name in names if name not in wrong]
    if not right:
        return ""
    wrong = [f"`{name}`" for name in names if name in wrong]
    return f"Only {these(wrong)} wrong; {these(right)} right."


def these(names):
    """`a` is, or `a` and `b` are."""
    return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'}"


# When does a mistake agree with an answer? Each of these makes a function to be called with one variant after another.


def not_apart(draws, outcomes, differences, candidates):
    """The candidates that may agree in full, going by a glance at the first wrong case; most cannot."""
    first = next(iter(wrong_cases(outcomes, differences)), None)
    if first is None:
        return
    ours, known = outcomes[first], draws.known
    for mistakes, variant in candidates:
        theirs = known.get((variant, first)) or draws.outcome(variant, first)
        if ours.kind == theirs.kind and not apart(draws.exercise, ours, theirs):
            yield mistakes, variant


def in_full(draws, outcomes, differences):
    """The same on every case: values, errors and changed inputs."""
    wrong = wrong_cases(outcomes, differences)
    order = these_first(wrong, outcomes)

    def agrees(variant):
        for number in order:
            ours, theirs = outcomes[number], draws.outcome(variant, number)
            if ours is theirs:  # one that is known already
                continue
            if (ours.kind, ours.changed_inputs) != (theirs.kind, theirs.changed_inputs):
                return False
            if apart(draws.exercise, ours, theirs):
                return False
            if ours.ok and not same(draws.exercise, ours.value, theirs.value):
                return False
        return bool(wrong)

    return agrees


def where_it_ran(draws, outcomes, differences):
    """The same wherever both gave a value; one or both may raise elsewhere. A single draw is no evidence."""
    wrong = [n for n, found in enumerate(differences) if found]
    order = these_first(wrong, outcomes)

    def agrees(variant):
        agreed = missed = 0
        for number in order if wrong else ():
            ours, theirs = outcomes[number], draws.outcome(variant, number)
            if ours.ok and theirs.ok:
                if apart(draws.exercise, ours, theirs) or not same(draws.exercise, ours.value, theirs.value):
                    return False
                agreed += number in wrong
            else:
                missed += ours.ok
        return agreed > (1 if missed or is_random(draws) else 0)

    return agrees


def these_first(numbers, outcomes):
    """The numbers of all cases, starting with these, which tell most variants from the answer."""
    return [*numbers, *(n for n in range(len(outcomes)) if n not in numbers)]


def same_messages(draws, outcomes, differences):
    """Raises exactly the mistake's errors, and gives the same results elsewhere."""
    agrees = same_errors(draws, outcomes, differences)
    return lambda variant: (
        agrees(variant)
        and all(ours.error == draws.outcome(variant, number).error for number, ours in enumerate(outcomes))
    )


def same_errors(draws, outcomes, differences):
    """Raises where the mistake raises, with the same sort of error, and gives the same results elsewhere."""
    some_raised = any(one.kind == "raised" for one in outcomes)
    whole = not any(one.ok for one in outcomes)  # then only the messages can be compared

    def agrees(variant):
        if not some_raised or any(one.kind != draws.outcome(variant, n).kind for n, one in enumerate(outcomes)):
            return False
        for number, ours in enumerate(outcomes):
            other = draws.outcome(variant, number)
            if ours.ok and not same(draws.exercise, ours.value, other.value):
                return False
            if not ours.ok and (ours.error if whole else sort_of(ours.error)) != (
                other.error if whole else sort_of(other.error)
            ):
                return False
        return True

    return agrees


def sort_of(error):
    """The type of an error, or all of it if `view` has failed: a RuntimeError may be anything."""
    return error if "view size" in error else error.split(":")[0]


def right_parts(draws, outcomes):
    """Which of several results are right wherever the answer gives any."""
    names = draws.exercise.returns
    given = [(one.value, expected) for one, expected in zip(outcomes, draws.expected, strict=True) if one.ok]
    if isinstance(names, str) or not all(is_list(value, len(names)) for value, _ in given):
        return ()
    return [
        part
        for part in range(len(names))
        if all(same(draws.exercise, value[part], expected[part]) for value, expected in given)
    ]


def in_parts(right, draws, outcomes, differences):
    """These parts are always right, and each of the others is either the mistake's or right."""
    wrong = [n for n, found in enumerate(differences) if found]
    order = these_first(wrong, outcomes)

    def agrees(variant):
        for number in order:
            ours, theirs, expected = outcomes[number], draws.outcome(variant, number), draws.expected[number]
            if not ours.ok:
                continue
            if not theirs.ok or not is_list(theirs.value, len(expected)):
                return False
            for part, mine in enumerate(ours.value):
                if part not in right and not any(
                    same(draws.exercise, mine, other[part]) for other in (theirs.value, expected)
                ):
                    return False
        return bool(wrong)

    return agrees


def is_list(value, count):
    return isinstance(value, (tuple, list)) and len(value) == count


def apart(exercise, ours, theirs):
    """Are they certainly different, going by their shapes and one sum alone?"""
    if exercise.same is not None:
        return False
    one, other = ours.glance, theirs.glance
    if one is None or other is None:  # only one has a glance: a plain number can equal an array without dimensions
        shapes, *_ = one or other or [()]
        return bool(shapes) and all(shape for shape, _ in shapes)
    (shapes, total, slack), (other_shapes, other_total, other_slack) = one, other
    return shapes != other_shapes or abs(total - other_total) > exercise.tolerance * max(slack, other_slack) + 1e-9


def wrong_cases(outcomes, differences):
    return [n for n, outcome in enumerate(outcomes) if differences[n] or (outcome.ok and outcome.changed_inputs)]


# Slips: right or known numbers, returned in the wrong form


def swapped(value, expected):
    return tuple(reversed(value)) if is_list(value, 2) else None


def only_first(value, expected):
    return (value, expected[1]) if is_list(expected, 2) and is_array(value) else None


def only_second(value, expected):
    return (expected[0], value) if is_list(expected, 2) and is_array(value) else None


def first_of_several(value, expected):
    several = isinstance(value, (tuple, list)) and len(value) > 1 and is_array(expected)
    return value[0] if several and is_array(value[0]) else None


def converted(value, expected):
    """Each result, converted to the kind and dtype expected."""
    if isinstance(expected, (tuple, list)) and not isinstance(value, (str, int, float)):
        if not is_list(value, len(expected)) or not all(is_array(one) for one in expected):
            return None
        return tuple(converted(one, other) for one, other in zip(value, expected, strict=True))
    try:
        if isinstance(expected, torch.Tensor) and value is not None:
            return torch.as_tensor(value).to(expected.dtype)
        if isinstance(expected, np.ndarray) and value is not None:
            return np.asarray(value).astype(expected.dtype)
    except (TypeError, ValueError, RuntimeError, OverflowError):  # what holds no numbers, or none of this kind
        pass
    return None


def reshaped(value, expected):
    """Each result without extra dimensions of size 1, or with the missing ones."""
    if isinstance(expected, (tuple, list)):
        if not is_list(value, len(expected)):
            return None
        return tuple(
            one if (new := reshaped(one, other)) is None else new for one, other in zip(value, expected, strict=True)
        )
    if (
        is_array(value)
        and is_array(expected)
        and [n for n in value.shape if n != 1] == [n for n in expected.shape if n != 1]
    ):
        return value.reshape(tuple(expected.shape))
    return None


def transposed(value, expected):
    if isinstance(value, torch.Tensor) and value.ndim > 1:
        return value.transpose(-2, -1)
    return np.swapaxes(value, -2, -1) if isinstance(value, np.ndarray) and value.ndim > 1 else None


SLIPS = [  # name, how to undo it, what it is, where to look
    (
        "results in the wrong order",
        swapped,
        "The two results are in the wrong order: {names} are expected.",
        "the `return` line.",
    ),
    (
        "only the first result",
        only_first,
        "Only `{first}` is returned; both {names} are expected.",
        "the `return` line.",
    ),
    (
        "only the second result",
        only_second,
        "Only `{second}` is returned; both {names} are expected.",
        "the `return` line.",
    ),
    ("more results than one", first_of_several, "Only the first result should be returned.", "the `return` line."),
    ("wrong kind of result", converted, "{kind}", "what the last operation returns, and how to convert it."),
    ("wrong number of dimensions", reshaped, "{kind}", "dimensions of size 1: are there too many, or too few?"),
    (
        "transposed",
        transposed,
        "The last two dimensions of the result are swapped.",
        "which dimension asks (rows) and which answers (columns)?",
    ),
]


def undone(draws, outcomes, undo):
    """The outcomes with a slip undone, or None if it cannot be undone."""
    corrected = []
    for outcome, expected in zip(outcomes, draws.expected, strict=True):
        value = None
        if outcome.ok:
            value = undo(outcome.value, expected)
            if value is None:
                return None
        corrected.append(replace(outcome, value=value))
    return corrected


def slip_sentence(draws, outcomes, differences, text):
    names = draws.exercise.returns
    names = names if not isinstance(names, str) else (names, names)
    found = next(found for found in differences if found)
    return text.format(names=f"({', '.join(names)})", first=names[0], second=names[-1], kind=found.sentence)


def by_slip(draws, outcomes, differences):
    """The right numbers, returned in the wrong form."""
    if not any(differences):
        return None
    for name, undo, text, look in SLIPS:
        corrected = undone(draws, outcomes, undo)
        if corrected and all(
            not one.ok or same(draws.exercise, one.value, expected)
            for one, expected in zip(corrected, draws.expected, strict=True)
        ):
            sentence = slip_sentence(draws, outcomes, differences, text)
            right = "The" if all(one.ok for one in outcomes) else "Where it ran, the"
            return Finding(f"{name}.", name, f"{right} numbers are right. {sentence}", (), look)
    return None


def by_slip_and_mistake(draws, outcomes, differences):
    """A known mistake's numbers, returned in the wrong form."""
    if not any(differences):
        return None
    for name, undo, text, _ in SLIPS:
        corrected = undone(draws, outcomes, undo)
        shapes = any(found and found.sort == "shape" for found in differences)
        if not corrected or (undo is transposed and not shapes):  # where no shape shows it, nothing is certain
            continue
        changed = [
            compare(draws.exercise, one.value, expected) if one.ok else None
            for one, expected in zip(corrected, draws.expected, strict=True)
        ]
        finding = by_mistake(draws, corrected, changed, draws.exercise.singles, (in_full, where_it_ran))
        if finding:
            finding.headline = f"{finding.mistake}, and {name}."
            finding.why = f"{finding.why} {slip_sentence(draws, outcomes, differences, text)}"
            finding.evidence = evidence(draws, outcomes, differences)  # the learner's own shapes and numbers
            return finding
    return None


def by_signs(draws, outcomes, differences):
    """The first mistake whose signs every wrong result shows, though the numbers are different."""
    exercise, common = draws.exercise, None
    results = zip(draws.cases, outcomes, draws.expected, differences, strict=True)
    for case, outcome, expected, found in results:
        names = exercise.signs(outcome.value, expected, *case.inputs) if exercise.signs and found else None
        if names is None:  # this result says nothing
            continue
        names = list(names)
        common = names if common is None else [name for name in common if name in names]
    if not common:
        return None
    finding = about((exercise.mistakes[common[0]],))
    number = next(n for n, found in enumerate(differences) if found)
    found, value, expected = differences[number], outcomes[number].value, draws.expected[number]
    shown = symptom(draws, number, value, expected, found) if found.sort == "numbers" else None
    finding.evidence = (*([shown] if shown else []), *evidence(draws, outcomes, differences))
    return finding


# Evidence


def evidence(draws, outcomes, differences):
    """The smallest failing example: the inputs, and yours beside the expected; and one that raises an error, if any."""
    lines = []
    for number, (outcome, found) in enumerate(zip(outcomes, differences, strict=True)):
        if not found:
            continue
        lines.append(f"With {shown_inputs(draws.exercise, draws.cases[number])}:")
        if found.sort in ("kind", "count", "dtype", "shape", "ids"):
            lines.append(found.sentence)
        else:
            ours, theirs, name = outcome.value, draws.expected[number], draws.exercise.returns
            if found.part is not None:
                ours, theirs, name = ours[found.part], theirs[found.part], name[found.part]
            lines += beside(ours, theirs, name, draws.exercise.tolerance, draws.exercise.exact_zeros)
        break
    raised = next((n for n, one in enumerate(outcomes) if one.kind == "raised"), None)
    if raised is not None:
        shown = shown_inputs(draws.exercise, draws.cases[raised])
        lines.append(f"With {shown} it raises {outcomes[raised].error}")
    return tuple(lines)


# No known mistake


def unknown(
    draws: Draws, answer: Callable, outcomes: list[Outcome], differences: list[Difference | None], run: Callable
) -> Finding:
    """Where no known mistake fits: what is broken, the smallest failing example, and what the numbers show."""
    exercise = draws.exercise
    number = next((n for n, found in enumerate(differences) if found), None)
    changed_inputs = next((one.changed_inputs for one in outcomes if one.changed_inputs), None)
    raised = next((n for n, one in enumerate(outcomes) if one.kind == "raised"), None)
    if number is None and changed_inputs:
        names = these([f"`{name}`" for name in changed_inputs])
        return Finding(
            "it changes its input.",
            "changes its input",
            f"The result is right, but {names} different after the call: the caller has lost the original values.",
            (),
            in_place(draws.cases[0].inputs),
        )
    if number is None and raised is not None:
        return raises(draws, outcomes, raised)
    if number is None:
        first = next(n for n, one in enumerate(outcomes) if not one.ok)
        return Finding(
            "it gives no result.", None, f"With {shown_inputs(exercise, draws.cases[first])} it returns nothing."
        )
    found, value, expected = differences[number], outcomes[number].value, draws.expected[number]
    if value is None:
        return Finding(
            "it returns nothing.",
            "nothing returned",
            "The function ends without a `return`, or returns None.",
            (),
            "does every path through it end in `return …`?",
        )
    headline, name = CONTRACT[found.sort]
    why = found.sentence
    if found.sort in ("kind", "count", "dtype", "shape", "ids"):
        shown = shown_inputs(exercise, draws.cases[number])
        steps = sentence_on_steps(draws, answer, differences, run) if found.sort == "shape" else ""
        return Finding(headline, name, f"{found.sentence} {steps}".strip(), (f"That was with {shown}.",))
    if not isinstance(expected, Chances) and not repeats(draws, answer, number, value, run):
        if exercise.is_module and made_in_forward(draws, answer, run):
            return replace(LAYERS_IN_FORWARD)
        sentence, look = different_every_time(exercise)
        return Finding("different every time.", "different every time", sentence, (), look)
    others = isinstance(value, Mapping) and isinstance(expected, Mapping) and value.keys() != expected.keys()
    if found.sort == "numbers" and (others or not holds_numbers(expected)):
        headline = "the result is not right."
    if found.sort == "numbers":
        told = [
            symptom(draws, n, outcomes[n].value, draws.expected[n], one)
            for n, one in enumerate(differences)
            if one and one.sort == "numbers"
        ]
        here = symptom(draws, number, value, expected, found)
        why = here if here and (NEARLY not in here or all(one and NEARLY in one for one in told)) else why
    also = right_results(exercise, value, expected) or sentence_on_steps(draws, answer, differences, run)
    shown = evidence(draws, outcomes, differences)
    return Finding(headline, name, f"{why} {also}".strip(), shown)


def holds_numbers(value):
    """Is it an array, a number, or a tuple or mapping of these? A list of bytes is not."""
    if isinstance(value, (tuple, Mapping)):
        return all(map(holds_numbers, value.values() if isinstance(value, Mapping) else value))
    return is_array(value) or is_number(value)


def in_place(inputs):
    """Where to look for an operation that changes inputs of these kinds."""
    if any(is_array(value) for value in inputs):
        return "in-place operations: `+=`, `-=`, `*=`, `/=`, `[...] =`, methods that end in _."
    return "in-place operations: `[...] =`, `+=`, `del`, and methods such as `append`, `insert`, `pop` and `update`."


CONTRACT = {  # the sort of difference → headline, and name
    "numbers": ("the numbers are not right.", None),
    "finite": ("not every number is finite.", "not finite"),
    "shape": ("the shape is not right.", "wrong shape"),
    "ids": ("some ids belong to no token.", "no such token"),
    "dtype": ("the dtype is not right.", "wrong dtype"),
    "count": ("it returns the wrong kind of thing.", "wrong number of results"),
    "kind": ("it returns the wrong kind of thing.", "wrong kind of result"),
}


def raises(draws, outcomes, number):
    """It raises an error on some inputs, and is right on all others."""
    exercise, outcome = draws.exercise, outcomes[number]
    why = f"With {shown_inputs(exercise, draws.cases[number])} it raises {outcome.error}"
    name, look = raised(outcome.error)
    if any(one.ok for one in outcomes):
        look = f"{look or 'what is different about these inputs?'} Where it ran, the result was right."
    look = look or "print the shapes just before that line."
    return Finding("it raises an error.", name, why, at_line(outcome), look, None)


def right_results(exercise, value, expected):
    """Which of several results are right already, and not just near enough to pass."""
    if isinstance(exercise.returns, str) or not is_list(value, len(exercise.returns)):
        return ""
    right = [
        f"`{name}`"
        for name, one, other in zip(exercise.returns, value, expected, strict=True)
        if same(exercise, one, other) and (exercise.same or alike(one, other, exercise.tolerance / 20))
    ]
    return f"{these(right)} right." if right else ""


def symptom(draws, number, value, expected, found):
    """One sentence on what the numbers themselves show, or None."""
    exercise, inputs = draws.exercise, draws.cases[number].inputs
    for test in exercise.symptoms:
        if sentence := test(value, expected, *inputs):
            return sentence
    name = exercise.returns
    if found.part is not None:
        value, expected, name = value[found.part], expected[found.part], name[found.part]
    if not (is_array(value) and is_array(expected)):
        return None
    the = "the result" if name == "result" else f"`{name}`"
    sentence = symptom_of_arrays(numbers(value), numbers(expected), the, exercise, inputs)
    return capital(sentence) if sentence else None


NEARLY = "is nearly right"  # said only if it holds for every wrong result


def symptom_of_arrays(ours, theirs, the, exercise, inputs):
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


def alike_numbers(one, other):
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-4, atol=1e-6)
