"""speculate, of lesson 12: a token drawn from a cheap model becomes one drawn from the expensive model."""

import sys

import torch
from torch.overrides import TorchFunctionMode

from transformer_lessons.exercises.checker import distributions
from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.distributions import Chances, plain, same_distribution
from transformer_lessons.exercises.checker.setup import Setup
from transformer_lessons.exercises.checker.watching import Watching

ROWS = [  # p, q and three drafted tokens: a group of rows for each
    ([0.50, 0.07, 0.14, 0.29], [0.84, 0.10, 0.03, 0.03], (0, 1, 2)),
    ([0.03, 0.48, 0.03, 0.46], [0.20, 0.02, 0.76, 0.02], (0, 2, 3)),
    ([0.00, 0.51, 0.34, 0.15], [0.32, 0.02, 0.56, 0.10], (0, 2, 1)),
    ([0.58, 0.03, 0.20, 0.19], [0.14, 0.66, 0.02, 0.18], (1, 0, 3)),
    ([0.00, 0.73, 0.05, 0.22], [0.20, 0.65, 0.13, 0.02], (0, 2, 3)),
    ([0.58, 0.03, 0.20, 0.19], [0.58, 0.03, 0.20, 0.19], (2, 0, 3)),
]


GROUPS = 6  # those of two of them take turns in a batch


DRAWS = 1000  # from each: enough to tell the mistakes apart, and few enough for a loop over the rows


TOKENS = torch.ones(1, 4).double().as_subclass(Chances)  # of a few rows, whichever they are


def draw(generator, first, few=0):
    """A large batch in which the groups take turns, and a uniform number for each row; or a few rows."""
    groups = [(p, q, token) for p, q, tokens in ROWS[first : first + 2] for token in tokens]
    p, q, token = (torch.tensor(one) for one in zip(*groups, strict=True))
    u = torch.rand(GROUPS * DRAWS, generator=generator, dtype=torch.float64)
    if few:
        return p.double()[:few], q.double()[:few], token[:few], u[:few]
    return p.double().repeat(DRAWS, 1), q.double().repeat(DRAWS, 1), token.repeat(DRAWS), u.clamp(1e-4, 1 - 1e-4)


class ExactOnPages(TorchFunctionMode):
    """While it is active, `torch.multinomial` can give exact chances, free of noise, to an answer on the page."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function is torch.multinomial and sys._getframe(1).f_code.co_filename == "<speculate>":
            return Drawn(result, args[0])
        return result


class Drawn:
    """What was drawn; its only column, alone or chosen by `torch.where` for some rows, gives exact chances."""

    def __init__(self, ids, weights):
        self.ids, self.weights = ids, weights

    def __getitem__(self, place):
        column = self.weights.ndim == 2 and isinstance(place, tuple) and place == (slice(None), 0)
        return Column(self.ids[:, 0], shares(self.weights).double()) if column else self.ids[place]

    def __getattr__(self, name):
        return getattr(self.ids, name)

    def __int__(self):
        return int(self.ids)


class Column:
    """A token for each row, and the chances with which it was drawn."""

    def __init__(self, ids, exact):
        self.ids, self.exact = ids, exact

    def __add__(self, number):
        return Column(self.ids + number, torch.nn.functional.pad(self.exact, (number, 0)))

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is torch.where and isinstance(args[2], Column) and args[0].ndim < 2:
            accepted, token, drawn = args
            certain = torch.zeros_like(drawn.exact).scatter(1, token[:, None], 1.0)
            rows = torch.where(accepted[..., None], certain, drawn.exact)
            return Column(torch.where(accepted, token, drawn.ids), rows)
        return function(*(one.ids if isinstance(one, Column) else one for one in args), **(kwargs or {}))


def judged(call, p, q, token, u):
    """How often each token is drawn; the exact chances of an answer on the page, for u in equal steps."""
    with ExactOnPages():
        first = call(*(one[:GROUPS].clone() for one in (p, q, token, u)))
        if not isinstance(first, Column):
            return drawn_by(plainly(call), p, q, token, u)
        if len(token) <= GROUPS:
            return TOKENS
        steps = ((torch.arange(DRAWS, dtype=u.dtype) + 0.5) / DRAWS).repeat_interleave(GROUPS)
        chances = call(p.clone(), q.clone(), token.clone(), steps).exact.unflatten(0, (-1, GROUPS)).mean(dim=0)
    kind = together(plainly(call), p, q, token)
    return chances.as_subclass(kind or Chances)


def plainly(call):
    """The same, but with the tokens that were really drawn."""

    def answer(*inputs):
        made = call(*inputs)
        return made.ids if isinstance(made, Column) else made

    return answer


def drawn_by(call, p, q, token, u):
    """How often each token is drawn in each group; what does not consist of tokens stays as it is.

    A few rows show no frequencies: all that counts there is that tokens come back, in the right form.
    """
    made = call(*(one[:GROUPS].clone() for one in (p, q, token, u)))
    if isinstance(made, Chances):
        return made if len(token) > GROUPS else TOKENS
    if isinstance(made, torch.Tensor) and (
        made.shape == 2 * token[:GROUPS].shape
        or (made.shape == token[:GROUPS, None].shape and made.dtype == torch.int64)
    ):
        return made.as_subclass(Crossed)
    made = for_all(call, p, q, token, u) if len(token) > GROUPS else made
    good = isinstance(made, torch.Tensor) and made.shape == token.shape and made.dtype == torch.int64
    if not good or bool(((made < 0) | (made > p.shape[1])).any()):
        return made
    if len(token) < GROUPS:
        return TOKENS
    table = distributions.frequencies(made, GROUPS, max(p.shape[1], int(made.max()) + 1))
    kind = together(call, p, q, token)
    return table.as_subclass(kind) if kind else table


class Crossed(torch.Tensor):
    """A result with a number for every pair of rows of the batch, or a column of ids: what counts is its shape."""


class Largest(Watching):
    """The size of the largest tensor that is made."""

    numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        self.numbers = max(self.numbers, result.numel() if isinstance(result, torch.Tensor) else 0)
        return result


def for_all(call, *inputs, some=60, part=600):
    """All rows in one call; in parts if it makes a table of rows × rows, which would be too large for all of them."""
    with Largest() as largest, torch.random.fork_rng(devices=[]):
        call(*(one[:some].clone() for one in inputs))
    if largest.numbers < some**2:
        return call(*inputs)
    made = [call(*rows) for rows in zip(*(one.split(part) for one in inputs), strict=True)]
    return torch.cat(made) if all(isinstance(one, torch.Tensor) and one.ndim == 1 for one in made) else made[0]


class AsOne(torch.Tensor):
    """Frequencies of an answer that keeps all tokens of a batch or none."""


class InOrder(torch.Tensor):
    """Frequencies of an answer that keeps no token after the first that it rejects."""


class FirstOnly(torch.Tensor):
    """Frequencies of an answer that draws again for the first row only that it rejects."""


def together(call, p, q, token):
    """Is a row rightly accepted and rejected when it comes alone, but not when both come in one batch?

    The row's p is less than its q, so that a rejected token is never drawn again.
    """
    ratio = (of_token(p, token) / of_token(q, token))[:GROUPS, 0]
    places = ((ratio > 0.05) & (ratio < 0.95)).nonzero().flatten().tolist()
    if not places:
        return None
    row = [one[places[:1]] for one in (p, q, token)]
    low, high = torch.tensor([1e-4], dtype=p.dtype), torch.tensor([1 - 1e-4], dtype=p.dtype)

    def kept(*u):
        made = call(*(torch.cat([one] * len(u)) for one in row), torch.cat(u))
        return (torch.as_tensor(made) == row[2]).tolist()

    try:
        if all(kept(low) == [True] and kept(high) == [False] for _ in range(6)):
            pairs = [(kept(low, high), kept(high, low)) for _ in range(6)]
            if all(one in ([True] * 2, [False] * 2) for one, _ in pairs):
                return AsOne
            if all(pair == ([True, False], [False, False]) for pair in pairs):
                return InOrder
            if all(kept(high, high) == [False, True] for _ in range(6)):
                return FirstOnly
    except Exception:  # the answer's own, on batches as small as these
        pass
    return None


KINDS = AsOne, InOrder, FirstOnly, Crossed


def same_results(one, other):
    tables = [
        isinstance(value, Chances)
        or (
            isinstance(value, torch.Tensor)
            and value.ndim == 2
            and value.shape[0] == GROUPS
            and value.is_floating_point()
        )
        for value in (one, other)
    ]
    if any(isinstance(one, kind) != isinstance(other, kind) for kind in KINDS):
        return False
    if isinstance(one, Crossed):
        return one.shape == other.shape
    return same_distribution(one, other, DRAWS) if all(tables) else alike(one, other, 0)


def decided_by_u(call, p, q, token, u):
    """The distribution is right; is a token accepted exactly where u < p / q, also where u is close to it?"""
    if len(token) < GROUPS or bool((p == q).all()):
        return None
    ratio = (of_token(p, token) / of_token(q, token))[:200, 0]
    u = torch.cat([u[:200], 0.999 * ratio, 1.001 * ratio]).clamp(1e-4, 1 - 1e-4)
    p, q, token, ratio = (torch.cat(3 * [one[:200]]) for one in (p, q, token, ratio))
    made = call(*(one.clone() for one in (p, q, token, u)))
    if isinstance(made, Chances):
        return None
    kept = torch.as_tensor(made) == token
    more, fewer = (bool((one & ~other).any()) for one, other in ((kept, u < ratio), (u < ratio, kept)))
    if not more:
        return ("too few drafts come back", FEWER, LOOK_U) if fewer else None
    if not fewer:
        return "too many drafts come back", MORE, LOOK_U
    low, high = (
        float((torch.as_tensor(call(p, q, token, torch.full_like(u, one))) == token).double().mean())
        for one in (1e-4, 1 - 1e-4)
    )  # how many are kept
    return ("another comparison", OTHER, LOOK_U) if abs(low - high) > 0.2 else ("u does not decide", U, LOOK_U)


def never_forbidden(call, p, q, token, u):
    """The distribution is right; is a token whose p is 0 rejected even where u is 0?"""
    rows = (of_token(p, token)[:, 0] == 0).nonzero().flatten()[:2]
    if not len(rows):
        return None
    made = call(p[rows], q[rows], token[rows], torch.zeros_like(u[rows]))
    return (
        ("accepted where u equals the ratio", EQUAL, LOOK_EQUAL)
        if not isinstance(made, Chances) and bool((torch.as_tensor(made) == token[rows]).any())
        else None
    )


def draws_what_the_draft_never_gives(call, p, q, token, u, rows=60):
    """The distribution is right; is a token drawn whose q is 0? All rows reject token 0; token 1 takes 2/3 of them."""
    if len(token) < GROUPS:
        return None
    mine, theirs = (
        torch.tensor([one], dtype=p.dtype).repeat(rows, 1) for one in ([0.2, 0.4, 0.3, 0.1], [0.8, 0.0, 0.1, 0.1])
    )
    rejecting = torch.linspace(0.3, 0.95, rows, dtype=p.dtype)  # above p / q, and not all alike: it may serve twice
    made = call(mine, theirs, torch.zeros(rows, dtype=torch.int64), rejecting)
    if isinstance(made, Chances) or bool((torch.as_tensor(made) == 1).any()):
        return None
    return "tokens whose q is 0 are left out", LEFT_OUT, LOOK_LEFT_OUT


LEFT_OUT = "After a rejection, a token whose q is 0 is never drawn, although its p is above 0."


LOOK_LEFT_OUT = "what is max(p - q, 0) for a token whose q is 0, and what becomes of it in your code?"


EQUAL = (
    "A token whose p is 0 comes back when u is 0: it is accepted when u equals p / q, but it should be accepted "
    "only when u is less than that."
)


LOOK_EQUAL = "`<` or `<=`? With u = 0 and p = 0, what does your comparison give?"


U = (
    "About as many drafted tokens come back when u is close to 0 as when it is close to 1, so u does not decide as it "
    "should. A token must be accepted exactly when u is less than its p / q."
)


OTHER = (
    "Some drafted tokens come back although their u is not less than p / q, and others do not, although it is "
    "less. It is u itself, and u alone, that must be compared with exactly p / q."
)


MORE = (
    "Some drafted tokens come back although their u is not less than p / q: slightly too many are "
    "accepted, or a rejected one is drawn again."
)


FEWER = "Some drafted tokens do not come back although their u is less than p / q: slightly too few are accepted."


def what_the_draws_show(observed, expected, p, q, token, u):
    """Which token is drawn where it never should be."""
    if not isinstance(observed, torch.Tensor) or observed.shape != expected.shape:
        return None
    observed, expected = plain(observed), plain(expected)
    impossible = ((observed > 0) & (expected == 0)).nonzero().tolist()
    if not impossible:
        return (
            "Some tokens are drawn too often and others too rarely, by more than chance can explain if each row "
            "has its own draw."
        )
    row, drawn = impossible[0]
    drafted = int(token[row])
    if drawn == drafted:
        return f"Token {drawn} is drawn, although its p is 0."
    if p[row, drafted] >= q[row, drafted]:
        return f"Token {drawn} is drawn instead of token {drafted}, which must be kept: its p is not less than its q."
    return f"Token {drawn} is drawn in place of token {drafted}, although its own p is not larger than its q."


def signs_of_the_parts(observed, expected, p, q, token, u):
    """The acceptance, the second draw, or one draw that all rows share; the numbers of the other part are right."""
    if not isinstance(observed, torch.Tensor) or observed.shape != expected.shape or isinstance(observed, KINDS):
        return []
    p, q, token = p[:GROUPS], q[:GROUPS], token[:GROUPS]
    ratio = (of_token(p, token) / of_token(q, token)).clamp(max=1)
    drafted, equal = torch.zeros_like(p).scatter(1, token[:, None], 1.0), (p == q).all(-1, keepdim=True)
    again = of_token(plain(observed), token)  # how often the drafted token comes back

    def agrees(accepted, drawn):
        mixed = (accepted * drafted + (1 - accepted) * drawn).as_subclass(Chances)
        return bool(same_distribution(observed, mixed, DRAWS))

    if any(agrees(ratio, one) for one in torch.eye(p.shape[1], dtype=p.dtype)):
        return ["one draw for all rows"]
    drawn = shares(torch.where(equal, plain(observed), (p - q).clamp(min=0)))
    missed = 1 - of_token(drawn, token)
    accepted = torch.where(equal | (missed == 0), 0.0, 1 - (1 - again) / missed)
    if agrees(accepted.clamp(min=0), drawn):
        return ["accepted too often or too seldom"]
    others = shares(plain(observed) * (1 - drafted))
    single = torch.zeros_like(p).scatter(1, others.argmax(dim=1, keepdim=True), 1.0)
    if agrees(ratio, torch.where(equal, others, single)):
        return ["one draw for all rows"]
    return ["the second draw not by max(p - q, 0)"] * agrees(ratio, others)


LOOK_U = "where does `u` appear in your code, and what is it compared with?"


def of_token(table, token):
    return table.gather(1, token[:, None])  # (batch, 1)


def shares(weights):
    """The same weights, each row with the sum 1; a row of zeros, from which nobody should draw, gets equal ones."""
    weights = torch.where(weights.sum(dim=-1, keepdim=True) > 0, weights, torch.ones_like(weights))
    return weights / weights.sum(dim=-1, keepdim=True)


setup = Setup(
    sizes=[{"first": 0, "few": 3}, {"first": 0}, {"first": 2}, {"first": 4}, {"first": 0, "few": 1}],
    draw=draw,
    returns="tokens",
    shapes={"tokens": "(batch,)"},
    observe=judged,
    same=same_results,
    checks=[decided_by_u, never_forbidden, draws_what_the_draft_never_gives],
    symptoms=[what_the_draws_show],
    signs=signs_of_the_parts,
    names_steps=False,
)
