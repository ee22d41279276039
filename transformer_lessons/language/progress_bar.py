"""What you see while a model trains: a bar in a terminal or notebook, and lines in a file."""

import sys

from tqdm import tqdm


def new_bar(recipe, progress, quiet):
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

    def write(self, text):
        if text.strip():
            print(text.strip(), file=sys.stderr)

    def flush(self):
        sys.stderr.flush()


def standing(progress, data):
    """What is shown beside the bar."""
    recent = progress.losses[-20:]
    text = f"loss {sum(recent) / len(recent):.2f}"
    if progress.evaluations:
        text += f", validation {data.bits(progress.evaluations[-1][1]):.3f} bits per character"
    return text
