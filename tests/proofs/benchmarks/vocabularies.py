"""What the size of a vocabulary buys, in bits per character, on any text.

    python tests/proofs/benchmarks/vocabularies.py tinyshakespeare.txt --seconds 60

The last tenth of the text is for evaluation. For each number of merges: a bigram model (Witten-Bell), and a Transformer
trained for so many seconds of processor time, on one thread.
"""

import argparse
import math
import time

import numpy as np
import torch

from transformer_lessons.language import byte_pairs, ngrams, training
from transformer_lessons.tools.commands import split


def bigram_bits(data):
    """What the evaluation text costs a bigram model, in bits per character."""
    counts = ngrams.Counts(data.train.numpy(), 2, len(data.vocabulary))
    return data.bits(-np.log(counts.probabilities(data.validation.numpy())[1:]).mean())


def transformer_bits(data, seconds, seed=0, d_model=128, length=64, batch_size=16, rate=4e-3):
    """The same for a small Transformer after so many seconds of training; and its steps."""
    torch.manual_seed(seed)
    model = training.new_model(
        len(data.vocabulary), d_model, num_heads=4, d_hidden=None, num_layers=4, max_length=length
    )
    recipe = training.Recipe(steps=10**6, batch_size=batch_size, length=length, seed=seed)
    optimizer, batches = training.make_optimizer(model, recipe), training.Batches(data.train, recipe)
    start, step = time.process_time(), 0
    while (share := (time.process_time() - start) / seconds) < 1:
        for group in optimizer.param_groups:
            group["lr"] = rate * min((share + 0.002) / 0.1, (1 - share) / 0.9)
        loss = training.loss_of(model, *batches(step), precision="float32")
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
    return data.bits(training.evaluate(model, data.validation, length, precision="float32")), step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--merges", type=int, nargs="+", default=[0, 64, 256, 1024, 4096])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    options = parser.parse_args()
    torch.set_num_threads(1)
    with open(options.text, encoding="utf-8") as file:
        pieces = split(file.read(), last_tenth=True)
    print("| merges | characters a token | bigram | Transformer | steps |\n| --- | --- | --- | --- | --- |")
    for merges in options.merges:
        data = training.encode(byte_pairs.BytePairs.of_text(pieces[0][0], 256 + merges), pieces[0][0], pieces[1][0])
        reached, steps = zip(*(transformer_bits(data, options.seconds, seed) for seed in options.seeds), strict=True)
        assert all(math.isfinite(bits) for bits in reached)
        print(
            f"| {merges:,} | {data.characters / len(data.validation):.2f} | {bigram_bits(data):.2f} | "
            f"{', '.join(f'{bits:.2f}' for bits in reached)} | {', '.join(map(str, steps))} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
