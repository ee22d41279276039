"""The glossary is collected from lessons in whatever state they are."""

import json

import pytest

from transformer_lessons.tools import glossary, install


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"cells": 3}', b'{"cells": [{}]}', b"\xff"])
def test_a_lesson_that_is_damaged_is_named_and_nothing_is_written(tmp_path, monkeypatch, capsys, content):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "06_masking.ipynb").write_bytes(content)
    monkeypatch.setattr(install, "ROOT", tmp_path)
    assert glossary.write([]) == 1
    assert capsys.readouterr().err.startswith("06_masking.ipynb is not a notebook, or is damaged")
    assert not (tmp_path / "notebooks" / "glossary.md").exists()


def test_a_lesson_that_reset_has_set_aside_adds_nothing(tmp_path, monkeypatch):
    cell = {"cell_type": "markdown", "source": ["**New words.**\n", "\n", "- *Mask*: what hides a position."]}
    (tmp_path / "notebooks").mkdir()
    for name in ("06_masking.ipynb", "06_masking.mine.ipynb"):
        (tmp_path / "notebooks" / name).write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    monkeypatch.setattr(install, "ROOT", tmp_path)
    assert glossary.write([]) == 0
    page = (tmp_path / "notebooks" / "glossary.md").read_text(encoding="utf-8")
    assert page == glossary.HEAD + "| Mask | what hides a position. | [6](06_masking.ipynb) |\n"
