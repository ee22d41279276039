"""What exercises share whose result is plain Python: is it the float, or the list, that is asked for?"""

from functools import partial

import numpy as np
import torch

from transformer_lessons.exercises.checker.comparison import alike

equal = partial(alike, tolerance=0)  # a list and a tuple may be equal: `is_a_list` tells them apart


def not_a_float(result):
    return "a tensor, not a float" if isinstance(result, (torch.Tensor, np.ndarray)) else None


def is_a_float(call, *inputs):
    return not_a_float(call(*inputs))


def is_a_list(call, *inputs):
    return None if isinstance(call(*inputs), list) else "a tuple for the list"
