"""Where a run stands, and what you see of it: a bar in a terminal or notebook, and lines in a file."""

import sys
from dataclasses import dataclass, field

from tqdm import tqdm

from transformer_lessons.language.batches import Data
from transformer_lessons.language.recipe import Recipe


@dataclass
class Progress:
    """Where a run stands."""

    step: int = 0
    losses: list = field(default_factory=list)  # of each step, in nats per token
    evaluations: list = field(default_factory=list)  # step and nats per token of each


def new_bar(recipe: Recipe, progress: Progress, quiet: bool) -> tqdm:
    """tqdm's bar, redrawn in place in a terminal or notebook; in a file, such as a job's log, one line a minute."""
    live = sys.stderr.isatty() or "ipykernel" in type(sys.stderr).__module__
    return tqdm(
        total=recipe.steps,
        initial=progress.step,
        unit="step",
        disable=quiet,
        miniters=1,
        mininterval=0.5 if live else 60,
        file=sys.stderr if live else Log(),
    )


class Log:
    """A stream in which nothing can be redrawn: each state of a bar is a line of its own."""

    def write(self, text: str) -> None:
        if text.strip():
            print(text.strip(), file=sys.stderr)

    def flush(self) -> None:
        sys.stderr.flush()


def standing(progress: Progress, data: Data) -> str:
    """What is shown beside the bar."""
    recent = progress.losses[-20:]
    text = f"loss {sum(recent) / len(recent):.2f}"
    if progress.evaluations:
        text += f", validation {data.bits(progress.evaluations[-1][1]):.3f} bits per character"
    return text
