"""One step of attention that moves as the page scrolls: a sentence becomes vectors, scores, weights, an average.

Without scripts, or where no motion is wanted, it is a figure and six paragraphs that hold every number.
"""

import numpy as np

from transformer_lessons.first_steps import softmax

WORDS = {"the": (0, 0), "river": (2, 0), "bank": (1, 1)}  # (water, money)
OTHER = {"the": (0, 0), "savings": (0, 2), "bank": (1, 1)}
ROWS, ORIGIN, UNIT = (62, 104, 146), (64, 452), 102  # of the picture, in its own units
BANK = 250  # the middle of the word in the first step's sentence


def computed(words):
    """The scores of the last word's query, their powers, the weights, and the average."""
    vectors = np.array(list(words.values()), dtype=float)  # (3, 2)
    scores = vectors @ vectors[-1]  # (3,)
    weights = softmax(scores)  # (3,)
    return scores, np.exp(scores), weights, weights @ vectors


def whole(formula):
    """A formula that stays on one line."""
    return f'<span class="whole">{formula}</span>'


def opening():
    scores, powers, weights, average = computed(WORDS)
    other = computed(OTHER)[3]
    products = [f"{weight:.3f} · {vector}" for weight, vector in zip(weights, WORDS.values(), strict=True)]
    terms = " ".join(map(whole, [*(f"{product} +" for product in products[:-1]), f"{products[-1]} ="]))
    steps = [
        ("A sentence", "Three words: <b>the river bank</b>. What does “bank” mean here?"),
        (
            "becomes vectors",
            "Each word is two numbers: how much it has to do with water, and with money. <b>the</b> is (0, 0), "
            "<b>river</b> is (2, 0). <b>bank</b> could be either: (1, 1).",
        ),
        (
            "becomes scores",
            "“bank” asks every word how well it fits: multiply number by number, and add. With <b>river</b> that is "
            f"{whole(f'1 · 2 + 1 · 0 = {scores[1]:.0f}')}, with <b>bank</b> itself "
            f"{whole(f'1 · 1 + 1 · 1 = {scores[2]:.0f}')}, "
            f"with <b>the</b> {scores[0]:.0f}.",
        ),
        (
            "becomes weights",
            "Raise e to each score, and divide by the sum: "
            f"{whole(f'{powers[0]:.0f} + {powers[1]:.2f} + {powers[2]:.2f} = {powers.sum():.2f}')}. "
            f"The weights are {', '.join(f'{weight:.3f}' for weight in weights)}: "
            "positive, and together 1 up to rounding. This is the softmax.",
        ),
        (
            "becomes an average",
            f"The new “bank” is the weighted average of the three: {terms} "
            f'<b class="whole">({average[0]:.2f}, {average[1]:.2f})</b>. It has moved towards the water.',
        ),
        (
            "and with other company",
            "Put <b>savings</b>, (0, 2), in the place of “river”. The same steps give "
            f'<b class="whole">({other[0]:.2f}, {other[1]:.2f})</b>: now it is a bank that holds money.',
        ),
    ]
    told = "".join(f"<li><strong>{title}</strong> <p>{text}</p></li>\n" for title, text in steps)
    return f'<div class="opening" data-step="5">\n<div class="scene">{picture()}</div>\n<ol>\n{told}</ol>\n</div>'


def picture():
    """Everything at once; the style sheet hides what a step has not reached."""
    scores, _, weights, average = computed(WORDS)
    other = computed(OTHER)[3]
    parts = [
        text(20, 26, "word", "quiet"),
        text(150, 26, "vector", "quiet from-2"),
        text(275, 26, "score", "quiet from-3"),
        text(365, 26, "weight", "quiet from-4"),
        # whatever the font, the arc and its question stand in the middle below the word
        '<text x="193" y="330" text-anchor="end" class="sentence">the river</text>',
        '<g text-anchor="middle">',
        text(BANK, 330, "bank", "sentence asks"),
        text(BANK, 388, "?", "sentence asks"),
        "</g>",
        f'<path class="sentence" d="M{BANK - 42} 346q42 20 84 0"/>',
    ]
    for row, (name, vector) in enumerate(WORDS.items()):
        y, swapped = ROWS[row], list(OTHER)[row]
        both = [("", name, vector)] if name == swapped else [("was ", name, vector), ("then ", swapped, OTHER[swapped])]
        for when, word, numbers in both:
            parts.append(text(20, y, word, f"{when}word{' asks' * (row == 2)}"))
            parts.append(text(150, y, f"({numbers[0]}, {numbers[1]})", f"{when}from-2"))
        parts.append(text(275, y, f"{scores[row]:.0f}", "from-3"))
        parts.append(
            f'<g class="from-4"><rect class="bar" x="365" y="{y - 17}" width="{200 * weights[row]:.0f}" height="22" '
            'rx="3"/>'
            f"{text(373 + 200 * weights[row], y, f'{weights[row]:.3f}', '')}</g>"
        )
    x, y = ORIGIN
    parts.append(
        f'<g class="from-2"><path class="axis" d="M{x} {y}H{x + 2.35 * UNIT:.0f}M{x} {y}V{y - 2.35 * UNIT:.0f}"/>'
        f"{text(x + 2.4 * UNIT, y + 5, 'water', 'quiet')}{text(x - 22, y - 2.45 * UNIT, 'money', 'quiet')}</g>"
    )
    corners = [" ".join(f"{a:.0f},{b:.0f}" for a, b in map(place, words.values())) for words in (WORDS, OTHER)]
    parts += [
        f'<polygon class="{when} from-5" points="{points}"/>'
        for when, points in zip(("was", "then"), corners, strict=True)
    ]
    parts += [
        f'<g class="turns from-2" style="transform-origin: {x}px {y}px">{arrow((2, 0), "key")}</g>',
        f'<g class="from-2">{arrow((1, 1), "query")}{text(*beside((1, 1), 12, -10), "bank", "asks")}</g>',
        f'<g class="was from-2">{text(*beside((2, 0), -20, -14), "river", "key")}</g>',
        f'<g class="then from-2">{text(*beside((0, 2), 14, 4), "savings", "key")}</g>',
    ]
    (ax, ay), (bx, by), (cx, cy) = place((1, 1)), place(average), place(other)
    parts.append(
        f'<g class="from-5"><path class="trail was" d="M{ax:.0f} {ay:.0f}L{bx:.0f} {by:.0f}"/>'
        f'<path class="trail then" d="M{ax:.0f} {ay:.0f}L{cx:.0f} {cy:.0f}"/>'
        f'<circle class="new" r="9" style="--was: {bx:.0f}px {by:.0f}px; --then: {cx:.0f}px {cy:.0f}px; '
        f'--from: {ax:.0f}px {ay:.0f}px"/>'
        f"{text(bx + 14, by + 6, f'({average[0]:.2f}, {average[1]:.2f})', 'was new-name')}"
        f"{text(cx + 14, cy + 6, f'({other[0]:.2f}, {other[1]:.2f})', 'then new-name')}</g>"
    )
    label = (
        "Three words with their vectors, scores and weights, and a plane in which the vector of bank moves from "
        f"(1, 1) to ({average[0]:.2f}, {average[1]:.2f}) beside river, and to ({other[0]:.2f}, {other[1]:.2f}) "
        "beside savings."
    )
    return f'<svg viewBox="0 0 520 490" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def place(vector):
    return ORIGIN[0] + UNIT * vector[0], ORIGIN[1] - UNIT * vector[1]


def beside(vector, right, down):
    x, y = place(vector)
    return x + right, y + down


def arrow(vector, kind):
    x, y = place(vector)
    return (
        f'<line class="{kind}" x1="{ORIGIN[0]}" y1="{ORIGIN[1]}" x2="{x:.0f}" y2="{y:.0f}"/>'
        f'<circle class="{kind}" cx="{x:.0f}" cy="{y:.0f}" r="6"/>'
    )


def text(x, y, words, kind):
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{kind}">{words}</text>'
