"""Hints, one at a time, and solutions on request."""

from transformer_lessons.basis import memory
from transformer_lessons.exercises.checker import card
from transformer_lessons.exercises.checker.exercise import Exercise
from transformer_lessons.exercises.checker.parts import plain_text
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.report import say
from transformer_lessons.exercises.checker.verdict import names_like

given = {}  # exercise → how many hints have been asked for


def hint(name: str, number: int | None = None) -> None:
    """Prints the next hint for an exercise, or the one with that number."""
    exercise = find(name)
    if exercise is None:
        return
    total = len(exercise.hints)
    if number is None:
        number = given.get(exercise.name, 0) + 1
        if number > total:
            whole = f'solution("{exercise.name}")'
            say(f"{exercise.name}: that was the last of {total} hints. To see a solution: {whole}")
            return
    if not isinstance(number, int) or not 1 <= number <= total:
        say(f"{exercise.name} has hints 1 to {total}." if total else f"{exercise.name} has no hints.")
        return
    given[exercise.name] = max(number, given.get(exercise.name, 0))
    symptom, text = exercise.hints[number - 1]
    heading = f"{exercise.name}, hint {number} of {total}: {symptom}"
    say(f"{heading}\n{text}", card.card("hint", heading, [card.paragraph(text)]))


def solution(name: str) -> None:
    """Prints the source of a right answer, which runs on its own.

    Where it is shown as a card, other right answers follow if the learner has solved the exercise.
    """
    exercise = find(name)
    if exercise is not None:
        text = exercise.solution_text()
        others = other_styles(exercise) if card.is_shown() and exercise.name in memory.solved() else []
        say(text, card.card("solution", f"{exercise.name}: a right answer", [card.code(text), *others]))


def other_styles(exercise: Exercise) -> list[str]:
    """The page's other right answers, each folded below its name."""
    pointer = 'style="cursor: pointer"'
    return [
        f"<details><summary {pointer}>Also right: {card.marked_up(style)}</summary>{card.code(source)}</details>"
        for style, source in exercise.page.styles.items()
    ]


def find(name: object) -> Exercise | None:
    """The exercise with that name; if there is none, prints a sentence and returns None."""
    known_as = str(name if isinstance(name, str) else getattr(name, "__name__", type(name).__name__))
    if known_as in EXERCISES:
        return EXERCISES[known_as]
    say(plain_text(f"There is no exercise called {known_as}. {names_like(known_as)}"))
    return None
