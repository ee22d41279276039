"""The exercise `bits_per_character`: a loss that can be compared, however the text was cut into tokens."""

import math

import numpy as np
import torch

from transformer_lessons.exercises.checker.comparison import numbers
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, integers
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
    if isinstance(observed, str):
        yield "a text for the number"


exercise = Exercise(
    name="bits_per_character",
    lesson=8,
    title="A loss that can be compared",
    difficulty=1,
    importance=2,
    minutes=6,
    contract="""bits_per_character(nats_per_token, tokens, characters) returns a float: what a
        text costs in bits per character, on average. tokens and characters say how many of each the text has, and a
        token costs nats_per_token nats on average. (One nat is 1 / ln 2 bits.)""",
    stub='''
        def bits_per_character(nats_per_token, tokens, characters):
            """The loss in bits per character, however the text was cut into tokens."""
            raise NotImplementedError''',
    sizes=[
        {"tokens": (10, 30), "characters": (40, 90)},
        {"tokens": (100, 900), "characters": None},
        {"tokens": (200, 300), "characters": (120, 190)},
        {"tokens": (10**5, 2 * 10**5), "characters": (4 * 10**5, 10**6)},
        {"tokens": (11, 19), "characters": (31, 39), "nats": 0.0},
        {"tokens": (1, 2), "characters": (5, 9)},
    ],
    draw=draw_loss,
    reference=lambda *inputs: tokenization.bits_per_character(*inputs),
    checks=[is_a_plain_float],
    symptoms=[ratio_of_bits],
    signs=signs_of_bits,
    hints=[
        ("the text", "What do all the tokens of the text cost together, in nats?"),
        ("the characters", "All the characters of the text share that cost. What does one character cost, in nats?"),
        ("the bits", "A fair coin costs one bit, which is ln 2 = 0.69 nats. Are there more bits than nats, or fewer?"),
    ],
    solution="""
        import math

        def bits_per_character(nats_per_token, tokens, characters):
            return nats_per_token * tokens / characters / math.log(2)""",
)


@exercise.right("step by step")
class Bits(Steps):
    def __call__(self, nats_per_token, tokens, characters):
        return self.handed(self.rate(self.bits(nats_per_token), tokens, characters))

    def bits(self, nats):
        return nats / math.log(2)

    def rate(self, bits, tokens, characters):
        return bits * tokens / characters

    def handed(self, bits):
        return bits


# From nats to bits
mistake = exercise.section(hint=3)
mistake(
    "left in nats",
    why="The number is in nats: nothing has turned it into bits.",
    look="how many nats does a fair coin cost, and how many bits?",
    bits=lambda nats: nats,
)
mistake(
    "multiplied by ln 2",
    why="The nats are multiplied by ln 2, so there are fewer bits than nats, but a bit is the smaller unit.",
    look="a fair coin costs 0.69 nats. Does your formula turn that into 1 bit?",
    bits=lambda nats: nats * math.log(2),
)
mistake(
    "the logarithm of the loss",
    pairs=6,
    why="A logarithm of the loss is taken, but the loss is already a logarithm, and only its unit has to change.",
    look="how many bits is a loss of 0, or of 1 nat?",
    bits=[
        lambda nats: math.log2(nats),
        lambda nats: float(np.log2(nats)) if nats else -math.inf,
        lambda nats: math.log(nats),
        lambda nats: math.log(nats) / math.log(2) / math.log(2),
    ],
    handed=[lambda bits: math.log2(bits * math.log(2)), lambda bits: math.log2(bits)],
    variants=[
        lambda nats_per_token, tokens, characters: -math.log2(nats_per_token),
        lambda nats_per_token, tokens, characters: math.log2(nats_per_token * tokens) / characters,
    ],
)
mistake(
    "a perplexity",
    hint=1,
    pairs=8,
    why="The exponential of the loss is a perplexity: a number of equally likely choices, not their cost in bits.",
    look="what is your result for a loss of 0? What does a text cost if each of its tokens is certain?",
    bits=[
        lambda nats: math.exp(nats),
        lambda nats: math.exp(nats) / math.log(2),
        lambda nats: 2**nats,
        lambda nats: 2 ** (nats / math.log(2) ** 2),
    ],
    handed=[
        lambda bits: 2**bits,
        lambda bits: 2 ** (bits * math.log(2)),
        lambda bits: math.exp(bits),
        lambda bits: 2**bits / math.log(2),
    ],
    variants=[lambda nats_per_token, tokens, characters: math.exp(nats_per_token)],
)
mistake(
    "the wrong constant",
    pairs=6,
    why="The number that should turn nats into bits is not ln 2, the natural logarithm of 2.",
    look="print `math.log(2)`, `math.log2(2)` and `math.log10(2)`. Which of them is the cost of a fair coin in nats?",
    bits=[
        lambda nats: nats / math.log10(2),
        lambda nats: nats / math.log(10),
        lambda nats: nats / 2,
        lambda nats: nats * 2,
        lambda nats: nats / math.e,
        lambda nats: nats * math.log10(2),
    ],
)
mistake(
    "a rounded constant",
    why="The number that turns nats into bits has too few digits.",
    look="how many digits of ln 2, or of 1 / ln 2, are in your formula? What gives all of them?",
    bits=[
        lambda nats, constant=constant: nats / constant for constant in (0.69, 0.7, 0.693, 0.6931, 1 / 1.4, 1 / 1.44)
    ],
)
mistake(
    "converted twice",
    why="The number is divided by ln 2 twice; after the first time it is already in bits.",
    look="how many times does ln 2 occur in your formula?",
    bits=lambda nats: nats / math.log(2) ** 2,
)
mistake(
    "bytes, not bits",
    pairs=3,
    why="The result is divided or multiplied by 8, as if bytes came into it.",
    look="where does the 8 come from?",
    bits=[lambda nats: nats / math.log(2) / 8, lambda nats: nats / math.log(2) * 8, lambda nats: nats / 8],
)
mistake(
    "the sign flipped",
    pairs=1,
    why="The result is negative, but a loss never is, as no probability is above 1.",
    look="is the minus sign of -ln(p) already in the loss?",
    bits=lambda nats: -nats / math.log(2),
)

# From tokens to characters
LONGER = "should the result grow when the text gets longer?"
mistake = exercise.section(hint=2)
mistake(
    "bits per token",
    why="The result is in bits per token, not per character.",
    look="where does your formula use tokens and characters?",
    rate=lambda bits: bits,
)
mistake(
    "tokens and characters swapped",
    why="The bits of a token are multiplied by its number of characters, but its characters share its bits.",
    look="a token of three characters costs 3 bits. What does each character cost?",
    rate=lambda bits, tokens, characters: bits * characters / tokens,
)
mistake(
    "the bits of the whole text",
    why="The result is what the whole text costs: nothing divides it among the characters.",
    look=LONGER,
    rate=lambda bits, tokens: bits * tokens,
)
mistake(
    "one token's bits shared by all characters",
    hint=1,
    why="The bits of a single token are divided by all the "
    "characters of the text, but the other tokens cost something too.",
    look="should the result shrink when the text gets longer?",
    rate=lambda bits, characters: bits / characters,
)
mistake(
    "divided by the tokens",
    hint=1,
    pairs=2,
    why="The loss is already a mean over the tokens, but it is divided by their number again.",
    look="what does nats_per_token stand for, and what do all the tokens cost together?",
    rate=[lambda bits, tokens: bits / tokens, lambda bits, tokens, characters: bits / tokens / characters],
)
mistake(
    "multiplied by the characters",
    pairs=2,
    why="The bits are multiplied by the number of characters, but the characters share them.",
    look=LONGER,
    rate=[lambda bits, characters: bits * characters, lambda bits, tokens, characters: bits * tokens * characters],
)
mistake(
    "the wrong total",
    pairs=2,
    why="The cost of the text is divided by a sum, a difference or a mean of the "
    "numbers of tokens and characters, not by the number of characters.",
    look="who shares the cost of the text?",
    rate=[
        lambda bits, tokens, characters: bits * tokens / (tokens + characters),
        lambda bits, tokens, characters: bits * tokens / (characters - tokens),
        lambda bits, tokens, characters: bits * tokens / ((tokens + characters) / 2),
    ],
)
mistake(
    "one token or character off",
    pairs=6,
    why="One is added to the number of tokens or characters, or subtracted "
    "from it, but the numbers you are given are already right.",
    look="where does the 1 come from?",
    rate=[
        lambda bits, tokens, characters, t=t, c=c: bits * (tokens + t) / (characters + c)
        for t, c in ((-1, 0), (1, 0), (0, 1), (0, -1), (1, 1), (-1, -1))
    ],
)
mistake(
    "a quotient rounded",
    pairs=5,
    why="A quotient is rounded to a whole number on the way, as by `//`, `int` or `round`.",
    look="`/` and `//`: what do 3 / 4 and 3 // 4 give?",
    rate=[
        lambda bits, tokens, characters: bits * (tokens // characters),
        lambda bits, tokens, characters: bits / (characters // tokens),
        lambda bits, tokens, characters: bits / round(characters / tokens),
    ],
    bits=lambda nats: nats // math.log(2),
    variants=[
        {
            "__call__": lambda self, nats_per_token, tokens, characters: self.handed(
                nats_per_token * tokens // characters / math.log(2)
            )
        },
        lambda nats_per_token, tokens, characters: int(nats_per_token * tokens / math.log(2)) / characters,
    ],
)

# What is returned
mistake = exercise.section(hint=3)
mistake(
    "the result rounded",
    pairs=7,
    why="The result is rounded, but the exercise asks for the number itself.",
    look="is there a `round`, an `int` or a `//`? Round only what you print.",
    handed=[
        *(lambda bits, decimals=decimals: round(bits, decimals) for decimals in (2, None, 1, 3)),
        lambda bits: math.floor(bits),
        lambda bits: math.ceil(bits),
        lambda bits: math.floor(100 * bits) / 100,
    ],
)
mistake(
    A_TENSOR,
    pairs=2,
    why=OF_A_TENSOR,
    look=INTO_A_FLOAT,
    handed=[lambda bits: torch.tensor(bits), lambda bits: np.array(bits)],
)
mistake(
    "a text for the number",
    pairs=8,
    why="The result is a string, as you would print it, but the exercise asks for a number.",
    look="what does an f-string turn a number into?",
    handed=[
        lambda bits, form=form: form.format(bits)
        for form in (
            "{:.2f}",
            "{}",
            "{:.1f}",
            "{:.3f}",
            "{:.4f}",
            "{:.2f} bits per character",
            "{:.2f} bits",
            "{:.2f} bpc",
        )
    ],
)
