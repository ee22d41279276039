"""What the contract asks before the numbers: an answer that can be called, and built from the layers it names."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

from torch import nn

from transformer_lessons.basis.words import joined
from transformer_lessons.exercises.checker.draws import Draws, inputs_for
from transformer_lessons.exercises.checker.exercise import Exercise
from transformer_lessons.exercises.checker.finding import Finding, named
from transformer_lessons.exercises.checker.parts import Part
from transformer_lessons.exercises.checker.weights import of_the_contract, parameters
from transformer_lessons.running.sandbox import Outcome
from transformer_lessons.running.values import kind_of

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
    if exercise.is_module and isinstance(answer, type) and getattr(answer, "forward", None) is nn.Module.forward:
        return Finding(
            headline="it has no `forward`.",
            mistake="no forward",
            why=f"Calling a module runs its `forward`, and {name} does not define one.",
            look="the spelling of the methods' names, and their indentation.",
        )
    if isinstance(answer, nn.Module) and exercise.is_module:
        return Finding(
            headline="this is an instance; the class is expected.",
            mistake="an instance for the class",
            why=f'Pass the class itself: check("{name}", {name}).',
        )
    if not callable(answer):
        wanted = "a class" if exercise.is_module else "a function"
        return Finding(
            headline=f"this is {kind_of(answer)}; {wanted} is expected.",
            mistake="a value for the function",
            why=f'Pass {name} itself, without calling it: check("{name}", {name}).',
        )
    if exercise.is_module:
        build = exercise.setup.build
        return wrong_arguments(exercise, answer, len(build), len(build), build)
    if isinstance(answer, type):
        return Finding(
            headline="this is a class; a function is expected.",
            mistake="a class for the function",
            why=f"Define it with `def {name}({', '.join(exercise.inputs)})`.",
        )
    return wrong_arguments(exercise, answer, exercise.required, len(exercise.inputs), exercise.inputs)


def wrong_arguments(
    exercise: Exercise, answer: Callable, least: int, most: int, names: Sequence, name: str | None = None
) -> Finding | None:
    """Why a signature does not accept the contract's arguments in their order."""
    try:
        signature = inspect.signature(answer)
    except (TypeError, ValueError):
        return None
    plain = [one.replace(annotation=one.empty, default=one.empty) for one in signature.parameters.values()]
    for number in sorted({least, most}):
        try:
            signature.bind(*range(number))
        except TypeError:
            call = f"{name or exercise.name}({', '.join(names[:number])})"
            return Finding(
                headline=f"it cannot be called as {call}.",
                mistake="wrong arguments",
                why=(
                    f"Its parameters are {inspect.Signature(plain)}, but it is called with "
                    f"{number} argument{'s, in this order' * (number != 1)}."
                ),
                look="compare the two from left to right: which one has no partner?",
            )
    return None


def fault_of_building(draws: Draws, answer: Callable, run: Callable) -> Finding | None:
    """What is wrong with how a module is built, or with its parameters."""
    exercise, case = draws.exercise, draws.cases[0]
    call = f"{exercise.name}({', '.join(map(str, case.build))})"
    outcome = run(lambda: answer(*case.build))
    if "Module.__init__() call" in outcome.error:
        return not_set_up(outcome.line)
    if outcome.kind == "raised":
        name, look = name_of_error(outcome.error)
        return Finding(
            headline="it cannot be built.",
            mistake=name,
            why=f"{call} raises {outcome.error}",
            error=outcome.error,
            line=outcome.line,
            look=look,
        )
    if not outcome.ok:
        return None
    if not isinstance(outcome.value, nn.Module):
        return Finding(
            headline="it is not a module.",
            mistake="not a module",
            why=f"{call} gives {kind_of(outcome.value)}; the class must inherit from nn.Module.",
        )
    theirs = of_the_contract(exercise.reference, case.build)
    if "_modules" not in vars(outcome.value):
        return not_set_up()
    lazy = nn.parameter.UninitializedParameter
    ours = {
        name: theirs.get(name) if isinstance(parameter, lazy) else tuple(parameter.shape)
        for name, parameter in parameters(outcome.value, theirs).items()
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


def not_set_up(line: str = "") -> Finding:
    return named(
        "no super().__init__()",
        "nn.Module has not been set up: its own `__init__` must run before a layer can be stored.",
        line=line,
        look="the first line of `__init__`, including the brackets at its end.",
    )


SHARED = "shared parameters"
LAYERS_IN_FORWARD = named(
    "layers made in forward",
    "`forward` makes a new layer on every call, with new random weights, so nothing it learns can last.",
    look="which of the two methods runs once, and which on every call?",
)


def made_in_forward(draws: Draws, answer: Callable, run: Callable) -> bool:
    """Does a call of the module make parameters?"""
    case, registered = draws.cases[0], []

    def call():
        inputs = inputs_for(draws, case)
        module = answer(*case.build).to(draws.dtype)
        note = nn.modules.module.register_module_parameter_registration_hook
        with note(lambda module, name, parameter: registered.append(name)):
            module(*inputs)

    run(call)
    return bool(registered)


def wrong_layers(module: nn.Module, ours: dict, theirs: dict) -> Finding | None:
    """What is wrong with the layers, going by the names and shapes of their parameters."""
    ids = {name: id(parameter) for name, parameter in module.named_parameters(remove_duplicate=False)}
    if all(name in ids for name in theirs) and len({ids[name] for name in theirs}) < len(theirs):
        return shared_weights(ids, theirs)
    mine, wanted = layers_of(ours), layers_of(theirs)
    missing, extra = in_first_alone(wanted, mine), in_first_alone(mine, wanted)
    plain = next((name for name, value in vars(module).items() if name[0] != "_" and holds_modules(value)), None)
    if missing and plain:
        kind = type(vars(module)[plain]).__name__
        return named(
            f"layers in a plain {kind}",
            f"`self.{plain}` is an ordinary {kind}, and nn.Module does not look inside: the weights in it are never "
            "found, and so never trained.",
            look="which names does the exercise give to the layers?",
        )
    if missing and not mine:
        return Finding(
            headline="it has no weights.",
            mistake="no weights",
            why="No layer is stored in `self`, and a local variable is gone once `__init__` ends.",
            look="what comes before the name of each layer?",
        )
    if len(missing) > 1 and len(extra) == 1:
        return one_for_several(extra[0], mine[extra[0]], missing, wanted)
    if missing and not extra:
        are = "is" if len(missing) == 1 else "are"
        return named(
            "a layer is missing",
            f"{listed(missing)} {are} not there; the exercise asks for a separate layer for each task, "
            "with its own weights.",
            look="the layers in `__init__`, one by one.",
        )
    if extra and not missing:
        return named(
            "a layer too many", f"The exercise has no {listed(extra)}.", look="the layers in `__init__`, one by one."
        )
    return None if missing else wrong_biases(in_first_alone(theirs, ours), in_first_alone(ours, theirs))


def in_first_alone(names: Iterable, others: Iterable) -> list:
    return [name for name in names if name not in others]


def wrong_biases(missing: list, extra: list) -> Finding | None:
    """What is wrong with the parameters, if nothing but biases are missing, or are there without need."""
    if not all(name.endswith("bias") for name in [*missing, *extra]) or bool(missing) == bool(extra):
        return None
    look = "the arguments of each layer."
    if missing:
        return named("a bias is missing", f"The exercise asks for {listed(missing)}, but there is none.", look=look)
    return named("a bias too many", f"The exercise has no {listed(extra)}.", look=look)


def layers_of(parameters: dict) -> dict:
    """Name of a layer → its parameters' shapes."""
    layers = {}
    for name, shape in parameters.items():
        layer, _, last = name.rpartition(".")
        layers.setdefault(layer or name, {})[last] = shape
    return layers


def holds_modules(value: Any) -> bool:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return any(isinstance(item, nn.Module) for item in items)


def shared_weights(ids: dict, theirs: dict) -> Finding:
    """Two layers that are the same object, or that share a parameter."""
    same = next(pair for pair in combinations(theirs, 2) if ids[pair[0]] == ids[pair[1]])
    layers = [name.rpartition(".")[0] or name for name in same]
    return named(
        SHARED,
        f"{listed(layers)} share parameters, and shared parameters can never learn different things.",
        look="the lines of `__init__` that make these layers and their parameters.",
    )


def one_for_several(layer: str, its_shapes: dict, missing: list, wanted: dict) -> Finding | None:
    """One layer stands for several: it is like each of them, or as wide as all together."""
    if all(wanted[name] == its_shapes for name in missing):
        return named(
            SHARED,
            f"`{layer}` does the work of {listed(missing)}, and layers that share weights can never learn different "
            "things.",
            look="how many times does `__init__` call nn.Linear?",
        )
    if its_shapes.get("weight", (0,))[0] == sum(wanted[name].get("weight", (0,))[0] for name in missing):
        return named(
            "one wide layer for several",
            f"`{layer}` is as wide as {listed(missing)} together; the exercise asks for separate layers.",
            look="the names of the layers in the exercise.",
        )
    return None


def listed(names: list) -> str:
    names = [f"`{name}`" for name in names]
    if len(names) > 3:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return joined(names)


def wrong_parameters(call: str, ours: dict, theirs: dict) -> Finding | None:
    """Names first, then shapes."""
    unlike = {"missing:       ": in_first_alone(theirs, ours), "not expected:  ": in_first_alone(ours, theirs)}
    if any(unlike.values()):
        return Finding(
            headline="its parameters have the wrong names.",
            mistake="wrong parameters",
            why=(
                f"The weights are copied in by name, so the layers of {call} must have the names "
                "that the exercise gives them."
            ),
            evidence=tuple(Part("example", label + some(names)) for label, names in unlike.items() if names),
            look="the names in `__init__`, and whether each layer has a bias.",
        )
    for name, shape in theirs.items():
        if ours[name] != shape:
            return Finding(
                headline=f"`{name}` has the wrong shape.",
                mistake="wrong parameters",
                why=f"In {call} it has shape {ours[name]}; {shape} is expected.",
                look="what goes in and what comes out: nn.Linear(in, out) has a weight of shape (out, in).",
            )
    return None


def some(names: list) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def too_long(outcome: Outcome, seconds: float) -> Finding:
    rest = (
        " It could not be stopped and is still running in the background: restart the kernel if things get slow."
        if outcome.stuck
        else ""
    )
    return Finding(
        headline="it did not finish in time.",
        mistake="endless",
        why=(
            f"It took more than {seconds:.0f} seconds, when a few thousandths should be "
            f"plenty, so the check gave up.{rest}"
        ),
        look=(
            "in every `while`, what makes the condition false? In every `for`, does the thing it loops over "
            "grow? If there is no loop, how large does the largest tensor get?"
        ),
    )


def name_of_error(error: str) -> tuple[str, str]:
    """(name, where to look) for an error."""
    kind = error.split(":")[0]
    if "unexpected keyword argument" in error:
        look = "the names of its arguments."
        if "'" in error and error.split("'")[1] in WORDS:
            look += " PyTorch says `dim` and `keepdim`, NumPy `axis` and `keepdims`; and not every function takes one."
        return "an unknown argument", look
    if "'NoneType' object has no attribute" in error:
        look = "what is None there, and why? Some methods return nothing; .grad is None before the first backward."
        return "an unknown attribute", look
    if "index out of range in self" in error:
        return "an unknown id", "an embedding for n tokens accepts the ids 0 to n - 1."
    return ERRORS.get(kind, "raises an error"), LOOKS.get(kind, "")


WORDS = "dim", "keepdim", "axis", "keepdims"

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
