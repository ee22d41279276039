"""Lesson 6, varied: a window on both sides."""

import torch

from transformer_lessons.exercises.checker.exercise import Exercise, Steps


def window_mask(length, before, after):
    positions = torch.arange(length)
    steps = positions - positions[:, None]
    return (steps >= -before) & (steps <= after)


exercise = Exercise(
    name="window_mask",
    lesson=6,
    title="A window on both sides",
    difficulty=2,
    importance=2,
    minutes=8,
    contract="""window_mask(length, before, after) returns a bool mask (length, length) in which position i may attend
        to the positions from i - before to i + after, both included, as far as they exist.""",
    stub='''
        def window_mask(length, before, after):
            """True where position i (row) may attend to position j (column)."""
            raise NotImplementedError''',
    sizes=[
        dict(zip(("length", "before", "after"), one, strict=True))
        for one in ((4, 1, 0), (5, 1, 2), (7, 3, 1), (6, 0, 0), (6, 2, 2), (1, 2, 3), (5, 9, 1))
    ],
    draw=lambda generator, length, before, after: (length, before, after),
    reference=window_mask,
    returns="mask",
    shapes={"mask": "(query, key)"},
    hints=[("it is the mirror image", "Rows ask. In row 3 and column 1, which position attends to which?")],
)


@exercise.right("step by step")
class Window(Steps):
    def __call__(self, length, before, after):
        steps = self.steps_ahead(torch.arange(length))
        return self.within(steps, before, after)

    def steps_ahead(self, positions):
        return positions - positions[:, None]

    def within(self, steps, before, after):
        return (steps >= -before) & (steps <= after)


@exercise.right("with triu and tril")
def with_triangles(length, before, after):
    return torch.ones(length, length, dtype=torch.bool).triu(-before).tril(after)


mistake = exercise.section(hint=1)
mistake(
    "rows and columns swapped",
    why="before and after are exchanged: the mask is transposed.",
    look="read row 2 aloud.",
    steps_ahead=lambda positions: positions[:, None] - positions,
)
mistake(
    "one step too few before",
    why="The first position of the window is left out.",
    look="the word included.",
    within=lambda steps, before, after: (steps > -before) & (steps <= after),
)
mistake(
    "one step too few after",
    why="The last position of the window is left out.",
    look="the word included.",
    within=lambda steps, before, after: (steps >= -before) & (steps < after),
)
mistake(
    "True for what is hidden", why="The mask is inverted.", look="what does True mean?", within=lambda right: ~right
)
mistake(
    "nothing after",
    why="No position sees a later one: the mask is causal.",
    look="where do you use `after`?",
    within=lambda steps, before: (steps >= -before) & (steps <= 0),
)
