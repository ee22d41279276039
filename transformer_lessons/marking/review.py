"""What a person has to read: free texts, question by question, without names; and work that is strikingly alike."""

import ast
import base64
import difflib
import hashlib
import hmac
import json
import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

from transformer_lessons.basis import atomic
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.questions.kinds import FreeText
from transformer_lessons.exercises.questions.lookup import all_questions
from transformer_lessons.marking.marks import EXTENSIONS, FILLED, OVERRIDES, TEXTS, Class
from transformer_lessons.marking.messages import Answer
from transformer_lessons.marking.mistakes import without_comments, words_in, words_of_task
from transformer_lessons.marking.naming import CELL, as_typed, cell
from transformer_lessons.marking.notebook import comments_in, parsed, shape_of
from transformer_lessons.marking.report import filled, page, safe, title_of
from transformer_lessons.marking.results import Row, whose
from transformer_lessons.marking.sheets import points_from, read_table, taken_off, written
from transformer_lessons.marking.verdicts import TELLING, course, fresh_notebook, name_in_class, solution_digest
from transformer_lessons.tools import reset

RUN = 5  # words that hardly anybody writes in the same order by chance
NEARLY, SHORTEST = 0.8, 10  # the share of words that two texts have in the same order, and how many words they need
SHAPED = 45  # nodes in a right answer that two hardly write alike by chance; no two of the catalogue's are alike
NAMED, NAMES = 60, 3  # nodes in an answer whose names tell something, and how many must be its own
OLD = "no longer handed in"  # of a text whose points are kept all the same
ALMOST = "nearly the text of"  # a pseudonym


def write_texts(known: Class) -> None:
    """texts.csv: a block for each question, each in a different order. What has been filled in always stays.

    The reader puts 0, 0.5 or 1 into p1, p2 and p3, for the three points of the block's first line, and what a false
    claim costs into minus.
    """
    path = known.out / "texts.csv"
    old = {(row["question"], row["who"], row["text"]): row for row in read_table(path, *TEXTS[:6])}
    lines = []
    for name, question in all_questions().items():
        rows = [row for row in known.rows if row["item"] == name and row["status"] in ("given", "read")]
        if not isinstance(question, FreeText) or not rows:
            continue
        lines.append(
            [name, "model answer", question.model, *question.points, "what a false claim costs", question.text, ""]
        )
        same = Counter(words for words, _ in {(words_of(row["answer"]), whose(row)) for row in rows})
        near = near_copies(rows, question)
        for row in sorted(rows, key=lambda row: shuffled(known, name, row["student"])):
            who, text = known.pseudonym(row["student"]), cell(row["answer"], CELL)
            before = old.pop((name, who, text), {})
            flags = like_the_courses(row["answer"], question)
            flags += [f"the same text {same[words_of(row['answer'])]} times"] * (same[words_of(row["answer"])] > 1)
            flags += [f"{ALMOST} {known.pseudonym(one)}" for one in near[row["student"]][:3]]
            lines.append([name, who, text, *(before.get(one, "") for one in FILLED), ", ".join(flags)])
    left = [row | {"flags": OLD} for row in old.values() if row["who"] != "model answer" and any(map(row.get, FILLED))]
    lines += [[row.get(one, "") for one in TEXTS] for row in left]
    if lines:
        filled_in = path.stat() if path.exists() else None
        written(path, TEXTS, lines)
        if filled_in:  # its time stays that of what a reader has filled in, as `newest_texts` wants to know
            os.utime(path, ns=(filled_in.st_atime_ns, filled_in.st_mtime_ns))
    write_grading(known, lines)
    for name, columns in {"overrides.csv": OVERRIDES, "extensions.csv": EXTENSIONS}.items():
        if not (known.out / name).exists():
            written(known.out / name, columns, [])


def write_grading(known: Class, lines: list[list]) -> None:
    """grading.html: the same texts, one on each screen. Only its own script may run, whatever the texts contain."""
    path = known.out / "grading.html"
    if not any(line[1] != "model answer" for line in lines):
        path.unlink(missing_ok=True)
        return
    rows = [for_page(dict(zip(TEXTS, (cell(one, CELL) for one in line), strict=True))) for line in lines]
    questions = {
        number: {"title": question.title, "text": question.text, "model": question.model, "points": question.points}
        for number, question in all_questions().items()
        if isinstance(question, FreeText) and any(row["question"] == number for row in rows)
    }
    rows = [row for row in rows if row["question"] in questions]
    key = f"texts of {known.pseudonym('this class')}"
    going_on = f"Now move it into {known.out}, whatever your browser has called it, and run: {known.command}"
    asked = {"columns": TEXTS, "lines": rows, "questions": questions, "key": key, "goingOn": going_on}
    data = json.dumps(asked, ensure_ascii=False)
    names = ("grading.html", "grading.css", "texts.js", "grading.js")
    body, style, *scripts = (Path(__file__).with_name(name).read_text(encoding="utf-8") for name in names)
    script = "".join(scripts)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    body = filled(body, STYLE=style, SCRIPT=script, DATA=data.replace("<", "\\u003c"))
    atomic.write(path, page("Texts to read", body, f"; script-src 'sha256-{digest}'"))


def for_page(row: dict[str, str]) -> dict[str, Any]:
    """A line of texts.csv for the page on which it is read.

    Its `id` names the text, not only whose it is: points that a browser has kept for one are never given to another.
    """
    points = {}
    if row["who"] != "model answer":
        points = {one: "" if (value := points_from(row[one])) is None else f"{value:g}" for one in ("p1", "p2", "p3")}
        points["minus"] = f"{value:g}" if (value := taken_off(row["minus"])) else ""
    words = words_of(row["text"]) or row["text"]
    return {
        **row,
        **points,
        "comment": as_typed(row["comment"]),
        "shown": as_typed(row["text"]),
        "old": row["flags"] == OLD,
        "id": id_of(row["question"], row["who"], row["text"]),
        "group": id_of(row["question"], words),
    }


def id_of(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode(errors="replace")).hexdigest()[:16]


def shuffled(known: Class, number: str, student: str) -> bytes:
    return hmac.new(str(known.seed).encode(), f"{number} {student}".encode(errors="replace"), "sha256").digest()


def words_of(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.lower()))


def overlap(text: str, *others: str) -> float:
    """The share of a text's words that stand in runs of five which one of the others has, too."""
    words, copied = words_of(text), set[int]()
    theirs = {run for other in others for run in runs_in(words_of(other))}
    for start, run in enumerate(runs_in(words)):
        copied.update(range(start, start + RUN) if run in theirs else ())
    return len(copied) / len(words) if words else 0.0


def like_the_courses(text: str, question: FreeText) -> list[str]:
    flags = ["like the model answer"] * (overlap(text, question.model) >= 0.6)
    return flags + ["like the points"] * (overlap(text, *question.points) >= 0.6)


def near_copies(rows: list[Row], question: FreeText) -> dict[str, list[str]]:
    """{student: those who have handed in nearly the same words in the same order, but not the very same}

    What both may have from the course's own words says nothing, and texts of a few words hardly differ.
    """
    texts: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        texts[words_of(row["answer"])].append(row)
    found = defaultdict(list)
    counts = {text: Counter(text) for text in texts if len(text) >= SHORTEST}
    for one, other in combinations(counts, 2):
        needed = NEARLY * (len(one) + len(other)) / 2
        if min(len(one), len(other)) < needed or (counts[one] & counts[other]).total() < needed:
            continue
        (mine, *_), (theirs, *_) = texts[one], texts[other]
        is_near = difflib.SequenceMatcher(None, one, other, autojunk=False).ratio() >= NEARLY
        if is_near and not all(like_the_courses(row["answer"], question) for row in (mine, theirs)):
            for here, there in ((one, other), (other, one)):
                for row in texts[here]:
                    found[row["student"]] += [two["student"] for two in texts[there] if whose(two) != whose(row)][:1]
    return found


def runs_in(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [words[n : n + RUN] for n in range(len(words) - RUN + 1)]


# Alike


def alike(known: Class) -> list[tuple]:
    """[(weight, one student, another, item, what they share)], the most striking first.

    Only what is rare in the class counts. Where an exercise leaves hardly any choice, equal answers say nothing; if two
    hand in the course's own solution, that says only where both got it.
    """
    found = []
    fresh = {name_in_class(lesson, item): one for lesson in course() for item, one in course()[lesson]["fresh"].items()}
    for item, works in by_item(known).items():
        rows = [row for row in known.rows if row["item"] == item]
        exercise = next((row["exercise"] for row in rows), item)
        wrong = {row["student"] for row in rows if row["status"] == "failed"}
        ignored = {solution_digest(exercise), fresh.get(item), *digests_of_styles(exercise)}
        compared = Compared(exercise, works, wrong, ignored, max(2, len(known.students)))
        for pair in combinations(sorted(works), 2):
            if reasons := list(compared.reasons(*pair)):
                weights, said = zip(*reasons, strict=True)
                found.append((sum(weights), *pair, item, "; ".join(said)))
    return sorted(found, key=lambda one: (-one[0], *one[1:4]))


class Compared:
    """The works of a class on one item, and how many of them have each line, comment and answer."""

    def __init__(
        self, exercise: str, works: dict[str, Answer], wrong: set[str], ignored: set[str | None], students: int
    ) -> None:
        digests, lines, comments = code_of_lessons()
        self.works, self.wrong, self.ignored, self.students = works, wrong, ignored | digests, students
        self.lines = Counter(line for work in works.values() for line in {*work["lines"]} - lines)
        self.comments = Counter(one for work in works.values() for one in {*work["comments"]} - comments)
        self.digests = Counter(work["digest"] for work in works.values())
        self.texts = {student: own_text(exercise, work) for student, work in works.items()}
        self.same = Counter(self.texts.values())

    def reasons(self, one: str, other: str) -> Iterator[tuple[float, str]]:
        """(weight, what is said) of each thing that two students' works share, and hardly anybody else's."""
        mine, theirs = self.works[one], self.works[other]
        if rare := self.rare_lines(mine, theirs):
            yield len(rare) * math.log(self.students / 2), f"{len(rare)} lines that hardly anybody else has"
        if mine["digest"] in self.ignored:
            return
        text = self.texts[one]
        same, count = mine["digest"] == theirs["digest"], self.digests[mine["digest"]]
        if text and text == self.texts[other] and self.is_rare(self.same[text]):
            yield 4, "the same answer, name for name"
        elif same and not {one, other} & self.wrong and mine["nodes"] >= SHAPED and self.is_rare(count):
            yield 3, "the same answer but for its names, which is none of the course's"
        if same and count == 2 and {one, other} <= self.wrong and mine["nodes"] >= 30:
            yield 5, "the same wrong answer, which nobody else has"
        if own := [words for words in mine["comments"] if words in theirs["comments"] and self.comments[words] == 2]:
            yield 3 * len(own), f"the same comment: {own[0]}"

    def is_rare(self, count: int) -> bool:
        return 0 < count <= max(2, self.students // 10)

    def rare_lines(self, mine: Answer, theirs: Answer) -> list[str]:
        """The rare lines that two works share, if both are long, and nearly the same; otherwise none."""
        lines, others = set(mine["lines"]), set(theirs["lines"])
        rare = [line for line in lines & others if self.is_rare(self.lines[line])]
        long = min(mine["nodes"], theirs["nodes"]) >= TELLING and len(rare) >= 3
        nearly_same = len(lines & others) >= 0.8 * max(len(lines), len(others))
        return rare if long and nearly_same and not {mine["digest"], theirs["digest"]} & self.ignored else []


def own_text(exercise: str, work: Answer) -> str:
    """An answer without its comments and its spacing; "" if it is short, or hardly any of its names are its own."""
    tree = parsed(without_comments(work["source"])) if work["nodes"] >= NAMED else None
    if tree is None or exercise not in EXERCISES:
        return ""
    task = words_of_task(exercise) | words_in(" ".join(EXERCISES[exercise].page.styles.values()))
    names = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    names |= {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg)}
    return ast.unparse(tree) if sum(not words_in(one) <= task for one in names) >= NAMES else ""


@cache
def digests_of_styles(exercise: str) -> set[str]:
    """Of the other right answers that the course has for an exercise: nobody's own."""
    return {shape_of(text)[0] for text in EXERCISES[exercise].page.styles.values()} if exercise in EXERCISES else set()


@cache
def code_of_lessons() -> tuple[set[str], set[str], set[str]]:
    """Digests of the code that the lessons themselves show, of its lines, and its comments: nobody's own.

    Students copy the code of a bug hunt, and some leave it as it was.
    """
    digests, lines, comments = set(), set(), set()
    for name in reset.lessons():
        for one in fresh_notebook(name).statements:
            if isinstance(one.node, (ast.FunctionDef, ast.ClassDef)):
                digest, _, own = shape_of(one.source)
                digests.add(digest)
                lines.update(own)
                comments.update(comments_in(one.source))
    return digests, lines, comments


def by_item(known: Class) -> dict[str, dict[str, Answer]]:
    """{item: {student: work}}; a group's work is there once, as that of its first member."""
    items, by = defaultdict(dict), authors(known)
    first = {(by.get(one, one[0]), one[1]): one for one in sorted(known.works, reverse=True)}
    for student, item in first.values():
        items[item][student] = known.works[student, item]
    return items


def authors(known: Class) -> dict[tuple[str, str], str]:
    """{(student, item): whose hand-in it is from}"""
    return {(row["student"], row["item"]): whose(row) for row in known.rows}


def same_files(known: Class) -> str:
    """A line for each lesson of which students have handed in the very same notebook, unless nobody has touched it."""
    groups, touched = defaultdict(dict), set()
    for row in known.rows:
        if row["status"] not in ("untouched", "missing"):
            touched.add((row["student"], row["lesson"]))
    for (student, lesson), (path, digest) in known.notebooks.items():
        if (student, lesson) in touched:
            groups[int(lesson), digest][student] = path
    lines = []
    for (lesson, _), files in sorted(groups.items()):
        if len(set(files.values())) > 1:  # a group's one file counts for all its members
            lines.append(f"<li>{title_of(str(lesson))}: {shown_names(known, files)}</li>")
    return "".join(lines)


def shown_names(known: Class, students: Iterable[str]) -> str:
    return ", ".join(f"<bdi>{safe(known.students[student]['name'], 60)}</bdi>" for student in sorted(students))


def summed(known: Class, pairs: list[tuple]) -> str:
    """A line for each two, students or groups, who have more than one thing alike: how many answers, and texts."""
    by, count, members = authors(known), defaultdict(Counter), defaultdict(set)
    for row in known.rows:
        members[whose(row)].add(row["student"])
    for _, one, other, item, _ in pairs:
        count[frozenset((by[one, item], by[other, item]))]["answer"] += 1
    for pair in texts_alike(known):
        count[pair]["text"] += 1
    several = {pair: both for pair, both in count.items() if both.total() > 1}
    lines = []
    for pair, both in sorted(several.items(), key=lambda one: (-one[1].total(), sorted(one[0]))):
        told = ", ".join(f"{number} {what}{'s' * (number > 1)}" for what, number in sorted(both.items()))
        lines.append(f"<li>{' and '.join(shown_names(known, members[one]) for one in sorted(pair))}: {told}</li>")
    return "".join(lines)


def texts_alike(known: Class) -> Iterator[frozenset[str]]:
    """For each question, whose texts are the same or nearly so, pair by pair, unless they repeat the course's."""
    for name, question in all_questions().items():
        rows = [row for row in known.rows if row["item"] == name and row["status"] in ("given", "read")]
        if isinstance(question, FreeText) and len(rows) > 1:
            near, texts = near_copies(rows, question), {row["student"]: words_of(row["answer"]) for row in rows}
            own = [row for row in rows if not like_the_courses(row["answer"], question)]
            own = [row for row in own if len(texts[row["student"]]) >= SHORTEST]
            yield from {
                frozenset((whose(one), whose(other)))
                for one, other in combinations(own, 2)
                if whose(one) != whose(other)
                and texts[other["student"]] in (texts[two] for two in (one["student"], *near[one["student"]]))
            }


COMPARED = (
    "Names and comments are put aside, so a copy is found if its variables have other names. What is compared: "
    f"answers that are the same, from some 7 lines on ({SHAPED} nodes of Python’s syntax tree), and answers that are "
    f"nearly the same, from some 15 lines on ({TELLING} nodes), if hardly anybody else in the class has the like. "
    "Shorter right answers tell you nothing, nor do those that stand in the course itself. Not compared: notebooks in "
    "which nobody has answered anything, and free texts; <code>texts.csv</code> says which of these are the same, or "
    "nearly so, and they are counted where two have several things alike."
)


def write_similar(known: Class) -> None:
    """similar.html: pairs side by side, for the teacher alone."""
    every = alike(known)
    pairs = every[:100]
    parts = [f"<p>Reasons to talk, not evidence. {COMPARED}</p>"]
    parts += [f"<h2>Those with several things alike</h2><ul>{lines}</ul>" for lines in [summed(known, every)] if lines]
    parts += [f"<h2>The same file, byte for byte</h2><ul>{lines}</ul>" for lines in [same_files(known)] if lines]
    if len(parts) == 1 and not pairs:
        parts.append("<p><strong>No two pieces of the work that was compared are strikingly alike.</strong></p>")
    by = authors(known)
    for _, *pair, item, why in pairs:
        sides = "".join(
            f"<div>{shown_names(known, [one for one in known.students if by.get((one, item)) == by[who, item]])}<pre>"
            f"{safe(known.works[who, item]['source'], 6000)}</pre></div>"
            for who in pair
        )
        parts.append(f'<h2>{safe(item)}</h2><p>{safe(why, 300)}</p><div class="sides">{sides}</div>')
    atomic.write(known.out / "similar.html", page("Strikingly alike", "\n".join(parts)))
