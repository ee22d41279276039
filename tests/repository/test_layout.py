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
IMPLEMENTATION = ["masks", "attention", "positions", "layers", "modern", "models"]
DOCUMENTS = [
    *(
        ROOT / name
        for name in ("README.md", "CONTRIBUTING.md", "TEACHING.md", "SECURITY.md", "CHANGELOG.md", "MEASUREMENTS.md")
    ),
    *sorted((ROOT / "transformer_lessons").rglob("*.md")),
    *sorted((ROOT / ".github").rglob("*.md")),
]
TOP_LEVEL = {"README.md", "CONTRIBUTING.md", "TEACHING.md", "SECURITY.md", "CHANGELOG.md", "LICENSE", "CITATION.cff"}
TOP_LEVEL |= {"MEASUREMENTS.md", "pyproject.toml", "requirements.txt"}
TOP_LEVEL |= {"notebooks", "transformer_lessons", "imgs", "tests"}


def sources(module):
    """The files of a module: one, or those of a folder."""
    path = PACKAGE.joinpath(*module.split("."))
    return sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


def single_modules():
    """{name: path} of every module, those in folders included; a folder's own name stands for its __init__."""
    paths = {path.relative_to(PACKAGE).with_suffix("").parts: path for path in PACKAGE.rglob("*.py")}
    names = {".".join(parts[:-1] if parts[-1] == "__init__" else parts): path for parts, path in paths.items()}
    return {name: path for name, path in names.items() if name}


SINGLE_MODULES = single_modules()


def imports(source, known):
    """Those of the known modules that a module's source imports, wherever in the source it does."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = importlib.util.resolve_name("." * node.level + (node.module or ""), "transformer_lessons")
            names += [f"{start}.{alias.name}" for alias in node.names]
    inside = [name.removeprefix("transformer_lessons.") for name in names if name.startswith("transformer_lessons.")]
    return {module for name in inside if (module := longest_start(name, known))}


def longest_start(name, known):
    """The known module that the name lies in, or is: of exercises and exercises.checker, the second."""
    return max((module for module in known if f"{name}.".startswith(f"{module}.")), key=len, default=None)


def out_of_order(source, module):
    return imports(source, MODULES) - {module} - set(MODULES[: MODULES.index(module)])


def import_graph():
    """{module: the modules that it imports}, for every single module."""
    return {
        name: imports(path.read_text(encoding="utf-8"), SINGLE_MODULES) - {name}
        for name, path in SINGLE_MODULES.items()
    }


def in_circles(graph):
    """The modules that import themselves, by way of others."""

    def reached_from(module):
        reached, waiting = set(), list(graph[module])
        while waiting:
            if (following := waiting.pop()) not in reached:
                reached.add(following)
                waiting += graph[following]
        return reached

    return {module for module in graph if module in reached_from(module)}


def between_parts(graph, folder):
    """The same graph for what lies in a folder: its modules and its subfolders, each as one."""
    inside = [module for module in graph if module.startswith(f"{folder}.")]
    part = {module: module.split(".")[1] for module in inside}
    edges = {(part[module], part[other]) for module in inside for other in graph[module] if other in part}
    return {name: {other for start, other in edges if start == name and other != name} for name in part.values()}


def between_folders(graph):
    """The same graph for the folders at the top, each as one; not for the modules beside them."""
    folders = {module.split(".")[0] for module in graph if "." in module}
    edges = {(module.split(".")[0], other.split(".")[0]) for module in graph for other in graph[module]}
    return {name: {other for start, other in edges if start == name and other in folders - {name}} for name in folders}


def modules_listed_by(folder):
    tree = ast.parse((PACKAGE.joinpath(*folder.split(".")) / "__init__.py").read_text(encoding="utf-8"))
    return re.findall(r"^(\w+)  ", ast.get_docstring(tree), flags=re.MULTILINE)


def part_of(module, folder):
    """The part of a folder that a module in it is, or lies in."""
    return module.removeprefix(f"{folder}.").split(".")[0]


def too_early(folder, listed, graph):
    """{a module: those that it imports, but that are not listed above it}, for the modules of one folder."""
    early = {}
    for place, name in enumerate(listed):
        inside = {part_of(other, folder) for other in graph[f"{folder}.{name}"] if other.startswith(f"{folder}.")}
        if below := inside - set(listed[:place]):
            early[name] = below
    return early


def test_the_package_lists_all_its_modules_in_reading_order():
    paths = [path for path in PACKAGE.rglob("*.py") if path.stem != "__init__"]
    there = [path.relative_to(PACKAGE).with_suffix("") for path in paths]
    whole = ("exercises", "marking")  # listed as one
    names = {path.parts[0] if path.parts[0] in whole else ".".join(path.parts) for path in there}
    assert set(MODULES) == names
    assert len(MODULES) == len(set(MODULES))


@pytest.mark.parametrize("folder", ["exercises.checker", "exercises.questions", "marking"])
def test_a_folder_lists_all_its_modules_in_reading_order(folder):
    listed = modules_listed_by(folder)
    graph = import_graph()
    assert sorted(listed) == sorted({part_of(module, folder) for module in graph if module.startswith(f"{folder}.")})
    assert too_early(folder, listed, graph) == {}


def test_a_module_listed_before_one_that_it_imports_is_noticed():
    graph = {"a.x": {"a.y.part", "b"}, "a.y": set(), "a.y.part": set(), "b": set()}
    assert too_early("a", ["y", "x"], graph) == {}
    assert too_early("a", ["x", "y"], graph) == {"x": {"y"}}


def test_at_the_top_lies_the_implementation_alone():
    assert len(list(PACKAGE.glob("*.py"))) <= 10
    assert {path.stem for path in PACKAGE.glob("*.py")} == {
        "__init__",
        "__main__",
        "validation",
        "first_steps",
        *IMPLEMENTATION,
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


def test_no_two_modules_import_each_other_directly_or_by_way_of_others():
    assert in_circles(import_graph()) == set()


@pytest.mark.parametrize("folder", ["exercises", "marking"])
def test_the_parts_of_a_folder_have_an_order_in_which_each_imports_only_what_comes_before(folder):
    assert in_circles(between_parts(import_graph(), folder)) == set()


def test_the_folders_at_the_top_have_such_an_order_too():
    assert in_circles(between_folders(import_graph())) == set()


def test_a_circle_is_noticed():
    graph = {"a.x": {"b"}, "a.y": set(), "b": {"c"}, "c": {"a.x"}, "d": {"a.x"}}
    assert in_circles(graph) == {"a.x", "b", "c"}
    assert between_parts({"a.x.one": {"a.y"}, "a.y": {"a.x.two"}, "a.x.two": set()}, "a") == {"x": {"y"}, "y": {"x"}}
    assert between_folders({"a.x": {"b.y", "c"}, "b.y": {"a.z"}, "a.z": set(), "c": {"b.y"}}) == {
        "a": {"b"},
        "b": {"a"},
    }


def test_only_plots_imports_matplotlib():
    for module in MODULES:
        text = "\n".join(path.read_text(encoding="utf-8") for path in sources(module))
        imported = re.search(r"^\s*(from|import) matplotlib", text, re.MULTILINE)
        assert bool(imported) == (module == "inspection.plots"), module


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
    statements = 0
    for module in IMPLEMENTATION:
        tree = ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))
        statements += sum(isinstance(node, ast.stmt) for node in ast.walk(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                assert len(ast.unparse(node).splitlines()) <= 25, f"{module}.{node.name} is longer than a screen"
    assert statements <= 420


def test_coverage_is_measured_of_all_that_lies_at_the_top_and_of_the_reversal_task():
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    measured = re.findall(r'"transformer_lessons/([\w/]+)\.py"', settings)
    top = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    assert sorted(measured) == sorted([*top, "tasks/reversal"])


@pytest.mark.parametrize("command", ["check --output-format=concise", "format --check"])
def test_ruff_finds_nothing_to_change_in_package_tests_notebooks_and_drawings(command):
    result = subprocess.run(
        [sys.executable, "-m", "ruff", *command.split(), "--no-cache", "."], cwd=ROOT, capture_output=True, text=True
    )
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


# The scripts of the site, and those in the outputs of lessons, which change with every one of these lessons
LONG_LINES = ".site/static", "transformer_lessons/exercises/questions", "transformer_lessons/inspection/pages"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only git knows what belongs to the repository")
def test_scripts_keep_to_120_columns_except_in_these_folders():
    tracked = subprocess.check_output(["git", "ls-files", "*.js"], cwd=ROOT, text=True).splitlines()
    held = [name for name in tracked if not name.startswith(LONG_LINES)]
    assert len(held) >= 6
    for name in held:
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        assert [f"{name}:{n}" for n, line in enumerate(lines, 1) if len(line) > 120] == []
