"""What an exercise's module in ../catalogue says: how inputs are drawn, and what the numbers alone do not show."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch

Check = Callable[..., str | tuple | None]
Symptom = Callable[..., str | None]


@dataclass(kw_only=True, eq=False)
class Setup:
    """What an exercise needs besides its page: how inputs are drawn, and what its numbers alone do not show."""

    sizes: Sequence[dict]  # from small to large: the first that fails is shown to the learner
    draw: Callable  # draw(generator, **size) → the inputs
    reference: Callable | None = None  # the package's own; by default the right answer of the page
    returns: tuple | str = "result"  # the names of what is returned
    build: tuple = ()  # which sizes a module is built with, in order
    shapes: dict = field(default_factory=dict)  # returned name → "(batch, query, d_v)", for messages
    names: dict = field(default_factory=dict)  # further names that the answers on the page may use
    tolerance: float = 2e-5  # of the largest number expected: float32 inside is fine
    exact_zeros: bool = False  # where 0 is expected, nothing but 0 will do
    gradients: bool | None = None  # must weights and inputs get the right gradients? By default, only in modules
    observe: Callable | None = None  # observe(call, *inputs) → what is compared; by default call(*inputs)
    same: Callable | None = None  # same(observed, expected) → bool; by default equal up to the tolerance
    checks: Sequence[Check] = ()  # check(call, *inputs) → what numbers do not show: a name or (name, why, look)
    symptoms: Sequence[Symptom] = ()  # symptom(observed, expected, *inputs) → a sentence, if no mistake matches
    solves: Callable | None = None  # solves(observed, expected, *inputs) → mistakes whose number it has found
    signs: Callable | None = None  # signs(observed, expected, *inputs) → names of mistakes that it shows
    names_steps: bool = True  # may a verdict name the first wrong step?


def normal(generator: torch.Generator, *shape: int, scale: float = 1.0) -> torch.Tensor:
    """Normally distributed numbers, of unit scale, in float64."""
    return scale * torch.randn(shape, generator=generator, dtype=torch.float64)


def integers(generator: torch.Generator, high: int, *shape: int, low: int = 0) -> torch.Tensor:
    """Whole numbers from low up to, not including, high."""
    return torch.randint(low, high, shape, generator=generator)
