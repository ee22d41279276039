"""Right answers to FeedForward, each in a style of its own."""

import torch
from torch import nn

from transformer_lessons.exercises.catalogue.feed_forward import FeedForward, exercise


@exercise.right("with nn.ReLU and dropout")
class FeedForwardWithDropout(nn.Module):
    def __init__(self, d_model, d_hidden, dropout=0.1):
        super().__init__()
        self.linear_out = nn.Linear(d_hidden, d_model)
        self.linear_in = nn.Linear(d_model, d_hidden)
        self.relu, self.dropout = nn.ReLU(), nn.Dropout(dropout)

    def forward(self, x):
        return self.linear_out(self.dropout(self.relu(self.linear_in(x))))


@exercise.right("by hand")
class FeedForwardByHand(FeedForward):
    def forward(self, x):
        hidden = torch.einsum("...m,hm->...h", x, self.linear_in.weight) + self.linear_in.bias
        return torch.clamp(hidden, min=0) @ self.linear_out.weight.T + self.linear_out.bias


@exercise.right("position by position")
class FeedForwardByPosition(FeedForward):
    def forward(self, x):
        return torch.stack(
            [
                self.linear_out(torch.maximum(self.linear_in(x[:, place]), torch.zeros(())))
                for place in range(x.shape[1])
            ],
            dim=1,
        )
