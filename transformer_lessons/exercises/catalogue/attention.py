"""attention, in lesson 2: three roles for one vector."""

import math

import torch.nn.functional as F

from transformer_lessons import first_steps
from transformer_lessons.exercises.catalogue import attention_family as shared
from transformer_lessons.exercises.catalogue.softmax import ZERO_MASKED
from transformer_lessons.exercises.checker.exercise import Exercise, Steps

exercise = Exercise(
    name="attention",
    lesson=2,
    title="Three roles",
    difficulty=1,
    importance=3,
    minutes=10,
    contract="""attention(query, key, value) takes torch tensors (…, query, d_head), (…, key, d_head) and (…, key, d_v)
        with any leading dimensions and returns (output, weights): weights is the softmax of query · key over the keys,
        without scaling; output is the average of the values with these weights. Gradients flow back to query, key and
        value.""",
    stub='''
        def attention(query, key, value):
            """(output, weights): the averages of the values, and the weights that made them."""
            raise NotImplementedError''',
    sizes=shared.SIZES,
    draw=shared.draw_roles,
    reference=lambda query, key, value: first_steps.attention(query, key, value),
    gradients=True,
    returns=("output", "weights"),
    shapes={"output": "(…, query, d_v)", "weights": "(…, query, key)"},
    symptoms=[lambda observed, expected, query, key, value: shared.divisor_sentence(observed, query, key, 1.0)],
    hints=[
        (
            "the weights",
            "Each query is compared with every key, so a row of the weights has one number for each "
            "key, and these numbers sum to 1. Which dimension must the softmax run over?",
        ),
        (
            "leading dimensions",
            "Count the dimensions from the end: the last two are -2 and -1, however many come before them.",
        ),
        (
            "the output",
            "To get the output for a query, multiply each key's value by the query's weight for that "
            "key, and add up the results.",
        ),
    ],
    solution=first_steps.attention,
)


@exercise.right("step by step")
class Attention(shared.Attending, Steps):
    def __call__(self, query, key, value):
        return self.attend(query, key, value)

    def scores(self, query, key, value):
        return query @ key.transpose(-2, -1)

    def weights(self, scaled):
        return scaled.softmax(dim=-1)

    def output(self, weights, value, query):
        return weights @ value


exercise.adopt(shared.family, hints={"scores": 1, "weights": 1, "batch": 2, "output": 3}, pairs=shared.USUAL_PAIRS)
clipped = exercise.mistakes["the scores clipped"]  # without a scale, a wider limit shows, too
clipped.variants.append(exercise.variant({"masked": lambda scaled: scaled.clamp(-5, 5)}))

# A scale that nobody asked for
PAIRED = ("scaled by √d", "scaled by the number of keys", "scaled by the features of a value")
mistake = exercise.section(hint=2, look=shared.UNSCALED)
for name, what, scaled in (
    (
        "scaled by √d",
        "√d, the scaling that comes in lesson 3",
        lambda scores, query: scores / math.sqrt(query.shape[-1]),
    ),
    ("scaled by d", "d, the number of features", lambda scores, query: scores / query.shape[-1]),
    *shared.DIVISORS[:5],
    *(one for one in shared.DIVISORS if one[0] in ("scaled by d / 2", "scaled by 2 d")),
    ("scaled by a fixed number", "a fixed number", shared.divided_by(*shared.FIXED[:6], 0.5, 0.1)),
):
    mistake(
        name,
        why=f"The scores are divided by {what}; this exercise leaves them as they are.",
        pairs=int(name in PAIRED),
        scaled=scaled,
    )
mistake(
    "multiplied by √d",
    pairs=0,
    why="The scores are multiplied by √d or by d; this exercise leaves them as they are.",
    scaled=[lambda scores, query: scores * math.sqrt(query.shape[-1]), lambda scores, query: scores * query.shape[-1]],
)

# A scale in another place
mistake = exercise.section(hint=3)
mistake(
    "a score of 0 taken for masked",
    *ZERO_MASKED,
    hint=1,
    pairs=0,
    masked=lambda scaled: scaled.masked_fill(scaled == 0, -1e9),
)
mistake(
    "the scale of PyTorch in the output alone",
    why="The output is computed from scores divided by √d, the default "
    "of PyTorch's own attention; the weights that are returned are computed from undivided scores.",
    look="which weights is the output computed with?",
    attend=lambda right, query, key, value: (F.scaled_dot_product_attention(query, key, value), right[1]),
)
mistake(
    "the output divided by √d",
    why="The output is divided by the square root of a query's number of "
    "features; the exercise asks for the average alone.",
    look="what happens to the average before the `return`?",
    attend=lambda right, query: (right[0] / math.sqrt(query.shape[-1]), right[1]),
)


def weights_divided(self, query, key, value):
    weights = self.weights(self.scores(query, key, value)) / math.sqrt(query.shape[-1])
    return self.output(weights, value, query), weights


mistake(
    "the weights divided by √d",
    hint=1,
    why="The weights are divided by the square root of a query's number of features, so the rows no longer sum to 1.",
    look="add up one row of the weights: what do you get?",
    attend=weights_divided,
)
