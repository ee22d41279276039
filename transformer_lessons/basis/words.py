"""Lists in words."""

from collections.abc import Sequence


def joined(names: Sequence[str]) -> str:
    """In words: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
