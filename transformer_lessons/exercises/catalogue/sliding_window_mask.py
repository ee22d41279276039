"""How the inputs of `sliding_window_mask` are drawn, and which numbers stand in a mask that is to be added."""

from transformer_lessons.exercises.catalogue.added_masks import fault_of_a_long_mask, names_of_numbers
from transformer_lessons.exercises.checker.setup import Setup
from transformer_lessons.language import long_context

setup = Setup(
    sizes=[
        {"length": length, "window": window}
        for length, window in (
            (5, 2),
            (1, 1),
            (3, 3),
            (4, 1),
            (6, 9),
            (7, 3),
            (8, 5),
            (9, 4),
            (11, 6),
            (12, 7),
            (2, 3),
            (200, 40),
            (10, 250),
        )
    ],
    draw=lambda generator, length, window: (length, window),
    names_steps=False,
    reference=long_context.sliding_window_mask,
    returns="mask",
    checks=[lambda call, length, window: fault_of_a_long_mask(call, long_context.sliding_window_mask, length, window)],
    solves=lambda observed, expected, *_: [
        name for name in names_of_numbers(observed, expected) if name == "a mask to be added"
    ],
    shapes={"mask": "(query, key)"},
)
