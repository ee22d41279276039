"""TEACHING.md as a page of the site."""

import re

from facts import ROOT

WHY = (
    "**A stack of notebooks tells you who has a wrong answer; this tells you which mistake it is, who else makes it, "
    'and what to say next time.** <a href="beside/class/report.html">Open a sample report</a>: eight made-up students, '
    "marked when this site was built. There is also what you would show "
    '<a href="beside/class/report-anonymous.html">on the projector</a>, and what '
    '<a href="beside/class/feedback/ada/index.html">one student gets back</a>.'
)


def teaching_page():
    """The text, with links to files of the repository turned into links to their pages, or into plain words."""
    text = (ROOT / "TEACHING.md").read_text(encoding="utf-8")
    text = re.sub(r"\]\(notebooks/(\w+\.ipynb)", r"](notebooks/\1", text)
    text = re.sub(r"(!\[[^\]]+\])\((imgs/[^)]+)\)", r"\1(beside/\2)", text)
    text = re.sub(r"^(# .+)$", lambda title: f"{title[1]}\n\n{WHY}", text, count=1, flags=re.MULTILINE)
    table = r"^\| in `marks/` \| .+(?:\n\|.+)+"  # long, and to be looked up
    text = re.sub(
        table,
        lambda found: f"<details><summary>The files in marks/, one by one</summary>\n\n{found[0]}\n\n</details>",
        text,
        count=1,
        flags=re.MULTILINE,
    )
    return re.sub(r"(?<!!)\[([^\]]+)\]\((?!https?:|#|notebooks/\w+\.ipynb)[^)]+\)", r"\1", text)
