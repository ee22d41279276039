"""How the inputs of `merge_heads` are drawn: those of `split_heads`, split."""

from transformer_lessons import attention
from transformer_lessons.exercises.catalogue.heads import SIZES_OF_HEADS, draw_x
from transformer_lessons.exercises.checker.setup import Setup

setup = Setup(
    sizes=SIZES_OF_HEADS,
    draw=lambda generator, num_heads, **sizes: attention.split_heads(
        draw_x(generator, num_heads=num_heads, **sizes)[0], num_heads
    ).contiguous(),
    returns="merged",
    shapes={"merged": "(batch, length, d_model)"},
    reference=attention.merge_heads,
)
