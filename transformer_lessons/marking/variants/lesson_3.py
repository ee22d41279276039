"""Lesson 3, varied: a learned scale for each head."""

from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal


def draw(generator, batch, heads, queries, keys, d, d_v):
    return (
        normal(generator, batch, heads, queries, d),
        normal(generator, batch, heads, keys, d),
        normal(generator, batch, heads, keys, d_v),
        normal(generator, heads),
    )


def attention_with_scale(query, key, value, log_scale):
    scores = query @ key.mT * log_scale.exp()[:, None, None]
    return scores.softmax(dim=-1) @ value


exercise = Exercise(
    name="attention_with_scale",
    lesson=3,
    title="A scale for each head",
    difficulty=2,
    importance=2,
    minutes=8,
    contract="""attention_with_scale(query, key, value, log_scale) is attention in which head h multiplies its scores
        by exp(log_scale[h]), and by nothing else. query is (batch, heads, queries, d), key (batch, heads, keys, d),
        value (batch, heads, keys, d_v), log_scale (heads,). It returns the output (batch, heads, queries, d_v).""",
    stub='''
        def attention_with_scale(query, key, value, log_scale):
            """Attention; each head has learned how steep its softmax is."""
            raise NotImplementedError''',
    sizes=[
        dict(zip(("batch", "heads", "queries", "keys", "d", "d_v"), one, strict=True))
        for one in ((1, 2, 3, 4, 2, 3), (2, 3, 4, 5, 6, 2), (4, 4, 4, 4, 4, 4), (3, 1, 2, 6, 4, 5))
    ],
    draw=draw,
    reference=attention_with_scale,
    returns="output",
    hints=[("the scale does not line up", "Which shape must (heads,) take to meet (batch, heads, queries, keys)?")],
)


@exercise.right("step by step")
class Scaled(Steps):
    def __call__(self, query, key, value, log_scale):
        return self.scaled(query @ key.mT, query, log_scale).softmax(dim=-1) @ value

    def scaled(self, scores, query, log_scale):
        return scores * log_scale.exp()[:, None, None]


mistake = exercise.section(hint=1)
mistake(
    "√d besides",
    why="The scores are divided by √d as well.",
    look="what else than exp(log_scale) changes them?",
    scaled=lambda right, query: right / query.shape[-1] ** 0.5,
)
mistake(
    "√d alone",
    why="The scores are divided by √d; log_scale is not used.",
    look="where do you use log_scale?",
    scaled=lambda scores, query: scores / query.shape[-1] ** 0.5,
)
mistake(
    "no exponential",
    why="The scores are multiplied by log_scale itself, so they may change sign.",
    look="what does a log_scale of 0 mean?",
    scaled=lambda scores, log_scale: scores * log_scale[:, None, None],
)
mistake(
    "divided",
    why="The scores are divided by the scale.",
    look="which is steeper, a scale of 2 or of 1?",
    scaled=lambda scores, log_scale: scores / log_scale.exp()[:, None, None],
)
mistake(
    "a scale for each key",
    why="The scales are lined up with the last dimension, the keys.",
    look="print the shape of the scale beside that of the scores.",
    scaled=lambda scores, log_scale: scores * log_scale.exp(),
)
