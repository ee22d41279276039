"""The mutants that tests/proofs/mutants.py tries: every program that is one edit away from a right answer."""

import ast
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "proofs"))

from one_edit import changed_line, one_edit_away

SOURCE = """
def f(x, y):
    shifted = x.max(dim=-1) - y
    y += 2
    if shifted < y and y:
        return x, y
    return torch.cat([x, y], dim=0)
"""

EDITS = [
    "shifted = x.max(dim=-1) + y",  # another operator
    "shifted = y - x.max(dim=-1)",  # its operands exchanged
    "shifted = x.max(dim=-1)",  # one of them left out
    "shifted = x.max(dim=0) - y",  # another dimension
    "shifted = x.max() - y",  # an argument left out
    "shifted = x - y",  # a call left out
    "shifted = x.min(dim=-1) - y",  # another function
    "shifted = y.max(dim=-1) - y",  # another name
    "pass",  # a line left out
    "y += 1",  # another number
    "y -= 2",
    "if shifted <= y and y:",  # another comparison
    "if shifted < y or y:",
    "if True:",
    "return (y, x)",  # results in another order
    "return torch.cat([x, y])",
]


def test_each_kind_of_edit_is_made():
    changes = {changed_line(SOURCE, mutant).partition("  ->  ")[2] for mutant in one_edit_away(SOURCE)}
    assert [edit for edit in EDITS if edit not in changes] == []


def test_a_mutant_differs_from_its_source_and_from_every_other_mutant():
    mutants = one_edit_away(SOURCE)
    assert len(mutants) == len(set(mutants)) > 40
    assert ast.unparse(ast.parse(SOURCE)) not in mutants
    assert all(mutant == ast.unparse(ast.parse(mutant)) for mutant in mutants)


def test_a_layer_is_taken_for_another_of_its_kind():
    source = """
class M(nn.Module):
    def __init__(self, d):
        self.linear_q = nn.Linear(d, d)
        self.linear_k = nn.Linear(d, d)
        self.norm = nn.LayerNorm(d)

    def forward(self, x):
        return self.linear_q(x)
"""
    changes = {changed_line(source, mutant) for mutant in one_edit_away(source)}
    assert "return self.linear_q(x)  ->  return self.linear_k(x)" in changes
    assert "return self.linear_q(x)  ->  return self.norm(x)" not in changes
