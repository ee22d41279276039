"""What the exercises on byte pairs share: words spelled from templates, and what their parts show."""

from itertools import pairwise

import torch


def letters(generator, names, high=False):
    """A different byte for each of these names: a lower-case letter or, if high, one that is no character alone."""
    drawn = (torch.randperm(26, generator=generator)[: len(names)] + (200 if high else 97)).tolist()
    return {ord(name): chr(byte) for name, byte in zip(names, drawn, strict=True)}


def spelled(template, table):
    """The parts that a template stands for: "x xy" is [b"t", b"th"], if x and y are t and h; _ is a space."""
    return [part.translate({ord("_"): " ", **table}).encode("latin-1") for part in template.split()]


def what_the_parts_show(observed, expected, parts, pair=None):
    """Whether the parts still give the bytes of the word, and whether the pair is still there."""
    if not isinstance(observed, (list, tuple)) or not all(isinstance(part, bytes) for part in observed):
        return None
    if b"".join(observed) != b"".join(parts):
        return "Joined together, the parts in your result no longer give the bytes of the word."
    if isinstance(pair, tuple) and pair in pairwise(observed):
        return f"The pair {pair} is still in your result."
    return None
