"""Does readable code cost time? A training step of LanguageModel beside one of PyTorch's own layers.

    python tests/proofs/benchmarks/step.py            three sizes, one thread and two
    python tests/proofs/benchmarks/step.py --steps 5  fewer steps: sooner, and less sure

Both models have the same sizes, optimizer and data. Their steps alternate, so that whatever else the machine
does meets both; of each, the median counts. A ratio of at most 1 means that ours takes no longer. With
dropout, PyTorch's layer also drops weights of the attention and inside the feed-forward; ours does not. On a busy
machine, OMP_WAIT_POLICY=passive keeps two threads from wasting time on waiting for each other.
"""

import argparse
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons.models import Config, LanguageModel

SIZES = {  # batch, length, vocabulary, d_model, num_heads, d_hidden, num_layers
    "small": (16, 32, 100, 64, 4, 256, 2),
    "middle": (16, 64, 1000, 128, 4, 512, 4),
    "large": (8, 128, 4000, 256, 8, 1024, 6),
}


class Peer(nn.Module):
    """The same language model from PyTorch's modules, told in both ways it knows that its mask is causal."""

    def __init__(self, vocabulary, d_model, num_heads, d_hidden, num_layers, length, dropout):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.positions = nn.Parameter(0.02 * torch.randn(length, d_model))
        layer = nn.TransformerEncoderLayer(d_model, num_heads, d_hidden, dropout, batch_first=True, norm_first=True)
        norm = nn.LayerNorm(d_model)
        self.layers = nn.TransformerEncoder(layer, num_layers, norm, enable_nested_tensor=False)
        self.dropout = nn.Dropout(dropout)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, tokens):
        length = tokens.shape[1]
        x = self.dropout(self.embedding(tokens) + self.positions[:length])
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        return F.linear(self.layers(x, mask, is_causal=True), self.embedding.weight)


def stepper(model):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(tokens):
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def seconds(step, tokens):
    start = time.perf_counter()
    step(tokens)
    return time.perf_counter() - start


def compare(size, dropout, steps):
    """The median seconds of a step of ours, and of theirs."""
    batch, length, vocabulary, *rest = SIZES[size]
    ours = stepper(LanguageModel(Config(vocabulary, *rest, length, dropout=dropout)))
    theirs = stepper(Peer(vocabulary, *rest, length, dropout))
    taken = {ours: [], theirs: []}
    for number in range(steps + 3):
        tokens = torch.randint(vocabulary, (batch, length + 1))
        for step in (ours, theirs) if number % 2 else (theirs, ours):
            taken[step].append(seconds(step, tokens))
    return [statistics.median(taken[step][3:]) for step in (ours, theirs)]  # the first three warm up


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40, help="steps of each model for each line (default: 40)")
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), choices=SIZES, help="default: all")
    arguments = parser.parse_args()
    print("size    threads  dropout     ours    PyTorch   ratio")
    for size in arguments.sizes:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            for dropout in (0.1, 0.0):
                ours, theirs = compare(size, dropout, arguments.steps)
                line = f"{size:<8}{threads:>7}{dropout:>9}{1000 * ours:>7.1f} ms{1000 * theirs:>8.1f} ms"
                print(f"{line}{ours / theirs:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
