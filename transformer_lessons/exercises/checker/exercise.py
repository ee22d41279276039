"""How an exercise is declared: what is asked, how inputs are drawn, what is right, and the known mistakes.

../catalogue/README.md shows a whole declaration.
"""

import ast
import inspect
import textwrap
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache, partial
from itertools import combinations

import torch
from torch.utils._python_dispatch import TorchDispatchMode

EXERCISES = {}  # name → Exercise, in the order of the lessons
BROKEN = {}  # files that could not be imported → the error


class Steps:
    """The right answer as a class whose methods are its steps, in order; `__call__` goes through them.

    A mistake is a subclass that overrides one step, or two. A module (nn.Module) needs no Steps: its own
    methods are the steps, and `forward` goes through them.
    """


@dataclass
class Mistake:
    """A mistake that people really make: what is wrong (why), and a pointer to the fix (look)."""

    name: str
    why: str
    look: str
    hint: int = 1
    variants: list = field(default_factory=list)  # one or more implementations of this one mistake
    pairs: int = 1  # how many of the variants, counted from the first, are tried together with another mistake
    raises: bool = False  # does it raise on every input?


@dataclass
class Case:
    """One drawn example: what a module is built with, and what it or the function is called with."""

    build: tuple
    inputs: tuple
    seed: int


@dataclass(eq=False)
class Exercise:
    """One exercise. `name` is what the learner defines; a module has `build`, a function does not."""

    name: str
    lesson: int
    title: str
    difficulty: int  # 1 to 3
    importance: int  # 1 to 3
    minutes: int
    contract: str
    stub: str  # the source that the notebook shows; its parameters name the inputs
    sizes: list  # from small to large: the first that fails is shown to the learner
    draw: Callable  # draw(generator, **size) → the inputs
    reference: object  # a function or nn.Module class that meets the contract
    returns: tuple | str = "result"  # the names of what is returned
    build: tuple = ()  # which sizes a module is built with, in order
    shapes: dict = field(default_factory=dict)  # returned name → "(batch, query, d_v)", for messages
    hints: tuple = ()  # up to three (symptom, text)
    solution: object = None  # a definition, several, or source text; by default the reference
    tolerance: float = 2e-5  # of the largest number expected: float32 inside is fine
    exact_zeros: bool = False  # where 0 is expected, nothing but 0 will do
    gradients: bool | None = None  # must weights and inputs get the right gradients? By default, only in modules
    observe: Callable | None = None  # observe(call, *inputs) → what is compared; by default call(*inputs)
    same: Callable | None = None  # same(observed, expected) → bool; by default equal up to the tolerance
    checks: tuple = ()  # check(call, *inputs) → a sentence or None: what numbers alone do not show
    symptoms: tuple = ()  # symptom(observed, expected, *inputs) → a sentence or None, if no mistake matches
    signs: Callable | None = None  # signs(observed, expected, *inputs) → names of mistakes that it shows
    mistakes: dict = field(default_factory=dict)  # name → Mistake
    answers: dict = field(default_factory=dict)  # style → a right answer, the proof that any style passes
    steps: type | None = None
    names_steps: bool = True  # may a verdict name the first wrong step?

    def __post_init__(self):
        if self.gradients is None:
            self.gradients = self.is_module
        self.contract = inspect.cleandoc(self.contract)
        self.stub = textwrap.dedent(self.stub).strip() + "\n"

    # Declaring

    def right(self, style):
        """Declares a right answer. The first that is a class has the steps that mistakes replace."""

        def declare(answer):
            if isinstance(answer, type) and self.steps is None:
                self.steps = answer
            self.answers[style] = answer
            return answer

        return declare

    def mistake(self, name, why, look, *, hint=1, pairs=1, raises=False, **replaced):
        """Declares a mistake, with its variants.

        A keyword with a step's name holds what replaces that step alone: one function, or a list of them.
        `variants` lists larger changes: dictionaries of steps that are replaced together, and whole answers. `pairs`
        says how many of all these, counted from the first, are also tried together with a second mistake.
        """
        if name in self.mistakes:
            raise ValueError(f"{self.name} has two mistakes called {name!r}")
        variants = [self.variant(one) for one in changes(replaced)]
        self.mistakes[name] = Mistake(name, why, look, hint, variants, pairs, raises)

    def section(self, **settings):
        """`mistake` for a section of the catalogue whose mistakes share settings, mostly the hint."""
        return partial(self.mistake, **settings)

    def adopt(self, family, *, hints, pairs=(), without=()):
        """Declares the mistakes of a family; `hints` maps its topics to the numbers of this exercise's hints.

        `pairs` names the mistakes that are also tried together with a second one.
        """
        for name, (why, look, topic, many, raises, replaced) in family.mistakes.items():
            if name not in without:
                self.mistake(
                    name,
                    why,
                    look,
                    hint=hints.get(topic),
                    pairs=many if name in pairs else 0,
                    raises=raises,
                    **replaced,
                )

    def variant(self, change):
        """A whole answer unchanged; for a dictionary, the right answer with those steps replaced."""
        if not isinstance(change, dict):
            return change
        variant = type("Variant", (self.steps,), {})
        for name, function in change.items():
            setattr(variant, name, replacement(variant, name, function))
        return variant

    # What the declaration says

    @property
    def is_module(self):
        return bool(self.build)

    @cached_property
    def signature(self):
        """The arguments that the answer is called with, from the stub: a function's own, or those of `forward`."""
        definition = ast.parse(self.stub).body[-1]
        if isinstance(definition, ast.ClassDef):
            definition = next(node for node in definition.body if getattr(node, "name", "") == "forward")
        return definition.args

    @cached_property
    def inputs(self):
        """The names of the arguments that the answer is called with."""
        return [argument.arg for argument in self.signature.args if argument.arg != "self"]

    @cached_property
    def required(self):
        """How many of the inputs have no default."""
        return len(self.inputs) - len(self.signature.defaults)

    def cases(self, seed):
        """One case for each of the sizes."""
        cases = []
        for number, size in enumerate(self.sizes):
            case_seed = 1000 * seed + number
            inputs = self.draw(torch.Generator().manual_seed(case_seed), **size)
            inputs = inputs if isinstance(inputs, tuple) else (inputs,)
            cases.append(Case(tuple(size[name] for name in self.build), inputs, case_seed))
        return cases

    def singles(self):
        """Every declared mistake in every variant."""
        return [((mistake,), variant) for mistake in self.mistakes.values() for variant in mistake.variants]

    @cached_property
    def pairs(self):
        """Two mistakes at once, for all that replace different steps."""
        stepped = [
            (mistake, variant)
            for mistake in self.mistakes.values()
            for variant in mistake.variants[: mistake.pairs]
            if self.replaces_steps(variant)
        ]
        return [pair for one, other in combinations(stepped, 2) if (pair := self.pair(one, other))]

    def pair(self, one, other):
        """Two mistakes at once, each with its variant; None if they are the same or both replace the same step."""
        (first, variant), (second, another) = one, other
        if first is second or replaced_steps(variant, self.steps) & replaced_steps(another, self.steps):
            return None
        return (first, second), type("Pair", (variant, another), {})

    def replaces_steps(self, variant):
        return self.steps is not None and isinstance(variant, type) and issubclass(variant, self.steps)

    def solution_text(self):
        """The solution's source, which runs on its own."""
        solution = self.reference if self.solution is None else self.solution
        return source_of(solution)


class Family:
    """Mistakes that several exercises share, each declared once; `Exercise.adopt` adds them to an exercise."""

    def __init__(self):
        self.mistakes = {}  # name → what adopt declares

    def mistake(self, name, why, look, *, topic, pairs=1, raises=False, **replaced):
        """Like `Exercise.mistake`; the topic says which hint fits, since its number differs between exercises."""
        if name in self.mistakes:
            raise ValueError(f"the family has two mistakes called {name!r}")
        self.mistakes[name] = why, look, topic, pairs, raises, replaced

    def section(self, **settings):
        return partial(self.mistake, **settings)


def changes(replaced):
    """[{step: function, …} or a whole answer], in the order in which they are declared."""
    found = []
    for step, functions in replaced.items():
        functions = functions if isinstance(functions, list) else [functions]
        found += functions if step == "variants" else [{step: function} for function in functions]
    return found


REQUIRED = inspect.Parameter.empty  # in place of a missing default


def parameters_of(function):
    """[(name, default)], as in inspect.signature, which would take a third of the catalogue's loading time."""
    code, named = getattr(function, "__code__", None), getattr(function, "__kwdefaults__", None)
    if code is None or named or code.co_kwonlyargcount or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return [(one.name, one.default) for one in inspect.signature(function).parameters.values()]
    names, defaults = code.co_varnames[: code.co_argcount], function.__defaults__ or ()
    return list(zip(names, [REQUIRED] * (len(names) - len(defaults)) + [*defaults], strict=True))


def replacement(owner, name, function):
    """The method that replaces a step: it passes the function what its parameters' names ask for.

    They may name parameters of the step; `right`, what the right step makes of them; `step`, the right step itself;
    and `self`, the answer, which has the layers and the other steps.
    """
    _, *given = parameters_of(getattr(super(owner, owner), name))
    defaults = {one: default for one, default in given if default is not REQUIRED}
    given = [one for one, _ in given]
    known = {"self", "right", "step", *given}
    wanted = [one for one, default in parameters_of(function) if one in known or default is REQUIRED]
    if unknown := set(wanted) - known:
        raise ValueError(f"the step {name}({', '.join(given)}) has no {' and no '.join(sorted(unknown))}")

    def method(self, *inputs, **named):
        step = getattr(super(owner, self), name)
        values = {"self": self, "step": step, **defaults, **dict(zip(given, inputs, strict=False)), **named}
        if "right" in wanted:
            values["right"] = step(*inputs, **named)
        return function(**{one: values[one] for one in wanted})

    return method


@cache
def replaced_steps(variant, right):
    """The names of the steps that a mistake replaces."""
    classes = variant.__mro__[: variant.__mro__.index(right)]
    machinery = {
        "__module__",
        "__doc__",
        "__qualname__",
        "__firstlineno__",
        "__static_attributes__",
        "__annotations__",
        "__dict__",
        "__weakref__",
    }
    return {name for cls in classes for name in vars(cls)} - machinery


def implementation(variant):
    """The function to call, or the module class to build, for a declared variant."""
    if isinstance(variant, type) and issubclass(variant, Steps):
        return lambda *inputs: variant()(*inputs)
    return variant


def recorded_steps(right, fill_in):
    """The right steps in the order in which they finish, as [(name, inputs, result)]."""
    record = []

    def recording(name, method):
        def step(self, *inputs):
            result = method(self, *inputs)
            record.append((name, inputs, result))
            return result

        return step

    skipped = {"__init__", "__call__", "forward"}
    methods = {
        name: recording(name, method)
        for name, method in vars(right).items()
        if inspect.isfunction(method) and name not in skipped
    }
    fill_in(implementation(type(right.__name__, (right,), methods)))
    return record


# What an answer does


class Watching(TorchDispatchMode):
    """While it is active, sees every PyTorch operation."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # otherwise PyTorch loads its compiler first, which takes a second and a half


# Drawing


def normal(generator, *shape, scale=1.0):
    """Normally distributed numbers, of unit scale, in float64."""
    return scale * torch.randn(shape, generator=generator, dtype=torch.float64)


def integers(generator, high, *shape, low=0):
    """Whole numbers from low up to, not including, high."""
    return torch.randint(low, high, shape, generator=generator)


def fill(module, seed, wanted=()):
    """Fills a module with weights of unit scale, each seeded by its name, whatever the order; wanted names last."""
    names = sorted(module.named_parameters(remove_duplicate=False), key=lambda one: one[0] in wanted)
    with torch.no_grad():
        for name, parameter in names:
            parameter.copy_(weights(name, parameter.shape, seed))
    return module


def parameters(module, wanted):
    """{name: parameter}; one that has several names, as in an nn.Sequential too, goes by the wanted one."""
    names = {}
    for name, one in module.named_parameters(remove_duplicate=False):
        names.setdefault(one, []).append(name)
    return {next((name for name in those if name in wanted), those[0]): one for one, those in names.items()}


@lru_cache
def of_the_contract(reference, build):
    """{name: shape}: the parameters that a contract asks for."""
    return {name: tuple(one.shape) for name, one in reference(*build).named_parameters()}


@lru_cache(maxsize=1000)
def weights(name, shape, seed):
    """The numbers for a parameter with that name, the same for every mistake in the catalogue."""
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()) + seed)
    scale = shape[-1] ** -0.5 if len(shape) > 1 else 1.0
    return scale * torch.randn(shape, generator=generator, dtype=torch.float64)


# Solutions


def source_of(solution):
    """Source text as it is, or the source of definitions with the imports that they need."""
    if isinstance(solution, str):
        return textwrap.dedent(solution).strip() + "\n"
    parts = list(solution) if isinstance(solution, (tuple, list)) else [solution]
    defined = {part.__name__ for part in parts}
    sources, imports = [], []
    for part in parts:
        source = without_decorators(textwrap.dedent(inspect.getsource(part)))
        sources.append(source.strip())
        imports += imports_for(source, vars(inspect.getmodule(part)), defined)
    return (
        "\n".join(sorted(set(imports), key=lambda line: (line.startswith("from"), line)))
        + ("\n\n\n" if imports else "")
        + "\n\n\n".join(sources)
        + "\n"
    )


def without_decorators(source):
    first = ast.parse(source).body[0]
    return "\n".join(source.splitlines()[first.lineno - 1 :])


def imports_for(source, namespace, defined):
    """The import lines for every name that the source takes from its module."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and node.id in namespace and node.id not in defined:
            value, name = namespace[node.id], node.id
            if inspect.ismodule(value):
                parent, _, last = value.__name__.rpartition(".")
                plain = f"import {value.__name__}" + (f" as {name}" if name != value.__name__ else "")
                whole = f"from {parent} import {last}" + (f" as {name}" if name != last else "")
                lines.append(plain if not parent or name == "F" else whole)
            elif hasattr(value, "__module__"):
                lines.append(f"from {value.__module__} import {name}")
    return lines
