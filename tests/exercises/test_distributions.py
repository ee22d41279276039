"""What is random is compared by its distribution: right answers pass, however they draw."""

import inspect
import math
import re
import types

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from transformer_lessons.exercises import catalogue, check
from transformer_lessons.exercises.catalogue.sample_next import GROUPS, SURELY_RANDOM, in_tens
from transformer_lessons.exercises.checker import distributions
from transformer_lessons.exercises.checker.distributions import (
    DRAWS,
    LIMIT,
    Chances,
    frequencies,
    same_distribution,
    surprise,
)
from transformer_lessons.exercises.checker.drawn_tokens import exact_on_pages, is_on_a_page
from transformer_lessons.exercises.checker.registry import EXERCISES, file_of

SEEDS = range(20)
sample_next = EXERCISES["sample_next"]


def tables(seed):
    """The exact distributions of one set of draws, small batches too, with their temperatures.

    They are what the page's own answer gives, and what a softmax gives that is written down here once more.
    """
    for case in sample_next.cases(seed):
        logits, temperature, top_k, generator = case.inputs
        large = len(logits) > DRAWS
        rows = logits[:GROUPS] if large else logits
        with exact_on_pages(sample_next.right.answer):
            drawn = sample_next.right.answer(rows, temperature, top_k, generator)
        certain = temperature == 0
        table = F.one_hot(drawn, logits.shape[1]).double().as_subclass(Chances) if certain else drawn.chances
        assert isinstance(table, Chances)
        torch.testing.assert_close(distributions.plain(table), softmax_of_the_largest(rows, temperature, top_k))
        yield in_tens(table, logits.shape[1]) if large else table, large, temperature


def softmax_of_the_largest(rows, temperature, top_k):
    """The chances of each token, from the definition: a temperature of 0 gives all of it to the largest logit."""
    exponents = (rows - rows.max(dim=-1, keepdim=True).values) / (temperature or 1e-12)
    rank = rows.argsort(descending=True).argsort()
    weights = torch.where(rank < (top_k or rows.shape[1]), exponents.exp(), 0.0)
    return weights / weights.sum(dim=-1, keepdim=True)


def binomial(n, p):
    """The probabilities of 0, 1, … n successes."""
    k = np.arange(n + 1)
    logarithms = np.array([math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in k])
    return np.exp(logarithms + k * np.log(p) + (n - k) * np.log1p(-p))


def surprises(n, p):
    """n · KL(q, p) for q = 0, 1/n, … 1."""
    q = np.arange(n + 1) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        return n * sum(np.where(a > 0, a * np.log(a / b), 0.0) for a, b in ((q, p), (1 - q, 1 - p)))


# --- a right answer is rejected less than once in a million runs --------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_a_right_answer_is_rejected_less_than_once_in_a_million_runs(seed):
    rejected = 0.0
    for table, large, temperature in tables(seed):
        chances = distributions.plain(table).numpy()
        if not large:  # a token that is not the likeliest: then another one than expected is drawn
            rejected += float((1 - chances.max(axis=1)).sum())
            continue
        for p in chances[(chances > 0) & (chances < 1)]:  # each frequency, on both sides, summed exactly
            rejected += float(binomial(DRAWS, p)[surprises(DRAWS, p) >= LIMIT].sum())
        if temperature >= SURELY_RANDOM:  # two different draws of 60 tokens that happen to be the same
            rejected += float((chances**2).sum(axis=1).prod() ** 30)
    assert rejected < 1e-6


@pytest.mark.parametrize("p", [0.001, 0.03, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("limit", [1.0, 3.0, 6.0, 20.0])
def test_chernoffs_bound_holds_for_this_many_draws(p, limit):
    q, tail = np.arange(DRAWS + 1) / DRAWS, surprises(DRAWS, p) >= limit
    for side in (q > p, q < p):
        assert binomial(DRAWS, p)[tail & side].sum() <= math.exp(-limit)


def test_the_calculation_in_the_text_covers_what_a_check_compares():
    large = [
        size for size in sample_next.setup.sizes if size["batch"] > DRAWS and size["temperature"] and size["top_k"] != 1
    ]  # elsewhere one token is certain
    columns = [in_tens(torch.ones(1, size["vocabulary"]), size["vocabulary"]).shape[1] for size in large]
    compared = GROUPS * (sum(columns) + max(columns))  # one case is drawn once more
    assert compared < 100
    assert 100 * 2 * math.exp(-LIMIT) < 4.2e-7


def test_an_answer_draws_as_many_tokens_of_each_distribution_as_is_counted_on():
    for case in sample_next.cases(0):
        logits = case.inputs[0]
        if len(logits) > DRAWS:
            assert len(logits) == GROUPS * DRAWS
            assert logits.reshape(DRAWS, GROUPS, -1).eq(logits[:GROUPS]).all()


def test_frequencies_of_right_draws_stay_below_the_limit_and_come_near_it_as_seldom_as_the_bound_says():
    generator = torch.Generator().manual_seed(1)
    table = next(table for table, large, temperature in tables(0) if large and temperature)
    chances = distributions.plain(table)
    found = []
    for _ in range(400):
        tokens = torch.multinomial(chances, DRAWS, replacement=True, generator=generator).T
        found.append(surprise(frequencies(tokens, GROUPS, chances.shape[1]), table))
    found = np.array(found)
    assert found.max() < LIMIT
    for limit in (3.0, 4.0, 5.0):
        assert (found >= limit).mean() <= 2 * chances.numel() * math.exp(-limit)
    assert np.median(found) > 0.5  # the draws differ: this is no test of nothing


def test_the_limit_of_a_frequency_is_so_many_standard_deviations_where_the_numbers_are_large():
    half = torch.full((1, 2), 0.5).double()
    off = half + distributions.DEVIATIONS * 0.5 / DRAWS**0.5 * torch.tensor([1, -1])
    assert surprise(off, half) == pytest.approx(LIMIT, rel=0.02)


def test_a_random_answer_is_judged_by_its_distribution(declare):
    def share_of_heads(call, logits, generator):
        return torch.stack([call(logits, generator) for _ in range(40)]).double().mean()

    declare(
        "def coins(logits, generator): ...",
        lambda generator: (torch.zeros(200), torch.Generator().manual_seed(3)),
        lambda logits, generator: torch.bernoulli(logits.sigmoid(), generator=generator),
        observe=share_of_heads,
        same=lambda one, other: abs(one - other) < 0.05,
        right="def coins(logits, generator):\n    drawn = torch.bernoulli(logits.sigmoid())\n    return drawn",
        mistakes=[("always heads", "It never draws.", "what is random?", "drawn = torch.ones(200)")],
    )
    assert check("coins", lambda logits, generator: (torch.rand(200) < 0.5).float()).status == "passed"
    assert check("coins", lambda logits, generator: (logits > -1).float()).mistake == "always heads"
    assert check("coins", lambda logits, generator: torch.zeros(200)).status == "failed"


# --- what agrees with what ----------------------------------------------------------------------------------


def table(*rows, exact=True):
    numbers = torch.tensor(rows, dtype=torch.float64)
    return numbers.as_subclass(Chances) if exact else numbers


def test_what_is_impossible_must_not_happen_even_once():
    once = table([1 / DRAWS, 1 - 1 / DRAWS], exact=False)
    assert surprise(once, table([0.0, 1.0])) == math.inf
    assert not same_distribution(once, table([0.0, 1.0]))
    assert same_distribution(table([0.0, 1.0], exact=False), table([0.0, 1.0]))


def test_frequencies_agree_with_chances_within_the_limit():
    assert same_distribution(table([0.52, 0.48], exact=False), table([0.5, 0.5]))
    assert not same_distribution(table([0.6, 0.4], exact=False), table([0.5, 0.5]))
    assert not same_distribution(table([0.5, 0.5]), table([0.6, 0.4], exact=False))


def test_chances_are_the_same_unless_draws_can_surely_tell_them_apart():
    assert same_distribution(table([0.6, 0.4]), table([0.5, 0.5]))
    assert not same_distribution(table([0.7, 0.3]), table([0.5, 0.5]))


def test_tables_of_other_shapes_never_agree():
    assert not same_distribution(table([0.5, 0.5]), table([0.5, 0.5, 0.0]))


# --- signs --------------------------------------------------------------------------------------------------


def texts_of(function):
    """The texts that stand in a function and in those of the catalogue that it calls: (module, text)."""
    functions, found = [function], set()
    for one in functions:  # grows on the way, and so do the next two
        space, codes = one.__globals__, [one.__code__]
        for code in codes:
            values = [*code.co_consts, *(space.get(name) for name in code.co_names)]
            for value in values:
                if isinstance(value, tuple):
                    values.extend(value)
                elif isinstance(value, types.CodeType):
                    codes.append(value)
                elif isinstance(value, str) and value != one.__doc__:
                    found.add((one.__module__, value))
                elif inspect.isfunction(value) and ".catalogue." in value.__module__ and value not in functions:
                    functions.append(value)
    return found


@pytest.mark.parametrize("finds", ["signs", "solves"])
def test_every_sign_is_of_a_declared_mistake(finds):
    setups = {one: function for one in EXERCISES.values() if (function := getattr(one.setup, finds)) is not None}
    assert len(setups) > 5
    of_module = {f"{catalogue.__name__}.{file_of(name)}": set(EXERCISES[name].mistakes) for name in EXERCISES}
    anyone = set().union(*of_module.values())  # what a module that is no exercise's own may name
    for exercise, function in setups.items():
        own, texts = set(exercise.mistakes), texts_of(function)
        assert own & {text for _, text in texts}
        for module, text in texts:  # a function that two exercises share may name what only one of them has
            assert not re.search(r"\w \w", text) or text in own | of_module.get(module, anyone), exercise.name


def accepted_or_redrawn(p, q, token, u):
    left = (p - q).clamp(min=0)
    new = torch.multinomial(torch.where(left.sum(-1, keepdim=True) > 0, left, p), 1)[:, 0]
    return torch.where(u < (p.gather(1, token[:, None]) / q.gather(1, token[:, None]))[:, 0], token, new)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda ids: ids[:, None], "`tokens` has shape (3, 1); one id for each row, (batch,), is expected."),
        (lambda ids: ids[:-1], "`tokens` has 2 ids, which is not one for each row."),
        (lambda ids: ids.double(), "`tokens` holds float64; token ids should be int64."),
        (lambda ids: ids.tolist(), "`tokens` is a list of 3; a tensor of token ids is expected."),
        (lambda ids: ids.numpy(), "`tokens` is a NumPy array of int64 of shape (3,); a tensor of"),
        (lambda ids: 2 * ids + 1, "`tokens` holds an id that belongs to no token: ids go from 0 to 3."),
        (lambda ids: ids - 3, "`tokens` holds an id that belongs to no token: ids go from 0 to 3."),
        (lambda ids: ids + ids % 2, "`tokens` holds an id that belongs to no token: ids go from 0 to 3."),
    ],
)
def test_ids_of_a_wrong_kind_are_compared_with_ids_and_not_with_probabilities(change, sentence):
    assert check("speculate", accepted_or_redrawn).status == "passed"
    report = check("speculate", lambda *inputs: change(accepted_or_redrawn(*inputs)))
    assert sentence in " ".join(report.message.split())
    assert "float64 is expected" not in report.message


# --- what is no frequency agrees with nothing ---------------------------------------------------------------


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, -0.2, 1.2])
def test_a_table_with_a_number_that_is_no_frequency_agrees_with_no_distribution(wrong):
    expected = torch.tensor([[0.5, 0.5], [0.2, 0.8]]).as_subclass(Chances)
    assert same_distribution(torch.tensor([[0.5, 0.5], [0.2, 0.8]]), expected)
    for observed in (torch.tensor([[0.5, 0.5], [0.2, wrong]]), torch.full((2, 2), wrong)):
        assert not same_distribution(observed, expected)
        assert surprise(observed, expected) == math.inf


@pytest.mark.parametrize("name", ["sample_next", "speculate"])
def test_a_table_of_nan_in_place_of_tokens_does_not_pass(name):
    def answer(first, *rest):
        groups = GROUPS if name == "sample_next" else 6
        if len(first) <= groups * 100:
            return solution(first, *rest)
        return torch.full((groups, first.shape[1]), math.nan)

    space = {}
    exec(EXERCISES[name].solution_text(), space)
    solution = space[name]
    assert check(name, answer).status == "failed"


def test_an_answer_on_a_page_is_known_by_where_it_was_made_and_not_by_a_files_name():
    made = {}
    exec(compile("def sample_next(logits): ...", "<sample_next>", "exec"), made)
    assert not is_on_a_page(made["sample_next"])
    assert is_on_a_page(sample_next.right.answer)
