"""The report on an answer, with all that holds for every report."""

import os
import re

from torch import nn

from transformer_lessons import attention
from transformer_lessons.exercises import check
from transformer_lessons.running.sandbox import LIMITS

NAME = "scaled_dot_product_attention"


def right(query, key, value):
    return attention.scaled_dot_product_attention(query, key, value)


def wrong(query, key, value):
    """Zeros of the right shapes."""
    return [0 * result for result in right(query, key, value)]


def verdict(answer, name=NAME, limits=LIMITS):
    report = check(name, answer, limits=limits)
    lines = report.message.splitlines()
    assert report.status in ("passed", "failed", "not attempted")
    assert lines[0][0] == {"passed": "✓", "failed": "✗", "not attempted": "○"}[report.status]
    assert len(lines) <= 12
    assert all(len(line) <= 110 for line in lines)
    assert not any(word in report.message for word in ("Traceback", os.sep + "transformer_lessons"))
    assert not re.search("0x[0-9a-f]{7}", report.message)  # an address
    assert not any(ord(letter) < 32 for letter in report.message.replace("\n", ""))
    return report


def words_of(report):
    """The message in one line."""
    return " ".join(report.message.split())


class OneLayer(nn.Module):
    """A module that is nothing but its one linear layer."""

    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return self.linear(x)
