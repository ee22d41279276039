"""How the inputs of `EncoderLayer` are drawn."""

from transformer_lessons import layers, masks
from transformer_lessons.exercises.catalogue import layer_family as family
from transformer_lessons.exercises.checker.setup import Setup, normal


def draw_encoded(generator, batch, length, d_model, num_heads, d_hidden, mask=None):
    """Vectors, and no mask, a causal one, one for padding at the end, or one with holes."""
    x = normal(generator, batch, length, d_model)
    if mask is None:
        return (x,)
    if mask == "holes":
        return x, family.with_holes(generator, batch, length, length)
    return x, masks.causal_mask(length) if mask == "causal" else family.padding_at_the_end(batch, length)


setup = Setup(
    sizes=[
        {"batch": 1, "length": 2, "d_model": 4, "num_heads": 2, "d_hidden": 3},
        {"batch": 2, "length": 3, "d_model": 6, "num_heads": 3, "d_hidden": 7, "mask": "causal"},
        {"batch": 3, "length": 6, "d_model": 6, "num_heads": 1, "d_hidden": 6, "mask": "padding"},
        {"batch": 2, "length": 4, "d_model": 8, "num_heads": 2, "d_hidden": 5, "mask": "holes"},
    ],
    build=("d_model", "num_heads", "d_hidden"),
    draw=draw_encoded,
    reference=layers.EncoderLayer,
    returns="x",
    shapes={"x": "(batch, length, d_model)"},
    tolerance=2e-4,
)
