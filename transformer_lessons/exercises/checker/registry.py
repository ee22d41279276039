"""All exercises by name: each is read from its page in ../catalogue when it is asked for."""

import importlib
import re
from collections.abc import Iterator, MutableMapping

from transformer_lessons.exercises.checker.exercise import CATALOGUE, Exercise
from transformer_lessons.exercises.checker.pages import read_page
from transformer_lessons.running.global_state import standard_state


class Exercises(MutableMapping):
    """Name → Exercise, in the order of the lessons. A page is read when its exercise is asked for."""

    def __init__(self, names: tuple) -> None:
        self.known: dict = dict.fromkeys(names)

    def __getitem__(self, name: str) -> Exercise:
        if self.known[name] is None:
            with standard_state():  # a function of the package may have been replaced in the notebook
                self.known[name] = read_exercise(name)
        return self.known[name]

    def __setitem__(self, name: str, exercise: Exercise) -> None:
        self.known[name] = exercise

    def __delitem__(self, name: str) -> None:
        del self.known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def read_exercise(name: str) -> Exercise:
    """An exercise of the catalogue: a page, and the module beside it."""
    file = file_of(name)
    setup = importlib.import_module(f"transformer_lessons.exercises.catalogue.{file}").setup
    return Exercise(read_page(CATALOGUE / f"{file}.md"), setup)


def file_of(name: str) -> str:
    """multi_head_attention for MultiHeadAttention."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


EXERCISES = Exercises(
    (
        *("softmax", "self_attention"),
        *("attention", "AttentionHead"),
        *("scaled_dot_product_attention",),
        *("split_heads", "merge_heads", "MultiHeadAttention"),
        *("sinusoidal_encoding", "shift_matrix", "rotate"),
        *("causal_mask", "padding_mask", "masked_softmax", "future_leak"),
        *("layer_norm", "FeedForward", "EncoderLayer", "DecoderLayer", "training_step"),
        *("tokenize", "make_sequences", "bits_per_character", "sample_next"),
        *("merge", "count_pairs", "train_bpe", "apply_merges"),
        *("rms_norm", "swiglu", "neighbours_to_halves", "grouped_query_attention", "from_gpt2"),
        *("previous_token_score", "induction_score", "ablate_head", "logit_lens", "copying_matrix"),
        *("attend_with_cache", "dequantise", "sliding_window_mask", "online_softmax", "tiled_attention", "speculate"),
    )
)
