"""The pages of questions: what is read is what a person sees, and a page that is wrong is told in which line."""

import re
from pathlib import Path

import pytest

from transformer_lessons.exercises import answer
from transformer_lessons.exercises.questions import lookup, verdict
from transformer_lessons.exercises.questions.kinds import Choice, Choices, FreeText, Number, OneOf, SeveralOf, Shape
from transformer_lessons.exercises.questions.lookup import LESSONS, questions_of
from transformer_lessons.exercises.questions.question_pages import read_page
from transformer_lessons.exercises.sealing import sealed, unsealed

FOLDER = Path(verdict.__file__).parent
PAGES = [FOLDER / f"lesson_{lesson}.md" for lesson in LESSONS]

PAGE = """# Lesson 3: nothing, twice

The questions of [this lesson](lesson.md).

## 3.1 Twice nothing

What is
2 × 0?

*Choose one.*

- [x] 0

  Nothing, twice,
  is nothing.

- [ ] 2

  This is 2 × 1.

## 3.2 Even numbers

Which are even?

*Choose every one that is right.*

- [x] 2

  It is 2 × 1.

- [ ] 3

  Half of it is 1.5.

- [x] 4

  It is 2 × 2.

## 3.3 A loop

What is x after this loop?

```python
x = 8
for _ in range(2):
    x = x / 3
```

*Answer with a number, to within 0.005.*

- [x] 8/9

  8 is divided twice.

- [ ] 8/3

  8 is divided twice, not once.

- [ ] any other number

  Write down x after each step.

## 3.4 A column

What is the shape of three rows of one number?

*Answer with a shape.*

- [x] (3, 1)

  Rows come first.

- [ ] (3,)

  This has no columns.

- [ ] any other shape

  Count the rows.

## 3.5 Why nothing

Why is it nothing?

*Answer in your own words.*

**A model answer**

Because nothing
is there.

**Does yours say the same?**

- Nothing is there,
  twice.
- That is all.
"""


@pytest.fixture
def page(tmp_path):
    def write(text):
        path = tmp_path / "lesson_3.md"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_page_declares_each_kind_of_question(page):
    assert read_page(page(PAGE)) == [
        OneOf(
            "3.1",
            "Twice nothing",
            "What is 2 × 0?",
            (Choice("0", "Nothing, twice, is nothing.", True), Choice("2", "This is 2 × 1.", False)),
        ),
        SeveralOf(
            "3.2",
            "Even numbers",
            "Which are even?",
            (
                Choice("2", "It is 2 × 1.", True),
                Choice("3", "Half of it is 1.5.", False),
                Choice("4", "It is 2 × 2.", True),
            ),
        ),
        Number(
            "3.3",
            "A loop",
            "What is x after this loop?\n    x = 8\n    for _ in range(2):\n        x = x / 3",
            8 / 9,
            "8 is divided twice.",
            {8 / 3: "8 is divided twice, not once."},
            "Write down x after each step.",
            0.005,
        ),
        Shape(
            "3.4",
            "A column",
            "What is the shape of three rows of one number?",
            (3, 1),
            "Rows come first.",
            {(3,): "This has no columns."},
            "Count the rows.",
        ),
        FreeText(
            "3.5",
            "Why nothing",
            "Why is it nothing?",
            "Because nothing is there.",
            ("Nothing is there, twice.", "That is all."),
        ),
    ]


WRONG = {
    "an empty page": (PAGE, "", 'line 1: the page must begin with "# Lesson 3: " and the name of the lesson'),
    "another lesson's title": ("# Lesson 3", "# Lesson 4", 'line 1: the page must begin with "# Lesson 3: "'),
    "a heading without a number": ("## 3.2 Even", "## Even", "line 21: a heading has a number and a title"),
    "a heading without a title": ("## 3.2 Even numbers", "## 3.2", "line 21: a heading has a number and a title"),
    "a number twice": ("## 3.2", "## 3.1", 'line 21: "3.1" is already the heading in line 5'),
    "a title twice": ("2 Even numbers", "2 Twice nothing", 'line 21: "Twice nothing" is already the heading in line 5'),
    "a gap in the numbers": ("## 3.2", "## 3.3", "line 21: this should be question 3.2, not 3.3"),
    "a question of another lesson": ("## 3.1", "## 4.1", "line 5: this should be question 3.1, not 4.1"),
    "no way of answering": (
        "*Choose one.*\n",
        "",
        "line 5: question 3.1 must say once how it is answered: *Choose one.*",
    ),
    "two ways of answering": (
        "*Choose one.*",
        "*Choose one.*\n\n*Choose one.*",
        "line 5: question 3.1 must say once how it is answered",
    ),
    "an unknown kind": (
        "Choose one.",
        "Choose two.",
        'line 10: "Choose two." is not one of the ways to answer: *Choose',
    ),
    "a shape within something": (
        "with a shape.",
        "with a shape, to within 1.",
        'line 67: "Answer with a shape, to within 1." is not one of the ways to answer',
    ),
    "no text": ("What is\n2 × 0?\n", "", "line 5: there is no text between this heading and the way to answer"),
    "an answer before the way of answering": (
        "*Choose one.*",
        "- [ ] 1\n\n*Choose one.*",
        "line 10: an answer comes after the line that says how the question is answered",
    ),
    "no right choice": ("- [x] 0", "- [ ] 0", "line 10: none of the answers is ticked as right: - [x]"),
    "two right choices of one": ("- [ ] 2", "- [x] 2", "line 10: only one of these choices is right, but 2 are ticked"),
    "no choices": (
        "- [x] 2\n\n  It is 2 × 1.\n\n- [ ] 3\n\n  Half of it is 1.5.\n\n- [x] 4\n\n  It is 2 × 2.",
        "",
        "line 25: none",
    ),
    "a choice twice": ("- [ ] 2", "- [ ] 0", 'line 17: the answer "0" is there twice'),
    "a choice without explanation": (
        "  This is 2 × 1.\n",
        "",
        'line 17: the answer "2" has no explanation, indented by two spaces',
    ),
    "an explanation that is not set off": (
        "2\n\n  This is",
        "2\n  This is",
        'line 17: the answer "2 This is 2 × 1." has no',
    ),
    "two explanations": (
        "  This is 2 × 1.",
        "  This is 2 × 1.\n\n  Really.",
        "line 21: an answer has one paragraph of explanation",
    ),
    "an explanation that is not indented": (
        "  This is 2 × 1.",
        "This is 2 × 1.",
        "line 19: only answers are expected here",
    ),
    "a box that is not ticked with x": ("- [x] 0", "- [X] 0", "line 12: only answers are expected here"),
    "a number that does not parse": ("[ ] 8/3", "[ ] eight thirds", 'line 55: "eight thirds" cannot be read.'),
    "a number that is a shape": (
        "[ ] 8/3",
        "[ ] (8, 3)",
        'line 55: "(8, 3)" cannot be read: This question is answered with',
    ),
    "a tolerance that does not parse": ("within 0.005", "within a hair", 'line 49: "a hair" cannot be read.'),
    "a number twice among the answers": ("[ ] 8/3", "[ ] 16/18", "line 55: 16/18 is the same value as in line 51"),
    "two right numbers": ("[ ] 8/3", "[x] 8/3", "line 55: 8/9 is the right value already"),
    "nothing for any other number": (
        "- [ ] any other number\n\n  Write down x after each step.\n",
        "",
        'line 55: the last answer must be "- [ ] any other number"',
    ),
    "any other number is right": (
        "[ ] any other",
        "[x] any other",
        'line 59: the last answer must be "- [ ] any other number"',
    ),
    "a shape that does not parse": (
        "(3,)",
        "three",
        'line 73: "three" cannot be read: A shape consists of whole numbers',
    ),
    "a shape without brackets": ("(3,)", "3", 'line 73: "3" cannot be read: A shape has brackets'),
    "no model answer": (
        "**A model answer**\n",
        "",
        "line 85: a free text needs **A model answer**, a paragraph, **Does",
    ),
    "no points": (
        "- Nothing is there,\n  twice.\n- That is all.\n",
        "",
        "line 92: there are no points below this line",
    ),
    "something else among the points": ("- That is all.", "\nThat is all.", "line 97: only points are expected here"),
    "code without an end": ("x / 3\n```", "x / 3", "line 43: this code has no end"),
    "a line that would start a list": (
        "2 × 0?",
        "+ 0?",
        'line 8: a line must not begin with "+", which is Markdown',
    ),
    "a line that would be numbered": (
        "2 × 0?",
        "2. 0?",
        'line 8: a line must not begin with "2.", which is Markdown',
    ),
    "a line that would make a heading": (
        "2 × 0?",
        "---",
        'line 8: a line must not begin with "---", which is Markdown',
    ),
    "a paragraph that would be quoted": (
        "What is\n",
        "> What is\n",
        'line 7: ">" is Markdown, which a terminal would print',
    ),
    "a heading too small": ("Which are even?", "### Which", 'line 23: "###" is Markdown, which a terminal would print'),
    "emphasis": ("Nothing, twice,", "*Nothing*, twice,", 'line 14: "*N" is Markdown, which a terminal would print'),
    "emphasis by underscores": ("Nothing, twice,", "_Nothing_, twice,", 'line 14: "_" is Markdown'),
    "code in a text": ("This is 2 × 1", "This is `2 × 1`", 'line 19: "`" is Markdown'),
    "a link": ("This is 2", "[This](a.md) is 2", 'line 19: "](" is Markdown'),
    "a tag": ("This is 2", "<b>This is 2", 'line 19: "<b" is Markdown'),
    "an escape": ("This is 2 × 1.", "This is 2 \\* 1.", 'line 19: "\\*" is Markdown'),
    "a formula": ("This is 2 × 1.", "This is $2x$.", 'line 19: "$" is Markdown'),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_page_gives_one_sentence_with_file_and_line(fault, page):
    before, after, sentence = WRONG[fault]
    assert before in PAGE
    with pytest.raises(ValueError, match=r"^lesson_3\.md, " + re.escape(sentence)):
        read_page(page(PAGE.replace(before, after, 1)))


@pytest.mark.parametrize(
    "text", ["a_b and d_model", "2 * 3", "c > 0", "x < y", "row[1]", "~causal", r're.split(r"\b")']
)
def test_what_markdown_leaves_alone_may_be_written(text, page):
    assert read_page(page(PAGE.replace("This is 2 × 1.", text)))[0].choices[1].why == text


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_what_is_read_from_a_page_is_what_a_person_sees_there(path):
    mistune = pytest.importorskip("mistune")
    render = mistune.create_markdown(renderer="ast", plugins=["task_lists", "strikethrough", "table", "url"])
    seen = [block for node in render(path.read_text(encoding="utf-8")) for block in blocks_seen(node)]
    seen = seen[seen.index(next(block for block in seen if block[0] == "heading 2")) :]
    read = [block for question in read_page(path) for block in blocks_of(question)]
    for (kind, text), (expected_kind, expected) in zip(seen, read, strict=True):
        if expected_kind == "value":
            question, expected = expected
            kind, text = "value", question.read(text)
        assert (kind, text) == (expected_kind, expected)


def blocks_seen(node):
    """(what it is, its text) of each block that a renderer shows."""
    if node["type"] in ("paragraph", "block_text", "heading"):
        kind = f"heading {node['attrs']['level']}" if node["type"] == "heading" else "text"
        children = node["children"]
        if [child["type"] for child in children] in (["strong"], ["emphasis"]):
            kind, children = children[0]["type"], children[0]["children"]
        assert {child["type"] for child in children} <= {"text", "softbreak", "link"}, children
        yield kind, "".join(child.get("raw", " ") for child in children)
    elif node["type"] == "block_code":
        yield "code", node["raw"]
    elif node["type"] != "blank_line":
        if node["type"] == "task_list_item":
            yield "box", node["attrs"]["checked"]
        for child in node["children"]:
            yield from blocks_seen(child)


def blocks_of(question):
    """The same, from a question."""
    yield "heading 2", f"{question.number} {question.title}"
    text, *code = question.text.split("\n")
    yield "text", text
    if code:
        yield "code", "".join(f"{line.removeprefix('    ')}\n" for line in code)
    yield "emphasis", how(question)
    if isinstance(question, Choices):
        for choice in question.choices:
            yield from [("box", choice.is_right), ("text", choice.text), ("text", choice.why)]
    elif isinstance(question, FreeText):
        yield from [("strong", "A model answer"), ("text", question.model), ("strong", "Does yours say the same?")]
        yield from (("text", point) for point in question.points)
    else:
        for value, why in {question.right: question.why, **question.slips}.items():
            yield from [("box", value == question.right), ("value", (question, value)), ("text", why)]
        yield from [("box", False), ("text", f"any other {question.kind}"), ("text", question.pointer)]


def how(question):
    """How the question is answered, in words."""
    if isinstance(question, Number) and question.tolerance:
        decimals = f"{question.tolerance:.12f}".rstrip("0")
        return f"Answer with a number, to within {decimals}."
    return {
        OneOf: "Choose one.",
        SeveralOf: "Choose every one that is right.",
        Number: "Answer with a number.",
        Shape: "Answer with a shape.",
        FreeText: "Answer in your own words.",
    }[type(question)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_sealed_page_shows_its_title_alone_and_is_read_all_the_same(path, tmp_path):
    text = path.read_text(encoding="utf-8")
    packed = sealed(text)
    assert unsealed(packed) == unsealed(text) == text
    assert packed.splitlines()[0] == text.splitlines()[0]
    questions = read_page(path)
    assert not any(question.text in packed or question.title in packed for question in questions)
    (tmp_path / path.name).write_text(packed, encoding="utf-8")
    assert read_page(tmp_path / path.name) == questions


def test_a_page_is_read_once_and_only_when_one_of_its_questions_is_asked_for(monkeypatch):
    opened = []
    monkeypatch.setattr(lookup, "read_page", lambda path: opened.append(path.stem) or read_page(path))
    questions_of.cache_clear()
    for number in ("5.1", "5.2", "5.99", "2.1", "5.1"):
        answer(number)
    assert opened == ["lesson_5", "lesson_2"]
