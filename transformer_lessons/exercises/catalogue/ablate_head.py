"""How the inputs of `ablate_head` are drawn, and what is left of the head that should be silenced."""

import torch

from transformer_lessons.exercises.checker.setup import Setup, normal
from transformer_lessons.inspection import experiments


def signs_of_what_is_left(observed, expected, heads, number):
    """If the other heads are unchanged: is part of this head left, or does something else stand in its place?"""
    if not isinstance(observed, torch.Tensor) or any(
        getattr(observed, one) != getattr(heads, one) for one in ("shape", "dtype", "device", "layout")
    ):
        return []
    ours, own = observed.detach()[:, number], heads[:, number]
    if not torch.equal(without(observed.detach(), number), without(heads, number)):
        return ["other heads changed"] * bool((ours == 0).all())
    gone, same = ours == 0, ours == own
    if (gone | same).all():
        return ["a part of the head left"] * bool(gone.any() and same.any())
    return ["another number than 0"] * (not gone.any())


def without(heads, number):
    return heads[:, [head for head in range(heads.shape[1]) if head != number]]


setup = Setup(
    sizes=[
        {"batch": 2, "heads": 3, "length": 4, "d_head": 5, "number": 1},
        {"batch": 1, "heads": 2, "length": 3, "d_head": 2, "number": 1},
        {"batch": 3, "heads": 4, "length": 6, "d_head": 5, "number": 2},
        {"batch": 3, "heads": 4, "length": 5, "d_head": 6, "number": 0},
        {"batch": 5, "heads": 6, "length": 8, "d_head": 7, "number": 4},
        {"batch": 4, "heads": 4, "length": 4, "d_head": 4, "number": 3},
        {"batch": 2, "heads": 1, "length": 4, "d_head": 3, "number": 0},
        {"batch": 2, "heads": 3, "length": 2, "d_head": 4, "number": 2, "dtype": torch.float32},
    ],
    draw=lambda generator, batch, heads, length, d_head, number, dtype=torch.float64: (
        normal(generator, batch, heads, length, d_head).to(dtype),
        number,
    ),
    reference=experiments.ablate_head,
    exact_zeros=True,
    names_steps=False,
    signs=signs_of_what_is_left,
    returns="ablated",
    shapes={"ablated": "(batch, heads, length, d_head)"},
)
