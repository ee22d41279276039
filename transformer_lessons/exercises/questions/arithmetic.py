"""Numbers as people write them: "1,050,624", "50 %", "10^-6", "ln 8", "1/(1 + exp(-1))"."""

import ast
import math
import operator
import re
import warnings
from collections.abc import Callable

LONGEST = 200  # characters
SIGNS = str.maketrans({"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "√": " sqrt ", "_": " ", "’": " ", "'": " "})
OPERATIONS: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
FUNCTIONS: dict[str, Callable] = {"ln": math.log, "log": math.log, "sqrt": math.sqrt, "exp": math.exp}


def calculated(text: str) -> float | complex:
    """The number that a text gives, by arithmetic alone."""
    if len(text) > LONGEST:
        raise ValueError("too long for a number")
    if text.isdecimal():
        return float(text)
    text = " ".join(text.lower().translate(SIGNS).split()).replace("^", "**")
    text = re.sub(r"^\[(.*)\]$", r"\1", text)
    if re.fullmatch(r"[+-]?(nan|inf|infinity)", text):
        return float(text)
    text = re.sub(r"(?<![\d.,])\d{1,3}( \d{3})+(?!\d)", lambda thousands: thousands[0].replace(" ", ""), text)
    text = re.sub(r"(?<=[\d)])(?<!\b0) ?x ?(?=[\d(])", "*", text)
    text = re.sub(r"(?<![\d.])\d[\d.,]*", lambda digits: with_a_point(digits[0]), text)
    text = re.sub(r"^([+-]?[\d.]+) ?%", r"(\1/100)", text)
    text = re.sub(r"\b(ln|log|sqrt|exp) ?([\d.]+)", r"\1(\2)", text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's own, on odd texts
        return value_of(ast.parse(text.strip(), mode="eval").body)


def with_a_point(digits: str) -> str:
    """A number without its thousands separators, with a point before the decimals."""
    if re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+(\.\d+)?", digits):
        return digits.replace(",", "")
    if re.fullmatch(r"[1-9]\d{0,2}(\.\d{3})+(,\d+|\.\d{3})", digits):
        return digits.replace(".", "").replace(",", ".")
    digits = digits.replace(",", ".")
    return digits if "." in digits else digits.lstrip("0") or "0"


def value_of(node: ast.expr) -> float | complex:
    """The value of a parsed text. Floats throughout, so that nothing grows without bounds."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.BinOp():
            return OPERATIONS[type(node.op)](value_of(node.left), value_of(node.right))
        case ast.UnaryOp():
            return OPERATIONS[type(node.op)](value_of(node.operand))
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
            return FUNCTIONS[name](value_of(argument))
    raise ValueError("not a number")
