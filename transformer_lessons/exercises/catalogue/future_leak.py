"""How the inputs of `future_leak` are drawn, and whether an answer finds leaks among two tokens."""

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons.exercises.catalogue.plain_results import is_a_float
from transformer_lessons.exercises.checker.setup import Setup, integers
from transformer_lessons.running.values import numbers


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
    signs = torch.tensor([[1.0, 1.0], [1.0, -1.0]], dtype=torch.float64)
    codes = (torch.kron(torch.kron(signs, signs), torch.kron(signs, signs)) + 1) / 2 - 0.3  # (token, code)
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
    tokens = torch.tensor([[3 if row == "largest" else largest, *[token] * (length - 1)]])
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
    reads = torch.full((length, length), 5.0, dtype=torch.float64).fill_diagonal_(3.0)
    reads[-1, 1:-1], reads[1:, 0] = 4.0, 7.0
    reads = (reads + spread).tril()
    for (position, token), size in leaks.items():
        reads[position, token] = size * (1 + (spread[position, token] if batch > 1 else spread[0, -1]) / 4)
    tokens = torch.stack([torch.randperm(12, generator=generator)[:length] for _ in range(batch)])
    if alone:
        tokens[1:, 0] = (tokens[0, 0] + 1) % 12
    tokens = tokens + 2 + (tokens + 2 >= ones)  # no token is the bright one yet
    tokens = tokens if row is None else draw_row(generator, row, length)
    if bright is not None:
        tokens[:, bright] = ones
    codes = codes[: tokens.max() + 1]  # a larger id is refused, as any embedding refuses it
    return OpenBook(codes, reads, int(tokens[-1, 0]) if alone else None).eval(), tokens


def neighbours(length):
    """Every position reads the token after it: one that is drawn at random is hardly ever the same in all places."""
    return {(place, place + 1): 1 for place in range(length - 1)}


def leaks_seen(observed, expected, model, tokens):
    """Missed, too much or too little."""
    value, reads = float(numbers(observed)), model.reads
    position, token = divmod(int(reads.triu(1).abs().argmax()), len(reads))
    missed, changes = "but your code does not find this leak", f"and its output changes by {expected:.4g} at most"
    found = f"{changes} when that token is replaced" if value else missed
    return f"In this model position {position} reads token {token}, which comes later, {found}." if expected else None


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
        given = (token for asked in model.asked for token in asked.flatten().tolist())
        unknown = next((token for token in given if token not in (0, 1)), None)
        if unknown is None:
            raise
        return "an unknown id", f"In a text of only 0s and 1s, a token is replaced by {unknown}.", NOT_THE_SAME
    if abs(leak - 1) < 1e-4:
        return None
    tried = {row[place] for asked in model.asked if asked.shape[1:] == text.shape[1:] for row in asked.tolist()}
    wrong = f"For a text of only 0s and 1s, {text.tolist()}, you report a leak of {leak:.2f}; it should be 1.00."
    never_another = leak == 0 and len(tried) == 1
    return "a token that may stay the same" if never_another else ("wrong for two tokens", wrong, NOT_THE_SAME)


NOT_THE_SAME = "take a text of only 0s and 1s: print it, and then every text that the model gets in its place."


def finds_leaks_among_two_tokens(call, model, tokens):
    """In a text of two tokens, is each of them replaced by the other one?

    What fails may do so by chance: where the second token leaks, it shows whether a token may stay the same.
    """
    generator = torch.Generator().manual_seed(int(tokens.sum()))
    text = text_of_two_tokens(generator)
    found = next(filter(None, (missed_among_two_tokens(call, text, place) for place in (1, 2, 3))), None)
    if isinstance(found, tuple):
        more = (missed_among_two_tokens(call, text_of_two_tokens(generator), 1) for _ in range(20))
        found = next((one for one in more if isinstance(one, str)), found)
    return found


setup = Setup(
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
        *(
            {"batch": 1, "length": 6, "leaks": neighbours(6), "row": row}
            for row in ("0", "1", "largest", "middle", "same")
        ),
    ],
    draw=draw_model,
    returns="leak",
    symptoms=[leaks_seen],
    checks=[is_a_float, finds_leaks_among_two_tokens],
    names_steps=False,
)
