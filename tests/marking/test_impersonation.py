"""Whose a file is, the learning system says: nobody hands in under another's number, nor takes another's mark away."""

import io
import json
import zipfile

import pytest

from transformer_lessons.marking import files, submissions

MASKING = json.dumps({"cells": []})
CLAIM = "x_99_assignsubmission_file_06_masking.ipynb"  # 97 hands this in, and Moodle would have written it for 99


def zipped(*names):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, MASKING)
    return file.getvalue()


def handed_in(folder, files):
    """{student: its files' paths} of a folder with these files, and of the zip that a learning system makes of it."""
    with zipfile.ZipFile(folder / "class.zip", "w") as archive:
        for name, content in files.items():
            path = folder / "class" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            archive.writestr(name, content)
    found = []
    for source in (folder / "class", folder / "class.zip"):
        works, unread = submissions.find(source)
        students = {}
        for work in works:
            students.setdefault(work.student, []).append(work.path)
        found.append((students, sorted(path for path, _ in unread)))
    assert found[0] == found[1]
    return found[0]


SYSTEMS = {  # how each system names a file of student {n}, of which the student chose {name}
    "Canvas": "annb_{n}_1{n}_{name}",
    "Canvas, late": "annb_LATE_{n}_1{n}_{name}",
    "Canvas, without names": "anon_{n}_1{n}_{name}",
    "Moodle, side by side": "Ann B_{n}_assignsubmission_file_{name}",
    "Moodle": "Ann B_{n}_assignsubmission_file/{name}",
    "Blackboard": "Lesson 6_{n}_attempt_2026-01-30-20-30-10_{name}",
    "Blackboard, with dashes": "Lesson_6_{n}_attempt_2026-01-30-20-30-10_{name}",
    "Gradescope": "submission_{n}/{name}",
}
CLAIMS = [
    CLAIM,
    "annb_99_1234_06_masking.ipynb",
    "annb_LATE_99_1234_06_masking.ipynb",
    "anon_99_1234_06_masking.ipynb",
    "Lesson 6_99_attempt_2026-01-30-20-30-10_06_masking.ipynb",
    "Lesson_6_99_attempt_2026-01-30-20-30-10_06_masking.ipynb",
]


@pytest.mark.parametrize("claim", CLAIMS)
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("present", [True, False])
def test_a_files_name_speaks_for_nobody_else(tmp_path, system, claim, present):
    names = {n: SYSTEMS[system].format(n=n, name="06_masking.ipynb") for n in (12, 13, *([99] if present else []))}
    names[97] = SYSTEMS[system].format(n=97, name=claim)
    students, unread = handed_in(tmp_path, dict.fromkeys(names.values(), MASKING.encode()))
    ids = {"Gradescope": "submission_{}", "Canvas, without names": "anon_{}"}.get(system, "{}")
    assert students == {ids.format(n): [name] for n, name in names.items()}
    assert unread == []


@pytest.mark.parametrize("claim", ["x_99_assignsubmission_file_.zip", "annb_99_1234_work.zip", "submission_99.zip"])
@pytest.mark.parametrize("system", ["Canvas", "Moodle, side by side", "Moodle", "Blackboard"])
def test_a_zips_name_speaks_for_nobody_else(tmp_path, system, claim):
    files = {SYSTEMS[system].format(n=n, name="06_masking.ipynb"): MASKING.encode() for n in (12, 13, 99)}
    files[SYSTEMS[system].format(n=97, name=claim)] = zipped("06_masking.ipynb", "x_99_assignsubmission_file/07.ipynb")
    students, unread = handed_in(tmp_path, files)
    assert {student: len(paths) for student, paths in students.items()} == {"12": 1, "13": 1, "99": 1, "97": 2}
    assert unread == []


def test_a_display_name_with_numbers_in_it_costs_only_whoever_bears_it(tmp_path):
    names = ["annb_99_1234_06_masking.ipynb", "bobc_12_1235_06_masking.ipynb", "eve_99_1_97_1236_06_masking.ipynb"]
    students, unread = handed_in(tmp_path, dict.fromkeys(names, MASKING.encode()))
    assert students == {"99": names[:1], "12": names[1:2]}
    assert unread == names[2:]


def test_a_name_that_the_learning_system_has_not_written_is_listed(tmp_path):
    names = ["annb_99_1234_06_masking.ipynb", "bobc_12_1235_06_masking.ipynb", "06_masking_eve.ipynb"]
    students, unread = handed_in(tmp_path, dict.fromkeys(names, MASKING.encode()))
    assert sorted(students) == ["12", "99"]
    assert unread == names[2:]


def test_two_zips_of_one_student_are_both_read(tmp_path):
    files = {f"annb_99_{n}_work.zip": zipped(f"0{n}_masking.ipynb") for n in (1, 2)}
    students, unread = handed_in(tmp_path, files | {"bobc_12_3_06_masking.ipynb": MASKING.encode()})
    assert {student: len(paths) for student, paths in students.items()} == {"99": 2, "12": 1}
    assert unread == []


def test_blackboards_ids_may_hold_an_underscore(tmp_path):
    name = "Lesson_6_{}_attempt_2026-01-30-20-30-10_06_masking.ipynb"
    students, _ = handed_in(tmp_path, {name.format(one): MASKING.encode() for one in ("a_b", "c_d", "e")})
    assert sorted(students) == ["a_b", "c_d", "e"]


# Zips


def test_an_entry_without_a_name_stops_nobody(tmp_path):
    with zipfile.ZipFile(tmp_path / "eve.zip", "w") as archive:
        for name in ("", "/", "eve/06_masking.ipynb"):
            archive.writestr(zipfile.ZipInfo(name or "x"), MASKING)
            archive.filelist[-1].filename = name
    (tmp_path / "class").mkdir()
    (tmp_path / "eve.zip").rename(tmp_path / "class" / "eve.zip")
    (tmp_path / "class" / "ann.zip").write_bytes(zipped("06_masking.ipynb"))
    works, unread = submissions.find(tmp_path / "class")
    assert {work.student for work in works} == {"ann", "eve"}
    assert [why for _, why in unread] == ["it holds a file without a name"]


def test_zips_in_a_zip_are_kept_small_and_not_in_memory(tmp_path):
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        for number in range(12):
            archive.writestr(f"s{number}/work.zip", zipped(*(f"{one}.txt" for one in range(900)), "06_masking.ipynb"))
        archive.writestr("eve/work.zip", zipped(*(f"{one}.txt" for one in range(1001))))
    works, unread = submissions.find(tmp_path / "class.zip")
    assert {work.student for work in works} == {f"s{number}" for number in range(12)}
    assert ("eve/work", "too many files, or too large") in unread
    archives = works[0].read.func.__self__
    assert len(archives.opened) <= files.NESTED + 1
    assert all(work.read() == MASKING.encode() for work in works)


def test_a_zip_with_a_million_entries_is_not_read_entry_by_entry(tmp_path):
    bomb = zipped("06_masking.ipynb") + b"PK\1\2" * 3001
    (tmp_path / "class").mkdir()
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr("eve/work.zip", bomb)
        archive.writestr("ann/06_masking.ipynb", MASKING)
    works, unread = submissions.find(tmp_path / "class.zip")
    assert [work.student for work in works] == ["ann"]
    assert unread == [("eve/work", "too many files, or too large")]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_is_compressed_in_a_way_that_unpacks_without_limit_is_not_read(tmp_path, method):
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr("eve/06_masking.ipynb", MASKING, compress_type=method)
        archive.writestr("ann/06_masking.ipynb", MASKING, compress_type=zipfile.ZIP_DEFLATED)
    works, unread = submissions.find(tmp_path / "class.zip")
    assert [work.student for work in works] == ["ann"]
    assert unread == [("eve/06_masking.ipynb", "compressed in a way that no learning system uses")]


def test_one_students_thousands_of_files_leave_everybody_elses_to_be_read(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "ENTRIES", 20)
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        for number in range(21):
            archive.writestr(f"class/eve/{number}.txt", "")
        for number in range(21):
            archive.writestr(f"class/ann/.git/{number}", "")  # a machine's
        archive.writestr("class/ann/06_masking.ipynb", MASKING)
        archive.writestr("class/eve/06_masking.ipynb", MASKING)
    works, unread = submissions.find(tmp_path / "class.zip")
    assert [work.student for work in works] == ["ann"]
    assert unread == [("class/eve", "too many files, or too large")]


@pytest.mark.parametrize("letter", "\u3164\ufe0f\u034f\u115f\u2800\u180b\u17b5\U000e0100\u00ad")
def test_a_name_with_a_letter_that_nobody_sees_is_not_another_name(tmp_path, letter):
    for name in ("alice", f"alice{letter}", "bob"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "06_masking.ipynb").write_text(MASKING)
    works, unread = submissions.find(tmp_path)
    assert [work.student for work in works] == ["bob"]
    assert len(unread) == 2


# Times


def test_the_time_beside_a_notebook_is_the_systems_not_the_students(tmp_path):
    inside = io.BytesIO()
    with zipfile.ZipFile(inside, "w") as archive:
        archive.writestr("timestamp.txt", "2026-01-01 08:00:00")
        archive.writestr("06_masking.ipynb", MASKING)
    late = "2026-12-20 10:00:00"
    for student in ("ann", "eve"):
        above = tmp_path / "submitted" / student / "ps1"
        (above / "mine").mkdir(parents=True)
        (above / "timestamp.txt").write_text(late)
    (above / "mine" / "timestamp.txt").write_text("2026-01-01 08:00:00")
    (above / "mine" / "06_masking.ipynb").write_text(MASKING)
    (tmp_path / "submitted" / "ann" / "ps1" / "work.zip").write_bytes(inside.getvalue())
    works, _ = submissions.find(tmp_path / "submitted")
    assert {work.student: work.time for work in works} == {"ann": late, "eve": late}


def test_a_students_own_timestamp_does_not_replace_blackboards(tmp_path):
    inside = io.BytesIO()
    with zipfile.ZipFile(inside, "w") as archive:
        archive.writestr("timestamp.txt", "2026-01-01 08:00:00")
        archive.writestr("06_masking.ipynb", MASKING)
    for student in ("ann", "eve"):
        (tmp_path / f"HW1_{student}_attempt_2026-12-20-10-00-00_work.zip").write_bytes(inside.getvalue())
    works, _ = submissions.find(tmp_path)
    assert {work.student: work.time for work in works} == dict.fromkeys(("ann", "eve"), "2026-12-20-10-00-00")


# What is not read


def test_of_thousands_of_files_that_are_not_read_a_few_are_listed():
    unread = [(f"eve/{number:05}.txt", "not a notebook") for number in range(20_000)]
    unread += [("ann/notes.txt", "not a notebook")]
    shown = submissions.in_short(unread)
    assert len(shown) == submissions.LINES + 2
    assert ("eve", "and 19,980 more files, for the same reason: not a notebook") in shown
    assert ("ann/notes.txt", "not a notebook") in shown
