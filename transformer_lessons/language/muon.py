"""Muon: an optimizer that learns from the direction of a matrix's gradient, the same amount in every direction."""

import math

import torch


def orthogonalize(matrices, steps=5):
    """(…, rows, columns): the same singular vectors, with every singular value near 1 (from about 0.7 to 1.2).

    The iteration of Newton and Schulz, without a decomposition; the numbers are Jordan's.
    """
    if matrices.shape[-2] > matrices.shape[-1]:
        return orthogonalize(matrices.mT, steps).mT
    x = matrices / (torch.linalg.matrix_norm(matrices, keepdim=True) + 1e-7)
    for _ in range(steps):
        square = x @ x.mT
        x = 3.4445 * x + (2.0315 * (square @ square) - 4.7750 * square) @ x
    return x


class Muon(torch.optim.AdamW):
    """Muon for the groups with a momentum, AdamW for the others.

    Keller Jordan et al., "Muon: An optimizer for hidden layers in neural networks" (2024,
    https://kellerjordan.github.io/posts/muon/), with the scale of Liu et al., "Muon is scalable for LLM training"
    (2025, https://arxiv.org/abs/2502.16982), so that both kinds of group take the same learning rate.
    """

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            if group.get("momentum"):
                self.turn(group)
        super().step()  # which skips what no longer has a gradient

    def turn(self, group):
        """One update of each matrix in a group; those of one shape together, as many small products are slow."""
        shapes = {}
        for weight in group["params"]:
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
