"""All questions, and the one that a learner means. A lesson's page is read when one of its questions is asked for."""

import difflib
from functools import cache
from pathlib import Path

from transformer_lessons.basis.numbers import number_of
from transformer_lessons.exercises.questions.kinds import Question
from transformer_lessons.exercises.questions.question_pages import read_page
from transformer_lessons.exercises.questions.reading import Unreadable, listed

LESSONS = sorted(int(path.stem.rpartition("_")[2]) for path in Path(__file__).parent.glob("lesson_*.md"))


@cache
def questions_of(lesson: int) -> dict[str, Question]:
    """The questions of a lesson by their numbers, in order."""
    questions = read_page(Path(__file__).with_name(f"lesson_{lesson}.md"))
    return {question.number: question for question in questions}


@cache
def all_questions() -> dict[str, Question]:
    """Every question by its number, in the order of the lessons."""
    return {number: question for lesson in LESSONS for number, question in questions_of(lesson).items()}


def find(number: object) -> Question:
    """The question with this number: "3.2", or whatever else can only mean 3.2."""
    wanted = number_of(number)
    if wanted is None:
        raise Unreadable('Questions have numbers in quotation marks, as in answer("1.1").')
    lesson = int(wanted.partition(".")[0])
    questions = questions_of(lesson) if lesson in LESSONS else {}
    if not isinstance(number, str) and f"{wanted}0" in questions:
        raise Unreadable(f'Is it "{wanted}" or "{wanted}0"? Please write the number in quotation marks.')
    if wanted in questions:
        return questions[wanted]
    close = difflib.get_close_matches(wanted, questions or all_questions(), n=3, cutoff=0)
    raise Unreadable(f"There is no question {wanted}; close to it are {listed(close)}.")
