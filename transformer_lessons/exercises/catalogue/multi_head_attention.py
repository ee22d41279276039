"""How the inputs of `MultiHeadAttention` are drawn, and whether its scores were scaled by another number."""

from transformer_lessons import attention
from transformer_lessons.exercises.catalogue.attention_scores import factor_of
from transformer_lessons.exercises.checker.setup import Setup, normal

setup = Setup(
    sizes=[  # no length is 1 and there is never just one head, for then much that is wrong elsewhere goes through
        {"batch": 1, "query": 2, "key": 3, "num_heads": 2, "d_model": 4},
        {"batch": 3, "query": 3, "key": 3, "num_heads": 3, "d_model": 9},
        {"batch": 2, "query": 5, "key": 5, "num_heads": 3, "d_model": 12},
        {"batch": 3, "query": 4, "key": 7, "num_heads": 2, "d_model": 10},
        {"batch": 5, "query": 6, "key": 4, "num_heads": 3, "d_model": 24},
        {"batch": 4, "query": 5, "key": 6, "num_heads": 3, "d_model": 12, "scale": 7.0},  # scores beyond 50
    ],
    draw=lambda generator, batch, query, key, num_heads, d_model, scale=1.0: tuple(
        normal(generator, batch, length, d_model, scale=scale) for length in (query, key, key)
    ),
    build=("d_model", "num_heads"),
    reference=attention.MultiHeadAttention,
    returns=("output", "weights"),
    shapes={"output": "(batch, query, d_model)", "weights": "(batch, heads, query, key)"},
    solves=lambda observed, expected, *_: ["scaled by another number"] * ((factor_of(observed, expected) or 0) > 0),
)
