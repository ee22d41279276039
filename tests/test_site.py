"""The reading site: what stands on its pages, and that nothing on them comes from elsewhere.

Only the last tests need Sphinx; in a browser the pages are opened by site_browser.py.
"""

import importlib.util
import json
import re
import sys
from html import unescape
from pathlib import Path

import pytest

from transformer_lessons.exercises.asking import FreeText, SeveralOf, all_questions, tell, verdict
from transformer_lessons.exercises.exercise import EXERCISES

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / ".site"
sys.path.append(str(SITE))  # as when build.py runs
BUILDS = all(importlib.util.find_spec(name) for name in ("sphinx", "myst_nb", "furo"))
needs_sphinx = pytest.mark.skipif(not BUILDS, reason="the extra [site] is not installed")


def load(name):
    """A file of .site as a module."""
    specification = importlib.util.spec_from_file_location(name, SITE / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


pages = load("pages")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """{page: text} of everything that Sphinx reads."""
    return pages.write(tmp_path_factory.mktemp("sources"))


def contents(page):
    """The entries of a page's tables of contents."""
    tables = re.findall(r"^```\{toctree\}\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    return [line for table in tables for line in table.splitlines() if line and not line.startswith(":")]


def text_of(page):
    """A page without its tags and marks."""
    return unescape(re.sub(r"</?code>|\\(?=\W)", "", page))


def is_verdict(output):
    return "".join(output.get("text", "")).startswith(("○", "✓", "✗"))


def cells_of(page, kind):
    return [cell for cell in json.loads(page)["cells"] if cell["cell_type"] == kind]


# --- what stands on the pages ---


def test_every_page_is_in_a_table_of_contents_and_every_entry_is_a_page(written):
    entries = ["index"]
    for name, text in written.items():
        if name.endswith(".md"):
            entries += [str(Path(name).parent / entry) for entry in contents(text)]
    assert sorted(entries) == sorted(name.rpartition(".")[0] for name in written)


def test_every_notebook_is_in_the_contents_and_on_the_front_page_with_its_promise(written):
    notebooks = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
    assert len(notebooks) >= 7
    assert [f"notebooks/{path.stem}" for path in notebooks] == contents(written["index.md"])[:len(notebooks)]
    for path in notebooks:
        told = pages.told_by(path)
        assert f"[**{told['title']}**](notebooks/{path.name})\n  {told['promise']}" in written["index.md"]


def test_the_front_page_gives_lesson_3_by_its_question(written):
    assert "[**3 · Why divide by √d**](notebooks/03_scaling.ipynb)" in written["index.md"]


def test_a_lesson_keeps_its_code_and_all_its_outputs_but_for_the_line_ends_of_verdicts(written):
    for path in pages.LESSONS:
        before = cells_of(path.read_text(encoding="utf-8"), "code")
        after = cells_of(written[f"notebooks/{path.name}"], "code")
        assert [cell["source"] for cell in before] == [cell["source"] for cell in after]
        for one, other in zip(before, after, strict=True):
            pairs = zip(one["outputs"], other["outputs"], strict=True)
            assert all(before == after for before, after in pairs if not is_verdict(before))


def test_every_exercise_is_in_the_index_with_its_measures(written):
    for name, exercise in EXERCISES.items():
        row = next(line for line in written["exercises/index.md"].splitlines() if f"[`{name}`]" in line)
        measures = [exercise.difficulty, exercise.importance, exercise.minutes, len(exercise.mistakes)]
        assert [int(cell) for cell in row.split("|")[-5:-1]] == measures
        assert f"lesson {exercise.lesson}" in row


@pytest.mark.parametrize("name", EXERCISES)
def test_the_page_of_an_exercise_tells_every_mistake_hint_and_a_solution(name, written):
    exercise, page = EXERCISES[name], text_of(written[f"exercises/{name}.md"])
    rows = re.findall(r'<tr><th scope="row">(.*?)</th><td>(.*?) <em>→ (.*?)</em></td></tr>', page)
    mistakes = exercise.mistakes.values()
    assert rows == [tuple(text.replace("`", "") for text in (m.name, m.why, m.look)) for m in mistakes]
    assert all(text.replace("`", "") in page for hint in exercise.hints for text in hint)
    assert exercise.solution_text().strip() in written[f"exercises/{name}.md"]


def test_below_its_cell_a_question_is_answered_and_an_exercise_has_its_hints(written):
    for path in pages.LESSONS:
        page = written[f"notebooks/{path.name}"]
        code = "\n".join("".join(cell["source"]) for cell in cells_of(page, "code"))
        prose = text_of("\n".join("".join(cell["source"]) for cell in cells_of(page, "markdown")))
        for number in re.findall(r'^answer\("([\d.]+)"', code, flags=re.MULTILINE):
            question = all_questions()[number]
            if isinstance(question, SeveralOf):
                assert all(choice.why.replace("`", "") in prose for choice in question.choices)
            elif not isinstance(question, FreeText):
                assert question.why.replace("`", "") in prose
        for name in set(re.findall(r'\bcheck\("(\w+)"', code)):
            assert prose.count(f"exercises/{name}.md") == 1
            assert all(text.replace("`", "") in prose for hint in EXERCISES[name].hints for text in hint)


@pytest.mark.parametrize("number", all_questions())
def test_a_question_is_unwrapped_as_it_was_written(number, capsys):
    question = all_questions()[number]
    _, said = verdict(question, None)
    shown = tell("not attempted", "○ A title", said).message
    assert pages.unwrapped(shown).splitlines()[1:] == [line for part in said for line in part.splitlines()]


def test_a_table_of_numbers_is_not_unwrapped():
    table = "○ a verdict\n" + "\n".join("1.00 " * 12 for _ in range(4))
    assert pages.unwrapped(table) == table


@pytest.mark.parametrize("room", pages.ROOMS)
def test_the_page_of_a_room_shows_every_line_of_its_source_in_order(room, written):
    path = pages.PACKAGE / f"{room}.py"
    path = path if path.exists() else pages.PACKAGE / room / "__init__.py"
    source = path.read_text(encoding="utf-8")
    told, pieces = pages.pieces_of(source)
    code = "\n".join(code for _, code in pieces)
    rest = source.removeprefix(f'"""{told}"""').removeprefix(f'"""{told}\n"""')
    assert told
    assert [line for line in code.splitlines() if line] == [line for line in rest.splitlines() if line]
    assert all(f"```python\n{code}\n```" in written[f"reference/{room}.md"] for _, code in pieces)


def test_a_decorator_and_a_remark_belong_to_the_definition_below():
    function, kind = "# a remark\n@decorated\ndef f():\n    pass", "class C:\n    pass"
    told, pieces = pages.pieces_of(f'"""Told."""\n\nx = 1\n\n\n{function}\n\n\n{kind}\n')
    assert told == "Told."
    assert pieces == [(None, "x = 1"), ("f", function), ("C", kind)]


def test_text_of_the_package_shows_its_marks_and_its_code():
    assert pages.plain("a * b_c, `a * b`") == r"a \* b\_c, `a * b`"
    assert pages.html("a < b, `a < b`") == "a &lt; b, <code>a &lt; b</code>"


# --- nothing comes from elsewhere ---

MAKERS = [path for path in sorted(SITE.rglob("*")) if path.suffix in (".py", ".css", ".js")]
LOADED = r"(?:src|srcset)=\\?[\"'](?:https?:)?//|url\(\\?[\"']?https?:|!\[[^]]*\]\(https?:"


@pytest.mark.parametrize("path", MAKERS, ids=lambda path: path.name)
def test_no_address_stands_in_what_makes_the_site(path):
    assert re.findall(r"https?:|[\"'(]//\w", path.read_text(encoding="utf-8")) == []


def test_no_page_is_given_a_picture_a_script_or_a_style_from_elsewhere(written):
    for name, text in written.items():
        if not name.startswith("reference/"):  # these show source, they do not run it
            assert re.findall(LOADED, text) == [], name


# --- the command ---


def test_without_sphinx_the_command_says_what_to_install(monkeypatch, capsys, tmp_path):
    build = load("build")
    monkeypatch.setattr(build.importlib.util, "find_spec", lambda name: None if name == "furo" else True)
    assert build.main([str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "with furo, not installed here" in said
    assert "pip install -c .ci/constraints.txt -e .[site]" in said
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_else_is_left_alone(monkeypatch, capsys, tmp_path):
    build = load("build")
    monkeypatch.setattr(build.importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(build, "build", lambda folder: pytest.fail("it builds"))
    (tmp_path / "diary.txt").write_text("mine", encoding="utf-8")
    assert build.main([str(tmp_path)]) == 1
    assert "holds something else" in capsys.readouterr().err


# --- with Sphinx ---


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "site"
    path, modules = list(sys.path), set(sys.modules)
    assert load("build").build(folder) == 0
    sys.path[:] = path
    for name in {"anchors", "formulas"} - modules:
        sys.modules.pop(name, None)
    return folder


@needs_sphinx
def test_every_page_is_built_and_every_picture_has_alternative_text(site, written):
    built = {str(path.relative_to(site).with_suffix("")) for path in site.rglob("*.html")}
    assert {name.rpartition(".")[0] for name in written} <= built
    for path in site.rglob("*.html"):
        for picture in re.findall(r"<img[^>]*>", path.read_text(encoding="utf-8")):
            assert re.search(r'alt="[^"]', picture), f"{path.name}: {picture[:100]}"


@needs_sphinx
def test_no_built_page_loads_anything_from_elsewhere(site):
    for path in [*site.rglob("*.html"), *site.rglob("*.css")]:
        text = re.sub(r"<a [^>]*>", "", path.read_text(encoding="utf-8"))
        found = re.findall(r"(?:src|href)=\"(?:https?:)?//|url\([\"']?(?:https?:)?//|@import", text)
        assert found == [], path


@needs_sphinx
def test_the_front_page_is_small(site):
    page = (site / "index.html").read_text(encoding="utf-8")
    named = set(re.findall(r'(?:src|href)="([^"?#]+\.(?:css|js|svg))', page))
    assert len(named) >= 8
    assert sum((site / name).stat().st_size for name in named | {"index.html"}) < 1_000_000


def formulas_of(path):
    cells = cells_of(path.read_text(encoding="utf-8"), "markdown")
    prose = "\n\n".join("".join(cell["source"]) for cell in cells)
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", prose, flags=re.DOTALL)
    return [one or other for one, other in re.findall(r"\$\$(.+?)\$\$|\$([^$]+?)\$", prose, flags=re.DOTALL)]


@needs_sphinx
def test_every_formula_of_the_lessons_is_built(site):
    for path in pages.LESSONS:
        built = (site / f"notebooks/{path.stem}.html").read_text(encoding="utf-8")
        assert built.count("<math") == len(formulas_of(path))


@needs_sphinx
@pytest.mark.parametrize("path", pages.LESSONS, ids=lambda path: path.stem)
def test_the_font_has_every_sign_of_the_formulas(path):
    from fontTools.ttLib import TTFont
    mathml = load("formulas").mathml
    there = set(TTFont(SITE / "static/noto-sans-math-subset.woff").getBestCmap())
    for formula in formulas_of(path):
        found = mathml(formula, False)
        signs = set(unescape(re.sub(r"<[^>]*>|\s", "", found)))
        signs |= {italic(letter) for letter in re.findall(r"<mi>(\w)</mi>", found)}
        assert {sign for sign in signs if ord(sign) not in there} <= {"\N{FUNCTION APPLICATION}"}, formula


def italic(letter):
    """What a browser shows for a name of one letter."""
    starts = {"A": 0x1D434, "a": 0x1D44E, "\N{GREEK CAPITAL LETTER ALPHA}": 0x1D6E2, "α": 0x1D6FC}
    for first, start in starts.items():
        if 0 <= ord(letter) - ord(first) < (26 if first in "Aa" else 25):
            return "\N{PLANCK CONSTANT}" if letter == "h" else chr(start + ord(letter) - ord(first))
    return letter


@needs_sphinx
def test_names_of_functions_stand_apart_and_unknown_commands_are_refused():
    from docutils.utils.math import MathError
    mathml = load("formulas").mathml
    assert mathml(r"\sin a \cos b", False).count("<mspace") == 3
    assert mathml(r"\sin(a) + \sin^2", False).count("<mspace") == 0
    with pytest.raises(MathError):
        mathml(r"\nonsense{x}", False)
