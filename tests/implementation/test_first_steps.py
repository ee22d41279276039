"""Theorems about the first steps: without its scale, PyTorch's attention is that of lessons 1 and 2."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from theorems import assert_same, gradients, unit_scale

from transformer_lessons import first_steps

pytestmark = pytest.mark.usefixtures("exact")


def same_as(result, expected):
    """An array is PyTorch's tensor."""
    assert_same(torch.from_numpy(result), expected)


@pytest.mark.parametrize("shape", [(6,), (5, 6), (2, 5, 6)])
def test_softmax_is_pytorchs(shape):
    scores = np.random.default_rng(0).normal(scale=3, size=shape)
    same_as(first_steps.softmax(scores), torch.from_numpy(scores).softmax(dim=-1))


def test_softmax_of_large_scores_is_pytorchs_too():
    scores = np.array([[1000.0, 999.0, -1000.0], [-1000.0, -1000.0, -1001.0]])
    same_as(first_steps.softmax(scores), torch.from_numpy(scores).softmax(dim=-1))


def test_self_attention_is_pytorchs_without_its_scale():
    x = np.random.default_rng(0).normal(size=(5, 4))
    output, weights = first_steps.self_attention(x)
    tensor = torch.from_numpy(x)
    same_as(output, F.scaled_dot_product_attention(tensor, tensor, tensor, scale=1.0))
    same_as(weights, (tensor @ tensor.T).softmax(dim=-1))


@pytest.mark.parametrize("leading", [(), (2,), (2, 3)], ids=str)
def test_attention_is_pytorchs_without_its_scale(leading):
    sizes = (5, 4), (7, 4), (7, 3)
    inputs = [torch.randn(*leading, *size, requires_grad=True) for size in sizes]
    output, weights = first_steps.attention(*inputs)
    expected = F.scaled_dot_product_attention(*inputs, scale=1.0)
    assert_same(output, expected)
    assert_same(gradients(output, inputs), gradients(expected, inputs))
    assert_same(weights @ inputs[2], expected)
    assert_same(weights.sum(dim=-1), torch.ones(*leading, 5))


def test_an_attention_head_is_pytorchs_with_three_maps_that_have_no_bias():
    head = unit_scale(first_steps.AttentionHead(6, 4))
    assert [name for name, _ in head.named_parameters()] == ["linear_q.weight", "linear_k.weight", "linear_v.weight"]
    x = torch.randn(2, 5, 6, requires_grad=True)
    output, weights = head(x)
    roles = [x @ matrix.T for matrix in head.parameters()]
    expected = F.scaled_dot_product_attention(*roles, scale=1.0)
    inputs = [x, *head.parameters()]
    assert_same(output, expected)
    assert_same(gradients(output, inputs), gradients(expected, inputs))
    assert_same(weights @ roles[2], expected)
