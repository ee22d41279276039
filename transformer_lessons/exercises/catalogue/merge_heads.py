"""How the inputs of `merge_heads` are drawn: those of `split_heads`, split."""

from transformer_lessons import attention
from transformer_lessons.exercises.catalogue.split_heads import SIZES_OF_HEADS, draw_x
from transformer_lessons.exercises.checker.setup import Setup


def draw_heads(generator, batch, length, num_heads, d_head, labels=False):
    """x of shape (batch, heads, length, d_head)."""
    x, _ = draw_x(generator, batch, length, num_heads, d_head, labels)
    return (attention.split_heads(x, num_heads).contiguous(),)


setup = Setup(
    sizes=SIZES_OF_HEADS,
    draw=draw_heads,
    returns="merged",
    shapes={"merged": "(batch, length, d_model)"},
    reference=attention.merge_heads,
)
