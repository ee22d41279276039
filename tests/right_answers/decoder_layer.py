"""Right answers to DecoderLayer, each in a style of its own."""

from torch import nn

from transformer_lessons import layers
from transformer_lessons.exercises.catalogue.decoder_layer import Decoder, exercise


@exercise.right("with dropout, by keywords")
class DecoderWithDropout(Decoder):
    def __init__(self, d_model, num_heads, d_hidden, dropout=0.1):
        super().__init__(d_model, num_heads, d_hidden)
        self.dropout_1, self.dropout_2, self.dropout_3 = (nn.Dropout(dropout) for _ in range(3))

    def forward(self, x, memory, mask=None, memory_mask=None):
        output, self.self_weights = self.self_attention(query=x, key=x, value=x, mask=mask)
        x = self.norm_1(x + self.dropout_1(output))
        output, self.cross_weights = self.cross_attention(x, memory, memory, mask=memory_mask)
        x = self.norm_2(x + self.dropout_2(output))
        return self.norm_3(x + self.dropout_3(self.feed_forward(x)))


@exercise.right("a loop over the parts")
class DecoderLoop(Decoder):
    def forward(self, x, memory, mask=None, memory_mask=None):
        parts = [
            lambda x: self.self_attention(x, x, x, mask)[0],
            lambda x: self.cross_attention(x, memory, memory, memory_mask)[0],
            self.feed_forward,
        ]
        for part, norm in zip(parts, (self.norm_1, self.norm_2, self.norm_3), strict=True):
            x = norm(part(x) + x)
        return x


@exercise.right("another epsilon in the norms")
class DecoderWithOtherNorms(layers.DecoderLayer):
    def __init__(self, d_model, num_heads, d_hidden):
        super().__init__(d_model, num_heads, d_hidden, dropout=0.0)
        self.norm_1, self.norm_2, self.norm_3 = (nn.LayerNorm(d_model, eps=1e-6) for _ in range(3))
