"""Shape comments, held against the tensors themselves.

    scores = query @ key.transpose(-2, -1)  # (batch, heads, query, key)

A comment that begins with a shape speaks of the tensor that its line makes: what it assigns, returns, or just
computes. One shape beside several tensors is the shape of each; `# (…), (…)` gives each its own, and None
needs none. Within one call of a function, or one cell of a notebook, a word means one size: the value of the
local variable of that name, or else the size that it had first. `1` and `2` are themselves; `2 * half`,
`length + 1` and `d_model / 2` are computed; `...` is any number of dimensions.

The code runs with a note slipped in at each comment, which writes down what it sees; a Record keeps the
notes, and judges them afterwards.
"""

import ast
import importlib.machinery
import io
import re
import sys
import tokenize
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path

WORDS = frozenset(
    {
        "batch",
        "number",
        "length",
        "half",
        "query",
        "key",
        "source",
        "target",
        "heads",
        "key_heads",
        "d_head",
        "d_v",
        "d_model",
        "d_hidden",
        "features",
        "vocabulary",
        "top_k",
        "stages",
    }
)
OTHER_NAMES = {"num_heads": "heads", "vocabulary_size": "vocabulary"}  # variables that bind a word
ANY = "..."
SHAPE = r"\(([^()]*)\)"
UNQUOTED_SHAPE = rf"(?<![\"'`]){SHAPE}"


# --- reading the comments ---


@dataclass(frozen=True)
class Comment:
    where: str
    text: str
    shapes: tuple  # of tuples of dimensions, each a string


def find_comments(source, where):
    """({line: Comment}, [mistakes]) of the shape comments behind code; where.format(line) names a place."""
    comments, mistakes = {}, []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line = token.start[0]
        if token.type != tokenize.COMMENT or not token.line[: token.start[1]].strip():
            continue
        text = token.string.lstrip("# ").rstrip()
        shapes = tuple(split_dimensions(inner) for inner in leading_shapes(text))
        place = where.format(line)
        if not shapes:
            if any(looks_like_a_shape(inner) for inner in re.findall(UNQUOTED_SHAPE, text)):
                mistakes.append(f"{place}: a comment must begin with its shape to be checked: # {text}")
            continue
        unknown = [word for shape in shapes for dimension in shape for word in unknown_words(dimension)]
        mistakes += [f"{place}: {word!r} is no word for a size: # {text}" for word in unknown]
        if not unknown:
            comments[line] = Comment(place, text, shapes)
    return comments, mistakes


def leading_shapes(text):
    """What is inside the brackets of `(a, b), (c)`, as long as there are only brackets and commas."""
    start = re.match(rf"{SHAPE}(\s*,\s*{SHAPE})*", text)
    return re.findall(SHAPE, start.group()) if start else []


def split_dimensions(inner):
    return tuple(dimension.strip() for dimension in inner.split(",") if dimension.strip())


def looks_like_a_shape(inner):
    dimensions = split_dimensions(inner)
    return len(dimensions) > 1 and any(dimension in WORDS for dimension in dimensions)


def unknown_words(dimension):
    """What in a dimension is neither a word for a size, a number, nor a sum or product of these."""
    if dimension == ANY:
        return []
    try:
        nodes = list(ast.walk(ast.parse(dimension, mode="eval").body))
    except SyntaxError:
        return [dimension]
    allowed = (ast.Name, ast.Constant, ast.BinOp, ast.operator, ast.expr_context)
    if not all(isinstance(node, allowed) for node in nodes):
        return [dimension]
    return sorted(words_in(dimension) - WORDS)


def words_in(dimension):
    return set(re.findall(r"[^\W\d]\w*", dimension))


# --- writing down what the code does ---


class Instrument(ast.NodeTransformer):
    """Slips `__shapes__.see(value, …)` around the value that each commented line makes."""

    def __init__(self, tree, comments, first_index):
        self.places = {}
        for index, line in enumerate(comments, start=first_index):
            self.places[id(value_on(tree, line))] = index

    def visit(self, node):
        index = self.places.get(id(node))
        self.generic_visit(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            start = 1 if ast.get_docstring(node) is not None else 0
            node.body.insert(start, ast.parse("__call__ = __shapes__.begin()").body[0])
        if isinstance(node, ast.AugAssign) and index is not None:
            target = ast.parse(ast.unparse(node.target), mode="eval").body
            return [node, ast.Expr(note(target, index))]
        return node if index is None else note(node, index)


def note(value, index):
    call = ast.parse(f"__shapes__.see(None, {index}, __call__, locals())", mode="eval").body
    call.args[0] = value
    return call


def value_on(tree, line):
    """The node whose value a comment at the end of this line speaks of, or None."""
    for node in ast.walk(tree):
        if getattr(node, "end_lineno", None) == line:
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.Return | ast.Expr):
                return node.value
            if isinstance(node, ast.AugAssign):
                return node
    inside = [n for n in ast.walk(tree) if isinstance(n, ast.expr) and n.lineno == n.end_lineno == line]
    return max(inside, key=lambda n: n.end_col_offset - n.col_offset, default=None)


@dataclass
class Record:
    """The comments that were found, and what the code showed of each."""

    comments: list = field(default_factory=list)
    mistakes_found: list = field(default_factory=list)
    calls: list = field(default_factory=list)  # lists of (comment's index, shapes, variables)

    def instrument(self, tree, source, where):
        """The tree with notes; `exec` it where `__shapes__` is this record and `__call__` is `begin()`."""
        comments, mistakes = find_comments(source, where)
        for line in [line for line in comments if value_on(tree, line) is None]:
            mistakes.append(f"{comments.pop(line).where}: this line makes no tensor that it could describe")
        self.mistakes_found += mistakes
        tree = Instrument(tree, comments, len(self.comments)).visit(tree)
        self.comments += comments.values()
        return ast.fix_missing_locations(tree)

    def begin(self):
        self.calls.append([])
        return self.calls[-1]

    def see(self, value, index, call, variables):
        sizes = {OTHER_NAMES.get(name, name): size for name, size in variables.items() if is_size(size)}
        sizes = tuple(sorted((name, size) for name, size in sizes.items() if name in WORDS))
        call.append((index, shapes_of(value), sizes))
        return value

    def judge(self, expected=None):
        """({index of a comment that held}, [mistakes]); expected is {word: the sizes it may have}."""
        held, mistakes = set(), []
        for call in sorted({tuple(call) for call in self.calls}, key=repr):
            words = {}
            for index, shapes, sizes in call:
                words.update(sizes)
                wrong = compare(self.comments[index], shapes, words, expected)
                mistakes += wrong
                if not wrong and shapes is not None:
                    held.add(index)
        return held, list(dict.fromkeys(mistakes))

    def mistakes(self):
        """All that is wrong: bad comments, comments that do not hold, and comments that no call reached."""
        held, mistakes = self.judge()
        seen = {index for call in self.calls for index, shapes, _ in call if shapes is not None}
        return self.mistakes_found + mistakes + self.unreached(held | seen)

    def unreached(self, held):
        return [
            f"{comment.where}: never reached: # {comment.text}"
            for index, comment in enumerate(self.comments)
            if index not in held
        ]


def is_size(value):
    return isinstance(value, Integral) and not isinstance(value, bool)


def shapes_of(value):
    """The sizes of a tensor; ("several", …) for several; None for None; and the type of what is no tensor."""
    if value is None:
        return None
    if hasattr(value, "shape"):
        return tuple(int(size) for size in value.shape)
    if isinstance(value, tuple | list):
        return ("several", *(shapes_of(part) for part in value))
    return type(value).__name__


# --- judging ---


def compare(comment, shapes, words, expected):
    """What is wrong with the comment beside tensors of these shapes; words gathers what each word means."""
    several = isinstance(shapes, tuple) and shapes[:1] == ("several",)
    parts = list(shapes[1:]) if several else [shapes]
    wanted = comment.shapes * len(parts) if len(comment.shapes) == 1 else comment.shapes
    if len(wanted) != len(parts):
        return [f"{comment.where}: {len(wanted)} shapes for {len(parts)} tensors: # {comment.text}"]
    mistakes = []
    for want, shape in zip(wanted, parts, strict=True):
        if shape is not None:
            reason = compare_one(want, shape, words, expected)
            mistakes += [f"{comment.where}: # {comment.text}: {reason}"] if reason else []
    return mistakes


def compare_one(want, shape, words, expected):
    if not isinstance(shape, tuple) or shape[:1] == ("several",):
        return f"this is no tensor: {shape}"
    want = fill_dots(want, len(shape))
    if len(want) != len(shape):
        return f"the tensor is {shape}"
    for dimension, size in sorted(zip(want, shape, strict=True), key=lambda pair: pair[0] not in WORDS):
        known = words_in(dimension)
        unbound = known - words.keys()
        for word in unbound:
            words[word] = solve(dimension, size, word, words)
        allowed = expected is None or all(words[word] in expected.get(word, ()) for word in known)
        if not allowed or (dimension != ANY and evaluate(dimension, words) != size):
            meant = [f"{word} is {words[word]}" for word in sorted(known) if words[word]]
            for word in unbound:
                del words[word]
            return f"the tensor is {shape}, where {dimension} cannot be {size}" + ", for ".join(["", *meant])
    return None


def solve(dimension, size, word, words):
    """What a new word means: the whole number that gives the dimension its size, if there is just one."""
    if dimension == word:
        return size
    numbers = [n for n in range(16 * size + 16) if evaluate(dimension, {**words, word: n}) == size]
    return numbers[0] if len(numbers) == 1 else None


def evaluate(dimension, words):
    try:
        return eval(dimension, {"__builtins__": {}}, words)
    except (TypeError, ZeroDivisionError):
        return None


def fill_dots(want, dimensions):
    """`...` is as many dimensions as are missing."""
    if ANY not in want:
        return want
    before, after = want[: want.index(ANY)], want[want.index(ANY) + 1 :]
    return before + (ANY,) * (dimensions - len(before) - len(after)) + after


# --- running code with notes in it ---


class NotingLoader(importlib.machinery.SourceFileLoader):
    def __init__(self, name, path, record):
        super().__init__(name, path)
        self.record = record

    def get_code(self, fullname):
        source = Path(self.path).read_text(encoding="utf-8")
        tree = self.record.instrument(ast.parse(source), source, f"{Path(self.path).name}:{{}}")
        return compile(tree, f"{self.path}, with notes", "exec")  # by another name: this run covers no lines

    def exec_module(self, module):
        module.__dict__.update(__shapes__=self.record, __call__=self.record.begin())
        super().exec_module(module)


class NotingFinder:
    def __init__(self, package, record):
        self.package, self.record = package, record

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != self.package:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = NotingLoader(name, spec.origin, self.record)
        return spec


@contextmanager
def noting_package(package):
    """A record; what is imported from the package inside this block is a copy of it that writes there."""
    record = Record()
    finder = NotingFinder(package, record)
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == package}
    sys.meta_path.insert(0, finder)
    try:
        yield record
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.split(".")[0] == package]:
            del sys.modules[name]
        sys.modules.update(kept)


class NotingCells:
    """Makes a running IPython take notes, each cell as a call of its own."""

    def __init__(self, shell):
        self.record, self.names = Record(), shell.user_global_ns
        self.source, self.cell = "", 0
        shell.input_transformers_post.append(self.keep_source)
        shell.ast_transformers.append(self)

    def keep_source(self, lines):
        self.source = "".join(lines)
        return lines

    def visit(self, tree):
        self.cell += 1
        self.names.update(__shapes__=self.record, __call__=self.record.begin())
        return self.record.instrument(tree, self.source, f"code cell {self.cell}, line {{}}")
