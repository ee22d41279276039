"""An exercise on the start page: the softmax of three scores is typed in, and a slip is named as `check` names it."""

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
