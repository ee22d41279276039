"""What a check says, as the pages show it."""

from html import escape

from markup import html


def verdict(report):
    """What a check says: sentences, which a page wraps by itself, and rows of numbers, whose columns stay.

    How to ask for a hint is left out: nobody can do it on a page.
    """
    shown = f"<p>{html(report.heading)}</p>"
    for part in report.parts:
        if part.kind in ("table", "values"):
            numbers = "\n".join(part.table) if part.kind == "table" else part.text
            shown += f'<pre class="numbers">{escape(numbers, quote=False)}</pre>'
        elif part.kind != "hint":
            shown += f"<p>{html(part.sentence)}</p>"
    return f'<div class="verdict {"right" if report.status == "passed" else "wrong"}">{shown}</div>'
