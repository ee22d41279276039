"""Published weights from a GGUF file in the course's own decoder: any model of Llama's architecture."""

import copy
import math
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from transformer_lessons.language.gguf_file import MOST, GGUFFile, Value, shown
from transformer_lessons.language.gguf_tokenizer import PublishedBytePairs, read_tokenizer
from transformer_lessons.models import Config, LanguageModel

NAMES = {  # parts of a tensor's name: llama.cpp's → the course's
    "token_embd": "embedding",
    "blk": "layers",
    "attn_norm": "norm_1",
    "attn_q": "attention.linear_q",
    "attn_k": "attention.linear_k",
    "attn_v": "attention.linear_v",
    "attn_output": "attention.linear_out",
    "ffn_norm": "norm_2",
    "ffn_gate": "feed_forward.linear_gate",
    "ffn_up": "feed_forward.linear_in",
    "ffn_down": "feed_forward.linear_out",
    "output_norm": "norm",
    "output": "unembedding",
}
SIZES = {  # whole numbers that the file must give: llama.cpp's name → the course's
    "embedding_length": "d_model",
    "attention.head_count": "num_heads",
    "feed_forward_length": "d_hidden",
    "block_count": "num_layers",
    "context_length": "max_length",
}
HEADS = ("rope.dimension_count", "attention.key_length", "attention.value_length")  # if given, features of a head
OTHERS = ("attention.head_count_kv", "attention.layer_norm_rms_epsilon", "rope.freq_base", "vocab_size")
TENSORS = 9  # of a layer


def load(path: str | Path, max_length: int = 2048) -> tuple[LanguageModel, PublishedBytePairs]:
    """(model, tokenizer) in a GGUF file; the model reads texts of at most max_length tokens."""
    return load_from(GGUFFile(path), max_length)


def load_from(file: GGUFFile, max_length: int = 2048) -> tuple[LanguageModel, PublishedBytePairs]:
    """The same, once the beginning of the file has been read."""
    model, vocabulary = read_model(file, max_length), read_tokenizer(file)
    if len(vocabulary) != model.config.vocabulary_size:
        raise file.damaged(f"it has {len(vocabulary)} tokens, but vectors for {model.config.vocabulary_size}")
    return model, vocabulary


def read_config(file: GGUFFile, max_length: int) -> Config:
    """The sizes that the metadata gives, seen to fit the tensors. Whatever else the metadata asks for is refused."""
    kind = file.metadata.get("general.architecture")
    if kind != "llama":
        raise ValueError(f"{file.path} holds a model of kind {shown(kind)}: only 'llama' is known here")
    settings = {
        name.removeprefix("llama."): value for name, value in file.metadata.items() if name.startswith("llama.")
    }
    for name in settings:
        if name not in (*SIZES, *HEADS, *OTHERS):
            raise ValueError(f"{file.path} gives {shown(f'llama.{name}')}, which is unknown here")
    sizes = {ours: whole(file, settings, theirs) for theirs, ours in SIZES.items()}
    sizes["num_key_heads"] = whole(file, settings, "attention.head_count_kv", sizes["num_heads"])
    sizes["max_length"] = min(sizes["max_length"], max_length)
    check_heads(file, settings, sizes)
    if TENSORS * sizes["num_layers"] > len(file.stored) or "token_embd.weight" not in file.stored:
        raise file.damaged(f"it has {len(file.stored)} tensors, too few for a model of {sizes['num_layers']} layers")
    return Config(
        vocabulary_size=file.stored["token_embd.weight"].shape[0],
        **sizes,
        rms=True,
        gelu=False,
        gated=True,
        rotary=True,
        halves=True,
        bias=False,
        tied="output.weight" not in file.stored,
        epsilon=positive(file, settings, "attention.layer_norm_rms_epsilon", None),
        base=positive(file, settings, "rope.freq_base", 10000.0),
    )


def whole(file: GGUFFile, settings: dict[str, Value], name: str, default: int | None = None) -> int:
    """A size among the settings."""
    number = settings.get(name, default)
    if type(number) is not int or not 1 <= number <= MOST:
        raise file.damaged(f"llama.{name} is {shown(number)}, not a whole number from 1 to {MOST:,}")
    return number


def positive(file: GGUFFile, settings: dict[str, Value], name: str, default: float | None) -> float:
    number = settings.get(name, default)
    if type(number) is not float or not 0 < number < math.inf:
        raise file.damaged(f"llama.{name} is {shown(number)}, not a positive number")
    return number


def check_heads(file: GGUFFile, settings: dict[str, Value], sizes: dict[str, int]) -> None:
    """The features split evenly into heads, of an even size, and the query heads into groups."""
    d_model, heads, key_heads = sizes["d_model"], sizes["num_heads"], sizes["num_key_heads"]
    if d_model % heads or d_model // heads % 2 or heads % key_heads:
        raise file.damaged(f"{d_model} features, {heads} heads and {key_heads} heads of keys do not fit together")
    for name in HEADS:
        if settings.get(name, d_model // heads) != d_model // heads:
            raise ValueError(
                f"{file.path} gives llama.{name}={shown(settings[name])}: only {d_model // heads}, the size of a head, "
                "is known here"
            )


def read_model(file: GGUFFile, max_length: int = 2048) -> LanguageModel:
    """The model in a GGUF file, in float32 and ready to use."""
    config = read_config(file, max_length)
    with Undrawn():
        model = LanguageModel(config)
    check_names(file, model)
    weights, key_heads = model.state_dict(), config.num_key_heads or config.num_heads
    for name in file.stored:  # one at a time, which takes less memory
        for ours, tensor in from_gguf({name: file.tensor(name)}, config.num_heads, key_heads).items():
            weights[ours].copy_(tensor)
    return model.eval()


class Undrawn(TorchFunctionMode):
    """Within it, a new model's weights are not drawn, which takes two seconds: the file's take their place anyway."""

    def __torch_function__(
        self, function: Callable, types: Collection[type], arguments: tuple = (), options: dict | None = None
    ) -> Any:
        drawing = function.__name__ in ("kaiming_uniform_", "uniform_", "normal_")
        return None if drawing else function(*arguments, **(options or {}))


def check_names(file: GGUFFile, model: LanguageModel) -> None:
    """The file holds the model's tensors, each in its shape, and no other."""
    wanted = {name: tuple(weight.shape) for name, weight in model.state_dict().items()}
    there = {translate(name): (name, stored.shape) for name, stored in file.stored.items()}
    for ours, (name, shape) in there.items():
        if ours not in wanted:
            raise ValueError(f"{file.path} holds the tensor {shown(name)}, which is unknown here")
        if shape != wanted[ours]:
            raise file.damaged(f"{name} is {shape}, not {wanted[ours]}")
    if missing := sorted(wanted.keys() - there.keys()):
        raise file.damaged(f"{missing[0]} is missing")


def from_gguf(tensors: dict[str, torch.Tensor], num_heads: int, num_key_heads: int) -> dict[str, torch.Tensor]:
    """A GGUF file's tensors under the course's names, with the rows of queries and keys in the course's order."""
    renamed = {translate(name): tensor for name, tensor in tensors.items()}
    for name in renamed:
        if "linear_q" in name:
            renamed[name] = neighbours_to_halves(renamed[name], num_heads)
        if "linear_k" in name:
            renamed[name] = neighbours_to_halves(renamed[name], num_key_heads)
    return renamed


def four_bit_rows(file: GGUFFile) -> dict[str, torch.Tensor]:
    """For each matrix in Q4_1, its rows: the scales of a row's blocks, then their minima, then their numbers.

    So a row stays in one piece when from_gguf puts the rows in order. A block has one scale, one minimum, 32 numbers.
    """
    rows = {}
    for name, stored in file.stored.items():
        if stored.kind == "Q4_1":
            scales, minima, nibbles = file.q4_1_blocks(name)
            numbers = torch.cat([nibbles & 15, nibbles >> 4], dim=1)  # (blocks, 32)
            parts = [part.reshape(stored.shape[0], -1) for part in (scales, minima, numbers)]
            rows[name] = torch.cat(parts, dim=1)
    return rows


def in_four_bits(model: LanguageModel, file: GGUFFile, kind: Callable[..., torch.nn.Module]) -> LanguageModel:
    """A copy of the file's model, with kind(scales, minima, numbers) in place of each matrix in Q4_1."""
    quick, config = copy.deepcopy(model), model.config
    packed = from_gguf(four_bit_rows(file), config.num_heads, config.num_key_heads or config.num_heads)
    for name, rows in packed.items():
        blocks = rows.shape[1] // 34  # in each row: 34 = 1 scale + 1 minimum + 32 numbers
        linear = kind(*rows.split([blocks, blocks, 32 * blocks], dim=1))
        quick.set_submodule(name.removesuffix(".weight"), linear)
    return quick


def translate(name: str) -> str:
    """blk.0.attn_q.weight becomes layers.0.attention.linear_q.weight."""
    return ".".join(NAMES.get(part, part) for part in name.split("."))


def neighbours_to_halves(weight: torch.Tensor, num_heads: int) -> torch.Tensor:
    """The same weights for another order of the rotary pairs: of each head's rows, first 0, 2, 4, …, then 1, 3, 5, …

    llama.cpp turns neighbours together, features 2i and 2i + 1; the course's RotaryHalves turns i and i + d_head / 2.
    """
    rows, d_model = weight.shape
    pairs = weight.reshape(num_heads, rows // num_heads // 2, 2, d_model)  # (heads, pair, 2, d_model)
    return pairs.transpose(1, 2).reshape(rows, d_model)  # (rows, d_model)
