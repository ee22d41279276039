"""Feedback: for each student a page for each lesson and one for all, with nothing about anyone else."""

import json
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from tokenize import TokenError
from typing import Any

from transformer_lessons.basis import atomic
from transformer_lessons.basis.words import joined
from transformer_lessons.exercises.checker.card import blocks_of, card, coloured, marked_up
from transformer_lessons.exercises.checker.parts import Part
from transformer_lessons.exercises.questions.kinds import Choices, Question
from transformer_lessons.exercises.questions.lookup import all_questions
from transformer_lessons.marking.halves import as_told
from transformer_lessons.marking.marks import Class
from transformer_lessons.marking.mistakes import lines_at_fault, own_part, part_that_matters
from transformer_lessons.marking.naming import LONGEST, clean
from transformer_lessons.marking.policy import is_late, moment
from transformer_lessons.marking.report import in_pieces, page, safe, scores_of, title_of
from transformer_lessons.marking.results import Person, Row, heading_of, is_unreadable, name_of, own_name, parts_of
from transformer_lessons.marking.tables import full_points
from transformer_lessons.marking.verdicts import course
from transformer_lessons.tools import reset

STYLE = f"<style>\n{Path(__file__).with_name('feedback.css').read_text(encoding='utf-8')}</style>\n"
KINDS = {"exercise": "Exercises", "hunt": "Bug hunts", "question": "Questions", "text": "In your own words"}
MONTHS = """January February March April May June July August September October November December""".split()  # noqa: SIM905
OUTCOMES = {
    "right": "right",
    "wrong": "wrong",
    "read": "read by your teacher",
    "given": "given by your teacher",
    "waiting": "waiting for a reader",
    "not marked": "could not be marked",
    "unreadable": "could not be read",
    "not answered": "not answered",
}
CODE = 6000  # characters of an answer's code
NEARLY = '<p class="teacher">Nearly right, so it earns part of the points.</p>'
NEEDED = 6  # other definitions that are named


def write_feedback(known: Class) -> None:
    """feedback/, and for Moodle the same as a zip."""
    folder, pages, by_student = known.out / "feedback", {}, defaultdict(lambda: defaultdict(list))
    scores, most = scores_of(known), full_points(known)
    for row in known.rows:
        by_student[row["student"]][row["lesson"]].append(row)
    for student in known.left_out:  # of some, nothing could be read
        by_student.setdefault(student, defaultdict(list))
    for student, by_lesson in by_student.items():
        person = known.students[student]
        lessons = sorted(by_lesson, key=int)
        for lesson in lessons:
            told = as_told(known, by_lesson[lesson])
            body = feedback(known, told, lessons)
            pages[person["slug"], f"lesson_{lesson}.html", person["folder"]] = titled(title_of(lesson), person, body)
        in_order = {lesson: by_lesson[lesson] for lesson in lessons}
        body = overview(known, student, in_order, scores[student], most)
        pages[person["slug"], "index.html", person["folder"]] = titled("All lessons", person, body)
    for (who, name, _), data in pages.items():
        path = folder / who / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != data:  # most stay as they are from one run to the next
            atomic.write(path, data)
    written = {folder / who / name for who, name, _ in pages}
    for path in [*folder.glob("*/lesson_*.html"), *folder.glob("*/index.html")]:
        if path not in written:
            path.unlink()
    if any("_assignsubmission_" in back for _, _, back in pages):
        atomic.write(known.out / "feedback-moodle.zip", moodle_zip(pages))


def titled(title: str, person: Person, body: str) -> bytes:
    return page(f"{title} · {safe(person['name'], 60)}", STYLE + body)


# A lesson


def feedback(known: Class, rows: list[Row], lessons: Sequence[str] = ()) -> str:
    """A student's own results: the points, a card for each answer, and what was not answered."""
    answered = [row for row in rows if outcome(row) != "not answered"]
    parts = [links(rows, lessons), about(rows), cut_off(known, rows), late(rows, known.policy), tiles(rows)]
    for kind, title in KINDS.items():
        mine = [row for row in answered if row["kind"] == kind]
        folded = [row for row in mine if kind != "text" and "reason" not in row and outcome(row) == "right"]
        open_ = [shown(known, row) for row in mine if row not in folded]
        parts += [f"<h2>{title}</h2>"] if mine else []
        parts += [f'<div class="{kind}s">', *open_, "</div>"] if open_ else []
        parts += [right(known, folded)] if folded else []
    if left := [row for row in rows if row not in answered]:
        lines = "".join(
            f"<li><div>{safe(name_of(row))}<small>{section_of(row)}</small></div> <span>{of(row['max'])}</span></li>"
            for row in left
        )
        others = ", or not read" * ((rows[0]["student"], rows[0]["lesson"]) in known.lost)
        parts.append(f'<h2>Not answered{others}</h2>\n<ul class="left">{lines}</ul>')
    return "\n".join(filter(None, parts))


def right(known: Class, rows: list[Row]) -> str:
    """The right answers, folded to a line."""
    names = ", ".join(safe(own_name(row)) for row in rows)
    cards = "\n".join(shown(known, row) for row in rows)
    return (
        f'<details class="right"><summary>✓ {len(rows)} right: {names}</summary>\n'
        f'<div class="{rows[0]["kind"]}s">{cards}</div></details>'
    )


def links(rows: list[Row], lessons: Sequence[str]) -> str:
    """To the student's other lessons."""
    if len(lessons) < 2:
        return ""
    here = rows[0]["lesson"]
    others = (
        f'<b aria-current="page">{lesson}</b>' if lesson == here else f'<a href="lesson_{lesson}.html">{lesson}</a>'
        for lesson in lessons
    )
    return f'<nav><a href="index.html">All lessons</a> {" ".join(others)}</nav>'


def about(rows: list[Row]) -> str:
    """Which version of which file this is."""
    row = rows[0]
    file = f"<code>{safe(row.get('file', '').rpartition('/')[2], 100)}</code>"
    times = [f"handed in {day(row['time'])}"] if moment(row.get("time", "")) else []
    times += [f"marked {day(row['marked'])}"] if row.get("marked") else []
    return f'<p class="quiet">{", ".join([file, *times])}</p>'


def cut_off(known: Class, rows: list[Row]) -> str:
    """That a part of the notebook could not be read."""
    student, lesson = rows[0]["student"], rows[0]["lesson"]
    return in_part(*known.lost[student, lesson]) if (student, lesson) in known.lost else ""


def in_part(path: str, what: str) -> str:
    """What of a file was not read, and what to do about it."""
    file = safe(path.rpartition("/")[2], 100)
    return (
        f'<p class="warning"><strong><code>{file}</code> was read only in part:</strong> {safe(what)}. '
        "What stood there counts as not answered. Please hand it in again, once it opens in Jupyter.</p>\n"
    )


def late(rows: list[Row], policy: dict) -> str:
    """That the work came late, and what it counts."""
    row = rows[0]
    if not row.get("late"):
        return ""
    counts = {1: "in full", 0: "nothing", 0.5: "half"}.get(policy["late"], f"{policy['late']:.0%}")
    when = f" {day(row['time'])}, after {day(row['deadline'])}" if is_late(row["time"], row["deadline"]) else " late"
    return f'<p class="warning"><strong>Handed in{when}: counts {counts}.</strong></p>'


def day(time: str) -> str:
    """3 December 2026, 10:05."""
    year, month, number, *clock = moment(time)
    words = f"{number} {MONTHS[month - 1]} {year}" if 1 <= month <= 12 else f"{year}-{month}-{number}"
    return words + (f", {clock[0]}:{clock[1]:02}" if len(clock) > 1 else "")


def outcome(row: Row) -> str:
    """What became of an answer, in a word."""
    if "reason" in row:
        return "wrong" if not row["points"] else "right" if status_of(row) == "passed" else "given"
    if row["status"] in ("untouched", "missing"):
        return "unreadable" if is_unreadable(row) else "not answered"
    if row["points"] is None:
        return "waiting"
    return {"passed": "right", "failed": "wrong", "read": "read"}.get(row["status"], "not marked")


def points_of(rows: list[Row]) -> str:
    """The points, of those that can be had by now: a text that waits for its reader is in neither number."""
    known = [row for row in rows if row["points"] is not None]
    return of(sum(row["max"] for row in known), sum(row["points"] or 0 for row in known))


def of(most: float, points: float | None = None) -> str:
    words = f"{most:g} point{'s' * (most != 1)}" if points is None else f"{points:g} of {most:g}"
    return f'<span class="keep">{words}</span>'


def tiles(rows: list[Row], points: str = "") -> str:
    count = Counter(map(outcome, rows))
    waiting = sum(row["max"] for row in rows if row["points"] is None)
    facts: list[tuple] = [
        (points or points_of(rows), "points" + (f"; {waiting:g} more wait for a reader" if waiting else ""))
    ]
    facts += [(count[name], what) for name, what in OUTCOMES.items() if count[name]]
    return '<ul class="facts">' + "".join(f"<li><strong>{one}</strong>{what}</li>" for one, what in facts) + "</ul>"


# A card


def shown(known: Class, row: Row) -> str:
    """The card of one answer: what was asked, what the student gave, the verdict, and the points."""
    points = "waiting" if row["points"] is None else of(row["max"], row["points"])
    points += " · late" if row.get("late") and row["points"] and "reason" not in row else ""
    if row["kind"] in ("exercise", "hunt"):
        source, others = part_that_matters(known.source_of(row["student"], row["item"]), row)
        blocks = blocks_of(status_of(row), parts_as_told(row))
        left = card(status_of(row), heading_as_told(row), [overridden(row), *blocks])
        kinds = "an exercise of its own" if len(others) == 1 else "exercises of their own"
        without = f", without {named(others)}, {kinds}" if others else ""
        own, needed, names = own_part(source, row)
        right = f"<p>Your code{without}</p>{code_of(own, row)}{also(needed, names, row)}" if source else ""
    else:
        question = all_questions()[row["item"]]
        blocks = text_blocks(row) if row["kind"] == "text" else answer_blocks(row, question)
        blocks = unread_blocks(row) if is_unreadable(row) else blocks
        asked = f'<p class="asked">{marked_up(question.text)}</p>'
        left = card(status_of(row), heading_as_told(row), [asked, *blocks, overridden(row)])
        right = read_blocks(row, question, known.policy["model_answers"]) if "given" in row else ""
    right = right and f'<div class="beside">{right}</div>'
    where = section_of(row) if outcome(row) in ("wrong", "unreadable") else ""
    where = where and f'<p class="where quiet">In the notebook, under {where}</p>'
    return f'<article class="card"><span class="points">{points}</span>{left}{right}{where}</article>\n'


def code_of(source: str, row: Row) -> str:
    source = clean(source, CODE)
    return in_colours(source, lines_at_fault(source, row))


def also(source: str, names: list[str], row: Row) -> str:
    """The student's other definitions that an answer needs, folded unless one of their lines is at fault."""
    if not source:
        return ""
    what = f": {', '.join(f'<code>{safe(name, 60)}</code>' for name in names)}" if 0 < len(names) <= NEEDED else ""
    is_open = " open" * bool(lines_at_fault(source, row))
    return (
        f"<details class='needs'{is_open}><summary>What else it needs{what}</summary>{code_of(source, row)}</details>"
    )


def section_of(row: Row) -> str:
    """The heading under which an exercise or a question stands in its lesson; "" if that is not known."""
    heading = sections(row["lesson"]).get(own_name(row), "")
    return heading and f"<em>{marked_up(heading)}</em>"


@cache
def sections(lesson: str) -> dict[str, str]:
    """{exercise or question: the heading above it}, in the lesson as it is handed out."""
    stem, found, heading = course().get(lesson, {"stem": ""})["stem"], {}, ""
    for cell in json.loads(reset.original(f"{stem}.ipynb") or b'{"cells": []}')["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            heads = [one for one in re.findall(r"^##+ (.+)", text, flags=re.MULTILINE) if "Exercise ·" not in one]
            heading = heads[-1] if heads else heading
        asked = re.findall(r'\b(?:check|answer)\("([^"]+)"(?:, (\w+)\))?', text if cell["cell_type"] == "code" else "")
        for name, subject in asked:
            found.setdefault(subject or name, heading)
    return found


def status_of(row: Row) -> str:
    """Which colour the card has: that of the points, where a person gave them."""
    if "reason" in row:
        right = row["kind"] == "text" or row["status"] == "passed"
        return "passed" if right and row["points"] and row["points"] >= row["max"] else "not marked"
    if row["kind"] == "text":
        return "passed" if sum(row.get("given", ())) - row.get("minus", 0) >= 3 else "not marked"
    return row["status"]


def heading_as_told(row: Row) -> str:
    """The heading; its sign is not the check's where a teacher has given the points."""
    if "reason" not in row and row["kind"] != "text":
        return heading_of(row)
    heading = f"{'✓ ' * (status_of(row) == 'passed')}{name_of(row)}"
    return heading if row["kind"] not in ("exercise", "hunt") else f"{heading}: your teacher gave the points."


def parts_as_told(row: Row) -> list[Part]:
    """What the check says below; all of it, where a teacher has given the points."""
    said = row.get("headline") and "reason" in row
    return [*([Part("why", f"The check said: {row['headline']}")] if said else []), *parts_of(row)]


def overridden(row: Row) -> str:
    if "reason" not in row:
        return NEARLY * bool(row.get("nearly") and row["points"])
    return teacher(row["reason"] or "The points are mine, not the check's.")


def teacher(words: str) -> str:
    return f'<p class="teacher"><strong>Your teacher:</strong> {safe(words, 2000)}</p>'


def named(items: list[str]) -> str:
    """`a`, `b` and `c`."""
    return joined([f"<code>{safe(item, 60)}</code>" for item in items])


def in_colours(source: str, wrong: Collection[int] = ()) -> str:
    """Code as an editor shows it, with its wrong lines marked."""
    try:
        code = coloured(source)
    except (SyntaxError, IndexError, ValueError, TokenError):  # no Python, as its verdict says, or only its beginning
        code = safe(source, CODE)
    return f'<pre class="code">{in_lines(code, wrong)}</pre>'


def in_lines(code: str, wrong: Collection[int] = ()) -> str:
    """Lines that continue below their own indentation where they are too long."""
    lines, opened = [], ""
    for number, line in enumerate(code.splitlines()):
        indent, text = len(line) - len(line.lstrip(" ")), opened + line
        spans = re.findall(r"<span[^>]*>|</span>", text)
        opened = spans[-1] if spans and spans[-1] != "</span>" else ""
        text = "".join(one if one.startswith("<") else in_pieces(one) for one in re.split(r"(<[^>]*>)", text))
        text += "</span>" * bool(opened)
        if number in wrong:
            text = f"{' ' * indent}<mark>{text.replace(' ' * indent, '', 1)}</mark>"
        lines.append(f'<span class="line" style="--in: {indent}ch">{text}</span>')
    return "".join(lines)


def answer_blocks(row: Row, question: Question) -> list[str]:
    """What the student answered, and what there is to say to it."""
    said = [part.text for part in parts_of(row)]
    if len(said) > 1 and re.match(r"You (answered|chose) |[a-z]\) ", said[0]) and not said[0].endswith("missing."):
        said = said[1:] if not isinstance(question, Choices) or row["status"] == "failed" else said
    given = [row["answer"]]
    if isinstance(question, Choices):
        chosen = {one: question.lettered[one].text for one in row["answer"].split(", ") if one in question.lettered}
        given = [f"{letter}) {text}" for letter, text in chosen.items()]
        said = [line for line in said if line not in given]
    answers = "<br>".join(marked_up(clean(one, 500)) for one in given)
    yours = [f"<p><strong>Your answer:</strong> {answers}</p>"] if answers else []
    return [*yours, *(f"<p>{marked_up(line)}</p>" for line in said)]


def unread_blocks(row: Row) -> list[str]:
    """An answer as it was typed, and why its question cannot take it."""
    yours = f"<p><strong>Your answer:</strong> <code>{safe(row['answer'], 500)}</code></p>"
    return [yours, *(f"<p>{marked_up(part.text)}</p>" for part in parts_of(row))]


def text_blocks(row: Row) -> list[str]:
    """The student's own words, and what the teacher says to them."""
    yours = f'<blockquote aria-label="Your answer">{safe(row["answer"], LONGEST)}</blockquote>'
    return [*([yours] if row["answer"] else []), *([teacher(row["comment"])] if row.get("comment") else [])]


def read_blocks(row: Row, question: Any, with_model: bool) -> str:
    """The points that a text makes, and a model answer."""
    lines = "".join(
        f'<tr><td class="n">{ {0.5: "½"}.get(points, f"{points:g}") }</td><td>{marked_up(words)}</td></tr>'
        for points, words in zip(row["given"], question.points, strict=True)
    )
    if minus := row.get("minus"):
        lines += f'<tr><td class="n">−{"½" if minus == 0.5 else f"{minus:g}"}</td><td>for a false claim</td></tr>'
    model = f'<p class="model">A model answer</p><p>{marked_up(question.model)}</p>' if with_model else ""
    return f'<p>Does it say this?</p><table class="made"><tbody>{lines}</tbody></table>{model}'


# All lessons of a student


def overview(
    known: Class,
    student: str,
    by_lesson: dict[str, list[Row]],
    scores: dict[str, tuple[float, float]],
    most: dict[str, float],
) -> str:
    """What the student has reached in each lesson of the class, with the way to its page; the total is the report's."""
    counts = {lesson: Counter(map(outcome, rows)) for lesson, rows in by_lesson.items()}
    names = [name for name in OUTCOMES if any(count[name] for count in counts.values())]
    lines = []
    for lesson in sorted({*known.lessons(), *(one for who, one in known.in_doubt if who == student)}, key=int):
        if lesson in by_lesson:
            reached, full = scores[lesson]
            title = f'<a href="lesson_{lesson}.html">{title_of(lesson)}</a>'
            cells = f'<td class="n" data-what="points">{of(full, reached)}</td>' + "".join(
                f'<td class="n{" none" * (not counts[lesson][name])}" data-what="{name}">'
                f"{counts[lesson][name] or '–'}</td>"
                for name in names
            )
        else:
            why = known.in_doubt.get((student, lesson))
            told = "not handed in" if why is None else f"<strong>not read</strong>: {advice(why)}"
            title, points = title_of(lesson), of(most[lesson], 0) if lesson in most else "–"
            cells = f'<td class="n" data-what="points">{points}</td><td class="why" colspan="{len(names)}">{told}</td>'
        lines.append(f'<tr><th scope="row">{title}</th>{cells}</tr>\n')
    rows = [row for one in by_lesson.values() for row in one]
    total = of(sum(full for _, full in scores.values()), sum(points for points, _ in scores.values()))
    head = "".join(f'<th scope="col">{name}</th>' for name in ("points", *names))
    return (
        f"{left_out(known, student)}{tiles(rows, total)}\n"
        f'<div class="scroll"><table class="lessons"><thead><tr><th scope="col">Lesson</th>{head}</tr>'
        f"</thead><tbody>\n{''.join(lines)}</tbody></table></div>"
    )


def left_out(known: Class, student: str) -> str:
    """The student's files that do not count, or not as a whole, and what to do about it."""
    parts = "".join(in_part(*one) for (who, _), one in sorted(known.lost.items()) if who == student)
    return parts + "".join(
        f'<p class="warning"><strong><code>{safe(file, 100)}</code> was not read:</strong> {advice(why)}</p>\n'
        for file, why in dict.fromkeys(known.left_out.get(student, ()))
    )


def advice(why: str) -> str:
    """Why a file does not count, as its student should read it."""
    if why.startswith("one of "):
        return "you handed in more than one notebook of this lesson; tell your teacher which one counts."
    if why.startswith("not marked yet"):
        return "it is not marked yet; you need not do anything."
    return f"{safe(why, 300).rstrip('.')}. Please hand it in again."


def moodle_zip(pages: dict) -> bytes:
    """The zip that Moodle accepts: the folders have the names that it gave them."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for (_, name, back), data in sorted(pages.items()):
            if re.search(r"_\d+_assignsubmission_file_?$", back):
                archive.writestr(zipfile.ZipInfo(f"{back}/{name}", (2020, 1, 1, 0, 0, 0)), data)
    return file.getvalue()
