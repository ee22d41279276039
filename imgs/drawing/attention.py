"""Lessons 1 to 4: from weighted averages to several heads."""

import math
from itertools import pairwise

from drawing.canvas import (
    EMPTY,
    HEADS,
    INK,
    KEY,
    LEFT,
    MARGIN,
    MUTED,
    NARROW,
    OUTPUT,
    PLAIN,
    QUERY,
    VALUE,
    WEIGHTS,
    WHITE,
    WIDTH,
    diagram,
    dot,
    narrow,
    path,
    shade,
    softmax,
)

# --- Lesson 1 -----------------------------------------------------------------------------------------------

SEQUENCE = [(1, 0), (0, 1), (1, 1)]


def traced_by_hand():
    """Scores, their exponentials, weights and output of the first position of SEQUENCE."""
    scores = [dot(SEQUENCE[0], x) for x in SEQUENCE]
    weights = softmax(scores)
    output = [dot(weights, feature) for feature in zip(*SEQUENCE, strict=True)]
    return scores, [math.exp(score) for score in scores], weights, output


@diagram(height=486)
def weighted_average(d):
    """Every output is a weighted average of all the inputs

    The first output of three inputs, by hand: x0 = (1, 0), x1 = (0, 1), x2 = (1, 1). The scores, x0's dot
    products with each input, are 1, 0 and 1; their exponentials 2.72, 1.00 and 2.72 add up to 6.44; divided
    by that sum they are the weights 0.42, 0.16 and 0.42. The weighted vectors (0.42, 0.00), (0.00, 0.16) and
    (0.42, 0.42) add up to the output y0 = (0.84, 0.58), which lies inside the triangle of the three inputs.
    """
    scores, powers, weights, output = traced_by_hand()
    heads = [
        ("inputs", ""),
        ("score", "*x*_{0} · *x*_{j}"),
        ("exponential", "*e* to the score"),
        ("weight *w*_{0j}", "divided by the sum"),
        ("weighted vector", "*w*_{0j} *x*_{j}"),
    ]
    lefts, widths = [28, 164, 334, 456, 600], [110, 144, 96, 118, 132]
    for left, width, (head, below) in zip(lefts, widths, heads, strict=True):
        d.label(left + width / 2, 76, head, size=14, bold=True)
        d.label(left + width / 2, 97, below, size=14, ink=MUTED)
    first = SEQUENCE[0]
    for row, x in enumerate(SEQUENCE):
        y, weighted = 118 + 50 * row, [weights[row] * feature for feature in x]
        texts = [
            f"*x*_{{{row}}} = ({x[0]}, {x[1]})",
            f"{first[0]}·{x[0]} + {first[1]}·{x[1]} = {scores[row]}",
            f"{powers[row]:.2f}",
            "",
            f"({weighted[0]:.2f}, {weighted[1]:.2f})",
        ]
        colours = [PLAIN, EMPTY, EMPTY, EMPTY, EMPTY]
        boxes = [
            d.box(left, y, width, 38, text, colour, size=15)
            for left, width, text, colour in zip(lefts, widths, texts, colours, strict=True)
        ]
        for start, end in pairwise(boxes):
            d.arrow(start.right(), end.left())
        d.label(boxes[3].middle[0], y + 14, f"{weights[row]:.2f}", size=15, bold=True)
        d.bar(boxes[3].x + 8, y + 26, widths[3] - 16, weights[row])
    for left, width in zip(lefts[2:], widths[2:], strict=True):
        d.line((left, 272), (left + width, 272), ink=INK)
    d.label(304, 298, "sum", size=14, ink=MUTED, align="end")
    d.label(lefts[2] + widths[2] / 2, 298, f"{sum(powers):.2f}", size=15)
    d.label(lefts[3] + widths[3] / 2, 298, f"{sum(weights):.2f}", size=15)
    total = f"({output[0]:.2f}, {output[1]:.2f})"
    result = d.box(lefts[4], 279, widths[4], 38, total, OUTPUT, size=15, bold=True)
    d.label(result.middle[0], 336, "output *y*_{0}", size=15, ink=OUTPUT.ink, bold=True)

    formula = "*y*_{0} = *w*_{00} *x*_{0} + *w*_{01} *x*_{1} + *w*_{02} *x*_{2}"
    d.label(MARGIN, 356, formula, size=20, align="start")
    d.label(
        MARGIN,
        424,
        "The weights are positive and add up to 1,\nso the output lies between the inputs:\n"
        "inside their triangle.\n*y*_{1} and *y*_{2} have weights of their own.",
        14,
        MUTED,
        "start",
    )
    triangle(d, 440, 450, output)


def triangle(d, left, bottom, output):
    """The inputs, and the output within them."""

    def place(x):
        return left + 96 * x[0], bottom - 96 * x[1]

    d.line((left - 16, bottom), (left + 130, bottom))
    d.line((left, bottom + 16), (left, bottom - 110))
    d.label(left + 138, bottom, "feature 0", 13, MUTED, "start")
    d.label(left, bottom - 122, "feature 1", 13, MUTED)
    d.add("path", d=path(map(place, SEQUENCE)) + "Z", fill=WEIGHTS.fill, stroke=WEIGHTS.line, stroke_dasharray="4 4")
    for index, (right, down) in enumerate([(18, 14), (-20, 0), (20, 0)]):
        x, y = place(SEQUENCE[index])
        d.add("circle", cx=x, cy=y, r=5)
        d.label(x + right, y + down, f"*x*_{{{index}}}", size=16)
    x, y = place(output)
    d.add("circle", cx=x, cy=y, r=7, fill=OUTPUT.line, stroke=WHITE)
    d.arrow((x + 70, y), (x + 7, y), ink=OUTPUT.line)
    d.label(x + 84, y, "*y*_{0}", size=16, ink=OUTPUT.ink, bold=True)


@narrow(height=660)
def narrow_weighted_average(d):
    scores, powers, weights, output = traced_by_hand()
    lefts, widths = [LEFT, 116, 232, 296], [86, 104, 52, 70]
    for left, width, head in zip(
        lefts, widths, ["inputs", "score\n*x*_{0} · *x*_{j}", "*e* to\nthe score", "weight\n*w*_{0j}"], strict=True
    ):
        d.label(left + width / 2, 86, head, size=13)
    results = []
    for row, x in enumerate(SEQUENCE):
        y = 112 + 46 * row
        texts = [f"*x*_{{{row}}} = ({x[0]}, {x[1]})", f"1·{x[0]} + 0·{x[1]} = {scores[row]}", f"{powers[row]:.2f}", ""]
        boxes = [
            d.box(left, y, width, 36, text, PLAIN if left == LEFT else EMPTY, 13)
            for left, width, text in zip(lefts, widths, texts, strict=True)
        ]
        for start, end in pairwise(boxes):
            d.arrow(start.right(), end.left())
        d.label(boxes[3].middle[0], y + 13, f"{weights[row]:.2f}", bold=True)
        d.bar(boxes[3].x + 7, y + 25, 56, weights[row])
        weighted = [weights[row] * feature for feature in x]
        results.append(d.box(LEFT + 126 * row, 316, 100, 36, f"({weighted[0]:.2f}, {weighted[1]:.2f})", EMPTY, 13))
    d.label(220, 262, "sum", 13, MUTED, "end")
    for place, numbers in ((2, powers), (3, weights)):
        d.label(lefts[place] + widths[place] / 2, 262, f"{sum(numbers):.2f}", 13)
    d.label(LEFT, 298, "weighted vectors *w*_{0j} *x*_{j}, and their sum, the output *y*_{0}", 13, align="start")
    for start, end in pairwise(results):
        d.label((start.x + 100 + end.x) / 2, 334, "+", 16)
    total = d.box(140, 378, 100, 36, f"({output[0]:.2f}, {output[1]:.2f})", OUTPUT, bold=True)
    d.arrow(results[1].bottom(), total.top(), ink=OUTPUT.line)
    d.label(LEFT, 444, "*y*_{0} = *w*_{00} *x*_{0} + *w*_{01} *x*_{1} + *w*_{02} *x*_{2}", 17, align="start")
    triangle(d, 84, 614, output)


@diagram(height=500)
def three_roles(d):
    """One vector becomes three: a query, a key and a value

    Above: from the vector x1 of the second position, linear_q makes its query (what it is looking for),
    linear_k its key (how it can be found), linear_v its value (what it hands over). Below: query 1 meets
    the keys of all three positions; softmax turns their dot products into weights, and averaging the
    values with these weights gives output 1.
    """
    x = d.grid(52, 84, [[PLAIN]] * 6, 22)
    d.label(63, 66, "*x*_{1}", size=16)
    d.label(63, 242, "`d_model`\nfeatures", size=13, ink=MUTED)
    roles = [
        ("q", "query", QUERY, "what position 1 is looking for"),
        ("k", "key", KEY, "how position 1 can be found"),
        ("v", "value", VALUE, "what position 1 hands over when found"),
    ]
    for row, (letter, name, colour, meaning) in enumerate(roles):
        y = 75 + 56 * row
        box = d.box(176, y, 104, 38, f"`linear_{letter}`", colour)
        d.arrow(x.right(), (128, x.middle[1]), (128, y + 19), box.left())
        vector = d.vector(322, y + 8, 3, colour, 22)
        d.arrow(box.right(), vector.left(), ink=colour.line)
        d.label(408, y + 9, name, size=16, ink=colour.ink, align="start", bold=True)
        d.label(408, y + 30, meaning, size=14, align="start")
    d.label(355, 243, "`d_head` features each", size=13, ink=MUTED)
    d.line((MARGIN, 268), (WIDTH - MARGIN, 268), ink="#d0d7de", width=1.2)
    d.label(MARGIN, 292, "Position 1 asks, every position answers", 15, align="start", bold=True)
    one_query(d, 404)


def one_query(d, middle):
    """A query's scores, weights and output."""
    for x, text in [(235, "scores"), (413, "weights")]:
        d.label(x, middle - 78, text, ink=MUTED)
    query = d.box(28, middle - 18, 80, 36, "query 1", QUERY)
    tall = d.box(268, middle - 62, 88, 124, "softmax", WEIGHTS)
    total = d.plus(590, middle)
    output = d.box(632, middle - 18, 100, 36, "output 1", OUTPUT)
    scores = [1.0, 2.0, 0.2]
    for row, (score, weight) in enumerate(zip(scores, softmax(scores), strict=True)):
        y = middle + 44 * (row - 1)
        key = d.box(150, y - 15, 60, 30, f"key {row}", KEY)
        d.arrow(query.right(), key.left(), ink=QUERY.line)
        d.label(235, y - 10, f"{score:.1f}", size=13)
        d.arrow(key.right(), (tall.x, y))
        cell = d.grid(386, y - 15, [[(shade(weight), f"{weight:.2f}")]], 54, 30)
        d.arrow((tall.x + tall.width, y), cell.left(), ink=WEIGHTS.line)
        d.label(454, y, "×", size=16)
        value = d.box(468, y - 15, 72, 30, f"value {row}", VALUE)
        end = [(582, middle - 8), total.left(), (582, middle + 8)][row]
        d.arrow(value.right(), end, ink=VALUE.line)
    d.arrow(total.right(), output.left(), ink=OUTPUT.line)


@narrow(height=640)
def narrow_three_roles(d):
    x = d.grid(30, 96, [[PLAIN]] * 6, 22)
    d.label(41, 78, "*x*_{1}", size=16)
    roles = [
        ("q", "query", QUERY, "what it looks for"),
        ("k", "key", KEY, "how it is found"),
        ("v", "value", VALUE, "what it hands over"),
    ]
    for row, (letter, name, colour, meaning) in enumerate(roles):
        y = 80 + 60 * row
        box = d.box(88, y + 6, 84, 34, f"`linear_{letter}`", colour, 13)
        d.arrow(x.right(), (70, x.middle[1]), (70, y + 23), box.left())
        vector = d.vector(196, y + 17, 3, colour, 13)
        d.arrow(box.right(), vector.left(), ink=colour.line)
        d.label(246, y + 12, name, 15, colour.ink, "start", bold=True)
        d.label(246, y + 34, meaning, 12, align="start")
    d.label(LEFT, 250, "`d_model`", 12, MUTED, "start")
    d.label(216, 262, "`d_head`", 12, MUTED)
    d.line((LEFT, 280), (NARROW - LEFT, 280), ink="#d0d7de", width=1.2)
    d.label(LEFT, 300, "Position 1 asks, every position answers", align="start", bold=True)
    narrow_one_query(d, 320)


def narrow_one_query(d, y):
    query = d.box(148, y, 84, 30, "query 1", QUERY, 13)
    tall = d.box(LEFT + 12, y + 120, 328, 30, "softmax", WEIGHTS, 13)
    total = d.plus(190, tall.y + 134)
    output = d.box(144, tall.y + 162, 92, 30, "output 1", OUTPUT, 13)
    scores = [1.0, 2.0, 0.2]
    for row, (score, weight) in enumerate(zip(scores, softmax(scores), strict=True)):
        x = 82 + 108 * row
        key = d.box(x - 36, y + 52, 72, 28, f"key {row}", KEY, 13)
        d.arrow(query.bottom((0.2, 0.5, 0.8)[row]), key.top(), ink=QUERY.line)
        d.arrow(key.bottom(), (x, tall.y))
        d.label(x + 8, y + 99, f"{score:.1f}", 13, align="start")
        cell = d.grid(x - 48, tall.y + 52, [[(shade(weight), f"{weight:.2f}")]], 40, 28)
        d.arrow((x - 28, tall.y + 30), cell.top(), ink=WEIGHTS.line)
        d.label(x, tall.y + 66, "×", 13)
        value = d.box(x + 7, tall.y + 52, 50, 28, f"value {row}", VALUE, 12)
        end = [(182, tall.y + 126), total.top(), (198, tall.y + 126)][row]
        d.arrow(value.bottom(), end, ink=VALUE.line)
    d.arrow(total.bottom(), output.top(), ink=OUTPUT.line)
    d.label(LEFT, y + 99, "scores", 13, MUTED, "start")
    d.label(LEFT, tall.y + 100, "weights", 13, MUTED, "start")


# --- Lesson 3 -----------------------------------------------------------------------------------------------


UNSCALED = [8.0, 16.0, 1.6]  # scores with 64 features


@diagram(height=356)
def where_to_scale(d):
    """One small division, and every key keeps some weight

    The scores 8.0, 16.0 and 1.6 of one query become weights twice. The softmax of the scores as they are gives
    0.00, 1.00 and 0.00: one key takes all. Divided by 8, the square root of d, the scores give 0.24, 0.65 and
    0.11: every key keeps some weight.
    """
    middle, upper, lower = 206, 132, 280
    query = d.box(28, middle - 18, 80, 36, "query", QUERY)
    d.label(68, middle + 36, "*d* = 64", 13, MUTED)
    d.label(250, middle - 60, "scores", ink=MUTED)
    for row in range(3):
        y = middle + 30 * (row - 1)
        key = d.box(150, y - 13, 56, 26, f"key {row}", KEY, 13)
        d.arrow(query.right(), key.left(), ink=QUERY.line)
        d.line(key.right(), (224, y))
    scores = d.grid(224, middle - 45, [[(EMPTY, f"{score:.1f}")] for score in UNSCALED], 52, 30)
    divide = d.box(314, lower - 20, 86, 40, "÷ √*d* = 8", EMPTY, bold=True)
    d.arrow(scores.right(), (297, middle), (297, lower), divide.left())
    for y, divisor, words in [(upper, 1, "one key takes all"), (lower, 8, "every key keeps\nsome weight")]:
        soft = d.box(428, y - 20, 80, 40, "softmax", WEIGHTS)
        if divisor == 1:
            d.arrow(scores.right(), (297, middle), (297, y), soft.left())
        else:
            d.arrow(divide.right(), soft.left())
        cells = [[(shade(weight), f"{weight:.2f}")] for weight in softmax([score / divisor for score in UNSCALED])]
        weights = d.grid(538, y - 45, cells, 54, 30)
        d.arrow(soft.right(), weights.left(), ink=WEIGHTS.line)
        d.label(606, y, words, 14, align="start", bold=divisor > 1)
    d.label(565, 72, "weights", ink=MUTED)


@narrow(height=420)
def narrow_where_to_scale(d):
    query = d.box(148, 66, 84, 30, "query", QUERY, 13)
    d.label(244, 81, "*d* = 64", 13, MUTED, "start")
    for row in range(3):
        x = 146 + 44 * row
        key = d.box(82 + 108 * row - 36, 122, 72, 28, f"key {row}", KEY, 13)
        d.arrow(query.bottom((0.2, 0.5, 0.8)[row]), key.top(), ink=QUERY.line)
        d.line(key.bottom(), (x, 176))
    scores = d.grid(124, 176, [[(EMPTY, f"{score:.1f}") for score in UNSCALED]], 44, 28)
    d.label(114, 190, "scores", 13, MUTED, "end")
    divide = d.box(232, 232, 96, 30, "÷ √*d* = 8", EMPTY, 13, bold=True)
    d.arrow(scores.bottom(), (190, 218), (280, 218), divide.top())
    for x, divisor, words in [(100, 1, "one key takes all"), (280, 8, "every key keeps\nsome weight")]:
        soft = d.box(x - 60, 284, 120, 30, "softmax", WEIGHTS, 13)
        if divisor == 1:
            d.arrow(scores.bottom(), (190, 218), (100, 218), soft.top())
        else:
            d.arrow(divide.bottom(), soft.top())
        cells = [[(shade(weight), f"{weight:.2f}") for weight in softmax([score / divisor for score in UNSCALED])]]
        weights = d.grid(x - 66, 336, cells, 44, 28)
        d.arrow(soft.bottom(), weights.top(), ink=WEIGHTS.line)
        d.label(x, 390, words, 13, bold=divisor > 1)


@diagram(height=518)
def scaled_dot_product_attention(d):
    """Attention: compare, scale, mask, softmax, average

    The query (query, d_head) and the key (key, d_head) meet in dot products: the scores (query, key). They
    are divided by the square root of d_head; the mask turns forbidden scores into minus infinity; the softmax
    over the keys makes weights (query, key), each row of which sums to 1. The weights average the value (key,
    d_v): the output (query, d_v). In the example three queries meet four keys, and the mask forbids the last
    key, whose weight is 0.
    """
    cell, middle = 20, 194

    def matrix(x, y, name, shape, rows, colour):
        d.label(x, y - 32, name, bold=True, ink=colour.ink)
        d.code(x, y - 14, shape, align="middle")
        return d.grid(x - cell * len(rows[0]) / 2, y, rows, cell)

    query = matrix(84, 104, "query", "(query, d_head)", [[QUERY] * 2] * 3, QUERY)
    key = matrix(84, 214, "key", "(key, d_head)", [[KEY] * 2] * 4, KEY)
    value = matrix(84, 344, "value", "(key, d_v)", [[VALUE] * 3] * 4, VALUE)

    product = d.box(164, middle - 28, 76, 56, "query @\nkeyᵀ", EMPTY)
    d.arrow(query.right(), (134, query.middle[1]), (134, middle - 12), product.left(16 / 56), ink=QUERY.line)
    d.arrow(key.right(), (134, key.middle[1]), (134, middle + 12), product.left(40 / 56), ink=KEY.line)
    numbers = [[1.2, -0.4, 0.6], [-0.8, 1.5, 0.3], [0.4, 0.6, -1.0]]  # the scores of the allowed keys, scaled
    scores = matrix(304, middle - 30, "scores", "(query, key)", [[PLAIN] * 4] * 3, PLAIN)
    scale = d.box(368, middle - 28, 56, 56, "÷ √*d*", EMPTY, size=15)
    mask = d.box(448, middle - 28, 60, 56, "mask", EMPTY)
    over_keys = d.box(532, middle - 28, 80, 56, "softmax", EMPTY)
    cells = [[shade(weight) for weight in softmax(row)] + [shade(0)] for row in numbers]
    weights = matrix(676, middle - 30, "weights", "(query, key)", cells, WEIGHTS)
    for start, end in pairwise([product, scores, scale, mask, over_keys, weights]):
        d.arrow(start.right(), end.left())
    for box, y, text in [
        (scale, 252, "so that their size does\nnot grow with *d*"),
        (mask, 306, "forbidden scores become −∞,\nso their weights become 0"),
        (over_keys, 252, "over the keys:\nrows sum to 1"),
    ]:
        d.line(box.bottom(), (box.middle[0], y - 19), ink="#c4cad1", dashed=True)
        d.label(box.middle[0] - (14 if box is scale else 0), y, text, 13, MUTED)

    average = d.box(628, 364, 96, 40, "weights @\nvalue", EMPTY)
    output = d.grid(646, 432, [[OUTPUT] * 3] * 3, cell)
    d.arrow(weights.bottom(), average.top(), ink=WEIGHTS.line)
    d.arrow(value.right(), average.left(), ink=VALUE.line)
    d.arrow(average.bottom(), output.top(), ink=OUTPUT.line)
    d.label(632, 452, "output", bold=True, ink=OUTPUT.ink, align="end")
    d.code(632, 472, "(query, d_v)", align="end")
    d.code(
        MARGIN,
        475,
        "scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])\n"
        "weights = masked_softmax(scores, mask)\noutput = weights @ value",
        ink=MUTED,
    )


@narrow(height=600)
def narrow_scaled_dot_product_attention(d):
    cell = 16

    def matrix(x, y, name, shape, rows, colour):
        d.label(x, y - 28, name, 13, colour.ink, bold=True)
        d.code(x, y - 12, shape, align="middle")
        return d.grid(x - cell * len(rows[0]) / 2, y, rows, cell)

    query = matrix(74, 104, "query", "(query, d_head)", [[QUERY] * 2] * 3, QUERY)
    key = matrix(190, 104, "key", "(key, d_head)", [[KEY] * 2] * 4, KEY)
    value = matrix(308, 104, "value", "(key, d_v)", [[VALUE] * 3] * 4, VALUE)
    product = d.box(74, 196, 116, 30, "query @ keyᵀ", EMPTY, 13)
    d.arrow(query.bottom(), (74, 182), (110, 182), product.top(36 / 116), ink=QUERY.line)
    d.arrow(key.bottom(), (190, 182), (154, 182), product.top(80 / 116), ink=KEY.line)
    boxes = [product]
    for y, text, told in [
        (246, "÷ √*d*", "so that their size does\nnot grow with *d*"),
        (300, "mask", "forbidden scores: −∞,\nso their weights are 0"),
        (354, "softmax", "over the keys:\nrows sum to 1"),
    ]:
        boxes.append(d.box(74, y, 116, 32, text, EMPTY, 13))
        d.label(208, y + 16, told, 12, MUTED, "start")
    d.label(208, 211, "scores `(query, key)`", 12, MUTED, "start")
    for start, end in pairwise(boxes):
        d.arrow(start.bottom(), end.top())
    numbers = [[1.2, -0.4, 0.6], [-0.8, 1.5, 0.3], [0.4, 0.6, -1.0]]
    cells = [[shade(weight) for weight in softmax(row)] + [shade(0)] for row in numbers]
    weights = d.grid(100, 408, cells, cell)
    d.arrow(boxes[-1].bottom(), weights.top(), ink=WEIGHTS.line)
    d.label(176, 420, "weights", 13, WEIGHTS.ink, "start", bold=True)
    d.code(176, 440, "(query, key)")
    average = d.box(72, 480, 120, 30, "weights @ value", EMPTY, 13)
    output = d.grid(108, 534, [[OUTPUT] * 3] * 3, cell)
    d.arrow(weights.bottom(), average.top(), ink=WEIGHTS.line)
    d.arrow(value.bottom(), (308, 182), (352, 182), (352, 495), average.right(), ink=VALUE.line)
    d.arrow(average.bottom(), output.top(), ink=OUTPUT.line)
    d.label(176, 548, "output", 13, OUTPUT.ink, "start", bold=True)
    d.code(176, 568, "(query, d_v)")


# --- Lesson 4 -----------------------------------------------------------------------------------------------


PATTERNS = [
    [[3, 0, 0, 0], [0, 3, 0, 0], [0, 0, 3, 0], [0, 0, 0, 3]],  # the scores of four heads
    [[2, 1, 0, 0], [3, 0, 0, 0], [0, 3, 0, 0], [0, 0, 3, 0]],
    [[3, 0, 0, 1], [3, 0, 0, 0], [3, 0, 1, 0], [3, 0, 0, 0]],
    [[0, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]],
]
ROLES = [("query", QUERY), ("key", KEY), ("value", VALUE)]


def four_heads(d, split, merge, pitch, width, cell):
    """Between the two: what each gets of query, key and value, its own weights, and its output."""
    for number, scores in enumerate(PATTERNS):
        card = d.box(merge.x + pitch * number, split.y + split.height + 26, width, 46 + 4 * cell, colour=EMPTY)
        middle = card.middle[0]
        d.label(middle, card.y + 17, f"head {number}", bold=True)
        weights = [[shade(weight) for weight in softmax(row)] for row in scores]
        d.grid(middle - 2 * cell, card.y + 34, weights, cell)
        for share, (_, colour) in zip([0.2, 0.5, 0.8], ROLES, strict=True):
            x = card.top(share)[0]
            d.arrow((x, split.y + split.height), (x, card.y), ink=colour.line)
        d.arrow(card.bottom(), (middle, merge.y), ink=OUTPUT.line)


@diagram(height=478)
def multi_head_attention(d):
    """Multi-head attention asks several questions at once

    From top to bottom, with shapes. Query, key and value, each (batch, length, d_model), are projected, and their
    features are split into heads: (batch, heads, length, d_head). Every head runs scaled dot-product attention on
    its own slices, and so has its own weights: (batch, heads, query, key). The four heads of the picture look at
    four different places. Their outputs are merged, side by side, and mixed by one more projection: (batch,
    length, d_model).
    """
    split = d.box(40, 128, 456, 34, "project, and split into heads", EMPTY)
    for x, (name, colour) in zip([100, 268, 436], ROLES, strict=True):
        top = d.box(x - 60, 66, 120, 32, name, colour, bold=True)
        d.arrow(top.bottom(), (x, split.y), ink=colour.line)
    merge = d.box(40, 358, 456, 34, "merge the heads, and mix", EMPTY)
    four_heads(d, split, merge, 117.33, 104, 22)
    output = d.box(208, 422, 120, 32, "output", OUTPUT, bold=True)
    d.arrow(merge.bottom(), output.top(), ink=OUTPUT.line)
    for y, shape in [
        (82, "(batch, length, d_model)"),
        (145, "(batch, heads, length, d_head)"),
        (281, "(batch, heads, query, key)"),
        (438, "(batch, length, d_model)"),
    ]:
        d.code(520, y, shape)
    d.label(520, 258, "a map of weights for each", bold=True, ink=WEIGHTS.ink, align="start")


@narrow(height=510)
def narrow_multi_head_attention(d):
    d.label(LEFT, 76, "each `(batch, length, d_model)`", 13, MUTED, "start")
    split = d.box(LEFT, 152, 352, 46, "project, and split into heads:\n`(batch, heads, length, d_head)`", EMPTY, 13)
    for x, (name, colour) in zip([66, 190, 314], ROLES, strict=True):
        top = d.box(x - 48, 94, 96, 32, name, colour, bold=True)
        d.arrow(top.bottom(), (x, split.y), ink=colour.line)
    merge = d.box(LEFT, 366, 352, 34, "merge the heads, and mix", EMPTY, 13)
    four_heads(d, split, merge, 90.66, 80, 17)
    output = d.box(130, 422, 120, 32, "output", OUTPUT, bold=True)
    d.arrow(merge.bottom(), output.top(), ink=OUTPUT.line)
    d.label(LEFT, 482, "weights: `(batch, heads, query, key)`", 12, WEIGHTS.ink, "start")


SPLIT = 4, 3, 2  # length, heads, d_head


def numbers_by_head():
    """Which numbers each head gets, (heads, length, d_head): by reshape and transpose, and by view alone."""
    length, heads, d_head = SPLIT
    right = [
        [
            [heads * d_head * position + d_head * head + feature for feature in range(d_head)]
            for position in range(length)
        ]
        for head in range(heads)
    ]
    wrong = [
        [
            [length * d_head * head + d_head * position + feature for feature in range(d_head)]
            for position in range(length)
        ]
        for head in range(heads)
    ]
    return right, wrong


def rows_and_memory(d):
    """The sequence as a matrix, and below it as it lies in memory: returns its cells."""
    length, heads, d_head = SPLIT
    cells = [(HEADS[n // d_head % heads], n) for n in range(length * heads * d_head)]
    features = heads * d_head
    d.label(MARGIN, 74, "one sequence, `(length, d_model)`", 13, align="start")
    for head in range(heads):
        d.label(170 + 68 * head, 98, f"head {head}", 13)
    for position in range(length):
        d.label(124, 123 + 26 * position, f"position {position}", 13, align="end")
    d.grid(136, 110, [cells[features * row : features * (row + 1)] for row in range(length)], 34, 26)
    d.label(
        376,
        162,
        "`d_model` = 6 features,\n`num_heads` = 3, so `d_head` = 2.\n"
        "The colour shows which head\na feature belongs to.",
        align="start",
    )
    d.label(MARGIN, 240, "in memory, one position after another", 13, MUTED, "start")
    d.grid(MARGIN, 254, [cells], 29.3, 26, size=12)
    return cells


def narrow_rows_and_memory(d):
    length, heads, d_head = SPLIT
    cells = [(HEADS[n // d_head % heads], n) for n in range(length * heads * d_head)]
    d.label(LEFT, 76, "`(length, d_model)`: one sequence, one colour per head", 12, align="start")
    for position in range(length):
        d.label(92, 115 + 26 * position, f"position {position}", 13, align="end")
    d.grid(104, 102, [cells[6 * row : 6 * row + 6] for row in range(length)], 34, 26)
    d.label(LEFT, 232, "in memory, one position after another", 13, MUTED, "start")
    d.grid(LEFT, 246, [cells[:12], cells[12:]], 29.3, 26, size=12)
    return cells


@diagram(height=300)
def features_in_memory(d):
    """In memory, one position follows another

    A matrix of four positions and six features; the colour of a feature shows which of three heads it
    belongs to. Below it, the same numbers in memory: the rows follow one another, numbered 0 to 23.
    """
    rows_and_memory(d)


@narrow(height=320)
def narrow_features_in_memory(d):
    narrow_rows_and_memory(d)


@diagram(height=588)
def split_and_merge(d):
    """Heads are cut from the features, not from the positions

    A matrix of four positions and six features; the colour of a feature shows which of three heads it
    belongs to. In memory the rows follow one another, numbered 0 to 23. Right: reshape to (length, heads,
    d_head), then transpose: every head gets its own two features of all four positions, one colour per head.
    Wrong: view as (heads, length, d_head) at once: head 0 gets all the features of position 0 and the first
    two of position 1, and all colours are scrambled.
    """
    two_splits(d, rows_and_memory(d), [(MARGIN, 316), (402, 316)])


def two_splits(d, cells, places):
    """Right and wrong, each from the place given."""
    right, wrong = numbers_by_head()
    panels = [
        (
            right,
            "Right: reshape, then transpose",
            VALUE,
            "x.reshape(batch, length, num_heads, d_head)\n.transpose(1, 2)",
            "Each head has its own features\nof every position. Merging undoes\nthe two steps in reverse order.",
        ),
        (
            wrong,
            "Wrong: view alone",
            OUTPUT,
            "x.view(batch, num_heads, length, d_head)\n",
            "The shape is right, but the contents are not:\nevery head gets features meant for all three,\n"
            "and its rows no longer match the positions.",
        ),
    ]
    for (x, y), (grids, heading, colour, code, caption) in zip(places, panels, strict=True):
        d.label(x, y, heading, 15, colour.ink, "start", bold=True)
        d.code(x, y + 30, code)
        for head, grid in enumerate(grids):
            d.label(x + 30 + 96 * head, y + 68, f"head {head}", 13)
            d.grid(x + 96 * head, y + 80, [[cells[n] for n in row] for row in grid], 30, 26)
        d.label(x, y + 226, caption, 13, align="start")


@narrow(height=920)
def narrow_split_and_merge(d):
    two_splits(d, narrow_rows_and_memory(d), [(LEFT, 336), (LEFT, 632)])
