"""What the adapters share: tasks and peers, what probes are made of, and a way to run a peer's tests one by one."""

import contextlib
import copy
import io
import os
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import torch
from processor_time import run

from transformer_lessons.language.byte_pairs import apply_merges, count_pairs, merge
from transformer_lessons.running.sandbox import Outcome


@dataclass
class Task:
    """A task of a peer that one of our exercises can solve."""

    test: str  # its name there
    exercise: str
    adapt: Callable  # our answer → what the peer tests
    probe: Callable  # probe(adapted answer) → what it gives on inputs that both contracts allow
    tolerance: float = 1e-5  # of the largest number; shares of random draws need more


@dataclass
class Peer:
    name: str  # of its module in this folder
    tasks: list
    refuses: Callable  # refuses(task, adapted answer) → does one of the peer's tests fail?
    answers: dict = field(default_factory=dict)  # exercise → the peer's right answer, as our contract has it
    not_run: list = field(default_factory=list)


def ran(call: Callable, seconds: float = 3) -> Outcome:
    with contextlib.redirect_stdout(io.StringIO()):
        return run(call, seconds)


def draw(*shape: int) -> torch.Tensor:
    return torch.randn(shape)


def three(batch=2, length=6, keys=6, features=8, values=8):
    return draw(batch, length, features), draw(batch, keys, features), draw(batch, keys, values)


def on(*inputs: tuple) -> Callable:
    """A probe that calls the answer with each of the inputs."""
    return lambda answer: [answer(*copy.deepcopy(arguments)) for arguments in inputs]


def settled(module):
    """The module with the same weights for the same names, whatever its constructor has drawn."""
    for name, weight in sorted(module.named_parameters()):
        generator = torch.Generator().manual_seed(sum(name.encode()))
        weight.data = torch.randn(weight.shape, generator=generator) / weight.shape[-1] ** 0.5
    return module


def on_module(*sizes: int, inputs: list) -> Callable:
    return lambda module: on(*inputs)(settled(module(*sizes)).forward)


def attend(query, key, value, mask):
    """Attention with a learner's mask."""
    scores = query @ key.mT / query.shape[-1] ** 0.5
    return scores.masked_fill(~mask, -torch.inf).softmax(-1) @ value


def causally(attention, query, key, value) -> list:
    """What an attention without a mask gives for each query in turn, with the keys up to its own."""
    return [
        attention(query[..., last - 1 : last, :], key[..., :last, :], value[..., :last, :])
        for last in range(1, query.shape[-2] + 1)
    ]


def shares(sample, number, times=1000):
    counts = Counter(sample() for _ in range(times))
    if set(counts) - set(range(number)):
        raise ValueError("no such token")
    return torch.tensor([counts[one] / times for one in range(number)])


def byte_pair_parts(part: str, answer: Callable) -> tuple[Callable, Callable]:
    """(train, apply_merges) of a tokenizer, in which one part is the answer, and the others are right."""
    parts = {"count_pairs": count_pairs, "merge": merge, "train_bpe": None, "apply_merges": apply_merges, part: answer}

    def train(words, number):
        merges = []
        for _ in range(number):
            counts = parts["count_pairs"](words)
            if not counts:
                break
            merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
            words = {tuple(parts["merge"](list(word), merges[-1])): count for word, count in words.items()}
        return merges

    return parts["train_bpe"] or train, parts["apply_merges"]


class Text:
    """A text of a single word, for tokenizers that split a text and list the letters of each word."""

    def __init__(self, parts: list) -> None:
        self.parts = parts

    def split(self) -> list:
        return [self.parts]


# Peers that test with pytest: their items are collected once, and run for every mistake


class Items:
    """A pytest plugin that keeps the items, and runs some of them when it is asked to."""

    def __init__(self, work: Callable) -> None:
        self.work, self.red = work, False

    def pytest_runtestloop(self, session):
        self.items = session.items
        self.work(self)
        return True

    def pytest_runtest_logreport(self, report):
        self.red |= report.failed

    def fail(self, chosen: Callable, seconds: float = 3) -> bool:
        self.red = False
        for item in filter(chosen, reversed(self.items)):  # minbpe's last tests are its fastest
            outcome = ran(partial(item.config.hook.pytest_runtest_protocol, item=item, nextitem=None), seconds)
            if self.red or not outcome.ok:
                return True
        return False


def with_pytest(folder: Path, files: list[str], work: Callable, stubs: dict | None = None) -> None:
    """Runs work(items) once the tests are collected; stubs: modules that take the place of the folder's own."""
    import pytest

    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]  # of another peer
    sys.modules.update(stubs or {})
    before = Path.cwd()
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    options = ["-c", os.devnull, f"--rootdir={folder}"]
    for plugin in ("cacheprovider", "terminal", "nbval", "xdist", "cov"):
        options += ["-p", f"no:{plugin}"]
    try:
        code = pytest.main([*options, *files], plugins=[Items(work)])
        if code > pytest.ExitCode.TESTS_FAILED:
            raise SystemExit(f"The tests in {folder} could not be run: pytest ended with {int(code)}.")
    finally:
        os.chdir(before)
