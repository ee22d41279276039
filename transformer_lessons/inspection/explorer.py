"""The attention explorer: every head of a model in one picture, and query by query where scripts run.

A cell shows both. The script needs neither kernel nor network: pages/explorer.html unpacks the rounded weights.
"""

import base64
import json
import re
import zlib
from html import escape
from pathlib import Path

import numpy as np
import torch

from transformer_lessons.inspection.attention_maps import attention_weights
from transformer_lessons.inspection.experiments import ablated as ablated_heads
from transformer_lessons.models import Encoder, in_eval_mode

PAGES = Path(__file__).with_name("pages")
MANY = 26_000  # up to this many weights get three decimals; more get two


class Explorer:
    """A picture (plots.Picture) and a piece of HTML, shown one below the other."""

    def __init__(self, picture, html):
        self.picture, self.html = picture, html

    def _ipython_display_(self):
        from IPython.display import display

        display(self.picture)
        display({"text/html": self.html, "text/plain": "The attention explorer"}, raw=True)


def explore(attended, tokens, labels=None, *, vocabulary=None, ablated=None, title="Where every head looks"):
    """Shows where every query looks, in every layer and head; the title states what there is to see.

    explore(weights, words): weights are (layers, heads, query, key), or (heads, query, key) for one layer, or a
    list of these, or {name: weights}. If they differ, words are (of the queries, of the keys), or {name: words}.
    explore(model, ids, labels): one sequence of ids, or (source, target), and words for each. With a
    vocabulary the ids may be text, and it supplies their words.
    ablated, {name of an attention layer: numbers of its heads}, is for models that predict the next token: the
    model is shown twice, with and without these heads, and with what it then predicts after every query.
    """
    predicted = {}
    if isinstance(attended, torch.nn.Module):
        attended, tokens, predicted = read(attended, tokens, labels, vocabulary, ablated)
    elif labels or vocabulary or ablated:
        raise ValueError("labels, a vocabulary and ablated heads go with a model: weights come with their words")
    groups = []
    for name, weights in (attended if isinstance(attended, dict) else {"attention": attended}).items():
        weights = checked(name, weights)
        said = tokens.get(name, ()) if isinstance(tokens, dict) else tokens
        groups.append({"name": name, "weights": weights, **words(name, said, weights.shape)})
        if name in predicted:
            groups[-1]["predicted"] = predicted[name]
    if not groups:
        raise ValueError("there is nothing to explore: no attention in the model, or none in the dict")
    return Explorer(picture(groups, title), page(groups, title))


def read(model, tokens, labels, vocabulary, heads=None):
    """A model's weights, words and predictions, each {name: …}, for one sequence or (source, target)."""
    if not isinstance(tokens, tuple):
        tokens, labels = (tokens,), labels and (labels,)
    if vocabulary is None and any(isinstance(text, str) for text in tokens):
        raise ValueError(f"text needs a vocabulary: {tokens} are not ids")
    ids = [vocabulary.encode(text) if isinstance(text, str) else text for text in tokens]
    ids = [torch.atleast_2d(torch.as_tensor(row)) for row in ids]
    if any(len(rows) != 1 for rows in ids):
        raise ValueError(f"ids {[tuple(rows.shape) for rows in ids]}: explore one sequence, not a batch")
    spell = str if vocabulary is None else lambda number: vocabulary.decode([number])
    said = labels or [[spell(number) for number in rows[0].tolist()] for rows in ids]
    parts, tokens, predicted = {}, {}, {}
    for ending, silent in [("", {}), (without(heads), heads)] if heads else [("", {})]:
        with in_eval_mode(model), ablated_heads(model, silent):
            maps = attention_weights(model, *ids)
            likeliest = predictions(model, ids, spell) if heads else None
        for path, weights in maps.items():
            stack = "cross-attention" if "cross" in path else path.split(".")[0]
            name = ("attention" if stack in ("layers", "") else stack) + ending
            parts.setdefault(name, []).append(weights[0])  # heads × query × key
            tokens[name] = {"cross-attention": (said[-1], said[0]), "encoder": said[0]}.get(stack, said[-1])
            if likeliest is not None:
                predicted[name] = likeliest
    return parts, tokens, predicted


def without(heads):
    """The end of the name of a run without these heads: layers.0 and layers.0.attention both become layer 0."""
    names = {path: re.sub(r"^layers\.(\d+)(\.attention)?$", r"layer \1", path) for path in heads}
    return "".join(f", without head {number} of {names[path]}" for path in heads for number in heads[path])


def predictions(model, ids, spell):
    """The likeliest next token after each query, and its probability, as text."""
    with torch.no_grad():
        logits = model(*ids)
    if logits.shape[1] != ids[-1].shape[1] or isinstance(model, Encoder):
        raise ValueError(f"{type(model).__name__} does not predict tokens: ablated needs a model that does")
    probabilities, likeliest = logits[0].softmax(-1).max(-1)  # queries, both
    return [
        f"“{visible(spell(token))}” {probability:.2f}"
        for token, probability in zip(likeliest.tolist(), probabilities.tolist(), strict=True)
    ]


def checked(name, weights):
    """The weights as an array (layers, heads, query, key), if they are weights."""
    layers = weights if isinstance(weights, list | tuple) else [weights]
    layers = [torch.as_tensor(layer).detach().cpu().double().numpy() for layer in layers]
    shapes = [layer.shape for layer in layers]
    if len(set(shapes)) != 1 or 0 in shapes[0] or len(shapes[0]) not in ((3,) if len(layers) > 1 else (3, 4)):
        raise ValueError(
            f"{name}: shapes {shapes} must be (layers, heads, query, key), or one and the same "
            "(heads, query, key) for every layer"
        )
    weights = layers[0] if layers[0].ndim == 4 else np.stack(layers)  # layers × heads × query × key
    if (wrong := ~np.isfinite(weights) | (weights < 0)).any():
        raise ValueError(f"{name}: {wrong.sum()} of {weights.size} weights are negative, infinite or NaN")
    sums = weights.sum(-1)  # layers × heads × query
    for layer, head, query in np.argwhere((abs(sums - 1) > 1e-3) & (sums > 0)):
        raise ValueError(
            f"{name}: the weights of layer {layer}, head {head}, query {query} sum to "
            f"{sums[layer, head, query]:.3f}: they must sum to 1, or to 0 if it sees nothing"
        )
    return weights


def words(name, tokens, shape):
    """The words of the queries and of the keys; white space at their ends is made visible."""
    sides = tokens if isinstance(tokens, tuple) and len(tokens) == 2 else (tokens, tokens)
    shown = {}
    for side, words, size in zip(("queries", "keys"), sides, shape[-2:], strict=True):
        if len(words) != size:
            raise ValueError(f"{name}: {len(words)} words for {size} {side}, in weights {shape}")
        shown[side] = [visible(word) for word in words]
    return shown


def visible(word):
    """A word with visible white space at both ends."""
    signs = str.maketrans(" \n\t", "␣⏎⇥")
    return re.sub(r"^\s+|\s+$", lambda end: end[0].translate(signs), str(word))


def picture(groups, title):
    """All heads at once; with few heads, a single layer can show its tokens, and every layer a few of one letter."""
    from transformer_lessons.inspection import plots

    weights, queries, keys = (groups[0][part] for part in ("weights", "queries", "keys"))
    layers, heads, *lengths = weights.shape
    if len(groups) == layers == 1 and heads <= 4 and max(lengths) <= 16:
        return plots.show_weights(weights[0], title, queries, keys, [f"head {head}" for head in range(heads)])
    rows = {row_name(group["name"], layer): maps for group in groups for layer, maps in enumerate(group["weights"])}
    words = {
        row_name(group["name"], layer): (group["queries"], group["keys"])
        for group in groups
        for layer in range(len(group["weights"]))
    }
    brief = all(len(side) <= 8 and max(map(len, side)) == 1 for pair in words.values() for side in pair)
    return plots.show_heads(rows, title, words=words if brief and heads <= 3 else None)


def row_name(name, layer):
    """“layer 0”, “encoder,⏎layer 0”, and “layer 0 with⏎head 1 of layer 0⏎silenced” for a run without heads.

    A name that tells the layer itself, as “layer 18”, stays as it is.
    """
    if name.startswith("layer "):
        return name
    stack, *heads = name.split(", without ")
    row = f"{stack},\nlayer {layer}".removeprefix("attention,\n")
    return f"{row} with\n{', '.join(heads)}\nsilenced" if heads else row


def page(groups, title):
    """A table of the largest weights, for those who cannot see the picture; the weights; the script that shows them."""
    decimals = 3 if sum(group["weights"].size for group in groups) <= MANY else 2
    codes = [np.rint(group["weights"] * 10**decimals).ravel() for group in groups]
    planes = np.concatenate(codes).astype("<u2").view(np.uint8).reshape(-1, 2).T  # low bytes, then high ones
    deflate = zlib.compressobj(9, strategy=zlib.Z_RLE)
    packed = deflate.compress(planes[: decimals - 1].tobytes()) + deflate.flush()
    parts = [group | {"weights": None, "shape": group["weights"].shape} for group in groups]
    data = {"decimals": decimals, "packed": base64.urlsafe_b64encode(packed).decode(), "parts": parts}
    return filled(
        "explorer.html",
        title=escape(title),
        rows="\n".join(row for group in groups for row in table(group)),
        data=json.dumps(data, ensure_ascii=False).replace("<", r"\u003c"),
    )


def filled(name, **marks):
    """A page from the folder pages, with its marks filled in; all pages share the colours, light and dark."""
    marks["colours"] = (PAGES / "colours.css").read_text(encoding="utf-8").rstrip("\n")
    page = (PAGES / name).read_text(encoding="utf-8")
    return re.sub(r"<!--(\w+)-->", lambda mark: marks[mark[1]], page)


def table(group):
    """Rows with the three largest weights of every head, among queries that may look at more than one key."""
    queries, keys = ([f"{i} “{word}”" for i, word in enumerate(group[side])] for side in ("queries", "keys"))
    for layer, head in np.ndindex(group["weights"].shape[:2]):
        links = group["weights"][layer, head]  # query × key
        choice = (links > 0).sum(-1, keepdims=True) > 1
        links = np.where(choice, links, 0) if choice.any() else links
        best = np.argsort(-links, axis=None, kind="stable")[:3]
        links_shown = ", ".join(
            f"{queries[place // len(keys)]} → {keys[place % len(keys)]} {links.flat[place]:.2f}"
            for place in best
            if links.flat[place] > 0
        )
        cells = (escape(str(cell)) for cell in (group["name"], layer, head, links_shown))
        yield f"<tr><td>{'</td><td>'.join(cells)}</td></tr>"
