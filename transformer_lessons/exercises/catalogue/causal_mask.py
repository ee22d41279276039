"""How the inputs of `causal_mask` are drawn, and which numbers stand in a mask that is to be added."""

import time

import torch

from transformer_lessons import masks
from transformer_lessons.exercises.catalogue.added_masks import names_of_numbers
from transformer_lessons.exercises.checker.setup import Setup


def holds_any_length(call, length):
    """Is the mask cut from a table of fixed size? That takes equally long for every length; a loop does not."""

    def seconds(length):
        start = time.thread_time()
        call(length)
        return time.thread_time() - start

    if length < 200 or seconds(length) > 0.002 + 3 * seconds(9):
        return None
    size = len(call(1025))
    if size < 1025:
        return "a table of fixed size"
    found = f"For a length of 1,025, the mask has {size:,} rows."
    return None if size == 1025 else ("a mask of another size", found, "how does the size depend on `length`?")


def solved(observed, expected, length):
    """A smaller square, or two numbers in place of True and False: whatever they are."""
    size = len(observed)
    if observed.shape == (size, size) and 0 < size < length:
        cut = observed.dtype == torch.bool and observed.equal(expected[:size, :size])
        return ["a table of fixed size"] * cut
    return names_of_numbers(observed, expected)


setup = Setup(
    sizes=[{"length": 3}, {"length": 1}, {"length": 2}, {"length": 4}, {"length": 6}, {"length": 9}, {"length": 300}],
    draw=lambda generator, length: (length,),
    reference=masks.causal_mask,
    names_steps=False,
    returns="mask",
    shapes={"mask": "(query, key)"},
    checks=[holds_any_length],
    solves=solved,
)
