"""How the inputs of `split_heads` are drawn: in the first, each number tells where it stands."""

from transformer_lessons import attention
from transformer_lessons.exercises.catalogue.heads import SIZES_OF_HEADS, draw_x
from transformer_lessons.exercises.checker.setup import Setup

setup = Setup(
    sizes=SIZES_OF_HEADS,
    draw=draw_x,
    returns="heads",
    shapes={"heads": "(batch, heads, length, d_head)"},
    reference=attention.split_heads,
)
