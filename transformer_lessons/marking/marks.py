"""Marks a class: each notebook once, several at a time, with results that survive an interruption."""

import contextlib
import csv
import hashlib
import hmac
import io
import json
import multiprocessing
import re
import secrets
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from pathlib import Path

from transformer_lessons.exercises.checker.exercise import EXERCISES
from transformer_lessons.marking import confinement, submissions, verdicts
from transformer_lessons.tools import atomic

POLICY = {"borrowed": "fail", "exercise": [1, 2, 3], "hunt": 1, "question": 0.5, "text": 3}  # exercise: by difficulty
TEXTS = ("question", "who", "text", "p1", "p2", "p3", "comment", "flags")


@dataclass
class Class:
    """What the marks folder holds: students by id, a row for each item, what could not be read."""

    out: Path
    seed: int
    students: dict = field(default_factory=dict)
    rows: list = field(default_factory=list)
    works: dict = field(default_factory=dict)  # (student, item) → the source and its digests
    unread: list = field(default_factory=list)
    held: set = field(default_factory=set)
    ended: set = field(default_factory=set)  # the results that are missing because they ended a worker

    def pseudonym(self, student):
        return "S" + hmac.new(str(self.seed).encode(), student.encode(errors="replace"), "sha256").hexdigest()[:6]

    def lessons(self):
        return sorted({row["lesson"] for row in self.rows}, key=int)


def slug(student):
    """A student's id as the name of a folder; no two ids share one."""
    plain = re.sub(r"[^A-Za-z0-9-]+", "_", student)[:40].strip("_")
    return plain if plain == student else f"{plain}-{hashlib.sha256(student.encode(errors='replace')).hexdigest()[:8]}"


def prepare(out):
    """(seed, policy) of a marks folder. A new folder gets a secret seed, which stays with the marks."""
    state = out / ".state"
    state.mkdir(parents=True, exist_ok=True)
    state.chmod(0o700)
    for left in out.rglob("*.part"):  # of a run that was killed
        left.unlink()
    for path, value in ((state / "seed.json", secrets.randbelow(1 << 40)), (out / "policy.json", POLICY)):
        if not path.exists():
            atomic.write(path, json.dumps(value, indent=1).encode())
    (state / "seed.json").chmod(0o600)
    return json.loads((state / "seed.json").read_text()), POLICY | json.loads((out / "policy.json").read_text())


def mark(source, out, jobs=2, say=lambda text: None, student=None, roster=None):
    """Marks what is new, or only one student's work again, and returns the whole class."""
    seed, policy = prepare(out)
    works, unread = submissions.find(source)
    if student is not None and student not in {work.student for work in works}:
        raise ValueError(f"There is no work by {student}, only by {', '.join(sorted({one.student for one in works}))}.")
    waiting, paths, listed = [], {}, set()
    for work in works:
        data = work.read()
        key = verdicts.key_of(hashlib.sha256(data).hexdigest() + str(submissions.lesson_of(work.path)), seed)
        paths[work.path] = path = out / ".state" / slug(work.student) / f"{key}.json"
        if student not in (None, work.student) or path in listed:
            continue
        listed.add(path)
        if student or not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
            waiting.append((work, path))
    say(f"{len(works)} notebooks from {len({work.student for work in works})} students, {len(waiting)} of them new")
    known = Class(out, seed, unread=list(unread))
    while waiting:
        share(jobs, waiting, out)
        waiting = [one for one in waiting if not one[1].exists()]
        for one in waiting[:jobs]:  # one of these has ended a worker: alone, it takes nobody with it
            share(1, [one], out)
            known.ended.add(one[1])
        waiting = waiting[jobs:]
    return gathered(known, enrolled(known, works, roster) if roster else works, paths, policy)


def enrolled(known, works, roster):
    """The works of those on a class list with the columns student, name and, if groups hand in work, group.

    Everyone on the list appears in the marks, and the work of a group counts for each of its members.
    """
    rows = [row for row in table(roster) if row.get("student")]
    if not rows:
        raise ValueError(f"{roster} needs a column called student, with the students' ids.")
    groups = defaultdict(list)
    for row in rows:
        known.students[row["student"]] = {
            "name": row.get("name") or row["student"],
            "folder": "",
            "slug": slug(row["student"]),
        }
        groups[row["student"]] = [row["student"]]
    for row in rows:
        if row.get("group") and row["group"] not in known.students:
            groups[row["group"]].append(row["student"])
    known.unread += [
        (work.path, f"{work.student} is not on the class list") for work in works if work.student not in groups
    ]
    return [replace(work, student=member) for work in works for member in groups.get(work.student, ())]


def share(jobs, waiting, out):
    """Workers, each with a process of its own for students' code, take one notebook after another."""
    verdicts.course()  # once, for all of them
    context, workers = multiprocessing.get_context("fork"), min(jobs, len(waiting))
    with ProcessPoolExecutor(workers, context, begin, (waiting, out)) as pool, contextlib.suppress(BrokenProcessPool):
        for _ in pool.map(mark_one, range(len(waiting))):
            pass


def begin(waiting, out):
    """A worker's own process for students' code starts before the worker reads the seed."""
    confinement.die_with_parent()
    confinement.hide()
    WORKER.update(waiting=waiting, marker=verdicts.Marker(None))
    WORKER["marker"].seed = json.loads((out / ".state" / "seed.json").read_text())


WORKER = {}  # in a worker: the notebooks that are waiting, and the marker


def mark_one(number):
    work, path = WORKER["waiting"][number]
    found = WORKER["marker"].notebook(work.read(), submissions.lesson_of(work.path))
    atomic.write(path, verdicts.encoded(found))


# The results, put together


def gathered(known, works, paths, policy):
    """The class, from the results on disk: one notebook for each student and lesson, or none if it would be a guess."""
    found = defaultdict(list)
    for work in works:
        about = known.students.setdefault(
            work.student, {"name": work.name or work.student, "folder": "", "slug": slug(work.student)}
        )
        about["folder"] = about["folder"] or work.folder
        if not paths[work.path].exists():
            why = "it ended the marking process" if paths[work.path] in known.ended else "mark again"
            known.unread.append((work.path, f"not marked yet: {why}"))
            continue
        result = json.loads(paths[work.path].read_text())
        if "unread" in result:
            known.unread.append((work.path, result["unread"]))
        else:
            known.held.update(result["held"])
            found[work.student, result["lesson"]].append((work, result))
    for (student, lesson), candidates in sorted(found.items(), key=lambda one: (one[0][0], int(one[0][1]))):
        chosen = one_of(candidates)
        if chosen is None:
            known.unread += [
                (
                    work.path,
                    f"one of {len(candidates)} notebooks of lesson {lesson} by {student}: keep the one that counts",
                )
                for work, _ in candidates
            ]
            continue
        work, result = chosen
        now = {paths[one.path] for one, _ in candidates}
        before = earlier(paths[work.path].parent, lesson, now)
        for row in result["rows"]:
            again = bool(row.get("mistake")) and row["mistake"] in before.get(row["item"], ())
            known.rows.append(
                scored(
                    {
                        "student": student,
                        "lesson": lesson,
                        "file": work.path,
                        "again": again,
                        "mistake": "",
                        "answer": "",
                        **row,
                    },
                    policy,
                )
            )
        known.works |= {(student, item): one for item, one in result["work"].items()}
    read_back(known, policy)
    return known


def one_of(candidates):
    """The notebook that counts: not an untouched copy, and the last by the learning system's time; None if unsure."""
    written = [one for one in candidates if not one[1]["fresh"]] or candidates[:1]
    times = {work.time for work, _ in written}
    if "" not in times and len(times) == len(written):
        return max(written, key=lambda one: one[0].time)
    same = all(result == written[0][1] for _, result in written)
    return written[0] if same else None


def earlier(folder, lesson, now):
    """{item: mistakes} in earlier versions of a student's notebook."""
    found = defaultdict(set)
    for path in sorted(set(folder.glob("*.json")) - now):
        result = json.loads(path.read_text())
        for row in result.get("rows", ()) if result.get("lesson") == lesson else ():
            found[row["item"]].add(row.get("mistake"))
    return found


def scored(row, policy):
    """The row with its points: all or nothing. Free texts get theirs from a reader."""
    most = policy[row["kind"]]
    if row["kind"] == "exercise":
        most = most[EXERCISES[row["exercise"]].difficulty - 1]
    if verdicts.BORROWED in row["flags"] and policy["borrowed"] == "fail":
        row |= {
            "status": "failed",
            "mistake": "the course's own code",
            "message": f"✗ {row['item']}: this calls the course's own {row['exercise']}; "
            "the exercise is to write your own.",
        }
    if policy["borrowed"] == "ignore":
        row["flags"] = [one for one in row["flags"] if one != verdicts.BORROWED]
    waits = row["kind"] == "text" and row["status"] == "given"
    return row | {"max": most, "points": None if waits else most if row["status"] == "passed" else 0}


def read_back(known, policy):
    """Applies a reader's points for free texts, and the teacher's overrides."""
    texts = {(row.get("question"), row.get("who"), row.get("text")): row for row in table(known.out / "texts.csv")}
    changes = {(row.get("student"), row.get("item")): row for row in table(known.out / "overrides.csv")}
    for row in known.rows:
        read = texts.get((row["item"], known.pseudonym(row["student"]), cell(row["answer"], 20_000)), {})
        points = [number(read.get(one)) for one in ("p1", "p2", "p3")]
        if row["kind"] == "text" and row["status"] == "given" and None not in points:
            row |= {
                "status": "read",
                "points": round(min(sum(points), 3) / 3 * row["max"], 2),
                "message": row["message"] + f"\n  {read.get('comment') or ''}",
            }
        change = changes.get((cell(row["student"]), row["item"]), {})
        if number(change.get("points")) is not None:
            row |= {
                "points": number(change["points"]),
                "flags": [*row["flags"], "override"],
                "message": row["message"] + f"\n  {change.get('reason') or ''}",
            }


def table(path):
    if not path.exists():
        return []
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))


def number(text):
    try:
        value = float((text or "").replace(",", ".").replace("½", "0.5"))
        return value if 0 <= value <= 1000 else None
    except ValueError:
        return None


# Strangers' texts, made harmless

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def clean(text, most=200):
    """The text without control characters, cut off if it is too long."""
    text = CONTROL.sub("", str(text))
    return text if len(text) <= most else text[: most - 1] + "…"


def cell(text, most=200):
    """The text for a cell of a table, made so that no spreadsheet takes it for a formula."""
    text = clean(text, most)
    return f"'{text}" if text.lstrip()[:1] in tuple("=+-@＝＋－＠\t|%") and text.strip() else text
