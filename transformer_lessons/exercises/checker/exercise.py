"""An exercise: its page says what is asked, what is right and what goes wrong; its setup draws the inputs.

../catalogue/README.md shows a page and a setup.
"""

import ast
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, count, islice
from operator import itemgetter
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons.exercises.checker.edits import RightAnswer, WrongAnswer
from transformer_lessons.exercises.checker.pages import Entry, Include, Page, PageError, read_page
from transformer_lessons.exercises.checker.setup import Setup

NOWHERE = ("right here", "cannot occur", "not in one line here")  # how an arrow begins that leads to no mistake
MOST_PAIRS = 300  # as many as are tried in half a second
CATALOGUE = Path(__file__).resolve().parents[1] / "catalogue"
NAMES = {"math": math, "np": np, "torch": torch, "nn": nn, "F": F}  # what every answer on a page may use


@dataclass(frozen=True, eq=False)
class Mistake:
    """A mistake that people really make: what is wrong (why), and a pointer to the fix (look)."""

    name: str
    why: str
    look: str
    hint: int | None  # the hint to offer; None: the next
    variants: list[WrongAnswer]  # wrong answers that all make this one mistake


Candidate = tuple[tuple[Mistake, ...], WrongAnswer]  # one or two mistakes, and an answer that makes them


@dataclass
class Case:
    """One drawn example: what a module is built with, and what it or the function is called with."""

    build: tuple
    inputs: tuple
    seed: int


class Exercise:
    """One exercise. `name` is what the learner defines; a module has `build`, a function does not."""

    def __init__(self, page: Page, setup: Setup) -> None:
        self.page, self.setup = page, setup
        self.name, self.title = page.name, page.title
        self.contract, self.stub = page.contract, page.stub
        self.lesson, self.difficulty, self.importance, self.minutes = page.facts
        self.hints = [(symptom, text) for symptom, _, text in page.hints]
        self.is_module = bool(setup.build)
        self.gradients = self.is_module if setup.gradients is None else setup.gradients
        self.right = RightAnswer(page.right, NAMES | setup.names)
        self.reference: Callable = self.right.answer if setup.reference is None else setup.reference

    @cached_property
    def mistakes(self) -> dict[str, Mistake]:
        """Name → Mistake, in the order of the page."""
        mistakes = {}
        for item in self.page.mistakes:
            for entry in [item] if isinstance(item, Entry) else included(item):
                if entry.name in mistakes:
                    raise PageError(f"{entry.place}: {self.name} has two mistakes called “{entry.name}”.")
                mistakes[entry.name] = self.mistake(entry)
        for include in self.page.mistakes:
            for name, arrow in include.exceptions.items() if isinstance(include, Include) else ():
                if (name if arrow == "below" else arrow) not in mistakes and not arrow.startswith(NOWHERE):
                    raise PageError(f"{include.place}: “{name} → {arrow}” leads nowhere.")
        return mistakes

    def mistake(self, entry: Entry) -> Mistake:
        variants = [WrongAnswer(self.right, lines) for lines in entry.variants]
        for name in (name for variant in variants for name in variant.unread):
            raise PageError(f"{entry.place}: “{entry.name}” sets `{name}`, which nothing in {self.name} reads.")
        return Mistake(entry.name, entry.why, entry.look, self.number_of_hint(entry), variants)

    def number_of_hint(self, entry: Entry) -> int | None:
        """The number of the hint that a section names, by its number or by a topic of a family."""
        for number, (_, topics, _) in enumerate(self.page.hints, 1):
            if entry.hint == str(number) or entry.hint in topics:
                return number
        if not entry.hint:
            return None
        raise PageError(f"{entry.place}: no hint of {self.name} is, or treats, “{entry.hint}”.")

    @cached_property
    def answers(self) -> dict[str, RightAnswer]:
        """Style → a right answer; the first is the page's own."""
        styles = {style: RightAnswer(source, self.right.namespace) for style, source in self.page.styles.items()}
        return {"the right answer": self.right, **styles}

    @cached_property
    def signature(self) -> ast.arguments:
        """The arguments that the answer is called with, from the stub: a function's own, or those of `forward`."""
        called = "forward" if self.is_module else self.name
        nodes = ast.walk(ast.parse(self.stub))
        return next(node.args for node in nodes if isinstance(node, ast.FunctionDef) and node.name == called)

    @cached_property
    def inputs(self) -> list[str]:
        """The names of the arguments that the answer is called with."""
        return [argument.arg for argument in self.signature.args if argument.arg != "self"]

    @cached_property
    def required(self) -> int:
        """How many of the inputs have no default."""
        return len(self.inputs) - len(self.signature.defaults)

    def cases(self, seed: int) -> list[Case]:
        """One case for each of the sizes."""
        cases = []
        for number, size in enumerate(self.setup.sizes):
            case_seed = 1000 * seed + number
            inputs = self.setup.draw(torch.Generator().manual_seed(case_seed), **size)
            inputs = inputs if isinstance(inputs, tuple) else (inputs,)
            cases.append(Case(tuple(size[name] for name in self.setup.build), inputs, case_seed))
        return cases

    @cached_property
    def singles(self) -> list[Candidate]:
        """Every known mistake in every variant."""
        return [((mistake,), variant) for mistake in self.mistakes.values() for variant in mistake.variants]

    @cached_property
    def pairs(self) -> list[Candidate]:
        """Two mistakes at once, each in its first variant, for all that replace different lines.

        The plainest come first, as on the page and in each family, and only so many are tried.
        """
        places, own = [], count()
        for item in self.page.mistakes:
            if isinstance(item, Entry):
                places.append((next(own), item.name))
            else:
                places += [(place, entry.name) for place, entry in enumerate(included(item))]
        ordered = [self.mistakes[name] for _, name in sorted(places, key=itemgetter(0))]
        firsts = [(mistake, mistake.variants[0]) for mistake in ordered]
        places_of_two = sorted(combinations(range(len(firsts)), 2), key=lambda pair: (pair[0] + 1) * (pair[1] + 1))
        pairs = (self.pair(firsts[earlier], firsts[later]) for earlier, later in places_of_two)
        return list(islice(filter(None, pairs), MOST_PAIRS))

    def pair(self, first: tuple[Mistake, WrongAnswer], second: tuple[Mistake, WrongAnswer]) -> Candidate | None:
        """Two mistakes at once, each with its variant; None if they are the same or both replace the same line."""
        (mistake, variant), (other, variant_of_other) = first, second
        joined = None if mistake is other else variant.together(variant_of_other)
        return None if joined is None else ((mistake, other), joined)

    def solution_text(self) -> str:
        """The right answer's source, which runs on its own."""
        return self.page.right


def included(include: Include) -> Iterator[Entry]:
    """The mistakes of a family under the names of the page that includes it, without the exceptions."""
    path = CATALOGUE / f"{include.family}.md"
    if not path.exists():
        raise PageError(f"{include.place}: there is no family {include.family}.md.")
    entries = {entry.name: entry for entry in read_page(path).mistakes}
    if unknown := set(include.exceptions) - set(entries):
        raise PageError(f"{include.place}: {include.family}.md has no mistake “{unknown.pop()}”.")
    for entry in entries.values():
        if entry.name not in include.exceptions:
            variants = [renamed(lines, include.renames) for lines in entry.variants]
            yield Entry(entry.name, entry.why, entry.look, entry.hint, variants, entry.place)


def renamed(lines: str, renames: dict) -> str:
    """The same lines under the names of another right answer."""
    if not renames:
        return lines
    words = "|".join(map(re.escape, renames))
    return re.sub(rf"(?<![\w.])({words})\b(?!=[^=])", lambda found: renames[found[1]], lines)
