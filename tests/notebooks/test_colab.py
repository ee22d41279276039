"""The first cell of a lesson installs the course on Google Colab (here: an imitation) and nowhere else."""

import importlib.util
import json
import subprocess
import sys
import threading
import types
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import quote

import nbformat
import pytest

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("??_*.ipynb"))
FIRST = [nbformat.read(path, 4).cells[1] for path in LESSONS]
GITHUB = "https://github.com/someone/transformer-lessons/blob/autumn/notebooks/03_scaling.ipynb"


@pytest.fixture
def installed(monkeypatch):
    """What the cell runs, noted and not run."""
    commands = []
    monkeypatch.setattr(subprocess, "run", lambda command, check: commands.append(command))
    return commands


@pytest.fixture
def colab(monkeypatch):
    """As on Colab: its module is loaded, the package is missing, a server tells what was opened."""
    opened = []

    class Sessions(BaseHTTPRequestHandler):
        def do_GET(self):
            assert self.path == "/api/sessions"
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps([{"path": opened[0], "name": "03_scaling.ipynb"}]).encode())

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Sessions)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("COLAB_JUPYTER_IP", "127.0.0.1")
    monkeypatch.setenv("KMP_TARGET_PORT", str(server.server_port))
    yield opened
    server.shutdown()
    server.server_close()


def test_every_lesson_begins_with_the_same_folded_cell():
    assert len(FIRST) >= 8
    assert len({cell.source for cell in FIRST}) == 1
    for cell in FIRST:
        assert cell.metadata == {"jupyter": {"source_hidden": True}, "tags": ["remove-cell"]}
        assert not cell.outputs


def test_outside_colab_the_first_cell_does_nothing(installed, capsys):
    exec(FIRST[0].source, {})
    assert not installed
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("safe", ["", "/"])
def test_on_colab_the_first_cell_installs_what_the_lesson_was_opened_from(colab, installed, safe):
    colab.append("fileId=" + quote(GITHUB, safe))
    exec(FIRST[0].source, {})
    source = "git+https://github.com/someone/transformer-lessons@autumn"
    assert installed == [[sys.executable, "-m", "pip", "install", "--quiet", source]]


def test_on_colab_the_first_cell_installs_nothing_twice(colab, installed, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: "here")
    exec(FIRST[0].source, {})
    assert not installed


def test_a_copy_in_a_drive_is_told_where_the_course_is(colab, installed):
    colab.append("fileId=1AbCdEfGh")
    with pytest.raises(SystemExit, match="from its repository on GitHub"):
        exec(FIRST[0].source, {})
    assert not installed
