"""The files of a download: those in a folder or a zip, and those in the zips in it. What is not read is listed."""

import io
import os
import re
import stat
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ENTRIES, ARCHIVE, LARGEST = 20_000, 4 << 30, 200 << 20  # in one folder of a download: files, bytes; of one file: bytes
NESTED, INNER_ENTRIES, INNER = 2, 1000, 50 << 20  # zips in zips: how deep, how many files, how many bytes
ENTRY, METHODS = b"PK\1\2", (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # an entry's mark; others unpack without limit
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
    by: str = ""  # the group that has handed it in, if not the student

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
            content = self.content(place) if inside else b""
            if content.count(ENTRY) > (NESTED + 1) * INNER_ENTRIES:  # reading a million entries takes minutes
                raise zipfile.LargeZipFile
            self.opened[place] = zipfile.ZipFile(io.BytesIO(content) if inside else path)
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


TOO_MANY = "too many files, or too large"


def parts_of(entry: zipfile.ZipInfo) -> tuple[str, ...]:
    return tuple(part for part in re.split(r"[\\/]", entry.filename) if part)


def shared_folders(paths: list[tuple]) -> int:
    """How many folders all of these paths begin with."""
    first, last = min(paths, default=()), max(paths, default=())
    same = next((n for n, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return max(0, min(same, *(len(path) - 1 for path in paths))) if paths else 0


def folders_too_full(files: list[tuple[tuple, zipfile.ZipInfo]], depth: int, inner: bool) -> set[tuple]:
    """The folders that hold too much: of a download, those below what all files share; of a zip in a zip, the whole.

    So one student's files, however many, leave everybody else's to be read.
    """
    count: Counter[tuple] = Counter()
    size: Counter[tuple] = Counter()
    for parts, entry in files:
        folder = () if inner else parts[: depth + 1]
        count[folder] += 1
        size[folder] += entry.file_size
    return {
        folder for folder in count if count[folder] > (INNER_ENTRIES if inner else ENTRIES) or size[folder] > ARCHIVE
    }


def files_in_zip(archives: Archives, place: tuple, above: tuple, zips: frozenset, unread: list) -> Iterator[Submission]:
    """The files of a zip, which are read but never unpacked, so no name can lead anywhere."""
    where, inner = "/".join(above) or "the zip", len(place) > 1
    try:
        entries = list(enumerate(archives.archive(place).infolist()))
    except zipfile.LargeZipFile:
        unread.append((where, TOO_MANY))
        return
    except Exception:  # zipfile raises a dozen kinds of errors
        unread.append((where, "not a readable zip"))
        return
    named = [(parts_of(entry), number, entry) for number, entry in entries if not entry.filename.endswith("/")]
    ignored: list = []
    kept = [(parts, entry) for parts, _, entry in named if not hidden((*above, *parts), ignored)]
    full = folders_too_full(kept, 0 if inner else shared_folders([parts for parts, _ in kept]), inner)
    unread += [("/".join((*above, *folder)) or where, TOO_MANY) for folder in sorted(full)]
    for parts, number, entry in sorted(named, key=lambda one: (one[2].filename, one[1])):
        path = "/".join((*above, *parts))
        is_zip = path.lower().endswith(".zip") and len(place) <= NESTED
        if any(parts[: len(folder)] == folder for folder in full):
            continue
        if not parts:
            unread.append((where, "it holds a file without a name"))
        elif hidden((*above, *parts), unread):
            continue
        elif why := why_unread(entry, path, parts, is_zip):
            unread.append((path, why))
        elif is_zip:
            inside = (*above, *parts[:-1], parts[-1][:-4])
            yield from files_in_zip(archives, (*place, number), inside, zips | {len(inside) - 1}, unread)
        else:
            yield Submission((*above, *parts), partial(archives.content, (*place, number)), zips)


def why_unread(entry: zipfile.ZipInfo, path: str, parts: tuple, is_zip: bool) -> str | None:
    """Why a file in a zip is not read; None if it is."""
    if ".." in parts or entry.filename.startswith(("/", "\\")) or ":" in entry.filename[:2]:
        return "its name leads out of the zip"
    if len(path) > LONGEST:
        return "its name is too long"
    if stat.S_ISLNK(entry.external_attr >> 16) or entry.flag_bits & 1:
        return "a link, or encrypted"
    if entry.compress_type not in METHODS:
        return "compressed in a way that no learning system uses"
    if entry.file_size > LARGEST or entry.file_size > 1000 * max(entry.compress_size, 1000):
        return "too large"
    return "too large for a zip in a zip: 50 MB at most" if is_zip and entry.file_size > INNER else None
