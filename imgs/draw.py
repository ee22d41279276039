"""Draws the course's diagrams: `python imgs/draw.py` writes every SVG of this folder, and of narrow/, which
phones show, always the same.

In drawing/, one function draws one diagram and bears its file's name; below it stands the one that draws it narrow.
The first one's docstring is the alternative text: its first line, which also stands in the picture, states the finding;
the rest says what there is to see. Pictures of numbers that a model computes are not drawn here but in
transformer_lessons/inspection/plots.py.

A role keeps its colour in all diagrams, and its name stands beside it: the colours are Okabe and Ito's, which
colour-blind eyes can tell apart. Code is set in a monospaced font, and its names are the package's.
"""

import textwrap
from pathlib import Path
from xml.sax.saxutils import escape

from drawing import attention, beyond, models, positions_and_masks  # noqa: F401 - they enter their diagrams
from drawing.canvas import (
    DIAGRAMS,
    LEFT,
    MARGIN,
    PAPER,
    WIDTH,
    Box,
    Drawing,
    alternative_text,
    attributes,
    dot,
)
from drawing.course import icon  # noqa: F401 - for the site; the other diagrams of this module are entered, too

FOLDER = Path(__file__).parent


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
    (FOLDER / "narrow").mkdir(exist_ok=True)
    for name in DIAGRAMS:
        with open(FOLDER / f"{name}.svg", "w", encoding="utf-8", newline="\n") as file:
            file.write(draw(name))


if __name__ == "__main__":
    main()
