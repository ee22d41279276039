"""Makes wrong answers from the right one: lines, as a learner would have written them, take the place of its own.

../catalogue/README.md has the rules (*A variant*), which a reader of a page can apply by eye.
"""

import ast
import copy
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from typing import Any

RETURN = "return"
DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
NOTE = "__note__"  # what a recording answer calls with each name and its value
PLACE: dict[str, Any] = {"lineno": 1, "col_offset": 0}  # of what is added: Python asks for some place


def name_of(node: ast.expr) -> str | None:
    """The name of a variable or of an attribute of `self`; None for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return f"self.{node.attr}"
    return None


def owner_of(node: ast.expr) -> str | None:
    """The name of which `node` is a part: "x" for `x[0].data`."""
    while isinstance(node, (ast.Subscript, ast.Attribute)) and not name_of(node):
        node = node.value
    return name_of(node)


class Line:
    """A statement: which names it sets, and which it reads."""

    def __init__(self, statement: ast.stmt) -> None:
        self.statement = statement
        self.sets: set = {RETURN} if isinstance(statement, ast.Return) else set()
        self.reads: set = set()
        if isinstance(statement, DEFINITIONS):
            self.sets.add(statement.name)
            return
        inner = names_within_comprehensions(statement)
        for node in ast.walk(statement):
            if node in inner:
                continue
            if isinstance(node, (ast.Name, ast.Attribute)) and name_of(node):
                (self.reads if isinstance(node.ctx, ast.Load) else self.sets).add(name_of(node))
            elif isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store):
                self.sets.add(owner_of(node))
                self.reads.add(owner_of(node))
            if isinstance(node, ast.AugAssign):
                self.reads.add(owner_of(node.target))
        self.sets.discard(None)

    @property
    def updates(self) -> set:
        """The names that it both sets and reads."""
        return self.sets & self.reads


def names_within_comprehensions(statement: ast.stmt) -> set[ast.AST]:
    """Where comprehensions set and read names of their own. What the first `for` goes through is read outside."""
    inner: set[ast.AST] = set()
    for node in ast.walk(statement):
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            targets = [part for loop in node.generators for part in ast.walk(loop.target)]
            own = {part.id for part in targets if isinstance(part, ast.Name)}
            names = (part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in own)
            inner |= set(names) - set(ast.walk(node.generators[0].iter))
    return inner


def lines_within(block: list) -> Iterator[Line]:
    """The lines of a block and of its loops and conditions, in order; functions inside it are not looked into."""
    for statement in block:
        if isinstance(statement, (ast.Assign, ast.AugAssign, ast.Return)):
            yield Line(statement)
        elif not isinstance(statement, DEFINITIONS):
            for inner in ("body", "orelse"):
                yield from lines_within(getattr(statement, inner, []))


def arguments_of(function: ast.FunctionDef) -> set:
    return {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)} - {"self"}


def names_read(trees: Iterable[ast.AST]) -> frozenset[str]:
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


class RightAnswer:
    """The right answer to an exercise, from which its mistakes are made."""

    keeps_layers = True  # as its wrong answers may, or may not

    def __init__(self, source: str, namespace: dict) -> None:
        self.source, self.namespace = source, namespace
        self.tree = ast.parse(source)
        whole = self.tree.body[-1]
        assert isinstance(whole, (ast.FunctionDef, ast.ClassDef)), "the right answer ends in a definition"
        self.name = whole.name
        holder = whole if isinstance(whole, ast.ClassDef) else self.tree
        self.functions = {node.name: node for node in holder.body if isinstance(node, ast.FunctionDef)}
        self.imports = [node for node in self.tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
        self.called = list(self.functions.values())[-1]  # what is called: the function itself, or `forward`
        self.init = self.functions.get("__init__", self.called)
        self.arguments = arguments_of(self.called)
        self.init_arguments = arguments_of(self.init) - self.arguments
        self.lines = [
            line
            for function in self.functions.values()
            for line in lines_within(function.body)
            if function is self.called or RETURN not in line.sets
        ]
        self.names = {name for line in self.lines for name in line.sets}
        self.known = self.names | self.arguments | self.init_arguments | set(self.functions)

    @cached_property
    def read(self) -> frozenset[str]:
        """The names that are read anywhere in it."""
        return names_read([self.tree])

    @cached_property
    def answer(self) -> Callable:
        """The function or class itself."""
        return self.compiled(self.tree)

    def compiled(self, tree: ast.Module, **more) -> Callable:
        """What a tree of this answer's name defines."""
        names = {**self.namespace, **more}
        exec(compile(tree, f"<{self.name}>", "exec"), names)
        answer = names[self.name]
        answer.is_on_a_page = True  # so drawn_tokens.py knows it
        return answer


class WrongAnswer:
    """The right answer with other lines. It is made when it is needed."""

    def __init__(self, right: RightAnswer, text: str, parts: tuple = ()) -> None:
        self.right, self.text = right, text
        self.parts = parts  # the two wrong answers that are at once in this one

    @cached_property
    def lines(self) -> list[Line]:
        if self.parts:
            return [line for part in self.parts for line in part.lines]
        return [Line(statement) for statement in ast.parse(self.text).body]

    @property
    def statements(self) -> list[ast.stmt]:
        return [line.statement for line in self.lines]

    @property
    def is_whole(self) -> bool:
        """Do the lines define the answer themselves, rather than change the right one?"""
        return getattr(self.statements[-1], "name", None) == self.right.name

    @cached_property
    def names(self) -> frozenset:
        """The names whose lines are replaced: the steps in which this answer differs from the right one."""
        if self.is_whole:
            return frozenset()
        sets = {name for line in self.lines for name in line.sets}
        layers = {name for name in sets if "." in name}
        return frozenset((sets & self.right.known) | layers or sets)

    @property
    def unread(self) -> list[str]:
        """The names that lines set, though neither they nor the right answer know or read them, as with a typo."""
        targets = [target for line in self.statements if isinstance(line, ast.Assign) for target in line.targets]
        names = [target.id for target in targets if isinstance(target, ast.Name)]  # `rows, columns = ...` may raise
        unknown = [name for name in names if name not in self.right.known]
        read = self.right.read | names_read(self.statements) if unknown else frozenset()
        return [name for name in unknown if name not in read]

    @cached_property
    def tree(self) -> ast.Module:
        if self.is_whole:
            return ast.Module([*self.right.imports, *self.statements], [])
        return Edit(self.right, self.lines).tree()

    @cached_property
    def answer(self) -> Callable:
        """The function or class itself."""
        return self.right.compiled(self.tree)

    @cached_property
    def keeps_layers(self) -> bool:
        """Does a module keep the layers of the right answer?"""
        of_init = {"__init__"} | self.right.init_arguments
        return not self.is_whole and not any(name in of_init or "." in name for name in self.names)

    def together(self, other: "WrongAnswer") -> "WrongAnswer | None":
        """Both changes at once, if they replace different lines."""
        if not self.names or not other.names or self.names & other.names:
            return None
        return WrongAnswer(self.right, f"{self.text}\n{other.text}", (self, other))


class Edit:
    """Where each new line goes."""

    def __init__(self, right: RightAnswer, lines: list[Line]) -> None:
        self.right = right
        self.before: list = []  # the imports and the helpers that are new
        self.functions: dict = {}  # the functions that are replaced, by name
        self.first: list = []  # at the top of the function that is called
        self.first_of_all: list = []  # at the top of __init__
        self.last: list = []  # at the end of __init__
        self.instead: dict = {}  # id of a line → what takes its place
        self.after: dict = {}  # id of a line → what comes after it
        waiting: list = []
        for line in lines:
            statement = line.statement
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                self.before.append(statement)
            elif isinstance(statement, DEFINITIONS):
                if statement.name in right.functions:
                    self.functions[statement.name] = statement
                else:
                    self.before.append(statement)
            else:
                waiting.append(line)
                if self.has_a_place(line):
                    self.place(waiting)
                    waiting = []
        self.place(waiting)

    def has_a_place(self, line: Line) -> bool:
        names = self.right.names | self.right.arguments | self.right.init_arguments
        return bool(line.sets & names) or any("." in name for name in line.sets)

    def place(self, group: list) -> None:
        """Puts lines that belong together where the last of them goes."""
        if not group:
            return
        last, statements = group[-1], [line.statement for line in group]
        names = last.sets & self.right.names
        there = [line for line in self.right.lines if line.sets & names]
        if not there:
            self.block_for(last.sets).extend(statements)
            return
        read, sets = read_and_set_by(group)
        updates = bool(read & names - {RETURN})
        same = [line for line in there if bool(line.updates & names) == updates]
        if not same or any(line.sets - sets for line in same):
            self.after.setdefault(id(there[-1].statement), []).extend(statements)
        elif RETURN in names:
            fill_dots(last.statement, same[-1].statement)
            self.instead[id(same[-1].statement)] = statements
        else:
            self.instead.setdefault(id(same[0].statement), []).extend(statements)
            for line in same[1:]:
                self.instead.setdefault(id(line.statement), [])

    def block_for(self, sets: set) -> list:
        """Where lines go that set these names, none of which a line of the right answer sets."""
        if any("." in name for name in sets):
            return self.last
        return self.first_of_all if sets & self.right.init_arguments else self.first

    def tree(self) -> ast.Module:
        whole = self.right.tree.body[-1]
        *above, _ = self.right.tree.body
        if isinstance(whole, ast.ClassDef):
            body = [self.edited(node) for node in whole.body]
            changed = [*above, *self.before, with_body(whole, body=body)]
        else:
            changed = [*map(self.edited, above), *self.before, self.edited(whole)]
        return ast.Module(changed, [])

    def edited(self, node: ast.stmt) -> ast.stmt:
        """A function with the new lines in it; anything else as it is."""
        if not isinstance(node, ast.FunctionDef):
            return node
        if node.name in self.functions:
            return self.functions[node.name]
        body = self.block(node.body)
        if node is self.right.called:
            body = self.first + body
        if node is self.right.init:
            body = self.first_of_all + body + self.last
        return with_body(node, body=body)

    def block(self, statements: list) -> list:
        edited = []
        for statement in statements:
            key = id(statement)
            if key in self.instead:
                edited += self.instead[key]
            elif hasattr(statement, "body") and not isinstance(statement, DEFINITIONS):
                inner = {
                    name: self.block(getattr(statement, name))
                    for name in ("body", "orelse")
                    if hasattr(statement, name)
                }
                inner["body"] = inner["body"] or [ast.copy_location(ast.Pass(), statement)]
                edited.append(with_body(statement, **inner))
            else:
                edited.append(statement)
            edited += self.after.get(key, [])
        return edited


def read_and_set_by(group: list) -> tuple[set, set]:
    """(the names that lines read before they set them, the names that they set)."""
    read: set = set()
    sets: set = set()
    for line in group:
        read |= line.reads - sets
        sets |= line.sets
    return read, sets


def with_body(node: ast.stmt, **blocks: list) -> ast.stmt:
    """A copy of a statement with other blocks inside."""
    made = copy.copy(node)
    for name, block in blocks.items():
        setattr(made, name, block)
    return made


def fill_dots(line: Any, right: Any) -> None:
    """Puts what the right answer returns in place of each `...`."""
    value = line.value
    if isinstance(value, ast.Constant) and value.value is ...:
        line.value = right.value
    elif isinstance(value, ast.Tuple) and isinstance(right.value, ast.Tuple):
        value.elts = [
            theirs if isinstance(ours, ast.Constant) and ours.value is ... else ours
            for ours, theirs in zip(value.elts, right.value.elts, strict=False)
        ]


# Recording what an answer computes


def recording(answer: RightAnswer | WrongAnswer, record: list) -> Callable:
    """The function or class, each line of which adds (name, value) to the record. `return` is among the names."""
    right = answer if isinstance(answer, RightAnswer) else answer.right

    def note(name, value):
        record.append((name, value))
        return value

    return right.compiled(noting(answer.tree), **{NOTE: note})


def noting(tree: ast.Module) -> ast.Module:
    """The same answer, which notes each name that it sets outside `__init__`."""
    whole = tree.body[-1]
    if isinstance(whole, ast.ClassDef):
        body = [noting_function(node) for node in whole.body]
        made = [*tree.body[:-1], with_body(whole, body=body)]
    else:
        made = [noting_function(node) for node in tree.body]
    return ast.Module(made, [])


def noting_function(node: ast.stmt) -> ast.stmt:
    if not isinstance(node, ast.FunctionDef) or node.name == "__init__":
        return node
    return with_body(node, body=noting_block(node.body))


def noting_block(statements: list) -> list:
    noted: list[ast.stmt] = []
    for statement in statements:
        if isinstance(statement, ast.Return) and statement.value:
            noted.append(ast.Return(note_of(RETURN, statement.value), **PLACE))
        elif hasattr(statement, "body") and not isinstance(statement, DEFINITIONS):
            inner = {
                name: noting_block(getattr(statement, name)) for name in ("body", "orelse") if hasattr(statement, name)
            }
            noted.append(with_body(statement, **inner))
        else:
            noted.append(statement)
            if isinstance(statement, (ast.Assign, ast.AugAssign)):
                noted += [
                    ast.Expr(note_of(name, ast.Name(name, ast.Load(), **PLACE)), **PLACE)
                    for name in names_set_by(statement)
                ]
    return noted


@cache  # a statement is in most variants of an answer
def names_set_by(statement: ast.stmt) -> list:
    return sorted(name for name in Line(statement).sets if "." not in name)


def note_of(name: str, value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(NOTE, ast.Load(), **PLACE), [ast.Constant(name, **PLACE), value], [], **PLACE)
