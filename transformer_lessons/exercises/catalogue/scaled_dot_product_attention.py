"""How the inputs of `scaled_dot_product_attention` are drawn, and what its scores were divided by."""

import math

from transformer_lessons import attention
from transformer_lessons.exercises.catalogue.attention_scores import (
    SIZES,
    divisor_sentence,
    draw_roles,
    huge,
    large,
    solved_scaling,
)
from transformer_lessons.exercises.checker.setup import Setup


def root_of(query):
    """√d, which the scores should be divided by."""
    return math.sqrt(query.shape[-1])


setup = Setup(
    sizes=[*SIZES, *large(45.0, -45.0, 150.0, -150.0), huge(2000.0)],
    draw=draw_roles,
    reference=attention.scaled_dot_product_attention,
    gradients=True,
    returns=("output", "weights"),
    shapes={"output": "(…, query, d_v)", "weights": "(…, query, key)"},
    symptoms=[lambda observed, expected, query, key, value: divisor_sentence(observed, expected, root_of(query))],
    solves=lambda observed, expected, query, key, value: solved_scaling(
        observed, expected, value, {"scaled by a fixed number": root_of(query), "scaled by √d times a number": 1.0}
    ),
)
