"""A file is the old one or the new one, whole; and nothing is left beside it."""

import errno
import os
import stat
from unittest.mock import Mock

import pytest

from transformer_lessons.basis import atomic


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.file"


def test_what_was_written_is_there_and_nothing_else(path):
    for name, data in ((path, b"one"), (str(path), b""), (path, bytes(10**6))):
        atomic.write(name, data)
        assert path.read_bytes() == data
        assert os.listdir(path.parent) == [path.name]


def test_when_the_disk_is_asked_to_keep_it_all_of_it_is_in_the_file_and_the_old_one_keeps_its_name(path, monkeypatch):
    path.write_bytes(b"old")
    seen, sync = [], os.fsync

    def look(file):
        seen.append((os.fstat(file).st_size, path.read_bytes()))
        sync(file)

    monkeypatch.setattr(os, "fsync", look)
    atomic.write(path, bytes(1000))  # fewer than Python gathers before it hands them on
    assert seen == [(1000, b"old")]
    assert path.read_bytes() == bytes(1000)


def test_the_name_comes_after_the_content_is_kept(path, monkeypatch):
    steps, sync, replace = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: (steps.append("kept"), sync(file)))
    monkeypatch.setattr(os, "replace", lambda *names: (steps.append("named"), replace(*names)))
    atomic.write(path, b"new")
    assert steps == ["kept", "named"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt])
def test_when_writing_fails_the_old_file_stays_and_nothing_else(path, monkeypatch, step, kind):
    path.write_bytes(b"old")
    monkeypatch.setattr(os, step, Mock(side_effect=kind(errno.ENOSPC, "No space left on device")))
    with pytest.raises(kind):
        atomic.write(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(path.parent) == [path.name]


def test_two_who_write_at_once_do_not_mix(path, monkeypatch):
    """The second begins and ends while the first is about to keep its content."""
    sync = os.fsync

    def interrupt(file):
        monkeypatch.setattr(os, "fsync", sync)
        atomic.write(path, b"second, which is longer")
        sync(file)

    monkeypatch.setattr(os, "fsync", interrupt)
    atomic.write(path, b"first")
    assert path.read_bytes() == b"first"
    assert os.listdir(path.parent) == [path.name]


def test_what_killed_processes_left_can_be_removed_and_nothing_else(path, monkeypatch):
    others = [
        "some.file",
        "other.file.01234567.part",
        "some.file.best.01234567.part",
        "some.file.mine.part",
        "some-file.01234567.part",
    ]
    for name in others:
        path.with_name(name).write_bytes(b"somebody's")
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.unlink", Mock(side_effect=OSError))  # as if killed: nothing is cleaned up
        patch.setattr(os, "replace", Mock(side_effect=KeyboardInterrupt))
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                atomic.write(path, b"half")
    assert len(os.listdir(path.parent)) == len(others) + 2
    atomic.tidy(str(path))
    assert sorted(os.listdir(path.parent)) == sorted(others)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_who_may_read_the_old_file_may_read_the_new_one_and_no_one_else(path):
    path.write_bytes(b"old")
    path.chmod(0o640)
    atomic.write(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        atomic.write(tmp_path / "nowhere" / "file", b"new")
