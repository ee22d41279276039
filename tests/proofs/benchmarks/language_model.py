"""The language model's speed and quality, beside its peers.

    python tests/proofs/benchmarks/language_model.py                   everything: 55 minutes on 2 idle cores
    python tests/proofs/benchmarks/language_model.py generation steps  some parts only

    loss        the command train as a process, start-up included, on --tiny FILE, in nats per character
    a100        the same with the best recipe for three minutes, three seeds: nanoGPT's takes an A100
    words       the same on the complete works, for 2 and 15 minutes
    baselines   counting: unigram, bigram, five characters, on the same validation text
    generation  512 tokens with the cache, without it, and by transformers' GPT-2 (pip install transformers)
    steps       tokens a second in training, beside torch.nn.TransformerEncoder and GPT-2
    processes   tokens a second of two processes under torchrun, one thread each, and of one
    waiting     tokens a second of the command beside other work, and alone: as it sets its threads, and as they come

--text names the complete works (or SHAKESPEARE_TXT does). What alternates is compared by medians of one run.
"""

import argparse
import contextlib
import math
import os
import re
import statistics
import subprocess
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons.language import ngrams, sampling, training
from transformer_lessons.language.tokenization import Vocabulary
from transformer_lessons.tasks import shakespeare

SMALL = {"d_model": 128, "num_heads": 4, "d_hidden": None, "num_layers": 4, "max_length": 64}
WIDE = {"d_model": 384, "num_heads": 6, "d_hidden": None, "num_layers": 6, "max_length": 512}


def row(name, value):
    print(f"| {name} | {value} |", flush=True)


def run_train(*arguments, launcher=("-m", "transformer_lessons"), environment=None):
    """(wall seconds, what it printed) of the command, as a process."""
    start = time.perf_counter()
    result = subprocess.run(
        [sys.executable, *launcher, "train", "--quiet", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | (environment or {}),
    )
    if result.returncode:
        sys.exit(result.stderr)
    return time.perf_counter() - start, result.stdout


def nats_and_bits(printed):
    return re.search(r"([\d.]+) nats per token, ([\d.]+) bits", printed).groups()


# --- loss ---------------------------------------------------------------------------------------------------


def loss(options):
    """Beside nanoGPT's recipe for characters, which is measured elsewhere.

    A model that reads words spells the rare ones. The text is the same, so the losses per character compare.
    """
    if not options.tiny:
        return print("loss: --tiny FILE is not given")
    characters, words = ("--tokens", "characters"), ("--vocabulary", 2048)
    small = "--layers", 2, "--d-model", 64, "--batch-size", 24, "--learning-rate", 1e-2, "--steps", 285
    large = "--d-model", 96, "--length", 96, "--learning-rate", 7e-3, "--steps"
    for name, chosen in {
        "to nanoGPT's loss, 1.898, characters": (*characters, *small),
        "in its time, two cores, float32, characters": (*characters, *large, 1450),
        "in its time, two cores, float32, words": (*words, *large, 1000),
    }.items():
        seconds, printed = run_train("--text", options.tiny, "--last-tenth", *chosen)
        nats = math.log(2) * float(nats_and_bits(printed)[1])
        row(f"the last tenth, {name}", f"{nats:.3f} nats per character after {seconds:.1f} s")


def a100(options):
    """nanoGPT's README reports 1.4697 for three minutes on an A100. Here byte pairs, Muon, dropout, bfloat16."""
    if not options.tiny:
        return print("a100: --tiny FILE is not given")
    sizes = "--tokens", "bytepairs", "--vocabulary", 1024, "--d-model", 128, "--heads", 4, "--d-hidden", 352
    chosen = "--length", 128, "--dropout", 0.1, "--optimizer", "muon", "--learning-rate", 0.015
    for seed in range(3):
        seconds, printed = run_train(
            "--text", options.tiny, "--last-tenth", *sizes, *chosen, "--steps", 1400, "--seed", seed
        )
        nats = math.log(2) * float(nats_and_bits(printed)[1])
        row(f"the last tenth, byte pairs, seed {seed}", f"{nats:.4f} nats per character after {seconds:.1f} s")


def words(options):
    small = "--batch-size", 8, "--learning-rate", 6e-3, "--steps", 700
    large = "--d-model", 256, "--heads", 8, "--learning-rate", 3e-3, "--steps", 1000
    for minutes, chosen in {2: small, 15: large}.items():
        seconds, printed = run_train("--text", options.text, "--length", 128, *chosen)
        bits = nats_and_bits(printed)[1]
        row(f"complete works, {minutes} minutes", f"{bits} bits per character after {seconds:.0f} s")


def baselines(options):
    train, validation = map("".join, shakespeare.split(shakespeare.load(options.text).text))
    for name, order, vocabulary in [
        ("unigram, words", 1, Vocabulary.of_words(train, 4096)),
        ("bigram, words", 2, Vocabulary.of_words(train, 4096)),
        ("five characters", 5, Vocabulary.of_characters(train)),
    ]:
        model = ngrams.Counts(vocabulary.encode(train), order, len(vocabulary))
        bits = -np.log2(model.probabilities(vocabulary.encode(validation))).sum() / len(validation)
        row(name, f"{bits:.3f} bits per character")


# --- generation ---------------------------------------------------------------------------------------------


def ours_with_cache(vocabulary, length):
    model = training.new_model(vocabulary, **WIDE).eval()
    prompt = torch.zeros(1, 1, dtype=torch.int64)

    def write():
        for _ in sampling.generate_tokens(model, prompt, length):
            pass

    return write


def ours_without_cache(vocabulary, length):
    model = training.new_model(vocabulary, **WIDE).eval()

    @torch.no_grad()
    def write():
        tokens = torch.zeros(1, 1, dtype=torch.int64)
        for _ in range(length):
            tokens = torch.cat([tokens, sampling.sample_next(model(tokens)[:, -1])[:, None]], dim=1)

    return write


def gpt2(vocabulary, sizes):
    from transformers import GPT2Config, GPT2LMHeadModel

    names = {
        "d_model": "n_embd",
        "num_heads": "n_head",
        "d_hidden": "n_inner",
        "num_layers": "n_layer",
        "max_length": "n_positions",
    }
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=vocabulary,
            bos_token_id=0,
            eos_token_id=None,
            resid_pdrop=0,
            embd_pdrop=0,
            attn_pdrop=0,
            **{names[k]: v for k, v in sizes.items()},
        )
    )


def gpt2_with_cache(vocabulary, length):
    model = gpt2(vocabulary, WIDE).eval()
    prompt = torch.zeros(1, 1, dtype=torch.int64)

    def write():
        model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            do_sample=True,
            top_k=0,
            max_new_tokens=length - 1,
            min_new_tokens=length - 1,
            pad_token_id=0,
        )

    return write


def alternate(makers, rounds, tokens):
    """The median tokens a second of each, taken in turns."""
    seconds = {name: [] for name in makers}
    for call in makers.values():
        call()
    for _ in range(rounds):
        for name, call in makers.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return {name: tokens / statistics.median(times) for name, times in seconds.items()}


def generation_speed(options):
    length = 512
    makers = {"with cache": ours_with_cache(65, length)}
    with contextlib.suppress(ImportError):
        makers["GPT-2 of transformers, with cache"] = gpt2_with_cache(65, length)
    rates = alternate(makers, 3, length)
    start = time.perf_counter()
    ours_without_cache(65, length)()
    rates["without cache"] = length / (time.perf_counter() - start)
    for name, rate in rates.items():
        row(f"generation, {name}", f"{rate:.0f} tokens/s")
    shorter = alternate({"with cache": ours_with_cache(65, 64)}, 3, 64)["with cache"]
    row("a token's cost, 512 tokens beside 64", f"{shorter / rates['with cache']:.2f} times")


# --- training speed -----------------------------------------------------------------------------------------


class Peer(nn.Module):
    """The same sizes, of PyTorch's own layers."""

    def __init__(self, vocabulary, d_model, num_heads, d_hidden, num_layers, max_length):
        super().__init__()
        d_hidden = d_hidden or 4 * d_model  # as many weights as ours, which have gates
        self.embedding = nn.Embedding(vocabulary, d_model)
        self.positions = nn.Parameter(0.02 * torch.randn(max_length, d_model))
        self.layers = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(d_model, num_heads, d_hidden, 0.0, batch_first=True, norm_first=True),
            num_layers,
            nn.LayerNorm(d_model),
            enable_nested_tensor=False,
        )

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        x = self.layers(self.embedding(tokens) + self.positions, mask, is_causal=True)
        return F.linear(x, self.embedding.weight)


def stepper(model, half):
    optimizer = training.make_optimizer(model, training.Recipe())
    tokens = torch.randint(65, (16, 65))

    def step():
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            logits = model(tokens[:, :-1])
        logits = getattr(logits, "logits", logits)
        nn.functional.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def steps(options):
    models = {
        "LanguageModel": lambda: training.new_model(65, **SMALL),
        "nn.TransformerEncoder": lambda: Peer(65, **SMALL),
    }
    with contextlib.suppress(ImportError):
        import transformers  # noqa: F401

        models["GPT-2 of transformers"] = lambda: gpt2(65, SMALL)
    makers = {
        f"{name}, {'bfloat16' if half else 'float32'}": stepper(make(), half)
        for name, make in models.items()
        for half in (False, True)
    }
    for name, rate in alternate(makers, 15, 16 * 64).items():
        row(f"training, {name}", f"{rate:,.0f} tokens/s")


def processes(options):
    """A long run minus a short one, so that start-up does not count; in turns, since a machine's speed varies."""
    common = "--text", options.text, "--tokens", "characters", "--batch-size", 32, "--device", "cpu"
    launcher = ("-m", "torch.distributed.run", "--nproc_per_node", "2", "-m", "transformer_lessons")
    launchers = {"one process": ("-m", "transformer_lessons"), "two processes": launcher}
    speeds = {name: [] for name in launchers}
    for _ in range(3):
        for name, start in launchers.items():
            one = {"launcher": start, "environment": {"OMP_NUM_THREADS": "1"}}
            short, long = (run_train(*common, "--steps", number, **one)[0] for number in (20, 220))
            speeds[name].append(200 * 32 * 64 / (long - short))
    for name, several in speeds.items():
        row(f"torchrun, {name} of one thread", f"{statistics.median(several):,.0f} tokens/s")
    ratios = [two / one for one, two in zip(*speeds.values(), strict=True)]
    row("two over one", " ".join(f"{ratio:.2f}" for ratio in ratios))


def waiting(options):
    """As above, a long run minus a short one. 300000 is how often a waiting thread of GNU's OpenMP looks by itself."""
    common = "--text", options.text, "--batch-size", 8, "--length", 128, "--device", "cpu"
    kinds = {
        "as the command sets it": {},
        "always asleep": {"GOMP_SPINCOUNT": "0"},
        "as it comes": {"GOMP_SPINCOUNT": "300000"},
        "one thread": {"OMP_NUM_THREADS": "1"},
    }
    for busy in (0, os.cpu_count()):
        speeds = {name: [] for name in kinds}
        for _ in range(3):
            for name, environment in kinds.items():
                others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
                try:
                    short, long = (
                        run_train(*common, "--steps", number, environment=environment)[0] for number in (2, 122)
                    )
                finally:
                    for other in others:
                        other.kill()
                speeds[name].append(120 * 8 * 128 / (long - short))
        for name, several in speeds.items():
            row(f"{busy} other processes, threads {name}", f"{statistics.median(several):,.0f} tokens/s")


PARTS = {
    "loss": loss,
    "a100": a100,
    "words": words,
    "baselines": baselines,
    "generation": generation_speed,
    "steps": steps,
    "processes": processes,
    "waiting": waiting,
}

if __name__ == "__main__":
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=style)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--tiny", metavar="FILE", help="tinyshakespeare.txt, as in nanoGPT's figures")
    parser.add_argument("--text", metavar="FILE", default=os.environ.get("SHAKESPEARE_TXT"))
    options = parser.parse_args()
    if not options.text:
        options.text = str(shakespeare.cache())
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"{', '.join(unknown)}: the parts are {', '.join(PARTS)}")
    print("| | |\n| --- | --- |")
    for part in options.parts or PARTS:
        PARTS[part](options)
