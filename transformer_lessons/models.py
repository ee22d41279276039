"""Whole models: Encoder (tokens to vectors), Transformer (encoder and decoder), LanguageModel (decoder)."""

import math
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons.attention import MultiHeadAttention
from transformer_lessons.layers import DecoderLayer, EncoderLayer, FeedForward, GatedFeedForward, SelfAttentionLayer
from transformer_lessons.masks import causal_mask, padding_mask
from transformer_lessons.modern import GELUFeedForward, QuickDropout, RMSNorm, RotaryHalves
from transformer_lessons.positions import LearnedPositions, PositionalEncoding, RotaryPositions
from transformer_lessons.validation import (
    check_length,
    check_pad,
    check_positive,
    check_sizes,
    check_split,
    check_tokens,
    check_turns,
)


class Embedding(nn.Module):
    """Tokens to vectors whose components have variance 1, with the sinusoids of their positions added.

    The table itself has variance 1 / d_model, so that it can also turn vectors back into logits.
    """

    def __init__(self, vocabulary_size, d_model, max_length):
        super().__init__()
        check_sizes(vocabulary_size=vocabulary_size, d_model=d_model)
        self.table = nn.Embedding(vocabulary_size, d_model)
        nn.init.normal_(self.table.weight, std=d_model**-0.5)
        self.positions = PositionalEncoding(d_model, max_length)

    def forward(self, tokens):
        check_tokens(tokens, self.table.num_embeddings)
        vectors = self.table(tokens) * math.sqrt(self.table.embedding_dim)  # (batch, length, d_model)
        return self.positions(vectors)  # (batch, length, d_model)

    def logits(self, vectors):
        return F.linear(vectors, self.table.weight)  # (batch, length, vocabulary)


class Encoder(nn.Module):
    """Tokens to contextual vectors: every position may attend to every other one that is not padding."""

    def __init__(
        self,
        vocabulary_size,
        d_model,
        num_heads,
        d_hidden,
        num_layers,
        max_length,
        dropout=0.1,
        norm_first=False,
        pad_id=None,
    ):
        super().__init__()
        check_sizes(num_layers=num_layers)
        check_pad(pad_id, vocabulary_size)
        self.embedding = Embedding(vocabulary_size, d_model, max_length)
        layers = (EncoderLayer(d_model, num_heads, d_hidden, dropout, norm_first) for _ in range(num_layers))
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pad_id = pad_id

    def forward(self, tokens):
        x = self.dropout(self.embedding(tokens))  # (batch, length, d_model)
        mask = None if self.pad_id is None else padding_mask(tokens, self.pad_id)
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)  # (batch, length, d_model)


class Decoder(nn.Module):
    """From the tokens so far and the encoder's output (the memory) to one vector for each next token."""

    def __init__(self, embedding, num_heads, d_hidden, num_layers, dropout, norm_first, pad_id):
        super().__init__()
        self.embedding, d_model = embedding, embedding.table.embedding_dim
        layers = (DecoderLayer(d_model, num_heads, d_hidden, dropout, norm_first) for _ in range(num_layers))
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.pad_id = pad_id

    def forward(self, tokens, memory, memory_mask=None):
        x = self.dropout(self.embedding(tokens))  # (batch, target, d_model)
        mask = causal_mask(tokens.shape[1], tokens.device)  # (target, target)
        if self.pad_id is not None:
            mask = mask & padding_mask(tokens, self.pad_id)  # (batch, 1, target, target)
        for layer in self.layers:
            x = layer(x, memory, mask, memory_mask)
        return self.norm(x)  # (batch, target, d_model)


@contextmanager
def in_eval_mode(model):
    """Inside the block the model has no dropout; afterwards each of its layers is in the mode that it was in."""
    modes = [(layer, layer.training) for layer in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for layer, training in modes:
            layer.training = training


class Transformer(nn.Module):
    """The encoder–decoder of 2017: reads a source, writes a target one token at a time.

    Without target_size, source and target share one vocabulary and one table. As in nn.Transformer,
    each stack ends in a norm. The target's table also makes the logits.
    """

    def __init__(
        self,
        source_size,
        target_size=None,
        *,
        d_model,
        num_heads,
        d_hidden,
        num_layers,
        max_length,
        dropout=0.1,
        norm_first=False,
        pad_id=None,
    ):
        super().__init__()
        self.encoder = Encoder(
            source_size, d_model, num_heads, d_hidden, num_layers, max_length, dropout, norm_first, pad_id
        )
        embedding = self.encoder.embedding
        if target_size is not None:
            check_pad(pad_id, target_size)
            embedding = Embedding(target_size, d_model, max_length)
        self.decoder = Decoder(embedding, num_heads, d_hidden, num_layers, dropout, norm_first, pad_id)
        self.pad_id, self.max_length = pad_id, max_length

    def forward(self, source, target):
        """Logits for the token that follows each target token."""
        return self.decode(target, self.encoder(source), source)  # (batch, target, vocabulary)

    def decode(self, target, memory, source):
        memory_mask = None if self.pad_id is None else padding_mask(source, self.pad_id)
        vectors = self.decoder(target, memory, memory_mask)  # (batch, target, d_model)
        return self.decoder.embedding.logits(vectors)  # (batch, target, vocabulary)

    @torch.no_grad()
    def generate(self, source, start_id, length):
        """Greedy decoding: starts from start_id and appends the likeliest next token, length times."""
        check_sizes(length=length)
        check_length(length, self.max_length)
        with in_eval_mode(self):
            memory = self.encoder(source)  # (batch, source, d_model)
            tokens = torch.full((len(source), 1), start_id, device=source.device)
            for _ in range(length):
                likeliest = self.decode(tokens, memory, source)[:, -1:].argmax(-1)  # (batch, 1)
                tokens = torch.cat([tokens, likeliest], dim=1)
        return tokens[:, 1:]  # (batch, length)


@dataclass(frozen=True)
class Config:
    """A language model's sizes, and what it is made of.

    By default, these are lesson 7's parts. With gelu the model is GPT-2; the other changes lead from there to Llama.
    """

    vocabulary_size: int
    d_model: int
    num_heads: int
    d_hidden: int
    num_layers: int
    max_length: int
    _: KW_ONLY
    dropout: float = 0.0  # of the embeddings, and of what each part of a layer adds to them
    num_key_heads: int | None = None  # heads of keys and values; None: as many as there are query heads
    rms: bool = False  # RMSNorm in place of LayerNorm
    gelu: bool = False  # GELU in place of ReLU
    gated: bool = False  # SwiGLU in place of either
    rotary: bool = False  # rotary positions in place of learned ones
    halves: bool = False  # rotary positions turn features half a head apart, as in Llama's files, not neighbours
    bias: bool = True  # in every linear map of a layer
    tied: bool = True  # the embedding's table also makes the logits
    epsilon: float = 1e-5  # of every norm
    base: float = 10000.0  # of the rotary frequencies
    std: float = 0.02  # of a new embedding's numbers

    def __post_init__(self):
        check_split(self.d_model, self.num_heads)
        check_sizes(
            vocabulary_size=self.vocabulary_size,
            d_hidden=self.d_hidden,
            num_layers=self.num_layers,
            max_length=self.max_length,
        )
        check_turns(self.rotary, self.halves)
        check_positive(epsilon=self.epsilon, base=self.base, std=self.std)


class LanguageModel(nn.Module):
    """Decoder only, pre-norm and causal: from tokens to the logits of the token after each."""

    def __init__(self, config):
        super().__init__()
        self.config, self.max_length = config, config.max_length
        self.embedding = nn.Embedding(config.vocabulary_size, config.d_model)
        nn.init.normal_(self.embedding.weight, std=config.std)
        self.positions = None if config.rotary else LearnedPositions(config.d_model, config.max_length)
        turn = new_rotary(config) if config.rotary else None
        self.layers = nn.ModuleList(new_layer(config, turn) for _ in range(config.num_layers))
        self.norm = new_norm(config)
        self.dropout = QuickDropout(config.dropout)
        self.unembedding = None if config.tied else nn.Linear(config.d_model, config.vocabulary_size, bias=False)

    def forward(self, tokens, cache=None):
        """Logits for the token that follows each token; with a cache, the tokens continue those it has read."""
        check_tokens(tokens, self.embedding.num_embeddings)
        start = 0 if cache is None else cache.length
        x = self.embedding(tokens)  # (batch, length, d_model)
        if self.positions is not None:
            x = self.positions(x, start)  # (batch, length, d_model)
        x = self.dropout(x)  # (batch, length, d_model)
        mask = None  # one new token may attend to all before it
        if tokens.shape[1] > 1:
            mask = causal_mask(start + tokens.shape[1], tokens.device)[start:]  # (query, key)
        for layer in self.layers:
            x = layer(x, mask, cache)
        table = self.embedding if self.unembedding is None else self.unembedding
        return F.linear(self.norm(x), table.weight)  # (batch, length, vocabulary)


def new_layer(config, rotary):
    """One layer of a language model, made of the parts that the configuration names."""
    feed_forward = GatedFeedForward if config.gated else GELUFeedForward if config.gelu else FeedForward
    return SelfAttentionLayer(
        MultiHeadAttention(config.d_model, config.num_heads, 0.0, rotary, config.num_key_heads, config.bias),
        feed_forward(config.d_model, config.d_hidden, config.bias),
        new_norm(config),
        new_norm(config),
        QuickDropout(config.dropout),
        norm_first=True,
    )


def new_norm(config):
    return (RMSNorm if config.rms else nn.LayerNorm)(config.d_model, config.epsilon)


def new_rotary(config):
    return (RotaryHalves if config.halves else RotaryPositions)(
        config.d_model // config.num_heads, config.max_length, config.base
    )
