"""`answer`: a question is shown, or the answer to it is judged and explained."""

import re
import textwrap

from transformer_lessons.exercises.checker import onward
from transformer_lessons.exercises.checker.card import card, paragraph
from transformer_lessons.exercises.checker.report import WIDTH, Report, note, say
from transformer_lessons.exercises.questions import clicked
from transformer_lessons.exercises.questions.kinds import Question
from transformer_lessons.exercises.questions.lookup import find
from transformer_lessons.exercises.questions.reading import Unreadable, is_blank
from transformer_lessons.tools.terminal import MARKS


def answer(number: object = None, *values: object) -> Report:
    """Judge the answer to the question `number`, "3.2" say; without one, show the question.

    Several values are one answer: a shape's sizes, or letters.
    """
    value = values[0] if len(values) == 1 else values or None
    try:
        question = find(number)
    except Unreadable as reason:
        return tell("?", "not attempted", "○ No such question", [str(reason)])
    status, said = verdict(question, value)
    is_shown = said == question.shown()
    ending = {"passed": f": {question.praise}", "failed": ": not yet", "not attempted": ""}[status]
    if status != "passed":
        invitation = "Try again" if status == "failed" else "Answer"
        said.append(f'{invitation} with {question.asks_for}: answer("{question.number}", {question.blank})')
    heading = f"{MARKS[status]} {question.number} {question.title}{ending}"
    return tell(question.number, status, heading, said, question if is_shown else None)


def verdict(question: Question, value: object) -> tuple[str, list[str]]:
    """("passed", "failed" or "not attempted", what is said)."""
    try:
        if is_blank(value):
            return "not attempted", question.shown()
        given = question.read(value)
    except Unreadable as reason:
        return "not attempted", [str(reason)]
    except Exception:  # a learner's object may raise anything, whatever is done with it
        return "not attempted", [f"This cannot be read as {question.asks_for}."]
    passed, said = question.judge(given)
    return ("passed" if passed else "failed"), said


def tell(number: str, status: str, heading: str, paragraphs: list[str], shown: Question | None = None) -> Report:
    """Prints the report, and returns it; on a card, a question that is shown can be clicked."""
    lines = [line for text in paragraphs for line in text.splitlines()]
    wrapped = [heading]
    for line in lines:
        hanging = " " * len(re.match(r"[a-z]\) |- | *", line)[0])
        wrapped += textwrap.wrap(line, WIDTH, subsequent_indent=hanging, break_on_hyphens=False)
    report = Report(number, status, "\n".join(wrapped))
    blocks = [paragraph(line) for line in lines]
    if shown:
        blocks = clicked.blocks(shown, blocks)
    elif status == "passed":
        blocks += onward.below(number)
    say(report.message, card(status, heading, blocks))
    note(report)
    return report
