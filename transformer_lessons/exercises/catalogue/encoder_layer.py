"""The exercise `EncoderLayer`: self-attention, then feed-forward, each added to its input and normalised."""

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons import attention, layers, masks
from transformer_lessons.exercises.catalogue import layer_family as family
from transformer_lessons.exercises.checker.exercise import Exercise, normal


def draw_encoded(generator, batch, length, d_model, num_heads, d_hidden, mask=None):
    """Vectors, and no mask, a causal one, one for padding at the end, or one with holes."""
    x = normal(generator, batch, length, d_model)
    if mask is None:
        return (x,)
    if mask == "holes":
        return x, family.with_holes(generator, batch, length, length)
    return x, masks.causal_mask(length) if mask == "causal" else family.padding_at_the_end(batch, length)


exercise = Exercise(
    name="EncoderLayer",
    lesson=7,
    title="A layer that reads",
    difficulty=2,
    importance=3,
    minutes=10,
    contract="""EncoderLayer(d_model, num_heads, d_hidden) is a module with the package's own parts: attention, a
        MultiHeadAttention(d_model, num_heads); feed_forward, a FeedForward(d_model, d_hidden); and norm_1 and norm_2,
        used in that order, each an nn.LayerNorm(d_model) (a smaller epsilon does no harm). forward(x,
        mask=None), with x (batch, length, d_model), returns a tensor of x's shape. It has two parts, in this order: x
        attends to itself (with the mask), then goes through the feed-forward layer. Each part's output is added to its
        input, and the sum is normalised: post-norm, as in the paper. A query that may attend to nothing gets weights
        of 0, as in the package's attention. Dropout is optional, anywhere: the check runs in eval mode.""",
    stub="""
        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_hidden):
                super().__init__()
                raise NotImplementedError

            def forward(self, x, mask=None):
                raise NotImplementedError""",
    sizes=[
        {"batch": 1, "length": 2, "d_model": 4, "num_heads": 2, "d_hidden": 3},
        {"batch": 2, "length": 3, "d_model": 6, "num_heads": 3, "d_hidden": 7, "mask": "causal"},
        {"batch": 3, "length": 6, "d_model": 6, "num_heads": 1, "d_hidden": 6, "mask": "padding"},
        {"batch": 2, "length": 4, "d_model": 8, "num_heads": 2, "d_hidden": 5, "mask": "holes"},
    ],
    build=("d_model", "num_heads", "d_hidden"),
    draw=draw_encoded,
    reference=layers.EncoderLayer,
    returns="x",
    shapes={"x": "(batch, length, d_model)"},
    tolerance=2e-4,
    hints=[
        (
            "it raises",
            "Attention takes four things (query, key, value, mask) and returns two (output and "
            "weights). Only one of those two is added to x.",
        ),
        (
            "the numbers differ",
            "The same three steps happen twice: a part reads x; its output is added to x; the "
            "sum is normalised and becomes the new x.",
        ),
        ("only with a mask", "The mask is for the attention alone. Does it get there unchanged?"),
    ],
    solution="""
        from torch import nn

        from transformer_lessons.attention import MultiHeadAttention
        from transformer_lessons.layers import FeedForward

        class EncoderLayer(nn.Module):
            def __init__(self, d_model, num_heads, d_hidden):
                super().__init__()
                self.attention = MultiHeadAttention(d_model, num_heads)
                self.feed_forward = FeedForward(d_model, d_hidden)
                self.norm_1 = nn.LayerNorm(d_model)
                self.norm_2 = nn.LayerNorm(d_model)

            def forward(self, x, mask=None):
                output, _ = self.attention(x, x, x, mask)
                x = self.norm_1(x + output)
                return self.norm_2(x + self.feed_forward(x))""",
)


@exercise.right("step by step")
class Encoder(nn.Module):
    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__()
        self.attention = attention.MultiHeadAttention(d_model, num_heads)
        self.feed_forward = layers.FeedForward(d_model, d_hidden)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        attended = self.attended(x, mask)
        middle = self.after_attention(total := self.added_1(x, attended))
        forwarded = self.forwarded(self.fed(middle, x, attended))
        return self.after_feed_forward(self.added_2(middle, forwarded, x, total))

    def attended(self, x, mask):
        return self.attention(x, x, x, self.hidden(mask))[0]

    def hidden(self, mask):
        return mask

    def added_1(self, x, part):
        return x + part

    def after_attention(self, total):
        return self.norm_1(total)

    def fed(self, middle, x, attended):
        return middle

    def forwarded(self, x):
        return self.feed_forward(x)

    def added_2(self, x, part, start, total):
        return x + part

    def after_feed_forward(self, total):
        return self.norm_2(total)


FED = "what goes into the feed-forward?"

# The residuals
mistake = exercise.section(hint=2)
SUMS = "added_1", "added_2"
mistake(
    "no residual around the attention",
    why="The attention's input is not added to its output.",
    look="what is left of x if the attention returns 0?",
    added_1=lambda part: part,
)
mistake("no residual around the feed-forward", *family.NO_RESIDUAL, added_2=lambda part: part)
mistake("no residual at all", *family.NO_RESIDUALS, variants=[dict.fromkeys(SUMS, lambda part: part)])
mistake(
    "the layer's input added at the end",
    why="The feed-forward's output is added to the x that came into the layer, not to the x that the feed-forward "
    "read.",
    look="which x is added the second time? It has changed since the first.",
    added_2=lambda part, start: start + part,
)
mistake("the sum added, not the norm of it", *family.SUM_ADDED, added_2=lambda part, total: total + part)
mistake(
    "the attention's output alone added",
    *family.BARE_ADDED,
    pairs=0,
    added_2=lambda part, start, total: total - start + part,
)
mistake(
    "both the input and the middle added",
    pairs=0,
    why="At the end, three things are added up: the feed-forward's "
    "output, its input and, once more, the x that came into the layer.",
    look="how many things are added up before the last norm?",
    added_2=lambda x, part, start: start + x + part,
)
mistake(
    "the input added twice",
    *family.ADDED_TWICE,
    pairs=0,
    variants=family.each_and_all(SUMS, lambda x, part: x + x + part),
)
mistake(
    "a part's output added twice",
    pairs=0,
    why="A part's output counts double, as when it is added twice.",
    look="how many times is the output added?",
    variants=family.each_and_all(SUMS, lambda x, part: x + part + part),
)
mistake(
    "multiplied, not added", *family.MULTIPLIED, pairs=0, variants=family.each_and_all(SUMS, lambda x, part: x * part)
)
mistake(
    "subtracted, not added",
    pairs=0,
    why="A part's output is subtracted from its input instead of added to it.",
    look=family.MULTIPLIED[1],
    variants=family.each_and_all(SUMS, lambda x, part: x - part),
)

# The norms
AFTER = "after_attention", "after_feed_forward"


def sublayers(*joins, order=(1, 2), norms=(1, 2)):
    """A forward of these parts, joined like this: 1 is the attention, 2 the feed-forward."""
    return lambda self, x, mask: family.through(
        x,
        (lambda x: self.attended(x, mask), self.forwarded),
        (self.added_1, lambda y, part: self.added_2(y, part, x, y)),
        (self.after_attention, self.after_feed_forward),
        joins,
        order,
        norms,
    )


def in_styles(join):
    """Both parts joined like this, or one of them, with the other joined correctly."""
    return [sublayers(join, join), sublayers(join, "post"), sublayers("post", join)]


mistake("pre-norm for post-norm", *family.PRE_NORM, forward=sublayers("pre", "pre"))
mistake(
    "pre-norm for the attention",
    why="Around the attention, the norm comes first: it normalises what the attention reads, not the sum.",
    look="what goes into norm_1, and what goes into the attention?",
    forward=sublayers("pre", "post"),
)
mistake(
    "pre-norm for the feed-forward",
    why="Around the feed-forward, the norm comes first: it normalises what the feed-forward reads, not the sum.",
    look="what goes into norm_2, and what goes into the feed-forward?",
    forward=sublayers("post", "pre"),
)
mistake(
    "the normalised input added",
    *family.NORMALISED_ADDED,
    forward=[*in_styles("normalised added"), *in_styles("normalised added in post")],
)
mistake(
    "the norm before the sum",
    *family.NORM_BEFORE_SUM,
    pairs=3,
    forward=in_styles("norm before sum") + in_styles("each normalised"),
)
mistake(
    "no norm after the attention",
    why="The sum after the attention is not normalised: norm_1 is not used there.",
    look="where is norm_1 used?",
    after_attention=lambda total: total,
)
mistake(
    "no norm at the end",
    why="The sum after the feed-forward is not normalised: norm_2 is not used there.",
    look="where is norm_2 used?",
    after_feed_forward=lambda total: total,
)
mistake("no norms", *family.NO_NORMS, variants=[dict.fromkeys(AFTER, lambda total: total)])
mistake(
    "the norms swapped",
    why="norm_1 and norm_2 are used in the wrong order.",
    look="each norm has its own weights. Which comes first?",
    variants=[family.norms(AFTER, (2, 1))],
)
mistake(
    "one norm used twice",
    pairs=2,
    why="The same norm is used for both parts, under one name or two; each part should have its own.",
    look="the names of the norms in forward, and what `__init__` assigns to each name.",
    variants=[family.norms(AFTER[1:], [1]), family.norms(AFTER[:1], [2])],
)
mistake(
    "one norm only, in the other's place",
    pairs=0,
    why="There is only one norm, and it is in the place of the other one.",
    look="the names of the norms in forward: each part has its own.",
    variants=[
        {"after_attention": lambda total: total} | family.norms(AFTER[1:], [1]),
        family.norms(AFTER[:1], [2]) | {"after_feed_forward": lambda total: total},
    ],
)
mistake(
    "a norm too many",
    *family.A_NORM_TOO_MANY,
    pairs=0,
    forward=[
        *in_styles("before and after"),
        *in_styles("twice"),
        *in_styles("at first and after"),
        lambda step, x, mask: step(F.layer_norm(x, x.shape[-1:]), mask),
    ],
    attended=lambda self, x, mask: self.attention(self.norm_1(x), x, x, mask)[0],
)
mistake(
    "only some of the attention's inputs normalised",
    pairs=0,
    why="The norm comes before the attention, and only one or two of the attention's three inputs go through it.",
    look="what goes into norm_1?",
    variants=[
        {
            "attended": lambda self, x, mask, roles=roles: self.attention(
                *(self.norm_1(x) if role in roles else x for role in "qkv"), mask
            )[0],
            "after_attention": lambda total: total,
            **after,
        }
        for roles in ("q", "kv", "qk")
        for after in (
            {},
            {"forwarded": lambda self, x: self.feed_forward(self.norm_2(x)), "after_feed_forward": lambda total: total},
        )
    ],
)
# The parts
mistake(
    "the feed-forward first",
    why="The feed-forward comes before the attention, so it works on tokens that have not yet attended to each other.",
    look="the order of the two parts.",
    forward=[sublayers(order=(2, 1)), sublayers(order=(2, 1), norms=(2, 1))],
)
mistake(
    "the feed-forward reads the layer's input",
    why="The feed-forward reads the x that came into the layer, not what the attention and norm_1 have made of it.",
    look=FED,
    fed=lambda x: x,
)
mistake(
    "the feed-forward reads the attention alone",
    pairs=0,
    why="The feed-forward reads the attention's output as it is, before x is added and the sum normalised.",
    look=FED,
    fed=lambda attended: attended,
)
mistake(
    "the feed-forward reads the sum before the norm",
    pairs=0,
    why="The feed-forward reads the sum of x and the attention's output before norm_1 has normalised it.",
    look=FED,
    fed=lambda x, attended: x + attended,
)
mistake(
    "the two parts side by side",
    pairs=0,
    why="Both parts read the layer's input, as it is or normalised, and everything is added at once: the feed-forward "
    "never sees what the attention found.",
    look="what goes into the feed-forward, and what is added to what?",
    forward=[
        lambda self, x, mask: self.norm_2(x + self.attended(x, mask) + self.feed_forward(x)),
        lambda self, x, mask: self.norm_2(x + self.attended(x, mask) + self.feed_forward(self.norm_1(x))),
        lambda self, x, mask: self.norm_1(x + self.attended(x, mask) + self.feed_forward(x)),
        lambda self, x, mask: self.norm_2(self.norm_1(x + self.attended(x, mask) + self.feed_forward(x))),
    ],
)
mistake(
    "no attention",
    why="The attention is never used, or its output is lost, so no position gets anything from another.",
    look="where is the attention's output used?",
    added_1=lambda x: x,
    forward=sublayers(order=[2], norms=[2]),
)
mistake("no feed-forward", *family.NO_FEED_FORWARD, forward=sublayers(order=[1], norms=[1]), added_2=lambda x: x)
mistake(
    "the attention twice",
    pairs=0,
    why="x goes through the attention, its sum and its norm twice; the exercise asks for each of them once.",
    look="how many times is the attention called?",
    forward=lambda self, step, x, mask: step(self.norm_1(x + self.attended(x, mask)), mask),
)
mistake(
    "the feed-forward twice",
    pairs=0,
    why="x goes through the feed-forward, its sum and its norm twice; the exercise asks for each of them once.",
    look="how many times is the feed-forward called?",
    forward=lambda self, right: self.norm_2(right + self.feed_forward(right)),
)
mistake(
    "the feed-forward of the feed-forward",
    pairs=0,
    why="The feed-forward's output goes through the feed-forward again before anything is added.",
    look="how many times is the feed-forward called?",
    forwarded=lambda self, x: self.feed_forward(self.feed_forward(x)),
)
mistake(
    "the whole layer twice",
    pairs=0,
    why="x goes through the whole layer twice. Stacking layers is the model's job, and each layer has its own weights.",
    look="how many times is each part called?",
    forward=lambda right, step, mask: step(right, mask),
)
mistake(
    "an activation too many",
    *family.ACTIVATION,
    pairs=0,
    after_feed_forward=lambda self, total: self.norm_2(total).relu(),
    after_attention=lambda self, total: self.norm_1(total).relu(),
    forwarded=lambda self, x: self.feed_forward(x).relu(),
)

# What goes into the attention, and what comes out
mistake = exercise.section(hint=3)
mistake(
    "the weights for the output",
    hint=1,
    pairs=0,
    why="The attention returns two things, and the weights are used "
    "instead of the output. This usually raises an error, because their dimensions are not those of x.",
    look="what does the package's MultiHeadAttention return, and in which order?",
    attended=lambda self, x, mask: self.attention(x, x, x, mask)[1],
    variants=[{"attended": lambda self, x, mask: self.attention(x, x, x, mask)[1], "added_2": lambda x: x}],
)
mistake(
    "the mask dropped",
    why="The mask does not reach the attention, so every position attends to every other one, whatever the mask says.",
    look="the arguments of the attention.",
    hidden=lambda: None,
)
mistake(
    "the mask inverted",
    why="The mask works the wrong way round: a query attends only to what the mask hides. "
    "True means “may attend”, in the package's attention too.",
    look="what does True mean in the mask you get, and in the one you pass on?",
    hidden=lambda mask: None if mask is None else ~mask,
)
mistake(
    "the mask transposed",
    why="The mask reaches the attention with its last two dimensions swapped, so keys and queries change places.",
    look="what happens to the mask on its way into the attention?",
    hidden=[
        lambda mask: None if mask is None else mask.transpose(-2, -1),
        lambda mask: mask.T if mask is not None and mask.dim() == 2 else mask,
    ],
)
mistake(
    "the mask in another argument's place",
    pairs=0,
    why="With a mask, your code raises an error, perhaps because the mask is not the attention's fourth argument.",
    look="what does your code do with the mask? And in which order does MultiHeadAttention take its arguments?",
    attended=lambda self, x, mask: self.attention(x, x, x, None, mask)[0],
)
mistake(
    "an average for a query that may attend to nothing",
    *family.AVERAGE,
    attended=[
        lambda self, x, mask: family.by_hand(self.attention, family.filled(-1e9))(x, x, x, self.hidden(mask))[0],
        lambda self, x, mask: family.by_hand(self.attention, family.added)(x, x, x, mask)[0],
    ],
)
mistake(
    "NaN for a query that may attend to nothing",
    *family.NAN,
    pairs=0,
    attended=lambda self, x, mask: family.by_hand(self.attention, family.filled(-torch.inf))(x, x, x, mask)[0],
)
mistake(
    "the attention by hand, with another scale",
    hint=1,
    pairs=0,
    why="The attention's scores are not divided by √d_head; in the package's attention they are.",
    look="what are the scores divided by before the softmax?",
    attended=[
        lambda self, x, mask, power=power, weigh=weigh: family.by_hand(self.attention, weigh, x.shape[-1] ** power)(
            x, x, x, mask
        )[0]
        for power in (0, 0.5)
        for weigh in (family.filled(-1e9), masks.masked_softmax)
    ],
)
mistake(
    "linear_out left out",
    hint=1,
    pairs=0,
    why="The attention's heads are put side by side, but do not go through its linear_out, as when the attention is "
    "written out by hand.",
    look="the attention has four linear layers: which of them are used?",
    attended=[
        lambda self, x, mask, weigh=weigh: family.by_hand(self.attention, weigh, end=lambda heads: heads)(
            x, x, x, mask
        )[0]
        for weigh in (masks.masked_softmax, family.filled(-1e9))
    ],
)
mistake(
    "a dimension too many in the mask",
    pairs=0,
    why="The mask gains a dimension on its way into the attention, so "
    "it no longer lines up with the scores. This usually raises an error.",
    look="the mask you get already has the right shape for the attention. What happens to its shape on the way?",
    hidden=lambda mask: None if mask is None else mask.unsqueeze(1),
)
mistake(
    "the attention skipped where there is no mask",
    *family.SKIPPED,
    pairs=0,
    attended=lambda right, mask: torch.zeros_like(right) if mask is None else right,
    forward=lambda self, right, x, mask: self.norm_2(x + self.feed_forward(x)) if mask is None else right,
)
mistake(
    "a mask of its own",
    *family.OWN_MASK,
    pairs=2,
    attended=[
        lambda self, x, mask: self.attention(x, x, x, family.with_causal(self.hidden(mask), x))[0],
        lambda self, x: self.attention(x, x, x, family.with_causal(None, x))[0],
        lambda self, x, mask: self.attention(x, x, x, family.with_causal(None, x) if mask is None else mask)[0],
    ],
)
# Answers that always raise
mistake = exercise.section(hint=1, pairs=0, raises=True)
mistake(
    "the weights left in",
    *family.WEIGHTS_LEFT_IN,
    forward=[
        lambda self, x, mask: self.norm_1(x + self.attention(x, x, x, mask)),
        lambda self, x, mask: F.dropout(self.attention(x, x, x, mask), 0.1),
        lambda self, x, mask: self.attention(x, x, x, mask) + x,
        lambda self, x, mask: self.norm_1(self.attention(x, x, x, mask)),
    ],
)
mistake(
    "only x handed to the attention",
    why="The attention is given too few arguments: it takes a query, a key and a value.",
    look="in self-attention all three come from the same place, but they are three arguments.",
    forward=[lambda self, x: self.attention(x), lambda self, x, mask: self.attention(x, mask)],
)
exercise.adopt(family.both, hints={"the numbers": 2, "it raises": 1}, pairs=["the unbiased variance in the norms"])
