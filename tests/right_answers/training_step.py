"""Right answers to training_step, each in a style of its own."""

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.catalogue.training_step import exercise


@exercise.right("the classes in dimension 1; gradients cleared at the end")
def cleared_at_the_end(model, optimizer, tokens):
    loss = F.cross_entropy(model(tokens[:, :-1]).transpose(1, 2), tokens[:, 1:])
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    return float(loss)


@exercise.right("the logarithm of the softmax by hand; the last logits dropped")
def by_hand(model, optimizer, tokens):
    model.train()
    model.zero_grad()
    logits = model(tokens)[:, :-1]  # (batch, length, vocabulary)
    log_p = logits - logits.logsumexp(dim=-1, keepdim=True)
    loss = -log_p.gather(-1, tokens[:, 1:, None]).mean()
    loss.backward()
    optimizer.step()
    return loss.detach().numpy().item()


@exercise.right("one sequence after another, gradients added up")
def one_by_one(model, optimizer, tokens):
    optimizer.zero_grad()
    total = 0.0
    for sequence in tokens:
        loss = F.cross_entropy(model(sequence[None, :-1])[0], sequence[1:]) / len(tokens)
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


@exercise.right("a closure for the optimizer")
def with_a_closure(model, optimizer, tokens):
    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].reshape(-1))
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@exercise.right("gradients asked for, not accumulated")
def asked_for(model, optimizer, tokens):
    loss = F.nll_loss(model(tokens[:, :-1]).log_softmax(dim=-1).flatten(0, 1), tokens[:, 1:].flatten())
    parameters = list(model.parameters())
    for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        parameter.grad = gradient
    optimizer.step()
    return loss.item()
