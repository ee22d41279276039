"""Writes a tiny chat model as a GGUF file, with llama.cpp's own writer, so that most tests need no download."""

import gguf
import numpy as np
import torch

from transformer_lessons.language.splitting import LETTERS

D_MODEL, HEADS, KEY_HEADS, D_HIDDEN, LAYERS, LENGTH = 64, 4, 2, 96, 2, 128
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = ["t h", "th e", "Ġ the", "i n"]
TOKENS = [*SPECIAL, *LETTERS.values(), *(merge.replace(" ", "") for merge in MERGES)]
TEMPLATE = "{% if x %}{{ '<|im_start|>system\\nYou are small.<|im_end|>\\n' }}{% endif %}{{'<|im_start|>' + role}}"
SETTINGS = {
    "llama.context_length": LENGTH,
    "llama.embedding_length": D_MODEL,
    "llama.feed_forward_length": D_HIDDEN,
    "llama.block_count": LAYERS,
    "llama.attention.head_count": HEADS,
    "llama.attention.head_count_kv": KEY_HEADS,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
    "llama.rope.freq_base": 100000.0,
    "llama.rope.dimension_count": D_MODEL // HEADS,
    "llama.vocab_size": len(TOKENS),
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "smollm",
    "tokenizer.ggml.tokens": TOKENS,
    "tokenizer.ggml.token_type": [3] * len(SPECIAL) + [1] * (len(TOKENS) - len(SPECIAL)),
    "tokenizer.ggml.merges": MERGES,
    "tokenizer.chat_template": TEMPLATE,
}
KEYS = KEY_HEADS * D_MODEL // HEADS
SHAPES = {
    "attn_q": (D_MODEL, D_MODEL),
    "attn_k": (KEYS, D_MODEL),
    "attn_v": (KEYS, D_MODEL),
    "attn_output": (D_MODEL, D_MODEL),
    "ffn_gate": (D_HIDDEN, D_MODEL),
    "ffn_up": (D_HIDDEN, D_MODEL),
    "ffn_down": (D_MODEL, D_HIDDEN),
    "attn_norm": (D_MODEL,),
    "ffn_norm": (D_MODEL,),
}


def tensors(seed=0):
    """Random weights under llama.cpp's names."""
    generator = torch.Generator().manual_seed(seed)
    shapes = {"token_embd.weight": (len(TOKENS), D_MODEL), "output_norm.weight": (D_MODEL,)}
    shapes |= {f"blk.{layer}.{name}.weight": shape for layer in range(LAYERS) for name, shape in SHAPES.items()}
    return {name: 0.3 * torch.randn(shape, generator=generator) for name, shape in shapes.items()}


def write(path, weights=None, kind="F32", architecture="llama", **changes):
    """The file; changes, such as tokenizer__ggml__pre="x", replace a setting, and None leaves it out."""
    writer = gguf.GGUFWriter(str(path), architecture)
    for name, value in (SETTINGS | {name.replace("__", "."): value for name, value in changes.items()}).items():
        add(writer, name, value)
    for name, weight in (tensors() if weights is None else weights).items():
        kind_of_tensor = gguf.GGMLQuantizationType[kind if weight.dim() > 1 else "F32"]  # as llama.cpp has it
        data = np.ascontiguousarray(gguf.quantize(weight.numpy(), kind_of_tensor))
        writer.add_tensor(name, data, raw_dtype=kind_of_tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def add(writer, name, value):
    kinds = {int: writer.add_uint32, float: writer.add_float32, str: writer.add_string, list: writer.add_array}
    if value is not None:
        kinds[type(value)](name, value)
