"""The glossary is collected from lessons in whatever state they are."""

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
