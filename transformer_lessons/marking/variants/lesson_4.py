"""Lesson 4, varied: several query heads share one head of keys."""

from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal


def draw(generator, batch, groups, length, d_head, num_heads):
    return normal(generator, batch, groups, length, d_head), num_heads


def share_keys(key, num_heads):
    return key.repeat_interleave(num_heads // key.shape[1], dim=1)


exercise = Exercise(
    name="share_keys",
    lesson=4,
    title="Shared keys",
    difficulty=2,
    importance=2,
    minutes=8,
    contract="""share_keys(key, num_heads) takes keys (batch, groups, length, d_head), of which each head belongs to
        num_heads / groups neighbouring query heads, and returns (batch, num_heads, length, d_head), the keys of each
        query head: with 6 query heads in 2 groups, heads 0, 1 and 2 get the first, heads 3, 4 and 5 the second.""",
    stub='''
        def share_keys(key, num_heads):
            """The keys of each query head, where neighbouring heads share theirs."""
            raise NotImplementedError''',
    sizes=[
        dict(zip(("batch", "groups", "length", "d_head", "num_heads"), one, strict=True))
        for one in ((1, 2, 3, 2, 4), (2, 3, 4, 5, 6), (4, 4, 4, 4, 4), (2, 2, 5, 3, 8), (3, 1, 2, 4, 2))
    ],
    draw=draw,
    reference=share_keys,
    returns="key",
    shapes={"key": "(batch, num_heads, length, d_head)"},
    hints=[("the heads are in the wrong order", "Write the numbers of the groups side by side, head by head.")],
)


@exercise.right("step by step")
class Shared(Steps):
    def __call__(self, key, num_heads):
        return self.copied(key, num_heads // key.shape[1])

    def copied(self, key, times):
        return key.repeat_interleave(times, dim=1)


@exercise.right("with expand")
def with_expand(key, num_heads):
    batch, groups, length, d_head = key.shape
    return key[:, :, None].expand(batch, groups, num_heads // groups, length, d_head).flatten(1, 2)


mistake = exercise.section(hint=1)
mistake(
    "the groups by turns",
    why="The groups follow one another by turns, so neighbouring heads get different keys.",
    look="which group does head 1 belong to?",
    copied=lambda key, times: key.repeat(1, times, 1, 1),
)
mistake(
    "copies along the length",
    why="The keys are repeated along the length, not among the heads.",
    look="which dimension is to grow?",
    copied=lambda key, times: key.repeat_interleave(times, dim=2),
)
mistake(
    "groups times heads",
    why="Each group is copied num_heads times.",
    look="how many heads share one group?",
    variants=[lambda key, num_heads: key.repeat_interleave(num_heads, dim=1)],
)
