"""Speculative sampling: whatever the draft, tokens are distributed as the expensive model's."""

import pytest
import torch

from transformer_lessons.language.sampling import speculate

DRAWS = 40_000
P = torch.tensor([0.5, 0.2, 0.15, 0.1, 0.05, 0.0]).double()
DRAFTS = torch.tensor(
    [[0.1, 0.1, 0.5, 0.2, 0.05, 0.05], [1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 0.5, 0.5], [5, 2, 1.5, 1, 0.5, 0]]
).double()


def drafted(q, seed=0):
    generator = torch.Generator().manual_seed(seed)
    token = torch.multinomial(q, DRAWS, replacement=True, generator=generator)
    return token, torch.rand(DRAWS, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("draft", range(len(DRAFTS)))
@pytest.mark.parametrize("seed", range(3))
def test_the_tokens_are_distributed_as_p_and_the_drafts_accepted_as_the_smaller_of_both(draft, seed):
    q = DRAFTS[draft] / DRAFTS[draft].sum()
    token, u = drafted(q, seed)
    found = speculate(P.expand(DRAWS, -1), q.expand(DRAWS, -1), token, u)
    error = (P * (1 - P) / DRAWS).sqrt()
    assert ((found.bincount(minlength=6) / DRAWS - P).abs() <= 5 * error).all()
    share = torch.minimum(P, q).sum()
    accepted = (u < (P / q)[token]).double().mean()
    assert abs(accepted - share) <= 5 * (share * (1 - share) / DRAWS).clamp(min=0).sqrt() + 1e-9


def test_a_token_is_accepted_exactly_where_u_is_below_the_ratio():
    q = DRAFTS[0]
    token, u = drafted(q)
    found = speculate(P.expand(DRAWS, -1), q.expand(DRAWS, -1), token, u)
    assert torch.equal(found == token, u < (P / q)[token])


def test_each_row_has_its_own_probabilities():
    p = torch.eye(3).double()
    q = torch.full((3, 3), 1 / 3).double()
    assert speculate(p, q, torch.tensor([1, 1, 1]), torch.full((3,), 0.999999).double()).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("p", "q", "token", "u", "message"),
    [
        (torch.ones(3), torch.ones(3), torch.zeros(1), torch.zeros(1), r"must both be \(batch, vocabulary\)"),
        (torch.ones(2, 3), torch.ones(2, 4), torch.zeros(2), torch.zeros(2), r"q \(2, 4\)"),
        (torch.ones(2, 3), torch.ones(2, 2), torch.zeros(2), torch.zeros(2), r"q \(2, 2\)"),
        (torch.ones(2, 3), torch.ones(2, 3), torch.zeros(2), torch.zeros(3), r"u \(3,\) must both be \(2,\)"),
    ],
)
def test_shapes_that_do_not_fit_are_refused_with_their_numbers(p, q, token, u, message):
    with pytest.raises(ValueError, match=message):
        speculate(p, q, token, u)
