"""Pages of the field guide: what is read is what stands there, and a wrong page is refused with file and line."""

import re

import pytest

from transformer_lessons.exercises import check
from transformer_lessons.exercises.checker import exercise as exercises
from transformer_lessons.exercises.checker.exercise import CATALOGUE, Exercise
from transformer_lessons.exercises.checker.pages import PageError, read_page
from transformer_lessons.exercises.checker.registry import EXERCISES, file_of
from transformer_lessons.exercises.checker.setup import Setup

README = (CATALOGUE / "README.md").read_text(encoding="utf-8")
PAGE = re.search(r"^    # `double_plus_one`.*?(?=^\*\*The right answer)", README, re.MULTILINE | re.DOTALL)[0]
PAGE = re.sub("^    ", "", PAGE, flags=re.MULTILINE)
PAGES = sorted(path for path in CATALOGUE.glob("*.md") if path.name != "README.md")


@pytest.fixture
def page(tmp_path):
    def write(text, name="double_plus_one.md"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


@pytest.fixture
def setup():
    return Setup(sizes=[{"n": 1}], draw=lambda generator, n: (n,))


def test_the_page_of_the_readme_is_read_as_it_stands(page, setup):
    exercise = Exercise(read_page(page(PAGE)), setup)
    assert (exercise.name, exercise.title) == ("double_plus_one", "Twice as much, plus one")
    assert (exercise.lesson, exercise.difficulty, exercise.importance, exercise.minutes) == (1, 1, 1, 2)
    assert exercise.contract == "double_plus_one(x) returns 2 * x + 1, for a tensor of any shape."
    assert exercise.hints == [("the numbers are too small", "What must be added to x, to make it twice as much?")]
    assert exercise.right.answer(3) == 7
    assert exercise.answers["with one product"].answer(3) == 7
    (mistake,) = exercise.mistakes.values()
    assert (mistake.name, mistake.why, mistake.look) == (
        "the square",
        "Each number is multiplied by itself.",
        "what does 3 become?",
    )
    assert mistake.hint == 1
    assert [variant.answer(3) for variant in mistake.variants] == [10, 10]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("# `double_plus_one` ·", "# double_plus_one,", r"double_plus_one.md:1: a title reads “# `name`"),
        ("difficulty 1 of 3", "difficulty 4 of 3", r":3: below the title stand lesson, difficulty"),
        ("## Hints", "## Clues", r":14: no section is called “Clues”"),
        ("1. **the numbers", "1. the numbers", r":16: a hint reads “1\. \*\*symptom"),
        ("shifted = doubled + 1", "shifted = doubled +", r":23: this line does not parse"),
        ("### Hint 1", "### The first", r":38: a section of mistakes is called “Hint 1”"),
        ("### Hint 1", "### Hint 2", r":40: no hint of double_plus_one is, or treats, “2”"),
        ("### Hint 1", "### Hint 0", r":40: no hint of double_plus_one is, or treats, “0”"),
        ("### Hint 1", "### Hint: size", r":38: a section of mistakes is called “Hint 1”"),
        ("*Lesson 1 · difficulty 1 of 3 · importance 1 of 3 · 2 minutes*\n", "", r":1: the page lacks lesson, diff"),
        ("    raise NotImplementedError\n```\n", "", r":9: this code has no end"),
        ("doubled = x**2\n```\n", "doubled = x**2\n", r":43: this code has no end"),
        (
            "def double_plus_one(x):\n    raise",
            "def double(x):\n    raise",
            r"must end in the definition of `double_plus_one`",
        ),
        (
            "## Also right\n\n### with one product\n\n",
            "",
            r":28: this code belongs to no section, or is the second in it",
        ),
        ("## Also right\n", "Also right:\n", r":27: this text belongs to no section"),
        ("### with one product\n", "### with one product\n\nShorter.\n", r":31: this text belongs to no section"),
        ("## Mistakes\n", "## Mistakes\n\nHere they are.\n", r":38: here stands what is included"),
        ("Each number is multiplied by itself.\n", "", r":40: “the square” does not say what is wrong"),
        ("*Look:* what", "What", r":40: “the square” needs one line that begins with \*Look:\*"),
        ("doubled = x**2", "doubled = x**", r":46: this line does not parse"),
        ("doubled = x * x", "    doubled = x * x", r":44: this line does not parse: unexpected indent"),
        ("doubled = x * x\n\ndoubled = x**2\n", "", r":44: a variant of “the square” shows no line of code"),
        ("doubled = x**2", "# three squared\n\ndoubled = x**2", r":46: a variant of “the square” shows no line"),
        (
            "doubled = x**2",
            "doubbled = x**2",
            r":40: “the square” sets `doubbled`, which nothing in double_plus_one reads",
        ),
        (
            "    doubled = x + x\n",
            "    try:\n        doubled = x + x\n    finally:\n        pass\n",
            r":21: no line inside",
        ),
        (
            "def double_plus_one(x):\n    raise",
            "class double_plus_one:\n    raise",
            r":10: a stub that is a class needs",
        ),
        ("## Also right\n\n### with one product", "## Also right\n\n## Hints", r"two headings “Hints”"),
    ],
)
def test_a_wrong_page_is_refused_with_file_and_line(page, setup, old, new, sentence):
    assert old in PAGE
    with pytest.raises(PageError, match=sentence):
        _ = Exercise(read_page(page(PAGE.replace(old, new, 1))), setup).mistakes


def test_check_names_the_file_and_the_line_of_a_wrong_page(page, setup, monkeypatch):
    exercise = Exercise(read_page(page(PAGE.replace("doubled = x**2", "doubbled = x**2"))), setup)
    monkeypatch.setitem(EXERCISES, "double_plus_one", exercise)
    told = " ".join(check("double_plus_one", lambda x: 5 * x).message.split())
    assert "(PageError: double_plus_one.md:40: “the square” sets `doubbled`, which nothing in" in told


@pytest.mark.parametrize("lines", ["squared = x * x\ndoubled = squared", "(rows,) = x.shape", "x[0]", "assert x > 0"])
def test_a_variant_may_set_new_names_that_it_reads_or_that_a_shape_is_taken_apart_into(page, setup, lines):
    text = PAGE.replace("doubled = x**2", lines)
    assert "the square" in Exercise(read_page(page(text)), setup).mistakes


@pytest.mark.parametrize("section", ["What is asked", "The right answer"])
def test_a_page_without_a_section_is_refused(page, section):
    text = re.sub(rf"^## {section}\n.*?^(?=## )", "", PAGE, flags=re.MULTILINE | re.DOTALL)
    with pytest.raises(PageError, match=f"double_plus_one.md:1: the page lacks {section.lower()}"):
        read_page(page(text))


def test_a_mistake_that_comes_twice_is_refused(page, setup):
    mistake = PAGE[PAGE.index("#### the square") :]
    with pytest.raises(PageError, match="two headings “the square”"):
        read_page(page(PAGE + "\n" + mistake))


FAMILY = """# Family · powers

## Mistakes

### Hint: size

#### the cube
Each number is multiplied by itself twice.
*Look:* what does 2 become?
```python
amount = x**3
```
"""


@pytest.fixture
def family(page, monkeypatch):
    path = page(FAMILY, "powers.md")
    monkeypatch.setattr(exercises, "CATALOGUE", path.parent)


def including(line, exceptions=""):
    return PAGE.replace("## Mistakes\n", f"## Mistakes\n\n{line}\n\n{exceptions}", 1)


INCLUDED = "Included: [powers](powers.md), with `amount` as `doubled`"


@pytest.mark.usefixtures("family")
def test_a_family_is_included_under_other_names_with_the_hint_for_its_topic(page, setup):
    text = including(INCLUDED).replace("too small**:", "too small** (size):")
    exercise = Exercise(read_page(page(text)), setup)
    assert list(exercise.mistakes) == ["the cube", "the square"]
    assert exercise.mistakes["the cube"].variants[0].answer(2) == 9
    assert exercise.mistakes["the cube"].hint == 1


@pytest.mark.usefixtures("family")
def test_an_exception_leaves_a_mistake_out(page, setup):
    for arrow in ("right here", "cannot occur, as no x is negative", "the square"):
        exercise = Exercise(read_page(page(including(INCLUDED, f"- the cube → {arrow}\n\n"))), setup)
        assert list(exercise.mistakes) == ["the square"]


@pytest.mark.usefixtures("family")
def test_a_topic_that_no_hint_treats_is_refused(page, setup):
    exercise = Exercise(read_page(page(including(INCLUDED).replace(" (size)", ""))), setup)
    with pytest.raises(PageError, match="no hint of double_plus_one is, or treats, “size”"):
        _ = exercise.mistakes


@pytest.mark.usefixtures("family")
@pytest.mark.parametrize(
    ("line", "exceptions", "sentence"),
    [
        (INCLUDED.replace("powers.md", "roots.md"), "", "there is no family roots.md"),
        (INCLUDED, "- the root → right here\n\n", "powers.md has no mistake “the root”"),
        (INCLUDED, "- the cube\n\n", "an exception reads"),
        (INCLUDED, "- the cube → below\n\n", "“the cube → below” leads nowhere"),
        (INCLUDED, "- the cube → the sphere\n\n", "“the cube → the sphere” leads nowhere"),
        (INCLUDED.replace("Included", "included"), "", ":38: here stands what is included"),
        (INCLUDED.replace("`doubled`", "doubled"), "", ":38: here stands what is included"),
    ],
)
def test_a_wrong_include_is_refused(page, setup, line, exceptions, sentence):
    with pytest.raises(PageError, match=sentence):
        _ = Exercise(read_page(page(including(line, exceptions))), setup).mistakes


@pytest.mark.usefixtures("family")
def test_a_mistake_of_the_page_and_of_its_family_is_refused(page, setup):
    text = including(INCLUDED).replace("#### the square", "#### the cube")
    with pytest.raises(PageError, match="two mistakes called “the cube”"):
        _ = Exercise(read_page(page(text)), setup).mistakes


def test_each_page_belongs_to_an_exercise_or_is_included_by_one():
    used = {file_of(name) for name in EXERCISES}
    used |= {item.family for one in EXERCISES.values() for item in one.page.mistakes if hasattr(item, "family")}
    assert {path.stem for path in PAGES} == used


def test_no_setup_imports_from_another_and_the_readme_lists_every_module_that_setups_share():
    modules = {path.stem: path.read_text(encoding="utf-8") for path in CATALOGUE.glob("*.py")}
    imported = re.compile(
        r"^from transformer_lessons\.exercises\.catalogue(?:\.(\w+) import| import (\w+))", re.MULTILINE
    )
    shared = {found[1] or found[2] for text in modules.values() for found in imported.finditer(text)}
    assert not shared & {file_of(name) for name in EXERCISES}
    listed = re.search(r"\*\*What modules share\*\*.+?\n\n", README, re.DOTALL)[0]
    assert shared <= set(re.findall(r"`(\w+)\.py`", listed))
    assert "byte_parts" in shared


def test_the_mistake_that_contributing_shows_stands_on_its_page():
    text = (CATALOGUE.parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^````markdown\n(.+?)^````", text, re.MULTILINE | re.DOTALL)
    assert f"\n{example}\n" in (CATALOGUE / "layer_norm.md").read_text(encoding="utf-8")
