"""The exercise `training_step`: two steps in a row, compared by losses, weights and the order of events."""

import copy
import re

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons.exercises.checker.setup import Setup, normal


class Linear(nn.Module):
    """nn.Linear with these numbers, but quicker to make."""

    def __init__(self, weight, bias):
        super().__init__()
        self.weight, self.bias = nn.Parameter(weight), nn.Parameter(bias)

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


class Reader(nn.Module):
    """A small causal model: position t outputs logits made of the tokens up to t. The mode shows in its outputs."""

    def __init__(self, codes, weight, bias):
        super().__init__()
        self.embedding = nn.Embedding(*codes.shape, _weight=codes)
        self.linear = Linear(weight, bias)

    def forward(self, tokens):
        x = self.embedding(tokens)  # (batch, length, features)
        x = torch.tanh(x + 0.3 * x.cumsum(dim=1))  # (batch, length, features)
        return self.linear(x if self.training else 0.5 * x)  # (batch, length, vocabulary)

    def __deepcopy__(self, memo):
        return Reader(*(one.detach().clone() for one in self.parameters()))


class Rehearsal:
    """A model as it was before the first step, copied afresh for each run."""

    def __init__(self, model):
        self.model = model

    def __call__(self):
        return copy.deepcopy(self.model).train()


class Sgd(torch.optim.Optimizer):
    """Gradient descent with momentum. It has its own methods, because PyTorch's would load its compiler first."""

    def __init__(self, parameters):
        super().__init__(parameters, {"lr": 0.5, "momentum": 0.5})

    def add_param_group(self, param_group):
        self.param_groups.append(self.defaults | {**param_group, "params": list(param_group["params"])})

    def zero_grad(self, set_to_none=True):
        for one in self.param_groups[0]["params"]:
            one.grad = None if set_to_none or one.grad is None else torch.zeros_like(one)

    @torch.no_grad()
    def step(self, closure=None):
        with torch.enable_grad():
            loss = closure and closure()
        for one in self.param_groups[0]["params"]:
            if one.grad is not None:
                self.state[one] = 0.5 * self.state.get(one, 0) + one.grad
                one -= 0.5 * self.state[one]
        return loss


def noting_sgd(model, events):
    """An optimiser that notes "s" at each step, "S" at one without gradients; and "b" when gradients are computed."""
    optimizer = Sgd(model.parameters())
    model.linear.weight.register_hook(lambda gradient: events.append("b"))

    def note(*_):
        gradients = [one.grad for one in model.parameters()]
        events.append("s" if any(one is not None and bool(one.any()) for one in gradients) else "S")

    optimizer.register_step_post_hook(note)
    return optimizer


def draw_rehearsal(generator, batch, length, vocabulary, features):
    """A model, an optimiser, and the tokens of two steps, (batch, length) each. In each sequence all tokens differ."""
    tokens = torch.stack([torch.randperm(vocabulary, generator=generator)[:length] for _ in range(2 * batch)])
    model = Reader(
        normal(generator, vocabulary, features),
        normal(generator, vocabulary, features),
        normal(generator, vocabulary, scale=0.3),
    )
    return Rehearsal(model), noting_sgd, *tokens.split(batch)


HISTORY = {
    "bs": "gradients, then a step",
    "s": "gradients, then a step",
    "": "neither gradients nor a step of the optimiser",
    "b": "gradients, but no step of the optimiser",
    "S": "a step without gradients",
    "bS": "gradients cleared before the step",
    "Sb": "a step before the gradients",
    "sb": "a step before the gradients",
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
        history.append(HISTORY.get(kinds, "gradients and steps in turn"))
        if not model.training:
            history.append("the model is left in eval mode")
    return losses, torch.stack(weights), history


A_TENSOR = "a tensor, not a float"


OF_A_TENSOR = (
    "The number is right, but it comes in a tensor or an array; the exercise asks for a float. A tensor "
    "that still has its graph keeps all the intermediate results of the forward pass in memory for as long "
    "as you keep the loss."
)


INTO_A_FLOAT = "how do you get the number out of a tensor that holds only one?"


def is_a_float(call, rehearsal, sgd, tokens, *_):
    """The loss is right; is it a float?"""
    model = rehearsal()
    wrong = isinstance(call(model, sgd(model, []), tokens), (torch.Tensor, np.ndarray))
    return (A_TENSOR, OF_A_TENSOR, INTO_A_FLOAT) if wrong else None


def what_is_wrong(observed, expected, *_):
    """What happened, if something else should have."""
    if observed[2] == expected[2]:
        return None
    return f"What happened in two calls: {'; '.join(observed[2])}. Expected both times: {expected[2][0]}."


setup = Setup(
    sizes=[
        {"batch": 2, "length": 4, "vocabulary": 6, "features": 3},
        {"batch": 3, "length": 6, "vocabulary": 8, "features": 4},
        {"batch": 4, "length": 3, "vocabulary": 9, "features": 5},
        {"batch": 1, "length": 5, "vocabulary": 7, "features": 4},
    ],
    draw=draw_rehearsal,
    observe=two_steps,
    returns=("losses", "weights", "what happened"),
    checks=(is_a_float,),
    symptoms=(what_is_wrong,),
    names_steps=False,
)
