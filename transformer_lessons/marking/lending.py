"""Calls from one side to the other, with gradients, while models and optimizers stay where they are.

The side that is lent a model has a stand-in, with the same parameters under the same names. Calls and gradients go to
the real one. Every message makes the parameters, their gradients and the training modes the same on both sides.
"""

from __future__ import annotations

import builtins
import itertools
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from transformer_lessons.marking.wire import DEPTH, Broken, has_many_parts, name_for, name_of, pack, unpack
from transformer_lessons.running.watching import Watching

if TYPE_CHECKING:  # after each call, a student's process looks whether all that it has imported is as it was
    from transformer_lessons.marking.messages import (
        Back,
        Call,
        Done,
        Lent,
        Node,
        Operation,
        Refusal,
        Request,
        Returned,
        State,
        Step,
    )

KEYS: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # of the models and optimizers lent so far
COUNT = itertools.count()
HELD: dict[int, Any] = {}  # key → the last stand-in for it


class Scope:
    """What both sides know by number during one call: parameters, modules, objects, and the calls made so far."""

    def __init__(self, ask: Callable[[Request], Any]) -> None:
        self.ask = ask  # sends a request to the other side and returns its reply
        self.parameters: list[nn.Parameter] = []
        self.modules: list[nn.Module] = []  # lent or borrowed
        self.objects: list[Any] = []  # whatever was lent
        self.graphs: list[tuple[list[torch.Tensor], list[torch.Tensor]]] = []  # results and leaves of each call
        self.known: dict[int, list[Node]] = {}  # parameter → it and its gradient, as the other side has them

    def number(self, parameter: nn.Parameter) -> int:
        """The number of a parameter; an unknown one gets the next."""
        for place, one in enumerate(self.parameters):
            if one is parameter:
                return place
        self.parameters.append(parameter)
        return len(self.parameters) - 1

    def trained(self) -> list[torch.Tensor]:
        return [one for one in self.parameters if one.requires_grad and not lazy(one)]

    # State

    def state(self) -> State:
        """The parameters and gradients that the other side does not know yet, and the training modes."""
        now = {number: [None if lazy(one) else pack(one), pack(one.grad)] for number, one in enumerate(self.parameters)}
        changed = [(number, node) for number, node in now.items() if self.known.get(number) != node]
        self.known = now
        return {"parameters": changed, "modes": [[one.training for one in each.modules()] for each in self.modules]}

    def update(self, state: State) -> None:
        """Takes over the other side's state. What it has not changed is not touched."""
        for number, node in state["parameters"]:
            value, gradient = map(unpack, node)
            self.known[number] = node
            if number == len(self.parameters):
                self.parameters.append(nn.Parameter(value, requires_grad=node[0][-1]))
            parameter = self.parameters[number]
            if any(one is not None and one.shape != parameter.shape for one in (value, gradient)):
                raise Broken("a parameter of another shape")
            if value is not None and not torch.equal(parameter, value):
                with torch.no_grad():
                    parameter.copy_(value)
            parameter.grad = None if gradient is None else gradient.to(parameter.dtype)
        for module, modes in zip(self.modules, state["modes"], strict=False):  # a stand-in may not exist yet
            for one, mode in zip(module.modules(), modes, strict=True):
                one.training = bool(mode)

    # The side that asks

    def request(self, head: Call | Back | Step) -> Any:
        head["grad"], head["state"] = torch.is_grad_enabled(), self.state()
        reply = self.ask(head)
        if "state" in reply:
            self.update(reply["state"])
        if "error" in reply:
            raise error_of(reply["error"])(reply["text"])
        return reply

    def call(self, head: Call, inputs: Sequence) -> tuple[Any, Any]:
        """(what the other side's object returns, the whole reply); gradients flow through the call."""
        leaves = [one for one in inputs if isinstance(one, torch.Tensor) and one.requires_grad] + self.trained()
        nodes = [pack(one, self.lend) for one in inputs]
        reply = self.request(head | {"inputs": nodes})
        value = unpack(reply.get("ok"))

        def back(gradients: Iterable) -> list[torch.Tensor | None]:
            nodes = self.request({"do": "back", "graph": reply["graph"], "gradients": list(map(pack, gradients))})
            found = list(map(unpack, nodes["ok"]))
            if [one.shape for one in leaves] != [
                leaf.shape if one is None else one.shape for one, leaf in zip(found, leaves, strict=True)
            ]:
                raise Broken("gradients that do not fit")
            return found

        return into_graph(value, reply.get("flags"), leaves, back), reply

    # The side that answers

    def run(self, function: Callable, head: Call, inputs: list) -> tuple[Any, Returned]:
        """(what a function returns, the reply), called as the other side asks."""
        leaves = [
            one.requires_grad_()
            for one, node in zip(inputs, head["inputs"], strict=True)
            if isinstance(node, list) and node[0] == "tensor" and node[-1]
        ] + self.trained()
        with torch.set_grad_enabled(bool(head["grad"])):
            result = function(*inputs)
        self.graphs.append((tensors_of(result), leaves))
        return result, {
            "ok": name_of(result) if has_many_parts(result) else pack(result),
            "graph": len(self.graphs) - 1,
            "flags": [one.requires_grad for one in tensors_of(result)],
        }

    def serve(self, head: Call | Back | Step) -> dict[str, Any]:
        """The reply to a request: a call to something lent, a call's backward pass, an optimizer's step."""
        reply: Returned | Done | Refusal
        try:
            if "state" in head:
                self.update(head["state"])
            if head["do"] == "back":
                reply = {"ok": list(map(pack, self.gradients(head["graph"], map(unpack, head["gradients"]))))}
            elif head["do"] == "call":
                _, reply = self.run(self.objects[head["target"]], head, list(map(unpack, head["inputs"])))
            elif head["do"] in ("step", "zero_grad") and isinstance(
                self.objects[head["target"]], torch.optim.Optimizer
            ):
                getattr(self.objects[head["target"]], head["do"])()
                reply = {"ok": None}
        except Broken:
            raise
        except Exception as error:  # as it would have been raised in the student's own call
            reply = {"error": type(error).__name__, "text": str(error)[:2000]}
        return {**reply, "state": self.state()}

    def gradients(self, number: int, gradients: Iterable) -> Sequence[torch.Tensor | None]:
        """The gradients of a call's inputs and parameters; None where nothing leads back."""
        results, leaves = self.graphs[number]
        pairs = [
            (one, gradient)
            for one, gradient in zip(results, gradients, strict=True)
            if gradient is not None and one.requires_grad
        ]
        if not pairs or not leaves:
            return [None] * len(leaves)
        roots, given = zip(*pairs, strict=True)
        return torch.autograd.grad(roots, leaves, given, allow_unused=True, retain_graph=True)

    # Lending and borrowing

    def lend(self, value: Any) -> Node:
        """What the other side needs for a stand-in."""
        if not isinstance(value, (nn.Module, torch.optim.Optimizer)) and not callable(value):
            return ["object", type(value).__name__]
        about: Lent = {"number": len(self.objects), "name": type(value).__name__}
        self.objects.append(value)
        if isinstance(value, (nn.Module, torch.optim.Optimizer)):
            about["key"] = KEYS.setdefault(value, next(COUNT))
        if isinstance(value, nn.Module):
            self.modules.append(value)
            about["modules"] = [(name, *attributes_of(one)) for name, one in value.named_modules()]
            about["own"] = [(name, self.number(one)) for name, one in value.named_parameters(remove_duplicate=False)]
        if isinstance(value, torch.optim.Optimizer):
            about["defaults"] = packed(value.defaults)
            about["groups"] = [
                packed(group) | {"params": [self.number(one) for one in group["params"]]}
                for group in value.param_groups
            ]
        return ["lent", about]

    def borrow(self, node: Node) -> Any:
        """The stand-in."""
        about: Lent = node[1]
        number = about["number"]
        if "groups" in about:
            groups = [
                unpacked(group) | {"params": [self.parameters[n] for n in group["params"]]} for group in about["groups"]
            ]
            kind = getattr(torch.optim, about["name"], torch.optim.Optimizer)
            made = type(about["name"], (StandInOptimizer, kind), {})
            ask = lambda what: self.request({"do": what, "target": number})  # noqa: E731
            return as_before(made(groups, unpacked(about["defaults"]), ask), about)

        def call(*inputs: Any) -> Any:
            return self.call({"do": "call", "target": number}, inputs)[0]

        if "modules" not in about:
            return call
        # It is one and the same model, wherever it is asked: a copy of it is itself.
        members = {"forward": lambda self, *inputs: call(*inputs), "__deepcopy__": lambda self, memo: self}
        module = type(about["name"], (nn.Module,), members)()
        for name, kind, attributes in about["modules"]:
            if name:  # PyTorch's own layers work by themselves
                layer = nn.Module.__new__(getattr(nn, kind, nn.Module))
                nn.Module.__init__(layer)
                module.get_submodule(name.rpartition(".")[0]).add_module(name.rpartition(".")[2], layer)
            vars(module.get_submodule(name)).update(attributes)
        register(module, [(name, self.parameters[n]) for name, n in about["own"]])
        self.modules.append(module)
        return as_before(module, about)


def packed(settings: dict[str, Any]) -> dict[str, Node]:
    """An optimizer's settings, for the other side; its parameters travel by number."""
    return {name: pack(setting) for name, setting in settings.items() if name != "params"}


def unpacked(settings: dict[str, Node]) -> dict[str, Any]:
    return {name: unpack(node) for name, node in settings.items() if name != "params"}


def as_before(stand_in: Any, about: Lent) -> Any:
    """Adds what an answer has noted on the last stand-in for the same model or optimizer: a count of calls, say."""
    last = vars(HELD.get(about["key"], stand_in))
    vars(stand_in).update({name: value for name, value in last.items() if name not in vars(stand_in)})
    HELD[about["key"]] = stand_in
    return stand_in


class StandInOptimizer(torch.optim.Optimizer):
    def __init__(
        self, groups: list[dict], defaults: dict[str, Any], ask: Callable[[str], Any]
    ) -> None:  # not PyTorch's own, which loads its compiler and takes a second
        self.param_groups, self.state, self.defaults, self.ask = groups, {}, defaults, ask
        self.__setstate__({})  # sets up what hooks and state_dict need

    def step(self, closure: Callable | None = None) -> Any:
        loss = None if closure is None else closure()
        self.ask("step")
        return loss

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.ask("zero_grad")


class Noting(Watching):
    """While it is active, notes each operation: its name, and the sizes of the tensors that it reads and makes."""

    def __init__(self, inputs: Iterable) -> None:
        super().__init__()
        tensors = [tensor for one in inputs for tensor in tensors_of(one)]
        self.places = {one.untyped_storage().data_ptr(): number for number, one in enumerate(tensors)}
        self.noted: list[Operation] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        result = function(*args, **(kwargs or {}))
        self.noted.append(
            (function.overloadpacket.__name__, *(list(map(self.sizes, tensors_of(one))) for one in (args, result)))
        )
        return result

    def sizes(self, tensor: torch.Tensor) -> tuple[int | None, list[int], int, str]:
        """(which input's memory it uses, or None; its shape; the size of its memory; its dtype)"""
        storage = tensor.untyped_storage()
        return (
            self.places.get(storage.data_ptr()),
            list(tensor.shape),
            storage.nbytes() // tensor.element_size(),
            str(tensor.dtype).removeprefix("torch."),
        )


class Through(torch.autograd.Function):
    """Puts results that were computed elsewhere into the graph; `back` fetches the gradients from there."""

    @staticmethod
    def forward(ctx: Any, back: Callable, results: list[tuple[torch.Tensor, bool]], *leaves: torch.Tensor) -> tuple:
        ctx.back = back
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*(one for one, differentiable in results if not differentiable))
        return tuple(one for one, _ in results)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple:
        return (None, None, *ctx.back(gradients))


def into_graph(value: Any, flags: list[bool] | None, leaves: list[torch.Tensor], back: Callable) -> Any:
    """The same value, whose tensors get their gradients from the other side."""
    if not (flags and any(flags) and leaves and torch.is_grad_enabled()):
        return value
    fresh = iter(Through.apply(back, list(zip(tensors_of(value), flags, strict=True)), *leaves))
    if isinstance(value, torch.Tensor):
        return next(fresh)
    return type(value)(next(fresh) if isinstance(one, torch.Tensor) else one for one in value)


def tensors_of(value: Any) -> list[torch.Tensor]:
    """The tensors of a result: one, or several in a tuple or list."""
    several = value if isinstance(value, (tuple, list)) else [value]
    return [one for one in several if isinstance(one, torch.Tensor)]


def register(module: nn.Module, named: Iterable[tuple[str, nn.Parameter]]) -> None:
    """Registers parameters under their names, in plain submodules where there is a dot."""
    for name, parameter in named:
        if name.count(".") > DEPTH:
            raise Broken("modules that are nested too deeply")
        owner = module
        for part in name.split(".")[:-1]:
            if part not in owner._modules:
                owner.add_module(part, nn.Module())
            owner = owner._modules[part]
        owner.register_parameter(name.split(".")[-1], parameter)


def lazy(parameter: nn.Parameter) -> bool:
    return isinstance(parameter, nn.parameter.UninitializedParameter)


def attributes_of(module: nn.Module) -> tuple[str, dict[str, Any]]:
    """(the name of PyTorch's layer, the settings) of a module; neither for an exercise's own: they might tell."""
    kind = type(module).__module__
    if not kind.startswith(("torch.nn", "transformer_lessons.")) or ".exercises." in kind:
        return "", {"training": module.training}
    settings = {
        name: value
        for name, value in vars(module).items()
        if name[0] != "_" and (value is None or type(value) in (bool, int, float, tuple))
    }
    settings |= {name: None for name, value in module._parameters.items() if value is None}
    return type(module).__name__ if kind.startswith("torch.nn") else "", settings


def error_of(name: str) -> type[Exception]:
    """The exception with that name, or a new one."""
    known = vars(builtins).get(name)
    return known if isinstance(known, type) and issubclass(known, Exception) else type(name_for(name), (Exception,), {})
