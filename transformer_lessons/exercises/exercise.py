"""How an exercise is declared: what is asked, how inputs are drawn, what is right, and the known mistakes.

README.md, beside this file, shows a whole declaration in ten lines.
"""

import ast
import inspect
import textwrap
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import torch

EXERCISES = {}  # name → Exercise, in the order of the lessons
BROKEN = {}  # lessons that could not be imported → the error


class Steps:
    """The right way as a class whose methods are the steps, in order; `__call__` goes through them.

    A mistake is a subclass that overrides one step, or two. A module (nn.Module) needs no Steps: its own
    methods are the steps, and `forward` goes through them.
    """


@dataclass
class Mistake:
    """A wrong way that people really take: what it does (why), and where to look for the way out (look)."""

    name: str
    why: str
    look: str
    hint: int = 1
    ways: list = field(default_factory=list)  # one or more implementations of this one mistake
    pairs: bool = True  # may it be one of two at once?
    raises: bool = False  # does it raise on every input?


@dataclass
class Case:
    """One drawn example: what a module is built with, and what it or the function is called with."""

    build: tuple
    inputs: tuple
    seed: int


@dataclass(eq=False)
class Exercise:
    """One exercise. `name` is what the learner defines; a module has `build`, a function has not."""

    name: str
    lesson: int
    title: str
    difficulty: int  # 1 to 3
    importance: int  # 1 to 3
    minutes: int
    contract: str
    stub: str  # the source that the notebook shows; its parameters name the inputs
    sizes: list  # growing: the first that fails is shown to the learner
    draw: Callable  # draw(generator, **size) → the inputs
    reference: object  # a function or nn.Module class that keeps the contract
    returns: tuple | str = "result"  # the names of what is returned
    build: tuple = ()  # which sizes a module is built with, in order
    shapes: dict = field(default_factory=dict)  # returned name → "(batch, query, d_v)", for messages
    hints: tuple = ()  # up to three (symptom, text)
    solution: object = None  # a definition, several, or source text; by default the reference
    tolerance: float = 2e-5  # of the largest number expected: float32 inside is fine
    exact_zeros: bool = False  # where 0 is expected, nothing but 0 will do
    gradients: bool | None = None  # must every weight get its gradient? By default: in modules
    observe: Callable | None = None  # observe(call, *inputs) → what is judged; by default call(*inputs)
    same: Callable | None = None  # same(observed, expected) → bool; by default equal up to the tolerance
    checks: tuple = ()  # check(call, *inputs) → a sentence, or None: what numbers alone do not show
    symptoms: tuple = ()  # symptom(observed, expected, *inputs) → a sentence or None: no mistake matches
    signs: Callable | None = None  # signs(observed, expected, *inputs) → names of mistakes that it shows
    mistakes: dict = field(default_factory=dict)  # name → Mistake
    answers: dict = field(default_factory=dict)  # style → a right answer, the proof that any style passes
    steps: type | None = None
    parting: bool = True  # may a verdict name the step at which an answer parts? Where that would guess: no
    alone: set = field(default_factory=set)  # the ways that are not tried together with a second mistake

    def __post_init__(self):
        if self.name in EXERCISES:
            raise ValueError(f"there are two exercises called {self.name}")
        if self.gradients is None:
            self.gradients = self.is_module
        self.contract = inspect.cleandoc(self.contract)
        self.stub = textwrap.dedent(self.stub).strip() + "\n"
        EXERCISES[self.name] = self

    # Declaring

    def right(self, style):
        """Declares a right answer. The first that is a class has the steps that mistakes build on."""

        def declare(way):
            if isinstance(way, type) and self.steps is None:
                self.steps = way
            self.answers[style] = way
            return way

        return declare

    def mistake(self, name, why=None, look=None, *, hint=1, pairs=True, raises=False):
        """Declares a mistake; the same name again, without why and look, adds another way to make it."""

        def declare(way):
            if not pairs:
                self.alone.add(way)
            if why is None:
                self.mistakes[name].ways.append(way)
            elif name in self.mistakes:
                raise ValueError(f"{self.name} has two mistakes called {name!r}")
            else:
                self.mistakes[name] = Mistake(name, why, look, hint, [way], pairs, raises)
            return way

        return declare

    # What the declaration says

    @property
    def is_module(self):
        return bool(self.build)

    @cached_property
    def signature(self):
        """What the answer is called with, as the stub has it: a function's arguments, or those of forward."""
        definition = ast.parse(self.stub).body[-1]
        if isinstance(definition, ast.ClassDef):
            definition = next(node for node in definition.body if getattr(node, "name", "") == "forward")
        return definition.args

    @cached_property
    def inputs(self):
        """The names of what the answer is called with."""
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
        """Every declared mistake in every way it is made."""
        return [((mistake,), way) for mistake in self.mistakes.values() for way in mistake.ways]

    def pairs(self):
        """Two mistakes at once, where each overrides other steps."""
        stepped = [(mistake, way) for (mistake,), way in self.singles()
                   if mistake.pairs and way not in self.alone
                   and self.steps and isinstance(way, type) and issubclass(way, self.steps)]
        for number, (first, one) in enumerate(stepped):
            for second, two in stepped[number + 1:]:
                if first is not second and not overridden(one, self.steps) & overridden(two, self.steps):
                    yield (first, second), type(f"{one.__name__}And{two.__name__}", (one, two), {})

    def solution_text(self):
        """The solution's source, which runs on its own."""
        solution = self.reference if self.solution is None else self.solution
        return source_of(solution)


def overridden(way, right):
    """The steps that a mistake overrides."""
    classes = way.__mro__[:way.__mro__.index(right)]
    machinery = {"__module__", "__doc__", "__qualname__", "__firstlineno__", "__static_attributes__",
                 "__annotations__", "__dict__", "__weakref__"}
    return {name for cls in classes for name in vars(cls)} - machinery


def implementation(way):
    """What is called (a function) or built (a module's class) to run a declared way."""
    if isinstance(way, type) and issubclass(way, Steps):
        return lambda *inputs: way()(*inputs)
    return way


def recorded_steps(right, case, fill_in):
    """The right steps in the order of their calls, [(name, result)], on one case."""
    record = []

    def recording(name, method):
        def step(self, *inputs):
            result = method(self, *inputs)
            record.append((name, result))
            return result
        return step

    skipped = {"__init__", "__call__", "forward"}
    methods = {name: recording(name, method) for name, method in vars(right).items()
               if inspect.isfunction(method) and name not in skipped}
    fill_in(implementation(type(right.__name__, (right,), methods)))
    return record


# Drawing


def normal(generator, *shape, scale=1.0):
    """Normally distributed numbers, of unit scale, in float64."""
    return scale * torch.randn(shape, generator=generator, dtype=torch.float64)


def integers(generator, high, *shape, low=0):
    """Whole numbers from low up to, not including, high."""
    return torch.randint(low, high, shape, generator=generator)


def fill(module, seed):
    """Fills a module with weights of unit scale, each drawn by its own name, whatever the order."""
    with torch.no_grad():
        for name, parameter in module.named_parameters(remove_duplicate=False):
            parameter.copy_(weights(name, parameter.shape, seed))
    return module


@lru_cache(maxsize=1000)
def weights(name, shape, seed):
    """What a parameter of that name is filled with: the same for every mistake of the catalogue."""
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()) + seed)
    scale = shape[-1] ** -0.5 if len(shape) > 1 else 1.0
    return scale * torch.randn(shape, generator=generator, dtype=torch.float64)


# Solutions


def source_of(solution):
    """Source text, or the source of definitions with the imports that they need."""
    if isinstance(solution, str):
        return textwrap.dedent(solution).strip() + "\n"
    parts = list(solution) if isinstance(solution, (tuple, list)) else [solution]
    defined = {part.__name__ for part in parts}
    sources, imports = [], []
    for part in parts:
        source = without_decorators(textwrap.dedent(inspect.getsource(part)))
        sources.append(source.strip())
        imports += imports_for(source, vars(inspect.getmodule(part)), defined)
    return "\n".join(sorted(set(imports), key=lambda line: (line.startswith("from"), line))) + (
        "\n\n\n" if imports else "") + "\n\n\n".join(sources) + "\n"


def without_decorators(source):
    first = ast.parse(source).body[0]
    return "\n".join(source.splitlines()[first.lineno - 1:])


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
            elif hasattr(value, "__module__") and hasattr(value, "__name__"):
                lines.append(f"from {value.__module__} import {name}")
    return lines
