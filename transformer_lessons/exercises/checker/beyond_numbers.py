"""What the contract asks of an answer with right numbers: called again or trained, it must still be right."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np
import torch
from torch import nn

from transformer_lessons.exercises.checker.comparison import comparable
from transformer_lessons.exercises.checker.draws import (
    Draws,
    inputs_for,
    make,
    observe,
    once_for_draws,
    same,
)
from transformer_lessons.exercises.checker.exercise import Case, Exercise
from transformer_lessons.exercises.checker.finding import Finding, named
from transformer_lessons.exercises.checker.weights import of_the_contract, parameters
from transformer_lessons.running.sandbox import Outcome
from transformer_lessons.running.values import freeze, is_array


def fault_beyond_numbers(draws: Draws, answer: Callable, run: Callable) -> Finding | None:
    """The first fault that the numbers do not show."""
    return next(filter(None, faults(draws, answer, run)), None)


def faults(draws: Draws, answer: Callable, run: Callable) -> Iterator[Finding | None]:
    """What each inspection finds, one after another; what comes after a fault is no longer looked at."""
    exercise = draws.exercise
    middle = len(draws.cases) // 2
    again = called_again(draws, answer, middle, run)
    yield fault_of_another_call(again)
    if not same(exercise, again.value, draws.expected[middle]):
        yield different_every_time(exercise)
    if exercise.is_module:
        yield found_by(repeated, draws, answer, draws.cases[middle], run=run)
        yield found_by(trained, draws, answer, draws.cases[middle], run=run)
    yield wrong_with_others(draws, answer, run)
    if exercise.gradients and not exercise.is_module:
        for case in draws.cases:
            yield differentiated(draws, answer, case, run)
    yield from found_by_checks(draws, answer, run)


def found_by_checks(draws: Draws, answer: Any, run: Callable) -> Iterator[Finding | None]:
    """What each of the exercise's own checks finds on each case."""
    for check in draws.exercise.setup.checks:
        for case in draws.cases:
            yield found_by(checked, draws, answer, case, check, run=run)


def found_by(inspection: Callable, *inputs, run: Callable) -> Finding | None:
    """What an inspection finds, or what is wrong if it does not come to its end."""
    outcome = run(lambda: inspection(*inputs))
    return fault_of_another_call(outcome) or outcome.value


def fault_of_another_call(outcome: Outcome) -> Finding | None:
    """What is wrong with a further call, or a backward pass, that does not come to its end."""
    if outcome.kind == "endless":
        return named("endless", "The numbers are right, but another call did not finish in time.")
    if outcome.ok:
        return None
    error = outcome.error or "NotImplementedError, or returns `...`"  # as an exercise that is still to be written
    why = f"The numbers are right, but a later call or backward pass raises {error}"
    return named("raises an error", why, error=outcome.error, line=outcome.line)


# Called again


def different_every_time(exercise: Exercise) -> Finding:
    """What is said where a second call with the same inputs gives something else."""
    look = (
        "what in it is random? Dropout must do nothing in eval mode."
        if exercise.is_module
        else (
            "what in it is random, or kept from one call to the next, such as a global variable or a default argument?"
        )
    )
    return named(
        "different every time", "Called twice with the same inputs, it gives two different results.", look=look
    )


def kept_besides_weights(draws: Draws, answer: Any, run: Callable) -> Finding | None:
    """What is said where each module repeats itself, but two modules with the same weights differ."""
    outcomes = [run(lambda case=case: repeated(draws, answer, case)) for case in draws.cases]
    if not draws.exercise.is_module or any(not outcome.ok or outcome.value for outcome in outcomes):
        return None
    return named(
        "something kept besides the weights",
        "Each module gives the same result every time, but two modules with the same weights give different ones: "
        "`forward` uses something else that is kept, such as a product of the weights as they were at first.",
        look="what does `__init__` compute, and does `forward` use the weights as they are now?",
    )


def repeats(draws: Draws, answer: Callable, case_number: int, value: object, run: Callable) -> bool:
    """Does another call, with a different random seed, give the same value?"""
    again = called_again(draws, answer, case_number, run)
    return not again.ok or same(draws.exercise, again.value, value)


def called_again(draws: Draws, answer: Callable, case_number: int, run: Callable) -> Outcome:
    """The outcome of another call with the same inputs, and with a different random seed."""
    exercise, case = draws.exercise, draws.cases[case_number]
    return observe(exercise, answer, case, draws.dtype, lambda call: run(lambda: reseeded(call)))


def reseeded(call: Callable) -> Callable:
    torch.random.default_generator.manual_seed(1)
    np.random.seed(1)
    return call()


def repeated(draws: Draws, answer: Any, case: Case) -> Finding | None:
    """Does a module give the same result on a second call?"""
    inputs = inputs_for(draws, case)
    module = make(draws.exercise, answer, case, draws.dtype, inputs)
    first = freeze(module(*inputs))
    if same(draws.exercise, freeze(module(*inputs)), first):
        return None
    return named(
        "different on a second call",
        "Calling the same module again, with the same inputs, gives a different result.",
        look="what does `forward` change in `self`?",
    )


KEPT = "something kept from the first call"


def wrong_with_others(draws: Draws, answer: Any, run: Callable) -> Finding | None:
    """What is wrong with other inputs of the same sizes; a mistake on the page that a check is sure of goes before."""
    findings = (called_with_others(draws, answer, case_number, run) for case_number in range(len(draws.cases)))
    found = next(filter(None, findings), None)
    if found is None or found.mistake == KEPT:
        return found
    known = (finding for finding in found_by_checks(draws, answer, run) if finding)
    return next((finding for finding in known if finding.mistake in draws.exercise.mistakes), found)


def called_with_others(draws: Draws, answer: Any, case_number: int, run: Callable) -> Finding | None:
    """Is an answer right when it is called again, with other inputs of the same sizes?

    What it keeps by the sizes of its inputs is then wrong. So is what it keeps by the tensors that hold them, once
    these very tensors hold the other inputs.
    """
    exercise, case = draws.exercise, draws.cases[case_number]
    other, expected = with_other_inputs(draws)[case_number]
    inputs = inputs_for(draws, case)

    def made_and_called():
        target = make(exercise, answer, case, draws.dtype, inputs)
        return target, result_of(exercise, target, inputs)

    first = run(made_and_called)
    if not first.ok:
        return fault_of_another_call(first)
    target, before = first.value
    ways = [lambda: list(map(refill, inputs, inputs_for(draws, other)))]
    if exercise.is_module:  # a new one, which may keep the very tensors; a function has seen copies of them before
        ways.insert(0, lambda: inputs_for(draws, other))
    for others in ways:
        again = run(lambda others=others: result_of(exercise, target, others()))
        if not again.ok:
            return fault_of_another_call(again)
        if not same(exercise, again.value, expected):
            anew = observe(exercise, answer, other, draws.dtype, run)
            is_kept = same(exercise, again.value, before) or (anew.ok and same(exercise, anew.value, expected))
            return wrong_again(exercise, KEPT if is_kept else "wrong with other inputs")
    return None


def wrong_again(exercise: Exercise, mistake: str) -> Finding:
    """What is said where an answer is right at first, and then wrong with other inputs."""
    look = (
        "what does `forward` keep, in `self` or elsewhere?"
        if exercise.is_module
        else "what is kept from one call to the next, such as in a global variable or a default argument?"
    )
    why = "The first call gives the right numbers, but a second one, with different inputs of the same sizes, does not."
    return named(mistake, why, look=look)


@once_for_draws
def with_other_inputs(draws: Draws) -> list[tuple[Case, Any]]:
    """Each case with other inputs of the same sizes, for a module that has the same weights, and what is expected."""
    exercise, later = draws.exercise, draws.exercise.cases(draws.seed + 1)
    others = [replace(case, inputs=another.inputs) for case, another in zip(draws.cases, later, strict=True)]
    return [(other, observe(exercise, exercise.reference, other, draws.dtype).value) for other in others]


def result_of(exercise: Exercise, target: Callable, inputs: list) -> object:
    """What is compared of one call."""
    return freeze(exercise.setup.observe(target, *inputs) if exercise.setup.observe else target(*inputs))


def refill(old: Any, new: Any) -> Any:
    """The old tensor or array with the numbers of the new one; where it cannot hold them, the new one."""
    if not is_array(old) or type(old) is not type(new) or (old.shape, old.dtype) != (new.shape, new.dtype):
        return new
    with torch.no_grad():
        old[...] = new
    return old


def checked(draws: Draws, answer: Any, case: Case, check: Callable) -> Finding | None:
    """What one of the exercise's own checks says: a sentence, or (name, sentence, where to look)."""
    inputs = inputs_for(draws, case)
    said = check(make(draws.exercise, answer, case, draws.dtype, inputs), *inputs)
    if isinstance(said, tuple):
        name, sentence, look = said
        return named(name, sentence, look=look)
    return Finding(headline=said, mistake=said) if said else None


# Gradients

LOOK_BACK = (
    "`.detach()`, `.data`, `.item()`, `nn.Parameter(…)`, `torch.no_grad()`, `torch.tensor()` and NumPy cut "
    "the gradient."
)


def trained(draws: Draws, answer: Any, case: Case) -> Finding | None:
    """Does it run in training mode, and do every weight and input get the right gradient?"""
    exercise = draws.exercise
    inputs = inputs_for(draws, case)
    module: nn.Module = make(exercise, answer, case, draws.dtype, inputs)
    in_eval, in_training = freeze(module(*inputs)), freeze(module.train()(*inputs_for(draws, case)))
    if not comparable(in_training, in_eval):
        return named(
            "another kind of result in training mode",
            "In training mode it returns something of another kind or shape than in eval mode.",
            look="each place that uses `self.training`.",
        )
    return fault_of_gradients(draws, case, *forwards(draws, answer, case)) if exercise.gradients else None


def differentiated(draws: Draws, answer: Any, case: Case, run: Callable) -> Finding | None:
    """Does every float input of a function get the right gradient?"""
    outcome = run(lambda: forwards(draws, answer, case))
    if outcome.ok:
        leaves, results = outcome.value
        outcome = run(lambda: fault_of_gradients(draws, case, leaves, results))
    if outcome.kind == "raised" and "numpy()" in outcome.error:
        return named(
            "no gradient",
            "The numbers are right, but NumPy computes them, and no gradient flows through NumPy, so "
            "nothing that comes before it would ever learn.",
            look=LOOK_BACK,
        )
    if outcome.kind == "raised" and "inplace" in outcome.error.replace("-", ""):
        return named(
            "no gradient",
            "The numbers are right, but no gradient can be computed: a tensor that the gradient "
            "depends on has been overwritten.",
            look="`+=`, `/=`, `[...] =` and methods that end in _ overwrite what a tensor holds.",
        )
    return fault_of_another_call(outcome) or outcome.value


def fault_of_gradients(draws: Draws, case: Case, leaves: dict, results: Any) -> Finding | None:
    """What is wrong with the gradients, compared with those of the right implementation.

    Of several results, all but the first may be detached; those that are do not count.
    """
    several = isinstance(results, (tuple, list))
    judged = [not place or result.requires_grad for place, result in enumerate(results)] if several else None
    ours = backwards(leaves, results, judged)
    right_leaves, expected = forwards(draws, draws.exercise.reference, case)
    theirs = backwards(right_leaves, expected, judged)
    wanted = {name: gradient for name, gradient in theirs.items() if gradient is not None}
    cut = [name for name, gradient in wanted.items() if ours.get(name) is None and gradient.abs().max() > 1e-12]
    if cut:  # a key's bias has none
        who = "it" if draws.exercise.is_module else "what comes before it"
        why = f"The numbers are right, but no gradient reaches {quoted(cut)}: {who} would never learn."
        return named("no gradient", why, look=LOOK_BACK)
    zero = torch.zeros(())
    arrived = {name: zero if ours.get(name) is None else ours[name] for name in wanted}
    lost = [name for name, gradient in arrived.items() if not gradient.isfinite().all()]
    if lost:
        return named(
            "a gradient that is NaN",
            f"The numbers are right, but the gradient of {quoted(lost)} is not: it holds NaN or "
            "infinity, and so would every weight after one step.",
            look="what becomes infinite, or is divided by 0, along the way, and is only fixed afterwards?",
        )
    scale = max((float(gradient.abs().max()) for gradient in wanted.values()), default=0.0)
    bar = 1e-3 * max(scale, 1e-6)
    wrong = [name for name, gradient in wanted.items() if float((arrived[name] - gradient).abs().max()) > bar]
    if wrong:
        return named(
            "wrong gradient",
            f"The numbers are right, but the gradient of {quoted(wrong)} is not: something is cut off or "
            "changed on the way back.",
            look=LOOK_BACK,
        )
    return None


def quoted(names: list) -> str:
    """The first name, and how many more there are."""
    return f"`{names[0]}`" + (f" (and {len(names) - 1} more)" if len(names) > 1 else "")


def forwards(draws: Draws, answer: Any, case: Case) -> tuple[dict, Any]:
    """Parameters and float inputs by name, and the result of a call with them."""
    exercise = draws.exercise
    inputs = inputs_for(draws, case)
    target = make(exercise, answer, case, draws.dtype, inputs)
    wanted = of_the_contract(exercise.reference, case.build) if exercise.is_module else ()
    leaves = parameters(target, wanted) if exercise.is_module else {}
    for name, value in zip(exercise.inputs, inputs, strict=False):
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            leaves[name] = value.requires_grad_()
    with torch.enable_grad():
        return leaves, target(*inputs)


def backwards(leaves: dict, results: Any, judged: list | None) -> dict:
    """The gradients, at the leaves, of a weighted sum of the results that count; None where there is none."""
    total = torch.zeros(())
    for result in compress(results, judged) if judged else [results]:
        weights = torch.linspace(-1.0, 2.0, result.numel(), dtype=result.dtype).reshape(result.shape)
        total = total + (result * weights).sum()
    if not total.requires_grad:
        return {}
    total.backward()
    return {name: leaf.grad for name, leaf in leaves.items()}
