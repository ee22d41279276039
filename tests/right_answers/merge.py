"""Right answers to merge, each in a style of its own."""

import re

from transformer_lessons.exercises.catalogue.merge import exercise
from transformer_lessons.language import byte_pairs

exercise.right("the package's")(byte_pairs.merge)


@exercise.right("on a copy, in place")
def on_a_copy(parts, pair):
    parts, place = list(parts), 0
    while place < len(parts) - 1:
        if (parts[place], parts[place + 1]) == pair:
            parts[place : place + 2] = [b"".join(pair)]
        place += 1
    return parts


@exercise.right("recursively")
def recursively(parts, pair):
    if len(parts) < 2:
        return parts[:]
    if parts[0] == pair[0] and parts[1] == pair[1]:
        return [pair[0] + pair[1], *recursively(parts[2:], pair)]
    return [parts[0], *recursively(parts[1:], pair)]


@exercise.right("with an iterator")
def with_an_iterator(parts, pair):
    rest, merged = iter([*parts, None]), []
    part = next(rest)
    while part is not None:
        following = next(rest)
        joins = (part, following) == pair
        merged.append(part + following if joins else part)
        part = next(rest) if joins else following
    return merged


@exercise.right("as hexadecimal text")
def as_text(parts, pair):
    text, (first, second) = "".join(f"<{part.hex()}>" for part in parts), (f"<{part.hex()}>" for part in pair)
    text = text.replace(first + second, f"<{pair[0].hex()}{pair[1].hex()}>")
    return [bytes.fromhex(part) for part in re.findall("<(.*?)>", text)]
