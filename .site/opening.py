"""One step of attention that moves as the page scrolls: a sentence becomes vectors, scores, weights, an average.

Without scripts, or where no motion is wanted, it is a figure and six paragraphs that hold every number.
"""

import numpy as np

from transformer_lessons.first_steps import softmax

WORDS = {"the": (0, 0), "river": (2, 0), "bank": (1, 1)}  # (water, money)
OTHER = {"the": (0, 0), "savings": (0, 2), "bank": (1, 1)}
COLUMNS = (155, 295, 435)  # of the picture, in its own units: the words stand side by side, what they become below them
ORIGIN, UNIT = (44, 460), 86  # of the plane
ROWS, NAMES = (308, 346, 384), 296  # of the working beside it
WATER = (
    '<path class="land" d="M-85-26C-52-36-36-18-20 6C-8 26 4 36 20 38V54H-85Z"/><path class="land" d="M-60-32V-54"/>'
    '<circle class="land" cx="-60" cy="-66" r="17"/><path class="waves" d="M-12 10q12-9 24 0t24 0t24 0t24 0M2 28q12-9 '
    '24 0t24 0t24 0M24 46q10-9 20 0t20 0t20 0"/>'
)
MONEY = (
    '<path class="land" d="M-64-20L0-60L64-20ZM-58-20h116v10h-116ZM-48-10h14v44h-14ZM-18-10h14v44h-14ZM4-10h14v44h-14Z'
    'M34-10h14v44h-14ZM-62 34h124v9h-124ZM-70 43h140v9h-140Z"/><circle class="coin" cy="-36" r="8"/>'
)


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
    total = f"{powers[0]:.0f} + {powers[1]:.2f} + {powers[2]:.2f}"
    steps = [
        ("A sentence", "<b>The river bank.</b> Which kind of bank is it?"),
        (
            "becomes vectors",
            "Each word is two numbers: how much water, how much money. <b>river</b> is (2, 0). "
            "<b>bank</b> could be either: (1, 1).",
        ),
        (
            "becomes scores",
            "Multiply <b>bank</b>’s numbers by each word’s, and add. With <b>river</b> that is "
            f"{whole(f'1 · 2 + 1 · 0 = {scores[1]:.0f}')}, with itself {whole(f'1 · 1 + 1 · 1 = {scores[2]:.0f}')}, "
            f"with <b>the</b> {scores[0]:.0f}.",
        ),
        (
            "becomes weights",
            f"Raise e to each score: {whole(f'{total} = {powers.sum():.2f}')}. Divide by that sum. "
            f"The weights are {', '.join(f'{weight:.3f}' for weight in weights)}: "
            "together 1, up to rounding. This is the softmax.",
        ),
        (
            "becomes an average",
            f"The new <b>bank</b> is the weighted average: {terms} "
            f'<b class="whole">({average[0]:.2f}, {average[1]:.2f})</b>. It has moved towards the water.',
        ),
        (
            "and with other company",
            "Put <b>savings</b>, (0, 2), in the place of <b>river</b>. The same steps give "
            f'<b class="whole">({other[0]:.2f}, {other[1]:.2f})</b>: now it is a bank that holds money.',
        ),
    ]
    told = "".join(f"<li><strong>{title}</strong> <p>{text}</p></li>\n" for title, text in steps)
    return f'<div class="opening" data-step="5">\n<div class="scene">{picture()}</div>\n<ol>\n{told}</ol>\n</div>'


def picture():
    """Everything at once; the style sheet hides what a step has not reached.

    A part comes --d beats after its step has begun.
    """
    average, other = computed(WORDS)[3], computed(OTHER)[3]
    label = (
        "Three words with their vectors, scores and weights, and a plane in which the vector of bank moves from "
        f"(1, 1) to ({average[0]:.2f}, {average[1]:.2f}) beside river, and to ({other[0]:.2f}, {other[1]:.2f}) "
        "beside savings."
    )
    parts = [*question(), *table(), *plane(average, other), *working()]
    return f'<svg viewBox="0 0 530 500" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def question():
    """What a bank may be; the two drawings become the signs of the axes."""
    x = COLUMNS[2]
    return [
        f'<path class="asking at-1" d="M{x - 8} 84C{x - 20} 180 150 120 138 208M{x} 84C{x + 6} 150 392 150 392 210"/>',
        '<g class="at-1" text-anchor="middle">',
        text(250, 198, "?", "sense asks"),
        text(138, 440, "a slope beside water?", ""),
        text(392, 440, "a house for money?", ""),
        "</g>",
        f'<g class="sign water">{WATER}</g><g class="sign money">{MONEY}</g>',
    ]


def table():
    """The words, and below each its vector, its score and its weight; arcs lead from the word that asks."""
    scores, _, weights, _ = computed(WORDS)
    asks = COLUMNS[2]
    arcs = [f"M{asks - 8} 42C{asks - 8} {up} {x} {up} {x} 42" for x, up in ((COLUMNS[0], -8), (COLUMNS[1], 10))]
    arcs.append(f"M{asks + 4} 42C{asks} 4 {asks + 48} 8 {asks + 22} 42")
    parts = [
        f'<path class="arc from-3" style="--weight:{weight:.3f};--d:{row}" d="{arc}"/>'
        for row, (arc, weight) in enumerate(zip(arcs, weights, strict=True))
    ]
    parts += [text(6, y, name, f"quiet from-{n}") for n, y, name in ((2, 106, "vector"), (3, 140, "score"))]
    parts += [text(6, 174, "weight", "quiet from-4"), '<path class="axis from-2" d="M0 208H530"/>']
    parts.append('<g text-anchor="middle">')
    for row, (name, vector) in enumerate(WORDS.items()):
        x, swapped = COLUMNS[row], list(OTHER)[row]
        both = [("", name, vector)] if name == swapped else [("was ", name, vector), ("then ", swapped, OTHER[swapped])]
        for when, word, numbers in both:
            kind = ("", " key", " asks")[row]
            parts.append(text(x, 70, word, f"{when}sentence{kind}"))
            parts.append(text(x, 106, f"({numbers[0]}, {numbers[1]})", f"{when}from-2", row))
        parts.append(text(x, 140, f"{scores[row]:.0f}", "from-3", 3 * row + 2))
        parts.append(
            f'<g class="from-4" style="--d:{row + 4}">{text(x, 174, f"{weights[row]:.3f}", "")}'
            f'<path class="track" d="M{x - 55} 186h110"/></g>'
            f'<path class="bar" style="--d:{row + 4};transform-origin:{x - 55}px 0" '
            f'd="M{x - 55} 186h{110 * weights[row]:.1f}"/>'
        )
    return [*parts, "</g>"]


def plane(average, other):
    """The vectors as arrows, and the average as what remains of them, end to end."""
    (x, y), (rx, _), (bx, by) = ORIGIN, place((2, 0)), place((1, 1))
    (nx, ny), (ox, oy) = place(average), place(other)
    share = computed(WORDS)[2][1]
    ticks = "".join(f"M{x + n * UNIT} {y}v6M{x} {y - n * UNIT}h-6" for n in (1, 2))
    far = 2.3 * UNIT
    numbers = "".join(
        text(x + n * UNIT, y + 21, n, "quiet") + text(x - 14, y + 5 - n * UNIT, n, "quiet") for n in (1, 2)
    )
    here = f"transform-origin:{x}px {y}px"
    shared = f"{here};--share:{share:.3f}"
    step = f"{share * 2 * UNIT:.1f}px"
    return [
        f'<g class="from-2"><path class="axis" d="M{x} {y}h{far:.0f}M{x} {y}v-{far:.0f}{ticks}"/>'
        f'<g text-anchor="middle">{numbers}</g>{text(x + far + 4, y + 21, "water", "quiet")}'
        f"{text(x + 26, y - far - 14, 'money', 'quiet')}</g>",
        f'<g class="turns from-2" style="{here}"><g class="grows" style="{here};--d:1">{arrow(rx, y, "key")}</g></g>',
        f'<g class="grows from-2" style="{here};--d:2">{arrow(bx, by, "query")}</g>',
        f'<path class="trail was from-5" style="--d:8" d="M{bx:.0f} {by:.0f}L{nx:.0f} {ny:.0f}"/>'
        f'<path class="trail then from-5" style="--d:8" d="M{bx:.0f} {by:.0f}L{ox:.0f} {oy:.0f}"/>',
        f'<g class="turns from-5" style="{here}"><g class="share" style="{shared};--d:2">'
        f"{arrow(rx, y, 'part')}</g></g>"
        f'<g class="share moved from-5" style="{shared};--d:4;--by:{step}">{arrow(bx, by, "part")}</g>',
        f'<g class="from-2" style="--d:3">{text(bx + 8, by - 10, "bank", "asks")}</g>',
        f'<g class="was from-2" style="--d:3">{text(rx - 64, y + 22, "river", "key")}</g>',
        f'<g class="then from-2">{text(x + 14, y - 2 * UNIT + 4, "savings", "key")}</g>',
        f'<g class="from-5" style="--d:7"><circle class="new" r="8" style="--was:{nx:.0f}px {ny:.0f}px;'
        f'--then:{ox:.0f}px {oy:.0f}px"/>'
        f"{text(nx + 13, ny - 6, pair(average), 'was new-name')}"
        f"{text(ox + 13, oy + 6, pair(other), 'then new-name')}</g>",
    ]


def working():
    """What a step computes, line by line."""
    scores, powers, weights, _ = computed(WORDS)
    parts = []

    def names(words, kind):
        return "".join(text(NAMES, y, word, kind) for y, word in zip(ROWS, words, strict=True))

    def told(step, title, lines, words=WORDS):
        kind = f"at-{step}" if step else ""
        parts.append(f'<g class="{kind}">{text(NAMES, 270, title, "quiet")}{names(words, "word")}{lines}</g>')

    vectors = list(WORDS.values())
    told(
        2,
        "each word, in two numbers",
        "".join(
            text(364, ROWS[row], f"{water} water, {money} money", "later", row)
            for row, (water, money) in enumerate(vectors)
        ),
    )
    told(
        3,
        "(1, 1) times each word’s numbers",
        "".join(
            text(364, y, f"1 · {water}", "later", 3 * row)
            + text(403, y, f"+ 1 · {money}", "later", 3 * row + 1)
            + text(462, y, f"= {score:.0f}", "later word", 3 * row + 2)
            for row, (y, (water, money), score) in enumerate(zip(ROWS, vectors, scores, strict=True))
        ),
    )
    told(
        4,
        "e to the power of each score",
        "".join(
            f'<path class="power" style="--d:{row};transform-origin:364px 0" d="M364 {y - 6}h{10 * power:.0f}"/>'
            + text(374 + 10 * power, y, f"{power:.2f}", "later", row)
            for row, (y, power) in enumerate(zip(ROWS, powers, strict=True))
        )
        + f'<path class="axis" d="M{NAMES} 406H524"/>'
        + text(NAMES, 433, "sum", "word later", 3)
        + text(364, 433, f"{powers.sum():.2f}", "word later", 3)
        + text(364, 463, f"{powers[0]:.2f} / {powers.sum():.2f} = {weights[0]:.3f}", "later", 4)
        + text(364, 487, f"{powers[1]:.2f} / {powers.sum():.2f} = {weights[1]:.3f}", "later", 5),
    )
    for step, words in ((5, WORDS), (6, OTHER)):
        sums = computed(words)[3]
        lines = '<g text-anchor="end">'
        for axis, right in enumerate((440, 524)):
            lines += text(right, 276, ("water", "money")[axis], "quiet")
            for row, (y, vector) in enumerate(zip(ROWS, words.values(), strict=True)):
                lines += text(right, y, f"{weights[row]:.3f} · {vector[axis]}", "later", 2 * row)
            lines += text(right, 433, f"{sums[axis]:.2f}", "later new-name", 6)
        told(
            step,
            "",
            f'{lines}</g><path class="axis" d="M{NAMES} 406H524"/>' + text(NAMES, 433, "sum", "word later", 6),
            words,
        )
    return parts


def pair(vector):
    return f"({vector[0]:.2f}, {vector[1]:.2f})"


def place(vector):
    return ORIGIN[0] + UNIT * vector[0], ORIGIN[1] - UNIT * vector[1]


def arrow(x, y, kind):
    return (
        f'<line class="{kind}" x1="{ORIGIN[0]}" y1="{ORIGIN[1]}" x2="{x:.0f}" y2="{y:.0f}"/>'
        f'<circle class="{kind}" cx="{x:.0f}" cy="{y:.0f}" r="6"/>'
    )


def text(x, y, words, kind, later=None):
    named = f' class="{kind}"' if kind else ""
    after = "" if later is None else f' style="--d:{later}"'
    return f'<text x="{x:.0f}" y="{y:.0f}"{named}{after}>{words}</text>'
