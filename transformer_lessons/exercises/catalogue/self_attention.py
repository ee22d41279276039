"""self_attention, lesson 1: every vector becomes an average of all of them."""

import numpy as np

from transformer_lessons.exercises.catalogue.softmax import ZERO_MASKED, divided, divided_in_turn, largest, lowered
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal
from transformer_lessons.first_steps import self_attention, softmax


def draw_vectors(generator, length, features, alike=False):
    """With alike, vector 1 is longer than 0 and points almost the same way, 3 is at a right angle to 2, and 5 is 4."""
    x = normal(generator, length, features).numpy()
    if alike:
        x[1], x[5] = 1.5 * x[0] + 0.1 * x[1], x[4]
        x[2, :2] = x[3, 2:] = 0.0
    return (x,)


exercise = Exercise(
    name="self_attention",
    lesson=1,
    title="A sequence attends to itself",
    difficulty=1,
    importance=3,
    minutes=10,
    contract="""self_attention(x) takes a NumPy array of shape (length, features) and returns (output,
        weights). The score of two vectors is their dot product, without scaling. weights has the shape (length, length)
        and contains the softmax of the scores, taken over the keys in each row. output has the shape (length,
        features), and each of its rows is the average of the vectors, weighted by the same row of weights.""",
    stub='''
        def self_attention(x):
            """(output, weights): the averages of the vectors, and the weights that made them."""
            raise NotImplementedError''',
    sizes=[
        {"length": 2, "features": 3},
        {"length": 3, "features": 2},
        {"length": 3, "features": 3},
        {"length": 4, "features": 6},
        {"length": 6, "features": 4, "alike": True},
        {"length": 1, "features": 3},
    ],
    draw=draw_vectors,
    reference=self_attention,
    returns=("output", "weights"),
    shapes={"output": "(query, features)", "weights": "(query, key)"},
    hints=[
        (
            "the scores",
            "Every vector is compared with every vector, so there are length × length scores. What must "
            "you do to the second x for `@` to compute them all?",
        ),
        (
            "the weights",
            "Row 0 of the weights belongs to vector 0. It is the softmax of that vector's scores with "
            "all the vectors. Does your row 0 sum to 1?",
        ),
        (
            "the output",
            "Row 0 of the output is a sum over all the vectors, each multiplied by its weight in row 0 of the weights.",
        ),
    ],
)


@exercise.right("step by step")
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
        return softmax(scores)

    def output(self, weights, x):
        return weights @ x


# What the mistakes are made of
HOW_MANY_SCORES = "how many scores should there be for 2 vectors of 3 features?"
TWO_VECTORS = "how does the exercise turn two vectors into one number?"
SOFTMAX_OF_WHAT = "what should the softmax turn into weights?"
WHAT_BETWEEN = "what does the exercise do between the dot products and the softmax?"
WHAT_BEFORE = "what happens to x before the dot products?"
DIAGONAL = "the diagonal of your weights."
SUM_STARTS = "what does the sum hold when the next query begins?"
SUM_ONE_ROW = "add up one row of your weights: what do you get?"
SCORES_ENTER = "where does your answer use the scores?"
RETURN_LINE = "what does each name in the `return` line stand for?"
AFTER_THE_AVERAGES = "what happens to the averages before the `return`?"
PRINT_SHAPES = "print the shape of the output next to that of x."
AFTER_THE_AVERAGE = "what happens to the average before the `return`?"


def diagonal(x):
    return np.eye(len(x), dtype=bool)


def apart(x):
    """How many places two vectors are apart."""
    return np.abs(np.arange(len(x)) - np.arange(len(x))[:, None])


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def distances(x):
    return np.linalg.norm(x[:, None] - x, axis=-1)


def only(part, scores):
    """Zeros, except for a part of the scores."""
    kept = np.zeros(scores.shape)
    kept[part] = scores[part]
    return kept


# The scores
mistake = exercise.section(hint=1)
mistake(
    "features compared, not vectors",
    pairs=4,
    why="The scores compare the features with each other: there is one "
    "score for each pair of columns of x, not for each pair of vectors.",
    look="what shape do the scores have, and what shape should they have?",
    scores=lambda x: x.T @ x,
    variants=[
        {"scores": lambda x: x.T @ x, "output": output}
        for output in (
            lambda weights, x: x @ weights,
            lambda weights, x: x @ weights.T,
            lambda weights, x: weights @ x.T,
        )
    ],
)
mistake(
    "no transpose in the scores",
    why="x is multiplied by x, which works only for square arrays. Each score then "
    "combines a row of x with a column, not with another row.",
    look="`a @ b` multiplies rows of a by columns of b. Are the vectors of x rows or columns?",
    scores=lambda x: x @ x,
)
mistake(
    "elementwise product for the scores",
    pairs=2,
    why="The numbers of x are multiplied one by one, as by `*`; a "
    "score is a dot product, which also adds up the products.",
    look=HOW_MANY_SCORES,
    scores=[lambda x: x * x, lambda x: x * x.T],
    variants=[{"scores": lambda x: x * x, "output": lambda weights, x: weights * x}],
)
mistake(
    "each vector meets only itself",
    pairs=0,
    why="Each vector is multiplied only by itself, so there is one score for each vector instead of one for each pair.",
    look="how many scores should there be for 2 vectors?",
    scores=lambda x: (x * x).sum(axis=-1),
    variants=[
        {"scores": lambda x: (x * x).sum(axis=-1), "output": lambda weights, x: weights[:, None] * x},
        {"scores": lambda x: (x * x).sum(axis=-1, keepdims=True), "output": lambda weights, x: weights * x},
    ],
)
mistake(
    "an outer product for the scores",
    pairs=0,
    why="Every number of x is multiplied by every number of x, as by "
    "`np.outer`, and nothing is added up, so there are far more products than pairs of vectors.",
    look=HOW_MANY_SCORES,
    variants=[{"scores": lambda x: np.outer(x, x), "output": lambda weights, x: weights @ x.ravel()}],
)
mistake(
    "x reshaped, not transposed",
    why="x has been regrouped into the right shape, as by `reshape`, but its "
    "numbers keep their old order, so the columns are not the vectors.",
    look="reshape a (2, 3) array of 0 … 5 to (3, 2), and compare the result with the array's transpose.",
    scores=lambda x: x @ x.reshape(x.shape[::-1]),
)
mistake(
    "sums for products",
    pairs=0,
    why="The scores add features of two vectors; a dot product multiplies them instead, and adds up the products.",
    look=TWO_VECTORS,
    scores=[lambda x: (x[:, None] + x).sum(axis=-1), lambda x: np.tanh(x[:, None] + x).sum(axis=-1), lambda x: x + x.T],
)


def sinusoids(x):
    pairs = np.arange(x.shape[1]) // 2 * 2
    angles = np.arange(len(x))[:, None] / 10000 ** (pairs / x.shape[1])
    return np.where(np.arange(x.shape[1]) % 2 == 0, np.sin(angles), np.cos(angles))


mistake = exercise.section(hint=2)
mistake(
    "a softmax before the product",
    pairs=0,
    why="The vectors themselves go through a softmax before the dot products; the exercise compares them as they are.",
    look=SOFTMAX_OF_WHAT,
    scores=lambda step, x: step(softmax(x)),
    variants=[{"scores": lambda step, x: step(softmax(x)), "weights": lambda scores: scores}],
)
mistake(
    "positions added",
    pairs=0,
    why="Something that depends on the position is added to x or to the scores. "
    "Positions come in lesson 5; this exercise uses none.",
    look="what happens to x, or to the scores, before the softmax?",
    scores=[
        lambda step, x: step(x + np.arange(len(x))[:, None]),
        lambda right, x: right + np.arange(len(x)),
        lambda right, x: right - apart(x),
    ],
    variants=[
        {"__call__": lambda step, x: step(x + np.arange(len(x))[:, None])},
        {"__call__": lambda step, x: step(x + sinusoids(x))},
    ],
)
mistake(
    "the scores clipped",
    why="Scores beyond a limit are clipped to it before the softmax, so scores that differ can become equal.",
    look=WHAT_BETWEEN,
    scores=[
        lambda right, low=low, high=high: np.clip(right, low, high)
        for low, high in ((-1, 1), (-0.5, 0.5), (-2, 2), (-3, 3), (0, None), (None, 1), (0, 1))
    ],
)
mistake(
    "only the neighbours",
    why="Each vector attends only to itself and its neighbours; in the exercise, each vector should attend to all of "
    "them.",
    look="the corners of your weights.",
    scores=lambda right, x: np.where(apart(x) < 2, right, -1e9),
)


def best(weights, many):
    return np.where(weights >= np.sort(weights, axis=-1)[:, -many:][:, :1], weights, 0)


mistake(
    "only the few best",
    pairs=0,
    why="Each vector attends only to the few that match best, and the others get "
    "nothing; a softmax gives some weight to every vector.",
    look="which of your weights are exactly 0?",
    weights=[
        lambda right: divided(best(right, 2)),
        lambda right: divided(best(right, 3)),
        lambda right: best(right, 2),
        lambda right: best(right, 3),
    ],
)
mistake(
    "a score never computed",
    hint=1,
    pairs=0,
    why="The scores of the last vector or the first, as a key, as a "
    "query or as both, are 0 in the softmax, as when they are never computed.",
    look="which scores are exactly 0 just before the softmax, and which line should have computed them?",
    scores=[
        lambda right, part=part: only(part, right)
        for part in (np.s_[:, :-1], np.s_[:, 1:], np.s_[:-1], np.s_[1:], np.s_[:-1, :-1], np.s_[1:, 1:])
    ],
)
mistake(
    "scores divided by √d",
    why="The scores are divided by the square root of the number of features. That scaling "
    "comes in lesson 3; this exercise leaves the scores as they are.",
    look=WHAT_BETWEEN,
    scaled=lambda scores, x: scores / x.shape[1] ** 0.5,
)
mistake(
    "scores divided by d",
    why="The scores are divided by the number of features; this exercise leaves the scores as they are.",
    look=WHAT_BETWEEN,
    scaled=lambda scores, x: scores / x.shape[1],
)
mistake(
    "scores divided by the length",
    pairs=2,
    why="The scores are divided by the number of vectors, or by its "
    "square root; this exercise leaves them as they are.",
    look=WHAT_BETWEEN,
    scaled=[lambda scores, x: scores / len(x) ** 0.5, lambda scores, x: scores / len(x)],
)
mistake(
    "scores divided by a fixed number",
    pairs=4,
    why="The scores are divided or multiplied by a fixed number; this exercise leaves them as they are.",
    look=WHAT_BETWEEN,
    scaled=[lambda scores, number=number: scores / number for number in (2, 0.5, 10, 8)],
)
mistake(
    "cosines for dot products",
    pairs=2,
    why="Each dot product is replaced by a cosine, as when the vectors are "
    "scaled to length 1 first, so their lengths no longer matter.",
    look="if a vector were twice as long, should its scores change?",
    scores=lambda step, x: step(unit(x)),
    variants=[{"__call__": lambda step, x: step(unit(x))}],
)
mistake(
    "distances for dot products",
    pairs=4,
    why="The scores are based on the distances between the vectors, not on dot products.",
    look=TWO_VECTORS,
    scores=[distances, lambda x: -distances(x), lambda x: distances(x) ** 2, lambda x: -(distances(x) ** 2)],
)
mistake(
    "covariances for dot products",
    pairs=0,
    why="The scores are covariances or correlations, as from `np.cov` or "
    "`np.corrcoef`, which subtract each vector's mean and then divide; a dot product takes the vectors as they are.",
    look=TWO_VECTORS,
    scores=[lambda x: np.cov(x).reshape(len(x), len(x)), lambda x: np.corrcoef(x).reshape(len(x), len(x))],
)

mistake = exercise.section(hint=1)
mistake(
    "one query for all",
    pairs=0,
    why="The same vector, the first or the last, is the query every time, so all the rows of the weights are equal.",
    look="which vector is row 1 of your scores computed from?",
    scores=[lambda right, x: np.zeros((len(x), 1)) + right[:1], lambda right, x: np.zeros((len(x), 1)) + right[-1:]],
)
mistake(
    "one position too far",
    pairs=0,
    why="The positions are off by one: the scores of each query, or the vectors to be averaged, are shifted by one "
    "position, and what falls off one end comes back at the other.",
    look="every index with a `+ 1` or a `- 1`, and every `roll`.",
    scores=[lambda right: np.roll(right, 1, axis=0), lambda right: np.roll(right, -1, axis=0)],
    output=[lambda weights, x: weights @ np.roll(x, 1, axis=0), lambda weights, x: weights @ np.roll(x, -1, axis=0)],
)

SIZES = np.max, np.linalg.norm, np.std, lambda x: np.abs(x).max()
mistake(
    "the vectors rescaled first",
    hint=2,
    pairs=0,
    why="All the vectors are divided by one number before the dot "
    "products, for instance by the largest number in x, so the scores are no longer the dot products of the vectors.",
    look=WHAT_BEFORE,
    scores=[lambda step, x, size=size: step(x / size(x)) for size in SIZES],
    variants=[
        {
            "scores": lambda step, x, size=size: step(x / size(x)),
            "output": lambda step, weights, x, size=size: step(weights, x / size(x)),
        }
        for size in SIZES
    ],
)
mistake(
    "a feature left out of the dot product",
    pairs=0,
    why="The sum over the features leaves out the last one or the first, or consists of only one of these two.",
    look="which features does your dot product run over?",
    scores=[lambda step, x, part=part: step(x[:, part]) for part in (np.s_[:-1], np.s_[1:], np.s_[:1], np.s_[-1:])],
)
mistake(
    "the largest product, not the sum",
    pairs=0,
    why="Of the products of two vectors' features, only the largest is kept; a dot product adds them all up.",
    look="which operation follows the products?",
    scores=lambda x: (x[:, None] * x).max(axis=-1),
)

mistake = exercise.section(hint=2)
mistake(
    "scores divided by the largest",
    pairs=0,
    why="The scores are divided by the largest score in their row, or the largest of all; this exercise leaves them as "
    "they are.",
    look=WHAT_BETWEEN,
    scores=[lambda right: right / right.max(), lambda right: right / largest(right)],
)
mistake(
    "no vector may attend to itself",
    pairs=4,
    why="The diagonal is removed from the scores or the weights, so no "
    "vector attends to itself. In the exercise, each vector should attend to all of them.",
    look=DIAGONAL,
    scores=[
        lambda right, x: np.where(diagonal(x), -1e9, right),
        lambda right, x: np.where(diagonal(x), -np.inf, right),
    ],
    weights=[
        lambda right: np.where(diagonal(right), 0, right),
        lambda right: np.nan_to_num(divided(np.where(diagonal(right), 0, right))),
    ],
)
mistake(
    "the diagonal of the scores doubled",
    why="The score of each vector with itself is doubled, as when half a "
    "table is added to its mirror image: both contain the diagonal.",
    look="compare the first score on the diagonal with x[0] · x[0].",
    scores=lambda right, x: np.where(diagonal(x), 2 * right, right),
)
mistake(
    "the diagonal of the scores set to 0",
    why="The score of each vector with itself is replaced by 0; the "
    "exercise keeps it. And a score of 0 still gets a weight, since exp(0) is 1.",
    look="the diagonal of your scores.",
    scores=lambda right, x: np.where(diagonal(x), 0, right),
)
mistake("a score of 0 taken for masked", *ZERO_MASKED, pairs=0, scores=lambda right: np.where(right == 0, -1e9, right))
mistake(
    "a causal mask",
    why="Each vector attends only to itself and to those before it. Masks come in lesson 6; "
    "in this exercise, each vector should attend to all of them.",
    look="in row 0 of your weights, which vectors get a weight other than 0?",
    scores=lambda right, x: np.where(np.tri(len(x), dtype=bool), right, -1e9),
)
mistake(
    "a causal mask without the diagonal",
    why="Each vector but the first attends only to those before it, not even "
    "to itself. The exercise has no mask: each vector should attend to all of them.",
    look=DIAGONAL,
    scores=lambda right, x: np.where(np.tri(len(x), k=-1, dtype=bool), right, -1e9),
)
mistake(
    "a mask on what came before",
    why="Each vector attends only to itself and to those after it. The exercise has no mask: each vector should attend "
    "to all of them.",
    look="in which rows of your weights does vector 0 get a weight other than 0?",
    scores=lambda right, x: np.where(np.tri(len(x), dtype=bool).T, right, -1e9),
)
mistake(
    "half of the scores",
    hint=1,
    pairs=2,
    why="The scores on one side of the diagonal are 0 in the softmax, as when only half of the table is computed.",
    look="which scores are exactly 0 just before the softmax, and which line should have computed them?",
    scores=[
        lambda right: np.triu(right),
        lambda right: np.tril(right),
        lambda right: np.triu(right, k=1),
        lambda right: np.tril(right, k=-1),
    ],
)


def projected(self, x, seed, drawn):
    draw = getattr(np.random.RandomState(seed), drawn)
    query, key, value = (x @ draw(x.shape[1], x.shape[1]) for _ in range(3))
    weights = self.weights(self.scaled(query @ key.T, x))
    return weights @ value, weights


mistake(
    "projections that nobody asked for",
    hint=1,
    pairs=0,
    why="x is multiplied by matrices of random numbers "
    "before the dot products. Learned projections come in lesson 2; this exercise uses x as it is in all three roles.",
    look="which arrays go into the dot products, and which one is averaged?",
    variants=[
        {"__call__": lambda self, x, seed=seed, drawn=drawn: projected(self, x, seed, drawn)}
        for seed in (0, 42)
        for drawn in ("randn", "rand")
    ],
)
mistake(
    "a mean subtracted",
    pairs=2,
    why="A mean is subtracted from the vectors or the scores; the exercise asks for the dot products as they are.",
    look="what is subtracted on the way to the softmax?",
    scores=[lambda step, x: step(x - x.mean(axis=0)), lambda step, x: step(x - x.mean(axis=1, keepdims=True))],
    variants=[{"__call__": lambda step, x: step(x - x.mean(axis=0))}],
)
mistake(
    "the sign flipped",
    why="The scores enter the softmax with the opposite sign: the worst match gets the largest weight.",
    look="what changes the sign of the scores on the way to the softmax?",
    scores=lambda right: -right,
)
mistake(
    "signs lost",
    pairs=3,
    why="The scores lose their signs, by `abs` or a square, so a vector that points the "
    "opposite way counts as one that matches.",
    look="should two opposite vectors match?",
    scores=[lambda right: np.abs(right), lambda right: right**2],
    variants=[{"scores": lambda right: right**2, "weights": lambda scores: divided(scores)}],
)


# The weights
def no_keepdims(exponentials):
    return exponentials / exponentials.sum(axis=-1)


mistake(
    "softmax over the queries",
    why="The columns of the weights sum to 1 instead of the rows, as when the sum "
    "runs over the queries, or runs over the keys but lines up with the columns.",
    look="add up one row of your weights, then look at `axis` and `keepdims`.",
    weights=[lambda scores: softmax(scores.T).T, lambda scores: divided(np.exp(lowered(scores)), 0)],
)
mistake(
    "no keepdims",
    pairs=2,
    why="The sum over a row, and perhaps its maximum, is lined up with the columns, so "
    "column 1 is divided by the sum of row 1.",
    look="print the shapes of the exponentials and of their sum, side by side.",
    weights=[
        lambda scores: no_keepdims(np.exp(lowered(scores))),
        lambda scores: no_keepdims(np.exp(scores - scores.max(axis=-1))),
    ],
)
mistake(
    "the sum changes while it divides",
    why="The sum is computed again after some of the exponentials have been "
    "divided, so the divisor changes along the way.",
    look="is the sum computed once, before the first division?",
    weights=[
        lambda scores: np.apply_along_axis(divided_in_turn, -1, np.exp(scores)),
        lambda scores: divided_in_turn(np.exp(scores)),
        lambda scores: divided_in_turn(np.exp(scores), depth=None),
        lambda scores: np.apply_along_axis(divided_in_turn, -1, np.exp(lowered(scores))),
        lambda scores: np.apply_along_axis(divided_in_turn, -1, np.exp(lowered(scores, None))),
        lambda scores: divided_in_turn(np.exp(lowered(scores, None))),
    ],
)
mistake(
    "the sum not cleared between the rows",
    pairs=0,
    why="Each row is divided by its own sum plus the sums of all the rows before it, as when a sum is not reset to 0 "
    "between the rows.",
    look=SUM_STARTS,
    weights=lambda scores: np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True).cumsum(axis=0),
)
mistake(
    "a dot product not cleared",
    hint=1,
    pairs=0,
    why="Each score also contains the scores before it in its row, as when a sum is not reset to 0 between the dot "
    "products.",
    look="what does the sum hold when the next dot product begins?",
    scores=lambda right: right.cumsum(axis=1),
)
mistake(
    "floor division",
    pairs=0,
    why="Everything after the decimal point is dropped, as by `//`. Nearly every weight is below 1, so it becomes 0.",
    look="any `//`, `floor`, `trunc` or `int`: what does it do to a weight of 0.9?",
    weights=lambda right: right // 1,
)
mistake(
    "the columns' largest subtracted",
    why="The largest score of each column is subtracted, or that of each row "
    "but lined up with the columns. Different numbers are then subtracted within a row, which changes its weights.",
    look="from which scores must you subtract the same number, if the weights are to stay the same?",
    weights=lambda scores: divided(np.exp(lowered(scores, 0))),
)
mistake(
    "softmax over everything",
    why="One softmax runs over all the scores at once, so all the weights together sum to 1, when each row should.",
    look=SUM_ONE_ROW,
    weights=lambda scores: softmax(scores.ravel()).reshape(scores.shape),
)
mistake(
    "no softmax",
    why="The scores themselves are used as weights: they can be negative, and the rows do not sum to 1.",
    look="what turns scores into weights?",
    weights=lambda scores: scores,
)
mistake(
    "scores divided by their sum",
    why="The scores are divided by their sum, with no exponential, so weights can "
    "be negative, and a sum near 0 makes them huge.",
    look="which function makes every score positive and keeps their order?",
    weights=[lambda scores: divided(scores), lambda scores: no_keepdims(scores)],
)
mistake(
    "the exponential taken twice",
    pairs=0,
    why="The softmax is given the exponentials of the scores instead of the scores, so the exponential is taken twice.",
    look="how many times does your answer take an exponential?",
    weights=lambda scores: softmax(np.exp(scores)),
)
mistake(
    "divided over rows and columns",
    pairs=0,
    why="The exponentials are divided twice, by the sums of the rows and "
    "by the sums of the columns, so the weights are no longer the softmax of the scores.",
    look="how many times do you divide?",
    weights=[lambda right: divided(right, 0), lambda right: divided(right.T)],
)
mistake(
    "exponentials not divided by their sum",
    pairs=2,
    why="The exponentials are used as weights without being divided by their sum, so the rows do not sum to 1.",
    look=SUM_ONE_ROW,
    weights=[lambda scores: np.exp(scores), lambda scores: np.exp(lowered(scores))],
)
mistake(
    "the logarithm of the weights",
    why="This is a log-softmax: every weight is negative or 0, and a row does not sum to 1.",
    look=SUM_ONE_ROW,
    weights=lambda right: np.log(right),
)
mistake(
    "a sigmoid for the softmax",
    why="Each score goes through a sigmoid separately, so the keys of a query do not "
    "compete, and nothing makes a row sum to 1.",
    look=SUM_ONE_ROW,
    weights=lambda scores: 1 / (1 + np.exp(-scores)),
)
mistake(
    "a hyperbolic tangent for the softmax",
    pairs=0,
    why="Each score goes through a tanh separately, so weights can be negative, and nothing makes a row sum to 1.",
    look=SUM_ONE_ROW,
    weights=lambda scores: np.tanh(scores),
)
mistake(
    "negative scores cut to 0",
    why="Negative scores are set to 0 and the rest are divided by their sum; there is no exponential.",
    look="should a negative score get no weight at all?",
    weights=lambda scores: divided(np.maximum(scores, 0)),
)
mistake(
    "only the best match",
    why="The largest score of each row takes all the weight. A softmax gives some weight to every score.",
    look="if two scores differ by a hair, should one of them get everything?",
    weights=lambda scores: (np.arange(scores.shape[-1]) == scores.argmax(axis=-1)[..., None]).astype(float),
)
mistake(
    "every vector keeps to itself",
    why="The weights are 1 on the diagonal and 0 elsewhere, so no vector takes anything from another.",
    look=SCORES_ENTER,
    weights=lambda scores: np.eye(len(scores)),
)
mistake(
    "equal weights",
    why="Every vector gets the same weight, so each output is the plain average of the vectors: "
    "the scores are not used.",
    look=SCORES_ENTER,
    weights=lambda scores: np.full(scores.shape, 1 / scores.shape[-1]),
)
mistake(
    "a running average",
    pairs=0,
    why="Each output is the plain average of the vectors up to its own position: the "
    "scores are not used, and the later vectors are left out.",
    look=SCORES_ENTER,
    weights=lambda scores: divided(np.tri(len(scores))),
)
mistake(
    "softmax twice",
    why="The weights go through a second softmax, which makes them more equal.",
    look="how many times does your answer take an exponential?",
    weights=lambda right: softmax(right),
)
mistake(
    "rounded weights",
    pairs=3,
    why="The weights are rounded, so the rows may no longer sum to 1. Rounding is for showing, not for computing.",
    look="what happens to the weights after the softmax?",
    weights=[lambda right, places=places: right.round(places) for places in (2, 1, 3)],
)
mistake(
    "the scores for the weights",
    why="The scores from before the softmax are returned in place of the weights.",
    look=RETURN_LINE,
    variants=[{"__call__": lambda self, right, x: (right[0], self.scaled(self.scores(x), x))}],
)

# The output
mistake = exercise.section(hint=3)
mistake(
    "weights transposed for the output",
    why="The output uses the columns of the weights instead of the rows: each "
    "row is made with the weights that its vector gets, not those that it gives, and they need not sum to 1.",
    look="row 0 of the output should be the average for vector 0. Where are the weights that vector 0 gives?",
    output=lambda weights, x: weights.T @ x,
)
mistake(
    "x transposed for the output",
    why="The weights are multiplied by x with its rows and columns swapped. That "
    "works only for square arrays, and the averages then run over features, not over vectors.",
    look="`a @ b` sums over the rows of b. What should the sum run over?",
    output=lambda weights, x: weights @ x.T,
)
mistake(
    "x before the weights",
    why="x comes first in the product. That works only for square arrays, and the weights "
    "then mix the features, not the vectors.",
    look="`a @ b` sums over the columns of a and the rows of b. Which of the two holds the vectors?",
    output=lambda weights, x: x @ weights,
)
mistake(
    "weights times x, number by number",
    why="The weights and x are multiplied number by number, as by `*`, but the output should be a sum over the "
    "vectors.",
    look="what does the output of one query add up?",
    output=lambda weights, x: weights * x,
)
mistake(
    "the input as output",
    why="The output is x itself. That also happens if each vector is multiplied by the "
    "weights of its own row: they sum to 1, and no other vector is added.",
    look="which vector should the weight in row 0, column 1 be multiplied by?",
    output=lambda x: x,
)
mistake(
    "the input added to the output",
    why="x is added to the averages. Such a skip connection comes in lesson 7; "
    "this exercise asks for the averages alone.",
    look=AFTER_THE_AVERAGES,
    output=lambda right, x: right + x,
)
mistake(
    "the input subtracted from the output",
    pairs=0,
    why="x is subtracted from the averages; the exercise asks for the averages alone.",
    look=AFTER_THE_AVERAGES,
    output=lambda right, x: right - x,
)
mistake(
    "averaged twice",
    why="The weighted sums are divided by the number of vectors. Weights that sum to 1 have "
    "already made them averages.",
    look="which `mean` or division comes after the softmax?",
    output=lambda right, x: right / len(x),
)
mistake(
    "the sums run on",
    why="Each output also contains all the outputs before it, as when a sum is not reset to 0 between the queries.",
    look=SUM_STARTS,
    output=lambda right: np.cumsum(right, axis=0),
)
mistake(
    "the weighted vectors not summed",
    pairs=0,
    why="Each vector is multiplied by its weight, but nothing is added "
    "up: for every query there are still as many vectors as keys.",
    look="which dimension must disappear, and how?",
    output=[lambda weights, x: weights[:, :, None] * x, lambda weights, x: weights[:, None, :] * x.T],
)
mistake(
    "the sum starts at 1",
    pairs=0,
    why="Every number of the output is 1 too large, as when the sum of the weighted vectors starts from 1, not from 0.",
    look="what is in the output before the first vector is added?",
    output=lambda right: right + 1,
)


def averages_of_averages(weights, x):
    mixed = x.copy()
    for index, row in enumerate(weights):
        mixed[index] = row @ mixed
    return mixed


def averages_of_averages_that_meet(self, x):
    mixed, weights = x.copy(), []
    for index in range(len(x)):
        weights.append(self.weights(mixed[index : index + 1] @ mixed.T)[0])
        mixed[index] = weights[-1] @ mixed
    return mixed, np.array(weights)


mistake(
    "averages of averages",
    why="The vectors are replaced one by one while the loop is still running, so later "
    "averages are made of earlier ones.",
    look="which array does the loop read from, and which does it write to?",
    output=averages_of_averages,
    variants=[{"__call__": averages_of_averages_that_meet}],
)
mistake(
    "a row left out",
    pairs=2,
    why="The last row of the output, or the first, is all zeros, as when a loop or slice ends too early or starts too "
    "late.",
    look="for which vectors do you compute a row?",
    output=[lambda right: only(np.s_[:-1], right), lambda right: only(np.s_[1:], right)],
)
mistake(
    "the last block left out",
    pairs=0,
    why="For some lengths, the last rows of both results are zeros, as when "
    "the vectors are taken in blocks of equal size and a last block that is not full is never reached.",
    look="for which lengths are there rows of zeros?",
    variants=[
        {"__call__": lambda right, x, block=block: [only(np.s_[: len(x) // block * block], one) for one in right]}
        for block in (2, 3, 4)
    ],
)
mistake(
    "the features counted, not the vectors",
    pairs=0,
    why="The features seem to be counted instead of the vectors: "
    "with fewer features than vectors, the last scores or rows are 0, as when a loop ends too early; with more, there "
    "is an error.",
    look="x.shape holds two numbers. Which of them counts the vectors?",
    variants=[{"__call__": lambda right, x: [only(np.arange(x.shape[1]), one) for one in right]}],
    scaled=lambda scores, x: only(np.s_[: x.shape[1], range(x.shape[1])], scores),
)
mistake(
    "the last row everywhere",
    why="Every row of the output holds the last average. Perhaps all the rows are the "
    "same array, filled again in each iteration, or the weights of the last row are used every time.",
    look="if a loop makes the output, what is new in each iteration: the array, the weights, or both?",
    output=lambda right, x: np.zeros(x.shape) + right[-1],
)
mistake(
    "one vector for the whole sequence",
    pairs=3,
    why="Only one vector is left for the whole sequence; every position should have its own average.",
    look=PRINT_SHAPES,
    output=[lambda right: right.mean(axis=0), lambda right: right.sum(axis=0), lambda right: right[-1]],
)
mistake(
    "weights transposed on the way out",
    pairs=0,
    why="The weights are returned with rows and columns swapped: each row should hold the weights of one query.",
    look="does a row of the returned weights sum to 1?",
    variants=[{"__call__": lambda right, x: (right[0], right[1].T)}],
)
mistake(
    "output transposed",
    pairs=2,
    why="The output has its rows and columns swapped, so the features stand in rows.",
    look=PRINT_SHAPES,
    output=[lambda right: right.T, lambda weights, x: x.T @ weights],
)
mistake(
    "the output never filled",
    pairs=0,
    why="The output has the right shape, but it holds only zeros, as when nothing has been written into it.",
    look="which line puts the averages into it, and does it come before the `return`?",
    output=lambda x: np.zeros(x.shape),
)
mistake(
    "attention twice",
    pairs=0,
    why="The output goes through self-attention again; the exercise asks for it once.",
    look="how many times do scores become weights?",
    variants=[{"__call__": lambda right, step: step(right[0])}],
)
mistake(
    "the output brought to length 1",
    pairs=0,
    why="Each average is divided by its own length; the exercise asks for the averages as they are.",
    look=AFTER_THE_AVERAGE,
    output=lambda right: unit(right),
)


def normalised(output, epsilon=0):
    return (output - output.mean(axis=-1, keepdims=True)) / np.sqrt(output.var(axis=-1, keepdims=True) + epsilon)


mistake(
    "the output normalised",
    pairs=0,
    why="The output goes through a layer norm, with or without the input added "
    "first. Both come in lesson 7; the exercise asks for the averages as they are.",
    look=AFTER_THE_AVERAGE,
    output=[
        lambda right: normalised(right, epsilon=1e-5),
        lambda right, x: normalised(right + x),
        lambda right: normalised(right),
    ],
)
mistake(
    "the weights summed up, not the vectors",
    why="The weighted vectors are summed over the queries, so each row "
    "is one vector times all the weight that it gets.",
    look="which should the sum run over, the queries or the keys?",
    output=lambda weights, x: x * weights.sum(axis=0)[:, None],
)
mistake(
    "a softmax of the output",
    why="The output goes through a softmax of its own, so its features sum to 1; the "
    "exercise asks for the averages alone.",
    look=AFTER_THE_AVERAGE,
    output=lambda right: softmax(right),
)
mistake(
    "averaged with the weights twice",
    why="The averages are averaged again with the same weights.",
    look="how many times do you multiply by the weights?",
    output=lambda right, weights: weights @ right,
)
mistake(
    "only the last term of the sum",
    why="Only the last weighted vector is left, as when each iteration of a loop replaces the output instead of adding "
    "to it.",
    look="how many weighted vectors does one row of your output add up?",
    output=lambda weights, x: weights[:, -1:] * x[-1],
)
mistake(
    "the vector of the best match",
    why="The output is just the vector with the largest weight, not the average of all the vectors.",
    look="what should the other weights of the row do?",
    output=lambda weights, x: x[weights.argmax(axis=-1)],
)
mistake(
    "the scores averaged",
    why="The weights are used to average the scores, not the vectors.",
    look="what shape does the output have, and what shape should it have?",
    output=lambda self, weights, x: weights @ self.scores(x),
)
mistake(
    "the scores as output",
    pairs=0,
    why="The scores are returned as the output, in place of the averages.",
    look=RETURN_LINE,
    output=lambda x: x @ x.T,
)
mistake(
    "one result twice",
    pairs=0,
    why="The same result is returned twice, so one of the two you were asked for is missing.",
    look=RETURN_LINE,
    output=lambda weights: weights,
    variants=[{"__call__": lambda right: (right[0], right[0])}],
)
mistake(
    "only one row of the weights",
    hint=2,
    pairs=0,
    why="Only the weights of the last query, or of the first, are returned.",
    look="how many rows should the weights have, and where do you keep them?",
    variants=[
        {"__call__": lambda right: (right[0], right[1][-1])},
        {"__call__": lambda right: (right[0], right[1][0])},
    ],
)
mistake(
    "the features averaged away",
    pairs=0,
    why="The output is averaged or summed over its features, so only one number is left for each query.",
    look=PRINT_SHAPES,
    output=[lambda right: right.mean(axis=-1), lambda right: right.sum(axis=-1)],
)
mistake(
    "the output in one long row",
    pairs=0,
    why="The output has been flattened: its numbers are right, but its shape is lost.",
    look=PRINT_SHAPES,
    output=lambda right: right.ravel(),
)
mistake(
    "the softmax of x",
    hint=2,
    pairs=0,
    why="The softmax runs over the features of x itself, so no vector is compared with another.",
    look=SOFTMAX_OF_WHAT,
    variants=[
        {"scores": lambda x: x, "output": output}
        for output in (
            lambda weights, x: weights.T @ x,
            lambda weights, x: weights * x,
            lambda weights, x: weights @ x.T,
        )
    ],
)
mistake(
    "the scores for the output",
    why="The output is computed with the scores from before the softmax, not with the weights that are returned.",
    look="which array is multiplied by x in the last product?",
    output=lambda self, x: self.scores(x) @ x,
)
