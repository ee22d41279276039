"""The files of a download: those in a folder or a zip, and those in the zips in it. What is not read is listed."""

import io
import os
import re
import stat
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ENTRIES, ARCHIVE, LARGEST = 20_000, 4 << 30, 200 << 20  # of a zip: files, bytes in all; of one file: bytes
NESTED, INNER_ENTRIES, INNER = 2, 1000, 50 << 20  # zips in zips: how deep, how many files, how many bytes
LONGEST = 1000  # characters of a file's name with its folders
COPIES = re.compile(r"\.ipynb_checkpoints|__MACOSX|\._.*|\.DS_Store|\.git|__pycache__|node_modules")  # by machines


@dataclass
class Submission:
    """One file of one student. The time is what the learning system says, or nothing."""

    parts: tuple  # the folders above it, and its own name; zips count as folders
    read: Callable[[], bytes]
    zips: frozenset = frozenset()  # which of the parts are zips
    student: str = ""
    name: str = ""
    time: str = ""
    late: bool = False  # according to Canvas, which gives no time
    folder: str = ""  # as the learning system calls it, for what goes back

    @property
    def path(self) -> str:
        return "/".join(self.parts)


def files_of(source: Path, unread: list) -> Iterator[Submission]:
    """The files of a folder or a zip; adds to `unread` what is none of them, as (path, why)."""
    if source.is_file():
        yield from files_in_zip(Archives(), (source,), (), frozenset(), unread)
    else:
        yield from files_in_folder(source, unread)


def files_in_folder(folder: Path, unread: list) -> Iterator[Submission]:
    archives = Archives()
    for place, folders, files in os.walk(folder):
        above = tuple(map(readable, Path(place).relative_to(folder).parts))
        folders[:] = sorted(name for name in folders if not hidden((*above, readable(name)), unread))
        for name in sorted(files + [name for name in folders if (Path(place) / name).is_symlink()]):
            path, parts = Path(place) / name, (*above, readable(name))
            if hidden(parts, unread):
                continue
            if not stat.S_ISREG(os.lstat(path).st_mode):
                unread.append(("/".join(parts), "a link, or not an ordinary file"))
            elif name.lower().endswith(".zip"):
                inside = (*above, parts[-1][:-4])
                yield from files_in_zip(archives, (path,), inside, frozenset([len(above)]), unread)
            elif path.stat().st_size > LARGEST:
                unread.append(("/".join(parts), "larger than 200 MB"))
            else:
                yield Submission(parts, path.read_bytes)


def readable(name: str) -> str:
    """A file's name; if it is not UTF-8, it is read as names in zips are, so that different names stay different."""
    return os.fsencode(name).decode("cp437") if any("\udc80" <= letter <= "\udcff" for letter in name) else name


def hidden(parts: tuple, unread: list) -> bool:
    """Is this a copy that a machine keeps, or a hidden file? Hidden files are listed."""
    for number, part in enumerate(parts, 1):
        if COPIES.fullmatch(part):
            return True
        if part.startswith(".") and part not in (".", ".."):
            unread.append(("/".join(parts[:number]), "its name begins with a dot"))
            return True
    return False


class Archives:
    """Zips, and the zips in them; a place is a zip's path, then the numbers of the entries that lead further in.

    Only a few are open at a time, and each process opens its own: two that share a file would move each other's place.
    """

    def __init__(self) -> None:
        self.start_anew()

    def start_anew(self) -> None:
        self.opened: OrderedDict = OrderedDict()
        self.process = os.getpid()

    def archive(self, place: tuple) -> zipfile.ZipFile:
        if self.process != os.getpid():
            self.start_anew()
        if place not in self.opened:
            path, *inside = place
            self.opened[place] = zipfile.ZipFile(io.BytesIO(self.content(place)) if inside else path)
            while len(self.opened) > NESTED + 1:
                self.opened.popitem(last=False)
        self.opened.move_to_end(place)
        return self.opened[place]

    def content(self, place: tuple) -> bytes:
        *outer, number = place
        archive = self.archive(tuple(outer))
        try:
            with archive.open(archive.infolist()[number]) as file:
                return file.read(LARGEST + 1)[:LARGEST]
        except Exception:  # a zip that is truncated, or lies about itself
            return b""


def files_in_zip(archives: Archives, place: tuple, above: tuple, zips: frozenset, unread: list) -> Iterator[Submission]:
    """The files of a zip, which are read but never unpacked, so no name can lead anywhere."""
    where, inner = "/".join(above) or "the zip", len(place) > 1
    try:
        entries = list(enumerate(archives.archive(place).infolist()))
    except Exception:  # zipfile raises a dozen kinds of errors
        unread.append((where, "not a readable zip"))
        return
    entries = [(number, entry) for number, entry in entries if not entry.filename.endswith("/")]
    if len(entries) > (INNER_ENTRIES if inner else ENTRIES) or sum(entry.file_size for _, entry in entries) > ARCHIVE:
        unread.append((where, "too many files, or too large"))
        return
    for number, entry in sorted(entries, key=lambda numbered: (numbered[1].filename, numbered[0])):
        parts = tuple(part for part in re.split(r"[\\/]", entry.filename) if part)
        path = "/".join((*above, *parts))
        if not parts:
            unread.append((where, "it holds a file without a name"))
        elif hidden((*above, *parts), unread):
            continue
        elif ".." in parts or entry.filename.startswith(("/", "\\")) or ":" in entry.filename[:2]:
            unread.append((path, "its name leads out of the zip"))
        elif len(path) > LONGEST:
            unread.append((path, "its name is too long"))
        elif stat.S_ISLNK(entry.external_attr >> 16) or entry.flag_bits & 1:
            unread.append((path, "a link, or encrypted"))
        elif entry.file_size > LARGEST or entry.file_size > 1000 * max(entry.compress_size, 1000):
            unread.append((path, "too large"))
        elif path.lower().endswith(".zip") and len(place) <= NESTED and entry.file_size > INNER:
            unread.append((path, "too large for a zip in a zip: 50 MB at most"))
        elif path.lower().endswith(".zip") and len(place) <= NESTED:
            inside = (*above, *parts[:-1], parts[-1][:-4])
            yield from files_in_zip(archives, (*place, number), inside, zips | {len(inside) - 1}, unread)
        else:
            yield Submission((*above, *parts), partial(archives.content, (*place, number)), zips)
