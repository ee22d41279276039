"""Counting: probabilities that sum to 1, exact where one can count by hand, and no token impossible."""

import numpy as np
import pytest

from transformer_lessons.language.ngrams import Counts

A, B, C, D = range(4)


def text(length=300, size=7):
    return np.random.default_rng(8).integers(size, size=length) ** 2 % size


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_the_probabilities_of_all_next_tokens_sum_to_one_after_any_context(order):
    counts = Counts(text(), order, 7)
    for context in ([], [3], text(20), [6, 6, 6, 6, 6, 6]):
        p = counts.next(context)
        assert p.min() > 0
        assert np.isclose(p.sum(), 1, rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_each_token_of_a_text_has_the_probability_that_it_had_as_the_next_one(order):
    counts, read = Counts(text(), order, 7), text(40)[::-1]
    one_by_one = [counts.next(read[:place])[token] for place, token in enumerate(read)]
    assert np.allclose(counts.probabilities(read), one_by_one, rtol=1e-12)


def test_a_unigram_model_is_exact_on_a_text_counted_by_hand():
    p = Counts([A, B, A, B, A, C], 1, 4).next([])  # 6 votes for what was met, 3 shared equally by all 4
    assert np.allclose(p, [(3 + 3 / 4) / 9, (2 + 3 / 4) / 9, (1 + 3 / 4) / 9, (3 / 4) / 9])


def test_a_bigram_model_is_exact_on_a_text_counted_by_hand():
    ids = [A, B, A, B, A, C]
    alone = Counts(ids, 1, 4).next([])
    counts = Counts(ids, 2, 4)  # after A: B, B, C, so 3 votes, and 2 for the unigram model
    assert np.allclose(counts.next([A]), (np.array([0, 2, 1, 0]) + 2 * alone) / 5)
    assert np.allclose(counts.next([D, D, B]), (np.array([2, 0, 0, 0]) + alone) / 3)


def test_a_context_that_was_never_met_leaves_the_vote_to_the_shorter_one():
    ids = [A, B, A, B, A, C]
    assert np.allclose(Counts(ids, 2, 4).next([D]), Counts(ids, 1, 4).next([]))
    assert np.allclose(Counts(ids, 3, 4).next([D, A]), Counts(ids, 2, 4).next([A]))


def test_of_a_text_shorter_than_the_order_the_longest_runs_are_counted():
    for context in ([A], [A, B], [B, A, B, A, B]):
        assert np.allclose(Counts([A, B], 5, 4).next(context), Counts([A, B], 2, 4).next(context))
    read = [A, B, C, A, B, A]
    assert np.allclose(Counts([A, B], 5, 4).probabilities(read), Counts([A, B], 2, 4).probabilities(read))


def test_an_order_is_too_high_where_a_run_no_longer_fits_a_whole_number_of_64_bits():
    """However short the text is."""
    assert np.isclose(Counts([A, B, A], 62, 2).next([A]).sum(), 1)
    for order, size in ((63, 2), (40, 3)):
        with pytest.raises(ValueError, match=f"^order={order} is too high for {size} different tokens$"):
            Counts([A, B, A], order, size)


def test_a_longer_context_costs_less_where_the_text_has_a_pattern():
    ids = [A, A, B, B] * 50
    costs = [-np.log(Counts(ids, order, 4).probabilities(ids)).mean() for order in (1, 2, 3)]
    assert costs[0] > costs[1] > costs[2]
    assert costs[2] < 0.1


@pytest.mark.parametrize(
    ("ids", "order", "size", "message"),
    [
        ([A, 9], 2, 4, r"from 0 to 3"),
        ([A, -1], 2, 4, r"from 0 to 3"),
        ([[A, B]], 2, 4, r"\(1, 2\) must be one row"),
        ([A, B], 0, 4, "order=0 is too small"),
        ([A, B], 32, 4, "order=32 is too high for 4 different tokens"),
        ([], 1, 4, "tokens=0 is too small"),
    ],
)
def test_what_cannot_be_counted_is_refused(ids, order, size, message):
    with pytest.raises(ValueError, match=message):
        Counts(ids, order, size)


def test_a_token_that_is_none_is_refused_in_reading_too():
    with pytest.raises(ValueError, match="from 0 to 3"):
        Counts([A, B], 2, 4).probabilities([A, 4])
