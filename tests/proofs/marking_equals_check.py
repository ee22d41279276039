"""Every right answer and every variant of every known mistake, by check and by mark: the same verdict.

python tests/proofs/marking_equals_check.py [EXERCISE …]
python tests/proofs/marking_equals_check.py --rewritten [EXERCISE …]

With --rewritten, a right answer and a wrong one to each exercise, in every way in which students write notebooks.
"""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS.parent), str(TESTS), str(TESTS / "marking")]

import rewritten  # noqa: E402
from declared import verdicts  # noqa: E402

from transformer_lessons.exercises.checker.draws import Draws  # noqa: E402
from transformer_lessons.exercises.checker.registry import EXERCISES  # noqa: E402
from transformer_lessons.marking.verdicts import Marker  # noqa: E402


def main(names):
    total = 0
    different = []
    for name in names or EXERCISES:
        exercise, draws = EXERCISES[name], Draws(EXERCISES[name], 7)
        answers = [(mistake.name, one) for mistake in exercise.mistakes.values() for one in mistake.variants]
        for declared, answer in [*answers, *exercise.answers.items()]:
            here, there = verdicts(name, answer, draws)
            total += 1
            if here != there:
                different.append((name, declared, here, there))
                print(*different[-1], sep=" | ")
        print(f"{name}: {total} so far, {len(different)} different", flush=True)
    return 1 if different else 0


def rewrite(names):
    """How many answers get another verdict because of the way in which they are written."""
    marker, total, different = Marker(3), 0, 0
    for name in names or EXERCISES:
        for way in rewritten.WAYS:
            for source in (None, rewritten.wrong_answer(name)):
                here, there = rewritten.verdicts(marker, name, way, source)
                total += 1
                if here not in (there, None):
                    different += 1
                    print(name, way, here, there, sep=" | ")
        print(f"{name}: {total} so far, {different} different", flush=True)
    marker.close()
    return different


if __name__ == "__main__":
    import transformer_lessons.exercises  # noqa: F401 - the catalogue

    if sys.argv[1:2] == ["--rewritten"]:
        sys.exit(bool(rewrite(sys.argv[2:])))
    sys.exit(main(sys.argv[1:]))
