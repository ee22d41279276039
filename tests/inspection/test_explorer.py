"""The explorer shows the weights it was given, in few bytes, and refuses what are none."""

import json
import re

import nbformat
import numpy as np
import pytest
import torch
from nbformat.v4 import new_output
from strict_notebooks import WEIGHT_TOLERANCE, IPyNbCell, explorer_weights

from transformer_lessons import models
from transformer_lessons.inspection.attention_maps import attention_weights
from transformer_lessons.inspection.experiments import ablated
from transformer_lessons.inspection.explorer import explore, visible
from transformer_lessons.language.tokenization import Vocabulary

WORDS = ["a", "b", "c", "d", "e"]
SIZES = {"num_heads": 2, "d_hidden": 8, "num_layers": 2, "max_length": 9}


def some_weights(*shape, causal=False, seed=0):
    scores = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    future = torch.ones(shape[-2:]).triu(1).bool() if causal else torch.zeros(shape[-2:]).bool()
    return scores.masked_fill(future, -torch.inf).softmax(-1)


def data_of(explorer):
    return json.loads(re.search(r'(?s)<script type="application/json">(.*?)</script>', explorer.html)[1])


def told(explorer):
    """What it says of its parts."""
    keys = ("name", "shape", "queries", "keys")
    return [tuple(part[key] for key in keys) for part in data_of(explorer)["parts"]]


def rows_of(explorer):
    table = re.search(r"(?s)<tbody>(.*)</tbody>", explorer.html)[1]
    return [re.findall(r"<td>(.*?)</td>", row) for row in table.strip().splitlines()]


def test_an_explorer_carries_the_weights_to_the_last_of_their_decimals():
    few, many = some_weights(2, 3, 5, 5), some_weights(4, 8, 40, 40)
    for weights, decimals in ((few, 3), (many, 2)):
        explorer = explore(weights, range(weights.shape[-1]))
        assert data_of(explorer)["decimals"] == decimals
        found = explorer_weights(explorer.html).reshape(weights.shape)
        assert np.abs(found - weights.double().numpy()).max() <= 0.5 * 10**-decimals + 1e-9


@pytest.mark.parametrize("causal", [True, False])
def test_four_layers_of_eight_heads_over_forty_tokens_take_at_most_60_kilobytes_beside_their_picture(causal):
    words = [f"word{number}" for number in range(40)]
    explorer = explore(some_weights(4, 8, 40, 40, causal=causal), words)
    assert len(explorer.picture.png) <= 200_000
    assert len(explorer.html.encode()) <= 60_000


def test_the_same_weights_give_the_same_bytes():
    first, second = (explore(some_weights(2, 2, 5, 5), WORDS) for _ in range(2))
    assert first.html == second.html
    assert first.picture.png == second.picture.png


def test_an_explorer_asks_for_nothing_from_elsewhere_and_names_no_ids():
    page = explore(some_weights(2, 2, 5, 5), WORDS).html
    assert "http" not in page
    assert " id=" not in page


def test_the_script_finds_its_page_from_inside_and_from_beside_it_as_in_vs_code():
    page = explore(some_weights(2, 2, 5, 5), WORDS).html
    assert page.count("document.currentScript") == 2
    inside, beside = "closest('.attention-explorer')", "parentElement.querySelector('.attention-explorer')"
    end = f"}})(document.currentScript.{inside} ?? document.currentScript.{beside});\n</script>\n</div>"
    assert page.rstrip("\n").endswith(end)


def test_a_notebook_shows_the_picture_first_with_its_alternative_text(monkeypatch):
    import IPython.display

    shown = []
    monkeypatch.setattr(IPython.display, "display", lambda what, **_: shown.append(what))
    explorer = explore(some_weights(2, 2, 5, 5), WORDS, title="Two layers, two heads")
    explorer._ipython_display_()
    assert shown[0] is explorer.picture
    assert shown[1]["text/html"] == explorer.html
    assert "2 heads across, layer 0, layer 1 down: Two layers, two heads" in explorer.picture.alt
    assert 'role="group" aria-label="Two layers, two heads"' in explorer.html


def test_the_table_names_the_three_strongest_links_of_every_head_among_queries_with_a_choice():
    weights = torch.zeros(1, 2, 4, 4)
    weights[0, :, 0, 0] = 1  # the first query has no choice, in either head
    weights[0, 0, 1:] = torch.tensor([[0.7, 0.3, 0, 0], [0.05, 0.9, 0.05, 0], [0.2, 0.2, 0.2, 0.4]])
    weights[0, 1, 1:] = torch.tensor([[0.5, 0.5, 0, 0], [0.25, 0.25, 0.5, 0], [0, 0, 0, 0]])
    assert rows_of(explore(weights, ["<a>", "b", "c\n", "d"])) == [
        ["attention", "0", "0", "2 “c⏎” → 1 “b” 0.90, 1 “b” → 0 “&lt;a&gt;” 0.70, 3 “d” → 3 “d” 0.40"],
        ["attention", "0", "1", "1 “b” → 0 “&lt;a&gt;” 0.50, 1 “b” → 1 “b” 0.50, 2 “c⏎” → 2 “c⏎” 0.50"],
    ]
    assert rows_of(explore(torch.eye(2)[None], ["a", "b"]))[0][3] == "0 “a” → 0 “a” 1.00, 1 “b” → 1 “b” 1.00"


def test_no_word_or_title_can_end_the_script_and_no_word_hides_as_white_space():
    words = ["</script>", "<!--rows-->", " ", "\n\tx ", "a b"]
    explorer = explore(some_weights(1, 5, 5), words, title='"<b>"')
    assert 'aria-label="&quot;&lt;b&gt;&quot;">' in explorer.html
    assert data_of(explorer)["parts"][0]["queries"] == ["</script>", "<!--rows-->", "␣", "⏎⇥x␣", "a b"]
    assert explorer.html.count("</script>") == 2


def test_one_layer_a_list_of_layers_and_arrays_are_taken():
    weights = some_weights(2, 3, 5, 5)
    whole = explore(weights, WORDS).html
    assert explore(list(weights), WORDS).html == whole
    assert explore(weights.numpy(), WORDS).html == whole
    assert explore(weights[:1], WORDS).html == explore(weights[0], WORDS).html


def test_a_dict_of_attentions_has_words_of_its_own_for_queries_and_keys():
    parts = {"encoder": some_weights(2, 3, 3), "cross": some_weights(4, 2, 5, 3)}
    words = {"encoder": "xyz", "cross": (WORDS, "xyz")}
    explorer = explore(parts, words)
    assert told(explorer) == [("encoder", [1, 2, 3, 3], [*"xyz"], [*"xyz"]), ("cross", [4, 2, 5, 3], WORDS, [*"xyz"])]
    assert "encoder, layer 0, cross, layer 0, cross, layer 1" in explorer.picture.alt


def test_a_name_that_tells_its_layer_stands_alone_in_the_picture():
    hidden = {"layer 18": some_weights(2, 5, 5), "layer 18, sink hidden": some_weights(2, 5, 5)}
    assert "2 heads across, layer 18, layer 18, sink hidden down:" in explore(hidden, WORDS).picture.alt


def test_a_transformer_is_read_in_its_three_attentions_and_left_in_training():
    model = models.Transformer(10, d_model=8, **SIZES).train()
    source, target = torch.tensor([1, 2, 3]), torch.tensor([0, 3])
    explorer = explore(model, (source, target), ("xyz", "VW"))
    assert told(explorer) == [
        ("encoder", [2, 2, 3, 3], [*"xyz"], [*"xyz"]),
        ("decoder", [2, 2, 2, 2], [*"VW"], [*"VW"]),
        ("cross-attention", [2, 2, 2, 3], [*"VW"], [*"xyz"]),
    ]
    assert all(module.training for module in model.modules())
    expected = attention_weights(model.eval(), source[None], target[None])
    expected = torch.cat(
        [
            weights.flatten()
            for kind in ("encoder", "self_", "cross_")
            for name, weights in expected.items()
            if kind in name
        ]
    )
    assert np.abs(explorer_weights(explorer.html) - expected.numpy()).max() < 0.0006


def test_an_encoder_and_a_language_model_are_read_from_ids_or_text():
    ids = [1, 2, 3]
    encoder = explore(models.Encoder(10, 8, **SIZES), ids, "xyz")
    assert data_of(encoder)["parts"][0]["queries"] == ["x", "y", "z"]
    vocabulary = Vocabulary(["to", " ", "be"])
    model = models.LanguageModel(models.Config(len(vocabulary), 8, **SIZES))
    spelled = explore(model, "to be", vocabulary=vocabulary)
    assert data_of(spelled)["parts"][0]["keys"] == ["to", "␣", "be"]
    assert spelled.html == explore(model, vocabulary.encode("to be"), ["to", " ", "be"]).html
    assert data_of(explore(model, torch.tensor([[7, 8]])))["parts"][0]["keys"] == ["7", "8"]


def test_ablated_heads_are_shown_beside_the_model_as_it_is_with_what_each_predicts():
    vocabulary = Vocabulary(["to", " ", "be"])
    model = models.LanguageModel(models.Config(len(vocabulary), 8, **SIZES)).train()
    torch.nn.init.normal_(model.embedding.weight)
    heads = {"layers.0.attention": [0, 1]}
    explorer = explore(model, "to be", vocabulary=vocabulary, ablated=heads)
    name = "attention, without head 0 of layer 0, without head 1 of layer 0"
    words = ["to", "␣", "be"]
    assert told(explorer) == [("attention", [2, 2, 3, 3], words, words), (name, [2, 2, 3, 3], words, words)]
    assert model.training
    model.eval()
    ids = torch.tensor([vocabulary.encode("to be")])
    whole = model(ids)
    with ablated(model, heads):
        changed, weights = model(ids), attention_weights(model, ids)
    shown = explorer_weights(explorer.html).reshape(2, -1)[1]
    assert np.abs(shown - torch.cat([one.flatten() for one in weights.values()]).numpy()).max() < 0.0006
    for part, logits in zip(data_of(explorer)["parts"], (whole, changed), strict=True):
        probability, token = logits[0].softmax(-1).max(-1)
        said = [
            f"“{visible(vocabulary.decode([number]))}” {chance:.2f}"
            for number, chance in zip(token.tolist(), probability.tolist(), strict=True)
        ]
        assert part["predicted"] == said
    assert (
        explore(model, "to be", vocabulary=vocabulary, ablated={}).html
        == explore(model, "to be", vocabulary=vocabulary).html
    )


FIVE = some_weights(2, 2, 5, 5)


@pytest.mark.parametrize(
    ("attended", "tokens", "said"),
    [
        (FIVE[0, 0], WORDS, r"attention: shapes \[\(5, 5\)\] must be \(layers, heads, query, key\)"),
        (FIVE[None], WORDS, r"shapes \[\(1, 2, 2, 5, 5\)\]"),
        (FIVE[:, :0], WORDS, r"shapes \[\(2, 0, 5, 5\)\]"),
        ([FIVE[0], FIVE[1, :1]], WORDS, r"shapes \[\(2, 5, 5\), \(1, 5, 5\)\] .* one and the same"),
        ([FIVE, FIVE], WORDS, r"shapes \[\(2, 2, 5, 5\), \(2, 2, 5, 5\)\]"),
        ([], WORDS, r"shapes \[\]"),
        ({}, WORDS, "there is nothing to explore"),
        (torch.nn.Linear(2, 2), torch.ones(1, 2), "there is nothing to explore"),
        (FIVE.log().log(), WORDS, "100 of 100 weights are negative, infinite or NaN"),
        (FIVE - 2 * FIVE[:, :, :1], WORDS, r"\d+ of 100 weights are negative"),
        (FIVE / 0, WORDS, "100 of 100"),
        (FIVE * torch.tensor([1, 1, 1, 0.9, 1])[:, None], WORDS, r"layer 0, head 0, query 3 sum to 0\.900"),
        (FIVE, WORDS[:4], r"4 words for 5 queries, in weights \(2, 2, 5, 5\)"),
        (FIVE, (WORDS, "xyz"), "3 words for 5 keys"),
        ({"encoder": FIVE}, {"encoder": "xyz"}, "encoder: 3 words for 5 queries"),
        ({"encoder": FIVE}, {"decoder": WORDS}, "encoder: 0 words for 5 queries"),
        (models.Encoder(10, 8, **SIZES), torch.ones(3, 4).long(), r"ids \[\(3, 4\)\]: explore one sequence"),
        (models.Encoder(10, 8, **SIZES), [1, 2, 11], "11"),
        (models.Encoder(10, 8, **SIZES), "to be", "text needs a vocabulary"),
    ],
)
def test_what_are_no_weights_or_not_their_words_is_refused(attended, tokens, said):
    with pytest.raises(ValueError, match=said):
        explore(attended, tokens)


def test_labels_and_ablated_heads_are_refused_for_weights_and_a_query_that_sees_nothing_is_not():
    with pytest.raises(ValueError, match="go with a model"):
        explore(FIVE, WORDS, WORDS)
    with pytest.raises(ValueError, match="go with a model"):
        explore(FIVE, WORDS, ablated={"attention": [0]})
    with pytest.raises(ValueError, match="Encoder does not predict tokens"):
        explore(models.Encoder(10, 8, **SIZES), [1, 2], "ab", ablated={"layers.0.attention": [0]})
    blind = FIVE.clone()
    blind[:, :, 2] = 0
    assert explorer_weights(explore(blind, WORDS).html).reshape(FIVE.shape)[:, :, 2].max() == 0


# --- and how notebooks with an explorer are compared ---


class Cell:
    """As much of a nbval cell as a comparison needs."""

    class parent:
        skip_compare = ("metadata", "image/png")
        sanitize_patterns = {}  # noqa: RUF012

    cell = nbformat.v4.new_code_cell()  # its metadata state no tolerance
    colors = type("NoColours", (), {"__getattr__": lambda self, name: ""})()
    sanitize = IPyNbCell.sanitize
    format_output_compare = lambda self, key, ref, test: self.comparison_traceback.append(key)  # noqa: E731


def differences(new, saved):
    """None where they are compared as equal, else what was said."""
    outputs = [[new_output("display_data", data={"text/html": page})] for page in (new, saved)]
    cell = Cell()
    return None if IPyNbCell.compare_outputs(cell, *outputs) else "".join(cell.comparison_traceback)


def test_explorers_are_equal_if_their_weights_are_near_and_all_else_is_the_same():
    page = explore(FIVE, WORDS).html
    moved = FIVE.clone()
    moved[0, 0, 0] = FIVE[0, 0, 0].roll(1)
    near = FIVE + (moved - FIVE) * 0.9 * WEIGHT_TOLERANCE / (moved - FIVE).abs().max()
    assert explore(near, WORDS).html != page
    assert differences(explore(near, WORDS).html, page) is None
    assert "a weight of explorer 1 is 0." in differences(explore(moved, WORDS).html, page)
    assert differences(explore(FIVE, [*"abcdx"]).html, page)
    assert differences(explore(FIVE.transpose(0, 1)[:1], WORDS).html, page)
    assert differences(page.replace("</style>", " </style>"), page)
