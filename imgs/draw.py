"""Draws the course's diagrams: `python imgs/draw.py` writes every SVG of this folder, of narrow/, which phones show,
and of dark/, always the same.

One function draws one diagram and bears its file's name; below it stands the one that draws it narrow. The
first one's docstring is the alternative text: its first line, which also stands in the picture, states the finding;
the rest says what there is to see. Pictures of numbers that a model computes are not drawn here but in
transformer_lessons/inspection/plots.py.

A role keeps its colour in all diagrams, and its name stands beside it: the colours are Okabe and Ito's, which
colour-blind eyes can tell apart. Code is set in a monospaced font, and its names are the package's.
"""

import math
import re
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

FOLDER = Path(__file__).parent
WIDTH, NARROW = 760, 380  # about a notebook's column, and a phone
MARGIN, LEFT = 28, 14  # left and right, in wide diagrams and in narrow ones
SANS = "-apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SMALLEST = 12  # pixels; nothing is set smaller


class Colour(NamedTuple):
    line: str
    fill: str
    ink: str


INK, MUTED, LINE, PAPER, WHITE = "#1f2328", "#59636e", "#7d8690", "#fdfdfb", "#ffffff"
PLAIN = Colour(LINE, "#eef0f2", INK)
EMPTY = Colour(LINE, WHITE, INK)
PANEL = Colour("#d0d7de", "#f5f6f8", INK)
QUERY = Colour("#cc79a7", "#f8e6f0", "#8a2f63")
KEY = Colour("#e69f00", "#fdf0d0", "#7a5200")
VALUE = Colour("#009e73", "#d6f1e8", "#00614a")
WEIGHTS = Colour("#0072b2", "#d9ebf7", "#00507d")
OUTPUT = Colour("#d55e00", "#fbe1d0", "#8f3d00")
HEADS = [Colour(LINE, "#f7eb9c", INK), Colour(LINE, "#8ecbf0", INK), Colour(LINE, "#56606b", WHITE)]

# What an element leaves out, since the group around all of them says it.
INHERITED = {"font_size": 14, "text_anchor": "middle", "fill": INK, "stroke_width": 1.5, "stroke_linejoin": "round"}

DIAGRAMS = {}  # the name of each diagram: (the function that draws it, its width, its height)


def diagram(height):
    """Enters a function among the diagrams."""

    def enter(function):
        DIAGRAMS[function.__name__] = function, WIDTH, height
        return function

    return enter


def narrow(height):
    """Enters a function that draws the diagram before it as phones show it."""

    def enter(function):
        DIAGRAMS[f"narrow/{list(DIAGRAMS)[-1].removeprefix('narrow/')}"] = function, NARROW, height
        return function

    return enter


# --- The helpers --------------------------------------------------------------------------------------------


class Box(NamedTuple):
    """A rectangle; its sides are the points where arrows begin and end."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self):
        return self.x + self.width / 2, self.y + self.height / 2

    def top(self, share=0.5):
        return self.x + share * self.width, self.y

    def bottom(self, share=0.5):
        return self.x + share * self.width, self.y + self.height

    def left(self, share=0.5):
        return self.x, self.y + share * self.height

    def right(self, share=0.5):
        return self.x + self.width, self.y + share * self.height


def number(value):
    """At most two decimals, no minus zero: the same bytes on every machine."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def path(points):
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


def attributes(**values):
    pairs = (
        (name.replace("_", "-"), number(value) if isinstance(value, (int, float)) else value)
        for name, value in values.items()
        if value is not None
    )
    return "".join(f' {name}="{value}"' for name, value in pairs)


class Drawing:
    """The elements of one diagram, in the order in which they are painted."""

    def __init__(self, width, height):
        self.width, self.height, self.elements = width, height, []

    def add(self, tag, text=None, **values):
        values = {name: value for name, value in values.items() if INHERITED.get(name) != value}
        end = "/>" if text is None else f">{text}</{tag}>"
        self.elements.append(f"<{tag}{attributes(**values)}{end}")

    def label(self, x, y, text, size=14, ink=INK, align="middle", bold=False):
        """Lines of text around the height y. `code`, *italic* and _{subscript} are marked as here."""
        lines = text.split("\n")
        for index, line in enumerate(lines):
            middle = y + (index - (len(lines) - 1) / 2) * 1.4 * size
            self.add(
                "text",
                spans(line, size),
                x=x,
                y=middle + 0.35 * size,
                font_size=size,
                fill=ink,
                text_anchor=align,
                font_weight="bold" if bold else None,
            )

    def code(self, x, y, text, size=SMALLEST, ink=INK, align="start"):
        self.label(x, y, "\n".join(f"`{line}`" for line in text.split("\n")), size, ink, align)

    def box(self, x, y, width, height, text="", colour=PLAIN, size=14, radius=8, bold=False):
        self.add("rect", x=x, y=y, width=width, height=height, rx=radius, fill=colour.fill, stroke=colour.line)
        box = Box(x, y, width, height)
        if text:
            self.label(*box.middle, text, size, colour.ink, bold=bold)
        return box

    def line(self, *points, ink=LINE, width=1.5, dashed=False):
        self.add(
            "path",
            d=path(points),
            fill="none",
            stroke=ink,
            stroke_width=width,
            stroke_dasharray="4 4" if dashed else None,
        )

    def arrow(self, *points, ink=LINE, width=1.5, dashed=False):
        """Through all the points; the tip lies exactly on the last."""
        (x0, y0), (x, y) = points[-2:]
        length = math.dist((x0, y0), (x, y))
        dx, dy = (x - x0) / length, (y - y0) / length
        back, half = (9.5, 4.5) if width < 3 else (13, 7)
        base = x - back * dx, y - back * dy
        left, right = (base[0] - half * dy, base[1] + half * dx), (base[0] + half * dy, base[1] - half * dx)
        self.line(*points[:-1], (base[0] + dx, base[1] + dy), ink=ink, width=width, dashed=dashed)
        self.add("path", d=path([(x, y), left, right]) + "Z", fill=ink)

    def grid(self, x, y, rows, width=22, height=None, colour=PLAIN, size=13):
        """A table of cells. A cell is a Colour, a text, or a pair (Colour, text)."""
        height = height or width
        cells = [
            [
                cell if type(cell) is tuple else (cell, "") if isinstance(cell, Colour) else (colour, cell)
                for cell in row
            ]
            for row in rows
        ]
        squares = {}
        for i, row in enumerate(cells):
            for j, (own, _) in enumerate(row):
                corner = f"M{number(x + j * width)} {number(y + i * height)}"
                squares.setdefault((own.fill, own.line), []).append(
                    f"{corner}h{number(width)}v{number(height)}h{number(-width)}z"
                )
        for (fill, line), paths in squares.items():
            self.add("path", d="".join(paths), fill=fill, stroke=line)
        if any(text != "" for row in cells for _, text in row):
            self.elements.append(f"<g{attributes(font_size=size)}>")
            for i, row in enumerate(cells):
                for j, (own, text) in enumerate(row):
                    self.add(
                        "text",
                        spans(str(text), size),
                        x=x + (j + 0.5) * width,
                        fill=own.ink,
                        y=y + (i + 0.5) * height + 0.35 * size,
                    )
            self.elements.append("</g>")
        return Box(x, y, len(rows[0]) * width, len(rows) * height)

    def vector(self, x, y, features, colour, cell=20):
        return self.grid(x, y, [[colour] * features], cell)

    def bar(self, x, y, width, share):
        """How much of a whole."""
        self.add("rect", x=x, y=y, width=width, height=6, rx=3, fill="#dfe3e8")
        self.add("rect", x=x, y=y, width=width * share, height=6, rx=3, fill=WEIGHTS.line)

    def plus(self, x, y, ink=INK):
        """The sum of what flows in."""
        self.add("circle", cx=x, cy=y, r=11, fill=WHITE, stroke=ink)
        self.line((x - 6, y), (x + 6, y), ink=ink)
        self.line((x, y - 6), (x, y + 6), ink=ink)
        return Box(x - 11, y - 11, 22, 22)

    def svg(self, more=""):
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
                f'viewBox="0 0 {self.width} {self.height}" {more}>',
                f'<g font-family="{SANS}"{attributes(**INHERITED)}>',
                *self.elements,
                "</g>",
                "</svg>",
                "",
            ]
        )


def spans(line, size):
    """The tspans of a line in which `code`, *italic* and _{subscript} are marked."""
    parts, lowered = [], False
    for part in re.findall(r"`[^`]+`|\*[^*]+\*|_\{[^}]+\}|(?:[^`*_]|_(?!\{))+", line):
        values = {}
        if lowered:
            values["dy"] = -4
        lowered = part.startswith("_{")
        if lowered:
            values.update(dy=4, font_size=max(SMALLEST, round(0.72 * size)))
            part = part[2:-1]
        elif part.startswith("`"):
            values["font_family"] = MONO
            part = part[1:-1]
            if part.startswith(" ") or "  " in part:
                part = part.replace(" ", "\u00a0")  # indents and columns stay as they are
        elif part.startswith("*"):
            values["font_style"] = "italic"
            part = part[1:-1]
        parts.append(f"<tspan{attributes(**values)}>{escape(part)}</tspan>" if values else escape(part))
    return "".join(parts)


def alternative_text(function):
    """(title, description) from a docstring."""
    title, _, description = function.__doc__.partition("\n\n")
    return " ".join(title.split()), " ".join(description.split())


def shade(weight):
    """A cell of attention weights: the more weight, the darker."""
    low, high = ([int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in (WHITE, WEIGHTS.line))
    mixed = "".join(f"{round(a + (b - a) * weight):02x}" for a, b in zip(low, high, strict=True))
    return Colour(LINE, f"#{mixed}", "#000000" if weight < 0.93 else WHITE)


def dot(first, second):
    return sum(a * b for a, b in zip(first, second, strict=True))


def softmax(scores):
    return [math.exp(score) / sum(map(math.exp, scores)) for score in scores]


def draw(name):
    """The text of one diagram's SVG, on a card of its own, so that it can be read on a dark page too."""
    function, width, height = DIAGRAMS[name]
    name = name.removeprefix("narrow/")
    title, description = alternative_text(DIAGRAMS[name][0])
    drawing = Drawing(width, height)
    if width == WIDTH:
        drawing.label(MARGIN, 36, title, size=17, align="start", bold=True)
    else:
        wrapped = [textwrap.wrap(title, letters) for letters in range(20, 35)]
        lines = next(lines for lines in wrapped if len(lines) == len(wrapped[-1]))  # of about the same length
        drawing.label(LEFT, 15 + 10.5 * len(lines), "\n".join(lines), size=15, align="start", bold=True)
    function(drawing)
    card = Box(1, 1, width - 2, height - 2)
    svg = drawing.svg(f'role="img" aria-labelledby="{name}-title {name}-description"')
    frame = attributes(**card._asdict(), rx=14, fill=PAPER, stroke="#d0d7de", stroke_width=1.5)
    return svg.replace(
        "<g ",
        f'<title id="{name}-title">{escape(title)}</title>\n<desc id="{name}-description">'
        f"{escape(description)}</desc>\n<rect{frame}/>\n<g ",
        1,
    )


def in_the_dark(svg):
    """The same picture for dark pages: every colour keeps its hue, and light and dark change places."""
    return re.sub(r"#[0-9a-f]{6}", lambda colour: turned(colour[0]), svg)


def turned(colour):
    """A colour with its lightness, as eyes see it (Ottosson's Oklab), turned from light to dark and back."""
    linear = [(int(colour[i : i + 2], 16) / 255) ** 2.2 for i in (1, 3, 5)]
    lms = [
        dot(row, linear) ** (1 / 3)
        for row in ((0.4122, 0.5363, 0.0514), (0.2119, 0.6807, 0.1074), (0.0883, 0.2817, 0.6300))
    ]
    light, a, b = (
        dot(row, lms) for row in ((0.2105, 0.7936, -0.0041), (1.9780, -2.4286, 0.4506), (0.0259, 0.7828, -0.8087))
    )
    light = 0.22 + 0.74 * (1 - min(light, 1)) ** 0.7
    lms = [(light + x * a + y * b) ** 3 for x, y in ((0.3963, 0.2158), (-0.1056, -0.0639), (-0.0895, -1.2915))]
    mixed = (
        dot(row, lms) for row in ((4.0767, -3.3077, 0.2310), (-1.2684, 2.6098, -0.3413), (-0.0042, -0.7034, 1.7076))
    )
    return "#" + "".join(f"{round(255 * min(max(one, 0), 1) ** (1 / 2.2)):02x}" for one in mixed)


def main():
    (FOLDER / "dark/narrow").mkdir(parents=True, exist_ok=True)
    (FOLDER / "narrow").mkdir(exist_ok=True)
    for name in DIAGRAMS:
        for path, svg in ((f"{name}.svg", draw(name)), (f"dark/{name}.svg", in_the_dark(draw(name)))):
            with open(FOLDER / path, "w", encoding="utf-8", newline="\n") as file:
                file.write(svg)


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


def one_query(d, middle, apart=0):
    """A query's scores, weights and output; apart is for more room between the keys and the softmax."""
    for x, text in [(235 - apart, "scores"), (413, "weights")]:
        d.label(x, middle - 78, text, ink=MUTED)
    query = d.box(28, middle - 18, 80, 36, "query 1", QUERY)
    tall = d.box(268 + apart, middle - 62, 88 - apart, 124, "softmax", WEIGHTS)
    total = d.plus(590, middle)
    output = d.box(632, middle - 18, 100, 36, "output 1", OUTPUT)
    scores = [1.0, 2.0, 0.2]
    for row, (score, weight) in enumerate(zip(scores, softmax(scores), strict=True)):
        y = middle + 44 * (row - 1)
        key = d.box(150 - apart, y - 15, 60, 30, f"key {row}", KEY)
        d.arrow(query.right(), key.left(), ink=QUERY.line)
        d.label(235 - apart, y - 10, f"{score:.1f}", size=13)
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


def narrow_one_query(d, y, apart=0):
    query = d.box(148, y, 84, 30, "query 1", QUERY, 13)
    tall = d.box(LEFT + 12, y + 120 + apart, 328, 30, "softmax", WEIGHTS, 13)
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


@diagram(height=248)
def where_to_scale(d):
    """So far, the scores go straight into the softmax

    Query 1 meets the keys of all three positions; softmax turns their dot products, the scores, into weights,
    and averaging the values with these weights gives output 1. A dashed line between the scores and the softmax
    bears the question: divide by the square root of d?
    """
    one_query(d, 148, apart=14)
    d.line((254, 82), (254, 214), ink=INK, dashed=True)
    d.label(254, 228, "÷ √*d* ?", 16, bold=True)


@narrow(height=410)
def narrow_where_to_scale(d):
    narrow_one_query(d, 66, apart=24)
    d.line((44, 190), (316, 190), ink=INK, dashed=True)
    d.label(343, 190, "÷ √*d* ?", 13, bold=True)


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
PROJECTIONS = [("query", "linear_q", QUERY), ("key", "linear_k", KEY), ("value", "linear_v", VALUE)]


def four_heads(d, y, pitch, width, start, merge):
    """Each has its own slices of query, key and value, cut at start, and its own weights; merge takes its output."""
    for number, scores in enumerate(PATTERNS):
        card = d.box(merge.x + pitch * number, y, width, 124, colour=EMPTY)
        d.label(card.middle[0], y + 32, f"head {number}", bold=True)
        d.grid(card.middle[0] - 30, y + 50, [[shade(weight) for weight in softmax(row)] for row in scores], 15)
        for share, (name, _, colour) in zip([0.18, 0.5, 0.82], PROJECTIONS, strict=True):
            x = card.top(share)[0]
            chip = d.box(x - width / 8, y - 14, width / 4, 26, name[0], colour, radius=4)
            d.arrow((x, start), chip.top(), ink=colour.line)
        d.arrow(card.bottom(), (card.middle[0], merge.y), ink=OUTPUT.line)


@diagram(height=600)
def multi_head_attention(d):
    """Multi-head attention asks several questions at once

    From top to bottom, with shapes. Query, key and value, each (batch, length, d_model), pass through
    linear_q, linear_k and linear_v. split_heads cuts the features of each into heads: (batch, heads, length,
    d_head). Every head runs scaled dot-product attention on its own slices, and so has its own weights:
    (batch, heads, query, key). merge_heads puts the heads' outputs side by side again, (batch, length,
    d_model), and linear_out mixes them.
    """
    split = d.box(40, 190, 456, 32, "`split_heads`", EMPTY)
    for x, (name, linear, colour) in zip([100, 268, 436], PROJECTIONS, strict=True):
        top = d.box(x - 60, 66, 120, 32, name, colour, bold=True)
        projection = d.box(x - 60, 128, 120, 32, f"`{linear}`", colour)
        d.arrow(top.bottom(), projection.top(), ink=colour.line)
        d.arrow(projection.bottom(), (x, split.y), ink=colour.line)
    merge = d.box(40, 422, 456, 32, "`merge_heads`", EMPTY)
    four_heads(d, 264, 117.33, 104, 222, merge)
    out = d.box(208, 482, 120, 32, "`linear_out`", EMPTY)
    output = d.box(208, 542, 120, 32, "output", OUTPUT, bold=True)
    d.arrow(merge.bottom(), out.top(), ink=OUTPUT.line)
    d.arrow(out.bottom(), output.top(), ink=OUTPUT.line)
    for y, shape in [
        (82, "(batch, length, d_model)"),
        (144, "(batch, length, d_model)"),
        (236, "(batch, heads, length, d_head)"),
        (362, "(batch, heads, query, key)"),
        (406, "(batch, heads, length, d_head)"),
        (438, "(batch, length, d_model)"),
        (558, "(batch, length, d_model)"),
    ]:
        d.code(520, y, shape)
    d.code(520, 288, "scaled_dot_product_attention")
    d.label(520, 307, "for all heads at once", 13, MUTED, "start")
    d.label(520, 343, "weights", bold=True, ink=WEIGHTS.ink, align="start")


@narrow(height=684)
def narrow_multi_head_attention(d):
    d.label(LEFT, 76, "each `(batch, length, d_model)`", 13, MUTED, "start")
    split = d.box(LEFT, 206, 352, 46, "`split_heads`\n`→ (batch, heads, length, d_head)`", EMPTY, 13)
    for x, (name, linear, colour) in zip([66, 190, 314], PROJECTIONS, strict=True):
        top = d.box(x - 48, 94, 96, 32, name, colour, bold=True)
        projection = d.box(x - 48, 150, 96, 32, f"`{linear}`", colour, 13)
        d.arrow(top.bottom(), projection.top(), ink=colour.line)
        d.arrow(projection.bottom(), (x, split.y), ink=colour.line)
    merge = d.box(LEFT, 440, 352, 46, "`merge_heads`\n`→ (batch, length, d_model)`", EMPTY, 13)
    four_heads(d, 290, 90.66, 80, 252, merge)
    out = d.box(130, 508, 120, 32, "`linear_out`", EMPTY)
    output = d.box(130, 564, 120, 32, "output", OUTPUT, bold=True)
    d.arrow(merge.bottom(), out.top(), ink=OUTPUT.line)
    d.arrow(out.bottom(), output.top(), ink=OUTPUT.line)
    d.label(LEFT, 634, "In all heads at once: `scaled_dot_product_attention`", 12, MUTED, "start")
    d.label(LEFT, 656, "weights: `(batch, heads, query, key)`", 12, WEIGHTS.ink, "start")


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


@diagram(height=588)
def split_and_merge(d):
    """Heads are cut from the features, not from the positions

    A matrix of four positions and six features; the colour of a feature shows which of three heads it
    belongs to. In memory the rows follow one another, numbered 0 to 23. Right: reshape to (length, heads,
    d_head), then transpose: every head gets its own two features of all four positions, one colour per head.
    Wrong: view as (heads, length, d_head) at once: head 0 gets all the features of position 0 and the first
    two of position 1, and all colours are scrambled.
    """
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

    two_splits(d, cells, [(MARGIN, 316), (402, 316)])


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
    length, heads, d_head = SPLIT
    cells = [(HEADS[n // d_head % heads], n) for n in range(length * heads * d_head)]
    d.label(LEFT, 76, "`(length, d_model)`: one sequence, one colour per head", 12, align="start")
    for position in range(length):
        d.label(92, 115 + 26 * position, f"position {position}", 13, align="end")
    d.grid(104, 102, [cells[6 * row : 6 * row + 6] for row in range(length)], 34, 26)
    d.label(LEFT, 232, "in memory, one position after another", 13, MUTED, "start")
    d.grid(LEFT, 246, [cells[:12], cells[12:]], 29.3, 26, size=12)
    two_splits(d, cells, [(LEFT, 336), (LEFT, 632)])


# --- Lesson 5 -----------------------------------------------------------------------------------------------


def sinusoids(position, d_model):
    """One row of the encoding: the sine and the cosine of each hand's angle."""
    angles = [position / 10000 ** (even / d_model) for even in range(0, d_model, 2)]
    return [wave(angle) for angle in angles for wave in (math.sin, math.cos)]


@diagram(height=520)
def positional_clock(d):
    """Clock hands tell the position, just as they tell the time

    Four hands, one for each pair of eight features, at the positions 0, 1, 2, 3, 10 and 100. All start
    upwards and turn clockwise. The first turns by 1 radian per position and makes a full turn in 6.3
    positions. Each of the others is ten times slower than the one before, so they need 63, 628 and 6283
    positions. The tip of each hand gives two features: a sine (how far to the right) and a cosine (how far
    up). Below, position 3 as a row of the encoding: 0.14, −0.99, 0.30, 0.96, 0.03, 1.00, 0.00, 1.00.
    """
    d_model, positions, radius = 8, [0, 1, 2, 3, 10, 100], 27
    d.label(MARGIN, 76, "position", align="start", bold=True)
    for column, position in enumerate(positions):
        x = 182 + 78 * column
        d.label(x, 76, str(position), bold=True)
        encoding = sinusoids(position, d_model)
        for hand in range(d_model // 2):
            y = 124 + 72 * hand
            sine, cosine = encoding[2 * hand : 2 * hand + 2]
            d.add("circle", cx=x, cy=y, r=radius, fill=WHITE, stroke=LINE)
            d.line((x, y), (x + radius * sine, y - radius * cosine), ink=INK, width=2)
            d.add("circle", cx=x + radius * sine, cy=y - radius * cosine, r=4)
    for hand in range(d_model // 2):
        y = 124 + 72 * hand
        turn = 2 * math.pi * 10000 ** (2 * hand / d_model)
        d.label(MARGIN, y, f"features\n{2 * hand} and {2 * hand + 1}", 13, align="start")
        d.label(626, y, f"full turn in\n{turn:.{1 if turn < 10 else 0}f} positions", 13, MUTED, "start")
    d.label(
        MARGIN,
        412,
        "The tip of each hand gives two features: a sine (how far right) and a cosine (how far up). Position 3:",
        13,
        align="start",
    )
    cells = [f"{feature:.2f}".replace("-", "−") for feature in sinusoids(3, d_model)]
    row = d.grid(MARGIN, 450, [cells], 88, 32, EMPTY)
    for feature in range(d_model):
        d.label(row.x + 88 * (feature + 0.5), 438, ["sine", "cosine"][feature % 2], 12, MUTED)
    d.code(MARGIN, 500, "sinusoidal_encoding(4, 8)[3]", ink=MUTED)


@narrow(height=548)
def narrow_positional_clock(d):
    positions, radius = [0, 1, 2, 3, 10, 100], 22
    d.label(LEFT, 76, "position", 13, align="start")
    for column, position in enumerate(positions):
        x = 84 + 52.4 * column
        d.label(x, 76, str(position), 13, bold=True)
        encoding = sinusoids(position, 8)
        for hand in range(4):
            y, (sine, cosine) = 126 + 76 * hand, encoding[2 * hand : 2 * hand + 2]
            d.add("circle", cx=x, cy=y, r=radius, fill=WHITE, stroke=LINE)
            d.line((x, y), (x + radius * sine, y - radius * cosine), ink=INK, width=2)
            d.add("circle", cx=x + radius * sine, cy=y - radius * cosine, r=3.5)
    for hand in range(4):
        turn = 2 * math.pi * 10000 ** (2 * hand / 8)
        d.label(LEFT, 126 + 76 * hand, f"{2 * hand} and {2 * hand + 1}", 12, align="start")
        d.label(
            NARROW - LEFT,
            160 + 76 * hand,
            f"features {2 * hand} and {2 * hand + 1}: full turn in {turn:.{1 if turn < 10 else 0}f} positions",
            12,
            MUTED,
            "end",
        )
    d.label(
        LEFT,
        436,
        "The tip of each hand gives two features: a sine (how\nfar right) and a cosine (how far up). Position 3:",
        13,
        align="start",
    )
    d.grid(LEFT, 466, [[f"{feature:.2f}".replace("-", "−") for feature in sinusoids(3, 8)]], 44, 32, EMPTY, size=12)
    d.code(LEFT, 524, "sinusoidal_encoding(4, 8)[3]", ink=MUTED)


@diagram(height=372)
def fast_and_slow_hand(d):
    """Beyond distance 15, only the slow hand goes where it has never been

    Two clocks, one for each pair of four features. A hand starts upwards and turns clockwise, as far as the
    distance between query and key tells it to. In training it has met the distances 0 to 15, which are drawn
    as hands; the distances 16 to 47 are new, and drawn as dots around the clock. The fast hand, with frequency
    1, has been round more than twice in training, so each of its dots lies close to a hand. The slow one, with
    frequency 0.01, has turned by 9 degrees, and its dots lie beyond: they go on to 27 degrees.
    """
    two_clocks(d, [(190, 184), (570, 184)], radius=92, names_at=316, size=14)
    d.label(WIDTH / 2, 166, "hands: 0 to 15\npositions back,\nmet in training", 13, WEIGHTS.ink)
    d.label(WIDTH / 2, 236, "dots: 16 to 47\npositions back", 13, OUTPUT.ink)


def two_clocks(d, middles, radius, names_at, size):
    """The hand of each clock at the distances 0 to 15, and a dot around it at 16 to 47."""
    names = ["*fast hand*\n1 radian per position", "*slow hand*\n0.01 radians per position"]
    for hand, (x, y) in enumerate(middles):
        d.add("circle", cx=x, cy=y, r=radius, fill=WHITE, stroke=LINE)
        for distance in range(48):
            sine, cosine = sinusoids(distance, 4)[2 * hand : 2 * hand + 2]
            if distance < 16:
                d.line((x, y), (x + radius * sine, y - radius * cosine), ink=WEIGHTS.line, width=2)
            else:
                around = radius + 9
                d.add("circle", cx=x + around * sine, cy=y - around * cosine, r=3, fill=OUTPUT.line)
        d.label(x, names_at, names[hand], size)


@narrow(height=352)
def narrow_fast_and_slow_hand(d):
    two_clocks(d, [(98, 156), (282, 156)], radius=64, names_at=258, size=12)
    d.label(NARROW / 2, 300, "hands: 0 to 15 positions back, met in training", 12, WEIGHTS.ink)
    d.label(NARROW / 2, 322, "dots: 16 to 47 positions back", 12, OUTPUT.ink)


# --- Lesson 6 -----------------------------------------------------------------------------------------------

TOKENS = ["we", "read", "on", "pad", "pad"]
ALLOWED, FORBIDDEN = Colour(LINE, "#a9d0ea", INK), Colour(LINE, WHITE, INK)


def mask_grids():
    """The causal mask, the padding mask (one row, repeated for every query), and both."""
    places = range(len(TOKENS))
    causal = [[key <= query for key in places] for query in places]
    padding = [[TOKENS[key] != "pad" for key in places] for _ in places]
    both = [[a and b for a, b in zip(*rows, strict=True)] for rows in zip(causal, padding, strict=True)]
    return causal, padding, both


def one_mask(d, x, top, allowed, cell, names_rows):
    grid = d.grid(x, top, [[ALLOWED if yes else FORBIDDEN for yes in row] for row in allowed], cell)
    for i, row in enumerate(allowed):
        for j, yes in enumerate(row):
            if yes:
                d.add("circle", cx=x + cell * (j + 0.5), cy=top + cell * (i + 0.5), r=5, fill=WEIGHTS.ink)
    for place, token in enumerate(TOKENS):
        d.label(x + cell * (place + 0.5), top - 12, token, 12)
        if names_rows:
            d.label(x - 8, top + cell * (place + 0.5), token, 13, align="end")
    return grid


@diagram(height=352)
def masks(d):
    """A mask says who may attend to whom

    Three grids for the tokens we, read, on, pad, pad; rows ask, columns answer, and a dot means True: may
    attend. The causal mask allows each position itself and what came before it: a lower triangle. The padding
    mask allows every query the three real tokens and no padding: three full columns. Combined with &, a query
    may attend to a key where both allow it: the triangle without its last two columns.
    """
    cell, top = 32, 126
    names = ["`causal_mask(5)`", "`padding_mask(tokens, pad_id)`", "both, combined with `&`"]
    for index, allowed in enumerate(mask_grids()):
        grid = one_mask(d, 86 + 224 * index, top, allowed, cell, index == 0)
        d.label(grid.middle[0], 84, names[index], 13)
    for x, sign in [(278, "&"), (502, "=")]:
        d.label(x, top + 2.5 * cell, sign, 22, bold=True)
    for x, colour, text in [(86, ALLOWED, "True: may attend"), (262, FORBIDDEN, "False: may not attend")]:
        d.grid(x, 310, [[colour]], 22)
        d.label(x + 32, 321, text, 13, align="start")
    d.add("circle", cx=97, cy=321, r=5, fill=WEIGHTS.ink)
    d.label(WIDTH - MARGIN, 321, "Rows ask (queries), columns answer (keys).", 13, MUTED, "end")


@narrow(height=548)
def narrow_masks(d):
    cell, names = 27, ["`causal_mask(5)`", "`padding_mask`\n`(tokens, pad_id)`", "both, combined with `&`"]
    for allowed, (x, top), name in zip(mask_grids(), [(52, 130), (230, 130), (140, 334)], names, strict=True):
        grid = one_mask(d, x, top, allowed, cell, x != 230)
        d.label(grid.middle[0], top - 42, name, 12)
    d.label(209, 130 + 2.5 * cell, "&", 20, bold=True)
    d.label(80, 334 + 2.5 * cell, "=", 20, bold=True)
    for x, colour, text in [(LEFT, ALLOWED, "True: may attend"), (190, FORBIDDEN, "False: may not attend")]:
        d.grid(x, 488, [[colour]], 20)
        d.label(x + 28, 498, text, 13, align="start")
    d.add("circle", cx=LEFT + 10, cy=498, r=5, fill=WEIGHTS.ink)
    d.label(LEFT, 528, "Rows ask (queries), columns answer (keys).", 13, MUTED, "start")


# --- Lesson 7 -----------------------------------------------------------------------------------------------

STREAM = "#3d4650"
PITCH = 150  # from one part of a layer to the next


def part_of_layer(d, x, y, name, norm, norm_first, memory=False):
    """The residual stream at x, from y down to y + PITCH: a part reads it, and adds to it what it found."""
    attention = "attention" in name
    colour = WEIGHTS if attention else PLAIN
    roles = [("query", QUERY), ("key", KEY), ("value", VALUE)]
    middle, left, width = x + 176, x + 78, 196
    on_stream = Box(x - 42, y + 110, 84, 28)  # the place of the norm in post-norm
    if norm_first:
        d.line((x, y), (x, y + PITCH), ink=STREAM, width=4)
        reads = (x, y + 8)
        top = Box(left, y + 20, 66 if memory else width, 26)
        d.arrow(reads, (top.middle[0], reads[1]), top.top(), ink=STREAM)
        d.box(*top, f"`{norm}`", EMPTY, 13)
        start, part_y, sum_y = top.y + top.height, y + 74, y + 124
    else:
        d.line((x, y), on_stream.top(), ink=STREAM, width=4)
        d.line(on_stream.bottom(), (x, y + PITCH), ink=STREAM, width=4)
        start, part_y, sum_y = y + 10, y + 38, y + 90
    box = d.box(left, part_y, width, 34, f"`{name}`", colour)
    shares = [0.12, 0.42, 0.72] if attention else [0.5]
    last = shares[0] if memory else shares[-1]
    if not norm_first:
        d.line((x, start), (box.top(last)[0], start), ink=STREAM)
    if memory:
        memory_y = y + 20 if norm_first else y - 26
        source = d.box(left + 76, memory_y, width - 76, 26, "memory", OUTPUT, 13)
        memory_start = source.y + source.height
    for share, (role, own) in zip(shares, roles, strict=False):
        tip = box.top(share)
        from_y = memory_start if memory and share > shares[0] else start
        d.arrow((tip[0], from_y), tip, ink=own.line if attention else STREAM)
        if attention:
            d.label(tip[0] + 6, (from_y + tip[1]) / 2 - 3, role, 12, own.ink, "start")
    total = d.plus(x, sum_y, STREAM)
    d.arrow(box.bottom(), (middle, sum_y), total.right(), ink=STREAM)
    if not norm_first:
        d.box(*on_stream, f"`{norm}`", EMPTY, 13)


def layer(d, parts, codes):
    """Post-norm and pre-norm beside each other, or one below the other."""
    for norm_first, head in enumerate(["post-norm, as in the 2017 paper", "pre-norm"]):
        left, down = LEFT, norm_first * (d.height - 100) / 2
        if d.width == WIDTH:
            left, down = MARGIN + 366 * norm_first, 0
        x, y = left + 54, 128 + down
        d.label(left, 76 + down, head, 15, align="start", bold=True)
        d.code(left, 96 + down, f"norm_first={bool(norm_first)}", ink=MUTED)
        d.label(x - 14, 122 + down, "`x`", 15, align="end")
        d.line((x, 112 + down), (x, y), ink=STREAM, width=4)
        for index, name in enumerate(parts):
            part_of_layer(d, x, y + PITCH * index, name, f"norm_{index + 1}", norm_first, "cross" in name)
        end = y + PITCH * len(parts)
        d.arrow((x, end), (x, end + 22), ink=STREAM, width=4)
        d.label(x - 14, end + 12, "`x`", 15, align="end")
        d.code(left, end + 36 + 8.5 * len(parts), codes[norm_first])
    d.label(MARGIN if d.width == WIDTH else LEFT, d.height - 26, "Dropout is not shown.", 13, MUTED, "start")


@diagram(height=544)
def encoder_layer(d):
    """An encoder layer adds attention, then feed-forward

    Twice the residual stream runs from top to bottom as a thick line. Attention reads it as query, key and
    value, and its output is added to it; then the same with feed_forward. Left, post-norm: norm_1 and norm_2
    are on the residual stream, after each sum. Right, pre-norm: they are on the branches, before each part,
    and there is nothing but sums on the residual stream.
    """
    layer(
        d,
        ["attention", "feed_forward"],
        [
            "x = norm_1(x + attend(x, mask))\nx = norm_2(x + feed_forward(x))",
            "x = x + attend(norm_1(x), mask)\nx = x + feed_forward(norm_2(x))",
        ],
    )


@narrow(height=1000)
def narrow_encoder_layer(d):
    encoder_layer(d)


@diagram(height=710)
def decoder_layer(d):
    """A decoder layer also attends to the encoder's output

    As in the encoder layer, the residual stream runs from top to bottom as a thick line, post-norm on the
    left, pre-norm on the right. Three parts read it and add to it: self_attention, which must not look ahead;
    cross_attention, whose query comes from the stream, while key and value come from the memory, the
    encoder's output; and feed_forward. Each has a norm of its own, norm_1, norm_2 and norm_3.
    """
    layer(
        d,
        ["self_attention", "cross_attention", "feed_forward"],
        [
            "x = norm_1(x + attend(x, mask))\nx = norm_2(x + look_up(x, memory, memory_mask))\n"
            "x = norm_3(x + feed_forward(x))",
            "x = x + attend(norm_1(x), mask)\nx = x + look_up(norm_2(x), memory, memory_mask)\n"
            "x = x + feed_forward(norm_3(x))",
        ],
    )


@narrow(height=1334)
def narrow_decoder_layer(d):
    decoder_layer(d)


@diagram(height=566)
def whole_model(d):
    """The encoder reads the source, the decoder writes the target

    A Transformer, in two columns. Its encoder turns source tokens by an embedding (table and sinusoids),
    num_layers encoder layers with a padding mask, and a norm into the memory. Its decoder turns target tokens
    by an embedding, num_layers decoder layers with a causal and a padding mask, which attend to the memory,
    and a norm into vectors; times the embedding's table these are the logits of the next tokens.
    """
    d.box(20, 60, 346, 482, colour=PANEL, radius=12)
    d.box(394, 60, 346, 482, colour=PANEL, radius=12)
    d.label(193, 84, "`encoder`", 15, bold=True)
    d.label(567, 84, "`decoder`", 15, bold=True)
    stacks, norms = [], []
    for x, tokens, stack, mask in [
        (193, "source tokens", "EncoderLayer", "padding_mask"),
        (567, "target tokens so far", "DecoderLayer", "causal_mask & padding_mask"),
    ]:
        source = d.box(x - 110, 112, 220, 30, tokens, EMPTY)
        embedding = d.box(x - 110, 166, 220, 66, colour=PLAIN)
        d.label(x, 182, "`embedding`")
        d.label(x, 211, "table · √`d_model` + sinusoids", 12, MUTED)
        for shift in (10, 5):
            d.box(x - 110 + shift, 256 + shift, 220, 90, colour=WEIGHTS)
        stacks.append(d.box(x - 110, 256, 220, 90, colour=WEIGHTS))
        d.label(x, 274, f"`num_layers` × `{stack}`", 12, WEIGHTS.ink)
        d.label(x, 302, f"`{mask}`", 12, MUTED)
        norms.append(d.box(x - 44, 380, 88, 28, "`norm`", EMPTY, 13))
        d.arrow(source.bottom(), embedding.top(), ink=STREAM)
        d.arrow(embedding.bottom(), stacks[-1].top(), ink=STREAM)
        d.arrow((x, 356), norms[-1].top(), ink=STREAM)
    memory = d.box(83, 432, 220, 48, colour=OUTPUT)
    d.label(193, 446, "memory", ink=OUTPUT.ink)
    d.code(193, 466, "(batch, source, d_model)", align="middle", ink=MUTED)
    d.arrow(norms[0].bottom(), memory.top(), ink=STREAM)
    d.arrow(memory.right(), (380, 456), (380, 301), stacks[1].left(), ink=OUTPUT.line)
    d.label(567, 330, "attends to the memory", 12, WEIGHTS.ink)
    table = d.box(457, 432, 220, 28, "× the embedding table", PLAIN, 13)
    logits = d.box(457, 482, 220, 48, colour=OUTPUT)
    d.label(567, 496, "logits", ink=OUTPUT.ink)
    d.code(567, 516, "(batch, target, vocabulary)", align="middle", ink=MUTED)
    d.arrow(norms[1].bottom(), table.top(), ink=STREAM)
    d.arrow(table.bottom(), logits.top(), ink=STREAM)


@narrow(height=576)
def narrow_whole_model(d):
    d.box(8, 62, 180, 500, colour=PANEL, radius=12)
    d.box(192, 62, 180, 500, colour=PANEL, radius=12)
    d.label(98, 84, "`encoder`", 15, bold=True)
    d.label(282, 84, "`decoder`", 15, bold=True)
    norms, stacks = [], []
    for x, tokens, stack, mask in [
        (98, "source tokens", "EncoderLayer", "padding_mask"),
        (282, "target tokens so far", "DecoderLayer", "causal_mask &\npadding_mask"),
    ]:
        source = d.box(x - 80, 102, 160, 28, tokens, EMPTY, 13)
        embedding = d.box(x - 80, 150, 160, 68, colour=PLAIN)
        d.label(x, 164, "`embedding`", 13)
        d.label(x, 195, "table · √`d_model`\n+ sinusoids", 12, MUTED)
        for shift in (8, 4, 0):
            box = d.box(x - 80 + shift, 238 + shift, 160, 104, colour=WEIGHTS)
        stacks.append(box)
        d.label(x, 265, f"`num_layers` ×\n`{stack}`", 12, WEIGHTS.ink)
        d.label(x, 302, "\n".join(f"`{line}`" for line in mask.split("\n")), 12, MUTED)
        norms.append(d.box(x - 40, 370, 80, 26, "`norm`", EMPTY, 13))
        d.arrow(source.bottom(), embedding.top(), ink=STREAM)
        d.arrow(embedding.bottom(), box.top(), ink=STREAM)
        d.arrow((x, 350), norms[-1].top(), ink=STREAM)
    d.label(282, 332, "reads the memory", 12, WEIGHTS.ink)
    memory = d.box(28, 418, 140, 28, "memory", OUTPUT, 13)
    d.code(98, 470, "(batch, source,\nd_model)", ink=MUTED, align="middle")
    d.arrow(norms[0].bottom(), memory.top(), ink=STREAM)
    d.arrow(memory.right(), (194, 432), (194, 290), stacks[1].left(), ink=OUTPUT.line)
    times = d.box(202, 418, 160, 28, "× the embedding table", PLAIN, 12)
    logits = d.box(202, 468, 160, 64, colour=OUTPUT)
    d.label(282, 482, "logits", 13, OUTPUT.ink)
    d.code(282, 510, "(batch, target,\nvocabulary)", align="middle", ink=MUTED)
    d.arrow(norms[1].bottom(), times.top(), ink=STREAM)
    d.arrow(times.bottom(), logits.top(), ink=STREAM)


# --- Lesson 8 -----------------------------------------------------------------------------------------------

LINE_OF_A_PLAY = ["My", "␣", "lantern", "␣", "sleeps", ",␣", "and"]


@diagram(height=452)
def next_token(d):
    """From a text to its next token, again and again

    Above, a line is cut at word boundaries into tokens: My, space, lantern, space, sleeps, comma and space,
    and. Below it a row of targets, and under each target its input, the token before it. The model, a
    LanguageModel, turns the row of inputs into logits at every position. In training, the logits of all positions
    are compared with the targets: that is the loss. When the model generates, it reads all the tokens, and the softmax
    of the last logits gives each token a probability; one is drawn and appended to the text, and the model reads again.
    """
    text = d.box(28, 62, 704, 34, "My lantern sleeps, and", EMPTY, 15)
    d.label(392, 111, "`tokenize`: cut at word boundaries", 13, MUTED, "start")
    d.arrow(text.bottom(), (380, 128))
    tokens = d.grid(128, 128, [LINE_OF_A_PLAY], 72, 30, PLAIN)
    d.label(118, 143, "tokens", 13, align="end")
    targets = d.grid(128, 184, [LINE_OF_A_PLAY[1:]], 72, 30, VALUE)
    d.grid(128, 214, [LINE_OF_A_PLAY[:-1]], 72, 30, QUERY)
    d.label(118, 199, "targets", 13, VALUE.ink, "end")
    d.label(118, 229, "inputs", 13, QUERY.ink, "end")
    d.label(570, 214, "`make_sequences`:\ntargets are one\ntoken ahead", 13, MUTED, "start")
    d.arrow((tokens.middle[0] - 36, 158), targets.top())
    d.box(128, 274, 432, 44, "`LanguageModel`, causal", WEIGHTS, 15)
    d.arrow((320, 244), (320, 274), ink=QUERY.line)
    logits = d.box(128, 350, 432, 36, "logits at every position", OUTPUT)
    d.arrow((320, 318), (320, 350), ink=STREAM)
    d.arrow((62, 199), (44, 199), (44, 368), logits.left(), ink=VALUE.line)
    d.label(34, 404, "training: loss = −ln *p*(target), at all positions", 13, VALUE.ink, "start")
    drawn = d.box(612, 352, 120, 32, "next token", OUTPUT)
    d.arrow(logits.right(), drawn.left(), ink=OUTPUT.line)
    d.arrow(drawn.top(0.8), (708, 143), tokens.right(), ink=OUTPUT.line)
    d.label(732, 404, "generating: draw from the softmax of the last logits", 13, OUTPUT.ink, "end")
    d.label(
        MARGIN,
        430,
        "␣ is a space. When generating, the model has no targets: it reads every token, and the new one is appended.",
        13,
        MUTED,
        "start",
    )


@narrow(height=530)
def narrow_next_token(d):
    text = d.box(LEFT, 68, 352, 32, "My lantern sleeps, and", EMPTY, 13)
    d.label(200, 114, "`tokenize`", 12, MUTED, "start")
    tokens = d.grid(22, 130, [LINE_OF_A_PLAY], 48, 28, PLAIN, size=12)
    d.arrow(text.bottom(), tokens.top())
    d.label(22, 190, "targets", 13, VALUE.ink, "start", bold=True)
    d.label(84, 190, "inputs, one behind", 13, QUERY.ink, "start", bold=True)
    d.label(246, 190, "`make_sequences`", 12, MUTED, "start")
    targets = d.grid(46, 206, [LINE_OF_A_PLAY[1:]], 48, 28, VALUE, size=12)
    d.grid(46, 234, [LINE_OF_A_PLAY[:-1]], 48, 28, QUERY, size=12)
    model = d.box(46, 288, 288, 36, "`LanguageModel`, causal", WEIGHTS)
    logits = d.box(46, 350, 288, 34, "logits at every position", OUTPUT)
    d.arrow((190, 262), model.top(), ink=QUERY.line)
    d.arrow(model.bottom(), logits.top(), ink=STREAM)
    d.arrow(targets.left(), (24, 220), (24, 367), logits.left(), ink=VALUE.line)
    d.label(LEFT, 404, "training: loss = −ln *p*(target), at all positions", 13, VALUE.ink, "start")
    drawn = d.box(140, 428, 100, 30, "next token", OUTPUT, 13)
    d.arrow((190, 413), drawn.top(), ink=OUTPUT.line)
    d.arrow(drawn.right(), (366, 443), (366, 144), tokens.right(), ink=OUTPUT.line)
    d.label(LEFT, 480, "generating: read all the tokens, draw from the", 13, OUTPUT.ink, "start")
    d.label(LEFT, 500, "softmax of the last logits, append. ␣ is a space.", 13, OUTPUT.ink, "start")


# --- Lesson 9 -----------------------------------------------------------------------------------------------

RINGS = [  # what becomes of a word, and by which merge
    (["r", "i", "n", "g", "s"], "*rings*, in bytes"),
    (["r", "i", "ng", "s"], "merge 0: n + g"),
    (["r", "ing", "s"], "merge 1: i + ng"),
    (["ring", "s"], "merge 3: r + ing"),
    (["rings"], "merge 4: ring + s"),
]


@diagram(height=392)
def byte_pairs(d):
    """A word from the text becomes one token; a new word stays in pieces

    Five rows show the word rings. In the first it is split into the bytes r, i, n, g and s. Merge 0 joins n and g,
    merge 1 joins i and ng, merge 3 joins r and ing, merge 4 joins ring and s: one token is left. Below, the word
    kings, which is not in the training text, goes the same way as far as it can: k, ing, s are left, since no merge
    joins k and ing, or ing and s.
    """
    rings(d, 244, 48, 62)
    d.label(524, 78, "5 tokens", 13, MUTED, "start")
    d.label(524, 262, "1 token", 13, MUTED, "start")
    d.line((MARGIN, 300), (WIDTH - MARGIN, 300))
    word(d, 262, 48, 318, ["k", "ing", "s"], "ing")
    d.label(244, 334, "*kings*, not in the text", 14, MUTED, "end")
    d.label(524, 334, "3 tokens, after merges 0 and 1", 13, MUTED, "start")
    d.label(
        MARGIN,
        374,
        "The merges were learned from a text with *sing* (5 times), *ring* (3) and *rings* (2); "
        "merge 2 is for you to find.",
        13,
        MUTED,
        "start",
    )


def word(d, x, pitch, y, parts, new):
    for part in parts:
        d.box(x + 2, y, pitch * len(part) - 4, 32, part, VALUE if part == new else PLAIN, 15)
        x += pitch * len(part)


def rings(d, names_end, pitch, top):
    for index, (parts, merge) in enumerate(RINGS):
        y = top + 46 * index
        new = next((part for part in parts if len(part) > 1 and part not in RINGS[index - 1][0]), None)
        word(d, names_end + 18, pitch, y, parts, new)
        d.label(names_end, y + 16, merge, 13 if d.width == NARROW else 14, MUTED, "end")


@narrow(height=442)
def narrow_byte_pairs(d):
    rings(d, 128, 44, 68)
    d.line((LEFT, 310), (NARROW - LEFT, 310))
    d.label(128, 342, "*kings*, not\nin the text", 13, MUTED, "end")
    word(d, 146, 44, 326, ["k", "ing", "s"], "ing")
    d.label(
        LEFT,
        404,
        "*rings* ends as 1 token, *kings* as 3. The merges were\n"
        "learned from a text with *sing* (5 times), *ring* (3), *rings* (2);\n"
        "merge 2 is for you to find.",
        12,
        MUTED,
        "start",
    )


# --- Lesson 11 ----------------------------------------------------------------------------------------------


@diagram(height=322)
def induction_circuit(d):
    """Two heads look up what came next

    The tokens 3 7 1 5 3 7 in a row. Layer 0, a previous-token head, notes, at each place, the token before it:
    nothing, 3, 7, 1, 5, 3. Layer 1, an induction head, has the last 7 as its query. It looks for the place whose
    note says 7, the third one, and copies the token there, 1: the model predicts that 1 comes next.
    """
    width, left = 76, 150
    tokens = [
        d.box(left + width * place, 100, width - 12, 34, token, QUERY if place == 5 else EMPTY, 15)
        for place, token in enumerate("371537")
    ]
    notes = [
        d.box(left + width * place, 178, width - 12, 34, note, KEY if place == 2 else PLAIN, 13)
        for place, note in enumerate(["", "after 3", "after 7", "after 1", "after 5", "after 3"])
    ]
    d.label(134, 117, "tokens", 14, align="end")
    d.label(134, 195, "layer 0 notes\nwhat came before", 13, MUTED, "end")
    for place in range(5):
        d.arrow(tokens[place].bottom(), notes[place + 1].top(0.3), ink=KEY.line if place == 1 else LINE)
    d.arrow(tokens[5].right(), (622, 117), (622, 252), (notes[2].middle[0], 252), notes[2].bottom(), ink=QUERY.line)
    d.label(460, 270, "layer 1 looks for the place after 7", 13, QUERY.ink)
    answer = d.box(652, 100, 80, 34, "next: 1", OUTPUT, 15)
    d.arrow(tokens[2].top(), (tokens[2].middle[0], 74), (692, 74), answer.top(), ink=VALUE.line)
    d.label(346, 62, "layer 1 copies this token", 13, VALUE.ink, "start")
    d.label(MARGIN, 302, "The text is random, so only looking back can tell what comes next.", 13, MUTED, "start")


@narrow(height=366)
def narrow_induction_circuit(d):
    tokens = [
        d.box(LEFT + 59 * place, 140, 50, 32, token, QUERY if place == 5 else EMPTY, 15)
        for place, token in enumerate("371537")
    ]
    notes = [
        d.box(LEFT + 59 * place, 206, 50, 32, note, KEY if place == 2 else PLAIN, 12)
        for place, note in enumerate(["", "after 3", "after 7", "after 1", "after 5", "after 3"])
    ]
    for place in range(5):
        d.arrow(tokens[place].bottom(), notes[place + 1].top(0.3), ink=KEY.line if place == 1 else LINE)
    d.arrow(tokens[5].right(), (368, 156), (368, 270), (notes[2].middle[0], 270), notes[2].bottom(), ink=QUERY.line)
    answer = d.box(244, 76, 76, 32, "next: 1", OUTPUT)
    d.arrow(tokens[2].top(), (tokens[2].middle[0], 92), answer.left(), ink=VALUE.line)
    d.label(168, 124, "layer 1 copies this token", 12, VALUE.ink, "start")
    d.label(362, 286, "layer 1 looks for the place after 7", 12, QUERY.ink, "end")
    d.label(LEFT, 310, "Top: tokens. Bottom: layer 0's notes of what came before.", 12, MUTED, "start")
    d.label(LEFT, 337, "The text is random, so only looking back can tell\nwhat comes next.", 12, MUTED, "start")


# --- Lesson 10 ----------------------------------------------------------------------------------------------


@diagram(height=600)
def gpt2_and_llama(d):
    """Llama is GPT-2 with six changes

    Two models side by side, each a column that is read from top to bottom: tokens, embedding table, layers, norm,
    logits. The skeleton is the same; the parts of Llama in orange differ from GPT-2's beside them. GPT-2 adds learned
    positions to the table's vectors; Llama has none there. In each layer GPT-2 has LayerNorm, attention with as many
    KV heads as query heads, LayerNorm again, and a feed-forward with GELU, with biases in every layer. Llama
    has RMSNorm, attention with rotary positions and fewer KV heads, RMSNorm again, and SwiGLU, without biases.
    Both end in a norm; GPT-2's logits come from the embedding table, Llama's from a separate matrix.
    """
    two_models(
        d,
        [210, 550],
        150,
        91,
        [
            (74, 30, "tokens", "tokens"),
            (124, 46, "embedding table\n+ learned positions", "embedding table\nno positions added"),
            (204, 30, "LayerNorm", "RMSNorm"),
            (246, 46, "attention, one KV head\nper query head", "attention, rotary positions\nfewer KV heads"),
            (342, 30, "LayerNorm", "RMSNorm"),
            (384, 46, "feed-forward with GELU\ntwo maps", "SwiGLU\nthree maps, one a gate"),
            (492, 30, "LayerNorm", "RMSNorm"),
            (540, 36, "times the embedding table", "times a separate matrix"),
        ],
    )


def two_models(d, middles, panel, half, rows):
    """GPT-2 and Llama in columns around the middles; panel and half are half the width of a layer and of a part."""
    top, bottom = rows[2][0] - 16, rows[6][0] - 16
    for x, name, side in zip(middles, ["GPT-2", "Llama"], [2, 3], strict=True):
        d.label(x, rows[0][0] - 10, name, 15, bold=True)
        d.box(x - panel, top, 2 * panel, bottom - top, colour=PANEL, radius=12)
        d.label(x - panel + 6, bottom - 16, "× layers", 12, MUTED, "start")
        d.label(
            x - panel + 6,
            top + (13 if panel > 100 else -12),
            "biases" if side == 2 else "no biases",
            12,
            MUTED if side == 2 else OUTPUT.ink,
            "start",
            bold=side == 3,
        )
        boxes = []
        for y, height, *texts in rows:
            changed = side == 3 and texts[0] != texts[1]
            colour = OUTPUT if changed else EMPTY if texts[0] == "tokens" else PLAIN
            boxes.append(d.box(x - half, y + 6, 2 * half, height, texts[side - 2], colour, 13 if panel > 100 else 12))
        for number, (upper, lower) in enumerate(pairwise(boxes)):
            if number not in (3, 5):
                d.arrow(upper.bottom(), lower.top(), ink=STREAM)
                continue
            total, fork = d.plus(x, upper.y + upper.height + 24), boxes[number - 1].y - 6
            d.arrow(upper.bottom(), total.top(), ink=STREAM)
            aside = x + 0.6 * half + 0.4 * panel
            d.arrow((x, fork), (aside, fork), (aside, total.middle[1]), total.right(), ink=STREAM)
            d.arrow(total.bottom(), lower.top(), ink=STREAM)


@narrow(height=670)
def narrow_gpt2_and_llama(d):
    two_models(
        d,
        [98, 282],
        88,
        68,
        [
            (84, 28, "tokens", "tokens"),
            (134, 44, "embedding table\n+ learned positions", "embedding table\nno positions added"),
            (226, 28, "LayerNorm", "RMSNorm"),
            (270, 62, "attention,\none KV head\nper query head", "attention,\nrotary positions,\nfewer KV heads"),
            (382, 28, "LayerNorm", "RMSNorm"),
            (426, 62, "feed-forward\nwith GELU,\ntwo maps", "SwiGLU\nthree maps,\none a gate"),
            (550, 28, "LayerNorm", "RMSNorm"),
            (602, 44, "times the\nembedding table", "times a\nseparate matrix"),
        ],
    )


KINDS = [("multi-head", 6), ("grouped-query", 2), ("multi-query", 1)]  # and how many KV heads six query heads have


def shared_heads(d, left, top, key_heads, pitch):
    """Six query heads, and the KV heads that they use; the names stand to the left."""
    group, size = 6 // key_heads, pitch - 8
    queries = [d.box(left + pitch * head, top, size, 30, str(head), QUERY, 13) for head in range(6)]
    keys = [
        d.box(left + pitch * (group * head + (group - 1) / 2), top + 84, size, 30, str(head), KEY, 13)
        for head in range(key_heads)
    ]
    for head, query in enumerate(queries):
        d.arrow(query.bottom(), keys[head // group].top(), ink=KEY.line)


@diagram(height=300)
def shared_keys_and_values(d):
    """Query heads can share keys and values

    Six query heads, three times. In multi-head attention each has its own KV head (a head of keys and values), so
    there are six. In grouped-query attention query heads 0, 1 and 2 use KV head 0, and query heads 3, 4 and 5 use KV
    head 1. In multi-query attention all six use the same KV head.
    """
    for (name, key_heads), left in zip(KINDS, (120, 332, 544), strict=True):
        d.label(left + 90, 76, name, 15, bold=True)
        shared_heads(d, left, 106, key_heads, 31)
        kept = f"{key_heads} KV heads" if key_heads > 1 else "1 KV head"
        d.label(left + 90, 244, f"the cache keeps\n{kept}", 13, MUTED)
    d.label(104, 121, "query heads", 13, QUERY.ink, "end")
    d.label(104, 205, "KV heads", 13, KEY.ink, "end")


@narrow(height=560)
def narrow_shared_keys_and_values(d):
    for (name, key_heads), top in zip(KINDS, (96, 260, 424), strict=True):
        kept = f"{key_heads} KV heads" if key_heads > 1 else "1 KV head"
        d.label(LEFT, top - 16, name, 14, align="start", bold=True)
        d.label(NARROW - LEFT, top - 16, f"the cache keeps {kept}", 12, MUTED, "end")
        shared_heads(d, 108, top, key_heads, 44)
        d.label(94, top + 15, "query heads", 12, QUERY.ink, "end")
        d.label(94, top + 99, "KV heads", 12, KEY.ink, "end")


# --- Lesson 12 ----------------------------------------------------------------------------------------------

TILES = 4


@diagram(height=392)
def tiles(d):
    """Attention, tile by tile

    A table of scores, queries down the side and keys across the top, cut into four by four tiles. Those above the
    diagonal lie in the future and are never computed. Those on the diagonal are masked: a triangle is left. Those
    below it are whole. One row of tiles is marked: from its first tile to the one on the diagonal, three things are
    carried along for each query, the largest score, the sum of the exponentials and the weighted sum of the values.
    When the largest score rises, both sums are rescaled. At the end, the weighted sum is divided by the sum of the
    exponentials, which gives the output.
    """
    cell, left, top = 56, 150, 100
    staircase(d, cell, left, top)
    d.label(left + 2 * cell, 82, "blocks of keys", 13, KEY.ink)
    d.label(left - 16, top + 2 * cell, "blocks\nof queries", 13, QUERY.ink, "end")
    d.label(left + 0.5 * cell, top + 3.5 * cell, "whole", 13)
    d.label(left + TILES * cell + 14, top + 3.5 * cell, "on the diagonal: masked", 13, MUTED, "start")
    d.label(left + TILES * cell + 14, top + 0.5 * cell, "in the future: never computed", 13, MUTED, "start")
    y = top + 2.5 * cell
    carried = d.box(480, y - 46, 252, 92, CARRIED, OUTPUT)
    d.line((left + 12, y), (left + 2.5 * cell, y), ink=OUTPUT.line, width=2.5)
    d.arrow((left + 2.5 * cell, y), carried.left(), ink=OUTPUT.line, dashed=True)
    d.label(606, y - 70, "for each query, carried from tile to tile", 13, MUTED)
    d.label(
        MARGIN,
        359,
        "When the largest score rises, multiply both sums by exp(old − new).\n"
        "At the end, divide the weighted sum by the sum of the exponentials.",
        13,
        MUTED,
        "start",
    )


CARRIED = "the largest score\nthe sum of the exponentials\nthe weighted sum of the values"


@narrow(height=508)
def narrow_tiles(d):
    cell, left, top = 52, 94, 78
    staircase(d, cell, left, top)
    d.label(left + 2 * cell, 62, "blocks of keys", 13, KEY.ink)
    d.label(left - 10, top + 2 * cell, "blocks\nof queries", 13, QUERY.ink, "end")
    d.label(left + 0.5 * cell, top + 3.5 * cell, "whole", 12)
    d.label(left + 4 * cell + 5, top + 3.5 * cell, "masked", 12, MUTED, "start")
    d.label(left + 4 * cell + 5, top + 0.5 * cell, "never\ncomputed", 12, MUTED, "start")
    y = top + 2.5 * cell
    carried = d.box(74, 348, 252, 84, CARRIED, OUTPUT)
    d.line((left + 12, y), (left + 2.5 * cell, y), ink=OUTPUT.line, width=2.5)
    d.arrow((left + 2.5 * cell, y), (360, y), (360, 390), carried.right(), ink=OUTPUT.line, dashed=True)
    d.label(74, 330, "for each query, carried from tile to tile", 13, MUTED, "start")
    d.label(
        LEFT,
        472,
        "When the largest score rises, multiply both sums\nby exp(old − new). "
        "At the end, divide the weighted\nsum by the sum of the exponentials.",
        12,
        MUTED,
        "start",
    )


def staircase(d, cell, left, top):
    """The tiles below the diagonal whole, those on it cut, those above it empty."""
    for row in range(TILES):
        for column in range(TILES):
            if column > row:
                d.box(left + cell * column, top + cell * row, cell, cell, "", FORBIDDEN, radius=0)
                continue
            colour = ALLOWED if column < row else FORBIDDEN
            d.box(left + cell * column, top + cell * row, cell, cell, "", colour, radius=0)
            if column == row:
                x, y = left + cell * column, top + cell * row
                d.add(
                    "path",
                    d=path([(x, y), (x, y + cell), (x + cell, y + cell)]) + "Z",
                    fill=WEIGHTS.fill,
                    stroke=WEIGHTS.line,
                )


@diagram(height=360)
def drafts(d):
    """Drafts are kept, replaced or thrown away

    The text is "the cat". The cheap model drafts three more tokens: "sat", "in" and "a". The expensive model reads
    "cat" and the three drafts in one call, since "the" is already in the cache. Each draft has to pass a random test.
    The first passes and is kept. The second fails and is replaced by "on". The third was drafted to follow the rejected
    token, so it is thrown away without a test. The text is now "the cat sat on".
    """
    fates(d, left=212, pitch=104, wide=94, tops=(74, 138, 208, 280), high=34)
    d.label(MARGIN, 91, "the text, and what\nthe cheap model drafts", 13, MUTED, "start")
    d.label(MARGIN, 229, "a random test\nfor each draft", 13, MUTED, "start")
    d.label(MARGIN, 297, "the longer text", 13, MUTED, "start")


@narrow(height=374)
def narrow_drafts(d):
    fates(d, left=16, pitch=70, wide=66, tops=(92, 156, 226, 298), high=34)
    d.label(LEFT, 76, "the text, and what the cheap model drafts", 12, MUTED, "start")
    d.label(LEFT, 247, "a random test\nfor each draft", 12, MUTED, "start")


def fates(d, left, pitch, wide, tops, high):
    """Two tokens and three drafts, the expensive model below them, then a test for each draft, and the longer text."""
    places = [left + pitch * column for column in range(5)]
    middles = [place + wide / 2 for place in places]
    drafted, read, tested, kept = tops
    for column, (place, token) in enumerate(zip(places, ("the", "cat", "sat", "in", "a"), strict=True)):
        d.box(place, drafted, wide, high, token, PLAIN if column < 2 else WEIGHTS)
    d.label(middles[0], drafted + high + 15, "in the cache", 12, MUTED)
    d.box(places[1], read, places[4] + wide - places[1], high + 6, "expensive model, one call", OUTPUT, 13)
    for middle in middles[1:]:
        d.arrow((middle, drafted + high), (middle, read))
    for place, middle, result in zip(places[2:], middles[2:], ("passes", "fails", "not tested"), strict=True):
        d.arrow((middle, read + high + 6), (middle, tested))
        d.box(place, tested, wide, high + 8, result, EMPTY, 12)
    for place, token, colour in zip(places, ("the", "cat", "sat", "on"), (PLAIN, PLAIN, WEIGHTS, OUTPUT), strict=False):
        d.box(place, kept, wide, high, token, colour)
    for middle in middles[2:4]:
        d.arrow((middle, tested + high + 8), (middle, kept))
    for middle, fate in zip(middles[2:], ("kept", "replaced", "thrown away"), strict=True):
        d.label(middle, kept + high + 16, fate, 12, MUTED)


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


if __name__ == "__main__":
    main()
