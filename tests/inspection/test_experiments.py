"""Ablation, patching and the lens: what they compute is what a changed model would, and they leave none behind."""

import copy

import pytest
import torch
from theorems import BATCH, D_HEAD, D_MODEL, HEADS, LAYERS, LENGTH, SIZES, WORDS, assert_same, draw_tokens, unit_scale
from torch import nn

from transformer_lessons.attention import MultiHeadAttention
from transformer_lessons.inspection.attention_maps import attention_weights, induction_score, previous_token_score
from transformer_lessons.inspection.experiments import (
    ablate_head,
    ablated,
    copying_matrix,
    logit_lens,
    outputs_of,
    patched,
    residual_stream,
)
from transformer_lessons.models import Config, LanguageModel

pytestmark = pytest.mark.usefixtures("exact")
NAME = "layers.1.attention"


@pytest.fixture
def model(exact):
    return unit_scale(LanguageModel(Config(WORDS, **SIZES))).eval()


def hooks(model):
    return [
        hook
        for module in model.modules()
        for hook in (*module._forward_hooks.values(), *module._forward_pre_hooks.values())
    ]


def without(model, heads):
    """A copy in which linear_out no longer reads these heads of layer 1: their columns are 0."""
    changed = copy.deepcopy(model)
    for head in heads:
        changed.layers[1].attention.linear_out.weight.data[:, head * D_HEAD : (head + 1) * D_HEAD] = 0
    return changed


@pytest.mark.parametrize("heads", [[0], [HEADS - 1], [0, 2], range(HEADS), []], ids=str)
def test_an_ablated_head_is_one_whose_columns_of_linear_out_are_zero(model, heads):
    tokens = draw_tokens()
    with ablated(model, {NAME: heads}):
        found = model(tokens)
    assert_same(found, without(model, heads)(tokens))


def test_heads_of_several_layers_are_ablated_at_once_and_blocks_may_be_nested(model):
    tokens = draw_tokens()
    with ablated(model, {"layers.0.attention": [1], NAME: [0]}):
        together = model(tokens)
    with ablated(model, {"layers.0.attention": [1]}), ablated(model, {NAME: [0]}):
        assert_same(model(tokens), together)


def test_the_weights_of_an_ablated_model_can_be_read(model):
    tokens = draw_tokens()
    whole = attention_weights(model, tokens)
    with ablated(model, {"layers.0.attention": range(HEADS)}):
        found = attention_weights(model, tokens)
    assert_same(found["layers.0.attention"], whole["layers.0.attention"])
    assert not torch.allclose(found[NAME], whole[NAME])


def test_no_hook_stays_on_the_model_whatever_happens(model):
    tokens = draw_tokens()
    before = model(tokens)
    with pytest.raises(RuntimeError, match="on purpose"), ablated(model, {NAME: [0]}):
        raise RuntimeError("on purpose")
    with pytest.raises(RuntimeError, match="on purpose"), patched(model, NAME, tokens, 0):
        raise RuntimeError("on purpose")
    outputs_of(model, [NAME], tokens)
    residual_stream(model, tokens)
    assert hooks(model) == []
    assert_same(model(tokens), before)


@pytest.mark.parametrize(
    ("heads", "said"),
    [
        ({"layers.9.attention": [0]}, "the model has no part called 'layers.9.attention'"),
        ({"layers.0.norm_1": [0]}, "'layers.0.norm_1' is a LayerNorm, which has no heads"),
        ({NAME: [HEADS]}, f"there is no head {HEADS}: the last of {HEADS} heads is {HEADS - 1}"),
        ({NAME: [-1]}, "there is no head -1"),
    ],
)
def test_what_is_no_head_is_refused_and_no_hook_stays(model, heads, said):
    with pytest.raises(ValueError, match=said), ablated(model, {"layers.0.attention": [0]} | heads):
        pass
    assert hooks(model) == []


def test_ablate_head_leaves_its_input_and_the_other_heads_alone():
    heads = torch.randn(BATCH, HEADS, LENGTH, D_HEAD)
    kept = heads.clone()
    found = ablate_head(heads, 1)
    assert torch.equal(heads, kept)
    assert not found[:, 1].any()
    others = [0, *range(2, HEADS)]
    assert torch.equal(found[:, others], heads[:, others])


def test_patching_every_place_of_the_last_layer_gives_the_other_run(model):
    one, other = draw_tokens(), draw_tokens()
    name = f"layers.{LAYERS - 1}"
    output = outputs_of(model, [name], other)[name]
    for place, theirs in enumerate(model(other).unbind(dim=1)):
        with patched(model, name, output, place):
            found = model(one)
        assert_same(found[:, place], theirs)
        assert_same(found.index_fill(1, torch.tensor(place), 0), model(one).index_fill(1, torch.tensor(place), 0))


def test_a_slice_of_places_can_be_patched(model):
    output = outputs_of(model, [NAME], draw_tokens())[NAME]
    with patched(model, NAME, output, slice(None)):
        assert_same(outputs_of(model, [NAME], draw_tokens())[NAME], output)


def test_an_attention_is_patched_in_its_output_and_keeps_its_weights(model):
    one, other = draw_tokens(), draw_tokens()
    output = outputs_of(model, [NAME], other)[NAME]
    weights = attention_weights(model, one)[NAME]
    with patched(model, NAME, output, 2):
        assert_same(attention_weights(model, one)[NAME], weights)
        again = outputs_of(model, [NAME], one)[NAME]
    assert_same(again[:, 2], output[:, 2])


def test_an_output_of_another_shape_is_not_patched_in(model):
    output = outputs_of(model, [NAME], draw_tokens())[NAME]
    with patched(model, NAME, output, 0), pytest.raises(ValueError, match=r"must be \(\d, 3, \d+\)"):
        model(draw_tokens(length=3))


@pytest.mark.parametrize("number", range(LAYERS + 1))
def test_the_lens_shows_the_logits_of_the_model_cut_off_there(model, number):
    tokens = draw_tokens()
    stages = residual_stream(model, tokens)
    assert stages.shape == (LAYERS + 1, BATCH, LENGTH, D_MODEL)
    cut = copy.deepcopy(model)
    cut.layers = cut.layers[:number]
    assert_same(logit_lens(stages, model.norm, model.embedding.weight)[number], cut(tokens))


def test_a_column_of_the_copying_matrix_is_what_attending_to_that_token_adds():
    embedding, unembedding = nn.Embedding(WORDS, D_MODEL), nn.Linear(D_MODEL, WORDS, bias=False)
    attention = unit_scale(MultiHeadAttention(D_MODEL, HEADS, dropout=0)).eval()
    matrices = [copying_matrix(embedding.weight, attention, unembedding.weight, head) for head in range(HEADS)]
    silent = attention(*3 * [torch.zeros(1, 1, D_MODEL)])[0]
    for token in range(WORDS):
        x = embedding.weight[token][None, None]  # attends to itself alone
        added = unembedding(attention(x, x, x)[0] - silent)[0, 0]
        assert_same(sum(matrices)[:, token], added)
    with ablated(attention, {"": [head for head in range(HEADS) if head != 1]}):
        assert_same(
            matrices[1][:, token],
            unembedding(attention(x, x, x)[0] - attention.linear_out.bias)[0, 0]
            - unembedding(
                attention.linear_out.weight[:, D_HEAD : 2 * D_HEAD] @ attention.linear_v.bias[D_HEAD : 2 * D_HEAD]
            ),
        )


def test_the_scores_of_a_head_that_only_does_its_job_are_one_and_of_others_less():
    length, period = 11, 4
    queries = torch.arange(length)
    tables = torch.zeros(3, length, length)
    tables[0, queries, (queries - 1).clamp(min=0)] = 1  # one back
    tables[1, queries, torch.where(queries >= period, queries - period + 1, 0)] = 1  # induction
    tables[2, queries, torch.where(queries >= period, queries - period, 0)] = 1  # the earlier copy itself
    weights = tables.expand(BATCH, -1, -1, -1)
    assert previous_token_score(weights).tolist() == [1, 0.1, 0.1]  # at t = 1 all attend to the first token
    assert induction_score(weights, period).tolist() == [0, 1, 0]
    assert_same(induction_score(weights, 2), previous_token_score(weights[:, :, 1:, 1:]))


@pytest.mark.parametrize(
    ("score", "said"),
    [
        (
            lambda: previous_token_score(torch.ones(2, 1, 1)),
            r"weights \(2, 1, 1\) must be \(batch, heads, length, length\)",
        ),
        (lambda: previous_token_score(torch.ones(2, 3, 1, 1)), "with a length of at least 2"),
        (lambda: induction_score(torch.ones(2, 3, 4, 4), 4), "with a length of at least 5"),
        (lambda: induction_score(torch.ones(2, 3, 4, 5), 2), r"weights \(2, 3, 4, 5\)"),
        (lambda: induction_score(torch.ones(2, 3, 4, 4), 1), "period=1 is too small"),
    ],
)
def test_weights_that_have_no_such_score_are_refused(score, said):
    with pytest.raises(ValueError, match=said):
        score()
