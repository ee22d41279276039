"""Sees what an answer computes on its way, and how large the tensors are that it makes."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Watching(TorchDispatchMode):
    """While it is active, sees every PyTorch operation."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # otherwise PyTorch loads its compiler first, which takes a second and a half


class Largest(Watching):
    """The size of the largest tensor that is made, and of the largest mask; the shapes of all that hold numbers."""

    def __init__(self):
        super().__init__()
        self.numbers, self.mask, self.shapes = 0, 0, set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for one in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(one, torch.Tensor):
                size = min(one.numel(), one.untyped_storage().nbytes() // one.element_size())
                name = "mask" if one.dtype == torch.bool else "numbers"
                setattr(self, name, max(getattr(self, name), size))
                self.shapes |= {tuple(one.shape[-2:])} if one.is_floating_point() and one.ndim > 1 else set()
        return result
