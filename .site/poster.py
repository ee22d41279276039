"""What the start page shows of the model before anyone wakes it: a text, where a head looks, what might come next."""

import base64
import io
import json
from functools import cache
from html import escape

import torch
from PIL import Image
from recording import recording

from transformer_lessons.inspection import live
from transformer_lessons.inspection.attention_maps import attention_weights
from transformer_lessons.language import checkpoints, sampling

PROMPT, SEED, LENGTH, LAYER, HEAD = live.OPENING, 49, 48, 1, 6  # a text of whole words; any head would do
WRITTEN, TEMPERATURE = 88, 0.8  # tokens that the model writes at first, and how: of them, the picture shows LENGTH
SHOWN, SHADES = 8, 8
NAMES = {" ": "space", "\n": "new line"}
TEMPERATURES = [step / 10 for step in range(1, 21)]  # of the slider


@cache
def poster():
    """The model's section, as a still picture; a press brings it to life."""
    model, vocabulary = checkpoints.load_model()
    text = sampling.generate(model, vocabulary, PROMPT, length=WRITTEN, temperature=TEMPERATURE, seed=SEED)
    whole, prompt = vocabulary.encode(text), len(vocabulary.encode(PROMPT))
    ids = whole[: prompt + LENGTH]
    last = max(number for number, token in enumerate(ids) if vocabulary.decode([token]) == " ")
    tokens = torch.tensor([ids[: last + 1]])
    with torch.no_grad():
        logits = model(tokens)[0]  # (length, vocabulary)
    chances = (logits[-1] / TEMPERATURE).softmax(-1)
    maps = torch.stack([weights[0] for weights in attention_weights(model, tokens).values()])  # (layers, heads, …)
    words = [vocabulary.decode([token]) for token in tokens[0].tolist()]
    shades = maps[LAYER, HEAD, -1].sqrt().tolist()
    spans = "".join(
        f'<span class="token{" prompt" * (number < prompt)}{" query" * (number == len(words) - 1)}" '
        f'style="--dark:{shade:.2f}">{shown(word)}</span>'
        for number, (word, shade) in enumerate(zip(words, shades, strict=True))
    )
    rows = "".join(
        f'<div class="candidate"><b>{escape(visible(vocabulary.decode([token])))}</b><span class="bar">'
        f'<i style="transform:scaleX({share:.3f})"></i></span><span class="share">{100 * share:.0f} %</span></div>'
        for share, token in zip(*(part.tolist() for part in chances.topk(SHOWN)), strict=True)
    )
    every = (logits.double() / TEMPERATURE).softmax(-1)  # (length, vocabulary)
    drawn = [round(every[place, whole[place + 1]].item(), 4) for place in range(last)]
    warmth = json.dumps(heat(logits, vocabulary), separators=(",", ":"), ensure_ascii=False)
    likely = (
        f'<div class="likely" data-heat="{escape(warmth)}"><h2>The next token</h2><div class="bars">{rows}</div></div>'
    )
    scripts = live.weight_scripts(checkpoints.SHIPPED.read_bytes())
    size, parts = sum(map(len, scripts)) / 1e6, len(scripts)
    thrown = " ".join(f"{place:.5f}" for place in dice(model, whole, prompt))
    weights = sum(parameter.numel() for parameter in model.parameters())
    return (
        '<link rel="stylesheet" href="beside/live/live.css">\n'
        f'<div class="live resting" role="region" data-folder="beside/live/" data-parts="{parts}" data-dice="{thrown}" '
        'aria-label="A language model to play with">\n'
        f'<form class="ask"><label>Type a line<input name="line" value="{PROMPT}" autocomplete="off" '
        'spellcheck="false" maxlength="300"></label><button class="go">Bring it to life</button></form>\n'
        f'<p class="pace" role="status">A Transformer with {weights / 1e6:.1f} million weights, trained on '
        f"Shakespeare. It runs in your browser: one press loads {size:.0f} MB.</p>\n"
        f"{recording(words, prompt, maps, likely, drawn)}\n"
        f'<div class="reading"><div class="text" tabindex="0" role="group" aria-label="A text that the model wrote">'
        f"{spans}</div>"
        f'<p class="told">Shaded: what head {HEAD} of layer {LAYER} looks at.</p></div>\n'
        f'<div class="attention"><h2>The {maps.shape[0] * maps.shape[1]} attention heads</h2>'
        f"<p>Each square is a head: queries down, keys across.</p>{grid(maps)}</div>\n"
        '<div class="next"><p>Brought to life, it continues any line that you type, you can silence its heads, and it '
        "shows what it would say after each layer.</p></div>\n"
        "<noscript><p>It needs JavaScript.</p></noscript></div>"
    )


def dice(model, ids, prompt):
    """Numbers of 0 to 1 that draw these tokens after the prompt: brought to life, the model goes on with this text."""
    with torch.no_grad():
        chances = (model(torch.tensor([ids]))[0].double() / TEMPERATURE).softmax(-1)  # (length, vocabulary)
    before = chances.cumsum(-1) - chances / 2  # the middle of each token's share
    return [before[place - 1, ids[place]].item() for place in range(prompt, len(ids))]


def heat(logits, vocabulary):
    """What the chances after every token need at every temperature: the likeliest next tokens, their logits in
    thousandths, and the logarithms of the sums of all powers, in thousandths, too. Names are numbers in a list.
    """
    logits = logits.double() - logits.max(-1, keepdim=True).values  # (length, vocabulary)
    best, tokens = logits.topk(SHOWN)  # (length, shown)
    names = {token: visible(vocabulary.decode([token])) for token in sorted(set(tokens.flatten().tolist()))}
    if any("|" in name for name in names.values()):
        raise ValueError("a token's name has the sign that stands between names")
    places = {token: place for place, token in enumerate(names)}
    sums = torch.stack([(logits / temperature).logsumexp(-1) for temperature in TEMPERATURES], dim=-1)
    return {
        "names": "|".join(names.values()),
        "best": [[places[token] for token in row] for row in tokens.tolist()],
        "logits": (best * 1000).round().int().tolist(),
        "sums": (sums * 1000).round().int().tolist(),  # (length, temperatures)
    }


def visible(word):
    return NAMES.get(word, word.replace("\n", "⏎").replace(" ", "␣"))


def shown(word):
    return escape(word).replace("\n", "<i></i>&#10;")


def grid(maps):
    """All heads as one picture, of which each square shows its part."""
    layers, heads = maps.shape[:2]
    squares = "".join(
        f'<span class="row" aria-hidden="true">layer {layer}</span>'
        * (head == 0)
        + f'<span class="head{" chosen" * ((layer, head) == (LAYER, HEAD))}"><span class="map" style="mask-position:'
        f'{100 * head / (heads - 1):.2f}% {100 * layer / (layers - 1):.2f}%"></span></span>'
        for layer in range(layers)
        for head in range(heads)
    )
    return (
        f'<div class="grid" role="img" aria-label="A map of every head: {layers} layers of {heads}" '
        f'style="--heads:{heads};--maps:url({picture(maps)})">{squares}</div>'
    )


def picture(maps):
    """A picture whose opacity is the square root of the weight, in eight steps: the page reads the weights from it."""
    whole = maps.permute(0, 2, 1, 3).flatten(2).flatten(0, 1)  # (layers × query, heads × key)
    steps = (whole.sqrt() * (SHADES - 1)).round().byte().numpy()
    buffer, image = io.BytesIO(), Image.new("RGBA", steps.shape[::-1])
    image.putalpha(Image.fromarray(255 * steps.astype("uint16") // (SHADES - 1)).convert("L"))
    image.save(buffer, "WEBP", lossless=True, quality=100, method=6)
    return f"data:image/webp;base64,{base64.b64encode(buffer.getvalue()).decode()}"
