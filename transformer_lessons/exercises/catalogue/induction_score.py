"""induction_score, of lesson 11: how much each head attends to what followed the current token last time."""

import torch

from transformer_lessons.exercises.catalogue import score_family as shared
from transformer_lessons.exercises.catalogue.previous_token_score import draw_maps
from transformer_lessons.exercises.checker.exercise import Exercise
from transformer_lessons.inspection import attention_maps


def draw(generator, period, **sizes):
    return draw_maps(generator, **sizes), period


exercise = Exercise(
    name="induction_score",
    lesson=11,
    title="Who looks at what came next?",
    difficulty=2,
    importance=3,
    minutes=8,
    contract="""
        induction_score(weights, period) takes attention weights, causal or not, of shape (batch, heads, length,
        length): queries down, keys across. In all the sequences a block of `period` tokens is repeated, so
        that the token at t, for t ≥ period, last occurred at t - period. It returns a float tensor (heads,): for
        each head the mean, over all sequences and all positions t ≥ period, of the weight that the query at t gives
        to the key at t - period + 1, the token that came after that last occurrence. The period is at least 2, and
        less than the length; there may be several blocks, and the last may be cut short.
        """,
    stub='''
        def induction_score(weights, period):
            """(batch, heads, length, length) → (heads,): the mean weight of t on t - period + 1."""
            raise NotImplementedError
        ''',
    sizes=[
        {"batch": 2, "heads": 3, "length": 5, "period": 3},
        {"batch": 1, "heads": 2, "length": 8, "period": 4},
        {"batch": 3, "heads": 2, "length": 7, "period": 2, "causal": False},
        {"batch": 2, "heads": 4, "length": 13, "period": 5},
        {"batch": 3, "heads": 1, "length": 7, "period": 6},
        {"batch": 4, "heads": 5, "length": 11, "period": 3, "causal": False},
        {"batch": 3, "heads": 3, "length": 12, "period": 4},
        {"batch": 2, "heads": 6, "length": 16, "period": 5},
        {"batch": 1, "heads": 1, "length": 6, "period": 3},
        {"batch": 3, "heads": 2, "length": 9, "period": 4, "back": 3},
    ],
    draw=draw,
    reference=lambda weights, period: attention_maps.induction_score(weights, period),
    returns="scores",
    shapes={"scores": "(heads,)"},
    names_steps=False,
    hints=[
        (
            "which weights",
            "Write down two blocks of three: a b c a b c, at positions 0 to 5. The query at 3 "
            "belongs to an a. Where did a occur before, and which position comes right after that? Do the same for 4 "
            "and 5.",
        ),
        (
            "the first query",
            "What is the first t whose token has occurred before? The tokens before that t have "
            "no earlier occurrence, so leave them out of the sum and out of the count.",
        ),
        (
            "the tool",
            "The weights that you want lie on the diagonal with offset 1 - period, but that diagonal "
            "begins one query too early. torch.diagonal needs dim1 and dim2. A loop over t works just as well.",
        ),
    ],
    solution="""
        def induction_score(weights, period):
            length = weights.shape[-1]
            found = [weights[:, :, t, t - period + 1] for t in range(period, length)]  # each (batch, heads)
            return sum(found).mean(dim=0) / len(found)
        """,
)


@exercise.right("step by step")
class Induction(shared.Scoring):
    def __call__(self, weights, period):
        return self.score(weights, first=period, back=period - 1)


@exercise.right("a diagonal without its first number")
def a_diagonal(weights, period):
    return weights.diagonal(1 - period, -2, -1)[..., 1:].mean(dim=(0, 2))


# Which key
mistake = exercise.section(hint=1)
ABC = "in a b c a b c, which position should the second a look at?"
mistake(
    "the earlier copy itself",
    why="The weight on t - period is read: the earlier copy of the same token, "
    "not the token after it. Heads that look there are called duplicate-token heads.",
    look=ABC,
    variants=shared.missed_by(-1)[:1],
)
mistake(
    "the token before the earlier copy",
    why="The weight on t - period - 1 is read: the token before the earlier copy, not the one after.",
    look=ABC,
    pairs=2,
    variants=shared.missed_by(-2),
)
mistake(
    "two after the earlier copy",
    why="The weight on t - period + 2 is read: the second token after the earlier copy.",
    look=ABC,
    variants=[
        *shared.missed_by(1)[:1],
        *({"picked": lambda weights, back, cut=cut: weights.diagonal(1 - back, -2, -1)[..., cut:]} for cut in (0, 1)),
    ],
)
mistake(
    "neighbouring keys counted in",
    pairs=0,
    why="The weights on several neighbouring keys are added up for each query; only one should count.",
    look="how many keys do you take for each query? And " + ABC,
    picked=[
        lambda weights, queries, back, keys=keys: sum(weights[:, :, queries, queries - back + key] for key in keys)
        for keys in ((-1, 0, 1), (-1, 0), (0, 1))
    ]
    + [
        lambda weights, queries, back, more=more: sum(
            weights[:, :, queries, queries - key] for key in range(1 - more, back + 1)
        )
        for more in (0, 1)
    ],
)
mistake(
    "the token before",
    why="The weight on t - 1 is read, whatever the period.",
    look="how should the key that you read depend on `period`?",
    picked=[lambda weights, queries: weights[:, :, queries, queries - 1], lambda weights: weights.diagonal(-1, -2, -1)],
)
mistake(
    "all earlier copies added up",
    pairs=2,
    why="The weights on what came after each of the earlier copies are "
    "added up, perhaps with those of later copies; only the last copy before t should count.",
    look="a sequence of three blocks: how many weights do you read for a token of the third?",
    picked=[
        lambda weights, queries, first: torch.stack(
            [weights[:, :, query, query % first + 1 :: first].sum(-1) for query in queries.tolist()], -1
        ),
        lambda weights, queries, first: copies_added(weights, queries, first),
        lambda weights, queries, first: copies_added(weights, queries, first, after=False),
    ],
)


def copies_added(weights, queries, period, after=True):
    """The weights on t - n · period + 1 for all n; before the first copy there is nothing, or the key at 0."""
    total = 0
    for n in range(1, weights.shape[-1] // period + 2):
        keys = queries - n * period + 1
        total = total + weights[:, :, queries, keys.clamp(min=0)] * (keys >= after)
    return total


mistake(
    "the largest of several copies",
    pairs=0,
    why="Of the weights on what came after each earlier copy, the "
    "largest is taken; it should be the weight after the last copy before t.",
    look="a sequence of three blocks: which weight counts for a token of the third?",
    picked=[
        lambda weights, queries, first, least=least: torch.stack(
            [
                weights[:, :, queries, (queries - n * first + 1).clamp(min=0)] * (queries - n * first + 1 >= least)
                for n in range(1, weights.shape[-1] // first + 2)
            ]
        ).amax(0)
        for least in (0, 1)
    ],
)
mistake(
    "the first copy of several",
    why="The weight on the key after the very first copy is read. It should be the key after the last copy before t.",
    look="a sequence of three blocks: which copy comes last before a token of the third?",
    picked=lambda weights, queries, first: weights[:, :, queries, queries % first + 1],
)
mistake(
    "the key modulo the period",
    pairs=0,
    why="The key is taken modulo the period, so it lies in the first block. "
    "For the last token of a block, it is the key at 0.",
    look="in a b c a b c, where should the second c look, and where does it look in your code?",
    picked=lambda weights, queries, first: weights[:, :, queries, (queries + 1) % first],
)
mistake(
    "the first copy itself",
    pairs=0,
    why="The weight on t % period is read: the very first copy of the same token, not what came after the last one.",
    look="in three blocks, a b c a b c a b c, where should the third a look?",
    picked=lambda weights, queries, first: weights[:, :, queries, queries % first],
)
mistake(
    "a period too far back",
    pairs=0,
    why="The key is a whole period too far back, or one position more than that. "
    "This happens, for instance, when rows are cut off at the top of the table, which moves the diagonal.",
    look="the query at `period`: which key does it read in your code, if any?",
    variants=[
        *(
            {
                "picked": lambda weights, first, more=more, cut=cut: weights.diagonal(more - 2 * first, -2, -1)[
                    ..., cut:
                ],
                "averaged": averaged,
            }
            for more, cut in ((1, 0), (1, 1), (0, 0))
            for averaged in (lambda picked: picked.mean((0, 2)), lambda picked: picked.mean((0, 2)).nan_to_num())
        ),
        {
            "picked": lambda weights, queries, first: weights[
                :, :, queries, (queries + 1 - 2 * first) % len(weights[0, 0])
            ]
        },
    ],
)
mistake(
    "half the length for the period",
    pairs=0,
    why="Half the length is taken for the period, as if there were always two blocks.",
    look="where does `period` appear in your code?",
    variants=[
        lambda weights, period: a_diagonal(weights, weights.shape[-1] // 2),
        lambda weights, period: weights.diagonal(1 - weights.shape[-1] // 2, -2, -1).mean((0, 2)),
        lambda weights, period: weights.diagonal(-(weights.shape[-1] // 2), -2, -1).mean((0, 2)),
    ],
)

# Which queries
mistake = exercise.section(hint=2)
FIRST = "in a b c a b c, which is the first token that has occurred before?"
mistake(
    "one query too early",
    why="The query at period - 1 is counted as well, but its token has not occurred before. "
    "A diagonal with the offset 1 - period begins there, on the key at 0.",
    look=FIRST,
    queries=lambda length, first: torch.arange(first - 1, length),
    variants=[{"queries": lambda length, first: torch.arange(first - 1, length), "number": shared.all_of_them}],
)
mistake(
    "one query too early at both ends",
    why="Counting begins one query too early and ends one too early: the "
    "query at period - 1 is counted, and the last one is not.",
    look=FIRST + " And which query is the last that should count?",
    queries=lambda length, first: torch.arange(first - 1, length - 1),
)
mistake(
    "the first block counted in",
    pairs=3,
    why="Queries of the first block are counted as well, though their tokens have not occurred before.",
    look=FIRST + " And what does an index below 0 read?",
    queries=[
        lambda length: torch.arange(length),
        lambda length: torch.arange(1, length),
        lambda length, first: torch.arange(first // 2, length),
        lambda length, first: torch.arange(first - 2, length),
    ],
    variants=[
        {"queries": lambda length: torch.arange(length), "number": shared.all_of_them},
        {
            "queries": lambda length: torch.arange(length),
            "picked": lambda weights, queries, back: weights[:, :, queries, (queries - back).clamp(min=0)],
        },
    ],
)
mistake(
    "only one query a period",
    pairs=0,
    why="Only the first query of each block is counted: from `period` on, every `period`-th one.",
    look="which is the second query that should count, and which does in your code?",
    queries=lambda right, first: right[::first],
    variants=[{"queries": lambda right, first: right[::first], "number": shared.all_of_them}],
)
mistake(
    "divided by too many",
    why="The sum is divided by more than the number of queries in it.",
    pairs=2,
    look="how many t ≥ period are there?",
    number=[lambda right: right + 1, lambda length: length - 1],
)
mistake(
    "divided by the period",
    pairs=0,
    why="The sum is divided by the period; the number of queries is length - period.",
    look="how many t ≥ period are there?",
    number=lambda first: first,
)
mistake(
    "the second block alone",
    pairs=1,
    why="Only the queries of the second block are counted; there may be more blocks.",
    look="which is the last query that should count, if there are three blocks?",
    queries=[lambda length, first: torch.arange(first, min(2 * first, length))],
)
mistake(
    "the second block without its last query",
    pairs=0,
    why="The queries from `period` to 2 · period - 2 are "
    "counted: the last one of the second block is missing, and so is everything after it.",
    look="which is the last query that should count? And which key does the query at 2 · period - 1 need?",
    queries=lambda length, first: torch.arange(first, min(2 * first - 1, length)),
)
mistake(
    "the second block left out",
    pairs=0,
    why="The queries of the second block are not counted: counting begins at the third.",
    look=FIRST,
    queries=[
        lambda right, first: right[first:],
        lambda right, first: right[min(first, len(right) - 1) :],
        lambda right, first: right[first:] if len(right) > first else right,
    ],
    variants=[
        {"queries": lambda right, first: right[first:], "number": number}
        for number in (shared.at_least_one, shared.all_of_them)
    ],
)
mistake(
    "the first queries left out",
    pairs=0,
    why="If the period and the sequence are long enough, counting begins "
    "almost a period too late, for example because the diagonal with offset 1 - period is cut as if it began at query "
    "0.",
    look="from which query on do you count? And which query gives the first weight on that diagonal?",
    queries=[
        lambda right, first: right[first - 1 :],
        lambda right, first: right[min(first, len(right)) - 1 :],
        lambda right, first: right[first - 1 :] if len(right) >= first else right[-1:],
        lambda right, first: right[first - 1 :] if len(right) >= first else right,
    ],
    variants=[
        *(
            {"queries": lambda right, first: right[first - 1 :], "number": number}
            for number in (shared.at_least_one, shared.all_of_them)
        ),
        {"queries": lambda right, first: right[first - 2 :]},
    ],
)
mistake(
    "the last period alone",
    pairs=0,
    why="No more than the last `period` queries are counted, however many have an earlier copy of their token.",
    look="in three blocks, which is the first query that should count?",
    queries=[lambda length, first: torch.arange(length - first, length), lambda right, first: right[-first:]],
)
mistake(
    "the last period, and the first keys",
    pairs=0,
    why="Only the last `period` queries are counted, and their "
    "keys are always the first of the sequence, such as 1 to `period`, however many blocks there are.",
    look="in three blocks, which key should the last query look at, and which does in your code?",
    variants=[
        lambda weights, period: weights[:, :, -period:, 1 : period + 1].diagonal(0, -2, -1).mean((0, 2)),
        lambda weights, period: weights[:, :, -period:, :period].diagonal(0, -2, -1).mean((0, 2)),
    ],
)
mistake(
    "the last block alone",
    pairs=0,
    why="Only the queries of the last block are counted, which may be cut short.",
    look="in three blocks, which is the first query that should count?",
    queries=lambda length, first: torch.arange((length - 1) // first * first, length),
)
mistake(
    "whole blocks only",
    pairs=0,
    why="If the last block is cut short, none of its queries is counted.",
    look="must the length be a multiple of the period?",
    variants=[
        {"queries": lambda length, first: torch.arange(first, max(first, length // first * first)), "number": number}
        for number in (lambda right: right, shared.at_least_one, shared.all_of_them)
    ]
    + [
        {"queries": lambda length, first: torch.arange(first, max(first + 1, length // first * first))},
        {
            "queries": lambda right, length, first: (
                right[: length // first * first - first] if length >= 2 * first else right
            )
        },
    ],
)
mistake(
    "the mean of the blocks' means",
    hint=3,
    pairs=0,
    why="The mean of each block is taken first, and then the "
    "mean of these, so the queries of a last block that is cut short count for more than the others.",
    look="a block of five queries and one of a single query: how much should each of the six count?",
    variants=[
        lambda weights, period: torch.stack(
            [block.mean(-1) for block in weights.diagonal(1 - period, -2, -1)[..., 1:].split(period, -1)]
        ).mean((0, 1))
    ],
)
mistake(
    "the second half",
    pairs=0,
    why="The queries of the second half are counted, as if there were always two blocks.",
    look="in three blocks, which is the first query that should count?",
    queries=lambda length: torch.arange(length // 2, length),
)
mistake(
    "divided by the weights before",
    hint=3,
    pairs=0,
    why="The weight is divided by a sum of weights of the same "
    "query, such as all those on the tokens before t, so the mean is one of shares, not of weights.",
    look="what do all the weights of a query sum to?",
    picked=[
        lambda right, weights, queries, upto=upto: right / weights.tril(upto).sum(-1)[..., queries] for upto in (-1, 0)
    ]
    + [lambda right, weights, queries: right / weights.tril(-1).sum(-1)[..., queries].clamp(min=1e-9)],
)
mistake(
    "the mean of the weights that are not 0",
    hint=3,
    pairs=0,
    why="Weights that are exactly 0 are left out of the mean. A query that gives the key no weight counts too, with 0.",
    look="if some of the weights on the right keys are 0, how many weights is your sum divided by?",
    averaged=[
        lambda picked: picked.sum((0, 2)) / (picked > 0).sum((0, 2)).clamp(min=1),
        lambda picked: picked.sum((0, 2)) / (picked > 0).sum((0, 2)),
    ],
)
exercise.adopt(shared.family, hints={"key": 1, "queries": 2, "mean": 3, "tool": 3}, pairs=shared.family.mistakes)
