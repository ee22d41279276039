"""Lesson 5, positional encoding: order, for a thing that has none."""

import cmath
import math

import numpy as np
import torch

from transformer_lessons import positions
from transformer_lessons.exercises.comparing import alike, close, numbers
from transformer_lessons.exercises.exercise import Exercise, Steps

# sinusoidal_encoding


def first_wrong_column(observed, expected, length, d_model):
    wrong = np.abs(numbers(observed) - numbers(expected)) > 1e-4
    first = int(wrong.any(axis=0).argmax())
    return f"Column {first} is the first wrong one." if first else None


def signs_of_the_speeds(observed, expected, length, d_model):
    """Any base but 10000; and speeds that grow: each way to round gives other sines of large angles."""
    ours = numbers(observed)
    speed = math.atan2(ours[1, 2], ours[1, 3])
    if 0 < speed < 1 and close(ours, other_base(speed ** (-d_model / 2))()(length, d_model), 1e-3):
        yield "another base than 10000"
    if np.mean(np.abs(ours - numbers(Growing()(length, d_model))) < 0.1) > 0.95:
        yield "multiplied where it should be divided"


sinusoidal_encoding = Exercise(
    name=""
        "sinusoidal_encoding", lesson=5, title="A clock with many "
            "hands", difficulty=2, importance=3, minutes=15,
    contract="""
        sinusoidal_encoding(length, d_model) returns a float tensor (length, d_model), for an even d_model.
        Row p belongs to position p, from 0 on. Columns 2i and 2i + 1 hold the sine and the cosine of one
        angle, p / 10000 ** (2i / d_model), where i counts the pairs of columns from 0.
        """,
    stub='''
        def sinusoidal_encoding(length, d_model):
            """(length, d_model): row p holds sines and cosines of p, at d_model / 2 speeds."""
            raise NotImplementedError
        ''',
    sizes=[{"length": 3, "d_model": 4}, {"length": 6, "d_model": 6}, {"length": 1, "d_model": 8},
           {"length": 4, "d_model": 2}, {"length": 5, "d_model": 12}, {"length": 12, "d_model": 8},
           {"length": 30, "d_model": 10}],
    draw=lambda generator, length, d_model: (length, d_model),
    reference=lambda length, d_model: positions.sinusoidal_encoding(length, d_model),
    returns="encoding", shapes={"encoding": "(length, d_model)"},
    tolerance=1e-4,  # of 1: angles in float32 are right to 3e-5 at position 30, those in float16 are not
    symptoms=[first_wrong_column], signs=signs_of_the_speeds, parting=False,
    hints=[
        ("the places are wrong",
         "Write down row 1 for d_model 4 by hand: sin(1), cos(1), sin(0.01), cos(0.01). Which columns are a "
             "pair?"),
        ("the speeds are wrong",
         "The pairs turn by 1 radian a step, then slower and slower, to almost 1/10000. For d_model 4 the "
         "two speeds are 1 and 1/100; what are the exponents of 10000?"),
        ("the tool",
         "Make the positions a column, (length, 1), and the speeds a row, (d_model / 2,): their product is "
         "every angle at once. Then fill columns 0::2 with the sines and 1::2 with the cosines."),
    ],
    solution='''
        import torch


        def sinusoidal_encoding(length, d_model):
            position = torch.arange(length)[:, None]
            speed = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
            encoding = torch.zeros(length, d_model)
            encoding[:, 0::2] = torch.sin(position * speed)
            encoding[:, 1::2] = torch.cos(position * speed)
            return encoding
        ''',
)


def count(number):
    """0.0, 1.0, … as a column or row of float64."""
    return torch.arange(number, dtype=torch.float64)


def interleaved(even, odd):
    return torch.stack([even, odd], dim=-1).flatten(1)


@sinusoidal_encoding.right("step by step")
class Sinusoids(Steps):
    def __call__(self, length, d_model):
        position, pair = self.position(length), self.pair(d_model)
        sines = self.even(self.angles_of(position, pair, d_model))
        cosines = self.odd(self.angles_of(position, self.pair_of_cosines(pair), d_model))
        return self.table(sines, cosines)

    def angles_of(self, position, pair, d_model):
        exponent = self.exponent(pair, d_model)
        return self.angles(position, self.speed(exponent, d_model), exponent)

    def position(self, length):
        return count(length)[:, None]  # (length, 1)

    def pair(self, d_model):
        return count(d_model // 2)

    def pair_of_cosines(self, pair):
        return pair

    def exponent(self, pair, d_model):
        return 2 * pair / d_model

    def speed(self, exponent, d_model):
        return 10000 ** -exponent

    def angles(self, position, speed, exponent):
        return position * speed  # (length, d_model / 2)

    def even(self, angles):
        return angles.sin()

    def odd(self, angles):
        return angles.cos()

    def table(self, even, odd):
        return interleaved(even, odd)


@sinusoidal_encoding.right("number by number")
def number_by_number(length, d_model):
    return torch.tensor([[math.sin(p / 10000 ** (c / d_model)) if c % 2 == 0 else
                          math.cos(p / 10000 ** ((c - 1) / d_model)) for c in range(d_model)]
                         for p in range(length)])


@sinusoidal_encoding.right("with exp and log, in float32")
def with_exp_and_log(length, d_model):
    speed = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    angles = torch.outer(torch.arange(length).float(), speed)
    encoding = torch.zeros(length, d_model)
    encoding[:, ::2], encoding[:, 1::2] = angles.sin(), angles.cos()
    return encoding


@sinusoidal_encoding.right("in NumPy")
def in_numpy(length, d_model):
    exponents = 2 * (np.arange(d_model) // 2) / d_model
    angles = np.arange(length)[:, np.newaxis] / np.power(10000, exponents)
    angles[:, 0::2], angles[:, 1::2] = np.sin(angles[:, 0::2]), np.cos(angles[:, 1::2])
    return torch.from_numpy(angles)


@sinusoidal_encoding.right("as complex numbers")
def as_complex_numbers(length, d_model):
    angles = count(length)[:, None] * torch.logspace(0, -4 + 8 / d_model, d_model // 2, dtype=torch.float64)
    turned = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flip(-1).reshape(length, d_model)


@sinusoidal_encoding.right("by turning step by step")
def by_turning(length, d_model):
    steps = [cmath.exp(1j * 10000 ** (-2 * i / d_model)) for i in range(d_model // 2)]
    hands, rows = [1 + 0j] * len(steps), []
    for _ in range(length):
        rows.append([part for hand in hands for part in (hand.imag, hand.real)])
        hands = [hand * step for hand, step in zip(hands, steps, strict=True)]
    return torch.tensor(rows)


@sinusoidal_encoding.right("a cosine is a sine, a quarter turn ahead")
def quarter_turn(length, d_model):
    column = torch.arange(d_model)
    speed = 0.0001 ** ((column - column % 2) / d_model)
    return torch.sin(torch.arange(length).unsqueeze(1) * speed + column % 2 * math.pi / 2)


# sinusoidal_encoding: the exponent


@sinusoidal_encoding.mistake(
    "the exponent doubled",
    why="The exponent is twice what it should be: the 2 of 2i is there twice, perhaps once in steps of two "
        "and once in the formula, so the speeds fall much too fast.",
    look="if i already goes 0, 2, 4, …, is it i or 2i?", hint=2)
class Doubled(Sinusoids):
    def exponent(self, pair, d_model):
        return 4 * pair / d_model


@sinusoidal_encoding.mistake(
    "the exponent halved",
    why="The speeds fall to about 1/100 only, where they should reach almost 1/10000: the 2 of 2i is "
        "missing (or the base is 100).",
    look="if i counts the pairs 0, 1, 2, …, what stands over d_model?", hint=2)
class Halved(Sinusoids):
    def exponent(self, pair, d_model):
        return pair / d_model


@sinusoidal_encoding.mistake(
    "the cosine at another speed than its sine",
    why="The cosines use an exponent of their own, from the odd column, so a pair does not hold the sine "
        "and the cosine of one angle, and a shift is no longer a rotation.",
    look="the exponents of columns 0 and 1: are they equal?", hint=2)
class OwnSpeed(Sinusoids):
    def pair_of_cosines(self, pair):
        return pair + 0.5


@sinusoidal_encoding.mistake("the cosine at another speed than its sine")
class NextSpeed(Sinusoids):
    def pair_of_cosines(self, pair):
        return pair + 1


@sinusoidal_encoding.mistake(
    "the speeds repeated as a whole",
    why="The row of speeds is repeated as a whole, not each speed twice in a row, so the two columns of a "
        "pair turn at different speeds.",
    look="`repeat` and `repeat_interleave` of [1, 2, 3]: what does each of them give?", hint=2, pairs=False)
class SpeedsRepeated(Sinusoids):
    def pair(self, d_model):
        return 2 * count(d_model // 2) % (d_model // 2)

    def pair_of_cosines(self, pair):
        return (2 * count(len(pair)) + 1) % len(pair)


@sinusoidal_encoding.mistake(
    "2i taken for twice the column",
    why="Column c gets the exponent 2c / d_model, but in the formula 2i is the column already (or the one "
        "before it): the 2 is there twice, and the sine and cosine of a pair turn at different speeds.",
    look="in column 3, what is i, and what is 2i?", hint=2)
class TwiceTheColumn(Sinusoids):
    def exponent(self, pair, d_model):
        return 4 * pair / d_model

    def pair_of_cosines(self, pair):
        return pair + 0.5


@sinusoidal_encoding.mistake(
    "the exponent from 1 on",
    why="The first exponent is not 0, so the first pair does not turn by 1 radian a step, as it should: the "
        "count does not start at 0.",
    look="what is the speed of the first pair, and which i makes it 1?", hint=2)
class CountedFromOne(Sinusoids):
    def exponent(self, pair, d_model):
        return 2 * (pair + 1) / d_model


@sinusoidal_encoding.mistake("the exponent from 1 on")
class OddColumns(Sinusoids):
    def exponent(self, pair, d_model):
        return (2 * pair + 1) / d_model


@sinusoidal_encoding.mistake(
    "the exponent runs up to 1",
    why="2i is divided by d_model - 2, so the slowest pair turns at exactly 1/10000: some libraries do it "
        "so, but the formula divides by d_model.",
    look="which number stands under 2i in the formula?", hint=2)
class UpToOne(Sinusoids):
    def exponent(self, pair, d_model):
        return 2 * pair / max(d_model - 2, 1)


@sinusoidal_encoding.mistake("the exponent runs up to 1")
class UpToOneOrNothing(Sinusoids):
    def exponent(self, pair, d_model):
        return 2 * pair / torch.tensor(d_model - 2)  # 0 / 0 is NaN where d_model is 2


@sinusoidal_encoding.mistake("the exponent runs up to 1")
class UpToOneOrError(Sinusoids):
    def exponent(self, pair, d_model):
        return 2 * pair * (1 / (d_model - 2))


@sinusoidal_encoding.mistake(
    "2i over d_model - 1",
    why="2i is divided by d_model - 1, not by d_model, so all speeds but the first are a little off.",
    look="which number stands under 2i in the formula?", hint=2)
class OverOneLess(Sinusoids):
    def exponent(self, pair, d_model):
        return 2 * pair / (d_model - 1)


@sinusoidal_encoding.mistake(
    "2i over more than d_model",
    why="2i is divided by d_model + 1 or d_model + 2, not by d_model, so all speeds but the first are a "
        "little off.",
    look="which number stands under 2i in the formula?", hint=2)
class OverTwoMore(Sinusoids):
    def exponent(self, pair, d_model):
        return 2 * pair / (d_model + 2)


@sinusoidal_encoding.mistake("2i over more than d_model")
class OverOneMore(Sinusoids):
    def exponent(self, pair, d_model):
        return 2 * pair / (d_model + 1)


@sinusoidal_encoding.mistake(
    "2i over the length",
    why="2i is divided by the number of positions, not by d_model: the speeds should not depend on how long "
        "the sequence is.",
    look="which number stands under 2i in the formula?", hint=2)
class OverLength(Sinusoids):
    def __call__(self, length, d_model):
        self.length = length
        return super().__call__(length, d_model)

    def exponent(self, pair, d_model):
        return 2 * pair / self.length


@sinusoidal_encoding.mistake("2i over the length")
class HalvedOverLength(OverLength):
    def exponent(self, pair, d_model):
        return pair / self.length


@sinusoidal_encoding.mistake(
    "an exponent far too large",
    why="All pairs but the first hardly turn at all: the exponent is far too large, as when 2i is not "
        "divided by d_model, or when exp gets 10000 itself in place of its logarithm.",
    look="print the exponents: they should run from 0 to almost 1.", hint=2)
class NotDivided(Sinusoids):
    def exponent(self, pair, d_model):
        return 2 * pair


@sinusoidal_encoding.mistake("an exponent far too large", pairs=False)
class HalfNotDivided(Sinusoids):
    def exponent(self, pair, d_model):
        return pair


@sinusoidal_encoding.mistake(
    "every pair at the same speed",
    why="Every pair turns by 1 radian a step: the exponent is 0 everywhere, or missing, as when 2i // "
        "d_model rounds it down.",
    look="the exponents: print them. Is there a `//` in your formula?", hint=2)
class SameSpeed(Sinusoids):
    def exponent(self, pair, d_model):
        return 0 * pair


@sinusoidal_encoding.mistake(
    "the slowest pair first",
    why="The speeds come in the opposite order, the slowest first.",
    look="which columns should turn fastest?", hint=2)
class SlowestFirst(Sinusoids):
    def pair(self, d_model):
        return count(d_model // 2).flip(0)


# sinusoidal_encoding: the speed


def other_base(base):
    class OtherBase(Sinusoids):
        def speed(self, exponent, d_model):
            return base ** -exponent
    return OtherBase


sinusoidal_encoding.mistake(
    "another base than 10000",
    why="The base of the power is not 10000, so the speeds run down to another number than 1/10000.",
    look="the zeros of your base; and if you go by way of exp, which logarithm stands in "
        "it?", hint=2)(other_base(1000.0))

# With base 100 it is the exponent halved.
BASES = (100000.0, 10.0, 1e6, 500000.0, 50000.0, 20000.0, 5000.0, 512.0, math.e, 2.0)

for base in BASES:
    sinusoidal_encoding.mistake("another base than 10000", pairs=base == 100000)(other_base(base))


@sinusoidal_encoding.mistake(
    "the wrong logarithm",
    why="exp undoes the natural logarithm, and here it gets the one to base 10 or 2 of 10000, so the base "
        "of the power is not 10000.",
    look="which logarithm does exp undo?", hint=2)
class LogTen(Sinusoids):
    def speed(self, exponent, d_model):
        return (-exponent * math.log10(10000)).exp()


@sinusoidal_encoding.mistake("the wrong logarithm", pairs=False)
class LogTwo(Sinusoids):
    def speed(self, exponent, d_model):
        return (-exponent * math.log2(10000)).exp()


@sinusoidal_encoding.mistake(
    "multiplied where it should be divided",
    why="The position is multiplied by 10000 ** (2i / d_model), not divided by it: the speeds grow instead "
        "of falling.",
    look="the sign of the exponent: which columns should turn slowest?", hint=2)
class Growing(Sinusoids):
    def speed(self, exponent, d_model):
        return 10000 ** exponent


@sinusoidal_encoding.mistake("multiplied where it should be divided")
class GrowingInFloat32(Sinusoids):
    def speed(self, exponent, d_model):
        return 10000 ** exponent.float()

    def angles(self, position, speed, exponent):
        return position.float() * speed


@sinusoidal_encoding.mistake("multiplied where it should be divided", pairs=False)
class GrowingByExpInFloat32(GrowingInFloat32):
    def speed(self, exponent, d_model):
        return torch.exp((exponent * d_model).float() * (math.log(10000.0) / d_model))


@sinusoidal_encoding.mistake("multiplied where it should be divided", pairs=False)
class DividedByExpInFloat32(Sinusoids):
    def speed(self, exponent, d_model):
        return torch.exp((exponent * d_model).float() * (-math.log(10000.0) / d_model))

    def angles(self, position, speed, exponent):
        return position.float() / speed


@sinusoidal_encoding.mistake("multiplied where it should be divided", pairs=False)
class DividedByPowerInFloat32(DividedByExpInFloat32):
    def speed(self, exponent, d_model):
        return 1 / 10000 ** exponent.float()


@sinusoidal_encoding.mistake(
    "the exponential forgotten",
    why="The position is multiplied by the logarithm of the speed, or by the exponent itself: nothing "
        "raises 10000 to a power.",
    look="the line that makes the speeds: where is the power, or the exp?", hint=2)
class ExpForgotten(Sinusoids):
    def speed(self, exponent, d_model):
        return -exponent * math.log(10000)


@sinusoidal_encoding.mistake("the exponential forgotten", pairs=False)
class ExpAndMinusForgotten(Sinusoids):
    def speed(self, exponent, d_model):
        return exponent * math.log(10000)


@sinusoidal_encoding.mistake("the exponential forgotten", pairs=False)
class PowerForgotten(Sinusoids):
    def speed(self, exponent, d_model):
        return exponent


@sinusoidal_encoding.mistake("the exponential forgotten", pairs=False)
class PowerForgottenButDivided(Sinusoids):
    def speed(self, exponent, d_model):
        return exponent / 10000


@sinusoidal_encoding.mistake(
    "brackets missing round the exponent",
    why="A power comes before a product and a division, so without brackets only the first number of 2i / "
        "d_model is in the exponent.",
    look="what does `10000 ** 2 * 3 / 4` give, and what `10000 ** (2 * 3 / 4)`?", hint=2)
class BracketsMissing(Sinusoids):
    def speed(self, exponent, d_model):
        return 10000 ** -(exponent * d_model) / d_model


@sinusoidal_encoding.mistake("brackets missing round the exponent", pairs=False)
class BracketsMissingBelow(Sinusoids):
    def speed(self, exponent, d_model):
        return 10000 ** -(exponent * d_model) * d_model


@sinusoidal_encoding.mistake("brackets missing round the exponent", pairs=False)
class AllBracketsMissing(Sinusoids):
    def speed(self, exponent, d_model):
        return 1 / 10000 ** 2 * (exponent * d_model / 2) / d_model


@sinusoidal_encoding.mistake("brackets missing round the exponent", pairs=False)
class AllBracketsMissingInStepsOfTwo(Sinusoids):
    def speed(self, exponent, d_model):
        return 1 / 10000 ** 2 * (exponent * d_model) / d_model


@sinusoidal_encoding.mistake(
    "the power of the quotient",
    why="The position is inside the power: (p / 10000) ** (2i / d_model), where only 10000 should be raised.",
    look="the brackets: what does the `**` apply to?", hint=2)
class PowerOfQuotient(Sinusoids):
    def angles(self, position, speed, exponent):
        return (position / 10000) ** exponent


@sinusoidal_encoding.mistake(
    "base and exponent exchanged",
    why="The exponent is raised to the power of 10000 (or of 1/10000), where 10000 should be raised to the "
        "exponent.",
    look="`a ** b`: which of the two is the base?", hint=2, pairs=False)
class Exchanged(Sinusoids):
    def speed(self, exponent, d_model):
        return exponent ** 1e-4


@sinusoidal_encoding.mistake("base and exponent exchanged")
class ExchangedAndDivided(Sinusoids):
    def angles(self, position, speed, exponent):
        return position / exponent ** 10000


@sinusoidal_encoding.mistake(
    "rounded down by //",
    why="A `//` cuts off what comes after the point, in the exponent's factor or in the angle, so the "
        "speeds are far off.",
    look="every `//`: should there be one?", hint=2, pairs=False)
class FactorRoundedDown(Sinusoids):
    def speed(self, exponent, d_model):
        return torch.exp(exponent * d_model * (-math.log(10000.0) // d_model))


@sinusoidal_encoding.mistake("rounded down by //")
class FactorHalvedAndRoundedDown(Sinusoids):
    def speed(self, exponent, d_model):
        return torch.exp(exponent * d_model * (-math.log(10000.0) / d_model // 2))


@sinusoidal_encoding.mistake("rounded down by //")
class AngleRoundedDown(Sinusoids):
    def angles(self, position, speed, exponent):
        return (position * speed).floor()


# sinusoidal_encoding: the positions, and the angle


@sinusoidal_encoding.mistake(
    "positions from one",
    why="The positions start at 1, so every row is where the row after it should be.",
    look="row 0: which angles does position 0 have?", hint=1)
class FromOne(Sinusoids):
    def position(self, length):
        return count(length)[:, None] + 1


@sinusoidal_encoding.mistake(
    "positions that start elsewhere",
    why="The positions do not start at 0, but below it or at 2, so every row belongs to another position.",
    look="row 0: which angles does position 0 have?", hint=1, pairs=False)
class FromMinusOne(Sinusoids):
    def position(self, length):
        return count(length)[:, None] - 1


@sinusoidal_encoding.mistake("positions that start elsewhere")
class FromTwo(Sinusoids):
    def position(self, length):
        return count(length)[:, None] + 2


@sinusoidal_encoding.mistake("positions that start elsewhere")
class Centred(Sinusoids):
    def position(self, length):
        return count(length)[:, None] - length // 2


@sinusoidal_encoding.mistake(
    "positions backwards",
    why="The positions run backwards: the last row has position 0.",
    look="row 0: which angles does position 0 have?", hint=1, pairs=False)
class Backwards(Sinusoids):
    def position(self, length):
        return count(length).flip(0)[:, None]


@sinusoidal_encoding.mistake(
    "position and column exchanged",
    why="Position and column have changed places in the formula: the column is divided by a power that "
        "comes from the position.",
    look="which of the two should each row have in common, and which each column?", hint=1, pairs=False)
def exchanged(length, d_model):
    row, column = count(length)[:, None], count(d_model)
    angles = column / 10000 ** (2 * (row // 2) / d_model)
    return torch.where(column % 2 == 0, angles.sin(), angles.cos())


@sinusoidal_encoding.mistake("position and column exchanged")
def exchanged_wholly(length, d_model):
    row, column = count(length)[:, None], count(d_model)
    angles = column / 10000 ** (2 * (row // 2) / length)
    return torch.where(row % 2 == 0, angles.sin(), angles.cos())


@sinusoidal_encoding.mistake("position and column exchanged")
def exchanged_by_single_row(length, d_model):
    row, column = count(length)[:, None], count(d_model)
    angles = column / 10000 ** (row / d_model)
    return torch.where(column % 2 == 0, angles.sin(), angles.cos())


@sinusoidal_encoding.mistake(
    "length and d_model exchanged",
    why="length and d_model have changed places: there are d_model rows and length columns.",
    look="the order of the arguments, wherever they are handed on.", hint=1)
def sizes_exchanged(length, d_model):
    return positions.sinusoidal_encoding(d_model, length)


@sinusoidal_encoding.mistake(
    "more rows than asked for",
    why="The whole of a long table comes back, where only its first `length` rows are asked for.",
    look="where does your code use `length`?", hint=1)
def whole_table(length, d_model):
    return positions.sinusoidal_encoding(5000, d_model)


for rows in (512, 1000, 1024, 2048, 10000):
    sinusoidal_encoding.mistake("more rows than asked for")(
        lambda length, d_model, rows=rows: positions.sinusoidal_encoding(rows, d_model))


@sinusoidal_encoding.mistake(
    "one position too many",
    why="There are length + 1 rows: the positions run to length, and should stop before it.",
    look="how many positions are there from 0 to length?", hint=1)
class OneTooMany(Sinusoids):
    def position(self, length):
        return count(length + 1)[:, None]


@sinusoidal_encoding.mistake(
    "one position too few",
    why="There are length - 1 rows: one position is missing.",
    look="the ends of your range: how many positions should there be?", hint=1, pairs=False)
class OneTooFew(Sinusoids):
    def position(self, length):
        return count(length)[1:, None]


@sinusoidal_encoding.mistake("one position too few")
class LastMissing(Sinusoids):
    def position(self, length):
        return count(length)[:-1, None]


@sinusoidal_encoding.mistake(
    "positions squeezed between 0 and 1",
    why="The positions are divided by the length, so the same position gets another row in a longer "
        "sequence.",
    look="should the row of position 2 depend on how many positions follow?", hint=1)
class Squeezed(Sinusoids):
    def position(self, length):
        return count(length)[:, None] / length


@sinusoidal_encoding.mistake("positions squeezed between 0 and 1")
class SqueezedToOne(Sinusoids):
    def position(self, length):
        return count(length)[:, None] / max(length - 1, 1)


@sinusoidal_encoding.mistake(
    "the position forgotten",
    why="The angles are the speeds alone, the same in every row: no row knows its position.",
    look="compare two rows. What should make them differ?", hint=1)
class PositionForgotten(Sinusoids):
    def angles(self, position, speed, exponent):
        return 0 * position + speed


@sinusoidal_encoding.mistake(
    "the angles cut to a wrong turn",
    why="Only what is left of the angles after a division is used, but not by a whole turn of 2π: from some "
        "position on, sines and cosines are wrong.",
    look="every `%`, `fmod` and `remainder`: after which angle does a sine repeat?", hint=1, pairs=False)
class HalfATurnLeft(Sinusoids):
    turn = math.pi

    def angles(self, position, speed, exponent):
        return position * speed % self.turn


for turn in (1, 6.28, 3.14):
    sinusoidal_encoding.mistake("the angles cut to a wrong turn", pairs=False)(
        type("OtherTurn", (HalfATurnLeft,), {"turn": turn}))


@sinusoidal_encoding.mistake(
    "the sign of the angles turned",
    why="The angles are negative, so every sine has the opposite sign; of the cosines nobody sees it.",
    look="row 1, column 0: what is the sign of sin(1)?", hint=1, pairs=False)
class AnglesNegative(Sinusoids):
    def angles(self, position, speed, exponent):
        return -position * speed


@sinusoidal_encoding.mistake(
    "position and speed added",
    why="Position and speed are added, where the angle is their product.",
    look="the angle of position 0: should it be 0?", hint=2, pairs=False)
class Added(Sinusoids):
    def angles(self, position, speed, exponent):
        return position + speed


@sinusoidal_encoding.mistake(
    "degrees",
    why="The angles are turned from degrees into radians or back: they are radians already.",
    look="what does torch.sin (or math.sin) expect?", hint=1)
class Degrees(Sinusoids):
    def angles(self, position, speed, exponent):
        return position * speed * (math.pi / 180)


@sinusoidal_encoding.mistake("degrees", pairs=False)
class DegreesBack(Sinusoids):
    def angles(self, position, speed, exponent):
        return position * speed * (180 / math.pi)


@sinusoidal_encoding.mistake(
    "multiplied by π",
    why="The angles are multiplied by π or 2π, so the first pair makes half a turn or a whole turn at each "
        "step.",
    look="by how many radians should the first pair turn at each step?", hint=2)
class WholeTurns(Sinusoids):
    def angles(self, position, speed, exponent):
        return position * speed * (2 * math.pi)


@sinusoidal_encoding.mistake("multiplied by π", pairs=False)
class HalfTurns(Sinusoids):
    def angles(self, position, speed, exponent):
        return position * speed * math.pi


# sinusoidal_encoding: sines, cosines, and where they go


@sinusoidal_encoding.mistake(
    "sine and cosine swapped",
    why="The cosines are in the even columns and the sines in the odd ones: they have changed places.",
    look="row 0, column 0: what is the sine of 0?", hint=1)
class Swapped(Sinusoids):
    def even(self, angles):
        return angles.cos()

    def odd(self, angles):
        return angles.sin()


@sinusoidal_encoding.mistake(
    "sines everywhere",
    why="All columns hold sines: each pair then says the same thing twice, or nearly so, and there are no "
        "cosines.",
    look="the odd columns: which function belongs there?", hint=1)
class SinesEverywhere(Sinusoids):
    def odd(self, angles):
        return angles.sin()


@sinusoidal_encoding.mistake(
    "cosines everywhere",
    why="All columns hold cosines: each pair then says the same thing twice, or nearly so, and there are no "
        "sines.",
    look="the even columns: which function belongs there?", hint=1)
class CosinesEverywhere(Sinusoids):
    def even(self, angles):
        return angles.cos()


@sinusoidal_encoding.mistake(
    "halves instead of interleaving",
    why="The left half of the columns holds the sines and the right half the cosines: here sine and cosine "
        "of an angle stand side by side.",
    look="columns 0 and 1: are they a pair?", hint=1)
class Halves(Sinusoids):
    def table(self, even, odd):
        return torch.cat([even, odd], dim=-1)


@sinusoidal_encoding.mistake("halves instead of interleaving")
class HalvesCosinesFirst(Sinusoids):
    def table(self, even, odd):
        return torch.cat([odd, even], dim=-1)


@sinusoidal_encoding.mistake("halves instead of interleaving", pairs=False)
class ColumnsCutInHalves(Sinusoids):
    def __call__(self, length, d_model):
        pair = count(d_model).div(2, rounding_mode="floor")
        angles = self.angles_of(self.position(length), pair, d_model)
        half = d_model // 2
        return torch.cat([self.even(angles[:, :half]), self.odd(angles[:, half:])], dim=-1)


@sinusoidal_encoding.mistake(
    "sine and cosine by the position",
    why="Whole rows are sines or cosines, in turn: even and odd are asked of the position, where they "
        "should be asked of the column.",
    look="in the formula, what is 2i: a position or a column?", hint=1)
class ByThePosition(Sinusoids):
    def __call__(self, length, d_model):
        position, pair = self.position(length), self.pair(d_model)
        angles = interleaved(self.angles_of(position, pair, d_model),
                             self.angles_of(position, self.pair_of_cosines(pair), d_model))
        angles[0::2], angles[1::2] = self.even(angles[0::2]), self.odd(angles[1::2])
        return angles


@sinusoidal_encoding.mistake(
    "divided outside the sine",
    why="The sine and cosine are taken of the position, and the result is divided: the division belongs "
        "inside.",
    look="the brackets of your sin and cos: what stands inside?", hint=2)
class DividedOutside(Sinusoids):
    def angles_of(self, position, pair, d_model):
        self.factor = self.speed(self.exponent(pair, d_model), d_model)
        return position + 0 * self.factor

    def even(self, angles):
        return angles.sin() * self.factor

    def odd(self, angles):
        return angles.cos() * self.factor


@sinusoidal_encoding.mistake(
    "the angles themselves",
    why="Angles stand in the table, in all columns or in every second one: no sine or cosine has been taken "
        "there, or the result was not kept.",
    look="what should be done with an angle before it goes into the table?", hint=1, pairs=False)
class Angles(Sinusoids):
    def even(self, angles):
        return angles

    def odd(self, angles):
        return angles


@sinusoidal_encoding.mistake("the angles themselves")
class AnglesForCosines(Sinusoids):
    def odd(self, angles):
        return angles


@sinusoidal_encoding.mistake("the angles themselves")
class AnglesForSines(Sinusoids):
    def even(self, angles):
        return angles


@sinusoidal_encoding.mistake(
    "the cosine of a sine",
    why="In some columns a cosine is taken of a sine, or a sine of a cosine: the first function has already "
        "replaced the angles there.",
    look="when the second function is applied, what do its columns hold?", hint=1, pairs=False)
class CosineOfSine(Sinusoids):
    def odd(self, angles):
        return angles.sin().cos()


@sinusoidal_encoding.mistake("the cosine of a sine")
class SineOfCosine(Sinusoids):
    def even(self, angles):
        return angles.cos().sin()


@sinusoidal_encoding.mistake(
    "a root without its sign",
    why="The cosine is made from the sine as √(1 - sin²), or the sine from the cosine, or an absolute value "
        "is taken: the signs are lost.",
    look="the cosine of 2: is it positive?", hint=1, pairs=False)
class CosineByRoot(Sinusoids):
    def odd(self, angles):
        return (1 - angles.sin() ** 2).sqrt()


@sinusoidal_encoding.mistake("a root without its sign", pairs=False)
class SineByRoot(Sinusoids):
    def even(self, angles):
        return (1 - angles.cos() ** 2).sqrt()


@sinusoidal_encoding.mistake("a root without its sign", pairs=False)
class BothWithoutSign(Sinusoids):
    def even(self, angles):
        return angles.sin().abs()

    def odd(self, angles):
        return angles.cos().abs()


@sinusoidal_encoding.mistake(
    "positions without sines",
    why="Each row holds its position as it is, in every column or as a single 1: no sine or cosine has been "
        "taken.",
    look="what should be done with a position before it goes into the table?", hint=1)
def positions_in_every_column(length, d_model):
    return count(length)[:, None].expand(length, d_model)


@sinusoidal_encoding.mistake("positions without sines")
def one_hot(length, d_model):
    return torch.eye(length, d_model)


@sinusoidal_encoding.mistake(
    "sine and cosine added",
    why="Sine and cosine have been added to one number; each belongs in a column of its own.",
    look="how many columns should each angle give?", hint=1, pairs=False)
class AddedUp(Sinusoids):
    def table(self, even, odd):
        return even + odd


@sinusoidal_encoding.mistake("sine and cosine added")
class AddedUpTwice(Sinusoids):
    def table(self, even, odd):
        return interleaved(even + odd, even + odd)


@sinusoidal_encoding.mistake(
    "sine and cosine in a dimension of their own",
    why="Sines and cosines are stacked along a new dimension, so the result has three; two are expected, "
        "with the pairs laid side by side.",
    look="how do the last two dimensions become one?", hint=3)
class NotFlattened(Sinusoids):
    def table(self, even, odd):
        return torch.stack([even, odd], dim=-1)


@sinusoidal_encoding.mistake("sine and cosine in a dimension of their own", pairs=False)
class NotFlattenedInTheMiddle(Sinusoids):
    def table(self, even, odd):
        return torch.stack([even, odd], dim=1)


@sinusoidal_encoding.mistake("sine and cosine in a dimension of their own", pairs=False)
class NotFlattenedInFront(Sinusoids):
    def table(self, even, odd):
        return torch.stack([even, odd])


@sinusoidal_encoding.mistake(
    "sines and cosines below each other",
    why="The cosines were put in rows of their own, below the sines or between them: they should be columns.",
    look="along which dimension do you put sines and cosines together?", hint=3)
class BelowEachOther(Sinusoids):
    def table(self, even, odd):
        return torch.cat([even, odd], dim=0)


@sinusoidal_encoding.mistake("sines and cosines below each other", pairs=False)
class BelowEachOtherInTurn(Sinusoids):
    def table(self, even, odd):
        return torch.stack([even, odd], dim=1).flatten(0, 1)


@sinusoidal_encoding.mistake("sines and cosines below each other", pairs=False)
class BelowEachOtherReshaped(Sinusoids):
    def table(self, even, odd):
        return torch.cat([even, odd], dim=0).reshape(len(even), -1)


# sinusoidal_encoding: filling the table


@sinusoidal_encoding.mistake(
    "a table never filled",
    why="The table is still as it was made: zeros or ones everywhere, nothing has been written into it.",
    look="does anything assign into the table: `encoding[…] = …`?", hint=3)
class NeverFilled(Sinusoids):
    def table(self, even, odd):
        return torch.zeros_like(interleaved(even, odd))


@sinusoidal_encoding.mistake("a table never filled", pairs=False)
class NeverFilledOnes(Sinusoids):
    def table(self, even, odd):
        return torch.ones_like(interleaved(even, odd))


@sinusoidal_encoding.mistake(
    "only the sines filled in",
    why="The odd columns are 0: the cosines have not been written into the table.",
    look="the line that fills columns 1, 3, 5, …", hint=3)
class OnlySines(Sinusoids):
    def odd(self, angles):
        return 0 * angles


@sinusoidal_encoding.mistake(
    "only the cosines filled in",
    why="The even columns are 0: the sines have not been written into the table, or the cosines have "
        "replaced them.",
    look="the line that fills columns 0, 2, 4, …", hint=3)
class OnlyCosines(Sinusoids):
    def even(self, angles):
        return 0 * angles


@sinusoidal_encoding.mistake(
    "only row 0 filled in",
    why="Only row 0 is right, and everything below it is 0: either the loop ends after its first round, or "
        "the table holds whole numbers, and cuts every sine and cosine down to 0.",
    look="how far in is your `return`, and what dtype has the table when it is made?", hint=3, pairs=False)
class OnlyFirstRow(Sinusoids):
    def table(self, even, odd):
        encoding = interleaved(even, odd)
        encoding[1:] = 0
        return encoding


@sinusoidal_encoding.mistake(
    "the last row everywhere",
    why="All the rows hold the encoding of the last position: they are one and the same list or tensor, "
        "filled again in each turn of the loop.",
    look="`row = [0, 0]; table = [row] * 3; table[0][0] = 1`: what does the table hold?", hint=3)
class LastRowEverywhere(Sinusoids):
    def table(self, even, odd):
        return interleaved(even, odd)[-1:].repeat(len(even), 1)


@sinusoidal_encoding.mistake(
    "a loop that ends too soon",
    why="Only a part of the table is filled, and the rest is 0: a loop or a slice ends too soon.",
    look="how far in is your `return`, and what do your loops run over?", hint=3, pairs=False)
class OnlyFirstPair(Sinusoids):
    def table(self, even, odd):
        encoding = interleaved(even, odd)
        encoding[:, 2:] = 0
        return encoding


@sinusoidal_encoding.mistake("a loop that ends too soon")
class OnlyPairsInTheFirstHalf(Sinusoids):
    def table(self, even, odd):
        encoding = interleaved(even, odd)
        encoding[:, 2 * ((even.shape[1] + 1) // 2):] = 0
        return encoding


@sinusoidal_encoding.mistake(
    "pairs written over each other",
    why="The loop counts pairs, but writes to columns i and i + 1, so each pair overwrites a half of the "
        "one before, and the last columns stay 0.",
    look="which two columns belong to pair 1?", hint=3, pairs=False)
class WrittenOver(Sinusoids):
    def table(self, even, odd):
        return torch.cat([even, odd[:, -1:], torch.zeros_like(even)[:, 1:]], dim=1)


@sinusoidal_encoding.mistake("a loop that ends too soon")
class OnlyFirstNumber(Sinusoids):
    def table(self, even, odd):
        encoding = torch.zeros_like(interleaved(even, odd))
        encoding[0, :2] = interleaved(even, odd)[0, :2]
        return encoding


@sinusoidal_encoding.mistake("a loop that ends too soon")
class OnlyFirstHalf(Sinusoids):
    def table(self, even, odd):
        encoding = interleaved(even, odd)
        encoding[:, even.shape[1]:] = 0
        return encoding


@sinusoidal_encoding.mistake("a loop that ends too soon")
class LastRowNotFilled(Sinusoids):
    def table(self, even, odd):
        encoding = interleaved(even, odd)
        encoding[-1] = 0
        return encoding


@sinusoidal_encoding.mistake(
    "position 0 left out",
    why="Row 0 is all 0: the loop or slice starts at position 1. Position 0 has an encoding too, sines of 0 "
        "and cosines of 1.",
    look="where does your loop over the positions start?", hint=1)
class FirstLeftOut(Sinusoids):
    def table(self, even, odd):
        encoding = interleaved(even, odd)
        encoding[0] = 0
        return encoding


@sinusoidal_encoding.mistake(
    "an integer table",
    why="Sines and cosines have been cut down to whole numbers, nearly all to 0: the table (or what fills "
        "it) was made to hold integers.",
    look="the dtype of the table when it is made.", hint=3)
class IntegerTable(Sinusoids):
    def table(self, even, odd):
        return interleaved(even, odd).long()


@sinusoidal_encoding.mistake(
    "rounded numbers",
    why="The sines and cosines, or the speeds, have been rounded. Decimals are cut for showing, not for "
        "computing.",
    look="every call of `round`.", hint=3, pairs=False)
class RoundedTable(Sinusoids):
    decimals = 2

    def table(self, even, odd):
        return interleaved(even, odd).round(decimals=self.decimals)


@sinusoidal_encoding.mistake("rounded numbers", pairs=False)
class RoundedSpeeds(Sinusoids):
    decimals = 2

    def speed(self, exponent, d_model):
        return (10000 ** -exponent).round(decimals=self.decimals)


for way in (RoundedTable, RoundedSpeeds):
    for decimals in (1, 3, 4) if way is RoundedSpeeds else (1, 3):
        sinusoidal_encoding.mistake("rounded numbers", pairs=False)(
            type(f"{way.__name__}Otherwise", (way,), {"decimals": decimals}))


@sinusoidal_encoding.mistake(
    "half precision",
    why="The angles were computed in half precision (float16), which keeps three digits: far from position "
        "0, sines and cosines are then clearly wrong.",
    look="the dtype of positions and speeds.", hint=3, pairs=False)
class HalfPrecision(Sinusoids):
    def angles(self, position, speed, exponent):
        return (position.half() * speed.half()).double()


@sinusoidal_encoding.mistake("half precision")
class HalfPrecisionThroughout(Sinusoids):
    def angles(self, position, speed, exponent):
        return position.half() * speed.half()

    def table(self, even, odd):
        return interleaved(even, odd).float()


@sinusoidal_encoding.mistake("half precision")
class HalfPrecisionOfSpeeds(Sinusoids):
    def speed(self, exponent, d_model):
        return (10000 ** -exponent).half().double()


@sinusoidal_encoding.mistake("half precision")
class HalfPrecisionOfExponents(Sinusoids):
    def exponent(self, pair, d_model):
        return (2 * pair / d_model).half().double()


@sinusoidal_encoding.mistake(
    "added to something",
    why="The table is not the encoding alone: sines and cosines have been added to ones, or multiplied by "
        "√d_model.",
    look="what does the table hold before you write into it, and do you write with `=` or "
        "`+=`?", hint=3, pairs=False)
class AddedToOnes(Sinusoids):
    def table(self, even, odd):
        return interleaved(even, odd) + 1


@sinusoidal_encoding.mistake("added to something")
class TimesRoot(Sinusoids):
    def table(self, even, odd):
        return interleaved(even, odd) * math.sqrt(2 * even.shape[1])


# shift_matrix


def shift(offset, d_model):
    """The matrix that moves every position on by offset: for each pair of features, a rotation."""
    angles = offset / 10000 ** (torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    matrix = torch.zeros(d_model, d_model)
    sines, cosines = torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)
    matrix[sines, sines] = matrix[cosines, cosines] = angles.cos().to(matrix.dtype)
    matrix[sines, cosines] = angles.sin().to(matrix.dtype)
    matrix[cosines, sines] = -angles.sin().to(matrix.dtype)
    return matrix


def same_shift(one, other):
    """The same matrix, or one that does the same to the first 32 positions: a fit is never exact."""
    if alike(one, other, shift_matrix.tolerance):
        return True
    if not (isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor) and one.dim() == 2
            and one.is_floating_point() and other.is_floating_point()
            and one.shape == other.shape == (len(one), len(one)) and len(one) % 2 == 0):
        return False
    encoding = numbers(positions.sinusoidal_encoding(32, len(one))).T
    return close(numbers(one) @ encoding, numbers(other) @ encoding, shift_matrix.tolerance)


def backwards(call, offset, d_model):
    """Who takes a negative offset must shift backwards by it."""
    try:
        back = call(-offset, d_model)
    except Exception:
        return None
    if isinstance(back, torch.Tensor) and same_shift(back, shift(offset, d_model)):
        return ("the sign of the offset lost", f"shift_matrix({-offset}, {d_model}) gives the matrix of "
                f"{offset}: it shifts forwards.", "does an abs or a square take away the sign?")
    return None


def what_it_is_not(observed, expected, offset, d_model):
    """What a matrix of rotations must be, and this one is not."""
    ours, theirs = numbers(observed), numbers(expected)
    if not np.isfinite(ours).all():
        return None
    if (np.abs(ours[theirs == 0]) > 1e-3).any():
        return "It mixes features that are no pair: outside the blocks on the diagonal all should be 0."
    if not np.allclose(ours @ ours.T, np.eye(d_model), atol=1e-3):
        return "It changes lengths: a rotation's rows have length 1 and are perpendicular."
    wrong = [i for i in range(d_model // 2) if np.abs(ours - theirs)[2 * i:2 * i + 2].max() > 1e-3]
    return f"Its blocks are rotations, but not all by the right angle: pair {wrong[0]} is the first."


def signs_of_a_fit(observed, expected, offset, d_model):
    """Whether the first positions are shifted rightly, and only they."""
    encoding = numbers(positions.sinusoidal_encoding(32, d_model)).T  # (d_model, position)
    errors = np.abs((numbers(observed) - numbers(expected)) @ encoding).max(axis=0)
    if errors[0] < 1e-3:
        yield "made for too few positions"


shift_matrix = Exercise(
    name="shift_matrix", lesson=5, title="A shift is a rotation", difficulty=3, importance=2, minutes=20,
    contract="""
        shift_matrix(offset, d_model) returns a float tensor (d_model, d_model) that moves any position on by
        offset: with encoding = sinusoidal_encoding(length, d_model), encoding[p + offset] equals
        matrix @ encoding[p] for every p. One matrix serves all positions.
        """,
    stub='''
        def shift_matrix(offset, d_model):
            """The matrix with encoding[p + offset] == matrix @ encoding[p] for every p."""
            raise NotImplementedError
        ''',
    sizes=[{"offset": 2, "d_model": 4}, {"offset": 1, "d_model": 2}, {"offset": 3, "d_model": 6},
           {""
               "offset": 1, ""
                   "d_model": 4}, {"offset": 5, "d_model": 6}],  # small: so that fits are accurate enough
    draw=lambda generator, offset, d_model: (offset, d_model),
    reference=shift, parting=False, returns="matrix", shapes={"matrix": "(d_model, d_model)"},
    tolerance=1e-3, same=same_shift, checks=[backwards], symptoms=[what_it_is_not],
    signs=signs_of_a_fit,
    hints=[
        ("where to begin",
         "Take one pair, sin(a) and cos(a), where a is the angle of position p. What are sin(a + b) and "
         "cos(a + b), written with sin(a), cos(a), sin(b) and cos(b)?"),
        ("one pair works, or nearly",
         "The two formulas are the two rows of a 2 by 2 matrix that multiplies the column (sin(a), cos(a)). "
         "One of its four entries carries a minus: which?"),
        ("putting it together",
         "b is offset times the speed of the pair, 1 / 10000 ** (2i / d_model). Each pair has a 2 by 2 "
         "block of its own on the diagonal, and everything else is 0."),
    ],
    solution='''
        import torch


        def shift_matrix(offset, d_model):
            matrix = torch.zeros(d_model, d_model)
            for even in range(0, d_model, 2):
                angle = torch.tensor(offset / 10000 ** (even / d_model))
                sine, cosine = torch.sin(angle), torch.cos(angle)
                matrix[even:even + 2, even:even + 2] = torch.tensor([[cosine, sine], [-sine, cosine]])
            return matrix
        ''',
)


@shift_matrix.right("step by step")
class Shift(Steps):
    def __call__(self, offset, d_model):
        speeds = self.speeds(d_model)
        angles = self.angles(offset, speeds)
        sines, cosines = self.sines_and_cosines(angles)
        blocks = self.blocks(sines, cosines)
        return self.placed(blocks, d_model)

    def speeds(self, d_model):
        return 10000 ** -(2 * count(d_model // 2) / d_model)

    def angles(self, offset, speeds):
        return offset * speeds

    def sines_and_cosines(self, angles):
        return angles.sin(), angles.cos()

    def blocks(self, sines, cosines):
        return as_blocks(cosines, sines, -sines, cosines)

    def placed(self, blocks, d_model):
        return torch.block_diag(*blocks)


def as_blocks(*four):
    """The rows of 2 by 2 blocks, one block for each pair: (pairs, 2, 2)."""
    return torch.stack(four, dim=-1).unflatten(-1, (2, 2))


@shift_matrix.right("least squares")
def least_squares(offset, d_model):
    encoding = positions.sinusoidal_encoding(100 + offset, d_model)
    return torch.linalg.lstsq(encoding[:100], encoding[offset:]).solution.T


@shift_matrix.right("one step, many times")
def one_step_many_times(offset, d_model):
    return torch.matrix_power(shift(1, d_model), offset)


@shift_matrix.right("from two rows of the encoding")
def from_two_rows(offset, d_model):
    sine, cosine = positions.sinusoidal_encoding(offset + 1, d_model)[offset].view(-1, 2).T
    matrix = torch.diag(cosine.repeat_interleave(2))
    matrix[range(0, d_model, 2), range(1, d_model, 2)] = sine
    matrix[range(1, d_model, 2), range(0, d_model, 2)] = -sine
    return matrix


@shift_matrix.right("complex numbers, in NumPy")
def complex_numbers(offset, d_model):
    turns = np.exp(1j * offset * 10000.0 ** (-np.arange(0, d_model, 2) / d_model))
    blocks = np.kron(np.diag(turns.real), np.eye(2)) + np.kron(np.diag(turns.imag), [[0, 1], [-1, 0]])
    return torch.from_numpy(blocks)


@shift_matrix.right("the exponential of a matrix")
def exponential(offset, d_model):
    speeds = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
    turning = torch.block_diag(*(speed * torch.tensor([[0.0, 1.0], [-1.0, 0.0]]) for speed in speeds))
    return torch.linalg.matrix_exp(offset * turning)


# shift_matrix: the block


@shift_matrix.mistake(
    "the rotation the wrong way",
    why="As it is, the matrix takes encoding[p] to encoding[p - offset]: it turns backwards.",
    look="on which side of the diagonal is the minus, for a column of sine above cosine?", hint=2)
class WrongWay(Shift):
    def blocks(self, sines, cosines):
        return as_blocks(cosines, -sines, sines, cosines)


@shift_matrix.mistake(
    "sine and cosine exchanged in the block",
    why="In the blocks sines stand where cosines should and the other way round: with offset 0 such a "
        "matrix would not leave a vector as it is.",
    look="which matrix should offset 0 give, and does yours?", hint=2)
class ExchangedInBlock(Shift):
    def blocks(self, sines, cosines):
        return as_blocks(sines, cosines, -cosines, sines)


@shift_matrix.mistake("sine and cosine exchanged in the block")
class ExchangedInBlockBackwards(Shift):
    def blocks(self, sines, cosines):
        return as_blocks(sines, -cosines, cosines, sines)


@shift_matrix.mistake("sine and cosine exchanged in the block", pairs=False)
class ExchangedInBlockMirrored(Shift):
    def blocks(self, sines, cosines):
        return as_blocks(sines, cosines, cosines, -sines)


@shift_matrix.mistake("sine and cosine exchanged in the block", pairs=False)
class ExchangedInBlockMirroredBack(Shift):
    def blocks(self, sines, cosines):
        return as_blocks(-sines, cosines, cosines, sines)


@shift_matrix.mistake("sine and cosine exchanged in the block", pairs=False)
class ExchangedInBlockPlus(Shift):
    def blocks(self, sines, cosines):
        return as_blocks(sines, cosines, cosines, sines)


@shift_matrix.mistake(
    "a sign wrong in the block",
    why="The numbers of the blocks are right, but their signs are not those of a rotation: a block needs "
        "exactly one minus, at one of its sines.",
    look="the formulas of sin(a + b) and cos(a + b): which of the four terms is subtracted?", hint=2)
class NoMinus(Shift):
    def blocks(self, sines, cosines):
        return as_blocks(cosines, sines, sines, cosines)


@shift_matrix.mistake("a sign wrong in the block")
class MirroredBelow(Shift):
    def blocks(self, sines, cosines):
        return as_blocks(cosines, sines, sines, -cosines)


@shift_matrix.mistake("a sign wrong in the block")
class TwoMinuses(Shift):
    def blocks(self, sines, cosines):
        return as_blocks(cosines, -sines, -sines, cosines)


@shift_matrix.mistake("a sign wrong in the block", pairs=False)
class MirroredAbove(Shift):
    def blocks(self, sines, cosines):
        return as_blocks(-cosines, sines, sines, cosines)


@shift_matrix.mistake("a sign wrong in the block", pairs=False)
class MirroredBelowBackwards(Shift):
    def blocks(self, sines, cosines):
        return as_blocks(cosines, -sines, -sines, -cosines)


@shift_matrix.mistake(
    "only the cosines",
    why="Only the diagonal is filled, with the cosines: every feature is made of itself alone, and its "
        "partner is not used.",
    look="sin(a + b) needs sin(a) and cos(a). Where does the second come from?", hint=2)
class OnlyDiagonal(Shift):
    def blocks(self, sines, cosines):
        return as_blocks(cosines, 0 * sines, 0 * sines, cosines)


@shift_matrix.mistake(
    "half a block",
    why="In each block a sine is missing: one of the two features of a pair is made without its partner.",
    look="the two formulas have two terms each: how many numbers are in a block?", hint=2)
class NoLowerSine(Shift):
    def blocks(self, sines, cosines):
        return as_blocks(cosines, sines, 0 * sines, cosines)


@shift_matrix.mistake("half a block", pairs=False)
class NoUpperSine(Shift):
    def blocks(self, sines, cosines):
        return as_blocks(cosines, 0 * sines, -sines, cosines)


@shift_matrix.mistake("half a block", pairs=False)
class NoUpperSineBackwards(Shift):
    def blocks(self, sines, cosines):
        return as_blocks(cosines, 0 * sines, sines, cosines)


@shift_matrix.mistake("half a block", pairs=False)
class NoLowerSineBackwards(Shift):
    def blocks(self, sines, cosines):
        return as_blocks(cosines, -sines, 0 * sines, cosines)


# shift_matrix: where the blocks go


@shift_matrix.mistake(
    "a root without its sign",
    why="The cosine is made from the sine as √(1 - sin²), or the sine from the cosine, or an absolute value "
        "is taken: the signs are lost, and from some offset on the blocks turn by another angle.",
    look="the cosine of 2: is it positive?", hint=3)
class CosinesByRoot(Shift):
    def sines_and_cosines(self, angles):
        return angles.sin(), (1 - angles.sin() ** 2).sqrt()


@shift_matrix.mistake("a root without its sign", pairs=False)
class SinesByRoot(Shift):
    def sines_and_cosines(self, angles):
        return (1 - angles.cos() ** 2).sqrt(), angles.cos()


@shift_matrix.mistake("a root without its sign", pairs=False)
class NoSigns(Shift):
    def sines_and_cosines(self, angles):
        return angles.sin().abs(), angles.cos().abs()


@shift_matrix.mistake(
    "for small angles only",
    why="The angle stands in the place of its sine, and a 1 in that of its cosine: for small angles that is "
        "nearly right, but the first pair turns by a whole radian at each step.",
    look="what are the sine and the cosine of 2?", hint=3, pairs=False)
class SmallAngles(Shift):
    def sines_and_cosines(self, angles):
        return angles, torch.ones_like(angles)


@shift_matrix.mistake("for small angles only", pairs=False)
class SmallAnglesSquared(Shift):
    def sines_and_cosines(self, angles):
        return angles, 1 - angles ** 2 / 2


@shift_matrix.mistake(
    "laid out in halves",
    why="The rotations are laid out for an encoding whose left half is sines and whose right half is "
        "cosines: here the two of a pair are neighbours.",
    look="columns 0 and 1 of the encoding: are they a pair? So which four cells does the first block "
        "fill?", hint=3)
class InHalves(Shift):
    def placed(self, blocks, d_model):
        return torch.block_diag(*blocks).unflatten(0, (-1, 2)).transpose(0, 1).flatten(0, 1).unflatten(
            1, (-1, 2)).transpose(1, 2).flatten(1, 2)


@shift_matrix.mistake(
    "the blocks in reverse",
    why="The blocks come in the opposite order: the slowest rotation is at the top left.",
    look="which features turn fastest?", hint=3)
class InReverse(Shift):
    def placed(self, blocks, d_model):
        return torch.block_diag(*blocks.flip(0))


@shift_matrix.mistake(
    "the blocks on the other diagonal",
    why="The blocks run from the top right to the bottom left, so every pair is made of another pair.",
    look="the first two rows: which features should they use?", hint=3)
class OtherDiagonal(Shift):
    def placed(self, blocks, d_model):
        return torch.block_diag(*blocks).unflatten(1, (-1, 2)).flip(1).flatten(1)


@shift_matrix.mistake("the blocks on the other diagonal")
class FlippedLeftToRight(Shift):
    def placed(self, blocks, d_model):
        return torch.block_diag(*blocks).flip(1)


@shift_matrix.mistake(
    "only the first block",
    why="Only the first pair is rotated; what is left is zeros, or the identity.",
    look="how many blocks are there, and does your loop reach them all?", hint=3)
class OnlyFirstBlock(Shift):
    def placed(self, blocks, d_model):
        return torch.block_diag(blocks[0], torch.zeros(d_model - 2, d_model - 2))


@shift_matrix.mistake("only the first block", pairs=False)
class FirstBlockAndIdentity(Shift):
    def placed(self, blocks, d_model):
        return torch.block_diag(blocks[0], torch.eye(d_model - 2))


@shift_matrix.mistake("only the first block")
class FirstBlockAlone(Shift):
    def placed(self, blocks, d_model):
        return blocks[0]


@shift_matrix.mistake(
    "only the last block",
    why="Only the last pair is rotated; what is left is zeros, or the identity.",
    look="does each round of your loop write to a place of its own, and into the same matrix?", hint=3)
class OnlyLastBlock(Shift):
    def placed(self, blocks, d_model):
        return torch.block_diag(torch.zeros(d_model - 2, d_model - 2), blocks[-1])


@shift_matrix.mistake("only the last block", pairs=False)
class IdentityAndLastBlock(Shift):
    def placed(self, blocks, d_model):
        return torch.block_diag(torch.eye(d_model - 2), blocks[-1])


@shift_matrix.mistake("only the last block", pairs=False)
class LastBlockInTheCorner(Shift):
    def placed(self, blocks, d_model):
        return torch.block_diag(blocks[-1], torch.zeros(d_model - 2, d_model - 2))


@shift_matrix.mistake("only the last block", pairs=False)
class LastBlockAlone(Shift):
    def placed(self, blocks, d_model):
        return blocks[-1]


@shift_matrix.mistake(
    "a block left out",
    why="The last block is missing, or the first: the loop over the pairs ends too early, or starts too "
        "late.",
    look="the first and the last turn of the loop over the pairs.", hint=3, pairs=False)
class LastBlockMissing(Shift):
    def placed(self, blocks, d_model):
        return torch.block_diag(*blocks[:-1], 0 * blocks[-1])


@shift_matrix.mistake("a block left out", pairs=False)
class LastBlockMissingInTheIdentity(Shift):
    def placed(self, blocks, d_model):
        return torch.block_diag(*blocks[:-1], torch.eye(2, dtype=blocks.dtype))


@shift_matrix.mistake("a block left out", pairs=False)
class FirstBlockMissing(Shift):
    def placed(self, blocks, d_model):
        return torch.block_diag(0 * blocks[0], *blocks[1:])


@shift_matrix.mistake("a block left out", pairs=False)
class FirstBlockMissingInTheIdentity(Shift):
    def placed(self, blocks, d_model):
        return torch.block_diag(torch.eye(2, dtype=blocks.dtype), *blocks[1:])


@shift_matrix.mistake(
    "blocks written over each other",
    why="The loop counts pairs, but writes its block to rows and columns i and i + 1, so that each block "
        "overwrites a part of the one before.",
    look="which two rows belong to pair 1?", hint=3, pairs=False)
class WrittenOverEachOther(Shift):
    def placed(self, blocks, d_model):
        matrix = torch.zeros(d_model, d_model, dtype=blocks.dtype)
        for pair, block in enumerate(blocks):
            matrix[pair:pair + 2, pair:pair + 2] = block
        return matrix


@shift_matrix.mistake(
    "the blocks not put together",
    why="The blocks come one after the other, (d_model / 2, 2, 2) or in rows; one matrix is expected, "
        "(d_model, d_model), with the blocks on its diagonal.",
    look="how do several small matrices become one large one, with zeros around them?", hint=3)
class BlocksApart(Shift):
    def placed(self, blocks, d_model):
        return blocks


@shift_matrix.mistake("the blocks not put together", pairs=False)
class BlocksBelowEachOther(Shift):
    def placed(self, blocks, d_model):
        return blocks.flatten(0, 1)


@shift_matrix.mistake("the blocks not put together", pairs=False)
class BlocksSideBySide(Shift):
    def placed(self, blocks, d_model):
        return torch.cat(list(blocks), dim=1)


@shift_matrix.mistake("the blocks not put together", pairs=False)
class BlocksInAList(Shift):
    def placed(self, blocks, d_model):
        return list(blocks)


@shift_matrix.mistake(
    "the same block everywhere",
    why="Every pair turns by the same angle, the offset; the speed should fall from pair to pair, as it "
        "does in the encoding.",
    look="the angle of the second block: does it depend on which pair it is?", hint=3)
class SameBlock(Shift):
    def speeds(self, d_model):
        return torch.ones(d_model // 2)


@shift_matrix.mistake(
    "added to the identity",
    why="The blocks have been added to an identity matrix, where they should stand alone.",
    look="what does the matrix hold before you write into it, and do you write with `=` or "
        "`+=`?", hint=3, pairs=False)
class AddedToIdentity(Shift):
    def placed(self, blocks, d_model):
        return torch.block_diag(*blocks) + torch.eye(d_model)


# shift_matrix: the angle


@shift_matrix.mistake(
    "the offset ignored",
    why="The matrix is the same for every offset: it always shifts by 1.",
    look="where does `offset` appear in your code?", hint=3)
class OffsetIgnored(Shift):
    def angles(self, offset, speeds):
        return speeds


@shift_matrix.mistake(
    "offset times the matrix",
    why="The matrix of one step is multiplied by the offset: that makes vectors longer, where the angles "
        "should grow.",
    look="two steps are one step, taken twice: what does that do to the angle?", hint=3)
class OffsetTimesMatrix(OffsetIgnored):
    def __call__(self, offset, d_model):
        return offset * super().__call__(offset, d_model)


@shift_matrix.mistake("offset times the matrix", pairs=False)
class OffsetTimesShift(Shift):
    def __call__(self, offset, d_model):
        return offset * super().__call__(offset, d_model)


@shift_matrix.mistake(
    "each number to the power of the offset",
    why="Each number of the one-step matrix is raised to the power of the offset by itself: `**` is no "
        "power of a matrix.",
    look="what does `matrix ** 2` do, and what `matrix @ matrix`?", hint=3)
class NumbersToThePower(OffsetIgnored):
    def placed(self, blocks, d_model):
        return torch.block_diag(*blocks)

    def __call__(self, offset, d_model):
        return super().__call__(offset, d_model) ** offset


@shift_matrix.mistake(
    "one step too many or too few",
    why="The matrix shifts by one position more, or one less, than the offset says.",
    look="try offset 1: which position does your matrix take position 0 to?", hint=3)
class OneStepMore(Shift):
    def angles(self, offset, speeds):
        return (offset + 1) * speeds


@shift_matrix.mistake("one step too many or too few")
class OneStepLess(Shift):
    def angles(self, offset, speeds):
        return (offset - 1) * speeds


@shift_matrix.mistake(
    "the offset divided by the speed",
    why="The offset is divided by the speed, where it should be multiplied by it: the later pairs turn "
        "faster and faster.",
    look="which features turn slowest?", hint=3)
class DividedBySpeed(Shift):
    def speeds(self, d_model):
        return 10000 ** (2 * count(d_model // 2) / d_model)


@shift_matrix.mistake("the offset divided by the speed", pairs=False)
class DividedBySpeedInFloat32(Shift):
    def speeds(self, d_model):
        return 10000 ** (2 * count(d_model // 2) / d_model).float()


@shift_matrix.mistake(
    "degrees",
    why="The angles are turned from degrees into radians or back: they are radians already.",
    look="what does torch.sin (or math.sin) expect?", hint=3)
class ShiftInDegrees(Shift):
    def angles(self, offset, speeds):
        return offset * speeds * (math.pi / 180)


@shift_matrix.mistake("degrees", pairs=False)
class ShiftInDegreesBack(Shift):
    def angles(self, offset, speeds):
        return offset * speeds * (180 / math.pi)


@shift_matrix.mistake(
    "multiplied by π",
    why="The angles are multiplied by π or 2π, so the first pair makes half a turn or a whole turn at each "
        "step.",
    look="by how many radians does the first pair turn at each step?", hint=3, pairs=False)
class ShiftInTurns(Shift):
    def angles(self, offset, speeds):
        return offset * speeds * (2 * math.pi)


@shift_matrix.mistake("multiplied by π")
class ShiftInHalfTurns(Shift):
    def angles(self, offset, speeds):
        return offset * speeds * math.pi


@shift_matrix.mistake(
    "the angles cut to a wrong turn",
    why="Only what is left of the angles after a division is used, but not by a whole turn of 2π: from some "
        "offset on, the blocks turn by another angle.",
    look="every `%`, `fmod` and `remainder`: after which angle does a sine repeat?", hint=3, pairs=False)
class HalfATurnOfTheShift(Shift):
    def angles(self, offset, speeds):
        return offset * speeds % math.pi


@shift_matrix.mistake(
    "offset and speed added",
    why="The speed is added to the offset, or taken from it, where the two should be multiplied: every pair "
        "turns by nearly the same angle.",
    look="by how much should the slowest pair turn in one step?", hint=3, pairs=False)
class OffsetPlusSpeed(Shift):
    def angles(self, offset, speeds):
        return offset + speeds


@shift_matrix.mistake("offset and speed added", pairs=False)
class OffsetMinusSpeed(Shift):
    def angles(self, offset, speeds):
        return offset - speeds


# shift_matrix: the speeds


@shift_matrix.mistake(
    "the exponent doubled",
    why="The exponent of 10000 is twice what it should be: the 2 of 2i is there twice, perhaps once in "
        "steps of two and once in the formula.",
    look="compare your speeds with those of sinusoidal_encoding.", hint=3)
class SpeedsDoubled(Shift):
    def speeds(self, d_model):
        return 10000 ** -(4 * count(d_model // 2) / d_model)


@shift_matrix.mistake(
    "the exponent halved",
    why="The speeds fall to about 1/100 only, where they should reach almost 1/10000: the 2 of 2i is "
        "missing (or the base is 100).",
    look="compare your speeds with those of sinusoidal_encoding.", hint=3)
class SpeedsHalved(Shift):
    def speeds(self, d_model):
        return 10000 ** -(count(d_model // 2) / d_model)


@shift_matrix.mistake(
    "the exponent from 1 on",
    why="The first exponent is not 0, so the first pair does not turn by 1 radian a step, as it does in the "
        "encoding.",
    look="compare your speeds with those of sinusoidal_encoding.", hint=3)
class SpeedsFromOne(Shift):
    def speeds(self, d_model):
        return 10000 ** -(2 * (count(d_model // 2) + 1) / d_model)


@shift_matrix.mistake("the exponent from 1 on", pairs=False)
class SpeedsOdd(Shift):
    def speeds(self, d_model):
        return 10000 ** -((2 * count(d_model // 2) + 1) / d_model)


@shift_matrix.mistake(
    "2i over another number than d_model",
    why="2i is not divided by d_model, but by a number near it, so all pairs but the first turn by a wrong "
        "angle.",
    look="compare your speeds with those of sinusoidal_encoding.", hint=3, pairs=False)
class SpeedsUpToOne(Shift):
    def speeds(self, d_model):
        return 10000 ** -(2 * count(d_model // 2) / max(d_model - 2, 1))


@shift_matrix.mistake("2i over another number than d_model")
class SpeedsOverOneLess(Shift):
    def speeds(self, d_model):
        return 10000 ** -(2 * count(d_model // 2) / (d_model - 1))


@shift_matrix.mistake("2i over another number than d_model")
class SpeedsOverTwoMore(Shift):
    def speeds(self, d_model):
        return 10000 ** -(2 * count(d_model // 2) / (d_model + 2))


def speeds_of_base(base):
    class SpeedsOfBase(Shift):
        def speeds(self, d_model):
            return base ** -(2 * count(d_model // 2) / d_model)
    return SpeedsOfBase


shift_matrix.mistake(
    "another base than 10000",
    why="The base of the power is not 10000, so the speeds are not those of the encoding.",
    look="compare your speeds with those of sinusoidal_encoding.", hint=3)(speeds_of_base(1000.0))

for base in (100000.0, 10.0, math.e):  # with 100 it is the exponent halved
    shift_matrix.mistake("another base than 10000", pairs=False)(speeds_of_base(base))


# shift_matrix: something else


@shift_matrix.mistake(
    "the identity",
    why="The matrix leaves every vector as it is, or only makes it longer: nothing shifts.",
    look="what does your code write into the matrix?", hint=1)
def identity(offset, d_model):
    return torch.eye(d_model)


@shift_matrix.mistake("the identity")
def multiple_of_identity(offset, d_model):
    return offset * torch.eye(d_model)


@shift_matrix.mistake(
    "zeros",
    why="The matrix is zero everywhere: nothing has been written into it, or it holds whole numbers, which "
        "cut every sine and cosine down to 0.",
    look="what does your code write into the matrix?", hint=1)
def nothing(offset, d_model):
    return torch.zeros(d_model, d_model)


@shift_matrix.mistake(
    "the features moved",
    why="The matrix moves the features to other places in the vector; it is the position that should move "
        "on, and every feature stays where it is.",
    look="what happens to the first feature, sin(p), when p grows by offset?", hint=1)
def moved_down(offset, d_model):
    return torch.eye(d_model).roll(offset, 0)


@shift_matrix.mistake("the features moved")
def moved_right(offset, d_model):
    return torch.eye(d_model).roll(offset, 1)


@shift_matrix.mistake("the features moved")
def above_the_diagonal(offset, d_model):
    return torch.from_numpy(np.eye(d_model, k=offset))


@shift_matrix.mistake("the features moved")
def below_the_diagonal(offset, d_model):
    return torch.from_numpy(np.eye(d_model, k=-offset))


@shift_matrix.mistake(
    "the encoding on the diagonal",
    why="The matrix has encoding[offset] on its diagonal, so it multiplies every feature by a number; a "
        "shift mixes the two features of a pair.",
    look="sin(a + b) needs sin(a) and cos(a). Where does the second come from?", hint=1)
def encoding_on_the_diagonal(offset, d_model):
    return torch.diag(positions.sinusoidal_encoding(offset + 1, d_model)[offset])


@shift_matrix.mistake(
    "made for too few positions",
    why="The matrix comes from one position, or a few, and so it may shift those rightly, but not the "
        "others.",
    look="try your matrix on position 0, and on position 20.", hint=1)
def made_for_one_position(offset, d_model):
    encoding = positions.sinusoidal_encoding(offset + 1, d_model)
    return torch.outer(encoding[offset], encoding[0]) / (encoding[0] @ encoding[0])


@shift_matrix.mistake("made for too few positions")
def product_of_two_rows(offset, d_model):
    encoding = positions.sinusoidal_encoding(offset + 1, d_model)
    return torch.outer(encoding[offset], encoding[0])


@shift_matrix.mistake(
    "the encoding itself",
    why="What comes back is made of rows of the encoding, or of their dot products; multiplied by "
        "encoding[p] it does not give encoding[p + offset].",
    look="try your matrix on encoding[0].", hint=1)
def rows_of_the_encoding(offset, d_model):
    return positions.sinusoidal_encoding(offset + d_model, d_model)[offset:]


@shift_matrix.mistake("the encoding itself")
def products_of_rows(offset, d_model):
    encoding = positions.sinusoidal_encoding(offset + d_model, d_model)
    return encoding[offset:] @ encoding[:d_model].T


@shift_matrix.mistake("the encoding itself")
def products_of_features(offset, d_model):
    encoding = positions.sinusoidal_encoding(offset + d_model, d_model)
    return encoding[offset:].T @ encoding[:d_model]


@shift_matrix.mistake("the encoding itself")
def one_row(offset, d_model):
    return positions.sinusoidal_encoding(offset + 1, d_model)[offset]


@shift_matrix.mistake(
    "neighbours of two pairs mixed",
    why="The sines fill the whole diagonals beside the main one, so they also mix the second feature of a "
        "pair with the first of the next.",
    look="features 1 and 2: are they a pair?", hint=3)
def whole_diagonals(offset, d_model):
    angles = (offset / 10000 ** (2 * count(d_model // 2) / d_model)).repeat_interleave(2)
    return torch.diag(angles.cos()) + torch.diag(angles.sin()[:-1], 1) - torch.diag(angles.sin()[:-1], -1)


@shift_matrix.mistake(
    "two angles in a block",
    why="The two rows of a block turn by different angles, as if each column of the encoding had a speed of "
        "its own.",
    look="the speeds of columns 0 and 1 of the encoding: are they equal?", hint=3)
def two_angles(offset, d_model):
    angles = offset / 10000 ** (count(d_model) / d_model)
    sines, cosines = angles.sin(), angles.cos()
    return torch.block_diag(*as_blocks(cosines[0::2], sines[0::2], -sines[1::2], cosines[1::2]))


@shift_matrix.mistake("two angles in a block")
def two_angles_by_column(offset, d_model):
    angles = offset / 10000 ** (count(d_model) / d_model)
    sines, cosines = angles.sin(), angles.cos()
    return torch.block_diag(*as_blocks(cosines[0::2], sines[1::2], -sines[0::2], cosines[1::2]))


@shift_matrix.mistake("two angles in a block")
def two_angles_repeated(offset, d_model):
    speeds = 10000 ** -(2 * count(d_model // 2) / d_model)
    angles = offset * torch.cat([speeds, speeds])  # as for halves
    sines, cosines = angles.sin(), angles.cos()
    return torch.block_diag(*as_blocks(cosines[0::2], sines[0::2], -sines[1::2], cosines[1::2]))


@shift_matrix.mistake(
    "left as complex numbers",
    why="The matrix holds complex numbers: a rotation of two features can be written as one complex number, "
        "but the encoding is real.",
    look="a complex number a + bi does to a pair what a 2 by 2 block does. Which one?", hint=2)
def left_complex(offset, d_model):
    return torch.diag(torch.exp(1j * offset * 10000 ** -(2 * count(d_model // 2) / d_model)))


@shift_matrix.mistake(
    "an integer table",
    why="The sines and cosines have been cut down to whole numbers: the matrix was made to hold integers.",
    look="the dtype of the matrix when it is made.", hint=3)
def in_integers(offset, d_model):
    return shift(offset, d_model).long()


@shift_matrix.mistake(
    "rounded numbers",
    why="The sines and cosines have been rounded. Decimals are cut for showing, not for computing.",
    look="every call of `round`.", hint=3)
def rounded_to_two(offset, d_model):
    return shift(offset, d_model).round(decimals=2)


@shift_matrix.mistake("rounded numbers")
def rounded_to_one(offset, d_model):
    return shift(offset, d_model).round(decimals=1)


@shift_matrix.mistake(
    "the sign of the offset lost",
    why="A negative offset gives the matrix of the positive one: it shifts forwards, where it should shift "
        "back.",
    look="does an abs or a square take away the sign?", hint=3)
def sign_lost(offset, d_model):
    return shift(abs(offset), d_model)
