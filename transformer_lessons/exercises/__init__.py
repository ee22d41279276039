"""The exercises: `check` tests an answer and names the mistake, `answer` marks a question.

    from transformer_lessons.exercises import check, answer, hint, solution

`hint` and `solution` help. Each exercise is a page in catalogue/, whose README.md explains the form.
"""

from transformer_lessons.exercises.checker.help import hint, solution
from transformer_lessons.exercises.checker.verdict import check
from transformer_lessons.exercises.questions.verdict import answer
from transformer_lessons.running.global_state import namespaces

__all__ = ["answer", "check", "hint", "solution"]

namespaces.extend()  # what the checks restore if an answer has replaced it
