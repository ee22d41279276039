"""What a notebook holds, read without running it: its lesson, its answers, and what each exercise needs.

Work is found by the names that it defines. Cells may be missing, copied, merged or broken, and metadata is not read.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import hashlib
import json
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from transformer_lessons.basis.cells import ASKING, asked_in, names_in
from transformer_lessons.basis.numbers import number_of
from transformer_lessons.marking.naming import LONGEST

if TYPE_CHECKING:
    from transformer_lessons.marking.messages import Given, Items

SHOWING = (*ASKING, "print", "display")  # calls that change nothing
FOREIGN = re.compile(  # magics whose cells hold no Python, or run it elsewhere
    r"%%(?:!|(?:bash|cmd|cython|file|html|HTML|javascript|js|latex|markdown|perl|pypy|python[23]?|R|ruby|script|sh|sql|"
    r"svg|SVG|sx|system|writefile)\b)"
)
MAGIC = re.compile(r"^(\s*)(?:[%!?]|\w[\w.]*\?).*")  # a line for IPython
GIVEN = re.compile(r"^(\s*[\w.]+\s*=)\s*[%!](?!=).*")  # one that takes what a command prints
TIMED = re.compile(r"^(\s*)%time\s+(?=[^\s-])")  # before a statement, which is run
PROMPTS = (
    (re.compile(r">>>(?: |$)"), re.compile(r"(?:>>>|\.\.\.)(?: |$)")),
    (  # of the first line, and of any
        re.compile(r"In \[\d+\]: "),
        re.compile(r"In \[\d+\]: |\s*\.{3,}: ?"),
    ),
)
MAGICS = 50  # of one cell, that are looked for one by one
NAMED = re.compile(r"\b(?:id|arg|name)='(\w+)'")  # a name in the dump of a tree
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
LATER = (*DEFINITIONS, ast.Lambda, ast.GeneratorExp)
IMPORTS = (ast.Import, ast.ImportFrom)
DEFINED = re.compile(r"^\s*(?:async +)?(?:def|class) +(\w+)|^(\w+) *=(?!=)", re.MULTILINE)  # in a cell with errors
HEAD = re.compile(r"@|(?:async +)?(?:def|class)\b")  # with which a definition begins


ANSWERED = re.compile(r"^ *(?:\w+\.)?answer\( *[\"']([\d.]+)[\"'] *,", re.MULTILINE)


ENDING = 10  # characters: what begins so near the end of a file may be cut off there


class Unreadable(Exception):
    """This is not a notebook; the message says why."""


def sources_of(data: bytes) -> tuple[list[str], str]:
    """(the sources of the code cells of a notebook of format 3 or 4, what is lost).

    If it is truncated, or damaged, they are those before the break.
    """
    lost, text = "", data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", errors="replace")
    try:
        book = json.loads(text)
        cells = book["cells"] if "cells" in book else [one for sheet in book["worksheets"] for one in sheet["cells"]]
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except (ValueError, KeyError, TypeError):
        cells, lost = whole_cells(text)
        if not cells:
            raise Unreadable("it is empty" if not text.strip() else not_a_notebook(text)) from None
    found = []
    for cell in cells if isinstance(cells, list) else []:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input", ""))
            found.append(
                source if isinstance(source, str) else "".join(map(str, source)) if isinstance(source, list) else ""
            )
    return found, lost


def not_a_notebook(text: str) -> str:
    begins = text.lstrip()[:1] == "{" and text.rstrip()[-1:] != "}"
    cut_off = "it is only the beginning of a notebook, cut off while it was saved or copied"
    return cut_off if begins else "it is not a notebook"


def whole_cells(text: str) -> tuple[list, str]:
    """(the cells before the place where a file breaks off or is damaged, what is lost if others follow)."""
    start, cells, decoder = re.search(r'"cells"\s*:\s*\[', text), [], json.JSONDecoder()
    between = re.compile(r"[\s,]+")
    place = start.end() if start else len(text)
    what = "damaged"
    try:
        while True:
            gap = between.match(text, place)
            place = gap.end() if gap else place
            if text[place : place + 1] == "]":
                return cells, ""
            cell, place = decoder.raw_decode(text, place)
            cells.append(cell)
    except json.JSONDecodeError as error:
        if "Unterminated" in error.msg or len(text) - error.pos < ENDING:
            what = "cut off"
    except RecursionError:
        pass
    return cells, f"it is {what} after its cell {len(cells)}, and the rest was not read"


def parsed(source: str) -> ast.Module | None:
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        return parse(source)
    return None


def parse(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def python_of(source: str) -> str:
    """A cell as Python, as IPython reads it; line numbers stay the same."""
    lines = re.sub("\r\n?", "\n", source).replace("\0", "").split("\n")
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    lines = without_prompts(without_indentation(lines, lines[first]), first)
    if lines[first].startswith("%%"):
        if FOREIGN.match(lines[first]):
            return ""
        lines[first] = ""
    return "\n".join(without_magics(lines))


def without_indentation(lines: list[str], first: str) -> list[str]:
    """The lines of a cell without what its first line is indented by."""
    indentation = first[: len(first) - len(first.lstrip())]
    return [line.removeprefix(indentation) for line in lines]


def without_prompts(lines: list[str], first: int) -> list[str]:
    """The lines of a session that was copied with its prompts."""
    for start, prompt in PROMPTS:
        if start.match(lines[first]):
            return [prompt.sub("", line, count=1) if prompt.match(line) else line for line in lines]
    return lines


def without_magics(lines: list[str]) -> list[str]:
    """IPython's own lines become `pass`.

    They are those at which Python stops, as a line of Python may begin with % or end with ?, too. If others are wrong
    as well, all that look like one.
    """
    if not any(map(is_magic, lines)):
        return lines
    changed = list(lines)
    for _ in range(MAGICS):
        try:
            parse("\n".join(changed))
            return changed
        except SyntaxError as error:
            number = (error.lineno or 0) - 1
            if not (0 <= number < len(changed) and is_magic(changed[number])):
                break
            replace_magic(changed, number)
        except (ValueError, RecursionError, MemoryError):
            break
    for number, line in enumerate(lines):
        if is_magic(line):
            replace_magic(lines, number)
    return lines


def is_magic(line: str) -> bool:
    return bool(MAGIC.match(line) or GIVEN.match(line))


def replace_magic(lines: list[str], number: int) -> None:
    """Puts a line of Python in place of one of IPython's, which may go on after a backslash."""
    if TIMED.match(lines[number]):
        lines[number] = TIMED.sub(r"\1", lines[number])
        return
    end = number
    while lines[end].endswith("\\") and end + 1 < len(lines):
        end += 1
    python = GIVEN.sub(r"\1 []", MAGIC.sub(r"\1pass", lines[number].rstrip("\\")))
    lines[number : end + 1] = [python, *[""] * (end - number)]


def blocks_of(source: str) -> list[tuple[ast.Module, str]]:
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


def fault_in(source: str) -> SyntaxError | None:
    """Why Python refuses a cell, or a part of it; None if it does not, or not for its syntax."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


class Attempt(NamedTuple):
    """A definition that Python refuses, with all that follows it up to the next one."""

    cell: int
    first: int  # the number of its first line in the cell, and of its last
    last: int
    source: str
    error: str  # Python's name for what is wrong, and its words
    text: str
    line: str  # at which Python stopped

    def holds(self, one: Statement) -> bool:
        return one.cell == self.cell and self.first <= one.node.lineno <= self.last


def attempt_in(source: str, name: str, cell: int) -> Attempt | None:
    """The last definition of a name in a cell, if Python refuses it."""
    lines, starts, decorated = source.split("\n"), [], False
    own = re.compile(rf"(?i:\s*(?:async +)?(?:def|class) +){name}\b|{name} *=(?!=)")
    for number, line in enumerate(lines):
        if own.match(line) or HEAD.match(line):
            starts += [number] * (not decorated)
            decorated = line.startswith("@")
    for start, end in reversed([*pairwise([*starts, len(lines)])]):
        if any(map(own.match, lines[start:end])):
            part = "\n".join(lines[start:end])
            error = fault_in("\n" * start + part)
            if error is None:
                return None
            *_, line = filter(str.strip, lines[start : max(error.lineno or 0, start + 1)])
            return Attempt(cell, start + 1, end, part[:LONGEST], type(error).__name__, error.msg, line.strip())
    return None


def statements_in(tree: ast.Module, text: str, cell: int) -> Iterator[Statement]:
    """The statements at the top level, one after another; of several imports, one may be missing here."""
    lines = text.split("\n")
    for node in tree.body:
        with contextlib.suppress(RecursionError):
            if isinstance(node, ast.Import) and len(node.names) > 1:
                for one in node.names:
                    single = ast.copy_location(ast.Import([one]), node)
                    yield Statement(single, ast.unparse(single), cell)
            else:
                yield Statement(node, source_of(node, lines), cell)


def source_of(node: ast.stmt, lines: list[str]) -> str:
    """A statement's own source, with a comment at its end: others may share its first line, and its last."""
    start = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    own = lines[start - 1 : node.end_lineno]
    last = own[-1].encode()
    rest = last[node.end_col_offset :].decode()
    if not rest.lstrip().startswith("#"):
        own[-1] = last[: node.end_col_offset].decode()
    if start == node.lineno:
        own[0] = own[0].encode()[node.col_offset :].decode()
    return "\n".join(own)


class Changes(NamedTuple):
    """The names of what a statement changes in place."""

    certain: set[str]
    likely: set[str]  # unless they are imported, or defined: what is called may change what it is given
    registered: set[str]  # unless they are imported: what a decorator belongs to, as in @owner.register


class Statement:
    """One statement at the top level of a cell: which names it makes, or changes, and which it uses."""

    def __init__(self, node: ast.stmt, source: str, cell: int) -> None:
        self.node, self.cell, self.source = node, cell, source
        self.defines = set(defined_in(node))
        names = names_in(source)
        self.always = names is None
        made, self.used = names or (set(), {one.id for one in ast.walk(node) if isinstance(one, ast.Name)})
        changes = changes_in(node)
        self.made, self.may_change, self.may_register = made | changes.certain, changes.likely, changes.registered
        if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            self.defines = self.made
        self.runs_later = any(isinstance(one, LATER) for one in ast.walk(node))  # a part of it, when all names are made

    def certainly_defines(self, name: str) -> bool:
        """Is it a function of that name, and nothing in its head can fail?"""
        node = self.node
        if not isinstance(node, ast.FunctionDef) or node.name != name or node.decorator_list:
            return False
        head = [node.args, *filter(None, [node.returns])]
        return not any(isinstance(part, ast.Name) for one in head for part in ast.walk(one))


def defined_in(node: ast.AST) -> Iterator[str]:
    """The names of the functions and classes that a statement defines, also within an `if` or a `try`."""
    if isinstance(node, DEFINITIONS):
        yield node.name
    elif isinstance(node, (ast.stmt, ast.ExceptHandler)):
        for one in ast.iter_child_nodes(node):
            yield from defined_in(one)


def changes_in(node: ast.stmt) -> Changes:
    """What a statement changes: x.a = …, x[0] = …, x.method(), change(x); an assertion changes nothing."""
    found = Changes(set(), set(), set())
    for one in ast.walk(node) if not isinstance(node, DEFINITIONS) else ():
        if isinstance(one, (ast.Attribute, ast.Subscript)) and not isinstance(one.ctx, ast.Load):
            found.certain.update(roots_of([one]))
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call):
            note_call(one.value, found, one is node)
    for one in getattr(node, "decorator_list", ()):  # @owner.register, @add_to(owner), but not @torch.no_grad()
        called, given = (one.func, one.args) if isinstance(one, ast.Call) else (one, [])
        found.registered.update(roots_of([called] if isinstance(called, ast.Attribute) else []), roots_of(given))
    return found


def note_call(call: ast.Call, found: Changes, alone: bool) -> None:
    """Adds what a call whose result nobody uses may be made for: it changes its object, or what it is given."""
    given = [*call.args, *(one.value for one in call.keywords)]
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name.startswith("assert") or name in SHOWING:
        return
    if isinstance(call.func, ast.Attribute):
        # torch.manual_seed(0) sets something, torch.stack(trained()) shows something
        sets = alone and not any(map(calls_own, given))
        (found.certain if sets else found.likely).update(roots_of([call.func]))
    elif name == "setattr":
        found.certain.update(roots_of(given[:1]))
    found.likely.update(roots_of(given))


def calls_own(node: ast.AST) -> bool:
    """Is a function called that is neither Python's own nor a library's?"""
    called = [one.func.id for one in ast.walk(node) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)]
    return any(name not in vars(builtins) for name in called)


def roots_of(nodes: list[Any]) -> set[str]:
    """The names with which x, x.a and x[0].b begin."""
    found = set()
    for node in nodes:
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
            node = node.value
        if isinstance(node, ast.Name):
            found.add(node.id)
    return found


class Notebook:
    """The statements of a notebook, and what is found among them."""

    def __init__(self, data: bytes, questions: Collection[str] = ()) -> None:
        """`questions` are the numbers of all questions: without quotation marks, 6.1 may be one of two."""
        sources, self.lost = sources_of(data)
        self.digest = hashlib.sha256("\0".join(one.strip() for one in sources).encode(errors="replace")).hexdigest()
        self.statements: list[Statement] = []
        self.refused: list[tuple[int, str]] = []  # the cells that have syntax errors
        for cell, source in enumerate(map(python_of, sources)):
            if fault_in(source):
                self.refused.append((cell, source))
            for tree, text in blocks_of(source):
                self.statements += statements_in(tree, text, cell)
        imported: set[str] = set()
        lasting: set[str] = set()
        setters: dict[str, set[str]] = {}  # functions, and the globals that they set
        for one in self.statements:
            if isinstance(one.node, IMPORTS):
                imported |= one.made
            if isinstance(one.node, (*IMPORTS, *DEFINITIONS)):
                lasting |= one.defines or one.made
            if isinstance(one.node, FUNCTIONS) and len(one.made) > 1:
                setters.setdefault(one.node.name, set()).update(one.made - one.defines)
        self.makers: dict[str, list[int]] = {}
        self.checks: dict[tuple[str, str], int] = {}
        self.answers: dict[str, Given] = {}
        for number, one in enumerate(self.statements):
            one.made |= (one.may_change - lasting) | (one.may_register - imported)
            if not isinstance(one.node, DEFINITIONS):
                one.made = one.made.union(*(setters[name] for name in one.used & setters.keys()))
            for made in one.made:
                self.makers.setdefault(made, []).append(number)
            if not any(function in one.source for function in ASKING):  # most statements need not be searched
                continue
            for function, name, rest in asked_in(one.node):
                if function == "check" and len(rest) == 1 and isinstance(name, str):
                    self.checks[name, ast.unparse(rest[0])] = number
                asked = number_of(name) if function == "answer" else None
                if asked and (isinstance(name, str) or f"{asked}0" not in questions):  # as `answer` itself takes it
                    self.answer(asked, rest)
        self.note_refused()

    def note_refused(self) -> None:
        """Notes the answers that Python refuses, such as a text with a quotation mark in it, if there is no other."""
        for _, source in self.refused:
            calls = [*ANSWERED.finditer(source)]
            for call, after in zip(calls, [*calls[1:], None], strict=False):
                number, part = number_of(call[1]), source[call.start() : after and after.start()].strip()
                error = fault_in(part)
                if number and error and self.answers.get(number, {"literal": None}).get("literal", ...) is None:
                    self.answers[number] = {"refused": error.msg, "typed": part[:LONGEST]}

    def answer(self, number: str, values: list[ast.expr]) -> None:
        """Notes an answer. The last one counts, but a blank one does not replace another."""
        typed = ", ".join(map(ast.unparse, values))[:LONGEST]
        try:
            literal = [ast.literal_eval(value) for value in values]
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            self.answers[number] = {"code": ast.unparse(ast.Tuple(list(values), ast.Load())), "typed": typed}
            return
        value = literal[0] if len(literal) == 1 else tuple(literal) or None
        value = None if value is ... else value[:LONGEST] if isinstance(value, str) else value
        if value is not None or number not in self.answers:
            self.answers[number] = {"literal": value, "typed": typed}

    def lesson(self, course: dict[str, Items]) -> str | None:
        """The lesson to which most of the contents belong; None for no lesson, or a tie."""
        votes: Counter[str] = Counter()
        for lesson, known in course.items():
            votes[lesson] += sum(number.startswith(f"{lesson}.") for number in self.answers)
            votes[lesson] += sum(2 for one in known["items"] if tuple(one) in self.checks)
            votes[lesson] += sum(2 for _, subject in known["items"] if self.own(subject) is not None)
        best = votes.most_common(2)
        return best[0][0] if best and best[0][1] > (best[1][1] if len(best) > 1 else 0) else None

    def own(self, name: str) -> int | None:
        """The number of the last statement that defines the name itself; an import does not."""
        return next((n for n in reversed(self.makers.get(name, ())) if name in self.statements[n].defines), None)

    def attempt(self, name: str) -> tuple[Attempt, bool] | None:
        """(the last definition of a name that Python refuses, is there no other one?); None if another comes later."""
        attempts = (attempt_in(source, name, cell) for cell, source in reversed(self.refused))
        last, place = next(filter(None, attempts), None), self.own(name)
        if last is None or place is None:
            return last and (last, True)
        other = self.statements[place]
        later = (other.cell, other.node.lineno) > (last.cell, last.last)
        return None if later else (last, last.holds(other))

    def refused_names(self) -> set[str]:
        """The names of what may be defined in the cells that have syntax errors."""
        return {name for _, source in self.refused for found in DEFINED.findall(source) for name in found if name}

    def work_on(self, exercise: str, subject: str) -> list[Statement] | None:
        """The statements that a subject needs, in their order; None where the notebook does not have it."""
        places = [place for place in (self.own(subject), self.checks.get((exercise, subject))) if place is not None]
        if subject in self.makers and self.own(subject) is None:
            places.append(self.makers[subject][-1])
        if not places:
            return None
        if subject not in self.makers:
            return self.made_unseen()
        return [self.statements[n] for n in sorted(self.needed({subject}, max(places)))]

    def work_with(self, subject: str, source: str) -> list[Statement]:
        """The statements of a source in place of a subject's definition, after those that they need."""
        end = len(self.statements)
        own = [*statements_in(ast.parse(source), source, end)]
        names = {name for one in own for name in one.used} - {subject}
        before = [self.statements[n] for n in sorted(self.needed(names, end))]
        return [one for one in before if subject not in one.defines] + own

    def made_unseen(self) -> list[Statement] | None:
        """The statements of which one may make a name in a way that cannot be read, such as exec, and what they need.

        What a text uses cannot be known, so all that is imported or defined before it is run, too.
        """
        cut = max((n for n, one in enumerate(self.statements) if one.always), default=None)
        if cut is None:
            return None
        chosen = self.needed(set(), cut)
        return [
            one
            for n, one in enumerate(self.statements)
            if n in chosen or (n < cut and isinstance(one.node, (*IMPORTS, *DEFINITIONS)))
        ]

    def needed(self, names: set[str], cut: int) -> set[int]:
        """The numbers of the statements that make these names and what they use."""
        chosen = {n for n, one in enumerate(self.statements[: cut + 1]) if one.always}
        knows_all = not chosen  # what these use cannot be known
        uses = [(name, cut, cut) for name in names]
        uses += [(name, n, cut) for n in chosen for name in self.statements[n].used]
        seen: dict[str, list[tuple[int, int]]] = {}  # name → from which statement to which its makers are chosen
        while uses:
            name, place, end = uses.pop()
            start = self.start_of(name, place) if knows_all else 0
            if any(first <= start and end <= last for first, last in seen.get(name, ())):
                continue
            seen.setdefault(name, []).append((start, end))
            for number in self.makers_for(name, start, end, cut):
                if number not in chosen:
                    chosen.add(number)
                    one = self.statements[number]
                    last = cut if one.runs_later or not knows_all else min(number, cut)
                    uses += [(other, number, last) for other in one.used]
        return chosen

    def start_of(self, name: str, place: int) -> int:
        """A function that is defined anew before that place does not need what had its name before."""
        makers = self.makers.get(name, [])
        return max((n for n in makers if n <= place and self.statements[n].certainly_defines(name)), default=0)

    def makers_for(self, name: str, start: int, end: int, cut: int) -> list[int]:
        """The statements from start to end that make a name; later ones only if there are no others."""
        makers = self.makers.get(name, [])
        return [n for n in makers if start <= n <= end] or [n for n in makers if start <= n <= cut] or makers


def excerpt_of(work: list[Statement], subject: str) -> str:
    """The student's own definitions that make up an exercise, the subject's last; or the texts that are run for it."""
    unseen = [one.source for one in work if one.always]
    if unseen and not any(subject in one.defines for one in work):
        return "\n\n".join(unseen)[:LONGEST]
    last = {name: one for one in work for name in one.defines if isinstance(one.node, (ast.FunctionDef, ast.ClassDef))}
    ordered = [one for name, one in last.items() if name != subject] + [one for one in work if subject in one.defines][
        -1:
    ]
    return "\n\n".join(one.source for one in ordered)[:LONGEST]


def shape_of(source: str) -> tuple[str, int, list[str]]:
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
        lines = [digest_of_tree(one) for one in nodes if isinstance(one, ast.stmt) and not hasattr(one, "body")]
        return digest_of_tree(tree), len(nodes), sorted(lines)[:400]
    return "", 0, []


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def digest_of_tree(tree: ast.AST) -> str:
    """A digest that is the same for trees that differ only in their names."""
    names: dict[str, int] = {}
    text = NAMED.sub(lambda found: f"n{names.setdefault(found[1], len(names))}", ast.dump(tree))
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:12]


def comments_in(source: str) -> list[str]:
    """Comments long enough to be somebody's own words."""
    return sorted({" ".join(one.split())[:200] for one in re.findall(r"#(.{20,})", source)})[:50]
