"""Verdicts on lessons 11 and 12: scores of any size, a batch of one, and what is said holds of every variant."""

import math
import time

import pytest
import torch
import torch.nn.functional as F

from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker.sandbox import Limits
from transformer_lessons.language import sampling


def text(report):
    return " ".join(report.message.split())


def joined(keys, values, new_key, new_value):
    return torch.cat([keys, new_key], 2), torch.cat([values, new_value], 2)


def cached(weights_of):
    """An attention with a cache, whose weights are made of scores and of which keys are late."""
    def answer(query, keys, values, new_key, new_value):
        past = keys.shape[2]
        keys, values = joined(keys, values, new_key, new_value)
        late = torch.ones(query.shape[2], keys.shape[2]).triu(past + 1) == 1
        return weights_of(query @ keys.mT / math.sqrt(query.shape[-1]), late) @ values, keys, values
    return answer


def online(first, dtype=torch.float64, more=0.0):
    """The softmax in blocks, whose maximum starts at a number and is kept in a dtype."""
    def answer(blocks):
        largest = torch.full(blocks[0][..., :1].shape, first, dtype=dtype)
        total = torch.zeros_like(blocks[0][..., :1])
        for scores in blocks:
            raised = torch.maximum(largest, scores.amax(-1, keepdim=True).to(dtype))
            total = total * (largest - raised).exp() + (scores - raised).exp().sum(-1, keepdim=True)
            largest = raised
        return torch.cat([(scores - largest).exp() / (total + more) for scores in blocks], -1)
    return answer


def tiled(first, low):
    """Attention in tiles, whose maximum starts at a number and whose forbidden scores get one."""
    def answer(query, key, value, block):
        outputs = []
        for start in range(0, query.shape[-2], block):
            rows = query[..., start:start + block, :] / math.sqrt(query.shape[-1])
            largest, total, summed = torch.full_like(rows[..., :1], first), 0, 0
            for left in range(0, start + 1, block):
                scores = rows @ key[..., left:left + block, :].mT
                scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(start - left + 1) == 1, low)
                raised = torch.maximum(largest, scores.amax(-1, keepdim=True))
                weights, shrink = (scores - raised).exp(), (largest - raised).exp()
                total = total * shrink + weights.sum(-1, keepdim=True)
                summed, largest = summed * shrink + weights @ value[..., left:left + block, :], raised
            outputs.append(summed / total)
        return torch.cat(outputs, -2)
    return answer


TOO_HIGH = [-1e4, -65504.0, -1e9]
LOW_ENOUGH = [-1e30, torch.finfo(torch.float32).min, -torch.inf]


@pytest.mark.parametrize("number", TOO_HIGH)
def test_a_number_that_scores_may_lie_below_is_named_wherever_it_stands(number):
    assert check("online_softmax", online(number)).mistake == "the maximum starts too high"
    assert check("tiled_attention", tiled(number, -torch.inf)).mistake == "the maximum starts too high"
    for first in (number, -torch.inf):
        assert check("tiled_attention", tiled(first, number)).mistake == "a number too small for the forbidden"
    for hidden in (lambda scores, late: scores.masked_fill(late, number), lambda scores, late: scores + number * late):
        answer = cached(lambda scores, late, hidden=hidden: hidden(scores, late).softmax(-1))
        assert check("attend_with_cache", answer).mistake == "a number too small for the forbidden"


@pytest.mark.parametrize("number", LOW_ENOUGH)
def test_a_number_below_every_score_is_right(number):
    hidden = cached(lambda scores, late: scores.masked_fill(late, number).softmax(-1))
    added = cached(lambda scores, late: (scores + torch.zeros_like(scores).masked_fill(late, number)).softmax(-1))
    for name, answer in (("online_softmax", online(number)), ("tiled_attention", tiled(number, number)),
                         ("attend_with_cache", hidden), ("attend_with_cache", added)):
        assert check(name, answer).status == "passed"


def test_scores_far_below_zero_refuse_no_style_of_attention_with_a_cache():
    def fused(query, keys, values, new_key, new_value):
        past = keys.shape[2]
        keys, values = joined(keys, values, new_key, new_value)
        mask = torch.ones(query.shape[2], keys.shape[2], dtype=torch.bool).tril(past)
        return F.scaled_dot_product_attention(query, keys, values, mask), keys, values

    by_logarithms = cached(lambda scores, late: (
        scores.masked_fill(late, -torch.inf) - scores.masked_fill(late, -torch.inf).logsumexp(-1, keepdim=True)).exp())
    for answer in (fused, by_logarithms):
        assert check("attend_with_cache", answer).status == "passed"


@pytest.mark.parametrize("more", [1e-7, 1e-6, 1e-5])
def test_what_is_added_to_the_sum_is_named_down_to_what_float32_sees(more):
    assert check("online_softmax", online(-torch.inf, more=more)).mistake == "a sum slightly off"
    assert check("online_softmax", online(-torch.inf, more=1e-9)).status == "passed"

    def shared_out(scores, late):
        scores = scores.masked_fill(late, -torch.inf)
        raised = (scores - scores.amax(-1, keepdim=True)).exp()
        return raised / (raised.sum(-1, keepdim=True) + more)

    assert check("attend_with_cache", cached(shared_out)).mistake == "a sum slightly off"


def accepted(p, q, token):
    return p.gather(1, token[:, None])[:, 0] / q.gather(1, token[:, None])[:, 0]


def test_a_batch_of_one_without_its_dimension_is_named():
    report = check("speculate", lambda *inputs: sampling.speculate(*inputs).squeeze())
    assert report.mistake == "no dimension left for a batch of one"
    assert "`tokens` has shape ()" in text(report)


def test_a_token_accepted_with_u_and_p_both_zero_is_named():
    report = check("speculate", lambda p, q, token, u: torch.where(
        u <= accepted(p, q, token), token, sampling.speculate(p, q, token, u)))
    assert report.mistake == "accepted where u equals the ratio"


def test_a_mask_that_is_there_only_in_some_cases_is_not_called_missing():
    def now_and_then(query, keys, values, new_key, new_value):
        past, new = keys.shape[2], query.shape[2]
        keys, values = joined(keys, values, new_key, new_value)
        mask = torch.ones(new, past + new, dtype=torch.bool).tril(past) if past == 0 or new == 4 else None
        return F.scaled_dot_product_attention(query, keys, values, mask), keys, values

    report = check("attend_with_cache", now_and_then)
    assert report.mistake == "the new tokens see the future"
    assert "there is no mask, or not always" in text(report)


def test_heads_moved_along_the_batch_are_not_called_untouched():
    def resampled(heads, number):
        heads = heads.clone()
        heads[:, number] = heads.roll(1, 0)[:, number]
        return heads

    report = check("ablate_head", resampled)
    assert report.mistake == "its own output from elsewhere"
    assert "just the input" not in text(report)


@pytest.mark.parametrize(("name", "answer", "mistake"), [
    ("previous_token_score", lambda weights: weights.diagonal(-1, -2, -1).transpose(0, 1).flatten(1).median(-1).values,
     "the median, not the mean"),
    ("ablate_head", lambda heads, number: heads.index_fill(1, torch.tensor(number), 1e-8), "almost 0"),
    ("sliding_window_mask", lambda length, window: torch.ones(length, length, dtype=torch.bool).tril().triu(
        -max(window - 2, 0)), "a window one too short")])
def test_a_variant_is_given_a_name_that_is_true_of_it(name, answer, mistake):
    assert check(name, answer).mistake == mistake


def test_one_sequence_of_one_head_has_one_score():
    def squeezed(weights):
        each = weights.diagonal(-1, -2, -1).mean(-1)
        return each.mean(0) if len(weights) > 1 else each.squeeze() if each.numel() == 1 else each[0]

    def also_squeezed(weights, period):
        scores = weights.diagonal(1 - period, -2, -1)[..., 1:].mean((0, 2))
        return scores.squeeze() if weights.shape[:2] == (1, 1) else scores

    for name, answer in (("previous_token_score", squeezed), ("induction_score", also_squeezed)):
        assert check(name, answer).mistake == "wrong number of dimensions"


@pytest.mark.parametrize("divided", [lambda right, number: right, lambda right, number: number])
def test_only_one_query_a_period_is_named(divided):
    def answer(weights, period):
        picked = weights.diagonal(1 - period, -2, -1)[..., 1:]
        chosen = picked[..., ::period]
        return chosen.mean(0).sum(-1) / divided(chosen.shape[-1], picked.shape[-1])

    assert check("induction_score", answer).mistake == "only one query a period"


def test_the_head_before_silenced_and_the_others_made_louder_are_named_together():
    def answer(heads, number):
        count = heads.shape[1]
        kept = torch.ones(count, dtype=heads.dtype)
        kept[number - 1] = 0
        return heads * kept[:, None, None] * count / max(count - 1, 1)

    assert set(check("ablate_head", answer).mistake.split(" and ")) == {"counted from 1", "the others made louder"}


def test_the_norm_on_the_table_is_named():
    report = check("logit_lens", lambda residuals, norm, unembedding: norm(residuals) @ norm(unembedding).T)
    assert report.mistake == "the norm on the table"


def windows(length, window):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for query in range(length):
        start = max(0, query - window + 1)
        mask[query, start:start + window] = True
    return mask


def test_a_whole_window_for_the_first_rows_is_named():
    assert check("sliding_window_mask", windows).mistake == "a whole window for the first rows, too"
    found = check("sliding_window_mask", lambda length, window: windows(length, window + 1)).mistake
    assert found.startswith("the window counted without itself and ")
    assert "a whole window for the first rows, too" in found


def test_a_window_one_too_long_is_not_said_to_lie_before_where_it_lies_behind():
    def answer(length, window):
        square = torch.ones(length, length, dtype=torch.bool)
        return square.triu() & ~square.triu(window + 1)

    found = text(check("sliding_window_mask", answer))
    assert "the window counted without itself and the window in the future" in found
    assert "positions before" not in found


def masked(scaled, ahead, low):
    """Attention with a cache, with or without the scale, from a diagonal, filled with a number."""
    def answer(query, keys, values, new_key, new_value):
        past, new = keys.shape[2], query.shape[2]
        keys, values = joined(keys, values, new_key, new_value)
        scores = query @ keys.mT / (math.sqrt(query.shape[-1]) if scaled else 1)
        late = torch.ones(new, past + new).tril(past + ahead) == 0
        return scores.masked_fill(late, low).softmax(-1) @ values, keys, values
    return answer


SMALL = "a number too small for the forbidden"


@pytest.mark.parametrize(("scaled", "ahead", "mistakes"), [
    (False, 0, {"no scale"}), (True, -1, {"the diagonal missing"}), (True, 1, {"one step into the future"})])
def test_a_number_too_small_hides_no_other_mistake(scaled, ahead, mistakes):
    for low, more in ((-torch.inf, set()), (-1e4, {SMALL}), (-1e9, {SMALL})):
        found = check("attend_with_cache", masked(scaled, ahead, low)).mistake
        assert set(found.split(" and ")) == mistakes | more


def test_a_token_that_misses_itself_only_behind_a_cache_is_described_truly():
    def answer(query, keys, values, new_key, new_value):
        past, new = keys.shape[2], query.shape[2]
        keys, values = joined(keys, values, new_key, new_value)
        seen = torch.arange(past + new) - torch.arange(new)[:, None] <= max(past - 1, 0)
        scores = (query @ keys.mT / math.sqrt(query.shape[-1])).masked_fill(~seen, -torch.inf)
        return scores.softmax(-1) @ values, keys, values

    found = check("attend_with_cache", answer)
    assert found.mistake == "the diagonal missing"
    assert "but not itself, or not always" in text(found)


def test_a_maximum_that_starts_at_0_is_said_to_stay_only_where_scores_are_far_below():
    def answer(blocks):
        largest, total = torch.zeros_like(blocks[0][..., :1]), 0
        for block in blocks:
            largest = torch.maximum(largest, block.amax(-1, keepdim=True))
            total = total + (block - largest).exp().sum(-1, keepdim=True)
        return torch.cat([(block - largest).exp() / total for block in blocks], -1)

    found = text(check("online_softmax", answer))
    assert "the sum not rescaled and the maximum starts too high" in found
    assert "Where they do, it never moves" in found
    assert "And if you rescale" in found


def in_tiles(scaled, rescaled=True, low=-torch.inf):
    """Attention in tiles, all queries at once."""
    def answer(query, key, value, block):
        rows = query / math.sqrt(query.shape[-1]) if scaled else query
        largest, total, summed = torch.full_like(query[..., :1], -torch.inf), 0, 0
        for left in range(0, query.shape[-2], block):
            scores = rows @ key[..., left:left + block, :].mT
            scores = scores.masked_fill(torch.ones_like(scores).triu(1 - left) == 1, low)
            raised = torch.maximum(largest, scores.amax(-1, keepdim=True))
            weights, shrink = (scores - raised).exp(), (largest - raised).exp()
            total = total * shrink + weights.sum(-1, keepdim=True)
            summed = summed * (shrink if rescaled else 1) + weights @ value[..., left:left + block, :]
            largest = raised
        return summed / total
    return answer


def whole_tiles(query, key, value, block):
    outputs = []
    for start in range(0, query.shape[-2], block):
        keys, values = (one[..., :start + block, :] for one in (key, value))
        outputs.append((query[..., start:start + block, :] @ keys.mT).softmax(-1) @ values)
    return torch.cat(outputs, -2)


@pytest.mark.parametrize(("answer", "mistake"), [
    (whole_tiles, "the tile on the diagonal not masked"), (in_tiles(False, rescaled=False), "the output not rescaled"),
    (in_tiles(False, low=-1e9), SMALL)])
def test_tiles_without_a_scale_hide_no_other_mistake(answer, mistake):
    assert set(check("tiled_attention", answer).mistake.split(" and ")) == {"no scale", mistake}


def test_rows_that_share_one_draw_are_not_said_to_be_drawn_too_often():
    def answer(p, q, token, u):
        upto = (p - q).clamp(min=0).cumsum(-1)
        other = torch.searchsorted(upto, torch.rand((), dtype=p.dtype) * upto[:, -1:], right=True)[:, 0]
        return torch.where(u < accepted(p, q, token), token, other.clamp(max=p.shape[1] - 1))

    found = check("speculate", answer)
    assert found.status == "failed"
    assert "if each row has its own draw" in text(found)


@pytest.mark.parametrize("low", [-torch.inf, -1e9])
def test_scores_of_0_that_are_taken_for_masked_are_found_and_named(low):
    def behind_a_cache(query, keys, values, new_key, new_value):
        past = keys.shape[2]
        keys, values = joined(keys, values, new_key, new_value)
        scores = (query @ keys.mT / math.sqrt(query.shape[-1])).tril(past)
        return scores.masked_fill(scores == 0, low).softmax(-1) @ values, keys, values

    def block_by_block(query, key, value, block):
        outputs = []
        for start in range(0, query.shape[-2], block):
            rows, end = query[..., start:start + block, :] / math.sqrt(query.shape[-1]), start + block
            scores = (rows @ key[..., :end, :].mT).tril(start)
            outputs.append(scores.masked_fill(scores == 0, low).softmax(-1) @ value[..., :end, :])
        return torch.cat(outputs, -2)

    assert check("attend_with_cache", behind_a_cache).mistake == "a score of 0 taken for masked"
    assert check("tiled_attention", block_by_block).mistake == "a score of 0 taken for masked"


@pytest.mark.parametrize(("name", "mean"), [
    ("previous_token_score", lambda picked: picked[picked > 0].mean()),
    ("induction_score", lambda picked: (picked * (picked > 1e-9)).sum() / (picked > 1e-9).sum())])
def test_weights_of_0_count_in_the_mean(name, mean):
    def answer(weights, period=2):
        diagonal = weights.diagonal(1 - period, -2, -1)[..., name == "induction_score":]
        return torch.stack([mean(diagonal[:, head]) for head in range(weights.shape[1])])

    assert check(name, answer).mistake == "the mean of the weights that are not 0"


def test_a_diagonal_sliced_from_the_period_on_is_named():
    def answer(weights, period):
        diagonal = weights.diagonal(1 - period, -2, -1)
        rest = diagonal[..., period:]
        return (rest if rest.shape[-1] else diagonal[..., -1:]).mean((0, 2))

    assert check("induction_score", answer).mistake == "the first queries left out"


def test_the_head_before_at_the_last_position_alone_is_named():
    def answer(heads, number):
        heads = heads.clone()
        heads[:, number - 1, -1] = 0
        return heads

    found = check("ablate_head", answer).mistake
    assert set(found.split(" and ")) == {"counted from 1", "a part of the head left"}


def by_tiles(query, key, value, rows, keys):
    """Attention in tiles of so many queries and keys."""
    outputs = []
    for start in range(0, query.shape[-2], rows):
        asked, end = query[..., start:start + rows, :] / math.sqrt(query.shape[-1]), start + rows
        log, output = torch.full_like(asked[..., :1], -torch.inf), 0
        for left in range(0, min(end, key.shape[-2]), keys):
            scores = asked @ key[..., left:left + keys, :].mT
            scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(start - left + 1) == 1, -1e38)
            own = scores.logsumexp(-1, keepdim=True)
            both = torch.logaddexp(log, own)
            mean = scores.softmax(-1) @ value[..., left:left + keys, :]
            output, log = output * (log - both).exp() + mean * (own - both).exp(), both
        outputs.append(output)
    return torch.cat(outputs, -2)


@pytest.mark.parametrize("size", [
    lambda length, block: math.ceil(length / block), lambda length, block: 8,
    lambda length, block: math.isqrt(length), lambda length, block: block if block >= 4 else length])
def test_tiles_larger_than_the_block_are_named(size):
    def answer(query, key, value, block):
        tile = size(query.shape[-2], block)
        return by_tiles(query, key, value, tile, tile)

    assert check("tiled_attention", answer).mistake in ("tiles larger than the block", "a table of length × length")


def test_two_halves_of_the_queries_are_not_called_a_whole_table():
    report = check("tiled_attention", lambda query, key, value, block: by_tiles(
        query, key, value, max(1, (query.shape[-2] + 1) // 2), query.shape[-2]))
    assert report.mistake == "tiles larger than the block"


@pytest.mark.parametrize("rows", [lambda length, block: block, lambda length, block: length])
def test_tiles_of_the_block_are_right_whichever_side_it_limits(rows):
    for turned in (False, True):
        def answer(query, key, value, block, turned=turned):
            sizes = (rows(query.shape[-2], block), block)
            return by_tiles(query, key, value, *(sizes[::-1] if turned else sizes))

        assert check("tiled_attention", answer).status == "passed"


def test_an_output_divided_in_every_tile_is_named_where_all_queries_meet_every_tile():
    def answer(query, key, value, block):
        largest, total, output = torch.full_like(query[..., :1], -torch.inf), 0, 0
        for left in range(0, query.shape[-2], block):
            scores = query @ key[..., left:left + block, :].mT / math.sqrt(query.shape[-1])
            scores = scores.masked_fill(torch.ones_like(scores).triu(1 - left) == 1, -torch.inf)
            raised = torch.maximum(largest, scores.amax(-1, keepdim=True))
            weights, shrink = (scores - raised).exp(), (largest - raised).exp()
            total = total * shrink + weights.sum(-1, keepdim=True)
            output = (output * shrink + weights @ value[..., left:left + block, :]) / total
            largest = raised
        return output

    assert check("tiled_attention", answer).mistake == "divided in every tile"


def test_powers_of_2_are_named():
    def answer(blocks):
        largest, total = torch.full_like(blocks[0][..., :1], -torch.inf), 0
        for scores in blocks:
            raised = torch.maximum(largest, scores.amax(-1, keepdim=True))
            total = total * (largest - raised).exp2() + (scores - raised).exp2().sum(-1, keepdim=True)
            largest = raised
        return torch.cat([(scores - largest).exp2() / total for scores in blocks], -1)

    assert check("online_softmax", answer).mistake == "powers of 2"


def test_one_pass_row_by_row_is_not_called_three_passes():
    def answer(blocks):
        if blocks[0].ndim > 1:
            return torch.stack([answer([block[row] for block in blocks]) for row in range(len(blocks[0]))])
        total = torch.stack([block.logsumexp(-1) for block in blocks]).logsumexp(0)
        return torch.cat([(block - total).exp() for block in blocks])

    assert check("online_softmax", answer).status == "passed"


def test_three_passes_in_any_direction_are_named():
    def answer(blocks):
        largest = torch.stack([block.amax(-1, keepdim=True) for block in blocks]).amax(0)
        total = sum((block - largest).exp().sum(-1, keepdim=True) for block in reversed(blocks))
        return torch.cat([(block - largest).exp() / total for block in blocks], -1)

    assert check("online_softmax", answer).mistake == "three passes"


@pytest.mark.parametrize("first", [True, False])
def test_a_cache_of_fixed_size_is_named(first):
    def answer(query, keys, values, new_key, new_value):
        new, size = query.shape[2], max(4, query.shape[2])
        long = joined(keys, values, new_key, new_value)
        short = [one[:, :, -size:] for one in long]
        keys, values = short if first else long
        late = torch.ones(new, keys.shape[2], dtype=torch.bool).triu(keys.shape[2] - new + 1)
        scores = (query @ keys.mT / math.sqrt(query.shape[-1])).masked_fill(late, -torch.inf)
        return scores.softmax(-1) @ values, *short

    assert check("attend_with_cache", answer).mistake == "a cache of fixed size"


def test_a_softmax_with_1_added_to_its_sum_is_named():
    answer = cached(lambda scores, late: F.pad(scores.masked_fill(late, -torch.inf), (1, 0)).softmax(-1)[..., 1:])
    assert check("attend_with_cache", answer).mistake == "a number added to the sum"


def test_a_window_that_wraps_round_is_named():
    def answer(length, window):
        place = torch.arange(length)
        return (place[:, None] - place) % length < window

    assert check("sliding_window_mask", answer).mistake == "the window wraps round"


def redrawn(keep=lambda p, q, token, u: u < accepted(p, q, token), drawn=lambda left: torch.multinomial(left, 1)[:, 0]):
    """A right answer to speculate, but for what is kept, and how it is drawn again."""
    def answer(p, q, token, u):
        left = (p - q).clamp(min=0)
        left = torch.where(left.sum(-1, keepdim=True) > 0, left, p)
        return torch.where(keep(p, q, token, u), token, drawn(left))
    return answer


@pytest.mark.parametrize("drawn", [
    lambda left: (left / torch.rand_like(left)).argmax(-1), lambda left: (left * torch.rand_like(left)).argmax(-1),
    lambda left: torch.multinomial(left.square(), 1)[:, 0]])
def test_a_second_draw_out_of_proportion_is_not_called_a_token_without_chance(drawn):
    report = check("speculate", redrawn(drawn=drawn))
    assert report.status == "failed"
    assert report.mistake not in ("accepted where u equals the ratio", "u does not decide")


@pytest.mark.parametrize("factor", [1.02, 1 / 0.95, 1.1, 1.2])
def test_drafts_that_are_accepted_too_often_are_not_said_to_be_decided_without_u(factor):
    report = check("speculate", redrawn(lambda p, q, token, u: u < factor * accepted(p, q, token)))
    assert report.status == "failed"
    assert report.mistake not in ("accepted where u equals the ratio", "u does not decide")
    if factor < 1.1:
        assert report.mistake == "too many drafts come back"


def test_a_number_in_place_of_u_is_named_by_whether_u_matters():
    own = redrawn(lambda p, q, token, u: torch.rand_like(u) < accepted(p, q, token))
    turned = redrawn(lambda p, q, token, u: 1 - u < accepted(p, q, token))
    assert check("speculate", own).mistake == "u does not decide"
    assert check("speculate", turned).mistake == "another comparison"


def test_a_threshold_for_p_is_named():
    def likely(p, q, token, u):
        entropy = -(p * (p + 1e-20).log()).sum(-1)
        return p.gather(1, token[:, None])[:, 0] > (0.3 * (-entropy).exp()).clamp(max=0.09)

    assert check("speculate", redrawn(likely)).mistake == "accepted above a threshold"


def test_a_slice_that_begins_at_the_number_of_the_head_is_not_called_too_wide():
    def answer(embedding, attention, unembedding, head):
        own = slice(head, head + attention.d_model // attention.num_heads)
        return unembedding @ attention.linear_out.weight[:, own] @ attention.linear_v.weight[own] @ embedding.T

    assert check("copying_matrix", answer).mistake == "a slice from the wrong place"


def test_what_is_said_of_an_epsilon_or_a_mean_holds_wherever_it_stands():
    def layer_norm(residuals, norm, unembedding):
        return F.layer_norm(residuals, norm.normalized_shape, norm.weight, norm.bias, 1e-6) @ unembedding.T

    def centred_table(residuals, norm, unembedding):
        return norm(residuals) @ (unembedding - unembedding.mean(0)).T

    assert "by hand" not in text(check("logit_lens", layer_norm))
    assert "after the table" not in text(check("logit_lens", centred_table))

    def centred(embedding, attention, unembedding, head):
        own = slice(head * attention.d_model // attention.num_heads, (head + 1) * attention.d_model
                    // attention.num_heads)
        return (unembedding - unembedding.mean(0)) @ attention.linear_out.weight[:, own] @ attention.linear_v.weight[
            own] @ embedding.T

    assert "after the product" not in text(check("copying_matrix", centred))


def emptied(heads, number):
    heads[:, number] = 0
    return heads


@pytest.mark.parametrize(("answer", "mistake"), [
    (lambda heads, number: emptied(heads.float(), number), "a copy for another dtype alone"),
    (lambda heads, number: emptied(heads.double(), number), "a copy for another dtype alone")])
def test_a_copy_that_is_none_in_one_of_two_dtypes_is_named(answer, mistake):
    assert check("ablate_head", answer).mistake == mistake


@pytest.mark.parametrize("order", [("V",), ("O",), ("V", "O")])
def test_of_weights_that_are_not_cut_it_is_not_said_that_a_part_is_cut_out(order):
    def answer(embedding, attention, unembedding, head):
        out, value = attention.linear_out.weight, attention.linear_v.weight
        return unembedding @ (out.T if "O" in order else out) @ (value.T if "V" in order else value) @ embedding.T

    report = check("copying_matrix", answer)
    assert report.mistake == "all heads at once, from weights transposed"
    assert "is taken from" not in text(report)
    assert "sliced the wrong way" not in text(report)


def test_rows_of_tokens_with_biases_and_an_empty_slice_before_the_first_head_are_named():
    def by_rows(embedding, attention, unembedding, head):
        d_head = attention.d_model // attention.num_heads
        own = slice(head * d_head, (head + 1) * d_head)
        return attention.linear_v(embedding)[:, own] @ attention.linear_out.weight[:, own].T @ unembedding.T

    def from_one(embedding, attention, unembedding, head):
        d_head = attention.d_model // attention.num_heads
        own = slice((head - 1) * d_head, head * d_head)
        return unembedding @ attention.linear_out.weight[:, own] @ attention.linear_v.weight[own] @ embedding.T

    assert check("copying_matrix", by_rows).mistake == "biases counted in, and the matrix transposed"
    assert check("copying_matrix", from_one).mistake == "the head before"


def test_a_reshape_that_mixes_sequences_and_heads_is_named():
    previous = check("previous_token_score", lambda weights: weights.diagonal(-1, 2, 3).reshape(
        weights.shape[1], -1).mean(-1))
    induction = check("induction_score", lambda weights, period: weights.diagonal(1 - period, 2, 3)[..., 1:].reshape(
        weights.shape[1], -1).mean(-1))
    assert previous.mistake == induction.mistake == "sequences and heads mixed"


@pytest.mark.parametrize(("normed", "mistake"), [
    (lambda x, norm: (x - x[-1].mean(-1, keepdim=True)) / (x[-1].var(-1, correction=0, keepdim=True) + norm.eps).sqrt(),
     "the last stage's statistics for all"),
    (lambda x, norm: (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + norm.eps) * norm.weight,
     "gain or bias missing"),
    (lambda x, norm: torch.cat([x[:1], x.diff(dim=0)]) / (x[-1].var(-1, correction=0, keepdim=True) + norm.eps).sqrt()
     * norm.weight, "direct logit attribution")])
def test_statistics_of_the_last_stage_without_gain_or_of_contributions_are_named(normed, mistake):
    assert check("logit_lens", lambda residuals, norm, unembedding: normed(residuals, norm) @ unembedding.T
                 ).mistake == mistake


def residual_of(p, q):
    return (p - q).clamp(min=0) + 1e-12


def test_a_table_of_all_rows_by_all_rows_is_named_and_not_called_endless():
    def all_tokens(p, q, token, u):
        return torch.where(u < p[:, token] / q[:, token], token, torch.multinomial(residual_of(p, q), 1)[:, 0])

    def column_beside_row(p, q, token, u):
        ratio = p.gather(1, token[:, None]) / q.gather(1, token[:, None])
        return torch.where(u < ratio, token, torch.multinomial(residual_of(p, q), 1)[:, 0])

    for answer in (all_tokens, column_beside_row):
        report = check("speculate", answer)
        assert report.mistake == "every row meets every row"
        assert "`tokens` has shape (3, 3)" in text(report)


def test_a_table_of_all_rows_of_which_the_diagonal_is_taken_is_right():
    def answer(p, q, token, u):
        ratio = (p[:, token] / q[:, token]).diagonal()
        return torch.where(u < ratio, token, torch.multinomial(residual_of(p, q), 1)[:, 0])

    assert check("speculate", answer).status == "passed"


def test_a_right_answer_that_loops_over_the_rows_is_not_asked_for_many():
    rows = []

    def answer(p, q, token, u):
        rows.append(len(token))
        return sampling.speculate(p, q, token, u)

    assert check("speculate", answer).status == "passed"
    assert max(rows) <= 6000


def test_what_takes_too_long_is_not_said_to_have_no_end():
    def answer(p, q, token, u):
        time.sleep(0.3)
        return token

    report = check("speculate", answer, limits=Limits(call=0.1, check=0.2))
    assert report.mistake == "endless"
    assert "does not come to an end" not in text(report)
    assert "without a loop" in text(report)


@pytest.mark.parametrize(("answer", "mistake"), [
    (lambda p, q, token, u: p.argmax(-1), "kept only where it is the likeliest"),
    (lambda p, q, token, u: torch.where(token == p.argmax(-1), token, torch.multinomial(p, 1)[:, 0]),
     "kept only where it is the likeliest"),
    (lambda p, q, token, u: torch.where(
        (of_token(p, token) >= of_token(q, token)) | (u < of_token(p, token)), token,
        torch.multinomial(residual_of(p, q), 1)[:, 0]), "accepted with p where p is less than q")])
def test_a_greedy_choice_and_a_ratio_left_out_only_below_1_are_named(answer, mistake):
    assert check("speculate", answer).mistake == mistake


def of_token(table, token):
    return table.gather(1, token[:, None])[:, 0]


def test_two_slips_that_give_p_whatever_was_drafted_are_not_said_to_leave_the_draft_unread():
    def answer(p, q, token, u):
        rest = p.scatter(1, token[:, None], 0.0) + 1e-12
        return torch.where(u < of_token(p, token), token, torch.multinomial(rest, 1)[:, 0])

    report = check("speculate", answer)
    assert report.mistake == "the draft ignored"
    assert "are drawn from p" not in text(report)


def test_a_mask_after_the_exponential_and_a_division_of_each_tile_are_named():
    def late(query, key, value, block):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        weights = (scores - scores.amax(-1, keepdim=True)).exp().tril()
        return weights @ value / weights.sum(-1, keepdim=True)

    def divided(query, key, value, block):
        largest, total, summed = torch.full_like(query[..., :1], -math.inf), 0, 0
        for left in range(0, query.shape[-2], block):
            scores = query @ key[..., left:left + block, :].mT / math.sqrt(query.shape[-1])
            scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1 - left) == 1, -math.inf)
            raised = torch.maximum(largest, scores.amax(-1, keepdim=True))
            weights, shrink = (scores - raised).exp(), (largest - raised).exp()
            total = total * shrink + weights.sum(-1, keepdim=True)
            summed, largest = summed * shrink + weights @ value[..., left:left + block, :] / total, raised
        return summed

    assert check("tiled_attention", late).mistake == "the maximum taken before the mask"
    assert check("tiled_attention", divided).mistake == "divided in every tile"


def late(new, past):
    return torch.ones(new, past + new).triu(past + 1) == 1


def with_mask(query, keys, values, new_key, new_value, mask):
    keys, values = joined(keys, values, new_key, new_value)
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values


def test_a_mask_of_the_other_meaning_is_not_said_to_leave_a_query_out():
    report = check("attend_with_cache", lambda query, keys, *others: with_mask(
        query, keys, *others, late(query.shape[2], keys.shape[2])))
    assert report.mistake == "the later for the earlier"
    assert "loop" not in text(report)


def test_new_keys_whose_positions_start_anew_are_not_said_to_be_given_to_tril():
    def answer(query, keys, values, new_key, new_value):
        past, new = keys.shape[2], query.shape[2]
        places = torch.cat([torch.arange(past), torch.arange(new)])
        return with_mask(query, keys, values, new_key, new_value, places <= torch.arange(past, past + new)[:, None])

    report = check("attend_with_cache", answer)
    assert report.mistake == "the cache counted twice"
    assert "in the number that tril or triu gets" not in text(report)
    assert "positions" in text(report)


@pytest.mark.parametrize("together", [lambda old, new: (old + new) / 2, lambda old, new: old + new])
def test_a_softmax_for_old_and_one_for_new_tokens_is_named(together):
    def answer(query, keys, values, new_key, new_value):
        made = F.scaled_dot_product_attention(query, new_key, new_value, is_causal=True)
        if keys.shape[2]:
            made = together(F.scaled_dot_product_attention(query, keys, values), made)
        return made, *joined(keys, values, new_key, new_value)

    assert check("attend_with_cache", answer).mistake == "a softmax for the old tokens and one for the new"


def test_a_mask_shifted_by_the_number_of_new_tokens_is_named():
    report = check("attend_with_cache", lambda *inputs: with_mask(*inputs, torch.ones(
        inputs[0].shape[2], inputs[0].shape[2] + inputs[1].shape[2]).tril(inputs[0].shape[2]) == 1))
    assert report.mistake == "shifted by the new tokens, not the old"


@pytest.mark.parametrize("enough", [lambda length, window: window >= length, lambda length, window: window > length])
def test_a_window_that_covers_the_sequence_still_forbids_the_future(enough):
    def answer(length, window):
        table = torch.ones(length, length, dtype=torch.bool)
        return table if enough(length, window) else table.tril().triu(1 - window)

    assert check("sliding_window_mask", answer).mistake == "everything allowed under a long window"


def in_blocks(blocks, largest, total):
    for scores in blocks:
        raised = torch.maximum(largest, scores.amax(-1, keepdim=True))
        total = total * (largest - raised).exp() + (scores - raised).exp().sum(-1, keepdim=True)
        largest = raised
    return torch.cat([(scores - largest).exp() / total for scores in blocks], -1)


def test_a_first_block_counted_before_the_loop_and_in_it_is_named():
    def answer(blocks):
        largest = blocks[0].amax(-1, keepdim=True)
        return in_blocks(blocks, largest, (blocks[0] - largest).exp().sum(-1, keepdim=True))

    assert check("online_softmax", answer).mistake == "the first block counted twice"


def test_blocks_that_share_by_their_largest_scores_alone_are_named():
    def answer(blocks):
        shares = torch.stack([scores.amax(-1) for scores in blocks], -1).softmax(-1)
        return torch.cat([scores.softmax(-1) * shares[..., n, None] for n, scores in enumerate(blocks)], -1)

    assert check("online_softmax", answer).mistake == "a share by the largest score alone"


def test_tiles_whose_exponentials_are_relative_to_their_own_maximum_are_named():
    def answer(query, key, value, block):
        outputs = []
        for start in range(0, query.shape[-2], block):
            rows = query[..., start:start + block, :] / math.sqrt(query.shape[-1])
            largest, total, summed = torch.full_like(rows[..., :1], -math.inf), 0, 0
            for left in range(0, start + 1, block):
                scores = rows @ key[..., left:left + block, :].mT
                scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1 + start - left) == 1, -math.inf)
                own = scores.amax(-1, keepdim=True)
                weights, raised = (scores - own).exp(), torch.maximum(largest, own)
                shrink = (largest - raised).exp()
                total = total * shrink + weights.sum(-1, keepdim=True)
                summed, largest = summed * shrink + weights @ value[..., left:left + block, :], raised
            outputs.append(summed / total)
        return torch.cat(outputs, -2)

    assert check("tiled_attention", answer).mistake == "each tile relative to its own maximum"


@pytest.mark.parametrize("number", [lambda queries: len(queries), lambda queries: max(1, len(queries))])
def test_a_last_block_that_is_cut_short_and_not_counted_is_named(number):
    def answer(weights, period):
        queries = torch.arange(period, weights.shape[-1] // period * period)
        return weights[:, :, queries, queries - period + 1].mean(0).sum(-1) / number(queries)

    assert check("induction_score", answer).mistake == "whole blocks only"


def test_a_head_0_that_is_taken_for_none_is_named():
    def answer(heads, number):
        ablated = heads.clone()
        if number:
            ablated[:, number] = 0
        return ablated

    report = check("ablate_head", answer)
    assert report.mistake == "head 0 taken for none"
    assert "`if number`" in text(report)


def test_a_residual_divided_by_the_sum_over_the_batch_is_named():
    def answer(p, q, token, u):
        rest = (p - q).clamp(min=0)
        rest = torch.where(rest.sum(1, keepdim=True) > 0, rest, p)
        again = torch.multinomial(rest / rest.sum(0).clamp(min=1e-300), 1)[:, 0]
        return torch.where(u < of_token(p, token) / of_token(q, token), token, again)

    assert check("speculate", answer).mistake == "divided by the sum over the batch"


def test_shares_of_the_weight_before_that_stay_0_where_there_is_none_are_named():
    def answer(weights):
        before = weights.tril(-1)[:, :, 1:]
        shares = before / before.sum(-1, keepdim=True).clamp(min=1e-9)
        return shares.diagonal(0, -2, -1).mean((0, 2))

    assert check("previous_token_score", answer).mistake == "divided by the weights before"


def test_a_sum_over_the_batch_that_is_divided_by_the_length_is_named():
    report = check("previous_token_score", lambda weights: weights.diagonal(-1, -2, -1).sum((0, 2)) / weights.shape[-1])
    assert report.mistake == "divided by the length and the sum, not the mean"


def test_blocks_whose_means_are_averaged_are_named():
    def answer(weights, period):
        found = weights.diagonal(1 - period, -2, -1)[..., 1:].split(period, dim=-1)
        return sum(block.mean((0, 2)) for block in found) / len(found)

    assert check("induction_score", answer).mistake == "the mean of the blocks' means"


def test_whole_blocks_are_named_where_a_single_short_one_is_counted_after_all():
    def answer(weights, period):
        whole = weights.shape[-1] // period * period
        queries = torch.arange(period, whole if whole > period else weights.shape[-1])
        return weights[:, :, queries, queries - period + 1].mean((0, 2))

    assert check("induction_score", answer).mistake == "whole blocks only"


def test_rows_of_linear_out_that_are_reshaped_into_heads_are_named():
    def answer(embedding, attention, unembedding, head):
        writes = attention.linear_out.weight.view(attention.num_heads, attention.d_model, -1)[head]
        reads = attention.linear_v.weight.view(attention.num_heads, -1, attention.d_model)[head]
        return unembedding @ writes @ reads @ embedding.T

    assert check("copying_matrix", answer).mistake == "linear_out's rows reshaped"


def test_a_transposed_matrix_of_the_head_before_is_named():
    def answer(embedding, attention, unembedding, head):
        d_head = attention.d_model // attention.num_heads
        start = (head - 1) % attention.num_heads * d_head
        reads = attention.linear_v.weight[start:start + d_head]
        return (unembedding @ attention.linear_out.weight[:, start:start + d_head] @ reads @ embedding.T).T

    assert check("copying_matrix", answer).mistake == "the head before and rows and columns exchanged"


@pytest.mark.parametrize("triangle", [lambda ones, past: ones.tril(past), lambda ones, past: ones.triu(past + 1)])
def test_a_mask_of_floats_that_is_added_to_the_scores_is_named(triangle):
    def answer(query, keys, values, new_key, new_value):
        past = keys.shape[2]
        keys, values = joined(keys, values, new_key, new_value)
        mask = triangle(torch.ones(query.shape[2], keys.shape[2], dtype=query.dtype), past)
        return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values

    report = check("attend_with_cache", answer)
    assert report.mistake == "the mask added to the scores"
    assert "nothing is hidden" in text(report)


def test_new_tokens_that_see_the_first_key_but_not_themselves_are_named():
    def answer(query, keys, values, new_key, new_value):
        past = keys.shape[2]
        keys, values = joined(keys, values, new_key, new_value)
        mask = torch.ones(query.shape[2], keys.shape[2], dtype=torch.bool).tril(past - 1)
        mask[~mask.any(-1), 0] = True
        return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values

    assert check("attend_with_cache", answer).mistake == "the diagonal missing"


def test_logarithms_of_sums_without_a_maximum_are_named():
    def answer(blocks):
        total = blocks[0].exp().sum(-1, keepdim=True).log()
        for scores in blocks[1:]:
            total = torch.logaddexp(total, scores.exp().sum(-1, keepdim=True).log())
        return torch.cat([(scores - total).exp() for scores in blocks], -1)

    assert check("online_softmax", answer).mistake == "no maximum subtracted"


@pytest.mark.parametrize("end", [lambda start, block, length: start + block, lambda start, block, length: length])
def test_tiles_with_a_mask_of_floats_that_is_added_to_the_scores_are_named(end):
    def answer(query, key, value, block):
        outputs, length = [], query.shape[-2]
        for start in range(0, length, block):
            seen = slice(min(length, end(start, block, length)))
            rows, keys, values = query[..., start:start + block, :], key[..., seen, :], value[..., seen, :]
            mask = torch.ones(rows.shape[-2], keys.shape[-2], dtype=query.dtype).tril(start)
            outputs.append(F.scaled_dot_product_attention(rows, keys, values, attn_mask=mask))
        return torch.cat(outputs, -2)

    assert check("tiled_attention", answer).mistake == "the mask added to the scores"


def test_a_diagonal_sliced_from_before_the_period_is_named():
    report = check("induction_score", lambda weights, period: weights.diagonal(1 - period, -2, -1)[
        ..., period - 1:].mean((0, 2)))
    assert report.mistake == "the first queries left out"
    assert "almost a period too late" in text(report)


def test_a_mask_shifted_by_the_heads_is_named():
    def answer(query, keys, values, new_key, new_value):
        past = keys.shape[1] if keys.shape[2] else 0
        keys, values = joined(keys, values, new_key, new_value)
        mask = torch.ones(query.shape[2], keys.shape[2], dtype=torch.bool).tril(past)
        return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values

    assert check("attend_with_cache", answer).mistake == "shifted by the heads"


def test_a_token_that_sees_itself_when_it_comes_alone_is_not_said_never_to_see_itself():
    def answer(query, keys, values, new_key, new_value):
        past, new = keys.shape[2], query.shape[2]
        keys, values = joined(keys, values, new_key, new_value)
        late = torch.ones(new, past + new).triu(past + (new == 1)) == 1
        scores = (query @ keys.mT / math.sqrt(query.shape[-1])).masked_fill(late, -torch.inf)
        return scores.softmax(-1).nan_to_num() @ values, keys, values

    report = check("attend_with_cache", answer)
    assert report.mistake == "the diagonal missing"
    assert "but not itself, or not always" in text(report)


def test_a_sum_rescaled_only_where_all_rows_rise_is_named():
    def answer(blocks):
        largest = blocks[0].amax(-1, keepdim=True)
        total = (blocks[0] - largest).exp().sum(-1, keepdim=True)
        for scores in blocks[1:]:
            raised = torch.maximum(largest, scores.amax(-1, keepdim=True))
            if (raised > largest).all():
                total = total * (largest - raised).exp()
            total, largest = total + (scores - raised).exp().sum(-1, keepdim=True), raised
        return torch.cat([(scores - largest).exp() / total for scores in blocks], -1)

    assert check("online_softmax", answer).mistake == "rescaled only where all rows rise"


def test_tiles_divided_by_d_once_are_not_said_to_be_scaled_twice():
    def answer(query, key, value, block):
        return tiled(-torch.inf, -torch.inf)(query / math.sqrt(query.shape[-1]), key, value, block)

    report = check("tiled_attention", answer)
    assert report.mistake == "scaled by d, not √d"
    assert "divided by d, or by √d twice" in text(report)


def ratio_and_residual(p, q, token):
    residual = (p - q).clamp(min=0)
    rows = torch.arange(len(token))
    return p[rows, token] / q[rows, token], torch.where(residual.sum(-1, keepdim=True) > 0, residual, p)


@pytest.mark.parametrize("kept", [True, False])
def test_one_row_with_equal_p_and_q_does_not_decide_for_the_others(kept):
    def answer(p, q, token, u):
        ratio, residual = ratio_and_residual(p, q, token)
        if ((p - q).clamp(min=0).sum(-1) == 0).any():
            residual = p
            if kept:
                return token
        return torch.where(u < ratio, token, torch.multinomial(residual, 1)[:, 0])

    assert check("speculate", answer).mistake == "all rows treated as the equal ones"


def test_draws_that_land_in_other_rows_are_named():
    def answer(p, q, token, u):
        ratio, residual = ratio_and_residual(p, q, token)
        rejected, tokens = u >= ratio, token.clone()
        tokens[rejected] = torch.multinomial(residual, 1)[:int(rejected.sum()), 0]
        return tokens

    assert check("speculate", answer).mistake == "another row's draw"


def test_the_ratio_of_the_first_row_is_named_whatever_is_drawn_where_nothing_is_missing():
    def answer(p, q, token, u):
        _, residual = ratio_and_residual(p, q, token)
        return torch.where(u < (p[0] / q[0])[token], token, torch.multinomial(residual, 1)[:, 0])

    assert check("speculate", answer).mistake == "the first row for all"


def test_a_first_token_whose_weights_are_set_to_0_is_not_said_to_shorten_the_range():
    def answer(weights):
        return F.pad(weights[..., 1:], (1, 0)).diagonal(-1, -2, -1).mean((0, 2))

    report = check("previous_token_score", answer)
    assert report.mistake == "the first query left out"
    assert "is missing from the sum" in text(report)
    assert "too late" not in text(report)


def test_exchanged_dimensions_are_not_called_merged():
    def answer(heads, number):
        heads = heads.clone()
        heads[:, number] = 0
        return heads.transpose(1, 2)

    report = check("ablate_head", answer)
    assert report.mistake == "the heads in another shape"
    assert "merged" not in text(report)


def lens(mean_of=lambda x: x, variance_of=lambda x: x, centred=True):
    """A logit lens whose mean and variance are those of other stages."""
    def answer(residuals, norm, unembedding):
        x = residuals - centred * mean_of(residuals).mean(-1, keepdim=True)
        x = x / (variance_of(residuals).var(-1, correction=0, keepdim=True) + norm.eps).sqrt()
        return (x * norm.weight + norm.bias) @ unembedding.T
    return answer


@pytest.mark.parametrize(("answer", "mistake", "true", "false"), [
    (lens(mean_of=lambda x: x[-1]), "the last stage's statistics for all", "statistics of the last", "are divided by"),
    (lens(variance_of=lambda x: x[0]), "the first stage's statistics for all", "of the first one", "get the mean"),
    (lens(centred=False), "the mean left in", "is not subtracted", "divided by their root mean square"),
    (lens(*2 * [lambda x: x.roll(-1, 0)]), "the statistics of a neighbour", "or of the one after it", "stage before."),
    (lambda x, norm, table: norm(x[:, :, :-1]) @ table.T, "positions left out", "or all but one", "one position alone"),
    (lambda x, norm, table: norm(x.transpose(1, 2)) @ table.T, "dimensions swapped", "swapped", "do not come first"),
    (lambda x, norm, table: norm(x + x[:1]) @ table.T, "the stages added up", "just the first", "one layer has added"),
    (lambda x, norm, table: (norm(x) @ table.T).diff(dim=0, prepend=torch.zeros(1, *x.shape[1:3], len(table))),
     "differences between stages", "from those of another", "the last stage")])
def test_what_is_said_of_a_lens_holds_of_every_variant(answer, mistake, true, false):
    report = check("logit_lens", answer)
    assert report.mistake == mistake
    assert true in text(report)
    assert false not in text(report)


def test_a_head_silenced_at_all_positions_but_one_is_not_said_to_be_silenced_at_one():
    def answer(heads, number):
        heads = heads.clone()
        heads[:, number, 1:] = 0
        return heads

    report = check("ablate_head", answer)
    assert report.mistake == "a part of the head left"
    assert "at some positions" in text(report)


def test_a_first_score_that_is_subtracted_from_all_is_not_called_a_maximum():
    def answer(blocks):
        powers = [(scores - blocks[0][..., :1]).exp() for scores in blocks]
        return torch.cat(powers, -1) / sum(part.sum(-1, keepdim=True) for part in powers)

    report = check("online_softmax", answer)
    assert report.mistake == "a number of the first block for all"
    assert "or its first score" in text(report)


def test_scores_without_an_exponential_are_not_called_logarithms():
    def answer(blocks):
        largest = torch.cat([scores.amax(-1, keepdim=True) for scores in blocks], -1).amax(-1, keepdim=True)
        total = sum((scores - largest).exp().sum(-1, keepdim=True) for scores in blocks)
        return torch.cat([(scores - largest) / total for scores in blocks], -1)

    report = check("online_softmax", answer)
    assert report.mistake == "no exponential in the weights"
    assert "or scores divided by the sum" in text(report)


def tiles_of(scale, step=0):
    """Attention in tiles with another scale, each position seeing as many steps too far."""
    def answer(query, key, value, block):
        length, outputs = query.shape[-2], []
        for start in range(0, length, block):
            scores = query[..., start:start + block, :] @ key.mT / scale(query, block)
            late = torch.arange(length) > torch.arange(start, min(start + block, length))[:, None] + step
            outputs.append(scores.masked_fill(late, -torch.inf).softmax(-1) @ value)
        return torch.cat(outputs, -2)
    return answer


@pytest.mark.parametrize(("answer", "mistake", "true"), [
    (tiles_of(lambda query, block: block), "scaled by the block", "the block's size or its root"),
    (tiles_of(lambda query, block: math.sqrt(query.shape[-1]), 1), "one step into the future", "always or where both")])
def test_what_is_said_of_tiles_holds_of_every_variant(answer, mistake, true):
    report = check("tiled_attention", answer)
    assert report.mistake == mistake
    assert true in text(report)


# Sentences that were false of an answer, or led away from its mistake

def extended(output_of):
    """The right keys and values, and an output of the query and all of them."""
    def answer(query, keys, values, new_key, new_value):
        keys, values = joined(keys, values, new_key, new_value)
        return output_of(query, keys, values), keys, values
    return answer


def in_blocks_of(keys_up_to, first=True):
    """Attention whose blocks of queries see the keys up to a place; the first block is right if first."""
    def answer(query, key, value, block):
        right, outputs = F.scaled_dot_product_attention(query, key, value, is_causal=True), []
        for start in range(0, query.shape[-2], block):
            keys, values = (one[..., :keys_up_to(start, block), :] for one in (key, value))
            outputs.append(F.scaled_dot_product_attention(query[..., start:start + block, :], keys, values)
                           if start or not first else right[..., :block, :])
        return torch.cat(outputs, -2)
    return answer


def one_at_a_time(query, keys, values, new_key, new_value):
    for place in range(query.shape[2]):
        now = slice(place, place + 1)
        keys, values = joined(keys, values, new_key[:, :, now], new_value[:, :, now])
        output = F.scaled_dot_product_attention(query[:, :, now], keys, values)
    return output, keys, values


def written(embedding, attention, unembedding, head):
    d_head = attention.d_model // attention.num_heads
    own = slice(head * d_head, (head + 1) * d_head)
    return attention.linear_out.weight[:, own] @ attention.linear_v.weight[own] @ embedding.T


def wrapped(weights, period):
    places = torch.arange(period, weights.shape[-1])
    return weights[:, :, places, (places - period + 1) % period].mean((0, 2))


def turned(length, window):
    place = torch.arange(length)
    return (place <= place[:, None]) & (place >= place[:, None] + window - 1)


def late_rows(length, window):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for row in range(window - 1, length):
        mask[row, row - window + 1:row + 1] = True
    return mask


def in_passes(raised_of, total_of):
    """A softmax in blocks with another maximum or sum."""
    def answer(blocks):
        largest, total = torch.full_like(blocks[0][..., :1], -torch.inf), 0
        for scores in blocks:
            raised = raised_of(largest, scores.amax(-1, keepdim=True))
            before = total * (largest - raised).exp() if raised_of is torch.maximum else 0
            total, largest = before + total_of((scores - raised).exp()), raised
        return torch.cat([(scores - largest).exp() / total for scores in blocks], -1)
    return answer


def keeping(key_of, scale=None):
    """Attention with a cache that keeps another key."""
    def answer(query, keys, values, new_key, new_value):
        past, (keys, values) = keys.shape[2], joined(keys, values, key_of(query, new_key), new_value)
        mask = torch.ones(query.shape[2], keys.shape[2], dtype=torch.bool).tril(past)
        return SEEN(query, keys, values, mask, scale=scale), keys, values
    return answer


SEEN = F.scaled_dot_product_attention


@pytest.mark.parametrize(("name", "answer", "mistake"), [
    ("online_softmax", in_passes(lambda largest, own: own, lambda powers: powers.sum(-1, keepdim=True)),
     "the maximum never kept"),
    ("online_softmax", in_passes(torch.maximum, torch.sum), "one sum for all rows"),
    ("logit_lens", lambda x, norm, table: torch.cat([norm(stage) @ table.T for stage in x]),
     "the stages joined along the batch"),
    ("speculate", lambda p, q, token, u: torch.where(
        u[0] < accepted(p, q, token), token, torch.multinomial(residual_of(p, q), 1)[:, 0]), "one u for all rows"),
    ("attend_with_cache", keeping(lambda query, key: query), "the query kept"),
    ("attend_with_cache", keeping(lambda query, key: key / math.sqrt(key.shape[-1]), 1.0),
     "the scale kept in the cache"),
    ("sliding_window_mask", lambda length, window: distance(length) % window == 0, "every window-th position"),
    ("sliding_window_mask", lambda length, window: distance(length) < min(window, length - 1), "a window cut short")])
def test_natural_slips_are_named(name, answer, mistake):
    assert check(name, answer).mistake == mistake


def distance(length):
    """How far back a key lies; for later ones, a number that is too large, and no multiple of any window."""
    far = torch.arange(length)[:, None] - torch.arange(length)
    return far.double().masked_fill(far < 0, 1e6 + 0.5)


@pytest.mark.parametrize(("name", "answer", "said", "unsaid"), [
    ("logit_lens", lambda x, norm, table: [norm(stage) @ table.T for stage in x], "in a list", "one stage"),
    ("logit_lens", lambda x, norm, table: tuple(norm(x) @ table.T), "or a tuple", "one stage"),
    ("logit_lens", lambda x, norm, table: x @ norm(table).T, "not to the stream", "two mistakes"),
    ("logit_lens", lambda x, norm, table: norm(x) @ table, "as many tokens as features", "RuntimeError: Where"),
    ("copying_matrix", written, "only one of the tables", "swapped"),
    ("induction_score", wrapped, "modulo the period", "first copy"),
    ("attend_with_cache", extended(lambda q, k, v: SEEN(q[:, :, -1:], k, v).expand(*q.shape[:3], v.shape[3])),
     "of the last query, or of the first", "the loop keep"),
    ("attend_with_cache", extended(SEEN), "or it has no effect", "not always. With"),
    ("attend_with_cache", one_at_a_time, "a loop overwrites", "every `[-1]`"),
    ("sliding_window_mask", turned, "The far edge of the window", "`triu(window - 1)`"),
    ("sliding_window_mask", late_rows, "where does the loop over the rows begin", "is kept"),
    ("tiled_attention", in_blocks_of(lambda start, block: start), "only the blocks before it", "nothing at all"),
    ("tiled_attention", in_blocks_of(lambda start, block: start + 1, first=False), "end at the block's first query",
     "The mask compares"),
    ("tiled_attention", in_blocks_of(lambda start, block: start + block, first=False), "is its result used",
     "has no mask"),
    ("previous_token_score", lambda weights: weights.diagonal(-1, -2, -1).sum((0, 2)) / len(weights) / weights.shape[
        -1] ** 2, "divided by the number of cells", "set to 0"),
    ("previous_token_score", lambda weights: weights.diagonal(-1, -2, -1).mean((0, 1)),
     "one number for each position", "The mean over the positions is missing."),
    ("ablate_head", lambda heads, number: heads - heads[:, number:number + 1], "subtracted from the others",
     "sign is reversed"),
    ("ablate_head", lambda heads, number: heads.where(heads != number, 0), "the number of a head", "thrown away"),
    ("speculate", lambda p, q, token, u: sampling.speculate(q, p, token, u), "The two models are exchanged",
     "two mistakes")])
def test_nothing_is_said_that_is_false_of_such_an_answer(name, answer, said, unsaid):
    found = text(check(name, answer))
    assert said in found
    assert unsaid not in found
