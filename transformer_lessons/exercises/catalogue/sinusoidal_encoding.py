"""sinusoidal_encoding, of lesson 5: the table of sines and cosines that tells positions apart."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from transformer_lessons import positions
from transformer_lessons.exercises.checker.comparison import close, comparable, numbers
from transformer_lessons.exercises.checker.exercise import Exercise, Steps


def first_wrong_column(observed, expected, length, d_model):
    wrong = np.abs(numbers(observed) - numbers(expected)) > 1e-4
    first = int(wrong.any(axis=0).argmax())
    return f"Column {first} is the first wrong one." if first else None


def signs_of_the_frequencies(observed, expected, length, d_model):
    """Any base but 10000, and frequencies that grow: large angles have other sines in each kind of rounding."""

    def table(frequency):
        return numbers(exercise.variant({"frequency": frequency})()(length, d_model))

    if not comparable(observed, expected) or min(length, d_model / 2) < 2:
        return
    ours = numbers(observed)
    frequency = math.atan2(ours[1, 2], ours[1, 3])
    base = frequency ** (-d_model / 2) if 0 < frequency < 1 else 0
    if is_written(base) and close(ours, table(with_base(base)), 1e-3):
        yield "another base than 10000"
    if np.mean(np.abs(ours - table(lambda exponent: 10000**exponent)) < 0.1) > 0.95:
        yield "multiplied where it should be divided"


def holds_any_length(call, length, d_model):
    """Is the encoding cut from a table of fixed size? Checked once, with as few columns as possible."""
    if d_model > 2 or call(5001, 2).shape[0] == 5001:
        return None
    return FIXED, "A text of 5,001 positions gets too few rows.", "how long a text can your code handle?"


FIXED = "a table of fixed size"


def is_written(base):
    """Is this a base that people write, such as 5000 or 4096? Other wrong frequencies can look like any base."""
    return any(abs(base - number) < 1e-3 * base for number in (float(f"{base:.2g}"), 2 ** round(math.log2(base or 1))))


def with_base(base):
    return lambda exponent: base**-exponent


exercise = Exercise(
    name="sinusoidal_encoding",
    lesson=5,
    title="A clock with many hands",
    difficulty=2,
    importance=3,
    minutes=15,
    contract="""sinusoidal_encoding(length, d_model) returns a float tensor (length, d_model), for an even
        d_model. Row p belongs to position p, counting from 0. Columns 2i and 2i + 1 hold the sine and the cosine of one
        angle, p / 10000 ** (2i / d_model), where i counts the pairs of columns from 0.""",
    stub='''
        def sinusoidal_encoding(length, d_model):
            """Row p interleaves the sines and cosines of p times each frequency; there are d_model / 2 frequencies."""
            raise NotImplementedError''',
    sizes=[
        {"length": length, "d_model": d_model}
        for length, d_model in ((3, 4), (6, 6), (1, 8), (4, 2), (5, 12), (12, 8), (30, 10), (600, 4))
    ],
    draw=lambda generator, length, d_model: (length, d_model),
    names_steps=False,
    signs=signs_of_the_frequencies,
    reference=lambda length, d_model: positions.sinusoidal_encoding(length, d_model),
    returns="encoding",
    shapes={"encoding": "(length, d_model)"},
    symptoms=[first_wrong_column],
    checks=[holds_any_length],
    tolerance=1e-4,  # of 1: angles in float32 are right to 3e-5 at position 600, those in float16 are not
    hints=[
        (
            "the numbers are in the wrong columns",
            "Write down row 1 for d_model = 4 by hand: sin(1), cos(1), "
            "sin(0.01), cos(0.01). Which columns form a pair?",
        ),
        (
            "the frequencies are wrong",
            "Pair 0 turns by 1 radian per position, and each later pair turns more "
            "slowly: the frequencies fall towards 1/10000. For d_model = 4 the two frequencies are 1 and 1/100. Which "
            "exponents of 10000 give these numbers?",
        ),
        (
            "making the whole table at once",
            "Make the positions a column, (length, 1), and the frequencies a row, "
            "(d_model / 2,). Their product is a table of all the angles. Then fill columns 0::2 with the sines "
            "and 1::2 with the cosines.",
        ),
    ],
    solution="""
        import torch

        def sinusoidal_encoding(length, d_model):
            position = torch.arange(length)[:, None]
            frequency = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
            encoding = torch.zeros(length, d_model)
            encoding[:, 0::2] = torch.sin(position * frequency)
            encoding[:, 1::2] = torch.cos(position * frequency)
            return encoding""",
)


def count(number):
    """0.0, 1.0, … as a column or row of float64."""
    return torch.arange(number, dtype=torch.float64)


def interleaved(even, odd):
    return torch.stack([even, odd], dim=-1).flatten(-2)


@exercise.right("step by step")
class Sinusoids(Steps):
    def __call__(self, length, d_model):
        position, pair = self.position(length), self.pair(d_model)
        sines = self.even(self.angles_of(position, pair, d_model))
        cosines = self.odd(self.angles_of(position, self.pair_of_cosines(pair), d_model))
        return self.table(sines, cosines)

    def angles_of(self, position, pair, d_model):
        exponent = self.exponent(pair, d_model)
        return self.angles(position, self.frequency(exponent, d_model), exponent)

    def position(self, length):
        return count(length)[:, None]  # (length, 1)

    def pair(self, d_model):
        return count(d_model // 2)

    def pair_of_cosines(self, pair):
        return pair

    def exponent(self, pair, d_model):
        return 2 * pair / d_model

    def frequency(self, exponent, d_model):
        return 10000**-exponent

    def angles(self, position, frequency, exponent):
        return position * frequency  # (length, d_model / 2)

    def even(self, angles):
        return angles.sin()

    def odd(self, angles):
        return angles.cos()

    def table(self, even, odd):
        return interleaved(even, odd)


# Why, and where to look: the exercises of lesson 5 share these
DOUBLED = (
    "The frequencies fall much too fast, as if the exponent were doubled. Perhaps the 2 of 2i is counted twice, "
    "for instance once in steps of two and once in the formula.",
    "if your i already goes 0, 2, 4, …, is it the i of the formula, or its 2i?",
)
HALVED = (
    "The frequencies fall too slowly, as if the exponent were halved. Perhaps the 2 of 2i is missing, or the "
    "base is replaced by its square root.",
    "if i counts the pairs 0, 1, 2, …, what should the numerator of the exponent be?",
)
FROM_1 = (
    "The exponents do not start at 0, so the first pair does not turn at the right speed, 1 radian per step.",
    "what should the first pair's frequency be, and which i gives that?",
)
DEGREES = (
    "The angles are converted from degrees to radians or back, but they are in radians already.",
    "what does torch.sin (or math.sin) expect?",
)
TIMES_PI = (
    "The angles are multiplied by π or 2π, so the first pair makes half a turn or a whole turn at each step.",
    "by how many radians should the first pair turn at each step?",
)
WRONG_TURN = (
    "The angles are reduced modulo a number that is not a whole turn, 2π, so larger angles get the wrong "
    "sines and cosines.",
    "every `%`, `fmod` and `remainder`: after which angle does a sine repeat?",
)
ROOT = (
    "Sines or cosines have lost their sign, as when a cosine is computed as √(1 - sin²) or an absolute value is taken.",
    "which signs do the sine and the cosine of 4 have?",
)
SMALL_ANGLES = (
    "The angle itself is used as its sine, and 1 or 1 - angle²/2 as its cosine. That is nearly right for "
    "small angles, but not for large ones.",
    "what are the sine and the cosine of 2?",
)

ROUNDED_DOWN = (
    "A number is rounded down, as by `//`, on the way to the frequencies or in the angle.",
    "every `//`, `floor` and `int` in your code: is it needed?",
)

# The exponent
mistake = exercise.section(hint=2)
UNDER_2I = "in the formula, what is 2i divided by?"
mistake("the exponent doubled", *DOUBLED, exponent=lambda pair, d_model: 4 * pair / d_model)
mistake("the exponent halved", *HALVED, exponent=lambda pair, d_model: pair / d_model)
mistake(
    "the cosine at another frequency than its sine",
    pairs=2,
    why="The cosines have exponents of their own, from "
    "the odd columns or the next pair. A pair then no longer holds the sine and the cosine of one angle, and a shift "
    "is no longer a rotation.",
    look="the exponents of columns 0 and 1: are they equal?",
    pair_of_cosines=[lambda pair: pair + 0.5, lambda pair: pair + 1],
)
mistake(
    "the frequencies repeated as a whole",
    pairs=0,
    why="The two columns of a pair have different "
    "frequencies, as when the row of frequencies is repeated as a whole (a, b, a, b), not one by one (a, a, b, b).",
    look="`repeat` and `repeat_interleave` of [1, 2, 3]: what does each of them give?",
    variants=[
        {
            "pair": lambda right, d_model: 2 * right % (d_model // 2),
            "pair_of_cosines": lambda pair: (2 * count(len(pair)) + 1) % len(pair),
        }
    ],
)
mistake(
    "2i taken for twice the column",
    why="Column c gets the exponent 2c / d_model. But in the formula 2i is "
    "already the column (or the one before it), so the 2 is counted twice, and the sine and cosine of a pair have "
    "different frequencies.",
    look="in column 3, what is i, and what is 2i?",
    variants=[{"exponent": lambda pair, d_model: 4 * pair / d_model, "pair_of_cosines": lambda pair: pair + 0.5}],
)
mistake(
    "the exponent from 1 on",
    *FROM_1,
    pairs=2,
    exponent=[lambda pair, d_model: 2 * (pair + 1) / d_model, lambda pair, d_model: (2 * pair + 1) / d_model],
)
mistake(
    "the exponent runs up to 1",
    pairs=3,
    why="The exponents run up to 1, as when 2i is divided by d_model - 2, so "
    "the slowest pair turns at exactly 1/10000. Some libraries do this, but the formula divides by d_model.",
    look=UNDER_2I,
    exponent=[
        lambda pair, d_model: 2 * pair / max(d_model - 2, 1),
        lambda pair, d_model: 2 * pair / torch.tensor(d_model - 2),
        lambda pair, d_model: 2 * pair * (1 / (d_model - 2)),
    ],
)
mistake(
    "2i over d_model - 1",
    why="2i is divided by d_model - 1, not by d_model, so all frequencies but the first are a little off.",
    look=UNDER_2I,
    exponent=lambda pair, d_model: 2 * pair / (d_model - 1),
)
mistake(
    "2i over more than d_model",
    pairs=2,
    why="2i is divided by d_model + 1 or d_model + 2, not by d_model, so all "
    "frequencies but the first are a little off.",
    look=UNDER_2I,
    exponent=[lambda pair, d_model: 2 * pair / (d_model + 2), lambda pair, d_model: 2 * pair / (d_model + 1)],
)


def keeping_the_length(self, step, length, d_model):
    self.length = length
    return step(length, d_model)


mistake(
    "2i over the length",
    pairs=2,
    why="The denominator of the exponent is the number of positions, not d_model. "
    "The frequencies should not depend on how long the sequence is.",
    look=UNDER_2I,
    variants=[
        {"__call__": keeping_the_length, "exponent": lambda self, pair: 2 * pair / self.length},
        {"__call__": keeping_the_length, "exponent": lambda self, pair: pair / self.length},
    ],
)
mistake(
    "an exponent far too large",
    why="Every pair but the first hardly turns at all. The exponent is far too large, "
    "perhaps because 2i is not divided by d_model, or because exp gets 10000 itself and not its logarithm.",
    look="print the exponents: they should start at 0 and stay below 1.",
    exponent=[lambda pair: 2 * pair, lambda pair: pair],
)
mistake(
    "every pair at the same frequency",
    why="Every pair turns by 1 radian per step: the exponent is missing or "
    "always 0, perhaps because `2i // d_model` rounds it down.",
    look="print the exponents. Is there a `//` in your formula?",
    exponent=lambda pair: 0 * pair,
)
mistake(
    "the slowest pair first",
    why="The frequencies are in reverse order: the first pair gets the last frequency.",
    look="which columns should turn fastest?",
    pair=lambda right: right.flip(0),
)

# The frequency (with base 100 it is the exponent halved)
mistake(
    "another base than 10000",
    pairs=2,
    why="The frequencies are those of another base than 10000, so all but the first are wrong.",
    look="count the zeros in your base, and check the exponent of the last pair. If you use exp, "
    "which logarithm goes into it?",
    frequency=[with_base(base) for base in (1e3, 1e5, 10.0, 1e6, 5e5, 5e4, 2e4, 5e3, 512.0, math.e, 2.0)],
)
mistake(
    "the wrong logarithm",
    why="exp undoes the natural logarithm, but yours gets the logarithm of 10000 to base "
    "10 or 2, so the base of the power is not 10000.",
    look="which logarithm does exp undo?",
    frequency=[
        lambda exponent: (-exponent * math.log10(10000)).exp(),
        lambda exponent: (-exponent * math.log2(10000)).exp(),
    ],
)


def by_exp_in_float32(sign):
    return lambda exponent, d_model: torch.exp((exponent * d_model).float() * (sign * math.log(10000.0) / d_model))


mistake(
    "multiplied where it should be divided",
    pairs=2,
    why="The position is multiplied by 10000 ** (2i / d_model), not divided by it.",
    look="the sign of the exponent: which columns should turn slowest?",
    frequency=lambda exponent: 10000**exponent,
    variants=[
        {
            "frequency": lambda exponent: 10000 ** exponent.float(),
            "angles": lambda position, frequency: position.float() * frequency,
        },
        {"frequency": by_exp_in_float32(1), "angles": lambda position, frequency: position.float() * frequency},
        {"frequency": by_exp_in_float32(-1), "angles": lambda position, frequency: position.float() / frequency},
        {
            "frequency": lambda exponent: 1 / 10000 ** exponent.float(),
            "angles": lambda position, frequency: position.float() / frequency,
        },
        {"frequency": lambda exponent: 10000**exponent / 10000},
    ],
)
mistake(
    "the exponential forgotten",
    why="The position is multiplied by the exponent, or by a number proportional "
    "to it, such as the logarithm of the frequency, but not by a power of 10000.",
    look="the line that computes the frequencies: where is the power, or the exp?",
    frequency=[
        lambda exponent: -exponent * math.log(10000),
        lambda exponent: exponent * math.log(10000),
        lambda exponent: exponent,
        lambda exponent: exponent / 10000,
    ],
)
mistake(
    "brackets missing around the exponent",
    why="Only the first part of 2i / d_model is in the exponent, as "
    "happens without brackets: `**` binds tighter than `*` and `/`.",
    look="what do `10000 ** 2 * 3 / 4` and `10000 ** (2 * 3 / 4)` give?",
    frequency=[
        lambda exponent, d_model: 10000 ** -(exponent * d_model) / d_model,
        lambda exponent, d_model: 10000 ** -(exponent * d_model) * d_model,
        lambda exponent, d_model: 1 / 10000**2 * (exponent * d_model / 2) / d_model,
    ],
)
mistake(
    "the power of the quotient",
    why="The position is inside the power, as in (p / 10000) ** (2i / d_model), but only 10000 should be.",
    look="the brackets: what does the `**` apply to?",
    angles=lambda position, exponent: (position / 10000) ** exponent,
)
mistake(
    "base and exponent exchanged",
    pairs=0,
    why="The exponent is raised to the power of 1/10000, but it is "
    "10000 that should be raised to the power of the exponent.",
    look="`a ** b`: which of the two is the base?",
    frequency=lambda exponent: exponent**1e-4,
)
mistake(
    "NaN everywhere",
    pairs=0,
    why="Every number is NaN (not a number). This happens, for instance, when the sine "
    "of an infinite angle is taken: 0 ** 10000 is 0, and a position divided by 0 is infinite.",
    look="print the frequencies and the angles: which of them are infinite or NaN?",
    angles=lambda position, exponent: position / exponent**10000,
)
mistake(
    "rounded down by //",
    *ROUNDED_DOWN,
    pairs=0,
    frequency=[
        lambda exponent, d_model: torch.exp(exponent * d_model * (-math.log(10000.0) // d_model)),
        lambda exponent, d_model: torch.exp(exponent * d_model * (-math.log(10000.0) / d_model // 2)),
    ],
    angles=lambda right: right.floor(),
)

# The positions, and the angle
mistake = exercise.section(hint=1)
ROW_0 = "row 0: what are the angles of position 0?"
mistake(
    "positions from one",
    why="The positions start at 1, so row p is for position p + 1.",
    look=ROW_0,
    position=lambda right: right + 1,
)
mistake(
    "positions that start elsewhere",
    pairs=0,
    why="The positions start below 0 or at 2, not at 0, so every row is for the wrong position.",
    look=ROW_0,
    position=[lambda right: right - 1, lambda right: right + 2, lambda right, length: right - length // 2],
)
mistake(
    "positions backwards",
    pairs=0,
    why="The positions run backwards: position 0 is in the last row.",
    look=ROW_0,
    position=lambda right: right.flip(0),
)


def exchanged(exponent, by_row=False):
    def table(length, d_model):
        row, column = count(length)[:, None], count(d_model)
        angles = column / 10000 ** exponent(row, length, d_model)
        return torch.where((row if by_row else column) % 2 == 0, angles.sin(), angles.cos())

    return table


mistake(
    "position and column exchanged",
    why="Position and column are swapped in the formula: the column is divided by "
    "a power that depends on the position.",
    look="which of the two stays the same along a row, and which stays the same down a column?",
    variants=[
        exchanged(lambda row, length, d_model: 2 * (row // 2) / d_model),
        exchanged(lambda row, length, d_model: 2 * (row // 2) / length, by_row=True),
        exchanged(lambda row, length, d_model: row / d_model),
    ],
)
mistake(
    "length and d_model exchanged",
    why="length and d_model are swapped: there are d_model rows and length columns.",
    look="the order of `length` and `d_model`, wherever your code uses both.",
    variants=[lambda length, d_model: positions.sinusoidal_encoding(d_model, length)],
)
mistake(
    "more rows than asked for",
    why="The whole of a long table is returned, not just its first `length` rows.",
    look="where does your code use `length`?",
    variants=[
        lambda length, d_model, rows=rows: positions.sinusoidal_encoding(rows, d_model)
        for rows in (5000, 512, 1000, 1024, 2048, 10000)
    ],
)
mistake(
    "one position too many",
    why="There are length + 1 rows. Either the positions run up to length, where they "
    "should stop before it, or there is an extra row of zeros.",
    look="how many positions are there from 0 to length? And what does the table hold before it is filled?",
    position=lambda step, length: step(length + 1),
    table=[lambda right: F.pad(right, (0, 0, 1, 0)), lambda right: F.pad(right, (0, 0, 0, 1))],
)
mistake(
    "one position too few",
    pairs=0,
    why="There are length - 1 rows: one position is missing.",
    look="the first row and the last: which positions should they be for?",
    position=[lambda right: right[1:], lambda right: right[:-1]],
)
mistake(
    "positions squeezed between 0 and 1",
    pairs=2,
    why="The positions are divided by the length, or by one less, so the row of a position depends on the length.",
    look="should the row of position 2 depend on how many positions follow?",
    position=[lambda right, length: right / length, lambda right, length: right / max(length - 1, 1)],
)
mistake(
    "the position forgotten",
    why="The angles are just the frequencies: the position does not enter into them.",
    look="compare two rows. What should make them differ?",
    angles=lambda position, frequency: 0 * position + frequency,
)
mistake(
    "the angles cut to a wrong turn",
    *WRONG_TURN,
    pairs=0,
    angles=[lambda right, turn=turn: right % turn for turn in (math.pi, 1, 6.28, 3.14)],
)
mistake(
    "the sign of the angles flipped",
    pairs=0,
    why="Every sine has the wrong sign, as with negative angles. The cosines are the same either way.",
    look="row 1, column 0: what is the sign of sin(1)?",
    angles=lambda right: -right,
)
mistake(
    "angles added up",
    pairs=0,
    why="The angles of each position are added to those of the positions before it, so "
    "they grow faster and faster from row to row.",
    look="if a loop uses `+=`, what does the angle start from at each position?",
    angles=lambda right: right.cumsum(0),
)
mistake(
    "the position in the exponent",
    pairs=0,
    why="The exponent is computed from the position, so it changes from row to row and not from pair to pair.",
    look="the exponent in your code: which variable counts the pairs?",
    angles=[
        lambda position, exponent, times=times: (
            position / 10000 ** (times * position / (2 * exponent.shape[-1])) + 0 * exponent
        )
        for times in (1, 2)
    ],
)
mistake(
    "position and frequency added",
    hint=2,
    pairs=0,
    why="The position and the frequency are added, but the angle is their product.",
    look="the angle at position 0: what should it be?",
    angles=lambda position, frequency: position + frequency,
)
mistake("degrees", *DEGREES, angles=[lambda right: right * (math.pi / 180), lambda right: right * (180 / math.pi)])
mistake(
    "multiplied by π", *TIMES_PI, hint=2, angles=[lambda right: right * (2 * math.pi), lambda right: right * math.pi]
)

# Sines, cosines, and where they go
mistake(
    "sine and cosine swapped",
    why="Sine and cosine are swapped: the cosines are in the even columns and the sines in the odd ones.",
    look="row 0, column 0: what is the sine of 0?",
    variants=[{"even": lambda angles: angles.cos(), "odd": lambda angles: angles.sin()}],
)
mistake(
    "sines everywhere",
    why="All the columns hold sines, and there are no cosines. Each pair then says the same thing twice, or nearly so.",
    look="the odd columns: which function belongs there?",
    odd=lambda angles: angles.sin(),
)
mistake(
    "cosines everywhere",
    why="All the columns hold cosines, and there are no sines. Each pair then says the same thing twice, or nearly so.",
    look="the even columns: which function belongs there?",
    even=lambda angles: angles.cos(),
)
mistake(
    "halves instead of interleaving",
    pairs=2,
    why="The sines fill one half of the columns and the cosines the "
    "other. The sine and the cosine of an angle should be side by side.",
    look="columns 0 and 1: are they a pair?",
    table=[lambda even, odd: torch.cat([even, odd], dim=-1), lambda even, odd: torch.cat([odd, even], dim=-1)],
    variants=[
        {
            "pair": lambda d_model: count(d_model) // 2,
            "table": lambda even, odd: torch.cat([even.chunk(2, dim=1)[0], odd.chunk(2, dim=1)[1]], dim=1),
        }
    ],
)


def by_the_position(self, length, d_model):
    position, pair = self.position(length), self.pair(d_model)
    angles = interleaved(
        self.angles_of(position, pair, d_model), self.angles_of(position, self.pair_of_cosines(pair), d_model)
    )
    angles[0::2], angles[1::2] = self.even(angles[0::2]), self.odd(angles[1::2])
    return angles


mistake(
    "columns reshaped into rows",
    pairs=0,
    why="The numbers of each column run along the rows, as when a table "
    "is made column by column and then reshaped. A reshape keeps the order of the numbers: only a transpose swaps rows "
    "and columns.",
    look="the shape before any reshape: which dimension holds the positions?",
    table=[
        lambda right: right.T.reshape(right.shape),
        lambda even, odd, right: torch.cat([even, odd], dim=1).T.reshape(right.shape),
    ],
)
mistake(
    "a column for each position",
    pairs=0,
    why="Rows and columns are swapped: each position has a column of its own, but it should have a row.",
    look="which dimension of the result holds the positions?",
    table=lambda right: right.T,
)
mistake(
    "one long row",
    pairs=0,
    why="The result is one long row of numbers, or an empty one, not a table. Perhaps "
    "appending has flattened it, or what was appended has been lost.",
    look="if you use `np.append`, what does it return, and does it keep the rows?",
    table=[lambda right: right.flatten(), lambda right: right.flatten()[:0]],
)
mistake(
    "sine and cosine by the position",
    why="Whole rows alternate between sines and cosines. It should depend on "
    "the column whether a number is a sine or a cosine, not on the position.",
    look="in the formula, what is 2i: a position or a column?",
    variants=[{"__call__": by_the_position}],
)


def positions_as_angles(self, position, pair, d_model):
    self.factor = self.frequency(self.exponent(pair, d_model), d_model)
    return position + 0 * self.factor


mistake(
    "divided outside the sine",
    hint=2,
    why="The sine and cosine of the position itself are taken, and the result "
    "is then divided. The division belongs inside.",
    look="the brackets of your sin and cos: what is inside?",
    variants=[
        {
            "angles_of": positions_as_angles,
            "even": lambda self, right: right * self.factor,
            "odd": lambda self, right: right * self.factor,
        }
    ],
)
mistake(
    "the angles themselves",
    pairs=0,
    why="All the columns, or every second one, hold the angles themselves: no "
    "sine or cosine was taken there, or the result was not kept.",
    look="what should be done with an angle before it goes into the table?",
    variants=[{"even": lambda angles: angles, "odd": lambda angles: angles}],
    odd=lambda angles: angles,
    even=lambda angles: angles,
)
mistake(
    "the cosine of a sine",
    pairs=0,
    why="Some columns hold the cosine of a sine, or the sine of a cosine, as "
    "when the first function has already replaced the angles there.",
    look="when the second function is applied, what do its columns hold?",
    odd=lambda angles: angles.sin().cos(),
    even=lambda angles: angles.cos().sin(),
)
mistake(
    "a root without its sign",
    *ROOT,
    pairs=0,
    odd=lambda angles: (1 - angles.sin() ** 2).sqrt(),
    even=lambda angles: (1 - angles.cos() ** 2).sqrt(),
    variants=[{"even": lambda right: right.abs(), "odd": lambda right: right.abs()}],
)
mistake(
    "positions without sines",
    why="Each row holds its position as it is, either in every column or as a one-hot "
    "vector: no sine or cosine has been taken.",
    look="what should be done with a position before it goes into the table?",
    variants=[
        lambda length, d_model: count(length)[:, None].expand(length, d_model),
        lambda length, d_model: torch.eye(length, d_model),
    ],
)
mistake(
    "sine and cosine added",
    pairs=0,
    why="Sine and cosine have been added together, but each belongs in a column of its own.",
    look="how many columns should each angle give?",
    table=[lambda even, odd: even + odd, lambda even, odd: interleaved(even + odd, even + odd)],
)
mistake(
    "sine and cosine in a dimension of their own",
    hint=3,
    why="The sines and cosines are stacked along a new "
    "dimension, so the result has three dimensions. It should have two, with the sine and the cosine of a pair side by "
    "side.",
    look="where should the new dimension be? And how do the last two then become one?",
    table=[
        lambda even, odd: torch.stack([even, odd], dim=-1),
        lambda even, odd: torch.stack([even, odd], dim=1),
        lambda even, odd: torch.stack([even, odd]),
    ],
)
mistake(
    "sines and cosines below each other",
    hint=3,
    why="The cosines have been put below the sines, or "
    "between their rows, but they should be beside them, in columns of their own.",
    look="along which dimension do you put sines and cosines together?",
    table=[
        lambda even, odd: torch.cat([even, odd], dim=0),
        lambda even, odd: torch.stack([even, odd], dim=1).flatten(0, 1),
        lambda even, odd: torch.cat([even, odd], dim=0).reshape(len(even), -1),
    ],
)

# Filling the table
mistake = exercise.section(hint=3)


def emptied(table, place):
    table[place] = 0
    return table


mistake(
    "a table never filled",
    why="There are only zeros or only ones, as in a table into which nothing has been written.",
    look="does anything assign into the table: `encoding[…] = …`?",
    table=[lambda right: torch.zeros_like(right), lambda right: torch.ones_like(right)],
)
mistake(
    "only the sines filled in",
    why="There are zeros where the cosines should be, as if they had not been written "
    "into the table, or had been overwritten.",
    look="what does your code write into columns 1, 3, 5, …?",
    odd=lambda right: 0 * right,
)
mistake(
    "only the cosines filled in",
    why="There are zeros where the sines should be, as if they had not been written "
    "into the table, or had been overwritten.",
    look="what does your code write into columns 0, 2, 4, …?",
    even=lambda right: 0 * right,
)
mistake(
    "only row 0 filled in",
    pairs=0,
    why="Only row 0 is right, and everything below it is 0. Perhaps the loop ends "
    "after its first iteration, or the table holds integers, which cut sines and cosines down to 0.",
    look="how far is your `return` indented, and what dtype does the table start with?",
    table=lambda right: emptied(right, np.s_[1:]),
)
mistake(
    "the last row everywhere",
    why="All the rows hold the encoding of the last position. Perhaps they are all the "
    "same list or tensor, filled again in each iteration of the loop.",
    look="`row = [0, 0]; table = [row] * 3; table[0][0] = 1`: what does the table hold?",
    table=lambda right: right[-1:].repeat(len(right), 1),
)
mistake(
    "a loop that ends too soon",
    pairs=0,
    why="Only part of the table is filled, and the rest is 0, as when a loop or a slice ends too soon.",
    look="which cells are 0? If loops fill the table, what do they run over, and how far is your `return` indented?",
    table=[
        lambda right: emptied(right, np.s_[:, 2:]),
        lambda right, even: emptied(right, np.s_[:, 2 * ((even.shape[1] + 1) // 2) :]),
        lambda right: emptied(emptied(right, np.s_[1:]), np.s_[:, 2:]),
        lambda right, even: emptied(right, np.s_[:, even.shape[1] :]),
        lambda right: emptied(right, -1),
    ],
)
mistake(
    "pairs written over each other",
    pairs=0,
    why="Pair i is written to columns i and i + 1, "
    "so each pair overwrites half of the one before, and the last columns stay 0.",
    look="which two columns belong to pair 1?",
    table=lambda even, odd: torch.cat([even, odd[:, -1:], torch.zeros_like(even)[:, 1:]], dim=1),
)


def every_column_a_pair(self, length, d_model):
    """Column i gets a sine and column i + 1 a cosine, which the next iteration overwrites."""
    pair = count(d_model).clamp(max=d_model - 2) / 2
    angles = self.angles_of(self.position(length), pair, d_model)
    return torch.cat([self.even(angles)[:, :-1], self.odd(angles)[:, -1:]], dim=1)


mistake(
    "a loop over every column",
    pairs=0,
    why="All the columns but the last hold sines, as when a loop goes through "
    "every column, not every second one, and each cosine is overwritten by the next sine.",
    look="in which columns should a pair start: 0, 1, 2 or 0, 2, 4?",
    variants=[{"__call__": every_column_a_pair}],
)


def cosines_in_column_i_plus_1(even, odd):
    table = torch.zeros(len(even), 2 * even.shape[1], dtype=even.dtype)
    for pair in range(even.shape[1]):
        table[:, 2 * pair], table[:, pair + 1] = even[:, pair], odd[:, pair]
    return table


mistake(
    "the cosines in column i + 1",
    pairs=0,
    why="The sine of pair i goes to column 2i, but its cosine to column i "
    "+ 1, so cosines overwrite sines and some columns stay 0.",
    look="which two columns belong to pair 1?",
    table=cosines_in_column_i_plus_1,
)
mistake(
    "position 0 left out",
    hint=1,
    why="Row 0 holds only zeros, as if it were left out or overwritten. But "
    "position 0 has an encoding too, in which every sine is 0 and every cosine is 1.",
    look="what does your code write into row 0?",
    table=lambda right: emptied(right, 0),
)
mistake(
    "an integer table",
    pairs=0,
    why="The sines and cosines have been cut down to whole numbers, mostly to 0: the "
    "table (or what fills it) holds integers.",
    look="the dtype that the table is created with.",
    table=[lambda right: right.long(), lambda right: right.float().long()],
)
mistake(
    "rounded numbers",
    pairs=0,
    why="The sines and cosines, or the frequencies, have been rounded. Rounding is for display, not for computing.",
    look="every call to `round`.",
    table=[lambda right, decimals=decimals: right.round(decimals=decimals) for decimals in (2, 1, 3)],
    frequency=[lambda right, decimals=decimals: right.round(decimals=decimals) for decimals in (2, 1, 3, 4)],
)
mistake(
    "half precision",
    pairs=0,
    why="Half precision, which keeps only two or three digits, is used on the way to "
    "the angles. Far from position 0, sines and cosines are then wrong.",
    look="which dtypes do the positions and the frequencies have?",
    angles=[
        lambda position, frequency, half=half: (position.to(half) * frequency.to(half)).double()
        for half in (torch.half, torch.bfloat16)
    ],
    variants=[
        {
            "angles": lambda position, frequency, half=half: position.to(half) * frequency.to(half),
            "table": lambda right: right.float(),
        }
        for half in (torch.half, torch.bfloat16)
    ],
    frequency=lambda right: right.half().double(),
    exponent=lambda right: right.half().double(),
    position=lambda right: right.bfloat16().double(),
)
mistake(
    "added to something",
    pairs=0,
    why="The table does not hold the encoding alone: the sines and cosines have been added to ones.",
    look="what does the table hold before you write into it, and do you write with `=` or `+=`?",
    table=lambda right: right + 1,
)
mistake(
    "multiplied by √d_model",
    pairs=0,
    why="The whole table is multiplied by √d_model, but the sines and cosines should stay as they are.",
    look="what is done to the table after it has been filled?",
    table=lambda right, even: right * math.sqrt(2 * even.shape[1]),
)
mistake(
    FIXED,
    pairs=0,
    why="A long text gets too few rows, as when the encoding is cut from a table made for a fixed number of positions.",
    look="how long a text can your code handle?",
    variants=[
        lambda length, d_model, size=size: positions.sinusoidal_encoding(min(length, size), d_model)
        for size in (12, 16, 20, 32, 50, 64, 100, 128, 256, 512, 5000)
    ],
)
mistake(
    "the rows brought to length 1",
    pairs=0,
    why="Every row is divided by its length, √(d_model / 2). The sines "
    "and cosines should stay as they are: each pair has length 1 already.",
    look="what is done to the table after it has been filled?",
    table=lambda right: right / right.norm(dim=-1, keepdim=True),
)
