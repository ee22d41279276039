"""Formulas in plain text, for the excerpts of a search: x_i as xᵢ, a fraction as (a + b) / c."""

import re

FUNCTIONS = ("cos", "sin", "tanh", "ln", "log", "exp", "min", "max")
SIGNS = {
    **{"omega": "ω", "sigma": "σ", "mu": "μ", "theta": "θ", "pi": "π", "varphi": "φ", "varepsilon": "ε", "ell": "ℓ"},
    **{"cdot": " · ", "times": " × ", "odot": " ⊙ ", "to": " → ", "leftarrow": " ← ", "sum": "Σ", "in": " ∈ "},
    **{"approx": " ≈ ", "le": " ≤ ", "ge": " ≥ ", "infty": "∞", "mid": " | ", "lvert": "|", "rvert": "|"},
}
BELOW = str.maketrans("aehijklmnopst0123456789+-", "ₐₑₕᵢⱼₖₗₘₙₒₚₛₜ₀₁₂₃₄₅₆₇₈₉₊₋")
ABOVE = str.maketrans("0123456789+-nihsc", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿⁱʰˢᶜ")
DONE = {"_": "\ue100", "^": "\ue101"}  # marks that stay, until all is done
PART = r"(\{[^{}]*\}|[^\s\\{}])"  # of a formula: in braces, or a single sign


def in_plain_text(formula):
    """TeX as text; a matrix, which needs more than a line, is left out."""
    if r"\begin" in formula:
        return ""
    text = re.sub(r"\\[td]frac", r"\\frac", formula)
    text = re.sub(r"\\[,;: ]|\\q?quad", " ", text)
    text = re.sub(r"\\!|\\(?:left|right)\b(?!arrow)", "", text)
    text = re.sub(r"\\(?:mathrm|text|operatorname)\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"\^(?:\\top|\{\\top\})", "ᵀ", text)
    text = re.sub(r"\\([a-z]+)(?=(.?))", lambda name: command(*name.groups()), text)
    for _ in range(4):  # from the innermost braces outwards
        text = re.sub(rf"_{PART}", lambda part: index(part[1], BELOW, "_"), text)
        text = re.sub(rf"\^{PART}", lambda part: index(part[1], ABOVE, "^"), text)
        text = re.sub(rf"\\sqrt *{PART}", lambda part: f"√{whole(part[1])}", text)
        text = re.sub(rf"\\frac *{PART} *{PART}", lambda parts: fraction(*map(whole, parts.groups())), text)
    text = re.sub(r"[{}\\]", "", text)
    for mark, sign in DONE.items():
        text = text.replace(sign, mark)
    return text


def command(name, following):
    if name in FUNCTIONS:
        return name + " " * (following not in ("(", "^", "_", " "))
    return rf"\{name}" if name in ("frac", "sqrt") else SIGNS.get(name, "")


def whole(part):
    """In brackets, if it is more than a name or a number."""
    part = part.strip("{}").strip()
    return part if re.fullmatch(r"[\w√]*", part) else f"({part})"


def fraction(above, below):
    return f"{above} / {below}" if "(" in above + below else f"{above}/{below}"


def index(part, signs, mark):
    """Small letters, if all of it has them; else behind a mark."""
    part = part.strip("{}").strip()
    return part.translate(signs) if all(ord(sign) in signs for sign in part) else DONE[mark] + whole(part)
