"""How the inputs of `sample_next` are drawn, and how its draws are compared: by their distribution.

An answer may draw in any way, so single tokens prove nothing. In a large batch two rows of logits take turns, and how
often each token comes in each of them is compared (distributions.py says how surely). An answer on a page gives its
exact chances instead, so that only the learner's frequencies depend on chance.
"""

import re
from contextlib import suppress

import numpy as np
import torch
import torch.nn.functional as F

from transformer_lessons.exercises.checker import distributions
from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.distributions import DRAWS, Chances, as_array, plain, same_distribution
from transformer_lessons.exercises.checker.drawn_tokens import Drawn, exact_on_pages, is_table
from transformer_lessons.exercises.checker.setup import Setup, integers

GROUPS = 2  # rows of logits that take turns in a large batch
LARGE = GROUPS * DRAWS
TENS = 10  # a vocabulary larger than this is counted ten ids at a time
NEAR = 8.0  # a temperature that is named must fit this well: four standard deviations, where a limit is over six
SURELY_RANDOM = 0.5  # below this temperature two draws of 60 tokens may well be the same


def draw_logits(generator, batch, vocabulary, temperature, top_k, spread=0.6, level=0.0, wider=1.0):
    """Logits in nearly equal steps, in random order; in a large batch, two rows that take turns.

    So every token's chance is far enough from every other's for 1,500 draws to tell them apart. In the large batches,
    the least likely token is the first of one row and the last of the other, whose steps are as many times wider.
    In a large vocabulary the ids are in the order of their chances, and so are the tens that are counted; only the
    likeliest token comes first, so that it can be told from the next ones.
    """

    def shuffled(values):
        order = torch.randperm(len(values), generator=generator)
        return values.roll(1) if vocabulary > TENS else values[order]

    steps = spread * (torch.arange(vocabulary) + 0.1 * torch.rand(vocabulary, generator=generator))
    steps = steps.double() - spread * vocabulary / 2
    if batch > DRAWS:
        rows = [torch.cat([steps[:1], shuffled(steps[1:])]), wider * torch.cat([shuffled(steps[1:]), steps[:1]])]
        rows = [row + 2.5 * spread * number for number, row in enumerate(rows)] * (batch // GROUPS)
    else:
        rows = [shuffled(steps) + (number == 1) for number in range(batch)]  # the largest of all: in row 1
    seed = int(integers(generator, 10**9, 1))
    return torch.stack(rows) + level, temperature, top_k, torch.Generator().manual_seed(seed)


def drawn_by(call, logits, temperature, top_k, generator):
    """For a small batch, the tokens; for a large one, how often each is drawn from each of its distributions.

    A page's answer gives exact chances; of a large batch, one row of each kind is enough for that.
    """
    try:
        with exact_on_pages(call):
            if len(logits) > DRAWS:
                first = call(logits[:GROUPS].clone(), temperature, top_k, generator.clone_state())
                if isinstance(first, Drawn):
                    return in_tens(first.chances, vocabulary=logits.shape[1])
            before = generator.get_state()
            tokens = call(logits, temperature, top_k, generator)
            drawn = not torch.equal(generator.get_state(), before)
    except (RuntimeError, ValueError) as error:
        raise refused(error) from error
    if isinstance(tokens, Drawn):
        largest, likeliest = plain(tokens.chances).max(dim=-1)
        return likeliest if (largest > 1 - 1e-9).all() else tokens.chances
    if len(logits) <= DRAWS:
        return tokens
    table = in_tens(frequencies_of(tokens, *logits.shape), vocabulary=logits.shape[1])
    return table if drawn or not is_table(table, GROUPS) else table.as_subclass(WithoutTheGenerator)


class ChancesOfTens(Chances):
    """Exact probabilities of ten ids each."""

    label = "how often ids 0-9, 10-19, … are drawn"


def in_tens(table, vocabulary):
    """The same table, of a large vocabulary with the columns of ten ids added up; an id too large stays by itself."""
    columns = table.shape[-1] if isinstance(table, torch.Tensor) and table.ndim >= 2 else 0
    if vocabulary <= TENS or columns not in (vocabulary, vocabulary + 1):
        return table
    numbers = table.as_subclass(torch.Tensor)
    sums = numbers[..., :vocabulary].unflatten(-1, (-1, TENS)).sum(dim=-1)
    sums = torch.cat([sums, numbers[..., vocabulary:]], dim=-1)
    return sums.as_subclass(ChancesOfTens) if isinstance(table, Chances) else sums


class WithoutTheGenerator(torch.Tensor):
    """Frequencies of tokens that an answer has taken without drawing from the generator."""


def refused(error):
    """An error of a function that draws, as a type of its own, so that no other error looks like it."""
    kinds = {
        "sum to 1": "probabilities that do not sum to 1",
        "probability tensor|[Pp]robabilities|parameter (probs|logits)|multinomial dist": "no probabilities",
    }
    kind = next((kind for words, kind in kinds.items() if re.search(words, str(error))), None)
    if kind is None:
        return error
    named = type(f"{type(error).__name__} ({kind})", (Exception,), {})
    return named(str(error)).with_traceback(error.__traceback__)


def frequencies_of(tokens, batch, vocabulary):
    """How often each token is drawn; anything but token ids stays as it is. An id too large by one is let through."""
    good = False
    with suppress(Exception):  # whatever cannot become a tensor
        ids = torch.as_tensor(tokens)
        good = ids.numel() > 0 and bool(((ids == ids.long()) & (ids >= 0) & (ids <= vocabulary)).all())
    if not good:
        return tokens
    if ids.numel() != batch:
        return torch.zeros_like(ids)  # too many or too few: their number says it all
    return distributions.frequencies(ids.flatten(), GROUPS, max(vocabulary, int(ids.max()) + 1))


def same_draws(observed, expected):
    """Equal tokens; frequencies that agree; tokens that all have a chance."""
    observed, expected = (expected, observed) if isinstance(observed, Chances) else (observed, expected)
    if not isinstance(expected, Chances):
        return (
            same_distribution(observed, expected)
            if is_table(observed, GROUPS) and is_table(expected, GROUPS)
            else alike(observed, expected, 0)
        )
    if not isinstance(observed, torch.Tensor) or observed.is_meta:
        return False
    rows, columns = plain(expected).shape
    if np.isnan(as_array(expected)).all():
        return (
            observed.shape == (rows, columns)
            and one_token_each(observed)
            and not isinstance(observed, WithoutTheGenerator)
        )
    if observed.ndim == 1:
        fits = len(observed) == rows and not observed.is_floating_point()
        fits = fits and bool(((observed >= 0) & (observed < columns)).all())
        return fits and bool((plain(expected).gather(1, observed[:, None]) > 1e-6).all())
    if is_table(observed, GROUPS) and observed.shape[1] < columns:
        observed = F.pad(observed, (0, columns - observed.shape[1]))  # for an id that is too large and was never drawn
    return same_distribution(observed, expected)


def one_token_each(table):
    """Does each distribution give a single token? In chances, NaN says so: the draw decides which it is."""
    table, exact = plain(table), isinstance(table, Chances)
    return bool(table.isnan().all() if exact else (table.max(dim=-1).values == 1).all())


def draws_from_the_generator(call, logits, temperature, top_k, generator):
    """The same state gives the same draws, whatever PyTorch's own generator does; and the state moves on."""
    if temperature < SURELY_RANDOM or len(logits) < DRAWS:
        return None

    def drawn(seed):
        torch.manual_seed(seed)
        np.random.seed(seed)
        return torch.as_tensor(call(logits[:60], temperature, top_k, generator))

    state = generator.get_state()
    first = drawn(seed=1)
    generator.set_state(state)
    second = drawn(seed=2)
    if not torch.equal(first, second):
        return "draws that the generator does not decide"
    return "the same draw at every call" if torch.equal(drawn(seed=2), second) else None


def always_the_largest(call, logits, temperature, top_k, generator):
    """At temperature 0: does every single row get the token with the largest logit?"""
    if temperature:
        return None
    tokens = torch.as_tensor(call(logits.clone(), temperature, top_k, generator))
    return None if bool((tokens == logits.argmax(dim=-1)).all()) else "sampling at temperature 0"


def what_the_draws_show(observed, expected, logits, temperature, top_k, generator):
    """Which tokens should never be drawn, and which temperature the frequencies suggest."""
    if not is_table(observed, GROUPS):
        return None
    expected, rows = plain(expected), logits[:GROUPS]
    impossible = ((observed > 0) & (expected == 0)).nonzero().tolist()
    if impossible:
        among = f"it is not among the {top_k} largest" if temperature else "its logit is not the largest"
        begin = "Token" if temperature else "At temperature 0, token"
        return f"{begin} {impossible[0][1]} is drawn, though {among} in its row."
    fits = fitting_temperatures(observed, expected, rows) if temperature and not one_token_each(observed) else []
    if fits:
        return f"Your tokens are drawn as often as they would be at a temperature {compared(fits, temperature)}."
    for row, column in ((observed == 0) & (expected > 0.015)).nonzero().tolist():
        missing = f"Token {column} is never"
        if expected.shape != rows.shape:
            missing = f"None of the ids {TENS * column} to {TENS * column + TENS - 1} is ever"
        return f"{missing} drawn in some rows, though the probability there is {expected[row, column]:.2f}."
    return "Some tokens are drawn too often and others too rarely: chance alone cannot explain this."


def fitting_temperatures(observed, expected, rows):
    """The temperatures that would give frequencies like all of these, the best one first."""
    inverses = torch.logspace(-2, 6, 640, dtype=torch.float64)
    scaled = rows * inverses[:, None, None]
    if expected.shape == rows.shape:
        scaled = scaled.masked_fill(plain(expected) == 0, -torch.inf)
    fitted = in_tens(scaled.softmax(dim=-1), vocabulary=rows.shape[1])
    off = np.nan_to_num(distributions.surprise(observed, fitted), nan=np.inf)
    return [1 / inverses[place].item() for place in off.argsort() if off[place] < NEAR]


def compared(fits, temperature):
    """The best of the temperatures that fit; where nearly flat chances fit many, only that it is another."""
    if max(fits) < 2 * min(fits):
        best = fits[0]
        return f"of about {best:.1f}, not {temperature}" if best > 0.1 else f"of about {best:.1g}, not {temperature}"
    if min(fits) > temperature:
        return f"far above {temperature}"
    return f"far below {temperature}" if max(fits) < temperature else f"other than {temperature}"


def signs_of_drawing(observed, expected, logits, temperature, top_k, generator):
    """What is wrong with draws that no known variant gives."""
    if observed.is_meta or observed.shape != expected.shape:
        return ["only one row answered"] * (observed.numel() == 1 < len(logits))
    ids, another = observed.ndim == 1, "another temperature than the given one"
    if temperature == 0:
        return ["sampling at temperature 0"] * (ids or bool(((observed > 0) & (observed < 1)).any()))
    if ids:
        return [another] * (top_k is None and len(observed.unique()) > 1)
    if one_token_each(observed):
        return ["one draw for the whole batch"] * (not isinstance(observed, WithoutTheGenerator))
    return [another] * bool(fitting_temperatures(observed, expected, logits[:GROUPS]))


setup = Setup(
    sizes=[
        {"batch": 3, "vocabulary": 5, "temperature": 0, "top_k": None},
        {"batch": 6, "vocabulary": 4, "temperature": 0.7, "top_k": 1, "level": -60.0},
        {"batch": 4, "vocabulary": 4, "temperature": 0.0, "top_k": 2},
        {"batch": LARGE, "vocabulary": 4, "temperature": 0.5, "top_k": None, "spread": 1.0},
        {"batch": LARGE, "vocabulary": 5, "temperature": 2.5, "top_k": None, "spread": 2.5},
        {"batch": LARGE, "vocabulary": 8, "temperature": 1.0, "top_k": 3, "spread": 1.2, "level": -3.0, "wider": 0.36},
        {"batch": LARGE, "vocabulary": 5, "temperature": 3.0, "top_k": 2, "spread": 0.75, "level": -5.0, "wider": 6.0},
        {"batch": LARGE, "vocabulary": 3, "temperature": 0.1, "top_k": 2, "spread": 1.2},
        {"batch": LARGE, "vocabulary": 2, "temperature": 0.1, "top_k": None, "spread": 1.0},
        {"batch": LARGE, "vocabulary": 2, "temperature": 4.0, "top_k": None, "spread": 5.0},
        {"batch": LARGE, "vocabulary": 60, "temperature": 0.4, "top_k": 1, "spread": 1e-3},
        {"batch": LARGE, "vocabulary": 60, "temperature": 1e-5, "top_k": None, "spread": 2e-7, "wider": 5.08},
        {"batch": LARGE, "vocabulary": 5, "temperature": 0, "top_k": None, "spread": 0.0015},
        {"batch": 5, "vocabulary": 6, "temperature": 0.001, "top_k": None, "level": 1.5},
        {"batch": 1, "vocabulary": 4, "temperature": 0.001, "top_k": 4},
        {"batch": 2, "vocabulary": 4, "temperature": 0.001, "top_k": 2, "level": -21000.0},
    ],
    draw=draw_logits,
    returns="tokens",
    shapes={"tokens": "(batch,)"},
    observe=drawn_by,
    same=same_draws,
    checks=[draws_from_the_generator, always_the_largest],
    symptoms=[what_the_draws_show],
    signs=signs_of_drawing,
)
