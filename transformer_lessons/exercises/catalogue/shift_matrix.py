"""shift_matrix, of lesson 5: one rotation for each pair of features moves every position on."""

from functools import lru_cache

import numpy as np
import torch

from transformer_lessons import positions
from transformer_lessons.exercises.checker.comparison import alike, close, comparable, difference
from transformer_lessons.exercises.checker.errors import name_error
from transformer_lessons.exercises.checker.setup import Setup
from transformer_lessons.exercises.checker.values import numbers

TOLERANCE = 1e-3  # a fit is never exact
SHAPES = {"matrix": "(d_model, d_model)"}


def evens(d_model):
    """2i for each pair of features i."""
    return torch.arange(0, d_model, 2, dtype=torch.float64)


def as_blocks(*four):
    """The rows of 2 by 2 blocks, one block for each pair: (pairs, 2, 2)."""
    return torch.stack(four, dim=-1).unflatten(-1, (2, 2))


def shift(offset, d_model):
    """The matrix that moves every position on by offset: for each pair of features, a rotation."""
    angles = offset / 10000 ** (evens(d_model) / d_model)
    blocks = as_blocks(angles.cos(), angles.sin(), -angles.sin(), angles.cos())
    return torch.block_diag(*blocks).to(torch.get_default_dtype())


@lru_cache(maxsize=20)
def first_positions(d_model):
    """The encoding of the first 32 positions, (d_model, position)."""
    return numbers(positions.sinusoidal_encoding(32, d_model)).T


def same_shift(one, other):
    """The same matrix, or one that does the same to the first 32 positions: a fit is never exact."""
    if alike(one, other, TOLERANCE):
        return True
    if not (
        isinstance(one, torch.Tensor)
        and isinstance(other, torch.Tensor)
        and one.dim() == 2
        and one.is_floating_point()
        and other.is_floating_point()
        and one.shape == other.shape == (len(one), len(one))
        and len(one) % 2 == 0
    ):
        return False
    encoding = first_positions(len(one))
    return close(numbers(one) @ encoding, numbers(other) @ encoding, TOLERANCE)


RAISES, WRONG = "an error for a negative offset", "wrong for a negative offset"


SIGN_LOST, IGNORED = "the sign of the offset lost", "negative offsets ignored"


ZEROS, NOT_FINITE = "zeros for a negative offset", "NaN or infinity for a negative offset"


TAKES_AWAY = "does an abs or a square remove the sign?"


HOW_OFTEN = "any `range(offset)` or `max(offset, 0)`: what does it give for an offset of -2?"


BELOW_0 = "each place that uses `offset`: what happens there when it is -2?"


def backwards(call, offset, d_model):
    """A negative offset must shift backwards."""
    called = f"shift_matrix({-offset}, {d_model})"
    try:
        back = call(-offset, d_model)
    except Exception as error:
        return RAISES, f"{called} raises {name_error(error)}", BELOW_0
    wanted = shift(-offset, d_model)
    if same_shift(back, wanted):
        return None
    found = difference(back, wanted, "matrix", SHAPES, 0.0, False)
    if found and found.sort in ("kind", "count", "dtype", "shape"):
        return WRONG, f"With offset {-offset} and d_model {d_model}: {found.sentence}", BELOW_0
    if not back.isfinite().all():
        return NOT_FINITE, f"{called} holds NaN or infinity.", BELOW_0
    if same_shift(back, shift(offset, d_model)):
        return SIGN_LOST, f"{called} gives the matrix for {offset}: it shifts forwards.", TAKES_AWAY
    if same_shift(back, shift(0, d_model)):
        return IGNORED, f"{called} gives the identity matrix: nothing shifts.", HOW_OFTEN
    if not back.any():
        return ZEROS, f"{called} is zero everywhere.", HOW_OFTEN
    row, column = divmod(int((back.double() - wanted.double()).abs().argmax()), d_model)
    return (
        WRONG,
        (
            f"Row {row}, column {column} of {called} is {float(back[row, column]):.3f}; "
            f"{float(wanted[row, column]):.3f} is expected."
        ),
        BELOW_0,
    )


def standing_still(call, offset, d_model):
    """An offset of 0 must leave every vector as it is."""
    called = f"shift_matrix(0, {d_model})"
    try:
        still = call(0, d_model)
    except Exception as error:
        return "an error for offset 0", f"{called} raises {name_error(error)}", WHICH_AT_0
    if same_shift(still, shift(0, d_model)):
        return None
    return "wrong for offset 0", f"{called} does not leave every encoding as it is.", WHICH_AT_0


WHICH_AT_0 = "what should a shift by 0 do to a vector, and what does your code do with an offset of 0?"


def far_on(call, offset, d_model):
    """A large offset must be right too, with a larger d_model, and nothing may be rounded."""
    called = f"shift_matrix({100 + offset}, 8)"
    try:
        far = call(100 + offset, 8)
    except Exception as error:
        return (
            "an error for a large offset",
            f"{called} raises {name_error(error)}",
            "is there a table, and how long is it?",
        )
    if not same_shift(far, shift(100 + offset, 8)):
        return (
            "wrong for a large offset or d_model",
            f"It is right for small ones, but {called} is not.",
            "what is the matrix made from, and is that enough for 8 features and any offset?",
        )
    if any(np.abs(numbers(far) - one(numbers(far))).max() < 1e-7 for one in (np.float16, lambda x: x.round(4))):
        return ROUNDED, "The numbers are right to only three or four digits.", "every call to `round` or `half`."
    return None


ROUNDED = "rounded numbers"


def what_it_is_not(observed, expected, offset, d_model):
    """Which property of a matrix of rotations this one lacks."""
    ours, theirs = numbers(observed), numbers(expected)
    if not np.isfinite(ours).all():
        return None
    if (np.abs(ours[theirs == 0]) > 1e-3).any():
        return "It mixes features that do not form a pair: outside the blocks on the diagonal, everything should be 0."
    if not np.allclose(ours @ ours.T, np.eye(d_model), atol=1e-3):
        return "It changes lengths: the rows of a rotation have length 1 and are perpendicular."
    wrong = [i for i in range(d_model // 2) if np.abs(ours - theirs)[2 * i : 2 * i + 2].max() > 1e-3]
    return f"Its blocks keep lengths, as rotations do; pair {wrong[0]} is the first not to turn by the right angle."


def signs_of_a_fit(observed, expected, offset, d_model):
    """Is position 0 shifted correctly, though not every position is?"""
    if not comparable(observed, expected):
        return
    errors = np.abs((numbers(observed) - numbers(expected)) @ first_positions(d_model)).max(axis=0)
    if errors[0] < 1e-3:
        yield "not right for every position"


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
    symptoms=[what_it_is_not],
    signs=signs_of_a_fit,
)
