"""shift_matrix, of lesson 5: one rotation for each pair of features moves every position on."""

import math
from functools import lru_cache

import numpy as np
import torch

from transformer_lessons import positions
from transformer_lessons.exercises.catalogue import sinusoidal_encoding as encoding
from transformer_lessons.exercises.checker.comparison import alike, close, comparable, difference, numbers
from transformer_lessons.exercises.checker.exercise import Exercise, Steps
from transformer_lessons.exercises.checker.sandbox import name_error


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
    if alike(one, other, exercise.tolerance):
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
    return close(numbers(one) @ encoding, numbers(other) @ encoding, exercise.tolerance)


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
    found = difference(back, wanted, "matrix", exercise.shapes, 0.0, False)
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


exercise = Exercise(
    name="shift_matrix",
    lesson=5,
    title="A shift is a rotation",
    difficulty=3,
    importance=2,
    minutes=15,
    contract="""shift_matrix(offset, d_model) returns a float tensor (d_model, d_model) that moves any
        position on by offset: with encoding = sinusoidal_encoding(length, d_model), encoding[p + offset] equals matrix
        @ encoding[p] for every p. One matrix serves all positions. The offset may be 0 or negative.""",
    stub='''
        def shift_matrix(offset, d_model):
            """The matrix with encoding[p + offset] == matrix @ encoding[p] for every p."""
            raise NotImplementedError''',
    sizes=[
        {"offset": 2, "d_model": 4},
        {"offset": 1, "d_model": 2},
        {"offset": 3, "d_model": 6},
        {"offset": 1, "d_model": 4},
        {"offset": 5, "d_model": 6},
    ],  # small, to show what is wrong
    draw=lambda generator, offset, d_model: (offset, d_model),
    reference=shift,
    names_steps=False,
    returns="matrix",
    shapes={"matrix": "(d_model, d_model)"},
    tolerance=1e-3,
    same=same_shift,
    checks=[backwards, standing_still, far_on],
    symptoms=[what_it_is_not],
    signs=signs_of_a_fit,
    hints=[
        (
            "where to begin",
            "Take one pair, sin(a) and cos(a), where a is the angle of position p. What are sin(a + "
            "b) and cos(a + b) in terms of sin(a), cos(a), sin(b) and cos(b)?",
        ),
        (
            "one pair works, or nearly works",
            "The two formulas give the two rows of a 2 by 2 matrix that multiplies "
            "the column (sin(a), cos(a)). One of its four entries has a minus sign. Which one?",
        ),
        (
            "putting it together",
            "The angle b is offset times the frequency of the pair, 1 / 10000 ** (2i / "
            "d_model). Put one 2 by 2 block for each pair on the diagonal. Everything else is 0.",
        ),
    ],
    solution="""
        import torch

        def shift_matrix(offset, d_model):
            matrix = torch.zeros(d_model, d_model)
            for even in range(0, d_model, 2):
                angle = torch.tensor(offset / 10000 ** (even / d_model))
                sine, cosine = torch.sin(angle), torch.cos(angle)
                matrix[even:even + 2, even:even + 2] = torch.tensor([[cosine, sine], [-sine, cosine]])
            return matrix""",
)


@exercise.right("step by step")
class Shift(Steps):
    def __call__(self, offset, d_model):
        sines, cosines = self.sines_and_cosines(self.angles(offset, self.frequencies(d_model)))
        return self.placed(self.blocks(sines, cosines), d_model)

    def frequencies(self, d_model):
        return 10000 ** -(evens(d_model) / d_model)

    def angles(self, offset, frequencies):
        return offset * frequencies

    def sines_and_cosines(self, angles):
        return angles.sin(), angles.cos()

    def blocks(self, s, c):  # the sines and the cosines
        return as_blocks(c, s, -s, c)

    def placed(self, blocks, d_model):
        return torch.block_diag(*blocks)


# The block
mistake = exercise.section(hint=2)
PARTNER = "sin(a + b) needs sin(a) and cos(a). Where do you get the second from?"
mistake(
    "the rotation the wrong way",
    why="In each pair, the signs of the two sines are swapped, as in the matrix for -offset, which shifts backwards.",
    look="with the sine above the cosine, on which side of the diagonal does the minus belong?",
    blocks=lambda s, c: as_blocks(c, -s, s, c),
)
mistake(
    "sine and cosine exchanged in the block",
    pairs=2,
    why="In the blocks, the sines are where the cosines should "
    "be, and the other way round. With offset 0, such a matrix would not leave a vector unchanged.",
    look="which matrix should offset 0 give, and does yours?",
    blocks=[
        lambda s, c: as_blocks(s, c, -c, s),
        lambda s, c: as_blocks(s, -c, c, s),
        lambda s, c: as_blocks(s, c, c, -s),
        lambda s, c: as_blocks(-s, c, c, s),
        lambda s, c: as_blocks(s, c, c, s),
    ],
)
mistake(
    "a sign wrong in the block",
    pairs=3,
    why="The signs in the blocks are not those of a rotation: a block needs exactly one minus, on one of its sines.",
    look="the formulas of sin(a + b) and cos(a + b): which of the four terms is subtracted?",
    blocks=[
        lambda s, c: as_blocks(c, s, s, c),
        lambda s, c: as_blocks(c, s, s, -c),
        lambda s, c: as_blocks(c, -s, -s, c),
        lambda s, c: as_blocks(-c, s, s, c),
        lambda s, c: as_blocks(c, -s, -s, -c),
    ],
)
mistake(
    "only the cosines",
    why="Only the diagonal is filled, with the cosines, so each feature is made from itself "
    "alone and its partner is not used.",
    look=PARTNER,
    blocks=lambda s, c: as_blocks(c, 0 * s, 0 * s, c),
)
mistake(
    "only the sines",
    pairs=0,
    why="The cosines are missing from each block: there are ones or zeros in their place.",
    look=PARTNER,
    blocks=[lambda s, c: as_blocks(c**0, s, -s, c**0), lambda s, c: as_blocks(0 * c, s, -s, 0 * c)],
)
mistake(
    "half a block",
    why="A sine is missing from each block, so one of the two features of a pair is made without its partner.",
    look="the two formulas have two terms each: how many numbers does a block need?",
    blocks=[
        lambda s, c: as_blocks(c, s, 0 * s, c),
        lambda s, c: as_blocks(c, 0 * s, -s, c),
        lambda s, c: as_blocks(c, 0 * s, s, c),
        lambda s, c: as_blocks(c, -s, 0 * s, c),
    ],
)

# Where the blocks go
mistake = exercise.section(hint=3)
mistake(
    "a root without its sign",
    *encoding.ROOT,
    sines_and_cosines=[
        lambda angles: (angles.sin(), (1 - angles.sin() ** 2).sqrt()),
        lambda angles: ((1 - angles.cos() ** 2).sqrt(), angles.cos()),
        lambda angles: (angles.sin().abs(), angles.cos().abs()),
    ],
)
mistake(
    "for small angles only",
    *encoding.SMALL_ANGLES,
    pairs=0,
    sines_and_cosines=[lambda angles: (angles, torch.ones_like(angles)), lambda angles: (angles, 1 - angles**2 / 2)],
)
mistake(
    "laid out in halves",
    why="The rotations are laid out for an encoding with the sines in its left half and the "
    "cosines in its right half. In sinusoidal_encoding, the two features of a pair are neighbours.",
    look="columns 0 and 1 of the encoding: are they a pair? So which four cells does the first block fill?",
    placed=lambda right: right.unflatten(0, (-1, 2)).unflatten(2, (-1, 2)).permute(1, 0, 3, 2).flatten(2).flatten(0, 1),
)
mistake(
    "the blocks in reverse",
    why="The blocks are in reverse order: the last pair's block is at the top left.",
    look="which features should turn fastest?",
    placed=lambda blocks: torch.block_diag(*blocks.flip(0)),
)
mistake(
    "the blocks on the other diagonal",
    pairs=2,
    why="The blocks run from the top right to the bottom left, so "
    "most features are made from a pair other than their own.",
    look="the first two rows: which features should they use?",
    placed=[lambda right: right.unflatten(1, (-1, 2)).flip(1).flatten(1), lambda right: right.flip(1)],
)
mistake(
    "only the first block",
    pairs=2,
    why="Only the first pair is rotated: the rest of the matrix is zeros or the identity, or is missing.",
    look="the second block: what puts it into the matrix, and which angle does it get?",
    placed=[
        lambda blocks, d_model: torch.block_diag(blocks[0], torch.zeros(d_model - 2, d_model - 2)),
        lambda blocks: blocks[0],
        lambda blocks, d_model: torch.block_diag(blocks[0], torch.eye(d_model - 2)),
    ],
)
mistake(
    "only the last block",
    why="Only the last block is in the matrix: the rest is zeros or the identity, or is missing.",
    look="does each block get a place of its own, in one and the same matrix?",
    placed=[
        lambda blocks, d_model: torch.block_diag(torch.zeros(d_model - 2, d_model - 2), blocks[-1]),
        lambda blocks, d_model: torch.block_diag(torch.eye(d_model - 2), blocks[-1]),
        lambda blocks, d_model: torch.block_diag(blocks[-1], torch.zeros(d_model - 2, d_model - 2)),
        lambda blocks: blocks[-1],
    ],
)


def left_out(count, rest):
    """Only the first count(pairs) blocks; the rest of the diagonal is filled with `rest`."""

    def placed(blocks):
        kept = count(len(blocks))
        return torch.block_diag(*blocks[:kept], rest * torch.eye(2 * (len(blocks) - kept), dtype=blocks.dtype))

    return placed


mistake(
    "blocks left out",
    pairs=0,
    why="One or more blocks are missing, at the end or at the start, as when a loop or "
    "slice ends too early or starts too late.",
    look="the first and the last pair: which block does each of them get?",
    variants=[
        {"placed": left_out(count, rest)}
        for rest in (0.0, 1.0)  # range(0, d_model // 2, 2), range(d_model // 4)
        for count in (lambda pairs: (pairs + 1) // 2, lambda pairs: pairs // 2)
    ],
    placed=[
        lambda blocks: torch.block_diag(*blocks[:-1], 0 * blocks[-1]),
        lambda blocks: torch.block_diag(*blocks[:-1], torch.eye(2, dtype=blocks.dtype)),
        lambda blocks: torch.block_diag(0 * blocks[0], *blocks[1:]),
        lambda blocks: torch.block_diag(torch.eye(2, dtype=blocks.dtype), *blocks[1:]),
    ],
)


def written_over_each_other(blocks, d_model):
    matrix = torch.zeros(d_model, d_model, dtype=blocks.dtype)
    for pair, block in enumerate(blocks):
        matrix[pair : pair + 2, pair : pair + 2] = block
    return matrix


mistake(
    "blocks written over each other",
    pairs=0,
    why="Block i is written to rows and columns i and i + 1, so each block overwrites part of the one before.",
    look="which two rows belong to pair 1?",
    placed=written_over_each_other,
)
mistake(
    "the blocks not put together",
    why="The blocks are left separate, or are only joined end to end. The result "
    "should be a single (d_model, d_model) matrix with the blocks on its diagonal.",
    look="how do several small matrices become one large one, with zeros around them?",
    placed=[
        lambda blocks: blocks,
        lambda blocks: blocks.flatten(0, 1),
        lambda blocks: torch.cat(list(blocks), dim=1),
        lambda blocks: list(blocks),
    ],
)
mistake(
    "the same row everywhere",
    pairs=0,
    why="All the rows are the same. Perhaps they are all the same list, filled again in each iteration of the loop.",
    look="`row = [0, 0]; table = [row] * 2; table[0][0] = 1`: what does the table hold?",
    placed=lambda blocks, d_model: blocks[:, 1].flatten().repeat(d_model, 1),
)
mistake(
    "a list for block_diag",
    pairs=0,
    raises=True,
    why="torch.block_diag takes the blocks one by one, not in a list.",
    look="`f(*blocks)` and `f(blocks)`: what does f get?",
    placed=lambda blocks: torch.block_diag(list(blocks)),
)
mistake(
    "the same block everywhere",
    why="Every pair turns by the same angle, but the frequency should fall from pair "
    "to pair, as it does in the encoding.",
    look="what should make the angle of the second block differ from that of the first?",
    frequencies=lambda d_model: torch.ones(d_model // 2),
)
mistake(
    "added to the identity",
    pairs=0,
    why="The blocks have been added to an identity matrix, but they should stand alone.",
    look="what does the matrix hold before you write into it, and do you write with `=` or `+=`?",
    placed=lambda right, d_model: right + torch.eye(d_model),
)

# The angle
mistake(
    "the offset ignored",
    why="The matrix is the same for every offset: its angles are just the frequencies.",
    look="where does `offset` appear in your code?",
    angles=lambda frequencies: frequencies,
)
mistake(
    "offset times the matrix",
    why="The whole matrix is multiplied by the offset, which makes vectors longer. Only "
    "the angles should grow with the offset.",
    look="two steps are one step taken twice: what does that do to the angle?",
    variants=[
        {"angles": lambda frequencies: frequencies, "__call__": lambda right, offset: offset * right},
        {"__call__": lambda right, offset: offset * right},
    ],
)
mistake(
    "each number to the power of the offset",
    why="Each number in the one-step matrix is raised to the power of "
    "the offset separately: `**` is not a matrix power.",
    look="what does `matrix ** 2` do, and what does `matrix @ matrix` do?",
    variants=[
        {
            "angles": lambda frequencies: frequencies,
            "placed": lambda right: right,
            "__call__": lambda right, offset: right**offset,
        }
    ],
)
mistake(
    "one step too many or too few",
    pairs=2,
    why="The angles are for one position more, or one less, than the offset says.",
    look="try offset 1: which position does your matrix take position 0 to?",
    angles=[
        lambda offset, frequencies: (offset + 1) * frequencies,
        lambda offset, frequencies: (offset - 1) * frequencies,
    ],
)
mistake(
    "the offset divided by the frequency",
    why="The offset is divided by the frequency, not multiplied by it, so later pairs turn faster than earlier ones.",
    look="which features should turn slowest?",
    frequencies=lambda d_model: 10000 ** (evens(d_model) / d_model),
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
mistake("the angles cut to a wrong turn", *encoding.WRONG_TURN, pairs=0, angles=lambda right: right % math.pi)
mistake(
    "offset and frequency added",
    pairs=0,
    why="The frequency is added to the offset, or subtracted from it, but the two should be multiplied.",
    look="by how much should the slowest pair turn in one step?",
    angles=[lambda offset, frequencies: offset + frequencies, lambda offset, frequencies: offset - frequencies],
)

# The frequencies (with base 100 it is the exponent halved)
COMPARE = "compare your frequencies with those of sinusoidal_encoding."
mistake("the exponent doubled", *encoding.DOUBLED, frequencies=lambda d_model: 10000 ** -(2 * evens(d_model) / d_model))
mistake("the exponent halved", *encoding.HALVED, frequencies=lambda d_model: 10000 ** -(evens(d_model) / 2 / d_model))
mistake(
    "the exponent from 1 on",
    *encoding.FROM_1,
    frequencies=[
        lambda d_model: 10000 ** -((evens(d_model) + 2) / d_model),
        lambda d_model: 10000 ** -((evens(d_model) + 1) / d_model),
    ],
)
mistake(
    "2i over another number than d_model",
    pairs=0,
    why="2i is divided by a number close to d_model, not by "
    "d_model itself, so every pair but the first turns by the wrong angle.",
    look=COMPARE,
    frequencies=[
        lambda d_model: 10000 ** -(evens(d_model) / max(d_model - 2, 1)),
        lambda d_model: 10000 ** -(evens(d_model) / (d_model - 1)),
        lambda d_model: 10000 ** -(evens(d_model) / (d_model + 2)),
    ],
)
mistake(
    "another base than 10000",
    why="The frequencies are those of another base than 10000, not those of the encoding.",
    look=COMPARE,
    frequencies=[lambda d_model, base=base: base ** -(evens(d_model) / d_model) for base in (1e3, 1e5, 10.0, math.e)],
)

# Something else
mistake = exercise.section(hint=1)
WRITES = "what does your code write into the matrix?"


def encoded(offset, d_model):
    """The rows of the encoding from offset on, as many as make a square."""
    return positions.sinusoidal_encoding(offset + d_model, d_model)[offset:]


mistake(
    "the identity",
    why="The matrix leaves every vector as it is, or only scales it: nothing shifts.",
    look=WRITES,
    variants=[lambda offset, d_model: torch.eye(d_model), lambda offset, d_model: offset * torch.eye(d_model)],
)
mistake(
    "zeros",
    why="The matrix is zero everywhere. Perhaps nothing has been written into it, or it holds integers, "
    "which cut every sine and cosine down to 0.",
    look=WRITES,
    variants=[lambda offset, d_model: torch.zeros(d_model, d_model)],
)
mistake(
    "the features moved",
    why="The matrix moves the features to other places in the vector. It is the position "
    "that should move on, not the features.",
    look="what happens to the first feature, sin(p), when p grows by offset?",
    variants=[
        lambda offset, d_model: torch.eye(d_model).roll(offset, 0),
        lambda offset, d_model: torch.eye(d_model).roll(offset, 1),
        lambda offset, d_model: torch.from_numpy(np.eye(d_model, k=offset)),
        lambda offset, d_model: torch.from_numpy(np.eye(d_model, k=-offset)),
    ],
)
mistake(
    "the encoding on the diagonal",
    why="The matrix has encoding[offset] on its diagonal, so it multiplies every "
    "feature by a number, but a shift has to mix the two features of a pair.",
    look=PARTNER,
    variants=[lambda offset, d_model: torch.diag(encoded(offset, d_model)[0])],
)
mistake(
    "not right for every position",
    why="The matrix does not work for every position. A matrix made from a single "
    "position, or from too few, may shift those correctly but no others.",
    look="try your matrix on positions 0 and 20.",
    variants=[
        lambda offset, d_model: torch.outer(encoded(offset, d_model)[0], encoded(0, d_model)[0]) / (d_model / 2),
        lambda offset, d_model: torch.outer(encoded(offset, d_model)[0], encoded(0, d_model)[0]),
    ],
)
mistake(
    "the encoding itself",
    why="The result is made of rows of the encoding, or of their products. It does not turn "
    "encoding[p] into encoding[p + offset].",
    look="try your matrix on encoding[0].",
    variants=[
        encoded,
        lambda offset, d_model: encoded(offset, d_model) @ encoded(0, d_model).T,
        lambda offset, d_model: encoded(offset, d_model).T @ encoded(0, d_model),
        lambda offset, d_model: encoded(offset, d_model)[0],
    ],
)


def whole_diagonals(offset, d_model):
    angles = (offset / 10000 ** (evens(d_model) / d_model)).repeat_interleave(2)
    return torch.diag(angles.cos()) + torch.diag(angles.sin()[:-1], 1) - torch.diag(angles.sin()[:-1], -1)


mistake(
    "neighbours of two pairs mixed",
    hint=3,
    why="The sines fill the whole of both diagonals next to the main one, "
    "so they also mix the second feature of a pair with the first feature of the next.",
    look="features 1 and 2: are they a pair?",
    variants=[whole_diagonals],
)


def two_angles(angles, above=0):
    sines, cosines = angles.sin(), angles.cos()
    return torch.block_diag(*as_blocks(cosines[0::2], sines[above::2], -sines[1 - above :: 2], cosines[1::2]))


mistake(
    "two angles in a block",
    hint=3,
    why="There are two different angles in each block, but the two features of a pair share one frequency.",
    look="the frequencies of columns 0 and 1 of the encoding: are they equal?",
    variants=[
        lambda offset, d_model: two_angles(offset / 10000 ** (torch.arange(d_model).double() / d_model)),
        lambda offset, d_model: two_angles(offset / 10000 ** (torch.arange(d_model).double() / d_model), above=1),
        lambda offset, d_model: two_angles(offset / 10000 ** (evens(d_model) / d_model).repeat(2)),
    ],
)
mistake(
    "left as complex numbers",
    hint=2,
    why="The matrix holds complex numbers: a rotation of two features can be "
    "written as one complex number, but the encoding is real.",
    look="which 2 by 2 block does to a pair what a complex number a + bi does?",
    variants=[lambda offset, d_model: torch.diag(torch.exp(1j * offset * 10000 ** -(evens(d_model) / d_model)))],
)
mistake(
    "an integer table",
    hint=3,
    why="The matrix holds integers, which cut every sine and cosine down to a whole number.",
    look="which dtype does the matrix have when it is made?",
    variants=[lambda offset, d_model: shift(offset, d_model).long()],
)
mistake(
    ROUNDED,
    hint=3,
    why="The sines and cosines have been rounded, or are in half precision. Rounding is for "
    "display, not for computing.",
    look="every call to `round` or `half`.",
    variants=[
        *(lambda offset, d_model, digits=digits: shift(offset, d_model).round(decimals=digits) for digits in (2, 1, 3)),
        lambda offset, d_model: shift(offset, d_model).half(),
    ],
)
mistake(
    SIGN_LOST,
    hint=3,
    why="A negative offset gives the matrix of the positive one, so it shifts forwards when it should shift backwards.",
    look=TAKES_AWAY,
    variants=[lambda offset, d_model: shift(abs(offset), d_model)],
)
mistake(
    IGNORED,
    hint=3,
    why="A negative offset gives the identity matrix: nothing shifts, but every position should move back.",
    look=HOW_OFTEN,
    variants=[lambda offset, d_model: shift(max(offset, 0), d_model)],
)
mistake(
    ZEROS,
    hint=3,
    why="A negative offset gives a matrix of zeros, but every position should move back.",
    look=HOW_OFTEN,
    variants=[lambda offset, d_model: (offset >= 0) * shift(offset, d_model)],
)
mistake(
    NOT_FINITE,
    hint=3,
    why="A negative offset gives a matrix that holds NaN or infinity.",
    look=BELOW_0,
    variants=[lambda offset, d_model: shift(torch.tensor(float(offset)).sqrt() ** 2, d_model)],
)
