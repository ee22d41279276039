"""Strikingly similar work is found, and honest work is not."""

import re
from itertools import combinations
from types import SimpleNamespace

import pytest

from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.marking import review, sample
from transformer_lessons.marking.notebook import Notebook, comments_in, excerpt_of, shape_of


def test_copies_are_found_and_honest_work_is_left_alone():
    works, rows = {}, []
    for number in range(30):
        names = "abcdefgh"[number % 8] + str(number)
        source = "\n".join(
            [
                f"def future_leak(model{n}, tokens{names}):"
                if n == 0
                else f"    {names}{n} = model{n}({n} * {number}, tokens{names}[{(n * number) % 7}])"
                for n in range(12)
            ]
        )
        works[f"s{number:02}", "future_leak"] = {"source": source, "comments": []}
    for copy in range(5):  # renamed, and in another order
        lines = works[f"s{copy:02}", "future_leak"]["source"].split("\n")
        source = "\n".join([lines[0], *reversed(lines[1:])]).replace("tokens", "other").replace("model", "net")
        works[f"copy{copy}", "future_leak"] = {"source": source, "comments": []}
    for work in works.values():
        digest, nodes, lines = shape_of(work["source"])
        work |= {"digest": digest, "nodes": nodes, "lines": lines}
    for student, item in works:
        rows.append({"student": student, "item": item, "exercise": item, "status": "passed"})
    known = SimpleNamespace(works=works, rows=rows, students=dict.fromkeys(student for student, _ in works))
    pairs = {(one, other) for _, one, other, _, _ in review.alike(known)}
    assert pairs == {(f"copy{n}", f"s{n:02}") for n in range(5)}
    for work in (works["s01", "future_leak"], works["s09", "future_leak"]):
        work["comments"] = [f"my own comment, number {n}" for n in range(30)]
    assert "the same comment: my own comment, number 0" in {why for *_, why in review.alike(known)}


def test_two_who_leave_a_bug_hunt_as_it_was_handed_out_are_not_alike(tmp_path):
    sample.write(tmp_path, 30)
    works, rows = {}, []
    for number, path in enumerate(sorted(tmp_path.rglob("02*.ipynb"))):
        book = Notebook(path.read_bytes())
        source = excerpt_of(book.work_on("AttentionHead", "FixedHead"), "FixedHead")
        digest, nodes, lines = shape_of(source)
        work = {"source": source, "digest": digest, "nodes": nodes, "lines": lines, "comments": comments_in(source)}
        works[f"s{number}", "FixedHead"] = work
        rows.append({"student": f"s{number}", "item": "FixedHead", "exercise": "AttentionHead", "status": "failed"})
    left, *others = [student for (student, _), work in works.items() if "bias=False)] * 3" in work["source"]]
    left = {left, others[0]}  # if more have left it, nobody would be alike in any case
    works = {key: work for key, work in works.items() if key[0] not in others[1:]}
    known = SimpleNamespace(works=works, rows=rows, students=dict.fromkeys(student for student, _ in works))
    assert not [pair for _, *pair, _, _ in review.alike(known) if {*pair} & left]


LEAK = """def future_leak(model, tokens):
    worst = 0.0
    V = int(tokens.max()) + 1
    with torch.no_grad():
        ref = model(tokens)
        for t in range(tokens.shape[1] - 1):
            other = tokens.clone()
            other[:, t + 1:] = (other[:, t + 1:] + 1) % V
            worst = max(worst, (model(other) - ref)[:, :t + 1].abs().max().item())
    return worst
"""
RENAMED = {"worst": "largest", "V": "vocabulary", "ref": "reference"}


def class_with(source, other, item="future_leak"):
    works = {}
    for student, one in (("ada", source), ("bob", other), ("eve", "def f(a):\n    return a"), ("zoe", "def f(b): 1")):
        digest, nodes, lines = shape_of(one)
        works[student, item] = {
            "source": one,
            "digest": digest,
            "nodes": nodes,
            "lines": lines,
            "comments": comments_in(one),
        }
    rows = [
        {"student": one, "item": item, "exercise": item, "status": "passed", "lesson": "6"} for one in ("ada", "bob")
    ]
    students = {one: {"name": one.title()} for one, _ in works}
    return SimpleNamespace(works=works, rows=rows, students=students, notebooks={})


@pytest.mark.parametrize(
    "change", [lambda code: code, lambda code: code.replace("0.0", "0.0  # zero").replace("]:", "] :")]
)
def test_a_right_answer_with_the_same_names_is_found_though_it_is_short(change):
    ((_, *pair, item, why),) = review.alike(class_with(LEAK, change(LEAK)))
    assert (pair, item, why) == (["ada", "bob"], "future_leak", "the same answer, name for name")


SOFTMAX = """def masked_softmax(scores, mask):
    filled = scores.masked_fill(~mask, float("-inf"))
    biggest = filled.amax(-1, keepdim=True)
    biggest = torch.where(torch.isinf(biggest), torch.zeros_like(biggest), biggest)
    powers = torch.exp(filled - biggest)
    sums = powers.sum(-1, keepdim=True)
    return powers / sums.clamp(min=1e-30)
"""


@pytest.mark.parametrize(
    ("item", "code", "names"),
    [("future_leak", LEAK, RENAMED), ("masked_softmax", SOFTMAX, {"filled": "hidden", "powers": "weights"})],
)
def test_a_right_answer_with_other_names_is_found_from_seven_lines_on(item, code, names):
    copy = re.sub(r"\w+", lambda word: names.get(word[0], word[0]), code)
    ((_, *pair, found, why),) = review.alike(class_with(code, copy, item))
    assert (pair, found) == (["ada", "bob"], item)
    assert why == "the same answer but for its names, which is none of the course's"
    assert review.alike(class_with(code, copy.replace("1e-30", "1e-9").replace("0.0", "0"), item)) == []


def test_what_the_course_has_and_what_is_short_is_nobodys_copy():
    short = "def padding_mask(tokens, pad):\n    keep = tokens != pad\n    return keep[:, None, None, :]\n"
    assert review.alike(class_with(short, short, "padding_mask")) == []
    for name, exercise in EXERCISES.items():
        for text in (exercise.solution_text(), *exercise.page.styles.values()):
            assert review.alike(class_with(text, text, name)) == []


def test_no_two_right_answers_of_the_catalogue_are_taken_for_copies(monkeypatch):
    """They differ as honest answers do; here, the course itself is taken to have none of them."""
    monkeypatch.setattr(review, "digests_of_styles", lambda exercise: set())
    monkeypatch.setattr(review, "solution_digest", lambda exercise: None)
    count = 0
    for name, exercise in EXERCISES.items():
        texts = [exercise.solution_text(), *exercise.page.styles.values()]
        for one, other in combinations(texts, 2):
            count += 1
            assert review.alike(class_with(one, other, name)) == [], name
    assert count > 500


def test_what_is_not_compared_is_said(tmp_path):
    known = class_with(LEAK, SOFTMAX)
    known.out, known.notebooks = tmp_path, {(one, "6"): (f"{one}/6.ipynb", "digest") for one in ("ada", "bob")}
    for row in known.rows:
        row["status"] = "untouched"
    review.write_similar(known)
    text = (tmp_path / "similar.html").read_text(encoding="utf-8")
    assert "No two pieces of the work that was compared are strikingly alike." in text
    assert "Not compared: notebooks in which nobody has answered anything, and free texts;" in text
    assert "from some 7 lines on (45 nodes of Python’s syntax tree)" in text
    assert "from some 15 lines on (100 nodes)" in text


def test_two_who_have_several_things_alike_get_a_line_that_counts_them(tmp_path):
    known = class_with(LEAK, LEAK)
    known.out, known.notebooks = tmp_path, {}
    text = "The mask hides what comes later, so that no row can look at the answer that it should predict itself."
    for student, answer in {"ada": text, "bob": text.replace("hides", "covers"), "eve": "We hide it."}.items():
        about = {"student": student, "item": "6.11", "status": "given", "answer": answer}
        known.rows.append(known.rows[0] | about)
    review.write_similar(known)
    lines = re.findall("<li>(.*?)</li>", (tmp_path / "similar.html").read_text(encoding="utf-8"))
    assert [re.sub("<.*?>", "", one) for one in lines] == ["Ada and Bob: 1 answer, 1 text"]
