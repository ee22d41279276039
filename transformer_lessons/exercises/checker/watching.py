"""Sees what an answer computes on its way."""

from torch.utils._python_dispatch import TorchDispatchMode


class Watching(TorchDispatchMode):
    """While it is active, sees every PyTorch operation."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # otherwise PyTorch loads its compiler first, which takes a second and a half
