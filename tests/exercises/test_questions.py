"""The questions: every choice is explained, every claim is computed, and nothing upsets `answer`."""

import io
import re
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import log
from time import process_time

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from question_proofs import PROOFS

from transformer_lessons.exercises import answer
from transformer_lessons.exercises.checker.parts import WIDTH
from transformer_lessons.exercises.checker.report import Report
from transformer_lessons.exercises.questions.kinds import (
    Choices,
    FreeText,
    Number,
    OneOf,
    Question,
    SeveralOf,
    Shape,
    Value,
)
from transformer_lessons.exercises.questions.lookup import LESSONS, all_questions
from transformer_lessons.exercises.questions.verdict import tell

QUESTIONS = all_questions()
CHOICES = [q for q in QUESTIONS.values() if isinstance(q, Choices)]
VALUES = [q for q in QUESTIONS.values() if isinstance(q, Value)]
TEXTS = [q for q in QUESTIONS.values() if isinstance(q, FreeText)]

# Their right choice is a conclusion; what it is drawn from is computed.
THEORY = {
    "6.10": "what to conclude from an impossible loss; computed is that it is impossible",
    "8.10": "what to conclude from an impossible loss; computed is that no guess beats the entropy",
}

# The classic curriculum's first-principles questions: those judged, and those in the learner's own words.
GROUPS = {
    "RNN and LSTM, recurrence and time": (["5.8", "5.9"], ["5.11", "5.12"]),
    "the dimensions of Q, K and V, other combinations": (["2.3", "2.4", "2.7", "2.8"], ["2.9", "2.10"]),
    "the dense layers of the blocks": (["7.9", "7.10"], ["7.13"]),
    "skip connections": (["7.4", "7.11", "7.12"], ["7.14"]),
}


def of(questions):
    return pytest.mark.parametrize("question", questions, ids=lambda question: question.number)


def wrong_answers(question):
    """Wrong answers to a question, each with what it should be told."""
    if isinstance(question, OneOf):
        return {letter: choice.why for letter, choice in question.lettered.items() if not choice.is_right}
    if isinstance(question, Choices):
        right = question.right_letters
        return {"".join(sorted(right | {x})): c.why for x, c in question.lettered.items() if not c.is_right}
    return {**question.slips, far_off(question): question.pointer}


def far_off(question):
    return (3, 1, 4, 1, 5) if isinstance(question, Shape) else -123456.5


def right_answer(question):
    return question.right_letters if isinstance(question, Choices) else question.right


def explanations(question):
    if isinstance(question, Choices):
        return [choice.why for choice in question.choices]
    if isinstance(question, Value):
        return [question.why, *question.slips.values(), question.pointer]
    return []


def sentences(text):
    return len(re.findall(r"[.!?]”?(?=\s|$)", text))


def flat(text):
    return " ".join(text.split())


# What is asked


def test_numbers_run_without_gaps_in_the_order_of_the_lessons():
    lessons = {lesson: [q for q in QUESTIONS if q.startswith(f"{lesson}.")] for lesson in LESSONS}
    assert list(QUESTIONS) == [q for lesson in lessons.values() for q in lesson]
    for lesson, numbers in lessons.items():
        assert numbers == [f"{lesson}.{index}" for index in range(1, len(numbers) + 1)]


def test_there_are_at_least_five_questions_a_lesson_and_forty_eight_in_all():
    assert len(QUESTIONS) >= 48
    for lesson in LESSONS:
        assert sum(q.startswith(f"{lesson}.") for q in QUESTIONS) >= 5


def test_every_lesson_has_three_predictions_and_ends_with_a_free_text():
    for lesson in LESSONS:
        questions = [q for number, q in QUESTIONS.items() if number.startswith(f"{lesson}.")]
        assert sum(not isinstance(q, FreeText) for q in questions) >= 3
        assert isinstance(questions[-1], FreeText)


@pytest.mark.parametrize("group", GROUPS)
def test_each_group_of_first_principles_is_checked_and_put_in_words(group):
    judged, in_words = GROUPS[group]
    assert not any(isinstance(QUESTIONS[number], FreeText) for number in judged)
    assert all(isinstance(QUESTIONS[number], FreeText) for number in in_words)


def test_titles_differ_and_end_without_a_stop():
    titles = [question.title for question in QUESTIONS.values()]
    assert len(set(titles)) == len(titles)
    assert all(re.fullmatch(r"[A-Z].*\w", title) for title in titles)


# What is said


@of(CHOICES)
def test_a_choice_question_has_three_to_five_choices_and_the_right_ones_are_declared(question):
    assert 3 <= len(question.choices) <= 5
    right = len(question.right_letters)
    assert right == 1 if isinstance(question, OneOf) else 1 <= right < len(question.choices)


def test_the_right_letter_cannot_be_guessed_from_its_place():
    letters = [letter for q in CHOICES if isinstance(q, OneOf) for letter in q.right_letters]
    assert all(letters.count(letter) >= 5 for letter in "abcd")
    assert not re.search(r"(.)\1\1", "".join(letters))  # never the same place three times running


@of(QUESTIONS.values())
def test_every_explanation_is_one_to_three_sentences(question):
    for text in explanations(question):
        assert 1 <= sentences(text) <= 3, text
        assert re.search(r"[.?]”?$", text), text


def test_no_two_explanations_are_the_same():
    texts = [text for question in QUESTIONS.values() for text in explanations(question)]
    assert {text for text in texts if texts.count(text) > 1} == set()


@of(QUESTIONS.values())
def test_the_prose_is_friendly_and_plain(question):
    said = repr(question).lower()
    assert not re.search(r"\b(simply|obviously|clearly|trivial\w*|of course)\b|\b(e\.g\.|i\.e\.)", said)
    assert not re.search(r"\b(?!(token|s)iz)\w+iz(e|es|ed|ing|ation)\b", said)  # British: -ise
    assert not re.search(r"\b(color|behavior|center|neighbor)s?\b", said)
    assert "—" not in said


@of(VALUES)
def test_slips_are_wrong_and_differ_from_each_other(question):
    values = [question.right, *question.slips]
    for one, other in combinations(values, 2):
        assert not question.same(one, other), (one, other)
    assert len(question.slips) >= 2


@of(TEXTS)
def test_a_free_text_has_a_model_answer_and_points_to_compare(question):
    assert len(question.points) >= 3
    assert 3 <= sentences(question.model) <= 6


# Every claim is computed


def test_every_question_has_a_proof_and_every_proof_a_question():
    assert set(PROOFS) == set(QUESTIONS)
    assert set(THEORY) <= {question.number for question in CHOICES}
    assert all(THEORY.values())


@of([q for q in QUESTIONS.values() if q not in TEXTS and q.number not in THEORY])
def test_the_right_answer_and_every_slip_are_what_a_computation_gives(question):
    proven = PROOFS[question.number]()
    if isinstance(question, Choices):
        assert set(proven) == set(question.lettered)
        assert {letter for letter, is_right in proven.items() if is_right} == question.right_letters
        return
    assert len(proven) == 1 + len(question.slips)
    for declared, computed in zip([question.right, *question.slips], proven, strict=True):
        if isinstance(question, Shape):
            assert declared == tuple(computed)
        elif computed is not None:  # None: a slip that no computation makes
            assert float(computed) == pytest.approx(declared, rel=1e-6, abs=1e-12)


@of([q for q in QUESTIONS.values() if q in TEXTS or q.number in THEORY])
def test_what_a_model_answer_or_a_conclusion_rests_on_is_computed(question):
    assert PROOFS[question.number]() is None  # asserts inside


def test_only_few_slips_are_left_uncomputed():
    uncomputed = [q.number for q in VALUES for value in PROOFS[q.number]() if value is None]
    assert uncomputed == ["5.8"]


# Verdicts


@of(QUESTIONS.values())
def test_without_a_value_the_question_is_shown(question, capsys):
    report = answer(question.number)
    assert report.status == "not attempted"
    assert report.message.splitlines()[0] == f"○ {question.number} {question.title}"
    assert flat(question.text) in flat(report.message)
    for letter, choice in getattr(question, "lettered", {}).items():
        assert f"{letter}) {choice.text}" in flat(report.message)
    for text in [*explanations(question), getattr(question, "model", None) or "no model"]:
        assert flat(text) not in flat(report.message)
    assert f'answer("{question.number}", ' in report.message
    assert capsys.readouterr().out == report.message + "\n"
    shown = {answer(question.number, nothing).message for nothing in (None, ..., "", "  ", "...", "…")}
    assert shown == {report.message}


@of([*CHOICES, *VALUES])
def test_the_right_answer_is_confirmed_and_explained(question):
    report = answer(question.number, right_answer(question))
    assert report.status == "passed"
    assert report.message.splitlines()[0] == f"✓ {question.number} {question.title}: right"
    whys = [c.why for c in question.choices if c.is_right] if isinstance(question, Choices) else [question.why]
    assert all(flat(why) in flat(report.message) for why in whys)


@of([*CHOICES, *VALUES])
def test_a_wrong_answer_gets_its_own_explanation_and_another_try(question):
    for value, why in wrong_answers(question).items():
        report = answer(question.number, value)
        assert report.status == "failed"
        assert report.message.splitlines()[0] == f"✗ {question.number} {question.title}: not yet"
        assert flat(why) in flat(report.message)
        assert f'Try again with {question.asks_for}: answer("{question.number}", ' in report.message
        others = [text for text in explanations(question) if text != why]
        assert not any(flat(text) in flat(report.message) for text in others)


@of(CHOICES)
def test_a_wrong_verdict_names_no_right_choice(question):
    for value in wrong_answers(question):
        said = flat(answer(question.number, value).message)
        for choice in question.lettered.values():
            if choice.is_right:
                assert flat(choice.why) not in said
                assert choice.text.rstrip(".") not in said.split(":", 1)[1]


@of(VALUES)
def test_a_wrong_verdict_does_not_contain_the_right_value(question):
    rounded = question.right if isinstance(question, Shape) else round(question.right, 2)
    right = {question.say(question.right), question.say(rounded), str(question.right)} - {"0"}
    for value in wrong_answers(question):
        said = flat(answer(question.number, value).message).split("not yet", 1)[1]
        said = said.replace(f'answer("{question.number}"', "").removeprefix(f" You answered {question.say(value)}.")
        for form in right:
            assert not re.search(rf"(?<![\w.,]){re.escape(form)}(?![\w]|[.,]\d)", said), (form, said)


@of([q for q in CHOICES if not isinstance(q, OneOf)])
def test_every_set_of_letters_is_checked_by_what_it_holds(question):
    for size in range(1, len(question.choices) + 1):
        for letters in combinations(question.lettered, size):
            report = answer(question.number, letters)
            said = flat(report.message)
            mistaken = [question.lettered[x] for x in letters if not question.lettered[x].is_right]
            assert report.status == ("passed" if set(letters) == question.right_letters else "failed")
            assert all(flat(choice.why) in said for choice in mistaken)
            if report.status == "failed":
                assert "Try again" in said
                assert not any(flat(choice.why) in said for choice in question.choices if choice.is_right)
            if not mistaken and report.status == "failed":
                assert "something is missing" in said
            assert len(report.message.splitlines()) <= 12


@of(TEXTS)
def test_a_free_text_is_thanked_and_shown_the_model_answer(question):
    report = answer(question.number, "It is my own text, and may be in any words.")
    assert report.status == "passed"
    assert report.message.splitlines()[0] == f"✓ {question.number} {question.title}: answered"
    assert "Thank you" in report.message
    assert flat(question.model) in flat(report.message)
    assert all(f"- {point}" in flat(report.message) for point in question.points)


@of(QUESTIONS.values())
def test_every_message_has_at_most_twelve_lines_that_fit_a_screen(question):
    if isinstance(question, FreeText):
        values = [None, "words", 7]
    else:
        values = [None, right_answer(question), *wrong_answers(question), object(), float("nan"), "zzz"]
    for value in values:
        lines = answer(question.number, value).message.splitlines()
        assert 2 <= len(lines) <= 12
        assert all(len(line) <= WIDTH for line in lines)
        assert lines[0][:2] in ("✓ ", "✗ ", "○ ")


@of(QUESTIONS.values())
def test_the_same_answer_gets_the_same_reply_again(question):
    assert answer(question.number, "b").message == answer(question.number, "b").message


def test_the_report_is_not_printed_a_second_time_in_a_notebook():
    formatters = pytest.importorskip("IPython.core.formatters")
    report = answer("1.1")
    assert formatters.DisplayFormatter().format(report) == ({}, {})
    assert repr(report) == "<1.1: not attempted>"


def test_a_screen_without_ticks_gets_the_verdict_too(monkeypatch):
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", screen)
    assert answer("3.2", "b").status == "passed"
    screen.flush()
    assert screen.buffer.getvalue().startswith(b"OK 3.2 Find the wrong step")


# Lenient


@pytest.mark.parametrize(
    "spelling",
    [
        "b",
        "B",
        " b ",
        "b)",
        "(b)",
        "b.",
        "B:",
        '"b"',
        ["b"],
        ("b",),
        {"b"},
        frozenset("b"),
        np.str_("b"),
        [" B) "],
    ],
    ids=repr,
)
def test_one_letter_can_be_written_in_many_ways(spelling):
    assert answer("3.2", spelling).status == "passed"


@pytest.mark.parametrize(
    "spelling",
    [
        "ac",
        "AC",
        "a, c",
        "a,c",
        "c a",
        "a and c",
        "a) and c)",
        "a; c",
        "a+c",
        ["a", "c"],
        ("c", "a"),
        pytest.param({"a", "c"}, id="a set"),  # whose own order is another in each process
        ["a, c"],
    ],
    ids=repr,
)
def test_several_letters_can_be_written_in_many_ways(spelling):
    assert answer("5.9", spelling).status == "passed"


@pytest.mark.parametrize(
    "spelling",
    [
        0.5,
        "0.5",
        " 0.5 ",
        "0,5",
        "1/2",
        " 1 / 2 ",
        "50%",
        "50 %",
        ".5",
        "5e-1",
        "0,500",
        "2**-1",
        "2^-1",
        "2 ** −1",
        "sqrt(0.25)",
        "√0,25",
        "exp(-ln 2)",
        "(1 + 2) / 6",
        "1 ÷ 2",
        "+0.5",
        "[0.5]",
        Fraction(1, 2),
        Decimal("0.5"),
    ]
    + [
        [0.5],
        (0.5,),
        ["0.5"],
        [np.float32(0.5)],
        np.float32(0.5),
        np.array(0.5),
        np.array([0.5]),
        torch.tensor(0.5),
        torch.tensor([0.5], requires_grad=True),
    ],
    ids=repr,
)
def test_one_half_can_be_written_in_many_ways(spelling):
    assert answer("6.3", spelling).status == "passed"


@pytest.mark.parametrize(
    "spelling",
    [
        1050624,
        1050624.0,
        "1050624",
        "1,050,624",
        "1 050 624",
        "1_050_624",
        "1.050.624",
        "1.050.624,0",
        "1’050’624",
        "4*512*513",
        "4 x 512 x 513",
        "4 × 512 × 513",
        "4·512·513",
        "2 * 512 * 1,026",
        "4*(512*512 + 512)",
        np.int64(1050624),
        torch.tensor(1050624),
    ],
    ids=repr,
)
def test_a_large_number_can_be_written_in_many_ways(spelling):
    assert answer("4.7", spelling).status == "passed"


@pytest.mark.parametrize(
    "spelling",
    [(10, 10), [10, 10], torch.Size([10, 10]), "(10, 10)", "[10, 10]", "10, 10", "10 10", "10x10", "10 × 10"]
    + [
        "10 by 10",
        "torch.Size([10, 10])",
        np.array([10, 10]),
        torch.tensor([10, 10]),
        (10.0, np.int64(10)),
        np.zeros((10, 10)).shape,
    ],
    ids=repr,
)
def test_a_shape_can_be_written_in_many_ways(spelling):
    assert answer("1.6", spelling).status == "passed"


@pytest.mark.parametrize("spelling", [(0,), [0], "(0,)", "[0]", "0,", np.zeros(0).shape], ids=repr)
def test_a_shape_of_one_dimension_is_written_with_brackets(spelling):
    assert QUESTIONS["1.6"].read(spelling) == (0,)


@pytest.mark.parametrize("spelling", [0, "0", np.int64(0), torch.tensor(0), 10], ids=repr)
def test_a_bare_number_is_not_a_shape(spelling):
    report = answer("1.6", spelling)
    assert report.status == "not attempted"
    assert "A shape has brackets, also where it is a single size, as in (3,)." in report.message


def test_several_values_are_one_answer():
    assert answer("1.6", 10, 10).message == answer("1.6", (10, 10)).message
    assert answer("1.7", "c", "a").message == answer("1.7", "a, c").message
    assert "only one of the choices is right" in answer("1.2", "a", "b").message
    assert "This question is answered with a single number." in answer("1.1", 1, 2).message
    assert answer("1.6").status == answer("1.6", None).status == "not attempted"


def test_a_negative_number_may_have_a_real_minus():
    assert answer("3.1", "−64").message == answer("3.1", -64).message


@pytest.mark.parametrize("number", ["3.2", " 3.2 ", "Q3.2", "question 3.2", "3,2", "3-2", "3.02", 3.2, np.float64(3.2)])
def test_the_number_of_a_question_can_be_written_in_many_ways(number):
    assert answer(number, "b").status == "passed"


@pytest.mark.parametrize(
    ("number", "text", "value"),
    [
        ("1.1", "10**-6", 1e-6),
        ("1.1", "10^-6", 1e-6),
        ("1.1", "1.1**10", 1.1**10),
        ("1.1", "1,1**10", 1.1**10),
        ("1.1", "ln 8", log(8)),
        ("1.1", "ln(8)", log(8)),
        ("1.1", "log 8", log(8)),
        ("1.1", "-ln 8", -log(8)),
        ("1.1", "2*ln 8", 2 * log(8)),
        ("1.1", "ln(8) / ln(2)", 3),
        ("1.1", "2^10", 1024),
        ("1.1", "007", 7),
        ("1.1", "0,731", 0.731),
        ("1.1", "12 345,5", 12345.5),
        ("1.1", "25%", 0.25),
        ("1.1", "1.5e3", 1500),
    ],
)
def test_a_number_may_be_left_to_be_worked_out(number, text, value):
    assert QUESTIONS[number].read(text) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').getcwd()",
        "print(1)",
        "exit()",
        "(lambda: 1)()",
        "[1 for _ in 'ab']",
        "1 if 1 else 2",
        "1 < 2",
        "9**9**9**9",
        "exp(1e9)",
        "ln 0",
        "sqrt(-1)",
        "1/0",
        "1 // 0",
        "7 % 4",
        "1 2",
        "~1",
        "1j",
        "'a'",
        "ln",
        "ln(1, 2)",
        "log(8, base=2)",
        "ln.real",
        "(" * 150,
        "-" * 150 + "x",
        "1" * 9999,
        "four",
        "pi",
        "1:2",
        "1; 2",
        "x := 1",
        "[[[[1]]]]",
        "f'{1}'",
    ],
)
def test_what_is_no_arithmetic_is_not_worked_out(text):
    report = answer("1.1", text)
    assert (report.status, report.message.splitlines()[1]) == ("not attempted", "This cannot be read as a number.")


def test_arithmetic_takes_no_time():
    start = process_time()
    for text in ("9**9**9**9**9", "9**99999999", "1e308**1e308", "(9**999)**999", "-" * 199 + "1", "2**" * 60 + "2"):
        answer("1.1", text)
    assert process_time() - start < 1


def test_numbers_are_compared_to_the_decimals_asked_for():
    for value in (0.73, 0.731, 0.7310585786, "0.73"):
        assert answer("3.3", value).status == "passed"
    for value in (0.72, 0.74, 0.7):
        assert answer("3.3", value).status == "failed"
    assert answer("4.7", 1_050_625).status == "failed"


# Unshakable


class Hostile:
    """Raises whatever is done with it."""

    def refuse(self, *args, **kwargs):
        raise RuntimeError("hands off")

    __eq__ = __str__ = __repr__ = __bool__ = __len__ = __iter__ = __float__ = __int__ = __index__ = __format__ = refuse
    __hash__ = __getitem__ = __getattr__ = __contains__ = __lt__ = __array__ = refuse


class Pretender:
    @property
    def __class__(self):
        raise RuntimeError("hands off")


class EndlessList(list):
    def __iter__(self):
        while True:
            yield 1


class RudeText(str):
    def strip(self, *args):
        raise RuntimeError("hands off")

    lower = split = __eq__ = __str__ = strip
    __hash__ = str.__hash__


HOSTILE = {
    "hostile": Hostile(),
    "pretender": Pretender(),
    "endless list": EndlessList(),
    "rude text": RudeText("b"),
    "a class": Hostile,
    "nan": float("nan"),
    "infinity": float("-inf"),
    "nan in words": "nan",
    "huge": 10**5000,
    "huge in words": "9" * 5000,
    "huge exponent": "1e999999999",
    "division by zero": "1/0",
    "complex": 1 + 2j,
    "yes": True,
    "bytes": b"b",
    "dictionary": {"b": 1},
    "no letters": [],
    "nested": [[["b"], ["b"]], [1]],
    "a tensor": torch.zeros(2, 3),
    "tensors": [torch.zeros(2, 3)],
    "an empty array": np.zeros((0, 3)),
    "not a number in a shape": (float("nan"), 2),
    "negative shape": (-1, 2),
    "half a shape": (1.5, 2),
    "true shape": (True, True),
    "endless shape": (1,) * 10**6,
    "huge shape": (10**400, 2),
    "text": "The quick brown fox jumps over the lazy dog, and b is what I mean.",
    "every letter there is": "".join(map(chr, range(0x100, 0xD7FF))),
    "null": "\0",
    "half a character": "\ud800",
    "a function": lambda: "b",
    "a generator": (letter for letter in "b"),
    "the question": QUESTIONS["1.1"],
    "answer itself": answer,
}


@pytest.mark.parametrize("number", ["1.1", "1.2", "1.6", "1.7", "1.9", "4.7"])
@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_is_answered_gets_a_sentence(name, number):
    report = answer(number, HOSTILE[name])
    lines = report.message.splitlines()
    assert report.status in ("passed", "failed", "not attempted")
    assert lines[0].startswith(("✓", "✗", "○"))
    assert 2 <= len(lines) <= 12
    assert all(len(line) <= WIDTH for line in lines)
    assert "Error" not in report.message
    assert "object at" not in report.message


@pytest.mark.parametrize("name", ["hostile", "pretender", "nan", "complex", "yes", "bytes", "a tensor", "a function"])
@pytest.mark.parametrize("question", [q for q in QUESTIONS.values() if q.number in ("1.1", "1.2", "1.6", "1.7", "1.9")])
def test_what_cannot_be_checked_is_not_attempted(question, name):
    assert answer(question.number, HOSTILE[name]).status == "not attempted"


@pytest.mark.parametrize(
    ("number", "value", "sentence"),
    [
        ("1.2", "e", "There is no choice e: the choices are a, b, c and d."),
        ("1.2", "ab", "You named a and b: only one of the choices is right."),
        ("1.2", "(3, 3)", "please answer with the letter of a choice"),
        ("1.2", 2, "This question is answered with letters, in quotation marks."),
        ("1.7", "af", "There is no choice f: the choices are a, b, c, d and e."),
        ("1.2", "the third one", "letters alone, without their text"),
        ("1.2", "c) (3, 3)", "letters alone, without their text"),
        ("1.2", "answer c", "letters alone, without their text"),
        ("1.2", ["answer c"], "letters alone, without their text"),
        ("1.2", "same", "letters alone, without their text"),
        ("1.2", "NaN", "letters alone, without their text"),
        ("1.2", "nan", "letters alone, without their text"),
        ("1.7", "c) and a), the same", "letters alone, without their text"),
        ("1.2", "c2", "letters alone, without their text"),
        ("1.2", "z", "There is no choice z: the choices are a, b, c and d."),
        ("1.2", "the quick brown fox", "letters alone, without their text"),
        ("1.1", float("nan"), "The answer is a finite number; this is none."),
        ("1.1", "NaN", "The answer is a finite number; this is none."),
        ("1.1", "-inf", "The answer is a finite number; this is none."),
        ("1.1", "(-8)**0.5", "This question is answered with an ordinary number."),
        ("1.1", [], "This question is answered with a single number."),
        ("1.1", [1, 2], "This question is answered with a single number."),
        ("1.1", "[1, 2]", "This question is answered with a single number."),
        ("1.1", "(1, 2)", "This question is answered with a single number."),
        ("1.1", [[1, 2]], "This cannot be read as a number."),
        ("1.1", "four", "This cannot be read as a number."),
        ("1.1", True, "This question is answered with an ordinary number."),
        ("1.6", {10}, "A shape has an order: write it with round brackets, as in (2, 3)."),
        ("1.6", (1.5, 2), "A shape consists of whole numbers, as in (2, 3)."),
        ("1.6", "10 by ten", "A shape consists of whole numbers, as in (2, 3)."),
        ("1.6", "by", "A shape consists of whole numbers, as in (2, 3)."),
        ("1.6", "ten by ten", "A shape consists of whole numbers, as in (2, 3)."),
        ("1.6", (1,) * 10, "A shape has one number for each dimension; these are too many."),
        ("1.9", 5, "This question is answered with a text, in quotation marks."),
        ("1.9", "!!", "There are no words in this text."),
        ("1.9", "b", "A single character is not an answer to this question."),
        ("1.9", " c) ", "A single character is not an answer to this question."),
        ("1.9", "7", "A single character is not an answer to this question."),
    ],
)
def test_an_answer_of_the_wrong_kind_gets_the_kind_that_is_meant(number, value, sentence):
    report = answer(number, value)
    assert report.status == "not attempted"
    assert sentence in report.message
    assert f'answer("{number}", ' in report.message.splitlines()[-1]


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        ("3.12", "There is no question 3.12; close to it are 3."),
        ("13.1", "There is no question 13.1; close to it are "),
        ("0.0", "There is no question 0.0; close to it are "),
        ("softmax", 'Questions have numbers in quotation marks, as in answer("1.1").'),
        (None, 'Questions have numbers in quotation marks, as in answer("1.1").'),
        (3, 'Questions have numbers in quotation marks, as in answer("1.1").'),
        (True, "Questions have numbers in quotation marks"),
        (float("nan"), "Questions have numbers in quotation marks"),
        ([3, 2], "Questions have numbers in quotation marks"),
        ("9" * 5000, "Questions have numbers in quotation marks"),
        (Hostile(), "Questions have numbers in quotation marks"),
        (Pretender(), "Questions have numbers in quotation marks"),
        (answer, "Questions have numbers in quotation marks"),
        (5.1, 'Is it "5.1" or "5.10"? Please write the number in quotation marks.'),
    ],
    ids=[
        "3.12",
        "13.1",
        "0.0",
        "word",
        "none",
        "int",
        "bool",
        "nan",
        "list",
        "long",
        "hostile",
        "pretender",
        "fn",
        "5.1",
    ],
)
def test_an_unknown_number_gets_the_numbers_there_are(number, sentence):
    report = answer(number, "b")
    assert report.status == "not attempted"
    assert report.message.startswith("○ No such question\n")
    assert sentence in report.message
    for named in re.findall(r"\d+\.\d+", sentence.split(";")[-1]):
        assert named in QUESTIONS


@pytest.mark.parametrize("number", ["3.12", "8.199"])
def test_the_questions_named_as_close_exist_and_are_in_order(number):
    said = answer(number, "b").message
    close = re.findall(r"\d+\.\d+", said.split(";")[1])
    assert len(close) == 3
    assert all(other in QUESTIONS and other.startswith(number[:2]) for other in close)
    assert close == sorted(close, key=lambda other: int(other[2:]))


@pytest.mark.parametrize(("mark", "indent"), [("b) ", "   "), ("- ", "  "), ("", "")])
def test_a_long_line_hangs_below_its_letter_and_breaks_at_no_hyphen(mark, indent):
    lines = tell(Report("1.1", "failed"), [mark + "one-two " * 40]).message.splitlines()[1:]
    assert len(lines) == 4
    assert all(line.startswith(indent + "one") for line in lines[1:])
    assert all(line.endswith("one-two") for line in lines)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.complex_numbers(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(number=st.sampled_from(list(QUESTIONS)), value=anything)
def test_any_value_at_all_is_answered_in_at_most_twelve_lines(number, value):
    report = answer(number, value)
    assert report.status in ("passed", "failed", "not attempted")
    assert 2 <= len(report.message.splitlines()) <= 12


@settings(max_examples=100, deadline=None, derandomize=True)
@given(number=anything)
def test_any_number_at_all_is_answered(number):
    assert answer(number).status == "not attempted"


def test_a_question_is_declared_without_a_kind_of_its_own_class():
    assert {type(question) for question in QUESTIONS.values()} == {OneOf, SeveralOf, Number, Shape, FreeText}
    assert all(isinstance(question, Question) for question in QUESTIONS.values())
