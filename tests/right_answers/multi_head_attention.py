"""Right answers to MultiHeadAttention, each in a style of its own."""

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lessons.exercises.catalogue.multi_head_attention import exercise


@exercise.right("head by head")
class HeadByHead(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.heads, self.width = num_heads, d_model // num_heads
        for name in ("linear_out", "linear_v", "linear_k", "linear_q"):  # in another order
            self.add_module(name, nn.Linear(d_model, d_model))

    def forward(self, query, key, value):
        parts = [slice(n * self.width, (n + 1) * self.width) for n in range(self.heads)]
        outputs, weights = zip(*(self.attend(query, key, value, part) for part in parts), strict=True)
        return self.linear_out(torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1)

    def attend(self, query, key, value, part):
        query, key, value = (
            F.linear(x, layer.weight[part], layer.bias[part])
            for x, layer in ((query, self.linear_q), (key, self.linear_k), (value, self.linear_v))
        )
        weights = F.softmax(torch.bmm(query, key.mT) / self.width**0.5, dim=2)
        return torch.bmm(weights, value), weights


class FourLayers(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.shape, self.num_heads = (num_heads, d_model // num_heads), num_heads
        self.linear_q, self.linear_k, self.linear_v, self.linear_out = (nn.Linear(d_model, d_model) for _ in range(4))


@exercise.right("with einsum")
class WithEinsum(FourLayers):
    def forward(self, query, key, value):
        query = self.linear_q(query).unflatten(-1, self.shape) * self.shape[1] ** -0.5
        key = self.linear_k(key).unflatten(-1, self.shape)
        value = self.linear_v(value).unflatten(-1, self.shape)
        scores = torch.einsum("bqhd,bkhd->bhqk", query, key)
        weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
        return [self.linear_out(torch.einsum("bhqk,bkhd->bqhd", weights, value).flatten(-2)), weights]


@exercise.right("PyTorch's own")
class WithPyTorch(FourLayers):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__(d_model, num_heads)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value):
        output, weights = F.multi_head_attention_forward(
            query.transpose(0, 1),
            key.transpose(0, 1),
            value.transpose(0, 1),
            query.shape[-1],
            self.num_heads,
            None,
            torch.cat([self.linear_q.bias, self.linear_k.bias, self.linear_v.bias]),
            None,
            None,
            False,
            0.0,
            self.linear_out.weight,
            self.linear_out.bias,
            training=self.training,
            average_attn_weights=False,
            use_separate_proj_weight=True,
            q_proj_weight=self.linear_q.weight,
            k_proj_weight=self.linear_k.weight,
            v_proj_weight=self.linear_v.weight,
        )
        return self.dropout(output.transpose(0, 1)), weights


@exercise.right("heads and batch in one dimension")
class HeadsInTheBatch(FourLayers):
    def forward(self, query, key, value):
        batch = len(query)
        query, key, value = (
            torch.cat(layer(x).chunk(self.num_heads, -1))
            for layer, x in ((self.linear_q, query), (self.linear_k, key), (self.linear_v, value))
        )
        start = torch.zeros(len(query), query.shape[1], key.shape[1], dtype=query.dtype)
        weights = torch.baddbmm(start, query, key.mT, alpha=query.shape[-1] ** -0.5).softmax(-1)
        output = torch.cat((weights @ value).split(batch), dim=-1)
        return self.linear_out(output), weights.unflatten(0, (-1, batch)).transpose(0, 1)
