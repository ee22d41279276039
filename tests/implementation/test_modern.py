"""Theorems about the parts of today's models: each change alone is what its paper says, and all together are Llama."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from theorems import Memory, assert_same, gradients, unit_scale

from transformer_lessons import modern, positions
from transformer_lessons.attention import MultiHeadAttention
from transformer_lessons.models import Config, LanguageModel
from transformer_lessons.modern import QuickDropout, RMSNorm, RotaryHalves

pytestmark = pytest.mark.usefixtures("exact")
GPT2 = Config(vocabulary_size=11, d_model=24, num_heads=6, d_hidden=20, num_layers=2, max_length=9, gelu=True)
CHANGES = {"rms": True, "gated": True, "rotary": True, "halves": True, "num_key_heads": 2, "bias": False, "tied": False}


def tokens(batch=2, length=7):
    return torch.randint(GPT2.vocabulary_size, (batch, length))


def test_rms_norm_is_pytorchs():
    norm = unit_scale(RMSNorm(24, 1e-5))
    x = torch.randn(2, 7, 24)
    torch.testing.assert_close(norm(x), F.rms_norm(x, (24,), norm.weight, 1e-5), rtol=0, atol=1e-10)


def test_rms_norm_averages_half_precision_in_float32():
    norm = RMSNorm(24, 1e-5).bfloat16()
    x = torch.randn(2, 7, 24).bfloat16()
    assert torch.equal(norm(x), F.rms_norm(x.float(), (24,), eps=1e-5).bfloat16())


def test_rms_norm_without_an_epsilon_is_pytorchs_too():
    x = 1e-8 * torch.randn(2, 7, 24)
    torch.testing.assert_close(RMSNorm(24)(x), torch.nn.RMSNorm(24)(x), rtol=1e-12, atol=0)


def test_rms_norm_takes_one_size():
    with pytest.raises(TypeError, match=r"^d_model=\(3, 4\) is not a whole number$"):
        RMSNorm((3, 4))


@pytest.mark.parametrize("p", [0.0, 0.25, 0.999999, 1.0])
def test_quick_dropout_drops_as_many_numbers_and_keeps_the_mean(p):
    result = QuickDropout(p)(torch.ones(2**20))
    dropped = result == 0
    assert dropped.double().mean().item() == pytest.approx(p, abs=0.01)
    assert p < 1 or dropped.all()
    if p <= 0.25:  # else too few are kept
        assert result.mean().item() == pytest.approx(1, abs=0.01)


def test_halves_are_neighbours_in_another_order():
    x = torch.randn(2, 6, 7, 4)
    order = torch.tensor([0, 2, 1, 3])
    neighbours = positions.RotaryPositions(4, 9)(x, start=1)
    halves = RotaryHalves(4, 9)(x[..., order], start=1)
    torch.testing.assert_close(halves, neighbours[..., order], rtol=0, atol=1e-6)


def test_halves_keep_a_short_precision_and_are_no_part_of_a_saved_model():
    rotary = RotaryHalves(4, 9)
    assert rotary(torch.randn(2, 6, 7, 4).bfloat16()).dtype == torch.bfloat16
    assert rotary.state_dict() == {}


def test_halves_that_start_too_late_are_refused():
    with pytest.raises(ValueError, match="max_length=9"):
        RotaryHalves(4, 9)(torch.randn(2, 6, 7, 4), start=3)


def test_beyond_the_last_position_there_is_a_sentence():
    for rotary in (False, True):
        with pytest.raises(ValueError, match="a sequence of length 10 is longer than max_length=9"):
            LanguageModel(replace(GPT2, rotary=rotary))(tokens(length=10))


@pytest.mark.parametrize("key_heads", [1, 2, 3, 6])
@pytest.mark.parametrize("need_weights", [True, False])
def test_grouped_queries_are_pytorchs(key_heads, need_weights):
    ours = unit_scale(MultiHeadAttention(24, 6, dropout=0.0, num_key_heads=key_heads))
    x, mask = torch.randn(2, 7, 24), torch.ones(7, 7, dtype=torch.bool).tril()
    maps = ours.linear_q, ours.linear_k, ours.linear_v
    heads = [linear(x).unflatten(-1, (-1, 4)).transpose(1, 2) for linear in maps]
    theirs = F.scaled_dot_product_attention(*heads, is_causal=True, enable_gqa=True)
    output, weights = ours(x, x, x, mask, need_weights=need_weights)
    assert_same(output, ours.linear_out(theirs.transpose(1, 2).flatten(2)))
    assert (weights is None) != need_weights


@pytest.mark.parametrize("key_heads", [1, 2, 6])
def test_without_weights_grouped_queries_have_the_same_gradients(key_heads):
    attend = unit_scale(MultiHeadAttention(24, 6, dropout=0.0, num_key_heads=key_heads))
    x, mask = torch.randn(2, 7, 24, requires_grad=True), torch.ones(7, 7, dtype=torch.bool).tril()
    outputs = [attend(x, x, x, mask, need_weights=need)[0] for need in (True, False)]
    inputs = [x, *attend.parameters()]
    assert_same(gradients(outputs[1], inputs), gradients(outputs[0], inputs))


def test_under_autocast_grouped_queries_are_the_same_within_bfloat16():
    attend = unit_scale(MultiHeadAttention(24, 6, dropout=0.0, num_key_heads=2)).float()
    x, mask = torch.randn(2, 7, 24, dtype=torch.float32), torch.ones(7, 7, dtype=torch.bool).tril()
    expected, _ = attend(x, x, x, mask)
    with torch.autocast("cpu", torch.bfloat16):
        output, _ = attend(x, x, x, mask, need_weights=False)
    assert (output - expected).norm() <= 0.02 * expected.norm()


@pytest.mark.parametrize("rotary", [True, False])
def test_grouped_queries_that_come_in_chunks_get_with_a_cache_what_they_get_at_once(rotary):
    attend = unit_scale(MultiHeadAttention(24, 6, 0.0, rotary=RotaryHalves(4, 9) if rotary else None, num_key_heads=2))
    x, mask, cache = torch.randn(2, 7, 24), torch.ones(7, 7, dtype=torch.bool).tril(), Memory()
    for chunk, rows in zip(x.split(3, dim=1), mask.split(3), strict=True):
        end = cache.length + chunk.shape[1]
        output, _ = attend(chunk, chunk, chunk, rows[:, :end], cache=cache)
        assert_same(output, attend(x, x, x, mask)[0][:, cache.length : end])
        cache.length = end


def test_key_heads_that_do_not_divide_the_heads_are_refused():
    with pytest.raises(ValueError, match="num_heads=6 is not a multiple of num_key_heads=4"):
        LanguageModel(replace(GPT2, num_key_heads=4))


def test_each_change_changes_the_weights_as_it_should():
    def size(config):
        return sum(weight.numel() for weight in LanguageModel(config).parameters())

    base, d, hidden, layers = size(GPT2), 24, 20, 2
    expected = {
        "rms": -(2 * layers + 1) * d,
        "gated": layers * (d + 1) * hidden,
        "rotary": -9 * d,
        "num_key_heads": -layers * 2 * (d + 1) * 16,
        "bias": -layers * (5 * d + hidden),
        "tied": 11 * d,
    }
    assert {name: size(replace(GPT2, **{name: CHANGES[name]})) - base for name in expected} == expected
    assert size(replace(GPT2, rotary=True, halves=True)) == base + expected["rotary"]
    assert set(expected) | {"halves"} == set(CHANGES)


def test_without_biases_none_is_left_but_those_of_layer_norm():
    named = [name for name, _ in LanguageModel(replace(GPT2, bias=False)).named_parameters() if name.endswith("bias")]
    assert named
    assert all("norm" in name for name in named)
    every = dict(LanguageModel(replace(GPT2, **CHANGES)).named_parameters())
    assert not any(name.endswith("bias") for name in every)


def test_tied_logits_come_from_the_table_and_untied_ones_from_another():
    tied, untied = LanguageModel(GPT2), LanguageModel(replace(GPT2, tied=False))
    for model in (tied, untied):
        (gradient,) = gradients(model(tokens()), [model.embedding.weight])
        assert gradient.abs().sum() > 0
    assert tied.unembedding is None
    assert untied.unembedding.weight.shape == tied.embedding.weight.shape


@pytest.mark.parametrize("change", [{}, CHANGES], ids=["GPT-2", "Llama"])
def test_no_position_sees_what_comes_after_it(change):
    model, one = LanguageModel(replace(GPT2, **change)), tokens()
    other = one.clone()
    other[:, 4:] = (other[:, 4:] + 1) % GPT2.vocabulary_size
    assert torch.equal(model(one)[:, :4], model(other)[:, :4])
    assert not torch.allclose(model(one)[:, 4:], model(other)[:, 4:])


def test_gpt2s_gelu_is_the_one_by_tanh():
    feed_forward = unit_scale(modern.GELUFeedForward(24, 20))
    x = torch.randn(2, 7, 24)
    expected = feed_forward.linear_out(F.gelu(feed_forward.linear_in(x), approximate="tanh"))
    assert_same(feed_forward(x), expected)
    assert not torch.allclose(feed_forward(x), feed_forward.linear_out(F.gelu(feed_forward.linear_in(x))), atol=1e-7)
    with pytest.raises(ValueError, match="24"):
        feed_forward(torch.randn(2, 7, 20))
