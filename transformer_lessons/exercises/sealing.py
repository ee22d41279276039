"""Pages in a form that nobody reads by chance: what students get of a page that holds the answers.

It is not secret: the checks and questions need what is in it.
"""

import base64
import re
import zlib

NOTICE = "This page is kept for your teacher. `check` and `answer` read what follows."


def sealed(text: str) -> str:
    """The page with its title in plain sight, and the rest packed."""
    title = text.splitlines()[0]
    packed = base64.b85encode(zlib.compress(text.encode(), 9)).decode()
    lines = "\n".join(packed[n : n + 100] for n in range(0, len(packed), 100))
    return f"{title}\n\n{NOTICE}\n\n```text\n{lines}\n```\n"


def unsealed(text: str) -> str:
    """The page as it was before it was sealed, or as it is if it was not."""
    if NOTICE not in text:
        return text
    packed = re.search(r"^```text\n(.*?)\n```$", text, flags=re.MULTILINE | re.DOTALL)[1]
    return zlib.decompress(base64.b85decode(packed.replace("\n", ""))).decode()
