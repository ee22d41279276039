"""How the inputs of `grouped_query_attention` are drawn, and what its weights show of the mask and of dropout.

Beside scores and weights that are known, weights on later keys, or weights that are missing, tell a number that was too
small for a masked score from a mask that came after the softmax. As in masked_softmax.py, one number must explain every
row.
"""

import math

import torch

from transformer_lessons.exercises.catalogue.attention_scores import is_dropped
from transformer_lessons.exercises.catalogue.stable_softmax import far_below
from transformer_lessons.exercises.checker.comparison import comparable
from transformer_lessons.exercises.checker.setup import Setup, normal


def draw(generator, batch, heads, key_heads, length, d_head, scale=1.3, leads=(), silent=False, far=False):
    """Queries of all heads, keys and values of fewer; the masked score of the last key leads by the numbers in leads.

    The rows use these in turn. The lead comes from feature 0 alone: only the last key has it, and the query at the same
    position does not. Feature 1 then lowers all scores of head 0 by 150 and those of head 2 by 1,100, so that a number
    filled in for a masked score may lead too. If silent, the query at position 1 is all zeros. If far, all scores of
    heads 0, 2, … are far below 0, far apart, and rise from key to key; those of heads 1, 3, … are far above 0 and fall.
    """
    query = normal(generator, batch, heads, length, d_head, scale=scale)
    key, value = (normal(generator, batch, key_heads, length, d_head, scale=scale) for _ in range(2))
    if silent:
        query[:, :, 1] = 0.0
    if far:
        query[..., 0], query[:, 1::2, :, 0] = math.sqrt(d_head), -math.sqrt(d_head)
        key[..., 0] = far_below(generator, batch, key_heads, length).sort().values
    if leads:  # multiples of 1/64, which float32 keeps exactly even at 1000
        query, key = (query * 8).round() / 8, (key * 8).round() / 8
        rows = torch.arange(batch * heads * length).reshape(batch, heads, length)
        key[..., 0] = torch.eye(length)[-1] * 40 * math.sqrt(d_head)
        query[..., 0] = query.new_tensor(leads)[rows % len(leads)] / 40
        query[..., -1, 0] = 0.0
        key[..., 1], query[..., 1] = -10.0, 0.0
        query[:, ::4, :, 1], query[:, 2::4, :, 1] = 15 * math.sqrt(d_head), 110 * math.sqrt(d_head)
    return query, key, value


def group_of(query, key):
    return query.shape[1] // key.shape[1]


def what_the_weights_show(observed, expected, query, key, value):
    """What is wrong with the weights, seen from the weights alone."""
    weights, heads = observed[1], range(query.shape[1])
    wrong = [head for head in heads if (weights[:, head] - expected[1][:, head]).abs().max() > 1e-6]
    sentences = (
        ("A query gives weight to a key that comes after it.", weights.triu(1).abs().max() > 1e-6),
        ("A row of the weights does not sum to 1.", (weights.sum(-1) - 1).abs().max() > 1e-4),
        (
            f"Some heads are right. The first head whose weights are wrong is head {min(wrong, default=None)}.",
            0 < len(wrong) < len(heads),
        ),
    )
    return next((sentence for sentence, fits in sentences if fits), None)


def hidden_keys_count(call, query, key, value):
    """Weights of later keys that are too small to count as a difference, such as 1e-9, where the contract says 0."""
    largest = float(call(query, key, value)[1].detach().triu(1).abs().max())
    fault = (
        "a tiny weight on later keys",
        f"A later key gets a weight of {largest:.0e}. That is little, but not 0.",
        "which score has an exponential of exactly 0, whatever the others are? Is anything added after the softmax?",
    )
    return fault if largest else None


def signs_of_weight(observed, expected, query, key, value):
    """Dropout, and the traces of scores that were not masked strongly enough, or masked too late."""
    if not comparable(observed, expected):
        return []
    weights = observed[1].double()
    scores = query @ key.repeat_interleave(group_of(query, key), 1).mT / math.sqrt(query.shape[-1])
    hidden = torch.ones_like(scores).triu(1) == 1
    part = 0 if torch.allclose(weights, expected[1], atol=1e-5) else 1
    return [
        name
        for name, shown in (
            ("dropout", is_dropped(observed[part], expected[part])),
            ("a number too small", is_a_number(weights, scores, hidden)),
            ("masked too late, then renormalised", is_late(weights, expected[1], scores)),
        )
        if shown
    ]


def is_a_number(weights, scores, hidden):
    """Are these the weights if a number below 0 replaces the masked scores, or is added to them?"""
    taken = weights.masked_fill(~hidden, 0.0).sum(-1)
    own, others = (scores.masked_fill(~one, -torch.inf).logsumexp(-1) for one in (~hidden, hidden))
    needed = weights.log() + (own - (1 - taken).log())[..., None]
    shown = hidden & (weights > 1e-9) & (taken < 1 - 1e-6)[..., None]
    rows, lost = others.isfinite(), taken > 0.5
    leads = (others - own)[rows & lost], (others - own)[rows & ~lost].clamp(min=0)
    if shown.any():
        filled, moved = needed[shown].median(), (needed - scores)[shown].median()
    elif len(leads[0]):
        moved = -(leads[0].min() + (leads[1].max() if len(leads[1]) else 0.0)) / 2
        filled = (own[rows & lost].max() + (own[rows & ~lost].min().clamp(max=0) if len(leads[1]) else 0.0)) / 2
    else:
        return False
    made = [scores.masked_fill(hidden, filled)] if filled < 0 else []
    made += [scores + moved * hidden] if moved < 0 else []
    return any(torch.allclose(one.softmax(-1), weights, atol=1e-4) for one in made)


def is_late(weights, right, scores):
    """Is each row the right one times a share: what is left if a small number is added to its sum, or bounds it?"""
    share = weights.sum(-1).nan_to_num(0.0)
    if not torch.allclose(weights.nan_to_num(0.0), share[..., None] * right, atol=1e-5):
        return False
    between = (share > 1e-4) & (share < 1 - 1e-4)
    for left in (scores.softmax(-1).tril().sum(-1), (scores - scores.amax(-1, keepdim=True)).exp().tril().sum(-1)):
        lost, full = left[share <= 1e-4], left[share >= 1 - 1e-4]
        if not between.any() and len(lost) and len(full) and lost.max() < 1e-9 and lost.max() < full.min():
            return True
        for shares, small in (
            (lambda small, left=left: left / (left + small), left * (1 / share - 1)),
            (lambda small, left=left: (left / small).clamp(max=1), left / share),
        ):
            small = small[between]
            if len(small) and small.median() < 0.1 and torch.allclose(shares(small.median()), share, atol=1e-3):
                return True
    return False


setup = Setup(
    sizes=[
        {"batch": 1, "heads": 6, "key_heads": 2, "length": 3, "d_head": 2},
        {"batch": 3, "heads": 3, "key_heads": 3, "length": 3, "d_head": 3},
        {"batch": 2, "heads": 6, "key_heads": 3, "length": 5, "d_head": 4},
        {"batch": 4, "heads": 5, "key_heads": 1, "length": 6, "d_head": 3},
        {"batch": 1, "heads": 4, "key_heads": 2, "length": 4, "d_head": 4, "leads": (30, 720, 1000)},
        {"batch": 2, "heads": 8, "key_heads": 2, "length": 7, "d_head": 5, "scale": 6.0},
        {"batch": 1, "heads": 6, "key_heads": 2, "length": 1, "d_head": 3},
        {"batch": 1, "heads": 2, "key_heads": 1, "length": 3, "d_head": 2, "silent": True},
        {"batch": 1, "heads": 4, "key_heads": 2, "length": 3, "d_head": 4, "far": True},
    ],
    draw=draw,
    gradients=True,
    returns=("output", "weights"),
    shapes={"output": "(batch, heads, length, d_head)", "weights": "(batch, heads, length, length)"},
    checks=[hidden_keys_count],
    symptoms=[what_the_weights_show],
    signs=signs_of_weight,
)
