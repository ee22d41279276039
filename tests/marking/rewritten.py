"""The same answer, written as students write notebooks: what `check` says of it there, and what `mark` says.

A cell is read by IPython itself here. In some ways a cell makes `ready`, on which the answer then depends.
"""

import ast
import json
import sys
import types
from functools import cache

import hostile
from IPython.core.inputtransformer2 import TransformerManager

from transformer_lessons.exercises.checker.draws import Draws
from transformer_lessons.exercises.checker.registry import EXERCISES
from transformer_lessons.exercises.checker.verdict import judge
from transformer_lessons.running.global_state import GlobalState, standard_state
from transformer_lessons.running.sandbox import attempt

ADD_TO = """def add_to(owner):
    def add(function):
        setattr(owner, function.__name__, function)
        return function
    return add
class settings:
    pass
@add_to(settings)
def ready():
    return True"""
PREPARED = {  # what makes `ready`; or that, and how it is asked for
    "an assignment": "ready = True",
    "statements on one line": "n = [0]\nn[0] += 1; ready = n[0] == 1",
    "a text of two lines, and a statement beside its end": 'text = """a\nb"""; ready = True',
    "a list of two lines, and a statement beside its end": "sizes = [1,\n 2]; ready = True; more = 3",
    "letters of several bytes beside it": 'text = "größe ≠ 3"; ready = "ö" in text; text = "ä"',
    "a statement after a continued line": "n = 1; \\\nready = True",
    "semicolons at ends of lines": "ready = True;\nready;",
    "a comment after it": "ready = True  # ; ready = False",
    "a loop that appends": "ready = []\nfor n in range(3):\n    ready.append(n)",
    "a function that changes it": "def fill(one):\n    one.append(1)\nready = []\nfill(ready)",
    "a library that changes it": "import bisect\nready = []\nbisect.insort(ready, 1)",
    "a function that sets it": "def prepare():\n    global ready\n    ready = True\nprepare()",
    "a dictionary filled in a loop": "ready = {}\nfor n in range(3):\n    ready[n] = n",
    "a walrus": "(ready := 1)",
    "a walrus in a list": "[ready := n for n in (0, 1)]",
    "an annotation": "ready: int = 1",
    "an annotation of nothing that is known": "from __future__ import annotations\nready: Unknown = 1",
    "an addition": "ready = 0\nready += 1",
    "names that are unpacked": "first, (ready, *rest) = 1, (2, 3)",
    "a continued line": "ready = 1 + \\\n    1",
    "an import that is tried": "try:\n    import no_such_module\nexcept ImportError:\n    ready = True",
    "a condition": "import os\nif os.name:\n    ready = True\nelse:\n    ready = False",
    "a context": "import contextlib\nwith contextlib.nullcontext():\n    ready = True",
    "an import of everything": "from math import *\nready = pi > 3",
    "a text that is run": "exec('ready = 1')",
    "the table of globals": "globals()['ready'] = True",
    "something deleted": "ready, scratch = True, 1\ndel scratch",
    "an assertion": "ready = True\nassert ready",
    "something shown": "ready = True\nprint(ready)\ndisplay(ready)",
    "an attribute": ("class settings:\n    pass\nsettings.ready = True", "settings.ready"),
    "setattr": ("class settings:\n    pass\nsetattr(settings, 'ready', True)", "settings.ready"),
    "a method that is added": (ADD_TO, "settings.ready()"),
    "a function for each type": (
        "import functools\n@functools.singledispatch\ndef ready(one):\n    return False\n"
        "@ready.register(int)\ndef _(one):\n    return True",
        "ready(1)",
    ),
    "tabs": "if True:\n\tready = True",
    "a cell that is indented": "    ready = 1\n    other = 2",
    "a session": ">>> ready = (1 +\n...          1)",
    "IPython's prompts": "In [3]: ready = (1 +\n   ...:          1)",
    "magics": "%matplotlib inline\n%load_ext autoreload\n!ls\nready = 1\n?len\nlen??",
    "a shell's command of two lines": "!pip install \\\n    torch\nready = 1",
    "a shell's output": "files = !ls\nready = files is not None",
    "a magic that times a line": "%time ready = 1",
    "a magic that times a cell": "%%time\nready = 1",
    "a magic below empty lines": "\n\n%%time\nready = 1",
    "a magic that captures": "%%capture\n!pip install torch\nready = 1",
    "a magic, and a line that begins with %": "%matplotlib inline\nready = (7\n         % 2)",
    "a magic, and a text with one": '%matplotlib inline\ntext = """\n%none\n!none"""\nready = "%none" in text',
    "another language": ["%%bash\nready=", "%%html\n<b>ready</b>", "ready = 1"],
    "a word about eval": "def never():\n    # eval (what?)\n    pass\nready = True",
    "the name of the notebook's shell": "ready = 'colab' not in str(get_ipython())",
}


def parts_of(source):
    """(the imports of an answer, its definitions)"""
    nodes = ast.parse(source).body
    imports = [one for one in nodes if isinstance(one, (ast.Import, ast.ImportFrom))]
    return list(map(ast.unparse, imports)), [ast.unparse(one) for one in nodes if one not in imports]


def prepared(source, how):
    """The cells in which an answer needs what a cell has prepared."""
    cells, asked = (how, "ready") if not isinstance(how, tuple) else how
    imports, definitions = parts_of(source)
    tree = ast.parse(definitions[-1])
    tree.body[0].body[:0] = ast.parse(f"if not {asked}:\n    raise RuntimeError").body
    cells = cells if isinstance(cells, list) else [cells]
    return [*cells, "\n".join(imports), *definitions[:-1], ast.unparse(tree)]


def within(line, source):
    return line + "\n" + "\n".join("    " + one for one in source.split("\n"))


def whole(change):
    """A way to change the text of the answer's definition; its imports and helpers stand above."""

    def changed(name, source):
        imports, definitions = parts_of(source)
        return ["\n".join(imports), *definitions[:-1], change(name, definitions[-1])]

    return changed


def imported(change):
    """A way to write the imports of an answer."""

    def changed(name, source):
        imports, definitions = parts_of(source)
        return [change(imports), *definitions]

    return changed


WRITTEN = {
    "as it is": lambda name, source: [source],
    "a cell for each line at the top": lambda name, source: [*parts_of(source)[0], *parts_of(source)[1]],
    "imports on one line": imported("; ".join),
    "imports after one that only Colab has": imported(lambda all: "; ".join(["from google.colab import drive", *all])),
    "imports after matplotlib's": imported(lambda all: "; ".join(["import matplotlib.pyplot as plt", *all])),
    "modules in one import, matplotlib first": imported(
        lambda all: "\n".join(["import matplotlib as mpl, torch", *all])
    ),
    "imports that are tried, matplotlib first": imported(
        lambda all: (
            within("try:", "\n".join(["from matplotlib import pyplot as plt, cm", *all]))
            + "\nexcept ImportError:\n    pass"
        )
    ),
    "imports below the definition": lambda name, source: [*parts_of(source)[1], *parts_of(source)[0]],
    "everything in one cell": lambda name, source: ["%matplotlib inline\n" + source + "\nanother = 1"],
    "in an if": whole(lambda name, text: within("if True:", text)),
    "in a try": whole(lambda name, text: within("try:", text) + "\nfinally:\n    pass"),
    "in a loop": whole(lambda name, text: within("for _ in range(2):", text)),
    "in a context": whole(
        lambda name, text: within("with torch.no_grad():", text).replace("with", "import torch\nwith")
    ),
    "decorated": whole(lambda name, text: "def same(one):\n    return one\n@same\n" + text),
    "below an older attempt": whole(lambda name, text: f"def {name}(*inputs):\n    return None\n" + text),
    "beside other statements": whole(lambda name, text: f"a = 1; b = 2\n{text}\nc = 3; d = 4; {name}"),
    "with Windows' line ends": lambda name, source: [source.replace("\n", "\r\n")],
    "with an old Mac's line ends": lambda name, source: [source.replace("\n", "\r")],
    "with settings of the libraries": lambda name, source: [
        "import numpy as np, torch, warnings; torch.manual_seed(0); np.random.seed(0)\n"
        "warnings.filterwarnings('ignore')\n"
        "torch.set_printoptions(precision=2); torch.set_default_dtype(torch.float64)",
        source,
    ],
    "that shows its work": whole(
        lambda name, text: "import matplotlib.pyplot as plt\n" + text.replace("\n    ", "\n    display(1)\n    ", 1)
    ),
}
WAYS = WRITTEN | {
    f"prepared by {one}": lambda _, source, how=how: prepared(source, how) for one, how in PREPARED.items()
}


class Shell:
    """As much of IPython as these cells need, in a namespace of its own."""

    def __init__(self):
        self.manager, self.space = TransformerManager(), {"__name__": "__main__"}
        self.space |= {"display": lambda *_: None, "get_ipython": lambda: self, "check": lambda *_: None}

    def run(self, cell):
        exec(compile(self.manager.transform_cell(cell), "cell", "exec"), self.space)

    def run_line_magic(self, name, text):
        if name == "time":
            self.run(text)

    def run_cell_magic(self, name, _, cell):
        if name in ("time", "capture"):
            self.run(cell)

    def system(self, _):
        pass

    def getoutput(self, _):
        return []


drawn = cache(lambda name: Draws(EXERCISES[name], 7))


def checked(name, cells):
    """What check says of the answer in a notebook: (status, mistake); None if a cell before it fails."""
    shell, colab = Shell(), types.ModuleType("google.colab")
    colab.drive = None
    sys.modules |= {"google.colab": colab}
    with GlobalState():
        try:
            for cell in cells:
                shell.run(cell)
        except NameError:  # of a class, say, whose imports stand below it
            return None
        finally:
            del sys.modules["google.colab"]
        with standard_state():
            report = judge(EXERCISES[name], shell.space[name], drawn(name), run=attempt)
    return report.status, report.mistake or ""


def marked(marker, name, cells):
    """What mark says of it, in the same notebook: (status, mistake)."""
    book = hostile.notebook(*cells, f'check("{name}", {name})')
    result = marker.notebook(json.dumps(book).encode(), str(EXERCISES[name].lesson))
    row = next(row for row in result["rows"] if row["item"] == name)
    return row["status"], row.get("mistake", "")


def wrong_answer(name):
    """A wrong answer, with the imports of the right one."""
    wrong = ast.unparse(next(iter(EXERCISES[name].mistakes.values())).variants[0].tree)
    return "\n".join([*parts_of(EXERCISES[name].solution_text())[0], wrong])


def verdicts(marker, name, way, source=None):
    """(what check says, what mark says) of an answer, the course's own if none is given, written in this way."""
    cells = WAYS[way](name, source or EXERCISES[name].solution_text())
    return checked(name, cells), marked(marker, name, cells)
