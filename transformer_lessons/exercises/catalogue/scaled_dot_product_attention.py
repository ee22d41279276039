"""scaled_dot_product_attention, in lesson 3: why divide by √d."""

import math

import torch
import torch.nn.functional as F

from transformer_lessons import attention
from transformer_lessons.exercises.catalogue import attention_family as shared
from transformer_lessons.exercises.catalogue.softmax import ZERO_MASKED
from transformer_lessons.exercises.checker.exercise import Exercise, Steps

LARGE = {"lead": (2,), "query": 3, "key": 4, "d_head": 5, "d_v": 6}


def draw_large(generator, every_score=0.0, **sizes):
    """Queries, keys and values whose scores are all about this large: a softmax does not notice, but a limit does."""
    query, key, value = shared.draw_roles(generator, **sizes)
    if every_score:
        query[..., 0], key[..., 0] = 1.0, every_score * math.sqrt(query.shape[-1])
    return query, key, value


exercise = Exercise(
    name="scaled_dot_product_attention",
    lesson=3,
    title="Scaled attention",
    difficulty=2,
    importance=3,
    minutes=10,
    contract="""scaled_dot_product_attention(query, key, value) takes torch tensors (…,
        length, features) with any number of leading dimensions and returns (output, weights): weights is the softmax
        of query · key / √d over the keys, where d is the number of features of a query; output is the average of the
        values with these weights. Gradients flow through it to query, key and value.""",
    stub='''
        def scaled_dot_product_attention(query, key, value):
            """(output, weights): the averages of the values, and the weights that made them."""
            raise NotImplementedError''',
    sizes=[*shared.SIZES, {**LARGE, "every_score": 20.0}, {**LARGE, "every_score": -20.0}],
    draw=draw_large,
    reference=lambda query, key, value: attention.scaled_dot_product_attention(query, key, value),
    gradients=True,
    returns=("output", "weights"),
    shapes={"output": "(…, query, d_v)", "weights": "(…, query, key)"},
    symptoms=[
        lambda observed, expected, query, key, value: shared.divisor_sentence(
            observed, query, key, math.sqrt(query.shape[-1])
        )
    ],
    hints=[
        (
            "the weights",
            "For each query, the weights of all the keys must sum to 1. Over which dimension do you have "
            "to take the softmax?",
        ),
        (
            "the divisor",
            "The variance of a dot product grows with the size of one of the query's dimensions. Before "
            "the softmax, divide the scores by the square root of this size. Which dimension is it?",
        ),
        (
            "the output",
            "To get the output for one query, multiply each key's value by the weight that the query gives "
            "to this key. Then add up the results.",
        ),
    ],
    solution="""
        import math

        def scaled_dot_product_attention(query, key, value):
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
            weights = scores.softmax(dim=-1)
            return weights @ value, weights""",
)


@exercise.right("step by step")
class Attention(shared.Attending, Steps):
    def __call__(self, query, key, value):
        return self.attend(query, key, value)

    def scores(self, query, key, value):
        return query @ key.transpose(-2, -1)

    def scaled(self, scores, query, key, value):
        return scores / math.sqrt(query.shape[-1])

    def weights(self, scaled):
        return scaled.softmax(dim=-1)

    def output(self, weights, value, query):
        return weights @ value


# What the scores are divided by
mistake = exercise.section(hint=2)
mistake(
    "no scaling",
    why="The scores go into the softmax undivided: the weights show no sign of a division by √d.",
    look="what happens to the variance of a dot product as d grows?",
    scaled=lambda scores: scores,
)
mistake(
    "scaled by d, not √d",
    why="The scores are divided by d (or by √d twice), so the softmax is too flat.",
    look="a score has variance d. What is its standard deviation?",
    scaled=lambda scores, query: scores / query.shape[-1],
)
mistake(
    "multiplied by √d",
    pairs=2,
    why="The scores are multiplied by √d or by d, when they should be divided, so the softmax is too sharp.",
    look="should the scores get larger or smaller?",
    scaled=[lambda scores, query: scores * math.sqrt(query.shape[-1]), lambda scores, query: scores * query.shape[-1]],
)

PAIRED = (
    "scaled by the number of keys",
    "scaled by the features of a value",  # with another mistake
    "scaled by 2 d",
    "scaled by a fixed number",
)
for name, what, scaled in shared.DIVISORS:
    mistake(
        name,
        why=f"The scores are divided by {what}, not by √d.",
        look="print what the scores are divided by. For a query of 8 features it should be 2.83.",
        pairs=int(name in PAIRED),
        scaled=scaled,
    )

exercise.adopt(shared.family, hints={"weights": 1, "output": 3}, pairs=shared.USUAL_PAIRS)
clipped = exercise.mistakes["the scores clipped"]  # these scores also show a wider limit, and one before the scaling
clipped.variants += [
    exercise.variant({step: lambda right, low=low, high=high: right.clamp(low, high)})
    for step in ("masked", "scores")
    for low, high in ((-5, 5), (-10, 10), (None, 10), (-10, None))
]
standardised = exercise.mistakes["standardised scores"]  # here this may also take the place of the scaling
standardised.variants.append(exercise.variant({"scaled": lambda scores: F.layer_norm(scores, scores.shape[-1:])}))

# Other places for a division, and other operations
mistake(
    "floor division",
    pairs=0,
    why="Every score is rounded down to a whole number, as by `//`, so scores that differ can become equal.",
    look="any `//` or `floor`: what does it do to the decimals?",
    scaled=[
        lambda scores, query: scores // math.sqrt(query.shape[-1]),
        lambda scores, query: scores // query.shape[-1],
        lambda scores, query: scores / query.shape[-1] ** 1 // 2,
    ],
)
mistake(
    "a score of 0 taken for masked", *ZERO_MASKED, pairs=0, masked=lambda scaled: scaled.masked_fill(scaled == 0, -1e9)
)
mistake(
    "the root of the scores",
    pairs=0,
    why="The square root is taken of the scores, not of d alone. A negative "
    "score has no square root, and large scores shrink the most.",
    look="what is under the square root in the exercise?",
    scaled=[
        lambda scores: scores.sqrt(),
        lambda scores, query: (scores / query.shape[-1]).sqrt(),
        lambda scores, query: scores.sqrt() / query.shape[-1],
        lambda scores: scores.abs().sqrt(),
        lambda scores, query: (scores.abs() / query.shape[-1]).sqrt(),
    ],
)


def scale_after_softmax(self, query, key, value):
    weights = self.scaled(self.weights(self.scores(query, key, value)), query, key, value)
    return self.output(weights, value, query), weights


mistake(
    "scaling after the softmax",
    why="The weights are divided by √d after the softmax, so the rows sum to 1/√d, not to 1.",
    look="the order of the two operations.",
    attend=scale_after_softmax,
)
mistake(
    "the output scaled, not the scores",
    why="The output (or the value) is divided by the square root of its own "
    "number of features, or of the query's; the scores go into the softmax as they are.",
    look="what is scaling for: which numbers grow too large without it?",
    variants=[
        {"scaled": lambda scores: scores, "output": lambda right, query: right / math.sqrt(query.shape[-1])},
        {"scaled": lambda scores: scores, "output": lambda right, value: right / math.sqrt(value.shape[-1])},
    ],
)
mistake(
    "the output scaled too",
    hint=3,
    why="The scores are divided by √d, and then something else is divided by √d "
    "too: the output, the values, or the weights that the output is computed with.",
    look="how many times do you divide, and how many divisions are there in the formula?",
    output=lambda right, query: right / math.sqrt(query.shape[-1]),
)


def scaled_before_and_after(self, query, key, value):
    scaled = self.scaled(self.scores(query, key, value), query, key, value)
    weights = self.scaled(self.weights(scaled), query, key, value)
    return self.output(weights, value, query), weights


mistake(
    "scaled before and after the softmax",
    hint=1,
    why="The scores are divided by √d, and then the weights are divided by √d again, so the rows do not sum to 1.",
    look="how many times do you divide, and how many divisions are there in the formula?",
    attend=scaled_before_and_after,
)
mistake(
    "torch.sqrt of a number",
    pairs=0,
    raises=True,
    why="`torch.sqrt` takes a tensor, but a size is a number.",
    look="which module has a square root for plain numbers?",
    scaled=lambda scores, query: scores / torch.sqrt(query.shape[-1]),
)
