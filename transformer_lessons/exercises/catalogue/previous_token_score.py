"""How the inputs of `previous_token_score` are drawn."""

from transformer_lessons.exercises.catalogue.heads import draw_maps
from transformer_lessons.exercises.checker.setup import Setup
from transformer_lessons.inspection import attention_maps

SIZES_OF_MAPS = [
    {"batch": 2, "heads": 3, "length": 3},
    {"batch": 1, "heads": 2, "length": 5},
    {"batch": 3, "heads": 2, "length": 4, "causal": False},
    {"batch": 3, "heads": 5, "length": 7},
    {"batch": 4, "heads": 1, "length": 6},
    {"batch": 4, "heads": 4, "length": 4, "causal": False},
]


setup = Setup(
    sizes=[
        *SIZES_OF_MAPS,
        {"batch": 3, "heads": 4, "length": 2},
        {"batch": 1, "heads": 1, "length": 4},
        {"batch": 3, "heads": 2, "length": 6, "back": 1},
    ],
    draw=draw_maps,
    reference=attention_maps.previous_token_score,
    returns="scores",
    shapes={"scores": "(heads,)"},
    names_steps=False,
)
