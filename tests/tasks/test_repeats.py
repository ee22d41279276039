"""Theorems about the repeated blocks."""

import pytest
import torch

from transformer_lessons.tasks.repeats import repeated_blocks, repeats_a_token

NUMBER, LENGTH, WORDS, SHORTEST, LONGEST = 300, 23, 13, 3, 7


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def draw(seed=0, shortest=SHORTEST, longest=LONGEST):
    return repeated_blocks(NUMBER, LENGTH, WORDS, shortest, longest, seeded(seed))


def test_every_row_repeats_a_block_of_different_tokens_with_its_own_period():
    rows, period = draw()
    assert rows.shape == (NUMBER, LENGTH)
    for row, length in zip(rows.tolist(), period.tolist(), strict=True):
        assert len(set(row[:length])) == length
        assert row == [row[place % length] for place in range(LENGTH)]


def test_every_period_from_the_shortest_to_the_longest_occurs_and_no_other():
    assert set(draw()[1].tolist()) == set(range(SHORTEST, LONGEST + 1))
    assert set(draw(shortest=5, longest=5)[1].tolist()) == {5}


def test_every_token_occurs_at_every_place():
    rows, _ = draw()
    assert all(set(column) == set(range(WORDS)) for column in rows.T.tolist())


def test_a_token_was_there_before_from_the_period_on():
    rows, period = draw()
    known = repeats_a_token(LENGTH, period)
    before = torch.tensor([[row[t] in row[:t] for t in range(LENGTH)] for row in rows.tolist()])
    assert torch.equal(known, before)


def test_the_same_generator_draws_the_same_and_the_global_one_is_left_alone():
    state = torch.get_rng_state()
    first, again, other = draw(0), draw(0), draw(1)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1], again[1])
    assert not torch.equal(first[0], other[0])


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((5, 9, 10, 4, 11), "shortest=4 must not exceed longest=11, and longest must not exceed vocabulary_size=10"),
        ((5, 9, 10, 7, 6), "shortest=7 must not exceed longest=6"),
        ((5, 9, 10, 1, 6), "shortest=1 is too small: it must be at least 2"),
        ((0, 9, 10, 2, 6), "number=0 is too small"),
    ],
)
def test_sizes_that_make_no_such_rows_are_refused(sizes, said):
    with pytest.raises(ValueError, match=said):
        repeated_blocks(*sizes)
