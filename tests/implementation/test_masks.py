"""Theorems about who may attend to whom."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from theorems import BATCH, HEADS, LENGTH, PAD, SOURCE, assert_same, drawn, gradients

from transformer_lessons.masks import causal_mask, masked_softmax, padding_mask

pytestmark = pytest.mark.usefixtures("exact")
SCORES = (BATCH, HEADS, LENGTH, SOURCE)


def test_position_i_may_attend_to_position_j_when_j_is_not_later():
    mask = causal_mask(LENGTH)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[j <= i for j in range(LENGTH)] for i in range(LENGTH)]


def test_a_causal_mask_lives_where_it_is_asked_to():
    assert causal_mask(LENGTH).device.type == "cpu"
    assert causal_mask(LENGTH, device="meta").device.type == "meta"


def test_every_query_may_attend_to_the_real_tokens_of_its_own_sequence():
    tokens = torch.tensor([[5, PAD, 2], [PAD, PAD, 0]])
    assert padding_mask(tokens, PAD).tolist() == [[[[True, False, True]]], [[[False, False, True]]]]


def test_masks_combine_with_and_to_one_mask_for_every_head():
    tokens = torch.randint(PAD + 1, (BATCH, LENGTH))
    mask = causal_mask(LENGTH) & padding_mask(tokens, PAD)
    assert mask.shape == (BATCH, 1, LENGTH, LENGTH)
    for b, i, j in torch.cartesian_prod(*map(torch.arange, (BATCH, LENGTH, LENGTH))).tolist():
        assert mask[b, 0, i, j] == (j <= i and tokens[b, j] != PAD)


def test_without_a_mask_the_softmax_is_pytorchs():
    scores = torch.randn(SCORES)
    assert_same(masked_softmax(scores), torch.softmax(scores, dim=-1))


@drawn
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 6), st.floats(0, 1))
def test_a_masked_softmax_is_the_softmax_over_the_allowed_keys_alone(seed, queries, keys, allowed):
    torch.manual_seed(seed)
    scores, mask = torch.randn(queries, keys), torch.rand(queries, keys) < allowed
    weights = masked_softmax(scores, mask)
    for row in range(queries):
        assert (weights[row, ~mask[row]] == 0).all()
        assert_same(weights[row, mask[row]], scores[row, mask[row]].softmax(dim=0))


def test_a_query_without_any_key_gets_only_zeros_and_gives_no_gradient():
    scores, mask = torch.randn(SCORES, requires_grad=True), torch.rand(SCORES) < 0.5
    mask[1], mask[0, :, 2] = False, False
    weights = masked_softmax(scores, mask)
    (gradient,) = gradients(weights, [scores])
    empty = ~mask.any(dim=-1)
    assert (weights[empty] == 0).all()
    assert (gradient[~mask] == 0).all()
    assert gradient.isfinite().all()
    assert_same(weights.sum(dim=-1), (~empty).double())


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_nan_does_not_even_arise_on_the_way_back():
    """PyTorch's search for anomalies reports a NaN in any gradient, even one that is thrown away."""
    scores = torch.randn(SCORES, requires_grad=True)
    mask = torch.rand(SCORES) < 0.5
    mask[1] = False
    with torch.autograd.detect_anomaly(check_nan=True):
        masked_softmax(scores, mask).square().sum().backward()
    assert scores.grad.isfinite().all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_no_row_becomes_nan_in_any_precision(dtype):
    scores = (1000 * torch.randn(SCORES)).to(dtype).requires_grad_()
    for mask in (torch.rand(SCORES) < 0.3, torch.zeros(SOURCE, dtype=torch.bool), torch.tensor(False)):
        weights = masked_softmax(scores, mask)
        assert weights.dtype == dtype
        assert weights.isfinite().all()
        assert gradients(weights, [scores])[0].isfinite().all()


def test_the_scores_are_left_as_they_were():
    scores = torch.randn(SCORES)
    before = scores.clone()
    masked_softmax(scores, torch.rand(SCORES) < 0.5)
    assert torch.equal(scores, before)
