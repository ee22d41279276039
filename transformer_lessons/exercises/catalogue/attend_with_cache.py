"""attend_with_cache, of lesson 12: new tokens attend to the kept keys and values, and to themselves."""

import math

import torch
import torch.nn.functional as F

from transformer_lessons import attention
from transformer_lessons.exercises.catalogue import attention_family as shared
from transformer_lessons.exercises.catalogue.online_softmax import (
    LOOK_ROWS_OF_NAN,
    ROWS_OF_NAN,
    far_below,
    signs_of_lost_rows,
)
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal


def draw(generator, batch, heads, past, new, d_head, d_v, loud=1.0, level=0.0, far=0, silent=False):
    """A cache, and what comes after it. The last new key leads where loud; level is added to every score.

    Where far is -1 or 1, all scores are far below 0 or far above it, far apart, and rise from key to key. Where silent,
    the first query is zero.
    """
    query, new_key = normal(generator, batch, heads, new, d_head), normal(generator, batch, heads, new, d_head)
    key = normal(generator, batch, heads, past, d_head)
    if silent:
        query[:, :, 0] = 0.0
    if loud > 1:
        new_key[:, :, -1] = loud * query[:, :, 0]
    if level:
        query[..., 0], key[..., 0], new_key[..., 0] = math.sqrt(d_head), level, level
    if far:
        query[..., 0] = math.sqrt(d_head)
        scores = (-far * far_below(generator, batch, heads, past + new)).sort().values
        key[..., 0], new_key[..., 0] = scores[..., :past], scores[..., past:]
    return (query, key, normal(generator, batch, heads, past, d_v), new_key, normal(generator, batch, heads, new, d_v))


NAMES = "batch", "heads", "past", "new", "d_head", "d_v"
SIZES = [
    (1, 2, 3, 1, 4, 5),
    (1, 1, 0, 3, 4, 2),
    (2, 3, 4, 1, 5, 6),
    (2, 3, 5, 4, 6, 7),
    (2, 2, 3, 3, 3, 3),
    (3, 2, 1, 6, 5, 4),
    (2, 2, 4, 4, 4, 4),
    (2, 1, 7, 2, 3, 5),
    (3, 4, 0, 5, 2, 6),
    (3, 3, 0, 3, 3, 3),
]


def sums_to_one(call, query, keys, values, new_key, new_value):
    """The numbers are right, but is anything added to the sum that float32 would show?"""
    if keys.shape[2]:
        return None
    output = call(query[:, :, :1], keys, values, new_key[:, :, :1], torch.ones_like(new_value[:, :, :1]))[0]
    return None if bool((torch.as_tensor(output) - 1).abs().max() < 3e-8) else ("a sum slightly off", OFF, LOOK_OFF)


OFF = (
    "The numbers are nearly right, but not exactly. A first token, which sees only itself, should get its own "
    "value, but it gets a little more or less, as when a small number such as 1e-6 is added to the sum."
)
LOOK_OFF = "what should the weights of a token sum to, and can the sum of the exponentials ever be 0?"


def keeps_a_long_cache(call, query, keys, values, new_key, new_value):
    """The cache of 7 tokens, twenty times over, with values that grow: is everything still kept, and seen?"""
    if keys.shape[2] != 7:
        return None
    keys, values = keys.repeat(1, 1, 20, 1), values.repeat(1, 1, 20, 1) * torch.linspace(0, 1, 140).to(values)[:, None]
    found, right = (
        map(torch.as_tensor, answer(query, keys, values, new_key, new_value)) for answer in (call, WithCache())
    )
    same = all(
        one.shape == other.shape and torch.allclose(one, other, atol=1e-4)
        for one, other in zip(found, right, strict=True)
    )
    return None if same else ("a long cache cut short", CUT_SHORT, LOOK_CUT_SHORT)


CUT_SHORT = (
    "With short caches the numbers are right, but not with one of 140 tokens, as when only the latest tokens "
    "are kept or seen."
)
LOOK_CUT_SHORT = "is there a fixed number in your code, such as a longest length or a window?"

exercise = Exercise(
    name="attend_with_cache",
    lesson=12,
    title="Attention with a cache",
    difficulty=2,
    importance=3,
    minutes=12,
    contract="""
        attend_with_cache(query, keys, values, new_key, new_value) returns (output, keys, values). The cache holds
        keys (batch, heads, past, d_head) and values (batch, heads, past, d_v), and past may be 0. The new tokens bring
        query and new_key (batch, heads, new, d_head) and new_value (batch, heads, new, d_v), with new ≥ 1. The
        returned keys and values are the old ones followed by the new ones. The output (batch, heads, new, d_v) is
        scaled dot-product attention in which each new token sees all old tokens, the new ones before it, and itself.
        The function must work for scores of any magnitude. The inputs stay as they are.
        """,
    stub='''
        def attend_with_cache(query, keys, values, new_key, new_value):
            """(output, keys, values): the new tokens join the cache, and attend causally to all of it."""
            raise NotImplementedError
        ''',
    sizes=[dict(zip(NAMES, sizes, strict=True)) for sizes in SIZES]
    + [
        dict(zip(NAMES, (2, 2, 3, 4, 5, 6), strict=True), **more)
        for more in ({"loud": 30.0}, {"loud": 1000.0}, {"level": -1000.0}, {"far": -1}, {"silent": True}, {"far": 1})
    ],
    draw=draw,
    reference=lambda *inputs: WithCache()(*inputs),
    returns=("output", "keys", "values"),
    names_steps=False,
    checks=[sums_to_one, keeps_a_long_cache],
    signs=lambda observed, expected, *inputs: (
        signs_of_lost_rows(observed[0], expected[0]) if isinstance(observed, tuple) and len(observed) == 3 else []
    ),
    shapes={
        "output": "(batch, heads, new, d_v)",
        "keys": "(batch, heads, past + new, d_head)",
        "values": "(batch, heads, past + new, d_v)",
    },
    hints=[
        (
            "what is kept",
            "In keys and values, the second-to-last dimension runs over the positions. "
            "The new keys and values go after the old ones. Which function joins two tensors along a dimension?",
        ),
        (
            "who sees whom",
            "With 3 old tokens and 2 new ones, write down the mask by hand: two rows, five columns. "
            "In which column is the last True of the first row? What number must you pass to tril?",
        ),
        (
            "the attention itself",
            "This is the masked attention of lesson 6. Divide each dot product of a query and "
            "a key by √d_head, and apply the mask. Then take the softmax over all the keys, and average all the "
            "values with these weights.",
        ),
    ],
    solution="""
        import math

        import torch


        def attend_with_cache(query, keys, values, new_key, new_value):
            past, new = keys.shape[-2], query.shape[-2]
            keys, values = torch.cat([keys, new_key], dim=-2), torch.cat([values, new_value], dim=-2)
            scores = query @ keys.mT / math.sqrt(query.shape[-1])
            allowed = torch.ones(new, past + new, dtype=torch.bool).tril(past)
            weights = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
            return weights @ values, keys, values
        """,
)


def ones(new, total):
    return torch.ones(new, total, dtype=torch.bool)


@exercise.right("step by step")
class WithCache(shared.Attending, Steps):
    def __call__(self, query, keys, values, new_key, new_value):
        keys, values = self.extended(keys, values, new_key, new_value)
        output, _ = self.attend(query, keys, values)
        return self.handed_back(output, keys, values, new_key, new_value)

    def attend(self, query, key, value):
        query, key, value = self.roles(query, key, value)
        scaled = self.scaled(self.scores(query, key, value), query, key, value)
        weights = self.weights(self.visible(self.masked(scaled)))
        return self.output(weights, value, query), weights

    def extended(self, keys, values, new_key, new_value):
        return torch.cat([keys, new_key], dim=2), torch.cat([values, new_value], dim=2)

    def scores(self, query, key, value):
        return query @ key.mT

    def scaled(self, scores, query, key, value):
        return scores / math.sqrt(query.shape[-1])

    def visible(self, masked):
        return masked.masked_fill(~self.allowed(*masked.shape[-2:]), -torch.inf)

    def allowed(self, new, total):
        return ones(new, total).tril(total - new)

    def weights(self, scaled):
        return scaled.softmax(dim=-1)

    def output(self, weights, value, query):
        return weights @ value

    def handed_back(self, output, keys, values, new_key, new_value):
        return output, keys, values


# Who sees whom
mistake = exercise.section(hint=2)
mistake(
    "the new tokens see the future",
    why="New tokens see those that come after them: the mask is missing, at least "
    "in some cases, or it has no effect. A single new token needs no mask, but a prompt is read in one go.",
    look="with two new tokens, may the first see the second? Print the mask, and the scores after it has been applied.",
    allowed=lambda new, total: ones(new, total),
    variants=[
        lambda *inputs: (lambda keys, values: (F.scaled_dot_product_attention(inputs[0], keys, values), keys, values))(
            torch.cat([inputs[1], inputs[3]], 2), torch.cat([inputs[2], inputs[4]], 2)
        )
    ],
)
mistake(
    "the mask starts at the first key",
    why="The mask treats the first new token as token 0, as `tril()` and "
    "PyTorch's is_causal=True do, so the first new token sees only the first key.",
    look="with 3 old tokens, how many keys may the first new one see?",
    allowed=lambda new, total: ones(new, total).tril(),
)
mistake(
    "no mask while the cache is empty",
    why="A prompt that is read into an empty cache is not masked, so its tokens see those that come after them.",
    look="is the mask applied under a condition on the cache or its length?",
    allowed=lambda right, new, total: ones(new, total) if new == total else right,
)
mistake(
    "no mask once the cache holds something",
    why="With an empty cache the mask is right, but once the cache holds "
    "something, new tokens see those that come after them.",
    look="is the mask applied under a condition on the cache or its length?",
    allowed=lambda right, new, total: right if new == total else ones(new, total),
)
mistake(
    "no mask for two new tokens",
    why="Two new tokens are not masked, so the first sees the second.",
    pairs=0,
    look="with two new tokens, may the first see the second?",
    allowed=lambda right, new, total: right if new > 2 else ones(new, total),
)
mistake(
    "a square mask",
    pairs=0,
    why="Once the cache holds something, several new tokens at once raise an error, as "
    "with a square mask: it has one row and one column for each new token, or for each key, but the scores have a "
    "row for each new token and a column for each key.",
    look="with 3 old tokens and 2 new ones, what shape do the scores have, and what shape does the mask have?",
    visible=[
        lambda masked: masked.masked_fill(~ones(*2 * masked.shape[-2:-1]).tril(), -torch.inf),
        lambda masked: (
            masked.masked_fill(~ones(*2 * masked.shape[-1:]).tril(), -torch.inf) if masked.shape[-2] > 1 else masked
        ),
    ],
)
mistake(
    "the cache counted twice",
    why="The mask is shifted by twice the number of old tokens, so new tokens see "
    "those that come after them. This happens, for instance, when positions start again at the first new key.",
    pairs=0,
    look="the number that you give to tril or triu, or the positions that you compare: from which column do they "
    "count?",
    allowed=lambda new, total: ones(new, total).tril(2 * (total - new)),
)
mistake(
    "the diagonal missing",
    why="A new token sees what came before it, but not itself, at least in some cases.",
    look="how many of all the keys should the last new token see?",
    allowed=lambda new, total: ones(new, total).tril(total - new - 1),
    variants=[
        {
            "allowed": lambda new, total: ones(new, total).tril(total - new - 1),
            "weights": lambda right: right.nan_to_num(0.0),
        },
        {"allowed": lambda new, total: ones(new, total).tril(total - new - 1).index_fill(1, torch.tensor(0), True)},
    ],
)
mistake(
    "one step into the future",
    why="Each new token also sees the one right after it.",
    look="the number that you give to tril, or compare positions with.",
    allowed=lambda new, total: ones(new, total).tril(total - new + 1),
)
mistake(
    "the later for the earlier",
    pairs=0,
    why="New tokens see the keys that come after them, and miss some or all "
    "of the earlier ones: the triangle lies on the wrong side.",
    look="each row is a query: which keys may the first new token see?",
    allowed=[
        lambda new, total: ones(new, total).triu(total - new),
        lambda new, total: ones(new, total).triu(),
        lambda new, total: ~ones(new, total).tril(total - new),
        lambda new, total: torch.cat([ones(new, total - new), ones(new, new).triu()], dim=1),
    ],
    variants=[
        {
            "allowed": lambda new, total: ~ones(new, total).tril(total - new),
            "weights": lambda right: right.nan_to_num(0.0),
        }
    ],
)
mistake(
    "shifted by the new tokens, not the old",
    pairs=0,
    why="The mask is shifted by the number of new tokens, not by the number of old ones, at least in some cases.",
    look="with 3 old tokens and 2 new ones, how many keys may the first new one see?",
    allowed=[
        lambda new, total: ones(new, total).tril(new),
        lambda new, total: ones(new, total).tril(max(new, total - new)),
    ],
)
mistake(
    "shifted by the heads",
    pairs=0,
    why="The mask is shifted by the number of heads (dimension 1 of `keys`), not by the number of old tokens.",
    look="with 3 old tokens and 2 new ones, by how many columns should the mask "
    "be shifted? And which dimension of `keys` has that size?",
    visible=lambda masked: masked.masked_fill(~ones(*masked.shape[-2:]).tril(masked.shape[1]), -torch.inf),
)
mistake(
    "shifted by the batch or the features",
    pairs=0,
    why="The mask is shifted by the size of the batch or by a number of features, not by the number of old tokens.",
    look="with 3 old tokens and 2 new ones, by how many "
    "columns should the mask be shifted? And which dimension of `keys` has that size?",
    variants=[
        lambda *inputs, size=size: shifted_by(*inputs, size(*inputs[:3]))
        for size in (
            lambda query, keys, values: values.shape[3],
            lambda query, keys, values: keys.shape[3],
            lambda query, keys, values: keys.shape[0],
        )
    ],
)


def shifted_by(query, keys, values, new_key, new_value, number):
    keys, values = joined(keys, values, new_key, new_value)
    mask = ones(query.shape[2], keys.shape[2]).tril(number)
    return F.scaled_dot_product_attention(query, keys, values, mask), keys, values


mistake(
    "the triangle over the oldest keys",
    pairs=0,
    why="The triangle that belongs over the new keys lies over the "
    "first ones, so all the later keys are seen, the future included.",
    look="with 3 old tokens and 2 new ones, which two columns of the mask need a triangle?",
    allowed=lambda new, total: torch.cat([ones(new, new).tril(), ones(new, total - new)], dim=1),
)
mistake(
    "the mask slides",
    pairs=0,
    why="The far edge of the mask moves along with the query, so some new tokens do not see the first keys.",
    look="how many keys may the first new token see, and how many the second?",
    allowed=[
        lambda right: right.triu(),
        lambda right, new, total: right.triu(-(total == new)),
        lambda right, new, total: right if total == new else right.triu(1),
    ],
)
mistake(
    "only itself while the cache is empty",
    pairs=0,
    why="While the cache is empty, each new token sees only itself, so its own value comes back.",
    look="what does your code do when `past` is 0, and which tokens should see each other then?",
    allowed=lambda right, new, total: torch.eye(new, dtype=torch.bool) if new == total else right,
)
mistake(
    "only the first new token sees the cache",
    pairs=0,
    why="The first new token sees the old tokens, but those after it see only new ones.",
    look="the second new token: where does its row of the mask begin, or its slice of the keys?",
    allowed=lambda right, new, total: (
        right & ((torch.arange(total) >= total - new) | (torch.arange(new) == 0)[:, None])
    ),
)
mistake(
    "a softmax for the old tokens and one for the new",
    pairs=0,
    why="Old and new tokens get a softmax each, and "
    "the two outputs are averaged or added up. So the scores of the old tokens never compete with those of the new "
    "ones.",
    look="over how many keys does each softmax run, and over how many should it?",
    variants=[lambda *inputs, share=share: apart(*inputs, share) for share in (0.5, 1.0)],
)


def apart(query, keys, values, new_key, new_value, share):
    made = F.scaled_dot_product_attention(query, new_key, new_value, is_causal=True)
    if keys.shape[2]:
        made = share * (made + F.scaled_dot_product_attention(query, keys, values))
    return made, *joined(keys, values, new_key, new_value)


mistake(
    "only the old tokens",
    why="The new tokens attend only to what was already in the cache, neither to themselves nor to each other.",
    look="is the cache extended before the attention, or after it?",
    allowed=lambda new, total: torch.arange(total).expand(new, total) < total - new,
    variants=[
        lambda query, keys, values, new_key, new_value: (
            attention.scaled_dot_product_attention(query, keys, values)[0],
            *joined(keys, values, new_key, new_value),
        )
    ],
)
mistake(
    "only the new tokens",
    why="The new tokens attend only to new tokens: what the cache holds is kept, but never seen.",
    look="which keys meet the query: all of them, or only the new ones?",
    pairs=2,
    allowed=lambda right, new, total: right & (torch.arange(total) >= total - new),
    variants=[
        lambda query, keys, values, new_key, new_value: (
            F.scaled_dot_product_attention(query, new_key, new_value),
            *joined(keys, values, new_key, new_value),
        )
    ],
)
mistake(
    "new tokens see only themselves and the past",
    why="A new token sees all old tokens and itself, but not the new ones before it.",
    look="with two new tokens, may the second see the first?",
    allowed=lambda new, total: (
        (torch.arange(total) < total - new) | (torch.arange(total) == torch.arange(total - new, total)[:, None])
    ),
)
mistake(
    "every new token sees only what the first may see",
    why="All the new tokens see only what the first one may "
    "see, so whatever comes after the first is hidden from all of them.",
    look="with two new tokens, may the second see itself? And how many rows does your mask have?",
    allowed=lambda new, total: (torch.arange(total) <= total - new).expand(new, total),
)
mistake(
    "the oldest token dropped",
    why="The first key of the cache is hidden from every new token, as when a window "
    "slides on, or a slice starts at 1.",
    look="every slice of the keys, and every mask: which key do they start with?",
    pairs=0,
    allowed=lambda right, new, total: right & ((torch.arange(total) > 0) | (total == 1) | (new == total)),
)
mistake(
    "masked after the softmax",
    why="The forbidden weights are set to 0 after the softmax, so where there are any, a row no longer sums to 1.",
    look="the order of the mask and the softmax.",
    pairs=0,
    variants=[
        {
            "visible": lambda masked: masked,
            "weights": lambda self, scaled: scaled.softmax(-1) * self.allowed(*scaled.shape[-2:]),
        }
    ],
)
mistake(
    "a score of 0 for the forbidden",
    why="Forbidden scores become 0, and exp(0) is 1, so the future still gets weight.",
    look="which score has an exponential of exactly 0?",
    pairs=2,
    visible=[lambda self, masked: masked * self.allowed(*masked.shape[-2:])],
)
ADDED = (
    "The mask is added to the scores as 1s or -1s, as F.scaled_dot_product_attention does with a mask of floats. "
    "That hides nothing.",
    "which keys does adding 1 to a score hide? And what is the dtype of your mask?",
)
mistake(
    "the mask added to the scores",
    *ADDED,
    pairs=2,
    visible=[
        lambda self, masked: masked + ~self.allowed(*masked.shape[-2:]),
        lambda self, masked: masked + self.allowed(*masked.shape[-2:]),
    ],
)
mistake(
    "a score of 0 taken for masked",
    why="A score of exactly 0 is taken for a masked one. But an allowed score may "
    "be 0 too: for a query of zeros, all of them are.",
    look="`== 0` after `tril` or a product with the mask: which other scores can be 0?",
    visible=[
        lambda self, masked, low=low: zeros_hidden(masked * self.allowed(*masked.shape[-2:]), low)
        for low in (-torch.inf, -1e4)
    ],
)


def zeros_hidden(scores, low):
    return scores.masked_fill(scores == 0, low)


mistake(
    "a number too small for the forbidden",
    why="Forbidden scores are replaced by a number such as -10, -1e4 or "
    "-1e9, or have such a number added. Where the allowed scores are low enough, the forbidden ones still get "
    "weight.",
    look="what if the scores are about -1e11? Which number is below every score, and has an exponential of exactly 0?",
    pairs=2,
    visible=[
        change
        for low in (-1e4, -5.0, -10.0, -100.0, -1e3)
        for change in (
            lambda self, masked, low=low: masked.masked_fill(~self.allowed(*masked.shape[-2:]), low),
            lambda self, masked, low=low: masked + low * ~self.allowed(*masked.shape[-2:]),
        )
    ]
    + [lambda self, masked: masked.masked_fill(~self.allowed(*masked.shape[-2:]), -1.0)],
)


def joined(keys, values, new_key, new_value, dim=2):
    return torch.cat([keys, new_key], dim=dim), torch.cat([values, new_value], dim=dim)


mistake(
    "the new keys ask",
    why="The new keys take the place of the queries in the scores, so the numbers in `query` play no part.",
    hint=3,
    pairs=0,
    look="where does `query` appear in your code?",
    variants=[lambda query, keys, values, new_key, new_value: WithCache()(new_key, keys, values, new_key, new_value)],
)

# What is kept
mistake = exercise.section(hint=1)
mistake(
    "the new before the old",
    why="The new keys and values are put before the old ones. They are the latest, so they belong at the end.",
    look="the order in which old and new are joined.",
    extended=lambda keys, values, new_key, new_value: joined(new_key, new_value, keys, values),
)
mistake(
    "joined along another dimension",
    raises=True,
    why="Old and new are joined along the batch, the heads or the features. Only the number of positions should grow.",
    look="which dimension of (batch, heads, length, d_head) counts tokens?",
    pairs=0,
    extended=[
        lambda keys, values, new_key, new_value, dim=dim: joined(keys, values, new_key, new_value, dim)
        for dim in (1, 0, 3)
    ],
)
mistake(
    "the query kept",
    why="The query is put into the cache of keys, where the new key belongs.",
    pairs=0,
    look="which of its three vectors should a token leave behind for those after it?",
    variants=[lambda query, keys, values, new_key, new_value: WithCache()(query, keys, values, query, new_value)],
)
mistake(
    "only keys or only values kept",
    why="Once the cache holds something, your code raises an error, as when only "
    "the old keys are kept, or only the old values. There must be as many keys as values.",
    look="do you treat keys and values in the same way?",
    pairs=0,
    extended=[
        lambda keys, values, new_key, new_value: (torch.cat([keys, new_key], dim=2), new_value),
        lambda keys, values, new_key, new_value: (new_key, torch.cat([values, new_value], dim=2)),
    ],
)
mistake(
    "only keys or only values added",
    raises=True,
    why="Only the new keys are appended, or only the new values. There must be as many keys as values.",
    look="do you treat keys and values in the same way?",
    pairs=0,
    extended=[
        lambda keys, values, new_key, new_value: (torch.cat([keys, new_key], dim=2), values),
        lambda keys, values, new_key, new_value: (keys, torch.cat([values, new_value], dim=2)),
    ],
)
mistake(
    "the old cache handed back",
    why="The keys or values that you return are those that came in. The new ones are "
    "lost, and the next token will not see them.",
    look="the names in the `return` line.",
    handed_back=lambda right, new_key: (right[0], *(one[:, :, : -new_key.shape[2]] for one in right[1:])),
)
mistake(
    "the scale kept in the cache",
    pairs=0,
    why="The new keys, or all of them, are returned divided by √d_head. "
    "It is the scores that should be scaled; the keys should be kept as they are.",
    look="where do you divide by √d_head, and what do you return afterwards?",
    variants=[
        {
            "extended": lambda keys, values, new_key, new_value: joined(
                keys, values, new_key / math.sqrt(new_key.shape[-1]), new_value
            ),
            "scaled": lambda scores: scores,
        }
    ],
    handed_back=[
        lambda right, new_key: (
            right[0],
            torch.cat([right[1][:, :, : -new_key.shape[2]], new_key / math.sqrt(new_key.shape[-1])], 2),
            right[2],
        ),
        lambda right, new_key: (right[0], right[1] / math.sqrt(new_key.shape[-1]), right[2]),
    ],
)
mistake(
    "the last new token not handed back",
    pairs=0,
    why="The last new token is missing from the keys and values that you return, at least when the cache was empty.",
    look="every slice such as `:-1`, and every condition on the cache.",
    handed_back=[
        lambda output, keys, values: (output, keys[:, :, :-1], values[:, :, :-1]),
        lambda right, new_key: (
            right if new_key.shape[2] < right[1].shape[2] else (right[0], right[1][:, :, :-1], right[2][:, :, :-1])
        ),
    ],
)
mistake(
    "only the new handed back",
    why="You return only the new keys and values, so the old ones are lost for the next token.",
    look="the names in the `return` line.",
    handed_back=lambda output, new_key, new_value: (output, new_key, new_value),
)
mistake(
    "keys and values handed back in the wrong order",
    why="The values are returned as the keys, and the keys as the values.",
    look="the names in the `return` line.",
    handed_back=lambda output, keys, values: (output, values, keys),
)
mistake(
    "only the output",
    why="Only the output is returned; the extended keys and values are needed for the next token.",
    look="how many results does the exercise name?",
    handed_back=lambda output: output,
    pairs=0,
)
mistake(
    "the cache before the output",
    why="The three results are in the wrong order: it should be output, keys, values.",
    look="the `return` line.",
    pairs=0,
    handed_back=[
        lambda output, keys, values: (keys, values, output),
        lambda output, keys, values: (keys, output, values),
    ],
)
mistake(
    "the cache in a pair of its own",
    why="The keys and values come back as one pair; three results are expected.",
    look="the brackets in the `return` line.",
    pairs=0,
    handed_back=lambda output, keys, values: (output, (keys, values)),
)
mistake(
    "only the last new token kept or answered",
    why="When several new tokens come at once, only the last is kept, or only the last gets an output.",
    look="every `[..., -1:, :]`, and anything that a loop overwrites: a prompt brings many tokens.",
    pairs=0,
    variants=[
        {"handed_back": lambda output, keys, values: (output[:, :, -1:], keys, values)},
        {
            "extended": lambda keys, values, new_key, new_value: joined(
                keys, values, new_key[:, :, -1:], new_value[:, :, -1:]
            )
        },
    ],
)
mistake(
    "new keys and new values mixed up",
    pairs=0,
    why="New values are appended to the keys, or new keys to the values.",
    look="the order of the parameters, and which tensor is appended to which.",
    extended=[
        lambda keys, values, new_key, new_value: joined(keys, values, new_key, new_key),
        lambda keys, values, new_key, new_value: joined(keys, values, new_value, new_key),
        lambda keys, values, new_key, new_value: joined(keys, values, new_value, new_value),
    ],
)
mistake(
    "an old token not kept",
    pairs=0,
    why="The first or the last of the old keys and values is left out; the new ones follow the rest.",
    look="every `[:-1]` and `[1:]`: how many keys should there be afterwards?",
    extended=[
        lambda keys, values, new_key, new_value: joined(keys[:, :, :-1], values[:, :, :-1], new_key, new_value),
        lambda keys, values, new_key, new_value: joined(keys[:, :, 1:], values[:, :, 1:], new_key, new_value),
    ],
)
mistake(
    "an empty cache not expected",
    pairs=0,
    why="Your code fails when the cache is empty, as it is for the first tokens: `past` is then 0.",
    look="which line needs at least one old token?",
    extended=[
        lambda right, keys, error=error: right if keys.shape[2] else refused(error)
        for error in (RuntimeError, IndexError, ValueError)
    ],
)


def refused(error):
    raise error


mistake(
    "only the first new token kept",
    pairs=0,
    why="When several new tokens come at once, only the first of them is added to the cache.",
    look="every `[:, :, 0]` and `[:, :, :1]`: a prompt brings many tokens.",
    variants=[
        {
            "extended": lambda keys, values, new_key, new_value: joined(
                keys, values, new_key[:, :, :1], new_value[:, :, :1]
            ),
            "visible": lambda masked: masked,
        },
        {
            "extended": lambda keys, values, new_key, new_value: joined(
                keys, values, new_key[:, :, :1], new_value[:, :, :1]
            ),
            "visible": lambda masked: masked,
            "handed_back": lambda output, keys, values: (output[:, :, :1], keys, values),
        },
    ],
)
mistake(
    "the heads merged",
    pairs=0,
    why="The heads of the output are merged: it is (batch, new, heads · d_v), where "
    "(batch, heads, new, d_v) is expected.",
    look="the shape of the output in the exercise.",
    handed_back=lambda output, keys, values: (output.transpose(1, 2).flatten(2), keys, values),
)
mistake(
    "the weights for the output",
    pairs=0,
    why="The weights are returned in place of the output, so the values play no part in it.",
    look="what are the weights multiplied by at the end?",
    output=lambda weights: weights,
)
mistake(
    "the last keys overwritten",
    why="The new keys and values take the place of the last ones in the cache. They should come after them.",
    look="how many keys should there be afterwards?",
    pairs=0,
    extended=lambda keys, values, new_key, new_value: joined(
        keys[:, :, : -new_key.shape[2] or None], values[:, :, : -new_key.shape[2] or None], new_key, new_value
    ),
)
mistake(
    "the window slides",
    why="For each new key, the oldest one is dropped from the cache, so the first tokens are forgotten.",
    look="how many keys should there be afterwards?",
    pairs=0,
    extended=lambda keys, values, new_key, new_value: joined(
        keys[:, :, new_key.shape[2] :], values[:, :, new_key.shape[2] :], new_key, new_value
    ),
)

mistake(
    "a cache of fixed size",
    why="Only the latest few keys and values are kept, as in a rolling cache; the exercise keeps all of them.",
    look="how many keys should there be afterwards?",
    pairs=0,
    handed_back=[
        lambda output, keys, values, new_key, size=size, new=new: (
            output,
            *(one[:, :, -max(size, new_key.shape[2] if new else 0) :] for one in (keys, values)),
        )
        for size in (4, 2, 3, 5)
        for new in (True, False)
    ],
    extended=lambda right, new_key: tuple(one[:, :, -max(4, new_key.shape[2]) :] for one in right),
)

# The scale, and what else people do to scores, weights and values
mistake = exercise.section(hint=3)
mistake(
    "no transpose of the key",
    pairs=0,
    why="The query is multiplied by the keys as they stand, which works only where sizes happen to agree.",
    look="`a @ b` takes rows of a and columns of b. Are the keys rows or columns?",
    scores=lambda query, key: query @ key,
)
NOT_HERE = (
    "no transpose of the key",  # there is a mask here, two leading dimensions, and no weights to hand back
    "a causal mask",
    "a causal mask for the output alone",
    "a mask on what came before",
    "zeros for a mask",
    "no query may attend to its own position",
    "works with one leading dimension only",
    "works with two leading dimensions only",
    "works without leading dimensions only",
    "softmax over dimension 2",
    "softmax over the dimension before the queries",
    "softmax without a dimension",
    "one result twice",
    "only one row of the weights",
    "the scores for the weights",
    "weights returned transposed",
    "weights averaged over the batch or the heads",
    "the best match for the output",
    "the plain average of the values",
    "a number added to the sum",
)
mistake(
    "no scaling",
    why="The scores are not divided by √d_head.",
    look="lesson 3: what is done to the dot products?",
    scaled=lambda scores: scores,
)
mistake(
    "scaled by d, not √d",
    why="The scores are divided by d_head, not by its square root.",
    look="lesson 3: what is the standard deviation of a dot product?",
    scaled=lambda scores, query: scores / query.shape[-1],
)
mistake(
    "multiplied by √d",
    why="The scores are multiplied by √d_head; they should be divided by it.",
    look="should the scores get larger or smaller?",
    scaled=lambda scores, query: scores * math.sqrt(query.shape[-1]),
)
for name, what, scaled in shared.DIVISORS:
    if name not in ("scaled by dimension 2", "scaled by the number of dimensions"):  # new ones; always 4
        mistake(
            name,
            why=f"The scores are divided by {what}, not by √d_head.",
            look="print the divisor. For a query of 8 features it should be 2.83.",
            pairs=0,
            scaled=scaled,
        )

mistake(
    "the maximum of forbidden keys",
    pairs=0,
    why="The largest score is subtracted, or the softmax taken, before "
    "the mask is applied, so the largest score may be that of a forbidden key. Where it is far above the others, "
    "the exponentials of all the allowed scores are 0, and so is their sum.",
    look="over which keys does the maximum or the softmax run, and when is the mask applied?",
    variants=[
        {"visible": lambda masked: masked, "weights": lambda self, scaled: shifted(self, scaled)},
        {"visible": lambda masked: masked, "weights": lambda self, scaled: shifted(self, scaled).nan_to_num(0)},
        *(
            {
                "visible": lambda masked: masked,
                "weights": lambda self, scaled, small=small: shifted(self, scaled, small),
            }
            for small in (1e-12, 1e-10, 1e-9, 1e-8)
        ),
        *(
            {
                "visible": lambda masked: masked,
                "weights": lambda self, scaled, low=low: divided_again(
                    scaled.softmax(-1) * self.allowed(*scaled.shape[-2:]), low
                ),
            }
            for low in (1e-12, 1e-9, 1e-8)
        ),
    ],
)


def divided_again(weights, low):
    return weights / weights.sum(-1, keepdim=True).clamp(min=low)


def shifted(self, scores, small=0.0):
    """A softmax by hand whose maximum runs over all keys; a small number may be added to the sum."""
    raised = (scores - scores.amax(-1, keepdim=True)).exp() * self.allowed(*scores.shape[-2:])
    return raised / (raised.sum(-1, keepdim=True) + small)


mistake(
    "the first head for all",
    pairs=0,
    why="All heads use the keys of the first head, its values or both. Each head has its own.",
    look="which dimension of `keys` holds the heads, and does your code index it?",
    variants=[
        lambda query, keys, values, new_key, new_value, which=which: with_first_head(
            query, *joined(keys, values, new_key, new_value), which
        )
        for which in ("k", "v", "kv")
    ],
)


def with_first_head(query, keys, values, which):
    own = [one[:, :1].expand_as(one) if name in which else one for name, one in (("k", keys), ("v", values))]
    mask = ones(query.shape[2], keys.shape[2]).tril(keys.shape[2] - query.shape[2])
    return F.scaled_dot_product_attention(query, *own, mask), keys, values


mistake(
    "rows of NaN",
    why=ROWS_OF_NAN,
    look=LOOK_ROWS_OF_NAN,
    pairs=0,
    variants=[
        {"weights": lambda scaled, over=over: divided((scaled - scaled.amax(over, keepdim=True)).exp())}
        for over in ((0, 1, 2, 3), (1, 2, 3), (2, 3))
    ],
)
mistake(
    "a limit for the scores in place of the maximum",
    pairs=0,
    why="No maximum is subtracted before exp. The "
    "scores are cut to an upper limit instead, so those above it get equal weights. And for scores of -1000 all "
    "the exponentials are 0, so the division gives NaN (not a number).",
    look="if two scores lie above your limit, one far above the other, which weights should they get? And what is "
    "exp(-1000)?",
    weights=[lambda scaled, most=most: divided(scaled.clamp(max=most).exp()) for most in (80, 10, 20)],
)
mistake(
    "a maximum never below 0",
    pairs=0,
    why="What is subtracted before exp is never less than 0, even where all "
    "the scores are negative. For scores of -1000, the exponentials are then all 0, and so is their sum.",
    look="when the scores are -1000 and -1001, what does your code subtract, and which exponentials are left?",
    weights=[
        lambda scaled: divided((scaled - scaled.amax(-1, keepdim=True).clamp(min=0)).exp()),
        lambda scaled: divided((scaled - scaled.amax(-1, keepdim=True).clamp(min=0)).exp()).nan_to_num(0),
    ],
)


def divided(raised):
    return raised / raised.sum(-1, keepdim=True)


mistake(
    "no maximum subtracted",
    pairs=0,
    why="No maximum is subtracted before exp: for scores of 1000 the "
    "exponentials are infinite, and for scores of -1000 they are all 0, so the division gives NaN (not a number).",
    look="what is exp(1000), and what is exp(-1000)?",
    variants=[
        {"weights": lambda scaled: scaled.exp() / scaled.exp().sum(-1, keepdim=True)},
        {"visible": lambda masked: masked, "weights": lambda self, scaled: unshifted(self, scaled)},
    ],
)

mistake(
    "a long cache cut short",
    pairs=0,
    why=CUT_SHORT,
    look=LOOK_CUT_SHORT,
    extended=[lambda right, size=size: tuple(one[:, :, -size:] for one in right) for size in (16, 32, 64, 100, 128)],
    allowed=[
        lambda right, new, total, size=size: right & right.new_ones(new, total).triu(total - new - size)
        for size in (10, 16, 32, 64, 128)
    ]
    + [lambda new, total, most=most: ones(new, total).tril(min(total - new, most)) for most in (7, 8, 16, 64, 128)],
)
mistake(
    "a number added to the sum",
    pairs=0,
    why="A number is added to the sum of the exponentials, so the weights of a query sum to less than 1.",
    look="what should the weights of a query sum to? And what does a column of zeros beside the scores add to the sum?",
    weights=[
        lambda scaled: F.pad(scaled, (1, 0)).softmax(-1)[..., 1:],
        *(
            lambda scaled, more=more: scaled.exp() / (scaled.exp().sum(-1, keepdim=True) + more)
            for more in (1e-2, 1e-3, 1)
        ),
        lambda scaled: (
            (scaled - scaled.amax(-1, keepdim=True)).exp()
            / (1 + (scaled - scaled.amax(-1, keepdim=True)).exp().sum(-1, keepdim=True))
        ),
    ],
)
mistake(
    "a sum slightly off",
    pairs=0,
    why=OFF,
    look=LOOK_OFF,
    weights=lambda scaled: (
        (scaled - scaled.amax(-1, keepdim=True)).exp()
        / ((scaled - scaled.amax(-1, keepdim=True)).exp().sum(-1, keepdim=True) + 1e-6)
    ),
)


def unshifted(self, scores):
    raised = scores.exp() * self.allowed(*scores.shape[-2:])
    return raised / raised.sum(-1, keepdim=True)


exercise.adopt(shared.family, hints={"scores": 3, "batch": 3, "output": 3, "weights": 3}, without=NOT_HERE)
clipped = exercise.mistakes["the scores clipped"]  # some of these scores are huge, so any limit shows
clipped.variants += [
    exercise.variant({step: lambda right, low=low, high=high: right.clamp(low, high)})
    for low, high in (
        (-50, 50),
        (None, 100),
        (-100, None),
        (-1e3, 1e3),
        (-1e3, None),
        (-1e4, 1e4),
        (-1e4, None),
        (-20, 20),
        (-10, 10),
        (None, 10),
        (-10, None),
        (-5, 5),
        (None, 5),
    )
    for step in ("masked", "visible")
]
exercise.mistakes["scores divided by their largest or their mean"].variants.append(
    exercise.variant({"masked": lambda scaled: scaled / scaled.abs().amax(-1, keepdim=True).clamp(min=1e-9)})
)  # no 0 / 0

mistake = exercise.section(hint=3, pairs=0)
mistake(
    "no score beyond 1",
    why="Where the largest score of a row is above 1 (in absolute value), the row is divided "
    "by it, so no score is ever beyond 1.",
    look="what does the exercise do between the dot products and the softmax?",
    masked=lambda scaled: scaled / scaled.abs().amax(-1, keepdim=True).clamp(min=1),
)
mistake(
    "half precision",
    why="The attention, or a part of it, is computed in half precision, which keeps only two or three digits.",
    look="where does the dtype change on the way to the output?",
    variants=[
        {step: lambda right, half=half: right.to(half).double()}
        for half in (torch.bfloat16, torch.half)
        for step in ("weights", "masked", "output")
    ]
    + [
        {"weights": lambda step, scaled, half=half: step(scaled.to(half)).double()}
        for half in (torch.bfloat16, torch.half)
    ]
    + [
        {
            "attend": lambda step, query, key, value, half=half: tuple(
                one.double() for one in step(query.to(half), key.to(half), value.to(half))
            )
        }
        for half in (torch.bfloat16, torch.half)
    ],
)
