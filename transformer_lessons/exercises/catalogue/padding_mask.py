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
    name="padding_mask", lesson=6, title="Nobody reads padding", difficulty=1, importance=3, minutes=6,
    contract="""padding_mask(tokens, pad_id), with token ids (batch, length), returns a boolean tensor (batch, 1, 1,
        length): True where a key is a real token, False where it is padding, that is, where the token is
        pad_id, wherever in the sequence it stands. The two dimensions of size 1 are for heads and queries.""",
    stub='''
        def padding_mask(tokens, pad_id):
            """A boolean tensor (batch, 1, 1, length): True where a key is a real token."""
            raise NotImplementedError''',
    sizes=[{"batch": 2, "length": 3, "pad_id": 4, "padded": [(), (2,)]},
           {"batch": 2, "length": 5, "pad_id": 3, "padded": [(2, 3, 4), (4,)]},
           {"batch": 3, "length": 4, "pad_id": 0, "padded": [(3,), (), (1, 2, 3)]},
           {"batch": 4, "length": 4, "pad_id": 2, "padded": [(2, 3), (), (1, 2, 3), (3,)]},
           {"batch": 3, "length": 7, "pad_id": 5, "padded": [(0, 1, 2), (1, 4, 6), (0, 1, 2, 3, 4, 5, 6)]},
           {"batch": 1, "length": 6, "pad_id": 1, "padded": [(0, 5)]},
           {"batch": 2, "length": 4, "pad_id": 6, "padded": [(), ()]},
           {"batch": 2, "length": 1, "pad_id": 3, "padded": [(), (0,)]}],
    draw=draw_tokens, reference=masks.padding_mask, names_steps=False,
    returns="mask", shapes={"mask": "(batch, 1, 1, key)"},
    hints=[("True and False", "Take one row of tokens, 5 3 0 0, and padding 0. Write True under each token that may be "
            "read."),
           ("the shape", "The scores are (batch, heads, query, key). Over which of these does the answer change, and "
            "over which is it always the same?"),
           ("the tool", "One comparison makes (batch, length). Indexing with None, or unsqueeze, adds a dimension of "
            "size 1 exactly where you put it.")],
    solution='''
        def padding_mask(tokens, pad_id):
            return (tokens != pad_id)[:, None, None, :]''')

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
PADDED_START = "a sequence that starts with padding."
PADDED_END = "a sequence that ends in padding."
TWO_PADDINGS = "a sequence with two paddings."

def places(tokens):
    return torch.arange(tokens.shape[1])
mistake("the mask inverted", why="True stands at the padding. Here True means may attend, so the model would read "
        "nothing but padding.", look="read the first row aloud: may anyone attend to its first token?",
    real=lambda tokens, pad_id: tokens == pad_id)
mistake("padding taken to be 0", why="The tokens are compared with 0, whatever pad_id is.",
    look="where do you use pad_id?", real=lambda tokens: tokens != 0)
mistake("inverted, and padding taken to be 0", why="True stands where the token is 0, whatever pad_id is: the "
        "comparison is the wrong one and pad_id is not in it.", look="read the first row aloud: may anyone attend to "
        "its first token? And where do you use pad_id?", real=lambda tokens: tokens == 0)
mistake("larger than pad_id", why="Every token whose id is smaller than pad_id is taken for padding too.",
    look="pad_id is a name, not a size: what about smaller ids?", real=lambda tokens, pad_id: tokens > pad_id)
mistake("smaller than pad_id", why="Every token whose id is larger than pad_id is taken for padding too.",
    look="pad_id is a name, not a size: what about larger ids?", real=lambda tokens, pad_id: tokens < pad_id)
mistake("compared by size, and padding let in", pairs=2, why="The tokens are compared with pad_id by size, and padding "
        "itself comes out as True.", look="pad_id is a name, not a size: which tokens are equal to it, and which are "
        "not?", real=[lambda tokens, pad_id: tokens >= pad_id, lambda tokens, pad_id: tokens <= pad_id])
mistake("nothing forbidden", why="Every key may be attended to, padding included: there is no False in the mask.",
    look="print `tokens == pad_id` for one row, and follow it to the result.", real=lambda right: right | True)
mistake("nothing allowed", why="No key may be attended to, the real tokens included: there is no True in the mask.",
    look="print `tokens != pad_id` for one row, and follow it to the result.", real=lambda right: right & False)
mistake("padding only at the end", why="The tokens that are not padding are counted, and as many keys are allowed from "
        "the start: right only where all the padding stands at the end.", look=PADDED_START,
    real=lambda tokens, right: places(tokens) < right.sum(1, keepdim=True))
mistake("the padding counted, not the tokens", why="As many keys are allowed as there is padding: the count is of the "
        "wrong ones.", look="what does your sum count: real tokens, or padding?",
    real=lambda tokens, right: places(tokens) < (~right).sum(1, keepdim=True))
mistake("all after the first padding", why="From the first padding on everything is forbidden, real tokens included.",
    look="a sequence in which real tokens follow padding.", real=lambda right: right.long().cumprod(1).bool())
mistake("a sequence without padding forbidden", pairs=2, why="As many keys are allowed as stand before the first "
        "padding, and where there is no padding at all that place is 0: the whole sequence is forbidden, or all of it "
        "but its first key.", look="a sequence without any padding. What does argmax give where nothing is True?",
    real=[lambda tokens, right: places(tokens) < (~right).int().argmax(1, keepdim=True),
          lambda tokens, right: places(tokens) <= (~right).int().argmax(1, keepdim=True)])
mistake("the last key forbidden where there is no padding", why="As many keys are allowed as stand before the first "
        "padding, and where there is no padding at all that place is -1, which is the last one: its key is forbidden.",
    look="a sequence without any padding. Where does a slice that ends at -1 end?",
    real=lambda tokens, right: right.long().cumprod(1).bool() & (places(tokens) < tokens.shape[1] - 1))
mistake("padding that is not at the end let in", why="Only the padding after the last real token is forbidden; any "
    "before it may be attended to.", look=PADDED_START, real=[lambda right: right.flip(1).cummax(1).values.flip(1),
        lambda right: right.flip(1).cummax(1).values.flip(1) | ~right.any(1, keepdim=True)])
mistake("padding that is not at the start let in", why="Only the padding before the first real token is forbidden; "
        "what stands after it may be attended to.", look=PADDED_END, real=lambda right: right.cummax(1).values)
mistake("padding taken to stand at the start", why="The tokens that are not padding are counted, and as many keys are "
        "allowed at the end: right only where all the padding stands at the start.", look=PADDED_END,
    real=lambda tokens, right: places(tokens) >= (~right).sum(1, keepdim=True))
ANSWERS = (lambda real: real.all(1, keepdim=True), lambda real: real.any(1, keepdim=True),
           lambda real: ~real.all(1, keepdim=True), lambda real: ~real.any(1, keepdim=True))
mistake("one answer for each sequence", why="Each sequence is asked one question as a whole, and all its keys get the "
    "same answer. Every token needs its own.", look="what do `any`, `all` and `in` make of a whole row?",
    real=lambda right: right.all(1, keepdim=True).expand(right.shape),
    variants=[*(lambda tokens, pad_id, answer=answer: answer(tokens != pad_id)[:, None, None] for answer in ANSWERS),
              *(lambda tokens, pad_id, answer=answer: answer(tokens != pad_id).expand(tokens.shape)[:, None, None]
                for answer in ANSWERS[1:])])
mistake("the positions compared, not the tokens", pairs=2, why="pad_id is compared with the positions, not with the "
        "tokens that stand there.", look="where do you use the ids in tokens, and not only their shape?",
    real=[lambda tokens, pad_id: (places(tokens) != pad_id).expand(tokens.shape),
          lambda tokens, pad_id: (places(tokens) < pad_id).expand(tokens.shape)])
mistake("0 taken for padding too", why="The token 0 is forbidden as well, though it is a token like any other where "
    "pad_id is another number.", look="where does the 0 come from?", real=lambda tokens, right: right & (tokens != 0))
mistake("only the first or last token checked", pairs=2, why="Only the first or the last token of a sequence is "
        "forbidden where it is padding; the others may always be attended to.", look=TWO_PADDINGS,
    real=[lambda tokens, right: right | (places(tokens) < tokens.shape[1] - 1),
          lambda tokens, right: right | (places(tokens) > 0)])
mistake("one padding let in", pairs=1, why="The first padding of a sequence, or of a stretch of it, may still be "
    "attended to: a count or a shift is off by one, or this padding is taken for the end of the text.",
    look="a sequence with a single padding.", real=[lambda right: right | ((~right).cumsum(1) == 1),
        *(lambda right, start=start: right | F.pad(right[:, :-1], (1, 0), value=start) for start in (True, False))])
mistake("the first key let in", why="The first key of a sequence may be attended to although it is padding, perhaps so "
    "that no row is empty; the contract forbids all padding.", look=PADDED_START, real=[
        lambda tokens, right: right | (places(tokens) == 0),
        lambda tokens, right: right | (places(tokens) == 0) & ~right.any(1, keepdim=True)])
mistake("one key too many", why="The tokens that are not padding are counted, and one key more than that is allowed "
    "from the start: the count is off by one, and ignores where the padding stands.", look="a sequence with a single "
    "padding, and one that starts with it.", real=lambda tokens, right: places(tokens) <= right.sum(1, keepdim=True))
mistake("only the first padding", why="Only the first padding of a sequence is forbidden; the ones that follow may be "
        "attended to.", look=TWO_PADDINGS, real=lambda right: right | ((~right).cumsum(1) > 1))

# The batch, and the dimensions
mistake = exercise.section(hint=2)
SEQUENCES = "two sequences with padding in different places."
BATCH = "broadcasting starts at the last dimension. Which one does the batch meet?"
mistake("the first sequence's padding for all", why="Every sequence gets the mask of the first one.", look=SEQUENCES,
    real=lambda right: right[:1].expand(right.shape),
    variants=[lambda tokens, pad_id: (tokens[0] != pad_id)[None, None, None, :]])
mistake("one mask for the whole batch", pairs=2, why="The sequences are mixed into one mask, so the padding of one "
        "hides or shows the tokens of another.", look=SEQUENCES,
    real=[lambda right: right.all(0).expand(right.shape), lambda right: right.any(0).expand(right.shape)],
    variants=[lambda tokens, pad_id: (tokens != pad_id).all(0)[None, None, None, :],
              lambda tokens, pad_id: (tokens != pad_id).any(0)[None, None, None, :]])
mistake("the queries masked, not the keys", why="The positions stand in the dimension of the queries: padding no "
    "longer asks, but every query still attends to it.",
    look="in (batch, heads, query, key), who must not be attended to?", placed=lambda real: real[:, None, :, None])
mistake("queries and keys masked", why="Padding is forbidden as a query too, so its rows have no key at all, and the "
        "mask is (batch, 1, length, length).", look="which of the two sizes of 1 has gone? The mask must only say who "
        "may be read.", placed=lambda right, real: real[:, None, :, None] & right)
mistake("one row for every query", why="The rows are right but repeated for every query; the contract leaves that to "
        "broadcasting, with a size of 1.", look="the third dimension of the result: does anything change along it?",
    placed=lambda right, real: right.repeat(1, 1, real.shape[1], 1))
mistake("padding and future masked", why="The mask also forbids the future. That is the other mask's task: the two are "
        "combined with & where both are needed.", look="what does the contract say about the order of the tokens?",
    placed=lambda right, real: right & masks.causal_mask(real.shape[1]))
mistake("no dimensions for heads and queries", why="The mask is (batch, length). Against scores (batch, heads, query, "
        "key) it lines up the batch with the queries.", look=BATCH, placed=lambda real: real)
mistake("one dimension short", pairs=3, why="The mask has three dimensions. Against scores (batch, heads, query, key) "
        "its batch lines up with the heads, or its positions with the wrong ones.", look=BATCH,
    placed=[lambda real: real[:, None, :], lambda real: real[:, :, None], lambda real: real[None]])
mistake("the sizes of 1 in the wrong places", hint=3, pairs=6, why="There are four dimensions, but batch and length "
        "are not the first and the last of them.", look="compare your shape with (batch, 1, 1, length), and with where "
        "each None or unsqueeze puts its 1.",
    placed=[lambda real: real[None, None], lambda real: real[:, :, None, None], lambda real: real[None, :, :, None],
            lambda real: real[None, :, None, :], lambda real: real.T[:, None, None, :],
            lambda real: real.reshape(real.shape[1], 1, 1, real.shape[0])])

# Something else than True and False
mistake = exercise.section(hint=1)
mistake("a mask to be added", *causal_mask.TO_BE_ADDED, pairs=2,
    form=[lambda mask, number=number: torch.where(mask, 0.0, number) for number in VERY_NEGATIVE])
mistake("a mask to be added, and inverted", *causal_mask.ADDED_INVERTED,
    variants=[lambda tokens, pad_id, number=number: torch.where(tokens != pad_id, number, 0.0)[:, None, None]
for number in VERY_NEGATIVE])
mistake("zero times infinity", *causal_mask.ZERO_TIMES_INFINITY, pairs=2,
    form=[lambda mask: (~mask) * -torch.inf, lambda mask: mask * -torch.inf])
mistake("one answer for all the tokens", why="The whole tensor is asked one question, and answers with a single True "
        "or False. Every token needs its own.", look="`is`, `in`, `not` and `and` look at the tensor as a whole. What "
        "compares it place by place?",
    variants=[lambda tokens, pad_id: True, lambda tokens, pad_id: False, lambda tokens, pad_id: pad_id not in tokens,
              lambda tokens, pad_id: (tokens != pad_id).any(), lambda tokens, pad_id: (tokens != pad_id).all()])
mistake("the tokens, not a mask", why="It hands back token ids, or numbers made of them. A mask holds only True "
        "and False: one for each place, whatever token stands there.", look="the dtype of the result.",
    variants=[lambda tokens, pad_id: (tokens * (tokens != pad_id))[:, None, None, :],
              lambda tokens, pad_id: (tokens - pad_id)[:, None, None, :],
              lambda tokens, pad_id: tokens[tokens != pad_id], lambda tokens, pad_id: tokens[:, None, None, :]])
