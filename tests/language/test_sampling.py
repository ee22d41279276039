"""Theorems about drawing the next token, and the next. Every draw is seeded: every run is the same."""

import copy
import math
import re

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from theorems import BATCH, D_HIDDEN, D_MODEL, HEADS, LAYERS, WORDS, assert_same, drawn, unit_scale

from transformer_lessons.language import sampling
from transformer_lessons.language.sampling import (
    Cache,
    generate,
    generate_tokens,
    keep_nucleus,
    lay_out,
    matrices,
    sample_next,
    stream,
    window_start,
)
from transformer_lessons.language.tokenization import Vocabulary
from transformer_lessons.models import Config, LanguageModel

ROWS, VOCABULARY, DRAWS = 3, 7, 20_000
TEMPERATURES = pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
CANDIDATES = pytest.mark.parametrize("top_k", [None, 1, 2, 5, VOCABULARY])


def seeded(seed=20170612):
    return torch.Generator().manual_seed(seed)


def draw_logits(rows=ROWS, seed=1):
    return torch.randn(rows, VOCABULARY, generator=seeded(seed), dtype=torch.float64)


def frequencies(logits, temperature=1.0, top_k=None):
    """How often each token is drawn in each row."""
    tokens = sample_next(logits.repeat(DRAWS, 1), temperature, top_k, seeded()).reshape(DRAWS, len(logits))
    return torch.stack([(tokens == token).double().mean(0) for token in range(VOCABULARY)], dim=1)


def assert_drawn_from(frequencies, chances):
    """Within five standard deviations; what has no chance is never drawn."""
    deviation = (chances * (1 - chances) / DRAWS).sqrt()
    assert ((frequencies - chances).abs() <= 5 * deviation).all()


# --- which distribution -------------------------------------------------------------------------------------


@TEMPERATURES
def test_tokens_are_drawn_by_the_softmax_of_the_logits_divided_by_the_temperature(temperature):
    logits = draw_logits()
    assert_drawn_from(frequencies(logits, temperature), (logits / temperature).softmax(dim=-1))


@TEMPERATURES
@pytest.mark.parametrize("top_k", [1, 2, 5, VOCABULARY])
def test_of_the_k_largest_tokens_each_keeps_its_share_and_no_other_is_drawn(temperature, top_k):
    logits = draw_logits()
    chances = (logits / temperature).softmax(dim=-1)
    chances[logits.argsort(-1).argsort(-1) < VOCABULARY - top_k] = 0
    assert_drawn_from(frequencies(logits, temperature, top_k), chances / chances.sum(-1, keepdim=True))


@CANDIDATES
def test_temperature_zero_takes_the_largest(top_k):
    logits = draw_logits(200)
    assert sample_next(logits, 0, top_k).equal(logits.argmax(dim=-1))
    assert sample_next(logits, 0.0, top_k).equal(logits.argmax(dim=-1))


@TEMPERATURES
def test_of_one_candidate_the_largest_is_taken(temperature):
    logits = draw_logits(200)
    assert sample_next(logits, temperature, 1).equal(logits.argmax(dim=-1))


def test_a_small_temperature_takes_the_largest_too():
    logits = draw_logits(200)
    assert sample_next(logits, 1e-9, generator=seeded()).equal(logits.argmax(dim=-1))


def test_a_large_temperature_makes_all_tokens_equally_likely():
    chances = torch.full((ROWS, VOCABULARY), 1 / VOCABULARY, dtype=torch.float64)
    assert_drawn_from(frequencies(draw_logits(), 1e9), chances)


@TEMPERATURES
@CANDIDATES
def test_a_temperature_does_what_dividing_the_logits_does(temperature, top_k):
    logits = draw_logits(200)
    one = sample_next(logits, temperature, top_k, seeded())
    assert one.equal(sample_next(logits / temperature, 1.0, top_k, seeded()))


def test_as_many_candidates_as_tokens_are_all_of_them():
    logits = draw_logits(200)
    assert sample_next(logits, 1.0, VOCABULARY, seeded()).equal(sample_next(logits, 1.0, None, seeded()))


def test_adding_a_number_to_all_logits_of_a_row_changes_nothing():
    logits = draw_logits(200)
    shifted = logits + torch.linspace(-500, 500, 200, dtype=torch.float64)[:, None]
    assert sample_next(shifted, 0.7, 4, seeded()).equal(sample_next(logits, 0.7, 4, seeded()))


def test_of_equal_logits_exactly_k_are_candidates():
    drawn = sample_next(torch.zeros(DRAWS, VOCABULARY), 1.0, 3, seeded())
    assert len(drawn.unique()) == 3


def test_rows_are_drawn_independently():
    logits = draw_logits(1).expand(DRAWS, VOCABULARY)
    tokens = sample_next(logits, generator=seeded()).reshape(-1, 2)
    together = torch.zeros(VOCABULARY, VOCABULARY, dtype=torch.float64)
    together.index_put_(tuple(tokens.T), torch.tensor(1.0, dtype=torch.float64), accumulate=True)
    chances = draw_logits(1)[0].softmax(dim=-1)
    expected = chances[:, None] * chances
    deviation = (expected * (1 - expected) / len(tokens)).sqrt()
    assert ((together / len(tokens) - expected).abs() <= 5 * deviation).all()


# --- what it takes and gives --------------------------------------------------------------------------------


@TEMPERATURES
@CANDIDATES
def test_each_row_gives_one_token_and_the_logits_stay_as_they_are(temperature, top_k):
    logits = draw_logits(11).float()
    before = logits.clone()
    for chosen in (0, temperature):
        tokens = sample_next(logits, chosen, top_k)
        assert tokens.shape == (11,)
        assert tokens.dtype == torch.int64
    assert_same(logits, before, 0)


@CANDIDATES
def test_all_randomness_comes_from_the_generator(top_k):
    logits, generator, world = draw_logits(200), seeded(), torch.get_rng_state()
    first = sample_next(logits, 1.0, top_k, generator)
    second = sample_next(logits, 1.0, top_k, generator)
    assert first.equal(sample_next(logits, 1.0, top_k, seeded()))
    assert first.equal(second) == (top_k == 1)  # the generator has moved on
    assert torch.get_rng_state().equal(world)


def test_without_a_generator_pytorchs_own_draws():
    logits, world = draw_logits(200), torch.get_rng_state()
    torch.manual_seed(3)
    try:
        tokens = sample_next(logits)
    finally:
        torch.set_rng_state(world)
    assert tokens.equal(sample_next(logits, generator=seeded(3)))


def test_a_forbidden_token_is_never_drawn():
    logits = draw_logits(1).repeat(DRAWS, 1)
    logits[:, [0, 4]] = -torch.inf
    for top_k in (None, 6):  # of five tokens that are left
        assert set(sample_next(logits, 3.0, top_k, seeded()).tolist()) == {1, 2, 3, 5, 6}


# --- what it refuses ----------------------------------------------------------------------------------------


def test_at_the_smallest_temperature_the_largest_logit_wins():
    logits = 1000 * draw_logits()
    assert torch.equal(sample_next(logits, 1e-30), logits.argmax(dim=-1))


@pytest.mark.parametrize("wrong", [-1, -0.1, 1e-31, 1e-40, math.nan, math.inf])
def test_a_temperature_that_is_not_zero_and_cannot_divide_is_refused(wrong):
    with pytest.raises(ValueError, match=f"^temperature={wrong} must be 0, or at least 1e-30 and finite$"):
        sample_next(draw_logits(), wrong)


def test_more_candidates_than_tokens_are_refused():
    with pytest.raises(ValueError, match=r"^top_k=8 is more than the 7 tokens there are$"):
        sample_next(draw_logits(), 1.0, 8)


def test_fewer_candidates_than_one_are_refused():
    for temperature in (0, 1.0):
        with pytest.raises(ValueError, match=r"^top_k=0 is too small: it must be at least 1$"):
            sample_next(draw_logits(), temperature, 0)
    with pytest.raises(TypeError, match=r"^top_k=2.5 is not a whole number$"):
        sample_next(draw_logits(), 1.0, 2.5)


@pytest.mark.parametrize("shape", [(7,), (2, 5, 7)])
def test_logits_that_are_not_one_row_for_each_sequence_are_refused(shape):
    expected = re.escape(f"the logits {shape} must be (batch, vocabulary)")
    with pytest.raises(ValueError, match=f"^{expected}$"):
        sample_next(torch.zeros(shape))


# --- the nucleus --------------------------------------------------------------------------------------------


@drawn
@given(seed=st.integers(0, 10**6), top_p=st.floats(0.01, 0.999))
def test_the_nucleus_is_the_smallest_set_of_likeliest_tokens_with_that_chance(seed, top_p):
    logits = draw_logits(seed=seed)
    kept = keep_nucleus(logits, top_p).isfinite()
    for row, keeps in zip(logits.softmax(dim=-1), kept, strict=True):
        nucleus, total = set(), 0.0
        for token in row.argsort(descending=True).tolist():
            if total >= top_p:
                break
            nucleus.add(token)
            total += row[token].item()
        assert set(keeps.nonzero()[:, 0].tolist()) == nucleus
    assert_same(keep_nucleus(logits, top_p)[kept], logits[kept], 0)


def test_of_equal_logits_the_nucleus_takes_as_many_as_it_needs():
    assert keep_nucleus(torch.zeros(3, 8), 0.5).isfinite().sum(dim=-1).tolist() == [4, 4, 4]


def first_tokens(model, rows=DRAWS, **options):
    """The first token after one and the same prompt, drawn in so many rows."""
    tokens = torch.full((rows, 1), 3)
    return next(generate_tokens(model, tokens, 1, generator=seeded(), **options))


@torch.no_grad()
def even(model):
    """Such that no token is nearly certain."""
    for parameter in model.norm.parameters():
        parameter.mul_(0.3)
    return model


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"top_p": 0.6},
        {"top_p": 1},
        {"top_p": 0.9, "top_k": 2},
        {"top_p": 0.2, "top_k": 4},
        {"top_k": 3},
        {"top_p": 0.7, "temperature": 0.4},
        {"top_p": 0.7, "temperature": 2.0, "top_k": 5},
    ],
    ids=str,
)
def test_what_is_generated_is_drawn_among_the_k_likeliest_and_the_nucleus(options):
    """Of what both allow each token keeps its share; the temperature comes first."""
    model = even(draw_model())
    logits = model(torch.tensor([[3]]))[0].detach() / options.get("temperature", 1.0)  # (1, vocabulary)
    allowed = logits.argsort(-1, descending=True).argsort(-1) < options.get("top_k", WORDS)
    if options.get("top_p", 1) < 1:
        allowed = allowed & keep_nucleus(logits, options["top_p"]).isfinite()
    chances = logits.softmax(dim=-1) * allowed
    chances = (chances / chances.sum()).double()[0]
    tokens = first_tokens(model, **options)
    drawn_so_often = torch.stack([(tokens == token).double().mean() for token in range(WORDS)])
    deviation = (chances * (1 - chances) / DRAWS).sqrt()
    assert ((drawn_so_often - chances).abs() <= 5 * deviation).all()


def test_a_nucleus_of_everything_forbids_nothing(monkeypatch):
    """Not even what the rounding of a sum would: in this row ten unlikely tokens come after a chance of 1."""
    assert keep_nucleus(torch.tensor([[0.0] * 3 + [-30.0] * 10]), 1.0).isfinite().sum() == 3
    monkeypatch.setattr(sampling, "keep_nucleus", lambda logits, top_p: logits.fill_(-torch.inf))
    for everything in (1, 1.0):
        drawn_tokens = first_tokens(even(draw_model()), top_p=everything, temperature=3.0)
        assert len(drawn_tokens.unique()) == WORDS


@pytest.mark.parametrize("temperature", [0, 0.8])
@pytest.mark.parametrize("wrong", [0, -0.1, 1.1, math.nan])
def test_a_nucleus_whose_chance_is_none_is_refused(temperature, wrong):
    with pytest.raises(ValueError, match=f"^top_p={wrong} must be more than 0 and at most 1$"):
        generate_tokens(draw_model(), torch.ones(1, 1, dtype=torch.int64), 3, temperature, top_p=wrong)


# --- the cache ----------------------------------------------------------------------------------------------


SHAPE = D_MODEL, HEADS, D_HIDDEN, LAYERS


def draw_model(max_length=9, rotary=True, dropout=0.5, seed=5, words=WORDS):
    torch.manual_seed(seed)
    model = LanguageModel(Config(words, *SHAPE, max_length, dropout=dropout, rotary=rotary, gated=rotary))
    return unit_scale(model).eval()


@torch.no_grad()
def lively(model):
    """Without biases and with stronger weights a random model does not repeat one word over and over."""
    for name, parameter in model.named_parameters():
        parameter.mul_(0 if name.endswith("bias") else 2)
    return model


@torch.no_grad()
def without_cache(model, tokens):
    """The logits after the last token, by the model itself, which looks at its window."""
    training = model.training
    model.eval()
    logits = model(tokens[:, window_start(tokens.shape[1], model.max_length) :])[:, -1]
    model.train(training)
    return logits


@drawn
@given(
    seed=st.integers(0, 10**6),
    max_length=st.integers(1, 9),
    rotary=st.booleans(),
    training=st.booleans(),
    chunks=st.lists(st.integers(1, 12), min_size=1, max_size=12),
)
@pytest.mark.usefixtures("exact")
def test_with_a_cache_the_logits_are_those_without_at_every_position_however_one_reads(
    seed, max_length, rotary, training, chunks
):
    """Also past the context's end, and in a model that is training, whose dropout the cache leaves out."""
    model = draw_model(max_length, rotary, seed=seed).train(training)
    tokens = torch.randint(WORDS, (BATCH, sum(chunks)))
    cache, end = Cache(model, BATCH), 0
    for chunk in chunks:
        logits, end = cache.read(tokens[:, end : end + chunk]), end + chunk
        assert_same(logits, without_cache(model, tokens[:, :end]))
    assert model.training == training


@pytest.mark.parametrize("rotary", [False, True], ids=["learned", "rotary"])
def test_in_single_precision_a_larger_model_agrees_to_five_decimals_for_many_windows(rotary):
    torch.manual_seed(1)
    model = LanguageModel(Config(300, 64, 4, 256, 4, 32, rotary=rotary)).eval()
    tokens, cache = torch.randint(300, (2, 150)), Cache(model, 2)
    for end in range(1, 151):
        assert_same(cache.read(tokens[:, end - 1 : end]), without_cache(model, tokens[:, :end]), 1e-5)


@pytest.mark.parametrize("rotary", [False, True], ids=["learned, biased", "rotary, without biases"])
@pytest.mark.parametrize("rows", [1, 3])
def test_in_bfloat16_the_cache_shares_the_weights_and_the_logits_are_the_models_within_its_rounding(rotary, rows):
    torch.manual_seed(1)
    model = LanguageModel(Config(300, 64, 4, 256, 4, 32, rotary=rotary, bias=not rotary)).eval().bfloat16()
    tokens, cache, exact = torch.randint(300, (rows, 30)), Cache(model, rows), copy.deepcopy(model).float()
    assert all(one is other for one, other in zip(matrices(cache.model), matrices(model), strict=True))
    for end in range(1, 31):
        expected, logits = without_cache(exact, tokens[:, :end]), cache.read(tokens[:, end - 1 : end])
        assert logits.dtype == torch.bfloat16
        assert (logits.float() - expected).norm() <= 0.02 * expected.norm()


@pytest.mark.parametrize("max_length", [1, 2, 5, 8, 64])
def test_a_window_is_full_then_half_and_moves_on_only_when_it_must(max_length):
    starts = [window_start(length, max_length) for length in range(1, 6 * max_length + 1)]
    assert starts[:max_length] == [0] * max_length
    seen = [length - start for length, start in enumerate(starts, 1)]
    assert max(seen) == max_length
    assert min(seen[max_length:]) == max_length // 2 + 1
    for before, after, there in zip(starts, starts[1:], seen, strict=False):
        assert (after > before) == (there == max_length)


@pytest.mark.parametrize("rotary", [False, True], ids=["learned", "rotary"])
def test_every_token_is_read_once_until_the_context_is_full(rotary):
    model, read = draw_model(64, rotary), []
    model.embedding.register_forward_hook(lambda module, inputs, output: read.append(inputs[0].shape[1]))
    list(generate_tokens(model, torch.ones(BATCH, 7, dtype=torch.int64), 58))
    assert read == [7] + [1] * 57  # 64 tokens: the last that is drawn need not be read
    read.clear()
    list(generate_tokens(model, torch.ones(BATCH, 7, dtype=torch.int64), 59))
    assert read == [7] + [1] * 57 + [33]  # the 65th is one too many: half of them are read anew


def test_a_model_that_was_laid_out_before_it_became_short_is_laid_out_anew():
    model = lay_out(draw_model()).bfloat16()
    assert not any(weight.is_contiguous() for weight in matrices(model))
    assert all(weight.is_contiguous() for weight in matrices(Cache(model, 1).model))


def test_a_cache_needs_no_gradients_and_sets_memory_aside_once():
    model = draw_model()
    cache, places = Cache(model, BATCH), set()
    for _ in range(20):
        assert not cache.read(torch.ones(BATCH, 1, dtype=torch.int64)).requires_grad
        places.add(tuple(tensor.data_ptr() for memory in cache.memory.values() for tensor in memory))
    assert [len(place) for place in places] == [2 * LAYERS]


def test_what_a_cache_returns_is_a_tensor_like_any_other_and_the_model_may_be_called_with_it_outside_read():
    model, tokens = draw_model(), torch.randint(WORDS, (BATCH, 5))
    cache = Cache(model, BATCH)
    (cache.read(tokens[:, :2]) * torch.ones(WORDS, requires_grad=True)).sum().backward()
    with torch.no_grad():
        assert_same(cache.model(tokens[:, 2:], cache)[:, -1], without_cache(model, tokens), 1e-5)


def test_a_cache_reads_as_many_rows_as_it_was_made_for_and_only_tokens():
    cache = Cache(draw_model(), 2)
    with pytest.raises(ValueError, match=r"^the tokens \(3, 5\) must be the cache's 2 rows$"):
        cache.read(torch.ones(3, 5, dtype=torch.int64))
    with pytest.raises(ValueError, match=f"^a token is {WORDS}: ids run from 0 to {WORDS - 1}$"):
        cache.read(torch.full((2, 1), WORDS))
    with pytest.raises(ValueError, match=r"^batch=0 is too small: it must be at least 1$"):
        Cache(draw_model(), 0)


# --- tokens and texts ---------------------------------------------------------------------------------------


def test_temperature_zero_writes_the_likeliest_token_again_and_again():
    model, tokens = lively(draw_model(6)), torch.randint(WORDS, (BATCH, 4), generator=seeded())
    for chosen in generate_tokens(model, tokens, 20, temperature=0, top_p=0.5):
        assert chosen.equal(without_cache(model, tokens).argmax(dim=-1))
        tokens = torch.cat([tokens, chosen[:, None]], dim=1)
    assert len(tokens[:, 4:].unique()) > 2


def test_what_cannot_be_generated_is_refused_at_once():
    """Not only when the first token is asked for."""
    model, tokens = draw_model(), torch.ones(1, 2, dtype=torch.int64)
    for options, expected in [
        ({"length": -1}, "^length=-1 is too small: it must be at least 0$"),
        ({"length": 3, "temperature": -1}, "^temperature=-1 must be 0, or at least 1e-30 and finite$"),
        ({"length": 3, "top_k": 12}, f"^top_k=12 is more than the {WORDS} tokens there are$"),
    ]:
        with pytest.raises(ValueError, match=expected):
            generate_tokens(model, tokens, **options)
    with pytest.raises(ValueError, match=r"^the tokens \(1, 0\) must be \(batch, length\), neither empty$"):
        generate_tokens(model, tokens[:, :0], 3)
    with pytest.raises(ValueError, match=r"^temperature=-1 must be 0, or at least 1e-30 and finite$"):
        stream(speaker(), LETTERS, temperature=-1)


LETTERS = Vocabulary(["\n", " ", "é", "the", "🙂", "\ud800"])


def speaker(seed=5):
    """A model that likes to write bytes which are no characters, too."""
    return draw_model(words=256 + 6, seed=seed)


PROMPTS = ["", "the", "unseen words", "é🙂 the", "日本", "\ud800", "\n\n"]


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_stream_is_what_generate_writes_and_that_is_what_the_tokens_say(prompt, seed):
    model = speaker()
    written = generate(model, LETTERS, prompt, 40, 1.5, seed=seed)
    assert written == prompt + "".join(stream(model, LETTERS, prompt, 40, 1.5, seed=seed))
    tokens = torch.tensor([LETTERS.encode(prompt or "\n\n")])
    ids = [token.item() for token in generate_tokens(model, tokens, 40, 1.5, generator=seeded(seed))]
    assert written == prompt + LETTERS.decode(ids)
    assert len(set(ids)) > 5


def test_an_empty_prompt_is_an_empty_line():
    empty, line = (generate(speaker(), LETTERS, prompt, 20, seed=1) for prompt in ("", "\n\n"))
    assert line == "\n\n" + empty


@drawn
@example(ids=[0xED, 0xA0, 0x80, 0x41])
@example(ids=[0xED, 0xA0, 0x41])
@example(ids=[261, 0xF0, 0x9F, 261])
@given(
    ids=st.lists(
        st.one_of(st.sampled_from([0xED, 0xA0, 0x80, 0xE2, 0x82, 0xAC, 0xF0, 0x9F]), st.integers(0, 255 + 6)),
        max_size=12,
    )
)
def test_text_that_comes_in_pieces_is_the_text_of_all_of_them(ids):
    """Whole characters, half ones, halves of surrogate pairs, and bytes that are none of these."""
    assert "".join(LETTERS.decode_stream(ids)) == LETTERS.decode(ids)


def test_a_character_comes_as_soon_as_its_last_byte_does():
    ids = LETTERS.encode("a日🙂é")
    pieces = list(LETTERS.decode_stream(iter(ids)))
    assert pieces == ["a", "", "", "日", "🙂", "é", ""]


def test_half_a_surrogate_pair_does_not_suffer_from_a_byte_that_is_no_character():
    assert LETTERS.decode([*LETTERS.spell("\ud801"), 0xFF, 0xC3]) == "\ud801��"


def test_a_seed_gives_one_text_and_leaves_pytorchs_own_generator_alone():
    model, world = speaker(), torch.get_rng_state()
    texts = [generate(model, LETTERS, "the", 30, 1.5, seed=seed) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]
    assert torch.get_rng_state().equal(world)


def test_without_a_seed_texts_differ():
    model, world = speaker(), torch.get_rng_state()
    try:
        assert generate(model, LETTERS, "the", 30, 1.5) != generate(model, LETTERS, "the", 30, 1.5)
    finally:
        torch.set_rng_state(world)


def test_a_list_of_prompts_gives_their_texts_in_order_each_as_if_alone():
    model = lively(speaker())
    together = generate(model, LETTERS, PROMPTS, 12, 0)
    assert together == [generate(model, LETTERS, prompt, 12, 0) for prompt in PROMPTS]
    assert generate(model, LETTERS, [], 12) == []
    assert generate(model, LETTERS, PROMPTS, 0) == PROMPTS


def test_prompts_of_as_many_tokens_are_one_batch():
    model, batches = speaker(), []
    model.embedding.register_forward_hook(lambda _, inputs, output: batches.append(tuple(inputs[0].shape)))
    generate(model, LETTERS, ["the", "a", "é the", "b c", "z"], 2, seed=1)
    assert batches == [(3, 1), (3, 1), (2, 3), (2, 1)]


def test_equal_prompts_get_different_texts_and_the_same_ones_again_for_the_same_seed():
    texts = generate(speaker(), LETTERS, ["the"] * 4, 20, 1.5, seed=1)
    assert len(set(texts)) == 4
    assert texts == generate(speaker(), LETTERS, ["the"] * 4, 20, 1.5, seed=1)
