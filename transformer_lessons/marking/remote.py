"""Our side of a student's answer: the checker calls it like any other, and it runs in the student's process."""

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Literal

import torch
from torch import nn
from torch.utils._python_dispatch import _disable_current_modes, _get_current_dispatch_mode_stack

from transformer_lessons.marking.lending import Scope, error_of, lazy, register, tensors_of
from transformer_lessons.marking.messages import (
    Call,
    Called,
    Define,
    Description,
    Failure,
    Function,
    Layers,
    Operation,
    Parameters,
    Request,
)
from transformer_lessons.marking.process import LIMITS, Asking, Endless, Process
from transformer_lessons.marking.wire import DTYPES, ITEMS, Broken, name_for, pack, unpack
from transformer_lessons.running import errors, sandbox
from transformer_lessons.running.sandbox import Outcome

DEFINING, ENDS = 8.0, 3  # seconds for the cells of an answer; processes that an answer may end
NUMBERS = 1 << 18  # in a module's parameters: a hundred times what any contract asks for


class Remote(Exception):
    """The learner's own error, raised again on this side."""


class Student:
    """A student's answers, one at a time, in the process that holds the notebook."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.borrowed = False  # has the answer used the course's own code?
        self.ended: list[Broken] = []  # how it has ended its processes
        self.asking = False  # has a call been given up because it called what it was given again and again?
        self.attempts, self.printed = 0, 0  # calls by the checker; lines that the last one has printed
        self.warned: list[str] = []  # what it has warned of
        self.failed: Failure | None = None  # the last error of the student's

    def ask(self, head: Request, seconds: float = LIMITS.call, scope: Scope | None = None) -> Any:
        """The reply of the process; an error of the student's is raised here."""
        reply = self.process.exchange(head, seconds, scope)
        if "error" in reply:
            name, said = name_for(reply["error"]), {"__str__": lambda self: self.args[0]}
            try:
                kind: Any = type(name, (Remote, error_of(reply["kind"])), said)
                error = kind.__new__(kind)
            except TypeError:  # its kind cannot be made from nothing
                error = type(name, (Remote,), said)()
            error.args, self.failed = (str(reply["text"])[:2000],), reply
            self.borrowed |= bool(reply.get("borrowed"))
            raise error
        return reply

    def define(self, exercise: str, subject: str, instead: dict[str, str] | None = None, repaired: str = "") -> Any:
        """The answer, which to the checker behaves just as the student's own would."""
        request: Define = {
            "do": "define",
            "exercise": exercise,
            "subject": subject,
            "instead": instead or {},
            "repaired": repaired,
        }
        self.process.defined = request, DEFINING
        self.borrowed, self.failed, self.ended, self.asking = False, None, [], False
        try:
            return self.answer(self.ask(request, DEFINING))
        except (Broken, Endless) as error:  # perhaps an earlier exercise's doing: once more, in a fresh process
            self.process.end()
            try:
                return self.answer(self.ask(request, DEFINING))
            except Endless as again:  # which has had less time
                raise error if isinstance(error, Endless) else again from again

    def value(self, number: str) -> Any:
        """The answer to a question."""
        return unpack(self.ask({"do": "value", "number": number}, DEFINING)["ok"])

    # An answer

    def answer(self, about: Description) -> Any:
        """The stand-in for what the process has described."""
        try:
            name, target = name_for(about["name"]), about["target"]
            if not about["callable"]:
                return unpack(about["value"])
            if about["module"]:
                return self.module_class(name, about) if about["class"] else self.module(name, about)
            if about["class"] and about["signature"] is None:
                return type(name, (), {})
            if about["class"]:
                return dressed(lambda *inputs: self.build(target, inputs), about, name)
            return dressed(lambda *inputs: self.request("call", target, inputs)[0], about, name)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise Broken("a description that cannot be read") from error

    def module_class(self, name: str, about: Description) -> type[nn.Module]:
        """A module's class. What it builds is a module of another class, with the layers that were built there."""
        members: dict[str, Any] = {}
        if about["init"] or about["forward"]:
            members["__new__"] = lambda cls, *inputs: self.build(about["target"], inputs)
        if about["init"]:
            members["__init__"] = lambda self, *inputs: None
        elif about["functions"]:
            members["other"] = lambda self: None
        if about["forward"]:
            members["forward"] = dressed(lambda self, *inputs: None, about["forward"], "forward")
        made: Any = type(name, (nn.Module,), members)
        made.__signature__ = signature_of(about["signature"])
        return made

    def module(self, name: str, about: Description) -> nn.Module:
        forward = dressed(lambda self, *inputs: self.run(inputs), about["forward"] or NOTHING, "forward")
        kind: Any = type(name, (RemoteModule,), {"forward": forward})
        module = kind.__new__(kind)
        if about["layers"]:
            nn.Module.__init__(module)
            module.student, module.target, module.dtype = self, about["target"], torch.float32
            module.grow(about["layers"])
        return module

    def build(self, target: int, inputs: tuple) -> Any:
        built = self.request("build", target, inputs)[1]["built"]
        if built is None:
            raise Broken("a description that cannot be read")
        return self.answer(built)

    def request(
        self, do: Literal["call", "build"], target: int, inputs: tuple, module: "RemoteModule | None" = None
    ) -> tuple[Any, Called]:
        """(what is returned, the whole reply) of one call over the wire; what it has changed is changed here, too."""
        scope: Scope = Scope(lambda head: self.ask(head, scope=scope))
        modes = _get_current_dispatch_mode_stack()
        with torch._C.DisableTorchFunction(), _disable_current_modes():  # what happens here is not the learner's doing
            head: Call = {
                "do": do,
                "target": target,
                "key": (self.attempts, torch.initial_seed()),
                "random": pack(torch.get_rng_state()),
                "watched": bool(modes),
            }
            if module is not None:
                scope.parameters = list(module.parameters())
                head |= {
                    "own": [name for name, _ in module.named_parameters()],
                    "train": bool(module.training),
                    "dtype": str(module.dtype).removeprefix("torch."),
                }
            try:
                value, reply = scope.call(head, inputs)
                torch.set_rng_state(unpack(reply["random"]))
                self.printed = max(self.printed, min(int(reply["printed"]), 10**6))
                self.warned += [errors.cut(str(one), 100) for one in reply["warned"][: sandbox.WARNINGS]]
                self.borrowed |= bool(reply["borrowed"])
                for number, node in reply["inputs"]:
                    restore(inputs[number], unpack(node))
                if reply["given"] is not None:  # one of the inputs itself, not another one like it
                    value = inputs[reply["given"]]
                replay(reply["operations"], inputs, modes)
            except (Remote, Endless):
                raise
            except Exception as error:
                self.process.end()
                if isinstance(error, Broken):
                    raise
                raise Broken(f"a reply that cannot be read ({type(error).__name__})") from error
        return value, reply

    # What the checker runs a call with

    def run(self, call: Callable) -> Outcome:
        """Like `sandbox.attempt`: an outcome, whatever happens in the other process."""
        starved = self.process.starved
        outcome = self.outcome(call)
        outcome.uncounted = self.process.starved - starved
        return outcome

    def outcome(self, call: Callable) -> Outcome:
        self.attempts += 1
        self.failed, self.printed, self.warned = None, 0, []
        torch.random.default_generator.manual_seed(0)
        try:
            if len(self.ended) >= ENDS:  # it will end this time, too
                raise self.ended[-1]
            value = call()
        except Endless as error:
            self.asking |= isinstance(error, Asking)
            return Outcome("endless")
        except Broken as error:
            self.ended.append(error)
            return Outcome("raised", error=f"Ended: {error}")
        except Exception as error:
            return self.raised(error)
        if type(value).__name__ == "ellipsis":
            return Outcome("empty")
        return Outcome("value", value, printed=self.printed, warned=tuple(self.warned))

    def raised(self, error: Exception) -> Outcome:
        about = self.failed if self.failed and str(self.failed["text"]) == str(error) else None
        if about and about.get("empty"):
            return Outcome("empty", unfinished=str(about["unfinished"])[:80])
        line = str(about.get("line", ""))[:200] if about else ""
        return Outcome("raised", error=errors.name_error(error), line=line, printed=self.printed)


class RemoteModule(nn.Module):
    """A module whose forward pass runs in the other process, with the parameters held here."""

    student: Student
    target: int
    dtype: torch.dtype

    def grow(self, layers: Layers) -> None:
        """Takes over the layers of the module in the other process."""
        for name, kind in layers["lists"]:
            vars(self)[str(name)] = {"tuple": (nn.Module(),), "dict": {0: nn.Module()}}.get(kind, [nn.Module()])
        made = [
            nn.parameter.UninitializedParameter()
            if node is None
            else nn.Parameter(unpack(node), requires_grad=bool(node[-1]))
            for node in layers["values"]
        ]
        count = sum(1 if lazy(one) else one.numel() for one in made)
        self.student.process.large |= count > NUMBERS >> 5
        if count > NUMBERS or len(layers["names"]) > ITEMS:
            raise Broken("more parameters than any exercise needs")
        register(self, [(name, made[number]) for name, number in layers["names"]])

    def to(self, dtype: torch.dtype) -> nn.Module:
        self.dtype = dtype
        return super().to(dtype)

    def run(self, inputs: tuple) -> Any:
        value, reply = self.student.request("call", self.target, inputs, self)
        if reply["made"]:  # so that code watching for new parameters sees that there were some
            nn.Module().register_parameter("made", nn.Parameter(torch.zeros(())))
        if reply["layers"]:  # those that only a call could make
            self.grow(reply["layers"])
        return value


NOTHING: Function = {"signature": None, "returns": ("more", False, 0)}  # a function of which nothing is known


def dressed(function: Callable, about: Function | Description, name: str) -> Callable:
    """A function with the signature of another. The checker looks inside, so an empty one is empty here, too."""

    def wrapped(*inputs: Any) -> Any:
        return function(*inputs)

    made: Any = wrapped
    made.__name__ = made.__qualname__ = name
    made.__signature__ = signature_of(about["signature"])
    word, is_lambda, count = about["returns"]
    if word in ("None", "..."):
        names = ", ".join(f"_{n}" for n in range(min(int(count), 50)))
        empty = made.__wrapped__ = eval(f"lambda {names}: {word}")
        empty.__code__ = empty.__code__ if is_lambda else empty.__code__.replace(co_name="function")
    return made


def signature_of(about: Parameters | None) -> inspect.Signature | None:
    if about is None:
        return None
    default = {True: None, False: inspect.Parameter.empty}
    return inspect.Signature(
        [
            inspect.Parameter(name, inspect._ParameterKind(kind), default=default[optional])
            for name, kind, optional in about
        ]
    )


def restore(value: Any, new: Any) -> None:
    """Changes an input in the way that the call has changed it."""
    if isinstance(value, torch.Tensor) and isinstance(new, torch.Tensor):
        value.data = new.to(value.dtype)
    elif isinstance(value, torch.Generator) and isinstance(new, torch.Generator):
        value.set_state(new.get_state())
    elif isinstance(value, list) and isinstance(new, list):
        value[:] = new
    elif isinstance(value, dict) and isinstance(new, dict):
        value.clear()
        value.update(new)
    elif hasattr(value, "shape") and getattr(new, "shape", None) == value.shape:
        value[...] = new


def replay(operations: list[Operation], inputs: tuple, modes: list) -> None:
    """Shows the operations of the other process to those who watch operations here: names and sizes, but no numbers."""
    known = [tensor for one in inputs for tensor in tensors_of(one)]

    def ghost(place: int | None, shape: list[int], stored: int, dtype: str) -> torch.Tensor:
        tensor = torch.empty(stored, dtype=DTYPES[dtype], device="meta") if place is None else known[place]
        return tensor.detach().as_strided(shape, [0] * len(shape))

    for name, given, made in operations:
        results = tuple(ghost(*one) for one in made)

        def operation(*_: Any, results: tuple = results, **__: Any) -> Any:
            return results[0] if len(results) == 1 else results

        seen: Any = operation
        seen.overloadpacket = SimpleNamespace(__name__=str(name))
        for mode in modes:
            mode.__torch_dispatch__(seen, (), [ghost(*one) for one in given])
