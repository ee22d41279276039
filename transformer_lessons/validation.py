"""Argument checks shared by all modules: each error gives the offending numbers and the rule."""

from numbers import Integral

import torch


def check_sizes(least=1, /, **sizes):
    """Every size is a whole number, and large enough."""
    for name, size in sizes.items():
        if not isinstance(size, (int, Integral)) or isinstance(size, bool):  # int first: an ABC check is slow
            raise TypeError(f"{name}={size!r} is not a whole number")
        if size < least:
            raise ValueError(f"{name}={size} is too small: it must be at least {least}")


def check_positive(**numbers):
    """Every number is above 0."""
    for name, number in numbers.items():
        if not number > 0:  # NaN is not, either
            raise ValueError(f"{name}={number} must be above 0")


def check_split(d_model, num_heads):
    """The features split evenly into heads."""
    check_sizes(d_model=d_model, num_heads=num_heads)
    if d_model % num_heads:
        raise ValueError(f"d_model={d_model} does not split evenly into num_heads={num_heads}")


def check_pairs(**features):
    """The features make pairs, for a sine and a cosine each."""
    check_sizes(**features)
    for name, size in features.items():
        if size % 2:
            raise ValueError(f"{name}={size} is odd: sines and cosines come in pairs, so it must be even")


def check_groups(num_heads, num_key_heads):
    """Every head of keys and values serves equally many query heads."""
    check_sizes(num_key_heads=num_key_heads)
    if num_heads % num_key_heads:
        raise ValueError(f"num_heads={num_heads} is not a multiple of num_key_heads={num_key_heads}")


def check_features(features, **vectors):
    """The last dimension holds as many features as the weights expect."""
    for name, x in vectors.items():
        if x.shape[-1:] != (features,):
            raise ValueError(f"{name} {tuple(x.shape)} must end in {features} features")


def check_length(length, max_length):
    """There are positions for the whole sequence."""
    if length > max_length:
        raise ValueError(f"a sequence of length {length} is longer than max_length={max_length}")


def check_positions(x, max_length, features, start=0):
    """Every vector of a sequence has a position of the same size."""
    if x.dim() < 2 or x.shape[-1] != features:
        raise ValueError(f"x {tuple(x.shape)} must be (…, length, {features})")
    check_length(start + x.shape[-2], max_length)


def check_turns(rotary, halves):
    """Only rotary positions turn features, be they neighbours or half a head apart."""
    if halves and not rotary:
        raise ValueError("halves=True needs rotary=True: learned positions are not turned")


def check_pad(pad_id, vocabulary_size):
    """The padding id, if there is one, is one of the tokens."""
    if pad_id is not None and pad_id not in range(vocabulary_size):
        raise ValueError(f"pad_id={pad_id!r} is not a token: ids run from 0 to {vocabulary_size - 1}")


def check_tokens(tokens, vocabulary_size):
    """Tokens are (batch, length), neither of them 0, with ids from 0 to vocabulary_size - 1."""
    dtype = getattr(tokens, "dtype", type(tokens).__name__)  # a list has none
    if dtype not in (torch.int64, torch.int32):
        raise TypeError(f"the tokens hold {dtype}: they must be a tensor of whole numbers, torch.int64")
    if tokens.dim() != 2 or tokens.numel() == 0:
        raise ValueError(f"the tokens {tuple(tokens.shape)} must be (batch, length), neither empty")
    low, high = tokens.min().item(), tokens.max().item()
    if low < 0 or high >= vocabulary_size:
        raise ValueError(f"a token is {low if low < 0 else high}: ids run from 0 to {vocabulary_size - 1}")


def check_mask(mask, shape):
    """A mask is boolean and broadcasts to the shape of the scores."""
    if mask.dtype != torch.bool:
        raise TypeError(f"the mask holds {mask.dtype}: it must be torch.bool, True where a query may attend")
    sizes = zip(reversed(mask.shape), reversed(shape), strict=False)
    if mask.dim() > len(shape) or any(size not in (1, full) for size, full in sizes):
        raise ValueError(f"the mask {tuple(mask.shape)} must broadcast to the scores {tuple(shape)}")


def check_match(query, key, value):
    """Queries and keys have the same features, every key has a value, and all come from the same batch."""
    if min(query.dim(), key.dim(), value.dim()) < 2 or query.shape[-1] == 0:
        rule = "each must be (…, length, features), with at least one feature"
    elif query.shape[-1] != key.shape[-1]:
        rule = "query and key must have the same number of features"
    elif key.shape[-2] != value.shape[-2]:
        rule = "there must be as many values as keys"
    elif not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        rule = "all dimensions before (length, features) must be equal"
    else:
        return
    raise ValueError(f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}: {rule}")
