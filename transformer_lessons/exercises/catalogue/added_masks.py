"""What the exercises on masks share: numbers in place of True and False, as in a mask that is to be added."""

import torch


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
