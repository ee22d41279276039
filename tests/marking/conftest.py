"""What all tests of the kit may share: starting the process that forks students' processes takes seconds."""

import pytest

from transformer_lessons.marking import verdicts


@pytest.fixture(scope="session")
def marker():
    one = verdicts.Marker(3)
    yield one
    one.close()
