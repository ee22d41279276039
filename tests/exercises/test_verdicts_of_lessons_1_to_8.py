"""Verdicts on lessons 1 to 8: what only some offsets or only training mode show, and sentences true of every style."""

from functools import lru_cache

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons import attention, layers, positions
from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker.draws import Draws
from transformer_lessons.exercises.checker.exercise import EXERCISES
from transformer_lessons.exercises.checker.sandbox import attempt, standard_state
from transformer_lessons.exercises.checker.verdict import judge


@lru_cache
def draws(name, seed):
    """What every known mistake makes of a draw, computed once for all tests."""
    return Draws(EXERCISES[name], seed)


def found(name, answer, seeds=3):
    """All the mistakes that it is said to make, or how it is judged where it is not wrong."""
    with standard_state():
        reports = [judge(EXERCISES[name], answer, draws(name, seed), run=attempt) for seed in range(seeds)]
    return {report.mistake if report.status == "failed" else report.status for report in reports}


def text(report):
    return " ".join(report.message.split())


# shift_matrix

def shift(offset, d_model):
    angles = offset * 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    return torch.block_diag(*(torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in angles))


def one_step_in_a_loop(offset, d_model):
    matrix = torch.eye(d_model, dtype=torch.float64)
    for _ in range(offset):
        matrix = shift(1, d_model) @ matrix
    return matrix


def below_0(what):
    """Right for all offsets but those below 0."""
    return lambda offset, d_model: shift(offset, d_model) if offset >= 0 else what(offset, d_model)


def raising(error):
    def raises(*inputs):
        raise error
    return raises


NEGATIVE = {
    "negative offsets ignored": [one_step_in_a_loop, lambda offset, d_model: shift(max(offset, 0), d_model),
                                 below_0(lambda offset, d_model: torch.eye(d_model))],
    "the sign of the offset lost": [lambda offset, d_model: shift(abs(offset), d_model)],
    "zeros for a negative offset": [below_0(lambda offset, d_model: torch.zeros(d_model, d_model))],
    "NaN or infinity for a negative offset": [
        below_0(lambda offset, d_model: torch.full((d_model, d_model), torch.nan)),
        lambda offset, d_model: shift(torch.tensor(offset + 1e-9).log().exp(), d_model),
        below_0(lambda offset, d_model: torch.full((d_model, d_model), torch.inf))],
    "an error for a negative offset": [
        *(below_0(raising(error)) for error in (ValueError("offset"), AssertionError(), NotImplementedError(),
                                                IndexError(), RuntimeError("size"))),
        lambda offset, d_model: torch.linalg.lstsq(positions.sinusoidal_encoding(100 + offset, d_model)[:100],
                                                   positions.sinusoidal_encoding(100 + offset, d_model)[offset:]
                                                   ).solution.T],
    "wrong for a negative offset": [
        below_0(lambda offset, d_model: shift(offset - 1, d_model)), below_0(lambda offset, d_model: None),
        lambda offset, d_model: shift(offset % 32, d_model), below_0(lambda offset, d_model: np.eye(d_model)),
        below_0(lambda offset, d_model: torch.eye(d_model).long()),
        below_0(lambda offset, d_model: torch.eye(d_model + 1))],
    "an error for offset 0": [lambda offset, d_model: shift(offset, d_model) * (offset // offset)],
    "wrong for offset 0": [lambda offset, d_model: shift(offset, d_model) * (offset != 0)],
}


@pytest.mark.parametrize("name", NEGATIVE)
def test_what_is_wrong_for_a_negative_offset_or_for_0_alone_is_named(name):
    for number, answer in enumerate(NEGATIVE[name]):
        assert found("shift_matrix", answer, seeds=1) == {name}, number
    assert "Where to look: " in text(check("shift_matrix", NEGATIVE[name][0]))


def fitted(offset, d_model):
    encoding, places = positions.sinusoidal_encoding(60, d_model), torch.arange(10, 40)
    return torch.linalg.lstsq(encoding[places], encoding[places + offset]).solution.T


def there_and_back(offset, d_model):
    matrix = torch.matrix_power(shift(1, d_model).float(), abs(offset))
    return matrix if offset >= 0 else torch.linalg.inv(matrix)


@pytest.mark.parametrize("answer", [
    shift, fitted, there_and_back, lambda offset, d_model: torch.matrix_power(shift(1, d_model), offset),
    lambda offset, d_model: shift(offset, d_model) if offset >= 0 else shift(-offset, d_model).T])
def test_however_a_negative_offset_is_dealt_with_a_right_answer_passes(answer):
    assert found("shift_matrix", answer, seeds=1) == {"passed"}


@pytest.mark.parametrize(("count", "rest"), [
    (lambda pairs: range(0, pairs, 2), 0), (lambda pairs: range(0, 2 * (pairs // 2), 2), 0),
    (lambda pairs: range(0, pairs, 2), 1), (lambda pairs: range(2, 2 * pairs, 2), 0),
    (lambda pairs: range(0, 2 * pairs - 2, 2), 0)])
def test_blocks_that_are_left_out_are_named(count, rest):
    def answer(offset, d_model):
        matrix = rest * torch.eye(d_model, dtype=torch.float64)
        for even in count(d_model // 2):
            matrix[even:even + 2, even:even + 2] = shift(offset, d_model)[even:even + 2, even:even + 2]
        return matrix

    assert found("shift_matrix", answer, seeds=1) == {"blocks left out"}


def in_halves(offset, d_model, sign=1):
    angles = offset * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    cosines, sines = torch.diag(angles.cos()), sign * torch.diag(angles.sin())
    return torch.cat([torch.cat([cosines, sines], 1), torch.cat([-sines, cosines], 1)], 0)


def test_of_a_shift_with_two_mistakes_nothing_is_said_that_holds_of_one_alone():
    said = text(check("shift_matrix", lambda offset, d_model: in_halves(offset, d_model, -1)))
    assert "two mistakes at once: the rotation the wrong way and laid out in halves" in said
    assert "the two sines have each other's signs" in said
    assert "takes encoding[p] to" not in said  # it takes it to no encoding at all
    assert "it shifts by 1" not in text(check("shift_matrix", lambda offset, d_model: in_halves(1, d_model)))


# FeedForward

class Dense(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.linear_in, self.linear_out = nn.Linear(d_model, d_hidden), nn.Linear(d_hidden, d_model)


def dense(before=0.0, between=0.0, after_relu=0.0, after=0.0, drop=F.dropout):
    """A feed-forward with dropout in these places."""
    def forward(self, x):
        hidden = drop(self.linear_in(drop(x, before, self.training)), between, self.training)
        return drop(self.linear_out(drop(hidden.relu(), after_relu, self.training)), after, self.training)
    return type("FeedForward", (Dense,), {"forward": forward})


RATES = (0.02, 0.1, 0.5, 1.0)


@pytest.mark.parametrize("rate", RATES)
def test_dropout_in_another_place_than_after_the_relu_is_named_though_only_training_mode_shows_it(rate):
    assert found("FeedForward", dense(after=rate)) == {"dropout after linear_out"}
    assert found("FeedForward", dense(after=rate, after_relu=0.1)) == {"dropout after linear_out"}
    assert found("FeedForward", dense(before=rate)) == {"dropout before linear_in"}
    assert found("FeedForward", dense(before=rate, after_relu=0.3)) == {"dropout before linear_in"}
    assert found("FeedForward", dense(before=rate, after=rate)) == {"dropout after linear_out"}


@pytest.mark.parametrize("rate", [0.0, 1e-3, *RATES])
@pytest.mark.parametrize("drop", [F.dropout, F.dropout1d])
def test_dropout_after_the_relu_or_what_gives_the_same_numbers_passes(rate, drop):
    assert found("FeedForward", dense(after_relu=rate, drop=drop)) == {"passed"}
    assert found("FeedForward", dense(between=rate, drop=drop)) == {"passed"}  # relu(mask * z) is mask * relu(z)
    torch.manual_seed(0)
    one = dense(between=rate)(4, 3)
    other = dense(after_relu=rate)(4, 3)
    other.load_state_dict(one.state_dict())
    x, results = torch.randn(2, 5, 4), []
    for module in (one, other):
        torch.manual_seed(1)
        results.append(module(x))
    assert torch.equal(*results)


@pytest.mark.parametrize("change", [lambda y, x: 2 * y, lambda y, x: y + x, lambda y, x: y + torch.randn_like(y),
                                    lambda y, x: y.relu(), lambda y, x: x, lambda y, x: y + 1])
def test_what_training_mode_alone_does_otherwise_is_a_mistake(change):
    class Trained(dense()):
        def forward(self, x):
            return change(super().forward(x), x) if self.training else super().forward(x)

    report = check("FeedForward", Trained)
    assert (report.status, report.mistake) == ("failed", "wrong in training mode")
    assert "set to 0" not in text(report)


def test_the_same_dropout_gets_the_same_verdict_every_time():
    for module, name in ((dense(after=0.001), None), (dense(before=0.01), None), (dense(after_relu=0.01), "passed")):
        verdicts = set()
        for seed in range(5):
            torch.manual_seed(seed)
            verdicts.add(check("FeedForward", module).message)
        assert len(verdicts) == 1
        assert ("✓" in verdicts.pop()) == (name == "passed")


def test_of_two_mistakes_in_a_feed_forward_neither_sentence_belies_the_other():
    class Bent(Dense):
        def forward(self, x):
            return self.linear_out(F.gelu(self.linear_in(x))).relu()

    said = text(check("FeedForward", Bent))
    assert "two mistakes at once: the activation twice and GELU for ReLU." in said
    assert "never be negative" not in said
    assert "between the layers and" not in said


# masked_softmax

def added(number, scores, mask):
    return (scores + (1.0 - mask.to(scores.dtype)) * number).softmax(-1)


def put(number, scores, mask):
    return scores.masked_fill(~mask, number).softmax(-1)


@pytest.mark.parametrize("number", [-3, -7, -20, -50, -100, -123, -300, -500, -700, -744, -800, -990, -1000, -1300,
                                    -1600])
@pytest.mark.parametrize("hide", [added, put])
def test_of_a_number_that_is_too_small_nothing_is_said_of_nan_or_of_weights_thrown_away(number, hide):
    alone = found("masked_softmax", lambda scores, mask: hide(number, scores, mask) * mask.any(-1, keepdim=True))
    assert alone == {"a number too small"}
    both = found("masked_softmax", lambda scores, mask: hide(number, scores, mask))
    assert both <= {"a number too small", "a number too small and weight for an empty row"}


@pytest.mark.parametrize("number", [-100, -1000])
def test_a_number_that_is_too_small_and_an_empty_row_are_two_mistakes(number):
    said = text(check("masked_softmax", lambda scores, mask: added(number, scores, mask)))
    assert "two mistakes at once: a number too small and weight for an empty row." in said
    assert "NaN" not in said
    assert "thrown away" not in said


@pytest.mark.parametrize("number", [-2000, -1e4, -1e6, -1e9, -1e30])
@pytest.mark.parametrize("hide", [added, put])
def test_a_number_that_is_small_enough_leaves_only_the_weight_of_empty_rows(number, hide):
    assert found("masked_softmax", lambda scores, mask: hide(number, scores, mask)) == {"weight for an empty row"}
    assert found("masked_softmax", lambda scores, mask: hide(number, scores, mask) * mask) == {"passed"}


@pytest.mark.parametrize("number", [-50, -100, -123, -500, -744, -800, -990, -995, -1000])
def test_a_number_that_is_added_is_not_called_a_division(number):
    """The mask takes the weights of the forbidden places away again."""
    names = found("masked_softmax", lambda scores, mask: added(number, scores, mask) * mask)
    assert names <= {"hidden scores that still count", "a number too small"}


@pytest.mark.parametrize("hide", [
    lambda scores, mask: scores - 1.0 * ~mask, lambda scores, mask: scores + mask.to(scores.dtype)])
def test_a_score_of_1_more_or_less_is_not_always_the_mask(hide):
    said = text(check("masked_softmax", lambda scores, mask: hide(scores, mask).softmax(-1)))
    assert "an allowed score only gains 1 over a forbidden one" in said.replace("An", "an")
    assert "The mask is added as numbers" not in said


def all_or_nothing(scores, mask):
    return scores.masked_fill(~mask, -torch.inf).softmax(-1) if mask.any() else torch.zeros_like(scores)


def by_hand(scores, mask):
    hidden = scores.masked_fill(~mask, -1e9)
    exponentials = (hidden - hidden.amax(-1, keepdim=True)).exp() * mask
    return exponentials / exponentials.sum(-1, keepdim=True)


@pytest.mark.parametrize("answer", [all_or_nothing, by_hand, lambda scores, mask: by_hand(scores, mask) + 0.0])
def test_where_the_nan_of_an_empty_row_comes_from_is_not_claimed(answer):
    report = check("masked_softmax", answer)
    assert report.mistake == "NaN for an empty row"
    assert "0 is divided by 0" not in text(report)


@pytest.mark.parametrize("answer", [
    lambda scores, mask: put(-torch.inf, scores, mask).nan_to_num(0.25),
    lambda scores, mask: put(-torch.inf, scores, mask).nan_to_num(7.0),
    lambda scores, mask: torch.where(mask.any(-1, keepdim=True), put(-torch.inf, scores, mask), scores.abs())])
def test_any_weight_for_an_empty_row_is_named(answer):
    assert found("masked_softmax", answer) == {"weight for an empty row"}


def test_exponentials_that_are_masked_and_divided_once_are_not_called_renormalised():
    def largest_of_all(scores, mask):
        exponentials = (scores - scores.max(dim=-1, keepdim=True).values).exp() * mask
        return exponentials / (exponentials.sum(dim=-1, keepdim=True) + 1e-12)

    report = check("masked_softmax", largest_of_all)
    assert report.mistake == "masked too late, then divided by the sum"
    assert "renormalised" not in text(report)


# sinusoidal_encoding

def encoding(first, even=torch.sin, odd=torch.cos):
    def answer(length, d_model):
        places = torch.arange(first, first + length, dtype=torch.float64)[:, None]
        angles = places / 10000 ** (torch.arange(0, d_model, 2) / d_model)
        return torch.stack([even(angles), odd(angles)], dim=-1).flatten(1)
    return answer


@pytest.mark.parametrize("answer", [encoding(1), encoding(1, torch.cos, torch.sin)])
def test_of_positions_from_one_it_is_said_which_row_they_belong_to(answer):
    said = text(check("sinusoidal_encoding", answer))
    assert "positions from one" in said
    assert "every row belongs to the position after its own" in said


def test_of_frequencies_that_are_wrong_twice_no_order_is_claimed():
    def answer(length, d_model):
        exponents = torch.arange(0, d_model, 2).double().flip(0) / d_model
        angles = torch.arange(length).double()[:, None] * 10000 ** exponents
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)

    said = text(check("sinusoidal_encoding", answer))
    assert "multiplied where it should be divided" in said
    assert "grow instead of falling" not in said
    assert "the lowest first" not in said


# layer_norm

@pytest.mark.parametrize("end", [lambda variance: variance, torch.abs, lambda variance: variance.clamp(min=0.0),
                                 F.relu, lambda variance: variance.abs().double()])
def test_the_mean_not_squared_is_named_also_where_nothing_is_negative(end):
    def answer(x, gain, bias, eps=1e-5):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / (end((x**2).mean(-1, keepdim=True) - mean) + eps).sqrt() * gain + bias

    assert found("layer_norm", answer) == {"the mean not squared"}
    assert "may even be negative" not in text(check("layer_norm", answer))


# AttentionHead

@pytest.mark.parametrize("roles", ["q", "k", "v", "qk", "qv", "kv", "qkv"])
@pytest.mark.parametrize("bend", [F.relu, F.gelu, torch.tanh])
def test_an_activation_after_any_of_the_layers_is_named_and_not_said_of_all(bend, roles):
    class Bent(nn.Module):
        def __init__(self, d_model, d_head):
            super().__init__()
            for role in "qkv":
                self.add_module(f"linear_{role}", nn.Linear(d_model, d_head, bias=False))

        def forward(self, x):
            query, key, value = (bend(layer(x)) if role in roles else layer(x)
                                 for role, layer in zip("qkv", self.children(), strict=True))
            weights = (query @ key.mT).softmax(-1)
            return weights @ value, weights

    assert found("AttentionHead", Bent) == {"an activation after the layers"}
    assert "What one or more of the layers give goes through" in text(check("AttentionHead", Bent))


# future_leak

@pytest.mark.parametrize("other", [lambda tokens: tokens.roll(1, 0), lambda tokens: tokens.flip(0)])
def test_what_is_said_of_another_sequences_token_holds_of_the_batch_that_is_shown(other):
    def answer(model, tokens):
        leaks = [0.0]
        for place in range(1, tokens.shape[1]):
            changed = tokens.clone()
            changed[:, place] = other(tokens)[:, place]
            leaks.append((model(changed) - model(tokens))[:, :place].abs().max().item())
        return max(leaks)

    said = text(check("future_leak", answer))
    assert "another sequence's token." in said
    assert "tokens of shape (4, 4)" in said  # there the last column holds one token only
    assert "That may be the same token" in said


# weights that are wrong beside an output that is right, and sentences that a second style made false

def weights_of(x):
    exponentials = np.exp(x @ x.T - (x @ x.T).max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def test_weights_transposed_on_the_way_out_are_not_called_a_softmax_over_the_queries():
    def answer(x):
        return weights_of(x) @ x, weights_of(x).T

    assert found("self_attention", answer) == {"weights transposed on the way out"}


@pytest.mark.parametrize("one", [slice(None, 1), slice(-1, None)], ids=["first", "last"])
def test_one_heads_weights_for_all_are_not_called_one_slice_for_all(one):
    class OneForAll(EXERCISES["MultiHeadAttention"].answers["step by step"]):
        def handed_over(self, weights, scaled, scores):
            return weights[:, one].expand_as(weights)

    assert found("MultiHeadAttention", OneForAll) == {"the weights of one head only"}


def test_the_temperature_is_said_to_change_nothing_above_0_alone():
    def answer(logits, temperature, top_k, generator):
        if temperature == 0:
            return logits.argmax(dim=-1)
        if top_k is not None:
            logits = logits.masked_fill(logits < logits.topk(top_k).values[:, -1:], -torch.inf)
        return torch.multinomial(logits.softmax(dim=-1) / temperature, 1, generator=generator)[:, 0]

    said = text(check("sample_next", answer))
    assert "the temperature ignored. Above 0, the temperature changes nothing" in said


def test_dividing_transposed_exponentials_is_right_for_rows_and_tables_only():
    def answer(scores):
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return (exponentials.T / exponentials.sum(axis=-1)).T

    assert found("softmax", answer) == {"transposed, divided, and transposed back"}
    assert answer(np.ones(3)).tolist() == answer(np.ones((3, 3)))[0].tolist()


class KeptTwice(nn.Module):
    """A feed-forward layer whose layers an nn.Sequential holds as well, and holds first."""

    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d_model, d_hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(d_hidden, d_model))
        self.linear_in, self.linear_out = self.net[0], self.net[3]

    def forward(self, x):
        return self.net(x)


class KeptAgain(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.linear_in, self.linear_out = nn.Linear(d_model, d_hidden), nn.Linear(d_hidden, d_model)
        self.net = nn.Sequential(self.linear_in, nn.ReLU(), self.linear_out)

    def forward(self, x):
        return self.net(x)


class HeadsOfAList(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.maps = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(4)])
        self.linear_q, self.linear_k, self.linear_v, self.linear_out = self.maps

    def forward(self, *inputs):
        heads = [attention.split_heads(linear(x), self.num_heads)
                 for linear, x in zip(self.maps, inputs, strict=False)]
        output, weights = attention.scaled_dot_product_attention(*heads)
        return self.linear_out(attention.merge_heads(output)), weights


class PartsOfADictionary(nn.Module):
    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__()
        self.parts = nn.ModuleDict({"attention": attention.MultiHeadAttention(d_model, num_heads),
                                    "feed_forward": layers.FeedForward(d_model, d_hidden)})
        self.attention, self.feed_forward = self.parts.values()
        self.norms = nn.ModuleList([nn.LayerNorm(d_model), nn.LayerNorm(d_model)])
        self.norm_1, self.norm_2 = self.norms

    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attention(x, x, x, mask)[0])
        return self.norm_2(x + self.feed_forward(x))


@pytest.mark.parametrize(("name", "answer"), [
    ("FeedForward", KeptTwice), ("FeedForward", KeptAgain), ("MultiHeadAttention", HeadsOfAList),
    ("EncoderLayer", PartsOfADictionary)])
def test_layers_may_be_kept_a_second_time_in_a_container(name, answer):
    assert check(name, answer).status == "passed"


class WithoutTheKeysBias(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.linear_q, self.linear_k, self.linear_v, self.linear_out = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value):
        maps = self.linear_q(query), F.linear(key, self.linear_k.weight), self.linear_v(value)
        heads = [attention.split_heads(x, self.num_heads) for x in maps]
        output, weights = attention.scaled_dot_product_attention(*heads)
        return self.linear_out(attention.merge_heads(output)), weights


def test_a_key_without_its_bias_gives_the_same_numbers_and_passes():
    assert check("MultiHeadAttention", WithoutTheKeysBias).status == "passed"


@pytest.mark.parametrize("guarded", [False, True])
def test_the_targets_mask_is_not_for_a_memory_without_one(guarded):
    class DecoderLayer(layers.DecoderLayer):
        def forward(self, x, memory, mask=None, memory_mask=None):
            if memory_mask is None and (not guarded or memory.shape[1] == x.shape[1]):
                memory_mask = mask
            return super().forward(x, memory, mask, memory_mask)

    assert check("DecoderLayer", DecoderLayer).mistake == "mask in the place of a memory_mask of None"
