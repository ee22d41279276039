"""What the contract asks beyond the numbers: an answer that can be called, built, trained and called again."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, compress
from typing import Any

import numpy as np
import torch
from torch import nn

from transformer_lessons.exercises.checker.comparison import freeze, kind_of
from transformer_lessons.exercises.checker.draws import Draws, Finding, inputs_for, make, observe, same
from transformer_lessons.exercises.checker.exercise import Exercise, of_the_contract, parameters
from transformer_lessons.exercises.checker.sandbox import Outcome

METHODS = ("__init__", "forward")


def is_stub(exercise: Exercise, answer: Any) -> bool:
    """Is it a class in which nothing has been written yet?"""
    return (
        exercise.is_module
        and isinstance(answer, type)
        and issubclass(answer, nn.Module)
        and not any(inspect.isfunction(one) for one in vars(answer).values())
        and [getattr(answer, name) for name in METHODS] == [getattr(nn.Module, name) for name in METHODS]
    )


def misfit(exercise: Exercise, answer: object) -> Finding | None:
    """Why an answer cannot be called as the contract says."""
    name = exercise.name
    if isinstance(answer, type) and getattr(answer, "forward", None) is nn.Module.forward:
        return Finding(
            "it has no `forward`.",
            "no forward",
            f"Calling a module runs its `forward`, and {name} does not define one.",
            (),
            "the spelling of the methods' names, and their indentation.",
            None,
        )
    if isinstance(answer, nn.Module) and exercise.is_module:
        return Finding(
            "this is an instance; the class is expected.",
            "an instance for the class",
            f'Pass the class itself: check("{name}", {name}).',
        )
    if not callable(answer):
        wanted = "a class" if exercise.is_module else "a function"
        return Finding(
            f"this is {kind_of(answer)}; {wanted} is expected.",
            "a value for the function",
            f'Pass {name} itself, without calling it: check("{name}", {name}).',
        )
    if exercise.is_module:
        return wrong_arguments(exercise, answer, len(exercise.build), len(exercise.build), exercise.build)
    if isinstance(answer, type):
        return Finding(
            "this is a class; a function is expected.",
            "a class for the function",
            f"Define it with `def {name}({', '.join(exercise.inputs)})`.",
        )
    return wrong_arguments(exercise, answer, exercise.required, len(exercise.inputs), exercise.inputs)


def wrong_arguments(exercise, answer, least, most, names, name=None):
    """Why a signature does not accept the contract's arguments in their order."""
    try:
        signature = inspect.signature(answer)
    except (TypeError, ValueError):
        return None
    for number in {least, most}:
        try:
            signature.bind(*range(number))
        except TypeError:
            wanted = f"{name or exercise.name}({', '.join(names)})"
            return Finding(
                f"it cannot be called as {wanted}.",
                "wrong arguments",
                f"Its parameters are ({', '.join(signature.parameters)}), but it is called with "
                f"{number} argument{'s' * (number != 1)}, in the order {wanted}.",
            )
    return None


def fault_of_building(draws: Draws, answer: Callable, run: Callable) -> Finding | None:
    """What is wrong with how a module is built, or with its parameters."""
    exercise, case = draws.exercise, draws.cases[0]
    call = f"{exercise.name}({', '.join(map(str, case.build))})"
    outcome = run(lambda: answer(*case.build))
    if "Module.__init__() call" in outcome.error:
        return not_set_up(at_line(outcome))
    if outcome.kind == "raised":
        return Finding(
            "it cannot be built.",
            raised(outcome.error)[0],
            f"{call} raises {outcome.error}",
            at_line(outcome),
            raised(outcome.error)[1],
        )
    if not outcome.ok:
        return None
    if not isinstance(outcome.value, nn.Module):
        return Finding(
            "it is not a module.",
            "not a module",
            f"{call} gives {kind_of(outcome.value)}; the class must inherit from nn.Module.",
            hint=None,
        )
    theirs = of_the_contract(exercise.reference, case.build)
    if "_modules" not in vars(outcome.value):
        return not_set_up()
    lazy = nn.parameter.UninitializedParameter
    ours = {
        name: theirs.get(name) if isinstance(one, lazy) else tuple(one.shape)
        for name, one in parameters(outcome.value, theirs).items()
    }
    if ours != theirs and made_in_forward(draws, answer, run):
        return LAYERS_IN_FORWARD
    return (
        wrong_layers(outcome.value, ours, theirs)
        or wrong_parameters(call, ours, theirs)
        or wrong_arguments(
            exercise, outcome.value.forward, exercise.required, len(exercise.inputs), exercise.inputs, "forward"
        )
    )


def not_set_up(evidence=()):
    return Finding(
        "no super().__init__().",
        "no super().__init__()",
        "nn.Module has not been set up: its own `__init__` must run before a layer can be stored.",
        evidence,
        "the first line of `__init__`, including the brackets at its end.",
    )


SHARED = "shared parameters."
LAYERS_IN_FORWARD = Finding(
    "layers made in forward.",
    "layers made in forward",
    "`forward` makes a new layer on every call, with new random weights, so nothing it learns can last.",
    (),
    "which of the two methods runs once, and which on every call?",
    None,
)


def made_in_forward(draws, answer, run):
    """Does a call of the module make parameters?"""
    case, made = draws.cases[0], []

    def call():
        inputs = inputs_for(draws, case)
        module = answer(*case.build).to(draws.dtype)
        with nn.modules.module.register_module_parameter_registration_hook(lambda *one: made.append(one[1])):
            module(*inputs)

    run(call)
    return bool(made)


def wrong_layers(module, ours, theirs):
    """What is wrong with the layers, going by the names and shapes of their parameters."""
    named = {name: id(one) for name, one in module.named_parameters(remove_duplicate=False)}
    if all(name in named for name in theirs) and len({named[name] for name in theirs}) < len(theirs):
        return shared_weights(named, theirs)
    mine, wanted = layers_of(ours), layers_of(theirs)
    missing, extra = ([layer for layer in one if layer not in other] for one, other in ((wanted, mine), (mine, wanted)))
    lists = [name for name, value in vars(module).items() if name[0] != "_" and holds_modules(value)]
    if missing and lists:
        kind = type(vars(module)[lists[0]]).__name__
        return Finding(
            f"layers in a plain {kind}.",
            f"layers in a plain {kind}",
            f"`self.{lists[0]}` is an ordinary {kind}, and "
            "nn.Module does not look inside: the weights in it are never found, and so never "
            "trained.",
            (),
            "which names does the exercise give to the layers?",
            None,
        )
    if missing and not mine:
        return Finding(
            "it has no weights.",
            "no weights",
            "No layer is stored in `self`, and a local variable is gone once `__init__` ends.",
            (),
            "what comes before the name of each layer?",
            None,
        )
    if len(missing) > 1 and len(extra) == 1 and all(wanted[layer] == mine[extra[0]] for layer in missing):
        return one_for_several(extra[0], missing)
    width = sum(wanted[layer].get("weight", (0,))[0] for layer in missing)
    if len(missing) > 1 and len(extra) == 1 and mine[extra[0]].get("weight", (0,))[0] == width:
        return Finding(
            "one wide layer for several.",
            "one wide layer for several",
            f"`{extra[0]}` is as wide as {listed(missing)} together; the exercise asks for separate layers.",
            (),
            "the names of the layers in the exercise.",
            None,
        )
    if missing and not extra:
        are = "is" if len(missing) == 1 else "are"
        return Finding(
            "a layer is missing.",
            "a layer is missing",
            f"{listed(missing)} {are} not there; the exercise asks for a separate layer for each task, "
            "with its own weights.",
            (),
            "the layers in `__init__`, one by one.",
            None,
        )
    if extra and not missing:
        return Finding(
            "a layer too many.",
            "a layer too many",
            f"The exercise has no {listed(extra)}.",
            (),
            "the layers in `__init__`, one by one.",
            None,
        )
    if missing or extra:
        return None
    absent, more = ([name for name in one if name not in other] for one, other in ((theirs, ours), (ours, theirs)))
    if absent and not more and all(name.endswith("bias") for name in absent):
        return Finding(
            "a bias is missing.",
            "a bias is missing",
            f"The exercise asks for {listed(absent)}, but there is none.",
            (),
            "the arguments of each layer.",
            None,
        )
    if more and not absent and all(name.endswith("bias") for name in more):
        return Finding(
            "a bias too many.",
            "a bias too many",
            f"The exercise has no {listed(more)}.",
            (),
            "the arguments of each layer.",
            None,
        )
    return None


def layers_of(parameters):
    """Name of a layer → its parameters' shapes."""
    layers = {}
    for name, shape in parameters.items():
        layer, _, last = name.rpartition(".")
        layers.setdefault(layer or name, {})[last] = shape
    return layers


def holds_modules(value):
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return any(isinstance(one, nn.Module) for one in items)


def shared_weights(named, theirs):
    """Two layers that are the same object, or that share a parameter."""
    first, second = next((one, other) for one, other in combinations(theirs, 2) if named[one] == named[other])
    layers = [name.rpartition(".")[0] or name for name in (first, second)]
    return Finding(
        SHARED,
        SHARED.rstrip("."),
        f"{listed(layers)} share parameters, and shared parameters can never learn different things.",
        (),
        "the lines of `__init__` that make these layers and their parameters.",
        None,
    )


def one_for_several(layer, others):
    return Finding(
        SHARED,
        SHARED.rstrip("."),
        f"`{layer}` does the work of {listed(others)}, and layers that share weights can never learn different things.",
        (),
        "how many times does `__init__` call nn.Linear?",
        None,
    )


def listed(names):
    names = [f"`{name}`" for name in names]
    if len(names) > 3:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def wrong_parameters(call, ours, theirs):
    """Names first, then shapes."""
    missing = [name for name in theirs if name not in ours]
    extra = [name for name in ours if name not in theirs]
    if missing or extra:
        evidence = []
        if missing:
            evidence.append(f"missing:       {some(missing)}")
        if extra:
            evidence.append(f"not expected:  {some(extra)}")
        return Finding(
            "its parameters have the wrong names.",
            "wrong parameters",
            f"The weights are copied in by name, so the layers of {call} must have the names "
            "that the exercise gives them.",
            tuple(evidence),
            "the names in `__init__`, and whether each layer has a bias.",
            None,
        )
    for name, shape in theirs.items():
        if ours[name] != shape:
            return Finding(
                f"`{name}` has the wrong shape.",
                "wrong parameters",
                f"In {call} it has shape {ours[name]}; {shape} is expected.",
                (),
                "what goes in and what comes out: nn.Linear(in, out) has a weight of shape (out, in).",
                None,
            )
    return None


def some(names):
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def at_line(outcome):
    return (f"at the line: {outcome.line}",) if outcome.line else ()


def too_long(outcome: Outcome, seconds: float) -> Finding:
    rest = (
        " It could not be stopped and is still running in the background: restart the kernel if things get slow."
        if outcome.stuck
        else ""
    )
    return Finding(
        "it did not finish in time.",
        "endless",
        f"It took more than {seconds:.0f} seconds, when a few thousandths should be "
        f"plenty, so the check gave up.{rest}",
        (),
        "in every `while`, what makes the condition false? In every `for`, does the thing it loops over "
        "grow? If there is no loop, how large does the largest tensor get?",
    )


def raised(error):
    """(name, where to look) for an error."""
    kind = error.split(":")[0]
    if "unexpected keyword argument" in error:
        word = error.split("'")[1] if "'" in error else ""
        other = WORDS.get(word)
        look = f"this library calls it `{other}`, not `{word}`." if other else "the names of its arguments."
        return "an unknown argument", look
    if "index out of range in self" in error:
        return "an unknown id", "an embedding for n tokens accepts the ids 0 to n - 1."
    return ERRORS.get(kind, "raises an error"), LOOKS.get(kind, "")


WORDS = {"dim": "axis", "keepdim": "keepdims", "axis": "dim", "keepdims": "keepdim"}  # PyTorch's and NumPy's

ERRORS = {
    "NameError": "an unknown name",
    "UnboundLocalError": "a name without a value",
    "AttributeError": "an unknown attribute",
    "RecursionError": "calls itself without end",
}

LOOKS = {  # the kind of error → where to look
    "KeyError": "which keys exist at that line, and which one does it ask for?",
    "NameError": "is the name spelled as in its definition, and has the cell that defines it been run?",
    "UnboundLocalError": "is the name given a value before it is used, on every path?",
    "RecursionError": "what should make it stop calling itself?",
    "AttributeError": "the name after the dot: does this kind of object have it? If it is a module, does "
    "`__init__` set it?",
    "KeyboardInterrupt": "an answer should not interrupt the run.",
    "SystemExit": "an answer should return, not exit Python.",
    "EOFError": "an answer gets everything it needs as arguments, and asks the user for nothing.",
    "ImportError": "is the module installed, and is its name spelled right?",
    "ModuleNotFoundError": "is the module installed, and is its name spelled right?",
}


# Faults that the numbers do not show


def different_every_time(exercise: Exercise) -> tuple[str, str]:
    """What is wrong, and where to look."""
    look = (
        "what in it is random? Dropout must do nothing in eval mode."
        if exercise.is_module
        else (
            "what in it is random, or kept from one call to the next, such as a global variable or a default argument?"
        )
    )
    return "Called twice with the same inputs, it gives two different results.", look


def fault_beyond_numbers(draws: Draws, answer: Callable, run: Callable) -> tuple | None:
    """The first fault that the numbers do not show, as (name, sentence, look), or None."""
    exercise = draws.exercise
    number = len(draws.cases) // 2
    case = draws.cases[number]
    again = called_again(draws, answer, number, run)
    if unfinished := fault_of_another_call(again):
        return unfinished
    if not same(exercise, again.value, draws.expected[number]):
        return ("different every time", *different_every_time(exercise))
    inspections: list[Callable] = []
    if exercise.is_module:
        inspections = [lambda test=test: run(lambda: test(draws, answer, case)) for test in (repeated, trained)]
        inspections += [
            lambda one=one, other=other: run(lambda: kept(draws, answer, one, other))
            for one, other in zip(draws.cases, exercise.cases(draws.seed + 1), strict=True)
        ]
    elif exercise.gradients:
        inspections = [lambda one=one: differentiated(draws, answer, one, run) for one in draws.cases]
    inspections += [
        lambda test=test, one=one: run(lambda: tested(draws, answer, one, test))
        for test in exercise.checks
        for one in draws.cases
    ]
    for inspect_ in inspections:
        outcome = inspect_()
        if unfinished := fault_of_another_call(outcome):
            return unfinished
        if outcome.value:
            found = outcome.value
            return found if isinstance(found, tuple) else (found, found, "")
    return None


def fault_of_another_call(outcome: Outcome) -> tuple | None:
    """What is wrong with a further call, or a backward pass, that does not come to its end."""
    if outcome.kind == "endless":
        return ("endless", "The numbers are right, but another call did not finish in time.", "")
    if outcome.ok:
        return None
    error = outcome.error or "NotImplementedError, or returns `...`"  # as an exercise that is still to be written
    return ("raises an error", f"The numbers are right, but a later call or backward pass raises {error}", "")


def repeats(draws, answer, number, value, run):
    """Does another call, with a different random seed, give the same value?"""
    again = called_again(draws, answer, number, run)
    return not again.ok or same(draws.exercise, again.value, value)


def called_again(draws, answer, number, run):
    """The outcome of another call with the same inputs, and with a different random seed."""
    exercise, case = draws.exercise, draws.cases[number]
    return observe(exercise, answer, case, draws.dtype, lambda call: run(lambda: reseeded(call)))


def reseeded(call):
    torch.random.default_generator.manual_seed(1)
    np.random.seed(1)
    return call()


def tested(draws, answer, case, test):
    inputs = inputs_for(draws, case)
    return test(make(draws.exercise, answer, case, draws.dtype, inputs), *inputs)


def repeated(draws, answer, case):
    """Does a module give the same result on a second call?"""
    inputs = inputs_for(draws, case)
    module = make(draws.exercise, answer, case, draws.dtype, inputs)
    first = freeze(module(*inputs))
    if not same(draws.exercise, freeze(module(*inputs)), first):
        return (
            "different on a second call",
            "Calling the same module again, with the same inputs, gives a different result.",
            "what does `forward` change in `self`?",
        )
    return None


def kept(draws, answer, case, other):
    """Is a module right on a second call, with different inputs of the same sizes?"""
    ours, theirs = (
        make(draws.exercise, one, case, draws.dtype, inputs_for(draws, case))
        for one in (answer, draws.exercise.reference)
    )
    ours(*inputs_for(draws, case))
    if not same(draws.exercise, freeze(ours(*inputs_for(draws, other))), freeze(theirs(*inputs_for(draws, other)))):
        return (
            "something kept from the first call",
            "The first call gives the right numbers, but a second one, with different inputs of the same sizes, "
            "does not.",
            "what does `forward` keep, in `self` or elsewhere?",
        )
    return None


LOOK_BACK = (
    "`.detach()`, `.data`, `.item()`, `nn.Parameter(…)`, `torch.no_grad()`, `torch.tensor()` and NumPy cut "
    "the gradient."
)


def trained(draws, answer, case):
    """Does it run in training mode, and do every weight and input get the right gradient?"""
    exercise = draws.exercise
    inputs = inputs_for(draws, case)
    module: nn.Module = make(exercise, answer, case, draws.dtype, inputs)
    module.train()(*inputs)
    return fault_of_gradients(draws, case, *forwards(draws, answer, case)) if exercise.gradients else None


def differentiated(draws, answer, case, run):
    """Does every float input of a function get the right gradient?"""
    outcome = run(lambda: forwards(draws, answer, case))
    if outcome.ok:
        leaves, results = outcome.value
        outcome = run(lambda: fault_of_gradients(draws, case, leaves, results))
    if outcome.kind == "raised" and "numpy()" in outcome.error:
        return replace(
            outcome,
            kind="value",
            value=(
                "no gradient",
                "The numbers are right, but NumPy computes them, and no gradient flows through NumPy, so "
                "nothing that comes before it would ever learn.",
                LOOK_BACK,
            ),
        )
    if outcome.kind == "raised" and "inplace" in outcome.error.replace("-", ""):
        return replace(
            outcome,
            kind="value",
            value=(
                "no gradient",
                "The numbers are right, but no gradient can be computed: a tensor that the gradient "
                "depends on has been overwritten.",
                "`+=`, `/=`, `[...] =` and methods that end in _ overwrite what a tensor holds.",
            ),
        )
    return outcome


def fault_of_gradients(draws, case, leaves, results):
    """What is wrong with the gradients, compared with those of the right implementation.

    Of several results, all but the first may be detached; those that are do not count.
    """
    several = isinstance(results, (tuple, list))
    judged = [not number or one.requires_grad for number, one in enumerate(results)] if several else None
    ours = backwards(leaves, results, judged)
    right_leaves, expected = forwards(draws, draws.exercise.reference, case)
    theirs = backwards(right_leaves, expected, judged)
    cut = [
        name
        for name, wanted in theirs.items()
        if wanted is not None and ours.get(name) is None and wanted.abs().max() > 1e-12
    ]  # a key's bias has none
    if cut:
        who = "it" if draws.exercise.is_module else "what comes before it"
        return (
            "no gradient",
            f"The numbers are right, but no gradient reaches {quoted(cut)}: {who} would never learn.",
            LOOK_BACK,
        )
    zero = torch.zeros(())
    wanted = {name: one for name, one in theirs.items() if one is not None}
    arrived = {name: zero if ours.get(name) is None else ours[name] for name in wanted}
    lost = [name for name, one in arrived.items() if not one.isfinite().all()]
    if lost:
        return (
            "a gradient that is NaN",
            f"The numbers are right, but the gradient of {quoted(lost)} is not: it holds NaN or "
            "infinity, and so would every weight after one step.",
            "what becomes infinite, or is divided by 0, along the way, and is only fixed afterwards?",
        )
    scale = max((float(one.abs().max()) for one in wanted.values()), default=0.0)
    wrong = [name for name, one in wanted.items() if float((arrived[name] - one).abs().max()) > 1e-3 * max(scale, 1e-6)]
    if wrong:
        return (
            "wrong gradient",
            f"The numbers are right, but the gradient of {quoted(wrong)} is not: something is cut off or "
            "changed on the way back.",
            LOOK_BACK,
        )
    return None


def quoted(names):
    """The first name, and how many more there are."""
    return f"`{names[0]}`" + (f" (and {len(names) - 1} more)" if len(names) > 1 else "")


def forwards(draws, answer, case):
    """Parameters and float inputs by name, and the result of a call with them."""
    exercise = draws.exercise
    inputs = inputs_for(draws, case)
    target = make(exercise, answer, case, draws.dtype, inputs)
    wanted = of_the_contract(exercise.reference, case.build) if exercise.is_module else ()
    leaves = parameters(target, wanted) if exercise.is_module else {}
    for name, one in zip(exercise.inputs, inputs, strict=False):
        if isinstance(one, torch.Tensor) and one.is_floating_point():
            leaves[name] = one.requires_grad_()
    with torch.enable_grad():
        return leaves, target(*inputs)


def backwards(leaves, results, judged):
    """The gradients, at the leaves, of a weighted sum of the results that count; None where there is none."""
    total = torch.zeros(())
    for result in compress(results, judged) if judged else [results]:
        weights = torch.linspace(-1.0, 2.0, result.numel(), dtype=result.dtype).reshape(result.shape)
        total = total + (result * weights).sum()
    if not total.requires_grad:
        return {}
    total.backward()
    return {name: one.grad for name, one in leaves.items()}
