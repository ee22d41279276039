"""Exercises that are tried on a page, which runs a small part of Python: what results are compared with there.

The right answer and every known mistake are run here, on a few fixed inputs; static/try_it.js runs what is typed on
the same inputs, and names the mistake that gives the same results.
"""

import itertools
import json
import math
import warnings
from functools import cache
from html import escape

import numpy as np
import torch
from anchors import slug
from exercises import EXERCISES, contract_of, link_to_lesson, place_in_lesson
from markup import HIDE_TOC, html, paragraphs

from transformer_lessons.exercises.catalogue.heads import draw_maps
from transformer_lessons.exercises.checker.comparison import alike, unchanged
from transformer_lessons.running.sandbox import attempt
from transformer_lessons.running.values import clone

TRIED = (
    *("softmax", "self_attention", "attention", "scaled_dot_product_attention", "split_heads", "merge_heads"),
    *("sinusoidal_encoding", "rotate", "causal_mask", "padding_mask", "masked_softmax"),
    *("layer_norm", "make_sequences", "rms_norm", "swiglu", "neighbours_to_halves", "grouped_query_attention"),
    *("previous_token_score", "induction_score", "ablate_head", "dequantise", "sliding_window_mask"),
)
MOST = 300  # numbers that the inputs of a case may have
FAR = [[30.0, 10.0, 0.0], [30.0, 9.9, 0.0], [-30.0, 10.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 750.0]]
MORE_INPUTS = {  # what a check tries besides its draws, or smaller cases than those
    "ablate_head": [(torch.arange(1.0, 17.0).double().reshape(1, 4, 2, 2), 0)],
    "induction_score": [(draw_maps(None, batch=2, heads=1, length=6, back=2), 3)],
    "softmax": [(np.array([2, 1, 0]),)],
    "self_attention": [(np.array(FAR),)],
    "causal_mask": [(65,)],
    "masked_softmax": [(torch.tensor([[0.5, 760.0, -0.5]]).double(), torch.tensor([[True, False, True]]))],
    "neighbours_to_halves": [(torch.arange(24.0).double().reshape(8, 3), 2)],
    "sliding_window_mask": [(20, 18)],
    "layer_norm": [  # in float64, this mean is as large as 10,000 is in float32
        (
            torch.tensor([[3.0, -1.0, 1.0], [0.0, 2.0, -5.0]]).double() + 1e8,
            torch.ones(3).double(),
            torch.zeros(3).double(),
        )
    ],
}


def rounded(value):
    """The same numbers with five digits, which can be written down."""
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, np.ndarray):
        return np.array([rounded(number) for number in value.ravel().tolist()]).reshape(value.shape)
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return torch.tensor([rounded(number) for number in value.flatten().tolist()], dtype=value.dtype).reshape(
            value.shape
        )
    return value


def size(value):
    return math.prod(value.shape) if isinstance(value, np.ndarray | torch.Tensor) else 1


def is_in_float32(value):
    return getattr(value, "dtype", None) is torch.float32


@cache
def inputs_of(name):
    """What an answer is called with: the first draws of the check, without the largest."""
    drawn = [case.inputs for case in EXERCISES[name].cases(0)]
    small = [inputs for inputs in drawn if sum(map(size, inputs)) <= MOST and not any(map(is_in_float32, inputs))]
    if name in ("causal_mask", "sliding_window_mask"):
        small = [inputs for inputs in small if max(inputs) < 100]  # a browser should answer at once
    return [tuple(map(rounded, inputs)) for inputs in small] + MORE_INPUTS.get(name, [])


@cache
def expected_of(name):
    return [EXERCISES[name].reference(*map(clone, inputs)) for inputs in inputs_of(name)]


def results_of(name, answer):
    """For each case (result or None if it raises an error, numbers of the inputs that are changed)."""
    results = []
    for inputs in inputs_of(name):
        own = list(map(clone, inputs))
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = attempt(lambda own=own: answer(*own))
        changed = [at for at, pair in enumerate(zip(inputs, own, strict=True)) if outcome.ok and not unchanged(*pair)]
        results.append((outcome.value if outcome.ok else None, changed))
    return results


def is_spared(name, number):
    """May an answer raise an error in this case? The last one of softmax has integers, of which nothing is asked."""
    return name == "softmax" and number == len(inputs_of(name)) - 1


# --- results in few signs ---


def parts_of(value):
    return list(value) if isinstance(value, tuple | list) else [value]


def sum_of(numbers):
    """A weighted sum, in which every number counts, and NaN and infinite numbers, too, as in static/judging.js."""
    plain = [2.0 if math.isnan(x) else math.copysign(3.0, x) if abs(x) > 1e100 else x for x in map(float, numbers)]
    return sum(x * math.cos(place) for place, x in enumerate(plain, 1))


def mark_of(value, expected, setup):
    """What one of the results is: "=" if it is the expected one, "~" if only zeros are not exactly 0 though they should
    be, or else its kind, dtype and shape, and a weighted sum.
    """
    if not isinstance(value, np.ndarray | np.generic | torch.Tensor) or "complex" in str(value.dtype):
        return "?"
    if alike(value, expected, setup.tolerance):
        return "=" if alike(value, expected, setup.tolerance, setup.exact_zeros) else "~"
    dtype = str(value.dtype).removeprefix("torch.")[0].replace("u", "i").replace("c", "?")
    kind = "t" if isinstance(value, torch.Tensor) else "a"
    numbers = value.flatten().tolist()
    same = isinstance(expected, np.ndarray | torch.Tensor) and mark_of_kind(expected) == (kind, dtype)
    begin = (
        ""
        if same and tuple(value.shape) == tuple(expected.shape)
        else f"{kind}{dtype}{','.join(map(str, value.shape))}:"
    )
    return f"{begin}{sum_of(numbers):.6g}"


def mark_of_kind(value):
    return "t" if isinstance(value, torch.Tensor) else "a", str(value.dtype).removeprefix("torch.")[0].replace("u", "i")


def pattern_of(name, answer):
    """The marks of an answer's results in one line, case by case; None if it has results that no mark can tell."""
    exercise, marks, all_changed = EXERCISES[name], [], set()
    for (value, changed), expected in zip(results_of(name, answer), expected_of(name), strict=True):
        all_changed |= set(changed)
        values, wanted = parts_of(value), parts_of(expected)
        if value is None:
            marks.append("=" if is_spared(name, len(marks)) else "!")
        else:
            wanted = wanted + [None] * (len(values) - len(wanted))
            marks.append("|".join(mark_of(*pair, exercise.setup) for pair in zip(values, wanted, strict=False)))
    if any("?" in mark for mark in marks):
        return None
    changes = f"c{''.join(map(str, sorted(all_changed)))} " if all_changed else ""
    return changes + " ".join(
        "=" if set(mark) <= set("=|") and mark.count("|") + 1 == parts(name) else mark for mark in marks
    )


def parts(name):
    return 1 if isinstance(EXERCISES[name].setup.returns, str) else len(EXERCISES[name].setup.returns)


@cache
def known_mistakes(name):
    """Of each mistake that the results tell [name, anchor, why, where to look, [pattern, …]]."""
    mistakes = []
    for mistake in EXERCISES[name].mistakes.values():
        patterns = [pattern_of(name, variant.answer) for variant in mistake.variants]
        own = [pattern for pattern in dict.fromkeys(patterns) if pattern and set(pattern) - set("=! ")]
        if own:
            mistakes.append([mistake.name, slug(mistake.name), html(mistake.why), html(mistake.look), own])
    return mistakes


WITH_ANOTHER = {  # these seldom come alone
    "softmax": ("nothing subtracted", "no exponential", "the largest of all subtracted"),
    "self_attention": ("large scores lost",),
    "layer_norm": ("the unbiased variance", "no epsilon"),
    "rms_norm": ("no epsilon",),
}


WITH_ONE_OF = {  # what the checks compose only when they need it
    ("scaled_dot_product_attention", "no scaling", "divided by the wrong function of d"): (
        *("softmax over the queries", "softmax over dimension 0", "softmax over dimension 1"),
        *("softmax over dimension 2", "queries and keys swapped", "keys and values swapped"),
    ),
}


@cache
def pairs_of(name):
    """Two mistakes at once, of which the page may speak: [(both, the wrong answer)]."""
    exercise = EXERCISES[name]
    pairs = list(exercise.pairs) if name in WITH_ANOTHER else []
    for (other, *scales), slips in WITH_ONE_OF.items():
        for both in itertools.product(scales, slips) if other == name else ():
            pairs.append(exercise.pair(*((exercise.mistakes[one], exercise.mistakes[one].variants[0]) for one in both)))
    return [pair for pair in pairs if pair]


@cache
def known_pairs(name):
    """Two mistakes at once, one of which seldom comes alone: [the places of both in known_mistakes, pattern]."""
    places = {mistake: place for place, (mistake, *_) in enumerate(known_mistakes(name))}
    taken = {pattern for *_, patterns in known_mistakes(name) for pattern in patterns}
    pairs = {}
    for mistakes, variant in pairs_of(name):
        names = [mistake.name for mistake in mistakes]
        speaks = set(names) <= set(places) and (name not in WITH_ANOTHER or set(names) & set(WITH_ANOTHER[name]))
        pattern = pattern_of(name, variant.answer) if speaks else None
        own = [other for one in names if one in places for other in known_mistakes(name)[places[one]][-1]]
        if pattern and pattern not in taken and all(differ_in_numbers(pattern, other) for other in own):
            pairs.setdefault(pattern, []).append([places[one] for one in names])
    return [[*found[0], pattern] for pattern, found in pairs.items() if len(found) == 1]


def differ_in_numbers(pattern, other):
    """Whether both patterns have results, and different ones, in one of the cases: an error alone tells too little."""
    return any(one != two and "!" not in (one, two) for one, two in zip(pattern.split(), other.split(), strict=False))


# --- what the page is told ---


def told_of(value, most=MOST):
    """[kind and dtype, shape, numbers], or their sum in place of more than `most`; a plain number as ["i", number]."""
    if not isinstance(value, np.ndarray | torch.Tensor):
        return ["i" if isinstance(value, int) else "f", value]
    numbers = value.flatten().tolist()
    written = (
        sum_of(numbers)
        if len(numbers) > most
        else [int(x) if x == int(x) else float(f"{x:.7g}") for x in map(float, numbers)]
    )
    kind = "tu" if value.dtype is torch.uint8 else "".join(mark_of_kind(value))
    return [kind, list(value.shape), written]


def told(name):
    """All that the script of an exercise holds."""
    exercise = EXERCISES[name]
    return {
        "stub": exercise.stub.strip(),
        "lesson": exercise.lesson,
        "gradients": bool(exercise.gradients),
        "exact": exercise.setup.exact_zeros,
        "tolerance": exercise.setup.tolerance,
        "earlier": TRIED[: TRIED.index(name)],
        "inputs": exercise.inputs,
        "returns": [exercise.setup.returns]
        if isinstance(exercise.setup.returns, str)
        else list(exercise.setup.returns),
        "shapes": exercise.setup.shapes,
        "cases": [
            {"inputs": [*map(told_of, inputs)], "expected": [*map(told_of, parts_of(expected))]}
            | ({"spared": True} if is_spared(name, number) else {})
            for number, (inputs, expected) in enumerate(zip(inputs_of(name), expected_of(name), strict=True))
        ],
        "mistakes": known_mistakes(name),
        "pairs": known_pairs(name),
    }


def write_tried(folder):
    """A script for each exercise, which is loaded when someone begins to type."""
    folder.mkdir(parents=True)
    for name in TRIED:
        text = json.dumps(told(name), ensure_ascii=False, separators=(",", ":"))
        (folder / f"{name}.js").write_text(
            f"(globalThis.tried ??= {{}})[{json.dumps(name)}] = {text};\n", encoding="utf-8"
        )


# --- the editor, and the page that has all of them ---

STYLES_AND_SCRIPTS = """<link rel="stylesheet" href="{0}_static/try_it.css">
<script src="{0}_static/colours.js" defer></script>
<script src="{0}_static/try_it.js" defer></script>
"""


def editor(name, page):
    """The stub in a text field, and what checks it.

    `page` is "own" on the exercise's page, "all" on that of all, and "lesson" in the lesson.
    """
    exercise, stub = EXERCISES[name], escape(EXERCISES[name].stub.strip(), quote=False)
    following = TRIED[(TRIED.index(name) + 1) % len(TRIED)]
    rows = max(7, stub.count("\n") + 3)
    about = "np is NumPy" if "NumPy" in exercise.contract else "torch, F, math and np are there"
    return (
        f'<form class="try-it" data-exercise="{name}" data-page="{page}" data-lesson="{exercise.lesson}" '
        f'data-notebook="notebooks/{place_in_lesson(exercise, ".html")}" data-next="{following}">\n'
        f'<p class="bar"><label for="code-{name}">Your <code>{name}</code>, in Python</label> '
        f'<span class="about" id="about-{name}">{about}<kbd>; Ctrl\u00a0+\u00a0Enter checks</kbd></span></p>\n'
        '<div class="editor"><div class="painted highlight" aria-hidden="true"></div>'
        f'<textarea id="code-{name}" aria-describedby="about-{name}" spellcheck="false" autocomplete="off" '
        f'autocapitalize="off" autocorrect="off" rows="{rows}">{stub}</textarea>'
        "</div>\n"
        '<p class="moves"><button class="button" disabled>Check</button> '
        '<button type="button" class="button quiet" disabled>Start again</button></p>\n'
        '<div class="told" role="status"></div>\n'
        '<details class="knows"><summary>What this page knows of Python</summary>\n'
        "<p>Assignments, <code>return</code>, <code>if</code>, loops, comprehensions, functions, indexing and slices; "
        "all operators; numbers, tuples and lists. Tensors and arrays hold float64, whole numbers, booleans or complex "
        "numbers. These names, which mean what they mean in PyTorch and NumPy:</p>\n<dl></dl></details>\n</form>\n"
    )


def editor_on_its_own_page(name):
    """What stands on the page of an exercise in place of its stub."""
    return f'<div id="type-the-code">\n{editor(name, "own")}</div>\n{STYLES_AND_SCRIPTS.format("../")}'


def try_page():
    """All exercises that can be tried: without scripts, one below the other; with them, one at a time."""
    chips = "".join(f'<li><a href="#{name}" data-exercise="{name}"><code>{name}</code></a></li>' for name in TRIED)
    sections = "".join(
        f'<section class="tried" id="{name}">\n<h2>{html(EXERCISES[name].title)}</h2>\n\n'
        f'<div class="asks">\n\n{paragraphs(contract_of(EXERCISES[name]))}\n\n'
        f"{link_to_lesson(EXERCISES[name]).replace('](../', '](')} · "
        f"[hints, a solution and its {len(EXERCISES[name].mistakes)} mistakes](exercises/{name}.md)\n\n</div>\n\n"
        f"{editor(name, 'all')}\n</section>\n\n"
        for name in TRIED
    )
    return (
        f"{HIDE_TOC}# Type the code, and the page checks it\n\n"
        f"These {len(TRIED)} exercises need a few lines each. The page runs them, compares your numbers with the right "
        "ones, and names your mistake if it knows it. What you type stays in this browser.\n\n"
        f'<ul class="chips">{chips}</ul>\n\n{sections}'
        "<noscript><p>This page needs scripts.</p></noscript>\n\n"
        f"{STYLES_AND_SCRIPTS.format('')}"
    )
