"""The exercise `make_sequences`: rows that do not overlap, and the token that follows each token."""

import itertools

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.exercise import Exercise, Steps
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
        yield from exercise.mistakes  # no row, no sign
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
        if (ahead < 0).all() and (ahead > -500).all():
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


exercise = Exercise(
    name="make_sequences",
    lesson=8,
    title="Rows that do not overlap",
    difficulty=2,
    importance=3,
    minutes=12,
    contract="""make_sequences(ids, length) takes ids, a LongTensor of one dimension, and returns (inputs,
        targets), two LongTensors (number, length). The rows of inputs are the text cut into pieces of `length` tokens,
        in order, without overlap and without gaps. Each target is the token that comes right after its input in the
        text. There are as many rows as there can be: only the tail that does not fill a row of inputs and targets is
        dropped. (There are always enough tokens for one row.)""",
    stub='''
        def make_sequences(ids, length):
            """(inputs, targets), both (number, length): targets are one token ahead."""
            raise NotImplementedError''',
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
    reference=lambda ids, length: tokenization.make_sequences(ids, length),
    returns=("inputs", "targets"),
    shapes={"inputs": "(number, length)", "targets": "(number, length)"},
    same=same_ids,
    symptoms=[what_the_rows_show],
    signs=signs_of_rows,
    hints=[
        (
            "the targets",
            "Write down seven tokens, the inputs of two rows of three, and under each input the token "
            "that follows it in the text. What follows the last input of a row?",
        ),
        (
            "the number of rows",
            "The last target needs a token, too. Of n tokens, how many are followed by another, and how many rows "
            "do those fill?",
        ),
        (
            "how to cut",
            "Take as many tokens as fill whole rows, and give them the shape (number, length): once "
            "starting from the first token, once from the second.",
        ),
    ],
    solution="""
        def make_sequences(ids, length):
            number = (len(ids) - 1) // length
            inputs = ids[: number * length].reshape(number, length)
            targets = ids[1 : number * length + 1].reshape(number, length)
            return inputs, targets""",
)


def stacked(rows, ids, length):
    """The rows as one tensor, even if a mistake has left none."""
    return torch.stack(rows) if rows else ids.new_empty(0, length)


@exercise.right("step by step")
class Sequences(Steps):
    """Where the rows start; each row of inputs and its targets; what is handed over."""

    def __call__(self, ids, length):
        starts = self.starts(ids, length)
        inputs = stacked([self.row(ids, start, length) for start in starts], ids, length)
        targets = self.targets(ids, inputs, starts, length)
        return self.handed(inputs, targets)

    def starts(self, ids, length):
        return [length * row for row in range((len(ids) - 1) // length)]

    def row(self, ids, start, length):
        return ids[start : start + length]

    def targets(self, ids, inputs, starts, length):
        return stacked([self.row(ids, start + 1, length) for start in starts], ids, length)

    def handed(self, inputs, targets):
        return inputs, targets


FILLERS = (0, -1, -100, 1, 2, 3)  # what people pad with


def shaped(ids, length, number):
    """The first `number` rows of inputs, and of targets."""
    return ids[: number * length].reshape(number, length), ids[1 : number * length + 1].reshape(number, length)


def starts_in_all(ids, length):
    """Where rows start if all the tokens are used to fill them, as if each had a next one."""
    return [length * row for row in range(len(ids) // length)]


def targets_from(change):
    """The right targets, but for a text that has been changed."""
    return lambda step, ids, inputs, starts, length: step(change(ids), inputs, starts, length)


# Where the rows start
TAIL = "what does the exercise say about the tail?"
SECOND_ROW = "six tokens and rows of three: what is the last target of the second row?"
FIRST_TOKEN = "is the first token of the text the first input?"
mistake = exercise.section(hint=2)
mistake(
    "overlapping rows",
    pairs=2,
    why="The rows overlap: a row starts before the previous one has ended, so tokens appear more than once.",
    look="how many tokens lie between the start of a row and the start of the next?",
    starts=[
        lambda ids, length: list(range(len(ids) - length)),
        lambda ids, length: list(range(0, len(ids) - length, max(length // 2, 1))),
        lambda ids, length: list(range(len(ids) - length - 1)),
        lambda ids, length: list(range(0, len(ids) - length, max(length - 1, 1))),
    ],
    variants=[lambda ids, length: (ids.unfold(0, length, 1), ids[1:].unfold(0, length, 1))],
)
mistake(
    "gaps between the rows",
    why="The rows start more than `length` tokens apart, so some tokens are never an input.",
    look="which token is the last input of the first row, and which is the first input of the second?",
    starts=[
        lambda ids, length: list(range(0, len(ids) - length, length + 1)),
        lambda ids, length: list(range(0, len(ids) - length - 1, length + 1)),
    ],
)
# The first variant also replaces `row`, with itself, so as not to be paired with "the text read down the columns".
mistake(
    "a row that fits is dropped",
    pairs=3,
    why="There is one row fewer than there could be: tokens that would fill a row and its targets are dropped.",
    look="seven tokens and rows of three: which token is the last target?",
    variants=[
        {"starts": lambda right: right[:-1], "row": lambda right: right},
        {"starts": lambda ids, length: [length * row for row in range(len(ids) // length - 1)]},
        {"starts": lambda ids, length: [length * row for row in range((len(ids) - 2) // length)]},
        {"__call__": lambda right: (right[0][:-1], right[1][:-1])},
        lambda ids, length: shaped(ids, length, len(ids) // length - 1),
        lambda ids, length: shaped(ids, length, (len(ids) - 2) // length),
        lambda ids, length: shaped(ids, length, max(1, (len(ids) - 2) // length)),
    ],
    starts=lambda right: right[1:],
)
mistake(
    "one row too many",
    why="The rows are counted as if every token had a next one. When the text fills its rows "
    "exactly, there is no token left for the very last target.",
    look=SECOND_ROW,
    starts=starts_in_all,
    variants=[
        lambda ids, length: tuple(map(torch.from_numpy, shaped(ids.numpy(), length, len(ids) // length))),
        lambda ids, length: (ids.unfold(0, length, length), ids[1:].unfold(0, length, length)),
    ],
)
mistake(
    "the number of rows rounded up",
    raises=True,
    why="There are more rows than the tokens can fill, as when the number of rows is rounded up.",
    look="what does the exercise say about the tail? And which tokens have a next one?",
    variants=[lambda ids, length: shaped(ids, length, -(-len(ids) // length))],
)


def before_a(filler):
    return lambda inputs: F.pad(inputs.flatten()[1:], (0, 1), value=filler).reshape(inputs.shape)


mistake(
    "the very last target made up",
    pairs=2,
    why="The last target of the last row is not the next token (if there "
    "is one) but something else, such as padding or the first token of the text.",
    look=SECOND_ROW,
    variants=[
        {"starts": starts_in_all, "targets": targets_from(lambda ids: ids.repeat(2))},
        {"targets": lambda inputs: inputs.roll(-1)},
        {"starts": starts_in_all, "targets": lambda inputs: inputs.roll(-1)},
        *(
            {
                "starts": starts_in_all,
                "targets": targets_from(lambda ids, filler=filler: F.pad(ids, (0, 1), value=filler)),
            }
            for filler in FILLERS
        ),
        *({"starts": starts_in_all, "targets": before_a(filler)} for filler in FILLERS),
    ],
    targets=[before_a(filler) for filler in FILLERS],
)


def starts_to_the_end(ids, length):
    return list(range(0, len(ids) - 1, length))


def padded(ids, start, length, filler=0):
    row = ids[start : start + length]
    return F.pad(row, (0, length - len(row)), value=filler)


def padded_targets(filler):
    return lambda ids, starts, length: torch.stack([padded(ids, start + 1, length, filler) for start in starts])


mistake(
    "the tail padded, not dropped",
    why="The tail, which does not fill a row, is kept and filled up with padding.",
    look=TAIL,
    variants=[
        {"starts": starts_to_the_end, "row": padded},
        {"starts": lambda ids, length: list(range(0, len(ids), length)), "row": padded},
        {"starts": starts_to_the_end, "row": padded, "targets": padded_targets(-100)},
        *(
            {
                "starts": starts_to_the_end,
                "row": lambda ids, start, length: padded(ids[:-1], start, length),
                "targets": padded_targets(filler),
            }
            for filler in (0, -100)
        ),
    ],
)
mistake(
    "the tail in an overlapping row",
    why="The tail is put into an extra row, counted back from the end of the text, which overlaps the row before it.",
    look=TAIL,
    starts=lambda right, ids, length: right if (len(ids) - 1) % length == 0 else [*right, len(ids) - 1 - length],
)
mistake(
    "the beginning dropped, not the tail",
    why="The tokens that do not fill a row are dropped at the beginning of the text, not at the end.",
    look=FIRST_TOKEN,
    starts=lambda right, ids, length: [start + (len(ids) - 1) % length for start in right],
)
mistake(
    "the first token left out",
    why="The inputs begin with the second token and the targets with the third, so the first token is never read.",
    look=FIRST_TOKEN,
    starts=lambda step, ids, length: [start + 1 for start in step(ids[1:], length)],
)

# The shape of the rows
mistake = exercise.section(hint=3)
mistake(
    "length taken for the number of rows",
    why="There are `length` rows; instead, each row should be `length` tokens long.",
    look="which of the two sizes in (number, length) are you given?",
    variants=[
        {"__call__": lambda self, ids, length: self.handed(*shaped(ids, (len(ids) - 1) // length, length))},
        lambda ids, length: shaped(ids, len(ids) // length, length),
    ],
)
mistake(
    "the text read down the columns",
    why="The text runs down the columns, so neighbours in a row are not neighbours in the text.",
    look="does the first row read like the beginning of the text?",
    variants=[
        {
            "row": lambda ids, start, length: ids[start // length :: (len(ids) - 1) // length][:length],
            "targets": lambda ids, length: shaped(ids, (len(ids) - 1) // length, length)[1].T,
        }
    ],
)
mistake(
    "rows and columns swapped",
    why="Both results are (length, number): each row has become a column.",
    look="the shapes of the results: in which order are the two sizes?",
    handed=lambda inputs, targets: (inputs.T, targets.T),
)

# The targets
FIRST_TARGET = "the first input and the first target: which token of the text is each?"
LAST_TARGET = "the last target of the first row: which token comes after the last input?"
mistake = exercise.section(hint=1)
mistake(
    "targets not shifted",
    why="The targets are the inputs: the model is asked to predict the very token it has just been shown.",
    look=FIRST_TARGET,
    targets=lambda inputs: inputs,
)


def behind(filler):
    return [
        lambda inputs: F.pad(inputs.flatten()[:-1], (1, 0), value=filler).reshape(inputs.shape),
        lambda inputs: F.pad(inputs[:, :-1], (1, 0), value=filler),
    ]


mistake(
    "targets shifted the wrong way",
    pairs=2,
    why="The targets are the tokens before the inputs, not those after "
    "them, so the model would learn to write backwards.",
    look=FIRST_TARGET,
    targets=[
        targets_from(lambda ids: ids.roll(2)),
        lambda inputs: inputs.roll(1),
        *(one for filler in FILLERS[:4] for one in behind(filler)),
    ],
    variants=[
        {"starts": starts_in_all, "targets": targets_from(lambda ids: ids.roll(2))},
        {"starts": starts_in_all, "targets": lambda inputs: inputs.roll(1)},
    ],
)
mistake(
    "targets rolled within their rows",
    pairs=2,
    why="Each row is rolled on its own: the token that drops off one "
    "end comes back at the other. The last target should be the token after the row.",
    look=LAST_TARGET,
    targets=[lambda inputs: inputs.roll(-1, dims=1), lambda inputs: inputs.roll(1, dims=1)],
    variants=[
        {"starts": starts_in_all, "targets": lambda inputs: inputs.roll(-1, dims=1)},
        {"starts": starts_in_all, "targets": lambda inputs: inputs.roll(1, dims=1)},
    ],
)


def ends(filler):
    return lambda inputs: F.pad(inputs[:, 1:], (0, 1), value=filler)


mistake(
    "the last target of each row made up",
    pairs=2,
    why="In each row, all the targets are right except the last: "
    "instead of the next token of the text, it is something else, such as padding or a token of the same row.",
    look=LAST_TARGET,
    targets=[ends(0), lambda inputs: torch.cat([inputs[:, 1:], inputs[:, -1:]], dim=1), *map(ends, FILLERS[1:])],
    variants=[{"starts": starts_in_all, "targets": ends(filler)} for filler in FILLERS],
)
mistake(
    "targets too far ahead",
    look=FIRST_TARGET,
    why="The targets are more than one token ahead of their inputs, so the tokens in between are skipped.",
    targets=[
        targets_from(lambda ids: ids[1:]),
        lambda right, inputs: F.pad(right.flatten()[1:], (0, 1)).reshape(inputs.shape),
    ],
    variants=[
        {"starts": lambda step, ids, length: step(ids[1:], length), "targets": targets_from(lambda ids: ids[1:])}
    ],
)
mistake(
    "the next row as targets",
    pairs=2,
    why="The targets of each row are the whole row after it (for the last row, "
    "perhaps the first one), not the token right after each input.",
    look="the first input and the first target: how far apart are they in the text?",
    variants=[
        {
            "__call__": lambda self, ids, length: self.handed(
                ids.unfold(0, length, length)[:-1], ids.unfold(0, length, length)[1:]
            )
        },
        {"targets": lambda inputs: inputs.roll(-1, dims=0)},
        {"starts": starts_in_all, "targets": lambda inputs: inputs.roll(-1, dims=0)},
        {"__call__": lambda right: (right[0][:-1], right[0][1:])},
    ],
)
mistake(
    "one target for a whole row",
    pairs=2,
    why="Each row has a single target, the token after its end; every input "
    "should have a target of its own, the next token.",
    look="how many tokens does a row predict while it is read from left to right?",
    targets=[lambda right: right[:, -1], lambda right: right[:, -1:]],
)
mistake(
    "rows one token short",
    hint=3,
    pairs=2,
    why="The rows of targets, and perhaps those of inputs too, are one token short: of `length` tokens, only "
    "length - 1 are followed by another of them.",
    look="how many tokens does a row need for all of its `length` inputs to have a target?",
    variants=[
        {
            "__call__": lambda self, ids, length: self.handed(
                ids.unfold(0, length, length)[:, :-1], ids.unfold(0, length, length)[:, 1:]
            )
        },
        {"targets": lambda inputs: inputs[:, 1:]},
        {"starts": starts_in_all, "targets": lambda inputs: inputs[:, 1:]},
        {"__call__": lambda right: (right[0][:, :-1], right[0][:, 1:])},
    ],
)
mistake(
    "one added to the ids",
    why="The targets are the ids of the inputs plus 1: each is the next number, not the next token of the text.",
    look="is token 7 always followed by token 8?",
    targets=lambda inputs: inputs + 1,
)
mistake(
    "targets before inputs",
    hint=3,
    pairs=0,
    why="The two results come in the wrong order: the targets first, and the inputs second.",
    look="the `return` line: which order does the exercise ask for?",
    handed=lambda inputs, targets: (targets, inputs),
)

# What is handed over
mistake = exercise.section(hint=3)
mistake(
    "targets without rows",
    why="The targets, and perhaps the inputs too, are returned as one long row; both "
    "should have the shape (number, length).",
    look="the shape of what you return.",
    handed=[
        lambda inputs, targets: (inputs, targets.flatten()),
        lambda inputs, targets: (inputs.flatten(), targets.flatten()),
    ],
    variants=[lambda ids, length: (ids[:-1], ids[1:])],
)
mistake(
    "not two tensors",
    pairs=6,
    why="The result is not a pair of tensors, (inputs, targets).",
    look="what is the type of your result, and what are the types and shapes of its parts?",
    handed=[
        lambda inputs, targets: torch.stack([inputs, targets]),
        lambda inputs, targets: torch.stack([inputs, targets], dim=1),
        lambda inputs, targets: torch.cat([inputs, targets]),
        lambda inputs, targets: list(zip(inputs, targets, strict=True)),
        lambda inputs, targets: (inputs.tolist(), targets.tolist()),
        lambda inputs, targets: (list(inputs), list(targets)),
        lambda inputs, targets: torch.stack([inputs, targets], dim=-1),
        lambda inputs, targets: list(zip(inputs.tolist(), targets.tolist(), strict=True)),
        lambda inputs, targets: {"inputs": inputs, "targets": targets},
    ],
)


def ragged(ids, length, end):
    starts = range(0, end, length)
    return [ids[start : start + length] for start in starts], [ids[start + 1 : start + 1 + length] for start in starts]


mistake(
    "ragged rows",
    hint=2,
    why="Not all rows have `length` tokens, as when the tail is kept as a shorter row, so "
    "they do not make a tensor of shape (number, length).",
    look=TAIL,
    variants=[
        {"__call__": lambda ids, length: (list(ids[:-1].split(length)), list(ids[1:].split(length)))},
        lambda ids, length: (ids.split(length), ids[1:].split(length)),
        lambda ids, length: ragged(ids, length, len(ids)),
        lambda ids, length: tuple([row.tolist() for row in rows] for rows in ragged(ids, length, len(ids) - 1)),
    ],
)
