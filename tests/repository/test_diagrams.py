"""The diagrams in imgs/: drawn by the functions of drawing/, legible anywhere, and true of the package."""

import ast
import inspect
import math
import re
import textwrap
import xml.etree.ElementTree as ElementTree
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path

import animate
import draw
import pytest
import torch
from drawing import canvas, course
from drawing.attention import SEQUENCE, SPLIT, numbers_by_head, traced_by_hand
from drawing.positions_and_masks import TOKENS, mask_grids, sinusoids
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from shape_comments import WORDS

import transformer_lessons
from transformer_lessons import attention, layers, masks, positions
from transformer_lessons.exercises import check

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "imgs"
PACKAGE = Path(transformer_lessons.__file__).parent
MOST_BYTES = 18_000
NAMESPACE = "{http://www.w3.org/2000/svg}"
# Arrows that point on: a residual stream to the next layer, a state to the next state; what a model becomes.
OPEN_ENDS = {"encoder_layer": 2, "decoder_layer": 2, "course_map": 2}

every_diagram = pytest.mark.parametrize("name", canvas.DIAGRAMS)


@cache
def root_of(name):
    return ElementTree.fromstring(draw.draw(name))


# --- What the picture holds ---------------------------------------------------------------------------------


def pieces(text):
    """(string, size, bold, code, italic) of each piece of a <text> and its <tspan>s, from the left."""
    own = {"font-size": 14, "font-weight": "", "font-family": "", "font-style": ""} | text.attrib
    strings = [(text.text, own)]
    for span in text:
        strings += [(span.text, own | span.attrib), (span.tail, own)]
    return [
        (
            string,
            float(style["font-size"]),
            style["font-weight"] == "bold",
            "mono" in style["font-family"],
            style["font-style"] == "italic",
        )
        for string, style in strings
        if string
    ]


def width(string, size, bold, code, italic):
    """In DejaVu, the widest of the fonts that a browser is likely to take."""
    style = FontProperties(
        family="DejaVu Sans Mono" if code else "DejaVu Sans",
        size=size,
        weight="bold" if bold else "normal",
        style="italic" if italic else "normal",
    )
    blank = 0.32 * size * (len(string) - len(string.strip(" "))) * (not code)
    if code:
        return 0.602 * size * len(string)
    return text_to_path.get_text_width_height_descent(string.strip(" "), style, ismath=False)[0] + blank


@cache
def labels(name):
    """[(string, left, top, right, bottom)] of every text in a diagram."""
    root, boxes = root_of(name), []
    sizes = {
        text: group.get("font-size")
        for group in root.iter(f"{NAMESPACE}g")
        for text in group
        if text.tag == f"{NAMESPACE}text"
    }
    for text in root.iter(f"{NAMESPACE}text"):
        text.attrib.setdefault("font-size", sizes[text])
        own = pieces(text)
        long, tall = sum(width(*piece) for piece in own), float(text.get("font-size"))
        x, y = float(text.get("x")), float(text.get("y"))
        left = x - {"start": 0, None: long / 2, "end": long}[text.get("text-anchor")]
        string = "".join(piece[0] for piece in own)
        boxes.append((string, left, y - 0.75 * tall, left + long, y + 0.22 * tall))
    return boxes


def numbers_in(path):
    return [float(number) for number in re.findall(r"-?[\d.]+", path)]


@cache
def rectangles(name):
    """(left, top, right, bottom) of the boxes in the order of painting, then of the cells of grids."""
    root, corners = root_of(name), []
    for rect in root.iter(f"{NAMESPACE}rect"):
        x, y, wide, high = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
        corners.append((x, y, x + wide, y + high))
    for path in root.iter(f"{NAMESPACE}path"):
        for cell in re.findall(r"M[^M]*h[^M]*z", path.get("d")):
            x, y, wide, high, _ = numbers_in(cell)
            corners.append((x, y, x + wide, y + high))
    return corners


def arrow_tips(name):
    """Where the arrow heads, filled triangles, point."""
    filled = (path for path in root_of(name).iter(f"{NAMESPACE}path") if path.get("stroke") is None)
    return [tuple(numbers_in(path.get("d"))[:2]) for path in filled]


@cache
def strokes(name):
    """The straight strokes of lines and arrows, as pairs of points."""
    pairs = []
    for path in root_of(name).iter(f"{NAMESPACE}path"):
        if path.get("fill") == "none":
            numbers = numbers_in(path.get("d"))
            pairs += pairwise(zip(numbers[::2], numbers[1::2], strict=True))
    return pairs


def crosses(start, end, left, top, right, bottom):
    """Does the stroke from start to end touch the rectangle? (Liang and Barsky's clipping.)"""
    enter, leave = 0.0, 1.0
    for begin, finish, low, high in [(start[0], end[0], left, right), (start[1], end[1], top, bottom)]:
        if begin == finish:
            if not low < begin < high:
                return False
        else:
            first, second = sorted([(low - begin) / (finish - begin), (high - begin) / (finish - begin)])
            enter, leave = max(enter, first), min(leave, second)
    return enter < leave


def distance_to_edge(point, rectangle):
    x, y = point
    left, top, right, bottom = rectangle
    outside = math.hypot(max(left - x, 0, x - right), max(top - y, 0, y - bottom))
    return outside or min(x - left, right - x, y - top, bottom - y)


def code_words(name):
    """The names that a diagram sets in the font for code."""
    for text in root_of(name).iter(f"{NAMESPACE}text"):
        for string, _, _, code, _ in pieces(text):
            if code:
                yield from re.findall(r"[^\W\d]\w*", string)


# --- Files and functions ------------------------------------------------------------------------------------


@every_diagram
def test_a_file_is_what_its_function_draws_now(name):
    assert (FOLDER / f"{name}.svg").read_text(encoding="utf-8") == draw.draw(name), "run python imgs/draw.py"


def test_every_picture_has_its_function():
    files = [path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.svg")]
    assert sorted(files) == sorted([*canvas.DIAGRAMS, "writing"])  # which animate.py draws


@every_diagram
def test_the_alternative_text_is_the_docstring(name):
    root, (function, *_) = root_of(name), canvas.DIAGRAMS[name.removeprefix("narrow/")]
    title, description = root.find(f"{NAMESPACE}title"), root.find(f"{NAMESPACE}desc")
    assert root.get("role") == "img"
    assert root.get("aria-labelledby").split() == [title.get("id"), description.get("id")]
    assert " ".join(function.__doc__.split()) == f"{title.text} {description.text}"
    assert len(title.text) > 15
    assert len(description.text) > 100


@every_diagram
def test_a_picture_needs_nothing_from_elsewhere_and_runs_nothing(name):
    tags = {element.tag.removeprefix(NAMESPACE) for element in root_of(name).iter()}
    assert tags <= {"svg", "title", "desc", "g", "rect", "circle", "path", "text", "tspan"}
    source = draw.draw(name).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"http|href|url\(|@import|data:|\bon\w+=|\sstyle=", source)


@every_diagram
def test_a_picture_is_small(name):
    assert len(draw.draw(name).encode()) <= MOST_BYTES


# --- Legible ------------------------------------------------------------------------------------------------


@every_diagram
def test_a_picture_is_as_wide_as_a_notebooks_column_or_as_a_phone(name):
    root = root_of(name)
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    assert float(root.get("width")) == (380 if name.startswith("narrow/") else 760)


@every_diagram
def test_no_text_is_smaller_than_12_pixels(name):
    sizes = re.findall(r'font-size="([\d.]+)"', draw.draw(name))
    assert min(map(float, sizes)) >= 12


@every_diagram
def test_every_text_lies_within_the_card(name):
    _, wide, high = canvas.DIAGRAMS[name]
    margin = 12 if name.startswith("narrow/") else 16
    for string, left, top, right, bottom in labels(name):
        assert left >= margin, string
        assert right <= wide - margin, string
        assert top >= 12, string
        assert bottom <= high - 8, string


@every_diagram
def test_no_two_texts_overlap(name):
    for (text, *first), (other, *second) in combinations(labels(name), 2):
        assert first[2] <= second[0] or second[2] <= first[0] or first[3] <= second[1] or second[3] <= first[1], (
            f"{text!r} and {other!r}"
        )


@every_diagram
def test_a_text_in_a_box_stays_in_it(name):
    for string, left, top, right, bottom in labels(name):
        x, y = (left + right) / 2, (top + bottom) / 2
        around = [r for r in reversed(rectangles(name)) if r[0] < x < r[2] and r[1] < y < r[3]]
        inner = min(around, key=lambda r: (r[2] - r[0]) * (r[3] - r[1]))
        assert left >= inner[0] + 2, string
        assert right <= inner[2] - 2, string
        assert top >= inner[1], string
        assert bottom <= inner[3], string


@every_diagram
def test_no_line_runs_through_a_text(name):
    for string, *place in labels(name):
        for start, end in strokes(name):
            assert not crosses(start, end, *place), string


@every_diagram
def test_every_arrow_ends_at_a_box(name):
    circles = [
        [float(circle.get(key)) for key in ("cx", "cy", "r")] for circle in root_of(name).iter(f"{NAMESPACE}circle")
    ]

    def gap(tip):
        to_circles = [abs(math.dist(tip, (x, y)) - radius) for x, y, radius in circles]
        return min([distance_to_edge(tip, box) for box in rectangles(name)] + to_circles)

    loose = [tip for tip in arrow_tips(name) if gap(tip) > 0.5]
    assert len(loose) == OPEN_ENDS.get(name.removeprefix("narrow/"), 0), loose


def luminance(colour):
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(ink, paper):
    low, high = sorted([luminance(ink), luminance(paper)])
    return (high + 0.05) / (low + 0.05)


def test_every_ink_can_be_read_on_its_ground():
    colours = [value for value in vars(canvas).values() if isinstance(value, canvas.Colour)] + canvas.HEADS
    colours += [canvas.shade(weight / 100) for weight in range(101)]
    assert min(contrast(colour.ink, colour.fill) for colour in colours) >= 4.5
    for ink in (canvas.INK, canvas.MUTED):
        assert min(contrast(ink, ground) for ground in (canvas.PAPER, canvas.PANEL.fill, canvas.PLAIN.fill)) >= 4.5


# --- True ---------------------------------------------------------------------------------------------------


def texts(name):
    return [string for string, *_ in labels(name)]


@cache
def names_in_the_package():
    source = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    return set(re.findall(r"[^\W\d]\w*", source))


@every_diagram
def test_every_name_in_code_is_the_packages(name):
    known = names_in_the_package() | WORDS | {"view", "he"}  # a mistake that is shown, and a pair that is merged
    if name != "verdict":
        assert set(code_words(name)) <= known


def test_the_weighted_average_is_attention_of_the_sequence_to_itself():
    x = torch.tensor(SEQUENCE, dtype=torch.float64)
    weights = (x @ x.T).softmax(dim=-1)
    output = (weights @ x)[0].tolist()
    shown = [f"{weight:.2f}" for weight in weights[0].tolist()]
    assert [text for text in texts("weighted_average") if text in shown] == shown
    assert f"({output[0]:.2f}, {output[1]:.2f})" in texts("weighted_average")


def test_the_weighted_average_comes_out_the_same_from_the_rounded_weights():
    _, powers, weights, output = traced_by_hand()
    weights, powers = [round(weight, 2) for weight in weights], [round(power, 2) for power in powers]
    by_hand = [
        sum(weight * feature for weight, feature in zip(weights, column, strict=True))
        for column in zip(*SEQUENCE, strict=True)
    ]
    assert f"{sum(weights):.2f}" == "1.00"
    assert f"{sum(powers):.2f}" in texts("weighted_average")
    assert [f"{feature:.2f}" for feature in by_hand] == [f"{feature:.2f}" for feature in output]


def test_the_masks_are_the_packages():
    length = len(TOKENS)
    tokens = torch.tensor([[0 if token == "pad" else 1 for token in TOKENS]])
    causal, padding, both = (torch.tensor(grid) for grid in mask_grids())
    assert torch.equal(causal, masks.causal_mask(length))
    assert torch.equal(padding, masks.padding_mask(tokens, pad_id=0)[0, 0].expand(length, length))
    assert torch.equal(both, (masks.causal_mask(length) & masks.padding_mask(tokens, pad_id=0))[0, 0])


@pytest.mark.parametrize("position", [0, 1, 2, 3, 10, 100])
def test_the_clocks_hands_are_the_sinusoidal_encoding(position):
    expected = positions.sinusoidal_encoding(position + 1, 8)[position].double()
    torch.testing.assert_close(torch.tensor(sinusoids(position, 8), dtype=torch.float64), expected, atol=1e-5, rtol=0)


def test_the_heads_are_those_of_split_heads_and_the_wrong_ones_those_of_view():
    length, heads, d_head = SPLIT
    x = torch.arange(length * heads * d_head).reshape(1, length, heads * d_head)
    right, wrong = (torch.tensor(numbers) for numbers in numbers_by_head())
    assert torch.equal(right, attention.split_heads(x, heads)[0])
    assert torch.equal(wrong, x.view(1, heads, length, d_head)[0])


class WithoutDropout(ast.NodeTransformer):
    """self.norm(x) becomes norm(x), dropout(x) becomes x, and what is returned is assigned to x."""

    def visit_Attribute(self, node):
        self.generic_visit(node)
        return ast.Name(node.attr) if isinstance(node.value, ast.Name) and node.value.id == "self" else node

    def visit_Call(self, node):
        self.generic_visit(node)
        return node.args[0] if ast.unparse(node.func) in ("dropout", "F.dropout") else node

    def visit_Return(self, node):
        self.generic_visit(node)
        return ast.Assign([ast.Name("x")], node.value)


def statements(function):
    """What a function assigns or returns, without dropout."""
    tree = WithoutDropout().visit(ast.parse(textwrap.dedent(inspect.getsource(function))))
    assigned = (node for node in ast.walk(tree) if isinstance(node, ast.Assign))
    return [ast.unparse(ast.fix_missing_locations(node)) for node in assigned]


@pytest.mark.parametrize(
    ("name", "layer"), [("encoder_layer", layers.EncoderLayer), ("decoder_layer", layers.DecoderLayer)]
)
def test_a_layers_formulas_are_its_code(name, layer):
    shown = {text for text in texts(name) if text.startswith("x = ")}
    code = {line.replace(", cache)", ")") for line in statements(layer.forward)}  # the picture is of training
    assert shown == code


def test_the_formulas_of_attention_are_its_code():
    code = statements(attention.scaled_dot_product_attention)
    shown = [text for text in texts("scaled_dot_product_attention") if " = " in text]
    assert len(shown) == 3
    assert set(shown) <= set(code)


def test_the_verdict_is_what_check_says(capsys):
    namespace = {"math": math, "check": check}
    exec(course.WRONG_ANSWER, namespace)
    assert capsys.readouterr().out.rstrip("\n") == course.VERDICT, "copy what check says to imgs/drawing/course.py"
    assert [text.replace("\u00a0", " ") for text in texts("verdict")][-8:] == course.VERDICT.split("\n")


# --- The picture that moves ---------------------------------------------------------------------------------


def test_the_picture_that_moves_shows_what_the_courses_model_writes_and_how_likely_each_token_is():
    saved, drawn = animate.PATH.read_text(encoding="utf-8"), animate.svg()
    number = r"[\d.]+(?=\"| %<)"
    assert re.sub(number, "#", saved) == re.sub(number, "#", drawn)
    for one, other in zip(re.findall(number, saved), re.findall(number, drawn), strict=True):
        assert abs(float(one) - float(other)) <= 1.5  # a percent, on another processor
    ElementTree.fromstring(saved)
    assert len(saved) < 30_000
    assert saved.count('<g class="last">') == 1  # what is shown where nothing moves
