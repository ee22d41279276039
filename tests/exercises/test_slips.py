"""Right numbers in the wrong form are told from wrong numbers."""

import pytest
from reported import verdict

from transformer_lessons.exercises.checker.setup import normal


@pytest.mark.parametrize("convert", [lambda tensor: tensor, lambda tensor: tensor.numpy()])
def test_a_transposed_result_is_named_in_numpy_too(declare, convert):
    declare("def table(x): ...", lambda generator: convert(normal(generator, 3, 4)), lambda x: 2 * x)
    report = verdict(lambda x: 2 * x.T, "table")
    assert report.mistake == "transposed"
    assert "The last two dimensions of the result are swapped." in report.message
