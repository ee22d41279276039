"""python -m transformer_lessons.exercises: every known mistake, and the verdict on each."""

import sys

from transformer_lessons.exercises.checker.draws import first_draws
from transformer_lessons.exercises.checker.parts import plain_text
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.verdict import judge, names_like
from transformer_lessons.running.global_state import standard_state
from transformer_lessons.running.sandbox import attempt


def verdicts(exercise):
    """(declared name, report) for every variant of every mistake, then for every right answer."""
    declared = [(mistake.name, variant) for (mistake,), variant in exercise.singles]
    for name, known in [*declared, *exercise.answers.items()]:
        yield name, judge(exercise, known.answer, first_draws(exercise), run=attempt)


def main(names):
    """Prints the first line of each verdict for the named exercises, or for all of them, and the totals."""
    for name in names:
        if name not in EXERCISES:
            print(plain_text(f"There is no exercise called {name}. {names_like(name)}"), file=sys.stderr)
            return 2
    names = names or list(EXERCISES)
    mistakes = named = right = accepted = 0
    for name in names:
        exercise = EXERCISES[name]
        print(f"\n{name} (lesson {exercise.lesson})")
        with standard_state():
            rows = list(verdicts(exercise))
        for declared, report in rows:
            print(f"  {declared:<60} {report.heading}")
            if declared in exercise.answers:
                right += 1
                accepted += report.status == "passed"
            else:
                mistakes += 1
                named += report.mistake == declared
    print(
        f"\n{len(names)} exercise{'s' * (len(names) != 1)}: {named} of {mistakes} mistakes named correctly, "
        f"{accepted} of {right} right answers accepted"
    )
    return 0 if (named, accepted) == (mistakes, right) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
