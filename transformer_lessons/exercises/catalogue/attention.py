"""attention, in lesson 2: three roles for one vector."""

from transformer_lessons import first_steps
from transformer_lessons.exercises.catalogue import attention_family as shared
from transformer_lessons.exercises.checker.exercise import Setup

setup = Setup(
    sizes=shared.SIZES,
    draw=shared.draw_roles,
    reference=lambda query, key, value: first_steps.attention(query, key, value),
    gradients=True,
    returns=("output", "weights"),
    shapes={"output": "(…, query, d_v)", "weights": "(…, query, key)"},
    symptoms=[lambda observed, expected, query, key, value: shared.divisor_sentence(observed, query, key, 1.0)],
)
