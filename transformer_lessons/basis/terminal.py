"""Sentences for the person who typed a command; the marks of verdicts, and colour for them where a terminal has it.

Uses only the standard library, in syntax that an old Python can read: `doctor` runs where nothing is installed.
"""

import os
import sys

MARKS = {"passed": "✓", "failed": "✗", "not attempted": "○"}
LETTERS = {"✓": "OK", "✗": "X", "○": "O"}  # where a screen has no such sign
COLOURS = {"✓": 32, "✗": 31, "○": 33, "!": 31}  # green, red, yellow


def marked(mark: str) -> str:
    """The mark, in its colour on a terminal, unless NO_COLOR is set (no-color.org); in letters where it has no sign."""
    try:
        mark.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return LETTERS[mark]
    return f"\033[{COLOURS[mark]}m{mark}\033[0m" if has_colour() else mark


def has_colour() -> bool:
    """Whether somebody reads this on a terminal that shows colours, and wants them."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in (None, "dumb")
    return wanted and sys.stdout.isatty()


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
