"""Questions to be clicked or filled in."""

import base64
import json
import re
from functools import partial
from html import escape
from textwrap import dedent

from markup import coloured, fold, html, with_subscripts

from transformer_lessons.exercises.questions.clicked import what_is_told
from transformer_lessons.exercises.questions.kinds import Choices, FreeText


def question_html(question, answered):
    """A question to be clicked or filled in. If it is `answered`, its model answer follows on the page anyway."""
    said = partial(in_html, variables=not question.number.startswith(LETTERS))
    text = "".join(
        f'<pre class="highlight">{coloured(dedent(part))}</pre>\n'
        if part.startswith("    ")
        else f"<p>{said(part)}</p>\n"
        for part in blocks(question.text)
    )
    if isinstance(question, Choices):
        ask = "Choose one." if question.kind == "choice" else "Choose every one that you think is right."
        choices = "".join(
            f'<details class="choice"><summary><b>{letter}</b>{said(choice.text)}</summary>'
            f'<p class="{"right" if choice.is_right else "wrong"}">'
            f"{'✓ Right.' if choice.is_right else '✗ No.'} {said(choice.why)}</p></details>\n"
            for letter, choice in question.lettered.items()
        )
        body = f"<p><em>{ask}</em></p>\n{choices}"
    elif isinstance(question, FreeText):
        body = "" if answered else fold("A model answer", f"<p>{said(question.model)}</p>")
    else:
        body = field(question, said)
    title = f"<p><strong>{question.number} {html(question.title)}</strong></p>"
    number = question.number
    return f'<div class="question" data-question="{number}" id="question-{number}">\n{title}\n{text}{body}</div>\n'


INNER = r"\([^()]*(?:\([^()]*\)[^()]*)*\)"  # brackets, with brackets inside
MATHS = "(?:PE|exp|softmax|sin|cos|tanh|ln|log|min|max)"  # functions of a formula, not of Python
CODE = re.compile(
    r"(`[^`]+`|\bx = [\w() +]+\)"
    rf"|(?:\b[a-z]\w* = )?\b(?!{MATHS}\()[A-Za-z_][\w.]*\w(?:{INNER}|\[[\w, ]+\])(?:\.\w+(?:{INNER})?)*"
    r"|\b[\w.]+ @ [\w.]*\w|\b(?:nn|torch)\.\w+|\b[a-z]\.T\b|\b\w\[[\w, ]+\]"
    r"|\((?=[^)]*(?:batch|_))[a-z_]+(?:, [a-z_]+)+\)|\[[][\d., -]*\]"
    r"|\b[a-z]\w+=-?\w+|\b[A-Za-z][\w.]*_[a-z]\w+(?:=\w+)?|\b[a-z]\w+_[a-z]\b|\b(?:tokenize|view)\b)"
)
VARIABLE = re.compile(
    r"(?<![^\W\dωᵀ])(?<!['’“&])"
    r"(?:(?<!\d)(?:QK|[BKMQVWX])|[b-fh-kmnp-z]|A(?= [+(\d]| and)|a(?= \+ b\)|\)))"
    r"(?=[ᵀ²]|[^\w'’”]|$)(?!_)"
)
LETTERS = ("9.", "11.")  # in these lessons, a single letter is a piece of a text


def in_html(text, variables=True):
    """A question's text; code in it, such as row[1] or d_model, is marked even without backticks, which a terminal
    would print; variables slant, and of x_i the index stands below.
    """
    return "".join(
        html(f"`{part.strip('`')}`") if number % 2 else formula(escape(part, quote=False), variables)
        for number, part in enumerate(CODE.split(text))
    )


def formula(text, variables):
    """Prose with its variables as formulas have them."""
    text = re.sub(r"(?<=[\w)|²ᵀ∞]) - (?=[\w(|])|(?<![\w)|])-(?=[|∞])", lambda minus: minus[0].replace("-", "−"), text)
    slanted = VARIABLE.sub(r"<i>\g<0></i>", text) if variables else text
    return with_subscripts(slanted, "A-Za-z")


def blocks(text):
    """The paragraphs of a question's text, and its code, which is indented."""
    return [part.strip("\n") for part in re.findall(r"(?:^    .*\n?)+|(?:^(?!    ).+\n?)+", text, flags=re.MULTILINE)]


def field(question, shown=in_html):
    """A field for a number or a shape; the explanations travel with the page, but out of plain sight."""
    say = question.say
    told = what_is_told(question, shown)
    hidden = base64.b64encode(json.dumps(told, ensure_ascii=False).encode()).decode()
    ask = "Shape" if told["shape"] else "Number"
    items = "".join(
        f"<li>✗ <strong>{html(say(slip))}:</strong> {shown(why)}</li>" for slip, why in question.slips.items()
    )
    answer = fold(
        "The answer, and why",
        f'<ul class="explained"><li>✓ <strong>{html(say(question.right))}:</strong> '
        f"{shown(question.why)}</li>{items}</ul>",
    )
    return (
        f'<form class="field" data-told="{hidden}"><label>{ask}: <input name="answer" autocomplete="off"></label> '
        f"<button>Check</button> <output></output></form>\n{answer}"
    )
