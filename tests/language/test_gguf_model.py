"""The model and the tokenizer in a GGUF file: what they compute, and what is refused."""

import math
import re

import gguf
import pytest
import tiny_gguf
import torch

from transformer_lessons.language import gguf_model, sampling
from transformer_lessons.language.gguf_file import GGUFFile
from transformer_lessons.language.gguf_tokenizer import read_tokenizer
from transformer_lessons.modern import RotaryHalves
from transformer_lessons.positions import RotaryPositions

ENDING = ".weight"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_gguf.write(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


# --- the model ----------------------------------------------------------------------------------------------


def test_rows_in_llama_cpps_order_turned_as_neighbours_give_the_scores_of_halves():
    d_model, heads, length = 24, 3, 7
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, length, d_model, generator=generator, dtype=torch.float64)
    weights = torch.randn(2, d_model, d_model, generator=generator, dtype=torch.float64)
    scores = []
    for turn, order in (
        (RotaryPositions(d_model // heads, length).double(), lambda weight: weight),
        (
            RotaryHalves(d_model // heads, length).double(),
            lambda weight: gguf_model.neighbours_to_halves(weight, heads),
        ),
    ):
        query, key = (turn((x @ order(weight).T).unflatten(2, (heads, -1)).transpose(1, 2)) for weight in weights)
        scores.append(query @ key.transpose(2, 3))
    torch.testing.assert_close(*scores, rtol=0, atol=1e-4)  # the angles are in float32


def test_only_queries_and_keys_change_their_order():
    renamed = gguf_model.from_gguf(tiny_gguf.tensors(), tiny_gguf.HEADS, tiny_gguf.KEY_HEADS)
    for name, weight in tiny_gguf.tensors().items():
        same = torch.equal(renamed[gguf_model.translate(name)], weight)
        assert same != bool(re.search("attn_[qk]", name)), name


def test_rows_in_four_bits_give_the_models_weights(tmp_path):
    file = GGUFFile(tiny_gguf.write(tmp_path / "x", kind="Q4_1"))
    weights = gguf_model.read_model(file).state_dict()
    packed = gguf_model.from_gguf(gguf_model.four_bit_rows(file), tiny_gguf.HEADS, tiny_gguf.KEY_HEADS)
    assert len(packed) == sum(stored.kind == "Q4_1" for stored in file.stored.values()) > 0
    for name, rows in packed.items():
        blocks = rows.shape[1] // 34
        scales, minima, numbers = rows.split([blocks, blocks, 32 * blocks], dim=1)
        unpacked = scales[..., None] * numbers.unflatten(1, (blocks, 32)) + minima[..., None]
        torch.testing.assert_close(unpacked.flatten(1), weights[name], rtol=0, atol=0)


def test_a_copy_in_four_bits_has_the_models_weights(tmp_path):
    class Unpacked(torch.nn.Module):
        def __init__(self, scales, minima, numbers):
            super().__init__()
            unpacked = scales[..., None] * numbers.unflatten(1, (-1, 32)) + minima[..., None]
            self.weight = torch.nn.Parameter(unpacked.flatten(1))

    file = GGUFFile(tiny_gguf.write(tmp_path / "x", kind="Q4_1"))
    model = gguf_model.read_model(file)
    quick = gguf_model.in_four_bits(model, file, Unpacked)
    torch.testing.assert_close(quick.state_dict(), model.state_dict(), rtol=0, atol=0)
    replaced = [sum(isinstance(part, Unpacked) for part in each.modules()) for each in (model, quick)]
    assert replaced == [0, sum(stored.kind == "Q4_1" for stored in file.stored.values())]


def test_a_file_without_an_unembedding_uses_the_embeddings_table_and_one_with_it_does_not(tmp_path, tiny):
    tied, _ = gguf_model.load(tiny)
    assert tied.config.tied
    weights = tiny_gguf.tensors()
    weights["output.weight"] = -weights["token_embd.weight"]
    untied, _ = gguf_model.load(tiny_gguf.write(tmp_path / "x", weights))
    tokens = torch.arange(9)[None]
    assert torch.equal(untied(tokens), -tied(tokens))


def test_loading_draws_no_random_numbers_and_a_new_model_still_does(tiny):
    before = torch.get_rng_state()
    model, _ = gguf_model.load(tiny)
    assert torch.equal(torch.get_rng_state(), before)
    assert not torch.equal(torch.nn.Linear(3, 4).weight, torch.nn.Linear(3, 4).weight)
    assert all(weight.requires_grad for weight in model.parameters())


def test_the_longest_text_is_the_files_or_the_callers_whichever_is_shorter(tiny):
    assert gguf_model.load(tiny)[0].max_length == tiny_gguf.LENGTH
    assert gguf_model.load(tiny, max_length=9)[0].max_length == 9


@pytest.fixture
def transformers():
    return pytest.importorskip("transformers", reason="pip install transformers, to compare with Hugging Face's models")


def halves_to_neighbours(weight, heads):
    """What llama.cpp does to the rows of queries and keys as it writes a file."""
    rows, columns = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, columns).transpose(1, 2).reshape(rows, columns)


@pytest.mark.parametrize("tied", [True, False])
def test_a_llama_of_hugging_faces_written_as_gguf_gives_the_same_logits_bit_by_bit(transformers, tmp_path, tied):
    config = transformers.LlamaConfig(
        vocab_size=len(tiny_gguf.TOKENS),
        hidden_size=tiny_gguf.D_MODEL,
        num_attention_heads=tiny_gguf.HEADS,
        num_key_value_heads=tiny_gguf.KEY_HEADS,
        intermediate_size=tiny_gguf.D_HIDDEN,
        num_hidden_layers=tiny_gguf.LAYERS,
        max_position_embeddings=tiny_gguf.LENGTH,
        tie_word_embeddings=tied,
        rms_norm_eps=1e-5,
        rope_parameters={"rope_theta": 100000.0, "rope_type": "default"},
    )
    theirs = transformers.LlamaForCausalLM(config).eval()
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in theirs.parameters():
            weight.copy_(0.3 * torch.randn_like(weight))
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, tiny_gguf.LAYERS)
    weights = {}
    for name, weight in theirs.state_dict().items():
        if name == "lm_head.weight" and tied:
            continue
        for letter, heads in {"q": tiny_gguf.HEADS, "k": tiny_gguf.KEY_HEADS}.items():
            if f".{letter}_proj." in name:
                weight = halves_to_neighbours(weight, heads)
        weights[names.get_name(name.removesuffix(ENDING)) + ENDING] = weight
    ours, _ = gguf_model.load(tiny_gguf.write(tmp_path / "x", weights))
    tokens = torch.arange(2 * 31).reshape(2, 31)
    with torch.no_grad():
        assert torch.equal(ours(tokens), theirs(tokens).logits)


# --- the tokenizer ------------------------------------------------------------------------------------------


def test_a_text_becomes_the_files_ids_and_returns(tiny):
    vocabulary = read_tokenizer(GGUFFile(tiny))
    text = "<|im_start|>user\nthe thin  king, in 1603: ’tis<|im_end|>\n"
    ids = vocabulary.encode(text)
    tokens = [tiny_gguf.TOKENS[number] for number in ids]
    assert tokens[0] == "<|im_start|>"
    assert tokens[5:9] == ["Ċ", "the", "Ġ", "th"]
    assert {*"1603"} < {*tokens}
    assert vocabulary.decode(ids) == text
    assert "".join(vocabulary.decode_stream(ids)) == text
    assert len(vocabulary) == len(tiny_gguf.TOKENS)


def test_digits_stand_alone_where_the_file_says_so(tmp_path):
    merges = {"tokenizer__ggml__tokens": [*tiny_gguf.TOKENS[:-1], "12"], "tokenizer__ggml__merges": ["1 2"]}
    for cut, expected in {"smollm": ["1", "2"], "gpt-2": ["12"]}.items():
        file = GGUFFile(tiny_gguf.write(tmp_path / "x", tokenizer__ggml__pre=cut, **merges))
        vocabulary = read_tokenizer(file)
        assert [vocabulary.decode([number]) for number in vocabulary.encode("12")] == expected


def test_a_byte_without_a_token_is_left_out(tmp_path):
    tokens = [token if token != "é" else "unused" for token in tiny_gguf.TOKENS]  # é spells the byte E9
    vocabulary = read_tokenizer(GGUFFile(tiny_gguf.write(tmp_path / "x", tokenizer__ggml__tokens=tokens)))
    assert vocabulary.decode(vocabulary.encode("a\u9999b")) == "a\ufffd\ufffdb"  # of E9 A6 99, two bytes remain


def test_a_token_in_another_one_does_not_cut_it(tmp_path):
    tokens = [*tiny_gguf.TOKENS[:-1], "<|im_end|>>"]
    kinds = [*tiny_gguf.SETTINGS["tokenizer.ggml.token_type"][:-1], 4]
    file = GGUFFile(
        tiny_gguf.write(
            tmp_path / "x",
            tokenizer__ggml__tokens=tokens,
            tokenizer__ggml__token_type=kinds,
            tokenizer__ggml__merges=tiny_gguf.MERGES[:-1],
        )
    )
    assert read_tokenizer(file).encode("<|im_end|>>") == [len(tokens) - 1]


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"architecture": "qwen2"}, "holds a model of kind 'qwen2': only 'llama' is known here"),
        ({"llama__rope__scaling__type": "yarn"}, "gives 'llama.rope.scaling.type', which is unknown here"),
        ({"llama__expert_count": 8}, "gives 'llama.expert_count', which is unknown here"),
        ({"llama__block_count": None}, "is damaged: llama.block_count is None, not a whole number from 1 to 1,048,576"),
        ({"llama__block_count": 2**31}, "is damaged: llama.block_count is 2147483648, not a whole number .*"),
        ({"llama__block_count": 2**20}, "is damaged: it has 20 tensors, too few for a model of 1048576 layers"),
        ({"llama__block_count": 1}, "holds the tensor 'blk.1.attn_q.weight', which is unknown here"),
        ({"llama__context_length": 0}, "is damaged: llama.context_length is 0, not a whole number .*"),
        (
            {"llama__embedding_length": 128, "llama__rope__dimension_count": 32},
            r"is damaged: \S+ is \(.*\), not \(.*\)",
        ),
        ({"llama__feed_forward_length": [96, 96]}, r"is damaged: llama.feed_forward_length is \[96, 96\], not a .*"),
        ({"llama__attention__head_count": 5}, "is damaged: 64 features, 5 heads and 2 heads of keys do not fit .*"),
        ({"llama__attention__head_count_kv": 3}, "is damaged: 64 features, 4 heads and 3 heads of keys do not fit .*"),
        ({"llama__rope__dimension_count": 8}, "gives llama.rope.dimension_count=8: only 16, the size of a head, is .*"),
        ({"llama__rope__freq_base": math.nan}, "is damaged: llama.rope.freq_base is nan, not a positive number"),
        ({"llama__attention__layer_norm_rms_epsilon": None}, r"is damaged: \S+_epsilon is None, not a positive number"),
        (
            {"tokenizer__ggml__model": "llama"},
            "has a tokenizer of kind 'llama': only 'gpt2', byte pairs, is known here",
        ),
        (
            {"tokenizer__ggml__pre": "llama-bpe"},
            "cuts its texts as 'llama-bpe': only 'smollm' and 'gpt-2' are known .*",
        ),
        ({"tokenizer__ggml__merges": None}, "is damaged: tokenizer.ggml.merges is missing, or not a list .*"),
        ({"tokenizer__ggml__merges": ["th"]}, "is damaged: its merge 'th' makes no token"),
        ({"tokenizer__ggml__merges": ["t x"]}, "is damaged: its merge 't x' makes no token"),
        ({"tokenizer__ggml__token_type": [1, 2]}, "is damaged: it has 263 tokens, 263 of them different, with 2 kinds"),
        (
            {"tokenizer__ggml__tokens": ["a"] * 263},
            "is damaged: it has 263 tokens, 1 of them different, with 263 kinds",
        ),
    ],
    ids=str,
)
def test_what_is_unknown_or_does_not_fit_is_named(tmp_path, change, said):
    path = tiny_gguf.write(tmp_path / "x", **change)
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} {said}$"):
        gguf_model.load(path)


def test_a_token_that_gpt_2s_letters_do_not_spell_is_named(tmp_path):
    path = tiny_gguf.write(tmp_path / "x", tokenizer__ggml__tokens=[*tiny_gguf.TOKENS[:-1], "漢"])
    path_without_merge = {"tokenizer__ggml__merges": tiny_gguf.MERGES[:-1]}
    path = tiny_gguf.write(tmp_path / "x", tokenizer__ggml__tokens=[*tiny_gguf.TOKENS[:-1], "漢"], **path_without_merge)
    with pytest.raises(ValueError, match="its token '漢' is not spelled in GPT-2's letters"):
        gguf_model.load(path)


def test_more_vectors_than_tokens_are_refused(tmp_path):
    weights = tiny_gguf.tensors()
    weights["token_embd.weight"] = torch.zeros(300, tiny_gguf.D_MODEL)
    with pytest.raises(ValueError, match="it has 263 tokens, but vectors for 300"):
        gguf_model.load(tiny_gguf.write(tmp_path / "x", weights))


@pytest.mark.parametrize("name", ["blk.0.attn_q.bias", "rope_freqs.weight", "\x1b[2J"])
def test_a_tensor_that_the_decoder_has_no_place_for_is_named(tmp_path, name):
    weights = tiny_gguf.tensors() | {name: torch.ones(16)}
    with pytest.raises(ValueError, match=f"holds the tensor {re.escape(repr(name))}, which is unknown here"):
        gguf_model.load(tiny_gguf.write(tmp_path / "x", weights))


def test_a_tensor_that_is_missing_or_of_another_shape_is_named(tmp_path):
    weights = tiny_gguf.tensors()
    weights["output.weight"] = weights.pop("blk.1.attn_q.weight")
    with pytest.raises(ValueError, match=r"is damaged: output.weight is \(64, 64\), not \(263, 64\)"):
        gguf_model.load(tiny_gguf.write(tmp_path / "x", weights))
    weights["output.weight"] = weights["token_embd.weight"]
    with pytest.raises(ValueError, match=r"is damaged: layers.1.attention.linear_q.weight is missing"):
        gguf_model.load(tiny_gguf.write(tmp_path / "x", weights))


def test_with_a_cache_the_tokens_are_those_of_the_whole_text(tiny):
    model, _ = gguf_model.load(tiny)
    tokens = torch.arange(3, 20)[None]
    written = list(sampling.generate_tokens(model, tokens, 9, temperature=0))
    for token in written:
        with torch.no_grad():
            assert token.item() == model(tokens)[0, -1].argmax().item()
        tokens = torch.cat([tokens, token[:, None]], dim=1)
