"""Hints, one at a time, and solutions on request."""

from transformer_lessons.exercises.checking import names_like, say
from transformer_lessons.exercises.exercise import EXERCISES

given = {}  # exercise → how many hints have been asked for


def hint(name, number=None):
    """Prints the next hint for an exercise, or the one of that number."""
    exercise = find(name)
    if exercise is None:
        return
    total = len(exercise.hints)
    if number is None:
        number = given.get(exercise.name, 0) + 1
        if number > total:
            whole = f'solution("{exercise.name}")'
            say(f"{exercise.name}: that was the last of {total} hints. The whole way: {whole}")
            return
    if not isinstance(number, int) or not 1 <= number <= total:
        say(f"{exercise.name} has the hints 1 to {total}." if total else f"{exercise.name} has no hints.")
        return
    given[exercise.name] = max(number, given.get(exercise.name, 0))
    symptom, text = exercise.hints[number - 1]
    say(f"{exercise.name}, hint {number} of {total}: {symptom}\n{text}")


def solution(name):
    """Prints the source of a right answer, which runs on its own."""
    exercise = find(name)
    if exercise is not None:
        say(exercise.solution_text())


def find(name):
    """The exercise of that name, or None, with a sentence."""
    name = name if isinstance(name, str) else getattr(name, "__name__", str(type(name).__name__))
    if name in EXERCISES:
        return EXERCISES[name]
    say(f"There is no exercise called {name}. {names_like(name)}")
    return None
