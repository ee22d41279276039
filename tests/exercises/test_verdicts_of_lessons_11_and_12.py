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
            rows = query[..., start : start + block, :] / math.sqrt(query.shape[-1])
            largest, total, summed = torch.full_like(rows[..., :1], first), 0, 0
            for left in range(0, start + 1, block):
                scores = rows @ key[..., left : left + block, :].mT
                scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(start - left + 1) == 1, low)
                raised = torch.maximum(largest, scores.amax(-1, keepdim=True))
                weights, shrink = (scores - raised).exp(), (largest - raised).exp()
                total = total * shrink + weights.sum(-1, keepdim=True)
                summed, largest = summed * shrink + weights @ value[..., left : left + block, :], raised
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
    for name, answer in (
        ("online_softmax", online(number)),
        ("tiled_attention", tiled(number, number)),
        ("attend_with_cache", hidden),
        ("attend_with_cache", added),
    ):
        assert check(name, answer).status == "passed"


def test_scores_far_below_zero_refuse_no_style_of_attention_with_a_cache():
    def fused(query, keys, values, new_key, new_value):
        past = keys.shape[2]
        keys, values = joined(keys, values, new_key, new_value)
        mask = torch.ones(query.shape[2], keys.shape[2], dtype=torch.bool).tril(past)
        return F.scaled_dot_product_attention(query, keys, values, mask), keys, values

    by_logarithms = cached(
        lambda scores, late: (
            scores.masked_fill(late, -torch.inf) - scores.masked_fill(late, -torch.inf).logsumexp(-1, keepdim=True)
        ).exp()
    )
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
    report = check(
        "speculate",
        lambda p, q, token, u: torch.where(u <= accepted(p, q, token), token, sampling.speculate(p, q, token, u)),
    )
    assert report.mistake == "accepted where u equals the ratio"


def test_a_mask_that_is_there_only_in_some_cases_is_not_called_missing():
    def now_and_then(query, keys, values, new_key, new_value):
        past, new = keys.shape[2], query.shape[2]
        keys, values = joined(keys, values, new_key, new_value)
        mask = torch.ones(new, past + new, dtype=torch.bool).tril(past) if past == 0 or new == 4 else None
        return F.scaled_dot_product_attention(query, keys, values, mask), keys, values

    report = check("attend_with_cache", now_and_then)
    assert report.mistake == "the new tokens see the future"
    assert "the mask is missing, at least in some cases" in text(report)


def test_heads_moved_along_the_batch_are_not_called_untouched():
    def resampled(heads, number):
        heads = heads.clone()
        heads[:, number] = heads.roll(1, 0)[:, number]
        return heads

    report = check("ablate_head", resampled)
    assert report.mistake == "its own output from elsewhere"
    assert "just the input" not in text(report)


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        (
            "previous_token_score",
            lambda weights: weights.diagonal(-1, -2, -1).transpose(0, 1).flatten(1).median(-1).values,
            "the median, not the mean",
        ),
        ("ablate_head", lambda heads, number: heads.index_fill(1, torch.tensor(number), 1e-8), "almost 0"),
        (
            "sliding_window_mask",
            lambda length, window: torch.ones(length, length, dtype=torch.bool).tril().triu(-max(window - 2, 0)),
            "a window one too short",
        ),
    ],
)
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
        mask[query, start : start + window] = True
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


@pytest.mark.parametrize(
    ("scaled", "ahead", "mistakes"),
    [(False, 0, {"no scaling"}), (True, -1, {"the diagonal missing"}), (True, 1, {"one step into the future"})],
)
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
    assert "but not itself, at least in some cases" in text(found)


def test_a_maximum_that_starts_at_0_is_said_to_stay_only_where_scores_are_far_below():
    def answer(blocks):
        largest, total = torch.zeros_like(blocks[0][..., :1]), 0
        for block in blocks:
            largest = torch.maximum(largest, block.amax(-1, keepdim=True))
            total = total + (block - largest).exp().sum(-1, keepdim=True)
        return torch.cat([(block - largest).exp() / total for block in blocks], -1)

    found = text(check("online_softmax", answer))
    assert "the sum not rescaled and the maximum starts too high" in found
    assert "Where all the scores of a row lie far below that" in found
    assert "And if you do rescale it" in found


def in_tiles(scaled, rescaled=True, low=-torch.inf):
    """Attention in tiles, all queries at once."""

    def answer(query, key, value, block):
        rows = query / math.sqrt(query.shape[-1]) if scaled else query
        largest, total, summed = torch.full_like(query[..., :1], -torch.inf), 0, 0
        for left in range(0, query.shape[-2], block):
            scores = rows @ key[..., left : left + block, :].mT
            scores = scores.masked_fill(torch.ones_like(scores).triu(1 - left) == 1, low)
            raised = torch.maximum(largest, scores.amax(-1, keepdim=True))
            weights, shrink = (scores - raised).exp(), (largest - raised).exp()
            total = total * shrink + weights.sum(-1, keepdim=True)
            summed = summed * (shrink if rescaled else 1) + weights @ value[..., left : left + block, :]
            largest = raised
        return summed / total

    return answer


def whole_tiles(query, key, value, block):
    outputs = []
    for start in range(0, query.shape[-2], block):
        keys, values = (one[..., : start + block, :] for one in (key, value))
        outputs.append((query[..., start : start + block, :] @ keys.mT).softmax(-1) @ values)
    return torch.cat(outputs, -2)


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (whole_tiles, "the tile on the diagonal not masked"),
        (in_tiles(False, rescaled=False), "the output not rescaled"),
        (in_tiles(False, low=-1e9), SMALL),
    ],
)
def test_tiles_without_a_scale_hide_no_other_mistake(answer, mistake):
    assert set(check("tiled_attention", answer).mistake.split(" and ")) == {"no scaling", mistake}


def test_rows_that_share_one_random_number_are_said_to_share_one_draw():
    def answer(p, q, token, u):
        upto = (p - q).clamp(min=0).cumsum(-1)
        other = torch.searchsorted(upto, torch.rand((), dtype=p.dtype) * upto[:, -1:], right=True)[:, 0]
        return torch.where(u < accepted(p, q, token), token, other.clamp(max=p.shape[1] - 1))

    found = check("speculate", answer)
    assert (found.status, found.mistake) == ("failed", "one draw for all rows")


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
            rows, end = query[..., start : start + block, :] / math.sqrt(query.shape[-1]), start + block
            scores = (rows @ key[..., :end, :].mT).tril(start)
            outputs.append(scores.masked_fill(scores == 0, low).softmax(-1) @ value[..., :end, :])
        return torch.cat(outputs, -2)

    assert check("attend_with_cache", behind_a_cache).mistake == "a score of 0 taken for masked"
    assert check("tiled_attention", block_by_block).mistake == "a score of 0 taken for masked"


@pytest.mark.parametrize(
    ("name", "mean"),
    [
        ("previous_token_score", lambda picked: picked[picked > 0].mean()),
        ("induction_score", lambda picked: (picked * (picked > 1e-9)).sum() / (picked > 1e-9).sum()),
    ],
)
def test_weights_of_0_count_in_the_mean(name, mean):
    def answer(weights, period=2):
        diagonal = weights.diagonal(1 - period, -2, -1)[..., name == "induction_score" :]
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
        asked, end = query[..., start : start + rows, :] / math.sqrt(query.shape[-1]), start + rows
        log, output = torch.full_like(asked[..., :1], -torch.inf), 0
        for left in range(0, min(end, key.shape[-2]), keys):
            scores = asked @ key[..., left : left + keys, :].mT
            scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(start - left + 1) == 1, -1e38)
            own = scores.logsumexp(-1, keepdim=True)
            both = torch.logaddexp(log, own)
            mean = scores.softmax(-1) @ value[..., left : left + keys, :]
            output, log = output * (log - both).exp() + mean * (own - both).exp(), both
        outputs.append(output)
    return torch.cat(outputs, -2)


@pytest.mark.parametrize(
    "size",
    [
        lambda length, block: math.ceil(length / block),
        lambda length, block: 8,
        lambda length, block: math.isqrt(length),
        lambda length, block: block if block >= 4 else length,
    ],
)
def test_tiles_larger_than_the_block_are_named(size):
    def answer(query, key, value, block):
        tile = size(query.shape[-2], block)
        return by_tiles(query, key, value, tile, tile)

    assert check("tiled_attention", answer).mistake in ("tiles larger than the block", "a table of length × length")


def test_two_halves_of_the_queries_are_not_called_a_whole_table():
    report = check(
        "tiled_attention",
        lambda query, key, value, block: by_tiles(
            query, key, value, max(1, (query.shape[-2] + 1) // 2), query.shape[-2]
        ),
    )
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
            scores = query @ key[..., left : left + block, :].mT / math.sqrt(query.shape[-1])
            scores = scores.masked_fill(torch.ones_like(scores).triu(1 - left) == 1, -torch.inf)
            raised = torch.maximum(largest, scores.amax(-1, keepdim=True))
            weights, shrink = (scores - raised).exp(), (largest - raised).exp()
            total = total * shrink + weights.sum(-1, keepdim=True)
            output = (output * shrink + weights @ value[..., left : left + block, :]) / total
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


@pytest.mark.parametrize(
    "drawn",
    [
        lambda left: (left / torch.rand_like(left)).argmax(-1),
        lambda left: (left * torch.rand_like(left)).argmax(-1),
        lambda left: torch.multinomial(left.square(), 1)[:, 0],
    ],
)
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
        own = slice(
            head * attention.d_model // attention.num_heads, (head + 1) * attention.d_model // attention.num_heads
        )
        return (
            (unembedding - unembedding.mean(0))
            @ attention.linear_out.weight[:, own]
            @ attention.linear_v.weight[own]
            @ embedding.T
        )

    assert "after the product" not in text(check("copying_matrix", centred))


def emptied(heads, number):
    heads[:, number] = 0
    return heads


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (lambda heads, number: emptied(heads.float(), number), "a copy for another dtype alone"),
        (lambda heads, number: emptied(heads.double(), number), "a copy for another dtype alone"),
    ],
)
def test_a_copy_that_is_none_in_one_of_two_dtypes_is_named(answer, mistake):
    assert check("ablate_head", answer).mistake == mistake


@pytest.mark.parametrize("order", [("V",), ("O",), ("V", "O")])
def test_of_weights_that_are_not_cut_it_is_not_said_that_a_part_is_cut_out(order):
    def answer(embedding, attention, unembedding, head):
        out, value = attention.linear_out.weight, attention.linear_v.weight
        return unembedding @ (out.T if "O" in order else out) @ (value.T if "V" in order else value) @ embedding.T

    report = check("copying_matrix", answer)
    assert report.mistake == "all heads at once, from weights transposed"
    assert "is cut from" not in text(report)
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
    previous = check(
        "previous_token_score", lambda weights: weights.diagonal(-1, 2, 3).reshape(weights.shape[1], -1).mean(-1)
    )
    induction = check(
        "induction_score",
        lambda weights, period: weights.diagonal(1 - period, 2, 3)[..., 1:].reshape(weights.shape[1], -1).mean(-1),
    )
    assert previous.mistake == induction.mistake == "sequences and heads mixed"


@pytest.mark.parametrize(
    ("normed", "mistake"),
    [
        (
            lambda x, norm: (
                (x - x[-1].mean(-1, keepdim=True)) / (x[-1].var(-1, correction=0, keepdim=True) + norm.eps).sqrt()
            ),
            "the last stage's statistics for all",
        ),
        (
            lambda x, norm: (
                (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + norm.eps) * norm.weight
            ),
            "gain or bias missing",
        ),
        (
            lambda x, norm: (
                torch.cat([x[:1], x.diff(dim=0)])
                / (x[-1].var(-1, correction=0, keepdim=True) + norm.eps).sqrt()
                * norm.weight
            ),
            "direct logit attribution",
        ),
    ],
)
def test_statistics_of_the_last_stage_without_gain_or_of_contributions_are_named(normed, mistake):
    assert (
        check("logit_lens", lambda residuals, norm, unembedding: normed(residuals, norm) @ unembedding.T).mistake
        == mistake
    )


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
    assert "does not finish" not in text(report)
    assert "If there is no loop" in text(report)


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (lambda p, q, token, u: p.argmax(-1), "kept only where it is the likeliest"),
        (
            lambda p, q, token, u: torch.where(token == p.argmax(-1), token, torch.multinomial(p, 1)[:, 0]),
            "kept only where it is the likeliest",
        ),
        (
            lambda p, q, token, u: torch.where(
                (of_token(p, token) >= of_token(q, token)) | (u < of_token(p, token)),
                token,
                torch.multinomial(residual_of(p, q), 1)[:, 0],
            ),
            "accepted with p where p is less than q",
        ),
    ],
)
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
            scores = query @ key[..., left : left + block, :].mT / math.sqrt(query.shape[-1])
            scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1 - left) == 1, -math.inf)
            raised = torch.maximum(largest, scores.amax(-1, keepdim=True))
            weights, shrink = (scores - raised).exp(), (largest - raised).exp()
            total = total * shrink + weights.sum(-1, keepdim=True)
            summed, largest = summed * shrink + weights @ value[..., left : left + block, :] / total, raised
        return summed

    assert check("tiled_attention", late).mistake == "the maximum taken before the mask"
    assert check("tiled_attention", divided).mistake == "divided in every tile"


def late(new, past):
    return torch.ones(new, past + new).triu(past + 1) == 1


def with_mask(query, keys, values, new_key, new_value, mask):
    keys, values = joined(keys, values, new_key, new_value)
    return F.scaled_dot_product_attention(query, keys, values, attn_mask=mask), keys, values


def test_a_mask_of_the_other_meaning_is_not_said_to_leave_a_query_out():
    report = check(
        "attend_with_cache",
        lambda query, keys, *others: with_mask(query, keys, *others, late(query.shape[2], keys.shape[2])),
    )
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
    report = check(
        "attend_with_cache",
        lambda *inputs: with_mask(
            *inputs,
            torch.ones(inputs[0].shape[2], inputs[0].shape[2] + inputs[1].shape[2]).tril(inputs[0].shape[2]) == 1,
        ),
    )
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
            rows = query[..., start : start + block, :] / math.sqrt(query.shape[-1])
            largest, total, summed = torch.full_like(rows[..., :1], -math.inf), 0, 0
            for left in range(0, start + 1, block):
                scores = rows @ key[..., left : left + block, :].mT
                scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1 + start - left) == 1, -math.inf)
                own = scores.amax(-1, keepdim=True)
                weights, raised = (scores - own).exp(), torch.maximum(largest, own)
                shrink = (largest - raised).exp()
                total = total * shrink + weights.sum(-1, keepdim=True)
                summed, largest = summed * shrink + weights @ value[..., left : left + block, :], raised
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
        reads = attention.linear_v.weight[start : start + d_head]
        return (unembedding @ attention.linear_out.weight[:, start : start + d_head] @ reads @ embedding.T).T

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
    assert "That hides nothing" in text(report)


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
            rows, keys, values = query[..., start : start + block, :], key[..., seen, :], value[..., seen, :]
            mask = torch.ones(rows.shape[-2], keys.shape[-2], dtype=query.dtype).tril(start)
            outputs.append(F.scaled_dot_product_attention(rows, keys, values, attn_mask=mask))
        return torch.cat(outputs, -2)

    assert check("tiled_attention", answer).mistake == "the mask added to the scores"


def test_a_diagonal_sliced_from_before_the_period_is_named():
    report = check(
        "induction_score", lambda weights, period: weights.diagonal(1 - period, -2, -1)[..., period - 1 :].mean((0, 2))
    )
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
    assert "but not itself, at least in some cases" in text(report)


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

    assert check("online_softmax", answer).mistake == "rescaled for all rows or for none"


def test_tiles_divided_by_d_once_are_not_said_to_be_scaled_twice():
    def answer(query, key, value, block):
        return tiled(-torch.inf, -torch.inf)(query / math.sqrt(query.shape[-1]), key, value, block)

    report = check("tiled_attention", answer)
    assert report.mistake == "scaled by d, not √d"
    assert "divided by d, not by √d, as when" in text(report)


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
        tokens[rejected] = torch.multinomial(residual, 1)[: int(rejected.sum()), 0]
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


@pytest.mark.parametrize(
    ("answer", "mistake", "true", "false"),
    [
        (
            lens(mean_of=lambda x: x[-1]),
            "the last stage's statistics for all",
            "statistics of the last",
            "are divided by",
        ),
        (
            lens(variance_of=lambda x: x[0]),
            "the first stage's statistics for all",
            "of the first stage",
            "the mean and",
        ),
        (lens(centred=False), "the mean left in", "vector is left in", "divided by their root mean square"),
        (
            lens(*2 * [lambda x: x.roll(-1, 0)]),
            "the statistics of a neighbour",
            "before it or after it",
            "stage before.",
        ),
        (
            lambda x, norm, table: norm(x[:, :, :-1]) @ table.T,
            "positions left out",
            "or all but one",
            "one position alone",
        ),
        (
            lambda x, norm, table: norm(x.transpose(1, 2)) @ table.T,
            "dimensions swapped",
            "swapped",
            "do not come first",
        ),
        (
            lambda x, norm, table: norm(x + x[:1]) @ table.T,
            "the stages added up",
            "just the first",
            "one layer has added",
        ),
        (
            lambda x, norm, table: (norm(x) @ table.T).diff(dim=0, prepend=torch.zeros(1, *x.shape[1:3], len(table))),
            "differences between stages",
            "from those of another",
            "the last stage",
        ),
    ],
)
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
    assert "or (score - maximum) / sum" in text(report)


def tiles_of(scale, step=0):
    """Attention in tiles with another scale, each position seeing as many steps too far."""

    def answer(query, key, value, block):
        length, outputs = query.shape[-2], []
        for start in range(0, length, block):
            scores = query[..., start : start + block, :] @ key.mT / scale(query, block)
            late = torch.arange(length) > torch.arange(start, min(start + block, length))[:, None] + step
            outputs.append(scores.masked_fill(late, -torch.inf).softmax(-1) @ value)
        return torch.cat(outputs, -2)

    return answer


@pytest.mark.parametrize(
    ("answer", "mistake", "true"),
    [
        (tiles_of(lambda query, block: block), "scaled by the block", "the block's size or its square root"),
        (
            tiles_of(lambda query, block: math.sqrt(query.shape[-1]), 1),
            "one step into the future",
            "at least where both",
        ),
    ],
)
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
            keys, values = (one[..., : keys_up_to(start, block), :] for one in (key, value))
            outputs.append(
                F.scaled_dot_product_attention(query[..., start : start + block, :], keys, values)
                if start or not first
                else right[..., :block, :]
            )
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
        mask[row, row - window + 1 : row + 1] = True
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


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        (
            "online_softmax",
            in_passes(lambda largest, own: own, lambda powers: powers.sum(-1, keepdim=True)),
            "the maximum never kept",
        ),
        ("online_softmax", in_passes(torch.maximum, torch.sum), "one sum for all rows"),
        (
            "logit_lens",
            lambda x, norm, table: torch.cat([norm(stage) @ table.T for stage in x]),
            "the stages joined along the batch",
        ),
        (
            "speculate",
            lambda p, q, token, u: torch.where(
                u[0] < accepted(p, q, token), token, torch.multinomial(residual_of(p, q), 1)[:, 0]
            ),
            "one u for all rows",
        ),
        ("attend_with_cache", keeping(lambda query, key: query), "the query kept"),
        (
            "attend_with_cache",
            keeping(lambda query, key: key / math.sqrt(key.shape[-1]), 1.0),
            "the scale kept in the cache",
        ),
        ("sliding_window_mask", lambda length, window: distance(length) % window == 0, "every window-th position"),
        (
            "sliding_window_mask",
            lambda length, window: distance(length) < min(window, length - 1),
            "a window cut short",
        ),
    ],
)
def test_natural_slips_are_named(name, answer, mistake):
    assert check(name, answer).mistake == mistake


def distance(length):
    """How far back a key lies; for later ones, a number that is too large, and no multiple of any window."""
    far = torch.arange(length)[:, None] - torch.arange(length)
    return far.double().masked_fill(far < 0, 1e6 + 0.5)


@pytest.mark.parametrize(
    ("name", "answer", "said", "unsaid"),
    [
        ("logit_lens", lambda x, norm, table: [norm(stage) @ table.T for stage in x], "in a list", "one stage"),
        ("logit_lens", lambda x, norm, table: tuple(norm(x) @ table.T), "or a tuple", "one stage"),
        ("logit_lens", lambda x, norm, table: x @ norm(table).T, "not to the stream", "two mistakes"),
        ("logit_lens", lambda x, norm, table: norm(x) @ table, "as many tokens as features", "RuntimeError: Where"),
        ("copying_matrix", written, "only one of the tables", "swapped"),
        ("induction_score", wrapped, "modulo the period", "first copy"),
        (
            "attend_with_cache",
            extended(lambda q, k, v: SEEN(q[:, :, -1:], k, v).expand(*q.shape[:3], v.shape[3])),
            "for the last query, or for the first",
            "the loop keep",
        ),
        ("attend_with_cache", extended(SEEN), "or it has no effect", "not always. With"),
        ("attend_with_cache", one_at_a_time, "a loop overwrites", "every `[-1]`"),
        ("sliding_window_mask", turned, "as when the far edge lies above the diagonal", "`triu(window - 1)`"),
        ("sliding_window_mask", late_rows, "a loop over the rows, where does it begin", "is kept"),
        (
            "tiled_attention",
            in_blocks_of(lambda start, block: start),
            "block of queries sees only those",
            "nothing at all",
        ),
        (
            "tiled_attention",
            in_blocks_of(lambda start, block: start + 1, first=False),
            "end at the block's first query",
            "Tiles are masked as if",
        ),
        (
            "tiled_attention",
            in_blocks_of(lambda start, block: start + block, first=False),
            "is its result used",
            "has no mask",
        ),
        (
            "previous_token_score",
            lambda weights: weights.diagonal(-1, -2, -1).sum((0, 2)) / len(weights) / weights.shape[-1] ** 2,
            "divided by the number of cells",
            "set to 0",
        ),
        (
            "previous_token_score",
            lambda weights: weights.diagonal(-1, -2, -1).mean((0, 1)),
            "one number for each position",
            "The mean over the positions is missing.",
        ),
        (
            "ablate_head",
            lambda heads, number: heads - heads[:, number : number + 1],
            "subtracted from the other heads",
            "sign reversed",
        ),
        ("ablate_head", lambda heads, number: heads.where(heads != number, 0), "the index of a head", "thrown away"),
        (
            "speculate",
            lambda p, q, token, u: sampling.speculate(q, p, token, u),
            "The two models are exchanged",
            "two mistakes",
        ),
    ],
)
def test_nothing_is_said_that_is_false_of_such_an_answer(name, answer, said, unsaid):
    found = text(check(name, answer))
    assert said in found
    assert unsaid not in found


# Answers that had only a general verdict


def passes(step, first=True, parts=False):
    """A softmax in blocks, each of which makes a new maximum and sum of (maximum, sum, scores), from nothing or not."""

    def answer(blocks):
        largest = torch.full_like(blocks[0][..., :1], -torch.inf) if first else blocks[0].amax(-1, keepdim=True)
        total = torch.zeros_like(largest) if first else (blocks[0] - largest).exp().sum(-1, keepdim=True)
        for scores in blocks if first else blocks[1:]:
            largest, total = step(largest, total, scores, torch.maximum(largest, scores.amax(-1, keepdim=True)))
        return (largest, total) if parts else torch.cat([(scores - largest).exp() / total for scores in blocks], -1)

    return answer


def whole(scores, largest):
    return (scores - largest).exp().sum(-1, keepdim=True)


def plainly(m, s, scores, new):
    return new, s * (m - new).exp() + whole(scores, new)


def last_maximum(blocks):
    _, total = passes(plainly, parts=True)(blocks)
    return torch.cat([(scores - blocks[-1].amax(-1, keepdim=True)).exp() / total for scores in blocks], -1)


def at_once(blocks):
    largest, total, parts = *in_first(blocks), []
    for scores in blocks:
        raised, total = plainly(largest, total, scores, torch.maximum(largest, scores.amax(-1, keepdim=True)))
        parts = [*((largest - raised).exp() * part for part in parts), (scores - raised).exp() / total]
        largest = raised
    return torch.cat(parts, -1)


def in_first(blocks):
    return torch.full_like(blocks[0][..., :1], -torch.inf), torch.zeros_like(blocks[0][..., :1])


def below_a_mean(blocks):
    powers = torch.cat(blocks, -1).sub(torch.stack([one.mean(-1) for one in blocks], -1).amax(-1, keepdim=True)).exp()
    return powers / powers.sum(-1, keepdim=True)


def from_the_second(blocks):
    largest = blocks[0].amax(-1, keepdim=True)
    total = torch.ones_like(largest)
    for scores in blocks[1:]:
        largest, total = plainly(largest, total, scores, torch.maximum(largest, scores.amax(-1, keepdim=True)))
    return torch.cat([(scores - largest).exp() / total for scores in blocks], -1)


def flat(blocks):
    largest, total = torch.tensor(-math.inf), torch.tensor(0.0)
    for scores in blocks:
        raised = torch.maximum(largest, scores.max(-1).values)
        total, largest = total * (largest - raised).exp() + (scores - raised).exp().sum(-1), raised
    return torch.cat([(scores - largest).exp() / total for scores in blocks], -1)


def of_matrices(blocks):
    rows, _ = blocks[0].shape
    return in_blocks(blocks, *(one.expand(rows, 1) for one in in_first(blocks)))


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (
            passes(lambda m, s, scores, new: (new, s + (m - new).exp() * whole(scores, new))),
            "the new block rescaled, not the sum so far",
        ),
        (
            passes(lambda m, s, scores, new: (new, s + (m - new).exp() * whole(scores, new)), first=False),
            "the new block rescaled, not the sum so far",
        ),
        (
            lambda blocks: in_blocks(blocks, blocks[0].amax(-1, keepdim=True), torch.ones_like(blocks[0][..., :1])),
            "the sum starts at 1",
        ),
        (from_the_second, "only the largest of the first block counted"),
        (last_maximum, "another maximum in the weights"),
        (at_once, "divided by the sum so far"),
        (
            passes(
                lambda m, s, scores, new: (new, s * (m - scores.amax(-1, keepdim=True)).exp() + whole(scores, new)),
                False,
            ),
            "rescaled to the block, not to the running maximum",
        ),
        (
            passes(
                lambda m, s, scores, new: (
                    new,
                    s * (m - new if new.flatten()[0] > m.flatten()[0] else m * 0).exp() + whole(scores, new),
                ),
                first=False,
            ),
            "rescaled for all rows or for none",
        ),
        (below_a_mean, "the mean for the maximum"),
        (passes(plainly, parts=True), "maximum and sum returned"),
        (flat, "no keepdim"),
        (
            lambda blocks: torch.stack(
                in_blocks(blocks, *in_first(blocks)).split([one.shape[-1] for one in blocks], -1), -2
            ).flatten(-2),
            "blocks of equal size only",
        ),
        (of_matrices, "a fixed number of dimensions"),
    ],
)
def test_slips_in_a_softmax_in_blocks_are_named(answer, mistake):
    assert check("online_softmax", answer).mistake == mistake


def of_largest(p, q, token, u):
    return u < p.amax(-1) / q.amax(-1)


def in_turn(p, q, token, u):
    """A loop that breaks at the first rejection."""
    made = token.clone()
    for row in range(len(token)):
        if u[row] >= accepted(p, q, token)[row]:
            made[row] = torch.multinomial((p[row] - q[row]).clamp(min=0), 1)[0]
            break
    return made


def for_the_batch(left):
    return torch.multinomial(left.sum(0), 1).expand(len(left))


def within_the_list(left):
    return torch.stack([torch.multinomial(row[row > 0], 1)[0] for row in left])


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (lambda p, q, token, u: redrawn()(p, q, token, u)[:, None], "a column of tokens"),
        (lambda p, q, token, u: redrawn()(p.softmax(-1), q.softmax(-1), token, u), "p and q taken for logits"),
        (
            redrawn(lambda p, q, token, u: u < (of_token(p, token) - of_token(q, token)).exp()),
            "p and q taken for logits",
        ),
        (redrawn(drawn=within_the_list), "a place among some, not an id"),
        (
            redrawn(drawn=lambda left: torch.multinomial(left.sort(descending=True).values, 1)[:, 0]),
            "a place among some, not an id",
        ),
        (in_turn, "only the first rejected row drawn again"),
        (
            lambda p, q, token, u: torch.where(u < accepted(p, q, token), token, torch.multinomial(p + q, 1)[:, 0]),
            "no p - q in the second draw",
        ),
        (redrawn(of_largest), "the ratio of the likeliest"),
        (redrawn(lambda p, q, token, u: u < of_token(p, token) / q.amax(-1)), "the ratio of the likeliest"),
        (redrawn(lambda p, q, token, u: u < 0.6 * accepted(p, q, token)), "accepted too often or too seldom"),
        (redrawn(lambda p, q, token, u: u < torch.minimum(p, q).sum(-1)), "accepted too often or too seldom"),
        (
            redrawn(drawn=lambda left: torch.multinomial(torch.where(left > 0, left**-2, 0), 1)[:, 0]),
            "the second draw not by max(p - q, 0)",
        ),
        (redrawn(drawn=for_the_batch), "one draw for all rows"),
    ],
)
def test_slips_in_a_draft_accepted_or_drawn_again_are_named(answer, mistake):
    assert check("speculate", answer).mistake == mistake


def by_hand(
    reset=True,
    scale=lambda n, d: d**-0.5,
    values=lambda start, left: left,
    sums=None,
    keys=None,
    starts=lambda length, block: range(0, length, block),
):
    """Attention in tiles, with one thing that may be otherwise."""

    def answer(query, key, value, block):
        outputs, state = [], None
        for start in starts(query.shape[-2], block):
            rows = query[..., start : start + block, :]
            if reset or state is None:
                column = torch.zeros_like(rows[..., :1])
                state = column - math.inf, column, column * value[..., :1, :]
            largest, total, summed = (one[..., : rows.shape[-2], :] for one in state)
            tiles = range(0, start + 1, block) if keys is None else keys(start, query.shape[-2], block)
            for n, left in enumerate(tiles):
                scores = rows @ key[..., left : left + block, :].mT * scale(n, query.shape[-1])
                if keys is None:
                    scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(start - left + 1) == 1, -math.inf)
                raised = torch.maximum(largest, scores.amax(-1, keepdim=True))
                powers, shrink = (scores - raised).exp(), (largest - raised).exp()
                seen = value[..., values(start, left) :, :][..., :block, :]
                powers = powers[..., : seen.shape[-2]]
                added = powers.sum(-1, keepdim=True), powers @ seen
                shrink = 1 + 0 * shrink if sums and not n else shrink
                total, summed = (sums or (lambda so_far, new, shrink: so_far * shrink + new))(
                    torch.cat([total, summed], -1), torch.cat(added, -1), shrink
                ).split([1, value.shape[-1]], -1)
                largest = raised
            state = largest, total, summed
            outputs.append(summed / total)
        return torch.cat(outputs, -2)

    return answer


def of_heads(query, key, value, block):
    _, _, _, _ = query.shape
    return by_hand()(query, key, value, block)


def of_whole_blocks(query, key, value, block):
    assert query.shape[-2] % block == 0, "the block must divide the length"
    return by_hand()(query, key, value, block)


def into_a_query(query, key, value, block):
    output = torch.empty_like(query)
    output[..., :] = by_hand()(query, key, value, block)
    return output


def cut_first(query, key, value, block):
    outputs = []
    for start in range(0, query.shape[-2], block):
        scores = query[start : start + block] @ key[: start + block].mT / math.sqrt(query.shape[-1])
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(start + 1) == 1, -math.inf)
        outputs.append(scores.softmax(-1) @ value[: start + block])
    return torch.cat(outputs)


def by_number_of_keys(query, key, value, block):
    outputs = []
    for start in range(0, query.shape[-2], block):
        summed = count = 0
        for left in range(0, start + 1, block):
            scores = (
                query[..., start : start + block, :] @ key[..., left : left + block, :].mT / math.sqrt(query.shape[-1])
            )
            hidden = torch.ones(scores.shape[-2:]).triu(start - left + 1) == 1
            seen = (~hidden).sum(-1, keepdim=True)
            weights = scores.masked_fill(hidden, -math.inf).softmax(-1)
            summed, count = summed + seen * (weights @ value[..., left : left + block, :]), count + seen
        outputs.append(summed / count)
    return torch.cat(outputs, -2)


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (by_hand(reset=False), "not reset for the next block of queries"),
        (by_hand(scale=lambda n, d: d ** (-0.5 * (n + 1))), "scaled again in every tile"),
        (by_hand(values=lambda start, left: start), "the values of another block"),
        (by_hand(sums=lambda so_far, new, shrink: (so_far + new) * shrink), "the new tile rescaled, too"),
        (by_hand(sums=lambda so_far, new, shrink: so_far + new * shrink), "the new tile rescaled, not the sums so far"),
        (
            by_hand(keys=lambda start, length, block: range(start, length, block)),
            "the tiles of the future for those of the past",
        ),
        (
            by_hand(starts=lambda length, block: range(0, length // block * block + 1, block)),
            "an empty block at the end",
        ),
        (by_number_of_keys, "a softmax of each tile, averaged"),
        (of_heads, "a fixed number of dimensions"),
        (cut_first, "a fixed number of dimensions"),
        (of_whole_blocks, "the block has to divide the length"),
        (into_a_query, "the output as wide as the query"),
    ],
)
def test_slips_in_attention_in_tiles_are_named(answer, mistake):
    assert check("tiled_attention", answer).mistake == mistake


def by_mask(mask, keys_of=lambda keys, new: keys, values_of=None):
    """Attention with a cache, with a mask of (query, keys, values) before they are joined."""

    def answer(query, keys, values, new_key, new_value):
        seen = mask(query, keys, values)
        keys = torch.cat([keys_of(keys, new_key), new_key], 2)
        values = torch.cat([keys_of(values, new_value), new_value], 2)
        return SEEN(query, keys, values, seen), keys, values

    return answer


def causal(query, keys, values):
    return torch.ones(query.shape[2], keys.shape[2] + query.shape[2], dtype=torch.bool).tril(keys.shape[2])


def same_new(query, keys, values, new_key, new_value):
    return by_mask(causal)(query, keys, values, new_key, new_key)


def exchanged(query, keys, values, new_value, new_key):
    return by_mask(causal)(query, keys, values, new_key, new_value)


def merged(*inputs):
    output, keys, values = by_mask(causal)(*inputs)
    return output.transpose(1, 2).flatten(2), keys, values


def for_weights(query, keys, values, new_key, new_value):
    mask = causal(query, keys, values)
    keys, values = joined(keys, values, new_key, new_value)
    return (query @ keys.mT / math.sqrt(query.shape[-1])).masked_fill(~mask, -torch.inf).softmax(-1), keys, values


def first_only(query, keys, values, new_key, new_value):
    return extended(SEEN)(query, keys, values, new_key[:, :, :1], new_value[:, :, :1])


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (same_new, "new keys and new values mixed up"),
        (exchanged, "new keys and new values mixed up"),
        (
            by_mask(
                lambda query, keys, values: (
                    None if keys.shape[2] + query.shape[2] == 1 else causal(query, keys[:, :, :-1], values)
                ),
                lambda keys, new: keys[:, :, :-1],
            ),
            "an old token not kept",
        ),
        (
            by_mask(
                lambda query, keys, values: (
                    causal(query, keys, values) if torch.arange(keys.shape[2]).max() < 1e9 else 0
                )
            ),
            "an empty cache not expected",
        ),
        (first_only, "only the first new token kept"),
        (
            by_mask(
                lambda query, keys, values: F.pad(
                    torch.ones(2 * query.shape[2:3], dtype=torch.bool).tril(), (0, keys.shape[2]), value=True
                )
            ),
            "the triangle over the oldest keys",
        ),
        (by_mask(lambda query, keys, values: causal(query, keys, values).triu()), "the mask slides"),
        (
            by_mask(
                lambda query, keys, values: (
                    torch.ones(query.shape[2], keys.shape[2] + query.shape[2]).tril(values.shape[3]) == 1
                )
            ),
            "shifted by the batch or the features",
        ),
        (merged, "the heads merged"),
        (for_weights, "the weights for the output"),
    ],
)
def test_slips_in_an_attention_with_a_cache_are_named(answer, mistake):
    assert check("attend_with_cache", answer).mistake == mistake


def plain_norm(x, norm, gain=None, bias=None):
    return F.layer_norm(x, norm.normalized_shape, gain, bias, norm.eps)


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (lambda x, norm, table: torch.stack([norm(x[-1]) @ table.T for _ in x]), "one stage for all"),
        (lambda x, norm, table: torch.stack([norm(x[0]) @ table.T for _ in x]), "one stage for all"),
        (lambda x, norm, table: norm(torch.cat([x[:1], x[1:] + x[0]])) @ table.T, "the stages added up"),
        (
            lambda x, norm, table: norm(x.cumsum(0) / torch.arange(1, len(x) + 1).view(-1, 1, 1, 1)) @ table.T,
            "a running mean of the stages",
        ),
        (lambda x, norm, table: (plain_norm(x, norm) * norm.bias + norm.weight) @ table.T, "gain and bias mixed up"),
        (lambda x, norm, table: plain_norm(x, norm, norm.weight, norm.weight) @ table.T, "gain and bias mixed up"),
        (lambda x, norm, table: norm(x.mean(2)) @ table.T, "the positions averaged"),
        (
            lambda x, norm, table: plain_norm(x, norm, norm.weight) @ table.T + norm.bias.sum(),
            "the bias added to the logits",
        ),
    ],
)
def test_slips_in_a_lens_are_named(answer, mistake):
    assert check("logit_lens", answer).mistake == mistake


def by_diagonals(length, window):
    return sum(torch.diag(torch.ones(length - back), -back) for back in range(window)) > 0


def past(length):
    return torch.ones(length, length, dtype=torch.bool).tril()


def in_its_block(length, window, allowed):
    block = torch.arange(length) // window
    return allowed(block[:, None] - block)


def from_below_0(length, window):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for query in range(length):
        mask[query, query - window : query + 1] = True
    return mask


def refused_at(more):
    def answer(length, window):
        assert window < length + more
        return past(length).triu(1 - window)

    return answer


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (by_diagonals, "a long window not expected"),
        (refused_at(0), "a long window not expected"),
        (refused_at(1), "a long window not expected"),
        (
            lambda length, window: past(length) & in_its_block(length, window, lambda back: back < 2),
            "the block before seen, too",
        ),
        (
            lambda length, window: in_its_block(length, window, lambda back: back.abs() < 2),
            "the block before seen, too",
        ),
        (
            lambda length, window: in_its_block(length, window, lambda back: back > -1),
            "whole blocks, and all before them",
        ),
        (lambda length, window: past(length).triu(window - length), "length - window for the window"),
        (lambda length, window: torch.arange(length)[:, None] + torch.arange(1 - window, 1) > -1, "the wrong size"),
        (from_below_0, "the window counted without itself and the first rows cut off"),
    ],
)
def test_slips_in_a_window_are_named(answer, mistake):
    assert check("sliding_window_mask", answer).mistake == mistake


def multiplied(product, own=lambda head, d_head: slice(head * d_head, (head + 1) * d_head)):
    """A product of the two tables, the weights of linear_v and linear_out, the head's slice and the next one."""

    def answer(embedding, attention, unembedding, head):
        d_head = attention.d_model // attention.num_heads
        slices = own(head, d_head), own((head + 1) % attention.num_heads, d_head)
        return product(embedding, unembedding, attention.linear_v.weight, attention.linear_out.weight, *slices)

    return answer


def of_each_head(embedding, attention, unembedding, head):
    one = multiplied(lambda e, u, v, o, own, after: u @ o[:, own] @ v[own] @ e.T)
    return torch.stack([one(embedding, attention, unembedding, head) for head in range(attention.num_heads)])


def copies(matrix):
    values = torch.linalg.eigvals(matrix)
    return values.real.sum() / values.abs().sum()


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (
            multiplied(lambda e, u, v, o, own, after: u[:, own] @ (o @ v)[own, own] @ e[:, own].T),
            "the tokens' vectors cut",
        ),
        (
            multiplied(lambda e, u, v, o, own, after: u @ o[:, own] @ v[own, own] @ e[:, own].T),
            "the tokens' vectors cut",
        ),
        (multiplied(lambda e, u, v, o, own, after: u[:, own] @ v[own] @ o[:, own] @ e[:, own].T), "W_V after W_O"),
        (multiplied(lambda e, u, v, o, own, after: u @ v @ o @ e.T), "W_V after W_O"),
        (
            multiplied(lambda e, u, v, o, own, after: F.normalize(u) @ F.normalize(e @ v[own].T @ o[:, own].T).T),
            "divided by a length",
        ),
        (multiplied(lambda e, u, v, o, own, after: u @ o[:, own] @ v[own] @ F.normalize(e).T), "divided by a length"),
        (
            multiplied(lambda e, u, v, o, own, after: u @ o[:, own] @ v[own] @ F.layer_norm(e, e.shape[1:]).T),
            "a layer norm",
        ),
        (multiplied(lambda e, u, v, o, own, after: u @ o[:, after] @ v[own] @ e.T), "slices of two heads"),
        (multiplied(lambda e, u, v, o, own, after: u @ o[:, own] @ v[after] @ e.T), "slices of two heads"),
        (
            multiplied(
                lambda e, u, v, o, own, after: u @ o[:, own] @ v[own] @ e.T,
                lambda head, d_head: slice((head + 1) * d_head, (head + 2) * d_head),
            ),
            "the next head",
        ),
        (
            multiplied(
                lambda e, u, v, o, own, after: u @ o[:, own] @ v[own] @ e.T,
                lambda head, d_head: slice(head * 64, head * 64 + 64),
            ),
            "a fixed width",
        ),
        (of_each_head, "every head's matrix"),
        (multiplied(lambda e, u, v, o, own, after: copies(u @ o[:, own] @ v[own] @ e.T)), "the diagonal alone"),
        (multiplied(lambda e, u, v, o, own, after: e @ v[own].T), "a matrix of features"),
        (
            multiplied(lambda e, u, v, o, own, after: u @ o[:, own] @ v[own] @ e.T + e @ v[own].T @ o[:, own].T @ u.T),
            "made symmetric",
        ),
    ],
)
def test_slips_in_a_table_of_tokens_are_named(answer, mistake):
    assert check("copying_matrix", answer).mistake == mistake


def with_zeros(index=lambda heads, number: (slice(None), number), change=None):
    """The heads with a part set to 0, and then changed."""

    def answer(heads, number):
        copy = heads.clone()
        copy[index(heads, number)] = 0
        return copy if change is None else change(copy, number)

    return answer


def changed(what):
    def answer(heads, number):
        copy = heads.clone()
        copy[:, number] = what(heads[:, number])
        return copy

    return answer


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (
            with_zeros(lambda heads, number: (slice(None), number, slice(None), slice(heads.shape[3] // 2))),
            "a part of the head left",
        ),
        (with_zeros(lambda heads, number: (slice(None), number, slice(None, None, 2))), "a part of the head left"),
        (changed(lambda own: own.clamp(max=0)), "a part of the head left"),
        (changed(torch.relu), "a part of the head left"),
        (changed(lambda own: own / 2), "another number than 0"),
        (
            with_zeros(change=lambda heads, number: heads * heads.shape[1] / (heads.shape[1] - 1)),
            "the others made louder",
        ),
        (with_zeros(change=lambda heads, number: heads / max(heads.shape[1] - 1, 1)), "the others made quieter"),
        (with_zeros(change=lambda heads, number: heads / heads.shape[1]), "the others made quieter"),
        (
            with_zeros(
                change=lambda heads, number: torch.cat(
                    [heads[:, :number], heads[:, number + 1 :], heads[:, number : number + 1]], 1
                )
            ),
            "silenced and moved",
        ),
        (with_zeros(lambda heads, number: (slice(None), [number, 0])), "other heads changed"),
        (with_zeros(lambda heads, number: (slice(None), slice(number, number + 2))), "other heads changed"),
    ],
)
def test_slips_with_a_silent_head_are_named(answer, mistake):
    assert check("ablate_head", answer).mistake == mistake


def test_a_result_that_holds_no_numbers_shows_no_sign_of_a_silent_head():
    assert check("ablate_head", lambda heads, number: heads.to("meta")).mistake == "wrong kind of result"


def looked_up(key, first=lambda period: period, end=0, mean=lambda picked: picked.mean((0, 2))):
    """A score from each query's key or keys, from a first query to the last, or to one before."""

    def answer(weights, period=2):
        queries = range(first(period), weights.shape[-1] - end)
        return mean(torch.stack([key(weights[:, :, t], t, period) for t in queries], -1))

    return answer


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (
            lambda weights, period: weights.diagonal(1 - period, -2, -1)[..., :-1].mean((0, 2)),
            "one query too early at both ends",
        ),
        (
            looked_up(lambda row, t, period: row[..., t - period + 2], lambda period: period - 1, 1),
            "two after the earlier copy and one query too early at both ends",
        ),
        (looked_up(lambda row, t, period: row[..., t % period]), "the first copy itself"),
        (looked_up(lambda row, t, period: row[..., t - period + 1 : t + 1].sum(-1)), "neighbouring keys counted in"),
        (looked_up(lambda row, t, period: row[..., t - period + 1 : t].sum(-1)), "neighbouring keys counted in"),
        (looked_up(lambda row, t, period: row[..., (t + 1 - 2 * period) % row.shape[-1]]), "a period too far back"),
        (
            lambda weights, period: weights[:, :, period:].diagonal(1 - period, -2, -1).mean((0, 2)),
            "a period too far back",
        ),
        (
            lambda weights, period: weights[:, :, period:].diagonal(-period, -2, -1).mean((0, 2)),
            "a period too far back",
        ),
    ],
)
def test_slips_in_a_score_of_induction_are_named(answer, mistake):
    assert check("induction_score", answer).mistake == mistake


@pytest.mark.parametrize(
    ("key", "mean", "mistake"),
    [
        (lambda row, right: row.amax(-1), None, "the largest of several keys"),
        (lambda row, right: right - 1 / row.shape[-1], None, "compared with equal weights"),
        (lambda row, right: right, lambda picked: picked, "the weights themselves"),
        (lambda row, right: right.square(), None, "squares averaged"),
        (lambda row, right: right, lambda picked: picked.std((0, 2)), "how the weights vary"),
        (lambda row, right: right, lambda picked: picked.mean((0, 2)).argmax(), "the best head alone"),
        (lambda row, right: right, lambda picked: picked.mean((0, 2)).max(), "the best head alone"),
        (lambda row, right: right, lambda picked: picked.mean((0, 2)).softmax(0), "scores that depend on each other"),
    ],
)
def test_slips_in_either_score_are_named(key, mean, mistake):
    averaged = mean or (lambda picked: picked.mean((0, 2)))
    induction = looked_up(lambda row, t, period: key(row, row[..., t - period + 1]), mean=averaged)
    previous = looked_up(lambda row, t, period: key(row, row[..., t - 1]), lambda period: 1, mean=averaged)
    assert check("induction_score", induction).mistake == mistake
    assert check("previous_token_score", lambda weights: previous(weights)).mistake == mistake


def test_a_share_of_what_is_not_on_the_token_itself_is_named():
    def answer(weights):
        others = 1 - weights.diagonal(0, -2, -1)[..., 1:]
        return (weights.diagonal(-1, -2, -1) / (others + 1e-9)).mean((0, 2))

    assert check("previous_token_score", answer).mistake == "divided by the weights before"
