"""A fresh copy of a lesson: what it is, where it comes from, and that nothing of the learner's is lost."""

import json
import os
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from transformer_lessons.tools import reset

ROOT = Path(reset.__file__).resolve().parents[2]
LESSON = "03_scaling.ipynb"
STUB = "def scale(x):\n    raise NotImplementedError"
SOLVED = "def scale(x):\n    return x / 2"


def notebook(answer=STUB, text="# Scaling", **metadata):
    """A lesson of one exercise, as it is committed, or with a learner's answer and what a program notes in it."""
    cells = [{"cell_type": "markdown", "source": [text]}]
    cells += [{"cell_type": "code", "source": [source]} for source in (answer, 'report = check("scale", scale)')]
    return json.dumps({"metadata": {"language_info": {"name": "python"}} | metadata, "cells": cells})


FRESH = notebook()
COMMITTED_WORK = {
    "an exercise is solved": notebook(SOLVED),
    "Jupyter has saved it": notebook(text="my notes", language_info={"name": "python", "version": "3.13.1"}),
    "Colab has saved it": notebook(text="my notes", colab={"provenance": []}),
    "it is no notebook any more": "mine",
    "JSON, but no notebook": "[]",
}


def git(*arguments, folder):
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "core.autocrlf=false"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A clone of a course of two lessons, whose second version has replaced a first."""
    folder = tmp_path / "clone"
    (folder / "notebooks").mkdir(parents=True)
    git("init", "-b", "main", folder=folder)
    for version in (notebook(text="the first version"), FRESH):
        for name in ("01_self_attention.ipynb", LESSON):
            (folder / "notebooks" / name).write_text(version)
        git("add", ".", folder=folder)
        git("commit", "-m", "The course", folder=folder)
    monkeypatch.setattr(reset, "ROOT", folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def lesson(clone):
    return clone / "notebooks" / LESSON


def texts(folder):
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("notebooks/*")}


NAMES = ["3", "03", "03_scaling", LESSON, "notebooks/03_scaling", f"notebooks/{LESSON}"]


@pytest.mark.parametrize("name", NAMES)
def test_a_lesson_is_fresh_again_and_the_learners_is_beside_it(clone, lesson, name, capsys):
    lesson.write_text("mine")
    assert reset.reset_lesson([name]) == 0
    assert "is fresh. Yours is 03_scaling.mine.ipynb, beside it." in capsys.readouterr().out
    files = texts(clone)
    assert files == {"01_self_attention.ipynb": FRESH, LESSON: FRESH, "03_scaling.mine.ipynb": "mine"}


def test_each_time_the_learners_gets_a_name_of_its_own(clone, lesson):
    for number in range(3):
        lesson.write_text(f"mine {number}")
        reset.reset_lesson(["3"])
    files = texts(clone)
    kept = [files[f"03_scaling.{name}.ipynb"] for name in ("mine", "mine-2", "mine-3")]
    assert kept == ["mine 0", "mine 1", "mine 2"]


@pytest.mark.parametrize("work", COMMITTED_WORK.values(), ids=COMMITTED_WORK)
def test_what_a_learner_commits_is_not_taken_for_the_lesson(clone, lesson, work):
    for number in range(2):
        lesson.write_text(work + number * "\n")
        git("commit", "-am", "My work", folder=clone)
    reset.reset_lesson(["3"])
    assert texts(clone)[LESSON] == FRESH


def test_a_newer_lesson_that_a_learner_has_merged_is_the_fresh_one(clone, lesson):
    git("checkout", "-b", "course", folder=clone)
    newer = notebook(text="the third version")
    lesson.write_text(newer)
    git("commit", "-am", "A better lesson", folder=clone)
    git("checkout", "main", folder=clone)
    lesson.write_text(COMMITTED_WORK["an exercise is solved"])
    git("commit", "-am", "My work", folder=clone)
    git("merge", "-s", "ours", "-m", "Keep mine", "course", folder=clone)
    reset.reset_lesson(["3"])
    assert texts(clone)[LESSON] == newer


def test_a_lesson_that_a_learner_has_deleted_and_committed_comes_back(clone, lesson):
    git("rm", f"notebooks/{LESSON}", folder=clone)
    git("commit", "-m", "I will not need this", folder=clone)
    reset.reset_lesson(["03_scaling"])
    assert texts(clone)[LESSON] == FRESH


def test_a_lesson_that_is_gone_comes_back(clone, lesson, capsys):
    lesson.unlink()
    assert reset.reset_lesson(["3"]) == 0
    assert "There was none before." in capsys.readouterr().out
    assert texts(clone)[LESSON] == FRESH
    assert lesson.stat().st_mode & 0o444 == 0o444


def test_a_lesson_comes_back_even_if_its_folder_is_gone_too(clone, lesson, tmp_path):
    shutil.rmtree(lesson.parent)
    elsewhere = tmp_path / "one" / "two" / LESSON
    for path in (lesson, elsewhere):
        assert reset.reset_lesson([str(path)]) == 0
        assert path.read_text(encoding="utf-8") == FRESH


def test_a_copy_elsewhere_is_reset_where_it_is(clone, tmp_path):
    mine = tmp_path / "elsewhere" / LESSON
    mine.parent.mkdir()
    mine.write_text("mine")
    assert reset.reset_lesson([str(mine)]) == 0
    assert mine.read_text() == FRESH
    assert mine.with_name("03_scaling.mine.ipynb").read_text() == "mine"


def test_a_fresh_lesson_is_left_alone(clone, capsys):
    before = texts(clone)
    assert reset.reset_lesson(["3"]) == 0
    assert "is fresh already" in capsys.readouterr().out
    assert texts(clone) == before


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("9", "There is no lesson 9: the course has lessons 1 to 3.\n"),
        ("03_scalling", "The course has no 03_scalling.ipynb: did you mean 03_scaling?\n"),
        ("mine.ipynb", "The course has no mine.ipynb: name a lesson by its number, 1 to 3.\n"),
    ],
)
def test_an_unknown_lesson_gets_one_line_that_says_which_there_are_and_changes_nothing(clone, name, sentence, capsys):
    before = texts(clone)
    assert reset.reset_lesson([name]) == 1
    assert capsys.readouterr().err == sentence
    assert texts(clone) == before


@pytest.mark.parametrize("why", ["no git in the clone", "no git on this machine", "another history"])
def test_where_there_is_no_original_nothing_changes(clone, lesson, why, monkeypatch, capsys):
    lesson.write_text("mine")
    before = texts(clone)
    if why == "no git in the clone":
        (clone / ".git").rename(clone / "git")
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(clone.parent))
    elif why == "no git on this machine":
        monkeypatch.setenv("PATH", "")
    else:
        git("checkout", "--orphan", "other", folder=clone)
        git("rm", "--cached", "-rf", "notebooks", folder=clone)
        git("commit", "--allow-empty", "-m", "Another history", folder=clone)
    assert reset.reset_lesson(["3"]) == 1
    assert "nothing was changed. A clone of the course has one." in capsys.readouterr().err
    assert texts(clone) == before


def test_where_the_history_holds_only_a_learners_work_nothing_changes(clone, lesson, capsys):
    lesson.write_text(COMMITTED_WORK["an exercise is solved"])
    git("checkout", "--orphan", "shallow", folder=clone)
    git("commit", "-am", "All that a shallow clone has", folder=clone)
    before = texts(clone)
    assert reset.reset_lesson(["3"]) == 1
    said = capsys.readouterr().err
    assert "every version of 03_scaling.ipynb has been worked in, so nothing was changed." in said
    assert "git fetch --unshallow" in said
    assert texts(clone) == before


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_what_breaks_off_leaves_the_learners_notebook_whole(clone, lesson, monkeypatch, step):
    def break_off(*arguments):
        raise OSError("the disk is full")

    lesson.write_text("mine")
    monkeypatch.setattr(os, step, break_off)
    with pytest.raises(OSError, match="full"):
        reset.reset_lesson(["3"])
    files = texts(clone)
    assert files[LESSON] == "mine"
    assert set(files) == {"01_self_attention.ipynb", LESSON, "03_scaling.mine.ipynb"}


def test_a_call_without_a_notebook_is_refused(clone):
    with pytest.raises(SystemExit, match="2"):
        reset.reset_lesson([])


LESSONS = sorted((ROOT / "notebooks").glob("??_*.ipynb"))


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_each_lesson_of_the_course_is_untouched_until_an_exercise_is_begun_or_a_question_answered(path):
    content = path.read_text(encoding="utf-8")
    assert reset.is_untouched(content)
    lesson = json.loads(content)
    code = [cell for cell in lesson["cells"] if cell["cell_type"] == "code"]
    answers = [before for before, cell in pairwise(code) if re.match(r"\w*report = check\(", "".join(cell["source"]))]
    assert len(answers) >= 2
    for cell in answers:
        stub, cell["source"] = cell["source"], ["x = 1"]
        assert not reset.is_untouched(json.dumps(lesson))
        cell["source"] = ["".join(stub).replace("raise NotImplementedError", "return 1  # raise NotImplementedError")]
        assert not reset.is_untouched(json.dumps(lesson))
        cell["source"] = stub
    question = next(cell for cell in code if "".join(cell["source"]).startswith("answer("))
    question["source"] = ["".join(question["source"]).replace(")", ', "a")')]
    assert not reset.is_untouched(json.dumps(lesson))
