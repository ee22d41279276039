"""The exercise `sample_next`: drawing the next token. Draws are compared by their distribution."""

import functools
import re
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from transformer_lessons.exercises.checker import distributions
from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.distributions import DRAWS, Chances, chances, plain, same_distribution
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


class ExactOnPages(TorchFunctionMode):
    """While it is active, `torch.multinomial` can give exact chances, free of noise, to an answer on the page."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function is torch.multinomial and sys._getframe(1).f_code.co_filename == "<sample_next>":
            return Draw(result, chances(args[0]))
        return result


class Draw:
    """What was drawn, whose only column gives the exact chances instead; a number can be added to all its ids."""

    def __init__(self, ids, exact):
        self.ids, self.exact = ids, exact

    def __getitem__(self, place):
        every_row = isinstance(place, tuple) and place == (slice(None), 0)
        return self.exact if every_row else self.ids[place]

    def __add__(self, number):
        return Draw(self.ids + number, F.pad(plain(self.exact), (number, 0)).as_subclass(Chances))

    def expand(self, *shape):
        """One draw for all rows: chance decides which token they get, unless only one is possible."""
        certain = bool((plain(self.exact).max(dim=-1).values > 1 - 1e-9).all())
        exact = plain(self.exact).expand(shape[0], -1) * (1 if certain else torch.nan)
        return Draw(self.ids.expand(*shape), exact.as_subclass(Chances))

    def __getattr__(self, name):
        return getattr(self.ids, name)

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return function(*(one.ids if isinstance(one, Draw) else one for one in args), **(kwargs or {}))


def judged_draws(call, *inputs):
    """What `call` draws; the exact chances of an answer on the page."""
    with ExactOnPages():
        return drawn_by(call, *inputs)


def drawn_by(call, logits, temperature, top_k, generator):
    """For a small batch, the tokens; for a large one, how often each is drawn from each of its distributions."""
    try:
        if len(logits) > DRAWS:  # a known mistake gives its chances; one row of each kind is enough for that
            first = call(logits[:GROUPS].clone(), temperature, top_k, generator.clone_state())
            if isinstance(first, Chances):
                return in_tens(first, vocabulary=logits.shape[1])
        before = generator.get_state()
        tokens = call(logits, temperature, top_k, generator)
        drawn = not torch.equal(generator.get_state(), before)
    except (RuntimeError, ValueError) as error:
        raise refused(error) from error
    if isinstance(tokens, Chances):
        certain = plain(tokens).max(dim=-1).values > 1 - 1e-9
        return plain(tokens).argmax(dim=-1) if certain.all() else tokens
    if len(logits) <= DRAWS:
        return tokens
    table = in_tens(frequencies_of(tokens, *logits.shape), vocabulary=logits.shape[1])
    return table if drawn or not is_table(table) else table.as_subclass(WithoutTheGenerator)


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
    return error_type(f"{type(error).__name__} ({kind})")(str(error)).with_traceback(error.__traceback__)


@functools.cache
def error_type(name):
    return type(name, (Exception,), {})


def frequencies_of(tokens, batch, vocabulary):
    """How often each token is drawn; anything but token ids stays as it is. An id too large by one is let through."""
    try:
        ids = torch.as_tensor(tokens)
        good = ids.numel() > 0 and bool(((ids == ids.long()) & (ids >= 0) & (ids <= vocabulary)).all())
    except Exception:
        return tokens
    if not good:
        return tokens
    if ids.numel() != batch:
        return torch.zeros_like(ids)  # too many or too few: their number says it all
    return distributions.frequencies(ids.flatten(), GROUPS, max(vocabulary, int(ids.max()) + 1))


def same_draws(one, other):
    """Equal tokens; frequencies that agree; tokens that all have a chance."""
    one, other = (other, one) if isinstance(one, Chances) else (one, other)
    if not isinstance(other, Chances):
        return same_distribution(one, other) if is_table(one) and is_table(other) else alike(one, other, 0)
    if not isinstance(one, torch.Tensor) or one.is_meta:
        return False
    if plain(other).isnan().all():
        return one.shape == other.shape and one_token_each(one) and not isinstance(one, WithoutTheGenerator)
    if one.ndim == 1:
        fits = len(one) == len(other) and not one.is_floating_point()
        fits = fits and bool(((one >= 0) & (one < other.shape[1])).all())
        return fits and bool((plain(other).gather(1, one[:, None]) > 1e-6).all())
    if is_table(one) and one.shape[1] < other.shape[1]:
        one = F.pad(one, (0, other.shape[1] - one.shape[1]))  # for an id that is too large and was never drawn
    return same_distribution(one, other)


def is_table(value):
    return (
        isinstance(value, torch.Tensor)
        and not value.is_meta
        and value.is_floating_point()
        and value.ndim == 2
        and len(value) == GROUPS
    )


def one_token_each(table):
    """Does each distribution give a single token? In chances, NaN says so: the draw decides which it is."""
    table, exact = plain(table), isinstance(table, Chances)
    return bool(table.isnan().all() if exact else (table.max(dim=-1).values == 1).all())


def draws_from_the_generator(call, logits, temperature, top_k, generator):
    """The same state gives the same draws, whatever PyTorch's own generator does; and the state moves on."""
    if temperature < SURELY_RANDOM or len(logits) < DRAWS:
        return None
    logits, state = logits[:60], generator.get_state()
    torch.manual_seed(1)
    first = call(logits, temperature, top_k, generator)
    if isinstance(first, Chances):
        return None
    first = torch.as_tensor(first)
    generator.set_state(state)
    torch.manual_seed(2)
    np.random.seed(2)
    second = torch.as_tensor(call(logits, temperature, top_k, generator))
    if not torch.equal(first, second):
        return (
            "the generator not used",
            "With the generator in the same state, two calls draw different tokens: at "
            "least some of the randomness comes from elsewhere.",
            "what does `torch.multinomial` take besides the probabilities?",
        )
    if torch.equal(torch.as_tensor(call(logits, temperature, top_k, generator)), second):
        return (
            "the same draw at every call",
            "A second call with the same generator gives the same tokens again, as when every call sets the same seed.",
            "where is a seed set, or a new generator made?",
        )
    return None


def what_the_draws_show(observed, expected, logits, temperature, top_k, generator):
    """Which tokens should never be drawn, and which temperature the frequencies suggest."""
    if not is_table(observed) or observed.shape != expected.shape:
        return None
    expected, rows = plain(expected), logits[:GROUPS]
    impossible = (observed > 0) & (expected == 0)
    if impossible.any():
        token = int(impossible.nonzero()[0, 1])
        if temperature == 0:
            return f"At temperature 0, token {token} is drawn, though its logit is not the largest in its row."
        return f"Token {token} is drawn, though it is not among the {top_k} largest in its row."
    found = temperature and not one_token_each(observed) and fitting_temperature(observed, expected, rows)
    if found:
        about = f"{found:.1f}" if found > 0.1 else f"{found:.1g}"
        return f"Your tokens are drawn as often as they would be at a temperature of about {about}, not {temperature}."
    never = (observed == 0) & (expected > 0.015)
    if never.any():
        row, column = never.nonzero()[0].tolist()
        tens = expected.shape != rows.shape
        missing = f"None of the ids {TENS * column} to {TENS * column + TENS - 1}" if tens else f"Token {column}"
        return (
            f"{missing} is{' ever' if tens else ' never'} drawn in some rows, though the probability there is "
            f"{expected[row, column]:.2f}."
        )
    return "Some tokens are drawn too often and others too rarely: chance alone cannot explain this."


def fitting_temperature(observed, expected, rows):
    """The temperature that would give frequencies like all of these, if there is one."""
    inverses = torch.logspace(-2, 6, 640, dtype=torch.float64)
    scaled = rows * inverses[:, None, None]
    if expected.shape == rows.shape:
        scaled = scaled.masked_fill(plain(expected) == 0, -torch.inf)
    fitted = in_tens(scaled.softmax(dim=-1), vocabulary=rows.shape[1])
    off = np.nan_to_num(distributions.surprise(observed, fitted), nan=np.inf)
    best = int(off.argmin())
    return 1 / inverses[best].item() if off[best] < NEAR else None


def signs_of_drawing(observed, expected, logits, temperature, top_k, generator):
    """What is wrong with draws that no known variant gives."""
    if not isinstance(observed, torch.Tensor) or observed.is_meta or observed.shape != expected.shape:
        return
    if temperature == 0:
        if observed.ndim == 1 or bool(((observed > 0) & (observed < 1)).any()):
            yield "sampling at temperature 0"
    elif observed.ndim == 1:
        if top_k is None and len(observed.unique()) > 1:
            yield "another temperature than the given one"
    elif one_token_each(observed):
        if not isinstance(observed, WithoutTheGenerator):
            yield "one draw for the whole batch"
    elif fitting_temperature(observed, expected, logits[:GROUPS]):
        yield "another temperature than the given one"


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
        {"batch": LARGE, "vocabulary": 5, "temperature": 0, "top_k": None, "spread": 0.25},
        {"batch": 5, "vocabulary": 6, "temperature": 0.001, "top_k": None, "level": 1.5},
        {"batch": 1, "vocabulary": 4, "temperature": 0.001, "top_k": 4},
        {"batch": 2, "vocabulary": 4, "temperature": 0.001, "top_k": 2, "level": -1100.0},
    ],
    draw=draw_logits,
    returns="tokens",
    shapes={"tokens": "(batch,)"},
    observe=judged_draws,
    same=same_draws,
    checks=[draws_from_the_generator],
    symptoms=[what_the_draws_show],
    signs=signs_of_drawing,
)
