"""Theorems about whole models: they equal other people's, number for number."""

import copy
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from theorems import (
    BATCH,
    D_HEAD,
    D_HIDDEN,
    D_MODEL,
    HEADS,
    LAYERS,
    LENGTH,
    MAX_LENGTH,
    PAD,
    SIZES,
    SOURCE,
    TARGET_WORDS,
    WORDS,
    Memory,
    assert_same,
    copy_decoder_layer,
    copy_encoder_layer,
    draw_tokens,
    drawn,
    gradients,
    language_model,
    unit_scale,
)
from torch import nn

from transformer_lessons.inspection.attention_maps import attention_weights
from transformer_lessons.models import Embedding, Encoder, Transformer
from transformer_lessons.positions import sinusoidal_encoding

pytestmark = pytest.mark.usefixtures("exact")
BOTH_ORDERS = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
BOTH_VOCABULARIES = pytest.mark.parametrize("target_size", [None, TARGET_WORDS], ids=["shared", "separate"])
BOTH_POSITIONS = pytest.mark.parametrize("rotary", [False, True], ids=["learned", "rotary"])


def draw_padded(length, words=WORDS):
    """Tokens with padding at the end, at the start and in the middle; the first sequence has none."""
    tokens = draw_tokens(length=length, words=words)
    tokens[1, -2:] = tokens[2, :1] = tokens[3, 1:3] = PAD
    return tokens


def embed_by_hand(table, tokens):
    vectors = table.weight[tokens] * math.sqrt(D_MODEL)
    return vectors + sinusoidal_encoding(tokens.shape[1], D_MODEL)


# --- Encoder and Transformer --------------------------------------------------------------------------------


@BOTH_ORDERS
def test_the_encoder_is_pytorchs_on_the_same_vectors(norm_first):
    ours = unit_scale(Encoder(WORDS, **SIZES, norm_first=norm_first, pad_id=PAD)).eval()
    layer = nn.TransformerEncoderLayer(D_MODEL, HEADS, D_HIDDEN, 0.0, batch_first=True, norm_first=norm_first)
    theirs = nn.TransformerEncoder(layer, LAYERS, norm=nn.LayerNorm(D_MODEL), enable_nested_tensor=False)
    copy_stack(theirs, ours, copy_encoder_layer)
    tokens = draw_padded(SOURCE)
    vectors = embed_by_hand(ours.embedding.table, tokens)
    assert_same(ours(tokens), theirs(vectors, src_key_padding_mask=tokens == PAD))
    everything = copy.deepcopy(ours)
    everything.pad_id = None
    assert_same(everything(tokens), theirs(vectors))


def copy_stack(theirs, ours, copy_layer):
    for their_layer, our_layer in zip(theirs.layers, ours.layers, strict=True):
        copy_layer(their_layer, our_layer)
    theirs.norm.load_state_dict(ours.norm.state_dict())


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@BOTH_ORDERS
@BOTH_VOCABULARIES
def test_the_transformer_is_pytorchs(norm_first, target_size):
    ours = unit_scale(Transformer(WORDS, target_size, **SIZES, norm_first=norm_first, pad_id=PAD)).eval()
    theirs = nn.Transformer(
        D_MODEL, HEADS, LAYERS, LAYERS, D_HIDDEN, dropout=0.0, batch_first=True, norm_first=norm_first
    )
    copy_stack(theirs.encoder, ours.encoder, copy_encoder_layer)
    copy_stack(theirs.decoder, ours.decoder, copy_decoder_layer)
    source, target = draw_padded(SOURCE), draw_padded(LENGTH, target_size or WORDS)
    target[2, 0] = 0  # a target that begins with padding has an empty row, to which PyTorch answers NaN
    source_table, target_table = ours.encoder.embedding.table, ours.decoder.embedding.table
    vectors = theirs(
        embed_by_hand(source_table, source),
        embed_by_hand(target_table, target),
        tgt_mask=nn.Transformer.generate_square_subsequent_mask(LENGTH) < 0,
        src_key_padding_mask=source == PAD,
        tgt_key_padding_mask=target == PAD,
        memory_key_padding_mask=source == PAD,
    )
    expected = vectors @ target_table.weight.T
    assert_same(ours(source, target), expected)
    assert_same(
        gradients(ours(source, target), [source_table.weight, target_table.weight]),
        gradients(expected, [source_table.weight, target_table.weight]),
    )


def test_the_papers_models_are_post_norm_unless_one_says_otherwise_and_gpt2_is_pre_norm():
    paper = Transformer(WORDS, **SIZES)
    for stack in (Encoder(WORDS, **SIZES), paper.encoder, paper.decoder):
        assert [layer.norm_first for layer in stack.layers] == [False] * LAYERS
    assert [layer.norm_first for layer in language_model(WORDS, **SIZES).layers] == [True] * LAYERS


def test_source_and_target_share_one_table_unless_their_vocabularies_differ():
    shared, separate = Transformer(WORDS, **SIZES), Transformer(WORDS, TARGET_WORDS, **SIZES)
    assert shared.encoder.embedding is shared.decoder.embedding
    assert separate.encoder.embedding.table.weight.shape == (WORDS, D_MODEL)
    assert separate.decoder.embedding.table.weight.shape == (TARGET_WORDS, D_MODEL)


def test_embedded_vectors_have_variance_one_and_logits_too():
    """The table has variance 1 / d_model, so √d_model times a row, and a row times such a vector, have 1."""
    embedding = Embedding(4000, D_MODEL, MAX_LENGTH)
    assert embedding.table.weight.var().item() == pytest.approx(1 / D_MODEL, rel=0.05)
    vectors = embedding(torch.arange(4000)[:, None]) - sinusoidal_encoding(1, D_MODEL)
    assert vectors.var().item() == pytest.approx(1, rel=0.05)
    logits = embedding.logits(torch.randn(100, 1, D_MODEL))
    assert logits.var().item() == pytest.approx(1, rel=0.2)


# --- LanguageModel ------------------------------------------------------------------------------------------


def gpt2(weights, tokens, rotary):
    """GPT-2 for one sequence, one number after another, in NumPy: the logits at every position.

    It has ReLU in place of GELU. Where there are weights for gates, they decide in ReLU's place what passes.
    """

    def linear(name, x):
        return weights[f"{name}.weight"] @ x + weights[f"{name}.bias"]

    def norm(name, x):
        deviation = x - x.mean()
        scale = math.sqrt((deviation**2).mean() + 1e-5)
        return weights[f"{name}.weight"] * deviation / scale + weights[f"{name}.bias"]

    def turn(x, position):
        if not rotary:
            return x
        turned = x.copy()
        for i in range(0, D_HEAD, 2):
            angle = position / 10000 ** (i / D_HEAD)
            turned[i] = x[i] * math.cos(angle) - x[i + 1] * math.sin(angle)
            turned[i + 1] = x[i] * math.sin(angle) + x[i + 1] * math.cos(angle)
        return turned

    def attention(name, stream, position):
        result = np.zeros(D_MODEL)
        for head in range(HEADS):
            part = slice(head * D_HEAD, (head + 1) * D_HEAD)
            query = turn(linear(f"{name}.linear_q", stream[position])[part], position)
            matches, values = [], []
            for place in range(position + 1):
                key = turn(linear(f"{name}.linear_k", stream[place])[part], place)
                matches.append(math.exp(query @ key / math.sqrt(D_HEAD)))
                values.append(linear(f"{name}.linear_v", stream[place])[part])
            for match, value in zip(matches, values, strict=True):
                result[part] += match / sum(matches) * value
        return linear(f"{name}.linear_out", result)

    stream = [weights["embedding.weight"][token].copy() for token in tokens]
    for position in range(len(tokens)):
        if not rotary:
            stream[position] += weights["positions.encoding"][position]
    for layer in range(LAYERS):
        name = f"layers.{layer}"
        normed = [norm(f"{name}.norm_1", x) for x in stream]
        stream = [x + attention(f"{name}.attention", normed, position) for position, x in enumerate(stream)]
        for position, x in enumerate(stream):
            normed = norm(f"{name}.norm_2", x)
            hidden = linear(f"{name}.feed_forward.linear_in", normed)
            if f"{name}.feed_forward.linear_gate.weight" in weights:
                gates = linear(f"{name}.feed_forward.linear_gate", normed)
                hidden = np.array([n * g / (1 + math.exp(-g)) for n, g in zip(hidden, gates, strict=True)])
            else:
                hidden = np.array([max(number, 0.0) for number in hidden])
            stream[position] = x + linear(f"{name}.feed_forward.linear_out", hidden)
    return np.array([weights["embedding.weight"] @ norm("norm", x) for x in stream])


@pytest.mark.parametrize("gated", [False, True], ids=["relu", "gated"])
@BOTH_POSITIONS
def test_the_language_model_is_gpt2_written_in_loops(rotary, gated):
    model = unit_scale(language_model(WORDS, **SIZES, rotary=rotary, gated=gated)).eval()
    assert any("linear_gate" in name for name in model.state_dict()) == gated
    weights = {name: weight.numpy() for name, weight in model.state_dict().items()}
    tokens = draw_tokens(batch=2, length=MAX_LENGTH)
    for row, logits in zip(tokens, model(tokens), strict=True):
        assert_same(logits, torch.tensor(gpt2(weights, row.tolist(), rotary)))


@BOTH_POSITIONS
def test_the_language_model_knows_how_far_it_looks_back(rotary):
    model = language_model(WORDS, **SIZES, rotary=rotary)
    assert model.max_length == MAX_LENGTH
    assert model(draw_tokens(length=model.max_length)).shape == (BATCH, MAX_LENGTH, WORDS)
    with pytest.raises(ValueError, match=f"^a sequence of length 10 is longer than max_length={MAX_LENGTH}$"):
        model(draw_tokens(length=10))


@BOTH_POSITIONS
def test_the_language_model_has_no_more_weights_than_gpt2(rotary):
    model = language_model(WORDS, **SIZES, rotary=rotary)
    layer = 4 * D_MODEL * (D_MODEL + 1) + D_HIDDEN * (D_MODEL + 1) + D_MODEL * (D_HIDDEN + 1) + 4 * D_MODEL
    positions = 0 if rotary else MAX_LENGTH * D_MODEL
    count = sum(parameter.numel() for parameter in model.parameters())
    assert count == WORDS * D_MODEL + positions + LAYERS * layer + 2 * D_MODEL


@BOTH_POSITIONS
def test_the_logits_come_from_the_embeddings_own_table(rotary):
    model = unit_scale(language_model(WORDS, **SIZES, rotary=rotary)).eval()
    tokens = draw_tokens()
    before = model(tokens)
    unseen = next(token for token in range(WORDS) if token not in tokens)
    with torch.no_grad():
        model.embedding.weight[unseen] *= 2
    before[:, :, unseen] *= 2
    assert_same(model(tokens), before)


def test_a_new_language_model_knows_nothing_and_says_so():
    """Small weights give all words about the same chance."""
    model = language_model(WORDS, **SIZES).eval()
    assert language_model(5000, **SIZES).embedding.weight.std().item() == pytest.approx(0.02, rel=0.05)
    assert (model(draw_tokens()).softmax(dim=-1) - 1 / WORDS).abs().max() < 0.05


# --- with a cache -------------------------------------------------------------------------------------------


@drawn
@given(
    seed=st.integers(0, 10**6),
    rotary=st.booleans(),
    chunks=st.lists(st.integers(1, MAX_LENGTH), min_size=1).filter(lambda sizes: sum(sizes) <= MAX_LENGTH),
)
def test_with_a_cache_the_logits_and_weights_of_every_token_are_those_of_the_whole(seed, rotary, chunks):
    """However many tokens come at once, the positions continue, and each sees itself and all before it."""
    torch.manual_seed(seed)
    model = unit_scale(language_model(WORDS, **SIZES, rotary=rotary, gated=rotary)).eval()
    tokens, begin = draw_tokens(length=sum(chunks)), 0
    whole, expected = model(tokens), attention_weights(model, tokens)
    for_logits, for_weights = Memory(), Memory()
    for chunk in tokens.split(chunks, dim=1):
        end = begin + chunk.shape[1]
        assert_same(model(chunk, for_logits), whole[:, begin:end])
        for name, weights in attention_weights(model, chunk, for_weights).items():
            assert_same(weights, expected[name][:, :, begin:end, :end])
        for_logits.length = for_weights.length = begin = end


@BOTH_POSITIONS
def test_a_cache_does_not_make_a_model_see_further_than_its_positions(rotary):
    model, cache = language_model(WORDS, **SIZES, rotary=rotary), Memory()
    model(draw_tokens(length=MAX_LENGTH - 1), cache)
    cache.length = MAX_LENGTH - 1
    expected = rf"^a sequence of length {MAX_LENGTH + 1} is longer than max_length={MAX_LENGTH}$"
    with pytest.raises(ValueError, match=expected):
        model(draw_tokens(length=2), cache)


# --- generate -----------------------------------------------------------------------------------------------


def lively(model):
    """Without biases and with stronger weights a random model does not repeat the same word over and over."""
    with torch.no_grad():
        for name, parameter in unit_scale(model).named_parameters():
            parameter.mul_(0 if name.endswith("bias") else 2)
    return model.eval()


@BOTH_ORDERS
@BOTH_VOCABULARIES
def test_generate_takes_the_likeliest_token_again_and_again(norm_first, target_size):
    sizes = SIZES | {"max_length": 12, "norm_first": norm_first, "pad_id": PAD}
    words, rows = set(), set()
    for _ in range(5):
        model = lively(Transformer(WORDS, target_size, **sizes))
        source, tokens = draw_padded(SOURCE), torch.full((BATCH, 1), 1)
        for _ in range(12):
            likeliest = model(source, tokens)[:, -1].argmax(dim=-1)
            tokens = torch.cat([tokens, likeliest[:, None]], dim=1)
        generated = model.generate(source, start_id=1, length=12)
        assert torch.equal(generated, tokens[:, 1:])
        words.add(len(generated.unique()))
        rows.add(len(generated.unique(dim=0)))
    assert max(words) > 2  # one word for all would prove little
    assert max(rows) > 2


def test_generate_works_without_padding_and_for_any_batch():
    model = unit_scale(Transformer(WORDS, **SIZES)).eval()
    for batch in (1, BATCH):
        source = draw_tokens(batch, SOURCE)
        generated = model.generate(source, 1, MAX_LENGTH)
        assert generated.shape == (batch, MAX_LENGTH)
        assert torch.equal(generated[:, :1], model(source, torch.full((batch, 1), 1)).argmax(dim=-1))


def test_generate_drops_nothing_and_leaves_the_model_as_it_was():
    model = unit_scale(Transformer(WORDS, **SIZES, dropout=0.5))
    source = draw_tokens(length=SOURCE)
    expected = model.eval().generate(source, 1, MAX_LENGTH)
    for training in (True, False):
        model.train(training)
        assert torch.equal(model.generate(source, 1, MAX_LENGTH), expected)
        assert {part.training for part in model.modules()} == {training}
        with pytest.raises(ValueError, match=f"a token is {WORDS}"):
            model.generate(source, WORDS, MAX_LENGTH)
        assert {part.training for part in model.modules()} == {training}
    model.train()
    model.encoder.eval()  # as where a part is frozen
    before = [part.training for part in model.modules()]
    model.generate(source, 1, MAX_LENGTH)
    assert [part.training for part in model.modules()] == before


def test_generate_leaves_gradients_alone():
    model = unit_scale(Transformer(WORDS, **SIZES)).eval()
    source, target = draw_tokens(length=SOURCE), draw_tokens()
    model(source, target).sum().backward()
    before = [parameter.grad.clone() for parameter in model.parameters()]
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(saved.append, lambda tensor: tensor):
        model.generate(source, 1, MAX_LENGTH)
    assert not saved  # nothing is kept for a backward pass that never comes
    assert torch.is_grad_enabled()
    assert model(source, target).requires_grad
    for parameter, gradient in zip(model.parameters(), before, strict=True):
        assert torch.equal(parameter.grad, gradient)
