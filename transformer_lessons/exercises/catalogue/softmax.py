"""softmax, lesson 1: scores become weights."""

import math

import numpy as np

from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal
from transformer_lessons.first_steps import softmax


def draw_scores(generator, shape, far=None, zeros=-1):
    """Scores of unit scale, 0 in column `zeros`; or, where far is not 0, a little nearer to 0 than far * 1000."""
    near = normal(generator, *shape).numpy() * (np.arange(shape[-1]) != zeros)
    far = np.zeros(shape) if far is None else np.array(far)
    return (np.where(far == 0, near, far * (1000 - np.abs(near))),)


def scale_sentence(weights, scores):
    """What the scores were multiplied by, if the weights are the softmax of scores times a number."""
    sums_to_one = np.allclose(weights.sum(-1), 1, atol=1e-4)
    if weights.shape != scores.shape or (weights <= 0).any() or not sums_to_one:
        return None
    found = np.log(weights) - np.log(weights).mean(-1, keepdims=True)
    centred = scores - scores.mean(-1, keepdims=True)
    ratio = (found * centred).sum() / (centred * centred).sum()
    fits = np.allclose(found, ratio * centred, rtol=1e-3, atol=1e-3)
    if not fits or abs(ratio - 1) < 1e-3 or abs(ratio) < 5e-3:
        return None
    return f"This is the softmax of the scores multiplied by {ratio:.2f}; they should not be scaled."


INTEGERS = "an array of integers"


def of_integers(call, scores):
    """Do integer scores give integer weights, as they do in a copy of the scores? An error here tells us nothing."""
    try:
        cut = scores.shape == (3,) and call(np.array([2, 1, 0])).dtype.kind in "iu"
    except Exception:
        return None
    return (INTEGERS, "If the scores are integers, so are the weights.", "the dtype of the result.") if cut else None


exercise = Exercise(
    name="softmax",
    lesson=1,
    title="Scores become weights",
    difficulty=1,
    importance=3,
    minutes=10,
    contract="""softmax(scores) takes a NumPy array with any number of dimensions and returns one of the same shape: the
        exponential of each score, divided by the sum of the exponentials along the last dimension. The result is finite
        for scores as large as 1000 and as small as -1000, and `scores` is left unchanged.""",
    stub='''
        def softmax(scores):
            """Turn scores into weights over the last dimension: none is negative, and each row sums to 1."""
            raise NotImplementedError''',
    sizes=[
        {"shape": (3,)},
        {"shape": (2, 3)},
        {"shape": (3, 3)},
        {"shape": (2, 3, 4)},
        {"shape": (3, 3, 3)},
        {"shape": (2, 3, 5, 4), "zeros": 2},
        {"shape": (4, 1)},
        {"shape": (2,), "far": [1, 1]},
        {"shape": (3,), "far": [1, 0, -1]},
        {"shape": (2,), "far": [-1, -1]},
        {"shape": (3,), "far": [-1, 0, 1]},
        {"shape": (2,), "far": [-0.4, -0.4]},
        {"shape": (3, 4), "far": [[1, 1, 1, 1], [-1, -1, -1, -1], [1, -1, 0, 1]]},
    ],
    draw=draw_scores,
    reference=softmax,
    returns="weights",
    shapes={"weights": "the shape of scores"},
    checks=[of_integers],
    symptoms=[lambda observed, expected, scores: scale_sentence(observed, scores)],
    hints=[
        (
            "the weights of a row",
            "Take a row of three scores and work out its weights by hand. You need three "
            "exponentials, one sum and three divisions. Which numbers went into the sum?",
        ),
        (
            "right for some shapes only",
            "`sum` and `max` drop the dimension that they run over, and NumPy "
            "may then line up the wrong dimensions. Look up `keepdims`.",
        ),
        (
            "large scores, and what is subtracted",
            "If you subtract the same number from all the scores in "
            "a row, the weights stay the same. Which number can you subtract from each row so that no score is "
            "left above 0?",
        ),
    ],
)


@exercise.right("step by step")
class Softmax(Steps):
    def __call__(self, scores):
        return self.handed_over(self.weights(self.exponentials(self.shifted(scores))))

    def shifted(self, scores):
        return scores - scores.max(axis=-1, keepdims=True)

    def exponentials(self, shifted):
        return np.exp(shifted)

    def weights(self, exponentials):
        return exponentials / exponentials.sum(axis=-1, keepdims=True)

    def handed_over(self, weights):
        return weights


# What the mistakes are made of
SUM_ONE_ROW = "add up one row of your weights: what do you get?"
WHICH_DIMENSION = "which dimension holds the scores that compete with each other?"
ZERO_MASKED = (
    "A score of exactly 0 gets no weight, but it should get one: the exponential of 0 is 1.",
    "any `== 0`: which scores does it catch?",
)
WHICH_SUM = "which sum must you divide by for the weights to add up to 1?"
WHICH_NUMBER = "which number must you subtract so that no exponent is above 0?"
WHAT_CHANGES = "what changes the scores before the exponential, and does the exercise ask for it?"
WHICH_FUNCTION = "which function makes every score positive and keeps their order?"
HOW_OFTEN = "how many times does your answer take an exponential?"
NEGATIVE_SCORES = "should a negative score get more weight than a score of 0?"
RATIO = "for scores of 0 and 1, how many times as large as the first weight should the second be?"
BEFORE_RETURN = "what happens to the weights before the `return`?"
ENDS = "the first and last indices of each loop or slice."
PRINT_SHAPES = "print the shape of the result next to that of the scores."


def total(exponentials, axis=-1):
    return exponentials.sum(axis=axis, keepdims=True)


def largest(scores, axis=-1):
    return scores.max(axis=axis, keepdims=True)


def divided(exponentials, axis=-1):
    return exponentials / total(exponentials, axis)


def lowered(scores, axis=-1):
    return scores - largest(scores, axis)


def over(axis, *maxima):
    """The sum over another axis: on its own, and together with the maximum over each of these axes."""
    weights = {"weights": lambda exponentials: divided(exponentials, axis)}
    return [weights, *({**weights, "shifted": lambda scores, axis=axis: lowered(scores, axis)} for axis in maxima)]


def rows(weights):
    return weights.reshape(-1, weights.shape[-1])


def sigmoid(scores):
    return 1 / (1 + np.exp(-scores))


# What the sum runs over
def column_by_column(scores, lower=lambda column: lowered(column, None)):
    columns = [np.exp(lower(scores[:, place])) for place in range(scores.shape[1])]
    return np.stack([divided(column, None) for column in columns], axis=1)


mistake = exercise.section(hint=1)
mistake(
    "sum over the first dimension",
    pairs=2,
    why="The sum runs over the first dimension, down the columns of a table, so the columns sum to 1 instead of the "
    "rows.",
    look="which axis does the sum run over, and what does Python's own `sum` add up in a table?",
    variants=[*over(0, 0), column_by_column, lambda scores: column_by_column(scores, lower=lambda column: column)],
)
mistake(
    "sum over the last dimension but one",
    pairs=2,
    why="The sum runs over the last dimension but one, down the columns, so the columns sum to 1 instead of the rows.",
    look="the last dimension holds the scores that compete with each other. Which number names its axis?",
    variants=over(-2, -2),
)
mistake(
    "axis 1, whatever the number of dimensions",
    pairs=3,
    why="The sum runs over axis 1. That is the last "
    "dimension of a table, but not of an array with more dimensions, and a single row has no axis 1 at all.",
    look="how does NumPy count axes from the end?",
    variants=over(1, 1, None),
)
mistake(
    "sum over everything",
    pairs=2,
    why="A sum runs over the whole array, so all the weights together sum to 1, when each row should.",
    look=SUM_ONE_ROW,
    variants=[*over(None, None), {"weights": lambda right: right / right.sum()}],
)
mistake(
    "one row's sum for all",
    pairs=0,
    why="Every row is divided by the sum of the same row, the first or the last.",
    look="print what each row is divided by.",
    weights=[lambda exponentials, row=row: exponentials / rows(total(exponentials))[row] for row in (0, -1)],
)
mistake(
    "sum over the last two dimensions",
    pairs=2,
    why="The sum runs over the last two dimensions, so each table is "
    "treated as one long row: all its weights together sum to 1.",
    look="how many dimensions should one sum run over?",
    variants=over((-2, -1), (-2, -1)),
)
mistake(
    "a loop over the first dimension",
    why="Each entry along the first dimension is treated as a row, as when a "
    "loop runs over the array. That is right for a table, but the entries of a single row are numbers, and those of an "
    "array with three dimensions are tables.",
    look="what are the entries of `scores`, as in `for entry in scores`, with one, two and three dimensions?",
    variants=[
        lambda scores: np.array([divided(np.exp(row - np.max(row)), None) for row in scores]),
        lambda scores: np.array([row / np.sum(row) for row in np.exp(scores - scores.max())]),
        lambda scores: np.array([np.exp(row) / np.sum(np.exp(row)) for row in scores]),
    ],
)
mistake(
    "more than two dimensions as one row",
    why="Single rows and tables come out right, but in an array with more "
    "dimensions the rows are too long: the whole array, or each entry along its first dimension, is treated as one "
    "row.",
    look="every line that reshapes, loops or looks at the number of dimensions.",
    variants=[
        lambda scores: softmax(scores) if scores.ndim == 2 else softmax(scores.ravel()).reshape(scores.shape),
        lambda scores: softmax(scores.reshape(len(scores) if scores.ndim > 1 else 1, -1)).reshape(scores.shape),
    ],
)


def for_two_dimensions(scores):
    _, _ = scores.shape
    return softmax(scores)


mistake(
    "for tables only",
    hint=2,
    why="A table comes out right, but a single row or an array with three dimensions raises an error.",
    look="which line assumes exactly two dimensions?",
    variants=[
        for_two_dimensions,
        lambda scores: softmax(scores - scores.max(axis=1).reshape(len(scores), 1)),
        lambda scores: np.array(
            [[math.exp(score) / sum(map(math.exp, row)) for score in row] for row in lowered(scores)]
        ),
    ],
)


def for_one_dimension(scores):
    assert scores.ndim == 1
    return softmax(scores)


mistake(
    "for a single row only",
    hint=2,
    why="A single row comes out right, but an array with several rows and columns raises an error.",
    look="which line assumes exactly one dimension?",
    variants=[
        lambda scores: divided(np.array([math.exp(score - scores.max()) for score in scores])),
        lambda scores: np.exp(scores - max(scores)) / sum(np.exp(scores - max(scores))),
        for_one_dimension,
    ],
)
mistake(
    "sum over all dimensions but the last",
    pairs=2,
    why="The sum runs over every dimension except the last, which is the only one it should run over.",
    look=WHICH_DIMENSION,
    weights=lambda exponentials: divided(exponentials, tuple(range(exponentials.ndim - 1))),
    variants=[
        {
            "weights": lambda exponentials: divided(exponentials, tuple(range(exponentials.ndim - 1))),
            "shifted": lambda scores: lowered(scores, None),
        }
    ],
)
mistake(
    "each score by itself",
    why="Every weight is 1. That is what you get when each exponential is divided by "
    "itself; the sum must run over a whole row.",
    look="how many numbers go into each of your sums?",
    variants=[lambda scores: np.ones(scores.shape)],
)
mistake(
    "the sum not cleared between the rows",
    why="Each row is divided by its own sum plus the sums of all the rows "
    "before it, as when a sum is not reset to 0 between the rows.",
    look="what does the sum of the second row start from?",
    weights=lambda exponentials: exponentials / exponentials.sum(-1).cumsum().reshape(*exponentials.shape[:-1], 1),
)
mistake(
    "sum over the first two dimensions",
    pairs=0,
    why="The sum runs over the first two dimensions. In a table, "
    "that adds up everything; in an array with three dimensions, it adds up each column across all the tables; and a "
    "single row has no second dimension at all.",
    look=WHICH_DIMENSION,
    variants=over((0, 1), None),
)
mistake(
    "divided over rows and columns",
    pairs=0,
    why="The exponentials are divided twice, by the sums of their rows "
    "and by the sums of their columns, so a row no longer sums to 1, or is no longer the softmax of its scores.",
    look="how many times do you divide?",
    weights=[lambda right: divided(right, 0), lambda step, exponentials: step(divided(exponentials, 0))],
    variants=[lambda scores: divided(divided(np.exp(lowered(scores, 0)), 0))],
)
mistake(
    "divided by the root of the sum",
    pairs=0,
    why="The exponentials are divided by the square root of their sum.",
    look=SUM_ONE_ROW,
    weights=lambda exponentials: exponentials / np.sqrt(total(exponentials)),
)


def divided_in_turn(exponentials, depth=1):
    """Each place divided by a sum that includes the places already divided; depth: how many indices name a place."""
    result = exponentials.copy()
    for place in np.ndindex(result.shape[:depth]):
        result[place] /= result.sum()
    return result


mistake(
    "the sum changes while it divides",
    why="The sum is computed again after some of the exponentials have been "
    "divided, so the divisor changes along the way.",
    look="is the sum computed once, before the first division?",
    weights=[
        lambda exponentials: np.apply_along_axis(divided_in_turn, -1, exponentials),
        *(lambda exponentials, depth=depth: divided_in_turn(exponentials, depth) for depth in (1, None)),
    ],
    variants=[
        {
            "weights": lambda exponentials, depth=depth: divided_in_turn(exponentials, depth),
            "shifted": lambda scores: lowered(scores, None),
        }
        for depth in (1, None)
    ],
)
mistake(
    "divided by the sum so far",
    pairs=0,
    why="Each exponential is divided by the sum up to itself, not by the sum "
    "of the whole row, as when the division starts while the sum is still growing.",
    look="the first weight of each row is 1: what was the first exponential divided by?",
    weights=lambda exponentials: exponentials / exponentials.cumsum(axis=-1),
)
mistake(
    "a score left out of the sum",
    why="The sum in the denominator leaves out one score of each row, the last or "
    "the first, so the rows sum to more than 1.",
    look="in a row of three scores, which exponentials go into your sum?",
    weights=[
        lambda exponentials: exponentials / exponentials[..., :-1].sum(axis=-1, keepdims=True),
        lambda exponentials: exponentials / exponentials[..., 1:].sum(axis=-1, keepdims=True),
    ],
)
mistake(
    "only one term of the sum",
    pairs=0,
    why="The exponentials are divided by just one of them, the last or the first, not by the sum of them all.",
    look="how many exponentials go into each sum? In a loop, check every `=` and `+=`.",
    weights=[
        lambda exponentials: exponentials / exponentials[..., -1:],
        lambda exponentials: exponentials / exponentials[..., :1],
    ],
)
mistake(
    "each left out of its own sum",
    pairs=0,
    why="Each exponential is divided by the sum of all the others, without itself, so the result can exceed 1.",
    look=WHICH_SUM,
    weights=lambda exponentials: exponentials / (total(exponentials) - exponentials),
)
mistake(
    "multiplied by the sum",
    pairs=0,
    why="The exponentials are multiplied by their sum, not divided by it.",
    look=SUM_ONE_ROW,
    weights=lambda exponentials: exponentials * total(exponentials),
)
mistake(
    "the fraction upside down",
    pairs=0,
    why="The fraction is upside down: each sum is divided by the "
    "exponentials. So the smallest score gets the largest number, and no number is below 1.",
    look="which of the two belongs in the numerator?",
    weights=lambda exponentials: total(exponentials) / exponentials,
)
mistake(
    "the sum subtracted from the exponentials",
    pairs=0,
    why="The sum is subtracted from each exponential, when each exponential should be divided by it.",
    look="should it be `-` or `/`?",
    weights=lambda exponentials: exponentials - total(exponentials),
)
mistake(
    "divided by the product",
    pairs=0,
    why="The exponentials are divided by their product, not by their sum.",
    look=SUM_ONE_ROW,
    weights=lambda exponentials: exponentials / exponentials.prod(axis=-1, keepdims=True),
)
mistake(
    "floor division",
    pairs=0,
    why="Everything after the decimal point is dropped, as by `//`. Nearly every weight is below 1, so it becomes 0.",
    look="any `//`, `floor`, `trunc` or `int`: what does it do to a weight of 0.9?",
    weights=lambda exponentials: exponentials // total(exponentials),
)
mistake(
    INTEGERS,
    why="The weights end up in an array of integers, perhaps because the scores are integers: everything "
    "after the decimal point is lost, and nearly every weight is 0.",
    look="the dtype of the result, and of any array that it is written into.",
    variants=[lambda scores: softmax(scores).astype(int), lambda scores: softmax(scores).astype(scores.dtype)],
)
mistake(
    "transposed, divided, and transposed back",
    hint=2,
    why="`.T` reverses all the dimensions, so transposing, "
    "dividing and transposing back works only for single rows and tables.",
    look="what shape does `.T` give an array with three dimensions?",
    weights=lambda exponentials: (exponentials.T / exponentials.sum(axis=-1)).T,
    variants=[
        {
            "shifted": lambda scores: (scores.T - scores.max(axis=-1)).T,
            "weights": lambda exponentials: (exponentials.T / exponentials.sum(axis=-1)).T,
        }
    ],
)
mistake(
    "transposed, shifted, and transposed back",
    hint=2,
    pairs=0,
    why="`.T` reverses all the dimensions, so "
    "transposing, subtracting the largest scores and transposing back works only for single rows and tables.",
    look="what shape does `.T` give an array with three dimensions?",
    shifted=lambda scores: (scores.T - scores.max(axis=-1)).T,
)
mistake(
    "no keepdims",
    hint=2,
    pairs=4,
    why="A sum or a maximum over the last dimension drops that dimension, so NumPy "
    "lines the result up with the columns instead of the rows. A square table then gives wrong numbers, and most other "
    "shapes raise an error.",
    look="print the shapes of the scores, of the maximum and of the sum, one below the other.",
    weights=lambda exponentials: exponentials / exponentials.sum(axis=-1),
    shifted=lambda scores: scores - scores.max(axis=-1),
    variants=[
        {"weights": lambda exponentials: exponentials / exponentials.sum(axis=-1), "shifted": shifted}
        for shifted in (lambda scores: scores - scores.max(axis=-1), lambda scores: lowered(scores, None))
    ],
)

# What is subtracted
mistake = exercise.section(hint=3)
mistake(
    "nothing subtracted",
    why="The exponential is taken of the scores as they are. But exp(1000) is larger than "
    "any float and exp(-1000) is 0, so for scores of that size the weights are lost.",
    look="what happens to the weights of a row when you add 5 to every score in it?",
    shifted=lambda scores: scores,
    variants=[
        lambda scores: np.exp(scores) / (total(np.exp(scores)) + 1e-9),
        lambda scores: np.nan_to_num(divided(np.exp(scores))),
        lambda scores: divided(np.exp(scores) + 1e-9),
        lambda scores: divided(np.nan_to_num(np.exp(scores))),
        lambda scores: np.exp(scores - np.log(total(np.exp(scores)))),
    ],
)
mistake(
    "the largest of all subtracted",
    pairs=2,
    why="The largest score of the whole array is subtracted. In a row "
    "far below it, every exponential is then 0, and 0 divided by 0 is not a number.",
    look="if one row is near -1000 and another near 1000, what are the exponentials of the first?",
    shifted=lambda scores: lowered(scores, None),
    variants=[{"shifted": lambda scores: lowered(scores, None), "weights": lambda right: np.nan_to_num(right)}],
)
mistake(
    "the columns' largest subtracted",
    pairs=3,
    why="The largest score is taken down the columns, or along another "
    "wrong axis. Different numbers are then subtracted within a row, which changes its weights.",
    look="from which scores must you subtract the same number, if the weights are to stay the same?",
    shifted=[lambda scores, axis=axis: lowered(scores, axis) for axis in (0, -2, 1)],
)
mistake(
    "the mean subtracted",
    pairs=2,
    why="The mean of the scores is subtracted. The largest score can still be far "
    "above it, and then its exponential overflows.",
    look=WHICH_NUMBER,
    shifted=[lambda scores: scores - scores.mean(axis=-1, keepdims=True), lambda scores: scores - scores.mean()],
)
mistake(
    "the first or the last subtracted",
    pairs=0,
    why="The first or the last score of each row is subtracted. Where "
    "another score is far larger, its exponential still overflows.",
    look="try a row that runs from -1000 to 1000, and then the other way round.",
    shifted=[lambda scores: scores - scores[..., :1], lambda scores: scores - scores[..., -1:]],
)
mistake(
    "the sum subtracted",
    why="The sum of the scores is subtracted, so the exponents can be far above 0, or so far "
    "below it that every exponential is 0.",
    look=WHICH_NUMBER,
    shifted=lambda scores: scores - total(scores),
)
mistake(
    "the smallest subtracted",
    pairs=2,
    why="The smallest score is subtracted, so every exponent is 0 or more, and "
    "the exponentials of large ones overflow.",
    look=WHICH_NUMBER,
    shifted=[lambda scores: scores - scores.min(axis=-1, keepdims=True), lambda scores: scores - scores.min()],
)
mistake(
    "the largest absolute value subtracted",
    pairs=1,
    why="The largest absolute value is subtracted. In a row of "
    "scores near -1000 the exponents are then near -2000, so every exponential is 0, and 0 divided by 0 is not a "
    "number.",
    look="try a row whose scores are all near -1000.",
    shifted=lambda scores: scores - largest(np.abs(scores)),
)
mistake(
    "the largest subtracted after the exponential",
    why="The subtraction comes after the exponential. That is too "
    "late to keep the exponentials finite, and it changes the weights.",
    look="which comes first, the subtraction or `exp`?",
    variants=[
        lambda scores: divided(np.exp(scores) - largest(scores)),
        lambda scores: divided(np.exp(scores) - scores.max()),
        lambda scores: divided(lowered(np.exp(scores))),
        lambda scores: np.exp(scores) - largest(scores) / total(np.exp(scores)),
    ],
)
mistake(
    "the largest added",
    why="The largest score of the row is added instead of subtracted, so large exponents "
    "become even larger, and their exponentials overflow.",
    look=WHICH_NUMBER,
    shifted=lambda scores: scores + largest(scores),
)
mistake(
    "divided by the largest",
    pairs=3,
    why="The scores are divided by the largest one, or by the largest absolute "
    "value, which changes the differences between them, and so the weights.",
    look="which operation on all the scores of a row leaves the differences between them unchanged?",
    shifted=[
        lambda scores: scores / largest(scores),
        lambda scores: scores / scores.max(),
        lambda scores: scores / largest(np.abs(scores)),
    ],
)
mistake(
    "the scores clipped",
    pairs=3,
    why="Scores beyond a limit are clipped to it. Nothing overflows, but "
    "differences between scores are lost, so the weights are wrong.",
    look="if you add 1000 to every score of one row, should its weights change?",
    shifted=[
        lambda scores: np.clip(scores, -500, 500),
        lambda scores: np.minimum(scores, 700),
        lambda scores: np.clip(scores - scores.max(), -500, None),
        *(lambda scores, limit=limit: np.clip(scores, -limit, limit) for limit in (10, 20)),
    ],
)

# What is done to the scores
mistake = exercise.section(hint=1)
mistake(
    "standardised first",
    pairs=2,
    why="The scores are divided by their standard deviation first. That makes the "
    "differences between them larger or smaller, so the weights change.",
    look=WHAT_CHANGES,
    shifted=[
        lambda scores: (scores - scores.mean(axis=-1, keepdims=True)) / scores.std(axis=-1, keepdims=True),
        lambda scores: (scores - scores.mean()) / scores.std(),
    ],
)
mistake(
    "a scale that was not asked for",
    pairs=8,
    why="The scores are multiplied or divided by something first; the exercise leaves them as they are.",
    look=WHAT_CHANGES,
    shifted=[
        lambda right, scores: right / scores.shape[-1] ** 0.5,
        lambda right, scores: right / scores.shape[-1],
        *(lambda right, factor=factor: factor * right for factor in (0.5, 2, 0.1, 10, 0.01, 0.001)),
    ],
)
mistake(
    "no exponential",
    pairs=3,
    why="No exponential is taken: the scores, as they are or shifted, are divided by "
    "their sum, and if that is near 0, the results are huge.",
    look=WHICH_FUNCTION,
    exponentials=lambda shifted: shifted,
    variants=[
        {"__call__": lambda self, scores: self.weights(scores)},
        {"__call__": lambda self, scores: self.weights(scores - scores.min(axis=-1, keepdims=True))},
    ],
)
mistake(
    "a norm for the softmax",
    why="The scores themselves are divided by a norm (the root of the sum of their "
    "squares, or the sum of their absolute values), so negative scores stay negative.",
    look=WHICH_FUNCTION,
    variants=[
        lambda scores: scores / np.linalg.norm(scores, axis=-1, keepdims=True),
        lambda scores: scores / total(np.abs(scores)),
    ],
)
mistake(
    "stretched to lie between 0 and 1",
    why="Each row, or the whole array, is rescaled to run from 0 to 1. There "
    "is no exponential, and nothing makes a row sum to 1.",
    look=SUM_ONE_ROW,
    variants=[
        lambda scores: (scores - scores.min(-1, keepdims=True)) / np.ptp(scores, -1, keepdims=True),
        lambda scores: (scores - scores.min()) / np.ptp(scores),
    ],
)
mistake(
    "stretched first",
    pairs=0,
    why="The scores are rescaled to lie between 0 and 1 before the exponential, which "
    "changes the differences between them, and so the weights.",
    look=WHAT_CHANGES,
    shifted=[
        *(
            lambda scores, small=small: (
                (scores - scores.min(-1, keepdims=True)) / (np.ptp(scores, -1, keepdims=True) + small)
            )
            for small in (1e-9, 0.0)
        ),
        lambda scores: (scores - scores.min()) / np.ptp(scores),
    ],
)
mistake(
    "the exponential taken twice",
    pairs=0,
    why="The exponential is taken twice, so this is the softmax of exponentials, not of the scores.",
    look=HOW_OFTEN,
    exponentials=lambda shifted: np.exp(np.exp(shifted)),
    variants=[lambda scores: softmax(np.exp(scores))],
)
mistake(
    "the scores returned",
    why="The scores are returned unchanged.",
    look="what does the `return` line return?",
    variants=[lambda scores: scores.copy()],
)
mistake(
    "rounded scores",
    why="The scores lose their decimals before the exponential, so scores that differ can become equal.",
    look="any `round`, `int` or `//` on the way to the exponential.",
    variants=[
        lambda scores: softmax(scores.round()),
        lambda scores: softmax(np.trunc(scores)),
        lambda scores: softmax(np.floor(scores)),
    ],
)
mistake(
    "raised to a power first",
    why="The scores are raised to a power before the exponential, so large ones grow and small ones shrink.",
    look=WHAT_CHANGES,
    variants=[lambda scores: softmax(scores**3)],
)
mistake(
    "1 minus the weights",
    why="Each weight is subtracted from 1, so the largest score gets the smallest number.",
    look="any `1 -` on the way to the `return`.",
    variants=[lambda scores: 1 - softmax(scores)],
)
mistake(
    "the row reversed",
    why="The weights of each row are in reverse order, so they no longer line up with their scores.",
    look="which operation reverses a row?",
    variants=[lambda scores: softmax(scores)[..., ::-1]],
)
mistake(
    "a hyperbolic tangent for the exponential",
    why="Each score goes through a tanh instead of an exponential, and the tanh of a negative score is negative.",
    look=WHICH_FUNCTION,
    variants=[
        lambda scores: divided(np.tanh(scores)),
        lambda scores: np.tanh(scores),
        lambda scores: divided(np.tanh(lowered(scores))),
    ],
)
mistake(
    "squares for exponentials",
    why="The scores are squared instead of being used as exponents, so a score of -2 "
    "gets as much weight as a score of 2.",
    look=NEGATIVE_SCORES,
    variants=[{"__call__": lambda self, scores: self.weights(scores**2)}],
)
mistake(
    "absolute values for exponentials",
    why="The scores lose their signs and are then divided by their sum, so a score of -2 gets as much weight as a "
    "score of 2.",
    look=NEGATIVE_SCORES,
    variants=[{"__call__": lambda self, scores: self.weights(np.abs(scores))}],
)
mistake(
    "signs lost before the exponential",
    pairs=2,
    why="The scores lose their signs, by `abs` or a square, before "
    "the exponential, so a score of -2 gets as much weight as a score of 2.",
    look=NEGATIVE_SCORES,
    shifted=[lambda step, scores: step(np.abs(scores)), lambda step, scores: step(scores**2)],
)
mistake(
    "negative scores cut to 0",
    pairs=2,
    why="Negative scores are set to 0 and the rest are divided by their sum, "
    "so a negative score gets no weight at all.",
    look=WHICH_FUNCTION,
    variants=[
        {"__call__": lambda self, scores: self.weights(np.maximum(scores, 0))},
        {"__call__": lambda scores: np.maximum(scores, 0) / (total(np.maximum(scores, 0)) + 1e-9)},
    ],
)
mistake(
    "another base",
    pairs=3,
    why="The exponential has a base other than e, so the ratios between the weights are wrong.",
    look="what is exp(1), and what does your code compute in its place?",
    exponentials=[lambda shifted, base=base: base**shifted for base in (2.0, 10.0, 3.0, 2.7, 2.72, 2.718)],
)
mistake(
    "a logarithm for the exponential",
    pairs=0,
    why="The logarithm of the scores is taken instead of their exponential, and a negative number has no logarithm.",
    look="which of the two functions is above 0 for every score?",
    variants=[lambda scores: divided(np.log(scores))],
)
mistake(
    "NaN everywhere",
    pairs=0,
    why="Every weight is NaN (not a number). That happens, for instance, when you take "
    "the logarithm of a number below 0, or divide 0 by 0.",
    look="print what you divide, and what you divide it by.",
    exponentials=lambda shifted: np.log(shifted),
)
mistake(
    "the power the wrong way round",
    why="The scores are raised to the power e, when it is e that should be raised to the power of each score.",
    look="which is the base, and which the exponent?",
    variants=[lambda scores: divided(scores**np.e), lambda scores: divided(np.abs(scores) ** np.e)],
)
mistake(
    "softplus for the exponential",
    why="Each score goes through log(1 + exp(score)) before the division. Above "
    "0, that grows only about as fast as the score, so the ratios between the weights are too small.",
    look=RATIO,
    variants=[lambda scores: divided(np.log1p(np.exp(scores))), lambda scores: divided(np.logaddexp(0, scores))],
)
mistake(
    "divided inside the exponential",
    why="The scores are divided by a sum first, and the exponential is taken of "
    "the result, so nothing makes a row sum to 1.",
    look="where does the bracket of `exp` close?",
    variants=[
        lambda scores: np.exp(scores / total(np.exp(scores))),
        lambda scores: np.exp(lowered(scores) / total(np.exp(lowered(scores)))),
        lambda scores: np.exp(divided(scores)),
    ],
)
mistake(
    "the scores sorted",
    why="The scores are sorted along the way, so the weights no longer line up with the scores you were given.",
    look="which operation changes the order of the numbers?",
    variants=[
        lambda scores: softmax(np.sort(scores, axis=-1)),
        lambda scores: softmax(np.sort(scores, axis=-1))[..., ::-1],
    ],
)
mistake(
    "the exponential minus one",
    why="1 is subtracted from each exponential, which changes the ratios between "
    "them; `np.expm1(x)`, for instance, is exp(x) - 1.",
    look="what do you get for a score of 0, before the division?",
    exponentials=lambda shifted: np.expm1(shifted),
    variants=[lambda scores: divided(np.expm1(scores))],
)
mistake(
    "the sign flipped",
    pairs=3,
    why="The exponents have the wrong sign, so the smallest score gets the largest weight.",
    look="which weight does the largest score of a row get?",
    shifted=[lambda scores: scores.min(axis=-1, keepdims=True) - scores, lambda scores: -scores, lambda right: -right],
)
mistake(
    "a sigmoid of each score",
    why="Each score goes through a sigmoid separately, so nothing makes a row sum to 1.",
    look=SUM_ONE_ROW,
    variants=[sigmoid, lambda scores: sigmoid(lowered(scores))],
)
mistake(
    "sigmoids divided by their sum",
    why="Each score goes through a sigmoid before the division. The rows sum to "
    "1, but the ratios between the weights are not those of the exponentials.",
    look=RATIO,
    variants=[lambda scores: divided(sigmoid(scores))],
)
mistake(
    "a score of 0 taken for masked",
    *ZERO_MASKED,
    pairs=0,
    shifted=lambda right, scores: np.where(scores == 0, -np.inf, right),
)
mistake(
    "only the largest",
    why="The largest score takes all the weight. A softmax gives some weight to every score.",
    look="if two scores differ by a hair, should one of them get everything?",
    variants=[lambda scores: (np.arange(scores.shape[-1]) == scores.argmax(axis=-1)[..., None]).astype(float)],
)

# What the exponentials are divided by
mistake(
    "not divided by the sum",
    pairs=4,
    why="The exponentials are returned without being divided by their sum, so the rows do not sum to 1.",
    look=SUM_ONE_ROW,
    weights=lambda exponentials: exponentials,
    variants=[
        {"weights": lambda exponentials: exponentials, "shifted": lambda scores: scores},
        {"weights": lambda exponentials: exponentials, "shifted": lambda scores: lowered(scores, None)},
        {"weights": lambda exponentials: exponentials / largest(exponentials), "shifted": lambda scores: scores},
    ],
)
mistake(
    "the logarithm of the weights",
    pairs=2,
    why="This is the logarithm of the softmax: every number is negative or 0, and a row does not sum to 1.",
    look="what is the logarithm for, and what would undo it?",
    handed_over=lambda weights: np.log(weights),
    variants=[
        {
            "exponentials": lambda shifted: np.exp(shifted.astype(np.longdouble)),
            "handed_over": lambda weights: np.log(weights).astype(float),
        },
        lambda scores: scores - np.log(total(np.exp(scores))),
        lambda scores: scores - np.log(np.exp(scores).sum()),
    ],
)
mistake(
    "divided by the sum of the scores",
    why="The exponentials are divided by a sum of scores, not by the sum of the exponentials.",
    look=WHICH_SUM,
    variants=[
        lambda scores: np.exp(scores) / total(scores),
        lambda scores: np.exp(lowered(scores)) / total(scores),
        lambda scores: np.exp(lowered(scores)) / total(lowered(scores)),
    ],
)
mistake(
    "shifted in one half of the fraction only",
    why="The scores are shifted only in the numerator or only in the "
    "denominator, so the weights of a row do not sum to 1.",
    look="which scores go into the numerator, and which into the sum?",
    variants=[
        lambda scores: np.exp(lowered(scores)) / total(np.exp(scores)),
        lambda scores: np.exp(scores - scores.mean(axis=-1, keepdims=True)) / total(np.exp(scores)),
        lambda scores: np.exp(scores) / total(np.exp(lowered(scores))),
        lambda scores: np.exp(lowered(scores, None)) / total(np.exp(scores)),
    ],
)
mistake(
    "divided by the mean",
    why="The exponentials are divided by their mean, so each row sums to the number of its scores.",
    look=SUM_ONE_ROW,
    weights=lambda exponentials: exponentials / exponentials.mean(axis=-1, keepdims=True),
)
mistake(
    "divided by a count",
    why="The exponentials are divided by how many scores, rows or tables there are, not by their sum.",
    look=WHICH_SUM,
    weights=[
        lambda exponentials: exponentials / exponentials.shape[-1],
        lambda exponentials: exponentials / len(exponentials),
        lambda exponentials: exponentials / exponentials.size,
    ],
)
mistake(
    "unit length, not unit sum",
    why="The exponentials are divided by the root of the sum of their squares, so it "
    "is the squares of the weights that sum to 1.",
    look=SUM_ONE_ROW,
    weights=lambda exponentials: exponentials / np.linalg.norm(exponentials, axis=-1, keepdims=True),
)
mistake(
    "one more in the sum",
    why="The sum in the denominator contains an extra 1, so the rows sum to less than 1.",
    look=WHICH_SUM,
    weights=lambda exponentials: exponentials / (1 + total(exponentials)),
    variants=[lambda scores: np.exp(scores - np.logaddexp(0, np.logaddexp.reduce(scores, axis=-1, keepdims=True)))],
)
mistake(
    "a small number added to the sum",
    hint=3,
    pairs=3,
    why="A number is added to the sum, perhaps to keep it "
    "above 0, and it is large enough to show: the rows sum to less than 1.",
    look="can a sum of exponentials be 0, once the largest exponent is 0?",
    weights=[
        lambda exponentials, more=more: exponentials / (total(exponentials) + more) for more in (1e-2, 1e-3, 1e-4)
    ],
)
mistake(
    "softmax twice",
    why="The weights go through a second softmax, which makes them more equal.",
    look=HOW_OFTEN,
    variants=[lambda scores: softmax(softmax(scores))],
)

# What is returned
mistake(
    "in percent",
    why="The weights are multiplied by 100, so a row sums to 100, not to 1.",
    look=BEFORE_RETURN,
    handed_over=lambda weights: 100 * weights,
)
mistake(
    "never filled",
    why="The result has the right shape, but it holds only zeros, as if nothing had been written into it.",
    look="does any line write into the result?",
    variants=[lambda scores: np.zeros(scores.shape)],
)
mistake(
    "rounded weights",
    why="The weights are rounded, so the rows may no longer sum to 1. Rounding is for showing, not for computing.",
    look=BEFORE_RETURN,
    handed_over=lambda weights: weights.round(2),
    variants=[lambda scores, places=places: softmax(scores).round(places) for places in (1, 3, 4)],
)
mistake(
    "only the last row",
    why="Only the weights of the last row or table are left, as when each iteration of a loop "
    "throws away or overwrites the result of the one before.",
    look="where does your answer keep the weights of each row?",
    variants=[
        lambda scores: rows(softmax(scores))[-1],
        lambda scores: softmax(scores)[-1] if scores.ndim > 1 else softmax(scores),
        lambda scores: np.zeros(scores.shape) + rows(softmax(scores))[-1],
    ],
)
mistake(
    "only the first row",
    why="Only the first row or table comes back, as when a loop ends in its first "
    "iteration, or the result of one row is used for all.",
    look="where does your answer keep the weights of each row? "
    "And if there is a loop, how far is the `return` indented?",
    variants=[
        lambda scores: rows(softmax(scores))[0],
        lambda scores: softmax(scores)[0] if scores.ndim > 1 else softmax(scores),
        lambda scores: np.zeros(scores.shape) + rows(softmax(scores))[0],
    ],
)
mistake(
    "a column left out",
    pairs=0,
    why="One column of the result, the last or the first, is never filled in or "
    "never divided, as when a loop or slice ends too early or starts too late.",
    look=ENDS,
    variants=[
        lambda scores: softmax(scores) * (np.arange(scores.shape[-1]) < scores.shape[-1] - 1),
        lambda scores: softmax(scores) * (np.arange(scores.shape[-1]) > 0),
    ],
    weights=[
        lambda right, exponentials: np.append(right[..., :-1], exponentials[..., -1:], axis=-1),
        lambda right, exponentials: np.append(exponentials[..., :1], right[..., 1:], axis=-1),
    ],
)
mistake(
    "a row left out",
    why="The first or the last row of the result is 0, as when a loop or slice ends too early or starts too late.",
    look=ENDS,
    variants=[
        lambda scores: np.append(rows(softmax(scores))[:-1], np.zeros(scores.shape[-1])).reshape(scores.shape),
        lambda scores: np.append(np.zeros(scores.shape[-1]), rows(softmax(scores))[1:]).reshape(scores.shape),
    ],
)
mistake(
    "the result left transposed",
    hint=2,
    why="The result has its dimensions swapped: perhaps it was transposed once and never transposed back.",
    look=PRINT_SHAPES,
    variants=[
        lambda scores: softmax(scores).T,
        lambda scores: np.swapaxes(softmax(scores), -1, -2) if scores.ndim > 1 else softmax(scores),
    ],
)
mistake(
    "the scores in one long row",
    why="The array has been flattened into a single row, and its shape is lost.",
    look=PRINT_SHAPES,
    variants=[lambda scores: softmax(scores.ravel()), lambda scores: softmax(scores).ravel()],
)
COLUMNS = (lambda numbers: numbers.reshape(-1, 1), lambda numbers: numbers[:, None])
mistake(
    "one column for all rows",
    hint=2,
    why="The largest scores, or the sums, are made into a column. That fits a "
    "table, but not an array with more dimensions or a single row.",
    look="what shape does that column have for "
    "an array with three dimensions? And how do you keep a dimension, with size 1?",
    shifted=[lambda scores, column=column: scores - column(scores.max(-1)) for column in COLUMNS],
    weights=[lambda exponentials, column=column: exponentials / column(exponentials.sum(-1)) for column in COLUMNS],
    variants=[
        {
            "shifted": lambda scores, column=column: scores - column(scores.max(-1)),
            "weights": lambda exponentials, column=column: exponentials / column(exponentials.sum(-1)),
        }
        for column in COLUMNS
    ],
)
mistake(
    "the rows left in one table",
    hint=2,
    why="An array with more dimensions has been turned into a table of rows and never reshaped back.",
    look=PRINT_SHAPES,
    variants=[lambda scores: rows(softmax(scores))],
)
