"""Puts what mutants.py and peers.py have measured on the page “How sharp are the checks?”, with the day."""

import datetime
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / ".site/evidence.md"


def put_on_the_page(name: str, lines: list[str]) -> None:
    """Replaces what stands between the comments `<!-- name -->` and `<!-- end of name -->`."""
    page = PAGE.read_text(encoding="utf-8")
    parts = re.split(rf"(<!-- (?:end of )?{name} -->\n)", page)
    if len(parts) != 5:
        raise ValueError(
            f"{PAGE.name} needs <!-- {name} --> and <!-- end of {name} -->, each once on a line of its own"
        )
    day = f"{datetime.date.today():%-d %B %Y}"
    parts[2] = "\n" + "\n".join([*lines, "", f"*Measured on {day}.*"]) + "\n\n"
    PAGE.write_text("".join(parts), encoding="utf-8")
