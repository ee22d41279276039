"""Where a model computes: on which device, in which precision, and in how many processes."""

import contextlib
import os
from types import ModuleType

import torch
import torch.distributed as dist


def best_device(wanted: str | None = None) -> torch.device:
    """The device of this name; by default CUDA, else Apple's MPS, else the CPU.

    With several GPUs, each process that torchrun starts gets its own.
    """
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    there = [name for name in available if available[name]]
    try:
        device = torch.device(wanted or there[0])
    except RuntimeError:
        device = None
    if device is None or device.type not in there:
        raise ValueError(f"device {wanted!r} is not here, only {' and '.join(there)}")
    if device.type != "cuda":
        return device
    index = int(os.environ.get("LOCAL_RANK", 0)) if device.index is None else device.index
    if index >= torch.cuda.device_count():
        raise ValueError(f"GPU {index} is not here: there are {torch.cuda.device_count()}, counted from 0")
    return torch.device("cuda", index)


def autocast(device: torch.device, precision: str = "auto") -> contextlib.AbstractContextManager:
    """Matrix products in bfloat16 if the device has instructions for it, everything else in float32."""
    short = is_short(device, precision)
    return torch.autocast(device.type, torch.bfloat16) if short else contextlib.nullcontext()


def is_short(device: torch.device, precision: str) -> bool:
    """Whether this precision means bfloat16 on this device."""
    able = device.type == "cuda" or (device.type == "cpu" and torch.cpu._is_avx512_bf16_supported())
    return able if precision == "auto" else precision == "bfloat16"


def generator_of(device: torch.device) -> ModuleType:
    """What dropout draws from on this device: a module with get_rng_state and set_rng_state."""
    return {"cuda": torch.cuda, "mps": torch.mps}.get(device.type, torch)


def processes() -> tuple[int, int]:
    """(which this one is, how many there are)."""
    return (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
