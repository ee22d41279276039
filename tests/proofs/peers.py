"""Our known mistakes through the tests of other courses, and their right answers through our checks.

    python tests/proofs/peers.py FOLDER                  # clones the courses into this folder, unless they are there
    python tests/proofs/peers.py FOLDER --only minbpe    # one course
    python tests/proofs/peers.py FOLDER --write          # and puts the tables on the page .site/evidence.md

Nothing of the courses is part of this repository. The folder courses holds adapters only, one module for each course;
the peer's own test code is run, always that of the same commit. CS336 and ARENA need `einops`, CS336 and minbpe
`regex`, minbpe `tiktoken`, as these courses say themselves; a test whose files are missing is not run.

Of each mistake its first variant is tried. A mistake counts in a task only if the task's contract can show it: called
through the adapter, as the peer calls it, it gives something else than our right answer on inputs that both contracts
allow (`probe`, which runs no test of the peer). That leaves out, by rule and not by hand, wrong weights where only the
output is returned, in-place changes where nobody asks, the convention of a mask, memory. Ties between pairs, which
the tokenizers break in different ways, are left out by name. A test that takes too long counts as failed.
"""

import argparse
import contextlib
import io
import resource
import subprocess
import textwrap
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch
from courses import arena, cs336, minbpe, tinytorch, torchcode
from courses.shared import Peer, Task, ran
from measured import put_on_the_page

from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.running.global_state import standard_state

COURSES = {course.__name__.rpartition(".")[2]: course for course in (torchcode, cs336, minbpe, tinytorch, arena)}

MEMORY = 8 * 1024**3  # bytes: a token list that never stops growing is to end with an error, not with the machine


def shown_by(task: Task, adapted: Callable, right: object) -> bool:
    """Can the task's contract show that the answer is wrong?"""

    def call():
        torch.manual_seed(0)
        return task.probe(adapted)

    outcome = ran(call)
    return not outcome.ok or not alike(outcome.value, right, task.tolerance, False)


def wrong_answers(name: str) -> Iterator[tuple[str, Callable]]:
    """Our known mistakes, each in its first variant; ties are broken in other ways elsewhere."""
    for mistake in EXERCISES[name].mistakes.values():
        if not mistake.name.startswith(("ties ", "tied ")):
            yield mistake.name, mistake.variants[0].answer


def report_on(peer: Peer, shows_names: bool, writes: bool) -> None:
    """Prints a table of the peer's tasks, what we say of its right answers, and puts both on the page."""
    lines = ["| task | our exercise | mistakes that count | refused |", "| --- | --- | ---: | ---: |"]
    course = COURSES[peer.name]
    print(f"\n{course.REPOSITORY}\n\n" + "\n".join(lines), flush=True)
    total, refused = 0, 0
    for task in peer.tasks:
        right = task.adapt(EXERCISES[task.exercise].right.answer)
        with standard_state():
            if peer.refuses(task, right):
                raise SystemExit(f"{peer.name} refuses our right answer in {task.test}: the adapter is at fault.")
            torch.manual_seed(0)
            counted, passed = counted_and_passed(peer, task, task.probe(right))
        total, refused = total + counted, refused + counted - len(passed)
        lines.append(f"| `{task.test}` | `{task.exercise}` | {counted} | {counted - len(passed)} |")
        print(lines[-1], flush=True)
        for name in passed if shows_names else ():
            print(f"    passes: {name}")
    lines += [f"| **all** | | {total:,} | {refused:,} ({refused / total:.0%}) |"]
    verdicts: dict = {True: [], False: []}
    for name, answer in peer.answers.items():
        with contextlib.redirect_stdout(io.StringIO()):
            verdict = check(name, answer)
        verdicts[verdict.status == "passed"].append(f"`{name}`")
        print(f"Its right answer in our check: {verdict.message}")
    for accepted, word in ((True, "accept"), (False, "refuse")):
        if verdicts[accepted]:
            answers = f"Its right answers that we {word}: {', '.join(verdicts[accepted])}."
            lines += ["", *textwrap.wrap(answers, 120, break_long_words=False)]
    for line in peer.not_run:
        lines += ["", f"Not run: {line}."]
    page = f"https://github.com/{course.REPOSITORY}/tree/{course.COMMIT}"
    lines += ["", f"Tests of [commit {course.COMMIT[:7]}]({page})."]
    print("\n".join(lines[len(peer.tasks) + 2 :]))
    if writes:
        put_on_the_page(peer.name, lines)


def counted_and_passed(peer: Peer, task: Task, expected: object) -> tuple[int, list]:
    """How many mistakes count in a task, and the names of those that its tests let pass."""
    counted, passed = 0, []
    for name, answer in wrong_answers(task.exercise):
        outcome = ran(partial(task.adapt, answer))
        if outcome.ok and not shown_by(task, outcome.value, expected):
            continue
        counted += 1
        if outcome.ok and not peer.refuses(task, outcome.value):
            passed.append(name)
    return counted, passed


def cloned(folder: Path, repository: str, commit: str) -> Path:
    """Where the course lies in the folder, with the files of this commit."""
    place = folder / repository
    if not place.exists():
        subprocess.run(["git", "clone", "--quiet", f"https://github.com/{repository}", place], check=True)
        subprocess.run(["git", "-C", place, "checkout", "--quiet", "--detach", commit], check=True)
    there = subprocess.check_output(["git", "-C", place, "rev-parse", "HEAD"], text=True).strip()
    if there != commit:
        raise SystemExit(f"{place} is at commit {there}; the tables are of {commit}.")
    return place


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the courses are, or are cloned to")
    parser.add_argument("--only", choices=COURSES, action="append", help="this course (may be repeated)")
    parser.add_argument("--names", action="store_true", help="list the mistakes that pass there")
    parser.add_argument("--write", action="store_true", help="put the tables on the page .site/evidence.md")
    arguments = parser.parse_args()
    courses = [COURSES[name] for name in arguments.only or COURSES]
    folder = arguments.folder.resolve()
    places = [cloned(folder, course.REPOSITORY, course.COMMIT) for course in courses]
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    for course, place in zip(courses, places, strict=True):
        course.run(place, partial(report_on, shows_names=arguments.names, writes=arguments.write))


if __name__ == "__main__":
    main()
