"""How the inputs of `masked_softmax` are drawn, and which numbers took the place of the hidden scores.

Hidden scores may be replaced by any number, or any number may be added to them; their weights may be set to 0 only
after the softmax, with or without a division by what is left. Each of these leaves a trace: how much weight the hidden
scores have, or how much the allowed ones have lost. From this trace the number is solved for, and a mistake is named
only if one number explains every row.
"""

import math

import torch

from transformer_lessons import masks
from transformer_lessons.exercises.checker.comparison import comparable
from transformer_lessons.exercises.checker.setup import Setup, normal


def draw_masked_scores(generator, shape, mask, causal=False, empty=(), far=(), leads=(), zeros=False, spread=False):
    """Scores, and a mask that broadcasts to them; every row of it allows at least one key, and forbids one.

    `empty` lists the rows of the mask in which nothing is allowed. The numbers of `far` move the rows in turn. The
    numbers of `leads` move only the forbidden scores of the rows, in turn; all scores are then close together, so
    that these are the leads. With `zeros`, one allowed score of each row is exactly 0. With `spread`, one is about 1000
    and another about -1000.
    """
    scores = 2 * normal(generator, *shape)
    rows = torch.arange(math.prod(shape[:-1])).reshape(*shape[:-1], 1)
    if far or leads:  # multiples of 1/64, which float32 keeps exactly even at 1000
        scores = (64 * scores).round() / 64
    if far:
        scores = scores + scores.new_tensor(far)[rows % len(far)]
    if causal:
        return scores, masks.causal_mask(shape[-1])
    order = torch.rand(mask, generator=generator).argsort(-1)
    allowed = (order == 0) | ((order > 1) & (torch.rand(mask, generator=generator) < 0.5))
    if far or spread:  # two are allowed in every row: a score that has been cut off shows only beside another
        allowed |= order == 2
        scores = scores + spread * 1000 * (1.0 * (order == 0) - 1.0 * (order == 2))
    for place in empty:
        allowed[place] = False
    if leads:
        scores = scores / 16 + scores.new_tensor(leads)[rows % len(leads)] * ~allowed
    return scores.masked_fill(order == 0, 0.0) if zeros else scores, allowed


def filled_with_what(observed, expected, scores, mask):
    """One score for all forbidden places."""
    weights, allowed = observed.double(), mask.expand(scores.shape)
    level = (scores - weights.log()).masked_fill(~allowed, 0.0).sum(-1, keepdim=True)
    number = (weights.log() + level / allowed.sum(-1, keepdim=True))[~allowed].median()
    gives = torch.allclose(torch.where(allowed, scores, number).softmax(-1), weights, atol=1e-4)
    sentence = f"Forbidden places get the weight that a score of {float(number):.2f} would get, not 0."
    return sentence if gives else None


def signs_of_a_number(observed, expected, scores, mask):
    """Forbidden places get weight, as from one score for all, or from one number added to theirs."""
    weights, allowed = observed.double(), mask.expand(scores.shape)
    some = allowed.any(-1)
    if not weights.isfinite().all() or weights.min() < 0 or ((weights[some].sum(-1) - 1).abs() > 1e-4).any():
        return []
    if torch.allclose(weights[some], expected.double()[some], atol=1e-6) and not weights[some][~allowed[some]].any():
        return ["weight for an empty row", "a number too small"] if weights[~some].any() else []
    best = weights.where(allowed, -1.0).argmax(-1, keepdim=True)
    rows = some & (weights.gather(-1, best)[..., 0] > 1e-290)  # elsewhere the forbidden ones have taken it all
    weights, allowed, scores, best = weights[rows], allowed[rows], scores[rows].double(), best[rows]
    logs = weights.log()
    needed = logs + (scores - logs).gather(-1, best)  # which score gives this weight
    for least in (1e-36, 1e-290):  # smaller weights are too coarse, in float32 and in float64
        hidden = ~allowed & (weights > least)
        if hidden.any():
            filled, added = needed[hidden].median(), scores + (needed - scores)[hidden].median()
            fits = [
                give(torch.where(allowed, scores, one) - (scores - logs).gather(-1, best), logs, math.log(least))
                for one in (filled, added)
            ]
            return ["a number too small"] if any(fits) else []
    return ["a number too small"] if weights[~allowed].any() else []


def give(ours, logs, least):
    """Are these the logarithms of the weights, as far as they are not below the least?"""
    return bool(torch.where(logs > least, (ours - logs).abs() < 1e-2, ours < least + 1e-2).all())


def turning_point(odds, share, curve=torch.sigmoid, inverse=torch.logit):
    """Between which numbers must x be, so that each share is the curve of odds - x? None if there is no such x."""
    between = (share > 1e-12) & (share < 1 - 1e-5)
    if between.any():
        row = torch.where(between, (share - 0.5).abs(), 1.0).argmin()
        found = (odds - inverse(share))[row].item()
        return (found, found) if torch.allclose(curve(odds - found), share, rtol=1e-3, atol=1e-12) else None
    low, high = (odds[share < 0.5] + 27).tolist(), (odds[share > 0.5] - 11).tolist()
    low, high = max(low, default=-math.inf), min(high, default=math.inf)
    return (low, high) if low <= high else None


def signs_of_lost_weight(observed, expected, scores, mask):
    """The weights are right but for a factor in each row: what took the rest, before it was thrown away?"""
    allowed, ours = mask.expand(scores.shape), observed.double()
    share, none = ours.nan_to_num(0.0).sum(-1), ours.isnan().any(-1)
    rows, full = allowed.any(-1) & ~allowed.all(-1), allowed.all(-1)
    in_proportion = torch.allclose(ours.nan_to_num(0.0), share[..., None] * expected, atol=1e-5)
    if not in_proportion or ((share - 1).abs() > 1e-4)[full].any():
        return []
    if not none[rows].any() and ((share - 1).abs() < 1e-6)[rows].all():
        return None  # nothing is lost, so this says nothing of what took it
    return what_took_the_rest(share[rows], none[rows].any(), scores[rows].double(), allowed[rows])


def what_took_the_rest(share, none, scores, allowed):
    """A number in the place of hidden scores, or added to them; or hidden scores whose weight was thrown away late."""
    own, hidden = (scores.masked_fill(~counted, -torch.inf).logsumexp(-1) for counted in (allowed, ~allowed))
    filled, added = (turning_point(own - rest, share) for rest in ((~allowed).sum(-1).log(), hidden))
    left = [own - whole for whole in (torch.logaddexp(own, hidden), scores.amax(-1))]
    curves = (torch.sigmoid, torch.logit), (lambda x: x.exp().clamp(max=1), torch.log)
    late = [turning_point(odds, share, *curve) for odds in left for curve in curves]
    late = [found for found in late if found and found[0] < math.log(1e-2)]
    lost = ((share == 0) | (share > 0.5)).all()  # where a hidden score leads by far, to the last bit
    divided = filled and filled[0] == filled[1] < math.log(1e-2) and is_a_power_of_ten(filled[0])  # a sum, plus this
    thrown = (none or (is_a_power_of_ten(low) if low == high else lost and high < -650) for low, high in late)
    signs = (
        ("a number too small", not none and (is_penalty(filled) or (is_penalty(added) and added[0] == added[1]))),
        ("allowed weights lost to hidden scores", divided or any(thrown)),
        ("hidden scores that still count", late),
    )
    return [name for name, shown in signs if shown]


def is_a_power_of_ten(logarithm):
    """Of a number such as 1e-9 or 3e-6, which people write?"""
    return abs(logarithm - math.log(float(f"{math.exp(logarithm):.0e}") or 1.0)) < 1e-3


def is_penalty(found):
    """Is this, or may it be, a number below 0 that people write, such as -7, -0.5 or -20?"""
    low, high = found or (0, 0)
    return low < 0 and (low < high or abs(low - float(f"{low:.2g}")) < 1e-3)


def signs_of_weight(observed, expected, scores, mask):
    """Where forbidden places get weight, and where they got it before it was taken from them again."""
    if not comparable(observed, expected):
        return []
    given = observed, expected, scores, mask
    number, lost = signs_of_a_number(*given), signs_of_lost_weight(*given)
    return None if lost is None and not number else [*number, *(lost or ())]


setup = Setup(
    sizes=[
        {"shape": (2, 3), "mask": (2, 3)},
        {"shape": (3, 3), "mask": (3, 3), "causal": True},
        {"shape": (2, 4), "mask": (2, 4), "empty": [1]},
        {"shape": (2, 4, 4), "mask": (2, 4, 4), "empty": [(1, 2)]},
        {"shape": (2, 3, 4, 5), "mask": (2, 1, 1, 5), "empty": [1]},
        {"shape": (3, 2, 5, 5), "mask": (3, 1, 5, 5), "empty": [(0, 0, 2), (2, 0, 4)]},
        {"shape": (2, 4, 3), "mask": (4, 3), "far": (1000, -1000, 0, -22, -54, -98, -305, -700)},
        {"shape": (3, 5), "mask": (3, 5), "leads": (30, 720, 1000)},  # e⁷²⁰ is infinite, but e⁻⁷²⁰ is not 0
        {"shape": (3, 4), "mask": (3, 4), "zeros": True},
        {"shape": (2, 5), "mask": (2, 5), "spread": True},
        {"shape": (1, 2, 1, 4), "mask": (1, 1, 1, 4)},
    ],
    draw=draw_masked_scores,
    reference=masks.masked_softmax,
    exact_zeros=True,
    gradients=True,
    returns="weights",
    shapes={"weights": "as the scores"},
    symptoms=[filled_with_what],
    signs=signs_of_weight,
)
