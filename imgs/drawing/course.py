"""The course: its map with a picture for each lesson, and a verdict."""

import math
from itertools import pairwise

from drawing.canvas import (
    EMPTY,
    INK,
    KEY,
    LINE,
    MARGIN,
    MUTED,
    OUTPUT,
    PANEL,
    PLAIN,
    QUERY,
    VALUE,
    WEIGHTS,
    WHITE,
    Box,
    Colour,
    Drawing,
    diagram,
    shade,
    softmax,
)
from drawing.models import STREAM
from drawing.positions_and_masks import ALLOWED, FORBIDDEN

# --- The course ---------------------------------------------------------------------------------------------

LESSONS = [
    ("Self-attention", "weighted averages\nof the sequence"),
    ("Queries, keys,\nvalues", "three roles\nfor one vector"),
    ("Scaling", "why divide by √*d*"),
    ("Multi-head\nattention", "several questions\nat once"),
    ("Positional\nencoding", "order, for a model\nthat ignores it"),
    ("Masking", "no looking ahead"),
    ("The full model", "the whole\nTransformer"),
    ("Shakespeare", "a language model\nthat writes plays"),
    ("Byte pairs", "a vocabulary that\ngrows from the text"),
    ("Modern models", "from GPT-2\nto Llama"),
    ("Inside the\nmodel", "what has it learned?"),
    ("Making it fast", "the same results,\nfaster"),
]


def average_icon(d, x, y):
    for row, width in enumerate([1, 4.5, 2]):
        d.line((x - 34, y - 22 + 22 * row), (x + 34, y), ink=WEIGHTS.line, width=width)
        d.add("circle", cx=x - 34, cy=y - 22 + 22 * row, r=7, fill=PLAIN.fill, stroke=STREAM)
    d.add("circle", cx=x + 34, cy=y, r=8, fill=OUTPUT.fill, stroke=OUTPUT.line)


def roles_icon(d, x, y):
    for row, colour in enumerate([QUERY, KEY, VALUE]):
        box = d.box(x + 12, y - 27 + 20 * row, 40, 14, colour=colour, radius=3)
        d.arrow((x - 30, y), box.left(), ink=colour.line)
    d.box(x - 50, y - 14, 20, 28, colour=PLAIN, radius=3)


def scale_icon(d, x, y):
    for left, scale in [(x - 60, 1), (x + 22, 3)]:
        d.line((left - 2, y + 26), (left + 38, y + 26))
        for bar, weight in enumerate(softmax([score / scale for score in (1, 5, 2, 0)])):
            height = 50 * weight
            d.add("rect", x=left + 9.5 * bar, y=y + 26 - height, width=8, height=height, fill=WEIGHTS.line)
    d.arrow((x - 16, y), (x + 16, y))


def heads_icon(d, x, y):
    for head in range(3):
        rows = [[shade(0.8 if (i + head) % 3 == j else 0.1) for j in range(3)] for i in range(3)]
        d.grid(x - 62 + 44 * head, y - 18, rows, 12)


def clocks_icon(d, x, y):
    for hand, angle in enumerate([3.6, 1.2, 0.4]):
        middle = x - 42 + 42 * hand
        tip = middle + 17 * math.sin(angle), y - 17 * math.cos(angle)
        d.add("circle", cx=middle, cy=y, r=17, fill=WHITE, stroke=LINE)
        d.line((middle, y), tip, ink=INK, width=2)
        d.add("circle", cx=tip[0], cy=tip[1], r=3.5)


def mask_icon(d, x, y):
    rows = [[ALLOWED if key <= query else FORBIDDEN for key in range(5)] for query in range(5)]
    d.grid(x - 27.5, y - 27.5, rows, 11)


def model_icon(d, x, y):
    for middle, colour in [(x - 30, WEIGHTS), (x + 30, WEIGHTS)]:
        d.line((middle, y - 29), (middle, y + 29), ink=STREAM, width=3)
        for row in range(3):
            d.box(middle - 18, y - 23 + 17 * row, 36, 12, colour=colour, radius=3)
    d.arrow((x - 30, y + 29), (x, y + 29), (x, y), (x + 12, y), ink=OUTPUT.line)


def play_icon(d, x, y):
    d.box(x - 44, y - 29, 88, 58, colour=EMPTY, radius=4)
    for row, (indent, width) in enumerate([(0, 26), (10, 52), (10, 58), (0, 20), (10, 30)]):
        left, middle = x - 36 + indent, y - 20 + 10 * row
        d.line((left, middle), (left + width, middle), ink=LINE if indent else INK, width=3)
    d.box(x + 8, y + 15, 6, 10, colour=OUTPUT, radius=1)


def pairs_icon(d, x, y):
    for row, parts in enumerate([["t", "h", "e"], ["t", "he"], ["the"]]):
        left = x - 36
        for part in parts:
            width = 22 * len(part) + 3 * (len(part) - 1)
            d.box(left, y - 30 + 22 * row, width, 17, colour=[PLAIN, KEY, OUTPUT][len(part) - 1], radius=3)
            d.label(left + width / 2, y - 21.5 + 22 * row, f"`{part}`", 12)
            left += width + 3


def modern_icon(d, x, y):
    for middle, colours in [(x - 34, [WEIGHTS, WEIGHTS, WEIGHTS]), (x + 34, [WEIGHTS, VALUE, KEY])]:
        for row, colour in enumerate(colours):
            d.box(middle - 20, y - 25 + 18 * row, 40, 13, colour=colour, radius=3)
    d.arrow((x - 10, y), (x + 10, y))


def inside_icon(d, x, y):
    rows = [[shade(0.85 if i > 1 and j == i - 2 else 0.06) for j in range(5)] for i in range(5)]
    d.grid(x - 40, y - 28, rows, 11)
    d.add("circle", cx=x + 14, cy=y - 2, r=20, fill="none", stroke=OUTPUT.line, stroke_width=4)
    d.line((x + 28, y + 12), (x + 44, y + 28), ink=OUTPUT.line, width=5)


def tiles_icon(d, x, y):
    for row in range(3):
        for column in range(row + 1):
            colour = OUTPUT if row == column else WEIGHTS
            d.box(x - 30 + 21 * column, y - 30 + 21 * row, 17, 17, colour=colour, radius=2)


ICONS = [
    average_icon,
    roles_icon,
    scale_icon,
    heads_icon,
    clocks_icon,
    mask_icon,
    model_icon,
    play_icon,
    pairs_icon,
    modern_icon,
    inside_icon,
    tiles_icon,
]


def icon(number):
    """The SVG of a lesson's icon alone, for its card on the site."""
    drawing = Drawing(136, 68)
    ICONS[number](drawing, 68, 34)
    return drawing.svg('aria-hidden="true"').replace("\n", "")


@diagram(height=690)
def course_map(d):
    """Twelve lessons, from a weighted average to how today's models work

    A path through eight lessons, each adding one idea, and four that go beyond them. 1, self-attention: weighted
    averages of the sequence. 2, queries, keys, values: three roles for one vector. 3, scaling: why divide by the
    square root of d. 4, multi-head attention: several questions at once. 5, positional encoding: order, for a model
    that ignores it. 6, masking: no looking ahead. 7, the full model: the whole Transformer. 8, Shakespeare: a
    language model that writes plays. 9, byte pairs: a vocabulary that grows from the text. 10, modern models: from
    GPT-2 to Llama. 11, inside the model: what has it learned? 12, making it fast: the same results, faster.
    """
    cards = [Box(MARGIN + 182 * (index % 4), 66 + 212 * (index // 4), 158, 172) for index in range(12)]
    for start, end in pairwise(cards):
        if start.y == end.y:
            d.arrow(start.right(), end.left(), ink=STREAM, width=3)
        else:
            turn = start.y + start.height + 18
            d.arrow(start.bottom(), (start.middle[0], turn), (end.middle[0], turn), end.top(), ink=STREAM, width=3)
    for index, (card, (name, adds), icon) in enumerate(zip(cards, LESSONS, ICONS, strict=True)):
        d.box(*card, colour=EMPTY, radius=12)
        d.add("circle", cx=card.x + 22, cy=card.y + 26, r=12, fill=STREAM)
        d.label(card.x + 22, card.y + 26, str(index + 1), 14, WHITE, bold=True)
        d.label(card.x + 40, card.y + 26, name, 13, align="start", bold=True)
        icon(d, card.middle[0], card.y + 80)
        d.label(card.middle[0], card.y + 141, adds, 13, MUTED)


WRONG_ANSWER = """\
def scaled_dot_product_attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = scores.softmax(dim=-2)
    return weights @ value, weights

check("scaled_dot_product_attention", scaled_dot_product_attention)"""

VERDICT = """\
✗ scaled_dot_product_attention: softmax over the queries.
  The softmax runs over the queries, so the columns of the weights sum to 1, not the rows.
    With query of shape (2, 4), key of shape (3, 4), value of shape (3, 2):
    yours: weights      expected
    0.40  0.70  0.69    0.33  0.39  0.28
    0.60  0.30  0.31    0.63  0.21  0.16
  Where to look: one query's weights must sum to 1. Which dimension holds them?
  Need more? hint("scaled_dot_product_attention", 1)"""


@diagram(height=432)
def verdict(d):
    """The checks name the mistake

    Above, an answer to an exercise: scaled_dot_product_attention with a softmax over the wrong dimension.
    Below, what check prints about it: "softmax over the queries. The softmax runs over the queries, so
    the columns of the weights sum to 1, not the rows." Then the learner's weights beside the expected
    ones, where to look, and how to ask for a hint.
    """
    d.label(MARGIN, 74, "a learner's answer", 13, MUTED, "start")
    d.box(20, 88, 720, 124, colour=PANEL)
    d.label(MARGIN, 240, "the verdict", 13, MUTED, "start")
    d.box(20, 254, 720, 158, colour=Colour(OUTPUT.line, "#fff8f3", INK))
    for row, line in enumerate(WRONG_ANSWER.split("\n")):
        if line:
            d.code(34, 105 + 18 * row, line)
    for row, line in enumerate(VERDICT.split("\n")):
        d.label(34, 270 + 18 * row, f"`{line}`", 12, OUTPUT.ink if row == 0 else INK, "start", bold=row == 0)
