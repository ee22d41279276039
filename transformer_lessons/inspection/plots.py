"""Figures of numbers. No other module imports matplotlib.

Every show_ function returns a Picture, which a cell shows if it is the last expression. Its title states the
finding; its alternative text is what a screen reader reads aloud, and what nbval compares.
"""

import base64
import io
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
from matplotlib import font_manager, rc_context
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Arc, Patch, Rectangle
from matplotlib.ticker import LogLocator

# The hues of Okabe and Ito, safe for colour-blind eyes, in the shades of the diagrams and of the site.
COLOURS = ["#00639c", "#c8500a", "#22885a", "#a8478a", "#c98a00", "#5aa5d6", "#1f2328"]
BLUES = LinearSegmentedColormap.from_list(
    "blues", ["#f7fafc", "#d9ebf7", "#9cc8e4", "#4a93c4", "#0a639b", "#00507d", "#003250"]
)
BLUE_TO_RED = LinearSegmentedColormap.from_list(
    "blue to red",
    ["#003250", "#0a639b", "#5aa5d6", "#bfdcee", "#fbfbf9", "#f6c8b8", "#df7656", "#b03014", "#681405"],
)
DENSITY = 2  # pixels in the file per pixel on the page
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
STYLE: dict = {
    "font.family": ["Inter", "DejaVu Sans"],
    "legend.fontsize": 9,
    "figure.titlesize": 12,
    "text.color": "#222222",
    "axes.labelcolor": "#444444",
    "axes.edgecolor": "#888888",
    "xtick.color": "#888888",
    "ytick.color": "#888888",
    "xtick.labelcolor": "#444444",
    "ytick.labelcolor": "#444444",
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
}

for file in sorted(Path(__file__).with_name("fonts").glob("*.[ot]tf")):
    font_manager.fontManager.addfont(file)
in_style = rc_context(STYLE)  # for these figures alone: a learner's own keep their style


class Picture:
    """A finished figure as a PNG with alternative text, sharp on high-density screens too."""

    def __init__(self, figure, alt):
        self.alt, drawn = alt, io.BytesIO()
        figure.savefig(drawn, format="png", dpi=DENSITY * 96, facecolor="white")
        self.png = drawn.getvalue()
        pixels = figure.get_size_inches() * 96
        self.size = {"width": round(pixels[0]), "height": round(pixels[1])}  # as displayed

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = {"image/png": base64.b64encode(self.png).decode(), "text/plain": self.alt}
        return data, {"image/png": {"alt": self.alt, **self.size}}


def as_array(numbers):
    """A NumPy array from an array, a list or a tensor, even one that carries gradients."""
    return numbers.detach().cpu().numpy() if hasattr(numbers, "detach") else np.asarray(numbers)


def show_weights(
    weights,
    title,
    queries=None,
    keys=None,
    panels=None,
    alt=None,
    row_label="query",
    column_label="key",
    outline=False,
    zeros=True,
    notes=(),
):
    """Attention weights (query, key), or one panel per head (heads, query, key), in blues from 0 to 1.

    With outline, a frame marks the largest weight in each row, or several that are equal. With zeros=False, a weight of
    exactly 0, as of a hidden key, stays blank. Each of notes is a point_at in the last panel, where the point is
    (key, query).
    """
    weights = as_array(weights)
    alt = alt or f"Heat map of attention weights, queries down, keys across: {title}."
    return heat_maps(
        weights,
        title,
        queries,
        keys,
        panels,
        alt,
        cmap=BLUES,
        low=0,
        high=1,
        label="weight",
        row_label=row_label,
        column_label=column_label,
        outline=outline,
        zeros=zeros,
        notes=notes,
    )


@in_style
def show_heads(rows, title, alt=None, words=None):
    """Small maps, heads across and layers down: rows is {"layer 0": weights (heads, query, key)}.

    With words, {"layer 0": (of the queries, of the keys)}, a few short tokens stand beside and below each map.
    """
    maps = {name: as_array(weights) for name, weights in rows.items()}
    heads = max(len(weights) for weights in maps.values())
    side = min(1.2 if words is None else 1.5, 5.2 / heads)
    names = 0.08 * max(0, longest_line(maps) - 26)  # inches for long names
    size = max(side * heads + 2.2, 4) + names, max(side * len(maps) + 0.9, 2)
    figure = Figure(figsize=size, layout="constrained")
    axis = figure.subplots()
    edge = 0.04 if words is None else 0.14  # at the left of each map, and below it
    for row, (name, weights) in enumerate(maps.items()):
        for head, weight in enumerate(weights):
            left, top, wide = head + edge, row + 0.04, 0.96 - edge
            image = axis.imshow(
                weight,
                BLUES,
                vmin=0,
                vmax=1,
                interpolation="nearest",
                aspect="auto",
                extent=(left, left + wide, top + wide, top),
            )
            axis.add_patch(Rectangle((left, top), wide, wide, fill=False, edgecolor="grey", lw=0.6))
            if words is not None:
                write_tokens(axis, left, top, wide, *words[name])
    if heads == 1:
        axis.set_aspect("equal")  # squares; of several heads, each has the width that the page allows
    axis.set(xlim=(0, heads), ylim=(len(maps), 0), xlabel="head\n(queries down, keys across)")
    axis.set_xticks(np.arange(heads) + 0.5, labels=range(heads))
    axis.set_yticks(np.arange(len(maps)) + 0.5, labels=maps)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    figure.colorbar(image, ax=axis, label="weight", fraction=0.04, ticks=[0, 0.5, 1]).outline.set_visible(False)
    entitle(figure, title)
    number = "1 head" if heads == 1 else f"{heads} heads"
    down = ", ".join(maps).replace("\n", " ")
    alt = alt or f"Heat maps of attention weights, {number} across, {down} down: {title}."
    return Picture(figure, alt)


def write_tokens(axis, left, top, wide, queries, keys):
    """The tokens of one small map: the queries to its left, the keys below it."""
    down = [(left - 0.06, top + (number + 0.5) / len(queries) * wide, word) for number, word in enumerate(queries)]
    across = [(left + (number + 0.5) / len(keys) * wide, top + wide + 0.06, word) for number, word in enumerate(keys)]
    for x, y, word in down + across:
        axis.text(x, y, word, fontsize=7, color="#444444", ha="center", va="center")


def show_matrix(
    matrix,
    title,
    rows=None,
    columns=None,
    panels=None,
    alt=None,
    row_label="",
    column_label="",
    legend=None,
    signed=True,
    label="",
    write=True,
    notes=(),
):
    """Signed numbers, (rows, columns) or several panels of them, in red and blue around a white zero.

    If there are only a few different numbers, legend {"what it means": number} replaces the colour bar, and the
    colours are less dark. With signed=False, numbers of one sign are shown in blues, from the smallest to the
    largest. The label is for the colour bar. A few numbers are written in their squares, unless write=False.
    Each of notes is a point_at in the last panel, where the point is (column, row).
    """
    matrix = as_array(matrix)
    high = (float(np.abs(matrix).max()) or 1.0) * (1.4 if legend else 1)
    cmap, low, high = (BLUE_TO_RED, -high, high) if signed else (BLUES, matrix.min(), matrix.max())
    alt = alt or f"Heat map of a matrix with {matrix.shape[-2]} rows and {matrix.shape[-1]} columns: {title}."
    return heat_maps(
        matrix,
        title,
        rows,
        columns,
        panels,
        alt,
        cmap=cmap,
        low=low,
        high=high,
        label=label,
        row_label=row_label,
        column_label=column_label,
        legend=legend,
        write=write,
        notes=notes,
    )


def show_pairs(rotated, title):
    """Which features a rotation mixes: rotated is {"panel": (features, features)}, what became of torch.eye's rows."""
    reached = np.stack([as_array(matrix) != 0 for matrix in rotated.values()])
    names = range(reached.shape[-1])
    return show_matrix(
        reached * (2 * np.eye(len(names)) - 1),  # 1 for the feature itself, -1 for its partner
        title,
        names,
        names,
        list(rotated),
        row_label="feature that had the 1",
        column_label="feature after rotating",
        legend={"the feature itself": 1, "its partner": -1},
    )


@in_style
def heat_maps(
    numbers,
    title,
    rows,
    columns,
    panels,
    alt,
    cmap,
    low,
    high,
    label="",
    row_label="",
    column_label="",
    legend=None,
    write=True,
    outline=False,
    zeros=True,
    notes=(),
):
    """One heat map for each of the leading panels, side by side, with one colour bar or legend."""
    numbers = numbers if numbers.ndim == 3 else numbers[None]
    count, height, width = numbers.shape
    side = 3.2 if count == 1 else max(1.7, 8.4 / count)
    wide = min(8.8, side * count * min(max(width / height, 0.8), 2) + 1.6)
    tall = side / 2 if count == 1 and width >= 8 * height else side
    named = width if columns is None else sum(str(name) != "" for name in columns)
    letters = 12 * (wide - 1.8) / count / max(named, 1)  # that fit between one named column and the next
    wide += 0.07 * max(0, longest_line(rows) - 10)  # inches for long names
    figure = Figure(figsize=(wide, tall + (0.7 if legend is None else 1)), layout="constrained")
    axes = figure.subplots(1, count, squeeze=False)[0]
    for index, axis in enumerate(axes):
        image = axis.imshow(numbers[index], cmap=cmap, vmin=low, vmax=high, aspect="auto")
        name_ticks(axis.xaxis, columns)
        name_ticks(axis.yaxis, rows if index == 0 else [""] * height)
        if longest_line(columns) > letters:
            axis.tick_params(axis="x", rotation=90)
        if panels is not None:
            axis.set_title(panels[index], fontsize=9)
        axis.set_xlabel(column_label if index == 0 or count <= 4 else "")
        few = height * width <= 40 and (count <= 3 or count * width <= 20)
        separate_squares(axis, height, width)
        largest = np.isclose(numbers[index], numbers[index].max(axis=1, keepdims=True))  # more than one in a tie
        for row, column in np.argwhere(largest) if outline else []:
            axis.add_patch(
                Rectangle(
                    (column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor=COLOURS[1], lw=1.8, zorder=3, clip_on=False
                )
            )
        if few and write:
            write_numbers(axis, numbers[index], image, zeros)
    axes[0].set_ylabel(row_label)
    for note in notes:
        point_at(axes[-1], *note)
    if legend is None:
        figure.colorbar(image, ax=axes[-1], label=label).outline.set_visible(False)
    else:
        squares = [Patch(color=image.cmap(image.norm(number)), label=name) for name, number in legend.items()]
        figure.legend(handles=squares, loc="outside lower center", ncols=2, frameon=False)
    entitle(figure, title)
    return Picture(figure, alt)


@in_style
def show_tokens(rows, title, alt, notes=(), compared=False):
    """Texts cut into tokens, {"how": tokens}, one below the other: a box for each token, with its letters in it.

    Boxes of one letter are grey and longer ones are blue; a space is shown as ␣. All rows need the same letters.
    If rows are compared, boxes that the first row lacks are orange.
    Each of notes is a point_at, for which there is room below the rows: (letter, row) is the upper left of a letter.
    """
    high = len(rows) + (0.9 if notes else 0)
    tall = 0.5 * high  # inches
    letters = sum(map(len, next(iter(rows.values()))))
    first = set(pairwise([0, *accumulate(map(len, next(iter(rows.values()))))]))  # where each of its boxes lies
    figure = Figure(figsize=(8.8, tall + 0.4))
    axis = figure.add_axes((0.2, 0.02, 0.79, tall / (tall + 0.4)))  # fixed, as in show_bars
    for row, tokens in enumerate(rows.values()):
        start = 0
        for token in tokens:
            face, edge = ("#eef0f2", "#7d8690") if len(token) == 1 else ("#d9ebf7", COLOURS[0])
            size = len(token)
            if compared and (start, start + size) not in first:
                face, edge = "#fbe3d1", COLOURS[1]
            axis.add_patch(Rectangle((start + 0.06, row + 0.12), size - 0.12, 0.76, facecolor=face, edgecolor=edge))
            axis.text(
                start + size / 2,
                row + 0.5,
                token.replace(" ", "␣"),
                fontsize=min(9, 440 / letters),  # a w fits into its box
                color="#222222",
                ha="center",
                va="center_baseline",
            )
            start += size
    axis.set(xlim=(0, start), ylim=(high, 0), xticks=[])
    axis.set_yticks(np.arange(len(rows)) + 0.5, labels=rows)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    for note in notes:
        point_at(axis, *note)
    entitle(figure, title)
    return Picture(figure, alt)


def point_at(axis, words, point, place):
    """A few words at a place, with an arrow to the point that matters, both in the coordinates of the data."""
    axis.annotate(
        words,
        point,
        place,
        fontsize=9,
        color="#222222",
        ha="center",
        va="center",
        arrowprops={"arrowstyle": "->", "color": "#222222", "shrinkB": 6},
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.9, "pad": 2},
        zorder=4,
    )


def entitle(figure, title):
    """The title at the left, in the face of the site's headings, in lines that fit."""
    figure.suptitle(title, x=0.01, ha="left", family=["Lesson Serif", *STYLE["font.family"]], wrap=True)


def longest_line(names):
    """How many letters the longest line of any name has; 0 if there are no names."""
    names = [] if names is None else names  # a list, or an array
    return max((len(line) for name in names for line in str(name).split("\n")), default=0)


def name_ticks(axis, names):
    """A label at every row or column, if they have names; otherwise, labels at whole numbers."""
    if names is None:
        axis.get_major_locator().set_params(integer=True)
    else:
        axis.set_ticks(range(len(names)), labels=[str(name) for name in names])
        axis.set_tick_params(length=0)


def separate_squares(axis, height, width):
    """A thin white line between neighbours, and no ticks around them; a thick one between long strips."""
    if height > 18:
        return
    for row in range(1, height):
        axis.axhline(row - 0.5, color="white", linewidth=1 if width <= 18 else 6)
    for column in range(1, width if width <= 18 else 1):
        axis.axvline(column - 0.5, color="white", linewidth=1)
    axis.tick_params(length=0)


def write_numbers(axis, numbers, image, zeros=True):
    """Two decimals in every square, dark on light or light on dark; NaN stands on grey. 0 may stay blank."""
    if np.isnan(numbers).any():
        axis.set_facecolor("#dddddd")
    for row, column in np.ndindex(numbers.shape) if zeros else np.argwhere(numbers != 0):
        red, green, blue, opacity = image.cmap(image.norm(numbers[row, column]))
        colour = "#222222" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.55 or opacity == 0 else "white"
        written = f"{round(float(numbers[row, column]), 2) + 0.0:.2f}".replace("-", "−").replace("nan", "NaN")
        axis.text(
            column, row, written, color=colour, ha="center", va="center", fontsize=9 if numbers.shape[1] <= 12 else 7
        )


def in_full(number):
    """A tick's label: 0.0001, 0.5, 64, 1,024."""
    return f"{number:,.0f}" if number >= 1000 else np.format_float_positional(number, precision=6, trim="-")


@in_style
def show_lines(
    x,
    curves,
    title,
    x_label,
    y_label,
    alt=None,
    log_x=False,
    log_y=False,
    floor=None,
    legend="best",
    notes=(),
    limits=None,
    border=None,
    shaded=None,
):
    """One line for each of curves {name: numbers}; floor, (name, number), is a dotted line with its name beside it.

    Numbers from several runs, (run, point), become a line through their mean, in a band from lowest to highest.
    The legend's lower left corner may be given, (right, up), from (0, 0) to (1, 1). legend=None draws none, and
    legend {name: (x, y)} writes each name in its line's colour around this place.
    Each of notes is a point_at. What is computed, not measured, may be a grey line behind: limits is {name: (x, y)}.
    border, (place, name), is a dotted line from top to bottom, with the name of what lies to its right.
    shaded, (from, to, name), is a grey background from one place to another, with its name above.
    """
    figure = Figure(figsize=(6.4, 3.4), layout="constrained")
    axis = figure.subplots()
    for name, points in (limits or {}).items():
        axis.plot(*points, color="#bbbbbb", linewidth=4, label=name, zorder=1)
    for index, (name, numbers) in enumerate(curves.items()):
        colour, runs = COLOURS[index % len(COLOURS)], np.atleast_2d(as_array(numbers))
        marker = MARKERS[index % len(MARKERS)] if len(x) <= 24 else None
        axis.plot(
            x,
            runs.mean(axis=0),
            color=colour,
            marker=marker,
            markersize=4,
            linestyle=["-", "--", "-.", ":"][index % 4],
            label=name,
        )
        if len(runs) > 1:
            axis.fill_between(x, runs.min(axis=0), runs.max(axis=0), color=colour, alpha=0.2, linewidth=0)
        if isinstance(legend, dict):
            darker = [0.75 * part for part in to_rgb(colour)]
            axis.text(*legend[name], name, fontsize=9, fontweight="bold", color=darker, ha="center", va="center")
    if floor is not None:
        draw_floor(axis, [as_array(numbers)[..., -len(x) // 3 :] for numbers in curves.values()], *floor)
    if border is not None:
        draw_border(axis, *border)
    if shaded is not None:
        shade(axis, *shaded)
    axis.grid(axis="y")
    if log_x:
        axis.set_xscale("log")
        axis.set_xticks(list(x), labels=[in_full(number) for number in x])
        axis.minorticks_off()
    elif max(x) >= 1000:
        axis.xaxis.set_major_formatter(lambda number, place: in_full(number))
    if log_y:
        axis.set_yscale("log")
        low, high = axis.get_ylim()
        if high < 100 * low:  # one or two powers of ten say too little: 1, 2, 5, 10 and so on instead
            axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.minorticks_off()
        if low > 1e-4 and high < 1e5:  # beyond, powers of ten are easier to read
            axis.yaxis.set_major_formatter(lambda number, place: in_full(number))
    for note in notes:
        point_at(axis, *note)
    alt = alt or f"Line chart of {y_label} against {x_label}: {title}."
    return finish(figure, axis, title, x_label, y_label, alt, None if isinstance(legend, dict) else legend)


def draw_border(axis, place, name):
    """A dotted line from top to bottom, with the name of what lies to its right above it."""
    axis.axvline(place, color="grey", linestyle=(0, (1, 1)))
    write_above(axis, place, name + " →", "left")


def shade(axis, start, end, name):
    """A grey background between two places, with its name above."""
    axis.axvspan(start, end, color="#eef0f2", linewidth=0, zorder=0)
    write_above(axis, (start + end) / 2, name, "center")


def write_above(axis, place, words, side):
    """A few words above the chart, from a place to its right, or around it."""
    where = axis.get_xaxis_transform()
    style = {"color": "#666666", "fontsize": 9, "ha": side, "va": "bottom"}
    axis.annotate(words, (place, 1), (0, 2), where, textcoords="offset points", **style)


def draw_floor(axis, ends, name, height):
    """A dotted line with its name at the right, on the side where the ends of the curves leave more room."""
    gaps = np.concatenate([numbers.ravel() for numbers in ends]) - height
    above = min(gaps[gaps >= 0], default=np.inf) > min(-gaps[gaps < 0], default=np.inf)
    axis.axhline(height, color="grey", linestyle=(0, (1, 1)))
    axis.annotate(
        name,
        (1, height),
        (-3, 3 if above else -3),
        axis.get_yaxis_transform(),
        textcoords="offset points",
        color="#666666",
        fontsize=9,
        ha="right",
        va="bottom" if above else "top",
    )
    axis.margins(y=0.1)  # room for the name, even at the edge


@in_style
def show_bars(
    names, bars, title, y_label, x_label="", alt=None, floor=None, floor_on_line=False, on=None, notes=(), written=None
):
    """Groups of bars side by side: bars is {series: numbers}, one number for each of names. The name "" makes a gap.

    Numbers from several runs, (run, bar), become bars of their mean, each with a dot for every run.
    floor, (name, number), is a dashed line across. Its name stands in the legend, or at the right end of the line.
    A series may stand on one before it instead of beside it: on is {series: the lower one}.
    Each of notes is a point_at; the bars stand at 0, 1, 2 and so on. written is the format of the numbers above them,
    or, if a series stands on another, inside them, with its name, where there is room; then there is no legend.
    """
    figure = Figure(figsize=(6.4, 3.2))
    axis = figure.add_axes((0.12, 0.2, 0.86, 0.68))  # fixed: layouts differ from release to release
    on = on or {}
    columns = [name for name in bars if name not in on]
    width = 0.8 / len(columns)
    for index, (name, numbers) in enumerate(bars.items()):
        places = np.arange(len(names)) + (columns.index(on.get(name, name)) - (len(columns) - 1) / 2) * width
        bottom = as_array(bars[on[name]]) if name in on else 0
        runs = np.atleast_2d(as_array(numbers))
        drawn = axis.bar(
            places,
            runs.mean(axis=0),
            width,
            bottom,
            color=COLOURS[index % len(COLOURS)],
            label=name,
            hatch=["", "//", "..", "xx"][index % 4],
            edgecolor="white",
        )
        if written and on:
            tops = bottom + runs.mean(axis=0)
            words = [
                f"{name}: {written % run}" if run > 0.1 * top else "" for run, top in zip(runs[0], tops, strict=True)
            ]
            axis.bar_label(
                drawn,
                words,
                label_type="center",
                fontsize=9,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 2},
            )
        elif written:
            axis.bar_label(drawn, fmt=written, padding=1, fontsize=9 if len(columns) == 1 else 8)
            axis.margins(y=0.1)  # room for the numbers above and below
        if len(runs) > 1:
            apart = np.linspace(-0.3, 0.3, len(runs))[:, None] * width  # side by side: none covers another
            axis.scatter(places + apart, runs, 14, "black", edgecolors="white", linewidths=0.6, zorder=3)
    ticks = {place: name for place, name in enumerate(names) if name != ""}
    axis.set_xticks(list(ticks), labels=list(ticks.values()))
    if max(as_array(numbers).max() for numbers in bars.values()) >= 1000:
        axis.yaxis.set_major_formatter(lambda number, place: in_full(number))
    axis.grid(axis="y")
    if floor is not None:
        axis.axhline(floor[1], color="black", linestyle=(0, (4, 2)), lw=1, label="" if floor_on_line else floor[0])
        if floor_on_line:
            axis.annotate(
                floor[0],
                (1, floor[1]),
                (-3, 3),
                axis.get_yaxis_transform(),
                textcoords="offset points",
                fontsize=9,
                ha="right",
                va="bottom",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            )  # no grid lines through the words
            axis.margins(y=0.12)  # room for the name
    for note in notes:
        point_at(axis, *note)
    legend = None if written and on else "best"
    return finish(figure, axis, title, x_label, y_label, alt or f"Bar chart of {y_label}: {title}.", legend)


@in_style
def show_shares(names, shares, title, rest=False):
    """Bars from left to right, one below the other, each with its number: for names too long to stand side by side.

    With rest, the last bar is grey: it stands for all that have no bar of their own.
    """
    figure = Figure(figsize=(6.4, 0.5 + 0.24 * len(names)))
    axis = figure.add_axes((0.16, 0.02, 0.78, 1 - 0.45 / figure.get_figheight()))  # fixed, as in show_bars
    colours = [COLOURS[0]] * (len(names) - rest) + ["#999999"] * rest
    axis.bar_label(axis.barh(range(len(names)), shares, color=colours), fmt="%.2f", padding=3, fontsize=9)
    axis.set_yticks(range(len(names)), labels=names)
    axis.set(xticks=[], ylim=(len(names) - 0.5, -0.5))
    axis.tick_params(length=0)
    axis.spines[["top", "right", "bottom"]].set_visible(False)
    entitle(figure, title)
    return Picture(figure, f"Bar chart: {', '.join(map('{} {:.2f}'.format, names, shares))}. {title}.")


@in_style
def show_dots(rows, title, x_label, zero, alt=None):
    """Rows of dots, one below the other: rows is {name: numbers}, of which each is a dot, and their mean a black line.

    At 0 there is a line from top to bottom, with the name zero above it.
    """
    figure = Figure(figsize=(6.4, 1.15 + 0.27 * len(rows)))
    tall, left = figure.get_figheight(), max(0.2, 0.0125 * longest_line(rows))
    axis = figure.add_axes((left, 0.5 / tall, 0.97 - left, 1 - 1.1 / tall))  # fixed, as in show_bars
    axis.axvline(0, color="#888888", linewidth=1)
    axis.annotate(
        zero,
        (0, 1),
        (0, 3),
        axis.get_xaxis_transform(),
        textcoords="offset points",
        fontsize=9,
        color="#444444",
        ha="center",
        va="bottom",
    )
    for row, numbers in enumerate(map(as_array, rows.values())):
        apart = row + np.linspace(-0.2, 0.2, len(numbers))  # one above the other: none covers another
        axis.scatter(numbers, apart, 26, COLOURS[0], edgecolors="white", linewidths=0.6, zorder=3)
        axis.plot([numbers.mean()] * 2, [row - 0.36, row + 0.36], color="black", linewidth=2, zorder=2)
    axis.set_yticks(range(len(rows)), labels=rows)
    axis.set_ylim(len(rows) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)
    axis.grid(axis="x")
    axis.spines["left"].set_visible(False)
    return finish(figure, axis, title, x_label, "", alt or f"Dots for {x_label}: {title}.")


@in_style
def show_arrows(vectors, title, names=None, polygon=None, alt=None, colours=COLOURS, arcs=(), left=(), dashed=()):
    """Two-dimensional vectors as arrows from the origin, to scale; the corners of a polygon, if any, are joined.

    Each of arcs, (one arrow, another), marks the angle from the one to the other, anticlockwise, in degrees.
    The names of the arrows in left stand to the left of their tips; the arrows in dashed are dashed.
    """
    vectors = as_array(vectors)
    figure = Figure(figsize=(4.2, 4.0), layout="constrained")
    axis = figure.subplots()
    reach = float(np.abs(vectors).max()) * 1.25
    if polygon is not None:
        axis.fill(*as_array(polygon).T, facecolor="none", edgecolor="grey", linestyle=":")
    for index, (x, y) in enumerate(vectors):
        colour = colours[index % len(colours)]
        style = (0, (3, 2)) if index in dashed else "-"
        axis.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.8, "ls": style})
        if names is not None:
            length = np.hypot(x, y) or 1.0
            aside = len(names[index]) > 1 and length / 2 < abs(x) < reach / 2  # a word needs room
            near = len(names[index]) == 1 or (aside and polygon is not None)  # or its end may cover the polygon's edge
            points = 9 if near else 28 if "\n" in names[index] else 13  # from the tip to the middle of the name
            beyond = points / length
            side = ("left" if x > 0 else "right") if aside else "center"
            offset = beyond * x, beyond * y
            if index in left:
                side, offset = "right", (-8, 8)
            axis.annotate(
                names[index],
                (x, y),
                offset,
                textcoords="offset points",
                color=colour,
                fontsize=11,
                ha=side,
                va="center",
                bbox={"boxstyle": "round,pad=0.05", "facecolor": "white", "edgecolor": "none", "alpha": 0.7},
            )
    for first, second in arcs:
        start, end = (np.degrees(np.arctan2(y, x)) for x, y in vectors[[first, second]])
        degrees, radius = (end - start) % 360, 0.2 * reach
        axis.add_patch(Arc((0, 0), 2 * radius, 2 * radius, theta1=start, theta2=end, color="#666666"))
        middle = np.radians(start + degrees / 2)
        axis.text(
            *(1.6 * radius * np.array([np.cos(middle), np.sin(middle)])),
            f"{degrees:.0f}°",
            color="#444444",
            ha="center",
            va="center",
        )
    axis.axhline(0, color="lightgrey", lw=0.8, zorder=0)
    axis.axvline(0, color="lightgrey", lw=0.8, zorder=0)
    lowest, highest = vectors.min(axis=0), vectors.max(axis=0)
    across, up = np.where([lowest < 0, highest > 0], reach, reach / 6).T * [-1, 1]  # a little where no arrow goes
    axis.set(xlim=across, ylim=up, aspect="equal")
    return finish(figure, axis, title, "feature 0", "feature 1", alt or f"Arrows from the origin: {title}.")


def finish(figure, axis, title, x_label, y_label, alt, legend="best"):
    """Labels, a legend where there is something to tell apart, and no more frame than needed."""
    entitle(figure, title)
    axis.set(xlabel=x_label, ylabel=y_label)
    axis.spines[["top", "right"]].set_visible(False)
    if legend is not None and axis.get_legend_handles_labels()[0]:
        axis.legend(loc=legend, facecolor="white", edgecolor="none", framealpha=0.9)  # no grid lines through the words
    return Picture(figure, alt)
