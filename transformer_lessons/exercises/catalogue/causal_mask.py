"""How the inputs of `causal_mask` are drawn, and which numbers stand in a mask that is to be added."""

import time

import torch

from transformer_lessons import masks
from transformer_lessons.exercises.checker.setup import Setup

FIXED = "a table of fixed size"


def seconds(call, length):
    start = time.thread_time()
    call(length)
    return time.thread_time() - start


def holds_any_length(call, length):
    """Is the mask cut from a table of fixed size? That takes equally long for every length; a loop does not."""
    if length < 200 or seconds(call, length) > 0.002 + 3 * seconds(call, 9) or len(call(1025)) == 1025:
        return None
    return FIXED, "A text of 1,025 tokens gets a mask that is too small.", "how long a text can your code handle?"


def numbers(observed, expected, length):
    """A smaller square, or two numbers in place of True and False: whatever they are."""
    if not isinstance(observed, torch.Tensor) or observed.ndim != 2 or not observed.numel():
        return []
    rows, columns = observed.shape
    if rows == columns < length:
        return [FIXED] if observed.dtype == torch.bool and observed.equal(expected[:rows, :rows]) else []
    return names_of_numbers(observed, expected)


def names_of_numbers(observed, expected):
    """Two numbers in place of True and False: which mistake they make, whatever they are."""
    if not isinstance(observed, torch.Tensor) or observed.shape != expected.shape or not observed.is_floating_point():
        return []
    inside, outside = observed[expected].unique().tolist(), observed[~expected].unique().tolist()
    if len(inside) != 1 or len(outside) > 1:
        return []
    names = []
    if not outside or outside[0] < -100:
        names += {0.0: ["a mask to be added"], 1.0: ["a mask to be added, with 1 for 0"]}.get(inside[0], [])
    if inside[0] < -100 and outside in ([], [0.0]):
        names.append("a mask to be added, and inverted")
    return names


setup = Setup(
    sizes=[{"length": 3}, {"length": 1}, {"length": 2}, {"length": 4}, {"length": 6}, {"length": 9}, {"length": 200}],
    draw=lambda generator, length: (length,),
    reference=masks.causal_mask,
    names_steps=False,
    returns="mask",
    shapes={"mask": "(query, key)"},
    checks=(holds_any_length,),
    solves=numbers,
)
