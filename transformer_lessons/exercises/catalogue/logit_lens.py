"""logit_lens, of lesson 11: what a model would predict if it ended after each of its layers."""

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal
from transformer_lessons.inspection import experiments


def draw(generator, stages, batch, length, d_model, vocabulary, epsilon=1e-5, first=1.0):
    """A residual stream that grows from stage to stage, a norm with gain and bias, and a table (vocabulary, d_model).

    The mean of a vector is not 0, and first scales the stage before the layers: where that is small, as in GPT-2,
    epsilon makes a visible difference.
    """
    added = normal(generator, stages, batch, length, d_model) + 0.7 * normal(generator, stages, batch, length, 1)
    scale = torch.tensor([first, *(1.5**stage for stage in range(1, stages))], dtype=torch.float64)
    residuals = (scale[:, None, None, None] * added).cumsum(dim=0)
    norm = nn.LayerNorm(d_model, eps=epsilon, dtype=torch.float64)
    with torch.no_grad():
        norm.weight.copy_(1.5 + normal(generator, d_model))
        norm.bias.copy_(normal(generator, d_model))
    return residuals, norm.eval(), normal(generator, vocabulary, d_model)


def what_fits(observed, expected, residuals, norm, unembedding):
    """Which stages are right, where some are and others are not."""
    try:
        same = [
            torch.allclose(one.double(), other.double(), atol=1e-4)
            for one, other in zip(observed, expected, strict=True)
        ]
    except (RuntimeError, ValueError, TypeError, AttributeError):
        return None
    if not any(same) or all(same):
        return None
    right = [str(stage) for stage, fits in enumerate(same) if fits]
    return f"Of stages 0 to {len(same) - 1}, only {', '.join(right)} {'are' if len(right) > 1 else 'is'} right."


exercise = Exercise(
    name="logit_lens",
    lesson=11,
    title="What would it say now?",
    difficulty=2,
    importance=3,
    minutes=8,
    contract="""
        logit_lens(residuals, norm, unembedding) returns the logits (stages, batch, length, vocabulary) that a model
        would give if it ended at each stage. residuals is a float tensor (stages, batch, length, d_model): stage 0 is
        the residual stream before the first layer, and each further stage is the whole stream after one more layer,
        with everything added so far. norm is the model's final nn.LayerNorm, with its gain, its bias and its epsilon;
        unembedding is the table (vocabulary, d_model) whose row j scores token j, without a bias. Each stage is treated
        as the model treats the last one: each vector is normalised with its own mean and variance. residuals stay as
        they are.
        """,
    stub='''
        def logit_lens(residuals, norm, unembedding):
            """(stages, batch, length, d_model) → logits (stages, batch, length, vocabulary)."""
            raise NotImplementedError
        ''',
    sizes=[
        {"stages": 2, "batch": 1, "length": 2, "d_model": 3, "vocabulary": 4},
        {"stages": 3, "batch": 2, "length": 4, "d_model": 6, "vocabulary": 5},
        {"stages": 4, "batch": 3, "length": 2, "d_model": 5, "vocabulary": 7, "epsilon": 1e-3, "first": 0.02},
        {"stages": 3, "batch": 2, "length": 5, "d_model": 6, "vocabulary": 6},
        {"stages": 4, "batch": 4, "length": 4, "d_model": 4, "vocabulary": 4},
        {"stages": 5, "batch": 1, "length": 3, "d_model": 8, "vocabulary": 9, "first": 0.003},
    ],
    draw=draw,
    reference=lambda residuals, norm, unembedding: experiments.logit_lens(residuals, norm, unembedding),
    returns="logits",
    shapes={"logits": "(stages, batch, length, vocabulary)"},
    symptoms=[what_fits],
    names_steps=False,
    hints=[
        (
            "what goes in",
            "The model ends with two steps: the final norm, then the unembedding. Write them for the "
            "last stage alone, then for any other stage. Does anything in them depend on which stage it is?",
        ),
        (
            "the norm",
            "nn.LayerNorm computes the mean and the variance of every vector that it is given, over the "
            "last dimension, however many dimensions come before it. You need not compute them yourself.",
        ),
        (
            "the table",
            "Row j of the table belongs to token j, as in nn.Linear(d_model, vocabulary).weight. Which "
            "product gives one number for each row? Try F.linear, or @ with the table transposed.",
        ),
    ],
    solution="""
        import torch.nn.functional as F


        def logit_lens(residuals, norm, unembedding):
            return F.linear(norm(residuals), unembedding)
        """,
)


def normalised(x, norm, mean=None, variance=None):
    """A layer norm by hand, with its own statistics or with others."""
    mean = x.mean(-1, keepdim=True) if mean is None else mean
    variance = x.var(-1, correction=0, keepdim=True) if variance is None else variance
    return (x - mean) / (variance + norm.eps).sqrt() * norm.weight + norm.bias


@exercise.right("step by step")
class Lens(Steps):
    def __call__(self, residuals, norm, unembedding):
        normed = self.normed(self.stages(residuals), norm)
        return self.handed(self.logits(normed, unembedding), residuals, norm, unembedding)

    def stages(self, residuals):
        return residuals

    def normed(self, x, norm):
        return norm(x)

    def logits(self, normed, unembedding):
        return normed @ unembedding.T

    def handed(self, logits, residuals, norm, unembedding):
        return logits


# The norm
mistake = exercise.section(hint=2)
OWN = "how large is the stream at stage 0, and how large at the last one? Whose mean and variance does each stage need?"
mistake(
    "no norm",
    pairs=1,
    why="The stream is multiplied by the table as it is, without the final norm.",
    look="what does the model do between its last layer and its logits?",
    normed=lambda x: x,
)
mistake(
    "the last stage's statistics for all",
    pairs=2,
    why="All stages are normalised with statistics of the last "
    "stage: its mean, its standard deviation or its length. The stream changes from layer to layer, so these do not "
    "fit the earlier stages.",
    look=OWN,
    normed=[
        lambda x, norm: normalised(x, norm, x[-1].mean(-1, keepdim=True), x[-1].var(-1, correction=0, keepdim=True)),
        lambda x, norm: normalised(x, norm, None, x[-1].var(-1, correction=0, keepdim=True)),
        lambda x, norm: normalised(x, norm, x[-1].mean(-1, keepdim=True)),
        lambda x, norm: (x - x.mean(-1, keepdim=True)) / (x[-1].var(-1, correction=0, keepdim=True) + norm.eps).sqrt(),
        lambda x: (x - x[-1].mean(-1, keepdim=True)) / x[-1].std(-1, keepdim=True),
        lambda x: (x - x.mean(-1, keepdim=True)) / x[-1].std(-1, keepdim=True),
        lambda x, norm: (x - x.mean(-1, keepdim=True)) / x[-1].std(-1, keepdim=True) * norm.weight + norm.bias,
        lambda x: x / (x[-1].var(-1, correction=0, keepdim=True) + 1e-5).sqrt(),
        lambda x, norm: x / x[-1].norm(dim=-1, keepdim=True) * norm.weight + norm.bias,
        lambda x, norm: normalised(x, norm, None, x[-1].var(-1, correction=0, keepdim=True).mean()),
        lambda x, norm: normalised(x, norm, None, x[-1].var(correction=0)),
        lambda x, norm: (
            (x - x[-1].mean(-1, keepdim=True)) / (x[-1].var(-1, correction=0, keepdim=True) + norm.eps).sqrt()
        ),
    ],
)
mistake(
    "the first stage's statistics for all",
    why="All stages are normalised with statistics of the first stage, such as its standard deviation.",
    look=OWN,
    normed=[
        lambda x, norm: normalised(x, norm, x[0].mean(-1, keepdim=True), x[0].var(-1, correction=0, keepdim=True)),
        lambda x, norm: normalised(x, norm, None, x[0].var(-1, correction=0, keepdim=True)),
    ],
)
mistake(
    "the statistics of a neighbour",
    pairs=0,
    why="Each stage is normalised with the mean and the variance of the stage before it or after it.",
    look=OWN,
    normed=[
        lambda x, norm: normalised(
            x, norm, x.roll(1, 0).mean(-1, keepdim=True), x.roll(1, 0).var(-1, correction=0, keepdim=True)
        ),
        lambda x, norm: normalised(
            x, norm, x.roll(-1, 0).mean(-1, keepdim=True), x.roll(-1, 0).var(-1, correction=0, keepdim=True)
        ),
    ],
)
mistake(
    "statistics over other dimensions",
    pairs=2,
    why="The mean and the variance are taken over stages, sequences "
    "or positions, with or without the features. Each vector should have its own.",
    look="over which dimension does nn.LayerNorm(d_model) take its mean?",
    normed=[
        lambda x, norm, over=over: normalised(
            x, norm, x.mean(over, keepdim=True), x.var(over, correction=0, keepdim=True)
        )
        for over in (
            (0, -1),
            (-2, -1),
            (0,),
            (1,),
            (2,),
            (0, 1, 2, 3),
            (1, 2, 3),
            (0, 2, 3),
            (0, 1, 2),
            (0, 1, 3),
            (1, -1),
            (1, 2),
        )
    ]
    + [
        lambda x, norm, over=over: (
            (x - x.mean(over, keepdim=True)) / x.std(over, correction=0, keepdim=True) * norm.weight + norm.bias
        )
        for over in ((0, 1, 2, 3), (1, 2, 3), (0, -1), (-2, -1))
    ],
)
mistake(
    "a variance shared by several vectors",
    pairs=0,
    why="Each vector's own mean is subtracted, but the variance "
    "is pooled over stages, sequences or positions, so several vectors share one. Each vector should have its own.",
    look="what shape does your variance have, and what shape should it have?",
    normed=[
        lambda x, norm, over=over: normalised(
            x, norm, None, x.var(-1, correction=0, keepdim=True).mean(over, keepdim=True)
        )
        for over in (0, 1, 2, (0, 1), (0, 2), (1, 2), (0, 1, 2))
    ],
)
mistake(
    "divided by the length",
    pairs=0,
    why="Each vector, with its mean or without, is divided by its length. "
    "nn.LayerNorm divides by the standard deviation, which is smaller.",
    look="every `.norm(` and `F.normalize`: how long is a vector once nn.LayerNorm has divided it?",
    normed=[
        lambda x, norm, centred=centred, finished=finished: finished(
            F.normalize(x - x.mean(-1, keepdim=True) if centred else x, dim=-1), norm
        )
        for centred in (False, True)
        for finished in (
            lambda x, norm: x * norm.weight + norm.bias,
            lambda x, norm: x * norm.weight,
            lambda x, norm: x,
        )
    ],
)
mistake(
    "the norm twice",
    pairs=1,
    why="The norm is applied twice, to every stage or only to the last.",
    look="which stages go through the norm, and how often?",
    normed=[lambda x, norm: norm(norm(x)), lambda x, norm: torch.cat([norm(x[:-1]), norm(norm(x[-1:]))])],
)
mistake(
    "the norm not at every stage",
    why="Only one stage goes through the norm, or all stages but one do.",
    look="does your code treat all stages alike?",
    normed=[
        lambda x, norm: torch.cat([x[:-1], norm(x[-1:])]),
        lambda x, norm: torch.cat([norm(x[:-1]), x[-1:]]),
        lambda x, norm: torch.cat([x[:1], norm(x[1:])]),
        lambda x, norm: torch.cat([norm(x[:1]), x[1:]]),
    ],
)
mistake(
    "gain or bias missing",
    pairs=3,
    why="The result lacks the gain or the bias that the model's norm has learned, or both.",
    look="what has `norm` learned?",
    normed=[
        lambda x, norm: F.layer_norm(x, x.shape[-1:], eps=norm.eps),
        lambda x, norm: F.layer_norm(x, x.shape[-1:], norm.weight, eps=norm.eps),
        lambda x, norm: F.layer_norm(x, x.shape[-1:], None, norm.bias, norm.eps),
        lambda x: F.layer_norm(x, x.shape[-1:]),
        lambda x: (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True),
        lambda x: (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5),
        lambda x: (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt(),
        lambda x, norm: (
            (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + norm.eps) * norm.weight
        ),
    ],
)
mistake(
    "gain and bias mixed up",
    pairs=0,
    why="The gain is used where the bias belongs, or the bias where the gain belongs, or both.",
    look="which of norm.weight and norm.bias is multiplied, and which is added?",
    normed=[
        lambda x, norm: F.layer_norm(x, x.shape[-1:], norm.bias, norm.weight, norm.eps),
        lambda x, norm: F.layer_norm(x, x.shape[-1:], norm.weight, norm.weight, norm.eps),
        lambda x, norm: F.layer_norm(x, x.shape[-1:], norm.bias, norm.bias, norm.eps),
    ],
)
mistake(
    "the bias added before the gain",
    pairs=0,
    why="The bias is added first, and the gain multiplies both, so the bias is scaled too.",
    look="which of the two does nn.LayerNorm do last: multiply or add?",
    normed=lambda x, norm: (F.layer_norm(x, x.shape[-1:], eps=norm.eps) + norm.bias) * norm.weight,
)
mistake(
    "the gain before the norm",
    pairs=0,
    why="The stream is multiplied by the gain first, and then normalised, which undoes part of what the gain does.",
    look="what does nn.LayerNorm do last?",
    normed=[
        lambda x, norm: F.layer_norm(x * norm.weight, x.shape[-1:], None, norm.bias, norm.eps),
        lambda x, norm: F.layer_norm(x * norm.weight + norm.bias, x.shape[-1:], eps=norm.eps),
    ],
)
mistake(
    "the gain or the bias changed",
    pairs=0,
    why="The gain or the bias is not used as it is: 1 is added to the "
    "gain, the gain divides, or the bias is subtracted.",
    look="what does nn.LayerNorm do with norm.weight and norm.bias?",
    normed=[
        lambda x, norm: F.layer_norm(x, x.shape[-1:], 1 + norm.weight, norm.bias, norm.eps),
        lambda x, norm: F.layer_norm(x, x.shape[-1:], 1 + norm.weight, None, norm.eps),
        lambda x, norm: F.layer_norm(x, x.shape[-1:], 1 / norm.weight, norm.bias, norm.eps),
        lambda x, norm: F.layer_norm(x, x.shape[-1:], norm.weight, -norm.bias, norm.eps),
    ],
)
mistake(
    "the bias added to the logits",
    pairs=0,
    why="The norm's bias, or its sum or mean, is added to the logits. It belongs before the product with the table.",
    look="how many numbers does norm.bias have, and how many does a vector of logits have?",
    variants=[
        lambda residuals, norm, unembedding, added=added: (
            F.layer_norm(residuals, norm.normalized_shape, norm.weight, None, norm.eps) @ unembedding.T
            + added(norm.bias)
        )
        for added in (lambda bias: bias, lambda bias: bias.sum(), lambda bias: bias.mean())
    ],
)
mistake(
    "the unbiased variance",
    pairs=1,
    why="The sum of the squared deviations is divided by one less than the "
    "number of features, which is what .var() and .std() do by default; nn.LayerNorm divides it by the number itself.",
    look="the arguments of .var() and .std().",
    normed=[
        lambda x, norm: normalised(x, norm, None, x.var(-1, keepdim=True)),
        lambda x, norm: (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + norm.eps) * norm.weight + norm.bias,
        lambda x, norm: (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5) * norm.weight + norm.bias,
        lambda x, norm: normalised(x, norm, None, x.var(-1, keepdim=True) - norm.eps),
        lambda x, norm: normalised(x, norm, None, x.var(-1, keepdim=True) - norm.eps + 1e-5),
    ],
)
mistake(
    "another epsilon",
    pairs=2,
    why="The norm uses an epsilon other than norm.eps, or none, or adds it outside the "
    "root. This shows where the stream is small, as it can be before the first layer.",
    look="what is norm.eps, and does your norm use it in the right place?",
    normed=[
        lambda x, norm: normalised(x, norm, None, x.var(-1, correction=0, keepdim=True) - norm.eps),
        lambda x, norm: normalised(x, norm, None, x.var(-1, correction=0, keepdim=True) - norm.eps + 1e-5),
        lambda x, norm: (
            (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + norm.eps) * norm.weight
            + norm.bias
        ),
        lambda x, norm: (
            (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + 1e-5) * norm.weight + norm.bias
        ),
        *(
            lambda x, norm, eps=eps: normalised(x, norm, None, x.var(-1, correction=0, keepdim=True) - norm.eps + eps)
            for eps in (1e-6, 1e-8, 1e-12)
        ),
    ],
)
mistake(
    "the mean left in",
    pairs=1,
    why="The mean of each vector is left in, as in RMSNorm. But `norm` is an nn.LayerNorm, which subtracts it.",
    look="which two numbers does nn.LayerNorm compute from a vector?",
    normed=[
        lambda x, norm: x / (x.square().mean(-1, keepdim=True) + norm.eps).sqrt() * norm.weight + norm.bias,
        lambda x, norm: x / (x.square().mean(-1, keepdim=True) + norm.eps).sqrt() * norm.weight,
        lambda x, norm: normalised(x, norm, 0),
    ],
)
mistake(
    "the norm after the table",
    pairs=0,
    why="The logits are normalised; the norm belongs before the product with the table.",
    look="what does the model do last, and what just before that?",
    variants=[
        lambda residuals, norm, unembedding: F.layer_norm(
            residuals @ unembedding.T, unembedding.shape[:1], eps=norm.eps
        ),
        lambda residuals, norm, unembedding: F.layer_norm(residuals @ unembedding.T, unembedding.shape[:1]),
    ],
)
mistake(
    "the stream added again",
    pairs=0,
    why="The stream is added back after the norm, as is done around a layer. "
    "But the final norm has no residual connection around it.",
    look="what does the model add after its final norm?",
    normed=lambda x, norm: x + norm(x),
)

# The stages
mistake = exercise.section(hint=1)
mistake(
    "contributions for the stream",
    pairs=2,
    why="The norm gets what each layer has added, not the whole stream after that layer.",
    look="what does the exercise say a stage holds?",
    stages=[
        lambda residuals: torch.cat([residuals[:1], residuals.diff(dim=0)]),
        lambda residuals: residuals.diff(dim=0),
    ],
)
mistake(
    "direct logit attribution",
    pairs=0,
    why="What each layer has added is turned into logits on its own, divided "
    "by the standard deviation of the last stage: that is direct logit attribution. In this exercise each stage is "
    "the whole stream, with statistics of its own.",
    look="what does the exercise say a stage holds?",
    variants=[
        lambda residuals, norm, unembedding, bias=bias, centre=centre: (
            attributed(residuals, norm, bias, centre) @ unembedding.T
        )
        for bias in (1, 0)
        for centre in (1, 0)
    ],
)


def attributed(x, norm, bias, centre):
    added = torch.cat([x[:1], x.diff(dim=0)])
    added = added - centre * added.mean(-1, keepdim=True)
    return added / (x[-1].var(-1, correction=0, keepdim=True) + norm.eps).sqrt() * norm.weight + bias * norm.bias


mistake(
    "the stages added up",
    pairs=1,
    why="The earlier stages, or just the first one, are added to the stages. But "
    "each stage already holds the whole stream.",
    look="what does the exercise say a stage holds?",
    stages=[
        lambda residuals: residuals.cumsum(0),
        lambda residuals: residuals + residuals[:1],
        lambda residuals: torch.cat([residuals[:1], residuals[1:] + residuals[:1]]),
    ],
)
mistake(
    "a running mean of the stages",
    pairs=0,
    why="Each stage is averaged with those before it. But each stage already holds the whole stream.",
    look="what does the exercise say a stage holds?",
    stages=lambda residuals: (
        residuals.cumsum(0) / torch.arange(1, len(residuals) + 1, dtype=residuals.dtype).view(-1, 1, 1, 1)
    ),
)
mistake(
    "one stage for all",
    pairs=0,
    why="The logits of one stage, the last or the first, come back for every stage.",
    look="from which stage does your code compute the logits of stage 1?",
    stages=[
        lambda residuals: residuals[-1:].expand_as(residuals),
        lambda residuals: residuals[:1].expand_as(residuals),
    ],
)
mistake(
    "the first stage left out",
    pairs=1,
    why="The stage before the first layer is missing.",
    look="how many stages come in, and how many go out?",
    stages=lambda residuals: residuals[1:],
)
mistake(
    "the last stage left out",
    pairs=1,
    why="The last stage is missing: the one that gives the model's own logits.",
    look="how many stages come in, and how many go out?",
    stages=lambda residuals: residuals[:-1],
)
mistake(
    "one stage alone",
    pairs=1,
    why="Only one stage comes back; all are expected.",
    look="how many stages come in, and how many go out?",
    stages=[
        lambda residuals: residuals[-1:],
        lambda residuals: residuals[-1],
        lambda residuals: residuals[:1],
        lambda residuals: residuals[0],
    ],
)
mistake(
    "a list of stages",
    pairs=0,
    why="The logits come back stage by stage, in a list or a tuple; one tensor is expected.",
    look="which function stacks tensors along a new dimension?",
    handed=[lambda logits: list(logits), lambda logits: tuple(logits)],
)
mistake(
    "the stages joined along the batch",
    pairs=0,
    why="The stages are joined along the batch; they should have a dimension of their own.",
    look="how many dimensions should the result have, and which holds the stages?",
    handed=lambda logits: logits.flatten(0, 1),
)
mistake(
    "the stages backwards",
    why="The stages are in reverse order: the last one comes first.",
    look="which stage should come first in the result?",
    stages=lambda residuals: residuals.flip(0),
)
mistake(
    "the mean of the stages",
    pairs=1,
    why="The stages are averaged, or summed, into one.",
    look="how many stages come in, and how many go out?",
    stages=[lambda residuals: residuals.mean(0), lambda residuals: residuals.sum(0)],
)
mistake(
    "the sequences averaged",
    pairs=0,
    why="The sequences of the batch are averaged, or summed; each has logits of its own.",
    look="every mean and sum: over which dimension does it run?",
    stages=[
        lambda residuals: residuals.mean(1, keepdim=True).expand_as(residuals),
        lambda residuals: residuals.mean(1, keepdim=True),
        lambda residuals: residuals.mean(1),
        lambda residuals: residuals.sum(1),
    ],
    normed=lambda x, norm: norm(x).mean(1, keepdim=True),
)
mistake(
    "the positions averaged",
    pairs=0,
    why="The positions are averaged, or summed; each has logits of its own.",
    look="every mean and sum: over which dimension does it run?",
    stages=[
        lambda residuals: residuals.mean(2),
        lambda residuals: residuals.mean(2, keepdim=True),
        lambda residuals: residuals.mean(2, keepdim=True).expand_as(residuals),
        lambda residuals: residuals.sum(2),
    ],
    normed=lambda x, norm: norm(x).mean(2),
)
mistake(
    "positions left out",
    pairs=1,
    why="Only one position comes back, or all but one; the exercise asks for the logits at all of them.",
    look="the shape of the result.",
    stages=[
        lambda residuals: residuals[:, :, -1],
        lambda residuals: residuals[:, :, -1:],
        lambda residuals: residuals[:, :, :-1],
        lambda residuals: residuals[:, :, 0],
    ],
)
mistake(
    "dimensions swapped",
    pairs=1,
    why="Stages, sequences and positions are in the wrong order: some dimensions are swapped.",
    look="the shape of the result.",
    stages=[
        lambda residuals: residuals.transpose(0, 1),
        lambda residuals: residuals.transpose(1, 2),
        lambda residuals: residuals.permute(1, 2, 0, 3),
    ],
)

# The table
mistake = exercise.section(hint=3)
mistake(
    "the table not transposed",
    pairs=1,
    why="The vectors are multiplied by the table's columns, not by its rows, "
    "which works only where there are as many tokens as features.",
    look="which row of the table belongs to token j?",
    logits=lambda normed, unembedding: normed @ unembedding,
    raises=False,
)
mistake(
    "scaled logits",
    pairs=2,
    why="The logits are multiplied or divided by the square root of d_model, or divided by d_model.",
    look="every factor and every division: does the exercise ask for it?",
    logits=[
        lambda right, normed: right / normed.shape[-1] ** 0.5,
        lambda right, normed: right * normed.shape[-1] ** 0.5,
        lambda right, normed: right / normed.shape[-1],
    ],
)
mistake(
    "probabilities",
    pairs=3,
    why="The logits have gone through a softmax, or another function that makes probabilities; logits are expected.",
    look="what comes between the product with the table and the `return`?",
    logits=[
        lambda right: right.softmax(-1),
        lambda right: right.sigmoid(),
        lambda right: right.softmax(0),
        lambda right: right.softmax(1),
        lambda right: right.softmax(2),
    ],
)
mistake(
    "log-probabilities",
    pairs=1,
    why="The logarithm of a softmax or of a sigmoid is returned; the logits themselves are expected.",
    look="what comes between the product with the table and the `return`?",
    logits=[
        *(lambda right, dim=dim: right.log_softmax(dim) for dim in (-1, 0, 1, 2)),
        lambda right: F.logsigmoid(right),
    ],
)
mistake(
    "the likeliest token",
    pairs=1,
    why="Only the likeliest token, its logit or its probability comes back.",
    look="the shape of the result.",
    logits=[
        lambda right: right.argmax(-1),
        lambda right: right.amax(-1),
        lambda right: right.argmax(-1).double(),
        lambda right: right.softmax(-1).amax(-1),
    ],
)
mistake(
    "the logits centred",
    pairs=0,
    why="The mean of the logits, or the largest of them, is subtracted from each.",
    look="every subtraction outside the norm.",
    logits=[lambda right: right - right.mean(-1, keepdim=True), lambda right: right - right.amax(-1, keepdim=True)],
)
mistake(
    "no table",
    pairs=0,
    why="The normalised vectors come back as they are, without a score for each token.",
    look="the shape of the result.",
    logits=lambda normed: normed,
)
mistake(
    "the norm on the table",
    why="The norm is applied to the rows of the table as well; it should be applied to the stream alone.",
    look="what does the model do to its table before the product?",
    variants=[{"__call__": lambda step, residuals, norm, unembedding: step(residuals, norm, norm(unembedding))}],
)
mistake(
    "the norm on the table, not on the stream",
    pairs=0,
    why="The norm is applied to the rows of the table, not to the stream.",
    look="what does the model normalise after its last layer?",
    variants=[lambda residuals, norm, unembedding: residuals @ norm(unembedding).T],
)
mistake(
    "a table without its lengths",
    pairs=0,
    why="The rows of the table are scaled to length 1, so their lengths no longer count in the logits.",
    look="what is done to the table before the product?",
    logits=lambda normed, unembedding: normed @ F.normalize(unembedding, dim=-1).T,
)
mistake(
    "differences between stages",
    pairs=0,
    why="The logits of one stage are subtracted from those of another.",
    look="every subtraction outside the norm.",
    handed=[
        lambda logits: logits - logits[-1],
        lambda logits: logits - logits[0],
        lambda logits: torch.cat([logits[:1], logits.diff(dim=0)]),
        lambda logits: logits.diff(dim=0),
    ],
)
