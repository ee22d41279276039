"""The page on which texts are read: whose points count, what the browser remembers, and what comes back to `mark`."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from transformer_lessons.marking import marks, policy, review

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
                | {"answer": text, "message": "○ 6.11"},
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


GIVEN, NOTHING = ["1", "1", "0.5", "good"], ["", "", "", ""]


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
    reader.grade(export=False, ada=["1", "1", "1", ""], bob=GIVEN)
    reader.type_in('"a text","","","",""', '"a text","0","0,0","0","look again"')
    assert reader.mark(ada="a text", bob="another") == {"ada": 0, "bob": None}
    found = reader.open()
    assert found["disputed"] == ["ada"]
    assert found["now"] == {"ada": ["0", "0", "0", "look again"], "bob": GIVEN}


def test_who_reads_on_after_an_export_is_asked_nothing(reader):
    reader.mark(ada="a text")
    reader.grade(ada=["1", "1", "1", "=1"])
    reader.grade(export=False, ada=["1", "0", "1", "=2"])
    reader.mark(ada="a text")
    found = reader.open()
    assert (found["disputed"], found["now"]) == ([], {"ada": ["1", "0", "1", "=2"]})
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
    found = reader.open({"bob": ["", "", "", "see me"]}, apart=["bob"])
    assert found["groups"] == [["ada", "eve"], ["bob"]]
    assert found["now"] == {"ada": NOTHING, "bob": ["", "", "", "see me"], "eve": NOTHING}
    assert reader.open(apart=["bob"])["groups"] == [["ada", "eve"], ["bob"]]
    reader.saved = found["saved"]
    assert reader.open()["groups"] == [["ada", "eve"], ["bob"]], "after a reload, too"


def test_points_of_a_text_that_is_missing_once_are_not_lost(reader):
    reader.mark(ada="a text", bob="another")
    reader.type_in('"another","","","",""', '"another","","1","",""')
    reader.mark(ada="a text")
    reader.mark(ada="a text", bob="another")
    assert reader.open()["now"]["bob"] == ["", "1", "", ""]


def test_points_that_are_no_number_are_remarked_on_and_not_read(reader):
    reader.mark(ada="a text")
    reader.type_in('"a text","","","",""', '"a text","1","1/2","1",""')
    assert reader.mark(ada="a text") == {"ada": None}
    assert any("'1/2' for 6.11" in remark for remark in reader.known.remarks)
    assert reader.open()["read"] == 0
