"""A student's own pages: what was asked, what was given, why points were lost, and every word of the teacher's."""

import ast
import re
import warnings

import pytest

from transformer_lessons.exercises.checker.parts import Part
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.questions.lookup import all_questions
from transformer_lessons.marking import feedback, halves, marks, mistakes, policy, report, sheets

SOURCE = "def causal_mask(length):\n    return torch.ones(length, length).triu() > 0  # <b>"
TEXT = "It could be a leak.\n<img src=x>"


def row(lesson, item, kind, status, headline="", *said, **more):
    about = {"student": "ada", "lesson": lesson, "item": item, "exercise": item, "kind": kind, "flags": []}
    about |= {
        "status": status,
        "headline": headline,
        "said": [Part("why", one) for one in said],
        "answer": "",
        "mistake": "",
        "again": False,
    }
    return about | {"file": f"Ada_7_assignsubmission_file_/{lesson}.ipynb", "marked": "2026-12-04"} | more


ROWS = [
    row("6", "causal_mask", "exercise", "failed", "the mask transposed.", "Rows and columns are swapped."),
    row("6", "padding_mask", "exercise", "untouched", "still as it was handed out."),
    row("6", "6.1", "question", "failed", "", "You answered 36.", "You counted all.", answer="36"),
    row("6", "6.2", "question", "passed", "", "c) 1, 0, 0, 0, 0", "The first token sees itself.", answer="c"),
    row("6", "6.11", "text", "given", answer=TEXT),
    row("1", "softmax", "exercise", "passed"),
]


def pages(folder, *, texts="", overrides="", time="", change=lambda known: None, **settings):
    """{name: Ada's page} as a teacher's tables and policy make it."""
    rules = policy.POLICY | settings
    known = marks.Class(folder, 5, policy=rules)
    known.students["ada"] = {"name": "Ada <Lovelace>", "folder": "", "slug": "ada"}
    known.works["ada", "causal_mask"] = {"source": SOURCE}
    late = {"late": policy.is_late(time, rules["deadline"]), "time": time, "deadline": rules["deadline"]}
    known.rows = [marks.scored(dict(one) | late | {"flags": []}, rules) for one in ROWS]
    if texts:
        line = ["6.11", known.pseudonym("ada"), TEXT, *texts, ""]
        sheets.written(folder / "texts.csv", marks.TEXTS, [line])
    if overrides:
        (folder / "overrides.csv").write_text("student,item,points,reason\n" + overrides)
    marks.read_back(known, rules)
    change(known)
    feedback.write_feedback(known)
    return {path.stem: path.read_text(encoding="utf-8") for path in (folder / "feedback" / "ada").iterdir()}


def cards(page):
    """{item: its card}."""
    parts = re.findall(r'<article class="card">.*?</article>', page, flags=re.DOTALL)
    return {re.search(r"<strong>(?:<span.*?</span> )?([\w.]+)", part)[1]: part for part in parts}


@pytest.mark.parametrize(
    ("late", "counts", "points"),
    [(0.5, "half", "0.25"), (0, "nothing", "0"), (1, "in full", "0.5"), (0.8, "80%", "0.4")],
)
def test_who_was_late_is_told_when_and_what_it_counts(tmp_path, late, counts, points):
    page = pages(tmp_path, time="2026-12-03-10-05-00", deadline="2026-12-01 23:59", late=late)["lesson_6"]
    assert f"Handed in 3 December 2026, 10:05, after 1 December 2026, 23:59: counts {counts}." in page
    assert f"{points} of 0.5" in cards(page)["6.2"]
    assert "counts" not in pages(tmp_path, time="2026-11-30", deadline="2026-12-01")["lesson_6"]


def test_a_text_that_was_read_shows_its_points_the_words_the_comment_and_the_model_answer(tmp_path):
    page = cards(pages(tmp_path, texts=["1", "0.5", "0", "", "- say why\nand <b>how</b>"])["lesson_6"])["6.11"]
    question = all_questions()["6.11"]
    assert re.findall(r'<td class="n">(.*?)</td><td>', page) == ["1", "½", "0"]
    assert all(re.sub(r"\W.*", "", point) in page for point in question.points)
    assert "<strong>Your teacher:</strong> - say why\nand &lt;b&gt;how&lt;/b&gt;</p>" in page
    assert "It could be a leak.\n&lt;img src=x&gt;" in page
    assert "1.5 of 3" in page
    assert "○" not in page
    assert question.model[:60] in page
    assert question.model[:60] not in pages(tmp_path, model_answers=False)["lesson_6"]


def test_points_of_the_teachers_own_have_their_reason_and_no_sign_of_the_checks(tmp_path):
    page = pages(tmp_path, overrides="ada,causal_mask,1,explained it\nada,6.2,0,copied\n")["lesson_6"]
    mask, question = cards(page)["causal_mask"], cards(page)["6.2"]
    assert "✗" not in mask
    assert "causal_mask: your teacher gave the points." in mask
    assert "The check said: the mask transposed." in mask
    assert '<p class="teacher"><strong>Your teacher:</strong> explained it</p>' in mask
    assert "✓" not in question
    assert "copied" in question
    assert re.findall(r"<strong>(\d+)</strong>(\w+)", page) == [("2", "wrong"), ("1", "given"), *WAITING]


def test_no_tick_stands_above_what_the_check_called_wrong(tmp_path):
    card = cards(pages(tmp_path, overrides="ada,6.1,0.5,well argued\n")["lesson_6"])["6.1"]
    assert "✓" not in card
    assert "0.5 of 0.5" in card


def test_a_hunt_of_two_lessons_keeps_its_name_whoever_gives_the_points(tmp_path):
    hunt = row("1", "fixed_attention (1)", "hunt", "failed", "no.", exercise="fixed_attention")
    ROWS.append(hunt)
    try:
        page = pages(tmp_path, overrides="ada,fixed_attention (1),0.5,half\n")["lesson_1"]
    finally:
        ROWS.remove(hunt)
    assert "fixed_attention: your teacher gave the points." in page
    assert "fixed_attention (1)" not in page
    assert "The check said: no." in page
    assert "<strong>1</strong>given by your teacher" in page


@pytest.mark.parametrize("status", ["passed", "untouched"])
def test_students_read_the_names_that_their_notebooks_have(tmp_path, status):
    def change(known):
        hunt = row("1", "fixed_attention (1)", "hunt", status, exercise="fixed_attention")
        known.rows.append(marks.scored(hunt, known.policy))

    page = pages(tmp_path, change=change)["lesson_1"]
    assert "fixed_attention" in page
    assert "(1)" not in page


WAITING = [("1", "waiting"), ("1", "not")]


def test_points_for_what_was_left_out_are_on_the_page_too(tmp_path):
    page = pages(
        tmp_path, overrides="ada,padding_mask,1,shown to me\n", time="2026-12-03", deadline="2026-12-01", late=0.5
    )
    card = cards(page["lesson_6"])["padding_mask"]
    assert "1 of 1</span></span>" in card
    assert "shown to me" in card
    assert "Not answered" not in page["lesson_6"]


@pytest.mark.parametrize(("texts", "sign"), [(["1", "1", "1", "", ""], "✓"), (["1", "1", "0.5", "", ""], "6.11")])
def test_only_a_text_that_makes_every_point_has_a_tick_late_or_not(tmp_path, texts, sign):
    page = pages(tmp_path, texts=texts, time="2026-12-03", deadline="2026-12-01", late=0.5)["lesson_6"]
    heading = re.search(r"<p><strong>(.*?)</strong>", cards(page)["6.11"])[1]
    assert re.sub(r"<.*?>", "", heading).startswith(sign)


def test_every_answer_stands_beside_what_was_asked(tmp_path):
    page = pages(tmp_path)["lesson_6"]
    assert ".triu() &gt; 0  # &lt;b&gt;<" in re.sub(r"</?span[^>]*>", "", cards(page)["causal_mask"])
    assert "&lt;b&gt;" in cards(page)["causal_mask"]
    for number, answer, why in (("6.1", "36", "You counted all."), ("6.2", "c) 1, 0, 0, 0, 0", "The first token")):
        card = cards(page)[number]
        assert all_questions()[number].text[:30] in card
        assert f"<strong>Your answer:</strong> {answer}</p>\n<p>{why}" in card
    left = page.partition("Not answered</h2>")[2]
    assert "padding_mask" in left
    assert "1 point<" in left


def test_what_is_wrong_or_left_out_says_where_it_stands_in_the_notebook(tmp_path):
    page = pages(tmp_path)["lesson_6"]
    where = {one: re.findall(r"In the notebook, under <em>(.*?)</em>", card) for one, card in cards(page).items()}
    assert where["causal_mask"] == where["6.1"] == ["A mask is a table of who may attend to whom"]
    assert where["6.2"] == where["6.11"] == []
    assert "<small><em>Padding: tokens that no query may read</em></small>" in page.partition("Not answered</h2>")[2]


def test_unread_texts_are_no_lost_points(tmp_path):
    page = pages(tmp_path)["lesson_6"]
    assert re.search(r"<strong>.*?0.5 of 3</span></strong>points; 3 more wait for a reader", page)
    assert re.findall(r"<strong>(\d+)</strong>(\w+)", page) == [("1", "right"), ("2", "wrong"), *WAITING]


def test_a_page_says_whose_it_is_and_leads_to_the_other_lessons(tmp_path):
    found = pages(tmp_path)
    assert sorted(found) == ["index", "lesson_1", "lesson_6"]
    for page in found.values():
        assert re.search(r"<title>[^<]*· Ada &lt;Lovelace&gt;</title>", page)
    assert '<a href="lesson_1.html">1</a>' in found["lesson_6"]
    assert "<code>6.ipynb</code>, marked 4 December 2026" in found["lesson_6"]
    assert re.findall(r'href="(lesson_\d)\.html"', found["index"]) == ["lesson_1", "lesson_6"]


def test_students_see_the_totals_of_the_report_and_what_was_not_handed_in_or_not_read(tmp_path):
    def change(known):
        known.students["bob"] = {"name": "Bob", "folder": "", "slug": "bob"}
        known.rows += [one | {"student": "bob", "lesson": "2", "points": 1, "max": 2} for one in known.rows[:1]]
        known.in_doubt["ada", "3"] = "only the beginning of a notebook, cut off while it was saved"
        known.left_out["ada"] = [("03_<b>.ipynb", known.in_doubt["ada", "3"])]
        known.left_out["eve"] = [("x.ipynb", "it is empty")]
        known.students["eve"] = {"name": "Eve", "folder": "", "slug": "eve"}
        scores.append(report.scores_of(known)["ada"])

    scores = []
    page = pages(tmp_path, change=change)["index"]
    points, most = (sum(one[n] for one in scores[0].values()) for n in (0, 1))
    assert f"{points:g} of {most:g}</span></strong>points" in page
    assert re.search(r"Lesson 2[^<]*</th><td[^>]*><span[^>]*>0 of 2</span></td><td[^>]*>not handed in</td>", page)
    assert re.search(r"Lesson 3[^<]*</th>.*?<strong>not read</strong>: only the beginning .*? hand it in again\.", page)
    assert "<code>03_&lt;b&gt;.ipynb</code> was not read:" in page
    other = (tmp_path / "feedback" / "eve" / "index.html").read_text(encoding="utf-8")
    assert "<code>x.ipynb</code> was not read:" in other
    assert "03_" not in other


def test_what_is_to_be_looked_at_stands_before_what_is_right(tmp_path):
    page = pages(tmp_path)["lesson_6"]
    assert page.index('<span role="img" aria-label="not right">✗</span> 6.1') < page.index("✓ 1 right: 6.2")


def test_a_long_line_of_code_goes_on_below_its_own_indentation():
    shown = feedback.in_colours('def f():\n    """One\n    two."""\n\n    return 1')
    assert shown.count("<span") == shown.count("</span>")
    lines = re.findall(r'style="--in: (\d)ch">', shown)
    assert lines == ["0", "4", "4", "0", "4"]


STUB = "class FeedForward(nn.Module):\n    def forward(self, x):\n        raise NotImplementedError\n\n"
HELPER = "@torch.no_grad()\ndef helped(x):\n    return x  # <i>\n\n"
LAYER = "class EncoderLayer(nn.Module):\n    def forward(self, x):\n        return helped(x)"


def of_layer(**more):
    return row("7", "EncoderLayer", "exercise", "failed", "no.") | more


def test_the_code_of_a_class_leaves_out_what_is_an_exercise_of_its_own(tmp_path):
    def change(known):
        known.works["ada", "EncoderLayer"] = {"source": STUB + HELPER + LAYER}
        known.rows.append(marks.scored(of_layer(), known.policy))

    assert mistakes.part_that_matters(STUB + HELPER + LAYER, of_layer()) == (HELPER + LAYER, ["FeedForward"])
    for source in (LAYER, STUB, "x = 1", "def f(:", "x = '\\d'", ""):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert mistakes.part_that_matters(source, of_layer()) == (source, [])
    card = cards(pages(tmp_path, change=change)["lesson_7"])["EncoderLayer"]
    assert "NotImplementedError" not in card
    assert "Your code, without <code>FeedForward</code>, an exercise of its own" in card
    assert "# &lt;i&gt;" in card
    own, needed, names = mistakes.own_part("# mine\n" + HELPER + LAYER, of_layer())
    assert (own, needed, names) == (LAYER, "# mine\n" + HELPER.strip(), ["helped"])
    assert mistakes.own_part(HELPER, of_layer()) == (HELPER, "", [])
    words = re.sub(r"<(?!/?(details|summary))[^>]*>", "", card)
    assert words.index("class EncoderLayer") < words.index("<details class='needs'><summary>What else it needs: helped")
    assert words.index("<details") < words.index("def helped(x)") < words.index("</details>")


def test_the_line_that_a_verdict_knows_is_marked():
    inverted = next(one for one in EXERCISES["causal_mask"].mistakes.values())
    code = ast.unparse(inverted.variants[0].tree).splitlines()
    (place,) = mistakes.wrong_lines("\n".join(code), ["\n".join(code)], EXERCISES["causal_mask"].solution_text())
    code[place] += "  # (query, key) <b>"
    source = "\n".join(code)
    known = row("6", "causal_mask", "exercise", "failed", "no.", mistake=inverted.name)
    assert mistakes.lines_at_fault(source, known) == {place}
    shown = feedback.in_colours(source, {place})
    (marked,) = re.findall(r"<mark>(.*?)</mark>", shown)
    assert code[place].strip().replace("<", "&lt;").replace(">", "&gt;") == re.sub(r"<.*?>", "", marked)
    assert shown.count("<span") == shown.count("</span>")
    assert mistakes.lines_at_fault(source, known | {"mistake": ""}) == set()
    assert mistakes.lines_at_fault(source, known | {"status": "passed"}) == set()
    raised = "mask = torch.ones(length, length)[7], in `f`"
    answer = "def f(length):\n    mask = torch.ones(length, length)[7]  # why?\n    return mask"
    assert mistakes.lines_at_fault(answer, known | {"mistake": "", "line": raised}) == {1}


def test_a_half_without_names_has_no_line_marked_either(tmp_path):
    known = marks.Class(tmp_path, 5, halves=True)
    told = halves.as_told(
        known, [row("6", "causal_mask", "exercise", "failed", "no", mistake="x", student=str(n)) for n in range(20)]
    )
    assert {(one["headline"] == "no", one["mistake"]) for one in told} == {(True, "x"), (False, "")}


def test_an_error_below_a_table_is_no_part_of_it():
    numbers = Part("table", "weights", [("0.12  0.65  0.23", "0.87  0.07  0.06")])
    error = Part("example", "With x of shape (2, 3) it raises ValueError: no")
    with_both = row("6", "softmax", "exercise", "failed", "no.") | {
        "said": [Part("example", "With x:"), numbers, error]
    }
    shown = report.card(marks.scored(with_both, policy.POLICY))
    assert shown.count("<table") == 2
    assert "<pre" not in shown
    assert "ValueError: no</p>" in shown
