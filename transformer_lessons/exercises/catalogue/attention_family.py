"""The mistakes that people make with attention, with a scale or without: the exercises of lessons 2 and 3 share them.

Each replaces a step of `Attending`. What the scores are divided by has a table of its own, `DIVISORS`, because each
exercise decides for itself which of these divisors are mistakes.
"""

import math

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.checker.exercise import Family, normal

family = Family()


class Attending:
    """Attention in steps. The right answer of an exercise adds scores, weights and output."""

    def attend(self, query, key, value):
        query, key, value = self.roles(query, key, value)
        scores = self.scores(query, key, value)
        scaled = self.scaled(scores, query, key, value)
        weights = self.weights(self.masked(scaled))
        return self.output(weights, value, query), weights

    def roles(self, query, key, value):
        return query, key, value

    def scaled(self, scores, query, key, value):
        return scores  # lesson 3 brings the scale

    def masked(self, scaled):
        return scaled  # lesson 6 brings the mask


# Where to look, in several rows
ROW_SUM = "add up one row of the weights: what do you get?"
WHICH_DIMENSION = "one query's weights must sum to 1. Which dimension holds them?"
AFTER = "what happens to the average before the `return`?"
RETURN = "what does each name in the `return` line stand for?"

# Loops that keep nothing
mistake = family.section(topic="output")
mistake(
    "the last row everywhere",
    pairs=2,
    why="Every row of the output holds the result for the last query, or for the first; the others are missing.",
    look="which queries do you use? And if there is a loop, where does it keep what it computes?",
    output=[lambda right: right[..., -1:, :].expand_as(right), lambda right: right[..., :1, :].expand_as(right)],
)
mistake(
    "the output never filled",
    why="The output has the right shape, but it holds only zeros, as when nothing has been written into it.",
    look="which line puts the weighted sums into it, and does it come before the `return`?",
    output=lambda right: torch.zeros_like(right),
)

# Scores: who meets whom
mistake = family.section(topic="scores")
mistake(
    "no transpose of the key",
    pairs=2,
    why="The query and the key are multiplied as they are. That works only if "
    "the sizes happen to agree, and each score then mixes features with positions.",
    look="`a @ b` multiplies rows of a by columns of b. Are the keys rows or columns?",
    scores=[lambda query, key: query @ key, lambda query, key: key @ query],
)
mistake(
    "the key reshaped, not transposed",
    why="The key has been regrouped into the right shape, as by `view` or "
    "`reshape`, but its numbers keep their old order, so the columns are not the keys.",
    look="reshape a (2, 3) tensor of 0 … 5 to (3, 2), and compare the result with the tensor's transpose.",
    scores=lambda query, key: query @ key.reshape(key.mT.shape),
)

# Leading dimensions
mistake = family.section(topic="batch")
mistake(
    "all dimensions of the key reversed",
    why="All the dimensions of the key are reversed, including the leading "
    "ones, as by `.T`. That is the transpose you need only for a tensor with two dimensions.",
    look="which shape does your transpose make of a key of shape (2, 5, 4)?",
    scores=lambda query, key: query @ key.permute(*range(key.dim() - 1, -1, -1)),
)
mistake(
    "the key's first two dimensions swapped",
    why="Dimensions 0 and 1 of the key are swapped. Without leading "
    "dimensions, that is the transpose; with them, the wrong dimensions are swapped.",
    look="how can you name the last two dimensions, however many come before them?",
    scores=lambda query, key: query @ key.transpose(0, 1),
)
mistake(
    "works with one leading dimension only",
    pairs=3,
    why="Your answer is right with exactly one dimension before "
    "(length, features), but the exercise also allows none, or several.",
    look="which lines count dimensions from the front, or unpack exactly three sizes?",
    scores=[
        lambda query, key: query @ key.transpose(1, 2),
        lambda query, key: query @ key.permute(0, 2, 1),
        lambda query, key: (query[:, :, None] * key[:, None]).sum(-1),
    ],
    attend=lambda right, query: next(right for _, _, _ in [query.shape]),
)
mistake(
    "works with two leading dimensions only",
    pairs=3,
    why="Your answer is right with exactly two dimensions "
    "before (length, features), but the exercise also allows none, one, or more.",
    look="which lines count dimensions from the front, or unpack exactly four sizes?",
    scores=[lambda query, key: query @ key.transpose(2, 3), lambda query, key: query @ key.permute(0, 1, 3, 2)],
    attend=lambda right, query: next(right for _, _, _, _ in [query.shape]),
)
mistake(
    "works without leading dimensions only",
    pairs=2,
    why="Your answer is right without a batch, but the exercise allows any dimensions before (length, features).",
    look="which lines count dimensions from the front, or use `.t()`?",
    scores=lambda query, key: query @ key.t(),
    attend=lambda right, query: next(right for _, _ in [query.shape]),
)

# Scores: what is multiplied, and what it is made of
mistake = family.section(topic="scores")
mistake(
    "elementwise product for the scores",
    pairs=2,
    why="Query and key are multiplied number by number, as by `*`; a score is a dot product, which also adds up the "
    "products.",
    look="how many scores should there be for 2 queries and 3 keys?",
    scores=lambda query, key: query * key,
    variants=[{"scores": lambda query, key: query * key, "output": lambda weights, value: weights * value}],
)
mistake(
    "each query meets one key only",
    pairs=3,
    why="Each query is multiplied only by the key at its own position, "
    "so there is one score for each query, not one for each pair of query and key.",
    look="how many scores should there be for 2 queries and 3 keys?",
    variants=[
        {
            "scores": lambda query, key: (query * key).sum(-1, keepdim=True),
            "output": lambda weights, value: weights * value,
        },
        *(
            {"scores": lambda query, key: (query * key).sum(-1), "output": output}
            for output in (lambda weights, value: weights[..., None] * value, lambda weights, value: weights @ value)
        ),
    ],
)
mistake(
    "sums for products",
    pairs=2,
    why="The scores add the features of a query to those of a key; a dot product "
    "multiplies them instead, and adds up the products.",
    look="how does the exercise turn a query and a key into one number?",
    scores=[
        lambda query, key: (query[..., :, None, :] + key[..., None, :, :]).sum(-1),
        lambda query, key: (query[..., :, None, :] + key[..., None, :, :]).tanh().sum(-1),
    ],
)
mistake(
    "torch.dot of tables",
    raises=True,
    why="`torch.dot` takes two single vectors, but the queries and the keys are tables of vectors, or batches of "
    "tables.",
    look="which operation computes all the dot products at once?",
    scores=lambda query, key: torch.dot(query, key),
)
mistake(
    "transpose without its dimensions",
    raises=True,
    why="A tensor's `transpose` must be told which two "
    "dimensions to swap. (A NumPy array's also works without arguments, but reverses them all.)",
    look="how can you name the last two dimensions, however many come before them?",
    scores=lambda query, key: query @ key.transpose(),
)
mistake(
    "positions added to the scores",
    pairs=2,
    why="Something that depends on the positions is added to the "
    "scores; a score should depend only on a query and a key.",
    look="what happens to the scores before the softmax?",
    masked=[
        lambda scaled: scaled + torch.arange(scaled.shape[-1]),
        lambda scaled: scaled - (torch.arange(scaled.shape[-2])[:, None] - torch.arange(scaled.shape[-1])).abs(),
    ],
)
mistake(
    "a score never computed",
    pairs=6,
    why="The scores of the last key or query, or of the first, are 0 in the softmax, as when they are never computed.",
    look="which scores are exactly 0 just before the softmax, and which line should have computed them?",
    masked=[
        lambda scaled, edges=edges: F.pad(F.pad(scaled, [-width for width in edges]), edges)
        for edges in ((0, 1), (1, 0), (0, 0, 0, 1), (0, 0, 1, 0), (0, 1, 0, 1), (1, 0, 1, 0))
    ],
)
mistake(
    "zeros for a mask",
    pairs=4,
    why="The scores on one side of the diagonal are 0 in the softmax. The exercise "
    "has no mask, and a score of 0 hides nothing anyway: e⁰ is 1.",
    look="any `tril`, `triu` or loop that ends early: which scores does it leave at 0?",
    masked=[
        lambda scaled: scaled.tril(),
        lambda scaled: scaled.triu(),
        lambda scaled: scaled.tril(-1),
        lambda scaled: scaled.triu(1),
    ],
)
mistake(
    "features compared, not vectors",
    pairs=4,
    why="The scores compare features with each other: the sum runs over the positions, not over the features.",
    look="how many scores should there be for 2 queries and 3 keys, each of 4 features?",
    scores=lambda query, key: query.mT @ key,
    variants=[
        {"scores": lambda query, key: query.mT @ key, "output": output}
        for output in (
            lambda weights, value: value @ weights,
            lambda weights, value: value @ weights.mT,
            lambda weights, value: weights @ value.mT,
        )
    ],
)
mistake(
    "queries and keys swapped",
    why="Queries and keys are swapped, so the weights have one row for each key, not for each query.",
    look="which of the two should give the scores their rows, and which their columns?",
    scores=lambda step, query, key, value: step(key, query, value),
)
mistake(
    "softmax over the queries, and weights transposed",
    why="The softmax runs over the queries, so the weights "
    "that all of them give to one key sum to 1. Also, the weights have one row for each key, not for each query.",
    look="whose weights should a row hold, and what should they sum to?",
    variants=[
        {
            "scores": lambda step, query, key, value: step(key, query, value),
            "output": lambda weights, value: weights.mT @ value,
        }
    ],
)
mistake(
    "queries meet the values",
    why="The scores are query · value, so the keys are never used.",
    look="what is a key for, and what is a value for?",
    scores=lambda step, query, value: step(query, value, value),
)
mistake(
    "query times value, without a transpose",
    why="The query is multiplied by the value as it is. The keys are "
    "never used, and without a transpose the product exists only if the sizes happen to agree.",
    look="which of the three should be multiplied by the query, and what must be done to it first?",
    scores=lambda query, value: query @ value,
)
mistake(
    "keys and values swapped",
    why="Keys and values have swapped roles: the queries are compared with the values, and the keys are averaged.",
    look="which of the two should the queries be compared with, and which should be averaged?",
    roles=lambda query, key, value: (query, value, key),
)
mistake(
    "queries and values swapped",
    why="Queries and values have swapped roles: the values are compared with the keys, and the queries are averaged.",
    look="which two of the three should be compared, and which should be averaged?",
    roles=lambda query, key, value: (value, key, query),
)
mistake(
    "the roles turned round",
    pairs=2,
    why="Query, key and value each play the role of another.",
    look="which two of the three should be compared, and which should be averaged?",
    roles=[lambda query, key, value: (key, value, query), lambda query, key, value: (value, query, key)],
)
mistake(
    "keys meet keys",
    why="The scores are key · key, so the queries are never used.",
    look="what are the two factors of your dot products?",
    scores=lambda step, key, value: step(key, key, value),
)
mistake(
    "queries meet queries",
    why="The scores are query · query, so the keys are never used.",
    look="what are the two factors of your dot products?",
    scores=lambda step, query, value: step(query, query, value),
)
mistake(
    "the queries in all three roles",
    why="The query plays all three roles, so the keys and the values have no part in the attention.",
    look="what are the queries compared with, and what is averaged?",
    roles=lambda query: (query, query, query),
)
mistake(
    "cosines for dot products",
    why="Each dot product is replaced by a cosine, as when the vectors are scaled to "
    "length 1 first, so their lengths no longer matter.",
    look="if a key were twice as long, should its scores change?",
    scores=lambda step, query, key, value: step(F.normalize(query, dim=-1), F.normalize(key, dim=-1), value),
)
mistake(
    "one of the two brought to length 1",
    pairs=2,
    why="The lengths of the queries, or those of the keys, no "
    "longer matter, as when these vectors are scaled to length 1 before the dot products.",
    look="if a vector were twice as long, should its scores change?",
    scores=[
        lambda step, query, key, value: step(F.normalize(query, dim=-1), key, value),
        lambda step, query, key, value: step(query, F.normalize(key, dim=-1), value),
    ],
)
SOFTMAX_FIRST = (
    lambda step, query, key, value: step(query.softmax(dim=-1), key, value),
    lambda step, query, key, value: step(query, key.softmax(dim=-1), value),
    lambda step, query, key, value: step(query.softmax(dim=-1), key.softmax(dim=-1), value),
)
mistake(
    "a softmax before the product",
    pairs=6,
    why="The queries or the keys, or both, go through a softmax of their "
    "own before the dot products; only the scores should.",
    look="what should the softmax turn into weights?",
    variants=[
        *(
            {"scores": scores, "weights": lambda scaled: scaled, **unscaled}
            for unscaled in ({}, {"scaled": lambda scores: scores})
            for scores in SOFTMAX_FIRST
        ),
        *({"scores": scores} for scores in SOFTMAX_FIRST),
    ],
)
mistake(
    "distances for dot products",
    pairs=4,
    why="The scores are based on the distances between queries and keys, not on dot products.",
    look="how does the exercise turn a query and a key into one number?",
    scores=[
        lambda query, key: -torch.cdist(query, key),
        lambda query, key: torch.cdist(query, key),
        lambda query, key: -(torch.cdist(query, key) ** 2),
        lambda query, key: torch.cdist(query, key) ** 2,
    ],
)
mistake(
    "both transposed",
    why="The query is transposed as well as the key. That works only if the sizes happen to "
    "agree, and each score then mixes features with positions.",
    look="`a @ b` multiplies rows of a by columns of b. Are the queries rows or columns?",
    scores=lambda query, key: query.mT @ key.mT,
)
mistake(
    "one query for all",
    pairs=2,
    why="The same query, the first or the last, is used every time, so all the rows of the scores are equal.",
    look="which query is row 1 of your scores computed from?",
    masked=[lambda scaled: scaled[..., :1, :].expand_as(scaled), lambda scaled: scaled[..., -1:, :].expand_as(scaled)],
)
mistake(
    "summed over the batch",
    topic="batch",
    pairs=2,
    why="The scores of all the sequences are added up, and every sequence gets the weights that this sum gives.",
    look="which dimensions, or which letters of an einsum, does the product leave out?",
    masked=[
        lambda scaled: scaled.sum(0) if scaled.dim() > 2 else scaled,
        lambda scaled: scaled.flatten(0, -3).sum(0) if scaled.dim() > 2 else scaled,
    ],
)


def centred(vectors, dim=-1):
    return vectors - vectors.mean(dim, keepdim=True)


mistake(
    "a mean subtracted",
    pairs=2,
    why="A mean is subtracted from the queries, the keys or the scores; the exercise "
    "asks for the dot products as they are.",
    look="what is subtracted on the way to the softmax?",
    scores=[
        lambda step, query, key, value: step(centred(query), key, value),
        lambda step, query, key, value: step(centred(query, -2), key, value),
    ],
)


def in_one_batch(step, query, key, value):
    return step(*(one.reshape(-1, one.shape[-1]) for one in (query, key, value)))


def put_back(step, query, key, value):
    output, weights = in_one_batch(step, query, key, value)
    return output.reshape(*query.shape[:-1], value.shape[-1]), weights


mistake(
    "one batch for all",
    topic="batch",
    pairs=2,
    why="The sequences of the batch are joined into one long "
    "sequence, so queries also attend to the keys of other sequences.",
    look="every `view`, `reshape` and `flatten`: do the leading dimensions survive?",
    attend=[in_one_batch, put_back],
)

# Masks that nobody asked for
mistake = family.section(topic="weights")
mistake(
    "a causal mask",
    pairs=2,
    why="Each query attends only to the keys up to its own position. The exercise has no "
    "mask: each query should attend to all the keys.",
    look="in row 0 of your weights, which keys get a weight other than 0?",
    masked=lambda scaled: scaled.masked_fill(torch.ones_like(scaled).triu(1) == 1, -1e9),
    weights=lambda right: right.tril(),
)


def causal_output(right, query, key, value, scale=None):
    return F.scaled_dot_product_attention(query, key, value, is_causal=True, scale=scale), right[1]


mistake(
    "a causal mask for the output alone",
    topic="output",
    why="The output is computed with a causal mask, as with `is_causal=True` in PyTorch. The weights that are "
    "returned have no mask, and the exercise has none either.",
    look="which weights is the output computed with?",
    attend=[causal_output, lambda right, query, key, value: causal_output(right, query, key, value, 1.0)],
)
mistake(
    "a mask on what came before",
    why="Each query attends only to the keys from its own position on. The exercise "
    "has no mask: each query should attend to all the keys.",
    look="in which rows of your weights does key 0 get a weight other than 0?",
    masked=lambda scaled: scaled.masked_fill(torch.ones_like(scaled).tril(-1) == 1, -1e9),
)
mistake(
    "no query may attend to its own position",
    why="The diagonal is masked, so no query attends to the key at its own position. The exercise has no mask.",
    look="which weights are on the diagonal, and what makes them 0?",
    masked=lambda scaled: scaled.masked_fill(torch.eye(*scaled.shape[-2:], dtype=torch.bool), -1e9),
)

# Weights: what the softmax runs over
mistake(
    "softmax over the queries",
    why="The softmax runs over the queries, so the columns of the weights sum to 1, not the rows.",
    look=WHICH_DIMENSION,
    weights=lambda scaled: scaled.softmax(dim=-2),
)
mistake(
    "softmax over the queries of the whole batch",
    why="The softmax runs over the queries of all the sequences at "
    "once, so what sums to 1 is all the weight that a key position gets in the whole batch, not the weights of one "
    "query.",
    look=WHICH_DIMENSION,
    weights=lambda scaled: scaled.flatten(0, -2).softmax(dim=0).reshape(scaled.shape),
)
mistake(
    "softmax over dimension 1",
    why="The softmax runs over dimension 1. That dimension holds the keys only if there are no leading dimensions.",
    look="how can you name the last dimension, however many come before it?",
    weights=lambda scaled: scaled.softmax(dim=1),
)
mistake(
    "softmax over dimension 2",
    why="The softmax runs over dimension 2. That dimension holds the keys only if there is exactly one leading "
    "dimension.",
    look="how can you name the last dimension, however many come before it?",
    weights=lambda scaled: scaled.softmax(dim=2),
)
mistake(
    "softmax over dimension 0",
    why="The softmax runs over dimension 0, which holds the queries, or the batch if there is one.",
    look=WHICH_DIMENSION,
    weights=lambda scaled: scaled.softmax(dim=0),
)
mistake(
    "softmax over the dimension before the queries",
    why="The softmax runs over the dimension before the queries, so it is the sequences or the heads that compete, not "
    "the keys.",
    look=WHICH_DIMENSION,
    weights=lambda scaled: scaled.softmax(dim=-3),
)
mistake(
    "softmax without a dimension",
    why="The softmax is not told which dimension to use, and with leading "
    "dimensions it picks one that does not hold the keys. PyTorch warns about this.",
    look="which argument of `softmax` says what must sum to 1?",
    weights=lambda scaled: F.softmax(scaled, _stacklevel=2),
)
mistake(
    "softmax over everything",
    pairs=2,
    why="The softmax runs over queries and keys at once, so all the weights of "
    "a sequence, or of the whole batch, together sum to 1.",
    look=ROW_SUM,
    weights=[
        lambda scaled: scaled.flatten(-2).softmax(dim=-1).reshape(scaled.shape),
        lambda scaled: scaled.flatten().softmax(dim=-1).reshape(scaled.shape),
    ],
)


def stable_exponentials(scaled):
    return (scaled - scaled.amax(-1, keepdim=True)).exp()


mistake(
    "no keepdim",
    pairs=2,
    why="The row sums have lost a dimension, so they line up with the columns: entries are "
    "divided by the sums of other rows, or an error is raised.",
    look="print the shapes of the exponentials and of their sum, one below the other.",
    weights=[
        lambda scaled: scaled.exp() / scaled.exp().sum(dim=-1),
        lambda scaled: stable_exponentials(scaled) / stable_exponentials(scaled).sum(dim=-1),
    ],
)


def sum_changes_in_the_row(scaled):
    weights = scaled.exp()
    for place in range(weights.shape[-1]):
        weights[..., place] /= weights.sum(-1)
    return weights


def sum_changes_in_the_table(scaled):
    weights = scaled.exp()
    for place in range(len(weights)):
        weights[place] = weights[place] / weights.sum()
    return weights


mistake(
    "the sum changes while it divides",
    pairs=2,
    why="The sum is computed again after some of the exponentials "
    "have been divided, so the divisor changes along the way.",
    look="is the sum computed once, before the first division?",
    weights=[sum_changes_in_the_row, sum_changes_in_the_table],
)
mistake(
    "a key left out of the sum",
    pairs=2,
    why="The sum in the denominator leaves out one key, the last or the first, so a row sums to more than 1.",
    look="which exponentials does the sum in the denominator add up?",
    weights=[
        lambda scaled: scaled.exp() / scaled.exp()[..., :-1].sum(-1, keepdim=True),
        lambda scaled: scaled.exp() / scaled.exp()[..., 1:].sum(-1, keepdim=True),
    ],
)
mistake(
    "only one term of the sum",
    pairs=2,
    why="Each exponential comes out divided by just one of them, the last or the first, not by the sum of them all.",
    look="which exponentials does the sum in the denominator add up?",
    weights=[lambda scaled: scaled.exp() / scaled.exp()[..., -1:], lambda scaled: scaled.exp() / scaled.exp()[..., :1]],
)
mistake(
    "divided by the mean",
    why="Each row of the weights sums to the number of keys, as when the exponentials are divided by their mean, not "
    "by their sum.",
    look=ROW_SUM,
    weights=lambda scaled: scaled.exp() / scaled.exp().mean(-1, keepdim=True),
)
mistake(
    "divided by the sum so far",
    why="Each exponential is divided by the sum up to its own place, as when the "
    "division starts before the sum is complete, not by the sum of the whole row.",
    look="when the first exponential is divided, which ones does the sum already contain?",
    weights=lambda scaled: scaled.exp() / scaled.exp().cumsum(-1),
)
mistake(
    "torch.softmax without a dimension",
    pairs=1,
    raises=True,
    why="`torch.softmax` must be told which dimension it runs over.",
    look="along which dimension do the scores compete?",
    weights=lambda scaled: torch.softmax(scaled),
)
mistake(
    "the columns' largest subtracted",
    why="The largest score of each column is subtracted. Different numbers are "
    "then subtracted within a row, which changes its weights.",
    look="from which scores must you subtract the same number, if the weights are to stay the same?",
    masked=lambda scaled: scaled - scaled.amax(-2, keepdim=True),
)
mistake(
    "the largest, with its place",
    raises=True,
    why="`max` with a dimension returns two things, the largest "
    "numbers and their indices; the pair cannot be subtracted.",
    look="print what `scores.max(dim=-1)` gives.",
    masked=lambda scaled: scaled - scaled.max(dim=-1, keepdim=True),
)

# Weights: what is done instead of a softmax
mistake(
    "no softmax",
    why="The scores themselves are used as weights: they can be negative, and nothing makes a row sum to 1.",
    look="what turns scores into weights?",
    weights=lambda scaled: scaled,
)
mistake(
    "scores divided by their sum",
    why="The scores are divided by their sum, with no exponential, so weights can "
    "be negative, and a sum near 0 makes them huge.",
    look="which function makes every score positive and keeps their order?",
    weights=lambda scaled: scaled / scaled.sum(dim=-1, keepdim=True),
)
mistake(
    "exponentials not divided by their sum",
    why="The exponentials are used as weights without being divided by their sum, so the rows do not sum to 1.",
    look=ROW_SUM,
    weights=[lambda scaled: scaled.exp(), stable_exponentials],
)
mistake(
    "the logarithm of the weights",
    why="The weights are the logarithms of the right ones: each is negative or 0, and a row does not sum to 1.",
    look=ROW_SUM,
    weights=lambda scaled: scaled.log_softmax(dim=-1),
)
mistake(
    "a sigmoid for the softmax",
    why="Each score goes through a sigmoid separately, so the keys of a query do not "
    "compete, and nothing makes a row sum to 1.",
    look=ROW_SUM,
    weights=lambda scaled: scaled.sigmoid(),
)
mistake(
    "sigmoids divided by their sum",
    why="Each score goes through a sigmoid before the division. The rows sum to "
    "1, but the ratios between the weights are not those of the exponentials.",
    look="for scores of 0 and 1, how many times as large as the first weight should the second be?",
    weights=lambda scaled: F.normalize(scaled.sigmoid(), p=1.0, dim=-1),
)
mistake(
    "a hyperbolic tangent for the softmax",
    why="Each score goes through a tanh separately, so weights can be negative, and nothing makes a row sum to 1.",
    look=ROW_SUM,
    weights=lambda scaled: scaled.tanh(),
)
mistake(
    "negative scores cut to 0",
    pairs=3,
    why="Negative scores are set to 0, so their keys get no weight at all, and there is no exponential.",
    look="should a negative score get no weight at all?",
    weights=[
        lambda scaled: scaled.relu(),
        lambda scaled: scaled.relu() / scaled.relu().sum(dim=-1, keepdim=True),
        lambda scaled: scaled.relu() / (scaled.relu().sum(dim=-1, keepdim=True) + 1e-9),
    ],
)
mistake(
    "signs lost before the division",
    pairs=2,
    why="The scores lose their signs, by `abs` or a square, and are "
    "then divided by their sum, so a score of -2 gets as much weight as a score of 2.",
    look="should a negative score get more weight than a score of 0?",
    weights=[
        lambda scaled: scaled.abs() / scaled.abs().sum(dim=-1, keepdim=True),
        lambda scaled: scaled**2 / (scaled**2).sum(dim=-1, keepdim=True),
    ],
)
mistake(
    "scores divided by their norm",
    why="The scores are divided by a norm (the root of the sum of their squares, "
    "or the sum of their absolute values). There is no exponential, so negative scores stay negative.",
    look="which function makes every score positive and keeps their order?",
    weights=[lambda scaled: F.normalize(scaled, dim=-1), lambda scaled: F.normalize(scaled, p=1.0, dim=-1)],
)
mistake(
    "unit length, not unit sum",
    why="The exponentials are divided by the root of the sum of their squares, so it "
    "is the squares of the weights that sum to 1.",
    look=ROW_SUM,
    weights=lambda scaled: F.normalize(scaled.exp(), dim=-1),
)
mistake(
    "a number added to the sum",
    pairs=2,
    why="A number is added to the sum, perhaps to keep it above 0, and it is "
    "large enough to show: the rows sum to less than 1.",
    look="what is in the sum besides the exponentials?",
    weights=[
        lambda scaled, more=more: scaled.exp() / (scaled.exp().sum(-1, keepdim=True) + more) for more in (1e-2, 1e-3, 1)
    ],
)
mistake(
    "a lower bound for the weights",
    why="Weights below a limit are raised to that limit after the softmax, so a row can sum to more than 1.",
    look="what happens to the smallest weights after the softmax?",
    weights=lambda right: right.clamp(min=0.1),
)


def best_alone(table):
    return F.one_hot(table.argmax(dim=-1), table.shape[-1]).to(table.dtype)


mistake(
    "only the best match",
    why="The largest score of each row takes all the weight. A softmax gives some weight to every score.",
    look="if two scores differ by a hair, should one of them get everything?",
    weights=lambda scaled: best_alone(scaled),
)
mistake(
    "equal weights",
    why="Every key gets the same weight, so each output is the plain average of the values.",
    look="where does your answer use the scores?",
    weights=lambda scaled: torch.full_like(scaled, 1 / scaled.shape[-1]),
)
mistake(
    "a running average",
    why="Output row i is the plain average of values 0 to i, whatever the scores are.",
    look="where does your answer use the scores?",
    weights=lambda scaled: F.normalize(torch.ones_like(scaled).tril(), p=1.0, dim=-1),
)
mistake(
    "softmax twice",
    why="The weights go through a second softmax, which makes them more equal.",
    look="how many times is a softmax taken on the way?",
    weights=lambda right, step: step(right),
)
mistake(
    "the sign flipped",
    why="The scores enter the softmax with the opposite sign: the worst match gets the largest weight.",
    look="what changes the sign of the scores on the way to the softmax?",
    masked=lambda scaled: -scaled,
)
mistake(
    "signs lost before the softmax",
    pairs=2,
    why="The scores enter the softmax without their signs, so a key that points the opposite way counts as one that "
    "matches.",
    look="should two opposite vectors match?",
    masked=[lambda scaled: scaled.abs(), lambda scaled: scaled**2],
)
mistake(
    "negative scores cut to 0 before the softmax",
    why="Negative scores are set to 0 before the softmax, so a bad match counts as much as a score of 0.",
    look="what does the exercise do between the dot products and the softmax?",
    masked=lambda scaled: scaled.relu(),
)
mistake(
    "the scores clipped",
    pairs=5,
    why="Scores beyond a limit are clipped to it before the softmax, so scores that differ can become equal.",
    look="what does the exercise do between the dot products and the softmax?",
    masked=[
        lambda scaled, low=low, high=high: scaled.clamp(low, high)
        for low, high in ((-1, 1), (-0.5, 0.5), (-2, 2), (None, 1), (0, 1))
    ],
)
mistake(
    "rounded scores",
    pairs=4,
    why="The scores are rounded before the softmax, so scores that differ can become equal.",
    look="which step on the way to the softmax drops decimals?",
    masked=[
        lambda scaled: scaled.round(),
        lambda scaled: scaled.trunc(),
        lambda scaled: scaled.round(decimals=1),
        lambda scaled: scaled.round(decimals=2),
    ],
)


def few_best(many, again):
    def weights(right):
        kept = right * (right >= right.topk(min(many, right.shape[-1]), dim=-1).values[..., -1:])
        return kept / kept.sum(-1, keepdim=True) if again else kept

    return weights


mistake(
    "only the few best",
    pairs=4,
    why="Each query attends only to the few keys that match best, and the others get "
    "nothing; a softmax gives each of them some weight.",
    look="which of your weights are exactly 0?",
    weights=[few_best(2, True), few_best(3, True), few_best(2, False), few_best(3, False)],
)
mistake(
    "scores divided by their largest or their mean",
    pairs=6,
    why="The scores are divided by the largest of them "
    "or by their mean, row by row or over all of them, so making every query and key twice as long does not change the "
    "weights.",
    look="what does the exercise do between the dot products and the softmax?",
    masked=[
        lambda scaled: scaled / scaled.abs().amax(-1, keepdim=True),
        lambda scaled: scaled / scaled.abs().max(),
        lambda scaled: scaled / scaled.amax(-1, keepdim=True),
        lambda scaled: scaled / scaled.max(),
        lambda scaled: scaled / scaled.mean(),
        lambda scaled: scaled / scaled.mean(-1, keepdim=True),
    ],
)
mistake(
    "squashed scores",
    pairs=5,
    why="Each score goes through a tanh or a sigmoid before the softmax, which brings "
    "a good match and a very good one closer together.",
    look="what does the exercise do between the dot products and the softmax?",
    masked=[
        lambda scaled: scaled.tanh(),
        lambda scaled: scaled.sigmoid(),
        *(lambda scaled, cap=cap: cap * (scaled / cap).tanh() for cap in (2, 5, 10, 20, 30, 50)),
    ],
)
mistake(
    "the exponential taken twice",
    why="The softmax is given the exponentials of the scores instead of the scores, so the exponential is taken twice.",
    look="how many exponentials do you take?",
    masked=lambda scaled: scaled.exp(),
)
mistake(
    "divided over rows and columns",
    pairs=5,
    why="The weights are normalised over the queries as well as over the "
    "keys, so they are no longer the softmax over the keys.",
    look="how many times do you divide by a sum?",
    weights=[
        lambda right: right / right.sum(-2, keepdim=True),
        lambda scaled: scaled.softmax(-2) / scaled.softmax(-2).sum(-1, keepdim=True),
        lambda right: right.softmax(-2),
        lambda step, scaled: step(scaled.softmax(-2)),
        lambda right, scaled: right * scaled.softmax(-2),
    ],
)
mistake(
    "standardised scores",
    pairs=3,
    why="The scores are divided by their own standard deviation, so every softmax "
    "comes out about equally sharp, whatever the vectors are.",
    look="what does the exercise do between the dot products and the softmax?",
    masked=[
        lambda scaled: scaled / scaled.std(-1, keepdim=True),
        lambda scaled: F.layer_norm(scaled, scaled.shape[-1:]),
        lambda scaled: scaled / scaled.std(),
    ],
)
mistake(
    "rounded weights",
    pairs=4,
    why="The weights are rounded, so the rows may no longer sum to 1. Rounding is for showing, not for computing.",
    look="what happens to the weights after the softmax?",
    weights=[lambda right, decimals=decimals: right.round(decimals=decimals) for decimals in (2, 1, 3, 4)],
)

# Output
mistake = family.section(topic="output")
mistake(
    "the keys' average for the output",
    why="The output is an average of the keys; the values are never used.",
    look="which should the queries be compared with, the keys or the values, and which should be averaged?",
    roles=lambda query, key: (query, key, key),
)
mistake(
    "the queries' average for the output",
    why="The output is an average of the queries; the values are never used.",
    look="which of the three should be averaged?",
    roles=lambda query, key: (query, key, query),
)
mistake(
    "weights transposed for the output",
    why="The output uses the columns of the weights instead of the rows: how "
    "much each key is attended to, not how each query spreads its attention. And a column need not sum to 1.",
    look="row 0 of the output should be the average for query 0. Where are the weights of query 0?",
    output=lambda weights, value: weights.mT @ value,
)
mistake(
    "the weights applied twice",
    why="The averages are averaged again with the same weights, which works only if there are as many queries as keys.",
    look="how many times do you multiply by the weights?",
    output=lambda right, weights: weights @ right,
)
mistake(
    "the value transposed",
    why="The weights are multiplied by the value with its last two dimensions swapped. "
    "That works only if the sizes happen to agree, and the sums then run over features, not over keys.",
    look="`a @ b` sums over the rows of b. What should the sum run over?",
    output=lambda weights, value: weights @ value.mT,
)
mistake(
    "the value before the weights",
    why="The value comes first in the product. That works only if the sizes happen "
    "to agree, and the weights then mix features, not positions.",
    look="`a @ b` sums over the columns of a and the rows of b. Which of the two holds the keys?",
    output=lambda weights, value: value @ weights,
)
mistake(
    "weights times value, number by number",
    why="Weights and values are multiplied number by number, as by `*`, but the output should be a sum over the keys.",
    look="what does the output of one query add up?",
    output=lambda weights, value: weights * value,
)
mistake(
    "the weighted values not summed",
    why="Each value is multiplied by its weight, but nothing is added up: for "
    "every query there are still as many vectors as keys.",
    look="which dimension must disappear, and how?",
    output=lambda weights, value: weights[..., None] * value[..., None, :, :],
)
mistake(
    "summed over the queries",
    why="The weighted values are summed over the queries, which leaves one row for each "
    "key instead of one for each query.",
    look="which dimension of the weighted values holds the keys?",
    output=lambda weights, value: (weights[..., None] * value[..., None, :, :]).sum(-3),
)
mistake(
    "averaged twice",
    why="The weighted sums are divided by the number of keys. Weights that sum to 1 have already made them averages.",
    look="which `mean` or division comes after the softmax?",
    output=lambda right, value: right / value.shape[-2],
)
mistake(
    "the plain average of the values",
    why="The output is the same plain average of the values for every query: the weights are not used.",
    look="where does the output use the weights?",
    output=lambda step, weights, value, query: step(torch.full_like(weights, 1 / weights.shape[-1]), value, query),
)
mistake(
    "the best match for the output",
    why="The output is just the value with the largest weight, not the average of all the values.",
    look="what should the other weights of the row do?",
    output=lambda step, weights, value, query: step(best_alone(weights), value, query),
)


def scaled_scores(self, query, key, value):
    return self.scaled(self.scores(query, key, value), query, key, value)


mistake(
    "the scores for the output",
    why="The output is computed with the scores from before the softmax, not with the weights.",
    look="which tensor is multiplied by the value in the last product?",
    attend=[
        lambda self, right, query, key, value: (
            self.output(scaled_scores(self, query, key, value), value, query),
            right[1],
        ),
        lambda self, right, query, key, value: (self.output(self.scores(query, key, value), value, query), right[1]),
    ],
)
mistake(
    "the query added to the output",
    why="The query is added to the average. Such a skip connection is not "
    "part of this exercise, which asks for the average alone.",
    look=AFTER,
    output=lambda right, query: right + query,
)
mistake(
    "the value added to the output",
    why="The value is added to the average. The exercise asks for the average alone.",
    look=AFTER,
    output=lambda right, value: right + value,
)
mistake(
    "the sum starts at 1",
    why="Every number of the output is 1 too large, as when the sum of the weighted values starts from 1, not from 0.",
    look="what is in the output before the first value is added?",
    output=lambda right: right + 1,
)
mistake(
    "the largest weighted value, not the sum",
    why="Only the largest weighted value is kept, feature by feature; the output should be the sum of them all.",
    look="which operation follows the multiplication by the weights?",
    output=lambda weights, value: (weights[..., None] * value[..., None, :, :]).amax(-2),
)
mistake(
    "the values changed first",
    pairs=2,
    why="The values are scaled to length 1, or have their mean subtracted, "
    "before they are averaged; they should be used as they are.",
    look="what happens to the value before it is multiplied by the weights?",
    output=[
        lambda step, weights, value, query: step(weights, F.normalize(value, dim=-1), query),
        lambda step, weights, value, query: step(weights, centred(value), query),
    ],
)
mistake(
    "a softmax of the output",
    why="The output goes through a softmax of its own, so its features sum to 1; the "
    "exercise asks for the average alone.",
    look=AFTER,
    output=lambda right: right.softmax(dim=-1),
)
mistake(
    "something done to the average",
    pairs=4,
    why="The average goes through a ReLU, a tanh or a layer norm, or is "
    "scaled to length 1, before it is returned; the exercise asks for the average alone.",
    look=AFTER,
    output=[
        lambda right: right.relu(),
        lambda right: right.tanh(),
        lambda right, value: F.layer_norm(right, value.shape[-1:]),
        lambda right: F.normalize(right, dim=-1),
    ],
)
mistake(
    "the sums run on",
    why="Each output also contains all the outputs before it, as when a sum is not reset to 0 between the queries.",
    look="what does the sum hold when the next query begins?",
    output=lambda right: right.cumsum(dim=-2),
)
mistake(
    "only the last term of the sum",
    why="Only the last weighted value is left, as when each iteration of a loop over the keys replaces the output "
    "instead of adding to it.",
    look="how many weighted values does one row of your output add up?",
    output=lambda weights, value: weights[..., -1:] * value[..., -1:, :],
)
mistake(
    "a key left out",
    why="The sum over the keys leaves out the last one or the first, as when a loop or slice ends too early or starts "
    "too late.",
    look="with which key does your sum start, and with which does it end?",
    output=[
        lambda weights, value: weights[..., :-1] @ value[..., :-1, :],
        lambda weights, value: weights[..., 1:] @ value[..., 1:, :],
    ],
)
mistake(
    "a query left out",
    why="The row of the last query, or of the first, is all zeros, as when a loop or slice "
    "ends too early or starts too late.",
    look="for which queries do you compute a row?",
    output=[
        lambda right: F.pad(right[..., :-1, :], (0, 0, 0, 1)),
        lambda right: F.pad(right[..., 1:, :], (0, 0, 1, 0)),
    ],
    variants=[
        {
            "attend": lambda right, edges=edges: tuple(
                F.pad(F.pad(one, [-width for width in edges]), edges) for one in right
            )
        }
        for edges in ((0, 0, 0, 1), (0, 0, 1, 0))
    ],
)
mistake(
    "one vector for the whole sequence",
    pairs=3,
    why="Only one vector is left for each sequence; every query should have its own average.",
    look="print the shape of the output next to that of the query.",
    output=[lambda right: right.mean(dim=-2), lambda right: right.sum(dim=-2), lambda right: right[..., -1, :]],
)


def in_a_batch(change):
    """What `change` makes of both results, where there is a batch."""
    return lambda right, query: right if query.dim() < 3 else tuple(change(one) for one in right)


mistake(
    "only the last of the batch",
    pairs=2,
    why="Only the last sequence of the batch gets a result, as when each "
    "iteration of a loop throws away the result of the one before.",
    look="which sequences do you compute a result for, and where is it kept?",
    attend=[in_a_batch(lambda one: one[-1]), in_a_batch(lambda one: torch.cat([torch.zeros_like(one[:-1]), one[-1:]]))],
)
mistake(
    "only the first of the batch",
    pairs=2,
    why="Only the first sequence of the batch gets a result of its own.",
    look="what leaves the other sequences out: a `[0]`, perhaps, or a `return` inside a loop?",
    attend=[in_a_batch(lambda one: one[0]), in_a_batch(lambda one: one[:1].expand_as(one))],
)
mistake(
    "the keys of the first of the batch for all",
    why="All the queries attend to the keys and values of the first sequence in the batch.",
    look="for the last sequence of the batch, which sequence do the keys and the values come from, and why?",
    attend=lambda right, step, query, key, value: (
        right if query.dim() < 3 else step(query, key[:1].expand_as(key), value[:1].expand_as(value))
    ),
)
mistake(
    "the batch summed up",
    why="The output of each sequence also contains those of the sequences before it, as when a sum is not reset "
    "between them.",
    look="what does the sum hold when the next sequence begins?",
    output=lambda right: right.cumsum(dim=0) if right.dim() > 2 else right,
)

# What is returned
mistake = family.section(topic="weights")
mistake(
    "the scores for the weights",
    pairs=2,
    why="The scores from before the softmax are returned in place of the weights.",
    look=RETURN,
    attend=[
        lambda self, right, query, key, value: (right[0], scaled_scores(self, query, key, value)),
        lambda self, right, query, key, value: (right[0], self.scores(query, key, value)),
    ],
)
mistake(
    "weights returned transposed",
    why="The weights are returned with rows and columns swapped: each row should hold the weights of one query.",
    look="what happens to the weights after the output is computed?",
    attend=lambda right: (right[0], right[1].mT),
)
mistake(
    "output returned transposed",
    topic="output",
    why="The output is returned with positions and features swapped.",
    look="what happens to the output after the weighted sum?",
    output=lambda right: right.mT,
)
mistake(
    "weights averaged over the batch or the heads",
    why="The weights are averaged over a leading dimension before "
    "they are returned; each sequence or head should keep its own.",
    look="where is a `mean` or a `sum` of the weights taken?",
    attend=[
        lambda right, dim=dim: (right[0], right[1].mean(dim) if right[1].dim() > 2 else right[1]) for dim in (-3, 0)
    ],
)
mistake(
    "the scores as output",
    topic="output",
    why="The scores are returned as the output, in place of the weighted average.",
    look=RETURN,
    attend=lambda self, right, query, key, value: (scaled_scores(self, query, key, value), right[1]),
)
mistake(
    "only one row of the weights",
    pairs=2,
    why="Only the weights of the last query, or of the first, are returned.",
    look="how many rows should the weights have, and where do you keep them?",
    attend=[lambda right: (right[0], right[1][..., -1, :]), lambda right: (right[0], right[1][..., 0, :])],
)
mistake(
    "the features averaged away",
    topic="output",
    pairs=2,
    why="The output is averaged or summed over its features, so only one number is left for each query.",
    look="print the shape of the output next to that of the value.",
    output=[lambda right: right.mean(-1), lambda right: right.sum(-1)],
)
mistake(
    "one result twice",
    pairs=2,
    why="The same result is returned twice, so one of the two you were asked for is missing.",
    look=RETURN,
    attend=[lambda right: (right[0], right[0]), lambda right: (right[1], right[1])],
)
mistake(
    "the value for the output",
    topic="output",
    why="The value itself is returned as the output, in place of the weighted average.",
    look=RETURN,
    attend=lambda right, value: (value, right[1]),
)

USUAL_PAIRS = {  # the mistakes that are also tried together with a second one
    "no transpose of the key",
    "the key reshaped, not transposed",
    "all dimensions of the key reversed",
    "queries and keys swapped",
    "softmax over the queries, and weights transposed",
    "queries meet the values",
    "keys and values swapped",
    "keys meet keys",
    "queries meet queries",
    "cosines for dot products",
    "one of the two brought to length 1",
    "a causal mask",
    "a causal mask for the output alone",
    "no query may attend to its own position",
    "softmax over the queries",
    "softmax over dimension 1",
    "softmax over dimension 2",
    "softmax over dimension 0",
    "softmax over the dimension before the queries",
    "softmax without a dimension",
    "softmax over everything",
    "no keepdim",
    "no softmax",
    "scores divided by their sum",
    "exponentials not divided by their sum",
    "the logarithm of the weights",
    "a sigmoid for the softmax",
    "scores divided by their norm",
    "unit length, not unit sum",
    "only the best match",
    "softmax twice",
    "the sign flipped",
    "the keys' average for the output",
    "the queries' average for the output",
    "weights transposed for the output",
    "averaged twice",
    "the scores for the output",
    "the query added to the output",
    "the value added to the output",
    "a key left out",
    "the scores for the weights",
    "weights returned transposed",
    "output returned transposed",
    "weights averaged over the batch or the heads",
}

# What the scores are divided by: which of these are mistakes depends on the exercise
FIXED = (8, 2, 64, 4, 10, math.sqrt(512), 3, 5, 6, 7, 16, 100, 512, 0.5, math.sqrt(2), math.sqrt(128))


def divided_by(*numbers):
    return [lambda scores, number=number: scores / number for number in numbers]


UNSCALED = "what does the exercise do between the dot products and the softmax?"  # where to look, without a scale

DIVISORS = (  # name, "The scores are divided by …", the scaled scores
    (
        "scaled by the number of keys",
        "the number of keys, or by its square root",
        [lambda scores, key: scores / math.sqrt(key.shape[-2]), lambda scores, key: scores / key.shape[-2]],
    ),
    (
        "scaled by the number of queries",
        "the number of queries, or by its square root",
        [lambda scores, query: scores / math.sqrt(query.shape[-2]), lambda scores, query: scores / query.shape[-2]],
    ),
    (
        "scaled by the features of a value",
        "the number of features of a value, or by its square root",
        [lambda scores, value: scores / math.sqrt(value.shape[-1]), lambda scores, value: scores / value.shape[-1]],
    ),
    (
        "scaled by dimension 0",
        "the size of dimension 0, or by its square root",
        [
            lambda scores, query: scores / math.sqrt(query.shape[0]),
            lambda scores, query: scores / query.shape[0],
            lambda scores, key: scores / math.sqrt(key.shape[0]),
        ],
    ),
    (
        "scaled by dimension 1",
        "the square root of the size of dimension 1 (which changes its meaning with a batch)",
        [
            lambda scores, query: scores / math.sqrt(query.shape[1]),
            lambda scores, key: scores / math.sqrt(key.shape[1]),
            lambda scores, value: scores / math.sqrt(value.shape[1]),
        ],
    ),
    (
        "scaled by dimension 2",
        "the square root of the size of dimension 2 (which changes its meaning with heads)",
        [
            lambda scores, query: scores / math.sqrt(query.shape[2]),
            lambda scores, key: scores / math.sqrt(key.shape[2]),
        ],
    ),
    (
        "scaled by the features of all heads",
        "the square root of the number of features of all the heads together",
        [
            lambda scores, query: scores / math.sqrt(query.shape[-1] * (query.shape[-3] if query.dim() > 2 else 1)),
            lambda scores, query: scores / math.sqrt(query.shape[-1] * query[..., 0, 0].numel()),
        ],
    ),
    (
        "scaled by the number of dimensions",
        "the square root of the query's number of dimensions",
        lambda scores, query: scores / math.sqrt(query.dim()),
    ),
    (
        "scaled by √d times a number",
        "the square root of the number of features, times another number",
        [lambda scores, query, times=times: scores / (times * math.sqrt(query.shape[-1])) for times in (2, 0.5, 10)],
    ),
    (
        "scaled by how many numbers there are",
        "the square root of the number of elements in the query or key",
        [lambda scores, query: scores / math.sqrt(query.numel()), lambda scores, key: scores / math.sqrt(key.numel())],
    ),
    ("scaled by d²", "the square of the number of features", lambda scores, query: scores / query.shape[-1] ** 2),
    (
        "scaled by √d of a changed d",
        "the square root of 2 d, d + 1 or d - 1",
        [
            lambda scores, query, factor=factor, more=more: scores / math.sqrt(factor * query.shape[-1] + more)
            for factor, more in ((2, 0), (1, -1), (1, 1))
        ],
    ),
    (
        "scaled by d / 2",
        "half the number of features (which is what `(d ** 1 / 2)` gives), or by that rounded down",
        [lambda scores, query: scores / (query.shape[-1] / 2), lambda scores, query: scores / (query.shape[-1] // 2)],
    ),
    (
        "scaled by 2 d",
        "twice the number of features (which is what `/ d ** 1 / 2` does)",
        lambda scores, query: scores / (2 * query.shape[-1]),
    ),
    (
        "scaled by another root of d",
        "the third or the fourth root of the number of features",
        [lambda scores, query, root=root: scores / query.shape[-1] ** (1 / root) for root in (4, 3)],
    ),
    (
        "scaled by the logarithm of d",
        "the logarithm of the number of features",
        [
            lambda scores, query, logarithm=logarithm: scores / logarithm(query.shape[-1])
            for logarithm in (math.log, math.log2)
        ],
    ),
    (
        "scaled by √d without its decimals",
        "√d rounded to a whole number",
        [
            lambda scores, query: scores / math.isqrt(query.shape[-1]),
            lambda scores, query: scores / round(math.sqrt(query.shape[-1])),
            lambda scores, query: scores / math.ceil(math.sqrt(query.shape[-1])),
        ],
    ),
    ("scaled by a fixed number", "a fixed number, whatever the number of features", divided_by(*FIXED)),
)


# Inputs
def draw_roles(generator, lead, query, key, d_head, d_v):
    query, key, value = (normal(generator, *lead, *size) for size in ((query, d_head), (key, d_head), (key, d_v)))
    if d_head == 2:  # key 0 is at a right angle to every query: its scores are exactly 0
        query[..., 1] = key[..., 0, 0] = 0.0
    return query, key, value


SIZES = [  # all different at first; then some equal, for mistakes that run only then, or could hide otherwise
    {"lead": (), "query": 2, "key": 3, "d_head": 4, "d_v": 2},
    {"lead": (), "query": 3, "key": 3, "d_head": 3, "d_v": 3},
    {"lead": (2,), "query": 3, "key": 5, "d_head": 4, "d_v": 6},
    {"lead": (2,), "query": 4, "key": 4, "d_head": 3, "d_v": 5},
    {"lead": (3,), "query": 3, "key": 3, "d_head": 3, "d_v": 3},
    {"lead": (2, 3), "query": 4, "key": 6, "d_head": 5, "d_v": 7},
    {"lead": (3, 2), "query": 7, "key": 4, "d_head": 8, "d_v": 8},
    {"lead": (1, 2), "query": 1, "key": 3, "d_head": 2, "d_v": 4},  # sizes of 1, which a squeeze removes
]


# Symptoms, for when no mistake is recognised
def divisor_sentence(observed, query, key, expected):
    """What the scores were divided by, if the weights are the softmax of scores divided by a number."""
    divisor = effective_divisor(observed[1], query, key)
    if divisor is None or abs(divisor - expected) < 1e-3 * expected:
        return None
    digits = 2 if abs(divisor - expected) > 0.01 else 4
    wanted = "they should not be divided here" if expected == 1 else f"{expected:.{digits}f} is expected"
    return f"`weights` is the softmax of scores divided by {divisor:.{digits}f}; {wanted}."


def effective_divisor(weights, query, key):
    """The d for which weights = softmax(query · key / d), or None: a softmax keeps differences of scores."""
    weights, query, key = (torch.as_tensor(one).double() for one in (weights, query, key))
    scores = query @ key.transpose(-2, -1)
    if (
        weights.shape != scores.shape
        or (weights <= 0).any()
        or not torch.allclose(weights.sum(-1), torch.ones((), dtype=torch.float64), atol=1e-4)
    ):
        return None
    centred = scores - scores.mean(-1, keepdim=True)
    logarithms = weights.log()
    found = logarithms - logarithms.mean(-1, keepdim=True)
    ratio = (found * centred).sum() / (centred * centred).sum()
    fits = torch.allclose(found, ratio * centred, atol=1e-5, rtol=1e-5)
    return 1 / ratio.item() if fits and ratio.abs() > 1e-6 else None
