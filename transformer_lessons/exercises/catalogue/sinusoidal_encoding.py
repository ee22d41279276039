"""How the inputs of `sinusoidal_encoding` are drawn, and which frequencies an answer has used."""

import math

import numpy as np
import torch

from transformer_lessons import positions
from transformer_lessons.exercises.checker.comparison import close, comparable
from transformer_lessons.exercises.checker.setup import Setup
from transformer_lessons.running.values import numbers


def first_wrong_column(observed, expected, length, d_model):
    wrong = np.abs(numbers(observed) - numbers(expected)) > 1e-4
    first = int(wrong.any(axis=0).argmax())
    return f"Column {first} is the first wrong one." if first else None


def table(frequency, length):
    angles = np.arange(length)[:, None] * frequency
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, -1)


def signs_of_the_frequencies(observed, expected, length, d_model):
    """Half precision, another base, growing frequencies: large angles have other sines in each kind of rounding."""
    if not comparable(observed, expected) or length < 2:
        return []
    ours, exponents = numbers(observed), np.arange(0, d_model, 2) / d_model
    if np.abs(ours - expected.numpy())[1].max() < 0.01 and is_in_half_precision(torch.from_numpy(ours)):
        return ["half precision"]
    if d_model < 4:
        return []
    frequency = math.atan2(ours[1, 2], ours[1, 3])
    base = frequency ** (-d_model / 2) if 0 < frequency < 1 else 0
    grown = np.abs(ours - table(10000**exponents, length)) < 0.1
    signs = (
        ("another base than 10000", is_a_usual_base(base) and close(ours, table(base**-exponents, length), 1e-3)),
        ("multiplied where it should be divided", np.mean(grown) > 0.95),
    )
    return [name for name, shown in signs if shown]


def is_in_half_precision(table):
    """Is each number one that half precision has?"""
    return any(bool((table.to(kind).double() == table).all()) for kind in (torch.float16, torch.bfloat16))


def holds_any_length(call, length, d_model):
    """Is a long text's encoding right, too? Checked once, with as few columns as possible."""
    if d_model > 2:
        return None
    encoding = call(5001, 2)
    rows = encoding.shape[0]
    if rows == 5001:
        return None if close(encoding, positions.sinusoidal_encoding(5001, 2), 1e-4) else "wrong for a long text"
    return (
        "a table of fixed size" if rows < 5001 else "an encoding of another size",
        f"A text of 5,001 positions gets {rows:,} rows.",
        "how long a text can your code handle?",
    )


def is_a_usual_base(base):
    """Is this a base that people write, such as 5000 or 4096? Other wrong frequencies can look like any base."""
    return any(abs(base - number) < 1e-3 * base for number in (float(f"{base:.2g}"), 2 ** round(math.log2(base or 1))))


setup = Setup(
    sizes=[
        {"length": length, "d_model": d_model}
        for length, d_model in ((3, 4), (6, 6), (1, 8), (4, 2), (5, 12), (12, 8), (30, 10), (600, 4))
    ],
    draw=lambda generator, length, d_model: (length, d_model),
    names_steps=False,
    signs=signs_of_the_frequencies,
    reference=positions.sinusoidal_encoding,
    returns="encoding",
    shapes={"encoding": "(length, d_model)"},
    symptoms=[first_wrong_column],
    checks=[holds_any_length],
    tolerance=1e-4,
)
