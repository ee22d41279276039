"""The commands mark, release and key."""

import argparse
import os
import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_lessons.tools import reset
from transformer_lessons.tools.install import COMMAND

if TYPE_CHECKING:  # these commands show their help without loading PyTorch
    from transformer_lessons.marking.marks import Class

MARK = """Mark a class: a folder or a zip file, as downloaded from your learning system. Students' code runs in separate
processes, without access to your files or the network if the system can prevent it; what it prints proves nothing."""
ALSO = f"""“{COMMAND} mark sample FOLDER” makes up a class to practise on, with a grading sheet, and
“{COMMAND} mark fill SHEET.csv” fills in the grading sheet that Moodle or Canvas gave you. Each has a --help of its own.
TEACHING.md is the manual."""


def mark(arguments: list[str]) -> int:
    """The command `mark`, with `mark fill SHEET.csv` and `mark sample FOLDER`."""
    special = {"fill": fill, "sample": sample}.get(arguments[0] if arguments else "")
    if special:
        if len(arguments) == 1 and Path(arguments[0]).exists():
            print(f"To mark the folder {arguments[0]}, write mark ./{arguments[0]}", file=sys.stderr)
        return special(arguments[1:])
    parser = parser_for("mark", MARK, ALSO)
    parser.add_argument("source", type=Path, metavar="FOLDER_OR_ZIP")
    parser.add_argument("--out", type=Path, default=Path("marks"), help="folder for the marks (default: marks)")
    parser.add_argument("--jobs", type=whole_number, default=os.cpu_count() or 1, help="number of processes at a time")
    parser.add_argument("--variants", type=Path, metavar="FOLDER", help="your own exercises, added to the course's")
    parser.add_argument("--student", metavar="ID", help="mark this student's work again, and nobody else's")
    parser.add_argument("--roster", type=Path, metavar="CSV", help="class list: your own, or Canvas's or Moodle's")
    parser.add_argument("--format", choices=("gradescope", "classroom"), help="one submission: write its results.json")
    options = parser.parse_args(arguments)
    for path in (options.source, options.roster, options.variants):
        if path is not None and not path.exists():
            return refuse(f"There is no {path}.")
    return trouble() or marked(options, f"{COMMAND} mark {shlex.join(arguments)}")


def whole_number(text: str) -> int:
    """A number of processes, or of students."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} must be a whole number, at least 1")
    return int(text)


def maximum(text: str) -> float | str:
    """What full points become: a number, or "sheet"."""
    if text == "sheet":
        return text
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        value = 0
    if not 0 < value <= 10_000:
        raise argparse.ArgumentTypeError(f"{text} must be a number above 0, or sheet")
    return value


def trouble() -> int | None:
    """Prints what is not prevented here; returns 1 if nothing can be marked, otherwise None."""
    if sys.platform == "win32":
        return refuse("Marking needs Linux or macOS. On Windows, use WSL: it keeps students' code from your files.")
    if not reset.lessons():
        return refuse(f"There are no lessons in {reset.ROOT / 'notebooks'}: marking needs a clone of the course.")
    from transformer_lessons.marking import confinement

    missing = [what for name, what in confinement.PROMISES.items() if name not in confinement.protections()]
    if missing and os.geteuid() == 0:
        return refuse(
            "As root, students' code could do anything here, since this system lacks Landlock or seccomp. "
            "Mark as an ordinary user."
        )
    if missing:
        print(
            f"Not prevented on this system: students' code could {'; '.join(missing)}.\nTime, memory and the size "
            "of files are limited. No verdict can be forged.",
            file=sys.stderr,
        )
    return None


def marked(options: argparse.Namespace, command: str) -> int:
    """Marks, and writes what is asked for; returns the exit code."""
    from transformer_lessons.marking import confinement, marks, tables, verdicts

    confinement.hide()
    out = options.out
    out.mkdir(parents=True, exist_ok=True)
    if options.format:
        tables.write_result(out, {"score": 0, "output": "Marking did not finish.", "tests": []})
    try:
        if options.variants:
            verdicts.load_variants(options.variants)
        if lost := verdicts.lost_lessons():
            print(
                f"No fresh copy of {', '.join(lost)} is left, neither in notebooks nor in git's history, so work that "
                "nobody has touched cannot be told from wrong work there.",
                file=sys.stderr,
            )
        single = options.format is not None
        known = marks.mark(options.source, out, options.jobs, print, options.student, options.roster, single)
    except ValueError as error:
        return refuse(error)
    known.command = command
    for remark in known.remarks:
        print(plain(remark), file=sys.stderr)
    if options.format:
        tables.write_result(out, tables.FORMATS[options.format](known))
    else:
        write_pages(known)
    return 0


def write_pages(known: "Class") -> None:
    """Writes the marks, the reports and the feedback, and prints where they are."""
    from transformer_lessons.marking import feedback, halves, marks, projector, report, review, tables

    review.write_texts(known)
    tables.write_marks(known)
    report.write_report(known)
    projector.write_projector(known)
    feedback.write_feedback(known)
    review.write_similar(known)
    halves.write_halves(known)
    items, files = marks.counted(len(known.rows), "item"), marks.counted(len(known.unread), "file")
    texts = Counter(row["status"] for row in known.rows if row["kind"] == "text")
    if texts["read"] or texts["given"]:
        print(f"{marks.counted(texts['read'], 'text')} read, {texts['given']} waiting for a reader")
    in_part = f", {len({*known.lost.values()})} read only in part" if known.lost else ""
    print(plain(f"{items} marked, {files} not read{in_part}: {known.out / 'report.html'}"))


def fill(arguments: list[str]) -> int:
    parser = parser_for("mark fill", "Fill in the points in the grading sheet that Moodle or Canvas gave you.")
    parser.add_argument("sheet", type=Path)
    parser.add_argument("--out", type=Path, default=Path("marks"), help="the folder of the marks (default: marks)")
    parser.add_argument("--column", help="the title of the column")
    parser.add_argument("--lesson", help="fill in the points of one lesson only")
    parser.add_argument(
        "--scale", type=maximum, metavar="N", help="what full points become: 100, say, or “sheet” for its own maximum"
    )
    options = parser.parse_args(arguments)
    if not options.sheet.is_file():
        return refuse(f"There is no file {options.sheet}.")
    from transformer_lessons.marking import tables

    try:
        done, left = tables.fill(
            options.sheet,
            options.out / "marks.csv",
            options.column,
            options.lesson,
            options.scale,
            lambda text: print(plain(text)),
        )
    except ValueError as error:
        return refuse(error)
    print(f"{done} {'row' if done == 1 else 'rows'} filled.")
    for why, who in left.items():
        print(plain(f"Not filled in, {why} ({len(who)}): {', '.join(who)}"))
    return 0


def sample(arguments: list[str]) -> int:
    parser = parser_for("mark sample", "Make up a class to practise on, and beside it a grading sheet.")
    parser.add_argument("out", type=Path, metavar="FOLDER")
    parser.add_argument("--students", type=whole_number, default=30, metavar="N")
    options = parser.parse_args(arguments)
    sheet = options.out.with_name(f"{options.out.name}.csv")
    for path in (options.out, sheet):
        if path.exists():
            return refuse(
                f"{path} already exists. Delete it, or give another name: {COMMAND} mark sample another-class"
            )
    from transformer_lessons.marking import sample, verdicts

    verdicts.course()
    sample.write(options.out, options.students)
    sample.write_sheet(sheet, options.students)
    print(f"{options.students} students: {COMMAND} mark {shlex.quote(str(options.out))}")
    print(f"A grading sheet, to be filled in afterwards: {COMMAND} mark fill {shlex.quote(str(sheet))} --scale sheet")
    return 0


def release(arguments: list[str]) -> int:
    parser = parser_for("release", "Write a zip file of the course for students, without what you want to keep back.")
    parser.add_argument("--hold", default="", help="what to keep back: texts, solutions, or texts,solutions")
    parser.add_argument("--out", type=Path, default=Path("student.zip"))
    options = parser.parse_args(arguments)
    hold = set(filter(None, options.hold.split(",")))
    if hold - {"texts", "solutions"}:
        return refuse("--hold takes texts, solutions, or both with a comma between them.")
    from transformer_lessons.marking import release, verdicts

    verdicts.course()
    release.release(options.out, hold)
    print(
        f"{options.out} has been written."
        + (
            " The finished implementation is still in it, compressed: the checks and lessons need it. Students who "
            "look for it will find it; for real secrecy, use variants."
            if hold
            else ""
        )
    )
    return 0


def key(arguments: list[str]) -> int:
    parser = parser_for("key", "Print the answer key: solutions, right answers, and model answers with their points.")
    parser.add_argument("--out", type=Path, help="write it to this folder instead, outside any git work tree")
    options = parser.parse_args(arguments)
    from transformer_lessons.marking import release, verdicts

    verdicts.course()
    if options.out is None:
        print("\n\n".join(release.key().values()))
        return 0
    try:
        release.write_key(options.out)
    except ValueError as error:
        return refuse(error)
    print(f"The key is in {options.out}.")
    return 0


def parser_for(name: str, description: str, more: str | None = None) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=f"{COMMAND} {name}", description=description, epilog=more)


def refuse(sentence: object) -> int:
    print(plain(sentence), file=sys.stderr)
    return 1


def plain(text: object) -> str:
    """One line without control characters, which could move the terminal's cursor or hide something."""
    return " ".join("".join(one if one.isprintable() else " " for one in str(text)).split())
