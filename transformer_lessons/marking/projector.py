"""The report for the projector: the commonest mistakes, one on each screen, and numbers. Nobody can be recognised."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from transformer_lessons.marking.marks import OWN, Class
from transformer_lessons.marking.mistakes import Mistake, answer_to_show, handed_in, lines_instead, mistakes_in
from transformer_lessons.marking.naming import clean
from transformer_lessons.marking.report import (
    answered,
    asked,
    broken,
    counted,
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
from transformer_lessons.tools import atomic

LINES = 16  # of an answer on a screen
MANY = 0.4  # of the answers to a question, which are wrong
WRAPS = range(48, 101, 4)  # after how many characters a line may be broken
HANGING = 4  # characters by which the rest of a broken line is indented
LARGEST = 3.1  # size of code, in % of the window's width
HEADING = 2  # lines of code that take as much room as a heading
SHAPES = {"pile": (86, 36), "pair": (52, 70)}  # the room for code above the words or beside them, in % of the window


def write_projector(known: Class) -> None:
    """report-anonymous.html: no names, no pseudonyms, and no code in which a name occurs."""
    atomic.write(known.out / "report-anonymous.html", with_script("The class", body(known), "projector"))


def body(known: Class) -> str:
    mistakes = mistakes_in(known, "exercise", "hunt")
    telling = worth_telling(mistakes)
    screens = [screen(known, one, rank, len(telling)) for rank, one in enumerate(telling, 1)] or [nothing()]
    for lesson in known.lessons():
        telling = worth_telling([one for one in mistakes if one.lesson == lesson])
        screens += [screen(known, one, rank, len(telling), lesson) for rank, one in enumerate(telling, 1)] or [
            nothing(lesson)
        ]
    parts = {
        "How many have solved what": solved(known),
        "Mistakes of more than one": all_mistakes(known, mistakes),
        "Questions that many got wrong": questions(known),
    }
    rest = "".join(f'<section class="rest"><h2>{title}</h2>{text}</section>\n' for title, text in parts.items())
    return "\n".join([choice(known), *screens, rest, '<p id="keys" class="quiet" hidden></p>'])


def begun(lesson: str) -> str:
    """The tag of a screen: one of those of all lessons together, or of those of a single lesson."""
    return f'<section class="screen" data-only="{lesson}">' if lesson else '<section class="screen">'


def nothing(lesson: str = "") -> str:
    title = f'<p class="rank">{title_of(lesson)}</p>' if lesson else ""
    return f"{begun(lesson)}{title}<h2>No mistake was made twice.</h2></section>"


def screen(known: Class, group: list[Mistake], rank: int, count: int, only: str = "") -> str:
    """An answer and a question; then, one key after another, where to look, what is wrong, and the right line.

    The answer is the shortest that a screen has room for: an exercise's or, failing that, a bug hunt's.
    """
    shown = [(mistake, *answer_to_show(known, mistake, LINES)) for mistake in group]
    mistake, lines, wrong = min(shown, key=lambda one: how_long(one[1], one[0].is_hunt))
    share = counted(group)
    title, right = lines_instead(mistake, lines, wrong)
    lines, wrong = part_to_show(lines, wrong)
    right = [clean(line, 200) for line in right]
    kind, longest, count_of_lines = shape(lines, right)
    code = f"<pre>{''.join(hanging(line, n in wrong) for n, line in enumerate(lines))}</pre>" if lines else ""
    instead = f"<pre>{''.join(map(hanging, right))}</pre>" if right else ""
    instead = f'<div class="step right"><h3>{title}</h3>{instead}</div>' if title else ""
    answer = f"<h3>{sentence(prose(mistake.name))}</h3><p>{prose(to_all(mistake.why))}</p>"
    look = (
        f'<p class="look step"><strong>Where to look:</strong> {prose(to_all(mistake.look))}</p>'
        if mistake.look
        else ""
    )
    return (
        f'{begun(only)}<p class="rank">{rank} of {count} · {title_of(mistake.lesson)} · '
        f"{share}</p><h2><code>{broken(mistake.item)}</code></h2>"
        f'<div class="{kind}" style="--longest: {longest}; --lines: {count_of_lines}">{code}'
        f'<div class="told"><p class="ask">What is wrong here?</p>'
        f'{look}<div class="step answer">{answer}</div></div>{instead}</div></section>'
    )


def how_long(lines: list[str], is_hunt: bool) -> tuple[bool, bool, bool, int]:
    """A key that puts first what a screen shows uncut, then exercises, then what is short."""
    return not 0 < len(lines) <= LINES, is_hunt, not lines, len("\n".join(lines))


def part_to_show(lines: list[str], wrong: Collection[int]) -> tuple[list[str], set[int]]:
    """(as many lines of an answer as a screen has room for, the wrong ones among them; the numbers of these)"""
    first = max(0, min(max(wrong, default=0) + 3, len(lines)) - LINES)
    whose = next((line for line in reversed(lines[: first + 2]) if not line.startswith(" ")), "")
    head = [whose, "…"] if first else []
    part = lines[first + len(head) : first + LINES]
    more = ["…"] * (first + LINES < len(lines))
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
    for piece in re.findall(r"\s*(?:[^\s,]+,*|,+)", text):
        if parts[-1] + len(piece) > most and parts[-1] > indent:
            parts.append(indent + HANGING + len(piece.lstrip()))
        else:
            parts[-1] += len(piece)
    return parts


def shape(lines: Sequence[str], right: Sequence[str] = ()) -> tuple[str, int, int]:
    """(above the words or beside them, characters in a line, lines): where code is largest on a wide screen.

    A broken line costs as much as letters that are smaller by a seventh.
    """
    best = (0.0, "pile", 30, len(lines))
    for kind, (width, height) in SHAPES.items():
        for most in WRAPS:
            parts = [part for line in (*lines, *right) for part in wrapped(line, most)]
            count, longest = len(parts) + HEADING * bool(right), max([30, *parts])
            size = min(LARGEST, width / longest / 0.6, height * 9 / 16 / max(count, 1) / 1.5)
            worth = size / (1 + (len(parts) - len(lines) - len(right)) / 7)
            best = max(best, (worth, kind, longest, count), key=lambda one: one[0])
    return best[1:]


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
    """Those of several students or groups, as one could tell who is meant; calls of the course's code are no slip."""
    lines = [
        f'<tr data-lesson="{one.lesson}"><th scope="row">{one.lesson} · {"bug hunt " * one.is_hunt}{broken(one.item)}: '
        f"{prose(one.name)}</th>"
        f'<td class="n">{one.share()}</td><td>{prose(to_all(one.why))}</td></tr>'
        for one in sorted(mistakes, key=lambda one: int(one.lesson))
        if len(one.by) > 1 and one.name != OWN
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
