"""The start page: a model to play with, how attention works, what the checks say, and the path of lessons."""

import contextlib
import inspect
import io
import json
import re
from functools import cache
from textwrap import dedent

import answers
import repository
from by_hand import by_hand
from diagrams import icon
from exercises import EXERCISES, number_of_mistakes
from facts import facts_of
from markup import HIDE_TOC, choices, coloured, contents, html, playground_of
from opening import opening
from poster import poster
from try_it import TRIED
from verdicts import verdict

from transformer_lessons.basis.memory import COURSE
from transformer_lessons.exercises import check
from transformer_lessons.inspection.explorer import PAGES

CLAIM = "Build the Transformer from scratch.<br>Type the code, and the page names your mistake."
PROMISE = (
    "A free course, from a weighted average to a model that writes plays. You need some Python and linear algebra."
)
EVIDENCE = "How sharp are the checks? <evidence>"  # its own heading says what has been found
FOR_TEACHERS = (
    "## For teachers\n\n"
    '<ul class="teachers">\n'
    '<li><strong><a href="teaching.html#what-you-can-keep-back">Hand it out.</a></strong> '
    "One command makes a zip for students, without what the teacher keeps.</li>\n"
    '<li><strong><a href="teaching.html#try-it-in-ten-minutes">Mark a class.</a></strong> '
    "Every notebook runs in a process of its own; the report says who has solved what, and which mistakes they make."
    "</li>\n"
    '<li><strong><a href="teaching.html#lesson-by-lesson">Show it.</a></strong> '
    '<span class="by-keys">Press p on any page: it becomes slides, one screen at a '
    "time.</span> Playgrounds stay live on the projector.</li>\n</ul>\n\n"
    '<a class="button quiet" href="beside/class/report.html">Open a sample report</a>\n\n'
    "[Teaching with this course](teaching.md) has the details, and a class of thirty to try it on.\n\n"
)


def lines_of_the_model():
    return len((PAGES / "live" / "model.js").read_text(encoding="utf-8").splitlines())


def front_page(lessons):
    cards = [card(number, lesson) for number, lesson in enumerate(lessons)]
    return (
        f"{HIDE_TOC}# Transformer Lessons\n\n{beginning(lessons)}{tried_out(lessons[0])}"
        f"## The path\n\nThe course is lessons 1 to {COURSE}, one after the other:\n\n"
        f'<ol class="path">\n{"".join(cards[:COURSE])}</ol>\n\n'
        "The others go beyond it, in any order:\n\n"
        f'<ol class="path" start="{COURSE + 1}" style="--from: {COURSE}">\n{"".join(cards[COURSE:])}</ol>\n\n'
        '<p class="forget" hidden>Your answers and ticks are kept in this browser and sent nowhere. '
        '<button type="button">Forget them</button></p>\n\n'
        "To look things up: the [exercises](exercises/index.md), the "
        "[glossary](notebooks/glossary.md), and the [finished implementation](reference/index.md), with "
        f"explanations beside the code.{source()}\n\n{FOR_TEACHERS}{on_your_machine()}"
        '<script src="_static/recording.js" defer></script><script src="_static/start.js" defer></script>\n\n'
        + contents("Lessons", [f"notebooks/{path.stem}" for path in lessons])
        + contents(
            "To look things up",
            ["exercises/index", "wrong_lines", "notebooks/glossary", "reference/index", "teaching", EVIDENCE],
        )
    )


def card(number, lesson):
    """A lesson's place on the path: its name, what it promises, and how long it takes."""
    told = facts_of(lesson)
    return (
        f'<li data-lesson="{number + 1}">{icon(number)}<a href="notebooks/{lesson.stem}.html">'
        f"<strong>{html(told['title'].partition(' · ')[2])}</strong></a> "
        f"<span>{html(told['promise'])}</span> <em>{told['Time'].partition(',')[0]}</em></li>\n"
    )


def beginning(lessons):
    """The course in a few words, its buttons, and the model to play with."""
    hours = round(sum(int(facts_of(lesson)["Time"].split()[0]) for lesson in lessons) / 60)  # without extras
    return (
        f'{{.claim}}\n{CLAIM}\n\n{{.promise}}\n{PROMISE}\n\n<div class="hero"><div>\n\n'
        f'<p class="start"><a class="button" href="notebooks/{lessons[0].stem}.html">Start lesson 1</a> '
        '<a class="button quiet" href="#run-it-on-your-machine">Run it yourself</a> '
        '<button class="button quiet present" hidden title="Or press p">Present</button></p>\n\n'
        f"</div><div>\n\n{{.facts}}\n{len(lessons)} lessons · about {hours} hours · MIT licence<br>"
        f"{len(EXERCISES)} exercises in Jupyter, [{len(TRIED)} of them right here](try.md)\n\n</div></div>\n\n"
        f"{poster()}\n\n{{.behind}}\n"
        "This is what you will have built: lesson 8 trains such a model, and lesson 11 looks inside. Its code here is "
        f'<a href="beside/live/model.js">the Transformer in {lines_of_the_model()} lines of JavaScript</a>, under '
        "the names of the [finished implementation](reference/models.md).\n\n"
    )


def tried_out(lesson):
    """What can be followed, dragged and answered on the page itself."""
    return (
        "## One step of attention, by hand\n\n"
        "“Bank” means one thing beside a river and another beside savings. This is how a Transformer works it out, in "
        f"numbers that you can check.\n\n{opening()}\n\n"
        f"## Drag the query\n\nThe same with four vectors, as you will build it in lesson 1.\n\n"
        f"{playground(lesson, 'drag_the_query')}\n\n"
        "## The checks name your mistake\n\n"
        f"They know {number_of_mistakes():,} mistakes, run them on the same "
        "inputs as your answer, and name the one that gives *your* numbers. Choose an answer, and see what the "
        f"check says.\n\n{answers_and_verdicts()}\n\n{by_hand()}\n\n"
        "Now write one: [type the code, and the page checks it](try.md). "
        "Can you name them, too? Every day has a solution with one wrong line: "
        "[Which line is wrong?](wrong_lines.md) The checks themselves have been measured: "
        "[How sharp are the checks?](evidence.md)\n\n"
    )


def on_your_machine():
    """How to get the course, and by whom it is."""
    public = repository.source()
    return (
        "## Run it on your machine\n\nHere you can read every lesson and type some of "
        "the exercises; in JupyterLab you can run and do them all. "
        f"{'With git and' if public else 'In a clone of the repository, with'} Python 3.10 or later, "
        f"this {'fetches the course, ' if public else ''}makes an environment and opens the first "
        f"lesson:\n\n```sh\n{repository.clone_command()}python3 -m transformer_lessons lab\n```\n\n"
        "{.facts}\nBy the Transformer Lessons authors, under the MIT licence"
        f"{' · last changed on ' + day if (day := repository.changed()) else ''}\n\n"
    )


def source():
    address = repository.source()
    return f" All of it, tests included, is [on GitHub]({address})." if address else ""


def playground(lesson, name):
    """A playground of a lesson, as it was saved."""
    cells = json.loads(lesson.read_text(encoding="utf-8"))["cells"]
    return playground_of(next(cell for cell in cells if "".join(cell["source"]) == f"playgrounds.{name}()"))


@cache
def answers_and_verdicts():
    """Answers to choose from, and what the check says about each, when it is run as the page is written.

    About the right one it says little, so the page adds the numbers that it expected of the others.
    """
    name, panels, expected = "scaled_dot_product_attention", [], ""
    right = source_of(answers.RIGHT).splitlines()
    for answer in answers.ANSWERS.values():
        with contextlib.redirect_stdout(io.StringIO()):
            report = check(name, answer)
        code = source_of(answer)
        shown = "\n".join(
            line if plain_line in right else re.sub(r"^(\s*)(.+)", r"\1<mark>\2</mark>", line)
            for plain_line, line in zip(code.splitlines(), coloured(code).split("\n"), strict=True)
        )
        panels.append(f'<pre class="highlight">{shown}</pre>{verdict(report)}')
        expected = expected or "\n".join(row for part in report.parts for _, row in part.rows)
    panels[-1] += (
        "<p>On the same inputs, the weights are now the expected ones, and each row sums to 1:</p>"
        f'<pre class="numbers">{expected}</pre>'
        f'<p>This check knows <a href="exercises/{name}.html">{len(EXERCISES[name].mistakes)} mistakes</a> '
        "by name.</p>"
    )
    return choices("answer", "An answer, and its verdict", answers.ANSWERS, panels)


def source_of(answer):
    """An answer as a learner would write it: under the exercise's own name."""
    code = dedent(inspect.getsource(answer)).rstrip()
    return re.sub(r"^def \w+", "def scaled_dot_product_attention", code)
