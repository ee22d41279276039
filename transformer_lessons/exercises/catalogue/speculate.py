"""How the inputs of `speculate` are drawn, and what its draws show of the acceptance and of the second draw.

In a large batch six groups of rows take turns, and a table says how often each token comes in each. Rows that decide
for each other can give the very table of rows that do not: only batches of one and two show it. Such a table has a
kind (KINDS), and agrees with tables of its own kind alone.
"""

from contextlib import suppress
from typing import Any

import torch
import torch.nn.functional as F

from transformer_lessons.exercises.checker import distributions
from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.distributions import Chances, plain, same_distribution
from transformer_lessons.exercises.checker.drawn_tokens import Drawn, exact_on_pages, is_on_a_page, is_table
from transformer_lessons.exercises.checker.setup import Setup
from transformer_lessons.running.watching import Largest

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
    p, q, token = map(torch.tensor, zip(*groups, strict=True))
    u = torch.rand(GROUPS * DRAWS, generator=generator, dtype=torch.float64)
    if few:
        return p.double()[:few], q.double()[:few], token[:few], u[:few]
    return p.double().repeat(DRAWS, 1), q.double().repeat(DRAWS, 1), token.repeat(DRAWS), u.clamp(1e-4, 1 - 1e-4)


# What an answer draws

KINDS: dict[str, Any] = {  # tables of an answer whose rows depend on each other: each agrees only with its own kind
    how: type(how, (torch.Tensor,), {})
    for how in ("all rows by all rows", "all rows or none", "none after the first rejected", "only the first redrawn")
}


def judged(call, p, q, token, u):
    """How often each token is drawn in each group; what does not consist of tokens stays as it is.

    A few rows show no frequencies: all that counts there is that tokens come back, in the right form.
    """
    with exact_on_pages(call):
        first = call(*(rows[:GROUPS].clone() for rows in (p, q, token, u)))
        if isinstance(first, Drawn) and len(token) > GROUPS:
            steps = ((torch.arange(DRAWS, dtype=u.dtype) + 0.5) / DRAWS).repeat_interleave(GROUPS)
            chances = plain(call(p.clone(), q.clone(), token.clone(), steps).chances)
            exact = chances.unflatten(0, (-1, GROUPS)).mean(dim=0).as_subclass(Chances)
            alone = (of_token(chances, token) == 1).equal(steps[:, None] < of_token(p, token) / of_token(q, token))
            return exact if alone else of_its_kind(exact, call, p, q, token)  # no row is decided by another: no kind
    made, some = call(*(rows[:GROUPS].clone() for rows in (p, q, token, u))), token[:GROUPS]
    if isinstance(made, torch.Tensor) and (
        made.shape == 2 * some.shape or (made.shape == some[:, None].shape and made.dtype == torch.int64)
    ):
        return made.as_subclass(KINDS["all rows by all rows"])
    made = for_all(call, p, q, token, u) if len(token) > GROUPS else made
    good = isinstance(made, torch.Tensor) and made.shape == token.shape and made.dtype == torch.int64
    if not good or bool(((made < 0) | (made > p.shape[1])).any()):
        return made
    if len(token) < GROUPS:
        return TOKENS
    table = distributions.frequencies(made, GROUPS, max(p.shape[1], int(made.max()) + 1))
    return of_its_kind(table, call, p, q, token)


def for_all(call, *inputs, some=60, part=600):
    """All rows in one call; in parts if it makes a table of rows × rows, which would be too large for all of them."""
    with Largest() as largest, torch.random.fork_rng(devices=[]):
        call(*(rows[:some].clone() for rows in inputs))
    if max(largest.numbers, largest.mask) < some**2:
        return call(*inputs)
    made = [call(*rows) for rows in zip(*(whole.split(part) for whole in inputs), strict=True)]
    return torch.cat(made) if all(isinstance(ids, torch.Tensor) and ids.ndim == 1 for ids in made) else made[0]


def of_its_kind(table, call, p, q, token):
    """The table; of a kind of its own if a row is rightly accepted and rejected alone, but not in a batch of two.

    The row's p is less than its q, so that a rejected token is never drawn again.
    """
    ratio = (of_token(p, token) / of_token(q, token))[:GROUPS, 0]
    places = ((ratio > 0.05) & (ratio < 0.95)).nonzero().flatten().tolist()

    def kept(*u):
        rows = [torch.stack(len(u) * [every[places[0]]]) for every in (p, q, token)]
        return (torch.as_tensor(call(*rows, torch.tensor(u, dtype=p.dtype))) == rows[2]).tolist()

    low, high, tries = 1e-4, 1 - 1e-4, 2 if is_on_a_page(call) else 6  # chance may have its part in any other
    kind = None
    with suppress(Exception):  # the answer's own, on batches as small as these; and there may be no such row
        if all((kept(low), kept(high)) == ([True], [False]) for _ in range(tries)):
            pairs = [(kept(low, high), kept(high, low)) for _ in range(tries)]
            if all(first in ([True] * 2, [False] * 2) for first, _ in pairs):
                kind = "all rows or none"
            elif all(pair == ([True, False], [False, False]) for pair in pairs):
                kind = "none after the first rejected"
            elif all(kept(high, high) == [False, True] for _ in range(tries)):
                kind = "only the first redrawn"
    return table.as_subclass(KINDS[kind]) if kind else table


def same_results(one, other):
    if any(isinstance(one, kind) != isinstance(other, kind) for kind in KINDS.values()):
        return False
    if isinstance(one, KINDS["all rows by all rows"]):
        return one.shape == other.shape
    tables = is_table(one, GROUPS) and is_table(other, GROUPS)
    return same_distribution(one, other, DRAWS) if tables else alike(one, other, 0)


# Where the distribution is right


def decided_by_u(call, p, q, token, u):
    """Is a token accepted exactly where u < p / q, also where u is close to it?"""
    if len(token) < GROUPS or bool((p == q).all()):
        return None
    ratio = (of_token(p, token) / of_token(q, token))[:200, 0]
    u = torch.cat([u[:200], 0.999 * ratio, 1.001 * ratio]).clamp(1e-4, 1 - 1e-4)
    p, q, token, ratio = (torch.cat(3 * [rows[:200]]) for rows in (p, q, token, ratio))

    def kept(u):
        return torch.as_tensor(call(p.clone(), q.clone(), token.clone(), u)) == token

    now = kept(u.clone())
    more, fewer = bool((now & (u >= ratio)).any()), bool((~now & (u < ratio)).any())
    if not more or not fewer:
        return "too many drafts come back" if more else "too few drafts come back" if fewer else None
    low, high = (kept(torch.full_like(u, same)).double().mean() for same in (1e-4, 1 - 1e-4))
    return "another comparison" if abs(low - high) > 0.2 else "u does not decide"


def never_forbidden(call, p, q, token, u):
    """Is a token whose p is 0 rejected even where u is 0?"""
    rows = (of_token(p, token)[:, 0] == 0).nonzero().flatten()[:2]
    drafts = token[rows]
    accepted = len(rows) and torch.as_tensor(call(p[rows], q[rows], token[rows], torch.zeros_like(u[rows]))) == drafts
    return "accepted where u equals the ratio" if torch.as_tensor(accepted).any() else None


def draws_what_the_draft_never_gives(call, p, q, token, u, rows=60):
    """Is a token drawn whose q is 0? All rows reject token 0; token 1 takes 2/3 of them."""
    if len(token) < GROUPS:
        return None
    tables = ([0.2, 0.4, 0.3, 0.1], [0.8, 0.0, 0.1, 0.1])
    mine, theirs = (torch.tensor([table], dtype=p.dtype).repeat(rows, 1) for table in tables)
    rejecting = torch.linspace(0.3, 0.95, rows, dtype=p.dtype)  # above p / q, and not all alike: it may serve twice
    made = call(mine, theirs, torch.zeros(rows, dtype=torch.int64), rejecting)
    return None if bool((torch.as_tensor(made) == 1).any()) else LEFT_OUT


LEFT_OUT = (
    "tokens whose q is 0 are left out",
    "After a rejection, a token whose q is 0 is never drawn, although its p is above 0.",
    "what is max(p - q, 0) for a token whose q is 0, and what becomes of it in your code?",
)


def draws_what_has_no_residual(call, p, q, token, u, rows=60):
    """Where p and q differ only a little: are tokens drawn whose residual is 0? The only other one is token 0's."""
    if len(token) < GROUPS:
        return None
    little = 2e-6
    tables = ([0.5, 0.3, 0.2, 0.0], [0.5 - little, 0.3, 0.2, little])
    mine, theirs = (torch.tensor([table], dtype=p.dtype).repeat(rows, 1) for table in tables)
    made = call(mine, theirs, torch.full((rows,), 3), torch.linspace(0.05, 0.95, rows, dtype=p.dtype))
    return "a small residual lost" if int((torch.as_tensor(made) != 0).sum()) > rows / 4 else None


# Where it is not


def what_the_draws_show(observed, expected, p, q, token, u):
    """Which token is drawn where it never should be."""
    for row, drawn in ((plain(observed) > 0) & (plain(expected) == 0)).nonzero().tolist():
        drafted = int(token[row])
        if drawn == drafted:
            return f"Token {drawn} is drawn, although its p is 0."
        if p[row, drafted] < q[row, drafted]:
            return f"Token {drawn} is drawn in place of token {drafted}, although its own p is not larger than its q."
        return f"Token {drawn} is drawn instead of token {drafted}, which must be kept: its p is not less than its q."
    return (
        "Some tokens are drawn too often and others too rarely, by more than chance can explain if each row has its "
        "own draw."
    )


def signs_of_the_parts(observed, expected, p, q, token, u):
    """The acceptance, the second draw, or one draw that all rows share; the numbers of the other part are right."""
    if isinstance(observed, tuple(KINDS.values())) or observed.shape != expected.shape:
        return []
    p, q, token, table = p[:GROUPS], q[:GROUPS], token[:GROUPS], plain(observed)
    ratio = (of_token(p, token) / of_token(q, token)).clamp(max=1)
    drafted, equal = F.one_hot(token, p.shape[1]), (p == q).all(-1, keepdim=True)

    def agrees(accepted, drawn):
        mixed = (accepted * drafted + (1 - accepted) * drawn).as_subclass(Chances)
        return bool(same_distribution(observed, mixed, DRAWS))

    drawn = shares(torch.where(equal, table, (p - q).clamp(min=0)))
    missed = 1 - of_token(drawn, token)
    accepted = torch.where(equal | (missed == 0), 0.0, 1 - (1 - of_token(table, token)) / missed).clamp(min=0)
    others = shares(table * (1 - drafted))
    single = torch.where(equal, others, F.one_hot(others.argmax(dim=1), p.shape[1]))
    raised = (shares((p - q).clamp(min=0) + number) for number in (0.005, 0.01, 0.02))
    signs = (
        ("a chance for every token", any(agrees(ratio, rows) for rows in raised)),
        ("one draw for all rows", any(agrees(ratio, token) for token in torch.eye(p.shape[1], dtype=p.dtype))),
        ("accepted too often or too seldom", agrees(accepted, drawn)),
        ("one draw for all rows", agrees(ratio, single)),
        ("the second draw not by max(p - q, 0)", agrees(ratio, others)),
    )
    return [name for name, shown in signs if shown][:1]


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
    checks=[decided_by_u, never_forbidden, draws_what_the_draft_never_gives, draws_what_has_no_residual],
    symptoms=[what_the_draws_show],
    signs=signs_of_the_parts,
    names_steps=False,
)
