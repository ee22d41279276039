"""What a verdict shows beside its sentence: dictionaries of any kind, and results that are wrong or right."""

from collections import Counter, OrderedDict, defaultdict
from itertools import pairwise
from types import MappingProxyType

import pytest
import torch
import torch.nn.functional as F

from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker.comparison import beside, show, shown_dictionaries
from transformer_lessons.exercises.checker.diagnosis import these
from transformer_lessons.language import byte_pairs

KINDS = [dict, Counter, OrderedDict, lambda counts: defaultdict(int, counts), MappingProxyType]


def text(report):
    return " ".join(report.message.split())


@pytest.mark.parametrize("kind", KINDS)
def test_a_dictionary_of_any_kind_is_right(kind):
    assert check("count_pairs", lambda words: kind(dict(byte_pairs.count_pairs(words)))).status == "passed"


@pytest.mark.parametrize("kind", KINDS)
def test_a_known_mistake_is_named_and_shown_in_a_dictionary_of_any_kind(kind):
    def answer(words):
        return kind(dict(Counter(pair for word in words for pair in pairwise(word))))

    report = check("count_pairs", answer)
    assert report.mistake == "each word counted once"
    assert "is expected" not in text(report)
    assert "yours {(b'" in text(report)


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_counts_in_a_dictionary_of_any_kind_are_called_counts(kind):
    def answer(words):
        return kind({pair: count + 3 for pair, count in byte_pairs.count_pairs(words).items()})

    report = check("count_pairs", answer)
    assert "the numbers are not right" in text(report)
    assert "All the pairs are there" in text(report)
    assert "is expected" not in text(report)


def test_a_dictionary_that_grows_from_call_to_call_is_seen_as_each_call_returned_it():
    counts = Counter()

    def answer(words):
        counts.update({pair: 2 * count for pair, count in byte_pairs.count_pairs(words).items()})
        return counts

    assert "Called twice with the same inputs, it gives two different results." in text(check("count_pairs", answer))


def test_where_only_some_entries_are_shown_a_line_says_so():
    assert shown_dictionaries({"a": 1}, {"a": 2}) == [
        "yours     {'a': 1}  (1 in all)",
        "expected  {'a': 2}  (1 in all)",
    ]
    assert shown_dictionaries({"a": 1.0, "b": 0.5}, {"a": 1.25, "b": 0.5}) == [
        "Only the entries that differ are shown:",
        "yours     {'a': 1.00}  (2 in all)",
        "expected  {'a': 1.25}  (2 in all)",
    ]
    assert shown_dictionaries({"a": 1, "b": 1}, {"a": 1})[0] == "Only the entries that differ are shown:"
    many = dict(zip("abcd", range(4), strict=True))
    assert shown_dictionaries(many, {}) == [
        "Three of the entries that differ:",
        "yours     {'a': 0, 'b': 1, 'd': 3}  (4 in all)",
        "expected  {}  (0 in all)",
    ]
    assert shown_dictionaries({"d": 3}, dict(zip("abc", range(3), strict=True))) == [
        "Three of the entries that differ:",
        "yours     {'d': 3}  (1 in all)",
        "expected  {'a': 0, 'b': 1}  (3 in all)",
    ]


def test_of_two_shapes_yours_comes_first():
    assert beside(torch.zeros(2, 3), torch.zeros(3, 4), "y", 0.0) == ["yours: y (2, 3), expected (3, 4)"]


def test_from_a_million_on_a_number_is_shown_in_two_digits():
    assert [show(one) for one in (999_999.0, 1e6, -2.34e9, float("inf"), float("nan"))] == [
        "999999.00",
        "1e+06",
        "-2.3e+09",
        "inf",
        "nan",
    ]


def cached(keys, values, new_key, new_value):
    return torch.cat([keys, new_key], 2), torch.cat([values, new_value], 2)


def test_several_results_are_right_and_one_is():
    def unscaled(query, keys, values, new_key, new_value):
        past, scale = keys.shape[2], 1.0 if keys.shape[2] else None
        keys, values = cached(keys, values, new_key, new_value)
        mask = torch.ones(query.shape[2], keys.shape[2]).tril(past) == 1
        return F.scaled_dot_product_attention(query, keys, values, mask, scale=scale), keys, values

    assert these(["`a`"]) == "`a` is"
    assert "Only `output` is wrong; `keys` and `values` are right." in text(check("attend_with_cache", unscaled))


def test_of_an_old_cache_handed_back_no_part_is_called_right():
    def forgetful(query, keys, values, new_key, new_value):
        new_keys, new_values = cached(keys, values, new_key, new_value)
        mask = torch.ones(query.shape[2], new_keys.shape[2]).tril(keys.shape[2]) == 1
        return F.scaled_dot_product_attention(query, new_keys, new_values, mask), keys, values

    report = check("attend_with_cache", forgetful)
    assert report.mistake == "the old cache handed back"
    assert "Only" not in text(report)


def test_only_old_keys_handed_back_are_named_without_a_word_against_the_values():
    def forgetful(query, keys, values, new_key, new_value):
        new_keys, new_values = cached(keys, values, new_key, new_value)
        mask = torch.ones(query.shape[2], new_keys.shape[2]).tril(keys.shape[2]) == 1
        return F.scaled_dot_product_attention(query, new_keys, new_values, mask), keys, new_values

    found = text(check("attend_with_cache", forgetful))
    assert "The keys or values that you return" in found
    assert "Only `keys` is wrong; `output` and `values` are right." in found


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("previous_token_score", lambda weights: weights.diagonal(-1, -2, -1).mean((1, 2))),
        ("induction_score", lambda weights, period: weights.diagonal(1 - period, -2, -1)[..., 1:].mean((1, 2))),
    ],
)
def test_one_score_for_each_sequence_is_shown_with_more_than_one_sequence(name, answer):
    report = check(name, answer)
    assert report.mistake == "the mean over the heads"
    assert "has shape (2,); (3,)" in text(report)


def test_blocks_that_never_meet_earlier_keys_are_told_so():
    def alone(query, key, value, block):
        return torch.cat(
            [
                F.scaled_dot_product_attention(*three, is_causal=True)
                for three in zip(*(one.split(block, -2) for one in (query, key, value)), strict=True)
            ],
            -2,
        )

    report = check("tiled_attention", alone)
    assert report.mistake == "only its own tile of keys"
    assert "it never meets the earlier ones, or" in text(report)


@pytest.mark.parametrize("decided", [torch.all, torch.any])
def test_one_decision_for_a_batch_is_told_from_accepting_all_or_none(decided):
    def answer(p, q, token, u):
        rows = torch.arange(len(token))
        left = (p - q).clamp(min=0)
        left[left.sum(-1) == 0] = 1.0
        return token if decided(u < (p / q)[rows, token]) else torch.multinomial(left, 1)[:, 0]

    assert check("speculate", answer).mistake == "one decision for the whole batch"


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (lambda p, q, token, u: token, "always accepted"),
        (lambda p, q, token, u: torch.multinomial((p - q).clamp(min=1e-9), 1)[:, 0], "never accepted"),
    ],
)
def test_accepting_all_or_none_is_no_decision_for_a_batch(answer, mistake):
    assert check("speculate", answer).mistake == mistake


def test_an_error_of_the_draw_is_quoted_as_the_learner_would_see_it():
    def answer(p, q, token, u):
        rows = torch.arange(len(token))
        return torch.where(u < (p / q)[rows, token], token, torch.multinomial((p - q).clamp(min=0), 1)[:, 0])

    same = torch.full((1, 2), 0.5)
    with pytest.raises(RuntimeError) as caught:
        answer(same, same, torch.tensor([0]), torch.tensor([0.5]))
    report = check("speculate", answer)
    assert report.mistake == "no residual where p and q are equal"
    assert " ".join(str(caught.value).split())[:40] in text(report)
