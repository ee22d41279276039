import coverage
import pytest
import torch


@pytest.fixture
def exact():
    """Float64 by default, and the same draws whichever tests run before."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(20170612)
    yield
    torch.set_default_dtype(before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A test marked no_cover is not measured: pytest-cov pauses only one of the two measures of a worker."""
    paused = []
    while item.get_closest_marker("no_cover") and (measure := coverage.Coverage.current()):
        measure.stop()
        paused.append(measure)
    try:
        return (yield)
    finally:
        for measure in reversed(paused):
            measure.start()
