"""A verdict as a small card, for notebooks that show HTML. It says what the plain text says, word for word.

All styles are inline, in colours that work on light and dark backgrounds, and no meaning depends on them: nothing is
lost in a notebook that is not trusted, or when the page is read aloud.
"""

import html
import io
import keyword
import os
import re
import sys
import tokenize
from collections.abc import Sequence

from transformer_lessons.exercises.checker.parts import Part

COLOURS = {"passed": "#1b9e77", "failed": "#d55e00"}  # safe for colour-blind eyes; everything else is grey
GREY = "#8a8a8a"
SPOKEN = {"✓": "passed", "✗": "not right", "○": "not attempted"}  # by screen readers
COLOURS_OF_CODE = {"keyword": "#00803f", "string": "#c0392b", "comment": "#5f7a7a", "number": "#2e7d4f"}
COLOURS_IN_VS_CODE = {  # the names of its theme's colours, which are readable on its background
    "keyword": "debugTokenExpression-name",
    "string": "debugTokenExpression-string",
    "comment": "descriptionForeground",
    "number": "debugTokenExpression-number",
}
KINDS = {tokenize.STRING: "string", tokenize.COMMENT: "comment", tokenize.NUMBER: "number"}


def is_shown() -> bool:
    """Is somebody looking at this in a notebook, in a browser or an editor? Anything else gets plain text."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or not hasattr(shell, "kernel"):
        return False
    return "JPY_SESSION_NAME" in os.environ or "__vsc_ipynb_file__" in shell.user_ns or "google.colab" in sys.modules


def show(text: str, page: str) -> None:
    """Displays the card, along with the plain text for programs and terminals that read the output."""
    from IPython.display import display

    display({"text/plain": text, "text/html": page}, raw=True, metadata={"transformer_lessons": {"card": True}})


def card(status: str, heading: str, blocks: list[str]) -> str:
    """The card's HTML: a heading and, below it, blocks that are already HTML."""
    colour = COLOURS.get(status, GREY)
    style = f"border-left: 4px solid {colour}; padding: 2px 12px; margin: 6px 0; max-width: 720px"
    heading = marked_up(heading)
    if heading[:1] in SPOKEN:
        heading = f'<span role="img" aria-label="{SPOKEN[heading[0]]}">{heading[0]}</span>{heading[1:]}'
    return "\n".join([f'<div style="{style}">', f"<p><strong>{heading}</strong></p>", *blocks, "</div>"])


def blocks_of(status: str, parts: Sequence[Part]) -> list[str]:
    """What a verdict says below its heading, with the learner's numbers beside the expected ones."""
    blocks: list[str] = []
    for part in parts:
        if part.kind == "table":
            blocks += tables(part, COLOURS.get(status, GREY)) if part.rows else [preformatted(*part.table)]
        elif part.kind == "values":
            blocks.append(preformatted(part.text))
        elif part.kind == "line":
            blocks.append(f"<p>at the line: <code>{html.escape(part.text)}</code></p>")
        else:
            blocks.append(paragraph(" ".join(part.sentence.split("\n"))))
    return blocks


def tables(part: Part, colour: str) -> list[str]:
    """The learner's numbers beside the expected ones, or above them where the page is narrow; those off are marked."""
    pairs = [(ours.split(), expected.split()) for ours, expected in part.rows]
    ours = [[marked(one, other, colour) for one, other in zip(*pair, strict=True)] for pair in pairs]
    theirs = [[f"<td>{html.escape(one)}</td>" for one in expected] for _, expected in pairs]
    return [table(marked_up(f"yours: {part.text}"), ours), table("expected", theirs)]


def table(heading: str, rows: list[list[str]]) -> str:
    head = f'<th scope="colgroup" colspan="{len(rows[0])}" style="text-align: left">{heading}</th>'
    body = "\n".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    style = "display: inline-table; margin: 0 20px 12px 0; font-family: monospace"
    return f'<table style="{style}">\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>'


def marked(number: str, expected: str, colour: str) -> str:
    """A cell; a wrong number is bold, underlined, and read aloud together with the expected one."""
    number, expected = html.escape(number), html.escape(expected)
    if number == expected:
        return f"<td>{number}</td>"
    style = f"border-bottom: 2px solid {colour}"
    return f'<td aria-label="{number}, not {expected}"><strong style="{style}">{number}</strong></td>'


def paragraph(text: str) -> str:
    text = re.sub(r"^Where to look:", r"<strong>\g<0></strong>", marked_up(text))
    text = re.sub(r"\b(hint|solution|answer|check)\(.*?\)", r"<code>\g<0></code>", text)
    return f"<p>{text}</p>"


def preformatted(text: str) -> str:
    style = "margin: 0 0 12px; white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere"
    return f'<pre style="{style}">{html.escape(text)}</pre>'


def code(source: str) -> str:
    """Python code as an editor shows it: in colours, and in lines that are not broken."""
    style = "margin: 0 0 12px; overflow-x: auto; white-space: pre"
    return f'<pre style="{style}">{coloured(source)}</pre>'


def coloured(source: str) -> str:
    """The code, escaped, in the colours of JupyterLab's or VS Code's theme; elsewhere, any background suits them."""
    lines, parts, end = source.splitlines(keepends=True), [], (1, 0)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        parts.append(html.escape(between(lines, end, token.start), quote=False))
        text, kind = html.escape(between(lines, token.start, token.end), quote=False), kind_of(token)
        parts.append(f'<span style="color: {colour_of(kind)}">{text}</span>' if kind else text)
        end = token.end
    return "".join(parts)


def colour_of(kind: str) -> str:
    in_vs_code = f"var(--vscode-{COLOURS_IN_VS_CODE[kind]}, {COLOURS_OF_CODE[kind]})"
    return f"var(--jp-mirror-editor-{kind}-color, {in_vs_code})"


def between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    """The text from one place to another, each a line, counted from 1, and a column."""
    rows = [line[: end[1]] if row == end[0] else line for row, line in enumerate(lines[: end[0]], 1)][start[0] - 1 :]
    return rows[0][start[1] :] + "".join(rows[1:]) if rows else ""


def kind_of(token: tokenize.TokenInfo) -> str | None:
    """What an editor gives a colour to."""
    if token.type == tokenize.NAME:
        return "keyword" if keyword.iskeyword(token.string) else None
    return KINDS.get(token.type)


def marked_up(text: str) -> str:
    """The text, escaped, with what is in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
