"""Reads the pages of the catalogue: what an exercise asks, what is right, and every known mistake.

../catalogue/README.md shows a page. A page that is wrong is refused in one sentence, with its file and line.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from transformer_lessons.exercises.sealing import unsealed

FACTS = re.compile(r"\*Lesson (\d+) · difficulty ([123]) of 3 · importance ([123]) of 3 · (\d+) minutes\*")
TITLE = re.compile(r"# `(\w+)` · (.+)")
FAMILY = re.compile(r"# Family · (.+)")
HINT = re.compile(r"\d\. \*\*(.+?)\*\*(?: \((.+?)\))?: (.+)")
RENAME = re.compile(r"`(\w+)` as `(\w+)`")
INCLUDE = re.compile(r"Included: \[.+?\]\((\w+)\.md\)((?:,(?: with)? `\w+` as `\w+`)*)")
EXCEPTION = re.compile(r"- (.+?) → (.+)")


UNEDITED = (ast.Try, ast.Match)  # edits.py looks into the bodies of other statements


class PageError(ValueError):
    """A page that cannot be read; the message names the file and the line."""


@dataclass
class Entry:
    """A mistake as it stands on a page: its name, what is wrong, where to look, and its variants as lines."""

    name: str
    why: str
    look: str
    hint: str  # the hint that its section names: a number, or in a family a topic
    variants: list
    place: str  # file and line, for errors


@dataclass
class Include:
    """A family that a page includes: under which names, and without which mistakes."""

    family: str
    renames: dict
    exceptions: dict  # mistake → its other name, "below", or why it is nowhere
    place: str


@dataclass
class Page:
    """What one page holds."""

    name: str = ""
    title: str = ""
    facts: tuple = ()
    contract: str = ""
    stub: str = ""
    hints: list = field(default_factory=list)  # (symptom, topics, text)
    right: str = ""
    styles: dict = field(default_factory=dict)  # also right: style → source
    mistakes: list = field(default_factory=list)  # each an Entry or an Include, in order


@dataclass
class Block:
    """A paragraph, a heading, an item of a list, or a block of code, with the number of its first line."""

    kind: str  # "heading", "code", "open" (code without an end), "item" or "text"
    text: str
    level: int
    number: int


def blocks_of(text: str) -> Iterator[Block]:
    """The blocks of a Markdown text, in order; the lines of a paragraph are joined."""
    lines = text.splitlines()
    number = 0
    while number < len(lines):
        line, first = lines[number], number + 1
        if line.startswith("```"):
            end = next((n for n in range(number + 1, len(lines)) if lines[n].startswith("```")), len(lines))
            kind = "code" if lines[end : end + 1] == ["```"] else "open"
            yield Block(kind, "\n".join(lines[number + 1 : end]), 0, first + 1)
            number = end + 1
        elif heading := re.match(r"(#+) ", line):
            yield Block("heading", line, len(heading[1]), first)
            number += 1
        elif not line.strip():
            number += 1
        else:
            kind = "item" if starts_item(line) else "text"
            end = number + 1
            while end < len(lines) and lines[end].strip() and not begins_block(lines[end]):
                end += 1
            yield Block(kind, " ".join(part.strip() for part in lines[number:end]), 0, first)
            number = end


def starts_item(line: str) -> bool:
    return bool(re.match(r"(- |\d\. )", line))


def begins_block(line: str) -> bool:
    return starts_item(line) or line.startswith(("```", "#", "*Look:*", "Included: "))


def read_page(path: Path) -> Page:
    """The page of an exercise or of a family."""
    return Reader(path).page


class Reader:
    """Goes through a page from top to bottom, and knows in which section it is."""

    def __init__(self, path: Path) -> None:
        self.path, self.page = path, Page()
        self.section = self.subsection = self.mistake = ""
        self.headings: set = set()
        self.parts: list = []  # of the mistake that is being read
        readers = {
            "heading": self.heading,
            "code": self.code,
            "open": self.open,
            "item": self.item,
            "text": self.text,
        }
        for block in blocks_of(unsealed(path.read_text(encoding="utf-8"))):
            readers[block.kind](block)
        self.close_mistake()
        if not self.page.title:
            raise self.error(1, "the page has no title")
        for part in ("facts", "contract", "stub", "right") if self.page.name else ():
            if not getattr(self.page, part):
                raise self.error(1, f"the page lacks {PARTS[part]}")

    def error(self, number: int, sentence: str) -> PageError:
        return PageError(f"{self.place(number)}: {sentence}.")

    def place(self, number: int) -> str:
        return f"{self.path.name}:{number}"

    def heading(self, block: Block) -> None:
        self.close_mistake()
        text = block.text.lstrip("# ").strip()
        if block.level != 3:
            if text in self.headings:
                raise self.error(block.number, f"there are two headings “{text}”")
            self.headings.add(text)
        if block.level == 1:
            self.title(block)
        elif block.level == 2:
            if text not in SECTIONS:
                raise self.error(block.number, f"no section is called “{text}”: there are {', '.join(SECTIONS)}")
            self.section, self.subsection = text, ""
        elif block.level == 3 and self.section in ("Also right", "Mistakes"):
            self.subsection = text
            if self.section == "Mistakes" and not re.fullmatch(r"Hint \d" if self.page.name else "Hint: .+", text):
                raise self.error(block.number, "a section of mistakes is called “Hint 1”, or in a family “Hint: topic”")
        elif block.level == 4 and self.section == "Mistakes" and self.subsection:
            self.mistake, self.parts = text, [block.number]
        else:
            raise self.error(block.number, f"the heading “{text}” belongs to no section")

    def title(self, block: Block) -> None:
        if family := FAMILY.fullmatch(block.text):
            self.page.title = family[1]
        elif title := TITLE.fullmatch(block.text):
            self.page.name, self.page.title = title[1], title[2]
        else:
            raise self.error(
                block.number, "a title reads “# `name` · What it is about”, or “# Family · What it shares”"
            )

    def code(self, block: Block) -> None:
        if self.mistake:
            self.parts.append(block)
            return
        body = parse(block.text, self, block.number).body
        if not body or getattr(body[-1], "name", None) != self.page.name:
            raise self.error(block.number, f"this code must end in the definition of `{self.page.name}`")
        methods = {node.name for node in ast.walk(body[-1]) if isinstance(node, ast.FunctionDef)}
        if self.section == "What is asked" and not methods & {self.page.name, "forward"}:
            raise self.error(block.number, "a stub that is a class needs a `forward`")
        if self.section == "The right answer" and any(isinstance(node, UNEDITED) for node in ast.walk(body[-1])):
            raise self.error(block.number, "no line inside `try` or `match` can be replaced: write it without")
        source = block.text + "\n"
        if self.section == "What is asked" and not self.page.stub:
            self.page.stub = source
        elif self.section == "The right answer" and not self.page.right:
            self.page.right = source
        elif self.section == "Also right" and self.subsection and self.subsection not in self.page.styles:
            self.page.styles[self.subsection] = source
        else:
            raise self.error(block.number, "this code belongs to no section, or is the second in it")

    def open(self, block: Block) -> None:
        raise self.error(block.number - 1, "this code has no end: the closing ``` is missing")

    def item(self, block: Block) -> None:
        if self.section == "Hints":
            hint = HINT.fullmatch(block.text)
            if not hint:
                raise self.error(block.number, "a hint reads “1. **symptom**: text”")
            topics = [topic.strip() for topic in (hint[2] or "").split(",") if topic.strip()]
            self.page.hints.append((hint[1], topics, hint[3]))
        elif self.section == "Mistakes" and not self.subsection and self.page.mistakes:
            exception = EXCEPTION.fullmatch(block.text)
            if not exception:
                raise self.error(block.number, "an exception reads “- name → another name, below, or right here”")
            self.page.mistakes[-1].exceptions[exception[1]] = exception[2]
        else:
            self.text(block)

    def text(self, block: Block) -> None:
        if self.mistake:
            self.parts.append(block)
        elif not self.section and self.page.name:
            facts = FACTS.fullmatch(block.text)
            if not facts:
                raise self.error(block.number, "below the title stand lesson, difficulty, importance and minutes")
            self.page.facts = tuple(map(int, facts.groups()))
        elif self.section == "What is asked":
            self.page.contract = "\n".join(filter(None, [self.page.contract, block.text]))
        elif self.section == "Hints":
            raise self.error(block.number, "a hint reads “1. **symptom**: text”")
        elif self.section == "Mistakes" and not self.subsection:
            include = INCLUDE.fullmatch(block.text)
            if not include:
                raise self.error(
                    block.number, "here stands what is included: “Included: [name](family.md), with `old` as `new`”"
                )
            self.page.mistakes.append(
                Include(include[1], dict(RENAME.findall(include[2])), {}, self.place(block.number))
            )
        elif self.section or self.page.name:
            raise self.error(block.number, "this text belongs to no section")

    def close_mistake(self) -> None:
        if not self.mistake:
            return
        name, (number, *parts) = self.mistake, self.parts
        self.mistake = ""
        texts = [block.text for block in parts if block.kind in ("text", "item")]
        looks = [text.removeprefix("*Look:*").strip() for text in texts if text.startswith("*Look:*")]
        why = " ".join(text for text in texts if not text.startswith("*Look:*"))
        if not why:
            raise self.error(number, f"“{name}” does not say what is wrong")
        if len(looks) != 1:
            raise self.error(number, f"“{name}” needs one line that begins with *Look:*")
        codes = [block for block in parts if block.kind == "code"]
        if not codes:
            raise self.error(number, f"“{name}” shows no line that makes this mistake")
        variants = []
        for code in codes:
            for line, variant in variants_of(code.text, self.page.name):
                if not parse(variant, self, code.number + line).body:
                    raise self.error(code.number + line, f"a variant of “{name}” shows no line of code")
                variants.append(variant)
        hint = self.subsection.removeprefix("Hint").lstrip(": ")
        self.page.mistakes.append(Entry(name, why, looks[0], hint, variants, self.place(number)))


SECTIONS = ("What is asked", "Hints", "The right answer", "Also right", "Mistakes")
PARTS = {
    "facts": "lesson, difficulty, importance and minutes",
    "contract": "what is asked",
    "stub": "a stub",
    "right": "the right answer",
}


def variants_of(code: str, answer: str) -> list:
    """[(number of its first line, variant)]: paragraphs, or the whole block if it imports or defines something else."""
    helpers = any(name != answer for name in re.findall(r"^(?:def|class) (\w+)", code, re.MULTILINE))
    if helpers or re.search(r"^(?:import|from) ", code, re.MULTILINE):
        return [(0, code)]
    variants: list = []
    fresh = True
    for number, line in enumerate(code.splitlines()):
        if not line.strip():
            fresh = True
            continue
        if not variants or (fresh and not line.startswith((" ", ")", "]", "}"))):
            variants.append((number, []))
        elif fresh:
            variants[-1][1].append("")
        fresh = False
        variants[-1][1].append(line)
    return [(number, "\n".join(lines)) for number, lines in variants] or [(0, code)]


def parse(code: str, reader: Reader, number: int) -> ast.Module:
    try:
        return ast.parse(code)
    except SyntaxError as error:
        raise reader.error(number + (error.lineno or 1) - 1, f"this line does not parse: {error.msg}") from None
