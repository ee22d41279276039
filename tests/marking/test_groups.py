"""The work of a group counts for each of its members, but is the work of one, not of strangers."""

import json

import pytest

from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.marking import halves, marks, mistakes, projector, report, review, sheets

MISTAKE = next(iter(EXERCISES["causal_mask"].mistakes.values()))
WORDS = "Rows of the mask belong to queries."


def share(jobs, waiting, out, say=None):
    """In place of the processes that mark: a notebook holds the status of its one exercise and the mistake in it."""
    for work, path in waiting:
        status, mistake, source = json.loads(work.read())
        about = {
            "exercise": "causal_mask",
            "flags": [],
            "mistake": "",
            "answer": "",
            "headline": "wrong.",
        }
        rows = [about | {"item": "causal_mask", "kind": "exercise", "status": status, "mistake": mistake}]
        rows += [about | {"item": "6.11", "kind": "text", "status": "given", "answer": WORDS}]
        answer = {"source": source, "digest": source, "nodes": 40, "lines": [], "comments": ["as in our notes"]}
        result = {"lesson": "6", "held": [], "fresh": False, "rows": rows, "work": {"causal_mask": answer}}
        path.write_text(json.dumps(result))
    return {}


@pytest.fixture
def hand_in(tmp_path, monkeypatch):
    """A function that hands in an answer for each id, and marks the class: a group of two, and Eve."""
    monkeypatch.setattr(marks, "share", share)
    (tmp_path / "class.csv").write_text("student,name,group\nx1,Xenia,the team\nx2,Ximena,the team\neve,Eve,\n")
    (tmp_path / "marks").mkdir()
    (tmp_path / "marks" / "policy.json").write_text('{"halves": true}')

    def mark(**answers):
        for one, answer in answers.items():
            path = tmp_path / "class" / one.replace("_", " ") / "06_masking.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(answer))
        return marks.mark(tmp_path / "class", tmp_path / "marks", roster=tmp_path / "class.csv")

    return mark


def flags_of_texts(known):
    review.write_texts(known)
    return {row["flags"] for row in sheets.read_table(known.out / "texts.csv") if row["who"] != "model answer"}


def test_the_members_of_a_group_are_not_strikingly_alike_but_copies_of_their_work_are(hand_in):
    known = hand_in(the_team=("failed", MISTAKE.name, "ours"))
    assert review.alike(known) == []
    assert flags_of_texts(known) == {""}
    known = hand_in(eve=("failed", MISTAKE.name, "ours"))
    ((_, *pair, _, why),) = review.alike(known)
    assert pair == ["eve", "x1"]
    assert why == "the same wrong answer, which nobody else has; the same comment: as in our notes"
    assert flags_of_texts(known) == {"the same text 2 times"}
    review.write_similar(known)
    assert "<bdi>Xenia</bdi>, <bdi>Ximena</bdi>" in (known.out / "similar.html").read_text()


@pytest.mark.parametrize("mistake", ["", MISTAKE.name])
def test_a_mistake_of_one_group_alone_is_told_to_nobody(hand_in, mistake):
    known = hand_in(the_team=("failed", mistake, "ours"))
    (one,) = mistakes.mistakes_in(known, "exercise")
    assert one.share() == "2 of 2"
    assert report.worth_telling([one]) == []
    assert projector.all_mistakes(known, [one]) == "<p>None.</p>"
    known = hand_in(eve=("failed", mistake, "ours"))
    (one,) = mistakes.mistakes_in(known, "exercise")
    assert report.worth_telling([one]) == [[one]]
    assert "3 of 3" in projector.all_mistakes(known, [one])


def test_the_versions_of_a_group_are_counted_once_and_its_members_are_in_one_half(hand_in):
    for source in ("first", "second"):
        hand_in(the_team=("failed", MISTAKE.name, source))
    known = hand_in(the_team=("passed", "", "third"))
    halves.write_halves(known)
    (line,) = sheets.read_table(known.out / "halves.csv", *halves.COLUMNS)
    assert (line["tried"], line["versions until right"], line["wrong versions"]) == ("1", "3", "2")
