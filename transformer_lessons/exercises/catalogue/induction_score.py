"""How the inputs of `induction_score` are drawn."""

from transformer_lessons.exercises.catalogue.heads import draw_maps
from transformer_lessons.exercises.checker.setup import Setup
from transformer_lessons.inspection import attention_maps

setup = Setup(
    sizes=[
        {"batch": 2, "heads": 3, "length": 5, "period": 3},
        {"batch": 1, "heads": 2, "length": 8, "period": 4},
        {"batch": 3, "heads": 2, "length": 7, "period": 2, "causal": False},
        {"batch": 2, "heads": 4, "length": 13, "period": 5},
        {"batch": 3, "heads": 1, "length": 7, "period": 6},
        {"batch": 4, "heads": 5, "length": 11, "period": 3, "causal": False},
        {"batch": 3, "heads": 3, "length": 12, "period": 4},
        {"batch": 2, "heads": 6, "length": 16, "period": 5},
        {"batch": 1, "heads": 1, "length": 6, "period": 3},
        {"batch": 3, "heads": 2, "length": 9, "period": 4, "back": 3},
    ],
    draw=lambda generator, period, **sizes: (draw_maps(generator, **sizes), period),
    reference=attention_maps.induction_score,
    returns="scores",
    shapes={"scores": "(heads,)"},
    names_steps=False,
)
