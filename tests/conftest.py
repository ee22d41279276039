import sys
import threading

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
    """A test marked "untraced" runs at full speed: pytest-cov's own no_cover does not work in a worker."""
    if item.get_closest_marker("untraced") is None:
        return (yield)
    own, of_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(own)
        threading.settrace(of_threads)
