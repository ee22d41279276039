"""How the inputs of `attention` are drawn, and what its scores were divided by."""

from transformer_lessons import first_steps
from transformer_lessons.exercises.catalogue.attention_scores import (
    SIZES,
    divisor_sentence,
    draw_roles,
    huge,
    large,
    solved_scaling,
)
from transformer_lessons.exercises.checker.setup import Setup

setup = Setup(
    sizes=[*SIZES, *large(70.0, -70.0), huge(1000.0)],
    draw=draw_roles,
    reference=first_steps.attention,
    gradients=True,
    returns=("output", "weights"),
    shapes={"output": "(…, query, d_v)", "weights": "(…, query, key)"},
    symptoms=[lambda observed, expected, query, key, value: divisor_sentence(observed, expected, 1.0)],
    solves=lambda observed, expected, query, key, value: solved_scaling(
        observed, expected, value, {"scaled by a fixed number": 1.0}
    ),
)
