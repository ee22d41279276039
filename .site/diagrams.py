"""The diagrams of imgs/, as parts of the pages: lettered in their fonts, and dark where they are."""

import json
import re
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "imgs"))
import draw  # noqa: E402 - the diagrams' script


def icon(number):
    """A lesson's small picture from the course map."""
    return re.sub(r' (xmlns|font-family)="[^"]*"', "", in_both_themes(draw.icon(number)))  # part of a page, in its font


def in_both_themes(svg):
    """A picture whose colours turn with the page's."""
    return re.sub(r'="(#[0-9a-f]{6})"', lambda found: f'="light-dark({found[1]}, {draw.turned(found[1])})"', svg)


def with_zoom(name, text):
    """Diagrams as links to themselves, wide and narrow: a click opens them larger.

    They are part of the page, so that they are lettered in its fonts and turn dark with it.
    """
    up = "../" * name.count("/")

    def figure(alt, picture):
        pair = ""
        for place in ("", "narrow/"):
            svg = (ROOT / "imgs" / place / picture).read_text(encoding="utf-8").strip()
            svg = re.sub(r"<(title|desc) .*?</\1>\n", "", svg, flags=re.DOTALL)
            pair += in_both_themes(re.sub(r'aria-labelledby="[^"]*"', f'aria-label="{escape(alt)}"', svg))
        return f'<p class="diagram"><a class="zoom" href="{up}beside/imgs/{picture}">{pair}</a></p>'

    if not name.endswith(".ipynb"):
        return re.sub(r"!\[([^\]]+)\]\((?:\.\./)*imgs/([\w.]+)\)", lambda found: figure(*found.groups()), text)
    notebook = json.loads(text)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = re.sub(
                r"!\[([^\]]+)\]\((?:\.\./)*imgs/([\w.]+)\)", lambda found: figure(*found.groups()), cell["source"]
            )
    return json.dumps(notebook, ensure_ascii=False)
