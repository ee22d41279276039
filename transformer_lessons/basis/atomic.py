"""Files written atomically: a path always holds all of the old content or all of the new."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import sys
from pathlib import Path
from typing import IO


def write(path: str | Path, data: bytes) -> None:
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


def tidy(path: str | Path) -> None:
    """Removes what killed processes have left beside a path. Only for a path that nobody is writing to."""
    path = Path(path)
    for left in path.parent.iterdir():
        if re.fullmatch(rf"{re.escape(path.name)}\.[0-9a-f]{{8}}\.part", left.name):
            left.unlink()


def hold(file: IO) -> bool:
    """Locks an open file until it is closed or the process ends. Returns False if another process has locked it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(1000)  # a place beyond what others read
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a file system without locks: then nobody can be kept out
        return True
    return True
