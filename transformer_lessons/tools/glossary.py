"""The course's terms, collected from the lessons: python -m transformer_lessons glossary."""

import argparse
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from transformer_lessons.basis import atomic, memory
from transformer_lessons.tools import install

DESCRIPTION = "Collect the lessons' new terms, and what they mean, on one page: notebooks/glossary.md."
NEW_WORDS = "**New words.**"
HEAD = """# Glossary

Every term, and the lesson that introduces it. Collected by `python -m transformer_lessons glossary`.

| term | meaning | lesson |
| --- | --- | --- |
"""


def terms_of(notebook: str | Path) -> list[tuple[str, str]]:
    """[(term, meaning)] of a lesson, from its list of new words, whose items read `- *Term*: meaning.`"""
    try:
        cells = json.loads(Path(notebook).read_text(encoding="utf-8"))["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    except (ValueError, KeyError, TypeError, RecursionError):
        name = Path(notebook).name
        message = f"{name} is not a notebook, or is damaged: {install.COMMAND} reset {name} puts it right"
        raise ValueError(message) from None
    lists = [text.partition(NEW_WORDS)[2].partition("**Further reading")[0] for text in texts if NEW_WORDS in text]
    return [
        (name.replace("*", ""), meaning)
        for words in lists
        for name, meaning in re.findall(r"^- (\*[^*]+\*(?:, \*[^*]+\*)*): (.*)$", words, re.MULTILINE)
    ]


def glossary(notebooks: Iterable[str | Path]) -> str:
    """One page of Markdown: every term, what it means, and the lesson in which it is new."""
    entries = [(term, meaning, Path(path).name) for path in notebooks for term, meaning in terms_of(path)]
    entries.sort(key=lambda entry: entry[0].lower())
    rows = [f"| {term} | {meaning} | [{int(name[:2])}]({name}) |\n" for term, meaning, name in entries]
    return HEAD + "".join(rows)


def write(arguments: list[str]) -> int:
    """Writes notebooks/glossary.md of the clone that holds this package."""
    parser = argparse.ArgumentParser(prog=f"{install.COMMAND} glossary", description=DESCRIPTION)
    parser.parse_args(arguments)
    try:
        page = glossary(memory.lessons(install.ROOT))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    atomic.write(install.ROOT / "notebooks" / "glossary.md", page.encode())
    print(f"notebooks/glossary.md: {page.count('.ipynb)')} terms")
    return 0
