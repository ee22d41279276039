"""evidence.md as a page of the site."""

import re

from facts import ROOT


def evidence_page():
    """The text, with links to files of the repository turned into links to their pages, or into plain words."""
    text = (ROOT / ".site/evidence.md").read_text(encoding="utf-8").replace("](../TEACHING.md)", "](teaching.md)")
    return re.sub(r"\[([^\]]+)\]\(\.\./[^)]+\)", r"\1", text)
