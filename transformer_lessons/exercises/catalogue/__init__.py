"""The exercises, one file for each: what is asked, what is right, and every known mistake."""

import importlib

from transformer_lessons.exercises.checker.exercise import BROKEN, EXERCISES

FILES = (  # in the order of the lessons
    "softmax",
    "self_attention",
    "attention",
    "attention_head",
    "scaled_dot_product_attention",
    "split_heads",
    "merge_heads",
    "multi_head_attention",
    "sinusoidal_encoding",
    "shift_matrix",
    "rotate",
    "causal_mask",
    "padding_mask",
    "masked_softmax",
    "future_leak",
    "layer_norm",
    "feed_forward",
    "encoder_layer",
    "decoder_layer",
    "training_step",
    "tokenize",
    "make_sequences",
    "bits_per_character",
    "sample_next",
    "merge",
    "count_pairs",
    "train_bpe",
    "apply_merges",
    "rms_norm",
    "swiglu",
    "grouped_query_attention",
    "from_gpt2",
    "previous_token_score",
    "induction_score",
    "ablate_head",
    "logit_lens",
    "copying_matrix",
    "attend_with_cache",
    "sliding_window_mask",
    "online_softmax",
    "tiled_attention",
    "speculate",
)


def load() -> None:
    """Fills EXERCISES; a file that cannot be imported leaves the others alone, and `check` says so."""
    for name in FILES:
        try:
            exercise = importlib.import_module(f"{__name__}.{name}").exercise
        except Exception as error:
            BROKEN[name] = error
        else:
            EXERCISES[exercise.name] = exercise
