"""speculate, of lesson 12: a token drawn from a cheap model becomes one drawn from the expensive model."""

import torch

from transformer_lessons.exercises.checker import distributions
from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.distributions import Chances, chances, plain, same_distribution
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, Watching
from transformer_lessons.language import sampling

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


def judged(call, p, q, token, u):
    """How often each token is drawn in each group; what does not consist of tokens stays as it is.

    Mistakes give their exact chances. A few rows show no frequencies: all that counts there is that tokens come
    back, in the right form.
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

exercise = Exercise(
    name="speculate",
    lesson=12,
    title="Accept, or draw again",
    difficulty=2,
    importance=2,
    minutes=12,
    contract="""
        speculate(p, q, token, u) returns token ids, a LongTensor (batch,). p and q are probabilities, (batch,
        vocabulary). p comes from the expensive model and q from the cheap one. token (batch,) was drawn from q, so its
        probability under q is not 0, and u (batch,) is uniform between 0 and 1. In each row, accept the token if
        u < p / q for this token. Otherwise, draw another token, with probabilities proportional to max(p - q, 0).
        Any source of randomness will do for this draw. In some rows p and q may be equal. The inputs
        stay as they are.
        """,
    stub='''
        def speculate(p, q, token, u):
            """Tokens drawn from q become tokens drawn from p: (batch, vocabulary) → (batch,)."""
            raise NotImplementedError
        ''',
    sizes=[{"first": 0, "few": 3}, {"first": 0}, {"first": 2}, {"first": 4}, {"first": 0, "few": 1}],
    draw=draw,
    reference=lambda *inputs: Speculate()(*inputs),
    returns="tokens",
    shapes={"tokens": "(batch,)"},
    observe=judged,
    same=same_results,
    checks=[decided_by_u, never_forbidden],
    symptoms=[what_the_draws_show],
    signs=signs_of_the_parts,
    names_steps=False,
    hints=[
        (
            "which tokens are accepted",
            "p.gather(1, token[:, None]) picks the probability of each row's token. "
            "If a token's p is twice its q, is it ever rejected? How often is it rejected if its p is half its q?",
        ),
        (
            "what to draw instead",
            "A token is drafted and accepted with probability min(p, q). How much has to be "
            "added to this, token by token, to reach p? Use these amounts, scaled to sum to 1, as the "
            "probabilities of your draw.",
        ),
        (
            "the draw",
            "torch.multinomial takes rows of "
            "weights. They need not sum to 1, but they must not all be 0. In rows where p equals q, no "
            "token is rejected, so any weights will do. Use torch.where to choose between the draft and the new "
            "token, row by row.",
        ),
    ],
    solution="""
        import torch


        def speculate(p, q, token, u):
            ratio = (p.gather(1, token[:, None]) / q.gather(1, token[:, None]))[:, 0]
            residual = (p - q).clamp(min=0)
            residual[residual.sum(dim=1) == 0] = 1.0
            return torch.where(u < ratio, token, torch.multinomial(residual, 1)[:, 0])
        """,
)


def of_token(table, token):
    return table.gather(1, token[:, None])  # (batch, 1)


def shares(weights):
    """The same weights, each row with the sum 1; a row of zeros, from which nobody should draw, gets equal ones."""
    weights = torch.where(weights.sum(dim=-1, keepdim=True) > 0, weights, torch.ones_like(weights))
    return weights / weights.sum(dim=-1, keepdim=True)


@exercise.right("step by step")
class Speculate(Steps):
    """Where an answer draws, this gives the exact chances: so mistakes are compared without any noise."""

    def __call__(self, p, q, token, u):
        accepted = self.accepted(p, q, token).clamp(0, 1)
        drawn = self.drawn(self.residual(p, q, token), accepted)
        return self.together(torch.zeros_like(p).scatter(1, token[:, None], 1.0), accepted, drawn)

    def accepted(self, p, q, token):
        return of_token(p, token) / of_token(q, token)

    def residual(self, p, q, token):
        return (p - q).clamp(min=0)

    def drawn(self, residual, accepted):
        return (1 - accepted) * shares(residual)

    def together(self, kept, accepted, drawn):
        return chances(accepted * kept + drawn)


def or_from_p(*accepted):
    """Each with a draw from p where nothing is missing, as in rows with equal p and q: only mistakes draw there."""
    return [
        {"accepted": one, "residual": lambda right, p: torch.where(right.sum(-1, keepdim=True) > 0, right, p)}
        for one in accepted
    ]


# Which tokens are accepted
mistake = exercise.section(hint=1)
TWICE = "how often should a token be accepted if its p is twice its q? And if its p is half its q?"
mistake(
    "always accepted",
    why="Every drafted token is accepted, so the result has the distribution of the draft, q.",
    look=TWICE,
    accepted=lambda q: torch.ones_like(q[:, :1]),
)
mistake(
    "never accepted",
    why="No drafted token is accepted: all of them are replaced by a second draw.",
    look=TWICE,
    pairs=0,
    accepted=lambda q: torch.zeros_like(q[:, :1]),
    variants=or_from_p(lambda q: torch.zeros_like(q[:, :1])),
)
mistake(
    "the ratio upside down",
    why="A token is accepted with probability q / p, not p / q, so those that the draft overrates are always kept.",
    look=TWICE,
    accepted=lambda p, q, token: of_token(q, token) / of_token(p, token),
)
mistake(
    "accepted where u is larger",
    why="A token is accepted with probability 1 - p / q, and never where p is "
    "larger than q, as when u must be larger than p / q, or the two results of `where` are swapped.",
    look="u is almost always less than 0.99. If p / q is 0.99, should the token be kept?",
    accepted=lambda right: 1 - right.clamp(max=1),
    variants=[
        *or_from_p(lambda right: 1 - right.clamp(max=1)),
        {
            "drawn": lambda residual: shares(residual),
            "together": lambda kept, accepted, drawn: chances((1 - accepted) * kept + accepted * drawn),
        },
    ],
)
mistake(
    "accepted with p, not p / q",
    why="A token is accepted with probability p, as if it had not been drawn from q.",
    look=TWICE,
    accepted=lambda p, token: of_token(p, token),
    variants=or_from_p(lambda p, token: of_token(p, token)),
)
mistake(
    "accepted with p where p is less than q",
    why="A token whose p is less than its q is accepted with probability p, as if it had not been drawn from q.",
    look=TWICE,
    pairs=0,
    accepted=lambda p, q, token: torch.where(of_token(p, token) < of_token(q, token), of_token(p, token), 1.0),
)
mistake(
    "accepted with q",
    why="A token is accepted with probability q, which is that of the draft.",
    look=TWICE,
    accepted=lambda q, token: of_token(q, token),
    variants=or_from_p(lambda q, token: of_token(q, token)),
)
mistake(
    "accepted with min(p, q)",
    why="A token is accepted with probability min(p, q). That is how often it should "
    "be drafted and accepted in all, but at this point it has already been drafted.",
    look=TWICE,
    accepted=lambda p, q, token: torch.minimum(of_token(p, token), of_token(q, token)),
    variants=or_from_p(lambda p, q, token: torch.minimum(of_token(p, token), of_token(q, token))),
)
mistake(
    "accepted with p / (p + q)",
    why="A token is accepted with probability p / (p + q), so where p and q are "
    "equal, half of the tokens are thrown away.",
    look="how often should a token be accepted if p and q are equal?",
    accepted=lambda p, q, token: of_token(p, token) / (of_token(p, token) + of_token(q, token)),
    variants=or_from_p(lambda p, q, token: of_token(p, token) / (of_token(p, token) + of_token(q, token))),
)
mistake(
    "accepted with a difference",
    why="Acceptance depends on the difference between p and q, not on their ratio.",
    look=TWICE,
    pairs=2,
    accepted=[
        lambda p, q, token: of_token(p, token) - of_token(q, token),
        lambda p, q, token: 1 - (of_token(q, token) - of_token(p, token)),
        lambda p, q, token: (of_token(p, token) - of_token(q, token)).abs(),
    ],
    variants=or_from_p(
        lambda p, q, token: of_token(p, token) - of_token(q, token),
        lambda p, q, token: (of_token(p, token) - of_token(q, token)).abs(),
    ),
)
mistake(
    "accepted only where p is larger",
    why="A token is kept where p is at least q, and otherwise always rejected: chance plays no part.",
    look="if p is a little less than q, should the token always be rejected?",
    accepted=lambda p, q, token: (of_token(p, token) >= of_token(q, token)).double(),
)
mistake(
    "kept only where it is the likeliest",
    pairs=0,
    why="A drafted token is kept only where p makes it the "
    "likeliest of all, as in greedy decoding. Chance plays no part in that.",
    look=TWICE,
    variants=[
        {"accepted": lambda p, token: greedy(p, token), **more}
        for more in (
            {},
            {"residual": lambda p: best(p)},
            {"residual": lambda p: p},
            {"residual": lambda right: best(right)},
        )
    ]
    + or_from_p(lambda p, token: greedy(p, token)),
)


def greedy(p, token):
    return (p.argmax(-1, keepdim=True) == token[:, None]).double()


mistake(
    "accepted above a threshold",
    pairs=0,
    why="A token is accepted wherever its p is above a threshold: neither u nor q plays a part.",
    look=TWICE,
    variants=[
        *or_from_p(
            *(
                lambda p, token, bound=bound: (of_token(p, token) > bound(p)).double()
                for bound in (
                    lambda p: (0.3 * (p * (p + 1e-20).log()).sum(-1, keepdim=True).exp()).clamp(max=0.09),
                    lambda p: 0.1,
                    lambda p: 0.3,
                )
            )
        )
    ],
)
mistake(
    "the ratio squared, or its root",
    why="The square or the root of the ratio is used, not the ratio itself.",
    look=TWICE,
    accepted=[lambda right: right**2, lambda right: right.sqrt()],
    pairs=0,
)
mistake(
    "the ratio of the likeliest",
    why="The ratio uses the likeliest token's probability in its numerator, its "
    "denominator or both. It should use the drafted token's in both.",
    look="which token's probability does your ratio take from each row?",
    pairs=0,
    accepted=lambda p, q: of_token(p, q.argmax(-1)) / of_token(q, q.argmax(-1)),
    variants=or_from_p(
        lambda p, q: p.amax(-1, keepdim=True) / q.amax(-1, keepdim=True),
        lambda p, q, token: of_token(p, token) / q.amax(-1, keepdim=True),
        lambda p, q, token: p.amax(-1, keepdim=True) / of_token(q, token),
    ),
)
mistake(
    "p and q taken for logits",
    why="A softmax or an exponential is applied to p and q, as if they were logits or "
    "logarithms; they are probabilities already.",
    look="what does each row of p sum to?",
    pairs=0,
    accepted=[
        lambda p, q, token: of_token(p.softmax(-1), token) / of_token(q.softmax(-1), token),
        lambda p, q, token: (of_token(p, token) - of_token(q, token)).exp(),
    ],
    variants=[
        {
            "accepted": lambda p, q, token: of_token(p.softmax(-1), token) / of_token(q.softmax(-1), token),
            "residual": lambda p, q: (p.softmax(-1) - q.softmax(-1)).clamp(min=0),
        },
        {
            "accepted": lambda p, q, token: (of_token(p, token) - of_token(q, token)).exp(),
            "residual": lambda p, q: (p.exp() - q.exp()).clamp(min=0),
        },
    ],
)
mistake(
    "accepted too often or too seldom",
    why="What is drawn in place of a rejected token is right, but drafted tokens come back too often or too seldom.",
    look=TWICE,
    pairs=0,
    accepted=lambda right: right.clamp(max=1) / 2,
    variants=or_from_p(lambda right: right.clamp(max=1) / 2),
)
mistake(
    "the first row for all",
    why="The probabilities of one row, the first of the batch or the first that is "
    "rejected, are used for every row: in the ratio, in the second draw, or in both.",
    look="is there an index such as [0] that picks one row for all of them?",
    pairs=0,
    accepted=[lambda p, q, token: (p[0] / q[0])[token][:, None]],
    variants=[
        *or_from_p(lambda p, q, token: (p[0] / q[0])[token][:, None]),
        {"residual": lambda p, q: (p[:1] - q[:1]).clamp(min=0).expand_as(p)},
        {
            "residual": lambda p, q: (p[:1] - q[:1]).clamp(min=0).expand_as(p),
            "accepted": lambda p, q, token: (p[0] / q[0])[token][:, None],
        },
    ],
)

mistake(
    "one u for all rows",
    why="A single number decides for every row, such as the u of one of them; each row has a u of its own.",
    look="which u does each row use? Is there an index such as [0] that picks one for all of them?",
    pairs=0,
    variants=[
        lambda p, q, token, u, row=row: torch.where(
            u[row] < (of_token(p, token) / of_token(q, token))[:, 0], token, drawn_anew(p, q)
        )
        for row in (0, -1)
    ],
)
mistake(
    "every row meets every row",
    why="The result has a number for every pair of rows of the batch, (batch, batch). "
    "`p[:, token]` takes the tokens of all rows from each row, and (batch, 1) beside (batch,) is broadcast to such "
    "a table, too.",
    look="the shape of each thing that you compare or divide, for a batch of three rows.",
    pairs=0,
    variants=[lambda p, q, token, u: torch.where(u < p[:, token] / q[:, token], token, drawn_anew(p, q))],
)
mistake(
    "one decision for the whole batch",
    why="There is one decision for the whole batch: all of its tokens are "
    "kept, or all are drawn again. But each row has a u and a ratio of its own.",
    look="`all`, `any` or `if`: how many decisions does a batch of three rows need?",
    pairs=0,
    variants=[
        lambda *inputs, decided=decided, spare=spare: as_one(*inputs, decided, spare)
        for decided in (torch.all, torch.any)
        for spare in (lambda p: p, torch.ones_like)
    ],
)


def as_one(p, q, token, u, decided, spare):
    residual = Speculate().residual(p, q, token)
    residual = torch.where(residual.sum(dim=-1, keepdim=True) > 0, residual, spare(p))
    keep = decided(u < (of_token(p, token) / of_token(q, token))[:, 0])
    return token if keep else torch.multinomial(residual, 1)[:, 0]


mistake(
    "nothing kept after a rejection",
    why="Once a row is rejected, all the rows after it are drawn again, too, as "
    "if the batch were one text. But its rows are separate: each has a u and a ratio of its own.",
    look="every cumprod, cummin, break and slice: what does one row have to do with the next?",
    pairs=0,
    variants=[
        lambda *inputs: in_order(*inputs, spare=lambda p: p),
        lambda *inputs: in_order(*inputs, spare=torch.ones_like),
        lambda *inputs: in_order(*inputs, spare=torch.zeros_like),
    ],
)


def in_order(p, q, token, u, spare):
    residual = Speculate().residual(p, q, token)
    residual = torch.where(residual.sum(dim=-1, keepdim=True) > 0, residual, spare(p))
    keep = (u < (of_token(p, token) / of_token(q, token))[:, 0]).cummin(dim=0).values
    return torch.where(keep, token, torch.multinomial(residual, 1)[:, 0])


mistake(
    "only the first rejected row drawn again",
    why="After the first row that is rejected, all the others keep their drafts, whatever their u.",
    look="every break, return and index [0]: what does one row have to do with the next?",
    pairs=0,
    variants=[lambda *inputs: first_drawn_again(*inputs)],
)


def first_drawn_again(p, q, token, u):
    first = (u >= (of_token(p, token) / of_token(q, token))[:, 0]).nonzero()[:1, 0]
    return token.index_copy(0, first, drawn_anew(p, q)[first])


mistake(
    "all rows treated as the equal ones",
    why="As soon as one row has p equal to q, no row gets its own second "
    "draw: either all drafts are kept, or what is rejected is drawn from p or with equal chances.",
    look="`any` or `all`: which rows have no residual?",
    pairs=0,
    variants=[
        {"accepted": lambda right, p, q: torch.ones_like(right) if one_is_equal(p, q) else right},
        {"residual": lambda right, p, q: p if one_is_equal(p, q) else right},
        {"residual": lambda right, p, q: torch.ones_like(p) if one_is_equal(p, q) else right},
    ],
)


def one_is_equal(p, q):
    return bool((p == q).all(-1).any())


mistake(
    "another row's draw",
    why="A rejected row can get the token that was drawn for another row, as when the "
    "draws of all rows are cut to the number of rejections.",
    look="for which rows do you draw, which rows do you fill, and do they correspond?",
    pairs=0,
    variants=[
        lambda *inputs: misplaced(*inputs, spare=lambda p: p),
        lambda *inputs: misplaced(*inputs, spare=torch.ones_like),
    ],
)


def misplaced(p, q, token, u, spare):
    residual, rejected = Speculate().residual(p, q, token), u >= (of_token(p, token) / of_token(q, token))[:, 0]
    residual = torch.where(residual.sum(dim=-1, keepdim=True) > 0, residual, spare(p))
    return token.masked_scatter(rejected, torch.multinomial(residual, 1)[: int(rejected.sum()), 0])


mistake(
    "the order of the batch lost",
    hint=3,
    pairs=0,
    why="The tokens that are kept and those that are drawn again "
    "come back one group after the other, so rows get the tokens of other rows.",
    look="in a batch of three, the second row alone is rejected. Where does its new token stand in your result?",
    variants=[lambda *inputs: kept_and_drawn(*inputs), lambda *inputs: kept_and_drawn(*inputs, turned=True)],
)


def kept_and_drawn(p, q, token, u, turned=False):
    keep = u < (of_token(p, token) / of_token(q, token))[:, 0]
    parts = [token[keep], drawn_anew(p, q)[~keep]]
    return torch.cat(parts[::-1] if turned else parts)


# What is drawn instead
mistake = exercise.section(hint=2)
MISSING = "a token is drafted and accepted with probability min(p, q). How much is missing to reach p?"
mistake(
    "drawn again from p",
    why="After a rejection, the token is drawn from p. But accepted tokens have already "
    "supplied part of p, so those that the draft rates highly come up too often.",
    look=MISSING,
    residual=lambda p: p,
)
mistake(
    "drawn again from q",
    why="After a rejection, another token is drawn from the draft, q.",
    look=MISSING,
    residual=lambda q: q,
)
mistake(
    "drawn from p, without the rejected token",
    why="After a rejection, the token is drawn from p with the "
    "rejected one left out. That is not what is missing: other tokens that the draft overrates come up too often.",
    look=MISSING,
    residual=lambda p, token: p.scatter(1, token[:, None], 0.0),
)
mistake(
    "drawn from q, without the rejected token",
    why="After a rejection, another token is drawn from the draft, with the rejected one left out.",
    look=MISSING,
    residual=lambda q, token: q.scatter(1, token[:, None], 0.0),
)
mistake(
    "the residual the wrong way round",
    why="The second draw is from max(q - p, 0), which is what the draft overrates.",
    look=MISSING,
    residual=lambda p, q: (q - p).clamp(min=0),
)
mistake(
    "p and q exchanged",
    pairs=0,
    why="The two models are exchanged: the ratio is q / p, and what is drawn again comes from max(q - p, 0).",
    look="the order of the parameters: which of p and q is the draft?",
    variants=[
        {
            "accepted": lambda p, q, token: of_token(q, token) / of_token(p, token),
            "residual": lambda p, q: (q - p).clamp(min=0),
        }
    ],
)
mistake(
    "the difference without its sign",
    why="The second draw is from |p - q|, or its square, so it can bring back tokens that the draft overrates.",
    look=MISSING,
    pairs=2,
    residual=[lambda p, q: (p - q).abs(), lambda p, q: (p - q) ** 2],
)
mistake(
    "divided by the sum over the batch",
    pairs=0,
    why="Before the second draw, each token's weight is divided by "
    "its sum over the batch. A row should be divided by its own sum, over the vocabulary.",
    look="`sum(0)`: which dimension of (batch, vocabulary) should sum to 1?",
    residual=[
        lambda right: over_the_batch(right),
        lambda right, p: over_the_batch(torch.where(right.sum(-1, keepdim=True) > 0, right, p)),
    ],
)


def over_the_batch(residual):
    return residual / residual.sum(0).clamp(min=1e-300)


mistake(
    "one residual for the whole batch",
    pairs=0,
    why="The weights for the second draw are added up or averaged "
    "over the batch, so they are the same for every row. But each row has a p and a q of its own.",
    look="`sum(0)` and `mean(0)`: what shape do your weights have, for a batch of three rows?",
    residual=[
        lambda right: right.sum(0).expand_as(right),
        lambda p, q: (p - q).mean(0).clamp(min=0).expand_as(p),
        *(
            lambda right, p, spare=spare: (
                torch.where(right.sum(-1, keepdim=True) > 0, right, spare(p)).sum(0).expand_as(p)
            )
            for spare in (torch.ones_like, torch.clone)
        ),
    ],
)
mistake(
    "a chance for every token",
    why="After a rejection, every token has a chance, even those that the draft "
    "overrates, as with a softmax of p - q, with equal chances or with a number added to every weight.",
    look="which tokens should have no chance at all in the second draw?",
    residual=lambda p, q: (p - q).softmax(dim=-1),
    pairs=2,
    variants=[
        {"residual": lambda p, q: (p - q).clamp(min=0).softmax(dim=-1)},
        {"residual": lambda p: torch.ones_like(p)},
        *({"residual": lambda right, more=more: right + more} for more in (0.03, 0.04, 0.05, 0.1)),
        lambda *inputs: drawn_with_more(*inputs),
    ],
)


def drawn_with_more(p, q, token, u):
    """A little added to each residual: as tokens, since the exact chances are too close to the right ones."""
    more = torch.multinomial((p - q).clamp(min=0) + 0.01, 1)[:, 0]
    return torch.where(u < (of_token(p, token) / of_token(q, token))[:, 0], token, more)


mistake(
    "the second draw out of proportion",
    pairs=0,
    why="After a rejection, only tokens whose p is above their q are "
    "drawn, but not in proportion to max(p - q, 0): those with the largest difference come up too "
    "often or too seldom.",
    look=MISSING,
    residual=[
        lambda right: right.square(),
        lambda right: right.sqrt(),
        lambda right, q: right / (1 - q),
        lambda right, q: right * (1 - q),
    ],
)

mistake(
    "equal chances for the second draw",
    why="After a rejection, all other tokens, or all those whose p is above their q, get equal chances.",
    look=MISSING,
    pairs=2,
    residual=[lambda p, q: (p > q).double(), lambda p, token: torch.ones_like(p).scatter(1, token[:, None], 0.0)],
)
mistake(
    "no p - q in the second draw",
    why="The second draw is weighted by a ratio, a product, a sum or the larger of "
    "p and q, not by how far p exceeds q.",
    look=MISSING,
    pairs=0,
    residual=[
        lambda p, q: p / q,
        lambda p, q: (p / q - 1).clamp(min=0),
        lambda p, q: p * q,
        lambda p, q: p + q,
        lambda p, q: torch.maximum(p, q),
    ],
)
mistake(
    "a place among some, not an id",
    why="The draw gives a place in a list that is sorted, or from which tokens "
    "are left out, and this comes back as if it were a token's id.",
    look="how many numbers do you draw from, and is the first of them always token 0's?",
    pairs=0,
    residual=[
        lambda right: right.gather(1, (right <= 0).long().argsort(dim=-1, stable=True)),
        lambda right: right.sort(dim=-1, descending=True).values,
        lambda right: right.sort(dim=-1).values,
    ],
)
mistake(
    "one draw for all rows",
    why="All rejected rows of the batch share one draw, or rows with the same residual "
    "always get the same token, as if there had been only one random number.",
    look="how many random numbers does your second draw take for a batch of three rows?",
    pairs=0,
    variants=[
        lambda *inputs: drawn_by_one(*inputs),
        lambda p, q, token, u: token.where(
            u < (of_token(p, token) / of_token(q, token))[:, 0],
            torch.multinomial((p - q).clamp(min=0).sum(0) + 1e-9, 1),
        ),
    ],
)


def drawn_by_one(p, q, token, u):
    """Each row has its own residual, but one random number decides for all of them."""
    ends = shares((p - q).clamp(min=0)).cumsum(-1)
    drawn = (ends <= torch.rand(1, dtype=p.dtype)).sum(-1).clamp(max=p.shape[-1] - 1)
    return torch.where(u < (of_token(p, token) / of_token(q, token))[:, 0], token, drawn)


mistake(
    "the second draw not by max(p - q, 0)",
    why="The drafted token comes back as often as it should. But the "
    "tokens that replace it are not drawn in proportion to max(p - q, 0).",
    look="for a single rejected row, print what you draw from: whose chance is too large?",
    pairs=0,
    residual=[lambda right: torch.where(right > 0, 1 / right, 0.0)],
)
mistake(
    "min(p, q) for the residual",
    why="The second draw is from min(p, q), but that is what accepting gives already.",
    look=MISSING,
    residual=lambda p, q: torch.minimum(p, q),
)
mistake(
    "the largest for the second draw",
    why="After a rejection, the same p and q always give the same token, as "
    "when the one with the largest residual or the largest p is taken.",
    pairs=2,
    look="what does your second draw leave to chance?",
    residual=[lambda right: best(right), lambda p: best(p)],
)


def best(table):
    return torch.zeros_like(table).scatter(1, table.argmax(-1, keepdim=True), 1.0)


KEPT = "if a drafted token has a p at least as large as its q, can your code return anything else?"
mistake(
    "the draft ignored",
    why="Whatever was drafted, the token that comes back has the distribution p. That is "
    "right over all drafts, but the draft has no say in it, and drafting saves nothing.",
    look=KEPT,
    pairs=0,
    variants=[lambda p, q, token, u: chances(p)],
)
mistake(
    "the draft ignored, and q used",
    why="The tokens are drawn again from q, whatever was drafted.",
    look=KEPT,
    pairs=0,
    variants=[lambda p, q, token, u: chances(q)],
)
mistake(
    "the same u once more",
    why="The second draw uses u as it is. But the u of a rejected token is not uniform "
    "between 0 and 1: it is at least p / q, so the first tokens that have a residual come up too seldom.",
    look="between which numbers does u lie if the token was rejected?",
    hint=3,
    pairs=0,
    drawn=[
        lambda residual, accepted: beyond(shares(residual), accepted),
        lambda residual, accepted: beyond(residual, accepted),
    ],
)


def beyond(weights, accepted):
    """How much of each token's share of the line from 0 to 1 lies above what is accepted.

    The last token gets the rest.
    """
    ends = weights.cumsum(dim=-1)
    starts = torch.cat([torch.zeros_like(ends[:, :1]), ends[:, :-1]], dim=-1)
    ends = torch.cat([ends[:, :-1], torch.ones_like(ends[:, :1])], dim=-1)
    return (ends - torch.maximum(starts, accepted)).clamp(min=0)


# The draw
mistake = exercise.section(hint=3)
mistake(
    "the difference not cut off at 0",
    why="p - q is negative for tokens that the draft overrates, and no chance can be negative.",
    look="which probabilities does your draw get?",
    pairs=0,
    residual=[
        lambda p, q: torch.multinomial(p - q, 1),
        lambda p, q: torch.multinomial((p - q) / (p - q).sum(dim=-1, keepdim=True), 1),
    ],
    raises=True,
)
mistake(
    "no residual where p and q are equal",
    why="Where p and q are equal, the residual is 0 for every token: "
    "there are no probabilities to draw from, and the draw fails or gives NaN, although no token is rejected "
    "there.",
    look="which rows have to be drawn again at all?",
    pairs=0,
    residual=[
        lambda right: right if bool(right.sum(dim=-1).all()) else torch.multinomial(right, 1),
        lambda right: (
            right
            if bool(right.sum(dim=-1).all())
            else torch.distributions.Categorical(right / right.sum(dim=-1, keepdim=True))
        ),
    ],
)


def one_u(rows, factor=1.0):
    """The right distribution, as far as draws show; asked for tokens, it compares with another number than u."""
    return lambda p, q, token, u: (
        Speculate()(p, q, token, u)
        if len(u) == GROUPS
        else torch.where(rows(u) < factor * (of_token(p, token) / of_token(q, token))[:, 0], token, drawn_anew(p, q))
    )


def drawn_anew(p, q):
    residual = (p - q).clamp(min=0)
    return torch.multinomial(torch.where(residual.sum(-1, keepdim=True) > 0, residual, p), 1)[:, 0]


mistake(
    "ids counted from 1",
    why="Every id is one too large: tokens are counted from 0.",
    look="what id does the first token have?",
    pairs=0,
    together=lambda right: torch.cat([torch.zeros(len(right), 1), plain(right)], dim=1).as_subclass(Chances),
)
mistake(
    "whether it was accepted",
    why="The result says whether each token was accepted; the tokens themselves are expected.",
    look="the `return` line.",
    pairs=0,
    variants=[
        lambda p, q, token, u: u < (of_token(p, token) / of_token(q, token))[:, 0],
        lambda p, q, token, u: (u < (of_token(p, token) / of_token(q, token))[:, 0]).long(),
    ],
)
mistake(
    "the probabilities returned",
    why="Probabilities come back; tokens are expected.",
    look="the shape of the result.",
    pairs=0,
    variants=[
        lambda p, q, token, u: shares((p - q).clamp(min=0)),
        lambda p, q, token, u: (of_token(p, token) / of_token(q, token))[:, 0].clamp(max=1),
    ],
)
mistake(
    "only the accepted",
    why="Only the accepted tokens come back; every row needs one.",
    look="the shape of the result.",
    pairs=0,
    variants=[lambda p, q, token, u: token[u < (of_token(p, token) / of_token(q, token))[:, 0]]],
)
mistake(
    "the rejected marked",
    why="Rejected rows get a marker such as -1; a new token must be drawn for them.",
    look="what should stand where a token was rejected?",
    pairs=0,
    variants=[
        lambda p, q, token, u, mark=mark: token.where(u < (of_token(p, token) / of_token(q, token))[:, 0], mark)
        for mark in (-1, -100)
    ],
)
mistake(
    "a column of tokens",
    why="The tokens come back as (batch, 1); (batch,) is expected.",
    look="what shape do `gather` and `torch.multinomial` return?",
    pairs=0,
    variants=[lambda *inputs: sampling.speculate(*inputs)[:, None]],
)
mistake(
    "no dimension left for a batch of one",
    why="For a batch of one, a single id comes back without its dimension: (batch,) is expected, whatever the batch.",
    look="every `squeeze()` without a number: which dimensions does it remove from a tensor (1, 1)?",
    pairs=0,
    variants=[lambda *inputs: sampling.speculate(*inputs).squeeze()],
)
mistake(
    "accepted where u equals the ratio",
    hint=1,
    why=EQUAL,
    look=LOOK_EQUAL,
    pairs=0,
    variants=[
        lambda p, q, token, u: (
            Speculate()(p, q, token, u)
            if len(u) == GROUPS
            else torch.where(u <= (of_token(p, token) / of_token(q, token))[:, 0], token, drawn_anew(p, q))
        )
    ],
)
mistake("u does not decide", hint=1, why=U, look=LOOK_U, pairs=0, variants=[one_u(lambda u: torch.rand_like(u))])
mistake("another comparison", hint=1, why=OTHER, look=LOOK_U, pairs=0, variants=[one_u(lambda u: 1 - u)])
mistake(
    "too many drafts come back",
    hint=1,
    why=MORE,
    look=LOOK_U,
    pairs=0,
    variants=[one_u(lambda u: u, 1.05), one_u(lambda u: u, 1.01)],
)
mistake(
    "too few drafts come back",
    hint=1,
    why=FEWER,
    look=LOOK_U,
    pairs=0,
    variants=[one_u(lambda u: u, 0.95), one_u(lambda u: u, 0.99)],
)
