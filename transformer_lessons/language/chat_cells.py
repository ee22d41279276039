"""The chat model in a notebook, whose cells that need it run only where its file is."""

from typing import TYPE_CHECKING

from transformer_lessons.basis import chat_model

if TYPE_CHECKING:  # what compares notebooks needs no PyTorch
    from transformer_lessons.language.gguf_tokenizer import PublishedBytePairs
    from transformer_lessons.models import LanguageModel

NEEDED = "# needs the chat model"  # the first line of such a cell
INSTEAD = "This cell needs the chat model, which is not there: python3 -m transformer_lessons lab downloads it."


def skip_without_model() -> None:
    """From now on, a cell that begins with NEEDED says INSTEAD where the file is missing, and does nothing else."""
    from IPython import get_ipython

    shell = get_ipython()
    if shell is not None and run_or_say not in shell.input_transformers_cleanup:  # None: the cells run outside Jupyter
        shell.input_transformers_cleanup.append(run_or_say)


def run_or_say(lines: list[str]) -> list[str]:
    """The lines of a cell, or those that run in their place; as IPython's transformers take and give them."""
    if not lines or lines[0].strip() != NEEDED or chat_model.path().exists():
        return lines
    return [f"print({INSTEAD!r})\n"]


def load(max_length: int = 2048) -> "tuple[LanguageModel, PublishedBytePairs]":
    """(model, tokenizer) of the chat model."""
    from transformer_lessons.language import gguf_model  # not above, as with the types

    return gguf_model.load(chat_model.path(), max_length)
