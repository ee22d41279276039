"""Toy tasks and texts: the reversal task, repeated blocks, an invented play, the complete works of Shakespeare."""
