"""Theorems about the reversal task."""

import re
from pathlib import Path

import pytest
import torch

import transformer_lessons
from transformer_lessons.tasks.reversal import START, reversal_pairs, reversal_sequences

PACKAGE = Path(transformer_lessons.__file__).parent

NUMBER, LENGTH, WORDS = 200, 6, 5
BOTH_FORMS = pytest.mark.parametrize("draw", [reversal_sequences, reversal_pairs])


def seeded(seed):
    return torch.Generator().manual_seed(seed)


def numbers(drawn):
    return torch.cat([part.flatten() for part in drawn])


def test_the_second_half_is_the_first_half_backwards():
    sequences = reversal_sequences(NUMBER, LENGTH, WORDS, seeded(0))
    assert sequences.shape == (NUMBER, 2 * LENGTH)
    for sequence in sequences.tolist():
        assert sequence[LENGTH:] == sequence[:LENGTH][::-1]
    assert set(sequences.flatten().tolist()) == set(range(WORDS))


def test_the_target_is_a_start_and_then_the_source_backwards():
    source, target = reversal_pairs(NUMBER, LENGTH, WORDS, seeded(0))
    assert source.shape == (NUMBER, LENGTH)
    for read, written in zip(source.tolist(), target.tolist(), strict=True):
        assert written == [START, *read[::-1]]


def test_no_source_holds_the_start_and_every_other_token_occurs():
    source, _ = reversal_pairs(NUMBER, LENGTH, WORDS, seeded(0))
    assert set(source.flatten().tolist()) == set(range(WORDS)) - {START}


def test_a_vocabulary_of_a_start_alone_gives_no_pairs():
    with pytest.raises(ValueError, match=r"^vocabulary_size=1 is too small: it must be at least 2$"):
        reversal_pairs(NUMBER, LENGTH, 1)
    assert not reversal_sequences(NUMBER, LENGTH, 1).any()


@BOTH_FORMS
def test_every_half_is_drawn_afresh(draw):
    drawn = draw(NUMBER, LENGTH, WORDS, seeded(0))
    first = drawn if draw is reversal_sequences else drawn[0]
    assert len({tuple(row) for row in first.tolist()}) > NUMBER / 2
    assert all(len(set(column)) > 1 for column in first.T.tolist())


@BOTH_FORMS
def test_the_same_generator_draws_the_same_and_the_global_one_is_left_alone(draw):
    before = torch.get_rng_state()
    first, again, other = (draw(NUMBER, LENGTH, WORDS, seeded(seed)) for seed in (0, 0, 1))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(numbers(first), numbers(again))
    assert not torch.equal(numbers(first), numbers(other))


@BOTH_FORMS
def test_without_a_generator_the_global_one_decides(draw):
    torch.manual_seed(0)
    first = draw(NUMBER, LENGTH, WORDS)
    torch.manual_seed(0)
    assert torch.equal(numbers(first), numbers(draw(NUMBER, LENGTH, WORDS)))


def test_the_package_never_seeds():
    """It may seed a generator of its own, but not the ones that belong to everybody.

    The exercises' checks and the marking do, while an answer runs, and put back what they found. A command may: in
    its process nobody else draws.
    """
    parts = "checker", "running", "catalogue", "marking"
    seeds = re.compile(r"\b(torch|random|cuda|default_generator|np)\.(manual_)?seed")
    modules = [path for path in PACKAGE.rglob("*.py") if path.parent.name not in parts]
    assert len(modules) >= 20
    assert [path.stem for path in modules if seeds.search(path.read_text(encoding="utf-8"))] == ["model_commands"]
