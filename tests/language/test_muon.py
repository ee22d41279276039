"""Theorems about Muon."""

import copy

import pytest
import torch

from transformer_lessons.language.muon import Muon, orthogonalize

SHAPES = [(6, 6), (4, 11), (11, 4), (2, 5, 9)]


@pytest.mark.parametrize("shape", SHAPES)
def test_orthogonalizing_keeps_the_singular_vectors_and_makes_the_values_nearly_one(shape):
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=torch.float64)
    left, values, right = torch.linalg.svd(x, full_matrices=False)
    values = values / values.norm(dim=-1, keepdim=True)
    for _ in range(5):
        values = 3.4445 * values - 4.7750 * values**3 + 2.0315 * values**5
    torch.testing.assert_close(orthogonalize(x), left * values[..., None, :] @ right, atol=1e-5, rtol=0)
    assert ((values > 0.65) & (values < 1.25)).all()


def test_a_gradient_of_zero_moves_nothing():
    assert torch.equal(orthogonalize(torch.zeros(3, 4)), torch.zeros(3, 4))


def both(shape, other, **options):
    """The same weights twice: one for Muon, one for the optimizers that it stands for."""
    torch.manual_seed(0)
    ours = [torch.randn(shape).requires_grad_(), torch.randn(shape).requires_grad_(), torch.randn(5).requires_grad_()]
    theirs = [weight.detach().clone().requires_grad_() for weight in ours]
    groups = [{"params": ours[:2], "momentum": 0.95}, {"params": ours[2:]}]
    return ours, theirs, Muon(groups, **options), other(theirs)


@pytest.mark.skipif(not hasattr(torch.optim, "Muon"), reason="this PyTorch has no Muon of its own")
@pytest.mark.parametrize("shape", [(8, 8), (8, 12), (12, 8)])
def test_a_step_is_pytorchs_muon_for_matrices_and_adamw_for_the_others(shape):
    options = {"lr": 0.01, "weight_decay": 0.1}

    def other(weights):
        muon = torch.optim.Muon(weights[:2], adjust_lr_fn="match_rms_adamw", **options)
        return muon, torch.optim.AdamW(weights[2:], betas=(0.8, 0.95), **options)

    ours, theirs, muon, others = both(shape, other, betas=(0.8, 0.95), **options)
    before = [weight.detach().clone() for weight in ours]
    for _ in range(4):
        for weight, twin in zip(ours, theirs, strict=True):
            weight.grad = torch.randn_like(weight)
            twin.grad = weight.grad.clone()
        for optimizer in (muon, *others):
            optimizer.step()
    for weight, twin, start in zip(ours, theirs, before, strict=True):
        moved = (twin - start).abs().max()  # theirs computes in bfloat16
        assert moved > 0.01
        assert (weight - twin).abs().max() < 0.03 * moved
    assert torch.allclose(ours[2], theirs[2], atol=1e-6)


def test_a_weight_without_a_gradient_stays_as_it_is():
    weights = [torch.ones(4, 6, requires_grad=True) for _ in range(2)]
    weights[0].grad = torch.ones(4, 6)
    Muon([{"params": weights, "momentum": 0.95}]).step()
    assert (weights[0] != 1).all()
    assert (weights[1] == 1).all()


def test_a_state_that_was_loaded_goes_on_as_the_one_that_was_saved():
    torch.manual_seed(0)
    ours, theirs, muon, other = both(
        (4, 6), lambda weights: Muon([{"params": weights[:2], "momentum": 0.95}, {"params": weights[2:]}])
    )
    for step in range(4):
        if step == 2:
            other.load_state_dict(copy.deepcopy(muon.state_dict()))
            for weight, twin in zip(ours, theirs, strict=True):
                twin.data.copy_(weight)
        for weight, twin in zip(ours, theirs, strict=True):
            weight.grad = torch.randn_like(weight)
            twin.grad = weight.grad.clone()
        muon.step()
        if step >= 2:
            other.step()
    assert all(torch.equal(weight, twin) for weight, twin in zip(ours, theirs, strict=True))
