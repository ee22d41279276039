"""How large the tensors are that an answer makes on its way."""

import torch

from transformer_lessons.exercises.checker.watching import Watching


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
