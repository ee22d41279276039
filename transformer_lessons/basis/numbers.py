"""The number of a question, however it is typed."""

import re
from typing import Any

FORM = re.compile(r"\D*?(\d{1,3})\s*[.,-]\s*(\d{1,3})\D*")


def number_of(typed: Any) -> str | None:
    """3.2, for "3.2", 3.2, "Question 3.2" or "3,2"; None if this is not the number of a question."""
    try:
        form = FORM.fullmatch(typed if isinstance(typed, str) else f"{typed:g}")
        return f"{int(form[1])}.{int(form[2])}" if form else None
    except Exception:  # no text, no number, or an object that raises
        return None
