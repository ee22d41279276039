"""Theorems about the blocks: feed-forward, encoder layer, decoder layer."""

import pytest
import torch
from theorems import (
    BATCH,
    D_HEAD,
    D_HIDDEN,
    D_MODEL,
    HEADS,
    LENGTH,
    MAX_LENGTH,
    SOURCE,
    Halve,
    Memory,
    assert_same,
    copy_decoder_layer,
    copy_encoder_layer,
    gradients,
    unit_scale,
)
from torch import nn

from transformer_lessons import attention
from transformer_lessons.layers import DecoderLayer, EncoderLayer, FeedForward, GatedFeedForward
from transformer_lessons.masks import causal_mask
from transformer_lessons.positions import RotaryPositions

pytestmark = pytest.mark.usefixtures("exact")
LAYER = (D_MODEL, HEADS, D_HIDDEN)
BOTH_ORDERS = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


def draw_masks(length):
    """A random mask and a padding; every query keeps a key, for PyTorch answers NaN to an empty row."""
    mask, padding = torch.rand(LENGTH, length) < 0.6, torch.rand(BATCH, length) < 0.7
    mask[:, 0] = padding[:, 0] = True
    return mask, padding


def pytorch_layer(kind, norm_first):
    return kind(D_MODEL, HEADS, D_HIDDEN, dropout=0.0, batch_first=True, norm_first=norm_first)


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


def test_the_feed_forward_is_two_linear_maps_with_what_is_negative_cut_off_between():
    feed_forward = unit_scale(FeedForward(D_MODEL, D_HIDDEN))
    inner, outer = feed_forward.linear_in, feed_forward.linear_out
    x = torch.randn(BATCH, LENGTH, D_MODEL)
    hidden = torch.maximum(x @ inner.weight.T + inner.bias, torch.tensor(0.0))
    assert_same(feed_forward(x), hidden @ outer.weight.T + outer.bias)
    assert_same(feed_forward(x[1, 2]), feed_forward(x)[1, 2])


def test_a_gate_is_a_second_map_times_its_sigmoid_and_multiplies_the_first():
    feed_forward = unit_scale(GatedFeedForward(D_MODEL, D_HIDDEN))
    inner, outer, gate = feed_forward.linear_in, feed_forward.linear_out, feed_forward.linear_gate
    x = torch.randn(BATCH, LENGTH, D_MODEL)
    opened = x @ gate.weight.T + gate.bias
    hidden = opened / (1 + (-opened).exp()) * (x @ inner.weight.T + inner.bias)
    assert_same(feed_forward(x), hidden @ outer.weight.T + outer.bias)
    assert_same(feed_forward(x[1, 2]), feed_forward(x)[1, 2])


@BOTH_ORDERS
def test_the_encoder_layer_is_pytorchs(norm_first):
    ours = unit_scale(EncoderLayer(*LAYER, norm_first=norm_first)).eval()
    theirs = pytorch_layer(nn.TransformerEncoderLayer, norm_first)
    copy_encoder_layer(theirs, ours)
    x, (mask, padding) = torch.randn(BATCH, LENGTH, D_MODEL, requires_grad=True), draw_masks(LENGTH)
    output = ours(x, mask & padding[:, None, None, :])
    expected = theirs(x, src_mask=~mask, src_key_padding_mask=~padding)
    assert_same(output, expected)
    assert_same(gradients(output, [x]), gradients(expected, [x]))
    assert_same(ours(x), theirs(x))
    assert count(ours) == count(theirs)


@BOTH_ORDERS
def test_the_decoder_layer_is_pytorchs(norm_first):
    ours = unit_scale(DecoderLayer(*LAYER, norm_first=norm_first)).eval()
    theirs = pytorch_layer(nn.TransformerDecoderLayer, norm_first)
    copy_decoder_layer(theirs, ours)
    inputs = [torch.randn(BATCH, length, D_MODEL, requires_grad=True) for length in (LENGTH, SOURCE)]
    (mask, padding), (memory_mask, memory_padding) = draw_masks(LENGTH), draw_masks(SOURCE)
    output = ours(*inputs, mask & padding[:, None, None, :], memory_mask & memory_padding[:, None, None, :])
    expected = theirs(
        *inputs,
        tgt_mask=~mask,
        memory_mask=~memory_mask,
        tgt_key_padding_mask=~padding,
        memory_key_padding_mask=~memory_padding,
    )
    assert_same(output, expected)
    assert_same(gradients(output, inputs), gradients(expected, inputs))
    assert_same(ours(*inputs), theirs(*inputs))
    assert count(ours) == count(theirs)


@BOTH_ORDERS
def test_layers_never_make_the_weights_that_nobody_asked_for(monkeypatch, norm_first):
    monkeypatch.setattr(attention, "scaled_dot_product_attention", None)
    x, memory = torch.randn(BATCH, LENGTH, D_MODEL), torch.randn(BATCH, SOURCE, D_MODEL)
    EncoderLayer(*LAYER, norm_first=norm_first)(x)
    layer = DecoderLayer(*LAYER, norm_first=norm_first)
    layer(x, memory)
    with pytest.raises(TypeError, match="'NoneType' object is not callable"):
        layer.cross_attention(x, memory, memory)


@BOTH_ORDERS
def test_a_layer_that_reads_in_chunks_gives_with_a_cache_what_it_gives_for_the_whole(norm_first):
    layer = unit_scale(EncoderLayer(*LAYER, norm_first=norm_first)).eval()
    x, mask, cache = torch.randn(BATCH, LENGTH, D_MODEL), causal_mask(LENGTH), Memory()
    for chunk, rows in zip(x.split(2, dim=1), mask.split(2), strict=True):
        end = cache.length + chunk.shape[1]
        assert_same(layer(chunk, rows[:, :end], cache), layer(x, mask)[:, cache.length : end])
        cache.length = end


def test_layers_are_post_norm_unless_one_says_otherwise():
    assert not EncoderLayer(*LAYER).norm_first
    assert not DecoderLayer(*LAYER).norm_first


@BOTH_ORDERS
def test_encoder_layers_drop_what_each_part_adds_and_nothing_else(norm_first):
    ours = unit_scale(EncoderLayer(*LAYER, dropout=0.0, norm_first=norm_first))
    theirs = pytorch_layer(nn.TransformerEncoderLayer, norm_first)
    copy_encoder_layer(theirs, ours)
    ours.dropout = theirs.dropout1 = theirs.dropout2 = Halve()
    x = torch.randn(BATCH, LENGTH, D_MODEL)
    assert_same(ours(x), theirs(x))


@BOTH_ORDERS
def test_decoder_layers_drop_what_each_part_adds_and_nothing_else(norm_first):
    ours = unit_scale(DecoderLayer(*LAYER, dropout=0.0, norm_first=norm_first))
    theirs = pytorch_layer(nn.TransformerDecoderLayer, norm_first)
    copy_decoder_layer(theirs, ours)
    ours.dropout = theirs.dropout1 = theirs.dropout2 = theirs.dropout3 = Halve()
    x, memory = torch.randn(BATCH, LENGTH, D_MODEL), torch.randn(BATCH, SOURCE, D_MODEL)
    assert_same(ours(x, memory), theirs(x, memory))


@BOTH_ORDERS
def test_dropout_is_there_in_training_and_gone_in_evaluation(norm_first):
    memory = torch.randn(BATCH, SOURCE, D_MODEL)
    for kind, others in ((EncoderLayer, ()), (DecoderLayer, (memory,))):
        layer = unit_scale(kind(*LAYER, dropout=0.3, norm_first=norm_first))
        without = kind(*LAYER, dropout=0.0, norm_first=norm_first)
        without.load_state_dict(layer.state_dict())
        x = torch.randn(BATCH, LENGTH, D_MODEL)
        assert (layer(x, *others) - layer(x, *others)).abs().max() > 0.1
        assert_same(layer.eval()(x, *others), without(x, *others))
        assert {part.p for part in layer.modules() if isinstance(part, nn.Dropout)} == {0.3}
        assert {part.p for part in kind(*LAYER).modules() if isinstance(part, nn.Dropout)} == {0.1}


@BOTH_ORDERS
def test_shuffled_vectors_give_shuffled_outputs_unless_positions_are_turned_into_them(norm_first):
    x, shuffle = torch.randn(BATCH, LENGTH, D_MODEL), torch.tensor([3, 0, 4, 2, 1])
    plain = unit_scale(EncoderLayer(*LAYER, norm_first=norm_first)).eval()
    assert_same(plain(x[:, shuffle]), plain(x)[:, shuffle])
    plain.attention.rotary = RotaryPositions(D_HEAD, MAX_LENGTH)
    assert (plain(x[:, shuffle]) - plain(x)[:, shuffle]).abs().max() > 0.01
