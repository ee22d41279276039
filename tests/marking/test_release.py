"""What teachers hand out and keep: a held release, exercises of their own, the key."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import hostile
import pytest

from transformer_lessons.exercises.checker.draws import Draws
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.verdict import judge
from transformer_lessons.exercises.questions.kinds import FreeText
from transformer_lessons.exercises.questions.lookup import all_questions
from transformer_lessons.marking import commands, confinement, release, sheets, verdicts

pytestmark = pytest.mark.skipif(
    os.name != "posix" or (os.geteuid() == 0 and confinement.protections() != confinement.ALL),
    reason="marking refuses to run here",
)


def strings_in(value):
    """All the texts in nested lists and dictionaries."""
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in items for text in strings_in(one)]


def test_a_held_release_contains_no_model_answer_and_no_solution(tmp_path):
    release.release(tmp_path / "student.zip", {"texts", "solutions"})
    with zipfile.ZipFile(tmp_path / "student.zip") as archive:
        assert not any("marking" in name for name in archive.namelist())
        texts = [archive.read(name).decode() for name in archive.namelist() if name.endswith((".py", ".svg", ".md"))]
        for name in archive.namelist():
            for one in json.loads(archive.read(name))["cells"] if name.endswith(".ipynb") else ():
                shown = [part for output in one.get("outputs", ()) for part in strings_in(output)]
                texts += ["".join(one["source"]), "".join(shown)]
        archive.extractall(tmp_path)
    whole = "\n".join(texts)
    kept = [text for one in all_questions().values() if isinstance(one, FreeText) for text in (one.model, *one.points)]
    kept = [line.strip() for text in kept for line in re.split(r"(?<=[.:]) |\n", text)] + release.hidden_lines()
    assert len(kept) > 250  # else there would be little to look for
    assert [line for line in kept if len(line) >= 40 and line in whole] == []
    pages = [text for text in texts if text.startswith("# Lesson ")]
    assert len(pages) == 12
    assert not any("[x]" in page or "## " in page for page in pages)
    code = (
        "from transformer_lessons import models; from transformer_lessons.exercises import answer, check, solution; "
        "check('causal_mask', lambda n: 0); answer('1.2', 'c'); answer('1.9', 'my words'); solution('softmax')"
    )
    said = os.popen(f'cd {tmp_path}/transformer-lessons && {sys.executable} -c "{code}"').read()
    assert said.startswith("✗ causal_mask")
    assert "✓ 1.2 The largest dot product: right" in said
    assert f"A model answer:\n{release.KEPT}\nDoes yours say the same?\n- {release.KEPT}\n" in said
    assert said.splitlines()[-1] == release.KEPT


def test_the_students_readme_has_no_dead_link_and_its_test_command_runs(tmp_path):
    release.release(tmp_path / "student.zip", {"texts", "solutions"})
    with zipfile.ZipFile(tmp_path / "student.zip") as archive:
        archive.extractall(tmp_path)
    course = tmp_path / "transformer-lessons"
    readme = (course / "README.md").read_text(encoding="utf-8")
    links = [target.partition("#")[0] for target in re.findall(r"\]\((?![a-z]+:|#)([^)]*)\)", readme)]
    assert len(links) > 12  # every lesson, and the glossary
    assert "Handing in" in readme
    assert "TEACHING.md" not in readme
    assert [target for target in links if not (course / target).exists()] == []
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "learner",
        "--collect-only",
        "-q",
        "notebooks/01_self_attention.ipynb",
    ]
    ran = subprocess.run(command, cwd=course, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout + ran.stderr


def test_a_release_holds_the_lessons_and_nothing_that_lies_beside_them_wherever_the_clone_is(tmp_path, monkeypatch):
    clone = tmp_path / "marking" / "clone"
    lesson = release.ROOT / "notebooks" / "03_scaling.ipynb"
    names = [lesson.name, "03_scaling.mine.ipynb", "notes.ipynb", "data/text.txt"]
    for name in ("pyproject.toml", "transformer_lessons/marking/marks.py", *(f"notebooks/{one}" for one in names)):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_bytes(lesson.read_bytes())
    for module in (release, release.reset):
        monkeypatch.setattr(module, "ROOT", clone)
    release.release(tmp_path / "student.zip", {"texts", "solutions"})
    with zipfile.ZipFile(tmp_path / "student.zip") as archive:
        found = sorted(archive.namelist())
    assert found == ["transformer-lessons/notebooks/03_scaling.ipynb", "transformer-lessons/pyproject.toml"]


@pytest.fixture
def variants(monkeypatch):
    """The names of the proposed variants, which are in the catalogue until the test ends."""
    monkeypatch.setattr(verdicts, "VARIANTS", [])
    before = dict(EXERCISES)
    yield verdicts.load_variants(Path(verdicts.__file__).with_name("variants"))
    EXERCISES.clear()
    EXERCISES.update(before)


def test_each_lesson_has_a_variant_whose_mistakes_are_named(variants):
    assert [EXERCISES[name].lesson for name in variants] == [1, 2, 3, 4, 5, 6, 7, 8]
    for exercise in map(EXERCISES.get, variants):
        drawn = Draws(exercise, 5)
        assert {judge(exercise, one.answer, drawn).status for one in exercise.answers.values()} == {"passed"}
        for (mistake,), variant in exercise.singles:
            assert judge(exercise, variant.answer, drawn).mistake == mistake.name


def test_a_variant_is_marked_as_the_courses_own_are(tmp_path):
    (tmp_path / "variants").mkdir()
    for path in Path(verdicts.__file__).with_name("variants").glob("lesson_6.*"):
        shutil.copy(path, tmp_path / "variants")
    own = "def window_mask(length, before, after):\n    return torch.ones(length, length, dtype=torch.bool)"
    (tmp_path / "class" / "ann").mkdir(parents=True)
    (tmp_path / "class" / "ann" / "06_masking.ipynb").write_text(
        json.dumps(hostile.notebook("import torch", own + ".triu(-before).tril(after)", hostile.HONEST["padding_mask"]))
    )
    arguments = [tmp_path / "class", "--out", tmp_path / "marks", "--variants", tmp_path / "variants", "--jobs", 1]
    subprocess.run([sys.executable, "-m", "transformer_lessons", "mark", *map(str, arguments)], check=True)
    found = {row["item"]: row["status"] for row in sheets.read_table(tmp_path / "marks" / "marks.csv")}
    assert (found["window_mask"], found["padding_mask"], found["causal_mask"]) == ("passed", "passed", "missing")


def test_a_wrong_page_of_a_teachers_own_is_named_by_where_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(verdicts, "VARIANTS", [])
    (tmp_path / "class").mkdir()
    page = tmp_path / "mine" / "window_mask.md"
    page.parent.mkdir()
    page.write_text("# window_mask\n")
    page.with_suffix(".py").write_text("setup = None\n")
    arguments = [tmp_path / "class", "--out", tmp_path / "marks", "--variants", page.parent]
    assert commands.mark([*map(str, arguments)]) == 1
    assert "window_mask.md:1: a title reads" in capsys.readouterr().err


def test_the_key_is_printed_or_written_but_not_where_it_would_be_published(tmp_path, capsys):
    assert commands.key([]) == 0
    assert "def causal_mask" in capsys.readouterr().out
    assert commands.key(["--out", str(tmp_path / "key")]) == 0
    assert "def causal_mask" in (tmp_path / "key" / "lesson_6.md").read_text()
    (tmp_path / ".git").mkdir()
    assert commands.key(["--out", str(tmp_path / "key")]) == 1


def test_a_page_without_a_module_beside_it_gets_one_sentence(tmp_path):
    (tmp_path / "README.md").write_text("# My exercises\n")
    with pytest.raises(
        ValueError, match=r"README\.md is the page of an exercise, but there is no README\.py beside it"
    ):
        verdicts.load_variants(tmp_path)


@pytest.mark.parametrize("module", ["import nothing_of_this_name", "cases = 3", "def setup(:"])
def test_a_module_that_cannot_be_used_gets_one_sentence(tmp_path, module):
    (tmp_path / "own.md").write_text("# `own` · My exercise\n")
    (tmp_path / "own.py").write_text(module)
    with pytest.raises(ValueError, match=r"own\.py cannot be used: \w+Error"):
        verdicts.load_variants(tmp_path)
