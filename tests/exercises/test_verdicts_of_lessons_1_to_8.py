"""Verdicts on lessons 1 to 8: what only some offsets or only training mode show, and sentences true of every style."""

import re
import unicodedata

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from drawn import draws
from torch import nn

from transformer_lessons import attention, first_steps, layers, masks, positions
from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker.exercise import EXERCISES
from transformer_lessons.exercises.checker.sandbox import attempt, standard_state
from transformer_lessons.exercises.checker.verdict import judge
from transformer_lessons.language import sampling


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
    "negative offsets ignored": [
        one_step_in_a_loop,
        lambda offset, d_model: shift(max(offset, 0), d_model),
        below_0(lambda offset, d_model: torch.eye(d_model)),
    ],
    "the sign of the offset lost": [lambda offset, d_model: shift(abs(offset), d_model)],
    "zeros for a negative offset": [below_0(lambda offset, d_model: torch.zeros(d_model, d_model))],
    "NaN or infinity for a negative offset": [
        below_0(lambda offset, d_model: torch.full((d_model, d_model), torch.nan)),
        lambda offset, d_model: shift(torch.tensor(offset + 1e-9).log().exp(), d_model),
        below_0(lambda offset, d_model: torch.full((d_model, d_model), torch.inf)),
    ],
    "an error for a negative offset": [
        *(
            below_0(raising(error))
            for error in (
                ValueError("offset"),
                AssertionError(),
                NotImplementedError(),
                IndexError(),
                RuntimeError("size"),
            )
        ),
        lambda offset, d_model: (
            torch.linalg.lstsq(
                positions.sinusoidal_encoding(100 + offset, d_model)[:100],
                positions.sinusoidal_encoding(100 + offset, d_model)[offset:],
            ).solution.T
        ),
    ],
    "wrong for a negative offset": [
        below_0(lambda offset, d_model: shift(offset - 1, d_model)),
        below_0(lambda offset, d_model: None),
        lambda offset, d_model: shift(offset % 32, d_model),
        below_0(lambda offset, d_model: np.eye(d_model)),
        below_0(lambda offset, d_model: torch.eye(d_model).long()),
        below_0(lambda offset, d_model: torch.eye(d_model + 1)),
    ],
    "an error for offset 0": [lambda offset, d_model: shift(offset, d_model) * (offset // offset)],
    "wrong for offset 0": [lambda offset, d_model: shift(offset, d_model) * (offset != 0)],
}


@pytest.mark.parametrize("name", NEGATIVE)
def test_what_is_wrong_for_a_negative_offset_or_for_0_alone_is_named(name):
    for number, answer in enumerate(NEGATIVE[name]):
        assert found("shift_matrix", answer, seeds=1) == {name}, number
    assert "Where to look: " in text(check("shift_matrix", NEGATIVE[name][0]))


def fitted(offset, d_model):
    encoding, places = positions.sinusoidal_encoding(200, d_model), torch.arange(10, 40)
    return torch.linalg.lstsq(encoding[places], encoding[places + offset], driver="gelsd").solution.T


def there_and_back(offset, d_model):
    matrix = torch.matrix_power(shift(1, d_model).float(), abs(offset))
    return matrix if offset >= 0 else torch.linalg.inv(matrix)


@pytest.mark.parametrize(
    "answer",
    [
        shift,
        fitted,
        there_and_back,
        lambda offset, d_model: torch.matrix_power(shift(1, d_model), offset),
        lambda offset, d_model: shift(offset, d_model) if offset >= 0 else shift(-offset, d_model).T,
    ],
)
def test_however_a_negative_offset_is_dealt_with_a_right_answer_passes(answer):
    assert found("shift_matrix", answer, seeds=1) == {"passed"}


@pytest.mark.parametrize(
    ("count", "rest"),
    [
        (lambda pairs: range(0, pairs, 2), 0),
        (lambda pairs: range(0, 2 * (pairs // 2), 2), 0),
        (lambda pairs: range(0, pairs, 2), 1),
        (lambda pairs: range(2, 2 * pairs, 2), 0),
        (lambda pairs: range(0, 2 * pairs - 2, 2), 0),
    ],
)
def test_blocks_that_are_left_out_are_named(count, rest):
    def answer(offset, d_model):
        matrix = rest * torch.eye(d_model, dtype=torch.float64)
        for even in count(d_model // 2):
            matrix[even : even + 2, even : even + 2] = shift(offset, d_model)[even : even + 2, even : even + 2]
        return matrix

    assert found("shift_matrix", answer, seeds=1) == {"blocks left out"}


def in_halves(offset, d_model, sign=1):
    angles = offset * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    cosines, sines = torch.diag(angles.cos()), sign * torch.diag(angles.sin())
    return torch.cat([torch.cat([cosines, sines], 1), torch.cat([-sines, cosines], 1)], 0)


def test_of_a_shift_with_two_mistakes_nothing_is_said_that_holds_of_one_alone():
    said = text(check("shift_matrix", lambda offset, d_model: in_halves(offset, d_model, -1)))
    assert "two mistakes at once: the rotation the wrong way and laid out in halves" in said
    assert "the signs of the two sines are swapped" in said
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


@pytest.mark.parametrize(
    "change",
    [
        lambda y, x: 2 * y,
        lambda y, x: y + x,
        lambda y, x: y + torch.randn_like(y),
        lambda y, x: y.relu(),
        lambda y, x: x,
        lambda y, x: y + 1,
    ],
)
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


@pytest.mark.parametrize("number", [-3, -20, -123, -500, -744, -800, -1000, -1600])
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


@pytest.mark.parametrize(
    "hide", [lambda scores, mask: scores - 1.0 * ~mask, lambda scores, mask: scores + mask.to(scores.dtype)]
)
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


@pytest.mark.parametrize(
    "answer",
    [
        lambda scores, mask: put(-torch.inf, scores, mask).nan_to_num(0.25),
        lambda scores, mask: put(-torch.inf, scores, mask).nan_to_num(7.0),
        lambda scores, mask: torch.where(mask.any(-1, keepdim=True), put(-torch.inf, scores, mask), scores.abs()),
    ],
)
def test_any_weight_for_an_empty_row_is_named(answer):
    assert found("masked_softmax", answer) == {"weight for an empty row"}


def test_exponentials_that_are_masked_and_divided_once_are_not_called_renormalised():
    def largest_of_all(scores, mask):
        exponentials = (scores - scores.max(dim=-1, keepdim=True).values).exp() * mask
        return exponentials / (exponentials.sum(dim=-1, keepdim=True) + 1e-12)

    report = check("masked_softmax", largest_of_all)
    assert report.mistake == "allowed weights lost to hidden scores"
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
    assert "row p is for position p + 1" in said


def test_of_frequencies_that_are_wrong_twice_no_order_is_claimed():
    def answer(length, d_model):
        exponents = torch.arange(0, d_model, 2).double().flip(0) / d_model
        angles = torch.arange(length).double()[:, None] * 10000**exponents
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)

    said = text(check("sinusoidal_encoding", answer))
    assert "multiplied where it should be divided" in said
    assert "grow instead of falling" not in said
    assert "the lowest first" not in said


# layer_norm


@pytest.mark.parametrize(
    "end",
    [
        lambda variance: variance,
        torch.abs,
        lambda variance: variance.clamp(min=0.0),
        F.relu,
        lambda variance: variance.abs().double(),
    ],
)
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
            query, key, value = (
                bend(layer(x)) if role in roles else layer(x)
                for role, layer in zip("qkv", self.children(), strict=True)
            )
            weights = (query @ key.mT).softmax(-1)
            return weights @ value, weights

    assert found("AttentionHead", Bent) == {"an activation after the layers"}
    assert "The result of one or more layers goes through" in text(check("AttentionHead", Bent))


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
        heads = [attention.split_heads(linear(x), self.num_heads) for linear, x in zip(self.maps, inputs, strict=False)]
        output, weights = attention.scaled_dot_product_attention(*heads)
        return self.linear_out(attention.merge_heads(output)), weights


class PartsOfADictionary(nn.Module):
    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__()
        self.parts = nn.ModuleDict(
            {
                "attention": attention.MultiHeadAttention(d_model, num_heads),
                "feed_forward": layers.FeedForward(d_model, d_hidden),
            }
        )
        self.attention, self.feed_forward = self.parts.values()
        self.norms = nn.ModuleList([nn.LayerNorm(d_model), nn.LayerNorm(d_model)])
        self.norm_1, self.norm_2 = self.norms

    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attention(x, x, x, mask)[0])
        return self.norm_2(x + self.feed_forward(x))


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("FeedForward", KeptTwice),
        ("FeedForward", KeptAgain),
        ("MultiHeadAttention", HeadsOfAList),
        ("EncoderLayer", PartsOfADictionary),
    ],
)
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


# make_sequences


def rows(ids, length, number, ahead):
    return tuple(ids[start : start + number * length].view(number, length) for start in (0, ahead))


@pytest.mark.parametrize(
    ("targets", "mistake"),
    [
        (lambda inputs: inputs.clone(), "targets not shifted"),
        (lambda inputs: inputs.roll(-1, dims=1), "targets rolled within their rows"),
    ],
)
def test_a_row_too_few_is_named_together_with_wrong_targets_even_where_no_row_is_left(targets, mistake):
    def answer(ids, length):
        inputs = rows(ids, length, max((len(ids) - length) // length, 0), 0)[0]
        return inputs, targets(inputs)

    assert check("make_sequences", answer).mistake == f"a row that fits is dropped and {mistake}"


def test_tables_without_any_columns_are_no_fault_of_the_check():
    def answer(ids, length):
        inputs, targets = rows(ids, length, (len(ids) - 1) // length - 1, 1)
        return inputs.T, targets.T

    assert check("make_sequences", answer).status == "failed"


def test_ids_are_names_and_never_said_to_be_one_less_than_the_expected():
    def answer(ids, length):
        number = (len(ids) - 1) // length
        return rows(F.pad(ids, (0, 1)), length, number, 2)[::-1]

    said = text(check("make_sequences", answer))
    assert "minus" not in said
    assert "Where input and target are both in the text, every target is 2 tokens behind its input" in said


# sample_next


def sampled(change):
    """The usual answer, with the probabilities made by `change` of the scaled logits."""

    def answer(logits, temperature, top_k, generator):
        if temperature == 0:
            return logits.argmax(dim=-1)
        if top_k is not None:
            logits = logits.masked_fill(logits < logits.topk(top_k).values[:, -1:], -torch.inf)
        return torch.multinomial(change(logits, temperature), 1, generator=generator)[:, 0]

    return answer


def cut(keep):
    """Only the tokens drawn that `keep` keeps, going by their probabilities."""

    def change(logits, temperature):
        probabilities = (logits / temperature).softmax(-1)
        return probabilities * keep(probabilities)

    return sampled(change)


def with_a_usual_top_k(number):
    def answer(logits, temperature, top_k, generator):
        return sampling.sample_next(logits, temperature, top_k or min(number, logits.shape[1]), generator)

    return answer


def greedy_below(limit):
    def answer(logits, temperature, top_k, generator):
        return sampling.sample_next(logits, 0 if temperature < limit else temperature, top_k, generator)

    return answer


@pytest.mark.parametrize("limit", [0.01, 0.1, 0.3, 0.49, 0.6])
def test_the_likeliest_token_alone_at_small_temperatures_is_wrong(limit):
    assert check("sample_next", greedy_below(limit)).mistake == "the likeliest token below some temperature"


@pytest.mark.parametrize("number", [50, 40, 10, 5])
def test_a_top_k_that_nobody_asked_for_is_wrong(number):
    assert check("sample_next", with_a_usual_top_k(number)).mistake == "top_k=None taken for a number"


@pytest.mark.parametrize(
    "keep",
    [
        lambda p: p >= 0.01,
        lambda p: p >= 0.05 * p.amax(-1, keepdim=True),
        lambda p: torch.zeros_like(p).scatter(
            1,
            p.argsort(descending=True),
            1.0 * (p.sort(descending=True).values.cumsum(-1) - p.sort(descending=True).values < 0.9),
        ),
    ],
    ids=["smallest", "min_p", "top_p"],
)
def test_unlikely_tokens_left_out_are_no_sign_of_another_temperature(keep):
    report = check("sample_next", cut(keep))
    assert report.mistake == "unlikely tokens left out"
    assert "at a temperature of about" not in text(report)


@pytest.mark.parametrize("below", [4, 6, 8])
def test_a_number_a_little_below_the_smallest_logit_does_not_leave_a_token_out(below):
    def answer(logits, temperature, top_k, generator):
        if temperature == 0:
            return logits.argmax(dim=-1)
        if top_k is not None:
            left_out = logits < logits.topk(top_k).values[:, -1:]
            logits = logits.masked_fill(left_out, logits.min().item() - below)
        return torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)[:, 0]

    assert check("sample_next", answer).status == "failed"


def test_a_power_of_the_probabilities_has_nothing_left_at_a_small_temperature():
    answer = sampled(lambda logits, temperature: logits.softmax(-1) ** (1 / temperature))
    assert check("sample_next", answer).mistake == "probabilities that underflow"


def test_a_temperature_that_is_named_fits_all_that_is_seen():
    report = check("sample_next", sampled(lambda logits, temperature: (logits / max(temperature, 0.01)).softmax(-1)))
    assert report.mistake == "another temperature than the given one"
    report = check("sample_next", sampled(lambda logits, temperature: (logits / min(temperature, 2)).softmax(-1)))
    assert "at a temperature of about 2.0, not 2.5" in text(report)
    report = check("sample_next", cut(lambda p: p >= 0.03 * p.amax(-1, keepdim=True)))
    assert "at a temperature of about" not in text(report)


# Attention


@pytest.mark.parametrize("small", [1e-13, torch.finfo(torch.float64).tiny])
def test_hidden_scores_of_0_that_are_divided_away_are_no_number_too_small(small):
    def answer(scores, mask):
        weights = (scores * mask).softmax(-1) * mask
        return weights / (weights.sum(-1, keepdim=True) + small)

    assert found("masked_softmax", answer) == {"allowed weights lost to hidden scores"}


def test_a_result_of_the_right_shape_is_not_said_to_be_transposed():
    def answer(x, num_heads):
        return x.reshape(len(x), num_heads, -1, x.shape[1]).transpose(2, 3)

    report = check("split_heads", answer)
    assert report.mistake == "heads split by view"
    assert "swapped" not in text(report)


class SoftmaxOverTheQueries(attention.MultiHeadAttention):
    def forward(self, query, key, value):
        heads = [
            attention.split_heads(linear(x), self.num_heads)
            for linear, x in ((self.linear_q, query), (self.linear_k, key), (self.linear_v, value))
        ]
        output, weights = softmax_over_the_queries(*heads)
        return self.linear_out(attention.merge_heads(output)), weights


def softmax_over_the_queries(query, key, value):
    weights = (query @ key.mT / query.shape[-1] ** 0.5).softmax(-2)
    return weights @ value, weights.mT


@pytest.mark.parametrize(
    ("name", "answer"),
    [("scaled_dot_product_attention", softmax_over_the_queries), ("MultiHeadAttention", SoftmaxOverTheQueries)],
)
def test_a_softmax_over_the_queries_with_weights_turned_round_is_called_that(name, answer):
    assert check(name, answer).mistake == "softmax over the queries, and weights transposed"


class FirstSequenceForAll(EXERCISES["AttentionHead"].answers["step by step"]):
    def mapped(self, x):
        return self.linear_q(x), self.linear_k(x[0]).expand(len(x), -1, -1), self.linear_v(x[0]).expand(len(x), -1, -1)


class FirstHeadForAll(EXERCISES["MultiHeadAttention"].answers["step by step"]):
    def scores(self, queries, keys, values):
        return queries @ keys[:, :1].mT

    def average(self, weights, queries, keys, values):
        return weights @ values[:, :1]


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("AttentionHead", FirstSequenceForAll, "the first sequence for the whole batch"),
        ("MultiHeadAttention", FirstHeadForAll, "one head's keys or values for all"),
    ],
)
def test_keys_and_values_of_one_for_all_are_named(name, answer, mistake):
    assert check(name, answer).mistake == mistake


@pytest.mark.parametrize("start", [True, False])
def test_padding_that_follows_a_token_is_not_let_in(start):
    def answer(tokens, pad_id):
        real = tokens != pad_id
        return (real | F.pad(real[:, :-1], (1, 0), value=start))[:, None, None, :]

    assert check("padding_mask", answer).mistake == "one padding let in"


@pytest.mark.parametrize("few", [2, 3])
def test_a_prefix_that_sees_itself_is_named(few):
    def answer(length):
        mask = torch.ones(length, length, dtype=torch.bool).tril()
        mask[:few, :few] = True
        return mask

    assert check("causal_mask", answer).mistake == "the first few see each other"


# Positions


def test_no_base_is_blamed_that_fits_a_single_size():
    def answer(length, d_model):
        frequencies = 10000.0 ** (-torch.arange(d_model // 2) / max(d_model - 2, 1))
        angles = torch.arange(length)[:, None] * frequencies
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)

    assert found("sinusoidal_encoding", answer) == {None}


@pytest.mark.parametrize("base", [5000, 30000, 4096, 150])
def test_a_base_that_people_write_is_named(base):
    def answer(length, d_model):
        angles = torch.arange(length)[:, None] * float(base) ** (-torch.arange(0, d_model, 2) / d_model)
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)

    assert found("sinusoidal_encoding", answer) == {"another base than 10000"}


# A part that is skipped


class EncoderThatSkips(layers.EncoderLayer):
    def forward(self, x, mask=None):
        if mask is not None:
            x = self.norm_1(x + self.attention(x, x, x, mask)[0])
        return self.norm_2(x + self.feed_forward(x))


class DecoderThatSkipsTheMemory(layers.DecoderLayer):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm_1(x + self.self_attention(x, x, x, mask)[0])
        if memory_mask is not None:
            x = self.norm_2(x + self.cross_attention(x, memory, memory, memory_mask)[0])
        return self.norm_3(x + self.feed_forward(x))


class DecoderThatSkipsItself(layers.DecoderLayer):
    def forward(self, x, memory, mask=None, memory_mask=None):
        if mask is not None:
            x = x + self.self_attention(x, x, x, mask)[0]
        x = self.norm_2(self.norm_1(x) + self.cross_attention(self.norm_1(x), memory, memory, memory_mask)[0])
        return self.norm_3(x + self.feed_forward(x))


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("EncoderLayer", EncoderThatSkips, "the attention skipped where there is no mask"),
        ("DecoderLayer", DecoderThatSkipsTheMemory, "an attention skipped where there is no mask"),
        ("DecoderLayer", DecoderThatSkipsItself, "an attention skipped where there is no mask"),
    ],
)
def test_an_attention_that_is_skipped_without_a_mask_is_not_called_never_used(name, answer, mistake):
    report = check(name, answer)
    assert report.mistake == mistake
    assert "never used" not in text(report)


# training_step and tokenize


@pytest.mark.parametrize("factor", [1 / 4, 1 / 8, 1024])
@pytest.mark.parametrize("returned", [False, True])
def test_a_gradient_many_times_too_large_or_too_small_is_named(factor, returned):
    def answer(model, optimizer, tokens):
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        (factor * loss).backward()
        optimizer.step()
        return (factor * loss if returned else loss).item()

    assert check("training_step", answer).mistake == "a multiple of the gradients"


def test_what_a_dot_finds_is_named_by_what_the_example_shows():
    report = check("tokenize", lambda text: re.findall(r"\w+|.", text))
    assert report.mistake == "every character between words by itself, and line breaks lost"


def test_a_replaced_line_end_is_not_said_to_be_split():
    said = text(check("tokenize", lambda text: [one for one in re.split(r"\b", text.replace("\r\n", "\n")) if one]))
    assert "`strip` and `replace`" in said


# What a reader of published code has tried


def mask_of(size):
    """A mask that has been made once, for `size` positions, and is cut to length."""
    made = torch.ones(size, size).tril().bool()
    return lambda length: made[:length, :length]


def test_a_table_of_a_few_positions_is_too_small():
    assert found("causal_mask", mask_of(16), 1) != {"passed"}
    assert (
        check("sinusoidal_encoding", lambda length, d_model: positions.sinusoidal_encoding(32, d_model)[:length]).status
        == "failed"
    )


@pytest.mark.parametrize("column", [lambda rows: rows.reshape(-1, 1), lambda rows: rows[:, None]])
def test_one_column_for_all_rows_is_no_table_of_rows(column):
    def answer(scores):
        exponentials = np.exp(scores - column(scores.max(axis=-1)))
        return exponentials / column(exponentials.sum(axis=-1))

    assert found("softmax", answer, 1) == {"one column for all rows"}
    assert found("softmax", lambda scores: np.exp(scores) / column(np.exp(scores).sum(-1)), 1) != {
        "the rows left in one table"
    }


def test_an_empty_token_for_the_empty_text_alone_has_no_cut_before_it():
    def answer(text):
        return re.split(r"(?<=\w)(?=\W)|(?<=\W)(?=\w)", text)

    report = check("tokenize", answer)
    assert report.mistake == "the empty text as a token"
    assert "cut" not in text(report)


def test_of_other_models_than_these_always_0_says_nothing():
    def answer(model, tokens):
        leaks = 0.0
        for place in range(1, tokens.shape[1]):
            other = tokens.clone()
            other[:, place:] = (other[:, place:] + 1) % (tokens.max() + 1)
            same = model(tokens)[:, :place].argmax(-1) == model(other)[:, :place].argmax(-1)
            leaks = max(leaks, 1.0 - float(same.all()))
        return leaks

    report = check("future_leak", answer)
    assert report.status == "failed"
    assert "for every model, also" not in text(report)


def test_layers_in_a_dict_are_not_called_a_list():
    class Answer(nn.Module):
        def __init__(self, d_in, d_head):
            super().__init__()
            self.maps = {name: nn.Linear(d_in, d_head, bias=False) for name in ("linear_q", "linear_k", "linear_v")}

        def forward(self, x):
            return attention.scaled_dot_product_attention(*(layer(x) for layer in self.maps.values()))

    report = check("AttentionHead", Answer)
    assert report.mistake == "layers in a plain dict"
    assert "list" not in text(report)


def test_the_first_row_that_is_overwritten_is_not_said_to_be_skipped():
    def answer(length, d_model):
        table = positions.sinusoidal_encoding(length, d_model)
        table[0] = 0
        return table

    report = check("sinusoidal_encoding", answer)
    assert report.mistake == "position 0 left out"
    assert "starts at position 1" not in text(report)


def trained(loss, rounded=lambda number: number):
    """A training step with another loss, or another number returned."""

    def answer(model, optimizer, tokens):
        found = loss(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:])
        optimizer.zero_grad()
        found.backward()
        optimizer.step()
        return rounded(found.item())

    return answer


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (
            trained(lambda logits, targets: F.cross_entropy(logits, targets.view(-1))),
            "a view of rows that do not lie side by side",
        ),
        (trained(lambda logits, targets: F.nll_loss(logits, targets.flatten())), "the logits without the logarithm"),
    ],
)
def test_a_step_with_another_published_loss_is_named(answer, mistake):
    assert found("training_step", answer, 1) == {mistake}


def test_rounded_losses_are_shown_with_the_digits_that_differ():
    report = check(
        "training_step",
        trained(lambda logits, targets: F.cross_entropy(logits, targets.flatten()), lambda number: round(number, 4)),
    )
    yours, expected = (re.search(rf"{whose} +(\[.*?\])", report.message)[1] for whose in ("yours", "expected"))
    assert yours != expected


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        (
            "masked_softmax",
            lambda scores, mask: F.normalize(scores.exp() * mask, p=1, dim=-1, eps=1e-9),
            "exponentials out of range",
        ),
        (
            "masked_softmax",
            lambda scores, mask: (
                scores.masked_fill(~mask, -torch.inf)
                .masked_fill(~mask.any(-2, keepdim=True), 0.0)
                .softmax(-1)
                .masked_fill(~mask.any(-2, keepdim=True), 0.0)
            ),
            "the empty rows looked for in the wrong dimension",
        ),
        (
            "merge_heads",
            lambda x: x.transpose(1, 2).reshape(len(x), x.shape[1], -1),
            "the sizes named before the transpose",
        ),
        (
            "make_sequences",
            lambda ids, length: tuple(
                torch.stack([ids[start + more :][:length] for start in range(0, len(ids) - length - 1, length) or [0]])
                for more in (0, 1)
            ),
            "a row that fits is dropped",
        ),
    ],
)
def test_a_mistake_that_published_code_makes_is_named(name, answer, mistake):
    assert found(name, answer) == {mistake}


def moved_by_hand(model, optimizer, tokens):
    loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    with torch.no_grad():
        for group in optimizer.param_groups:
            for one in group["params"]:
                one -= group["lr"] * one.grad
    return loss.item()


class BiasAfterReLU(layers.FeedForward):
    def forward(self, x):
        return self.linear_out((x @ self.linear_in.weight.T).relu() + self.linear_in.bias)


def partly_turned(x, positions, base=10000):
    part = x.shape[-1] // 4 * 2 or x.shape[-1]
    return torch.cat([positions_turned(x[..., :part], positions, base), x[..., part:]], dim=-1)


def positions_turned(x, places, base):
    return EXERCISES["rotate"].reference(x, places, base)


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("causal_mask", mask_of(16), "a table of fixed size"),
        (
            "sinusoidal_encoding",
            lambda length, d_model: positions.sinusoidal_encoding(50, d_model)[:length],
            "a table of fixed size",
        ),
        ("rotate", partly_turned, "only some of the pairs turned"),
        (
            "rotate",
            lambda x, places, base=10000: positions_turned(x, places - places.min(), base),
            "positions counted from the smallest",
        ),
        (
            "masked_softmax",
            lambda scores, mask: F.pad(scores.masked_fill(~mask, -torch.inf), (0, 1)).softmax(-1)[..., :-1],
            "one more in the sum",
        ),
        (
            "masked_softmax",
            lambda scores, mask: scores.clamp(-50, 50).masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0),
            "the scores cut off",
        ),
        ("training_step", moved_by_hand, "a step that the optimizer does not make"),
        ("FeedForward", BiasAfterReLU, "the first bias after the ReLU"),
    ],
)
def test_what_else_published_code_does_is_named(name, answer, mistake):
    assert found(name, answer) == {mistake}


@pytest.mark.parametrize("seed", [1, 4])  # of five draws those in which no large scores stood beside each other
def test_cut_off_scores_are_wrong_on_every_draw(seed):
    def answer(scores, mask):
        return scores.clamp(-500, 500).masked_fill(~mask, -torch.inf).softmax(-1).nan_to_num(0)

    with standard_state():
        assert judge(EXERCISES["masked_softmax"], answer, draws("masked_softmax", seed), run=attempt).status == "failed"


# What else strong but hasty answers do


class NormalisedAddedAtTheEnd(layers.DecoderLayer):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm_1(x + self.self_attention(x, x, x, mask)[0])
        x = self.norm_2(x + self.cross_attention(x, memory, memory, memory_mask)[0])
        return self.norm_3(x) + self.feed_forward(x)


class NormalisedAddedFirst(layers.EncoderLayer):
    def forward(self, x, mask=None):
        x = self.norm_1(x) + self.attention(x, x, x, mask)[0]
        return self.norm_2(x + self.feed_forward(x))


def one_sequence_after_the_other(model, optimizer, tokens):
    optimizer.zero_grad()
    losses = [F.cross_entropy(model(row[None, :-1])[0], row[1:]) for row in tokens]
    for loss in losses:
        loss.backward()
    optimizer.step()
    return float(sum(losses)) / len(losses)


def with_loss(loss):
    def answer(model, optimizer, tokens):
        found = loss(model(tokens[:, :-1]), tokens[:, 1:])
        optimizer.zero_grad()
        found.backward()
        optimizer.step()
        return found.item()

    return answer


def indexed(scores, mask):
    hidden = scores.clone()
    hidden[~mask] = -torch.inf
    return hidden.softmax(-1).masked_fill(~mask.any(-1, keepdim=True), 0)


def less_the_largest_allowed(scores, mask):
    largest = scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True)
    exponentials = (scores - largest.where(largest.isfinite(), 0)).exp() * mask
    return exponentials / exponentials.sum(-1, keepdim=True).clamp(min=1e-30)


def zeros_in_the_maximum(scores, mask):
    scores = scores.where(mask, 0)
    exponentials = (scores - scores.amax(-1, keepdim=True)).exp() * mask
    return exponentials / exponentials.sum(-1, keepdim=True).clamp(min=1e-30)


def coarse(x, places, base=10000):
    angles = places.bfloat16()[:, None] * (base ** -(torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])).bfloat16()
    first, second = x[..., 0::2], x[..., 1::2]
    return torch.stack(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    ).flatten(-2)


def epsilon_last(x, gain, bias, eps=1e-5):
    return gain * ((x - x.mean(-1, keepdim=True)) / x.var(-1, keepdim=True, correction=0).sqrt() + eps) + bias


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("DecoderLayer", NormalisedAddedAtTheEnd, "the normalised input added"),
        ("EncoderLayer", NormalisedAddedFirst, "the normalised input added"),
        ("training_step", one_sequence_after_the_other, "a multiple of the gradients"),
        (
            "training_step",
            with_loss(lambda logits, targets: F.cross_entropy(logits.flatten(0, 1), targets.T.flatten())),
            "transposed, then flattened",
        ),
        (
            "training_step",
            with_loss(lambda logits, targets: -(F.one_hot(targets, logits.shape[-1]) * logits.log_softmax(-1)).mean()),
            "averaged over the vocabulary too",
        ),
        ("masked_softmax", indexed, "a mask that does not broadcast"),
        ("masked_softmax", less_the_largest_allowed, "exponentials out of range"),
        ("masked_softmax", zeros_in_the_maximum, "allowed weights lost to hidden scores"),
        ("rotate", coarse, "half precision"),
        ("layer_norm", epsilon_last, "epsilon outside the fraction"),
        (
            "split_heads",
            lambda x, number: x.view(*x.shape[:2], number, x.shape[2] / number).transpose(1, 2),
            "a fraction for a size",
        ),
    ],
)
def test_what_else_hasty_answers_do_is_named(name, answer, mistake):
    assert check(name, answer).mistake == mistake


def test_a_zero_as_a_lower_bound_is_not_said_to_stand_in_the_place_of_a_hidden_score():
    def at_least_zero(scores, mask):
        largest = scores.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True).clamp(min=0)
        exponentials = (scores - largest).exp().masked_fill(~mask, 0)
        return exponentials / exponentials.sum(-1, keepdim=True).clamp(min=1e-12)

    assert "zeros in their place" not in text(check("masked_softmax", at_least_zero))


def test_a_made_up_target_is_not_said_to_have_no_token_left():
    def the_first_token_at_the_end(ids, length):
        number = (len(ids) - 1) // length
        inputs = ids[: number * length]
        return inputs.reshape(number, length), inputs.roll(-1).reshape(number, length)

    report = check("make_sequences", the_first_token_at_the_end)
    assert report.mistake == "the very last target made up"
    assert "no token left" not in text(report)


def test_what_gain_and_bias_do_is_not_put_down_to_what_comes_before_them():
    said = text(check("layer_norm", lambda x, gain, bias, eps=1e-5: F.layer_norm(x, gain.shape, gain, gain, eps)))
    assert "With bias subtracted and gain divided out, a vector has a mean of" in said


def drawn_with(noise):
    def answer(logits, temperature, top_k, generator):
        if temperature == 0:
            return logits.argmax(-1)
        if top_k is not None:
            logits = logits.masked_fill(logits < logits.topk(top_k).values[:, -1:], -torch.inf)
        return (logits / temperature + noise(logits, generator)).argmax(-1)

    return answer


@pytest.mark.parametrize(
    "noise",
    [
        lambda logits, generator: -torch.rand(logits.shape, generator=generator, dtype=logits.dtype).log(),
        lambda logits, generator: torch.randn(logits.shape, generator=generator, dtype=logits.dtype),
    ],
)
def test_other_noise_than_gumbels_is_not_put_down_to_the_temperature_alone(noise):
    assert "when the noise is not right" in text(check("sample_next", drawn_with(noise)))


def test_only_the_likeliest_of_the_top_k_is_no_sign_of_a_low_temperature():
    def answer(logits, temperature, top_k, generator):
        return sampling.sample_next(logits, temperature, top_k and 1, generator)

    assert "at a temperature of" not in text(check("sample_next", answer))


def test_a_number_that_is_a_little_off_is_not_said_to_be_once_the_expected_one():
    def rounded_up(nats, tokens, characters):
        return np.ceil(nats / np.log(2) * tokens / characters * 100).item() / 100

    assert "It is 1.00 times" not in text(check("bits_per_character", rounded_up))


# Sizes of 1


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("attention", first_steps.attention),
        ("scaled_dot_product_attention", attention.scaled_dot_product_attention),
        ("masked_softmax", masks.masked_softmax),
        ("layer_norm", lambda x, gain, bias, eps=1e-5: F.layer_norm(x, gain.shape, gain, bias, eps)),
    ],
)
@pytest.mark.parametrize("squeeze", [torch.squeeze, lambda one: one.squeeze(0), lambda one: one.squeeze(-2)])
def test_a_squeeze_is_seen(name, right, squeeze):
    def squeezed(*inputs):
        found = right(*inputs)
        return squeeze(found) if isinstance(found, torch.Tensor) else tuple(map(squeeze, found))

    assert check(name, squeezed).mistake == "wrong number of dimensions"


def test_a_padding_mask_that_cannot_be_made_of_single_tokens_is_rejected():
    def squeezed(tokens, pad_id):
        return (tokens != pad_id).squeeze(-1)[:, None, None, :]

    assert check("padding_mask", squeezed).status == "failed"


# Sentences true of more styles, and names for more of what people write


def test_no_loop_is_made_up_where_the_first_or_last_row_of_a_mask_is_set_by_itself():
    def first_row_full(length):
        mask = torch.ones(length, length).tril().bool()
        mask[0] = True
        return mask

    def last_row_empty(length):
        mask = torch.ones(length, length).tril().bool()
        mask[-1] = False
        return mask

    assert not any("your loop" in text(check("causal_mask", answer)) for answer in (first_row_full, last_row_empty))


class SumAddedInTheEncoder(layers.EncoderLayer):
    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__(d_model, num_heads, d_hidden)

    def forward(self, x, mask=None):
        x = x + self.attend(x, mask, None)
        return self.norm_2(x + self.feed_forward(self.norm_1(x)))


class SumAddedInTheDecoder(layers.DecoderLayer):
    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__(d_model, num_heads, d_hidden)

    def forward(self, x, memory, mask=None, memory_mask=None):
        x = x + self.attend(x, mask)
        x = x + self.look_up(self.norm_1(x), memory, memory_mask)
        return self.norm_3(x + self.feed_forward(self.norm_2(x)))


@pytest.mark.parametrize(
    ("name", "answer"), [("EncoderLayer", SumAddedInTheEncoder), ("DecoderLayer", SumAddedInTheDecoder)]
)
def test_a_sum_that_passes_its_norm_by_is_named(name, answer):
    assert check(name, answer).mistake == "the sum added, not the norm of it"


def two_backward_passes(model, optimizer, tokens):
    loss = F.cross_entropy(model(tokens[:, :-1]).mT, tokens[:, 1:])
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    loss.backward()
    optimizer.step()
    return loss.item()


def coarse_encoding(length, d_model):
    frequencies = (10000.0 ** (-torch.arange(0, d_model, 2) / d_model)).bfloat16()
    angles = (torch.arange(length).bfloat16()[:, None] * frequencies).float()
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def exponentials_with_one_more(query, key, value):
    exponentials = (query @ key.mT).exp()
    weights = exponentials / (1 + exponentials.sum(-1, keepdim=True))
    return weights @ value, weights


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        (
            "softmax",
            lambda scores: np.exp(scores - np.log(np.exp(scores).sum(-1, keepdims=True))),
            "nothing subtracted",
        ),
        (
            "softmax",
            lambda scores: np.exp(scores - np.logaddexp(0, np.logaddexp.reduce(scores, axis=-1, keepdims=True))),
            "one more in the sum",
        ),
        ("attention", exponentials_with_one_more, "a number added to the sum"),
        ("sinusoidal_encoding", coarse_encoding, "half precision"),
        ("training_step", two_backward_passes, "a multiple of the gradients"),
        (
            "tokenize",
            lambda text: re.findall(r" ?\w+|[^\w\s]+|\s+(?!\S)|\s+", text),
            "a word glued to what stands beside it",
        ),
        (
            "sample_next",
            lambda logits, temperature, top_k, generator: sampling.sample_next(
                logits, temperature, top_k and 1, generator
            ),
            "only the likeliest kept",
        ),
    ],
)
def test_more_of_what_people_write_is_named(name, answer, mistake):
    assert check(name, answer).mistake == mistake


# What published code does to zeros, to positions, and to characters that do not show


def without_zeros(scores):
    return scores.masked_fill(scores == 0, -1e9)


def no_weight_for_zeros(query, key, value, scale=1.0):
    weights = without_zeros(query @ key.mT / scale).softmax(-1)
    return weights @ value, weights


def zeros_hidden_in_a_table(scores):
    return first_steps.softmax(np.where(scores == 0, -np.inf, scores))


def zeros_hidden_in_a_sequence(x):
    weights = zeros_hidden_in_a_table(x @ x.T)
    return weights @ x, weights


def zeros_after_the_mask_hidden(scores, mask):
    kept = (scores * mask).masked_fill(scores * mask == 0, -torch.inf)
    return kept.masked_fill(~mask.any(-1, keepdim=True), 0).softmax(-1).masked_fill(~mask, 0)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("softmax", zeros_hidden_in_a_table),
        ("self_attention", zeros_hidden_in_a_sequence),
        ("attention", no_weight_for_zeros),
        ("masked_softmax", zeros_after_the_mask_hidden),
        (
            "scaled_dot_product_attention",
            lambda query, key, value: no_weight_for_zeros(query, key, value, query.shape[-1] ** 0.5),
        ),
    ],
)
def test_a_score_of_0_that_gets_no_weight_is_named(name, answer):
    assert check(name, answer).mistake == "a score of 0 taken for masked"


class ZerosForPadding(first_steps.AttentionHead):
    def forward(self, x):
        return no_weight_for_zeros(self.linear_q(x), self.linear_k(x), self.linear_v(x))


def test_a_head_that_hides_vectors_of_zeros_is_rejected():
    assert check("AttentionHead", ZerosForPadding).status == "failed"


def test_vectors_that_come_twice_count_twice():
    def each_once(x):
        keys = np.unique(x, axis=0)
        return first_steps.softmax(x @ keys.T) @ keys, first_steps.softmax(x @ x.T)

    assert check("self_attention", each_once).status == "failed"


def turned(x, places, base):
    angles = places / base ** (torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    first, second = x[..., 0::2], x[..., 1::2]
    return torch.stack(
        [first * angles.cos() - second * angles.sin(), first * angles.sin() + second * angles.cos()], dim=-1
    ).flatten(-2)


def test_angles_that_are_kept_for_each_shape_are_rejected():
    kept = {}

    def rotate(x, positions, base=10000):
        return turned(x, kept.setdefault((x.shape, base), positions[:, None].double()), base)

    assert check("rotate", rotate).status == "failed"


def coarse_positions(length, d_model):
    angles = torch.arange(length).bfloat16()[:, None].float() * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def cleaned(text):
    """As BERT does it: without control characters."""
    return "".join(one for one in text if one in "\t\n\r" or not unicodedata.category(one).startswith("C"))


def greedy_near_0(logits, temperature, top_k, generator):
    return sampling.sample_next(logits, 0 if temperature < 1e-3 else temperature, top_k, generator)


def first_key_open(tokens, pad_id):
    mask = masks.padding_mask(tokens, pad_id)
    mask[..., 0] = True
    return mask


def until_the_last_token(tokens, pad_id):
    last = tokens.shape[1] - 1 - (tokens != pad_id).flip(1).int().argmax(1, keepdim=True)
    return (torch.arange(tokens.shape[1]) <= last)[:, None, None]


def features_summed(model, tokens):
    return leak_of_single_tokens(lambda tokens: model(tokens).sum(-1, keepdim=True), tokens)


def leak_of_single_tokens(model, tokens):
    before, largest = model(tokens), 0.0
    for place in range(1, tokens.shape[1]):
        other = tokens.clone()
        other[:, place] = (other[:, place] + 1) % (tokens.max() + 1)
        largest = max(largest, (model(other) - before)[:, :place].abs().max().item())
    return largest


class ParallelWithANorm(layers.EncoderLayer):
    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__(d_model, num_heads, d_hidden)

    def forward(self, x, mask=None):
        return self.norm_2(x + self.attend(x, mask, None) + self.feed_forward(self.norm_1(x)))


class FlatMaskTransposed(layers.EncoderLayer):
    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__(d_model, num_heads, d_hidden)

    def forward(self, x, mask=None):
        return super().forward(x, mask.T if mask is not None and mask.dim() == 2 else mask)


class QueriesWithoutBias(attention.MultiHeadAttention):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads, dropout=0)

    def forward(self, query, key, value):
        bias = self.linear_q.bias
        return super().forward(query - torch.linalg.solve(self.linear_q.weight, bias), key, value)


def a_step_for_each_sequence(model, optimizer, tokens):
    losses = []
    for row in tokens.split(1):
        loss = F.cross_entropy(model(row[:, :-1]).mT, row[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("sinusoidal_encoding", coarse_positions, "half precision"),
        (
            "sinusoidal_encoding",
            lambda length, d_model: positions.sinusoidal_encoding(512, d_model)[:length],
            "a table of fixed size",
        ),
        (
            "rotate",
            lambda x, positions, base=10000: turned(x, positions.bfloat16().double()[:, None], base),
            "half precision",
        ),
        (
            "tokenize",
            lambda text: [token for token in re.split(r"\b", cleaned(text)) if token],
            "part of the text lost",
        ),
        ("tokenize", lambda text: re.findall(r" ?\w+|[^\w ]+| +", text), "a word glued to what stands beside it"),
        ("sample_next", greedy_near_0, "the likeliest token below some temperature"),
        ("padding_mask", first_key_open, "the first key let in"),
        ("padding_mask", until_the_last_token, "padding that is not at the end let in"),
        ("future_leak", features_summed, "the sum of the changes"),
        ("EncoderLayer", ParallelWithANorm, "the two parts side by side"),
        ("EncoderLayer", FlatMaskTransposed, "the mask transposed"),
        ("MultiHeadAttention", QueriesWithoutBias, "a bias is missing"),
        ("training_step", a_step_for_each_sequence, "more than one step"),
        (
            "bits_per_character",
            lambda nats_per_token, tokens, characters: int(nats_per_token * tokens / np.log(2)) / characters,
            "a quotient rounded",
        ),
    ],
)
def test_a_slip_of_published_code_is_named(name, answer, mistake):
    assert check(name, answer).mistake == mistake


def soft_cap(query, key, value):
    weights = (50 * (query @ key.mT / query.shape[-1] ** 0.5 / 50).tanh()).softmax(-1)
    return weights @ value, weights


def test_the_wide_soft_cap_of_published_models_is_named():
    assert check("scaled_dot_product_attention", soft_cap).mistake == "squashed scores"


def test_a_divisor_that_is_a_little_off_is_shown_with_the_digits_that_differ():
    def coarse_root(query, key, value):
        weights = (query @ key.mT / torch.tensor(query.shape[-1]).bfloat16().sqrt()).softmax(-1)
        return weights @ value, weights

    assert "divided by 1.7344; 1.7321 is expected" in text(check("scaled_dot_product_attention", coarse_root))


class HalfAStep(layers.EncoderLayer):
    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__(d_model, num_heads, d_hidden)

    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attend(x, mask, None))
        return self.norm_2(x + 0.5 * self.feed_forward(x))


def test_an_output_that_is_halved_is_not_said_to_have_its_input_added_twice():
    assert "or the output is halved" in text(check("EncoderLayer", HalfAStep))


class ABiasForEveryHead(attention.MultiHeadAttention):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads, dropout=0)

    def forward(self, query, key, value):
        output, weights = super().forward(query, key, value)
        return output + (self.num_heads - 1) * self.linear_out.bias, weights


def test_a_bias_for_every_head_is_spoken_of():
    assert "gets the bias each time" in text(check("MultiHeadAttention", ABiasForEveryHead))


def test_frequencies_down_to_their_limit_are_not_said_to_be_divided():
    def spaced(length, d_model):
        angles = torch.arange(length)[:, None] * torch.logspace(0, -4, d_model // 2)
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)

    report = check("sinusoidal_encoding", spaced)
    assert report.mistake == "the exponent runs up to 1"
    assert "as when 2i is divided" in text(report)


def test_a_loop_that_reaches_every_block_is_not_said_to_stop_at_the_first():
    def whole_angles(offset, d_model):
        angles = offset // 10000 ** (torch.arange(0, d_model, 2) / d_model)
        return torch.block_diag(*(torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in angles))

    assert "which angle does it get" in text(check("shift_matrix", whole_angles))


class TheFirstMaskIsKept(layers.EncoderLayer):
    def forward(self, x, mask=None):
        if getattr(self, "kept", None) is None:
            self.kept = mask
        return super().forward(x, self.kept)


KEPT = {}


class MasksAreKeptElsewhere(layers.EncoderLayer):
    def forward(self, x, mask=None):
        return super().forward(x, KEPT.setdefault(None if mask is None else tuple(mask.shape), mask))


class TheFirstKeysAreKept(attention.MultiHeadAttention):
    def forward(self, query, key, value, mask=None):
        self.first = getattr(self, "first", (key, value))
        return super().forward(query, *self.first, mask)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("EncoderLayer", TheFirstMaskIsKept),
        ("EncoderLayer", MasksAreKeptElsewhere),
        ("MultiHeadAttention", TheFirstKeysAreKept),
    ],
)
def test_what_a_module_keeps_of_its_first_call_is_seen_in_the_next(name, answer):
    assert check(name, answer).mistake == "something kept from the first call"


def softmax_over_the_batch_of_lowered_logits(logits, temperature, top_k, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    scaled = (logits - logits.amax(dim=-1, keepdim=True)) / temperature
    if top_k is not None:
        scaled = scaled.masked_fill(scaled < scaled.topk(top_k).values[:, -1:], -torch.inf)
    return torch.multinomial(scaled.softmax(dim=0), 1, generator=generator)[:, 0]


def what_is_missing_goes_to_the_last_of_the_k(logits, temperature, top_k, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    sorted_ones = ((logits - logits.amax(dim=-1, keepdim=True)) / temperature).softmax(dim=-1).sort(descending=True)
    probabilities, ids = sorted_ones.values[:, :top_k], sorted_ones.indices[:, :top_k]
    drawn = torch.rand(len(ids), 1, dtype=torch.float64, generator=generator)
    places = (probabilities.cumsum(dim=-1) < drawn).sum(dim=-1, keepdim=True).clamp(max=ids.shape[1] - 1)
    return ids.gather(1, places)[:, 0]


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (softmax_over_the_batch_of_lowered_logits, "softmax over the batch"),
        (what_is_missing_goes_to_the_last_of_the_k, "the top k after the softmax, not renormalised"),
    ],
)
def test_a_single_fault_before_the_draw_is_not_taken_for_two(answer, name):
    assert check("sample_next", answer).mistake == name


class TheMeanOfTheHeads(attention.MultiHeadAttention):
    def forward(self, query, key, value):
        query, key, value = (
            attention.split_heads(layer(x), self.num_heads)
            for layer, x in ((self.linear_q, query), (self.linear_k, key), (self.linear_v, value))
        )
        weights = attention.scaled_dot_product_attention(query, key, value)[1]
        heads = weights.mean(dim=1, keepdim=True) @ value
        return self.linear_out(attention.merge_heads(heads)), weights


class ValuesProjectedLast(attention.MultiHeadAttention):
    def forward(self, query, key, value):
        query, key = self.linear_q(query), self.linear_k(key)
        query, key, value = (attention.split_heads(x, self.num_heads) for x in (query, key, value))
        heads, weights = attention.scaled_dot_product_attention(query, key, value)
        return self.linear_out(self.linear_v(attention.merge_heads(heads))), weights


def test_values_that_are_split_are_not_asked_whether_they_are():
    report = check("MultiHeadAttention", TheMeanOfTheHeads)
    assert report.mistake == "the features averaged with the weights of all the heads"
    assert "split" not in text(report)


def test_a_linear_v_that_comes_after_the_average_is_spoken_of():
    assert "or only after the average" in text(check("MultiHeadAttention", ValuesProjectedLast))


def test_tokens_that_change_in_turn_are_not_said_not_to():
    def overwritten(model, tokens):
        before = model(tokens)
        for place in range(1, tokens.shape[1]):
            changed = tokens.clone()
            changed[:, place] = (changed[:, place] + 1) % (tokens.max() + 1)
            largest = (model(changed) - before)[:, :place].abs().max().item()
        return largest

    report = check("future_leak", overwritten)
    assert report.mistake == "only the last token counts"
    assert "its turn" not in text(report)


def test_a_root_without_decimals_is_not_asked_for_another_size():
    def whole(query, key, value):
        weights = (query @ key.mT / int(query.shape[-1] ** 0.5)).softmax(dim=-1)
        return weights @ value, weights

    assert "print what the scores are divided by" in text(check("scaled_dot_product_attention", whole))


def counted_from_the_front(query, key, value):
    weights = (query[:, :, None] * key[:, None]).sum(dim=-1).softmax(dim=-1)
    return weights @ value, weights


def divided_in_the_row(x):
    weights = np.exp(x @ x.T - (x @ x.T).max())
    for row in weights:
        for place in range(len(row)):
            row[place] /= row.sum()
    return weights @ x, weights


def centred(x):
    return first_steps.self_attention(x - x.mean(axis=0))


def bfloat16_angles(length, d_model):
    frequencies = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(length, dtype=torch.bfloat16)[:, None] * frequencies.bfloat16()
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).float()


def slices_as_wide_as_there_are_heads(x, num_heads):
    return torch.stack([x[..., num_heads * head : num_heads * (head + 1)] for head in range(num_heads)], dim=1)


def over_the_third_dimension(x, gain, bias, eps=1e-5):
    variance, mean = torch.var_mean(x, dim=2, correction=0, keepdim=True)
    return gain * (x - mean) / torch.sqrt(variance + eps) + bias


class TheSumAsksTheMemory(layers.DecoderLayer):
    def forward(self, x, memory, mask=None, memory_mask=None):
        total = x + self.self_attention(x, x, x, mask)[0]
        x = self.norm_1(total)
        x = self.norm_2(x + self.cross_attention(total, memory, memory, memory_mask)[0])
        return self.norm_3(x + self.feed_forward(x))


@pytest.mark.parametrize(
    ("exercise", "answer", "name"),
    [
        ("attention", counted_from_the_front, "works with one leading dimension only"),
        ("self_attention", divided_in_the_row, "the sum changes while it divides"),
        ("self_attention", centred, "a mean subtracted"),
        ("sinusoidal_encoding", bfloat16_angles, "half precision"),
        ("split_heads", slices_as_wide_as_there_are_heads, "num_heads taken for d_head"),
        ("layer_norm", over_the_third_dimension, "over the third dimension"),
        ("DecoderLayer", TheSumAsksTheMemory, "an earlier x asks the memory"),
    ],
)
def test_a_known_mistake_is_named_in_another_style(exercise, answer, name):
    assert check(exercise, answer).mistake == name


def test_differences_from_pad_id_are_not_called_right():
    report = check("padding_mask", lambda tokens, pad_id: (tokens - pad_id)[:, None, None, :])
    assert report.mistake == "the tokens, not a mask"
    assert "numbers are right" not in text(report)


@pytest.mark.parametrize("count", [len, torch.numel])
def test_a_loss_that_is_divided_once_more_is_named(count):
    def divided(model, optimizer, tokens):
        logits = model(tokens[:, :-1])
        losses = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
        loss = (losses.mean() if count is len else losses.sum()) / count(tokens)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    assert check("training_step", divided).mistake == "a multiple of the gradients"


def lowered_by_the_largest_of_the_batch(logits, temperature, top_k, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    scaled = (logits - logits.max()) / temperature
    if top_k is not None:
        scaled = scaled.masked_fill(scaled < scaled.topk(top_k).values[:, -1:], -torch.inf)
    return torch.multinomial(scaled.exp(), 1, generator=generator)[:, 0]


def test_exponentials_that_are_0_in_a_whole_row_are_found():
    assert check("sample_next", lowered_by_the_largest_of_the_batch).mistake == "exponentials out of range"


def test_other_probabilities_are_not_said_to_come_of_the_temperature_alone():
    def squared(logits, temperature, top_k, generator):
        if temperature == 0:
            return logits.argmax(dim=-1)
        scaled = (logits - logits.amax(dim=-1, keepdim=True)) / temperature
        if top_k is not None:
            scaled = scaled.masked_fill(scaled < scaled.topk(top_k).values[:, -1:], -torch.inf)
        return torch.multinomial(scaled.softmax(dim=-1) ** 2, 1, generator=generator)[:, 0]

    assert "That happens, for example, when the temperature" in text(check("sample_next", squared))


def test_turns_counted_by_the_batch_are_named():
    def by_the_batch(model, tokens):
        before, largest = model(tokens), 0.0
        for place in range(1, len(tokens)):
            changed = tokens.clone()
            changed[:, place:] = (changed[:, place:] + 1) % (tokens.max() + 1)
            largest = max(largest, (model(changed) - before)[:, :place].abs().max().item())
        return largest

    assert check("future_leak", by_the_batch).mistake == "as many turns as sequences"


def test_a_loss_that_is_rounded_is_named():
    def rounded(model, optimizer, tokens):
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return round(loss.item(), 3)

    assert check("training_step", rounded).mistake == "the loss rounded"


def test_a_second_softmax_of_the_top_k_alone_is_named():
    def again(logits, temperature, top_k, generator):
        if temperature == 0:
            return logits.argmax(dim=-1)
        probabilities = (logits / temperature).softmax(dim=-1)
        if top_k is not None:
            kept = probabilities.topk(top_k)
            probabilities = torch.zeros_like(probabilities).scatter(1, kept.indices, kept.values).softmax(dim=-1)
        return torch.multinomial(probabilities, 1, generator=generator)[:, 0]

    assert check("sample_next", again).mistake == "softmax twice"


# Weights that are returned detached, beside an output that is not


def attended(function, how):
    def answer(query, key, value):
        output, weights = function(query, key, value)
        return {
            "for plotting": (output, weights.detach()),
            "all": (output.detach(), weights.detach()),
            "in the average": (weights.detach() @ value, weights.detach()),
            "in the average alone": (weights.detach() @ value, weights),
        }[how]

    return answer


def heads_of(how):
    class Heads(attention.MultiHeadAttention):
        def forward(self, query, key, value):
            query, key, value = (
                attention.split_heads(layer(x), self.num_heads)
                for layer, x in ((self.linear_q, query), (self.linear_k, key), (self.linear_v, value))
            )
            output, weights = attended(attention.scaled_dot_product_attention, how)(query, key, value)
            return self.linear_out(attention.merge_heads(output)), weights

    return Heads


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("attention", lambda how: attended(first_steps.attention, how)),
        ("MultiHeadAttention", heads_of),
        ("scaled_dot_product_attention", lambda how: attended(attention.scaled_dot_product_attention, how)),
    ],
)
def test_weights_may_be_returned_detached_but_not_used_so(name, answer):
    assert found(name, answer("for plotting"), seeds=1) == {"passed"}
    assert found(name, answer("in the average"), seeds=1) <= {"no gradient", "wrong gradient"}
    assert found(name, answer("in the average alone"), seeds=1) <= {"no gradient", "wrong gradient"}
    assert found(name, answer("all"), seeds=1) <= {"no gradient", "wrong gradient"}


# What a stranger's wrong answers have shown: sentences that were false of them, and inputs on which they were right


def leak_seen(changed=lambda tokens, place, copy: one_more(tokens, place), stale=False, by=max):
    def leak(model, tokens):
        before, copy, leaks = model(tokens), tokens.clone(), [0.0][: by is max]
        for place in range(1, tokens.shape[1]):
            after = model(changed(tokens, place, copy))
            leaks.append((after[:, :place] - before[:, :place]).abs().max().item())
            before = after if stale else before
        return by(leaks)

    return leak


def one_more(tokens, place, batch=slice(None), copy=True):
    changed = tokens.clone() if copy else tokens
    changed[batch, place] = (changed[batch, place] + 1) % (tokens.max() + 1)
    return changed


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (leak_seen(stale=True), "compared with the run before"),
        (leak_seen(by=min), "the smallest of the changes"),
        (leak_seen(lambda tokens, place, copy: one_more(copy, place, copy=False)), "the changes pile up"),
        (leak_seen(lambda tokens, place, copy: one_more(tokens, place, batch=0)), "only the first sequence"),
    ],
)
def test_a_stale_run_or_copy_is_told_from_a_wrong_slice(answer, mistake):
    report = check("future_leak", answer)
    assert report.mistake == mistake
    assert "looked at" not in text(report)
    assert check("future_leak", leak_seen()).status == "passed"


def attends(scores=lambda query, key: query @ key.mT, merged=lambda heads, query, key: heads.flatten(2)):
    class Attends(attention.MultiHeadAttention):
        def forward(self, query, key, value):
            q, k, v = (
                attention.split_heads(layer(x), self.num_heads)
                for layer, x in ((self.linear_q, query), (self.linear_k, key), (self.linear_v, value))
            )
            weights = (scores(q, k) / q.shape[-1] ** 0.5).softmax(dim=-1)
            return self.linear_out(merged((weights @ v).transpose(1, 2).contiguous(), q, k)), weights

    return Attends


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (attends(lambda query, key: query @ key.transpose(1, 2)), "heads and positions of the keys swapped again"),
        (
            attends(merged=lambda heads, query, key: heads.view(len(heads), query.size(1), -1)),
            "merged with the number of heads as the length",
        ),
        (
            attends(merged=lambda heads, query, key: heads.view(len(heads), key.size(2), key.size(1) * key.size(3))),
            "one length for queries and keys",
        ),
    ],
)
def test_errors_of_wrong_sizes_are_told_apart(answer, mistake):
    assert check("MultiHeadAttention", answer).mistake == mistake
    assert check("MultiHeadAttention", attends()).status == "passed"


def first_rows(size):
    def answer(length, d_model=None):
        if d_model is None:
            return masks.causal_mask(size)[:length, :length]
        return positions.sinusoidal_encoding(size, d_model)[:length]

    return answer


@pytest.mark.parametrize(("name", "size"), [("causal_mask", 8), ("causal_mask", 1024), ("sinusoidal_encoding", 5000)])
def test_a_long_table_of_fixed_size_is_named(name, size):
    assert check(name, first_rows(size)).mistake == "a table of fixed size"


def mask_in_loops(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for query in range(length):
        for key in range(query + 1):
            mask[query, key] = True
    return mask


def test_loops_over_all_cells_are_right_however_slow():
    assert check("causal_mask", mask_in_loops).status == "passed"


def test_an_encoding_multiplied_is_not_said_to_be_added():
    def scaled(length, d_model):
        return positions.sinusoidal_encoding(length, d_model) * d_model**0.5

    assert check("sinusoidal_encoding", scaled).mistake == "multiplied by √d_model"


def fitted_on(count, rows=200):
    def answer(offset, d_model):
        encoding = positions.sinusoidal_encoding(rows, d_model).double()
        there, back = max(offset, 0), max(-offset, 0)
        return torch.linalg.lstsq(encoding[back:][:count], encoding[there:][:count], driver="gelsd").solution.T

    return answer


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (fitted_on(8), "wrong for a large offset or d_model"),
        (fitted_on(60), None),
        (fitted_on(60, rows=100), "an error for a large offset"),
        (lambda offset, d_model: shift(offset, d_model).half(), "rounded numbers"),
        (lambda offset, d_model: shift(offset, d_model).round(decimals=3), "rounded numbers"),
        (lambda offset, d_model: shift(offset, d_model).float(), None),
    ],
)
def test_a_shift_must_be_right_far_on_and_to_more_than_three_digits(answer, mistake):
    assert check("shift_matrix", answer).mistake == mistake


def test_a_mask_of_minus_twenty_is_not_said_to_be_divided_by_a_sum():
    report = check("masked_softmax", lambda scores, mask: (scores + (mask + 1e-9).log()).softmax(dim=-1) * mask)
    assert report.mistake == "allowed weights lost to hidden scores"
    assert "divid" not in text(report)


def one_call_each(text):
    head = re.match(r"\w+|\W+", text)
    return [head.group(), *one_call_each(text[head.end() :])] if head else []


@pytest.mark.parametrize(
    ("answer", "mistake", "unsaid"),
    [
        (lambda text: [one for one in re.split(r"\b", text, maxsplit=32) if one], "only the first cuts made", "none"),
        (
            lambda text: [one for one in re.split(r"\b|(?<=[a-z])(?=[A-Z])", text) if one],
            "cuts where there is no word boundary",
            "comma",
        ),
        (one_call_each, "one call for each token", "training mode"),
        (lambda text: re.findall(r"\w+|\n|[^\w\n]+", text), "cut at line breaks as well", "Punctuation"),
        (lambda text: re.findall(r"\d+\.\d+|\w+|\W+", text), "word boundaries without a cut", "igits"),
        (lambda text: text.splitlines(keepends=True), "a token for each line", "two mistakes"),
    ],
)
def test_cuts_are_called_what_they_are(answer, mistake, unsaid):
    report = check("tokenize", answer)
    assert report.mistake == mistake
    assert unsaid not in text(report)


def bounded(logits, temperature, top_k, generator, bound, indented=False):
    if temperature == 0:
        return logits.argmax(dim=-1)
    scaled = logits / temperature
    logits = logits if indented and top_k is None else scaled
    if top_k is not None:
        logits = logits.masked_fill(~bound(logits, top_k), -torch.inf)
    return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)[:, 0]


@pytest.mark.parametrize(
    ("bound", "indented", "mistake"),
    [
        (lambda table, k: table > table.sort(descending=True).values[:, [k]], False, "the logit after the top k"),
        (lambda table, k: table >= table.topk(k).values[:, [-1]], True, "the temperature with a top_k only"),
        (lambda table, k: table >= table.topk(k).values[:, [-1]], False, "passed"),
    ],
)
def test_thresholds_are_told_apart_and_may_be_the_last_of_all(bound, indented, mistake):
    assert found("sample_next", lambda *inputs: bounded(*inputs, bound, indented), seeds=1) == {mistake}


def in_a_copy(scores, like=np.empty_like):
    weights = like(scores)
    weights[...] = first_steps.softmax(scores)
    return weights


def test_weights_in_a_copy_of_integer_scores_are_named():
    assert check("softmax", in_a_copy).mistake == "an array of integers"
    assert check("softmax", lambda scores: in_a_copy(scores, lambda scores: np.empty(scores.shape))).status == "passed"


def less_a_mean(query, key, value):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    weights = (scores - scores.mean(dim=-2, keepdim=True)).softmax(dim=-1)
    return weights @ value, weights


def of_the_last_row(x):
    weights = first_steps.softmax(x @ x.T)
    return np.array([weights[-1] @ x for _ in x]), weights


@pytest.mark.parametrize(
    ("name", "answer", "mistake", "unsaid"),
    [
        ("scaled_dot_product_attention", less_a_mean, "a mean subtracted", "before"),
        ("self_attention", of_the_last_row, "the last row everywhere", "all the rows are one"),
    ],
)
def test_what_has_several_causes_is_not_said_to_have_one(name, answer, mistake, unsaid):
    report = check(name, answer)
    assert report.mistake == mistake
    assert unsaid not in text(report)


def test_gradients_cleared_at_every_second_call_are_not_said_to_be_never_cleared():
    calls = []

    def step(model, optimizer, tokens):
        if len(calls) % 2 == 0:
            optimizer.zero_grad()
        calls.append(1)
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        return loss.item()

    report = check("training_step", step)
    assert report.mistake == "old gradients not cleared"
    assert "batches so far" not in text(report)


def test_leaks_at_every_second_place_and_features_averaged_are_named():
    def averaged(model, tokens):
        return leak_seen()(lambda ids: model(ids).mean(dim=-1), tokens)

    def every_second(model, tokens):
        before = model(tokens)
        return max(
            (model(one_more(tokens, place)) - before)[:, :place].abs().max().item()
            for place in range(1, tokens.shape[1], 2)
        )

    assert check("future_leak", averaged).mistake == "the mean change"
    assert check("future_leak", every_second).mistake == "every second place left out"


# Names for what had only a general verdict


def encoder(forward, **norms):
    """An EncoderLayer with this forward."""
    return layer(layers.EncoderLayer, lambda self, x, mask=None: forward(self, x, mask), **norms)


def decoder(forward, **norms):
    """A DecoderLayer with this forward."""
    return layer(
        layers.DecoderLayer,
        lambda self, x, memory, mask=None, memory_mask=None: forward(self, x, memory, mask, memory_mask),
        **norms,
    )


def layer(base, forward, heads=None, norm=nn.LayerNorm):
    class Layer(base):
        def __init__(self, d_model, num_heads, d_hidden):
            super().__init__(d_model, heads or num_heads, d_hidden)
            for name in [name for name, part in self.named_children() if isinstance(part, nn.LayerNorm)]:
                setattr(self, name, norm(d_model))

    Layer.forward = forward
    return Layer


def joined(join):
    """An encoder whose sums and norms are made so."""

    def forward(self, x, mask):
        x = join(x, lambda x: self.attention(x, x, x, mask)[0], self.norm_1)
        return join(x, self.feed_forward, self.norm_2)

    return encoder(forward)


def in_order(
    ask=lambda self, x, start, attended: x,
    add=lambda self, x, looked: x,
    read=lambda self, x, first, looked: x,
    memories=lambda x, memory: x,
    start=lambda self, x: x,
    end=lambda self, x: x,
):
    """A decoder that is right but for what is given."""

    def forward(self, x, memory, mask, memory_mask):
        x = start(self, x)
        both = memories(x, memory)
        attended = self.self_attention(x, both, both, mask if both is x else None)[0]
        first = self.norm_1(x + attended)
        looked = self.cross_attention(ask(self, first, x, attended), memory, memory, memory_mask)[0]
        second = self.norm_2(first + looked)
        return end(self, self.norm_3(add(self, second, looked) + self.feed_forward(read(self, second, first, looked))))

    return decoder(forward)


class ReadsTheSum(layers.EncoderLayer):
    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__(d_model, num_heads, d_hidden)

    def forward(self, x, mask=None):
        total = x + self.attention(x, x, x, mask)[0]
        return self.norm_2(self.norm_1(total) + self.feed_forward(total))


class SizesSwapped(layers.EncoderLayer):
    def __init__(self, d_model, d_hidden, num_heads):
        super().__init__(d_model, num_heads, d_hidden)


def encoder_right(self, x, mask):
    x = self.norm_1(x + self.attention(x, x, x, mask)[0])
    return self.norm_2(x + self.feed_forward(x))


def pre_norm_of_queries(self, x, mask):
    x = x + self.attention(self.norm_1(x), x, x, mask)[0]
    return x + self.feed_forward(self.norm_2(x))


def need_weights(self, x, mask):
    x = self.norm_1(x + self.attention(x, x, x, None, mask)[0])
    return self.norm_2(x + self.feed_forward(x))


class BatchNorm(nn.BatchNorm1d):
    def forward(self, x):
        return super().forward(x.mT).mT


class MasksBeforeTheMemory(layers.DecoderLayer):
    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__(d_model, num_heads, d_hidden)

    def forward(self, x, mask, memory=None, memory_mask=None):
        return super().forward(x, memory, mask, memory_mask)


def self_attention_that_only_asks(self, x, memory, mask, memory_mask):
    asking = self.norm_1(self.self_attention(x, x, x, mask)[0])
    x = self.norm_2(x + self.cross_attention(asking, memory, memory, memory_mask)[0])
    return self.norm_3(x + self.feed_forward(x))


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("EncoderLayer", encoder(pre_norm_of_queries), "only some of the attention's inputs normalised"),
        ("EncoderLayer", ReadsTheSum, "the feed-forward reads the sum before the norm"),
        ("EncoderLayer", SizesSwapped, "num_heads and d_hidden swapped"),
        ("EncoderLayer", encoder(encoder_right, heads=1), "the number of heads not handed on"),
        (
            "EncoderLayer",
            encoder(encoder_right, norm=lambda d_model: nn.LayerNorm(d_model, eps=1e-3)),
            "another epsilon in the norms",
        ),
        ("EncoderLayer", encoder(encoder_right, norm=BatchNorm), "another norm than nn.LayerNorm"),
        ("EncoderLayer", joined(lambda x, part, norm: norm(x) + norm(part(x))), "the norm before the sum"),
        ("EncoderLayer", encoder(need_weights), "the mask in another argument's place"),
        (
            "EncoderLayer",
            encoder(lambda self, x, mask: encoder_right(self, F.layer_norm(x, x.shape[-1:]), mask)),
            "a norm too many",
        ),
        ("EncoderLayer", joined(lambda x, part, norm: norm(norm(x + part(x)))), "a norm too many"),
        (
            "DecoderLayer",
            in_order(memories=lambda x, memory: torch.cat([memory, x], dim=1)),
            "the memory in the self-attention",
        ),
        ("DecoderLayer", in_order(start=lambda self, x: self.norm_1(x)), "a norm too many"),
        ("DecoderLayer", in_order(end=lambda self, x: self.norm_3(x)), "a norm too many"),
        ("DecoderLayer", in_order(ask=lambda self, first, x, attended: self.norm_2(first)), "a norm too many"),
        ("DecoderLayer", MasksBeforeTheMemory, "the memory taken for the mask"),
        ("DecoderLayer", in_order(add=lambda self, x, looked: looked), "an attention's output alone added"),
        (
            "DecoderLayer",
            in_order(read=lambda self, x, first, looked: first + looked),
            "the feed-forward reads too early an x",
        ),
        (
            "DecoderLayer",
            decoder(self_attention_that_only_asks),
            "no residual around the self-attention and the layer's input added again",
        ),
    ],
)
def test_layers_put_together_in_another_way_are_named(name, answer, mistake):
    assert check(name, answer).mistake == mistake


def sines_and_cosines(angles):
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def frequencies(d_model):
    return 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


def appended_to_zeros(length, d_model):
    return torch.cat([torch.zeros(1, d_model), positions.sinusoidal_encoding(length, d_model)])


def the_positions_counter_in_the_exponent(length, d_model):
    table = torch.zeros(length, d_model)
    for i in range(length):
        for k in range(0, d_model, 2):
            angle = i / np.float64(10000) ** (i / d_model)
            table[i, k], table[i, k + 1] = np.sin(angle), np.cos(angle)
    return table


def in_steps_of_one(length, d_model):
    table = torch.zeros(length, d_model)
    for place in range(length):
        for i in range(d_model - 1):
            angle = place / 10000 ** (i / d_model)
            table[place, i], table[place, i + 1] = np.sin(angle), np.cos(angle)
    return table


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (appended_to_zeros, "one position too many"),
        (
            lambda length, d_model: positions.sinusoidal_encoding(length, d_model).T.reshape(length, d_model),
            "columns reshaped into rows",
        ),
        (lambda length, d_model: torch.tensor(np.array([])), "one long row"),
        (lambda length, d_model: positions.sinusoidal_encoding(length, d_model).flatten(), "one long row"),
        (the_positions_counter_in_the_exponent, "the position in the exponent"),
        (lambda length, d_model: positions.sinusoidal_encoding(length, d_model).T, "a column for each position"),
        (
            lambda length, d_model: sines_and_cosines((torch.arange(length)[:, None] * frequencies(d_model)).cumsum(0)),
            "angles added up",
        ),
        (in_steps_of_one, "a loop over every column"),
        (
            lambda length, d_model: sines_and_cosines(torch.arange(length)[:, None] / 1e4 / frequencies(d_model)),
            "multiplied where it should be divided",
        ),
    ],
)
def test_tables_of_positions_filled_in_another_way_are_named(answer, mistake):
    assert check("sinusoidal_encoding", answer).mistake == mistake


def detector(
    places,
    change=lambda after, before: (after - before).abs(),
    single=False,
    just_before=False,
    other=lambda tokens: (tokens + 1) % (tokens.max() + 1),
):
    """A leak detector that is right but for what is given."""

    def future_leak(model, tokens):
        before, largest = model(tokens), 0.0
        for place in places(tokens.shape[1]):
            changed, end = tokens.clone(), place + 1 if single else None
            changed[:, place:end] = other(tokens)[:, place:end]
            seen = slice(place - 1 if just_before else 0, place)
            largest = max(largest, change(model(changed), before)[:, seen].max().item())
        return largest

    return future_leak


@pytest.mark.parametrize("first", [1, 2])
@pytest.mark.parametrize("style", [{}, {"single": True}, {"just_before": True}])
def test_every_second_place_is_too_few_in_each_style(first, style):
    answer = detector(lambda length: range(first, length, 2), **style)
    assert found("future_leak", answer) == {"every second place left out"}


def test_other_leak_detectors_are_called_what_they_are():
    def without_place_0(length):
        return range(1, length)

    relative = detector(without_place_0, lambda after, before: (after - before).abs() / before.abs())
    assert check("future_leak", relative).mistake == "a relative change"
    assert check("future_leak", detector(range)).mistake == "nothing to compare at place 0"
    ten = detector(without_place_0, other=lambda tokens: (tokens + 1) % 10)
    assert found("future_leak", ten) == {"an unknown id"}
    for part in (
        lambda output: output[..., :1],
        lambda output: output.argmax(-1, keepdim=True),
        lambda output: output.amax(dim=(1, 2), keepdim=True).expand(output.shape),
    ):
        partial = detector(without_place_0, lambda after, before, part=part: (part(after) - part(before)).abs())
        assert "is every number in them compared" in text(check("future_leak", partial))


def turn(
    angles_of=lambda positions, base, exponents: positions[:, None] / base**exponents,
    end=lambda a, b, c, s: pairs_of(a * c - b * s, a * s + b * c),
):
    """A rotation that is right but for what is given."""

    def rotate(x, positions, base=10000):
        angles = angles_of(positions, base, torch.arange(0, x.shape[-1], 2) / x.shape[-1])
        return end(x[..., 0::2], x[..., 1::2], angles.cos(), angles.sin())

    return rotate


def pairs_of(first, second):
    return torch.stack([first, second], dim=-1).flatten(-2)


def unpacked(x, positions, base=10000):
    _, _, _ = x.shape
    return turn()(x, positions, base)


def unpacked_with_heads(x, positions, base=10000):
    _, _, _, _ = x.shape
    return turn()(x, positions, base)


def first_half_turned(x, positions, base=10000):
    part = x.shape[-1] // 2 // 2 * 2
    return torch.cat([turn()(x[..., :part], positions, base), x[..., part:]], dim=-1)


def half_open(length):
    mask = torch.eye(length, dtype=torch.bool)
    for row in range(length):
        mask[row, 1 : row + 1] = True
    return mask


def every_second_row(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for row in range(0, length, 2):
        mask[row, : row + 1] = True
    return mask


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("rotate", unpacked, "works with one number of dimensions only"),
        ("rotate", unpacked_with_heads, "works with one number of dimensions only"),
        ("rotate", turn(end=lambda a, b, c, s: pairs_of(a * c + a * s, b * c + b * s)), "multiplied instead of turned"),
        (
            "rotate",
            turn(lambda positions, base, exponents: positions[:, None] // base**exponents),
            "rounded down by //",
        ),
        (
            "rotate",
            turn(lambda positions, base, exponents: positions.argsort().argsort()[:, None] / base**exponents),
            "positions counted anew",
        ),
        ("rotate", turn(end=lambda a, b, c, s: pairs_of(a * c - b * s, a * c - b * s)), "only the real parts"),
        ("rotate", first_half_turned, "only some of the pairs turned"),
        (
            "rotate",
            turn(lambda positions, base, exponents: positions[:, None] * base**exponents),
            "multiplied where it should be divided",
        ),
        ("causal_mask", lambda length: torch.ones(length, dtype=torch.bool), "a single row"),
        ("causal_mask", every_second_row, "every second row left empty"),
        ("causal_mask", half_open, "the first key left out"),
    ],
)
def test_turns_and_triangles_made_in_another_way_are_named(name, answer, mistake):
    assert check(name, answer).mistake == mistake


def training(
    loss=lambda logits, targets: F.cross_entropy(logits.mT, targets),
    returned=lambda loss, *_: loss.item(),
    moves=lambda calls: True,
):
    """A training step that is right but for what is given."""
    calls = []

    def step(model, optimizer, tokens):
        calls.append(1)
        logits, targets = model(tokens[:, :-1]), tokens[:, 1:]
        optimizer.zero_grad()
        (found := loss(logits, targets)).backward()
        result = returned(found, logits, targets, model, tokens)
        if moves(len(calls)):
            optimizer.step()
        return result

    return step


def loss_in_eval_mode(loss, logits, targets, model, tokens):
    with torch.no_grad():
        shown = F.cross_entropy(model.eval()(tokens[:, :-1]).mT, targets).item()
    model.train()
    return shown


def draws_otherwise(bound=None, change=lambda drawn, kept, logits: drawn, add=0):
    """The next token, but for what is given."""

    def sample_next(logits, temperature, top_k, generator):
        if temperature == 0:
            return logits.argmax(-1)
        scaled, kept = logits / temperature, logits.topk(top_k or logits.shape[-1]).indices
        if top_k is not None and bound:
            scaled = scaled.masked_fill(scaled < bound(scaled, top_k), -torch.inf)
        elif add:
            scaled = torch.full_like(scaled, -torch.inf).scatter(-1, kept, scaled.gather(-1, kept))
        drawn = torch.multinomial(scaled.softmax(-1), 1, generator=generator)[:, 0]
        return (change(drawn, kept, logits) + add).clamp(max=logits.shape[-1] - 1)

    return sample_next


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("training_step", training(returned=lambda loss, logits, *_: loss.item() * len(logits)), "a sum and a mean"),
        ("training_step", training(returned=loss_in_eval_mode), "another number than the loss"),
        (
            "training_step",
            training(returned=lambda loss, logits, targets, *_: (logits.argmax(-1) == targets).float().mean().item()),
            "another number than the loss",
        ),
        (
            "training_step",
            training(lambda logits, targets: F.cross_entropy(logits.mT / 2, targets)),
            "the logits scaled",
        ),
        (
            "training_step",
            training(
                lambda logits, targets: F.binary_cross_entropy_with_logits(
                    logits, F.one_hot(targets, logits.shape[-1]).to(logits.dtype)
                )
            ),
            "a binary cross-entropy",
        ),
        (
            "training_step",
            training(lambda logits, targets: -logits.softmax(-1).gather(-1, targets[..., None]).mean().log()),
            "the probability, not its logarithm",
        ),
        (
            "sample_next",
            draws_otherwise(
                change=lambda drawn, kept, logits: torch.where(
                    (kept == drawn[:, None]).any(-1), drawn, logits.argmax(-1)
                )
            ),
            "the top k after the softmax, not renormalised",
        ),
        ("sample_next", draws_otherwise(add=1), "ids counted from 1"),
    ],
)
def test_steps_and_draws_made_in_another_way_are_named(name, answer, mistake):
    assert check(name, answer).mistake == mistake


def test_a_step_at_every_second_call_only_is_named():
    calls = []

    def step(model, optimizer, tokens):
        calls.append(1)
        return training(moves=lambda _: len(calls) % 2 == 0)(model, optimizer, tokens)

    assert check("training_step", step).mistake == "a step at every second call only"


def norm_of(
    mean=lambda x: x.mean(-1, keepdim=True),
    count=lambda x: x.shape[-1],
    end=lambda x, mean, root, gain, bias: gain * (x - mean) / root + bias,
):
    """A layer norm that is right but for what is given."""

    def layer_norm(x, gain, bias, eps=1e-5):
        middle = mean(x)
        variance = ((x - middle) ** 2).sum(-1, keepdim=True) / count(x)
        return end(x, middle, (variance + eps).sqrt(), gain, bias)

    return layer_norm


def heads_joined(join=lambda self, heads: self.linear_out(attention.merge_heads(heads)), number=None):
    class MultiHeadAttention(attention.MultiHeadAttention):
        def __init__(self, d_model, num_heads):
            super().__init__(d_model, num_heads, dropout=0)
            self.num_heads = number or num_heads

        def forward(self, query, key, value):
            query, key, value = (
                attention.split_heads(layer(one), self.num_heads)
                for layer, one in ((self.linear_q, query), (self.linear_k, key), (self.linear_v, value))
            )
            output, weights = attention.scaled_dot_product_attention(query, key, value)
            return join(self, output), weights

    return MultiHeadAttention


def shift_from(matrix, block):
    """The 2 by 2 blocks, made by block from sines and cosines, written into a list of rows."""

    def shift_matrix(offset, d_model):
        rows = matrix(d_model)
        for i in range(0, d_model, 2):
            angle = offset / 10000 ** (i / d_model)
            (rows[i][i], rows[i][i + 1]), (rows[i + 1][i], rows[i + 1][i + 1]) = block(np.sin(angle), np.cos(angle))
        return torch.tensor(rows)

    return shift_matrix


def masked_by(fill=lambda scores: -torch.inf, fewest=0, cast=lambda scores: scores):
    """A masked softmax that is right but for what is given."""

    def masked_softmax(scores, mask):
        hidden = cast(scores).masked_fill(~mask, fill(scores)).softmax(-1).nan_to_num(0.0).to(scores) * mask
        return hidden * (mask.sum(-1, keepdim=True) > fewest)

    return masked_softmax


def as_exponentials(scores, mask):
    hidden = scores.masked_fill(~mask, -1e9)
    exponentials = (hidden - hidden.amax(-1, keepdim=True)).exp() * mask
    return exponentials / (exponentials.sum(-1, keepdim=True) + 1e-3)


def without_empty_rows(scores, mask):
    some = mask.expand_as(scores).any(-1)
    return scores[some].masked_fill(~mask.expand_as(scores)[some], -torch.inf).softmax(-1)


class KeysAskedTwice(first_steps.AttentionHead):
    def __init__(self, d_model, d_head):
        super().__init__(d_model, d_head)

    def forward(self, x):
        key = self.linear_k(x)
        return first_steps.attention(self.linear_q(key), key, self.linear_v(x))


def exponentials_of(scores):
    return np.exp(scores - scores.max(axis=-1, keepdims=True))


def divided_by_the_first_sum(scores):
    rows = exponentials_of(scores).reshape(-1, scores.shape[-1])
    return (rows / rows[0].sum()).reshape(scores.shape)


def divided_twice(scores):
    weights = exponentials_of(scores) / exponentials_of(scores).sum(-1, keepdims=True)
    return weights / weights.sum()


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        (
            "layer_norm",
            norm_of(mean=lambda x: x.flatten()[: x.shape[-1]].mean()),
            "the mean of the first vector for all",
        ),
        (
            "layer_norm",
            norm_of(mean=lambda x: x.sum(-1, keepdim=True) / x.shape[-2], count=lambda x: x.shape[-2]),
            "divided by the number of positions",
        ),
        (
            "layer_norm",
            norm_of(end=lambda x, mean, root, gain, bias: gain * x - mean / root + bias),
            "only the mean divided",
        ),
        (
            "layer_norm",
            norm_of(end=lambda x, mean, root, gain, bias: F.layer_norm(gain * (x - mean) / root + bias, x.shape[-1:])),
            "normalised twice",
        ),
        ("MultiHeadAttention", heads_joined(number=2), "a fixed number of heads"),
        (
            "MultiHeadAttention",
            heads_joined(lambda self, heads: attention.merge_heads(self.linear_out(heads))),
            "the features of one head for linear_out",
        ),
        (
            "MultiHeadAttention",
            heads_joined(lambda self, heads: self.linear_out(heads.transpose(1, 2).flatten(1))),
            "positions and features flattened together",
        ),
        ("masked_softmax", masked_by(lambda scores: scores.min().item() - 1), "a number too small"),
        (
            "masked_softmax",
            lambda scores, mask: masked_by()(scores, mask.unsqueeze(1)),
            "a dimension too many in the mask",
        ),
        ("masked_softmax", masked_by(fewest=1), "a row with one key taken for empty"),
        ("masked_softmax", masked_by(cast=torch.Tensor.half), "half precision"),
        ("masked_softmax", as_exponentials, "one more in the sum"),
        ("masked_softmax", without_empty_rows, "the empty rows left out"),
        ("AttentionHead", KeysAskedTwice, "the layers one after another"),
        (
            "shift_matrix",
            shift_from(lambda d: [[0.0] * d] * d, lambda s, c: ((c, s), (-s, c))),
            "the same row everywhere",
        ),
        ("shift_matrix", shift_from(lambda d: np.zeros((d, d)), lambda s, c: ((1, s), (-s, 1))), "only the sines"),
        (
            "shift_matrix",
            lambda offset, d_model: torch.block_diag([shift(offset, 2)] * (d_model // 2)),
            "a list for block_diag",
        ),
        ("softmax", divided_by_the_first_sum, "one row's sum for all"),
        ("softmax", divided_twice, "sum over everything"),
    ],
)
def test_other_steps_of_norms_heads_masks_and_shifts_are_named(name, answer, mistake):
    assert check(name, answer).mistake == mistake
