"""The lessons' notebooks, and what each says about itself."""

import json
import re

from transformer_lessons.basis import memory

ROOT, LESSONS = memory.ROOT, memory.lessons()


def facts_of(path):
    """What a lesson says about itself in its first cell: title, promise, and the rows of its table."""
    first = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
    title = re.match(r"# (.+)", first)[1]
    promise = re.search(r"^\*\*(.+?)\*\*", first, flags=re.MULTILINE)[1]
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| (.+) \|$", first, flags=re.MULTILINE)
    return {"title": title, "promise": promise, **dict(rows)}
