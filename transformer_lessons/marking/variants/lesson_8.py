"""Lesson 8, varied: top-p sampling."""

import torch

from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal


def keep_top_p(logits, p):
    ordered, places = logits.sort(dim=-1, descending=True)
    probabilities = ordered.softmax(dim=-1)
    hidden = probabilities.cumsum(dim=-1) - probabilities >= p
    return logits.masked_fill(torch.zeros_like(hidden).scatter(-1, places, hidden), -torch.inf)


exercise = Exercise(
    name="keep_top_p",
    lesson=8,
    title="Top-p",
    difficulty=3,
    importance=2,
    minutes=12,
    contract="""keep_top_p(logits, p), with logits (batch, vocabulary) and p between 0 and 1, keeps in each row the
        fewest tokens, most probable first, whose probabilities add up to at least p, and sets the logits of all others
        to minus infinity. The most probable token is always kept. logits is left as it was.""",
    stub='''
        def keep_top_p(logits, p):
            """The logits of the likeliest tokens, which together have the probability p; -inf for the others."""
            raise NotImplementedError''',
    sizes=[
        {"batch": batch, "vocabulary": vocabulary, "p": p}
        for batch, vocabulary, p in ((1, 4, 0.6), (2, 5, 0.8), (4, 4, 0.5), (3, 7, 0.9), (2, 6, 0.3), (2, 6, 0.05))
    ],
    draw=lambda generator, batch, vocabulary, p: (2 * normal(generator, batch, vocabulary), p),
    reference=keep_top_p,
    returns="logits",
    shapes={"logits": "(batch, vocabulary)"},
    hints=[
        (
            "a token too few, or too many",
            "Go down the sorted list. When do you need the next token: before or after "
            "you have looked at what it adds?",
        )
    ],
)


@exercise.right("step by step")
class TopP(Steps):
    def __call__(self, logits, p):
        ordered, places = self.ordered(logits)
        hidden = self.hidden(ordered.softmax(dim=-1), p)
        return logits.masked_fill(self.put_back(hidden, places), -torch.inf)

    def ordered(self, logits):
        return logits.sort(dim=-1, descending=True)

    def hidden(self, probabilities, p):
        return probabilities.cumsum(dim=-1) - probabilities >= p

    def put_back(self, hidden, places):
        return torch.zeros_like(hidden).scatter(-1, places, hidden)


mistake = exercise.section(hint=1)
mistake(
    "one token too few",
    why="The token with which p is reached is left out.",
    look="with p = 0.05, how many tokens are kept?",
    hidden=lambda probabilities, p: probabilities.cumsum(dim=-1) >= p,
)
mistake(
    "in sorted order",
    why="The mask is made in sorted order, and never put back into the order of the vocabulary.",
    look="which token does column 0 of the mask belong to?",
    put_back=lambda hidden: hidden,
)
mistake(
    "the least probable first",
    why="The tokens are taken from the least probable on.",
    look="how is the list sorted?",
    ordered=lambda logits: logits.sort(dim=-1),
)
mistake(
    "a threshold for each token",
    why="Each token less probable than p is hidden, whatever the others add up to.",
    look="what is added up?",
    variants=[lambda logits, p: logits.masked_fill(logits.softmax(-1) < p, -torch.inf)],
)
mistake(
    "1 - p",
    why="Tokens are kept up to a probability of 1 - p.",
    look="is p what is kept, or what is cut?",
    variants=[lambda logits, p: TopP()(logits, 1 - p)],
)
