"""What teachers and students see: a report on the class, a page for each student, and texts to read."""

import base64
import hashlib
import html
import json
import re

import pytest

from transformer_lessons.exercises.checker.parts import Part
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.marking import feedback, marks, policy, projector, report, review

MISTAKE = next(iter(EXERCISES["causal_mask"].mistakes.values()))
NAMES = ("Ada", "Bob", "Eve")
ANSWER = 'def causal_mask(length):  # by Ada\n    """Bob\'s"""\n    return torch.ones(length, length).triu() > 0'


def row(student, lesson, item, kind, status, **more):
    about = {"student": student.lower(), "lesson": lesson, "item": item, "exercise": item, "kind": kind, "flags": []}
    about |= {"status": status, "mistake": "", "answer": "", "again": False, "file": "x"}
    return marks.scored(about | more, policy.POLICY)


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    found = marks.Class(tmp_path_factory.mktemp("marks"), 5, held={"files", "processes", "network"})
    wrong = {"mistake": MISTAKE.name, "headline": f"{MISTAKE.name}.", "said": [Part("why", MISTAKE.why)]}
    for name, status in zip(NAMES, ("failed", "failed", "passed"), strict=True):
        found.students[name.lower()] = {"name": name, "folder": "", "slug": name.lower()}
        found.rows += [
            row(name, "3", "scaled_dot_product_attention", "exercise", "untouched"),
            row(name, "6", "causal_mask", "exercise", status, **(wrong if status == "failed" else {})),
            row(name, "6", "padding_mask", "exercise", "passed"),
            row(name, "6", "6.11", "text", "given", answer=f"{name}: </script><img src=x> =1+1"),
        ]
        found.works[name.lower(), "causal_mask"] = {"source": ANSWER if name == "Ada" else ANSWER + f"\n# {name}"}
    found.unread = [("eve/06_masking.ipynb", "it is not a notebook")]
    review.write_texts(found)
    report.write_report(found)
    projector.write_projector(found)
    feedback.write_feedback(found)
    return found


def read(known, name):
    return (known.out / name).read_text(encoding="utf-8")


def test_the_exercises_of_a_lesson_stand_side_by_side_under_its_name(known):
    text = read(known, "report.html")
    assert re.findall(r'class="lesson" colspan="(\d)"', text) == ["2", "3", "4"]  # and their points
    items = re.findall(r'class="item(?: first)?" scope="col"><button[^>]*><span>(\w+)', text.replace("<wbr>", ""))
    assert items[:3] == ["scaled_dot_product_attention", "causal_mask", "padding_mask"]


def test_students_and_exercises_have_totals_and_signs_a_legend(known):
    text = read(known, "report.html")
    assert '<td class="n first">2</td><td class="n">2 of 4</td>' in text  # Eve's, without the text that waits
    (sums,) = re.findall(r'<tr class="sum">.*', text)
    assert re.findall(r">(\d+)</td>", sums) == ["0", "1", "3"]
    assert all(what in text for _, _, what in report.LEGEND)


def test_the_commonest_mistakes_have_a_screen_each_with_an_answer_and_what_to_say(known):
    (screen,) = re.findall(r'<section class="screen">.*?</section>', read(known, "report-anonymous.html"), re.DOTALL)
    (item,) = re.findall(r'<ol class="next"><li[^>]*>(.*?)</li>', read(known, "report.html"))
    for text in (screen, item):
        assert "2 of 3" in text
        assert report.prose(MISTAKE.look)[1:] in text
    assert "torch.ones(length, length).triu()" in re.sub("<.*?>", "", screen)


def test_on_the_projector_nobody_has_a_name(known):
    text = read(known, "report-anonymous.html")
    assert not any(re.search(rf"\b{name}\b", text, re.IGNORECASE) for name in NAMES)
    assert not any(known.pseudonym(name.lower()) in text for name in NAMES)  # a row of results would say who it is


def test_a_students_page_has_a_card_for_each_answer_and_no_box_for_the_rest(known):
    text = read(known, "feedback/ada/lesson_6.html")
    assert text.count('class="card"') == 3
    assert html.escape(MISTAKE.why, quote=False) in text
    assert "Not answered" not in text
    empty = read(known, "feedback/ada/lesson_3.html")
    assert empty.count('class="card"') == 0
    assert "Not answered" in empty
    assert "bob" not in text.lower().replace("bob's", "")  # as her own code has it


def test_on_the_page_for_texts_only_its_own_script_runs(known):
    text = read(known, "grading.html")
    (script,) = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert text.count("</script>") == 2
    assert "<img" not in text


def test_the_page_for_texts_exports_the_table_that_is_read_back(known):
    (data,) = re.findall(r'id="texts">(.*?)</script>', read(known, "grading.html"), flags=re.DOTALL)
    texts = json.loads(data)
    lines = [[row[name] for name in marks.TEXTS] for row in marks.read_table(known.out / "texts.csv", *marks.TEXTS)]
    assert texts["columns"] == list(marks.TEXTS)
    assert [[line[name] for name in marks.TEXTS] for line in texts["lines"]] == lines
    assert len(texts["questions"]["6.11"]["points"]) == 3


def test_what_a_page_holds_may_contain_the_words_that_its_template_has_for_them():
    text = report.page("TITLE POLICY · PEABODY George", "the BODY of a TITLE").decode()
    assert "<title>TITLE POLICY · PEABODY George</title>" in text
    assert "<h1>TITLE POLICY · PEABODY George</h1>\nthe BODY of a TITLE</main>" in text
