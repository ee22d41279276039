"""The reading site: what stands on its pages, and that nothing on them comes from elsewhere.

Only the last tests need Sphinx; in a browser the pages are opened by site_browser.py.
"""

import base64
import importlib.util
import json
import math
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
import torch

from transformer_lessons.exercises.checker.parts import Part
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.report import Report
from transformer_lessons.exercises.questions.kinds import Choices, FreeText
from transformer_lessons.exercises.questions.lookup import all_questions
from transformer_lessons.inspection.attention_maps import attention_weights
from transformer_lessons.language import checkpoints

ROOT = Path(__file__).resolve().parents[2]
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


pages = load("pages")  # which imports the others
by_hand = sys.modules["by_hand"]
evidence = sys.modules["evidence"]
exercises = sys.modules["exercises"]
facts = sys.modules["facts"]
finding = sys.modules["finding"]
glossary = sys.modules["glossary"]
lessons = sys.modules["lessons"]
markup = sys.modules["markup"]
opening = sys.modules["opening"]
poster = sys.modules["poster"]
questions = sys.modules["questions"]
recording = sys.modules["recording"]
reference = sys.modules["reference"]
repository = sys.modules["repository"]
start = sys.modules["start"]
verdicts = sys.modules["verdicts"]
wrong_lines = sys.modules["wrong_lines"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """{page: text} of everything that Sphinx reads."""
    return pages.write(tmp_path_factory.mktemp("sources"))


def contents(page):
    """The entries of a page's tables of contents."""
    tables = re.findall(r"^```\{toctree\}\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    lines = [line for table in tables for line in table.splitlines() if line and not line.startswith(":")]
    return [re.sub(r"^.+<(.+)>$", r"\1", line) for line in lines]  # a page may be listed under another name


def text_of(page):
    """A page without its tags and marks; an index stands behind its letter again."""
    page = re.sub(r"<i>(\w)</i><sub>(\w)</sub>", r"\1_\2", page)
    return unescape(re.sub(r"</?(?:code|i)>|\\(?=\W)", "", page))


def plain(text):
    return text.replace("`", "").replace("−", "-")


def cells_of(page, kind):
    return [cell for cell in json.loads(page)["cells"] if cell["cell_type"] == kind]


# --- what stands on the pages ---


def test_every_page_is_in_a_table_of_contents_and_every_entry_is_a_page(written):
    entries = ["index"]
    for name, text in written.items():
        if name.endswith(".md"):
            entries += [str(Path("/", name).parent / entry)[1:] for entry in contents(text)]
    assert sorted(entries) == sorted(name.rpartition(".")[0] for name in written)


def test_every_notebook_is_in_the_contents_and_on_the_front_page_with_its_promise(written):
    notebooks = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
    assert len(notebooks) >= 8
    assert [f"notebooks/{path.stem}" for path in notebooks] == contents(written["index.md"])[: len(notebooks)]
    for number, path in enumerate(notebooks, 1):
        told = facts.facts_of(path)
        assert told["title"].startswith(f"{number} · ")  # the path counts its steps
        name = told["title"].partition(" · ")[2]
        card = f'<a href="notebooks/{path.stem}.html"><strong>{name}</strong></a> <span>{told["promise"]}</span>'
        assert card in written["index.md"]


def test_the_front_page_shows_what_the_check_says_of_each_answer(written):
    verdicts = re.findall(r'<div class="verdict (\w+)"><p>(.+?)</p>', written["index.md"])
    name = "scaled_dot_product_attention"
    assert verdicts == [
        ("wrong", f"✗ {name}: softmax over the queries."),
        ("wrong", f"✗ {name}: no scaling."),
        ("wrong", f"✗ {name}: divided by the wrong function of d."),
        ("right", f"✓ {name}"),
    ]
    assert written["index.md"].count('name="answer"') == len(verdicts)


def test_below_an_exercise_are_wrong_answers_and_what_its_check_says_of_them(written):
    for name, exercise in EXERCISES.items():
        card = exercises.samples(exercise, True)
        labels = [unescape(label) for label in re.findall(r"<label [^>]*>(.+?)</label>", card)]
        said = [unescape(line) for line in re.findall(r'<div class="verdict wrong"><p>(.+?)</p>', card)]
        assert said == [f"✗ {name}: {label}." for label in labels]
        assert len(labels) == exercises.SAMPLES
        assert card in written[f"exercises/{name}.md"]


def test_a_verdicts_sentences_are_whole_and_its_columns_stay():
    said = (
        Part("why", "A row is cut " * 7 + "where it is full."),
        Part("table", "weights", [("0.50  0.66  0.55", "0.45  0.30  0.25")]),
        Part("look", "here."),
        Part("hint", 'Need more? hint("softmax", 1)'),
    )
    report = Report("softmax", "failed", "no exponential.", said)
    shown = re.findall(r"<(pre|p)\b[^>]*>(.+?)</(?:p|pre)>", verdicts.verdict(report), flags=re.DOTALL)
    assert [kind for kind, _ in shown] == ["p", "p", "pre", "p"], "hint() is of no use on a page"
    assert shown[1][1].endswith("where it is full.")
    assert shown[2][1] == "yours: weights      expected\n0.50  0.66  0.55    0.45  0.30  0.25"


def test_every_diagram_stands_in_its_page_wide_and_narrow_in_both_themes_with_its_alternative_text(written):
    diagrams = []
    for name, text in written.items():
        parts = ["".join(cell["source"]) for cell in cells_of(text, "markdown")] if name.endswith(".ipynb") else [text]
        diagrams += re.findall(r'<p class="diagram">(.+?)</p>', "\n".join(parts), flags=re.DOTALL)
        assert not re.search(r"!\[[^]]*\]\([^)]*\.svg\)", "\n".join(parts)), name
    assert len(diagrams) > 12
    for diagram in diagrams:
        picture = re.search(r'href="[./]*beside/(imgs/\w+\.svg)"', diagram)[1]
        assert (ROOT / picture).is_file()
        assert re.findall(r'<svg [^>]*width="(\d+)"', diagram) == ["760", "380"], picture
        assert len(set(re.findall(r'<svg [^>]*role="img" aria-label="([^"]+)"', diagram))) == 1, picture
        assert not re.search(r'="#|\bid=|aria-labelledby|\n\s*\n', diagram), picture
        assert "light-dark(#1f2328, " in diagram


def test_every_lesson_has_its_icon(written):
    assert written["index.md"].count('<svg width="136"') == len(facts.LESSONS)


def test_the_front_page_has_a_playground_and_says_how_long_the_course_takes(written):
    assert "about 15 hours" in written["index.md"]
    assert written["index.md"].count('<div class="playground') == 1


def test_the_facts_of_a_lesson_are_a_list_not_a_table_without_a_head(written):
    for path in facts.LESSONS:
        first = "".join(json.loads(written[f"notebooks/{path.name}"])["cells"][0]["source"])
        assert "{.facts}\n- **You need** " in first
        assert "| |" not in first


def test_a_lesson_keeps_its_code_and_all_its_outputs_but_for_what_one_answers_there(written):
    for path in facts.LESSONS:
        before = cells_of(path.read_text(encoding="utf-8"), "code")
        first = json.loads(written[f"notebooks/{path.name}"])["cells"][0]["source"]
        before = [
            cell for cell in before if not (is_answered_there("".join(cell["source"])) or is_up_there(cell, first))
        ]
        after = cells_of(written[f"notebooks/{path.name}"], "code")
        assert list(map(held_by, before)) == joined(after)


def is_answered_there(source):
    """A question that is clicked; the stub and the check of an exercise that is typed."""
    return lessons.ASKED.fullmatch(source) or lessons.to_be_typed(source) or lessons.is_judged_by_the_page(source)


def is_up_there(cell, first):
    """A playground that has come up to the title's picture."""
    return bool(markup.playground_of(cell)) and markup.playground_of(cell) in first


def held_by(cell):
    return cell["id"], "".join(cell["source"]), cell["outputs"]


def joined(cells):
    """What cells hold; the call that draws a picture stands behind the lines that were cut off before it."""
    held = [held_by(cell) for cell in cells]
    for (name, code, outputs), (other, drawing, pictures) in zip(held, [*held[1:], ("", "", [])], strict=True):
        if name == f"{other}-before":
            held[held.index((other, drawing, pictures))] = (other, f"{code}\n{drawing}", outputs + pictures)
    return [one for one in held if not one[0].endswith("-before")]


def test_the_call_that_draws_a_picture_is_folded_if_it_has_several_lines(written):
    drawings = 0
    for path in facts.LESSONS:
        for cell in cells_of(written[f"notebooks/{path.name}"], "code"):
            call = re.search(r"^plots\.show_\w+\(\n", "".join(cell["source"]), flags=re.MULTILINE)
            if "drawing" in cell["metadata"].get("tags", []):
                assert "hide-input" in cell["metadata"]["tags"]
                assert call is not None, cell["id"]
                assert call.start() == 0, cell["id"]
                assert ["image/png" in output["data"] for output in cell["outputs"]] == [True]
                drawings += 1
    assert drawings > 20


def test_a_cell_of_many_lines_that_draws_shows_its_picture_alone_where_it_is_presented(written):
    marked = []
    for path in facts.LESSONS:
        for cell in cells_of(written[f"notebooks/{path.name}"], "code"):
            if "draws" in cell["metadata"].get("tags", []):
                assert "drawing" not in cell["metadata"]["tags"]
                assert any("image/png" in output.get("data", {}) for output in cell["outputs"])
                marked.append((path.name[:2], "".join(cell["source"]).count("\n") + 1))
    assert {"04", "07", "11", "12"} <= {lesson for lesson, _ in marked}
    assert min(lines for _, lines in marked) > 5


def test_an_index_stands_below_its_letter():
    assert questions.in_html("Is |x_j| > 0 in W_Kᵀ?") == "Is |<i>x</i><sub>j</sub>| &gt; 0 in <i>W</i><sub>K</sub>ᵀ?"
    assert questions.in_html("√d_k is not √d_model") == "√<i>d</i><sub>k</sub> is not √<code>d_model</code>"
    assert markup.plain("W_O times x_i") == r"<i>W</i><sub>O</sub> times x\_i"
    assert markup.html("W_O, `W_O`") == "<i>W</i><sub>O</sub>, <code>W_O</code>"


def test_an_excerpt_keeps_the_signs_of_code_and_drops_the_marks_of_prose():
    prose = finding.words_of("- As the *query*, $x_i$ asks.")
    assert prose == "As the query, xᵢ asks."
    formula = r"So $$\mathrm{norm}(x)_i = \frac{x_i - \mu}{\sqrt{\sigma^2 + 1}}$$ and $e^{s_j - m}$, $W_Q K^\top$."
    assert finding.words_of(formula) == "So norm(x)ᵢ = (xᵢ - μ) / (√(σ² + 1)) and e^(sⱼ - m), W_Q Kᵀ."
    assert finding.words_of(finding.code_of({"source": 'table = {"red": a * b[0]}'})) == 'table = {"red": a * b[0]}'


def test_an_output_that_is_saved_folded_is_folded_on_the_page(written):
    for path in facts.LESSONS:
        for cell in cells_of(written[f"notebooks/{path.name}"], "code"):
            folded = bool(cell["outputs"]) and cell["metadata"].get("jupyter", {}).get("outputs_hidden", False)
            assert ("hide-output" in cell["metadata"].get("tags", [])) == folded


def test_every_exercise_is_in_the_index_below_its_lesson_with_its_measures(written):
    sections = re.findall(r"<section>(.*?)</section>", written["exercises/index.md"], flags=re.DOTALL)
    for name, exercise in EXERCISES.items():
        section = next(section for section in sections if f'href="{name}.html"' in section)
        assert f'<a href="../notebooks/{exercises.lesson_of(exercise).stem}.html">{exercise.lesson} · ' in section
        row = next(line for line in section.splitlines() if f'data-exercise="{name}"' in line)
        assert f"Difficulty {exercise.difficulty} of 3, importance {exercise.importance} of 3." in row
        assert f"<span>{exercise.minutes} min</span> <span>{len(exercise.mistakes)} mistakes</span>" in row


def test_a_puzzle_is_the_right_answer_with_one_line_that_a_known_mistake_has_instead(written):
    for name, exercise in EXERCISES.items():
        right, puzzles = wrong_lines.puzzles_of(exercise)
        assert len(puzzles) >= 10
        assert f'<option value="{name}">{name} ({len(puzzles)})</option>' in written["wrong_lines.md"]
        assert f'<div class="wrong-lines" data-exercise="{name}" hidden>' in written[f"exercises/{name}.md"]
        assert f"Which line is wrong? {len(puzzles)} puzzles" in written[f"exercises/{name}.md"]
        for mistake, anchor, *_, at, line in puzzles:
            assert line != right[at]
            codes = [wrong_lines.code_of(variant.tree) for variant in exercise.mistakes[mistake].variants]
            assert [*right[:at], line, *right[at + 1 :]] in codes, mistake
            assert f'<details class="mistake" id="{anchor}">' in written[f"exercises/{name}.md"]


def test_the_puzzles_of_an_exercise_are_a_script_of_their_own(written, tmp_path):
    wrong_lines.write_puzzles(tmp_path / "puzzles")
    script = (tmp_path / "puzzles/softmax.js").read_text(encoding="utf-8")
    told = json.loads(script.partition('["softmax"] = ')[2].rstrip(";\n"))
    assert (told["right"], told["puzzles"]) == wrong_lines.puzzles_of(EXERCISES["softmax"])
    assert "beside/wrong-lines/${wanted}.js" in (SITE / "static/wrong_lines.js").read_text(encoding="utf-8")


def test_the_glossary_has_every_term_once_with_an_anchor_and_its_lesson(written):
    terms = glossary.terms()
    anchors = re.findall(r'<div class="term" id="([^"]+)">', written["notebooks/glossary.md"])
    assert len(anchors) == len(set(anchors)) == len(terms) > 100
    for term, _, path in terms:
        row = f"<dt>{markup.html(term)}</dt>"
        assert row in written["notebooks/glossary.md"]
        assert (
            f'<a href="{path.stem}.html"' in written["notebooks/glossary.md"].partition(row)[2].partition("</div>")[0]
        )


def test_every_question_can_be_linked_to_and_remembered(written):
    for path in facts.LESSONS:
        page = "\n".join("".join(cell["source"]) for cell in cells_of(written[f"notebooks/{path.name}"], "markdown"))
        numbers = re.findall(r'<div class="question" data-question="([\d.]+)" id="question-\1">', page)
        assert numbers == [number for number in all_questions() if int(number.split(".")[0]) == int(path.name[:2])]
        assert page.count('class="question"') == len(numbers)


def test_the_opening_says_numbers_that_can_be_checked_by_hand():
    weights = [1 / (1 + 2 * math.e**2), math.e**2 / (1 + 2 * math.e**2), math.e**2 / (1 + 2 * math.e**2)]
    average = weights[1] * 2 + weights[2] * 1, weights[2] * 1
    text = re.sub("<[^>]+>", "", opening.opening())
    assert f"1 + 7.39 + 7.39 = {1 + 2 * math.e**2:.2f}" in text
    assert ", ".join(f"{weight:.3f}" for weight in weights) == "0.063, 0.468, 0.468"
    assert "The weights are 0.063, 0.468, 0.468" in text
    assert f"= ({average[0]:.2f}, {average[1]:.2f})" in text
    assert f"{0.468 * 2 + 0.468:.2f}, {0.468:.2f}" == f"{average[0]:.2f}, {average[1]:.2f}"  # also from what is shown
    assert f"give ({average[1]:.2f}, {average[0]:.2f})" in text  # savings is river with water and money exchanged


def test_the_start_page_loads_no_weight_before_the_press_and_then_the_whole_model(written, tmp_path):
    page = written["index.md"]
    named = re.findall(r'<(?:script|link) [^>]*(?:src|href)="([^"]*)"', page)
    assert named == ["beside/live/live.css", "_static/recording.js", "_static/start.js"]
    parts = int(re.search(r'data-parts="(\d+)"', page)[1])
    pages.write_model(tmp_path / "live")
    scripts = [(tmp_path / f"live/weights-{number}.js").read_text(encoding="utf-8") for number in range(parts)]
    assert not (tmp_path / f"live/weights-{parts}.js").exists()
    data = b"".join(base64.b64decode(re.search(r'push\("(.*)"\)', script)[1]) for script in scripts)
    assert data == pages.SHIPPED.read_bytes()


def test_the_sums_that_the_opening_draws_can_be_checked_by_hand():
    picture = opening.picture()
    for step in (5, 6):
        lines = re.search(rf'<g class="at-{step}">.*?sum</text>', picture)[0]
        shown = re.findall(r'x="(\d+)" y="\d+" class="later[^>]*>([\d. ·]+)<', lines)
        for column in {x for x, _ in shown}:
            *products, total = (text for x, text in shown if x == column)
            terms = [float(weight) * int(number) for weight, number in (product.split(" · ") for product in products)]
            assert len(terms) == 3
            assert f"{sum(terms):.2f}" == total
    shares = re.findall(r">([\d.]+) / ([\d.]+) = ([\d.]+)<", picture)
    assert len(shares) == 2
    assert all(f"{float(power) / float(total):.3f}" == share for power, total, share in shares)
    scores = re.findall(r">1 · (\d)<.*?>\+ 1 · (\d)<.*?>= (\d)<", picture)
    assert scores == [("0", "0", "0"), ("2", "0", "2"), ("1", "1", "2")]


def test_the_dotted_lines_of_the_opening_begin_below_the_word_that_is_asked_about():
    picture = opening.picture()
    starts = re.search(r'class="asking at-1" d="M(\d+) (\d+)C[^M]*M(\d+) (\d+)C', picture).groups()
    x, y = map(int, re.search(r'<text x="(\d+)" y="(\d+)" class="sentence asks">bank', picture).groups())
    assert all(abs(int(at) - x) <= 10 for at in starts[::2])
    assert all(y < int(at) <= y + 20 for at in starts[1::2])


def test_every_layer_of_the_posters_heads_is_named():
    page = poster.poster()
    layers = re.findall(r'<span class="row" aria-hidden="true">layer (\d+)</span><span class="head', page)
    assert layers == [str(number) for number in range(page.count('class="row"'))]
    assert len(layers) == checkpoints.load_model()[0].config.num_layers


def test_the_cards_for_teachers_lead_to_headings_that_exist(written):
    names = re.findall(r'<strong><a href="teaching.html#([^"]+)">', start.FOR_TEACHERS)
    headings = re.findall(r"^#+ (.+)$", written["teaching.md"], flags=re.MULTILINE)
    assert len(names) == 3
    assert set(names) <= {heading.lower().replace(" ", "-") for heading in headings}


def test_the_poster_shows_chances_and_weights_that_the_model_computed():
    shares = [float(share) for share in re.findall(r"scaleX\(([\d.]+)\)", poster.poster())]
    assert len(shares) == poster.SHOWN
    assert shares == sorted(shares, reverse=True)
    assert 0.1 < sum(shares) <= 1
    shades = [float(shade) for shade in re.findall(r"--dark:([\d.]+)", poster.poster())]
    assert abs(sum(shade**2 for shade in shades) - 1) < 0.1  # the roots of the weights


def test_the_dice_of_the_start_page_give_the_text_of_its_picture_again():
    model, vocabulary = checkpoints.load_model()
    dice = list(map(float, re.search(r'data-dice="([^"]+)"', poster.poster())[1].split()))
    ids = vocabulary.encode(poster.PROMPT)
    for place in dice:
        with torch.no_grad():
            shares = (model(torch.tensor([ids]))[0, -1].double() / poster.TEMPERATURE).softmax(-1).cumsum(-1)
        ids.append(int(torch.searchsorted(shares, place)))
    text = unescape(re.sub("<[^>]+>", "", re.search(r'<div class="text".*?</div>', poster.poster(), re.DOTALL)[0]))
    assert vocabulary.decode(ids).startswith(text)
    assert len(dice) == poster.WRITTEN


def test_the_recording_shows_what_the_model_computed_of_the_posters_text():
    page = poster.poster()
    told = json.loads(unescape(re.search(r'data-flow="([^"]+)"', page)[1]))
    model, vocabulary = checkpoints.load_model()
    text = unescape(re.sub("<[^>]+>", "", re.search(r'<div class="text".*?</div>', page, re.DOTALL)[0]))
    ids = torch.tensor([vocabulary.encode(text)])
    with torch.no_grad():
        shares = (model(ids)[0].double() / poster.TEMPERATURE).softmax(-1)  # (length, vocabulary)
    expected = shares[:-1].gather(-1, ids[0, 1:, None]).squeeze(-1)
    torch.testing.assert_close(torch.tensor(told["drawn"], dtype=torch.float64), expected, atol=1e-4, rtol=0)
    maps = [weights[0] for weights in attention_weights(model, ids).values()]
    assert len(told["heads"]) == len(told["levels"]) - 1 == len(maps)
    assert told["x"] == sorted(set(told["x"]))
    shown = re.findall(r'<g class="reads">(.*?)</g>', page)
    for lines, head, weights in zip(shown, told["heads"], maps, strict=True):
        roots = {int(x): float(root) for root, x in re.findall(r'--w:([\d.]+)" d="M(\d+)', lines)}
        for place, weight in zip(told["x"], weights[head, -1].tolist(), strict=True):
            assert abs(roots.get(place, 0) - weight**0.5) < 0.08


def test_weights_that_are_typed_are_judged_as_the_check_judges_them():
    known = by_hand.known()
    powers = [1, math.e, math.e**2]
    assert by_hand.same(known["right"], [power / sum(powers) for power in powers])
    named = [(name, row) for name, _, _, rows in known["mistakes"] for row in rows]
    for name, numbers in (
        ("not divided by the sum", powers),
        ("no exponential", [0, 1 / 3, 2 / 3]),
        ("no exponential", [0.17, 0.33, 0.5]),
        ("all equal", [0.33, 0.33, 0.33]),
        ("<i>e</i>⁰ is not 0", [0, math.e / (math.e + math.e**2), math.e / (1 + math.e)]),
        ("<i>e</i>² is not 2<i>e</i>", [part / (1 + 3 * math.e) for part in (1, math.e, 2 * math.e)]),
        ("one decimal only", [0.1, 0.2, 0.7]),
    ):
        assert [told for told, row in named if by_hand.same(row, numbers)] == [name]
    assert len(dict(named)) >= 10
    rows = [known["right"], *(row for _, row in named)]
    assert not any(by_hand.same(one, other) for place, one in enumerate(rows) for other in rows[:place])


def test_the_evidence_states_its_finding_in_its_heading(written):
    number, rejected = (int(count.replace(",", "")) for count in evidence.counted(written["evidence.md"]))
    assert written["evidence.md"].startswith(
        f"# Of {number:,} wrong answers, the checks let {number - rejected} through\n"
    )
    assert "How sharp are the checks? <evidence>" in written["index.md"]


def test_a_lessons_outline_says_what_is_done_in_each_section(written):
    for path in facts.LESSONS:
        cells = json.loads(written[f"notebooks/{path.name}"])["cells"]
        outline = next(cell["source"] for cell in cells if cell["id"] == "contents")
        headings = re.findall(r"^## (.+)$", "\n".join("".join(cell["source"]) for cell in cells[2:]), re.MULTILINE)
        entries = re.findall(r"^- \[(.+)\]\(#[^)]*\)(?: <small>(.+)</small>)?$", outline, flags=re.MULTILINE)
        assert [words for words, _ in entries] == headings
        assert f"{len(entries)} sections" in outline
        exercises_here = [exercise for exercise in EXERCISES.values() if exercise.lesson == int(path.name[:2])]
        told = [int(minutes) for _, done in entries for minutes in re.findall(r"exercises?, (\d+) min", done)]
        assert sum(told) == sum(exercise.minutes for exercise in exercises_here)
        questions_told = sum(int(n or 1) for _, done in entries for n in re.findall(r"(?:(\d+) )?question", done))
        assert questions_told == sum(number.startswith(f"{int(path.name[:2])}.") for number in all_questions())


def test_a_cell_that_only_imports_is_folded_and_marked_so_that_it_is_not_presented(written):
    for path in facts.LESSONS:
        cells = cells_of(written[f"notebooks/{path.name}"], "code")
        marked = [cell for cell in cells if "imports" in cell["metadata"].get("tags", [])]
        assert len(marked) == 1, path.name
        assert "hide-input" in marked[0]["metadata"]["tags"]
        assert re.match(r"(?:import|from) \w", "".join(marked[0]["source"]))
        assert "def " not in "".join(marked[0]["source"])


def test_the_first_picture_of_lesson_1_can_be_dragged_and_is_still_there_where_no_script_runs(written):
    first, *others = json.loads(written[f"notebooks/{facts.LESSONS[0].name}"])["cells"]
    playground = start.playground(facts.LESSONS[0], "average_the_vectors")
    assert re.search(r'</p>\n\n<div class="playground', "".join(first["source"]))
    assert playground in "".join(first["source"])
    assert "\n\n" not in playground, "Markdown would end the piece of HTML there"
    assert not any("average_the_vectors()" in "".join(cell["source"]) for cell in others)


def test_the_posters_slider_gives_the_chances_at_every_temperature():
    vocabulary = checkpoints.load_model()[1]
    logits = torch.randn(3, len(vocabulary), generator=torch.Generator().manual_seed(0)) * 4
    told = poster.heat(logits, vocabulary)
    best, sums = (torch.tensor(told[name], dtype=torch.float64) / 1000 for name in ("logits", "sums"))
    assert sums.shape == (3, len(poster.TEMPERATURES))
    for temperature, total in zip(poster.TEMPERATURES, sums.unbind(1), strict=True):
        expected, tokens = (logits.double() / temperature).softmax(-1).topk(poster.SHOWN)
        torch.testing.assert_close((best / temperature - total[:, None]).exp(), expected, atol=0.005, rtol=0)
    names = told["names"].split("|")
    shown = [[names[place] for place in row] for row in told["best"]]
    assert shown == [[poster.visible(vocabulary.decode([token])) for token in row] for row in tokens.tolist()]


def test_the_evidence_begins_with_the_sums_of_its_own_tables(written):
    page = written["evidence.md"]
    glance = page[page.index('<div class="glance">') : page.index("## Mutants")]
    shares = re.findall(r"<span>([\d,]+) of ([\d,]+), (\d+) %</span>", glance)
    assert [f"{number} | {refused} ({percent}%)" for refused, number, percent in shares] == re.findall(
        r"^\| \*\*all\*\* \| \| (.+) \|$", page, flags=re.MULTILINE
    )
    for refused, number, percent in shares:
        assert percent == f"{100 * int(refused.replace(',', '')) / int(number.replace(',', '')):.0f}"


@pytest.mark.parametrize("name", EXERCISES)
def test_the_page_of_an_exercise_tells_every_mistake_hint_and_a_solution(name, written):
    exercise, page = EXERCISES[name], text_of(written[f"exercises/{name}.md"])
    rows = re.findall(
        r'<details class="mistake" id="[^"]+"><summary>(.*?)</summary><p>(.*?)</p><p><em>→ (.*?)</em></p></details>',
        page,
    )
    mistakes = exercise.mistakes.values()
    assert rows == [tuple(text.replace("`", "") for text in (m.name, m.why, m.look)) for m in mistakes]
    assert all(text.replace("`", "") in page for hint in exercise.hints for text in hint)
    assert exercise.solution_text().strip() in written[f"exercises/{name}.md"]
    assert not re.search(r"^[-+] ", written[f"exercises/{name}.md"], re.MULTILINE)  # a list where a minus is meant


def test_what_must_be_code_in_a_question_is_marked_as_code():
    assert questions.in_html("What is row[1]? Look at row.sum(), and at `b[0]`.") == (
        "What is <code>row[1]</code>? Look at <code>row.sum()</code>, and at <code>b[0]</code>."
    )
    assert questions.in_html("The scores are x @ x.T, (2, 3).") == "The scores are <code>x @ x.T</code>, (2, 3)."
    assert questions.in_html("x = torch.arange(8).view(1, 8) holds [0, 1]") == (
        "<code>x = torch.arange(8).view(1, 8)</code> holds <code>[0, 1]</code>"
    )
    assert questions.in_html("read as (batch, d_head)") == "read as <code>(batch, d_head)</code>"


def test_variables_of_a_question_slant_but_no_letter_of_a_text():
    assert questions.in_html("In softmax(QKᵀ/√d_k)V, a row") == (
        "In softmax(<i>QK</i>ᵀ/√<i>d</i><sub>k</sub>)<i>V</i>, a row"
    )
    assert questions.in_html("PE(p + 5) = M PE(p) - q?") == "PE(<i>p</i> + 5) = <i>M</i> PE(<i>p</i>) − <i>q</i>?"
    assert questions.in_html("the pair (e, s)", variables=False) == "the pair (e, s)"


def test_a_question_can_be_clicked_and_an_exercise_has_its_hints(written):
    for path in facts.LESSONS:
        code = "\n".join("".join(cell["source"]) for cell in cells_of(path.read_text(encoding="utf-8"), "code"))
        page = "\n".join("".join(cell["source"]) for cell in cells_of(written[f"notebooks/{path.name}"], "markdown"))
        prose = text_of(page).replace("−", "-")  # of a formula
        for number in re.findall(r'^answer\("([\d.]+)"\)$', code, flags=re.MULTILINE):
            assert page.count(f"<strong>{number} ") == 1
            question = all_questions()[number]
            if isinstance(question, Choices):
                for letter, choice in question.lettered.items():
                    assert f"<summary><b>{letter}</b>{plain(choice.text)}</summary>" in prose
                    assert plain(choice.why) in prose
            elif not isinstance(question, FreeText):
                assert plain(question.why) in prose
        for name in set(re.findall(r'\bcheck\("(\w+)"', code)):
            assert page.count(f'href="../exercises/{name}.html">The {len(EXERCISES[name].mistakes)} mistakes') == 1
            assert all(plain(text) in prose for hint in EXERCISES[name].hints for text in hint)


@pytest.mark.parametrize("number", [n for n, q in all_questions().items() if hasattr(q, "slips")])
def test_what_is_said_of_a_typed_answer_travels_with_its_field_and_not_in_plain_sight(number):
    question = all_questions()[number]
    form = re.search(r'<form class="field" data-told="(.*?)">.*?</form>', questions.field(question), re.DOTALL)
    told = json.loads(base64.b64decode(form[1]))
    right = list(question.right) if told["shape"] else question.right
    assert (told["right"], told["tolerance"]) == (right, question.tolerance)
    assert len(told["slips"]) == len(question.slips)
    assert markup.html(question.why) not in form[0]


def test_no_lesson_links_to_a_file_that_the_site_lacks():
    kept = ("../reference/", "../index.md", "../imgs/")
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
        links = re.findall(r"\]\((\.\./[^)\s]+)", lessons.with_links_to_the_site("\n".join(texts)))
        assert [link for link in links if not link.startswith(kept)] == [], path.name


def test_only_the_lessons_of_a_repository_on_github_open_in_colab(monkeypatch):
    monkeypatch.setenv("GITHUB_REPOSITORY", "someone/Transformer-Lessons")
    monkeypatch.setenv("GITHUB_REF_NAME", "main")
    path = facts.LESSONS[0]
    assert f"colab.research.google.com/github/someone/Transformer-Lessons/blob/main/notebooks/{path.name}" in (
        lessons.actions(path)
    )
    assert "git clone https://github.com/someone/Transformer-Lessons\ncd Transformer-Lessons\n" in lessons.actions(path)
    assert "[on GitHub](https://github.com/someone/Transformer-Lessons)" in start.front_page([path])
    assert "git clone https://github.com/someone/Transformer-Lessons\n" in start.front_page([path])
    assert repository.home() == "https://someone.github.io/Transformer-Lessons/"
    written = exercises.to_be_done(EXERCISES["softmax"])
    assert f"(https://mybinder.org/v2/gh/someone/Transformer-Lessons/main?urlpath=lab/tree/notebooks/{path.name})" in (
        written
    )
    monkeypatch.delenv("GITHUB_REPOSITORY")
    monkeypatch.setattr(repository, "git", lambda *command: "git@github.com:another/course.git")
    assert repository.on_github()[0] == "another/course"
    monkeypatch.setattr(repository, "git", lambda *command: "/somewhere/else")
    assert "colab" not in lessons.actions(path)
    assert "Binder" not in exercises.to_be_done(EXERCISES["softmax"])
    assert "git clone" not in lessons.actions(path)
    assert "GitHub" not in start.front_page([path])
    assert "git clone" not in start.front_page([path])
    assert "Download the notebook" in lessons.actions(path)


def test_what_only_holds_in_a_notebook_is_not_on_the_page(written):
    for path in facts.LESSONS:
        assert "in-a-notebook" not in written[f"notebooks/{path.name}"]
    assert lessons.for_readers('See. <span class="in-a-notebook">Run the cell.</span>') == "See."


def test_the_search_finds_each_thing_once(written):
    things = finding.found(written)
    addresses = [tuple(thing[:3]) for thing in things]
    assert len(addresses) == len(set(addresses))
    names = ("lesson", "exercise", "mistake", "glossary", "code")
    kinds = {kind: sum(thing[0] == kind for thing in things) for kind in names}
    assert kinds["exercise"] == len(EXERCISES)
    assert kinds["mistake"] == exercises.number_of_mistakes()
    assert min(kinds.values()) > 20


def test_the_search_finds_what_a_lesson_says_only_in_its_code(written):
    text = next(
        text
        for kind, title, _, text, *_ in finding.found(written)
        if kind == "lesson" and title.startswith("A loop computes self-attention")
    )
    assert "weights = softmax_of_one_row(scores)" in text


ASKED = {  # what someone types, and what stands first
    "why divide by the square root of d": "notebooks/03_scaling.html",
    "why do we divide by sqrt(d)?": "notebooks/03_scaling.html",
    "what is a residual connection": "notebooks/07_full_model.html#each-part-adds-to-its-input-instead-of-replacing-it",
    "what does softmax do": "notebooks/01_self_attention.html#softmax-turns-any-scores-into-weights",
    "what is perplexity": "notebooks/08_shakespeare.html#perplexity-turns-a-loss-into-a-number-of-choices",
    "why use queries, keys and values": "notebooks/02_queries_keys_values.html",
    "why several heads": "notebooks/04_multi_head_attention.html",
    "softmax": "notebooks/glossary.html#softmax",
    "sofmax": "notebooks/glossary.html#softmax",
    "masked_softmax": "exercises/masked_softmax.html",
    "no scaling": "exercises/scaled_dot_product_attention.html#no-scaling",
    "how do I install it": "index.html#run-it-on-your-machine",
    "can I teach with this": "teaching.html",
}
FIND = """
const [things, search, asked] = JSON.parse(require('fs').readFileSync(0));
globalThis.FOUND = things;
globalThis.document = {querySelector: () => null};
new Function(search)();
console.log(JSON.stringify(asked.map(question => finder.find(question).best[0]?.address)));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_who_asks_a_question_finds_the_lesson_that_answers_it_first(written):
    search = (SITE / "static/search.js").read_text(encoding="utf-8")
    asked = json.dumps([finding.found(written), search, list(ASKED)])
    answer = subprocess.run(["node", "-e", FIND], input=asked, capture_output=True, text=True, check=True)
    assert dict(zip(ASKED, json.loads(answer.stdout), strict=True)) == ASKED


# A page of elements that take whatever a script does to them, so that what it said and where it scrolled can be asked.
PAGE = """
const [given, script, act] = JSON.parse(require('fs').readFileSync(0)), made = [], called = [];
const element = path => {
  const own = {[Symbol.iterator]: function* () {}, [Symbol.toPrimitive]: () => ''};
  return new Proxy(() => {}, {
    get: (_, key) => own[key] ??= element(`${path}.${String(key)}`),
    set: (_, key, value) => { own[key] = value; return true; },
    apply: (_, __, [name = '', ...rest]) => {
      called.push([path, name, ...rest]);
      return own[`(${name})`] ??= element(`${path}(${name})`);
    },
  });
};
const document = element('document'), remembered = {recall: () => ({lines: {}}), keep() {}}, location = {search: ''};
document.createElement = () => { made.push(element('made')); return made.at(-1); };
Object.assign(globalThis, {document, remembered, location, addEventListener() {}, matchMedia: () => ({matches: true})});
Object.assign(globalThis, {curled: text => text, inColours: () => [], ...given});
new Function(script)();
eval(`(async () => { ${act} })()`).then(told => console.log(JSON.stringify(told)));
"""


def on_a_page(script, act, **given):
    """What `act` returns, in JavaScript, after a script of the site ran on a page."""
    asked = json.dumps([given, (SITE / f"static/{script}.js").read_text(encoding="utf-8"), act])
    return json.loads(
        subprocess.run(["node", "-e", PAGE], input=asked, capture_output=True, text=True, check=True).stdout
    )


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
def test_the_search_says_of_how_many_it_shows_fifty():
    things = [["lesson", f"Cats {place}", f"notebooks/01.html#{place}", "cats"] for place in range(60)]
    ask = "const field = document.querySelector('.find input'); field.value = 'cats'; field.oninput();"
    ask += "return document.querySelector('#how-many').textContent;"
    assert on_a_page("search", ask, FOUND=things) == "The 50 best of 60 matches for “cats”:"
    assert on_a_page("search", ask, FOUND=things[:50]) == "Found for “cats”:"


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")
@pytest.mark.parametrize("line", [0, 1])  # a right one, and the wrong one
def test_what_is_said_of_a_clicked_line_is_scrolled_into_view(line):
    puzzles = [["a mistake", "a-mistake", "why", "look", 1, "return 2"]]
    click = """
    const root = document.querySelector('.wrong-lines');
    called.find(([path, name]) => path.endsWith('addEventListener') && name === 'toggle')[2]();
    await new Promise(done => setTimeout(done));
    made.filter(({type}) => type === 'button')[LINE].onclick();
    return called.filter(([path]) => path.endsWith('scrollIntoView')).map(([path]) => path);
    """.replace("LINE", str(line))
    lines = {"": {"right": ["def f():", "    return 1"], "puzzles": puzzles}}
    (scrolled,) = on_a_page("wrong_lines", click, wrongLines=lines)
    assert "(.told)" in scrolled


def test_a_section_tells_the_search_which_terms_it_introduces(written):
    terms = {title: terms for kind, title, _, _, *terms in finding.found(written) if kind == "lesson" and terms}
    section = "Each part adds to its input instead of replacing it (7 · The full model)"
    assert {"skip connection", "residual stream"} <= set(terms[section][0].split(", "))


@pytest.mark.parametrize("module", ["masks", "attention", "positions", "layers", "models"])
def test_every_note_on_the_implementation_stands_beside_exactly_one_line(module):
    source = [line.strip() for line in (reference.PACKAGE / f"{module}.py").read_text(encoding="utf-8").splitlines()]
    notes = reference.notes_on(module)
    assert len(notes) >= 5
    assert {line: source.count(line) for line in notes} == dict.fromkeys(notes, 1)


def test_the_evidence_names_scripts_and_mistakes_that_exist(written):
    page = written["evidence.md"]
    scripts = re.findall(r"python (tests/proofs/\w+\.py)", page)
    assert len(set(scripts)) >= 2
    assert all((ROOT / script).is_file() for script in scripts)
    assert "](../" not in page
    rows = [line for line in page.splitlines() if line.startswith("|") and "~" in line]
    assert len(rows) == 4
    for row in rows:
        exercises_there = re.findall(r"`(\w+)`", row)
        known = {mistake for name in exercises_there for mistake in EXERCISES[name].mistakes}
        assert set(re.findall(r"\*([^*]+)\*", row)) <= known


@pytest.mark.parametrize("module", reference.MODULES)
def test_the_page_of_a_module_shows_every_line_of_its_source_in_order(module, written):
    path = reference.PACKAGE.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    source = path.read_text(encoding="utf-8")
    told, pieces = reference.pieces_of(source)
    code = "\n".join(code for _, code in pieces)
    rest = source.removeprefix(f'"""{told}"""').removeprefix(f'"""{told}\n"""')
    assert told
    assert [line for line in code.splitlines() if line] == [line for line in rest.splitlines() if line]
    shown = re.findall(r"(?s)```python\n(.*?)\n```", written[f"reference/{module}.md"])
    lines = [line for part in shown for line in part.splitlines() if line]
    expected = [line for line in code.splitlines() if line]
    assert lines[: len(expected)] == expected


def test_a_decorator_and_a_remark_belong_to_the_definition_below():
    function, kind = "# a remark\n@decorated\ndef f():\n    pass", "class C:\n    pass"
    told, pieces = reference.pieces_of(f'"""Told."""\n\nx = 1\n\n\n{function}\n\n\n{kind}\n')
    assert told == "Told."
    assert pieces == [(None, "x = 1"), ("f", function), ("C", kind)]


def test_text_of_the_package_shows_its_marks_and_its_code():
    assert markup.plain("a * b_c, `a * b`") == r"a \* b\_c, `a * b`"
    assert markup.html("a < b, `a < b`") == "a &lt; b, <code>a &lt; b</code>"


# --- nothing comes from elsewhere ---

MAKERS = [path for path in sorted(SITE.rglob("*")) if path.suffix in (".py", ".css", ".js")]
LOADED = r"(?:src|srcset)=\\?[\"'](?:https?:)?//|url\(\\?[\"']?https?:|!\[[^]]*\]\(https?:"


@pytest.mark.parametrize("path", [path for path in MAKERS if path.name != "repository.py"], ids=lambda path: path.name)
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
    assert "needs furo, not installed here" in said
    assert "pip install -c .ci/constraints.txt -e .[site]" in said
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_else_is_left_alone(monkeypatch, capsys, tmp_path):
    build = load("build")
    monkeypatch.setattr(build.importlib.util, "find_spec", lambda name: True)
    monkeypatch.setattr(build, "build", lambda folder: pytest.fail("it builds"))
    (tmp_path / "diary.txt").write_text("mine", encoding="utf-8")
    assert build.main([str(tmp_path)]) == 1
    assert "holds something other" in capsys.readouterr().err


# --- with Sphinx ---


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "site"
    path, modules = list(sys.path), set(sys.modules)
    assert load("build").build(folder) == 0
    sys.path[:] = path
    for name in {"anchors", "formulas", "repository"} - modules:
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
def test_a_long_extra_is_folded_below_its_first_paragraph(site):
    folded = 0
    for path in facts.LESSONS:
        page = (site / f"notebooks/{path.stem}.html").read_text(encoding="utf-8")
        extras = re.findall(
            r"<p><em>Extra · (\d+) minutes(?:(?!</p>).)*</p>\n(<details class=\"extra\")?", page, re.DOTALL
        )
        assert all(bool(fold) == (int(minutes) >= 5) for minutes, fold in extras), path.stem
        folded += sum(bool(fold) for _, fold in extras)
    assert folded > 8


@needs_sphinx
def test_the_asides_of_a_page_have_names_of_their_own(site):
    asides = {path: re.findall(r"<aside[^>]*>", path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert any(asides.values())
    for path, tags in asides.items():
        assert len({re.search(r'aria-label="(.+?)"', tag)[1] for tag in tags}) == len(tags), path


@needs_sphinx
def test_what_the_settings_replace_in_the_themes_html_is_replaced_on_every_page(site):
    built = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    for path, page in built.items():
        assert page.count('<meta name="viewport"') == 1, path
        assert re.search(r'<[^>]*role="heading"(?![^>]*aria-level="2")|<summary[^>]*aria-label', page) is None, path
        assert re.search(r"<th[^>]*>(?:\s|<p></p>)*</th>", page) is None, path
    for replacement in ('role="heading" aria-level="2"', 'below-input">\n<summary>', "<td></td>"):
        assert any(replacement in page for page in built.values()), replacement


@needs_sphinx
def test_no_built_page_loads_anything_from_elsewhere(site):
    for path in [*site.rglob("*.html"), *site.rglob("*.css")]:
        text = re.sub(r"<a [^>]*>", "", path.read_text(encoding="utf-8"))
        requests = re.findall(r"(?:src|href)=\"(?:https?:)?//|url\([\"']?(?:https?:)?//|@import", text)
        assert requests == [], path


@needs_sphinx
def test_the_front_page_is_small(site):
    page = (site / "index.html").read_text(encoding="utf-8")
    named = set(re.findall(r'<(?:script|link|img) [^>]*(?:src|href)="([^"?#]+\.(?:css|js|svg))', page))
    assert len(named) >= 6
    named |= {"index.html", *(f"_static/{font.name}" for font in site.glob("_static/*.woff2"))}  # its fonts
    assert sum((site / name).stat().st_size for name in named) < 300_000


@needs_sphinx
def test_a_rule_for_one_of_several_classes_stays_if_one_of_them_is_used():
    rules = ".presenting :is(.parts, .switch){display: none}.parts{margin: 0}:is(.parts, .facts) p{margin: 0}"
    kept = load("conf").only_used(rules, {"presenting", "switch"})
    assert kept == ".presenting :is(.parts, .switch){display: none}"


@needs_sphinx
def test_below_all_exercises_no_link_says_that_the_first_is_next():
    context = {"prev": None, "next": {"title": "softmax"}}
    load("conf").stand_alone(None, "try", None, context, None)
    assert context["next"] is None


@needs_sphinx
def test_the_front_pages_short_styles_have_every_rule_that_it_can_use(site):
    page = (site / "index.html").read_text(encoding="utf-8")
    used = {name for names in re.findall(r' class="([^"]*)"', page) for name in names.split()}
    for name in ("styles/{}furo.css", "{}pygments.css"):
        whole, short = ((site / "_static" / name.format(kind)).read_text(encoding="utf-8") for kind in ("", "start-"))
        assert f"_static/{name.format('start-')}" in page
        assert len(short) < 0.8 * len(whole)
        for selector in re.findall(r"(?:^|[{}])([^{}@]+)\{", re.sub(r"/\*.*?\*/", "", whole, flags=re.DOTALL)):
            classes = set(re.findall(r"\.([a-zA-Z][\w-]*)", selector))
            assert not (classes and classes <= used) or selector in short, selector


def formulas_of(path):
    cells = cells_of(path.read_text(encoding="utf-8"), "markdown")
    prose = "\n\n".join("".join(cell["source"]) for cell in cells)
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", prose, flags=re.DOTALL)
    return [
        displayed or inline for displayed, inline in re.findall(r"\$\$(.+?)\$\$|\$([^$]+?)\$", prose, flags=re.DOTALL)
    ]


@needs_sphinx
def test_every_formula_of_the_lessons_is_built(site):
    for path in facts.LESSONS:
        built = (site / f"notebooks/{path.stem}.html").read_text(encoding="utf-8")
        assert built.count("<math") == len(formulas_of(path))


@needs_sphinx
@pytest.mark.parametrize("path", facts.LESSONS, ids=lambda path: path.stem)
def test_a_fraction_of_two_digits_is_one_over_the_other(path):
    """Docutils alone would put the 12 of ½ over whatever follows."""
    mathml = load("formulas").mathml
    for text in formulas_of(path):
        built = re.sub(r"\s|<mfrac[^>]*>", "", mathml(text, False))
        for above, below in re.findall(r"\\[td]?frac(\w)(\w)", text):
            assert re.search(rf"<mn>{above}</mn><m[ni]>{below}</m[ni]></mfrac>", built), text


@needs_sphinx
@pytest.mark.parametrize("path", facts.LESSONS, ids=lambda path: path.stem)
def test_the_font_has_every_sign_of_the_formulas(path):
    from fontTools.ttLib import TTFont

    mathml = load("formulas").mathml
    there = set(TTFont(SITE / "static/noto-sans-math-subset.woff").getBestCmap())
    for formula in formulas_of(path):
        markup = mathml(formula, False)
        signs = set(unescape(re.sub(r"<[^>]*>|\s", "", markup)))
        signs |= {italic(letter) for letter in re.findall(r"<mi>(\w)</mi>", markup)}
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
