"""What exercises share whose softmax must be stable: scores far from 0, and what shows that a softmax is not."""

import torch


def far_below(generator, *shape):
    """Scores below -10¹⁰ in any order, so far apart that the largest of a row gets all its weight. Exact in float32."""
    return -(2.0**32) * (4 + torch.rand(shape, generator=generator).argsort(dim=-1).double())


def slightly_off(ones):
    """Is anything added to the sum of a softmax that float32 would show? Then what should be 1 is not exactly 1."""
    off = (torch.as_tensor(ones) - 1).abs().nan_to_num(torch.inf).flatten()
    worst = int(off.argmax())
    if off[worst] < 3e-8:
        return None
    if off[worst] < 0.01:
        return "a sum slightly off"
    found = float(torch.as_tensor(ones).flatten()[worst])
    sentence = f"The weight of the only score should be exactly 1; a result that should then be 1 is {found:.3g}."
    return "not right for a single score", sentence, "what does your code do where there is only one score?"


def signs_of_lost_rows(observed, expected, *_):
    """Are some rows NaN throughout, and all the others right?"""
    if not isinstance(observed, torch.Tensor) or observed.shape != expected.shape or not observed.dim():
        return []
    lost = observed.isnan().all(-1)
    right = torch.allclose(observed[~lost].double(), expected[~lost].double(), atol=1e-6)
    return ["rows of NaN"] * (bool(lost.any()) and right)
