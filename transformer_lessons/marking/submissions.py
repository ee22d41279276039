"""Finds out whose each file is, from the layouts of the learning systems; files that do not fit are listed."""

import io
import os
import re
import stat
import unicodedata
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ENTRIES, ARCHIVE, LARGEST, NESTED = 20_000, 4 << 30, 200 << 20, 2  # files; bytes in all; bytes of one; zips in zips
LONGEST = 1000  # characters of a file's name with its folders
MOST = 100  # notebooks of one student
TIME = r"\d{4}-\d\d-\d\d[-T ]\d\d[-:]\d\d[-:]\d\d"
COPIES = re.compile(r"\.ipynb_checkpoints|__MACOSX|\._.*|\.DS_Store|\.git|__pycache__|node_modules")  # by machines


@dataclass
class Work:
    """One file of one student. The time is what the learning system says, or nothing."""

    parts: tuple
    read: object
    student: str = ""
    name: str = ""
    time: str = ""
    folder: str = ""  # as the learning system calls it, for what goes back

    @property
    def path(self):
        return "/".join(self.parts)


def find(source):
    """([Work], [(path, why it was not read)]) of a folder or zip."""
    unread, times = [], {}
    found = list(from_zip(source.read_bytes(), (), unread, 0) if source.is_file() else from_folder(source, unread))
    for one in found:
        if one.parts[-1] in ("timestamp.txt", "submission_metadata.yml"):
            times[one.parts] = one.read()[: 1 << 20].decode(errors="replace")
    works = [one for one in found if one.parts[-1].lower().endswith(".ipynb")]
    unread += [
        (one.path, "not a notebook")
        for one in found
        if not one.parts[-1].lower().endswith(".ipynb") and one.parts not in times
    ]
    name_students(works, times)
    unread += [(one.path, "it is not clear whose work this is") for one in works if not as_seen(one.student)]
    works = two_as_one([one for one in works if as_seen(one.student)], unread)
    number = Counter(one.student for one in works)
    unread += [
        (one.path, f"one of {number[one.student]:,} notebooks by this student; at most {MOST} are read")
        for one in works
        if number[one.student] > MOST
    ]
    works = [one for one in works if number[one.student] <= MOST]
    return works, list(dict.fromkeys(unread))


def from_folder(folder, unread):
    for place, folders, files in os.walk(folder):
        above = tuple(map(readable, Path(place).relative_to(folder).parts))
        folders[:] = sorted(one for one in folders if not hidden((*above, readable(one)), unread))
        for name in sorted(files + [one for one in folders if (Path(place) / one).is_symlink()]):
            path, parts = Path(place) / name, (*above, readable(name))
            if hidden(parts, unread):
                continue
            if not stat.S_ISREG(os.lstat(path).st_mode):
                unread.append(("/".join(parts), "a link, or not an ordinary file"))
            elif name.lower().endswith(".zip"):
                yield from from_zip(path.read_bytes(), (*above, parts[-1][:-4]), unread, 0)
            elif path.stat().st_size > LARGEST:
                unread.append(("/".join(parts), "larger than 200 MB"))
            else:
                yield Work(parts, path.read_bytes)


def readable(name):
    """A file's name; if it is not UTF-8, it is read as names in zips are, so that different names stay different."""
    return os.fsencode(name).decode("cp437") if any("\udc80" <= one <= "\udcff" for one in name) else name


def hidden(parts, unread):
    """Is this a copy that a machine keeps, or a hidden file? Hidden files are listed."""
    for number, part in enumerate(parts, 1):
        if COPIES.fullmatch(part):
            return True
        if part.startswith(".") and part not in (".", ".."):
            unread.append(("/".join(parts[:number]), "its name begins with a dot"))
            return True
    return False


def from_zip(data, prefix, unread, depth):
    """The files of a zip, which are read but never unpacked, so no name can lead anywhere."""
    where = "/".join(prefix) or "the zip"
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = [one for one in archive.infolist() if not one.is_dir()]
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        unread.append((where, "not a readable zip"))
        return
    if len(entries) > ENTRIES or sum(one.file_size for one in entries) > ARCHIVE:
        unread.append((where, "too many files, or too large"))
        return
    for entry in sorted(entries, key=lambda one: one.filename):
        parts = tuple(part for part in re.split(r"[\\/]", entry.filename) if part)
        path = "/".join((*prefix, *parts))
        if hidden((*prefix, *parts), unread):
            continue
        if ".." in parts or entry.filename.startswith(("/", "\\")) or ":" in entry.filename[:2]:
            unread.append((path, "its name leads out of the zip"))
        elif len(path) > LONGEST:
            unread.append((path, "its name is too long"))
        elif stat.S_ISLNK(entry.external_attr >> 16) or entry.flag_bits & 1:
            unread.append((path, "a link, or encrypted"))
        elif entry.file_size > LARGEST or entry.file_size > 1000 * max(entry.compress_size, 1000):
            unread.append((path, "too large"))
        elif path.lower().endswith(".zip") and depth < NESTED:
            yield from from_zip(bytes_of(archive, entry), (*prefix, *parts[:-1], parts[-1][:-4]), unread, depth + 1)
        else:
            yield Work((*prefix, *parts), lambda entry=entry: bytes_of(archive, entry))


def bytes_of(archive, entry):
    try:
        with archive.open(entry) as file:
            return file.read(LARGEST + 1)[:LARGEST]
    except Exception:  # a zip that is truncated, or lies about itself
        return b""


# A name is the first part of a path that is not the same for all, which the learning system makes, not the student.

FOLDERS = [  # a whole folder's name
    re.compile(r"(?P<name>.*)_(?P<student>\d+)_assignsubmission_(?:file|onlinetext)_?"),  # Moodle
    re.compile(r"(?P<name>.*?)_(?P<student>\d+)_"),  # old versions of Moodle
    re.compile(r"(?P<student>submission_\d+)"),  # Gradescope
]
FILES = [  # the beginning of a file's name, where all files lie side by side
    re.compile(r"(?P<name>.*?)_(?P<student>\d+)_assignsubmission_file_(?P<rest>.*)"),
    re.compile(r"(?P<student>anon_[^_]+)_(?:LATE_)?\d+_(?P<rest>.*)"),  # Canvas, anonymous
    re.compile(r"(?P<name>[^_]+)_(?:LATE_)?(?P<student>\d+)_\d+_(?P<rest>.*)"),  # Canvas
    re.compile(rf"[^_]+_(?P<student>[^_]+)_attempt_(?P<time>{TIME})(?:_(?P<rest>.*)|\.ipynb)"),  # Blackboard
]
LESSON = re.compile(
    r"(?i)(?:^|[_\s.-])(?:lesson[_\s-]?)?(0?[1-9]|1[0-2])"
    r"(?:[_\s-]+(?:self_attention|queries_keys_values|"
    r"scaling|multi_head_attention|positional_encoding|masking|full_model|shakespeare|byte_pairs|"
    r"modern_models|inside_the_model|making_it_fast))?(?=$|[_\s.(-])"
)


def name_students(works, times):
    depth = common_depth([one.parts for one in works])
    logins = common_prefix({one.parts[depth] for one in works if len(one.parts) > depth + 1})
    for one in works:
        one.parts, top = one.parts, one.parts[depth]
        folder = len(one.parts) > depth + 1
        known = next(filter(None, (form.fullmatch(top) for form in (FOLDERS if folder else FILES))), None)
        about = known.groupdict() if known else {}
        one.student, one.name, one.time = (about.get(key) or "" for key in ("student", "name", "time"))
        one.folder = top if folder else ""
        if not known:
            if folder:
                one.student = top.removeprefix(logins)
            else:
                rest = LESSON.sub(" ", re.sub(r"\.ipynb$|\.mine(?:-\d+)?(?=\.)|\s*\(\d+\)|-Copy\d+", "", top))
                one.student = re.sub(r"^[\s_.-]+|[\s_.-]+$", "", rest)
                if not one.student and depth:
                    one.student = one.parts[depth - 1]
        for size in range(len(one.parts) if times else 0):
            one.time = times.get((*one.parts[:size], "timestamp.txt"), one.time).strip()[:40]
        about = times.get((*one.parts[:depth], "submission_metadata.yml"), "") if folder else ""
        if found := re.search(rf"^{re.escape(top)}:.*?:name: *['\"]?(.*?)['\"]?$", about, re.MULTILINE | re.DOTALL):
            one.name = found[1].strip()


def common_depth(paths):
    """How many folders all the paths share, not counting one that a learning system or a single student made."""
    depth = 0
    while paths and all(len(parts) > depth + 1 for parts in paths) and len({parts[depth] for parts in paths}) == 1:
        inner = {parts[depth + 1] for parts in paths}
        lessons = all(LESSON.match(one) and not any(form.fullmatch(one) for form in FILES) for one in inner)
        of_one = any(form.fullmatch(paths[0][depth]) for form in FOLDERS) or lessons or len(inner) == 1
        if of_one and not any(len(parts) > depth + 2 for parts in paths):
            break
        if any(form.fullmatch(paths[0][depth]) for form in FOLDERS):
            break
        depth += 1
    return depth


def common_prefix(names):
    """GitHub Classroom's clones: assignment-login. What all names share up to a hyphen, if there are more than two."""
    first, last = min(names, default=""), max(names, default="")
    shared = first[: next((n for n, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), 0)]
    shared = shared[: shared.rfind("-") + 1]
    return shared if len(names) > 2 and len(shared) > 3 else ""


def as_seen(student):
    """A name as it looks to a reader, a table, or a file system for which A and a are the same."""
    from transformer_lessons.marking.marks import cell

    seen = unicodedata.normalize("NFKC", cell(student)).casefold()
    return " ".join("".join(filter(str.isprintable, seen)).split())


def two_as_one(works, unread):
    """The works, except those of students who may be mistaken for one another, and of files that share a path."""
    from transformer_lessons.marking.marks import slug

    claims, first, double = {}, {}, {}
    for one in works:
        for name in (as_seen(one.student), slug(one.student).casefold()):
            claims.setdefault(name, set()).add(one.student)
    folders = Counter(student for student, _ in {(one.student, one.folder) for one in works if one.folder})
    for students in claims.values():
        double |= dict.fromkeys(students if len(students) > 1 else (), "its name is too much like another student's")
    double |= {student: f"two folders claim to be {student}" for student, count in folders.items() if count > 1}
    twice = {
        one.parts
        for one in works
        if first.setdefault(one.parts, one) is not one and first[one.parts].read() != one.read()
    }
    for one in works:
        if why := double.get(one.student) or (one.parts in twice and "two different files have this path"):
            unread.append((one.path, why))
    return [one for one in works if one.student not in double and one.parts not in twice]


def lesson_of(path):
    """The lesson according to the file's name, or None."""
    found = LESSON.search(re.sub(r"\.ipynb$", "", path.rsplit("/", 1)[-1]))
    return str(int(found[1])) if found else None
