"""Theorems about what may change what: the future, padding, order, dropout, and every weight."""

import pytest
import torch
from theorems import (
    BATCH,
    LAYERS,
    LENGTH,
    PAD,
    SIZES,
    SOURCE,
    TARGET_WORDS,
    WORDS,
    Halve,
    Vectors,
    assert_same,
    draw_tokens,
    gradients,
    language_model,
    unit_scale,
)
from torch import nn

from transformer_lessons.models import Encoder, LanguageModel, Transformer

pytestmark = pytest.mark.usefixtures("exact")


def scaled_language_model(rotary):
    model = unit_scale(language_model(WORDS, **SIZES, rotary=rotary, gated=rotary)).eval()
    return model, model.embedding, model


def transformer(norm_first):
    """A Transformer, its target embedding, and what it makes of a target, given one source."""
    model = unit_scale(Transformer(WORDS, TARGET_WORDS, **SIZES, norm_first=norm_first)).eval()
    source = draw_tokens(length=SOURCE)
    return model, model.decoder.embedding, lambda target: model(source, target)


MASKED = {
    "language model, learned positions": lambda: scaled_language_model(rotary=False),
    "language model, rotary positions": lambda: scaled_language_model(rotary=True),
    "transformer, post-norm": lambda: transformer(norm_first=False),
    "transformer, pre-norm": lambda: transformer(norm_first=True),
}
EVERY_MASKED = pytest.mark.parametrize("build", MASKED.values(), ids=MASKED)
BOTH_ORDERS = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


# --- the future ---------------------------------------------------------------------------------------------


@EVERY_MASKED
def test_the_future_cannot_change_the_past(build):
    _, _, forward = build()
    tokens = draw_tokens()
    for now in range(LENGTH - 1):
        other = tokens.clone()
        other[:, now + 1 :] = (tokens[:, now + 1 :] + 1) % WORDS
        assert torch.equal(forward(other)[:, : now + 1], forward(tokens)[:, : now + 1])


@EVERY_MASKED
def test_the_past_does_change_the_future(build):
    _, _, forward = build()
    tokens = draw_tokens()
    other = tokens.clone()
    other[:, 0] = (tokens[:, 0] + 1) % WORDS
    assert ((forward(other) - forward(tokens)).abs().amax(dim=-1) > 1e-6).all()


@EVERY_MASKED
def test_what_comes_later_gets_no_gradient_and_all_that_came_before_does(build):
    _, embedding, forward = build()
    with Vectors(embedding) as caught:
        logits = forward(draw_tokens())
    for now in range(LENGTH):
        (gradient,) = torch.autograd.grad(logits[:, now].square().sum(), caught[-1], retain_graph=True)
        assert (gradient[:, now + 1 :] == 0).all()
        assert (gradient[:, : now + 1].abs().amax(dim=-1) > 1e-9).all()


def test_a_longer_sequence_begins_like_a_shorter_one():
    for build in MASKED.values():
        _, _, forward = build()
        tokens = draw_tokens()
        for length in range(1, LENGTH):
            assert_same(forward(tokens[:, :length]), forward(tokens)[:, :length])


# --- padding ------------------------------------------------------------------------------------------------


def draw_holes(length, words=WORDS):
    """Padding anywhere: at the end, at the start, in the middle, everywhere."""
    tokens = draw_tokens(length=length, words=words)
    tokens[0, -2:] = tokens[1, :2] = tokens[2, 1:3] = tokens[3] = PAD
    return tokens


@BOTH_ORDERS
def test_what_padding_looks_like_cannot_change_an_encoders_real_outputs(norm_first):
    encoder = unit_scale(Encoder(WORDS, **SIZES, norm_first=norm_first, pad_id=PAD)).eval()
    tokens = draw_holes(SOURCE)
    real = tokens != PAD
    with Vectors(encoder.embedding) as caught:
        before = encoder(tokens)[real]
    (gradient,) = gradients(before, caught)
    assert (gradient[~real] == 0).all()
    assert (gradient[real].abs().amax(dim=-1) > 1e-9).all()
    with torch.no_grad():
        encoder.embedding.table.weight[PAD].normal_()
    assert_same(encoder(tokens)[real], before)
    encoder.pad_id = None
    assert (encoder(tokens)[real] - before).abs().max() > 0.01


@BOTH_ORDERS
def test_what_padding_looks_like_cannot_change_a_transformers_real_outputs(norm_first):
    model = unit_scale(Transformer(WORDS, TARGET_WORDS, **SIZES, norm_first=norm_first, pad_id=PAD)).eval()
    source, target = draw_holes(SOURCE), draw_holes(LENGTH, TARGET_WORDS)
    real = target != PAD
    with Vectors(model.encoder.embedding) as sources, Vectors(model.decoder.embedding) as targets:
        before = model(source, target)[real]
    for tokens, gradient in zip((source, target), gradients(before, sources + targets), strict=True):
        assert (gradient[tokens == PAD] == 0).all()
        reached = tokens[:3]  # in the last pair all is padding
        assert (gradient[:3][reached != PAD].abs().amax(dim=-1) > 1e-9).all()
    with torch.no_grad():
        model.encoder.embedding.table.weight[PAD].normal_()
        model.decoder.embedding.table.weight[PAD].normal_()
    words = torch.arange(TARGET_WORDS) != PAD  # the same row also makes the logit of PAD
    assert_same(model(source, target)[real][:, words], before[:, words])


@BOTH_ORDERS
def test_any_token_can_be_the_padding(norm_first):
    """Exchange the names of tokens 0 and PAD, in the tables and in the tokens: nothing else changes."""
    model, renamed = (
        unit_scale(Transformer(WORDS, **SIZES, norm_first=norm_first, pad_id=pad_id)).eval() for pad_id in (PAD, 0)
    )
    names = torch.arange(WORDS)
    names[PAD], names[0] = 0, PAD
    renamed.load_state_dict(model.state_dict())
    with torch.no_grad():
        renamed.encoder.embedding.table.weight.copy_(model.encoder.embedding.table.weight[names])
    source, target = draw_holes(SOURCE), draw_holes(LENGTH)
    assert_same(renamed.encoder(names[source]), model.encoder(source))
    assert_same(renamed(names[source], names[target])[..., names], model(source, target))


@BOTH_ORDERS
def test_a_padded_batch_gives_what_its_sequences_give_one_by_one(norm_first):
    """Values, and the gradients of every weight."""
    model = unit_scale(Transformer(WORDS, TARGET_WORDS, **SIZES, norm_first=norm_first, pad_id=PAD)).eval()
    source, target = draw_tokens(length=SOURCE), draw_tokens(words=TARGET_WORDS)
    source_lengths, target_lengths = (7, 4, 6, 1), (3, 5, 1, 4)
    for row in range(BATCH):
        source[row, source_lengths[row] :] = target[row, target_lengths[row] :] = PAD
    together = model(source, target)[target != PAD]
    pairs = zip(source, target, source_lengths, target_lengths, strict=True)
    alone = torch.cat([model(read[None, :r], written[None, :w])[0] for read, written, r, w in pairs])
    assert_same(together, alone)
    weights = list(model.parameters())
    assert_same(gradients(together, weights), gradients(alone, weights))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@BOTH_ORDERS
def test_nothing_becomes_nan_in_low_precision_even_where_all_is_padding(dtype, norm_first):
    """In training, so that dropout takes part; float16 reaches only to 65 504."""
    model = unit_scale(Transformer(WORDS, **SIZES, norm_first=norm_first, pad_id=PAD)).to(dtype)
    logits = model(draw_holes(SOURCE), draw_holes(LENGTH))
    assert logits.dtype == dtype
    assert logits.isfinite().all()
    assert all(gradient.isfinite().all() for gradient in gradients(logits, list(model.parameters())))


@pytest.mark.parametrize("rotary", [False, True], ids=["learned", "rotary"])
def test_language_models_stay_finite_in_bfloat16(rotary):
    model = unit_scale(language_model(WORDS, **SIZES, rotary=rotary, gated=rotary)).bfloat16()
    logits = model(draw_tokens())
    assert logits.dtype == torch.bfloat16
    assert logits.isfinite().all()
    assert all(gradient.isfinite().all() for gradient in gradients(logits, list(model.parameters())))


# --- order --------------------------------------------------------------------------------------------------


@BOTH_ORDERS
def test_shuffled_tokens_give_shuffled_outputs_without_positions_and_other_outputs_with_them(norm_first):
    encoder = unit_scale(Encoder(WORDS, **SIZES, norm_first=norm_first, pad_id=PAD)).eval()
    tokens, shuffle = draw_holes(LENGTH), torch.tensor([3, 0, 4, 2, 1])
    assert ((encoder(tokens[:, shuffle]) - encoder(tokens)[:, shuffle]).abs().amax(dim=-1) > 1e-3).all()
    encoder.embedding.positions = nn.Identity()
    assert_same(encoder(tokens[:, shuffle]), encoder(tokens)[:, shuffle])


@BOTH_ORDERS
def test_the_decoder_does_not_care_in_which_order_it_reads_a_memory(norm_first):
    model, _, _ = transformer(norm_first)
    source, target, shuffle = draw_tokens(length=SOURCE), draw_tokens(), torch.tensor([3, 0, 6, 2, 5, 1, 4])
    memory = model.encoder(source)
    assert_same(model.decode(target, memory[:, shuffle], source[:, shuffle]), model.decode(target, memory, source))
    assert (model(source[:, shuffle], target) - model(source, target)).abs().max() > 1e-3


# --- place --------------------------------------------------------------------------------------------------


@EVERY_MASKED
def test_what_a_model_makes_lies_where_its_tokens_lie(build):
    """The default device has no numbers at all, so whatever is made there by mistake cannot be used."""
    model, _, forward = build()
    tokens = draw_tokens()
    before = forward(tokens)
    with torch.device("meta"):
        assert torch.equal(forward(tokens), before)
        if isinstance(model, Transformer):
            assert model.generate(tokens, 1, 2).device == tokens.device


# --- every weight -------------------------------------------------------------------------------------------

MODELS = {
    "encoder": lambda: Encoder(WORDS, **SIZES),
    "encoder, pre-norm": lambda: Encoder(WORDS, **SIZES, norm_first=True),
    "transformer": lambda: Transformer(WORDS, TARGET_WORDS, **SIZES),
    "transformer, pre-norm, shared": lambda: Transformer(WORDS, **SIZES, norm_first=True),
    "language model": lambda: language_model(WORDS, **SIZES, dropout=0.1),
    "language model, rotary": lambda: language_model(WORDS, **SIZES, dropout=0.1, rotary=True, gated=True),
}
EVERY_MODEL = pytest.mark.parametrize("name", MODELS)


def build_with_tokens(name, length=LENGTH):
    model = unit_scale(MODELS[name]()).eval()
    return model, [draw_tokens(length=length) for _ in range(2 if isinstance(model, Transformer) else 1)]


@EVERY_MODEL
def test_every_weight_gets_a_gradient_except_the_bias_of_the_keys(name):
    """It adds query · bias to every score in a query's row, and softmax ignores what is added to all equally.

    Rotary positions turn the bias differently at each key: there it counts.
    """
    model, tokens = build_with_tokens(name, SIZES["max_length"])
    names, weights = zip(*model.named_parameters(), strict=True)
    for weight, gradient in zip(names, gradients(model(*tokens), weights), strict=True):
        if weight.endswith("linear_k.bias") and "rotary" not in name:
            assert gradient.abs().max() < 1e-10, weight
        else:
            assert gradient.abs().max() > 1e-6, weight


@EVERY_MODEL
def test_the_gradient_of_every_weight_is_that_of_finite_differences(name):
    """A small step either way along a random direction, one weight at a time; tables count with both uses."""
    model, tokens = build_with_tokens(name)
    step = 1e-6
    names, weights = zip(*model.named_parameters(), strict=True)
    loss = model(*tokens).square().mean()
    for which, weight, gradient in zip(names, weights, torch.autograd.grad(loss, weights), strict=True):
        direction, losses = torch.randn_like(weight), []
        with torch.no_grad():
            for move in (step, -2 * step, step):
                weight += move * direction
                losses.append(model(*tokens).square().mean().item())
        slope = (losses[0] - losses[1]) / (2 * step)
        assert slope == pytest.approx((gradient * direction).sum().item(), rel=1e-5, abs=1e-6), which


# --- dropout ------------------------------------------------------------------------------------------------


def dropouts(model):
    """The parts that drop; a language model drops no weight of its attention."""
    without = [layer.attention.dropout for layer in model.layers] if isinstance(model, LanguageModel) else []
    assert {part.p for part in without} <= {0}
    return [part for part in model.modules() if isinstance(part, nn.Dropout) and part not in without]


@EVERY_MODEL
def test_models_drop_in_training_as_much_as_they_are_told_and_nothing_in_evaluation(name):
    model, tokens = build_with_tokens(name)
    without = model(*tokens)
    for part in dropouts(model):
        assert part.p == 0.1
        part.p = 0.9
    assert_same(model(*tokens), without)
    model.train()
    assert (model(*tokens) - model(*tokens)).abs().max() > 0.1


@pytest.mark.parametrize("kind", [Encoder, Transformer, language_model])
def test_every_part_of_a_model_drops_as_much_as_the_model_is_told(kind):
    layers = {Encoder: 2 * LAYERS, Transformer: 5 * LAYERS, language_model: LAYERS}[kind]
    rates = [part.p for part in dropouts(kind(WORDS, **SIZES, dropout=0.3))]
    assert rates == [0.3] * (layers + (2 if kind is Transformer else 1))


def test_models_drop_from_what_enters_the_first_layer_and_nowhere_else():
    """Halved in place of dropped: the first layer reads half of the vectors, the rest is as in evaluation."""
    transformer = Transformer(WORDS, TARGET_WORDS, **SIZES, dropout=0.0)
    decoder_only = language_model(WORDS, **SIZES, dropout=0.0)
    memory, tokens = torch.randn(BATCH, SOURCE, SIZES["d_model"]), draw_tokens()
    for stack, embed, others in [
        (transformer.encoder, transformer.encoder.embedding, ()),
        (transformer.decoder, transformer.decoder.embedding, (memory,)),
        (decoder_only, lambda tokens: decoder_only.positions(decoder_only.embedding(tokens)), ()),
    ]:
        unit_scale(stack)
        read, written = [], []
        stack.layers[0].register_forward_pre_hook(lambda layer, inputs, read=read: read.append(inputs[0]))
        stack.norm.register_forward_hook(lambda norm, inputs, output, written=written: written.append(output))
        stack.dropout = Halve()
        output = stack(tokens, *others)
        assert_same(read[0], embed(tokens) / 2)
        if stack is decoder_only:
            assert_same(output, written[0] @ decoder_only.embedding.weight.T)
        else:
            assert_same(output, written[0])
