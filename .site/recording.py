"""The recording on the start page: token after token goes up through the layers, and chances give the next token.

This is its last picture, as it is without scripts. recording.js finds the weights in the poster's picture of all heads;
from here it has the places of the tokens, and how likely each one was. The model itself, once it is alive, is drawn in
the same picture.
"""

import json
from html import escape
from itertools import accumulate
from pathlib import Path

from PIL import ImageFont

from transformer_lessons.inspection import live

HEADS = (7, 6, 2, 5)  # a head of each layer
LEVELS, BASELINE, HEIGHT = (150, 119, 88, 57, 26), 186, 196  # where the layers part, from below, and where the text is
SIGN, NARROWEST, MARGIN = (
    16,
    11,
    46,
)  # the size of the text, the least room of a token, what is free beside the last one
FONT = Path(live.__file__).with_name("fonts") / "inter-regular.otf"


def recording(words, prompt, maps, likely, drawn):
    """`maps` are the heads' weights (layers, heads, query, key); `likely` is the list of the likeliest next tokens;
    `drawn` how likely each written token was.
    """
    places = middles(words)
    told = {"x": places, "levels": LEVELS, "heads": HEADS, "drawn": drawn, "first": prompt - 1}
    label = (
        f"A text is read token by token. In each of the {len(maps)} layers, lines lead from the tokens that a head "
        "reads to the newest one."
    )
    return (
        f'<figure class="flow" data-flow="{escape(json.dumps(told, separators=(",", ":")))}">'
        f'<div class="drawn"><div class="loom" role="img" aria-label="{label}">{loom(words, prompt, maps, places)}'
        f"{''.join(map(name_of_layer, reversed(range(len(maps)))))}</div>{likely}</div>"
        "<figcaption><span><strong>Recorded from our own model, with its own numbers.</strong> "
        "A token goes up through the layers; in each, lines show which earlier tokens one head reads (thicker: more "
        "weight). At the top, the chances give the next token.</span> "
        '<button type="button" class="pause" hidden>Pause</button></figcaption></figure>'
    )


def loom(words, prompt, maps, places):
    """The text as one line, above each token a place in every layer, and lines to the last token's."""
    last = places[-1]
    row = "".join(f"M{place} 0h0" for place in places)
    dots = "".join(f'<use href="#row" y="{level}"/>' for level in LEVELS)
    reads = "".join(
        f'<g class="reads">{lines(maps[layer, head, -1].tolist(), places, layer)}</g>'
        for layer, head in enumerate(HEADS)
    )
    nodes = "".join(f'<circle cx="{last}" cy="{level}" r="4.5"/>' for level in LEVELS)
    text = ""
    for number, (place, word) in enumerate(zip(places, words, strict=True)):
        kind = ' class="prompt"' if number < prompt else ""
        text += f'<text x="{place}"{kind}>{escape(sign(word))}</text>'
    return (
        f'<svg viewBox="-200 0 200 {HEIGHT}" preserveAspectRatio="xMaxYMid meet">'
        f'<g class="ribbon" style="--x:{-MARGIN - last}px">'
        f'<defs><path id="row" d="{row}"/></defs><g class="dots">{dots}</g>{reads}'
        f'<path class="stream" d="M{last} {LEVELS[0]}V{LEVELS[-1]}"/>'
        f'<path class="out" d="M{last} {LEVELS[-1]}h{MARGIN}"/><g class="nodes">{nodes}</g>'
        f'<g class="words" transform="translate(0 {BASELINE})">{text}</g></g></svg>'
    )


def name_of_layer(layer):
    middle = (LEVELS[layer] + LEVELS[layer + 1]) / 2 / HEIGHT
    return f'<span class="level" style="--y:{middle:.3f}">layer {layer}<span>, head {HEADS[layer]}</span></span>'


def middles(words):
    """Where each token stands on one long line: the middle of the room that it takes."""
    font = ImageFont.truetype(FONT, SIGN)
    widths = [max(font.getlength(sign(word)), NARROWEST) for word in words]
    return [round(end - width / 2) for end, width in zip(accumulate(widths), widths, strict=True)]


def lines(weights, places, layer):
    """From the tokens that a head reads to the last one, as recording.js draws them for every token."""
    low, high = LEVELS[layer], LEVELS[layer + 1]
    middle, last = (low + high) / 2, places[-1]
    return "".join(
        f'<path pathLength="1" style="--w:{weight**0.5:.2f}" d="M{place} {low}C{place} {middle} {last} {middle} {last} '
        f'{high}"/>'
        for place, weight in zip(places, weights, strict=True)
        if weight > 0.005  # what the picture of all heads has in its eight steps
    )


def sign(word):
    return word.replace("\n", "⏎")
