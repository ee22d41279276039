"""How to train: sizes, rates and how often, with what each of them may be."""

import math
from dataclasses import dataclass

from transformer_lessons.validation import check_sizes


@dataclass(frozen=True)
class Recipe:
    """How to train. The same recipe, data and model give the same weights, bit for bit on one thread."""

    steps: int = 300  # updates of the weights
    batch_size: int = 16  # sequences in each update, over all processes
    length: int = 64  # tokens in a sequence
    learning_rate: float = 4e-3  # at its peak
    warm_up: float = 0.15  # the share of the steps in which it rises from 0; after that it falls back to 0
    optimizer: str = "adamw"  # or muon, which leaves all but the layers' matrices to AdamW
    betas: tuple = (0.8, 0.95)  # how slowly AdamW forgets earlier gradients, and their squares
    weight_decay: float = 0.1  # how strongly the matrices are pulled towards 0
    clip: float = 1.0  # a gradient longer than this is shortened to it
    evaluate_every: int = 0  # steps between evaluations; 0: only at the end
    save_every: int = 100  # steps between checkpoints, if there is a file for them
    seed: int = 0  # for the order of the sequences
    precision: str = "auto"  # for matrix products: bfloat16 or float32; auto: bfloat16 where the processor has it

    def __post_init__(self) -> None:
        sizes = ("steps", "batch_size", "length", "save_every")
        check_sizes(**{name: getattr(self, name) for name in sizes})
        check_sizes(0, evaluate_every=self.evaluate_every, seed=self.seed)
        share, rate = [0 <= beta < 1 for beta in self.betas], self.learning_rate
        check("learning_rate", rate, 0 < rate < math.inf, "more than 0, and finite")
        check("warm_up", self.warm_up, 0 <= self.warm_up < 1, "at least 0 and less than 1")
        check("betas", self.betas, share == [True, True], "two numbers of at least 0 and less than 1")
        check("weight_decay", self.weight_decay, 0 <= self.weight_decay < math.inf, "at least 0, and finite")
        check("clip", self.clip, self.clip > 0, "more than 0")
        check("optimizer", self.optimizer, self.optimizer in ("adamw", "muon"), "adamw or muon")
        known = ("auto", "bfloat16", "float32")
        check("precision", self.precision, self.precision in known, f"one of {', '.join(known)}")
        check("seed", self.seed, self.seed < 2**32, f"less than {2**32}")


def check(name: str, number: object, right: bool, rule: str) -> None:
    if not right:
        raise ValueError(f"{name}={number} must be {rule}")
