"""Tokens that an answer on a page draws: it gives the exact chances of each, free of noise."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.checker.distributions import Chances, plain


def is_on_a_page(call: Callable) -> bool:
    return getattr(call, "is_on_a_page", False) is True  # set in edits.py; an object may have every attribute


@contextmanager
def exact_on_pages(call: Callable) -> Iterator[None]:
    """While this is active, an answer on a page draws `Drawn` tokens; any other answer draws as always."""
    draw = torch.multinomial
    if is_on_a_page(call):
        torch.multinomial = lambda weights, *rest, **named: Drawn(draw(weights, *rest, **named), weights)
    try:
        yield
    finally:
        torch.multinomial = draw


class Drawn:
    """Tokens, and the weights with which each row's was drawn; what a page does with all rows keeps the weights."""

    def __init__(self, ids: torch.Tensor, weights: torch.Tensor) -> None:
        self.ids, self.weights = ids, weights

    @property
    def chances(self) -> Chances:
        """The exact chances of each row's tokens, free of noise."""
        return (self.weights / self.weights.sum(dim=-1, keepdim=True)).double().as_subclass(Chances)

    def __getitem__(self, place: Any) -> "Drawn | torch.Tensor":
        every_row = isinstance(place, tuple) and place == (slice(None), 0)
        return Drawn(self.ids[place], self.weights) if every_row else self.ids[place]

    def __add__(self, number: int) -> "Drawn":
        return Drawn(self.ids + number, F.pad(self.weights, (number, 0)))

    def expand(self, rows: int, columns: int) -> "Drawn":
        """One draw for all rows: chance decides which token they get, unless only one is possible."""
        certain = bool(self.chances.max() > 1 - 1e-9)
        weights = self.weights if certain else self.weights * torch.nan
        return Drawn(self.ids.expand(rows, columns), weights.expand(rows, -1))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ids, name)

    def __int__(self) -> int:
        return int(self.ids)

    @classmethod
    def __torch_function__(cls, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        ids = [value.ids if isinstance(value, Drawn) else value for value in args]
        result = function(*ids, **(kwargs or {}))
        if function is torch.where and args[0].ndim == args[2].ndim == 1:  # in some rows, a token is certain
            certain = F.one_hot(ids[1], args[2].weights.shape[1])
            return Drawn(result, torch.where(args[0][:, None], certain, args[2].chances))
        return result


def is_table(value: Any, groups: int) -> bool:
    """Does this hold the frequencies, or the chances, of each token in each of the groups of rows?"""
    value = plain(value) if isinstance(value, Chances) else value  # a subclass of tensors answers slowly
    is_floating = isinstance(value, torch.Tensor) and not value.is_meta and value.is_floating_point()
    return is_floating and value.ndim == 2 and len(value) == groups
