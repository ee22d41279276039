"""How the inputs of `copying_matrix` are drawn."""

import torch

from transformer_lessons.attention import MultiHeadAttention
from transformer_lessons.exercises.checker.setup import Setup, normal
from transformer_lessons.inspection import experiments


def draw(generator, vocabulary, num_heads, d_head, head):
    """Two tables (vocabulary, d_model), an attention with biases, all of unit scale, and the number of a head."""
    d_model = num_heads * d_head
    attention = MultiHeadAttention(d_model, num_heads, dropout=0.0).double()
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.copy_(normal(generator, *parameter.shape))
    return normal(generator, vocabulary, d_model), attention.eval(), normal(generator, vocabulary, d_model), head


setup = Setup(
    sizes=[
        {"vocabulary": 3, "num_heads": 2, "d_head": 2, "head": 1},
        {"vocabulary": 5, "num_heads": 3, "d_head": 2, "head": 1},
        {"vocabulary": 7, "num_heads": 2, "d_head": 4, "head": 0},
        {"vocabulary": 4, "num_heads": 4, "d_head": 3, "head": 2},
        {"vocabulary": 6, "num_heads": 3, "d_head": 3, "head": 1},
        {"vocabulary": 6, "num_heads": 2, "d_head": 3, "head": 1},
        {"vocabulary": 8, "num_heads": 1, "d_head": 5, "head": 0},
    ],
    draw=draw,
    reference=experiments.copying_matrix,
    returns="matrix",
    shapes={"matrix": "(vocabulary, vocabulary)"},
    names_steps=False,
)
