"""Reading attention weights out of a model: they are the right ones, and the model is left as it was."""

import pytest
import torch
from theorems import LAYERS, LENGTH, SIZES, TARGET_WORDS, WORDS, draw_tokens, unit_scale

from transformer_lessons.attention import MultiHeadAttention
from transformer_lessons.inspection.attention_maps import attention_weights, without_sink
from transformer_lessons.models import Config, LanguageModel, Transformer


def hooks(model):
    return [
        hook
        for module in model.modules()
        for hook in (*module._forward_hooks.values(), *module._forward_pre_hooks.values())
    ]


def test_every_attention_of_a_model_is_read_by_its_name_and_its_rows_sum_to_one():
    model = unit_scale(Transformer(WORDS, TARGET_WORDS, **SIZES)).eval()
    source, target = draw_tokens(length=LENGTH), draw_tokens(length=3)
    found = attention_weights(model, source, target)
    kinds = ["encoder.layers.{}.attention", "decoder.layers.{}.self_attention", "decoder.layers.{}.cross_attention"]
    assert found.keys() == {kind.format(number) for kind in kinds for number in range(LAYERS)}
    shapes = {name.split(".", 3)[-1]: weights.shape[2:] for name, weights in found.items()}
    assert shapes == {"attention": (LENGTH, LENGTH), "self_attention": (3, 3), "cross_attention": (3, LENGTH)}
    for weights in found.values():
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(weights.shape[:-1]))
        assert not weights.requires_grad


def test_no_hook_stays_on_the_model():
    model = unit_scale(LanguageModel(Config(WORDS, **SIZES))).eval()
    attention_weights(model, draw_tokens())
    assert hooks(model) == []


@pytest.mark.parametrize("broken", [0, LAYERS - 1], ids=["first layer", "last layer"])
def test_no_hook_stays_on_a_model_that_raises(broken):
    model = unit_scale(LanguageModel(Config(WORDS, **SIZES))).eval()
    model.layers[broken].feed_forward = torch.nn.Linear(1, 1)
    with pytest.raises(RuntimeError, match="shapes"):
        attention_weights(model, draw_tokens())
    assert hooks(model) == []


def test_hooks_of_others_stay():
    model, seen = unit_scale(LanguageModel(Config(WORDS, **SIZES))).eval(), []
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            module.register_forward_hook(lambda attention, inputs, result: seen.append(result[1]))
    attention_weights(model, draw_tokens())
    assert len(hooks(model)) == LAYERS
    model(draw_tokens())
    assert [weights is None for weights in seen] == [False] * LAYERS + [True] * LAYERS


def test_without_the_sink_every_query_but_the_first_divides_all_its_weight_among_the_other_tokens():
    weights = torch.tensor([[1.0, 0, 0, 0], [0.9, 0.1, 0, 0], [0.5, 0.1, 0.4, 0], [0.25, 0.25, 0.25, 0.25]])
    third = 1 / 3
    expected = torch.tensor([[0, 0, 0, 0], [0, 1, 0, 0], [0, 0.2, 0.8, 0], [0, third, third, third]])
    before = weights.clone()
    torch.testing.assert_close(without_sink(weights.expand(2, 3, 4, 4)), expected.expand(2, 3, 4, 4))
    assert torch.equal(weights, before)
