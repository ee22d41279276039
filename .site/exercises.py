"""The pages of the exercises, from what the catalogue says of each: the only module of the site that reads it."""

import re
from functools import cache

import repository
from anchors import slug
from facts import LESSONS, facts_of
from markup import HIDE_TOC, choices, contents, fold, fold_code, html, paragraphs, plain
from verdicts import verdict

from transformer_lessons.exercises.checker.draws import first_draws
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.verdict import judge
from transformer_lessons.running.sandbox import attempt


def number_of_mistakes():
    return sum(len(exercise.mistakes) for exercise in EXERCISES.values())


def hints(exercise):
    items = "".join(f"<li><em>{html(symptom)}</em>: {html(text)}</li>\n" for symptom, text in exercise.hints)
    return fold("Hints" if len(exercise.hints) > 1 else "A hint", f"<ol>\n{items}</ol>")


SAMPLES = 3  # verdicts below an exercise


@cache
def samples(exercise, unfolded=False):
    """What the check says about answers with known mistakes."""
    mistakes = list(exercise.mistakes.values())[:SAMPLES]
    reports = [judge(exercise, mistake.variants[0].answer, first_draws(exercise), run=attempt) for mistake in mistakes]
    card = choices(
        f"sample-{exercise.name}",
        "What the check says about an answer with this mistake",
        [mistake.name for mistake in mistakes],
        [verdict(report) for report in reports],
    )
    return fold("Wrong answers, and what the check says", card, unfolded)


def lesson_of(exercise):
    """The notebook of an exercise, or None if it has not been written yet."""
    return next((path for path in LESSONS if path.name.startswith(f"{exercise.lesson:02}_")), None)


def link_to_lesson(exercise):
    """A link to the exercise in its lesson, or to the lesson if it has no heading of its own there."""
    if lesson_of(exercise) is None:
        return f"lesson {exercise.lesson}"
    return f"[lesson {exercise.lesson}](../notebooks/{place_in_lesson(exercise)})"


@cache
def place_in_lesson(exercise, ending=".ipynb"):
    """The lesson's file, and the heading of the exercise in it, if it has one."""
    path = lesson_of(exercise)
    heading = re.search(rf"### (Exercise · `{exercise.name}`)", path.read_text(encoding="utf-8"))
    return f"{path.stem}{ending}" + (f"#{slug(heading[1].replace('`', ''))}" if heading else "")


def exercises_page(tried):
    """The index: lesson by lesson, with what each exercise asks, how hard it is, and how many mistakes are known.

    `tried` are those that can be typed on their pages.
    """
    rows = ""
    for path in LESSONS:
        own = [exercise for exercise in EXERCISES.values() if lesson_of(exercise) == path]
        if own:
            title = facts_of(path)["title"]
            rows += (
                f'<section><h2><a href="../notebooks/{path.stem}.html">{html(title)}</a></h2>\n<ul class="exercises">\n'
            )
            rows += "".join(row_of(exercise, exercise.name in tried) for exercise in own) + "</ul></section>\n"
    minutes = sum(exercise.minutes for exercise in EXERCISES.values())
    return (
        f"{HIDE_TOC}# Exercises\n\n{len(EXERCISES)} exercises, about {round(minutes / 60)} hours in all. "
        f"The checks know {number_of_mistakes():,} mistakes by name: the page of each "
        "exercise lists its own, and has hints and a solution, folded. "
        f"{len(tried)} exercises can be typed right here.\n\n"
        '<p class="start"><a class="button" href="../try.html">Type the code, and the page checks it</a></p>\n\n'
        '<form class="filter" hidden><label>Show exercises with <input type="search" autocomplete="off"></label> '
        '<label>Difficulty <select><option value="">any</option><option>1</option><option>2</option>'
        "<option>3</option></select></label> <output></output></form>\n\n"
        f'<div class="index" data-filter="exercise">\n{rows}</div>\n\n' + contents("Exercises", ["/try", *EXERCISES])
    )


def row_of(exercise, is_tried):
    dots = "●" * exercise.difficulty + "○" * (3 - exercise.difficulty)
    typed = f'<a href="{exercise.name}.html#type-the-code">Type it here</a> · ' if is_tried else ""
    return (
        f'<li class="exercise" data-exercise="{exercise.name}" data-difficulty="{exercise.difficulty}">'
        f'<a href="{exercise.name}.html"><code>{exercise.name}</code></a> '
        f'<span class="asks">{html(exercise.title)}</span> '
        f'<span class="measures"><span title="Difficulty {exercise.difficulty} of 3">'
        f'<span aria-hidden="true">{dots}</span><span class="spoken">Difficulty {exercise.difficulty} of 3, '
        f"importance {exercise.importance} of 3.</span></span> "
        f"<span>{exercise.minutes} min</span> <span>{len(exercise.mistakes)} mistakes</span></span> "
        f'<span class="puzzle">{typed}'
        f'<a href="{exercise.name}.html#which-line-is-wrong">Which line is wrong?</a>'
        '<span class="found"></span></span></li>\n'
    )


def to_be_done(exercise, is_tried=False):
    """Where an exercise is written: the page cannot run all of it."""
    path = lesson_of(exercise)
    places = {"Colab": repository.in_colab(path), "Binder": repository.in_binder(path)}
    links = " or ".join(f"[{name}]({address})" for name, address in places.items() if address)
    opened = f", or open it in {links}" if links else ""
    begin = "Type it above, or write it" if is_tried else "No Python runs on this page, so write it"
    return (
        f"{begin} in {link_to_lesson(exercise)}: "
        f'<a href="../beside/notebooks/{path.name}" download>download the notebook</a> for JupyterLab{opened}. '
        f'There, `check("{exercise.name}", {exercise.name})` says '
        f"{'more than this page can' if is_tried else 'what is wrong'}. The puzzles run here{', too' * is_tried}."
    )


def contract_of(exercise):
    """What it must do, with its call as code."""
    return re.sub(rf"(?<!`)\b{exercise.name}\([^)]*\)", r"`\g<0>`", exercise.contract)


def exercise_page(exercise, puzzles, editor):
    """`puzzles` is the folded "Which line is wrong?", `editor` what the exercise is tried in, if it can be."""
    mistakes = "".join(
        f'<details class="mistake" id="{slug(mistake.name)}"><summary>{html(mistake.name)}</summary>'
        f"<p>{html(mistake.why)}</p><p><em>→ {html(mistake.look)}</em></p></details>\n"
        for mistake in exercise.mistakes.values()
    )
    stub = f"```python\n{exercise.stub.strip()}\n```"
    return (
        f"# `{exercise.name}`\n\n**{plain(exercise.title)}** · {link_to_lesson(exercise)} · "
        f"difficulty {exercise.difficulty} of 3 · importance {exercise.importance} of 3 · "
        f"{exercise.minutes} minutes\n\n"
        f"## What it must do\n\n{paragraphs(contract_of(exercise))}\n\n"
        f"{editor or stub}\n\n{to_be_done(exercise, bool(editor))}\n\n{puzzles}\n"
        f"{hints(exercise)}\n{samples(exercise, True)}\n{fold_code('A solution', exercise.solution_text())}\n"
        f"## The {len(exercise.mistakes)} mistakes that its check knows\n\n"
        "The check runs each of them on the same inputs as the answer, and names the one that gives the "
        "same numbers. Each opens to what is wrong, and where to look.\n\n"
        f'<div class="mistakes">\n{mistakes}</div>\n'
    )
