"""What the rules ask of a text, in a notebook or in the README: its links resolve and its images speak."""

import re
from pathlib import Path
from urllib.parse import unquote

import nbformat


def without_code(text):
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def text_of(path):
    """The prose of a Markdown file or of a notebook."""
    if path.suffix == ".ipynb":
        cells = nbformat.read(path, as_version=4).cells
        return without_code("\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown"))
    return without_code(path.read_text(encoding="utf-8"))


def headings(text):
    """(level, words) of each heading."""
    return [(len(marks), words) for marks, words in re.findall(r"^(#+) +(.*)$", text, flags=re.MULTILINE)]


def dead_links(text, folder):
    """The links and images of a text that lead nowhere; folder is where the text lies."""
    complaints = []
    targets = re.findall(r"\]\(([^)\s]+)[^)]*\)", text) + re.findall(r"(?:src|href)=[\"']([^\"']+)", text)
    for target in targets:
        path, _, anchor = unquote(target).partition("#")
        file = Path(folder) / path
        if re.match(r"https://\S+$", target):
            continue
        if workflow := re.match(r"\.\./\.\./actions/workflows/(\w+\.yml)(?:/badge\.svg)?$", target):
            file = Path(folder) / ".github/workflows" / workflow[1]  # GitHub shows how its runs went
        if not file.exists():
            complaints.append(f"{target}: no such file")
        elif anchor and (not path or file.suffix in (".ipynb", ".md")):
            there = headings(text_of(file) if path else text)
            if anchor_of(anchor) not in {anchor_of(words) for _, words in there}:
                complaints.append(f"{target}: no such heading")
    return complaints


def anchor_of(heading):
    """Jupyter's and GitHub's anchors differ in case and in punctuation: neither counts here."""
    return re.sub(r"[\W_]+", "", heading).lower()


def silent_images(text):
    """Images without alternative text."""
    tags = re.findall(r"<img[^>]*>", text)
    in_html = [tag for tag in tags if not re.search(r"alt=[\"'][^\"']", tag)]
    return in_html + re.findall(r"!\[\s*\]\([^)]*\)", text)
