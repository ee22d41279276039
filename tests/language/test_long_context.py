"""Windows, online softmax and tiles: the same numbers as the plain formula, and tables that stay small."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from transformer_lessons.attention import scaled_dot_product_attention
from transformer_lessons.language.long_context import online_softmax, sliding_window_mask, tiled_attention
from transformer_lessons.masks import causal_mask

pytestmark = pytest.mark.usefixtures("exact")


class Largest(TorchDispatchMode):
    """The size of the largest tensor that is made."""

    numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.numbers = max(self.numbers, result.numel())
        return result


def roles(*lead, length, d_head=8, d_v=5, scale=1.0):
    return [scale * torch.randn(*lead, length, size) for size in (d_head, d_head, d_v)]


def test_a_window_holds_the_position_itself_and_those_before_it():
    mask = sliding_window_mask(7, 3)
    assert [row.nonzero().flatten().tolist() for row in mask] == [
        [0],
        [0, 1],
        [0, 1, 2],
        [1, 2, 3],
        [2, 3, 4],
        [3, 4, 5],
        [4, 5, 6],
    ]


@pytest.mark.parametrize("window", [5, 6, 100])
def test_a_window_as_long_as_the_sequence_is_the_causal_mask(window):
    assert torch.equal(sliding_window_mask(5, window), causal_mask(5))


@pytest.mark.parametrize("rise", [-1000.0, -3.0, 0.0, 3.0, 1000.0])
@pytest.mark.parametrize("level", [-1000.0, 0.0, 1000.0])
def test_online_softmax_is_the_softmax_of_all_blocks(rise, level):
    blocks = [torch.randn(2, 3, size) + level + rise * number for number, size in enumerate((4, 1, 7, 2))]
    torch.testing.assert_close(online_softmax(blocks), torch.cat(blocks, -1).softmax(-1), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("hidden", [[0], [0, 1], [1], [2]])
def test_online_softmax_takes_blocks_that_a_mask_hides(hidden):
    blocks = [torch.full((3, 4), -torch.inf) if number in hidden else torch.randn(3, 4) for number in range(3)]
    torch.testing.assert_close(online_softmax(blocks), torch.cat(blocks, -1).softmax(-1), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("length", [1, 7, 64, 100])
@pytest.mark.parametrize("block", [1, 4, 16, 64, 300])
def test_tiled_attention_is_causal_attention_to_1e_12(length, block):
    query, key, value = roles(2, 3, length=length, scale=3.0)
    plain, _ = scaled_dot_product_attention(query, key, value, causal_mask(length))
    torch.testing.assert_close(tiled_attention(query, key, value, block), plain, rtol=0, atol=1e-12)


@pytest.mark.parametrize("lead", [(), (3,), (2, 1, 3)])
def test_tiles_take_any_leading_dimensions_and_let_gradients_through(lead):
    inputs = [one.requires_grad_() for one in roles(*lead, length=9)]
    plain, _ = scaled_dot_product_attention(*inputs, causal_mask(9))
    wanted = torch.autograd.grad(plain.square().sum(), inputs)
    found = torch.autograd.grad(tiled_attention(*inputs, block=4).square().sum(), inputs)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)


def test_no_tensor_is_larger_than_the_inputs_or_a_tile():
    query, key, value = roles(length=256)
    with Largest() as seen:
        tiled_attention(query, key, value, block=16)
    assert seen.numbers == max(query.numel(), 16 * 16)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sliding_window_mask(4, 0), "window=0 is too small"),
        (lambda: tiled_attention(*roles(length=4), block=0), "block=0 is too small"),
        (lambda: tiled_attention(torch.zeros(3, 2), torch.zeros(4, 2), torch.zeros(4, 2)), "3 queries and 4 keys"),
    ],
)
def test_what_cannot_be_is_refused_with_its_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call()
