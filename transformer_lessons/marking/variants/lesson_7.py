"""Lesson 7, varied: RMS norm, after the residual connection."""

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal


def add_and_norm(x, update, gain):
    total = x + update
    return total / torch.sqrt(total.square().mean(dim=-1, keepdim=True) + 1e-5) * gain


exercise = Exercise(
    name="add_and_norm",
    lesson=7,
    title="Add and RMS norm",
    difficulty=2,
    importance=2,
    minutes=8,
    contract="""add_and_norm(x, update, gain) adds update to x, both (…, features), divides each vector of the sum by
        the root of (the mean of its squares, plus 1e-5), and multiplies it by gain, (features,).""",
    stub='''
        def add_and_norm(x, update, gain):
            """A residual connection, followed by RMS norm."""
            raise NotImplementedError''',
    sizes=[{"shape": (2, 3)}, {"shape": (2, 3, 4)}, {"shape": (4, 4)}, {"shape": (3, 5), "scale": 3e-3}],
    draw=lambda generator, shape, scale=1.0: (
        scale * (1 + normal(generator, *shape)),
        scale * normal(generator, *shape),
        normal(generator, shape[-1]),
    ),
    reference=add_and_norm,
    hints=[("the numbers are not right", "Three words, from right to left: square, mean, root.")],
)


@exercise.right("step by step")
class AddAndNorm(Steps):
    def __call__(self, x, update, gain):
        total = self.total(x, update)
        return self.normalised(total, self.mean_square(total)) * gain

    def total(self, x, update):
        return x + update

    def mean_square(self, total):
        return total.square().mean(dim=-1, keepdim=True)

    def normalised(self, total, mean_square):
        return total / torch.sqrt(mean_square + 1e-5)


@exercise.right("PyTorch's own")
def pytorchs_own(x, update, gain):
    return F.rms_norm(x + update, gain.shape, gain, 1e-5)


mistake = exercise.section(hint=1)
mistake("the residual missing", why="The update alone is normalised.", look="where is x?", total=lambda update: update)
mistake(
    "the norm before the sum",
    why="The update is normalised, and x is added afterwards.",
    look="what is normalised here?",
    variants=[lambda x, update, gain: x + AddAndNorm()(torch.zeros_like(x), update, gain)],
)
mistake(
    "layer norm",
    why="The mean is subtracted first, as in layer norm.",
    look="what does RMS stand for?",
    variants=[lambda x, update, gain: F.layer_norm(x + update, gain.shape, gain, None, 1e-5)],
)
mistake(
    "the sum for the mean",
    why="The squares are added up, and not divided by their number.",
    look="how does the result change when there are more features?",
    mean_square=lambda total: total.square().sum(dim=-1, keepdim=True),
)
mistake(
    "epsilon outside the root",
    why="The small number is added after the root is taken.",
    look="the brackets in the contract.",
    normalised=lambda total, mean_square: total / (mean_square.sqrt() + 1e-5),
)
mistake(
    "no root",
    why="Each vector is divided by its mean square.",
    look="doubling x: what should happen?",
    normalised=lambda total, mean_square: total / (mean_square + 1e-5),
)
