"""The exercise `bits_per_character`: a loss that can be compared, however the text was cut into tokens."""

import math

import numpy as np
import torch

from transformer_lessons.exercises.checker.setup import Setup, integers
from transformer_lessons.exercises.checker.values import numbers
from transformer_lessons.language import tokenization


def draw_loss(generator, tokens, characters, nats=None):
    """A loss, and how many tokens and characters it was measured on, drawn between two bounds."""
    nats = int(integers(generator, 5000, 1, low=1000)) / 1000 if nats is None else nats
    tokens = int(integers(generator, tokens[1], 1, low=tokens[0]))
    return nats, tokens, tokens if characters is None else int(integers(generator, characters[1], 1, low=characters[0]))


def ratio_of_bits(observed, expected, nats_per_token, tokens, characters):
    """How many times the expected number the result is."""
    return f"Your result is {float(numbers(observed)) / expected:.5g} times the expected number." if expected else None


A_TENSOR = "a tensor, not a float"


OF_A_TENSOR = "The number is right, but it comes in a tensor or an array; the exercise asks for a float."


INTO_A_FLOAT = "how do you get the number out of a tensor that holds only one?"


def is_a_plain_float(call, *inputs):
    """The number is right; is it a float?"""
    return (A_TENSOR, OF_A_TENSOR, INTO_A_FLOAT) if isinstance(call(*inputs), (torch.Tensor, np.ndarray)) else None


def signs_of_bits(observed, expected, nats_per_token, tokens, characters):
    """A text; a rounded number; or another number in the place of ln 2: which one?"""
    if isinstance(observed, str):
        return ["a text for the number"]
    number = float(numbers(observed))
    rounded = ["the result rounded"] * any(number == round(expected, places) for places in range(6))
    if not expected or not number or number < 0:
        return rounded
    constant = math.log(2) * expected / number
    name = "a rounded constant" if abs(constant / math.log(2) - 1) < 0.031 else "the wrong constant"
    return [*rounded, (name, constant)]


setup = Setup(
    sizes=[
        {"tokens": (10, 30), "characters": (40, 90)},
        {"tokens": (100, 900), "characters": None},
        {"tokens": (200, 300), "characters": (120, 190)},
        {"tokens": (10**5, 2 * 10**5), "characters": (4 * 10**5, 10**6)},
        {"tokens": (11, 19), "characters": (31, 39), "nats": 0.0},
        {"tokens": (1, 2), "characters": (5, 9)},
    ],
    draw=draw_loss,
    reference=tokenization.bits_per_character,
    checks=[is_a_plain_float],
    symptoms=[ratio_of_bits],
    signs=signs_of_bits,
)
