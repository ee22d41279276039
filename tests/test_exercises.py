"""The catalogue, proven on fifty draws: every mistake is named by its own name, every right answer passes."""

import functools

import pytest

from transformer_lessons.exercises import check
from transformer_lessons.exercises.checking import judge
from transformer_lessons.exercises.comparing import alike
from transformer_lessons.exercises.exercise import EXERCISES, implementation
from transformer_lessons.exercises.running import attempt, standard_world
from transformer_lessons.exercises.trials import Trial, observe, same

pytestmark = pytest.mark.untraced  # the theorems cover the rooms; these would take twice as long
DRAWS = range(50)
LESSONS = (1, 2, 3, 4)  # test_exercises_later.py proves the others, so that two workers share the work


def pytest_generate_tests(metafunc):
    """An exercise of these lessons; with every way of a mistake, or every right answer, where asked for."""
    exercises = [one for one in EXERCISES.values() if one.lesson in metafunc.module.LESSONS]
    if "mistake" in metafunc.fixturenames:
        cases = [pytest.param(exercise, mistake, way, id=f"{exercise.name}-{mistake.name}-{number}")
                 for exercise in exercises for mistake in exercise.mistakes.values()
                 for number, way in enumerate(mistake.ways)]
        metafunc.parametrize(("exercise", "mistake", "way"), cases)
    elif "way" in metafunc.fixturenames:
        cases = [pytest.param(exercise, way, id=f"{exercise.name}-{style}")
                 for exercise in exercises for style, way in exercise.answers.items()]
        metafunc.parametrize(("exercise", "way"), cases)
    else:
        metafunc.parametrize("exercise", [pytest.param(one, id=one.name) for one in exercises])


@functools.lru_cache(maxsize=60)
def trial(name, seed):
    """The draws, and what every known mistake makes of them, once for all tests of an exercise."""
    return Trial(EXERCISES[name], seed)


@functools.lru_cache
def seeds(name):
    """Fifty; one where nothing is drawn, since all draws would be the same."""
    first, second = EXERCISES[name].cases(0), EXERCISES[name].cases(1)
    drawn = EXERCISES[name].is_module or not all(
        alike(one.inputs, other.inputs, 0) for one, other in zip(first, second, strict=True))
    return DRAWS if drawn else [0]


def reports(exercise, way):
    """On fifty draws; what the way makes of a draw is computed once for all tests."""
    found = []
    with standard_world():
        for drawn in (trial(exercise.name, seed) for seed in seeds(exercise.name)):
            outcomes = [drawn.outcome(way, number) for number in range(len(drawn.cases))]
            found.append(judge(exercise, implementation(way), drawn, attempt, outcomes))
    return found


def test_every_mistake_is_named_by_its_own_name_on_fifty_draws(exercise, mistake, way):
    verdicts = {(report.status, report.mistake) for report in reports(exercise, way)}
    assert verdicts == {("failed", mistake.name)}


def test_a_way_gives_the_same_with_layers_of_its_own(exercise):
    shared = Trial(exercise)
    with standard_world():
        for way in [*exercise.answers.values(), *(way for _, way in exercise.singles())]:
            for number, case in enumerate(shared.cases):
                own = observe(exercise, implementation(way), case, shared.dtype)
                known = shared.outcome(way, number)
                assert (own.kind, own.error, own.touched) == (known.kind, known.error, known.touched)
                assert own.kind == "raised" or same(exercise, own.value, known.value)


def test_every_mistake_runs_unless_it_says_that_it_raises(exercise, mistake, way):
    with standard_world():
        kinds = {trial(exercise.name, 0).outcome(way, number).kind for number in range(len(exercise.sizes))}
    assert kinds == {"raised"} if mistake.raises else "value" in kinds


def test_every_right_answer_passes_on_fifty_draws(exercise, way):
    found = {(report.status, report.message.split("\n")[0]) for report in reports(exercise, way)}
    assert found == {("passed", f"✓ {exercise.name}")}


def test_an_exercise_is_complete(exercise):
    assert len(exercise.mistakes) >= 8, "at least eight mistakes"
    assert len(exercise.answers) >= 3, "at least three right answers in different styles"
    assert 1 <= len(exercise.hints) <= 3
    assert all(level in (1, 2, 3) for level in (exercise.difficulty, exercise.importance))


def test_a_solution_runs_on_its_own_and_passes(exercise):
    namespace = {}
    exec(exercise.solution_text(), namespace)  # as a learner would
    assert check(exercise.name, namespace[exercise.name]).status == "passed"


def test_a_stub_is_not_attempted(exercise):
    namespace = {}
    exec("from torch import nn\n" + exercise.stub, namespace)
    assert check(exercise.name, namespace[exercise.name]).status == "not attempted"


def test_every_verdict_on_a_mistake_is_short_and_plain(exercise):
    with standard_world():
        for mistake in exercise.mistakes.values():
            report = judge(exercise, implementation(mistake.ways[0]), trial(exercise.name, 0), attempt)
            lines = report.message.splitlines()
            assert len(lines) <= 12
            assert lines[0].startswith(f"✗ {exercise.name}: ")
            assert "0x" not in report.message
            assert "-0.00 " not in report.message
