"""One decoder for GPT-2, Llama and everything in between: its configuration says what it is made of."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons import attention
from transformer_lessons.layers import EncoderLayer, FeedForward, GatedFeedForward
from transformer_lessons.masks import causal_mask
from transformer_lessons.positions import LearnedPositions
from transformer_lessons.validation import check_positions, check_tokens


@dataclass(frozen=True)
class Config:
    """The sizes, and the changes that lead from GPT-2 (the defaults) to Llama (every other value)."""

    vocabulary_size: int
    d_model: int
    num_heads: int
    d_hidden: int
    num_layers: int
    max_length: int
    num_key_heads: int | None = None  # heads of keys and values; None: as many as there are query heads
    rms: bool = False  # RMSNorm in place of LayerNorm
    gated: bool = False  # SwiGLU in place of GELU
    rotary: bool = False  # rotary positions in place of learned ones
    bias: bool = True  # in every linear map of a layer
    tied: bool = True  # the embedding's table also makes the logits
    epsilon: float = 1e-5  # of every norm
    base: float = 10000.0  # of the rotary frequencies


class RMSNorm(nn.RMSNorm):
    """Divides each vector by its root mean square and multiplies it by a gain; in float32, as Llama does."""

    def forward(self, x):
        wide = x.float()  # (batch, length, d_model)
        wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)  # (batch, length, d_model)
        return self.weight * wide.to(x.dtype)


class RotaryHalves(nn.Module):
    """Rotary positions whose pairs are features i and i + d_head / 2, as Hugging Face's Llama files expect."""

    def __init__(self, config):
        super().__init__()
        d_head = config.d_model // config.num_heads
        frequencies = 1 / config.base ** (torch.arange(0, d_head, 2).float() / d_head)  # (d_head / 2)
        angles = torch.arange(config.max_length).float()[:, None] * frequencies  # (length, d_head / 2)
        self.register_buffer("turns", torch.stack([angles.cos(), angles.sin()]), persistent=False)

    def forward(self, x, start=0):
        check_positions(x, self.turns.shape[1], 2 * self.turns.shape[2], start)
        cosine, sine = self.turns[:, start : start + x.shape[-2]].to(x.dtype)  # (2, length, d_head / 2)
        first, second = x.chunk(2, dim=-1)
        return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)


class GroupedQueryAttention(attention.MultiHeadAttention):
    """Multi-head attention in which each head of keys and values serves a group of neighbouring query heads."""

    def __init__(self, config, rotary):
        super().__init__(config.d_model, config.num_heads, dropout=0.0, rotary=rotary)
        self.num_key_heads = config.num_key_heads or config.num_heads
        if config.num_heads % self.num_key_heads:
            raise ValueError(f"num_heads={config.num_heads} is not a multiple of num_key_heads={self.num_key_heads}")
        d_keys = self.num_key_heads * (config.d_model // config.num_heads)
        self.linear_k, self.linear_v = (nn.Linear(config.d_model, d_keys) for _ in range(2))

    def forward(self, query, key, value, mask=None, need_weights=True, cache=None):
        query = attention.split_heads(self.linear_q(query), self.num_heads)  # (batch, heads, query, d_head)
        key = attention.split_heads(self.linear_k(key), self.num_key_heads)  # (batch, key_heads, key, d_head)
        value = attention.split_heads(self.linear_v(value), self.num_key_heads)  # (batch, key_heads, key, d_head)
        if self.rotary is not None:
            start = 0 if cache is None else cache.length
            query, key = self.rotary(query, start), self.rotary(key, start)
        if cache is not None:
            key, value = cache.extend(self, key, value)  # (batch, key_heads, length, d_head)
        key, value = (one.repeat_interleave(self.num_heads // self.num_key_heads, dim=1) for one in (key, value))
        attend = attention.scaled_dot_product_attention if need_weights else attention.fused_attention
        output, weights = attend(query, key, value, mask)
        return self.linear_out(attention.merge_heads(output)), weights


class GELUFeedForward(FeedForward):
    """GPT-2's feed-forward: GELU, approximated by tanh, in place of ReLU."""

    def forward(self, x):
        return self.linear_out(F.gelu(self.linear_in(x), approximate="tanh"))  # (batch, length, d_model)


class ModernDecoder(nn.Module):
    """A language model built from its configuration: from tokens to the logits of the token after each."""

    def __init__(self, config):
        super().__init__()
        self.embedding = nn.Embedding(config.vocabulary_size, config.d_model)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        self.positions = None if config.rotary else LearnedPositions(config.d_model, config.max_length)
        rotary = RotaryHalves(config) if config.rotary else None
        norm = RMSNorm if config.rms else nn.LayerNorm
        feed_forward = GatedFeedForward if config.gated else GELUFeedForward
        self.layers = nn.ModuleList()
        for _ in range(config.num_layers):
            layer = EncoderLayer(config.d_model, config.num_heads, config.d_hidden, dropout=0.0, norm_first=True)
            layer.attention = GroupedQueryAttention(config, rotary)
            layer.feed_forward = feed_forward(config.d_model, config.d_hidden)
            layer.norm_1, layer.norm_2 = (norm(config.d_model, config.epsilon) for _ in range(2))
            self.layers.append(layer)
        self.norm = norm(config.d_model, config.epsilon)
        self.unembedding = None if config.tied else nn.Linear(config.d_model, config.vocabulary_size, bias=False)
        for part in () if config.bias else self.modules():
            if isinstance(part, nn.Linear):
                part.bias = None
        self.config, self.max_length = config, config.max_length

    def forward(self, tokens, cache=None):
        """Logits for the token that follows each token; with a cache, the tokens continue those it has read."""
        check_tokens(tokens, self.config.vocabulary_size)
        start = 0 if cache is None else cache.length
        x = self.embedding(tokens)  # (batch, length, d_model)
        x = x if self.positions is None else self.positions(x, start)  # (batch, length, d_model)
        mask = causal_mask(start + tokens.shape[1], tokens.device)[start:] if tokens.shape[1] > 1 else None
        for layer in self.layers:
            x = layer(x, mask, cache)
        return F.linear(self.norm(x), (self.unembedding or self.embedding).weight)  # (batch, length, vocabulary)
