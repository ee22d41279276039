"""The five kinds of question, and what each says to an answer.

`OneOf` asks for a choice, `SeveralOf` for every choice that is right, `Number` and `Shape` for a value, `FreeText` for
a few sentences. Every choice has its own explanation, and so has every wrong value common enough to be a known slip.
"""

from dataclasses import dataclass, field
from math import isclose
from string import ascii_lowercase
from typing import Any, ClassVar

from transformer_lessons.exercises.questions.reading import (
    Unreadable,
    letters_in,
    listed,
    number_in,
    shape_in,
    text_in,
)

Verdict = tuple[bool, list[str]]  # is the answer right, and what is said to it


@dataclass(frozen=True)
class Choice:
    text: str
    why: str  # what somebody is told who chooses it
    is_right: bool


@dataclass(frozen=True)
class Question:
    number: str  # lesson.index
    title: str
    text: str

    kind: ClassVar[str]
    asks_for: ClassVar[str]
    blank: ClassVar[str]
    praise: ClassVar[str] = "right"

    def shown(self) -> list[str]:
        """The paragraphs of the question as it is asked."""
        return [self.text]

    def read(self, value: object) -> Any:
        """What the learner answered, or `Unreadable`."""
        raise NotImplementedError

    def judge(self, given: Any) -> Verdict:
        """The verdict on an answer that has been read."""
        raise NotImplementedError


@dataclass(frozen=True)
class Choices(Question):
    choices: tuple[Choice, ...]

    @property
    def lettered(self) -> dict[str, Choice]:
        return dict(zip(ascii_lowercase, self.choices, strict=False))

    @property
    def right_letters(self) -> set[str]:
        return {letter for letter, choice in self.lettered.items() if choice.is_right}

    def shown(self) -> list[str]:
        return [self.text, *(f"{letter}) {choice.text}" for letter, choice in self.lettered.items())]

    def read(self, value: object) -> set[str]:
        letters = letters_in(value)
        if unknown := letters - set(self.lettered):
            raise Unreadable(f"There is no choice {listed(unknown)}: the choices are {listed(self.lettered)}.")
        return letters


class OneOf(Choices):
    kind: ClassVar[str] = "choice"
    asks_for: ClassVar[str] = "one letter"
    blank: ClassVar[str] = '"..."'

    def read(self, value: object) -> set[str]:
        letters = super().read(value)
        if len(letters) > 1:
            raise Unreadable(f"You named {listed(letters)}: only one of the choices is right.")
        return letters

    def judge(self, given: set[str]) -> Verdict:
        (letter,) = given
        choice = self.lettered[letter]
        return choice.is_right, [f"{letter}) {choice.text}", choice.why]


class SeveralOf(Choices):
    kind: ClassVar[str] = "several choices"
    asks_for: ClassVar[str] = "every letter that is right"
    blank: ClassVar[str] = '"..."'

    def judge(self, given: set[str]) -> Verdict:
        chosen = {letter: self.lettered[letter] for letter in sorted(given)}
        mistaken = [f"{letter}) {choice.why}" for letter, choice in chosen.items() if not choice.is_right]
        if mistaken:
            return False, [f"You chose {listed(chosen)}.", *mistaken]
        if given != self.right_letters:
            return False, [f"You chose {listed(chosen)}: nothing wrong with that, but something is missing."]
        return True, [f"{letter}) {choice.why}" for letter, choice in chosen.items()]


@dataclass(frozen=True)
class Value(Question):
    right: Any
    why: str
    slips: dict[Any, str] = field(hash=False)  # common wrong values, each with its own explanation
    pointer: str  # for any other wrong value
    tolerance: float = 0

    blank: ClassVar[str] = "..."

    def same(self, value: Any, other: Any) -> bool:
        return value == other

    def say(self, value: Any) -> str:
        return str(value)

    def judge(self, given: Any) -> Verdict:
        if self.same(given, self.right):
            return True, [self.why]
        slips = [why for slip, why in self.slips.items() if self.same(given, slip)]
        return False, [f"You answered {self.say(given)}.", *(slips[:1] or [self.pointer])]


class Number(Value):
    kind: ClassVar[str] = "number"
    asks_for: ClassVar[str] = "a number"

    def read(self, value: object) -> float:
        return number_in(value)

    def same(self, value: float, other: float) -> bool:
        return isclose(value, other, rel_tol=1e-9, abs_tol=self.tolerance)

    def say(self, value: float) -> str:
        is_whole = value == int(value) and abs(value) < 1e15
        return f"{int(value):,}" if is_whole else f"{value:.6g}"


class Shape(Value):
    kind: ClassVar[str] = "shape"
    asks_for: ClassVar[str] = "a shape"

    def read(self, value: object) -> tuple[int, ...]:
        return shape_in(value)


@dataclass(frozen=True)
class FreeText(Question):
    model: str
    points: tuple[str, ...]

    kind: ClassVar[str] = "free text"
    asks_for: ClassVar[str] = "a few sentences of your own"
    blank: ClassVar[str] = '"..."'
    praise: ClassVar[str] = "answered"

    def read(self, value: object) -> str:
        return text_in(value)

    def judge(self, given: str) -> Verdict:
        points = [f"- {point}" for point in self.points]
        return True, ["Thank you. A model answer:", self.model, "Does yours say the same?", *points]
