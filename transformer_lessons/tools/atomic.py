"""Files written atomically: a path always holds all of the old content or all of the new."""

import contextlib
import os
import re
import secrets
import shutil
from pathlib import Path


def write(path, data):
    """Writes bytes to a file beside the path, then renames it. A failure leaves the old file, and nothing else.

    Each call has such a file of its own, so several processes may write to the same path: the last one wins.
    """
    path = Path(path)
    aside = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        with open(aside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # so that even a power cut leaves no name without its content
        if path.exists():
            shutil.copymode(path, aside)
        os.replace(aside, path)
    finally:
        with contextlib.suppress(OSError):
            aside.unlink(missing_ok=True)


def tidy(path):
    """Removes what killed processes have left beside a path. Only for a path that nobody is writing to."""
    path = Path(path)
    for left in path.parent.iterdir():
        if re.fullmatch(rf"{re.escape(path.name)}\.[0-9a-f]{{8}}\.part", left.name):
            left.unlink()
