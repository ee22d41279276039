"""Questions: what a learner predicts or chooses, and what each answer is told.

A question is one declaration in `questions_1.py` … `questions_8.py`, of one of five kinds: `OneOf`, a choice;
`SeveralOf`, every choice that is right; `Number`; `Shape`; `FreeText`. Every choice has its own explanation,
and so has every wrong number or shape that is common enough to be declared as a slip.

    OneOf(
        "9.1",  # lesson.index, without gaps
        "Twice nothing",
        "What is 2 × 0?",
        (right("0", "Nothing, twice, is nothing."), wrong("2", "This is 2 × 1.")),
    )

The tests hold each question to its rules, and ask for its proof in tests/exercises/question_proofs.py.
"""

import ast
import difflib
import math
import operator
import re
import textwrap
import warnings
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import islice
from math import isclose, isfinite
from string import ascii_lowercase
from typing import ClassVar

from transformer_lessons.exercises.checker.card import card, paragraph
from transformer_lessons.exercises.checker.report import WIDTH, Report, note, say

LESSONS = range(1, 13)
MARKS = {"passed": "✓", "failed": "✗", "not attempted": "○"}


class Unreadable(Exception):
    """The answer is of a kind that the question cannot judge; the message tells the learner why."""


@dataclass(frozen=True)
class Choice:
    text: str
    why: str  # what somebody is told who chooses it
    is_right: bool


def right(text, why):
    return Choice(text, why, True)


def wrong(text, why):
    return Choice(text, why, False)


@dataclass(frozen=True)
class Question:
    number: str  # lesson.index
    title: str
    text: str

    praise: ClassVar[str] = "right"

    def shown(self):
        return [self.text]


@dataclass(frozen=True)
class SeveralOf(Question):
    choices: tuple

    kind: ClassVar[str] = "several choices"
    asks_for: ClassVar[str] = "every letter that is right"
    blank: ClassVar[str] = '"..."'

    @property
    def lettered(self):
        return dict(zip(ascii_lowercase, self.choices, strict=False))

    @property
    def right_letters(self):
        return {letter for letter, choice in self.lettered.items() if choice.is_right}

    def shown(self):
        return [self.text, *(f"{letter}) {choice.text}" for letter, choice in self.lettered.items())]

    def read(self, value):
        letters = letters_in(value)
        if unknown := letters - set(self.lettered):
            choices = listed(self.lettered)
            raise Unreadable(f"There is no choice {listed(unknown)}: the choices are {choices}.")
        return letters

    def judge(self, letters):
        chosen = {letter: self.lettered[letter] for letter in sorted(letters)}
        mistaken = [f"{letter}) {choice.why}" for letter, choice in chosen.items() if not choice.is_right]
        if mistaken:
            return False, [f"You chose {listed(chosen)}.", *mistaken]
        if letters != self.right_letters:
            return False, [f"You chose {listed(chosen)}: nothing wrong with that, but something is missing."]
        return True, [f"{letter}) {choice.why}" for letter, choice in chosen.items()]


@dataclass(frozen=True)
class OneOf(SeveralOf):
    kind: ClassVar[str] = "choice"
    asks_for: ClassVar[str] = "one letter"

    def read(self, value):
        letters = super().read(value)
        if len(letters) > 1:
            raise Unreadable(f"You named {listed(letters)}: only one of the choices is right.")
        return letters.pop()

    def judge(self, letter):
        choice = self.lettered[letter]
        return choice.is_right, [f"{letter}) {choice.text}", choice.why]


@dataclass(frozen=True)
class Number(Question):
    right: float
    why: str
    slips: dict = field(hash=False)  # common wrong values, each with its own explanation
    pointer: str  # for any other wrong value
    tolerance: float = 0

    kind: ClassVar[str] = "number"
    asks_for: ClassVar[str] = "a number"
    blank: ClassVar[str] = "..."

    def read(self, value):
        return number_in(value)

    def same(self, one, other):
        return isclose(one, other, rel_tol=1e-9, abs_tol=self.tolerance)

    def say(self, value):
        whole = value == int(value) and abs(value) < 1e15
        return f"{int(value):,}" if whole else f"{value:.6g}"

    def judge(self, value):
        if self.same(value, self.right):
            return True, [self.why]
        slips = [why for slip, why in self.slips.items() if self.same(value, slip)]
        return False, [f"You answered {self.say(value)}.", *(slips[:1] or [self.pointer])]


@dataclass(frozen=True)
class Shape(Number):
    kind: ClassVar[str] = "shape"
    asks_for: ClassVar[str] = "a shape"

    def read(self, value):
        return shape_in(value)

    def same(self, one, other):
        return one == other

    def say(self, value):
        return str(value)


@dataclass(frozen=True)
class FreeText(Question):
    model: str
    points: tuple

    kind: ClassVar[str] = "free text"
    asks_for: ClassVar[str] = "a few sentences of your own"
    blank: ClassVar[str] = '"..."'
    praise: ClassVar[str] = "answered"

    def read(self, value):
        if not isinstance(value, str):
            raise Unreadable("This question is answered with a text, in quotation marks.")
        if not re.search(r"\w", value):
            raise Unreadable("There are no words in this text.")
        if not re.search(r"\w\W*\w", value):
            raise Unreadable("A single character is not an answer to this question.")
        return value

    def judge(self, text):
        points = [f"- {point}" for point in self.points]
        return True, ["Thank you. A model answer:", self.model, "Does yours say the same?", *points]


def answer(number=None, *values):
    """Judge the answer to the question `number`, "3.2" say; without one, show the question.

    Several values are one answer: a shape's sizes, or letters.
    """
    value = values[0] if len(values) == 1 else values or None
    try:
        question = find(number)
    except Unreadable as reason:
        return tell("?", "not attempted", "○ No such question", [str(reason)])
    status, said = verdict(question, value)
    ending = {"passed": f": {question.praise}", "failed": ": not yet", "not attempted": ""}[status]
    if status != "passed":
        invitation = "Try again" if status == "failed" else "Answer"
        said.append(f'{invitation} with {question.asks_for}: answer("{question.number}", {question.blank})')
    return tell(question.number, status, f"{MARKS[status]} {question.number} {question.title}{ending}", said)


def verdict(question, value):
    try:
        if is_blank(value):
            return "not attempted", question.shown()
        value = question.read(value)
    except Unreadable as reason:
        return "not attempted", [str(reason)]
    except Exception:  # a learner's object may raise anything, whatever is done with it
        return "not attempted", [f"This cannot be read as {question.asks_for}."]
    passed, said = question.judge(value)
    return ("passed" if passed else "failed"), said


def tell(number, status, heading, paragraphs):
    lines = [line for text in paragraphs for line in text.splitlines()]
    wrapped = [heading]
    for line in lines:
        hanging = " " * len(re.match(r"[a-z]\) |- | *", line)[0])
        wrapped += textwrap.wrap(line, WIDTH, subsequent_indent=hanging, break_on_hyphens=False)
    report = Report(number, status, "\n".join(wrapped))
    say(report.message, card(status, heading, [paragraph(line) for line in lines]))
    note(report)
    return report


# Finding questions


@cache
def all_questions():
    """Every question by its number, in the order of the lessons."""
    package = __name__.rpartition(".")[0]
    files = [import_module(f"{package}.lesson_{lesson}") for lesson in LESSONS]
    return {question.number: question for file in files for question in file.QUESTIONS}


def overview(lesson=None):
    """A line for each question (number, kind, title), and their total; all lessons, or one."""
    chosen = [q for q in all_questions().values() if lesson is None or q.number.startswith(f"{lesson}.")]
    return "\n".join([*(f"{q.number:<5} {q.kind:<16} {q.title}" for q in chosen), f"{len(chosen)} questions"])


def find(number):
    questions = all_questions()
    try:
        text = number if isinstance(number, str) else f"{number:g}"
        lesson, index = re.fullmatch(r"\D*?(\d{1,3})\s*[.,-]\s*(\d{1,3})\D*", text).groups()
        wanted = f"{int(lesson)}.{int(index)}"
    except Exception:  # no text, no number, or an object that raises
        example = min(questions)
        raise Unreadable(f'Questions have numbers in quotation marks, as in answer("{example}").') from None
    if not isinstance(number, str) and f"{wanted}0" in questions:
        raise Unreadable(f'Is it "{wanted}" or "{wanted}0"? Please write the number in quotation marks.')
    if wanted in questions:
        return questions[wanted]
    same_lesson = [known for known in questions if known.startswith(f"{int(lesson)}.")]
    close = difflib.get_close_matches(wanted, same_lesson or questions, n=3, cutoff=0)
    raise Unreadable(f"There is no question {wanted}; close to it are {listed(close)}.")


# Reading answers


def is_blank(value):
    return value is None or value is ... or (isinstance(value, str) and not value.strip(" .…?\n\t"))


WITHOUT_TEXT = "This question is answered with letters alone, without their text."


def letters_in(value):
    if isinstance(value, str):
        words = re.findall(r"[^\W_]+", re.sub(r"\band\b", " ", value.lower()))
        found = set().union(*words)
    elif isinstance(value, (list, tuple, set, frozenset)):
        words, found = [], set().union(*(letters_in(part) for part in islice(value, 27)))
    else:
        raise Unreadable("This question is answered with letters, in quotation marks.")
    if not found or not any(sign.isalpha() for sign in found):
        raise Unreadable(
            "There is no letter in this answer: please answer with the letter of a choice, not with its text."
        )
    if len(found) > 9 or not all(is_letters(word) for word in words):
        raise Unreadable(WITHOUT_TEXT)
    return found


def is_letters(word):
    """One letter, or several that may be those of choices; not a word, and not a number."""
    return word.isalpha() and (len(word) == 1 or set(word) <= set("abcdefghi"))


def number_in(value):
    if isinstance(value, (tuple, list)):
        if len(value) != 1:
            raise Unreadable("This question is answered with a single number.")
        value = value[0]
    if isinstance(value, str):
        value = calculated(value)
    if hasattr(value, "item"):  # NumPy's and PyTorch's numbers
        value = value.item()
    if isinstance(value, (bool, complex)):
        raise Unreadable("This question is answered with an ordinary number.")
    if not isfinite(value):
        raise Unreadable("The answer is a finite number; this is none.")
    return float(value)


# Numbers in words: "1,050,624", "50 %", "10**-6", "ln 8"

SIGNS = str.maketrans({"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "√": " sqrt ", "_": " ", "’": " ", "'": " "})
OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
FUNCTIONS = {"ln": math.log, "log": math.log, "sqrt": math.sqrt, "exp": math.exp}


def calculated(text):
    """The number that a text gives, by arithmetic alone."""
    if len(text) > 200:
        raise ValueError("too long for a number")
    text = " ".join(text.lower().translate(SIGNS).split()).replace("^", "**")
    if re.fullmatch(r"[(\[][^()\[\]]*,[^()\[\]]*[)\]]", text):
        raise Unreadable("This question is answered with a single number.")
    text = re.sub(r"^\[(.*)\]$", r"\1", text)
    if re.fullmatch(r"[+-]?(nan|inf|infinity)", text):
        return float(text)
    text = re.sub(r"(?<![\d.,])\d{1,3}( \d{3})+(?!\d)", lambda found: found[0].replace(" ", ""), text)
    text = re.sub(r"(?<=[\d)])(?<!\b0) ?x ?(?=[\d(])", "*", text)
    text = re.sub(r"\d[\d.,]*", plain, text)
    text = re.sub(r"^([+-]?[\d.]+) ?%", r"(\1/100)", text)
    text = re.sub(r"\b(ln|log|sqrt|exp) ?([\d.]+)", r"\1(\2)", text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's own, on odd texts
        return value_of(ast.parse(text.strip(), mode="eval").body)


def plain(found):
    """A number without its thousands' separators, with a point before the decimals."""
    text = found[0]
    if re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+(\.\d+)?", text):
        return text.replace(",", "")
    if re.fullmatch(r"[1-9]\d{0,2}(\.\d{3})+(,\d+|\.\d{3})", text):
        return text.replace(".", "").replace(",", ".")
    text = text.replace(",", ".")
    return text if "." in text else text.lstrip("0") or "0"


def value_of(node):
    """Floats throughout, so that nothing grows without bounds."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return float(node.value)
    if isinstance(node, ast.BinOp):
        return OPERATIONS[type(node.op)](value_of(node.left), value_of(node.right))
    if isinstance(node, ast.UnaryOp):
        return OPERATIONS[type(node.op)](value_of(node.operand))
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        return FUNCTIONS[node.func.id](value_of(node.args[0]))
    raise ValueError("not a number")


def shape_in(value):
    if isinstance(value, str):
        if not re.fullmatch(r"(torch\.Size)?([\s\d,x×()\[\]]|(?<=\d)\s+by\s+(?=\d))*", value.strip()):
            raise Unreadable("A shape consists of whole numbers, as in (2, 3).")
        sizes = tuple(int(size) for size in re.findall(r"\d+", value))
        value = sizes if len(sizes) != 1 or re.search(r"[,(\[]", value) else sizes[0]
    if hasattr(value, "tolist"):  # arrays and tensors
        value = value.tolist()
    if isinstance(value, (set, frozenset, dict)):
        raise Unreadable("A shape has an order: write it with round brackets, as in (2, 3).")
    if not isinstance(value, (list, tuple)):
        raise Unreadable("A shape has brackets, also where it is a single size, as in (3,).")
    sizes = tuple(islice(value, 10))
    if len(sizes) > 9:
        raise Unreadable("A shape has one number for each dimension; these are too many.")
    if any(isinstance(size, bool) or int(size) != size or not 0 <= size < 10**9 for size in sizes):
        raise Unreadable("A shape consists of whole numbers, as in (2, 3).")
    return tuple(int(size) for size in sizes)


def listed(words):
    *most, last = sorted(words, key=lambda word: (len(word), word))
    return f"{', '.join(most)} and {last}" if most else last
