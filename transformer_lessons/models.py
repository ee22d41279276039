"""Whole models: Encoder (tokens to vectors), Transformer (encoder and decoder), LanguageModel (decoder)."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons.layers import DecoderLayer, EncoderLayer, GatedFeedForward
from transformer_lessons.masks import causal_mask, padding_mask
from transformer_lessons.positions import LearnedPositions, PositionalEncoding, RotaryPositions
from transformer_lessons.validation import check_length, check_pad, check_sizes, check_split, check_tokens


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
        training = self.training
        self.eval()
        try:
            memory = self.encoder(source)  # (batch, source, d_model)
            tokens = torch.full((len(source), 1), start_id, device=source.device)
            for _ in range(length):
                likeliest = self.decode(tokens, memory, source)[:, -1:].argmax(-1)  # (batch, 1)
                tokens = torch.cat([tokens, likeliest], dim=1)
        finally:
            self.train(training)
        return tokens[:, 1:]  # (batch, length)


class LanguageModel(nn.Module):
    """Decoder only, shaped like GPT-2: pre-norm, causal, logits from the embedding's own table.

    Newer models turn queries and keys by their positions (rotary), and gate the feed-forward (gated).
    """

    def __init__(
        self,
        vocabulary_size,
        d_model,
        num_heads,
        d_hidden,
        num_layers,
        max_length,
        dropout=0.1,
        rotary=False,
        gated=False,
    ):
        super().__init__()
        check_split(d_model, num_heads)
        check_sizes(vocabulary_size=vocabulary_size, num_layers=num_layers)
        self.embedding = nn.Embedding(vocabulary_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.positions = None if rotary else LearnedPositions(d_model, max_length)
        turn = RotaryPositions(d_model // num_heads, max_length) if rotary else None
        layers = (EncoderLayer(d_model, num_heads, d_hidden, dropout, True, turn) for _ in range(num_layers))
        self.layers = nn.ModuleList(layers)
        for layer in self.layers if gated else ():
            layer.feed_forward = GatedFeedForward(d_model, d_hidden)
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.max_length = max_length

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
        return F.linear(self.norm(x), self.embedding.weight)  # (batch, length, vocabulary)
