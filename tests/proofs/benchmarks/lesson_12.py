"""Two speeds of lesson 12 beside those of others: python tests/proofs/benchmarks/lesson_12.py [chat] [tiles]

chat: tokens a second that the chat model writes with the cache, beside `generate` of Hugging Face's transformers with
the same weights (`pip install -e .[reference]`). tiles: milliseconds of causal attention, tile by tile, beside
PyTorch's own kernel. The two take turns, so that whatever else the machine does meets both; the fastest of each counts.
"""

import sys
import time
from functools import partial

import torch
import torch.nn.functional as F

from transformer_lessons.basis import chat_model
from transformer_lessons.language import gguf_model, long_context, sampling
from transformer_lessons.language.gguf_file import GGUFFile

PROMPT, LENGTH, ROUNDS = 20, 60, 5


def fastest(*calls):
    """The seconds of the fastest run of each call, in turns."""
    taken = [[] for _ in calls]
    for _ in range(ROUNDS):
        for call, seconds in zip(calls, taken, strict=True):
            start = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - start)
    return map(min, taken)


def chat():
    import transformers

    path = chat_model.path()
    ours, short = gguf_model.read_model(GGUFFile(path)), gguf_model.read_model(GGUFFile(path)).bfloat16()
    for model in (ours, short):
        sampling.lay_out(model)  # as the commands do
    theirs = transformers.AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
    prompt = torch.randint(1000, 40_000, (1, PROMPT), generator=torch.Generator().manual_seed(0))
    settings = {"max_new_tokens": LENGTH, "min_new_tokens": LENGTH, "do_sample": False}

    def write(model):
        return list(sampling.generate_tokens(model, prompt, LENGTH, temperature=0))

    def write_theirs():
        return theirs.generate(prompt, attention_mask=torch.ones_like(prompt), **settings)[0, PROMPT:].tolist()

    same = torch.cat(write(ours)).tolist() == write_theirs()
    here, there, in_bfloat16 = (
        LENGTH / seconds for seconds in fastest(partial(write, ours), write_theirs, partial(write, short))
    )
    print(f"chat, {LENGTH} tokens: {here:.1f} a second here, {there:.1f} with transformers", end="")
    print(f" ({transformers.__version__}); the same tokens: {same}; in bfloat16 {in_bfloat16:.1f}")


def tiles():
    for length in (1024, 4096):
        inputs = torch.randn(3, 2, length, 64)
        here, there = fastest(
            partial(long_context.tiled_attention, *inputs, 128),
            partial(F.scaled_dot_product_attention, *inputs, is_causal=True),
        )
        print(f"tiles, {length} tokens: {1000 * here:.1f} ms here, {1000 * there:.1f} with PyTorch's kernel")


if __name__ == "__main__":
    with torch.inference_mode():
        for part in sys.argv[1:] or ["chat", "tiles"]:
            {"chat": chat, "tiles": tiles}[part]()
