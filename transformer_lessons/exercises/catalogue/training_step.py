"""The exercise `training_step`: two steps in a row, compared by losses, weights and the order of events."""

import copy
import math
import re

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal


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


exercise = Exercise(
    name="training_step",
    lesson=7,
    title="One step of training",
    difficulty=2,
    importance=3,
    minutes=10,
    contract="""training_step(model, optimizer, tokens) takes one step of training and returns its loss, a float. tokens
        (batch, length) are token ids. model, which is causal, turns ids into logits (batch, length, vocabulary); it is
        in training mode, and must stay in that mode. The inputs are all tokens but the last of each sequence, the
        targets all but the first, so the logits at each position predict the next token. The loss is the cross-entropy
        in nats, averaged over all positions of all sequences, with the weights as they were before the step. The
        optimiser then takes one step with the gradients of this loss alone: those of earlier calls must not count, and
        on the first call there are none. Do not change tokens.""",
    stub='''
        def training_step(model, optimizer, tokens):
            """One step of training on tokens (batch, length). Returns the loss, a float."""
            raise NotImplementedError''',
    sizes=[
        {"batch": 2, "length": 4, "vocabulary": 6, "features": 3},
        {"batch": 3, "length": 6, "vocabulary": 8, "features": 4},
        {"batch": 4, "length": 3, "vocabulary": 9, "features": 5},
        {"batch": 1, "length": 5, "vocabulary": 7, "features": 4},
    ],
    draw=draw_rehearsal,
    reference=lambda *inputs: TrainingStep()(*inputs),
    observe=two_steps,
    returns=("losses", "weights", "what happened"),
    checks=(is_a_float,),
    symptoms=(what_is_wrong,),
    names_steps=False,
    hints=[
        (
            "which token predicts which",
            "Write down one sequence, and under each token the one it should "
            "predict. Which token has nothing to predict, and which is never predicted?",
        ),
        (
            "the loss is not right",
            "F.cross_entropy takes logits, not probabilities. It wants the classes in "
            "dimension 1, or a table with one row for each prediction: how do you get one row "
            "for each position of each sequence, and which targets go with them?",
        ),
        (
            "the weights are not right",
            "Three things happen to .grad: it is cleared, backward adds to it, and the "
            "optimiser reads it. What is the right order?",
        ),
    ],
    solution="""
        import torch.nn.functional as F

        def training_step(model, optimizer, tokens):
            inputs, targets = tokens[:, :-1], tokens[:, 1:]
            logits = model(inputs)
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return loss.item()""",
)


@exercise.right("step by step")
class TrainingStep(Steps):
    def __call__(self, model, optimizer, tokens):
        inputs, targets = self.shift(tokens)
        loss = self.loss(self.predict(model, inputs), targets)
        self.improve(loss, optimizer)
        return self.result(loss, model, tokens)

    def shift(self, tokens):
        return tokens[:, :-1], tokens[:, 1:]

    def predict(self, model, inputs):
        return model(inputs)

    def loss(self, logits, targets):
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    def improve(self, loss, optimizer):
        self.clear(optimizer)
        self.back(loss)
        self.move(optimizer)

    def clear(self, optimizer):
        optimizer.zero_grad()

    def back(self, loss):
        loss.backward()

    def move(self, optimizer):
        optimizer.step()

    def result(self, loss, model, tokens):
        return loss.item()


# Which token predicts which
mistake = exercise.section(hint=1)
mistake(
    "no shift",
    pairs=4,
    why="Inputs and targets are the same tokens, so the model is trained to repeat its input. "
    "The loss will fall to nearly 0, and nothing useful is learned.",
    look="what should the logits at position 0 predict?",
    shift=[
        lambda tokens: (tokens, tokens),
        lambda tokens: (tokens[:, :-1], tokens[:, :-1]),
        lambda tokens: (tokens[:, 1:], tokens[:, 1:]),
    ],
    variants=[
        {
            "shift": lambda tokens: (tokens, tokens),
            "loss": lambda step, logits, targets: step(logits[:, 1:], targets[:, 1:]),
        }
    ],
)
mistake(
    "shifted the wrong way",
    why="Each position is trained to give the token before it, so the model learns to look back instead of ahead.",
    look="which begins with the first token, the inputs or the targets?",
    shift=lambda tokens: (tokens[:, 1:], tokens[:, :-1]),
)
mistake(
    "shifted twice",
    why="The targets are two tokens ahead, so the model learns to skip a token.",
    look="how far is each target from its input? Are the tokens shifted in more than one place?",
    shift=[lambda tokens: (tokens[:, :-2], tokens[:, 2:])],
)
mistake(
    "the batch is shifted",
    pairs=0,
    why="The shift is along the first dimension, so the targets of each sequence are another sequence.",
    look="which dimension of tokens is the batch, and which the length?",
    shift=lambda tokens: (tokens[:-1], tokens[1:]),
)
mistake(
    "the first token as the last target",
    why="The last position is trained to predict the first token of "
    "its sequence, as with torch.roll, but that token does not follow it.",
    look="what is the target at the last position, and which token has no next one?",
    shift=lambda tokens: (tokens, tokens.roll(-1, dims=1)),
)
mistake(
    "one position too few",
    pairs=3,
    why="One prediction, at the start or the end of each sequence, is left out, so it is never trained.",
    look="a sequence of n tokens has n - 1 predictions. How many reach your loss?",
    shift=[lambda tokens: (tokens[:, :-2], tokens[:, 1:-1]), lambda tokens: (tokens[:, 1:-1], tokens[:, 2:])],
    loss=[lambda logits, targets, step: step(logits[:, 1:], targets[:, 1:])],
)

# The loss
mistake = exercise.section(hint=2)
mistake(
    "only the last position",
    why="Only the prediction at the last position counts. A causal model predicts at "
    "every position, and learns from all of them at once.",
    look="which positions of the logits reach the loss?",
    loss=lambda logits, targets: F.cross_entropy(logits[:, -1], targets[:, -1]),
)
mistake(
    "only the first position",
    pairs=0,
    why="Only the prediction of the second token counts. A causal model "
    "predicts at every position, and learns from all of them at once.",
    look="which positions of the logits reach the loss?",
    loss=lambda logits, targets: F.cross_entropy(logits[:, 0], targets[:, 0]),
)
mistake(
    "only one sequence",
    why="Only one sequence of the batch counts towards the loss.",
    look="the first dimension of logits and targets: do all sequences reach the loss?",
    loss=[
        lambda logits, targets: F.cross_entropy(logits[0], targets[0]),
        lambda logits, targets: F.cross_entropy(logits[-1], targets[-1]),
    ],
)
mistake(
    "the loss summed",
    pairs=1,
    why="The losses of all positions are added up instead of averaged, so the loss "
    "grows with the batch and the length.",
    look="are the losses added up, or is their mean multiplied by something?",
    loss=lambda logits, targets: F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum"),
    variants=[{"result": lambda loss, tokens: loss.item() * tokens[:, 1:].numel()}],
)
mistake(
    "a sum and a mean",
    pairs=0,
    why="The losses are averaged over the batch and added up over the positions, or "
    "the other way round; the exercise asks for the mean over both.",
    look="over which dimension is each sum and each mean? And is the loss multiplied by anything?",
    result=[lambda loss, tokens, dim=dim: loss.item() * tokens[:, 1:].shape[dim] for dim in (0, 1)],
    loss=[
        lambda logits, targets: F.cross_entropy(logits.transpose(1, 2), targets, reduction="none").sum(1).mean(),
        lambda logits, targets: F.cross_entropy(logits.transpose(1, 2), targets, reduction="none").mean(1).sum(),
    ],
)
mistake(
    "averaged over the vocabulary too",
    pairs=1,
    why="The loss is too small by a factor of the vocabulary size, as when the mean is taken over the vocabulary too.",
    look="how many numbers is your mean taken over, and how many targets are there?",
    loss=lambda right, logits: right / logits.shape[-1],
)
mistake(
    "a token that does not count",
    pairs=1,
    why="Positions whose target is a certain token, 0 or 1, are left out, "
    "as they would be if that token were padding; the exercise averages over all positions.",
    look="does `ignore_index`, or a condition, leave out any of the targets?",
    loss=[
        lambda logits, targets, one=one: F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=one)
        for one in (0, 1)
    ],
)
mistake(
    "label smoothing",
    pairs=1,
    why="A share of each target is spread evenly over all the tokens. The exercise "
    "asks for the cross-entropy with the targets themselves.",
    look="what is cross_entropy given besides logits and targets?",
    loss=[
        lambda logits, targets, share=share: F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), label_smoothing=share
        )
        for share in (0.1, 0.05, 0.2, 0.01)
    ],
)
mistake(
    "softmax before the cross-entropy",
    why="cross_entropy applies the softmax itself. If you give it "
    "probabilities, it takes the softmax of numbers between 0 and 1: the loss can never come near 0, and the gradients "
    "are small.",
    look="what does cross_entropy expect: logits or probabilities?",
    loss=lambda logits, targets: F.cross_entropy(logits.softmax(dim=-1).flatten(0, 1), targets.flatten()),
)
mistake(
    "softmax over the wrong dimension",
    pairs=0,
    why="The softmax is taken over the positions or over the batch, "
    "so the probabilities of the tokens at one position do not sum to 1.",
    look="which dimension of the logits is the vocabulary?",
    loss=[
        lambda logits, targets, dim=dim: -logits.log_softmax(dim).gather(-1, targets[..., None]).mean()
        for dim in (1, 0)
    ],
)
mistake(
    "reshaped, not transposed",
    pairs=0,
    why="Reshaping gives the logits the right shape, but leaves the numbers in their old order, so logits of different "
    "tokens and positions are mixed up.",
    look="which operation swaps two dimensions?",
    loss=lambda logits, targets: F.cross_entropy(logits.reshape(len(logits), logits.shape[-1], -1), targets),
)
mistake(
    "transposed, then flattened",
    pairs=0,
    why="The logits, or the targets, are transposed before they are flattened, so the rows of the two no longer match.",
    look="which position of which sequence is in row 1, of the logits and of the targets?",
    loss=[
        lambda logits, targets, one=one: F.cross_entropy(
            logits.transpose(one, one + 1).reshape(-1, logits.shape[-1]), targets.flatten()
        )
        for one in (1, 0)
    ]
    + [lambda logits, targets: F.cross_entropy(logits.flatten(0, 1), targets.T.flatten())],
)
mistake(
    "the classes in the last dimension",
    pairs=0,
    raises=True,
    why="cross_entropy looks for the classes in dimension 1, where these logits have the positions.",
    look="the documentation of F.cross_entropy: which shapes go together?",
    loss=lambda logits, targets: F.cross_entropy(logits, targets),
)
mistake(
    "a view of rows that do not lie side by side",
    pairs=0,
    why="`view` cannot join rows that do not "
    "lie side by side in memory: hence the error. A slice such as `tokens[:, 1:]`, for instance, skips one position in "
    "each row.",
    look="the last sentence of the error message.",
    loss=lambda logits, targets: F.cross_entropy(logits.flatten(0, 1), targets.view(-1)),
)
mistake(
    "the logits without the logarithm",
    pairs=0,
    why="The loss is minus the mean of the targets' logits. That is "
    "what nll_loss makes of logits, but it expects the logarithms of probabilities.",
    look="what does F.nll_loss expect, and what does F.cross_entropy do before it?",
    loss=[lambda logits, targets: F.nll_loss(logits.flatten(0, 1), targets.flatten())],
)
mistake(
    "the probability, not its logarithm",
    pairs=0,
    why="Minimising your loss maximises the mean probability of the "
    "targets. The cross-entropy is the mean of -ln p, and penalises a confident mistake far more.",
    look="what is the loss of a token: a probability or -ln p? And what is averaged?",
    loss=[
        lambda logits, targets, of=of: of(logits.softmax(dim=-1).gather(-1, targets[..., None]).mean())
        for of in (lambda mean: -mean, lambda mean: 1 - mean, lambda mean: -mean.log())
    ],
)
mistake(
    "the logits scaled",
    pairs=0,
    why="The logits are multiplied or divided by a number before the loss is "
    "computed, as with a temperature; the exercise takes them as they are.",
    look="what happens to the logits between the model and the loss?",
    loss=[lambda step, logits, targets, by=by: step(by * logits, targets) for by in (0.5, 2, 0.1, 10, 0.7, 0.8, 1.25)],
)
mistake(
    "a binary cross-entropy",
    pairs=0,
    why="Each token's logit or probability is compared with 0 or 1 on its own; "
    "in the cross-entropy, all tokens of the vocabulary share one softmax.",
    look="which loss does the exercise ask for?",
    loss=[
        lambda logits, targets, of=of: of(logits, F.one_hot(targets, logits.shape[-1]).to(logits))
        for of in (
            F.binary_cross_entropy_with_logits,
            lambda logits, ones: F.binary_cross_entropy(logits.softmax(dim=-1), ones),
        )
    ],
)
mistake(
    "a squared error",
    pairs=0,
    why="The loss is the squared error between the probabilities, or the logits, and "
    "one-hot vectors; the exercise asks for the cross-entropy.",
    look="which loss does the exercise ask for?",
    loss=[
        lambda logits, targets: F.mse_loss(logits.softmax(dim=-1), F.one_hot(targets, logits.shape[-1]).to(logits)),
        lambda logits, targets: F.mse_loss(logits, F.one_hot(targets, logits.shape[-1]).to(logits)),
    ],
)
mistake(
    "in bits",
    why="The loss is divided by ln 2, which turns nats into bits; the exercise asks for nats.",
    look="what is the base of your logarithm?",
    loss=lambda right: right / math.log(2),
    result=lambda right: right / math.log(2),
)
mistake(
    "the perplexity",
    pairs=0,
    why="The number returned is the perplexity, e to the power of the loss; the exercise asks for the loss.",
    look="does the loss itself need an exp?",
    loss=lambda right: right.exp(),
    result=lambda right: math.exp(right),
)


# The gradients and the step
def in_order(*steps):
    """`improve` with its steps in this order."""

    def improve(self, loss, optimizer):
        for name in steps:
            getattr(self, name)(loss if name == "back" else optimizer)

    return improve


mistake = exercise.section(hint=3)
mistake(
    "old gradients not cleared",
    why="The gradients of an earlier step are not cleared, so backward adds the new "
    "ones to them, and the earlier batch counts once more.",
    look="what is in .grad when backward begins?",
    clear=lambda: None,
)
mistake(
    "zero_grad between backward and step",
    pairs=1,
    why="The gradients are cleared after they have been computed, so the step finds none: the model learns nothing.",
    look="what is in .grad when the optimiser takes its step?",
    improve=[in_order("back", "clear", "move")],
)
mistake(
    "a step before backward",
    pairs=1,
    why="The optimiser takes its step before the gradients of this loss have "
    "been computed: it finds none, and the model learns nothing.",
    look="the order: what computes the gradients, and what uses them?",
    improve=in_order("clear", "move", "back"),
)
mistake(
    "a step between the loss and backward",
    pairs=0,
    raises=True,
    why="The optimiser takes its step with the gradients of the previous batch, and changes weights that backward "
    "still needs, so PyTorch raises an error.",
    look="the order: what computes the gradients, and what uses them?",
    improve=in_order("move", "clear", "back"),
)
mistake(
    "no step",
    why="The gradients are computed, but nothing changes the weights.",
    look="which object knows the learning rate and changes the weights?",
    move=lambda: None,
)
mistake(
    "no backward",
    why="No gradients are computed, so the step has nothing to go by.",
    look="what computes the gradients of the loss?",
    back=lambda: None,
)
mistake(
    "gradient ascent",
    why="The weights move towards a higher loss: the sign is wrong.",
    look="the sign of the number that backward is called on. The optimiser makes that number smaller.",
    back=lambda loss: (-loss).backward(),
    variants=[{"loss": lambda right: -right}],
)

FACTORS = (1 / 4, 1 / 2, 1 / 8, 2, 1024, 2**16)  # accumulated gradients, and scaled losses
mistake(
    "a multiple of the gradients",
    pairs=0,
    why="The step uses a multiple or a fraction of the gradients, as when "
    "they are accumulated over several batches or the loss is scaled, and nothing scales them back.",
    look="is the loss multiplied or divided by anything, or are its gradients? And how often does backward run?",
    back=[lambda loss, factor=factor: (factor * loss).backward() for factor in FACTORS],
    loss=[lambda right, factor=factor: factor * right for factor in (1 / 4, 1 / 8, 1024)],
    variants=[
        {
            "loss": lambda right, targets, count=count: count(targets) * right,
            "result": lambda right, tokens, count=count: right / count(tokens[:, 1:]),
        }
        for count in (len, torch.numel)
    ]
    + [
        {"loss": lambda right, targets: right / len(targets)},
        {"loss": lambda right, targets: right * targets.shape[1] / (targets.shape[1] + 1)},
    ],
)


def clipped(clip, limit):
    """The step, with gradients made smaller before it."""

    def move(optimizer):
        clip([one for group in optimizer.param_groups for one in group["params"]], limit)
        optimizer.step()

    return move


mistake(
    "the gradients clipped",
    pairs=0,
    why="Gradients beyond a limit are made smaller before the step. This is "
    "common practice, but the exercise asks for a step with the gradients of the loss as they are.",
    look="what comes between backward and the step?",
    move=[
        *(clipped(nn.utils.clip_grad_norm_, limit) for limit in (1.0, 0.5, 0.1)),
        clipped(nn.utils.clip_grad_value_, 0.1),
    ],
)


def moved_by(rate=None, direction=lambda gradient: gradient, decay=0.0):
    """The weights moved by hand, with the optimiser's learning rate, or with another; or as a new optimiser would."""

    @torch.no_grad()
    def move(optimizer):
        for group in optimizer.param_groups:
            for one in group["params"]:
                length = rate or group["lr"]
                one.mul_(1 - length * decay).sub_(length * direction(one.grad))

    return move


def as_adam(gradient):
    """The direction of Adam's first step."""
    return gradient / (gradient.abs() + 1e-8)


mistake(
    "a step that the optimizer does not make",
    pairs=0,
    why="The weights are changed by hand or by a new "
    "optimiser. The optimiser you are given takes no step, and what it remembers of earlier steps is not used.",
    look="which optimiser's `step()` do you call, if any?",
    move=[
        *map(moved_by, (None, 0.1, 0.01, 1e-3)),
        moved_by(direction=as_adam),
        moved_by(direction=as_adam, decay=0.01),
    ],
)
mistake(
    "more than one step",
    pairs=0,
    why="The optimiser takes more than one step: two with the gradients of one loss, or one for each sequence.",
    look="how many times is optimizer.step() called? Is it in a loop?",
    move=lambda optimizer: (optimizer.step(), optimizer.step()),
    variants=[
        lambda model, optimizer, tokens: np.mean([TrainingStep()(model, optimizer, row) for row in tokens.split(1)])
    ],
)


def at_every_second(call):
    return lambda optimizer: (
        setattr(optimizer, "calls", getattr(optimizer, "calls", 0) + 1)
        or (optimizer.step() if optimizer.calls % 2 == call else None)
    )


mistake(
    "a step at every second call only",
    pairs=0,
    why="The optimiser takes a step only at every second call of your function; it should take one at each call.",
    look="what decides whether optimizer.step() is called?",
    move=[at_every_second(0), at_every_second(1)],
)
mistake(
    "eval mode",
    pairs=0,
    why="The model is put into eval mode, so dropout and the like are switched off while it "
    "learns. Eval mode is for evaluating and generating.",
    look="what puts the model into eval mode?",
    predict=[lambda model, inputs: model.eval()(inputs)],
    variants=[
        {
            "predict": lambda model, inputs: model.eval()(inputs),
            "result": lambda right, model: (right, model.train())[0],
        }
    ],
)
mistake(
    "left in eval mode",
    pairs=0,
    why="The step is right, but afterwards the model is in eval mode, in which dropout and the like are switched off.",
    look="what puts the model into eval mode?",
    variants=[
        {
            "predict": lambda model, inputs: model.train()(inputs),
            "result": lambda right, model: (right, model.eval())[0],
        }
    ],
)
mistake(
    "no gradient is recorded",
    raises=True,
    why="Backward has no path from the loss to the weights, as when the "
    "forward pass runs without recording operations, or its result is detached.",
    look="what cuts the loss off from the weights: `no_grad`, `detach`, a new tensor, or an operation such as argmax?",
    variants=[{"__call__": torch.no_grad()(TrainingStep.__call__)}],
)
mistake(
    "a float before backward",
    raises=True,
    why="backward is called on a plain number, as `.item()` or float() gives it, which no longer knows how it was "
    "computed.",
    look="where does the loss become a float: before backward or after it?",
    loss=[lambda right: right.item()],
)

# What is returned
mistake(
    "the loss after the step",
    why="The loss is computed again with the new weights; the exercise asks for the "
    "loss before the step, which you already have.",
    look="when is the loss that you return computed?",
    result=lambda self, model, tokens: self.loss(
        self.predict(model, self.shift(tokens)[0]), self.shift(tokens)[1]
    ).item(),
)
mistake(
    "another number than the loss",
    pairs=0,
    why="The step is right, but the number returned is not its loss: it "
    "is the accuracy, for example, or the loss in eval mode.",
    look="how is the number that you return computed?",
    variants=[
        {
            "predict": lambda self, model, inputs, mode=mode: (
                setattr(self, "seen", model.train(mode)(inputs)),
                model.train()(inputs),
            )[1],
            "result": lambda self, tokens, number=number: number(self.seen, tokens[:, 1:]).item(),
        }
        for mode, number in (
            (False, lambda logits, targets: F.cross_entropy(logits.mT, targets)),
            (True, lambda logits, targets: (logits.argmax(-1) == targets).double().mean()),
        )
    ],
)
mistake(
    "no loss returned",
    pairs=0,
    why="The step is made, but the function returns nothing.",
    look="does your function end in `return …`?",
    result=lambda: None,
)
mistake(
    "with the wrong sign",
    pairs=0,
    why="The step is right, but the number returned is minus the loss.",
    look="the sign of what is returned.",
    result=lambda right: -right,
)
mistake(
    "the loss rounded",
    pairs=0,
    why="The step is right, but the loss that is returned has been rounded.",
    look="is `round`, or a format such as `:.3f`, used anywhere?",
    result=[lambda right, places=places: round(right, places) for places in (3, 2, 1)],
)
mistake(A_TENSOR, pairs=0, why=OF_A_TENSOR, look=INTO_A_FLOAT, result=lambda loss: loss)
