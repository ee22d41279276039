"""What the questions claim, computed: for each question a proof that knows nothing of its declaration.

A proof of a number or a shape returns the right value, then the value of each slip, in the order of their
declaration. One of a choice returns each letter and whether it is right; one of a free text asserts what the
model answer says.
"""

import re
from functools import reduce
from itertools import pairwise, product
from math import e, exp, log, prod, sqrt

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

PROOFS = {}


def proves(number):
    def declare(proof):
        assert number not in PROOFS, number
        PROOFS[number] = proof
        return proof

    return declare


def draws(seed=0):
    return torch.Generator().manual_seed(seed)


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=draws(seed))


def attention(query, key, value, mask=None, scale=1.0):
    scores = query @ key.mT / scale
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(-1)
    return weights @ value, weights


def self_attention(x):
    return attention(x, x, x)


def causal(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


def same(one, other):
    return one.shape == other.shape and torch.allclose(one, other, atol=1e-9)


def raises(call, error=RuntimeError):
    try:
        call()
    except error:
        return True
    return False


def softmax(*scores):
    return torch.tensor(scores, dtype=torch.float64).softmax(0).tolist()


def parameters(*modules):
    return sum(p.numel() for module in modules for p in module.parameters())


def linear(n, m):
    return nn.Linear(n, m, device="meta")


def feed_forward(d_model=512, d_hidden=2048):
    return nn.Sequential(linear(d_model, d_hidden), nn.ReLU(), linear(d_hidden, d_model))


# Lesson 1


@proves("1.1")
def an_average_weighs_each_value():
    weights, values = np.array([0.5, 0.25, 0.25]), np.array([2, 8, 4])
    return [weights @ values, values.sum(), values.mean(), weights @ values / 3]


@proves("1.2")
def the_best_match_of_a_vector_need_not_be_itself():
    query = np.array([1, 2])
    keys = {"a": (1, 2), "b": (2, 1), "c": (3, 3), "d": (-2, -4)}
    products = {letter: query @ key for letter, key in keys.items()}
    assert list(products.values()) == [5, 4, 9, -10]
    return {letter: products[letter] == max(products.values()) for letter in products}


@proves("1.3")
def softmax_turns_differences_into_ratios():
    scores = np.array([0, log(3)])
    first, second = softmax(*scores)
    assert np.isclose(second / first, exp(scores[1] - scores[0]))
    return [second, first, exp(scores[1]), scores[1] / scores.sum(), softmax(1, 1)[1]]


@proves("1.4")
def softmax_does_not_see_a_constant():
    scores = normal(6)
    before, after = scores.softmax(0), (scores + 100).softmax(0)
    assert (2 * scores).softmax(0).max() > before.max()  # multiplying sharpens
    return {
        "a": same(before, after),
        "b": bool(after.max() > before.max() + 1e-9),
        "c": bool(after.max() < before.max() - 1e-9),
        "d": not np.isclose(after.sum(), 1),
    }


@proves("1.5")
def a_difference_of_3_is_a_ratio_of_e_cubed():
    for scores in ([0, 3], [-2, 1], [5, 8, 4]):
        weights = softmax(*scores)
        assert np.isclose(weights[1] / weights[0], exp(3))
    return [exp(3), 3, 3 * e, 10**3]


@proves("1.6")
def weights_compare_tokens_with_tokens():
    x = normal(10, 5)
    _, weights = self_attention(x)
    return [weights.shape, (x.mT @ x).shape, x.shape, x.mT.shape, weights[0].shape]


@proves("1.7")
def every_row_of_weights_sums_to_one_and_nothing_else_is_certain():
    tables = [self_attention(normal(5, 3, seed=seed))[1] for seed in range(20)]
    assert all(same(x @ x.T, (x @ x.T).T) for x in [normal(5, 3)])
    assert any((table.sum(0) > 1).any() for table in tables)
    return {
        "a": all(torch.allclose(table.sum(0), torch.ones(5).double()) for table in tables),
        "b": all((table >= 0).all() for table in tables),
        "c": all(same(table, table.T) for table in tables),
        "d": all((table.argmax(1) == torch.arange(5)).all() for table in tables),
        "e": all(torch.allclose(table.sum(1), torch.ones(5).double()) for table in tables),
    }


@proves("1.8")
def a_shuffle_of_the_inputs_shuffles_the_outputs():
    x = normal(10, 5)
    order = torch.tensor([3, 1, 2, 0, 4, 5, 9, 7, 8, 6])
    stayed = order == torch.arange(10)
    before, after = self_attention(x)[0], self_attention(x[order])[0]
    found = [any(same(new, old) for old in before) for new in after]
    return {
        "a": same(after, before),
        "b": same(after, before[order]),
        "c": not any(found),
        "d": not any(found[i] for i in range(10) if not stayed[i]),
    }


@proves("1.9")
def dog_gets_the_same_output_in_both_sentences():
    dog, bites, man = normal(3, 4)
    sentences = torch.stack([dog, bites, man]), torch.stack([man, bites, dog])
    one, other = (self_attention(sentence)[0] for sentence in sentences)
    assert same(one[0], other[2])
    one, other = (self_attention(sentence + normal(3, 4, seed=1))[0] for sentence in sentences)
    assert not same(one[0], other[2])


# Lesson 2


@proves("2.1")
def a_look_up_blends():
    keys, values = torch.eye(2).double(), torch.tensor([[10.0], [30.0]]).double()
    query = torch.ones(1, 2).double()
    output, weights = attention(query, keys, values)
    assert same(weights, torch.full((1, 2), 0.5).double())
    dictionary = {(1, 0): 10, (0, 1): 30}
    return [output.item(), 10, 30, (query @ keys.mT @ values).item(), dictionary.get((1, 1), 0)]


@proves("2.2")
def large_scores_look_up_one_entry():
    keys, values = torch.eye(2).double(), torch.tensor([[10.0], [30.0]]).double()
    query = torch.tensor([[1, 0.9]]).double()
    before, after = attention(query, keys, values)[0].item(), attention(100 * query, keys, values)[0].item()
    assert np.isclose(attention(100 * query, keys, values)[1][0, 1].item(), exp(-10), atol=5e-6)
    assert round(exp(-10), 5) == 0.00005
    shifted = attention(query, keys, values)[1], (query @ keys.mT + 1000).softmax(-1)
    assert same(*shifted)  # it is the gap that counts, not the size of the scores
    return {
        "a": abs(after - before) < 1,
        "b": 10 <= after < 10.01,
        "c": 50 < after / before < 200,
        "d": np.isclose(after, 20),
    }


@proves("2.3")
def an_output_for_each_query_as_wide_as_a_value():
    query, key, value = normal(4, 7, 16), normal(4, 9, 16), normal(4, 9, 32)
    output, weights = attention(query, key, value)
    return [output.shape, weights.shape, query.shape, value.shape, key.shape]


@proves("2.4")
def queries_fit_keys_and_keys_fit_values():
    def fails(query, key, value):
        return raises(lambda: attention(normal(*query), normal(*key), normal(*value)))

    assert not fails((3, 4), (5, 4), (5, 6))
    return {
        "a": fails((3, 4), (5, 4), (5, 6)),
        "b": fails((3, 4), (5, 6), (5, 6)),
        "c": fails((3, 4), (5, 4), (5, 4)),
        "d": fails((3, 4), (5, 4), (6, 4)),
    }


@proves("2.5")
def softmax_over_the_queries_gives_no_averages():
    scores = normal(1, 6, 6) + torch.linspace(-3, 3, 6)[:, None]  # the last query scores high everywhere
    right, wrong = scores.softmax(-1), scores.softmax(-2)
    rows = wrong.sum(-1)
    symmetric = scores + scores.mT
    assert not same(symmetric.softmax(-2), symmetric.softmax(-1))
    assert same(symmetric.softmax(-2), symmetric.softmax(-1).mT)
    assert same(wrong.sum(-2), torch.ones(1, 6).double())
    return {
        "a": same(rows, torch.ones(1, 6).double()),
        "b": wrong.shape != scores.shape,
        "c": bool((rows > 2).any() and (rows < 0.1).any()),
        "d": same(right, wrong),
    }


@proves("2.6")
def one_matrix_makes_the_scores_symmetric():
    x, w = normal(6, 5), normal(5, 4, seed=1)
    scores = (x @ w) @ (x @ w).T
    weights = scores.softmax(-1)
    target = -torch.eye(5).double()  # W_Q W_Kᵀ of two matrices, and of no single one
    assert same(torch.eye(5).double() @ (-torch.eye(5).double()).T, target)
    reachable = bool((torch.linalg.eigvalsh(target) >= 0).all())
    assert (torch.linalg.eigvalsh(w @ w.T) > -1e-9).all()
    return {
        "a": same(weights, weights.T),
        "b": bool((weights.argmax(1) == torch.arange(6)).all()),
        "c": reachable,
        "d": same(scores, scores.T),
    }


@proves("2.7")
def keys_wider_than_the_model_add_no_scores():
    x, w_q, w_k, w_v = normal(6, 8), normal(8, 20, seed=1), normal(8, 20, seed=2), normal(8, 3, seed=3)
    scores = (x @ w_q) @ (x @ w_k).T
    narrow_q, narrow_k = w_q @ w_k.T, torch.eye(8).double()  # d_k = 8, for any table that d_k = 20 gives
    reached = same((x @ narrow_q) @ (x @ narrow_k).T, scores)
    assert torch.linalg.matrix_rank(w_q @ w_k.T) == 8
    return {
        "a": reached,
        "b": raises(lambda: attention(x @ w_q, x @ w_k, x @ w_v)),
        "c": attention(x @ w_q, x @ w_k, x @ w_v)[0].shape[-1] == 20,
        "d": not reached,
    }


@proves("2.8")
def other_ways_to_score():
    q, k = normal(3, 4), normal(5, 6)
    w, a, b, v = normal(4, 6), normal(4, 7), normal(6, 7), normal(7)
    ways = {
        "a": lambda q, k: q @ k,
        "b": lambda q, k: q @ w @ k,
        "c": lambda q, k: q @ k / q.norm() / k.norm(),
        "d": lambda q, k: torch.tanh(q @ a + k @ b) @ v,
        "e": lambda q, k: -((q - k) ** 2).sum(),
    }

    def scores(way):
        return torch.stack([torch.stack([way(one, other) for other in k]) for one in q])

    works = {letter: not raises(lambda way=way: scores(way)) for letter, way in ways.items()}
    assert all(scores(way).shape == (3, 5) for letter, way in ways.items() if works[letter])
    w_q, w_k = normal(4, 2), normal(6, 2)  # the two maps of a head are a W, of rank 2 at most
    assert same((q @ w_q) @ (k @ w_k).T, q @ (w_q @ w_k.T) @ k.T)
    assert torch.linalg.matrix_rank(w_q @ w_k.T) == 2
    return works


@proves("2.9")
def n_queries_and_m_keys_give_n_outputs():
    n, m, d_k, d_v = 3, 5, 4, 6
    output, weights = attention(normal(n, d_k), normal(m, d_k), normal(m, d_v))
    assert weights.shape == (n, m)
    assert output.shape == (n, d_v)
    assert same(weights.sum(-1), torch.ones(n).double())


@proves("2.10")
def any_number_for_each_pair_gives_weights():
    q, k, table = normal(3, 4), normal(10, 4, seed=1), normal(3, 10, seed=2)
    assert same(table.softmax(-1).sum(-1), torch.ones(3).double())  # any numbers
    assert raises(lambda: q * k)  # no pairs
    x = normal(10, 4)
    assert (x * k).shape == (10, 4)
    assert (x.mT @ k).shape == (4, 4)  # features
    assert e / (e + 9 * exp(-1)) < 0.5  # cosine: 1 for one key, -1 for nine
    hidden = ((q @ normal(4, 7))[:, None] + (k @ normal(4, 7, seed=3))[None]).tanh()
    assert hidden.shape == (3, 10, 7)  # additive: a tanh for each hidden feature of every pair
    cosine = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).T
    distance = -((q[:, None] - k[None]) ** 2).sum(-1)
    assert same(distance.softmax(-1), (2 * q @ k.T - (k**2).sum(-1)).softmax(-1))
    assert cosine.abs().max() <= 1
    assert cosine.softmax(-1).max() < 0.5


# Lesson 3


@proves("3.1")
def the_variance_of_a_dot_product_is_d():
    one_product = {}  # entries are ±1: mean 0, variance 1
    for a, b in product((-1, 1), repeat=2):
        one_product[a * b] = one_product.get(a * b, 0) + 1 / 4

    def variance(distribution):
        mean = sum(x * p for x, p in distribution.items())
        return sum((x - mean) ** 2 * p for x, p in distribution.items())

    def added(one, other):
        total = {}
        for (x, p), (y, r) in product(one.items(), other.items()):
            total[x + y] = total.get(x + y, 0) + p * r
        return total

    of_64 = reduce(added, [one_product] * 64)
    doubled = reduce(added, [added(one_product, one_product)] * 64)  # as if one product had variance 1 + 1
    all_equal = {64 * x: p for x, p in one_product.items()}
    return [
        variance(of_64),
        sqrt(variance(of_64)),
        variance(one_product),
        variance(doubled),
        variance(all_equal),
    ]


@proves("3.2")
def a_dot_product_has_a_cosine_too():
    x, y = normal(5000, 64, seed=1), normal(5000, 64, seed=2)
    lengths, dots = x.norm(dim=-1) * y.norm(dim=-1), (x * y).sum(dim=-1)
    assert abs((dots / lengths).std() - 1 / 8) < 0.01
    assert abs(x.square().mean() - 1) < 0.01
    return {
        "a": bool(abs(x.norm(dim=-1).mean() - 8) > 0.2),
        "b": bool(dots.abs().mean() < 0.2 * lengths.mean()),
        "c": not np.isclose(sqrt(64) * sqrt(64), 64),
    }


@proves("3.3")
def the_scale_keeps_the_second_key_in_play():
    unscaled, scaled, by_d = softmax(8, 0), softmax(8 / sqrt(64), 0), softmax(8 / 64, 0)
    assert round(unscaled[0], 4) == 0.9997
    return [scaled[0], unscaled[0], scaled[1], by_d[0]]


@proves("3.4")
def the_slope_of_softmax_is_largest_in_the_middle():
    def slope(w):
        scores = torch.tensor([log(w / (1 - w)), 0], dtype=torch.float64, requires_grad=True)
        return torch.autograd.grad(scores.softmax(0)[0], scores)[0][0].item()

    slopes = {"a": slope(0.9997), "b": slope(0.5), "c": slope(0.0003)}
    assert np.isclose(slopes["b"], 0.25)
    assert round(slopes["a"], 4) == 0.0003
    assert np.isclose(slopes["a"], slopes["c"])
    assert all(np.isclose(slope(w), w * (1 - w)) for w in (0.1, 0.3, 0.8))
    largest = max(slope(w) for w in np.linspace(0.001, 0.999, 101))
    at_largest = {letter: bool(np.isclose(s, largest)) for letter, s in slopes.items()}
    return {**at_largest, "d": all(at_largest.values())}


def find_yourself(initial_weight=None):
    """Whether each query of four heads without scaling starts saturated, and ends on its own key.

    With initial_weight, a constant is added to the score of its own key, which starts with this weight.
    """
    started, ended = [], []
    for seed in range(0, 40, 10):
        x, value = normal(16, 256, seed=seed).float(), normal(16, 8, seed=seed + 1).float()
        linear_q, linear_k = ((normal(256, 256, seed=seed + k).float() / 16).requires_grad_() for k in (2, 3))
        optimizer, extra = torch.optim.Adam([linear_q, linear_k], lr=0.001), 0.0
        if initial_weight is not None:
            scores = ((x @ linear_q) @ (x @ linear_k).T).detach()
            others = scores.clone().fill_diagonal_(-torch.inf).logsumexp(dim=-1)
            extra = torch.diag(others + log(initial_weight / (1 - initial_weight)) - scores.diagonal())
        for step in range(100):
            weights = ((x @ linear_q) @ (x @ linear_k).T + extra).softmax(dim=-1)
            if step == 0:
                started.append(weights.amax(dim=-1) > 0.95)
                assert initial_weight is None or torch.allclose(
                    weights.diagonal(), torch.tensor(initial_weight), rtol=0.01
                )
            optimizer.zero_grad()
            F.mse_loss(weights @ value, value).backward()
            optimizer.step()
        ended.append(weights.argmax(dim=-1) == torch.arange(16))
    return torch.cat(started), torch.cat(ended)


def hardly_half_or_nearly(share):
    return {"a": bool(share < 0.25), "b": bool(0.4 < share < 0.6), "c": bool(share > 0.9)}


@proves("3.5")
def undecided_queries_without_weight_on_their_own_keys_learn_little():
    saturated, found = find_yourself()
    assert 0.2 < (~saturated).double().mean() < 0.45
    return hardly_half_or_nearly(found[~saturated].double().mean())


@proves("3.6")
def saturated_queries_with_a_little_weight_on_their_own_keys_learn():
    saturated, found = find_yourself(initial_weight=0.01)
    assert saturated.double().mean() > 0.5
    return hardly_half_or_nearly(found[saturated].double().mean())


@proves("3.7")
def dividing_by_d_makes_the_weights_nearly_equal():
    query, key = normal(500, 1, 64, seed=1), normal(500, 16, 64, seed=2)
    by_root, by_d = (attention(query, key, key, scale=scale)[1] for scale in (8, 64))
    scores = query @ key.mT / 64
    assert abs(scores.std().item() - 1 / 8) < 0.01
    assert abs((scores < 0).double().mean() - 0.5) < 0.05
    assert (attention(query, key, key)[1].max(-1).values > 0.9).double().mean() > 0.5  # no scale: saturated
    return {
        "a": np.isclose(by_root.std().item(), by_d.std().item(), rtol=0.5),
        "b": bool((by_d.max(-1).values > 0.9).any()),
        "c": bool((by_d < 0).any()),
        "d": bool((by_d.std(-1) / by_d.mean(-1)).mean() < 0.2),
    }


@proves("3.8")
def the_length_does_not_change_a_score():
    def variance(length):
        return (normal(2000, 1, 16, seed=1) @ normal(2000, length, 16, seed=2).mT).var().item()

    ratio = variance(20) / variance(10)
    short, long = normal(10).softmax(0), normal(20).softmax(0)
    assert long.mean() < short.mean()
    return {"a": abs(ratio - 2) < 0.1, "b": abs(ratio - 0.5) < 0.1, "c": abs(ratio - 1) < 0.1}


@proves("3.9")
def the_scale_brings_the_variance_to_one_at_any_width():
    for d in (16, 64, 256):
        scores = normal(1000, 1, d, seed=1) @ normal(1000, 8, d, seed=2).mT
        assert abs(scores.var() / d - 1) < 0.1
        assert abs((scores / sqrt(d)).var() - 1) < 0.1
        assert abs((scores / d).var() * d - 1) < 0.1
        equal = (scores / d).softmax(-1)
        assert (equal.std(-1) / equal.mean(-1)).mean() < 2 / sqrt(d)  # the weights start nearly equal

    x, value = normal(16, 256, seed=1), normal(16, 8, seed=3)
    query, key = x @ normal(256, 256, seed=2) / 16, x @ normal(256, 256, seed=4) / 16
    own = {}  # the median weight of each query's own key, and the median gradient of its score
    for scale in (1, 16):
        scores = (query @ key.T / scale).requires_grad_()
        weights = scores.softmax(dim=-1)
        F.mse_loss(weights @ value, value).backward()
        own[scale] = [table.diagonal().abs().median().item() for table in (weights, scores.grad)]
    assert max(own[1]) < 1e-6
    assert min(own[16]) > 1e-3
    slopes = attention(normal(2000, 1, 256, seed=1), normal(2000, 16, 256, seed=2), normal(2000, 16, 1))[1]
    slopes = (slopes * (1 - slopes)).sum(-1) / (15 / 16)
    assert slopes.median() < 0.02


# Lesson 4


@proves("4.1")
def an_average_forgets_who_said_what():
    def mixed(values):
        return np.array([0.5, 0.5]) @ values

    pairs = zip("abcd", [(6, 2), (3, 9), (4, 4), (2, 8)], strict=True)
    assert mixed((3, 9)) == 6
    assert mixed((2, 8)) == 5
    assert (np.eye(2) @ (2, 6) != np.eye(2) @ (6, 2)).all()  # two heads, one on each token
    return {letter: mixed(pair) == mixed((2, 6)) for letter, pair in pairs}


def heads_of(x, num_heads):
    batch, length, d_model = x.shape
    return x.view(batch, length, num_heads, d_model // num_heads).transpose(1, 2)


@proves("4.2")
def the_width_of_a_head_sets_the_scale():
    d_head = heads_of(torch.zeros(1, 60, 1024), 4).shape[-1]
    return [sqrt(d_head), sqrt(1024), d_head, sqrt(60)]


@proves("4.3")
def view_alone_scrambles():
    x = torch.arange(8).view(1, 2, 4)
    assert heads_of(x, 2)[0, 0].tolist() == [[0, 1], [4, 5]]
    head = x.view(1, 2, 2, 2)[0, 0].tolist()
    candidates = {"a": [[0, 1], [2, 3]], "b": [[0, 1], [4, 5]], "c": [[0, 2], [4, 6]]}
    return {
        **{letter: head == candidate for letter, candidate in candidates.items()},
        "d": raises(lambda: x.view(1, 2, 2, 2)),
    }


@proves("4.4")
def merging_without_the_transpose_shows_the_future():
    heads = normal(1, 2, 4, 3).requires_grad_()
    row = heads.reshape(1, 4, 6)[0, 0]
    row.sum().backward()
    assert heads.grad.abs().sum() > 0
    both = torch.cat([heads[0, 0, 0], heads[0, 1, 0]])
    assert same(heads.transpose(1, 2).reshape(1, 4, 6)[0, 0], both)

    x = normal(1, 4, 6)
    changed = x.clone()
    changed[0, 1] += 1  # the future of token 0
    mask = causal(4)
    outputs = [attention(*[heads_of(y, 2)] * 3, mask)[0] for y in (x, changed)]
    leaky = [output.reshape(1, 4, 6)[0, 0] for output in outputs]
    clean = [output.transpose(1, 2).reshape(1, 4, 6)[0, 0] for output in outputs]
    assert not same(*leaky)
    assert same(*clean)
    return {
        "a": same(row, both),
        "b": same(row, heads[0, :, 0].mean(0).repeat(2)),
        "c": same(row, torch.cat([heads[0, 0, 0], heads[0, 0, 1]])),
        "d": same(row, torch.cat([heads[0, 0, 0], heads[0, 0, 0]])),
    }


@proves("4.5")
def every_head_has_a_table_of_its_own():
    x = torch.randn(1, 60, 512, generator=draws())
    heads = heads_of(x, 8)
    _, weights = attention(heads, heads, heads)
    _, one = attention(x, x, x)
    features = heads.mT @ heads
    return [weights.shape, one.shape, weights[0].shape, heads.shape, features.shape, x.shape]


@proves("4.6")
def pytorch_averages_the_weights_over_the_heads():
    module = nn.MultiheadAttention(512, 8, batch_first=True)
    x = torch.randn(1, 60, 512, generator=draws())
    output, weights = module(x, x, x)
    _, every = module(x, x, x, average_attn_weights=False)
    assert torch.allclose(every.mean(1), weights, atol=1e-6)
    return [weights.shape, every.shape, every[0].shape, weights[0].shape, output.shape]


@proves("4.7")
def the_number_of_heads_costs_no_parameters():
    one = linear(512, 512)
    attention_of = {heads: nn.MultiheadAttention(512, heads, device="meta") for heads in (1, 8, 16)}
    assert len({parameters(module) for module in attention_of.values()}) == 1
    assert parameters(attention_of[8]) == 1_050_624
    return [
        parameters(attention_of[8]),
        4 * one.weight.numel(),
        parameters(one) * 3,
        parameters(one),
        8 * parameters(attention_of[8]),
        8 * parameters(one),
    ]


@proves("4.8")
def twice_as_many_heads_have_twice_as_many_weights():
    def facts(num_heads):
        module = nn.MultiheadAttention(512, num_heads, batch_first=True)
        x = torch.randn(1, 10, 512, generator=draws())
        _, weights = module(x, x, x, average_attn_weights=False)
        d_head = 512 // num_heads
        return {
            "a": parameters(module),
            "b": weights.numel() * d_head,  # each score takes d_head multiplications
            "c": d_head,
            "d": weights.numel(),
        }

    before, after = facts(8), facts(16)
    assert before["c"] == 64
    assert after["c"] == 32
    return {letter: after[letter] == 2 * before[letter] for letter in before}


@proves("4.9")
def a_narrow_head_compares_at_most_d_head_features():
    for num_heads in (1, 2, 4):
        d_head = 16 // num_heads
        assert torch.linalg.matrix_rank(normal(16, d_head, seed=1) @ normal(16, d_head, seed=2).T) == d_head
        assert parameters(nn.MultiheadAttention(16, num_heads)) == parameters(nn.MultiheadAttention(16, 1))
    one, other = torch.tensor([2.0, 6]), torch.tensor([6.0, 2])
    even, uneven = torch.tensor([0.5, 0.5]), torch.tensor([0.7, 0.3])
    assert even @ one == even @ other  # one average: one sum
    two_blends = torch.stack([even, uneven])
    for values in (one, other):  # two averages: two equations, which a linear map solves
        assert torch.allclose(torch.linalg.inv(two_blends) @ (two_blends @ values), values, atol=1e-5)


# Lesson 5


def sinusoids(length, d_model, base=10000):
    positions = torch.arange(length).double()[:, None]
    frequencies = base ** (-torch.arange(0, d_model, 2).double() / d_model)
    table = torch.empty(length, d_model).double()
    table[:, 0::2], table[:, 1::2] = torch.sin(positions * frequencies), torch.cos(positions * frequencies)
    return table


@proves("5.1")
def without_positions_both_sentences_are_one():
    dog, bites, man = normal(3, 4)
    same_for_all_maps = []
    for seed in range(5):
        maps = normal(3, 4, 4, seed=seed)
        first = attention(*(torch.stack([dog, bites, man]) @ w for w in maps))[0]
        second = attention(*(torch.stack([man, bites, dog]) @ w for w in maps))[0]
        same_for_all_maps.append(same(first[0], second[2]))
        swapped = same(second[2], first[2])
    return {
        "a": not any(same_for_all_maps),
        "b": swapped,
        "c": all(same_for_all_maps),
        "d": len(set(same_for_all_maps)) == 2,
    }


@proves("5.2")
def every_position_has_the_same_length():
    table = sinusoids(100, 512)
    squared = (table**2).sum(-1)
    assert torch.allclose(squared, squared[0])
    pair = (table[7, :2] ** 2).sum()
    return [squared[7].item(), table.shape[1], pair.item(), table[7].norm().item()]


@proves("5.3")
def dot_products_of_positions_depend_on_the_distance():
    table = sinusoids(30, 64)
    products = table @ table.T
    pairs = {"a": (10, 14), "b": (3, 8), "c": (0, 21), "d": (5, 5)}
    assert np.isclose(products[5, 5], 64 / 2)
    assert products.argmax(1).equal(torch.arange(30))
    return {letter: bool(np.isclose(products[pair], products[3, 7])) for letter, pair in pairs.items()}


@proves("5.4")
def a_shift_is_a_rotation():
    table = sinusoids(40, 16)
    angles = 5 * 10000 ** (-torch.arange(0, 16, 2).double() / 16)
    blocks = [torch.tensor([[a.cos(), a.sin()], [-a.sin(), a.cos()]]) for a in angles]
    matrix = torch.block_diag(*blocks)
    serves_all = same(table[:-5] @ matrix.T, table[5:])
    assert same(matrix.T @ matrix, torch.eye(16).double())  # a rotation
    back = same(table[5:] @ matrix, table[:-5])  # by its transpose
    return {"a": not serves_all, "b": serves_all and back, "c": serves_all and not back, "d": not serves_all}


@proves("5.5")
def the_factor_makes_the_embedding_as_long_as_its_position():
    embeddings = normal(2000, 512) / sqrt(512)
    scaled, position = embeddings * sqrt(512), sinusoids(1, 512)[0]

    def length(x):
        return x.norm(dim=-1).mean().item()

    default = nn.Embedding(2000, 512)
    assert abs(length(default.weight.detach()) - sqrt(512)) < 0.5
    assert np.isclose(length(position), 16)
    return {
        "a": abs((scaled[::2] * scaled[1::2]).sum(-1).var().item() - 1) < 0.5,
        "b": sqrt(512) == sqrt(512 // 8),
        "c": abs(length(embeddings) - 1) < 0.1 and 22 < length(scaled) < 23.5,
        "d": abs(length(scaled + position) - 1) < 0.1,
    }


@proves("5.6")
def a_learned_table_ends():
    table = nn.Embedding(64, 8)
    ends = raises(lambda: table(torch.tensor(64)), IndexError)
    assert not raises(lambda: table(torch.tensor(63)))
    return {"a": not ends, "b": not ends, "c": not ends, "d": ends}


def rotated(x, position, base=10000):
    frequencies = base ** (-torch.arange(0, len(x), 2).double() / len(x))
    a, b = x[0::2], x[1::2]
    cos, sin = torch.cos(position * frequencies), torch.sin(position * frequencies)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten()


@proves("5.7")
def rotary_scores_depend_on_the_distance():
    scores = []
    for seed in range(5):
        q, k = normal(2, 8, seed=seed)
        near, far = rotated(q, 3) @ rotated(k, 7), rotated(q, 103) @ rotated(k, 107)
        assert np.isclose(rotated(q, 103).norm(), q.norm())
        assert not np.isclose(near, rotated(q, 3) @ rotated(k, 8))  # another distance, another score
        scores.append((near.item(), far.item()))
    return {
        "a": all(np.isclose(near, far) for near, far in scores),
        "b": all(far < near - 1e-9 for near, far in scores),
        "c": all(np.isclose(far, 100 * near) for near, far in scores),
        "d": not all(np.isclose(near, far) for near, far in scores),
    }


@proves("5.8")
def the_first_token_has_a_long_way_to_go():
    inputs, start = torch.zeros(100).double(), torch.ones(1, requires_grad=True, dtype=torch.float64)
    states = [start]
    for x in inputs:
        states.append(0.5 * states[-1] + x)  # each step of the recurrence halves the gradient

    def steps(since):
        return round(-np.log2(torch.autograd.grad(states[-1], states[since], retain_graph=True)[0].item()))

    return [steps(since=1), steps(since=0), None, steps(since=100)]


def lstm_gradients(length):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        lstm = nn.LSTM(8, 8, batch_first=True)
    x = torch.randn(1, length, 8, generator=draws()).requires_grad_()
    lstm(x)[0][0, -1].norm().backward()
    return x.grad[0].norm(dim=-1)


def attention_gradients(length):
    x = torch.randn(length, 8, generator=draws()).requires_grad_()
    w_q, w_k, w_v = torch.randn(3, 8, 8, generator=draws(1)) / sqrt(8)
    attention(x @ w_q, x @ w_k, x @ w_v, scale=sqrt(8))[0][-1].norm().backward()
    return x.grad.norm(dim=-1)


@proves("5.9")
def attention_is_parallel_and_direct_and_quadratic():
    x = normal(6, 4)
    together = self_attention(x)[0]
    one_by_one = torch.cat([attention(x[i : i + 1], x, x)[0] for i in (4, 0, 5, 2, 1, 3)])
    parallel = same(one_by_one, together[[4, 0, 5, 2, 1, 3]])  # in any order: no position waits
    scores = {length: self_attention(normal(length, 4))[1].numel() for length in (10, 20)}
    changed = x.clone()
    changed[0] += 1
    direct = not same(self_attention(changed)[0][-1], together[-1])
    order = torch.tensor([3, 1, 2, 0, 4, 5])
    next_output = [attention(y, y, y, causal(6))[0][1] for y in (x, changed)]  # depends on what came before
    assert scores[20] == 4 * scores[10]
    return {
        "a": parallel,
        "b": scores[20] / scores[10] < 2,
        "c": direct,
        "d": not same(self_attention(x[order])[0], together[order]),
        "e": same(*next_output),
    }


@proves("5.10")
def two_i_twice_makes_the_slow_hands_slower():
    frequencies = {}
    for i in range(0, 8, 2):
        frequencies[i] = 10000 ** (-2 * i / 8)
    right = 10000 ** (-6 / 8)
    assert np.isclose(right / frequencies[6], 1000)
    return [frequencies[6], right, frequencies[4], 10000 ** (-2 * 8 / 8)]


@proves("5.11")
def gradients_fade_in_an_lstm_and_not_in_attention():
    recurrent, direct = lstm_gradients(100), attention_gradients(100)
    assert recurrent[0] < 1e-6 * recurrent[-1]
    assert direct[:-1].max() < 1e4 * direct[:-1].min()
    state = nn.LSTM(8, 8, batch_first=True)(torch.zeros(1, 50, 8))[1][0]
    assert state.shape == nn.LSTM(8, 8, batch_first=True)(torch.zeros(1, 100, 8))[1][0].shape


@proves("5.12")
def order_and_direction_come_from_outside_the_formula():
    x, order = normal(6, 4), torch.tensor([3, 1, 2, 0, 4, 5])
    assert same(self_attention(x[order])[0], self_attention(x)[0][order])
    positions = sinusoids(6, 4)
    assert not same(self_attention(x[order] + positions)[0], self_attention(x + positions)[0][order])
    changed = x.clone()
    changed[-1] += 1
    before, after = attention(x, x, x, causal(6))[0], attention(changed, changed, changed, causal(6))[0]
    assert same(before[:-1], after[:-1])
    assert not same(before[-1], after[-1])


# Lesson 6


@proves("6.1")
def a_causal_mask_is_half_a_table_and_the_diagonal():
    mask = causal(6)
    strict = mask & ~torch.eye(6, dtype=torch.bool)
    assert strict.sum() == (~mask).sum()  # without the diagonal, or hidden: 15 either way
    return [mask.sum().item(), strict.sum().item(), mask.numel(), mask.diagonal().sum().item()]


@proves("6.2")
def the_first_token_sees_itself():
    rows = [attention(*[normal(4, 3, seed=seed)] * 3, causal(4))[1][0] for seed in range(5)]
    wanted = {"b": [0.25] * 4, "c": [1, 0, 0, 0], "d": [0] * 4}
    return {
        "a": not all(same(row, rows[0]) for row in rows),
        **{letter: all(row.tolist() == wish for row in rows) for letter, wish in wanted.items()},
    }


@proves("6.3")
def a_mask_after_the_softmax_leaves_rows_below_one():
    scores, mask = torch.zeros(4, 4).double(), causal(4)
    late = (scores.softmax(-1) * mask).sum(-1)
    early = scores.masked_fill(~mask, -torch.inf).softmax(-1).sum(-1)
    scores[1, 3] = 2  # a hidden key still has a say
    assert not np.isclose((scores.softmax(-1) * mask)[1, 0], 0.25)
    return [late[1].item(), early[1].item(), late[0].item(), late[2].item()]


@proves("6.4")
def a_score_of_zero_forbids_nothing():
    scores, mask = np.array([0.0, 0.0, 5.0]), np.array([1, 1, 0])
    multiplied = scores * mask
    masked = softmax(0, 0, -np.inf)
    assert masked[2] == 0
    return [softmax(*multiplied)[2], multiplied[2], softmax(*scores)[2], masked[0]]


@proves("6.5")
def a_padding_mask_hides_keys_of_each_sentence():
    tokens = torch.tensor([[1] * 7, [1] * 5 + [0] * 2, [1] * 3 + [0] * 4])
    real = tokens != 0
    weights = torch.zeros(3, 2, 7, 7)
    mask = real[:, None, None, :]
    wide = mask.expand(3, 2, 7, 7)
    assert not wide[1, 0, 0, 6]
    assert not wide[2, 1, 6, 3]
    assert wide[1, 0, 6, 0]  # padding as a query may look at real tokens
    on_queries = real[:, None, :, None]
    assert on_queries.expand(3, 2, 7, 7)[1, 0, 0, 6]  # and so does not hide the key
    assert raises(lambda: weights.masked_fill(~real, 0))  # (3, 7): the 3 meets the 7 queries
    repeated = mask.expand(3, 1, 7, 7)
    assert (repeated == repeated[:, :, :1]).all()
    assert raises(lambda: weights.masked_fill(~repeated[:, 0], 0))  # (3, 7, 7): the 3 meets the 2 heads
    return [mask.shape, real.shape, on_queries.shape, repeated.shape, repeated[:, 0].shape, mask[:1].shape]


@proves("6.6")
def padding_changes_nothing_at_the_real_tokens():
    x, padding = normal(5, 4), normal(3, 4, seed=1)
    padded = torch.cat([x, padding])
    mask = torch.tensor([True] * 5 + [False] * 3)
    output, weights = attention(padded, padded, padded, mask)
    plain = self_attention(x)[0]
    assert weights[:, 5:].abs().max() == 0
    loss = F.cross_entropy(normal(8, 3), torch.tensor([0, 1, 2, 0, 1, 0, 0, 0]))
    ignored = F.cross_entropy(normal(8, 3), torch.tensor([0, 1, 2, 0, 1, -1, -1, -1]), ignore_index=-1)
    return {
        "a": same(output[:5], plain),
        "b": bool((output[5:] == 0).all()),
        "c": not same(output[:5], plain),
        "d": bool(torch.isclose(loss, ignored)),
    }


@proves("6.7")
def nothing_allowed_is_not_a_number():
    row = torch.full((4,), -torch.inf).requires_grad_()
    result = row.softmax(0)
    result[0].backward()
    assert row.grad.isnan().all()
    assert torch.full((4,), -1e9).softmax(0).tolist() == [0.25] * 4
    return {
        "a": result.tolist() == [0] * 4,
        "b": bool(result.isnan().all()),
        "c": result.tolist() == [0.25] * 4,
        "d": raises(lambda: row.softmax(0)),
    }


@proves("6.8")
def true_means_hide_in_multihead_attention():
    module = nn.MultiheadAttention(8, 2, batch_first=True)
    x = torch.randn(1, 4, 8, generator=draws())
    keep = causal(4)
    output, weights = module(x, x, x, attn_mask=keep)
    assert output[0, -1].isnan().all()
    seen = weights[0] > 0
    assert (module(x, x, x, attn_mask=~keep)[1][0] > 0).equal(keep)  # the way out
    assert not module(x, x, x, attn_mask=keep, need_weights=False)[0].isnan().any()  # silent
    q = normal(1, 1, 4, 4)
    assert same(F.scaled_dot_product_attention(q, q, q, attn_mask=keep), attention(q, q, q, keep, scale=2)[0])
    return {
        "a": seen.equal(keep),
        "b": bool(seen.all()),
        "c": not seen.any(),
        "d": seen[:-1].equal(~keep[:-1]) and bool(weights[0, -1].isnan().all()),
    }


@proves("6.9")
def random_digits_cost_ln_ten():
    honest = F.cross_entropy(torch.zeros(10, 10).double(), torch.arange(10))
    for logits in normal(50, 10):  # any other guess is worse, on average over the digits
        assert F.cross_entropy(logits.expand(10, 10), torch.arange(10)) > honest
    seeing = F.cross_entropy(1000 * torch.eye(10).double(), torch.arange(10))
    half = (honest + seeing) / 2
    all_seven = torch.stack([honest] * 3 + [seeing] * 4).mean()  # nobody asks for the very first digit
    in_bits = honest / log(2)
    return [value.item() for value in (honest, seeing, half, all_seven, in_bits, torch.exp(-honest))]


@proves("6.10")
def nobody_foresees_random_digits():
    assert round(exp(-0.4), 2) == 0.67
    assert log(10) / 2 > 0.4  # far below
    guesses = torch.randint(10, (2, 100_000), generator=draws())
    lucky = (guesses[0] == guesses[1]).view(-1, 500).double().mean(-1)  # over hundreds of digits luck evens out
    assert lucky.max() < 0.2


@proves("6.11")
def a_missing_scale_is_undone_by_smaller_queries():
    q, k, v = normal(5, 16), normal(6, 16, seed=1), normal(6, 3, seed=2)
    assert same(attention(q / sqrt(16), k, v)[0], attention(q, k, v, scale=sqrt(16))[0])
    digits = torch.randint(10, (200,), generator=draws())
    copied = 1000 * F.one_hot(digits, 10).double()  # a model that sees what it should predict
    assert F.cross_entropy(copied, digits) < 0.01 < log(10)


# Lesson 7


@proves("7.1")
def layer_norm_takes_the_mean_over_all_features():
    x = torch.tensor([1.0, 5.0]).double()
    deviations = x - x.mean()
    assert deviations.tolist() == [-2, 2]
    return [
        F.layer_norm(x, (2,), eps=1e-12)[1].item(),
        (deviations / x.std())[1].item(),
        (deviations / x.var(unbiased=False))[1].item(),
        deviations[1].item(),
        (x / x.std(unbiased=False))[1].item(),
    ]


@proves("7.2")
def two_linear_maps_are_one():
    linear_in, linear_out = nn.Linear(6, 24).double(), nn.Linear(24, 6).double()
    x = normal(10, 6)
    with torch.no_grad():
        plain, bent = linear_out(linear_in(x)), linear_out(linear_in(x).relu())
        weight = linear_out.weight @ linear_in.weight
        bias = linear_out.weight @ linear_in.bias + linear_out.bias
        one_map = same(plain, x @ weight.T + bias)
        assert not same(bent, x @ weight.T + bias)
        zero = linear_out(linear_in(torch.zeros(1, 6).double()))
        straight = same(linear_out(linear_in(x + x.flip(0))), plain + plain.flip(0) - zero)
    leaf = x.clone().requires_grad_()
    linear_out(linear_in(leaf)).sum().backward()
    return {"a": one_map, "b": not straight, "c": bool((leaf.grad == 0).all()), "d": not one_map}


@proves("7.3")
def a_feed_forward_layer_holds_twice_what_attention_holds():
    linear_in, linear_out = linear(512, 2048), linear(2048, 512)
    weights = linear_in.weight.numel() + linear_out.weight.numel()
    assert weights == 2 * 4 * linear(512, 512).weight.numel()
    return [
        parameters(feed_forward()),
        weights,
        parameters(linear_in),
        2 * parameters(linear_in),
        2 * parameters(linear_out),
    ]


@proves("7.4")
def skips_let_a_gradient_through():
    def slope(layers, skip):
        x = torch.ones(1, dtype=torch.float64, requires_grad=True)
        y = x
        for _ in range(layers):
            y = (y if skip else 0) + 0.1 * y
        return torch.autograd.grad(y, x)[0].item()

    assert np.isclose(slope(10, skip=False), 0.0000000001)
    one, ten = slope(1, skip=True), slope(10, skip=True)
    return [ten, slope(10, skip=False), 1 + 10 * (one - 1), one, round(ten, 1), 10 * one]


@proves("7.5")
def the_paper_normalises_the_sum():
    def layer(norm_first):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True, norm_first=norm_first).double()

    torch_layer, pre_layer = layer(norm_first=False), layer(norm_first=True)
    assert not nn.TransformerEncoderLayer(8, 2, 16).norm_first  # the default
    parts = [
        (lambda y: torch_layer.self_attn(y, y, y)[0], torch_layer.norm1),
        (lambda y: torch_layer.linear2(torch_layer.linear1(y).relu()), torch_layer.norm2),
    ]
    lines = {
        "a": lambda x, f, norm: x + f(norm(x)),
        "b": lambda x, f, norm: norm(x + f(x)),
        "c": lambda x, f, norm: x + norm(f(x)),
        "d": lambda x, f, norm: norm(x) + f(norm(x)),
    }
    x = normal(1, 5, 8)
    outputs = {}
    for letter, line in lines.items():
        outputs[letter] = x
        for f, norm in parts:
            outputs[letter] = line(outputs[letter], f, norm)
    assert same(outputs["a"], pre_layer(x))
    return {letter: same(output, torch_layer(x)) for letter, output in outputs.items()}


@proves("7.6")
def only_attention_lets_tokens_meet():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True).double()
    x = normal(1, 5, 8)
    changed = x.clone()
    changed[0, 2, 0] += 1
    others = [0, 1, 3, 4]
    parts = {
        "a": lambda y: layer.linear2(layer.linear1(y).relu()),
        "b": lambda y: layer.self_attn(y, y, y)[0],
        "c": layer.norm1,
        "d": lambda y: y + 0,
    }
    for part in parts.values():
        assert not same(part(x)[0, 2], part(changed)[0, 2])
    return {letter: not same(part(x)[0, others], part(changed)[0, others]) for letter, part in parts.items()}


@proves("7.7")
def the_target_asks_and_the_source_answers():
    module = nn.MultiheadAttention(8, 4, batch_first=True)
    source, target = torch.randn(2, 9, 8, generator=draws()), torch.randn(2, 6, 8, generator=draws())

    def weights(asks, answers, every=True):
        return module(asks, answers, answers, average_attn_weights=not every)[1].shape

    return [
        weights(target, source),
        weights(source, target),
        weights(target, target),
        weights(source, source),
        weights(target, source, every=False),
    ]


@proves("7.8")
def two_thirds_of_an_encoder_layer_are_feed_forward():
    layer = nn.TransformerEncoderLayer(512, 8, 2048, device="meta")
    norm = nn.LayerNorm(512, device="meta")
    parts = [layer.self_attn, layer.linear1, layer.linear2]
    assert parameters(layer.self_attn) == 1_050_624
    assert parameters(layer.norm1, layer.norm2) == 2048
    assert abs(parameters(feed_forward()) / parameters(layer) - 2 / 3) < 0.001
    return [
        parameters(layer),
        parameters(*parts),
        parameters(*parts, norm),
        parameters(*parts) + norm.weight.numel(),
    ]


@proves("7.9")
def dense_layers_are_shared_by_positions_and_not_by_blocks():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True).double()
    encoder = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
    first = encoder.layers[0]
    x = normal(1, 5, 8)

    def dense(y):
        return first.linear2(first.linear1(y).relu())

    order = [4, 2, 0, 1, 3]
    by_position = same(dense(x)[:, order], dense(x[:, order]))
    assert dense(normal(1, 50, 8)).shape[1] == 50  # any length fits
    by_block = len({block.linear1.weight.data_ptr() for block in encoder.layers}) == 1
    return {
        "a": not by_position and not by_block,
        "b": by_position and by_block,
        "c": by_position and not by_block,
        "d": by_block and not by_position,
    }


@proves("7.10")
def one_of_six_remains():
    separate, shared = [feed_forward() for _ in range(6)], feed_forward()
    saved = parameters(*separate) - parameters(shared)
    layers = [nn.TransformerEncoderLayer(512, 8, 2048, device="meta") for _ in range(6)]
    assert saved > parameters(*layers) / 2
    return [saved, parameters(*separate), parameters(shared)]


@proves("7.11")
def equal_weights_without_a_skip_leave_one_vector():
    x = normal(6, 8) + sinusoids(6, 8)
    w_v = normal(8, 8, seed=1)
    mixed = attention(torch.zeros(6, 8).double(), x, x @ w_v)[0]  # equal scores

    def all_equal(y):
        return torch.allclose(y, y[:1].expand_as(y), atol=1e-12)

    dense = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8)).double()
    assert not all_equal(x + mixed)  # the skip keeps them apart
    return {
        "a": all_equal(mixed),
        "b": not all_equal(dense(mixed)),
        "c": not all_equal(mixed),
        "d": not all_equal(F.layer_norm(mixed, (8,))),
    }


def stack_of_attentions(skip, seed, depth=32, tokens=16, width=32):
    """How different the tokens are, from 1 (as much as they are long) to 0 (equal), and the tokens."""
    x = normal(tokens, width, seed=seed)
    for layer in range(depth):
        w_q, w_k, w_v = normal(3, width, width, seed=1000 * seed + layer) / sqrt(width)
        inputs = F.layer_norm(x, (width,)) if skip else x
        heard = attention(inputs @ w_q, inputs @ w_k, inputs @ w_v, scale=sqrt(width))[0]
        x = x + heard if skip else heard
    return ((x - x.mean(0)).norm() / x.norm()).item(), x


@proves("7.12")
def attentions_without_skips_make_all_tokens_equal():
    without = [stack_of_attentions(skip=False, seed=seed) for seed in range(1, 6)]
    assert all(torch.linalg.matrix_rank(x, rtol=1e-3) == 1 for _, x in without)
    differences = [difference for difference, _ in without]
    kept = [stack_of_attentions(skip=True, seed=seed)[0] for seed in range(1, 6)]
    assert min(kept) > 10 * max(differences)
    cosines = [F.cosine_similarity(x[0], x[1:], dim=-1) for _, x in without]
    return {
        "a": any(bool((cosine.abs() < 0.5).all()) for cosine in cosines),
        "b": any(difference > 0.5 for difference in differences),
        "c": all(difference < 0.01 for difference in differences),
        "d": any(bool((x.norm(dim=-1) < 0.1 * x.norm(dim=-1).max()).any()) for _, x in without),
    }


@proves("7.13")
def tied_dense_layers_save_five_sixths_of_two_thirds():
    layers = [nn.TransformerEncoderLayer(512, 8, 2048, device="meta") for _ in range(6)]
    saved = 5 * parameters(feed_forward())
    assert abs(saved / parameters(*layers) - 5 / 6 * 2 / 3) < 0.001
    block = nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True).double()
    others = [nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True).double() for _ in range(5)]
    for other in others:
        other.linear1, other.linear2 = block.linear1, block.linear2  # all shapes agree
    assert nn.Sequential(block, *others)(normal(1, 5, 8)).shape == (1, 5, 8)


@proves("7.14")
def without_skips_gradients_and_tokens_fade():
    right, without, *_ = PROOFS["7.4"]()
    assert round(right, 2) == 2.59
    assert round(without, 12) == 1e-10
    assert PROOFS["7.11"]()["a"]
    assert PROOFS["7.12"]()["c"]
    x = normal(1, 5, 8)
    for norm_first in (False, True):
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True, norm_first=norm_first).double()
        for last in (layer.self_attn.out_proj, layer.linear2):
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)
        assert same(layer(x), x) == norm_first  # the skips alone: in pre-norm an identity path


# Lesson 8


@proves("8.3")
def a_space_is_a_token():
    text = "To go, or not"
    pieces = re.split(r"\b", text)
    tokens = [piece for piece in pieces if piece]
    assert "".join(tokens) == text
    assert tokens == ["To", " ", "go", ", ", "or", " ", "not"]
    words = re.findall(r"\w+", text)
    comma_apart = [part for token in tokens for part in ([",", " "] if token == ", " else [token])]
    return [
        len(tokens),
        len(pieces),
        len(words),
        len(text),
        len(comma_apart),
        len(re.findall(r"\w+|,", text)),
    ]


def sequences(ids, length, step):
    rows = torch.stack([ids[start : start + length + 1] for start in range(0, len(ids) - length, step)])
    return rows[:, :-1], rows[:, 1:]


@proves("8.4")
def the_last_target_needs_one_token_more():
    ids = torch.arange(1024)
    inputs, targets = sequences(ids, 64, step=64)
    assert targets.equal(inputs + 1)
    assert targets.max() < 1024
    assert 16 * 64 + 1 == 1025
    overlapping = sequences(ids, 64, step=1)[0]
    both = torch.cat([inputs, targets[:, -1:]], 1)
    uncut, turned = ids.view(-1, 64), ids.view(64, -1)
    return [table.shape for table in (inputs, uncut, overlapping, turned, inputs.T, both)]


@proves("8.5")
def overlapping_sequences_repeat_the_text():
    ids = torch.arange(64 * 200)
    apart, overlapping = sequences(ids, 64, step=64), sequences(ids, 64, step=1)
    ratio = len(overlapping[0]) / len(apart[0])
    assert len(set(overlapping[0][10].tolist()) & set(overlapping[0][11].tolist())) == 63
    seen = torch.bincount(overlapping[1].flatten())
    assert (seen[64:-64] == 64).all()
    validation = torch.rand(len(overlapping[0]), generator=draws()) < 0.1
    training_text = set(overlapping[0][~validation].flatten().tolist())
    held_back = overlapping[0][validation].flatten().tolist()
    leaked = sum(token in training_text for token in held_back) / len(held_back)
    return {
        "a": abs(ratio - 64) < 1,
        "b": len(overlapping[0].unique()) > 2 * len(apart[0].unique()),
        "c": leaked > 0.99,
        "d": bool((seen[64:-64] == 1).all()),
    }


@proves("8.6")
def an_untrained_model_pays_the_logarithm_of_the_vocabulary():
    loss = F.cross_entropy(torch.zeros(3, 5000).double(), torch.tensor([7, 70, 700])).item()
    return [loss, loss / log(2), loss / log(10), exp(-loss), exp(loss)]


@proves("8.7")
def perplexity_averages_logarithms():
    p = np.array([1 / 2, 1 / 4, 1 / 8])
    loss = -np.log(p).mean()
    assert (-np.log2(p)).tolist() == [1, 2, 3]
    return [exp(loss), loss / log(2), loss, 1 / p.mean(), (1 / p).mean(), prod(1 / p)]


@proves("8.8")
def the_bits_of_the_tokens_are_shared_by_the_characters():
    nats, tokens, characters = log(16), 1000, 3200
    assert round(nats, 4) == 2.7726
    bits = nats / log(2)
    per_token = characters / tokens
    return [bits * tokens / characters, nats / per_token, bits, bits * per_token, nats * log(2) / per_token]


@proves("8.9")
def bits_per_character_compare_any_two_models():
    character, word = 1.5 / log(2), 4.5 / 4 / log(2)
    assert round(character, 1) == 2.2
    assert round(word, 1) == 1.6
    assert 4.5 / 3 == 1.5
    return {"a": character < word, "b": word < character, "c": np.isclose(word, character), "d": False}


@proves("8.10")
def nobody_beats_the_entropy_of_the_source():
    source = normal(20, seed=1).softmax(0)
    entropy = torch.special.entr(source).sum()
    for guess in normal(200, 20, seed=2).log_softmax(-1):
        assert -(source * guess).sum() >= entropy
    assert same(-(source * source.log()).sum(), entropy)  # the source itself pays just that


@proves("8.1")
def low_temperatures_favour_the_favourite():
    logits = np.array([0, log(3)])
    cold = softmax(*(logits / 0.5))
    assert np.allclose(cold, [1 / 10, 9 / 10])
    return [cold[1], softmax(*logits)[1], softmax(*(logits * 0.5))[1], cold[0], softmax(*logits)[1] / 0.5]


@proves("8.2")
def top_k_keeps_the_ratio_of_those_that_remain():
    p = torch.tensor([0.5, 0.3, 0.1, 0.1]).double()

    def first(k):
        logits = p.log()
        return logits.masked_fill(logits < logits.topk(k).values[-1], -torch.inf).softmax(0)[0].item()

    assert np.isclose(first(2) / (1 - first(2)), 0.5 / 0.3)
    return [first(2), p[0].item(), (p[0] + (p[2] + p[3]) / 2).item(), first(1), (p[0] + p[1]).item()]


@proves("8.11")
def no_earlier_token_sees_the_new_one():
    maps = normal(2, 3, 8, 8) / sqrt(8)

    def layers(x):
        """The keys of both layers, their weights, and the output."""
        keys, weights = [], []
        for w_q, w_k, w_v in maps:
            keys.append(x @ w_k)
            heard, table = attention(x @ w_q, x @ w_k, x @ w_v, causal(len(x)), scale=sqrt(8))
            weights.append(table)
            x = x + heard
        return keys, weights, x

    x = normal(100, 8, seed=5)
    old_keys, old_weights, _ = layers(x[:99])
    keys, weights, output = layers(x)
    unchanged = all(torch.allclose(new[:99], old, atol=1e-12) for new, old in zip(keys, old_keys, strict=True))
    other_keys, _, _ = layers(normal(100, 8, seed=6))

    step = x[99:]  # only the new token goes through the layers; keys and values of the others are kept
    inner = layers(x[:99])[2]
    inputs = [x[:99], x[:99] + attention(*(x[:99] @ w for w in maps[0]), causal(99), scale=sqrt(8))[0]]
    for (w_q, w_k, w_v), past in zip(maps, inputs, strict=True):
        key, value = torch.cat([past @ w_k, step @ w_k]), torch.cat([past @ w_v, step @ w_v])
        step = step + attention(step @ w_q, key, value, scale=sqrt(8))[0]
    assert torch.allclose(step[0], output[99], atol=1e-12)
    assert torch.allclose(inner, output[:99], atol=1e-12)
    return {
        "a": not unchanged,
        "b": torch.allclose(weights[0][99, :99], old_weights[0][98], atol=1e-3),
        "c": torch.allclose(keys[0], other_keys[0]),
        "d": unchanged,
    }


@proves("8.12")
def losses_in_different_units_can_turn_round():
    character_model, word_model = 1.2 / 1 / log(2), 4.6 / 4 / log(2)  # 4 characters a token
    assert word_model < character_model


# Lesson 10


def rms_norm(x):
    return x / x.square().mean(-1, keepdim=True).sqrt()


@proves("10.1")
def rms_norm_by_hand():
    x = torch.tensor([1.0, 7.0], dtype=torch.float64)
    second = x[1].item()
    return [
        rms_norm(x)[1].item(),
        F.layer_norm(x, (2,), eps=0)[1].item(),
        second / x.norm().item(),
        second / x.square().mean().item(),
        second / x.mean().item(),
    ]


@proves("10.2")
def only_rms_norm_notices_a_shift():
    x = normal(4, 16)
    changed = {
        "layer": not same(F.layer_norm(x, (16,)), F.layer_norm(x + 10, (16,))),
        "rms": not same(rms_norm(x), rms_norm(x + 10)),
    }
    return {
        "a": changed["layer"] and changed["rms"],
        "b": changed["layer"] and not changed["rms"],
        "c": changed["rms"] and not changed["layer"],
        "d": not (changed["layer"] or changed["rms"]),
    }


@proves("10.3")
def a_gate_costs_a_third_of_the_width():
    two = nn.ModuleList([nn.Linear(768, 3072, bias=False), nn.Linear(3072, 768, bias=False)])
    weights = sum(one.numel() for one in two.parameters())
    assert weights % (3 * 768) == 0
    return [weights // (3 * 768), weights // (2 * 768), weights // (4 * 768), weights // (6 * 768), 3072 * 3 // 2]


@proves("10.4")
def halves_and_neighbours_are_one_model():
    d, length = 8, 12
    frequencies = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * frequencies

    def turned(x, first, second):
        a, b = x[..., first], x[..., second]
        found = torch.empty_like(x)
        found[..., first] = a * angles.cos() - b * angles.sin()
        found[..., second] = a * angles.sin() + b * angles.cos()
        return found

    halves = slice(0, d // 2), slice(d // 2, d)
    evens = slice(0, d, 2), slice(1, d, 2)
    order = torch.cat([torch.arange(0, d, 2), torch.arange(1, d, 2)])
    x, to_query, to_key = normal(length, 5), normal(5, d, seed=1), normal(5, d, seed=2)
    neighbours = turned(x @ to_query, *evens) @ turned(x @ to_key, *evens).mT
    other = turned(x @ to_query[:, order], *halves) @ turned(x @ to_key[:, order], *halves).mT
    assert same(neighbours, other)
    query, key = (turned(normal(1, d, seed=seed).expand(length, d), *halves) for seed in (0, 3))
    scores = query @ key.mT
    by_distance = all(scores.diagonal(k).std() < 1e-9 for k in range(length - 1))
    moved = (turned(torch.ones(length, d, dtype=torch.float64), *halves)[1] != 1).all().item()
    return {"a": same(neighbours, other), "b": not by_distance, "c": not moved, "d": not same(neighbours, other)}


@proves("10.5")
def bytes_of_the_cache():
    key, value = (torch.zeros(32, 8, 1, 128, dtype=torch.float16) for _ in range(2))  # layers, heads, tokens, features
    everything = [key, value]
    size = sum(one.numel() * one.element_size() for one in everything)
    return [size, key.numel() * key.element_size(), key.numel(), size // 8 * 32, size // 32, size // 8]


@proves("10.6")
def rotary_positions_lower_the_loss_most():
    """By the losses that the lesson shows, measured by tests/proofs/benchmarks/modern_models.py."""
    from transformer_lessons.inspection import six_changes

    table = {name: losses[:5] for name, losses in six_changes.SMALL.items()}  # nats per character
    larger = six_changes.LARGE
    means = {name: sum(losses) / 5 for name, losses in table.items()}
    gains = {name: [means["GPT-2"] - loss for loss in losses] for name, losses in table.items()}
    noise = max(table["GPT-2"]) - min(table["GPT-2"])
    assert 0.005 < noise < 0.015
    assert 0.305 < min(gains["rotary"]) < max(gains["rotary"]) < 0.335
    assert 0.005 < means["GPT-2"] - means["SwiGLU"] < 0.015
    assert all(abs(means["GPT-2"] - means[name]) < noise for name in ("RMSNorm", "2 KV heads"))
    lead = [{name: losses[seed] - larger["rotary"][seed] for name, losses in larger.items()} for seed in range(3)]
    assert all(one["larger start"] < 0.75 * one["GPT-2"] for one in lead)
    assert all(one["GPT-2"] - one["SwiGLU"] > 3 * (means["GPT-2"] - means["SwiGLU"]) for one in lead)
    most = max(("RMSNorm", "SwiGLU", "rotary", "2 KV heads"), key=lambda name: min(gains[name]))
    return {
        letter: name == most for letter, name in zip("abcd", ("RMSNorm", "SwiGLU", "rotary", "2 KV heads"), strict=True)
    }


@proves("10.7")
def only_queries_and_keys_have_other_shapes():
    from transformer_lessons.models import Config, LanguageModel

    sizes = {"d_model": 576, "num_heads": 9, "num_key_heads": 3, "d_hidden": 1536, "num_layers": 1, "max_length": 4}
    with torch.device("meta"):
        model = LanguageModel(Config(9, **sizes, rms=True, gated=True, rotary=True, halves=True, bias=False))
    layer = "layers.0."

    def raises(first, second):
        """Whether it is noticed that two weights are exchanged; or one with its own transpose."""
        weights = model.state_dict()
        first, second = f"{layer}{first}.weight", f"{layer}{second}.weight"
        swapped = {first: weights[second], second: weights[first]} if first != second else {first: weights[first].T}
        try:
            model.load_state_dict(weights | swapped)
        except RuntimeError:
            return True
        return False

    return {
        "a": raises("feed_forward.linear_gate", "feed_forward.linear_in"),
        "b": raises("attention.linear_q", "attention.linear_k"),
        "c": raises("attention.linear_k", "attention.linear_v"),
        "d": raises("attention.linear_out", "attention.linear_out"),
    }


@proves("10.8")
def what_a_single_token_cannot_show():
    from transformer_lessons.inspection import faults
    from transformer_lessons.models import Config, LanguageModel

    sizes = {"d_model": 24, "num_heads": 6, "num_key_heads": 2, "d_hidden": 16, "num_layers": 2, "max_length": 8}
    parts = {"rms": True, "gated": True, "rotary": True, "halves": True, "bias": False}
    torch.manual_seed(0)
    model = LanguageModel(Config(9, **sizes, **parts, base=100_000.0, std=1.0))

    def unchanged(letter, tokens):
        with torch.no_grad():
            intact = model(tokens)
            with faults.fault(model, letter):
                return torch.equal(model(tokens), intact)

    one, several = torch.tensor([[3]]), torch.tensor([[3, 1, 4, 1, 5]])
    assert [letter for letter in "ABCDEF" if unchanged(letter, several)] == ["D"]
    return {choice: unchanged(letter, one) for choice, letter in zip("abcde", "FBCDA", strict=True)}


@proves("10.9")
def what_does_not_lower_the_loss_saves_memory():
    from dataclasses import replace

    from transformer_lessons.models import Config, LanguageModel

    model = Config(vocabulary_size=9, d_model=8, num_heads=4, d_hidden=16, num_layers=1, max_length=4)
    made = [dict(LanguageModel(replace(model, rms=rms)).named_parameters()) for rms in (False, True)]
    norms = [sum(one.numel() for name, one in weights.items() if "norm" in name) for weights in made]
    assert norms[1] * 2 == norms[0]
    features = [
        LanguageModel(replace(model, num_key_heads=number)).layers[0].attention.linear_k.out_features
        for number in (4, 1)
    ]
    assert features[1] * 4 == features[0]


@proves("10.10")
def weights_that_load_wrong():
    from transformer_lessons.language.pretrained import from_gpt2
    from transformer_lessons.models import Config, LanguageModel

    model = LanguageModel(Config(vocabulary_size=9, d_model=8, num_heads=2, d_hidden=16, num_layers=1, max_length=4))
    fresh = model.state_dict()
    assert (fresh["norm.weight"] == 1).all()
    assert (fresh["norm.bias"] == 0).all()
    tokens = torch.arange(4)[None]
    right_logits = model(tokens)
    square = "layers.0.attention.linear_out.weight"
    turned = fresh | {square: fresh[square].T.clone()}
    model.load_state_dict(turned)
    assert not torch.allclose(model(tokens), right_logits, atol=1e-3)
    assert from_gpt2({"h.0.attn.c_proj.weight": torch.arange(4.0).view(2, 2)})[
        "layers.0.attention.linear_out.weight"
    ].tolist() == [[0, 2], [1, 3]]


# Lesson 11


def repeated(tokens, period, length):
    """A block of these tokens, repeated."""
    return torch.tensor(tokens)[torch.arange(length) % period]


def by_hand(rows, sharp_0=100.0, sharp_1=100.0, silent=None, note=None):
    """An induction circuit of one-hot vectors, not trained: its weights, logits and notes.

    Layer 0 attends to the token before, and notes it; layer 1 attends to where its own token is noted, and
    copies what stands there. note is (place, vector), put in the place of layer 0's output there.
    """
    tokens = F.one_hot(rows, 40).double()  # places × tokens
    places = torch.arange(len(rows))
    before = causal(len(rows)).double() * (places[:, None] - 1 == places)
    first = (sharp_0 * before).masked_fill(~causal(len(rows)), -torch.inf).softmax(-1)
    notes = (first @ tokens) * (silent != 0) * (places > 0)[:, None]  # before the first there is nothing
    if note is not None:
        notes[note[0]] = note[1]
    second = (sharp_1 * tokens @ notes.T).masked_fill(~causal(len(rows)), -torch.inf).softmax(-1)
    return second, 10 * (second @ tokens) * (silent != 1), notes


def known_loss(rows, period, **changes):
    logits = by_hand(rows, **changes)[1]
    return F.cross_entropy(logits[period:-1], rows[period + 1 :]).item()


@proves("11.1")
def what_came_next_stands_after_the_earlier_copy():
    text = [5, 2, 9, 8, 5, 2, 9]
    last = len(text) - 1
    copy = max(place for place in range(last) if text[place] == text[last])
    assert by_hand(torch.tensor(text))[1][-1].argmax() == text[copy + 1] == 8
    return [copy + 1, copy, last - 1, last, copy - 1, text[copy + 1]]


@proves("11.2")
def neither_head_is_of_use_alone():
    rows = repeated([5, 9, 2, 7, 30, 11, 4], 7, 21)
    neither = known_loss(rows, 7, sharp_0=0.0, sharp_1=0.0)
    alone = [known_loss(rows, 7, sharp_1=0.0), known_loss(rows, 7, sharp_0=0.0)]
    together = known_loss(rows, 7)
    return {
        "a": alone[0] < neither - 1,
        "b": alone[1] < neither - 1,
        "c": together < 0.1 < min(alone) and neither - min(alone) < 0.5,
        "d": False,  # for the lesson's own training, tests/proofs/known_claims.py looks at other seeds
    }


@proves("11.3")
def a_key_of_the_first_layer_does_not_know_what_stands_before_it():
    def key_moves(width, seed=2):
        """Does the key at place 4 change when the token at place 3 does?"""
        table, places, w_k = normal(9, width), normal(6, width, seed=1), normal(width, width, seed=seed)
        one, other = (table[torch.tensor(row)] + places for row in ([1, 2, 3, 4, 5, 6], [1, 2, 3, 8, 5, 6]))
        return not torch.equal((one @ w_k)[4], (other @ w_k)[4])

    tokens = F.one_hot(torch.tensor([4, 1, 2]), 5).double()
    copied = torch.eye(3).double().roll(1, 1)[1] @ tokens  # a head that attends to one place, and carries it over
    return {
        "a": any(key_moves(width=4, seed=seed) for seed in range(3, 20)),  # whatever training makes of the weights
        "b": not key_moves(width=4),
        "c": key_moves(width=64),
        "d": not torch.equal(copied, tokens[2]),
    }


@proves("11.4")
def with_one_period_positions_alone_say_where_to_look():
    def share(periods, length, words):
        """How often is the token 11 places back the next one, where that can be known?"""
        right = []
        for number, period in enumerate(periods):
            block = torch.randperm(words, generator=draws(number))[:period]
            row = block[torch.arange(length) % period].tolist()
            right += [row[t - 11] == row[t + 1] for t in range(max(period, 11), length - 1)]
        return sum(right) / len(right)

    varied = [4 + number % 13 for number in range(130)]
    assert share(varied, 33, 32) < 0.5
    return {
        "a": share(130 * [12], 33, 32) == 1,
        "b": share(varied, 200, 32) > 0.9,
        "c": share(varied, 33, 1000) > 0.9,
        "d": share(20 * varied, 33, 32) > 0.9,
    }


@proves("11.5")
def without_notes_the_place_is_not_found():
    rows = repeated([5, 9, 2, 7, 30, 11, 4], 7, 21)
    queries = torch.arange(7, 21)

    def on_the_place(table):
        return min(table[t, list(range(t - 6, 0, -7))].sum().item() for t in queries.tolist())

    whole, silenced = by_hand(rows)[0], by_hand(rows, silent=0)[0]
    assert on_the_place(whole) > 0.99
    return {
        "a": on_the_place(silenced) > 0.9,
        "b": on_the_place(silenced) < 0.5,
        "c": same(whole, silenced),
        "d": not torch.allclose(silenced.sum(-1), torch.ones(21).double()),
    }


@proves("11.6")
def a_head_that_copies_may_look_anywhere():
    rows = repeated([5, 9, 2, 7, 30, 11, 4], 7, 21)
    tokens = F.one_hot(rows, 40).double()
    copying = torch.eye(40).double()  # the OV circuit of both
    one_back = torch.eye(21).double().roll(-1, 1)  # a head that attends to the token before
    one_back[0] = torch.eye(21).double()[0]
    logits = one_back @ tokens @ copying.T
    assert logits[14].argmax() == rows[13] != rows[15]
    assert by_hand(rows)[1][14].argmax() == rows[15]
    lowered = -by_hand(rows)[1]
    return {
        "a": not torch.equal(logits[14].argmax(), rows[13]),
        "b": bool((torch.linalg.eigvals(copying).real > 0).all() and logits[14].argmax() == rows[15]),
        "c": bool(lowered[14].argmax() == rows[15]),
        "d": bool(logits[14].argmax() != by_hand(rows)[1][14].argmax()),
    }


@proves("11.7")
def the_note_after_the_earlier_copy_is_what_is_missing():
    clean = repeated(list(range(12)), 12, 18)
    corrupted = clean.clone()
    corrupted[5] = 33
    answer = clean[6]
    notes = by_hand(clean)[2]
    assert by_hand(clean)[1][-1].argmax() == answer
    bad = by_hand(corrupted)[1][-1].log_softmax(-1)[answer]
    better = [
        by_hand(corrupted, note=(place, notes[place]))[1][-1].log_softmax(-1)[answer] - bad for place in range(18)
    ]
    assert max(better) > 1
    (place,) = [place for place, gain in enumerate(better) if gain > 0.1]
    return [place, int((clean != corrupted).nonzero()), len(clean) - 1, int((clean != corrupted).nonzero()) - 1, 16]


@proves("11.8")
def a_note_is_no_prediction():
    rows = repeated(torch.randperm(32, generator=draws()).tolist()[:16], 16, 33)
    tokens, (_, copied, notes) = F.one_hot(rows, 40).double(), by_hand(rows)
    nothing = torch.zeros_like(tokens)
    unembedding = torch.cat([torch.zeros(80, 40), torch.eye(40)]).double()  # reads only what layer 1 writes

    def share(*stream):
        logits = torch.cat(stream, dim=-1) @ unembedding
        return (logits[16:-1, :32].argmax(-1) == rows[17:]).double().mean().item()

    before, after = share(tokens, nothing, nothing), share(tokens, notes, nothing)
    assert share(tokens, notes, copied) == 1
    return {"a": before == after < 0.2, "b": 0.4 < after < 0.6, "c": after > 0.9, "d": 1 / 32 == 0}


def shipped_on_a_play(length):
    """The shipped model, and rows of the invented play."""
    from transformer_lessons.language import checkpoints, tokenization
    from transformer_lessons.tasks import mock_play

    model, words = checkpoints.load_model()
    ids = torch.tensor(words.encode(mock_play.write(scenes=4, seed=3)[0]))
    return model, *(part[:4] for part in tokenization.make_sequences(ids, length))


@proves("11.9")
@torch.no_grad()
def the_shipped_model_hardly_profits_from_a_repetition():
    model, inputs, _ = shipped_on_a_play(64)
    twice = torch.cat([inputs, inputs], dim=1)
    losses = F.cross_entropy(model(twice[:, :-1]).transpose(1, 2), twice[:, 1:], reduction="none")
    ratio = (losses[:, 64:].mean() / losses[:, :63].mean()).item()
    return {"a": ratio < 0.2, "b": 0.4 < ratio < 0.6, "c": 0.9 < ratio < 1.1, "d": ratio > 1.8}


@proves("11.10")
@torch.no_grad()
def heads_stand_in_for_each_other():
    from transformer_lessons.inspection.experiments import ablated

    model, inputs, targets = shipped_on_a_play(128)

    def cost(heads):
        with ablated(model, heads):
            return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()

    whole, names = cost({}), [f"layers.{layer}.attention" for layer in (1, 2, 3)]
    alone = [cost({name: [head]}) - whole for name in names for head in range(8)]
    assert max(alone) < 0.05 * whole
    assert cost(dict.fromkeys(names, range(8))) - whole > 2 * sum(alone)
    rows = repeated([5, 9, 2, 7, 30, 11, 4], 7, 21)  # and a chain: either head costs everything
    guess = known_loss(rows, 7, silent=1)
    assert known_loss(rows, 7) < 0.1
    assert known_loss(rows, 7, silent=0) > 1 < guess


@proves("11.11")
def two_pairs_of_texts_look_the_same_to_one_head():
    # a, c, d and e are 0, 1, 2 and 3
    texts = torch.tensor([[0, 1, 2, 3, 0], [2, 3, 0, 1, 0], [0, 3, 2, 1, 0], [2, 1, 0, 3, 0]])
    assert [by_hand(text)[1][-1].argmax().item() for text in texts] == [1, 1, 3, 3]  # two layers get them right
    assert torch.equal(texts[:2].sort(dim=0).values, texts[2:].sort(dim=0).values)
    for width in (4, 64):
        stream = normal(4, width)[texts] + normal(5, width, seed=1)
        w_q, w_k, w_v, unembedding = (normal(width, width, seed=seed) / width**0.5 for seed in (2, 3, 4, 5))
        exponentials = (stream[:, -1:] @ w_q * (stream @ w_k)).mean(-1).exp()
        head = (exponentials[..., None] * (stream @ w_v)).sum(1) / exponentials.sum(1, keepdim=True)
        logits = (stream[:, -1] + head) @ unembedding[:, :4]
        results = (logits[:, 1] - logits[:, 3]) * exponentials.sum(1)
        torch.testing.assert_close(results[0] + results[1], results[2] + results[3])
        assert results.std() > 0.1


# --- lesson 12 ---


@proves("12.1")
def six_times_the_width_of_a_layer():
    d, hidden = 128, 512
    projections, feed_forward, a_key = 4 * d * d, 2 * d * hidden, 2 * d
    return [
        (projections + feed_forward) / a_key,
        (projections + feed_forward) / d,
        projections / a_key,
        feed_forward / a_key,
    ]


@proves("12.2")
def writing_fetches_a_weight_for_each_token():
    weights, tokens = 1000, 1000
    reading = {"products": weights * tokens, "fetched": weights}
    writing = {"products": weights * tokens, "fetched": weights * tokens}
    x, matrix = normal(50, 8), normal(8, 8, seed=1)
    one_by_one = torch.stack([row @ matrix for row in x])
    return {
        "a": False,  # by definition of a cache: 8.11 proves that it may be kept
        "b": reading["products"] == writing["products"] and writing["fetched"] == tokens * reading["fetched"],
        "c": not bool(causal(50)[-1:].all()),
        "d": not same(one_by_one, x @ matrix),
    }


@proves("12.3")
def a_byte_holds_the_numbers_of_two_weights():
    byte, scale, minimum = 151, 0.5, -3
    lower, upper = byte % 16, byte // 16
    return [
        scale * upper + minimum,
        scale * lower + minimum,
        scale * upper,
        upper + minimum,
        scale * 16 * upper + minimum,
        scale * byte + minimum,
    ]


@proves("12.4")
def a_cache_is_a_product_of_six_numbers():
    def mebibytes(layers=32, heads=8, d_head=128, length=8192, size=2, both=2):
        return prod([layers, heads, d_head, length, size, both]) / 2**20

    return [mebibytes(), mebibytes(both=1), mebibytes(heads=32), mebibytes(size=4), mebibytes(layers=1)]


@proves("12.5")
def windows_of_layers_add_up():
    window, layers, length = 8, 4, 60
    place = torch.arange(length)
    distance = place[:, None] - place
    step = ((distance >= 0) & (distance < window)).double()
    reach = torch.linalg.matrix_power(step, layers) > 0
    back = int((place[-1] - place[reach[-1]]).max())
    one = int((place[-1] - place[step[-1] > 0]).max())
    return [back, one, layers * window, window, one**layers]


@proves("12.6")
def the_sum_is_brought_to_the_new_maximum():
    scores = torch.tensor([log(2), 0, log(4)]).double()
    total = (scores - scores.max()).exp().sum().item()
    first = (scores[:2] - log(2)).exp().sum().item()
    return [total, first + 1, first * 2 + 1, scores.exp().sum().item(), first / 2]


@proves("12.7")
def tiles_grow_in_number_and_not_in_size():
    def tiles(length, block=128):
        return sum(1 for start in range(0, length, block) for _ in range(0, start + 1, block)), block * block

    (many, size), (more, same_size) = tiles(4096), tiles(8192)
    ratio = more / many
    assert 3.8 < ratio < 4.2
    return {
        "a": size * 4 == same_size,
        "b": ratio < 3,
        "c": size == same_size and ratio > 3.8,
        "d": size == same_size and ratio < 3,
    }


@proves("12.8")
def the_smaller_of_two_probabilities_is_accepted():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.6, 0.2])
    accepted = (q * np.minimum(1, p / q)).sum()
    assert np.allclose(np.maximum(p - q, 0), [0.3, 0, 0])
    return [accepted, 1 - accepted, p[1] / q[1], (p * q).sum()]


def speculated(p, q):
    """The exact distribution of what is accepted or drawn again."""
    residual = np.maximum(p - q, 0)
    accepted = q * np.minimum(1, p / q)
    return accepted + (1 - accepted.sum()) * residual / residual.sum(), accepted.sum()


@proves("12.9")
def any_draft_gives_the_same_text():
    p, good, bad = np.array([0.6, 0.3, 0.1]), np.array([0.5, 0.3, 0.2]), np.full(3, 1 / 3)
    (with_good, many), (with_bad, few) = speculated(p, good), speculated(p, bad)
    unchanged = np.allclose(with_good, p) and np.allclose(with_bad, p)
    return {"a": not unchanged, "b": with_bad[2] > p[2] + 1e-9, "c": not unchanged, "d": unchanged and few < many}


@proves("12.10")
def a_step_loads_every_weight_for_one_token():
    weights, tokens, bits = 1000, 90, 20 * 8 / 32
    reading = {"products": weights * tokens, "loaded": weights}
    step = {"products": weights, "loaded": weights}
    assert reading["products"] == tokens * step["products"]
    assert reading["loaded"] == step["loaded"]
    assert bits < 32


@proves("12.11")
def tiles_are_exact_and_quadratic():
    query, key, value = normal(3, 64, 4)
    scores = (query @ key.mT / 2).masked_fill(~causal(64), -torch.inf)
    outputs, products = [], {}
    for rows in range(0, 64, 16):
        largest, total, summed = torch.full((16, 1), -torch.inf).double(), 0.0, 0.0
        for left in range(0, rows + 1, 16):
            tile = scores[rows : rows + 16, left : left + 16]
            raised = torch.maximum(largest, tile.amax(1, keepdim=True))
            shrink, weights = (largest - raised).exp(), (tile - raised).exp()
            total, summed = (
                total * shrink + weights.sum(1, keepdim=True),
                summed * shrink + weights @ value[left : left + 16],
            )
            largest = raised
        outputs.append(summed / total)
    assert same(torch.cat(outputs), scores.softmax(1) @ value)
    for length in (4096, 8192):
        products[length] = sum(start + 128 for start in range(0, length, 128)) * 128
    assert 3.8 < products[8192] / products[4096] < 4.2


# Lesson 9


def merged_once(parts, pair):
    """A word's parts after one merge, by a plain loop."""
    merged = []
    for part in parts:
        if merged and (merged[-1], part) == pair:
            merged[-1] += part
        else:
            merged.append(part)
    return merged


def pairs_of(words):
    """How often each pair of neighbours occurs."""
    counts = {}
    for word, count in words.items():
        for place in range(len(word) - 1):
            pair = word[place], word[place + 1]
            counts[pair] = counts.get(pair, 0) + count
    return counts


@proves("9.1")
def utf_8_spends_one_to_four_bytes_on_a_character():
    text = "né 🚲"
    assert [len(character.encode()) for character in text] == [1, 2, 1, 4]
    emoji_as_one = len(text.encode()) - 3
    return [len(text.encode()), len(text), emoji_as_one, len("ne 🚲".encode()), len(text.encode("utf-32-le"))]


@proves("9.2")
def a_pair_counts_at_each_of_its_places():
    word = "banana"
    pairs = [word[place : place + 2] for place in range(5)]
    return [
        3 * pairs.count("an"),
        pairs.count("an"),
        3 * len({"an"}),
        3 * (pairs.count("an") + pairs.count("na")),
        len(pairs),
    ]


@proves("9.3")
def ties_go_to_the_larger_pair():
    counts = pairs_of({"newest": 6, "widest": 3, "low": 5})
    assert counts["e", "s"] == counts["s", "t"] == 9 == max(counts.values())
    assert (counts["w", "e"], counts["l", "o"]) == (6, 5)
    first = max(counts, key=lambda pair: (counts[pair], pair))
    return {
        letter: first == pair
        for letter, pair in zip("abcd", [("e", "s"), ("w", "e"), ("s", "t"), ("l", "o")], strict=True)
    }


@proves("9.4")
def spaces_come_first_where_words_are_not_cut():
    text = "the man said that the road to the house on the hill was closed and the bridge to it had fallen. " * 3
    text += "all those who wished to cross the river went to the old mill, and asked the miller to help them. " * 3
    parts, merges = list(text), []
    for _ in range(10):
        counts = pairs_of({tuple(parts): 1})
        merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
        parts = merged_once(parts, merges[-1])
    tokens = ["".join(pair) for pair in merges]
    spaced = [token for token in tokens if " " in token]
    return {
        "a": len(spaced) > 5,
        "b": not spaced,
        "c": "the" in tokens[:3],
        "d": sum(one * 2 in tokens for one in "lst") > 5,
    }


@proves("9.5")
def a_vocabulary_has_bytes_merges_and_special_tokens():
    values = len({bytes([number]) for number in range(256)})
    assert values + 50_000 + 1 == 50_257
    return [values + 1000 + 1, 1000 + 1, values + 1000, 1000, 128 + 1000 + 1]


@proves("9.6")
def ranks_decide_not_places():
    parts, ranks = list("low"), {("o", "w"): 0, ("l", "o"): 1}
    while known := [pair for pair in pairwise(parts) if pair in ranks]:
        parts = merged_once(parts, min(known, key=ranks.get))
    return {
        letter: parts == guess
        for letter, guess in zip("abcd", [["lo", "w"], ["low"], ["l", "o", "w"], ["l", "ow"]], strict=True)
    }


@proves("9.7")
def bytes_spell_every_text():
    texts = ["the thing", "道可道", "🚲"]
    cut = {text: [bytes([byte]) for byte in text.encode()] for text in texts}
    cut["the thing"] = merged_once(cut["the thing"], (b"t", b"h"))
    whole = all(b"".join(parts).decode() == text for text, parts in cut.items())
    return {
        "a": whole,
        "b": all(part.decode(errors="replace") != "�" for parts in cut.values() for part in parts),
        "c": len(cut["道可道"]) / 3 > len(cut["the thing"]) / 9,
        "d": not whole,
        "e": whole,
    }


@proves("9.8")
def a_loss_by_the_byte_can_be_compared():
    plain, merged = 0.5, 1.4 / 3.7
    assert round(merged, 2) == 0.38
    assert round(0.5 * 3.7, 2) == 1.85
    return {"a": plain < merged, "b": merged < plain, "c": False, "d": np.isclose(plain, merged)}


@proves("9.9")
def half_a_character_is_none():
    halves = "🚲".encode()[:2], "🚲".encode()[2:]
    seen = "".join(half.decode(errors="replace") for half in halves)
    assert "🚲" not in seen
    return {"a": "🚲" in seen, "b": halves[0].decode(errors="replace") == "", "c": seen == "", "d": set(seen) == {"�"}}


@proves("9.10")
def a_larger_vocabulary_makes_shorter_sequences():
    words = {tuple("sing"): 5, tuple("ring"): 3, tuple("rings"): 2}
    lengths = []
    for _ in range(5):
        lengths.append(sum(len(word) * count for word, count in words.items()))
        counts = pairs_of(words)
        best = max(counts, key=lambda pair: (counts[pair], pair))
        words = {tuple(merged_once(word, best)): count for word, count in words.items()}
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] < lengths[0]
    used = {part for word in words for part in word}
    assert used == {"sing", "ring", "rings"}  # "ng" and "ing" were only steps on the way
