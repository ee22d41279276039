"""A text as ids, and batches of them: the same for the same seed, whichever step you start from."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch

from transformer_lessons.language.byte_pairs import BytePairs
from transformer_lessons.language.recipe import Recipe
from transformer_lessons.language.tokenization import Vocabulary, bits_per_character, make_sequences


@dataclass(frozen=True)
class Data:
    vocabulary: Vocabulary
    train: torch.Tensor  # ids
    validation: torch.Tensor  # ids
    characters: int  # of the validation text

    def bits(self, nats: float) -> float:
        """A loss on the validation text, from nats per token to bits per character."""
        return bits_per_character(nats, len(self.validation), self.characters)


TOKENS = ("words", "characters", "bytepairs")


def prepare(pieces: Iterable[Iterable[str]], tokens: str = "words", vocabulary_size: int = 4096) -> Data:
    """Both parts of a text as ids: pieces is (training, validation), lists of texts, as split returns them.

    The vocabulary comes from the training part alone.
    """
    if tokens not in TOKENS:
        raise ValueError(f"tokens={tokens!r} must be 'words', 'characters' or 'bytepairs'")
    train, validation = ("".join(part) for part in pieces)
    if tokens == "characters":
        return encode(Vocabulary.of_characters(train), train, validation)
    make = BytePairs.of_text if tokens == "bytepairs" else Vocabulary.of_words
    return encode(make(train, vocabulary_size), train, validation)


def encode(vocabulary: Vocabulary, train: str, validation: str) -> Data:
    """Both parts of a text as ids of this vocabulary."""
    train_ids, validation_ids = (torch.tensor(vocabulary.encode(text)).long() for text in (train, validation))
    return Data(vocabulary, train_ids, validation_ids, len(validation))


class Batches:
    """Endless rows of tokens, always the same for the same seed, whichever step you start from.

    Each epoch cuts the text into sequences that do not overlap, starting at another place, and shuffles them.
    """

    def __init__(self, ids: torch.Tensor, recipe: Recipe) -> None:
        self.ids, self.recipe = ids, recipe
        self.epoch: int | None = None  # whose rows are ready
        self.each = (len(ids) - 1) // recipe.length - 1  # sequences in an epoch, wherever it is cut
        self.each -= self.each % recipe.batch_size
        if self.each < 1:
            least = (recipe.batch_size + 1) * recipe.length + 1
            raise ValueError(
                f"{len(ids)} tokens are too few for batch_size={recipe.batch_size} and "
                f"length={recipe.length}: they need {least}"
            )

    def __call__(self, step: int) -> tuple[torch.Tensor, torch.Tensor]:
        """(inputs, targets) of a step."""
        epoch, first = divmod(step * self.recipe.batch_size, self.each)
        if epoch != self.epoch:
            self.epoch, self.rows = epoch, self.shuffled(epoch)
        inputs, targets = self.rows
        rows = slice(first, first + self.recipe.batch_size)
        return inputs[rows], targets[rows]

    def shuffled(self, epoch: int) -> tuple[torch.Tensor, torch.Tensor]:
        generator = torch.Generator().manual_seed(self.recipe.seed * 1_000_003 + epoch)
        start = torch.randint(self.recipe.length, (), generator=generator)
        inputs, targets = make_sequences(self.ids[start:], self.recipe.length)
        order = torch.randperm(len(inputs), generator=generator)[: self.each]
        return inputs[order], targets[order]
