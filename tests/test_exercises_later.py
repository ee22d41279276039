"""The catalogue of lessons 5 to 8, proven by the tests of test_exercises.py in a file of its own."""

from test_exercises import (  # noqa: F401 - pytest finds them here
    pytest_generate_tests,
    pytestmark,
    test_a_solution_runs_on_its_own_and_passes,
    test_a_stub_is_not_attempted,
    test_a_way_gives_the_same_with_layers_of_its_own,
    test_an_exercise_is_complete,
    test_every_mistake_is_named_by_its_own_name_on_fifty_draws,
    test_every_mistake_runs_unless_it_says_that_it_raises,
    test_every_right_answer_passes_on_fifty_draws,
    test_every_verdict_on_a_mistake_is_short_and_plain,
)

LESSONS = (5, 6, 7, 8)
