"""evidence.md as a page of the site."""

import re

from anchors import slug
from facts import ROOT
from markup import html


def evidence_page():
    """The text, with links to files of the repository turned into links to their pages, or into plain words."""
    text = (ROOT / ".site/evidence.md").read_text(encoding="utf-8").replace("](../TEACHING.md)", "](teaching.md)")
    text = re.sub(
        r"(?s)<!-- mutants -->\n\n(\|.*?\n)(?=\n)",
        r"<details><summary>The counts, exercise by exercise</summary>\n\n\1\n</details>\n",
        text,
    )
    text = text.replace("\n## ", f"\n{at_a_glance(text)}\n\n## ", 1)
    text = re.sub(r"^# .+$", f"# {finding(text)}", text, count=1, flags=re.MULTILINE)
    return re.sub(r"\[([^\]]+)\]\(\.\./[^)]+\)", r"\1", text)


def counted(text):
    """How many mutants run, and how many of them are rejected, as the page's own table has it."""
    return re.search(r"Of ([\d,]+) mutants that run and .*?, ([\d,]+) are rejected", text).groups()


def finding(text):
    """What has been found, in one line, and how the wrong answers came about."""
    number, rejected = (int(count.replace(",", "")) for count in counted(text))
    return (
        f"Of {number:,} wrong answers, the checks let {number - rejected} through\n\n"
        "Each of them is a right answer to an exercise in which one thing has been changed."
    )


def at_a_glance(text):
    """The sums of the page's own tables as a figure, so that it cannot say anything else."""
    all_mutants, rejected = counted(text)
    rows = "".join(
        f'<li><a href="#{slug(course)}">{html(course)}</a><span class="share"><i style="width:{percent}%"></i></span>'
        f"<span>{refused} of {number}, {percent} %</span></li>\n"
        for course, number, refused, percent in re.findall(
            r"^### (.+)$(?:(?!^#)[\s\S])*?^\| \*\*all\*\* \| \| ([\d,]+) \| ([\d,]+) \((\d+)%\) \|$", text, re.MULTILINE
        )
    )
    return (
        f'<div class="glance">\n<p><strong>{rejected} of {all_mutants}</strong> answers that a single edit has made '
        "wrong, and that still run, are rejected: "
        '<a href="#mutants-every-error-that-is-one-edit-away">mutants</a>.</p>\n'
        "<p>Of our known mistakes, as far as their tasks can show them, other courses’ own tests refuse:</p>\n"
        f"<ul>\n{rows}</ul>\n<p>The mistakes are ours, which favours us: "
        '<a href="#other-courses-tests-on-our-mistakes">what counts, and how to read it</a>.</p>\n</div>'
    )
