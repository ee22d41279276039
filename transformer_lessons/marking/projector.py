"""The report for the projector: the commonest mistakes, one on each screen, and numbers. Nobody can be recognised."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from math import ceil
from typing import NamedTuple

from transformer_lessons.basis import atomic
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.marking.marks import OWN, Class
from transformer_lessons.marking.mistakes import (
    ONE_OF_MANY,
    Mistake,
    answer_to_show,
    handed_in,
    lines_instead,
    mistakes_in,
)
from transformer_lessons.marking.naming import clean
from transformer_lessons.marking.report import (
    LONG,
    answered,
    asked,
    broken,
    counted,
    examples,
    heading,
    in_pieces,
    prose,
    safe,
    sentence,
    table,
    title_of,
    to_all,
    with_script,
    worth_telling,
)
from transformer_lessons.marking.verdicts import NOT_RUN

LINES = 16  # of an answer on a screen
MANY = 0.4  # of the answers to a question, which are wrong
HANGING = 4  # characters by which the rest of a broken line is indented
SMALLEST, LARGEST = 1.78, 3.1  # size of code, in % of the window's width; the words are as large as the smallest
MARGIN, HEADING = 1, 2  # lines of code that take as much room as the margin of code, and as a heading and a margin
SHAPES = {"pile": 86, "pair": 52}  # the width for code above the words or beside them, in % of the window's
HEIGHT, WORDS, LINE = 78, 7, 4.4  # in % of the window's: below the titles; around the words, and of each line of them
LETTERS = 96  # in a line of words below the code
WIDE, HIGH = 0.61, 1.5  # a letter and a line of code, beside the size of its letters


def write_projector(known: Class) -> None:
    """report-anonymous.html: no names, no pseudonyms, and no code in which a name occurs."""
    atomic.write(known.out / "report-anonymous.html", with_script("The class", body(known), "projector"))


def body(known: Class) -> str:
    mistakes = mistakes_in(known, "exercise", "hunt")
    screens = [one for lesson in ("", *known.lessons()) for one in screens_of(known, mistakes, lesson)]
    parts = {
        "How many have solved what": solved(known),
        "Mistakes of more than one": all_mistakes(known, mistakes),
        "Questions that many got wrong": questions(known),
    }
    rest = "".join(
        f'<section class="rest" data-lessons="{" ".join(with_rows(text))}"><h2>{title}</h2>{text}</section>\n'
        for title, text in parts.items()
    )
    return "\n".join([choice(known), *screens, rest, '<p id="keys" class="quiet" hidden></p>'])


def with_rows(text: str) -> list[str]:
    """ "all", and the lessons, of which a table has more than one row: it gets no screen for less."""
    rows = re.findall(r'<tr[^>]* data-lesson="(\d+)"[^>]*>(?!<th class="group")', text)
    return ["all"] * (len(rows) > 1) + [lesson for lesson, count in Counter(rows).items() if count > 1]


def begun(lesson: str) -> str:
    """The tag of a screen: one of those of all lessons together, or of those of a single lesson."""
    return f'<section class="screen" data-only="{lesson}">' if lesson else '<section class="screen">'


def screens_of(known: Class, mistakes: list[Mistake], only: str) -> list[str]:
    """The screens of all lessons together, or of one; where no two share a mistake, one that nobody has made.

    If fewer than three are to be told, examples of the course's own follow, of the exercises that most have wrong. They
    say nothing of who has made them, or whether anybody has.
    """
    here = [one for one in mistakes if only in ("", one.lesson)]
    if telling := worth_telling(here):
        screens = [screen(known, one, f"{rank} of {len(telling)}", only) for rank, one in enumerate(telling, 1)]
        singles = [replace(one, students=set(), by=set()) for one in examples(here, telling)]
        return screens + [screen(known, [one], "For example", only) for one in singles]
    lesson, made = only or "".join(known.lessons()[-1:]), {(one.exercise, one.name) for one in mistakes}
    for exercise in EXERCISES.values():
        for name, one in exercise.mistakes.items() if str(exercise.lesson) == lesson else ():
            if (exercise.name, name) not in made:
                example = Mistake(lesson, exercise.name, exercise.name, name, one.why, one.look, set(), 0)
                return [screen(known, [example], "For example", only)]
    return [f"{begun(only)}<h2>Nothing was handed in.</h2></section>"]


def screen(known: Class, group: list[Mistake], rank: str, only: str = "") -> str:
    """An answer and a question; then, one key after another, where to look, what is wrong, and the right line.

    The answer is the shortest that a screen has room for: an exercise's or, failing that, a bug hunt's.
    """
    shown = [(mistake, *answer_to_show(known, mistake, LINES)) for mistake in group]
    mistake, lines, wrong = min(shown, key=lambda one: how_long(one[1], one[0].is_hunt))
    share = counted(group) if mistake.students else "nobody in this class has made it"
    if not mistake.students and mistake.out_of:
        share = f"an exercise that {wrong_by(known, mistake.item)} of {mistake.out_of} have wrong"
    title, right = lines_instead(mistake, lines, wrong)
    words = ceil(max(len(mistake.look) + len("Where to look: "), len(mistake.why)) / LETTERS)
    form = shape(lines, wrong, title, [clean(line, 200) for line in right], round(WORDS + LINE * words))
    code = "".join(hanging(line, n in form.wrong) for n, line in enumerate(form.lines))
    code = f"<pre>{code}</pre>" if code else ""
    instead = f"<pre>{''.join(map(hanging, form.right))}</pre>" if form.right else ""
    instead = f'<div class="step right"><h3>{form.title}</h3>{instead}</div>' if form.title else ""
    answer = f"<h3>{sentence(prose(mistake.name))}</h3><p>{prose(to_all(mistake.why))}</p>"
    look = (
        f'<p class="look step"><strong>Where to look:</strong> {prose(to_all(mistake.look))}</p>'
        if mistake.look
        else ""
    )
    return (
        f'{begun(only)}<p class="rank">{rank} · {title_of(mistake.lesson)} · '
        f'{share}</p><h2><code>{broken(mistake.item)}</code> <span class="ask">What is wrong here?</span></h2>'
        f'<div class="{form.kind}" style="--longest: {form.longest}; --lines: {form.rows}; --room: {form.room}vh">'
        f'{code}<div class="told">{look}<div class="step answer">{answer}</div></div>{instead}</div></section>'
    )


def wrong_by(known: Class, item: str) -> int:
    return len({row["student"] for row in known.rows if row["item"] == item and row["status"] == "failed"})


def how_long(lines: list[str], is_hunt: bool) -> tuple[bool, bool, bool, int]:
    """A key that puts first what a screen shows uncut, then exercises, then what is short."""
    return not 0 < len(lines) <= LINES, is_hunt, not lines, len("\n".join(lines))


def part_to_show(lines: list[str], wrong: Collection[int], room: int = LINES) -> tuple[list[str], set[int]]:
    """(as many lines of an answer as there is room for, with the last wrong one; the numbers of the wrong ones)"""
    after = min(3, room - 3)
    first = max(0, min(max(wrong, default=0) + after, len(lines)) - room)
    whose = next((line for line in reversed(lines[: first + 2]) if not line.startswith(" ")), "")
    head = [whose, "…"] if first else []
    end = len(lines) if len(lines) - first - room == 1 else first + room  # "…" would take as much room as the line
    part = lines[first + len(head) : end]
    more = ["…"] * (end < len(lines))
    numbers = {number - first for number in wrong if number - first >= len(head)}
    return [clean(line, 200) for line in (*head, *part, *more)], numbers


def hanging(line: str, wrong: bool = False) -> str:
    """A line of code that goes on indented where the window is too narrow for it."""
    text = line.lstrip()
    indent = len(line) - len(text)
    shown = in_pieces(safe(text))
    shown = " " * indent + (f"<mark>{shown}</mark>" if wrong else shown)
    return f'<span class="line" style="--indent: {indent + HANGING}ch">{shown}</span>'


def wrapped(line: str, most: int) -> list[int]:
    """The lengths of the parts of a line of code, each of as many characters if it can be broken so."""
    text = line.lstrip()
    indent = len(line) - len(text)
    parts = [indent]
    for piece in re.findall(rf"\s*(?:[^\s,]{{1,{LONG}}},*|,+)", text):
        if parts[-1] + len(piece) > most and parts[-1] > indent:
            parts.append(indent + HANGING + len(piece.lstrip()))
        else:
            parts[-1] += len(piece)
    return parts


class Form(NamedTuple):
    """What a screen shows of an answer, and how."""

    kind: str  # the code above the words or beside them
    longest: int  # characters in a line
    rows: int  # lines, with what takes as much room
    room: int  # for them, in % of the window's height
    lines: list[str]
    wrong: set[int]  # the numbers of the wrong ones
    title: str
    right: list[str]

    @property
    def size(self) -> float:
        """The size of the letters on a wide screen."""
        return min(LARGEST, SHAPES[self.kind] / self.longest / WIDE, self.room * 9 / 16 / self.rows / HIGH)


def shape(
    lines: list[str], wrong: Collection[int], title: str = "", right: Sequence[str] = (), words: int = 40
) -> Form:
    """The form in which code is largest; one line after another is left out until it is as large as the words.

    Where it is not certain which lines are wrong, none of them is, and the window scrolls.
    """
    ways = [(title, [*right]), ("", [])] if title == ONE_OF_MANY else [(title, [*right])]
    for room in range(max(4, min(len(lines), LINES)), 3, -1) if wrong else [LINES]:
        for told, instead in ways:
            form = largest(*part_to_show(lines, wrong, room), told, instead, words)
            if form.size >= SMALLEST:
                return form
    return form


def largest(lines: list[str], wrong: set[int], title: str, right: list[str], words: int) -> Form:
    """The form in which these lines are largest; a broken line costs as much as letters smaller by a seventh."""
    forms = []
    for kind, width in SHAPES.items():
        room = HEIGHT - words if kind == "pile" else HEIGHT
        for most in range(30, int(width / SMALLEST / WIDE), 4):
            parts, instead = ([part for line in code for part in wrapped(line, most)] for code in (lines, right))
            rows = len(parts) + MARGIN + (HEADING + len(instead) if right else bool(title))
            form = Form(kind, max([30, *parts, *instead]), rows, room, lines, wrong, title, right)
            broken_lines = len(parts) + len(instead) - len(lines) - len(right)
            forms.append((form.size / (1 + broken_lines / 7), form))
    return max(forms, key=lambda one: (one[1].size >= SMALLEST, one[0]))[1]


def choice(known: Class) -> str:
    """Buttons for one lesson, or all."""
    buttons = "".join(
        f'<button data-lesson="{lesson}" title="{title_of(lesson)}">{lesson}</button>' for lesson in known.lessons()
    )
    return f'<p id="choice" class="quiet" hidden>Lesson <button data-lesson="">all</button>{buttons}</p>'


def solved(known: Class) -> str:
    """For each exercise, how many have solved it, of those who have handed in the lesson."""
    count, items, students = Counter(), defaultdict(dict), handed_in(known)
    for row in known.rows:
        if row["kind"] in ("exercise", "hunt"):
            items[row["lesson"]][row["item"]] = None
            count[row["item"]] += row["status"] == "passed"
    lines = []
    for lesson in sorted(items, key=int):
        of = len(students[lesson])
        here = f'<tr data-lesson="{lesson}">'
        lines.append(f'{here}<th class="group" colspan="3" scope="colgroup">{title_of(lesson)}</th></tr>')
        lines += [
            f'{here}<th scope="row">{broken(item)}</th><td class="n">{count[item]} of {of}</td>'
            f'<td><span class="bar"><i style="width: {count[item] / of:.0%}"></i></span></td></tr>'
            for item in items[lesson]
        ]
    header = ['<tr><th scope="col">exercise</th><th scope="col" colspan="2">solved by</th></tr>']
    if not lines:
        return "<p>Nothing was handed in.</p>"
    return table("How many have solved what", header, lines, "text solved")


def all_mistakes(known: Class, mistakes: list[Mistake]) -> str:
    """Those of several students or groups, as one could tell who is meant.

    Calls of the course's code are no slip, and what does not run has nothing to do with the subject.
    """
    lines = [
        f'<tr data-lesson="{one.lesson}"><th scope="row">{one.lesson} · {"bug hunt " * one.is_hunt}{broken(one.item)}: '
        f"{prose(one.name)}</th>"
        f'<td class="n">{one.share()}</td><td>{prose(to_all(one.why))}</td></tr>'
        for one in sorted(mistakes, key=lambda one: int(one.lesson))
        if len(one.by) > 1 and one.name not in (OWN, NOT_RUN)
    ]
    header = heading("mistake", "students", "what is wrong")
    return table("Mistakes", header, lines, "text mistakes") if lines else "<p>None.</p>"


def questions(known: Class) -> str:
    """Those that many got wrong, the hardest first, with their text; after a key, the right answer and a wrong one."""
    lines = [
        f'<tr class="asks" data-lesson="{number.split(".")[0]}"><th scope="row"><b>{number}</b>{asked(number)}</th>'
        f'<td class="n">{right} of {count}</td><td><div class="about">{about}</div></td></tr>'
        for number, right, count, about in answered(known)
        if count - right > max(1, MANY * count)
    ]
    header = heading("question", "right", "commonest wrong answer")
    return table("Questions", header, lines, "text questions") if lines else "<p>None.</p>"
