"""What all diagrams share: colours, sizes, and the elements that a drawing is made of."""

import math
import re
from typing import NamedTuple
from xml.sax.saxutils import escape

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

    def box(self, x, y, width, height, text="", colour=PLAIN, size=14, radius=8, bold=False, dashed=False):
        edge = {"stroke": colour.line, "stroke_dasharray": "4 4" if dashed else None}
        self.add("rect", x=x, y=y, width=width, height=height, rx=radius, fill=colour.fill, **edge)
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
