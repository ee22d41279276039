"""The exercise `DecoderLayer`: self-attention, cross-attention, feed-forward, each added to its input, normalised."""

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons import attention, layers, masks
from transformer_lessons.exercises.catalogue import layer_family as family
from transformer_lessons.exercises.checker.exercise import Exercise, normal


def draw_decoded(generator, batch, target, source, d_model, num_heads, d_hidden, masked=True):
    """Target vectors and the memory; a causal mask and one for the padding of the memory, or neither.

    masked="memory": only the memory's; "targets": only the targets'; "holes": both have holes, and the last query
    may attend to nothing.
    """
    x, memory = normal(generator, batch, target, d_model), normal(generator, batch, source, d_model)
    if not masked:
        return x, memory
    if masked == "holes":
        return x, memory, *(family.with_holes(generator, batch, target, keys) for keys in (target, source))
    if masked == "targets":
        return x, memory, masks.causal_mask(target)
    mask = None if masked == "memory" else masks.causal_mask(target)
    return x, memory, mask, family.padding_at_the_end(batch, source)


exercise = Exercise(
    name="DecoderLayer",
    lesson=7,
    title="A layer that writes",
    difficulty=3,
    importance=3,
    minutes=12,
    contract="""DecoderLayer(d_model, num_heads, d_hidden) is a module with the package's own parts: self_attention and
        cross_attention, each a MultiHeadAttention(d_model, num_heads); feed_forward, a FeedForward(d_model, d_hidden);
        and norm_1, norm_2 and norm_3, used in that order, each an nn.LayerNorm(d_model) (a smaller epsilon does
        no harm). forward(x, memory, mask=None, memory_mask=None), with x (batch, target, d_model) and memory, the
        encoder's output, (batch, source, d_model), returns a tensor of x's shape. It has three parts, in this order: x
        attends to itself (with mask), then to the memory (with memory_mask), then goes through the feed-forward layer.
        Each part's output is added to its input, and the sum is normalised: post-norm. The masks are not always causal,
        and a query that may attend to nothing gets weights of 0, as in the package's attention. Dropout is optional,
        anywhere: the check runs in eval mode.""",
    stub="""
        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_hidden):
                super().__init__()
                raise NotImplementedError

            def forward(self, x, memory, mask=None, memory_mask=None):
                raise NotImplementedError""",
    sizes=[
        {"batch": 1, "target": 3, "source": 4, "d_model": 4, "num_heads": 2, "d_hidden": 2, "masked": False},
        {"batch": 2, "target": 4, "source": 4, "d_model": 6, "num_heads": 1, "d_hidden": 6},
        {"batch": 2, "target": 3, "source": 5, "d_model": 6, "num_heads": 3, "d_hidden": 7, "masked": "memory"},
        {"batch": 1, "target": 4, "source": 3, "d_model": 8, "num_heads": 2, "d_hidden": 5, "masked": "holes"},
        {"batch": 2, "target": 3, "source": 3, "d_model": 4, "num_heads": 2, "d_hidden": 5, "masked": "targets"},
    ],
    build=("d_model", "num_heads", "d_hidden"),
    draw=draw_decoded,
    reference=layers.DecoderLayer,
    returns="x",
    shapes={"x": "(batch, target, d_model)"},
    tolerance=2e-4,
    hints=[
        (
            "it raises",
            "Attention returns (output, weights). In cross-attention there is one query for each "
            "target token, and one key and one value for each position in the memory. Who asks, and who answers?",
        ),
        (
            "the numbers differ",
            "The same thing happens three times: a part reads x; its output is added to x; the "
            "sum is normalised and becomes the new x. In the second part, keys and values come from elsewhere.",
        ),
        ("only with masks", "Each of the two attention modules has its own mask. Which keys does each mask hide?"),
    ],
    solution="""
        from torch import nn

        from transformer_lessons.attention import MultiHeadAttention
        from transformer_lessons.layers import FeedForward

        class DecoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_hidden):
                super().__init__()
                self.self_attention = MultiHeadAttention(d_model, num_heads)
                self.cross_attention = MultiHeadAttention(d_model, num_heads)
                self.feed_forward = FeedForward(d_model, d_hidden)
                self.norm_1 = nn.LayerNorm(d_model)
                self.norm_2 = nn.LayerNorm(d_model)
                self.norm_3 = nn.LayerNorm(d_model)

            def forward(self, x, memory, mask=None, memory_mask=None):
                output, _ = self.self_attention(x, x, x, mask)
                x = self.norm_1(x + output)
                output, _ = self.cross_attention(x, memory, memory, memory_mask)
                x = self.norm_2(x + output)
                return self.norm_3(x + self.feed_forward(x))""",
)


@exercise.right("step by step")
class Decoder(nn.Module):
    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__()
        self.self_attention, self.cross_attention = (attention.MultiHeadAttention(d_model, num_heads) for _ in range(2))
        self.feed_forward = layers.FeedForward(d_model, d_hidden)
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model) for _ in range(3))

    def forward(self, x, memory, mask=None, memory_mask=None):
        attended = self.attended(x, memory, mask, memory_mask)
        first = self.after_attention(total := self.added_1(x, attended))
        looked = self.looked_up(self.asking(first, x, attended), memory, memory_mask, mask)
        second = self.after_looking(total := self.added_2(first, looked, x, total))
        forwarded = self.forwarded(self.fed(second, looked, first, x))
        return self.after_feed_forward(self.added_3(second, forwarded, first, x, total))

    def attended(self, x, memory, mask, memory_mask):
        return self.first_attention()(x, x, x, self.first_mask(mask, memory_mask))[0]

    def first_attention(self):
        return self.self_attention

    def first_mask(self, mask, memory_mask):
        return mask

    def added_1(self, x, part):
        return x + part

    def after_attention(self, total):
        return self.norm_1(total)

    def asking(self, first, x, attended):
        return first

    def looked_up(self, x, memory, memory_mask, mask):
        query, key, value = self.roles(x, memory)
        return self.second_attention()(query, key, value, self.second_mask(memory_mask, mask))[0]

    def roles(self, x, memory):
        return x, memory, memory

    def second_attention(self):
        return self.cross_attention

    def second_mask(self, memory_mask, mask):
        return memory_mask

    def added_2(self, x, part, start, total):
        return x + part

    def after_looking(self, total):
        return self.norm_2(total)

    def fed(self, second, looked, first, x):
        return second

    def forwarded(self, x):
        return self.feed_forward(x)

    def added_3(self, x, part, first, start, total):
        return x + part

    def after_feed_forward(self, total):
        return self.norm_3(total)


ORDER = "the order of the three parts."
NAMES = "the names of the attentions in forward."

# The residuals
mistake = exercise.section(hint=2)
SUMS = "added_1", "added_2", "added_3"
mistake(
    "no residual around the self-attention",
    why="The self-attention's input is not added to its output.",
    look="what is left of x if the self-attention returns 0?",
    added_1=lambda part: part,
)
mistake(
    "no residual around the cross-attention",
    why="x is not added to the cross-attention's output.",
    look="what is left of x if the cross-attention returns 0?",
    added_2=lambda part: part,
)
mistake("no residual around the feed-forward", *family.NO_RESIDUAL, added_3=lambda part: part)
mistake("no residual at all", *family.NO_RESIDUALS, variants=[dict.fromkeys(SUMS, lambda part: part)])
mistake(
    "the layer's input added again",
    why="The output of a later part is added to the x that came into the layer, not to the x that this part read.",
    look="which x is added the second and the third time? It has changed since the first.",
    variants=family.each_and_all(SUMS[1:], lambda part, start: start + part),
)
mistake(
    "the x before the cross-attention added at the end",
    pairs=0,
    why="The feed-forward's output is added to the x "
    "that went into the cross-attention, so what was found in the memory is passed on only through the feed-forward.",
    look="which x does the feed-forward read, and which is added?",
    added_3=lambda part, first: first + part,
)
mistake(
    "an attention's output alone added",
    *family.BARE_ADDED,
    pairs=0,
    added_2=lambda part, start, total: total - start + part,
    added_3=lambda part, first, total: total - first + part,
)
mistake(
    "the sum added, not the norm of it",
    *family.SUM_ADDED,
    pairs=0,
    variants=family.each_and_all(SUMS[1:], lambda part, total: total + part),
)
mistake(
    "the input added twice",
    *family.ADDED_TWICE,
    pairs=0,
    variants=family.each_and_all(SUMS, lambda x, part: x + x + part),
)
mistake(
    "multiplied, not added", *family.MULTIPLIED, pairs=0, variants=family.each_and_all(SUMS, lambda x, part: x * part)
)


def with_memory(*added):
    """A forward in which each part's output gets the things of these names added: x, the memory, or both."""

    def forward(self, x, memory, mask, memory_mask):
        def joined(number, x, part):
            return part + sum({"x": x, "memory": memory}[name] for name in added[number])

        x = self.after_attention(joined(0, x, self.attended(x, memory, mask, memory_mask)))
        x = self.after_looking(joined(1, x, self.looked_up(x, memory, memory_mask, mask)))
        return self.after_feed_forward(joined(2, x, self.forwarded(x)))

    return forward


def added_after_the_norm(self, x, memory, mask, memory_mask):
    x = self.after_attention(x + self.attended(x, memory, mask, memory_mask))
    x = x + self.norm_2(memory + self.looked_up(x, memory, memory_mask, mask))
    return self.after_feed_forward(x + self.forwarded(x))


mistake(
    "the memory as the residual",
    pairs=0,
    why="The memory is added to a part's output, instead of x or as well as "
    "x; only x, which the part read, should be added. When the memory and the targets differ in length, this usually "
    "raises an error.",
    look="for each sum: which x did the part read, and what is added to its output?",
    forward=[
        with_memory(["x"], ["memory"], ["x"]),
        with_memory(["x"], ["x", "memory"], ["x"]),
        with_memory(["x"], ["x"], ["memory"]),
        with_memory(["x"], ["memory"], ["memory"]),
        with_memory(["memory"], ["x"], ["x"]),
        added_after_the_norm,
    ],
)

# The norms
AFTER = "after_attention", "after_looking", "after_feed_forward"


def sublayers(*joins, order=(1, 2, 3), norms=(1, 2, 3)):
    """A forward of parts joined like this: 1 is the self-attention, 2 the cross-attention, 3 the feed-forward."""
    return lambda self, x, memory, mask, memory_mask: family.through(
        x,
        (
            lambda x: self.attended(x, memory, mask, memory_mask),
            lambda x: self.looked_up(x, memory, memory_mask, mask),
            self.forwarded,
        ),
        (self.added_1, lambda x, part: self.added_2(x, part, x, x), lambda x, part: self.added_3(x, part, x, x, x)),
        (self.after_attention, self.after_looking, self.after_feed_forward),
        joins,
        order,
        norms,
    )


def one_joined(join):
    """One part joined like this, the others correctly."""
    return [sublayers(*(join if part == one else "post" for part in range(3))) for one in range(3)]


mistake("pre-norm for post-norm", *family.PRE_NORM, forward=sublayers(*3 * ["pre"]))
mistake(
    "pre-norm for one part",
    pairs=0,
    why="Around one of the parts, the norm comes first: it normalises what the part reads, not the sum.",
    look="for each part: what goes into the norm, and what goes into the part?",
    forward=one_joined("pre"),
)
mistake(
    "the normalised input added",
    *family.NORMALISED_ADDED,
    forward=[
        sublayers(*3 * ["normalised added"]),
        sublayers(*3 * ["normalised added in post"]),
        *one_joined("normalised added in post"),
    ],
)
mistake(
    "the norm before the sum",
    *family.NORM_BEFORE_SUM,
    forward=[sublayers(*3 * [join]) for join in ("norm before sum", "each normalised")] + one_joined("norm before sum"),
)
mistake(
    "a norm too many",
    *family.A_NORM_TOO_MANY,
    pairs=0,
    asking=lambda self, first: self.norm_2(first),
    forward=[
        *(
            form
            for join in ("before and after", "at first and after", "twice")
            for form in (*one_joined(join), sublayers(*3 * [join]))
        ),
        lambda step, x, memory, mask, memory_mask: step(F.layer_norm(x, x.shape[-1:]), memory, mask, memory_mask),
    ],
)
mistake(
    "no norm after the self-attention",
    why="The sum after the self-attention is not normalised.",
    look="where is norm_1 used?",
    after_attention=lambda total: total,
)
mistake(
    "no norm after the cross-attention",
    why="The sum after the cross-attention is not normalised.",
    look="where is norm_2 used?",
    after_looking=lambda total: total,
)
mistake(
    "no norm at the end",
    why="The sum after the feed-forward is not normalised.",
    look="where is norm_3 used?",
    after_feed_forward=lambda total: total,
)
mistake("no norms", *family.NO_NORMS, variants=[dict.fromkeys(AFTER, lambda total: total)])
mistake(
    "the norms swapped",
    pairs=0,
    why="The norms are not used in the order of their numbers, so some parts get another part's norm.",
    look="each norm has weights of its own. Which norm goes with which part?",
    variants=[family.norms(AFTER, order) for order in ((2, 1, 3), (1, 3, 2), (3, 2, 1), (2, 3, 1), (3, 1, 2))],
)
mistake(
    "one norm used twice",
    pairs=2,
    why="The same norm is used for several parts, under one name or several; each part should have its own.",
    look="the names of the norms in forward, and what `__init__` assigns to each name.",
    variants=[
        family.norms(AFTER[1:2], [1]),
        family.norms(AFTER[2:], [2]),
        *(family.norms(AFTER, order) for order in ((1, 1, 1), (1, 2, 1), (2, 2, 3), (3, 2, 3), (1, 3, 3), (1, 1, 2))),
    ],
)

# The parts
mistake(
    "the cross-attention first",
    why="x attends to the memory before it attends to itself.",
    look=ORDER,
    forward=[sublayers(order=(2, 1, 3)), sublayers(order=(2, 1, 3), norms=(2, 1, 3))],
)
mistake(
    "the feed-forward too early",
    pairs=0,
    why="The feed-forward comes before one of the attentions, or before "
    "both; it should be the last of the three parts.",
    look=ORDER,
    forward=[sublayers(order=(1, 3, 2)), sublayers(order=(1, 3, 2), norms=(1, 3, 2)), sublayers(order=(3, 1, 2))],
)
mistake(
    "parts side by side",
    pairs=0,
    why="Several parts read the same x, and all their outputs are added at once, so "
    "none of these parts sees what the others found.",
    look="what goes into each part, and what is added to what?",
    variants=[
        {"after_attention": lambda total: total, "asking": lambda x: x},
        {
            "after_attention": lambda total: total,
            "asking": lambda x: x,
            "after_looking": lambda total: total,
            "fed": lambda x: x,
        },
    ],
)
mistake(
    "no cross-attention",
    why="Nothing is read from the memory, or what is read is thrown away, so the decoder "
    "does not know what it should translate.",
    look="where is the cross-attention's output used?",
    forward=[sublayers(order=(1, 3), norms=(1, 3)), sublayers(order=(1, 3), norms=(1, 2))],
    added_2=lambda x: x,
)
mistake(
    "no self-attention",
    why="The targets never attend to each other, or what they find is thrown away.",
    look="where is the self-attention's output used?",
    added_1=lambda x: x,
    forward=[sublayers(order=(2, 3), norms=(2, 3)), sublayers(order=(2, 3), norms=(1, 2))],
)
mistake(
    "no feed-forward",
    *family.NO_FEED_FORWARD,
    added_3=lambda x: x,
    variants=[{"added_3": lambda x: x, "after_feed_forward": lambda total: total}],
)
mistake(
    "an activation too many",
    *family.ACTIVATION,
    pairs=0,
    after_feed_forward=lambda self, total: self.norm_3(total).relu(),
    forwarded=lambda self, x: self.feed_forward(x).relu(),
)
mistake(
    "x and memory swapped",
    hint=1,
    pairs=0,
    why="x is treated as the memory and the memory as x, so the result has a row for each position in the memory.",
    look="the order of forward's parameters.",
    forward=[
        lambda step, x, memory, mask, memory_mask: step(memory, x, mask, memory_mask),
        lambda step, x, memory, mask, memory_mask: step(memory, x, memory_mask, mask),
    ],
)


# Who asks, and who answers
def with_any_mask(*roles):
    """These roles with each mask, or none; where the keys change, so may the mask."""
    maskings = {}, {"second_mask": lambda mask: mask}, {"second_mask": lambda: None}
    return [{"roles": one} | masking for masking in maskings for one in roles]


mistake(
    "x in place of the memory",
    pairs=3,
    why="In the second attention, keys and values also come from x, so the memory is never read.",
    look="who answers in the second attention?",
    variants=with_any_mask(lambda x: (x, x, x)),
)
mistake(
    "the memory asks",
    hint=1,
    pairs=0,
    why="In the second attention, the queries come from the memory, and the "
    "keys and values from x; it should be the other way round.",
    look="who asks in the second attention, and who answers? The result has a row for each query.",
    variants=with_any_mask(lambda x, memory: (memory, x, x)),
)
mistake(
    "the memory asks itself",
    hint=1,
    pairs=0,
    why="In the second attention, queries, keys and values all come from the memory: x asks nothing.",
    look="who asks in the second attention? The result has a row for each query.",
    variants=with_any_mask(lambda memory: (memory, memory, memory)),
)
mistake(
    "keys or values from x",
    hint=1,
    pairs=0,
    why="In the second attention, keys and values come from different "
    "places, one of them from x; both should come from the memory.",
    look="which of the second attention's arguments come from the memory?",
    variants=with_any_mask(
        lambda x, memory: (x, memory, x), lambda x, memory: (x, x, memory), lambda x, memory: (memory, memory, x)
    ),
)
mistake(
    "the memory in the self-attention",
    pairs=0,
    why="The keys and values of the first attention come from the memory, or from x and the memory together.",
    look="who answers in the first attention?",
    attended=[
        lambda self, x, memory, memory_mask: self.self_attention(x, memory, memory, memory_mask)[0],
        lambda self, x, memory, mask: self.self_attention(x, memory, memory, mask)[0],
        lambda self, x, memory: self.self_attention(x, memory, memory)[0],
        lambda self, x, memory: self.self_attention(x, *2 * [torch.cat([memory, x], dim=1)])[0],
    ],
)
mistake(
    "an earlier x asks the memory",
    why="The queries of the second attention come from the x that came into the "
    "layer, or from its sum with the first attention's output, not from what norm_1 makes of this sum.",
    look="which x asks the memory? It has changed twice on the way.",
    asking=[lambda x: x, lambda x, attended: x + attended],
)
mistake(
    "the attention alone asks the memory",
    pairs=0,
    why="The queries of the second attention come from the first attention's output, before x is added and the sum "
    "normalised.",
    look="which x asks the memory?",
    asking=lambda attended: attended,
)
mistake(
    "the memory normalised",
    why="The memory goes through one of the norms first; it is the encoder's output and should be read as it is.",
    look="what goes into each norm?",
    roles=[
        lambda self, x, memory: (x, self.norm_2(memory), self.norm_2(memory)),
        lambda self, x, memory: (x, self.norm_1(memory), self.norm_1(memory)),
    ],
)
mistake(
    "the feed-forward reads too early an x",
    pairs=0,
    why="The feed-forward reads something that comes before the "
    "output of norm_2, such as the layer's input, or the cross-attention's output before the norm.",
    look="what goes into the feed-forward?",
    fed=[lambda looked: looked, lambda first: first, lambda x: x, lambda first, looked: first + looked],
)
mistake(
    "one attention for both",
    pairs=2,
    why="The same attention does both jobs, under one name or two; each job should have its own attention.",
    look="the names of the attentions in forward, and what `__init__` assigns to each name.",
    second_attention=lambda self: self.self_attention,
    first_attention=lambda self: self.cross_attention,
)
mistake(
    "the two attentions swapped",
    why="x attends to itself with cross_attention and to the memory with self_attention.",
    look=NAMES,
    variants=[
        {"first_attention": lambda self: self.cross_attention, "second_attention": lambda self: self.self_attention}
    ],
)

# The masks
mistake = exercise.section(hint=3)
mistake(
    "the masks swapped",
    why="Each attention gets the other one's mask: memory_mask is about positions in the "
    "memory, and mask is about targets.",
    look="which keys is each mask about?",
    variants=[{"first_mask": lambda memory_mask: memory_mask, "second_mask": lambda mask: mask}],
)
mistake(
    "mask for the memory",
    why="mask reaches the second attention, though it says which targets may be read, not "
    "which positions in the memory.",
    look="whose keys does the second attention read?",
    second_mask=[lambda mask: mask, lambda memory_mask, mask: memory_mask if mask is None else memory_mask & mask],
)
mistake(
    "memory_mask for the targets",
    why="memory_mask reaches the first attention, though it says which positions in "
    "the memory may be read, not which targets.",
    look="whose keys does the first attention read?",
    first_mask=[
        lambda memory_mask: memory_mask,
        lambda mask, memory_mask: memory_mask if mask is None else memory_mask & mask,
    ],
)
mistake(
    "mask dropped",
    why="mask does not reach the self-attention, so every target attends to all targets, whatever mask says.",
    look="the arguments of the first attention.",
    first_mask=lambda: None,
)
mistake(
    "mask in the place of a memory_mask of None",
    pairs=0,
    why="When memory_mask is None, the cross-attention gets "
    "mask in its place, though every position in the memory may then be read.",
    look="what does the second attention get when memory_mask is None?",
    second_mask=lambda memory_mask, mask: mask if memory_mask is None else memory_mask,
    variants=[
        {
            "looked_up": lambda step, x, memory, memory_mask, mask: step(
                x, memory, mask if memory_mask is None and memory.shape[1] == x.shape[1] else memory_mask, mask
            )
        }
    ],
)
mistake(
    "memory_mask dropped",
    why="memory_mask does not reach the cross-attention, so every position in the memory is "
    "read, whatever memory_mask says.",
    look="the arguments of the second attention.",
    second_mask=lambda: None,
)
mistake(
    "memory_mask only together with a mask",
    pairs=0,
    why="memory_mask reaches the cross-attention only when there is also a mask; either may come alone.",
    look="what does the second attention get when mask is None but memory_mask is not?",
    second_mask=lambda memory_mask, mask: None if mask is None else memory_mask,
)


def skipped(*parts):
    """A forward without these attentions where their masks are None."""

    def forward(self, x, memory, mask, memory_mask):
        there = tuple(part for part, one in ((1, mask), (2, memory_mask)) if part not in parts or one is not None)
        return sublayers(order=(*there, 3), norms=(*there, 3))(self, x, memory, mask, memory_mask)

    return forward


mistake(
    "an attention skipped where there is no mask",
    *family.SKIPPED,
    pairs=0,
    attended=lambda right, mask: torch.zeros_like(right) if mask is None else right,
    looked_up=lambda right, memory_mask: torch.zeros_like(right) if memory_mask is None else right,
    forward=[skipped(1), skipped(2), skipped(1, 2)],
)
mistake(
    "both masks dropped",
    why="Neither mask reaches its attention, so every query attends to everything.",
    look="the arguments of the two attentions.",
    variants=[{"first_mask": lambda: None, "second_mask": lambda: None}],
)
mistake(
    "a mask inverted",
    pairs=3,
    why="A mask works the wrong way round: a query attends only to what the mask "
    "hides. True means “may attend”, in the package's attention too.",
    look="what does True mean in the masks you get, and in those you pass on?",
    variants=family.each_and_all(("first_mask", "second_mask"), lambda right: None if right is None else ~right),
)


def by_hand(weigh):
    """Both attentions written out by hand, or one of them."""
    attentions = "first_attention", "second_attention"
    return family.each_and_all(attentions, lambda right: family.by_hand(right, weigh))[::-1]


mistake(
    "an average for a query that may attend to nothing",
    *family.AVERAGE,
    variants=[*by_hand(family.filled(-1e9)), by_hand(family.added)[0]],
)
mistake(
    "NaN for a query that may attend to nothing", *family.NAN, pairs=0, variants=by_hand(family.filled(-torch.inf))[:1]
)
mistake(
    "a mask of its own",
    *family.OWN_MASK,
    attended=[
        lambda self, x, mask, memory_mask: self.first_attention()(
            x, x, x, family.with_causal(self.first_mask(mask, memory_mask), x)
        )[0],
        lambda self, x: self.first_attention()(x, x, x, family.with_causal(None, x))[0],
        lambda self, x, mask: self.first_attention()(x, x, x, family.with_causal(None, x) if mask is None else mask)[0],
    ],
)

# Answers that always raise
mistake = exercise.section(hint=1, pairs=0, raises=True)
mistake(
    "the memory taken for the mask",
    why="The memory arrives as the mask of the first attention, as when the "
    "parameters of forward are not in the order that the exercise asks for.",
    look="in which order does the exercise list forward's parameters? And what is the first attention given?",
    forward=lambda step, x, memory, mask, memory_mask: step(x, mask, memory, memory_mask),
)
mistake(
    "the weights left in",
    *family.WEIGHTS_LEFT_IN,
    forward=[
        lambda self, x, mask: self.norm_1(x + self.self_attention(x, x, x, mask)),
        lambda self, x, mask: F.dropout(self.self_attention(x, x, x, mask), 0.1),
        lambda self, x, mask: self.norm_1(self.self_attention(x, x, x, mask)),
    ],
)
exercise.adopt(family.both, hints={"the numbers": 2, "it raises": 1}, pairs=["the unbiased variance in the norms"])
