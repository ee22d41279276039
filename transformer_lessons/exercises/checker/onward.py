"""What a card says below a verdict that passes: how much of the lesson is solved, and what comes next.

Only cards say it, never the plain text: what a notebook saves without a reader, and so what nbval compares, does not
depend on what is remembered. `memory` keeps it beside the environment.
"""

import html
import os
from pathlib import Path
from urllib.parse import quote

from transformer_lessons.basis import memory
from transformer_lessons.exercises.checker import card

STYLE = "border-top: 1px solid #8a8a8a66; padding-top: 6px"


def below(name: str, defined_as: str | None = None) -> list[str]:
    """The blocks below the verdict on this exercise or question, which has passed; none if nobody can see them.

    What is defined under another name than the exercise's, as in a bug hunt, is not remembered.
    """
    if not card.is_shown():
        return []
    if defined_as in (None, name):
        memory.remember([name])
    blocks = [] if memory.is_question(name) else [card.paragraph(f'Other right ways to write it: solution("{name}")')]
    lesson = next((steps for steps in map(memory.steps, memory.lessons()) if name in names_of(steps)), None)
    if lesson is None:
        return blocks
    return [*blocks, f'<p style="{STYLE}">{how_far(name, lesson)} {what_next(name, lesson)}</p>']


def names_of(steps: list[memory.Step]) -> list[str]:
    return [step.name for step in steps]


def how_far(name: str, lesson: list[memory.Step]) -> str:
    """How many of the lesson's exercises or, below a question, of its questions are solved."""
    known, names = set(memory.solved()), names_of(lesson)
    if known >= set(names):
        return "<strong>This lesson is solved</strong>, with every exercise and question."
    kind, done = ("questions", "answered") if memory.is_question(name) else ("exercises", "solved")
    alike = [other for other in names if memory.is_question(other) == memory.is_question(name)]
    return f"<strong>{len(known & set(alike))} of {len(alike)}</strong> {kind} in this lesson {done}."


def what_next(name: str, lesson: list[memory.Step]) -> str:
    """Names what comes next, and links it where links work: before a later step here, there is text to read."""
    step = memory.next_step(memory.solved(), name)
    if step is None:
        return "You have solved everything in this course."
    number = f"lesson {int(step.lesson[:2])}"
    words = f"question {step.name}" if memory.is_question(step.name) else f"exercise <code>{step.name}</code>"
    if step.lesson != lesson[0].lesson:
        words = f"{number}, {words}"
    names = names_of(lesson)
    way = "read on to " if step.name in names[names.index(name) :] else ""
    address = address_of(step)
    return f'Next: {way}<a href="{html.escape(address)}">{words}</a>' if address else f"Next: {way}{words}"


def address_of(step: memory.Step) -> str:
    """The step's cell in JupyterLab: in the notebook that is open, or in another lesson; "" elsewhere."""
    opened = Path(os.environ.get("JPY_SESSION_NAME", "")).name
    if not opened.endswith(".ipynb"):
        return ""
    file = opened if opened.startswith(Path(step.lesson).stem) else step.lesson
    return f"{quote(file)}#cell-id={quote(step.cell)}"
