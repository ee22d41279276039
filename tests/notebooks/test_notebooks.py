"""Every notebook keeps these rules; each rule has an example here that breaks it.

A rule takes a notebook and returns its complaints. What the cells compute is nbval's business.
"""

import ast
import base64
import copy
import functools
import inspect
import re
from pathlib import Path

import nbformat
import pytest
from documents import dead_links, headings, silent_images, without_code
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from transformer_lessons import masks

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TAGS = {"nbval-ignore-output", "nbval-check-output", "nbval-raises-exception", "nbval-skip"}
PICTURE_BYTES = 200_000
LESSON_BYTES = 1_200_000
OF_A_MACHINE = r"(?:/home/|/Users/|/root/|/tmp/|/var/|[A-Z]:\\|site-packages|\b0x[0-9a-f]{6,})\S{0,30}"


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def prose(notebook):
    """The text of all Markdown cells, without what stands in code."""
    return without_code("\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown"))


def outputs(notebook):
    return [output for cell in code_cells(notebook) for output in cell.outputs]


def pictures(notebook):
    return [output for output in outputs(notebook) if "image/png" in output.get("data", {})]


def texts_shown(notebook):
    shown = [output.get("text", "") for output in outputs(notebook)]
    for output in outputs(notebook):
        shown += [text for kind, text in output.get("data", {}).items() if kind.startswith("text/")]
    return shown


@functools.cache
def package_definitions():
    """{name: syntax tree} of what is defined in those modules of the package that some lesson imports."""
    sources = [cell.source for path in NOTEBOOKS for cell in code_cells(nbformat.read(path, as_version=4))]
    lines = re.findall(r"^from transformer_lessons\b(.+)$", "\n".join(sources), flags=re.MULTILINE)
    words = set(re.findall(r"\w+", " ".join(lines)))
    modules = [path for path in (ROOT / "transformer_lessons").glob("*.py") if path.stem in words]
    nodes = [node for path in modules for node in definitions(path.read_text(encoding="utf-8"))]
    return {node.name: ast.dump(node) for node in nodes}


def definitions(source):
    return [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]


# --- the rules ---


def cells_ran_in_order_from_1_to_the_end(notebook):
    counts = [cell.execution_count for cell in code_cells(notebook)]
    return [] if counts == list(range(1, len(counts) + 1)) else [f"the counts are {counts}"]


def no_cell_shows_an_error_or_a_warning(notebook):
    return [output for output in outputs(notebook) if output.output_type == "error" or output.get("name") == "stderr"]


def a_code_cell_has_1_to_20_lines_and_at_most_one_definition(notebook):
    complaints = []
    for cell in code_cells(notebook):
        lines, defined = len(cell.source.splitlines()), len(definitions(cell.source))
        if not 1 <= lines <= 20 or defined > 1:
            complaints.append(f"cell {cell.execution_count}: {lines} lines, {defined} definitions")
    return complaints


def never_more_than_two_code_cells_in_a_row(notebook):
    kinds = "".join(cell.cell_type[0] for cell in notebook.cells)
    return ["three code cells in a row"] * len(re.findall("c{3,}", kinds))


def three_of_four_code_cells_show_something(notebook):
    shows = [bool(cell.outputs) for cell in code_cells(notebook)]
    return [] if sum(shows) >= 0.75 * len(shows) else [f"{sum(shows)} of {len(shows)} do"]


def the_first_line_is_the_only_title(notebook):
    titles = [words for level, words in headings(prose(notebook)) if level == 1]
    first = notebook.cells[0].source.startswith("# ") if notebook.cells else False
    return [] if first and len(titles) == 1 else [f"the titles are {titles}"]


def metadata_is_bare(notebook):
    complaints = []
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        complaints.append("the kernel is not python3")
    if notebook.metadata.get("language_info", {}) not in ({}, {"name": "python"}):
        complaints.append("language_info says more than the name")
    complaints += [f"the notebook's {key}" for key in notebook.metadata.keys() - {"kernelspec", "language_info"}]
    keys = {key for cell in notebook.cells for key in cell.metadata}
    return complaints + [f"a cell's {key}" for key in keys - {"tags", "jupyter", "tolerance"}]


def tags_are_known_to_nbval(notebook):
    tags = [tag for cell in notebook.cells for tag in cell.metadata.get("tags", [])]
    return [f"nbval ignores {tag!r}" for tag in tags if "nbval" in tag.lower() and tag not in TAGS]


def nothing_shows_on_which_machine_it_ran(notebook):
    texts = [cell.source for cell in notebook.cells] + texts_shown(notebook)
    return [trace for text in texts for trace in re.findall(OF_A_MACHINE, text)]


def no_line_of_code_ends_in_a_semicolon(notebook):
    lines = [line for cell in code_cells(notebook) for line in cell.source.splitlines()]
    return [line for line in lines if line.rstrip().endswith(";")]


def links_and_images_resolve(notebook):
    return dead_links(prose(notebook), ROOT / "notebooks")


def images_have_alternative_text(notebook):
    alternatives = [output.metadata.get("image/png", {}).get("alt") for output in pictures(notebook)]
    return silent_images(prose(notebook)) + ["an output"] * sum(not text for text in alternatives)


def pictures_are_small(notebook):
    sizes = [len(base64.b64decode(output.data["image/png"])) for output in pictures(notebook)]
    return [f"{size} bytes" for size in sizes if size > PICTURE_BYTES or sum(sizes) > LESSON_BYTES]


def pictures_are_sharp(notebook):
    """At least two pixels of the file for each one on the page, whose size is in the metadata."""
    widths = [
        (
            int.from_bytes(base64.b64decode(output.data["image/png"])[16:20], "big"),
            output.metadata.get("image/png", {}).get("width"),
        )
        for output in pictures(notebook)
    ]
    return [f"{file} pixels, shown {page} wide" for file, page in widths if not page or file < 2 * page - 1]


def a_definition_with_a_package_name_is_the_packages_or_a_stub(notebook):
    defined = [node for cell in code_cells(notebook) for node in definitions(cell.source)]
    finished = [node for node in defined if "raise NotImplementedError" not in ast.unparse(node)]
    known = package_definitions()
    return [node.name for node in finished if node.name in known and ast.dump(node) != known[node.name]]


def prose_never_says_simply_or_obviously(notebook):
    return re.findall(r"\b(?:simply|obviously)\b", prose(notebook), flags=re.IGNORECASE)


def a_cell_that_trains_prints_numbers_and_no_ticks(notebook):
    """What trains is a loop with an optimiser's step, or a call of a function that the notebook defines with one."""
    sources = [cell.source for cell in code_cells(notebook)]
    trainers = {node.name for source in sources for node in definitions(source) if ".step()" in ast.unparse(node)}
    found = []
    for cell in code_cells(notebook):
        tree = ast.parse(cell.source)
        loops = [node for node in tree.body if isinstance(node, ast.For | ast.While)]
        called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and hasattr(node.func, "id")}
        trains = called & trainers or any(".step()" in ast.unparse(loop) for loop in loops)
        text = "".join(output.get("text", "") for output in cell.outputs)
        if trains and text and (re.search("[✓✗]", text) or not re.search(r"\d\.\d", text)):
            found.append(f"cell {cell.execution_count}: {text}")
    return found


RULES = [
    cells_ran_in_order_from_1_to_the_end,
    no_cell_shows_an_error_or_a_warning,
    a_code_cell_has_1_to_20_lines_and_at_most_one_definition,
    never_more_than_two_code_cells_in_a_row,
    three_of_four_code_cells_show_something,
    the_first_line_is_the_only_title,
    metadata_is_bare,
    tags_are_known_to_nbval,
    nothing_shows_on_which_machine_it_ran,
    no_line_of_code_ends_in_a_semicolon,
    links_and_images_resolve,
    images_have_alternative_text,
    pictures_are_small,
    pictures_are_sharp,
    a_definition_with_a_package_name_is_the_packages_or_a_stub,
    prose_never_says_simply_or_obviously,
    a_cell_that_trains_prints_numbers_and_no_ticks,
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_keeps_the_rule(path, rule):
    assert rule(nbformat.read(path, as_version=4)) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_valid_and_its_cells_have_ids_of_their_own(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.nbformat_minor >= 5
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


# --- and that the rules bite ---


def picture(alt="a line", size=100, width=50):
    """An output with a PNG, as far as the rules look into it: it is 100 pixels wide."""
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (100).to_bytes(4, "big")
    data = {"image/png": base64.b64encode(png.ljust(size, b"p")).decode(), "text/plain": "a line"}
    return new_output("display_data", data=data, metadata={"image/png": {"alt": alt, "width": width}})


def shown(text, name="stdout"):
    return new_output("stream", name=name, text=text)


GOOD = new_notebook(
    metadata={
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
    },
    cells=[
        new_markdown_cell("# Title\n\n[a](../pyproject.toml), ![a map](../LICENSE), [below](#What-now?)"),
        new_code_cell("print(1)", execution_count=1, outputs=[shown("1\n")]),
        new_code_cell("draw()", execution_count=2, outputs=[picture()], metadata={"tags": ["nbval-skip"]}),
        new_markdown_cell("## What now?\n\n```python\n# a remark; obviously no title\n```"),
        new_code_cell("def mine():\n    print(1)\n\nmine()", execution_count=3, outputs=[shown("1\n")]),
    ],
)


def example(cell=1, **changes):
    """The good notebook with one of its cells changed."""
    notebook = copy.deepcopy(GOOD)
    notebook.cells[cell].update(changes)
    return notebook


def with_metadata(**metadata):
    notebook = copy.deepcopy(GOOD)
    notebook.metadata.update(metadata)
    return notebook


def prose_of(text):
    return example(cell=3, source=text)


BAD = {
    cells_ran_in_order_from_1_to_the_end: [example(execution_count=None), example(execution_count=7)],
    no_cell_shows_an_error_or_a_warning: [
        example(outputs=[shown("a warning", "stderr")]),
        example(outputs=[new_output("error", ename="E", evalue="", traceback=[])]),
    ],
    a_code_cell_has_1_to_20_lines_and_at_most_one_definition: [
        example(source=""),
        example(source="1\n" * 21),
        example(source="def one(): pass\nclass Two: pass"),
    ],
    never_more_than_two_code_cells_in_a_row: [example(cell=3, cell_type="code", outputs=[])],
    three_of_four_code_cells_show_something: [example(outputs=[])],
    the_first_line_is_the_only_title: [prose_of("# Another"), example(cell=0, source="A line\n\n# Title")],
    metadata_is_bare: [
        with_metadata(kernelspec={"name": "lessons"}),
        with_metadata(language_info={"name": "python", "version": "3.11.2"}),
        with_metadata(widgets={}),
        example(metadata={"execution": {"iopub.execute_input": "2026-01-01"}}),
    ],
    tags_are_known_to_nbval: [example(metadata={"tags": [tag]}) for tag in ("NBVAL_SKIP", "nbval-ignore")],
    nothing_shows_on_which_machine_it_ran: [
        example(outputs=[shown("/home/ada/lessons\n")]),
        example(outputs=[shown("<object at 0x7f3a2c1b>\n")]),
        example(source="open('/tmp/x')"),
    ],
    no_line_of_code_ends_in_a_semicolon: [example(source="draw();")],
    links_and_images_resolve: [
        prose_of("## What now?\n\n[gone](../gone.md)"),
        prose_of("## What now?\n\n![gone](../imgs/gone.svg)"),
        prose_of("## What now?\n\n<img src='gone.svg' alt='gone'>"),
        prose_of("## What then?"),
        prose_of("## What now?\n\n[plain](http://example.com)"),
    ],
    images_have_alternative_text: [
        prose_of("![](../LICENSE)"),
        prose_of("<img src='../LICENSE'>"),
        prose_of("<img src='../LICENSE' alt=''>"),
        example(outputs=[picture(alt="")]),
    ],
    pictures_are_small: [example(outputs=[picture(size=PICTURE_BYTES + 1)])],
    pictures_are_sharp: [example(outputs=[picture(width=60)]), example(outputs=[picture(width=None)])],
    a_definition_with_a_package_name_is_the_packages_or_a_stub: [
        example(source="def causal_mask(length):\n    return 1"),
        example(source="class MultiHeadAttention:\n    pass"),
    ],
    prose_never_says_simply_or_obviously: [prose_of("Obviously."), prose_of("It simply is.")],
    a_cell_that_trains_prints_numbers_and_no_ticks: [
        example(source="for _ in range(3):\n    optimizer.step()", outputs=[shown("✓ 0.01")]),
        example(source="def train():\n    optimizer.step()\n\n\ntrain()", outputs=[shown("solved: True")]),
    ],
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_rule_accepts_what_is_good_and_complains_of_what_is_not(rule):
    assert rule(GOOD) == []
    assert all(rule(notebook) for notebook in BAD[rule])


@pytest.mark.parametrize(
    "source",
    [
        "def causal_mask(length):\n    raise NotImplementedError",
        "class MultiHeadAttention:\n    def forward(self):\n        raise NotImplementedError",
        inspect.getsource(masks.causal_mask) + "  # a remark",
    ],
)
def test_a_stub_and_the_packages_own_definition_may_have_its_name(source):
    assert a_definition_with_a_package_name_is_the_packages_or_a_stub(example(source=source)) == []
