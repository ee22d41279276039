"""How the inputs of `attention` are drawn, and what its scores were divided by."""

from transformer_lessons import first_steps
from transformer_lessons.exercises.catalogue.attention_scores import SIZES, divisor_of, divisor_sentence, draw_roles
from transformer_lessons.exercises.checker.exercise import Setup


def scaling(observed, expected, query, key, value):
    """A number that the scores are divided by: the same for every size."""
    divisor = divisor_of(observed, query, key)
    return divisor and [("scaled by a fixed number", divisor)]


setup = Setup(
    sizes=SIZES,
    draw=draw_roles,
    reference=lambda query, key, value: first_steps.attention(query, key, value),
    gradients=True,
    returns=("output", "weights"),
    shapes={"output": "(…, query, d_v)", "weights": "(…, query, key)"},
    symptoms=(lambda observed, expected, query, key, value: divisor_sentence(observed, query, key, 1.0),),
    solves=scaling,
)
