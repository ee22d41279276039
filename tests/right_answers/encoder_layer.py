"""Right answers to EncoderLayer, each in a style of its own."""

import torch
from torch import nn

from transformer_lessons import layers
from transformer_lessons.exercises.catalogue.encoder_layer import Encoder, exercise


@exercise.right("with dropout, and no weights asked for")
class EncoderWithDropout(Encoder):
    def __init__(self, d_model, num_heads, d_hidden, dropout=0.2):
        super().__init__(d_model, num_heads, d_hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        residual = x
        x, _ = self.attention(query=x, key=x, value=x, mask=mask, need_weights=False)
        x = residual = self.norm_1(residual + self.dropout(x))
        return self.norm_2(self.dropout(self.feed_forward(x)).add(residual))


@exercise.right("one sublayer, called twice")
class EncoderOfSublayers(Encoder):
    def sublayer(self, x, part, norm):
        return norm(torch.stack([x, part(x)]).sum(0))

    def forward(self, x, mask=None):
        x = self.sublayer(x, lambda x: self.attention(x, x, x, mask)[0], self.norm_1)
        return self.sublayer(x, self.feed_forward, self.norm_2)


@exercise.right("another epsilon in the norms")
class EncoderWithOtherNorms(layers.EncoderLayer):
    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__(d_model, num_heads, d_hidden, dropout=0.0)
        self.norm_1, self.norm_2 = (nn.LayerNorm(d_model, eps=1e-6) for _ in range(2))
