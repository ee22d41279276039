"""grouped_query_attention, of lesson 10: several query heads share one head of keys and values."""

import math

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.catalogue.online_softmax import far_below
from transformer_lessons.exercises.checker.comparison import comparable
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal


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
        key[..., 0] = far_below(generator, batch, key_heads, length).sort().values / 2**9  # millions from 0
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
    weights = observed[1]
    if float(weights.triu(1).abs().max()) > 1e-6:
        return "A query gives weight to a key that comes after it."
    row = (weights.sum(-1) - 1).abs()
    if float(row.max()) > 1e-4:
        return "A row of the weights does not sum to 1."
    wrong = ((weights - expected[1]).abs().amax((0, 2, 3)) > 1e-6).nonzero().flatten().tolist()
    if 0 < len(wrong) < query.shape[1]:
        return f"Some heads are right. The first head whose weights are wrong is head {wrong[0]}."
    return None


def hidden_keys_count(call, query, key, value):
    """Weights of later keys that are too small to count as a difference, such as 1e-9, where the contract says 0."""
    largest = float(call(query, key, value)[1].detach().triu(1).abs().max())
    return (
        None
        if largest == 0
        else (
            "a tiny weight on later keys",
            f"A later key gets a weight of {largest:.0e}. That is little, but not 0.",
            "which score has an exponential of exactly 0, whatever the others are? "
            "Is anything added after the softmax?",
        )
    )


def is_dropped(ours, right):
    """Are some numbers 0, and all others the right ones times one number above 1? If there are few, none may be 0."""
    ours, right = ours.double()[right.abs() > 1e-6], right[right.abs() > 1e-6]
    ratio = (ours / right)[ours != 0]
    if not ours.isfinite().all() or not len(ratio):
        return len(ours) <= 50 and not ours.any()
    one_ratio = ratio.min() > 1.001 and torch.allclose(ratio, ratio[:1], rtol=1e-3)
    lost, kept = right[ours == 0].abs(), right[ours != 0].abs()
    return bool(one_ratio and (len(ours) <= 50 or (len(lost) and lost.max() > kept.min())))


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


exercise = Exercise(
    name="grouped_query_attention",
    lesson=10,
    title="Six query heads, two KV heads",
    difficulty=2,
    importance=3,
    minutes=10,
    contract="""grouped_query_attention(query, key, value), with query (batch, heads, length, d_head) and key and value
        (batch, key_heads, length, d_head), where heads is a multiple of key_heads, returns (output, weights). The query
        heads form key_heads equal groups of neighbours, and group g uses head g of key and value.
        weights (batch, heads, length, length) is the softmax of query · key / √d_head over the keys, with a causal
        mask: each position attends to itself and those before it, and gives the others a weight of 0, even if their
        scores are 1,000 higher. The function must work for scores of any size. output (batch, heads, length, d_head)
        is the average of the values with these weights. Gradients flow to all three.""",
    stub='''
        def grouped_query_attention(query, key, value):
            """Causal attention in which neighbouring query heads share a KV head: (output, weights)."""
            raise NotImplementedError''',
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
    reference=lambda query, key, value: Grouped()(query, key, value),
    gradients=True,
    returns=("output", "weights"),
    shapes={"output": "(batch, heads, length, d_head)", "weights": "(batch, heads, length, length)"},
    checks=(hidden_keys_count,),
    symptoms=(what_the_weights_show,),
    signs=signs_of_weight,
    hints=[
        (
            "which keys a head uses",
            "With 6 query heads and 2 KV heads, heads 0, 1 and 2 use KV head 0, and heads "
            "3, 4 and 5 use KV head 1. repeat puts copies of the whole tensor one after the other; repeat_interleave "
            "puts the copies of each head next to each other.",
        ),
        (
            "the mask",
            "Position t may attend to positions 0 to t. Set the other scores to minus infinity before the "
            "softmax; masks.causal_mask(length) is True where a query may attend.",
        ),
        (
            "scale and softmax",
            "As in lesson 3, divide by the square root of the number of features of one head, and "
            "take the softmax over the keys, the last dimension.",
        ),
    ],
    solution="""
        import math

        import torch


        def grouped_query_attention(query, key, value):
            group = query.shape[1] // key.shape[1]
            key, value = (heads.repeat_interleave(group, dim=1) for heads in (key, value))
            scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
            future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
            weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
            return weights @ value, weights""",
)


@exercise.right("step by step")
class Grouped(Steps):
    def __call__(self, query, key, value):
        key, value = self.shared(query, key, value)
        weights = self.weights(self.masked(self.scaled(self.scores(query, key), query, key)))
        return self.handed(self.output(weights, value), query), weights

    def shared(self, query, key, value):
        group = query.shape[1] // key.shape[1]
        return key.repeat_interleave(group, dim=1), value.repeat_interleave(group, dim=1)

    def scores(self, query, key):
        return query @ key.mT

    def scaled(self, scores, query, key):
        return scores / math.sqrt(query.shape[-1])

    def masked(self, scaled):
        return scaled.masked_fill(torch.ones_like(scaled).triu(1) == 1, -torch.inf)

    def weights(self, masked):
        return masked.softmax(dim=-1)

    def output(self, weights, value):
        return weights @ value

    def handed(self, output, query):
        return output


# Which keys a head uses
TABLE = (
    "write down, for 6 query heads and 2 KV heads, which KV head each of the six should use, and which it does in "
    "your code."
)
mistake = exercise.section(hint=1, look=TABLE)


def by_index(index, *, keys=True, values=True):
    """`shared` with another choice of the key head for each head."""

    def shared(query, key, value):
        heads, right = torch.arange(query.shape[1]), torch.arange(query.shape[1]) // group_of(query, key)
        chosen = index(heads, group_of(query, key), key.shape[1])
        return key[:, chosen if keys else right], value[:, chosen if values else right]

    return shared


IN_TURN, LAST = (lambda heads, group, number: heads % number), (lambda heads, group, number: heads * 0 + number - 1)
BACKWARDS = lambda heads, group, number: number - 1 - heads // group  # noqa: E731
mistake(
    "key heads dealt out in turn",
    pairs=1,
    why="The KV heads are dealt out to the query heads in turn, as with "
    "`repeat`: the query heads of one group get different KV heads, but they should share one.",
    shared=by_index(IN_TURN),
)
mistake(
    "keys and values grouped differently",
    pairs=2,
    why="Keys and values are not shared out in the same way, so a "
    "query head may use the keys of one head and the values of another.",
    shared=[by_index(IN_TURN, keys=False), by_index(IN_TURN, values=False)],
)
mistake(
    "the first key head for all",
    why="All query heads use the first head of the keys, of the values or of both.",
    shared=[
        by_index(lambda heads, group, number: heads * 0),
        by_index(lambda heads, group, number: heads * 0, keys=False),
        by_index(lambda heads, group, number: heads * 0, values=False),
    ],
)
mistake(
    "the last key head for all",
    why="All query heads use the last head of the keys, of the values or of both.",
    shared=[by_index(LAST), by_index(LAST, keys=False), by_index(LAST, values=False)],
)
mistake(
    "the groups turned round",
    why="The KV heads are used in reverse order: the first group uses the last head of "
    "keys and values, and the last group the first.",
    shared=by_index(BACKWARDS),
)
mistake(
    "the number of key heads taken for the size of a group",
    why="The number of KV heads is used as the size of a "
    "group; the size should be the number of query heads that share a KV head.",
    shared=[
        by_index(lambda heads, group, number: heads // number),
        lambda query, key, value: (key.repeat_interleave(key.shape[1], 1), value.repeat_interleave(key.shape[1], 1)),
        lambda query, key, value: (key.repeat(1, key.shape[1], 1, 1), value.repeat(1, key.shape[1], 1, 1)),
    ],
)
CHECKED = ValueError("all dimensions before (length, features) must be equal")  # of scaled_dot_product_attention


def copied(copies, error):
    """`shared` with this number of copies of each head; this error where there are too few or too many."""

    def shared(query, key, value):
        number = copies(key)
        if number * key.shape[1] != query.shape[1]:
            raise error
        return key.repeat_interleave(number, 1), value.repeat_interleave(number, 1)

    return shared


exercise.mistakes["the number of key heads taken for the size of a group"].variants.append(
    exercise.variant({"shared": copied(lambda key: key.shape[1], CHECKED)})
)
mistake(
    "one size of a group for all",
    pairs=0,
    why="Your code assumes a fixed group size, and raises an error if a group has a different number of query heads.",
    look="how many query heads share a KV head if there are 6 and "
    "2, and how many if there are 8 and 2? Where does your code get that number from?",
    shared=[
        copied(lambda key, number=number: number, error) for number in (2, 3, 4) for error in (RuntimeError, CHECKED)
    ],
)
mistake(
    "the key heads merged into one",
    why="The heads of keys, of values or of both are averaged or summed into one, which all query heads use.",
    shared=[
        lambda right, query, key, value, by=by, merged=merged: tuple(
            by(one, 1, keepdim=True).expand_as(query) if n in merged else right[n] for n, one in enumerate((key, value))
        )
        for merged in ((0, 1), (0,), (1,))
        for by in (torch.mean, torch.sum)
    ],
)


def in_groups(query, key):
    """(batch, key heads, heads of a group, length, d_head)"""
    return query.unflatten(1, (key.shape[1], -1))


def in_turns(query, key):
    """The same, if the query heads are dealt out in turn."""
    return query.unflatten(1, (-1, key.shape[1])).transpose(1, 2)


def merged(by, groups=in_groups, repeated=lambda one, group: one):
    """One query for each group; its results are repeated for each head, or not."""

    def call(step, query, key, value):
        group = group_of(query, key)
        return tuple(repeated(one, group) for one in step(by(groups(query, key)), key, value))

    return {"__call__": call}


EACH, ALL = (lambda one, group: one.repeat_interleave(group, 1)), (lambda one, group: one.repeat(1, group, 1, 1))
ONE_OF_THEM = [
    lambda groups: groups.sum(2),
    lambda groups: groups.mean(2),
    lambda groups: groups[:, :, 0],
    lambda groups: groups[:, :, -1],
]
mistake(
    "the queries of a group merged into one",
    pairs=3,
    why="Several query heads are summed or averaged, or one of "
    "them is used for all. Each head has queries of its own; only keys and values are shared.",
    look="two heads of one group: should their weights be the same?",
    variants=[
        *(merged(by, repeated=EACH) for by in ONE_OF_THEM),
        *(merged(by) for by in ONE_OF_THEM),
        *(
            merged(by, groups, repeated)
            for by in ONE_OF_THEM
            for groups, repeated in (
                (in_groups, ALL),
                (in_turns, EACH),
                (in_turns, ALL),
                (in_turns, lambda one, group: one),
            )
        ),
    ],
)
mistake(
    "the weights of a group merged into one",
    pairs=0,
    why="The weights of the query heads of a group are averaged "
    "after the softmax. Each head has weights of its own; only keys and values are shared.",
    look="two heads of one group: should their weights be the same?",
    variants=[
        {"__call__": lambda self, right, query, key, value: averaged(right[1], key, self.shared(query, key, value)[1])},
        {"__call__": lambda right, key: (right[0], in_groups(right[1], key).mean(2))},
    ],
)


def averaged(weights, key, value):
    """Output and weights, where all heads of a group have its average weights."""
    groups = in_groups(weights, key)
    weights = groups.mean(2, keepdim=True).expand_as(groups).flatten(1, 2)
    return weights @ value, weights


def scattered(query, key):
    """The query heads in the order 0, n, 2n, …, 1, n + 1, …, where n is the number of KV heads."""
    return query.unflatten(1, (-1, key.shape[1])).transpose(1, 2).flatten(1, 2)


mistake(
    "queries regrouped",
    why="The query heads are reordered before they meet the keys and never put back, so "
    "outputs end up in the wrong heads.",
    look="after each step of your code, where is query head 1?",
    variants=[{"__call__": lambda step, query, key, value: step(scattered(query, key), key, value)}],
)
mistake(
    "key heads not shared",
    why="Keys and values are used as they are. That works only if they have as many heads "
    "as the queries or, where your code broadcasts them, a single one.",
    shared=[lambda query, key, value: (key, value), copied(lambda key: 1, CHECKED)],
)
mistake(
    "repeated along the positions",
    why="The keys are repeated along the sequence, not along the heads, so the sequence gets longer.",
    look="which dimension of `key` holds the heads?",
    shared=[
        lambda query, key, value: (
            key.repeat_interleave(group_of(query, key), 2),
            value.repeat_interleave(group_of(query, key), 2),
        ),
        lambda query, key, value: (
            key.repeat(1, 1, group_of(query, key), 1),
            value.repeat(1, 1, group_of(query, key), 1),
        ),
    ],
)
mistake(
    "heads reshaped",
    why="A reshape of the repeated heads, or of the queries, mixes heads with positions or features.",
    look="every view and reshape: which dimensions does it merge or split?",
    shared=[
        lambda query, key, value: tuple(
            one.repeat(1, 1, 1, group_of(query, key)).reshape(query.shape) for one in (key, value)
        ),
        lambda query, key, value: tuple(
            one.repeat_interleave(group_of(query, key), 2).reshape(query.shape) for one in (key, value)
        ),
    ],
)


def mixed(query, key):
    """A reshape that puts the length before the heads of a group, without moving a number."""
    batch, _, length, d_head = query.shape
    return query.reshape(batch, key.shape[1], length, -1, d_head).transpose(2, 3).flatten(1, 2)


exercise.mistakes["heads reshaped"].variants.append(
    exercise.variant({"__call__": lambda step, query, key, value: step(mixed(query, key), key, value)})
)


def regrouped(one, number):
    """The heads in another order: the first of each group, then the second of each."""
    return one.unflatten(1, (number, -1)).transpose(1, 2).flatten(1, 2)


mistake(
    "heads out of order at the end",
    why="Each head is right, but the heads are returned in another order: the "
    "first of each group, then the second of each.",
    look="in what order does your code put the groups and their heads together?",
    variants=[
        {"__call__": lambda right, key: tuple(regrouped(one, key.shape[1]) for one in right)},
        {"__call__": lambda right, key: (regrouped(right[0], key.shape[1]), right[1])},
    ],
)

mistake(
    "heads reshaped at the end",
    pairs=0,
    why="Each head is right, but in the output, a reshape after a transpose mixes heads with positions or features.",
    look="every transpose, view and reshape after the weighted average: does each number stay in its head?",
    variants=[
        {"__call__": lambda right: (right[0].transpose(1, 2).reshape(right[0].shape), right[1])},
        {"__call__": lambda right: (right[0].mT.reshape(right[0].shape), right[1])},
    ],
)


def split(one, key):
    return one.unflatten(1, (key.shape[1], -1))


mistake(
    "groups not merged",
    pairs=0,
    why="In the output, the weights or both, the groups and the heads of a group are "
    "still separate dimensions; they should be merged into one.",
    look="compare the shapes of output and weights with those in the exercise.",
    variants=[
        {"__call__": lambda right, key: (right[0], split(right[1], key))},
        {"__call__": lambda right, key: (split(right[0], key), right[1])},
        {"__call__": lambda right, key: tuple(split(one, key) for one in right)},
    ],
)


def groups_of(one, key):
    return one.chunk(key.shape[1], 1)


mistake(
    "joined along another dimension",
    pairs=0,
    why="The heads, or the groups, are put together along a dimension other than that of the heads.",
    look="`torch.cat` and `torch.stack` use dimension 0 if you name none: which dimension holds the heads?",
    variants=[
        {"__call__": lambda right, key, joined=joined: tuple(joined(one, key) for one in right)}
        for joined in (
            lambda one, key: torch.cat(groups_of(one, key)),
            lambda one, key: torch.stack(groups_of(one, key)),
            lambda one, key: torch.stack(one.unbind(1)),
            lambda one, key: torch.cat(one.unbind(1)),
            lambda one, key: torch.cat(one.split(1, 1)),
            lambda one, key: torch.stack(one.unbind(1), -1),
        )
    ],
)
mistake(
    "the weights of one head or group",
    pairs=0,
    why="The output is that of all heads, but the weights that you return are those of only one head, or one group.",
    look="which heads' weights are in the tensor that you return, and where are those of the others?",
    variants=[
        {"__call__": lambda right, key, one=one: (right[0], one(right[1], key))}
        for one in (
            lambda weights, key: groups_of(weights, key)[-1],
            lambda weights, key: groups_of(weights, key)[0],
            lambda weights, key: weights[:, -1],
            lambda weights, key: weights[:, -1:],
            lambda weights, key: weights[:, 0],
            lambda weights, key: weights[:, :1],
        )
    ],
)

# The mask
DIAGONAL = "which keys may the query at position 0 attend to? And the last query?"
mistake = exercise.section(hint=2, look=DIAGONAL)


def filled(which, number=-torch.inf):
    return lambda scaled: scaled.masked_fill(which(torch.ones_like(scaled)) == 1, number)


def added(number):
    return lambda scaled: scaled + number * torch.ones_like(scaled).triu(1)


SMALL = (1e-9, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-16, 1e-20, 1e-30)


def shared_out(left, small=0.0):
    """Each row divided by its sum."""
    return left / (left.sum(-1, keepdim=True) + small)


mistake("no mask", why="Every query attends to all keys, even those after it.", masked=lambda scaled: scaled)
mistake(
    "one triangle for a whole group",
    pairs=0,
    why="The queries of a group are put below each other, and the whole "
    "is masked with one triangle, so only the first query head of a group is masked as it should be.",
    look="the mask of the second query head of a group: which keys does its first query see?",
    variants=[lambda query, key, value: below_each_other(query, key, value)],
)


def below_each_other(query, key, value):
    """All the queries of a group in one long table, and one triangle over it."""
    rows = split(query, key).flatten(2, 3)
    scores = rows @ key.mT / math.sqrt(query.shape[-1])
    weights = scores.masked_fill(torch.ones_like(scores).triu(1) == 1, -torch.inf).softmax(dim=-1)
    return (weights @ value).reshape(query.shape), weights.reshape(*query.shape[:3], -1)


mistake(
    "the past forbidden",
    why="The mask is the wrong way round: each query attends to the keys after it, not to those before it.",
    masked=[filled(lambda ones: ones.tril(-1)), filled(lambda ones: ones.tril())],
)
mistake(
    "no query sees itself",
    pairs=2,
    why="The diagonal is masked too: no position may attend to itself, and the "
    "first position has no key left to attend to.",
    masked=[filled(lambda ones: ones.triu()), filled(lambda ones: ones.triu(), -1e9)],
    weights=lambda masked: masked.masked_fill(torch.ones_like(masked).triu() == 1, -torch.inf).softmax(-1).nan_to_num(),
)
mistake(
    "one key of the future",
    why="The mask begins one place too late: each query also attends to the key right after it.",
    masked=filled(lambda ones: ones.triu(2)),
)
mistake(
    "zeros for the mask",
    pairs=2,
    why="The scores that should be masked become 0, or a number near 0, before the "
    "softmax. That masks nothing: exp(0) is 1.",
    look="which score gets a weight of exactly 0?",
    masked=[
        lambda scaled: scaled.tril(),
        filled(lambda ones: ones.triu(1), 1e-9),
        filled(lambda ones: ones.triu(1), -1),
    ],
)
mistake(
    "a score of 0 taken for masked",
    why="A score of exactly 0 is taken for a masked one. But an allowed score may "
    "be 0 too: for a query of zeros, all of them are.",
    look="`== 0` after `tril` or a product with the mask: which other scores can be 0?",
    masked=[
        lambda scaled, number=number: scaled.tril().masked_fill(scaled.tril() == 0, number)
        for number in (-torch.inf, -1e9)
    ],
    variants=[
        {
            "masked": lambda scaled: scaled.tril().masked_fill(scaled.tril() == 0, -torch.inf),
            "weights": lambda right: right.nan_to_num(0.0),
        }
    ],
)
mistake(
    "a number too small",
    pairs=2,
    why="The masked scores are not negative enough: a later key still gets weight "
    "if its own score is far ahead, or if the allowed scores are low.",
    look="which score has an exponential of exactly 0, whatever the others are?",
    masked=[
        *(added(number) for number in (-100, -1000, -2, -5, -10, -20, -50, -500)),
        *(
            filled(lambda ones: ones.triu(1), number)
            for number in (-2, -5, -10, -20, -50, -100, -500, -1000, -1e4, -1e5, -1e6)
        ),
    ],
)
mistake(
    "zero times infinity",
    pairs=0,
    why="Every weight is NaN (not a number), or 0 if that replaces NaN, as when "
    "the mask is multiplied by infinity and added to the scores: 0 times infinity is NaN.",
    look="print 0 * float('inf').",
    masked=added(-torch.inf),
    variants=[{"masked": added(-torch.inf), "weights": lambda masked: masked.softmax(-1).nan_to_num()}],
)
mistake(
    "masked too late, then renormalised",
    why="Masked scores still count in the softmax, or in the largest score "
    "that is subtracted. If one of them leads by far, next to nothing is left of the allowed weights, and dividing by "
    "their sum does not bring them back.",
    look="if a masked score leads by 1,000, what are the other weights, as numbers, before you divide?",
    variants=[
        {"masked": lambda scaled: scaled, "weights": weights}
        for weights in (
            *(
                lambda masked, by=by, over=over: over(by(masked).tril())
                for by in (
                    lambda scores: scores.softmax(-1),
                    lambda scores: (scores - scores.amax(-1, keepdim=True)).exp(),
                )
                for over in (
                    shared_out,
                    lambda left: shared_out(left).nan_to_num(),
                    *(lambda left, small=small: shared_out(left, small) for small in SMALL),
                    *(lambda left, small=small: left / left.sum(-1, keepdim=True).clamp(min=small) for small in SMALL),
                )
            ),
        )
    ],
)
mistake(
    "exponentials out of range",
    pairs=0,
    why="The exponential is taken of the scores as they are. For a masked "
    "score of 1,000 it is infinite, and infinity times 0, for instance, is NaN.",
    look="what is the exponential of 1,000, times 0? And divided by itself?",
    variants=[
        {
            "masked": lambda scaled: scaled,
            "weights": lambda masked, small=small: shared_out(masked.exp() * torch.ones_like(masked).tril(), small),
        }
        for small in (0.0, 1e-9)
    ],
)
mistake(
    "the row's maximum not subtracted",
    pairs=0,
    why="The largest score of each row is not subtracted before the "
    "exponential. If all the scores of a row are around -1,000, the exponentials are all 0, and 0 / 0 is NaN.",
    look="what are the exponentials of -1,000 and -1,001? And what does softmax subtract from both first?",
    variants=[
        {"weights": lambda masked, after=after: after(shared_out(masked.exp()))}
        for after in (lambda rows: rows, lambda rows: rows.nan_to_num(0.0))
    ],
)
mistake(
    "the largest of many rows subtracted",
    pairs=0,
    why="The number that is subtracted before the exponential is "
    "the largest score of many rows, not that of each row. In a row far below it, the exponentials are all 0, and "
    "0 / 0 is NaN.",
    look="how many rows of scores do you have, and how many largest scores?",
    variants=[
        {"weights": lambda masked, dims=dims, over=over: over((masked - masked.amax(dims, keepdim=True)).exp())}
        for dims in ((0, 1, 2, 3), (1, 2, 3), (2, 3))
        for over in (shared_out, lambda left: shared_out(left).nan_to_num(0.0), lambda left: shared_out(left, 1e-9))
    ]
    + [
        {
            "masked": lambda scaled: scaled,
            "weights": lambda masked, dims=dims: shared_out((masked - masked.amax(dims, keepdim=True)).exp().tril()),
        }
        for dims in ((0, 1, 2, 3), (1, 2, 3), (2, 3))
    ],
)
mistake(
    "the mask after the softmax",
    pairs=2,
    why="The weights of later keys are set to 0 after the softmax, so all rows but the last sum to less than 1.",
    look="which keys still count in the sum that the softmax divides by?",
    variants=[{"masked": lambda scaled: scaled, "weights": lambda masked: masked.softmax(-1).tril()}],
)


def scaled_afterwards(self, query, key, value):
    key, value = self.shared(query, key, value)
    weights = self.masked(query @ key.mT).softmax(-1) / math.sqrt(query.shape[-1])
    return weights @ value, weights


mistake(
    "scaling after the softmax",
    hint=3,
    why="The weights are divided by √d_head after the softmax, so the rows sum to 1/√d_head, not to 1.",
    look="in softmax(query · key / √d_head), what is divided?",
    variants=[{"__call__": scaled_afterwards}],
)
mistake(
    "a mask for the output alone",
    hint=2,
    why="The output is computed with a mask, but the weights that you return have none.",
    look="which weights is the output computed with?",
    variants=[
        {
            "__call__": lambda self, right, step, query, key, value: (
                right[0],
                (query @ self.shared(query, key, value)[0].mT / math.sqrt(query.shape[-1])).softmax(-1),
            )
        }
    ],
)


def masked_in(place):
    """A mask on one part of the scores only."""

    def masked(right, scaled):
        scaled = scaled.clone()
        scaled[place] = right[place]
        return scaled

    return masked


mistake(
    "a mask for some of the scores",
    pairs=0,
    why="Only some heads, or some sequences of the batch, have a mask. "
    "In the others, a query attends to keys after it.",
    look="the shape of the mask, and what exactly it is applied to.",
    masked=[masked_in(place) for place in ((slice(None), 0), (slice(None), -1), (slice(None), slice(1, None)), 0, -1)],
)
mistake(
    "a mask added as True and False",
    why="The mask only shifts scores by 1, as when True and False are added to them. That masks nothing.",
    look="what number is True in a sum, and which number would mask a score?",
    masked=[
        lambda scaled: scaled + torch.ones_like(scaled).tril(),
        lambda scaled: scaled + torch.ones_like(scaled).triu(1),
    ],
)

# Scale, softmax, output
mistake = exercise.section(hint=3)
SCALE = "which size does the variance of a dot product grow with?"
mistake("no scaling", why="The scores are not divided by anything.", look=SCALE, scaled=lambda scores: scores)
mistake(
    "scaled by d, not √d",
    why="The scores are divided by d_head, or by √d_head twice.",
    look=SCALE,
    scaled=lambda scores, query: scores / query.shape[-1],
)
mistake(
    "multiplied by √d",
    why="The scores are multiplied by √d_head; they should be divided by it.",
    look=SCALE,
    scaled=lambda scores, query: scores * math.sqrt(query.shape[-1]),
)
mistake(
    "scaled by all heads together",
    pairs=2,
    why="The scores are divided by the root of the number of features in "
    "all query heads or all KV heads together, not in one head.",
    look=SCALE,
    scaled=lambda scores, query: scores / math.sqrt(query.shape[-1] * query.shape[1]),
    variants=[{"__call__": lambda query, key, value: Grouped()(query * key.shape[1] ** -0.5, key, value)}],
)
mistake(
    "scaled by another size",
    pairs=3,
    why="The scores are divided by the root of another size, such as the "
    "length, the batch or the number of heads, not of d_head.",
    look=SCALE,
    scaled=[
        lambda scores: scores / math.sqrt(scores.shape[-1]),
        lambda scores, query: scores / math.sqrt(query.shape[1]),
        lambda scores, query: scores / math.sqrt(query.shape[0]),
    ],
    variants=[
        {
            "__call__": lambda query, key, value: Grouped()(
                query * (query.shape[-1] / group_of(query, key)) ** 0.5, key, value
            )
        },
        {"__call__": lambda query, key, value: Grouped()(query * (query.shape[-1] / key.shape[1]) ** 0.5, key, value)},
    ],
)
UNTOUCHED = "what happens to the scores before the softmax, apart from the division and the mask?"
LIMITS = (1e3, 50, 1e4, 10, 20, 30, 88, 100, 500)
mistake(
    "the scores cut off",
    pairs=0,
    why="Scores beyond a limit are clamped to it, before the mask or after it, so "
    "they share the weight as if they were equal.",
    look=UNTOUCHED,
    scaled=[
        lambda right, low=low, high=high: right.clamp(low, high)
        for limit in LIMITS
        for low, high in ((-limit, limit), (None, limit), (-limit, None))
    ],
    masked=[
        lambda right, low=low, high=high: right.clamp(low, high)
        for limit in LIMITS
        for low, high in ((-limit, limit), (-limit, None))
    ],
)
mistake(
    "squashed scores",
    pairs=0,
    why="Each score goes through a tanh before the softmax, as in Gemma 2. That brings "
    "a good match and a very good one closer together.",
    look=UNTOUCHED,
    scaled=[lambda right, cap=cap: cap * (right / cap).tanh() for cap in (50, 30, 20, 15, 10, 5, 1)],
    masked=[lambda right, cap=cap: cap * (right / cap).tanh() for cap in (50, 30, 20, 15, 10, 5, 1)],
)
mistake(
    "one more in the sum",
    pairs=0,
    why="The sum in the denominator includes a number that comes from no score, "
    "such as 1, so the rows sum to less than 1.",
    look="what does each row of your weights sum to?",
    weights=[
        lambda masked: F.pad(masked, (0, 1)).softmax(-1)[..., :-1],
        lambda masked: shared_out(masked.exp(), 1.0),
        *(
            lambda masked, one=one: shared_out((masked - masked.amax(-1, keepdim=True)).exp(), one)
            for one in (1.0, 1e-2, 1e-3)
        ),
    ],
)
HALVES = (torch.bfloat16, torch.half)
mistake(
    "half precision",
    pairs=0,
    why="Half precision, which keeps only two or three digits, is used on the way to the weights or to the output.",
    look="where does the dtype change?",
    weights=[lambda right, half=half: right.to(half).double() for half in HALVES]
    + [lambda masked, half=half: masked.to(half).softmax(-1).double() for half in HALVES],
    scaled=[lambda right, half=half: right.to(half).double() for half in HALVES],
    scores=[lambda query, key, half=half: (query.to(half) @ key.to(half).mT).double() for half in HALVES],
    output=[lambda weights, value, half=half: (weights.to(half) @ value.to(half)).double() for half in HALVES],
    variants=[
        {
            "__call__": lambda step, query, key, value, half=half: tuple(
                one.double() for one in step(*(one.to(half) for one in (query, key, value)))
            )
        }
        for half in HALVES
    ],
)
mistake(
    "softmax over the queries",
    why="The softmax runs over the queries, so the columns of the weights sum to 1, not the rows.",
    look="one query's weights must sum to 1. Which dimension holds them?",
    weights=[lambda masked: masked.softmax(-2).nan_to_num(), lambda masked: masked.softmax(-2)],
)
mistake(
    "softmax over the heads",
    why="The softmax runs over the heads, so the heads compete, not the keys.",
    look="one query's weights must sum to 1. Which dimension holds them?",
    weights=[lambda masked: masked.softmax(1).nan_to_num(), lambda masked: masked.softmax(1)],
)
mistake(
    "no softmax",
    why="The scores themselves are used as weights.",
    look="what turns scores into weights?",
    weights=lambda masked: masked.nan_to_num(neginf=0.0),
)
mistake(
    "scores in place of the weights",
    pairs=0,
    why="The output is right, but you return scores in place of the weights.",
    look="which name is in the `return` line: that of the scores, or of what the softmax makes of them?",
    variants=[
        {
            "__call__": lambda self, right, query, key, value, made=made: (
                right[0],
                made(self, self.scores(query, self.shared(query, key, value)[0]), query, key),
            )
        }
        for made in (
            lambda self, scores, query, key: self.masked(self.scaled(scores, query, key)),
            lambda self, scores, query, key: self.scaled(scores, query, key),
            lambda self, scores, query, key: scores,
            lambda self, scores, query, key: self.masked(scores),
            lambda self, scores, query, key: self.masked(self.scaled(scores, query, key)).clamp(min=-1e9),
        )
    ],
)
mistake(
    "the keys reshaped, not transposed",
    pairs=0,
    why="`view` or `reshape` gives the keys the right shape, but "
    "keeps the numbers in their old order, so they are not transposed.",
    look="reshape a (2, 3) tensor of 0 … 5 to (3, 2), and compare the result with the tensor's transpose.",
    scores=lambda query, key: query @ key.reshape(*key.shape[:2], *key.shape[:1:-1]),
)
mistake(
    "queries and keys exchanged",
    why="Queries and keys are swapped, so each row of scores is that of a key.",
    look="the softmax compares the scores in one row. Should these be the scores of one query or of one key?",
    scores=lambda query, key: key @ query.mT,
)
mistake(
    "keys and values exchanged",
    pairs=2,
    why="The queries are compared with the values and the keys are averaged, or one of the two plays both roles.",
    look="which of the two should the queries be compared with, and which should be averaged?",
    variants=[
        {"__call__": lambda step, query, key, value: step(query, value, key)},
        {"__call__": lambda step, query, key, value: step(query, key, key)},
        {"__call__": lambda step, query, key, value: step(query, value, value)},
    ],
)
mistake(
    "dropout",
    pairs=0,
    why="Some of the weights, or some numbers of the output, are 0 and the others are "
    "enlarged, as dropout does. This exercise has no dropout.",
    look="is there dropout in your code? `F.dropout` is on unless `training=False` is set.",
    weights=[lambda right, rate=rate: F.dropout(right, rate) for rate in (0.1, 0.2, 0.5)],
    output=lambda right: F.dropout(right, 0.1),
)
mistake(
    "weights transposed for the output",
    why="The output uses the columns of the weights instead of the rows: how "
    "much each key is attended to, not how each query spreads its attention. And a column need not sum to 1.",
    look="which weights should go into row 0 of the output, and which ones do?",
    output=lambda weights, value: weights.mT @ value,
)
mistake(
    "the heads behind the positions",
    why="In the output, the heads are moved behind the positions, or joined side "
    "by side. That step comes after this function.",
    look="compare the shape of your output with the one in the exercise.",
    handed=[lambda output: output.transpose(1, 2).flatten(2), lambda output: output.transpose(1, 2)],
)
