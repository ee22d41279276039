"""Lesson 2, varied: attention with the length first and the batch second."""

from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal


def draw(generator, queries, keys, batch, d, d_v):
    return tuple(normal(generator, *shape) for shape in ((queries, batch, d), (keys, batch, d), (keys, batch, d_v)))


def attention_length_first(query, key, value):
    query, key, value = (one.transpose(0, 1) for one in (query, key, value))
    weights = (query @ key.mT).softmax(dim=-1)
    return (weights @ value).transpose(0, 1), weights


exercise = Exercise(
    name="attention_length_first",
    lesson=2,
    title="Length first",
    difficulty=2,
    importance=2,
    minutes=10,
    contract="""attention_length_first(query, key, value), with query (queries, batch, d), key (keys, batch, d) and
        value (keys, batch, d_v), returns (output, weights): dot products without a scale, a softmax over the keys,
        and the weighted average of the values. output is (queries, batch, d_v), weights is (batch, queries, keys).""",
    stub='''
        def attention_length_first(query, key, value):
            """Attention within each sequence of a batch, for tensors that begin with the length."""
            raise NotImplementedError''',
    sizes=[
        dict(zip(("queries", "keys", "batch", "d", "d_v"), one, strict=True))
        for one in ((2, 3, 1, 4, 2), (3, 5, 2, 4, 6), (4, 4, 4, 4, 4), (5, 2, 3, 6, 4))
    ],
    draw=draw,
    reference=attention_length_first,
    returns=("output", "weights"),
    shapes={"output": "(queries, batch, d_v)", "weights": "(batch, queries, keys)"},
    hints=[("a shape is wrong", "Which two dimensions must come last before you multiply matrices?")],
)


@exercise.right("step by step")
class LengthFirst(Steps):
    def __call__(self, query, key, value):
        query, key, value = (self.batched(one) for one in (query, key, value))
        weights = self.weights(query @ key.mT)
        return self.unbatched(weights @ value), weights

    def batched(self, x):
        return x.transpose(0, 1)

    def weights(self, scores):
        return scores.softmax(dim=-1)

    def unbatched(self, output):
        return output.transpose(0, 1)


mistake = exercise.section(hint=1)
mistake(
    "a reshape for the transpose",
    why="The batch is brought to the front by a reshape, which mixes the sequences.",
    look="follow the first vector of the second sequence.",
    batched=lambda x: x.reshape(x.shape[1], x.shape[0], x.shape[2]),
)
mistake(
    "the batch left in front",
    why="The output still begins with the batch.",
    look="the shape in the contract.",
    unbatched=lambda output: output,
)
mistake(
    "a softmax over the queries",
    why="The softmax runs over the queries: each key gets weights that sum to 1.",
    look="who asks, and who is chosen from?",
    weights=lambda scores: scores.softmax(dim=-2),
)
mistake(
    "a scale",
    why="The scores are divided by √d, which this contract does not ask for.",
    look="the contract.",
    variants=[lambda query, key, value: LengthFirst()(query / query.shape[-1] ** 0.5, key, value)],
)
