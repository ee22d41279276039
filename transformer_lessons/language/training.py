"""Training a language model, step by step. A stopped run resumes as if it had never stopped."""

import contextlib
import math
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

from transformer_lessons.language import checkpoints
from transformer_lessons.language.batches import Batches, Data
from transformer_lessons.language.batches import encode as encode  # by this name in the lessons, too
from transformer_lessons.language.batches import prepare as prepare
from transformer_lessons.language.devices import autocast, generator_of, processes
from transformer_lessons.language.muon import Muon
from transformer_lessons.language.progress_bar import Progress, new_bar, standing
from transformer_lessons.language.recipe import Recipe, check
from transformer_lessons.language.tokenization import make_sequences
from transformer_lessons.models import Config, LanguageModel, in_eval_mode
from transformer_lessons.validation import check_sizes


def new_model(
    vocabulary_size: int,
    d_model: int,
    num_heads: int,
    d_hidden: int | None,
    num_layers: int,
    max_length: int,
    dropout: float = 0.0,
    gated: bool = True,
) -> LanguageModel:
    """A language model that learns faster than GPT-2: rotary positions, gates, larger initial embeddings."""
    check("dropout", dropout, 0 <= dropout < 1, "at least 0 and less than 1")
    if d_hidden is None:
        d_hidden = 8 * d_model // 3 if gated else 4 * d_model  # as many weights: a gate has its own
    sizes = vocabulary_size, d_model, num_heads, d_hidden, num_layers, max_length
    return LanguageModel(Config(*sizes, dropout=dropout, rotary=True, gated=gated, std=d_model**-0.5))


def make_optimizer(model: LanguageModel, recipe: Recipe) -> torch.optim.Optimizer:
    """AdamW or Muon; weight decay applies only to matrices: gains and biases need not be small."""
    matrices = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    others = [parameter for parameter in model.parameters() if parameter.dim() < 2]
    decay, common = recipe.weight_decay, {"lr": recipe.learning_rate, "betas": recipe.betas, "fused": True}
    groups = [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]
    if recipe.optimizer == "adamw":
        return torch.optim.AdamW(groups, **common)
    hidden = {parameter for parameter in model.layers.parameters() if parameter.dim() > 1}
    groups[0]["params"] = [parameter for parameter in matrices if parameter not in hidden]
    inside = [parameter for parameter in matrices if parameter in hidden]
    return Muon([*groups, {"params": inside, "weight_decay": decay, "momentum": 0.95}], **common)


def learning_rate(step: int, recipe: Recipe) -> float:
    """Rises in a straight line, then falls in another, to 0 after the last step."""
    rise = max(1, recipe.warm_up * recipe.steps)
    return recipe.learning_rate * min((step + 1) / rise, (recipe.steps - step) / max(1, recipe.steps - rise))


def loss_of(
    model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor, reduction: str = "mean", precision: str = "auto"
) -> torch.Tensor:
    with autocast(inputs.device, precision):
        logits = model(inputs)  # (batch, length, vocabulary)
    return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten(), reduction=reduction)


@torch.no_grad()
def evaluate(model: nn.Module, ids: torch.Tensor, length: int, batch_size: int = 64, precision: str = "auto") -> float:
    """The mean loss in nats per token, over all tokens but the first. Leaves the model as it was.

    Every sequence starts afresh: its first tokens are predicted from little context.
    """
    check_sizes(2, tokens=len(ids))
    device = next(model.parameters()).device
    total = 0.0
    whole = (len(ids) - 1) // length * length  # what the rows hold; the last row is shorter
    rows = [make_sequences(ids, length)] if whole else []
    rows += [make_sequences(ids[whole:], len(ids) - 1 - whole)] if whole < len(ids) - 1 else []
    with in_eval_mode(model):
        for inputs, targets in rows:
            batches = zip(inputs.split(batch_size), targets.split(batch_size), strict=True)
            for read, following in batches:
                total += loss_of(model, read.to(device), following.to(device), "sum", precision).item()
    return total / (len(ids) - 1)


def train(
    model: LanguageModel,
    data: Data,
    recipe: Recipe,
    checkpoint: str | Path | None = None,
    best: str | Path | None = None,
    quiet: bool = False,
) -> Progress:
    """Trains the model on its device, and returns the run's progress. Call it in every process that torchrun starts.

    checkpoint is a file that is written every recipe.save_every steps, at the end and on Ctrl-C, which stops
    all processes after the same step; if it exists, the run resumes from it. best is a file for the model
    with the lowest validation loss.
    """
    run = Run(model, make_optimizer(model, recipe), Progress(), data, recipe, checkpoint, best)
    run.check_fit()
    run.check_files()
    batches = Batches(data.train, recipe)
    run.resume()
    rank, world = processes()
    parallel = nn.parallel.DistributedDataParallel(model) if world > 1 else model
    stopped = False
    model.train()
    with new_bar(recipe, run.progress, quiet) as bar, stop_after_step() as asked:
        while run.progress.step < recipe.steps and not stopped:
            inputs, targets = (part[rank::world].to(run.device) for part in batches(run.progress.step))
            stopped = run.step(parallel, inputs, targets, asked)
            run.keep(stopped)
            bar.set_postfix_str(standing(run.progress, data), refresh=False)
            bar.update()
    return run.progress


def agree(loss: torch.Tensor, asked: list[int]) -> tuple[float, bool]:
    """The mean loss, and whether any process was asked to stop: the same answer in every process."""
    both = torch.stack([loss, loss.new_tensor(float(len(asked)))])  # (2,)
    if dist.is_initialized():
        dist.all_reduce(both)
    total, wishes = both.tolist()
    return total / processes()[1], wishes > 0


@contextlib.contextmanager
def stop_after_step() -> Iterator[list[int]]:
    """Yields a list that Ctrl-C adds to, so no step is left half done. A second Ctrl-C does not wait."""
    asked = []

    def ask(number: int, frame: FrameType | None) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    if threading.current_thread() is not threading.main_thread():
        yield asked  # only the main thread may listen
        return
    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass
class Run:
    """Everything that a checkpoint holds, and what is done with it."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    progress: Progress
    data: Data
    recipe: Recipe
    checkpoint: str | Path | None = None
    best: str | Path | None = None

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    # --- before ---

    def check_fit(self) -> None:
        """Catches mistakes that would come to light only late, or never."""
        check_sizes(2, validation_tokens=len(self.data.validation))
        known, vectors = len(self.data.vocabulary), self.model.embedding.num_embeddings
        if known != vectors:
            raise ValueError(f"the vocabulary has {known} tokens, but the model has vectors for {vectors}")
        size, world = self.recipe.batch_size, processes()[1]
        if size % world:
            raise ValueError(f"batch_size={size} does not split evenly over {world} processes")

    def check_files(self) -> None:
        checkpoints.check_apart(checkpoint=self.checkpoint, best=self.best)
        weights = sum(4 * parameter.numel() for parameter in self.model.parameters())  # bytes
        if processes()[0] == 0:
            checkpoints.check_writable(self.checkpoint, 3 * weights)  # AdamW keeps two numbers for every weight
            checkpoints.check_writable(self.best, weights)

    def resume(self) -> None:
        """Resumes from the checkpoint, if there is one, which must be of the same run."""
        if self.checkpoint is None or not Path(self.checkpoint).exists():
            return
        content = checkpoints.load(self.checkpoint)
        if "recipe" not in content:
            raise ValueError(f"{self.checkpoint} holds a model, but no run to resume")
        if checkpoints.pieces_of(content) != checkpoints.pieces_of(self.describe()):
            raise ValueError(f"{self.checkpoint} is from another run, with another vocabulary")
        theirs, mine = flat(content), flat(self.identity())
        longer = theirs["steps"] < self.recipe.steps
        different = [name for name in mine if theirs.get(name) != mine[name] and not (longer and name == "steps")]
        if different:
            what = "; ".join(f"its {name} is {theirs.get(name)}, not {mine[name]}" for name in different)
            raise ValueError(f"{self.checkpoint} is from another run: {what}")
        self.model.load_state_dict(content["model"])
        state = {int(number): numbers for number, numbers in content["optimizer"]["state"].items()}
        self.optimizer.load_state_dict(content["optimizer"] | {"state": state})
        vars(self.progress).update(content["progress"])
        if longer and processes()[0] == 0:
            self.tell_longer(replace(self.recipe, steps=theirs["steps"]))
        generator_of(self.device).set_rng_state(content["random"][processes()[0]])

    def tell_longer(self, before: Recipe) -> None:
        """Says what more steps than before do to the schedule."""
        step, steps = self.progress.step, self.recipe.steps
        old, new = learning_rate(step, before), learning_rate(step, self.recipe)
        print(
            f"{self.checkpoint} has done {step} of {before.steps} steps and continues to {steps}. From here the "
            f"learning rate is that of a run of {steps} steps: not {old:.2g} but {new:.2g}, and 0 at the end.",
            file=sys.stderr,
        )

    def describe(self) -> checkpoints.Content:
        return checkpoints.describe(self.model, self.data.vocabulary)

    def identity(self) -> checkpoints.Content:
        """What must be the same for a run to be resumed."""
        return {
            "architecture": asdict(self.model.config),
            "recipe": asdict(self.recipe) | {"betas": list(self.recipe.betas)},
            "data": [checkpoints.digest(self.data.train), checkpoints.digest(self.data.validation)],
            "processes": processes()[1],
        }

    # --- in every step ---

    def step(self, model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor, asked: list[int]) -> bool:
        """Learns from these rows; model is self.model, or wraps it for several processes. Returns whether to stop."""
        loss = loss_of(model, inputs, targets, precision=self.recipe.precision)
        self.optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.recipe.clip)
        loss, stopped = agree(loss.detach(), asked)
        self.check_finite(loss=loss, gradient=norm.item())
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate(self.progress.step, self.recipe)
        with autocast(self.device, self.recipe.precision):  # Muon multiplies matrices
            self.optimizer.step()
        self.progress.losses.append(loss)
        self.progress.step += 1
        return stopped

    def check_finite(self, **numbers: float) -> None:
        for name, number in numbers.items():
            if not math.isfinite(number):
                step, rate = self.progress.step + 1, self.recipe.learning_rate
                raise ValueError(
                    f"the {name} of step {step} is {number}: try a smaller learning_rate than "
                    f"{rate}. What was saved is untouched"
                )

    def keep(self, stopped: bool) -> None:
        """Evaluates and saves, if it is time to."""
        step, last = self.progress.step, self.progress.step == self.recipe.steps
        if last or (self.recipe.evaluate_every and step % self.recipe.evaluate_every == 0):
            self.evaluate()
        if last or stopped or step % self.recipe.save_every == 0:
            self.save()

    def evaluate(self) -> None:
        """Runs in every process, each for itself; the first one keeps the best model."""
        recipe, ids = self.recipe, self.data.validation
        nats = evaluate(self.model, ids, recipe.length, precision=recipe.precision)
        lowest = nats < min((loss for _, loss in self.progress.evaluations), default=math.inf)
        self.progress.evaluations.append((self.progress.step, nats))
        if self.best is not None and lowest and processes()[0] == 0:
            checkpoints.save(self.describe(), self.best)

    def save(self) -> None:
        if self.checkpoint is None:
            return
        states = [generator_of(self.device).get_rng_state()]
        if dist.is_initialized():
            gathered = [None] * dist.get_world_size()
            dist.all_gather_object(gathered, states[0])
            states = gathered
        if processes()[0] == 0:
            content = self.describe() | self.identity()
            content |= {"optimizer": self.optimizer.state_dict(), "progress": asdict(self.progress)}
            checkpoints.save(content | {"random": states}, self.checkpoint)


def flat(identity: checkpoints.Content) -> dict[str, Any]:
    """An identity as {name: value}, without what changes no weight; what an older file lacks is the default."""
    numbers = asdict(Config(**identity["architecture"])) | asdict(Recipe()) | identity["recipe"]
    numbers["processes"] = identity["processes"]
    train, validation = (fingerprint[:12] for fingerprint in identity["data"])
    numbers |= {"training text": train, "validation text": validation}
    return {name: number for name, number in numbers.items() if name not in ("save_every", "evaluate_every", "std")}
