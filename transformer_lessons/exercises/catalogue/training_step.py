"""How the inputs of `training_step` are drawn, and what happens in two steps in a row."""

import copy
import re
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons.exercises.catalogue.plain_results import not_a_float
from transformer_lessons.exercises.checker.setup import Setup, normal


class Reader(nn.Module):
    """A small causal model: position t outputs logits made of the tokens up to t. The mode shows in its outputs."""

    def __init__(self, *numbers):
        super().__init__()
        self.codes, self.weight, self.bias = map(nn.Parameter, numbers)

    def forward(self, tokens):
        x = F.embedding(tokens, self.codes)  # (batch, length, features)
        x = torch.tanh(x + 0.3 * x.cumsum(dim=1))  # (batch, length, features)
        return F.linear(x if self.training else 0.5 * x, self.weight, self.bias)  # (batch, length, vocabulary)


class Sgd(torch.optim.Optimizer):
    """Gradient descent with momentum. It has its own methods, because PyTorch's would load its compiler first.

    It notes "s" at each step, "S" at one without gradients; and "b" when gradients are computed.
    """

    def __init__(self, model, events):
        super().__init__(model.parameters(), {"lr": 0.5, "momentum": 0.5})
        self.events = events
        model.weight.register_hook(lambda gradient: events.append("b"))

    def add_param_group(self, param_group):
        self.param_groups.append(self.defaults | {**param_group, "params": list(param_group["params"])})

    def zero_grad(self, set_to_none=True):
        for one in self.param_groups[0]["params"]:
            one.grad = None if set_to_none or one.grad is None else torch.zeros_like(one)

    @torch.no_grad()
    def step(self, closure=None):
        with torch.enable_grad():
            loss = closure and closure()
        known = [one for one in self.param_groups[0]["params"] if one.grad is not None]
        for one in known:
            self.state[one] = 0.5 * self.state.get(one, 0) + one.grad
            one -= 0.5 * self.state[one]
        self.events.append("s" if any(bool(one.grad.any()) for one in known) else "S")
        return loss


def draw_rehearsal(generator, batch, length, vocabulary, features, sure=1.0):
    """A model, an optimiser, and the tokens of two steps, (batch, length) each. In each sequence all tokens differ.

    A sure model gives some targets a probability of almost 0.
    """
    tokens = torch.stack([torch.randperm(vocabulary, generator=generator)[:length] for _ in range(2 * batch)])
    sizes = (vocabulary, features), (vocabulary, features), (vocabulary,)
    model = Reader(*(normal(generator, *size, scale=1.0 if len(size) > 1 else 0.3) for size in sizes))
    model.weight.data *= sure
    return partial(copy.deepcopy, model), Sgd, *tokens.split(batch)  # a model afresh for each run


HISTORY = {
    "bs": "gradients, then a step",
    "s": "gradients, then a step",
    "": "neither gradients nor a step of the optimiser",
    "b": "gradients, but no step of the optimiser",
    "S": "a step without gradients",
    "bS": "gradients cleared before the step",
    "Sb": "a step before the gradients",
    "sb": "a step before the gradients",
    "bsbs": "gradients and several steps in turn",
}


def two_steps(call, rehearsal, sgd, *batches):
    """The losses, the weights and what happened, after each of two steps in a row."""
    losses, weights, history, events = [], [], [], []
    model = rehearsal()
    optimizer = sgd(model, events)
    for tokens in batches:
        events.clear()
        losses.append(call(model, optimizer, tokens))
        weights.append(torch.cat([one.detach().flatten() for one in model.parameters()]))
        kinds = re.sub(r"(.)\1+", r"\1", "".join(events))
        history.append(
            HISTORY.get(kinds, HISTORY["bsbs"] if kinds.lower().count("s") > 1 else "gradients and a step in turn")
        )
        history += ["the model is left in eval mode"] * (not model.training)
    return losses, torch.stack(weights), history


def is_a_float(call, rehearsal, sgd, tokens, *_):
    model = rehearsal()
    return not_a_float(call(model, sgd(model, []), tokens))


def what_is_wrong(observed, expected, *_):
    """What happened, if something else should have."""
    same = observed[2] == expected[2]
    happened = f"What happened in two calls: {'; '.join(observed[2])}. Expected both times: {expected[2][0]}."
    return None if same else happened


setup = Setup(
    sizes=[
        {"batch": 2, "length": 4, "vocabulary": 6, "features": 3},
        {"batch": 3, "length": 6, "vocabulary": 8, "features": 4},
        {"batch": 4, "length": 3, "vocabulary": 9, "features": 5, "sure": 10.0},
        {"batch": 1, "length": 5, "vocabulary": 7, "features": 4},
    ],
    draw=draw_rehearsal,
    observe=two_steps,
    returns=("losses", "weights", "order of the calls"),
    checks=[is_a_float],
    symptoms=[what_is_wrong],
    signs=lambda observed, *_: ["more than one step"] * (HISTORY["bsbs"] in observed[2]),
    names_steps=False,
)
