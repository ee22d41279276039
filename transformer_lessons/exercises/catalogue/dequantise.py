"""How the inputs of `dequantise` are drawn."""

import torch

from transformer_lessons.exercises.checker.setup import Setup, integers, normal
from transformer_lessons.language import gguf_file

setup = Setup(
    sizes=[{"blocks": blocks} for blocks in (1, 2, 3, 5, 16, 32, 40)],
    draw=lambda generator, blocks: (  # positive scales, as a file has them, minima of either sign, and bytes
        0.2 + normal(generator, blocks, 1).abs(),
        3 * normal(generator, blocks, 1),
        integers(generator, 256, blocks, 16).to(torch.uint8),
    ),
    reference=gguf_file.dequantise,
    returns="weights",
    shapes={"weights": "(blocks, 32)"},
)
