"""Verdicts on masked_softmax and future_leak: what is wrong is rejected and named, and what is right passes."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from drawn import draws

from transformer_lessons.exercises.checker import verdict
from transformer_lessons.exercises.checker.exercise import EXERCISES
from transformer_lessons.exercises.checker.sandbox import attempt, standard_state
from transformer_lessons.exercises.checker.verdict import judge


def reports(name, answer, number=3):
    """The verdicts on an answer, on so many draws."""
    with standard_state():
        return [judge(EXERCISES[name], answer, draws(name, seed), run=attempt) for seed in range(number)]


def names(name, answer, number=3):
    """All the mistakes that it is said to make, or how it is judged where it is not wrong."""
    found = reports(name, answer, number)
    return {report.mistake if report.status == "failed" else report.status for report in found}


# masked_softmax


def left(scores, mask):
    """What a softmax without a mask leaves to the allowed places."""
    return scores.softmax(-1) * mask


def left_by_hand(scores, mask):
    return (scores - scores.amax(-1, keepdim=True)).exp() * mask


def total(weights):
    return weights.sum(-1, keepdim=True)


LATE = {
    "plus 1e-9": lambda w: w / (total(w) + 1e-9),
    "plus 1e-7": lambda w: w / (total(w) + 1e-7),
    "plus 3e-6": lambda w: w / (total(w) + 3e-6),
    "normalize": lambda w: F.normalize(w, p=1, dim=-1),
    "clamp": lambda w: w / total(w).clamp(min=1e-9),
    "clamp, larger": lambda w: w / total(w).clamp(min=1e-5),
    "nan_to_num": lambda w: (w / total(w)).nan_to_num(0.0),
    "where": lambda w: torch.where(total(w) > 0, w / total(w), 0.0),
    "one where the sum is 0": lambda w: w / (total(w) + (total(w) == 0)),
    "nothing done": lambda w: w / total(w),
}


@pytest.mark.parametrize("ending", LATE)
@pytest.mark.parametrize("start", [left, left_by_hand])
def test_a_mask_after_the_softmax_is_too_late_however_it_is_renormalised(start, ending):
    def answer(scores, mask):
        return LATE[ending](start(scores, mask))

    assert names("masked_softmax", answer) == {"allowed weights lost to hidden scores"}


@pytest.mark.parametrize("small", [1e-30, torch.finfo(torch.float64).tiny])
def test_where_the_reason_is_not_certain_only_what_is_certain_is_said(small):
    """The weights are as if -100 had been added to the hidden scores."""

    def answer(scores, mask):
        return left(scores, mask) / (total(left(scores, mask)) + small)

    late = {"hidden scores that still count", "allowed weights lost to hidden scores"}
    assert names("masked_softmax", answer) <= late


@pytest.mark.parametrize("number", [-1.5, -5, -7, -12, -20, -50, -100, -300, -1000])
@pytest.mark.parametrize("ending", [lambda w, mask: w, lambda w, mask: w * mask])
def test_a_number_that_is_too_small_is_called_that_whatever_it_is(number, ending):
    def filled(scores, mask):
        return ending(scores.masked_fill(~mask, number).softmax(-1), mask)

    assert names("masked_softmax", filled) == {"a number too small"}


@pytest.mark.parametrize("number", [-3, -8])
def test_so_is_one_that_is_added(number):
    def added(scores, mask):
        return (scores + number * ~mask).softmax(-1) * mask

    assert names("masked_softmax", added) == {"a number too small"}


@pytest.mark.parametrize("number", [-100, -500])
def test_of_one_that_is_added_and_far_from_0_only_what_is_certain_is_said(number):
    """The weights would be the same if the mask came after the softmax and 1e-44 were added to their sum."""

    def added(scores, mask):
        return (scores + number * ~mask).softmax(-1) * mask

    assert names("masked_softmax", added) == {"hidden scores that still count"}


@pytest.mark.parametrize(
    "zeros",
    [
        lambda scores, mask: torch.zeros_like(scores),
        lambda scores, mask: 0 * scores,
        lambda scores, mask: (scores + -torch.inf * ~mask).softmax(-1).nan_to_num(0.0),
    ],
)
def test_zeros_are_called_zeros(zeros):
    for report in reports("masked_softmax", zeros):
        assert report.mistake == "zeros everywhere"
        assert "infinity" not in report.message


SHIFTED = {
    "by the largest of all": lambda scores, mask: scores.masked_fill(~mask, -torch.inf) - scores.max(),
    "by the largest allowed of all": lambda scores, mask: (
        scores.masked_fill(~mask, -torch.inf) - scores[mask.expand(scores.shape)].max()
    ),
    "not at all": lambda scores, mask: scores.masked_fill(~mask, -torch.inf),
}


@pytest.mark.parametrize("small", [1e-9, 1e-12, 1e-7])
@pytest.mark.parametrize("shift", SHIFTED)
def test_exponentials_out_of_range_are_never_called_anything_else(shift, small):
    def answer(scores, mask):
        exponentials = SHIFTED[shift](scores, mask).exp()
        return exponentials / (exponentials.sum(-1, keepdim=True) + small)

    assert names("masked_softmax", answer) <= {"exponentials out of range", None, "not finite"}


def test_infinity_times_zero_is_out_of_range():
    def answer(scores, mask):
        exponentials = (scores - scores.masked_fill(~mask, -1e9).amax(-1, keepdim=True)).exp() * mask
        return exponentials / total(exponentials)

    assert names("masked_softmax", answer) == {"exponentials out of range"}


def largest_allowed(scores, mask):
    hidden = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    exponentials = torch.where(mask, (hidden - hidden.amax(-1, keepdim=True)).exp(), 0.0)
    return exponentials / total(exponentials).clamp(min=1e-30)


def added_and_cleared(scores, mask):
    added = torch.zeros_like(scores).masked_fill(~mask, torch.finfo(scores.dtype).min)
    return (scores + added).softmax(-1) * mask


def picked_out(scores, mask):
    """Row by row, only the scores that are allowed."""
    allowed, result = mask.expand(scores.shape).flatten(0, -2), []
    for row, yes in zip(scores.flatten(0, -2), allowed, strict=True):
        result.append(torch.zeros_like(row).masked_scatter(yes, row[yes].softmax(0)))
    return torch.stack(result).reshape(scores.shape)


def in_float32(scores, mask):
    hidden = scores.float() - scores.float().amax(-1, keepdim=True)
    return hidden.masked_fill(~mask, -1e30).softmax(-1).to(scores) * mask


def as_a_softmin(scores, mask):
    some = mask.any(-1, keepdim=True)
    hidden = torch.where(mask | ~some, scores, -torch.inf)
    return torch.where(some, F.softmin(-hidden, dim=-1), torch.zeros(()).to(scores))


@pytest.mark.parametrize("answer", [largest_allowed, added_and_cleared, picked_out, in_float32, as_a_softmin])
def test_odd_right_answers_to_masked_softmax_pass(answer):
    assert names("masked_softmax", answer) == {"passed"}


# future_leak


def slices(replaced):
    """A detector that changes all the tokens from a place on; replaced(tokens) gives what it puts there."""

    @torch.no_grad()
    def future_leak(model, tokens):
        before, largest = model(tokens), 0.0
        for place in range(1, tokens.shape[1]):
            changed = torch.cat([tokens[:, :place], replaced(tokens)[:, place:]], dim=1)
            largest = max(largest, (model(changed) - before)[:, :place].abs().max().item())
        return largest

    return future_leak


def singly(replaced):
    """A detector that changes one token at a time."""

    def future_leak(model, tokens):
        found = [0.0]
        for place in range(1, tokens.shape[1]):
            changed = tokens.clone()
            changed[:, place] = replaced(tokens)[:, place]
            found += (model(changed) - model(tokens)).abs()[:, :place].flatten().tolist()
        return max(found)

    return future_leak


def in_one_batch(replaced):
    """A detector that asks the model once: a row of the batch for each position whose later tokens change."""

    @torch.no_grad()
    def future_leak(model, tokens):
        found = []
        for row, other in zip(tokens, replaced(tokens), strict=True):
            length = len(row)
            later = torch.ones(length, length, dtype=torch.bool).triu(1)
            outputs = model(torch.where(later, other, row))
            found.append((outputs.diagonal() - model(row[None])[0].T).abs().max().item())
        return max(found)

    return future_leak


STYLES = [slices, singly, in_one_batch]
KEPT = {  # the mistake → what is put in the place of each token
    "token 0 replaced by itself": [torch.zeros_like, lambda t: 0 * t, lambda t: t // 2, lambda t: (t - 1).clamp(min=0)],
    "token 1 replaced by itself": [torch.ones_like],
    "the largest token replaced by itself": [lambda t: t.max().expand_as(t), lambda t: (t + 1).clamp(max=t.max())],
    "the token in the middle replaced by itself": [lambda t: t.max() - t],
    "a token replaced by one that may be the same": [
        lambda t: t.roll(1, 1),
        lambda t: t.roll(-1, 1),
        lambda t: torch.randint_like(t, int(t.max()) + 1),
        lambda t: torch.randint(0, int(t.max()) + 1, t.shape),
        lambda t: torch.from_numpy(np.random.randint(0, int(t.max()) + 1, t.shape)),
        lambda t: (torch.rand(t.shape) * (t.max() + 1)).long(),
        lambda t: torch.randint(0, int(t.max()) + 1, t.shape, generator=torch.Generator().manual_seed(7)),
        lambda t: (t + torch.randint(0, int(t.max()) + 1, t.shape)) % (t.max() + 1),
        lambda t: (t + 2) % (t.max() + 1),
        lambda t: t.median().expand_as(t),
        lambda t: t[:, :1].expand_as(t),
        lambda t: t.min().expand_as(t),
    ],
    "another sequence's token": [lambda t: t.roll(1, 0), lambda t: t.flip(0)],
}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", KEPT)
def test_a_token_that_may_be_replaced_by_itself_misses_a_leak_and_is_named(name, style):
    for number, replaced in enumerate(KEPT[name]):
        assert names("future_leak", style(replaced)) == {name}, number


@pytest.mark.parametrize("style", STYLES)
def test_a_token_drawn_by_what_no_seed_reaches_is_called_that_or_different_every_time(style):
    def replaced(tokens):
        return torch.from_numpy(np.random.default_rng().integers(0, int(tokens.max()) + 1, tokens.shape))

    found = names("future_leak", style(replaced))
    assert found <= {"a token replaced by one that may be the same", "different every time"}, found


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "constant",
    [
        lambda t: t.float().mean().round().long(),
        lambda t: t.max() // 3,
        lambda t: t.flatten().mode().values,
        *(lambda t, n=n: t[0, n] for n in range(3)),
    ],
)
def test_no_constant_is_called_anything_that_it_is_not(style, constant):
    found = names("future_leak", style(lambda tokens: constant(tokens).expand_as(tokens)), 2)
    assert found <= {"a token replaced by one that may be the same", "another sequence's token", None}, found


@pytest.mark.parametrize("number", range(2, 9))
def test_an_id_that_the_model_does_not_know_is_never_passed(number, monkeypatch):
    monkeypatch.setattr(verdict, "diagnose", lambda *known: None)  # whatever its name may be
    assert "passed" not in names("future_leak", slices(lambda tokens: torch.full_like(tokens, number)))


def cut_at_the_position(model, tokens):
    whole = model(tokens)
    return max(
        (model(tokens[:, :end])[:, -1] - whole[:, end - 1]).abs().max().item() for end in range(1, tokens.shape[1])
    )


def cut_everywhere(model, tokens):
    whole = model(tokens)
    return max((model(tokens[:, :end]) - whole[:, :end]).abs().max().item() for end in range(1, tokens.shape[1] + 1))


def cut_once(model, tokens):
    """Only the last token goes."""
    return (model(tokens[:, :-1]) - model(tokens)[:, :-1]).abs().max().item()


@pytest.mark.parametrize("answer", [cut_at_the_position, cut_everywhere])
def test_cutting_the_text_off_is_told_from_changing_it(answer):
    assert names("future_leak", answer) == {"cut off, not changed"}


def test_cutting_off_only_the_last_token_is_not_right_either():
    assert "passed" not in names("future_leak", cut_once)


RIGHT = {
    "a random distance": lambda t: (t + torch.randint(1, int(t.max()) + 1, t.shape)) % (t.max() + 1),
    "one below": lambda t: (t - 1) % (t.max() + 1),
    "0, or 1 for it": lambda t: (t == 0).long(),
    "the largest, or 0 for it": lambda t: torch.where(t == t.max(), 0, t.max()),
    "drawn until it differs": lambda t: drawn_until_it_differs(t),
    "drawn among the others": lambda t: drawn_among_the_others(t),
}


def drawn_until_it_differs(tokens):
    drawn = tokens.clone()
    while (drawn == tokens).any():
        drawn = torch.where(drawn == tokens, torch.randint_like(tokens, int(tokens.max()) + 1), drawn)
    return drawn


def drawn_among_the_others(tokens):
    drawn = torch.randint(0, int(tokens.max()), tokens.shape)
    return drawn + (drawn >= tokens)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("replaced", RIGHT)
def test_a_token_that_surely_differs_passes(style, replaced):
    assert names("future_leak", style(RIGHT[replaced])) == {"passed"}


def all_replacements(model, tokens):
    """Every token of the vocabulary in every later place."""
    before, found = model(tokens), [0.0]
    for place in range(1, tokens.shape[1]):
        for token in range(int(tokens.max()) + 1):
            changed = tokens.clone()
            changed[:, place] = token
            found.append(float((model(changed) - before)[:, :place].abs().max()))
    return max(found)


def two_futures(model, tokens):
    """Neither of the two futures is the text's own."""
    largest = torch.zeros((), dtype=torch.float64)
    for end in range(1, tokens.shape[1]):
        one, other = tokens.clone(), tokens.clone()
        one[:, end:], other[:, end:] = 0, tokens.max()
        largest = torch.maximum(largest, (model(one) - model(other))[:, :end].detach().abs().max())
    return largest.item()


def one_row_at_a_time(model, tokens):
    """The model is asked for one sequence, of one row, at a time."""

    def of(row):
        other = torch.where(row == 0, row.max().clamp(min=1), 0)
        return max(
            ((model(torch.cat([row[:end], other[end:]])[None]) - model(row[None]))[0, :end]).abs().max().item()
            for end in range(1, len(row))
        )

    return max(of(row) for row in tokens)


def recursive(model, tokens, end=1):
    if end == tokens.shape[1]:
        return 0.0
    changed = torch.cat([tokens[:, :end], (tokens[:, end:] == 0).long()], dim=1)
    here = np.abs((model(changed) - model(tokens)).detach().numpy()[:, :end]).max()
    return max(float(here), recursive(model, tokens, end + 1))


def one_large_batch(model, tokens):
    """Every text with every later token changed, in one batch."""
    batch, length = tokens.shape
    changed = tokens.repeat(length, 1, 1)  # (place, batch, token)
    places = range(length)
    changed[places, :, places] = (changed[places, :, places] + tokens.max()) % (tokens.max() + 1)
    moved = (model(changed.flatten(0, 1)).unflatten(0, (length, batch)) - model(tokens)).abs()
    return moved.amax(dim=(1, 3)).tril(-1).max().item()  # (changed place, position)


@pytest.mark.parametrize("answer", [all_replacements, two_futures, one_row_at_a_time, recursive, one_large_batch])
def test_odd_right_answers_to_future_leak_pass(answer):
    assert names("future_leak", answer) == {"passed"}


def test_a_score_of_0_is_not_a_masked_one():
    def by_zeros(scores, mask):
        hidden = scores * mask
        return hidden.masked_fill(hidden == 0, -torch.inf).softmax(-1).nan_to_num(0.0)

    assert names("masked_softmax", by_zeros) == {"a score of 0 taken for masked"}
