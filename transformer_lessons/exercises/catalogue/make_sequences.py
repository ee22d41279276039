"""The exercise `make_sequences`: rows that do not overlap, and the token that follows each token."""

import itertools

import torch

from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.setup import Setup
from transformer_lessons.language import tokenization


def draw_ids(generator, count, length, counting=False):
    """Token ids, all different and none of them 0; counting up from 10 where the example is meant to be read."""
    if counting:
        return torch.arange(10, 10 + count), length
    return torch.randperm(900, generator=generator)[:count] + 10, length


def same_ids(one, other):
    """Equal, as `alike` has it; quickly where both are plain tensors of ids."""
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return all(map(same_ids, one, other))
    plain_ids = all(type(ids) is torch.Tensor and ids.dtype == torch.int64 for ids in (one, other))
    return torch.equal(one, other) if plain_ids else alike(one, other, 0)


def places(ids, table):
    """Where in the text the tokens of a table stand; -1000 for anything that is not in the text."""
    known = {int(token): place for place, token in enumerate(ids)}
    return torch.tensor([[known.get(int(token), -1000) for token in row] for row in table])


def what_the_rows_show(observed, expected, ids, length):
    """How far the targets are ahead of the inputs, or the first target that is not the next token of the text."""
    if observed[0].shape != observed[1].shape or observed[0].ndim != 2:
        return None
    inputs, targets = (places(ids, one) for one in observed)
    in_text = (inputs >= 0) & (targets >= 0)
    ahead = (targets - inputs)[in_text].unique().tolist()
    if len(ahead) == 1 and ahead != [1]:
        every = "Every target" if in_text.all() else "Where input and target are both in the text, every target"
        where = "behind" if ahead[0] < 0 else "ahead of"
        tokens = "1 token" if abs(ahead[0]) == 1 else f"{abs(ahead[0])} tokens"
        return f"{every} is {tokens} {where} its input; it should be 1 ahead."
    wrong = (inputs >= 0) & (inputs < len(ids) - 1) & (targets != inputs + 1)
    if wrong.any():
        row, column = wrong.nonzero()[0].tolist()
        before, after = ids[inputs[row, column] :][:2].tolist()
        return f"In the text, {before} is followed by {after}; here its target is {int(observed[1][row, column])}."
    return None


SIGNS = (
    "overlapping rows",
    "gaps between the rows",
    "targets not shifted",
    "targets shifted the wrong way",
    "targets too far ahead",
    "the last target of each row made up",
    "the very last target made up",
    "the tail padded, not dropped",
)


def signs_of_rows(observed, expected, ids, length):
    """What is wrong with rows that no known variant gives: where they start, and where their targets are."""
    if not isinstance(observed, (list, tuple)) or len(observed) != 2:
        return
    if all(isinstance(rows, (list, tuple)) for rows in observed):
        every = [row for rows in observed for row in rows]
        if not all(isinstance(row, (list, tuple, torch.Tensor)) and getattr(row, "ndim", 1) for row in every):
            return
        whole = {len(row) for row in every} == {length}
        yield from ["not two tensors", "ragged rows"] if whole else ["ragged rows"]
        return
    if not all(isinstance(rows, torch.Tensor) and rows.ndim == 2 and not rows.is_meta for rows in observed):
        return
    if not all(rows.numel() for rows in observed):
        yield from SIGNS  # no row, no sign
        return
    inputs, targets = (places(ids, one.long()) for one in observed)
    starts = inputs[:, 0].tolist()
    in_order = bool((inputs.diff(dim=1) == 1).all())
    steps = {other - one for one, other in itertools.pairwise(starts)}
    if in_order and inputs.shape[1] == length and starts[0] == 0:
        if steps and (max(steps) < length or length == 1):
            yield "overlapping rows"
        if steps and min(steps) > length:
            yield "gaps between the rows"
    if inputs.shape == targets.shape:
        ahead = targets - inputs
        if (ahead == 0).all():
            yield "targets not shifted"
        known = targets >= 0
        if (ahead[known] < 0).all() and (known.any() or length == 1):
            yield "targets shifted the wrong way"
        if (ahead > 1).all():
            yield "targets too far ahead"
        if (ahead[:, :-1] == 1).all() and (ahead[:, -1] != 1).all():
            yield "the last target of each row made up"
        if ahead.numel() > 1 and (ahead.flatten()[:-1] == 1).all() and ahead[-1, -1] != 1:
            yield "the very last target made up"
    if (inputs[-1] < 0).any() or (targets[-1] < 0).any():
        whole = inputs[:-1].flatten()
        if len(inputs) > len(expected[0]) and whole.equal(torch.arange(len(whole))):
            yield "the tail padded, not dropped"


setup = Setup(
    sizes=[
        {"count": 7, "length": 3, "counting": True},
        {"count": 6, "length": 3},
        {"count": 14, "length": 4},
        {"count": 16, "length": 5},
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
    same=same_ids,
    symptoms=[what_the_rows_show],
    signs=signs_of_rows,
)
