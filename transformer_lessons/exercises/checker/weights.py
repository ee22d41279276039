"""The weights that modules are filled with: always the same numbers for the same name and seed."""

import zlib
from collections.abc import Callable, Iterable
from functools import lru_cache

import torch
from torch import nn


def fill(module: nn.Module, seed: int, wanted: Iterable = ()) -> nn.Module:
    """Fills a module with weights of unit scale, each seeded by its name, whatever the order; wanted names last."""
    names = sorted(module.named_parameters(remove_duplicate=False), key=lambda one: one[0] in wanted)
    with torch.no_grad():
        for name, parameter in names:
            parameter.copy_(weights(name, parameter.shape, seed))
    return module


@lru_cache(maxsize=1000)
def weights(name: str, shape: tuple, seed: int) -> torch.Tensor:
    """The numbers for a parameter with that name, the same for every mistake in the catalogue."""
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()) + seed)
    scale = shape[-1] ** -0.5 if len(shape) > 1 else 1.0
    return scale * torch.randn(shape, generator=generator, dtype=torch.float64)


def parameters(module: nn.Module, wanted: Iterable) -> dict:
    """{name: parameter}; one that has several names, as in an nn.Sequential too, goes by the wanted one."""
    names = {}
    for name, one in module.named_parameters(remove_duplicate=False):
        names.setdefault(one, []).append(name)
    return {next((name for name in those if name in wanted), those[0]): one for one, those in names.items()}


@lru_cache
def of_the_contract(reference: Callable, build: tuple) -> dict:
    """{name: shape}: the parameters that a contract asks for."""
    return {name: tuple(one.shape) for name, one in reference(*build).named_parameters()}
