"""Lessons 9 to 12: byte pairs, modern models, what goes on inside them, and speed."""

from itertools import pairwise

from drawing.canvas import (
    EMPTY,
    KEY,
    LEFT,
    LINE,
    MARGIN,
    MUTED,
    NARROW,
    OUTPUT,
    PANEL,
    PLAIN,
    QUERY,
    VALUE,
    WEIGHTS,
    WIDTH,
    diagram,
    narrow,
    path,
)
from drawing.models import STREAM
from drawing.positions_and_masks import ALLOWED, FORBIDDEN

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
        colour = WEIGHTS if part == new else PLAIN  # blue, as in the lesson
        d.box(x + 2, y, pitch * len(part) - 4, 32, part, colour, 15)
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


@diagram(height=694)
def gpt2_and_llama(d):
    """Llama is GPT-2 with six main changes

    Two models side by side, each a column that is read from top to bottom: tokens, embedding table, positions, layers,
    norm, output matrix, logits. The skeleton is the same; the parts of Llama in orange differ from GPT-2's beside them,
    and each bears the number of its change. GPT-2 adds learned positions to the table's vectors; Llama adds none there
    (3, dashed). In each layer GPT-2 has LayerNorm, attention with one KV head for each query head, LayerNorm again, and
    a feed-forward with GELU, with biases in every layer. Llama has RMSNorm (1), attention with rotary positions (3) and
    fewer KV heads (4), RMSNorm again, and SwiGLU (2), without biases (5). Both end in a norm; GPT-2's logits come from
    the embedding table, Llama's from a separate matrix (6).
    """
    two_models(
        d,
        [210, 550],
        150,
        93,
        [
            (74, 30, "tokens", "tokens"),
            (120, 30, "embedding table", "embedding table"),
            (166, 30, "+ learned positions", "no positions added (3)"),
            (230, 30, "LayerNorm", "RMSNorm (1)"),
            (
                272,
                62,
                "attention,\none KV head\nper query head",
                "attention,\nrotary positions (3),\nfewer KV heads (4)",
            ),
            (384, 30, "LayerNorm", "RMSNorm (1)"),
            (426, 46, "feed-forward with GELU,\ntwo maps", "SwiGLU (2),\nthree maps, one a gate"),
            (534, 30, "LayerNorm", "RMSNorm (1)"),
            (582, 30, "times the embedding table", "times a separate matrix (6)"),
            (634, 30, "logits", "logits"),
        ],
    )


def two_models(d, middles, panel, half, rows):
    """GPT-2 and Llama in columns around the middles; panel and half are half the width of a layer and of a part."""
    top, bottom = rows[3][0] - 16, rows[7][0] - 16
    for x, name, side in zip(middles, ["GPT-2", "Llama"], [2, 3], strict=True):
        d.label(x, rows[0][0] - 10, name, 15, bold=True)
        d.box(x - panel, top, 2 * panel, bottom - top, colour=PANEL, radius=12)
        d.label(x - panel + 6, bottom - 16, "× layers", 12, MUTED, "start")
        d.label(
            x - panel + 6,
            top + (13 if panel > 100 else -12),
            "biases" if side == 2 else "no biases (5)",
            12,
            MUTED if side == 2 else OUTPUT.ink,
            "start",
            bold=side == 3 and panel > 100,
        )
        boxes = []
        for y, height, *texts in rows:
            changed = side == 3 and texts[0] != texts[1]
            colour = OUTPUT if changed else EMPTY if texts[0] in ("tokens", "logits") else PLAIN
            text, size = texts[side - 2], 13 if panel > 100 else 12
            left_out = text.startswith("no ")  # nothing stands there
            boxes.append(d.box(x - half, y + 6, 2 * half, height, text, colour, size, dashed=left_out))
        for number, (upper, lower) in enumerate(pairwise(boxes)):
            if number not in (4, 6):
                d.arrow(upper.bottom(), lower.top(), ink=STREAM)
                continue
            total, fork = d.plus(x, upper.y + upper.height + 24), boxes[number - 1].y - 6
            d.arrow(upper.bottom(), total.top(), ink=STREAM)
            aside = x + 0.6 * half + 0.4 * panel
            d.arrow((x, fork), (aside, fork), (aside, total.middle[1]), total.right(), ink=STREAM)
            d.arrow(total.bottom(), lower.top(), ink=STREAM)


@narrow(height=756)
def narrow_gpt2_and_llama(d):
    two_models(
        d,
        [98, 282],
        88,
        70,
        [
            (84, 28, "tokens", "tokens"),
            (128, 28, "embedding table", "embedding table"),
            (172, 28, "+ learned positions", "no positions added (3)"),
            (248, 28, "LayerNorm", "RMSNorm (1)"),
            (
                292,
                62,
                "attention,\none KV head\nper query head",
                "attention,\nrotary positions (3),\nfewer KV heads (4)",
            ),
            (404, 28, "LayerNorm", "RMSNorm (1)"),
            (448, 62, "feed-forward\nwith GELU,\ntwo maps", "SwiGLU (2),\nthree maps,\none a gate"),
            (572, 28, "LayerNorm", "RMSNorm (1)"),
            (624, 44, "times the\nembedding table", "times a\nseparate matrix (6)"),
            (690, 28, "logits", "logits"),
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
        share = 0.5 + 0.7 * ((head % group + 0.5) / group - 0.5)  # the lines end side by side
        d.line(query.bottom(), keys[head // group].top(share), ink=KEY.line)


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

TOKENS = 90  # as many as the lesson's prompt has


@diagram(height=244)
def fetched_weights(d):
    """Each weight is fetched for ninety tokens, or for one

    When the model reads the prompt, 90 tokens go through it in one call: all weights are fetched from memory, and each
    is used 90 times. When it writes with a cache, one token goes through it in each call: all weights are fetched
    again, and each is used once.
    """
    rows = (68, TOKENS, "reading:\n90 tokens in one call"), (156, 1, "writing with a cache:\none token per call")
    for y, tokens, what in rows:
        d.label(MARGIN, y + 29, what, 13, MUTED, "start")
        use_weights(d, 206, y, 130, 66, 140, tokens, 10, 18)


@narrow(height=318)
def narrow_fetched_weights(d):
    rows = (78, TOKENS, "reading: 90 tokens in one call"), (202, 1, "writing with a cache: one token per call")
    for y, tokens, what in rows:
        d.label(LEFT, y, what, 13, MUTED, "start")
        use_weights(d, LEFT, y + 16, 96, 76, 104, tokens, 8, 10)


def use_weights(d, left, y, wide, high, gap, tokens, cell, columns):
    """The weights go from memory to the processor, where the tokens, small squares at its right, use them."""
    space = gap // 4
    memory = d.box(left, y, wide, high, "memory:\nall weights", WEIGHTS, size=13)
    uses = f"each used\n{tokens} times" if tokens > 1 else "each used\nonce"
    processor = d.box(left + wide + space, y, wide, high, uses, PLAIN, size=13, bold=True)
    d.arrow(memory.right(), processor.left(), ink=WEIGHTS.line, width=2.5)
    start = processor.x + wide + space
    d.arrow((start - 3, y + high / 2), processor.right(), ink=OUTPUT.line)
    rows = -(-tokens // columns)
    for token in range(tokens):
        row, column = divmod(token, columns)
        top = y + high / 2 + (row - rows / 2) * cell
        d.box(start + column * cell, top, cell - 1.4, cell - 1.4, "", OUTPUT, radius=1)


TILES = 4


@diagram(height=411)
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
    d.label(left + 0.5 * cell, top + 2.5 * cell, "whole", 13)
    d.label(left + 3.5 * cell, top + TILES * cell + 14, "on the diagonal: masked", 13, MUTED)
    d.label(left + TILES * cell + 14, top + 0.5 * cell, "in the future: never computed", 13, MUTED, "start")
    y = top + 3.5 * cell
    carried = d.box(480, y - 46, 252, 92, CARRIED, OUTPUT)
    d.line((left + 12, y), (left + 3.5 * cell, y), ink=OUTPUT.line, width=2.5)
    d.arrow((left + 3.5 * cell, y), carried.left(), ink=OUTPUT.line, dashed=True)
    d.label(606, y - 70, "for each query, carried from tile to tile", 13, MUTED)
    d.label(
        MARGIN,
        378,
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
    d.label(left + 0.5 * cell, top + 2.5 * cell, "whole", 12)
    d.label(left + 3.5 * cell, top + 4 * cell + 12, "masked", 12, MUTED)
    d.label(left + 4 * cell + 5, top + 0.5 * cell, "never\ncomputed", 12, MUTED, "start")
    y = top + 3.5 * cell
    carried = d.box(74, 348, 252, 84, CARRIED, OUTPUT)
    d.line((left + 12, y), (left + 3.5 * cell, y), ink=OUTPUT.line, width=2.5)
    d.arrow((left + 3.5 * cell, y), (360, y), (360, 390), carried.right(), ink=OUTPUT.line, dashed=True)
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
    "cat" and the three drafts in one call, since "the" is already in the cache. What it predicts after "cat" is used to
    test "sat", and so on: each draft has to pass a random test. "sat" passes and is kept. "in" fails and is replaced by
    "on". "a" was drafted to follow the rejected token, so it is thrown away without a test. What is predicted after "a"
    would be used only if all drafts passed. The text is now "the cat sat on".
    """
    fates(d, left=212, pitch=104, wide=94, tops=(74, 138, 208, 280), high=34)
    d.label(MARGIN, 91, "the text, and what\nthe cheap model drafts", 13, MUTED, "start")
    d.label(MARGIN, 229, "a random test\nfor each draft", 13, MUTED, "start")
    d.label(MARGIN, 297, "the longer text", 13, MUTED, "start")


@narrow(height=374)
def narrow_drafts(d):
    fates(d, left=16, pitch=70, wide=66, tops=(92, 156, 226, 298), high=34)
    d.label(LEFT, 76, "the text, and what the cheap model drafts", 12, MUTED, "start")
    d.label(LEFT, 247, "a random\ntest for\neach draft", 12, MUTED, "start")


def fates(d, left, pitch, wide, tops, high):
    """Two tokens and three drafts, the expensive model below them, what its predictions test, and the longer text."""
    places = [left + pitch * column for column in range(5)]
    middles = [place + wide / 2 for place in places]
    drafted, read, tested, kept = tops
    for column, (place, token) in enumerate(zip(places, ("the", "cat", "sat", "in", "a"), strict=True)):
        d.box(place, drafted, wide, high, token, PLAIN if column < 2 else WEIGHTS)
    d.label(middles[0], drafted + high + 15, "in the cache", 12, MUTED)
    d.box(places[1], read, places[4] + wide - places[1], high + 6, "expensive model, one call", OUTPUT, 13)
    for middle in middles[1:]:
        d.arrow((middle, drafted + high), (middle, read))
    results = ("“sat”\npasses", "“in”\nfails", "“a” is not\ntested", "used if\nall pass")
    for place, middle, result in zip(places[1:], middles[1:], results, strict=True):
        d.arrow((middle, read + high + 6), (middle, tested))
        d.box(place, tested, wide, high + 8, result, EMPTY, 12)
    for place, token, colour in zip(places, ("the", "cat", "sat", "on"), (PLAIN, PLAIN, WEIGHTS, OUTPUT), strict=False):
        d.box(place, kept, wide, high, token, colour)
    for middle, following in pairwise(middles[1:4]):  # what follows a token is one place on
        d.arrow((middle, tested + high + 8), (following, kept))
    for middle, fate in zip(middles[2:], ("kept", "replaced", "thrown away"), strict=True):
        d.label(middle, kept + high + 16, fate, 12, MUTED)
