"""The layout: what imports what; how light, short and clean the package is; what lies at the top level."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from documents import dead_links, silent_images, text_of

import transformer_lessons

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "transformer_lessons"
MODULES = re.findall(r"^    ([\w.]+)  ", transformer_lessons.__doc__, flags=re.MULTILINE)  # in reading order
IMPLEMENTATION = ["masks", "attention", "positions", "layers", "models"]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "TEACHING.md", "SECURITY.md")),
    *sorted((ROOT / "transformer_lessons").rglob("*.md")),
]
TOP_LEVEL = {
    "README.md",
    "CONTRIBUTING.md",
    "TEACHING.md",
    "SECURITY.md",
    "LICENSE",
    "pyproject.toml",
    "requirements.txt",
}
TOP_LEVEL |= {"notebooks", "transformer_lessons", "imgs", "tests"}


def sources(module):
    """The files of a module: one, or those of a folder."""
    path = PACKAGE.joinpath(*module.split("."))
    return sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


def imports(source, module):
    """The modules that a module's source imports, wherever in the source it does."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = importlib.util.resolve_name("." * node.level + (node.module or ""), "transformer_lessons")
            names += [f"{start}.{alias.name}" for alias in node.names]
    package = "transformer_lessons."
    inside = [name.removeprefix(package) for name in names if name.startswith(package)]
    found = {next((one for one in MODULES if f"{name}.".startswith(f"{one}.")), name) for name in inside}
    return found - {module}


def out_of_order(source, module):
    return imports(source, module) - set(MODULES[: MODULES.index(module)])


def test_the_package_lists_all_its_modules_in_reading_order():
    paths = [path for path in PACKAGE.rglob("*.py") if path.stem != "__init__"]
    there = [path.relative_to(PACKAGE).with_suffix("") for path in paths]
    whole = ("exercises", "marking")  # listed as one
    names = {path.parts[0] if path.parts[0] in whole else ".".join(path.parts) for path in there}
    assert set(MODULES) == names
    assert len(MODULES) == len(set(MODULES))


def test_at_the_top_lies_the_implementation_alone():
    assert len(list(PACKAGE.glob("*.py"))) <= 10
    assert {path.stem for path in PACKAGE.glob("*.py")} == {
        "__init__",
        "__main__",
        "validation",
        "first_steps",
        *IMPLEMENTATION,
        "modern",
    }


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_modules_above_it(module):
    for path in sources(module):
        assert not out_of_order(path.read_text(encoding="utf-8"), module), path


@pytest.mark.parametrize(
    "line",
    [
        "from transformer_lessons.layers import EncoderLayer",
        "from transformer_lessons import layers",
        "import transformer_lessons.layers as below",
        "from .layers import EncoderLayer",
        "def late():\n    from transformer_lessons import layers",
    ],
)
def test_an_import_from_below_is_noticed(line):
    assert out_of_order(line, "attention") == {"layers"}
    assert out_of_order(line, "models") == set()


def test_only_plots_imports_matplotlib():
    for module in MODULES:
        text = "\n".join(path.read_text(encoding="utf-8") for path in sources(module))
        found = re.search(r"^\s*(from|import) matplotlib", text, re.MULTILINE)
        assert bool(found) == (module == "inspection.plots"), module


def test_importing_anything_but_plots_loads_no_matplotlib():
    others = [module for module in MODULES if module not in ("inspection.plots", "__main__")]
    lines = [f"import transformer_lessons.{module}" for module in others]
    code = "\n".join([*lines, "import sys", "sys.exit('matplotlib' in sys.modules)"])
    assert subprocess.call([sys.executable, "-c", code]) == 0


def test_importing_the_package_costs_at_most_a_tenth_of_a_second_over_torch():
    sys.path.insert(0, str(ROOT / "tests/proofs/benchmarks"))
    try:
        from import_time import BUDGET, best_of
    finally:
        sys.path.pop(0)
    assert BUDGET == 0.1
    assert any(best_of(1) <= BUDGET for _ in range(3))


def test_the_implementation_is_read_in_half_an_hour():
    texts = {module: (PACKAGE / f"{module}.py").read_text(encoding="utf-8") for module in IMPLEMENTATION}
    assert sum(len(text.splitlines()) for text in texts.values()) <= 450
    texts["modern"] = (PACKAGE / "modern.py").read_text(encoding="utf-8")
    assert len(texts["modern"].splitlines()) <= 130
    for module, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno < 25, f"{module}.{node.name} has more than 25 lines"


def test_coverage_is_measured_of_the_whole_implementation():
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    measured = re.findall(r'"transformer_lessons/([\w/]+)\.py"', settings)
    assert measured == ["validation", *IMPLEMENTATION, "modern", "tasks/reversal"]


def test_ruff_finds_nothing_in_package_tests_notebooks_and_drawings():
    command = [sys.executable, "-m", "ruff", "check", "--output-format=concise", "--no-cache", "."]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only git knows what belongs to the repository")
def test_nothing_new_lies_at_the_top_level():
    tracked = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    names = {name.split("/")[0] for name in tracked}
    assert {name for name in names if not name.startswith(".")} <= TOP_LEVEL


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_in_this_text_links_and_images_resolve_and_images_have_alternative_text(path):
    assert dead_links(text_of(path), path.parent) == []
    assert silent_images(text_of(path)) == []


def test_the_readme_gives_the_two_commands():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^python3 -m transformer_lessons (\w+)$", readme, re.MULTILINE) == ["lab", "test"]
