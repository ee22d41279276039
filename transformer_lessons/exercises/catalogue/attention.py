"""How the inputs of `attention` are drawn, and what its scores were divided by."""

from transformer_lessons import first_steps
from transformer_lessons.exercises.catalogue.attention_scores import (
    SIZES,
    divisor_sentence,
    draw_roles,
    factor_of,
    is_average,
)
from transformer_lessons.exercises.checker.setup import Setup


def scaling(observed, expected, query, key, value):
    """A number that the scores are divided by: the same for every size."""
    factor = factor_of(observed, expected)
    if factor is None or not is_average(observed, value):
        return None if factor is None else []
    return [("scaled by a fixed number", factor)]


setup = Setup(
    sizes=SIZES,
    draw=draw_roles,
    reference=first_steps.attention,
    gradients=True,
    returns=("output", "weights"),
    shapes={"output": "(…, query, d_v)", "weights": "(…, query, key)"},
    symptoms=(lambda observed, expected, query, key, value: divisor_sentence(observed, expected, 1.0),),
    solves=scaling,
)
