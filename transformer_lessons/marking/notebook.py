"""What a notebook holds, read without running it: its lesson, its answers, and what each exercise needs.

Work is found by the names that it defines. Cells may be missing, copied, merged or broken, and metadata is not read.
"""

import ast
import contextlib
import hashlib
import json
import re
import warnings
from collections import Counter

from transformer_lessons.tools.cells import names_in

ASKING = ("check", "answer")
KEPT_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")
MAGIC = re.compile(r"^(\s*)(?:[%!?]|\w[\w.]*\?).*")  # a line for IPython
NAMED = re.compile(r"\b(?:id|arg|name)='(\w+)'")  # a name in the dump of a tree
LONGEST = 20_000  # characters of a text, or of an excerpt, that are kept


class Unreadable(Exception):
    """This is not a notebook; the message says why."""


def sources_of(data):
    """The sources of the code cells of a notebook of format 3 or 4; if it is truncated, those before the break."""
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", errors="replace")
    try:
        book = json.loads(text)
        cells = book["cells"] if "cells" in book else [one for sheet in book["worksheets"] for one in sheet["cells"]]
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except (ValueError, KeyError, TypeError):
        cells = whole_cells(text)
        if not cells:
            raise Unreadable("it is empty" if not text.strip() else not_a_notebook(text)) from None
    found = []
    for cell in cells if isinstance(cells, list) else []:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input", ""))
            found.append(
                source if isinstance(source, str) else "".join(map(str, source)) if isinstance(source, list) else ""
            )
    return found


def not_a_notebook(text):
    begins = text.lstrip()[:1] == "{" and text.rstrip()[-1:] != "}"
    cut_off = "it is only the beginning of a notebook, cut off while it was saved or copied"
    return cut_off if begins else "it is not a notebook"


def whole_cells(text):
    """The cells before the place where a file breaks off."""
    start, cells, decoder = re.search(r'"cells"\s*:\s*\[', text), [], json.JSONDecoder()
    between = re.compile(r"[\s,]+")
    place = start.end() if start else len(text)
    with contextlib.suppress(ValueError, RecursionError):
        while True:
            gap = between.match(text, place)
            cell, place = decoder.raw_decode(text, gap.end() if gap else place)
            cells.append(cell)
    return cells


def parsed(source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def python_of(source):
    """A cell without IPython's own lines; line numbers stay the same."""
    source = source.replace("\r\n", "\n").replace("\0", "")
    lines = source.split("\n")
    if lines[0].startswith("%%"):
        if not lines[0].startswith(KEPT_MAGICS):
            return ""
        lines[0] = ""
    if any(map(MAGIC.match, lines)) and parsed("\n".join(lines)) is None:
        lines = [MAGIC.sub(r"\1pass", line) for line in lines]
    return "\n".join(lines)


def blocks_of(source):
    """[(parsed, text)]: the whole cell or, if it has errors, those parts of it that are valid Python."""
    whole = parsed(source)
    if whole is not None:
        return [(whole, source)]
    lines, found, first = source.split("\n"), [], 0
    starts = [n for n, line in enumerate(lines) if line[:1].strip() and line[0] not in ")]}#"] + [len(lines)]
    while first < len(starts) - 1:
        for last in range(first + 1, min(first + 20, len(starts))):
            text = "\n" * starts[first] + "\n".join(lines[starts[first] : starts[last]])
            tree = parsed(text)
            if tree is not None:
                found.append((tree, text))
                first = last
                break
        else:
            first += 1
    return found


class Statement:
    """One statement at the top level of a cell: which names it makes, or changes, and which it uses."""

    def __init__(self, node, text, cell):
        start = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
        self.node, self.cell, self.source = node, cell, "\n".join(text.split("\n")[start - 1 : node.end_lineno])
        self.defines = {node.name} if hasattr(node, "name") else set()
        names = names_in(self.source)
        self.always = names is None
        self.made, self.used = names or (set(), {one.id for one in ast.walk(node) if isinstance(one, ast.Name)})
        if not self.defines:
            self.made = self.made | set(filter(None, map(root_of, changed_in(node))))
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
                self.defines = self.made

    def certainly_defines(self, name):
        """Is it a function of that name, and nothing in its head can fail?"""
        node = self.node
        if not isinstance(node, ast.FunctionDef) or node.name != name or node.decorator_list:
            return False
        head = [node.args, *filter(None, [node.returns])]
        return not any(isinstance(part, ast.Name) for one in head for part in ast.walk(one))


def changed_in(node):
    """What a statement changes in place: x.a = …, x[0] = …, x.method(); an assertion changes nothing."""
    for one in ast.walk(node):
        if isinstance(one, (ast.Attribute, ast.Subscript)) and not isinstance(one.ctx, ast.Load):
            yield one
    called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    if isinstance(called, ast.Attribute) and not called.attr.startswith("assert"):
        yield called


def root_of(node):
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def asked_in(statement):
    """(name, call) for each call of `check` or `answer` that has arguments."""
    if not any(name in statement.source for name in ASKING):  # most statements need not be searched
        return
    for one in ast.walk(statement.node):
        if isinstance(one, ast.Call) and one.args:
            yield one.func.attr if isinstance(one.func, ast.Attribute) else getattr(one.func, "id", None), one


class Notebook:
    """The statements of a notebook, and what is found among them."""

    def __init__(self, data):
        sources = sources_of(data)
        self.digest = hashlib.sha256("\0".join(one.strip() for one in sources).encode(errors="replace")).hexdigest()
        self.statements, self.makers = [], {}
        for cell, source in enumerate(sources):
            for tree, text in blocks_of(python_of(source)):
                for node in tree.body:
                    with contextlib.suppress(RecursionError):
                        self.statements.append(Statement(node, text, cell))
        self.checks, self.answers = {}, {}
        for number, one in enumerate(self.statements):
            for name in one.made:
                self.makers.setdefault(name, []).append(number)
            for name, call in asked_in(one):
                first = call.args[0].value if isinstance(call.args[0], ast.Constant) else None
                if name == "check" and len(call.args) == 2 and isinstance(first, str):
                    self.checks[first, ast.unparse(call.args[1])] = number
                if name == "answer" and type(first) in (str, float):
                    self.answer(str(first), call.args[1:])

    def answer(self, number, values):
        """Notes an answer. The last one counts, but a blank one does not replace another."""
        try:
            literal = [ast.literal_eval(value) for value in values]
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            self.answers[number] = {"code": ast.unparse(ast.Tuple(list(values), ast.Load()))}
            return
        value = literal[0] if len(literal) == 1 else tuple(literal) or None
        value = None if value is ... else value[:LONGEST] if isinstance(value, str) else value
        if value is not None or number not in self.answers:
            self.answers[number] = {"literal": value}

    def lesson(self, course):
        """The lesson to which most of the contents belong; None for no lesson, or a tie."""
        votes = Counter()
        for lesson, known in course.items():
            votes[lesson] += sum(number.startswith(f"{lesson}.") for number in self.answers)
            votes[lesson] += sum(2 for one in known["items"] if tuple(one) in self.checks)
            votes[lesson] += sum(2 for _, subject in known["items"] if self.own(subject) is not None)
        best = votes.most_common(2)
        return best[0][0] if best and best[0][1] > (best[1][1] if len(best) > 1 else 0) else None

    def own(self, name):
        """The number of the last statement that defines the name itself; an import does not."""
        return next((n for n in reversed(self.makers.get(name, ())) if name in self.statements[n].defines), None)

    def work_on(self, exercise, subject):
        """The statements that a subject needs, in their order; None where the notebook does not have it."""
        places = [place for place in (self.own(subject), self.checks.get((exercise, subject))) if place is not None]
        if subject in self.makers and self.own(subject) is None:
            places.append(self.makers[subject][-1])
        if not places:
            return None
        if subject not in self.makers:  # made in a way that cannot be read, such as by exec: run everything
            return self.statements if any(one.always for one in self.statements) else None
        return [self.statements[n] for n in sorted(self.needed({subject}, max(places)))]

    def needed(self, names, cut):
        """The numbers of the statements that make these names and what they use."""
        chosen = {n for n, one in enumerate(self.statements[: cut + 1]) if one.always}
        knows_all = not chosen  # what these use cannot be known
        uses = [(name, cut) for name in sorted(names)]
        uses += [(name, n) for n in sorted(chosen) for name in sorted(self.statements[n].used)]
        first = {}  # name → the number of the first statement that uses it
        while uses:
            name, place = uses.pop()
            if place >= first.get(name, len(self.statements)):
                continue
            first[name] = place
            for number in self.makers_for(name, place if knows_all else -1, cut):
                if number not in chosen:
                    chosen.add(number)
                    uses += [(other, number) for other in sorted(self.statements[number].used)]
        return chosen

    def makers_for(self, name, place, cut):
        """The statements that make a name for one that uses it; those after the cut only if there are no others.

        A function that is defined anew before that place does not need what had its name before.
        """
        makers = self.makers.get(name, ())
        before = [n for n in makers if n <= cut]
        start = max((n for n in before if n <= place and self.statements[n].certainly_defines(name)), default=0)
        return [n for n in before if n >= start] or makers


def excerpt_of(work, subject):
    """The student's own definitions that make up an exercise, the subject's last."""
    last = {name: one for one in work for name in one.defines if isinstance(one.node, (ast.FunctionDef, ast.ClassDef))}
    ordered = [one for name, one in last.items() if name != subject] + [one for one in work if subject in one.defines][
        -1:
    ]
    return "\n\n".join(one.source for one in ordered)[:LONGEST]


def shape_of(source):
    """(digest, nodes, digests of the single lines) of code in which names, comments and annotations do not count."""
    tree = parsed(source)
    if tree is None:
        return "", 0, []
    with contextlib.suppress(RecursionError):
        for node in ast.walk(tree):
            plain = {"annotation": None, "returns": None, "decorator_list": []}
            vars(node).update({name: value for name, value in plain.items() if hasattr(node, name)})
            body = getattr(node, "body", None)
            if isinstance(body, list):
                vars(node)["body"] = [one for one in body if not is_text(one)]
        nodes = [one for one in ast.walk(tree) if not isinstance(one, ast.expr_context)]
        lines = [digest_of(one) for one in nodes if isinstance(one, ast.stmt) and not hasattr(one, "body")]
        return digest_of(tree), len(nodes), sorted(lines)[:400]
    return "", 0, []


def is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def digest_of(tree):
    """A digest that is the same for trees that differ only in their names."""
    names = {}
    text = NAMED.sub(lambda found: f"n{names.setdefault(found[1], len(names))}", ast.dump(tree))
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:12]


def comments_in(source):
    """Comments long enough to be somebody's own words."""
    return sorted({" ".join(one.split())[:200] for one in re.findall(r"#(.{20,})", source)})[:50]
