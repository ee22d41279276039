"""The blocks that a Transformer stacks: attention mixes positions, feed-forward layers work on each one separately."""

import torch.nn.functional as F
from torch import nn

from transformer_lessons.attention import MultiHeadAttention
from transformer_lessons.validation import check_features, check_sizes


class FeedForward(nn.Module):
    """The same two-layer network at every position."""

    def __init__(self, d_model, d_hidden, bias=True):
        super().__init__()
        check_sizes(d_model=d_model, d_hidden=d_hidden)
        self.linear_in = nn.Linear(d_model, d_hidden, bias)
        self.linear_out = nn.Linear(d_hidden, d_model, bias)

    def forward(self, x):
        check_features(self.linear_in.in_features, x=x)
        hidden = self.linear_in(x).relu()  # (batch, length, d_hidden)
        return self.linear_out(hidden)  # (batch, length, d_model)


class GatedFeedForward(FeedForward):
    """The SwiGLU of newer models: a second map of x says how much of each hidden feature passes through."""

    def __init__(self, d_model, d_hidden, bias=True):
        super().__init__(d_model, d_hidden, bias)
        self.linear_gate = nn.Linear(d_model, d_hidden, bias)

    def forward(self, x):
        check_features(self.linear_in.in_features, x=x)
        gate = F.silu(self.linear_gate(x))  # (batch, length, d_hidden)
        return self.linear_out(gate * self.linear_in(x))  # (batch, length, d_model)


class SelfAttentionLayer(nn.Module):
    """Self-attention, then feed-forward, each part with a residual connection around it.

    The norm comes after the sum (post-norm, as in the paper) or, with norm_first, before the part (pre-norm).
    """

    def __init__(self, attention, feed_forward, norm_1, norm_2, dropout, norm_first):
        super().__init__()
        self.attention, self.feed_forward = attention, feed_forward
        self.norm_1, self.norm_2, self.dropout = norm_1, norm_2, dropout
        self.norm_first = norm_first

    def forward(self, x, mask=None, cache=None):
        check_features(self.attention.d_model, x=x)
        if self.norm_first:
            x = x + self.attend(self.norm_1(x), mask, cache)
            return x + self.dropout(self.feed_forward(self.norm_2(x)))
        x = self.norm_1(x + self.attend(x, mask, cache))
        return self.norm_2(x + self.dropout(self.feed_forward(x)))

    def attend(self, x, mask, cache):
        output, _ = self.attention(x, x, x, mask, need_weights=False, cache=cache)
        return self.dropout(output)  # (batch, length, d_model)


class EncoderLayer(SelfAttentionLayer):
    """The layer of 2017's encoder: full attention, ReLU and LayerNorm."""

    def __init__(self, d_model, num_heads, d_hidden, dropout=0.1, norm_first=False):
        super().__init__(
            MultiHeadAttention(d_model, num_heads, dropout),
            FeedForward(d_model, d_hidden),
            nn.LayerNorm(d_model),
            nn.LayerNorm(d_model),
            nn.Dropout(dropout),
            norm_first,
        )


class DecoderLayer(nn.Module):
    """Self-attention, then attention to the encoder's output, the memory, then feed-forward.

    mask says which targets each target may attend to; memory_mask, which positions of the memory.
    """

    def __init__(self, d_model, num_heads, d_hidden, dropout=0.1, norm_first=False):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.cross_attention = MultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_hidden)
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.norm_3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, memory, mask=None, memory_mask=None):
        check_features(self.self_attention.d_model, x=x)
        if self.norm_first:
            x = x + self.attend(self.norm_1(x), mask)
            x = x + self.look_up(self.norm_2(x), memory, memory_mask)
            return x + self.dropout(self.feed_forward(self.norm_3(x)))
        x = self.norm_1(x + self.attend(x, mask))
        x = self.norm_2(x + self.look_up(x, memory, memory_mask))
        return self.norm_3(x + self.dropout(self.feed_forward(x)))

    def attend(self, x, mask):
        output, _ = self.self_attention(x, x, x, mask, need_weights=False)
        return self.dropout(output)  # (batch, target, d_model)

    def look_up(self, x, memory, memory_mask):
        output, _ = self.cross_attention(x, memory, memory, memory_mask, need_weights=False)
        return self.dropout(output)  # (batch, target, d_model)
