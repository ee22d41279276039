"""Lessons 5 and 6: what tells positions apart, and what hides keys."""

import math

from drawing.canvas import (
    INK,
    LEFT,
    LINE,
    MARGIN,
    MUTED,
    NARROW,
    OUTPUT,
    WEIGHTS,
    WHITE,
    WIDTH,
    Colour,
    diagram,
    narrow,
)

# --- Lesson 5 -----------------------------------------------------------------------------------------------


# One colour for each hand, from the fastest to the slowest; none is that of a role.
HANDS = [
    Colour("#5b4bb5", "#e6e2f8", "#3d2f8f"),
    Colour("#0f7f86", "#d8eff0", "#0a5a5f"),
    Colour("#7a7a00", "#f1f1cf", "#555500"),
    Colour("#9a4f4f", "#f6e1e1", "#733636"),
]


def sinusoids(position, d_model):
    """One row of the encoding: the sine and the cosine of each hand's angle."""
    angles = [position / 10000 ** (even / d_model) for even in range(0, d_model, 2)]
    return [wave(angle) for angle in angles for wave in (math.sin, math.cos)]


def coloured_row(position):
    """The cells of an encoding of eight features, each in the colour of its hand."""
    features = enumerate(sinusoids(position, 8))
    return [(HANDS[index // 2], f"{feature:.2f}".replace("-", "−")) for index, feature in features]


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
            d.line((x, y), (x + radius * sine, y - radius * cosine), ink=HANDS[hand].line, width=2.5)
            d.add("circle", cx=x + radius * sine, cy=y - radius * cosine, r=4, fill=HANDS[hand].line)
    for hand in range(d_model // 2):
        y = 124 + 72 * hand
        turn = 2 * math.pi * 10000 ** (2 * hand / d_model)
        d.label(MARGIN, y, f"features\n{2 * hand} and {2 * hand + 1}", 13, HANDS[hand].ink, "start")
        d.label(626, y, f"full turn in\n{turn:.{1 if turn < 10 else 0}f} positions", 13, MUTED, "start")
    d.label(
        MARGIN,
        412,
        "The tip of each hand gives two features: a sine (how far right) and a cosine (how far up). Position 3:",
        13,
        align="start",
    )
    row = d.grid(MARGIN, 450, [coloured_row(3)], 88, 32)
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
            d.line((x, y), (x + radius * sine, y - radius * cosine), ink=HANDS[hand].line, width=2.5)
            d.add("circle", cx=x + radius * sine, cy=y - radius * cosine, r=3.5, fill=HANDS[hand].line)
    for hand in range(4):
        turn = 2 * math.pi * 10000 ** (2 * hand / 8)
        d.label(LEFT, 126 + 76 * hand, f"{2 * hand} and {2 * hand + 1}", 12, HANDS[hand].ink, "start")
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
    d.grid(LEFT, 466, [coloured_row(3)], 44, 32, size=12)
    d.code(LEFT, 524, "sinusoidal_encoding(4, 8)[3]", ink=MUTED)


@diagram(height=372)
def fast_and_slow_hand(d):
    """Beyond distance 15, only the slow hand leaves its old angles behind

    Two clocks, one for each pair of four features. A hand starts upwards and turns clockwise, as far as the
    distance between query and key tells it to. In training it has met the distances 0 to 15, which are drawn
    as hands; the distances 16 to 47 are new, and drawn as dots around the clock. The fast hand, with frequency
    1, has been round more than twice in training, so its dots lie between the hands. The slow one, with
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
        grid = one_mask(d, 86 + 224 * index, top, allowed, cell, True)
        d.label(grid.middle[0], 84, names[index], 13)
    for x, sign in [(261, "&"), (485, "=")]:
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
