"""ablate_head, of lesson 11: what the heads output once one of them is silenced."""

import torch

from transformer_lessons import attention
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, normal
from transformer_lessons.inspection import experiments


def draw(generator, batch, heads, length, d_head, number, single=False):
    drawn = normal(generator, batch, heads, length, d_head)
    return drawn.float() if single else drawn, number


def signs_of_what_is_left(observed, expected, heads, number):
    """If the other heads are unchanged: is part of this head left, or does something else stand in its place?"""
    if not isinstance(observed, torch.Tensor) or any(
        getattr(observed, one) != getattr(heads, one) for one in ("shape", "dtype", "device", "layout")
    ):
        return []
    ours, own = observed.detach()[:, number], heads[:, number]
    if not torch.equal(without(observed.detach(), number), without(heads, number)):
        return ["other heads changed"] * bool((ours == 0).all())
    gone, same = ours == 0, ours == own
    if (gone | same).all():
        return ["a part of the head left"] * bool(gone.any() and same.any())
    return ["another number than 0"] * (not gone.any())


exercise = Exercise(
    name="ablate_head",
    lesson=11,
    title="Silence one head",
    difficulty=1,
    importance=3,
    minutes=6,
    contract="""
        ablate_head(heads, number) takes the outputs of all heads, (batch, heads, length, d_head), before they are
        merged, and the number of one head, counted from 0. It returns a new tensor of the same shape, in which
        everything that this head outputs is 0, in all sequences and at all positions, and everything else is unchanged.
        The tensor `heads` itself does not change.
        """,
    stub='''
        def ablate_head(heads, number):
            """(batch, heads, length, d_head) → the same with one head set to 0; `heads` stays as it was."""
            raise NotImplementedError
        ''',
    sizes=[
        {"batch": 2, "heads": 3, "length": 4, "d_head": 5, "number": 1},
        {"batch": 1, "heads": 2, "length": 3, "d_head": 2, "number": 1},
        {"batch": 3, "heads": 4, "length": 6, "d_head": 5, "number": 2},
        {"batch": 3, "heads": 4, "length": 5, "d_head": 6, "number": 0},
        {"batch": 5, "heads": 6, "length": 8, "d_head": 7, "number": 4},
        {"batch": 4, "heads": 4, "length": 4, "d_head": 4, "number": 3},
        {"batch": 2, "heads": 1, "length": 4, "d_head": 3, "number": 0},
        {"batch": 2, "heads": 3, "length": 2, "d_head": 4, "number": 2, "single": True},
    ],
    draw=draw,
    reference=lambda heads, number: experiments.ablate_head(heads, number),
    exact_zeros=True,
    names_steps=False,
    signs=signs_of_what_is_left,
    returns="ablated",
    shapes={"ablated": "(batch, heads, length, d_head)"},
    hints=[
        (
            "the caller's tensor",
            "Assigning to part of a tensor changes the tensor itself, whatever your function "
            "calls it. Which method makes a copy that shares no memory with it?",
        ),
        (
            "which numbers",
            "The dimensions are (batch, heads, length, d_head). How many indices select everything "
            "that one head outputs, in every sequence and at every position?",
        ),
        (
            "the tool",
            "Call clone, then assign 0 to a slice. Or multiply by a tensor of shape (heads, 1, 1) that "
            "holds ones and a single zero: it broadcasts.",
        ),
    ],
    solution="""
        def ablate_head(heads, number):
            ablated = heads.clone()
            ablated[:, number] = 0
            return ablated
        """,
)


@exercise.right("step by step")
class Ablation(Steps):
    def __call__(self, heads, number):
        return self.handed(self.erased(heads, self.which(number, heads.shape[1])))

    def which(self, number, count):
        return number

    def erased(self, heads, number):
        return heads * kept(heads.shape[1], number)[:, None, None]

    def handed(self, ablated):
        return ablated


def kept(count, number):
    """1 for each that is kept, 0 for the one that is not."""
    return (torch.arange(count) != number).float()


def along(dim):
    """0 at this index of another dimension."""
    return lambda heads, number: heads.index_fill(dim, torch.tensor([number]), 0)


def without(heads, number):
    return heads[:, [head for head in range(heads.shape[1]) if head != number]]


# Which numbers
mistake = exercise.section(hint=2)
DIMENSIONS = "in (batch, heads, length, d_head), which of the four dimensions does your index apply to?"
mistake(
    "nothing erased",
    why="You return what came in: no head is silenced in the result.",
    look="which tensor do you change, and which one do you return? If you compare anything with `number`, is it the "
    "index of a head?",
    erased=lambda heads: heads,
)
mistake(
    "a sequence silenced", why="A whole sequence of the batch is 0, in all its heads.", look=DIMENSIONS, erased=along(0)
)
mistake("a position silenced", why="The outputs at one position are 0 in all heads.", look=DIMENSIONS, erased=along(2))
mistake("a feature silenced", why="One feature is 0 in all heads.", look=DIMENSIONS, erased=along(3))
mistake(
    "a mask along the features",
    pairs=0,
    why="The mask has one number for each head, but lines up with the last "
    "dimension, that of the features. Where the two numbers are equal, one feature is 0 in all heads; elsewhere, the "
    "shapes do not fit.",
    look="which shape must a mask of one number a head have to meet (batch, heads, length, d_head)?",
    erased=[
        lambda heads, number: heads * kept(heads.shape[1], number),
        lambda heads, number: heads.masked_fill(kept(heads.shape[1], number) == 0, 0.0),
    ],
)
mistake(
    "a slice of features silenced",
    pairs=0,
    why="A slice of neighbouring features is 0 in all heads. Heads lie "
    "side by side in the last dimension only once they are merged; in `heads` they have a dimension of their own.",
    look=DIMENSIONS,
    erased=[
        lambda heads, number: sliced(heads, number, heads.shape[3] // heads.shape[1]),
        lambda heads, number: sliced(heads, number, heads.shape[3] // 2),
    ],
)


def sliced(heads, number, size):
    return zero_at(heads, (..., slice(number * size, (number + 1) * size)))


mistake(
    "the others silenced",
    why="All heads but head `number` are silenced: it alone is left.",
    look="which head should become 0, and which ones should stay?",
    erased=lambda heads, number: heads - without_one(heads, number),
)


def without_one(heads, number):
    return heads * kept(heads.shape[1], number)[:, None, None]


mistake(
    "all heads silenced",
    why="The outputs of all heads are 0.",
    look="which head should become 0, and which ones should stay?",
    erased=lambda heads: torch.zeros_like(heads),
)
mistake(
    "counted from 1",
    why="The head before the right one is silenced, as if heads were counted from 1.",
    look="which head should be silenced if `number` is 1: the first or the second?",
    which=lambda number, count: (number - 1) % count,
)
mistake(
    "the next head",
    why="The head after the right one is silenced.",
    look="which head should be silenced if `number` is 0?",
    which=lambda number, count: (number + 1) % count,
)
mistake(
    "silenced and moved",
    pairs=0,
    why="The head is silenced, but the heads come back in a different order.",
    look="where in the result should each head be?",
    erased=[
        lambda heads, number: torch.cat([without(heads, number), torch.zeros_like(heads[:, :1])], 1),
        lambda heads, number: torch.cat([torch.zeros_like(heads[:, :1]), without(heads, number)], 1),
        lambda right: right.flip(1),
    ],
)
mistake(
    "other heads changed",
    pairs=0,
    why="The head is silenced, but at least one other head has changed as well.",
    look="what does your code do to the heads that it should keep?",
    erased=[
        lambda right, number: zero_at(right, (slice(None), 0)),
        lambda right, number: zero_at(right, (slice(None), -1)),
        lambda right: right.round(decimals=2),
    ],
)
mistake(
    "head 0 taken for none",
    pairs=0,
    why="Head 0 is not silenced: when `number` is 0, the heads come back unchanged.",
    look="what does your code do with 0? `if number`, for instance, takes it for False.",
    erased=lambda right, heads, number: right if number else heads,
)
mistake(
    "counted from the end",
    why="Heads are counted backwards, from the last one.",
    look="which head should be silenced if `number` is 1?",
    which=[lambda number, count: count - 1 - number, lambda number, count: -number % count],
)
mistake(
    "several heads silenced",
    pairs=2,
    why="A range of heads is silenced: all those before the head or all those "
    "after it, with or without the head itself.",
    look="how many heads does your index or condition select?",
    erased=[
        lambda heads, number: heads * (torch.arange(heads.shape[1]) > number)[:, None, None],
        lambda heads, number: heads * (torch.arange(heads.shape[1]) < number)[:, None, None],
        lambda heads, number: heads * (torch.arange(heads.shape[1]) >= number)[:, None, None],
        lambda heads, number: heads * (torch.arange(heads.shape[1]) <= number)[:, None, None],
    ],
)
mistake(
    "a part of the head left",
    pairs=4,
    why="The head is silenced only in part: for instance, only in some "
    "sequences, at some positions or in some features.",
    look="which of the head's numbers are not 0 in your result? Each extra index leaves something out, and so does a "
    "condition.",
    erased=[
        lambda heads, number: zero_at(heads, (0, number)),
        lambda heads, number: zero_at(heads, (-1, number)),
        lambda heads, number: zero_at(heads, (slice(None), number, -1)),
        lambda heads, number: zero_at(heads, (slice(None), number, 0)),
        lambda heads, number: zero_at(heads, (slice(None), number, slice(None), 0)),
        lambda heads, number: zero_at(heads, (slice(None), number, slice(None), -1)),
        lambda heads, number: zero_at(heads, (slice(None), number, slice(1, None))),
        lambda heads, number: zero_at(heads, (slice(None), number, slice(None, -1))),
        lambda heads, number: put(heads, number, heads[:, number].clamp(max=0)),
        lambda heads, number: put(heads, number, heads[:, number].clamp(min=0)),
    ],
)


def zero_at(heads, index):
    ablated = heads.clone()
    ablated[index] = 0
    return ablated


mistake(
    "interleaved features silenced",
    pairs=0,
    why="Features at regular intervals are silenced, as if the heads "
    "were interleaved. But even once they are merged, a head is a slice of neighbouring features.",
    look="once the heads are merged, which features come from head 1?",
    erased=[
        lambda heads, number: attention.split_heads(
            zero_at(attention.merge_heads(heads), (..., slice(number, None, heads.shape[1]))), heads.shape[1]
        ),
        lambda heads, number: zero_at(heads.flatten(2), (..., slice(number, None, heads.shape[1]))).view_as(heads),
        lambda heads, number: zero_at(heads, (..., slice(number, None, heads.shape[1]))),
    ],
)
mistake(
    "heads and positions mixed up",
    pairs=0,
    why="Heads and positions are rearranged with reshape or view alone, "
    "which mixes them up. So the slice that is then set to 0 is not the head's.",
    look="which two dimensions must be swapped before the heads lie side by side?",
    erased=[
        lambda heads, number: zero_at(
            heads.reshape(heads.shape[0], heads.shape[2], -1),
            (..., slice(number * heads.shape[3], (number + 1) * heads.shape[3])),
        ).view_as(heads),
        lambda heads, number: zero_at(
            heads.reshape(heads.shape[0], -1, heads.shape[1], heads.shape[3]), (slice(None), slice(None), number)
        ).view_as(heads),
    ],
)

mistake(
    "merged, but not split again",
    pairs=0,
    why="The heads are merged, and the right slice is set to 0. "
    "But a reshape alone does not undo the merging: it leaves heads and positions mixed up.",
    look="merging swaps two dimensions. Where does your code swap them back?",
    erased=[lambda right: attention.merge_heads(right).reshape(right.shape)],
)

# What becomes of the caller's tensor
mistake = exercise.section(hint=1)
mistake(
    "a copy for another dtype alone",
    pairs=0,
    why="The caller's tensor is changed, but only for some dtypes. "
    "`.float()`, `.double()` and `.to` make a copy only where there is something to convert; otherwise they return the "
    "tensor itself.",
    look="which method copies `heads`, whatever its dtype?",
    variants=[
        lambda heads, number: emptied(heads.float(), number),
        lambda heads, number: emptied(heads.double(), number),
    ],
)


def emptied(heads, number):
    heads[:, number] = 0
    return heads


# What stands in its place
mistake = exercise.section(hint=3)
mistake(
    "a mean in its place",
    pairs=2,
    why="The head's output is replaced by a mean. Mean ablation is a real "
    "technique, but in this exercise the head should contribute nothing: 0.",
    look="what should the head contribute?",
    erased=[
        lambda heads, number: put(heads, number, heads[:, number].mean(0, keepdim=True)),
        lambda heads, number: put(heads, number, heads[:, number].mean(1, keepdim=True)),
        lambda heads, number: put(heads, number, heads[:, number].mean((0, 1), keepdim=True)),
        lambda heads, number: put(heads, number, heads[:, number].mean(-1, keepdim=True)),
        lambda heads, number: put(heads, number, heads[:, number].mean()),
        lambda heads, number: put(heads, number, heads.mean(1)),
        lambda heads, number: put(heads, number, without(heads, number).mean(1).nan_to_num()),
    ],
)


def put(heads, number, what):
    """Something else in the place of a head."""
    changed = heads.clone()
    changed[:, number] = what
    return changed


mistake(
    "another number than 0",
    pairs=3,
    why="The head's output is replaced by something other than 0. A very "
    "negative number becomes 0 only in a softmax, and none follows.",
    look="which number adds nothing to a sum?",
    erased=[
        lambda heads, number: put(heads, number, -torch.inf),
        lambda heads, number: put(heads, number, 1.0),
        lambda heads, number: put(heads, number, -1e9),
        lambda heads, number: put(heads, number, torch.nan),
    ],
)
mistake(
    "almost 0",
    pairs=0,
    why="The head's output is replaced by a number close to 0, but not 0.",
    look="which number adds nothing to a sum?",
    erased=[lambda heads, number, low=low: put(heads, number, low) for low in (1e-9, 1e-7, 1e-6, 1e-5)],
)
mistake(
    "its own output from elsewhere",
    pairs=0,
    why="The head's output is replaced by its output in another "
    "sequence or at another position (resample ablation). In this exercise the head should contribute nothing: 0.",
    look="what should the head contribute?",
    erased=[
        lambda heads, number, by=by, dim=dim: put(heads, number, heads.roll(by, dim)[:, number])
        for by, dim in ((1, 0), (-1, 0), (1, 2), (-1, 2))
    ]
    + [lambda heads, number: put(heads, number, heads.flip(0)[:, number])],
)
mistake(
    "the head dropped",
    pairs=2,
    why="The head is removed, which leaves one head fewer: linear_out, which reads "
    "all the heads side by side, would no longer fit.",
    look="how many heads should the result have?",
    erased=[without, lambda heads, number: without(heads, number).flatten(1, 2)],
)
mistake(
    "the others made louder",
    why="The other heads are scaled up, as dropout does to make up for what is missing. They should stay as they are.",
    look="every factor and every call of dropout.",
    erased=[
        lambda right, heads: right * heads.shape[1] / max(heads.shape[1] - 1, 1),
        lambda right, heads: right * heads.shape[1] / (heads.shape[1] - 1),
        lambda right, heads: right * (heads.shape[1] / torch.tensor(heads.shape[1] - 1.0)),
    ],
)
mistake(
    "the others made quieter",
    pairs=0,
    why="The other heads are scaled down, as in a mean over heads. They should stay as they are.",
    look="every division, every mean and every factor.",
    erased=[
        lambda right, heads: right / max(heads.shape[1] - 1, 1),
        lambda right, heads: right / heads.shape[1],
        lambda right, heads: right / (heads.shape[1] - 1),
        lambda right: right / 2,
        lambda right, heads: right * (heads.shape[1] - 1) / heads.shape[1],
    ],
)
mistake(
    "the sign turned",
    pairs=0,
    why="Instead of being silenced, the head has its sign reversed.",
    look="what must be added to a number to make it 0?",
    erased=lambda heads, number: put(heads, number, -heads[:, number]),
)
mistake(
    "subtracted from the others, too",
    pairs=0,
    why="The head is silenced, but its output is subtracted from the "
    "other heads as well. They should stay as they are.",
    look="from which heads do you subtract it?",
    erased=lambda heads, number: heads - heads[:, number : number + 1],
)
mistake(
    "another head in its place",
    pairs=0,
    why="The head's output is replaced by that of another head.",
    look="what should the head contribute?",
    erased=[
        lambda heads, number: put(heads, number, heads[:, number - 1]),
        lambda heads, number: put(heads, number, heads[:, (number + 1) % heads.shape[1]]),
        lambda heads, number: put(heads, number, heads[:, 0] if number else heads[:, -1]),
    ],
)
mistake(
    "the heads in another shape",
    pairs=1,
    why="The heads come back in another shape: side by side, added up, or "
    "with two dimensions swapped. They should keep the shape they came in.",
    look="compare the shape of the result with that of `heads`.",
    handed=[
        lambda ablated: attention.merge_heads(ablated),
        lambda ablated: ablated.transpose(1, 2),
        lambda ablated: ablated.sum(1),
    ],
)
mistake(
    "that head alone",
    pairs=0,
    why="Only head `number` comes back, silenced or not; all heads are expected.",
    look="how many heads should the result have?",
    variants=[
        {"erased": lambda heads, number: heads[:, number]},
        {"erased": lambda heads, number: torch.zeros_like(heads[:, number])},
    ],
)
