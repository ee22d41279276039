"""The page "Which line is wrong?": right answers with one line changed to a mistake that the checks know."""

import ast
import json
from difflib import SequenceMatcher

from anchors import slug
from exercises import EXERCISES
from markup import HIDE_TOC, html

LONGEST = 100  # columns of a line that is shown


def code_of(tree):
    return list(filter(None, ast.unparse(ast.fix_missing_locations(tree)).splitlines()))


def changed_line(right, wrong):
    """Where two codes differ in one line, and what stands there in the second; None if they differ in more."""
    changes = [
        change for change in SequenceMatcher(a=right, b=wrong, autojunk=False).get_opcodes() if change[0] != "equal"
    ]
    if len(changes) != 1:
        return None
    kind, start, end, new_start, new_end = changes[0]
    if (kind, end - start, new_end - new_start) != ("replace", 1, 1) or len(wrong[new_start]) > LONGEST:
        return None
    return start, wrong[new_start]


def puzzles_of(exercise):
    """The right answer's lines, and for each mistake of one line [name, anchor, why, where to look, number of
    the line, the line]."""
    right = code_of(exercise.right.tree)
    puzzles = []
    for mistake in exercise.mistakes.values():
        changed = (changed_line(right, code_of(variant.tree)) for variant in mistake.variants if not variant.is_whole)
        if found := next(filter(None, changed), None):
            puzzles.append([mistake.name, slug(mistake.name), html(mistake.why), html(mistake.look), *found])
    return right, puzzles


def write_puzzles(folder):
    """A script for each exercise, which is loaded when one of its puzzles is shown."""
    folder.mkdir(parents=True)
    for name, exercise in EXERCISES.items():
        right, puzzles = puzzles_of(exercise)
        told = {"right": right, "puzzles": puzzles, "lesson": exercise.lesson, "title": html(exercise.title)}
        script = f"(globalThis.wrongLines ??= {{}})[{json.dumps(name)}] = {json.dumps(told, ensure_ascii=False)};\n"
        (folder / f"{name}.js").write_text(script, encoding="utf-8")


def puzzle(start, chooser):
    """A puzzle that the script fills in: `start` is the attribute that it begins from, `chooser` offers others."""
    return (
        f'<div class="wrong-lines" {start} hidden>\n'
        f'<form class="from">{chooser}<output></output></form>\n'
        '<p class="asked"></p>\n<ol class="code highlight"></ol>\n<div class="told" role="status"></div>\n'
        '<p class="moves"><button type="button" class="button quiet" name="hint">A hint</button> '
        '<button type="button" class="button quiet" name="show">Show me</button> '
        '<button type="button" class="button" name="next">Another line</button></p>\n</div>\n'
    )


def puzzles_fold(name):
    """The puzzles of one exercise, for its own page, folded since they show all of a solution but a line."""
    number, start = len(puzzles_of(EXERCISES[name])[1]), f'data-exercise="{name}"'
    return (
        '<link rel="stylesheet" href="../_static/wrong_lines.css">\n'
        f'<details class="try" id="which-line-is-wrong"><summary>Which line is wrong? {number} puzzles</summary>\n'
        "<p>This shows a whole solution in which one line is wrong, so write yours first. Find the line, and press it."
        f"</p>\n{puzzle(start, '')}</details>\n"
        '<script src="../_static/colours.js" defer></script>\n'
        '<script src="../_static/wrong_lines.js" defer></script>\n'
    )


def wrong_lines_page():
    """What the reader chooses from; the script fills in the rest."""
    counts = {name: len(puzzles_of(exercise)[1]) for name, exercise in EXERCISES.items()}
    daily = " ".join(name for name, exercise in EXERCISES.items() if exercise.lesson <= 4)  # the same line for all
    start = f'data-daily="{daily}"'
    lessons = sorted({exercise.lesson for exercise in EXERCISES.values()})
    groups = "".join(
        f'<optgroup label="Lesson {lesson}">'
        + "".join(
            f'<option value="{name}">{name} ({counts[name]})</option>'
            for name, exercise in EXERCISES.items()
            if exercise.lesson == lesson
        )
        + "</optgroup>"
        for lesson in lessons
    )
    chooser = (
        '<label>From <select name="exercise"><option value="">today’s line</option>' + groups + "</select></label> "
    )
    return (
        f"{HIDE_TOC}# Which line is wrong?\n\n"
        "This is the course's own answer to an exercise, with **one line** changed to a mistake that people make. "
        f"Find it, and press it. There are {sum(counts.values()):,} such lines, and every day has one of its own.\n\n"
        '<link rel="stylesheet" href="_static/wrong_lines.css">\n'
        f"{puzzle(start, chooser)}"
        '<noscript><p>This page needs scripts. Each <a href="exercises/index.html">exercise’s page</a> lists its '
        "mistakes.</p></noscript>\n\n"
        "The code shows a whole solution except for the wrong line, so write the exercise yourself first: its lesson "
        "says what it must do, and its check names these mistakes when they are yours.\n\n"
        '<script src="_static/colours.js" defer></script>\n<script src="_static/wrong_lines.js" defer></script>\n'
    )
