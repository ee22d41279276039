"""The house keeps its order: what imports what; how light, short and clean it is; what lies at its door."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from documents import dead_links, silent_images, text_of

import transformer_lessons

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "transformer_lessons"
ROOMS = re.findall(r"^    (\w+)  ", transformer_lessons.__doc__, flags=re.MULTILINE)  # in reading order
MODEL_ROOMS = ["masks", "attention", "positions", "layers", "models"]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "transformer_lessons").rglob("*.md"))]
AT_THE_DOOR = {"README.md", "LICENSE", "pyproject.toml", "requirements.txt"}
AT_THE_DOOR |= {"notebooks", "transformer_lessons", "imgs", "tests"}


def sources(room):
    """The files of a room: one, or those of a folder."""
    folder = PACKAGE / room
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{room}.py"]


def imports(source, room):
    """The rooms that a room's source imports, wherever in the source it does."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            start = importlib.util.resolve_name(module, "transformer_lessons")
            names += [f"{start}.{alias.name}" for alias in node.names]
    parts = [name.split(".") for name in names]
    return {part[1] for part in parts if part[0] == "transformer_lessons" and len(part) > 1} - {room}


def out_of_order(source, room):
    return imports(source, room) - set(ROOMS[: ROOMS.index(room)])


def test_the_package_says_in_which_order_to_read_all_its_rooms():
    there = {path.parent if path.stem == "__init__" else path for path in PACKAGE.glob("**/*.py")}
    assert set(ROOMS) == {path.stem for path in there if path.parent == PACKAGE}
    assert len(ROOMS) == len(set(ROOMS))


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_rooms_above_it(room):
    for path in sources(room):
        assert not out_of_order(path.read_text(encoding="utf-8"), room), path


@pytest.mark.parametrize("line", [
    "from transformer_lessons.layers import EncoderLayer",
    "from transformer_lessons import layers",
    "import transformer_lessons.layers as below",
    "from .layers import EncoderLayer",
    "def late():\n    from transformer_lessons import layers",
])
def test_an_import_from_below_is_noticed(line):
    assert out_of_order(line, "attention") == {"layers"}
    assert out_of_order(line, "models") == set()


def test_only_plots_imports_matplotlib():
    for room in ROOMS:
        text = "\n".join(path.read_text(encoding="utf-8") for path in sources(room))
        found = re.search(r"^\s*(from|import) matplotlib", text, re.MULTILINE)
        assert bool(found) == (room == "plots"), room


def test_importing_all_other_rooms_loads_no_matplotlib():
    rooms = [f"import transformer_lessons.{room}" for room in ROOMS if room not in ("plots", "__main__")]
    code = "\n".join([*rooms, "import sys", "sys.exit('matplotlib' in sys.modules)"])
    assert subprocess.call([sys.executable, "-c", code]) == 0


def test_importing_the_package_costs_at_most_a_tenth_of_a_second_over_torch():
    sys.path.insert(0, str(ROOT / "tests/benchmarks"))
    try:
        from import_time import BUDGET, best_of
    finally:
        sys.path.pop(0)
    assert best_of(3) <= BUDGET == 0.1


def test_the_model_rooms_are_read_in_half_an_hour():
    texts = {room: (PACKAGE / f"{room}.py").read_text(encoding="utf-8") for room in MODEL_ROOMS}
    assert sum(len(text.splitlines()) for text in texts.values()) <= 450
    for room, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno < 25, f"{room}.{node.name} has more than 25 lines"


def test_the_coverage_is_measured_of_all_model_rooms():
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    measured = re.findall(r'"transformer_lessons/(\w+)\.py"', settings)
    assert measured == ["sizes", *MODEL_ROOMS, "toy"]


def test_ruff_finds_nothing_in_package_tests_notebooks_and_drawings():
    command = [sys.executable, "-m", "ruff", "check", "--output-format=concise", "--no-cache", "."]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only git knows what belongs to the repository")
def test_nothing_new_lies_at_the_door():
    tracked = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    doors = {name.split("/")[0] for name in tracked}
    assert {name for name in doors if not name.startswith(".")} <= AT_THE_DOOR


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_in_this_text_links_and_images_resolve_and_images_have_alternative_text(path):
    assert dead_links(text_of(path), path.parent) == []
    assert silent_images(text_of(path)) == []


def test_the_readme_gives_the_two_commands():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^python3 -m transformer_lessons (\w+)$", readme, re.MULTILINE) == ["lab", "test"]
