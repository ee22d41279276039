"""What a verdict says below its first line, part by part; how that reads as plain text, and how much of it fits."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import NamedTuple

WIDTH = 96  # columns
BEFORE = {"line": "at the line: ", "look": "Where to look: "}
DEEPER = ("example", "table", "values", "line")  # kinds that stand below what they show
CHOICE = re.compile(r"([a-z]\) |- | *).*")


class Part(NamedTuple):
    """One thing that a verdict says.

    The kinds: "why", what is wrong; "example", sentences on the smallest failing one; "table" and "values", the
    learner's numbers beside the expected ones; "line", the learner's own that raised an error; "look", where to look;
    "note", what else has happened; "hint", how to ask for one; "stuck", the same in the first line; "told", what is
    said of a question.
    """

    kind: str
    text: str  # of a table, what it shows
    rows: Sequence[Sequence[str]] = ()  # of a table: pairs of lines

    @property
    def sentence(self) -> str:
        """The text with the words that stand before it."""
        return f"{BEFORE.get(self.kind, '')}{self.text}"

    @property
    def table(self) -> list[str]:
        """The lines of a table."""
        heading = f"yours: {self.text}"
        width = max(map(len, (heading, *(ours for ours, _ in self.rows)))) + 4
        return [f"{ours.ljust(width)}{expected}" for ours, expected in ((heading, "expected"), *self.rows)]

    @property
    def lines(self) -> list[str]:
        """The plain text."""
        if self.kind == "told":
            hanging = " " * len(CHOICE.sub(r"\1", self.text))
            return textwrap.wrap(self.text, WIDTH, subsequent_indent=hanging, break_on_hyphens=False)
        indent = "    " if self.kind in DEEPER else "  "
        if self.kind == "table":
            return [f"{indent}{line}" for line in self.table]
        texts = self.sentence.split("\n") if self.kind in ("example", "values") else [self.sentence]
        return [line for text in texts for line in wrap(text, indent)]

    def cut(self, count: int) -> "Part":
        """What fits into so many lines."""
        if self.kind == "table":
            return self._replace(rows=self.rows[: count - 1])  # at least one: see `fitted`
        if self.kind == "values":
            return self._replace(text="\n".join(self.text.split("\n")[:count]))
        lines = self.lines[:count]
        text = " ".join(line.strip() for line in lines).removeprefix(BEFORE.get(self.kind, ""))
        if text.endswith(("…", ".")):
            return self._replace(text=text)
        has_room = len(lines[-1]) + 2 <= WIDTH
        return self._replace(text=f"{text if has_room else text.rpartition(' ')[0]} …")


def wrap(text: str, indent: str = "  ") -> list[str]:
    """Lines of at most WIDTH columns; a text that fits into one keeps its spaces."""
    text = " ".join(text.splitlines())
    if len(indent + text) <= WIDTH:
        return [(indent + text).rstrip()] if text else []
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def fitted(parts: Iterable[Part], room: int) -> list[Part]:
    """The parts that fit into so many lines; the first two, and numbers, are cut where they do not fit as a whole."""
    kept: list[Part] = []
    for part in parts:
        count = len(part.lines)
        if count > room:
            may_be_cut = len(kept) < 2 or part.kind in ("table", "values")
            least = 2 if part.kind == "table" and part.rows else 1  # a heading alone shows nothing
            return [*kept, part.cut(room)] if room >= least and may_be_cut else kept
        kept.append(part)
        room -= count
    return kept


def plain_text(heading: str, parts: Sequence[Part] = ()) -> str:
    """A verdict as it is printed."""
    first = " ".join([heading, *(part.text for part in parts if part.kind == "stuck")])
    below = [line for part in parts if part.kind != "stuck" for line in part.lines]
    return "\n".join([*textwrap.wrap(first, WIDTH, subsequent_indent="  "), *below])
