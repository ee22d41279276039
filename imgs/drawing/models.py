"""Lessons 7 and 8: the layers, the whole model, and what a language model predicts."""

from drawing.canvas import (
    EMPTY,
    KEY,
    LEFT,
    MARGIN,
    MUTED,
    OUTPUT,
    PANEL,
    PLAIN,
    QUERY,
    VALUE,
    WEIGHTS,
    WIDTH,
    Box,
    diagram,
    narrow,
)

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


def around(d, left, branch, part, total, right):
    """The stream from x, above, to its sum with what a part found, below: where each thing stands."""
    y, below = 92, 154
    start = d.box(*left, "`x`", PLAIN, 15)
    end = d.box(*right, "`x + f(x)`", OUTPUT, 15)
    box = d.box(part[0], below - 18, part[1], 36, "part `f`", WEIGHTS)
    d.line((start.x + start.width, y), (total - 11, y), ink=STREAM, width=4)
    d.arrow((total + 11, y), (end.x, y), ink=STREAM, width=4)
    d.arrow((branch, y), (branch, below), (box.x, below), ink=STREAM)
    plus = d.plus(total, y, STREAM)
    d.arrow((box.x + box.width, below), (total, below), plus.bottom(), ink=STREAM)
    d.label((branch + total) / 2, y - 15, "skip", 14, bold=True)


@diagram(height=196)
def skip_connection(d):
    """A part adds to its input instead of replacing it

    From the left, x runs along a thick line, the skip, straight to a sum. A branch leads x through a part,
    f, whose output f(x) joins the same sum. On the right, x + f(x) comes out.
    """
    around(d, (60, 74, 70, 36), 190, (270, 180), 520, (590, 74, 110, 36))


@narrow(height=196)
def narrow_skip_connection(d):
    around(d, (16, 74, 40, 36), 78, (100, 92), 226, (266, 74, 98, 36))


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
    by an embedding, num_layers decoder layers with a causal and a padding mask, which attend to the target, then
    to the memory, and a norm into vectors; times the embedding's table these are the logits of the next tokens.
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
        d.label(x, 271, f"`num_layers` × `{stack}`", 12, WEIGHTS.ink)
        d.label(x, 293, f"`{mask}`", 12, MUTED)
        norms.append(d.box(x - 44, 380, 88, 28, "`norm`", EMPTY, 13))
        d.arrow(source.bottom(), embedding.top(), ink=STREAM)
        d.arrow(embedding.bottom(), stacks[-1].top(), ink=STREAM)
        d.arrow((x, 356), norms[-1].top(), ink=STREAM)
    memory = d.box(83, 432, 220, 48, colour=OUTPUT)
    d.label(193, 446, "memory", ink=OUTPUT.ink)
    d.code(193, 466, "(batch, source, d_model)", align="middle", ink=MUTED)
    d.arrow(norms[0].bottom(), memory.top(), ink=STREAM)
    d.arrow(memory.right(), (380, 456), (380, 301), stacks[1].left(), ink=OUTPUT.line)
    d.label(193, 324, "attends to itself", 12, WEIGHTS.ink)
    d.label(567, 324, "attends to itself,\nthen to the memory", 12, WEIGHTS.ink)
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
            box = d.box(x - 80 + shift, 238 + shift, 160, 118, colour=WEIGHTS)
        stacks.append(box)
        d.label(x, 261, f"`num_layers` ×\n`{stack}`", 12, WEIGHTS.ink)
        d.label(x, 299, "\n".join(f"`{line}`" for line in mask.split("\n")), 12, MUTED)
        norms.append(d.box(x - 40, 384, 80, 26, "`norm`", EMPTY, 13))
        d.arrow(source.bottom(), embedding.top(), ink=STREAM)
        d.arrow(embedding.bottom(), box.top(), ink=STREAM)
        d.arrow((x, 364), norms[-1].top(), ink=STREAM)
    d.label(98, 335, "attends to itself", 12, WEIGHTS.ink)
    d.label(282, 335, "attends to itself,\nthen to the memory", 12, WEIGHTS.ink)
    memory = d.box(28, 432, 140, 28, "memory", OUTPUT, 13)
    d.code(98, 484, "(batch, source,\nd_model)", ink=MUTED, align="middle")
    d.arrow(norms[0].bottom(), memory.top(), ink=STREAM)
    d.arrow(memory.right(), (194, 446), (194, 297), stacks[1].left(), ink=OUTPUT.line)
    times = d.box(202, 432, 160, 28, "× the embedding table", PLAIN, 12)
    logits = d.box(202, 482, 160, 64, colour=OUTPUT)
    d.label(282, 496, "logits", 13, OUTPUT.ink)
    d.code(282, 524, "(batch, target,\nvocabulary)", align="middle", ink=MUTED)
    d.arrow(norms[1].bottom(), times.top(), ink=STREAM)
    d.arrow(times.bottom(), logits.top(), ink=STREAM)


# --- Lesson 8 -----------------------------------------------------------------------------------------------

LINE_OF_A_PLAY = ["My", "␣", "lantern", "␣", "sleeps", ",␣", "and"]


@diagram(height=474)
def next_token(d):
    """From a text to its next token, again and again

    Above, a line is cut at word boundaries into tokens: My, space, lantern, space, sleeps, comma and space,
    and. Below it a row of targets, and under each target its input, the token before it; the last target is a question
    mark. The model, a LanguageModel, turns the row of inputs into logits at every position. In training, the logits
    are compared with the targets: that is the loss. When the model generates, the softmax of the last logits gives each
    token a probability; one is drawn and appended to the text, and the model reads again.
    """
    text = d.box(28, 62, 704, 34, "My lantern sleeps, and", EMPTY, 15)
    d.label(392, 111, "`tokenize`: cut at word boundaries", 13, MUTED, "start")
    d.arrow(text.bottom(), (380, 128))
    tokens = d.grid(128, 128, [LINE_OF_A_PLAY], 72, 30, PLAIN)
    d.label(118, 143, "tokens", 13, align="end")
    targets = d.grid(128, 184, [[*LINE_OF_A_PLAY[1:], (OUTPUT, "?")]], 72, 30, VALUE)
    d.grid(128, 214, [LINE_OF_A_PLAY], 72, 30, QUERY)
    d.label(118, 199, "targets", 13, VALUE.ink, "end")
    d.label(118, 229, "inputs", 13, QUERY.ink, "end")
    d.label(392, 170, "`make_sequences`: targets are one token ahead", 13, MUTED, "start")
    d.arrow(tokens.bottom(), targets.top())
    d.box(128, 274, 504, 44, "`LanguageModel`, causal", WEIGHTS, 15)
    d.arrow((380, 244), (380, 274), ink=QUERY.line)
    logits = d.box(128, 350, 504, 36, "logits at every position", OUTPUT)
    d.arrow((380, 318), (380, 350), ink=STREAM)
    d.box(28, 408, 320, 28, "training: loss = −ln *p*(target), at all positions", VALUE, 13)
    d.arrow((62, 199), (44, 199), (44, 408), ink=VALUE.line)
    d.arrow((238, 386), (238, 408), ink=OUTPUT.line)
    drawn = d.box(660, 340, 72, 56, "next\ntoken", OUTPUT)
    d.arrow(logits.right(), drawn.left(), ink=OUTPUT.line)
    d.arrow(drawn.top(), (696, 143), tokens.right(), ink=OUTPUT.line)
    d.label(732, 422, "generating: draw from the softmax of the last logits", 13, OUTPUT.ink, "end")
    d.label(
        MARGIN,
        452,
        "␣ is a space. “?” is not known yet: in training, it is left out; when generating, it is drawn and appended.",
        13,
        MUTED,
        "start",
    )


@narrow(height=540)
def narrow_next_token(d):
    text = d.box(LEFT, 68, 352, 32, "My lantern sleeps, and", EMPTY, 13)
    d.label(200, 114, "`tokenize`", 12, MUTED, "start")
    tokens = d.grid(22, 130, [LINE_OF_A_PLAY], 48, 28, PLAIN, size=12)
    d.arrow(text.bottom(), tokens.top())
    d.label(22, 190, "targets", 13, VALUE.ink, "start", bold=True)
    d.label(84, 190, "inputs, one behind", 13, QUERY.ink, "start", bold=True)
    d.label(246, 190, "`make_sequences`", 12, MUTED, "start")
    targets = d.grid(30, 206, [[*LINE_OF_A_PLAY[1:], (OUTPUT, "?")]], 47, 28, VALUE, size=12)
    d.grid(30, 234, [LINE_OF_A_PLAY], 47, 28, QUERY, size=12)
    model = d.box(30, 288, 329, 36, "`LanguageModel`, causal", WEIGHTS)
    logits = d.box(30, 350, 329, 34, "logits at every position", OUTPUT)
    d.arrow((194.5, 262), model.top(), ink=QUERY.line)
    d.arrow(model.bottom(), logits.top(), ink=STREAM)
    loss = d.box(8, 412, 218, 48, "training: loss = −ln *p*(target),\nat all positions", VALUE, 13)
    d.arrow(targets.left(), (16, 220), (16, 412), ink=VALUE.line)
    d.arrow((117, 384), loss.top(), ink=OUTPUT.line)
    drawn = d.box(246, 421, 100, 30, "next token", OUTPUT, 13)
    d.arrow((296, 384), drawn.top(), ink=OUTPUT.line)
    d.arrow(drawn.right(), (366, 436), (366, 144), tokens.right(), ink=OUTPUT.line)
    d.label(LEFT, 486, "generating: draw “?” from the softmax of the", 13, OUTPUT.ink, "start")
    d.label(LEFT, 506, "last logits, and append it. ␣ is a space.", 13, OUTPUT.ink, "start")
