"""The reports on a class: what it has solved and what it has not understood. The pages need no network."""

import html
import re
from collections import Counter, defaultdict
from pathlib import Path

from transformer_lessons.exercises.checker.card import card_of
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.questions.lookup import all_questions
from transformer_lessons.marking.confinement import ALL, PROMISES
from transformer_lessons.marking.naming import clean
from transformer_lessons.marking.results import Row
from transformer_lessons.marking.submissions import in_short
from transformer_lessons.marking.verdicts import course
from transformer_lessons.tools import atomic

TEMPLATE = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
SIGNS = {"passed": "✓", "failed": "✗", "untouched": "○", "missing": "–", "given": "…", "read": "✓", "not marked": "?"}
LEGEND = (
    ("✓", "p", "solved"),
    ("✗", "f", "wrong: follow it to the code"),
    ("○", "", "untouched"),
    ("–", "", "not in the notebook"),
    (" ", "", "lesson not handed in"),
    ("⚑", "", "a flag: a reason to talk, not evidence"),
)
COMMONEST = 5  # mistakes that get a screen each
LINES = 14  # of an answer on such a screen


def page(title, body, policy=""):
    """A whole page; the policy adds to what it may load, which is nothing but its own styles."""
    filled = TEMPLATE.replace("TITLE", title).replace("POLICY", policy)
    return filled.replace("BODY", body).encode(errors="replace")


def safe(text, most=200):
    return html.escape(clean(text, most))


def card(row: Row) -> str:
    """The verdict's card, as the notebook shows it, with the points."""
    points = "waiting for its reader" if row["points"] is None else f"{row['points']:g} of {row['max']:g}"
    status = {"read": "passed"}.get(row["status"], row["status"])
    return (
        f'<div class="card"><span class="points">{points}</span>{card_of(status, clean(row["message"], 4000))}</div>\n'
    )


def table(caption, header, lines, kind=""):
    """A table that scrolls by itself, from the rows of its header and of its body."""
    head, body = ("\n".join(rows) for rows in (header, lines))
    return (
        f'<div class="scroll"><table class="{kind}"><caption>{caption}</caption><thead>{head}</thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def heading(*names):
    """A header of one row; its first cell is empty."""
    return ["<tr><th></th>" + "".join(f'<th scope="col">{name}</th>' for name in names) + "</tr>"]


def title_of(lesson: str) -> str:
    """Lesson 6 · Masking."""
    known = course().get(lesson)
    stem = known["stem"][3:].replace("_", " ") if known else ""
    return f"Lesson {lesson}" + (f" · {safe(stem.capitalize())}" if stem else "")


def write_reports(known):
    """report.html, for the teacher; report-anonymous.html, for the projector: pseudonyms, no code that shows a name."""
    atomic.write(known.out / "report.html", page("The class", Report(known, anonymous=False).body()))
    atomic.write(known.out / "report-anonymous.html", page("The class", Report(known, anonymous=True).body()))


class Report:
    """What a class has solved, which mistakes it makes, and what to say next time."""

    def __init__(self, known, anonymous):
        self.known, self.anonymous = known, anonymous
        order = known.pseudonym if anonymous else str
        self.students = {
            student: known.pseudonym(student)
            if anonymous
            else f"<bdi>{safe(known.students[student]['name'], 60)}</bdi>"
            for student in sorted(known.students, key=order)
        }
        self.rows = [row for row in known.rows if row["kind"] in ("exercise", "hunt")]
        self.by = {(row["student"], row["item"]): row for row in self.rows}
        ordered = sorted(self.rows, key=lambda row: int(row["lesson"]))
        self.items = {row["item"]: row["lesson"] for row in ordered}
        failed = [key for key, row in self.by.items() if row["status"] == "failed"]
        self.failed = {key: number for number, key in enumerate(failed)}
        mistakes = defaultdict(set)
        for row in self.rows:
            if row["status"] == "failed":
                mistakes[row["lesson"], row["exercise"], row["mistake"] or "no known mistake"].add(row["student"])
        self.mistakes = sorted(mistakes.items(), key=lambda one: (-len(one[1]), int(one[0][0]), *one[0][1:]))

    def body(self):
        screens = self.commonest()
        parts = {
            "results": ("Who has solved what", self.results()),
            "next": ("Say this next time", "\n".join(screens) or "<p>No mistake has been made twice.</p>"),
            "mistakes": ("All mistakes", self.all_mistakes()),
            "stuck": ("Stuck", self.stuck()),
            "questions": ("Questions", self.questions()),
        }
        if self.anonymous:
            parts = {name: parts[name] for name in ("next", "results", "mistakes", "questions")}
        else:
            parts["unread"] = ("Not read", self.unread())
            parts["code"] = ("Wrong answers, with their verdicts", self.code())
        links = "".join(f'<a href="#{name}">{title}</a>' for name, (title, _) in parts.items())
        sections = (f'<section id="{name}"><h2>{title}</h2>\n{text}</section>' for name, (title, text) in parts.items())
        return f"{self.summary()}<nav>{links}</nav>\n" + "\n".join(sections)

    def summary(self):
        known, count = self.known, Counter(row["status"] for row in self.rows)
        tried = count["passed"] + count["failed"]
        waiting = sum(row["status"] == "given" for row in known.rows)
        facts = [
            (len(known.students), "students"),
            (len(known.lessons()), f"lessons: {', '.join(known.lessons()) or 'none'}"),
            (f"{count['passed']:,}", f"exercises solved, of {tried:,} that were tried"),
            (f"{count['untouched'] + count['missing']:,}", "left untouched, or not in the notebook"),
            (f"{waiting:,}", "texts waiting for a reader"),
        ]
        tiles = "".join(f"<li><strong>{number}</strong>{what}</li>" for number, what in facts)
        missing = [PROMISES[one] for one in ALL if one not in known.held] if known.held or self.rows else []
        kept = '<p class="quiet">Students’ code could not read your files, start programs, or use the network.</p>'
        if missing:
            words = "; ".join(missing)
            kept = (
                f'<p class="warning"><strong>Not prevented on this machine:</strong> students’ code could {words}.</p>'
            )
        return f'<ul class="facts">{tiles}</ul>{kept}'

    # Who has solved what

    def results(self):
        """A table with the exercises of each lesson side by side, and totals at both ends."""
        lessons = Counter(self.items.values())
        first = {
            item for n, item in enumerate(self.items) if n == 0 or self.items[item] != list(self.items.values())[n - 1]
        }
        groups = "".join(
            f'<th class="lesson" colspan="{count}" scope="colgroup">{title_of(lesson) if count > 4 else lesson}</th>'
            for lesson, count in lessons.items()
        )
        labels = "".join(
            f'<th class="item{" first" * (item in first)}" scope="col"><span>{safe(item, 60)}</span></th>'
            for item in self.items
        )
        lines = [
            f'<tr><th scope="row">{shown}</th>'
            + "".join(self.place(student, item, item in first) for item in self.items)
            + self.totals_of(student)
            + "</tr>"
            for student, shown in self.students.items()
        ]
        solved = Counter(row["item"] for row in self.rows if row["status"] == "passed")
        sums = "".join(f'<td class="{"first" * (item in first)}">{solved[item]}</td>' for item in self.items)
        lines.append(
            f'<tr class="sum"><th scope="row">solved by</th>{sums}<td class="n first"></td><td class="n"></td></tr>'
        )
        legend = "".join(f'<li><b class="{kind}">{sign}</b>{what}</li>' for sign, kind, what in LEGEND)
        header = [
            f'<tr><th></th>{groups}<th class="lesson" colspan="2" scope="colgroup">Total</th></tr>',
            f'<tr><th></th>{labels}<th class="item first" scope="col"><span>solved</span></th>'
            '<th class="item" scope="col"><span>points, all items</span></th></tr>',
        ]
        return f'<ul class="legend">{legend}</ul>' + table("Who has solved what", header, lines)

    def place(self, student, item, first):
        """One student's result in one exercise."""
        row, border = self.by.get((student, item)), " first" * first
        if row is None:
            return f'<td class="{border}"></td>'
        text = SIGNS[row["status"]] + ("⚑" if row["flags"] and not self.anonymous else "")
        number, kind = self.failed.get((student, item)), {"passed": "p", "failed": "f"}.get(row["status"], "")
        if number is not None and not self.anonymous:
            text = f'<a href="#c{number}" title="{safe(row["mistake"])}">{text}</a>'
        return f'<td class="{kind}{border}">{text}</td>'

    def totals_of(self, student):
        mine = [row for row in self.known.rows if row["student"] == student]
        solved = sum(row["status"] == "passed" for row in self.rows if row["student"] == student)
        points, most = sum(row["points"] or 0 for row in mine), sum(row["max"] for row in mine)
        return f'<td class="n first">{solved}</td><td class="n">{points:g} of {most:g}</td>'

    # Mistakes

    def commonest(self):
        """A screen for each of the commonest mistakes: what is wrong, an answer that makes it, and what to say."""
        telling = [(key, who) for key, who in self.mistakes if key[2] in EXERCISES[key[1]].mistakes and len(who) > 1][
            :COMMONEST
        ]
        for rank, ((lesson, exercise, name), who) in enumerate(telling, 1):
            mistake = EXERCISES[exercise].mistakes[name]
            answer = self.answer_with(exercise, name)
            yield (
                f'<div class="screen"><p class="rank">{rank} of {len(telling)} · {title_of(lesson)} · '
                f"{len(who)} of {len(self.students)} students</p><h3>{safe(exercise)}: {safe(name)}</h3>"
                f"<p>{safe(mistake.why, 600)}</p>{answer}"
                f'<p class="say"><strong>Say this next time:</strong> {safe(mistake.look, 600)}</p></div>'
            )

    def answer_with(self, exercise, name):
        """The shortest answer of the class that makes a mistake, without its comments, which may name somebody."""
        answers = [
            without_comments(self.known.works.get((row["student"], row["item"]), {}).get("source", ""))
            for row in self.rows
            if (row["exercise"], row["mistake"]) == (exercise, name) and row["item"] == exercise
        ]
        names = {word.lower() for one in self.known.students for word in (one, self.known.students[one]["name"])}
        answers = [one for one in answers if one and not any(word and word in one.lower() for word in names)]
        if not answers:
            return ""
        lines = min(sorted(answers), key=len).splitlines()
        shown = "\n".join(lines[:LINES] + ["…"] * (len(lines) > LINES))
        return f"<pre>{safe(shown, 3000)}</pre>"

    def all_mistakes(self):
        """For each lesson, its mistakes with who made them, in the catalogue's own words."""
        parts = []
        for lesson in sorted({key[0] for key, _ in self.mistakes}, key=int):
            lines = []
            for (_, exercise, name), who in [one for one in self.mistakes if one[0][0] == lesson]:
                known = EXERCISES[exercise].mistakes.get(name)
                words = f"<br>{safe(known.why, 600)} <em>Where to look:</em> {safe(known.look, 600)}" if known else ""
                names = ", ".join(shown for student, shown in self.students.items() if student in who)
                lines.append(
                    f'<tr><th scope="row">{safe(exercise)}: {safe(name)}</th><td class="n">{len(who)}</td>'
                    f'<td><span class="quiet">{names}</span>{words}</td></tr>'
                )
            header = heading("students", "who, and why it is wrong")
            parts.append(f"<h3>{title_of(lesson)}</h3>" + table("Mistakes", header, lines, "text"))
        return "\n".join(parts) or "<p>None.</p>"

    def stuck(self):
        """Who made a mistake again after a change, or in two exercises, or has nothing where most have passed."""
        found, same = defaultdict(set), defaultdict(set)
        passed = Counter(row["item"] for row in self.rows if row["status"] == "passed")
        for row in self.rows:
            if row["status"] == "failed" and row["mistake"]:
                same[row["student"], row["mistake"]].add(row["item"])
                if row["again"]:
                    found[row["student"]].add(f"{row['item']}: {row['mistake']}, as in an earlier version")
            if row["status"] == "untouched" and passed[row["item"]] > 0.6 * len(self.students):
                found[row["student"]].add(f"{row['item']}: untouched, though most have passed it")
        for (student, mistake), items in same.items():
            if len(items) > 1 and mistake != "does not run":
                found[student].add(f"{mistake}: in {' and '.join(sorted(items))}")
        lines = [
            f"<li><strong>{shown}</strong>: {'; '.join(map(safe, sorted(found[student])))}</li>"
            for student, shown in self.students.items()
            if found[student]
        ]
        return f"<ul>{''.join(lines)}</ul>" if lines else "<p>Nobody, as far as the notebooks show.</p>"

    def questions(self):
        """For each question, how many answers are right, and the commonest wrong answer with its explanation."""
        rows = defaultdict(list)
        for row in self.known.rows:
            if row["kind"] == "question" and row["status"] in ("passed", "failed"):
                rows[row["item"]].append(row)
        lines = []
        for number, answers in sorted(rows.items(), key=lambda one: [int(part) for part in one[0].split(".")]):
            wrong = Counter(row["answer"] for row in answers if row["status"] == "failed").most_common(1)
            about = ""
            if wrong:
                row = next(row for row in answers if row["answer"] == wrong[0][0] and row["status"] == "failed")
                about = f"{wrong[0][1]} × {safe(wrong[0][0], 60)}: {safe(' '.join(row['message'].split()[1:]), 500)}"
            right = sum(row["status"] == "passed" for row in answers)
            title = f"{number} {safe(all_questions()[number].title)}"
            lines.append(
                f'<tr><th scope="row">{title}</th><td class="n">{right} of {len(answers)}</td><td>{about}</td></tr>'
            )
        caption, header = "Right answers, and the commonest wrong one", heading("right", "commonest wrong answer")
        return table(caption, header, lines, "text") if lines else "<p>None has been answered.</p>"

    # For the teacher alone

    def unread(self):
        lines = [
            f"<li><bdi>{safe(path, 300)}</bdi>: {safe(why, 300)}</li>" for path, why in in_short(self.known.unread)
        ]
        return f"<ul>{''.join(lines)}</ul>" if lines else "<p>Everything was read.</p>"

    def code(self):
        return "".join(
            f'<details id="c{number}"><summary>{self.students[student]}, {safe(item)}</summary><div class="sides"><pre>'
            f"{safe(self.known.works.get((student, item), {}).get('source', ''), 6000)}</pre>"
            f"{card(self.by[student, item])}</div></details>\n"
            for (student, item), number in self.failed.items()
        )


def without_comments(source):
    """Code without its comments and its texts in triple quotes."""
    source = re.sub(r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'', "", source)
    lines = (re.sub(r"\s*#[^'\"]*$", "", line) for line in source.splitlines())
    return "\n".join(line for line in lines if line.strip())
