"""How the inputs of `bits_per_character` are drawn, and which number stands in the place of ln 2."""

import math

from transformer_lessons.exercises.catalogue.plain_results import is_a_float
from transformer_lessons.exercises.checker.setup import Setup, integers
from transformer_lessons.language import tokenization
from transformer_lessons.running.values import numbers


def draw_loss(generator, tokens, characters, nats=None):
    """A loss, and how many tokens and characters it was measured on, drawn between two bounds."""
    drawn = int(integers(generator, 5000, 1, low=1000)) / 1000 if nats is None else nats
    tokens = int(integers(generator, tokens[1], 1, low=tokens[0]))
    return (
        drawn,
        tokens,
        tokens if characters is None else int(integers(generator, characters[1], 1, low=characters[0])),
    )


def signs_of_bits(observed, expected, nats_per_token, tokens, characters):
    """A text; a rounded number; or another number in the place of ln 2: which one?"""
    if isinstance(observed, str):
        return ["a text for the number"]
    number = float(numbers(observed))
    rounded = ["the result rounded"] * any(number == round(expected, places) for places in range(6))
    if not expected or number <= 0:
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
    checks=[is_a_float],
    symptoms=[
        lambda observed, expected, *_: (
            expected and f"Your result is {float(numbers(observed)) / expected:.5g} times the expected number."
        )
    ],
    signs=signs_of_bits,
)
