"""A question's card that can be clicked or filled in, where a script runs; elsewhere it stays the text that it was.

It needs neither kernel nor network. What is clicked is kept by the browser; what is typed, `answer("1.2", "b")`, is
what nbval compares and `mark` reads.
"""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformer_lessons.exercises.checker.card import marked_up
from transformer_lessons.exercises.questions.kinds import Choices, Question, Shape, Value

SCRIPTS = [Path(__file__).with_name(name) for name in ("answers.js", "clicked.js")]


def blocks(question: Question, paragraphs: list[str]) -> list[str]:
    """The blocks of a question's card; the paragraph that says how to answer holds what the script behind it reads."""
    told = what_is_told(question)
    if told is None:
        return paragraphs
    hidden = base64.b64encode(json.dumps(told, ensure_ascii=False).encode()).decode()  # out of plain sight
    code = "\n".join(path.read_text(encoding="utf-8") for path in SCRIPTS)
    *paragraphs, last = paragraphs
    return [*paragraphs, last.replace("<p>", f'<p data-told="{hidden}">', 1), f"<script>\n{code}</script>"]


def what_is_told(question: Question, marked_up: Callable[[str], str] = marked_up) -> dict[str, Any] | None:
    """What is right, what is wrong, and why, as HTML; None for a free text, which no script can judge."""
    if isinstance(question, Choices):
        choices = [
            {"letter": letter, "right": choice.is_right, "why": marked_up(choice.why)}
            for letter, choice in question.lettered.items()
        ]
        return {"number": question.number, "choices": choices}
    if isinstance(question, Value):
        return {
            "number": question.number,
            "shape": isinstance(question, Shape),
            "right": question.right,
            "why": marked_up(question.why),
            "pointer": marked_up(question.pointer),
            "tolerance": question.tolerance,
            "slips": [[slip, marked_up(why)] for slip, why in question.slips.items()],
        }
    return None
