"""Finds out whose each file is. Files that do not fit are listed, and never guessed at.

A download comes from one learning system, which writes the beginning of every name. Which system it is, the whole
download decides; after that, only what this system writes says whose a file is, never what a student can name.
"""

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

from transformer_lessons.marking.naming import as_seen, slug

ENTRIES, ARCHIVE, LARGEST = 20_000, 4 << 30, 200 << 20  # of a zip: files, bytes in all; of one file: bytes
NESTED, INNER_ENTRIES, INNER = 2, 1000, 50 << 20  # zips in zips: how deep, how many files, how many bytes
LONGEST = 1000  # characters of a file's name with its folders
MOST = 100  # notebooks of one student
LINES = 20  # files of one student that are listed for the same reason, before "and … more"
TIME = r"\d{4}-\d\d-\d\d[-T ]\d\d[-:]\d\d[-:]\d\d"
COPIES = re.compile(r"\.ipynb_checkpoints|__MACOSX|\._.*|\.DS_Store|\.git|__pycache__|node_modules")  # by machines
BESIDE = ("timestamp.txt", "submission_metadata.yml")  # what nbgrader and Gradescope write beside notebooks


@dataclass
class Work:
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


def find(source: Path) -> tuple[list[Work], list[tuple[str, str]]]:
    """The notebooks in a folder or zip, and [(path, why it was not read)]."""
    unread, times = [], {}
    if source.is_file():
        files = list(files_in_zip(Archives(), (source,), (), frozenset(), unread))
    else:
        files = list(files_in_folder(source, unread))
    for file in files:
        if file.parts[-1] in BESIDE:
            times[file.parts] = file.read()[: 1 << 20].decode(errors="replace")
    works = [file for file in files if file.parts[-1].lower().endswith(".ipynb")]
    unread += [
        (file.path, "not a notebook")
        for file in files
        if not file.parts[-1].lower().endswith(".ipynb") and file.parts not in times
    ]
    works = with_students(works, times, unread)
    works = two_as_one(works, unread)
    number = Counter(work.student for work in works)
    unread += [
        (work.path, f"one of {number[work.student]:,} notebooks by this student; at most {MOST} are read")
        for work in works
        if number[work.student] > MOST
    ]
    works = [work for work in works if number[work.student] <= MOST]
    return works, list(dict.fromkeys(unread))


def in_short(unread: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same list, with at most LINES files of one folder, or zip, for the same reason."""
    alike = {}
    for path, why in sorted(set(unread)):
        alike.setdefault((path.partition("/")[0], re.sub(r"[\d,]+", "#", why)), []).append((path, why))
    shown = []
    for (top, _), entries in alike.items():
        shown += entries[:LINES]
        if more := len(entries) - LINES:
            shown += [(top, f"and {more:,} more files, for the same reason: {entries[-1][1]}")] if more > 0 else []
    return shown


# The files


def files_in_folder(folder: Path, unread: list) -> Iterator[Work]:
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
                yield Work(parts, path.read_bytes)


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


def files_in_zip(archives: Archives, place: tuple, above: tuple, zips: frozenset, unread: list) -> Iterator[Work]:
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
            yield Work((*above, *parts), partial(archives.content, (*place, number)), zips)


# Whose each file is


@dataclass(frozen=True)
class System:
    """How a learning system names a student's folder (the whole name), and a file or zip (how its name begins)."""

    name: str
    folders: re.Pattern | None = None
    files: re.Pattern | None = None

    def match(self, name: str, is_folder: bool) -> re.Match | None:
        form = self.folders if is_folder else self.files
        return form.fullmatch(name) if form else None


SYSTEMS = (
    System(
        "Moodle",
        re.compile(r"(?P<name>.*)_(?P<student>\d+)_assignsubmission_(?:file|onlinetext)_?"),
        re.compile(r"(?P<name>[^_]*)_(?P<student>\d+)_assignsubmission_file_(?P<rest>.*)", re.DOTALL),
    ),
    System("an old Moodle", re.compile(r"(?P<name>.*?)_(?P<student>\d+)_")),
    System("Gradescope", re.compile(r"(?P<student>submission_\d+)")),
    System("Blackboard", None, re.compile(rf"(?P<head>.+?)_attempt_(?P<time>{TIME})(?:_.*|\..*)?", re.DOTALL)),
    System(
        "Canvas, without names",
        None,
        re.compile(r"(?P<student>anon_[^_]+)_(?P<late>(?i:late)_)?\d+_(?P<rest>.*)", re.DOTALL),
    ),
    System(
        "Canvas", None, re.compile(r"(?P<name>[^_]+)_(?P<late>(?i:late)_)?(?P<student>\d+)_\d+_(?P<rest>.*)", re.DOTALL)
    ),
)
LESSON = re.compile(
    r"(?i)(?:^|[_\s.-])(?:lesson[_\s-]?)?(0?[1-9]|1[0-2])"
    r"(?:[_\s-]+(?:self_attention|queries_keys_values|"
    r"scaling|multi_head_attention|positional_encoding|masking|full_model|shakespeare|byte_pairs|"
    r"modern_models|inside_the_model|making_it_fast))?(?=$|[_\s.(-])"
)


def with_students(works: list[Work], times: dict, unread: list) -> list[Work]:
    """The works, with what is known about their students; those of which it is not clear whose they are are listed."""
    depth = common_depth(works)
    tops = {(work.parts[depth], is_folder_at(work, depth)) for work in works}
    system = system_of(tops)
    logins = common_prefix({work.parts[depth] for work in works if len(work.parts) > depth + 1})
    heads = {match["head"] for top in tops if system and system.name == "Blackboard" and (match := system.match(*top))}
    named = []
    for work in works:
        top = work.parts[depth]
        if system:
            why = name_by_system(work, system, top, is_folder_at(work, depth), heads)
        else:
            why = name_by_hand(work, depth, logins)
        if why:
            unread.append((work.path, why))
            continue
        work.folder = top if is_folder_at(work, depth) else ""
        for size in range(len(work.parts) if times else 0):
            work.time = times.get((*work.parts[:size], "timestamp.txt"), work.time).strip()[:40]
        about = times.get((*work.parts[:depth], "submission_metadata.yml"), "") if work.folder else ""
        if found := re.search(rf"^{re.escape(top)}:.*?:name: *['\"]?(.*?)['\"]?$", about, re.MULTILINE | re.DOTALL):
            work.name = found[1].strip()
        named.append(work)
    return named


def is_folder_at(work: Work, depth: int) -> bool:
    """Is this part a folder that the learning system made? A zip has the name that its student gave it."""
    return len(work.parts) > depth + 1 and depth not in work.zips


def system_of(tops: set) -> System | None:
    """The learning system that wrote most of these names, if one did."""
    matches = {system: [match for top in tops if (match := system.match(*top))] for system in SYSTEMS}
    best = max(SYSTEMS, key=lambda system: len(matches[system]))  # of several, the first
    return best if 2 * len(matches[best]) > len(tops) else None


def name_by_system(work: Work, system: System, top: str, is_folder: bool, heads: set) -> str:
    """Notes what the system wrote about the student; returns why it is not clear whose work this is, or nothing."""
    match = system.match(top, is_folder)
    if match is None:
        return f"its name is not one that {system.name} writes, as the others are"
    about = match.groupdict()
    if "head" in about:
        assignment = shared_beginning(heads, "_") if len(heads) > 1 else about["head"].partition("_")[0] + "_"
        about["student"] = about["head"].removeprefix(assignment)
    if re.match(r"\d+_\d+_", about.get("rest") or ""):  # after the numbers of a student and a file, two more
        return "its name can be read in two ways, so it is not clear whose work this is"
    work.student, work.name, work.time = (about.get(key) or "" for key in ("student", "name", "time"))
    work.late = bool(about.get("late"))
    return "" if as_seen(work.student) else "it is not clear whose work this is"


def name_by_hand(work: Work, depth: int, logins: str) -> str:
    """The same for a folder that a teacher has made: a folder for each student, or names of files with a lesson."""
    top = work.parts[depth]
    if len(work.parts) > depth + 1:
        work.student = top.removeprefix(logins)
    else:
        rest = LESSON.sub(" ", re.sub(r"\.ipynb$|\.mine(?:-\d+)?(?=\.)|\s*\(\d+\)|-Copy\d+", "", top))
        work.student = re.sub(r"^[\s_.-]+|[\s_.-]+$", "", rest)
        if not work.student and depth:
            work.student = work.parts[depth - 1]
    return "" if as_seen(work.student) else "it is not clear whose work this is"


def common_depth(works: list[Work]) -> int:
    """How many folders all the paths share, not counting one that a learning system or a single student made."""
    depth, paths = 0, [work.parts for work in works]
    while paths and all(len(parts) > depth + 1 for parts in paths) and len({parts[depth] for parts in paths}) == 1:
        inner = {parts[depth + 1] for parts in paths}
        lessons = all(LESSON.match(name) and not by_a_system(name, False) for name in inner)
        of_one = by_a_system(paths[0][depth], True) or lessons or len(inner) == 1
        if of_one and not any(len(parts) > depth + 2 for parts in paths):
            break
        if by_a_system(paths[0][depth], is_folder_at(works[0], depth)):
            break
        depth += 1
    return depth


def by_a_system(name: str, is_folder: bool) -> bool:
    return any(system.match(name, is_folder) for system in SYSTEMS)


def common_prefix(names: set) -> str:
    """GitHub Classroom's clones: assignment-login. What all names share up to a hyphen, if there are more than two."""
    shared = shared_beginning(names, "-")
    return shared if len(names) > 2 and len(shared) > 3 else ""


def shared_beginning(names: set, end: str) -> str:
    """What all names begin with, up to the last of these characters in it."""
    first, last = min(names, default=""), max(names, default="")
    shared = first[: next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]
    return shared[: shared.rfind(end) + 1]


def two_as_one(works: list[Work], unread: list) -> list[Work]:
    """The works, except those of students who may be mistaken for one another, and of files that share a path."""
    claims, first, double, names = {}, {}, {}, {}
    for work in works:
        for name in (as_seen(work.student), slug(work.student).casefold()):
            claims.setdefault(name, set()).add(work.student)
        names.setdefault(work.student, set()).add(as_seen(work.name))
    folders = Counter(student for student, _ in {(work.student, work.folder) for work in works if work.folder})
    for students in claims.values():
        double |= dict.fromkeys(students if len(students) > 1 else (), "its name is too much like another student's")
    double |= {student: f"two names claim to be {student}" for student, those in names.items() if len(those) > 1}
    double |= {student: f"two folders claim to be {student}" for student, count in folders.items() if count > 1}
    twice = {
        work.parts
        for work in works
        if first.setdefault(work.parts, work) is not work and first[work.parts].read() != work.read()
    }
    for work in works:
        if why := double.get(work.student) or (work.parts in twice and "two different files have this path"):
            unread.append((work.path, why))
    return [work for work in works if work.student not in double and work.parts not in twice]


def lesson_of(path: str) -> str | None:
    """The lesson according to the file's name, or None."""
    found = LESSON.search(re.sub(r"\.ipynb$", "", path.rsplit("/", 1)[-1]))
    return str(int(found[1])) if found else None
