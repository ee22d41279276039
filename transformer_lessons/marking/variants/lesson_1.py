"""Lesson 1, varied: a softmax with a temperature."""

import numpy as np

from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal


def tempered_softmax(scores, temperature):
    scaled = scores / temperature
    exponentials = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


exercise = Exercise(
    name="tempered_softmax",
    lesson=1,
    title="A softmax with a temperature",
    difficulty=1,
    importance=2,
    minutes=6,
    contract="""tempered_softmax(scores, temperature) divides the scores, an array (…, n), by the temperature and
        returns their softmax over the last axis. Scores of any size must work.""",
    stub='''
        def tempered_softmax(scores, temperature):
            """The softmax over the last axis, flatter the higher the temperature."""
            raise NotImplementedError''',
    sizes=[
        {"shape": (2, 3), "temperature": 2.0},
        {"shape": (3, 2, 4), "temperature": 0.5},
        {"shape": (4, 4), "temperature": 3.0},
        {"shape": (3, 5), "temperature": 1.5, "shift": 3000.0},
    ],
    draw=lambda generator, shape, temperature, shift=0.0: (
        (shift + 2 * normal(generator, *shape)).numpy(),
        temperature,
    ),
    reference=tempered_softmax,
    returns="weights",
    hints=[("the rows are too flat, or too steep", "What does a high temperature do to the differences?")],
)


@exercise.right("step by step")
class Tempered(Steps):
    def __call__(self, scores, temperature):
        scaled = self.scaled(scores, temperature)
        return self.normalised(self.exponentials(scaled))

    def scaled(self, scores, temperature):
        return scores / temperature

    def exponentials(self, scaled):
        return np.exp(scaled - scaled.max(axis=-1, keepdims=True))

    def normalised(self, exponentials):
        return exponentials / exponentials.sum(axis=-1, keepdims=True)


mistake = exercise.section(hint=1)
mistake(
    "multiplied by the temperature",
    why="The scores are multiplied by the temperature.",
    look="which is flatter, at a temperature of 100 or of 1?",
    scaled=lambda scores, temperature: scores * temperature,
)
mistake(
    "no temperature",
    why="The temperature is not used.",
    look="where does it appear in your code?",
    scaled=lambda scores: scores,
)
mistake(
    "the temperature after the softmax",
    why="The weights, not the scores, are divided by the temperature.",
    look="what do the rows sum to?",
    variants=[lambda scores, temperature: Tempered()(scores, 1.0) / temperature],
)
mistake(
    "the wrong axis",
    why="The softmax runs over the second-last axis.",
    look="which axis must sum to 1?",
    variants=[
        {
            "exponentials": lambda scaled: np.exp(scaled - scaled.max(axis=-2, keepdims=True)),
            "normalised": lambda exponentials: exponentials / exponentials.sum(axis=-2, keepdims=True),
        }
    ],
)
