"""How the inputs of `DecoderLayer` are drawn."""

from transformer_lessons import layers, masks
from transformer_lessons.exercises.catalogue import layer_family as family
from transformer_lessons.exercises.checker.setup import Setup, normal


def draw_decoded(generator, batch, target, source, d_model, num_heads, d_hidden, masked=True):
    """Target vectors and the memory; a causal mask and one for the padding of the memory, or neither.

    masked="memory": only the memory's; "targets": only the targets'; "holes": both have holes, and the last query
    may attend to nothing.
    """
    x, memory = normal(generator, batch, target, d_model), normal(generator, batch, source, d_model)
    if not masked:
        return x, memory
    if masked == "holes":
        return x, memory, *(family.with_holes(generator, batch, target, keys) for keys in (target, source))
    if masked == "targets":
        return x, memory, masks.causal_mask(target)
    mask = None if masked == "memory" else masks.causal_mask(target)
    return x, memory, mask, family.padding_at_the_end(batch, source)


setup = Setup(
    sizes=[
        {"batch": 1, "target": 3, "source": 4, "d_model": 4, "num_heads": 2, "d_hidden": 2, "masked": False},
        {"batch": 2, "target": 4, "source": 4, "d_model": 6, "num_heads": 1, "d_hidden": 6},
        {"batch": 2, "target": 3, "source": 5, "d_model": 6, "num_heads": 3, "d_hidden": 7, "masked": "memory"},
        {"batch": 1, "target": 4, "source": 3, "d_model": 8, "num_heads": 2, "d_hidden": 5, "masked": "holes"},
        {"batch": 2, "target": 3, "source": 3, "d_model": 4, "num_heads": 2, "d_hidden": 5, "masked": "targets"},
    ],
    build=("d_model", "num_heads", "d_hidden"),
    draw=draw_decoded,
    reference=layers.DecoderLayer,
    returns="x",
    shapes={"x": "(batch, target, d_model)"},
    tolerance=2e-4,
)
