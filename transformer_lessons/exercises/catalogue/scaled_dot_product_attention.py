"""How the inputs of `scaled_dot_product_attention` are drawn, and what its scores were divided by."""

import math

from transformer_lessons import attention
from transformer_lessons.exercises.catalogue.attention_scores import SIZES, divisor_sentence, draw_roles, solved_scaling
from transformer_lessons.exercises.checker.setup import Setup

LARGE = {"lead": (2,), "query": 3, "key": 4, "d_head": 5, "d_v": 6}


def draw_large(generator, every_score=0.0, **sizes):
    """Queries, keys and values whose scores are all about this large: a softmax does not notice, but a limit does."""
    query, key, value = draw_roles(generator, **sizes)
    if every_score:
        query[..., 0], key[..., 0] = 1.0, every_score * math.sqrt(query.shape[-1])
    return query, key, value


def root_of(query):
    """√d, which the scores should be divided by."""
    return math.sqrt(query.shape[-1])


setup = Setup(
    sizes=[*SIZES, {**LARGE, "every_score": 20.0}, {**LARGE, "every_score": -20.0}],
    draw=draw_large,
    reference=attention.scaled_dot_product_attention,
    gradients=True,
    returns=("output", "weights"),
    shapes={"output": "(…, query, d_v)", "weights": "(…, query, key)"},
    symptoms=[lambda observed, expected, query, key, value: divisor_sentence(observed, expected, root_of(query))],
    solves=lambda observed, expected, query, key, value: solved_scaling(
        observed, expected, value, {"scaled by a fixed number": root_of(query), "scaled by √d times a number": 1.0}
    ),
)
