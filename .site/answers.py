"""What a learner might write: the answers on the start page."""

import math


def wrong_axis(query, key, value):
    d = query.shape[-1]
    scores = query @ key.mT
    scores = scores / math.sqrt(d)
    weights = scores.softmax(dim=-2)
    return weights @ value, weights


def no_scaling(query, key, value):
    scores = query @ key.mT
    # not divided by √d
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


def scaled_by_d(query, key, value):
    d = query.shape[-1]
    scores = query @ key.mT
    scores = scores / d
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


def right(query, key, value):
    d = query.shape[-1]
    scores = query @ key.mT
    scores = scores / math.sqrt(d)
    weights = scores.softmax(dim=-1)
    return weights @ value, weights


RIGHT = right
ANSWERS = {"wrong axis": wrong_axis, "no scaling": no_scaling, "scaled by d": scaled_by_d, "right": right}
