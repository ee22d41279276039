"""How the inputs of `make_sequences` are drawn, and where its rows and targets stand in the text."""

import torch

from transformer_lessons.exercises.catalogue.plain_results import equal
from transformer_lessons.exercises.checker.setup import Setup
from transformer_lessons.language import tokenization


def draw_ids(generator, count, length, counting=False, apart=1):
    """Token ids, all different and none of them 0; counting up from 10 where the example is meant to be read."""
    if counting:
        return torch.arange(10, 10 + count), length
    return apart * torch.randperm(900, generator=generator)[:count] + 10, length


def places(ids, table):
    """Where in the text the tokens of a table stand; -1000 for anything that is not in the text."""
    known = {int(token): place for place, token in enumerate(ids)}
    return torch.tensor([[known.get(int(token), -1000) for token in row] for row in table])


def signs_of_rows(observed, expected, ids, length):
    """What is wrong with rows that no known variant gives: where they start, and where their targets are."""
    if not isinstance(observed, (list, tuple)) or len(observed) != 2:
        return []
    if all(isinstance(rows, (list, tuple)) for rows in observed):
        every = [row for rows in observed for row in rows]
        if not all(isinstance(row, (list, tuple, torch.Tensor)) and getattr(row, "ndim", 1) for row in every):
            return []
        return ["not two tensors"] * ({len(row) for row in every} == {length}) + ["ragged rows"]
    if not all(rows.numel() for rows in observed):
        return None  # no row, no sign
    inputs, targets = (places(ids, rows.long()) for rows in observed)
    steps, whole = inputs[:, 0].diff(), inputs[:-1].flatten()
    in_order = (inputs.diff(dim=1) == 1).all() and inputs.shape[1] == length and inputs[0, 0] == 0 and len(steps)
    padded = (inputs[-1] < 0).any() or (targets[-1] < 0).any()
    signs = (
        ("overlapping rows", in_order and (steps.max() < length or length == 1)),
        ("gaps between the rows", in_order and steps.min() > length),
        *(signs_of_targets(targets - inputs, targets >= 0, length) if inputs.shape == targets.shape else ()),
        (
            "the tail padded, not dropped",
            padded and len(inputs) > len(expected[0]) and whole.equal(torch.arange(len(whole))),
        ),
    )
    return [name for name, shown in signs if shown]


def signs_of_targets(ahead, known, length):
    """(mistake, does it show?), by how far ahead each target is of its input, and which targets are in the text."""
    return (
        ("targets not shifted", (ahead == 0).all()),
        ("targets shifted the wrong way", (ahead[known] < 0).all() and (known.any() or length == 1)),
        ("targets too far ahead", (ahead > 1).all()),
        ("the last target of each row made up", (ahead[:, :-1] == 1).all() and (ahead[:, -1] != 1).all()),
        (
            "the very last target made up",
            ahead.numel() > 1 and (ahead.flatten()[:-1] == 1).all() and ahead[-1, -1] != 1,
        ),
    )


setup = Setup(
    sizes=[
        {"count": 7, "length": 3, "counting": True},
        {"count": 6, "length": 3},
        {"count": 14, "length": 4},
        {"count": 16, "length": 5, "apart": 111},  # ids up to 100,000, as in a large vocabulary
        {"count": 15, "length": 5},
        {"count": 10, "length": 3},
        {"count": 12, "length": 3},
        {"count": 17, "length": 4},
        {"count": 5, "length": 4},
        {"count": 6, "length": 1},
        {"count": 23, "length": 4},
        {"count": 40, "length": 7},
    ],
    draw=draw_ids,
    reference=tokenization.make_sequences,
    returns=("inputs", "targets"),
    shapes={"inputs": "(number, length)", "targets": "(number, length)"},
    same=equal,
    signs=signs_of_rows,
)
