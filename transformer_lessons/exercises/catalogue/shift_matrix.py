"""shift_matrix, of lesson 5: one rotation for each pair of features moves every position on."""

from functools import lru_cache

import numpy as np
import torch

from transformer_lessons import positions
from transformer_lessons.exercises.checker.comparison import alike, close, difference, numbers
from transformer_lessons.exercises.checker.errors import name_error
from transformer_lessons.exercises.checker.exercise import Setup

TOLERANCE = 1e-3  # a fit is never exact
SHAPES = {"matrix": "(d_model, d_model)"}


def shift(offset, d_model):
    """The matrix that moves every position on by offset: for each pair of features, a rotation."""
    angles = offset / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    rows = torch.stack([angles.cos(), angles.sin(), -angles.sin(), angles.cos()], dim=-1)
    return torch.block_diag(*rows.unflatten(-1, (2, 2))).to(torch.get_default_dtype())


@lru_cache(maxsize=20)
def first_positions(d_model):
    """The encoding of the first 32 positions, (d_model, position)."""
    return numbers(positions.sinusoidal_encoding(32, d_model)).T


def same_shift(one, other):
    """The same matrix, or one that does the same to the first 32 positions: a fit is never exact."""
    if alike(one, other, TOLERANCE):
        return True
    tensors = (isinstance(each, torch.Tensor) and each.is_floating_point() and each.dim() == 2 for each in (one, other))
    if not all(tensors) or not one.shape == other.shape == (len(one), len(one)) or len(one) % 2:
        return False
    encoding = first_positions(len(one))
    return close(numbers(one) @ encoding, numbers(other) @ encoding, TOLERANCE)


def backwards(call, offset, d_model):
    """A negative offset must shift backwards."""
    called, wanted = f"shift_matrix({-offset}, {d_model})", shift(-offset, d_model)
    try:
        back = call(-offset, d_model)
    except Exception as error:
        return "an error for a negative offset", f"{called} raises {name_error(error)}", BELOW_0
    if same_shift(back, wanted):
        return None
    found = difference(back, wanted, "matrix", SHAPES, 0.0, False)
    if found and found.sort in ("kind", "count", "dtype", "shape"):
        return WRONG, f"With offset {-offset} and d_model {d_model}: {found.sentence}", BELOW_0
    row, column = divmod(int((back.double() - wanted.double()).abs().argmax()), d_model)
    numbers_there = f"{float(back[row, column]):.3f}; {float(wanted[row, column]):.3f} is expected."
    signs = (
        ("NaN or infinity for a negative offset", not back.isfinite().all()),
        ("the sign of the offset lost", same_shift(back, shift(offset, d_model))),
        ("negative offsets ignored", same_shift(back, shift(0, d_model))),
        ("zeros for a negative offset", not back.any()),
        ((WRONG, f"Row {row}, column {column} of {called} is {numbers_there}", BELOW_0), True),
    )
    return next(fault for fault, shown in signs if shown)


WRONG = "wrong for a negative offset"
BELOW_0 = "each place that uses `offset`: what happens there when it is -2?"


def standing_still(call, offset, d_model):
    """An offset of 0 must leave every vector as it is."""
    called, look = (
        f"shift_matrix(0, {d_model})",
        "what should a shift by 0 do to a vector, and what does your code do with an offset of 0?",
    )
    try:
        still = call(0, d_model)
    except Exception as error:
        return "an error for offset 0", f"{called} raises {name_error(error)}", look
    right = same_shift(still, shift(0, d_model))
    return None if right else ("wrong for offset 0", f"{called} does not leave every encoding as it is.", look)


def far_on(call, offset, d_model):
    """A large offset must be right too, with a larger d_model, and nothing may be rounded."""
    called = f"shift_matrix({100 + offset}, 8)"
    try:
        far = call(100 + offset, 8)
    except Exception as error:
        look = "is there a table, and how long is it?"
        return "an error for a large offset", f"{called} raises {name_error(error)}", look
    if not same_shift(far, shift(100 + offset, 8)):
        return (
            "wrong for a large offset or d_model",
            f"It is right for small ones, but {called} is not.",
            "what is the matrix made from, and is that enough for 8 features and any offset?",
        )
    rounded = (numbers(far).astype(np.float16), numbers(far).round(4))
    return "rounded numbers" if any(np.abs(numbers(far) - one).max() < 1e-7 for one in rounded) else None


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
    checks=[backwards, standing_still, far_on],
    signs=signs_of_a_fit,
)
