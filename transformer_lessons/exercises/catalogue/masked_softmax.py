"""The exercise masked_softmax, its right answers and its known mistakes."""

import math

import torch
import torch.nn.functional as F

from transformer_lessons import masks
from transformer_lessons.exercises.checker.comparison import comparable
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, changes, normal


def draw_masked_scores(generator, shape, mask, causal=False, empty=(), far=(), leads=(), zeros=False):
    """Scores, and a mask that broadcasts to them; every row of it allows at least one key, and forbids one.

    `empty` lists the rows of the mask in which nothing is allowed. The numbers of `far` move the rows in turn. The
    numbers of `leads` move only the forbidden scores of the rows, in turn; all scores are then close together, so
    that these are the leads. With `zeros`, one allowed score of each row is exactly 0.
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
    allowed = torch.rand(mask, generator=generator) < 0.5
    allowed = torch.where(order == 0, True, torch.where(order == 1, False, allowed))
    if far:  # two are allowed in every row: a score that has been cut off shows only beside another
        allowed |= order == 2
    for place in empty:
        allowed[place] = False
    if leads:
        scores = scores / 16 + scores.new_tensor(leads)[rows % len(leads)] * ~allowed
    return scores.masked_fill(order == 0, 0.0) if zeros else scores, allowed


def score_of_forbidden(weights, allowed, scores):
    """The score that each place would need to get its weight beside the allowed ones."""
    level = (scores - weights.log()).masked_fill(~allowed, 0.0).sum(-1, keepdim=True)
    return weights.log() + level / allowed.sum(-1, keepdim=True)


def gives(filled, weights, allowed, scores):
    """Do the weights come from filling the forbidden places with these scores?"""
    return torch.allclose(torch.where(allowed, scores, filled).softmax(-1), weights, atol=1e-4)


def filled_with_what(observed, expected, scores, mask):
    """One score for all forbidden places."""
    weights, allowed = observed.double(), mask.expand(scores.shape)
    number = score_of_forbidden(weights, allowed, scores)[~allowed].median()
    sentence = f"Forbidden places get the weight that a score of {float(number):.2f} would get, not 0."
    return sentence if gives(number, weights, allowed, scores) else None


def signs_of_a_number(observed, expected, scores, mask):
    """Forbidden places get weight, as from one score for all, or from one number added to theirs."""
    if not comparable(observed, expected):
        return []
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


def up_to_one(x):
    return x.exp().clamp(max=1)


def signs_of_lost_weight(observed, expected, scores, mask):
    """The weights are right but for a factor in each row: what took the rest, before it was thrown away?"""
    if not comparable(observed, expected):
        return []
    allowed, ours = mask.expand(scores.shape), observed.double()
    share, none = ours.nan_to_num(0.0).sum(-1), ours.isnan().any(-1)
    rows, full = allowed.any(-1) & ~allowed.all(-1), allowed.all(-1)
    if (
        not torch.allclose(ours.nan_to_num(0.0), share[..., None] * expected, atol=1e-5)
        or ((share - 1).abs() > 1e-4)[full].any()
    ):
        return []
    if not none[rows].any() and ((share - 1).abs() < 1e-6)[rows].all():
        return None  # nothing is lost, so this says nothing of what took it
    share, none, scores, allowed = share[rows], none[rows], scores[rows].double(), allowed[rows]
    own, hidden = (scores.masked_fill(~one, -torch.inf).logsumexp(-1) for one in (allowed, ~allowed))
    filled, added = (turning_point(own - rest, share) for rest in ((~allowed).sum(-1).log(), hidden))
    left = [own - whole for whole in (torch.logaddexp(own, hidden), scores.amax(-1))]
    late = [turning_point(one, share, *curve) for one in left for curve in ((), (up_to_one, torch.log))]
    late = [one for one in late if one and one[0] < math.log(1e-2)]
    names = []
    if not none.any() and (is_written(filled) or (is_written(added) and added[0] == added[1])):
        names.append("a number too small")
    lost = ((share == 0) | (share > 0.5)).all()  # where a hidden score leads by far, to the last bit
    divided = filled and filled[0] == filled[1] < math.log(1e-2) and is_a_power_of_ten(filled[0])  # a sum, plus this
    if divided or any(
        none.any() or (is_a_power_of_ten(low) if low == high else lost and high < -650) for low, high in late
    ):
        names.append(LATE)
    return names + ["hidden scores that still count"] * bool(late)


LATE = "allowed weights lost to hidden scores"


def is_a_power_of_ten(logarithm):
    """Of a number such as 1e-9 or 3e-6, which people write?"""
    return abs(logarithm - math.log(float(f"{math.exp(logarithm):.0e}") or 1.0)) < 1e-3


def is_written(found):
    """Is this, or may it be, a number below 0 that people write, such as -7, -0.5 or -20?"""
    low, high = found or (0, 0)
    return low < 0 and (low < high or abs(low - float(f"{low:.2g}")) < 1e-3)


def signs_of_weight(observed, expected, scores, mask):
    """Where forbidden places get weight, and where they got it before it was taken from them again."""
    given = observed, expected, scores, mask
    number, lost = signs_of_a_number(*given), signs_of_lost_weight(*given)
    return None if lost is None and not number else [*number, *(lost or ())]


exercise = Exercise(
    name="masked_softmax",
    lesson=6,
    title="A softmax that respects the mask",
    difficulty=2,
    importance=3,
    minutes=10,
    contract="""masked_softmax(scores, mask) returns the softmax of the scores (…, query, key)
        over the last dimension, but only over the keys where the boolean mask is True; the mask broadcasts to the
        scores. Everywhere else the weight is exactly 0, and an empty row, where no key is allowed, is all zeros, never
        NaN. This also holds for scores around 1000 and -1000, and where a hidden score is 1000 higher than the others.
        Both inputs are torch tensors and must not be changed. Gradients flow back to the scores; they must be
        finite everywhere, and 0 in an empty row.""",
    stub='''
        def masked_softmax(scores, mask):
            """Weights over the keys (last dimension): exactly 0 where the mask is False."""
            raise NotImplementedError''',
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
        {"shape": (1, 2, 1, 4), "mask": (1, 1, 1, 4)},
    ],
    draw=draw_masked_scores,
    reference=lambda scores, mask: masks.masked_softmax(scores, mask),
    exact_zeros=True,
    gradients=True,
    returns="weights",
    shapes={"weights": "as the scores"},
    symptoms=(filled_with_what,),
    signs=signs_of_weight,
    hints=[
        (
            "hidden keys get weight",
            "A score of 0 does not hide a key, because e⁰ is 1. Which score has an exponential of exactly 0?",
        ),
        (
            "NaN",
            "Every score in an empty row is -∞, so softmax turns the row into NaN. Which method puts "
            "a number wherever a condition holds, and which condition marks such a row?",
        ),
        (
            "the input changes",
            "Methods whose names end in _ write into the tensor they are called on. Most have a "
            "counterpart without _, whose result you must keep.",
        ),
    ],
    solution="""
        import torch

        def masked_softmax(scores, mask):
            weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
            return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)""",
)


@exercise.right("step by step")
class MaskedSoftmax(Steps):
    def __call__(self, scores, mask):
        allowed = self.allowed(mask)
        weights = self.weights(self.hidden(scores, allowed))
        return self.emptied(weights, allowed)

    def allowed(self, mask):
        return mask

    def hidden(self, scores, allowed):
        return scores.masked_fill(~allowed, -torch.inf)

    def weights(self, hidden):
        return hidden.softmax(dim=-1)

    def emptied(self, weights, allowed):
        return weights.masked_fill(~allowed.any(dim=-1, keepdim=True), 0.0)


def raw(weights):  # as softmax leaves them: no thought of empty rows
    return weights


def no_nan(weights):
    return weights.nan_to_num(0.0)


def times_mask(weights, allowed):
    return weights * allowed


def zeroed(weights, allowed):
    return weights.masked_fill(~allowed, 0.0)


def ended(*endings, **replaced):
    """Each change on its own, then together with each of these endings."""
    alone = changes(replaced)
    return [*alone, *({**change, "emptied": ending} for change in alone for ending in endings)]


def filled(number):
    return lambda scores, allowed: scores.masked_fill(~allowed, number)


def added(number):
    return lambda scores, allowed: scores + number * ~allowed


def over(dim):
    return lambda hidden: hidden.softmax(dim)


def shared(exponentials, small=0.0, dim=-1):
    return exponentials / (exponentials.sum(dim, keepdim=True) + small)


def at_least(exponentials, small):
    return F.normalize(exponentials, p=1, dim=-1, eps=small)


ADDED = (-100.0, -1000.0, -2.0, -3.0, -5.0, -10.0)  # numbers that are not negative enough
FILLED = (-100.0, -1.0, -2.0, -3.0, -5.0, -10.0, -1000.0)
ASKS = "which dimension of the mask holds the queries? Is it still there when the mask is used?"
EMPTY = "the row of a query that may attend to nothing: what should it hold, and which line puts that there?"
ONE_QUERY = "one query's weights must sum to 1. Which dimension holds them?"
ONE_OF_MANY = "one query's weights must sum to 1. Which dimension holds them, however many dimensions there are?"
ONE_ROW = "add up one row of the weights: what do you get?"
WRITTEN_INTO = "what does a method whose name ends in _ change? And what should a row with nothing allowed hold?"

# Another mask
mistake = exercise.section(hint=1)
mistake(
    "the mask inverted",
    why="The weight goes to places where the mask is False. True means attending is allowed.",
    look="which places keep their scores or weights: the True ones or the others? And if a number is filled in, is it "
    "negative?",
    variants=[
        *ended(raw, lambda step, weights, allowed: step(weights, ~allowed), allowed=lambda mask: ~mask),
        *ended(raw, hidden=lambda scores, allowed: scores.masked_fill(allowed, -1e9)),
        lambda scores, mask: (scores + mask * -1e9).softmax(-1),
        lambda scores, mask: scores.softmax(-1) * ~mask,
    ],
)
mistake(
    "the mask transposed",
    pairs=3,
    why="The mask is used with its last two dimensions swapped: its rows line up with the keys.",
    look="which dimension of the mask holds the queries, and which the keys?",
    variants=ended(raw, allowed=lambda mask: mask.transpose(-2, -1)),
)
mistake(
    "the first mask of the batch for all",
    pairs=3,
    why="The first entry of the mask serves for all: "
    "every sequence gets the first one's mask (without a batch, perhaps every query the first one's row).",
    look="which dimensions does the mask have, and which of them do you keep?",
    variants=ended(
        raw,
        allowed=[lambda mask: mask[:1] if mask.dim() > 2 else mask, lambda mask: mask[:1]],
        __call__=lambda step, scores, mask: step(scores, mask[0] if mask.dim() == scores.dim() else mask),
    ),
)
mistake(
    "the first query's mask for all",
    why="Every query gets the first query's row of the mask.",
    look=ASKS,
    variants=ended(raw, allowed=lambda mask: mask[..., :1, :]),
)
mistake(
    "the last query's mask for all",
    why="Every query gets the last query's row of the mask.",
    look=ASKS,
    variants=ended(raw, allowed=lambda mask: mask[..., -1:, :]),
)

mistake(
    "a dimension too many in the mask",
    pairs=0,
    why="The mask gains a dimension, so it no longer lines up with the scores.",
    look="which shapes of the mask fit the scores as they are? What does unsqueeze do to a shape?",
    variants=ended(raw, no_nan, allowed=lambda mask: mask.unsqueeze(1)),
)

# Forbidden places that are not hidden, or too late
mistake = exercise.section(hint=1)
mistake(
    "the mask has no effect",
    hint=3,
    why="The weights are those of a softmax without any mask: forbidden places get their share.",
    look="is the result of the masking kept? Most tensor methods return a new tensor and leave the old one alone.",
    variants=ended(raw, hidden=lambda scores: scores),
)
mistake(
    "a score of 0 for what is forbidden",
    why="A forbidden score becomes 0, or a number as near to 0 as -1e-9. "
    "That is a score like any other: e⁰ = 1 takes its share of the weight.",
    look="which score has an exponential "
    "of exactly 0? And if you wrote a power of ten, what is the sign of its exponent?",
    variants=ended(raw, times_mask, hidden=lambda scores, allowed: scores * allowed),
)
mistake(
    "a number too small",
    pairs=len(ADDED),
    why="The forbidden scores are not made negative enough, so they can still take some of the weight.",
    look="which score has an exponential of exactly 0, whatever the others are?",
    hidden=[*map(added, ADDED), *map(filled, FILLED)],  # the added ones first: they are tried together with others
    variants=ended(raw, times_mask, hidden=[*map(filled, FILLED), *map(added, ADDED[2:])])[len(FILLED + ADDED) - 2 :]
    + ended(raw, times_mask, hidden=lambda scores, allowed: scores.masked_fill(~allowed, scores.min().item() - 1)),
)
mistake(
    "a tiny weight for forbidden places",
    pairs=0,
    why="Forbidden places get a weight that is tiny, but not 0. The exercise asks for exactly 0.",
    look="a small number that you add, or a lower bound: which places does it reach?",
    emptied=[
        lambda right: right.clamp(min=1e-12),
        lambda weights: weights.clamp(min=1e-12),
        lambda step, weights, allowed: step(weights.clamp(min=1e-12), allowed),
        lambda right, allowed: torch.where(allowed.any(-1, keepdim=True), right, 1e-12),
    ],
    variants=[
        lambda scores, mask: shared((scores - scores.amax(-1, keepdim=True)).exp() * mask + 1e-12),
        lambda scores, mask: (scores + (mask + 1e-12).log()).softmax(-1),
    ],
)
mistake(
    "zeros everywhere",
    pairs=0,
    why="Every weight is 0, even where something is allowed, so no row sums to 1.",
    look="does your code turn NaN into 0 at the end? If so, print what was there before.",
    variants=[lambda scores, mask: torch.zeros_like(scores)],
)
mistake(
    "the wrong sign",
    pairs=3,
    why="The forbidden scores are made the largest, not the smallest, so they take all "
    "the weight, or the row becomes NaN.",
    look="which scores does exp send to 0?",
    hidden=[added(1e9), filled(1e9)],
    variants=[*ended(raw, no_nan, hidden=filled(torch.inf)), {"hidden": filled(1e9), "emptied": raw}],
)
mistake(
    "the forbidden scores multiplied",
    why="The forbidden scores are multiplied by a very negative number. A "
    "negative score then becomes very large, and takes all the weight or turns it into NaN.",
    look="what happens to scores of -2 and 2?",
    variants=[
        *ended(raw, hidden=lambda scores, allowed: torch.where(allowed, scores, scores * -1e9)),
        {"hidden": lambda scores, allowed: torch.where(allowed, scores, scores * -torch.inf)},
    ],
)
mistake(
    "the mask added to the scores",
    why="An allowed score only gains 1 over a forbidden one, as happens when the mask itself is added to the scores.",
    look="what must be added to a score so that its exponential is exactly 0?",
    variants=ended(raw, times_mask, hidden=lambda scores, allowed: scores + allowed),
)
mistake(
    "NaN everywhere",
    hint=2,
    why="In a row where anything is allowed, every weight is NaN, as when the mask is "
    "multiplied by infinity and added: 0 times infinity is NaN.",
    look="print 0 * float('inf').",
    variants=ended(raw, hidden=added(-torch.inf)),
)
mistake(
    "masked after the softmax",
    why="The softmax first shares the weight among all the places. What the forbidden "
    "ones got is then thrown away, so the rows do not sum to 1.",
    look="add up one row. Who should have shared the weight?",
    variants=[{"hidden": lambda scores: scores, "emptied": times_mask}],
)
mistake(
    LATE,
    pairs=0,
    why="Hidden scores, or zeros that are not allowed scores, still count in the softmax, or in the "
    "largest score that is subtracted. Where one of them leads by far, next to nothing is left of the allowed weights, "
    "and nothing done afterwards brings them back.",
    look="take a hidden score of 0 and allowed ones of -1000: how large are the exponentials?",
    variants=[
        *(
            {"hidden": lambda scores: scores, "emptied": emptied}
            for emptied in (
                lambda weights, allowed: shared(weights * allowed),
                lambda weights, allowed: shared(weights * allowed).nan_to_num(0.0),
                lambda step, weights, allowed: step(shared(weights * allowed), allowed),
            )
        ),
        *(
            {
                "hidden": lambda scores: scores,
                "weights": weights,
                "emptied": lambda weights, allowed, by=by, small=small: by(weights * allowed, small),
            }
            for weights in (over(-1), lambda hidden: (hidden - hidden.amax(-1, True)).exp())
            for by, small in (
                *((shared, small) for small in (1e-12, 1e-10, 1e-9, 1e-8, 1e-6)),
                *((at_least, small) for small in (1e-12, 1e-9, 1e-8, 1e-6)),
            )
        ),
        *(
            {
                "hidden": lambda scores, allowed: scores * allowed,
                "emptied": lambda weights, allowed, small=small: shared(weights * allowed, small).nan_to_num(0.0),
            }
            for small in (1e-13, 0.0, 1e-12, 1e-10, 1e-9, 1e-8, 1e-6, 1e-30, torch.finfo(torch.float64).tiny)
        ),
    ],
)
mistake(
    "hidden scores that still count",
    why="Where a hidden score leads by far, it takes the weight. Throwing that "
    "weight away afterwards does not give it back to the allowed places, which are left with next to nothing.",
    look="a hidden score that leads by 1000: what happens to it before the softmax?",
    variants=ended(times_mask, hidden=[*map(added, ADDED[:2])])[2:],
)
mistake(
    "minus infinity after the softmax",
    why="The mask is applied after the softmax, to the weights. In a forbidden "
    "place it is the score that should be very negative, not the weight.",
    look="which comes first in your code: the mask or the softmax?",
    variants=[
        {
            "hidden": lambda scores: scores,
            "emptied": lambda weights, allowed, number=number: weights.masked_fill(~allowed, number),
        }
        for number in (-torch.inf, -1e9)
    ],
)


def zeros_filled(scores, allowed, number=-torch.inf):
    return (scores * allowed).masked_fill(scores * allowed == 0, number)


mistake(
    "a score of 0 taken for masked",
    pairs=0,
    why="A score that is exactly 0 is taken for a masked one. But an allowed score may be 0, too.",
    look="any `== 0`, as after a product with the mask: which other scores are 0?",
    hidden=[zeros_filled, lambda scores, allowed: zeros_filled(scores, allowed, -1e9)],
    variants=[
        {"hidden": zeros_filled, "emptied": no_nan},
        {"hidden": zeros_filled, "emptied": times_mask},
        {
            "hidden": lambda scores, allowed: zeros_filled(scores, allowed).masked_fill(
                ~allowed.any(-1, keepdim=True), 0
            ),
            "emptied": lambda right, allowed: right.masked_fill(~allowed, 0),
        },
        {"hidden": lambda scores, allowed: zeros_filled(scores, allowed, -1e9), "emptied": times_mask},
    ],
)

# Rows in which nothing is allowed
mistake = exercise.section(hint=2)
mistake(
    "NaN for an empty row",
    why="In a row where nothing is allowed there is no key to give the weight to, and the weights become NaN.",
    look=EMPTY,
    emptied=lambda weights, allowed: weights.masked_fill(~allowed.any(dim=-1, keepdim=True), torch.nan),
)
mistake(
    "weight for an empty row",
    why="A query that may attend to nothing still gives weight to keys.",
    look=EMPTY,
    emptied=[
        lambda weights: weights.nan_to_num(1 / weights.shape[-1]),  # what a finite number has left there stays
        lambda weights: weights.nan_to_num(1.0),
        *(
            lambda allowed, right, place=place: right.where(
                allowed.any(-1, keepdim=True), torch.eye(right.shape[-1])[place]
            )
            for place in (0, -1)
        ),
    ],
    __call__=lambda right, scores, mask: right.where(mask.any(-1, keepdim=True), scores.softmax(-1)),
)
mistake(
    "the empty rows looked for in the wrong dimension",
    pairs=2,
    why="Your code checks whether everything is "
    "forbidden along a dimension other than the keys, or applies the answer to columns. The wrong places become 0, "
    "and an empty row may stay NaN.",
    look="which dimension does `any` or `all` run over, and which one is lost without keepdim?",
    emptied=[
        *(
            lambda weights, allowed, dim=dim: weights.masked_fill(~allowed.any(dim=dim, keepdim=True), 0.0)
            for dim in (-2, 0, 1)
        ),
        lambda weights, allowed: weights.masked_fill(~allowed.any(dim=-1), 0.0),
    ],
    variants=[
        lambda scores, mask: (
            scores.masked_fill(~mask, -torch.inf)
            .masked_fill(empty := ~mask.any(-2, keepdim=True), 0.0)
            .softmax(-1)
            .masked_fill(empty, 0.0)
        )
    ],
)

mistake(
    "a row with one key taken for empty",
    pairs=0,
    why="A row in which a single key is allowed gets weights of 0, "
    "as if it were empty. That key should get all the weight.",
    look="how many allowed keys does your test ask for?",
    emptied=lambda right, allowed: right.masked_fill(allowed.sum(-1, keepdim=True) <= 1, 0.0),
)
mistake(
    "the empty rows left out",
    pairs=0,
    why="Rows in which nothing is allowed are missing from the result; they should be there, with weights of 0.",
    look=EMPTY,
    variants=[
        lambda scores, mask: masks.masked_softmax(
            scores[some := mask.expand(scores.shape).any(-1)], mask.expand(scores.shape)[some]
        )
    ],
)


def refusing(error):
    def refuses(scores, mask):
        if not mask.any(-1).all():
            raise error
        return masks.masked_softmax(scores, mask)

    return refuses


mistake(
    "an error for an empty row",
    why="Your code raises an error where a query may attend to nothing. Such rows are "
    "not unusual, and their weights should all be 0.",
    look="the row of a query that may attend to nothing: what should it hold?",
    variants=[*map(refusing, (ValueError, AssertionError, RuntimeError, IndexError, ZeroDivisionError))],
)

# Another softmax
mistake = exercise.section(hint=1)
mistake(
    "softmax over the queries",
    pairs=3,
    why="The softmax runs over the queries, so the columns of the weights sum to 1, not the rows.",
    look=ONE_QUERY,
    variants=[
        *ended(raw, no_nan, weights=over(-2)),
        *ended(raw, variants=[{"hidden": filled(-1e9), "weights": over(-2)}]),
    ],
)
mistake(
    "softmax over the first dimension",
    why="The softmax runs over the first dimension, which holds the queries if "
    "there is no batch, and otherwise the batch.",
    look=ONE_OF_MANY,
    variants=[*ended(raw, no_nan, weights=over(0)), {"hidden": filled(-1e9), "weights": over(0), "emptied": raw}],
)
mistake(
    "softmax over the second dimension",
    why="The softmax runs over dimension 1, which holds the keys only if there is no batch.",
    look=ONE_OF_MANY,
    variants=[*ended(raw, no_nan, weights=over(1)), {"hidden": filled(-1e9), "weights": over(1), "emptied": raw}],
)
mistake(
    "softmax over everything",
    pairs=2,
    why="The softmax runs over several dimensions at once, so only the whole table sums to 1, not each row.",
    look=ONE_ROW,
    weights=lambda hidden: hidden.flatten(-2).softmax(dim=-1).reshape(hidden.shape),
    variants=[{"weights": lambda hidden: hidden.flatten().softmax(dim=0).reshape(hidden.shape)}],
)
mistake(
    "no softmax",
    why="The scores are masked, but never turned into weights: they can be negative, and nothing makes a row sum to 1.",
    look="what turns scores into weights?",
    variants=ended(raw, times_mask, zeroed, weights=lambda hidden: hidden),
)
mistake(
    "the logarithm of the weights",
    why="These are logarithms of the weights: none of them is above 0, and no row sums to 1.",
    look="log_softmax and softmax: which one does the exercise ask for?",
    variants=ended(raw, no_nan, zeroed, weights=lambda hidden: hidden.log_softmax(dim=-1)),
)
mistake(
    "a sigmoid for the softmax",
    why="Each score goes through a sigmoid separately, so the keys of a query do not "
    "compete, and nothing makes a row sum to 1.",
    look=ONE_ROW,
    weights=lambda hidden: hidden.sigmoid(),
)
mistake(
    "exponentials, never divided",
    pairs=2,
    why="The exponentials are not divided by their sum, so the rows do not sum to 1.",
    look=ONE_ROW,
    weights=lambda hidden: hidden.exp(),
    variants=[
        *ended(raw, weights=lambda hidden: (hidden - hidden.amax(dim=-1, keepdim=True)).exp()),
        lambda scores, mask: (scores - scores.amax(-1, keepdim=True)).exp() * mask,
    ],
)
mistake(
    "only the allowed scores",
    why="The allowed scores are picked out and the shape of the table is lost: one long "
    "row is left, whose weights sum to 1.",
    look="the shape of the result. What does indexing with a mask give?",
    variants=[
        lambda scores, mask: scores[mask.expand(scores.shape)].softmax(-1),
        lambda scores, mask: scores[mask].softmax(-1),
    ],
)


def written_into_a_copy(scores, allowed):
    copy = scores.clone()
    copy[~allowed] = -torch.inf
    return copy


mistake(
    "a mask that does not broadcast",
    pairs=0,
    why="The mask is used as an index, `[mask]` or `[~mask]`, and an "
    "index does not broadcast: a mask whose shape is not that of the scores raises an error.",
    look="which shapes does the exercise allow for the mask? What gives it the shape of the scores?",
    variants=ended(raw, no_nan, hidden=written_into_a_copy),
)
mistake(
    "the scores scaled",
    why="The scores are divided by a square root first. Scaling is the job of the attention "
    "that calls this function; here the scores should stay as they are.",
    look="what happens to the scores before the softmax, apart from the masking?",
    hidden=lambda step, scores, allowed: step(scores / math.sqrt(scores.shape[-1]), allowed),
)
mistake(
    "one more in the sum",
    pairs=0,
    why="The sum in the denominator includes a number that comes from no score, "
    "such as 1, so the rows sum to less than 1.",
    look=ONE_ROW,
    weights=[
        lambda hidden: F.pad(hidden, (0, 1)).softmax(-1)[..., :-1],
        lambda hidden: shared(hidden.exp(), 1.0),
        *(
            lambda hidden, one=one: shared((hidden - hidden.amax(-1, keepdim=True)).exp(), one).nan_to_num(0.0)
            for one in (1.0, 1e-3, 1e-2, 1e-4)
        ),
    ],
)
mistake(
    "half precision",
    pairs=0,
    why="The weights are computed in half precision, which keeps only two or three digits.",
    look="where does the dtype of the scores change?",
    variants=[
        lambda scores, mask, half=half: masks.masked_softmax(scores.to(half), mask).to(scores)
        for half in (torch.half, torch.bfloat16)
    ],
)
mistake(
    "the scores cut off",
    pairs=0,
    why="Scores beyond a limit are clamped to it before the softmax, so they share the weight as if they were equal.",
    look="what happens to the scores before the softmax, apart from the masking?",
    hidden=[
        lambda step, scores, allowed, limit=limit: step(scores.clamp(-limit, limit), allowed)
        for limit in (10, 20, 50, 80, 88, 100, 500)
    ],
)
mistake(
    "a causal mask of its own",
    why="The future is hidden, whatever the mask says or in addition to it. Only the "
    "mask should decide which places are allowed.",
    look="where do you use tril or triu, and what does the exercise say about the order of the keys?",
    __call__=lambda step, scores, mask: step(scores, mask & torch.ones_like(scores, dtype=torch.bool).tril()),
    variants=[lambda scores, mask: masks.masked_softmax(scores, torch.ones_like(scores, dtype=torch.bool).tril())],
)
mistake(
    "a sum over the wrong dimension",
    why="The exponentials of the allowed places are divided by a sum that does "
    "not run over the keys of one query. Columns, or the whole table, then sum to 1, not each row.",
    look=ONE_QUERY,
    variants=[
        lambda scores, mask: shared(some := scores.softmax(-1) * mask, some.sum(-2, keepdim=True) == 0, -2),
        *(
            lambda scores, mask, small=small, dim=dim: shared(scores.softmax(-1) * mask, small, dim)
            for small in (0.0, 1e-9)
            for dim in (-2, (-2, -1), None)
        ),
    ],
)
mistake(
    "equal weights",
    why="All allowed places of a row get the same weight: the scores themselves are never used.",
    look="where does your code use the scores?",
    variants=[lambda scores, mask: (mask / mask.sum(-1, keepdim=True).clamp(min=1)).to(scores).expand(scores.shape)],
)
mistake(
    "all the weight to the largest",
    why="The largest allowed score takes all the weight, but a softmax shares it out.",
    look="any argmax or one_hot. And in one row of your weights, how many are 0?",
    weights=lambda hidden: F.one_hot(hidden.argmax(-1), hidden.shape[-1]).to(hidden),
)
mistake(
    "the softmax twice",
    pairs=2,
    why="A softmax is taken of weights that have already been through one, so they come out far too equal.",
    look="how many times does a softmax run, and which of them is the right one?",
    hidden=lambda step, scores, allowed: step(scores.softmax(-1), allowed),
    variants=[
        *ended(raw, times_mask, weights=lambda hidden: hidden.softmax(-1).softmax(-1)),
        {"hidden": lambda step, scores, allowed: step(scores.softmax(-1), allowed), "emptied": raw},
        {"emptied": lambda right: right.softmax(-1)},
        lambda scores, mask: (scores.softmax(-1) * mask).softmax(-1),
    ],
)
mistake(
    "exponentials out of range",
    hint=2,
    pairs=4,
    why="The exponential is taken of numbers that are too large or "
    "too small for it: exp(1000) is infinite and exp(-1000) is 0, so the weights become NaN or vanish.",
    look="which number, subtracted from a row, keeps exponentials in range? And at a hidden score, what is inf · 0?",
    weights=[
        lambda hidden: shared(hidden.exp(), 1e-9),
        lambda hidden: shared((hidden - hidden[hidden.isfinite()].max()).exp()),
        lambda hidden: shared((hidden - hidden[hidden.isfinite()].max()).exp(), 1e-9),
    ],
    variants=[
        *ended(no_nan, weights=lambda hidden: shared(hidden.exp())),
        lambda scores, mask: shared(scores.exp() * mask),
        *(lambda scores, mask, by=by: by(scores.exp() * mask, 1e-9) for by in (shared, at_least)),
        lambda scores, mask: shared(scores.exp() * mask).nan_to_num(0.0),
        lambda scores, mask: shared((scores - scores.max()).exp() * mask).nan_to_num(0.0),
        lambda scores, mask: shared((scores - scores.masked_fill(~mask, -1e9).amax(-1, True)).exp() * mask),
        *(
            lambda scores, mask, none=none: at_least(
                (scores - scores.masked_fill(~mask, -torch.inf).amax(-1, True).nan_to_num(neginf=0.0)).exp() * mask,
                1e-30,
            ).nan_to_num(none)
            for none in (torch.nan, 0.0)
        ),
        lambda scores, mask: shared(scores.exp() * mask, ~mask.any(-1, keepdim=True)),
    ],
)

# Inputs that are written into
mistake = exercise.section(hint=3)
mistake(
    "the scores are changed",
    why="The function writes into `scores`, which is the caller's own tensor: after the call it holds other numbers.",
    look="what does a method whose name ends in _ change? What does scores[…] = … change?",
    hidden=lambda scores, allowed: scores.masked_fill_(~allowed, -torch.inf),
)
mistake(
    "the scores are changed, and NaN for an empty row",
    why="The masking writes into `scores`, which is the "
    "caller's own tensor; and in a row where nothing is allowed the weights become NaN.",
    look=WRITTEN_INTO,
    variants=[lambda scores, mask: scores.masked_fill_(~mask, -torch.inf).softmax(-1)],
)
mistake(
    "the scores are changed, and weight for an empty row",
    why="The masking writes into `scores`, which is the "
    "caller's own tensor; and a query that may attend to nothing still gives weight to keys.",
    look=WRITTEN_INTO,
    variants=[lambda scores, mask: scores.masked_fill_(~mask, -1e9).softmax(-1)],
)


def mask_opened(scores, mask):
    empty = ~mask.any(-1)
    mask[empty] = True
    return scores.masked_fill(~mask, -torch.inf).softmax(-1).masked_fill(empty[..., None], 0.0)


mistake(
    "the mask is changed",
    pairs=0,
    why="The function writes into `mask`, which is the caller's own tensor: after the call it is a different mask.",
    look="what does mask[…] = … change, and what makes a copy?",
    allowed=lambda mask: ~mask.logical_not_(),
    variants=[mask_opened],
)
mistake(
    "the mask is changed, and weight for an empty row",
    pairs=0,
    why="The function writes into `mask`, which is "
    "the caller's own tensor; and a query that may attend to nothing still gives weight to keys.",
    look="what does mask[…] = … change? And what should a row with nothing allowed hold?",
    allowed=lambda mask: mask.logical_or_(~mask.any(-1, keepdim=True)),
)
