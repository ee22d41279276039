"""Draws the picture that moves at the top of the README: `python imgs/animate.py` writes writing.svg.

The course's own model continues a line, with seed 1 and nothing picked: each frame shows the text so far, and
how likely the model finds the next token. The frames take turns by CSS alone; where nothing moves, the last is shown.
"""

from pathlib import Path
from xml.sax.saxutils import escape

import torch
from drawing.canvas import MONO, SANS

from transformer_lessons.language import checkpoints, sampling

PATH = Path(__file__).with_name("writing.svg")
PROMPT, LENGTH, SEED, TEMPERATURE = "HAMLET.\n", 20, 1, 0.8
WIDTH, HEIGHT = 620, 256
ROWS = 5  # of tokens with their probabilities
SECONDS, REST = 0.7, 4  # for a frame, and for the last one
TITLE = "The course's language model writes a play, token by token"
SIGNS = str.maketrans({" ": "␣", "\n": "⏎"})

STYLE = f"""
svg {{ font-family: {SANS}; color-scheme: light dark; --paper: #fdfdfb; --line: #d0d7de; --ink: #1f2328;
  --quiet: #59636e; --bar: #0072b2; --chosen: #d55e00; }}
@media (prefers-color-scheme: dark) {{
  svg {{ --paper: #15181d; --line: #3d444d; --ink: #e6edf3; --quiet: #9aa4af; --bar: #56a8dc; --chosen: #ff9a57; }}
}}
text {{ fill: var(--ink); font-size: 16px; white-space: pre; }}
.quiet {{ fill: var(--quiet); font-size: 15px; }}
.token {{ font-family: {MONO}; font-size: 17px; }}
.play {{ font-size: 22px; font-family: Georgia, 'Times New Roman', serif; }}
.bar {{ fill: var(--bar); }}
.chosen {{ fill: var(--chosen); font-weight: bold; }}
.frame {{ opacity: 0; animation: turn TOTALs step-end infinite; }}
.last {{ opacity: 1; animation: stay TOTALs step-end infinite; }}
@keyframes turn {{ 0% {{ opacity: 1; }} SHARE% {{ opacity: 0; }} }}
@keyframes stay {{ 0% {{ opacity: 0; }} START% {{ opacity: 1; }} 100% {{ opacity: 1; }} }}
@media (prefers-reduced-motion: reduce) {{ .frame, .last {{ animation: none; }} }}
"""


@torch.no_grad()
def frames():
    """[(the text so far, {token: probability} of the likeliest, the token that is drawn)], one for each token."""
    model, vocabulary = checkpoints.load_model()
    tokens = torch.tensor([sampling.encode_prompt(vocabulary, PROMPT)])
    drawn = list(sampling.generate_tokens(model, tokens, LENGTH, TEMPERATURE, generator=sampling.seeded(model, SEED)))
    shown = []
    for token in drawn:
        probabilities = (model(tokens)[0, -1] / TEMPERATURE).softmax(-1)
        best = probabilities.topk(ROWS).indices.tolist()
        best = best if token.item() in best else [*best[:-1], token.item()]
        names = {vocabulary.decode([number]): probabilities[number].item() for number in best}
        shown.append((vocabulary.decode(tokens[0].tolist()), names, vocabulary.decode([token.item()])))
        tokens = torch.cat([tokens, token.view(1, 1)], dim=1)
    return shown


def svg():
    shown, parts = frames(), []
    total = SECONDS * (len(shown) - 1) + REST
    for number, (text, names, drawn) in enumerate(shown):
        last = number == len(shown) - 1
        attributes = 'class="last"' if last else f'class="frame" style="animation-delay: {number * SECONDS:.1f}s"'
        parts.append(f"<g {attributes}>\n{text_so_far(text, drawn)}\n{bars(names, drawn)}\n</g>")
    style = STYLE.replace("TOTAL", f"{total:g}").replace("SHARE", f"{100 * SECONDS / total:.3f}")
    style = style.replace("START", f"{100 * (1 - REST / total):.3f}")
    ending = shown[-1][0] + shown[-1][2]
    told = f"Beside the text stand the likeliest next tokens. It ends: {' '.join(ending.split())}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" aria-labelledby="title told">\n<title id="title">{escape(TITLE)}</title>\n'
        f'<desc id="told">{escape(told)}</desc>\n<style>{style}</style>\n'
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="12" fill="var(--paper)" '
        'stroke="var(--line)"/>\n'
        '<text class="quiet" x="24" y="34">The model writes …</text>\n'
        '<text class="quiet" x="348" y="34">How likely is each next token?</text>\n'
        '<path d="M324 20V236" stroke="var(--line)"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def text_so_far(text, drawn):
    """The lines of the play, the token that is drawn at their end."""
    *lines, last = text.split("\n")
    rows = [row_of(row, escape(line)) for row, line in enumerate(lines) if line]
    end = drawn.rstrip() if drawn.strip() else drawn.translate(SIGNS)
    return "\n".join([*rows, row_of(len(lines), f'{escape(last)}<tspan class="chosen">{escape(end)}</tspan>')])


def row_of(row, content):
    return f'<text class="play" x="24" y="{76 + 31 * row}">{content}</text>'


def bars(names, drawn):
    rows = []
    for row, (name, probability) in enumerate(names.items()):
        y, long, kind = 76 + 38 * row, 90 * probability, "chosen" if name == drawn else "bar"
        rows.append(
            f'<text class="token {"chosen" * (name == drawn)}" x="452" y="{y}" text-anchor="end">'
            f"{escape(name.translate(SIGNS))}</text>"
            f'<rect class="{kind}" x="464" y="{y - 14}" width="{max(1, long):.1f}" height="18" rx="3"/>'
            f'<text class="quiet" x="{474 + long:.1f}" y="{y}">{100 * probability:.0f} %</text>'
        )
    return "\n".join(rows)


if __name__ == "__main__":
    PATH.write_text(svg(), encoding="utf-8")
