"""The exercise future_leak, its right answers and its known mistakes."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons.exercises.checker.comparison import numbers
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, changes, integers


class OpenBook(nn.Module):
    """A model that shows what it reads: position t outputs, for each token j, reads[t, j] times the code of j.

    The codes of any two tokens differ by 1 in half of their 16 places, so it does not matter which other token
    replaces one; no code is further from 0 than 0.7, so a token that is cut off changes the output by less. If
    `only` is a token, sequences that do not start with it are read without leaks. `asked` keeps what was read.
    """

    def __init__(self, codes, reads, only=None):
        super().__init__()
        self.embedding = nn.Embedding(len(codes), codes.shape[1], _weight=codes.clone())
        self.register_buffer("reads", reads)
        self.only, self.asked = only, []

    def forward(self, tokens):
        self.asked.append(tokens.clone())
        length = tokens.shape[1]
        reads = self.reads[:length, :length].expand(len(tokens), -1, -1)  # (batch, position, token)
        if self.only is not None:
            reads = torch.where((tokens[:, 0] == self.only)[:, None, None], reads, reads.tril())
        codes = F.embedding(tokens, self.embedding.weight)
        pages = (reads[..., None] * codes[:, None]).flatten(2)  # (batch, position, code of each token)
        missing = len(self.reads) - length
        return F.pad(pages, (0, missing * codes.shape[-1])) if missing else pages

    def __deepcopy__(self, memo):
        return OpenBook(self.embedding.weight.detach(), self.reads.clone(), self.only).eval()


def codes_of_tokens(generator, low=3, high=14):
    """Codes of 16 tokens, each number 0.7 or -0.3, in random order; and the token whose code is 0.7 everywhere."""
    one = torch.tensor([[1.0, 1.0], [1.0, -1.0]], dtype=torch.float64)
    codes = (torch.kron(torch.kron(one, one), torch.kron(one, one)) + 1) / 2 - 0.3  # (token, code)
    ones = int(integers(generator, high, low=low))
    order = 1 + torch.randperm(15, generator=generator)
    order = torch.cat([order[:ones], torch.tensor([0]), order[ones:]])
    return codes[order], ones


def draw_row(generator, row, length):
    """A single sequence: one token, and then the token that row names in all the other places.

    That may be 0, 1, the largest, or the one halfway between 0 and the largest; for "same" the sequence is reversed.
    """
    largest = 2 * int(integers(generator, 8, low=4))
    token = {"0": 0, "1": 1, "middle": largest // 2, "same": largest // 2 - 1, "largest": largest}[row]
    first = 3 if row == "largest" else largest
    tokens = torch.tensor([[first, *[token] * (length - 1)]])
    return tokens.flip(1) if row == "same" else tokens


def draw_model(generator, batch, length, leaks, alone=False, bright=None, row=None):
    """A model with the leaks given, {(position, token): size}, and tokens; of 0, 1 and 15 only those of a row.

    What is read shows by its size: a position's own token 3 to 4, earlier ones 5 to 6 (4 to 5 by the last
    position), the very first 7 to 8; leaks are smaller. alone: the first sequence does not leak. bright: the
    code of the token at this position is the largest everywhere, so that another can only take away; it is not
    the same token at position 2 and elsewhere, for what is put in its place may be itself. A batch of
    one leaks equally in several places: a token that is drawn at random is not the same in all of them.
    """
    codes, ones = codes_of_tokens(generator, *((12, 14) if bright == 2 else (3, 6)))
    spread = torch.rand(length, length, generator=generator, dtype=torch.float64)
    sizes = torch.full((length, length), 5.0, dtype=torch.float64).fill_diagonal_(3.0)
    sizes[-1, 1:-1], sizes[1:, 0] = 4.0, 7.0
    reads = (sizes + spread).tril()
    for (position, token), size in leaks.items():
        reads[position, token] = size * (1 + (spread[position, token] if batch > 1 else spread[0, -1]) / 4)
    tokens = torch.stack([torch.randperm(12, generator=generator)[:length] for _ in range(batch)])
    if alone:
        tokens[1:, 0] = (tokens[0, 0] + 1) % 12
    tokens = tokens + 2 + (tokens + 2 >= ones)  # no token is the bright one yet
    if row is not None:
        tokens = draw_row(generator, row, length)
    if bright is not None:
        tokens[:, bright] = ones
    known = codes[: tokens.max() + 1]  # a larger id is refused, as any embedding refuses it
    return OpenBook(known, reads, int(tokens[-1, 0]) if alone else None).eval(), tokens


def neighbours(length):
    """Every position reads the token after it: one that is drawn at random is hardly ever the same in all places."""
    return {(place, place + 1): 1 for place in range(length - 1)}


ROWS = ("0", "1", "largest", "middle", "same")

A_TENSOR = "a tensor, not a float"
OF_A_TENSOR = "The number is right, but it comes in a tensor or an array; the exercise asks for a float."
INTO_A_FLOAT = "how do you get the number out of a tensor that holds only one?"


def is_a_float(call, model, tokens):
    """The number is right; is it a float?"""
    wrong = isinstance(call(model, tokens), (torch.Tensor, np.ndarray))
    return (A_TENSOR, OF_A_TENSOR, INTO_A_FLOAT) if wrong else None


def leaks_seen(observed, expected, model, tokens):
    """False alarm, missed, too much or too little."""
    value, reads = float(numbers(observed)), model.reads
    if expected == 0:
        return (
            f"This model cannot look ahead, yet you report a leak of {value:.2f}. Perhaps you compare positions "
            "that may change, or change tokens that must not change."
        )
    position, token = divmod(int(reads.triu(1).abs().argmax()), len(reads))
    where = f"In this model position {position} reads token {token}, which comes later"
    return where + (
        ", but your code does not find this leak."
        if value == 0
        else f", and its output changes by {expected:.4g} at most when that token is replaced."
    )


MAY_BE_THE_SAME = "a token replaced by one that may be the same"
OF_THE_SAME = (
    "The token that replaces another may be the same one. Then nothing changes, and a leak from there is missed."
)
NOT_THE_SAME = "take a text of only 0s and 1s: print it, and then every text that the model gets in its place."


def text_of_two_tokens(generator):
    """Four tokens, each 0 or 1, and both among them."""
    text = integers(generator, 2, 1, 4)
    return text if text.any() and not text.all() else torch.cat([1 - text[:, :1], text[:, 1:]], dim=1)


def missed_among_two_tokens(call, text, place):
    """What becomes of a leak from this place to the position before it: None if it is found."""
    reads = 3 * torch.ones(4, 4, dtype=torch.float64).tril()
    reads[place - 1, place] = 1.0
    model = OpenBook(torch.eye(2, dtype=torch.float64) - 0.3, reads).eval()
    try:
        leak = float(call(model, text.clone()))
    except IndexError:
        return "an unknown id", "In a text of only 0s and 1s, a token is replaced by a larger one.", NOT_THE_SAME
    if abs(leak - 1) < 1e-4:
        return None
    tried = {row[place] for asked in model.asked if asked.shape[1:] == text.shape[1:] for row in asked.tolist()}
    if leak == 0 and len(tried) == 1:  # the token was never another one
        return MAY_BE_THE_SAME, OF_THE_SAME, NOT_THE_SAME
    return (
        "wrong for two tokens",
        f"For a text of only 0s and 1s, {text.tolist()}, you report a leak of {leak:.2f}; it should be 1.00.",
        NOT_THE_SAME,
    )


def finds_leaks_among_two_tokens(call, model, tokens):
    """In a text of two tokens, is each of them replaced by the other one?"""
    generator = torch.Generator().manual_seed(int(tokens.sum()))
    text = text_of_two_tokens(generator)
    found = next(filter(None, (missed_among_two_tokens(call, text, place) for place in (1, 2, 3))), None)
    if found and found[0] != MAY_BE_THE_SAME:  # perhaps by chance: where the second token leaks, it shows
        more = (missed_among_two_tokens(call, text_of_two_tokens(generator), 1) for _ in range(20))
        found = next((one for one in more if one and one[0] == MAY_BE_THE_SAME), found)
    return found


exercise = Exercise(
    name="future_leak",
    lesson=6,
    title="A leak detector",
    difficulty=2,
    importance=2,
    minutes=12,
    contract="""future_leak(model, tokens), where model(tokens) turns token ids (batch, length), length at least 2, into
        outputs (batch, length, features), returns a float: the largest change in any output number at any position
        when only tokens after that position change. It is 0 for a model that cannot look ahead. A leak may run
        from any token to any earlier position, in any sequence; the batch may hold a single sequence. Tokens are
        replaced, never removed: the text keeps its length. The ids run from 0 to tokens.max(), which is at least 1. It
        does not matter which other id takes a token's place: the check's models respond equally to any of them. The
        model is already in eval mode. Leave the model and the tokens unchanged.""",
    stub='''
        def future_leak(model, tokens):
            """The largest change in any output number when only later tokens change."""
            raise NotImplementedError''',
    sizes=[
        {"batch": 3, "length": 3, "leaks": {(0, 1): 2, (0, 2): 1, (1, 2): 1.5}},
        {"batch": 2, "length": 3, "leaks": {}},
        {"batch": 4, "length": 4, "leaks": {(2, 3): 1}, "bright": 3},
        {"batch": 4, "length": 5, "leaks": {(0, 4): 1}, "bright": 4},
        {"batch": 4, "length": 5, "leaks": {(0, 2): 2e-4}},
        {"batch": 4, "length": 5, "leaks": {(0, 3): -1}, "bright": 3},
        {"batch": 4, "length": 4, "leaks": {(1, 2): -1}, "bright": 2},
        {"batch": 5, "length": 4, "leaks": {(0, 1): 1}, "alone": True},
        {"batch": 4, "length": 4, "leaks": {(0, 1): 1, (2, 3): 2}},
        {"batch": 1, "length": 4, "leaks": neighbours(4)},
        *({"batch": 1, "length": 6, "leaks": neighbours(6), "row": row} for row in ROWS),
    ],
    draw=draw_model,
    reference=lambda model, tokens: Detector()(model, tokens),
    returns="leak",
    symptoms=(leaks_seen,),
    checks=(is_a_float, finds_leaks_among_two_tokens),
    names_steps=False,
    hints=[
        (
            "what to change",
            "Choose a position. Which tokens come after it? Make a copy of the tokens in which only "
            "these are replaced, and run the model on both.",
        ),
        (
            "what to compare",
            "Up to the position you chose, both runs have read the same tokens. Compare the outputs "
            "there, and nowhere else.",
        ),
        (
            "a leak is missed",
            "One choice of position is not enough: a leak may be anywhere. Keep the largest "
            "absolute difference over all of them.",
        ),
    ],
    solution="""
        import torch

        @torch.no_grad()
        def future_leak(model, tokens):
            before, largest = model(tokens), 0.0
            for place in range(1, tokens.shape[1]):
                changed = tokens.clone()
                changed[:, place:] = (tokens[:, place:] + 1) % (tokens.max() + 1)
                difference = (model(changed) - before)[:, :place]
                largest = max(largest, difference.abs().max().item())
            return largest""",
)


def another(tokens, places=slice(None)):
    """A copy of the tokens, with another one in each of these places."""
    changed = tokens.clone()
    changed[:, places] = (tokens[:, places] + 1) % (tokens.max() + 1)
    return changed


@exercise.right("step by step")
class Detector(Steps):
    @torch.no_grad()
    def __call__(self, model, tokens):
        before = model(tokens)
        found = [
            self.size(self.difference(model(self.changed(tokens, place)), before, place))
            for place in self.places(tokens.shape[1])
        ]
        return self.result(self.most(found))

    def places(self, length):
        return range(1, length)  # of the first token that changes

    def changed(self, tokens, place):
        return another(tokens, slice(place, None))

    def difference(self, after, before, place):
        return self.seen(self.compared(after, before), place)

    def compared(self, after, before):
        return (after - before).abs()

    def seen(self, differences, place):
        return differences[:, :place]

    def size(self, differences):
        return differences.max()

    def most(self, sizes):
        return max(0 * sizes[0], *sizes)

    def result(self, number):
        return float(number)


@exercise.right("one token at a time")
class OneByOne(Detector):  # changes a single token; compares all the positions before it
    def changed(self, tokens, place):
        return another(tokens, place)


@exercise.right("one position at a time")
class JustBefore(Detector):  # changes all the later tokens; compares the one position before them
    def seen(self, differences, place):
        return differences[:, place - 1]


ONE_TOKEN, ONE_PLACE = {"changed": OneByOne.changed}, {"seen": JustBefore.seen}
THE_MOST = "which single number does the exercise ask for?"


def styled(*styles, **replaced):
    """Each change in the step by step detector, then in each of these others."""
    alone = changes(replaced)
    return [*alone, *({**change, **style} for change in alone for style in styles)]


# Which tokens change, and where that is looked for
mistake = exercise.section(hint=2)
mistake(
    "always 0",
    hint=1,
    why="Your code gives 0 for every model here, even for those that read the whole future: "
    "what it compares, or what it keeps, never differs.",
    look="print the two sets of tokens, then the outputs: is "
    "every number in them compared, or only what an index, a maximum or a mean leaves?",
    variants=[lambda model, tokens: 0.0],
)
mistake(
    "the changed position compared",
    pairs=4,
    why="The position of a changed token is compared, but in any model a position may see its own token.",
    look="the last position that you compare: which tokens may it see?",
    variants=[
        {"seen": lambda differences, place: differences[:, : place + 1], **change}
        for change in (
            {},
            {"places": lambda length: range(length)},
            {"places": lambda length: [length - 1]},
            {"places": lambda length: range(length - 1), **ONE_TOKEN},
        )
    ],
)
mistake(
    "the later positions compared",
    pairs=2,
    why="Positions after a changed token are compared, but in any model they may see it.",
    look="which positions have read the same tokens in both runs?",
    variants=[
        {"seen": lambda differences, place: differences[:, place:], **change}
        for change in ({}, {"places": lambda length: [length // 2]})
    ],
)
mistake(
    "the earlier tokens changed",
    hint=1,
    pairs=2,
    why="Tokens that a position may see are changed, even the very first one, so its output may change in any model.",
    look="print the two sets of tokens: up to which place are they the same? Which positions are compared?",
    changed=another,
    variants=[
        {
            "changed": lambda tokens, place: another(tokens, slice(place)),
            "seen": lambda differences, place: differences[:, place:],
        }
    ],
)


def with_the_run_before(self, step, after, before, place):
    before, self.last = before if place == 1 else self.last, after
    return step(after, before, place)


mistake(
    "compared with the run before",
    pairs=0,
    why="A changed text is compared with the one changed before it, "
    "not with the original. The two also differ in a token that a position may see.",
    look="is the output for the original text kept, under a name of its own, to the end?",
    variants=styled(ONE_TOKEN, difference=with_the_run_before),
)
mistake(
    "the changes pile up",
    hint=1,
    pairs=0,
    why="Tokens that a compared position may see are replaced too, as "
    "when one copy serves for all the places and every change stays in it.",
    look="is a copy made only once, or anew for each place?",
    changed=[lambda tokens, place: another(tokens, slice(1, place + 1)), lambda tokens: another(tokens, slice(1, 99))],
)
mistake(
    "only the last position",
    pairs=2,
    why="Only the last position is looked at. It is the only one that cannot leak, as no token comes after it.",
    look="which positions have a future?",
    seen=lambda differences: differences[:, -1],
    variants=[{"seen": lambda differences: differences[:, -1], "places": lambda length: range(length)}],
)


# A token that is not replaced by another one
def put(*replaced):
    """In the place of all the later tokens."""
    return [
        lambda tokens, place, one=one: torch.cat([tokens[:, :place], one(tokens)[:, place:]], dim=1) for one in replaced
    ]


mistake = exercise.section(hint=1, pairs=0)
mistake(
    "cut off, not changed",
    pairs=1,
    why="The later tokens are cut off, not replaced, so the output does not "
    "change by the amount that the exercise asks for. Some models even refuse a text of another length.",
    look="print the shape of each text that the model gets.",
    variants=[
        {
            "changed": lambda tokens, place: tokens[:, :place],
            "compared": lambda after, before: (after - before[:, : after.shape[1]]).abs(),
        }
    ],
)
mistake(
    "token 0 replaced by itself",
    pairs=1,
    why="Where a later token is 0, it stays 0: nothing changes, and a leak from there is missed.",
    look="what takes the place of a token 0? Print both texts.",
    changed=put(torch.zeros_like),
)
mistake(
    "token 1 replaced by itself",
    why="Where a later token is 1, it stays 1: nothing changes, and a leak from there is missed.",
    look="what takes the place of a token 1? Print both texts.",
    changed=put(torch.ones_like),
)
mistake(
    "the largest token replaced by itself",
    why="Where a later token is the largest, it stays the same: nothing changes, and a leak from there is missed.",
    look="what takes the place of tokens.max()? Print both texts.",
    changed=put(lambda tokens: tokens.max().expand_as(tokens)),
)
mistake(
    "the token in the middle replaced by itself",
    why="Where a later token is half the largest, it stays the same: nothing changes, and a leak from there is missed.",
    look="let the largest token be 8. What takes the place of a 4?",
    changed=put(lambda tokens: tokens.max() - tokens),
)
mistake(
    "another sequence's token",
    why="A token is replaced by one from another sequence. That may be the same token, "
    "and in a batch of one there is no other sequence. In both cases nothing changes, and a leak is missed.",
    look="print both texts, for this batch and for a batch of one.",
    changed=put(lambda tokens: tokens.roll(1, 0)),
)
mistake(
    MAY_BE_THE_SAME,
    why=OF_THE_SAME,
    look=NOT_THE_SAME,
    changed=put(
        lambda tokens: tokens.roll(1, 1),
        lambda tokens: tokens.roll(-1, 1),
        lambda tokens: tokens.median().expand_as(tokens),
        lambda tokens: tokens.min().expand_as(tokens),
        lambda tokens: (tokens + 2) % (tokens.max() + 1),
        lambda tokens: torch.randint(0, int(tokens.max()) + 1, tokens.shape),
    ),
)


def reordered(tokens, place, order):
    return torch.cat([tokens[:, :place], order(tokens[:, place:])], dim=1)


mistake(
    "nothing to compare at place 0",
    hint=3,
    raises=True,
    why="The largest change is taken of an empty "
    "tensor, as when a loop starts at place 0, which has no positions before it.",
    look="which slice of the outputs is empty? What is `[:, :0]` of a tensor?",
    places=lambda length: range(length),
)
mistake(
    "put in another order",
    why="The later tokens are only reordered. A single one, or several equal ones, then "
    "stay the same, and a leak from there is missed.",
    look="print both texts where all the later tokens are equal.",
    changed=[
        lambda tokens, place: reordered(tokens, place, lambda later: later.flip(1)),
        lambda tokens, place: reordered(tokens, place, lambda later: later.roll(1, 1)),
        lambda tokens, place: reordered(tokens, place, lambda later: later.sort(1).values),
    ],
)

mistake(
    "a softmax before the comparison",
    hint=3,
    pairs=0,
    why="The outputs go through a softmax before they are "
    "compared. The exercise asks for the change in the outputs as they are.",
    look="what is done to the outputs before they are subtracted?",
    variants=[
        {"compared": lambda after, before: (after.softmax(-1) - before.softmax(-1)).abs(), **style}
        for style in ({}, ONE_TOKEN)
    ],
)

# A leak that is missed
mistake = exercise.section(hint=3)
mistake(
    "only the last token counts",
    why="Only changes to the last token count, so a leak from any token before it is missed.",
    look="which tokens come after the first position, and do you keep what each of them changes?",
    variants=styled(ONE_PLACE, places=lambda length: [length - 1]),
)
mistake(
    "only the first position",
    why="Only what changes at the first position counts, so a leak into any position after it is missed.",
    look="is there a `return` inside a loop? Which positions are compared?",
    variants=styled(ONE_TOKEN, places=lambda: [1]),
)
mistake(
    "only one cut",
    why="The sequence is cut in one place only, so a leak is missed if its token and its position "
    "are on the same side of the cut.",
    look="in how many places can a text be split into earlier and later tokens?",
    variants=styled(ONE_TOKEN, ONE_PLACE, places=lambda length: [length // 2]),
)
mistake(
    "only the next token changed",
    why="For each position, only a change to the token right after it counts, so a leak from further ahead is missed.",
    look="which tokens come after the first?",
    variants=[{**ONE_TOKEN, **ONE_PLACE}],
)
mistake(
    "the last place left out",
    why="A leak from the last token into the position before it is missed: the last "
    "token never changes alone, as when a loop ends too early or the later tokens are only reordered.",
    look="the last position but one: when does the only token after it change?",
    variants=styled(ONE_TOKEN, places=lambda length: range(1, length - 1)),
)
mistake(
    "every second place left out",
    pairs=0,
    why="Only every second place is tried, so a leak that shows only at one of the others is missed.",
    look="list the places that your code tries: which are missing?",
    variants=styled(
        ONE_TOKEN, ONE_PLACE, places=[lambda length, first=first: range(first, length, 2) for first in (1, 2)]
    ),
)
mistake(
    "as many turns as sequences",
    pairs=0,
    why="The size of the batch is taken for the length. If there are fewer "
    "sequences than tokens, the last places are never reached, and leaks are missed.",
    look="how many places does your code try, and which dimension of tokens says so?",
    variants=styled(
        ONE_TOKEN,
        ONE_PLACE,
        variants=[
            {
                "__call__": lambda self, step, model, tokens: (
                    setattr(self, "turns", len(tokens)) or step(model, tokens)
                ),
                "places": lambda self: range(1, self.turns),
                "most": lambda sizes: max([0.0, *sizes]),
            }
        ],
    ),
)
mistake(
    "the first place left out",
    why="A leak from the second token into the first position is missed, as when a loop starts one step too late.",
    look="the first place that you try: which positions are compared for it?",
    variants=styled(ONE_PLACE, places=lambda length: range(2, length)),
)
mistake(
    "the position before the change left out",
    hint=2,
    why="The comparison ends one position too early: a leak "
    "from the very next token, which a mask that is off by one lets through, is missed.",
    look="which position is the last that must not change, and is it compared?",
    variants=[
        {"places": lambda length: range(2, length), "seen": lambda differences, place: differences[:, : place - 1]}
    ],
)

# One number from the differences, and what is left behind
mistake = exercise.section(hint=3)
mistake(
    "no absolute value",
    pairs=2,
    why="A change in one direction counts as negative, so it loses to 0 or to a smaller change in the other direction.",
    look="what is the largest of the differences -3 and 1?",
    compared=[lambda after, before: after - before, lambda after, before: before - after],
)
mistake(
    "the mean change",
    pairs=5,
    why="The changes, or the features, are averaged, so one strong leak is drowned out "
    "by everything that stays the same.",
    look=THE_MOST,
    size=lambda differences: differences.mean(-1).max(),
    variants=[
        *styled(
            ONE_TOKEN,
            ONE_PLACE,
            variants=[
                {"size": lambda differences: differences.mean()},
                {"most": lambda sizes: sum(sizes) / len(sizes)},
                {"size": lambda differences: differences.pow(2).mean().sqrt()},
                {"most": lambda sizes: sum(sizes) / len(sizes), "size": lambda differences: differences.mean()},
                {"compared": lambda after, before: (after - before).mean(-1, keepdim=True).abs()},
            ],
        ),
        {"size": lambda differences: differences.mean(-1).max(), **ONE_TOKEN},
    ],
)
mistake(
    "the sum of the changes",
    pairs=4,
    why="The changes, or the numbers before they are compared, are added up; "
    "the exercise asks for the largest single change.",
    look=THE_MOST,
    size=lambda differences: differences.sum(-1).max(),
    variants=[
        *styled(
            ONE_TOKEN,
            variants=[
                {"size": lambda differences: differences.sum()},
                {"most": lambda sizes: sum(sizes)},
                {"compared": lambda after, before: (after - before).sum(-1, keepdim=True).abs()},
                {"size": lambda differences: differences.sum(), "most": lambda sizes: sum(sizes)},
            ],
        ),
        {"size": lambda differences: differences.sum(-1).max(), **ONE_TOKEN},
    ],
)
mistake(
    "the length of the change",
    pairs=2,
    why="The differences are squared and added up, and the root is taken, as for the length of a vector. The exercise "
    "asks for the largest single difference.",
    look=THE_MOST,
    size=lambda differences: differences.norm(dim=-1).max(),
    variants=[
        *styled(ONE_TOKEN, size=lambda differences: differences.norm()),
        {"size": lambda differences: differences.norm(dim=-1).max(), **ONE_TOKEN},
    ],
)
mistake(
    "the square of the change",
    pairs=2,
    why="The differences are squared, and perhaps averaged, so the number does not say how large a leak is.",
    look="what does the exercise ask for: how far a number moves, or the square of that?",
    compared=lambda after, before: (after - before) ** 2,
    variants=styled(
        ONE_TOKEN,
        ONE_PLACE,
        variants=[
            {"compared": lambda after, before: (after - before) ** 2, "size": lambda differences: differences.mean()}
        ],
    ),
)
mistake(
    "the smallest of the changes",
    why="The smallest change over the places is kept, so a leak in one place is hidden by a place without one.",
    look="min or max?",
    variants=styled(ONE_TOKEN, ONE_PLACE, most=lambda sizes: min(sizes)),
)
mistake(
    "only the first leak found",
    why="Your code stops at the first leak that it finds, or keeps that one, but a larger one may come after it.",
    look="is there a `return` or a `break` inside a loop? What becomes of a larger leak that comes later?",
    most=lambda sizes: next((one for one in sizes if one > 0), sizes[0]),
)
mistake(
    "a relative change",
    pairs=2,
    why="The change is divided by the size of the output, so it is only relative. "
    "The exercise asks how far a number moves.",
    look="every division: what does the exercise ask for?",
    compared=[
        lambda after, before: (after - before).abs() / (before.abs() + 1e-8),
        lambda after, before: (after - before).abs() / before.abs().max(),
    ],
    variants=styled(
        ONE_TOKEN,
        variants=[
            {"compared": lambda after, before: ((after - before) / before.abs().clamp_min(1e-9)).abs()},
            {
                "compared": lambda after, before: (after - before).abs() / before.abs(),
                "most": lambda sizes: max(0.0, *map(float, sizes)),
            },
        ],
    ),
)
mistake(
    "only the first sequence",
    why="Only the first sequence of the batch is changed, or only the first one is compared.",
    look="the first dimension: is every sequence changed, and compared?",
    difference=lambda right: right[:1],
)
mistake(
    "small leaks rounded off",
    pairs=0,
    why="A leak below some limit is reported as 0, or the number is rounded, but a small leak is still a leak.",
    look="where does a small number become 0? The exercise asks for it as it is.",
    result=[
        lambda right: right if right > 1e-2 else 0.0,
        *(lambda right, digits=digits: round(right, digits) for digits in (1, 2, 3, 4)),
    ],
)
mistake(
    "yes or no",
    pairs=0,
    why="The result says whether there is a leak, but the exercise asks how large it is.",
    look="where does your code compare the leak with a limit, such as 0?",
    result=[
        lambda right: right > 0,
        lambda right: right == 0,
        lambda right: float(right > 0),
        lambda right: torch.tensor(right) > 0,
        lambda right: torch.tensor(right) == 0,
    ],
)
mistake(A_TENSOR, why=OF_A_TENSOR, look=INTO_A_FLOAT, result=lambda number: number)
mistake(
    "the tokens are changed in place",
    hint=1,
    pairs=1,
    why="The caller's own tokens are overwritten, and may then be compared with themselves. A second name, for "
    "instance, is not a copy.",
    look="what does `changed = tokens` do, and what makes a copy?",
    changed=lambda tokens, right: tokens.copy_(right),
    variants=[lambda model, tokens: float((model(tokens.copy_(another(tokens, -1))) - model(tokens)).abs().max())],
)
