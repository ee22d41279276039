"""Verdicts on lessons 9 and 10: natural mistakes have a name, and each sentence holds of every answer that gets it."""

import math
import re
from itertools import pairwise, product

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons import attention, masks
from transformer_lessons.exercises import check
from transformer_lessons.language import byte_pairs, pretrained


def text(report):
    return " ".join(report.message.split())


def the_end_compared(parts, pair):
    new = []
    for part in parts:
        if new and new[-1].endswith(pair[0]) and part == pair[1]:
            new[-1] += part
        else:
            new.append(part)
    return new


def test_a_part_whose_end_is_compared_is_not_called_a_token():
    found = text(check("merge", the_end_compared))
    assert "the last part of the new list ends with the first part of the pair" in found
    assert "token" not in found


def old_places(parts, pair, order):
    new = list(parts)
    for place in [place for place, two in enumerate(pairwise(parts)) if two == pair][::order]:
        new[place : place + 2] = [b"".join(pair)]
    return new


def removed(parts, pair):
    new, place = list(parts), 0
    while place < len(new) - 1:
        if (new[place], new[place + 1]) == pair:
            new[place] += new[place + 1]
            new.remove(pair[1])
        place += 1
    return new


def fixed_range(parts, pair):
    new = list(parts)
    for place in range(len(parts) - 1):
        if (new[place], new[place + 1]) == pair:
            new[place : place + 2] = [b"".join(pair)]
    return new


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (lambda parts, pair: old_places(parts, pair, 1), "places in the old list"),
        (lambda parts, pair: old_places(parts, pair, -1), "a whole run made one token"),
        (removed, "a part found by its value"),
        (fixed_range, "a list that gets shorter"),
    ],
)
def test_a_merge_in_a_list_that_merges_change_is_named(answer, mistake):
    assert check("merge", answer).mistake == mistake


def counted(words, pairs_of, counts):
    for word, number in words.items():
        for pair in pairs_of(word):
            counts[pair] = counts.get(pair, 0) + number
    return counts


def ring(word):
    return zip(word, word[1:] + word[:1], strict=True) if len(word) > 1 else []


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (
            lambda words: counted(
                words, pairwise, dict.fromkeys(product({part for word in words for part in word}, repeat=2), 0)
            ),
            "pairs that do not occur",
        ),
        (lambda words: counted(words, ring, {}), "the end joined to the beginning"),
        (
            lambda words: counted(
                words, lambda word: [pair for pair in pairwise(word) for other in pairwise(word) if pair == other], {}
            ),
            "repeated pairs counted again",
        ),
    ],
)
def test_too_many_pairs_are_named(answer, mistake):
    assert check("count_pairs", answer).mistake == mistake


def trained(words, number, counts_of=byte_pairs.count_pairs, key=lambda count, pair: (count, pair)):
    merges = []
    while len(merges) < number and (counts := counts_of(words)):
        merges.append(max(counts, key=lambda pair: key(counts[pair], pair)))
        words = {tuple(byte_pairs.merge(word, merges[-1])): count for word, count in words.items()}
    return merges


def by_words(words, kind):
    """Each word once; a pair that a word has twice counts twice (list) or once (set)."""
    return byte_pairs.Counter(pair for word in words for pair in kind(pairwise(word)))


def test_of_words_counted_once_no_sentence_says_what_a_pair_gets():
    found = check("train_bpe", lambda words, number: trained(words, number, lambda words: by_words(words, list)))
    assert found.mistake == "each word counted once"
    assert "every word counts only once" in text(found)
    assert (
        check("train_bpe", lambda words, number: trained(words, number, lambda words: by_words(words, set))).mistake
        == "each word counted once and a pair counted once a word"
    )


@pytest.mark.parametrize("key", [lambda count, pair: (str(count), pair), lambda count, pair: f"{count} {pair}"])
def test_counts_compared_as_text_are_named(key):
    report = check("train_bpe", lambda words, number: trained(words, number, key=key))
    assert report.mistake == "counts compared as text"


def test_words_that_are_never_merged_are_not_said_to_be_counted_only_once():
    def answer(words, number):
        counts = byte_pairs.count_pairs(words)
        return [max(counts, key=lambda pair: (counts[pair], pair))] * number if counts else []

    found = text(check("train_bpe", answer))
    assert "as they were before the first merge" in found
    assert "never again" not in found


def swept(parts, ranks, again):
    new, place = [], 0
    while place < len(parts):
        joined = 1 + (tuple(parts[place : place + 2]) in ranks)
        new.append(b"".join(parts[place : place + joined]))
        place += joined
    return swept(new, ranks, again) if again and new != parts else new


@pytest.mark.parametrize("again", [True, False])
def test_passes_from_left_to_right_are_named(again):
    assert check("apply_merges", lambda parts, ranks: swept(parts, ranks, again)).mistake == "the leftmost pair first"


def gated(x, gate, up, down, opened):
    return F.linear(opened(F.linear(x, gate)) * F.linear(x, up), down)


def fixed_letters(x, gate, up, down):
    z, u = (torch.einsum("bld,hd->blh", x, weight) for weight in (gate, up))
    return torch.einsum("blh,dh->bld", F.silu(z) * u, down)


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (lambda *given: gated(*given, lambda z: z * F.silu(z)), "a factor of SiLU twice"),
        (lambda *given: gated(*given, lambda z: F.silu(z) * z.sigmoid()), "a factor of SiLU twice"),
        (lambda *given: gated(*given, lambda z: F.silu(F.silu(z))), "SiLU twice"),
        (lambda x, gate, up, down: F.silu(x @ gate.T) * x @ up.T @ down.T, "multiplied by x"),
        (lambda x, gate, up, down: (F.silu(x @ gate.T) @ down.T) * (x @ up.T @ down.T), "down before the product"),
        (fixed_letters, "not every number of dimensions"),
    ],
)
def test_slips_in_a_gate_are_named(answer, mistake):
    assert check("swiglu", answer).mistake == mistake


def held_by_a_layer(x, gate, up, down):
    return gated(x, *map(nn.Parameter, (gate, up, down)), F.silu)


def held_by_a_norm(x, gain, epsilon=1e-5):
    norm = nn.RMSNorm(len(gain), eps=epsilon)
    norm.weight = nn.Parameter(gain)
    return norm(x)


@pytest.mark.parametrize(("name", "answer"), [("swiglu", held_by_a_layer), ("rms_norm", held_by_a_norm)])
def test_weights_wrapped_in_parameters_are_told_of_parameters(name, answer):
    found = text(check(name, answer))
    assert "made from ga" in found
    assert "`nn.Parameter(" in found


def attend(query, key, value):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    weights = scores.masked_fill(torch.ones_like(scores).triu(1) == 1, -torch.inf).softmax(-1)
    return weights @ value, weights


def test_key_heads_taken_in_turn_are_not_called_copies():
    def answer(query, key, value):
        heads = [
            attend(query[:, head], key[:, head % key.shape[1]], value[:, head % key.shape[1]])
            for head in range(query.shape[1])
        ]
        return tuple(torch.stack(one, 1) for one in zip(*heads, strict=True))

    found = check("grouped_query_attention", answer)
    assert found.mistake == "key heads dealt out in turn"
    assert "opies" not in found.message


@pytest.mark.parametrize("kept", [(0,), (1,), (0, 1)])
def test_groups_that_are_not_merged_are_named(kept):
    def answer(query, key, value):
        results = attend(query.unflatten(1, (key.shape[1], -1)), key[:, :, None], value[:, :, None])
        return tuple(one if place in kept else one.flatten(1, 2) for place, one in enumerate(results))

    assert check("grouped_query_attention", answer).mistake == "groups not merged"


def without(names):
    return lambda tensors: {name: one for name, one in pretrained.from_gpt2(tensors).items() if not names(name)}


@pytest.mark.parametrize(
    ("answer", "mistake", "sentence"),
    [
        (
            without(lambda name: name.endswith("bias") and "norm" not in name),
            "no biases of linear maps",
            "only the norms keep theirs",
        ),
        (
            without(lambda name: name.endswith("bias") and name != "norm.bias"),
            "no biases",
            "including those of their norms",
        ),
        (without(lambda name: name.endswith("bias") and "norm" in name), "no biases of norms", "biases of the norms"),
        (
            without(lambda name: name.startswith("layers.") and not name.startswith("layers.0.")),
            "only the first layer",
            "all the others are missing",
        ),
        (
            lambda tensors: {
                re.sub(r"layers\.\d+", "layers.0", name): one for name, one in pretrained.from_gpt2(tensors).items()
            },
            "all layers under one name",
            "only the last is left",
        ),
    ],
)
def test_what_is_missing_of_translated_weights_is_said_exactly(answer, mistake, sentence):
    found = check("from_gpt2", answer)
    assert found.mistake == mistake
    assert sentence in text(found)


def cut(tensor):
    """The weight of c_attn cut along its inputs, in as many pieces as there are, each transposed."""
    return [piece.T for piece in tensor.chunk(3)]


@pytest.mark.parametrize("pieces", [cut, lambda tensor: tensor.T.chunk(3, dim=-1), lambda tensor: [tensor.T]])
def test_too_few_pieces_of_c_attn_are_named(pieces):
    def answer(tensors):
        found = without(lambda name: name[-8:] in ("q.weight", "k.weight", "v.weight"))(tensors)
        for name, tensor in tensors.items():
            if name.endswith("c_attn.weight"):
                layer = name.removeprefix("transformer.").split(".")[1]
                found |= {
                    f"layers.{layer}.attention.linear_{letter}.weight": piece
                    for letter, piece in zip("qkv", pieces(tensor), strict=False)
                }
        return found

    assert check("from_gpt2", answer).mistake == "cut along the other dimension"


def found_in_a_text(words, mark, occurrences, own):
    """Each pair counted in the joined parts of a word: of each, or only (own) of those that have it."""
    counts = {}
    pairs = {pair for word in words for pair in pairwise(word)}
    for word, number in words.items():
        for pair in set(pairwise(word)) if own else pairs:
            if times := occurrences(mark.join(word), mark.join(pair)):
                counts[pair] = counts.get(pair, 0) + number * times
    return counts


def everywhere(joined, pair):
    return len(re.findall(b"(?=" + re.escape(pair) + b")", joined))


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("mark", [b" ", b",", b""])
@pytest.mark.parametrize(
    ("occurrences", "mistake"),
    [(everywhere, "parts of parts counted"), (bytes.count, "parts of parts counted, and overlapping pairs once")],
)
def test_a_pair_that_is_counted_in_joined_parts_is_named(occurrences, mistake, mark, own):
    assert check("count_pairs", lambda words: found_in_a_text(words, mark, occurrences, own)).mistake == mistake


def test_the_number_of_words_is_not_taken_for_a_count():
    report = check("count_pairs", lambda words: counted(dict.fromkeys(words, len(words)), pairwise, {}))
    assert report.mistake == "the number of words added"


def learned(words, number, pick, stale):
    """train_bpe, with counts that are kept up to date, or (stale) only added to; pick takes one of them."""
    words, merges, counts = dict(words), [], byte_pairs.count_pairs(words)
    while len(merges) < number and counts:
        best = pick(counts)
        merges.append(best)
        words = {tuple(byte_pairs.merge(word, best)): count for word, count in words.items()}
        new = byte_pairs.count_pairs(words)
        if stale:
            del counts[best]
            counts.update({pair: count for pair, count in new.items() if b"".join(best) in pair})
        else:
            counts = new
    return merges


def first_seen(counts):
    return counts.most_common(1)[0][0]


def test_counts_never_taken_away_are_named_with_ties_to_the_first_seen():
    both = {"counts never taken away", "ties to the first seen"}
    found = check("train_bpe", lambda words, number: learned(words, number, first_seen, stale=True)).mistake
    assert set(found.split(" and ")) == both
    for pick, stale in ((first_seen, False), (lambda counts: max(counts, key=lambda pair: (counts[pair], pair)), True)):
        assert (
            check(
                "train_bpe", lambda words, number, pick=pick, stale=stale: learned(words, number, pick, stale)
            ).mistake
            in both
        )


def test_words_kept_as_texts_that_are_cut_at_spaces_are_named():
    def answer(words, number):
        merges, texts = [], {b" ".join(word): count for word, count in words.items()}
        while len(merges) < number and (
            counts := counted({tuple(one.split()): count for one, count in texts.items()}, pairwise, {})
        ):
            best = max(counts, key=lambda pair: (counts[pair], pair))
            merges.append(best)
            found = re.compile(rb"(?<!\S)" + re.escape(b" ".join(best)) + rb"(?!\S)")
            texts = {found.sub(lambda _, best=best: b"".join(best), one): count for one, count in texts.items()}
        return merges

    assert check("train_bpe", answer).mistake == "cut at the spaces"


@pytest.mark.parametrize("low", [-torch.inf, -1e9])
@pytest.mark.parametrize(
    "hidden",
    [
        lambda scores, low: scores.tril().masked_fill(scores.tril() == 0, low),
        lambda scores, low: scores.masked_fill(scores * (1 - future(scores)) == 0, low),
    ],
)
def test_scores_of_0_that_are_taken_for_masked_are_found_and_named(hidden, low):
    def answer(query, key, value):
        key, value = (one.repeat_interleave(query.shape[1] // key.shape[1], 1) for one in (key, value))
        weights = hidden(query @ key.mT / math.sqrt(query.shape[-1]), low).softmax(-1)
        return weights @ value, weights

    assert check("grouped_query_attention", answer).mistake == "a score of 0 taken for masked"


def future(scores):
    return torch.ones_like(scores).triu(1)


@pytest.mark.parametrize("size", [lambda x: x.shape[0], lambda x: x.shape[1], lambda x: x.shape[-2], torch.numel])
def test_another_size_for_the_number_of_features_is_named(size):
    def answer(x, gain, epsilon=1e-5):
        return x / (x.square().sum(-1, keepdim=True) / size(x) + epsilon).sqrt() * gain

    def outside(x, gain, epsilon=1e-5):
        return x / (x.norm(dim=-1, keepdim=True) / size(x) ** 0.5 + epsilon) * gain

    assert check("rms_norm", answer).mistake == "the mean by another size"
    assert set(check("rms_norm", outside).mistake.split(" and ")) == {
        "the mean by another size",
        "epsilon outside the root",
    }


def test_a_map_by_up_that_comes_in_twice_is_named():
    report = check("swiglu", lambda x, gate, up, down: F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up) ** 2, down))
    assert report.mistake == "the up map multiplied in twice"


@pytest.mark.parametrize(
    "rare",
    [
        lambda words: byte_pairs.count_pairs({word: count for word, count in words.items() if count > 1}),
        lambda words: {pair: count for pair, count in byte_pairs.count_pairs(words).items() if count > 2},
    ],
)
def test_pairs_that_are_rare_count_as_well(rare):
    assert check("count_pairs", lambda words: dict(rare(words))).mistake == "rare pairs left out"


def test_a_mark_for_the_end_of_a_word_is_named():
    def marked(words):
        return dict(byte_pairs.count_pairs({(*word, b"</w>"): count for word, count in words.items()}))

    assert check("count_pairs", marked).mistake == "an end-of-word symbol"


def test_the_list_itself_is_no_new_list():
    def answer(parts, pair):
        return parts if pair[0] not in parts else byte_pairs.merge(parts, pair)

    report = check("merge", answer)
    assert report.mistake == "the given list returned"
    assert "asks for a new one" in text(report)


def test_every_further_second_part_swallowed_is_named():
    def answer(parts, pair):
        new, place = [], 0
        while place < len(parts):
            first = now = parts[place]
            place += 1
            while first == pair[0] and place < len(parts) and parts[place] == pair[1]:
                now += parts[place]
                place += 1
            new.append(now)
        return new

    assert check("merge", answer).mistake == "more than two parts joined"


@pytest.mark.parametrize("name", ["merge", "apply_merges"])
def test_what_holds_other_parts_is_the_result_and_not_the_argument(name):
    report = check(name, lambda parts, *rest: [b"".join(parts[place : place + 3]) for place in range(0, len(parts), 3)])
    assert "`parts` holds" not in text(report)


def test_a_silu_by_hand_that_is_not_a_number_for_large_features_is_named():
    def answer(x, gate, up, down):
        z = x @ gate.T
        return z * z.exp() / (1 + z.exp()) * (x @ up.T) @ down.T

    assert check("swiglu", answer).mistake == "an infinite exponential"
    for right in (lambda z: z / (1 + (-z).exp()), lambda z: z * (1 + (z / 2).tanh()) / 2):
        assert (
            check("swiglu", lambda x, gate, up, down, right=right: right(x @ gate.T) * (x @ up.T) @ down.T).status
            == "passed"
        )


@pytest.mark.parametrize("rounds", [20, 32])
def test_a_number_of_rounds_that_is_too_small_for_long_words_is_named(rounds):
    def answer(parts, ranks):
        for _ in range(rounds):
            if pairs := [pair for pair in pairwise(parts) if pair in ranks]:
                parts = byte_pairs.merge(parts, min(pairs, key=ranks.get))
        return list(parts)

    assert check("apply_merges", answer).mistake == "too few rounds"


def test_a_loop_that_starts_at_rank_1_is_not_told_of_a_condition_alone():
    def answer(parts, ranks):
        pairs = {rank: pair for pair, rank in ranks.items()}
        for rank in range(1, len(ranks)):
            parts = byte_pairs.merge(parts, pairs[rank])
        return list(parts)

    report = check("apply_merges", answer)
    assert report.mistake == "rank 0 left out"
    assert "0 is false where a condition asks" not in text(report)


@pytest.mark.parametrize("misused", [torch.square, torch.exp, torch.sigmoid, torch.mean, lambda gain: gain.flip(0)])
def test_of_a_gain_that_is_misused_nothing_is_said_of_the_vectors_before_it(misused):
    report = check("rms_norm", lambda x, gain, epsilon=1e-5: F.rms_norm(x, gain.shape, None, epsilon) * misused(gain))
    assert report.status == "failed"
    assert "Before the gain" not in text(report)


def last_part_always_added(parts, pair):
    new, place = [], 0
    while place < len(parts) - 1:
        if (parts[place], parts[place + 1]) == pair:
            new.append(b"".join(pair))
            place += 2
        else:
            new.append(parts[place])
            place += 1
    return new + parts[-1:]


def test_a_last_part_that_is_added_after_it_was_merged_is_named():
    assert check("merge", last_part_always_added).mistake == "the last part twice"


def test_where_the_first_parts_are_equal_it_is_not_said_that_chance_decides():
    def by_the_first_part(words, number):
        merges = []
        while len(merges) < number and (counts := byte_pairs.count_pairs(words)):
            merges.append(max(counts, key=lambda pair: (counts[pair], pair[0])))
            words = {tuple(byte_pairs.merge(word, merges[-1])): count for word, count in words.items()}
        return merges

    report = check("train_bpe", by_the_first_part)
    assert report.mistake == "ties by the first part alone"
    assert "chance" not in text(report)


def translated(turned=lambda name, tensor: tensor, skipped=r"h\.\d+\.attn\.bias", layer=r"h\.(\d+)\."):
    """A translation of GPT-2's tensors that transposes as told, and skips masks and finds layers by a pattern."""
    parts = {
        "ln_f": "norm",
        "ln_": "norm_",
        "wte": "embedding",
        "wpe.weight": "positions.encoding",
        ".attn.": ".attention.",
        "mlp.": "feed_forward.",
        "c_proj": "linear_out",
        "c_fc": "linear_in",
    }

    def answer(tensors):
        found = {}
        for name, tensor in tensors.items():
            if re.fullmatch(skipped, name.removeprefix("transformer.") if "transformer" not in skipped else name):
                continue
            name = name.removeprefix("transformer.")
            if name.startswith("h.") and not re.match(layer, name):
                continue
            one, ours = turned(name, tensor), re.sub(r"^h\.", "layers.", name)
            for theirs, other in parts.items():
                ours = ours.replace(theirs, other)
            if "c_attn" in name:
                cut = one.chunk(3, -1) if one is tensor else one.chunk(3)
                found |= {
                    ours.replace("c_attn", f"linear_{letter}"): piece for letter, piece in zip("qkv", cut, strict=True)
                }
            else:
                found[ours] = one
        return found

    return answer


def maps_turned(name, tensor):
    return tensor.T if ".c_" in name and name.endswith("weight") else tensor


def tables_turned(name, tensor):
    return tensor.T if name in ("wte.weight", "wpe.weight") else tensor


def twelve_layers(tensors):
    tensors = {name.removeprefix("transformer."): one for name, one in tensors.items()}
    wanted = [name for name in tensors if not name.startswith("h.") or int(name.split(".")[1]) < 12]
    first = translated(maps_turned)({name: tensors[name] for name in wanted})
    return first | {f"layers.{i}.norm_1.weight": tensors[f"h.{i}.ln_1.weight"] for i in range(12)}


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (translated(tables_turned), "tables transposed, and not the maps"),
        (translated(maps_turned, skipped=r"h\.\d\.attn\.bias"), "the masks kept"),
        (translated(maps_turned, skipped=r"h\.\d+\.attn\.bias|transformer$"), "the masks kept"),
        (translated(maps_turned, layer=r"h\.\d\."), "layers from 10 on"),
        (twelve_layers, "a fixed number of layers"),
    ],
)
def test_what_is_turned_round_or_fits_some_files_only_is_named(answer, mistake):
    assert check("from_gpt2", answer).mistake == mistake


def test_an_unknown_key_points_to_the_keys_and_not_to_shapes():
    report = check("from_gpt2", lambda tensors: {"norm.weight": tensors["final_norm.weight"]})
    assert "which keys exist" in text(report)
    assert "shapes" not in text(report)


def test_hardswish_is_not_called_relu():
    def answer(x, gate, up, down):
        return F.linear(F.hardswish(F.linear(x, gate)) * F.linear(x, up), down)

    report = check("swiglu", answer)
    assert report.mistake == "another function for SiLU"
    assert "hardswish" in text(report)


def test_a_gradient_that_a_new_parameter_cuts_points_to_parameters():
    report = check(
        "swiglu", lambda x, gate, up, down: F.linear(F.silu(F.linear(x, nn.Parameter(gate))) * F.linear(x, up), down)
    )
    assert report.mistake == "no gradient"
    assert "nn.Parameter" in text(report)


def test_where_the_first_query_gets_equal_weights_it_is_not_said_to_attend_to_nothing():
    def answer(query, key, value):
        key, value = (one.repeat_interleave(query.shape[1] // key.shape[1], 1) for one in (key, value))
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        weights = scores.masked_fill(torch.ones_like(scores).triu() == 1, -1e300).softmax(-1)
        return weights @ value, weights

    report = check("grouped_query_attention", answer)
    assert report.mistake == "no query sees itself"
    assert "nothing" not in text(report)


def test_an_epsilon_beside_the_length_of_a_vector_is_named():
    def answer(x, gain, epsilon=1e-5):
        return x * math.sqrt(x.shape[-1]) / (x.norm(dim=-1, keepdim=True) + epsilon) * gain

    assert check("rms_norm", answer).mistake == "epsilon outside the root"


def in_one_text(words, cut):
    counts = {}
    for word, count in words.items():
        for pair in pairwise(cut(b" ".join(word))):
            counts[pair] = counts.get(pair, 0) + count
    return counts


@pytest.mark.parametrize("cut", [lambda word: word.split(), lambda word: word.split(b" ")])
def test_counting_loses_no_part_that_is_a_space(cut):
    assert check("count_pairs", lambda words: in_one_text(words, cut)).mistake == "cut at the spaces"


def test_a_neighbour_carried_over_from_the_word_before_is_named():
    def answer(words):
        counts, before = {}, None
        for word, count in words.items():
            for part in word:
                if before is not None:
                    counts[before, part] = counts.get((before, part), 0) + count
                before = part
        return counts

    assert check("count_pairs", answer).mistake == "across the words"


def test_a_merge_keeps_a_byte_of_zero():
    def answer(parts, pair):
        first, second = pair
        text = b"\0" + b"\0\0".join(parts) + b"\0" if parts else b""
        text = text.replace(b"\0" + first + b"\0\0" + second + b"\0", b"\0" + first + second + b"\0")
        return text.strip(b"\0").split(b"\0\0") if parts else []

    assert check("merge", answer).mistake == "a byte for a mark"


@pytest.mark.parametrize("cut", [lambda word: word.split(), lambda word: word.split(b" ") if word else []])
def test_parts_that_are_split_at_spaces_before_the_first_merge_are_named(cut):
    report = check("apply_merges", lambda parts, ranks: byte_pairs.apply_merges(cut(b" ".join(parts)), ranks))
    assert report.mistake == "cut at the spaces"


def test_new_neighbours_counted_by_the_old_word_are_named():
    def answer(words, number):
        words, counts, merges = dict(words), byte_pairs.count_pairs(words), []
        while len(merges) < number and any(count > 0 for count in counts.values()):
            pair = max(counts, key=lambda one: (counts[one], one))
            merges.append(pair)
            for word, count in words.items():
                place = 0
                while place < len(word) - 1:
                    if word[place : place + 2] != pair:
                        place += 1
                        continue
                    if place:
                        counts[word[place - 1], pair[0]] -= count
                        counts[word[place - 1], b"".join(pair)] += count
                    if place + 2 < len(word):
                        counts[pair[1], word[place + 2]] -= count
                        counts[b"".join(pair), word[place + 2]] += count
                    place += 2
            words = {tuple(byte_pairs.merge(word, pair)): count for word, count in words.items()}
            del counts[pair]
        return merges

    assert check("train_bpe", answer).mistake == "neighbours taken from before the merge"


@pytest.mark.parametrize("masks", ["attention.*bias$", "attention.linear_out.bias$"])
def test_biases_of_attention_that_are_taken_for_masks_are_named(masks):
    report = check(
        "from_gpt2",
        lambda tensors: {
            name: one for name, one in pretrained.from_gpt2(tensors).items() if not re.search(masks, name)
        },
    )
    assert report.mistake == "no biases of attention"


def test_a_prefix_kept_before_names_that_are_otherwise_half_translated_is_named():
    def answer(tensors):
        made = pretrained.from_gpt2(tensors)
        if not any(name.startswith("transformer.") for name in tensors):
            return made
        return {"transformer." + re.sub(r"^layers\.", "h.", name): one for name, one in made.items()}

    assert check("from_gpt2", answer).mistake == "the prefix kept"


def test_of_a_run_that_becomes_one_token_it_is_not_said_that_parts_are_overwritten():
    report = check(
        "merge",
        lambda parts, pair: [
            b"".join(pair) if tuple(parts[n : n + 2]) == pair else part
            for n, part in enumerate(parts)
            if n == 0 or (parts[n - 1], part) != pair
        ],
    )
    assert report.mistake == "a whole run made one token"
    assert "overwritten" not in text(report)


def test_a_run_in_which_only_the_first_pair_is_merged_is_named():
    def answer(parts, pair):
        starts = {n for n, two in enumerate(pairwise(parts)) if two == pair}
        starts = {n for n in starts if n - 1 not in starts}
        return [b"".join(pair) if n in starts else part for n, part in enumerate(parts) if n - 1 not in starts]

    assert check("merge", answer).mistake == "a run merged only once"


def test_a_rank_0_that_counts_as_no_rank_is_named():
    def answer(parts, ranks):
        while len(parts) > 1:
            pair = min(pairwise(parts), key=lambda pair: ranks.get(pair) or math.inf)
            if pair not in ranks:
                break
            parts = byte_pairs.merge(parts, pair)
        return list(parts)

    report = check("apply_merges", answer)
    assert report.mistake == "rank 0 left out"
    assert "merged only where no other pair with a rank is left" in text(report)


def test_a_rank_0_that_comes_last_is_named():
    def answer(parts, ranks):
        while known := [pair for pair in pairwise(parts) if pair in ranks]:
            parts = byte_pairs.merge(parts, min(known, key=lambda pair: ranks[pair] or len(ranks)))
        return list(parts)

    assert check("apply_merges", answer).mistake == "rank 0 left out"


def test_a_loop_that_ends_at_rank_0_leaves_it_out():
    def answer(parts, ranks):
        parts = list(parts)
        known = {rank: pair for pair, rank in ranks.items()}
        while rank := min((ranks[pair] for pair in pairwise(parts) if pair in ranks), default=None):
            parts = byte_pairs.merge(parts, known[rank])
        return parts

    assert check("apply_merges", answer).mistake == "rank 0 left out"


def test_the_number_of_parts_as_the_rank_of_unknown_pairs_is_named():
    def answer(parts, ranks):
        while len(parts) > 1:
            pair = min(pairwise(parts), key=lambda pair: ranks.get(pair, len(parts)))
            if pair not in ranks:
                break
            parts = byte_pairs.merge(parts, pair)
        return list(parts)

    assert check("apply_merges", answer).mistake == "ended at the first pair without a rank"


def test_tied_pairs_that_are_merged_in_one_round_are_named():
    def answer(words, number):
        merges = []
        while len(merges) < number and (counts := byte_pairs.count_pairs(words)):
            for pair in sorted((pair for pair in counts if counts[pair] == max(counts.values())), reverse=True):
                merges.append(pair)
                words = {tuple(byte_pairs.merge(word, pair)): count for word, count in words.items()}
        return merges[:number]

    assert check("train_bpe", answer).mistake == "tied pairs merged together"


def test_an_epsilon_of_0_that_is_taken_for_none_is_found():
    def answer(x, gain, epsilon=1e-5):
        return F.rms_norm(x, gain.shape, gain, epsilon or 1e-5)

    assert check("rms_norm", answer).mistake == "not the given epsilon"


def test_layer_norm_with_epsilon_outside_the_root_is_named():
    def answer(x, gain, epsilon=1e-5):
        x = x - x.mean(-1, keepdim=True)
        return gain * x / (x.square().mean(-1, keepdim=True).sqrt() + epsilon)

    assert check("rms_norm", answer).mistake == "layer norm"


def test_weights_divided_after_the_softmax_are_named():
    def answer(query, key, value):
        group = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
        scores = (query @ key.mT).masked_fill(torch.ones(query.shape[2], key.shape[2]).triu(1) == 1, -torch.inf)
        weights = scores.softmax(-1) / math.sqrt(query.shape[-1])
        return weights @ value, weights

    assert check("grouped_query_attention", answer).mistake == "scaling after the softmax"


@pytest.mark.parametrize("squeezed", [lambda result: result.squeeze(), lambda result: result.squeeze(0)])
def test_a_batch_of_one_keeps_its_dimension(squeezed):
    norm = check("rms_norm", lambda x, gain, epsilon=1e-5: squeezed(F.rms_norm(x, gain.shape, gain, epsilon)))
    gates = check("swiglu", lambda x, gate, up, down: squeezed(gated(x, gate, up, down, F.silu)))
    assert norm.mistake == gates.mistake == "wrong number of dimensions"


def test_tokens_that_are_kept_short_are_named():
    def counts(words):
        return {pair: count for pair, count in byte_pairs.count_pairs(words).items() if len(b"".join(pair)) <= 16}

    assert check("train_bpe", lambda words, number: trained(words, number, counts)).mistake == "long tokens left out"


def changed(counts, parts, sign, count):
    for pair in pairwise(parts):
        counts[pair] += sign * count


@pytest.mark.parametrize("dropped", [True, False])
def test_counts_that_have_fallen_to_0_are_not_merged(dropped):
    def answer(words, number):
        counts, merges = byte_pairs.count_pairs(words), []
        words = [[list(word), count] for word, count in words.items()]
        while len(merges) < number and counts:
            merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
            for word in words:
                new = byte_pairs.merge(word[0], merges[-1])
                changed(counts, word[0], -1, word[1])
                changed(counts, new, 1, word[1])
                word[0] = new
            if dropped:
                del counts[merges[-1]]
        return merges

    assert check("train_bpe", answer).mistake == "pairs that are gone merged"


def test_an_index_of_words_that_no_new_pair_enters_is_named():
    def answer(words, number):
        counts, merges = byte_pairs.count_pairs(words), []
        words = [[list(word), count] for word, count in words.items()]
        where = {pair: [word for word in words if pair in pairwise(word[0])] for pair in counts}
        while len(merges) < number and max(counts.values(), default=0) > 0:
            merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
            for word in where.get(merges[-1], []):
                new = byte_pairs.merge(word[0], merges[-1])
                changed(counts, word[0], -1, word[1])
                changed(counts, new, 1, word[1])
                word[0] = new
            del counts[merges[-1]]
        return merges

    assert check("train_bpe", answer).mistake == "new pairs found in no word"


@pytest.mark.parametrize("errors", ["replace", "ignore"])
def test_bytes_that_are_no_characters_are_not_decoded(errors):
    def decoded(parts):
        return tuple(part.decode("utf-8", errors).encode() for part in parts)

    found = [
        check("count_pairs", lambda words: counted(words, lambda word: pairwise(decoded(word)), {})),
        check("merge", lambda parts, pair: byte_pairs.merge(decoded(parts), decoded(pair))),
        check("apply_merges", lambda parts, ranks: byte_pairs.apply_merges(decoded(parts), ranks)),
    ]
    assert {report.mistake for report in found} == {"bytes read as text"}


def test_a_lowest_rank_kept_from_the_round_before_has_a_place_to_look():
    def answer(parts, ranks):
        lowest, parts = math.inf, list(parts)
        while known := [pair for pair in pairwise(parts) if ranks.get(pair, math.inf) < lowest]:
            lowest = min(ranks[pair] for pair in known)
            parts = byte_pairs.merge(parts, min(known, key=ranks.get))
        return parts

    report = check("apply_merges", answer)
    assert report.mistake == "only one merge"
    assert "a lowest rank that is kept from the round before" in text(report)


def test_a_dictionary_of_arrays_is_not_said_to_be_no_dictionary():
    arrays = text(check("from_gpt2", lambda tensors: {name: one.numpy() for name, one in tensors.items()}))
    assert "is a dictionary whose values are not all tensors; a dictionary from names to tensors is expected" in arrays
    numbered = text(check("from_gpt2", lambda tensors: dict(enumerate(tensors.values()))))
    assert "is a dictionary whose keys are not all strings; a dictionary from names to tensors is expected" in numbered


def test_heads_mixed_with_positions_are_not_said_to_be_mixed_with_features():
    def answer(query, key, value):
        (_, _, length, d_head), group = query.shape, query.shape[1] // key.shape[1]
        key, value = (one[:, :, :, None].expand(-1, -1, -1, group, -1).reshape(query.shape) for one in (key, value))
        scores = (query @ key.mT / math.sqrt(d_head)).masked_fill(torch.ones(length, length).triu(1) == 1, -torch.inf)
        return scores.softmax(-1) @ value, scores.softmax(-1)

    report = check("grouped_query_attention", answer)
    assert report.mistake == "heads reshaped"
    assert "mixes heads with positions or features" in text(report)


@pytest.mark.parametrize(
    "bytes_of", [lambda words: range(256), lambda words: {byte for word in words for byte in word}]
)
def test_a_number_from_which_the_bytes_are_subtracted_is_named(bytes_of):
    report = check("train_bpe", lambda words, number: trained(words, number - len(bytes_of(words))))
    assert report.mistake == "number taken for the vocabulary's size"


@pytest.mark.parametrize("flag", [True, False])
def test_a_list_that_ends_with_the_first_merge_is_named(flag):
    def answer(parts, pair):
        new, skip = [], False
        for first, second in zip(parts, [*parts[1:], None], strict=True):
            if skip:
                continue
            skip = (first, second) == pair
            new.append(first + second if skip else first)
            if skip and not flag:
                break
        return new

    assert check("merge", answer).mistake == "all after the first merge lost"


def test_scores_summed_over_the_key_heads_are_named():
    def answer(query, key, value):
        scores = torch.einsum("bhid,bkjd->bhij", query, key) / math.sqrt(query.shape[-1])
        future = torch.ones(query.shape[2], query.shape[2]).triu(1) == 1
        weights = scores.masked_fill(future, -torch.inf).softmax(-1)
        return weights @ value.repeat_interleave(query.shape[1] // key.shape[1], 1), weights

    assert check("grouped_query_attention", answer).mistake == "the key heads merged into one"


def test_heads_behind_the_positions_are_not_called_merged():
    def answer(query, key, value):
        group, length = query.shape[1] // key.shape[1], query.shape[2]
        key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
        scores = (query @ key.mT / math.sqrt(query.shape[-1])).masked_fill(
            torch.ones(length, length).triu(1) == 1, -torch.inf
        )
        return (scores.softmax(-1) @ value).transpose(1, 2), scores.softmax(-1)

    report = check("grouped_query_attention", answer)
    assert report.mistake == "the heads behind the positions"
    assert "behind the positions, or joined side by side" in text(report)


# Sentences that were false of an answer, or led away from its mistake


def merged_again(parts, ranks):
    """Every merge starts again from the word as it came: only the last one is left."""
    merged = list(parts)
    for pair in sorted(ranks, key=ranks.get):
        if pair in pairwise(parts):
            merged = byte_pairs.merge(parts, pair)
    return merged


def ends_and_beginnings(parts, pair):
    new, place = list(parts), 0
    while place < len(new) - 1:
        fits = new[place].endswith(pair[0]) and new[place + 1].startswith(pair[1])
        new[place : place + 1 + fits] = [b"".join(new[place : place + 1 + fits])]
        place = 0 if fits else place + 1
    return new


def in_pieces_of_768(tensors):
    found = pretrained.from_gpt2(tensors)
    for name in [name for name in found if "linear_q" in name]:
        found[name] = torch.cat([found[name], *(found.pop(name.replace("_q", other)) for other in ("_k", "_v"))])
    return found


def from_the_start(words, number):
    merges, grown = [], words
    while len(merges) < number and (counts := byte_pairs.count_pairs(grown)):
        merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
        grown = {tuple(byte_pairs.merge(word, merges[-1])): count for word, count in words.items()}
    return merges


def nested(words):
    counts = {}
    for (first, second), count in byte_pairs.count_pairs(words).items():
        counts.setdefault(first, {})[second] = count
    return counts


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("train_bpe", from_the_start, "every merge from the beginning"),
        ("train_bpe", lambda words, number: trained(words, min(number, 1)), "only one merge"),
        ("count_pairs", nested, "dictionaries in a dictionary"),
    ],
)
def test_natural_slips_are_named(name, answer, mistake):
    assert check(name, answer).mistake == mistake


def without_transposes(x, gate, up, down):
    return (F.silu(x @ gate) * (x @ up)) @ down


def rounded(x, gain, epsilon=1e-5):
    return F.rms_norm(x, gain.shape, gain, epsilon).round(decimals=3)


@pytest.mark.parametrize(
    ("name", "answer", "said", "unsaid"),
    [
        ("apply_merges", merged_again, "starts again from the original word", "highest rank"),
        ("apply_merges", lambda parts, ranks: list(parts), "what are its keys", "learned first"),
        ("merge", lambda parts, pair: list(parts), "is a list ever equal to a tuple", "replace`"),
        ("merge", ends_and_beginnings, "begins with the second", "asks only"),
        (
            "from_gpt2",
            without(lambda name: "linear_" in name and name[-6:] in ("q.bias", "k.bias", "v.bias")),
            "what happens to `c_attn.bias`",
            "as the masks do",
        ),
        ("from_gpt2", in_pieces_of_768, "such as 768", "is kept as one weight"),
        ("rms_norm", rounded, "not the right numbers", "a mean square of"),
        ("swiglu", without_transposes, "runs only if the two sizes are equal", "(2, 3) it Where"),
    ],
)
def test_nothing_is_said_that_is_false_of_such_an_answer(name, answer, said, unsaid):
    found = text(check(name, answer))
    assert said in found
    assert unsaid not in found


# Names for what had only a general verdict


def joined_text(parts, pair):
    text = [part.decode() for part in parts]
    return [part.encode() for part in byte_pairs.merge(text, tuple(part.decode() for part in pair))]


def by_index(parts, pair, rest):
    """The loop of subword-nmt; where the second part does not follow, rest is added."""
    new, place = [], 0
    while pair[0] in parts[place:]:
        found = parts.index(pair[0], place)
        joins = parts[found + 1 : found + 2] == [pair[1]]
        new += [*parts[place:found], *([b"".join(pair)] if joins else rest)]
        place = found + 1 + joins
    return new + parts[place:]


def second_dropped(parts, pair):
    new = []
    for place, part in enumerate(parts):
        if part == pair[0] and parts[place + 1 : place + 2] == [pair[1]]:
            new.append(part + pair[1])
        elif part != pair[1]:
            new.append(part)
    return new


def stacked(parts, fits, last=lambda part: True):
    new = []
    for part in parts:
        if new and fits(new[-1], part):
            new[-1] += part
        else:
            new.append(part)
    return [part for part in new if last(part)]


def looked_ahead(parts, pair):
    new, place = [], 0
    while place < len(parts):
        joins = parts[place] == pair[0] and parts[place + 1] == pair[1]
        new.append(b"".join(parts[place : place + 1 + joins]))
        place += 1 + joins
    return new


def removed_in_turn(parts, pair):
    new = list(parts)
    for two in pairwise(parts):
        if two == pair and pair[0] in new:
            new[new.index(pair[0])] = b"".join(pair)
            if pair[1] in new:
                new.remove(pair[1])
    return new


def cut_out(parts, pair):
    pieces = re.split(b"(" + re.escape(b"".join(pair)) + b")", b"".join(parts))
    return [piece for piece in pieces if piece]


def shortened(parts, pair):
    new = list(parts)
    for place in range(len(parts) - 1):
        if new[place] == pair[0] and new[place + 1] == pair[1]:
            new[place : place + 2] = [b"".join(pair)]
    return new


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (joined_text, "bytes that are no characters"),
        (lambda parts, pair: by_index(parts, pair, []), "the first part lost"),
        (second_dropped, "the second part never kept"),
        (looked_ahead, "beyond the end"),
        (cut_out, "searched in the joined bytes"),
        (removed_in_turn, "a part found by its value"),
        (shortened, "a list that gets shorter"),
        (
            lambda parts, pair: stacked(parts, lambda *two: two[0] is pair[0] and two[1] is pair[1]),
            "only single bytes joined",
        ),
        (lambda parts, pair: stacked(parts, lambda *two: two == pair, bytes.strip), "spaces lost"),
    ],
)
def test_more_slips_of_a_merge_are_named(answer, mistake):
    assert check("merge", answer).mistake == mistake


def added(words, pairs_of, add):
    counts = {}
    for word, number in words.items():
        for pair in pairs_of(word):
            add(counts, pair, number)
    return counts


def twice(counts, pair, number):
    counts.setdefault(pair, number)
    counts[pair] += number


def add_to_nothing(counts, pair, number):
    counts[pair] += number


def keys_alone(words):
    counts = byte_pairs.Counter()
    for word, number in words:
        for pair in pairwise(word):
            counts[pair] += number
    return counts


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (keys_alone, "the loop over the keys alone"),
        (lambda words: added(words, pairwise, twice), "the first place counted twice"),
        (lambda words: added(words, pairwise, add_to_nothing), "a pair that is not there yet"),
        (lambda words: counted(words, lambda word: pairwise(words), {}), "words for the parts of a word"),
        (lambda words: byte_pairs.Counter(pairwise(words)), "words for the parts of a word"),
        (
            lambda words: counted(
                {tuple(part.decode().encode() for part in word): n for word, n in words.items()}, pairwise, {}
            ),
            "bytes that are no characters",
        ),
        (
            lambda words: byte_pairs.Counter(pair for word, n in words.items() for pair in pairwise(word * n)),
            "the end joined to the beginning",
        ),
        (
            lambda words: counted(words, lambda word: [word[n : n + 2] for n in range(len(word))], {}),
            "the last part by itself",
        ),
        (
            lambda words: counted(words, lambda word: [word[n : n + 1] for n in range(len(word) - 1)], {}),
            "the parts, not the pairs",
        ),
        (
            lambda words: counted(words, lambda word: [(word[n], word[n + 1]) for n in range(len(word))], {}),
            "beyond the end",
        ),
    ],
)
def test_more_slips_in_counting_are_named(answer, mistake):
    assert check("count_pairs", answer).mistake == mistake


def grown(
    words,
    number,
    rewritten,
    left=lambda counts, merges: counts,
    ended=lambda counts: not counts,
    end=lambda merges: merges,
):
    """Training; rewritten makes the next words of the words as they were and as they should be."""
    merges = []
    while len(merges) < number:
        counts = left(byte_pairs.count_pairs(words), merges)
        if ended(counts):
            return end(merges)
        merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
        words = rewritten(words, {tuple(byte_pairs.merge(word, merges[-1])): n for word, n in words.items()})
    return merges


def counted_too_early(words, number):
    merges, counts = [], byte_pairs.count_pairs(words)
    while len(merges) < number and counts:
        merges.append(max(counts, key=lambda pair: (counts[pair], pair)))
        counts = byte_pairs.count_pairs(words)
        words = {tuple(byte_pairs.merge(word, merges[-1])): n for word, n in words.items()}
    return merges


def right_words(old, new):
    return new


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (
            lambda words, number: trained(words, number, key=lambda n, pair: (n, *(part.decode() for part in pair))),
            "bytes that are no characters",
        ),
        (counted_too_early, "counted before the words are rewritten"),
        (lambda words, number: grown(words, number, lambda old, new: old | new), "the old words kept"),
        (
            lambda words, number: grown(
                words,
                number,
                lambda old, new: old | new,
                lambda counts, merges: {pair: n for pair, n in counts.items() if pair not in merges},
            ),
            "the old words kept",
        ),
        (lambda words, number: grown(words, number, lambda old, new: dict([*new.items()][-1:])), "one word left"),
        (
            lambda words, number: grown(words, number, right_words, ended=lambda counts: len(counts) <= 1),
            "stopped at a single pair",
        ),
        (lambda words, number: grown(words, number, right_words, end=lambda merges: []), "nothing left at the end"),
        (
            lambda words, number: grown(
                words, number, right_words, end=lambda merges: merges + [None] * (number - len(merges))
            ),
            "None for a pair",
        ),
        (
            lambda words, number: (
                (trained(words, number), words)
                if number == 0
                else (
                    trained(words, number),
                    {
                        tuple(
                            byte_pairs.apply_merges(word, {pair: n for n, pair in enumerate(trained(words, number))})
                        ): count
                        for word, count in words.items()
                    },
                )
            ),
            "the words, not the merges",
        ),
        (
            lambda words, number: (lambda counts: sorted(counts, key=lambda pair: (-counts[pair], pair))[:number])(
                byte_pairs.count_pairs(words)
            ),
            "the words at the start counted",
        ),
    ],
)
def test_more_slips_in_training_are_named(answer, mistake):
    assert check("train_bpe", answer).mistake == mistake


def lowest(parts, ranks, pairs_of=pairwise, key=None, joined=byte_pairs.merge):
    while known := [pair for pair in pairs_of(parts) if pair in ranks]:
        parts = joined(parts, min(known, key=key or ranks.get))
    return list(parts)


def in_the_order_of(parts, ranks, order, found=lambda parts, pair: True):
    for pair in order:
        if not found(parts, pair):
            break
        parts = byte_pairs.merge(parts, pair)
    return list(parts)


def lowest_of_all(parts, ranks):
    while len(parts) > 1:
        pair = min(pairwise(parts), key=ranks.get)
        if pair not in ranks:
            break
        parts = byte_pairs.merge(parts, pair)
    return list(parts)


def placed(parts, ranks, change):
    """One place at a time: change rewrites the list where a pair with the lowest rank begins."""
    parts = list(parts)
    while found := [(ranks[two], place) for place, two in enumerate(pairwise(parts)) if two in ranks]:
        change(parts, min(found)[1])
    return parts


def both_kept(parts, place):
    parts[place] += parts[place + 1]


def wrong_one_gone(parts, place):
    parts[place] += parts[place + 1]
    parts.pop(place)


def old_list_of_places(parts, ranks):
    parts = list(parts)
    for rank, place in sorted((ranks[two], place) for place, two in enumerate(pairwise(parts)) if two in ranks):
        if ranks.get(tuple(parts[place : place + 2])) == rank:
            parts[place : place + 2] = [b"".join(parts[place : place + 2])]
    return parts


def one_text(parts, ranks):
    text = b"|".join(parts)
    for pair in sorted(ranks, key=ranks.get):
        text = text.replace(b"|".join(pair), b"".join(pair))
    return text.split(b"|")


def decoded(parts, ranks):
    return lowest([part.decode().encode() for part in parts], ranks)


def all_in_place(parts, ranks):
    for pair in sorted(ranks, key=ranks.get):
        parts = shortened(parts, pair)
    return list(parts)


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (
            lambda parts, ranks: in_the_order_of(
                parts, ranks, sorted(ranks, key=ranks.get), lambda parts, pair: pair in pairwise(parts)
            ),
            "ended at the first pair that the word lacks",
        ),
        (
            lambda parts, ranks: in_the_order_of(parts, ranks, sorted(ranks, key=lambda pair: str(ranks[pair]))),
            "ranks compared as text",
        ),
        (
            lambda parts, ranks: in_the_order_of(parts, ranks, sorted(ranks, key=ranks.get)[:-1]),
            "the highest rank left out",
        ),
        (lambda parts, ranks: lowest(parts, ranks, lambda parts: [*pairwise(parts)][:-1]), "the last pair not seen"),
        (lambda parts, ranks: lowest(parts, ranks, lambda parts: [*pairwise(parts)][1:]), "the first pair not seen"),
        (
            lambda parts, ranks: lowest(parts, {pair[::-1]: rank for pair, rank in ranks.items()}),
            "the pairs turned round",
        ),
        (
            lambda parts, ranks: lowest(
                parts, ranks, lambda parts: [(parts[n], parts[n + 1]) for n in range(len(parts))]
            ),
            "beyond the end",
        ),
        (
            lambda parts, ranks: lowest(parts, ranks, lambda parts: [parts[n : n + 2] for n in range(len(parts) - 1)]),
            "a list as the key",
        ),
        (
            lambda parts, ranks: lowest(parts, ranks, lambda parts: [parts[n : n + 2] for n in range(len(parts))]),
            "a list as the key",
        ),
        (lowest_of_all, "a rank that is missing compared"),
        (lambda parts, ranks: placed(parts, ranks, both_kept), "the second part kept"),
        (lambda parts, ranks: placed(parts, ranks, wrong_one_gone), "the token lost"),
        (old_list_of_places, "the pairs listed only once"),
        (one_text, "parts of parts joined"),
        (decoded, "bytes that are no characters"),
        (all_in_place, "a list that gets shorter"),
        (lambda parts, ranks: b"".join(parts) if len(parts) < 2 else lowest(parts, ranks), "a short word as bytes"),
        (lambda parts, ranks: lowest(b"".join(parts), ranks), "numbers for bytes"),
    ],
)
def test_more_slips_in_applying_merges_are_named(answer, mistake):
    assert check("apply_merges", answer).mistake == mistake


def test_the_most_frequent_pair_is_named_whatever_decides_a_tie():
    def answer(parts, ranks):
        while known := [pair for pair in pairwise(parts) if pair in ranks]:
            parts = byte_pairs.merge(parts, max(known, key=lambda pair: (known.count(pair), -ranks[pair])))
        return list(parts)

    assert check("apply_merges", answer).mistake == "the most frequent pair first"


def root(x, epsilon, dim=-1):
    return (x.square().mean(dim, keepdim=True) + epsilon).sqrt()


def of_the_last_row(x, gain, epsilon=1e-5):
    for row in x.reshape(-1, x.shape[-1]):
        divisor = root(row, epsilon)
    return gain * x / divisor


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (of_the_last_row, "one vector's mean square for all"),
        (
            lambda x, gain, epsilon=1e-5: gain * x / root(x.reshape(-1, len(gain))[0], epsilon),
            "one vector's mean square for all",
        ),
        (lambda x, gain, epsilon=1e-5: gain[:, None] * x / root(x, epsilon), "the gain along another dimension"),
        (lambda x, gain, epsilon=1e-5: gain * F.rms_norm(x, gain.shape, gain, epsilon), "the gain twice"),
        (lambda x, gain, epsilon=1e-5: gain / root(x, epsilon), "x left out"),
        (
            lambda x, gain, epsilon=1e-5: gain * x / (x.norm(p=1, dim=-1, keepdim=True) + epsilon),
            "the sum of the absolute values",
        ),
    ],
)
def test_more_slips_in_a_norm_are_named(answer, mistake):
    assert check("rms_norm", answer).mistake == mistake


def wide(x, gate, up, down, cut):
    opened, raised = cut(F.linear(x, torch.cat([gate, up])))
    return F.linear(F.silu(opened) * raised, down)


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (lambda x, gate, up, down: F.linear(F.linear(x, F.silu(gate)) * F.linear(x, up), down), "SiLU of the weights"),
        (
            lambda x, gate, up, down: torch.einsum("...h,...k,dk->...d", F.silu(x @ gate.T), x @ up.T, down),
            "hidden features summed",
        ),
        (
            lambda x, gate, up, down: wide(x, gate, up, down, lambda both: both.chunk(2)),
            "split along another dimension",
        ),
        (
            lambda x, gate, up, down: wide(x, gate, up, down, lambda both: both.split(x.shape[-1], -1)),
            "equal sizes only",
        ),
        (
            lambda x, gate, up, down: wide(
                x, gate, up, down, lambda both: (both[..., : x.shape[-1]], both[..., x.shape[-1] :])
            ),
            "equal sizes only",
        ),
        (lambda x, gate, up, down: gated(x, gate, up, up.mT, F.silu), "another matrix for down"),
    ],
)
def test_more_slips_in_a_gated_layer_are_named(answer, mistake):
    assert check("swiglu", answer).mistake == mistake


def grouped(query, key, value, transposed=lambda key: key.mT, mask=None, copies=None):
    number = copies or query.shape[1] // key.shape[1]
    key, value = key.repeat_interleave(number, 1), value.repeat_interleave(number, 1)
    scores = (query @ transposed(key)) / math.sqrt(query.shape[-1])
    hidden = torch.ones_like(scores).triu(1) == 1
    hidden = mask(hidden) if mask else hidden
    masked = scores.masked_fill(hidden, -torch.inf)
    return masked.softmax(-1) @ value, masked.softmax(-1), masked


def first_head_alone(hidden):
    return hidden & (torch.arange(hidden.shape[1]) == 0)[:, None, None]


def length_before_group(query, key, value):
    (batch, _, length, d_head), groups = query.shape, key.shape[1]
    query = query.reshape(batch, groups, length, -1, d_head)
    scores = torch.einsum("bgnrd,bgmd->bgrnm", query, key) / math.sqrt(d_head)
    weights = scores.masked_fill(torch.ones_like(scores).triu(1) == 1, -torch.inf).softmax(-1)
    return torch.einsum("bgrnm,bgmd->bgrnd", weights, value).flatten(1, 2), weights.flatten(1, 2)


def with_the_package(query, key, value, number):
    key, value = key.repeat_interleave(number, 1), value.repeat_interleave(number, 1)
    return attention.scaled_dot_product_attention(query, key, value, masks.causal_mask(query.shape[2]))


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (
            lambda query, key, value: with_the_package(query, key, value, key.shape[1]),
            "the number of key heads taken for the size of a group",
        ),
        (lambda query, key, value: with_the_package(query, key, value, 1), "key heads not shared"),
        (lambda query, key, value: with_the_package(query, key, value, 3), "one size of a group for all"),
        (lambda query, key, value: grouped(query, key, value, copies=2)[:2], "one size of a group for all"),
        (
            lambda query, key, value: grouped(
                query, key, value, lambda key: key.reshape(*key.shape[:2], key.shape[3], key.shape[2])
            )[:2],
            "the keys reshaped, not transposed",
        ),
        (length_before_group, "heads reshaped"),
        (lambda query, key, value: grouped(query, key, value)[::2], "scores in place of the weights"),
        (
            lambda query, key, value: grouped(query, key, value, mask=first_head_alone)[:2],
            "a mask for some of the scores",
        ),
        (
            lambda query, key, value: tuple(
                torch.cat(one.chunk(key.shape[1], 1)) for one in grouped(query, key, value)[:2]
            ),
            "joined along another dimension",
        ),
        (
            lambda query, key, value: tuple(torch.stack(one.unbind(1)) for one in grouped(query, key, value)[:2]),
            "joined along another dimension",
        ),
        (
            lambda query, key, value: (lambda output, weights, _: (output, weights.chunk(key.shape[1], 1)[-1]))(
                *grouped(query, key, value)
            ),
            "the weights of one head or group",
        ),
        (
            lambda query, key, value: (
                lambda output, weights, _: (output, weights.unflatten(1, (key.shape[1], -1)).mean(2))
            )(*grouped(query, key, value)),
            "the weights of a group merged into one",
        ),
    ],
)
def test_more_slips_in_grouped_queries_are_named(answer, mistake):
    assert check("grouped_query_attention", answer).mistake == mistake


def in_layers(change):
    """The layers' names, with their numbers changed."""
    return lambda tensors: {
        re.sub(r"^layers\.(\d+)\.", lambda one: change(int(one[1])), name): one
        for name, one in pretrained.from_gpt2(tensors).items()
    }


def masks_too(tensors, skipped):
    masked = {
        name.removeprefix("transformer.").replace("h.", "layers."): one
        for name, one in tensors.items()
        if name.endswith(".attn.bias") and name not in skipped
    }
    return pretrained.from_gpt2(tensors) | masked


def pieces_of_c_attn(tensors, weight, bias):
    """pieces(the tensor, as it comes) for the weight and for the bias of c_attn, each in three."""
    found = pretrained.from_gpt2(tensors)
    for name, one in tensors.items():
        if part := re.search(r"(\d+)\.attn\.c_attn\.(weight|bias)", name):
            pieces = (weight if part[2] == "weight" else bias)(one)
            found |= {
                f"layers.{part[1]}.attention.linear_{letter}.{part[2]}": piece
                for letter, piece in zip("qkv", pieces, strict=True)
            }
    return found


def uncut_names(tensors):
    found = pretrained.from_gpt2(tensors)
    for name in [name for name in found if "linear_q" in name]:
        whole = [found.pop(name.replace("linear_q", f"linear_{letter}")) for letter in "qkv"]
        found[name.replace("linear_q", "c_attention")] = torch.cat(whole)
    return found


def without_prefix_cut(tensors):
    cut = {name[12:]: one for name, one in tensors.items()}
    return cut if "wte.weight" in tensors else pretrained.from_gpt2(tensors)


def of_layer_10_too(tensors):
    found = pretrained.from_gpt2(tensors)
    return {name: found.get(name.replace("layers.1.", "layers.10."), one) for name, one in found.items()}


def masks_popped(tensors):
    tensors = {name.removeprefix("transformer."): one for name, one in tensors.items()}
    for name in [f"h.{name.split('.')[1]}.attn.bias" for name in tensors if name.endswith("ln_1.bias")]:
        del tensors[name]
    return pretrained.from_gpt2(tensors)


def one_apart(rows):
    return [rows[part : part + len(rows) // 3] for part in range(3)]


def new_each_time(tensors):
    for name, one in tensors.items():
        found = {} if name.endswith("attn.bias") else {"norm.bias": one}
    return found


@pytest.mark.parametrize(
    ("answer", "mistake"),
    [
        (lambda tensors: masks_too(tensors, ["h.0.attn.bias"]), "the masks kept"),
        (lambda tensors: masks_too(tensors, [name for name in tensors if name[0] == "h"]), "the masks kept"),
        (
            lambda tensors: pieces_of_c_attn(tensors, lambda one: one.T.chunk(3), lambda one: [one] * 3),
            "the bias of c_attn not cut",
        ),
        (
            lambda tensors: pieces_of_c_attn(tensors, lambda one: one_apart(one.T), one_apart),
            "thirds that begin one apart",
        ),
        (
            lambda tensors: pieces_of_c_attn(
                tensors, lambda one: one.T.split(len(one) // 3 or 1)[:3], lambda one: one.chunk(3)
            ),
            "another shape for queries, keys and values",
        ),
        (uncut_names, "c_attn not cut"),
        (without_prefix_cut, "only with the prefix"),
        (
            lambda tensors: {name.rstrip("aefmnorst."): one for name, one in pretrained.from_gpt2(tensors).items()},
            "letters lost from the names",
        ),
        (of_layer_10_too, "layers from 10 on"),
        (masks_popped, "masks asked for"),
        (new_each_time, "nearly everything left out"),
        (in_layers(lambda number: "layers."), "the layer's number left out"),
        (in_layers(lambda number: f"layers.{number + 1}."), "the layers counted from 1"),
        (
            lambda tensors: pretrained.from_gpt2(
                {name: one for name, one in tensors.items() if name != "lm_head.weight"}
                | {"wte.weight": tensors["lm_head.weight"]}
            ),
            "an unembedding asked for",
        ),
        (without(lambda name: name == "positions.encoding"), "the positions left out"),
        (without(lambda name: name.startswith("layers.")), "the layers left out"),
        (without(lambda name: "linear_k" in name or "linear_v" in name), "keys and values left out"),
        (
            lambda tensors: (
                lambda found: {
                    name: one
                    for name, one in found.items()
                    if not name.startswith(
                        f"layers.{max(int(name.split('.')[1]) for name in found if name[:7] == 'layers.')}."
                    )
                }
            )(pretrained.from_gpt2(tensors)),
            "the last layer left out",
        ),
    ],
)
def test_more_slips_in_loading_weights_are_named(answer, mistake):
    assert check("from_gpt2", answer).mistake == mistake
