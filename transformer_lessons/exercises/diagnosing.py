"""Which mistake is it? The catalogue, run on the same inputs and weights; and the evidence."""

from dataclasses import replace

import numpy as np
import torch

from transformer_lessons.exercises import running
from transformer_lessons.exercises.comparing import (
    beside,
    capital,
    close,
    family,
    is_array,
    numbers,
)
from transformer_lessons.exercises.contract import (
    LAYERS_IN_FORWARD,
    RANDOM,
    at_line,
    fault_beyond_numbers,
    made_in_forward,
    raised,
    repeats,
)
from transformer_lessons.exercises.exercise import recorded_steps
from transformer_lessons.exercises.trials import (
    Finding,
    compare,
    inputs_for,
    make,
    observe,
    same,
    shown_inputs,
)


def diagnose(trial, outcomes, differences, misbuilt=None):
    """The known mistake that gives these outcomes, the nearest first, or the wrong parameters."""
    singles, pairs = trial.exercise.singles(), trial.exercise.pairs()
    return (by_mistake(trial, outcomes, differences, singles, (in_full, where_it_ran, same_errors))
            or by_slip(trial, outcomes, differences)
            or misbuilt
            or by_mistake(trial, outcomes, differences, singles, (in_parts,))
            or by_mistake(trial, outcomes, differences, pairs, (in_full, where_it_ran, in_parts))
            or by_slip_and_mistake(trial, outcomes, differences)
            or by_signs(trial, outcomes, differences))


def by_mistake(trial, outcomes, differences, candidates, ways_to_agree):
    """The first candidate that agrees, in the strictest way that any does."""
    candidates = list(candidates)
    for agrees in ways_to_agree:
        for mistakes, way in candidates:
            if agrees(trial, outcomes, differences, way):
                finding = about(mistakes)
                if agrees is in_parts:
                    finding.why += " " + which_parts(trial, outcomes, differences)
                finding.evidence = evidence(trial, outcomes, differences)
                return finding
    return None


def by_fault(trial, fault):
    """A mistake of the catalogue with the right numbers and the same fault, or the fault itself."""
    name, sentence, look = fault
    for (mistake,), way in trial.exercise.singles():
        theirs = [trial.outcome(way, number) for number in range(len(trial.cases))]
        right = all(one.ok and same(trial.exercise, one.value, expected)
                    for one, expected in zip(theirs, trial.expected, strict=True))
        found = trial.fault(way, fault_beyond_numbers) if right else None
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
    whys = " ".join(mistake.why for mistake in mistakes)
    return Finding(f"two mistakes at once: {names}.", names, whys, (), first.look, first.hint)


def which_parts(trial, outcomes, differences):
    """Which of the results are wrong, and which right."""
    names = trial.exercise.returns
    cases = [(outcome.value, expected) for outcome, expected, found
             in zip(outcomes, trial.expected, differences, strict=True) if found]
    wrong = {name for value, expected in cases
             for name, one, other in zip(names, value, expected, strict=True)
             if not same(trial.exercise, one, other)}
    right = [f"`{name}`" for name in names if name not in wrong]
    if not right:
        return ""
    wrong = [f"`{name}`" for name in names if name in wrong]
    return f"Only {' and '.join(wrong)} is wrong; {' and '.join(right)} is right."


# When does a mistake agree with an answer?


def in_full(trial, outcomes, differences, way):
    """The same on every case: values, errors and touched inputs."""
    wrong = wrong_cases(outcomes, differences)
    for number in [*wrong, *(n for n in range(len(outcomes)) if n not in wrong)]:
        ours, theirs = outcomes[number], trial.outcome(way, number)
        if ours.kind != theirs.kind or ours.touched != theirs.touched or apart(trial.exercise, ours, theirs):
            return False
        if ours.ok and not same(trial.exercise, ours.value, theirs.value):
            return False
    return bool(wrong)


def where_it_ran(trial, outcomes, differences, way):
    """The same wherever both gave a value; one or both may raise elsewhere."""
    agreed = missed = 0
    wrong = [n for n, found in enumerate(differences) if found]
    if not wrong:
        return False
    for number in [*wrong, *(n for n in range(len(outcomes)) if n not in wrong)]:
        ours, theirs = outcomes[number], trial.outcome(way, number)
        if ours.ok and theirs.ok:
            if apart(trial.exercise, ours, theirs) or not same(trial.exercise, ours.value, theirs.value):
                return False
            agreed += number in wrong
        else:
            missed += ours.ok
    return agreed > 0 and (not missed or agreed > 1)


def same_errors(trial, outcomes, differences, way):
    """Raises where the mistake raises, with the same sort of error, and gives the same elsewhere."""
    if not any(one.kind == "raised" for one in outcomes):
        return False
    if any(one.kind != trial.outcome(way, number).kind for number, one in enumerate(outcomes)):
        return False
    theirs = [trial.outcome(way, number) for number in range(len(outcomes))]
    whole = not any(one.ok for one in outcomes)  # then the messages are all there is to go by
    for ours, other in zip(outcomes, theirs, strict=True):
        if ours.ok and not same(trial.exercise, ours.value, other.value):
            return False
        if not ours.ok and (ours.error if whole else ours.error.split(":")[0]) != (
                other.error if whole else other.error.split(":")[0]):
            return False
    return True


def in_parts(trial, outcomes, differences, way):
    """Of several results, each is the mistake's or the right one."""
    if isinstance(trial.exercise.returns, str):
        return False
    count = len(trial.exercise.returns)
    wrong = [n for n, found in enumerate(differences) if found]
    if not wrong:
        return False
    for number in [*wrong, *(n for n in range(len(outcomes)) if n not in wrong)]:
        ours, theirs, right = outcomes[number], trial.outcome(way, number), trial.expected[number]
        if not ours.ok:
            continue
        if not theirs.ok or not (is_list(ours.value, count) and is_list(theirs.value, count)):
            return False
        for mine, mistaken, expected in zip(ours.value, theirs.value, right, strict=True):
            if not same(trial.exercise, mine, mistaken) and not same(trial.exercise, mine, expected):
                return False
    return True


def is_list(value, count):
    return isinstance(value, (tuple, list)) and len(value) == count


def apart(exercise, ours, theirs):
    """Surely not the same: another shape or another first number, seen without comparing the rest."""
    if exercise.same is not None:
        return False
    one, other = glance(ours), glance(theirs)
    if one is None or other is None:
        return False
    (shape, first, _), (other_shape, other_first, largest) = one, other
    return shape != other_shape or abs(first - other_first) > exercise.tolerance * max(1e-3, largest)


def glance(outcome):
    """The shape, first number and largest number of an outcome's last result, kept; None where not plain."""
    if not hasattr(outcome, "glance"):
        value = outcome.value
        last = value[-1] if isinstance(value, (tuple, list)) and value else value
        plain = is_array(last) and family(last) == "float" and not getattr(last, "is_meta", False)
        array = numbers(last) if plain else np.array(())
        finite = array.size > 0 and np.isfinite(array).all()
        outcome.glance = (array.shape, array.item(0), float(np.abs(array).max())) if finite else None
    return outcome.glance


def wrong_cases(outcomes, differences):
    return [n for n, outcome in enumerate(outcomes) if differences[n] or (outcome.ok and outcome.touched)]


# Slips: right or known numbers, wrongly handed over


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
    """Each result in the kind and dtype expected."""
    if isinstance(expected, (tuple, list)) and not isinstance(value, (str, int, float)):
        if not is_list(value, len(expected)) or not all(is_array(one) for one in expected):
            return None
        return tuple(converted(one, other) for one, other in zip(value, expected, strict=True))
    if isinstance(expected, torch.Tensor) and value is not None:
        return torch.as_tensor(value).to(expected.dtype)
    if isinstance(expected, np.ndarray) and value is not None:
        return np.asarray(value).astype(expected.dtype)
    return None


def reshaped(value, expected):
    """Without the dimensions of size 1 that are too many, or with those that are missing."""
    if isinstance(expected, (tuple, list)):
        if not is_list(value, len(expected)):
            return None
        return tuple(one if (new := reshaped(one, other)) is None else new
                     for one, other in zip(value, expected, strict=True))
    if is_array(value) and is_array(expected) and [n for n in value.shape if n > 1] == [
            n for n in expected.shape if n > 1]:
        return value.reshape(tuple(expected.shape))
    return None


def transposed(value, expected):
    if isinstance(value, torch.Tensor) and value.ndim > 1:
        return value.transpose(-2, -1)
    return np.swapaxes(value, -2, -1) if isinstance(value, np.ndarray) and value.ndim > 1 else None

SLIPS = [  # name, how to undo it, what it is, where to look
    ("results in the wrong order", swapped, "The two results come in the wrong order: {names} are expected.",
     "the `return` line."),
    ("only the first result", only_first, "Only `{first}` is returned; both {names} are expected.",
     "the `return` line."),
    ("only the second result", only_second, "Only `{second}` is returned; both {names} are expected.",
     "the `return` line."),
    ("more results than one", first_of_several, "Only the first of the results is asked for.",
     "the `return` line."),
    ("wrong kind of result", converted, "{kind}",
     "what the last operation gives, and how it becomes what is asked."),
    ("wrong number of dimensions", reshaped, "{kind}",
     "dimensions of size 1: which are too many, which are missing?"),
    ("transposed", transposed, "The last two dimensions of the result are swapped.",
     "which dimension asks (rows) and which answers (columns)?"),
]


def undone(trial, outcomes, undo):
    """The outcomes as they would be without a slip, or None where the slip is not one."""
    mended = []
    for outcome, expected in zip(outcomes, trial.expected, strict=True):
        value = None
        if outcome.ok:
            try:
                value = undo(outcome.value, expected)
            except Exception:
                value = None
            if value is None:
                return None
        mended.append(replace(outcome, value=value))
    return mended


def slip_sentence(trial, outcomes, differences, text):
    names = trial.exercise.returns
    names = names if not isinstance(names, str) else (names, names)
    found = next(found for found in differences if found)
    return text.format(names=f"({', '.join(names)})", first=names[0], second=names[-1], kind=found.sentence)


def by_slip(trial, outcomes, differences):
    """The right numbers, wrongly handed over."""
    if not any(differences):
        return None
    for name, undo, text, look in SLIPS:
        mended = undone(trial, outcomes, undo)
        if mended and all(not one.ok or same(trial.exercise, one.value, expected)
                          for one, expected in zip(mended, trial.expected, strict=True)):
            sentence = slip_sentence(trial, outcomes, differences, text)
            return Finding(f"{name}.", name, f"The numbers are right. {sentence}", (), look)
    return None


def by_slip_and_mistake(trial, outcomes, differences):
    """A known mistake's numbers, wrongly handed over."""
    if not any(differences):
        return None
    for name, undo, text, _ in SLIPS:
        mended = undone(trial, outcomes, undo)
        if not mended:
            continue
        changed = [compare(trial.exercise, one.value, expected) if one.ok else None
                   for one, expected in zip(mended, trial.expected, strict=True)]
        finding = by_mistake(trial, mended, changed, trial.exercise.singles(), (in_full, where_it_ran))
        if finding:
            finding.headline = f"{finding.mistake}, and {name}."
            finding.why = f"{finding.why} {slip_sentence(trial, outcomes, differences, text)}"
            return finding
    return None


def by_signs(trial, outcomes, differences):
    """The first mistake that every wrong result bears the signs of, though its numbers are others."""
    exercise, common = trial.exercise, None
    results = zip(trial.cases, outcomes, trial.expected, differences, strict=True)
    for case, outcome, expected, found in results:
        if exercise.signs is None or found is None:
            continue
        try:
            names = list(exercise.signs(outcome.value, expected, *case.inputs))
        except Exception:  # not of the right kind
            return None
        common = names if common is None else [name for name in common if name in names]
    if not common:
        return None
    finding = about((exercise.mistakes[common[0]],))
    number = next(n for n, found in enumerate(differences) if found)
    found, value, expected = differences[number], outcomes[number].value, trial.expected[number]
    shown = symptom(trial, number, value, expected, found) if found.sort == "numbers" else None
    finding.evidence = (*([shown] if shown else []), *evidence(trial, outcomes, differences))
    return finding


# Evidence


def evidence(trial, outcomes, differences):
    """The smallest failing example: the inputs, yours and the expected; and where it raises besides."""
    lines = []
    for number, (outcome, found) in enumerate(zip(outcomes, differences, strict=True)):
        if not found:
            continue
        lines.append(f"With {shown_inputs(trial.exercise, trial.cases[number])}:")
        if found.sort in ("kind", "count", "dtype", "shape"):
            lines.append(found.sentence)
        else:
            ours, theirs, name = outcome.value, trial.expected[number], trial.exercise.returns
            if found.part is not None:
                ours, theirs, name = ours[found.part], theirs[found.part], name[found.part]
            lines += beside(ours, theirs, name, trial.exercise.tolerance, trial.exercise.exact_zeros)
        break
    raised = next((n for n, one in enumerate(outcomes) if one.kind == "raised"), None)
    if raised is not None:
        shown = shown_inputs(trial.exercise, trial.cases[raised])
        lines.append(f"With {shown} it raises {outcomes[raised].error}")
    return tuple(lines)


# No known mistake


def unknown(trial, answer, outcomes, differences, run):
    """No known mistake: what was broken, the smallest failing example, and what the numbers show."""
    exercise = trial.exercise
    number = next((n for n, found in enumerate(differences) if found), None)
    touched = next((one.touched for one in outcomes if one.touched), None)
    raised = next((n for n, one in enumerate(outcomes) if one.kind == "raised"), None)
    if number is None and touched:
        names = " and ".join(f"`{name}`" for name in touched)
        return Finding("it changes its input.", "changes its input",
                       f"The result is right, but {names} {'is' if len(touched) == 1 else 'are'} not as "
                       "before the call: whoever called it loses their numbers.", (),
                       "operations in place: `+=`, `-=`, `*=`, `/=`, `[...] =`, methods that end in _.")
    if number is None and raised is not None:
        return raises(trial, outcomes, raised)
    if number is None:
        first = next(n for n, one in enumerate(outcomes) if not one.ok)
        return Finding("it gives no result.", None,
                       f"With {shown_inputs(exercise, trial.cases[first])} it returns nothing.")
    found, value, expected = differences[number], outcomes[number].value, trial.expected[number]
    if value is None:
        return Finding("it returns nothing.", "nothing returned",
                       "The function ends without a `return`, or returns None.", (),
                       "does it end in `return …`, on every path?")
    headline, name = CONTRACT[found.sort]
    why = found.sentence
    if found.sort in ("kind", "count", "dtype", "shape"):
        shown = shown_inputs(exercise, trial.cases[number])
        return Finding(headline, name, found.sentence, (f"That was with {shown}.",))
    if not repeats(trial, answer, number, value, run):
        if exercise.is_module and made_in_forward(trial, answer, run):
            return replace(LAYERS_IN_FORWARD)
        return Finding("different every time.", "different every time", RANDOM[0], (), RANDOM[1])
    if found.sort == "numbers":
        why = symptom(trial, number, value, expected, found) or why
    parting = parting_of_results(exercise, value, expected) or parting_of_steps(trial, answer, number, run)
    shown = evidence(trial, outcomes, differences)
    return Finding(headline, name, f"{why} {parting}".strip(), shown)


CONTRACT = {  # what the contract says of a result, and what it is called when the result does not keep to it
    "numbers": ("the numbers are not right.", None),
    "finite": ("not every number is finite.", "not finite"),
    "shape": ("the shape is not right.", "wrong shape"),
    "dtype": ("the dtype is not right.", "wrong dtype"),
    "count": ("it returns the wrong kind of thing.", "wrong number of results"),
    "kind": ("it returns the wrong kind of thing.", "wrong kind of result"),
}


def raises(trial, outcomes, number):
    """It raises, and wherever it does not, it is right."""
    exercise, outcome = trial.exercise, outcomes[number]
    why = f"With {shown_inputs(exercise, trial.cases[number])} it raises {outcome.error}"
    name, look = raised(outcome.error)
    look = look or "print the shapes just before that line."
    if any(one.ok for one in outcomes):
        look = "what is different about these sizes? Where it runs, the result is right."
    return Finding("it raises an error.", name, why, at_line(outcome), look, None)


def parting_of_results(exercise, value, expected):
    """Of several results, which are right already."""
    if isinstance(exercise.returns, str) or not is_list(value, len(exercise.returns)):
        return ""
    right = [f"`{name}`" for name, one, other in zip(exercise.returns, value, expected, strict=True)
             if same(exercise, one, other)]
    return f"{' and '.join(right)} {'is' if len(right) == 1 else 'are'} right." if right else ""


def parting_of_steps(trial, answer, number, run):
    """The first step whose right numbers do not appear in the learner's computation."""
    exercise, case = trial.exercise, trial.cases[number]
    if exercise.steps is None or not exercise.parting:
        return ""
    steps = recorded_steps(exercise.steps, case, lambda right: observe(exercise, right, case, trial.dtype))
    recorder = running.Recorder()

    def call():
        inputs = inputs_for(trial, case)
        target = make(exercise, answer, case, trial.dtype, inputs)
        with recorder:
            target(*inputs)

    run(call)
    seen = [*tensors_in(tuple(inputs_for(trial, case))), *recorder.seen]  # a step may hand on an input
    ours = [np.sort(numbers(one), axis=None) for one in seen]
    steps = [(name, [np.sort(numbers(one), axis=None) for one in tensors_in(value)]) for name, value in steps]
    steps = [(name, tensors) for name, tensors in steps if tensors]

    def there(right):
        return any(one.dtype.kind == right.dtype.kind and close(one, right, exercise.tolerance)
                   for one in ours)

    found = [all(there(one) for one in tensors) for _, tensors in steps]
    last = max((n for n, is_there in enumerate(found) if is_there), default=-1)
    if last + 1 == len(steps) or not {one.size for one in steps[last + 1][1]} & {one.size for one in ours}:
        return ""
    name = steps[last + 1][0]
    return f"Up to `{steps[last][0]}` all is right; `{name}` is where it parts." if last >= 0 else (
        f"It parts at the first step already, `{name}`.")


def tensors_in(value):
    """A step's tensors: it may give several."""
    several = value if isinstance(value, (tuple, list)) else [value]
    return [one for one in several if isinstance(one, torch.Tensor)]


def symptom(trial, number, value, expected, found):
    """One sentence on what the numbers themselves show, or None."""
    exercise, inputs = trial.exercise, trial.cases[number].inputs
    for test in exercise.symptoms:
        try:
            sentence = test(value, expected, *inputs)
        except Exception:
            sentence = None
        if sentence:
            return sentence
    name = exercise.returns
    if found.part is not None:
        value, expected, name = value[found.part], expected[found.part], name[found.part]
    if not (is_array(value) and is_array(expected)):
        return None
    the = "the result" if name == "result" else f"`{name}`"
    sentence = symptom_of_arrays(numbers(value), numbers(expected), the, exercise, inputs)
    return capital(sentence) if sentence else None


def symptom_of_arrays(ours, theirs, the, exercise, inputs):
    if theirs.dtype.kind == "b":
        if (ours == ~theirs).all():
            return f"{the} is True where it should be False, and the other way round, everywhere."
        return f"{the} differs from the expected in {int((ours != theirs).sum())} of {theirs.size} places."
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
        return f"every number of {the} is {times} times the expected one."
    shift = float((ours - theirs).mean())
    if abs(shift) >= 5e-3 and alike_numbers(ours, theirs + shift):
        return f"every number of {the} is the expected one plus {shift:.2f}.".replace("plus -", "minus ")
    moved = not alike_numbers(ours, theirs)
    if moved and alike_numbers(np.sort(ours, axis=None), np.sort(theirs, axis=None)):
        return f"{the} holds the right numbers, in other places."
    if np.abs(ours - theirs).max() < 0.02 * np.abs(theirs).max():
        return f"{the} is nearly right: look for a small constant, an epsilon or a dtype."
    return None


def alike_numbers(one, other):
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-4, atol=1e-6)
