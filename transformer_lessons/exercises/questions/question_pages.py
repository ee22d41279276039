"""Reads a lesson's page of questions. What is read is what a person sees there; CONTRIBUTING.md shows the form.

A page that is wrong gives one sentence, with its name and the line.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from transformer_lessons.exercises.questions.kinds import Choice, FreeText, Number, OneOf, Question, SeveralOf, Shape
from transformer_lessons.exercises.questions.reading import Unreadable, number_in, shape_in
from transformer_lessons.exercises.sealing import unsealed


class Misread(Exception):
    """What is wrong with a page, and in which line."""

    def __init__(self, line: int, sentence: str):
        super().__init__(sentence)
        self.line = line


def read_page(path: Path) -> list[Question]:
    """The questions of the page `lesson_N.md`."""
    try:
        return questions_in(unsealed(path.read_text(encoding="utf-8")), path.stem.removeprefix("lesson_"))
    except Misread as error:
        raise ValueError(f"{path.name}, line {error.line}: {error}") from None


def questions_in(text: str, lesson: str) -> list[Question]:
    title, *blocks = blocks_in(text) or [Block(1, "nothing", "")]
    if title.kind != "title" or not title.text.startswith(f"Lesson {lesson}: "):
        raise Misread(title.line, f'the page must begin with "# Lesson {lesson}: " and the name of the lesson.')
    headings = [place for place, block in enumerate(blocks) if block.kind == "heading"]
    check_headings([blocks[place] for place in headings], lesson)
    ends = [*headings[1:], len(blocks)]
    return [question_in(blocks[start], blocks[start + 1 : end]) for start, end in zip(headings, ends, strict=True)]


# A page's blocks


class Block(NamedTuple):
    line: int
    kind: str  # a name in BEGINNINGS, "label", "how", "paragraph" or "code"
    text: str


BEGINNINGS = {  # the first that fits
    "# ": "title",
    "## ": "heading",
    "- [x] ": "right",
    "- [ ] ": "wrong",
    "- ": "point",
    "  ": "explanation",
}
STARTS = re.compile(r"\s*(?:[-+*>|]|#+|\d+[.)])\s|\s*[-=]+\s*$")  # a line like this is no longer the same paragraph
MARKUP = re.compile(  # what a person sees otherwise than it is read
    r"`|\*\S|\S\*|(?<!\w)_|_(?!\w)|~~|<[A-Za-z/!?]|\]\(|!\[|&#?\w+;|\\[^\w\s]|\$"
)


def blocks_in(text: str) -> list[Block]:
    """The page's blocks: headings, paragraphs, the parts of a list, code."""
    blocks: list[Block] = []
    lines = enumerate(text.splitlines(), start=1)
    goes_on = False
    for number, line in lines:
        if line.startswith("```"):
            blocks.append(Block(number, "code", code_until_its_end(number, lines)))
            goes_on = False
        elif not line.strip():
            goes_on = False
        elif goes_on and not line.startswith(("# ", "## ", "- ")):
            if STARTS.match(line):
                raise Misread(number, f'a line must not begin with "{line.split()[0]}", which is Markdown.')
            blocks[-1] = blocks[-1]._replace(text=f"{blocks[-1].text} {line.strip()}")
        else:
            blocks.append(Block(number, *kind_and_text(line)))
            goes_on = not line.startswith("#")
    return blocks


def kind_and_text(line: str) -> tuple[str, str]:
    """What the first line of a block shows it to be, and the text that begins there."""
    for beginning, kind in BEGINNINGS.items():
        if line.startswith(beginning):
            return kind, line.removeprefix(beginning).strip()
    line = line.rstrip()
    for mark, kind in (("**", "label"), ("*", "how")):
        if line.startswith(mark) and line.endswith(mark) and "*" not in (text := line[len(mark) : -len(mark)]):
            return kind, text
    return "paragraph", line


def code_until_its_end(start: int, lines: Iterator[tuple[int, str]]) -> str:
    code = []
    for _, line in lines:
        if line == "```":
            return "\n".join(code)
        code.append(line)
    raise Misread(start, "this code has no end: the closing ``` is missing.")


def check_plain(block: Block) -> None:
    """A terminal prints the text as it is, so nothing in it may be Markdown."""
    if block.kind != "code" and (markup := MARKUP.search(block.text) or STARTS.match(block.text)):
        raise Misread(block.line, f'"{markup[0].strip()}" is Markdown, which a terminal would print: use plain text.')


# Questions


def check_headings(headings: list[Block], lesson: str) -> None:
    """Numbers run without gaps, and no number or title is there twice."""
    seen: dict[str, int] = {}
    for index, heading in enumerate(headings, start=1):
        match = re.fullmatch(r"(\d+\.\d+) (\S.*)", heading.text)
        if not match:
            raise Misread(heading.line, f'a heading has a number and a title, as in "## {lesson}.{index} A title".')
        for part in match.groups():
            if part in seen:
                raise Misread(heading.line, f'"{part}" is already the heading in line {seen[part]}.')
            seen[part] = heading.line
        if match[1] != f"{lesson}.{index}":
            raise Misread(heading.line, f"this should be question {lesson}.{index}, not {match[1]}.")


def question_in(heading: Block, blocks: list[Block]) -> Question:
    for block in (heading, *blocks):
        check_plain(block)
    number, title = heading.text.split(" ", 1)
    places = [place for place, block in enumerate(blocks) if block.kind == "how"]
    if len(places) != 1:
        raise Misread(heading.line, f"question {number} must say once how it is answered: {ways()}.")
    asked, how, answers = blocks[: places[0]], blocks[places[0]], blocks[places[0] + 1 :]
    way = how.text.split(", to within ")[0] + "." if how.text.startswith("Answer with a number, ") else how.text
    if way not in KINDS:
        raise Misread(how.line, f'"{how.text}" is not one of the ways to answer: {ways()}.')
    return KINDS[way]((number, title, text_in(asked, heading)), answers, how)


def text_in(blocks: list[Block], heading: Block) -> str:
    """What is asked. Code is indented, as `answer` shows it."""
    lines = []
    for block in blocks:
        if block.kind not in ("paragraph", "code"):
            raise Misread(block.line, "an answer comes after the line that says how the question is answered.")
        lines += [f"    {line}" for line in block.text.splitlines()] if block.kind == "code" else [block.text]
    if not lines:
        raise Misread(heading.line, "there is no text between this heading and the way to answer.")
    return "\n".join(lines)


Head = tuple[str, str, str]  # number, title, text


def one_of(head: Head, blocks: list[Block], how: Block) -> Question:
    choices = choices_in(blocks, how)
    right = [choice for choice in choices if choice.is_right]
    if len(right) > 1:
        raise Misread(how.line, f"only one of these choices is right, but {len(right)} are ticked.")
    return OneOf(*head, choices)


def several_of(head: Head, blocks: list[Block], how: Block) -> Question:
    return SeveralOf(*head, choices_in(blocks, how))


def choices_in(blocks: list[Block], how: Block) -> tuple[Choice, ...]:
    return tuple(Choice(answer.text, answer.why, answer.is_right) for answer in answers_in(blocks, how))


def number(head: Head, blocks: list[Block], how: Block) -> Question:
    _, _, closeness = how.text.removesuffix(".").partition(", to within ")
    tolerance = value_in(closeness, number_in, how.line) if closeness else 0
    right, why, slips, pointer = values_in(blocks, how, number_in, "any other number")
    return Number(*head, right, why, slips, pointer, tolerance)


def shape(head: Head, blocks: list[Block], how: Block) -> Question:
    right, why, slips, pointer = values_in(blocks, how, shape_in, "any other shape")
    return Shape(*head, right, why, slips, pointer)


def values_in(blocks: list[Block], how: Block, read: Callable, other: str) -> tuple[Any, str, dict[Any, str], str]:
    """The right value and why; the slips; what is said of any other value."""
    *answers, last = answers_in(blocks, how)
    if last.text != other or last.is_right:
        raise Misread(last.line, f'the last answer must be "- [ ] {other}".')
    values: dict[Any, Answer] = {}
    for answer in answers:
        value = value_in(answer.text, read, answer.line)
        if value in values:
            raise Misread(answer.line, f"{answer.text} is the same value as in line {values[value].line}.")
        values[value] = answer
    right, *more = (value for value, answer in values.items() if answer.is_right)
    if more:
        raise Misread(values[more[0]].line, f"{values[right].text} is the right value already.")
    slips = {value: answer.why for value, answer in values.items() if value != right}
    return right, values[right].why, slips, last.why


def value_in(text: str, read: Callable, line: int) -> Any:
    """A number or a shape, read as `answer` reads a learner's."""
    try:
        return read(text)
    except Unreadable as reason:
        raise Misread(line, f'"{text}" cannot be read: {reason}') from None
    except Exception:  # whatever Python says of this text
        raise Misread(line, f'"{text}" cannot be read.') from None


class Answer(NamedTuple):
    line: int
    text: str
    is_right: bool
    why: str


def answers_in(blocks: list[Block], how: Block) -> list[Answer]:
    """Every answer with its explanation; at least one is right."""
    answers: list[Answer] = []
    for block in blocks:
        if block.kind in ("right", "wrong"):
            if block.text in {answer.text for answer in answers}:
                raise Misread(block.line, f'the answer "{block.text}" is there twice.')
            answers.append(Answer(block.line, block.text, block.kind == "right", ""))
        elif block.kind == "explanation" and answers and not answers[-1].why:
            answers[-1] = answers[-1]._replace(why=block.text)
        elif block.kind == "explanation":
            raise Misread(block.line, "an answer has one paragraph of explanation.")
        else:
            raise Misread(
                block.line, 'only answers are expected here, "- [x] …" or "- [ ] …", each with its explanation.'
            )
    for answer in answers:
        if not answer.why:
            raise Misread(answer.line, f'the answer "{answer.text}" has no explanation, indented by two spaces.')
    if not any(answer.is_right for answer in answers):
        raise Misread(how.line, "none of the answers is ticked as right: - [x].")
    return answers


MODEL, POINTS = "A model answer", "Does yours say the same?"


def free_text(head: Head, blocks: list[Block], how: Block) -> Question:
    order = [block.kind for block in blocks[:3]]
    if order != ["label", "paragraph", "label"] or (blocks[0].text, blocks[2].text) != (MODEL, POINTS):
        raise Misread(how.line, f"a free text needs **{MODEL}**, a paragraph, **{POINTS}** and a list.")
    points = blocks[3:]
    for block in points:
        if block.kind != "point":
            raise Misread(block.line, 'only points are expected here, "- …".')
    if not points:
        raise Misread(blocks[2].line, "there are no points below this line.")
    return FreeText(*head, blocks[1].text, tuple(block.text for block in points))


KINDS: dict[str, Callable[[Head, list[Block], Block], Question]] = {
    "Choose one.": one_of,
    "Choose every one that is right.": several_of,
    "Answer with a number.": number,  # or "Answer with a number, to within 0.01."
    "Answer with a shape.": shape,
    "Answer in your own words.": free_text,
}


def ways() -> str:
    return ", ".join(f"*{way}*" for way in KINDS)
