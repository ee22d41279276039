"""How the inputs of `causal_mask` are drawn, and which numbers stand in a mask that is to be added."""

import time

import torch

from transformer_lessons import masks
from transformer_lessons.exercises.checker.setup import Setup


def holds_any_length(call, length):
    """Is the mask cut from a table of fixed size? That takes equally long for every length; a loop does not."""

    def seconds(length):
        start = time.thread_time()
        call(length)
        return time.thread_time() - start

    if length < 200 or seconds(length) > 0.002 + 3 * seconds(9):
        return None
    return None if len(call(1025)) == 1025 else "a table of fixed size"


def solved(observed, expected, length):
    """A smaller square, or two numbers in place of True and False: whatever they are."""
    size = len(observed)
    if observed.shape == (size, size) and 0 < size < length:
        cut = observed.dtype == torch.bool and observed.equal(expected[:size, :size])
        return ["a table of fixed size"] * cut
    return names_of_numbers(observed, expected)


def names_of_numbers(observed, expected):
    """Two numbers in place of True and False: which mistake they make, whatever they are."""
    if not isinstance(observed, torch.Tensor) or observed.shape != expected.shape or not observed.is_floating_point():
        return []
    inside, outside = observed[expected].unique().tolist(), observed[~expected].unique().tolist()
    if len(inside) != 1 or len(outside) > 1:
        return []
    below = not outside or outside[0] < -100
    signs = (
        ("a mask to be added", below and inside == [0.0]),
        ("a mask to be added, with 1 for 0", below and inside == [1.0]),
        ("a mask to be added, and inverted", inside[0] < -100 and outside in ([], [0.0])),
    )
    return [name for name, shown in signs if shown]


setup = Setup(
    sizes=[{"length": 3}, {"length": 1}, {"length": 2}, {"length": 4}, {"length": 6}, {"length": 9}, {"length": 200}],
    draw=lambda generator, length: (length,),
    reference=masks.causal_mask,
    names_steps=False,
    returns="mask",
    shapes={"mask": "(query, key)"},
    checks=(holds_any_length,),
    solves=solved,
)
