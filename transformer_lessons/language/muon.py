"""Muon: an optimizer whose step is equally large in every direction of a matrix's gradient."""

import math

import torch


def orthogonalize(matrices: torch.Tensor, steps: int = 5) -> torch.Tensor:
    """Matrices (…, rows, columns) with the same singular vectors, and every singular value near 1 (about 0.7 to 1.2).

    By Newton-Schulz iteration, which needs no decomposition; the coefficients are Jordan's.
    """
    if matrices.shape[-2] > matrices.shape[-1]:
        return orthogonalize(matrices.mT, steps).mT
    x = matrices / (torch.linalg.matrix_norm(matrices, keepdim=True) + 1e-7)
    for _ in range(steps):
        square = x @ x.mT
        x = 3.4445 * x + (2.0315 * (square @ square) - 4.7750 * square) @ x
    return x


class Muon(torch.optim.AdamW):
    """Muon for the parameter groups that have a momentum, AdamW for the others.

    Keller Jordan et al., "Muon: An optimizer for hidden layers in neural networks" (2024,
    https://kellerjordan.github.io/posts/muon/), with the scale of Liu et al., "Muon is scalable for LLM training"
    (2025, https://arxiv.org/abs/2502.16982), so both kinds of group use the same learning rate.
    """

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            if group.get("momentum"):
                self.turn(group)
        super().step()  # which skips parameters that no longer have a gradient

    def turn(self, group: dict) -> None:
        """Updates each matrix in a group once; those of one shape together, because many small products are slow."""
        shapes = {}
        for weight in group["params"]:
            if weight.grad is None:
                continue
            state = self.state[weight]
            if not state:
                state.update(step=torch.zeros(()), average=torch.zeros_like(weight))
            state["average"].lerp_(weight.grad, 1 - group["momentum"])
            shapes.setdefault(weight.shape, []).append(weight)
        for shape, weights in shapes.items():
            ahead = torch.stack([w.grad.lerp(self.state[w]["average"], group["momentum"]) for w in weights])
            updates = 0.2 * math.sqrt(max(shape)) * orthogonalize(ahead)
            for weight, update in zip(weights, updates, strict=True):
                weight.mul_(1 - group["lr"] * group["weight_decay"]).sub_(group["lr"] * update)
                weight.grad = None
