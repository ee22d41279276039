"""Theorems about attention: one head, many heads, and the fused path."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from theorems import (
    BATCH,
    D_HEAD,
    D_MODEL,
    D_VALUE,
    HEADS,
    LENGTH,
    SOURCE,
    assert_same,
    drawn,
    gradients,
    pytorch_attention,
    unit_scale,
)

from transformer_lessons.attention import (
    MultiHeadAttention,
    fused_attention,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)

pytestmark = pytest.mark.usefixtures("exact")
LEADING = [(), (BATCH,), (BATCH, HEADS), (2, BATCH, HEADS)]
BOTH_PATHS = pytest.mark.parametrize("attend", [scaled_dot_product_attention, fused_attention])


def draw_inputs(*leading, d_value=D_VALUE):
    query = torch.randn(*leading, LENGTH, D_HEAD, requires_grad=True)
    key = torch.randn(*leading, SOURCE, D_HEAD, requires_grad=True)
    value = torch.randn(*leading, SOURCE, d_value, requires_grad=True)
    return query, key, value


def draw_mask(*leading):
    """Half of all pairs may attend; the second query may attend to nothing."""
    mask = torch.rand(*leading, LENGTH, SOURCE) < 0.5
    mask[..., 1, :] = False
    return mask


# --- one head -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("leading", LEADING)
def test_attention_is_pytorchs(leading):
    query, key, value = draw_inputs(*leading)
    output, weights = scaled_dot_product_attention(query, key, value)
    assert_same(output, F.scaled_dot_product_attention(query, key, value))
    assert_same(weights, F.scaled_dot_product_attention(query, key, torch.eye(SOURCE).expand(*leading, -1, -1)))


@pytest.mark.parametrize("leading", LEADING)
def test_masked_attention_is_pytorchs_even_where_a_query_may_attend_to_nothing(leading):
    inputs, mask = draw_inputs(*leading), draw_mask(*leading)
    output, weights = scaled_dot_product_attention(*inputs, mask)
    expected = F.scaled_dot_product_attention(*inputs, mask)
    assert_same(output, expected)
    assert_same(gradients(output, inputs), gradients(expected, inputs))
    assert (output[..., 1, :] == 0).all()
    assert (weights[~mask] == 0).all()


@pytest.mark.parametrize("leading", LEADING)
def test_the_fused_kernel_gives_the_same_averages(leading):
    inputs = draw_inputs(*leading)
    for mask in (None, draw_mask(*leading), draw_mask(), torch.rand(SOURCE) < 0.5):
        output, _ = scaled_dot_product_attention(*inputs, mask)
        fused, weights = fused_attention(*inputs, mask)
        assert_same(fused, output)
        assert_same(gradients(fused, inputs), gradients(output, inputs))
        assert weights is None


@pytest.mark.parametrize("shape", [(BATCH, HEADS, LENGTH, SOURCE), (BATCH, 1, 1, SOURCE), (SOURCE,), None], ids=str)
def test_under_autocast_on_a_processor_the_averages_are_the_same_within_bfloat16(shape):
    """Values of unit scale, each rounded a few times to 8 bits; the softmax itself is in single precision."""
    inputs = [x.float().detach().requires_grad_() for x in draw_inputs(BATCH, HEADS)]
    mask = None if shape is None else torch.rand(shape) < 0.5
    if mask is not None and mask.shape[-2:] == (LENGTH, SOURCE):
        mask[..., 1, :] = False
    expected, _ = fused_attention(*inputs, mask)
    with torch.autocast("cpu", torch.bfloat16):
        output, weights = fused_attention(*inputs, mask, dropout=0.0)
    assert output.dtype == torch.bfloat16
    assert weights is None
    assert_same(output.float(), expected, 0.03)
    for one, other in zip(gradients(output, inputs), gradients(expected, inputs), strict=True):
        assert (one - other).norm() <= 0.02 * other.norm()
    if mask is not None:
        empty = ~mask.expand(BATCH, HEADS, LENGTH, SOURCE).any(dim=-1)
        assert (output[empty] == 0).all()


def test_under_autocast_on_a_processor_weights_are_dropped_too():
    query, key, _ = (x.float() for x in draw_inputs(40, HEADS))
    identity = torch.eye(SOURCE, dtype=torch.float32).expand(40, HEADS, -1, -1)
    with torch.autocast("cpu", torch.bfloat16):
        output, _ = fused_attention(query, key, identity, dropout=0.3)
    assert (output == 0).double().mean().item() == pytest.approx(0.3, abs=0.05)


def test_only_under_autocast_on_a_processor_does_ours_stand_in_for_the_kernel(monkeypatch):
    called = []
    monkeypatch.setattr(F, "scaled_dot_product_attention", lambda *inputs, **_: called.append(inputs))
    inputs = draw_inputs(BATCH, HEADS)
    with torch.autocast("cpu", torch.bfloat16):
        fused_attention(*inputs)
        assert not called
        fused_attention(*(x.to("meta") for x in inputs))
        assert len(called) == 1
    fused_attention(*inputs)
    assert len(called) == 2


@drawn
@given(
    seed=st.integers(0, 10**6),
    leading=st.lists(st.integers(1, 3), max_size=3),
    sizes=st.tuples(*[st.integers(1, 6)] * 4),
    kept=st.lists(st.booleans(), min_size=5, max_size=5),
    allowed=st.floats(0, 1),
)
def test_attention_is_pytorchs_for_any_sizes_and_any_mask_that_broadcasts(seed, leading, sizes, kept, allowed):
    torch.manual_seed(seed)
    queries, keys, d_head, d_value = sizes
    query = torch.randn(*leading, queries, d_head)
    key, value = torch.randn(*leading, keys, d_head), torch.randn(*leading, keys, d_value)
    scores = (*leading, queries, keys)
    mask = torch.rand([size if keep else 1 for size, keep in zip(scores, kept, strict=False)]) < allowed
    output, weights = scaled_dot_product_attention(query, key, value, mask)
    assert_same(output, F.scaled_dot_product_attention(query, key, value, mask))
    assert_same(output, weights @ value)
    assert_same(weights.sum(dim=-1), mask.expand(scores).any(dim=-1).double())


@BOTH_PATHS
def test_the_derivatives_of_masked_attention_are_those_of_finite_differences(attend):
    inputs, mask = draw_inputs(1, 2), draw_mask(1, 1)
    assert torch.autograd.gradcheck(lambda *inputs: attend(*inputs, mask)[0], inputs)


@BOTH_PATHS
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_a_query_without_any_key_gets_zeros_and_never_nan(attend, dtype, dropout):
    inputs = [x.to(dtype) for x in draw_inputs(BATCH, HEADS)]
    some, none = draw_mask(BATCH, 1), torch.zeros(SOURCE, dtype=torch.bool)
    for mask, empty in [(some, ~some.any(dim=-1).expand(-1, HEADS, -1)), (none, ...), (none.any(), ...)]:
        output, _ = attend(*inputs, mask, dropout)
        assert output.dtype == dtype
        assert output.isfinite().all()
        assert (output[empty] == 0).all()
        assert all(gradient.isfinite().all() for gradient in gradients(output, inputs))


@BOTH_PATHS
def test_without_keys_nothing_is_found_and_without_queries_nothing_is_asked(attend):
    query, key, value = draw_inputs(BATCH, HEADS)
    nothing, _ = attend(query, key[..., :0, :], value[..., :0, :])
    assert torch.equal(nothing, torch.zeros(BATCH, HEADS, LENGTH, D_VALUE))
    assert attend(query[..., :0, :], key, value)[0].shape == (BATCH, HEADS, 0, D_VALUE)


@BOTH_PATHS
def test_a_dropped_weight_is_zero_and_a_kept_one_makes_up_for_it(attend):
    """The values are the identity twice over, so the output is the weights, twice over."""
    query, key, _ = draw_inputs(40, HEADS)
    identity = torch.eye(SOURCE).expand(40, HEADS, -1, -1)
    _, weights = scaled_dot_product_attention(query, key, identity)
    output, reported = attend(query, key, torch.cat([identity, identity], dim=-1), dropout=0.3)
    dropped, again = output.chunk(2, dim=-1)
    assert_same(dropped, torch.where(dropped == 0, 0.0, weights / 0.7))
    assert torch.equal(dropped, again)  # weights are dropped, not features of the output
    assert (dropped == 0).double().mean().item() == pytest.approx(0.3, abs=0.05)
    assert reported is None or torch.equal(reported, weights)


# --- many heads ---------------------------------------------------------------------------------------------


def test_a_head_is_a_slice_of_the_features():
    x = torch.randn(BATCH, LENGTH, D_MODEL)
    heads = split_heads(x, HEADS)
    assert heads.shape == (BATCH, HEADS, LENGTH, D_HEAD)
    for head in range(HEADS):
        assert torch.equal(heads[:, head], x[:, :, head * D_HEAD : (head + 1) * D_HEAD])


@drawn
@given(*[st.integers(1, 6)] * 4)
def test_merging_undoes_splitting(batch, heads, length, d_head):
    x = torch.randn(batch, length, heads * d_head)
    assert torch.equal(merge_heads(split_heads(x, heads)), x)
    parts = torch.randn(batch, heads, length, d_head)
    assert torch.equal(split_heads(merge_heads(parts), heads), parts)


def both_ours_and_pytorchs(ours, query, key, value, mask, padding):
    """The outputs and the weights of every head, given the same weights; PyTorch's masks say who may not."""
    theirs = pytorch_attention(ours)
    allowed = mask & padding[:, None, None, :]
    expected = theirs(query, key, value, attn_mask=~mask, key_padding_mask=~padding, average_attn_weights=False)
    return ours(query, key, value, allowed), expected


def test_self_attention_is_pytorchs_head_by_head():
    ours = unit_scale(MultiHeadAttention(D_MODEL, HEADS)).eval()
    x, padding = torch.randn(BATCH, LENGTH, D_MODEL), torch.ones(BATCH, LENGTH, dtype=torch.bool)
    padding[1, 3:], padding[2, 1:4] = False, False
    causal = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
    assert_same(*both_ours_and_pytorchs(ours, x, x, x, causal, padding))


def test_cross_attention_is_pytorchs_head_by_head():
    ours = unit_scale(MultiHeadAttention(D_MODEL, HEADS)).eval()
    query = torch.randn(BATCH, LENGTH, D_MODEL)
    key, value = torch.randn(2, BATCH, SOURCE, D_MODEL)  # different ones: neither can stand in for the other
    padding = torch.ones(BATCH, SOURCE, dtype=torch.bool)
    padding[1, 3:], padding[2, :2] = False, False
    mask = torch.rand(LENGTH, SOURCE) < 0.7
    mask[:, 2] = True
    assert_same(*both_ours_and_pytorchs(ours, query, key, value, mask, padding))


@drawn
@given(
    seed=st.integers(0, 10**6),
    sizes=st.tuples(*[st.integers(1, 5)] * 5),
    allowed=st.floats(0, 1),
)
def test_many_heads_are_pytorchs_for_any_sizes_and_masks(seed, sizes, allowed):
    torch.manual_seed(seed)
    batch, heads, d_head, queries, keys = sizes
    ours = unit_scale(MultiHeadAttention(heads * d_head, heads)).eval()
    query = torch.randn(batch, queries, heads * d_head)
    key, value = torch.randn(2, batch, keys, heads * d_head)
    mask = torch.rand(batch, heads, queries, keys) < allowed
    mask[..., 0] |= ~mask.any(dim=-1)  # PyTorch's weights of an empty row are NaN
    theirs = pytorch_attention(ours)
    expected = theirs(query, key, value, attn_mask=~mask.flatten(0, 1), average_attn_weights=False)
    assert_same(ours(query, key, value, mask), expected)
    assert_same(ours(query, key, value, mask, need_weights=False)[0], expected[0])


def test_the_order_of_the_keywords_does_not_matter():
    attention = unit_scale(MultiHeadAttention(D_MODEL, HEADS)).eval()
    query, (key, value) = torch.randn(BATCH, LENGTH, D_MODEL), torch.randn(2, BATCH, SOURCE, D_MODEL)
    mask = draw_mask(BATCH, 1)
    expected = attention(query, key, value, mask)
    assert_same(attention(mask=mask, value=value, key=key, query=query), expected)
    assert expected[1].shape == (BATCH, HEADS, LENGTH, SOURCE)


@pytest.mark.parametrize(
    "shape",
    [
        (BATCH, HEADS, LENGTH, SOURCE),
        (BATCH, 1, 1, SOURCE),
        (HEADS, LENGTH, SOURCE),
        (LENGTH, SOURCE),
        (SOURCE,),
        (),
        None,
    ],
    ids=str,
)
def test_the_fused_path_gives_the_same_output_and_the_same_gradients(shape):
    attention = unit_scale(MultiHeadAttention(D_MODEL, HEADS)).eval()
    inputs = [torch.randn(BATCH, length, D_MODEL, requires_grad=True) for length in (LENGTH, SOURCE, SOURCE)]
    learned = [*inputs, *attention.parameters()]
    mask = None if shape is None else torch.rand(shape) < 0.4  # some rows are empty
    output, weights = attention(*inputs, mask)
    fused, none = attention(*inputs, mask, need_weights=False)
    assert weights.shape == (BATCH, HEADS, LENGTH, SOURCE)
    assert none is None
    assert_same(fused, output)
    assert_same(gradients(fused, learned), gradients(output, learned))


@pytest.mark.parametrize("need_weights", [True, False])
def test_attention_drops_weights_in_training_only(need_weights):
    """With every weight dropped, nothing but the last bias is left."""
    attention = unit_scale(MultiHeadAttention(D_MODEL, HEADS, dropout=1.0))
    x = torch.randn(BATCH, LENGTH, D_MODEL)
    assert_same(attention(x, x, x, need_weights=need_weights)[0], attention.linear_out.bias.expand_as(x))
    expected, _ = pytorch_attention(attention)(x, x, x)
    assert_same(attention.eval()(x, x, x, need_weights=need_weights)[0], expected)


def test_one_weight_in_ten_is_dropped_unless_one_says_otherwise():
    assert MultiHeadAttention(D_MODEL, HEADS).dropout.p == 0.1
    assert MultiHeadAttention(D_MODEL, HEADS, dropout=0.25).dropout.p == 0.25
