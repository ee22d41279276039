"""causal_mask, of lesson 6: each position attends to itself and to what came before it."""

import time

from transformer_lessons import masks
from transformer_lessons.exercises.checker.exercise import Setup

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


setup = Setup(
    sizes=[{"length": 3}, {"length": 1}, {"length": 2}, {"length": 4}, {"length": 6}, {"length": 9}, {"length": 200}],
    draw=lambda generator, length: (length,),
    reference=masks.causal_mask,
    names_steps=False,
    returns="mask",
    shapes={"mask": "(query, key)"},
    checks=[holds_any_length],
)
