"""Marks a class: each notebook once, several at a time, with results that survive an interruption."""

import contextlib
import hashlib
import hmac
import json
import re
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain, count
from pathlib import Path

from transformer_lessons.basis import atomic
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.marking import submissions, verdicts
from transformer_lessons.marking.files import Submission
from transformer_lessons.marking.messages import Answer
from transformer_lessons.marking.naming import CELL, as_typed, cell, slug
from transformer_lessons.marking.policy import POLICY, deadline_of, is_deadline, is_late, moment, read_policy
from transformer_lessons.marking.results import Person, Result, Row
from transformer_lessons.marking.rosters import class_list
from transformer_lessons.marking.sheets import points_from, read_table, taken_off
from transformer_lessons.marking.workers import ENDED, share

FILLED = ("p1", "p2", "p3", "minus", "comment")  # by the reader of a text
TEXTS = ("question", "who", "text", *FILLED, "flags")
EXPORTED = re.compile(r"texts ?[-(]?\d+\)?\.csv")  # what a browser makes of a name that is taken
OVERRIDES = ("student", "item", "points", "reason")
EXTENSIONS = ("student", "lesson", "deadline")
OWN = "the course's own code"  # the mistake of those who call it instead of writing their own


@dataclass
class Class:
    """What the marks folder holds: students by id, a row for each item, what could not be read."""

    out: Path
    seed: int
    students: dict[str, Person] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    works: dict[tuple[str, str], Answer] = field(default_factory=dict)  # (student, item) → the source and its digests
    unread: list[tuple[str, str]] = field(default_factory=list)  # path, why
    held: set[str] = field(default_factory=set)
    remarks: list[str] = field(default_factory=list)  # what the teacher should know about their own tables
    notebooks: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)  # (student, lesson) → path, digest
    in_doubt: dict[tuple[str, str], str] = field(default_factory=dict)  # (student, lesson) → why it was not marked
    lost: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)  # (student, lesson) → path, what
    left_out: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # student → file, why it does not count
    halves: bool = False  # is half of the class told no names of mistakes?
    policy: dict = field(default_factory=lambda: dict(POLICY))
    command: str = ""  # which marks the class again
    source: str = ""  # the name of the folder or zip file that was marked

    def pseudonym(self, student: str) -> str:
        return "S" + hmac.new(str(self.seed).encode(), student.encode(errors="replace"), "sha256").hexdigest()[:8]

    def source_of(self, student: str, item: str) -> str:
        """The student's own code for an exercise; "" if there is none."""
        work = self.works.get((student, item))
        return work.get("source", "") if work else ""

    def lessons(self) -> list[str]:
        return sorted({row["lesson"] for row in self.rows}, key=int)


def prepare(out: Path) -> tuple[int, dict]:
    """(seed, policy) of a marks folder. A new folder gets a secret seed, which stays with the marks."""
    state = out / ".state"
    state.mkdir(parents=True, exist_ok=True)
    state.chmod(0o700)
    for left in [*state.rglob("*.part"), *out.glob("*.part"), *(out / "feedback").glob("*/*.part")]:
        if re.fullmatch(OURS, left.name):  # of a run that was killed
            left.unlink()
    path = state / "seed.json"
    if not path.exists():
        atomic.write(path, json.dumps(secrets.randbelow(1 << 40)).encode())
        path.chmod(0o600)
    seed = None
    with contextlib.suppress(ValueError):
        seed = json.loads(path.read_text())
    if type(seed) is not int or seed < 0:
        raise ValueError(
            f"{path} is empty or damaged, and without this class's seed no mark can be made again. Take it from a "
            "backup, or delete it: all work is then marked anew, and the pseudonyms in texts.csv change."
        )
    return seed, read_policy(out)


OURS = (
    r"([0-9a-f]{16}-?[0-9a-f]{16}|seed|policy|report|report-anonymous|similar|grading|texts|halves|overrides|extensions|marks|marks_wide|unread|"
    r"results|index|lesson_\d+|feedback-moodle)\.(json|html|csv|txt|zip)\.[0-9a-f]{8}\.part"
)


def mark(
    source: Path,
    out: Path,
    jobs: int = 2,
    say: Callable = lambda text: None,
    student: str | None = None,
    roster: Path | None = None,
    of_one_student: bool = False,
) -> Class:
    """Marks what is new, or only one student's work again, and returns the whole class."""
    seed, policy = prepare(out)
    works, unread = submissions.find(source, of_one_student)
    if student is not None and student not in {work.student for work in works}:
        raise ValueError(f"There is no work by {student}, only by {', '.join(sorted({one.student for one in works}))}.")
    waiting, paths, listed, marked = [], {}, set(), Counter[str]()
    for work in works:
        digest = hashlib.sha256(work.read()).hexdigest()
        key = verdicts.key_of(digest + str(submissions.lesson_of(work.path)), seed)
        paths[work.path] = path = out / ".state" / slug(work.student) / f"{key}.json"
        if student not in (None, work.student) or path in listed:
            continue
        listed.add(path)
        if student or not is_final(path):
            path.parent.mkdir(exist_ok=True)
            marked["again" if path.exists() else "anew" if versions_of(path) else "new"] += 1
            path.unlink(missing_ok=True)
            waiting.append((work, path))
    say(what_is_marked(len(works), len({work.student for work in works}), marked))
    waiting = in_turn(waiting)
    unmarked = share(jobs, waiting, out, say)
    for work, path in waiting:
        if unmarked.get(path) == ENDED:  # alone, it takes nobody with it
            del unmarked[path]
            unmarked |= share(1, [(work, path)], out)
    known = Class(out, seed, unread=list(unread), halves=policy["halves"], policy=policy)
    known.source = source.resolve().stem if source.is_file() else source.resolve().name
    works = enrolled(known, works, roster) if roster else works
    return gathered(known, works, paths, policy, unmarked)


def in_turn(waiting: list[tuple[Submission, Path]]) -> list[tuple[Submission, Path]]:
    """One notebook of each student, then another of each: who hands in a hundred slow ones keeps nobody waiting."""
    count, turns = Counter[str](), []
    for number, (work, _) in enumerate(waiting):
        turns.append((count[work.student], number))
        count[work.student] += 1
    return [waiting[number] for _, number in sorted(turns)]


def versions_of(path: Path) -> list[Path]:
    """The results of the same notebook, by any version of the course."""
    return list(path.parent.glob(f"{path.stem.partition('-')[0]}-*.json"))


def what_is_marked(works: int, students: int, marked: Counter[str]) -> str:
    text = f"{counted(works, 'notebook')} from {counted(students, 'student')}, {marked['new']} of them new"
    if marked["again"]:
        text += f"; {marked['again']} marked again"
    if number := marked["anew"]:
        text += f"; the course has changed, so {number} {'is' if number == 1 else 'are'} marked again"
    return text


def counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def result_at(path: Path) -> Result | None:
    """The result that a file holds; None if there is none, or if the file is damaged."""
    with contextlib.suppress(OSError, ValueError):
        result: Result = json.loads(path.read_text())
        if isinstance(result, dict) and ("unread" in result or "rows" in result):
            return result
    return None


def is_final(path: Path) -> bool:
    """Is there a result that need not be made again? One that was lost to a trouble of ours must be."""
    result = result_at(path)
    return result is not None and not result.get("again")


def enrolled(known: Class, works: list[Submission], roster: Path) -> list[Submission]:
    """The works of those on a class list.

    Everyone on the list appears in the marks, and the work of a group counts for each of its members.
    """
    groups, listed = defaultdict(list), class_list(roster, works)
    for one in listed:
        known.students[one.student] = {"name": one.name, "folder": "", "slug": slug(one.student)}
        groups[one.student] = [one.student]
    for one in listed:
        if one.group and one.group not in known.students:
            groups[one.group].append(one.student)
    times = {one.student: one.time for one in listed}
    known.unread += [
        (work.path, f"{work.student} is not on the class list") for work in works if work.student not in groups
    ]
    return [
        replace(work, student=member, by=work.student, time=work.time or times[member])
        for work in works
        for member in groups.get(work.student, ())
    ]


# The results, put together


def gathered(
    known: Class, works: list[Submission], paths: dict[str, Path], policy: dict, unmarked: dict[Path, str]
) -> Class:
    """The class, from the results on disk: one notebook for each student and lesson, or none if it would be a guess."""
    handed_in, with_deadline, extended = defaultdict(list), [], extensions(known, works)

    def due(student: str, lesson: str) -> str:
        own = extended.get((cell(student), lesson)) or extended.get((cell(student), ""))
        return own or deadline_of(lesson, policy)

    for work in works:
        person = known.students.setdefault(
            work.student, {"name": work.name or work.student, "folder": "", "slug": slug(work.student)}
        )
        person["folder"] = person["folder"] or work.folder
        result = result_at(paths[work.path])
        lesson = (result or {}).get("lesson", submissions.lesson_of(work.path))
        with_deadline += [work] if due(work.student, lesson or "") else []
        if result is None:
            why = unmarked.get(paths[work.path], "mark again")
            leave_out(known, work, f"not marked yet: {why}", lesson)
        elif "unread" in result:
            leave_out(known, work, result["unread"], lesson)
        else:
            known.held.update(result["held"])
            handed_in[work.student, result["lesson"]].append((work, result))
    for (student, lesson), candidates in sorted(handed_in.items(), key=lambda one: (one[0][0], int(one[0][1]))):
        chosen = one_of(candidates)
        if chosen is None:
            why = f"one of {len(candidates)} notebooks of lesson {lesson} by {student}: keep the one that counts"
            for work, _ in candidates:
                leave_out(known, work, why, lesson)
            continue
        work, result = chosen
        known.notebooks[student, lesson] = work.path, paths[work.path].stem
        if result.get("lost"):
            known.lost[student, lesson] = work.path, result["lost"]
        before = earlier(paths[work.path].parent, lesson, set(paths.values()))
        about: Row = {"student": student, "lesson": lesson, "file": work.path, "mistake": "", "answer": ""}
        about["by"] = work.by or student
        about["time"], about["deadline"] = work.time, due(student, lesson)
        about["late"] = work.late or is_late(work.time, about["deadline"])
        about["marked"] = date.fromtimestamp(paths[work.path].stat().st_mtime).isoformat()
        for row in result["rows"]:
            again = is_again(row, result["work"].get(row["item"]), before)
            name = verdicts.name_in_class(lesson, row["item"])
            known.rows.append(scored({**about, "again": again, **row, "item": name}, policy))
        known.works |= {(student, verdicts.name_in_class(lesson, item)): one for item, one in result["work"].items()}
    known.remarks += without_times(with_deadline)
    known.remarks += [f"{path}: {what}." for path, what in submissions.in_short([*known.lost.values()])]
    read_back(known, policy)
    return known


def extensions(known: Class, works: list[Submission]) -> dict[tuple[str, str], str]:
    """{(student, lesson, or "" for all): deadline}, as the teacher has written them in extensions.csv."""
    found, students = {}, {cell(one) for one in (*known.students, *(work.student for work in works))}
    for row in read_table(known.out / "extensions.csv", *EXTENSIONS):
        student, lesson, deadline = (row[one].strip() for one in EXTENSIONS)
        number = submissions.lesson_of(lesson) if lesson else ""
        if student not in students:
            known.remarks.append(f"extensions.csv: there is no student {student!r}.")
        elif number is None:
            known.remarks.append(f"extensions.csv: {lesson!r} for {student} is no lesson.")
        elif not is_deadline(deadline):
            known.remarks.append(
                f"extensions.csv: {deadline!r} for {student} is not a date and a time, as in 2026-12-01 23:59."
            )
        else:
            found[student, number] = deadline
    return found


def without_times(works: list[Submission]) -> list[str]:
    """What a teacher who sets a deadline should know, if it is not known when each notebook was handed in."""
    late = {work.path: work.late for work in works}  # once each, also that of a group
    untimed = {work.path for work in works if not moment(work.time)}
    if not untimed:
        return []
    if len(untimed) < len(late):
        return [
            f"The deadline decides nothing for {len(untimed)} of {len(late)} notebooks, since it is not known when "
            "they were handed in."
        ]
    so = "late is only what the learning system itself calls late" if any(late.values()) else "none counts as late"
    return [f"The deadline decides nothing: it is not known when any notebook was handed in, so {so}."]


def leave_out(known: Class, work: Submission, why: str, lesson: str | None) -> None:
    """Notes that a notebook does not count, and why; and whose it is, and of which lesson, if that is known."""
    known.unread.append((work.path, why))
    known.left_out.setdefault(work.student, []).append((work.path.rpartition("/")[2], why))
    if lesson:
        known.in_doubt[work.student, lesson] = why


def one_of(candidates: list[tuple[Submission, Result]]) -> tuple[Submission, Result] | None:
    """The notebook that counts: not an untouched copy, and the last by the learning system's time; None if unsure."""
    written = [one for one in candidates if not one[1]["fresh"]] or candidates[:1]
    times = {work.time for work, _ in written}
    if "" not in times and len(times) == len(written):
        return max(written, key=lambda one: one[0].time)
    same = all(result == written[0][1] for _, result in written)
    return written[0] if same else None


def earlier(folder: Path, lesson: str, now: set[Path]) -> dict[tuple[str, str], list[Answer]]:
    """{(item, mistake): answers} in earlier versions of a student's notebook."""
    answers = defaultdict(list)
    for path in sorted(set(folder.glob("*.json")) - now):
        result = result_at(path) or {}
        for row in result.get("rows", ()) if result.get("lesson") == lesson else ():
            if row["item"] in result.get("work", ()):
                answers[row["item"], row.get("mistake", "")].append(result["work"][row["item"]])
    return answers


def is_again(row: Row, answer: Answer | None, before: dict[tuple[str, str], list[Answer]]) -> bool:
    """Is this the mistake of an earlier version, in an answer that has changed since?

    The same answer may be found again, too: in another notebook, or marked by another version of the course.
    """
    others = before.get((row["item"], row["mistake"]), ()) if answer and row.get("mistake") else ()
    return any(one["source"] != answer["source"] and one["digest"] != answer["digest"] for one in others)


def scored(row: Row, policy: dict) -> Row:
    """The row with its points: all or nothing. Free texts get theirs from a reader."""
    most = policy[row["kind"]]
    if row["kind"] == "exercise":
        most = most[EXERCISES[row["exercise"]].difficulty - 1]
    if verdicts.BORROWED in row["flags"] and policy["borrowed"] == "fail":
        row |= {
            "status": "failed",
            "mistake": OWN,
            "headline": f"this uses the course's own {row['exercise']}; the exercise is to write your own.",
            "said": [],
            "line": "",
        }
    if policy["borrowed"] == "ignore":
        row["flags"] = [flag for flag in row["flags"] if flag != verdicts.BORROWED]
    if row.get("late"):
        row["flags"] = [*row["flags"], "late"]
    waits = row["kind"] == "text" and row["status"] == "given"
    return row | {"max": most, "points": None if waits else in_time(most * share_of(row, policy), row, policy)}


def share_of(row: Row, policy: dict) -> float:
    """The share of its points that an answer earns."""
    if row["status"] == "passed":
        return 1
    if row.get("mistake") == verdicts.BUT_FOR:
        return policy["right_but_for"]
    return policy["nearly_right"] if row.get("nearly") and row.get("mistake") != OWN else 0


def in_time(points: float, row: Row, policy: dict) -> float:
    """The points, or what is left of them if the work is late."""
    return round(points * policy["late"], 2) if row.get("late") else points


def newest_texts(out: Path) -> list[str]:
    """Takes the newest of the tables of texts for texts.csv, and returns what a teacher should know about that.

    A browser calls what it exports texts (1).csv if there is a texts.csv in its folder. The one before is kept.
    """
    path = out / "texts.csv"
    tables = [one for one in sorted(out.glob("texts*.csv")) if EXPORTED.fullmatch(one.name)]
    newest = max([*[path] * path.exists(), *tables], key=lambda one: one.stat().st_mtime_ns, default=path)
    said = [f"{one.name} is older than {newest.name}, so it does not count." for one in tables if one != newest]
    if newest == path:
        return said
    read_table(newest, *TEXTS[:6])  # if it is not such a table, all stays as it is
    names = chain(["texts.before.csv"], (f"texts.before{number}.csv" for number in count(2)))
    kept = next(one for name in names if not (one := out / name).exists())
    if path.exists():
        path.rename(kept)
    newest.rename(path)
    return [f"{newest.name} is the newest, and now texts.csv; the one before is {kept.name}.", *said]


def read_back(known: Class, policy: dict) -> None:
    """Applies a reader's points for free texts, and the teacher's overrides."""
    known.remarks += newest_texts(known.out)
    given = read_table(known.out / "texts.csv", *TEXTS[:6])
    texts = {(row["question"], row["who"], row["text"]): row for row in given}
    changes = {(row["student"], row["item"]): row for row in read_table(known.out / "overrides.csv", *OVERRIDES[:3])}
    most = {(cell(row["student"]), row["item"]): row["max"] for row in known.rows}
    for (student, item), change in changes.items():
        points = points_from(change["points"])
        if (student, item) not in most:
            known.remarks.append(f"overrides.csv: there is no {item!r} by {student!r} to override.")
        elif points is None:
            known.remarks.append(
                f"overrides.csv: {change['points']!r} for {item} by {student} is not a number of points."
            )
        elif points > most[student, item]:
            known.remarks.append(
                f"overrides.csv: {points:g} points for {item} by {student} are more than the maximum, "
                f"{most[student, item]:g}: not counted."
            )
    for line in given:
        wrong = [line[one] for one in ("p1", "p2", "p3") if line[one].strip() and points_from(line[one]) is None]
        typed = line.get("minus", "").strip()
        wrong += [typed] * bool(typed and not taken_off(typed) and points_from(typed) is None)
        if wrong and line["who"] != "model answer":
            known.remarks.append(
                f"texts.csv: {wrong[0]!r} for {line['question']} by {line['who']} is not a number of points."
            )
    for row in known.rows:
        text = texts.get((row["item"], known.pseudonym(row["student"]), cell(row["answer"], CELL)), {})
        thirds = [points_from(text.get(name)) for name in ("p1", "p2", "p3")]
        known_points = [one for one in thirds if one is not None]
        if row["kind"] == "text" and row["status"] == "given" and len(known_points) == 3:
            minus = taken_off(text.get("minus"))
            row |= {
                "status": "read",
                "points": in_time(round(max(min(sum(known_points), 3) - minus, 0) / 3 * row["max"], 2), row, policy),
                "given": known_points,
                "minus": minus,
                "comment": as_typed(text.get("comment") or ""),
            }
        change = changes.get((cell(row["student"]), row["item"]), {})
        points = points_from(change.get("points"))
        if points is not None and points <= row["max"]:
            row |= {
                "points": points,
                "flags": [*row["flags"], "override"],
                "reason": as_typed(change.get("reason") or ""),
            }
