"""How the inputs of `causal_mask` are drawn, and which numbers stand in a mask that is to be added."""

import torch

from transformer_lessons import masks
from transformer_lessons.exercises.catalogue.added_masks import fault_of_a_long_mask, names_of_numbers
from transformer_lessons.exercises.checker.setup import Setup


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
    checks=[lambda call, length: fault_of_a_long_mask(call, masks.causal_mask, length)],
    solves=solved,
)
