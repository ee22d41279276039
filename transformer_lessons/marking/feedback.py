"""Feedback: a page for each student and lesson, with nothing about anyone else."""

import re
import zipfile
from collections import defaultdict
from io import BytesIO

from transformer_lessons.marking.halves import as_told
from transformer_lessons.marking.report import card, page, safe, title_of
from transformer_lessons.marking.results import Row
from transformer_lessons.tools import atomic


def write_feedback(known):
    folder, pages, by_lesson = known.out / "feedback", {}, defaultdict(list)
    for row in known.rows:
        by_lesson[row["student"], row["lesson"]].append(row)
    for (student, lesson), rows in by_lesson.items():
        about, told = known.students[student], as_told(known, student, rows)
        pages[about["slug"], f"lesson_{lesson}.html", about["folder"]] = page(title_of(lesson), feedback(told))
    for (who, name, _), data in pages.items():
        path = folder / who / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != data:  # most stay as they are from one run to the next
            atomic.write(path, data)
    written = {folder / who / name for who, name, _ in pages}
    for path in folder.glob("*/lesson_*.html"):
        if path not in written:
            path.unlink()
    if any("_assignsubmission_" in back for _, _, back in pages):
        atomic.write(known.out / "feedback-moodle.zip", moodle_zip(pages))


def feedback(rows: list[Row]) -> str:
    """A student's own results: the points, a card for each answer, and in one line what was not answered."""
    points, most = sum(row["points"] or 0 for row in rows), sum(row["max"] for row in rows)
    answered = [row for row in rows if row["status"] not in ("untouched", "missing")]
    solved = sum(row["status"] in ("passed", "read") for row in answered)
    waiting = sum(row["points"] is None for row in rows)
    facts = [
        (f"{points:g} of {most:g}", "points" + (", so far" if waiting else "")),
        (f"{solved} of {len(answered)}", "answers solved or read"),
        *([(waiting, "waiting for a reader")] if waiting else []),
    ]
    parts = ['<ul class="facts">' + "".join(f"<li><strong>{one}</strong>{what}</li>" for one, what in facts) + "</ul>"]
    kinds = {"exercise": "Exercises", "hunt": "Bug hunts", "question": "Questions", "text": "In your own words"}
    for kind, title in kinds.items():
        mine = [row for row in answered if row["kind"] == kind]
        parts += [f"<h2>{title}</h2>", *map(card, mine)] if mine else []
    if left := [row["item"] for row in rows if row not in answered]:
        parts.append(f'<h2>Not answered</h2><p class="quiet">{", ".join(map(safe, left))}</p>')
    return "\n".join(parts)


def moodle_zip(pages):
    """The zip that Moodle accepts: the folders have the names that it gave them."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for (_, name, back), data in sorted(pages.items()):
            if re.search(r"_\d+_assignsubmission_file_?$", back):
                archive.writestr(zipfile.ZipInfo(f"{back.rstrip('_')}/{name}", (2020, 1, 1, 0, 0, 0)), data)
    return file.getvalue()
