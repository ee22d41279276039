"""The report on a class, for its teacher: what it has solved and what it has not understood."""

import base64
import hashlib
import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import date
from math import log10
from pathlib import Path
from statistics import mean, median

from transformer_lessons.basis import atomic
from transformer_lessons.exercises.checker.card import blocks_of, marked_up
from transformer_lessons.exercises.checker.card import card as verdict_card
from transformer_lessons.exercises.questions.kinds import Choices, Value
from transformer_lessons.exercises.questions.lookup import all_questions
from transformer_lessons.marking.confinement import ALL, PROMISES
from transformer_lessons.marking.marks import OWN, Class
from transformer_lessons.marking.mistakes import (
    REPAIRED,
    SAME_SLIPS,
    UNKNOWN,
    Mistake,
    handed_in,
    has_own_bug,
    is_named,
    lines_at_fault,
    mistakes_in,
    out_of_time,
    part_that_matters,
)
from transformer_lessons.marking.naming import as_seen, clean
from transformer_lessons.marking.results import Row, heading_of, is_unreadable, parts_of, text_of, why_of
from transformer_lessons.marking.submissions import in_short, lesson_of
from transformer_lessons.marking.tables import full_points
from transformer_lessons.marking.verdicts import BUT_FOR, NOT_RUN, TOO_SLOW, course

TEMPLATE = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
SIGNS = {"passed": "✓", "failed": "✗", "untouched": "○", "missing": "–", "given": "…", "read": "✓", "not marked": "?"}
LEGEND = (
    ("✓", "p", "solved"),
    ("✗", "f", "wrong: leads to the code"),
    ("○", "", "untouched"),
    ("–", "", "not in the notebook"),
    ("", "none", "lesson not handed in"),
    ("!", "doubt", "handed in, but not read"),
    ("⚑", "", "a reason to talk, not evidence"),
    ("✎", "", "points that you gave"),
)
NOT_TO_YOU = (
    (r"\bYou chose ([^.:]*)(?=\.)", r"Chosen: \1"),
    (r"\bYou chose ([^.:]*): nothing wrong with that", r"Chosen: \1. There is nothing wrong with that"),
    (r"your own", "one's own"),
    (r"\bYour\b", "The"),
    (r"\byour\b", "the"),
    (r"\byours\b", "this one"),
    (r"\bdo you (?!do|get|have|know|need)", "does the code "),
    (r"\bYou have (counted|given)\b", r"This answer has \1"),
    (r"\bYou (\w+ed|left|took)\b", r"This answer \1"),
    (r"\b(and|or) you counted\b", r"\1 counted"),
    (r"\bDid you\b", "Did this answer"),
    (r"\bYou (would|cannot)\b", r"One \1"),
    (r"\bYou get\b", "One gets"),
    (r"\bYou still have\b", "One still has"),
)
COMMONEST = 5  # mistakes that get a screen each
TOLD = 3  # things to say, if need be with mistakes that only one has made
MOSTLY = 2  # mistakes that are named beside an exercise
WIDE = 10  # exercises whose names stand side by side
HARDEST = 8  # exercises that are listed where all lessons are chosen
LEFT, SILENT = 3, 3  # untouched exercises that most have solved, or lessons not handed in, that make a student stuck
FEW = 3  # exercises of which somebody stuck has solved less than a third
NO_TWO = "No two students made the same mistake that there is something to say about."
SHOW = '<span class="script"><a class="of-lesson" href="report-anonymous.html">Show them on the projector ↗</a></span>'
STUCK, LEAST = 8, 3  # students with a line of their own: a third of the class, but not more or fewer than these
LONG = 76  # letters in a row, which may be broken anywhere
SHOWN = 3  # wrong answers to which the line of somebody stuck leads


def page(title: str, body: str, policy: str = "") -> bytes:
    """A whole page; the policy adds to what it may load, which is nothing but its own styles."""
    return filled(TEMPLATE, TITLE=title, POLICY=policy, BODY=body).encode(errors="replace")


def filled(template: str, **parts: str) -> str:
    """The template with a part in place of each of these words, in one pass: the parts may contain such words, too."""
    return re.sub("|".join(parts), lambda found: parts[found[0]], template)


def safe(text: object, most: int = 200) -> str:
    return html.escape(clean(text, most))


def card(row: Row) -> str:
    """The verdict's card, as the notebook shows it, with the points."""
    points = "waiting for its reader" if row["points"] is None else f"{row['points']:g} of {row['max']:g}"
    status = {"read": "passed"}.get(row["status"], row["status"])
    verdict = verdict_card(status, heading_of(row), blocks_of(status, parts_of(row)))
    return f'<div class="card"><span class="points">{points}</span>{verdict}</div>\n'


def table(caption: str, header: Iterable[str], lines: Iterable[str], kind: str = "", sums: Iterable[str] = ()) -> str:
    """A table that scrolls by itself, from the rows of its header, its body and its foot."""
    head, body, foot = ("\n".join(rows) for rows in (header, lines, sums))
    foot = f"<tfoot>{foot}</tfoot>" if foot else ""
    return (
        f'<div class="scroll"><table class="{kind}"><caption>{caption}</caption><thead>{head}</thead>'
        f"<tbody>\n{body}\n</tbody>{foot}</table></div>"
    )


def heading(*names: str) -> list[str]:
    """A header of one row."""
    return ["<tr>" + "".join(f'<th scope="col">{name}</th>' for name in names) + "</tr>"]


def title_of(lesson: str) -> str:
    """Lesson 6 · Masking."""
    known = course().get(lesson)
    return f"Lesson {lesson}" + (f" · {safe(known['title'])}" if known and known["title"] else "")


def with_script(title: str, body: str, name: str) -> bytes:
    """A page with the styles and the script of its own, which alone may run."""
    style, script = (Path(__file__).with_name(f"{name}.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return page(title, f"<style>\n{style}</style>\n{body}<script>{script}</script>", f"; script-src 'sha256-{digest}'")


def write_report(known: Class) -> None:
    """report.html, for the teacher alone."""
    title = f"The class · {safe(known.source, 80)}" if known.source else "The class"
    atomic.write(known.out / "report.html", with_script(title, Report(known).body(), "report"))


class Report:
    """What a class has solved, which mistakes it makes, and what to say next time."""

    def __init__(self, known: Class) -> None:
        self.known = known
        self.students = {
            student: f"<bdi>{safe(known.students[student]['name'], 60)}</bdi>"
            for student in sorted(known.students, key=lambda one: (as_seen(known.students[one]["name"]), one))
        }
        self.rows = [row for row in known.rows if row["kind"] in ("exercise", "hunt")]
        self.by = {(row["student"], row["item"]): row for row in self.rows}
        ordered = sorted(self.rows, key=lambda row: int(row["lesson"]))
        self.items = {row["item"]: row["lesson"] for row in ordered}
        self.doubtful = out_of_time(known)  # nobody is stuck for these
        self.mistakes, self.hunts = mistakes_in(known, "exercise"), mistakes_in(known, "hunt")
        self.telling = mistakes_in(known, "exercise", "hunt")
        self.handed_in = handed_in(known)  # {lesson: those of whom it was read}
        self.scores, self.full = scores_of(known), full_points(known)
        self.groups = self.alike()
        self.shown = {key: number for number, keys in enumerate(self.groups) for key in keys}

    def came_from(self, lesson: str) -> set[str]:
        """The students who have handed in a lesson, whether or not it could be read."""
        return self.handed_in[lesson] | {
            who for who, one in self.known.in_doubt if one == lesson and who in self.students
        }

    def alike(self) -> list[list[tuple[str, str]]]:
        """[[(student, item)]]: the answers to look at, those together that differ at most in names and comments."""
        groups = defaultdict(list)
        for row in sorted(self.rows, key=lambda row: (int(row["lesson"]), list(self.items).index(row["item"]))):
            if row["status"] == "failed" or doubts(row) or "override" in row["flags"]:
                work = self.known.works.get((row["student"], row["item"]))
                digest = work.get("digest", row["student"]) if work else row["student"]
                key = row["item"], digest, row["status"], text_of(row), given(row), *doubts(row)
                groups[key].append((row["student"], row["item"]))
        order = list(self.items)
        return sorted(groups.values(), key=lambda keys: (order.index(keys[0][1]), -len(keys)))

    def body(self) -> str:
        parts = {
            "next": ("Next time", "Say this next time", self.commonest()),
            "stuck": ("Stuck", "Stuck", self.stuck()),
            "results": ("Results", "Who has solved what", self.results()),
            "exercises": ("Exercises", "Exercises, the most often wrong first", self.exercises()),
            "lessons": ("Lessons", "Lesson by lesson", self.lessons()),
            "mistakes": ("Mistakes", "All mistakes", self.all_mistakes()),
            "questions": ("Questions", "Questions", questions(self.known)),
            "unread": ("Not read", "Not read", self.unread()),
            "code": ("Code", "Wrong answers, with their verdicts", self.code()),
        }
        links = "".join(f'<a href="#{name}">{short}</a>' for name, (short, _, _) in parts.items())
        links += '<a class="of-lesson" href="report-anonymous.html">Projector ↗</a>'
        links += '<a href="similar.html">Strikingly alike ↗</a>'
        first, second, *others = (
            f'<section id="{name}"><h2>{title}</h2>\n{text}</section>' for name, (_, title, text) in parts.items()
        )
        sections = [f'<div class="top">{first}\n{second}</div>', *others]
        lessons = "".join(
            f'<button data-lesson="{lesson}" title="{title_of(lesson)}">{lesson}</button>'
            for lesson in self.known.lessons()
        )
        choice = (
            f'<p id="choice" class="script">Lesson <button data-lesson="" aria-pressed="true">all</button>{lessons}</p>'
        )
        return f"{self.summary()}<nav>{links}{choice}</nav>\n" + "\n".join(sections)

    def summary(self) -> str:
        known = self.known
        tiles = self.tiles() + "".join(map(self.tiles, known.lessons()))
        missing = [PROMISES[one] for one in ALL if one not in known.held] if known.held or self.rows else []
        days = [row["marked"] for row in known.rows if row.get("marked")]
        day = f"Marked {date.fromisoformat(max(days)):%-d %B %Y}. " if days else ""
        kept = (
            f'<p class="quiet">{day}Students’ code could not read your files, start programs, or use the network.</p>'
        )
        if missing:
            words = "; ".join(missing)
            kept = (
                f'<p class="warning"><strong>Not prevented on this machine:</strong> students’ code could {words}.</p>'
            )
        return tiles + kept + self.alarm() + "".join(map(self.banner, ("", *known.lessons())))

    def alarm(self) -> str:
        """That everyone who tried an exercise has run out of time."""
        return "".join(
            f'<p class="warning"><strong>{broken(item)}: all {number} who tried it ran out of time.</strong> '
            "This machine or the kit is probably at fault, not the class. Close other programs and mark one of them "
            "again with <code>--student</code>; if that does not help, give the points in <code>overrides.csv</code>. "
            "Until then, the exercise is left out below, except in the table.</p>\n"
            for item, number in self.doubtful.items()
        )

    def banner(self, lesson: str) -> str:
        """How many files were not read, of all or of those that may belong to a lesson."""
        told = []
        if number := len(self.not_read(lesson)):
            files = "1 file was" if number == 1 else f"{number} files were"
            told.append(f"<strong>{files} not read</strong> and counted as 0")
        if number := len(self.lost(lesson)):
            files = "1 file was" if number == 1 else f"{number} files were"
            told.append(f"<strong>{files} read only in part</strong>, and the rest counted as 0")
        if not told:
            return ""
        hidden = " hidden" * bool(lesson)
        return (
            f'<p class="warning unread" data-lesson="{lesson}"{hidden}>{"; ".join(told)}: <a href="#unread">why</a></p>'
        )

    def lost(self, lesson: str) -> list[tuple[str, str]]:
        """[(path, what is lost)] of the notebooks of all lessons or of one that were read only in part."""
        return sorted({one for (_, of), one in self.known.lost.items() if lesson in ("", of)})

    def not_read(self, lesson: str) -> list[tuple[str, str]]:
        """[(path, why)] of all lessons or of one, with those whose names do not say which lesson they are of."""
        unread = in_short(self.known.unread)
        return [(path, why) for path, why in unread if not lesson or lesson_of(path) in (lesson, None)]

    def tiles(self, lesson: str = "") -> str:
        """The totals of all lessons together, or of one, which are shown when it is chosen."""
        rows = [row for row in self.known.rows if lesson in ("", row["lesson"])]
        count = Counter(row["status"] for row in rows if row["kind"] in ("exercise", "hunt"))
        waiting = sum(row["status"] == "given" for row in rows)
        number, lessons = len(self.students), self.known.lessons()
        who = self.handed_in[lesson] if lesson else {*self.students}
        if lesson:
            came = self.came_from(lesson)
            unread = f"; {len(came - who)} could not be read" if came - who else ""
            facts = [(f"{len(came)} of {number}", f"handed in {title_of(lesson)}{unread}")]
        else:
            facts = [(f"{number:,}", f"student{'s' * (number != 1)}"), (str(len(lessons)), in_words(lessons))]
        if shares := self.shares(who, lesson):
            base = "of those whose work was read" if lesson else "with 0 for lessons not handed in"
            facts += [
                (
                    f"{mean(shares):.0%}",
                    f"of the points on average, {base}{', and without unread texts' * bool(waiting)}",
                )
            ]
        texts = f"text{'s' * (waiting != 1)} waiting for a reader"
        facts += [
            (f"{count['passed']:,}", f"exercises solved, of {count['passed'] + count['failed']:,} that were tried"),
            (f"{waiting:,}", to_texts(texts, lesson, waiting)),
        ]
        shown = "".join(f"<li><strong>{number}</strong>{what}</li>" for number, what in facts)
        return f'<ul class="facts" data-lesson="{lesson}"{" hidden" * bool(lesson)}>{shown}</ul>'

    def shares(self, who: Iterable[str], lesson: str = "") -> list[float]:
        """The shares of the points that students have, of all lessons or of one."""
        scores = ({lesson: self.scores[one][lesson]} if lesson else self.scores[one] for one in who)
        return [share for one in scores if (share := share_of(one)) is not None]

    # Who has solved what

    def results(self) -> str:
        """A table with the exercises of each lesson side by side, and totals at both ends."""
        by_lesson = defaultdict(list)
        for item, lesson in self.items.items():
            by_lesson[lesson].append(item)
        for lesson in self.known.lessons():
            by_lesson.setdefault(lesson, [])
        columns, order = {lesson: by_lesson[lesson] for lesson in sorted(by_lesson, key=int)}, list(self.items)
        groups = "".join(
            f'<th class="lesson" colspan="{len(items) + 1}" scope="colgroup" title="{title_of(lesson)}" '
            f'data-lesson="{lesson}">Lesson {lesson}</th>'
            for lesson, items in columns.items()
        )
        labels = "".join(
            "".join(
                sorting(f"item{order.index(item)}", broken(item), "item" + " first" * (place == 0))
                for place, item in enumerate(items)
            )
            + sorting(f"lesson{lesson}", f"points of {self.full[lesson]:g}", "item points")
            for lesson, items in columns.items()
        )
        lines = [self.line(student, columns) for student in self.students]
        header = [
            f'<tr><th><span class="unseen">students</span></th>{groups}'
            '<th class="lesson" colspan="4" scope="colgroup">All lessons</th></tr>',
            f"<tr>{sorting('name', 'name', 'name')}{labels}{sorting('solved', 'solved', 'item first')}"
            f"{sorting('points', 'points', 'item')}{sorting('share', '%', 'item')}"
            f"{sorting('waiting', 'texts waiting', 'item')}</tr>",
        ]
        legend = "".join(f'<li><b class="{kind}">{sign}</b>{what}</li>' for sign, kind, what in LEGEND)
        kind = "class few" if len(order) <= WIDE else "class"
        shown = table("Who has solved what", header, lines, kind, self.sums(columns))
        waiting = any(row["status"] == "given" for row in self.known.rows)
        left_out = "Texts that are not yet read are left out. " * waiting
        note = f'<p class="quiet">{left_out}Lessons that were not handed in count as 0.</p>'
        return f'<ul class="legend">{legend}</ul>{shown}{note}'

    def line(self, student: str, columns: dict[str, list[str]]) -> str:
        """A student's row."""
        mine = self.scores[student]
        solved = sum(row["status"] == "passed" for row in self.rows if row["student"] == student)
        points, most, share = sum(one[0] for one in mine.values()), sum(one[1] for one in mine.values()), share_of(mine)
        keys = {
            "name": self.known.students[student]["name"],
            "solved": solved,
            "points": points,
            "share": -1 if share is None else share,
        }
        keys |= {f"lesson{lesson}": mine[lesson][0] if student in self.handed_in[lesson] else -1 for lesson in columns}
        waiting = sum(row["status"] == "given" for row in self.known.rows if row["student"] == student)
        keys["waiting"] = waiting
        passed = (self.by.get((student, item), {}).get("status") for item in self.items)
        keys["items"] = "".join({None: "0", "passed": "3", "failed": "2"}.get(one, "1") for one in passed)
        data = " ".join(f'data-{key}="{safe(value)}"' for key, value in keys.items())
        cells = "".join(
            "".join(self.place(student, item, place == 0) for place, item in enumerate(items))
            + self.points(student, lesson)
            if student in self.handed_in[lesson]
            else self.nothing(student, lesson, len(items) + 1)
            for lesson, items in columns.items()
        )
        total = f'<td class="n first">{solved}</td><td class="n">{points:g} of {most:g}</td>'
        total += f'<td class="n">{"" if share is None else f"{share:.0%}"}</td>'
        total += f'<td class="n">{waiting or ""}</td>'
        return f'<tr {data}><th scope="row">{self.to_feedback(student)}</th>{cells}{total}</tr>'

    def to_feedback(self, student: str, lesson: str = "") -> str:
        """The name, which leads to the student's own pages, if there are any: to that of a lesson, or to all."""
        if not any(student in who for who in self.handed_in.values()):
            return self.students[student]
        page = f"lesson_{lesson}" if lesson and student in self.handed_in[lesson] else "index"
        return f'<a href="feedback/{self.known.students[student]["slug"]}/{page}.html">{self.students[student]}</a>'

    def place(self, student: str, item: str, first: bool) -> str:
        """One student's result in one exercise."""
        row, border = self.by.get((student, item)), " first" * first
        if row is None:
            return f'<td class="none{border}"></td>'
        override = "override" in row["flags"]
        told, kind = [*doubts(row)], {"passed": "p", "failed": "f"}.get(row["status"], "")
        told += [row["mistake"]] if row["mistake"] else []
        if override:
            kind = "p" if row["points"] and row["points"] >= row["max"] else "" if row["points"] else "f"
            told += [given(row)]
        text = SIGNS[row["status"]] + "⚑" * bool(doubts(row)) + "✎" * override
        number = self.shown.get((student, item))
        if number is not None:
            about = f"{safe(student)}, {safe(item)}: {safe('; '.join(told), 400)}"
            text = f'<a id="{self.anchor(student, item)}" href="#c{number}" title="{about}">{text}</a>'
        return f'<td class="{kind}{border}">{text}</td>'

    def nothing(self, student: str, lesson: str, columns: int) -> str:
        """The place of a lesson that a student has not handed in, or that was not read."""
        why = self.known.in_doubt.get((student, lesson))
        if why is None:
            return f'<td class="none first" colspan="{columns}"></td>'
        link = f'<a href="#unread" title="{safe(why)}">! not read</a>'
        return f'<td class="doubt first" colspan="{columns}">{link}</td>'

    def anchor(self, student: str, item: str) -> str:
        return f"a{list(self.students).index(student)}-{list(self.items).index(item)}"

    def points(self, student: str, lesson: str) -> str:
        """A student's points in a lesson, which lead to the feedback."""
        points, slug = self.scores[student][lesson][0], self.known.students[student]["slug"]
        late = any(row.get("late") for row in self.known.rows if (row["student"], row["lesson"]) == (student, lesson))
        said = '<span class="late" title="handed in late">late</span>' if late else ""
        if (student, lesson) in self.known.lost:
            said += f'<span class="late" title="{safe(self.known.lost[student, lesson][1])}">in part</span>'
        return f'<td class="n points"><a href="feedback/{slug}/lesson_{lesson}.html">{points:g}</a>{said}</td>'

    def sums(self, columns: dict[str, list[str]]) -> list[str]:
        """The last lines: how many have solved each exercise, of how many who have handed in the lesson."""
        solved = Counter(row["item"] for row in self.rows if row["status"] == "passed")
        sums, bases = "", ""
        for lesson, items in columns.items():
            sums += "".join(f'<td class="{"first" * (n == 0)}">{solved[item]}</td>' for n, item in enumerate(items))
            sums += '<td class="points"></td>'
            bases += f'<td class="first base" colspan="{len(items) + 1}">{len(self.came_from(lesson))}</td>'
        empty = '<td class="first"></td><td></td><td></td><td></td>'
        return [
            f'<tr class="sum"><th scope="row">solved by</th>{sums}{empty}</tr>',
            f'<tr><th scope="row">handed in by</th>{bases}{empty}</tr>',
        ]

    def lessons(self) -> str:
        """For the class and for each lesson: how many have handed it in, and how their points are distributed."""
        lines = []
        for lesson in self.known.lessons():
            who = self.handed_in[lesson]
            rows = [row for row in self.known.rows if row["lesson"] == lesson]
            waiting = sum(row["status"] == "given" for row in rows)
            shares = self.shares(who, lesson)
            came = f"{len(self.came_from(lesson))} of {len(self.students)}"
            lines.append(distribution(title_of(lesson), came, shares, waiting, lesson))
        shares = self.shares(self.students)
        some = set().union(*map(self.came_from, self.known.lessons()))
        everyone = distribution(
            "All lessons, with 0 for those not handed in", f"{len(some)} of {len(self.students)}", shares, ""
        )
        if not lines:
            return "<p>Nothing has been handed in.</p>"
        header = heading("lesson", "handed in", "mean", "median", "from 0 to 100 %", "texts to read")
        return table("Points, lesson by lesson", header, lines, "text spread", [everyone])

    # Mistakes

    def commonest(self) -> str:
        """What is worth a word to all, in short: of all lessons, or of one."""
        before, lines, where = [], [], ""
        for lesson in ("", *self.known.lessons()):
            here = f"data-lesson='{lesson}'{' class=more' * bool(lesson)}"
            mistakes = [one for one in self.telling if lesson in ("", one.lesson)]
            groups = worth_telling(mistakes)
            told = [(group, counted(group, with_names=True)) for group in groups]
            single = examples(mistakes, groups) if told else self.made_once(mistakes)
            if told:
                where += f"<p {here}>{SHOW}</p>"
            else:
                before.append(f"<p {here}>{NO_TWO}{' Made once:' * bool(single)}</p>")
            once = "made once: " * bool(told)
            told += [
                (
                    [one],
                    f"{once}{'the bug hunt ' * one.is_hunt}{broken(one.item)}, {self.names(one.students, one.item)}",
                )
                for one in single
            ]
            lines += [
                f"<li {here}><strong>{sentence(prose(names_of(group)))}</strong> <span class='quiet'>{who}</span><br>"
                f"{prose(to_say(group[0]))}</li>"
                for group, who in told
            ]
        return f'{"".join(before)}<ol class="next">{"".join(lines)}</ol>{where}'

    def made_once(self, mistakes: list[Mistake]) -> list[Mistake]:
        """Mistakes of a single student or group, from the exercises that most have wrong, and first one of each."""
        wrong = Counter(row["item"] for row in self.rows if row["status"] == "failed")
        turns, ordered = Counter[str](), []
        for one in sorted(mistakes, key=lambda one: (not is_named(one), -wrong[one.item])):
            if is_telling(one) and one.name != UNKNOWN and len(one.by) == 1:
                ordered.append((turns[one.item], one))
                turns[one.item] += 1
        return [one for _, one in sorted(ordered, key=lambda one: one[0])][:COMMONEST]

    def exercises(self) -> str:
        """Exercises and bug hunts by how many have them wrong: the first of all lessons, or all of one."""
        count = Counter((row["item"], row["status"]) for row in self.rows)
        lines = []
        items = [item for item in self.items if item not in self.doubtful]
        for item in sorted(items, key=lambda item: (-count[item, "failed"], count[item, "passed"])):
            lesson, more = self.items[item], " class='more'" * (len(lines) >= HARDEST)
            rest = count[item, "untouched"] + count[item, "missing"]
            numbers = (count[item, "passed"], count[item, "failed"], rest)
            cells = "".join(
                f'<td class="n" data-what="{what}">{number}</td>'
                for what, number in zip(("solved", "wrong", "untouched"), numbers, strict=True)
            )
            named = [one for one in self.telling if one.item == item and one.name != UNKNOWN]
            named.sort(key=lambda one: not is_named(one))
            told = "; ".join(f"{prose(one.name)}, {self.names(one.students, item)}" for one in named[:MOSTLY])
            told += f"; and {len(named) - MOSTLY} more" * (len(named) > MOSTLY)
            lines.append(
                f'<tr data-lesson="{lesson}"{more}><th scope="row">{lesson} · {broken(item)}</th>{cells}'
                f"<td>{told}</td></tr>"
            )
        header = heading("exercise", "solved", "wrong", "untouched", "the commonest mistakes, and whose they are")
        return table("Exercises", header, lines, "text exercises") if lines else "<p>None.</p>"

    def all_mistakes(self) -> str:
        """For each lesson, its mistakes with who made them, in the catalogue's own words; hunts apart."""
        parts = []
        for lesson in self.known.lessons():
            lines = [self.mistake(one) for one in self.mistakes if one.lesson == lesson]
            lines += self.unsolved(lesson)
            if lines:
                header = heading("mistake", "made by", "what is wrong, where to look, and who")
                shown = table("Mistakes", header, lines, "text mistakes")
                parts.append(f'<div data-lesson="{lesson}"><h3>{title_of(lesson)}</h3>{shown}</div>')
        return "\n".join(parts) or "<p>None.</p>"

    def mistake(self, one: Mistake) -> str:
        look = f" <em>Where to look:</em> {prose(one.look)}" if one.look else ""
        return (
            f'<tr><th scope="row">{broken(one.item)}: {prose(one.name)}</th><td class="n">{one.share()}</td>'
            f"<td>{prose(one.why)}{look}<p>{self.names(one.students, one.item)}</p></td></tr>"
        )

    def unsolved(self, lesson: str) -> Iterator[str]:
        """A line for each bug hunt of a lesson that somebody has not solved."""
        hunts = defaultdict(list)
        for one in self.hunts:
            if one.lesson == lesson:
                hunts[one.item].append(one)
        for item, found in hunts.items():
            who = set().union(*(one.students for one in found))
            share = f"{len(who)} of {found[0].out_of}"
            kinds = "; ".join(f"{prose(one.name)} ({len(one.students)})" for one in found)
            yield (
                f'<tr><th scope="row">{broken(item)}: bug hunt not solved</th><td class="n">{share}</td>'
                f"<td>{kinds}. <span class='quiet'>{self.own_bug(item, found[0].exercise, who)}</span>"
                f"<p>{self.names(who, item)}</p></td></tr>"
            )

    def own_bug(self, item: str, exercise: str, who: set[str]) -> str:
        """How many have left a hunt's own bug as it was, if that is known of all."""
        works = [self.known.works.get((one, item)) for one in who]
        left = [has_own_bug(exercise, work["source"]) for work in works if work]
        if exercise not in REPAIRED or len(left) < len(who):
            return "Some of this may be the hunt's own bug, left as it was."
        return f"{sum(left)} left the hunt's own bug as it was; {left.count(False)} changed its lines."

    def names(self, students: Iterable[str], item: str) -> str:
        """Names that lead to the code."""
        return ", ".join(
            f'<a href="#c{self.shown[one, item]}">{shown}</a>' if (one, item) in self.shown else shown
            for one, shown in self.students.items()
            if one in students
        )

    def stuck(self) -> str:
        """Who is stuck in all lessons together, or in one."""
        lines = [line for lesson in ("", *self.known.lessons()) for line in self.stuck_in(lesson)]
        return table("Stuck", heading("student", "solved", "what shows it"), lines, "text stuck")

    def stuck_in(self, lesson: str) -> list[str]:
        """Lines for those who are stuck in a lesson, or in all, those who have solved least first.

        All are the lessons that a student has handed in, and those that at least half of the class has.
        """
        lines, absent = [], [one for one in self.students if not self.has_come(one, lesson)]
        for student in self.students:
            if student in absent:
                continue
            due = [one for one in self.known.lessons() if self.is_due(one, student)]
            skipped = [one for one in due if student not in self.handed_in[one]] if not lesson else []
            chosen = [lesson] if lesson else due
            items = [item for item, of in self.items.items() if of in chosen and item not in self.doubtful]
            rows = [row for item in items if (row := self.by.get((student, item)))]
            solved = sum(row["status"] == "passed" for row in rows)
            if found := self.signs(student, rows, solved, len(items), skipped):
                line = (
                    f'<tr data-lesson="{lesson}"{" class=more" * bool(lesson)}><th scope="row">'
                    f"{self.to_feedback(student, lesson)}</th>"
                    f'<td class="n" data-what="solved">{solved} of {len(items)}</td>'
                    f"<td>{'<br>'.join(found)}</td></tr>"
                )
                lines.append((solved / max(len(items), 1), -len(found), student, line))
        ordered = sorted(lines, key=lambda one: one[:2])
        most = min(STUCK, max(LEAST, len(self.students) // 3))
        shown = [line for *_, line in ordered[:most]]
        others = [student for _, _, student, _ in ordered[most:]]
        doubt = {who for who, of in self.known.in_doubt if lesson in ("", of)}
        unread = [one for one in absent if one in doubt]
        last = {
            "Less clearly": others,
            "Not read": unread,
            "Not handed in" if lesson else "Handed in nothing": [one for one in absent if one not in unread],
        }
        told = [
            f"{what}: {', '.join(self.to_feedback(one, lesson) for one in who)}" for what, who in last.items() if who
        ]
        told = ["Nobody, as far as the notebooks show."] * (not shown) + told
        here = f'<tr data-lesson="{lesson}"{" class=more" * bool(lesson)}>'
        return shown + [f'{here}<td colspan="3">{line}</td></tr>' for line in told]

    def has_come(self, student: str, lesson: str) -> bool:
        """Has a student handed in a lesson, or any at all, that could be read?"""
        return any(student in who for one, who in self.handed_in.items() if lesson in ("", one))

    def is_due(self, lesson: str, student: str) -> bool:
        """Has a student handed in a lesson, or at least half of the class? One that was not read does not count."""
        who = self.handed_in[lesson]
        return student in who or (2 * len(who) >= len(self.students) and (student, lesson) not in self.known.in_doubt)

    def signs(self, student: str, rows: list[Row], solved: int, count: int, skipped: list[str]) -> list[str]:
        """What shows that a student is stuck, with links to wrong answers."""
        passed = Counter(row["item"] for row in self.rows if row["status"] == "passed")
        wrong = [row for row in rows if row["status"] == "failed"]
        most = {row["item"] for row in rows if passed[row["item"]] > 0.6 * len(self.handed_in[row["lesson"]])}
        left = [row["item"] for row in rows if row["status"] == "untouched" and row["item"] in most]
        same = defaultdict(list)
        for row in wrong:
            if row["mistake"] == OWN or (
                row["kind"] == "exercise" and row["mistake"]
            ):  # others may be a hunt's own bug
                same[row["mistake"]].append(row["item"])
        found = [
            f"the same mistake after a change: {self.to_code(student, row['item'])}, {prose(row['mistake'])}"
            for row in wrong
            if row["again"] and row["mistake"]
        ]
        if 3 * solved < 2 * count:  # those who have solved most are not stuck for these
            for mistake, items in same.items():
                if len(items) > 1 and mistake not in (NOT_RUN, BUT_FOR):
                    where = ", ".join(self.to_code(student, item) for item in items)
                    found.append(f"{prose(mistake)}, {len(items)} times: {where}")
            if len(left) >= LEFT:
                found.append("untouched, though most have solved it: " + ", ".join(map(broken, left)))
        if count >= FEW and 3 * solved < count:
            shown = wrong[:SHOWN] if not any("href" in one for one in found) else []
            where = ", ".join(self.to_code(student, row["item"]) for row in shown)
            found.append("less than a third solved" + f"; wrong: {where}" * bool(where))
        if (found and skipped) or (3 * solved < 2 * count and len(skipped) >= SILENT):
            found.append(f"not handed in: lesson{'s' * (len(skipped) > 1)} {', '.join(skipped)}")
        return found

    def to_code(self, student: str, item: str) -> str:
        number = self.shown.get((student, item))
        return broken(item) if number is None else f'<a href="#c{number}">{broken(item)}</a>'

    # Files and code

    def unread(self) -> str:
        parts = []
        for lesson in ("", *self.known.lessons()):
            unread = [*self.not_read(lesson), *in_short(self.lost(lesson))]
            lines = "".join(f"<li><bdi>{safe(path, 300)}</bdi>: {safe(why, 300)}</li>" for path, why in unread)
            told = f"<ul>{lines}</ul>" if lines else "<p>Everything was read.</p>"
            parts.append(f'<div data-lesson="{lesson}"{" class=more" * bool(lesson)}>{told}</div>')
        return "\n".join(parts)

    def code(self) -> str:
        """The answers to look at, each with its verdict, under everyone who has written it."""
        parts = []
        for number, keys in enumerate(self.groups):
            row, item = self.by[keys[0]], keys[0][1]
            found = row["mistake"] or UNKNOWN * (row["status"] == "failed")
            told = "; ".join(filter(None, (*doubts(row), found, given(row))))
            who = ", ".join(self.students[one] for one, _ in keys)
            backs = ", ".join(f'<a href="#{self.anchor(*one)}">{self.students[one[0]]}</a>' for one in keys)
            source, _ = part_that_matters(self.known.source_of(*keys[0]), row)
            wrong = lines_at_fault(source, row)
            lines = (
                re.sub(r"\S.*", r"<mark>\g<0></mark>", safe(line, 500)) if n in wrong else safe(line, 500)
                for n, line in enumerate(source.splitlines())
            )
            source = "\n".join(lines)
            count = f"{len(keys)} students: " if len(keys) > 1 else ""
            gave = f'<p class="gave">✎ {sentence(safe(given(row), 400))}</p>' if given(row) else ""
            parts.append(
                f"<details data-lesson='{row['lesson']}'><summary>{broken(item)}: {safe(told, 400)} "
                f"<span class='quiet'>{count}{who}</span></summary>"
                f'<div id="c{number}" class="sides"><pre>{source}</pre><div>{gave}{card(row)}</div></div>'
                f'<p class="back">Back to the table: {backs}</p></details>\n'
            )
        every = '<p class="script"><button id="all">Open all</button></p>' if parts else "<p>None.</p>"
        return every + "".join(parts)


# Parts of both reports


def doubts(row: Row) -> list[str]:
    """The flags that are a reason to talk; others say what the teacher knows."""
    return [flag for flag in row["flags"] if flag not in ("late", "override", "not marked", TOO_SLOW)]


def given(row: Row) -> str:
    """The points that the teacher has given in place of the check's, if any, and why."""
    if "override" not in row["flags"]:
        return ""
    return f"you gave {row['points']:g} of {row['max']:g}: {row.get('reason') or 'no reason given'}"


def scores_of(known: Class) -> dict[str, dict[str, tuple[float, float]]]:
    """{student: {lesson: (points, of how many)}} by now: a text that waits for its reader is in neither number."""
    full, mine, waiting = defaultdict(dict), defaultdict(float), defaultdict(float)
    for row in known.rows:
        full[row["lesson"]][row["item"]] = row["max"]
        mine[row["student"], row["lesson"]] += row["points"] or 0
        waiting[row["student"], row["lesson"]] += row["max"] if row["points"] is None else 0
    return {
        student: {
            lesson: (mine[student, lesson], sum(full[lesson].values()) - waiting[student, lesson])
            for lesson in known.lessons()
        }
        for student in known.students
    }


def share_of(scores: dict[str, tuple[float, float]]) -> float | None:
    """The share of the points that can be had."""
    points, most = (sum(one[n] for one in scores.values()) for n in (0, 1))
    return points / most if most else None


def distribution(title: str, count: str, shares: list[float], waiting: int | str, lesson: str = "all") -> str:
    """A line with a histogram of ten bars."""
    here = f' data-lesson="{lesson}"'
    bars = [sum(min(int(one * 10), 9) == n for one in shares) for n in range(10)]
    highest = max([*bars, 1])
    words = [f"{n * 10} to {n * 10 + 10} %: {bar}" for n, bar in enumerate(bars)]
    told = ", ".join(one for one, bar in zip(words, bars, strict=True) if bar)
    shown = "".join(
        f'<i style="height: {bar / highest:.0%}" title="{one}"><b>{bar or ""}</b></i>'
        for one, bar in zip(words, bars, strict=True)
    )
    numbers = {one.__name__: f"{one(shares):.0%}" if shares else "" for one in (mean, median)}
    texts = to_texts(f"{waiting}", lesson, waiting)
    return (
        f'<tr{here}><th scope="row">{title}</th><td class="n" data-what="handed in">{count}</td>'
        + "".join(f'<td class="n" data-what="{one}">{number}</td>' for one, number in numbers.items())
        + f'<td><span class="bars" role="img" aria-label="{told}">{shown}</span>'
        f'<span class="scale" aria-hidden="true"><i>0</i><i>50</i><i>100 %</i></span></td>'
        f'<td class="n" data-what="to read">{texts or ""}</td></tr>'
    )


def to_texts(words: str, lesson: str, waiting: int | str) -> str:
    """Words that lead to the texts of a lesson, or of all, if any wait for a reader."""
    return f'<a href="grading.html{f"#{lesson}" * bool(lesson)}">{words}</a>' if waiting else words


def is_telling(one: Mistake) -> bool:
    """Is there something to say about it that helps with the subject?"""
    return bool(one.why) and one.name not in (NOT_RUN, BUT_FOR, OWN)


def worth_telling(mistakes: list[Mistake]) -> list[list[Mistake]]:
    """The commonest that more than one has made, and about which there is something to say. A group is one.

    The same mistake in several exercises is one, and so are those that are one slip; where it was made most often comes
    first. What only takes too long, or is of another kind, comes last.
    """
    groups = defaultdict(list)
    for one in mistakes:
        if is_telling(one):
            groups[slip_of(one) if one.name != UNKNOWN else (one.item, one.digest)].append(one)
    ordered = sorted(
        groups.values(), key=lambda group: (not any(map(is_named, group)), -len(who_made(group)), -len(group))
    )
    return [group for group in ordered if len(set().union(*(one.by for one in group))) > 1][:COMMONEST]


def examples(mistakes: list[Mistake], told: list[list[Mistake]]) -> list[Mistake]:
    """Mistakes of single students, to fill up what is told, from the exercises that most have wrong, one of each.

    They are none that an exercise of which something is told, or which a single student has wrong, would give away.
    """
    wrong: dict[str, set[str]] = defaultdict(set)
    for one in mistakes:
        wrong[one.item] |= one.by
    left_out = {one.item for group in told for one in group} | {item for item, who in wrong.items() if len(who) < 2}
    found: dict[str, Mistake] = {}
    for one in sorted(mistakes, key=lambda one: -len(wrong[one.item])):
        if is_named(one) and not one.is_hunt and one.item not in left_out and is_telling(one):
            found.setdefault(one.item, one)
    return [*found.values()][: max(0, TOLD - len(told))]


def to_say(one: Mistake) -> str:
    """Where the class should look, or what is wrong; both, where the catalogue has no name that tells the latter."""
    if is_named(one) or not one.look:
        return sentence(one.look or one.why)
    return f"{one.why} Where to look: {one.look}"


def slip_of(one: Mistake) -> str:
    """The name under which a mistake is told together with others."""
    return next((names[0] for names in SAME_SLIPS if one.name in names), one.name)


def names_of(group: list[Mistake]) -> str:
    """What a mistake is called in the exercises in which it was made."""
    return ", or ".join(dict.fromkeys(one.name for one in group))


def who_made(group: list[Mistake]) -> set[str]:
    return set().union(*(one.students for one in group))


def counted(group: list[Mistake], with_names: bool = False) -> str:
    """How many have made a mistake, which is what mistakes are ordered by; then how many in which exercises.

    Bug hunts come last, and apart, as it may be the hunt's own bug.
    """
    by_item: dict[bool, dict[str, list[Mistake]]] = {False: defaultdict(list), True: defaultdict(list)}
    for one in group:
        by_item[one.is_hunt][one.item].append(one)
    exercises, hunts = (
        {item: f"{len(who_made(same))} of {same[0].out_of}" for item, same in by_item[is_hunt].items()}
        for is_hunt in (False, True)
    )
    parts = [f"{share} in {broken(item) if with_names else 'an exercise'}" for item, share in exercises.items()]
    if len(exercises) > 1:
        some = who_made([one for one in group if not one.is_hunt])
        parts = [f"{len(some)} in {len(exercises)} exercises"]
        parts[0] += f": {', '.join(map(broken, exercises))}" if with_names else ""
    if with_names:
        parts += [f"{share} in the bug hunt {broken(item)}" for item, share in hunts.items()]
    elif len(hunts) > 1:
        parts.append(f"{len(who_made([one for one in group if one.is_hunt]))} in {len(hunts)} bug hunts")
    else:
        parts += [f"{share} in a bug hunt" for share in hunts.values()]
    number = len(who_made(group))
    return "; ".join([f"{number} student{'s' * (number != 1)} in all", *parts])


def questions(known: Class) -> str:
    """For each question, the hardest first: how many answers are right, and the commonest wrong one, explained."""
    lines = [
        f'<tr data-lesson="{number.split(".")[0]}" data-right="{-right / count}" '
        f'data-place="{-place_of(number)}"><th scope="row"><details><summary>{number} '
        f"{prose(all_questions()[number].title)}</summary>{asked(number)}</details></th>"
        f'<td class="n">{right / count:.0%} <span class="bar"><i style="width: {right / count:.0%}"></i></span><br>'
        f'<span class="quiet">{right} of {count}</span></td><td>{about}</td></tr>'
        for number, right, count, about in answered(known)
    ]
    heads = sorting("place", "question", "") + sorting("right", "right", "")
    header = [f'<tr>{heads}<th scope="col">commonest wrong answer</th></tr>']
    caption = "Right answers, and the commonest wrong one"
    shown = table(caption, header, lines, "text questions") if lines else "<p>None has been answered.</p>"
    return shown + unreadable(known)


def unreadable(known: Class) -> str:
    """The answers that their questions cannot take, which lead to the students' pages."""
    lines = []
    for row in known.rows:
        if is_unreadable(row):
            person, why = known.students[row["student"]], why_of(row)
            page = f"feedback/{person['slug']}/lesson_{row['lesson']}.html"
            lines.append(
                f"<li data-lesson='{row['lesson']}'><a href='{page}'><bdi>{safe(person['name'], 60)}</bdi></a>, "
                f"{row['item']}: <code>{safe(row['answer'], 100)}</code> {prose(why, 300)}</li>"
            )
    return f"<h3>Answers that could not be read</h3><ul>{''.join(lines)}</ul>" if lines else ""


def place_of(number: str) -> int:
    lesson, place = number.split(".")
    return 1000 * int(lesson) + int(place)


def answered(known: Class) -> list[tuple[str, int, int, str]]:
    """[(question, right answers, answers, the commonest wrong one, explained)], the hardest question first."""
    rows = defaultdict(list)
    for row in known.rows:
        if row["kind"] == "question" and row["status"] in ("passed", "failed"):
            rows[row["item"]].append(row)
    found = []
    for number in sorted(rows, key=place_of):
        answers, about = rows[number], ""
        failed = [row for row in answers if row["status"] == "failed"]
        if failed:
            answer, times = Counter(row["answer"] for row in failed).most_common(1)[0]
            row = next(row for row in failed if row["answer"] == answer)
            about = explained(row, f"{times} of {len(answers)}")
        found.append((number, len(answers) - len(failed), len(answers), about))
    return sorted(found, key=lambda one: one[1] / one[2])


def asked(number: str) -> str:
    """The question's text, with its choices, and the right answer."""
    question = all_questions()[number]
    shown = "".join(f"<p>{prose(one)}</p>" for one in question.shown())
    right = ", ".join(sorted(question.right_letters)) if isinstance(question, Choices) else ""
    if isinstance(question, Value):  # with as many decimal places as the question asks for
        rounded = question.tolerance and round(question.right, round(-log10(2 * question.tolerance)))
        right = question.say(rounded or question.right)
    return f'{shown}<p class="right">Right: <b>{prose(right, 200)}</b></p>'


def explained(row: Row, share: str) -> str:
    """A wrong answer to a question, how many gave it and, on a line of its own, what the verdict says about it."""
    question, answer = all_questions()[row["item"]], row["answer"]
    lines = [part.text for part in parts_of(row)]
    if isinstance(question, Choices) and answer in question.lettered:
        answer = f"{answer}) {question.lettered[answer].text}"
    said = " ".join(line for line in lines if line not in (answer, f"You chose {row['answer']}."))
    said = said.removeprefix(f"You answered {answer}. ").removeprefix(f"{row['answer']}) ")
    return f'<b>{prose(answer, 200)}</b> <span class="quiet">answered by {share}</span><br>{prose(to_all(said))}'


def to_all(words: str) -> str:
    """What a verdict says to the author of an answer, in words that speak of the answer."""
    for pattern, instead in NOT_TO_YOU:
        words = re.sub(pattern, instead, words)
    its_author = r"(?<!do )(?<!once )\b([Yy])ou (return|draw|look|find|read)\b"
    return re.sub(its_author, lambda found: f"{'The' if found[1] == 'Y' else 'the'} code {found[2]}s", words)


def sentence(text: str) -> str:
    """The text, which begins with a capital if it begins with a word and not with an identifier."""
    return text[:1].upper() + text[1:] if re.match(r"[a-z]{2,}(?![\w(\[]|\.\w)", text) else text


def sorting(key: str, words: str, kind: str) -> str:
    """The head of a column by which the table can be sorted."""
    return f'<th class="{kind}" scope="col"><button class="sort" data-key="{key}"><span>{words}</span></button></th>'


def in_words(lessons: list[str]) -> str:
    """lessons, 1 to 8."""
    if len(lessons) < 2:
        return f"lesson: {''.join(lessons) or 'none'}"
    in_a_row = int(lessons[-1]) - int(lessons[0]) == len(lessons) - 1
    return f"lessons, {lessons[0]} to {lessons[-1]}" if in_a_row else f"lessons: {', '.join(lessons)}"


def prose(text: str, most: int = 900) -> str:
    """A sentence of the catalogue's: code in backticks, and a proper minus."""
    parts = re.split(r"(<code>.*?</code>)", marked_up(clean(text, most)))
    return "".join(one if one.startswith("<code>") else re.sub(r"(?<![\w)])-(?=\d)", "−", one) for one in parts)


def in_pieces(code: str) -> str:
    """Code, or HTML without tags, that a narrow window may break after a space or a comma, and nowhere else.

    After a sign such as a minus, browsers would break it, too.
    """
    parts = []
    for piece in re.findall(r"\s+|[^\s,]+,*|,+", code):
        if parts and not parts[-1].isspace() and not piece.isspace():
            parts.append("<wbr>")
        kept = re.search(r"[-+/|%?!)\]}]", piece) and len(piece) < LONG
        parts.append(f'<span class="keep">{piece}</span>' if kept else piece)
    return "".join(parts)


def broken(name: str) -> str:
    """A name that may be broken after an underscore."""
    return safe(name, 60).replace("_", "_<wbr>")
