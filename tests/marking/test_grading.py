"""The page on which texts are read: whose points count, what the browser remembers, and what comes back to `mark`."""

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from transformer_lessons.exercises.questions.lookup import all_questions
from transformer_lessons.marking import feedback, marks, policy, review, sheets

NODE = shutil.which("node")
SCRIPT = Path(review.__file__).with_name("texts.js")
pytestmark = pytest.mark.skipif(NODE is None, reason="Node is not installed")


class Reader:
    """A teacher with one browser and one marks folder."""

    def __init__(self, folder):
        self.known, self.saved = marks.Class(folder, 5), {}

    def mark(self, **texts):
        self.known.rows = [
            marks.scored(
                {"student": name, "lesson": "6", "item": "6.11", "kind": "text", "flags": [], "status": "given"}
                | {"answer": text},
                policy.POLICY,
            )
            for name, text in texts.items()
        ]
        for name in texts:
            self.known.students[name] = {"name": name, "folder": "", "slug": name}
        marks.read_back(self.known, policy.POLICY)
        review.write_texts(self.known)
        return {row["student"]: row["points"] for row in self.known.rows}

    def open(self, grade=None, apart=()):
        """What the page shows, by pseudonym, after these points have been given in it."""
        page = (self.known.out / "grading.html").read_text(encoding="utf-8")
        (data,) = re.findall(r'id="texts">(.*?)</script>', page, flags=re.DOTALL)
        asked = json.loads(data) | {"saved": self.saved}
        ids = {line["who"]: line["id"] for line in asked["lines"] if not line["old"]}
        asked["grade"] = {ids[self.known.pseudonym(name)]: values for name, values in (grade or {}).items()}
        asked["apart"] = [ids[self.known.pseudonym(name)] for name in apart]
        command = [NODE, Path(__file__).with_name("texts.js"), SCRIPT]
        answer = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True)
        found = json.loads(answer.stdout)
        names = {ids.get(self.known.pseudonym(name)): name for name in self.known.students}
        found["now"] = {name: found["now"][id] for id, name in names.items() if id in found["now"]}
        found["disputed"] = [names[id] for id in found["disputed"]]
        found["groups"] = sorted(sorted(map(names.get, group)) for group in found["groups"])
        return found

    def grade(self, export=True, **values):
        found = self.open(values)
        self.saved = found["saved"]
        if export:
            (self.known.out / "texts.csv").write_bytes(found["csv"].encode())
        else:
            for one in self.saved.values():
                one["seen"] = one["seen"][:-1]
                one.pop("last", None)
        return found

    def type_in(self, old, new):
        path = self.known.out / "texts.csv"
        text = path.read_text("utf-8-sig")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), "utf-8-sig")


@pytest.fixture
def reader(tmp_path):
    return Reader(tmp_path)


GIVEN, NOTHING = ["1", "1", "0.5", "good", ""], ["", "", "", "", ""]


def test_points_go_to_the_text_that_was_read_and_to_no_later_one(reader):
    reader.mark(ada="the first")
    reader.grade(ada=GIVEN)
    assert reader.mark(ada="the first") == {"ada": 2.5}
    assert reader.mark(ada="the second") == {"ada": None}
    found = reader.open()
    assert found["now"] == {"ada": NOTHING}
    assert found["groups"] == [["ada"]]  # the first text is no longer read
    reader.grade()
    assert reader.mark(ada="the second") == {"ada": None}
    assert reader.mark(ada="the first") == {"ada": 2.5}  # it comes back with its points


def test_a_table_that_has_changed_since_is_not_overruled(reader):
    reader.mark(ada="a text", bob="another")
    reader.grade(export=False, ada=["1", "1", "1", "", ""], bob=GIVEN)
    reader.type_in('"a text","","","","",""', '"a text","0","0,0","0","","look again"')
    assert reader.mark(ada="a text", bob="another") == {"ada": 0, "bob": None}
    found = reader.open()
    assert found["disputed"] == ["ada"]
    assert found["now"] == {"ada": ["0", "0", "0", "look again", ""], "bob": GIVEN}


def test_who_reads_on_after_an_export_is_asked_nothing(reader):
    reader.mark(ada="a text")
    reader.grade(ada=["1", "1", "1", "=1", ""])
    reader.grade(export=False, ada=["1", "0", "1", "=2", ""])
    reader.mark(ada="a text")
    found = reader.open()
    assert (found["disputed"], found["now"]) == ([], {"ada": ["1", "0", "1", "=2", ""]})
    reader.grade()
    assert reader.mark(ada="a text") == {"ada": 2}
    assert not reader.open()["saved"]
    assert reader.known.rows[0]["comment"] == "=2"


def test_points_that_were_taken_back_leave_no_trace(reader):
    reader.mark(ada="a text")
    reader.grade(export=False, ada=GIVEN)
    assert not reader.open({"ada": NOTHING})["saved"]


def test_points_taken_back_after_an_export_do_not_come_back_with_it(reader):
    reader.mark(ada="a text")
    exported = reader.open({"ada": GIVEN})
    reader.saved = exported["saved"]
    (kept,) = reader.open({"ada": NOTHING})["saved"].values()
    reader.saved = dict.fromkeys(reader.saved, kept | {"last": GIVEN})  # nothing has been exported since
    (kept,) = reader.open()["saved"].values()
    reader.saved = dict.fromkeys(reader.saved, kept | {"last": GIVEN})
    (reader.known.out / "texts.csv").write_bytes(exported["csv"].encode())
    assert reader.mark(ada="a text") == {"ada": 2.5}
    assert reader.open()["now"] == {"ada": NOTHING}


def test_equal_texts_are_read_once_for_all(reader):
    reader.mark(ada="The mask hides it.", bob="the mask hides it", eve="Something else.", kim="??", lea="!!")
    assert reader.open()["groups"] == [["ada", "bob"], ["eve"], ["kim"], ["lea"]]
    reader.grade(bob=GIVEN)
    assert reader.open()["groups"] == [["ada"], ["bob"], ["eve"], ["kim"], ["lea"]]  # with other points: apart


def test_one_of_equal_texts_can_be_set_apart_and_what_it_gets_is_its_own(reader):
    reader.mark(ada="The mask hides it.", bob="the mask hides it", eve="The mask hides it!")
    assert reader.open()["groups"] == [["ada", "bob", "eve"]]
    found = reader.open({"bob": ["", "", "", "see me", ""]}, apart=["bob"])
    assert found["groups"] == [["ada", "eve"], ["bob"]]
    assert found["now"] == {"ada": NOTHING, "bob": ["", "", "", "see me", ""], "eve": NOTHING}
    assert reader.open(apart=["bob"])["groups"] == [["ada", "eve"], ["bob"]]
    reader.saved = found["saved"]
    assert reader.open()["groups"] == [["ada", "eve"], ["bob"]], "after a reload, too"


def test_points_of_a_text_that_is_missing_once_are_not_lost(reader):
    reader.mark(ada="a text", bob="another")
    reader.type_in('"another","","","","",""', '"another","","1","","",""')
    reader.mark(ada="a text")
    reader.mark(ada="a text", bob="another")
    assert reader.open()["now"]["bob"] == ["", "1", "", "", ""]


def test_points_that_are_no_number_are_remarked_on_and_not_read(reader):
    reader.mark(ada="a text")
    reader.type_in('"a text","","","","",""', '"a text","1","1/2","1","",""')
    assert reader.mark(ada="a text") == {"ada": None}
    assert any("'1/2' for 6.11" in remark for remark in reader.known.remarks)
    assert reader.open()["read"] == 0


def test_a_false_claim_takes_points_off_and_the_student_sees_so(reader):
    reader.mark(ada="a text", bob="another")
    reader.grade(ada=["1", "1", "0.5", "Not so.", "0.5"], bob=["0", "0", "0.5", "", "1"])
    assert reader.mark(ada="a text", bob="another") == {"ada": 2, "bob": 0}
    assert reader.open()["now"]["ada"] == ["1", "1", "0.5", "Not so.", "0.5"]
    row = reader.known.rows[0]
    assert "−½</td><td>for a false claim<" in feedback.read_blocks(row, all_questions()["6.11"], True)
    assert feedback.status_of(row | {"given": [1, 1, 1]}) == "not marked"
    reader.type_in('"1","1","0.5","0.5","Not so."', '"1","1","0.5","\u22120,25","Not so."')
    assert reader.mark(ada="a text", bob="another") == {"ada": 2.25, "bob": 0}
    reader.type_in('"1","1","0.5","\u22120,25","Not so."', '"1","1","0.5","a bit","Not so."')
    reader.mark(ada="a text", bob="another")
    assert any("'a bit' for 6.11" in remark for remark in reader.known.remarks)


def test_what_was_read_before_points_could_be_taken_off_is_still_there(reader):
    reader.mark(ada="a text")
    reader.grade(export=False, ada=GIVEN)
    for one in reader.saved.values():
        one["now"].pop()
        one["seen"] = [values[:-1] for values in one["seen"]]
    assert (reader.open()["now"], reader.open()["disputed"]) == ({"ada": GIVEN}, [])
    path = reader.known.out / "texts.csv"
    rows = sheets.read_table(path)
    head = [one for one in rows[0] if one != "minus"]
    sheets.written(path, head, [[row[one] for one in head] for row in rows])
    assert reader.mark(ada="a text") == {"ada": None}
    assert reader.open()["now"] == {"ada": GIVEN}


FIRST = "The mask hides what comes later, so that no row can look at the answer that it should predict itself."
SECOND = FIRST.replace("hides", "covers").replace("answer", "token")


def flags_of(reader):
    rows = sheets.read_table(reader.known.out / "texts.csv")
    return {row["who"]: row["flags"] for row in rows}


def test_texts_that_differ_in_a_few_words_are_flagged_and_others_are_not(reader):
    other = (
        "Without it, training would show each position the next token, and the loss would fall without any learning."
    )
    model = all_questions()["6.11"].model
    reader.mark(ada=FIRST, bob=SECOND, eve=other, kim="we hide it", lea="we hid it", max=model, noa=f"Well: {model}")
    name = reader.known.pseudonym
    flags = flags_of(reader)
    assert [flags[name(one)] for one in ("ada", "bob")] == [f"nearly the text of {name(one)}" for one in ("bob", "ada")]
    assert [flags[name(one)] for one in ("eve", "kim", "lea")] == ["", "", ""]
    assert flags[name("max")] == flags[name("noa")] == "like the model answer"


def test_a_group_is_nobodys_near_copy(reader):
    reader.mark(ada=FIRST, bob=SECOND)
    for row in reader.known.rows:
        row["by"] = "g"
    review.write_texts(reader.known)
    assert set(flags_of(reader).values()) == {""}


def exported(reader, name, values, age):
    """Puts what the page exports into the folder, under a browser's name, so many seconds old."""
    path = reader.known.out / name
    path.write_bytes(reader.open({"ada": values})["csv"].encode())
    moment = time.time() - age
    os.utime(path, (moment, moment))
    reader.saved = {}


def test_the_newest_table_counts_whatever_the_browser_has_called_it_and_none_is_lost(reader):
    reader.mark(ada="a text")
    os.utime(reader.known.out / "texts.csv", (0, time.time() - 50))
    exported(reader, "texts (1).csv", ["1", "0", "0", "", ""], 40)
    exported(reader, "texts-2.csv", ["1", "1", "0", "", ""], 30)
    exported(reader, "texts(3).csv", ["1", "1", "1", "", ""], 60)
    assert reader.mark(ada="a text") == {"ada": 2}
    assert "texts-2.csv is the newest, and now texts.csv; the one before is texts.before.csv." in reader.known.remarks
    assert "texts (1).csv is older than texts-2.csv, so it does not count." in reader.known.remarks
    exported(reader, "texts (2).csv", ["1", "1", "1", "", ""], 20)  # older than the run above, newer than its points
    assert reader.mark(ada="a text") == {"ada": 3}
    assert reader.mark(ada="a text") == {"ada": 3}
    names = {path.name for path in reader.known.out.glob("texts*")}
    assert names == {"texts.csv", "texts.before.csv", "texts.before2.csv", "texts (1).csv", "texts(3).csv"}


def test_a_table_of_something_else_changes_nothing(reader):
    reader.mark(ada="a text")
    (reader.known.out / "texts 2.csv").write_text("a,b\n1,2\n")
    before = {path: path.read_bytes() for path in reader.known.out.iterdir()}
    with pytest.raises(ValueError, match=r"texts 2\.csv needs columns"):
        reader.mark(ada="a text")
    assert before == {path: path.read_bytes() for path in reader.known.out.iterdir()}
