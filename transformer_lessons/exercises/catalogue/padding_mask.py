"""padding_mask, of lesson 6: nobody attends to padding."""

import torch
import torch.nn.functional as F

from transformer_lessons import masks
from transformer_lessons.exercises.catalogue import causal_mask
from transformer_lessons.exercises.catalogue.causal_mask import VERY_NEGATIVE
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, integers


def draw_tokens(generator, batch, length, pad_id, padded):
    """Tokens of 0 to 6; `padded` says, row by row, which positions hold pad_id, and no others do."""
    tokens = integers(generator, 6, batch, length)
    tokens = tokens + (tokens >= pad_id)  # 0 to 6 without pad_id
    for row, positions in enumerate(padded):
        tokens[row, list(positions)] = pad_id
    return tokens, pad_id


exercise = Exercise(
    name="padding_mask",
    lesson=6,
    title="Nobody reads padding",
    difficulty=1,
    importance=3,
    minutes=6,
    contract="""padding_mask(tokens, pad_id), with token ids (batch, length), returns a boolean tensor (batch, 1, 1,
        length): True where a key is a real token, False where it is padding, that is, where the token is
        pad_id, anywhere in the sequence. The two dimensions of size 1 are for heads and queries.""",
    stub='''
        def padding_mask(tokens, pad_id):
            """A boolean tensor (batch, 1, 1, length): True where a key is a real token."""
            raise NotImplementedError''',
    sizes=[
        {"batch": 2, "length": 3, "pad_id": 4, "padded": [(), (2,)]},
        {"batch": 2, "length": 5, "pad_id": 3, "padded": [(2, 3, 4), (4,)]},
        {"batch": 3, "length": 4, "pad_id": 0, "padded": [(3,), (), (1, 2, 3)]},
        {"batch": 4, "length": 4, "pad_id": 2, "padded": [(2, 3), (), (1, 2, 3), (3,)]},
        {"batch": 3, "length": 7, "pad_id": 5, "padded": [(0, 1, 2), (1, 4, 6), (0, 1, 2, 3, 4, 5, 6)]},
        {"batch": 1, "length": 6, "pad_id": 1, "padded": [(0, 5)]},
        {"batch": 2, "length": 4, "pad_id": 6, "padded": [(), ()]},
        {"batch": 2, "length": 1, "pad_id": 3, "padded": [(), (0,)]},
    ],
    draw=draw_tokens,
    reference=masks.padding_mask,
    names_steps=False,
    returns="mask",
    shapes={"mask": "(batch, 1, 1, key)"},
    hints=[
        (
            "True and False",
            "Take one row of tokens, 5 3 0 0, and pad_id 0. Write True under each token that may be read.",
        ),
        (
            "the shape",
            "The scores are (batch, heads, query, key). Along which of these dimensions does the mask "
            "change, and along which does it stay the same?",
        ),
        (
            "the tool",
            "One comparison gives a tensor of shape (batch, length). Indexing with None, or unsqueeze, "
            "adds a dimension of size 1 exactly where you put it.",
        ),
    ],
    solution="""
        def padding_mask(tokens, pad_id):
            return (tokens != pad_id)[:, None, None, :]""",
)


@exercise.right("step by step")
class PaddingMask(Steps):
    def __call__(self, tokens, pad_id):
        return self.form(self.placed(self.real(tokens, pad_id)))

    def real(self, tokens, pad_id):
        return tokens != pad_id

    def placed(self, real):
        return real[:, None, None, :]

    def form(self, mask):
        return mask


# Which tokens are padding
mistake = exercise.section(hint=1)
PADDED_START = "try a sequence that starts with padding."
PADDED_END = "try a sequence that ends in padding."
TWO_PADDINGS = "try a sequence with two padding tokens."


def places(tokens):
    return torch.arange(tokens.shape[1])


mistake(
    "the mask inverted",
    why="True marks the padding, but it should mean that attending is allowed. With this "
    "mask, the model would read nothing but padding.",
    look="read the first row aloud: may anyone attend to its first token?",
    real=lambda tokens, pad_id: tokens == pad_id,
)
mistake(
    "padding taken to be 0",
    why="The tokens that are 0 are taken for padding, whatever pad_id is.",
    look="where do you use pad_id?",
    real=lambda tokens: tokens != 0,
)
mistake(
    "inverted, and padding taken to be 0",
    why="True marks the tokens that are 0, whatever pad_id is: the mask is inverted, and pad_id is not used.",
    look="read the first row aloud: may anyone attend to its first token? And where do you use pad_id?",
    real=lambda tokens: tokens == 0,
)
mistake(
    "larger than pad_id",
    why="Every token whose id is smaller than pad_id is taken for padding too.",
    look="pad_id is a name, not a size: what about smaller ids?",
    real=lambda tokens, pad_id: tokens > pad_id,
)
mistake(
    "smaller than pad_id",
    why="Every token whose id is larger than pad_id is taken for padding too.",
    look="pad_id is a name, not a size: what about larger ids?",
    real=lambda tokens, pad_id: tokens < pad_id,
)
mistake(
    "compared by size, and padding let in",
    pairs=2,
    why="The tokens are compared with pad_id by size, and padding itself comes out as True.",
    look="pad_id is a name, not a size: which tokens are equal to it, and which are not?",
    real=[lambda tokens, pad_id: tokens >= pad_id, lambda tokens, pad_id: tokens <= pad_id],
)
mistake(
    "nothing forbidden",
    why="Every key may be attended to, padding included: there is no False in the mask.",
    look="print `tokens == pad_id` for one row, and follow it to the result.",
    real=lambda right: right | True,
)
mistake(
    "nothing allowed",
    why="No key may be attended to, the real tokens included: there is no True in the mask.",
    look="print `tokens != pad_id` for one row, and follow it to the result.",
    real=lambda right: right & False,
)
mistake(
    "padding only at the end",
    why="The real tokens are counted, and that many keys are allowed from the start. "
    "That is right only where all the padding is at the end.",
    look=PADDED_START,
    real=lambda tokens, right: places(tokens) < right.sum(1, keepdim=True),
)
mistake(
    "the padding counted, not the tokens",
    why="As many keys are allowed as there are padding tokens: the wrong tokens are counted.",
    look="what does your code count: real tokens, or padding?",
    real=lambda tokens, right: places(tokens) < (~right).sum(1, keepdim=True),
)
mistake(
    "all after the first padding",
    why="Everything after the first padding token is forbidden, even real tokens.",
    look="try a sequence in which real tokens follow padding.",
    real=lambda right: right.long().cumprod(1).bool(),
)
mistake(
    "a sequence without padding forbidden",
    pairs=2,
    why="Keys are allowed up to the first padding token. Where "
    "there is none, the whole sequence is forbidden, or all of it but the first key, as if that token were at "
    "place 0.",
    look="try a sequence without any padding. What does argmax give where nothing is True?",
    real=[
        lambda tokens, right: places(tokens) < (~right).int().argmax(1, keepdim=True),
        lambda tokens, right: places(tokens) <= (~right).int().argmax(1, keepdim=True),
    ],
)
mistake(
    "the last key forbidden where there is no padding",
    why="Keys are allowed up to the first padding token. Where "
    "there is none, the last key is forbidden, as if that token were at place -1.",
    look="try a sequence without any padding. Where does a slice that ends at -1 end?",
    real=lambda tokens, right: right.long().cumprod(1).bool() & (places(tokens) < tokens.shape[1] - 1),
)
mistake(
    "padding that is not at the end let in",
    why="Only the padding after the last real token is forbidden; any before it may be attended to.",
    look=PADDED_START,
    real=[
        lambda right: right.flip(1).cummax(1).values.flip(1),
        lambda right: right.flip(1).cummax(1).values.flip(1) | ~right.any(1, keepdim=True),
    ],
)
mistake(
    "padding that is not at the start let in",
    why="Only the padding before the first real token is forbidden; any after it may be attended to.",
    look=PADDED_END,
    real=lambda right: right.cummax(1).values,
)
mistake(
    "padding taken to stand at the start",
    why="The real tokens are counted, and that many keys are allowed at the "
    "end. That is right only where all the padding is at the start.",
    look=PADDED_END,
    real=lambda tokens, right: places(tokens) >= (~right).sum(1, keepdim=True),
)
ANSWERS = (
    lambda real: real.all(1, keepdim=True),
    lambda real: real.any(1, keepdim=True),
    lambda real: ~real.all(1, keepdim=True),
    lambda real: ~real.any(1, keepdim=True),
)
mistake(
    "one answer for each sequence",
    why="Each sequence gets a single answer, the same for all its keys. Every token needs its own.",
    look="what do `any`, `all` and `in` give for a whole row?",
    real=lambda right: right.all(1, keepdim=True).expand(right.shape),
    variants=[
        *(lambda tokens, pad_id, answer=answer: answer(tokens != pad_id)[:, None, None] for answer in ANSWERS),
        *(
            lambda tokens, pad_id, answer=answer: answer(tokens != pad_id).expand(tokens.shape)[:, None, None]
            for answer in ANSWERS[1:]
        ),
    ],
)
mistake(
    "the positions compared, not the tokens",
    pairs=2,
    why="pad_id is compared with the positions, not with the tokens that stand there.",
    look="where do you use the ids in `tokens`, and not just its shape?",
    real=[
        lambda tokens, pad_id: (places(tokens) != pad_id).expand(tokens.shape),
        lambda tokens, pad_id: (places(tokens) < pad_id).expand(tokens.shape),
    ],
)
mistake(
    "0 taken for padding too",
    why="The token 0 is forbidden as well, though it is a token like any other unless pad_id is 0.",
    look="what does your code do with a token 0, and why?",
    real=lambda tokens, right: right & (tokens != 0),
)
mistake(
    "only the first or last token checked",
    pairs=2,
    why="Only the first token of a sequence, or only the last, is "
    "checked for padding; the others may always be attended to.",
    look=TWO_PADDINGS,
    real=[
        lambda tokens, right: right | (places(tokens) < tokens.shape[1] - 1),
        lambda tokens, right: right | (places(tokens) > 0),
    ],
)
mistake(
    "one padding let in",
    pairs=1,
    why="The first padding token of a sequence, or of a run of padding, may still "
    "be attended to. Perhaps a count or a shift is off by one, or that token is taken for the end of the text.",
    look="try a sequence with a single padding token.",
    real=[
        lambda right: right | ((~right).cumsum(1) == 1),
        *(lambda right, start=start: right | F.pad(right[:, :-1], (1, 0), value=start) for start in (True, False)),
    ],
)
mistake(
    "the first key let in",
    why="The first key of a sequence may be attended to even where it is padding, perhaps "
    "so that no row is empty; the exercise forbids all padding.",
    look=PADDED_START,
    real=[
        lambda tokens, right: right | (places(tokens) == 0),
        lambda tokens, right: right | (places(tokens) == 0) & ~right.any(1, keepdim=True),
    ],
)
mistake(
    "one key too many",
    why="The real tokens are counted, and one key more than that is allowed from the start. "
    "The count is off by one, and it ignores where the padding is.",
    look="try a sequence with a single padding token, and one that starts with it.",
    real=lambda tokens, right: places(tokens) <= right.sum(1, keepdim=True),
)
mistake(
    "only the first padding",
    why="Only the first padding token of a sequence is forbidden; those that follow may be attended to.",
    look=TWO_PADDINGS,
    real=lambda right: right | ((~right).cumsum(1) > 1),
)

# The batch, and the dimensions
mistake = exercise.section(hint=2)
SEQUENCES = "try two sequences with padding in different places."
BATCH = "broadcasting starts at the last dimension. Which dimension of the scores does the batch line up with?"
mistake(
    "the first sequence's padding for all",
    why="Every sequence gets the mask of the first one.",
    look=SEQUENCES,
    real=lambda right: right[:1].expand(right.shape),
    variants=[lambda tokens, pad_id: (tokens[0] != pad_id)[None, None, None, :]],
)
mistake(
    "one mask for the whole batch",
    pairs=2,
    why="The sequences are mixed into one mask, so the padding of one hides or shows the tokens of another.",
    look=SEQUENCES,
    real=[lambda right: right.all(0).expand(right.shape), lambda right: right.any(0).expand(right.shape)],
    variants=[
        lambda tokens, pad_id: (tokens != pad_id).all(0)[None, None, None, :],
        lambda tokens, pad_id: (tokens != pad_id).any(0)[None, None, None, :],
    ],
)
mistake(
    "the queries masked, not the keys",
    why="The mask runs along the queries: padding no longer attends to "
    "anything, but the real tokens still attend to it.",
    look="in (batch, heads, query, key), which dimension holds the tokens that are attended to?",
    placed=lambda real: real[:, None, :, None],
)
mistake(
    "queries and keys masked",
    why="Padding is forbidden as a query too, so its rows have no key at all, and the "
    "shape of the mask is (batch, 1, length, length).",
    look="which of the two dimensions of size 1 is gone? The mask should say only which keys may be attended to.",
    placed=lambda right, real: real[:, None, :, None] & right,
)
mistake(
    "one row for every query",
    why="The rows are right, but they are repeated for every query. The exercise leaves "
    "that to broadcasting, with a dimension of size 1.",
    look="the third dimension of the result: does anything change along it?",
    placed=lambda right, real: right.repeat(1, 1, real.shape[1], 1),
)
mistake(
    "padding and future masked",
    why="The mask also forbids the future. That is the job of the causal mask: where "
    "both are needed, the two are combined with &.",
    look="what does the exercise say about the order of the tokens?",
    placed=lambda right, real: right & masks.causal_mask(real.shape[1]),
)
mistake(
    "no dimensions for heads and queries",
    why="The shape of the mask is (batch, length). Against scores (batch, "
    "heads, query, key), its batch lines up with the queries.",
    look=BATCH,
    placed=lambda real: real,
)
mistake(
    "one dimension short",
    pairs=3,
    why="The mask has three dimensions. Against scores (batch, heads, query, key) "
    "its batch lines up with the heads or the queries.",
    look=BATCH,
    placed=[lambda real: real[:, None, :], lambda real: real[:, :, None], lambda real: real[None]],
)
mistake(
    "the sizes of 1 in the wrong places",
    hint=3,
    pairs=6,
    why="There are four dimensions, but the batch is not the first of them, or the length is not the last.",
    look="compare your shape with (batch, 1, 1, length), and with where each None or unsqueeze puts its 1.",
    placed=[
        lambda real: real[None, None],
        lambda real: real[:, :, None, None],
        lambda real: real[None, :, :, None],
        lambda real: real[None, :, None, :],
        lambda real: real.T[:, None, None, :],
        lambda real: real.reshape(real.shape[1], 1, 1, real.shape[0]),
    ],
)

# Something other than True and False
mistake = exercise.section(hint=1)
mistake(
    "a mask to be added",
    *causal_mask.TO_BE_ADDED,
    pairs=2,
    form=[lambda mask, number=number: torch.where(mask, 0.0, number) for number in VERY_NEGATIVE],
)
mistake(
    "a mask to be added, and inverted",
    *causal_mask.ADDED_INVERTED,
    variants=[
        lambda tokens, pad_id, number=number: torch.where(tokens != pad_id, number, 0.0)[:, None, None]
        for number in VERY_NEGATIVE
    ],
)
mistake(
    "zero times infinity",
    *causal_mask.ZERO_TIMES_INFINITY,
    pairs=2,
    form=[lambda mask: (~mask) * -torch.inf, lambda mask: mask * -torch.inf],
)
mistake(
    "one answer for all the tokens",
    why="The whole tensor gets a single answer, True or False. Every token needs its own.",
    look="`is`, `in`, `not` and `and` look at the tensor as a whole. What compares it token by token?",
    variants=[
        lambda tokens, pad_id: True,
        lambda tokens, pad_id: False,
        lambda tokens, pad_id: pad_id not in tokens,
        lambda tokens, pad_id: (tokens != pad_id).any(),
        lambda tokens, pad_id: (tokens != pad_id).all(),
    ],
)
mistake(
    "the tokens, not a mask",
    why="The result holds token ids, or numbers made from them. A mask holds only True and False, one for each token.",
    look="which operation turns a token into True or False?",
    variants=[
        lambda tokens, pad_id: (tokens * (tokens != pad_id))[:, None, None, :],
        lambda tokens, pad_id: (tokens - pad_id)[:, None, None, :],
        lambda tokens, pad_id: tokens[tokens != pad_id],
        lambda tokens, pad_id: tokens[:, None, None, :],
    ],
)
