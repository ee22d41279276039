"""How the inputs of `shift_matrix` are drawn, and what a matrix does for another offset."""

from functools import lru_cache

import numpy as np
import torch

from transformer_lessons import positions
from transformer_lessons.exercises.checker.comparison import alike, close, difference
from transformer_lessons.exercises.checker.setup import Setup
from transformer_lessons.running.errors import name_error
from transformer_lessons.running.values import numbers

TOLERANCE = 1e-3  # a fit is never exact
SHAPES = {"matrix": "(d_model, d_model)"}


def shift(offset, d_model):
    """The matrix that moves every position on by offset: for each pair of features, a rotation."""
    angles = offset / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    rows = torch.stack([angles.cos(), angles.sin(), -angles.sin(), angles.cos()], dim=-1)
    return torch.block_diag(*rows.unflatten(-1, (2, 2))).to(torch.get_default_dtype())


@lru_cache(maxsize=20)
def first_positions(d_model):
    """The encoding of the first 32 positions and of a distant one, (d_model, position)."""
    return numbers(positions.sinusoidal_encoding(2001, d_model))[[*range(32), 2000]].T


def same_shift(one, other):
    """The same matrix, or one that does the same to the first 32 positions and a distant one: a fit is never exact."""
    if alike(one, other, TOLERANCE):
        return True
    tensors = (isinstance(each, torch.Tensor) and each.is_floating_point() and each.dim() == 2 for each in (one, other))
    if not all(tensors) or not one.shape == other.shape == (len(one), len(one)) or len(one) % 2:
        return False
    encoding = first_positions(len(one))
    return close(numbers(one) @ encoding, numbers(other) @ encoding, TOLERANCE)


def right_at(kind, look, place, what_is_wrong):
    """A check of another offset, and perhaps another d_model: place(offset, d_model) says which."""

    def check(call, *inputs):
        offset, d_model = place(*inputs)
        called = f"shift_matrix({offset}, {d_model})"
        try:
            made = call(offset, d_model)
        except Exception as error:
            return f"an error for {kind}", f"{called} raises {name_error(error)}", look
        return None if same_shift(made, shift(offset, d_model)) else what_is_wrong(made, offset, d_model, called)

    return check


def backwards(back, offset, d_model, called):
    """What is wrong with the matrix of a negative offset."""
    wanted, wrong = shift(offset, d_model), "wrong for a negative offset"
    found = difference(back, wanted, "matrix", SHAPES, 0.0, False)
    if found and found.sort in ("kind", "count", "dtype", "shape"):
        return wrong, f"With offset {offset} and d_model {d_model}: {found.sentence}", BELOW_0
    row, column = divmod(int((back.double() - wanted.double()).abs().argmax()), d_model)
    shown = f"{float(back[row, column]):.3f}; {float(wanted[row, column]):.3f} is expected."
    signs = (
        ("NaN or infinity for a negative offset", not back.isfinite().all()),
        ("the sign of the offset lost", same_shift(back, shift(-offset, d_model))),
        ("negative offsets ignored", same_shift(back, shift(0, d_model))),
        ("zeros for a negative offset", not back.any()),
        ((wrong, f"Row {row}, column {column} of {called} is {shown}", BELOW_0), True),
    )
    return next(fault for fault, fits in signs if fits)


BELOW_0 = "each place that uses `offset`: what happens there when it is -2?"
AT_0 = "what should a shift by 0 do to a vector, and what does your code do with an offset of 0?"
FAR = "what is the matrix made from, and is that enough for 8 features and any offset?"


def is_rounded(call, offset, d_model):
    """Are the numbers right to only three or four digits?"""
    far = numbers(call(100 + offset, 8))
    rounded = far.astype(np.float16), far.round(4)
    return "rounded numbers" if any(np.abs(far - one).max() < 1e-7 for one in rounded) else None


def signs_of_a_fit(observed, expected, offset, d_model):
    """Is position 0 shifted correctly, though not every position is?"""
    errors = np.abs((numbers(observed) - numbers(expected)) @ first_positions(d_model)).max(axis=0)
    return ["not right for every position"] * bool(errors[0] < 1e-3)


setup = Setup(
    sizes=[
        {"offset": 2, "d_model": 4},
        {"offset": 1, "d_model": 2},
        {"offset": 3, "d_model": 6},
        {"offset": 1, "d_model": 4},
        {"offset": 5, "d_model": 6},
    ],
    draw=lambda generator, offset, d_model: (offset, d_model),
    reference=shift,
    names_steps=False,
    returns="matrix",
    shapes=SHAPES,
    tolerance=TOLERANCE,
    same=same_shift,
    checks=[
        right_at("a negative offset", BELOW_0, lambda offset, d_model: (-offset, d_model), backwards),
        right_at(
            "offset 0",
            AT_0,
            lambda offset, d_model: (0, d_model),
            lambda *made: ("wrong for offset 0", f"{made[-1]} does not leave every encoding as it is.", AT_0),
        ),
        right_at(
            "a large offset",
            "is there a table, and how long is it?",
            lambda offset, d_model: (100 + offset, 8),
            lambda *made: (
                "wrong for a large offset or d_model",
                f"It is right for small ones, but {made[-1]} is not.",
                FAR,
            ),
        ),
        is_rounded,
    ],
    signs=signs_of_a_fit,
)
