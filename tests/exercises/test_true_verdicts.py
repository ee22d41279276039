"""What a verdict says is true: of the learner's own shapes, and of the first wrong step.

The proof for steps: for every mistake made from named steps, and for pairs of them, the first wrong step is known by
running the steps themselves. With naming switched off, whatever is said of steps must agree with it.
"""

import math
import random
import re
from collections import Counter
from dataclasses import replace

import pytest
import torch
from drawn import draws
from reported import words_of
from torch import nn

from transformer_lessons import attention as finished
from transformer_lessons import first_steps, layers, masks
from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker import edits, verdict
from transformer_lessons.exercises.checker.agreement import Seen
from transformer_lessons.exercises.checker.comparison import close
from transformer_lessons.exercises.checker.draws import compare, inputs_for, make, same
from transformer_lessons.exercises.checker.edits import RETURN
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.steps import Trace, certain, made_ready, sentence_on_steps
from transformer_lessons.running.global_state import standard_state
from transformer_lessons.running.sandbox import attempt
from transformer_lessons.running.values import freeze

# Gradients: where a lesson trains through the function, they count; everywhere else nothing is said of them

TRAINED = {
    "attention": first_steps.attention,
    "scaled_dot_product_attention": finished.scaled_dot_product_attention,
    "masked_softmax": masks.masked_softmax,
}


def test_where_the_gradient_of_a_function_counts_the_contract_says_so():
    named = {name for name, one in EXERCISES.items() if one.gradients and not one.is_module}
    assert named >= set(TRAINED)
    assert "softmax" not in named
    assert [name for name in named if "gradients flow " not in " ".join(EXERCISES[name].contract.lower().split())] == []


# Shapes: those that a verdict calls the learner's are the learner's


SLIPS = {
    "transposed": lambda one: one.mT if one.ndim > 1 else one,
    "a dimension more": lambda one: one[None],
    "in NumPy": lambda one: one.numpy(),
    "in integers": lambda one: one.long(),
}


@pytest.mark.parametrize("name", ["split_heads", "merge_heads", "attention", "layer_norm"])
def test_a_shape_that_is_called_the_learners_is_the_learners(name):
    """For known mistakes, wrongly handed over."""
    exercise, found = EXERCISES[name], 0
    with standard_state():
        drawn = draws(name, 0)
        for slip in SLIPS.values():
            for _, variant in exercise.singles[:: 1 if "heads" in name else 40]:
                outcomes = [slipped(drawn.outcome(variant, number), slip) for number in range(len(drawn.cases))]
                if not all(one.ok for one in outcomes):
                    continue
                report = verdict.judge_outcomes(drawn, variant.answer, outcomes, attempt)
                shapes = {str(tuple(one.shape)) for outcome in outcomes for one in several(outcome.value)}
                said = [
                    *re.findall(r"` has shape (\([\d, ]*\));", words_of(report)),
                    *re.findall(r"of shape (\([\d, ]*\)); a tensor is expected", words_of(report)),
                    *re.findall(r"yours: \w+ (\([\d, ]*\))", words_of(report)),
                ]
                assert {one for one in said if one not in shapes} == set(), report.message
                found += len(said)
    assert found, "no shape was said"


def several(value):
    return value if isinstance(value, (tuple, list)) else [value]


def slipped(outcome, slip):
    if not outcome.ok:
        return outcome
    values = [slip(one) for one in several(outcome.value)]
    return replace(outcome, value=tuple(values) if isinstance(outcome.value, (tuple, list)) else values[0])


# The first wrong step: examples


def unnamed(name, answer):
    """The verdict with naming switched off. (`check` itself would put the name back before it begins.)"""
    exercise = EXERCISES[name]
    with standard_state(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(verdict, "diagnose", lambda *known: None)
        return verdict.judge(exercise, answer, draws(name, 0), run=attempt)


class MultiHead(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.linear_q, self.linear_k, self.linear_v, self.linear_out = (nn.Linear(d_model, d_model) for _ in range(4))

    def projected(self, query, key, value):
        return self.linear_q(query), self.linear_k(key), self.linear_v(value)

    def forward(self, query, key, value):
        query, key, value = (finished.split_heads(one, self.num_heads) for one in self.projected(query, key, value))
        output, weights = first_steps.attention(query / math.sqrt(query.shape[-1]), key, value)
        return self.linear_out(finished.merge_heads(output)), weights


class ReluOnProjections(MultiHead):
    def projected(self, query, key, value):
        return tuple(one.relu() for one in super().projected(query, key, value))


class ReluOnQueries(MultiHead):
    def projected(self, query, key, value):
        query, key, value = super().projected(query, key, value)
        return query.relu(), key, value


class OneMapForAll(MultiHead):
    def projected(self, query, key, value):
        return self.linear_k(query), self.linear_k(key), self.linear_k(value)


class WrongQuery(layers.DecoderLayer):
    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__(d_model, num_heads, d_hidden, dropout=0.0)

    def forward(self, x, memory, mask=None, memory_mask=None):
        first = self.norm_1(x + self.self_attention(x, x, x, mask)[0])
        second = self.norm_2(first + self.cross_attention(x, memory, memory, memory_mask)[0])
        return self.norm_3(second + self.feed_forward(second))


def top_k_first(logits, temperature, top_k, generator):
    if temperature == 0:
        return logits.argmax(-1)
    if top_k is not None:
        logits = logits.masked_fill(logits < logits.topk(top_k).values[:, -1:], -torch.inf)
    chances = (logits / temperature).softmax(-1).sqrt()  # this is what is wrong
    return torch.multinomial(chances, 1, generator=generator)[:, 0]


STEPS = "right up to `", "first wrong step", "very first step"


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("MultiHeadAttention", ReluOnProjections),
        ("MultiHeadAttention", ReluOnQueries),
        ("sample_next", top_k_first),
        ("DecoderLayer", WrongQuery),
    ],
)
def test_where_the_first_wrong_step_is_not_certain_nothing_is_said(name, answer):
    report = unnamed(name, answer)
    assert report.status == "failed"
    assert not any(phrase in words_of(report) for phrase in (*STEPS, "never used"))


def test_a_layer_that_is_never_used_is_named_with_the_first_step_that_needs_it():
    said = words_of(unnamed("MultiHeadAttention", OneMapForAll))
    assert "`linear_q` and `linear_v` are never used. The very first step, `projected_q`, is already wrong." in said


class NoLookUpWithoutAMask(layers.DecoderLayer):
    def forward(self, x, memory, mask=None, memory_mask=None):
        x = self.norm_1(x + self.attend(x, mask))
        if memory_mask is not None:
            x = self.norm_2(x + self.look_up(x, memory, memory_mask))
        return self.norm_3(x + self.feed_forward(x))


def test_a_layer_that_is_used_in_some_calls_is_not_called_unused():
    assert "never used" not in words_of(unnamed("DecoderLayer", NoLookUpWithoutAMask))


def capped_at_50(query, key, value):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    weights = (50 * torch.tanh(scores / 50)).softmax(-1)
    return weights @ value, weights


def test_a_result_that_is_only_nearly_right_is_not_called_right():
    assert "`output` is right" not in words_of(unnamed("scaled_dot_product_attention", capped_at_50))


def by_d(query, key, value):
    weights = (query @ key.mT / query.shape[-1]).softmax(-1)
    return weights @ value, weights


def in_place(query, key, value):
    scores = query @ key.mT
    scores /= query.shape[-1]
    weights = scores.softmax(-1)
    return weights @ value, weights


def by_way_of_numpy(query, key, value):
    scores = torch.from_numpy((query @ key.mT).numpy() * 1.0)
    weights = (scores / query.shape[-1]).softmax(-1)
    return weights @ value, weights


def query_by_d(query, key, value):
    return first_steps.attention(query / query.shape[-1], key, value)


def scores_moved(query, key, value):
    """Two operations on the scores: which of them is not the scale, and which is wrong?"""
    weights = (1.5 * (query @ key.mT) / math.sqrt(query.shape[-1])).softmax(-1)
    return weights @ value, weights


def test_where_it_is_certain_the_first_wrong_step_is_said():
    name = "scaled_dot_product_attention"
    assert "Everything is right up to `scores`; the first wrong step is `scaled`." in words_of(unnamed(name, by_d))


@pytest.mark.parametrize("answer", [in_place, by_way_of_numpy, query_by_d, scores_moved])
def test_where_the_way_of_the_numbers_is_not_clear_nothing_is_said_of_steps(answer):
    assert not any(phrase in words_of(unnamed("scaled_dot_product_attention", answer)) for phrase in STEPS)


def test_what_goes_into_a_call_by_its_name_is_traced_as_well():
    one, other = torch.ones(2), torch.zeros(2)
    with Trace() as trace:
        torch.add(one, other=other)
    assert [id(given) for given in trace.calls[0].given] == [id(one), id(other)]


def test_each_tensor_on_the_way_to_a_result_is_looked_up_once_however_often_it_is_used():
    start, looked_up = torch.ones(2), []

    def known(tensor):
        looked_up.append(tensor)
        return 7 if tensor is start else None

    with Trace() as trace:
        result = start
        for _ in range(12):
            result = result + result
    assert trace.sources(result, known) == {7}
    assert len(looked_up) == 13


# The first wrong step: the proof

NAMED = [name for name, one in EXERCISES.items() if one.setup.names_steps and not one.setup.observe]
SPEAKING = [
    "attention",
    "AttentionHead",
    "scaled_dot_product_attention",
    "split_heads",
    "MultiHeadAttention",
    "layer_norm",
    "FeedForward",
    "EncoderLayer",
    "DecoderLayer",
]
PAIRS = 12  # of each exercise, drawn anew for each draw
MANY = 200  # as many with --exhaustive=N, drawn by N, on five draws that nobody has seen


@pytest.mark.parametrize("name", NAMED)
def test_what_is_said_of_steps_is_true(name, request):
    exercise, false, spoken = EXERCISES[name], [], []
    base = request.config.getoption("exhaustive")
    seeds = random.Random(base).sample(range(5, 10**6), 5) if base else range(5)
    with standard_state():
        for turn, seed in enumerate(seeds):
            drawn = draws(name, seed)
            tried = every_mistake_and_many_pairs(exercise, seed) if base else variants_of(exercise, seed, spoken)
            for mistakes, variant in tried:
                sentence = said_of_steps(exercise, drawn, variant)
                if turn == 0 and sentence:
                    spoken.append((mistakes, variant))
                if not is_true(exercise, drawn, variant, sentence):
                    false.append(f"draw {seed}: {' and '.join(one.name for one in mistakes)}: {sentence}")
    assert not false, "\n".join(false)
    assert spoken or name not in SPEAKING, "it never says anything"


def stepped(exercise):
    return [one for one in exercise.singles if one[1].names]


def some(pairs, most, seed):
    return random.Random(seed).sample(pairs, min(most, len(pairs)))


def every_mistake_and_many_pairs(exercise, seed):
    return [*stepped(exercise), *some(exercise.pairs, MANY, seed)]


def variants_of(exercise, seed, spoken):
    """A part of what is made from named steps; after draw 0 mostly those of which something was said."""
    singles, pairs = stepped(exercise), some(exercise.pairs, PAIRS, seed)
    singles = singles[::2] if len(singles) > 100 else singles
    return [*singles, *pairs] if seed == 0 else [*spoken[seed % 5 :: 5], *pairs[:2]]


def said_of_steps(exercise, drawn, variant):
    outcomes = [drawn.outcome(variant, number) for number in range(len(drawn.cases))]
    differences = [
        compare(exercise, one.value, expected) if one.ok else None
        for one, expected in zip(outcomes, drawn.expected, strict=True)
    ]
    return sentence_on_steps(Seen(drawn, variant.answer, outcomes, differences, attempt))


def is_true(exercise, drawn, variant, sentence):
    unused = re.match(r"(.*?) (?:is|are) never used\.", sentence)
    if unused and not all(
        has_no_influence(exercise, drawn, variant, layer) for layer in re.findall(r"`(\w+)`", unused[1])
    ):
        return False
    step = re.search(
        r"Everything is right up to `(\w+)`; the first wrong step is `(\w+)`\.|"
        r"The very first step, `(\w+)`, is already wrong\.",
        sentence,
    )
    if step is None:
        return not any(phrase in sentence for phrase in STEPS)
    return true_first_step(exercise, drawn, variant) == ((step[1], step[2]) if step[2] else (None, step[3]))


def true_first_step(exercise, drawn, variant):
    """(the step before, the first step whose result differs from the right one or is missing), over all cases."""
    places = []
    for number in range(len(drawn.cases)):
        right, ours = (recorded(drawn, one, number) for one in (exercise.right, variant))
        turns = Counter()
        for place, (name, result) in enumerate(right):
            mine = [one for step, one in ours if step == name][turns[name] : turns[name] + 1]
            turns[name] += 1
            if not mine or not agree(mine[0], result):
                places.append((place, right[place - 1][0] if place else None, name))
                break
    return min(places, key=lambda one: one[0])[1:] if places else None


def recorded(drawn, answer, number):
    """[(name, value)]: what each line of an answer sets, in order, until it raises."""
    record: list = []
    inputs = inputs_for(drawn, drawn.cases[number])
    noting = edits.recording(answer, record)
    attempt(lambda: made_ready(drawn, noting, number, answer.keeps_layers)(*inputs))
    return [(name, freeze(value)) for name, value in record if name != RETURN]


def agree(one, other):
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(agree, one, other))
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape == other.shape and close(one, other, 2e-5)
    if isinstance(one, nn.Module) and isinstance(other, nn.Module):
        return all(map(torch.equal, one.parameters(), other.parameters()))
    return type(one) is type(other) and one == other


def has_no_influence(exercise, drawn, variant, layer):
    """Whatever stands in the weights of a layer, the result is the same."""
    for case in drawn.cases:
        results = []
        for change in (0.0, 1.7):
            module = make(exercise, variant.answer, case, drawn.dtype, inputs_for(drawn, case))
            for one in module.get_submodule(layer).parameters():
                one.data += change
            results.append(attempt(lambda module=module, case=case: freeze(module(*inputs_for(drawn, case)))))
        if results[0].ok and not same(exercise, results[1].value, results[0].value):
            return False
    return True


@pytest.mark.parametrize("name", NAMED)
def test_looking_for_the_first_wrong_step_raises_nothing(name):
    """A fault in there would only look like nothing to say."""
    exercise = EXERCISES[name]
    with standard_state():
        drawn = draws(name, 0)
        for _, variant in exercise.singles[::7]:
            for number in range(len(drawn.cases)):
                if drawn.outcome(variant, number).ok:
                    certain(drawn, variant.answer, number)


# Two mistakes at once


class ReluAndTheWholeWidth(ReluOnProjections):
    def forward(self, query, key, value):
        query, key, value = (finished.split_heads(one, self.num_heads) for one in self.projected(query, key, value))
        scale = math.sqrt(self.num_heads * query.shape[-1])
        output, weights = first_steps.attention(query / scale, key, value)
        return self.linear_out(finished.merge_heads(output)), weights


def test_two_mistakes_in_any_variants_are_found_by_the_step_that_shows():
    exercise = EXERCISES["MultiHeadAttention"]
    names = {"a ReLU on the projections", "scaled by √d_model"}
    assert set(check(exercise.name, ReluAndTheWholeWidth).mistake.split(" and ")) == names


# Checks: what fails one for another reason than a mistake on the page does not get that mistake's name


def right(name):
    return EXERCISES[name].right.answer


def with_a_limit(x, gain, bias, eps=1e-5):
    return right("layer_norm")(x.clamp(-5000, 5000), gain, bias, eps)


def without_a_first_token(query, keys, values, new_key, new_value):
    output, *cache = right("attend_with_cache")(query, keys, values, new_key, new_value)
    return (0 * output if query.shape[2] == 1 and not keys.shape[2] else output, *cache)


def twice_a_single_score(blocks):
    return right("online_softmax")(blocks) * (2 if sum(block.numel() for block in blocks) == 1 else 1)


def drawn_for_ones(query, key, value, block):
    """Two thirds of an own value, but only where every value is 1."""
    return right("tiled_attention")(query, key, value, block) * (2 / 3 if bool((value == 1).all()) else 1)


class OtherInTraining(first_steps.AttentionHead):
    def forward(self, x):
        output, weights = super().forward(x)
        return output + self.training, weights


def with_ids_below_0(model, tokens):
    return right("future_leak")(model, torch.where(tokens == 0, -1, tokens) if tokens.max() == 1 else tokens)


def too_large(length):
    return right("causal_mask")(length if length < 1000 else length + 1)


def with_an_index_error(model, tokens):
    return right("future_leak")(model, tokens) if tokens.max() > 1 else [0.0][tokens.shape[1]]


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("layer_norm", with_a_limit, "not right for a large mean"),
        ("attend_with_cache", without_a_first_token, "not right for a single score"),
        ("online_softmax", twice_a_single_score, "not right for a single score"),
        ("tiled_attention", drawn_for_ones, "not right for a single score"),
        ("AttentionHead", OtherInTraining, "another result in training mode"),
        ("future_leak", with_ids_below_0, "an unknown id"),
        ("future_leak", with_an_index_error, "raises an error"),
        ("causal_mask", too_large, "a mask of another size"),
    ],
)
def test_what_fails_a_check_for_another_reason_does_not_get_a_mistakes_name(name, answer, mistake):
    report = check(name, answer)
    assert (report.status, report.mistake) == ("failed", mistake)
    if answer is with_ids_below_0:
        assert "replaced by -1" in words_of(report)
