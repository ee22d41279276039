"""Theorems about published weights: the course's decoder gives the numbers of Hugging Face's models."""

import json
import re

import pytest
import safetensors.torch
import torch

from transformer_lessons.inspection.attention_maps import attention_weights
from transformer_lessons.language import pretrained
from transformer_lessons.language.sampling import Cache, generate
from transformer_lessons.models import Config, LanguageModel
from transformer_lessons.tools import model_commands

SETTINGS = {
    "model_type": "gpt2",
    "vocab_size": 259,
    "n_embd": 12,
    "n_head": 3,
    "n_layer": 2,
    "n_positions": 16,
    "activation_function": "gelu_new",
}
LETTERS = [*range(33, 127), *range(161, 173), *range(174, 256)]  # the bytes that GPT-2's files show as they are


def published(prefix="", masks=True):
    """Tensors as in GPT-2's file, all of them random."""
    d = SETTINGS["n_embd"]
    shapes = {"wte.weight": (SETTINGS["vocab_size"], d), "wpe.weight": (SETTINGS["n_positions"], d)}
    for layer in ("h.0", "h.1"):
        shapes |= {
            f"{layer}.{name}.weight": size
            for name, size in {
                "attn.c_attn": (d, 3 * d),
                "attn.c_proj": (d, d),
                "mlp.c_fc": (d, 4 * d),
                "mlp.c_proj": (4 * d, d),
            }.items()
        }
        shapes |= {f"{layer}.attn.c_attn.bias": (3 * d,), f"{layer}.mlp.c_fc.bias": (4 * d,)}
        names = [
            f"{layer}.{name}"
            for name in ("attn.c_proj.bias", "mlp.c_proj.bias", "ln_1.weight", "ln_1.bias", "ln_2.weight", "ln_2.bias")
        ]
        shapes |= dict.fromkeys(names, (d,))
    shapes |= {"ln_f.weight": (d,), "ln_f.bias": (d,)}
    tensors = {prefix + name: 0.3 * torch.randn(shape) for name, shape in shapes.items()}
    if masks:
        tensors |= {f"{prefix}{layer}.attn.bias": torch.ones(1, 1, 16, 16).tril() for layer in ("h.0", "h.1")}
    return tensors


@pytest.fixture
def folder(tmp_path):
    """GPT-2's four files, with two merges and random weights."""
    letters = {number: chr(number) for number in LETTERS}
    letters |= {
        number: chr(256 + place)
        for place, number in enumerate(number for number in range(256) if number not in LETTERS)
    }
    tokens = [letters[number] for number in [*LETTERS, *sorted(set(range(256)) - set(LETTERS))]]
    tokens += ["th", "the", "<|endoftext|>"]
    torch.manual_seed(0)
    (tmp_path / "config.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    ids = {token: number for number, token in enumerate(tokens)}
    (tmp_path / "vocab.json").write_text(json.dumps(ids), encoding="utf-8")
    (tmp_path / "merges.txt").write_text("#version: 0.2\nt h\nth e\n", encoding="utf-8")
    safetensors.torch.save_file(published(), tmp_path / "model.safetensors")
    return tmp_path


# --- equal to Hugging Face's --------------------------------------------------------------------------------


@pytest.fixture
def transformers():
    return pytest.importorskip("transformers", reason="pip install transformers, to compare with Hugging Face's models")


def saved(model, path):
    """The model's folder, written by transformers; every number in it is random, gains and biases too."""
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(0.3 * torch.randn_like(weight))
    model.save_pretrained(path)
    return path


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("length", [1, 29])
def test_gpt2_is_hugging_faces_to_ten_decimals(transformers, tmp_path, length):
    config = transformers.GPT2Config(vocab_size=61, n_embd=48, n_head=4, n_layer=3, n_positions=32)
    saved(transformers.GPT2LMHeadModel(config), tmp_path)
    theirs = transformers.GPT2LMHeadModel.from_pretrained(tmp_path, dtype=torch.float64).eval()
    tokens = torch.randint(61, (2, length))
    with torch.no_grad():
        torch.testing.assert_close(pretrained.load_model(tmp_path)(tokens), theirs(tokens).logits, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("dtype", "error"), [(torch.float32, 0), (torch.float64, 1e-10)], ids=str)
@pytest.mark.parametrize(("heads", "tied", "base"), [(2, False, 1e4), (1, True, 5e5), (6, False, 1e4)])
def test_llama_is_hugging_faces_bit_by_bit(transformers, tmp_path, monkeypatch, heads, tied, base, dtype, error):
    """Their norm always computes in float32. In float64 it is given the same formula without that rounding."""
    if dtype == torch.float64:
        norm = transformers.models.llama.modeling_llama.LlamaRMSNorm
        monkeypatch.setattr(norm, "forward", norm_without_rounding)
    config = transformers.LlamaConfig(
        vocab_size=61,
        hidden_size=48,
        num_attention_heads=6,
        num_key_value_heads=heads,
        intermediate_size=80,
        num_hidden_layers=3,
        max_position_embeddings=64,
        tie_word_embeddings=tied,
        rms_norm_eps=1e-6,
        rope_parameters={"rope_theta": base, "rope_type": "default"},
    )
    saved(transformers.LlamaForCausalLM(config).to(dtype), tmp_path)
    theirs = transformers.LlamaForCausalLM.from_pretrained(tmp_path, dtype=dtype, attn_implementation="sdpa").eval()
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        ours = pretrained.load_model(tmp_path)
    finally:
        torch.set_default_dtype(before)
    for length in (1, 7, 29):
        tokens = torch.randint(61, (2, length))
        with torch.no_grad():
            torch.testing.assert_close(ours(tokens), theirs(tokens).logits, rtol=0, atol=error)


def norm_without_rounding(norm, x):
    return norm.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + norm.variance_epsilon))


# --- the files of GPT-2 -------------------------------------------------------------------------------------


def test_names_with_and_without_prefix_and_masks_give_the_same():
    torch.manual_seed(0)
    plain = pretrained.from_gpt2(published())
    torch.manual_seed(0)
    saved_by_transformers = pretrained.from_gpt2(published("transformer.", masks=False))
    assert plain.keys() == saved_by_transformers.keys()
    assert all(torch.equal(plain[name], saved_by_transformers[name]) for name in plain)


def test_of_an_older_llama_the_saved_rotary_frequencies_are_left_out():
    published = {"model.norm.weight": torch.ones(4), "model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(2)}
    assert list(pretrained.from_llama(published)) == ["norm.weight"]


def test_a_published_folder_becomes_a_model_and_its_tokenizer(folder):
    model, vocabulary = pretrained.load(folder)
    assert len(vocabulary) == model.config.vocabulary_size == 259
    assert vocabulary.decode(vocabulary.encode("the thumb")) == "the thumb"
    assert vocabulary.encode("the") == [257]
    assert sorted(attention_weights(model, torch.tensor([[1, 2, 3]]))) == ["layers.0.attention", "layers.1.attention"]


def test_the_command_generates_with_the_folder_or_with_the_variable(folder, capsys, monkeypatch):
    monkeypatch.delenv("GPT2_FOLDER", raising=False)
    texts = []
    for arguments in (["--pretrained", str(folder)], ["--pretrained"]):
        assert not model_commands.generate(["the", "--length", "20", "--seed", "3", *arguments])
        texts.append(capsys.readouterr().out)
        monkeypatch.setenv("GPT2_FOLDER", str(folder))
    assert texts[0] == texts[1]
    assert texts[0].startswith("the")
    model, vocabulary = pretrained.load(folder)
    assert texts[0] == generate(model, vocabulary, "the", length=20, seed=3) + "\n"


def test_without_a_folder_the_command_says_where_to_name_one(monkeypatch):
    monkeypatch.delenv("GPT2_FOLDER", raising=False)
    with pytest.raises(ValueError, match="name it there, or in GPT2_FOLDER"):
        model_commands.generate(["--pretrained"])


# --- what is missing or foreign gets a sentence -------------------------------------------------------------


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.json", "merges.txt"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(ValueError, match=rf"has no {re.escape(name)}; it has "):
        pretrained.load(folder)


def test_of_the_files_that_are_there_instead_eight_are_named(tmp_path):
    for number in range(10):
        (tmp_path / f"{number}.bin").touch()
    with pytest.raises(ValueError, match=r"has no config\.json; it has 0\.bin, .*, 7\.bin$"):
        pretrained.load(tmp_path)


def test_a_folder_that_is_none_is_named(tmp_path):
    with pytest.raises(ValueError, match="nowhere is not a folder"):
        pretrained.load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("config.json", "{", "is not JSON"),
        ("config.json", "[1]", "holds a list, not an object"),
        ("config.json", '{"model_type": "bert"}', r"config\.json describes a 'bert': only gpt2 and llama are known"),
        ("config.json", '{"model_type": "gpt2"}', "lacks 'n_embd'"),
        ("config.json", json.dumps(SETTINGS | {"activation_function": "relu"}), "says activation_function='relu'"),
        ("config.json", json.dumps(SETTINGS | {"n_layer": 1}), "does not fit its config.json"),
        ("config.json", json.dumps(SETTINGS | {"n_embd": 24}), "does not fit its config.json"),
        ("model.safetensors", "no tensors", "is damaged, or not a safetensors file"),
        ("merges.txt", "t h\n", "do not belong together, or number their tokens unlike GPT-2"),
    ],
)
def test_a_foreign_file_gets_a_sentence(folder, name, content, said):
    (folder / name).write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=said):
        pretrained.load(folder)


def test_a_llama_that_scales_its_frequencies_is_refused(tmp_path):
    scaled = {"model_type": "llama", "rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5}}
    (tmp_path / "config.json").write_text(json.dumps(scaled), encoding="utf-8")
    with pytest.raises(ValueError, match="says rope_type='llama3': only 'default' is known"):
        pretrained.load_model(tmp_path)


# --- with a cache -------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize("change", [{}, {"rotary": True, "rms": True, "gated": True, "bias": False, "tied": False}])
def test_written_with_a_cache_the_logits_are_those_of_the_whole_text(change):
    config = Config(
        vocabulary_size=13, d_model=12, num_heads=6, d_hidden=20, num_layers=2, max_length=16, num_key_heads=2, **change
    )
    model = LanguageModel(config)
    tokens = torch.randint(13, (3, 11))
    cache = Cache(model, 3)
    read = [cache.read(part) for part in tokens.split([4, 1, 5, 1], dim=1)]
    for logits, end in zip(read, (4, 5, 10, 11), strict=True):
        tolerance = 1e-5 if change else 1e-10  # the norms and turns of Llama are in float32
        torch.testing.assert_close(logits, model(tokens[:, :end])[:, -1], rtol=0, atol=tolerance)
    (keys, _), *_ = cache.memory.values()
    assert keys.shape == (3, 2, 16, 2)  # of two heads, not of six
