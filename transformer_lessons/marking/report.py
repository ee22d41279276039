"""Pages that need neither scripts nor a network: what the class has not understood, and each student's own results."""

import html
import re
import zipfile
from collections import Counter, defaultdict
from io import BytesIO
from pathlib import Path

from transformer_lessons.exercises.checker.exercise import EXERCISES
from transformer_lessons.exercises.questions.finding import all_questions
from transformer_lessons.marking.confinement import ALL, PROMISES
from transformer_lessons.marking.marks import clean
from transformer_lessons.tools import atomic

TEMPLATE = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
SIGNS = {"passed": "✓", "failed": "✗", "untouched": "○", "missing": "–", "given": "…", "read": "✓", "not marked": "?"}


def page(title, body):
    return TEMPLATE.replace("TITLE", title).replace("BODY", body).encode(errors="replace")


def safe(text, most=200):
    return html.escape(clean(text, most))


def grid(caption, header, rows):
    """A table; each cell is (text that is safe, its class)."""
    head = "".join(f'<th scope="col">{one}</th>' for one in header)
    body = "".join(
        "<tr>"
        + "".join(
            f'<th scope="row">{text}</th>' if n == 0 else f'<td class="{kind}">{text}</td>'
            for n, (text, kind) in enumerate(row)
        )
        + "</tr>\n"
        for row in rows
    )
    return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>\n"


def write_reports(known):
    """report.html, for the teacher; report-anonymous.html, for the projector: pseudonyms, no code, no file names."""
    atomic.write(known.out / "report.html", page("The class", class_report(known, False)))
    atomic.write(known.out / "report-anonymous.html", page("The class", class_report(known, True)))


def class_report(known, anonymous):
    students = sorted(known.students, key=(known.pseudonym if anonymous else str))
    shown = {
        one: known.pseudonym(one) if anonymous else f"<bdi>{safe(known.students[one]['name'], 60)}</bdi>"
        for one in students
    }
    rows = [row for row in known.rows if row["kind"] in ("exercise", "hunt")]
    by = {(row["student"], row["item"]): row for row in rows}
    items = list(dict.fromkeys(row["item"] for row in sorted(rows, key=lambda row: int(row["lesson"]))))
    failing = {key: n for n, key in enumerate(key for key, row in by.items() if row["status"] == "failed")}
    mistakes = defaultdict(set)
    for row in rows:
        if row["status"] == "failed":
            mistakes[row["lesson"], row["exercise"], row["mistake"] or "no known mistake"].add(row["student"])
    ranked = sorted(mistakes.items(), key=lambda one: (-len(one[1]), int(one[0][0]), *one[0][1:]))
    parts = [
        summary(known, rows),
        "<h2>Exercises</h2>",
        grid(
            "Who has solved what",
            ["", *map(safe, items)],
            (
                [
                    (shown[one], ""),
                    *(status(by.get((one, item)), failing.get((one, item)), anonymous) for item in items),
                ]
                for one in students
            ),
        ),
    ]
    parts += [
        "<h2>Mistakes</h2>",
        grid(
            "Who made which mistake",
            ["", "students", *(shown[one] for one in students)],
            (
                [
                    (f"{safe(exercise)}: {safe(name)}", ""),
                    (str(len(who)), "n"),
                    *(("✗", "f") if one in who else ("", "") for one in students),
                ]
                for (_, exercise, name), who in ranked
            ),
        ),
    ]
    parts += ["<h2>Say this next time</h2>", *say_next(ranked), "<h2>Stuck</h2>", stuck(known, rows, shown)]
    parts += ["<h2>Questions</h2>", questions(known)]
    if not anonymous:
        unread = [f"<li><bdi>{safe(path, 300)}</bdi>: {safe(why, 300)}</li>" for path, why in sorted(known.unread)]
        parts += ["<h2>Not read</h2>", f"<ul>{''.join(unread)}</ul>" if unread else "<p>Everything was read.</p>"]
        parts.append("<h2>Code</h2>")
        parts += [
            f'<details id="c{n}"><summary>{shown[who]}, {safe(item)}</summary><pre>'
            f"{safe(known.works.get((who, item), {}).get('source', ''), 6000)}</pre><pre>"
            f"{safe(by[who, item]['message'], 3000)}</pre></details>"
            for (who, item), n in failing.items()
        ]
    return "\n".join(parts)


def status(row, number, anonymous):
    if row is None:
        return "", ""
    sign, flag = SIGNS[row["status"]], "⚑" if row["flags"] and not anonymous else ""
    text = sign + flag
    if number is not None and not anonymous:
        text = f'<a href="#c{number}" title="{safe(row["mistake"])}">{text}</a>'
    return text, {"passed": "p", "failed": "f"}.get(row["status"], "")


def summary(known, rows):
    count = Counter(row["status"] for row in rows)
    lessons = ", ".join(known.lessons()) or "none"
    missing = [PROMISES[one] for one in ALL if one not in known.held] if known.held or rows else []
    kept = "<p>Students' code could not read your files, start programs, or use the network.</p>"
    if missing:
        kept = f"<p><strong>Not prevented on this machine:</strong> students' code could {'; '.join(missing)}.</p>"
    return (
        f"<p>{len(known.students)} students; lessons {lessons}. Exercises: {count['passed']} passed, "
        f"{count['failed']} failed, {count['untouched']} untouched, {count['missing']} missing. Flags (⚑) are "
        f"reasons to talk, not evidence.</p>{kept}"
    )


def say_next(ranked):
    """The commonest mistakes of each lesson, in the catalogue's own words."""
    for lesson in sorted({key[0] for key, _ in ranked}, key=int):
        yield f"<h3>Lesson {lesson}</h3><ul>"
        for (_, exercise, name), who in [one for one in ranked if one[0][0] == lesson][:5]:
            known = EXERCISES[exercise].mistakes.get(name)
            words = f" {safe(known.why, 600)} <em>Where to look:</em> {safe(known.look, 600)}" if known else ""
            yield f"<li>{len(who)} × <strong>{safe(exercise)}: {safe(name)}.</strong>{words}</li>"
        yield "</ul>"


def stuck(known, rows, shown):
    """Who made the same mistake again after a change, or in two exercises, or has nothing where most have passed."""
    found, same = defaultdict(set), defaultdict(set)
    passed = Counter(row["item"] for row in rows if row["status"] == "passed")
    for row in rows:
        if row["status"] == "failed" and row["mistake"]:
            same[row["student"], row["mistake"]].add(row["item"])
            if row["again"]:
                found[row["student"]].add(f"{row['item']}: {row['mistake']}, as in an earlier version")
        if row["status"] == "untouched" and passed[row["item"]] > 0.6 * len(known.students):
            found[row["student"]].add(f"{row['item']}: untouched, though most have passed it")
    for (student, mistake), items in same.items():
        if len(items) > 1 and mistake != "does not run":
            found[student].add(f"{mistake}: in {' and '.join(sorted(items))}")
    lines = [
        f"<li>{name}: {'; '.join(map(safe, sorted(found[one])))}</li>" for one, name in shown.items() if found[one]
    ]
    return f"<ul>{''.join(lines)}</ul>" if lines else "<p>Nobody, as far as the notebooks show.</p>"


def questions(known):
    """For each question, how many answers are right, and the commonest wrong answer with its explanation."""
    rows = defaultdict(list)
    for row in known.rows:
        if row["kind"] == "question" and row["status"] in ("passed", "failed"):
            rows[row["item"]].append(row)
    lines = []
    for number, answers in rows.items():
        wrong = Counter(row["answer"] for row in answers if row["status"] == "failed").most_common(1)
        about = ""
        if wrong:
            row = next(row for row in answers if row["answer"] == wrong[0][0] and row["status"] == "failed")
            about = f"{wrong[0][1]} × {safe(wrong[0][0], 60)}: {safe(' '.join(row['message'].split()[1:]), 500)}"
        right = sum(row["status"] == "passed" for row in answers)
        title = f"{number} {safe(all_questions()[number].title)}"
        lines.append([(title, ""), (f"{right} of {len(answers)}", "n"), (about, "")])
    return grid("Right answers, and the commonest wrong one", ["", "right", "commonest wrong answer"], lines)


# Feedback: a page for each student and lesson, with nothing about anyone else


def write_feedback(known):
    folder, pages = known.out / "feedback", {}
    for student, about in known.students.items():
        for lesson in sorted({row["lesson"] for row in known.rows if row["student"] == student}, key=int):
            rows = [row for row in known.rows if (row["student"], row["lesson"]) == (student, lesson)]
            points = sum(row["points"] or 0 for row in rows)
            body = f"<p>{points:g} of {sum(row['max'] for row in rows):g} points.</p>" + "".join(
                f"<pre>{safe(row['message'], 4000)}</pre>\n" for row in rows
            )
            pages[about["slug"], f"lesson_{lesson}.html", about["folder"]] = page(f"Lesson {lesson}", body)
    for (who, name, _), data in pages.items():
        (folder / who).mkdir(parents=True, exist_ok=True)
        atomic.write(folder / who / name, data)
    for path in folder.glob("*/*"):
        if not any(path == folder / who / name for who, name, _ in pages):
            path.unlink()
    if any("_assignsubmission_" in back for _, _, back in pages):
        atomic.write(known.out / "feedback-moodle.zip", moodle_zip(pages))


def moodle_zip(pages):
    """The zip that Moodle accepts: the folders have the names that it gave them."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for (_, name, back), data in sorted(pages.items()):
            if re.search(r"_\d+_assignsubmission_file_?$", back):
                archive.writestr(zipfile.ZipInfo(f"{back.rstrip('_')}/{name}", (2020, 1, 1, 0, 0, 0)), data)
    return file.getvalue()
