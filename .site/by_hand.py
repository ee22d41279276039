"""An exercise on the start page: the softmax of three scores is typed in, and a known slip is named."""

import json
from html import escape

import numpy as np
from exercises import EXERCISES
from markup import html

SCORES = (0, 1, 2)
FOUND = 0.006  # what is typed with two decimals is recognised
TYPED_BY_PEOPLE = (  # the known mistakes that can be made on paper; of two with the same numbers, the first counts
    "no exponential",
    "not divided by the sum",
    "only the largest",
    "the sign flipped",
    "each score by itself",
    "another base",
    "another function for the exponential",
    "the exponential taken twice",
    "another divisor than the sum",
    "a score left out of the sum",
    "a scale that was not asked for",
    "the logarithm of the weights",
)
SUMS = {  # slips of arithmetic, which code does not make: the numbers that they give, why, and where to look
    "all equal": (
        [(1 / 3, 1 / 3, 1 / 3)],
        "Equal weights are for equal scores. Here, the larger a score, the more weight it gets.",
        "how many times as large as the first weight should the second be?",
    ),
    "no exponential": (
        [(1 / 6, 2 / 6, 3 / 6), (0, 1 / 2, 1)],
        "The scores themselves are divided, not the powers of <i>e</i>.",
        "what is <i>e</i> to the power of each score?",
    ),
    "<i>e</i>⁰ is not 0": (
        [(0, 0.2689, 0.7311), (0, 0.2447, 0.6652)],
        "Every number to the power of 0 is 1, so a score of 0 gets some weight, too.",
        "the three powers of <i>e</i>: what do they sum to?",
    ),
    "<i>e</i>² is not 2<i>e</i>": (
        [(0.1094, 0.2974, 0.5949)],
        "<i>e</i>² is <i>e</i> times <i>e</i>, which is more than twice <i>e</i>.",
        "what is 2.718 times 2.718?",
    ),
    "one decimal only": (
        [(0.1, 0.2, 0.7)],
        "These are the weights, rounded to one decimal.",
        "the second decimal of each weight.",
    ),
}


def numbers_of(answer):
    """What an answer makes of the scores, or None if it makes something else than a row of weights."""
    try:
        with np.errstate(all="ignore"):
            row = np.asarray(answer(np.array([SCORES], dtype=float)), dtype=float)
    except Exception:  # a mistake may raise whatever it likes
        return None
    return [round(number, 4) for number in row[0].tolist()] if row.shape == (1, 3) and np.isfinite(row).all() else None


def same(one, other):
    return all(abs(a - b) < FOUND for a, b in zip(one, other, strict=True))


def known():
    """What the catalogue's answers give for these scores; of each mistake [name, why, where to look, [numbers, …]]."""
    exercise, taken, mistakes = EXERCISES["softmax"], [], []
    right = numbers_of(exercise.right.answer)
    for name in TYPED_BY_PEOPLE:
        mistake, own = exercise.mistakes[name], []
        for numbers in filter(None, (numbers_of(variant.answer) for variant in mistake.variants)):
            if not any(same(numbers, other) for other in [right, *taken]):
                own.append(numbers)
                taken.append(numbers)
        if own:
            mistakes.append([name, html(mistake.why), html(mistake.look), own])
    for name, (rows, why, look) in SUMS.items():
        mistakes.append([name, why, look, [[round(number, 4) for number in row] for row in rows]])
    return {"right": right, "mistakes": mistakes}


def by_hand():
    fields = "".join(
        f'<label>weight of {score} <input name="weight" inputmode="decimal" autocomplete="off" size="6"></label> '
        for score in SCORES
    )
    told = escape(json.dumps(known(), separators=(",", ":"), ensure_ascii=False))
    return (
        f'<form class="by-hand" data-known="{told}"><p><strong>Make a mistake yourself.</strong> '
        f"The scores of a row are {SCORES[0]}, {SCORES[1]} and {SCORES[2]}. Which weights does the softmax give them, "
        "to two decimals? <i>e</i>\u00a0≈\u00a02.718, <i>e</i>²\u00a0≈\u00a07.389.</p>\n"
        f'<p class="fields">{fields}<button class="button">Check</button></p>\n<div role="status"></div></form>\n'
    )
