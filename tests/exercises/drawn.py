"""The draws that tests share: what every known mistake makes of each is computed once for all files of a worker."""

from functools import lru_cache

from transformer_lessons.exercises.checker.draws import Draws, first_draws
from transformer_lessons.exercises.checker.registry import EXERCISES


@lru_cache(maxsize=256)  # five draws of each exercise; with --exhaustive, the oldest make room
def draws(name, seed):
    return Draws(EXERCISES[name], seed) if seed else first_draws(EXERCISES[name])
