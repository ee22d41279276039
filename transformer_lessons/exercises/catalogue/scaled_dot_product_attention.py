"""scaled_dot_product_attention, in lesson 3: why divide by √d."""

import math

from transformer_lessons import attention
from transformer_lessons.exercises.catalogue import attention_family as shared
from transformer_lessons.exercises.checker.exercise import Setup

LARGE = {"lead": (2,), "query": 3, "key": 4, "d_head": 5, "d_v": 6}


def draw_large(generator, every_score=0.0, **sizes):
    """Queries, keys and values whose scores are all about this large: a softmax does not notice, but a limit does."""
    query, key, value = shared.draw_roles(generator, **sizes)
    if every_score:
        query[..., 0], key[..., 0] = 1.0, every_score * math.sqrt(query.shape[-1])
    return query, key, value


setup = Setup(
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
)
