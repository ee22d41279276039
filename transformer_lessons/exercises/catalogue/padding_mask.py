"""How the inputs of `padding_mask` are drawn, and which numbers stand in a mask that is to be added."""

from transformer_lessons import masks
from transformer_lessons.exercises.catalogue.added_masks import names_of_numbers
from transformer_lessons.exercises.checker.setup import Setup, integers


def draw_tokens(generator, batch, length, pad_id, padded, large=False):
    """Tokens of 0 to 6; `padded` says, row by row, which positions hold pad_id, or that half of all do, at random.

    Large ids are 0, 1, 65536, 65537 and so on: bfloat16 mixes up neighbours, and int8, int16 and float16 mix up pairs.
    """
    tokens = integers(generator, 6, batch, length)
    tokens = tokens + (tokens >= pad_id)  # 0 to 6 without pad_id
    if padded is None:
        padded = [row.nonzero().flatten().tolist() for row in integers(generator, 2, batch, length)]
    for row, positions in enumerate(padded):
        tokens[row, list(positions)] = pad_id
    return (large_ids(tokens), large_ids(pad_id)) if large else (tokens, pad_id)


def large_ids(small):
    return 65536 * (small // 2) + small % 2


setup = Setup(
    sizes=[
        {"batch": 2, "length": 3, "pad_id": 4, "padded": [(), (2,)]},
        {"batch": 2, "length": 5, "pad_id": 3, "padded": [(2, 3, 4), (4,)]},
        {"batch": 3, "length": 4, "pad_id": 0, "padded": [(3,), (), (1, 2, 3)]},
        {"batch": 4, "length": 4, "pad_id": 2, "padded": [(2, 3), (), (1, 2, 3), (3,)]},
        {"batch": 3, "length": 7, "pad_id": 5, "padded": [(0, 1, 2), (1, 4, 6), (0, 1, 2, 3, 4, 5, 6)]},
        {"batch": 1, "length": 6, "pad_id": 1, "padded": [(0, 5)]},
        {"batch": 2, "length": 4, "pad_id": 6, "padded": [(), ()]},
        {"batch": 2, "length": 1, "pad_id": 3, "padded": [(), (0,)]},
        {"batch": 6, "length": 9, "pad_id": 2, "padded": None},
        {"batch": 5, "length": 8, "pad_id": 5, "padded": None, "large": True},
    ],
    draw=draw_tokens,
    reference=masks.padding_mask,
    names_steps=False,
    solves=lambda observed, expected, *_: [
        name
        for name in names_of_numbers(observed, expected)
        if name in ("a mask to be added", "a mask to be added, and inverted")
    ],
    returns="mask",
    shapes={"mask": "(batch, 1, 1, key)"},
)
