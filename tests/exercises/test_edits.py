"""How lines take the place of the right answer's: every rule of the field guide's README, on small answers."""

import pytest

from transformer_lessons.exercises.checker.edits import RightAnswer, WrongAnswer, recording

FUNCTION = """
def halved(x, offset=1):
    total = x + offset
    half = total / 2
    return half
"""
LOOP = """
def helped(x):
    return x * 10


def summed(numbers):
    total = 0
    for number in numbers:
        part = helped(number)
        total += part
    count = len(numbers)
    return total, count
"""
MODULE = """
class Shifted:
    def __init__(self, size):
        self.size = size

    def doubled(self, x):
        double = 2 * x
        return double

    def forward(self, x):
        moved = self.doubled(x) + self.size
        return moved
"""


def right(source):
    return RightAnswer(source, {})


@pytest.mark.parametrize(
    ("rule", "source", "lines", "inputs", "result"),
    [
        ("a line takes the place of the line that sets the same name", FUNCTION, "half = total / 4", (7,), 2),
        ("`return` is a name", FUNCTION, "return total", (7,), 8),
        ("a line that reads its name comes after it", FUNCTION, "half = -half", (7,), -4),
        ("so does a part that is set", FUNCTION, "half += 1", (7,), 5),
        ("a line for an argument comes first", FUNCTION, "x = 2 * x", (7,), 7.5),
        ("a new name stays with the line below it", FUNCTION, "more = total + 2\nhalf = more / 2", (7,), 5),
        ("a new name without a line below it comes first", FUNCTION, "x.missing", (7,), AttributeError),
        ("a line in a loop is replaced there", LOOP, "part = number", ([1, 2],), (3, 2)),
        ("`+=` takes the place of `+=`", LOOP, "total += 2 * part", ([1, 2],), (60, 2)),
        ("a first value is replaced without touching the sum", LOOP, "total = 5", ([1, 2],), (35, 2)),
        ("dots stand for what is returned there", LOOP, "return ..., -count", ([1, 2],), (30, -2)),
        ("a `def` takes the place of the helper", LOOP, "def helped(x):\n    return x", ([1, 2],), (3, 2)),
        ("a new helper is added", LOOP, "def sign(x):\n    return -x\npart = sign(number)", ([1, 2],), (-3, 2)),
        ("the answer's own `def` is a whole answer", LOOP, "def summed(numbers):\n    return 0", ([1, 2],), 0),
    ],
)
def test_lines_change_a_function_as_the_rule_says(rule, source, lines, inputs, result):
    wrong = WrongAnswer(right(source), lines)
    if isinstance(result, type):
        with pytest.raises(result):
            wrong.answer(*inputs)
    else:
        assert wrong.answer(*inputs) == result


@pytest.mark.parametrize(
    ("lines", "result", "keeps_layers"),
    [
        ("moved = x", 3, True),
        ("double = 3 * x", 11, True),
        ("def doubled(self, x):\n    return x", 5, True),
        ("self.size = 2 * size", 10, False),
        ("self.other = 7", 8, False),
        ("size = 3 * size", 12, False),
        ("class Half(int):\n    pass\n\n\nself.size = Half(1)", 7, False),
        ("moved = x + self.size\nself.other = 7", 5, False),
    ],
)
def test_lines_change_a_module_and_may_keep_its_layers(lines, result, keeps_layers):
    wrong = WrongAnswer(right(MODULE), lines)
    assert wrong.answer(2).forward(3) == result
    assert wrong.keeps_layers is keeps_layers


def test_the_right_answer_is_left_as_it_was():
    answer = right(FUNCTION)
    assert WrongAnswer(answer, "half = total").answer(7) == 8
    assert WrongAnswer(answer, "return 0").answer(7) == 0
    assert answer.answer(7) == 4


def test_two_mistakes_are_joined_if_they_replace_different_names():
    answer = right(FUNCTION)
    doubled, unshifted = WrongAnswer(answer, "half = 2 * total"), WrongAnswer(answer, "total = x")
    assert doubled.together(unshifted).answer(7) == 14
    assert doubled.together(unshifted).parts == (doubled, unshifted)
    assert doubled.together(WrongAnswer(answer, "half = total")) is None
    assert doubled.together(WrongAnswer(answer, "def halved(x):\n    return x")) is None


def recorded(answer, inputs):
    """[(name, value)]: what each line of an answer sets when it is called."""
    record = []
    recording(answer, record)(inputs)
    return record


def test_an_answer_is_recorded_line_by_line():
    assert recorded(right(LOOP), [1, 2]) == [
        ("total", 0),
        ("return", 10),
        ("part", 10),
        ("total", 10),
        ("return", 20),
        ("part", 20),
        ("total", 30),
        ("count", 2),
        ("return", (30, 2)),
    ]


def test_a_wrong_answer_is_recorded_with_its_own_lines():
    wrong = WrongAnswer(right(FUNCTION), "half = -half")
    assert recorded(wrong, 7) == [("total", 8), ("half", 4), ("half", -4), ("return", -4)]


def test_names_of_a_comprehension_are_not_steps():
    source = "def even(numbers):\n    kept = [number for number in numbers if number % 2 == 0]\n    return kept\n"
    assert right(source).names == {"kept", "return"}
    assert recorded(right(source), [1, 2]) == [("kept", [2]), ("return", [2])]


COMPREHENSIONS = [
    ("total = [total for total in [x]][0]", 3.5),  # in place of `total = x + offset`
    ("total = [total for total in [total]][0]", 4),  # it reads what it sets, so it comes after
    ("total = [x for x in [x] if x][0]", 3.5),
    ("total = {x: total for x, total in [(1, x)]}[1]", 3.5),
]


@pytest.mark.parametrize(("line", "result"), COMPREHENSIONS)
def test_a_name_may_be_that_of_a_comprehension_too(line, result):
    assert WrongAnswer(right(FUNCTION), line).answer(7) == result
