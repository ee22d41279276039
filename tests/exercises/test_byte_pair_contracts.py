"""What lesson 9's contracts promise of the words and ranks holds of every draw, and so several methods are right."""

import numpy as np
import pytest

from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.language import byte_pairs
from transformer_lessons.language.splitting import single_bytes

SEEDS = range(5)


def cut(piece):
    """A piece of bytes as its single bytes."""
    return tuple(bytes([byte]) for byte in piece)


def inputs(name):
    return [case.inputs for seed in SEEDS for case in EXERCISES[name].cases(seed)]


def test_train_bpe_gets_words_of_single_bytes():
    assert all(len(part) == 1 for words, _ in inputs("train_bpe") for word in words for part in word)


def test_apply_merges_gets_single_bytes_and_ranks_that_training_can_give():
    for parts, ranks in inputs("apply_merges"):
        assert all(len(part) == 1 for part in parts)
        merges = sorted(ranks, key=ranks.get)
        words = {cut(b"".join(pair)): 30 ** (len(merges) - rank) for rank, pair in enumerate(merges)}
        assert byte_pairs.train_bpe(words, len(merges)) == merges


def test_every_right_style_of_apply_merges_is_right_for_whatever_training_gives():
    rng = np.random.default_rng(0)
    styles = {style: answer.answer for style, answer in EXERCISES["apply_merges"].answers.items()}
    for _ in range(100):
        texts = ["".join(rng.choice(list("abc"), size=rng.integers(2, 10))) for _ in range(8)]
        words = {tuple(single_bytes(text)): int(rng.integers(1, 9)) for text in texts}
        ranks = {pair: rank for rank, pair in enumerate(byte_pairs.train_bpe(words, 30))}
        for _ in range(5):
            parts = single_bytes("".join(rng.choice(list("abc"), size=rng.integers(3, 14))))
            expected = byte_pairs.apply_merges(parts, ranks)
            assert [style for style, answer in styles.items() if answer(parts, ranks) != expected] == []


def by_word(parts, ranks):
    return b"".join(parts)


def by_parts(parts, ranks):
    return tuple(parts)


@pytest.mark.parametrize("key", [by_word, by_parts])
def test_a_cache_that_forgets_the_ranks_is_named(key):
    kept = {}

    def answer(parts, ranks):
        if key(parts, ranks) not in kept:
            kept[key(parts, ranks)] = byte_pairs.apply_merges(parts, ranks)
        return list(kept[key(parts, ranks)])

    assert {check("apply_merges", answer).mistake for _ in range(2)} == {"not right when the ranks change"}
