"""Cells that run within a lesson's page: they give what is saved, and what a reader changes in one has its effect.

The list of these cells is approved: pytest tests/repository/test_running.py --approve writes it anew. The page itself
is used by tests/proofs/site_browser.py.
"""

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / ".site"))  # as when build.py runs
import lessons  # noqa: E402
import running  # noqa: E402

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[01][0-9]_*.ipynb"))
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="Node is not installed")
ON_THE_PAGE = re.compile(r"(?m)^\s*(?:\w+ = )?(?:answer|check|hint|solution)\(|NotImplementedError|google\.colab")


@cache
def notebook_of(path):
    return json.loads(path.read_text(encoding="utf-8"))


def run(asked):
    """What cells put out: asked is [(what the page is told, {place: changed source}, [place, …])]."""
    command = [NODE, Path(__file__).with_name("cells.js"), ROOT / ".site/static"]
    answer = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


def run_code(*codes):
    """What pieces of code put out that belong to no lesson."""
    lesson = {"cells": [{"source": code, "runs": True} for code in codes], "package": {}}
    return run([(lesson, {}, [*range(len(codes))])])[0]


def decided(path):
    """The list of a lesson's cells, by running all that may run until none fails."""
    notebook = notebook_of(path)
    cells = {cell["id"]: cell for cell in running.code_cells(notebook)}
    left = [name for name, cell in cells.items() if not ON_THE_PAGE.search("".join(cell["source"]))]
    while True:
        lesson = running.told(notebook, {"shown": [], "silent": left})
        places = [at for at, cell in enumerate(lesson["cells"]) if cell["runs"]]
        outcomes = dict(zip(left, run([(lesson, {}, places)])[0], strict=True))
        right = {name for name, outcome in outcomes.items() if "fault" not in outcome}
        wrong = {name for at, (name, one) in zip(places, outcomes.items(), strict=True) if one.get("at") == at}
        wrong |= {name for name, one in outcomes.items() if "fault" in one and left[places.index(one["at"])] in right}
        if not wrong:
            break
        left = [name for name in left if name not in wrong]
    saved = {name: running.saved_output(cells[name]) for name in left}
    same = [
        name for name in left if saved[name] is not None and outcomes[name]["output"].rstrip() == saved[name].rstrip()
    ]
    names = dict(zip(places, left, strict=True))
    used = {names.get(at) for name in same if saved[name] for at in outcomes[name]["needed"]}
    shown = [name for name in same if saved[name] or name in used]
    shown = [name for name in shown if not running.only_imports("".join(cells[name]["source"]))]
    silent = [name for name in left if name not in shown and (name in same or saved[name] is None)]
    return {"shown": shown, "silent": silent}


def test_a_cell_with_a_button_gives_what_is_saved(request):
    if request.config.getoption("approve"):
        lists = {path.stem: decided(path) for path in NOTEBOOKS}
        running.LIST.write_text(json.dumps(lists, indent=1) + "\n", encoding="utf-8")
    asked, expected = [], []
    for path in NOTEBOOKS:
        notebook, known = notebook_of(path), running.listed(path.stem)
        lesson = running.told(notebook, known)
        cells = {cell["id"]: cell for cell in running.code_cells(notebook)}
        asked.append((lesson, {}, [at for at, cell in enumerate(lesson["cells"]) if cell.get("shown")]))
        expected += [(path.stem, cells[name]) for name in known["shown"] if name in cells]
        assert set(known["shown"] + known["silent"]) <= set(cells), f"{path.stem}: run this test with --approve"
    outcomes = [one for lesson in run(asked) for one in lesson]
    used = {stem: set() for stem, _ in expected}
    for (stem, cell), outcome in zip(expected, outcomes, strict=True):
        if running.saved_output(cell):
            used[stem] |= set(outcome.get("needed", []))
    places = [at for _, _, shown in asked for at in shown]
    for (stem, cell), outcome, place in zip(expected, outcomes, places, strict=True):
        assert running.saved_output(cell) or place in used[stem], f"{stem}: nothing uses what {cell['id']} makes"
        assert "fault" not in outcome, (stem, cell["source"], outcome, "run this test with --approve")
        assert outcome["output"].rstrip() == running.saved_output(cell).rstrip(), (stem, cell["source"])


# --- what is printed, and drawn at random, is what Python prints and draws ---

PRINTED = """
np.array([0.75, 0.5])
np.array([[1.0, 0.25], [-3.5, 100.0]])
np.arange(12).reshape(3, 4)
np.array([[True, False], [False, True]])
np.array([1e-5, 1.0, 12345.678])
np.array([1e10, 1.0])
np.array([0.1, np.nan, -np.inf])
np.array([1 / 3, -2 / 3, 0.0])
np.zeros((2, 2, 2))
np.linspace(0, 1, 30)
np.arange(2000)
np.arange(1200.0).reshape(40, 30)
np.array([-0.001, 0.0]).round(2)
np.array([1, -20, 300])
np.array(0.5)[None]
np.array([0.5])[0]
torch.tensor([0.5, 0.25])
torch.tensor([[1.0, 2.0], [3.0, 40.0]])
torch.tensor([1e-6, 1.0])
torch.tensor([1, 20, 3])
torch.tensor([True, False])
torch.tensor(3.5)
torch.arange(40)
torch.tensor([[0.1, float("nan")], [float("inf"), -2.0]])
torch.zeros(2, 3).shape
[1, 2.5, "a", None, True, (1,), {"k": [1.0]}, "it's"]
1e-5, 1e16, 123456789.0, 0.1 + 0.2, -0.0, 1e22, 5e-324
f"{1 / 3:.2f} {2.5:.0f} {0.125:.2f} {1234567:,} {12:>5}|{'a':<4}|{'b':^5}|{0.5:%} {1e-7:.1e} {12345.678:g} {3:03d}"
f"{-1.5:+.1f} {1.5:+.1f} {1e6:g} {0.0001:g} {1e-5:g} {123456789:g} {100.0:.3g} {2.0:8.2f}|"
f"{True!r:>6} {'x'!r} {2 + 2 = } {{}} {3.0} {10**20:,}"
f"{'nested':>{5 + 5}} {[round(number, 1) for number in (0.25, 0.35, 2.675)]} {1.0:5} {7:5}| {0.1 + 0.2} {255:x} {5:b}"
"{:.2f} {} {name}".format(1.5, "b", name=[1])
", ".join(sorted({"b": 1, "a": 2})), "a-b-c".split("-"), "Hello"[1:3], "x" * 3, len("abc"), "b" in "abc"
round(2.675, 2), round(0.5), round(1234.5, -2), 7 // 2, -7 // 2, -7 % 3, 2**10, 2**-1
sorted([3, 1, 2], reverse=True), max([1, 5, 3]), max(["aa", "b"], key=len)
list(zip([1, 2], "ab")), list(enumerate("ab"))
"né 🚲".encode(), b"a'b" + bytes([200, 10]), b"abc"[1], b"abc"[1:], list(b"ab")
b"\\xc3\\xa9".decode(), b" ".join([b"a", b"b"])
b"\\xf0\\x9f".decode(errors="replace"), "\\x04\\r\\xa0", b"a" < b"b", {b"a": 1}[b"a"], b"n" in b"ring"
{3, 1, 2} | {9, 5}, {1, 2} & {2}, {1, 2} - {2}, {1} < {1, 2}, len({x % 3 for x in range(9)}), set(), 4 in {4}
"a-b-c".rpartition("-"), "n🚲é".find("é"), "ab".translate({97: 120}), "élan vital".title(), "7".zfill(3), "x1".isalnum()
{**{"a": 1}, "b": 2} | {"c": 3}, [*"ab"], (1, 2) == [1, 2], [1, 2] == [1, 2]
dict.fromkeys("ab", 0), list(map(str.upper, "ab"))
np.array([3, 1, 2])[np.array([0, 2])], isinstance([1], list), isinstance((1,), (list, tuple)), hasattr("a", "upper")
""".strip().split("\n")


def test_values_are_printed_as_python_prints_them():
    codes = [f"x = {code}\nprint(x)\nprint([x])" for code in PRINTED]
    for code, source, told in zip(PRINTED, codes, run_code(*codes), strict=True):
        value = eval(code, {"np": np, "torch": torch})
        assert told.get("output") == f"{value!s}\n{[value]!s}\n", (source, told)


PROGRAMS = """
class Animal:
    legs = 4

    def __init__(self, name):
        self.name = name

    def say(self, word="hm"):
        return f"{self.name}: {word}, {self.legs}"

    @classmethod
    def new(cls):
        return cls("new")

    @property
    def long(self):
        return 2 * self.name

    def __len__(self):
        return len(self.name)


class Bird(Animal):
    legs = 2

    def __init__(self, name, song):
        super().__init__(name)
        self.song = song

    def say(self):
        return super().say(self.song) + "!"

    def __repr__(self):
        return f"Bird({self.name})"


bird = Bird("wren", "tit")
bird.legs += 1
print(bird.say(), Animal.new().long, len(bird), bird, [bird], isinstance(bird, Animal), Bird.legs)
---
def below(number):
    for one in range(number):
        if one % 2:
            yield one
    else:
        yield "end"


numbers = below(6)
print(next(numbers), [one for one in numbers], list(numbers), next(numbers, None))
for one in below(100):
    if one > 3:
        break
print(one, sum(below(0) and [1]))
---
def half(number):
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number // 2


for number in (4, 3):
    try:
        print(half(number))
    except (TypeError, ValueError) as error:
        print("no:", error)
    else:
        print("fine")
    finally:
        print("done")
try:
    assert half(2) == 2, "wrong"
except AssertionError as error:
    print(error)
---
numbers = {"a": [1, 2, 3], "b": []}
del numbers["b"], numbers["a"][0]
numbers["a"][1:] = [7, 8]
total: int = 0
for one in numbers["a"]:
    total += one
else:
    print("all")
print(numbers, total)
---
from collections import Counter, defaultdict
from functools import cache, partial, reduce
from itertools import accumulate, chain, islice, pairwise, product, zip_longest

counts = Counter("abracadabra")
counts["z"] += 2
groups = defaultdict(list)
for word in "the cat sat on the mat".split():
    groups[len(word)].append(word)
print(counts, counts.most_common(2), counts["q"], counts.total(), dict(groups))
print(list(pairwise("abc")), list(accumulate([1, 2, 3])), list(chain("ab", [1])), list(islice(range(10), 2, 8, 3)))
print(list(product("ab", repeat=2)), list(zip_longest("ab", "c")), partial(max, 3)(2))
print(reduce(lambda a, b: a * b, [2, 3, 4]))


@cache
def fibonacci(number):
    return number if number < 2 else fibonacci(number - 1) + fibonacci(number - 2)


print(fibonacci(60))
---
import re

text = "The cat's 3 hats, don't!"
print(re.findall(r"[a-z]+", text), re.split(r"\\b", "ab, cd"), re.sub(r"(\\w)at", r"\\1og", text))
print(re.split("([,.])", "a,b.c"))
print(re.search(r"(?P<digit>\\d)", text)["digit"], re.match("cat", text))
print(re.sub("[aeiou]", lambda found: found[0].upper(), text))
print(re.findall(r"'(?:t|s)| ?[^\\W\\d_]+|\\s+(?!\\S)|[^\\s\\w]", text), re.escape("a.b-c"))
print(re.fullmatch(r"{(\\w+)}", "{x}")[1])
---
import random

rng = random.Random(7)
print(rng.random(), rng.choice("abc"), rng.choices([1, 2, 3], [1, 1, 8], k=5))
print(rng.randrange(100), rng.randint(2, 4), rng.uniform(0, 1))
order = list(range(8))
rng.shuffle(order)
print(order, random.Random(2**70).random())
---
from dataclasses import dataclass


@dataclass
class Point:
    x: float
    y: float = 2.0

    def far(self):
        return self.x + self.y


print(Point(1.0), Point(1.0) == Point(1.0, 2.0), Point(y=1.0, x=0.5).far())
---
import torch
from torch import nn

torch.manual_seed(3)


class Two(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.first, self.norm = nn.Linear(size, 4), nn.LayerNorm(4)
        self.rest = nn.ModuleList(nn.Linear(4, 4, bias=False) for _ in range(2))
        self.dropout = nn.Dropout(0.1)
        self.scale = nn.Parameter(torch.ones(1))
        self.table = nn.Embedding(5, 4)

    def forward(self, x):
        x = self.norm(self.first(x))
        for layer in self.rest:
            x = x + self.dropout(layer(x))
        return x * self.scale + self.table(torch.tensor([1, 2]))


model = Two(3).eval()
with torch.no_grad():
    print([round(number, 4) for number in model(torch.arange(6.0).reshape(2, 3)).flatten().tolist()])
print([name for name, _ in model.named_parameters()], sum(one.numel() for one in model.parameters()), model.training)
print(list(model.state_dict())[:3], len(model.rest), model.rest[0] is model.rest[1])
""".strip().split("\n---\n")


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_prints_what_it_prints_in_python(program):
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert run_code(program)[0].get("output") == printed, run_code(program)


def test_random_numbers_are_those_of_numpy_and_pytorch():
    codes = {
        "np.random.default_rng(7).normal(size=3000)": 1e-12,
        "np.random.default_rng(2**40).random((5, 6))": 0,
        "np.random.default_rng(3).integers(0, 1000, size=50)": 0,
        "np.random.default_rng(4).permutation(100)": 0,
        "np.random.default_rng(5).uniform(-1, 2, size=20)": 1e-15,
        "torch.randn(10, generator=torch.Generator().manual_seed(1))": 1e-6,
        "torch.randn(3, 7, 11, generator=torch.Generator().manual_seed(2))": 1e-6,
        "torch.randn(5, 7, generator=torch.Generator().manual_seed(2), dtype=torch.float64)": 1e-13,
        "torch.rand(700, generator=torch.Generator().manual_seed(3))": 0,
        "torch.randint(5, (40,), generator=torch.Generator().manual_seed(4))": 0,
        "torch.randperm(50, generator=torch.Generator().manual_seed(5))": 0,
    }
    outcomes = run_code(*(f"x = {code}\nprint(x.flatten().tolist())" for code in codes))
    for (code, near), told in zip(codes.items(), outcomes, strict=True):
        expected = eval(code, {"np": np, "torch": torch}).flatten().tolist()
        assert np.allclose(json.loads(told["output"]), expected, rtol=0, atol=near), code
    layer = "torch.manual_seed(6)\nlayer = torch.nn.Linear(3, 4)\nprint(layer.weight.tolist(), layer.bias.tolist())"
    torch.manual_seed(6)
    one = torch.nn.Linear(3, 4)
    weight, bias = json.loads(f"[{run_code(layer)[0]['output'].replace('] [', '], [')}]")
    assert np.allclose(weight, one.weight.tolist())
    assert np.allclose(bias, one.bias.tolist())


# --- cells and their order ---


def test_a_cell_runs_after_those_that_it_needs_and_a_change_above_holds_below():
    cells = (
        "a = 2\nprint('silent')",
        "b = a + 1",
        "unused = 1 / 0",
        "a = a * b\na",
        "rows = [a]",
        "rows.append(b)",
        "rows",
    )
    lesson = {"cells": [{"source": code, "runs": True} for code in cells], "package": {}}
    fourth, last = run([(lesson, {}, [3, 6])])[0]
    assert (fourth["output"], fourth["needed"]) == ("6", [0, 1])
    assert (last["output"], last["needed"]) == ("[6, 3]", [0, 1, 3, 4, 5])
    assert run([(lesson, {"0": "a = 5"}, [3, 0])])[0][0]["output"] == "30"


@pytest.mark.parametrize(
    ("cells", "place", "fault"),
    [
        (["x = 1", "y = x +"], 1, (1, 1, "Something is missing before the end of the line.")),
        (["x = 1", "y = x\n\nprint(z)"], 1, (1, 3, "Nothing here is called “z”.")),
        (["x = 1 / 0", "x"], 1, (0, 1, "Division by zero.")),
        (["def f(x):\n    return x[3]", "f([1])"], 1, (0, 2, "Index 3 is out of range: there are 1 items.")),
        (["while True:\n    pass"], 0, (0, None, "This takes too long: is there a loop that never ends?")),
        (["raise ValueError(f'no {1 + 1}')"], 0, (0, 1, "ValueError: no 2")),
        (["def f(x, *, y):\n    pass", "f(1, 2)"], 1, (1, 1, "f takes 1 argument, and it is given 2.")),
        (["{'a': 1}['b']"], 0, (0, 1, "'b' is not a key of this dictionary.")),
        (["np.zeros(3) + np.zeros(2)"], 0, (0, 1, "The shapes (3,) and (2,) do not fit together: lined up from")),
    ],
)
def test_an_error_is_a_sentence_with_its_line_in_the_cell_that_it_is_of(cells, place, fault):
    lesson = {"cells": [{"source": code, "runs": True} for code in cells], "package": {}}
    ((told,),) = run([(lesson, {}, [place])])
    at, line, sentence = fault
    assert told["at"] == at, told
    assert told["fault"].startswith(sentence), told
    assert line is None or told["line"] == line


def test_a_name_from_a_cell_that_the_page_cannot_run_is_called_that():
    lesson = {
        "cells": [
            {"source": "x = 1", "runs": True},
            {"source": "", "runs": False, "makes": ["x"]},
            {"source": "x", "runs": True},
        ],
        "package": {},
    }
    ((told,),) = run([(lesson, {}, [2])])
    assert told["fault"] == "x is made by a cell that this page cannot run."


def test_what_is_suggested_changes_what_a_cell_prints():
    for stem, suggestions in running.SUGGESTIONS.items():
        path = ROOT / f"notebooks/{stem}.ipynb"
        lesson = running.told(notebook_of(path), running.listed(stem))
        for name, one in suggestions.items():
            place, source = next(
                (at, cell["source"]) for at, cell in enumerate(lesson["cells"]) if cell.get("id") == name
            )
            assert source.count(one["old"]) == 1, one
            changed = {str(place): source.replace(one["old"], one["now"])}
            before, after = run([(lesson, {}, [place]), (lesson, changed, [place])])
            assert after[0]["output"] != before[0]["output"], one
            assert lesson["cells"][place]["shown"], one


def test_what_is_suggested_below_question_2_1_does_not_print_the_answer_to_2_2():
    stem, name = "02_queries_keys_values", "87fc1269"
    lesson, one = (
        running.told(notebook_of(ROOT / f"notebooks/{stem}.ipynb"), running.listed(stem)),
        running.SUGGESTIONS[stem][name],
    )
    place, source = next((at, cell["source"]) for at, cell in enumerate(lesson["cells"]) if cell.get("id") == name)
    ((after,),) = run([(lesson, {str(place): source.replace(one["old"], one["now"])}, [place])])
    assert abs(float(after["output"].split()[-1]) - 10) > 1


def test_a_module_that_the_page_does_not_know_is_named():
    told = run_code("import pandas as pd\npd.DataFrame([1])")[0]
    assert told["fault"] == "This page does not know pandas: the notebook does, if it is installed there."


# --- the pages ---


def test_a_lesson_marks_these_cells_and_no_others_and_loads_nothing_more_than_their_buttons():
    for path in NOTEBOOKS:
        known = running.listed(path.stem)
        page = json.loads(lessons.lesson_page(path))
        marked = [cell["id"] for cell in page["cells"] if "runs" in cell["metadata"].get("tags", [])]
        assert marked == known["shown"], path.stem
        text = "".join("".join(cell["source"]) for cell in page["cells"])
        assert text.count("run.js") == (1 if marked else 0)
    assert (ROOT / ".site/static/run.js").stat().st_size < 2500


def test_most_cells_of_the_first_lesson_that_print_can_be_run():
    notebook = notebook_of(NOTEBOOKS[0])
    printing = [cell["id"] for cell in running.code_cells(notebook) if running.saved_output(cell)]
    printing = [
        cell["id"]
        for cell in running.code_cells(notebook)
        if cell["id"] in printing and not ON_THE_PAGE.search("".join(cell["source"]))
    ]
    assert len(set(running.listed(NOTEBOOKS[0].stem)["shown"]) & set(printing)) > 0.9 * len(printing)


def test_what_a_lesson_loads_with_the_first_press_is_small(tmp_path):
    running.write_cells(NOTEBOOKS, tmp_path / "run")
    loaded = (ROOT / ".site/static/run.js").read_text(encoding="utf-8")
    parts = ["colours", *re.search(r"PARTS = \[(.+?)\]", loaded)[1].replace("'", "").split(", ")]
    code = sum((ROOT / f".site/static/{part}.js").stat().st_size for part in parts)
    assert all(code + path.stat().st_size < 400_000 for path in (tmp_path / "run").iterdir())


def test_a_cell_above_that_is_no_longer_python_is_still_the_one_that_is_needed():
    lesson = {"cells": [{"source": "x = 1", "runs": True}, {"source": "x", "runs": True}], "package": {}}
    kernel = [(lesson, {}, [1]), (lesson, {"0": "x = ("}, [1])]
    assert run(kernel)[0][0]["output"] == "1"
    assert run(kernel)[1][0]["at"] == 0
