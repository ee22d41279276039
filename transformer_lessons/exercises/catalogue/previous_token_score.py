"""previous_token_score, of lesson 11: how much each head attends to the token right before."""

import torch
import torch.nn.functional as F

from transformer_lessons import masks
from transformer_lessons.exercises.catalogue import score_family as shared
from transformer_lessons.exercises.checker.exercise import Exercise, normal
from transformer_lessons.inspection import attention_maps


def draw_maps(generator, batch, heads, length, causal=True, back=None):
    """Attention weights (batch, heads, length, length); each head has a sharpness of its own.

    If back is given, all the weight is on the key that far back; in the second sequence it is on the token itself, and
    in the third on the two in turn.
    """
    if back is not None:
        place = torch.arange(length)
        aims = torch.stack([place - back, place, torch.where(place % 2 == 0, place, place - back)])[:batch]
        return F.one_hot(aims.where(aims >= 0, place), length).double()[:, None].repeat(1, heads, 1, 1)
    sharp = 1 + torch.arange(heads, dtype=torch.float64)[:, None, None] / 2
    scores = sharp * normal(generator, batch, heads, length, length)
    return masks.masked_softmax(scores, masks.causal_mask(length) if causal else None)


SIZES_OF_MAPS = [
    {"batch": 2, "heads": 3, "length": 3},
    {"batch": 1, "heads": 2, "length": 5},
    {"batch": 3, "heads": 2, "length": 4, "causal": False},
    {"batch": 3, "heads": 5, "length": 7},
    {"batch": 4, "heads": 1, "length": 6},
    {"batch": 4, "heads": 4, "length": 4, "causal": False},
]

exercise = Exercise(
    name="previous_token_score",
    lesson=11,
    title="Who looks one token back?",
    difficulty=1,
    importance=3,
    minutes=6,
    contract="""
        previous_token_score(weights) takes attention weights, causal or not, of shape (batch, heads, length,
        length): queries down, keys across. It returns a float tensor (heads,): for each head the mean, over
        all sequences and all positions t ≥ 1, of the weight that the query at t gives to the key at t - 1. There
        are at least two positions. weights stay as they are.
        """,
    stub='''
        def previous_token_score(weights):
            """(batch, heads, length, length) → (heads,): the mean weight of t on t - 1."""
            raise NotImplementedError
        ''',
    sizes=[
        *SIZES_OF_MAPS,
        {"batch": 3, "heads": 4, "length": 2},
        {"batch": 1, "heads": 1, "length": 4},
        {"batch": 3, "heads": 2, "length": 6, "back": 1},
    ],
    draw=draw_maps,
    reference=lambda weights: attention_maps.previous_token_score(weights),
    returns="scores",
    shapes={"scores": "(heads,)"},
    names_steps=False,
    hints=[
        (
            "which weights",
            "Draw the table for four tokens, queries down, keys across. Mark the weight that query 1 "
            "gives to key 0, query 2 to key 1, query 3 to key 2. What line do they make, and how many are there?",
        ),
        (
            "the mean",
            "You want one number for each head. Over which dimensions of (batch, heads, number of marked "
            "weights) must you take the mean?",
        ),
        (
            "the tool",
            "torch.diagonal takes an offset, and the two dimensions that make the square, which are 0 and "
            "1 by default. It puts the diagonal last. A loop over t works just as well.",
        ),
    ],
    solution="""
        def previous_token_score(weights):
            one_back = weights.diagonal(offset=-1, dim1=-2, dim2=-1)  # (batch, heads, length - 1)
            return one_back.mean(dim=(0, 2))
        """,
)


@exercise.right("step by step")
class PreviousToken(shared.Scoring):
    def __call__(self, weights):
        return self.score(weights, first=1, back=1)


# Which weights
mistake = exercise.section(hint=1)
mistake(
    "two back",
    pairs=2,
    why="The weight on t - 2 is read, not that on t - 1.",
    look="which key does your code read for the query at t = 5?",
    variants=[
        *shared.missed_by(-1),
        lambda weights: weights.roll(2, -1).diagonal(0, -2, -1).mean((0, 2)),
        {"picked": lambda weights: F.pad(weights.diagonal(-2, -2, -1), (2, 0))},
    ],
)
mistake(
    "the first token",
    why="The weight on the very first token is read: that is how one looks for an attention sink.",
    look="which key does your code read for the query at t = 5?",
    picked=[lambda weights: weights[..., 1:, 0], lambda weights: weights[..., 0]],
)
mistake(
    "everything before counted",
    why="The weights on all the tokens before t are added up, not only that on t - 1.",
    look="how many keys of each query do you take?",
    picked=[lambda weights: weights.tril(-1).sum(-1)[..., 1:], lambda weights: weights.tril(-1).sum(-1)],
)
mistake(
    "the token itself counted in",
    why="The token's weight on itself is counted as well as its weight on t - 1.",
    look="how many keys of each query do you take?",
    picked=[
        lambda right, weights: right + weights.diagonal(0, -2, -1)[..., 1:],
        lambda right, weights: (right + weights.diagonal(0, -2, -1)[..., 1:]) / 2,
    ],
)
mistake(
    "both neighbours counted",
    pairs=0,
    why="The weight on t + 1 is counted as well as that on t - 1. Under a "
    "causal mask it is 0, but not every head has such a mask, and a mean over both divides by too many.",
    look="`abs()`: which keys are at a distance of 1 from the query?",
    variants=[
        lambda weights: beside(weights).sum((-1, -2)).mean(0) / (weights.shape[-1] - 1),
        lambda weights: beside(weights).sum(-1).mean((0, 2)),
        lambda weights: beside(weights).sum(-1)[..., 1:].mean((0, 2)),
        lambda weights: beside(weights).sum((-1, -2)).mean(0) / (weights.shape[-1] - 1) / 2,
    ],
)


def beside(weights):
    """The weights on both neighbours, and 0 elsewhere."""
    return weights.tril(1).triu(-1) - weights.tril().triu()


HERE = "with four tokens, how many have a token before them?"
mistake(
    "index -1 wraps round",
    why="The query at position 0 is counted as well, though nothing stands before it. "
    "The last key is taken for the one before, as by index -1 or a roll.",
    look=HERE,
    queries=lambda length: torch.arange(length),
    variants=[{"queries": lambda length: torch.arange(length), "number": shared.all_of_them}],
)
mistake(
    "the first query counted in",
    why="The query at position 0 is counted as well, with its weight on itself, though nothing stands before it.",
    look=HERE,
    pairs=2,
    picked=[lambda right, weights: torch.cat([weights[..., :1, 0], right], dim=-1)],
    variants=[
        {"picked": lambda right, weights: torch.cat([weights[..., :1, 0], right], dim=-1), "number": shared.all_of_them}
    ],
)
mistake(
    "divided by the weights before",
    hint=2,
    pairs=0,
    why="The weight on t - 1 is divided by a sum of weights of "
    "the same query, such as all those on the tokens before t, so the mean is one of shares, not of weights.",
    look="what do all the weights of a query sum to?",
    picked=[
        lambda right, weights: right / weights.tril(-1).sum(-1)[..., 1:],
        lambda right, weights: right / weights.tril(-1).sum(-1)[..., 1:].clamp(min=1e-9),
        lambda right, weights: right / weights.tril().sum(-1)[..., 1:],
        lambda right, weights: right / (right + weights.diagonal(0, -2, -1)[..., 1:]),
        lambda right, weights: right / (1 - weights.diagonal(0, -2, -1)[..., 1:]),
        lambda right, weights: right / (1 - weights.diagonal(0, -2, -1)[..., 1:]).clamp(min=1e-9),
    ],
)
mistake(
    "the mean of the weights that are not 0",
    hint=2,
    pairs=0,
    why="Weights that are exactly 0 are left out of the mean. A query that gives the key no weight counts too, with 0.",
    look="if some of the weights on the right keys are 0, how many weights is your sum divided by?",
    averaged=[
        lambda picked: picked.sum((0, 2)) / (picked > 0).sum((0, 2)).clamp(min=1),
        lambda picked: picked.sum((0, 2)) / (picked > 0).sum((0, 2)),
    ],
)
exercise.adopt(shared.family, hints={"key": 1, "queries": 1, "mean": 2, "tool": 3}, pairs=shared.family.mistakes)
