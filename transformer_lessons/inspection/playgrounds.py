"""Playgrounds: small pages that let readers play with a lesson's numbers.

Each is a picture, in case no script runs, and below it a page of its own: pages/frame.html around a script. The pages
need neither kernel nor network. tests/proofs/playgrounds_browser.py recomputes in Python what a page computes.
"""

import json
from base64 import b64encode
from collections import Counter
from html import escape
from itertools import pairwise

import numpy as np
import torch
from torch.nn import functional

from transformer_lessons import masks, positions
from transformer_lessons.attention import scaled_dot_product_attention
from transformer_lessons.first_steps import softmax
from transformer_lessons.inspection.explorer import PAGES, filled
from transformer_lessons.language import checkpoints
from transformer_lessons.language.byte_pairs import apply_merges, merge, train_bpe
from transformer_lessons.language.splitting import single_bytes, split_words


class Playground:
    """A picture (plots.Picture) and a piece of HTML, shown one below the other; `data` is what the page starts from.

    `helpers` names the scripts that come before its own.
    """

    def __init__(self, script, title, words, picture, data, helpers=()):
        code = "\n".join((PAGES / f"{name}.js").read_text(encoding="utf-8").rstrip("\n") for name in (*helpers, script))
        self.html = filled(
            "frame.html",
            title=escape(title),
            words=escape(words),
            script=code,
            data=json.dumps(data, ensure_ascii=False),
        )
        self.title, self.picture, self.data = title, picture, data

    def _ipython_display_(self):
        from IPython.display import display

        display(self.picture)
        display({"text/html": self.html, "text/plain": f"A playground: {self.title}"}, raw=True)


def average_the_vectors():
    """Lesson 1: three vectors that can be dragged, one of which asks, and the average that it gets."""
    from transformer_lessons.inspection import plots

    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    weights = softmax(vectors @ vectors[0])
    output = weights @ vectors
    title = "y₀ lies inside the triangle of x₀, x₁ and x₂"
    colours = ["#8a2f63", "#7a5200", "#7a5200", "#d55e00"]  # the query, the other keys and the output
    picture = plots.show_arrows(np.array([*vectors, output]), title, ["x₀", "x₁", "x₂", "y₀"], vectors, colours=colours)
    words = f"x₀ asks: it gives x₀, x₁, x₂ the weights {said(weights)}, and its output y₀ is ({said(output)})."
    return Playground("average_the_vectors", title, words, picture, {"vectors": vectors.tolist()}, ["names"])


def drag_the_query():
    """Lesson 1: four keys that are also the values, a query that can be dragged, and a factor for the scores."""
    from transformer_lessons.inspection import plots

    keys = np.array([[2.0, 0.5], [0.5, 2.0], [-1.5, 1.0], [1.0, -1.5]])
    query = np.array([-0.3, -0.6])
    weights = softmax(keys @ query)
    output = weights @ keys
    title = "The output stays inside the polygon of a to d, wherever the query points"
    colours = ["#7a5200"] * 4 + ["#8a2f63", "#d55e00"]  # the keys, the query and the output
    picture = plots.show_arrows(
        np.array([*keys, query, output]), title, [*"abcd", "query", "output"], keys, colours=colours
    )
    words = f"The query (-0.3, -0.6) gives a, b, c, d the weights {said(weights)}; the output is ({said(output)})."
    data = {"keys": keys.tolist(), "names": list("abcd"), "query": query.tolist()}
    return Playground("drag_the_query", title, words, picture, data)


def match_the_key():
    """Lesson 2: two words, each with a query and a key to drag, and the scores and weights between them."""
    from transformer_lessons.inspection import plots

    words = ["fluffy", "cat"]
    queries, keys = np.array([[1.6, -0.6], [-0.2, 1.4]]), np.array([[-1.0, 1.2], [2.0, 0.4]])
    weights = softmax(queries @ keys.T)  # (query, key)
    title = "A query changes a row of scores, a key a column"
    names = [f"{role}\nof {word}" for role in ("query", "key") for word in words]
    alt = f"Arrows from the origin: {', '.join(names)}. {title}.".replace("\n", " ")
    colours = ["#8a2f63"] * 2 + ["#7a5200"] * 2  # as in the page: one for queries, one for keys
    picture = plots.show_arrows(
        np.concatenate([queries, keys]), title, names, alt=alt, colours=colours, left=[2], dashed=[2, 3]
    )
    told = "; ".join(f"“{word}” gives them the weights {said(row)}" for word, row in zip(words, weights, strict=True))
    data = {"words": words, "queries": queries.tolist(), "keys": keys.tolist()}
    return Playground("match_the_key", title, f"Two words, fluffy and cat: {told}.", picture, data, ["names"])


def widen_the_vectors():
    """Lesson 3: four queries and six keys with 2 to 512 features, with and without scaling."""
    from transformer_lessons.inspection import plots

    generator = torch.Generator().manual_seed(30)
    rounded = (torch.randn(10, 512, generator=generator) * 10).round().int()  # tenths: (4 queries + 6 keys, d)
    queries, keys = rounded[:4], rounded[4:]
    scores = {d: (queries[:, :d] @ keys[:, :d].T) / 100 for d in (2, 512)}
    shown = {"d = 2": scores[2], "d = 512": scores[512], "d = 512, divided by √d": scores[512] / 512**0.5}
    weights = torch.stack([each.softmax(-1) for each in shown.values()])  # (3, query, key)
    title = "As d grows from 2 to 512, the weights sharpen, unless the scores are divided by √d"
    picture = plots.show_weights(weights, title, keys=range(6), panels=list(shown))
    largest = {name: said(rows.max(-1).values) for name, rows in zip(shown, weights, strict=True)}
    words = "The largest weight of each query. " + "; ".join(f"{name}: {text}" for name, text in largest.items()) + "."
    return Playground("widen_the_vectors", title, words, picture, {"queries": queries.tolist(), "keys": keys.tolist()})


def split_the_question():
    """Lesson 4: two heads that ask one word each, switched on and off, and what their outputs tell about two values."""
    from transformer_lessons.inspection import plots

    words, values = ["cats", "eat", "fish"], torch.tensor([[2.0], [0.0], [6.0]])  # (key, d_v)
    keys = torch.tensor([[3.0, 0.0], [0.0, 0.0], [0.0, 3.0]])  # features: eater, food
    queries = torch.tensor([[2.2, 0.3], [0.4, 1.8]])  # one for each head
    outputs, weights = scaled_dot_product_attention(queries, keys, values)
    title = "Each head's output leaves a line of possible pairs"
    blend = torch.tensor([[0.5, 0.0, 0.5]])  # of one head that asks both
    cats = np.linspace(0, 8, 1601)
    curves = {}
    for name, row in zip(["head 0", "head 1", "one head\nthat asks both"], torch.cat([weights, blend]), strict=True):
        fish = ((row @ values).item() - row[0].item() * cats) / row[2].item()
        curves[name] = np.where((fish >= 0) & (fish <= 8), fish, np.nan)
    alt = f"What cats and fish may hand over, from 0 to 8: three lines that cross at (2, 6). {title}."
    note = ("cats 2, fish 6", (2, 6), (3.4, 7.2))
    names_at = {"head 0": (2.6, 0.6), "head 1": (7.6, 5.3), "one head\nthat asks both": (6.8, 2.6)}
    picture = plots.show_lines(cats, curves, title, *words[::2], alt=alt, legend=names_at, notes=[note])
    sentence = (
        f"“eat” asks two heads about “cats”, which hands over {values[0].item():.0f}, and “fish”, which hands over "
        f"{values[2].item():.0f}. Head 0 gives the three words the weights {said(weights[0])} and returns "
        f"{outputs[0].item():.2f}; head 1 gives {said(weights[1])} and returns {outputs[1].item():.2f}."
    )
    data = {"words": words, "values": tidy(values[:, 0])}
    data |= {"keys": [tidy(row) for row in keys], "queries": [tidy(row) for row in queries]}
    return Playground("split_the_question", title, sentence, picture, data, ["names"])


def turn_the_hands():
    """Lesson 5: a query and a key of four pairs, each turned by its position, and their score."""
    from transformer_lessons.inspection import plots

    query, key = torch.tensor([1.0, 0, 0.8, 0.6, 0, 1, 0.6, 0.8]), torch.tensor([0.6, 0.8, 1.0, 0, 0.8, 0.6, 0, 1])
    frequencies, query_at, key_at, last = [1.0, 0.1, 0.01, 0.001], 12, 7, 60
    turn = positions.RotaryPositions(8, last + 1)
    parts = (turn(query[None], query_at) * turn(key[None], key_at))[0].unflatten(-1, (-1, 2)).sum(-1)  # (pair)
    title = "Move both together, and the score stays the same"
    ends = {
        f"{name} at {at}": turn(vector[None], at)[0, :2]  # those of pair 0, before and after a move by three
        for by in (0, 3)
        for name, vector, at in (("query", query, query_at + by), ("key", key, key_at + by))
    }
    colours = ["#bd7ba2", "#ad8445", "#8a2f63", "#7a5200"]  # as on the page: before, paler, and after
    alt = f"Arrows from the origin: {', '.join(ends)}, with the same angle between query and key each time. {title}."
    picture = plots.show_arrows(
        torch.stack(list(ends.values())), title, list(ends), alt=alt, colours=colours, arcs=[(0, 1), (2, 3)]
    )
    words = (
        f"Query at 12, key at 7: the four pairs contribute {said(parts)} (rounded), and the score is {parts.sum():.2f}."
    )
    words = words.replace("-", "−")
    data = {
        "query": tidy(query),
        "key": tidy(key),
        "frequencies": frequencies,
        "query_at": query_at,
        "key_at": key_at,
        "last": last,
    }
    return Playground("turn_the_hands", title, words, picture, data)


def draw_the_mask():
    """Lesson 6: scores and values of six words, and a mask to edit by clicking."""
    from transformer_lessons.inspection import plots

    generator = torch.Generator().manual_seed(60)
    scores = torch.randn(6, 6, generator=generator).round(decimals=1)  # (query, key)
    values = torch.randint(-4, 5, (6, 2), generator=generator)  # (key, d_v)
    words = ["the", "cat", "sat", "on", "the", "mat"]
    weights = masks.masked_softmax(scores, masks.causal_mask(6))  # (query, key)
    title = "Under a causal mask, weights above the diagonal are 0"
    picture = plots.show_weights(weights, title, words, words)
    sentence = f"With a causal mask, the last word gives the six words the weights {said(weights[-1])}."
    data = {"words": words, "scores": [tidy(row) for row in scores], "values": values.tolist()}
    return Playground("draw_the_mask", title, sentence, picture, data)


def level_the_features(*norms):
    """Lesson 7, and with RMSNorm lesson 10: the features of a token, to be dragged, and what the norms make of them."""
    from transformer_lessons.inspection import plots

    token = torch.tensor([1.0, 5.0, 6.0, 8.0] if norms else [1.5, 4.5, 5.5, 8.5])  # half of the one that lesson 7 shows
    names = list(norms or ["layer norm"])
    found = {
        name: (functional.rms_norm if name == "RMSNorm" else functional.layer_norm)(token, (4,), eps=1e-5)
        for name in names
    }
    title = "Layer norm takes away what all features share: their mean and their scale"
    if "RMSNorm" in names:
        title = "LayerNorm removes mean and scale, RMSNorm only the scale"
    rows = {"the token": token} | {f"after {name}": numbers for name, numbers in found.items()}
    features = [f"feature {number}" for number in range(4)]
    bars = {name: numbers.tolist() for name, numbers in rows.items()}
    picture = plots.show_bars(features, bars, title, "value", written="%.2f")
    sentence = " ".join(f"{name[0].upper()}{name[1:]}: {said(numbers)}." for name, numbers in rows.items())
    return Playground("level_the_features", title, sentence, picture, {"token": tidy(token), "norms": names})


def bend_the_chances(model=None, vocabulary=None):
    """Lesson 8: what the model that comes with the course would write next, under a temperature and a top-k."""
    from transformer_lessons.inspection import plots

    if model is None:
        model, vocabulary = checkpoints.load_model()
    texts = ["God save the ", "What is the ", "To be, or not to "]
    prompts = [candidates(model, vocabulary, text) for text in texts]
    shares = chances_of(prompts[0])
    words, top = prompts[0]["words"], shares[: len(prompts[0]["words"])]
    title = f"After “{texts[0].strip()}”, one token stands out, and the many unlikely ones add up"
    picture = plots.show_shares([*words, "all others"], [*top, 1 - sum(top)], title, rest=True)
    told = ", ".join(f"“{word}” {share:.2f}" for word, share in zip(words[:3], top, strict=False))
    sentence = (
        f"After “{texts[0].strip()}”, the likeliest next tokens are {told}; all but the first {len(words)} have "
        f"{1 - sum(top):.2f} together."
    )
    data = {"size": len(shares), "prompts": prompts}
    return Playground("bend_the_chances", title, sentence, picture, data)


def candidates(model, vocabulary, text, shown=12):
    """The likeliest next tokens with their logits, in hundredths below the largest; of the rest, how many have which
    logit, in tenths. A page holds this, not four thousand numbers.
    """
    with torch.no_grad():
        logits = model(torch.tensor([vocabulary.encode(text)]))[0, -1].double()
    logits, tokens = (logits - logits.max()).sort(descending=True)
    words = [vocabulary.decode([token]) for token in tokens[:shown].tolist()]
    rest = Counter((logits[shown:] * 10).round().int().tolist())
    return {
        "text": text,
        "words": words,
        "logits": (logits[:shown] * 100).round().int().tolist(),
        "rest": [[tenths, rest[tenths]] for tenths in sorted(rest, reverse=True)],
    }


def chances_of(prompt, temperature=1.0):
    """The probabilities of all tokens, the likeliest first, from what a page holds."""
    rest = [tenths / 10 for tenths, number in prompt["rest"] for _ in range(number)]
    logits = torch.tensor([logit / 100 for logit in prompt["logits"]] + rest, dtype=torch.float64)
    return (logits / temperature).softmax(-1).tolist()


def share_the_keys():
    """Lesson 10: the query heads of SmolLM2 135M, which KV head each of them uses, and how much the cache takes."""
    from transformer_lessons.inspection import plots

    heads, key_heads, layers, features, length = 9, 3, 30, 64, 8192
    group = heads // key_heads
    sizes = {many: 2 * layers * many * features * length * 2 / 2**20 for many in (1, 3, 9)}  # MiB
    title = "With 3 KV heads for 9 query heads, the cache shrinks to a third"
    names = [f"{many} KV head{'s' * (many > 1)}" for many in sizes]
    label = f"cache for {length:,} tokens (MiB)"
    picture = plots.show_bars(names, {"": list(sizes.values())}, title, label, written="%.0f")
    used = torch.arange(key_heads).repeat_interleave(group).tolist()
    sentence = (
        f"Query heads 0 to {heads - 1} use KV heads {', '.join(map(str, used))}. For {length:,} tokens the cache takes "
        f"{sizes[key_heads]:.1f} MiB, and with {heads} KV heads {sizes[heads]:.1f} MiB."
    )
    data = {"heads": heads, "key_heads": key_heads, "layers": layers, "features": features}
    return Playground("share_the_keys", title, sentence, picture, data)


def follow_the_copy():
    """Lesson 11: an induction head with weights that can be read: it copies what came after this word last time."""
    from transformer_lessons.inspection import plots

    words, tokens, factor = ["the", "cat", "sat", "on", "a", "mat"], [0, 1, 2, 3, 4, 5, 0, 1], 6
    weights, chances = induction_by_hand(tokens, len(words), factor)
    best = chances.argmax().item()
    title = "An induction head finds what came after this word last time, and copies it"
    text = [words[token] for token in tokens]
    picture = plots.show_weights(weights[None], title, [text[-1]], text)
    sentence = (
        f"In “{' '.join(text)}”, the last word looks at the word that came after “{text[-1]}” before: "
        f"“{words[best]}” is the likeliest next word, with {chances[best].item():.2f}."
    )
    data = {"words": words, "tokens": tokens, "factor": factor}
    return Playground("follow_the_copy", title, sentence, picture, data)


def induction_by_hand(tokens, size, factor, noted=True):
    """The weights that the last token gives, and the chances of the next one.

    All vectors are one-hot: the query is the last token, a key the token before, and a value the token itself.
    """
    own = functional.one_hot(torch.tensor(tokens), size).double()  # (length, vocabulary)
    before = functional.pad(own[:-1], (0, 0, 1, 0)) * noted  # (length, vocabulary)
    chances, weights = scaled_dot_product_attention(own[-1:] * factor * size**0.5, before, own)
    return weights[0], chances[0]


def merge_the_pairs(tokenizer=None, text="the cat sat on the mat and that cat sat"):
    """Lesson 9: a text to type, whose pairs are merged step by step.

    Without a tokenizer, seven times the commonest pair of the text; with PublishedBytePairs, every pair that has a
    rank, lowest first.
    """
    from transformer_lessons.inspection import plots

    parts = [single_bytes(word) for word in (tokenizer.cut if tokenizer else split_words)(text)]
    counted = Counter(map(tuple, parts))
    pairs = pairs_by_rank(parts, tokenizer.ranks) if tokenizer else train_bpe(counted, 7)
    merges, ranks = len(pairs), {pair: rank for rank, pair in enumerate(pairs)}
    tokens = [token for word in parts for token in apply_merges(word, ranks)]
    title = f"{sum(map(len, parts))} bytes become {len(tokens)} tokens after {merges} merges"
    rows = {"bytes": [byte for word in parts for byte in word], f"after {merges} merges": tokens}
    shown = {name: [token.decode(errors="replace") for token in row] for name, row in rows.items()}
    picture = plots.show_tokens(shown, title, f"“{text}”, cut into bytes and into tokens. {title}.")
    spelled = " ".join(token.replace(" ", "␣") for token in shown[f"after {merges} merges"])
    data = {"text": text, "merges": merges, "most": 60}
    if tokenizer:
        data |= {"merges": 0, "most": 300, "pairs": packed(tokenizer.ranks), "digits": tokenizer.single_digits}
    return Playground("merge_the_pairs", title, f"“{text}” after {merges} merges: {spelled}.", picture, data)


def pairs_by_rank(words, ranks):
    """The pairs that are merged in these words, lowest rank first."""
    pairs = []
    while there := ranks.keys() & {pair for parts in words for pair in pairwise(parts)}:
        pairs.append(min(there, key=ranks.get))
        words = [merge(parts, pairs[-1]) for parts in words]
    return pairs


def packed(pairs):
    """In base 64, two numbers of 16 bits for each pair: a byte's is below 256, the token of pair n has 256 + n."""
    numbers = {bytes([byte]): byte for byte in range(256)}
    for rank, (left, right) in enumerate(pairs):
        numbers.setdefault(left + right, 256 + rank)
    both = [[numbers[left], numbers[right]] for left, right in pairs]
    return b64encode(np.array(both, dtype="<u2").tobytes()).decode()


def fill_the_cache():
    """Lesson 12: the keys and values that are computed at each step, with and without a cache."""
    from transformer_lessons.inspection import plots

    words = ["the", "cat", "sat", "on", "the", "mat", "and", "slept"]
    steps = np.arange(1, len(words) + 1)
    title = "Without a cache, far more keys and values are computed"
    seen = np.tri(len(words))  # (step, token)
    squares = np.stack([seen, seen * 0.3 + np.eye(len(words)) * 0.7])  # 1: computed, 0.3: read from the cache
    picture = plots.show_matrix(
        squares,
        title,
        steps,
        words,
        ["without a cache", "with a cache"],
        f"Squares for the tokens at each step, without a cache and with one: {title}.",
        "step",
        "token",
        {"computed": 1, "read from the cache": 0.3},
        signed=False,
        write=False,
    )
    sentence = (
        f"Writing {len(words)} tokens takes {sum(steps)} keys and values without a cache, and {len(words)} with one."
    )
    return Playground("fill_the_cache", title, sentence, picture, {"words": words, "written": 5})


def accept_the_draft():
    """Lesson 12: a drafted token, the number u, and whether the draft is accepted or drawn again."""
    from transformer_lessons.inspection import plots

    words, p, q = ["sat", "ran", "slept", "sang"], [0.4, 0.3, 0.2, 0.1], [0.2, 0.5, 0.2, 0.1]
    title = "A draft is accepted with probability min(1, p / q)"
    picture = plots.show_bars(words, {"q, drafted": q, "p, wanted": p}, title, "probability")
    drafted, u = 1, 75
    sentence = (
        f"“{words[drafted]}” is drafted with q = {q[drafted]:.2f}, and p = {p[drafted]:.2f}: "
        f"it is accepted if u is below {p[drafted] / q[drafted]:.2f}."
    )
    data = {"words": words, "p": p, "q": q, "drafted": drafted, "u": u}
    return Playground("accept_the_draft", title, sentence, picture, data)


def said(numbers):
    return ", ".join(f"{number:.2f}" for number in numbers)


def tidy(tensor):
    """A tensor's numbers with one decimal, as they were written."""
    return [round(number, 1) for number in tensor.tolist()]
