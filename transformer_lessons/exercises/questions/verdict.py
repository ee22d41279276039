"""`answer`: a question is shown, or the answer to it is judged and explained."""

from dataclasses import replace

from transformer_lessons.exercises.checker import onward
from transformer_lessons.exercises.checker.card import blocks_of, card
from transformer_lessons.exercises.checker.parts import Part
from transformer_lessons.exercises.checker.report import Report, note, say
from transformer_lessons.exercises.questions import clicked
from transformer_lessons.exercises.questions.kinds import Question
from transformer_lessons.exercises.questions.lookup import find
from transformer_lessons.exercises.questions.reading import Unreadable, is_blank


def answer(number: object = None, *values: object) -> Report:
    """Judge the answer to the question `number`, "3.2" say; without one, show the question.

    Several values are one answer: a shape's sizes, or letters.
    """
    value = values[0] if len(values) == 1 else values or None
    try:
        question = find(number)
    except Unreadable as reason:
        return tell(Report("?", "not attempted", title="No such question"), [str(reason)])
    status, said = verdict(question, value)
    is_shown = said == question.shown()
    headline = {"passed": question.praise, "failed": "not yet", "not attempted": ""}[status]
    if status != "passed":
        invitation = "Try again" if status == "failed" else "Answer"
        said.append(f'{invitation} with {question.asks_for}: answer("{question.number}", {question.blank})')
    report = Report(question.number, status, headline, title=f"{question.number} {question.title}")
    return tell(report, said, question if is_shown else None)


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


def tell(report: Report, paragraphs: list[str], shown: Question | None = None) -> Report:
    """Prints the report with what it says, and returns it; on a card, a question that is shown can be clicked."""
    report = replace(report, parts=tuple(Part("told", line) for text in paragraphs for line in text.splitlines()))
    blocks = blocks_of(report.status, report.parts)
    if shown:
        blocks = clicked.blocks(shown, blocks)
    elif report.status == "passed":
        blocks += onward.below(report.name)
    say(report.message, card(report.status, report.heading, blocks))
    note(report)
    return report
