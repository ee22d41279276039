"""Lesson 1, self-attention in NumPy: a sequence becomes a sequence of weighted averages of itself."""

import math

import numpy as np
import torch

from transformer_lessons import first_steps
from transformer_lessons.exercises.exercise import Exercise, Steps, normal

# softmax


def draw_scores(generator, shape, far=None):
    """Scores of unit scale; or, where far is not 0, a little nearer to 0 than far * 1000."""
    near = normal(generator, *shape).numpy()
    far = np.zeros(shape) if far is None else np.array(far)
    return (np.where(far == 0, near, far * (1000 - np.abs(near))),)


softmax = Exercise(
    name="softmax", lesson=1, title="Scores become weights", difficulty=1, importance=3, minutes=10,
    contract="""
        softmax(scores), a NumPy array with any number of dimensions, returns an array of the same shape: the
        exponential of each score, divided by the sum of the exponentials along the last dimension. It stays
        finite for scores as large as 1000 and as small as -1000, and leaves `scores` as they were.
        """,
    stub='''
        def softmax(scores):
            """Weights from scores, over the last dimension: none negative, each row summing to 1."""
            raise NotImplementedError
        ''',
    sizes=[
        {"shape": (3,)}, {"shape": (2, 3)}, {"shape": (3, 3)}, {"shape": (2, 3, 4)}, {"shape": (3, 3, 3)},
        {"shape": (2, 3, 5, 4)}, {"shape": (4, 1)},
        {"shape": (2,), "far": [1, 1]}, {"shape": (3,), "far": [1, 0, -1]}, {"shape": (2,), "far": [-1, -1]},
        {"shape": (3,), "far": [-1, 0, 1]},
        {"shape": (2,), "far": [-0.4, -0.4]},
        {"shape": (3, 4), "far": [[1, 1, 1, 1], [-1, -1, -1, -1], [1, -1, 0, 1]]},
    ],
    draw=draw_scores,
    reference=first_steps.softmax,
    symptoms=[lambda observed, expected, scores: scale_sentence(observed, scores)],
    returns="weights", shapes={"weights": "the shape of scores"},
    hints=[
        ("the weights of a row",
         "Take one row of scores by hand: three exponentials, one sum, three divisions. Which numbers went "
         "into the sum?"),
        ("right for some shapes only",
         "Sums and maxima lose the dimension they run over, and NumPy then lines up others. Look up "
         "`keepdims`."),
        ("large scores, and what is subtracted",
         "Adding one number to all the scores of a row changes nothing in its weights. Which number, added "
         "to each row, leaves no exponent above 0?"),
    ],
)


def scale_sentence(weights, scores):
    """By what the scores were multiplied, where the weights are a softmax of multiplied scores."""
    sums_to_one = np.allclose(weights.sum(-1), 1, atol=1e-4)
    if weights.shape != scores.shape or (weights <= 0).any() or not sums_to_one:
        return None
    found = np.log(weights) - np.log(weights).mean(-1, keepdims=True)
    centred = scores - scores.mean(-1, keepdims=True)
    ratio = (found * centred).sum() / (centred * centred).sum()
    fits = np.allclose(found, ratio * centred, rtol=1e-3, atol=1e-3)
    if not fits or abs(ratio - 1) < 1e-3 or abs(ratio) < 5e-3:
        return None
    return f"This is the softmax of the scores multiplied by {ratio:.2f}: nothing should scale them."


@softmax.right("step by step")
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


@softmax.right("row by row")
def row_by_row(scores):
    result = np.zeros(scores.shape)
    for index in np.ndindex(scores.shape[:-1]):
        largest = max(scores[index])
        exponentials = [np.exp(score - largest) for score in scores[index]]
        result[index] = np.array(exponentials) / sum(exponentials)
    return result


@softmax.right("by way of the logarithm")
def by_way_of_the_logarithm(scores):
    return np.exp(scores - np.logaddexp.reduce(scores, axis=-1)[..., None])


@softmax.right("along an axis")
def along_an_axis(scores):
    def one(row):
        return np.exp(row - row.max()) / np.sum(np.exp(row - row.max()))
    return np.apply_along_axis(one, -1, scores)


@softmax.right("PyTorch's own")
def with_pytorch(scores):
    return torch.softmax(torch.from_numpy(scores), dim=-1).numpy()


@softmax.right("as ratios")
def as_ratios(scores):
    with np.errstate(over="ignore"):
        return 1 / np.exp(scores[..., None, :] - scores[..., :, None]).sum(-1)


@softmax.right("in float32")
def in_float32(scores):
    small = np.float32(scores - np.amax(scores, -1, keepdims=True))
    return np.einsum("...i,...->...i", np.exp(small), 1 / np.exp(small).sum(-1))


# softmax: what the sum runs over


@softmax.mistake(
    "sum over the first dimension",
    why="The sum runs over the first dimension, so it is the columns of a table of scores that sum to 1, not"
        " its rows.",
    look="which axis does the sum take, and what does Python's own `sum` do with a table?", hint=1)
class SumOverFirst(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials.sum(axis=0, keepdims=True)


@softmax.mistake("sum over the first dimension")
class SumAndMaximumOverFirst(SumOverFirst):
    def shifted(self, scores):
        return scores - scores.max(axis=0)


@softmax.mistake("sum over the first dimension")
class SumOverFirstMaximumOfAll(SumOverFirst):
    def shifted(self, scores):
        return scores - scores.max()


@softmax.mistake("sum over the first dimension")
def column_by_column(scores):
    weights = np.zeros(scores.shape)
    for column in range(scores.shape[1]):
        exponentials = np.exp(scores[:, column] - scores[:, column].max())
        weights[:, column] = exponentials / exponentials.sum()
    return weights


@softmax.mistake("sum over the first dimension")
def column_by_column_nothing_subtracted(scores):
    weights = np.zeros(scores.shape)
    for column in range(scores.shape[1]):
        weights[:, column] = np.exp(scores[:, column]) / np.exp(scores[:, column]).sum()
    return weights


@softmax.mistake(
    "sum over the last dimension but one",
    why="The sum runs down the columns, over the last dimension but one, so the columns sum to 1, not the "
        "rows.",
    look="the last dimension holds the scores that compete. Which number names its axis?", hint=1)
class SumOverLastButOne(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials.sum(axis=-2, keepdims=True)


@softmax.mistake("sum over the last dimension but one")
class SumAndMaximumOverLastButOne(SumOverLastButOne):
    def shifted(self, scores):
        return scores - scores.max(axis=-2, keepdims=True)


@softmax.mistake("sum over the last dimension but one")
class SumOverLastButOneMaximumOfAll(SumOverLastButOne):
    def shifted(self, scores):
        return scores - scores.max()


@softmax.mistake(
    "axis 1, whatever the number of dimensions",
    why="The sum runs over axis 1. That is the last dimension of a table, but not of an array with more "
        "dimensions, and a single row has no axis 1 at all.",
    look="how does NumPy count axes from the end?", hint=1)
class SumOverAxisOne(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials.sum(axis=1, keepdims=True)


@softmax.mistake("axis 1, whatever the number of dimensions")
class SumAndMaximumOverAxisOne(SumOverAxisOne):
    def shifted(self, scores):
        return scores - scores.max(axis=1, keepdims=True)


@softmax.mistake("axis 1, whatever the number of dimensions")
class SumOverAxisOneMaximumOfAll(SumOverAxisOne):
    def shifted(self, scores):
        return scores - scores.max()


@softmax.mistake(
    "sum over everything",
    why="One sum runs over the whole array: all the weights together sum to 1, where each row should.",
    look="sum one row of your weights.", hint=1)
class SumOverEverything(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials.sum()


@softmax.mistake("sum over everything")
class SumAndMaximumOverEverything(SumOverEverything):
    def shifted(self, scores):
        return scores - scores.max()


@softmax.mistake(
    "sum over the last two dimensions",
    why="Of an array with three dimensions or more, each whole table is taken for one row: its weights sum "
        "to 1 all together.",
    look="an array with three dimensions: how many sums should there be?", hint=1)
class SumOverLastTwo(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials.sum(axis=(-2, -1), keepdims=True)


@softmax.mistake("sum over the last two dimensions")
class SumAndMaximumOverLastTwo(SumOverLastTwo):
    def shifted(self, scores):
        return scores - scores.max(axis=(-2, -1), keepdims=True)


@softmax.mistake(
    "a loop over the first dimension",
    why="The loop takes each entry along the first dimension for a row. That holds for a table only: of a "
        "single row it takes the numbers one by one, of a larger array whole tables.",
    look="what does `for row in scores` give for one, two and three dimensions?", hint=1)
def loop_over_first(scores):
    return np.array([np.exp(row - np.max(row)) / np.sum(np.exp(row - np.max(row))) for row in scores])


@softmax.mistake("a loop over the first dimension")
def loop_over_first_largest_of_all_subtracted(scores):
    return np.array([row / np.sum(row) for row in np.exp(scores - scores.max())])


@softmax.mistake("a loop over the first dimension")
def loop_over_first_nothing_subtracted(scores):
    return np.array([np.exp(row) / np.sum(np.exp(row)) for row in scores])


@softmax.mistake("a loop over the first dimension")
def loop_over_first_but_one_row(scores):
    if scores.ndim == 1:
        return np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    return np.array([loop_over_first_but_one_row(row.ravel()).reshape(row.shape) for row in scores])


@softmax.mistake(
    "more than two dimensions as one row",
    why="Single rows and tables come out right, but of an array with more dimensions all the numbers are "
        "taken for one row: together they sum to 1.",
    look="every `if` that asks for the number of dimensions.", hint=1)
def more_dimensions_as_one_row(scores):
    if scores.ndim == 2:
        return first_steps.softmax(scores)
    return np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()


@softmax.mistake(
    "for tables only",
    why="A table comes out right, but a single row or an array with three dimensions raises an error.",
    look="which line counts on exactly two dimensions?", hint=2)
def for_tables_only(scores):
    _, _ = scores.shape
    return first_steps.softmax(scores)


@softmax.mistake("for tables only")
def for_tables_only_by_reshaping(scores):
    exponentials = np.exp(scores - scores.max(axis=1).reshape(len(scores), 1))
    return exponentials / exponentials.sum(axis=1).reshape(len(scores), 1)


@softmax.mistake("for tables only")
def for_tables_only_by_nested_loops(scores):
    weights = np.zeros(scores.shape)
    for i in range(scores.shape[0]):
        largest = max(scores[i])
        exponentials = [math.exp(score - largest) for score in scores[i]]
        for j in range(scores.shape[1]):
            weights[i, j] = exponentials[j] / sum(exponentials)
    return weights


@softmax.mistake(
    "for a single row only",
    why="A single row comes out right, but an array with more dimensions raises an error.",
    look="which line takes the scores one by one?", hint=2)
def for_a_single_row_only(scores):
    exponentials = [math.exp(score - scores.max()) for score in scores]
    return np.array(exponentials) / sum(exponentials)


@softmax.mistake("for a single row only")
def for_a_single_row_by_builtins(scores):
    largest = max(scores)
    return np.exp(scores - largest) / sum(np.exp(scores - largest))


@softmax.mistake("for a single row only")
def for_a_single_row_by_assertion(scores):
    assert scores.ndim == 1
    return first_steps.softmax(scores)


@softmax.mistake(
    "sum over all dimensions but the last",
    why="The sum runs over every dimension except the last, which is the one that it should run over.",
    look="which dimension holds the scores that compete?", hint=1)
class SumOverAllButTheLast(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials.sum(axis=tuple(range(exponentials.ndim - 1)))


@softmax.mistake("sum over all dimensions but the last")
class SumOverAllButTheLastMaximumOfAll(SumOverAllButTheLast):
    def shifted(self, scores):
        return scores - scores.max()


@softmax.mistake(
    "each score by itself",
    why="The sum runs over one score at a time, so every score is divided by itself and every weight is 1.",
    look="how many numbers go into each of your sums?", hint=1)
def each_score_by_itself(scores):
    return np.ones(scores.shape)


@softmax.mistake(
    "the sum not cleared between the rows",
    why="The sum of one row is still there when the next one is added: later rows are divided by too much.",
    look="where in the loop does the sum start from 0?", hint=1)
class SumNotCleared(Softmax):
    def weights(self, exponentials):
        rows = exponentials.reshape(-1, exponentials.shape[-1])
        return (rows / rows.sum(axis=-1, keepdims=True).cumsum(axis=0)).reshape(exponentials.shape)


@softmax.mistake(
    "sum over the first two dimensions",
    why="The sum runs over the first two dimensions: over everything in a table, down each column in an "
        "array with three dimensions, and a single row has no second one.",
    look="which dimension holds the scores that compete?", hint=1, pairs=False)
class SumOverFirstTwo(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials.sum(axis=(0, 1))


@softmax.mistake("sum over the first two dimensions", pairs=False)
class SumOverFirstTwoMaximumOfAll(SumOverFirstTwo):
    def shifted(self, scores):
        return scores - scores.max()


@softmax.mistake(
    "divided over rows and columns",
    why="The exponentials are divided twice, by the sums of the rows and by those of the columns: after the "
        "second division the first ones no longer sum to 1, or are no longer those of the scores.",
    look="how many divisions are there?", hint=1, pairs=False)
class RowsThenColumns(Softmax):
    def weights(self, exponentials):
        rows = super().weights(exponentials)
        return rows / rows.sum(axis=0, keepdims=True)


@softmax.mistake("divided over rows and columns", pairs=False)
class ColumnsThenRows(Softmax):
    def weights(self, exponentials):
        return super().weights(exponentials / exponentials.sum(axis=0, keepdims=True))


@softmax.mistake("divided over rows and columns")
def softmax_of_columns_then_rows_divided(scores):
    exponentials = np.exp(scores - scores.max(axis=0, keepdims=True))
    return Softmax().weights(exponentials / exponentials.sum(axis=0, keepdims=True))


@softmax.mistake(
    "divided by the root of the sum",
    why="The exponentials are divided by the square root of their sum.",
    look="sum one row of your weights.", hint=1, pairs=False)
class DividedByRootOfSum(Softmax):
    def weights(self, exponentials):
        return exponentials / np.sqrt(exponentials.sum(axis=-1, keepdims=True))


@softmax.mistake(
    "the sum changes while it divides",
    why="The sum is taken again after some of the exponentials have been divided already, so each part is "
        "divided by another sum.",
    look="is the sum computed once, before the first division?", hint=1)
class SumChangesInTheRow(Softmax):
    def weights(self, exponentials):
        result = exponentials.copy()
        for row in result.reshape(-1, result.shape[-1]):
            for place in range(len(row)):
                row[place] /= row.sum()
        return result


@softmax.mistake("the sum changes while it divides", pairs=False)
class SumChangesInTheTable(Softmax):
    def weights(self, exponentials):
        result = exponentials.copy()
        for place in range(len(result)):
            result[place] = result[place] / result.sum()
        return result


@softmax.mistake("the sum changes while it divides", pairs=False)
class SumChangesInTheTableMaximumOfAll(SumChangesInTheTable):
    def shifted(self, scores):
        return scores - scores.max()


@softmax.mistake("the sum changes while it divides", pairs=False)
class SumChangesEverywhere(Softmax):
    def weights(self, exponentials):
        result = exponentials.copy()
        for index in np.ndindex(result.shape):
            result[index] /= result.sum()
        return result


@softmax.mistake("the sum changes while it divides", pairs=False)
class SumChangesEverywhereMaximumOfAll(SumChangesEverywhere):
    def shifted(self, scores):
        return scores - scores.max()


@softmax.mistake(
    "divided by the sum so far",
    why="Each exponential is divided while the sum is still growing: by what has been added up to there, not "
        "by the sum of the whole row.",
    look="where does the loop that adds end, and where does the one that divides begin?", hint=1, pairs=False)
class SumSoFar(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials.cumsum(axis=-1)


@softmax.mistake(
    "a score left out of the sum",
    why="The sum below the line leaves out one score of each row, the last or the first, so the rows sum to "
        "more than 1.",
    look="the first and the last turn of the loop, or the slice, that makes the sum.", hint=1)
class LastLeftOutOfTheSum(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials[..., :-1].sum(axis=-1, keepdims=True)


@softmax.mistake("a score left out of the sum", pairs=False)
class FirstLeftOutOfTheSum(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials[..., 1:].sum(axis=-1, keepdims=True)


@softmax.mistake(
    "only one term of the sum",
    why="The exponentials are divided by a single one of them, the last or the first: nothing has been added "
        "up.",
    look="`=` or `+=`?", hint=1, pairs=False)
class OnlyTheLastOfTheSum(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials[..., -1:]


@softmax.mistake("only one term of the sum")
class OnlyTheFirstOfTheSum(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials[..., :1]


@softmax.mistake(
    "each left out of its own sum",
    why="Each exponential is divided by the sum of the others, without itself: a ratio of one to the rest, "
        "which can be above 1.",
    look="which numbers must add up to what, so that their parts add up to 1?", hint=1, pairs=False)
class LeftOutOfItsOwnSum(Softmax):
    def weights(self, exponentials):
        return exponentials / (exponentials.sum(axis=-1, keepdims=True) - exponentials)


@softmax.mistake(
    "multiplied by the sum",
    why="The exponentials are multiplied by their sum, where they should be divided by it.",
    look="sum one row of your weights.", hint=1, pairs=False)
class MultipliedBySum(Softmax):
    def weights(self, exponentials):
        return exponentials * exponentials.sum(axis=-1, keepdims=True)


@softmax.mistake(
    "the fraction upside down",
    why="The sum is divided by each exponential, not each exponential by the sum: the smallest score gets "
        "the largest number, and none is below 1.",
    look="which of the two stands above the line?", hint=1, pairs=False)
class UpsideDown(Softmax):
    def weights(self, exponentials):
        return exponentials.sum(axis=-1, keepdims=True) / exponentials


@softmax.mistake(
    "the sum taken off, not divided by",
    why="The sum of the exponentials is subtracted from each, where each should be divided by it.",
    look="`-` or `/`?", hint=1, pairs=False)
class SumTakenOff(Softmax):
    def weights(self, exponentials):
        return exponentials - exponentials.sum(axis=-1, keepdims=True)


@softmax.mistake(
    "divided by the product",
    why="The exponentials are divided by their product, not by their sum.",
    look="sum one row of your weights.", hint=1, pairs=False)
class DividedByProduct(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials.prod(axis=-1, keepdims=True)


@softmax.mistake(
    "floor division",
    why="`//` drops everything behind the point, and nearly every weight is below 1: what is left is 0.",
    look="which of Python's two divisions keeps the decimals?", hint=1, pairs=False)
class FloorDivision(Softmax):
    def weights(self, exponentials):
        return exponentials // exponentials.sum(axis=-1, keepdims=True)


@softmax.mistake(
    "an array of integers",
    why="The weights end up in an array that holds integers: everything behind the point is lost, and "
        "nearly every weight is 0.",
    look="the dtype of the array that the result is written into.", hint=1)
def array_of_integers(scores):
    return first_steps.softmax(scores).astype(int)


@softmax.mistake(
    "no keepdims",
    why="A sum or a maximum over the last dimension loses that dimension, so NumPy lines it up with the "
        "columns, not with the rows: a square table gives wrong numbers, most others an error.",
    look="print the shapes of the scores, of the maximum and of the sum, one below the other.", hint=2)
class NoKeepdims(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials.sum(axis=-1)


@softmax.mistake("no keepdims")
class NoKeepdimsForTheMaximum(Softmax):
    def shifted(self, scores):
        return scores - scores.max(axis=-1)


@softmax.mistake("no keepdims")
class NoKeepdimsForEither(NoKeepdims, NoKeepdimsForTheMaximum):
    pass


@softmax.mistake("no keepdims")
class NoKeepdimsMaximumOfAll(NoKeepdims):
    def shifted(self, scores):
        return scores - scores.max()


# softmax: what is subtracted


@softmax.mistake(
    "nothing subtracted",
    why="The exponentials are taken of the scores as they are: exp(1000) is larger than any float, "
        "exp(-1000) is 0, and what is divided then is no number.",
    look="what changes in the weights when 5 is added to every score of a row?", hint=3)
class NothingSubtracted(Softmax):
    def shifted(self, scores):
        return scores


@softmax.mistake("nothing subtracted")
def nothing_subtracted_but_an_epsilon(scores):
    exponentials = np.exp(scores)
    return exponentials / (exponentials.sum(axis=-1, keepdims=True) + 1e-9)


@softmax.mistake("nothing subtracted")
def nothing_subtracted_and_nan_replaced(scores):
    return np.nan_to_num(NothingSubtracted()(scores))


@softmax.mistake("nothing subtracted")
def nothing_subtracted_but_an_epsilon_everywhere(scores):
    return NothingSubtracted().weights(np.exp(scores) + 1e-9)


@softmax.mistake("nothing subtracted")
def nothing_subtracted_and_infinity_replaced(scores):
    return NothingSubtracted().weights(np.nan_to_num(np.exp(scores)))


@softmax.mistake(
    "the largest of all subtracted",
    why="The largest score of the whole array is subtracted. A row far below it then has only exponentials "
        "of 0, and 0 divided by 0 is no number.",
    look="a row near -1000 beside a row near 1000: what is left of its exponentials?", hint=3)
class LargestOfAllSubtracted(Softmax):
    def shifted(self, scores):
        return scores - scores.max()


@softmax.mistake("the largest of all subtracted")
class LargestOfAllSubtractedAndNanReplaced(LargestOfAllSubtracted):
    def weights(self, exponentials):
        return np.nan_to_num(super().weights(exponentials))


@softmax.mistake(
    "the columns' largest subtracted",
    why="From each column its own largest score is subtracted. Within a row, different numbers are then "
        "taken off, and that changes the weights.",
    look="which scores must all lose the same amount, so that nothing changes?", hint=3)
class ColumnsLargestSubtracted(Softmax):
    def shifted(self, scores):
        return scores - scores.max(axis=0, keepdims=True)


@softmax.mistake("the columns' largest subtracted")
class LastButOneLargestSubtracted(Softmax):
    def shifted(self, scores):
        return scores - scores.max(axis=-2, keepdims=True)


@softmax.mistake("the columns' largest subtracted")
class AxisOneLargestSubtracted(Softmax):
    def shifted(self, scores):
        return scores - scores.max(axis=1, keepdims=True)


@softmax.mistake(
    "the mean subtracted",
    why="The mean of the scores is subtracted. The largest can still be far above it, and its exponential "
        "overflows.",
    look="which number makes sure that no exponent is above 0?", hint=3)
class MeanSubtracted(Softmax):
    def shifted(self, scores):
        return scores - scores.mean(axis=-1, keepdims=True)


@softmax.mistake("the mean subtracted")
class MeanOfAllSubtracted(Softmax):
    def shifted(self, scores):
        return scores - scores.mean()


@softmax.mistake(
    "the first or the last subtracted",
    why="From each row its first score is subtracted, or its last: where another one is far larger, the "
        "exponential still overflows.",
    look="a row that starts with -1000 and ends with 1000, or the other way round.", hint=3, pairs=False)
class FirstSubtracted(Softmax):
    def shifted(self, scores):
        return scores - scores[..., :1]


@softmax.mistake("the first or the last subtracted")
class LastSubtracted(Softmax):
    def shifted(self, scores):
        return scores - scores[..., -1:]


@softmax.mistake(
    "the sum subtracted",
    why="The sum of the scores is subtracted: exponents then lie far above 0, or so far below it that every "
        "exponential is 0.",
    look="which number makes sure that no exponent is above 0?", hint=3)
class SumSubtracted(Softmax):
    def shifted(self, scores):
        return scores - scores.sum(axis=-1, keepdims=True)


@softmax.mistake(
    "the smallest subtracted",
    why="The smallest score is subtracted, so every exponent is 0 or above, and large ones overflow.",
    look="which number makes sure that no exponent is above 0?", hint=3)
class SmallestSubtracted(Softmax):
    def shifted(self, scores):
        return scores - scores.min(axis=-1, keepdims=True)


@softmax.mistake("the smallest subtracted")
class SmallestOfAllSubtracted(Softmax):
    def shifted(self, scores):
        return scores - scores.min()


@softmax.mistake(
    "the largest absolute value subtracted",
    why="What is subtracted is the largest score without its sign. In a row near -1000 the exponents then "
        "come near -2000, every exponential is 0, and 0 divided by 0 is no number.",
    look="a row of scores that are all near -1000.", hint=3)
class LargestAbsoluteSubtracted(Softmax):
    def shifted(self, scores):
        return scores - np.abs(scores).max(axis=-1, keepdims=True)


@softmax.mistake("the largest absolute value subtracted")
class LargestAbsoluteOfAllSubtracted(Softmax):
    def shifted(self, scores):
        return scores - np.abs(scores).max()


@softmax.mistake(
    "the largest subtracted after the exponential",
    why="The largest score is subtracted from the exponentials, not from the scores: too late to keep them "
        "finite, and it changes the weights.",
    look="which comes first, the subtraction or `exp`?", hint=3)
def subtracted_afterwards(scores):
    return Softmax().weights(np.exp(scores) - scores.max(axis=-1, keepdims=True))


@softmax.mistake("the largest subtracted after the exponential")
def subtracted_afterwards_of_all(scores):
    return Softmax().weights(np.exp(scores) - scores.max())


@softmax.mistake("the largest subtracted after the exponential")
def exponential_subtracted_afterwards(scores):
    return Softmax().weights(np.exp(scores) - np.exp(scores.max(axis=-1, keepdims=True)))


@softmax.mistake("the largest subtracted after the exponential")
def subtracted_afterwards_and_only_that_divided(scores):
    return np.exp(scores) - scores.max(axis=-1, keepdims=True) / np.exp(scores).sum(axis=-1, keepdims=True)


@softmax.mistake(
    "the largest added",
    why="The largest score of the row is added, where it should be taken off: large exponents grow, and "
        "overflow.",
    look="which number makes sure that no exponent is above 0?", hint=3)
class LargestAdded(Softmax):
    def shifted(self, scores):
        return scores + scores.max(axis=-1, keepdims=True)


@softmax.mistake(
    "divided by the largest",
    why="The scores are divided by the largest one, which changes their differences, and so the weights.",
    look="which operation on all scores of a row leaves their differences as they are?", hint=3)
class DividedByLargest(Softmax):
    def shifted(self, scores):
        return scores / scores.max(axis=-1, keepdims=True)


@softmax.mistake("divided by the largest")
class DividedByLargestOfAll(Softmax):
    def shifted(self, scores):
        return scores / scores.max()


@softmax.mistake("divided by the largest")
class DividedByLargestAbsolute(Softmax):
    def shifted(self, scores):
        return scores / np.abs(scores).max(axis=-1, keepdims=True)


@softmax.mistake(
    "the scores clipped",
    why="The scores are cut off at a limit, so that 1000 and 999 become equal. Nothing overflows, but the "
        "weights are others.",
    look="what should the weights of 1000 and 999 be, if those of 1 and 0 are 0.73 and 0.27?", hint=3)
class Clipped(Softmax):
    def shifted(self, scores):
        return np.clip(scores, -500, 500)


@softmax.mistake("the scores clipped", pairs=False)
class ClippedAtHundred(Softmax):
    limit = 100

    def shifted(self, scores):
        return np.clip(scores, -self.limit, self.limit)


for limit in (10, 20, 30, 50, 88):
    softmax.mistake("the scores clipped", pairs=False)(
        type("ClippedAt", (ClippedAtHundred,), {"limit": limit}))


@softmax.mistake("the scores clipped")
class ClippedAbove(Softmax):
    def shifted(self, scores):
        return np.minimum(scores, 700)


@softmax.mistake("the scores clipped")
class ShiftedAndClipped(Softmax):
    def shifted(self, scores):
        return np.clip(scores - scores.max(), -500, None)


@softmax.mistake(
    "standardised first",
    why="The scores are divided by their standard deviation first: differences grow or shrink, and with them"
        " the weights.",
    look="does the contract speak of anything but exponentials and a sum?", hint=1)
class Standardised(Softmax):
    def shifted(self, scores):
        with np.errstate(all="ignore"):
            return (scores - scores.mean(axis=-1, keepdims=True)) / scores.std(axis=-1, keepdims=True)


@softmax.mistake("standardised first")
class StandardisedOverAll(Softmax):
    def shifted(self, scores):
        return (scores - scores.mean()) / scores.std()


@softmax.mistake(
    "a scale that was not asked for",
    why="The scores are multiplied or divided by something before the exponential. The contract leaves them "
        "as they are.",
    look="which operation comes first in your answer, and who asked for it?", hint=1)
class Scaled(Softmax):
    def shifted(self, scores):
        return super().shifted(scores) / scores.shape[-1] ** 0.5


@softmax.mistake("a scale that was not asked for")
class DividedByLength(Softmax):
    def shifted(self, scores):
        return super().shifted(scores) / scores.shape[-1]


def scaled_by(factor):
    return type("ScaledBy", (Softmax,), {"shifted": lambda self, scores: factor * Softmax().shifted(scores)})


for factor in (0.5, 2, 0.1, 10, 0.01, 0.001):
    softmax.mistake("a scale that was not asked for")(scaled_by(factor))


# softmax: what becomes of the scores


@softmax.mistake(
    "no exponential",
    why="The scores themselves are divided by their sum. A negative score gives a negative weight, and a sum"
        " near 0 blows everything up.",
    look="which function makes every score positive, and keeps their order?", hint=1)
class NoExponential(Softmax):
    def __call__(self, scores):
        return self.weights(scores)


@softmax.mistake("no exponential")
class NoExponentialButShifted(Softmax):
    def exponentials(self, shifted):
        return shifted


@softmax.mistake("no exponential")
class NoExponentialButShiftedUp(Softmax):
    def __call__(self, scores):
        return self.weights(scores - scores.min(axis=-1, keepdims=True))


@softmax.mistake(
    "a norm for the softmax",
    why="The scores themselves are divided by their norm, a sum of squares or of absolute values: negative "
        "ones stay negative.",
    look="which function makes every score positive, and keeps their order?", hint=1)
def divided_by_their_length(scores):
    return scores / np.linalg.norm(scores, axis=-1, keepdims=True)


@softmax.mistake("a norm for the softmax")
def divided_by_their_absolute_sum(scores):
    return scores / np.abs(scores).sum(axis=-1, keepdims=True)


@softmax.mistake(
    "stretched to lie between 0 and 1",
    why="The smallest score of a row becomes 0 and the largest 1: the row does not sum to 1, and there is no"
        " exponential.",
    look="sum one row of your weights.", hint=1)
def stretched(scores):
    low, high = scores.min(axis=-1, keepdims=True), scores.max(axis=-1, keepdims=True)
    return (scores - low) / (high - low)


@softmax.mistake(
    "stretched first",
    why="The scores of a row are stretched to lie between 0 and 1 before the exponential: their differences "
        "change, and with them the weights.",
    look="does the contract speak of anything but exponentials and a sum?", hint=1, pairs=False)
class StretchedFirst(Softmax):
    def shifted(self, scores):
        low, high = scores.min(axis=-1, keepdims=True), scores.max(axis=-1, keepdims=True)
        return (scores - low) / (high - low + 1e-9)


@softmax.mistake("stretched first", pairs=False)
class StretchedFirstOverAll(Softmax):
    def shifted(self, scores):
        return (scores - scores.min()) / (scores.max() - scores.min())


@softmax.mistake(
    "the exponential taken twice",
    why="The exponential is taken of the exponentials, so the largest score gets nearly everything, or the "
        "numbers overflow.",
    look="how many times does your answer call an exponential on its way?", hint=1, pairs=False)
class ExponentialTwice(Softmax):
    def exponentials(self, shifted):
        return np.exp(np.exp(shifted))


@softmax.mistake("the exponential taken twice")
def softmax_of_exponentials(scores):
    return first_steps.softmax(np.exp(scores))


@softmax.mistake(
    "the scores returned",
    why="What comes back are the scores, as they came.",
    look="the name in the `return` line.", hint=1)
def scores_returned(scores):
    return scores.copy()


@softmax.mistake("stretched to lie between 0 and 1")
def stretched_over_all(scores):
    return (scores - scores.min()) / (scores.max() - scores.min())


@softmax.mistake(
    "rounded scores",
    why="The scores lose their decimals before the exponential, so scores that differ become equal.",
    look="`round`, `int` and `//` on the way to the exponential.", hint=1)
def scores_rounded(scores):
    return first_steps.softmax(scores.round())


@softmax.mistake("rounded scores")
def scores_cut(scores):
    return first_steps.softmax(np.trunc(scores))


@softmax.mistake("rounded scores")
def scores_floored(scores):
    return first_steps.softmax(np.floor(scores))


@softmax.mistake(
    "raised to a power first",
    why="The scores are raised to a power before the exponential: large ones grow, small ones shrink.",
    look="does the contract speak of anything but exponentials and a sum?", hint=1)
def cubed(scores):
    return first_steps.softmax(scores ** 3)


@softmax.mistake(
    "1 minus the weights",
    why="Each weight is taken from 1: the largest score gets the smallest number, and a row does not sum to "
        "1.",
    look="every `1 -` on the way to the `return`.", hint=1)
def one_minus(scores):
    return 1 - first_steps.softmax(scores)


@softmax.mistake(
    "the row reversed",
    why="The weights of each row come in the opposite order, so none stands in the place of its score.",
    look="which operation turns a row round?", hint=1)
def row_reversed(scores):
    return first_steps.softmax(scores)[..., ::-1]


@softmax.mistake(
    "a hyperbolic tangent for the exponential",
    why="Each score goes through a tanh, where an exponential is asked for: negative scores stay negative.",
    look="which function makes every score positive, and keeps their order?", hint=1)
def tangents(scores):
    return Softmax().weights(np.tanh(scores))


@softmax.mistake("a hyperbolic tangent for the exponential")
def tangents_alone(scores):
    return np.tanh(scores)


@softmax.mistake(
    "squares for exponentials",
    why="The scores are squared, not raised into an exponent: a score of -2 gets as much weight as one of 2.",
    look="should a negative score get more weight than a score of 0?", hint=1)
class Squares(Softmax):
    def __call__(self, scores):
        return self.weights(scores ** 2)


@softmax.mistake(
    "absolute values for exponentials",
    why="The scores lose their signs and are then divided by their sum: a score of -2 gets as much weight as"
        " one of 2.",
    look="should a negative score get more weight than a score of 0?", hint=1)
class AbsoluteValues(Softmax):
    def __call__(self, scores):
        return self.weights(np.abs(scores))


@softmax.mistake(
    "signs lost before the exponential",
    why="The scores lose their signs, by `abs` or a square, before the exponential: a score of -2 gets as "
        "much weight as one of 2.",
    look="should a negative score get more weight than a score of 0?", hint=1)
class SignsLost(Softmax):
    def shifted(self, scores):
        return super().shifted(np.abs(scores))


@softmax.mistake("signs lost before the exponential")
class Squared(Softmax):
    def shifted(self, scores):
        return super().shifted(scores ** 2)


@softmax.mistake(
    "negative scores cut to 0",
    why="Negative scores become 0 and the rest is divided by its sum: every negative score gets the same "
        "weight, none.",
    look="which function makes every score positive, and keeps their order?", hint=1)
class Relu(Softmax):
    def __call__(self, scores):
        with np.errstate(all="ignore"):
            return self.weights(np.maximum(scores, 0))


@softmax.mistake("negative scores cut to 0")
class ReluWithEpsilon(Softmax):
    def __call__(self, scores):
        positive = np.maximum(scores, 0)
        return positive / (positive.sum(axis=-1, keepdims=True) + 1e-9)


@softmax.mistake(
    "another base",
    why="The exponential has another base than e, so the ratios between the weights are others.",
    look="what is exp(1), and what do you get for 1?", hint=1)
class BaseTwo(Softmax):
    def exponentials(self, shifted):
        return 2.0 ** shifted


@softmax.mistake("another base")
class BaseTen(Softmax):
    def exponentials(self, shifted):
        return 10.0 ** shifted


@softmax.mistake("another base")
class BaseThree(Softmax):
    base = 3.0

    def exponentials(self, shifted):
        return self.base ** shifted


for base in (2.7, 2.72, 2.718):
    softmax.mistake("another base", pairs=False)(type("NearlyBaseE", (BaseThree,), {"base": base}))


@softmax.mistake(
    "a logarithm for the exponential",
    why="The logarithm of the scores is taken, where their exponential is asked for: there is none of a "
        "negative number.",
    look="which of the two is above 0 for every score?", hint=1)
def logarithm_for_exponential(scores):
    return Softmax().weights(np.log(scores))


@softmax.mistake("a logarithm for the exponential", pairs=False)
class ShiftedLogarithm(Softmax):
    def exponentials(self, shifted):
        return np.log(shifted)


@softmax.mistake(
    "the power the wrong way round",
    why="The scores are raised to the power e, where e is to be raised to the power of the scores.",
    look="what is the base, and what the exponent?", hint=1)
def power_turned_round(scores):
    return Softmax().weights(scores ** np.e)


@softmax.mistake("the power the wrong way round")
def power_of_absolute_values(scores):
    return Softmax().weights(np.abs(scores) ** np.e)


@softmax.mistake(
    "softplus for the exponential",
    why="Each score goes through log(1 + exp) before the division: above 0 this grows like the score itself, "
        "so the ratios between the weights are others.",
    look="scores of 0 and 1: how many times as large should the second weight be?", hint=1)
def softplus(scores):
    return Softmax().weights(np.log1p(np.exp(scores)))


@softmax.mistake("softplus for the exponential")
def softplus_without_overflow(scores):
    return Softmax().weights(np.logaddexp(0, scores))


@softmax.mistake(
    "divided inside the exponential",
    why="The scores are divided by the sum first, and the exponential is taken of the quotient: a row does "
        "not sum to 1.",
    look="where does the bracket of `exp` close?", hint=1)
def divided_inside(scores):
    return np.exp(scores / np.exp(scores).sum(axis=-1, keepdims=True))


@softmax.mistake("divided inside the exponential")
def divided_inside_shifted(scores):
    return divided_inside(Softmax().shifted(scores))


@softmax.mistake("divided inside the exponential")
def divided_inside_by_the_scores(scores):
    return np.exp(scores / scores.sum(axis=-1, keepdims=True))


@softmax.mistake(
    "the scores sorted",
    why="The scores are sorted on the way, so a weight no longer stands in the place of its score.",
    look="which operation moves numbers?", hint=1)
def scores_sorted(scores):
    return first_steps.softmax(np.sort(scores, axis=-1))


@softmax.mistake("the scores sorted")
def scores_sorted_down(scores):
    return first_steps.softmax(np.sort(scores, axis=-1))[..., ::-1]


@softmax.mistake(
    "the exponential minus one",
    why="One is taken off each exponential: negative scores give negative weights. `np.expm1(x)` is exp(x) -"
        " 1.",
    look="what do you get for a score of 0, before the division?", hint=1)
def exponential_minus_one(scores):
    return Softmax().weights(np.expm1(scores))


@softmax.mistake("the exponential minus one")
class ShiftedExponentialMinusOne(Softmax):
    def exponentials(self, shifted):
        return np.expm1(shifted)


@softmax.mistake(
    "the sign flipped",
    why="The exponents have the wrong sign, so the smallest score gets the largest weight.",
    look="the largest score of a row and its weight.", hint=1)
class SignFlipped(Softmax):
    def shifted(self, scores):
        return scores.min(axis=-1, keepdims=True) - scores


@softmax.mistake("the sign flipped")
class SignFlippedAndNothingSubtracted(Softmax):
    def shifted(self, scores):
        return -scores


@softmax.mistake("the sign flipped")
class SignFlippedAfterTheShift(Softmax):
    def shifted(self, scores):
        return scores.max(axis=-1, keepdims=True) - scores


@softmax.mistake(
    "a sigmoid of each score",
    why="Each score goes through a sigmoid of its own: the scores of a row do not compete, and the row does "
        "not sum to 1.",
    look="change one score: which weights of its row change with it?", hint=1)
def sigmoid(scores):
    return 1 / (1 + np.exp(-scores))


@softmax.mistake("a sigmoid of each score")
def sigmoid_of_shifted(scores):
    return sigmoid(Softmax().shifted(scores))


@softmax.mistake(
    "sigmoids divided by their sum",
    why="Each score goes through a sigmoid before the division. The rows sum to 1, but the ratios between "
        "the weights are others.",
    look="scores of 0 and 1: how many times as large should the second weight be?", hint=1)
def sigmoids_normalised(scores):
    return Softmax().weights(sigmoid(scores))


@softmax.mistake(
    "only the largest",
    why="The largest score takes the whole weight of 1. A softmax leaves something for all.",
    look="two scores that differ by a hair: should one get everything?", hint=1)
def only_the_largest(scores):
    return (np.arange(scores.shape[-1]) == scores.argmax(axis=-1)[..., None]).astype(float)


# softmax: what the exponentials are divided by


@softmax.mistake(
    "not divided by the sum",
    why="The exponentials are returned without being divided by their sum, so the rows do not sum to 1.",
    look="sum one row of your weights.", hint=1)
class NotDivided(Softmax):
    def weights(self, exponentials):
        return exponentials


@softmax.mistake("not divided by the sum")
class NotDividedNothingSubtracted(NotDivided, NothingSubtracted):
    pass


@softmax.mistake("not divided by the sum")
class NotDividedLargestOfAllSubtracted(NotDivided, LargestOfAllSubtracted):
    pass


@softmax.mistake("not divided by the sum")
class DividedByTheLargestExponential(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials.max(axis=-1, keepdims=True)


@softmax.mistake("not divided by the sum", pairs=False)
class DividedByTheLargestExponentialAlone(DividedByTheLargestExponential, NothingSubtracted):
    pass


@softmax.mistake(
    "the logarithm of the weights",
    why="This is the logarithm of the softmax: every number is negative or 0, and a row does not sum to 1.",
    look="what is the logarithm for, and what would undo it?", hint=1)
def logarithm(scores):
    return scores - np.logaddexp.reduce(scores, axis=-1)[..., None]


@softmax.mistake("the logarithm of the weights")
def logarithm_nothing_subtracted(scores):
    return scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))


@softmax.mistake("the logarithm of the weights")
def logarithm_over_everything(scores):
    return scores - np.log(np.exp(scores).sum())


@softmax.mistake("the logarithm of the weights")
def logarithm_of_the_softmax(scores):
    return np.log(first_steps.softmax(scores))


@softmax.mistake("the logarithm of the weights")
class LogarithmAtTheEnd(Softmax):
    def handed_over(self, weights):
        return np.log(weights)


@softmax.mistake("the logarithm of the weights")
class LogarithmThatNeverUnderflows(LogarithmAtTheEnd):  # as in a log-softmax: -2000, where np.log gives -inf
    def exponentials(self, shifted):
        return np.exp(shifted.astype(np.longdouble))

    def handed_over(self, weights):
        return super().handed_over(weights).astype(float)


@softmax.mistake(
    "divided by the sum of the scores",
    why="The exponentials are divided by the sum of the scores, not by the sum of the exponentials.",
    look="which numbers must add up to what, so that their parts add up to 1?", hint=1)
def divided_by_scores(scores):
    return np.exp(scores) / scores.sum(axis=-1, keepdims=True)


@softmax.mistake("divided by the sum of the scores")
def shifted_and_divided_by_scores(scores):
    return np.exp(Softmax().shifted(scores)) / scores.sum(axis=-1, keepdims=True)


@softmax.mistake("divided by the sum of the scores")
def shifted_and_divided_by_shifted(scores):
    shifted = Softmax().shifted(scores)
    return np.exp(shifted) / shifted.sum(axis=-1, keepdims=True)


@softmax.mistake(
    "shifted above the line, not below",
    why="The largest score is subtracted before one of the two exponentials only, so the weights of a row do"
        " not sum to 1.",
    look="which exponentials stand above the line of the fraction, and which below?", hint=1)
def shifted_above_only(scores):
    return np.exp(Softmax().shifted(scores)) / np.exp(scores).sum(axis=-1, keepdims=True)


@softmax.mistake("shifted above the line, not below")
def shifted_above_only_by_the_mean(scores):
    shifted = scores - scores.mean(axis=-1, keepdims=True)
    return np.exp(shifted) / np.exp(scores).sum(axis=-1, keepdims=True)


@softmax.mistake("shifted above the line, not below")
def shifted_below_only(scores):
    return np.exp(scores) / np.exp(Softmax().shifted(scores)).sum(axis=-1, keepdims=True)


@softmax.mistake("shifted above the line, not below")
def shifted_above_by_the_largest_of_all(scores):
    return np.exp(scores - scores.max()) / np.exp(scores).sum(axis=-1, keepdims=True)


@softmax.mistake(
    "divided by the mean",
    why="The exponentials are divided by their mean, so that each row sums to the number of its scores.",
    look="sum one row of your weights.", hint=1)
class DividedByMean(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials.mean(axis=-1, keepdims=True)


@softmax.mistake(
    "divided by a number of places",
    why="The exponentials are divided by how many of them, or how many rows, there are, not by their sum.",
    look="which numbers must add up to what, so that their parts add up to 1?", hint=1)
class DividedByCount(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials.shape[-1]


@softmax.mistake("divided by a number of places", pairs=False)
class DividedByRows(Softmax):
    def weights(self, exponentials):
        return exponentials / len(exponentials)


@softmax.mistake("divided by a number of places", pairs=False)
class DividedBySize(Softmax):
    def weights(self, exponentials):
        return exponentials / exponentials.size


@softmax.mistake(
    "unit length, not unit sum",
    why="The exponentials are divided by the root of the sum of their squares: it is the squares of the "
        "weights that sum to 1.",
    look="sum one row of your weights.", hint=1)
class UnitLength(Softmax):
    def weights(self, exponentials):
        return exponentials / np.linalg.norm(exponentials, axis=-1, keepdims=True)


@softmax.mistake(
    "one more in the sum",
    why="There is a 1 in the sum below the line that belongs to no score, so the rows sum to less than 1.",
    look="which numbers must add up to what, so that their parts add up to 1?", hint=1)
class OneMore(Softmax):
    def weights(self, exponentials):
        return exponentials / (1 + exponentials.sum(axis=-1, keepdims=True))


@softmax.mistake(
    "a small number added below the line",
    why="What is added to the sum, so that it is never 0, is large enough to be seen: the rows sum to less "
        "than 1.",
    look="can a sum of exponentials be 0, once the largest exponent is 0?", hint=3)
class Epsilon(Softmax):
    def weights(self, exponentials):
        return exponentials / (exponentials.sum(axis=-1, keepdims=True) + 1e-2)


@softmax.mistake("a small number added below the line")
class SmallEpsilon(Softmax):
    def weights(self, exponentials):
        return exponentials / (exponentials.sum(axis=-1, keepdims=True) + 1e-3)


@softmax.mistake("a small number added below the line")
class SmallerEpsilon(Softmax):
    def weights(self, exponentials):
        return exponentials / (exponentials.sum(axis=-1, keepdims=True) + 1e-4)


@softmax.mistake(
    "softmax twice",
    why="The weights go through a second softmax, which makes them nearly equal.",
    look="how many times does your answer call an exponential on its way?", hint=1)
def twice(scores):
    return first_steps.softmax(first_steps.softmax(scores))


# softmax: what is handed over


@softmax.mistake(
    "in percent",
    why="The weights are multiplied by 100, so a row sums to 100, not to 1.",
    look="the last operation before the `return`.", hint=1)
class InPercent(Softmax):
    def handed_over(self, weights):
        return 100 * weights


@softmax.mistake(
    "never filled",
    why="The result has the right shape, but it holds zeros only: nothing has been written into it.",
    look="does anything assign into the result?", hint=1)
def never_filled(scores):
    return np.zeros(scores.shape)


@softmax.mistake(
    "rounded weights",
    why="The weights are rounded, so they no longer sum to exactly 1. Two decimals are for showing, not for "
        "computing.",
    look="the last operation before the `return`.", hint=1)
class Rounded(Softmax):
    def handed_over(self, weights):
        return weights.round(2)


@softmax.mistake("rounded weights")
def rounded_to_one(scores):
    return first_steps.softmax(scores).round(1)


@softmax.mistake("rounded weights")
def rounded_to_three(scores):
    return first_steps.softmax(scores).round(3)


@softmax.mistake("rounded weights")
def rounded_to_four(scores):
    return first_steps.softmax(scores).round(4)


@softmax.mistake(
    "only the last row",
    why="Only the last row survives: each turn of the loop throws away, or writes over, what the one before "
        "has made.",
    look="where does the loop keep what it has computed?", hint=1)
def only_the_last_row(scores):
    return first_steps.softmax(scores).reshape(-1, scores.shape[-1])[-1]


@softmax.mistake("only the last row")
def only_the_last(scores):
    return first_steps.softmax(scores)[-1] if scores.ndim > 1 else first_steps.softmax(scores)


@softmax.mistake("only the last row")
def only_the_last_everywhere(scores):
    return np.zeros(scores.shape) + only_the_last_row(scores)


@softmax.mistake(
    "only the first row",
    why="Only the first row comes back: the loop ends in its first turn, or the result of one row stands for "
        "all.",
    look="how far is the `return` indented?", hint=1)
def only_the_first_row(scores):
    return first_steps.softmax(scores).reshape(-1, scores.shape[-1])[0]


@softmax.mistake("only the first row")
def only_the_first(scores):
    return first_steps.softmax(scores)[0] if scores.ndim > 1 else first_steps.softmax(scores)


@softmax.mistake("only the first row")
def only_the_first_everywhere(scores):
    return np.zeros(scores.shape) + only_the_first_row(scores)


@softmax.mistake(
    "a column left out",
    why="One column of the result, the last or the first, is left as it was, at 0 or undivided: the loop "
        "ends too early, or starts too late.",
    look="the first and the last turn of the loop.", hint=1)
def last_column_left_out(scores):
    weights = first_steps.softmax(scores)
    weights[..., -1] = 0
    return weights


@softmax.mistake("a column left out")
def first_column_left_out(scores):
    weights = first_steps.softmax(scores)
    weights[..., 0] = 0
    return weights


@softmax.mistake("a column left out", pairs=False)
class LastColumnUndivided(Softmax):
    def weights(self, exponentials):
        weights = super().weights(exponentials)
        weights[..., -1] = exponentials[..., -1]
        return weights


@softmax.mistake("a column left out", pairs=False)
class FirstColumnUndivided(Softmax):
    def weights(self, exponentials):
        weights = super().weights(exponentials)
        weights[..., 0] = exponentials[..., 0]
        return weights


@softmax.mistake(
    "a row left out",
    why="One row of the result is never filled in and keeps its zeros: the loop ends too early, or starts "
        "too late.",
    look="the first and the last turn of the loop.", hint=1)
def last_row_left_out(scores):
    weights = first_steps.softmax(scores)
    weights.reshape(-1, scores.shape[-1])[-1] = 0
    return weights


@softmax.mistake("a row left out")
def first_row_left_out(scores):
    weights = first_steps.softmax(scores)
    weights.reshape(-1, scores.shape[-1])[0] = 0
    return weights


@softmax.mistake(
    "the result left transposed",
    why="The dimensions of the result are turned round: it has been transposed once, and not back.",
    look="print the shape of the result beside that of the scores.", hint=2)
def left_transposed(scores):
    return first_steps.softmax(scores).T


@softmax.mistake("the result left transposed")
def left_with_the_last_two_swapped(scores):
    weights = first_steps.softmax(scores)
    return np.swapaxes(weights, -1, -2) if scores.ndim > 1 else weights


@softmax.mistake(
    "the scores in one long row",
    why="The array has been flattened, so that there is a single row, and its shape is lost.",
    look="print the shape of the result beside that of the scores.", hint=1)
def one_long_row(scores):
    return first_steps.softmax(scores.ravel())


@softmax.mistake("the scores in one long row")
def rows_in_one_long_row(scores):
    return first_steps.softmax(scores).ravel()


@softmax.mistake(
    "the rows left in one table",
    why="An array with more dimensions has been made a table of rows, and not given its shape back.",
    look="print the shape of the result beside that of the scores.", hint=2)
def left_in_one_table(scores):
    return first_steps.softmax(scores).reshape(-1, scores.shape[-1])


# self_attention


def draw_vectors(generator, length, features):
    return (normal(generator, length, features).numpy(),)


self_attention = Exercise(
    name="self_attention", lesson=1, title="Attention to oneself", difficulty=1, importance=3, minutes=10,
    contract="""
        self_attention(x), a NumPy array (length, features), returns (output, weights). The score of two
        vectors is their dot product, not scaled. weights, (length, length), is the softmax of the scores,
        each row over the keys; output, (length, features), holds for each row the average of the vectors
        with these weights.
        """,
    stub='''
        def self_attention(x):
            """(output, weights): the averages of the vectors, and the weights that made them."""
            raise NotImplementedError
        ''',
    sizes=[{"length": 2, "features": 3}, {"length": 3, "features": 2}, {"length": 3, "features": 3},
           {"length": 4, "features": 6}, {"length": 6, "features": 4}, {"length": 1, "features": 3}],
    draw=draw_vectors,
    reference=first_steps.self_attention,
    returns=("output", "weights"), shapes={"output": "(query, features)", "weights": "(query, key)"},
    hints=[
        ("the scores",
         "Every vector meets every vector, so there are length × length scores. What must the second x "
         "become, so that `@` makes them?"),
        ("the weights",
         "Row 0 of the weights belongs to vector 0: its scores with all vectors, through a softmax. Does "
         "that row sum to 1?"),
        ("the output",
         "Row 0 of the output is a sum over all the vectors, each times its weight in row 0 of the weights."),
    ],
)


@self_attention.right("step by step")
class SelfAttention(Steps):
    def __call__(self, x):
        scores = self.scores(x)
        weights = self.weights(self.scaled(scores, x))
        return self.output(weights, x), weights

    def scores(self, x):
        return x @ x.T

    def scaled(self, scores, x):
        return scores  # lesson 3 brings the scale

    def weights(self, scores):
        return first_steps.softmax(scores)

    def output(self, weights, x):
        return weights @ x


@self_attention.right("with loops")
def with_loops(x):
    output, weights = [], []
    for query in x:
        exponentials = [np.exp(sum(a * b for a, b in zip(query, key, strict=True))) for key in x]
        row = [one / sum(exponentials) for one in exponentials]
        weights.append(row)
        output.append(sum(weight * vector for weight, vector in zip(row, x, strict=True)))
    return np.array(output), np.array(weights)


@self_attention.right("with einsum")
def with_einsum(x):
    exponentials = np.exp(np.einsum("qf,kf->qk", x, x))
    weights = exponentials / exponentials.sum(axis=1, keepdims=True)
    return np.einsum("qk,kf->qf", weights, x), weights


@self_attention.right("PyTorch's own")
def self_attention_with_pytorch(x):
    tensor = torch.tensor(x)
    weights = torch.cdist(tensor, tensor).square().neg().add((tensor * tensor).sum(-1)).div(2).softmax(-1)
    output = torch.nn.functional.scaled_dot_product_attention(tensor, tensor, tensor, scale=1.0)
    return [output.numpy(), weights.numpy()]


@self_attention.right("columns of columns")
def columns_of_columns(x):
    exponentials = np.exp(np.inner(x, x))  # symmetric, so rows and columns may change places
    weights = (exponentials / exponentials.sum(axis=0)).T
    return (x.T @ weights.T).T, weights


# self_attention: the scores


@self_attention.mistake(
    "features compared, not vectors",
    why="The scores compare the features with each other: there is one for each pair of columns of x, not "
        "for each pair of vectors.",
    look="which shape do the scores have, and which one should they have?", hint=1)
class FeaturesCompared(SelfAttention):
    def scores(self, x):
        return x.T @ x


@self_attention.mistake("features compared, not vectors")
class FeaturesComparedAndMixed(FeaturesCompared):
    def output(self, weights, x):
        return x @ weights


@self_attention.mistake("features compared, not vectors")
class FeaturesComparedAndMixedBack(FeaturesCompared):
    def output(self, weights, x):
        return x @ weights.T


@self_attention.mistake("features compared, not vectors")
class FeaturesComparedAndTransposed(FeaturesCompared):
    def output(self, weights, x):
        return weights @ x.T


@self_attention.mistake("features compared, not vectors")
class FeaturesComparedAndTransposedBack(FeaturesCompared):
    def output(self, weights, x):
        return (weights @ x.T).T


@self_attention.mistake(
    "no transpose in the scores",
    why="x is multiplied by x, which works for square arrays only: each score then mixes a row of x with a "
        "column, not with another row.",
    look="`a @ b` takes rows of a and columns of b. Where do the vectors of x stand?", hint=1)
class NoTranspose(SelfAttention):
    def scores(self, x):
        return x @ x


@self_attention.mistake(
    "elementwise product for the scores",
    why="`*` multiplies number by number; a score is a dot product, which also adds up.",
    look="how many scores should there be for 2 vectors of 3 features?", hint=1)
class Elementwise(SelfAttention):
    def scores(self, x):
        return x * x


@self_attention.mistake("elementwise product for the scores")
class ElementwiseTransposed(SelfAttention):
    def scores(self, x):
        return x * x.T


@self_attention.mistake("elementwise product for the scores", pairs=False)
class ElementwiseTwice(Elementwise):
    def output(self, weights, x):
        return weights * x


@self_attention.mistake(
    "each vector meets only itself",
    why="Each vector is multiplied only by itself, so there is one score for each vector, where there should "
        "be one for each pair.",
    look="how many scores should there be for 2 vectors?", hint=1, pairs=False)
class OnlyWithItself(SelfAttention):
    def scores(self, x):
        return (x * x).sum(axis=-1)

    def weights(self, scores):
        exponentials = np.exp(scores - scores.max())
        return exponentials / exponentials.sum()


@self_attention.mistake("each vector meets only itself", pairs=False)
class OnlyWithItselfInAColumn(OnlyWithItself):
    def output(self, weights, x):
        return weights[:, None] * x


@self_attention.mistake("each vector meets only itself", pairs=False)
class OnlyWithItselfKept(SelfAttention):
    def scores(self, x):
        return (x * x).sum(axis=-1, keepdims=True)

    def output(self, weights, x):
        return weights * x


@self_attention.mistake(
    "an outer product for the scores",
    why="`np.outer` multiplies every number of x by every other, and adds nothing up: there are far more "
        "products than pairs of vectors.",
    look="how many scores should there be for 2 vectors of 3 features?", hint=1, pairs=False)
class OuterProduct(SelfAttention):
    def scores(self, x):
        return np.outer(x, x)

    def output(self, weights, x):
        return weights @ x.ravel()


@self_attention.mistake(
    "x reshaped, not transposed",
    why="x gets the right shape by reshape, which keeps the numbers in their old order: the columns are no "
        "longer the vectors.",
    look="reshape a (2, 3) array of 0 … 5 to (3, 2), and compare it with its transpose.", hint=1)
class Reshaped(SelfAttention):
    def scores(self, x):
        return x @ x.reshape(x.shape[::-1])


@self_attention.mistake(
    "sums for products",
    why="The scores add the features of two vectors, where a dot product multiplies them first.",
    look="how does the contract make a number out of two vectors?", hint=1, pairs=False)
class Sums(SelfAttention):
    def scores(self, x):
        return (x[:, None] + x[None]).sum(axis=-1)


@self_attention.mistake("sums for products", pairs=False)
class SumsInATanh(SelfAttention):
    def scores(self, x):
        return np.tanh(x[:, None] + x[None]).sum(axis=-1)


@self_attention.mistake(
    "a softmax before the product",
    why="The vectors themselves go through a softmax before they meet; the contract compares them as they "
        "are.",
    look="what does the softmax turn into weights?", hint=2, pairs=False)
class SoftmaxBefore(SelfAttention):
    def scores(self, x):
        return super().scores(first_steps.softmax(x))


@self_attention.mistake("a softmax before the product", pairs=False)
class SoftmaxBeforeOnly(SoftmaxBefore):
    def weights(self, scores):
        return scores


@self_attention.mistake(
    "positions added",
    why="Something that depends on the position is added before the vectors meet. Positions come in lesson "
        "5; this contract takes x as it is.",
    look="what happens to x, or to the scores, before the softmax?", hint=2, pairs=False)
class PositionsAdded(SelfAttention):
    def __call__(self, x):
        return super().__call__(x + self.places(x))

    def places(self, x):
        return np.arange(len(x))[:, None]


@self_attention.mistake("positions added", pairs=False)
class PositionsAddedForTheScores(PositionsAdded):
    def __call__(self, x):
        weights = self.weights(self.scores(x + self.places(x)))
        return self.output(weights, x), weights


@self_attention.mistake("positions added", pairs=False)
class SinusoidsAdded(PositionsAdded):
    def places(self, x):
        pairs = np.arange(x.shape[1]) // 2 * 2
        angles = np.arange(len(x))[:, None] / 10000 ** (pairs / x.shape[1])
        return np.where(np.arange(x.shape[1]) % 2 == 0, np.sin(angles), np.cos(angles))


@self_attention.mistake("positions added", pairs=False)
class PositionsAddedToScores(SelfAttention):
    def scores(self, x):
        return super().scores(x) + np.arange(len(x))


@self_attention.mistake("positions added", pairs=False)
class DistancesTakenOffScores(SelfAttention):
    def scores(self, x):
        return super().scores(x) - np.abs(np.arange(len(x)) - np.arange(len(x))[:, None])


@self_attention.mistake(
    "the scores clipped",
    why="The scores are cut off at a limit, so that a good match and a very good one become equal.",
    look="what stands between the dot products and the softmax in the contract?", hint=2)
class ClippedScores(SelfAttention):
    limits = -1, 1

    def scores(self, x):
        return np.clip(super().scores(x), *self.limits)


for limits in ((-0.5, 0.5), (-2, 2), (-3, 3), (0, None), (None, 1), (0, 1)):
    self_attention.mistake("the scores clipped", pairs=False)(
        type("Clipped", (ClippedScores,), {"limits": limits}))


@self_attention.mistake(
    "only the neighbours",
    why="Each vector attends only to itself and to the vectors next to it; the contract lets each attend to "
        "all.",
    look="the corners of your weights.", hint=2)
class OnlyNeighbours(SelfAttention):
    def scores(self, x):
        return np.where(self.near(len(x)), super().scores(x), -1e9)

    def near(self, length):
        return np.abs(np.arange(length) - np.arange(length)[:, None]) < 2


@self_attention.mistake(
    "only the few best",
    why="Each vector attends only to the few that match best, and the others get nothing; a softmax leaves "
        "something for all.",
    look="which of your weights are exactly 0?", hint=2, pairs=False)
class OnlyTheTwoBest(SelfAttention):
    many, again = 2, True

    def weights(self, scores):
        weights = super().weights(scores)
        least = np.sort(weights, axis=-1)[:, -self.many:][:, :1]
        kept = np.where(weights >= least, weights, 0)
        return kept / kept.sum(axis=-1, keepdims=True) if self.again else kept


for many, again in ((3, True), (2, False), (3, False)):
    self_attention.mistake("only the few best", pairs=False)(
        type("OnlyTheBest", (OnlyTheTwoBest,), {"many": many, "again": again}))


@self_attention.mistake(
    "a score never computed",
    why="The loop over the keys, or over the queries, leaves out the last vector or the first: its scores "
        "are still 0 when the softmax comes.",
    look="the first and the last turn of each loop.", hint=1, pairs=False)
class LastKeyWithoutScore(SelfAttention):
    keep = np.s_[:, :-1]

    def scores(self, x):
        scores = super().scores(x)
        kept = np.zeros(scores.shape)
        kept[self.keep] = scores[self.keep]
        return kept


for keep in (np.s_[:, 1:], np.s_[:-1], np.s_[1:], np.s_[:-1, :-1], np.s_[1:, 1:]):
    self_attention.mistake("a score never computed", pairs=False)(
        type("WithoutScore", (LastKeyWithoutScore,), {"keep": keep}))


@self_attention.mistake(
    "scores divided by √d",
    why="The scores are divided by the square root of the number of features. That scale comes in lesson 3; "
        "this contract leaves the scores as they are.",
    look="what stands between the dot products and the softmax in the contract?", hint=2)
class DividedByRootOfFeatures(SelfAttention):
    def scaled(self, scores, x):
        return scores / x.shape[1] ** 0.5


@self_attention.mistake(
    "scores divided by d",
    why="The scores are divided by the number of features; this contract leaves the scores as they are.",
    look="what stands between the dot products and the softmax in the contract?", hint=2)
class DividedByFeatures(SelfAttention):
    def scaled(self, scores, x):
        return scores / x.shape[1]


@self_attention.mistake(
    "scores divided by the length",
    why="The scores are divided by how many vectors there are, or by the square root of that; this contract "
        "leaves them as they are.",
    look="what stands between the dot products and the softmax in the contract?", hint=2)
class DividedByRootOfLength(SelfAttention):
    def scaled(self, scores, x):
        return scores / len(x) ** 0.5


@self_attention.mistake("scores divided by the length")
class DividedByLengthOfSequence(SelfAttention):
    def scaled(self, scores, x):
        return scores / len(x)


@self_attention.mistake(
    "scores divided by a fixed number",
    why="The scores are divided or multiplied by a fixed number; this contract leaves them as they are.",
    look="what stands between the dot products and the softmax in the contract?", hint=2)
class Halved(SelfAttention):
    def scaled(self, scores, x):
        return scores / 2


@self_attention.mistake("scores divided by a fixed number")
class Doubled(SelfAttention):
    def scaled(self, scores, x):
        return scores * 2


@self_attention.mistake("scores divided by a fixed number")
class DividedByTen(SelfAttention):
    def scaled(self, scores, x):
        return scores / 10


@self_attention.mistake("scores divided by a fixed number")
class DividedByEight(SelfAttention):
    def scaled(self, scores, x):
        return scores / 8


@self_attention.mistake(
    "cosines for dot products",
    why="The vectors are brought to length 1 before they meet, so a score is a cosine: it no longer knows "
        "how long they are.",
    look="a vector twice as long: should its scores change?", hint=2)
class Cosines(SelfAttention):
    def scores(self, x):
        unit = x / np.linalg.norm(x, axis=1, keepdims=True)
        return unit @ unit.T


@self_attention.mistake("cosines for dot products")
class CosinesAndUnitVectorsAveraged(SelfAttention):
    def __call__(self, x):
        return super().__call__(x / np.linalg.norm(x, axis=1, keepdims=True))


@self_attention.mistake(
    "distances for dot products",
    why="The scores are distances between the vectors, not dot products.",
    look="how does the contract make a number out of two vectors?", hint=2)
class Distances(SelfAttention):
    def scores(self, x):
        return np.linalg.norm(x[:, None] - x[None, :], axis=-1)


@self_attention.mistake("distances for dot products")
class NegativeDistances(Distances):
    def scores(self, x):
        return -super().scores(x)


@self_attention.mistake("distances for dot products")
class SquaredDistances(Distances):
    def scores(self, x):
        return super().scores(x) ** 2


@self_attention.mistake("distances for dot products")
class NegativeSquaredDistances(Distances):
    def scores(self, x):
        return -super().scores(x) ** 2


@self_attention.mistake(
    "covariances for dot products",
    why="`np.cov` and `np.corrcoef` take its mean off each vector and divide by more besides; a dot product "
        "takes the vectors as they are.",
    look="how does the contract make a number out of two vectors?", hint=2, pairs=False)
class Covariances(SelfAttention):
    def scores(self, x):
        return np.cov(x).reshape(len(x), len(x))


@self_attention.mistake("covariances for dot products", pairs=False)
class Correlations(SelfAttention):
    def scores(self, x):
        return np.corrcoef(x).reshape(len(x), len(x))


@self_attention.mistake(
    "one query for all",
    why="The same vector asks every time, the first or the last, so all the rows of the weights are equal.",
    look="which vector asks in row 1 of your weights?", hint=1, pairs=False)
class FirstAsksForAll(SelfAttention):
    def scores(self, x):
        return np.zeros((len(x), 1)) + super().scores(x)[:1]


@self_attention.mistake("one query for all", pairs=False)
class LastAsksForAll(SelfAttention):
    def scores(self, x):
        return np.zeros((len(x), 1)) + super().scores(x)[-1:]


@self_attention.mistake(
    "one row too far",
    why="Each row belongs to the vector before or after its own: the positions are off by one.",
    look="every index with a +1 or a -1, and every `roll`.", hint=1, pairs=False)
class TheOneBeforeAsks(SelfAttention):
    step = 1

    def scores(self, x):
        return np.roll(super().scores(x), self.step, axis=0)


@self_attention.mistake("one row too far", pairs=False)
class TheOneAfterAsks(TheOneBeforeAsks):
    step = -1


@self_attention.mistake("one row too far", pairs=False)
class TheOneBeforeIsAveraged(SelfAttention):
    step = 1

    def output(self, weights, x):
        return weights @ np.roll(x, self.step, axis=0)


@self_attention.mistake("one row too far", pairs=False)
class TheOneAfterIsAveraged(TheOneBeforeIsAveraged):
    step = -1


@self_attention.mistake(
    "the vectors made smaller first",
    why="All the vectors are divided by one number before they meet, such as the largest number in x, so the "
        "scores shrink and the weights become more equal.",
    look="what happens to x before the dot products?", hint=2, pairs=False)
class VectorsDivided(SelfAttention):
    size = staticmethod(lambda x: np.abs(x).max())

    def scores(self, x):
        return super().scores(x / self.size(x))


@self_attention.mistake("the vectors made smaller first", pairs=False)
class VectorsDividedThroughout(VectorsDivided):
    def output(self, weights, x):
        return super().output(weights, x / self.size(x))


for size in (np.max, np.linalg.norm, np.std):
    for way in (VectorsDivided, VectorsDividedThroughout):
        self_attention.mistake("the vectors made smaller first", pairs=False)(
            type("Smaller", (way,), {"size": staticmethod(size)}))


@self_attention.mistake(
    "a feature left out of the dot product",
    why="The sum over the features leaves out the last one or the first, or has only one of them.",
    look="over which features does your dot product run?", hint=1, pairs=False)
class LastFeatureLeftOut(SelfAttention):
    part = np.s_[:, :-1]

    def scores(self, x):
        return super().scores(x[self.part])


for part in (np.s_[:, 1:], np.s_[:, :1], np.s_[:, -1:]):
    self_attention.mistake("a feature left out of the dot product")(
        type("FeatureLeftOut", (LastFeatureLeftOut,), {"part": part}))


@self_attention.mistake(
    "the largest product, not the sum",
    why="Of the products of two vectors' features only the largest is kept; a dot product adds them up.",
    look="which operation follows the products?", hint=1, pairs=False)
class LargestProduct(SelfAttention):
    def scores(self, x):
        return (x[:, None] * x).max(axis=-1)


@self_attention.mistake("sums for products", pairs=False)
class SumWithItsTranspose(SelfAttention):
    def scores(self, x):
        return x + x.T


@self_attention.mistake(
    "scores divided by the largest",
    why="The scores are divided by the largest of them, in each row or in all, so the softmax gets flat.",
    look="what stands between the dot products and the softmax in the contract?", hint=2, pairs=False)
class ScoresOverLargest(SelfAttention):
    def scores(self, x):
        return super().scores(x) / super().scores(x).max()


@self_attention.mistake("scores divided by the largest")
class ScoresOverLargestOfRow(SelfAttention):
    def scores(self, x):
        return super().scores(x) / super().scores(x).max(axis=-1, keepdims=True)


@self_attention.mistake(
    "no vector may attend to itself",
    why="The diagonal of the scores is taken out, so no vector attends to itself. The contract lets each "
        "attend to all.",
    look="the diagonal of your weights.", hint=2)
class NotItself(SelfAttention):
    def scores(self, x):
        return np.where(np.eye(len(x), dtype=bool), -1e9, super().scores(x))


@self_attention.mistake("no vector may attend to itself")
class NotItselfAtAll(SelfAttention):
    def scores(self, x):
        return np.where(np.eye(len(x), dtype=bool), -np.inf, super().scores(x))


@self_attention.mistake("no vector may attend to itself")
class NotItselfAfterwards(SelfAttention):
    def weights(self, scores):
        return np.where(np.eye(len(scores), dtype=bool), 0, super().weights(scores))


@self_attention.mistake("no vector may attend to itself")
class NotItselfAndDivided(SelfAttention):
    def weights(self, scores):
        exponentials = np.where(np.eye(len(scores), dtype=bool), 0, np.exp(scores))
        return exponentials / np.maximum(exponentials.sum(axis=-1, keepdims=True), 1e-9)


@self_attention.mistake(
    "the diagonal of the scores doubled",
    why="The score of each vector with itself counts twice: half a table and its mirror image share the "
        "diagonal.",
    look="the diagonal of your scores, beside x[0] · x[0].", hint=2)
class DoubledForItself(SelfAttention):
    def scores(self, x):
        scores = super().scores(x)
        return scores + np.diag(np.diag(scores))


@self_attention.mistake(
    "the diagonal of the scores set to 0",
    why="The score of each vector with itself is replaced by 0. The contract keeps it; and a score of 0 "
        "still gets a weight, since exp(0) is 1.",
    look="the diagonal of your scores.", hint=2)
class ZeroForItself(SelfAttention):
    def scores(self, x):
        return np.where(np.eye(len(x), dtype=bool), 0, super().scores(x))


@self_attention.mistake(
    "a causal mask",
    why="Each vector attends only to itself and to those before it. No mask is asked for until lesson 6: "
        "each attends to all.",
    look="the first row of your weights.", hint=2)
class Causal(SelfAttention):
    def scores(self, x):
        return np.where(np.tri(len(x), dtype=bool), super().scores(x), -1e9)


@self_attention.mistake(
    "a causal mask without the diagonal",
    why="Each vector attends only to those before it, not even to itself. No mask is asked for: each attends"
        " to all.",
    look="the diagonal of your weights.", hint=2)
class StrictlyCausal(SelfAttention):
    def scores(self, x):
        return np.where(np.tri(len(x), k=-1, dtype=bool), super().scores(x), -1e9)


@self_attention.mistake(
    "a mask on what came before",
    why="Each vector attends only to itself and to those after it. No mask is asked for: each attends to "
        "all.",
    look="the last row of your weights.", hint=2)
class AntiCausal(SelfAttention):
    def scores(self, x):
        return np.where(np.tri(len(x), dtype=bool).T, super().scores(x), -1e9)


@self_attention.mistake(
    "half of the scores",
    why="Only the scores on one side of the diagonal are computed; the others are still 0 when the softmax "
        "comes.",
    look="where do your two loops start, and where do they end?", hint=1)
class UpperHalf(SelfAttention):
    def scores(self, x):
        return np.triu(super().scores(x))


@self_attention.mistake("half of the scores")
class LowerHalf(SelfAttention):
    def scores(self, x):
        return np.tril(super().scores(x))


@self_attention.mistake("half of the scores", pairs=False)
class UpperHalfWithoutDiagonal(SelfAttention):
    def scores(self, x):
        return np.triu(super().scores(x), k=1)


@self_attention.mistake("half of the scores", pairs=False)
class LowerHalfWithoutDiagonal(SelfAttention):
    def scores(self, x):
        return np.tril(super().scores(x), k=-1)


@self_attention.mistake(
    "projections that nobody asked for",
    why="x is multiplied by matrices of random numbers before the vectors meet. Learned projections come in "
        "lesson 2; this contract takes x as it is, in all three roles.",
    look="which arrays meet in the dot products, and which one is averaged?", hint=1, pairs=False)
class Projected(SelfAttention):
    seed, drawn = 0, "randn"

    def __call__(self, x):
        generator = np.random.RandomState(self.seed)
        draw = getattr(generator, self.drawn)
        query, key, value = (x @ draw(x.shape[1], x.shape[1]) for _ in range(3))
        weights = self.weights(self.scaled(query @ key.T, x))
        return weights @ value, weights


for seed, drawn in ((42, "randn"), (0, "rand"), (42, "rand")):
    self_attention.mistake("projections that nobody asked for", pairs=False)(
        type("ProjectedOtherwise", (Projected,), {"seed": seed, "drawn": drawn}))


@self_attention.mistake(
    "the vectors centred first",
    why="A mean is subtracted from the vectors before they meet. The contract compares them as they are.",
    look="what happens to x before the dot products?", hint=2)
class Centred(SelfAttention):
    def scores(self, x):
        return super().scores(x - x.mean(axis=0))


@self_attention.mistake("the vectors centred first")
class CentredEach(SelfAttention):
    def scores(self, x):
        return super().scores(x - x.mean(axis=1, keepdims=True))


@self_attention.mistake(
    "the sign flipped",
    why="The scores enter the softmax with the opposite sign: the worst match gets the largest weight.",
    look="every minus on the way to the softmax.", hint=2)
class SignFlippedScores(SelfAttention):
    def scores(self, x):
        return -super().scores(x)


@self_attention.mistake(
    "signs lost",
    why="The scores lose their signs, by `abs` or a square: a vector that points away counts as one that "
        "matches.",
    look="should opposite vectors match?", hint=2)
class AbsoluteScores(SelfAttention):
    def scores(self, x):
        return np.abs(super().scores(x))


@self_attention.mistake("signs lost")
class SquaredScores(SelfAttention):
    def scores(self, x):
        return super().scores(x) ** 2


@self_attention.mistake("signs lost")
class SquaredScoresDivided(SquaredScores):
    def weights(self, scores):
        return scores / scores.sum(axis=-1, keepdims=True)


# self_attention: the weights


@self_attention.mistake(
    "softmax over the queries",
    why="The columns of the weights sum to 1, not the rows. The scores are symmetric, so this is also what a"
        " sum over the right axis gives when it is not kept as a column.",
    look="sum one row of your weights, then look at `axis` and `keepdims`.", hint=2)
class SoftmaxOverQueries(SelfAttention):
    def weights(self, scores):
        return first_steps.softmax(scores.T).T


@self_attention.mistake(
    "no keepdims",
    why="The sum over a row, or its maximum too, is lined up with the columns: column 1 is divided by the "
        "sum of row 1.",
    look="print the shapes of the exponentials and of their sum, one below the other.", hint=2)
class RowShiftNoKeepdims(SelfAttention):
    def weights(self, scores):
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return exponentials / exponentials.sum(axis=-1)


@self_attention.mistake("no keepdims")
class NoKeepdimsTwice(SelfAttention):
    def weights(self, scores):
        exponentials = np.exp(scores - scores.max(axis=-1))
        return exponentials / exponentials.sum(axis=-1)


@self_attention.mistake(
    "the sum changes while it divides",
    why="The sum is taken again after some of the exponentials have been divided already, so each part is "
        "divided by another sum.",
    look="is the sum computed once, before the first division?", hint=2)
class SumChangesInTheLine(SelfAttention):
    def weights(self, scores):
        return SumChangesInTheRow().weights(np.exp(scores))


@self_attention.mistake("the sum changes while it divides", pairs=False)
class SumChangesInTheWhole(SelfAttention):
    def weights(self, scores):
        return SumChangesInTheTable().weights(np.exp(scores))


@self_attention.mistake("the sum changes while it divides", pairs=False)
class SumChangesNumberByNumber(SelfAttention):
    def weights(self, scores):
        return SumChangesEverywhere().weights(np.exp(scores))


@self_attention.mistake("the sum changes while it divides", pairs=False)
class SumChangesInTheLineShifted(SelfAttention):
    def weights(self, scores):
        return SumChangesInTheRow()(scores)


@self_attention.mistake("the sum changes while it divides", pairs=False)
class SumChangesInTheWholeShifted(SelfAttention):
    def weights(self, scores):
        return SumChangesInTheTableMaximumOfAll()(scores)


@self_attention.mistake(
    "the sum not cleared between the rows",
    why="The sum of one row is still there when the next one is added: later rows are divided by too much.",
    look="where in the loop does the sum start from 0?", hint=2, pairs=False)
class SumRunsOn(SelfAttention):
    def weights(self, scores):
        return np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True).cumsum(axis=0)


@self_attention.mistake(
    "a dot product not cleared",
    why="The sum of one dot product is still there when the next one begins: later scores also hold the "
        "earlier ones.",
    look="where in the loops does the sum of a dot product start from 0?", hint=1, pairs=False)
class DotProductsRunOn(SelfAttention):
    def scores(self, x):
        return super().scores(x).cumsum().reshape(len(x), len(x))


@self_attention.mistake("a dot product not cleared")
class DotProductsRunOnInTheRow(SelfAttention):
    def scores(self, x):
        return super().scores(x).cumsum(axis=1)


@self_attention.mistake(
    "floor division",
    why="`//` drops everything behind the point, and nearly every weight is below 1: what is left is 0.",
    look="which of Python's two divisions keeps the decimals?", hint=2, pairs=False)
class FlooredWeights(SelfAttention):
    def weights(self, scores):
        return super().weights(scores) // 1


@self_attention.mistake(
    "the columns' largest subtracted",
    why="The largest score of each column is subtracted, or that of each row but lined up with the columns. "
        "Within a row, different numbers are then taken off, and that changes the weights.",
    look="which scores must all lose the same amount, so that nothing changes?", hint=2)
class ColumnShift(SelfAttention):
    def weights(self, scores):
        exponentials = np.exp(scores - scores.max(axis=0, keepdims=True))
        return exponentials / exponentials.sum(axis=-1, keepdims=True)


@self_attention.mistake(
    "softmax over everything",
    why="One softmax runs over all the scores at once: all the weights together sum to 1, where each row "
        "should.",
    look="sum one row of your weights.", hint=2)
class SoftmaxOverEverything(SelfAttention):
    def weights(self, scores):
        return first_steps.softmax(scores.ravel()).reshape(scores.shape)


@self_attention.mistake(
    "no softmax",
    why="The scores themselves are used as weights: they can be negative, and the rows do not sum to 1.",
    look="what turns scores into weights?", hint=2)
class NoSoftmax(SelfAttention):
    def weights(self, scores):
        return scores


@self_attention.mistake(
    "scores divided by their sum",
    why="The scores are divided by their sum, with no exponential: negative scores become negative weights, "
        "and a sum near 0 blows everything up.",
    look="which function makes every score positive, and keeps their order?", hint=2)
class DividedBySum(SelfAttention):
    def weights(self, scores):
        return scores / scores.sum(axis=-1, keepdims=True)


@self_attention.mistake("scores divided by their sum", pairs=False)
class DividedBySumOfColumns(SelfAttention):
    def weights(self, scores):
        return scores / scores.sum(axis=-1)


@self_attention.mistake(
    "the exponential taken twice",
    why="The softmax gets the exponentials of the scores, and takes theirs once more: the best match gets "
        "nearly everything.",
    look="how many times is an exponential taken on the way?", hint=2, pairs=False)
class ExponentialTakenTwice(SelfAttention):
    def weights(self, scores):
        return first_steps.softmax(np.exp(scores))


@self_attention.mistake(
    "divided over rows and columns",
    why="The exponentials are divided twice, by the sums of the rows and by those of the columns, so the "
        "weights are no longer a softmax of the scores.",
    look="how many divisions are there?", hint=2, pairs=False)
class RowsAndColumns(SelfAttention):
    def weights(self, scores):
        rows = super().weights(scores)
        return rows / rows.sum(axis=0)


@self_attention.mistake("divided over rows and columns", pairs=False)
class ColumnsAndRows(SelfAttention):
    def weights(self, scores):
        columns = super().weights(scores).T
        return columns / columns.sum(axis=1, keepdims=True)


@self_attention.mistake(
    "exponentials not divided by their sum",
    why="The exponentials are used without being divided by their sum, so the rows do not sum to 1.",
    look="sum one row of your weights.", hint=2)
class NotNormalised(SelfAttention):
    def weights(self, scores):
        return np.exp(scores)


@self_attention.mistake("exponentials not divided by their sum")
class ShiftedNotNormalised(SelfAttention):
    def weights(self, scores):
        return np.exp(scores - scores.max(axis=-1, keepdims=True))


@self_attention.mistake(
    "the logarithm of the weights",
    why="The weights are those of a log-softmax: every one is negative or 0, and a row does not sum to 1.",
    look="sum one row of your weights.", hint=2)
class LogSoftmax(SelfAttention):
    def weights(self, scores):
        return np.log(first_steps.softmax(scores))


@self_attention.mistake(
    "a sigmoid for the softmax",
    why="Each score goes through a sigmoid of its own: the keys of a query do not compete, and its row does "
        "not sum to 1.",
    look="sum one row of your weights.", hint=2)
class Sigmoid(SelfAttention):
    def weights(self, scores):
        return 1 / (1 + np.exp(-scores))


@self_attention.mistake(
    "a hyperbolic tangent for the softmax",
    why="Each score goes through a tanh of its own: some weights are negative, and a row does not sum to 1.",
    look="sum one row of your weights.", hint=2, pairs=False)
class Tanh(SelfAttention):
    def weights(self, scores):
        return np.tanh(scores)


@self_attention.mistake(
    "negative scores cut to 0",
    why="Negative scores become 0 and the rest is divided by its sum: there is no exponential.",
    look="should a negative score get no weight at all?", hint=2)
class NegativeCut(SelfAttention):
    def weights(self, scores):
        positive = np.maximum(scores, 0)
        return positive / positive.sum(axis=-1, keepdims=True)


@self_attention.mistake(
    "only the best match",
    why="The whole weight of each row goes to its largest score. A softmax leaves something for all.",
    look="two scores that differ by a hair: should one get everything?", hint=2)
class OnlyTheBest(SelfAttention):
    def weights(self, scores):
        return (np.arange(scores.shape[-1]) == scores.argmax(axis=-1)[..., None]).astype(float)


@self_attention.mistake(
    "every vector keeps to itself",
    why="The weights are 1 on the diagonal and 0 elsewhere, so no vector takes anything from another.",
    look="where do the scores enter the weights?", hint=2)
class OnlyItself(SelfAttention):
    def weights(self, scores):
        return np.eye(len(scores))


@self_attention.mistake(
    "equal weights",
    why="Every vector gets the same weight, so each output is the plain average: the scores are not used.",
    look="where do the scores enter the weights?", hint=2)
class EqualWeights(SelfAttention):
    def weights(self, scores):
        return np.full(scores.shape, 1 / scores.shape[-1])


@self_attention.mistake(
    "a running average",
    why="Each output is the plain average of the vectors up to there: their scores have no part in it, and "
        "the later vectors are left out.",
    look="where do the scores enter the weights?", hint=2, pairs=False)
class RunningAverage(SelfAttention):
    def weights(self, scores):
        allowed = np.tril(np.ones(scores.shape))
        return allowed / allowed.sum(axis=-1, keepdims=True)


@self_attention.mistake(
    "softmax twice",
    why="The weights go through a second softmax, which makes them nearly equal.",
    look="how many times does your answer take exponentials?", hint=2)
class SoftmaxTwice(SelfAttention):
    def weights(self, scores):
        return first_steps.softmax(first_steps.softmax(scores))


@self_attention.mistake(
    "rounded weights",
    why="The weights are rounded, so they no longer sum to exactly 1. Two decimals are for showing, not for "
        "computing.",
    look="every call of `round` on the way to the `return`.", hint=2)
class RoundedWeights(SelfAttention):
    def weights(self, scores):
        return super().weights(scores).round(2)


@self_attention.mistake("rounded weights")
class WeightsRoundedToOne(SelfAttention):
    def weights(self, scores):
        return super().weights(scores).round(1)


@self_attention.mistake("rounded weights")
class WeightsRoundedToThree(SelfAttention):
    def weights(self, scores):
        return super().weights(scores).round(3)


@self_attention.mistake(
    "the scores for the weights",
    why="What is returned in the place of the weights are the scores, from before the softmax.",
    look="the names in the `return` line.", hint=2)
class ScoresForWeights(SelfAttention):
    def __call__(self, x):
        return super().__call__(x)[0], self.scaled(self.scores(x), x)


# self_attention: the output


@self_attention.mistake(
    "weights transposed for the output",
    why="The output reads the weights by columns: each vector is averaged with the weights that others give "
        "to it, and those need not sum to 1.",
    look="output row 0 belongs to query 0. Which row of the weights is that?", hint=3)
class WeightsTransposed(SelfAttention):
    def output(self, weights, x):
        return weights.T @ x


@self_attention.mistake(
    "x transposed for the output",
    why="The weights meet x with its rows and columns swapped, which works for square arrays only: the "
        "averages run over features, not over vectors.",
    look="`a @ b` sums over the rows of b. What should the sum run over?", hint=3)
class VectorsTransposed(SelfAttention):
    def output(self, weights, x):
        return weights @ x.T


@self_attention.mistake(
    "x before the weights",
    why="x stands before the weights, which works for square arrays only: the weights then mix the features,"
        " not the vectors.",
    look="`a @ b` sums over the columns of a and the rows of b. Which of the two holds the vectors?", hint=3)
class VectorsFirst(SelfAttention):
    def output(self, weights, x):
        return x @ weights


@self_attention.mistake(
    "weights times x, number by number",
    why="`*` multiplies number by number; the output is a sum over the vectors.",
    look="what does the output of one query add up?", hint=3)
class TimesVectors(SelfAttention):
    def output(self, weights, x):
        return weights * x


@self_attention.mistake(
    "the input as output",
    why="The output is x itself: each vector is multiplied by its own weights, which sum to 1, and never "
        "meets the others.",
    look="which vectors does a row of the weights belong to: the one that asks, or those that "
         "answer?", hint=3)
class InputAsOutput(SelfAttention):
    def output(self, weights, x):
        return x


@self_attention.mistake(
    "the input added to the output",
    why="x is added to the averages. Such a skip connection comes in lesson 7; this contract asks for the "
        "averages alone.",
    look="what stands after the averages?", hint=3)
class InputAdded(SelfAttention):
    def output(self, weights, x):
        return super().output(weights, x) + x


@self_attention.mistake(
    "the input taken off the output",
    why="x is subtracted from the averages; the contract asks for the averages alone.",
    look="what stands after the averages?", hint=3, pairs=False)
class InputTakenOff(SelfAttention):
    def output(self, weights, x):
        return super().output(weights, x) - x


@self_attention.mistake(
    "averaged twice",
    why="The weighted sums are divided by the number of vectors. Weights that sum to 1 have already made "
        "averages of them.",
    look="every `mean` and every division after the softmax.", hint=3)
class AveragedTwice(SelfAttention):
    def output(self, weights, x):
        return super().output(weights, x) / len(x)


@self_attention.mistake(
    "the sums run on",
    why="What is summed for one query is not cleared for the next, so each output also holds all the outputs"
        " before it.",
    look="where in the loop does the sum start from 0?", hint=3)
class SumsRunOn(SelfAttention):
    def output(self, weights, x):
        return np.cumsum(super().output(weights, x), axis=0)


@self_attention.mistake(
    "the weighted vectors not summed",
    why="Each vector has been multiplied by its weight, but nothing is added up: for every query there are "
        "still as many vectors as there are keys.",
    look="which dimension must disappear, and how?", hint=3, pairs=False)
class NotSummed(SelfAttention):
    def output(self, weights, x):
        return weights[:, :, None] * x


@self_attention.mistake("the weighted vectors not summed", pairs=False)
class NotSummedTransposed(SelfAttention):
    def output(self, weights, x):
        return weights[:, None, :] * x.T


@self_attention.mistake(
    "the sum starts at 1",
    why="The sum of the weighted vectors does not start from 0 but from 1: every number of the output is 1 "
        "too large.",
    look="what is in the output before the first vector is added?", hint=3, pairs=False)
class StartsAtOne(SelfAttention):
    def output(self, weights, x):
        return super().output(weights, x) + 1


@self_attention.mistake(
    "averages of averages",
    why="The vectors are replaced one by one while the loop still runs, so later averages are made of "
        "earlier ones.",
    look="which array does the loop read from, and which does it write to?", hint=3)
class AveragesOfAverages(SelfAttention):
    def output(self, weights, x):
        mixed = x.copy()
        for index, row in enumerate(weights):
            mixed[index] = row @ mixed
        return mixed


@self_attention.mistake("averages of averages", pairs=False)
class AveragesOfAveragesThatMeet(SelfAttention):
    def __call__(self, x):
        mixed, weights = x.copy(), []
        for index in range(len(x)):
            weights.append(self.weights(mixed[index:index + 1] @ mixed.T)[0])
            mixed[index] = weights[-1] @ mixed
        return mixed, np.array(weights)


@self_attention.mistake(
    "a row left out",
    why="One row of the output is never filled in and keeps its zeros: the loop ends too early, or starts "
        "too late.",
    look="the first and the last turn of the loop.", hint=3)
class LastRowLeftOut(SelfAttention):
    def output(self, weights, x):
        return super().output(weights, x) * (np.arange(len(x)) < len(x) - 1)[:, None]


@self_attention.mistake("a row left out")
class FirstRowLeftOut(SelfAttention):
    def output(self, weights, x):
        return super().output(weights, x) * (np.arange(len(x)) > 0)[:, None]


def only_rows(number):
    """Self-attention whose rows from `number(x)` on are never filled in."""
    class OnlyRows(SelfAttention):
        def __call__(self, x):
            output, weights = super().__call__(x)
            output[number(x):] = weights[number(x):] = 0
            return output, weights
    return OnlyRows


self_attention.mistake(
    "the last block left out",
    why="The vectors are taken in blocks of equal size, and the last block, where it is not full, is never "
        "reached: its rows stay 0.",
    look="a length that the size of a block does not divide.", hint=3,
    pairs=False)(only_rows(lambda x: len(x) // 2 * 2))

for block in (3, 4):
    self_attention.mistake("the last block left out", pairs=False)(
        only_rows(lambda x, block=block: len(x) // block * block))


@self_attention.mistake(
    "the features counted, not the vectors",
    why="The loop over the vectors makes as many turns as a vector has features: with fewer features than "
        "vectors the last rows stay 0, with more there is an error.",
    look="x.shape holds two numbers. Which of them does each loop need?", hint=3, pairs=False)
class FeaturesCounted(SelfAttention):
    def __call__(self, x):
        output, weights = super().__call__(x)
        for index in range(x.shape[1]):
            weights[index]  # raises where there are more features than vectors
        output[x.shape[1]:] = weights[x.shape[1]:] = 0
        return output, weights


@self_attention.mistake("the features counted, not the vectors", pairs=False)
class FeaturesCountedForTheScores(SelfAttention):
    def scaled(self, scores, x):
        kept = np.zeros(scores.shape)
        for query in range(x.shape[1]):
            for key in range(x.shape[1]):
                kept[query, key] = scores[query, key]
        return kept


@self_attention.mistake(
    "the last row everywhere",
    why="Every row of the output holds the last average: all the rows are one and the same array, filled "
        "again each turn.",
    look="is a new array made in each turn of the loop?", hint=3)
class LastRowEverywhere(SelfAttention):
    def output(self, weights, x):
        return np.zeros(x.shape) + super().output(weights, x)[-1]


@self_attention.mistake(
    "one vector for the whole sequence",
    why="One vector is left of the whole sequence, where every position should have its own average.",
    look="print the shape of the output beside that of x.", hint=3)
class OneVector(SelfAttention):
    def output(self, weights, x):
        return super().output(weights, x).mean(axis=0)


@self_attention.mistake("one vector for the whole sequence")
class OneSum(SelfAttention):
    def output(self, weights, x):
        return super().output(weights, x).sum(axis=0)


@self_attention.mistake("one vector for the whole sequence")
class LastVector(SelfAttention):
    def output(self, weights, x):
        return super().output(weights, x)[-1]


@self_attention.mistake(
    "output transposed",
    why="The output has its rows and columns swapped: the features stand in rows.",
    look="print the shape of the output beside that of x.", hint=3)
class OutputTransposed(SelfAttention):
    def output(self, weights, x):
        return super().output(weights, x).T


@self_attention.mistake("output transposed")
class WeightsAndOutputTransposed(SelfAttention):
    def output(self, weights, x):
        return x.T @ weights


@self_attention.mistake(
    "the output never filled",
    why="The output has the right shape, but it holds zeros only: nothing has been written into it.",
    look="does anything assign into it, or add to it, with `=` or `+=`?", hint=3, pairs=False)
class NeverFilled(SelfAttention):
    def output(self, weights, x):
        return np.zeros(x.shape)


@self_attention.mistake(
    "attention twice",
    why="The output goes through self-attention once more; the contract asks for it once.",
    look="how many times do scores become weights?", hint=3, pairs=False)
class AttentionTwice(SelfAttention):
    def __call__(self, x):
        return super().__call__(super().__call__(x)[0])


@self_attention.mistake(
    "the output brought to length 1",
    why="Each average is divided by its own length; the contract asks for the averages as they are.",
    look="what stands after the average?", hint=3, pairs=False)
class OutputOfLengthOne(SelfAttention):
    def output(self, weights, x):
        output = super().output(weights, x)
        return output / np.linalg.norm(output, axis=-1, keepdims=True)


@self_attention.mistake(
    "the output normalised",
    why="The output goes through a layer norm, with the input added before or without. Both come in lesson "
        "7; the contract asks for the averages as they are.",
    look="what stands after the average?", hint=3, pairs=False)
class OutputNormalised(SelfAttention):
    def output(self, weights, x):
        output = super().output(weights, x)
        centred = output - output.mean(axis=-1, keepdims=True)
        return centred / np.sqrt(output.var(axis=-1, keepdims=True) + 1e-5)


@self_attention.mistake("the output normalised", pairs=False)
class OutputNormalisedWithTheInput(SelfAttention):
    def output(self, weights, x):
        output = super().output(weights, x) + x
        return (output - output.mean(axis=-1, keepdims=True)) / output.std(axis=-1, keepdims=True)


@self_attention.mistake("the output normalised", pairs=False)
class OutputNormalisedByItsDeviation(SelfAttention):
    def output(self, weights, x):
        output = super().output(weights, x)
        return (output - output.mean(axis=-1, keepdims=True)) / output.std(axis=-1, keepdims=True)


@self_attention.mistake(
    "the weights summed up, not the vectors",
    why="The weighted vectors are summed over the queries: each row is one vector times all the weight that "
        "it gets.",
    look="which of the two positions should the sum run over?", hint=3)
class SummedOverQueries(SelfAttention):
    def output(self, weights, x):
        return x * weights.sum(axis=0)[:, None]


@self_attention.mistake(
    "a softmax of the output",
    why="The output goes through a softmax of its own: its features then sum to 1, which no average of "
        "vectors does.",
    look="what stands after the average?", hint=3)
class SoftmaxOfOutput(SelfAttention):
    def output(self, weights, x):
        return first_steps.softmax(super().output(weights, x))


@self_attention.mistake(
    "averaged with the weights twice",
    why="The averages are averaged once more with the same weights.",
    look="how many times do the weights meet the vectors?", hint=3)
class WeightedTwice(SelfAttention):
    def output(self, weights, x):
        return weights @ super().output(weights, x)


@self_attention.mistake(
    "only the last term of the sum",
    why="Each turn of the inner loop replaces the output by one weighted vector, so only the last vector is "
        "left of the sum.",
    look="`=` or `+=`?", hint=3)
class OnlyTheLastTerm(SelfAttention):
    def output(self, weights, x):
        return weights[:, -1:] * x[-1]


@self_attention.mistake(
    "the vector of the best match",
    why="The output takes the one vector with the largest weight, not the average of all of them.",
    look="what do the other weights of the row do?", hint=3)
class BestVector(SelfAttention):
    def output(self, weights, x):
        return x[weights.argmax(axis=-1)]


@self_attention.mistake(
    "the scores averaged",
    why="The weights average the scores, not the vectors.",
    look="which shape does the output have, and which should it have?", hint=3)
class ScoresAveraged(SelfAttention):
    def output(self, weights, x):
        return weights @ self.scores(x)


@self_attention.mistake(
    "the scores as output",
    why="What comes in the place of the output are the scores: no vector has been averaged.",
    look="the names in the `return` line.", hint=3, pairs=False)
class ScoresReturnedAsOutput(SelfAttention):
    def output(self, weights, x):
        return x @ x.T


@self_attention.mistake(
    "one result twice",
    why="The same result is returned twice: one of the two that are asked for is missing.",
    look="the names in the `return` line.", hint=3, pairs=False)
class WeightsTwice(SelfAttention):
    def output(self, weights, x):
        return weights


@self_attention.mistake("one result twice", pairs=False)
class OutputTwice(SelfAttention):
    def __call__(self, x):
        output, _ = super().__call__(x)
        return output, output


@self_attention.mistake(
    "only one row of the weights",
    why="The weights that are returned are those of the last query, or of the first, alone.",
    look="where does the loop keep the weights of each query?", hint=2, pairs=False)
class LastRowOfWeights(SelfAttention):
    def __call__(self, x):
        output, weights = super().__call__(x)
        return output, weights[-1]


@self_attention.mistake("only one row of the weights", pairs=False)
class FirstRowOfWeights(SelfAttention):
    def __call__(self, x):
        output, weights = super().__call__(x)
        return output, weights[0]


@self_attention.mistake(
    "the features averaged away",
    why="The output is averaged or summed over its features, and one number is left of each vector.",
    look="print the shape of the output beside that of x.", hint=3, pairs=False)
class FeaturesAveraged(SelfAttention):
    def output(self, weights, x):
        return super().output(weights, x).mean(axis=-1)


@self_attention.mistake("the features averaged away", pairs=False)
class FeaturesSummed(SelfAttention):
    def output(self, weights, x):
        return super().output(weights, x).sum(axis=-1)


@self_attention.mistake(
    "the output in one long row",
    why="The output has been flattened: its numbers are right, but its shape is lost.",
    look="print the shape of the output beside that of x.", hint=3, pairs=False)
class Flattened(SelfAttention):
    def output(self, weights, x):
        return super().output(weights, x).ravel()


@self_attention.mistake(
    "the softmax of x",
    why="The softmax runs over the features of x itself: no vector has met another.",
    look="what does the softmax turn into weights?", hint=2, pairs=False)
class SoftmaxOfVectors(SelfAttention):
    def scores(self, x):
        return x

    def output(self, weights, x):
        return weights.T @ x


@self_attention.mistake("the softmax of x", pairs=False)
class SoftmaxOfVectorsTimes(SoftmaxOfVectors):
    def output(self, weights, x):
        return weights * x


@self_attention.mistake("the softmax of x", pairs=False)
class SoftmaxOfVectorsFirst(SoftmaxOfVectors):
    def output(self, weights, x):
        return weights @ x.T


@self_attention.mistake(
    "the scores for the output",
    why="The output is made with the scores themselves, from before the softmax; the weights that are "
        "returned never meet the vectors.",
    look="which array stands beside x in the last product?", hint=3)
class ScoresForTheOutput(SelfAttention):
    def output(self, weights, x):
        return self.scores(x) @ x
