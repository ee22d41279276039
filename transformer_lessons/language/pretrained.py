"""Loads published weights into the course's own decoder: a GPT-2 or a Llama, from a folder saved by `transformers`."""

import json
from pathlib import Path
from typing import Any, TypeAlias

import safetensors
import safetensors.torch
import torch

from transformer_lessons.language.byte_pairs import BytePairs
from transformer_lessons.language.splitting import letters
from transformer_lessons.models import Config, LanguageModel

Settings: TypeAlias = dict[str, Any]  # what a config.json holds

GPT2_NAMES = {
    "h.": "layers.",
    "ln_1": "norm_1",
    "ln_2": "norm_2",
    "ln_f": "norm",
    "wte": "embedding",
    "wpe.weight": "positions.encoding",
    "attn.c_attn": "attention.linear_",
    "attn.c_proj": "attention.linear_out",
    "mlp.c_fc": "feed_forward.linear_in",
    "mlp.c_proj": "feed_forward.linear_out",
}
LLAMA_NAMES = {
    "model.embed_tokens": "embedding",
    "model.layers": "layers",
    "model.norm": "norm",
    "lm_head": "unembedding",
    "input_layernorm": "norm_1",
    "post_attention_layernorm": "norm_2",
    "self_attn.q_proj": "attention.linear_q",
    "self_attn.k_proj": "attention.linear_k",
    "self_attn.v_proj": "attention.linear_v",
    "self_attn.o_proj": "attention.linear_out",
    "mlp.gate_proj": "feed_forward.linear_gate",
    "mlp.up_proj": "feed_forward.linear_in",
    "mlp.down_proj": "feed_forward.linear_out",
}


def translate(name: str, names: dict[str, str]) -> str:
    for theirs, ours in names.items():
        name = name.replace(theirs, ours)
    return name


def from_gpt2(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """GPT-2's tensors under the course's names: weights as (out, in); queries, keys and values separate; no masks."""
    found = {}
    for name, tensor in tensors.items():
        name = name.removeprefix("transformer.")
        if name.endswith((".attn.bias", ".attn.masked_bias")) or name == "lm_head.weight":
            continue
        if ".c_" in name and name.endswith(".weight"):
            tensor = tensor.T
        ours = translate(name, GPT2_NAMES)
        if ".c_attn." in name:
            for letter, part in zip("qkv", tensor.chunk(3), strict=True):
                found[ours.replace("linear_.", f"linear_{letter}.")] = part
        else:
            found[ours] = tensor
    return found


def from_llama(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Llama's tensors under the course's names, in the same layout; without the rotary frequencies of older files."""
    return {translate(name, LLAMA_NAMES): tensor for name, tensor in tensors.items() if not name.endswith(".inv_freq")}


def gpt2_config(settings: Settings) -> Config:
    d_model = settings["n_embd"]
    return Config(
        settings["vocab_size"],
        d_model,
        settings["n_head"],
        settings.get("n_inner") or 4 * d_model,
        settings["n_layer"],
        settings["n_positions"],
        gelu=True,
        epsilon=settings.get("layer_norm_epsilon", 1e-5),
    )


def llama_config(settings: Settings) -> Config:
    rope = settings.get("rope_parameters") or {}
    return Config(
        settings["vocab_size"],
        settings["hidden_size"],
        settings["num_attention_heads"],
        settings["intermediate_size"],
        settings["num_hidden_layers"],
        settings["max_position_embeddings"],
        num_key_heads=settings.get("num_key_value_heads"),
        rms=True,
        gated=True,
        rotary=True,
        halves=True,
        bias=False,
        tied=settings.get("tie_word_embeddings", False),
        epsilon=settings.get("rms_norm_eps", 1e-6),
        base=float(rope.get("rope_theta") or settings.get("rope_theta") or 10000),
    )


KINDS = {"gpt2": (gpt2_config, from_gpt2), "llama": (llama_config, from_llama)}
EXPECTED = {  # settings that would change the model: what they must be, if given
    "activation_function": ("gelu_new", "gelu_pytorch_tanh"),
    "scale_attn_weights": (True,),
    "scale_attn_by_inverse_layer_idx": (False,),
    "add_cross_attention": (False,),
    "hidden_act": ("silu", "swish"),
    "attention_bias": (False,),
    "mlp_bias": (False,),
    "rope_scaling": (None,),
    "rope_type": ("default",),
}


def load_model(folder: str | Path) -> LanguageModel:
    """The model in a folder that holds config.json and model.safetensors, ready to use."""
    settings = read_json(folder, "config.json")
    kind = settings.get("model_type")
    if kind not in KINDS:
        raise ValueError(f"{Path(folder, 'config.json')} describes a {kind!r}: only gpt2 and llama are known here")
    for name, value in (settings | (settings.get("rope_parameters") or {})).items():
        if value not in EXPECTED.get(name, (value,)):
            wanted = " or ".join(map(repr, EXPECTED[name]))
            raise ValueError(f"{Path(folder, 'config.json')} says {name}={value!r}: only {wanted} is known here")
    new_config, translated = KINDS[kind]
    try:
        config = new_config(settings)
        tensors = translated(read_tensors(folder))
        if config.tied:
            tensors.pop("unembedding.weight", None)
        model = LanguageModel(config)
        model.load_state_dict(tensors)
    except KeyError as missing:
        raise ValueError(f"{Path(folder, 'config.json')} lacks {missing}") from None
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:300]
        raise ValueError(f"{Path(folder, 'model.safetensors')} does not fit its config.json: {reason}") from None
    return model.eval()


def load_tokenizer(folder: str | Path) -> BytePairs:
    """GPT-2's tokenizer in a folder that holds vocab.json and merges.txt."""
    return read_tokenizer(path_of(folder, "vocab.json"), path_of(folder, "merges.txt"))


def read_tokenizer(vocab: str | Path, merges: str | Path) -> BytePairs:
    """GPT-2's tokenizer, or one in the same two files: vocab.json and merges.txt."""
    try:
        ids = json.loads(Path(vocab).read_text(encoding="utf-8"))
        lines = Path(merges).read_text(encoding="utf-8").split("\n")
        lines = [line for line in lines[lines[0].startswith("#version:") :] if line]
        found = BytePairs([*lines, *sorted(ids, key=ids.get)[256 + len(lines) :]])
    except OSError as error:
        raise ValueError(f"{error.filename} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, AttributeError):
        raise ValueError(f"{vocab} and {merges} are not a tokenizer's files") from None
    ordinary = [letters(token) for token in found.tokens[: 256 + len(lines)]]
    merged = all(token[:1] + token[-1:] == "<>" for token in found.special)  # any other is missing its merge
    if not merged or ids != {token: number for number, token in enumerate(ordinary + found.special)}:
        raise ValueError(f"{vocab} and {merges} do not belong together, or number their tokens unlike GPT-2")
    return found


def load(folder: str | Path) -> tuple[LanguageModel, BytePairs]:
    """(model, tokenizer) of a GPT-2 in a folder."""
    model, vocabulary = load_model(folder), load_tokenizer(folder)
    if len(vocabulary) != model.config.vocabulary_size:
        raise ValueError(
            f"{folder}: the tokenizer has {len(vocabulary)} tokens, but the model has vectors for "
            f"{model.config.vocabulary_size}"
        )
    return model, vocabulary


def path_of(folder: str | Path, name: str) -> Path:
    """The file of this name in a folder; if there is none, an error that says so."""
    path = Path(folder, name)
    if not Path(folder).is_dir():
        raise ValueError(
            f"{folder} is not a folder: it should hold config.json, model.safetensors, vocab.json and "
            "merges.txt of a published GPT-2"
        )
    if not path.is_file():
        there = ", ".join(sorted(one.name for one in Path(folder).iterdir())[:8]) or "nothing"
        raise ValueError(f"{folder} has no {name}; it has {there}")
    return path


def read_json(folder: str | Path, name: str) -> Settings:
    path = path_of(folder, name)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path} holds a {type(content).__name__}, not an object")
    return content


def read_tensors(folder: str | Path) -> dict[str, torch.Tensor]:
    path = path_of(folder, "model.safetensors")
    try:
        return safetensors.torch.load_file(path)
    except (OSError, safetensors.SafetensorError) as error:
        raise ValueError(f"{path} is damaged, or not a safetensors file: {error}") from None
