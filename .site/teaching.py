"""TEACHING.md as a page of the site."""

import re

from facts import ROOT


def teaching_page():
    """The text, with links to files of the repository turned into links to their pages, or into plain words."""
    text = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
    text = re.sub(r"\]\(notebooks/(\w+\.ipynb)", r"](notebooks/\1", text)
    text = re.sub(r"(!\[[^\]]+\])\((imgs/[^)]+)\)", r"\1(beside/\2)", text)
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:|#|notebooks/\w+\.ipynb)[^)]+\)", r"\1", text)
