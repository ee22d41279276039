"""Every program that is one edit away from another: operators, constants, names, arguments, lines."""

import ast
import copy
from collections.abc import Iterator
from itertools import permutations, zip_longest

OPERATORS = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div],
    ast.Div: [ast.Mult],
    ast.FloorDiv: [ast.Mult, ast.Mod],
    ast.Mod: [ast.FloorDiv],
    ast.Pow: [ast.Mult],
    ast.MatMult: [ast.Mult],
    ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd],
    ast.Lt: [ast.LtE, ast.Gt],
    ast.LtE: [ast.Lt, ast.GtE],
    ast.Gt: [ast.GtE, ast.Lt],
    ast.GtE: [ast.Gt, ast.LtE],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}
COUNTERPARTS = [  # functions and methods that are taken for each other
    *("max min", "amax amin", "argmax argmin", "maximum minimum", "sum mean", "exp log", "sin cos", "any all"),
    *("tril triu", "zeros ones", "zeros_like ones_like", "append remove", "items keys", "values keys", "relu sigmoid"),
    *("softmax log_softmax", "mT T", "cumsum cumprod", "silu sigmoid", "sqrt square"),
]


def changed(node: ast.AST, **fields) -> ast.AST:
    """A copy of a node with other fields."""
    other = copy.copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


# What is left out


def replacements(node: ast.AST) -> list[ast.AST]:
    """What could stand in this node's place, had its author left something out."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.If | ast.IfExp):
        return [changed(node, test=ast.Constant(value)) for value in (True, False)]
    if isinstance(node, ast.Slice):
        return [changed(node, **{end: None}) for end in ("lower", "upper", "step") if getattr(node, end)]
    if isinstance(node, ast.Call):
        return list(other_calls(node))
    if isinstance(node, ast.Assign | ast.Raise) or (
        isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
    ):
        return [ast.Pass()]
    return []


def other_calls(call: ast.Call) -> Iterator[ast.AST]:
    """The call left out, its arguments in another order, one of them left out."""
    if isinstance(call.func, ast.Attribute):
        yield call.func.value
    if call.args:
        yield call.args[0]
    for place in range(len(call.args) - 1):
        swapped = [*call.args[:place], call.args[place + 1], call.args[place], *call.args[place + 2 :]]
        yield changed(call, args=swapped)
    if len(call.args) > 1:
        yield changed(call, args=call.args[:-1])
    for keyword in call.keywords:
        yield changed(call, keywords=[other for other in call.keywords if other is not keyword])


# What is something else


def alternatives(node: ast.AST, names: list[str]) -> Iterator[ast.AST]:
    """Another operator, constant, name or function in this node's place; names: those that could be meant."""
    if isinstance(node, ast.BinOp):
        for operator in OPERATORS.get(type(node.op), []):
            yield changed(node, op=operator())
        if not isinstance(node.op, ast.Add | ast.Mult | ast.BitAnd | ast.BitOr):
            yield changed(node, left=node.right, right=node.left)
    elif isinstance(node, ast.AugAssign):
        yield from (changed(node, op=operator()) for operator in OPERATORS.get(type(node.op), []))
        yield ast.Pass()
    elif isinstance(node, ast.BoolOp):
        yield changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        for operator in OPERATORS.get(type(node.ops[0]), []):
            yield changed(node, ops=[operator()])
    elif isinstance(node, ast.UnaryOp):
        number = number_of(node)
        yield from [node.operand] if number is None else map(constant, other_numbers(number))
    elif isinstance(node, ast.Constant):
        number = number_of(node)
        yield from [] if number is None else map(constant, other_numbers(number))
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        yield from (changed(node, id=name) for name in names if name != node.id)
    elif isinstance(node, ast.Attribute):
        yield from (changed(node, attr=name) for name in counterparts(node.attr))
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        for elements in permutations(node.value.elts):
            yield changed(node, value=ast.Tuple(list(elements), ast.Load()))
    elif isinstance(node, ast.comprehension):
        yield from (changed(node, ifs=[test for test in node.ifs if test is not left_out]) for left_out in node.ifs)


def number_of(node: ast.AST) -> int | float | bool | None:
    """The number that a node writes, with its sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = number_of(node.operand)
        return None if number is None else -number
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int | float) else None


def other_numbers(number: int | float | bool) -> list:
    if isinstance(number, bool):
        return [not number]
    if isinstance(number, float):
        return [number * 2, number / 10, -number, 0.0]
    return [number + 1, number - 1, -number]


def constant(number: int | float | bool) -> ast.expr:
    return ast.parse(repr(number), mode="eval").body


def counterparts(name: str) -> list[str]:
    pairs = [pair.split() for pair in COUNTERPARTS]
    return [other for pair in pairs if name in pair for other in pair if other != name]


# All of them


def one_edit_away(source: str) -> list[str]:
    """The programs that differ from this one in a single edit, without repetition.

    Left out are those that read a name before any line sets it, which Python itself reports.
    """
    tree = ast.parse(source)
    attributes = attributes_of(tree)
    made = {}
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        known = names_set_before(function)
        inside = set()  # of a number with a sign, which is one number
        for node in ast.walk(ast.Module(function.body, [])):
            if node in inside:
                continue
            if isinstance(node, ast.UnaryOp) and number_of(node) is not None:
                inside.add(node.operand)
            names = known.get(node, [])
            others = [*replacements(node), *alternatives(node, names), *other_attributes(node, attributes)]
            if isinstance(node, ast.Assign) and not set(names_of(node)) <= set(names):
                others = [other for other in others if not isinstance(other, ast.Pass)]
            made.update((with_replacement(tree, node, other), None) for other in others)
    made.pop(ast.unparse(tree), None)
    return [text for text in made if compiles(text)]


def names_set_before(function: ast.FunctionDef) -> dict:
    """Node → the names that are set when it runs: the arguments, and what the lines above set."""
    names = [node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg) and node.arg != "self"]
    known = {}

    def visit(statement):
        for node in ast.walk(statement):
            known[node] = list(names)
        inner = [one for block in ("body", "orelse") for one in getattr(statement, block, [])]
        if isinstance(statement, ast.For):
            names.extend(names_of(statement.target))
        for one in inner:
            visit(one)
        names.extend(name for name in names_of(statement) if name not in names)

    for statement in function.body:
        visit(statement)
    return known


def names_of(node: ast.AST) -> list[str]:
    """The names that a piece of code sets, without those inside comprehensions."""
    inner = {one for part in ast.walk(node) if isinstance(part, ast.comprehension) for one in ast.walk(part.target)}
    return [
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part not in inner
    ]


def with_replacement(tree: ast.AST, node: ast.AST, replacement: ast.AST) -> str:
    """The source with another node in the place of one."""
    memo: dict = {id(node): replacement}  # what copy takes for the node's copy
    return ast.unparse(ast.fix_missing_locations(copy.deepcopy(tree, memo)))


def compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def attributes_of(tree: ast.AST) -> dict[str, str]:
    """What `self` has: name → the function that makes it."""
    return {
        node.targets[0].attr: ast.unparse(node.value.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Attribute)
        and isinstance(node.value, ast.Call)
    }


def other_attributes(node: ast.AST, attributes: dict[str, str]) -> list[ast.AST]:
    """Another layer of the same kind in a layer's place."""
    if not (isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in attributes):
        return []
    kind = attributes[node.attr]
    return [changed(node, attr=name) for name, other in attributes.items() if other == kind and name != node.attr]


def changed_line(source: str, mutant: str) -> str:
    """The first line that differs, as it was and as it is."""
    before, after = (text.splitlines() for text in (ast.unparse(ast.parse(source)), mutant))
    pairs = zip_longest(before, after, fillvalue="")
    return next(f"{one.strip()}  ->  {other.strip()}" for one, other in pairs if one != other)
