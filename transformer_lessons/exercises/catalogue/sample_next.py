"""The exercise `sample_next`: drawing the next token. Draws are compared by their distribution."""

import functools
import itertools
import math
import re

import numpy as np
import torch
import torch.nn.functional as F

from transformer_lessons.exercises.checker import distributions
from transformer_lessons.exercises.checker.comparison import alike
from transformer_lessons.exercises.checker.distributions import DRAWS, Chances, chances, plain, same_distribution
from transformer_lessons.exercises.checker.exercise import Exercise, Steps, integers
from transformer_lessons.language import sampling

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


def judged_draws(call, logits, temperature, top_k, generator):
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
    elif not one_token_each(observed) and fitting_temperature(observed, expected, logits[:GROUPS]):
        yield "another temperature than the given one"


exercise = Exercise(
    name="sample_next",
    lesson=8,
    title="Drawing the next token",
    difficulty=2,
    importance=3,
    minutes=15,
    contract="""sample_next(logits, temperature, top_k, generator) draws the next token of each row of
        logits (batch, vocabulary) and returns the ids, a LongTensor (batch,). A row's probabilities are the softmax of
        its logits divided by the temperature, which may be very small. Temperature 0 takes the token with the largest
        logit. With a top_k, from 1 to the size of the vocabulary, only the top_k tokens with the largest logits can be
        drawn, in the same proportions; with top_k=None all tokens can. All randomness must come from the generator,
        a torch.Generator. (No two logits of a row are equal.)""",
    stub='''
        def sample_next(logits, temperature, top_k, generator):
            """The next token of each row: (batch, vocabulary) → (batch,)."""
            raise NotImplementedError''',
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
    reference=lambda *inputs: SampleNext()(*inputs),
    returns="tokens",
    shapes={"tokens": "(batch,)"},
    observe=judged_draws,
    same=same_draws,
    checks=[draws_from_the_generator],
    symptoms=[what_the_draws_show],
    signs=signs_of_drawing,
    hints=[
        (
            "temperature 0, or numbers that are not finite",
            "You cannot divide by 0. Which token gets all the "
            "probability as the temperature shrinks towards 0? You can take it without drawing.",
        ),
        (
            "the wrong tokens are drawn",
            "A token whose logit is minus infinity has a probability of exactly 0. "
            "Which tokens should get this logit, and should they get it before or after the softmax?",
        ),
        (
            "the tokens are drawn with the wrong probabilities",
            "Here is an order that works: the temperature, the "
            "top k, the softmax, the draw. What goes into each of these steps, and what comes out?",
        ),
    ],
    solution="""
        import torch

        def sample_next(logits, temperature, top_k, generator):
            if temperature == 0:
                return logits.argmax(dim=-1)
            logits = logits / temperature
            if top_k is not None:
                kept = logits.topk(top_k).indices
                logits = torch.full_like(logits, -torch.inf).scatter(-1, kept, logits.gather(-1, kept))
            return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)[:, 0]""",
)


@exercise.right("step by step")
class SampleNext(Steps):
    """Where an answer draws, this gives the exact chances, so that mistakes are compared without any noise."""

    def __call__(self, logits, temperature, top_k, generator):
        if temperature == 0:
            return self.largest(logits, top_k)
        probabilities = self.probabilities(self.kept(self.scaled(logits, temperature), top_k))
        return self.drawn(probabilities, generator)

    def largest(self, logits, top_k):
        return certain(logits.argmax(dim=-1), logits)

    def scaled(self, logits, temperature):
        return logits / temperature

    def kept(self, logits, top_k):
        return logits if top_k is None else logits.masked_fill(~among_largest(logits, top_k), -torch.inf)

    def probabilities(self, logits):
        return logits.softmax(dim=-1)

    def drawn(self, probabilities, generator):
        return chances(probabilities)


def among_largest(logits, top_k):
    return logits.argsort(dim=-1).argsort(dim=-1) >= logits.shape[-1] - top_k


def certain(tokens, logits):
    """The chances of a token that is taken for sure."""
    return chances(torch.zeros_like(logits).scatter(-1, tokens[:, None], 1.0))


def fail(message):
    raise ValueError(message)


# Temperature 0
mistake = exercise.section(hint=1)
mistake(
    "division by zero",
    why="At temperature 0, something is divided by 0, or by almost 0. That raises an error, "
    "or gives infinities, which a softmax turns into NaN.",
    look="which case has to be handled separately, before the division?",
    largest=[
        lambda self, logits, top_k: self.drawn(self.probabilities(self.kept(logits / 0, top_k)), None),
        lambda logits: 1 / 0,
        lambda logits: fail("probabilities contain NaN"),
        lambda logits: certain((logits / 0).argmax(dim=-1), logits),
    ],
)
mistake(
    "sampling at temperature 0",
    why="At temperature 0, tokens are still drawn at random; the one with the largest logit should always be taken.",
    look="what happens to the probabilities as the temperature goes down to 0?",
    largest=[
        lambda self, logits, top_k, by=by: self.drawn(self.probabilities(self.kept(by * logits, top_k)), None)
        for by in (1, 10, 0)
    ],
)
mistake(
    "the smallest at temperature 0",
    why="At temperature 0, the token with the smallest logit is taken.",
    look="which token becomes certain as the temperature goes down?",
    largest=lambda logits: certain(logits.argmin(dim=-1), logits),
)

# The temperature
LIMITED = "is there a condition, or a limit, on the temperature?"
mistake = exercise.section(hint=3)
mistake(
    "the temperature ignored",
    why="Above 0, the temperature changes nothing: it is not used, or it is used only "
    "where it makes no difference to the proportions, such as after the softmax.",
    look="how often is each token drawn at temperature 0.5, and how often at 2?",
    scaled=lambda logits: logits,
)
mistake(
    "the temperature with a top_k only",
    pairs=0,
    why="Without a top_k, the temperature changes nothing: the logits are divided by it only when there is a top_k.",
    look="which line uses the temperature, and does it run without a top_k?",
    variants=[
        {
            "__call__": lambda step, logits, temperature, top_k, generator: step(
                logits, temperature and (1 if top_k is None else temperature), top_k, generator
            )
        }
    ],
)
mistake(
    "multiplied by the temperature",
    why="The temperature works the wrong way round: a high one makes the likely "
    "tokens likelier still, as when the logits are multiplied by it.",
    look="should a high temperature make the probabilities more equal, or less?",
    scaled=lambda logits, temperature: logits * temperature,
)
mistake(
    "divided by the temperature twice",
    why="The logits are divided by the temperature twice, or by its square.",
    look="how many times, and where, do you use the temperature?",
    scaled=lambda logits, temperature: logits / temperature**2,
)
mistake(
    "only low temperatures work",
    why="A temperature above 1 is treated like 1; below 1 everything is right.",
    look=LIMITED,
    scaled=lambda logits, temperature: logits / min(temperature, 1),
)
mistake(
    "only high temperatures work",
    why="A temperature below 1 is treated like 1; above 1 everything is right.",
    look=LIMITED,
    scaled=lambda logits, temperature: logits / max(temperature, 1),
)
mistake(
    "another temperature than the given one",
    why="The tokens are drawn about as often as they would be at a "
    "different temperature. That happens, for example, when the temperature or the logits are changed before the "
    "division or, if noise is added for the draw, when the noise is not right.",
    look="what are the logits divided by at temperatures of 0.001, 0.5 and 2? And if noise is added, which "
    "distribution must it have?",
    scaled=[
        lambda logits, temperature: logits / (1 + temperature),
        lambda logits, temperature: logits / math.sqrt(temperature),
        lambda logits, temperature: logits / (2 * temperature),
        lambda logits, temperature: logits / (temperature + 1e-5),
        *(lambda logits, temperature, least=least: logits / max(temperature, least) for least in (0.01, 0.1, 0.05)),
    ],
)
mistake(
    "the likeliest token below some temperature",
    pairs=0,
    why="Below some temperature, and not only at 0, the "
    "token with the largest logit is always taken: nothing is drawn there.",
    look=LIMITED,
    variants=[
        {
            "__call__": lambda step, logits, temperature, top_k, generator, limit=limit: step(
                logits, 0 if temperature < limit else temperature, top_k, generator
            )
        }
        for limit in (0.3, 0.01, 0.6, 1.1)
    ],
)


def raised_to_a_power(step, self, logits, temperature, top_k, generator):
    if temperature == 0:
        return step(logits, temperature, top_k, generator)
    weights = logits.softmax(dim=-1) ** (1 / temperature)
    return self.drawn(weights if top_k is None else weights * among_largest(weights, top_k), generator)


mistake(
    "probabilities that underflow",
    pairs=0,
    why="At a small temperature, all the probabilities may become "
    "0, as when they are raised to the power 1 / temperature, and nothing is left to draw from.",
    look="what is 0.01 to the power of 200, on a computer?",
    variants=[{"__call__": raised_to_a_power}],
)
mistake(
    "the softmax before the temperature, and once more after it",
    why="The probabilities, not the logits, are divided by the temperature, and then go through a second softmax.",
    look="what should be divided by the temperature: logits or probabilities?",
    scaled=lambda logits, temperature: logits.softmax(dim=-1) / temperature,
)

# The top k
THRESHOLD = (
    "if you use a threshold, is it the k-th largest logit, and is that one kept? If you use positions, are "
    "they counted from 0?"
)
mistake = exercise.section(hint=2)
mistake(
    "top_k ignored",
    why="Every token can be drawn, whatever top_k says.",
    look="do the lines after your top-k step use its result?",
    kept=lambda logits: logits,
)
mistake(
    "the k smallest kept",
    why="The tokens with the smallest logits are kept, and the likely ones are left out.",
    look="if you sort, does it go up or down? If you use a threshold, which side of it do you leave out?",
    kept=lambda step, logits, top_k: (
        logits if top_k is None else step(-logits, top_k).neg().nan_to_num(posinf=-torch.inf)
    ),
)
mistake(
    "the k largest left out",
    why="The tokens that should be kept are left out, and the others can be drawn.",
    look="if there is a mask or a threshold, which side of it is left out?",
    kept=lambda logits, top_k: (
        logits if top_k is None else logits.masked_fill(among_largest(logits, top_k), -torch.inf)
    ),
)
mistake(
    "the logit after the top k",
    pairs=0,
    why="When top_k is the size of the vocabulary, your code raises an "
    "error, as when the threshold is the largest logit that should be left out: then there is no such logit.",
    look=THRESHOLD,
    kept=lambda right, logits, top_k: (
        right if top_k is None else logits.where(logits > logits.sort(descending=True).values[:, [top_k]], -torch.inf)
    ),
)
mistake(
    "one candidate too many",
    why="With top_k = 3, four tokens can be drawn: one too many.",
    look=THRESHOLD,
    kept=lambda step, logits, top_k: step(logits, top_k and min(top_k + 1, logits.shape[-1])),
)
mistake(
    "one candidate too few",
    pairs=2,
    look=THRESHOLD,
    why="With top_k = 3, only two tokens can be drawn: one too few.",
    kept=[
        lambda step, logits, top_k: logits if top_k is None else step(logits, top_k - 1),
        lambda step, logits, top_k: logits if top_k is None else step(logits, max(top_k - 1, 1)),
    ],
)
mistake(
    "only the likeliest kept",
    pairs=0,
    why="Whatever top_k is, only the largest logit of a row is kept.",
    look=THRESHOLD,
    kept=lambda step, logits, top_k: step(logits, top_k and 1),
)
mistake(
    "the first ids kept, not the likeliest",
    why="The first top_k tokens of the vocabulary are kept, instead of the likeliest.",
    look="print which tokens are left, next to the logits. Where are the largest?",
    kept=lambda logits, top_k: (
        logits if top_k is None else logits.masked_fill(torch.arange(logits.shape[-1]) >= top_k, -torch.inf)
    ),
)
mistake(
    "token 0 never left out",
    why="Token 0 can always be drawn, even where it is not among the top_k largest.",
    look="every index 0, and every slice that starts at 1: which tokens do they stand for?",
    kept=lambda right, logits, top_k: right if top_k is None else torch.cat([logits[:, :1], right[:, 1:]], dim=-1),
)


def filled(logits, top_k, filler):
    return logits if top_k is None else logits.masked_fill(~among_largest(logits, top_k), filler)


mistake(
    "those left out can still be drawn",
    why="Tokens outside the top k get a number for their logit, such as 0 or "
    "-100, not minus infinity. Unless the other logits are far larger, these tokens can still be drawn.",
    look="which logit is smaller than any other, whatever the logits and the temperature?",
    kept=[
        lambda logits, top_k, filler=filler: filled(logits, top_k, filler)
        for filler in (0.0, -1.0, -5.0, -10.0, -20.0, -100.0)
    ]
    + [lambda logits, top_k, below=below: filled(logits, top_k, logits.min() - below) for below in (1, 5)],
    variants=[
        {
            "__call__": lambda step, logits, temperature, top_k, generator, filler=filler: step(
                filled(logits, top_k, filler), temperature, None, generator
            )
        }
        for filler in (-1.0, -5.0, -10.0, -20.0, -100.0)
    ],
)


def above(threshold, others=-torch.inf):
    return lambda logits, top_k: logits if top_k is None else logits.where(logits >= threshold(logits, top_k), others)


def from_the_largest(pick):
    return lambda logits, top_k: logits.where(pick(logits - logits.amax(-1, True), top_k).isfinite(), -torch.inf)


def picked_after_softmax(pick):
    return {
        "kept": lambda logits, top_k: (logits, top_k),
        "probabilities": lambda step, logits: pick(step(logits[0]), logits[1]),
    }


ONE_FOR_ALL = [
    lambda table, top_k: table[0].topk(top_k).values[-1],
    lambda table, top_k: table.max(),
    lambda table, top_k: table[-1].topk(top_k).values[-1],
    lambda table, top_k: table.topk(top_k).values[:, -1].min(),
]
mistake(
    "one threshold for the whole batch",
    why="A single threshold, taken from one row or from the whole batch, decides which tokens are kept in every row.",
    look="the shape of the threshold: how many rows does it have?",
    kept=[above(one) for one in ONE_FOR_ALL] + [from_the_largest(above(one)) for one in ONE_FOR_ALL[::2]],
    variants=[picked_after_softmax(above(one, 0.0)) for one in ONE_FOR_ALL],
)


def place_among_k(step, self, logits, temperature, top_k, generator):
    if temperature == 0 or top_k is None:
        return step(logits, temperature, top_k, generator)
    probabilities = self.probabilities(self.kept(self.scaled(logits, temperature), top_k))
    return self.drawn(probabilities.sort(dim=-1, descending=True).values, generator)


def downwards(step, probabilities, generator):
    return step(probabilities.sort(dim=-1, descending=True).values, generator)


mistake(
    "the place among the k, not the id",
    why="The result, at least with a top_k, is a token's place in the sorted list, not its id in the vocabulary.",
    look="`topk` and `sort` return two things. What is the second one for?",
    variants=[
        {"__call__": place_among_k},
        {"drawn": downwards},
        {"drawn": downwards, "largest": lambda logits: certain(torch.zeros(len(logits), dtype=torch.int64), logits)},
        {"kept": lambda right, top_k: right if top_k is None else right.sort()[0].roll(top_k - right.shape[-1], -1)},
    ],
)


def after_softmax(give):
    """The k likeliest picked after the softmax; give: what becomes of these and of the rest of 1."""

    def probabilities(step, logits):
        logits, top_k = logits
        if top_k is None:
            return step(logits)
        kept = step(logits) * among_largest(logits, top_k)
        return give(kept, 1 - kept.sum(dim=-1, keepdim=True))

    return {"kept": lambda logits, top_k: (logits, top_k), "probabilities": probabilities}


mistake(
    "the top k after the softmax, not renormalised",
    pairs=2,
    why="After the top k have been picked, the "
    "probabilities of a row no longer sum to 1, and what is missing goes to one token, or makes the draw fail.",
    look="what do the probabilities of a row sum to just before the draw?",
    variants=[
        after_softmax(lambda kept, rest: torch.cat([kept[:, :1] + rest, kept[:, 1:]], dim=1)),
        after_softmax(lambda kept, rest: torch.cat([kept[:, :-1], kept[:, -1:] + rest], dim=1)),
        after_softmax(lambda kept, rest: kept + rest * (kept == kept.where(kept > 0, 1).amin(-1, keepdim=True))),
        after_softmax(lambda kept, rest: torch.cat([kept, rest], dim=1)),
        after_softmax(lambda kept, rest: kept + rest * (kept == kept.amax(-1, keepdim=True))),
        after_softmax(lambda kept, rest: fail("probabilities do not sum to 1")),
    ],
)
mistake(
    "top_k=None not handled",
    pairs=2,
    why="top_k=None raises an error: None is not a number.",
    look="which lines should run only if there is a top_k?",
    kept=lambda step, logits, top_k: step(logits, int(top_k)),
    variants=[
        {
            "__call__": lambda step, logits, temperature, top_k, generator: step(
                logits, temperature, int(top_k), generator
            )
        }
    ],
)
mistake(
    "top_k=None taken for a number",
    why="Without a top_k, only the likeliest token can be drawn, or a certain "
    "number of the likeliest, as if top_k were a number; every token should have a chance.",
    look="what does top_k become when it is None?",
    kept=[
        lambda step, logits, top_k, number=number: step(logits, top_k or min(number, logits.shape[-1]))
        for number in (1, 50, 40, 2, 3, 5, 10, 20)
    ],
)

# Probabilities
mistake = exercise.section(hint=3)
mistake(
    "drawn evenly among the candidates",
    pairs=2,
    why="At least with a top_k, all the tokens that can be drawn "
    "are equally likely: how large their logits are makes no difference.",
    look="what has happened to the kept logits by the time you draw?",
    variants=[
        {
            "kept": lambda right, top_k: right if top_k is None else right * 0,
            "probabilities": lambda right, logits: ~logits.isnan() * 1.0 if logits.isnan().any() else right,
        }
    ],
    probabilities=[lambda logits: logits.isfinite() * 1.0, lambda logits: torch.ones_like(logits)],
)
mistake(
    "numbers that are no probabilities",
    why="You draw from numbers that are not probabilities: some are negative or not finite, as logits can be.",
    look="what does `torch.multinomial` take: logits, logarithms or probabilities?",
    probabilities=[
        lambda logits: logits.log_softmax(dim=-1),
        lambda logits: fail("probabilities are not non-negative"),
    ],
)
mistake(
    "exponentials out of range",
    why="At a small temperature, the logits become huge. Their exponentials are "
    "infinite, or 0 in a whole row, and so give no probabilities.",
    look="which number, subtracted from all the logits of a row, makes the largest exponent 0?",
    probabilities=[
        lambda logits: logits.exp(),
        lambda right, logits: right if (logits - logits.max()).exp().sum(-1).all() else fail("no probabilities"),
        lambda right, logits: fail("probabilities contain NaN") if logits.exp().isinf().any() else right,
    ],
)
mistake(
    "no exponential",
    why="The logits become weights without an exponential: they are shifted, cut off at 0, "
    "squared, or stripped of their signs.",
    look="what turns logits into probabilities, and a difference of 1 into a ratio of e?",
    probabilities=[
        lambda logits: logits - logits.min(dim=-1, keepdim=True).values,
        lambda logits: logits.relu(),
        lambda logits: logits.abs(),
        lambda logits: logits**2,
    ],
)


def without_the_unlikely(leaves_out):
    return lambda right: right.masked_fill(leaves_out(right), 0.0)


def beyond(share):
    def leaves_out(table):
        likeliest = table.sort(dim=-1, descending=True)
        before = likeliest.values.cumsum(dim=-1) - likeliest.values  # the probability of all the likelier ones together
        return torch.zeros_like(table, dtype=torch.bool).scatter(-1, likeliest.indices, before > share)

    return leaves_out


mistake(
    "unlikely tokens left out",
    pairs=0,
    why="Some tokens that top_k allows are never drawn, because they are "
    "unlikely, as with a minimum probability (min-p) or a limit on the total probability (top-p).",
    look="what happens to the token with the smallest probability?",
    probabilities=[
        *(without_the_unlikely(lambda table, least=least: table < least) for least in (0.01, 0.005)),
        *(
            without_the_unlikely(lambda table, least=least: table < least * table.amax(dim=-1, keepdim=True))
            for least in (0.05, 0.1)
        ),
        *map(without_the_unlikely, map(beyond, (0.9, 0.95, 0.8))),
    ],
)
mistake(
    "a sigmoid for the softmax",
    why="A sigmoid turns each logit on its own into a number between 0 and 1. If you "
    "draw with these numbers, unlikely tokens are drawn too often.",
    look="if two logits differ by 1, what is the ratio of their probabilities?",
    probabilities=lambda logits: logits.sigmoid(),
)
mistake(
    "softmax twice",
    why="The probabilities go through a second softmax, which makes them more equal.",
    look="which functions apply a softmax themselves?",
    probabilities=lambda right: right.softmax(dim=-1),
    variants=[after_softmax(lambda kept, rest: kept.softmax(dim=-1))],
)
mistake(
    "softmax over the batch",
    why="The softmax is taken down the columns, over the batch, so rows that have "
    "nothing to do with each other compete.",
    look="the probabilities of one row must sum to 1. Which dimension holds them?",
    probabilities=[
        lambda logits: logits.softmax(dim=0),
        lambda logits: (logits - logits.amax(dim=-1, keepdim=True)).softmax(dim=0),
    ],
)
mistake(
    "the sign flipped",
    why="The unlikeliest tokens are drawn most often, as when a sign is wrong, or when "
    "minus the logarithms of the probabilities are used in their place.",
    look="should a larger logit make a token likelier?",
    probabilities=[
        lambda step, logits: step((-logits).masked_fill(logits.isinf(), -torch.inf)),
        lambda logits: -logits.log_softmax(dim=-1),
    ],
    kept=lambda step, logits, top_k: step(-logits, top_k),
)


# The draw
def one_draw(table):
    """Chance decides which token all rows get, unless only one is possible."""
    return table if (table.max(dim=-1).values > 1 - 1e-9).all() else table * torch.nan


def drawn_by(rows):
    return lambda step, probabilities, generator: step(rows(probabilities).expand_as(probabilities), generator)


mistake(
    "the largest for the draw",
    why="The likeliest token is always taken: chance decides nothing.",
    look="what does `argmax` leave to chance?",
    drawn=lambda right, probabilities: certain(probabilities.argmax(dim=-1), right),
)
mistake(
    "one draw for the whole batch",
    why="Rows with equal logits all get the same token, as when one draw, or one random number, is used for every row.",
    look="how many random numbers does a batch of 8 rows need?",
    drawn=[
        lambda right: one_draw(right),
        lambda step, probabilities, generator: one_draw(step(probabilities[:1].expand_as(probabilities), generator)),
    ],
)
mistake(
    "the same chances for every row",
    why="Every row is drawn with the same probabilities; each should have its own.",
    look="is there an index such as [0] or [-1], or an average over the rows, where each row should stay by itself?",
    variants=[
        {
            "drawn": drawn_by(lambda probabilities: probabilities[:1]),
            "largest": lambda logits: certain(logits[:1].argmax(dim=-1).expand(len(logits)), logits),
        }
    ],
    drawn=[
        drawn_by(lambda probabilities: probabilities[:1]),
        drawn_by(lambda probabilities: probabilities[-1:]),
        drawn_by(lambda probabilities: probabilities.mean(dim=0, keepdim=True)),
    ],
)


def one_later(table):
    return torch.cat([torch.zeros(len(table), 1), plain(table)], dim=1).as_subclass(Chances)


mistake(
    "ids counted from 1",
    pairs=2,
    why="The ids that are drawn, or all but the last of them, are one too large: tokens are counted from 0.",
    look="which id does the first token of a vocabulary have?",
    drawn=[
        lambda right: one_later(right),
        lambda right: torch.cat([one_later(right)[:, :-2], right[:, -2:].sum(1, True)], dim=1).as_subclass(Chances),
    ],
    variants=[{"drawn": lambda right: one_later(right), "largest": lambda right: one_later(right)}],
)

# What comes back
THREE_ROWS = "what shape does your result have for a batch of 3 rows?"
mistake(
    "the largest of the whole batch",
    hint=1,
    why="At temperature 0, you look for the largest logit of the whole batch, not for the largest of each row.",
    look="which dimension does `argmax` take, and what does it do without one?",
    largest=lambda logits: logits.argmax(),
)


def forms(row):
    """What can become of the tokens of a batch: that of one row, in three forms, or all."""
    return [
        lambda tokens: tokens[row:][:1],
        lambda tokens: tokens[row],
        lambda tokens: int(tokens[row]),
        lambda tokens: tokens,
    ]


def one_row(at_zero, when_drawing):
    return lambda logits, temperature, *more: (at_zero if temperature == 0 else when_drawing)(
        sampling.sample_next(logits, temperature, *more)
    )


mistake(
    "only one row answered",
    why="Only one token is returned, although every row of the batch should have its own.",
    look=THREE_ROWS,
    variants=[
        lambda logits, *more: sampling.sample_next(logits[:1], *more),
        *itertools.starmap(one_row, list(itertools.product(forms(0), repeat=2))[:-1]),
        *(one_row(form, form) for form in forms(-1)[:-1]),
    ],
)
mistake(
    "a single number asked of a batch",
    why="`.item()` and `int()` turn a tensor that holds one number into that number; a batch can have several rows.",
    look=THREE_ROWS,
    variants=[lambda *inputs: sampling.sample_next(*inputs).item()],
)
mistake(
    "the last position taken once more",
    raises=True,
    why="The logits are indexed as if their shape were (batch, "
    "length, vocabulary); they are already those of the last position.",
    look="how many dimensions do the logits of the exercise have?",
    variants=[lambda logits, *more: sampling.sample_next(logits[:, -1, :], *more)],
)
mistake(
    "the largest over the batch",
    hint=1,
    why="At temperature 0, you find the row where each token's logit is largest; you should find the token for each "
    "row.",
    look="which dimension should `argmax` run over?",
    largest=lambda logits: logits.argmax(dim=0),
)
mistake(
    "the values, not the ids",
    hint=1,
    why="At temperature 0, the largest logits are returned, alone or beside the ids; only the ids should be.",
    look="what do `max` and `argmax` give?",
    largest=[lambda logits: logits.max(dim=-1).values, lambda logits: tuple(logits.max(dim=-1))],
)


def probabilities_returned(logits, temperature, top_k, generator):
    if temperature == 0:
        return logits.argmax(dim=-1)
    return SampleNext().kept(logits / temperature, top_k).softmax(dim=-1)


mistake(
    "the probabilities returned",
    why="The probabilities of all the tokens are returned, not the ids of tokens drawn with them.",
    look="what shape should the result have? And what does the `return` line return?",
    variants=[probabilities_returned, lambda *inputs: SampleNext()(*inputs).as_subclass(torch.Tensor)],
)


# Where the randomness comes from
def drawn_rightly(answer):
    """The same with the right chances where they are asked for: its draws are not what is wrong with it."""
    return lambda logits, *more: (SampleNext() if len(logits) == GROUPS else answer)(logits, *more)


mistake(
    "the generator not used",
    why="With the generator in the same state, the draws still differ, so no text can be reproduced: at least some of "
    "the randomness comes from elsewhere.",
    look="what does the function that draws take besides the probabilities?",
    variants=[drawn_rightly(lambda *inputs: sampling.sample_next(*inputs[:3]))],
)
mistake(
    "the same draw at every call",
    why="A second call with the same logits draws the same tokens again, as when every call sets the same seed.",
    look="where is a seed set, or a new generator made?",
    variants=[drawn_rightly(lambda *inputs: sampling.sample_next(*inputs[:3], torch.Generator().manual_seed(0)))],
)
