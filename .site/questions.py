"""Questions to be clicked or filled in."""

import base64
import json
import re
from textwrap import dedent

from markup import coloured, fold, html, with_subscripts

from transformer_lessons.exercises.questions.clicked import what_is_told
from transformer_lessons.exercises.questions.kinds import Choices, FreeText


def question_html(question, answered):
    """A question to be clicked or filled in. If it is `answered`, its model answer follows on the page anyway."""
    text = "".join(
        f'<pre class="highlight">{coloured(dedent(part))}</pre>\n'
        if part.startswith("    ")
        else f"<p>{in_html(part)}</p>\n"
        for part in blocks(question.text)
    )
    if isinstance(question, Choices):
        ask = "Choose one." if question.kind == "choice" else "Choose every one that you think is right."
        choices = "".join(
            f'<details class="choice"><summary><b>{letter}</b>{in_html(choice.text)}</summary>'
            f'<p class="{"right" if choice.is_right else "wrong"}">'
            f"{'✓ Right.' if choice.is_right else '✗ No.'} {in_html(choice.why)}</p></details>\n"
            for letter, choice in question.lettered.items()
        )
        body = f"<p><em>{ask}</em></p>\n{choices}"
    elif isinstance(question, FreeText):
        body = "" if answered else fold("A model answer", f"<p>{in_html(question.model)}</p>")
    else:
        body = field(question)
    title = f"<p><strong>{question.number} {html(question.title)}</strong></p>"
    number = question.number
    return f'<div class="question" data-question="{number}" id="question-{number}">\n{title}\n{text}{body}</div>\n'


def in_html(text):
    """A question's text; code in it, such as row[1] or d_model, is marked even without backticks, which a terminal
    would print, and of x_i the index stands below.
    """
    code = (
        r"`[^`]+`|\b\w+ @ [\w.]+\w|\b\w[\w.]*(?:\[[\w, ]+\]|\(\))|\b[A-Za-z][\w.]*_[a-z]\w+(?:=\w+)?|\b[a-z]\w+_[a-z]\b"
    )
    parts = re.split(f"({code})", text)
    return "".join(
        html(f"`{part.strip('`')}`") if number % 2 else with_subscripts(html(part), "A-Za-z")
        for number, part in enumerate(parts)
    )


def blocks(text):
    """The paragraphs of a question's text, and its code, which is indented."""
    return [part.strip("\n") for part in re.findall(r"(?:^    .*\n?)+|(?:^(?!    ).+\n?)+", text, flags=re.MULTILINE)]


def field(question):
    """A field for a number or a shape; the explanations travel with the page, but out of plain sight."""
    say = question.say
    told = what_is_told(question, in_html)
    hidden = base64.b64encode(json.dumps(told, ensure_ascii=False).encode()).decode()
    ask = "Shape" if told["shape"] else "Number"
    items = "".join(
        f"<li>✗ <strong>{html(say(slip))}:</strong> {in_html(why)}</li>" for slip, why in question.slips.items()
    )
    answer = fold(
        "The answer, and why",
        f'<ul class="explained"><li>✓ <strong>{html(say(question.right))}:</strong> '
        f"{in_html(question.why)}</li>{items}</ul>",
    )
    return (
        f'<form class="field" data-told="{hidden}"><label>{ask}: <input name="answer" autocomplete="off"></label> '
        f"<button>Check</button> <output></output></form>\n{answer}"
    )
