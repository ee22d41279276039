"""What the exercises on masks share: numbers in place of True and False, and what a long text needs."""

import time

import torch

LONG = 2050  # float16 has no 2,049


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


def fault_of_a_long_mask(call, reference, length, *others):
    """Is the mask of a long text the right one, too? A loop over its four million cells would take too long for it."""
    if length < 200:
        return None
    start = time.thread_time()
    call(length, *others)
    if time.thread_time() - start > 0.02:
        return None
    mask = call(LONG, *others)
    rows = len(mask)
    if rows < LONG:
        return "a table of fixed size"
    if rows > LONG:
        found = f"For a length of {LONG:,}, the mask has {rows:,} rows."
        return ("a mask of another size", found, "how does the size depend on `length`?")
    return None if mask.equal(reference(LONG, *others)) else "wrong for a long text"
