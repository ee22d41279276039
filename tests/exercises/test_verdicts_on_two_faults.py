"""Verdicts where two faults come at once, and on draws: what is named is so, and what is not sure is not said."""

import math
import re

import pytest
import torch
import torch.nn.functional as F

from transformer_lessons.exercises import check

SCALED = {
    "multiplied by the temperature": lambda logits, temperature: logits * temperature,
    "the temperature ignored": lambda logits, temperature: logits,
    "divided by the temperature twice": lambda logits, temperature: logits / temperature**2,
    "only low temperatures work": lambda logits, temperature: logits / min(temperature, 1),
    "only high temperatures work": lambda logits, temperature: logits / max(temperature, 1),
    "another temperature than the given one": lambda logits, temperature: logits / (1 + temperature),
}
PLACES = {
    "one candidate too many": lambda place, k, size: place > k,
    "one candidate too few": lambda place, k, size: place >= max(k - 1, 1),
    "top_k ignored": lambda place, k, size: place < 0,
    "the k smallest kept": lambda place, k, size: place < size - k,
    "the k largest left out": lambda place, k, size: place < k,
}
WEIGHTS = {
    "softmax twice": lambda logits: logits.softmax(-1).softmax(-1),
    "a sigmoid for the softmax": lambda logits: logits.sigmoid(),
    "the sign flipped": lambda logits: (-logits).masked_fill(logits.isinf(), -torch.inf).softmax(-1),
    "softmax over the batch": lambda logits: logits.softmax(0),
}


def divided(logits, temperature):
    return logits / temperature


def past_k(place, k, size):
    return place >= k


def softmaxed(logits):
    return logits.softmax(-1)


def sampling(scaled=divided, left_out=past_k, weights=softmaxed):
    """An answer that is right but for what is given; place 0 is that of the largest logit."""

    def answer(logits, temperature, top_k, generator):
        if temperature == 0:
            return logits.argmax(-1)
        places = logits.argsort(-1, descending=True).argsort(-1)
        logits = scaled(logits, temperature)
        if top_k is not None:
            logits = logits.masked_fill(left_out(places, top_k, logits.shape[-1]), -torch.inf)
        return torch.multinomial(weights(logits), 1, generator=generator)[:, 0]

    return answer


def named(answer):
    found = check("sample_next", answer).mistake
    return set(found.split(" and ")) if found else set()


@pytest.mark.parametrize("temperature", SCALED)
@pytest.mark.parametrize("top_k", PLACES)
def test_a_wrong_temperature_and_a_wrong_top_k_have_both_names(temperature, top_k):
    assert named(sampling(scaled=SCALED[temperature], left_out=PLACES[top_k])) == {temperature, top_k}


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("other", [*SCALED, *PLACES])
def test_a_second_mistake_is_named_only_where_the_draws_show_it(weights, other):
    parts = {"scaled": SCALED[other]} if other in SCALED else {"left_out": PLACES[other]}
    assert named(sampling(weights=WEIGHTS[weights], **parts)) <= {weights, other}


@pytest.mark.parametrize(
    "others",
    [
        {"scaled": SCALED["multiplied by the temperature"]},
        {"left_out": PLACES["top_k ignored"]},
        {"left_out": PLACES["one candidate too many"]},
    ],
)
def test_a_division_by_zero_and_another_mistake_have_both_names(others):
    right_but = sampling(**others)

    def answer(logits, temperature, top_k, generator):
        if temperature == 0:
            return torch.multinomial((logits / 0).softmax(-1), 1, generator=generator)[:, 0]
        return right_but(logits, temperature, top_k, generator)

    assert len(named(answer)) == 2
    assert "division by zero" in named(answer)


@pytest.mark.parametrize("threshold", [lambda kept: kept[0], lambda kept: kept[-1], lambda kept: kept.min()])
def test_one_threshold_for_the_batch_is_wrong_after_the_softmax_too(threshold):
    def answer(logits, temperature, top_k, generator):
        if temperature == 0:
            return logits.argmax(-1)
        weights = (logits / temperature).softmax(-1)
        if top_k is not None:
            weights = weights * (weights >= threshold(weights.topk(top_k).values[:, -1]))
        return torch.multinomial(weights, 1, generator=generator)[:, 0]

    report = check("sample_next", answer)
    assert (report.status, report.mistake) == ("failed", "one threshold for the whole batch")


def ids_from_1(logits, temperature, top_k, generator):
    return sampling()(logits, temperature, top_k, generator) + (temperature > 0)


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (ids_from_1, "ids counted from 1"),
        (sampling(scaled=lambda logits, temperature: logits + temperature), "the temperature ignored"),
        (
            sampling(scaled=lambda logits, temperature: logits / math.sqrt(temperature)),
            "another temperature than the given one",
        ),
        (sampling(left_out=lambda place, k, size: place > 0), "only the likeliest kept"),
        (sampling(left_out=lambda place, k, size: place >= 2 * k), None),
    ],
)  # no temperature is wrong
def test_nothing_else_is_said_of_one_mistake(answer, mistake):
    assert check("sample_next", answer).mistake == mistake


def test_what_draws_nothing_is_not_called_a_draw_for_the_whole_batch():
    def first_of_the_candidates(logits, temperature, top_k, generator):
        least = logits.topk(1 if temperature == 0 else top_k or logits.shape[-1]).values[:, -1:]
        return (logits >= least).long().argmax(-1)

    assert "one draw for the whole batch" not in named(first_of_the_candidates)


# Two faults at once where nothing of them can be seen on the way


def dealt_out_and_reversed(x):
    return x.permute(0, 2, 3, 1).flatten(2).flip(1)


def squared_and_too_late(model, optimizer, tokens):
    logits, targets = model(tokens[:, :-1]), tokens[:, 1:]
    loss = F.mse_loss(logits.softmax(-1), F.one_hot(targets, logits.shape[-1]).to(logits))
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


def first_positions_added_up(model, optimizer, tokens):
    loss = F.cross_entropy(model(tokens[:, :-1])[:, 0], tokens[:, 1])
    loss.backward()
    optimizer.step()
    return loss.item()


def small_letters_in_pieces(text):
    return re.findall(r"\w+|\s+|[^\w\s]+", text.lower())


def hyphens_without_the_start(text):
    return re.findall(r"[\w'-]+|[^\w'-]", text.lstrip())


@pytest.mark.parametrize(
    ("name", "answer", "mistakes"),
    [
        ("merge_heads", dealt_out_and_reversed, {"merged in interleaved order", "the positions in reverse"}),
        ("training_step", squared_and_too_late, {"a squared error", "zero_grad between backward and step"}),
        ("training_step", first_positions_added_up, {"only the first position", "old gradients not cleared"}),
        ("tokenize", small_letters_in_pieces, {"upper and lower case lost", "punctuation and white space cut apart"}),
        (
            "tokenize",
            hyphens_without_the_start,
            {"white space at the ends lost", "apostrophes or hyphens count as letters"},
        ),
        (
            "sample_next",
            sampling(
                scaled=lambda logits, temperature: logits / math.sqrt(temperature),
                left_out=PLACES["one candidate too few"],
            ),
            {"another temperature than the given one", "one candidate too few"},
        ),
    ],
)
def test_two_faults_at_once_have_both_names_in_any_variants(name, answer, mistakes):
    report = check(name, answer)
    assert "two mistakes at once: " in report.message
    found = " and ".join(mistakes), " and ".join(reversed([*mistakes]))
    assert report.mistake in found
