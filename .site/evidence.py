"""evidence.md as a page of the site."""

from facts import ROOT


def evidence_page():
    """The text, with its link to TEACHING.md turned into one to that page."""
    return (ROOT / ".site/evidence.md").read_text(encoding="utf-8").replace("](../TEACHING.md)", "](teaching.md)")
