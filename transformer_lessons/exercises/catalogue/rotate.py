"""rotate, of lesson 5: rotary positions turn each pair of features by an angle that grows with the position."""

import math

import numpy as np
import torch

from transformer_lessons.exercises.catalogue import sinusoidal_encoding as encoding
from transformer_lessons.exercises.catalogue.shift_matrix import evens
from transformer_lessons.exercises.catalogue.sinusoidal_encoding import interleaved
from transformer_lessons.exercises.checker.comparison import numbers
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, integers, normal


def draw(generator, lead, length, d, base=None, fractions=False, backwards=False):
    """Vectors, and positions that neither start at 0 nor follow on from each other."""
    gaps = integers(generator, 5, length, low=2)
    positions = 1 + gaps.cumsum(0)
    if fractions:
        positions = positions + 0.25 + 0.5 * torch.rand(length, generator=generator, dtype=torch.float64)
    inputs = normal(generator, *lead, length, d), positions.flip(0) if backwards else positions
    return inputs if base is None else (*inputs, base)


def what_it_is_not(observed, expected, x, positions, base=10000):
    """Which property of rotated pairs these lack."""
    ours, theirs = (numbers(one).reshape(*x.shape[:-1], -1, 2) for one in (observed, expected))
    if not np.allclose(np.linalg.norm(ours, axis=-1), np.linalg.norm(theirs, axis=-1), atol=1e-4):
        return "Some pairs change their length: a rotation keeps a² + b² of every pair (a, b) as it was."
    wrong = np.abs(ours - theirs).max(axis=-1).reshape(-1, x.shape[-1] // 2).max(axis=0) > 1e-4
    return f"Every pair keeps its length, but pair {wrong.argmax()} is the first not to turn by the right angle."


exercise = Exercise(
    name="rotate",
    lesson=5,
    title="Rotary positions",
    difficulty=2,
    importance=3,
    minutes=8,
    contract="""rotate(x, positions, base=10000) returns a float tensor of the same shape as x, which is
        (…, length, d) with an even d and any leading dimensions. positions is a tensor of shape (length) that holds the
        position of each vector: whole numbers or fractions, in any order. Features 2i and 2i + 1 form pair i. At
        position p a pair (a, b) becomes (a cos t - b sin t, a sin t + b cos t), where t = p / base ** (2i / d). x
        itself is left unchanged.""",
    stub='''
        def rotate(x, positions, base=10000):
            """Turn each pair of neighbouring features by position times frequency. The shape stays (…, length, d)."""
            raise NotImplementedError''',
    sizes=[
        {"lead": (), "length": 2, "d": 4},
        {"lead": (4,), "length": 4, "d": 4, "backwards": True},
        {"lead": (), "length": 1, "d": 2},
        {"lead": (3,), "length": 5, "d": 6, "backwards": True},
        {"lead": (2, 3), "length": 5, "d": 8, "base": 500},
        {"lead": (2,), "length": 7, "d": 10, "fractions": True},
        {"lead": (), "length": 2, "d": 4, "backwards": True},
    ],  # again, elsewhere: stored angles do not fit
    draw=draw,
    reference=lambda x, positions, base=10000: Rotation()(x, positions, base),
    names_steps=False,
    returns="rotated",
    shapes={"rotated": "(…, length, d)"},
    symptoms=[what_it_is_not],
    hints=[
        (
            "which features form a pair",
            "x[..., 0::2] holds the first feature of every pair and x[..., 1::2] the "
            "second. Turn all pairs at once. Then put the results back where the features came from: either use "
            "torch.stack along a new last dimension and flatten, or assign to the slices of an empty tensor.",
        ),
        (
            "the rotation is wrong",
            "Try one pair by hand. After a quarter turn (cosine 0, sine 1), (1, 0) should "
            "become (0, 1) and (0, 1) should become (-1, 0). Each new feature needs both old ones.",
        ),
        (
            "the angles are wrong",
            "Make a table of angles, (length, d / 2), as in sinusoidal_encoding: multiply the "
            "positions as a column by the frequencies as a row, where pair i has the frequency base ** (-2i / d). "
            "You need no code for the leading dimensions of x: the angles broadcast over them.",
        ),
    ],
    solution="""
        import torch

        def rotate(x, positions, base=10000):
            d = x.shape[-1]
            frequencies = base ** (-torch.arange(0, d, 2) / d)
            angles = positions[:, None] * frequencies
            cosine, sine = angles.cos(), angles.sin()
            first, second = x[..., 0::2], x[..., 1::2]
            turned = [first * cosine - second * sine, first * sine + second * cosine]
            return torch.stack(turned, dim=-1).flatten(-2)""",
)


@exercise.right("step by step")
class Rotation(Steps):
    def __call__(self, x, positions, base=10000):
        frequencies = self.frequencies(self.exponents(x.shape[-1]), base)
        cosine, sine = self.cosines_and_sines(self.angles(self.places(positions), frequencies))
        first, second = self.split(x)
        return self.together(*self.turned(first, second, cosine, sine))

    def places(self, positions):
        return positions.double()[:, None]  # (length, 1)

    def exponents(self, d):
        return evens(d) / d

    def frequencies(self, exponents, base):
        return base**-exponents  # (d / 2)

    def angles(self, places, frequencies):
        return places * frequencies  # (length, d / 2)

    def cosines_and_sines(self, angles):
        return angles.cos(), angles.sin()

    def split(self, x):
        return x[..., 0::2], x[..., 1::2]

    def turned(self, a, b, c, s):  # the pair, the cosines and the sines
        return a * c - b * s, a * s + b * c

    def together(self, first, second):
        return interleaved(first, second)


# Which features are a pair
mistake = exercise.section(hint=1)


def rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def in_blocks(other, repeated):
    """x * cos + other(x) * sin, with the angles repeated to the width of x."""

    def rotated(x, positions, base=10000):
        angles = repeated(positions[:, None] / base ** (evens(x.shape[-1]) / x.shape[-1]))
        return x * angles.cos() + other(x) * angles.sin()

    return rotated


def each_twice(angles):
    return angles.repeat_interleave(2, dim=-1)


def all_twice(angles):
    return torch.cat([angles, angles], dim=-1)


mistake(
    "halves instead of neighbouring pairs",
    pairs=1,
    why="Feature i is turned together with feature i + d/2, as in "
    "Hugging Face's Llama. In this exercise, the two features of a pair are neighbours.",
    look="feature 0: which feature is its partner?",
    variants=[
        {"split": lambda x: x.chunk(2, dim=-1), "together": lambda first, second: torch.cat([first, second], -1)}
    ],
)
mistake(
    "put back as halves",
    why="The pairs are read as neighbours, but in the result all the first features come "
    "before all the second ones. Each feature must go back to where it came from.",
    look="the line that puts the two results together: where does feature 1 go?",
    together=lambda first, second: torch.cat([first, second], dim=-1),
)
mistake(
    "halves read, neighbours written",
    why="Feature i is paired with feature i + d/2 when the pairs are read, but "
    "the results are written side by side. Each feature must go back to where it came from.",
    look="feature 0: which feature is its partner where it is read, and where it is written?",
    pairs=0,
    variants=[{"split": lambda x: x.chunk(2, dim=-1)}],
)
mistake(
    "the angles of one layout, the partners of the other",
    why="Each feature is paired with its neighbour but the "
    "angles are laid out for halves, or the other way round. The two features of a pair then turn by different "
    "angles, which is not a rotation.",
    look="the angles of features 0 and 1, and which feature each of the two is mixed with.",
    variants=[
        in_blocks(lambda x: interleaved(-x[..., 1::2], x[..., 0::2]), all_twice),
        in_blocks(rotate_half, each_twice),
    ],
)
mistake(
    "overwritten too early",
    pairs=0,
    why="The first feature of a pair has already been turned when the second is "
    "computed from it: both need the old values.",
    look="which value of the first feature goes into the "
    "second? A slice of a tensor is a view: it changes with the tensor.",
    turned=lambda a, b, c, s: (a * c - b * s, (a * c - b * s) * s + b * c),
)


def in_place(x, positions, base=10000):
    angles = positions[:, None] / base ** (evens(x.shape[-1]) / x.shape[-1])
    x[..., 0::2] = x[..., 0::2] * angles.cos() - x[..., 1::2] * angles.sin()
    x[..., 1::2] = x[..., 0::2] * angles.sin() + x[..., 1::2] * angles.cos()
    return x


mistake(
    "overwritten in place",
    why="The new values are written into x, so the second feature of a pair is computed "
    "from the new first one. Both need the old values, and x should stay unchanged.",
    look="which lines assign to slices of x?",
    variants=[in_place],
)
mistake(
    "only the first pair turned",
    why="Only the first pair is turned; the features after it are left as they were.",
    look="the second pair: what turns it, and by which angle?",
    pairs=0,
    variants=[{"angles": lambda right: torch.cat([right[:, :1], 0 * right[:, 1:]], dim=-1)}],
)
mistake(
    "only the last pair turned",
    why="Only the last pair is turned; the features before it are left as they were.",
    look="the first pair: is it ever turned, and is the result kept?",
    pairs=0,
    variants=[{"angles": lambda right: torch.cat([0 * right[:, :-1], right[:, -1:]], dim=-1)}],
)
mistake(
    "the last pair left out",
    why="The last pair is not turned, as when a loop or slice ends too early.",
    look="how many pairs are there, and how many of them do you turn?",
    pairs=0,
    variants=[{"angles": lambda right: torch.cat([right[:, :-1], 0 * right[:, -1:]], dim=-1)}],
)
mistake(
    "pairs that overlap",
    why="Features i and i + 1 are taken for pair i, so the pairs overlap. Pair i should "
    "consist of features 2i and 2i + 1.",
    look="which two features belong to pair 1?",
    pairs=0,
    variants=[lambda x, positions, base=10000: overlapping(x.clone(), positions, base)],
)


def overlapping(x, positions, base):
    for i in range(x.shape[-1] // 2):
        angle = positions / base ** (2 * i / x.shape[-1])
        a, b = x[..., i].clone(), x[..., i + 1].clone()
        x[..., i], x[..., i + 1] = a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()
    return x


mistake(
    "the pairs not flattened",
    pairs=0,
    why="The two features of a pair have a dimension of their own at the end, "
    "as in (…, length, d / 2, 2). The result should have the shape of x.",
    look="how do the last two dimensions become one?",
    together=lambda first, second: torch.stack([first, second], dim=-1),
)
mistake(
    "stacked along another dimension",
    pairs=0,
    why="The two features of a pair are not stacked along a new last "
    "dimension, so flattening mixes the features of different positions.",
    look="the `dim` of any stack or cat: which index should vary fastest?",
    together=lambda first, second: (
        torch.stack([first, second], dim=-3).flatten(-3, -2).reshape(*first.shape[:-1], 2 * first.shape[-1])
    ),
)
mistake(
    "left as complex numbers",
    pairs=0,
    why="The result holds complex numbers, one for each pair. Their real and "
    "imaginary parts should be side by side, as real features.",
    look="which function undoes torch.view_as_complex?",
    together=lambda first, second: torch.complex(first, second),
)
mistake(
    "only the real parts",
    pairs=0,
    why="Only one of the two new features of each pair comes back, once or twice, "
    "as when only the real parts of complex numbers are kept.",
    look="what becomes of the other feature of each pair?",
    together=[lambda first: first, lambda first: interleaved(first, first), lambda second: interleaved(second, second)],
)

# The turn
mistake = exercise.section(hint=2)
mistake(
    "turned backwards",
    pairs=1,
    why="Every pair is turned the wrong way. Perhaps the sine has the wrong sign, or "
    "the matrix of shift_matrix, which is for pairs in the order (sine, cosine), is used as it is.",
    look="after a quarter turn, what should (1, 0) become?",
    turned=lambda a, b, c, s: (a * c + b * s, b * c - a * s),
)
mistake(
    "a sign wrong in the turn",
    pairs=2,
    why="The signs are not those of a rotation: exactly one of the four terms "
    "should be subtracted, and it is one with a sine.",
    look="what should (1, 0) and (0, 1) become after a quarter turn?",
    turned=[
        lambda a, b, c, s: (a * c + b * s, a * s + b * c),
        lambda a, b, c, s: (a * c - b * s, b * c - a * s),
        lambda a, b, c, s: (a * c - b * s, a * s - b * c),
        lambda a, b, c, s: (a * c + b * s, a * s - b * c),
    ],
)
mistake(
    "sine and cosine swapped",
    why="The sines are where the cosines should be, and the other way round. At "
    "position 0, a vector would not stay unchanged.",
    look="what should come out at position 0?",
    turned=lambda a, b, c, s: (a * s - b * c, a * c + b * s),
)
mistake(
    "the two of a pair exchanged",
    pairs=0,
    why="The first and the second feature of each pair have changed "
    "places, either when they are read or when they are put back.",
    look="what should come out at position 0?",
    variants=[
        {"together": lambda first, second: interleaved(second, first)},
        {"split": lambda x: (x[..., 1::2], x[..., 0::2])},
    ],
)
mistake(
    "multiplied instead of turned",
    why="Every feature is multiplied by a cosine, a sine, or their sum or "
    "difference, and its partner is not used. A rotation mixes the two features of a pair.",
    look="after a quarter turn of (1, 0), where should the 1 be?",
    pairs=2,
    turned=[
        lambda a, b, c, s: (a * c, b * c),
        lambda a, b, c, s: (a * c, b * s),
        lambda a, b, c, s: (a * s, b * c),
        lambda a, b, c, s: (a * s, b * s),
        lambda a, b, c, s: (a * (c + s), b * (c + s)),
        lambda a, b, c, s: (a * (c - s), b * (c + s)),
    ],
)
mistake(
    "a term missing",
    pairs=2,
    why="One of the two new features is made from one old feature only, but each needs both.",
    look="the two formulas have two terms each: how many do yours have?",
    turned=[lambda a, b, c, s: (a * c - b * s, b * c), lambda a, b, c, s: (a * c, a * s + b * c)],
)
mistake(
    "the encoding added",
    pairs=0,
    why="The sines and cosines of the positions are added to the vectors, as with a "
    "sinusoidal encoding. Rotary positions turn the vectors instead.",
    look="what should happen to the length of a vector?",
    turned=[lambda a, b, c, s: (a + s, b + c), lambda a, b, c, s: (a + c, b + s)],
)
mistake(
    "nothing turned",
    pairs=0,
    why="The vectors come back unchanged.",
    look="which line uses the angles, and do you return its result?",
    variants=[lambda x, positions, base=10000: x.clone()],
)
mistake(
    "the norm changed",
    pairs=0,
    why="The vectors become longer or shorter: they are also scaled or normalised, but a rotation keeps lengths.",
    look="what should come out if every angle is 0?",
    __call__=[
        lambda right: right / right.norm(dim=-1, keepdim=True),
        lambda right: right * math.sqrt(right.shape[-1]),
        lambda right: right / math.sqrt(right.shape[-1]),
        lambda right: right / math.sqrt(2),
    ],
)
mistake(
    "multiplied by the position",
    pairs=0,
    why="The vectors are multiplied by their positions as well as turned. "
    "If you use complex numbers, their absolute value should be 1, and only their angle should grow with the position.",
    look="if you use torch.polar, what is its first argument for?",
    __call__=lambda right, positions: right * positions[:, None],
)
mistake(
    "turned twice",
    pairs=0,
    why="Every angle is twice what it should be, as when the vectors are turned twice.",
    look="pair 0 at position 1: what is its angle, and how many times is it turned?",
    angles=lambda right: 2 * right,
)
mistake(
    "for small angles only",
    *encoding.SMALL_ANGLES,
    pairs=0,
    cosines_and_sines=[lambda angles: (torch.ones_like(angles), angles), lambda angles: (1 - angles**2 / 2, angles)],
)
mistake(
    "a root without its sign",
    *encoding.ROOT,
    pairs=0,
    cosines_and_sines=[
        lambda angles: (angles.cos(), (1 - angles.cos() ** 2).sqrt()),
        lambda angles: ((1 - angles.sin() ** 2).sqrt(), angles.sin()),
    ],
)
mistake(
    "sines and cosines cut out of the table in halves",
    pairs=0,
    why="The left half of the sinusoidal table is "
    "taken for the sines and the right half for the cosines, but in that table they are interleaved.",
    look="columns 0 and 1 of sinusoidal_encoding: what does each hold?",
    cosines_and_sines=lambda right: interleaved(*right[::-1]).chunk(2, dim=-1)[::-1],
)

# The frequencies
mistake = exercise.section(hint=3)
COMPARE = "compare your frequencies with those of sinusoidal_encoding, and print them."
mistake("the exponent doubled", *encoding.DOUBLED, exponents=lambda d: 2 * evens(d) / d)
mistake("the exponent halved", *encoding.HALVED, exponents=lambda d: evens(d) / 2 / d)
mistake(
    "the exponent from 1 on",
    *encoding.FROM_1,
    pairs=2,
    exponents=[lambda d: (evens(d) + 2) / d, lambda d: (evens(d) + 1) / d],
)
mistake(
    "2i over another number than d",
    pairs=0,
    why="2i is divided by a number close to d, not by d itself, so every pair but the first turns by the wrong angle.",
    look="in the formula, what is 2i divided by?",
    exponents=[lambda d: evens(d) / max(d - 2, 1), lambda d: evens(d) / (d - 1), lambda d: evens(d) / (d + 2)],
)
mistake(
    "the frequency of each feature, not of each pair",
    pairs=0,
    why="The two features of a pair are turned by "
    "different angles, as when every feature has a frequency of its own. That is not a rotation.",
    look="how many frequencies are there for d features?",
    variants=[
        lambda x, positions, base=10000: feature_by_feature(
            x, positions[:, None] / base ** (torch.arange(x.shape[-1]).double() / x.shape[-1])
        )
    ],
)


def feature_by_feature(x, angles):
    return x * angles.cos() + interleaved(-x[..., 1::2], x[..., 0::2]) * angles.sin()


def turned_in_part(x, positions, base, whole, least):
    """The first half of the pairs turned, with the frequencies of the whole vector or of this part."""
    part = max(x.shape[-1] // 4 * 2, least)
    turned = Rotation()(x if whole else x[..., :part], positions, base)
    return torch.cat([turned[..., :part], x[..., part:]], dim=-1)


mistake(
    "only some of the pairs turned",
    pairs=0,
    why="The last features of every vector stay as they are. Some models "
    "turn only part of each head, but in this exercise every pair should turn.",
    look="do the last features of x change at all?",
    variants=[
        lambda x, positions, base=10000, how=how: turned_in_part(x, positions, base, *how)
        for how in ((False, 2), (True, 2), (False, 0))
    ],
)
mistake(
    "the same angle for every pair",
    why="The angle of every pair is the position itself: the frequency is 1 "
    "throughout, but it should fall from pair to pair.",
    look="what should make the angle of the second pair differ from that of the first?",
    frequencies=lambda right: torch.ones_like(right),
)
mistake(
    "the slowest pair first",
    why="The frequencies are in reverse order: the first pair gets the last frequency.",
    look="which features should turn fastest?",
    exponents=lambda right: right.flip(0),
)
mistake(
    "multiplied where it should be divided",
    pairs=0,
    why="The position is multiplied by base ** (2i / d), not "
    "divided by it, so the frequencies grow instead of falling.",
    look="the sign of the exponent: which features should turn slowest?",
    frequencies=lambda exponents, base: base**exponents,
    variants=[
        {
            "frequencies": lambda exponents, base: base ** exponents.float(),
            "angles": lambda places, frequencies: places.float() * frequencies,
        },
        {
            "frequencies": lambda exponents, base: base ** exponents.float(),
            "places": lambda positions: positions[:, None],
        },
    ],
)
mistake(
    "the exponential forgotten",
    pairs=0,
    why="The position is multiplied by the exponent or a fraction of it, or "
    "by the logarithm of the frequency. The base is never raised to a power.",
    look="the line that computes the frequencies: where is the power, or the exp?",
    frequencies=[
        lambda exponents, base: -exponents * math.log(base),
        lambda exponents: exponents,
        lambda exponents, base: exponents / base,
    ],
)
mistake(
    "rounded down by //",
    *encoding.ROUNDED_DOWN,
    pairs=0,
    angles=lambda places, frequencies: places // (1 / frequencies),
)
mistake(
    "base ignored",
    why="The frequencies are those of base 10000, whatever `base` is.",
    look="where does `base` appear in your code?",
    frequencies=lambda step, exponents: step(exponents, 10000),
)


def with_default(number, fixed):
    """The frequencies of another base: always, or where none is asked for."""
    return lambda step, exponents, base: step(exponents, number if fixed or base == 10000 else base)


mistake(
    "another base than 10000",
    pairs=2,
    why="When no base is given, the frequencies are not those of base 10000.",
    look="count the zeros in your base, and check the exponent of the last pair.",
    frequencies=[
        with_default(number, fixed) for number in (1e3, 1e5, 5e5, 1e6, 1e2, 2.0, math.e) for fixed in (False, True)
    ],
)

# The positions and the angles
mistake(
    "positions one too far",
    why="Every vector is turned as if it were one position further on, or one position back.",
    look="how far is position 0 turned?",
    places=[lambda right: right + 1, lambda right: right - 1],
)
mistake(
    "positions counted anew",
    why="The positions are counted up from 0 or 1, in the order given or by size. The "
    "ones passed in may start anywhere, and may leave gaps.",
    look="where does `positions` appear in your code?",
    places=[
        lambda right: torch.arange(len(right)).double()[:, None],
        lambda right: torch.arange(len(right)).double()[:, None] + 1,
        lambda right: right.argsort(0).argsort(0).double(),
    ],
)
mistake(
    "positions counted from the first",
    why="The first position is subtracted from all the positions, so the first vector is never turned.",
    look="should a vector at position 5 depend on which vectors stand before it?",
    places=lambda right: right - right[:1],
)
mistake(
    "positions counted from the smallest",
    pairs=0,
    why="The smallest position is subtracted from all the positions, so the vector there is never turned.",
    look="should a vector at position 5 depend on which other positions there are?",
    places=lambda right: right - right.min(),
)
mistake(
    "only the start of the positions used",
    pairs=0,
    why="The positions are counted up one by one from the first. "
    "The ones passed in may leave gaps and come in any order.",
    look="where does `positions` appear in your code?",
    places=lambda right: right[:1] + torch.arange(len(right)).double()[:, None],
)
mistake(
    "the same angle at every position",
    pairs=2,
    why="All vectors are turned by the same angles: those of positions[0], or those of position 1.",
    look="the shape of your angles: is there one row for each vector?",
    places=[lambda right: right[:1].expand_as(right), lambda right: torch.ones_like(right)],
)
mistake(
    "positions sorted",
    pairs=0,
    why="The positions are sorted or reversed, so they no longer match their vectors.",
    look="which vector does the first position belong to?",
    places=[lambda right: right.sort(dim=0).values, lambda right: right.flip(0)],
)
mistake(
    "fractions cut off",
    why="Positions such as 2.5 become whole numbers: whatever comes after the decimal point is lost.",
    look="every int, long, floor and round, and every table that is indexed by positions.",
    places=[lambda right: right.long().double(), lambda right: right.round()],
)
mistake(
    "a table too short for the positions",
    raises=True,
    pairs=0,
    why="A tensor with only `length` rows is indexed by the positions, but some of them are too large for it.",
    look="do you need a table at all, or can you multiply the positions themselves?",
    places=lambda positions: torch.arange(len(positions)).double()[positions][:, None],
)
mistake(
    "positions squeezed between 0 and 1",
    pairs=0,
    why="The positions are divided by the length or by the largest "
    "position, so each angle depends on the other vectors.",
    look="should a vector at position 5 depend on the other vectors and their positions?",
    places=[lambda right: right / len(right), lambda right: right / right.max()],
)
mistake(
    "position and frequency added",
    pairs=0,
    why="The position and the frequency are added, but the angle is their product.",
    look="the angle at position 0: what should it be?",
    angles=lambda places, frequencies: places + frequencies,
)
mistake(
    "degrees", *encoding.DEGREES, angles=[lambda right: right * (math.pi / 180), lambda right: right * (180 / math.pi)]
)
mistake(
    "multiplied by π",
    *encoding.TIMES_PI,
    pairs=0,
    angles=[lambda right: right * (2 * math.pi), lambda right: right * math.pi],
)
mistake(
    "the angles cut to a wrong turn",
    *encoding.WRONG_TURN,
    pairs=0,
    angles=[lambda right, turn=turn: right % turn for turn in (math.pi, 1, 6.28, 3.14)],
)
mistake(
    "half precision",
    pairs=0,
    why="Half precision, which keeps only two or three digits, is used on the way to "
    "the angles. Far from position 0, sines and cosines are then wrong.",
    look="which dtypes do the positions and the frequencies have?",
    places=lambda right: right.bfloat16().double(),
    angles=[
        lambda places, frequencies: (places.bfloat16() * frequencies.bfloat16()).double(),
        lambda places, frequencies: (places.half() * frequencies.half()).double(),
        lambda right: right.half().double(),
        lambda right: right.bfloat16().double(),
        *(
            lambda places, frequencies, half=half: places.to(half) * frequencies.to(half)
            for half in (torch.bfloat16, torch.half)
        ),
    ],
)
mistake(
    "rounded numbers",
    pairs=0,
    why="The sines and cosines, or the frequencies, have been rounded. Rounding is for display, not for computing.",
    look="every call to `round`.",
    cosines_and_sines=[
        lambda right, decimals=decimals: tuple(one.round(decimals=decimals) for one in right) for decimals in (2, 1, 3)
    ],
    frequencies=[lambda right, decimals=decimals: right.round(decimals=decimals) for decimals in (2, 1, 3)],
)

# The dimensions
mistake(
    "the length dimension turned",
    pairs=0,
    why="The pairs run along the length: neighbouring vectors are turned "
    "together, but it should be neighbouring features of one vector.",
    look="which dimension of x holds the features?",
    variants=[lambda x, positions, base=10000: Rotation()(x.mT, positions, base).mT],
)
mistake(
    "positions along another dimension",
    pairs=0,
    why="The positions run along a leading dimension, such as the "
    "batch or the heads, but they should run along the length.",
    look="the shape (…, length, d): which dimension, counted from the end, is the length?",
    angles=lambda right: right[:, None],
    variants=[lambda x, positions, base=10000: Rotation()(x.transpose(-3, -2), positions, base).transpose(-3, -2)],
)
mistake(
    "positions along the features",
    pairs=0,
    why="The table of angles is transposed: its rows should be positions, and its columns pairs.",
    look="the shape of your angles: is it (length, d / 2)?",
    angles=[lambda right: right.T, lambda right: right.T.reshape(right.shape)],
)
mistake(
    "works with one number of dimensions only",
    pairs=0,
    why="Your code works for only one number of leading dimensions, but the exercise allows any number, even none.",
    look="which lines unpack a fixed number of sizes, or count dimensions from the front?",
    __call__=[
        lambda x, right: next(right for _, _, _ in [x.shape]),
        lambda x, right: next(right for _, _, _, _ in [x.shape]),
    ],
)
mistake(
    "the leading dimensions lost",
    pairs=0,
    why="Only the first of several sequences comes back, or all of them "
    "are joined into one long one. The result should have the shape of x.",
    look="compare the shape of the result with that of x when x has three or more dimensions.",
    __call__=[lambda right: right.flatten(0, -2), lambda right: right.flatten(0, -3)[0] if right.dim() > 2 else right],
)
