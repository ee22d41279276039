"""What is said where no known mistake fits: only what is certain."""

from collections.abc import Mapping
from typing import Any

from transformer_lessons.exercises.checker.agreement import Seen, is_list
from transformer_lessons.exercises.checker.beyond_numbers import different_every_time, kept_besides_weights, repeats
from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.contract import LAYERS_IN_FORWARD, made_in_forward, name_of_error
from transformer_lessons.exercises.checker.distributions import Chances
from transformer_lessons.exercises.checker.draws import same, shown_inputs
from transformer_lessons.exercises.checker.evidence import NEARLY, WITHOUT_NUMBERS, symptom, these, with_evidence
from transformer_lessons.exercises.checker.exercise import Exercise
from transformer_lessons.exercises.checker.finding import Finding
from transformer_lessons.exercises.checker.parts import Part
from transformer_lessons.exercises.checker.steps import sentence_on_steps
from transformer_lessons.running.values import is_array, is_number


def unknown(seen: Seen) -> Finding:
    """Where no known mistake fits: what is broken, the smallest failing example, and what the numbers show."""
    exercise, first = seen.exercise, next(iter(seen.wrong), None)
    if first is None:
        return right_where_it_ran(seen)
    difference, value, expected = seen.difference(first), seen.outcomes[first].value, seen.draws.expected[first]
    if value is None:
        return Finding(
            headline="it returns nothing.",
            mistake="nothing returned",
            why="The function ends without a `return`, or returns None.",
            look="does every path through it end in `return …`?",
        )
    headline, name = HEADLINES[difference.sort]
    if difference.sort in WITHOUT_NUMBERS:
        shown = Part("example", f"That was with {shown_inputs(exercise, seen.draws.cases[first])}.")
        steps = sentence_on_steps(seen) if difference.sort == "shape" else ""
        why = f"{difference.sentence} {steps}".strip()
        return Finding(headline=headline, mistake=name, why=why, evidence=(shown,))
    if not isinstance(expected, Chances) and not repeats(seen.draws, seen.answer, first, value, seen.run):
        if exercise.is_module and made_in_forward(seen.draws, seen.answer, seen.run):
            return LAYERS_IN_FORWARD
        return kept_besides_weights(seen.draws, seen.answer, seen.run) or different_every_time(exercise)
    other_keys = isinstance(value, Mapping) and isinstance(expected, Mapping) and value.keys() != expected.keys()
    if difference.sort == "numbers" and (other_keys or not holds_numbers(expected)):
        headline = "the result is not right."
    why = (shown_by_numbers(seen) if difference.sort == "numbers" else None) or difference.sentence
    also = right_results(exercise, value, expected) or sentence_on_steps(seen)
    return with_evidence(Finding(headline=headline, mistake=name, why=f"{why} {also}".strip()), seen)


def right_where_it_ran(seen: Seen) -> Finding:
    """No result is wrong, but inputs are changed, or some calls raise or give nothing."""
    exercise, outcomes = seen.exercise, seen.outcomes
    changed = next((outcome.changed_inputs for outcome in outcomes if outcome.changed_inputs), None)
    if changed:
        names = these([f"`{name}`" for name in changed])
        return Finding(
            headline="it changes its input.",
            mistake="changes its input",
            why=f"The result is right, but {names} different after the call: the caller has lost the original values.",
            look=in_place(seen.draws.cases[0].inputs),
        )
    raising = next((number for number, outcome in enumerate(outcomes) if outcome.kind == "raised"), None)
    if raising is not None:
        return raises(seen, raising)
    empty = next(number for number, outcome in enumerate(outcomes) if not outcome.ok)
    shown = shown_inputs(exercise, seen.draws.cases[empty])
    return Finding(headline="it gives no result.", why=f"With {shown} it raises NotImplementedError, or returns `...`.")


def shown_by_numbers(seen: Seen) -> str | None:
    """What the numbers of the first wrong case show; “nearly right” only if it holds for every wrong case."""
    told = [symptom(seen, number) for number in seen.wrong if seen.difference(number).sort == "numbers"]
    if told[0] and NEARLY in told[0] and not all(sentence and NEARLY in sentence for sentence in told):
        return None
    return told[0]


def holds_numbers(value: object) -> bool:
    """Is it an array, a number, or a tuple or mapping of these? A list of bytes is not."""
    if isinstance(value, (tuple, Mapping)):
        return all(map(holds_numbers, value.values() if isinstance(value, Mapping) else value))
    return is_array(value) or is_number(value)


def in_place(inputs: tuple) -> str:
    """Where to look for an operation that changes inputs of these kinds."""
    if any(is_array(value) for value in inputs):
        return "in-place operations: `+=`, `-=`, `*=`, `/=`, `[...] =`, methods that end in _."
    return "in-place operations: `[...] =`, `+=`, `del`, and methods such as `append`, `insert`, `pop` and `update`."


HEADLINES = {  # the sort of difference → headline, and name
    "numbers": ("the numbers are not right.", None),
    "finite": ("not every number is finite.", "not finite"),
    "shape": ("the shape is not right.", "wrong shape"),
    "ids": ("some ids belong to no token.", "no such token"),
    "dtype": ("the dtype is not right.", "wrong dtype"),
    "count": ("it returns the wrong kind of thing.", "wrong number of results"),
    "kind": ("it returns the wrong kind of thing.", "wrong kind of result"),
}


def raises(seen: Seen, number: int) -> Finding:
    """It raises an error on some inputs, and is right on all others."""
    outcome = seen.outcomes[number]
    why = f"With {shown_inputs(seen.exercise, seen.draws.cases[number])} it raises {outcome.error}"
    name, look = name_of_error(outcome.error)
    if any(one.ok for one in seen.outcomes):
        look = f"{look or 'what is different about these inputs?'} Where it ran, the result was right."
    elif any(map(is_array, seen.draws.cases[number].inputs)):
        look = look or "print the shapes just before that line."
    return Finding(
        headline="it raises an error.", mistake=name, why=why, error=outcome.error, line=outcome.line, look=look
    )


def right_results(exercise: Exercise, value: Any, expected: Any) -> str:
    """Which of several results are right already, and not just near enough to pass."""
    if isinstance(exercise.setup.returns, str) or not is_list(value, len(exercise.setup.returns)):
        return ""
    right = [
        f"`{name}`"
        for name, one, other in zip(exercise.setup.returns, value, expected, strict=True)
        if same(exercise, one, other) and (exercise.setup.same or alike(one, other, exercise.setup.tolerance / 20))
    ]
    return f"{these(right)} right." if right else ""
