"""Text as Markdown or HTML: what all pages share."""

import re
from html import escape

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

HIDE_TOC = "---\nhide-toc: true\n---\n\n"  # the page needs the room


def plain(text):
    """Text in which Markdown sees no marks but those of code."""
    parts = re.split(r"(`[^`]+`|\bW_[A-Z](?=ᵀ|\b))", text)
    return "".join(
        part
        if part.startswith("`")
        else with_subscripts(part)
        if part.startswith("W_")
        else re.sub(r"([\\`*_{}\[\]<>$|#])", r"\\\1", part)
        for part in parts
    )


def html(text):
    """The same as HTML."""
    return "".join(
        f"<code>{part[1:-1]}</code>" if part.startswith("`") else with_subscripts(part)
        for part in re.split(r"(`[^`]+`)", escape(text, quote=False))
    )


def with_subscripts(text, names="W"):
    """W_Q, and what else is named so in a formula, with its index below."""
    return re.sub(rf"\b([{names}])_([A-Za-z])(?=ᵀ|\b)", r"<i>\1</i><sub>\2</sub>", text)


def fold(summary, inside, unfolded=False):
    """A folded part, without blank lines, so that Markdown takes it as one piece of HTML."""
    inside = re.sub(r"\n\s*\n", "\n", inside)
    return f"<details{' open' * unfolded}><summary>{escape(summary)}</summary>\n{inside}\n</details>\n"


def fold_code(summary, code):
    return f"<details><summary>{escape(summary)}</summary>\n\n```python\n{code.strip()}\n```\n\n</details>\n"


def contents(caption, entries):
    """A table of contents that only the side bar and the links to previous and next show."""
    return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n" + "\n".join(entries) + "\n```\n\n"


def coloured(code):
    """Python as HTML, in the colours of the cells."""
    return highlight(code, PythonLexer(stripnl=False), HtmlFormatter(nowrap=True)).rstrip("\n")


def paragraphs(text):
    """Plain text as Markdown; what is indented stays as it is. A line that begins with a minus is no list."""
    lines = (line if line.startswith("    ") else plain(line) for line in text.splitlines())
    return "\n".join(re.sub(r"^(?=[-+] )", r"\\", line) for line in lines)


def playground_of(cell):
    """The playground that a cell of a notebook shows, as it was saved: one piece of HTML; or None."""
    shown = ("".join(output["data"].get("text/html", "")) for output in cell.get("outputs", []) if "data" in output)
    found = next((text for text in shown if text.startswith('<div class="playground')), None)
    return found and re.sub(r"\n\s+", "\n", found)


def choices(name, legend, labels, panels):
    """Labels to click, and for each the panel that it shows, without a blank line, so that Markdown takes it whole."""
    tabs = "".join(
        f'<input type="radio" name="{name}" id="{name}-{number}"{" checked" if not number else ""}>'
        f'<label for="{name}-{number}">{html(label)}</label>\n'
        for number, label in enumerate(labels)
    )
    inside = "".join(f"<div>{panel}</div>\n" for panel in panels)
    return (
        f'<fieldset class="verdicts"><legend>{legend}</legend>\n{tabs}<div class="panels">\n{inside}</div></fieldset>\n'
    )
