"""What a check says, as the pages show it."""

from html import escape
from itertools import groupby
from textwrap import dedent

from markup import html

from transformer_lessons.exercises.checker.report import WIDTH


def verdict(message):
    """What a check prints: sentences, which a page wraps by itself, and rows of numbers, whose columns stay.

    Its last line says how to ask for a hint, which nobody can do on a page.
    """
    lines, shown = message.partition("\n  Need more? ")[0].rstrip().splitlines(), ""
    for columns, rows in groupby(zip(lines, ["", *lines], strict=False), lambda pair: "  " in pair[0].strip()):
        if columns:
            table = dedent("\n".join(line for line, _ in rows))
            shown += f'<pre class="numbers">{escape(table, quote=False)}</pre>'
            continue
        sentences = []
        for line, before in rows:
            text = line.strip()
            full = len(before) + 1 + len(text.split(" ")[0]) > WIDTH  # it was cut there
            if sentences and full and not text.startswith(("With ", "Where to look")):
                sentences[-1] += f" {text}"
            else:
                sentences.append(text)
        shown += "".join(f"<p>{html(text)}</p>" for text in sentences)
    return f'<div class="verdict {"right" if message.startswith("✓") else "wrong"}">{shown}</div>'
