"""The course's terms, collected from the lessons: python -m transformer_lessons glossary."""

import argparse
import json
import re
from pathlib import Path

from transformer_lessons.tools import atomic, install

DESCRIPTION = "Collect the lessons' new terms, and what they mean, on one page: notebooks/glossary.md."
NEW_WORDS = "**New words.**"
HEAD = """# Glossary

Every term, and the lesson that introduces it. Collected by `python -m transformer_lessons glossary`.

| term | meaning | lesson |
| --- | --- | --- |
"""


def terms_of(notebook):
    """[(term, meaning)] of a lesson, from its line of new words: `*Term*: meaning. *Term*: meaning.`"""
    cells = json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    lines = [line for text in texts for line in text.split("\n") if line.startswith(NEW_WORDS)]
    term = r"\*[^*]+\*(?:, \*[^*]+\*)*"
    return [(name.replace("*", ""), meaning.strip()) for line in lines
            for name, meaning in re.findall(rf"({term}): (.*?)(?= {term}: |$)", line.removeprefix(NEW_WORDS))]


def glossary(notebooks):
    """One page of Markdown: every term, what it means, and the lesson in which it is new."""
    entries = [(term, meaning, Path(path).name) for path in notebooks for term, meaning in terms_of(path)]
    entries.sort(key=lambda entry: entry[0].lower())
    rows = [f"| {term} | {meaning} | [{int(name[:2])}]({name}) |\n" for term, meaning, name in entries]
    return HEAD + "".join(rows)


def write(arguments):
    """Writes notebooks/glossary.md of the clone that holds this package."""
    parser = argparse.ArgumentParser(prog="python -m transformer_lessons glossary", description=DESCRIPTION)
    parser.parse_args(arguments)
    folder = install.ROOT / "notebooks"
    page = glossary(sorted(folder.glob("??_*.ipynb")))
    atomic.write(folder / "glossary.md", page.encode())
    print(f"notebooks/glossary.md: {page.count('.ipynb)')} terms")
    return 0
