"""What each change from GPT-2 to Llama does to loss, weights and cache: the picture of lesson 10.

    python tests/proofs/benchmarks/modern_models.py                 all rows, seeds 0 to 4: ten minutes on one core
    python tests/proofs/benchmarks/modern_models.py rotary SwiGLU   some rows only
    python tests/proofs/benchmarks/modern_models.py --large         twice the width, depth and batch

All models read the complete works (SHAKESPEARE_TXT names the file) as characters, and train with the same recipe on
the same batches. Losses are nats per character, on 10,000 characters of the course's validation text, or 60,000 for
the larger models. One thread.
"""

import argparse
from dataclasses import replace

import torch
from torch import nn

from transformer_lessons.language import training
from transformer_lessons.models import Config, LanguageModel
from transformer_lessons.positions import sinusoidal_encoding
from transformer_lessons.tasks import shakespeare

RECIPE = training.Recipe(steps=300, batch_size=8, length=64, learning_rate=3e-3, precision="float32")
GATES = {"gated": True}
ROTARY = {"rotary": True, "halves": True}  # pairs as in Hugging Face's Llama
LLAMA = GATES | ROTARY | {"rms": True, "bias": False, "tied": False, "num_key_heads": 2}
CHANGES = {
    "GPT-2": {},
    "larger positions": {},
    "no positions": {},
    "sinusoids": {},
    "rotary": ROTARY,
    "SwiGLU": GATES,
    "rotary, SwiGLU": ROTARY | GATES,
    "rotary, untied": ROTARY | {"tied": False},
    "RMSNorm": {"rms": True},
    "no biases": {"bias": False},
    "2 KV heads": {"num_key_heads": 2},
    "untied": {"tied": False},
    "Llama": LLAMA,
    "Llama, tied": LLAMA | {"tied": True},
}

SMALL = {"d_model": 64, "num_heads": 4, "num_layers": 2, "max_length": 64}
LARGE = {"d_model": 128, "num_heads": 4, "num_layers": 4, "max_length": 64}


def model_with(change, data, seed, sizes):
    torch.manual_seed(seed)
    width, fields = sizes["d_model"], CHANGES[change]
    d_hidden = 8 * width // 3 if "gated" in fields else 4 * width  # as many weights in three maps as in two
    config = Config(len(data.vocabulary), **sizes, d_hidden=d_hidden, gelu=True, std=width**-0.5, **fields)
    model = LanguageModel(config)
    if change == "larger positions":
        nn.init.normal_(model.positions.encoding, std=width**-0.5)  # as large as the embeddings
    if change == "no positions":
        nn.init.zeros_(model.positions.encoding).requires_grad_(False)
    if change == "sinusoids":  # fixed, and as large as the embeddings
        waves = sinusoidal_encoding(sizes["max_length"], width)  # their root mean square is 1 / √2
        model.positions.encoding = nn.Parameter(waves * (2 / width) ** 0.5, requires_grad=False)
    return model


def weights_of(model):
    return sum(parameter.numel() for parameter in model.parameters())


def cached_numbers(model):
    """Numbers that the cache keeps for each token: keys and values, in every layer."""
    return sum(2 * layer.attention.linear_k.out_features for layer in model.layers)


def losses(changes, seeds, data, sizes, recipe):
    print(f"| changed | weights | cached numbers a token | {' | '.join(f'seed {seed}' for seed in seeds)} |")
    for change in changes:
        found = []
        for seed in seeds:
            model = model_with(change, data, seed, sizes)
            progress = training.train(model, data, replace(recipe, seed=seed), quiet=True)
            found.append(f"{progress.evaluations[-1][1]:.4f}")
        print(f"| {change} | {weights_of(model):,} | {cached_numbers(model)} | {' | '.join(found)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("changes", nargs="*", help="rows of the table; by default all")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--text", help="another text than the complete works")
    options = parser.parse_args()
    torch.set_num_threads(1)
    data = training.prepare(shakespeare.split(shakespeare.load(options.text).text), "characters")
    sizes, recipe, characters = SMALL, RECIPE, 10_000
    if options.large:
        sizes, recipe, characters = LARGE, replace(RECIPE, batch_size=16), 60_000
    data = replace(data, validation=data.validation[:characters])
    losses(options.changes or CHANGES, options.seeds, data, sizes, recipe)


if __name__ == "__main__":
    main()
