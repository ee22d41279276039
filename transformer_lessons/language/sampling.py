"""From logits to the next token, and from a prompt to a text, without computing anything twice."""

import copy
import math
from collections.abc import Iterator

import torch
from torch import nn

from transformer_lessons.language.tokenization import Vocabulary
from transformer_lessons.models import LanguageModel
from transformer_lessons.validation import check_sizes, check_tokens


def sample_next(
    logits: torch.Tensor, temperature: float = 1.0, top_k: int | None = None, generator: torch.Generator | None = None
) -> torch.Tensor:
    """Draws the next token of each row: (batch, vocabulary) → (batch).

    The logits are divided by the temperature (0 takes the largest); top_k keeps only the k largest.
    """
    check_logits(logits)
    check_sampling(temperature, top_k, logits.shape[-1])
    if temperature == 0:
        return logits.argmax(dim=-1)  # (batch)
    logits = logits / temperature  # (batch, vocabulary)
    if top_k is not None:
        kept = logits.topk(top_k).indices  # (batch, top_k)
        logits = torch.full_like(logits, -torch.inf).scatter(-1, kept, logits.gather(-1, kept))
    return torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)[:, 0]  # (batch)


def check_logits(logits: torch.Tensor) -> None:
    """One row of logits for each sequence: those of its last position."""
    if logits.dim() != 2:
        raise ValueError(f"the logits {tuple(logits.shape)} must be (batch, vocabulary)")


def check_sampling(temperature: float, top_k: int | None, vocabulary_size: int, top_p: float | None = None) -> None:
    """The temperature is 0, or large enough to divide by; top_k is at most the number of tokens; 0 < top_p <= 1."""
    if not (temperature == 0 or 1e-30 <= temperature < math.inf):  # with a smaller one, the quotients overflow
        raise ValueError(f"temperature={temperature} must be 0, or at least 1e-30 and finite")
    if top_k is not None:
        check_sizes(top_k=top_k)
        if top_k > vocabulary_size:
            raise ValueError(f"top_k={top_k} is more than the {vocabulary_size} tokens there are")
    if not (top_p is None or 0 < top_p <= 1):
        raise ValueError(f"top_p={top_p} must be more than 0 and at most 1")


def keep_nucleus(logits: torch.Tensor, top_p: float) -> torch.Tensor:
    """Keeps the likeliest tokens of each row, until their total probability reaches top_p; the others get -inf."""
    ordered, order = logits.sort(dim=-1, descending=True)  # (batch, vocabulary)
    chances = ordered.softmax(dim=-1)  # (batch, vocabulary)
    before = chances.cumsum(dim=-1) - chances  # (batch, vocabulary)
    return logits.masked_fill((before >= top_p).gather(-1, order.argsort(dim=-1)), -torch.inf)


def speculate(p: torch.Tensor, q: torch.Tensor, token: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """Tokens that were drawn from q, (batch), become tokens drawn from p: accepted, or drawn again.

    p and q are probabilities, (batch, vocabulary), and u holds a uniform number from 0 to 1 for each row. A
    token is accepted if u < p / q. A rejected u is uniform above p / q, so it also serves for the second draw:
    from the residual, the excess of p over q.
    """
    check_drafts(p, q, token, u)
    accepted = (p.gather(-1, token[:, None]) / q.gather(-1, token[:, None])).clamp(max=1)  # (batch, 1)
    residual = (p - q).clamp(min=0).cumsum(dim=-1)  # (batch, vocabulary)
    place = (u[:, None] - accepted) / (1 - accepted) * residual[:, -1:]  # (batch, 1)
    drawn = torch.searchsorted(residual, place, right=True)[:, 0]  # (batch)
    drawn = drawn.minimum(residual.argmax(dim=-1))  # (batch)
    return torch.where(u < accepted[:, 0], token, drawn)  # (batch)


def check_drafts(p: torch.Tensor, q: torch.Tensor, token: torch.Tensor, u: torch.Tensor) -> None:
    """There are two rows of probabilities, one drafted token and one uniform number for each sequence."""
    if p.dim() != 2 or p.shape != q.shape:
        raise ValueError(f"p {tuple(p.shape)} and q {tuple(q.shape)} must both be (batch, vocabulary)")
    if not tuple(token.shape) == tuple(u.shape) == (len(p),):
        raise ValueError(f"token {tuple(token.shape)} and u {tuple(u.shape)} must both be ({len(p)},): one a row")


class Cache:
    """Keeps the keys and values that a LanguageModel has computed: a further token then costs only its own.

    Memory for max_length of them is allocated once. When it is full, the older half is forgotten and the rest is
    read again, as if the text began there: the model always sees at least max_length / 2 tokens, if there are
    that many. There is no dropout, whether the model is training or not.
    """

    def __init__(self, model: LanguageModel, batch: int) -> None:
        check_sizes(batch=batch)
        self.model, self.memory = laid_out(model).eval(), {}  # for each attention, its keys and values
        device = model.embedding.weight.device
        self.tokens = torch.zeros(batch, 0, dtype=torch.int64, device=device)  # all that have been read
        self.start, self.length = 0, 0  # keys and values are those of tokens[:, start : start + length]

    def read(self, tokens: torch.Tensor) -> torch.Tensor:
        """Reads further tokens, (batch, new), and returns the logits after the last: (batch, vocabulary)."""
        check_tokens(tokens, self.model.embedding.num_embeddings)
        if len(tokens) != len(self.tokens):
            raise ValueError(f"the tokens {tuple(tokens.shape)} must be the cache's {len(self.tokens)} rows")
        self.tokens = torch.cat([self.tokens, tokens], dim=1)  # (batch, length)
        start = window_start(self.tokens.shape[1], self.model.max_length)
        if start > self.start:
            self.start, self.length = start, 0
        unread = self.tokens[:, self.start + self.length :]  # (batch, query)
        with torch.inference_mode():  # quicker than no_grad; a copy made outside is a tensor like any other
            logits = self.model(unread, self)[:, -1]  # (batch, vocabulary)
        self.length += unread.shape[1]
        return logits.clone()  # (batch, vocabulary)

    def extend(self, attention: nn.Module, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Adds the keys and values of the tokens being read; returns those of all tokens so far."""
        if attention not in self.memory:
            size = *key.shape[:2], self.model.max_length, key.shape[3]
            with torch.inference_mode(False):  # or they could not be filled outside read
                self.memory[attention] = key.new_empty(size), value.new_empty(size)
        keys, values = self.memory[attention]
        end = self.length + key.shape[2]
        keys[:, :, self.length : end] = key
        values[:, :, self.length : end] = value
        return keys[:, :, :end], values[:, :, :end]


def laid_out(model: LanguageModel) -> LanguageModel:
    """A copy that is laid out; weights that are stored so already are shared, not copied."""
    shared = {id(weight): weight for weight in matrices(model) if is_stored(weight)}
    return lay_out(copy.deepcopy(model, shared))


def lay_out(model: LanguageModel) -> LanguageModel:
    """Makes a model faster for one token at a time, in place; its logits stay the same up to rounding."""
    for weight in matrices(model):
        if not is_stored(weight):
            weight.data = weight.data.contiguous() if is_short(weight) else weight.data.T.contiguous().T
    for part in model.modules():
        if type(part) is nn.Linear and is_short(part.weight):
            part.__class__ = VectorLinear
    return model


def is_stored(weight: torch.Tensor) -> bool:
    """Whether a weight is stored as it is read fastest: column by column; on a processor, in bfloat16, row by row."""
    return (weight if is_short(weight) else weight.T).is_contiguous()


def is_short(weight: torch.Tensor) -> bool:
    return weight.is_cpu and weight.dtype == torch.bfloat16


class VectorLinear(nn.Linear):
    """A linear layer that multiplies a single row as a vector: in bfloat16, PyTorch's CPU kernel for that is faster."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.numel() > self.in_features:
            return super().forward(x)
        product = self.weight @ x.flatten()
        if self.bias is not None:
            product = product + self.bias
        return product.view(*x.shape[:-1], -1)


def matrices(model: LanguageModel) -> list[nn.Parameter]:
    """The weights that multiply vectors."""
    return [part.weight for part in model.modules() if isinstance(part, (nn.Linear, nn.Embedding))]


def window_start(length: int, max_length: int) -> int:
    """The first of length tokens that the last one sees: 0, until there are more than max_length."""
    step = max_length - max_length // 2
    return max(0, -(-(length - max_length) // step)) * step


def generate_tokens(
    model: LanguageModel,
    tokens: torch.Tensor,
    length: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Iterator[torch.Tensor]:
    """An iterator that continues the rows of tokens: the next token of each, (batch), length times.

    If both top_k and top_p are given, a token must satisfy both. Temperature 0 takes the likeliest.
    """
    check_sizes(0, length=length)
    check_sampling(temperature, top_k, model.embedding.num_embeddings, top_p)
    check_tokens(tokens, model.embedding.num_embeddings)
    return draw_tokens(Cache(model, len(tokens)), tokens, length, temperature, top_k, top_p, generator)


def draw_tokens(
    cache: Cache,
    tokens: torch.Tensor,
    length: int,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    generator: torch.Generator | None,
) -> Iterator[torch.Tensor]:
    for _ in range(length):
        logits = cache.read(tokens)  # (batch, vocabulary)
        if top_p not in (None, 1) and temperature > 0:
            logits = temperature * keep_nucleus(logits / temperature, top_p)  # (batch, vocabulary)
        chosen = sample_next(logits, temperature, top_k, generator)  # (batch)
        yield chosen
        tokens = chosen[:, None]  # (batch, 1)


def stream(
    model: LanguageModel,
    vocabulary: Vocabulary,
    prompt: str = "",
    length: int = 200,
    temperature: float = 0.8,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
) -> Iterator[str]:
    """An iterator over the text that the model writes after the prompt: length tokens, piece by piece.

    An empty prompt stands for an empty line, after which speeches begin. The same seed gives the same text.
    """
    tokens = torch.tensor([encode_prompt(vocabulary, prompt)], device=model.embedding.weight.device)
    chosen = generate_tokens(model, tokens, length, temperature, top_k, top_p, seeded(model, seed))
    return vocabulary.decode_stream(token.item() for token in chosen)


def generate(
    model: LanguageModel,
    vocabulary: Vocabulary,
    prompts: str | list[str] = "",
    length: int = 200,
    temperature: float = 0.8,
    top_k: int | None = None,
    top_p: float | None = None,
    seed: int | None = None,
) -> str | list[str]:
    """The prompt and what the model writes after it; for a list of prompts, a list of texts.

    Prompts of equal length form one batch. All draw from one generator, so equal prompts get different texts.
    """
    if isinstance(prompts, str):
        return generate(model, vocabulary, [prompts], length, temperature, top_k, top_p, seed)[0]
    rows, generator = [encode_prompt(vocabulary, prompt) for prompt in prompts], seeded(model, seed)
    written = [[] for _ in rows]
    for size in sorted({len(row) for row in rows}):
        numbers = [number for number, row in enumerate(rows) if len(row) == size]
        tokens = torch.tensor([rows[number] for number in numbers], device=model.embedding.weight.device)
        for chosen in generate_tokens(model, tokens, length, temperature, top_k, top_p, generator):
            for number, token in zip(numbers, chosen.tolist(), strict=True):
                written[number].append(token)
    return [prompt + vocabulary.decode(ids) for prompt, ids in zip(prompts, written, strict=True)]


def encode_prompt(vocabulary: Vocabulary, prompt: str) -> list[int]:
    return vocabulary.encode(prompt or "\n\n")


def seeded(model: LanguageModel, seed: int | None) -> torch.Generator | None:
    """A generator on the model's device; without a seed, PyTorch's own."""
    return None if seed is None else torch.Generator(model.embedding.weight.device).manual_seed(seed)
