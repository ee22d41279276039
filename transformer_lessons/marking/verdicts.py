"""The verdict on one notebook: what `check` and `answer` would say, from a student's numbers."""

import contextlib
import hashlib
import json
import re
import sys
from collections import Counter
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

from transformer_lessons.basis.cells import cells_in, checks_in
from transformer_lessons.exercises.checker.draws import Draws, compare, observe_all
from transformer_lessons.exercises.checker.exercise import Exercise
from transformer_lessons.exercises.checker.pages import read_page
from transformer_lessons.exercises.checker.parts import Part
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.verdict import judge
from transformer_lessons.exercises.questions.kinds import FreeText, Question
from transformer_lessons.exercises.questions.lookup import all_questions
from transformer_lessons.exercises.questions.verdict import verdict
from transformer_lessons.marking.messages import Answer, Given, Items, Refused
from transformer_lessons.marking.naming import LONGEST
from transformer_lessons.marking.notebook import Notebook, excerpt_of, parsed, shape_of
from transformer_lessons.marking.process import ASKED, LIMITS, Endless, Nursery, Process
from transformer_lessons.marking.remote import Remote, Student
from transformer_lessons.marking.results import Result, Row
from transformer_lessons.marking.wire import Broken, unpack
from transformer_lessons.running import errors
from transformer_lessons.running.errors import cut, in_short
from transformer_lessons.running.global_state import standard_state
from transformer_lessons.tools import reset

VARIANTS = []  # the files of a teacher's own exercises
TELLING = 100  # nodes in a definition that is long enough to tell something
BORROWED, SAME = "borrowed", "as the course's solution"
NOT_RUN = "does not run"  # the mistake of an answer whose cells fail
OPEN = ("missing", "untouched")  # the status of what nobody has answered
KIND = "wrong kind of result"  # the mistake of an answer whose numbers may all be right
KINDS = (KIND, "a tensor, not a float")
REPAIRED_LINES, REPAIRS = 60, 3  # of code that Python refuses: lines that may be repaired, and repairs to be tried
ONE_LEFT = {  # what a fix of a hunt has achieved, by exercise and the mistake that is left
    ("masked_softmax", f"{what} for an empty row"): "The mask works now; one thing is missing."
    for what in ("NaN", "weight")
}
BUT_FOR = "right, but for another exercise"  # the mistake of an answer that calls a wrong one
TOO_SLOW = "takes too long"  # to define: the flag of an answer which a faster machine might have marked
ALONE = (
    "Restart the kernel, and run only the cells that it needs, one after another. The first that fails"
    " is the one to repair; if none does, show this to your teacher."
)
REPAIR = (
    "Run the cell: Python stops there, too. If that line is right, look just above it for a missing"
    " bracket, quotation mark or colon, and compare how the lines are indented."
)
SILENT = (
    "Call it yourself, in a separate cell. If the kernel dies, print something after each line, to see"
    " how far it comes. Does it call os._exit, or ask for more memory than there is?"
)
FASTER = (
    "Restart the kernel, and run only the cells that it needs. Keep what trains, draws or waits out of"
    " them; if they are fast, show this to your teacher."
)


class Lesson(Items):
    """What a lesson asks for, and its fresh notebook."""

    stem: str  # the notebook's name
    title: str  # as its first line says
    digest: str  # of all its code
    fresh: dict[str, str]  # digests of what it defines, by the names that answers have


@cache
def course() -> dict[str, Lesson]:
    """The lessons, by number.

    The fresh notebooks are those of this version of the course, not those in `notebooks`: teachers solve lessons, too.
    """
    lessons: dict[str, Lesson] = {}
    for exercise in EXERCISES.values():
        lessons.setdefault(str(exercise.lesson), empty())["items"].append([exercise.name, exercise.name])
    for number in all_questions():
        lessons.setdefault(number.split(".")[0], empty())["questions"].append(number)
    for name in reset.lessons():
        data = reset.original(name)
        if data is None or (known := lessons.get(str(int(name[:2])))) is None:
            continue
        for source, tags in cells_in(data.decode()):
            known["items"] += [
                list(called)
                for called in checks_in(source)
                if list(called) not in known["items"] and "wrong-on-purpose" not in tags
            ]
        book = fresh_notebook(name)
        works = {subject: book.work_on(exercise, subject) for exercise, subject in known["items"]}
        known |= {
            "stem": name.removesuffix(".ipynb"),
            "title": title_in(data),
            "digest": book.digest,
            "fresh": {subject: shape_of(excerpt_of(work, subject))[0] for subject, work in works.items() if work},
        }
    return lessons


@cache
def fresh_notebook(name: str) -> Notebook:
    """A lesson as it was handed out; one without cells if no such copy is left."""
    return Notebook(reset.original(name) or b'{"cells": []}')


def empty() -> Lesson:
    return {"items": [], "questions": [], "stem": "", "title": "", "digest": "", "fresh": {}}


def title_in(data: bytes) -> str:
    """Masking, of a lesson whose first line is "# 6 · Masking"."""
    found = re.search(r'"# \d+ · ([^"\\]+)', data.decode())
    return found[1].strip() if found else ""


@cache
def shared_names() -> set[str]:
    """The names of what is asked for in more than one lesson: bug hunts, each with its own right answer."""
    count = Counter(subject for known in course().values() for _, subject in known["items"])
    return {subject for subject, lessons in count.items() if lessons > 1}


def name_in_class(lesson: str, item: str) -> str:
    """What an item is called where the items of all lessons stand side by side."""
    return f"{item} ({lesson})" if item in shared_names() else item


def lost_lessons() -> list[str]:
    """The lessons of which no fresh copy is left: changed in `notebooks`, and not in git's history either."""
    return [name for name in reset.lessons() if reset.original(name) is None]


@cache
def version() -> str:
    """What a verdict depends on, beyond the notebook and the seed: the package and the fresh lessons."""
    package, digest = Path(__file__).parent.parent, hashlib.sha256()
    read = [path for pattern in ("*.py", "*.md") for path in sorted(package.rglob(pattern))]
    for data in [path.read_bytes() for path in [*read, *VARIANTS]] + [reset.original(name) for name in reset.lessons()]:
        digest.update(data or b"lost")
    return digest.hexdigest()


def load_variants(folder: Path) -> list[str]:
    """Adds a teacher's own exercises to the catalogue, each a page and a module beside it; returns their names."""
    names = []
    for path in sorted(folder.glob("*.md")):
        setup = path.with_suffix(".py")
        if not setup.exists():
            raise ValueError(f"{path} is the page of an exercise, but there is no {setup.name} beside it.")
        loader = SourceFileLoader(f"variant_{path.stem}", str(setup))
        module = sys.modules[loader.name] = ModuleType(loader.name)
        module.__file__ = str(setup)
        try:
            loader.exec_module(module)
            make = module.setup
        except Exception as error:
            raise ValueError(f"{setup} cannot be used: {errors.name_error(error)}.") from error
        VARIANTS.extend([path, setup])
        exercise = Exercise(read_page(path), make)
        if exercise.name in EXERCISES:
            raise ValueError(f"{path}: the course already has an exercise called {exercise.name}.")
        EXERCISES[exercise.name] = exercise
        names.append(exercise.name)
    return names


def key_of(digest: str, seed: int) -> str:
    """The name of a result: which notebook was marked, and after a hyphen what marked it."""
    parts = f"{digest} {seed}", f"{version()} {sorted(EXERCISES)}"
    return "-".join(hashlib.sha256(one.encode()).hexdigest()[:16] for one in parts)


class Marker:
    """Marks notebooks, one after another, with the same draws for the whole class."""

    def __init__(self, seed: int | None) -> None:
        self.nursery, self.seed = Nursery(), seed
        self.draws: dict[tuple[str, int], Draws] = {}

    def close(self) -> None:
        self.nursery.close()

    def drawn(self, name: str, number: int) -> Draws:
        """One of two sets of draws. To pass, an answer must be right on both."""
        if (name, number) not in self.draws:
            text = f"{self.seed} {name} {number}".encode()  # generators take fewer bits than the seed has
            seed = int.from_bytes(hashlib.sha256(text).digest()[:5], "big")
            self.draws[name, number] = Draws(EXERCISES[name], seed)
        return self.draws[name, number]

    def notebook(self, data: bytes, lesson: str | None) -> Result:
        """The results of a notebook; `lesson` is the one in its file name, or None."""
        asked: dict[str, Items] = {
            number: {"items": known["items"], "questions": known["questions"]} for number, known in course().items()
        }
        process = Process(self.nursery, data, asked, lesson)
        try:
            with standard_state():
                process.start()
                return self.verdicts(process)
        except Endless:
            return {"unread": "it takes too long to read"}
        except Broken as error:
            return {"unread": f"it could not be read ({error})"}
        except Exception as error:  # a fault of ours, most likely: it is tried again
            why = f"it could not be read ({type(error).__name__})"
            return {"unread": why, "again": why}
        finally:
            process.end()

    def verdicts(self, process: Process) -> Result:
        plan, student = process.plan, Student(process)
        if "unreadable" in plan or plan.get("lesson") not in course():
            unknown = plan.get("lost") or "it is not recognisable as a lesson of the course"
            return {"unread": str(plan.get("unreadable", unknown))[:200]}
        lesson = str(plan["lesson"])
        rows: list[Row] = []
        known = course()[lesson]
        found: Result = {
            "lesson": lesson,
            "held": list(process.held),
            "fresh": plan["digest"] == known["digest"],
            "lost": str(plan["lost"])[:200],
            "work": {
                str(subject): {
                    "source": str(one["source"]),
                    "digest": str(one["digest"]),
                    "nodes": int(one["nodes"]),
                    "lines": list(map(str, one["lines"])),
                    "comments": list(map(str, one["comments"])),
                }
                for subject, one in plan["items"].items()
            },
        }
        last = None  # the process in which another answer has run
        for exercise, subject in known["items"]:
            try:
                before, work = process.pid, found["work"].get(subject)
                row = self.exercise(student, known, exercise, subject, work)
                if before is not None and before == last and is_odd(row):  # what has run there may be at fault
                    process.end()
                    process.defined = None
                    row = self.exercise(student, known, exercise, subject, work)
                last = process.pid
            except Exception as error:  # a fault of ours, most likely: nobody's mark depends on it
                process.end()
                row = {
                    "item": subject,
                    "exercise": exercise,
                    "kind": "exercise" if subject == exercise else "hunt",
                    "flags": ["not marked"],
                    "status": "not marked",
                    "headline": f"this could not be marked ({type(error).__name__}).",
                }
                found["again"] = f"{subject}: {row['headline']}"
            refused = plan["refused"].get(subject)
            helper = name_missing(row)
            if refused and (refused["only"] or row["status"] in OPEN) and row["status"] != "passed":
                row, found["work"][subject] = is_refused(row, refused), work_refused(refused)
                row["nearly"] = self.right_when_repaired(student, row, str(refused["source"]))
            elif helper in plan["refused"] and row["status"] == "failed":
                refused = plan["refused"][helper]
                row = is_refused(row, refused, f"it needs `{helper}`, which Python cannot read")
                found["work"][subject]["source"] = f"{refused['source']}\n\n{found['work'][subject]['source']}"
            elif needed := used(rows, row, found["work"]):
                row = self.right_but_for(student, row, needed)
            rows.append(row)
        for number in all_questions():
            if number.split(".")[0] == lesson:
                rows.append(self.question(student, number, plan["answers"].get(number)))
        return {**found, "rows": rows}

    def exercise(self, student: Student, known: Lesson, name: str, subject: str, work: Answer | None) -> Row:
        row: Row = {"item": subject, "exercise": name, "kind": "exercise" if subject == name else "hunt", "flags": []}
        if work is None:
            return {**row, "status": "missing", "headline": "not found in this notebook."}
        if known["fresh"].get(subject) == work["digest"]:
            return {**row, "status": "untouched", "headline": "still as it was handed out."}
        try:
            answer = student.define(name, subject)
        except Remote as error:
            row["flags"] += [BORROWED] * student.borrowed
            return does_not_run(row, "its cell does not run.", ALONE, said_by(error))
        except Broken as error:
            return does_not_run(row, f"its cell ends Python ({error}).", ALONE)
        except Endless as error:
            return does_not_run(row | {"flags": [TOO_SLOW]}, f"the cells that it needs {error}.", FASTER)
        report = judge(EXERCISES[name], answer, self.drawn(name, 0), run=student.run, limits=LIMITS)
        if report.status == "passed" and not self.right_again(name, answer, student):
            report = judge(EXERCISES[name], answer, self.drawn(name, 1), run=student.run, limits=LIMITS)
        row |= {
            "status": {"not attempted": "untouched"}.get(report.status, report.status),
            "mistake": report.mistake or "",
            "headline": report.headline,
            "said": report.parts,
            "error": report.error,
            "line": report.line,
        }
        if student.ended and report.status == "failed" and report.mistake not in EXERCISES[name].mistakes:
            row = does_not_run(row, f"a call of it ends Python ({student.ended[0]}).", SILENT)
        if row["kind"] == "hunt" and (name, row["mistake"]) in ONE_LEFT:
            row["said"] = [Part("why", ONE_LEFT[name, row["mistake"]]), *report.parts]
        if student.asking:  # it was given up before its time was over
            counted = f"It called what it was given more than {ASKED:,} times, so the check gave up."
            row["said"] = [Part("why", counted), *(part for part in report.parts if part.kind != "why")]
        if student.borrowed:
            row["flags"].append(BORROWED)
        if report.mistake in KINDS and not student.borrowed:
            row["nearly"] = self.right_in_kind(name, answer, student)
        if report.status == "passed" and work["nodes"] >= TELLING and work["digest"] == solution_digest(name):
            row["flags"].append(SAME)
        return row

    def right_again(self, name: str, answer: Any, student: Student) -> bool:
        draws, outcomes = observe_all(self.drawn(name, 1), answer, student.run, LIMITS.check)
        return len(outcomes) == len(draws.cases) and all(
            one.ok and not one.changed_inputs and compare(EXERCISES[name], one.value, expected) is None
            for one, expected in zip(outcomes, draws.expected, strict=True)
        )

    def right_in_kind(self, name: str, answer: Any, student: Student) -> bool:
        """Is an answer right in all but the kind of its numbers, such as 1.0 for True?"""
        with contextlib.suppress(Exception):  # what it returns may be anything
            for number in (0, 1):
                draws, outcomes = observe_all(self.drawn(name, number), answer, student.run, LIMITS.check)
                for one, expected in zip(outcomes, draws.expected, strict=True):
                    value = in_kind_of(expected, one.value)
                    if not one.ok or one.changed_inputs or compare(EXERCISES[name], value, expected) is not None:
                        return False
            return True
        return False

    def right_when_repaired(self, student: Student, row: Row, source: str) -> bool:
        """Is code that Python refuses right with one bracket or colon more, or one bracket less, at a line's end?"""
        process, name, subject = student.process, row["exercise"], row["item"]
        left, spent = process.left, process.spent
        try:
            for text in repairs(source, subject):
                with contextlib.suppress(Exception):  # the next may be right
                    answer = student.define(name, subject, repaired=text)
                    report = judge(EXERCISES[name], answer, self.drawn(name, 0), run=student.run, limits=LIMITS)
                    if report.status == "passed" and self.right_again(name, answer, student) and not student.borrowed:
                        return True
            return False
        finally:
            process.end()
            process.left, process.spent, process.defined = left, spent, None

    def right_but_for(self, student: Student, row: Row, names: list[str]) -> Row:
        """The row of a wrong answer; it says so if the answer is right with the course's code for these exercises.

        If it is not, and its own mistake had no name, it may have one now.
        """
        process, name, right, mistake = student.process, row["exercise"], False, ""
        known = EXERCISES[name].mistakes
        left, spent = process.left, process.spent
        try:
            solutions = {one: EXERCISES[one].solution_text() for one in names}
            answer = student.define(name, row["item"], solutions)
            report = judge(EXERCISES[name], answer, self.drawn(name, 0), run=student.run, limits=LIMITS)
            right = report.status == "passed" and self.right_again(name, answer, student) and not student.borrowed
            mistake = report.mistake if report.mistake in known and not student.borrowed else ""
        except Exception:  # then the verdict is what it was
            right = False
        finally:  # what comes next has as much time as before, and a process that has never seen the course's code
            process.end()
            process.left, process.spent, process.defined = left, spent, None
        if right:
            return is_right_but_for(row, names)
        return shows_with(row, names, mistake) if mistake and row["mistake"] not in known else row

    def question(self, student: Student, number: str, given: Given | None) -> Row:
        question, value = all_questions()[number], None
        row: Row = {"item": number, "kind": "text" if isinstance(question, FreeText) else "question", "flags": []}
        if given is None:
            return {**row, "status": "missing", "headline": "not found in this notebook."}
        if "refused" in given:
            why = f"Python cannot read this answer. {in_short('SyntaxError', str(given['refused']))}"
            return unreadable(row, question, given, why)
        try:
            value = student.value(number) if "code" in given else unpack(given["literal"])
        except (Remote, Endless, Broken) as error:
            return unreadable(row, question, given, why_no_value(error))
        value = value[:LONGEST] if isinstance(value, str) else value
        status, said = verdict(question, value)
        if status == "not attempted" and said != question.shown():
            return unreadable(row, question, given, " ".join(said))
        text = ""
        if status != "not attempted":
            read = question.read(value)
            text = (
                ", ".join(sorted(read))
                if isinstance(read, (set, frozenset))
                else question.say(read)
                if hasattr(question, "say")
                else str(read)
            )
        said = said if row["kind"] == "question" else []  # a free text's mark is its reader's
        status = {"not attempted": "untouched"}.get(status, "given" if row["kind"] == "text" else status)
        return {
            **row,
            "status": status,
            "answer": text[:LONGEST],
            "said": [Part("why", one) for one in said] if status != "untouched" else [],
            "mistake": f"answered {text[:80]}" if status == "failed" else "",
        }


def is_odd(row: Row) -> bool:
    """Does an answer fail in a way that no catalogue knows, and that has nothing to do with time or kinds?"""
    known = {*EXERCISES[row["exercise"]].mistakes, "endless", KIND}
    return row["status"] == "failed" and row["mistake"] not in known and not {TOO_SLOW, BORROWED} & {*row["flags"]}


def unreadable(row: Row, question: Question, given: Given, why: str) -> Row:
    """The verdict on an answer that the question cannot take: what `answer` says, or the error that came before."""
    typed = str(given.get("typed", "…"))[:LONGEST]
    return row | {"status": "untouched", "answer": typed, "said": [Part("why", why)]}


def why_no_value(error: Exception) -> str:
    """Why there is no value that could be an answer."""
    if isinstance(error, Remote):
        return f"Python cannot work out this answer. {said_by(error)}"
    return f"The cells that this answer needs {error}." if isinstance(error, Endless) else "This answer ends Python."


def said_by(error: Remote) -> str:
    """The student's own error, in short."""
    kind = type(error).__name__
    return in_short(kind if kind.isidentifier() else "Exception", str(error))


def does_not_run(row: Row, headline: str, look: str, error: str = "", line: str = "") -> Row:
    """The verdict on an answer that cannot be asked anything, and what its student can do about it."""
    said = [Part("why", error)] * bool(error) + [Part("line", line)] * bool(line) + [Part("look", look)]
    about: Row = {"status": "failed", "mistake": NOT_RUN, "headline": headline}
    return row | about | {"said": said, "error": error, "line": line}


def used(rows: list[Row], row: Row, works: dict[str, Answer]) -> list[str]:
    """The exercises that a wrong answer may call, and that the same student has got wrong before it."""
    if row["status"] != "failed" or {BORROWED, TOO_SLOW} & {*row["flags"]} or row["item"] not in works:
        return []
    failed = [one["item"] for one in rows if one["kind"] == "exercise" and one["status"] == "failed"]
    return [item for item in failed if re.search(rf"\b{item}\b", works[row["item"]]["source"])]


def is_right_but_for(row: Row, names: list[str]) -> Row:
    those = " and ".join(f"`{one}`" for one in names)
    why = f"With the course's {those} in its place, this answer passes, so there is nothing to repair in it."
    said = [Part("why", why), Part("look", f"the verdict on {those}.")]
    return row | {"mistake": BUT_FOR, "headline": f"right, but for your {those}.", "said": said, "line": ""}


def shows_with(row: Row, names: list[str], mistake: str) -> Row:
    """The verdict in the catalogue's words alone: what the answer has returned may quote the course's code."""
    those, known = " and ".join(f"`{one}`" for one in names), EXERCISES[row["exercise"]].mistakes[mistake]
    shows = f"This shows with the course's {those} in place of yours."
    said = [Part("why", known.why), Part("why", shows), Part("look", known.look)]
    return row | {"mistake": mistake, "headline": f"{mistake}.", "said": said, "line": ""}


def name_missing(row: Row) -> str:
    """The name that the answer uses and nothing defines, according to its error; otherwise nothing."""
    found = re.match(r"NameError: name '(\w+)' is not defined", row.get("error", ""))
    return found[1] if found else ""


def is_refused(row: Row, refused: Refused, what: str = "Python cannot read this code") -> Row:
    """The verdict on an answer that Python refuses, or refuses a part of: its notebook can only show an error."""
    error, line = in_short(str(refused["error"]), str(refused["text"])), cut(str(refused["line"]), 200)
    return does_not_run(row | {"flags": []}, f"{what}.", REPAIR, error, line)


def repairs(source: str, name: str) -> list[str]:
    """The source with a single sign at the end of a line put right, where Python reads it then: the first few ways."""
    lines, found = source.splitlines(), []
    for number, line in enumerate(lines[:REPAIRED_LINES]):
        for new in (*(line + sign for sign in ")]}:"), *[line[:-1]] * line.endswith((")", "]", "}"))):
            text = "\n".join([*lines[:number], new, *lines[number + 1 :]])
            tree = parsed(text)
            if tree and any(getattr(one, "name", "") == name for one in tree.body):
                found.append(text)
    return found[:REPAIRS]


def in_kind_of(expected: Any, value: Any) -> Any:
    """The same numbers in the kind that is expected, if they are the same; otherwise the value as it is."""
    if isinstance(expected, tuple) and isinstance(value, (tuple, list)):
        return tuple(map(in_kind_of, expected, value)) if len(expected) == len(value) else value
    if isinstance(expected, float) and isinstance(value, (torch.Tensor, np.ndarray)) and value.ndim == 0:
        return float(value)
    if not isinstance(expected, (torch.Tensor, np.ndarray)):
        return value
    like, given = torch.as_tensor(expected), torch.as_tensor(value)
    made = given.to(like.dtype)
    if given.shape != like.shape or not torch.equal(made.to(given.dtype), given):
        return value
    return made if isinstance(expected, torch.Tensor) else made.numpy()


def work_refused(refused: Refused) -> Answer:
    source = str(refused["source"])
    digest = hashlib.sha256(source.encode(errors="replace")).hexdigest()[:12]
    return {
        "source": source,
        "digest": digest,
        "nodes": 0,
        "lines": [],
        "comments": list(map(str, refused["comments"])),
    }


@cache
def solution_digest(name: str) -> str | None:
    with contextlib.suppress(SyntaxError):  # a lambda in the middle of a variant's declaration
        return shape_of(EXERCISES[name].solution_text())[0]
    return None


def encoded(result: Result) -> bytes:
    """A result as bytes: equal results give equal bytes."""
    return json.dumps(result, sort_keys=True, indent=1).encode()
