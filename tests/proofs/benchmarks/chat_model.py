"""How fast lesson 12's chat model writes: tokens per second of processor time, on one thread.

    python tests/proofs/benchmarks/chat_model.py        about a minute of processor time

Each number is that of the fastest of eight steps, in turns. On two shared cores of an AMD EPYC (AVX2, no
instructions for bfloat16), torch 2.13.0:

    float32, without a cache, after 90 tokens: 1.4
     1 texts, 1 tokens a call: float32 11.2, 4-bit numbers 18.7, bfloat16 2.6
     4 texts, 1 tokens a call: float32 24.5, 4-bit numbers 41.0
    16 texts, 1 tokens a call: float32 67.0, 4-bit numbers 68.1
     1 texts, 8 tokens a call: float32 40.9, 4-bit numbers 56.4

The machine was busy with other work, so another run may differ by a third.
"""

import copy
from pathlib import Path

import nbformat
import torch

NOTEBOOK = Path(__file__).parents[3] / "notebooks" / "12_making_it_fast.ipynb"
NEEDED = ("import copy", "chat_cells.load(", "def seconds", "file = gguf_file", "class FourBitLinear", "quick = copy")


def lesson():
    """What those of the lesson's cells make that load the chat model, quantise it and measure time."""
    made = {}
    for cell in nbformat.read(NOTEBOOK, 4).cells:
        if cell.cell_type == "code" and any(word in cell.source for word in NEEDED):
            exec(compile(cell.source, "cell", "exec"), made)
    return made


def main():
    made = lesson()
    model, quick = made["model"], made["quick"]
    with torch.inference_mode():
        again = 1 / made["seconds"](model, made["prompt"], runs=2)
    print(f"float32, without a cache, after 90 tokens: {again:.1f}", flush=True)
    half = {"bfloat16": copy.deepcopy(model).bfloat16()}
    for batch, new, others in ((1, 1, half), (4, 1, {}), (16, 1, {}), (1, 8, {})):
        best = {}
        for name, one in 2 * list({"float32": model, "4-bit numbers": quick, **others}.items()):
            taken = made["seconds_per_step"](one, batch, new)
            best[name] = max(best.get(name, 0.0), batch * new / taken)
        rates = ", ".join(f"{name} {rate:.1f}" for name, rate in best.items())
        print(f"{batch:2} texts, {new} tokens a call: {rates}", flush=True)


if __name__ == "__main__":
    main()
