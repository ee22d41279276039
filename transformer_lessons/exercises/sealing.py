"""Pages in a form that nobody reads by chance: what students get of a page that holds the answers.

It is not secret: the checks and questions need what is in it.
"""

import base64
import re
import zlib

NOTICE = "This page is kept for your teacher. `check` and `answer` read what follows."


def sealed(text: str) -> str:
    """The page with its title in plain sight, and the rest packed."""
    lines = "\n".join(packed(text))
    return f"{text.splitlines()[0]}\n\n{NOTICE}\n\n```text\n{lines}\n```\n"


def packed(text: str) -> list[str]:
    """A text in lines that nobody reads by chance."""
    letters = base64.b85encode(zlib.compress(text.encode(), 9)).decode()
    return [letters[n : n + 100] for n in range(0, len(letters), 100)]


def unsealed(text: str) -> str:
    """The page as it was before it was sealed, or as it is if it was not."""
    if NOTICE not in text:
        return text
    lines = re.search(r"^```text\n(.*?)\n```$", text, flags=re.MULTILINE | re.DOTALL)[1]
    return zlib.decompress(base64.b85decode(lines.replace("\n", ""))).decode()
