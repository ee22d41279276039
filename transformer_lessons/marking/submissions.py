"""Finds out whose each file is. Files that do not fit are listed, and never guessed at.

A download comes from one learning system, which writes the beginning of every name. Which system it is, the whole
download decides; after that, only what this system writes says whose a file is, never what a student can name.
"""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from transformer_lessons.marking.files import Submission, files_of
from transformer_lessons.marking.naming import as_seen, slug
from transformer_lessons.tools import reset

MOST = 100  # notebooks of one student
LINES = 20  # files of one student that are listed for the same reason, before "and … more"
TIME = r"\d{4}-\d\d-\d\d[-T ]\d\d[-:]\d\d[-:]\d\d"
BESIDE = ("timestamp.txt", "submission_metadata.yml")  # what nbgrader and Gradescope write beside notebooks


def find(source: Path, of_one_student: bool = False) -> tuple[list[Submission], list[tuple[str, str]]]:
    """The notebooks in a folder or zip, and [(path, why it was not read)].

    What an autograder is given is all of one student, whatever its folders are called.
    """
    unread, times = [], {}
    files = list(files_of(source, unread))
    for file in files:
        if file.parts[-1] in BESIDE:
            times[file.parts] = file.read()[: 1 << 20].decode(errors="replace")
    works = [file for file in files if file.parts[-1].lower().endswith(".ipynb")]
    unread += [
        (file.path, "not a notebook")
        for file in files
        if not file.parts[-1].lower().endswith(".ipynb") and file.parts not in times
    ]
    if of_one_student:
        for work in works:
            work.student = "submission"
    else:
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


@cache
def lesson_name() -> re.Pattern:
    """What a lesson's file may be called: its number, and perhaps its title."""
    numbers, titles = zip(*(name.removesuffix(".ipynb").split("_", 1) for name in reset.lessons()), strict=True)
    return re.compile(
        rf"(?i)(?:^|[_\s.-])(?:lesson[_\s-]?)?({'|'.join(re.sub('^0', '0?', number) for number in numbers)})"
        rf"(?:[_\s-]+(?:{'|'.join(titles)}))?(?=$|[_\s.(-])"
    )


def with_students(works: list[Submission], times: dict, unread: list) -> list[Submission]:
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
        if system is None:
            work.time = time_beside(work, depth, times)
        about = times.get((*work.parts[:depth], "submission_metadata.yml"), "") if work.folder else ""
        if found := re.search(rf"^{re.escape(top)}:.*?:name: *['\"]?(.*?)['\"]?$", about, re.MULTILINE | re.DOTALL):
            work.name = found[1].strip()
        named.append(work)
    return named


def time_beside(work: Submission, depth: int, times: dict) -> str:
    """What nbgrader has written beside a notebook: in the student's folder, or in the one for the assignment.

    Of two, the outer one counts. What lies further in, or in a zip, may be the student's own.
    """
    for size in (depth + 1, depth + 2):
        theirs = size < len(work.parts) and all(place >= size for place in work.zips)
        if theirs and (time := times.get((*work.parts[:size], "timestamp.txt"), "").strip()):
            return time[:40]
    return ""


def is_folder_at(work: Submission, depth: int) -> bool:
    """Is this part a folder that the learning system made? A zip has the name that its student gave it."""
    return len(work.parts) > depth + 1 and depth not in work.zips


def system_of(tops: set) -> System | None:
    """The learning system that wrote most of these names, if one did."""
    matches = {system: [match for top in tops if (match := system.match(*top))] for system in SYSTEMS}
    best = max(SYSTEMS, key=lambda system: len(matches[system]))  # of several, the first
    return best if 2 * len(matches[best]) > len(tops) else None


def name_by_system(work: Submission, system: System, top: str, is_folder: bool, heads: set) -> str:
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


def name_by_hand(work: Submission, depth: int, logins: str) -> str:
    """The same for a folder that a teacher has made: a folder for each student, or names of files with a lesson."""
    top = work.parts[depth]
    if len(work.parts) > depth + 1:
        work.student = top.removeprefix(logins)
    else:
        rest = lesson_name().sub(" ", re.sub(r"\.ipynb$|\.mine(?:-\d+)?(?=\.)|\s*\(\d+\)|-Copy\d+", "", top))
        work.student = re.sub(r"^[\s_.-]+|[\s_.-]+$", "", rest)
        if not work.student and depth:
            work.student = work.parts[depth - 1]
    return "" if as_seen(work.student) else "it is not clear whose work this is"


def common_depth(works: list[Submission]) -> int:
    """How many folders all the paths share, not counting one that a learning system or a single student made."""
    depth, paths = 0, [work.parts for work in works]
    while paths and all(len(parts) > depth + 1 for parts in paths) and len({parts[depth] for parts in paths}) == 1:
        inner = {parts[depth + 1] for parts in paths}
        lessons = all(lesson_name().match(name) and not by_a_system(name, False) for name in inner)
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


def two_as_one(works: list[Submission], unread: list) -> list[Submission]:
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
    found = lesson_name().search(re.sub(r"\.ipynb$", "", path.rsplit("/", 1)[-1]))
    return str(int(found[1])) if found else None
