"""What `check` and `answer` say, and return."""

import json
import os
from dataclasses import asdict, dataclass

from transformer_lessons.basis.terminal import LETTERS, MARKS
from transformer_lessons.exercises.checker import card
from transformer_lessons.exercises.checker.parts import Part, plain_text


@dataclass(frozen=True)
class Report:
    """The verdict on an exercise or a question; `status` is "passed", "failed" or "not attempted"."""

    name: str  # of the exercise, or the question's number
    status: str
    headline: str = ""  # what its first line says of it
    parts: tuple[Part, ...] = ()  # what stands below
    mistake: str | None = None  # the name of the known mistake
    error: str = ""  # that the verdict reports
    line: str = ""  # the learner's own line that raised it
    title: str = ""  # what the first line says in place of the name

    @property
    def heading(self) -> str:
        headline = f": {self.headline}" if self.headline else ""
        return f"{MARKS[self.status]} {self.title or self.name}{headline}"

    @property
    def message(self) -> str:
        return plain_text(self.heading, self.parts)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.status}>"

    def _ipython_display_(self) -> None:
        """Shows nothing: the message has already been printed."""


def say(text: str, page: str = "") -> None:
    """Prints the text, even where the screen has no ✓, or shows the card if somebody can see it."""
    if page and card.is_shown():
        return card.show(text, page)
    try:
        print(text)
    except UnicodeEncodeError:
        for mark, letters in LETTERS.items():
            text = text.replace(mark, letters)
        print(text.encode("ascii", "replace").decode())


def note(report: Report) -> None:
    """Writes to the file from which `progress` reads verdicts, if there is one: printed text proves nothing."""
    if path := os.environ.get("TRANSFORMER_LESSONS_REPORTS"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(report)) + "\n")
