"""On one NVIDIA GPU: nanoGPT's baby GPT beside the course's recipe, on Tiny Shakespeare's last tenth.

    python tests/proofs/benchmarks/gpu.py tinyshakespeare.txt        both, about two minutes on an H200
    python tests/proofs/benchmarks/gpu.py tinyshakespeare.txt ours   the course's recipe alone

The baby GPT is nanoGPT's `config/train_shakespeare_char.py`, with the same sizes, schedule, dropout, bfloat16, fused
attention, fused AdamW and torch.compile, written here anew. It evaluates on the whole last tenth, as often as
nanoGPT does; that is faster than nanoGPT's 400 batches. Times are of whole processes, start-up included.
"""

import math
import subprocess
import sys
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

GOAL = 1.4697  # nats per character, in nanoGPT's README
WIDTH, HEADS, LAYERS, LENGTH, BATCH, STEPS, DROPOUT = 384, 6, 6, 256, 64, 5000, 0.2
RECIPE = (
    "--tokens",
    "bytepairs",
    "--vocabulary",
    "1024",
    "--layers",
    "3",
    "--d-model",
    "192",
    "--heads",
    "4",
    "--length",
    "128",
    "--dropout",
    "0.2",
    "--optimizer",
    "muon",
    "--learning-rate",
    "0.015",
    "--batch-size",
    "128",
    "--steps",
    "400",
)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = (nn.LayerNorm(WIDTH, bias=False) for _ in range(2))
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.mixed = nn.Linear(WIDTH, WIDTH, bias=False)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH, bias=False), nn.Linear(4 * WIDTH, WIDTH, bias=False)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x):
        heads = self.qkv(self.norm_1(x)).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        p = DROPOUT if self.training else 0.0
        seen = F.scaled_dot_product_attention(*heads, dropout_p=p, is_causal=True).transpose(1, 2).flatten(2)
        x = x + self.dropout(self.mixed(seen))
        return x + self.dropout(self.down(F.gelu(self.up(self.norm_2(x)))))


class BabyGPT(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks, self.norm = nn.Sequential(*(Block() for _ in range(LAYERS))), nn.LayerNorm(WIDTH, bias=False)
        self.dropout = nn.Dropout(DROPOUT)
        for name, weight in self.named_parameters():
            if weight.dim() > 1:
                last = name.endswith(("mixed.weight", "down.weight"))
                nn.init.normal_(weight, std=0.02 / math.sqrt(2 * LAYERS) if last else 0.02)

    def forward(self, inputs, targets):
        x = self.dropout(self.tokens(inputs) + self.positions.weight)
        logits = F.linear(self.norm(self.blocks(x)), self.tokens.weight)
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


def learning_rate(step):
    if step < 100:
        return 1e-3 * step / 100
    return 1e-4 + 0.45e-3 * (1 + math.cos(math.pi * (step - 100) / (STEPS - 100)))


def train_baby(path):
    """Prints the loss and the seconds of training at every evaluation."""
    torch.manual_seed(1337)
    torch.set_float32_matmul_precision("high")
    text = Path(path).read_text(encoding="utf-8")
    letters = {letter: number for number, letter in enumerate(sorted(set(text)))}
    ids = torch.tensor([letters[letter] for letter in text], device="cuda")
    train, validation = ids[: len(ids) * 9 // 10], ids[len(ids) * 9 // 10 :]
    rows = validation[: (len(validation) - 1) // LENGTH * LENGTH].view(-1, LENGTH)
    nexts = validation[1 : rows.numel() + 1].view(-1, LENGTH)
    model = BabyGPT(len(letters)).cuda()
    quick = torch.compile(model)
    matrices, others = ([p for p in model.parameters() if (p.dim() > 1) == large] for large in (True, False))
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.99), fused=True)
    for step in range(STEPS + 1):
        if step % 250 == 0:
            model.eval()
            with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
                batches = zip(rows.split(BATCH), nexts.split(BATCH), strict=True)
                losses = [(quick(*batch).item(), len(batch[0])) for batch in batches]
            loss = sum(one * size for one, size in losses) / len(rows)
            print("evaluation", step, loss, flush=True)
            model.train()
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step)
        starts = torch.randint(len(train) - LENGTH, (BATCH, 1), device="cuda")
        places = starts + torch.arange(LENGTH, device="cuda")
        with torch.autocast("cuda", torch.bfloat16):
            loss = quick(train[places], train[places + 1])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()


def baby(path):
    start, reached, lowest = time.perf_counter(), None, math.inf
    with subprocess.Popen([sys.executable, __file__, path, "train_baby"], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            lowest = min(lowest, float(line.split()[2]))
            if lowest <= GOAL and reached is None:
                reached = time.perf_counter() - start
    if process.returncode:
        sys.exit(process.returncode)
    when = f"{GOAL} after {reached:.1f} s" if reached else f"{GOAL} not reached"
    print(f"| baby GPT | {when}; {lowest:.4f} at best; {time.perf_counter() - start:.1f} s in all |", flush=True)


def ours(path):
    for seed in range(3):
        start = time.perf_counter()
        command = ["-m", "transformer_lessons", "train", "--quiet", "--text", path, "--last-tenth", "--device", "cuda"]
        command += [*RECIPE, "--seed", str(seed)]
        result = subprocess.run([sys.executable, *command], capture_output=True, text=True)
        if result.returncode:
            sys.exit(result.stderr)
        nats = math.log(2) * float(result.stdout.split(", ")[1].split()[0])
        seconds = time.perf_counter() - start
        print(f"| the course's recipe, seed {seed} | {nats:.4f} nats per character after {seconds:.1f} s |", flush=True)


PARTS = {"baby": baby, "ours": ours, "train_baby": train_baby}

if __name__ == "__main__":
    if len(sys.argv) < 2 or not torch.cuda.is_available():
        sys.exit(f"It takes an NVIDIA GPU, and the text as a file.\n\n{__doc__}")
    for part in sys.argv[2:] or ["baby", "ours"]:
        PARTS[part](sys.argv[1])
