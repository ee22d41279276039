"""Mutants that `check` accepts although some numbers differ, and why they keep the contract: for mutants.py."""

# exercise: the line that is changed: why it is right all the same
WITHIN_THE_CONTRACT: dict = {}
